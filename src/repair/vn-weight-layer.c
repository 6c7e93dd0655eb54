/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Layers as matrices, and what one of their products reads: the columns of im2col, at some positions of the result. */
#include "vn-weight-layer.h"

#include "vn-moe.h"

#include <string.h>

#define MAX_AXES 3

/* How a kernel slides, axes from the first spatial one on. */
typedef struct
{
  guint  n_axes;
  gint64 kernel[MAX_AXES], stride[MAX_AXES], dilation[MAX_AXES], begin[MAX_AXES];
  gint64 in[MAX_AXES], out[MAX_AXES];
} Slide;

/* ---- the layer ---- */

static gboolean
weight_layer_is_plain (const VnNode *node)
{
  g_autofree char *auto_pad = vn_node_dup_string (node, "auto_pad", "NOTSET");

  if (vn_node_is (node, "ConvTranspose"))
    return vn_node_get_attr (node, "output_shape") == NULL &&
           (g_str_equal (auto_pad, "NOTSET") || g_str_equal (auto_pad, "VALID"));
  return !vn_node_is (node, "Gemm") || vn_node_get_int (node, "transA", 0) == 0;
}

static void
weight_layer_set_matrix (VnWeightLayer *self,
                         const VnShape *shape)
{
  gboolean transposed = vn_node_is (self->node, "Gemm") && vn_node_get_int (self->node, "transB", 0) != 0;
  gsize first = (gsize) shape->dims[0], second = (gsize) shape->dims[1];

  self->rows = transposed ? first : second;
  self->columns = transposed ? second : first;
  self->row_step = transposed ? second : 1;
  self->channel_step = transposed ? 1 : second;
}

static void
weight_layer_set_kernel (VnWeightLayer *self,
                         const VnShape *shape)
{
  gsize first = (gsize) shape->dims[0], second = (gsize) shape->dims[1];

  self->groups = (gsize) MAX (vn_node_get_int (self->node, "group", 1), 1);
  self->taps = (gsize) vn_shape_count (shape, 2, shape->rank);
  if (vn_node_is (self->node, "Conv"))
    {
      self->rows = first / self->groups;
      self->columns = second * self->taps;
      self->row_step = self->columns;
      self->channel_step = self->taps;
      self->group_step = self->rows * self->row_step;
      return;
    }
  self->rows = second;
  self->columns = first / self->groups * self->taps;
  self->row_step = self->taps;
  self->channel_step = second * self->taps;
  self->group_step = first / self->groups * self->channel_step;
}

/**
 * vn_weight_layer_new:
 * @node: must outlive the layer
 *
 * Returns: (transfer full) (nullable): @node as a layer; %NULL if it is none, or its weight is not a float constant of its own
 */
VnWeightLayer *
vn_weight_layer_new (const VnNode *node)
{
  const VnValue *weight;
  gboolean is_matrix;
  VnWeightLayer *self;
  const VnShape *shape;

  g_return_val_if_fail (node != NULL, NULL);

  weight = vn_node_get_input (node, 1);
  is_matrix = vn_node_is (node, "MatMul") || vn_node_is (node, "Gemm");
  if (!(is_matrix || vn_node_is (node, "Conv") || vn_node_is (node, "ConvTranspose")) || weight == NULL ||
      weight->initializer == NULL || weight->initializer->dtype != VN_DTYPE_F32 || weight->initializer->n_elements == 0 ||
      weight->uses->len != 1 || weight->is_output || !weight_layer_is_plain (node))
    return NULL;
  shape = &weight->initializer->shape;
  if (is_matrix ? shape->rank != 2 : shape->rank < 3 || shape->rank > 2 + MAX_AXES)
    return NULL;
  self = g_new0 (VnWeightLayer, 1);
  *self = (VnWeightLayer) { .node = node, .label = vn_node_dup_label (node), .weight = g_strdup (weight->name), .input = 1,
                            .groups = 1, .taps = 1 };
  if (is_matrix)
    weight_layer_set_matrix (self, shape);
  else
    weight_layer_set_kernel (self, shape);
  return self;
}

/* @weight: experts x rows x columns */
static VnWeightLayer *
weight_layer_new_experts (const VnNode *node,
                          guint         product,
                          guint         input)
{
  const VnValue *weight = vn_node_get_input (node, input);
  const VnTensor *tensor = weight != NULL ? weight->initializer : NULL;
  VnWeightLayer *self;

  if (tensor == NULL || tensor->dtype != VN_DTYPE_F32 || tensor->shape.rank != 3 || tensor->n_elements == 0 ||
      weight->uses->len != 1 || weight->is_output)
    return NULL;
  self = g_new0 (VnWeightLayer, 1);
  *self = (VnWeightLayer) { .node = node, .label = vn_node_dup_label (node), .weight = g_strdup (weight->name), .input = input,
                            .output = product == VN_MOE_FC2 ? 2 : 1, .is_experts = TRUE, .taps = 1, .channel_step = 1 };
  self->groups = (gsize) tensor->shape.dims[0];
  self->rows = (gsize) tensor->shape.dims[1];
  self->columns = self->row_step = (gsize) tensor->shape.dims[2];
  self->group_step = self->rows * self->columns;
  return self;
}

/**
 * vn_weight_layer_list:
 * @node: must outlive the layers
 *
 * Returns: (transfer full) (element-type VnWeightLayer): vn_weight_layer_new() of @node, or the products of its experts
 */
GPtrArray *
vn_weight_layer_list (const VnNode *node)
{
  GPtrArray *list = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_weight_layer_free);
  const VnMoeInputs *inputs;
  VnWeightLayer *layer;

  g_return_val_if_fail (node != NULL, list);

  inputs = vn_moe_find_inputs (node);
  if (inputs == NULL && (layer = vn_weight_layer_new (node)) != NULL)
    g_ptr_array_add (list, layer);
  for (guint i = 0; inputs != NULL && i < VN_MOE_N_PRODUCTS; i++)
    if ((layer = weight_layer_new_experts (node, i, inputs->weight[i])) != NULL)
      g_ptr_array_add (list, layer);
  return list;
}

void
vn_weight_layer_free (VnWeightLayer *self)
{
  if (self == NULL)
    return;
  g_free (self->label);
  g_free (self->weight);
  g_free (self);
}

/**
 * vn_weight_layer_get_offset:
 *
 * Returns: where in its constant the weight of a place of a matrix lies
 */
gsize
vn_weight_layer_get_offset (const VnWeightLayer *self,
                            gsize                group,
                            gsize                row,
                            gsize                column)
{
  return group * self->group_step + row * self->row_step + column / self->taps * self->channel_step + column % self->taps;
}

/* ---- what it reads ---- */

static gint64
weight_layer_get_number (const VnNode *node,
                         const char   *name,
                         guint         at,
                         gint64        otherwise)
{
  gsize n = 0;
  const gint64 *numbers = vn_node_get_ints (node, name, &n);

  return at < n ? numbers[at] : otherwise;
}

static void
weight_layer_slide_axis (const VnNode *node,
                         Slide        *slide,
                         guint         a,
                         const char   *auto_pad)
{
  gint64 end = weight_layer_get_number (node, "pads", slide->n_axes + a, 0), reach, total;

  slide->stride[a] = MAX (weight_layer_get_number (node, "strides", a, 1), 1);
  slide->dilation[a] = MAX (weight_layer_get_number (node, "dilations", a, 1), 1);
  slide->begin[a] = weight_layer_get_number (node, "pads", a, 0);
  reach = slide->dilation[a] * (slide->kernel[a] - 1) + 1;
  if (vn_node_is (node, "ConvTranspose"))
    {
      slide->out[a] = (slide->in[a] - 1) * slide->stride[a] + reach + weight_layer_get_number (node, "output_padding", a, 0) -
                      slide->begin[a] - end;
      return;
    }
  if (g_str_has_prefix (auto_pad, "SAME_"))
    {
      slide->out[a] = (slide->in[a] + slide->stride[a] - 1) / slide->stride[a];
      total = MAX (0, (slide->out[a] - 1) * slide->stride[a] + reach - slide->in[a]);
      slide->begin[a] = g_str_equal (auto_pad, "SAME_UPPER") ? total / 2 : total - total / 2;
      return;
    }
  if (g_str_equal (auto_pad, "VALID"))
    slide->begin[a] = end = 0;
  slide->out[a] = (slide->in[a] + slide->begin[a] + end - reach) / slide->stride[a] + 1;
}

static gboolean
weight_layer_get_slide (const VnWeightLayer *self,
                        const VnTensor      *read,
                        Slide               *slide)
{
  const VnShape *kernel = &vn_node_get_input (self->node, 1)->initializer->shape;
  g_autofree char *auto_pad = vn_node_dup_string (self->node, "auto_pad", "NOTSET");

  if (read->shape.rank != kernel->rank || (gsize) read->shape.dims[1] * self->taps != self->columns * self->groups)
    return FALSE;
  slide->n_axes = (guint) kernel->rank - 2;
  for (guint a = 0; a < slide->n_axes; a++)
    {
      slide->kernel[a] = kernel->dims[2 + a];
      slide->in[a] = read->shape.dims[2 + a];
      weight_layer_slide_axis (self->node, slide, a, auto_pad);
      if (slide->out[a] <= 0)
        return FALSE;
    }
  return TRUE;
}

/* Where along an axis tap @tap of the result at @at reads; -1: in the padding, or between two numbers. */
static gint64
weight_layer_read_at (const Slide *slide,
                      gboolean     transposed,
                      guint        a,
                      gint64       at,
                      gint64       tap)
{
  gint64 from;

  if (!transposed)
    {
      from = at * slide->stride[a] + tap * slide->dilation[a] - slide->begin[a];
      return from >= 0 && from < slide->in[a] ? from : -1;
    }
  from = at + slide->begin[a] - tap * slide->dilation[a];
  return from >= 0 && from % slide->stride[a] == 0 && from / slide->stride[a] < slide->in[a] ? from / slide->stride[a] : -1;
}

/* For each tap of the kernel the place inside of a channel that it reads for one position of the result, or -1. */
static void
weight_layer_find_places (const VnWeightLayer *self,
                          const Slide         *slide,
                          gsize                position,
                          gint64              *places)
{
  gboolean transposed = vn_node_is (self->node, "ConvTranspose");
  gint64 at[MAX_AXES];

  for (guint a = slide->n_axes; a-- > 0; position /= (gsize) slide->out[a])
    at[a] = (gint64) (position % (gsize) slide->out[a]);
  for (gsize t = 0; t < self->taps; t++)
    {
      gint64 rest = (gint64) t, place = 0, step = 1;

      for (guint a = slide->n_axes; a-- > 0; rest /= slide->kernel[a])
        {
          gint64 from = weight_layer_read_at (slide, transposed, a, at[a], rest % slide->kernel[a]);

          place = from < 0 || place < 0 ? -1 : place + from * step;
          step *= slide->in[a];
        }
      places[t] = place;
    }
}

/* Positions are spread evenly, each somewhere in its share: mixed bits of seed and number (Steele et al., SplitMix64). */
static gsize
weight_layer_choose (guint seed,
                     gsize i,
                     gsize n,
                     gsize n_all)
{
  guint64 bits = ((guint64) seed << 32) + (i + 1) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);
  gsize first = i * n_all / n, last = (i + 1) * n_all / n;

  bits = (bits ^ (bits >> 30)) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
  bits = (bits ^ (bits >> 27)) * G_GUINT64_CONSTANT (0x94d049bb133111eb);
  return first + (gsize) ((bits ^ (bits >> 31)) % MAX (last - first, 1));
}

static gsize
weight_layer_gather_rows (const VnWeightLayer *self,
                          const VnTensor      *read,
                          guint                seed,
                          gsize                n_most,
                          float               *columns)
{
  gsize n_all = read->n_elements / self->columns, n = MIN (n_all, n_most);

  if (read->shape.rank < 1 || (gsize) read->shape.dims[read->shape.rank - 1] != self->columns)
    return 0;
  for (gsize i = 0; i < n; i++)
    {
      const float *from = (const float *) read->data + weight_layer_choose (seed, i, n, n_all) * self->columns;

      for (gsize c = 0; c < self->columns; c++)
        columns[i * self->columns + c] = from[c];
    }
  return n;
}

static void
weight_layer_gather_position (const VnWeightLayer *self,
                              const float         *from,
                              gsize                channel_size,
                              const gint64        *places,
                              gsize                n,
                              float               *columns)
{
  gsize channels = self->columns / self->taps;

  for (gsize g = 0; g < self->groups; g++)
    for (gsize c = 0; c < channels; c++)
      for (gsize t = 0; t < self->taps; t++)
        columns[g * n * self->columns + c * self->taps + t] =
          places[t] < 0 ? 0 : from[(g * channels + c) * channel_size + (gsize) places[t]];
}

/* ---- experts ---- */

/* Whether a row of @read is that of an expert. */
static gboolean
weight_layer_find_expert (const VnWeightLayer *self,
                          const float         *row,
                          gsize               *expert)
{
  if (!(row[0] >= 0 && row[0] < (float) self->groups))
    return FALSE;
  *expert = (gsize) row[0];
  return TRUE;
}

static gboolean
weight_layer_fits_experts (const VnWeightLayer *self,
                           const VnTensor      *read)
{
  return read->dtype == VN_DTYPE_F32 && read->shape.rank == 2 &&
         (gsize) read->shape.dims[1] == self->columns + VN_MOE_READ_COLUMNS;
}

/**
 * vn_weight_layer_count:
 * @self: of experts
 * @read: what the layer read in one run
 * @n_read: (inout): for each group, to be raised by how many vectors it has read
 */
void
vn_weight_layer_count (const VnWeightLayer *self,
                       const VnTensor      *read,
                       gint64              *n_read)
{
  gsize step, expert;

  g_return_if_fail (self != NULL && read != NULL && n_read != NULL);

  step = self->columns + VN_MOE_READ_COLUMNS;
  if (weight_layer_fits_experts (self, read))
    for (gsize i = 0; i < (gsize) read->shape.dims[0]; i++)
      if (weight_layer_find_expert (self, (const float *) read->data + i * step, &expert))
        n_read[expert]++;
}

/* Vectors are weighted by their shares, as the errors that they leave are. Of experts that are read less than others the rest is
 * 0, which says nothing. */
static gsize
weight_layer_gather_experts (const VnWeightLayer *self,
                             const VnTensor      *read,
                             guint                seed,
                             gsize                n_most,
                             float               *columns)
{
  const gsize step = self->columns + VN_MOE_READ_COLUMNS, n_rows = (gsize) read->shape.dims[0];
  g_autofree gint64 *n_all = g_new0 (gint64, self->groups);
  g_autofree gsize *at = g_new0 (gsize, self->groups), *taken = g_new0 (gsize, self->groups);
  gsize n = 0, expert;

  vn_weight_layer_count (self, read, n_all);
  for (gsize g = 0; g < self->groups; g++)
    n = MAX (n, MIN ((gsize) n_all[g], n_most));
  memset (columns, 0, self->groups * n * self->columns * sizeof (float));
  for (gsize i = 0; i < n_rows; i++)
    {
      const float *row = (const float *) read->data + i * step;
      gsize n_own;

      if (!weight_layer_find_expert (self, row, &expert))
        continue;
      n_own = MIN ((gsize) n_all[expert], n_most);
      if (taken[expert] < n_own && at[expert]++ == weight_layer_choose (seed, taken[expert], n_own, (gsize) n_all[expert]))
        {
          float *to = columns + (expert * n + taken[expert]++) * self->columns;

          for (gsize c = 0; c < self->columns; c++)
            to[c] = row[1] * row[VN_MOE_READ_COLUMNS + c];
        }
    }
  return n;
}

/**
 * vn_weight_layer_gather:
 * @read: what the layer read in one run, float32
 * @seed: chooses the positions; the same for the same
 * @n_most: positions at most
 * @columns: (out): room for @n_most vectors of @columns numbers for each group: those of the first group come first
 *
 * Returns: how many vectors each group has got; 0 if @read does not fit the layer
 */
gsize
vn_weight_layer_gather (const VnWeightLayer *self,
                        const VnTensor      *read,
                        guint                seed,
                        gsize                n_most,
                        float               *columns)
{
  g_autofree gint64 *places = NULL;
  gsize channel_size, per_item, n_all, n;
  Slide slide = { 0 };

  g_return_val_if_fail (self != NULL && read != NULL && columns != NULL, 0);

  places = g_new (gint64, self->taps);
  if (read->dtype != VN_DTYPE_F32 || read->n_elements == 0)
    return 0;
  if (self->is_experts)
    return weight_layer_fits_experts (self, read) ? weight_layer_gather_experts (self, read, seed, n_most, columns) : 0;
  if (vn_node_is (self->node, "MatMul") || vn_node_is (self->node, "Gemm"))
    return weight_layer_gather_rows (self, read, seed, n_most, columns);
  if (!weight_layer_get_slide (self, read, &slide))
    return 0;
  channel_size = (gsize) vn_shape_count (&read->shape, 2, read->shape.rank);
  per_item = 1;
  for (guint a = 0; a < slide.n_axes; a++)
    per_item *= (gsize) slide.out[a];
  n_all = per_item * (gsize) read->shape.dims[0];
  n = MIN (n_all, n_most);
  for (gsize i = 0; i < n; i++)
    {
      gsize position = weight_layer_choose (seed, i, n, n_all);

      weight_layer_find_places (self, &slide, position % per_item, places);
      weight_layer_gather_position (self, (const float *) read->data
                                    + position / per_item * (gsize) read->shape.dims[1] * channel_size,
                                    channel_size, places, n, columns + i * self->columns);
    }
  return n;
}
