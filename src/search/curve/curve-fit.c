/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A line between the measured choices on both sides along the curve tells what is to be added to a sum; the model of how errors
 * come together is the one that tells most of each measured choice from the others. */
#include "curve-fit.h"

#include <math.h>

/* Choices that are nearer, in points, are one: between them is chance alone. */
#define SAME_PLACE 0.75

typedef struct
{
  VnCurveSums sums;
  double      measured_db;
} Known;

/* Some that are one. */
typedef struct
{
  double place, more;
  guint  n;
} Knot;

struct _VnCurveFit
{
  GArray *known;   /* of Known */
  guint   model;
};

VnCurveFit *
vn_curve_fit_new (void)
{
  VnCurveFit *self = g_new0 (VnCurveFit, 1);

  self->known = g_array_new (FALSE, FALSE, sizeof (Known));
  return self;
}

/**
 * vn_curve_fit_free:
 */
void
vn_curve_fit_free (VnCurveFit *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->known);
  g_free (self);
}

/**
 * vn_curve_fit_add:
 * @measured_db: what @sums turned out to be
 */
void
vn_curve_fit_add (VnCurveFit        *self,
                  const VnCurveSums *sums,
                  double             measured_db)
{
  Known known;

  g_return_if_fail (self != NULL && sums != NULL && isfinite (measured_db));

  known = (Known) { *sums, measured_db };
  g_array_append_val (self->known, known);
}

static gint
fit_compare (gconstpointer a,
             gconstpointer b)
{
  double x = ((const Known *) a)->sums.place, y = ((const Known *) b)->sums.place;

  return x < y ? -1 : x > y;
}

/* What is to be added, by place. @but: number of one in that order that is left out; -1: none */
static GArray *
fit_list_knots (const VnCurveFit *self,
                const GArray     *sorted,
                int               but)
{
  GArray *knots = g_array_new (FALSE, FALSE, sizeof (Knot));

  for (guint i = 0; i < sorted->len; i++)
    {
      const Known *known = &g_array_index (sorted, Known, i);
      Knot *last = knots->len > 0 ? &g_array_index (knots, Knot, knots->len - 1) : NULL;
      Knot knot = { known->sums.place, known->measured_db - known->sums.db[self->model], 1 };

      if ((int) i == but)
        continue;
      if (last == NULL || knot.place - last->place >= SAME_PLACE)
        {
          g_array_append_val (knots, knot);
          continue;
        }
      last->n++;
      last->place += (knot.place - last->place) / last->n;
      last->more += (knot.more - last->more) / last->n;
    }
  return knots;
}

static double
fit_interpolate (const GArray *knots,
                 double        place)
{
  const Knot *below = NULL, *above = NULL;

  for (guint i = 0; i < knots->len && above == NULL; i++)
    {
      const Knot *knot = &g_array_index (knots, Knot, i);

      below = knot->place <= place ? knot : below;
      above = knot->place > place ? knot : NULL;
    }
  if (below == NULL || above == NULL)
    return below != NULL ? below->more : above != NULL ? above->more : 0;
  return below->more + (place - below->place) / (above->place - below->place) * (above->more - below->more);
}

static GArray *
fit_sort (const VnCurveFit *self)
{
  GArray *sorted = g_array_copy (self->known);

  g_array_sort (sorted, fit_compare);
  return sorted;
}

/* How far off each measured choice would be if it had been predicted from the others, altogether. */
static double
fit_find_miss (const VnCurveFit *self)
{
  g_autoptr(GArray) sorted = fit_sort (self);
  double miss = 0;

  for (guint i = 0; i < sorted->len; i++)
    {
      const Known *known = &g_array_index (sorted, Known, i);
      g_autoptr(GArray) knots = fit_list_knots (self, sorted, (int) i);

      miss += fabs (known->sums.db[self->model] + fit_interpolate (knots, known->sums.place) - known->measured_db);
    }
  return miss;
}

/**
 * vn_curve_fit_choose:
 *
 * Finds the model that fits what is measured: to be called when all that was is added.
 *
 * Returns: its number
 */
guint
vn_curve_fit_choose (VnCurveFit *self)
{
  double least = INFINITY;
  guint best = 0;

  g_return_val_if_fail (self != NULL, 0);

  for (self->model = 0; self->model < VN_CURVE_N_MODELS; self->model++)
    {
      double miss = fit_find_miss (self);

      best = miss < least ? self->model : best;
      least = MIN (least, miss);
    }
  self->model = best;
  return best;
}

/**
 * vn_curve_fit_predict:
 *
 * Returns: signal to noise in dB
 */
double
vn_curve_fit_predict (const VnCurveFit  *self,
                      const VnCurveSums *sums)
{
  g_autoptr(GArray) sorted = NULL;
  g_autoptr(GArray) knots = NULL;

  g_return_val_if_fail (self != NULL && sums != NULL, NAN);

  sorted = fit_sort (self);
  knots = fit_list_knots (self, sorted, -1);
  return sums->db[self->model] + fit_interpolate (knots, sums->place);
}
