/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What candidates of ranges do to the result of a layer. With X the vectors that it reads and H = X Xᵀ, the error of a row w of
 * weights that become q is (w - q)ᵀ H (w - q), that is the energy of (w - q)ᵀ X; that of what it reads is the energy of W (X -
 * q(X)). */
#include "search-layer.h"

#include "vn-linalg.h"
#include "vn-memory.h"
#include "vn-quant-math.h"
#include "vn-sample-ranks.h"

#include <float.h>
#include <math.h>

/* Positions of the result looked at in each sample; of these the ones with the largest numbers are kept, as what a narrower range
 * cuts off lies there, and some of the others, which stand for all of them. */
#define POSITIONS 1200
#define LEAST_KEPT 64
#define MOST_KEPT 320

/* Products that keeping them may cost: of layers that have few for a position, more are kept. */
#define PRODUCTS ((gsize) 2 << 20)

static const VnQuantRow *
search_layer_find_owner (VnQuantPlan *plan,
                         const char  *name)
{
  const VnQuantRow *row = vn_quant_plan_find_row (plan, name);

  if (row != NULL && row->tensor.shares != NULL)
    row = row->shares_converted ? NULL : vn_quant_plan_find_row (plan, row->tensor.shares);
  return vn_quant_row_has_integers (row) && row->converted == NULL ? row : NULL;
}

/**
 * vn_search_layer_new:
 * @layer: (transfer full): a layer of the network
 * @plan: of the recipe as it is
 * @room: samples that it will look at
 */
VnSearchLayer *
vn_search_layer_new (VnWeightLayer *layer,
                     VnQuantPlan   *plan,
                     gsize          room)
{
  VnSearchLayer *self = g_new0 (VnSearchLayer, 1);
  const VnQuantRow *weight, *read;

  g_return_val_if_fail (layer != NULL && plan != NULL, NULL);

  weight = vn_quant_plan_find_row (plan, layer->weight);
  read = search_layer_find_owner (plan, vn_node_get_input (layer->node, 0)->name);
  self->layer = layer;
  self->kept = CLAMP (PRODUCTS / (layer->groups * layer->rows * layer->columns), LEAST_KEPT, MOST_KEPT);
  self->room = room * self->kept;
  self->n_scales = vn_quant_row_has_integers (weight) && weight->block == 0 && weight->converted == NULL
                   ? weight->tensor.scale->n_elements : 0;
  self->read = read != NULL && read->tensor.role == VN_TENSOR_ACTIVATION ? g_strdup (read->tensor.name) : NULL;
  self->low = read != NULL ? MIN (read->tensor.min, -DBL_MIN) : -1;
  self->high = read != NULL ? MAX (read->tensor.max, DBL_MIN) : 1;
  return self;
}

/**
 * vn_search_layer_end:
 *
 * Lets go of what is needed only while the layer is looked at.
 */
void
vn_search_layer_end (VnSearchLayer *self)
{
  g_return_if_fail (self != NULL);

  g_clear_pointer (&self->columns, g_free);
  g_clear_pointer (&self->shares, g_free);
}

void
vn_search_layer_free (VnSearchLayer *self)
{
  if (self == NULL)
    return;
  vn_search_layer_end (self);
  vn_weight_layer_free (self->layer);
  g_free (self->read);
  g_free (self->weight_errors);
  g_free (self->read_errors);
  g_free (self);
}

/**
 * vn_search_layer_get_bytes:
 *
 * Returns: bytes that it takes while it is looked at
 */
gsize
vn_search_layer_get_bytes (const VnSearchLayer *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->layer->groups * self->layer->columns * self->room * sizeof (float);
}

/**
 * vn_search_layer_begin:
 *
 * Makes room for what it reads.
 */
gboolean
vn_search_layer_begin (VnSearchLayer  *self,
                       GError        **error)
{
  g_return_val_if_fail (self != NULL && self->columns == NULL, FALSE);

  self->columns = vn_try_new (float, self->layer->groups * self->layer->columns * self->room, error);
  if (self->columns != NULL)
    self->shares = vn_try_new (float, self->room, error);
  return self->shares != NULL;
}

/* How far a vector reaches towards the ends of the range. */
static double
search_layer_find_peak (const VnSearchLayer *self,
                        const float         *gathered,
                        gsize                n,
                        gsize                at)
{
  gsize k = self->layer->columns;
  double peak = 0;

  for (gsize g = 0; g < self->layer->groups; g++)
    for (gsize i = 0; i < k; i++)
      {
        double x = (double) gathered[(g * n + at) * k + i];

        peak = MAX (peak, x < 0 ? x / self->low : x / self->high);
      }
  return peak;
}

typedef struct
{
  double peak;
  gsize  at;
} Peak;

static gint
search_layer_compare_peaks (gconstpointer a,
                            gconstpointer b)
{
  const Peak *left = a, *right = b;

  return left->peak != right->peak ? (left->peak < right->peak ? 1 : -1) : (left->at > right->at) - (left->at < right->at);
}

static void
search_layer_keep (VnSearchLayer *self,
                   const float   *gathered,
                   gsize          n,
                   gsize          at,
                   float          share)
{
  gsize k = self->layer->columns;

  for (gsize g = 0; g < self->layer->groups; g++)
    memcpy (self->columns + (g * self->room + self->n) * k, gathered + (g * n + at) * k, k * sizeof (float));
  self->shares[self->n++] = share;
}

/**
 * vn_search_layer_look_at:
 * @read: what it reads in one run
 * @seed: number of the sample
 *
 * Returns: %FALSE with an error if memory is short
 */
gboolean
vn_search_layer_look_at (VnSearchLayer   *self,
                         const VnTensor  *read,
                         guint            seed,
                         GError         **error)
{
  g_autofree float *gathered = NULL;
  g_autofree Peak *peaks = NULL;
  gsize n, n_peaks, rest, others;

  g_return_val_if_fail (self != NULL && self->columns != NULL, FALSE);

  gathered = vn_try_new (float, self->layer->groups * self->layer->columns * POSITIONS, error);
  peaks = gathered != NULL ? vn_try_new (Peak, POSITIONS, error) : NULL;
  if (peaks == NULL)
    return FALSE;
  n = vn_weight_layer_gather (self->layer, read, seed, POSITIONS, gathered);
  for (gsize p = 0; p < n; p++)
    peaks[p] = (Peak) { search_layer_find_peak (self, gathered, n, p), p };
  qsort (peaks, n, sizeof *peaks, search_layer_compare_peaks);
  n_peaks = MIN (n, self->kept / 2);
  rest = n - n_peaks;
  others = MIN (rest, self->kept - n_peaks);
  for (gsize p = 0; p < n_peaks; p++)
    search_layer_keep (self, gathered, n, peaks[p].at, 1);
  for (gsize p = 0; p < others; p++)
    search_layer_keep (self, gathered, n, peaks[n_peaks + p * rest / others].at, (float) rest / (float) others);
  return TRUE;
}

/* ---- measuring ---- */

typedef struct
{
  const VnShape *weight_shape;
  float         *weights;     /* of one group, in rows */
  float         *errors;      /* room for those, or for the vectors of a group */
  float         *scratch;
  double        *sums;
} SearchRoom;

static void
search_room_clear (SearchRoom *self)
{
  g_free (self->weights);
  g_free (self->errors);
  g_free (self->scratch);
  g_free (self->sums);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SearchRoom, search_room_clear)

static float
search_layer_round (float    x,
                    float    scale,
                    gint64   zero_point,
                    gint64   qmin,
                    gint64   qmax)
{
  float q = rintf (x / scale) + (float) zero_point;

  return (CLAMP (q, (float) qmin, (float) qmax) - (float) zero_point) * scale;
}

static void
search_layer_take_group (const VnSearchLayer *self,
                         const float         *data,
                         gsize                group,
                         SearchRoom          *room)
{
  const VnWeightLayer *layer = self->layer;

  for (gsize m = 0; m < layer->rows; m++)
    for (gsize k = 0; k < layer->columns; k++)
      room->weights[m * layer->columns + k] = data[vn_weight_layer_get_offset (layer, group, m, k)];
}

/* Adds the errors of a group to those of its scales. */
static gboolean
search_layer_measure_weights (const VnSearchLayer *self,
                              const VnQuantRow    *row,
                              gsize                group,
                              SearchRoom          *room,
                              double              *errors)
{
  const VnWeightLayer *layer = self->layer;
  gsize columns = layer->columns;
  gint64 qmin, qmax;

  if (!vn_tensor_plan_get_levels (&row->tensor, &qmin, &qmax))
    return FALSE;
  for (gsize m = 0; m < layer->rows; m++)
    {
      gsize at = vn_quant_row_find_scale (row, room->weight_shape, vn_weight_layer_get_offset (layer, group, m, 0));
      float scale = ((const float *) row->tensor.scale->data)[at];
      gint64 zero_point = vn_tensor_get_s64 (row->tensor.zero_point, at);

      for (gsize i = m * columns; i < (m + 1) * columns; i++)
        room->errors[i] = room->weights[i] - search_layer_round (room->weights[i], scale, zero_point, qmin, qmax);
    }
  memset (room->sums, 0, layer->rows * sizeof (double));
  vn_linalg_add_energies (room->sums, room->errors, layer->rows, self->columns + group * self->room * columns, self->shares,
                          self->n,
                          columns, room->scratch);
  for (gsize m = 0; m < layer->rows; m++)
    errors[vn_quant_row_find_scale (row, room->weight_shape, vn_weight_layer_get_offset (layer, group, m, 0))] += room->sums[m];
  return TRUE;
}

/* The energy that rounding what a group reads brings into its result. @row: %NULL: that of the result itself */
static double
search_layer_measure_read (const VnSearchLayer *self,
                           const VnQuantRow    *row,
                           gsize                group,
                           SearchRoom          *room)
{
  const VnWeightLayer *layer = self->layer;
  const float *x = self->columns + group * self->room * layer->columns;
  gsize channels = layer->columns / layer->taps;
  gint64 qmin = 0, qmax = 0;
  double energy = 0;

  if (row != NULL)
    vn_dtype_integer_range (row->tensor.dtype, &qmin, &qmax);
  for (gsize k = 0; k < layer->columns && row != NULL; k++)
    {
      gsize at = row->tensor.scale->n_elements > 1 ? group * channels + k / layer->taps : 0;
      float scale = ((const float *) row->tensor.scale->data)[at];
      /* one for all channels */
      gint64 zero_point = vn_tensor_get_s64 (row->tensor.zero_point, MIN (at, row->tensor.zero_point->n_elements - 1));

      for (gsize p = 0; p < self->n; p++)
        room->errors[p * layer->columns + k] = x[p * layer->columns + k] -
                                               search_layer_round (x[p * layer->columns + k], scale, zero_point, qmin, qmax);
    }
  memset (room->sums, 0, self->n * sizeof (double));
  vn_linalg_add_energies (room->sums, row != NULL ? room->errors : x, self->n, room->weights, NULL, layer->rows, layer->columns,
                          room->scratch);
  for (gsize p = 0; p < self->n; p++)
    energy += (double) self->shares[p] * room->sums[p];
  return energy;
}

static gboolean
search_layer_make_room (const VnSearchLayer *self,
                        SearchRoom          *room,
                        GError             **error)
{
  const VnWeightLayer *layer = self->layer;
  gsize most = MAX (layer->rows, self->n);

  *room = (SearchRoom) { .weight_shape = &vn_node_get_input (layer->node, 1)->initializer->shape };
  return (room->weights = vn_try_new (float, layer->rows * layer->columns, error)) != NULL &&
         (room->errors = vn_try_new (float, most * layer->columns, error)) != NULL &&
         (room->scratch = vn_try_new (float, layer->rows * MAX (self->n, 1), error)) != NULL &&
         (room->sums = vn_try_new (double, most, error)) != NULL;
}

/**
 * vn_search_layer_measure:
 * @plans: (array length=n_plans): the candidates
 *
 * Finds @weight_errors and @read_errors.
 *
 * Returns: %FALSE with an error if memory is short
 */
gboolean
vn_search_layer_measure (VnSearchLayer        *self,
                         VnQuantPlan * const  *plans,
                         guint                 n_plans,
                         GError              **error)
{
  g_autoptr(VnTensor) weight = NULL;
  g_auto(SearchRoom) room = { 0 };
  double energy = 0;

  g_return_val_if_fail (self != NULL && plans != NULL && self->columns != NULL, FALSE);

  weight = vn_tensor_get_aligned (vn_node_get_input (self->layer->node, 1)->initializer, error);
  self->weight_errors = g_new0 (double, n_plans * MAX (self->n_scales, 1));
  self->read_errors = g_new0 (double, n_plans);
  if (weight == NULL || !search_layer_make_room (self, &room, error))
    return FALSE;
  for (gsize g = 0; g < self->layer->groups && self->n > 0; g++)
    {
      search_layer_take_group (self, weight->data, g, &room);
      energy += search_layer_measure_read (self, NULL, g, &room);
      for (guint i = 0; i < n_plans; i++)
        {
          const VnQuantRow *own = vn_quant_plan_find_row (plans[i], self->layer->weight);
          const VnQuantRow *read = self->read != NULL ? vn_quant_plan_find_row (plans[i], self->read) : NULL;

          if (self->n_scales > 0)
            search_layer_measure_weights (self, own, g, &room, self->weight_errors + i * self->n_scales);
          if (read != NULL)
            self->read_errors[i] += search_layer_measure_read (self, read, g, &room);
        }
    }
  for (guint i = 0; i < n_plans && energy > 0; i++)
    self->read_errors[i] /= energy;
  return TRUE;
}

/**
 * vn_search_layer_pack:
 * @n_plans: as of vn_search_layer_measure()
 *
 * Returns: (transfer full): what that has found, for another process
 */
GBytes *
vn_search_layer_pack (const VnSearchLayer *self,
                      guint                n_plans)
{
  GByteArray *bytes = g_byte_array_new ();

  g_return_val_if_fail (self != NULL && self->read_errors != NULL, g_byte_array_free_to_bytes (bytes));

  g_byte_array_append (bytes, (const guint8 *) self->weight_errors,
                       n_plans * (guint) (MAX (self->n_scales, 1) * sizeof *self->weight_errors));
  g_byte_array_append (bytes, (const guint8 *) self->read_errors, n_plans * (guint) sizeof *self->read_errors);
  return g_byte_array_free_to_bytes (bytes);
}

/**
 * vn_search_layer_take:
 * @bytes: (array length=size): of vn_search_layer_pack() of another process
 *
 * Returns: %FALSE with an error if it is of another layer, or memory is short
 */
gboolean
vn_search_layer_take (VnSearchLayer  *self,
                      gconstpointer   bytes,
                      gsize           size,
                      guint           n_plans,
                      GError        **error)
{
  gsize n;

  g_return_val_if_fail (self != NULL && bytes != NULL, FALSE);

  n = n_plans * MAX (self->n_scales, 1);
  if (size != (n + n_plans) * sizeof (double))
    return vn_sample_ranks_refuse (error);
  self->weight_errors = vn_memory_dup (bytes, n, sizeof (double), error);
  if (self->weight_errors != NULL)
    self->read_errors = vn_memory_dup ((const guint8 *) bytes + n * sizeof (double), n_plans, sizeof (double), error);
  return self->read_errors != NULL;
}
