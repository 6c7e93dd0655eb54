/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Driver of the operators with two broadcast inputs. */
#include "vn-elem-binary-private.h"

/**
 * vn_binary_shape:
 * @input: 0 or 1
 *
 * Before opset 7 the second input was stretched only if the attribute `broadcast` said so, and `axis` told which dim of
 * the first its first dim belongs to: the same as dims of 1 appended.
 *
 * Returns: the shape of that input for NumPy's rule
 */
VnShape
vn_binary_shape (VnOpContext *ctx,
                 guint        input)
{
  VnShape shape = ctx->in_types[input].shape;
  const VnShape *first = &ctx->in_types[0].shape;
  int axis;

  if (input != 1 || ctx->opset >= 7 || shape.rank < 0 || first->rank < 0 ||
      vn_node_get_attr (ctx->node, "axis") == NULL ||
      !vn_shape_resolve_axis (first, vn_node_get_int (ctx->node, "axis", 0), &axis))
    return shape;
  while (shape.rank < first->rank - axis)
    shape.dims[shape.rank++] = 1;
  return shape;
}

/**
 * vn_binary_infer_unchecked:
 * @dtype: of the output
 *
 * Returns: %FALSE with an error if the shapes of inputs 0 and 1 cannot be broadcast to each other
 */
gboolean
vn_binary_infer_unchecked (VnOpContext *ctx,
                           VnDType      dtype,
                           GError     **error)
{
  VnShape a = vn_binary_shape (ctx, 0), b = vn_binary_shape (ctx, 1), out;

  if (!vn_shape_broadcast (&a, &b, &out))
    {
      g_autofree char *text_a = vn_shape_to_string (&a, "×");
      g_autofree char *text_b = vn_shape_to_string (&b, "×");

      return vn_op_fail (ctx, error, _("%s: inputs of shapes %s and %s cannot be broadcast to each other"),
                         ctx->op->type, text_a, text_b);
    }
  vn_op_set_output (ctx, 0, dtype, &out);
  return TRUE;
}

/**
 * vn_binary_infer:
 *
 * `infer` of operators with two broadcast inputs and an output of one type.
 */
gboolean
vn_binary_infer (VnOpContext *ctx,
                 GError     **error)
{
  VnDType dtype = ctx->in_types[0].dtype != VN_DTYPE_UNDEFINED ? ctx->in_types[0].dtype : ctx->in_types[1].dtype;

  return vn_op_check_same_dtype (ctx, 0, 1, error) && vn_binary_infer_unchecked (ctx, dtype, error);
}

/**
 * vn_binary_infer_bool:
 *
 * `infer` of comparisons: inputs of one type, output of bool.
 */
gboolean
vn_binary_infer_bool (VnOpContext *ctx,
                      GError     **error)
{
  return vn_op_check_same_dtype (ctx, 0, 1, error) && vn_binary_infer_unchecked (ctx, VN_DTYPE_BOOL, error);
}

#define CLAMP_ROW(name, type, arg)                                                    \
  case VN_DTYPE_##name:                                                               \
    {                                                                                 \
      type *v = y;                                                                    \
      const type min = (type) CLAMP ((double) activation->min, lo_##name, hi_##name); \
      const type max = (type) CLAMP ((double) activation->max, lo_##name, hi_##name); \
      for (gsize i = 0; i < n; i++)                                                   \
        v[i] = v[i] < min ? min : v[i] > max ? max : v[i];                            \
      break;                                                                          \
    }

/**
 * vn_clamp_row:
 * @dtype: float32, float64, or an integer, which saturates the bounds
 *
 * Applies a fused clamp; NaN stays NaN.
 */
void
vn_clamp_row (VnDType             dtype,
              const VnActivation *activation,
              gpointer            y,
              gsize               n)
{
  const double lo_F32 = -HUGE_VAL, hi_F32 = HUGE_VAL, lo_F64 = -HUGE_VAL, hi_F64 = HUGE_VAL;
  const double lo_S8 = G_MININT8, hi_S8 = G_MAXINT8, lo_S16 = G_MININT16, hi_S16 = G_MAXINT16;
  const double lo_S32 = G_MININT32, hi_S32 = G_MAXINT32, lo_S64 = -0x1p63, hi_S64 = 0x1.fffffffffffffp62;
  const double lo_U8 = 0, hi_U8 = G_MAXUINT8, lo_U16 = 0, hi_U16 = G_MAXUINT16;
  const double lo_U32 = 0, hi_U32 = G_MAXUINT32, lo_U64 = 0, hi_U64 = 0x1.fffffffffffffp63;

  switch (dtype)
    {
      VN_FLOAT_TYPES (CLAMP_ROW, )
      VN_INTEGER_TYPES (CLAMP_ROW, )
    default:
      break;
    }
}

/* Halves: widen a piece, compute, narrow. */
static void
elem_binary_half_row (VnBinaryFunc        func,
                      VnDType             dtype,
                      const VnBroadcast  *row,
                      const guint16      *a,
                      const guint16      *b,
                      gpointer            y,
                      gsize               out_size,
                      const VnActivation *activation)
{
  enum { PIECE = 512 };
  float wide_a[PIECE], wide_b[PIECE], wide_y[PIECE];

  for (gsize i = 0; i < row->n; i += PIECE)
    {
      gsize n = MIN (row->n - i, (gsize) PIECE);
      gpointer target = (char *) y + i * out_size;

      vn_elem_to_float (dtype, a + i * row->step[0], wide_a, row->step[0] != 0 ? n : 1);
      vn_elem_to_float (dtype, b + i * row->step[1], wide_b, row->step[1] != 0 ? n : 1);
      func (wide_a, row->step[0], wide_b, row->step[1], out_size == 1 ? target : wide_y, n);
      if (out_size == 1)
        continue;
      if (activation != NULL && activation->active)
        vn_clamp_row (VN_DTYPE_F32, activation, wide_y, n);
      vn_elem_from_float (dtype, wide_y, target, n);
    }
}

/**
 * vn_binary_apply:
 * @func: kernel for @dtype; for halves the one of float32
 * @out_size: bytes of an element of @y: 1 for comparisons, else that of @dtype
 * @shapes: of @a and @b; they broadcast to @out_shape
 * @y: may be @a if that has the shape of the output
 * @activation: (nullable): fused clamp
 *
 * Computes y = func (a, b) over a broadcast.
 */
void
vn_binary_apply (VnBinaryFunc         func,
                 VnDType              dtype,
                 gsize                out_size,
                 const VnShape       *shapes[2],
                 gconstpointer        a,
                 gconstpointer        b,
                 const VnShape       *out_shape,
                 gpointer             y,
                 const VnActivation  *activation)
{
  gsize size = vn_elem_size (dtype);
  gboolean half = (VN_HALF_BITS >> dtype & 1) != 0;
  VnBroadcast row;

  vn_broadcast_init (&row, out_shape, shapes, 2);
  while (vn_broadcast_next (&row))
    {
      const char *row_a = (const char *) a + row.offset[0] * size;
      const char *row_b = (const char *) b + row.offset[1] * size;
      char *row_y = (char *) y + row.out * out_size;

      if (half)
        {
          elem_binary_half_row (func, dtype, &row, (const guint16 *) row_a, (const guint16 *) row_b, row_y, out_size, activation);
          continue;
        }
      func (row_a, row.step[0], row_b, row.step[1], row_y, row.n);
      if (activation != NULL && activation->active)
        vn_clamp_row (dtype, activation, row_y, row.n);
    }
}

/**
 * vn_binary_run:
 * @funcs: kernels by element type, %NULL where there is none; halves use that of float32
 *
 * `run` of an operator with two broadcast inputs of one type.
 *
 * Returns: %FALSE with %VN_ERROR_UNSUPPORTED if there is no kernel for the type
 */
gboolean
vn_binary_run (VnOpContext         *ctx,
               const VnBinaryFunc  *funcs,
               GError             **error)
{
  VnDType dtype = ctx->in[0]->dtype;
  gboolean half = (VN_HALF_BITS >> dtype & 1) != 0;
  VnBinaryFunc func = dtype < VN_N_ELEM_TYPES ? funcs[half ? VN_DTYPE_F32 : dtype] : NULL;
  VnShape a = vn_binary_shape (ctx, 0), b = vn_binary_shape (ctx, 1);
  const VnShape *shapes[2] = { &a, &b };

  if (func == NULL)
    return vn_op_unsupported (ctx, 0, error);
  if (!vn_op_check_same_dtype (ctx, 0, 1, error))
    return FALSE;
  vn_binary_apply (func, dtype, vn_elem_size (ctx->out[0]->dtype), shapes, ctx->in[0]->data, ctx->in[1]->data,
                   &ctx->out[0]->shape, ctx->out[0]->data, &ctx->activation);
  return TRUE;
}
