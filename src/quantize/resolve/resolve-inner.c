/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Graphs inside nodes: each is resolved as a network of its own, which has what it uses of outer graphs as inputs. */
#include "vn-resolver.h"

#include "vn-graph-edit.h"

/* What a recipe says of the ends of the network holds for the main graph. */
static VnRecipe *
resolve_inner_make_recipe (const VnRecipe *recipe,
                           const VnNode   *holder,
                           const char     *label)
{
  VnRecipe *inner = vn_recipe_copy (recipe);
  gboolean whole = FALSE;

  g_clear_pointer (&inner->truncate, g_strfreev);
  g_clear_pointer (&inner->input_nodes, g_strfreev);
  g_clear_pointer (&inner->output_nodes, g_strfreev);
  g_clear_pointer (&inner->float_inputs, g_strfreev);
  g_clear_pointer (&inner->float_outputs, g_strfreev);
  for (guint i = 0; inner->only_nodes != NULL && inner->only_nodes[i] != NULL; i++)
    whole = whole || vn_pattern_matches_node (inner->only_nodes[i], holder, label);
  if (whole)
    g_clear_pointer (&inner->only_nodes, g_strfreev);
  return inner;
}

/* Values of the new network stand for values of the prepared one, at any depth. */
static void
resolve_inner_compose (VnQuantScope *self)
{
  GHashTableIter iter;
  gpointer around;

  g_hash_table_iter_init (&iter, self->originals);
  while (self->outer != NULL && g_hash_table_iter_next (&iter, NULL, &around))
    g_hash_table_iter_replace (&iter, vn_quant_scope_find_original (self->outer, around));
}

/*< private >
 * vn_quant_scope_new:
 * @outer: (nullable): the graph that @holder is in, unless that is the main graph
 * @outer_plan: (nullable): what becomes of it
 * @recipe: that of the graph that @holder is in
 * @attr: an attribute of @holder with a graph
 *
 * Returns: (transfer full) (nullable): the graph as a network of its own; %NULL if names do not allow that
 */
VnQuantScope *
vn_quant_scope_new (const VnQuantScope *outer,
                    VnQuantPlan        *outer_plan,
                    const VnRecipe     *recipe,
                    const VnNode       *holder,
                    const VnAttr       *attr)
{
  g_autoptr(VnQuantScope) self = NULL;
  g_autoptr(GPtrArray) captured = NULL;

  g_return_val_if_fail (recipe != NULL && holder != NULL && attr != NULL && attr->graph != NULL, NULL);

  if (vn_node_get_attr (holder, attr->name) != attr)   /* a file may give an attribute twice */
    return NULL;
  self = g_new0 (VnQuantScope, 1);
  self->outer = outer;
  self->outer_plan = outer_plan;
  self->holder = vn_node_dup_label (holder);
  self->attr = attr->name;
  self->captured = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self->originals = g_hash_table_new (NULL, NULL);
  self->recipe = resolve_inner_make_recipe (recipe, holder, self->holder);
  self->model = vn_model_new_from_body (attr->graph, self->originals);
  if (self->model == NULL)
    return NULL;
  captured = vn_graph_list_captured (attr->graph);
  for (guint i = 0; i < captured->len; i++)
    g_hash_table_add (self->captured, g_strdup (((const VnValue *) g_ptr_array_index (captured, i))->name));
  resolve_inner_compose (self);
  return g_steal_pointer (&self);
}

/*< private >
 * vn_quant_scope_free:
 */
void
vn_quant_scope_free (VnQuantScope *self)
{
  g_free (self->holder);
  g_hash_table_unref (self->captured);
  g_hash_table_unref (self->originals);
  g_clear_pointer (&self->recipe, vn_recipe_free);
  g_clear_pointer (&self->model, vn_model_unref);
  g_free (self);
}

/*< private >
 * vn_quant_scope_find_original:
 * @self: (nullable): %NULL: of the main graph
 *
 * Returns: (transfer none) (nullable): the value of the prepared network that @value stands for
 */
VnValue *
vn_quant_scope_find_original (const VnQuantScope *self,
                              VnValue            *value)
{
  return self != NULL ? g_hash_table_lookup (self->originals, value) : value;
}

/*< private >
 * vn_quant_scope_dup_key:
 * @self: (nullable): %NULL: of the main graph
 * @name: of a value of the graph
 *
 * Returns: (transfer full): what statistics call it
 */
char *
vn_quant_scope_dup_key (const VnQuantScope *self,
                        const char         *name)
{
  VnValue *value;

  g_return_val_if_fail (name != NULL, NULL);

  value = self != NULL ? g_hash_table_lookup (self->model->graph->by_name, name) : NULL;
  value = value != NULL ? vn_quant_scope_find_original (self, value) : NULL;
  return value != NULL ? vn_value_dup_key (value) : g_strdup (name);
}

/*< private >
 * vn_resolver_find_outer_row:
 *
 * Returns: (transfer none) (nullable): scale and zero point that @value has already, as it comes from an outer graph
 */
const VnQuantRow *
vn_resolver_find_outer_row (VnResolver    *self,
                            const VnValue *value)
{
  g_return_val_if_fail (self != NULL && value != NULL, NULL);

  for (const VnQuantScope *scope = self->scope; scope != NULL &&
       g_hash_table_contains (scope->captured, value->name); scope = scope->outer)
    {
      const VnQuantRow *row = scope->outer_plan != NULL ? vn_quant_plan_find_row (scope->outer_plan, value->name) : NULL;

      if (row != NULL && row->tensor.role == VN_TENSOR_ACTIVATION && row->converted == NULL && row->tensor.factors == NULL &&
          vn_quant_row_has_integers (row) && row->tensor.scale->n_elements == 1)
        return row;
    }
  return NULL;
}

/* ---- what is meant by names ---- */

static gboolean
resolve_inner_means (const VnGraph  *graph,
                     VnGraphFunc     means,
                     gpointer        data)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (graph->nodes, i);

      for (guint a = 0; a < node->attrs->len; a++)
        {
          const VnAttr *attr = g_ptr_array_index (node->attrs, a);

          if (attr->graph != NULL && (means (attr->graph, data) || resolve_inner_means (attr->graph, means, data)))
            return TRUE;
        }
    }
  return FALSE;
}

/*< private >
 * vn_resolver_is_meant_inside:
 * @means: whether something in a graph is meant
 *
 * Returns: whether that is so in a graph inside a node, where the recipe speaks of these
 */
gboolean
vn_resolver_is_meant_inside (VnResolver  *self,
                             VnGraphFunc  means,
                             gpointer     data)
{
  g_return_val_if_fail (self != NULL && means != NULL, FALSE);

  return self->scheme.placement.subgraphs && data != NULL && resolve_inner_means (self->graph, means, data);
}
