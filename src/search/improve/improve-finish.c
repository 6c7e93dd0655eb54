/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The last run of “--auto”: what was kept, from all samples, and trained in the time that is left; and what is told of it. */
#include "improve-private.h"

#include "vn-format.h"
#include "vn-i18n.h"

#include <math.h>

/* Seconds that training is worth beginning for. */
#define LEAST_TRAINING 2

/* In dB: what a few steps of training must bring to be worth more of them. */
#define LEAST_PROMISE 0.2

/* How often what was kept last is given up again, as long as all of it costs too much. */
#define MOST_STEPS_BACK 2

/* ---- training ---- */

static const VnImproveStep *
improve_find_training (void)
{
  guint n;
  const VnImproveStep *steps = vn_improve_step_list (&n);

  while (n > 0 && steps[n - 1].kind != VN_IMPROVE_TRAINING)
    n--;
  return n > 0 ? &steps[n - 1] : NULL;
}

/* (transfer full) (nullable): the best recipe, with training, if there is time for it. How much is no part of the recipe: equal
 * settings make equal recipes, however busy the computer is. */
static VnRecipe *
improve_add_training (VnImproveJob *self)
{
  const VnImproveStep *step = improve_find_training ();
  g_autoptr(VnRecipe) recipe = vn_recipe_copy (self->recipe);

  if (step == NULL || !vn_improve_step_apply (step, recipe, self->bench->input.prepared->graph) ||
      !vn_recipe_validate (recipe, NULL))
    return NULL;
  if (vn_improve_get_seconds (self) + vn_improve_times_estimate_last (&self->times, self->recipe)
      + LEAST_TRAINING > self->settings.seconds)
    {
      vn_improve_add_try (self, step, VN_IMPROVE_NO_TIME, NULL, NULL);
      return NULL;
    }
  recipe->train_time = self->settings.seconds;
  return g_steal_pointer (&recipe);
}

static gboolean
improve_measure (VnImproveJob    *self,
                 const VnRecipe  *recipe,
                 VnModel         *model,
                 VnImproveTrial  *trial,
                 GCancellable    *cancellable,
                 GError         **error)
{
  trial->price = vn_improve_bench_look_ahead (self->bench, recipe, model);
  trial->bytes = vn_graph_weight_bytes (model->graph);
  return vn_judge_measure (self->bench->judge, model, &trial->judgement, cancellable, error);
}

typedef struct
{
  VnImproveJob *job;
  VnRecipe     *trained;   /* the recipe */
} Training;

/* By the judge of the tries. */
static gboolean
improve_promises_training (VnModel       *untrained,
                           VnModel       *trained,
                           gboolean      *promises,
                           gpointer       user_data,
                           GCancellable  *cancellable,
                           GError       **error)
{
  const Training *training = user_data;
  VnJudge *judge = training->job->bench->judge;
  g_auto(VnJudgement) before = { 0 }, after = { 0 };
  int answers;

  if (!vn_judge_measure (judge, untrained, &before, cancellable, error) ||
      !vn_judge_measure (judge, trained, &after, cancellable, error))
    return FALSE;
  answers = vn_judgement_compare_answers (&after, &before);
  *promises = answers > 0 || (answers == 0 && after.sqnr_db - before.sqnr_db >= LEAST_PROMISE);
  return TRUE;
}

/* VnTrainingGate */
static gboolean
improve_decide_training (VnModel       *untrained,
                         VnModel       *trained,
                         gboolean      *keeps,
                         gpointer       user_data,
                         GCancellable  *cancellable,
                         GError       **error)
{
  const Training *training = user_data;
  VnImproveJob *self = training->job;
  const VnImproveStep *step = improve_find_training ();
  g_auto(VnImproveTrial) before = { 0 }, after = { 0 };

  if (!improve_measure (self, self->recipe, untrained, &before, cancellable, error))
    return FALSE;
  vn_improve_take_remade (self, &before);
  *keeps = FALSE;
  if (trained == NULL)
    {
      vn_improve_add_try (self, step, VN_IMPROVE_NO_TIME, NULL, NULL);
      return TRUE;
    }
  if (!improve_measure (self, training->trained, trained, &after, cancellable, error))
    return FALSE;
  *keeps = vn_improve_judge (self, step, training->trained, &after);
  return TRUE;
}

/* ---- runs ---- */

static gboolean
improve_run_again (VnImproveJob    *self,
                   const VnRecipe  *recipe,
                   GCancellable    *cancellable,
                   GError         **error)
{
  g_clear_pointer (&self->result, vn_run_unref);
  self->result = vn_improve_run (&self->settings.quantize, recipe, self->whole->stats, cancellable, error);
  return self->result != NULL;
}

static gboolean
improve_run_untrained (VnImproveJob  *self,
                       GCancellable  *cancellable,
                       GError       **error)
{
  g_auto(VnImproveTrial) trial = { 0 };

  if (!improve_run_again (self, self->recipe, cancellable, error) ||
      !improve_measure (self, self->recipe, self->result->quantized, &trial, cancellable, error))
    return FALSE;
  vn_improve_take_remade (self, &trial);
  return TRUE;
}

/* @recipe: trains */
static gboolean
improve_run_trained (VnImproveJob  *self,
                     VnRecipe      *recipe,
                     GCancellable  *cancellable,
                     GError       **error)
{
  g_autoptr(VnRecipe) without = vn_recipe_copy (self->recipe);
  const double compare = vn_run_get_seconds (self->whole, "compare") + vn_run_get_seconds (self->whole, "settings");
  Training training = { self, recipe };
  VnTrainingGate gate = { without, self->began + (gint64) ((self->settings.seconds - compare) * G_USEC_PER_SEC),
                          LEAST_TRAINING * G_USEC_PER_SEC, improve_promises_training, improve_decide_training, &training };
  gboolean good;

  self->settings.quantize.gate = &gate;
  good = improve_run_again (self, recipe, cancellable, error);
  self->settings.quantize.gate = NULL;
  return good;
}

/* From all samples a network may be balanced otherwise than in tries, and cost more than they said. */
static gboolean
improve_step_back (VnImproveJob  *self,
                   GCancellable  *cancellable,
                   GError       **error)
{
  for (guint i = 0; i < MOST_STEPS_BACK && vn_improve_check_price (self, &self->best.price) != VN_IMPROVE_KEPT; i++)
    {
      if (vn_improve_step_back (self) == NULL)
        return TRUE;
      if (!improve_run_untrained (self, cancellable, error))
        return FALSE;
    }
  return TRUE;
}

/* Returns the plain run, which others may have, too: what is told comes into a copy. */
static gboolean
improve_return_plain (VnImproveJob  *self,
                      GCancellable  *cancellable,
                      GError       **error)
{
  g_autoptr(VnNotes) notes = NULL;

  vn_improve_give_up (self);
  if (self->settings.quantize.origins && self->whole->contributions == NULL)
    return improve_run_again (self, self->whole->recipe, cancellable, error);
  notes = vn_notes_new ();
  for (guint i = 0; i < vn_notes_get_n (self->whole->notes); i++)
    {
      const VnNote *note = vn_notes_get (self->whole->notes, i);

      vn_notes_add_remedy (notes, note->level, note->code, note->subject, note->remedy, "%s", note->text);
    }
  g_clear_pointer (&self->result, vn_run_unref);
  self->result = vn_run_with (self->whole, VN_FACET_NOTES, notes);
  return TRUE;
}

/* ---- what is told ---- */

static void
improve_note (VnImproveJob *self)
{
  VnNotes *notes = self->result->notes;

  g_clear_pointer (&self->result->steps, g_ptr_array_unref);
  self->result->steps = vn_run_steps_new ();
  if (self->result->errors != NULL && self->whole->errors != NULL)
    {
      g_autofree char *best = vn_format_db (vn_error_table_get_worst_sqnr (self->result->errors, self->whole->errors));
      g_autofree char *plain = vn_format_db (vn_error_table_get_worst_sqnr (self->whole->errors, self->result->errors));

      vn_notes_add (notes, VN_NOTE_INFO, VN_NOTE_CODE_AUTO, NULL, _("Worst output SQNR: %s, without fixes %s"), best, plain);
    }
  for (guint i = 0; i < self->tries->len; i++)
    {
      const VnImproveTry *try = g_ptr_array_index (self->tries, i);
      g_autofree char *text = vn_improve_try_dup_text (try), *outcome = vn_improve_try_dup_outcome (try);
      const VnRunStep step = { (char *) _(try->title), outcome, vn_improve_try_is_kept (try), try->before_db, try->after_db };

      vn_run_steps_add (self->result->steps, &step);
      vn_notes_add (notes, VN_NOTE_INFO, VN_NOTE_CODE_AUTO, NULL, "%s", text);
    }
}

/*< private >
 * vn_improve_finish:
 *
 * Makes the result: what the recipe that was found makes of all samples, or the plain run where that is no better.
 */
gboolean
vn_improve_finish (VnImproveJob  *self,
                   GCancellable  *cancellable,
                   GError       **error)
{
  g_autoptr(VnRecipe) trained = NULL;
  gboolean good = TRUE;

  g_return_val_if_fail (self != NULL, FALSE);

  trained = improve_add_training (self);
  if (trained != NULL)
    good = improve_run_trained (self, trained, cancellable, error);
  else if (self->earlier->len > 0)
    good = improve_run_untrained (self, cancellable, error);
  if (!good || !improve_step_back (self, cancellable, error))
    return FALSE;
  if (self->result == NULL || self->earlier->len == 0 || vn_improve_is_in_vain (self))
    good = improve_return_plain (self, cancellable, error);
  else
    vn_improve_settle (self);
  if (good)
    improve_note (self);
  return good;
}
