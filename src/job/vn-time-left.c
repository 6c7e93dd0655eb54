/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The estimate of how long a job still takes. Of a part that tells how far it is, what is left goes as fast as it went so far; of
 * what stands behind, as fast for its cost as all that has been done. A part that tells nothing is taken to go on as its cost
 * says. Where costs are seconds of some machine, what has been done counts with PRIOR of the whole at that machine's speed, so
 * that a first part that went oddly does not decide alone. */
#include "vn-time-left.h"

#define PRIOR 0.01           /* of the cost of all */
#define LEAST_FRACTION 0.03  /* of the cost of all: without seconds nothing is told of less */
#define LEAST_SECONDS 0.3
#define LEAST_TOLD 0.02      /* of a part: less says nothing of its speed */

/* ---- what stages cost ---- */

static double
time_left_sum_weights (VnJob         *job,
                       const VnStage *stage)
{
  double sum = 0;

  for (; stage->id != NULL; stage++)
    if (stage->is_wanted == NULL || stage->is_wanted (job))
      sum += stage->weight;
  return sum;
}

/* Adds what @stage costs from @part on. Returns: FALSE: nobody knows yet */
static gboolean
time_left_add_cost (VnJob           *job,
                    const VnJobKind *kind,
                    const VnStage   *stage,
                    guint            part,
                    double          *cost,
                    double          *rest)
{
  double behind = 0, own = kind->cost (job, stage, part, &behind);

  *cost += own;
  *rest += behind;
  return own >= 0;
}

static gboolean
time_left_add_costs (VnJob           *job,
                     const VnJobKind *kind,
                     const VnStage   *stage,
                     guint            part,
                     VnStageCosts    *costs)
{
  gboolean known = time_left_add_cost (job, kind, stage, part, &costs->cost, &costs->rest);

  for (stage++; stage->id != NULL && known; stage++)
    if (stage->is_wanted == NULL || stage->is_wanted (job))
      known = time_left_add_cost (job, kind, stage, 0, &costs->rest, &costs->rest);
  return known;
}

/*< private >
 * vn_stage_find_costs:
 * @kind: of @job
 * @stage, @part: what begins
 * @costs: (out)
 *
 * Those that @kind gives if it knows all of them, else the weights of its stages.
 */
void
vn_stage_find_costs (VnJob            *job,
                     const VnJobKind  *kind,
                     const VnStage    *stage,
                     guint             part,
                     VnStageCosts     *costs)
{
  g_return_if_fail (job != NULL && kind != NULL && stage != NULL && costs != NULL);

  *costs = (VnStageCosts) { .in_seconds = TRUE, .known = TRUE };
  if (kind->cost == NULL || !time_left_add_costs (job, kind, stage, part, costs))
    *costs = (VnStageCosts) { .cost = stage->weight, .rest = time_left_sum_weights (job, stage + 1),
                              .known = kind->cost == NULL };
}

/* ---- how long they take ---- */

/* Closes the present part, at @now. What a weight that nobody measured says of a part that told nothing is no measure for
 * others. */
static void
time_left_end (VnTimeLeft *self,
               double      now)
{
  if (self->known && (self->in_seconds || self->fraction >= 0))
    {
      self->done += self->cost;
      self->seconds += MAX (now - self->began, 0);
    }
  self->known = FALSE;
  self->cost = self->rest = 0;
}

/**
 * vn_time_left_begin:
 * @cost: of the part that begins; the one before it has ended
 * @rest: of all parts behind it
 * @in_seconds: both are seconds of some machine; parts before it that had other costs are forgotten
 * @now: seconds, by any clock
 */
void
vn_time_left_begin (VnTimeLeft *self,
                    double      cost,
                    double      rest,
                    gboolean    in_seconds,
                    double      now)
{
  g_return_if_fail (self != NULL && cost >= 0 && rest >= 0);

  time_left_end (self, now);
  if (self->in_seconds != in_seconds)
    self->done = self->seconds = 0;
  *self = (VnTimeLeft) { .done = self->done, .seconds = self->seconds, .cost = cost, .began = now, .fraction = -1, .rest = rest,
                         .in_seconds = in_seconds, .known = TRUE };
}

/**
 * vn_time_left_begin_unknown:
 *
 * A part begins, and nobody knows yet what there is to do: what was done so far tells nothing of it.
 */
void
vn_time_left_begin_unknown (VnTimeLeft *self)
{
  g_return_if_fail (self != NULL);

  *self = (VnTimeLeft) { .fraction = -1 };
}

/**
 * vn_time_left_report:
 * @fraction: 0 .. 1: of the present part; less than was told before is passed over
 */
void
vn_time_left_report (VnTimeLeft *self,
                     double      fraction)
{
  g_return_if_fail (self != NULL);

  self->fraction = MAX (self->fraction, CLAMP (fraction, 0, 1));
}

/* Seconds for each unit of cost; negative: nothing is known of it. */
static double
time_left_get_speed (const VnTimeLeft *self,
                     double            here)
{
  const double total = self->done + self->cost + self->rest, told = MAX (self->fraction, 0) * self->cost;
  const double done = self->done + told, seconds = self->seconds + (told > 0 ? here : 0);

  if (self->in_seconds)
    return (seconds + PRIOR * total) / MAX (done + PRIOR * total, 1e-9);
  return done > LEAST_FRACTION * total && seconds > LEAST_SECONDS ? seconds / done : -1;
}

/**
 * vn_time_left_get:
 * @now: by the clock of vn_time_left_begin()
 *
 * Returns: seconds until all parts have ended; negative while there is nothing to go by
 */
double
vn_time_left_get (const VnTimeLeft *self,
                  double            now)
{
  double here, speed, left;

  g_return_val_if_fail (self != NULL, -1);

  here = MAX (now - self->began, 0);
  speed = self->known ? time_left_get_speed (self, here) : -1;
  if (speed < 0)
    return -1;
  left = self->cost * speed - here;
  if (self->fraction >= LEAST_TOLD)
    left = here * (1 - self->fraction) / self->fraction;
  else if (self->fraction > 0)
    left = (1 - self->fraction) * self->cost * speed;
  if (left < 0)       /* it takes longer than its cost says, and so may what is behind it */
    return self->rest * (self->seconds + here) / MAX (self->done + self->cost, 1e-9);
  return left + self->rest * speed;
}
