/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A half-precision network in single precision: weights, constants, casts and declared types. Every half is a float,
 * so nothing is lost; results differ only because sums are no longer rounded to half. */
#include "vn-rewrite-private.h"

static const struct {
  const char *op_type;
  const char *attr;
} type_attrs[] = {
  { "Cast",              "to"              },
  { "Bernoulli",         "dtype"           },
  { "BlackmanWindow",    "output_datatype" },
  { "DequantizeLinear",  "output_dtype"    },
  { "EyeLike",           "dtype"           },
  { "HammingWindow",     "output_datatype" },
  { "HannWindow",        "output_datatype" },
  { "MelWeightMatrix",   "output_datatype" },
  { "RandomNormal",      "dtype"           },
  { "RandomNormalLike",  "dtype"           },
  { "RandomUniform",     "dtype"           },
  { "RandomUniformLike", "dtype"           },
  { "SequenceEmpty",     "dtype"           },
};

static void
fp16_note_interface (VnPassContext *ctx,
                     const VnValue *value)
{
  if ((value->is_input && value->initializer == NULL) || (value->is_output && value->graph == ctx->model->graph))
    vn_notes_add (ctx->notes, VN_NOTE_INFO, "float16-interface", value->name,
                  value->is_input ? _("The input “%s” takes float32 instead of float16")
                                  : _("The output “%s” gives float32 instead of float16"), value->name);
}

static gboolean
fp16_widen_value (VnPassContext  *ctx,
                  VnValue        *value,
                  GError        **error)
{
  gboolean typed = value->type.kind == VN_TYPE_TENSOR && value->type.dtype == VN_DTYPE_F16;

  if (value->initializer != NULL && value->initializer->dtype == VN_DTYPE_F16)
    {
      g_autoptr(VnTensor) wide = vn_tensor_convert (value->initializer, VN_DTYPE_F32, error);

      if (wide == NULL)
        return FALSE;
      vn_graph_set_initializer (value->graph, value, wide);
    }
  else if (typed)
    {
      value->type.dtype = VN_DTYPE_F32;
      g_clear_pointer (&value->type.encoded, g_bytes_unref);
    }
  else
    return TRUE;
  vn_edit_log_add (ctx->log, "set", value->name, NULL, _("float16 to float32"));
  fp16_note_interface (ctx, value);
  return TRUE;
}

static gboolean
fp16_widen_tensor (VnTensor **tensor,
                   gboolean  *changed,
                   GError   **error)
{
  VnTensor *wide;

  if (*tensor == NULL || (*tensor)->dtype != VN_DTYPE_F16)
    return TRUE;
  wide = vn_tensor_convert (*tensor, VN_DTYPE_F32, error);
  if (wide == NULL)
    return FALSE;
  vn_tensor_unref (*tensor);
  *tensor = wide;
  *changed = TRUE;
  return TRUE;
}

static gboolean
fp16_widen_type_attrs (VnNode *node)
{
  gboolean changed = FALSE;

  for (guint i = 0; i < G_N_ELEMENTS (type_attrs); i++)
    if (vn_node_is (node, type_attrs[i].op_type) &&
        vn_node_get_int (node, type_attrs[i].attr, 0) == VN_DTYPE_F16)
      {
        vn_node_set_int (node, type_attrs[i].attr, VN_DTYPE_F32);
        changed = TRUE;
      }
  return changed;
}

static gboolean fp16_widen_graph (VnPassContext  *ctx,
                                  VnGraph        *graph,
                                  GError        **error);

static gboolean
fp16_widen_node (VnPassContext  *ctx,
                 VnNode         *node,
                 GError        **error)
{
  gboolean changed = fp16_widen_type_attrs (node);
  g_autofree char *label = vn_node_dup_label (node);

  for (guint i = 0; i < node->attrs->len; i++)
    {
      VnAttr *attr = g_ptr_array_index (node->attrs, i);

      if (!fp16_widen_tensor (&attr->tensor, &changed, error) ||
          (attr->graph != NULL && !fp16_widen_graph (ctx, attr->graph, error)))
        return FALSE;
      for (guint k = 0; attr->tensors != NULL && k < attr->tensors->len; k++)
        if (!fp16_widen_tensor ((VnTensor **) &attr->tensors->pdata[k], &changed, error))
          return FALSE;
      for (guint k = 0; attr->graphs != NULL && k < attr->graphs->len; k++)
        if (!fp16_widen_graph (ctx, g_ptr_array_index (attr->graphs, k), error))
          return FALSE;
    }
  if (changed)
    vn_edit_log_add (ctx->log, "set", label, NULL, _("%s with float32 instead of float16"), node->op_type);
  return TRUE;
}

static gboolean
fp16_widen_graph (VnPassContext  *ctx,
                  VnGraph        *graph,
                  GError        **error)
{
  for (guint i = 0; i < graph->values->len; i++)
    if (!fp16_widen_value (ctx, g_ptr_array_index (graph->values, i), error))
      return FALSE;
  for (guint i = 0; i < vn_graph_get_n_nodes (graph); i++)
    if (!fp16_widen_node (ctx, vn_graph_get_node (graph, i), error))
      return FALSE;
  return TRUE;
}

static gboolean
fp16_run (VnPassContext  *ctx,
          GError        **error)
{
  if (!fp16_widen_graph (ctx, ctx->model->graph, error))
    return FALSE;
  for (guint i = 0; i < ctx->model->functions->len; i++)
    if (!fp16_widen_graph (ctx, ((VnFunction *) g_ptr_array_index (ctx->model->functions, i))->body, error))
      return FALSE;
  return TRUE;
}

const VnPass vn_pass_fp16_to_fp32 = {
  .id = "fp16-to-fp32",
  .title = N_("Half to single precision"),
  .summary = N_("Turns float16 weights, constants, casts, inputs and outputs into float32."),
  .exact = FALSE,
  .run = fp16_run,
};
