/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a judge has found: two networks beside each other, and what chance alone may bring. */
#include "vn-judge.h"

#include <math.h>

/* In dB: below that all is lost alike: one sample that goes from there to usable must not make a gain of all look like chance. */
#define LEAST_DB -20.0

void
vn_judgement_clear (VnJudgement *self)
{
  g_return_if_fail (self != NULL);

  g_clear_pointer (&self->each, g_array_unref);
  g_clear_pointer (&self->sums, g_free);
}

/**
 * vn_judgement_take:
 * @from: (inout): is empty afterwards
 */
void
vn_judgement_take (VnJudgement *self,
                   VnJudgement *from)
{
  g_return_if_fail (self != NULL && from != NULL && self != from);

  vn_judgement_clear (self);
  *self = *from;
  *from = (VnJudgement) { 0 };
}

/**
 * vn_judgement_compare_answers:
 * @before: by the same judge
 *
 * Returns: 1: clearly more of the answers are kept than before, -1: clearly fewer; 0: as many, or nobody knows
 */
int
vn_judgement_compare_answers (const VnJudgement *self,
                              const VnJudgement *before)
{
  g_return_val_if_fail (self != NULL && before != NULL, 0);

  return vn_kept_compare (&self->kept, &before->kept);
}

/**
 * vn_judgement_get_error:
 * @before: by the same judge
 *
 * Returns: the standard error, in dB, of the mean gain over the samples from @before to @self: what chance alone may bring
 */
double
vn_judgement_get_error (const VnJudgement *self,
                        const VnJudgement *before)
{
  double sum = 0, squares = 0, n;

  g_return_val_if_fail (self != NULL && before != NULL && self->each->len == before->each->len, 0);

  n = self->each->len;
  for (guint i = 0; i < self->each->len; i++)
    {
      double gain = fmax (g_array_index (self->each, double, i), LEAST_DB) - fmax (g_array_index (before->each, double, i),
                                                                                   LEAST_DB);

      sum += gain;
      squares += gain * gain;
    }
  return n < 2 ? 0 : sqrt (MAX (squares - sum * sum / n, 0) / (n * (n - 1)));
}
