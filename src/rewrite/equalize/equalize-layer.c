/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The constants of a layer as cross-layer equalization sees them: rows of numbers, each of which belongs to one channel
 * that is read and one that is made. */
#include "vn-equalize-private.h"

#include "vn-checked.h"
#include "vn-memory.h"

#include <math.h>
#include <string.h>

void
vn_equal_layer_free (VnEqualLayer *self)
{
  g_clear_pointer (&self->weight, vn_tensor_unref);
  g_clear_pointer (&self->bias, vn_tensor_unref);
  g_free (self);
}

gboolean
vn_equal_layer_is_depthwise (const VnEqualLayer *self)
{
  return vn_node_is (self->node, "Conv") && self->group > 1 && self->group == self->n_in && self->group == self->n_out;
}

/* Conv: [out, in / group, ...]; ConvTranspose: [in, out / group, ...]; Gemm: [in, out], or the other way round. */
static gboolean
equalize_layer_lay_out (VnEqualLayer *self)
{
  const VnShape *shape = &self->weight->shape;
  gint64 group = vn_node_get_int (self->node, "group", 1);
  gsize first = (gsize) shape->dims[0], second = (gsize) shape->dims[1];

  if (self->weight->n_elements == 0 || group < 1)
    return FALSE;
  self->group = (gsize) group;
  self->n_rows = first * second;
  self->row = self->weight->n_elements / self->n_rows;
  if (vn_node_is (self->node, "Gemm"))
    {
      gboolean transposed = vn_node_get_int (self->node, "transB", 0) != 0;

      self->n_in = transposed ? second : first;
      self->n_out = transposed ? first : second;
      self->out_first = transposed;
      self->group = 1;
      return shape->rank == 2 && vn_node_get_int (self->node, "transA", 0) == 0;
    }
  if (first % self->group != 0 || shape->rank < 3)
    return FALSE;
  if (vn_node_is (self->node, "Conv"))
    {
      self->n_out = first;
      self->out_first = TRUE;
      return vn_checked_mul (second, self->group, &self->n_in);
    }
  self->n_in = first;
  return vn_checked_mul (second, self->group, &self->n_out);
}

static void
equalize_layer_find_channels (const VnEqualLayer *self,
                              gsize               i,
                              gsize              *out,
                              gsize              *in)
{
  gsize second = (gsize) self->weight->shape.dims[1], a = i / second, b = i % second;

  *(self->out_first ? out : in) = a;
  *(self->out_first ? in : out) = self->group > 1 ? a / ((gsize) self->weight->shape.dims[0] / self->group) * second + b : b;
}

static VnTensor *
equalize_layer_copy_tensor (const VnTensor *from,
                            GError        **error)
{
  VnTensor *copy = vn_tensor_new_constant (VN_DTYPE_F32, &from->shape, error);

  if (copy != NULL)
    memcpy (copy->data, from->data, from->n_bytes);
  return copy;
}

/* One number for each channel, or nothing. */
static gboolean
equalize_layer_take_bias (VnEqualLayer  *self,
                          GError       **error)
{
  VnValue *value = vn_node_get_input (self->node, 2);
  g_autoptr(VnTensor) bias = NULL;

  if (value == NULL)
    return TRUE;
  bias = vn_rewrite_constant_f32 (value, error);
  if (bias == NULL || bias->n_elements != self->n_out || bias->shape.rank < 1 ||
      (gsize) bias->shape.dims[bias->shape.rank - 1] != self->n_out)
    return FALSE;
  self->bias = equalize_layer_copy_tensor (bias, error);
  return self->bias != NULL;
}

/*< private >
 * vn_equal_layer_new:
 * @layer: (out) (nullable): %NULL if the constants of @node cannot be scaled, or it has none
 *
 * Returns: %FALSE if there is no memory
 */
gboolean
vn_equal_layer_new (VnNode        *node,
                    VnEqualLayer **layer,
                    GError       **error)
{
  GError *failed = NULL;
  g_autoptr(VnTensor) weight = vn_rewrite_constant_f32 (vn_node_get_input (node, 1), &failed);
  VnEqualLayer *self = NULL;

  *layer = NULL;
  if (weight != NULL && weight->shape.rank >= 2)
    {
      self = g_new0 (VnEqualLayer, 1);
      self->node = node;
      self->weight = vn_tensor_ref (weight);
      if (equalize_layer_lay_out (self) && equalize_layer_take_bias (self, &failed))
        {
          vn_tensor_unref (self->weight);
          self->weight = equalize_layer_copy_tensor (weight, &failed);
          *layer = failed == NULL ? g_steal_pointer (&self) : NULL;
        }
    }
  g_clear_pointer (&self, vn_equal_layer_free);
  if (failed != NULL)
    g_propagate_error (error, failed);
  return failed == NULL;
}

static double
equalize_layer_row_range (const VnEqualLayer *self,
                          gsize               i)
{
  const float *numbers = (const float *) self->weight->data + i * self->row;
  double range = 0;

  for (gsize k = 0; k < self->row; k++)
    range = fmax (range, fabs ((double) numbers[k]));
  return range;
}

/*< private >
 * vn_equal_layer_ranges_out:
 * @ranges: (out caller-allocates): largest absolute weight of each channel of the result
 */
void
vn_equal_layer_ranges_out (const VnEqualLayer *self,
                           double             *ranges)
{
  gsize out, in;

  memset (ranges, 0, self->n_out * sizeof *ranges);
  for (gsize i = 0; i < self->n_rows; i++)
    {
      equalize_layer_find_channels (self, i, &out, &in);
      ranges[out] = fmax (ranges[out], equalize_layer_row_range (self, i));
    }
}

void
vn_equal_layer_ranges_in (const VnEqualLayer *self,
                          double             *ranges)
{
  gsize out, in;

  memset (ranges, 0, self->n_in * sizeof *ranges);
  for (gsize i = 0; i < self->n_rows; i++)
    {
      equalize_layer_find_channels (self, i, &out, &in);
      ranges[in] = fmax (ranges[in], equalize_layer_row_range (self, i));
    }
}

static gboolean
equalize_layer_all_one (const float *factors,
                        gsize        n)
{
  for (gsize c = 0; c < n; c++)
    if (factors[c] != 1)
      return FALSE;
  return TRUE;
}

static void
equalize_layer_scale_row (VnEqualLayer *self,
                          gsize         i,
                          float         factor)
{
  float *numbers = (float *) self->weight->data + i * self->row;

  for (gsize k = 0; k < self->row; k++)
    numbers[k] *= factor;
}

/*< private >
 * vn_equal_layer_scale_out:
 *
 * Multiplies what each channel of the result comes to, bias and all.
 */
void
vn_equal_layer_scale_out (VnEqualLayer *self,
                          const float  *factors)
{
  gsize out, in;

  if (equalize_layer_all_one (factors, self->n_out))
    return;
  for (gsize i = 0; i < self->n_rows; i++)
    {
      equalize_layer_find_channels (self, i, &out, &in);
      equalize_layer_scale_row (self, i, factors[out]);
    }
  for (gsize c = 0; self->bias != NULL && c < self->n_out; c++)
    ((float *) self->bias->data)[c] *= factors[c];
  self->changed = TRUE;
}

/*< private >
 * vn_equal_layer_scale_in:
 * @inverse: divide instead
 */
void
vn_equal_layer_scale_in (VnEqualLayer *self,
                         const float  *factors,
                         gboolean      inverse)
{
  gsize out, in;

  if (equalize_layer_all_one (factors, self->n_in))
    return;
  for (gsize i = 0; i < self->n_rows; i++)
    {
      equalize_layer_find_channels (self, i, &out, &in);
      equalize_layer_scale_row (self, i, inverse ? 1 / factors[in] : factors[in]);
    }
  self->changed = TRUE;
}

/* ---- biases, as AMD's tools count them ---- */

typedef struct { double median, mean; } Ratios;

static int
equalize_layer_compare_doubles (gconstpointer a,
                                gconstpointer b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

/* Of very large weights it is enough to look at so many. */
#define MOST_RATIOS ((gsize) 1 << 22)

/* |bias| / |weight| over all weights; a weight of nothing counts as the smallest of its channel. */
static Ratios
equalize_layer_measure_ratios (const VnEqualLayer *self,
                               double             *largest_weight)
{
  gsize out, in, n = self->weight->n_elements, step = 1 + (n - 1) / MOST_RATIOS, n_ratios = 0;
  g_autofree double *least = vn_try_new (double, self->n_out, NULL), *ratios = vn_try_new (double, MIN (n, MOST_RATIOS), NULL);
  const float *numbers = self->weight->data, *bias = self->bias->data;
  double sum = 0;

  if (least == NULL || ratios == NULL)
    return (Ratios) { 0, 0 };
  for (gsize c = 0; c < self->n_out; c++)
    least[c] = INFINITY;
  for (gsize i = 0; i < n; i++)
    {
      equalize_layer_find_channels (self, i / self->row, &out, &in);
      if (numbers[i] != 0)
        least[out] = fmin (least[out], fabs ((double) numbers[i]));
    }
  for (gsize i = 0; i < n; i += step)
    {
      double weight;

      equalize_layer_find_channels (self, i / self->row, &out, &in);
      weight = fmax (isinf (least[out]) ? 0 : numbers[i] != 0 ? fabs ((double) numbers[i]) : least[out], 1e-7);
      *largest_weight = fmax (*largest_weight, weight);
      ratios[n_ratios] = (isinf (least[out]) ? 0 : fabs ((double) bias[out])) / weight;
      sum += ratios[n_ratios++];
    }
  qsort (ratios, n_ratios, sizeof *ratios, equalize_layer_compare_doubles);
  return (Ratios) { (ratios[(n_ratios - 1) / 2] + ratios[n_ratios / 2]) / 2, sum / (double) n_ratios };
}

static double
equalize_layer_find_shrink (const VnEqualLayer *self)
{
  const float *bias = self->bias->data;
  double largest = 0, largest_weight = 0;
  Ratios ratios = equalize_layer_measure_ratios (self, &largest_weight);

  for (gsize c = 0; c < self->n_out; c++)
    largest = fmax (largest, fabs ((double) bias[c]));
  if (largest < 10 && largest / largest_weight < 20)
    return ratios.median > 100 || ratios.mean > 1000 ? 5 : 2;
  if (ratios.median > 30 || ratios.mean > 500)
    return 20;
  return ratios.median > 15 || ratios.mean > 100 ? 10 : 5;
}

/*< private >
 * vn_equal_layer_append_bias:
 * @ranges: (inout): of vn_equal_layer_ranges_out(); raised to the bias, divided by 2, 5, 10 or 20, where that is larger
 *
 * The divisor is Quark's: the larger biases are beside weights, the less they may say. A channel whose weights are all 0
 * keeps its range of 0.
 */
void
vn_equal_layer_append_bias (const VnEqualLayer *self,
                            double             *ranges)
{
  double shrink = self->bias != NULL ? equalize_layer_find_shrink (self) : 1;

  for (gsize c = 0; self->bias != NULL && c < self->n_out; c++)
    if (ranges[c] > 0)
      ranges[c] = fmax (ranges[c], fabs ((double) ((const float *) self->bias->data)[c]) / shrink);
}

/* ---- writing ---- */

/* What others read as well gets a sibling. */
static void
equalize_layer_set_constant (VnNode     *node,
                             guint       i,
                             const char *role,
                             VnTensor   *tensor)
{
  VnValue *value = vn_node_get_input (node, i);

  if (value->initializer != NULL && value->uses->len == 1 && value->graph == node->graph && !value->is_output)
    vn_graph_set_initializer (value->graph, value, tensor);
  else
    vn_node_set_input (node, i, vn_rewrite_add_constant (node, role, tensor));
}

/*< private >
 * vn_equal_layer_write:
 *
 * Gives the node its scaled constants.
 */
void
vn_equal_layer_write (VnEqualLayer *self)
{
  if (!self->changed)
    return;
  equalize_layer_set_constant (self->node, 1, "weight", self->weight);
  if (self->bias != NULL)
    equalize_layer_set_constant (self->node, 2, "bias", self->bias);
}
