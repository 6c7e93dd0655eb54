/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What operators with indices share: reading an index, and combining elements (reductions of Scatter). */
#include "vn-index-private.h"

/**
 * vn_index_load:
 * @indices: of int32 or int64
 * @dim: length of the indexed axis
 * @index: (out): 0 .. dim - 1; negative indices count from the end
 *
 * Returns: %FALSE with an error if element @i of @indices is outside
 */
gboolean
vn_index_load (VnOpContext     *ctx,
               const VnTensor  *indices,
               gsize            i,
               gint64           dim,
               gsize           *index,
               GError         **error)
{
  gint64 value = indices->dtype == VN_DTYPE_S64 ? ((const gint64 *) indices->data)[i]
                                                : ((const gint32 *) indices->data)[i];

  if (value < -dim || value >= dim)
    return vn_op_fail (ctx, error, _("%s: index %lld (element %zu) is outside of %lld .. %lld"),
                       ctx->op->type, (long long) value, i, (long long) -dim, (long long) (dim - 1));
  *index = (gsize) (value < 0 ? value + dim : value);
  return TRUE;
}

/**
 * vn_reduction_get:
 *
 * Returns: %FALSE with %VN_ERROR_UNSUPPORTED if the attribute “reduction” is unknown or makes no sense for the type
 */
gboolean
vn_reduction_get (VnOpContext  *ctx,
                  VnReduction  *reduction,
                  GError      **error)
{
  static const char * const names[] = { "none", "add", "mul", "min", "max", NULL };
  VnDTypeSet types = VN_NUMBER_BITS | VN_DTYPE_BIT (BOOL);
  guint choice = vn_op_attr_choice (ctx, "reduction", "none", names, error);

  if (choice == G_MAXUINT)
    return FALSE;
  *reduction = (VnReduction) choice;
  if (choice == VN_REDUCTION_ADD || choice == VN_REDUCTION_MUL)
    types |= VN_DTYPE_BIT (C64) | VN_DTYPE_BIT (C128);
  if (choice != VN_REDUCTION_NONE && (types >> ctx->in_types[0].dtype & 1) == 0)
    return vn_op_unsupported (ctx, 0, error);
  return TRUE;
}

#define REDUCE(name, type, sum_type)                                                       \
  case VN_DTYPE_##name:                                                                    \
    {                                                                                      \
      type *y = to;                                                                        \
      const type *x = from;                                                                \
                                                                                           \
      for (gsize i = 0; i < n; i++)                                                        \
        switch (reduction)                                                                 \
          {                                                                                \
          case VN_REDUCTION_ADD: y[i] = (type) ((sum_type) y[i] + (sum_type) x[i]); break; \
          case VN_REDUCTION_MUL: y[i] = (type) ((sum_type) y[i] * (sum_type) x[i]); break; \
          case VN_REDUCTION_MIN: y[i] = y[i] < x[i] || y[i] != y[i] ? y[i] : x[i]; break;  \
          case VN_REDUCTION_MAX: y[i] = y[i] > x[i] || y[i] != y[i] ? y[i] : x[i]; break;  \
          default: y[i] = x[i]; break;                                                     \
          }                                                                                \
      break;                                                                               \
    }

static void
index_reduce_bool (VnReduction    reduction,
                   guint8        *y,
                   const guint8  *x,
                   gsize          n)
{
  gboolean is_or = reduction == VN_REDUCTION_ADD || reduction == VN_REDUCTION_MAX;

  for (gsize i = 0; i < n; i++)
    y[i] = is_or ? y[i] || x[i] : y[i] && x[i];
}

/* Complex numbers have no order: only sums and products. */
#define REDUCE_COMPLEX(suffix, T)                                                              \
  static void                                                                                  \
  reduce_complex_##suffix (VnReduction reduction, T _Complex *y, const T _Complex *x, gsize n) \
  {                                                                                            \
    for (gsize i = 0; i < n; i++)                                                              \
      y[i] = reduction == VN_REDUCTION_ADD ? y[i] + x[i] : y[i] * x[i];                        \
  }

REDUCE_COMPLEX (f32, float)
REDUCE_COMPLEX (f64, double)

static void
index_reduce_halves (VnReduction    reduction,
                     VnDType        dtype,
                     guint16       *to,
                     const guint16 *from,
                     gsize          n)
{
  for (gsize i = 0; i < n; i++)
    {
      float y = vn_elem_load_float (dtype, to, i), x = vn_elem_load_float (dtype, from, i);

      vn_reduction_apply (reduction, VN_DTYPE_F32, &y, &x, 1);
      vn_elem_from_float (dtype, &y, to + i, 1);
    }
}

/**
 * vn_reduction_apply:
 * @dtype: of a number or bool, or any whole-byte type if @reduction is none
 * @to: @n elements, combined with those of @from
 */
void
vn_reduction_apply (VnReduction    reduction,
                    VnDType        dtype,
                    gpointer       to,
                    gconstpointer  from,
                    gsize          n)
{
  if (reduction == VN_REDUCTION_NONE)
    {
      memcpy (to, from, n * vn_elem_size (dtype));
      return;
    }
  switch (dtype)
    {
      VN_INTEGER_TYPES (REDUCE, guint64)
      REDUCE (F32, float, float)
      REDUCE (F64, double, double)
    case VN_DTYPE_BOOL: index_reduce_bool (reduction, to, from, n); break;
    case VN_DTYPE_C64: reduce_complex_f32 (reduction, to, from, n); break;
    case VN_DTYPE_C128: reduce_complex_f64 (reduction, to, from, n); break;
    default:
      index_reduce_halves (reduction, dtype, to, from, n);
    }
}
