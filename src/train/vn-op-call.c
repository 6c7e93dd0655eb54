/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Running one node: types are inferred from what it is given, its kernel runs, its results stay until the next call. */
#include "vn-op-call.h"

#include "vn-error.h"
#include "vn-i18n.h"

#include <string.h>

static void
op_call_prefix_error (const VnNode  *node,
                      GError       **error)
{
  g_autofree char *label = vn_node_dup_label (node);

  g_prefix_error (error, _("Node “%s” (%s): "), label, node->op_type);
}

/**
 * vn_op_call_init:
 * @node: must outlive the call
 *
 * Returns: %FALSE with %VN_ERROR_UNSUPPORTED if the operator is not known, or makes no tensors
 */
gboolean
vn_op_call_init (VnOpCall      *self,
                 const VnNode  *node,
                 GError       **error)
{
  const VnOp *op;
  gint64 opset;

  g_return_val_if_fail (self != NULL && node != NULL, FALSE);

  *self = (VnOpCall) { 0 };
  op = vn_op_lookup_node (node, error);
  if (op == NULL)
    return FALSE;
  if (op->makes_outputs || op->run == NULL || vn_node_has_graphs (node))
    {
      g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("%s cannot be trained"), node->op_type);
      op_call_prefix_error (node, error);
      return FALSE;
    }
  opset = vn_model_get_opset (node->graph->model, node->domain);
  self->in_types = g_new0 (VnTensorType, node->inputs->len + 1);
  self->out_types = g_new0 (VnTensorType, node->outputs->len + 1);
  self->in = g_new0 (VnTensor *, node->inputs->len + 1);
  self->out = g_new0 (VnTensor *, node->outputs->len + 1);
  self->ctx = (VnOpContext) {
    .op = op, .node = node, .opset = MAX (opset, 1), .n_inputs = node->inputs->len, .n_outputs = node->outputs->len,
    .in_types = self->in_types, .out_types = self->out_types, .in = self->in, .out = self->out, .n_threads = 1,
  };
  return TRUE;
}

void
vn_op_call_clear (VnOpCall *self)
{
  g_return_if_fail (self != NULL);

  for (guint i = 0; i < self->ctx.n_outputs; i++)
    g_clear_pointer (&self->out[i], vn_tensor_unref);
  g_free (self->in_types);
  g_free (self->out_types);
  g_free (self->in);
  g_free (self->out);
  *self = (VnOpCall) { 0 };
}

/* Types from what is given. What inference already knows of the results lies in `out` then. */
static gboolean
op_call_infer (VnOpCall  *self,
               GError   **error)
{
  VnOpContext *ctx = &self->ctx;

  for (guint i = 0; i < ctx->n_inputs; i++)
    self->in_types[i] = self->in[i] != NULL ? vn_tensor_get_type (self->in[i])
                                            : (VnTensorType) { VN_DTYPE_UNDEFINED, VN_SHAPE_UNKNOWN };
  for (guint i = 0; i < ctx->n_outputs; i++)
    self->out_types[i] = (VnTensorType) { VN_DTYPE_UNDEFINED, VN_SHAPE_UNKNOWN };
  ctx->scratch_bytes = 0;
  return vn_op_check_call (ctx, error) && vn_op_infer (ctx, error);
}

/* A result of the last call serves again where it is of the same type. */
static gboolean
op_call_make_output (VnOpCall   *self,
                     guint       i,
                     VnTensor  **kept,
                     GError    **error)
{
  const VnTensorType *type = &self->out_types[i];

  if (self->out[i] != NULL || vn_node_get_output (self->ctx.node, i) == NULL)
    return TRUE;
  if (type->dtype == VN_DTYPE_UNDEFINED || !vn_shape_is_static (&type->shape) || type->kind != VN_KIND_TENSOR)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("the shape of its output “%s” cannot be inferred"),
                   vn_node_get_output (self->ctx.node, i)->name);
      return FALSE;
    }
  if (*kept != NULL && (*kept)->dtype == type->dtype && vn_shape_equal (&(*kept)->shape, &type->shape))
    self->out[i] = g_steal_pointer (kept);
  else
    self->out[i] = vn_tensor_new (type->dtype, &type->shape, error);
  return self->out[i] != NULL;
}

/* Whether inference has already found all of the results. */
static gboolean
op_call_is_known (const VnOpCall *self)
{
  for (guint i = 0; i < self->ctx.n_outputs; i++)
    if (self->out[i] == NULL && vn_node_get_output (self->ctx.node, i) != NULL)
      return FALSE;
  return TRUE;
}

static gboolean
op_call_compute (VnOpCall   *self,
                 VnTensor  **kept,
                 VnScratch  *scratch,
                 GError    **error)
{
  VnOpContext *ctx = &self->ctx;

  if (!op_call_infer (self, error))
    return FALSE;
  if (op_call_is_known (self))
    return TRUE;
  if (vn_op_is_alias (ctx->op, ctx->node) && self->in[0] != NULL && self->in[0]->dtype == self->out_types[0].dtype &&
      ctx->n_outputs == 1)
    {
      self->out[0] = vn_tensor_new_reshaped (self->in[0], &self->out_types[0].shape, error);
      return self->out[0] != NULL;
    }
  if (ctx->n_inputs > 0 && !vn_op_takes (ctx->op, self->in_types[0].dtype))
    {
      g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("it does not support %s data"),
                   vn_dtype_get_name (self->in_types[0].dtype));
      return FALSE;
    }
  for (guint i = 0; i < ctx->n_outputs; i++)
    if (!op_call_make_output (self, i, &kept[i], error))
      return FALSE;
  ctx->scratch = vn_scratch_reserve (scratch, ctx->scratch_bytes, 1, error);
  return ctx->scratch != NULL && vn_op_run (ctx, error);
}

/**
 * vn_op_call_run:
 * @scratch: working space of this thread
 *
 * Computes the outputs from what stands in @self->in.
 *
 * Returns: %FALSE with an error that names the node; there are no outputs then
 */
gboolean
vn_op_call_run (VnOpCall   *self,
                VnScratch  *scratch,
                GError    **error)
{
  g_autofree VnTensor **kept = NULL;
  gboolean ok;
  guint n;

  g_return_val_if_fail (self != NULL && scratch != NULL, FALSE);

  n = self->ctx.n_outputs;
  kept = g_memdup2 (self->out, sizeof *kept * (n + 1));
  memset (self->out, 0, sizeof *self->out * n);
  ok = op_call_compute (self, kept, scratch, error);
  vn_tensor_clear_all (kept, n);
  if (ok)
    return TRUE;
  vn_tensor_clear_all (self->out, n);
  op_call_prefix_error (self->ctx.node, error);
  return FALSE;
}
