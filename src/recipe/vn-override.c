/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Rules of a recipe, and the patterns by which they speak of nodes. */

#include "vn-recipe-rules.h"

#include "vn-subgraph.h"

#include <string.h>

/**
 * vn_override_new:
 *
 * Returns: (transfer full): an enabled rule that selects nothing and says nothing
 */
VnOverride *
vn_override_new (void)
{
  VnOverride *self = g_new0 (VnOverride, 1);

  vn_settings_reset (vn_setting_list_of_rule, self);
  return self;
}

/**
 * vn_override_free:
 * @self: (nullable) (transfer full): a rule
 */
void
vn_override_free (VnOverride *self)
{
  if (self == NULL)
    return;

  vn_settings_clear (vn_setting_list_of_rule, self);
  g_free (self);
}

/**
 * vn_override_copy:
 * @self: a rule
 *
 * Returns: (transfer full): a deep copy
 */
VnOverride *
vn_override_copy (const VnOverride *self)
{
  VnOverride *copy;

  g_return_val_if_fail (self != NULL, NULL);

  copy = g_memdup2 (self, sizeof *self);
  vn_settings_own (vn_setting_list_of_rule, copy);
  return copy;
}

/**
 * vn_override_equal:
 *
 * Returns: whether @a and @b are about the same and say the same; their names do not matter
 */
gboolean
vn_override_equal (const VnOverride *a,
                   const VnOverride *b)
{
  VnOverride one, other;

  g_return_val_if_fail (a != NULL && b != NULL, FALSE);

  one = *a;
  other = *b;
  one.name = other.name = NULL;
  return vn_settings_equal (vn_setting_list_of_rule, &one, &other);
}

/*< private >
 * vn_pattern_matches_text:
 * @pattern: glob
 *
 * Returns: whether @pattern is @text, or matches it
 */
gboolean
vn_pattern_matches_text (const char *pattern,
                         const char *text)
{
  GPatternSpec *spec;
  gboolean matches;

  g_return_val_if_fail (pattern != NULL && text != NULL, FALSE);

  if (g_str_equal (pattern, text))
    return TRUE;
  if (strpbrk (pattern, "*?") == NULL)
    return FALSE;

  spec = g_pattern_spec_new (pattern);
  matches = g_pattern_spec_match_string (spec, text);
  g_pattern_spec_free (spec);
  return matches;
}

/* Alternatives are separated by |. */
static gboolean
override_type_matches (const char   *patterns,
                       const VnNode *node)
{
  g_auto(GStrv) parts = g_strsplit (patterns, "|", -1);

  for (guint i = 0; parts[i] != NULL; i++)
    if (vn_pattern_matches_text (parts[i], node->op_type))
      return TRUE;
  return FALSE;
}

static gboolean
override_reads_constant (const VnNode *node)
{
  for (guint i = 0; i < node->inputs->len; i++)
    {
      const VnValue *value = vn_node_get_input (node, i);

      if (value != NULL && vn_value_is_constant (value))
        return TRUE;
    }
  return FALSE;
}

/**
 * vn_pattern_matches_node:
 * @pattern: glob over names, or "type:OP"
 * @label: what vn_node_dup_label() says of @node; callers with many patterns compute it once
 *
 * Returns: whether @pattern selects @node
 */
gboolean
vn_pattern_matches_node (const char   *pattern,
                         const VnNode *node,
                         const char   *label)
{
  g_return_val_if_fail (pattern != NULL && node != NULL && label != NULL, FALSE);

  if (g_str_has_prefix (pattern, VN_PATTERN_TYPE_PREFIX))
    return override_type_matches (pattern + strlen (VN_PATTERN_TYPE_PREFIX), node);
  if (g_str_has_prefix (pattern, VN_PATTERN_COMPUTED_PREFIX))
    return override_type_matches (pattern + strlen (VN_PATTERN_COMPUTED_PREFIX), node) && !override_reads_constant (node);
  if (node->name != NULL && *node->name != '\0' && vn_pattern_matches_text (pattern, node->name))
    return TRUE;
  return vn_pattern_matches_text (pattern, label);
}

/**
 * vn_override_matches_labelled:
 * @self: a rule
 * @node: a node
 * @label: what vn_node_dup_label() says of @node
 *
 * Returns: whether the pattern of @self selects @node
 */
gboolean
vn_override_matches_labelled (const VnOverride *self,
                              const VnNode     *node,
                              const char       *label)
{
  g_return_val_if_fail (self != NULL && node != NULL && label != NULL, FALSE);

  return self->pattern != NULL && vn_pattern_matches_node (self->pattern, node, label);
}

/**
 * vn_override_matches:
 * @self: a rule with a pattern
 * @node: a node
 *
 * A pattern is "type:OP|OP" (globs over operator types), "computed:OP|OP" (the same, of nodes that read no constant), or
 * a glob over node names. Nodes without a name are matched by
 * what vn_node_dup_label() calls them. An exact name always matches itself, whatever characters it holds.
 *
 * Returns: whether the pattern selects @node, wherever it lies; %FALSE for rules without one
 */
gboolean
vn_override_matches (const VnOverride *self,
                     const VnNode     *node)
{
  g_autofree char *label = NULL;

  g_return_val_if_fail (self != NULL && node != NULL, FALSE);

  label = vn_node_dup_label (node);
  return vn_override_matches_labelled (self, node, label);
}

/* Nodes of @graph, in order, or those between the edges of a region. */
static GPtrArray *
override_list_candidates (const VnOverride  *self,
                          const VnGraph     *graph,
                          GError           **error)
{
  static const char * const none[] = { NULL };
  GPtrArray *nodes;

  if (self->in_edges != NULL || self->out_edges != NULL)
    return vn_graph_capture (graph, self->in_edges != NULL ? (const char * const *) self->in_edges : none,
                             self->out_edges != NULL ? (const char * const *) self->out_edges : none, error);
  nodes = g_ptr_array_new ();
  for (guint i = 0; i < graph->nodes->len; i++)
    g_ptr_array_add (nodes, g_ptr_array_index (graph->nodes, i));
  return nodes;
}

/**
 * vn_override_find_nodes:
 * @self: a rule
 * @graph: where it applies
 *
 * Returns: (transfer full) (element-type VnNode) (nullable): the nodes the rule is about, none if it is about tensors;
 *   or %NULL if @graph has no tensors of the names of its edges
 */
GPtrArray *
vn_override_find_nodes (const VnOverride  *self,
                        const VnGraph     *graph,
                        GError           **error)
{
  g_autoptr(GPtrArray) candidates = NULL;
  GPtrArray *found = g_ptr_array_new ();
  gboolean by_edges;

  g_return_val_if_fail (self != NULL && graph != NULL, NULL);

  by_edges = self->in_edges != NULL || self->out_edges != NULL;
  if (self->pattern == NULL && !by_edges)
    return found;
  candidates = override_list_candidates (self, graph, error);
  if (candidates == NULL)
    {
      g_ptr_array_unref (found);
      return NULL;
    }
  for (guint i = 0; i < candidates->len; i++)
    if (self->pattern == NULL || vn_override_matches (self, g_ptr_array_index (candidates, i)))
      g_ptr_array_add (found, g_ptr_array_index (candidates, i));
  return found;
}
