/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gradients of operators: what a small change of each output costs, brought back to the inputs. One table,
 * vn-gradients.def, names the operators that have one. */
#pragma once

#include "vn-op.h"
#include "vn-scratch.h"

G_BEGIN_DECLS

/**
 * VnGradientKept: what the gradient of a node keeps from call to call.
 */
typedef struct
{
  gpointer       data;
  GDestroyNotify free;
} VnGradientKept;

/**
 * VnGradientContext: what the gradient of an operator sees.
 * @op: the operator as it was run, with inputs and outputs
 * @out_grads: by output: gradient of the loss by its elements, float32; %NULL: all 0
 * @in_grads: by input: what is added to, float32 of the input's shape; %NULL: not wanted
 * @scratch: working space of this thread
 * @kept: of this node and thread: empty at first
 *
 * Sums are formed in an order that depends on the shapes only. A gradient uses one thread.
 */
typedef struct
{
  VnOpContext       op;
  VnTensor * const *out_grads;
  VnTensor        **in_grads;
  VnScratch        *scratch;
  VnGradientKept   *kept;
} VnGradientContext;

/**
 * VnGradient: one operator that gradients can be brought back through.
 * @domain, @op_type: the operator, in all of its versions; "" is ai.onnx
 * @inputs: bit i: what input i does to the outputs is known; others have no gradient
 * @check: (nullable): whether the attributes of a node are supported
 * @backward: adds to the gradients of the inputs
 */
typedef struct
{
  const char *domain, *op_type;
  guint32     inputs;
  gboolean  (*check)    (const VnNode       *node,
                         GError            **error);
  gboolean  (*backward) (VnGradientContext  *ctx,
                         GError            **error);
} VnGradient;

const VnGradient *vn_gradient_list       (guint              *n);
const VnGradient *vn_gradient_find       (const VnNode       *node);
gboolean          vn_gradient_has_input  (const VnGradient   *self,
                                          guint               input);
gboolean          vn_gradient_check_node (const VnNode       *node,
                                          GError            **error);
gboolean          vn_gradient_run        (const VnGradient   *self,
                                          VnGradientContext  *ctx,
                                          GError            **error);

G_END_DECLS
