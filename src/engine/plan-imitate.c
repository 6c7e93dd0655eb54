/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a model is to be run as its target computes it: other operators in the place of those whose arithmetic differs there.
 * Nothing is fused then. */
#include "vn-plan-passes.h"

#include "vn-arithmetic.h"
#include "vn-narrow-product.h"

/* Inputs of a narrow product: see op-narrow-product.c. */
enum { CODES, FACTORS, SCALE, ZERO, FACTOR_SCALE, BIAS, N_INPUTS };

/* (nullable): the constant that @node reads as input @i. */
static const VnTensor *
plan_imitate_get_constant (const VnPlan *self,
                           const VnNode *node,
                           guint         i)
{
  const VnValue *value = vn_node_get_input (node, i);
  const int id = value != NULL ? vn_plan_find (self, value) : -1;

  return id >= 0 && !vn_plan_is_hollow (self, id) ? self->values[id].constant : NULL;
}

/* The DequantizeLinear that makes input @i of @step, if it has one scale for all or one for each channel of @axis (-1: not). That
 * of a constant has been computed and is no step any more. */
static const VnNode *
plan_imitate_find_pair (const VnPlan *self,
                        const VnStep *step,
                        guint         i,
                        VnDType       dtype,
                        int           axis)
{
  const VnValue *value = vn_node_get_input (step->node, i), *codes;
  const VnNode *pair = value != NULL && value->graph == self->graph ? value->producer : NULL;
  const VnTensor *scale;
  const VnTensorType *type;

  if (pair == NULL || !vn_node_dequantizes (pair) || vn_node_get_int (pair, "block_size", 0) != 0)
    return NULL;
  codes = vn_node_get_input (pair, 0);
  scale = plan_imitate_get_constant (self, pair, 1);
  if (codes == NULL || scale == NULL || scale->dtype != VN_DTYPE_F32 || scale->n_elements == 0 || vn_plan_find (self, codes) < 0)
    return NULL;
  type = &self->values[vn_plan_find (self, codes)].type;
  if (type->dtype != dtype || type->shape.rank < 1)
    return NULL;
  if (scale->n_elements > 1 && (axis < 0 || axis >= type->shape.rank || vn_node_get_int (pair, "axis", 1) != axis ||
                                (gint64) scale->n_elements != type->shape.dims[axis]))
    return NULL;
  return pair;
}

static gboolean
plan_imitate_is_zero (const VnTensor *zero)    /* nullable */
{
  for (gsize i = 0; zero != NULL && i < zero->n_elements; i++)
    if (vn_tensor_get_s64 (zero, i) != 0)
      return FALSE;
  return zero != NULL;
}

/* Axis of the output channels of the weight that @step multiplies by; -1: it is another operator, or one whose kernels add
 * exactly: of convolutions those with one channel a group. */
static int
plan_imitate_get_axis (const VnStep *step)
{
  const VnShape *weight = step->n_inputs > 1 ? &step->in_types[1].shape : NULL;

  if (weight == NULL || !vn_shape_is_static (weight))
    return -1;
  if (vn_node_is (step->node, "Conv"))
    return weight->rank >= 3 && (weight->dims[1] > 1 || vn_node_get_int (step->node, "group", 1) == 1) ? 0 : -1;
  if (weight->rank != 2 || step->in_types[0].shape.rank < 1)
    return -1;
  if (vn_node_is (step->node, "MatMul"))
    return 1;
  if (!vn_node_is (step->node, "Gemm") || vn_node_get_int (step->node, "transA", 0) != 0 ||
      vn_node_get_float (step->node, "alpha", 1) != 1 || vn_node_get_float (step->node, "beta", 1) != 1)
    return -1;
  return vn_node_get_int (step->node, "transB", 0) != 0 ? 0 : 1;
}

static gboolean
plan_imitate_takes_bias (const VnPlan *self,
                         const VnStep *step,
                         gint64        n_channels)
{
  const VnTensor *bias = plan_imitate_get_constant (self, step->node, 2);

  return vn_node_get_input (step->node, 2) == NULL ||
         (bias != NULL && bias->dtype == VN_DTYPE_F32 && (bias->n_elements == 1 || (gint64) bias->n_elements == n_channels));
}

/* @step reads codes instead of what they stand for. */
static void
plan_imitate_narrow (VnPlan       *self,
                     VnStep       *step,
                     const VnNode *x,
                     const VnNode *weight)
{
  const VnValue *values[N_INPUTS] = { vn_node_get_input (x, 0), vn_node_get_input (weight, 0),
                                      vn_node_get_input (x, 1), vn_node_get_input (x, 2),
                                      vn_node_get_input (weight, 1), vn_node_get_input (step->node, 2) };
  VnOpContext ctx;

  g_free (step->inputs);
  g_free (step->in_types);
  step->inputs = g_new (int, N_INPUTS);
  step->in_types = g_new0 (VnTensorType, N_INPUTS);
  step->n_inputs = step->n_own = N_INPUTS;
  for (guint i = 0; i < N_INPUTS; i++)
    {
      step->inputs[i] = values[i] != NULL ? vn_plan_find (self, values[i]) : -1;
      if (step->inputs[i] >= 0)
        step->in_types[i] = self->values[step->inputs[i]].type;
    }
  step->op = &vn_op_narrow_product;
  vn_step_init_context (step, &ctx);
  if (!step->dynamic && vn_op_narrow_product.infer (&ctx, NULL))
    step->scratch_bytes = ctx.scratch_bytes;
}

static void
plan_imitate_product (VnPlan *self,
                      VnStep *step)
{
  const int axis = plan_imitate_get_axis (step);
  const VnNode *x = axis >= 0 ? plan_imitate_find_pair (self, step, 0, VN_DTYPE_U8, -1) : NULL;
  const VnNode *weight = x != NULL ? plan_imitate_find_pair (self, step, 1, VN_DTYPE_S8, axis) : NULL;

  if (weight != NULL && plan_imitate_get_constant (self, weight, 0) != NULL &&
      (vn_node_get_input (weight, 2) == NULL ||
       plan_imitate_is_zero (plan_imitate_get_constant (self, weight, 2))) &&
      (vn_node_get_input (x, 2) == NULL || plan_imitate_get_constant (self, x, 2) != NULL) &&
      plan_imitate_takes_bias (self, step, step->in_types[1].shape.dims[axis]))
    plan_imitate_narrow (self, step, x, weight);
}

/* ---- biases ---- */

#define SHORT_BIAS_BITS 20

/* (transfer full) (nullable): %NULL: all of @bias, which stands for integers with @scale, have so few bits. */
static VnTensor *
plan_imitate_saturate (const VnTensor *bias,
                       const VnTensor *scale)
{
  const double most = (double) (1 << (SHORT_BIAS_BITS - 1)) - 1;
  VnTensor *made = vn_tensor_new (VN_DTYPE_F32, &bias->shape, NULL);
  gboolean changed = FALSE;

  for (gsize i = 0; made != NULL && i < bias->n_elements; i++)
    {
      const double step = ((const float *) scale->data)[scale->n_elements == 1 ? 0 : i];
      const float number = ((const float *) bias->data)[i];

      ((float *) made->data)[i] = (float) CLAMP (number, (-most - 1) * step, most * step);
      changed = changed || ((float *) made->data)[i] != number;
    }
  if (!changed)
    g_clear_pointer (&made, vn_tensor_unref);
  return made;
}

static void
plan_imitate_bias (VnPlan *self,
                   VnStep *step)
{
  const VnValue *value = step->node->inputs->len > 2 ? vn_node_get_input (step->node, 2) : NULL;
  const VnNode *pair = value != NULL && value->graph == self->graph ? value->producer : NULL;
  const VnTensor *bias = pair != NULL ? plan_imitate_get_constant (self, step->node, 2) : NULL, *codes, *scale;
  VnTensor *made;

  if (bias == NULL || bias->dtype != VN_DTYPE_F32 || !vn_node_dequantizes (pair) ||
      !(vn_node_is (step->node, "Conv") || vn_node_is (step->node, "ConvTranspose") || vn_node_is (step->node, "Gemm")) ||
      plan_imitate_find_pair (self, step, 0, VN_DTYPE_S8, -1) == NULL)
    return;
  codes = vn_node_find_constant (pair, 0);
  scale = vn_node_find_constant (pair, 1);
  if (codes == NULL || codes->dtype != VN_DTYPE_S32 || scale == NULL || scale->dtype != VN_DTYPE_F32 ||
      (scale->n_elements != 1 && scale->n_elements != bias->n_elements))
    return;
  made = plan_imitate_saturate (bias, scale);
  if (made == NULL)
    return;
  vn_tensor_unref (self->values[vn_plan_find (self, value)].constant);
  self->values[vn_plan_find (self, value)].constant = made;
}

/**
 * vn_plan_imitate:
 *
 * Gives steps the operators that the arithmetic of the model asks for.
 */
void
vn_plan_imitate (VnPlan *self)
{
  VnArithmetic arithmetic;

  g_return_if_fail (self != NULL);

  arithmetic = vn_model_get_arithmetic (self->model);
  for (guint k = 0; k < self->steps->len && arithmetic != VN_ARITHMETIC_EXACT; k++)
    {
      VnStep *step = g_ptr_array_index (self->steps, k);

      if ((arithmetic & VN_ARITHMETIC_HALF_UP) != 0)
        step->op = vn_op_get_half_up (step->op);
      if ((arithmetic & VN_ARITHMETIC_NARROW_PAIRS) != 0)
        plan_imitate_product (self, step);
      if ((arithmetic & VN_ARITHMETIC_SHORT_BIAS) != 0)
        plan_imitate_bias (self, step);
    }
}
