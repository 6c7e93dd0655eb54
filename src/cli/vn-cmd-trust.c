/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Python that a file names to prepare samples: it is run where the user has said so, and only there. */
#include "vn-cmd.h"

#include "vn-i18n.h"
#include "vn-ranks.h"

static const GOptionEntry trust_entries[] = {
  VN_CMD_GROUP_MARK (DATA),
  { "trust", 0, 0, G_OPTION_ARG_NONE, &vn_cmd_options.trust,
    N_("Run the Python that a project or a configuration names to prepare samples; it is not run unasked"), NULL },
  { NULL }
};

const GOptionEntry *
vn_cmd_trust_entries (void)
{
  return trust_entries;
}

static char *
cmd_trust_dup_scripts (const VnDataSpec *spec)
{
  g_auto(GStrv) scripts = vn_data_spec_list_scripts (spec);

  return g_strjoinv (", ", scripts);
}

/**
 * vn_cmd_check_trust:
 * @spec: what @file says of its samples
 *
 * Trusts the scripts of @spec with --trust, or where --preprocess names the same.
 *
 * Returns: %FALSE if one of them must not run
 */
gboolean
vn_cmd_check_trust (VnDataSpec  *spec,
                    const char  *file,
                    GError     **error)
{
  const char *known[] = { vn_cmd_options.preprocess, NULL };
  g_autofree char *scripts = NULL;

  g_return_val_if_fail (spec != NULL && file != NULL, FALSE);

  if (vn_cmd_options.trust)
    vn_data_spec_trust (spec);
  if (vn_data_spec_trust_known (spec, known))
    return TRUE;
  scripts = cmd_trust_dup_scripts (spec);
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
               _("“%s” names Python to prepare its samples: %s. A file runs nothing unasked: read it, then allow it with "
                 "--trust, or name it with "
                 "--preprocess"), file, scripts);
  return FALSE;
}

/**
 * vn_cmd_trust_scripts:
 * @spec: what @file says of its samples; the command is there to run what such files name
 *
 * Trusts the scripts of @spec, and says that they will run, on the standard error.
 */
void
vn_cmd_trust_scripts (VnDataSpec *spec,
                      const char *file)
{
  g_autofree char *scripts = NULL;

  g_return_if_fail (spec != NULL && file != NULL);

  if (!vn_data_spec_may_run (spec) && vn_ranks_get_rank () == 0)
    {
      scripts = cmd_trust_dup_scripts (spec);
      vn_cmd_warn (_("%s: runs the Python that it names to prepare samples: %s"), file, scripts);
    }
  vn_data_spec_trust (spec);
}
