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
 * CompareBody: the pairs of a graph inside a node.
 * @graph: of the float network
 * @holder: the node of its main graph that holds it, at some depth
 * @first, @n: of the pairs
 */
typedef struct
{
  const VnGraph *graph;
  const VnNode  *holder;
  guint          first, n;
} CompareBody;

/**
 * ComparePairs:
 * @float_taps, @quant_taps: (element-type VnValue): pair by pair; those of the main graph first
 * @bodies: (element-type CompareBody): in the order of the pairs; none unless they were asked for
 * @grids: (element-type CompareGrid): pair by pair
 * @sources: (element-type guint): the pairs of the values that @quant_taps has behind those of the pairs: what goes into a
 * quantization
 */
typedef struct
{
  GPtrArray *float_taps, *quant_taps;
  GArray    *grids;
  GArray    *sources;
  GArray    *bodies;
} ComparePairs;

gboolean vn_compare_collect_pairs (ComparePairs            *self,
                                   VnModel                 *float_model,
                                   VnModel                 *quant_model,
                                   const VnCompareOptions  *options,
                                   GError                 **error);
guint    vn_compare_find_body     (const ComparePairs      *self,
                                   guint                    pair);
void     vn_compare_clear_pairs   (ComparePairs            *self);

G_END_DECLS
