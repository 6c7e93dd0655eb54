/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which nodes of a network cannot be run here, and what depends on them. */
#include "vn-backend.h"
#include "vn-op-kernel.h"

#include "vn-cache.h"

static gboolean
op_support_is_half (VnDType dtype)
{
  return dtype == VN_DTYPE_F16 || dtype == VN_DTYPE_BF16;
}

/* Half precision is no obstacle: a network with an operator that cannot be run in it is converted before. */
static gboolean
op_support_takes_dtype (const VnOp   *op,
                        const VnNode *node)
{
  const VnValue *value = vn_node_get_input (node, 0);
  VnDType dtype = value != NULL && value->type.kind == VN_TYPE_TENSOR ? value->type.dtype : VN_DTYPE_UNDEFINED;

  return op_support_is_half (dtype) || vn_op_takes (op, dtype);
}

typedef gboolean (*GraphFunc) (const VnGraph *graph,
                               gpointer       data);

/* Whether @func is true for a graph that @node holds. */
static gboolean
op_support_any_subgraph (const VnNode *node,
                         GraphFunc     func,
                         gpointer      data)
{
  for (guint i = 0; i < node->attrs->len; i++)
    {
      const VnAttr *attr = g_ptr_array_index (node->attrs, i);

      if (attr->graph != NULL && func (attr->graph, data))
        return TRUE;
      for (guint k = 0; attr->graphs != NULL && k < attr->graphs->len; k++)
        if (func (g_ptr_array_index (attr->graphs, k), data))
          return TRUE;
    }
  return FALSE;
}

/**
 * vn_op_has_own_kernel:
 * @node: a node of a model whose types are inferred
 *
 * Returns: whether we have code for @node itself, for its operator, opset and element type; what its subgraphs hold
 *   is not looked at
 */
gboolean
vn_op_has_own_kernel (const VnNode *node)
{
  const VnOp *op = vn_op_lookup_node (node, NULL);

  return op != NULL && op_support_takes_dtype (op, node);
}

/**
 * vn_op_has_kernel:
 * @node: a node of a model whose types are inferred
 *
 * Returns: whether there is code for @node itself, ours or that of the model's backend
 */
gboolean
vn_op_has_kernel (const VnNode *node)
{
  return vn_op_has_own_kernel (node) || vn_backend_has_kernel (node);
}

/**
 * vn_backend_lookup_node:
 *
 * Returns: (nullable): the kernel of @node, ours where we have one, or that of its model's backend; %NULL: there is none
 */
const VnOp *
vn_backend_lookup_node (const VnNode *node)
{
  g_return_val_if_fail (node != NULL, NULL);

  return vn_op_has_own_kernel (node) || !vn_backend_has_kernel (node) ? vn_op_lookup_node (node, NULL)
                                                                      : vn_backend_get_op (FALSE);
}

static gboolean
op_support_refuses_halves (const VnGraph *graph,
                           gpointer       data)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (graph->nodes, i);
      const VnOp *op = vn_op_lookup_node (node, NULL);

      for (guint k = 0; op != NULL && k < node->inputs->len; k++)
        {
          const VnValue *value = vn_node_get_input (node, k);
          VnDTypeSet taken = k == 0 ? vn_op_get_dtypes (op) : vn_op_get_input_dtypes (op, k);

          if (value != NULL && value->type.kind == VN_TYPE_TENSOR && op_support_is_half (value->type.dtype) &&
              taken != 0 && (taken >> value->type.dtype & 1) == 0)
            return TRUE;
        }
      if (op_support_any_subgraph (node, op_support_refuses_halves, data))
        return TRUE;
    }
  return FALSE;
}

/**
 * vn_graph_takes_halves:
 * @graph: the main graph of a model whose types are inferred
 *
 * Returns: whether all operators in it, and in the graphs inside it, that get float16 or bfloat16 compute with it; those without
 *   kernel are not asked
 */
gboolean
vn_graph_takes_halves (const VnGraph *graph)
{
  return !op_support_refuses_halves (graph, NULL);
}

static gboolean
op_support_add_unsupported (const VnGraph *graph,
                            gpointer       list)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      VnNode *node = g_ptr_array_index (graph->nodes, i);

      if (!vn_op_has_kernel (node))
        g_ptr_array_add (list, node);
      op_support_any_subgraph (node, op_support_add_unsupported, list);
    }
  return FALSE;
}

/**
 * vn_graph_list_unsupported:
 *
 * Returns: (transfer container) (element-type VnNode): all nodes of @graph and of the graphs inside it that there is
 *   no kernel for, in the order of the file
 */
GPtrArray *
vn_graph_list_unsupported (const VnGraph *graph)
{
  GPtrArray *list = g_ptr_array_new ();

  op_support_add_unsupported (graph, list);
  return list;
}

/**
 * vn_op_describe_node:
 *
 * Returns: (transfer full): which operator @node is: "com.example.Fold, opset 3"
 */
char *
vn_op_describe_node (const VnNode *node)
{
  const VnModel *model = node->graph != NULL ? node->graph->model : NULL;
  const VnOp *op = vn_op_lookup_node (node, NULL);
  gint64 opset = model != NULL ? vn_model_get_opset (model, node->domain) : 0;
  g_autofree char *type = g_strdup_printf ("%s%s%s", node->domain, node->domain[0] != '\0' ? "." : "", node->op_type);

  if (op != NULL && !op_support_takes_dtype (op, node))
    return g_strdup_printf (_("%s on %s data"), type, vn_dtype_get_name (vn_node_get_input (node, 0)->type.dtype));
  if (model != NULL && vn_model_find_function (model, node->domain, node->op_type) != NULL)
    return g_strdup_printf (_("%s, a function of the model"), type);
  if (opset == 0)
    return g_strdup_printf (_("%s, of a domain the model does not import"), type);
  return g_strdup_printf (_("%s, opset %lld"), type, (long long) opset);
}

/* ---- what depends on them ---- */

typedef struct
{
  const VnGraph *graph;
  gboolean      *lost;    /* by id of the values of @graph */
} Lost;

static gboolean
op_support_is_lost (const Lost    *self,
                    const VnValue *value)
{
  return value != NULL && value->graph == self->graph && self->lost[value->id];
}

/* Whether a graph inside needs a value that is lost, or a node that cannot be run. */
static gboolean
op_support_graph_is_lost (const VnGraph *inner,
                          gpointer       data)
{
  const Lost *self = data;

  for (guint i = 0; i < inner->outputs->len; i++)
    if (op_support_is_lost (self, g_ptr_array_index (inner->outputs, i)))
      return TRUE;
  for (guint i = 0; i < inner->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (inner->nodes, i);

      if (!vn_op_has_kernel (node) || op_support_any_subgraph (node, op_support_graph_is_lost, data))
        return TRUE;
      for (guint k = 0; k < node->inputs->len; k++)
        if (op_support_is_lost (self, vn_node_get_input (node, k)))
          return TRUE;
    }
  return FALSE;
}

static gboolean
op_support_node_is_lost (Lost         *self,
                         const VnNode *node)
{
  for (guint i = 0; i < node->inputs->len; i++)
    if (op_support_is_lost (self, vn_node_get_input (node, i)))
      return TRUE;
  return !vn_op_has_kernel (node) || op_support_any_subgraph (node, op_support_graph_is_lost, self);
}

/**
 * vn_graph_find_lost:
 * @graph: the main graph of a model whose types are inferred
 *
 * Returns: (transfer full): for each value by its id whether it cannot be computed here, because a node without kernel
 *   makes it or something it depends on
 */
gboolean *
vn_graph_find_lost (const VnGraph *graph)
{
  g_autoptr(GPtrArray) order = vn_graph_sort (graph, NULL);
  gboolean *lost = g_new0 (gboolean, MAX (graph->values->len, 1));
  Lost self = { graph, lost };

  for (guint i = 0; order != NULL && i < order->len; i++)
    {
      const VnNode *node = g_ptr_array_index (order, i);

      if (!op_support_node_is_lost (&self, node))
        continue;
      for (guint k = 0; k < node->outputs->len; k++)
        {
          const VnValue *value = vn_node_get_output (node, k);

          if (value != NULL && vn_value_get_constant (value) == NULL)
            lost[value->id] = TRUE;
        }
    }
  return lost;
}

static int
op_support_compare_labels (gconstpointer a,
                           gconstpointer b)
{
  g_autofree char *x = vn_node_dup_label (*(const VnNode * const *) a), *y = vn_node_dup_label (*(const VnNode * const *) b);

  return strcmp (x, y);
}

static gboolean
op_support_is_behind (const VnNode   *node,
                      const gboolean *lost)
{
  for (guint i = 0; i < node->outputs->len; i++)
    if (vn_node_get_output (node, i) != NULL && lost[vn_node_get_output (node, i)->id])
      return TRUE;
  return FALSE;
}

/**
 * vn_graph_list_ends:
 * @lost: of vn_graph_find_lost()
 *
 * Returns: (transfer full) (element-type VnValue): what can be computed and is read by nodes whose results cannot; in the order
 *   of their labels and inputs, which is that of a quantized network as well. A value that several of them read is there as often
 */
GPtrArray *
vn_graph_list_ends (const VnGraph  *graph,
                    const gboolean *lost)
{
  g_autoptr(GPtrArray) nodes = g_ptr_array_new ();
  GPtrArray *ends = g_ptr_array_new ();

  for (guint i = 0; i < graph->nodes->len; i++)
    if (op_support_is_behind (g_ptr_array_index (graph->nodes, i), lost))
      g_ptr_array_add (nodes, g_ptr_array_index (graph->nodes, i));
  g_ptr_array_sort (nodes, op_support_compare_labels);
  for (guint i = 0; i < nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (nodes, i);

      for (guint k = 0; k < node->inputs->len; k++)
        {
          VnValue *value = vn_node_get_input (node, k);

          if (value != NULL && value->graph == graph && !lost[value->id] && !vn_value_is_constant (value))
            g_ptr_array_add (ends, value);
        }
    }
  return ends;
}

static gboolean
op_support_may_hold_floats (const VnValue *value)
{
  return value->type.kind == VN_TYPE_TENSOR && (value->type.dtype == VN_DTYPE_UNDEFINED || vn_dtype_is_float (value->type.dtype));
}

/**
 * vn_graph_list_compared:
 * @lost: of vn_graph_find_lost()
 *
 * What tells how near two networks are: a classifier whose scores go into an operator that cannot be run has only a number
 * left as its output, which says nothing of them.
 *
 * Returns: (transfer full) (element-type VnValue): outputs that can be computed and are no caches (vn_value_is_cache()); where
 *   none of these holds floats, also those of vn_graph_list_ends() that do, each once; where there are no outputs, all of
 *   vn_graph_list_ends()
 */
GPtrArray *
vn_graph_list_compared (const VnGraph  *graph,
                        const gboolean *lost)
{
  g_autoptr(GPtrArray) ends = vn_graph_list_ends (graph, lost);
  GPtrArray *list = g_ptr_array_new ();
  gboolean has_floats = FALSE;

  for (guint i = 0; i < graph->outputs->len; i++)
    {
      VnValue *value = g_ptr_array_index (graph->outputs, i);

      if ((value->graph == graph && lost[value->id]) || vn_value_is_cache (value))
        continue;
      g_ptr_array_add (list, value);
      has_floats |= op_support_may_hold_floats (value);
    }
  if (list->len == 0)
    {
      g_ptr_array_unref (list);
      return g_steal_pointer (&ends);
    }
  for (guint i = 0; i < ends->len && !has_floats; i++)
    if (op_support_may_hold_floats (ends->pdata[i]) && !g_ptr_array_find (list, ends->pdata[i], NULL))
      g_ptr_array_add (list, ends->pdata[i]);
  return list;
}

static void
op_support_note_nodes (GPtrArray *nodes,
                       VnNotes   *notes)
{
  for (guint i = 0; i < nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (nodes, i);
      g_autofree char *label = vn_node_dup_label (node);
      g_autofree char *what = vn_op_describe_node (node);

      vn_notes_add (notes, VN_NOTE_WARNING, "no-kernel", label,
                    _("%s is not supported: what depends on it is not computed and is left unchanged"), what);
    }
}

/**
 * vn_graph_note_unsupported:
 * @graph: the main graph of a model whose types are inferred
 * @notes: (nullable): gets one note for each node that cannot be run, and one for each output that depends on one
 */
void
vn_graph_note_unsupported (const VnGraph *graph,
                           VnNotes       *notes)
{
  g_autoptr(GPtrArray) nodes = notes != NULL ? vn_graph_list_unsupported (graph) : NULL;
  g_autofree gboolean *lost = NULL;

  if (nodes == NULL || nodes->len == 0)
    return;
  op_support_note_nodes (nodes, notes);
  lost = vn_graph_find_lost (graph);
  for (guint i = 0; i < graph->outputs->len; i++)
    {
      const VnValue *value = g_ptr_array_index (graph->outputs, i);

      if (value->graph == graph && lost[value->id])
        vn_notes_add (notes, VN_NOTE_WARNING, "output-not-computed", value->name,
                      _("output “%s” depends on an unsupported node: it is not computed"), value->name);
    }
}
