/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A layer whose constant weights multiply what it reads, seen as matrices: Conv, ConvTranspose, Gemm, MatMul, and the products of
 * experts. */
#pragma once

#include "vn-quantize.h"
#include "vn-rounding.h"

G_BEGIN_DECLS

/**
 * VnWeightLayer:
 * @label: (owned): vn_node_dup_label() of its node
 * @weight: (owned): name of the constant
 * @groups: matrices, of @rows x @columns each
 * @input: which input of @node the constant is
 * @is_experts: each group is an expert: what it reads is told by the second or third output of @node, @output
 * @taps: positions of the kernel; a column is one of these of one input channel
 * @group_step, @row_step, @channel_step: numbers from one to the next in the constant
 */
typedef struct
{
  const VnNode *node;
  char         *label;
  char         *weight;
  guint         input, output;
  gboolean      is_experts;
  gsize         groups, rows, columns, taps;
  gsize         group_step, row_step, channel_step;
} VnWeightLayer;

VnWeightLayer *vn_weight_layer_new         (const VnNode         *node);
void           vn_weight_layer_free        (VnWeightLayer        *self);
GPtrArray     *vn_weight_layer_list        (const VnNode         *node);
void           vn_weight_layer_count       (const VnWeightLayer  *self,
                                            const VnTensor       *read,
                                            gint64               *n_read);
gsize          vn_weight_layer_get_offset  (const VnWeightLayer  *self,
                                            gsize                 group,
                                            gsize                 row,
                                            gsize                 column);
gsize          vn_weight_layer_gather      (const VnWeightLayer  *self,
                                            const VnTensor       *read,
                                            guint                 seed,
                                            gsize                 n_most,
                                            float                *columns);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnWeightLayer, vn_weight_layer_free)

G_END_DECLS
