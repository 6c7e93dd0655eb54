/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A tensor with one scale has steps as wide as its largest channel needs. A factor s makes the steps of what lies in front count
 * s times, and those of the weights behind 1 / s times: for given steps the best s is (behind / front)^(1/4), as far as no number
 * leaves its range. Which steps are best is searched, a tensor or two at a time. */
#include "balance-steps.h"

#include <math.h>
#include <string.h>

/* Rounds of the search for steps, and how many tensors there may be for two of them to change at a time. */
#define MOST_ROUNDS 48
#define MOST_PAIRED 20

/* Where scales may be any number, steps are tried on a grid as fine as this part of an octave. */
#define PARTS 4

/* A unit whose noise shrinks by less stays as it is. */
#define LEAST_GAIN 0.03

static void
steps_clear_term (gpointer data)
{
  g_array_unref (((VnBalanceTerm *) data)->entries);
}

/* ---- the best factors for given steps ---- */

static double
steps_get_step (const VnBalanceUnit *self,
                int                  exponent)
{
  return self->power_of_two ? ldexp (1, exponent) : exp2 ((double) exponent / PARTS);
}

static int
steps_find_exponent (const VnBalanceUnit *self,
                     double               step)
{
  return step > 0 ? (int) ceil (log2 (step) * (self->power_of_two ? 1 : PARTS) - 1e-6) : -1000;
}

static void
steps_begin (VnBalanceUnit *self)
{
  double largest = exp2 ((double) self->clamp / PARTS);

  for (guint r = 0; r < self->roots->len; r++)
    {
      gboolean pinned = self->pinned[r];

      self->low[r] = fmax (pinned ? 1 : VN_BALANCE_LEAST_FACTOR, self->clipped[r] * largest);
      self->high[r] = fmin (pinned ? 1 : VN_BALANCE_MOST_FACTOR, self->clipped[r] > 0 ? largest : VN_BALANCE_MOST_FACTOR);
      self->front[r] = self->behind[r] = 0;
    }
}

/* Fills in the factors. Returns: the noise; INFINITY if numbers leave their range however factors are chosen */
static double
steps_solve (VnBalanceUnit *self)
{
  double noise = 0;

  steps_begin (self);
  for (guint k = 0; k < self->terms->len; k++)
    {
      const VnBalanceTerm *term = &g_array_index (self->terms, VnBalanceTerm, k);
      double step = steps_get_step (self, term->exponent);

      for (guint i = 0; i < term->entries->len; i++)
        {
          const VnBalanceEntry *entry = &g_array_index (term->entries, VnBalanceEntry, i);

          if (term->behind && entry->top > 0)
            self->high[entry->root] = fmin (self->high[entry->root], step / entry->top);
          if (!term->behind)
            self->low[entry->root] = fmax (self->low[entry->root], entry->top / step);
          *(term->behind ? &self->behind[entry->root] : &self->front[entry->root]) += entry->cost * step * step;
        }
    }
  for (guint r = 0; r < self->roots->len; r++)
    {
      double low = self->low[r], high = self->high[r], best = 1;

      if (low > high * (1 + 1e-9))
        return INFINITY;
      if (self->front[r] > 0 && self->behind[r] > 0)
        best = pow (self->behind[r] / self->front[r], 0.25);
      best = fmin (fmax (best, low), high);
      self->factors[r] = best;
      noise += self->front[r] * best * best + self->behind[r] / (best * best);
    }
  return noise;
}

/* ---- the best steps ---- */

static guint
steps_count_exponents (const VnBalanceUnit *self)
{
  return self->terms->len + (self->has_clamp ? 1 : 0);
}

static void
steps_move (VnBalanceUnit *self,
            guint          k,
            int            by)
{
  if (k < self->terms->len)
    g_array_index (self->terms, VnBalanceTerm, k).exponent += by;
  else
    self->clamp += by;
}

typedef struct
{
  guint  k[2];
  int    by[2];
  double noise;
} StepsMove;

static void
steps_try (VnBalanceUnit *self,
           StepsMove      move,
           StepsMove     *best)
{
  steps_move (self, move.k[0], move.by[0]);
  steps_move (self, move.k[1], move.by[1]);
  move.noise = steps_solve (self);
  steps_move (self, move.k[0], -move.by[0]);
  steps_move (self, move.k[1], -move.by[1]);
  if (move.noise < best->noise * (1 - 1e-6))
    *best = move;
}

static StepsMove
steps_find_move (VnBalanceUnit *self,
                 double         noise)
{
  guint n = steps_count_exponents (self);
  StepsMove best = { { 0, 0 }, { 0, 0 }, noise };

  for (guint a = 0; a < n; a++)
    for (int by = -1; by <= 1; by += 2)
      {
        steps_try (self, (StepsMove) { { a, a }, { by, 0 }, 0 }, &best);
        for (guint b = a + 1; b < n && n <= MOST_PAIRED; b++)
          for (int other = -1; other <= 1; other += 2)
            steps_try (self, (StepsMove) { { a, b }, { by, other }, 0 }, &best);
      }
  return best;
}

/* Steps that hold all numbers with the factors that there are. */
static void
steps_set_steps (VnBalanceUnit *self)
{
  double largest = 0;

  for (guint r = 0; r < self->roots->len; r++)
    largest = self->clipped[r] > 0 ? fmax (largest, self->factors[r]) : largest;
  self->clamp = largest > 0 ? (int) ceil (log2 (largest) * PARTS - 1e-6) : 0;
  for (guint k = 0; k < self->terms->len; k++)
    {
      VnBalanceTerm *term = &g_array_index (self->terms, VnBalanceTerm, k);
      double step = 0;

      for (guint i = 0; i < term->entries->len; i++)
        {
          const VnBalanceEntry *entry = &g_array_index (term->entries, VnBalanceEntry, i);

          step = fmax (step, term->behind ? entry->top * self->factors[entry->root] : entry->top / self->factors[entry->root]);
        }
      term->exponent = steps_find_exponent (self, step);
    }
}

/* The noise of the steps, with the factors that there are. */
static double
steps_measure (const VnBalanceUnit *self)
{
  double noise = 0;

  for (guint k = 0; k < self->terms->len; k++)
    {
      const VnBalanceTerm *term = &g_array_index (self->terms, VnBalanceTerm, k);
      double step = steps_get_step (self, term->exponent);

      for (guint i = 0; i < term->entries->len; i++)
        {
          const VnBalanceEntry *entry = &g_array_index (term->entries, VnBalanceEntry, i);
          double s = self->factors[entry->root];

          noise += entry->cost * step * step * (term->behind ? 1 / (s * s) : s * s);
        }
    }
  return noise;
}

/*< private >
 * vn_balance_unit_new:
 * @roots: (transfer full) (element-type guint): not empty
 *
 * Returns: (transfer full): without terms, all factors 1
 */
VnBalanceUnit *
vn_balance_unit_new (GArray   *roots,
                     gboolean  power_of_two)
{
  VnBalanceUnit *self;

  g_return_val_if_fail (roots != NULL, NULL);

  self = g_new0 (VnBalanceUnit, 1);
  self->roots = roots;
  self->power_of_two = power_of_two;
  self->terms = g_array_new (FALSE, FALSE, sizeof (VnBalanceTerm));
  g_array_set_clear_func (self->terms, steps_clear_term);
  self->pinned = g_new0 (gboolean, roots->len + 1);
  self->low = g_new0 (double, 6 * roots->len + 1);
  self->high = self->low + roots->len;
  self->front = self->high + roots->len;
  self->behind = self->front + roots->len;
  self->factors = self->behind + roots->len;
  self->clipped = self->factors + roots->len;
  for (guint r = 0; r < roots->len; r++)
    self->factors[r] = 1;
  return self;
}

void
vn_balance_unit_free (VnBalanceUnit *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->roots);
  g_array_unref (self->terms);
  g_free (self->pinned);
  g_free (self->low);
  g_free (self);
}

/*< private >
 * vn_balance_unit_add_term:
 *
 * Returns: (transfer none) (element-type VnBalanceEntry): to be filled
 */
GArray *
vn_balance_unit_add_term (VnBalanceUnit *self,
                          gboolean       behind)
{
  VnBalanceTerm term = { behind, NULL, 0 };

  g_return_val_if_fail (self != NULL, NULL);

  term.entries = g_array_new (FALSE, FALSE, sizeof (VnBalanceEntry));
  g_array_append_val (self->terms, term);
  return term.entries;
}

/*< private >
 * vn_balance_unit_minimize_noise:
 *
 * Returns: whether there are better factors than before: then these are in place of them
 */
gboolean
vn_balance_unit_minimize_noise (VnBalanceUnit *self)
{
  g_autofree double *given = NULL;
  double before, noise;
  gsize size;

  g_return_val_if_fail (self != NULL, FALSE);

  size = self->roots->len * sizeof *given;
  given = g_memdup2 (self->factors, size);
  steps_set_steps (self);
  before = steps_measure (self);
  noise = steps_solve (self);
  for (guint i = 0; i < MOST_ROUNDS && isfinite (noise); i++)
    {
      StepsMove move = steps_find_move (self, noise);

      if (!(move.noise < noise))
        break;
      steps_move (self, move.k[0], move.by[0]);
      steps_move (self, move.k[1], move.by[1]);
      noise = move.noise;
    }
  if (steps_solve (self) < (1 - LEAST_GAIN) * before)
    return TRUE;
  memcpy (self->factors, given, size);
  return FALSE;
}
