/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A network of half or double precision in single precision: weights, constants, casts and declared types. Every float16 and
 * every bfloat16 is a float32, so nothing is lost; results differ only because sums are no longer rounded to them. Of doubles
 * less is lost than quantizing takes. */
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

/* What is to become float32. */
typedef struct
{
  VnPassContext *ctx;
  VnDType        from;
} Fp16;

static gboolean
fp16_widen_value (const Fp16  *self,
                  VnValue     *value,
                  GError     **error)
{
  gboolean typed = value->type.kind == VN_TYPE_TENSOR && value->type.dtype == self->from;

  if (value->initializer != NULL && value->initializer->dtype == self->from)
    {
      g_autoptr(VnTensor) wide = vn_tensor_convert_constant (value->initializer, VN_DTYPE_F32, error);

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
  vn_edit_log_add (self->ctx->log, "set", value->name, NULL, _("%s to float32"), vn_dtype_get_name (self->from));
  return TRUE;
}

static gboolean
fp16_widen_tensor (const Fp16  *self,
                   VnTensor   **tensor,
                   gboolean    *changed,
                   GError     **error)
{
  VnTensor *wide;

  if (*tensor == NULL || (*tensor)->dtype != self->from)
    return TRUE;
  wide = vn_tensor_convert_constant (*tensor, VN_DTYPE_F32, error);
  if (wide == NULL)
    return FALSE;
  vn_tensor_unref (*tensor);
  *tensor = wide;
  *changed = TRUE;
  return TRUE;
}

static gboolean
fp16_widen_type_attrs (const Fp16 *self,
                       VnNode     *node)
{
  gboolean changed = FALSE;

  for (guint i = 0; i < G_N_ELEMENTS (type_attrs); i++)
    if (vn_node_is (node, type_attrs[i].op_type) &&
        vn_node_get_int (node, type_attrs[i].attr, 0) == self->from)
      {
        vn_node_set_int (node, type_attrs[i].attr, VN_DTYPE_F32);
        changed = TRUE;
      }
  return changed;
}

static gboolean fp16_widen_graph (const Fp16  *self,
                                  VnGraph     *graph,
                                  GError     **error);

static gboolean
fp16_widen_node (const Fp16  *self,
                 VnNode      *node,
                 GError     **error)
{
  gboolean changed = fp16_widen_type_attrs (self, node);
  g_autofree char *label = vn_node_dup_label (node);

  for (guint i = 0; i < node->attrs->len; i++)
    {
      VnAttr *attr = g_ptr_array_index (node->attrs, i);

      if (!fp16_widen_tensor (self, &attr->tensor, &changed, error) ||
          (attr->graph != NULL && !fp16_widen_graph (self, attr->graph, error)))
        return FALSE;
      for (guint k = 0; attr->tensors != NULL && k < attr->tensors->len; k++)
        if (!fp16_widen_tensor (self, (VnTensor **) &attr->tensors->pdata[k], &changed, error))
          return FALSE;
      for (guint k = 0; attr->graphs != NULL && k < attr->graphs->len; k++)
        if (!fp16_widen_graph (self, g_ptr_array_index (attr->graphs, k), error))
          return FALSE;
    }
  if (changed)
    vn_edit_log_add (self->ctx->log, "set", label, NULL, _("%s with float32 instead of %s"), node->op_type,
                     vn_dtype_get_name (self->from));
  return TRUE;
}

static gboolean
fp16_widen_graph (const Fp16  *self,
                  VnGraph     *graph,
                  GError     **error)
{
  for (guint i = 0; i < graph->values->len; i++)
    if (!fp16_widen_value (self, g_ptr_array_index (graph->values, i), error))
      return FALSE;
  for (guint i = 0; i < vn_graph_get_n_nodes (graph); i++)
    if (!fp16_widen_node (self, vn_graph_get_node (graph, i), error))
      return FALSE;
  return TRUE;
}

/* Whether something computes with constants of @dtype. Where Cast alone reads them, they are but stored so. */
static gboolean
fp16_has_weights (const VnGraph *graph,
                  VnDType        dtype)
{
  for (guint i = 0; i < graph->values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (graph->values, i);

      if (value->initializer == NULL || value->initializer->dtype != dtype)
        continue;
      for (guint k = 0; k < value->uses->len; k++)
        if (!vn_node_is (g_array_index (value->uses, VnUse, k).node, "Cast"))
          return TRUE;
    }
  return FALSE;
}

static gboolean
fp16_widen_model (VnPassContext  *ctx,
                  VnDType         from,
                  GError        **error)
{
  const Fp16 self = { ctx, from };

  if (fp16_has_weights (ctx->model->graph, from))
    ctx->model->widened = from;
  if (!fp16_widen_graph (&self, ctx->model->graph, error))
    return FALSE;
  for (guint i = 0; i < ctx->model->functions->len; i++)
    if (!fp16_widen_graph (&self, ((VnFunction *) g_ptr_array_index (ctx->model->functions, i))->body, error))
      return FALSE;
  return TRUE;
}

static gboolean
fp16_run (VnPassContext  *ctx,
          GError        **error)
{
  return fp16_widen_model (ctx, VN_DTYPE_F16, error);
}

static gboolean
fp16_is_used (const VnValue *value,
              VnDType        dtype)
{
  VnDType own = value->initializer != NULL ? value->initializer->dtype
                : value->type.kind == VN_TYPE_TENSOR ? value->type.dtype : VN_DTYPE_UNDEFINED;

  if (own != dtype)
    return FALSE;
  if (value->is_output || (value->initializer == NULL && (value->producer == NULL || !vn_node_is (value->producer, "Cast"))))
    return TRUE;
  for (guint k = 0; k < value->uses->len; k++)
    if (!vn_node_is (g_array_index (value->uses, VnUse, k).node, "Cast"))
      return TRUE;
  return FALSE;
}

/**
 * vn_graph_computes_in:
 * @graph: of a model whose types are inferred
 * @dtype: float16 or bfloat16
 *
 * Returns: whether something is computed in @dtype, or given in it. Where Cast alone makes it and takes it, it rounds values, as
 *   quantization does: that has to stay. Constants that Cast alone reads are but stored so.
 */
gboolean
vn_graph_computes_in (const VnGraph *graph,
                      VnDType        dtype)
{
  g_return_val_if_fail (graph != NULL, FALSE);

  for (guint i = 0; i < graph->values->len; i++)
    if (fp16_is_used (g_ptr_array_index (graph->values, i), dtype))
      return TRUE;
  return FALSE;
}

static gboolean
fp16_run_bfloat (VnPassContext  *ctx,
                 GError        **error)
{
  return !vn_graph_computes_in (ctx->model->graph, VN_DTYPE_BF16) || fp16_widen_model (ctx, VN_DTYPE_BF16, error);
}

/* Whether layers compute in float64. Elsewhere a few numbers may need it: times, positions. */
static gboolean
fp16_has_double_layers (const VnGraph *graph)
{
  static const char * const layers[] = { "Conv", "ConvTranspose", "Gemm", "MatMul", "LSTM", "GRU", "RNN", NULL };

  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (graph->nodes, i);
      const VnValue *weight = node->domain[0] == '\0' && g_strv_contains (layers, node->op_type)
                              ? vn_node_get_input (node, 1) : NULL;

      if (weight != NULL && weight->type.kind == VN_TYPE_TENSOR && weight->type.dtype == VN_DTYPE_F64)
        return TRUE;
    }
  return FALSE;
}

static gboolean
fp16_run_double (VnPassContext  *ctx,
                 GError        **error)
{
  return !fp16_has_double_layers (ctx->model->graph) || fp16_widen_model (ctx, VN_DTYPE_F64, error);
}

const VnPass vn_pass_fp16_to_fp32 = {
  .id = "fp16-to-fp32",
  .title = N_("Half to single precision"),
  .summary = N_("Turns float16 weights, constants, casts, inputs and outputs into float32."),
  .exact = FALSE,
  .run = fp16_run,
};

const VnPass vn_pass_bf16_to_fp32 = {
  .id = "bf16-to-fp32",
  .title = N_("bfloat16 to single precision"),
  .summary = N_("Turns bfloat16 weights, constants, casts, inputs and outputs into float32, unless values are only rounded to "
                "bfloat16."),
  .exact = FALSE,
  .run = fp16_run_bfloat,
};

const VnPass vn_pass_fp64_to_fp32 = {
  .id = "fp64-to-fp32",
  .title = N_("Double to single precision"),
  .summary = N_("Turns float64 weights, constants, casts, inputs and outputs into float32 where layers compute in float64."),
  .exact = FALSE,
  .run = fp16_run_double,
};
