/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The script of a runtime, of the program's resources (src/verify/scripts): its own part, and the frame that all have. */
#include "verify-script.h"

#include "vn-verify-scripts.h"

#define FRAME "frame"
#define PLACE "/io/github/vernier/verify/scripts"

static GBytes *
verify_script_load (const char *name)
{
  g_autofree char *path = g_strdup_printf (PLACE "/%s.py", name);

  return g_resource_lookup_data (vn_verify_scripts_get_resource (), path, G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);
}

static void
verify_script_append (GString    *text,
                      const char *name)
{
  g_autoptr(GBytes) part = verify_script_load (name);
  gsize size = 0;
  const char *data = part != NULL ? g_bytes_get_data (part, &size) : NULL;

  if (data != NULL)
    g_string_append_len (text, data, (gssize) size);
}

/*< private >
 * vn_verify_script_new:
 *
 * Returns: (transfer full): what “python3 -c” takes, with a folder behind it
 */
char *
vn_verify_script_new (const VnTargetRuntime *runtime)
{
  GString *text;

  g_return_val_if_fail (runtime != NULL, NULL);

  text = g_string_new (NULL);
  verify_script_append (text, runtime->id);
  verify_script_append (text, FRAME);
  return g_string_free (text, FALSE);
}

/*< private >
 * vn_verify_script_get_variable:
 *
 * Returns: (transfer none): of the environment, which names the interpreter that runs the script
 */
const char *
vn_verify_script_get_variable (const VnTargetRuntime *runtime)
{
  g_return_val_if_fail (runtime != NULL, NULL);

  return runtime->variable != NULL ? runtime->variable : "VN_PYTHON";
}
