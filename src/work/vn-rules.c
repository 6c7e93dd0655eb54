/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules of a recipe on the opened network: which nodes they are about, and whether a region is closed. */
#include "vn-rules.h"

#include "vn-i18n.h"
#include "vn-subgraph.h"

#include <string.h>

static int
rules_compare_indices (gconstpointer a,
                       gconstpointer b)
{
  const guint p = *(const guint *) a, q = *(const guint *) b;

  return p < q ? -1 : p > q;
}

/**
 * vn_rule_list_nodes:
 *
 * Returns: (transfer full) (element-type guint): indices of the nodes that @rule is about, ascending; none if its edges are not
 * in @graph
 */
GArray *
vn_rule_list_nodes (const VnOverride *rule,
                    const VnGraph    *graph)
{
  GArray *found = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autoptr(GPtrArray) nodes = NULL;

  g_return_val_if_fail (rule != NULL && graph != NULL, found);

  nodes = vn_override_find_nodes (rule, graph, NULL);
  for (guint i = 0; nodes != NULL && i < nodes->len; i++)
    g_array_append_val (found, ((const VnNode *) g_ptr_array_index (nodes, i))->index);
  g_array_sort (found, rules_compare_indices);
  return found;
}

static gboolean
rules_names_tensor (const VnOverride *rule,
                    const char       *name)
{
  for (guint i = 0; rule->tensors[i] != NULL; i++)
    if (vn_pattern_matches_text (rule->tensors[i], name))
      return TRUE;
  return FALSE;
}

/**
 * vn_rule_count_tensors:
 * @rule: about tensors
 *
 * Returns: how many tensors of @graph it names, or matches
 */
guint
vn_rule_count_tensors (const VnOverride *rule,
                       const VnGraph    *graph)
{
  guint n = 0;

  g_return_val_if_fail (rule != NULL && rule->tensors != NULL && graph != NULL, 0);

  if (rule->tensors[0] != NULL && rule->tensors[1] == NULL && strpbrk (rule->tensors[0], "*?") == NULL)
    return vn_graph_find_value (graph, rule->tensors[0]) != NULL;
  for (guint i = 0; i < graph->values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (graph->values, i);

      n += value != NULL && rules_names_tensor (rule, value->name);
    }
  return n;
}

static gboolean
rules_is_region (const VnOverride *rule)
{
  return rule->pattern == NULL && (rule->in_edges != NULL || rule->out_edges != NULL);
}

static const char * const *
rules_get_edges (char **edges)
{
  static const char * const none[] = { NULL };

  return edges != NULL ? (const char * const *) edges : none;
}

static void
rules_leak_free (gpointer data)
{
  VnRuleLeak *self = data;

  g_free (self->value);
  g_free (self->node);
  g_free (self);
}

/**
 * vn_rule_list_leaks:
 * @error: why there is no region at all: no such tensors, or nothing between them
 *
 * Returns: (transfer full) (element-type VnRuleLeak) (nullable): the tensors that cross the edge of @rule's region without being
 *   named; none if @rule is about no region; %NULL with @error set
 */
GPtrArray *
vn_rule_list_leaks (const VnOverride  *rule,
                    const VnGraph     *graph,
                    GError           **error)
{
  g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func (rules_leak_free), nodes = NULL;
  g_autoptr(GArray) leaks = NULL;

  g_return_val_if_fail (rule != NULL && graph != NULL, NULL);

  if (!rules_is_region (rule))
    return g_steal_pointer (&list);
  nodes = vn_graph_capture (graph, rules_get_edges (rule->in_edges), rules_get_edges (rule->out_edges), error);
  if (nodes == NULL)
    return NULL;
  leaks = vn_graph_find_leaks (graph, nodes, rules_get_edges (rule->in_edges), rules_get_edges (rule->out_edges));
  for (guint i = 0; i < leaks->len; i++)
    {
      const VnLeak *leak = &g_array_index (leaks, VnLeak, i);
      VnRuleLeak *item = g_new0 (VnRuleLeak, 1);

      item->value = g_strdup (leak->value->name);
      item->node = leak->node != NULL ? vn_node_dup_label (leak->node) : NULL;
      item->enters = leak->enters;
      g_ptr_array_add (list, item);
    }
  return g_steal_pointer (&list);
}

/**
 * vn_rule_leak_dup_text:
 *
 * Returns: (transfer full): where the tensor crosses the edge, and what that means
 */
char *
vn_rule_leak_dup_text (const VnRuleLeak *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  if (self->enters)
    return g_strdup_printf (_("enters the region at %s but is not one of its edges: it is converted there"), self->node);
  if (self->node == NULL)
    return g_strdup (_("leaves the region as a model output but is not one of its edges"));
  return g_strdup_printf (_("leaves the region to %s but is not one of its edges: it is converted there"), self->node);
}

/**
 * vn_rule_describe_leak:
 *
 * Returns: (transfer full) (nullable): which tensors cross the edge of @rule's region without being named; %NULL: none do, or
 *   @rule is about no region
 */
char *
vn_rule_describe_leak (const VnOverride *rule,
                       const VnGraph    *graph)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(GPtrArray) leaks = NULL;
  GString *text;

  g_return_val_if_fail (rule != NULL && graph != NULL, NULL);

  leaks = vn_rule_list_leaks (rule, graph, &error);
  if (leaks == NULL)
    return g_strdup (error->message);
  text = g_string_new (NULL);
  for (guint i = 0; i < leaks->len; i++)
    {
      const VnRuleLeak *leak = g_ptr_array_index (leaks, i);

      g_string_append (text, i > 0 ? "\n" : "");
      g_string_append_printf (text, leak->enters ? _("The region is not closed: “%s” also enters it")
                                                 : _("The region is not closed: “%s” also leaves it"), leak->value);
    }
  return g_string_free (text, text->len == 0);
}

/**
 * vn_rules_find_region:
 * @nodes: (array length=n): indices of nodes, ascending
 *
 * Returns: number of the rule of @recipe whose edges enclose just @nodes, the last if there are several; -1: there is none
 */
int
vn_rules_find_region (const VnRecipe *recipe,
                      const VnGraph  *graph,
                      const guint    *nodes,
                      guint           n)
{
  g_return_val_if_fail (recipe != NULL && graph != NULL && (nodes != NULL || n == 0), -1);

  for (guint i = recipe->overrides->len; i > 0; i--)
    {
      const VnOverride *rule = g_ptr_array_index (recipe->overrides, i - 1);
      g_autoptr(GArray) found = rules_is_region (rule) ? vn_rule_list_nodes (rule, graph) : NULL;

      if (found != NULL && found->len == n && (n == 0 || memcmp (found->data, nodes, n * sizeof (guint)) == 0))
        return (int) i - 1;
    }
  return -1;
}

/**
 * vn_rule_add_edge:
 * @enters: it is where the region begins; else where it ends
 *
 * Names one tensor more that the region of @rule begins or ends at.
 */
void
vn_rule_add_edge (VnOverride *rule,
                  const char *value,
                  gboolean    enters)
{
  char ***edges;
  guint n;

  g_return_if_fail (rule != NULL && value != NULL);

  edges = enters ? &rule->in_edges : &rule->out_edges;
  n = *edges != NULL ? g_strv_length (*edges) : 0;
  *edges = g_renew (char *, *edges, n + 2);
  (*edges)[n] = g_strdup (value);
  (*edges)[n + 1] = NULL;
}

static char **
rules_dup_names (GPtrArray *values)
{
  g_autoptr(GStrvBuilder) names = g_strv_builder_new ();

  for (guint i = 0; i < values->len; i++)
    g_strv_builder_add (names, ((const VnValue *) g_ptr_array_index (values, i))->name);
  return values->len > 0 ? g_strv_builder_end (names) : NULL;
}

/**
 * vn_rule_new_for_region:
 * @nodes: (array length=n): indices of nodes
 *
 * Returns: (transfer full): a rule that names the edges of @nodes and says nothing yet
 */
VnOverride *
vn_rule_new_for_region (const VnGraph *graph,
                        const guint   *nodes,
                        guint          n)
{
  g_autoptr(GPtrArray) list = g_ptr_array_new ();
  VnBoundary boundary = { 0 };
  VnOverride *rule;

  g_return_val_if_fail (graph != NULL && (nodes != NULL || n == 0), NULL);

  for (guint i = 0; i < n; i++)
    g_ptr_array_add (list, g_ptr_array_index (graph->nodes, nodes[i]));
  rule = vn_override_new ();
  vn_boundary_of_nodes (&boundary, graph, list);
  rule->in_edges = rules_dup_names (boundary.in_edges);
  rule->out_edges = rules_dup_names (boundary.out_edges);
  vn_boundary_clear (&boundary);
  return rule;
}
