/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inner loops of poolings, by kind and element type. */
#include "vn-pool.h"

#include <math.h>

/* Loops over columns: the common strides are spelled out, so that they become vector code. */
#define EACH_COLUMN(statement)                                               \
  do                                                                         \
    {                                                                        \
      if (stride == 1)                                                       \
        for (gsize i = 0; i < n; i++)                                        \
          {                                                                  \
            gsize j = i;                                                     \
            statement;                                                       \
          }                                                                  \
      else if (stride == 2)                                                  \
        for (gsize i = 0; i < n; i++)                                        \
          {                                                                  \
            gsize j = i * 2;                                                 \
            statement;                                                       \
          }                                                                  \
      else                                                                   \
        for (gsize i = 0; i < n; i++)                                        \
          {                                                                  \
            gsize j = i * stride;                                            \
            statement;                                                       \
          }                                                                  \
    }                                                                        \
  while (0)

/* The comparison with itself keeps NaN; the compiler drops it for integers. */
#define LARGER(a, b) ((((a) >= (b)) | ((a) != (a))) ? (a) : (b))

#define UNIT_LOOP(size, expression)                                          \
  for (gsize i = 0; i < n; i++, x += stride * size, y += size)               \
    for (gsize j = 0; j < size; j++)                                         \
      y[j] = (expression);

#define BLOCKS(name, expression)                                             \
VN_MULTIVERSION                                                              \
static void                                                                  \
name (const float *restrict x, float *restrict y, gsize unit, gsize stride, gsize n) \
{                                                                            \
  if (unit == 16)                                                            \
    UNIT_LOOP (16, expression)                                               \
  else                                                                       \
    UNIT_LOOP (unit, expression)                                             \
}

BLOCKS (max_blocks, LARGER (y[j], x[j]))
BLOCKS (sum_blocks, y[j] + x[j])

#define MAX_KIND(T, suffix, lowest, blocks)                                  \
VN_MULTIVERSION                                                              \
static void                                                                  \
max_lines_##suffix (gconstpointer from, gpointer to, gsize n, float p, gboolean first) \
{                                                                            \
  const T *x = from;                                                         \
  T *y = to;                                                                 \
  if (first)                                                                 \
    memcpy (y, x, n * sizeof (T));                                           \
  else                                                                       \
    for (gsize i = 0; i < n; i++)                                            \
      y[i] = LARGER (y[i], x[i]);                                            \
}                                                                            \
                                                                             \
static void                                                                  \
max_fill_##suffix (gpointer to, gsize n)                                     \
{                                                                            \
  T *y = to;                                                                 \
  for (gsize i = 0; i < n; i++)                                              \
    y[i] = lowest;                                                           \
}                                                                            \
                                                                             \
VN_MULTIVERSION                                                              \
static void                                                                  \
max_columns_##suffix (gconstpointer from, gpointer to, gsize stride, gsize n) \
{                                                                            \
  const T *x = from;                                                         \
  T *y = to;                                                                 \
  EACH_COLUMN (y[i] = LARGER (y[i], x[j]));                                  \
}                                                                            \
                                                                             \
static const VnPoolKind max_kind_##suffix = {                                \
  max_lines_##suffix, max_fill_##suffix, max_columns_##suffix, blocks, VN_POOL_PLAIN \
};

MAX_KIND (float, f32, -INFINITY, max_blocks)
MAX_KIND (double, f64, -INFINITY, NULL)
MAX_KIND (gint8, s8, G_MININT8, NULL)
MAX_KIND (guint8, u8, 0, NULL)

/**
 * vn_pool_max_kind:
 *
 * Returns: the loops of MaxPool for @dtype
 */
const VnPoolKind *
vn_pool_max_kind (VnDType dtype)
{
  switch (dtype)
    {
    case VN_DTYPE_F64:
      return &max_kind_f64;
    case VN_DTYPE_S8:
      return &max_kind_s8;
    case VN_DTYPE_U8:
      return &max_kind_u8;
    default:
      return &max_kind_f32;
    }
}

#define SUM_KIND(T, suffix, absolute, power, blocks)                         \
VN_MULTIVERSION                                                              \
static void                                                                  \
sum_lines_##suffix (gconstpointer from, gpointer to, gsize n, float p, gboolean first) \
{                                                                            \
  const T *x = from;                                                         \
  T *y = to;                                                                 \
  if (first)                                                                 \
    memcpy (y, x, n * sizeof (T));                                           \
  else                                                                       \
    for (gsize i = 0; i < n; i++)                                            \
      y[i] += x[i];                                                          \
}                                                                            \
                                                                             \
static void                                                                  \
power_lines_##suffix (gconstpointer from, gpointer to, gsize n, float p, gboolean first) \
{                                                                            \
  const T *x = from;                                                         \
  T *y = to;                                                                 \
  for (gsize i = 0; i < n; i++)                                              \
    {                                                                        \
      T a = absolute (x[i]);                                                 \
      T v = p == 1.f ? a : p == 2.f ? a * a : power (a, (T) p);              \
      y[i] = first ? v : y[i] + v;                                           \
    }                                                                        \
}                                                                            \
                                                                             \
static void                                                                  \
sum_fill_##suffix (gpointer to, gsize n)                                     \
{                                                                            \
  memset (to, 0, n * sizeof (T));                                            \
}                                                                            \
                                                                             \
VN_MULTIVERSION                                                              \
static void                                                                  \
sum_columns_##suffix (gconstpointer from, gpointer to, gsize stride, gsize n) \
{                                                                            \
  const T *x = from;                                                         \
  T *y = to;                                                                 \
  EACH_COLUMN (y[i] += x[j]);                                                \
}                                                                            \
                                                                             \
static const VnPoolKind average_kind_##suffix = {                            \
  sum_lines_##suffix, sum_fill_##suffix, sum_columns_##suffix, blocks, VN_POOL_AVERAGE \
};                                                                           \
static const VnPoolKind lp_kind_##suffix = {                                 \
  power_lines_##suffix, sum_fill_##suffix, sum_columns_##suffix, NULL, VN_POOL_LP \
};

SUM_KIND (float, f32, fabsf, powf, sum_blocks)
SUM_KIND (double, f64, fabs, pow, NULL)

/**
 * vn_pool_average_kind:
 *
 * Returns: the loops of AveragePool for @dtype, float32 or float64
 */
const VnPoolKind *
vn_pool_average_kind (VnDType dtype)
{
  return dtype == VN_DTYPE_F64 ? &average_kind_f64 : &average_kind_f32;
}

/**
 * vn_pool_lp_kind:
 *
 * Returns: the loops of LpPool for @dtype, float32 or float64
 */
const VnPoolKind *
vn_pool_lp_kind (VnDType dtype)
{
  return dtype == VN_DTYPE_F64 ? &lp_kind_f64 : &lp_kind_f32;
}

/**
 * vn_pool_exponent:
 *
 * Returns: the attribute p of LpPool and GlobalLpPool, which was a float in opset 1
 */
float
vn_pool_exponent (const VnOpContext *ctx)
{
  const VnAttr *attr = vn_node_get_attr (ctx->node, "p");

  return attr != NULL && attr->type == VN_ATTR_FLOAT ? attr->f : (float) vn_node_get_int (ctx->node, "p", 2);
}
