/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-quantize.h"

G_BEGIN_DECLS

#define VN_NPU_NONE G_MININT

/**
 * VnNpuMove: a scale that was changed to meet a limit of the processor.
 * @tensor: whose scale; @from, @to: its positions, the scale being 2^-position
 * @rule: id of the limit, as in the setting “npu-rules”; @reason: translated
 */
typedef struct
{
  char       *tensor;
  int         from, to;
  const char *rule, *reason;
} VnNpuMove;

/**
 * VnNpuNode: a node as a processor that shifts computes it. %VN_NPU_NONE stands for what it does not have.
 * @inputs, @weight, @bias, @output: positions; of several activations the first two
 * @cut: by how many bits sums of products are shifted to the right; @bias_shift: a bias to the left
 * @read: how far the positions of what is added lie apart; @write: by how many bits sums or products are shifted
 * @moves: of VnNpuMove: what was changed for this node, in order
 */
typedef struct
{
  char      *node, *op_type;
  int        inputs[2], weight, bias, output;
  int        cut, bias_shift, read, write;
  GPtrArray *moves;
} VnNpuNode;

guint            vn_quant_plan_get_n_npu_nodes (VnQuantPlan  *self);   /* 0 without the setting “npu” */
const VnNpuNode *vn_quant_plan_get_npu_node    (VnQuantPlan  *self,
                                                guint         i);

double           vn_npu_pool_factor            (gint64               height,
                                                gint64               width);

/* @operators: (nullable): ids of the setting “npu-operators”; NULL: the usual ones. npu-simulate.c */
void             vn_npu_simulate               (VnModel             *model,
                                                const char * const  *operators,
                                                VnNotes             *notes);

G_END_DECLS
