/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules as people made them, for the lists of the window: vn_recipe_list_rule_sets() with what effects are kept by. */
#include "vn-rule-groups.h"

#include "vn-rules.h"

static void
rule_groups_free (gpointer data)
{
  VnRuleGroup *self = data;

  g_array_unref (self->nodes);
  g_free (self->title);
  g_free (self->key);
  g_free (self);
}

static char *
rule_groups_make_key (const VnRecipe  *recipe,
                      const VnRuleSet *set)
{
  g_autofree char *effect = vn_override_dup_effect (g_ptr_array_index (recipe->overrides, set->first));
  g_autoptr(GString) key = g_string_new (effect);

  for (guint i = 0; i < set->n; i++)
    {
      g_autofree char *subject = vn_override_dup_subject (g_ptr_array_index (recipe->overrides, set->first + i));

      g_string_append_printf (key, "\n%s", subject);
    }
  return g_string_free (g_steal_pointer (&key), FALSE);
}

static guint
rule_groups_count_matched (const VnRecipe  *recipe,
                           const VnRuleSet *set,
                           VnModel         *model)
{
  const VnOverride *rule = g_ptr_array_index (recipe->overrides, set->first);

  return rule->tensors != NULL && model != NULL ? vn_rule_count_tensors (rule, model->graph) : set->nodes->len;
}

/**
 * vn_rule_groups_list:
 *
 * Returns: (transfer full) (element-type VnRuleGroup): the rules of @recipe, in order
 */
GPtrArray *
vn_rule_groups_list (const VnRecipe *recipe,
                     VnModel        *model)
{
  GPtrArray *groups = g_ptr_array_new_with_free_func (rule_groups_free);
  g_autoptr(GPtrArray) sets = NULL;

  g_return_val_if_fail (recipe != NULL, groups);

  sets = vn_recipe_list_rule_sets (recipe, model != NULL ? model->graph : NULL);
  for (guint i = 0; i < sets->len; i++)
    {
      const VnRuleSet *set = g_ptr_array_index (sets, i);
      VnRuleGroup *group = g_new0 (VnRuleGroup, 1);

      *group = (VnRuleGroup) { set->first, set->n, rule_groups_count_matched (recipe, set, model), g_array_ref (set->nodes),
                               g_strdup (set->title), rule_groups_make_key (recipe, set), set->enabled };
      g_ptr_array_add (groups, group);
    }
  return groups;
}
