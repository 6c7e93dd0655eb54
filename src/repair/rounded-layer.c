/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums up what a layer reads, and rounds its weights by that: each group is a matrix of its own. */
#include "rounded-layer.h"

#include "vn-linalg.h"
#include "vn-memory.h"
#include "vn-quant-math.h"

#include <string.h>

/* Positions of the result looked at in each sample. */
#define POSITIONS 400

/* Bytes of moments of one layer: the groups of a layer that has more are looked at some after the others. */
#define PART_BYTES ((gsize) 1 << 30)

/* Bytes of weights, as doubles, that are rounded at a time: rows do not depend on each other. */
#define TILE_BYTES ((gsize) 32 << 20)

VnRoundedLayer *
vn_rounded_layer_new (VnWeightLayer    *layer,
                      const VnQuantRow *row)
{
  VnRoundedLayer *self = g_new0 (VnRoundedLayer, 1);
  g_autofree gint64 *zeros = NULL;

  g_return_val_if_fail (layer != NULL, NULL);

  zeros = g_new0 (gint64, layer->groups);
  self->layer = layer;
  self->row = row;
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

/* Bytes that it takes while it is looked at. */
gsize
vn_rounded_layer_get_bytes (const VnRoundedLayer *self)
{
  gsize k;

  g_return_val_if_fail (self != NULL, 0);

  k = self->layer->columns;
  return rounded_layer_count_part (self) * k * k * sizeof (double) + self->layer->groups * k * POSITIONS * sizeof (float);
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
  return self->columns != NULL;
}

/* From inside a run: the vectors are kept, to be added to the others behind it. */
void
vn_rounded_layer_look_at (VnRoundedLayer *self,
                          const VnTensor *read,
                          guint           seed)
{
  g_return_if_fail (self != NULL);

  self->n_columns = vn_weight_layer_gather (self->layer, read, seed, POSITIONS, self->columns);
  if (self->first > 0)      /* counted the first time */
    return;
  if (self->layer->is_experts)
    vn_weight_layer_count (self->layer, read, self->n_read->data);
  for (gsize g = 0; g < self->layer->groups && !self->layer->is_experts; g++)
    ((gint64 *) self->n_read->data)[g] += (gint64) self->n_columns;
}

gboolean
vn_rounded_layer_add_sample (VnRoundedLayer  *self,
                             GError         **error)
{
  g_autofree float *scratch = NULL;
  gsize k;

  g_return_val_if_fail (self != NULL, FALSE);

  k = self->layer->columns;
  scratch = vn_try_new (float, k * k, error);
  if (scratch == NULL)
    return FALSE;
  for (gsize g = 0; g < self->n && self->n_columns > 0; g++)
    vn_linalg_add_moments (self->moments + g * k * k, k, self->columns + (self->first + g) * self->n_columns * k, self->n_columns,
                           scratch);
  self->n_columns = 0;
  return TRUE;
}

typedef struct
{
  float   *scales;
  double  *zero_points;
  guint32 *row, *column, *order;
} RoundedGrid;

static void
rounded_grid_clear (RoundedGrid *self)
{
  g_free (self->scales);
  g_free (self->zero_points);
  g_free (self->row);
  g_free (self->column);
  g_free (self->order);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (RoundedGrid, rounded_grid_clear)

static gboolean
rounded_layer_make_grid (const VnRoundedLayer *self,
                         RoundedGrid             *data,
                         VnRoundingGrid       *grid,
                         GError              **error)
{
  const VnTensorPlan *row = &self->row->tensor;
  gsize n = row->scale->n_elements;

  data->scales = vn_try_new (float, n, error);
  data->zero_points = data->scales != NULL ? vn_try_new (double, n, error) : NULL;
  data->row = data->zero_points != NULL ? vn_try_new (guint32, self->layer->rows, error) : NULL;
  data->column = data->row != NULL ? vn_try_new (guint32, self->layer->columns, error) : NULL;
  data->order = data->column != NULL ? vn_try_new (guint32, self->layer->columns, error) : NULL;
  if (data->order == NULL)
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
                           RoundedGrid             *data,
                           gsize                 group)
{
  const VnWeightLayer *layer = self->layer;
  gsize first = vn_quant_row_find_scale (self->row, &self->before->shape, vn_weight_layer_get_offset (layer, group, 0, 0));

  for (gsize m = 0; m < layer->rows; m++)
    data->row[m] = (guint32) vn_quant_row_find_scale (self->row, &self->before->shape,
                                                      vn_weight_layer_get_offset (layer, group, m, 0));
  for (gsize k = 0; k < layer->columns; k++)
    data->column[k] = (guint32) (vn_quant_row_find_scale (self->row, &self->before->shape,
                                                          vn_weight_layer_get_offset (layer, group, 0, data->order[k])) - first);
}

/* Of weights with few scales, order lowers the error of some networks and raises that of others as much. */
static gboolean
rounded_layer_order (VnRoundedLayer  *self,
                     gsize            group,
                     guint32         *order,
                     GError         **error)
{
  const gsize columns = self->layer->columns;

  if (self->row->block > 0)
    return vn_rounding_order (self->moments + (group - self->first) * columns * columns, columns, order, error);
  for (gsize k = 0; k < columns; k++)
    order[k] = (guint32) k;
  return TRUE;
}

static gsize
rounded_layer_count_tile_rows (const VnRoundedLayer *self)
{
  return CLAMP (TILE_BYTES / (self->layer->columns * sizeof (double)), 1, self->layer->rows);
}

static gboolean
rounded_layer_solve_group (VnRoundedLayer       *self,
                           const VnRoundingGrid *grid,
                           const guint32        *order,
                           gsize                 group,
                           double               *weights,
                           GError              **error)
{
  const VnWeightLayer *layer = self->layer;
  const gsize columns = layer->columns, n_tile = rounded_layer_count_tile_rows (self);
  const float *before = self->before->data;
  float *after = self->after->data;
  double *factor = self->moments + (group - self->first) * columns * columns;

  if (!vn_rounding_factor (factor, columns, VN_ROUNDING_DAMPING, error))
    return FALSE;
  for (gsize first = 0; first < layer->rows; first += n_tile)
    {
      const gsize n = MIN (n_tile, layer->rows - first);
      VnRoundingGrid part = *grid;

      part.row += first;
      for (gsize m = 0; m < n; m++)
        for (gsize k = 0; k < columns; k++)
          weights[m * columns + k] = (double) before[vn_weight_layer_get_offset (layer, group, first + m, order[k])];
      if (!vn_rounding_solve (weights, n, columns, &part, factor, error))
        return FALSE;
      for (gsize m = 0; m < n; m++)
        for (gsize k = 0; k < columns; k++)
          after[vn_weight_layer_get_offset (layer, group, first + m, order[k])] = (float) weights[m * columns + k];
    }
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
 *
 * Rounds the weights of the groups that were looked at into @after. A group whose moments have no inverse, because it never read
 * anything but zeros, and an expert that few tokens went to keep their weights as they are, which the writer then rounds to the
 * nearest.
 *
 * Returns: %FALSE with an error if memory is short
 */
gboolean
vn_rounded_layer_solve (VnRoundedLayer  *self,
                        GError         **error)
{
  g_auto(RoundedGrid) data = { 0 };
  g_autofree double *weights = NULL;
  VnRoundingGrid grid;

  g_return_val_if_fail (self != NULL, FALSE);

  weights = vn_try_new (double, rounded_layer_count_tile_rows (self) * self->layer->columns, error);
  if (weights == NULL || !rounded_layer_copy_weights (self, error) || !rounded_layer_make_grid (self, &data, &grid, error))
    return FALSE;
  for (gsize g = self->first; g < self->first + self->n; g++)
    {
      g_autoptr(GError) local = NULL;

      if (!vn_rounded_layer_is_reached (self, g))
        continue;
      if (!rounded_layer_order (self, g, data.order, error))
        return FALSE;
      rounded_layer_place_group (self, &data, g);
      if (rounded_layer_solve_group (self, &grid, data.order, g, weights, &local) || !vn_error_is_memory (local))
        continue;
      g_propagate_error (error, g_steal_pointer (&local));
      return FALSE;
    }
  return TRUE;
}
