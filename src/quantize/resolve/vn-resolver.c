/* SPDX-License-Identifier: GPL-3.0-or-later */

/* What a recipe says about each node: which take part, which rule speaks last. */

#include "vn-resolver.h"

#include "vn-error.h"
#include "vn-former.h"
#include "vn-i18n.h"
#include "vn-subgraph.h"
#include "vn-truncate.h"

static GPtrArray *
resolver_order_nodes (const VnGraph  *graph,
                      GError        **error)
{
  GPtrArray *nodes;

  if (!vn_quant_is_sorted (graph))
    return vn_graph_sort (graph, error);

  nodes = g_ptr_array_sized_new (graph->nodes->len);
  for (guint i = 0; i < graph->nodes->len; i++)
    g_ptr_array_add (nodes, g_ptr_array_index (graph->nodes, i));
  return nodes;
}

static void
resolver_apply_rule (VnQuantNode      *node,
                     const VnOverride *rule,
                     int               index)
{
  if (rule->exclude)
    {
      node->exclude_rule = index;
      node->rule = -1;
    }
  else
    {
      node->exclude_rule = -1;
      node->rule = index;
    }
}

/* A node that preparation took into another one, by its name: the rule holds for that one. */
static guint
resolver_apply_to_heir (VnResolver       *self,
                        const VnOverride *rule,
                        int               index,
                        char            **labels)
{
  const char *heir = rule->pattern != NULL ? vn_graph_find_former_node (self->graph, rule->pattern) : NULL;
  VnQuantNode *node;
  guint i = 0;

  while (heir != NULL && i < self->graph->nodes->len && !g_str_equal (labels[i], heir))
    i++;
  if (heir == NULL || i == self->graph->nodes->len)
    return 0;
  node = &self->quant_nodes[i];
  if (self->notes != NULL && (rule->exclude ? node->exclude_rule : node->rule) < 0)
    vn_notes_add (self->notes, VN_NOTE_INFO, "rule-of-heir", rule->pattern,
                  _("Rule %u applies to “%s”, into which the nodes it names were fused"), (guint) index + 1, heir);
  resolver_apply_rule (node, rule, index);
  return 1;
}

static guint
resolver_apply_pattern (VnResolver        *self,
                        const VnOverride  *rule,
                        int                index,
                        char             **labels)
{
  guint n = 0;

  for (guint i = 0; i < self->graph->nodes->len; i++)
    {
      if (!vn_override_matches_labelled (rule, g_ptr_array_index (self->graph->nodes, i), labels[i]))
        continue;
      resolver_apply_rule (&self->quant_nodes[i], rule, index);
      n++;
    }
  return n > 0 ? n : resolver_apply_to_heir (self, rule, index, labels);
}

#define MOST_LEAKS 8

static void
resolver_report_leaks (VnResolver          *self,
                       guint                rule,
                       GPtrArray           *nodes,
                       const char * const  *in_edges,
                       const char * const  *out_edges)
{
  g_autoptr(GArray) leaks = vn_graph_find_leaks (self->graph, nodes, in_edges, out_edges);

  for (guint i = 0; i < MIN (leaks->len, MOST_LEAKS); i++)
    {
      const VnLeak *leak = &g_array_index (leaks, VnLeak, i);
      g_autofree char *label = leak->node != NULL ? vn_node_dup_label (leak->node) : NULL;

      if (leak->enters)
        vn_notes_add (self->notes, VN_NOTE_WARNING, "rule-leaks", leak->value->name,
                      _("Rule %u does not enclose its region: this tensor enters at “%s”; add it to “from”"), rule + 1, label);
      else if (label != NULL)
        vn_notes_add (self->notes, VN_NOTE_WARNING, "rule-leaks", leak->value->name,
                      _("Rule %u does not enclose its region: this tensor leaves for “%s”; add it to “to”"), rule + 1, label);
      else
        vn_notes_add (self->notes, VN_NOTE_WARNING, "rule-leaks", leak->value->name,
                      _("Rule %u does not enclose its region: this tensor is an output of the model; add it to “to”"), rule + 1);
    }
  if (leaks->len > MOST_LEAKS)
    vn_notes_add (self->notes, VN_NOTE_WARNING, "rule-leaks", NULL,
                  ngettext ("Rule %u does not enclose its region: %u more tensor crosses its edge",
                            "Rule %u does not enclose its region: %u more tensors cross its edge", leaks->len - MOST_LEAKS),
                            rule + 1, leaks->len - MOST_LEAKS);
}

/* All nodes between the edges, or those of them that a pattern selects. */
static guint
resolver_apply_boundary (VnResolver       *self,
                         const VnOverride *rule,
                         int               index,
                         char            **labels,
                         GError          **error)
{
  const char * const none[] = { NULL };
  const char * const *from = rule->in_edges != NULL ? (const char * const *) rule->in_edges : none;
  const char * const *to = rule->out_edges != NULL ? (const char * const *) rule->out_edges : none;
  g_autoptr(GPtrArray) nodes = vn_graph_capture (self->graph, from, to, error);
  guint n = 0;

  if (nodes == NULL)
    return 0;

  for (guint i = 0; i < nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (nodes, i);

      if (rule->pattern != NULL && !vn_override_matches_labelled (rule, node, labels[node->index]))
        continue;
      resolver_apply_rule (&self->quant_nodes[node->index], rule, index);
      n++;
    }
  if (self->notes != NULL && rule->pattern == NULL)
    resolver_report_leaks (self, (guint) index, nodes, from, to);
  return n;
}

static char *
resolver_describe_rule (const VnOverride *rule)
{
  g_autofree char *from = NULL, *to = NULL;

  if (rule->pattern != NULL && rule->in_edges == NULL && rule->out_edges == NULL)
    return g_strdup (rule->pattern);
  from = rule->in_edges != NULL ? g_strjoinv (", ", rule->in_edges) : g_strdup ("");
  to = rule->out_edges != NULL ? g_strjoinv (", ", rule->out_edges) : g_strdup ("");
  if (rule->pattern != NULL)
    return g_strdup_printf ("%s … %s, %s", from, to, rule->pattern);
  return g_strdup_printf ("%s … %s", from, to);
}

static gboolean
resolver_rule_means (const VnGraph *graph,
                     gpointer       rule)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      g_autofree char *label = vn_node_dup_label (g_ptr_array_index (graph->nodes, i));

      if (vn_override_matches_labelled (rule, g_ptr_array_index (graph->nodes, i), label))
        return TRUE;
    }
  return FALSE;
}

static void
resolver_apply_rules (VnResolver  *self,
                      char       **labels)
{
  for (guint r = 0; r < self->scheme.rules->len; r++)
    {
      const VnOverride *rule = g_ptr_array_index (self->scheme.rules, r);
      g_autoptr(GError) error = NULL;
      g_autofree char *subject = NULL;
      guint n;

      if (!rule->enabled || vn_override_is_for_tensors (rule))
        continue;
      n = rule->in_edges == NULL && rule->out_edges == NULL ? resolver_apply_pattern (self, rule, (int) r, labels)
                                                            : resolver_apply_boundary (self, rule, (int) r, labels, &error);
      if (n > 0 || self->notes == NULL || self->scope != NULL ||
          vn_resolver_is_meant_inside (self, resolver_rule_means, (gpointer) rule))
        continue;

      subject = resolver_describe_rule (rule);
      if (error != NULL)
        vn_notes_add (self->notes, VN_NOTE_WARNING, "rule-matches-nothing", subject,
                      _("Rule %u matches no node: %s"), r + 1, error->message);
      else
        vn_notes_add (self->notes, VN_NOTE_WARNING, "rule-matches-nothing", subject,
                      _("Rule %u (%s) matches no node of the prepared model"), r + 1, subject);
    }
}

static gboolean
resolver_find_tail (VnResolver  *self,
                    GError     **error)
{
  g_autoptr(GPtrArray) nodes = NULL;

  if (self->scheme.placement.truncate == NULL)
    return TRUE;
  nodes = vn_model_truncate (self->model, (const char * const *) self->scheme.placement.truncate, error);
  for (guint i = 0; nodes != NULL && i < nodes->len; i++)
    self->quant_nodes[((const VnNode *) g_ptr_array_index (nodes, i))->index].tail = TRUE;
  return nodes != NULL;
}

static gboolean
resolver_collect_rules (VnResolver  *self,
                        GError     **error)
{
  g_auto(GStrv) labels = g_new0 (char *, self->graph->nodes->len + 1);

  for (guint i = 0; i < self->graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (self->graph->nodes, i);

      labels[i] = vn_node_dup_label (node);
      self->quant_nodes[i].op = vn_op_lookup_node (node, NULL);
    }
  resolver_apply_rules (self, labels);
  if (!vn_resolver_place (self, labels, error))
    return FALSE;
  vn_resolver_set_tensor_rules (self);
  return TRUE;
}

static gboolean
resolver_is_blind (VnResolver     *self,
                   const VnNode   *node,
                   const gboolean *lost)
{
  for (guint i = 0; i < node->outputs->len; i++)
    {
      const VnValue *value = vn_node_get_output (node, i);

      if (value != NULL && lost[value->id] &&
          (self->lookup == NULL || self->lookup (value->name, self->lookup_data) == NULL) &&
          vn_resolver_find_given (self, value) == NULL)
        return TRUE;
    }
  return FALSE;
}

/*< private >
 * vn_resolver_skip_blind:
 *
 * What lies behind a node that cannot be run here has no ranges: it stays float. Statistics from elsewhere may know it
 * all the same.
 */
void
vn_resolver_skip_blind (VnResolver *self)
{
  g_autofree gboolean *lost = NULL;

  g_return_if_fail (self != NULL);

  lost = vn_graph_find_lost (self->graph);
  for (guint i = 0; i < self->graph->nodes->len; i++)
    {
      VnQuantNode *info = &self->quant_nodes[i];

      info->blind = resolver_is_blind (self, g_ptr_array_index (self->graph->nodes, i), lost);
      info->selected = info->selected && !info->blind;
    }
}

static void
resolver_clear_bias (gpointer data)
{
  g_free (((VnQuantBias *) data)->name);
}

/*< private >
 * vn_resolver_new:
 * @scope: (nullable): @model is a graph inside a node of another
 *
 * Returns: (transfer full): rules applied, nothing annotated yet; %NULL if the graph has a cycle
 */
VnResolver *
vn_resolver_new (const VnModel       *model,
                 const VnRecipe      *recipe,
                 const VnQuantScope  *scope,
                 VnNotes             *notes,
                 GError             **error)
{
  g_autoptr(VnResolver) self = g_new0 (VnResolver, 1);
  const VnGraph *graph;

  g_return_val_if_fail (model != NULL, NULL);

  graph = model->graph;
  self->model = model;
  self->graph = graph;
  self->recipe = recipe;
  vn_quant_scheme_init (&self->scheme, recipe);
  self->activation = self->scheme.activations.dtype;
  self->scope = scope;
  self->notes = notes;
  self->opset = vn_model_get_opset (model, "");
  self->quant_nodes = g_new0 (VnQuantNode, graph->nodes->len + 1);
  self->annotations = g_new0 (VnAnnotation, graph->values->len + 1);
  self->block_methods = vn_recipe_list_for_values (recipe, VN_LAYER_BLOCK_METHOD, graph);
  self->block_sizes = vn_recipe_list_blocks_for_values (recipe, graph);
  self->biases = g_array_new (FALSE, TRUE, sizeof (VnQuantBias));
  self->clamps = g_ptr_array_new ();
  self->captured = vn_graph_find_captured (self->graph);
  self->with_bias = g_hash_table_new (NULL, NULL);
  self->bias_copies = g_hash_table_new (NULL, NULL);
  self->copy_names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_array_set_clear_func (self->biases, resolver_clear_bias);

  for (guint i = 0; i < graph->nodes->len; i++)
    self->quant_nodes[i].rule = self->quant_nodes[i].exclude_rule = -1;
  for (guint i = 0; i < graph->values->len; i++)
    {
      VnAnnotation *annotation = &self->annotations[i];

      annotation->axis = annotation->tensor_rule = -1;
      annotation->activation_rule = annotation->weight_rule = annotation->method_rule = annotation->percentile_rule = -1;
    }

  self->nodes = resolver_order_nodes (graph, error);
  if (self->nodes == NULL)
    return NULL;
  if (!resolver_find_tail (self, error) || !resolver_collect_rules (self, error))
    return NULL;
  return g_steal_pointer (&self);
}

/*< private >
 * vn_resolver_free:
 */
void
vn_resolver_free (VnResolver *self)
{
  if (self == NULL)
    return;

  g_clear_pointer (&self->nodes, g_ptr_array_unref);
  g_clear_pointer (&self->imported, vn_encoding_table_free);
  g_array_unref (self->biases);
  g_ptr_array_unref (self->clamps);
  g_hash_table_unref (self->captured);
  g_hash_table_unref (self->with_bias);
  g_hash_table_unref (self->bias_copies);
  g_clear_pointer (&self->suffixes, g_hash_table_unref);
  g_hash_table_unref (self->copy_names);
  g_free (self->quant_nodes);
  g_free (self->annotations);
  g_free (self->block_methods);
  g_free (self->block_sizes);
  g_free (self);
}
