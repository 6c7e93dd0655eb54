/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What depends on constants only is computed now: the kernels of the operators run once, here. Shapes that are known
 * count as constants. Quantized weights are left as they are, and so is what would grow the file. */
#include "vn-rewrite-private.h"

#include "vn-memory.h"

#include <stdlib.h>

/* A result may be so large, or not much larger than what it is made of: Expand and ConstantOfShape stay. */
#define FREE_BYTES ((gsize) 64 << 10)
#define MOST_FOLDED ((gsize) 256 << 20)   /* in all, beyond so many times the model: in steps, a little becomes any amount */
#define FOLDED_TIMES 8

typedef struct
{
  VnOpContext   ctx;
  VnTensorType *in_types, *out_types;
  VnTensor    **in, **out;
} Call;

static void
fold_call_clear (Call *self)
{
  for (guint i = 0; i < self->ctx.n_inputs; i++)
    g_clear_pointer (&self->in[i], vn_tensor_unref);
  for (guint i = 0; i < self->ctx.n_outputs; i++)
    g_clear_pointer (&self->out[i], vn_tensor_unref);
  g_free (self->in);
  g_free (self->out);
  g_free (self->in_types);
  g_free (self->out_types);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Call, fold_call_clear)

static gboolean
fold_call_init (Call          *self,
                const VnNode  *node,
                const VnOp    *op,
                gint64         opset,
                GError       **error)
{
  guint n_in = node->inputs->len, n_out = node->outputs->len;

  *self = (Call) {
    .ctx = { .op = op, .node = node, .opset = opset, .n_inputs = n_in, .n_outputs = n_out, .n_threads = 1 },
    .in_types = g_new0 (VnTensorType, n_in + 1), .out_types = g_new0 (VnTensorType, n_out + 1),
    .in = g_new0 (VnTensor *, n_in + 1), .out = g_new0 (VnTensor *, n_out + 1),
  };
  self->ctx.in_types = self->in_types;
  self->ctx.out_types = self->out_types;
  self->ctx.in = self->in;
  self->ctx.out = self->out;
  for (guint i = 0; i < n_out; i++)
    self->out_types[i].shape = VN_SHAPE_UNKNOWN;
  for (guint i = 0; i < n_in; i++)
    {
      const VnValue *value = vn_node_get_input (node, i);

      self->in_types[i].shape = VN_SHAPE_UNKNOWN;
      if (value == NULL)
        continue;
      self->in_types[i] = vn_type_get_declared (&value->type);
      if (value->initializer == NULL)
        continue;
      self->in[i] = vn_tensor_get_aligned (value->initializer, error);
      if (self->in[i] == NULL)
        return FALSE;
      self->in_types[i] = (VnTensorType) { value->initializer->dtype, value->initializer->shape };
    }
  return TRUE;
}

static gboolean
fold_is_excluded (const VnNode *node)
{
  static const char * const types[] = { "Constant", "RandomNormal", "RandomUniform", "RandomNormalLike",
                                        "RandomUniformLike", "Multinomial", "Bernoulli", "Dropout",
                                        "QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", NULL };

  if (*node->domain != '\0' || g_strv_contains (types, node->op_type))
    return TRUE;
  for (guint i = 0; i < node->attrs->len; i++)
    {
      const VnAttr *attr = g_ptr_array_index (node->attrs, i);

      if (attr->graph != NULL || attr->graphs != NULL || attr->ref_name != NULL)
        return TRUE;
    }
  return FALSE;
}

static gboolean
fold_has_constant_inputs (const VnNode *node)
{
  for (guint i = 0; i < node->inputs->len; i++)
    {
      const VnValue *value = vn_node_get_input (node, i);

      if (value != NULL && value->initializer == NULL)
        return FALSE;
    }
  return TRUE;
}

/* Shape and Size need no more than the type of their input. */
static gboolean
fold_may (GHashTable   *returned,
          const VnNode *node)
{
  if (fold_is_excluded (node) || node->outputs->len == 0 ||
      !(fold_has_constant_inputs (node) || vn_node_is (node, "Shape") || vn_node_is (node, "Size")))
    return FALSE;
  for (guint i = 0; i < node->outputs->len; i++)
    {
      const VnValue *value = vn_node_get_output (node, i);

      /* An initializer as output of the network is not accepted everywhere. */
      if (value != NULL && vn_rewrite_is_kept (returned, value))
        return FALSE;
    }
  return TRUE;
}

static gboolean
fold_has_results (const Call *call)
{
  for (guint i = 0; i < call->ctx.n_outputs; i++)
    if (vn_node_get_output (call->ctx.node, i) != NULL && call->out[i] == NULL)
      return FALSE;
  return TRUE;
}

/* What is to be computed may be a little more than what it is computed from, but many such steps must not add up. */
static gboolean
fold_is_small_enough (VnPassContext *ctx,
                      const Call    *call)
{
  gsize in_bytes = 0, out_bytes = 0;

  for (guint i = 0; i < call->ctx.n_inputs; i++)
    in_bytes += call->in[i] != NULL ? call->in[i]->n_bytes : 0;
  for (guint i = 0; i < call->ctx.n_outputs; i++)
    {
      const VnTensorType *type = &call->out_types[i];
      gsize n_elements, n_bytes;

      if (type->dtype == VN_DTYPE_UNDEFINED || !vn_shape_is_static (&type->shape) ||
          !vn_tensor_size_in_bytes (type->dtype, &type->shape, &n_elements, &n_bytes) || n_bytes > G_MAXUINT32)
        return FALSE;
      out_bytes += n_bytes;
    }
  if ((out_bytes > FREE_BYTES && out_bytes > 2 * in_bytes) ||
      ctx->n_folded + out_bytes > MOST_FOLDED + FOLDED_TIMES * ctx->model->file_size)
    return FALSE;
  ctx->n_folded += out_bytes;
  return TRUE;
}

static gboolean
fold_has_kernel (const Call *call)
{
  const VnOp *op = call->ctx.op;

  return call->ctx.n_inputs == 0 || vn_op_takes (op, call->in_types[0].dtype);
}

static gboolean
fold_run_with_scratch (VnOpContext  *ctx,
                       GError      **error)
{
  gpointer scratch = NULL;
  gboolean ok;

  if (ctx->scratch_bytes <= G_MAXSSIZE - 64)
    scratch = vn_memory_try_aligned (ctx->scratch_bytes + 64, 64);
  if (scratch == NULL)
    {
      vn_memory_set_error (ctx->scratch_bytes, error);
      return FALSE;
    }
  ctx->scratch = scratch;
  ok = vn_op_prepare (ctx, &ctx->prepared, error) && vn_op_run (ctx, error);
  vn_op_release (ctx->op, ctx->prepared);
  free (scratch);
  return ok;
}

/* Fills call->out, or leaves it empty if the operator cannot be computed here. */
static gboolean
fold_compute (Call    *call,
              GError **error)
{
  VnOpContext *ctx = &call->ctx;

  if (vn_op_is_alias (ctx->op, ctx->node) && call->in[0] != NULL && ctx->n_outputs == 1 &&
      call->in[0]->dtype == call->out_types[0].dtype)
    {
      call->out[0] = vn_tensor_new_reshaped (call->in[0], &call->out_types[0].shape, error);
      return call->out[0] != NULL;
    }
  if (ctx->op->run == NULL || !fold_has_kernel (call))
    return TRUE;
  for (guint i = 0; i < ctx->n_outputs; i++)
    if (call->out[i] == NULL)
      {
        VnDType dtype = call->out_types[i].dtype;

        call->out[i] = dtype == VN_DTYPE_STRING ? vn_tensor_new (dtype, &call->out_types[i].shape, error)
                       : vn_tensor_new_constant (dtype, &call->out_types[i].shape, error);
        if (call->out[i] == NULL)
          return FALSE;
      }
  return fold_run_with_scratch (ctx, error);
}

static void
fold_replace_node (VnPassContext *ctx,
                   GHashTable    *returned,
                   VnNode        *node,
                   const Call    *call)
{
  g_autofree char *label = vn_node_dup_label (node);
  g_autofree char *op_type = g_strdup (node->op_type);
  g_autoptr(GPtrArray) outputs = g_ptr_array_copy (node->outputs, NULL, NULL);
  const char *target = NULL;

  vn_rewrite_need_ir (ctx, 4);
  vn_graph_remove_node (node->graph, node);
  for (guint i = 0; i < outputs->len; i++)
    {
      VnValue *value = g_ptr_array_index (outputs, i);

      if (value == NULL)
        continue;
      vn_graph_set_initializer (value->graph, value, call->out[i]);
      value->has_info = FALSE;
      target = target != NULL ? target : value->name;
    }
  vn_edit_log_add (ctx->log, "fold", label, target, _("%s folded into the initializer %s"), op_type,
                   target != NULL ? target : "");
}

static gboolean
fold_node (VnPassContext  *ctx,
           GHashTable     *returned,
           VnNode         *node,
           gboolean        large,
           GError        **error)
{
  const VnOp *op = vn_op_lookup_node (node, NULL);
  g_auto(Call) call = { 0 };
  g_autoptr(GError) local = NULL;

  if (op == NULL || op->makes_outputs)
    return TRUE;
  if (!fold_call_init (&call, node, op, vn_model_get_opset (ctx->model, node->domain), error))
    return FALSE;

  /* What cannot be computed now fails when the network runs, or never does: it just stays. */
  if (!vn_op_check_call (&call.ctx, &local) || !vn_op_infer (&call.ctx, &local))
    return TRUE;
  if (!fold_has_results (&call))
    {
      if (!fold_has_constant_inputs (node) || (!large && !fold_is_small_enough (ctx, &call)))
        return TRUE;
      if (!fold_compute (&call, &local) && vn_error_is_memory (local))
        {
          g_propagate_error (error, g_steal_pointer (&local));
          return FALSE;
        }
      if (local != NULL || !fold_has_results (&call))
        return TRUE;
    }
  fold_replace_node (ctx, returned, node, &call);
  return TRUE;
}

/**
 * vn_rewrite_fold_node:
 *
 * Computes a node of constants that "fold" leaves alone because of what it is, if its output is no output of the network.
 */
gboolean
vn_rewrite_fold_node (VnPassContext  *ctx,
                      GHashTable     *returned,
                      VnNode         *node,
                      GError        **error)
{
  const VnValue *value = vn_node_get_output (node, 0);

  if (node->outputs->len != 1 || value == NULL || vn_rewrite_is_kept (returned, value) || !fold_has_constant_inputs (node))
    return TRUE;
  return fold_node (ctx, returned, node, TRUE, error);
}

static gboolean
fold_visit (VnPassContext  *ctx,
            GHashTable     *returned,
            VnNode         *node,
            GError        **error)
{
  return !fold_may (returned, node) || fold_node (ctx, returned, node, FALSE, error);
}

static gboolean
fold_graph (VnPassContext  *ctx,
            VnGraph        *graph,
            GError        **error)
{
  return vn_rewrite_each_sorted (ctx, graph, FALSE, fold_visit, error);
}

static gboolean
fold_run (VnPassContext  *ctx,
          GError        **error)
{
  return vn_rewrite_infer (ctx, "fold", error) &&
         vn_rewrite_each_graph (ctx, fold_graph, error);
}

const VnPass vn_pass_fold = {
  .id = "fold",
  .title = N_("Fold constants"),
  .summary = N_("Evaluates nodes that depend on constants only."),
  .exact = FALSE,
  .repeats = TRUE,
  .run = fold_run,
};
