/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tensors of a float network and their counterparts in a quantized one. */
#pragma once

#include "vn-compare.h"

G_BEGIN_DECLS

/* How what a quantized network holds is to be read: integers as (q - zero_point) scale; scale 0: they are floats. */
typedef struct
{
  float scale, zero_point;
  const VnTensor *factors;   /* nullable: the quantized network holds the tensor divided by these, along axis 1 */
} CompareGrid;

/**
 * ComparePairs:
 * @float_taps, @quant_taps: (element-type VnValue): pair by pair
 * @grids: (element-type CompareGrid): pair by pair
 * @sources: (element-type guint): the pairs of the values that @quant_taps has behind those of the pairs: what goes into a
 * quantization
 */
typedef struct
{
  GPtrArray *float_taps, *quant_taps;
  GArray    *grids;
  GArray    *sources;
} ComparePairs;

gboolean vn_compare_collect_pairs (ComparePairs            *self,
                                   VnModel                 *float_model,
                                   VnModel                 *quant_model,
                                   const VnCompareOptions  *options,
                                   GError                 **error);
void     vn_compare_clear_pairs   (ComparePairs            *self);

G_END_DECLS
