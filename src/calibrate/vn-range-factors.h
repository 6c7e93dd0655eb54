/* SPDX-License-Identifier: GPL-3.0-or-later */
/* By what the ranges of tensors are multiplied before scales are made of them. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/**
 * VnRangeFactor: of one tensor.
 * @bits: of the type it was found for; 0: any. Finer types need not cut values off
 * @n: channels with a factor of their own; 1: one for all
 * @low, @high: (array length=n): for the lower and the upper end
 */
typedef struct
{
  guint  bits;
  gsize  n;
  float *low, *high;
} VnRangeFactor;

/**
 * VnRangeFactors: a table of them by name of the tensor.
 */
typedef struct _VnRangeFactors VnRangeFactors;

VnRangeFactors      *vn_range_factors_new         (void);
VnRangeFactors      *vn_range_factors_new_uniform (float                 low,
                                                   float                 high);
VnRangeFactors      *vn_range_factors_ref         (VnRangeFactors       *self);
void                 vn_range_factors_unref       (VnRangeFactors       *self);
void                 vn_range_factors_set         (VnRangeFactors       *self,
                                                   const char           *tensor,
                                                   guint                 bits,
                                                   gsize                 n,
                                                   const float          *low,
                                                   const float          *high);
const VnRangeFactor *vn_range_factors_get         (const VnRangeFactors *self,
                                                   const char           *tensor);
void                 vn_range_factors_apply       (const VnRangeFactors *self,
                                                   const char           *tensor,
                                                   guint                 bits,
                                                   gsize                 n,
                                                   float                *low,
                                                   float                *high);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnRangeFactors, vn_range_factors_unref)

G_END_DECLS
