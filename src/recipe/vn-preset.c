/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of precisions (vn-presets.def) and of runtimes (vn-targets.def). */
#include "vn-preset.h"

#include "vn-error.h"
#include "vn-foreign-word.h"
#include "vn-i18n.h"

static const VnPreset * const presets[] = {
#define VN_PRESET_GROUP(title)
#define VN_PRESET(...) &(const VnPreset) { __VA_ARGS__ },
#include "vn-presets.def"
#undef VN_PRESET
#undef VN_PRESET_GROUP
};

static const VnPreset * const targets[] = {
#define VN_TARGET_GROUP(title)
#define VN_TARGET(...) &(const VnPreset) { __VA_ARGS__ },
#include "vn-targets.def"
#undef VN_TARGET
#undef VN_TARGET_GROUP
};

/* The same with the headings between: those have a title and nothing else. */
static const VnPreset grouped[] = {
#define VN_PRESET_GROUP(heading) { .title = heading },
#define VN_PRESET(...) { __VA_ARGS__ },
#define VN_TARGET_GROUP VN_PRESET_GROUP
#define VN_TARGET VN_PRESET
#include "vn-presets.def"
#include "vn-targets.def"
#undef VN_TARGET
#undef VN_TARGET_GROUP
#undef VN_PRESET
#undef VN_PRESET_GROUP
};

/**
 * vn_preset_list:
 * @n: (out): how many
 *
 * Returns: (transfer none) (array length=n): all presets, the one to offer first at the front
 */
const VnPreset * const *
vn_preset_list (guint *n)
{
  g_return_val_if_fail (n != NULL, NULL);

  *n = G_N_ELEMENTS (presets);
  return presets;
}

/**
 * vn_preset_get_group:
 * @self: a preset
 *
 * Returns: (nullable): heading of the presets it belongs to, to be translated
 */
const char *
vn_preset_get_group (const VnPreset *self)
{
  const char *group = NULL;

  g_return_val_if_fail (self != NULL, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (grouped); i++)
    {
      if (grouped[i].id == NULL)
        group = grouped[i].title;
      else if (g_str_equal (grouped[i].id, self->id))
        return group;
    }
  return NULL;
}

/**
 * vn_target_list:
 * @n: (out): how many
 *
 * Returns: (transfer none) (array length=n): all runtimes that a recipe can be for, those with @wide_of behind the one it names
 */
const VnPreset * const *
vn_target_list (guint *n)
{
  g_return_val_if_fail (n != NULL, NULL);

  *n = G_N_ELEMENTS (targets);
  return targets;
}

/**
 * vn_preset_is_target:
 *
 * Returns: whether it is a runtime, not a precision
 */
gboolean
vn_preset_is_target (const VnPreset *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  for (guint i = 0; i < G_N_ELEMENTS (targets); i++)
    if (targets[i] == self)
      return TRUE;
  return FALSE;
}

static gboolean
preset_is_wide_of (const VnPreset *self,
                   const char     *id)
{
  return g_strcmp0 (self->wide_of, id) == 0;
}

/**
 * vn_target_find:
 * @id: as in vn-targets.def
 * @wide: its form with activations that cost least accuracy
 *
 * Returns: (transfer none): the target, or %NULL with %VN_ERROR_SETTING: there is none, or it has no such form
 */
const VnPreset *
vn_target_find (const char  *id,
                gboolean     wide,
                GError     **error)
{
  g_autoptr(GPtrArray) known = g_ptr_array_new ();
  g_autofree char *all = NULL;

  g_return_val_if_fail (id != NULL, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (targets); i++)
    {
      if (wide ? preset_is_wide_of (targets[i], id) : g_str_equal (targets[i]->id, id))
        return targets[i];
      if (!wide || targets[i]->wide_of != NULL)
        g_ptr_array_add (known, (gpointer) (wide ? targets[i]->wide_of : targets[i]->id));
    }
  g_ptr_array_add (known, NULL);
  all = g_strjoinv (", ", (char **) known->pdata);
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
               wide ? _("The target “%s” has no variant for --wide; targets that have one: %s")
                    : _("Unknown target “%s”; choose one of: %s"), id, all);
  return NULL;
}

/**
 * vn_preset_find:
 * @id: as in vn-presets.def or vn-targets.def
 *
 * Returns: (transfer none): the preset, or %NULL with %VN_ERROR_SETTING
 */
const VnPreset *
vn_preset_find (const char  *id,
                GError     **error)
{
  const char *known[G_N_ELEMENTS (presets) + 1] = { NULL };
  g_autofree char *all = NULL, *hint = NULL;

  g_return_val_if_fail (id != NULL, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (presets); i++)
    {
      if (g_str_equal (presets[i]->id, id))
        return presets[i];
      known[i] = presets[i]->id;
    }
  for (guint i = 0; i < G_N_ELEMENTS (targets); i++)
    if (g_str_equal (targets[i]->id, id))
      return targets[i];

  all = g_strjoinv (", ", (char **) known);
  hint = vn_word_dup_hint (VN_FOREIGN_PRESET, id, known);
  if (hint != NULL)
    g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("There is no preset “%s”; %s"), id, hint);
  else
    g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("There is no preset “%s”; choose one of: %s"), id, all);
  return NULL;
}
