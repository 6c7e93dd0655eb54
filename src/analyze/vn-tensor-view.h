/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a tensor of two networks looks like: its channels as pictures, its values, and its error by channel. */
#pragma once

#include "vn-error-sum.h"
#include "vn-tensor.h"
#include "vn-value-grid.h"

G_BEGIN_DECLS

/**
 * VnTensorLayout: how the elements of a tensor lie in pictures.
 * @n_channels: at least 1
 * @inner: distance of elements of neighbouring channels
 * @is_whole: one picture has all channels, one a column; else each has one of its own
 * @n_rows, @n_columns: of a picture
 * @n_elements: of the tensor
 */
typedef struct
{
  gsize    n_channels, inner;
  gboolean is_whole;
  gsize    n_rows, n_columns;
  gsize    n_elements;
} VnTensorLayout;

/**
 * VnTensorErrors: sums over what was added.
 * @channels: @n_channels of them
 * @n_clipped: elements of the first network beyond what the second can hold
 */
typedef struct
{
  gsize       n_channels;
  VnErrorSum  all, *channels;
  guint64     n_clipped;
} VnTensorErrors;

#define VN_TENSOR_BARS 48

/**
 * VnTensorValues: the values of one channel in both networks.
 * @low, @high: of both; @low < @high
 * @bars: how many of the first network fall into each of %VN_TENSOR_BARS parts of that
 * @levels, @counts: (array length=n_levels): the values that the second network has, ascending, and how often; where there are
 *   more than %VN_TENSOR_LEVELS, middles of the parts
 * @n_distinct: of them before they were joined
 */
#define VN_TENSOR_LEVELS 256

typedef struct
{
  double   low, high;
  double   first_low, first_high;
  guint    bars[VN_TENSOR_BARS];
  guint    n_levels;
  double   levels[VN_TENSOR_LEVELS];
  guint    counts[VN_TENSOR_LEVELS];
  gsize    n_distinct;
} VnTensorValues;

void     vn_tensor_layout_init      (VnTensorLayout       *self,
                                     const VnShape        *shape,
                                     gboolean              is_weight,
                                     int                   axis);
gboolean vn_tensor_layout_get_index (const VnTensorLayout *self,
                                     gsize                 channel,
                                     gsize                 row,
                                     gsize                 column,
                                     gsize                *index);
gboolean vn_tensor_errors_init      (VnTensorErrors       *self,
                                     const VnTensorLayout *layout,
                                     GError              **error);
void     vn_tensor_errors_clear     (VnTensorErrors       *self);
void     vn_tensor_errors_add       (VnTensorErrors       *self,
                                     const VnTensorLayout *layout,
                                     const float          *first,
                                     const float          *second,
                                     const VnValueGrid    *grid);     /* nullable: of the second */
gboolean vn_tensor_values_init      (VnTensorValues       *self,
                                     const VnTensorLayout *layout,
                                     gsize                 channel,
                                     const float          *first,
                                     const float          *second,
                                     GError              **error);

G_END_DECLS
