/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What operators with graphs in their attributes share: checking the graph, running it, gathering over rounds. */
#include "vn-op-body.h"

static gboolean
op_body_check_counts (VnOpContext   *ctx,
                      const char    *attr,
                      const VnGraph *graph,
                      guint          n_inputs,
                      guint          n_outputs,
                      GError       **error)
{
  if (graph->inputs->len != n_inputs)
    return vn_op_fail (ctx, error,
                       ngettext ("%s: the subgraph “%s” takes %u input, but the operator passes %u",
                                 "%s: the subgraph “%s” takes %u inputs, but the operator passes %u", graph->inputs->len),
                                 ctx->op->type, attr,
                       graph->inputs->len, n_inputs);
  if (n_outputs != VN_BODY_ANY && graph->outputs->len != n_outputs)
    return vn_op_fail (ctx, error,
                       ngettext ("%s: the subgraph “%s” has %u output, but the operator needs %u",
                                 "%s: the subgraph “%s” has %u outputs, but the operator needs %u", graph->outputs->len),
                                 ctx->op->type, attr,
                       graph->outputs->len, n_outputs);
  return TRUE;
}

/**
 * vn_op_get_body:
 * @attr: an attribute that holds a graph
 * @n_inputs: how many inputs it must have
 * @n_outputs: how many outputs, or %VN_BODY_ANY
 *
 * Returns: (transfer none) (nullable): the graph, or %NULL with an error if it is not there or does not fit
 */
const VnGraph *
vn_op_get_body (VnOpContext  *ctx,
                const char   *attr,
                guint         n_inputs,
                guint         n_outputs,
                GError      **error)
{
  const VnAttr *found = ctx->node != NULL ? vn_node_get_attr (ctx->node, attr) : NULL;

  if (found == NULL || found->type != VN_ATTR_GRAPH || found->graph == NULL)
    {
      vn_op_fail (ctx, error, _("%s: its attribute “%s” has no graph"), ctx->op->type, attr);
      return NULL;
    }
  return op_body_check_counts (ctx, attr, found->graph, n_inputs, n_outputs, error) ? found->graph : NULL;
}

/**
 * vn_op_body_type:
 *
 * Returns: what is known of output @i of @graph before it runs
 */
VnTensorType
vn_op_body_type (const VnOpContext *ctx,
                 const VnGraph     *graph,
                 guint              i)
{
  if (ctx->bodies == NULL)
    return (VnTensorType) { VN_DTYPE_UNDEFINED, VN_SHAPE_UNKNOWN, VN_KIND_UNKNOWN };
  return ctx->bodies->get_type (ctx->bodies->data, graph, i);
}

/**
 * vn_op_run_body:
 * @inputs: as many as @graph has
 * @outputs: (out caller-allocates): one for each output of @graph, owned; all %NULL after a failure
 *
 * Runs a graph of the operator once.
 */
gboolean
vn_op_run_body (VnOpContext       *ctx,
                const VnGraph     *graph,
                VnTensor * const  *inputs,
                VnTensor         **outputs,
                GError           **error)
{
  if (ctx->bodies != NULL && ctx->bodies->run != NULL)
    return ctx->bodies->run (ctx->bodies->data, graph, inputs, outputs, error);
  g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("%s: its subgraph is not supported"), ctx->op->type);
  return FALSE;
}

void
vn_body_values_clear (VnTensor **values,
                      guint      n)
{
  for (guint i = 0; i < n; i++)
    g_clear_pointer (&values[i], vn_tensor_unref);
}

#define BYTES_PER_VALUE 256

/**
 * vn_op_gather:
 * @gathered: (element-type VnTensor): what came before
 * @value: (inout): what a round made; taken
 * @n_bytes: (inout): how much the operator has gathered in all
 *
 * Returns: %FALSE with %VN_ERROR_LIMIT if that is too much
 */
gboolean
vn_op_gather (VnOpContext  *ctx,
              GPtrArray    *gathered,
              VnTensor    **value,
              gsize        *n_bytes,
              GError      **error)
{
  *n_bytes += MIN (G_MAXSIZE - *n_bytes, (*value)->n_bytes);
  *n_bytes += MIN (G_MAXSIZE - *n_bytes, BYTES_PER_VALUE);
  if (vn_op_may_grow (ctx, *n_bytes, error))
    {
      g_ptr_array_add (gathered, g_steal_pointer (value));
      return TRUE;
    }
  g_prefix_error (error, _("after %u iterations: "), gathered->len);
  return FALSE;
}

/**
 * vn_op_need_inputs:
 *
 * Returns: %FALSE with an error if the node leaves out an input from @first on
 */
gboolean
vn_op_need_inputs (VnOpContext  *ctx,
                   guint         first,
                   GError      **error)
{
  for (guint i = first; i < ctx->n_inputs; i++)
    if (!vn_op_has_input (ctx, i))
      return vn_op_fail (ctx, error, _("%s: required input %u is missing"), ctx->op->type, i);
  return TRUE;
}

/**
 * vn_op_check_flag:
 * @tensor: (nullable): one boolean; %NULL counts as true
 * @what: which input or result it is, in the message
 */
gboolean
vn_op_check_flag (VnOpContext     *ctx,
                  const VnTensor  *tensor,
                  const char      *what,
                  gboolean        *flag,
                  GError         **error)
{
  if (tensor != NULL && (tensor->kind != VN_KIND_TENSOR || tensor->dtype != VN_DTYPE_BOOL || tensor->n_elements != 1))
    return vn_op_fail (ctx, error, _("%s: %s must be one boolean, found %s with %zu elements"),
                       ctx->op->type, what, vn_dtype_get_name (tensor->dtype), tensor->n_elements);
  *flag = tensor == NULL || *(const guint8 *) tensor->data != 0;
  return TRUE;
}
