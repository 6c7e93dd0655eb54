/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules as people made them: neighbours that each name one node and say the same of it are one. */
#include "vn-recipe.h"

#include "vn-rule-name.h"
#include "vn-setting.h"

#include <string.h>

/* Where nodes are by their labels: most rules name one, and of thousands nobody looks through the whole network for each. */
typedef struct
{
  const VnRecipe *recipe;
  const VnGraph  *graph;     /* nullable */
  GHashTable     *labels;    /* (nullable): label -> index + 1 */
} RuleSets;

static void
rule_sets_free (gpointer data)
{
  VnRuleSet *self = data;

  g_array_unref (self->nodes);
  g_free (self->title);
  g_free (self);
}

static const VnOverride *
rule_sets_get_rule (const RuleSets *self,
                    guint           i)
{
  return g_ptr_array_index (self->recipe->overrides, i);
}

static GHashTable *
rule_sets_index_labels (const VnGraph *graph)
{
  GHashTable *labels = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; i < graph->nodes->len; i++)
    g_hash_table_insert (labels, vn_node_dup_label (g_ptr_array_index (graph->nodes, i)), GUINT_TO_POINTER (i + 1));
  return labels;
}

static gboolean
rule_sets_is_plain (const VnOverride *rule)
{
  return rule->pattern != NULL && rule->in_edges == NULL && rule->out_edges == NULL;
}

/* Adds to @nodes what a rule is about. Returns: whether it names a single node */
static gboolean
rule_sets_find_nodes (const RuleSets   *self,
                      const VnOverride *rule,
                      GArray           *nodes)
{
  const gboolean plain = rule_sets_is_plain (rule);
  guint at = plain && self->labels != NULL ? GPOINTER_TO_UINT (g_hash_table_lookup (self->labels, rule->pattern)) : 0;
  g_autoptr(GPtrArray) found = NULL;

  if (at-- > 0)
    {
      g_array_append_val (nodes, at);
      return strpbrk (rule->pattern, "*?:") == NULL;
    }
  found = self->graph != NULL ? vn_override_find_nodes (rule, self->graph, NULL) : NULL;
  for (guint i = 0; found != NULL && i < found->len; i++)
    g_array_append_val (nodes, ((const VnNode *) g_ptr_array_index (found, i))->index);
  return plain && strpbrk (rule->pattern, "*?:") == NULL && found != NULL && found->len == 1;
}

static gboolean
rule_sets_are_equal (const VnOverride *a,
                     const VnOverride *b)
{
  VnOverride one = *a, other = *b;

  one.pattern = other.pattern = NULL;
  return vn_settings_equal (vn_setting_list_of_rule, &one, &other);
}

/* Of nodes one says more than how the rule selects them, unless it selects them by a pattern that somebody wrote. */
static char *
rule_sets_make_title (const RuleSets  *self,
                      const VnRuleSet *set)
{
  const VnOverride *rule = rule_sets_get_rule (self, set->first);
  char *title = NULL;

  if (rule->name != NULL)
    return g_strdup (rule->name);
  if (rule->tensors != NULL)
    return vn_rule_name_of_tensors (rule, self->graph);
  if (self->graph != NULL && (set->names_nodes || rule->pattern == NULL))
    title = vn_rule_name_of_nodes (self->graph, (const guint *) set->nodes->data, set->nodes->len);
  return title != NULL ? title : vn_override_dup_subject (rule);
}

static int
rule_sets_compare (gconstpointer a,
                   gconstpointer b)
{
  const guint p = *(const guint *) a, q = *(const guint *) b;

  return (p > q) - (p < q);
}

/* In order, each once. */
static void
rule_sets_sort_nodes (GArray *nodes)
{
  guint n = 0;

  g_array_sort (nodes, rule_sets_compare);
  for (guint i = 0; i < nodes->len; i++)
    if (i == 0 || g_array_index (nodes, guint, i) != g_array_index (nodes, guint, n - 1))
      g_array_index (nodes, guint, n++) = g_array_index (nodes, guint, i);
  g_array_set_size (nodes, n);
}

/* The rule @i, with the set before it if it belongs there. */
static void
rule_sets_add (const RuleSets *self,
               GPtrArray      *sets,
               guint           i)
{
  const VnOverride *rule = rule_sets_get_rule (self, i);
  g_autoptr(GArray) nodes = g_array_new (FALSE, FALSE, sizeof (guint));
  const gboolean names_node = rule_sets_find_nodes (self, rule, nodes);
  VnRuleSet *set = sets->len > 0 ? g_ptr_array_index (sets, sets->len - 1) : NULL;

  if (set == NULL || !names_node || !set->names_nodes || !rule_sets_are_equal (rule_sets_get_rule (self, set->first), rule))
    {
      set = g_new0 (VnRuleSet, 1);
      set->first = i;
      set->nodes = g_array_new (FALSE, FALSE, sizeof (guint));
      set->enabled = TRUE;
      set->names_nodes = names_node;
      g_ptr_array_add (sets, set);
    }
  set->n++;
  set->enabled = set->enabled && rule->enabled;
  g_array_append_vals (set->nodes, nodes->data, nodes->len);
}

/**
 * vn_recipe_list_rule_sets:
 * @graph: (nullable): the network as opened; %NULL: not there, so that each rule is a set
 *
 * Returns: (transfer full) (element-type VnRuleSet): the rules of @self in order, those that were made together as one
 */
GPtrArray *
vn_recipe_list_rule_sets (const VnRecipe *self,
                          const VnGraph  *graph)
{
  GPtrArray *sets = g_ptr_array_new_with_free_func (rule_sets_free);
  g_autoptr(GHashTable) labels = NULL;

  g_return_val_if_fail (self != NULL, sets);

  if (graph != NULL && self->overrides->len > 0)
    labels = rule_sets_index_labels (graph);
  for (guint i = 0; i < self->overrides->len; i++)
    rule_sets_add (&(RuleSets) { self, graph, labels }, sets, i);
  for (guint i = 0; i < sets->len; i++)
    {
      VnRuleSet *set = g_ptr_array_index (sets, i);

      rule_sets_sort_nodes (set->nodes);
      set->title = rule_sets_make_title (&(RuleSets) { self, graph, labels }, set);
    }
  return sets;
}
