/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rounding to a grid of integers and back, in floats, with gradients by what is rounded and by the scales. */
#pragma once

#include "vn-quant-plan.h"
#include "vn-recipe.h"

G_BEGIN_DECLS

/**
 * VnFakeQuantizer: the grid of one tensor: scale times integers from low to high, the zero point taken off.
 * @n: scales
 * @inner, @channels: element i has the scale i / @inner % @channels, if there are several
 * @where: (nullable): for blocks, instead of these: the scale of each element
 * @scales, @low, @high: (array length=n)
 */
typedef struct
{
  gsize    n, inner, channels;
  guint32 *where;
  float   *scales, *low, *high;
} VnFakeQuantizer;

VnFakeQuantizer *vn_fake_quantizer_new          (const VnQuantRow      *row,
                                                 const VnShape         *shape,
                                                 GError               **error);
VnFakeQuantizer *vn_fake_quantizer_new_plain    (float                  scale,
                                                 float                  low,
                                                 float                  high);
void             vn_fake_quantizer_free         (VnFakeQuantizer       *self);
gsize            vn_fake_quantizer_find_scale   (const VnFakeQuantizer *self,
                                                 gsize                  i);
void             vn_fake_quantizer_forward      (const VnFakeQuantizer *self,
                                                 gsize                  n,
                                                 const float           *x,
                                                 float                 *y);
void             vn_fake_quantizer_backward     (const VnFakeQuantizer *self,
                                                 gsize                  n,
                                                 const float           *x,
                                                 float                 *gradient,
                                                 double                *octaves);   /* nullable */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnFakeQuantizer, vn_fake_quantizer_free)

G_END_DECLS
