/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Runs one operator by itself, as the engine would. */

#include "vn-graph-edit.h"
#include "vn-op.h"

/**
 * OpCall:
 * @attributes: "kernel_shape=[3,3] auto_pad=SAME_UPPER alpha=0.5 group=2": lists in brackets, numbers with a point are
 *   floats, others integers, the rest strings
 * @inputs: %NULL elements are omitted inputs
 * @constant: the inputs from 1 on are known when the network is planned
 * @limit: if not 0: fail where outputs or scratch are larger, or the engine would not call the operator
 */
typedef struct
{
  const char   *domain, *type;
  gint64        opset;
  const char   *attributes;
  VnTensor    **inputs;
  guint         n_inputs, n_outputs, n_threads;
  gboolean      constant;
  gboolean      first_known;   /* input 0 is known when shapes are inferred */
  VnActivation  activation;
  gsize         limit;
} OpCall;

gboolean  op_call      (const OpCall *call,
                        VnTensor    **outputs,
                        GError      **error);
VnTensor *op_call_one  (const OpCall *call);
VnNode   *op_call_make_node (VnModel      *model,
                             const OpCall *call);

VnTensor *op_random    (const VnShape *shape,
                        guint32        seed);
VnTensor *op_fence     (VnTensor      *tensor,
                        gboolean       at_end);
void      op_assert_near (const VnTensor *found,
                          const double   *expected,
                          gsize           n,
                          double          relative,
                          double          absolute);
void      op_assert_same (const VnTensor *a,
                          const VnTensor *b);
