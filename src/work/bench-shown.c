/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is shown of the present recipe: the last whole run, what is expected, or an earlier run; and how far that holds. */
#include "bench-private.h"

#include "vn-error.h"
#include "vn-i18n.h"

/* ---- what it is ---- */

/**
 * vn_bench_get_shown:
 *
 * Returns: (transfer none) (nullable): of the last whole run, or what the present recipe is expected to make of it, or what a run
 *   found that was brought back
 */
VnRun *
vn_bench_get_shown (VnBench *self)
{
  g_return_val_if_fail (VN_IS_BENCH (self), NULL);

  if (self->shown.expected != NULL)
    return self->shown.expected;
  return self->shown.past != NULL ? self->shown.past : self->shown.run;
}

/**
 * vn_bench_get_confirmed:
 *
 * Returns: (transfer none) (nullable): of the last whole run, also while something else is expected
 */
VnRun *
vn_bench_get_confirmed (VnBench *self)
{
  g_return_val_if_fail (VN_IS_BENCH (self), NULL);

  return self->shown.run;
}

/**
 * vn_bench_get_expecting:
 *
 * Returns: how far it is known what the present recipe does
 */
VnExpecting
vn_bench_get_expecting (VnBench *self)
{
  g_return_val_if_fail (VN_IS_BENCH (self), VN_EXPECTING_NOTHING);

  if (vn_outlook_is_asked (self->outlook))
    return VN_EXPECTING_SOON;
  if (self->shown.refusal != NULL)
    return VN_EXPECTING_REFUSED;
  if (self->shown.expected != NULL)
    return VN_EXPECTING_SHOWN;
  if (self->shown.past == NULL)
    return VN_EXPECTING_NOTHING;
  return self->shown.is_around ? VN_EXPECTING_AROUND : VN_EXPECTING_PAST;
}

/**
 * vn_bench_get_refusal:
 *
 * Returns: (transfer none) (nullable): why it takes a whole run to know what the present recipe does
 */
const char *
vn_bench_get_refusal (VnBench *self)
{
  g_return_val_if_fail (VN_IS_BENCH (self), NULL);

  return self->shown.refusal;
}

/**
 * vn_bench_count_expected_on:
 *
 * Returns: samples that what is expected was measured on
 */
guint
vn_bench_count_expected_on (VnBench *self)
{
  g_return_val_if_fail (VN_IS_BENCH (self), 0);

  return vn_outlook_count_samples (self->outlook);
}

/*< private >
 * vn_bench_fits:
 *
 * Returns: whether the last whole run was made of the present subject
 */
gboolean
vn_bench_fits (VnBench *self)
{
  return self->shown.run != NULL && self->shown.run_subject == self->subject;
}

/**
 * vn_bench_is_stale:
 *
 * Returns: whether there is a run and it was made with another recipe or other samples than the present ones
 */
gboolean
vn_bench_is_stale (VnBench *self)
{
  g_return_val_if_fail (VN_IS_BENCH (self), FALSE);

  if (self->shown.past != NULL)
    return self->shown.past_subject != self->subject || !vn_recipe_equal (self->shown.past->recipe, self->recipe);
  return self->shown.run != NULL && (!vn_bench_fits (self) || !vn_recipe_equal (self->shown.run->recipe, self->recipe));
}

/*< private >
 * vn_bench_has_network:
 *
 * Returns: whether the network of what is shown is there: an estimate or an earlier run has none
 */
gboolean
vn_bench_has_network (VnBench  *self,
                      GError  **error)
{
  if (self->shown.past != NULL && self->shown.is_around)
    g_set_error_literal (error, VN_ERROR, VN_ERROR_MISSING_DATA,
                         _("The body was quantized with the model that contains it: export that model, or quantize the body "
                           "alone, then export."));
  else if (self->shown.past != NULL)
    g_set_error_literal (error, VN_ERROR, VN_ERROR_MISSING_DATA,
                         _("The model of an earlier run is not stored: quantize again, then export."));
  else if (self->shown.run == NULL)
    g_set_error_literal (error, VN_ERROR, VN_ERROR_MISSING_DATA,
                         _("The model has not been quantized yet, so there is nothing to export."));
  else if (vn_bench_get_expecting (self) != VN_EXPECTING_NOTHING)
    g_set_error_literal (error, VN_ERROR, VN_ERROR_SETTING,
                         _("The recipe has changed since the last full run: complete a full run, or revert the change."));
  else
    return TRUE;
  return FALSE;
}

/*< private >
 * vn_bench_get_run_notes:
 *
 * Returns: (transfer none) (nullable): what a run with the present settings and samples told; %NULL: there was none
 */
VnNotes *
vn_bench_get_run_notes (VnBench *self)
{
  const VnRun *result = self->shown.past != NULL ? self->shown.past : self->shown.run;

  return result != NULL && !vn_bench_is_stale (self) ? result->notes : NULL;
}

/**
 * vn_bench_find_run_result:
 * @run: one of vn_bench_get_runs()
 *
 * Returns: (transfer none) (nullable): what the run gave, with its networks, while it is remembered
 */
VnRun *
vn_bench_find_run_result (VnBench            *self,
                          const VnProjectRun *run)
{
  GPtrArray *known;

  g_return_val_if_fail (VN_IS_BENCH (self) && run != NULL, NULL);

  known = vn_run_list_get_known (self->runs);
  for (guint i = 0; i < known->len + 1; i++)
    {
      VnRun *result = i < known->len ? g_ptr_array_index (known, i) : self->shown.run;
      gboolean is_whole = result != NULL && result->quantized != NULL && result->prepared != NULL;
      g_autofree char *digest = is_whole && result->time == run->time ? vn_recipe_dup_digest (result->recipe) : NULL;

      if (digest != NULL && g_str_equal (digest, run->recipe_digest))
        return result;
    }
  return NULL;
}

/**
 * vn_bench_is_shown:
 *
 * Returns: whether what is shown is what @run found
 */
gboolean
vn_bench_is_shown (VnBench            *self,
                   const VnProjectRun *run)
{
  VnRun *result;
  g_autofree char *digest = NULL;

  g_return_val_if_fail (VN_IS_BENCH (self) && run != NULL, FALSE);

  result = vn_bench_get_shown (self);
  if (result == NULL || result->state == VN_RUN_ESTIMATED || result->time != run->time)
    return FALSE;
  digest = vn_recipe_dup_digest (result->recipe);
  return g_strcmp0 (digest, run->recipe_digest) == 0;
}

/*< private >
 * vn_bench_find_curve:
 * @curve: (nullable):
 *
 * Returns: the point that is made by @recipe, the plain one before others that happen to say the same; -1: there is none
 */
int
vn_bench_find_curve (const VnCurve  *curve,
                     const VnRecipe *recipe)
{
  int found = -1;

  for (guint i = 0; curve != NULL && i < vn_curve_get_n (curve); i++)
    {
      const VnCurvePoint *point = vn_curve_get (curve, i);

      if ((found < 0 || point->is_plain) && vn_recipe_equal (point->recipe, recipe))
        found = (int) i;
    }
  return found;
}

/* ---- names of rules ---- */

/*< private >
 * vn_bench_dup_named:
 * @result: of a run, or what is expected
 *
 * Returns: (transfer full): @result; if it was made with the present recipe but for names that have changed since, the same with
 *   the present ones
 */
VnRun *
vn_bench_dup_named (VnBench *self,
                    VnRun   *result)
{
  if (result->recipe == NULL || vn_recipe_has_equal_names (result->recipe, self->recipe) ||
      !vn_recipe_equal (result->recipe, self->recipe))
    return vn_run_ref (result);
  return vn_run_with (result, VN_FACET_RECIPE, self->recipe);
}

static gboolean
bench_shown_name (VnBench  *self,
                  VnRun   **result)
{
  VnRun *old = *result;

  if (old == NULL)
    return FALSE;
  *result = vn_bench_dup_named (self, old);
  vn_bench_let_go (self, old, (GDestroyNotify) vn_run_unref);
  return *result != old;
}

/*< private >
 * vn_bench_name_results:
 *
 * What was found with the present recipe calls its rules as that does: reports tell them.
 */
void
vn_bench_name_results (VnBench *self)
{
  GPtrArray *known = vn_run_list_get_known (self->runs);
  gboolean changed;

  vn_bench_hold (self);
  changed = bench_shown_name (self, &self->shown.run);
  changed |= bench_shown_name (self, &self->shown.expected);
  changed |= bench_shown_name (self, &self->shown.past);
  for (guint i = 0; i < known->len; i++)
    bench_shown_name (self, (VnRun **) &g_ptr_array_index (known, i));
  if (changed && self->shown.run != NULL)
    vn_bench_renew_run (self, self->shown.run);
  if (changed)
    vn_bench_changed (self, VN_CHANGED_RUN);
  vn_bench_release (self);
}

/* ---- another ---- */

static void
bench_shown_let_go (VnBench  *self,
                    VnRun   **result)
{
  vn_bench_let_go (self, g_steal_pointer (result), (GDestroyNotify) vn_run_unref);
}

/*< private >
 * vn_bench_set_run:
 * @result: (nullable): of a whole run: nothing has to be expected of it any more
 */
void
vn_bench_set_run (VnBench *self,
                  VnRun   *result)
{
  VnRun *named = result != NULL ? vn_bench_dup_named (self, result) : NULL;

  vn_bench_hold (self);
  vn_bench_stop_expecting (self);
  vn_outlook_offer (self->outlook, NULL, NULL);
  bench_shown_let_go (self, &self->shown.run);
  bench_shown_let_go (self, &self->shown.expected);
  bench_shown_let_go (self, &self->shown.past);
  self->shown.run = named;
  if (vn_bench_fits (self))
    vn_run_list_remember (self->runs, named);
  vn_bench_changed (self, VN_CHANGED_RUN | VN_CHANGED_EXPECTED);
  vn_bench_release (self);
}

/*< private >
 * vn_bench_renew_run:
 * @result: of the last run, with what was found out since
 *
 * The run that the project keeps of it learns of that, too.
 */
void
vn_bench_renew_run (VnBench *self,
                    VnRun   *result)
{
  g_autoptr(VnRun) named = vn_bench_dup_named (self, result);

  if (!vn_run_list_renew (self->runs, named))
    return;
  vn_keeper_touch (self->keeper);
  vn_bench_changed (self, VN_CHANGED_RUNS);
}

/*< private >
 * vn_bench_take_measured:
 * @result: (nullable): the same run with measured figures, or with a note that there are none
 */
void
vn_bench_take_measured (VnBench *self,
                        VnRun   *result)
{
  if (result == NULL || result == self->shown.run || result == self->shown.past ||
      vn_bench_get_expecting (self) != VN_EXPECTING_NOTHING)
    return;
  vn_bench_hold (self);
  vn_bench_renew_run (self, result);
  vn_bench_set_run (self, result);
  vn_bench_release (self);
}

/*< private >
 * vn_bench_show_past:
 * @past: what a run found that the project keeps: shown until there is a whole run
 */
void
vn_bench_show_past (VnBench *self,
                    VnRun   *past)
{
  VnRun *named = vn_bench_dup_named (self, past);

  vn_bench_hold (self);
  vn_bench_stop_expecting (self);
  bench_shown_let_go (self, &self->shown.past);
  bench_shown_let_go (self, &self->shown.expected);
  self->shown.past = named;
  self->shown.is_around = FALSE;
  g_clear_pointer (&self->shown.past_subject, vn_subject_unref);
  self->shown.past_subject = vn_subject_ref (self->subject);
  vn_bench_changed (self, VN_CHANGED_RUN | VN_CHANGED_EXPECTED);
  vn_bench_release (self);
}

/**
 * vn_bench_show_around:
 * @inside: what a run of the model around this one, which is a body, found in it; it is shown until there is a run of the body by
 *   itself, or its recipe was changed here
 */
void
vn_bench_show_around (VnBench *self,
                      VnRun   *inside)
{
  gboolean is_changed;

  g_return_if_fail (VN_IS_BENCH (self) && inside != NULL);

  is_changed = self->shown.past != NULL ? vn_bench_is_stale (self) : self->history != NULL && vn_bench_can_undo (self);
  if (self->shown.run != NULL || is_changed)
    return;
  vn_bench_hold (self);
  vn_bench_set_recipe (self, vn_recipe_copy (inside->recipe));
  vn_bench_show_past (self, inside);
  self->shown.is_around = TRUE;
  vn_bench_release (self);
  vn_keeper_settle (self->keeper);
}

/* ---- what is expected ---- */

/*< private >
 * vn_bench_show_expected:
 * @expected: (nullable): until a whole run confirms it
 */
void
vn_bench_show_expected (VnBench *self,
                        VnRun   *expected)
{
  if (self->shown.expected == expected)
    return;
  bench_shown_let_go (self, &self->shown.expected);
  self->shown.expected = expected != NULL ? vn_bench_dup_named (self, expected) : NULL;
  vn_bench_changed (self, VN_CHANGED_RUN);
}

/*< private >
 * vn_bench_refuse:
 * @reason: why nothing can be expected: what is shown is not what the present recipe does
 */
void
vn_bench_refuse (VnBench    *self,
                 const char *reason)
{
  vn_bench_hold (self);
  g_free (self->shown.refusal);
  self->shown.refusal = g_strdup (reason);
  vn_bench_show_expected (self, NULL);
  vn_bench_changed (self, VN_CHANGED_EXPECTED);
  vn_bench_release (self);
}

/*< private >
 * vn_bench_stop_expecting:
 *
 * Gives up what is being measured, and forgets why something could not be.
 */
void
vn_bench_stop_expecting (VnBench *self)
{
  vn_outlook_stop (self->outlook);
  g_clear_pointer (&self->shown.refusal, g_free);
}

/*< private >
 * vn_bench_forget_expected:
 *
 * Nothing of what was kept is about the present subject any more.
 */
void
vn_bench_forget_expected (VnBench *self)
{
  vn_bench_stop_expecting (self);
  vn_outlook_set_base (self->outlook, NULL);
  bench_shown_let_go (self, &self->shown.expected);
  vn_run_list_forget_known (self->runs);
}

/**
 * vn_bench_offer:
 * @recipe: (nullable): with changes that are offered; %NULL: nothing is
 *
 * Begins to measure on a few samples what the run would become; nothing else follows it. Where that takes a whole run it is not
 * measured. "changed::offered" tells of it.
 */
void
vn_bench_offer (VnBench        *self,
                const VnRecipe *recipe)
{
  g_return_if_fail (VN_IS_BENCH (self));

  vn_outlook_offer (self->outlook, recipe, self->shown.run != NULL ? self->shown.run->recipe : NULL);
}

/**
 * vn_bench_get_offered:
 *
 * Returns: (transfer none) (nullable): what vn_bench_offer() asked for; %NULL: it is not known, or nothing was asked for
 */
VnRun *
vn_bench_get_offered (VnBench *self)
{
  g_return_val_if_fail (VN_IS_BENCH (self), NULL);

  return vn_outlook_get_offered (self->outlook);
}

/* ---- the recipe ---- */

/*< private >
 * vn_bench_is_present:
 *
 * Returns: whether @recipe is the present one, also in the names of its rules
 */
gboolean
vn_bench_is_present (VnBench        *self,
                     const VnRecipe *recipe)
{
  return vn_recipe_equal (self->recipe, recipe) && vn_recipe_has_equal_names (self->recipe, recipe);
}

/*< private >
 * vn_bench_set_recipe:
 * @recipe: (transfer full): the recipe from now on; the one before belongs to the history
 */
void
vn_bench_set_recipe (VnBench  *self,
                     VnRecipe *recipe)
{
  self->recipe = recipe;
  vn_bench_changed (self, VN_CHANGED_RECIPE);
}

/*< private >
 * vn_bench_take_recipe:
 * @recipe: (transfer full): of a run that is about to be shown
 * @title: what was done, in a few words
 *
 * One step that can be undone; nothing is run.
 */
void
vn_bench_take_recipe (VnBench    *self,
                      VnRecipe   *recipe,
                      const char *title)
{
  if (vn_bench_is_present (self, recipe))
    {
      vn_recipe_free (recipe);
      return;
    }
  vn_history_push (self->history, self->recipe, title);
  vn_bench_set_recipe (self, recipe);
}

gboolean
vn_bench_can_undo (VnBench *self)
{
  g_return_val_if_fail (VN_IS_BENCH (self), FALSE);

  return vn_history_can_undo (self->history);
}

gboolean
vn_bench_can_redo (VnBench *self)
{
  g_return_val_if_fail (VN_IS_BENCH (self), FALSE);

  return vn_history_can_redo (self->history);
}
