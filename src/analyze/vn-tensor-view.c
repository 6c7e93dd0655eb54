/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cuts tensors into channels and pictures, and counts what two networks have in them. */
#include "vn-tensor-view.h"

#include "vn-memory.h"

#include <math.h>
#include <string.h>

#define FEW_VALUES 8

/* A list of numbers is folded into lines, so that it can be seen. */
static void
tensor_view_fold (VnTensorLayout *self,
                  gsize           n)
{
  self->is_whole = TRUE;
  self->n_columns = MAX ((gsize) ceil (sqrt ((double) n)), 1);
  self->n_rows = (n + self->n_columns - 1) / self->n_columns;
}

static void
tensor_view_init_weight (VnTensorLayout *self,
                         const VnShape  *shape,
                         int             axis)
{
  self->n_channels = (gsize) MAX (shape->dims[axis], 1);
  self->inner = (gsize) vn_shape_count (shape, axis + 1, shape->rank);
  if (shape->rank == 2)
    {
      self->is_whole = TRUE;
      self->n_rows = (gsize) shape->dims[0];
      self->n_columns = (gsize) shape->dims[1];
      return;
    }
  self->n_columns = (gsize) vn_shape_count (shape, 2, shape->rank);
  self->n_rows = (gsize) shape->dims[1 - axis];
}

static void
tensor_view_init_activation (VnTensorLayout *self,
                             const VnShape  *shape)
{
  int axis = shape->rank >= 4 ? 1 : shape->rank - 1;

  self->n_channels = (gsize) MAX (shape->dims[axis], 1);
  self->inner = (gsize) vn_shape_count (shape, axis + 1, shape->rank);
  self->n_columns = (gsize) shape->dims[shape->rank - 1];
  self->is_whole = shape->rank < 4;
  self->n_rows = shape->rank >= 4 ? (gsize) vn_shape_count (shape, 2, shape->rank - 1) : (gsize) shape->dims[shape->rank - 2];
}

/**
 * vn_tensor_layout_init:
 * @shape: static
 * @is_weight: of a convolution or product; else what flows between nodes
 * @axis: of the channels of a weight: 0 or 1
 *
 * Pictures are height and width of an activation, one a channel, of its first sample; of a weight of a convolution the kernels of
 * one channel below each other; matrices as they are; lists in lines.
 */
void
vn_tensor_layout_init (VnTensorLayout *self,
                       const VnShape  *shape,
                       gboolean        is_weight,
                       int             axis)
{
  gsize n = 0;

  g_return_if_fail (self != NULL && shape != NULL && axis >= 0 && axis <= 1);

  if (!vn_shape_n_elements (shape, &n))
    n = 0;
  *self = (VnTensorLayout) { .n_channels = 1, .inner = 1, .n_elements = n };
  if (shape->rank < 2 || n == 0 || (shape->rank == 2 && (shape->dims[0] == 1 || shape->dims[1] == 1)))
    {
      tensor_view_fold (self, n);
      self->n_channels = shape->rank > 0 && n > 0 ? n : 1;
      return;
    }
  if (is_weight)
    tensor_view_init_weight (self, shape, axis);
  else
    tensor_view_init_activation (self, shape);
}

/**
 * vn_tensor_layout_get_index:
 * @index: (out): of the element at @row and @column of the picture of @channel
 *
 * Returns: %FALSE: there is none: the last line of a list may be shorter
 */
gboolean
vn_tensor_layout_get_index (const VnTensorLayout *self,
                            gsize                 channel,
                            gsize                 row,
                            gsize                 column,
                            gsize                *index)
{
  g_return_val_if_fail (self != NULL && index != NULL, FALSE);

  if (row >= self->n_rows || column >= self->n_columns || channel >= self->n_channels)
    return FALSE;
  if (self->is_whole)
    *index = row * self->n_columns + column;
  else if (self->inner >= self->n_rows * self->n_columns)   /* the channel lies in one piece */
    *index = channel * self->inner + row * self->n_columns + column;
  else                                                       /* channels along the second axis of a weight */
    *index = (row * self->n_channels + channel) * self->n_columns + column;
  return *index < self->n_elements;
}

/* ---- errors ---- */

/**
 * vn_tensor_errors_init:
 *
 * Returns: %FALSE: no memory for so many channels
 */
gboolean
vn_tensor_errors_init (VnTensorErrors        *self,
                       const VnTensorLayout  *layout,
                       GError               **error)
{
  g_return_val_if_fail (self != NULL && layout != NULL, FALSE);

  *self = (VnTensorErrors) { .n_channels = layout->n_channels };
  vn_error_sum_init (&self->all);
  self->channels = vn_try_new (VnErrorSum, layout->n_channels, error);
  for (gsize i = 0; self->channels != NULL && i < self->n_channels; i++)
    vn_error_sum_init (&self->channels[i]);
  return self->channels != NULL;
}

void
vn_tensor_errors_clear (VnTensorErrors *self)
{
  g_return_if_fail (self != NULL);

  g_clear_pointer (&self->channels, g_free);
  self->n_channels = 0;
}

/**
 * vn_tensor_errors_add:
 * @first, @second: the elements of one sample
 * @grid: (nullable): what the second can hold
 */
void
vn_tensor_errors_add (VnTensorErrors       *self,
                      const VnTensorLayout *layout,
                      const float          *first,
                      const float          *second,
                      const VnValueGrid    *grid)
{
  gint64 least = 0, most = 0;
  gboolean bounded;

  g_return_if_fail (self != NULL && layout != NULL && first != NULL && second != NULL && self->n_channels == layout->n_channels);

  bounded = grid != NULL && grid->scale > 0 && vn_dtype_integer_range (grid->dtype, &least, &most);
  for (gsize i = 0; i < layout->n_elements; i += layout->inner)
    {
      VnErrorSum *sum = &self->channels[i / layout->inner % layout->n_channels];

      vn_error_sum_add (sum, first + i, second + i, MIN (layout->inner, layout->n_elements - i));
    }
  vn_error_sum_add (&self->all, first, second, layout->n_elements);
  for (gsize i = 0; bounded && i < layout->n_elements; i++)
    {
      double q = first[i] / grid->scale + (double) grid->zero_point;

      self->n_clipped += q < (double) least - 0.5 || q > (double) most + 0.5;
    }
}

/* ---- values ---- */

static int
tensor_view_compare_floats (gconstpointer a,
                            gconstpointer b)
{
  float x = *(const float *) a, y = *(const float *) b;

  return (x > y) - (x < y);
}

/* The finite elements of a channel; where it has only a few, those of all. */
static gsize
tensor_view_collect (const VnTensorLayout *layout,
                     gsize                 channel,
                     const float          *elements,
                     float                *to)
{
  gboolean all = layout->n_elements / layout->n_channels < FEW_VALUES;
  gsize n = 0, step = all ? layout->n_elements : layout->inner;

  for (gsize start = all ? 0 : channel * step; start < layout->n_elements; start += all ? step : layout->n_channels * step)
    for (gsize i = start; i < MIN (start + step, layout->n_elements); i++)
      if (isfinite (elements[i]))
        to[n++] = elements[i];
  return n;
}

static guint
tensor_view_find_part (const VnTensorValues *self,
                       double                value,
                       guint                 n)
{
  return MIN ((guint) MAX ((value - self->low) / (self->high - self->low) * n, 0), n - 1);
}

/* @values: sorted */
static void
tensor_view_count_levels (VnTensorValues *self,
                          const float    *values,
                          gsize           n)
{
  gboolean joined;

  for (gsize i = 0; i < n; i++)
    self->n_distinct += i == 0 || values[i] != values[i - 1];
  joined = self->n_distinct > VN_TENSOR_LEVELS;
  for (guint i = 0; joined && i < VN_TENSOR_BARS; i++)
    self->levels[i] = self->low + (i + 0.5) / VN_TENSOR_BARS * (self->high - self->low);
  self->n_levels = joined ? VN_TENSOR_BARS : 0;
  for (gsize i = 0; i < n; i++)
    {
      if (joined)
        {
          self->counts[tensor_view_find_part (self, values[i], VN_TENSOR_BARS)]++;
          continue;
        }
      if (i == 0 || values[i] != values[i - 1])
        self->levels[self->n_levels++] = values[i];
      self->counts[self->n_levels - 1]++;
    }
}

/* Neither empty nor a point. */
static void
tensor_view_find_span (VnTensorValues *self,
                       const float    *first,
                       gsize           n_first,
                       const float    *second,
                       gsize           n_second)
{
  self->first_low = n_first > 0 ? first[0] : 0;
  self->first_high = n_first > 0 ? first[n_first - 1] : 0;
  self->low = n_second > 0 ? MIN (self->first_low, second[0]) : self->first_low;
  self->high = n_second > 0 ? MAX (self->first_high, second[n_second - 1]) : self->first_high;
  if (self->low < self->high)
    return;
  self->low -= MAX (fabs (self->low) * 0.1, 1e-6);
  self->high += MAX (fabs (self->high) * 0.1, 1e-6);
}

/**
 * vn_tensor_values_init:
 * @first, @second: the elements of one sample
 *
 * Counts the values of a channel; what is not finite is left out.
 *
 * Returns: %FALSE: no memory to sort them
 */
gboolean
vn_tensor_values_init (VnTensorValues        *self,
                       const VnTensorLayout  *layout,
                       gsize                  channel,
                       const float           *first,
                       const float           *second,
                       GError               **error)
{
  gsize most, n_first, n_second;
  g_autofree float *a = NULL, *b = NULL;

  g_return_val_if_fail (self != NULL && layout != NULL && channel < layout->n_channels, FALSE);

  memset (self, 0, sizeof *self);
  most = MAX (layout->n_elements, 1);
  a = vn_try_new (float, most, error);
  b = a != NULL ? vn_try_new (float, most, error) : NULL;
  if (b == NULL)
    return FALSE;
  n_first = tensor_view_collect (layout, channel, first, a);
  n_second = tensor_view_collect (layout, channel, second, b);
  qsort (a, n_first, sizeof *a, tensor_view_compare_floats);
  qsort (b, n_second, sizeof *b, tensor_view_compare_floats);
  tensor_view_find_span (self, a, n_first, b, n_second);
  for (gsize i = 0; i < n_first; i++)
    self->bars[tensor_view_find_part (self, a[i], VN_TENSOR_BARS)]++;
  tensor_view_count_levels (self, b, n_second);
  return TRUE;
}
