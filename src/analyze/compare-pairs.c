/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which tensors of a quantized network stand for which of the float one, and how what it holds is to be read. */
#include "compare-pairs.h"

#include "compare-rows.h"

#include "vn-error.h"
#include "vn-i18n.h"

/**
 * Side: where the counterparts of a graph of the float network are.
 * @graph: of the quantized network
 * @plan: (nullable): of the graph
 * @names: (nullable): as of VnCompareOptions, keys behind @scope
 * @scope: vn_graph_dup_scope() of the graph
 * @pairs: (nullable): name -> what stands for it, where @names do not say
 */
typedef struct
{
  const VnGraph *graph;
  VnQuantPlan   *plan;
  GHashTable    *names;
  const char    *scope;
  GHashTable    *pairs;
} Side;

static gboolean
compare_is_float32 (const VnValue *value)
{
  return value->type.kind == VN_TYPE_UNKNOWN || value->type.dtype == VN_DTYPE_F32 || value->type.dtype == VN_DTYPE_UNDEFINED;
}

/*< private >
 * vn_compare_has_row:
 *
 * Returns: whether @value of the float network may have a row
 */
gboolean
vn_compare_has_row (const VnValue *value)
{
  g_return_val_if_fail (value != NULL, FALSE);

  return !vn_value_is_constant (value) && compare_is_float32 (value);
}

/* FALSE: @other is neither float nor one of integers on a grid that is known. */
static gboolean
compare_find_grid (const Side     *side,
                   const VnValue  *value,
                   const VnValue  *other,
                   CompareGrid    *grid)
{
  const VnTensorPlan *row = side->plan != NULL ? vn_quant_plan_find (side->plan, value->name) : NULL;
  VnValueGrid found;

  *grid = (CompareGrid) { 0, 0, row != NULL ? row->factors : NULL };
  if (side->plan == NULL && vn_value_find_grid (other, &found) && found.holds_integers)
    {
      *grid = (CompareGrid) { (float) found.scale, (float) found.zero_point, NULL };
      return TRUE;
    }
  if (compare_is_float32 (other) || other->type.dtype == VN_DTYPE_F16)
    return TRUE;
  if (row == NULL || !row->quantized || row->scale == NULL || other->type.dtype != row->dtype || row->scale->n_elements != 1)
    return FALSE;
  *grid = (CompareGrid) { *(const float *) row->scale->data, (float) vn_tensor_get_s64 (row->zero_point, 0), NULL };
  return TRUE;
}

static VnValue *
compare_find_counterpart (const Side    *side,
                          const VnValue *value)
{
  g_autofree char *key = g_strconcat (side->scope, value->name, NULL);
  const char *name = side->names != NULL ? g_hash_table_lookup (side->names, key) : NULL;
  VnValue *other;

  if (name == NULL && side->pairs != NULL)
    name = g_hash_table_lookup (side->pairs, value->name);
  other = g_hash_table_lookup (side->graph->by_name, name != NULL ? name : value->name);
  return other != NULL && !vn_value_is_constant (other) ? other : NULL;
}

/* Whether a clamp, which stays, cuts off what the range of @value cuts off: its output speaks for both. */
static gboolean
compare_is_clamped (const Side    *side,
                    const VnValue *value,
                    const VnValue *other)
{
  const VnNode *clamp = value->uses->len == 1 ? g_array_index (value->uses, VnUse, 0).node : NULL;
  const VnValue *behind;
  VnValueGrid own, next;

  if (side->plan != NULL)
    return vn_quant_plan_find_clamped (side->plan, value) != NULL;
  if (clamp == NULL || vn_node_get_output (clamp, 0) == NULL || !(vn_node_is (clamp, "Relu") || vn_node_is (clamp, "Clip")))
    return FALSE;
  behind = compare_find_counterpart (side, vn_node_get_output (clamp, 0));
  return behind != NULL && vn_value_find_grid (other, &own) && vn_value_find_grid (behind, &next) && own.scale == next.scale &&
         own.zero_point == next.zero_point && own.dtype == next.dtype;
}

static void
compare_add_pair (ComparePairs *self,
                  const Side   *side,
                  VnValue      *value)
{
  VnValue *other;
  CompareGrid grid;

  if (!vn_compare_has_row (value))
    return;
  other = compare_find_counterpart (side, value);
  if (other == NULL || compare_is_clamped (side, value, other) || !compare_find_grid (side, value, other, &grid))
    return;
  g_array_append_val (self->grids, grid);
  g_ptr_array_add (self->float_taps, value);
  g_ptr_array_add (self->quant_taps, other);
}

/* Whether the range of the quantization is what clamps: its error would be mostly that. */
static gboolean
compare_is_absorbed (const VnValue *value,
                     const VnValue *source)
{
  const VnNode *clamp = value->producer;

  return clamp != NULL && (vn_node_is (clamp, "Relu") || vn_node_is (clamp, "Clip")) &&
         (source->producer == NULL || !vn_node_is (source->producer, clamp->op_type));
}

/* What goes into each quantization has, in the quantized network, the name that the tensor has in the float one. */
static void
compare_add_sources (ComparePairs *self)
{
  guint n = self->float_taps->len;

  for (guint i = 0; i < n; i++)
    {
      const VnValue *value = g_ptr_array_index (self->float_taps, i), *other = g_ptr_array_index (self->quant_taps, i);
      VnValue *source = g_hash_table_lookup (other->graph->by_name, value->name);

      if (source == NULL || source == other || vn_value_is_constant (source) || compare_is_absorbed (value, source))
        continue;
      g_array_append_val (self->sources, i);
      g_ptr_array_add (self->quant_taps, source);
    }
}

static gboolean
compare_has_doubles (const VnGraph *graph)
{
  for (guint i = 0; i < graph->values->len; i++)
    if (((const VnValue *) g_ptr_array_index (graph->values, i))->type.dtype == VN_DTYPE_F64)
      return TRUE;
  return FALSE;
}

/* Inputs, then results in the order they are computed in. */
static gboolean
compare_add_graph (ComparePairs   *self,
                   const Side     *side,
                   const VnGraph  *graph,
                   gboolean        outputs_only,
                   GError        **error)
{
  g_autoptr(GPtrArray) order = vn_graph_sort (graph, error);

  for (guint i = 0; order != NULL && i < graph->inputs->len; i++)
    if (!outputs_only || ((const VnValue *) g_ptr_array_index (graph->inputs, i))->is_output)
      compare_add_pair (self, side, g_ptr_array_index (graph->inputs, i));
  for (guint i = 0; order != NULL && i < order->len; i++)
    {
      const VnNode *node = g_ptr_array_index (order, i);

      for (guint k = 0; k < node->outputs->len; k++)
        if (vn_node_get_output (node, k) != NULL && (!outputs_only || vn_node_get_output (node, k)->is_output))
          compare_add_pair (self, side, vn_node_get_output (node, k));
    }
  return order != NULL;
}

/* ---- bodies ---- */

/* Of a graph: name -> the output of the DequantizeLinear behind its QuantizeLinear. */
static GHashTable *
compare_match_graph (const VnGraph *float_graph,
                     const VnGraph *quant_graph)
{
  GHashTable *names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);

  for (guint i = 0; i < quant_graph->nodes->len; i++)
    {
      const VnNode *quantize = g_ptr_array_index (quant_graph->nodes, i);
      const VnValue *from = vn_node_get_input (quantize, 0), *to = vn_node_get_output (quantize, 0);

      if (!g_str_equal (quantize->op_type, "QuantizeLinear") || from == NULL || to == NULL)
        continue;
      for (guint u = 0; u < to->uses->len; u++)
        {
          const VnUse *use = &g_array_index (to->uses, VnUse, u);
          const VnValue *back = vn_node_get_output (use->node, 0);

          if (use->index == 0 && back != NULL && g_str_equal (use->node->op_type, "DequantizeLinear") &&
              g_hash_table_lookup (float_graph->by_name, from->name) != NULL)
            {
              g_hash_table_insert (names, g_strdup (from->name), g_strdup (back->name));
              break;
            }
        }
    }
  return names;
}

/* The same node in the quantized network; its name may be all that is the same. */
static const VnNode *
compare_find_holder (const VnGraph *quant_graph,
                     const VnNode  *holder)
{
  for (guint i = 0; i < holder->outputs->len; i++)
    {
      const VnValue *output = vn_node_get_output (holder, i);
      const VnValue *same = output != NULL ? g_hash_table_lookup (quant_graph->by_name, output->name) : NULL;

      if (same != NULL && same->producer != NULL && g_str_equal (same->producer->op_type, holder->op_type))
        return same->producer;
    }
  for (guint i = 0; i < quant_graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (quant_graph->nodes, i);

      if (*holder->name != '\0' && g_strcmp0 (node->name, holder->name) == 0 && g_str_equal (node->op_type, holder->op_type))
        return node;
    }
  return NULL;
}

static gboolean compare_add_bodies (ComparePairs   *self,
                                    const Side     *side,
                                    const VnGraph  *graph,
                                    const VnNode   *holder,
                                    GError        **error);

static gboolean
compare_add_body (ComparePairs   *self,
                  const Side     *around,
                  const VnNode   *node,
                  const VnAttr   *attr,
                  const VnGraph  *quant_graph,
                  const VnNode   *holder,
                  GError        **error)
{
  g_autofree char *scope = vn_graph_dup_scope (attr->graph);
  g_autoptr(GHashTable) pairs = compare_match_graph (attr->graph, quant_graph);
  const Side side = { quant_graph, around->plan != NULL ? vn_quant_plan_find_body (around->plan, node, attr->name) : NULL,
                      around->names, scope, pairs };
  CompareBody body = { attr->graph, holder, self->float_taps->len, 0 };

  vn_graph_settle (attr->graph);
  vn_graph_settle (quant_graph);
  if (!compare_add_graph (self, &side, attr->graph, FALSE, error))
    return FALSE;
  body.n = self->float_taps->len - body.first;
  if (body.n > 0)
    g_array_append_val (self->bodies, body);
  return compare_add_bodies (self, &side, attr->graph, holder, error);
}

/* Of the nodes of @graph. @holder: (nullable): the node of the main graph that it is in */
static gboolean
compare_add_bodies (ComparePairs   *self,
                    const Side     *side,
                    const VnGraph  *graph,
                    const VnNode   *holder,
                    GError        **error)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (graph->nodes, i);
      const VnNode *other = vn_node_has_graphs (node) ? compare_find_holder (side->graph, node) : NULL;

      for (guint k = 0; other != NULL && k < node->attrs->len; k++)
        {
          const VnAttr *attr = g_ptr_array_index (node->attrs, k), *same = vn_node_get_attr (other, attr->name);

          if (attr->graph != NULL && same != NULL && same->graph != NULL &&
              !compare_add_body (self, side, node, attr, same->graph, holder != NULL ? holder : node, error))
            return FALSE;
        }
    }
  return TRUE;
}

static gboolean
compare_fail (const VnGraph  *graph,
              GError        **error)
{
  if (compare_has_doubles (graph))
    g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA,
                 _("The two models have no tensor of float32 of the same name: the first computes with float64. Make float32 of "
                   "it with "
                   "“vernier-cli prepare”, quantize that, and compare these two"));
  else
    g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA,
                 _("The two models have no tensor names in common; was the second one created from the first?"));
  return FALSE;
}

/*< private >
 * vn_compare_collect_pairs:
 * @self: (out): vn_compare_clear_pairs(), whatever is returned
 *
 * Returns: %FALSE with an error if the two have nothing in common
 */
gboolean
vn_compare_collect_pairs (ComparePairs            *self,
                          VnModel                 *float_model,
                          VnModel                 *quant_model,
                          const VnCompareOptions  *options,
                          GError                 **error)
{
  Side side;

  g_return_val_if_fail (self != NULL && float_model != NULL && quant_model != NULL && options != NULL, FALSE);

  side = (Side) { quant_model->graph, options->plan, options->value_names, "", NULL };
  *self = (ComparePairs) { g_ptr_array_new (), g_ptr_array_new (), g_array_new (FALSE, FALSE, sizeof (CompareGrid)),
                           g_array_new (FALSE, FALSE, sizeof (guint)), g_array_new (FALSE, FALSE, sizeof (CompareBody)) };
  if (!compare_add_graph (self, &side, float_model->graph, options->outputs_only, error))
    return FALSE;
  if (self->float_taps->len == 0)
    return compare_fail (float_model->graph, error);
  if (options->bodies && !compare_add_bodies (self, &side, float_model->graph, NULL, error))
    return FALSE;
  if (options->local && options->value_names != NULL)
    compare_add_sources (self);
  return TRUE;
}

/*< private >
 * vn_compare_find_body:
 *
 * Returns: which of the bodies the pair is in; %G_MAXUINT: it is of the main graph
 */
guint
vn_compare_find_body (const ComparePairs *self,
                      guint               pair)
{
  g_return_val_if_fail (self != NULL, G_MAXUINT);

  for (guint i = 0; i < self->bodies->len; i++)
    {
      const CompareBody *body = &g_array_index (self->bodies, CompareBody, i);

      if (pair >= body->first && pair < body->first + body->n)
        return i;
    }
  return G_MAXUINT;
}

/*< private >
 * vn_compare_clear_pairs:
 * @self: all zero, or filled
 */
void
vn_compare_clear_pairs (ComparePairs *self)
{
  g_return_if_fail (self != NULL);

  g_clear_pointer (&self->float_taps, g_ptr_array_unref);
  g_clear_pointer (&self->quant_taps, g_ptr_array_unref);
  g_clear_pointer (&self->grids, g_array_unref);
  g_clear_pointer (&self->sources, g_array_unref);
  g_clear_pointer (&self->bodies, g_array_unref);
}

/**
 * vn_compare_match_names:
 *
 * Returns: (transfer full) (element-type utf8 utf8): name in the float model -> name of the float tensor that stands for
 *   it in the quantized one: the output of the DequantizeLinear behind its QuantizeLinear. Names without one are not in it.
 */
GHashTable *
vn_compare_match_names (const VnModel *float_model,
                        const VnModel *quant_model)
{
  g_return_val_if_fail (float_model != NULL && quant_model != NULL, NULL);

  return compare_match_graph (float_model->graph, quant_model->graph);
}
