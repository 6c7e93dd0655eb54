/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules of a recipe on the opened network: which nodes they are about, and whether a region is closed. */
#include "vn-rules.h"

#include "vn-i18n.h"
#include "vn-subgraph.h"

/**
 * vn_rule_dup_nodes:
 *
 * Returns: (transfer full): indices of the nodes that @rule is about; none if its edges are not in @graph
 */
GtkBitset *
vn_rule_dup_nodes (const VnOverride *rule,
                   const VnGraph    *graph)
{
  g_autoptr(GPtrArray) nodes = NULL;
  GtkBitset *found = gtk_bitset_new_empty ();

  g_return_val_if_fail (graph != NULL, NULL);

  nodes = vn_override_find_nodes (rule, graph, NULL);
  for (guint i = 0; nodes != NULL && i < nodes->len; i++)
    gtk_bitset_add (found, ((const VnNode *) g_ptr_array_index (nodes, i))->index);
  return found;
}

/**
 * vn_rule_describe_leak:
 *
 * Returns: (transfer full) (nullable): which tensor crosses the edge of @rule's region without being named, and what to
 *   do; %NULL: none does, or @rule is about no region
 */
char *
vn_rule_describe_leak (const VnOverride *rule,
                       const VnGraph    *graph)
{
  g_return_val_if_fail (graph != NULL, NULL);

  static const char * const none[] = { NULL };
  const char * const *from = rule->in_edges != NULL ? (const char * const *) rule->in_edges : none;
  const char * const *to = rule->out_edges != NULL ? (const char * const *) rule->out_edges : none;
  g_autoptr(GError) error = NULL;
  g_autoptr(GPtrArray) nodes = NULL;
  g_autoptr(GArray) leaks = NULL;
  const VnLeak *leak;

  if (rule->pattern != NULL || (rule->in_edges == NULL && rule->out_edges == NULL))
    return NULL;
  nodes = vn_graph_capture (graph, from, to, &error);
  if (nodes == NULL)
    return g_strdup (error->message);
  leaks = vn_graph_find_leaks (graph, nodes, from, to);
  if (leaks->len == 0)
    return NULL;
  leak = &g_array_index (leaks, VnLeak, 0);
  return g_strdup_printf (leak->enters ? _("The region is open: “%s” enters it, too") : _("The region is open: “%s” leaves it, too"),
                          leak->value->name);
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
 * @nodes: indices of nodes
 *
 * Returns: (transfer full): a rule that names the edges of @nodes and says nothing yet
 */
VnOverride *
vn_rule_new_for_region (const VnGraph *graph,
                        GtkBitset     *nodes)
{
  g_autoptr(GPtrArray) list = g_ptr_array_new ();
  VnOverride *rule = vn_override_new ();
  VnBoundary boundary = { 0 };
  GtkBitsetIter iter;
  guint index;

  g_return_val_if_fail (graph != NULL, NULL);
  g_return_val_if_fail (nodes != NULL, NULL);

  for (gboolean ok = gtk_bitset_iter_init_first (&iter, nodes, &index); ok; ok = gtk_bitset_iter_next (&iter, &index))
    g_ptr_array_add (list, g_ptr_array_index (graph->nodes, index));
  vn_boundary_of_nodes (&boundary, graph, list);
  rule->in_edges = rules_dup_names (boundary.in_edges);
  rule->out_edges = rules_dup_names (boundary.out_edges);
  vn_boundary_clear (&boundary);
  return rule;
}
