/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Linear interpolation of the last two axes.
 *
 * A quantized network puts values on a grid of steps; doubling its size puts one output in sixteen exactly between two
 * steps, where the last bit of the sum decides which way it is rounded. So the four terms are added as ONNX Runtime adds
 * them, wx0 wy0 x00 + wx1 wy0 x01 + wx0 wy1 x10 + wx1 wy1 x11 from left to right and every product rounded: these loops
 * are not compiled for processors that fuse multiplication and addition. */
#include "vn-resize-private.h"

static void
resize_bilinear_blend_row (const VnResizeTable *columns,
                           const float         *upper,
                           const float         *lower,
                           float                weight_upper,
                           float                weight_lower,
                           float               *y,
                           gsize                n)
{
  for (gsize i = 0; i < n; i++)
    {
      const gint32 *at = columns->index + 2 * i;
      const float *weight = columns->weight + 2 * i;
      float sum = weight[0] * weight_upper * upper[at[0]];

      sum += weight[1] * weight_upper * upper[at[1]];
      sum += weight[0] * weight_lower * lower[at[0]];
      sum += weight[1] * weight_lower * lower[at[1]];
      y[i] = sum;
    }
}

/**
 * vn_resize_is_bilinear:
 *
 * Returns: %TRUE if just the last two axes change, linearly, and vn_resize_bilinear() computes it
 */
gboolean
vn_resize_is_bilinear (const VnResize *self,
                       VnDType         dtype)
{
  if (self->mode != VN_RESIZE_LINEAR || self->rank < 2 || dtype != VN_DTYPE_F32 ||
      self->coord == VN_COORD_TF_CROP_AND_RESIZE ||
      (self->antialias && MIN (self->axes[self->rank - 1].scale, self->axes[self->rank - 2].scale) < 1.f))
    return FALSE;
  for (int d = 0; d < self->rank - 2; d++)
    if (vn_resize_needs_pass (self, d))
      return FALSE;
  return TRUE;
}

/**
 * vn_resize_bilinear:
 * @rows: table of the last axis but one, two taps
 * @columns: table of the last axis, two taps
 */
void
vn_resize_bilinear (const VnResize      *self,
                    const VnResizeTable *rows,
                    const VnResizeTable *columns,
                    const float         *x,
                    float               *y,
                    gsize                n_planes)
{
  gsize in_h = (gsize) self->axes[self->rank - 2].in, in_w = (gsize) self->axes[self->rank - 1].in;
  gsize out_h = (gsize) self->axes[self->rank - 2].out, out_w = (gsize) self->axes[self->rank - 1].out;

  for (gsize plane = 0; plane < n_planes; plane++, x += in_h * in_w)
    for (gsize i = 0; i < out_h; i++, y += out_w)
      resize_bilinear_blend_row (columns, x + (gsize) rows->index[2 * i] * in_w, x + (gsize) rows->index[2 * i + 1] * in_w,
                                 rows->weight[2 * i], rows->weight[2 * i + 1], y, out_w);
}
