/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of runtimes that exports can be run in here (vn-runtimes.def). */
#include "vn-target-runtime.h"

#include "vn-error.h"
#include "vn-i18n.h"

static const VnTargetRuntime runtimes[] = {
#define VN_TARGET_RUNTIME(...) { __VA_ARGS__ },
#include "vn-runtimes.def"
#undef VN_TARGET_RUNTIME
};

/**
 * vn_target_runtime_list:
 * @n: (out): how many
 *
 * Returns: (transfer none) (array length=n): all of them, that of exports whose target names none at the front
 */
const VnTargetRuntime *
vn_target_runtime_list (guint *n)
{
  g_return_val_if_fail (n != NULL, NULL);

  *n = G_N_ELEMENTS (runtimes);
  return runtimes;
}

/**
 * vn_target_runtime_get_default:
 *
 * Returns: (transfer none): that of exports whose target names none
 */
const VnTargetRuntime *
vn_target_runtime_get_default (void)
{
  return &runtimes[0];
}

/**
 * vn_target_runtime_find:
 * @id: as in vn-runtimes.def
 *
 * Returns: (transfer none): the runtime, or %NULL with %VN_ERROR_SETTING
 */
const VnTargetRuntime *
vn_target_runtime_find (const char  *id,
                        GError     **error)
{
  const char *known[G_N_ELEMENTS (runtimes) + 1] = { NULL };
  g_autofree char *all = NULL;

  g_return_val_if_fail (id != NULL, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (runtimes); i++)
    {
      if (g_str_equal (runtimes[i].id, id))
        return &runtimes[i];
      known[i] = runtimes[i].id;
    }
  all = g_strjoinv (", ", (char **) known);
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("Unknown runtime “%s”; choose one of: %s"), id, all);
  return NULL;
}

/**
 * vn_target_runtime_of:
 * @preset: (nullable): what a recipe started from
 *
 * Returns: (transfer none) (nullable): the runtime that it is for, if that can run here
 */
const VnTargetRuntime *
vn_target_runtime_of (const VnPreset *preset)
{
  return preset != NULL && preset->runtime != NULL ? vn_target_runtime_find (preset->runtime, NULL) : NULL;
}

/**
 * vn_target_runtime_get_index:
 *
 * Returns: its place in vn_target_runtime_list()
 */
guint
vn_target_runtime_get_index (const VnTargetRuntime *self)
{
  g_return_val_if_fail (self >= runtimes && self < runtimes + G_N_ELEMENTS (runtimes), 0);

  return (guint) (self - runtimes);
}
