/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Options of commands that write a model: where its weights go. */
#include "vn-cmd.h"

#include "vn-i18n.h"

#define DEFAULT_THRESHOLD 1024

static char *location;
static gboolean external, one_file;
static gint64 threshold = DEFAULT_THRESHOLD;

static const GOptionEntry entries[] = {
  { "save-as-external-data", 0, 0, G_OPTION_ARG_NONE, &external, N_("Store weights as external data, in files next to "
                                                                    "the model"), NULL },
  { "all-tensors-to-one-file", 0, 0, G_OPTION_ARG_NONE, &one_file, N_("Store all external data in a single file"), NULL },
  { "external-data-location", 0, 0, G_OPTION_ARG_STRING, &location,
    N_("Name of that file, or prefix of several files (default: from the model's name)"), N_("NAME") },
  { "external-data-size-threshold", 0, 0, G_OPTION_ARG_INT64, &threshold,
    N_("Keep smaller weights in the model (default: 1024)"), N_("BYTES") },
  { NULL }
};

/*< private >
 * vn_cmd_write_entries:
 *
 * Returns: (transfer none): the options
 */
const GOptionEntry *
vn_cmd_write_entries (void)
{
  return entries;
}

/*< private >
 * vn_cmd_fill_write_options:
 * @write: (out): what the options say; its name is borrowed
 *
 * Returns: %FALSE with an error if they say what is not possible
 */
gboolean
vn_cmd_fill_write_options (VnOnnxWriteOptions  *write,
                           GError             **error)
{
  gboolean here = location == NULL || g_str_equal (location, "./") || g_str_equal (location, ".");

  *write = (VnOnnxWriteOptions) { 0 };
  if (threshold < 0)
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, _("%s: use %s"), "--external-data-size-threshold",
                   _("a number of bytes, 0 or more"));
      return FALSE;
    }
  if (!external && (one_file || location != NULL || threshold != DEFAULT_THRESHOLD))
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, _("%s requires --save-as-external-data"),
                   one_file ? "--all-tensors-to-one-file" : location != NULL
                   ? "--external-data-location" : "--external-data-size-threshold");
      return FALSE;
    }
  if (!external)
    return TRUE;
  write->external_threshold = (gsize) MAX (threshold, 1);
  write->external_each = !one_file;
  write->external_name = here ? NULL : g_str_has_prefix (location, "./") ? location + 2 : location;
  return TRUE;
}
