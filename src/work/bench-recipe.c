/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The recipe of a bench: edits that can be undone, and what is shown follows them: what was measured already, what is expected,
 * or a run. */
#include "bench-private.h"

#include "vn-i18n.h"

/* ---- what is expected of it ---- */

static const char *
bench_recipe_get_reason (VnBench *self)
{
  if (self->subject->data == NULL)
    return _("There are no samples to measure the change with");
  return vn_outlook_get_reason (self->outlook) != NULL
         ? vn_outlook_get_reason (self->outlook) : _("The effect of the change was not measured");
}

/* What is shown is not what holds: a whole run is offered, or begun if whoever made the change wants to know what it gains. */
static void
bench_recipe_refuse (VnBench    *self,
                     const char *reason)
{
  vn_bench_refuse (self, reason);
  if (self->waiting.run)
    vn_bench_quantize (self, NULL);
}

static void
bench_recipe_ask (gpointer owner)
{
  VnBench *self = VN_BENCH (owner);
  VnRun *base = vn_run_list_find_known (self->runs, vn_outlook_get_base_recipe (self->outlook));

  vn_outlook_ask (self->outlook, self->recipe, base != NULL ? base->contributions : NULL);
  if (!vn_outlook_is_asked (self->outlook))
    bench_recipe_refuse (self, bench_recipe_get_reason (self));
}

/* A whole run follows, which confirms it. */
static void
bench_recipe_measured (gpointer    owner,
                       VnRun      *expected,
                       const char *reason)
{
  VnBench *self = VN_BENCH (owner);

  vn_bench_hold (self);
  if (expected != NULL)
    {
      vn_bench_show_expected (self, expected);
      vn_bench_changed (self, VN_CHANGED_EXPECTED);
      vn_bench_quantize (self, NULL);
    }
  else
    bench_recipe_refuse (self, reason != NULL ? reason : _("The effect of the change was not measured"));
  vn_bench_release (self);
}

static void
bench_recipe_offered (gpointer owner)
{
  vn_bench_changed (VN_BENCH (owner), VN_CHANGED_OFFERED);
}

const VnOutlookFuncs vn_bench_outlook_funcs = { bench_recipe_ask, bench_recipe_measured, bench_recipe_offered };

/* If it was measured already that is shown, else what is expected of it in about a second, and then a whole run confirms that.
 * Where it cannot be measured without a whole run that is not begun unasked. */
static void
bench_recipe_expect (VnBench *self)
{
  VnRun *known = vn_run_list_find_known (self->runs, self->recipe);

  vn_bench_stop_expecting (self);
  if (known != NULL)
    vn_bench_take_known (self, known);
  else
    bench_recipe_ask (self);
  vn_bench_changed (self, VN_CHANGED_EXPECTED);
}

/* ---- steps ---- */

static gboolean
bench_recipe_runs (VnBench *self)
{
  VnWork work = vn_works_get_work (self->works, VN_PLACE_FRONT);

  return work == VN_WORK_QUANTIZE || work == VN_WORK_IMPROVE || work == VN_WORK_CURVE;
}

/* What is on the screen follows the rules; before the first run there is nothing to follow. */
static void
bench_recipe_follow (VnBench *self)
{
  g_autoptr(GError) error = NULL;

  if (vn_bench_lacks_samples (self))
    return;
  if (self->shown.run == NULL && self->shown.past != NULL && !vn_bench_is_stale (self))
    vn_bench_drop_stale (self);
  else if (vn_bench_fits (self))
    {
      vn_bench_drop_stale (self);
      bench_recipe_expect (self);
    }
  else if ((self->shown.run != NULL || self->shown.past != NULL || bench_recipe_runs (self)) && !vn_bench_quantize (self, &error))
    vn_bench_report_error (self, _("Quantization failed"), error);
}

/* A name changes nothing that was found. */
static void
bench_recipe_replace (VnBench  *self,
                      VnRecipe *recipe)
{
  gboolean only_names = vn_recipe_equal (self->recipe, recipe);

  vn_bench_hold (self);
  vn_bench_set_recipe (self, recipe);
  if (only_names)
    vn_bench_name_results (self);
  else
    bench_recipe_follow (self);
  vn_bench_release (self);
}

static void
bench_recipe_edit (VnBench    *self,
                   VnRecipe   *recipe,
                   const char *title,
                   gboolean    run_wanted)
{
  if (vn_bench_is_present (self, recipe))
    {
      vn_recipe_free (recipe);
      return;
    }
  if (!vn_recipe_equal (self->recipe, recipe))
    self->waiting.run = run_wanted;
  vn_history_push (self->history, self->recipe, title);
  bench_recipe_replace (self, recipe);
}

/**
 * vn_bench_edit_recipe:
 * @recipe: (transfer full): the recipe from now on
 * @title: what was done, in a few words
 *
 * One step that can be undone. Where there is a run what is shown follows in the background: vn_bench_get_expecting().
 */
void
vn_bench_edit_recipe (VnBench    *self,
                      VnRecipe   *recipe,
                      const char *title)
{
  g_return_if_fail (VN_IS_BENCH (self) && recipe != NULL && title != NULL);

  bench_recipe_edit (self, recipe, title, FALSE);
}

/*< private >
 * vn_bench_bring_back:
 * @past: what a run found that the project keeps
 * @title: what was done, in a few words
 *
 * Its recipe becomes the present one, as a step that can be undone, and what it found is shown.
 */
void
vn_bench_bring_back (VnBench    *self,
                     VnRun      *past,
                     const char *title)
{
  VnRun *known;

  vn_bench_hold (self);
  vn_bench_drop_stale (self);
  vn_bench_take_recipe (self, vn_recipe_copy (past->recipe), title);
  known = vn_run_list_find_known (self->runs, self->recipe);
  if (known != NULL && vn_bench_fits (self))
    vn_bench_take_known (self, known);
  else
    vn_bench_show_past (self, past);
  vn_bench_release (self);
  vn_bench_verify_usually (self);
}

static const char *
bench_recipe_step (VnBench     *self,
                   const char *(*step) (VnHistory *history, VnRecipe **recipe))
{
  VnRecipe *recipe = self->recipe;
  const char *title = step (self->history, &recipe);

  self->waiting.run = self->waiting.run && vn_recipe_equal (self->recipe, recipe);
  if (title != NULL)
    bench_recipe_replace (self, recipe);
  return title;
}

/**
 * vn_bench_undo:
 *
 * Returns: (transfer none) (nullable): what was undone
 */
const char *
vn_bench_undo (VnBench *self)
{
  g_return_val_if_fail (VN_IS_BENCH (self), NULL);

  return bench_recipe_step (self, vn_history_undo);
}

/**
 * vn_bench_redo:
 *
 * Returns: (transfer none) (nullable): what was done again
 */
const char *
vn_bench_redo (VnBench *self)
{
  g_return_val_if_fail (VN_IS_BENCH (self), NULL);

  return bench_recipe_step (self, vn_history_redo);
}

/* ---- changes whose gain is kept ---- */

static void
bench_recipe_note_effect (VnBench        *self,
                          const VnRecipe *recipe,
                          const char     *title,
                          const char     *key)
{
  if (self->shown.run != NULL)   /* before the first run there is nothing to compare with */
    vn_effects_note (self->found.effects, self->shown.run, recipe, title, key);
}

/**
 * vn_bench_try:
 * @recipe: (transfer full): the present one with a change that may lower the error
 * @title: what was done, in a few words
 * @key: names the change: see VnEffect
 *
 * As vn_bench_edit_recipe(), what the change gains is kept, and there is a whole run also if nothing can be expected before.
 */
void
vn_bench_try (VnBench    *self,
              VnRecipe   *recipe,
              const char *title,
              const char *key)
{
  g_return_if_fail (VN_IS_BENCH (self));
  g_return_if_fail (recipe != NULL && title != NULL && key != NULL);

  bench_recipe_note_effect (self, recipe, title, key);
  bench_recipe_edit (self, recipe, title, TRUE);
}

/*< private >
 * vn_bench_edit_and_keep:
 * @key: (nullable): names the change: see VnEffect
 *
 * As vn_bench_edit_recipe(), and what the change gains is kept.
 */
void
vn_bench_edit_and_keep (VnBench    *self,
                        VnRecipe   *recipe,
                        const char *title,
                        const char *key)
{
  if (key != NULL)
    bench_recipe_note_effect (self, recipe, title, key);
  bench_recipe_edit (self, recipe, title, FALSE);
}

/**
 * vn_bench_find_effect:
 *
 * Returns: (transfer none) (nullable): what came of a change; %NULL if it was not tried on this model
 */
const VnEffect *
vn_bench_find_effect (VnBench    *self,
                      const char *key)
{
  g_return_val_if_fail (VN_IS_BENCH (self) && key != NULL, NULL);

  return vn_effects_find (self->found.effects, key);
}

/**
 * vn_bench_get_effects:
 *
 * Returns: (transfer none) (element-type VnEffect): all that was tried on this model, the oldest first
 */
GPtrArray *
vn_bench_get_effects (VnBench *self)
{
  g_return_val_if_fail (VN_IS_BENCH (self), NULL);

  return self->found.effects;
}

/**
 * vn_bench_is_measuring:
 *
 * Returns: whether the run is under way, or about to begin, that tells what the change gains
 */
gboolean
vn_bench_is_measuring (VnBench        *self,
                       const VnEffect *effect)
{
  g_return_val_if_fail (VN_IS_BENCH (self) && effect != NULL, FALSE);

  return !effect->measured && vn_recipe_equal (self->recipe, effect->recipe) &&
         (vn_works_get_work (self->works, VN_PLACE_FRONT) == VN_WORK_QUANTIZE || vn_outlook_is_asked (self->outlook));
}

/**
 * vn_bench_is_in_force:
 *
 * Returns: whether the change has not been taken back
 */
gboolean
vn_bench_is_in_force (VnBench        *self,
                      const VnEffect *effect)
{
  g_return_val_if_fail (VN_IS_BENCH (self) && effect != NULL, FALSE);

  return vn_recipe_equal (self->recipe, effect->recipe) || vn_history_contains (self->history, effect->recipe);
}

/**
 * vn_bench_is_last_change:
 *
 * Returns: whether undoing takes back just this change
 */
gboolean
vn_bench_is_last_change (VnBench        *self,
                         const VnEffect *effect)
{
  g_return_val_if_fail (VN_IS_BENCH (self) && effect != NULL, FALSE);

  return vn_recipe_equal (self->recipe, effect->recipe);
}
