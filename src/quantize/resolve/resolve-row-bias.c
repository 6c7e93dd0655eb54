/* SPDX-License-Identifier: GPL-3.0-or-later */

/* From annotations to rows: biases. */

#include "vn-resolver.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-memory.h"

#include <math.h>

/* The scale of the input alone, before sharing: what the peer compares with in QDQ. */
static gboolean
resolve_row_bias_own_scale (VnResolver     *self,
                            VnQuantPlan    *plan,
                            const VnValue  *value,
                            const VnNode   *node,
                            float          *scale,
                            GError        **error)
{
  const VnQuantRow *row = vn_quant_row_for (vn_quant_plan_find_row (plan, value->name), node);
  const VnEncoding *imported = vn_resolver_get_encoding (self, value);
  VnRange range;
  gint64 zero_point;

  if (row->tensor.shares == NULL || self->scheme.format->integer_operators)
    {
      *scale = *(const float *) row->tensor.scale->data;
      return TRUE;
    }
  if (imported != NULL && vn_encoding_fits (imported, row->tensor.dtype))
    {
      *scale = imported->scale;
      return TRUE;
    }
  return vn_resolver_find_range (self, value, &range, NULL, error) &&
         vn_quant_make_params (&self->scheme.scales, vn_resolver_get_method (self, value), &range, row->tensor.dtype,
                               self->scheme.activations.symmetric, FALSE, scale, &zero_point, error);
}

static gboolean
resolve_row_bias_takes_product_scale (VnResolver        *self,
                                      VnQuantPlan       *plan,
                                      const VnQuantBias *bias)
{
  gboolean product;

  vn_quant_choose_bias (&self->scheme.biases, &vn_quant_plan_find_row (plan, bias->x->name)->tensor,
                        &vn_quant_plan_find_row (plan, bias->weight->name)->tensor, &product);
  return product;
}

/* With a zero point of its own a weight gains room on both sides of it: integers of raised scales hold all that they held. */
static gboolean
resolve_row_bias_adjust_weight_for_bias (VnResolver         *self,
                                         VnQuantPlan        *plan,
                                         const VnQuantBias  *bias,
                                         GError            **error)
{
  const VnTensorPlan *x = &vn_quant_row_for (vn_quant_plan_find_row (plan, bias->x->name), bias->node)->tensor;
  VnTensorPlan *weight = &vn_quant_plan_find_row (plan, bias->weight->name)->tensor;
  g_autoptr(VnTensor) data = NULL;
  float input_scale;

  if (bias->weight->initializer == NULL || bias->x->initializer != NULL)
    return TRUE;
  if (!resolve_row_bias_own_scale (self, plan, bias->x, bias->node, &input_scale, error) ||
      (data = vn_tensor_get_aligned (bias->bias->initializer, error)) == NULL)
    return FALSE;
  if (x->scale->n_elements == 1)
    input_scale = MIN (input_scale, *(const float *) x->scale->data);

  if (!vn_quant_raise_scales_for_bias (input_scale, weight->scale->data, weight->scale->n_elements,
                                       data->data, data->n_elements, bias->beta, weight->axis >= 0))
    return TRUE;
  for (gsize i = 0; i < weight->scale->n_elements; i++)
    {
      float *scale = (float *) weight->scale->data + i;

      *scale = vn_quant_adjust_scale (&self->scheme.scales, bias->weight, weight->axis >= 0,
                                      vn_quant_raise_scale (&self->scheme.scales, weight->method, *scale));
    }
  if (self->notes != NULL)
    vn_notes_add (self->notes, VN_NOTE_INFO, "weight-scale-raised", bias->weight->name,
                  _("The scale of “%s” was increased so that the bias “%s” fits in 32 bits"),
                  bias->weight->name, bias->bias->name);
  return TRUE;
}

/* Between quantizers ONNX Runtime makes integers of 32 bits of a bias in float, whatever the recipe says, and cuts off what is
 * too large. */
static gboolean
resolve_row_bias_is_left_to_runtime (VnResolver        *self,
                                     VnQuantPlan       *plan,
                                     const VnQuantBias *bias)
{
  const VnQuantRow *x = vn_quant_row_for (vn_quant_plan_find_row (plan, bias->x->name), bias->node);
  const VnQuantRow *weight = vn_quant_plan_find_row (plan, bias->weight->name);
  const VnValue *output = vn_node_get_output (bias->node, 0);
  gboolean product;

  return self->scheme.format->has_pairs && vn_dtype_is_integer (x->tensor.dtype) &&
         vn_dtype_is_integer (weight->tensor.dtype) && vn_resolver_is_annotated (self, vn_resolver_root (self, output)) &&
         vn_quant_choose_bias (&self->scheme.biases, &x->tensor, &weight->tensor, &product) == VN_DTYPE_F32;
}

static gboolean
resolve_row_bias_overflows (const VnQuantBias *bias,
                            const VnQuantRow  *x,
                            const VnQuantRow  *weight,
                            GError           **error)
{
  g_autoptr(VnTensor) data = vn_tensor_get_aligned (bias->bias->initializer, error);
  const float *weight_scales = weight->tensor.scale->data;
  gsize n = weight->tensor.scale->n_elements;

  for (gsize i = 0; data != NULL && i < data->n_elements; i++)
    {
      double scale = (double) *(const float *) x->tensor.scale->data * (double) weight_scales[i % n];

      if (fabs ((double) ((const float *) data->data)[i] * (double) bias->beta) > scale * G_MAXINT32)
        return TRUE;
    }
  return FALSE;
}

static gboolean
resolve_row_bias_is_byte_product (VnQuantPlan       *plan,
                                  const VnQuantBias *bias)
{
  return vn_dtype_get_bits (vn_quant_row_for (vn_quant_plan_find_row (plan, bias->x->name), bias->node)->tensor.dtype) == 8 &&
         vn_dtype_get_bits (vn_quant_plan_find_row (plan, bias->weight->name)->tensor.dtype) == 8;
}

/* Whether a bias that is to be float becomes an integer of 32 bits with a scale of its own: nothing computes on integers that
 * wide, so its scale may be any. */
static gboolean
resolve_row_bias_needs_pair (VnResolver        *self,
                             VnQuantPlan       *plan,
                             const VnQuantBias *bias)
{
  return resolve_row_bias_is_left_to_runtime (self, plan, bias) && !resolve_row_bias_is_byte_product (plan, bias) &&
         resolve_row_bias_overflows (bias, vn_quant_row_for (vn_quant_plan_find_row (plan, bias->x->name), bias->node),
                                     vn_quant_plan_find_row (plan, bias->weight->name), NULL);
}

/* Weights whose scale may have to be larger for the bias to fit. */
static gboolean
resolve_row_bias_may_raise (VnResolver        *self,
                            VnQuantPlan       *plan,
                            const VnQuantBias *bias)
{
  if (self->scheme.biases.raises_weights && resolve_row_bias_takes_product_scale (self, plan, bias))
    return TRUE;
  return resolve_row_bias_is_left_to_runtime (self, plan, bias) && resolve_row_bias_is_byte_product (plan, bias);
}

/* A scale per channel needs a bias per channel: [N], or N last behind ones. */
static gboolean
bias_fits (const VnTensor     *bias,
           const VnTensorPlan *weight)
{
  if (weight->axis < 0)
    return TRUE;
  return bias->shape.rank >= 1 &&
         bias->n_elements == weight->scale->n_elements &&
         bias->shape.dims[bias->shape.rank - 1] == (gint64) bias->n_elements;
}

static gboolean
bias_possible (VnResolver        *self,
               VnQuantPlan       *plan,
               const VnQuantBias *bias)
{
  const VnQuantRow *x = vn_quant_plan_find_row (plan, bias->x->name);
  const VnQuantRow *weight = vn_quant_plan_find_row (plan, bias->weight->name);

  if (x == NULL || weight == NULL || !x->tensor.quantized || !weight->tensor.quantized ||
      (x->tensor.axis >= 0 && x->tensor.factors == NULL))
    return FALSE;
  return weight->block == 0 && bias_fits (bias->bias->initializer, &weight->tensor);
}

static gboolean
resolve_row_bias_note_large (VnResolver        *self,
                             const VnQuantBias *bias)
{
  if (self->notes != NULL)
    vn_notes_add (self->notes, VN_NOTE_INFO, "bias-stays-float", bias->bias->name,
                  _("The bias “%s” stays in float: it needs more than %lld quantization levels"), bias->bias->name,
                  (long long) self->scheme.biases.most_steps);
  return TRUE;
}

/* Where neighbours hold the scales of channels, that of the bias goes along with what is written. */
static gboolean
resolve_row_bias_store_scale (VnQuantPlan        *plan,
                              const VnQuantBias  *bias,
                              VnQuantRow         *row,
                              GError            **error)
{
  const VnQuantRow *x = vn_quant_row_for (vn_quant_plan_find_row (plan, bias->x->name), bias->node);
  const VnQuantRow *weight = vn_quant_plan_find_row (plan, bias->weight->name);
  const float *x_scale = vn_quant_row_get_stored_scale (x)->data, *weight_scales = vn_quant_row_get_stored_scale (weight)->data;

  if (x->stored_scale == NULL && weight->stored_scale == NULL)
    return TRUE;
  g_clear_pointer (&row->stored_scale, vn_tensor_unref);
  row->stored_scale = vn_tensor_new (VN_DTYPE_F32, &row->tensor.scale->shape, error);
  for (gsize i = 0; row->stored_scale != NULL && i < row->stored_scale->n_elements; i++)
    ((float *) row->stored_scale->data)[i] = *x_scale * weight_scales[i];
  return row->stored_scale != NULL;
}

/* Steps beyond what the type counts are lost: what is written then is another bias. */
static void
resolve_row_bias_note_clipped (VnResolver        *self,
                               const VnQuantBias *bias,
                               const VnQuantRow  *row)
{
  g_autoptr(VnTensor) data = self->notes != NULL && vn_dtype_is_integer (row->tensor.dtype)
                             ? vn_tensor_get_aligned (bias->bias->initializer, NULL) : NULL;
  const float *scale = row->tensor.scale->data;
  gsize n_clipped = 0;
  gint64 low, high;

  if (data == NULL || !vn_dtype_integer_range (row->tensor.dtype, &low, &high))
    return;
  for (gsize i = 0; i < data->n_elements; i++)
    {
      double step = (double) scale[row->tensor.scale->n_elements > 1 ? i : 0];

      n_clipped += fabs ((double) ((const float *) data->data)[i] * (double) bias->beta / step) > (double) high + 1;
    }
  if (n_clipped > 0)
    vn_notes_add (self->notes, VN_NOTE_WARNING, "bias-clipped", bias->bias->name,
                  ngettext ("%zu of %zu values of the bias “%s” saturates: it needs more than %u bits with the scales "
                            "of its input and weight",
                            "%zu of %zu values of the bias “%s” saturate: they need more than %u bits with the scales "
                            "of its input and weight",
                            n_clipped), n_clipped, data->n_elements, bias->bias->name, vn_dtype_get_bits (row->tensor.dtype));
}

static gboolean
resolve_row_bias_fill (VnResolver         *self,
                       VnQuantPlan        *plan,
                       const VnQuantBias  *bias,
                       GError            **error)
{
  const VnTensorPlan *x = &vn_quant_row_for (vn_quant_plan_find_row (plan, bias->x->name), bias->node)->tensor;
  const VnTensorPlan *weight = &vn_quant_plan_find_row (plan, bias->weight->name)->tensor;
  VnQuantRow *row = vn_quant_plan_find_row (plan, bias->name);
  gboolean product;
  VnDType dtype = vn_quant_choose_bias (&self->scheme.biases, x, weight, &product);
  gsize n = product ? weight->scale->n_elements : 1;
  const VnShape *shape = product ? &weight->scale->shape : &VN_SHAPE_SCALAR;
  g_autofree gint64 *zeros = vn_try_new0 (gint64, n, error);
  g_autofree float *scales = vn_try_new (float, n + 1, error);
  float min, max;
  guint64 n_infinite;

  if (zeros == NULL || scales == NULL)
    return FALSE;
  if (dtype == VN_DTYPE_F32 && !resolve_row_bias_needs_pair (self, plan, bias))
    return TRUE;
  dtype = dtype == VN_DTYPE_F32 ? VN_DTYPE_S32 : dtype;

  if (!vn_quant_data_range (bias->bias->initializer, -1, &min, &max, &n_infinite, error))
    {
      g_prefix_error (error, "“%s”: ", bias->bias->name);
      return FALSE;
    }

  scales[0] = vn_quant_own_bias_scale (&self->scheme.scales, dtype, min * bias->beta, max * bias->beta);
  for (gsize i = 0; i < n && product; i++)
    scales[i] = ((const float *) x->scale->data)[x->factors != NULL
                                                 ? i * x->scale->n_elements / n : 0] * ((const float *) weight->scale->data)[i];
  if (product && vn_quant_is_large_bias (&self->scheme.biases, bias->node, bias->bias->initializer, scales, n))
    return resolve_row_bias_note_large (self, bias);
  if (row == NULL)
    row = vn_quant_plan_add (plan, bias->name, VN_TENSOR_BIAS);

  row->tensor.role = VN_TENSOR_BIAS;
  row->tensor.quantized = TRUE;
  row->tensor.dtype = dtype;
  row->tensor.axis = weight->axis < 0 || !product ? -1 : bias->bias->initializer->shape.rank - 1;
  row->tensor.scale = vn_tensor_new_copy (VN_DTYPE_F32, shape, scales, error);
  if (row->tensor.scale == NULL)
    return FALSE;
  row->tensor.zero_point = vn_quant_integer_tensor (dtype, shape, zeros, error);
  if (product && !resolve_row_bias_store_scale (plan, bias, row, error))
    return FALSE;
  if (product)
    resolve_row_bias_note_clipped (self, bias, row);
  row->tensor.min = min;
  row->tensor.max = max;
  g_free (row->tensor.rule);
  row->tensor.rule = product ? g_strdup_printf (_("scale of “%s” times scale of “%s”"), bias->x->name, bias->weight->name)
                             : g_strdup_printf (_("determined by the weight “%s”"), bias->weight->name);
  row->source = g_strdup (bias->bias->name);
  row->node = bias->node->index;
  row->input = bias->input;
  row->beta = bias->beta;
  return row->tensor.zero_point != NULL;
}

/*< private >
 * vn_resolver_fill_biases:
 *
 * Rows of biases, once those of the inputs and weights they belong to are there: weights whose scale is too small for the
 * bias are raised first, and activations get scales per channel, which change those of biases.
 */
gboolean
vn_resolver_fill_biases (VnResolver   *self,
                         VnQuantPlan  *plan,
                         GError      **error)
{
  g_return_val_if_fail (self != NULL, FALSE);

  for (guint i = 0; i < self->biases->len; i++)
    {
      const VnQuantBias *bias = &g_array_index (self->biases, VnQuantBias, i);

      if (bias_possible (self, plan, bias) && resolve_row_bias_may_raise (self, plan, bias) &&
          !resolve_row_bias_adjust_weight_for_bias (self, plan, bias, error))
        return FALSE;
    }
  if (!vn_resolver_fill_channels (self, plan, error))
    return FALSE;
  for (guint i = 0; i < self->biases->len && self->scheme.biases.quantized; i++)
    {
      const VnQuantBias *bias = &g_array_index (self->biases, VnQuantBias, i);

      if (bias_possible (self, plan, bias))
        {
          if (!resolve_row_bias_fill (self, plan, bias, error))
            return FALSE;
        }
      else if (self->notes != NULL)
        vn_notes_add (self->notes, VN_NOTE_INFO, "bias-stays-float", bias->bias->name,
                      _("The bias “%s” stays in float: it does not match the scales of its input and weight"),
                      bias->bias->name);
    }
  return TRUE;
}
