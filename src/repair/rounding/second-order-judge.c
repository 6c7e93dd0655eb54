/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of a rounded network without which the outputs are nearer to the float ones are taken back. */
#include "second-order-private.h"

#include "vn-i18n.h"

/* @best: (nullable): what it must exceed to be of use */
static gboolean
second_order_measure (VnSecondOrder     *self,
                      const VnJudgement *best,
                      VnJudgement       *judgement,
                      GError           **error)
{
  g_autoptr(VnModel) quantized = vn_second_order_write (self, VN_SECOND_ORDER_WHOLE, error);

  return quantized != NULL && vn_judge_measure_against (self->input->judge, quantized, best, 0, judgement, self->cancellable,
                                                        error);
}

/* ---- verdicts ---- */

/* What an earlier run decided about the same layers. @verdict: (out) (nullable): %NULL: it did not come that far */
static gboolean
second_order_find_verdict (VnSecondOrder            *self,
                           guint                     first,
                           guint                     last,
                           VnRoundingOutcome         least,
                           VnRoundingOutcome         most,
                           const VnRoundingVerdict **verdict,
                           GError                  **error)
{
  *verdict = self->input->journal != NULL ? vn_rounding_journal_get_verdict (self->input->journal, self->n_verdicts) : NULL;
  if (*verdict == NULL)
    return TRUE;
  if ((*verdict)->first != first || (*verdict)->last != last || (*verdict)->outcome < least || (*verdict)->outcome > most)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED,
                   _("The decisions that were kept do not match layers %u to %u, which are judged next: start over without "
                     "--resume"), first, last);
      return FALSE;
    }
  self->n_verdicts++;
  return TRUE;
}

static gboolean
second_order_keep_verdict (VnSecondOrder    *self,
                           guint             first,
                           guint             last,
                           VnRoundingOutcome outcome,
                           GError          **error)
{
  const VnRoundingVerdict verdict = { .first = first, .last = last, .outcome = outcome, .best_db = self->best_db };

  if (self->input->journal == NULL)
    return TRUE;
  self->n_verdicts++;
  return vn_rounding_journal_add_verdict (self->input->journal, &verdict, error);
}

static void
second_order_forget_best (VnSecondOrder *self)
{
  if (self->has_best)
    vn_judgement_clear (&self->best);
  self->has_best = FALSE;
}

/* Of the weights as they are. Whoever goes on with what was kept measures only once. */
static gboolean
second_order_find_best (VnSecondOrder *self,
                        GError       **error)
{
  if (self->has_best)
    return TRUE;
  if (!second_order_measure (self, NULL, &self->best, error))
    return FALSE;
  self->has_best = TRUE;
  self->best_db = self->best.sqnr_db;
  return TRUE;
}

/*< private >
 * vn_second_order_measure_all:
 * @which: of all layers, rounded or not
 */
gboolean
vn_second_order_measure_all (VnSecondOrder    *self,
                             VnRoundingOutcome which,
                             double           *sqnr_db,
                             GError          **error)
{
  const VnRoundingVerdict *verdict;

  if (!second_order_find_verdict (self, 0, self->layers->len, which, which, &verdict, error))
    return FALSE;
  second_order_forget_best (self);
  if (verdict != NULL)
    self->best_db = verdict->best_db;
  else if (!second_order_find_best (self, error) || !second_order_keep_verdict (self, 0, self->layers->len, which, error))
    return FALSE;
  *sqnr_db = self->best_db;
  return TRUE;
}

/* Takes rounding back where the outputs are better without it. A layer changes them less than chance does, as its errors add to
 * those of all others or cancel them: what it computes is nearer to the float values for certain, and that decides unless the
 * samples say something else. Leaves the weights without it, or as they were. */
static gboolean
second_order_judge (VnSecondOrder     *self,
                    guint              first,
                    guint              last,
                    VnRoundingOutcome *outcome,
                    GError           **error)
{
  g_auto(VnJudgement) without = { 0 };
  double gain;

  if (!second_order_find_best (self, error))
    return FALSE;
  vn_second_order_set_weights (self, first, last, FALSE);
  if (!second_order_measure (self, &self->best, &without, error))
    return FALSE;
  gain = without.sqnr_db - self->best.sqnr_db;
  if (!without.hopeless && gain > vn_judgement_get_error (&without, &self->best))
    {
      vn_judgement_take (&self->best, &without);
      self->best_db = self->best.sqnr_db;
      *outcome = VN_ROUNDING_TAKEN_BACK;
    }
  else
    {
      vn_second_order_set_weights (self, first, last, TRUE);
      *outcome = gain <= 0 || last - first == 1 ? VN_ROUNDING_KEPT : VN_ROUNDING_SPLIT;
    }
  return second_order_keep_verdict (self, first, last, *outcome, error);
}

static gboolean
second_order_review (VnSecondOrder *self,
                     guint          first,
                     guint          last,
                     GError       **error)
{
  const VnRoundingVerdict *verdict;
  VnRoundingOutcome outcome;

  if (!second_order_find_verdict (self, first, last, VN_ROUNDING_KEPT,
                                  last - first == 1 ? VN_ROUNDING_TAKEN_BACK : VN_ROUNDING_SPLIT, &verdict, error))
    return FALSE;
  if (verdict != NULL)
    {
      outcome = verdict->outcome;
      self->best_db = verdict->best_db;
      if (outcome == VN_ROUNDING_TAKEN_BACK)
        vn_second_order_set_weights (self, first, last, FALSE);
    }
  else if (!second_order_judge (self, first, last, &outcome, error))
    return FALSE;
  if (outcome == VN_ROUNDING_TAKEN_BACK)
    self->gain->n_kept -= last - first;
  if (outcome != VN_ROUNDING_SPLIT)
    {
      self->n_reviewed += last - first;
      vn_second_order_report (self);
    }
  return outcome != VN_ROUNDING_SPLIT || (second_order_review (self, first, (first + last) / 2, error) &&
                                          second_order_review (self, (first + last) / 2, last, error));
}

/*< private >
 * vn_second_order_review_all:
 * @ends: (element-type guint): where parts of the network end, counted in layers
 * @plain_db: of the network without rounding
 *
 * Takes parts back, halves of them and layers, or all of it.
 */
gboolean
vn_second_order_review_all (VnSecondOrder *self,
                            GArray        *ends,
                            double         plain_db,
                            GError       **error)
{
  double whole_db;

  self->gain->n_kept = self->layers->len;
  if (!vn_second_order_measure_all (self, VN_ROUNDING_WHOLE, &whole_db, error))
    return FALSE;
  for (guint i = 0; i < ends->len; i++)
    if (!second_order_review (self, i > 0 ? g_array_index (ends, guint, i - 1) : 0, g_array_index (ends, guint, i), error))
      return FALSE;
  self->gain->before_db = plain_db;
  self->gain->after_db = self->best_db;
  if (self->best_db >= plain_db)
    return TRUE;
  vn_second_order_set_weights (self, 0, self->layers->len, FALSE);
  self->gain->after_db = plain_db;
  self->gain->n_kept = 0;
  return TRUE;
}
