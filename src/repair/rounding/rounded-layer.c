/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums up what a layer reads, and rounds its weights by that: each group is a matrix of its own.
 *
 * With x what it reads in the quantized network, y the same in the float one, and weights W, weights Q are looked for whose
 * products Q x are near to W y. Without the grid the best ones are
 *
 *   W sum (y xᵀ) inverse (H) = W + W sum ((y - x) xᵀ) inverse (H),   H = sum (x xᵀ)
 *
 * and these are rounded: Li et al., "GPTAQ" (2025), asymmetric calibration. As there are few vectors to learn the difference
 * from, n beside k columns, n / (n + k) of it is taken. */
#include "rounded-layer.h"

#include "vn-linalg.h"
#include "vn-memory.h"
#include "vn-parallel.h"
#include "vn-quant-math.h"

#include <math.h>
#include <string.h>

/* Positions of the result looked at in each sample. */
#define POSITIONS 400

/* Bytes of moments of one layer: the groups of a layer that has more are looked at some after the others. */
#define PART_BYTES ((gsize) 1 << 30)

/* Rows of sums that are added to at a time. */
#define STRIP ((gsize) 512)

/* Sums of that many bytes are in a file without a name, which the system may write to the disk. */
#define SPILL_BYTES ((gsize) 16 << 20)

/* Bytes of weights, as doubles, that are rounded at a time: rows do not depend on each other. */
#define TILE_BYTES ((gsize) 8 << 20)

VnRoundedLayer *
vn_rounded_layer_new (VnWeightLayer    *layer,
                      const VnQuantRow *row,
                      guint             place)
{
  VnRoundedLayer *self = g_new0 (VnRoundedLayer, 1);
  g_autofree gint64 *zeros = NULL;

  g_return_val_if_fail (layer != NULL, NULL);

  zeros = g_new0 (gint64, layer->groups);
  self->layer = layer;
  self->row = row;
  self->place = place;
  self->before = vn_tensor_ref (vn_node_get_input (layer->node, layer->input)->initializer);
  self->n_read = vn_tensor_new_s64 (&VN_SHAPE ((gint64) layer->groups), zeros);
  return self;
}

/**
 * vn_rounded_layer_is_done:
 *
 * Returns: whether all groups have been looked at
 */
gboolean
vn_rounded_layer_is_done (const VnRoundedLayer *self)
{
  g_return_val_if_fail (self != NULL, TRUE);

  return self->first >= self->layer->groups;
}

/**
 * vn_rounded_layer_is_reached:
 *
 * Returns: whether a group has read enough to be rounded by
 */
gboolean
vn_rounded_layer_is_reached (const VnRoundedLayer *self,
                             gsize                 group)
{
  g_return_val_if_fail (self != NULL && group < self->layer->groups, FALSE);

  return ((const gint64 *) self->n_read->data)[group] >= (self->layer->is_experts ? (gint64) VN_ROUNDED_LEAST_READ : 1);
}

static gsize
rounded_layer_count_part (const VnRoundedLayer *self)
{
  const gsize k = self->layer->columns;

  return MIN (MAX (PART_BYTES / (k * k * sizeof (double)), 1), self->layer->groups - self->first);
}

/* Lets go of what is needed only while the layer is looked at. */
void
vn_rounded_layer_end (VnRoundedLayer *self)
{
  g_return_if_fail (self != NULL);

  g_clear_pointer (&self->moments, g_free);
  g_clear_pointer (&self->columns, g_free);
  if (self->cross_spill == NULL)
    g_free (self->cross);
  self->cross = NULL;
  g_clear_pointer (&self->cross_spill, vn_spill_free);
  g_clear_pointer (&self->floats, g_free);
  g_clear_pointer (&self->order, g_free);
  g_clear_pointer (&self->can_solve, g_free);
  self->shares = NULL;
  self->first += self->n;
  self->n = 0;
}

void
vn_rounded_layer_free (VnRoundedLayer *self)
{
  if (self == NULL)
    return;
  vn_rounded_layer_end (self);
  vn_weight_layer_free (self->layer);
  vn_tensor_unref (self->n_read);
  vn_tensor_unref (self->before);
  g_clear_pointer (&self->after, vn_tensor_unref);
  g_free (self);
}

/**
 * vn_rounded_layer_has_target:
 *
 * Returns: whether what is read in the float network counts: not where other experts may be chosen there
 */
gboolean
vn_rounded_layer_has_target (const VnRoundedLayer *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return !self->layer->is_experts;
}

static gboolean
rounded_layer_is_matrix (const VnRoundedLayer *self)
{
  return self->layer->groups == 1 && !self->layer->is_experts && self->before->shape.rank == 2;
}

/**
 * vn_rounded_layer_can_share:
 * @other: reads the same value
 *
 * Returns: whether the same sums, in the same order, serve both
 */
gboolean
vn_rounded_layer_can_share (const VnRoundedLayer *self,
                            const VnRoundedLayer *other)
{
  g_return_val_if_fail (self != NULL && other != NULL, FALSE);

  return rounded_layer_is_matrix (self) && rounded_layer_is_matrix (other) && self->layer->columns == other->layer->columns &&
         (self->row->block > 0) == (other->row->block > 0);
}

/* Bytes that it takes while it is looked at. */
gsize
vn_rounded_layer_get_bytes (const VnRoundedLayer *self)
{
  gsize k, n;

  g_return_val_if_fail (self != NULL, 0);

  k = self->layer->columns;
  n = vn_rounded_layer_has_target (self) ? 2 : 1;
  return rounded_layer_count_part (self) * k * k * (sizeof (double) + (n - 1) * sizeof (float)) +
         n * self->layer->groups * k * POSITIONS * sizeof (float);
}

/**
 * vn_rounded_layer_choose_part:
 *
 * Decides which groups are looked at next, in each of several processes alike.
 */
void
vn_rounded_layer_choose_part (VnRoundedLayer *self)
{
  g_return_if_fail (self != NULL);

  self->n = rounded_layer_count_part (self);
}

/* Room for the sums over both networks, all 0. */
static gboolean
rounded_layer_make_cross (VnRoundedLayer  *self,
                          GError         **error)
{
  const gsize k = self->layer->columns;

  if (self->n * k * k * sizeof (float) >= SPILL_BYTES)
    self->cross_spill = vn_spill_try (self->n * k * k * sizeof (float));
  self->cross = self->cross_spill != NULL ? self->cross_spill->data : vn_try_new0 (float, self->n * k * k, error);
  return self->cross != NULL;
}

gboolean
vn_rounded_layer_begin (VnRoundedLayer  *self,
                        GError         **error)
{
  gsize k;

  g_return_val_if_fail (self != NULL && self->moments == NULL, FALSE);

  k = self->layer->columns;
  self->moments = vn_try_new0 (double, self->n * k * k, error);
  if (self->moments != NULL)
    self->columns = vn_try_new (float, self->layer->groups * k * POSITIONS, error);
  if (self->columns == NULL || !vn_rounded_layer_has_target (self))
    return self->columns != NULL;
  if (rounded_layer_make_cross (self, error))
    self->floats = vn_try_new (float, self->layer->groups * k * POSITIONS, error);
  return self->floats != NULL;
}

/**
 * vn_rounded_layer_look_at:
 * @wanted: (nullable): what it reads in the float network; %NULL: the same
 * @seed: which vectors are taken, if there are many
 *
 * Keeps the vectors of one sample, to be added to the others.
 */
void
vn_rounded_layer_look_at (VnRoundedLayer *self,
                          const VnTensor *read,
                          const VnTensor *wanted,
                          guint           seed)
{
  g_return_if_fail (self != NULL);

  self->n_columns = vn_weight_layer_gather (self->layer, read, seed, POSITIONS, self->columns);
  if (self->floats != NULL &&
      vn_weight_layer_gather (self->layer, wanted != NULL ? wanted : read, seed, POSITIONS, self->floats) != self->n_columns)
    memcpy (self->floats, self->columns, self->n_columns * self->layer->columns * self->layer->groups * sizeof *self->floats);
  if (self->first > 0)      /* counted the first time */
    return;
  if (self->layer->is_experts)
    vn_weight_layer_count (self->layer, read, self->n_read->data);
  for (gsize g = 0; g < self->layer->groups && !self->layer->is_experts; g++)
    ((gint64 *) self->n_read->data)[g] += (gint64) self->n_columns;
}

/* Floats become differences. */
static void
rounded_layer_subtract (VnRoundedLayer *self)
{
  const gsize n = self->layer->groups * self->n_columns * self->layer->columns;

  for (gsize i = 0; i < n; i++)
    {
      const float difference = self->floats[i] - self->columns[i];

      self->floats[i] = isfinite (difference) ? difference : 0;
    }
}

typedef struct
{
  VnRoundedLayer *layer;
  gsize           n_strips;     /* of one group */
} RoundedStrips;

/* Some rows of the sums of one group, on the vectors of one sample. */
static gboolean
rounded_layer_add_strip (gsize     item,
                         guint     worker,
                         gpointer  data,
                         GError  **error)
{
  const RoundedStrips *strips = data;
  const VnRoundedLayer *self = strips->layer;
  const gsize k = self->layer->columns, n = self->n_columns, part = item / strips->n_strips;
  const gsize first = item % strips->n_strips * STRIP, last = MIN (first + STRIP, k);
  const float *columns = self->columns + (self->first + part) * n * k;
  g_autofree float *scratch = vn_try_new (float, (last - first) * (k - first), error);

  if (scratch == NULL)
    return FALSE;
  vn_linalg_add_moments (self->moments + part * k * k, k, columns, n, first, last, scratch);
  if (self->cross != NULL)
    vn_linalg_add_product (self->cross + part * k * k + first * k, k, self->floats + (self->first + part) * n * k + first, k,
                           TRUE, columns, k, FALSE, last - first, k, n, 1);
  return TRUE;
}

/**
 * vn_rounded_layer_add_sample:
 * @n_threads: the sums do not depend on it
 *
 * Adds the vectors of one sample to the others.
 */
gboolean
vn_rounded_layer_add_sample (VnRoundedLayer  *self,
                             guint            n_threads,
                             GCancellable    *cancellable,
                             GError         **error)
{
  RoundedStrips strips;
  gboolean good;

  g_return_val_if_fail (self != NULL, FALSE);

  if (self->n_columns == 0)
    return TRUE;
  if (self->floats != NULL)
    rounded_layer_subtract (self);
  strips = (RoundedStrips) { self, (self->layer->columns + STRIP - 1) / STRIP };
  good = vn_parallel_for (n_threads, self->n * strips.n_strips, rounded_layer_add_strip, &strips, cancellable, error);
  self->n_columns = 0;
  return good;
}

typedef struct
{
  float   *scales;
  double  *zero_points;
  guint32 *row, *column;
} RoundedGrid;

static void
rounded_grid_clear (RoundedGrid *self)
{
  g_free (self->scales);
  g_free (self->zero_points);
  g_free (self->row);
  g_free (self->column);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (RoundedGrid, rounded_grid_clear)

static gboolean
rounded_layer_make_grid (const VnRoundedLayer  *self,
                         RoundedGrid           *data,
                         VnRoundingGrid        *grid,
                         GError               **error)
{
  const VnTensorPlan *row = &self->row->tensor;
  gsize n = row->scale->n_elements;

  data->scales = vn_try_new (float, n, error);
  data->zero_points = data->scales != NULL ? vn_try_new (double, n, error) : NULL;
  data->row = data->zero_points != NULL ? vn_try_new (guint32, self->layer->rows, error) : NULL;
  data->column = data->row != NULL ? vn_try_new (guint32, self->layer->columns, error) : NULL;
  if (data->column == NULL)
    return FALSE;
  for (gsize i = 0; i < n; i++)
    {
      data->scales[i] = ((const float *) row->scale->data)[i];
      data->zero_points[i] = vn_tensor_get_double (row->zero_point, i);
    }
  *grid = (VnRoundingGrid) { data->scales, data->zero_points, data->row, data->column, 0, 0 };
  return vn_tensor_plan_get_levels (row, &grid->qmin, &grid->qmax);
}

static void
rounded_layer_place_group (const VnRoundedLayer *self,
                           RoundedGrid          *data,
                           gsize                 group,
                           const guint32        *order)
{
  const VnWeightLayer *layer = self->layer;
  gsize first = vn_quant_row_find_scale (self->row, &self->before->shape, vn_weight_layer_get_offset (layer, group, 0, 0));

  for (gsize m = 0; m < layer->rows; m++)
    data->row[m] = (guint32) vn_quant_row_find_scale (self->row, &self->before->shape,
                                                      vn_weight_layer_get_offset (layer, group, m, 0));
  for (gsize k = 0; k < layer->columns; k++)
    data->column[k] = (guint32) (vn_quant_row_find_scale (self->row, &self->before->shape,
                                                          vn_weight_layer_get_offset (layer, group, 0, order[k])) - first);
}

/* Of weights with few scales, order lowers the error of some networks and raises that of others as much. */
static gboolean
rounded_layer_order (VnRoundedLayer  *self,
                     gsize            part,
                     GError         **error)
{
  const gsize columns = self->layer->columns;
  guint32 *order = self->order + part * columns;

  if (self->row->block > 0)
    return vn_rounding_order (self->moments + part * columns * columns, columns, order, error);
  for (gsize k = 0; k < columns; k++)
    order[k] = (guint32) k;
  return TRUE;
}

/**
 * vn_rounded_layer_factor:
 *
 * Makes of the moments what weights are rounded by.
 *
 * Returns: %FALSE with an error if memory is short
 */
gboolean
vn_rounded_layer_factor (VnRoundedLayer  *self,
                         GError         **error)
{
  gsize k;

  g_return_val_if_fail (self != NULL && self->moments != NULL, FALSE);

  k = self->layer->columns;
  g_clear_pointer (&self->columns, g_free);
  g_clear_pointer (&self->floats, g_free);
  self->can_solve = vn_try_new0 (gboolean, self->n, error);
  self->order = self->can_solve != NULL ? vn_try_new (guint32, self->n * k, error) : NULL;
  if (self->order == NULL)
    return FALSE;
  for (gsize i = 0; i < self->n; i++)
    {
      g_autoptr(GError) local = NULL;

      if (!vn_rounded_layer_is_reached (self, self->first + i))
        continue;
      if (!rounded_layer_order (self, i, error))
        return FALSE;
      self->can_solve[i] = vn_rounding_factor (self->moments + i * k * k, k, VN_ROUNDING_DAMPING, &local);
      if (!vn_error_is_memory (local))
        continue;
      g_propagate_error (error, g_steal_pointer (&local));
      return FALSE;
    }
  return TRUE;
}

static gsize
rounded_layer_count_tile_rows (const VnRoundedLayer *self)
{
  return CLAMP (TILE_BYTES / (self->layer->columns * sizeof (double)), 1, self->layer->rows);
}

/* What is rounded in one call: the rows of one group, some at a time. */
typedef struct
{
  VnRoundedLayer       *self;
  const VnRoundedLayer *sums;
  const VnRoundingGrid *grid;
  gsize                 group, n_tile;
} RoundedGroup;

/* Room for some rows: as they lie in the constant, in the order that they are rounded in, and what is added to them. */
typedef struct
{
  gsize   first, n_rows;
  double *weights, *more;
  float  *plain, *products;
} RoundedTile;

static void
rounded_tile_clear (RoundedTile *self)
{
  g_free (self->weights);
  g_free (self->more);
  g_free (self->plain);
  g_free (self->products);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (RoundedTile, rounded_tile_clear)

/* Rows become those whose products are nearest to the float ones, before they are rounded. */
static gboolean
rounded_group_aim (const RoundedGroup  *self,
                   RoundedTile         *tile,
                   GError             **error)
{
  const VnWeightLayer *layer = self->self->layer;
  const gsize k = layer->columns, n = tile->n_rows, part = self->group - self->sums->first;
  const double n_read = (double) ((const gint64 *) self->self->n_read->data)[self->group];
  const double share = n_read / (n_read + (double) k);
  const guint32 *order = self->sums->order + part * k;
  const float *before = self->self->before->data;

  tile->plain = vn_try_new (float, n * k, error);
  tile->products = tile->plain != NULL ? vn_try_new0 (float, n * k, error) : NULL;
  tile->more = tile->products != NULL ? vn_try_new (double, n * k, error) : NULL;
  if (tile->more == NULL)
    return FALSE;
  for (gsize m = 0; m < n; m++)
    for (gsize c = 0; c < k; c++)
      tile->plain[m * k + c] = before[vn_weight_layer_get_offset (layer, self->group, tile->first + m, c)];
  vn_linalg_add_product (tile->products, k, tile->plain, k, FALSE, self->sums->cross + part * k * k, k, FALSE, n, k, k, 1);
  for (gsize m = 0; m < n; m++)
    for (gsize c = 0; c < k; c++)
      tile->more[m * k + c] = (double) tile->products[m * k + order[c]];
  vn_linalg_multiply_inverse (tile->more, n, self->sums->moments + part * k * k, k);
  for (gsize i = 0; i < n * k; i++)
    tile->weights[i] += share * tile->more[i];
  return TRUE;
}

static gboolean
rounded_group_round (gsize     item,
                     guint     worker,
                     gpointer  data,
                     GError  **error)
{
  const RoundedGroup *self = data;
  const VnWeightLayer *layer = self->self->layer;
  const gsize columns = layer->columns, part = self->group - self->sums->first;
  const guint32 *order = self->sums->order + part * columns;
  const float *before = self->self->before->data;
  float *after = self->self->after->data;
  g_auto(RoundedTile) tile = { .first = item * self->n_tile };
  VnRoundingGrid rows = *self->grid;

  tile.n_rows = MIN (self->n_tile, layer->rows - tile.first);
  tile.weights = vn_try_new (double, tile.n_rows * columns, error);
  if (tile.weights == NULL)
    return FALSE;
  rows.row += tile.first;
  for (gsize m = 0; m < tile.n_rows; m++)
    for (gsize k = 0; k < columns; k++)
      tile.weights[m * columns + k] = (double) before[vn_weight_layer_get_offset (layer, self->group, tile.first + m, order[k])];
  if ((self->sums->cross != NULL && !rounded_group_aim (self, &tile, error)) ||
      !vn_rounding_solve (tile.weights, tile.n_rows, columns, &rows, self->sums->moments + part * columns * columns, error))
    return FALSE;
  for (gsize m = 0; m < tile.n_rows; m++)
    for (gsize k = 0; k < columns; k++)
      after[vn_weight_layer_get_offset (layer, self->group, tile.first + m, order[k])] = (float) tile.weights[m * columns + k];
  return TRUE;
}

static gboolean
rounded_layer_copy_weights (VnRoundedLayer  *self,
                            GError         **error)
{
  g_autoptr(VnTensor) aligned = vn_tensor_get_aligned (self->before, error);

  if (aligned == NULL)
    return FALSE;
  if (self->after != NULL)
    return TRUE;
  vn_tensor_unref (self->before);
  self->before = g_steal_pointer (&aligned);
  self->after = vn_tensor_new_constant (VN_DTYPE_F32, &self->before->shape, error);
  if (self->after == NULL)
    return FALSE;
  memcpy (self->after->data, self->before->data, self->before->n_bytes);
  return TRUE;
}

/**
 * vn_rounded_layer_solve:
 * @n_threads: the weights do not depend on it
 *
 * Rounds the weights of the groups that were looked at into @after, behind vn_rounded_layer_factor(). A group whose moments have
 * no inverse, because it never read anything but zeros, and an expert that few tokens went to keep their weights as they are,
 * which the writer then rounds to the nearest.
 *
 * Returns: %FALSE with an error if memory is short
 */
gboolean
vn_rounded_layer_solve (VnRoundedLayer  *self,
                        guint            n_threads,
                        GError         **error)
{
  g_auto(RoundedGrid) data = { 0 };
  VnRoundingGrid grid;
  RoundedGroup group;

  g_return_val_if_fail (self != NULL, FALSE);

  group = (RoundedGroup) { self, self->shares != NULL ? self->shares : self, &grid, 0, rounded_layer_count_tile_rows (self) };
  if (!rounded_layer_copy_weights (self, error) || !rounded_layer_make_grid (self, &data, &grid, error))
    return FALSE;
  for (gsize g = self->first; g < self->first + self->n; g++)
    {
      if (!group.sums->can_solve[g - self->first])
        continue;
      group.group = g;
      rounded_layer_place_group (self, &data, g, group.sums->order + (g - self->first) * self->layer->columns);
      if (!vn_parallel_for (n_threads, (self->layer->rows - 1) / group.n_tile + 1, rounded_group_round, &group, NULL, error))
        return FALSE;
    }
  return TRUE;
}
