/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What changes of a recipe gained, as the runs with them and before them tell. */
#include "vn-effect.h"

#include "vn-run-figures.h"
#include "vn-thresholds.h"

#include <math.h>

static void
effect_free (gpointer data)
{
  VnEffect *self = data;

  g_free (self->key);
  g_free (self->title);
  vn_recipe_free (self->recipe);
  g_free (self);
}

/**
 * vn_effects_new:
 *
 * Returns: (transfer full) (element-type VnEffect): an empty list
 */
GPtrArray *
vn_effects_new (void)
{
  return g_ptr_array_new_with_free_func (effect_free);
}

/**
 * vn_effects_find:
 *
 * Returns: (transfer none) (nullable): what came of the change; %NULL: it was not tried
 */
VnEffect *
vn_effects_find (GPtrArray  *effects,
                 const char *key)
{
  g_return_val_if_fail (effects != NULL && key != NULL, NULL);

  for (guint i = effects->len; i > 0; i--)
    {
      VnEffect *effect = g_ptr_array_index (effects, i - 1);

      if (g_str_equal (effect->key, key))
        return effect;
    }
  return NULL;
}

/**
 * vn_effects_note:
 * @before: of the last run
 * @recipe: its recipe with a change
 * @title: what is done, in a few words
 * @key: names the change
 *
 * Adds a change; the next run with @recipe tells what it comes to: vn_effects_judge().
 */
void
vn_effects_note (GPtrArray      *effects,
                 VnRun          *before,
                 const VnRecipe *recipe,
                 const char     *title,
                 const char     *key)
{
  VnEffect *effect, *earlier;

  g_return_if_fail (effects != NULL && before != NULL && recipe != NULL && title != NULL && key != NULL);

  earlier = vn_effects_find (effects, key);
  if (earlier != NULL)
    g_ptr_array_remove (effects, earlier);
  effect = g_new0 (VnEffect, 1);
  effect->key = g_strdup (key);
  effect->title = g_strdup (title);
  effect->recipe = vn_recipe_copy (recipe);
  effect->before_db = before->errors != NULL ? vn_error_table_get_outputs_sqnr (before->errors) : NAN;
  effect->after_db = NAN;
  vn_run_get_headline (before, &effect->before);
  vn_headline_clear (&effect->after);
  effect->bytes_before = (gint64) before->quantized_bytes;
  effect->time_ratio = NAN;
  effect->seconds_before = before->forecast != NULL ? before->forecast->seconds : NAN;
  g_ptr_array_add (effects, effect);
}

/* Of both the outputs that both have. */
static void
effect_measure (VnEffect *self,
                VnRun    *before,
                VnRun    *result)
{
  gboolean compares = before != NULL && before->errors != NULL;

  if (compares && before != result)
    self->before_db = vn_error_table_get_comparable_sqnr (before->errors, result->errors);
  self->after_db = compares ? vn_error_table_get_comparable_sqnr (result->errors, before->errors)
                            : vn_error_table_get_outputs_sqnr (result->errors);
  if (before != NULL)
    vn_run_get_headline (before, &self->before);
  vn_run_get_headline (result, &self->after);
  self->bytes = (gint64) result->quantized_bytes - self->bytes_before;
  self->time_ratio = result->forecast != NULL && self->seconds_before > 0
                     ? result->forecast->seconds / self->seconds_before : NAN;
  self->measured = TRUE;
}

/**
 * vn_effects_judge:
 * @before: (nullable): of the run before
 * @result: of a run that has just ended
 *
 * Notes what the change that @result was made with has gained.
 */
void
vn_effects_judge (GPtrArray *effects,
                  VnRun     *before,
                  VnRun     *result)
{
  g_return_if_fail (effects != NULL && result != NULL);

  for (guint i = 0; result->errors != NULL && i < effects->len; i++)
    {
      VnEffect *effect = g_ptr_array_index (effects, i);

      if (!effect->measured && vn_recipe_equal (effect->recipe, result->recipe))
        effect_measure (effect, before, result);
    }
}

/**
 * vn_effect_has_helped:
 *
 * Returns: whether more answers are kept than chance explains, or as many and the outputs are better
 */
gboolean
vn_effect_has_helped (const VnEffect *effect)
{
  int answers;

  g_return_val_if_fail (effect != NULL, FALSE);

  answers = effect->measured ? vn_kept_compare (&effect->after.kept, &effect->before.kept) : 0;
  if (answers != 0)
    return answers > 0;
  return effect->measured && effect->after_db > effect->before_db + VN_LEAST_GAIN_DB;
}
