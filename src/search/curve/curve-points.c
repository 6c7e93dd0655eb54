/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The points of a curve that is not measured yet: of what can be chosen, what is accurate for its cost, and what that costs. */
#include "curve-choices-private.h"
#include "curve-job-private.h"

#include <math.h>

/* The points of a curve, about. */
#define MOST_POINTS 64

/* A curve with fewer points has none to spare. */
#define SHORT_CURVE 12

/* Larger exports are not encoded only to know their size: they grow by what their weights do. */
#define ENCODED_BYTES ((gsize) 64 << 20)

static gboolean
points_find_bytes (VnCurveJob           *self,
                   const VnImproveTrial *trial,
                   gsize                *bytes)
{
  g_autoptr(GBytes) file = NULL;

  if (self->plain->quantized_bytes > ENCODED_BYTES)
    {
      *bytes = self->plain->quantized_bytes + trial->bytes - MIN (vn_graph_weight_bytes (self->plain->quantized->graph),
                                                                  self->plain->quantized_bytes + trial->bytes);
      return TRUE;
    }
  file = vn_onnx_write_bytes (trial->model, NULL);
  *bytes = file != NULL ? g_bytes_get_size (file) : 0;
  return file != NULL;
}

/* NULL: its recipe cannot be carried out. */
static VnCurvePoint *
points_make (VnCurveJob     *self,
             VnCurveChoices *choices,
             const gboolean *taken)
{
  VnCurveSums sums = vn_curve_choices_sum_up (choices, taken);
  g_autoptr(VnCurvePoint) point = vn_curve_point_new ();

  vn_curve_choices_fill (choices, taken, point);
  if (!vn_recipe_validate (point->recipe, NULL))
    return NULL;
  point->predicted_db = sums.db[0];
  g_hash_table_insert (self->sums, point, g_memdup2 (&sums, sizeof sums));
  return g_steal_pointer (&point);
}

static void
points_add (VnCurveJob     *self,
            VnCurveChoices *choices,
            const gboolean *taken,
            gboolean        is_plain)
{
  g_autoptr(VnCurvePoint) point = points_make (self, choices, taken);
  g_auto(VnImproveTrial) trial = { 0 };

  if (point == NULL || !_vn_curve_job_forecast (self, point->recipe, &trial, NULL) ||
      !points_find_bytes (self, &trial, &point->bytes))
    return;
  point->is_plain = is_plain;
  point->integer_share = trial.price.integer_share;
  point->wide_share = trial.price.wide_share;
  point->time_ratio = trial.price.ratio;
  vn_curve_add (self->curve, g_steal_pointer (&point));
}

/* Of points that are as accurate, to a step, the first that is found; the plain one in any case. */
static void
points_add_all (VnCurveJob     *self,
                VnCurveChoices *choices,
                GPtrArray      *sets,
                const double   *sums)
{
  g_autofree gboolean *plain = vn_curve_choices_make_plain (choices);
  g_autoptr(GHashTable) steps = g_hash_table_new (NULL, NULL);
  double low = vn_curve_choices_predict (choices, plain), high = low;

  for (guint i = 0; i < sets->len; i++)
    {
      low = MIN (low, sums[i]);
      high = MAX (high, sums[i] < VN_CURVE_FLOAT_DB ? sums[i] : high);
    }
  points_add (self, choices, plain, TRUE);
  for (guint i = 0; i < sets->len; i++)
    {
      int step = high > low ? (int) (MOST_POINTS * (sums[i] - low) / (high - low)) : 0;

      if (g_hash_table_add (steps, GINT_TO_POINTER (MIN (step, 2 * MOST_POINTS) + 1)))
        points_add (self, choices, g_ptr_array_index (sets, i), FALSE);
    }
}

/* ---- choices that are no points ---- */

/**
 * Other: a choice that is no point.
 * @point: number of the point it stands next to; -1: on the way to some
 */
typedef struct
{
  gboolean *taken;
  double    sum;
  int       point;
} Other;

static void
points_clear_other (gpointer data)
{
  g_free (((Other *) data)->taken);
}

/* The point that a set is; -1: none. */
static int
points_find (const VnCurveJob *self,
             double            sum)
{
  for (guint i = 0; i < vn_curve_get_n (self->curve); i++)
    if (fabs (vn_curve_get (self->curve, i)->predicted_db - sum) < 1e-6)
      return (int) i;
  return -1;
}

/* @taken: (transfer full) */
static void
points_list_other (VnCurveJob     *self,
                   VnCurveChoices *choices,
                   gboolean       *taken,
                   int             point,
                   GArray         *others)
{
  Other other = { taken, vn_curve_choices_predict (choices, taken), point };

  if (other.sum < VN_CURVE_FLOAT_DB && points_find (self, other.sum) < 0)
    g_array_append_val (others, other);
  else
    g_free (taken);
}

/* What a point becomes with one thing chosen otherwise. */
static void
points_list_neighbours (VnCurveJob     *self,
                        VnCurveChoices *choices,
                        const gboolean *taken,
                        int             point,
                        GArray         *others)
{
  for (guint i = 0; i < choices->items->len; i++)
    {
      VnCurveItemKind kind = _vn_curve_get_item (choices, i)->kind;
      gboolean *other;

      if (kind == VN_CURVE_ITEM_UNIT || kind == VN_CURVE_ITEM_BIAS)   /* no rule speaks of these alone */
        continue;
      other = g_memdup2 (taken, choices->items->len * sizeof *taken);
      other[i] = !other[i];
      points_list_other (self, choices, other, point, others);
    }
}

/* Choices near the points that are none: those on the way to them, or, where these are few, those next to each. */
static GArray *
points_list_others (VnCurveJob     *self,
                    VnCurveChoices *choices,
                    GPtrArray      *sets,
                    const double   *sums)
{
  GArray *others = g_array_new (FALSE, FALSE, sizeof (Other));
  gboolean is_short = vn_curve_get_n (self->curve) < SHORT_CURVE;

  g_array_set_clear_func (others, points_clear_other);
  for (guint i = 0; i < sets->len; i++)
    {
      const gboolean *taken = g_ptr_array_index (sets, i);
      int point = points_find (self, sums[i]);

      if (is_short && point >= 0)
        points_list_neighbours (self, choices, taken, point, others);
      else if (!is_short && point < 0)
        points_list_other (self, choices, g_memdup2 (taken, choices->items->len * sizeof *taken), -1, others);
    }
  return others;
}

/* The nearest to @sum of those next to @point, or on the way; taken out of them. */
static gboolean *
points_take_nearest (GArray *others,
                     int     point,
                     double  sum)
{
  Other *best = NULL;

  for (guint i = 0; i < others->len; i++)
    {
      Other *other = &g_array_index (others, Other, i);

      if (other->taken != NULL && (other->point < 0 || other->point == point) &&
          (best == NULL || fabs (other->sum - sum) < fabs (best->sum - sum)))
        best = other;
    }
  return best != NULL ? g_steal_pointer (&best->taken) : NULL;
}

/* How much less accurate, or more, than a point that is looked for which is near it; how far that is, in points. */
#define NEAR_DB 0.4
#define NEAR_PLACE 0.25

/* A short curve has no points that could be spared to correct the others: so choices near its points serve, below and above each
 * in turn. */
static void
points_add_spares (VnCurveJob     *self,
                   VnCurveChoices *choices,
                   GPtrArray      *sets,
                   const double   *sums)
{
  g_autoptr(GArray) others = points_list_others (self, choices, sets, sums);
  guint n_points = vn_curve_get_n (self->curve), n = n_points < SHORT_CURVE
                   ? MIN (2 * n_points, VN_CURVE_ANCHORS) : VN_CURVE_ANCHORS - MIN (n_points / 2, VN_CURVE_ANCHORS);

  for (guint i = 0; i < n; i++)
    {
      guint at = i % n_points;
      double sum = vn_curve_get (self->curve, at)->predicted_db, sign = i / n_points % 2 == 0 ? -1 : 1;
      g_autofree gboolean *taken = sum < VN_CURVE_FLOAT_DB ? points_take_nearest (others, (int) at, sum + sign * NEAR_DB) : NULL;
      VnCurvePoint *spare = taken != NULL ? points_make (self, choices, taken) : NULL;

      if (spare == NULL)
        continue;
      ((VnCurveSums *) g_hash_table_lookup (self->sums, spare))->place = at + sign * NEAR_PLACE;
      g_ptr_array_add (self->spares, spare);
    }
}

static void
points_set_places (VnCurveJob *self)
{
  for (guint i = 0; i < vn_curve_get_n (self->curve); i++)
    ((VnCurveSums *) g_hash_table_lookup (self->sums, vn_curve_get (self->curve, i)))->place = i;
}

/*< private >
 * _vn_curve_job_add_points:
 *
 * Fills the curve; no point of it is measured.
 */
void
_vn_curve_job_add_points (VnCurveJob     *self,
                          VnCurveChoices *choices)
{
  g_autoptr(GPtrArray) sets = vn_curve_choices_list (choices);
  g_autofree double *sums = g_new0 (double, sets->len + 1);

  for (guint i = 0; i < sets->len; i++)
    sums[i] = vn_curve_choices_predict (choices, g_ptr_array_index (sets, i));
  points_add_all (self, choices, sets, sums);
  vn_curve_sort (self->curve);
  points_set_places (self);
  if (vn_curve_get_n (self->curve) > 0)
    points_add_spares (self, choices, sets, sums);
}
