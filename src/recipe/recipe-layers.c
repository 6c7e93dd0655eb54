/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Settings that a recipe has for all nodes, and its rules for some: what holds for each node and each tensor. */
#include "vn-recipe-rules.h"

#include "vn-subgraph.h"

/* Where a recipe and a rule have them. */
static const struct { const char *id; gsize of_recipe, of_rule; } layers[] = {
#define VN_SETTING(...)
#define VN_RULE_SETTING(...)
#define VN_LAYER_SETTING(SYMBOL, GROUP, STAGE, NEED, field, id, ...) \
  { id, G_STRUCT_OFFSET (VnRecipe, field), G_STRUCT_OFFSET (VnOverride, field) },
#include "vn-settings.def"
#undef VN_SETTING
#undef VN_RULE_SETTING
#undef VN_LAYER_SETTING
};

/**
 * vn_layer_setting_get_id:
 *
 * Returns: its id in vn-settings.def
 */
const char *
vn_layer_setting_get_id (VnLayerSetting self)
{
  g_return_val_if_fail (self < VN_N_LAYER_SETTINGS, NULL);

  return layers[self].id;
}

/**
 * vn_recipe_get_layer_setting:
 * @self: a recipe
 * @which: a setting that rules have, too
 *
 * Returns: what @self says where no rule does
 */
int
vn_recipe_get_layer_setting (const VnRecipe *self,
                             VnLayerSetting  which)
{
  g_return_val_if_fail (self != NULL && which < VN_N_LAYER_SETTINGS, 0);

  return G_STRUCT_MEMBER (int, self, layers[which].of_recipe);
}

/**
 * vn_override_get_layer_setting:
 * @self: a rule
 * @which: a setting that rules have, too
 *
 * Returns: %VN_AS_RECIPE, or one more than what a recipe would say
 */
int
vn_override_get_layer_setting (const VnOverride *self,
                               VnLayerSetting    which)
{
  g_return_val_if_fail (self != NULL && which < VN_N_LAYER_SETTINGS, VN_AS_RECIPE);

  return self->enabled ? G_STRUCT_MEMBER (int, self, layers[which].of_rule) : VN_AS_RECIPE;
}

static const VnOverride *
layers_get_rule (const VnRecipe *self,
                 guint           index)
{
  return g_ptr_array_index (self->overrides, index);
}

/**
 * vn_recipe_get_most:
 *
 * Returns: the largest of what @self and those of its rules that are enabled say; 0: nothing is to be done anywhere
 */
int
vn_recipe_get_most (const VnRecipe *self,
                    VnLayerSetting  which)
{
  int most;

  g_return_val_if_fail (self != NULL && which < VN_N_LAYER_SETTINGS, 0);

  most = vn_recipe_get_layer_setting (self, which);
  for (guint i = 0; i < self->overrides->len; i++)
    most = MAX (most, vn_override_get_layer_setting (layers_get_rule (self, i), which) - 1);
  return most;
}

/**
 * vn_recipe_turn_off:
 *
 * From now on neither @self nor a rule of it asks for it.
 */
void
vn_recipe_turn_off (VnRecipe       *self,
                    VnLayerSetting  which)
{
  g_return_if_fail (self != NULL && which < VN_N_LAYER_SETTINGS);

  G_STRUCT_MEMBER (int, self, layers[which].of_recipe) = 0;
  for (guint i = 0; i < self->overrides->len; i++)
    G_STRUCT_MEMBER (int, g_ptr_array_index (self->overrides, i), layers[which].of_rule) = VN_AS_RECIPE;
}

/**
 * vn_recipe_find_rules_of_nodes:
 *
 * Returns: (transfer full) (array): for each node of @graph the number of the last rule that speaks of it, or -1
 */
int *
vn_recipe_find_rules_of_nodes (const VnRecipe *self,
                               const VnGraph  *graph)
{
  int *deciding;

  g_return_val_if_fail (self != NULL && graph != NULL, NULL);

  deciding = g_new (int, MAX (graph->nodes->len, 1));
  for (guint i = 0; i < graph->nodes->len; i++)
    deciding[i] = -1;
  for (guint r = 0; r < self->overrides->len; r++)
    {
      const VnOverride *rule = layers_get_rule (self, r);
      g_autoptr(GPtrArray) nodes = rule->enabled ? vn_override_find_nodes (rule, graph, NULL) : NULL;

      for (guint i = 0; nodes != NULL && i < nodes->len; i++)
        deciding[((const VnNode *) g_ptr_array_index (nodes, i))->index] = (int) r;
    }
  return deciding;
}

static gboolean
layers_any_rule_sets (const VnRecipe *self,
                      VnLayerSetting  which)
{
  for (guint i = 0; i < self->overrides->len; i++)
    if (vn_override_get_layer_setting (layers_get_rule (self, i), which) != VN_AS_RECIPE)
      return TRUE;
  return FALSE;
}

/**
 * vn_recipe_list_for_nodes:
 *
 * Returns: (transfer full) (array): what holds for each node of @graph: what the last rule says that speaks of it, or the recipe
 */
int *
vn_recipe_list_for_nodes (const VnRecipe *self,
                          VnLayerSetting  which,
                          const VnGraph  *graph)
{
  g_autofree int *rules = NULL;
  int *list;

  g_return_val_if_fail (self != NULL && which < VN_N_LAYER_SETTINGS && graph != NULL, NULL);

  if (layers_any_rule_sets (self, which))
    rules = vn_recipe_find_rules_of_nodes (self, graph);
  list = g_new (int, MAX (graph->nodes->len, 1));
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      int said = rules != NULL && rules[i] >= 0 ? vn_override_get_layer_setting (layers_get_rule (self, (guint) rules[i]), which)
                                                : VN_AS_RECIPE;

      list[i] = said != VN_AS_RECIPE ? said - 1 : vn_recipe_get_layer_setting (self, which);
    }
  return list;
}

/* ---- tensors ---- */

static void
layers_take_value (int           *rules,
                   const VnGraph *graph,
                   const VnValue *value,
                   int            rule)
{
  if (value != NULL && value->graph == graph)
    rules[value->id] = MAX (rules[value->id], rule);
}

static void
layers_take_node (int          *rules,
                  const VnNode *node,
                  int           rule)
{
  for (guint i = 0; i < node->inputs->len; i++)
    layers_take_value (rules, node->graph, vn_node_get_input (node, i), rule);
  for (guint i = 0; i < node->outputs->len; i++)
    layers_take_value (rules, node->graph, vn_node_get_output (node, i), rule);
}

static void
layers_take_tensors (int              *rules,
                     const VnGraph    *graph,
                     const VnOverride *rule,
                     int               index)
{
  for (guint i = 0; i < graph->values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (graph->values, i);

      for (char **pattern = rule->tensors; *pattern != NULL; pattern++)
        if (vn_pattern_matches_text (*pattern, value->name))
          rules[value->id] = MAX (rules[value->id], index);
    }
}

/**
 * vn_recipe_list_for_values:
 *
 * A rule about a node speaks of what it reads and writes.
 *
 * Returns: (transfer full) (array): by VnValue.id: what the last rule says that says something about a tensor, one more than a
 *   recipe would say; %VN_AS_RECIPE: none does
 */
int *
vn_recipe_list_for_values (const VnRecipe *self,
                           VnLayerSetting  which,
                           const VnGraph  *graph)
{
  g_autofree int *of_nodes = NULL;
  int *rules;

  g_return_val_if_fail (self != NULL && which < VN_N_LAYER_SETTINGS && graph != NULL, NULL);

  rules = g_new (int, MAX (graph->values->len, 1));
  for (guint i = 0; i < graph->values->len; i++)
    rules[i] = -1;
  of_nodes = layers_any_rule_sets (self, which) ? vn_recipe_find_rules_of_nodes (self, graph) : NULL;
  for (guint i = 0; of_nodes != NULL && i < graph->nodes->len; i++)
    if (of_nodes[i] >= 0 && vn_override_get_layer_setting (layers_get_rule (self, (guint) of_nodes[i]), which) != VN_AS_RECIPE)
      layers_take_node (rules, g_ptr_array_index (graph->nodes, i), of_nodes[i]);
  for (guint r = 0; of_nodes != NULL && r < self->overrides->len; r++)
    {
      const VnOverride *rule = layers_get_rule (self, r);

      if (vn_override_is_for_tensors (rule) && vn_override_get_layer_setting (rule, which) != VN_AS_RECIPE)
        layers_take_tensors (rules, graph, rule, (int) r);
    }
  for (guint i = 0; i < graph->values->len; i++)
    rules[i] = rules[i] >= 0 ? vn_override_get_layer_setting (layers_get_rule (self, (guint) rules[i]), which) : VN_AS_RECIPE;
  return rules;
}

/* ---- blocks ---- */

/**
 * vn_recipe_list_blocks_for_values:
 *
 * Returns: (transfer full) (array): by VnValue.id: the size of blocks that the last rule says that says one; 0: none does
 */
gint64 *
vn_recipe_list_blocks_for_values (const VnRecipe *self,
                                  const VnGraph  *graph)
{
  g_autofree int *rules = NULL;
  gint64 *list;

  g_return_val_if_fail (self != NULL && graph != NULL, NULL);

  rules = g_new (int, MAX (graph->values->len, 1));
  list = g_new0 (gint64, MAX (graph->values->len, 1));
  for (guint r = 0; r < self->overrides->len; r++)
    {
      const VnOverride *rule = layers_get_rule (self, r);
      g_autoptr(GPtrArray) nodes = NULL;

      if (!rule->enabled || rule->block_size == 0)
        continue;
      for (guint i = 0; i < graph->values->len; i++)
        rules[i] = -1;
      if (vn_override_is_for_tensors (rule))
        layers_take_tensors (rules, graph, rule, (int) r);
      else
        nodes = vn_override_find_nodes (rule, graph, NULL);
      for (guint i = 0; nodes != NULL && i < nodes->len; i++)
        layers_take_node (rules, g_ptr_array_index (nodes, i), (int) r);
      for (guint i = 0; i < graph->values->len; i++)
        list[i] = rules[i] >= 0 ? rule->block_size : list[i];
    }
  return list;
}

/**
 * vn_recipe_has_blocks:
 *
 * Returns: whether some weights may have a scale for each block, by @self or by a rule of it
 */
gboolean
vn_recipe_has_blocks (const VnRecipe *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  for (guint i = 0; i < self->overrides->len; i++)
    if (layers_get_rule (self, i)->enabled && layers_get_rule (self, i)->block_size > 0)
      return TRUE;
  return self->block_size > 0 || vn_recipe_get_format (self)->packed_matrices;
}

/**
 * vn_recipe_has_importance:
 *
 * Returns: whether scales of blocks are searched for with what samples tell of the inputs of the weights
 */
gboolean
vn_recipe_has_importance (const VnRecipe *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return self->importance && vn_recipe_has_blocks (self) &&
         vn_recipe_get_most (self, VN_LAYER_BLOCK_METHOD) != VN_BLOCK_METHOD_MINMAX;
}

/**
 * vn_recipe_has_wide_share:
 *
 * Returns: whether some of the weights get 8 bits instead of fewer, as far as samples tell which
 */
gboolean
vn_recipe_has_wide_share (const VnRecipe *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return self->wide_share > 0 && vn_recipe_get_format (self)->weights_only && vn_dtype_get_bits (self->weight) < 8;
}

/* ---- training ---- */

gboolean
vn_train_scales (int train)
{
  return train == VN_TRAIN_THRESHOLDS || train == VN_TRAIN_ADAROUND_THRESHOLDS || train == VN_TRAIN_ADAQUANT_THRESHOLDS;
}

gboolean
vn_train_rounds (int train)
{
  return train == VN_TRAIN_ADAROUND || train == VN_TRAIN_ADAROUND_THRESHOLDS;
}

gboolean
vn_train_weights (int train)
{
  return train == VN_TRAIN_ADAQUANT || train == VN_TRAIN_ADAQUANT_THRESHOLDS;
}

/**
 * vn_recipe_has_factors:
 *
 * Returns: whether ranges are multiplied by the factors that statistics carry
 */
gboolean
vn_recipe_has_factors (const VnRecipe *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return self->range_search != VN_RANGE_SEARCH_OFF || vn_train_scales (vn_recipe_get_most (self, VN_LAYER_TRAIN));
}
