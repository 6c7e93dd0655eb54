/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules as people made them: those for the nodes of one selection are one. */
#include "vn-rule-groups.h"

#include "vn-node-item.h"
#include "vn-rule-name.h"
#include "vn-rules.h"
#include "vn-setting.h"

#include <string.h>

static void
rule_groups_free (gpointer data)
{
  VnRuleGroup *self = data;

  gtk_bitset_unref (self->nodes);
  g_free (self->title);
  g_free (self->key);
  g_free (self);
}

static gboolean
rule_groups_is_plain (const VnOverride *rule)
{
  return rule->pattern != NULL && rule->in_edges == NULL && rule->out_edges == NULL;
}

/* Of a rule that names one node: the node's label; else NULL. */
static const char *
rule_groups_get_label (const VnOverride *rule,
                       GtkBitset        *nodes)
{
  return rule_groups_is_plain (rule) && strpbrk (rule->pattern, "*?:") == NULL && gtk_bitset_get_size (nodes) == 1 ? rule->pattern : NULL;
}

/* label -> index + 1 */
static GHashTable *
rule_groups_index_labels (GListModel *nodes)
{
  GHashTable *labels = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; i < g_list_model_get_n_items (nodes); i++)
    {
      g_autoptr(VnNodeItem) item = g_list_model_get_item (nodes, i);

      g_hash_table_insert (labels, g_strdup (item->label), GUINT_TO_POINTER (item->index + 1));
    }
  return labels;
}

/* Most rules name a node: of thousands nobody looks through the whole network for each. */
static GtkBitset *
rule_groups_find_nodes (const VnOverride *rule,
                        VnModel          *model,
                        GHashTable       *labels)
{
  guint at = rule_groups_is_plain (rule) ? GPOINTER_TO_UINT (g_hash_table_lookup (labels, rule->pattern)) : 0;

  if (at > 0)
    return gtk_bitset_new_range (at - 1, 1);
  return model != NULL ? vn_rule_dup_nodes (rule, model->graph) : gtk_bitset_new_empty ();
}

static gboolean
rule_groups_say_the_same (const VnOverride *a,
                          const VnOverride *b)
{
  VnOverride one = *a, other = *b;

  one.pattern = other.pattern = NULL;
  return vn_settings_equal (vn_setting_list_of_rule, &one, &other);
}

/* Of nodes one says more than how the rule selects them, unless it selects them by a pattern that somebody wrote. */
static char *
rule_groups_make_title (const VnRecipe    *recipe,
                        const VnRuleGroup *group,
                        const VnGraph     *graph)
{
  const VnOverride *rule = g_ptr_array_index (recipe->overrides, group->first);
  char *title = NULL;

  if (rule->name != NULL)
    return g_strdup (rule->name);
  if (rule->tensors != NULL)
    return vn_rule_name_of_tensors (rule, graph);
  if (graph != NULL && (group->n > 1 || rule->pattern == NULL || rule_groups_get_label (rule, group->nodes) != NULL))
    title = vn_rule_name_of_nodes (graph, group->nodes);
  return title != NULL ? title : vn_override_dup_subject (rule);
}

static char *
rule_groups_make_key (const VnRecipe    *recipe,
                      const VnRuleGroup *group)
{
  g_autofree char *effect = vn_override_dup_effect (g_ptr_array_index (recipe->overrides, group->first));
  g_autoptr(GString) key = g_string_new (effect);

  for (guint i = 0; i < group->n; i++)
    {
      g_autofree char *subject = vn_override_dup_subject (g_ptr_array_index (recipe->overrides, group->first + i));

      g_string_append_printf (key, "\n%s", subject);
    }
  return g_string_free (g_steal_pointer (&key), FALSE);
}

static guint
rule_groups_count_matched (const VnRecipe    *recipe,
                           const VnRuleGroup *group,
                           VnModel           *model)
{
  const VnOverride *rule = g_ptr_array_index (recipe->overrides, group->first);

  if (rule->tensors != NULL && model != NULL)
    return vn_rule_count_tensors (rule, model->graph);
  return (guint) gtk_bitset_get_size (group->nodes);
}

static gboolean
rule_groups_belongs (const VnRecipe    *recipe,
                     const VnRuleGroup *group,
                     const VnOverride  *rule,
                     GtkBitset         *nodes)
{
  const VnOverride *first = g_ptr_array_index (recipe->overrides, group->first);
  g_autoptr(GtkBitset) one = gtk_bitset_new_range (gtk_bitset_get_minimum (group->nodes), 1);

  return gtk_bitset_get_size (group->nodes) == group->n && rule_groups_get_label (first, one) != NULL &&
         rule_groups_get_label (rule, nodes) != NULL && rule_groups_say_the_same (first, rule);
}

/**
 * vn_rule_groups_list:
 *
 * Returns: (transfer full) (element-type VnRuleGroup): the rules of @recipe, in order
 */
GPtrArray *
vn_rule_groups_list (const VnRecipe *recipe,
                     VnModel        *model,
                     GListModel     *nodes)
{
  GPtrArray *groups = g_ptr_array_new_with_free_func (rule_groups_free);
  g_autoptr(GHashTable) labels = NULL;

  g_return_val_if_fail (recipe != NULL && G_IS_LIST_MODEL (nodes), groups);

  if (recipe->overrides->len == 0)
    return groups;
  labels = rule_groups_index_labels (nodes);
  for (guint i = 0; i < recipe->overrides->len; i++)
    {
      const VnOverride *rule = g_ptr_array_index (recipe->overrides, i);
      g_autoptr(GtkBitset) about = rule_groups_find_nodes (rule, model, labels);
      VnRuleGroup *group = groups->len > 0 ? g_ptr_array_index (groups, groups->len - 1) : NULL;

      if (group == NULL || !rule_groups_belongs (recipe, group, rule, about))
        {
          group = g_new0 (VnRuleGroup, 1);
          group->first = i;
          group->nodes = gtk_bitset_new_empty ();
          group->enabled = TRUE;
          g_ptr_array_add (groups, group);
        }
      group->n++;
      group->enabled = group->enabled && rule->enabled;
      gtk_bitset_union (group->nodes, about);
    }
  for (guint i = 0; i < groups->len; i++)
    {
      VnRuleGroup *group = g_ptr_array_index (groups, i);

      group->n_matched = rule_groups_count_matched (recipe, group, model);
      group->title = rule_groups_make_title (recipe, group, model != NULL ? model->graph : NULL);
      group->key = rule_groups_make_key (recipe, group);
    }
  return groups;
}
