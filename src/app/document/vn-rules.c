/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules of a recipe on the opened network: which nodes they are about, which rule decides, and the rules in words. */
#include "vn-rules.h"

#include "vn-i18n.h"
#include "vn-setting.h"
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

/**
 * vn_rule_describe_subject:
 *
 * Returns: (transfer full): what @rule is about: its pattern, its edges or its tensors
 */
char *
vn_rule_describe_subject (const VnOverride *rule)
{
  g_autofree char *from = NULL, *to = NULL;

  if (rule->tensors != NULL)
    return g_strjoinv (", ", rule->tensors);
  if (rule->in_edges == NULL && rule->out_edges == NULL)
    return g_strdup (rule->pattern != NULL ? rule->pattern : "");
  from = rule->in_edges != NULL ? g_strjoinv (", ", rule->in_edges) : g_strdup ("");
  to = rule->out_edges != NULL ? g_strjoinv (", ", rule->out_edges) : g_strdup ("");
  if (rule->pattern != NULL)
    return g_strdup_printf ("%s … %s, %s", from, to, rule->pattern);
  return g_strdup_printf ("%s … %s", from, to);
}

static void
rules_add_layer_settings (GString          *text,
                          const VnOverride *rule)
{
  guint n;
  const VnSetting *settings = vn_setting_list_of_rule (&n);

  for (guint i = 0; i < VN_N_LAYER_SETTINGS; i++)
    {
      const VnSetting *setting = vn_setting_find (settings, n, vn_layer_setting_get_id ((VnLayerSetting) i), NULL);
      g_autofree char *value = NULL;

      if (vn_setting_is_default (setting, rule))
        continue;
      value = vn_setting_dup_short_text (setting, rule);
      g_string_append_printf (text, " %s=%s", setting->id, value);
    }
}

/**
 * vn_rule_describe_effect:
 *
 * Returns: (transfer full): what @rule says, in a few words
 */
char *
vn_rule_describe_effect (const VnOverride *rule)
{
  g_autoptr(GString) text = g_string_new (NULL);

  if (rule->exclude)
    return g_strdup (_("float"));
  if (rule->activation != VN_DTYPE_UNDEFINED)
    g_string_append (text, vn_dtype_get_name (rule->activation));
  if (rule->weight != VN_DTYPE_UNDEFINED)
    g_string_append_printf (text, _(" weights %s"), vn_dtype_get_name (rule->weight));
  if (rule->method != NULL)
    g_string_append_printf (text, " %s", rule->method);
  if (rule->convert != VN_DTYPE_UNDEFINED)
    g_string_append_printf (text, _(" read as %s"), vn_dtype_get_name (rule->convert));
  if (rule->min != NULL || rule->max != NULL || rule->scales != NULL)
    g_string_append (text, _(" given range"));
  if (rule->float_results)
    g_string_append (text, _(" results in float"));
  rules_add_layer_settings (text, rule);
  if (text->len == 0)
    g_string_append (text, _("as the target says"));
  return g_strdup (g_strstrip (text->str));
}
