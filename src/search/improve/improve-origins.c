/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Activations in the order in which something is done about them: each time the one with most error for the time that it costs
 * beside those before it. What a neighbour costs falls with each, as a part of the network that is float all through needs no
 * conversions inside: so what a tensor costs is found anew when its turn comes. */
#include "improve-origins.h"

#include <math.h>

/* How many tensors are looked at, and which share of the error they must have. */
#define MOST_TENSORS 32
#define LEAST_SHARE 0.003

/* Time, as a part of the float network's, that costs nothing: forecasts are not that exact. */
#define FREE_RATIO 0.002

typedef struct
{
  const char *name;     /* borrowed from the contributions */
  double      share;
  double      density;  /* share for the time; when last looked at */
  VnImprovePrice price;   /* of the export with this tensor beside those taken */
} Origin;

typedef struct
{
  VnImproveBench      *bench;
  const VnImproveStep *step;
  const VnRecipe      *recipe;
  const VnImproveLimit *limit;
  VnImprovePrice       price;      /* with those taken */
  GArray              *left;       /* of Origin */
  GPtrArray           *taken;      /* of char */
} Origins;

static void
origins_clear (Origins *self)
{
  g_clear_pointer (&self->left, g_array_unref);
  g_clear_pointer (&self->taken, g_ptr_array_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Origins, origins_clear)

/* What a network comes to in which something is done about the tensors taken and about one more. */
static gboolean
origins_forecast (Origins         *self,
                  const char      *name,     /* nullable */
                  VnImproveTrial  *trial,
                  GError         **error)
{
  g_autoptr(VnRecipe) recipe = vn_recipe_copy (self->recipe);
  g_autofree char **names = g_new0 (char *, self->taken->len + 2);

  for (guint i = 0; i < self->taken->len; i++)
    names[i] = g_ptr_array_index (self->taken, i);
  names[self->taken->len] = (char *) name;
  if (names[0] != NULL)
    self->step->add (recipe, self->bench->input.prepared->graph, names);
  return vn_improve_bench_forecast (self->bench, recipe, trial, error);
}

static gboolean
origins_look_at (Origins  *self,
                 Origin   *origin,
                 GError  **error)
{
  g_auto(VnImproveTrial) trial = { 0 };
  double more;

  if (!origins_forecast (self, origin->name, &trial, error))
    return FALSE;
  origin->price = trial.price;
  more = vn_improve_price_get_time (&trial.price) - vn_improve_price_get_time (&self->price);
  origin->density = isinf (self->limit->ratio) || isnan (more) ? origin->share : origin->share / MAX (more, FREE_RATIO);
  return TRUE;
}

static void
origins_list (Origins        *self,
              VnContributions *contributions)
{
  g_autoptr(GArray) order = vn_contributions_sort (contributions);

  for (guint i = 0; i < order->len && self->left->len < MOST_TENSORS; i++)
    {
      const VnContribution *item = vn_contributions_get (contributions, g_array_index (order, guint, i));
      Origin origin = { item->name, item->share, INFINITY, { NAN, NAN, NAN, NAN } };

      if (item->role == VN_TENSOR_ACTIVATION && item->share >= LEAST_SHARE)
        g_array_append_val (self->left, origin);
    }
}

static guint
origins_find_best (const Origins *self)
{
  guint best = 0;

  for (guint i = 1; i < self->left->len; i++)
    if (g_array_index (self->left, Origin, i).density > g_array_index (self->left, Origin, best).density)
      best = i;
  return best;
}

/* Takes the best tensor. One whose figure is old is looked at again, and goes back if others are better then. */
static gboolean
origins_take_next (Origins  *self,
                   GError   **error)
{
  for (guint looks = 0; self->left->len > 0; looks++)
    {
      guint at = origins_find_best (self);
      Origin *origin = &g_array_index (self->left, Origin, at);

      if (!origins_look_at (self, origin, error))
        return FALSE;
      if (vn_improve_limit_check (self->limit, &origin->price) != VN_IMPROVE_KEPT)
        {
          g_array_remove_index_fast (self->left, at);
          continue;
        }
      if (origins_find_best (self) != at && looks < MOST_TENSORS)
        continue;
      self->price = origin->price;
      g_ptr_array_add (self->taken, g_strdup (origin->name));
      g_array_remove_index_fast (self->left, at);
      return TRUE;
    }
  return TRUE;
}

/*< private >
 * vn_improve_order_origins:
 * @step: says what is done about a tensor
 * @recipe: the best so far
 * @limit: what the export may cost; where its time does not matter tensors come by the error that starts there alone
 *
 * Returns: (transfer full) (nullable) (element-type utf8): names of activations: taken from the front, each number of them keeps
 * to
 *   @limit
 */
GPtrArray *
vn_improve_order_origins (VnImproveBench       *bench,
                          const VnImproveStep  *step,
                          const VnRecipe       *recipe,
                          const VnImproveLimit *limit,
                          GCancellable         *cancellable,
                          GError              **error)
{
  g_auto(Origins) self = { bench, step, recipe, limit, { NAN, NAN, NAN, NAN }, NULL, NULL };
  g_auto(VnImproveTrial) trial = { 0 };
  g_autoptr(VnContributions) contributions = NULL;
  guint n;

  g_return_val_if_fail (bench != NULL && step != NULL && step->add != NULL && recipe != NULL && limit != NULL, NULL);

  contributions = vn_improve_bench_find_origins (bench, recipe, cancellable, error);
  if (contributions == NULL)
    return NULL;
  self.left = g_array_new (FALSE, FALSE, sizeof (Origin));
  self.taken = g_ptr_array_new_with_free_func (g_free);
  if (!origins_forecast (&self, NULL, &trial, error))
    return NULL;
  self.price = trial.price;
  origins_list (&self, contributions);
  do
    {
      n = self.taken->len;
      if (g_cancellable_set_error_if_cancelled (cancellable, error) || !origins_take_next (&self, error))
        return NULL;
    }
  while (self.taken->len > n);
  return g_steal_pointer (&self.taken);
}
