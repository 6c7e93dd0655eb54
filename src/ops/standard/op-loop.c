/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loop: a graph that is run until a count or a condition ends it. Its inputs: number of the round, condition, values
 * carried from round to round; its outputs: condition, the carried values, values that are stacked over the rounds. */
#include "vn-op-body.h"

typedef struct
{
  const VnGraph *body;
  guint          n_states, n_scans;
  VnTensor     **values;    /* inputs of the next round */
  VnTensor     **results;   /* outputs of the last one */
  GPtrArray    **scans;     /* of VnTensor, for each stacked output */
  gsize          n_bytes;   /* in all of them */
} Loop;

static void
loop_clear (Loop *self)
{
  vn_body_values_clear (self->values, 2 + self->n_states);
  vn_body_values_clear (self->results, 1 + self->n_states + self->n_scans);
  for (guint i = 0; i < self->n_scans; i++)
    g_ptr_array_unref (self->scans[i]);
  g_free (self->values);
  g_free (self->results);
  g_free (self->scans);
}

static const VnGraph *
loop_get_body (VnOpContext *ctx,
               GError     **error)
{
  const VnGraph *body = vn_op_get_body (ctx, "body", ctx->n_inputs, VN_BODY_ANY, error);

  if (body == NULL || body->outputs->len - 1 < ctx->n_inputs - 2 || body->outputs->len == 0 ||
      body->outputs->len - 1 < ctx->n_outputs)
    {
      if (body != NULL)
        vn_op_fail (ctx, error,
                    ngettext ("Loop: its body has %u output, too few for %u loop-carried values and %u scan outputs",
                              "Loop: its body has %u outputs, too few for %u loop-carried values and %u scan outputs",
                              body->outputs->len),
                    body->outputs->len, ctx->n_inputs - 2, ctx->n_outputs);
      return NULL;
    }
  return body;
}

static gboolean
loop_infer (VnOpContext *ctx,
            GError     **error)
{
  const VnGraph *body = loop_get_body (ctx, error);
  guint n_states = ctx->n_inputs - 2;

  if (body == NULL || !vn_op_need_inputs (ctx, 2, error))
    return FALSE;
  for (guint i = 0; i < ctx->n_outputs; i++)
    {
      VnTensorType type = vn_op_body_type (ctx, body, 1 + i);

      if (i < n_states)
        {
          type = (VnTensorType) { ctx->in_types[2 + i].dtype, VN_SHAPE_UNKNOWN, ctx->in_types[2 + i].kind };
          type.kind = type.kind == VN_KIND_OPTIONAL ? VN_KIND_UNKNOWN : type.kind;
        }
      else if (type.shape.rank >= 0 && type.shape.rank < VN_MAX_RANK)
        {
          memmove (&type.shape.dims[1], &type.shape.dims[0], (size_t) type.shape.rank * sizeof type.shape.dims[0]);
          type.shape.dims[0] = VN_DIM_UNKNOWN;
          type.shape.rank++;
        }
      ctx->out_types[i] = type;
    }
  return TRUE;
}

static gboolean
loop_get_limit (VnOpContext *ctx,
                gint64      *limit,
                GError     **error)
{
  const VnTensor *tensor = ctx->in[0];

  *limit = G_MAXINT64;
  if (tensor == NULL)
    return TRUE;
  if (tensor->kind != VN_KIND_TENSOR || tensor->dtype != VN_DTYPE_S64 || tensor->n_elements != 1)
    return vn_op_fail (ctx, error, _("Loop: the trip count must be one int64, found %s with %zu elements"),
                       vn_dtype_get_name (tensor->dtype), tensor->n_elements);
  *limit = *(const gint64 *) tensor->data;
  return TRUE;
}

static gboolean
loop_set_control (Loop     *self,
                  gint64    round,
                  GError  **error)
{
  g_clear_pointer (&self->values[0], vn_tensor_unref);
  g_clear_pointer (&self->values[1], vn_tensor_unref);
  self->values[0] = vn_tensor_new (VN_DTYPE_S64, &VN_SHAPE_SCALAR, error);
  if (self->values[0] == NULL)
    return FALSE;
  self->values[1] = vn_tensor_new (VN_DTYPE_BOOL, &VN_SHAPE_SCALAR, error);
  if (self->values[1] == NULL)
    return FALSE;
  *(gint64 *) self->values[0]->data = round;
  *(guint8 *) self->values[1]->data = TRUE;
  return TRUE;
}

/* The carried values may change their shapes, but not what they are; an optional may become what it could hold. */
static gboolean
loop_take_results (VnOpContext *ctx,
                   Loop        *self,
                   GError     **error)
{
  gsize n_bytes = 0;

  for (guint i = 0; i < self->n_states; i++)
    {
      VnTensor *old = self->values[2 + i], *new = self->results[1 + i];

      n_bytes += MIN (G_MAXSIZE - n_bytes, new->n_bytes);
      if (!vn_op_may_grow (ctx, n_bytes, error))
        return FALSE;

      if ((old->kind != new->kind && old->kind != VN_KIND_OPTIONAL) ||
          (old->dtype != new->dtype && old->kind == VN_KIND_TENSOR))
        return vn_op_fail (ctx, error, _("Loop: loop-carried value %u changed from %s to %s"), i,
                           vn_dtype_get_name (old->dtype), vn_dtype_get_name (new->dtype));
      vn_tensor_unref (old);
      self->values[2 + i] = g_steal_pointer (&self->results[1 + i]);
    }
  for (guint i = 0; i < self->n_scans; i++)
    if (!vn_op_gather (ctx, self->scans[i], &self->results[1 + self->n_states + i], &self->n_bytes, error))
      return FALSE;
  return TRUE;
}

static gboolean
loop_run_rounds (VnOpContext *ctx,
                 Loop        *self,
                 GError     **error)
{
  gint64 limit;
  gboolean going;

  if (!loop_get_limit (ctx, &limit, error) || !vn_op_check_flag (ctx, ctx->in[1], _("the condition"), &going, error))
    return FALSE;
  for (gint64 round = 0; round < limit && going; round++)
    {
      if (!loop_set_control (self, round, error) ||
          !vn_op_run_body (ctx, self->body, self->values, self->results, error) ||
          !vn_op_check_flag (ctx, self->results[0], _("the condition from its body"), &going, error) ||
          !loop_take_results (ctx, self, error))
        return FALSE;
      g_clear_pointer (&self->results[0], vn_tensor_unref);
    }
  return TRUE;
}

/* Without a round nobody has seen an element: its type and shape are those the graph declares, open dims are 0. */
static VnTensor *
loop_stack_nothing (VnOpContext *ctx,
                    Loop        *self,
                    guint        output,
                    GError     **error)
{
  const VnValue *value = g_ptr_array_index (self->body->outputs, output);
  VnTensorType type = vn_op_body_type (ctx, self->body, output), declared = vn_type_get_declared (&value->type);
  VnShape shape = type.shape.rank >= 0 ? type.shape : declared.shape;
  VnShape out = VN_SHAPE (0);

  for (int d = 0; d < shape.rank && d < VN_MAX_RANK - 1; d++, out.rank++)
    out.dims[d + 1] = MAX (shape.dims[d], 0);
  return vn_tensor_new (type.dtype != VN_DTYPE_UNDEFINED ? type.dtype : declared.dtype, &out, error);
}

static gboolean
loop_set_outputs (VnOpContext *ctx,
                  Loop        *self,
                  GError     **error)
{
  for (guint i = 0; i < ctx->n_outputs; i++)
    {
      GPtrArray *scan = i < self->n_states ? NULL : self->scans[i - self->n_states];

      if (scan == NULL)
        ctx->out[i] = vn_tensor_own (self->values[2 + i], error);
      else
        ctx->out[i] = scan->len > 0 ? vn_slab_join (scan, 0, TRUE, error) : loop_stack_nothing (ctx, self, 1 + i, error);
      if (ctx->out[i] == NULL)
        return FALSE;
    }
  return TRUE;
}

static gboolean
loop_run (VnOpContext *ctx,
          GError     **error)
{
  Loop self = { .body = loop_get_body (ctx, error), .n_states = ctx->n_inputs - 2 };
  gboolean ok;

  if (self.body == NULL)
    return FALSE;
  self.n_scans = self.body->outputs->len - 1 - self.n_states;
  self.values = g_new0 (VnTensor *, 2 + self.n_states);
  self.results = g_new0 (VnTensor *, self.body->outputs->len);
  self.scans = g_new0 (GPtrArray *, self.n_scans + 1);
  for (guint i = 0; i < self.n_states; i++)
    self.values[2 + i] = vn_tensor_ref (ctx->in[2 + i]);
  for (guint i = 0; i < self.n_scans; i++)
    self.scans[i] = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_tensor_unref);
  ok = loop_run_rounds (ctx, &self, error) && loop_set_outputs (ctx, &self, error);
  loop_clear (&self);
  return ok;
}

const VnOp vn_op_loop_1 = {
  .domain = "", .type = "Loop", .since = 1,
  .min_inputs = 2, .max_inputs = VN_OP_MAX_INPUTS, .min_outputs = 0, .max_outputs = VN_OP_MAX_INPUTS,
  .optional = 3,
  .family = VN_FAMILY_OTHER,
  .quant = VN_QUANT_TRAITS (VN_QUANT_OPAQUE, FALSE),
  .containers = TRUE,
  .makes_outputs = TRUE,
  .infer = loop_infer,
  .run = loop_run,
};
