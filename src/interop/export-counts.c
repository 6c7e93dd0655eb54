/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which settings another quantizer needs to be told at all: what changes nothing is missing in no file that leaves it out. */
#include "export-counts.h"

#include "vn-quantize.h"

/* Settings that presets have switched on, and the note of a run where they did something. */
static const struct { const char *id, *code; } shown[] = {
  { "float-mixed", VN_NOTE_CODE_MIXED_STAYS_FLOAT },
};

static gboolean
export_counts_has (VnNotes    *notes,
                   const char *code,
                   const char *subject)
{
  for (guint i = 0; i < vn_notes_get_n (notes); i++)
    {
      const VnNote *note = vn_notes_get (notes, i);

      if (g_strcmp0 (note->code, code) == 0 && (subject == NULL || g_strcmp0 (note->subject, subject) == 0))
        return TRUE;
    }
  return FALSE;
}

static gboolean
export_counts_is_base (const VnSetting *setting,
                       const VnRecipe  *recipe,
                       const VnRecipe  *base)
{
  return base != NULL ? vn_setting_equal (setting, recipe, base) : vn_setting_is_default (setting, recipe);
}

/*< private >
 * _vn_export_setting_counts:
 * @setting: of recipes
 * @base: (nullable): how the other quantizer has it unless told otherwise; %NULL: as it is where nothing is said
 * @run: (nullable): notes of a run with @recipe; %NULL: there was none, and what the network makes of a setting is not known
 *
 * Returns: whether @recipe has it otherwise than @base, and that may change something
 */
gboolean
_vn_export_setting_counts (const VnSetting *setting,
                           const VnRecipe  *recipe,
                           const VnRecipe  *base,
                           VnNotes         *run)
{
  g_autoptr(VnRecipe) preset = NULL;

  g_return_val_if_fail (setting != NULL && recipe != NULL, FALSE);

  if (export_counts_is_base (setting, recipe, base) || vn_setting_get_idle_reason (setting, recipe) != NULL)
    return FALSE;
  if (run == NULL)
    return TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (shown); i++)
    if (g_str_equal (shown[i].id, setting->id) && recipe->float_mixed)
      return export_counts_has (run, shown[i].code, NULL);
  /* of a run it is said what is the same as with the preset */
  preset = vn_recipe_new (recipe->preset);
  return !export_counts_is_base (setting, preset, base) || !export_counts_has (run, VN_NOTE_CODE_IDLE_SETTING, setting->id);
}
