/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Asks the operator of one node; computes what is small and known. */
#include "vn-infer-private.h"

#include "vn-memory.h"

/* What an operator sees while shapes are inferred. */
typedef struct
{
  VnOpContext   ctx;
  VnTensorType *in_types, *out_types;
  VnTensor    **in;    /* owned references, aligned if small */
  VnTensor    **out;
  VnOpNumbers   numbers;   /* owned references */
  gboolean      in_part;   /* an input has numbers */
} Call;

static void
infer_node_call_clear (Call *self)
{
  for (guint i = 0; i < self->ctx.n_inputs; i++)
    {
      g_clear_pointer (&self->in[i], vn_tensor_unref);
      g_clear_pointer (&self->numbers.in[i], vn_tensor_unref);
    }
  for (guint i = 0; i < self->ctx.n_outputs; i++)
    {
      g_clear_pointer (&self->out[i], vn_tensor_unref);
      g_clear_pointer (&self->numbers.out[i], vn_tensor_unref);
    }
  g_free (self->numbers.in);
  g_free (self->numbers.out);
  g_free (self->in_types);
  g_free (self->out_types);
  g_free (self->in);
  g_free (self->out);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Call, infer_node_call_clear)

static void
infer_node_call_init (Call       *self,
                      VnInfer    *infer,
                      const VnOp *op,
                      VnNode     *node,
                      gint64      opset)
{
  VnOpContext *ctx = &self->ctx;

  memset (self, 0, sizeof *self);
  ctx->op = op;
  ctx->node = node;
  ctx->opset = opset;
  ctx->n_threads = 1;
  ctx->n_inputs = node->inputs->len;
  ctx->n_outputs = node->outputs->len;
  self->in_types = g_new0 (VnTensorType, ctx->n_inputs + 1);
  self->out_types = g_new0 (VnTensorType, ctx->n_outputs + 1);
  self->in = g_new0 (VnTensor *, ctx->n_inputs + 1);
  self->out = g_new0 (VnTensor *, ctx->n_outputs + 1);
  ctx->in_types = self->in_types;
  ctx->out_types = self->out_types;
  self->numbers.dims = infer->dims;
  self->numbers.in = g_new0 (VnTensor *, ctx->n_inputs + 1);
  self->numbers.out = g_new0 (VnTensor *, ctx->n_outputs + 1);
  ctx->in = self->in;
  ctx->out = self->out;
  ctx->numbers = &self->numbers;

  for (guint i = 0; i < ctx->n_inputs; i++)
    {
      VnValue *value = g_ptr_array_index (node->inputs, i);
      VnTensor *tensor = value != NULL ? vn_infer_get_known (infer, value) : NULL;

      self->in_types[i] = value != NULL ? vn_infer_get_type (infer, value)
                                        : (VnTensorType) { VN_DTYPE_UNDEFINED, VN_SHAPE_UNKNOWN };
      if (tensor != NULL)
        self->in[i] = tensor->n_elements <= VN_INFER_MAX_ELEMENTS ? vn_tensor_get_aligned (tensor, NULL)
                                                                  : vn_tensor_ref (tensor);
      tensor = tensor == NULL && value != NULL ? g_hash_table_lookup (infer->numbers, value) : NULL;
      self->in_part = self->in_part || tensor != NULL;
      self->numbers.in[i] = tensor != NULL ? vn_tensor_ref (tensor) : NULL;
    }
  for (guint i = 0; i < ctx->n_outputs; i++)
    self->out_types[i] = (VnTensorType) { VN_DTYPE_UNDEFINED, VN_SHAPE_UNKNOWN };
}

static gboolean
infer_node_is_random (const VnOp *op)
{
  return g_str_has_prefix (op->type, "Random") || g_str_equal (op->type, "Multinomial") ||
         g_str_equal (op->type, "Bernoulli") || g_str_equal (op->type, "Dropout");
}

static gboolean
infer_node_is_small (const VnTensorType *type)
{
  gsize n;

  return type->dtype != VN_DTYPE_UNDEFINED && type->dtype != VN_DTYPE_STRING &&
         vn_shape_is_static (&type->shape) && vn_shape_n_elements (&type->shape, &n) && n <= VN_INFER_MAX_ELEMENTS;
}

/* Whether every input is known and small, so that the outputs can be computed now. */
static gboolean
infer_node_can_compute (const Call *call)
{
  const VnOpContext *ctx = &call->ctx;

  if (ctx->op->run == NULL || ctx->op->makes_outputs || infer_node_is_random (ctx->op))
    return FALSE;
  if (ctx->n_inputs > 0 && !vn_op_takes (ctx->op, call->in_types[0].dtype))
    return FALSE;
  for (guint i = 0; i < ctx->n_inputs; i++)
    if (g_ptr_array_index (ctx->node->inputs, i) != NULL &&
        (call->in[i] == NULL || call->in[i]->n_elements > VN_INFER_MAX_ELEMENTS))
      return FALSE;
  for (guint i = 0; i < ctx->n_outputs; i++)
    if (!infer_node_is_small (&call->out_types[i]))
      return FALSE;
  return TRUE;
}

/* Computes small outputs. A failure here is no failure of inference: the value stays unknown. */
static void
infer_node_compute (Call *call)
{
  VnOpContext *ctx = &call->ctx;
  g_autofree guint8 *memory = vn_memory_alloc0 (ctx->scratch_bytes + 64, 1, NULL);
  g_autoptr(GError) error = NULL;
  gboolean ok = memory != NULL;

  for (guint i = 0; ok && i < ctx->n_outputs; i++)
    if (call->out[i] == NULL)
      {
        call->out[i] = vn_tensor_new (call->out_types[i].dtype, &call->out_types[i].shape, NULL);
        ok = call->out[i] != NULL;
      }
  if (ok)
    {
      ctx->scratch = (gpointer) (((guintptr) memory + 63) & ~(guintptr) 63);
      ok = vn_op_run (ctx, &error);
    }
  if (!ok)
    for (guint i = 0; i < ctx->n_outputs; i++)
      g_clear_pointer (&call->out[i], vn_tensor_unref);
}

static gboolean
infer_node_has_all_outputs (const Call *call)
{
  for (guint i = 0; i < call->ctx.n_outputs; i++)
    if (call->out[i] == NULL)
      return FALSE;
  return call->ctx.n_outputs > 0;
}

/* What is known of the elements of outputs although it depends on open sizes. */
static void
infer_node_compute_in_part (Call *call)
{
  VnOpContext *ctx = &call->ctx;

  if (!call->in_part)
    return;
  for (guint i = 0; i < ctx->n_inputs; i++)
    if (call->numbers.in[i] == NULL && call->in[i] != NULL)
      call->numbers.in[i] = vn_infer_to_numbers (call->numbers.dims, call->in[i]);
  vn_infer_numbers (ctx, call->numbers.out);
}

/* What operators with graphs see of these: they were inferred before. */
static VnTensorType
infer_node_body_type (gpointer        data,
                      const VnGraph  *graph,
                      guint           i)
{
  return vn_infer_get_type (data, g_ptr_array_index (graph->outputs, i));
}

gboolean
vn_infer_node (VnInfer     *self,
               const VnOp  *op,
               VnNode      *node,
               GError     **error)
{
  const VnOpBodies bodies = { .get_type = infer_node_body_type, .data = self };
  g_auto(Call) call;
  gint64 opset = vn_model_get_opset (self->model, node->domain);

  infer_node_call_init (&call, self, op, node, opset);
  call.ctx.bodies = &bodies;
  if (!vn_op_check_call (&call.ctx, error) || !vn_op_infer (&call.ctx, error))
    return FALSE;
  if (self->options->auto_merge)
    vn_infer_merge_dims (&call.ctx);
  if (!infer_node_has_all_outputs (&call) && infer_node_can_compute (&call))
    infer_node_compute (&call);
  if (!infer_node_has_all_outputs (&call))
    infer_node_compute_in_part (&call);

  for (guint i = 0; i < node->outputs->len; i++)
    {
      VnValue *value = g_ptr_array_index (node->outputs, i);

      if (value == NULL)
        continue;
      if (call.out[i] != NULL && call.out[i]->n_elements <= VN_INFER_MAX_ELEMENTS)
        vn_infer_set_known (self, value, call.out[i]);
      else if (call.numbers.out[i] != NULL)
        vn_infer_set_numbers (self, value, &call.out_types[i], call.numbers.out[i]);
      else
        vn_infer_set_type (self, value, call.out_types[i]);
    }
  return TRUE;
}
