/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Small tensors of which some elements are known by name only (vn-dims.h): shapes, and what networks compute of them.
 * Operators that only move elements move these with their own kernels; arithmetic is done here. */
#include "vn-infer-private.h"

#include "vn-memory.h"

#include <math.h>

/**
 * vn_infer_to_numbers:
 * @tensor: of known value
 *
 * Returns: (transfer full) (nullable): the same as numbers of @dims; %NULL if its elements are none
 */
VnTensor *
vn_infer_to_numbers (VnDims         *dims,
                     const VnTensor *tensor)
{
  VnTensor *numbers;

  if (tensor->n_elements > VN_INFER_MAX_ELEMENTS ||
      !(vn_dtype_is_integer (tensor->dtype) || vn_dtype_is_float (tensor->dtype) || tensor->dtype == VN_DTYPE_BOOL))
    return NULL;
  numbers = vn_tensor_new (VN_DTYPE_S64, &tensor->shape, NULL);
  for (gsize i = 0; numbers != NULL && i < tensor->n_elements; i++)
    {
      gint64 *to = (gint64 *) numbers->data + i;

      *to = vn_dtype_is_float (tensor->dtype) ? vn_dims_from_double (dims, vn_tensor_get_double (tensor, i))
                                              : vn_tensor_get_s64 (tensor, i);
      if (!vn_dtype_is_float (tensor->dtype) && vn_dims_is_symbolic (*to))
        *to = vn_dims_fresh (dims, G_MININT64);
    }
  return numbers;
}

static gboolean
infer_numbers_store_number (VnDims   *dims,
                            gint64    number,
                            VnTensor *to,
                            gsize     i)
{
  double value;

  if (!vn_dims_get_double (dims, number, &value))
    return FALSE;
  switch (to->dtype)
    {
    case VN_DTYPE_S64:
      ((gint64 *) to->data)[i] = number;
      return !vn_dims_is_symbolic (number);
    case VN_DTYPE_S32:
      ((gint32 *) to->data)[i] = (gint32) number;
      return number >= G_MININT32 && number <= G_MAXINT32;
    case VN_DTYPE_BOOL:
      ((guint8 *) to->data)[i] = number != 0;
      return TRUE;
    case VN_DTYPE_F32:
      ((float *) to->data)[i] = (float) value;
      return TRUE;
    case VN_DTYPE_F64:
      ((double *) to->data)[i] = value;
      return TRUE;
    default:
      return FALSE;
    }
}

/**
 * vn_infer_from_numbers:
 * @dtype: what the elements are in the network
 *
 * Returns: (transfer full) (nullable): the tensor as the network has it; %NULL if an element is not known
 */
VnTensor *
vn_infer_from_numbers (VnDims         *dims,
                       const VnTensor *numbers,
                       VnDType         dtype)
{
  g_autoptr(VnTensor) tensor = vn_tensor_new (dtype, &numbers->shape, NULL);

  for (gsize i = 0; tensor != NULL && i < numbers->n_elements; i++)
    if (!infer_numbers_store_number (dims, ((const gint64 *) numbers->data)[i], tensor, i))
      return NULL;
  return g_steal_pointer (&tensor);
}

/* ---- operators that move elements ---- */

/* @data: bit i: input i holds what is moved; the others say where to and must be known. */
static const struct { const char *type; guint data; } moving[] = {
  { "Concat", G_MAXUINT }, { "Expand", 1 }, { "Flatten", 1 }, { "Gather", 1 }, { "GatherElements", 1 },
  { "GatherND", 1 }, { "Identity", 1 }, { "Pad", 1 | 4 }, { "Reshape", 1 }, { "ScatterElements", 1 | 4 },
  { "ScatterND", 1 | 4 }, { "Slice", 1 }, { "Split", 1 }, { "Squeeze", 1 }, { "Tile", 1 }, { "Transpose", 1 },
  { "Unsqueeze", 1 },
};

static gboolean
infer_numbers_get_moved (const VnOpContext *ctx,
                         guint             *data)
{
  for (guint i = 0; i < G_N_ELEMENTS (moving); i++)
    if (g_str_equal (moving[i].type, ctx->op->type))
      {
        *data = moving[i].data;
        return TRUE;
      }
  return FALSE;
}

/* Calls the operator as if numbers were plain integers. */
static gboolean
infer_numbers_run_moving (VnOpContext *ctx)
{
  g_autofree guint8 *memory = NULL;

  if (!vn_op_infer (ctx, NULL))
    return FALSE;
  for (guint i = 0; i < ctx->n_outputs; i++)
    {
      gsize n;

      if (ctx->out[i] != NULL)
        continue;
      if (!vn_shape_n_elements (&ctx->out_types[i].shape, &n) || n > VN_INFER_MAX_ELEMENTS)
        return FALSE;
      ctx->out[i] = vn_tensor_new (VN_DTYPE_S64, &ctx->out_types[i].shape, NULL);
      if (ctx->out[i] == NULL)
        return FALSE;
    }
  memory = vn_memory_alloc0 (ctx->scratch_bytes + 64, 1, NULL);
  ctx->scratch = memory != NULL ? (gpointer) (((guintptr) memory + 63) & ~(guintptr) 63) : NULL;
  return memory != NULL && vn_op_run (ctx, NULL);
}

static void
infer_numbers_move (const VnOpContext *ctx,
                    guint              data,
                    VnTensor         **out)
{
  g_autofree VnTensorType *in_types = g_memdup2 (ctx->in_types, ctx->n_inputs * sizeof (VnTensorType));
  g_autofree VnTensorType *out_types = g_memdup2 (ctx->out_types, ctx->n_outputs * sizeof (VnTensorType));
  g_autofree VnTensor **in = g_new0 (VnTensor *, ctx->n_inputs + 1);
  VnOpContext inner = *ctx;

  for (guint i = 0; i < ctx->n_inputs; i++)
    {
      gboolean moved = (data >> MIN (i, 31) & 1) != 0;

      in[i] = moved ? ctx->numbers->in[i] : ctx->in[i];
      if (in[i] == NULL && vn_op_has_input (ctx, i))
        return;
      if (moved && in[i] != NULL)
        in_types[i] = (VnTensorType) { VN_DTYPE_S64, in[i]->shape };
    }
  inner.in_types = in_types;
  inner.out_types = out_types;
  inner.in = in;
  inner.out = out;
  inner.numbers = NULL;
  if (!infer_numbers_run_moving (&inner))
    for (guint i = 0; i < ctx->n_outputs; i++)
      g_clear_pointer (&out[i], vn_tensor_unref);
}

/* ---- arithmetic ---- */

typedef struct _Calculation Calculation;

typedef gint64 (*CalculateFunc) (const Calculation *self,
                                 const gint64      *x);

struct _Calculation
{
  VnDims            *dims;
  const VnOpContext *ctx;
  VnDimsFunc         func;
};

static gint64
infer_numbers_unknown (const Calculation *self)
{
  return vn_dims_fresh (self->dims, G_MININT64);
}

/* Whether @a is certainly @more above @b, or farther. */
static gboolean
infer_numbers_is_above (const Calculation *self,
                        gint64             a,
                        gint64             b,
                        gint64             more)
{
  return vn_dims_get_lower (self->dims, vn_dims_sub (self->dims, a, b)) >= more;
}

/* 1, 0 or not known: whether @a is at least @b. */
static gint64
infer_numbers_at_least (const Calculation *self,
                        gint64             a,
                        gint64             b)
{
  return infer_numbers_is_above (self, a, b, 0) ? 1 : infer_numbers_is_above (self, b, a, 1) ? 0 : infer_numbers_unknown (self);
}

static gint64
infer_numbers_negate (const Calculation *self,
                      gint64             truth)
{
  return vn_dims_is_symbolic (truth) ? infer_numbers_unknown (self) : truth == 0;
}

static gint64
infer_numbers_call_binary (const Calculation *self,
                           const gint64      *x)
{
  return self->func (self->dims, x[0], x[1]);
}

/* Integers are rounded toward zero, which is down where they are not negative. */
static gint64
infer_numbers_call_div (const Calculation *self,
                        const gint64      *x)
{
  if (vn_dtype_is_float (self->ctx->in_types[0].dtype))
    return vn_dims_div (self->dims, x[0], x[1]);
  if (vn_dims_get_lower (self->dims, x[0]) < 0 || vn_dims_get_lower (self->dims, x[1]) < 1)
    return infer_numbers_unknown (self);
  return vn_dims_floor_div (self->dims, x[0], x[1]);
}

static gint64
infer_numbers_call_mod (const Calculation *self,
                        const gint64      *x)
{
  if (vn_dims_get_lower (self->dims, x[0]) < 0 || vn_dims_get_lower (self->dims, x[1]) < 1)
    return infer_numbers_unknown (self);
  return vn_dims_mod (self->dims, x[0], x[1]);
}

static gint64
infer_numbers_call_neg (const Calculation *self,
                        const gint64      *x)
{
  return vn_dims_mul (self->dims, x[0], -1);
}

static gint64
infer_numbers_call_abs (const Calculation *self,
                        const gint64      *x)
{
  return vn_dims_get_lower (self->dims, x[0]) >= 0 ? x[0] : infer_numbers_unknown (self);
}

static gint64
infer_numbers_call_floor (const Calculation *self,
                          const gint64      *x)
{
  return vn_dims_floor_div (self->dims, x[0], 1);
}

static gint64
infer_numbers_call_ceil (const Calculation *self,
                         const gint64      *x)
{
  return vn_dims_mul (self->dims, vn_dims_floor_div (self->dims, vn_dims_mul (self->dims, x[0], -1), 1), -1);
}

static gint64
infer_numbers_call_cast (const Calculation *self,
                         const gint64      *x)
{
  VnDType to = self->ctx->out_types[0].dtype;

  if (to == VN_DTYPE_BOOL)
    return vn_dims_get_lower (self->dims, x[0]) > 0 || x[0] == 1 ? 1 : x[0] == 0 ? 0 : infer_numbers_unknown (self);
  if (vn_dtype_is_float (to) || !vn_dtype_is_float (self->ctx->in_types[0].dtype))
    return x[0];
  return vn_dims_get_lower (self->dims, x[0]) >= 0 ? vn_dims_floor_div (self->dims, x[0], 1) : infer_numbers_unknown (self);
}

static gint64
infer_numbers_call_equal (const Calculation *self,
                          const gint64      *x)
{
  if (x[0] == x[1])
    return 1;
  return infer_numbers_is_above (self, x[0], x[1], 1) || infer_numbers_is_above (self, x[1], x[0], 1)
         ? 0 : infer_numbers_unknown (self);
}

static gint64
infer_numbers_call_greater (const Calculation *self,
                            const gint64      *x)
{
  return infer_numbers_negate (self, infer_numbers_at_least (self, x[1], x[0]));
}

static gint64
infer_numbers_call_less (const Calculation *self,
                         const gint64      *x)
{
  return infer_numbers_negate (self, infer_numbers_at_least (self, x[0], x[1]));
}

static gint64
infer_numbers_call_greater_equal (const Calculation *self,
                                  const gint64      *x)
{
  return infer_numbers_at_least (self, x[0], x[1]);
}

static gint64
infer_numbers_call_less_equal (const Calculation *self,
                               const gint64      *x)
{
  return infer_numbers_at_least (self, x[1], x[0]);
}

static gint64
infer_numbers_call_not (const Calculation *self,
                        const gint64      *x)
{
  return infer_numbers_negate (self, x[0]);
}

static gint64
infer_numbers_call_and (const Calculation *self,
                        const gint64      *x)
{
  if (x[0] == 0 || x[1] == 0)
    return 0;
  return vn_dims_is_symbolic (x[0]) || vn_dims_is_symbolic (x[1]) ? infer_numbers_unknown (self) : 1;
}

static gint64
infer_numbers_call_or (const Calculation *self,
                       const gint64      *x)
{
  if (x[0] == 1 || x[1] == 1)
    return 1;
  return vn_dims_is_symbolic (x[0]) || vn_dims_is_symbolic (x[1]) ? infer_numbers_unknown (self) : 0;
}

static gint64
infer_numbers_call_where (const Calculation *self,
                          const gint64      *x)
{
  if (x[1] == x[2])
    return x[1];
  return vn_dims_is_symbolic (x[0]) ? infer_numbers_unknown (self) : x[0] != 0 ? x[1] : x[2];
}

/* @inputs: 0: any number, taken from left to right */
static const struct
{
  const char    *type;
  guint          inputs;
  CalculateFunc  func;
  VnDimsFunc     inner;
} calculations[] = {
  { "Abs", 1, infer_numbers_call_abs },
  { "Add", 2, infer_numbers_call_binary, vn_dims_add },
  { "And", 2, infer_numbers_call_and },
  { "Cast", 1, infer_numbers_call_cast },
  { "Ceil", 1, infer_numbers_call_ceil },
  { "Div", 2, infer_numbers_call_div },
  { "Equal", 2, infer_numbers_call_equal },
  { "Floor", 1, infer_numbers_call_floor },
  { "Greater", 2, infer_numbers_call_greater },
  { "GreaterOrEqual", 2, infer_numbers_call_greater_equal },
  { "Less", 2, infer_numbers_call_less },
  { "LessOrEqual", 2, infer_numbers_call_less_equal },
  { "Max", 0, infer_numbers_call_binary, vn_dims_max },
  { "Min", 0, infer_numbers_call_binary, vn_dims_min },
  { "Mod", 2, infer_numbers_call_mod },
  { "Mul", 2, infer_numbers_call_binary, vn_dims_mul },
  { "Neg", 1, infer_numbers_call_neg },
  { "Not", 1, infer_numbers_call_not },
  { "Or", 2, infer_numbers_call_or },
  { "Sub", 2, infer_numbers_call_binary, vn_dims_sub },
  { "Sum", 0, infer_numbers_call_binary, vn_dims_add },
  { "Where", 3, infer_numbers_call_where },
};

/* Element of @tensor that is broadcast to element @i of @shape. */
static gint64
infer_numbers_element (const VnTensor *tensor,
                       const VnShape  *shape,
                       gsize           i)
{
  gsize at = 0, step = 1;

  for (int d = 1; d <= tensor->shape.rank; d++)
    {
      gsize dim = (gsize) shape->dims[shape->rank - d], own = (gsize) tensor->shape.dims[tensor->shape.rank - d];

      at += (own == 1 ? 0 : i % dim) * step;
      step *= own;
      i /= dim;
    }
  return ((const gint64 *) tensor->data)[at];
}

static VnTensor *
infer_numbers_calculate (const Calculation *self,
                         CalculateFunc      func,
                         guint              inputs)
{
  const VnShape *shape = &self->ctx->out_types[0].shape;
  VnTensor * const *in = self->ctx->numbers->in;
  VnTensor *out;
  gsize n;

  if (!vn_shape_n_elements (shape, &n) || n > VN_INFER_MAX_ELEMENTS || (inputs != 0 && self->ctx->n_inputs != inputs))
    return NULL;
  for (guint i = 0; i < self->ctx->n_inputs; i++)
    if (in[i] == NULL)
      return NULL;
  out = vn_tensor_new (VN_DTYPE_S64, shape, NULL);
  for (gsize i = 0; out != NULL && i < n; i++)
    {
      gint64 x[3] = { infer_numbers_element (in[0], shape, i) };

      for (guint k = 1; k < inputs; k++)
        x[k] = infer_numbers_element (in[k], shape, i);
      if (inputs != 0)
        x[0] = func (self, x);
      for (guint k = 1; inputs == 0 && k < self->ctx->n_inputs; k++)
        {
          x[1] = infer_numbers_element (in[k], shape, i);
          x[0] = func (self, x);
        }
      ((gint64 *) out->data)[i] = x[0];
    }
  return out;
}

/* ---- reductions to one number ---- */

static const struct { const char *type; VnDimsFunc func; } reductions[] = {
  { "ReduceMax", vn_dims_max }, { "ReduceMin", vn_dims_min }, { "ReduceProd", vn_dims_mul }, { "ReduceSum", vn_dims_add },
};

static VnTensor *
infer_numbers_reduce (const VnOpContext *ctx,
                      VnDimsFunc         func)
{
  const VnTensor *in = ctx->numbers->in[0];
  const gint64 *numbers;
  gint64 result;
  gsize n;

  if (in == NULL || in->n_elements == 0 || !vn_shape_n_elements (&ctx->out_types[0].shape, &n) || n != 1)
    return NULL;
  numbers = in->data;
  result = numbers[0];
  for (gsize i = 1; i < in->n_elements; i++)
    result = func (ctx->numbers->dims, result, numbers[i]);
  return vn_tensor_new_s64 (&ctx->out_types[0].shape, &result);
}

/**
 * vn_infer_numbers:
 * @ctx: after `infer`; numbers.in holds numbers of every input that is known, in full or in part
 * @out: (out): owned: numbers for each output, or %NULL
 *
 * Finds out what can be said about the elements of small outputs.
 */
void
vn_infer_numbers (const VnOpContext *ctx,
                  VnTensor         **out)
{
  Calculation self = { ctx->numbers->dims, ctx, NULL };
  guint data;

  if (ctx->op->domain[0] != '\0')
    return;
  if (infer_numbers_get_moved (ctx, &data))
    {
      infer_numbers_move (ctx, data, out);
      return;
    }
  for (guint i = 0; i < G_N_ELEMENTS (calculations); i++)
    if (g_str_equal (calculations[i].type, ctx->op->type))
      {
        self.func = calculations[i].inner;
        out[0] = infer_numbers_calculate (&self, calculations[i].func, calculations[i].inputs);
        return;
      }
  for (guint i = 0; i < G_N_ELEMENTS (reductions); i++)
    if (g_str_equal (reductions[i].type, ctx->op->type))
      out[0] = infer_numbers_reduce (ctx, reductions[i].func);
}
