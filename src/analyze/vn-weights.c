/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the weights of a network look like (sizes, extremes, spread between channels), and in which precision each
 * node computes. */
#include "vn-weights.h"

#include "vn-memory.h"

#include <math.h>
#include <stdlib.h>

static void
weights_weight_stats_free (gpointer data)
{
  VnWeightStats *self = data;

  g_free (self->name);
  g_free (self->op_type);
  g_free (self);
}

static gint
weights_compare_doubles (gconstpointer a,
                         gconstpointer b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

static double
weights_largest_of (const VnTensor *tensor,
                    gsize           from,
                    gsize           n)
{
  double largest = 0;

  for (gsize i = from; i < from + n; i++)
    {
      double number = fabs (vn_tensor_get_double (tensor, i));

      largest = isfinite (number) ? MAX (largest, number) : largest;
    }
  return largest;
}

static double
weights_measure_spread (const VnTensor *tensor)
{
  gsize channels = tensor->shape.rank >= 2 ? (gsize) tensor->shape.dims[0] : 0;
  g_autofree double *largest = channels >= 2 ? vn_try_new (double, channels, NULL) : NULL;
  double middle;

  if (largest == NULL)
    return 0;
  for (gsize c = 0; c < channels; c++)
    largest[c] = weights_largest_of (tensor, c * (tensor->n_elements / channels), tensor->n_elements / channels);
  qsort (largest, channels, sizeof *largest, weights_compare_doubles);
  middle = largest[channels / 2];
  return middle > 0 ? largest[channels - 1] / middle : 0;
}

/**
 * vn_weight_stats_measure:
 * @self: gets the figures of @tensor; names, type and shape stay
 * @tensor: numbers, aligned
 */
void
vn_weight_stats_measure (VnWeightStats  *self,
                         const VnTensor *tensor)
{
  gsize n = 0;
  double sum = 0, squares = 0;

  g_return_if_fail (self != NULL && tensor != NULL);

  for (gsize i = 0; i < tensor->n_elements; i++)
    {
      double number = vn_tensor_get_double (tensor, i);

      if (!isfinite (number))
        {
          self->n_bad++;
          continue;
        }
      self->n_zero += number == 0;
      self->min = n == 0 ? number : MIN (self->min, number);
      self->max = n == 0 ? number : MAX (self->max, number);
      sum += number;
      n++;
    }
  self->mean = n > 0 ? sum / (double) n : 0;
  for (gsize i = 0; i < tensor->n_elements; i++)
    {
      double number = vn_tensor_get_double (tensor, i) - self->mean;

      squares += isfinite (number) ? number * number : 0;
    }
  self->deviation = n > 0 ? sqrt (squares / (double) n) : 0;
  self->spread = weights_measure_spread (tensor);
}

/**
 * vn_tensor_has_numbers:
 *
 * Returns: whether it holds floats, or integers of at most 32 bits, one after the other
 */
gboolean
vn_tensor_has_numbers (const VnTensor *tensor)
{
  g_return_val_if_fail (tensor != NULL, FALSE);

  return tensor->n_elements > 0 && (vn_dtype_is_float (tensor->dtype) || vn_dtype_get_bits (tensor->dtype) <= 32) &&
         tensor->dtype != VN_DTYPE_STRING && tensor->dtype != VN_DTYPE_BOOL && !vn_tensor_is_container (tensor) &&
         !vn_dtype_is_block (tensor->dtype) && (vn_dtype_is_float (tensor->dtype) || vn_dtype_is_integer (tensor->dtype));
}

/**
 * vn_graph_list_weight_stats:
 *
 * Returns: (transfer full) (element-type VnWeightStats): of all constants of floats, and of integers of up to 32 bit, in
 *   the order of the file; %NULL with an error if one cannot be read
 */
GPtrArray *
vn_graph_list_weight_stats (const VnGraph  *graph,
                            GError        **error)
{
  g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func (weights_weight_stats_free);

  g_return_val_if_fail (graph != NULL, NULL);

  for (guint i = 0; i < graph->values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (graph->values, i);
      VnTensor *tensor = vn_value_get_constant (value);
      g_autoptr(VnTensor) aligned = NULL;
      VnWeightStats *stats;

      if (tensor == NULL || !vn_tensor_has_numbers (tensor))
        continue;
      aligned = vn_tensor_get_aligned (tensor, error);
      if (aligned == NULL)
        return NULL;
      stats = g_new0 (VnWeightStats, 1);
      stats->name = g_strdup (value->name);
      stats->op_type = g_strdup (value->uses->len > 0 ? g_array_index (value->uses, VnUse, 0).node->op_type : "");
      stats->dtype = tensor->dtype;
      stats->shape = tensor->shape;
      stats->n = tensor->n_elements;
      g_ptr_array_add (list, stats);
      vn_weight_stats_measure (stats, aligned);
    }
  return g_steal_pointer (&list);
}

/* ---- precision ---- */

/* Operators on integers: where the zero point of what they read stands, and where their weights do. */
static const struct { const char *op_type; guint zero_point; int weight; } integer_ops[] = {
  { "QLinearConv", 2, 3 }, { "QLinearMatMul", 2, 3 }, { "QGemm", 2, 3 }, { "ConvInteger", 2, 1 }, { "MatMulInteger", 2, 1 },
  { "MatMulIntegerToFloat", 4, 1 }, { "QLinearAdd", 2, -1 }, { "QLinearMul", 2, -1 }, { "QLinearConcat", 1, -1 },
  { "QLinearSigmoid", 2, -1 }, { "QLinearLeakyRelu", 2, -1 }, { "QLinearAveragePool", 2, -1 },
  { "QLinearGlobalAveragePool", 2, -1 }, { "QLinearSoftmax", 2, -1 }, { "QLinearReduceMean", 2, -1 },
};

static VnDType
weights_type_of (const VnValue *value)
{
  VnTensor *constant = value != NULL ? vn_value_get_constant (value) : NULL;

  if (constant != NULL)
    return constant->dtype;
  return value != NULL && value->type.kind == VN_TYPE_TENSOR ? value->type.dtype : VN_DTYPE_UNDEFINED;
}

/* What a node that dequantizes, or that rounds and gives back floats, has between. */
static gboolean
weights_find_stored (const VnValue *value,
                     VnDType       *dtype,
                     gboolean      *is_constant)
{
  const VnNode *node = value != NULL ? value->producer : NULL;
  const VnValue *from = node != NULL ? vn_node_get_input (node, 0) : NULL;

  if (node == NULL || !(vn_node_dequantizes (node) || g_str_has_suffix (node->op_type, "FixNeuron")))
    return FALSE;
  *dtype = vn_node_get_input (node, 2) != NULL ? weights_type_of (vn_node_get_input (node, 2)) : weights_type_of (from);
  if (*dtype == VN_DTYPE_UNDEFINED)
    *dtype = VN_DTYPE_U8;   /* of QuantizeLinear without a zero point */
  *is_constant = vn_value_is_constant (from) ||
                 (from->producer != NULL && g_str_has_suffix (from->producer->op_type, "QuantizeLinear") &&
                  vn_node_get_input (from->producer, 0) != NULL && vn_value_is_constant (vn_node_get_input (from->producer, 0)));
  return TRUE;
}

static gboolean
weights_get_integer_precision (const VnNode *node,
                               VnPrecision  *self)
{
  for (guint i = 0; i < G_N_ELEMENTS (integer_ops); i++)
    if (g_str_equal (integer_ops[i].op_type, node->op_type))
      {
        self->activation = weights_type_of (vn_node_get_input (node, integer_ops[i].zero_point));
        if (self->activation == VN_DTYPE_UNDEFINED)
          self->activation = VN_DTYPE_U8;
        if (integer_ops[i].weight >= 0)
          self->weight = weights_type_of (vn_node_get_input (node, (guint) integer_ops[i].weight));
        return TRUE;
      }
  return FALSE;
}

/**
 * vn_node_get_precision:
 *
 * By the nodes before it. A constant that is read third is a bias, any other a weight.
 */
void
vn_node_get_precision (const VnNode *node,
                       VnPrecision  *precision)
{
  g_return_if_fail (node != NULL && precision != NULL);

  *precision = (VnPrecision) { VN_DTYPE_UNDEFINED, VN_DTYPE_UNDEFINED, VN_DTYPE_UNDEFINED };
  if (weights_get_integer_precision (node, precision))
    return;
  for (guint i = 0; i < node->inputs->len; i++)
    {
      const VnValue *value = vn_node_get_input (node, i);
      gboolean is_constant = value != NULL && vn_value_is_constant (value);
      VnDType dtype = value != NULL ? weights_type_of (value) : VN_DTYPE_UNDEFINED;
      VnDType *place;

      if (value == NULL || (!weights_find_stored (value, &dtype, &is_constant) && is_constant && !vn_dtype_is_float (dtype)))
        continue;
      if (dtype == VN_DTYPE_UNDEFINED)
        dtype = VN_DTYPE_F32;
      place = !is_constant ? &precision->activation : i == 2 ? &precision->bias : &precision->weight;
      if (*place == VN_DTYPE_UNDEFINED)
        *place = dtype;
    }
}

/**
 * vn_precision_dup_name:
 *
 * Returns: (transfer full): bits of activations and weights as in “A16W8”, “A8” where there are no weights, “W8” where only
 *   these are quantized, “float” where nothing is
 */
char *
vn_precision_dup_name (const VnPrecision *precision)
{
  gboolean has_activation;
  gboolean has_weight;

  g_return_val_if_fail (precision != NULL, NULL);

  has_activation = precision->activation != VN_DTYPE_UNDEFINED && precision->activation != VN_DTYPE_F32;
  has_weight = precision->weight != VN_DTYPE_UNDEFINED && precision->weight != VN_DTYPE_F32;
  if (has_activation && has_weight)
    return g_strdup_printf ("A%uW%u", vn_dtype_get_bits (precision->activation), vn_dtype_get_bits (precision->weight));
  if (has_activation || has_weight)
    return g_strdup_printf ("%s%u", has_activation ? "A" : "W",
                            vn_dtype_get_bits (has_activation ? precision->activation : precision->weight));
  return g_strdup ("float");
}
