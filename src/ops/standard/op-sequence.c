/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sequences of tensors: made of tensors, of nothing, of other sequences with an element more or less; their elements
 * and their length. */
#include "vn-op-body.h"

static VnTensorType
sequence_of (VnDType dtype)
{
  return (VnTensorType) { dtype, VN_SHAPE_UNKNOWN, VN_KIND_SEQUENCE };
}

static gboolean
sequence_check_sequence (VnOpContext *ctx,
                         GError     **error)
{
  VnKind kind = ctx->in_types[0].kind;

  if (kind == VN_KIND_TENSOR && ctx->in_types[0].dtype == VN_DTYPE_UNDEFINED)
    return TRUE;
  if (kind == VN_KIND_SEQUENCE || kind == VN_KIND_UNKNOWN)
    return TRUE;
  return vn_op_fail (ctx, error, _("%s: input 0 must be a sequence"), ctx->op->type);
}

/* The inputs are there, and what must be a sequence is one. */
static gboolean
sequence_check_run (VnOpContext *ctx,
                    GError     **error)
{
  if (ctx->in[0]->kind == VN_KIND_SEQUENCE)
    return TRUE;
  return vn_op_fail (ctx, error, _("%s: input 0 must be a sequence"), ctx->op->type);
}

/* ---- making one ---- */

static gboolean
sequence_construct_infer (VnOpContext *ctx,
                          GError     **error)
{
  if (!vn_op_need_inputs (ctx, 0, error))
    return FALSE;
  ctx->out_types[0] = sequence_of (ctx->in_types[0].dtype);
  return TRUE;
}

static gboolean
sequence_construct_run (VnOpContext *ctx,
                        GError     **error)
{
  g_autoptr(GPtrArray) items = g_ptr_array_new ();

  for (guint i = 0; i < ctx->n_inputs; i++)
    g_ptr_array_add (items, ctx->in[i]);
  ctx->out[0] = vn_tensor_new_sequence (VN_DTYPE_UNDEFINED, items, error);
  return ctx->out[0] != NULL;
}

static gboolean
sequence_empty_infer (VnOpContext *ctx,
                      GError     **error)
{
  gint64 dtype = vn_node_get_int (ctx->node, "dtype", VN_DTYPE_F32);

  if (!vn_dtype_is_valid (dtype))
    return vn_op_fail (ctx, error, _("SequenceEmpty: “dtype” is %lld, which is not an element type"), (long long) dtype);
  ctx->out_types[0] = sequence_of ((VnDType) dtype);
  return TRUE;
}

static gboolean
sequence_empty_run (VnOpContext *ctx,
                    GError     **error)
{
  g_autoptr(GPtrArray) items = g_ptr_array_new ();

  ctx->out[0] = vn_tensor_new_sequence ((VnDType) vn_node_get_int (ctx->node, "dtype", VN_DTYPE_F32), items, error);
  return ctx->out[0] != NULL;
}

/* ---- changing one ---- */

static gboolean
sequence_same_infer (VnOpContext *ctx,
                     GError     **error)
{
  if (!sequence_check_sequence (ctx, error))
    return FALSE;
  ctx->out_types[0] = sequence_of (ctx->in_types[0].dtype);
  return TRUE;
}

/* A position of the sequence, or, with @past_end, between two; negative ones count from the end. */
static gboolean
sequence_get_position (VnOpContext *ctx,
                       guint        input,
                       gboolean     past_end,
                       gint64       fallback,
                       guint       *position,
                       GError     **error)
{
  gint64 n = ctx->in[0]->items->len, last = past_end ? n : n - 1, value = fallback;
  guint found;

  if (vn_op_has_input (ctx, input) && (!vn_op_get_ints_input (ctx, input, &value, 1, &found) || found != 1))
    return vn_op_fail (ctx, error, _("%s: the position must be one integer"), ctx->op->type);
  if (value < -n || value > last)
    return vn_op_fail (ctx, error, _("%s: position %lld is out of range for a sequence of %lld"),
                       ctx->op->type, (long long) value, (long long) n);
  *position = (guint) (value < 0 ? value + n : value);
  return TRUE;
}

static gboolean
sequence_insert_run (VnOpContext *ctx,
                     GError     **error)
{
  g_autoptr(GPtrArray) items = NULL;
  guint position = 0;

  if (!sequence_check_run (ctx, error) || !sequence_get_position (ctx, 2, TRUE, ctx->in[0]->items->len, &position, error))
    return FALSE;
  items = g_ptr_array_new ();
  for (guint i = 0; i < ctx->in[0]->items->len; i++)
    g_ptr_array_add (items, g_ptr_array_index (ctx->in[0]->items, i));
  g_ptr_array_insert (items, (gint) position, ctx->in[1]);
  ctx->out[0] = vn_tensor_new_sequence (ctx->in[0]->dtype, items, error);
  return ctx->out[0] != NULL;
}

static gboolean
sequence_erase_run (VnOpContext *ctx,
                    GError     **error)
{
  g_autoptr(GPtrArray) items = NULL;
  guint position = 0;

  if (!sequence_check_run (ctx, error) || !sequence_get_position (ctx, 1, FALSE, (gint64) ctx->in[0]->items->len - 1, &position,
                                                                  error))
    return FALSE;
  items = g_ptr_array_new ();
  for (guint i = 0; i < ctx->in[0]->items->len; i++)
    if (i != position)
      g_ptr_array_add (items, g_ptr_array_index (ctx->in[0]->items, i));
  ctx->out[0] = vn_tensor_new_sequence (ctx->in[0]->dtype, items, error);
  return ctx->out[0] != NULL;
}

/* ---- reading one ---- */

static gboolean
sequence_at_infer (VnOpContext *ctx,
                   GError     **error)
{
  if (!sequence_check_sequence (ctx, error))
    return FALSE;
  ctx->out_types[0] = (VnTensorType) { ctx->in_types[0].dtype, VN_SHAPE_UNKNOWN };
  return TRUE;
}

static gboolean
sequence_at_run (VnOpContext *ctx,
                 GError     **error)
{
  guint position = 0;

  if (!sequence_check_run (ctx, error) || !sequence_get_position (ctx, 1, FALSE, 0, &position, error))
    return FALSE;
  ctx->out[0] = vn_tensor_ref (g_ptr_array_index (ctx->in[0]->items, position));
  return TRUE;
}

static gboolean
sequence_length_infer (VnOpContext *ctx,
                       GError     **error)
{
  vn_op_set_output (ctx, 0, VN_DTYPE_S64, &VN_SHAPE_SCALAR);
  return sequence_check_sequence (ctx, error);
}

static gboolean
sequence_length_run (VnOpContext *ctx,
                     GError     **error)
{
  if (!sequence_check_run (ctx, error))
    return FALSE;
  *(gint64 *) ctx->out[0]->data = ctx->in[0]->items->len;
  return TRUE;
}

#define SEQUENCE(name, op, inputs, most_inputs, makes, infer_func, run_func, ...)        \
  const VnOp name = {                                                                    \
    .domain = "", .type = op, .since = 11,                                               \
    .min_inputs = inputs, .max_inputs = most_inputs, .min_outputs = 1, .max_outputs = 1, \
    .others = { __VA_ARGS__ },                                                           \
    .family = VN_FAMILY_SHAPE,                                                           \
    .quant = VN_QUANT_TRAITS (VN_QUANT_OPAQUE, FALSE),                                   \
    .containers = TRUE,                                                                  \
    .makes_outputs = makes,                                                              \
    .infer = infer_func,                                                                 \
    .run = run_func,                                                                     \
  };

SEQUENCE (vn_op_sequence_construct_11, "SequenceConstruct", 1, VN_OP_MAX_INPUTS, TRUE, sequence_construct_infer,
          sequence_construct_run,
          0)
SEQUENCE (vn_op_sequence_empty_11, "SequenceEmpty", 0, 0, TRUE, sequence_empty_infer, sequence_empty_run, 0)
SEQUENCE (vn_op_sequence_insert_11, "SequenceInsert", 2, 3, TRUE, sequence_same_infer, sequence_insert_run, [1] = G_MAXUINT32,
          [2] = VN_INDEX_BITS)
SEQUENCE (vn_op_sequence_erase_11, "SequenceErase", 1, 2, TRUE, sequence_same_infer, sequence_erase_run, [1] = VN_INDEX_BITS)
SEQUENCE (vn_op_sequence_at_11, "SequenceAt", 2, 2, TRUE, sequence_at_infer, sequence_at_run, [1] = VN_INDEX_BITS)
SEQUENCE (vn_op_sequence_length_11, "SequenceLength", 1, 1, FALSE, sequence_length_infer, sequence_length_run, 0)

/* ---- SequenceMap ---- */

static gboolean
sequence_map_infer (VnOpContext *ctx,
                    GError     **error)
{
  const VnGraph *body = vn_op_get_body (ctx, "body", ctx->n_inputs, ctx->n_outputs, error);

  if (body == NULL || !vn_op_need_inputs (ctx, 0, error) || !sequence_check_sequence (ctx, error))
    return FALSE;
  for (guint i = 0; i < ctx->n_outputs; i++)
    ctx->out_types[i] = sequence_of (vn_op_body_type (ctx, body, i).dtype);
  return TRUE;
}

/* Element @k of each sequence; tensors are the same in every round. */
static gboolean
sequence_map_round (VnOpContext    *ctx,
                    const VnGraph  *body,
                    guint           k,
                    VnTensor      **values,
                    VnTensor      **results,
                    GPtrArray     **items,
                    gsize          *n_bytes,
                    GError        **error)
{
  for (guint i = 0; i < ctx->n_inputs; i++)
    {
      VnTensor *in = ctx->in[i];

      if (in->kind == VN_KIND_SEQUENCE && in->items->len != ctx->in[0]->items->len)
        return vn_op_fail (ctx, error, _("SequenceMap: sequences of %u and %u elements"), ctx->in[0]->items->len,
                           in->items->len);
      values[i] = in->kind == VN_KIND_SEQUENCE ? g_ptr_array_index (in->items, k) : in;
    }
  if (!vn_op_run_body (ctx, body, values, results, error))
    return FALSE;
  for (guint i = 0; i < ctx->n_outputs; i++)
    if (!vn_op_gather (ctx, items[i], &results[i], n_bytes, error))
      {
        vn_body_values_clear (results, ctx->n_outputs);
        return FALSE;
      }
  return TRUE;
}

static gboolean
sequence_map_run (VnOpContext *ctx,
                  GError     **error)
{
  const VnGraph *body = vn_op_get_body (ctx, "body", ctx->n_inputs, ctx->n_outputs, error);
  g_autofree VnTensor **values = g_new0 (VnTensor *, ctx->n_inputs + 1);
  g_autofree VnTensor **results = g_new0 (VnTensor *, ctx->n_outputs + 1);
  g_autofree GPtrArray **items = g_new0 (GPtrArray *, ctx->n_outputs + 1);
  gboolean ok = body != NULL && sequence_check_run (ctx, error);
  gsize n_bytes = 0;

  for (guint i = 0; i < ctx->n_outputs; i++)
    items[i] = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_tensor_unref);
  for (guint k = 0; ok && k < ctx->in[0]->items->len; k++)
    ok = sequence_map_round (ctx, body, k, values, results, items, &n_bytes, error);
  for (guint i = 0; ok && i < ctx->n_outputs; i++)
    {
      VnDType dtype = items[i]->len > 0 ? VN_DTYPE_UNDEFINED : vn_op_body_type (ctx, body, i).dtype;

      ctx->out[i] = vn_tensor_new_sequence (dtype, items[i], error);
      ok = ctx->out[i] != NULL;
    }
  for (guint i = 0; i < ctx->n_outputs; i++)
    g_ptr_array_unref (items[i]);
  return ok;
}

const VnOp vn_op_sequence_map_17 = {
  .domain = "", .type = "SequenceMap", .since = 17,
  .min_inputs = 1, .max_inputs = VN_OP_MAX_INPUTS, .min_outputs = 1, .max_outputs = VN_OP_MAX_INPUTS,
  .family = VN_FAMILY_OTHER,
  .quant = VN_QUANT_TRAITS (VN_QUANT_OPAQUE, FALSE),
  .containers = TRUE,
  .makes_outputs = TRUE,
  .infer = sequence_map_infer,
  .run = sequence_map_run,
};
