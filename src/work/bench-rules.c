/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules of a bench's recipe: those that are made for selected nodes, and changes of those that are there. */
#include "bench-private.h"

#include "vn-i18n.h"
#include "vn-rule-groups.h"
#include "vn-rule-name.h"
#include "vn-rules.h"

/* ---- names ---- */

/* What a rule about just these nodes is called unless somebody says otherwise; NULL: there are none. */
static char *
bench_rules_dup_name (VnBench     *self,
                      const guint *nodes,
                      guint        n)
{
  char *title = self->hooks.group_title != NULL && n > 1 ? self->hooks.group_title (self->hooks.group_data, nodes, n) : NULL;

  return title != NULL ? title : vn_rule_name_of_nodes (self->subject->model->graph, nodes, n);
}

static char *
bench_rules_dup_unique_name (VnBench        *self,
                             const VnRecipe *recipe,
                             const guint    *nodes,
                             guint           n)
{
  g_autofree char *name = bench_rules_dup_name (self, nodes, n);

  return name != NULL ? vn_rule_name_make_unique (recipe, name) : NULL;
}

/* ---- the precision of nodes ---- */

/* What a choice of the user means for this recipe. */
static VnDType
bench_rules_get_dtype (const VnRecipe  *recipe,
                       VnNodePrecision  precision)
{
  gboolean is_signed = vn_dtype_is_integer (recipe->activation) && vn_dtype_is_signed (recipe->activation);

  if (precision == VN_NODE_16_BIT)
    return is_signed ? VN_DTYPE_S16 : VN_DTYPE_U16;
  return is_signed ? VN_DTYPE_S8 : VN_DTYPE_U8;
}

/**
 * vn_bench_get_precision_title:
 * @n: number of nodes
 *
 * Returns: (transfer full): what vn_bench_set_precision() did, in a few words
 */
char *
vn_bench_get_precision_title (VnNodePrecision precision,
                              guint           n)
{
  switch (precision)
    {
    case VN_NODE_FLOAT:
      return g_strdup_printf (ngettext ("%u node left in float", "%u nodes left in float", n), n);
    case VN_NODE_8_BIT:
      return g_strdup_printf (ngettext ("%u node set to 8-bit", "%u nodes set to 8-bit", n), n);
    case VN_NODE_16_BIT:
      return g_strdup_printf (ngettext ("%u node set to 16-bit", "%u nodes set to 16-bit", n), n);
    case VN_NODE_AS_RECIPE:
      break;
    }
  return g_strdup_printf (ngettext ("%u node restored", "%u nodes restored", n), n);
}

/* What is wanted for one node; NULL: no rule of its own. */
static VnOverride *
bench_rules_make_wanted (const VnRecipe  *recipe,
                         const char      *label,
                         VnNodePrecision  precision)
{
  VnOverride *rule;

  if (precision == VN_NODE_AS_RECIPE)
    return NULL;
  rule = vn_override_new ();
  rule->pattern = g_strdup (label);
  rule->exclude = precision == VN_NODE_FLOAT;
  if (!rule->exclude)
    rule->activation = bench_rules_get_dtype (recipe, precision);
  return rule;
}

/* label -> how many rules are for just that node; those with a pattern for more are left alone. */
static GHashTable *
bench_rules_count_own (const VnRecipe *recipe)
{
  GHashTable *counts = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < recipe->overrides->len; i++)
    {
      char *pattern = ((VnOverride *) g_ptr_array_index (recipe->overrides, i))->pattern;

      if (pattern != NULL)
        g_hash_table_insert (counts, pattern, GUINT_TO_POINTER (GPOINTER_TO_UINT (g_hash_table_lookup (counts, pattern)) + 1));
    }
  return counts;
}

static const VnOverride *
bench_rules_get_deciding (const VnRecipe *recipe,
                          const int      *deciding,
                          guint           node)
{
  return deciding[node] >= 0 ? g_ptr_array_index (recipe->overrides, deciding[node]) : NULL;
}

/* Those of @nodes that do not have the precision already by a rule of their own that decides; label -> itself. */
static GHashTable *
bench_rules_find_changed (VnBench         *self,
                          const guint     *nodes,
                          guint            n,
                          VnNodePrecision  precision)
{
  const VnGraph *graph = self->subject->model->graph;
  g_autoptr(GHashTable) counts = bench_rules_count_own (self->recipe);
  g_autofree int *deciding = vn_recipe_find_rules_of_nodes (self->recipe, graph);
  GHashTable *changed = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; i < n; i++)
    {
      char *label = vn_node_dup_label (g_ptr_array_index (graph->nodes, nodes[i]));
      guint n_own = GPOINTER_TO_UINT (g_hash_table_lookup (counts, label));
      const VnOverride *rule = bench_rules_get_deciding (self->recipe, deciding, nodes[i]);
      VnOverride *wanted = bench_rules_make_wanted (self->recipe, label, precision);
      gboolean is_so = wanted == NULL ? n_own == 0
                     : precision == VN_NODE_FLOAT && n_own == 0 ? rule != NULL && rule->exclude
                     : n_own == 1 && rule != NULL && vn_override_equal (rule, wanted);

      vn_override_free (wanted);
      if (is_so)
        g_free (label);
      else
        g_hash_table_add (changed, label);
    }
  return changed;
}

static void
bench_rules_remove_of (VnRecipe   *recipe,
                       GHashTable *labels)
{
  g_autoptr(GPtrArray) rules = recipe->overrides;

  recipe->overrides = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_override_free);
  g_ptr_array_set_free_func (rules, NULL);
  for (guint i = 0; i < rules->len; i++)
    {
      VnOverride *rule = g_ptr_array_index (rules, i);

      if (rule->pattern != NULL && g_hash_table_contains (labels, rule->pattern))
        vn_override_free (rule);
      else
        g_ptr_array_add (recipe->overrides, rule);
    }
}

/* Each of the nodes gets a rule, unless what is left of the recipe says the same of it; all have one name. */
static void
bench_rules_add_for (VnBench         *self,
                     VnRecipe        *recipe,
                     const guint     *nodes,
                     guint            n,
                     GHashTable      *changed,
                     VnNodePrecision  precision)
{
  const VnGraph *graph = self->subject->model->graph;
  g_autofree int *deciding = vn_recipe_find_rules_of_nodes (recipe, graph);
  g_autofree char *unique = bench_rules_dup_unique_name (self, recipe, nodes, n);
  g_autoptr(GPtrArray) added = g_ptr_array_new ();

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *label = vn_node_dup_label (g_ptr_array_index (graph->nodes, nodes[i]));
      const VnOverride *rest = bench_rules_get_deciding (recipe, deciding, nodes[i]);
      VnOverride *rule;

      if (!g_hash_table_contains (changed, label) || (precision == VN_NODE_FLOAT && rest != NULL && rest->exclude))
        continue;
      rule = bench_rules_make_wanted (recipe, label, precision);
      vn_override_set_name (rule, unique);
      g_ptr_array_add (added, rule);
    }
  for (guint i = 0; i < added->len; i++)
    g_ptr_array_add (recipe->overrides, g_ptr_array_index (added, i));
}

/* The recipe with that precision of the outputs of @nodes; NULL if it is the present one. */
static VnRecipe *
bench_rules_make_precision (VnBench         *self,
                            const guint     *nodes,
                            guint            n,
                            VnNodePrecision  precision,
                            guint           *n_changed)
{
  g_autoptr(GHashTable) changed = NULL;
  VnRecipe *recipe;

  *n_changed = 0;
  if (self->subject->model == NULL)
    return NULL;
  changed = bench_rules_find_changed (self, nodes, n, precision);
  *n_changed = g_hash_table_size (changed);
  if (*n_changed == 0)
    return NULL;
  recipe = vn_recipe_copy (self->recipe);
  bench_rules_remove_of (recipe, changed);
  if (precision != VN_NODE_AS_RECIPE)
    bench_rules_add_for (self, recipe, nodes, n, changed, precision);
  return recipe;
}

static gboolean
bench_rules_are_nodes (VnBench     *self,
                       const guint *nodes,
                       guint        n)
{
  for (guint i = 0; self->subject->model != NULL && i < n; i++)
    if (nodes[i] >= self->subject->model->graph->nodes->len)
      return FALSE;
  return TRUE;
}

/*< private >
 * vn_bench_add_rules:
 * @recipe: (transfer full): the present one with new rules, which are the last
 * @title: what was done, in a few words
 *
 * As vn_bench_edit_recipe(), and what they gain is kept.
 */
void
vn_bench_add_rules (VnBench    *self,
                    VnRecipe   *recipe,
                    const char *title)
{
  g_autoptr(GPtrArray) groups = vn_rule_groups_list (recipe, self->subject->model);
  const VnRuleGroup *last = groups->len > 0 ? g_ptr_array_index (groups, groups->len - 1) : NULL;
  const gboolean has_added = last != NULL && recipe->overrides->len >= self->recipe->overrides->len;

  vn_bench_edit_and_keep (self, recipe, title, has_added ? last->key : NULL);
}

/**
 * vn_bench_set_precision:
 * @nodes: (array length=n): indices of nodes, ascending
 * @precision: of their outputs from now on
 *
 * One step, whatever the number of nodes. A node that a pattern for more than itself selects keeps that rule
 * when it is restored.
 *
 * Returns: how many nodes were changed
 */
guint
vn_bench_set_precision (VnBench         *self,
                        const guint     *nodes,
                        guint            n,
                        VnNodePrecision  precision)
{
  g_autofree char *title = NULL;
  VnRecipe *recipe;
  guint n_changed;

  g_return_val_if_fail (VN_IS_BENCH (self) && (nodes != NULL || n == 0) && bench_rules_are_nodes (self, nodes, n), 0);

  recipe = bench_rules_make_precision (self, nodes, n, precision, &n_changed);
  title = vn_bench_get_precision_title (precision, n_changed);
  if (recipe != NULL)
    vn_bench_add_rules (self, recipe, title);
  return n_changed;
}

/**
 * vn_bench_dup_precision_key:
 * @node: index of a node
 *
 * Returns: (transfer full) (nullable): the key of the change that gives the node that precision; %NULL: there is no such node
 */
char *
vn_bench_dup_precision_key (VnBench         *self,
                            guint            node,
                            VnNodePrecision  precision)
{
  g_autofree char *label = NULL;

  g_return_val_if_fail (VN_IS_BENCH (self), NULL);

  if (self->subject->model == NULL || !bench_rules_are_nodes (self, &node, 1))
    return NULL;
  label = vn_node_dup_label (g_ptr_array_index (self->subject->model->graph->nodes, node));
  return g_strdup_printf ("%s %s", precision == VN_NODE_FLOAT ? "float" : "16", label);
}

/**
 * vn_bench_try_precision:
 * @node: index of a node
 * @precision: %VN_NODE_16_BIT or %VN_NODE_FLOAT
 *
 * As vn_bench_set_precision() of one node, and what that gains is kept.
 *
 * Returns: whether that is a change
 */
gboolean
vn_bench_try_precision (VnBench         *self,
                        guint            node,
                        VnNodePrecision  precision)
{
  g_autofree char *key = NULL, *title = NULL, *name = NULL;
  VnRecipe *recipe;
  guint n;

  g_return_val_if_fail (VN_IS_BENCH (self), FALSE);
  g_return_val_if_fail (precision == VN_NODE_16_BIT || precision == VN_NODE_FLOAT, FALSE);

  key = vn_bench_dup_precision_key (self, node, precision);
  recipe = key != NULL ? bench_rules_make_precision (self, &node, 1, precision, &n) : NULL;
  if (recipe == NULL)
    return FALSE;
  name = vn_node_dup_title (g_ptr_array_index (self->subject->model->graph->nodes, node));
  title = g_strdup_printf (precision == VN_NODE_FLOAT ? _("%s left in float") : _("%s set to 16-bit"), name);
  vn_bench_try (self, recipe, title, key);
  return TRUE;
}

/* ---- regions ---- */

/**
 * vn_bench_add_region:
 * @nodes: (array length=n): indices of nodes, ascending
 * @precision: of their outputs from now on, not %VN_NODE_AS_RECIPE
 *
 * One rule for all of @nodes, which names the tensors that enter and leave them, as XQuant's configurations do. It goes on
 * to hold when the nodes between get other names.
 *
 * Returns: %FALSE if nothing enters or leaves @nodes
 */
gboolean
vn_bench_add_region (VnBench         *self,
                     const guint     *nodes,
                     guint            n,
                     VnNodePrecision  precision)
{
  VnRecipe *recipe;
  VnOverride *rule;
  g_autofree char *title = NULL, *unique = NULL;

  g_return_val_if_fail (VN_IS_BENCH (self) && (nodes != NULL || n == 0) && bench_rules_are_nodes (self, nodes, n), FALSE);
  g_return_val_if_fail (precision != VN_NODE_AS_RECIPE, FALSE);

  if (self->subject->model == NULL || n == 0)
    return FALSE;
  rule = vn_rule_new_for_region (self->subject->model->graph, nodes, n);
  if (rule->in_edges == NULL && rule->out_edges == NULL)
    {
      vn_override_free (rule);
      return FALSE;
    }
  rule->exclude = precision == VN_NODE_FLOAT;
  if (!rule->exclude)
    rule->activation = bench_rules_get_dtype (self->recipe, precision);
  unique = bench_rules_dup_unique_name (self, self->recipe, nodes, n);
  vn_override_set_name (rule, unique);
  recipe = vn_recipe_copy (self->recipe);
  g_ptr_array_add (recipe->overrides, rule);
  title = vn_bench_get_precision_title (precision, n);
  vn_bench_add_rules (self, recipe, title);
  return TRUE;
}

/**
 * vn_bench_add_edge:
 * @rule: number of a rule about a region
 * @value: name of a tensor that crosses its edge
 * @enters: it enters the region; else it leaves it
 *
 * Names the tensor as an edge of the region, in one step that can be undone.
 *
 * Returns: %FALSE if there is no such rule
 */
gboolean
vn_bench_add_edge (VnBench    *self,
                   guint       rule,
                   const char *value,
                   gboolean    enters)
{
  VnRecipe *recipe;
  g_autofree char *title = NULL;

  g_return_val_if_fail (VN_IS_BENCH (self), FALSE);
  g_return_val_if_fail (value != NULL, FALSE);

  if (rule >= self->recipe->overrides->len)
    return FALSE;
  recipe = vn_recipe_copy (self->recipe);
  vn_rule_add_edge (g_ptr_array_index (recipe->overrides, rule), value, enters);
  title = g_strdup_printf (_("Edge “%s” added"), value);
  vn_bench_edit_recipe (self, recipe, title);
  return TRUE;
}

static gboolean
bench_rules_has (VnBench *self,
                 guint    first,
                 guint    n)
{
  return n > 0 && first < self->recipe->overrides->len && n <= self->recipe->overrides->len - first;
}

/**
 * vn_bench_move_rules:
 * @first: number of the first of @n rules
 * @before: number of the rule that they are to come before; the number of rules: behind all
 *
 * Changes the order: the last rule that speaks of a node decides.
 */
void
vn_bench_move_rules (VnBench *self,
                     guint    first,
                     guint    n,
                     guint    before)
{
  g_autoptr(GPtrArray) moved = NULL;
  VnRecipe *recipe;
  guint at;

  g_return_if_fail (VN_IS_BENCH (self));

  if (!bench_rules_has (self, first, n) || before > self->recipe->overrides->len || (before >= first && before <= first + n))
    return;
  recipe = vn_recipe_copy (self->recipe);
  moved = g_ptr_array_new ();
  for (guint i = 0; i < n; i++)
    g_ptr_array_add (moved, g_ptr_array_steal_index (recipe->overrides, first));
  at = before > first ? before - n : before;
  for (guint i = 0; i < n; i++)
    g_ptr_array_insert (recipe->overrides, (int) (at + i), g_ptr_array_index (moved, i));
  vn_bench_edit_recipe (self, recipe, _("Rule moved"));
}

/**
 * vn_bench_remove_rules:
 * @first: number of the first of @n rules
 */
void
vn_bench_remove_rules (VnBench *self,
                       guint    first,
                       guint    n)
{
  VnRecipe *recipe;

  g_return_if_fail (VN_IS_BENCH (self));

  if (!bench_rules_has (self, first, n))
    return;
  recipe = vn_recipe_copy (self->recipe);
  g_ptr_array_remove_range (recipe->overrides, first, n);
  vn_bench_edit_recipe (self, recipe, _("Rule removed"));
}

/**
 * vn_bench_enable_rules:
 * @first: number of the first of @n rules
 */
void
vn_bench_enable_rules (VnBench  *self,
                       guint     first,
                       guint     n,
                       gboolean  enabled)
{
  VnRecipe *recipe;

  g_return_if_fail (VN_IS_BENCH (self));

  if (!bench_rules_has (self, first, n))
    return;
  recipe = vn_recipe_copy (self->recipe);
  for (guint i = 0; i < n; i++)
    ((VnOverride *) g_ptr_array_index (recipe->overrides, first + i))->enabled = enabled;
  vn_bench_edit_recipe (self, recipe, enabled ? _("Rule switched on") : _("Rule switched off"));
}

/**
 * vn_bench_rename_rules:
 * @first: number of the first of @n rules
 * @name: (nullable): what they are called from now on; %NULL or blank: as what they are about
 *
 * One step that can be undone. Nothing is run, as nothing else changes.
 *
 * Returns: %FALSE if there are no such rules
 */
gboolean
vn_bench_rename_rules (VnBench    *self,
                       guint       first,
                       guint       n,
                       const char *name)
{
  VnRecipe *recipe;

  g_return_val_if_fail (VN_IS_BENCH (self), FALSE);

  if (!bench_rules_has (self, first, n))
    return FALSE;
  recipe = vn_recipe_copy (self->recipe);
  for (guint i = first; i < first + n; i++)
    vn_override_set_name (g_ptr_array_index (recipe->overrides, i), name);
  vn_bench_edit_recipe (self, recipe, _("Rule renamed"));
  return TRUE;
}

