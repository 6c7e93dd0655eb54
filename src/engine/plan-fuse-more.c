/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What operators with fuses_more can do while their results are in the cache: normalization and shifts by channel, the
 * sum with another tensor, and activations, however an exporter wrote them out. */
#include "vn-fuse-private.h"

#include "vn-memory.h"

#include <math.h>

/* ---- what may be fused ---- */

/**
 * vn_fuse_is_private:
 * @id: a value of the plan, or -1
 * @n_uses: how many inputs of the steps to be fused it is
 *
 * Returns: whether nobody else looks at the value
 */
gboolean
vn_fuse_is_private (const VnFusion *self,
                    int             id,
                    guint           n_uses)
{
  const VnPlanValue *value = id >= 0 ? &self->plan->values[id] : NULL;

  return value != NULL && value->n_uses == n_uses && value->tap < 0 && value->output < 0 &&
         value->type.dtype == VN_DTYPE_F32;
}

/**
 * vn_fuse_is_same_type:
 * @a, @b: values of the plan, or -1
 *
 * Returns: whether both are known to have the same element type and sizes
 */
gboolean
vn_fuse_is_same_type (const VnFusion *self,
                      int             a,
                      int             b)
{
  const VnTensorType *x, *y;

  if (a < 0 || b < 0)
    return FALSE;
  x = &self->plan->values[a].type;
  y = &self->plan->values[b].type;
  return x->dtype == y->dtype && vn_shape_is_static (&x->shape) && vn_shape_equal (&x->shape, &y->shape);
}

/**
 * vn_fuse_find_taker:
 * @n_uses: of the input
 *
 * Returns: (nullable): the step that makes this input, if it can do more before its result is written
 */
VnStep *
vn_fuse_find_taker (const VnFusion *self,
                    const VnStep   *step,
                    guint           input,
                    guint           n_uses)
{
  int id = input < step->n_inputs ? step->inputs[input] : -1;
  VnStep *taker = id >= 0 ? self->producers[id] : NULL;

  if (taker == NULL || !taker->op->fuses_more || taker->dynamic || taker->activation.active ||
      step->dynamic || step->n_outputs != 1 || step->activation.active ||
      !vn_fuse_is_private (self, id, n_uses) || !vn_fuse_is_same_type (self, id, step->outputs[0]))
    return NULL;
  return taker;
}

/**
 * vn_fuse_get_scalar:
 *
 * Returns: whether the input is a constant with one finite element
 */
gboolean
vn_fuse_get_scalar (const VnFusion *self,
                    const VnStep   *step,
                    guint           input,
                    float          *value)
{
  const VnTensor *constant;

  if (input >= step->n_inputs || step->inputs[input] < 0)
    return FALSE;
  constant = self->plan->values[step->inputs[input]].constant;
  if (constant == NULL || constant->dtype != VN_DTYPE_F32 || constant->n_elements != 1)
    return FALSE;
  *value = *(const float *) constant->data;
  return isfinite (*value);
}

/* ---- activations ---- */

/**
 * vn_fuse_map:
 *
 * Activations that are one node.
 */
VnStep *
vn_fuse_map (VnFusion *self,
             VnStep   *step)
{
  static const struct {
    const char       *type;
    VnActivationKind  kind;
    float             a, b;
  } maps[] = {
    { "LeakyRelu", VN_ACTIVATION_LEAKY_RELU, 0.01f, 0.f },
    { "Tanh", VN_ACTIVATION_TANH, 0.f, 0.f },
    { "Sigmoid", VN_ACTIVATION_SIGMOID, 0.f, 0.f },
    { "HardSigmoid", VN_ACTIVATION_HARD_SIGMOID, 0.2f, 0.5f },
    { "HardSwish", VN_ACTIVATION_HARD_SWISH, 1.f / 6.f, 0.5f },
  };
  VnStep *taker = vn_fuse_find_taker (self, step, 0, 1);

  for (guint i = 0; i < G_N_ELEMENTS (maps) && taker != NULL; i++)
    if (vn_node_is (step->node, maps[i].type))
      {
        taker->activation = (VnActivation) { .active = TRUE, .kind = maps[i].kind,
                                             .a = vn_node_get_float (step->node, "alpha", maps[i].a),
                                             .b = vn_node_get_float (step->node, "beta", maps[i].b) };
        return taker;
      }
  return NULL;
}

/**
 * vn_fuse_mark_dead:
 *
 * Another step does what @step did, whose only result is seen by nobody.
 */
void
vn_fuse_mark_dead (VnFusion *self,
                   VnStep   *step)
{
  step->dead = TRUE;
  self->plan->values[step->outputs[0]].fused = TRUE;
}

/* min (max (x + a, min), max), the clamp fused into the Add. */
static gboolean
plan_fuse_more_match_shifted_clamp (VnFusion      *self,
                                    const VnStep  *add,
                                    int            x,
                                    VnActivation  *map)
{
  guint other;

  if (add == NULL || !vn_node_is (add->node, "Add") || !add->activation.active || add->n_inputs != 2)
    return FALSE;
  other = add->inputs[0] == x ? 1 : 0;
  map->min = add->activation.min;
  map->max = add->activation.max;
  return add->inputs[1 - other] == x && vn_fuse_get_scalar (self, add, other, &map->a);
}

/* The factor of x in an activation x g (x), computed by @gate from x alone; kills the steps it consists of. */
static gboolean
plan_fuse_more_match_gate (VnFusion     *self,
                           VnStep       *gate,
                           int           x,
                           VnActivation *map)
{
  VnStep *add;

  *map = (VnActivation) { .active = TRUE, .b = 1 };
  if (vn_node_is (gate->node, "Sigmoid") && gate->inputs[0] == x)
    map->kind = VN_ACTIVATION_SILU;
  else if (vn_node_is (gate->node, "HardSigmoid") && gate->inputs[0] == x)
    {
      map->kind = VN_ACTIVATION_HARD_SWISH;
      map->a = vn_node_get_float (gate->node, "alpha", 0.2f);
      map->b = vn_node_get_float (gate->node, "beta", 0.5f);
    }
  else if (plan_fuse_more_match_shifted_clamp (self, gate, x, map))
    map->kind = VN_ACTIVATION_SHIFT_SWISH;
  else
    {
      add = vn_node_is (gate->node, "Div") && gate->inputs[0] >= 0 ? self->producers[gate->inputs[0]] : NULL;
      if (!plan_fuse_more_match_shifted_clamp (self, add, x, map) || !vn_fuse_is_private (self, gate->inputs[0], 1) ||
          !vn_fuse_get_scalar (self, gate, 1, &map->b))
        return FALSE;
      map->kind = VN_ACTIVATION_SWISH_OF_PART;
      vn_fuse_mark_dead (self, add);
    }
  vn_fuse_mark_dead (self, gate);
  return TRUE;
}

/**
 * vn_fuse_gate:
 *
 * A product of a tensor with an activation of itself: SiLU, HardSwish.
 */
VnStep *
vn_fuse_gate (VnFusion *self,
              VnStep   *step)
{
  if (!vn_node_is (step->node, "Mul") || step->n_inputs != 2)
    return NULL;
  for (guint i = 0; i < 2; i++)
    {
      VnStep *taker = vn_fuse_find_taker (self, step, i, 2);
      int other = step->inputs[1 - i];
      VnStep *gate = other >= 0 ? self->producers[other] : NULL;
      VnActivation map;

      if (taker == NULL || gate == NULL || gate == taker || gate->dynamic || gate->n_outputs != 1 ||
          !vn_fuse_is_private (self, other, 1) || !plan_fuse_more_match_gate (self, gate, step->inputs[i], &map))
        continue;
      taker->activation = map;
      return taker;
    }
  return NULL;
}

/**
 * vn_fuse_divisor:
 *
 * The last step of a HardSwish that divides in the end.
 */
VnStep *
vn_fuse_divisor (VnFusion *self,
                 VnStep   *step)
{
  VnStep *taker = step->n_inputs == 2 && step->inputs[0] >= 0 ? self->producers[step->inputs[0]] : NULL;
  float divisor;

  if (taker == NULL || !vn_node_is (step->node, "Div") || !taker->activation.active ||
      taker->activation.kind != VN_ACTIVATION_SHIFT_SWISH || taker->activation.b != 1.f || step->activation.active ||
      !vn_fuse_is_private (self, step->inputs[0], 1) ||
      !vn_fuse_is_same_type (self, step->inputs[0], step->outputs[0]) ||
      !vn_fuse_get_scalar (self, step, 1, &divisor))
    return NULL;
  taker->activation.b = divisor;
  return taker;
}

/* ---- by channel ---- */

static gboolean
plan_fuse_more_take_factors (VnFusion *self,
                             VnStep   *taker)
{
  gsize n = (gsize) taker->out_types[0].shape.dims[1];

  if (taker->factors != NULL || taker->has_sum)
    return FALSE;
  taker->factors = vn_try_new (float, 2 * n, NULL);
  taker->shifts = taker->factors != NULL ? taker->factors + n : NULL;
  return taker->factors != NULL;
}

/**
 * vn_fuse_get_constant:
 *
 * Returns: (nullable): the input, if it is constant and float32
 */
const VnTensor *
vn_fuse_get_constant (const VnFusion *self,
                      const VnStep   *step,
                      guint           input)
{
  int id = step->inputs[input];
  const VnPlanValue *value = id >= 0 ? &self->plan->values[id] : NULL;

  if (value == NULL || value->constant == NULL || value->constant->dtype != VN_DTYPE_F32 ||
      (vn_plan_is_hollow (self->plan, id) && !vn_plan_fill (self->plan, (guint) id, NULL)))
    return NULL;
  return value->constant;
}

/**
 * vn_fuse_factors:
 *
 * BatchNormalization with statistics that are known.
 */
VnStep *
vn_fuse_factors (VnFusion *self,
                 VnStep   *step)
{
  VnStep *taker = vn_node_is (step->node, "BatchNormalization") ? vn_fuse_find_taker (self, step, 0, 1) : NULL;
  const VnTensor *in[5] = { NULL };
  double epsilon;
  gsize n;

  if (taker == NULL || !taker->op->fuses_channels || step->n_inputs != 5 ||
      vn_node_get_int (step->node, "training_mode", 0) != 0 || vn_node_get_int (step->node, "spatial", 1) == 0)
    return NULL;
  n = (gsize) taker->out_types[0].shape.dims[1];
  for (guint i = 1; i < 5; i++)
    {
      in[i] = vn_fuse_get_constant (self, step, i);
      if (in[i] == NULL || in[i]->n_elements != n)
        return NULL;
    }
  if (!plan_fuse_more_take_factors (self, taker))
    return NULL;
  epsilon = vn_node_get_float (step->node, "epsilon", 1e-5f);
  for (gsize i = 0; i < n; i++)
    {
      double a = vn_tensor_get_double (in[1], i) / sqrt (vn_tensor_get_double (in[4], i) + epsilon);

      taker->factors[i] = (float) a;
      taker->shifts[i] = (float) (vn_tensor_get_double (in[2], i) - vn_tensor_get_double (in[3], i) * a);
    }
  return taker;
}

/* One number for each channel, the second axis of @shape. */
static gboolean
plan_fuse_more_is_by_channel (const VnTensor *constant,
                              const VnShape  *shape)
{
  int axis = constant->shape.rank - (shape->rank - 1);   /* of the constant, aligned from the right */

  if (axis < 0 || axis >= constant->shape.rank || constant->shape.dims[axis] != shape->dims[1])
    return FALSE;
  return constant->n_elements == (gsize) shape->dims[1];
}

/**
 * vn_fuse_shifts:
 *
 * A bias in a node of its own.
 */
VnStep *
vn_fuse_shifts (VnFusion *self,
                VnStep   *step)
{
  if (!vn_node_is (step->node, "Add") || step->n_inputs != 2)
    return NULL;
  for (guint i = 0; i < 2; i++)
    {
      VnStep *taker = vn_fuse_find_taker (self, step, i, 1);
      const VnTensor *constant = vn_fuse_get_constant (self, step, 1 - i);

      if (taker == NULL || !taker->op->fuses_channels || constant == NULL ||
          !plan_fuse_more_is_by_channel (constant, &taker->out_types[0].shape) || !plan_fuse_more_take_factors (self, taker))
        continue;
      for (gsize c = 0; c < constant->n_elements; c++)
        {
          taker->factors[c] = 1;
          taker->shifts[c] = ((const float *) constant->data)[c];
        }
      return taker;
    }
  return NULL;
}

/* ---- sums ---- */

static void
plan_fuse_more_append_sum (VnFusion *self,
                           VnStep   *taker,
                           int       id)
{
  taker->inputs = g_renew (int, taker->inputs, taker->n_inputs + 1);
  taker->in_types = g_renew (VnTensorType, taker->in_types, taker->n_inputs + 1);
  taker->inputs[taker->n_inputs] = id;
  taker->in_types[taker->n_inputs] = self->plan->values[id].type;
  taker->n_inputs++;
  taker->has_sum = TRUE;
}

/**
 * vn_fuse_sum:
 *
 * The sum with a tensor that is there already: the end of a residual block.
 */
VnStep *
vn_fuse_sum (VnFusion *self,
             VnStep   *step)
{
  if (!vn_node_is (step->node, "Add") || step->n_inputs != 2)
    return NULL;
  for (guint i = 0; i < 2; i++)
    {
      VnStep *taker = vn_fuse_find_taker (self, step, i, 1);
      int other = step->inputs[1 - i];

      if (taker == NULL || taker->has_sum || !vn_fuse_is_same_type (self, other, step->outputs[0]) ||
          self->made_at[other] >= self->made_at[step->inputs[i]])
        continue;
      plan_fuse_more_append_sum (self, taker, other);
      return taker;
    }
  return NULL;
}
