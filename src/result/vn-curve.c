/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The list of points; VnCurveJob fills it. */
#include "vn-curve.h"

#include "vn-format.h"
#include "vn-format-traits.h"
#include "vn-i18n.h"

#include <math.h>

static const struct { const char *id, *title; } costs[] = {
#define VN_CURVE_COST(SYMBOL, id, title) { id, title },
#include "vn-curve-costs.def"
#undef VN_CURVE_COST
};

/**
 * vn_curve_cost_get_id:
 *
 * Returns: what command line and JSON call it
 */
const char *
vn_curve_cost_get_id (VnCurveCost self)
{
  g_return_val_if_fail (self < VN_N_CURVE_COSTS, NULL);

  return costs[self].id;
}

const char *
vn_curve_cost_get_title (VnCurveCost self)
{
  g_return_val_if_fail (self < VN_N_CURVE_COSTS, NULL);

  return _(costs[self].title);
}

/**
 * vn_curve_get_usual_cost:
 * @recipe: that a curve begins with
 *
 * Returns: what accuracy is paid with unless something else is asked for: where weights alone are integers, all multiplications
 *   are in float, whatever is chosen
 */
VnCurveCost
vn_curve_get_usual_cost (const VnRecipe *recipe)
{
  g_return_val_if_fail (recipe != NULL, VN_CURVE_COST_FLOAT);

  return vn_recipe_get_format (recipe)->weights_only ? VN_CURVE_COST_SIZE : VN_CURVE_COST_FLOAT;
}

/**
 * vn_curve_cost_find:
 * @cost: (out): untouched unless found
 *
 * Returns: whether @id is one
 */
gboolean
vn_curve_cost_find (const char  *id,
                    VnCurveCost *cost)
{
  g_return_val_if_fail (id != NULL && cost != NULL, FALSE);

  for (guint i = 0; i < G_N_ELEMENTS (costs); i++)
    if (g_str_equal (costs[i].id, id))
      {
        *cost = (VnCurveCost) i;
        return TRUE;
      }
  return FALSE;
}

/* ---- points ---- */

/**
 * vn_curve_point_new:
 *
 * Returns: (transfer full): a point of which nothing is known
 */
VnCurvePoint *
vn_curve_point_new (void)
{
  VnCurvePoint *self = g_new0 (VnCurvePoint, 1);

  self->predicted_db = self->measured_db = self->integer_share = self->wide_share = self->time_ratio = NAN;
  return self;
}

/**
 * vn_curve_point_free:
 */
void
vn_curve_point_free (VnCurvePoint *self)
{
  if (self == NULL)
    return;
  g_clear_pointer (&self->recipe, vn_recipe_free);
  g_free (self);
}

/**
 * vn_curve_point_get_float_share:
 *
 * Returns: share of the multiplications that are not done on integers of 8 bit, 0 to 1; NaN: cannot be told
 */
double
vn_curve_point_get_float_share (const VnCurvePoint *self)
{
  g_return_val_if_fail (self != NULL, NAN);

  return 1 - self->integer_share + (isnan (self->wide_share) ? 0 : self->wide_share);
}

double
vn_curve_point_get_cost (const VnCurvePoint *self,
                         VnCurveCost         cost)
{
  g_return_val_if_fail (self != NULL && cost < VN_N_CURVE_COSTS, NAN);

  return cost == VN_CURVE_COST_SIZE ? (double) self->bytes : cost == VN_CURVE_COST_TIME
         ? self->time_ratio : vn_curve_point_get_float_share (self);
}

double
vn_curve_point_get_db (const VnCurvePoint *self)
{
  g_return_val_if_fail (self != NULL, NAN);

  return isnan (self->measured_db) ? self->predicted_db : self->measured_db;
}

/* What a point is, in the order of what matters most. */
static const struct { const char *id, *title; } states[] = {
  { "chosen", N_("chosen") }, { "recipe", N_("the recipe") }, { "corrects", N_("anchor") }, { "check", N_("validation") },
  { "predicted", N_("predicted") },
};

static guint
curve_get_state (const VnCurvePoint *point)
{
  return point->is_chosen ? 0 : point->is_plain ? 1 : isnan (point->measured_db) ? 4 : point->used ? 2 : 3;
}

/**
 * vn_curve_point_get_state_id:
 *
 * Returns: what reports for programs call it
 */
const char *
vn_curve_point_get_state_id (const VnCurvePoint *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return states[curve_get_state (self)].id;
}

const char *
vn_curve_point_get_state_title (const VnCurvePoint *self)
{
  const char *title;

  g_return_val_if_fail (self != NULL, NULL);

  title = states[curve_get_state (self)].title;
  return *title != '\0' ? _(title) : title;
}

static char *
curve_format_db (double db)
{
  return db >= VN_CURVE_FLOAT_DB ? g_strdup (_("float accuracy")) : vn_format_db (db);
}

/**
 * vn_curve_point_dup_text:
 *
 * Returns: (transfer full): all that is known of it in one line: error, size, multiplications, time, answers
 */
char *
vn_curve_point_dup_text (const VnCurvePoint *self)
{
  g_autoptr(GString) text = g_string_new (NULL);
  g_autofree char *predicted = NULL, *measured = NULL, *size = NULL;

  g_return_val_if_fail (self != NULL, NULL);

  predicted = curve_format_db (self->predicted_db);
  measured = curve_format_db (self->measured_db);
  size = vn_format_bytes (self->bytes);
  if (isnan (self->measured_db))
    g_string_append_printf (text, _("predicted %s"), predicted);
  else if (isnan (self->predicted_db))
    g_string_append_printf (text, _("measured %s"), measured);
  else
    g_string_append_printf (text, _("predicted %s, measured %s"), predicted, measured);
  g_string_append_printf (text, " · %s", size);
  if (!isnan (self->integer_share))
    g_string_append_printf (text, _(" · %.0f %% integer MACs"), 100 * self->integer_share);
  if (!isnan (self->time_ratio))
    g_string_append_printf (text, _(" · %.2f times the float latency"), self->time_ratio);
  if (vn_kept_is_known (&self->kept))
    {
      g_autofree char *kept = vn_kept_dup_text (&self->kept);

      g_string_append_printf (text, " · %s", kept);
    }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/* ---- the curve ---- */

static void
curve_free_point (gpointer data)
{
  vn_curve_point_free (data);
}

VnCurve *
vn_curve_new (VnCurveCost cost)
{
  VnCurve *self = g_new0 (VnCurve, 1);

  g_atomic_ref_count_init (&self->ref);
  self->cost = cost;
  self->points = g_ptr_array_new_with_free_func (curve_free_point);
  return self;
}

/**
 * vn_curve_new_chosen:
 * @recipe: of a point
 *
 * Returns: (transfer full): a copy of @curve whose chosen point is the one with @recipe; the plain one is none
 */
VnCurve *
vn_curve_new_chosen (const VnCurve  *curve,
                     const VnRecipe *recipe)
{
  VnCurve *self;
  gboolean any = FALSE;

  g_return_val_if_fail (curve != NULL && recipe != NULL, NULL);

  self = vn_curve_new (curve->cost);
  self->n_samples = curve->n_samples;
  for (guint i = 0; i < curve->points->len; i++)
    {
      const VnCurvePoint *from = vn_curve_get (curve, i);
      VnCurvePoint *point = g_memdup2 (from, sizeof *from);

      point->is_chosen = !any && !point->is_plain && vn_recipe_equal (point->recipe, recipe);
      any = any || point->is_chosen;
      point->recipe = vn_recipe_copy (from->recipe);
      g_ptr_array_add (self->points, point);
    }
  return self;
}

VnCurve *
vn_curve_ref (VnCurve *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref);
  return self;
}

void
vn_curve_unref (VnCurve *self)
{
  if (!g_atomic_ref_count_dec (&self->ref))
    return;
  g_ptr_array_unref (self->points);
  g_free (self);
}

/**
 * vn_curve_add:
 * @point: (transfer full)
 */
void
vn_curve_add (VnCurve      *self,
              VnCurvePoint *point)
{
  g_return_if_fail (self != NULL && point != NULL);

  g_ptr_array_add (self->points, point);
}

guint
vn_curve_get_n (const VnCurve *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->points->len;
}

/**
 * vn_curve_get:
 *
 * Returns: (transfer none): point @i
 */
const VnCurvePoint *
vn_curve_get (const VnCurve *self,
              guint          i)
{
  g_return_val_if_fail (self != NULL && i < self->points->len, NULL);

  return g_ptr_array_index (self->points, i);
}

static gint
curve_compare (gconstpointer a,
               gconstpointer b,
               gpointer      data)
{
  const VnCurvePoint *p = *(const VnCurvePoint * const *) a, *q = *(const VnCurvePoint * const *) b;
  VnCurveCost cost = *(const VnCurveCost *) data;
  double x = vn_curve_point_get_cost (p, cost), y = vn_curve_point_get_cost (q, cost);

  if (x != y)
    return x < y ? -1 : 1;
  if (p->predicted_db != q->predicted_db)
    return p->predicted_db > q->predicted_db ? -1 : 1;
  return p->bytes < q->bytes ? -1 : p->bytes > q->bytes;
}

/**
 * vn_curve_sort:
 *
 * Orders the points by cost and leaves out those that another one is as accurate as for no more, but the plain one. What a point
 * has to be told apart from noise by is 0.01 dB.
 */
void
vn_curve_sort (VnCurve *self)
{
  double best = -INFINITY;

  g_return_if_fail (self != NULL);

  g_ptr_array_sort_with_data (self->points, curve_compare, &self->cost);
  for (guint i = 0; i < self->points->len;)
    {
      const VnCurvePoint *point = g_ptr_array_index (self->points, i);
      gboolean better = point->predicted_db > best + 0.01;

      best = better ? point->predicted_db : best;
      if (better || point->is_plain)
        i++;
      else
        g_ptr_array_remove_index (self->points, i);
    }
}

/**
 * vn_curve_drop_beaten:
 *
 * Leaves out points that were not measured and that one for no more is as accurate as, by what is known now.
 */
void
vn_curve_drop_beaten (VnCurve *self)
{
  double best = -INFINITY;

  g_return_if_fail (self != NULL);

  for (guint i = 0; i < self->points->len;)
    {
      const VnCurvePoint *point = vn_curve_get (self, i);
      double db = vn_curve_point_get_db (point);

      if (isnan (point->measured_db) && !point->is_plain && !(db > best))
        {
          g_ptr_array_remove_index (self->points, i);
          continue;
        }
      best = fmax (best, db);
      i++;
    }
}

/* KL divergence times signal over noise, the same for all points: the noise of logits is measured where half of it is the
 * divergence (vn-logit-space.c). NaN: no point of a language model was measured. */
static double
curve_find_divergence_at_0_db (const VnCurve *self)
{
  double sum = 0;
  guint n = 0;

  for (guint i = 0; i < self->points->len; i++)
    {
      const VnCurvePoint *point = vn_curve_get (self, i);

      if (point->kept.task != VN_TASK_TOKENS || !vn_kept_is_known (&point->kept) || !(point->kept.mean > 0) ||
          !isfinite (point->measured_db))
        continue;
      sum += log10 (point->kept.mean) + point->measured_db / 10;
      n++;
    }
  return n > 0 ? pow (10, sum / n) : NAN;
}

/**
 * vn_curve_get_divergence:
 * @point: of @self
 *
 * Returns: KL divergence in nats of a language model from the float one: measured, or else what its error stands for; NaN for
 *   other networks, 0 where the outputs are those of the float network
 */
double
vn_curve_get_divergence (const VnCurve      *self,
                         const VnCurvePoint *point)
{
  double at_0_db;

  g_return_val_if_fail (self != NULL && point != NULL, NAN);

  at_0_db = curve_find_divergence_at_0_db (self);
  if (point->kept.task == VN_TASK_TOKENS && vn_kept_is_known (&point->kept) && point->kept.mean >= 0)
    return point->kept.mean;
  return vn_curve_point_get_db (point) >= VN_CURVE_FLOAT_DB && !isnan (at_0_db) ? 0
         : at_0_db * pow (10, -vn_curve_point_get_db (point) / 10);
}

/**
 * vn_curve_get_worst_miss:
 * @n: (out) (optional): of so many points
 *
 * Returns: by how many dB the prediction was off at most, at points measured after it; NaN: at none
 */
double
vn_curve_get_worst_miss (const VnCurve *self,
                         guint         *n)
{
  double worst = NAN;
  guint count = 0;

  g_return_val_if_fail (self != NULL, NAN);

  for (guint i = 0; i < self->points->len; i++)
    {
      const VnCurvePoint *point = vn_curve_get (self, i);

      if (isnan (point->measured_db) || point->used)
        continue;
      worst = fmax (worst, fabs (point->measured_db - point->predicted_db));
      count++;
    }
  if (n != NULL)
    *n = count;
  return worst;
}
