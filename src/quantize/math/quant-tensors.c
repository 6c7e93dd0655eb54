/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whole tensors to quantize: their ranges, and what becomes of their numbers, as integers or rounded in blocks. */
#include "vn-quant-math.h"

#include "vn-block.h"
#include "vn-error.h"
#include "vn-half.h"
#include "vn-i18n.h"
#include "vn-memory.h"
#include "vn-minifloat.h"
#include "vn-multiversion.h"
#include "vn-parallel.h"

#include <math.h>

#define RUN_BLOCK 256

/* Numbers below which a loop over them one by one is faster. */
#define SHORT_RUN 64

/* Elements that a thread quantizes at a time; an even number, as two of 4 bits share a byte. */
#define QUANTIZED_PART ((gsize) 1 << 16)

/* A tensor cut along an axis: outer blocks of channels of runs of inner elements. */
typedef struct
{
  gsize outer, channels, inner;
} Slicing;

static Slicing
quant_tensors_slice_along (const VnTensor *data,
                           int             axis)
{
  const VnShape *shape = &data->shape;

  if (axis < 0)
    return (Slicing) { 1, 1, data->n_elements };
  return (Slicing) { (gsize) vn_shape_count (shape, 0, axis), (gsize) shape->dims[axis],
                     (gsize) vn_shape_count (shape, axis + 1, shape->rank) };
}

/*< private >
 * vn_quant_store_integer:
 * @tensor: of (u)int4, 8, 16 or 32, whose elements are stored in ascending order
 * @value: inside the range of its type
 */
void
vn_quant_store_integer (VnTensor *tensor,
                        gsize     i,
                        gint64    value)
{
  switch (vn_dtype_get_bits (tensor->dtype))
    {
    case 2:
      {
        guint8 *byte = (guint8 *) tensor->data + i / 4;
        guint8 bits = value & 3;

        *byte = i % 4 == 0 ? bits : (guint8) (*byte | bits << i % 4 * 2);
        break;
      }
    case 4:
      {
        guint8 *byte = (guint8 *) tensor->data + i / 2;
        guint8 nibble = value & 0xf;

        *byte = i % 2 == 0 ? nibble : *byte | nibble << 4;
        break;
      }
    case 8:
      ((guint8 *) tensor->data)[i] = (guint8) value;
      break;
    case 16:
      ((guint16 *) tensor->data)[i] = (guint16) value;
      break;
    default:
      ((guint32 *) tensor->data)[i] = (guint32) value;
      break;
    }
}

/*< private >
 * vn_quant_integer_tensor:
 * @values: one per element, inside the range of @dtype
 *
 * Returns: (transfer full): a tensor of (u)int4, 8, 16 or 32; of floats of 8 and 16 bit if all values are 0
 */
VnTensor *
vn_quant_integer_tensor (VnDType         dtype,
                         const VnShape  *shape,
                         const gint64   *values,
                         GError        **error)
{
  VnTensor *tensor = vn_tensor_new_constant (dtype, shape, error);

  for (gsize i = 0; tensor != NULL && i < tensor->n_elements; i++)
    vn_quant_store_integer (tensor, i, values[i]);
  return tensor;
}

static void
quant_tensors_store_block (VnTensor    *out,
                           gsize        first,
                           const float *q,
                           gsize        n)
{
  if (vn_dtype_get_bits (out->dtype) == 8)
    {
      guint8 *bytes = (guint8 *) out->data + first;

      for (gsize i = 0; i < n; i++)
        bytes[i] = (guint8) (gint32) q[i];
      return;
    }
  for (gsize i = 0; i < n; i++)
    vn_quant_store_integer (out, first + i, (gint64) q[i]);
}

static void
quant_tensors_quantize_run (const float *x,
                            gsize        n,
                            float        scale,
                            float        zero_point,
                            float        low,
                            float        high,
                            VnTensor    *out,
                            gsize        first)
{
  float q[RUN_BLOCK];

  for (gsize start = 0; start < n; start += RUN_BLOCK)
    {
      gsize count = MIN (RUN_BLOCK, n - start);

      for (gsize i = 0; i < count; i++)
        q[i] = CLAMP (rintf (x[start + i] / scale) + zero_point, low, high);
      quant_tensors_store_block (out, first + start, q, count);
    }
}

/* Quantities that a float cannot count: in double. */
static void
quant_tensors_quantize_wide_run (const float *x,
                                 gsize        n,
                                 float        scale,
                                 double       zero_point,
                                 double       low,
                                 double       high,
                                 guint32     *out)
{
  for (gsize i = 0; i < n; i++)
    {
      double q = (double) rintf (x[i] / scale) + zero_point;

      out[i] = (guint32) (gint64) CLAMP (q, low, high);
    }
}

static void
quant_tensors_quantize_run_to (VnTensor    *result,
                               const float *x,
                               gsize        first,
                               gsize        n,
                               float        scale,
                               double       zero_point,
                               gboolean     narrow)
{
  gint64 low = 0, high = 0;

  if (vn_minifloat_is (result->dtype))
    {
      for (gsize i = 0; i < n; i++)
        ((guint8 *) result->data)[first + i] = vn_minifloat_from (result->dtype, x[i] / scale, TRUE, VN_ROUND_NEAREST);
      return;
    }
  vn_dtype_integer_range (result->dtype, &low, &high);
  if (narrow && low < 0 && zero_point == 0)
    low = -high;
  if (vn_dtype_get_bits (result->dtype) == 32)
    quant_tensors_quantize_wide_run (x, n, scale, zero_point, (double) low, (double) high, (guint32 *) result->data + first);
  else
    quant_tensors_quantize_run (x, n, scale, (float) zero_point, (float) low, (float) high, result, first);
}

/* @zero, @low: (nullable): one per channel, where channels alternate from element to element */
typedef struct
{
  const float    *x;
  VnTensor       *result;
  const VnTensor *scale, *zero_point;
  int             axis;
  gboolean        narrow;
  Slicing         cut;
  float          *zero, *low, high;
} Quantizing;

static void
quant_tensors_quantize_runs (const Quantizing *self,
                             gsize             first,
                             gsize             end)
{
  for (gsize at = first, next; at < end; at = next)
    {
      gsize run = at / self->cut.inner, c = self->axis < 0 ? 0 : run % self->cut.channels;

      next = MIN (end, (run + 1) * self->cut.inner);
      quant_tensors_quantize_run_to (self->result, self->x + at, at, next - at, ((const float *) self->scale->data)[c],
                                     (double) vn_tensor_get_s64 (self->zero_point, c), self->narrow);
    }
}

/* Bytes of elements of channels that follow each other. */
VN_MULTIVERSION
static void
quant_tensors_quantize_channels (const float *x,
                                 gsize        n,
                                 const float *scale,
                                 const float *zero,
                                 const float *low,
                                 float        high,
                                 guint8      *out)
{
  for (gsize i = 0; i < n; i++)
    out[i] = (guint8) (gint32) CLAMP (rintf (x[i] / scale[i]) + zero[i], low[i], high);
}

static void
quant_tensors_quantize_rows (const Quantizing *self,
                             gsize             first,
                             gsize             end)
{
  for (gsize at = first, next; at < end; at = next)
    {
      gsize c = at % self->cut.channels;

      next = MIN (end, at + self->cut.channels - c);
      quant_tensors_quantize_channels (self->x + at, next - at, (const float *) self->scale->data + c, self->zero + c,
                                       self->low + c, self->high, (guint8 *) self->result->data + at);
    }
}

static gboolean
quant_tensors_quantize_part (gsize      item,
                             guint      worker,
                             gpointer   data,
                             GError   **error)
{
  const Quantizing *self = data;
  gsize first = item * QUANTIZED_PART, end = MIN (self->result->n_elements, first + QUANTIZED_PART);

  if (self->zero != NULL)
    quant_tensors_quantize_rows (self, first, end);
  else
    quant_tensors_quantize_runs (self, first, end);
  return TRUE;
}

static gboolean
quant_tensors_list_channels (Quantizing  *self,
                             GError     **error)
{
  gint64 low = 0, high = 0;

  self->zero = vn_try_new (float, self->cut.channels, error);
  self->low = self->zero != NULL ? vn_try_new (float, self->cut.channels, error) : NULL;
  vn_dtype_integer_range (self->result->dtype, &low, &high);
  self->high = (float) high;
  for (gsize c = 0; self->low != NULL && c < self->cut.channels; c++)
    {
      self->zero[c] = (float) vn_tensor_get_s64 (self->zero_point, c);
      self->low[c] = self->narrow && low < 0 && self->zero[c] == 0 ? -self->high : (float) low;
    }
  return self->low != NULL;
}

/*< private >
 * vn_quant_quantize_tensor:
 * @data: float32, without NaN
 * @scale: float32: one, or one per index of @axis
 * @zero_point: integers, as many
 * @axis: channel axis, or -1
 * @narrow: signed integers around 0 end where the highest has its opposite: -127 for 8 bit
 *
 * Returns: (transfer full): the nearest integers, or floats of 8 bit, clamped to the range of @dtype
 */
VnTensor *
vn_quant_quantize_tensor (VnTensor        *data,
                          VnDType          dtype,
                          const VnTensor  *scale,
                          const VnTensor  *zero_point,
                          int              axis,
                          gboolean         narrow,
                          GError         **error)
{
  g_autoptr(VnTensor) aligned = NULL;
  g_autoptr(VnTensor) result = NULL;
  Quantizing self;
  gboolean done;

  g_return_val_if_fail (data != NULL && scale != NULL, NULL);

  aligned = vn_tensor_get_aligned (data, error);
  if (aligned == NULL || (result = vn_tensor_new_constant (dtype, &data->shape, error)) == NULL)
    return NULL;

  self = (Quantizing) { .x = aligned->data, .result = result, .scale = scale, .zero_point = zero_point, .axis = axis,
                        .narrow = narrow, .cut = quant_tensors_slice_along (aligned, axis) };
  done = self.cut.inner > 1 || axis < 0 || vn_dtype_get_bits (dtype) != 8 || vn_minifloat_is (dtype) ||
         quant_tensors_list_channels (&self, error);
  done = done && vn_parallel_for (0, result->n_elements / QUANTIZED_PART + (result->n_elements % QUANTIZED_PART != 0),
                                  quant_tensors_quantize_part, &self, NULL, error);
  g_free (self.zero);
  g_free (self.low);
  vn_tensor_release_pages (data);
  return done ? g_steal_pointer (&result) : NULL;
}

/*< private >
 * vn_quant_cut_to_narrow:
 * @row: of signed integers
 *
 * For weights that stay in float and are quantized while the network runs.
 *
 * Returns: (transfer full): @data without what would become the lowest level of the type, where the zero point is 0
 */
VnTensor *
vn_quant_cut_to_narrow (VnTensor            *data,
                        const VnTensorPlan  *row,
                        GError             **error)
{
  g_autoptr(VnTensor) aligned = NULL;
  VnTensor *result;
  gint64 low, high;
  Slicing cut;

  g_return_val_if_fail (data != NULL && row != NULL, NULL);

  aligned = vn_tensor_get_aligned (data, error);
  result = aligned != NULL ? vn_tensor_new_constant (VN_DTYPE_F32, &data->shape, error) : NULL;
  if (result == NULL)
    return NULL;
  cut = quant_tensors_slice_along (aligned, row->axis);
  vn_dtype_integer_range (row->dtype, &low, &high);
  for (gsize i = 0; i < data->n_elements; i++)
    {
      gsize c = row->axis < 0 ? 0 : i / cut.inner % cut.channels;
      float least = -(float) high * ((const float *) row->scale->data)[c], x = ((const float *) aligned->data)[i];

      ((float *) result->data)[i] = low < 0 && vn_tensor_get_s64 (row->zero_point, c) == 0 ? MAX (x, least) : x;
    }
  return result;
}

static gboolean
quant_tensors_is_exact (const VnTensor *data,
                        const VnTensor *half)
{
  for (gsize i = 0; i < data->n_elements; i++)
    if (((const float *) data->data)[i] != vn_bfloat_to_float (((const guint16 *) half->data)[i]))
      return FALSE;
  return TRUE;
}

/*< private >
 * vn_quant_round_tensor:
 * @data: float32
 * @dtype: (inout): a block format; becomes the type of the result
 * @axis: along which the blocks lie
 *
 * Returns: (transfer full): the rounded values, as bfloat16 if that can hold them (so few bits are left), else as float32
 */
VnTensor *
vn_quant_round_tensor (VnTensor  *data,
                       VnDType   *dtype,
                       int        axis,
                       GError   **error)
{
  g_autoptr(VnTensor) aligned = NULL;
  g_autoptr(VnTensor) rounded = NULL, half = NULL;
  VnBlockFormat format;
  Slicing cut;

  g_return_val_if_fail (data != NULL, NULL);

  aligned = vn_tensor_get_aligned (data, error);
  if (aligned == NULL || !vn_block_format_init (&format, *dtype) ||
      (rounded = vn_tensor_new_constant (VN_DTYPE_F32, &data->shape, error)) == NULL)
    return NULL;
  cut = quant_tensors_slice_along (aligned, data->shape.rank > 0 ? axis : -1);
  for (gsize o = 0; o < cut.outer; o++)
    {
      gsize at = o * cut.channels * cut.inner;

      vn_block_round (&format, (const float *) aligned->data + at, (float *) rounded->data + at, cut.channels, cut.inner);
    }
  half = vn_tensor_convert (rounded, VN_DTYPE_BF16, error);
  if (half == NULL)
    return NULL;
  *dtype = quant_tensors_is_exact (rounded, half) ? VN_DTYPE_BF16 : VN_DTYPE_F32;
  return *dtype == VN_DTYPE_BF16 ? g_steal_pointer (&half) : g_steal_pointer (&rounded);
}

static gboolean
quant_tensors_range_of_run (const float *x,
                            gsize        n,
                            float       *min,
                            float       *max,
                            guint64     *n_infinite)
{
  for (gsize i = 0; i < n; i++)
    {
      if (isnan (x[i]))
        return FALSE;
      if (isinf (x[i]))
        {
          *n_infinite += 1;
          continue;
        }
      *min = MIN (*min, x[i]);
      *max = MAX (*max, x[i]);
    }
  return TRUE;
}

/* Of @n channels side by side, of which there is one number each.
 * Returns: how many are not finite: then nothing is changed */
VN_MULTIVERSION
static guint32
quant_tensors_widen_by_row (const float *x,
                            gsize        n,
                            float       *min,
                            float       *max)
{
  guint32 n_bad = 0;

  for (gsize i = 0; i < n; i++)
    n_bad += !(fabsf (x[i]) < INFINITY);
  for (gsize i = 0; n_bad == 0 && i < n; i++)
    {
      min[i] = (x[i] < min[i] ? x[i] : min[i]) + 0.f;
      max[i] = (x[i] > max[i] ? x[i] : max[i]) + 0.f;
    }
  return n_bad;
}

/* A run of numbers of one channel. */
static gboolean
quant_tensors_widen_by_run (const float *x,
                            gsize        n,
                            float       *min,
                            float       *max,
                            guint64     *n_infinite)
{
  float low, high;

  if (n < SHORT_RUN || vn_floats_find_ends (x, n, &low, &high) > 0)
    return quant_tensors_range_of_run (x, n, min, max, n_infinite);
  *min = MIN (*min, low);
  *max = MAX (*max, high);
  return TRUE;
}

/* @x: one number of each of all channels, or all that follow each other of each */
static gboolean
quant_tensors_range_of_channels (const float   *x,
                                 const Slicing *cut,
                                 float         *min,
                                 float         *max,
                                 guint64       *n_infinite)
{
  if (cut->inner == 1 && quant_tensors_widen_by_row (x, cut->channels, min, max) == 0)
    return TRUE;
  for (gsize c = 0; c < cut->channels; c++)
    if (!quant_tensors_widen_by_run (x + c * cut->inner, cut->inner, &min[c], &max[c], n_infinite))
      return FALSE;
  return TRUE;
}

/* Returns: %FALSE if there is a NaN */
static gboolean
quant_tensors_find_range (const VnTensor *data,
                          float          *min,
                          float          *max,
                          guint64        *n_infinite)
{
  VnTensorFacts facts;

  vn_tensor_get_facts (data, &facts);
  *min = facts.min;
  *max = facts.max;
  *n_infinite = facts.n_infinite;
  return facts.n_nan == 0;
}

static gboolean
quant_tensors_find_ranges (const VnTensor *data,
                           int             axis,
                           float          *min,
                           float          *max,
                           guint64        *n_infinite)
{
  const Slicing cut = quant_tensors_slice_along (data, axis);
  gboolean ok = TRUE;

  *n_infinite = 0;
  for (gsize c = 0; c < cut.channels; c++)
    {
      min[c] = INFINITY;
      max[c] = -INFINITY;
    }
  for (gsize o = 0; o < cut.outer && ok; o++)
    ok = quant_tensors_range_of_channels ((const float *) data->data + o * cut.channels * cut.inner, &cut, min, max, n_infinite);
  for (gsize c = 0; c < cut.channels; c++)
    {
      if (min[c] > max[c])
        min[c] = max[c] = 0;
    }
  return ok;
}

/*< private >
 * vn_quant_data_range:
 * @data: float32
 * @min: (out): smallest finite element, of each channel if @axis is not -1; 0 where there is none
 * @max: (out): largest
 * @n_infinite: (out): elements left out
 *
 * Returns: %FALSE with %VN_ERROR_NUMERIC if @data holds a NaN
 */
gboolean
vn_quant_data_range (VnTensor  *data,
                     int        axis,
                     float     *min,
                     float     *max,
                     guint64   *n_infinite,
                     GError   **error)
{
  g_autoptr(VnTensor) aligned = NULL;
  gboolean ok;

  g_return_val_if_fail (data != NULL, FALSE);

  aligned = axis < 0 ? vn_tensor_ref (data) : vn_tensor_get_aligned (data, error);
  if (aligned == NULL)
    return FALSE;

  ok = axis < 0 ? quant_tensors_find_range (aligned, min, max, n_infinite)
                : quant_tensors_find_ranges (aligned, axis, min, max, n_infinite);
  vn_tensor_release_pages (data);
  if (!ok)
    g_set_error_literal (error, VN_ERROR, VN_ERROR_NUMERIC, _("the data contain NaN; fix them first"));
  return ok;
}
