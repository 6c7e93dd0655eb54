/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The recipe of a document: its history with undo and redo, and edits of rules for the selected nodes. */
#include "vn-document-private.h"

#include "vn-i18n.h"
#include "vn-node-item.h"
#include "vn-rule-groups.h"
#include "vn-rule-name.h"
#include "vn-rules.h"

const VnRecipe *
vn_document_get_recipe (VnDocument *self)
{
  g_return_val_if_fail (VN_IS_DOCUMENT (self), NULL);

  return self->recipe;
}

/**
 * vn_document_is_stale:
 *
 * Returns: whether there is a result and it was made with another recipe or other samples than the present
 *   ones
 */
gboolean
vn_document_is_stale (VnDocument *self)
{
  g_return_val_if_fail (VN_IS_DOCUMENT (self), FALSE);

  if (self->past != NULL)
    return self->past_serial != self->data_serial || !vn_recipe_equal (self->past->recipe, self->recipe);
  return self->result != NULL &&
         (!self->result_fits || self->result_recipe == NULL ||
          !vn_recipe_equal (self->result_recipe, self->recipe));
}

static void
document_recipe_set (VnDocument *self,
                     VnRecipe   *recipe)
{
  self->recipe = recipe;
  vn_document_update_nodes (self);
  g_signal_emit (self, vn_document_signals[VN_SIGNAL_RECIPE], 0);
}

/* What is on the screen follows the rules; before the first run there is nothing to follow. A name changes nothing that was found. */
static void
document_recipe_replace (VnDocument *self,
                         VnRecipe   *recipe)
{
  g_autoptr(GError) error = NULL;
  gboolean only_names = vn_recipe_equal (self->recipe, recipe);

  document_recipe_set (self, recipe);
  if (only_names)
    vn_document_name_results (self);
  if (vn_document_lacks_samples (self) || only_names)
    return;
  if (self->result == NULL && self->past != NULL && !vn_document_is_stale (self))
    vn_document_drop_run (self);
  else if (self->result != NULL && self->result_fits)
    {
      vn_document_drop_run (self);
      vn_document_expect (self);
    }
  else if ((self->result != NULL || self->past != NULL || self->work == VN_WORK_QUANTIZE || self->work == VN_WORK_IMPROVE ||
            self->work == VN_WORK_CURVE) &&
           !vn_document_quantize (self, &error))
    g_signal_emit (self, vn_document_signals[VN_SIGNAL_FAILED], 0, _("Quantization failed"), error);
}

static gboolean
document_recipe_is_present (VnDocument     *self,
                            const VnRecipe *recipe)
{
  return vn_recipe_equal (self->recipe, recipe) && vn_recipe_has_equal_names (self->recipe, recipe);
}

static void
document_recipe_edit (VnDocument *self,
                      VnRecipe   *recipe,
                      const char *title,
                      gboolean    run_wanted)
{
  if (document_recipe_is_present (self, recipe))
    {
      vn_recipe_free (recipe);
      return;
    }
  if (!vn_recipe_equal (self->recipe, recipe))
    self->run_wanted = run_wanted;
  vn_history_push (self->history, self->recipe, title);
  document_recipe_replace (self, recipe);
}

/**
 * vn_document_edit_recipe:
 * @recipe: (transfer full): the recipe from now on
 * @title: what was done, in a few words
 *
 * One step that can be undone. Where there is a result it is brought up to date in the background: see vn_document_expect().
 */
void
vn_document_edit_recipe (VnDocument *self,
                         VnRecipe   *recipe,
                         const char *title)
{
  g_return_if_fail (VN_IS_DOCUMENT (self));

  document_recipe_edit (self, recipe, title, FALSE);
}

/**
 * vn_document_edit_and_run:
 * @recipe: (transfer full): the recipe from now on
 * @title: what was done, in a few words
 *
 * As vn_document_edit_recipe(), and there is a whole run also if nothing can be expected before.
 */
void
vn_document_edit_and_run (VnDocument *self,
                          VnRecipe   *recipe,
                          const char *title)
{
  g_return_if_fail (VN_IS_DOCUMENT (self));

  document_recipe_edit (self, recipe, title, TRUE);
}

/**
 * vn_document_take_recipe:
 * @recipe: (transfer full): of a result that is about to be shown
 * @title: what was done, in a few words
 *
 * As vn_document_edit_recipe(), but nothing is run: the result is there.
 */
void
vn_document_take_recipe (VnDocument *self,
                         VnRecipe   *recipe,
                         const char *title)
{
  g_return_if_fail (VN_IS_DOCUMENT (self));

  if (document_recipe_is_present (self, recipe))
    {
      vn_recipe_free (recipe);
      return;
    }
  vn_history_push (self->history, self->recipe, title);
  document_recipe_set (self, recipe);
}

/**
 * vn_document_bring_back:
 * @past: what a run found that the project keeps
 * @title: what was done, in a few words
 *
 * Its recipe becomes the present one, as a step that can be undone, and what it found is shown.
 */
void
vn_document_bring_back (VnDocument *self,
                        VnResult   *past,
                        const char *title)
{
  VnResult *known;

  g_return_if_fail (VN_IS_DOCUMENT (self) && past != NULL && title != NULL);

  vn_document_drop_run (self);
  vn_document_take_recipe (self, vn_recipe_copy (past->recipe), title);
  known = vn_document_find_known (self, self->recipe);
  if (known != NULL && self->result_fits)
    vn_document_take_known (self, known);
  else
    vn_document_show_past (self, past);
}

gboolean
vn_document_can_undo (VnDocument *self)
{
  g_return_val_if_fail (VN_IS_DOCUMENT (self), FALSE);

  return vn_history_can_undo (self->history);
}

gboolean
vn_document_can_redo (VnDocument *self)
{
  g_return_val_if_fail (VN_IS_DOCUMENT (self), FALSE);

  return vn_history_can_redo (self->history);
}

/**
 * vn_document_undo:
 *
 * Returns: (transfer none) (nullable): what was undone
 */
const char *
vn_document_undo (VnDocument *self)
{
  VnRecipe *recipe;
  const char *title;

  g_return_val_if_fail (VN_IS_DOCUMENT (self), NULL);

  recipe = self->recipe;
  title = vn_history_undo (self->history, &recipe);
  self->run_wanted = self->run_wanted && vn_recipe_equal (self->recipe, recipe);
  if (title != NULL)
    document_recipe_replace (self, recipe);
  return title;
}

/**
 * vn_document_redo:
 *
 * Returns: (transfer none) (nullable): what was done again
 */
const char *
vn_document_redo (VnDocument *self)
{
  VnRecipe *recipe;
  const char *title;

  g_return_val_if_fail (VN_IS_DOCUMENT (self), NULL);

  recipe = self->recipe;
  title = vn_history_redo (self->history, &recipe);
  self->run_wanted = self->run_wanted && vn_recipe_equal (self->recipe, recipe);
  if (title != NULL)
    document_recipe_replace (self, recipe);
  return title;
}

/* What a choice of the user means for this recipe. */
static VnDType
document_recipe_get_dtype (const VnRecipe    *recipe,
                           VnNodePrecision    precision)
{
  gboolean is_signed = vn_dtype_is_integer (recipe->activation) && vn_dtype_is_signed (recipe->activation);

  if (precision == VN_NODE_16_BIT)
    return is_signed ? VN_DTYPE_S16 : VN_DTYPE_U16;
  return is_signed ? VN_DTYPE_S8 : VN_DTYPE_U8;
}

/**
 * vn_document_get_precision_title:
 * @n: number of nodes
 *
 * Returns: (transfer full): what vn_document_set_precision() did, in a few words
 */
char *
vn_document_get_precision_title (VnNodePrecision precision,
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
document_recipe_make_wanted (const VnRecipe  *recipe,
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
    rule->activation = document_recipe_get_dtype (recipe, precision);
  return rule;
}

/* label -> how many rules are for just that node; those with a pattern for more are left alone. */
static GHashTable *
document_recipe_count_own_rules (const VnRecipe *recipe)
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

/* Those of @nodes that do not have the precision already by a rule of their own that decides; label -> itself. */
static GHashTable *
document_recipe_find_changed (VnDocument      *self,
                              GtkBitset       *nodes,
                              VnNodePrecision  precision)
{
  g_autoptr(GHashTable) counts = document_recipe_count_own_rules (self->recipe);
  g_autofree int *deciding = vn_recipe_find_rules_of_nodes (self->recipe, self->model->graph);
  GHashTable *changed = g_hash_table_new (g_str_hash, g_str_equal);
  GtkBitsetIter iter;
  guint index;

  for (gboolean ok = gtk_bitset_iter_init_first (&iter, nodes, &index); ok; ok = gtk_bitset_iter_next (&iter, &index))
    {
      g_autoptr(VnNodeItem) item = g_list_model_get_item (G_LIST_MODEL (self->nodes), index);
      guint n_own = item != NULL ? GPOINTER_TO_UINT (g_hash_table_lookup (counts, item->label)) : 0;
      const VnOverride *rule = item != NULL && deciding[index] >= 0 ? g_ptr_array_index (self->recipe->overrides, deciding[index]) : NULL;
      VnOverride *wanted = item != NULL ? document_recipe_make_wanted (self->recipe, item->label, precision) : NULL;
      gboolean is_so = wanted == NULL ? n_own == 0
                     : precision == VN_NODE_FLOAT && n_own == 0 ? rule != NULL && rule->exclude
                     : n_own == 1 && rule != NULL && vn_override_equal (rule, wanted);

      if (item != NULL && !is_so)
        g_hash_table_add (changed, item->label);
      vn_override_free (wanted);
    }
  return changed;
}

static void
document_recipe_remove_rules_of (VnRecipe   *recipe,
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
document_recipe_add_rules_for (VnDocument      *self,
                               VnRecipe        *recipe,
                               GtkBitset       *nodes,
                               GHashTable      *changed,
                               VnNodePrecision  precision)
{
  g_autofree int *deciding = vn_recipe_find_rules_of_nodes (recipe, self->model->graph);
  g_autofree char *name = vn_document_dup_rule_name (self, nodes), *unique = name != NULL ? vn_rule_name_make_unique (recipe, name) : NULL;
  g_autoptr(GPtrArray) added = g_ptr_array_new ();
  GtkBitsetIter iter;
  guint index;

  for (gboolean ok = gtk_bitset_iter_init_first (&iter, nodes, &index); ok; ok = gtk_bitset_iter_next (&iter, &index))
    {
      g_autoptr(VnNodeItem) item = g_list_model_get_item (G_LIST_MODEL (self->nodes), index);
      const VnOverride *rest = item != NULL && deciding[index] >= 0 ? g_ptr_array_index (recipe->overrides, deciding[index]) : NULL;
      VnOverride *rule;

      if (item == NULL || !g_hash_table_contains (changed, item->label) || (precision == VN_NODE_FLOAT && rest != NULL && rest->exclude))
        continue;
      rule = document_recipe_make_wanted (recipe, item->label, precision);
      vn_override_set_name (rule, unique);
      g_ptr_array_add (added, rule);
    }
  for (guint i = 0; i < added->len; i++)
    g_ptr_array_add (recipe->overrides, g_ptr_array_index (added, i));
}

/**
 * vn_document_make_precision:
 * @nodes: indices of nodes
 * @n: (out) (optional): how many of them it changes
 *
 * Returns: (transfer full) (nullable): the recipe with that precision of their outputs; %NULL if it is the present one
 */
VnRecipe *
vn_document_make_precision (VnDocument      *self,
                            GtkBitset       *nodes,
                            VnNodePrecision  precision,
                            guint           *n)
{
  g_autoptr(GHashTable) changed = NULL;
  VnRecipe *recipe;

  g_return_val_if_fail (VN_IS_DOCUMENT (self) && nodes != NULL, NULL);

  changed = self->model != NULL ? document_recipe_find_changed (self, nodes, precision) : g_hash_table_new (NULL, NULL);
  if (n != NULL)
    *n = g_hash_table_size (changed);
  if (g_hash_table_size (changed) == 0)
    return NULL;
  recipe = vn_recipe_copy (self->recipe);
  document_recipe_remove_rules_of (recipe, changed);
  if (precision != VN_NODE_AS_RECIPE)
    document_recipe_add_rules_for (self, recipe, nodes, changed, precision);
  return recipe;
}

/**
 * vn_document_add_rules:
 * @recipe: (transfer full): the present one with new rules, which are the last
 * @title: what was done, in a few words
 *
 * As vn_document_edit_recipe(), and what they gain is kept.
 */
void
vn_document_add_rules (VnDocument *self,
                       VnRecipe   *recipe,
                       const char *title)
{
  g_autoptr(GPtrArray) groups = NULL;
  const VnRuleGroup *last;

  g_return_if_fail (VN_IS_DOCUMENT (self) && recipe != NULL && title != NULL);

  groups = vn_rule_groups_list (recipe, self->model);
  last = groups->len > 0 ? g_ptr_array_index (groups, groups->len - 1) : NULL;
  if (last != NULL && recipe->overrides->len >= self->recipe->overrides->len)
    vn_document_note_effect (self, recipe, title, last->key);
  vn_document_edit_recipe (self, recipe, title);
}

/**
 * vn_document_set_precision:
 * @nodes: indices of nodes
 * @precision: of their outputs from now on
 *
 * One step, whatever the number of nodes. A node that a pattern for more than itself selects keeps that rule
 * when it is restored.
 *
 * Returns: how many nodes were changed
 */
guint
vn_document_set_precision (VnDocument      *self,
                           GtkBitset       *nodes,
                           VnNodePrecision  precision)
{
  g_autofree char *title = NULL;
  VnRecipe *recipe;
  guint n = 0;

  g_return_val_if_fail (VN_IS_DOCUMENT (self), 0);
  g_return_val_if_fail (nodes != NULL, 0);

  recipe = vn_document_make_precision (self, nodes, precision, &n);
  title = vn_document_get_precision_title (precision, n);
  if (recipe != NULL)
    vn_document_add_rules (self, recipe, title);
  return n;
}

/**
 * vn_document_add_region:
 * @nodes: indices of nodes
 * @precision: of their outputs from now on, not %VN_NODE_AS_RECIPE
 *
 * One rule for all of @nodes, which names the tensors that enter and leave them, as XQuant's configurations do. It goes on
 * to hold when the nodes between get other names.
 *
 * Returns: %FALSE if nothing enters or leaves @nodes, or there is such a rule already
 */
gboolean
vn_document_add_region (VnDocument      *self,
                        GtkBitset       *nodes,
                        VnNodePrecision  precision)
{
  VnRecipe *recipe;
  VnOverride *rule;
  g_autofree char *title = NULL, *name = NULL, *unique = NULL;
  guint n;

  g_return_val_if_fail (VN_IS_DOCUMENT (self), FALSE);
  g_return_val_if_fail (nodes != NULL, FALSE);
  g_return_val_if_fail (precision != VN_NODE_AS_RECIPE, FALSE);

  n = (guint) gtk_bitset_get_size (nodes);
  if (self->model == NULL || n == 0)
    return FALSE;
  rule = vn_rule_new_for_region (self->model->graph, nodes);
  if (rule->in_edges == NULL && rule->out_edges == NULL)
    {
      vn_override_free (rule);
      return FALSE;
    }
  rule->exclude = precision == VN_NODE_FLOAT;
  if (!rule->exclude)
    rule->activation = document_recipe_get_dtype (self->recipe, precision);
  name = vn_document_dup_rule_name (self, nodes);
  unique = name != NULL ? vn_rule_name_make_unique (self->recipe, name) : NULL;
  vn_override_set_name (rule, unique);
  recipe = vn_recipe_copy (self->recipe);
  g_ptr_array_add (recipe->overrides, rule);
  title = vn_document_get_precision_title (precision, n);
  vn_document_add_rules (self, recipe, title);
  return TRUE;
}

/**
 * vn_document_add_edge:
 * @rule: number of a rule about a region
 * @value: name of a tensor that crosses its edge
 * @enters: it enters the region; else it leaves it
 *
 * Names the tensor as an edge of the region, in one step that can be undone.
 *
 * Returns: %FALSE if there is no such rule
 */
gboolean
vn_document_add_edge (VnDocument *self,
                      guint       rule,
                      const char *value,
                      gboolean    enters)
{
  VnRecipe *recipe;
  g_autofree char *title = NULL;

  g_return_val_if_fail (VN_IS_DOCUMENT (self), FALSE);
  g_return_val_if_fail (value != NULL, FALSE);

  if (rule >= self->recipe->overrides->len)
    return FALSE;
  recipe = vn_recipe_copy (self->recipe);
  vn_rule_add_edge (g_ptr_array_index (recipe->overrides, rule), value, enters);
  title = g_strdup_printf (_("Edge “%s” added"), value);
  vn_document_edit_recipe (self, recipe, title);
  return TRUE;
}

static gboolean
document_recipe_has_rules (VnDocument *self,
                           guint       first,
                           guint       n)
{
  return n > 0 && first < self->recipe->overrides->len && n <= self->recipe->overrides->len - first;
}

/**
 * vn_document_move_rules:
 * @first: number of the first of @n rules
 * @before: number of the rule that they are to come before; the number of rules: behind all
 *
 * Changes the order: the last rule that speaks of a node decides.
 */
void
vn_document_move_rules (VnDocument *self,
                        guint       first,
                        guint       n,
                        guint       before)
{
  g_autoptr(GPtrArray) moved = NULL;
  VnRecipe *recipe;
  guint at;

  g_return_if_fail (VN_IS_DOCUMENT (self));

  if (!document_recipe_has_rules (self, first, n) || before > self->recipe->overrides->len || (before >= first && before <= first + n))
    return;
  recipe = vn_recipe_copy (self->recipe);
  moved = g_ptr_array_new ();
  for (guint i = 0; i < n; i++)
    g_ptr_array_add (moved, g_ptr_array_steal_index (recipe->overrides, first));
  at = before > first ? before - n : before;
  for (guint i = 0; i < n; i++)
    g_ptr_array_insert (recipe->overrides, (int) (at + i), g_ptr_array_index (moved, i));
  vn_document_edit_recipe (self, recipe, _("Rule moved"));
}

/**
 * vn_document_remove_rules:
 * @first: number of the first of @n rules
 */
void
vn_document_remove_rules (VnDocument *self,
                          guint       first,
                          guint       n)
{
  VnRecipe *recipe;

  g_return_if_fail (VN_IS_DOCUMENT (self));

  if (!document_recipe_has_rules (self, first, n))
    return;
  recipe = vn_recipe_copy (self->recipe);
  g_ptr_array_remove_range (recipe->overrides, first, n);
  vn_document_edit_recipe (self, recipe, _("Rule removed"));
}

/**
 * vn_document_enable_rules:
 * @first: number of the first of @n rules
 */
void
vn_document_enable_rules (VnDocument *self,
                          guint       first,
                          guint       n,
                          gboolean    enabled)
{
  VnRecipe *recipe;

  g_return_if_fail (VN_IS_DOCUMENT (self));

  if (!document_recipe_has_rules (self, first, n))
    return;
  recipe = vn_recipe_copy (self->recipe);
  for (guint i = 0; i < n; i++)
    ((VnOverride *) g_ptr_array_index (recipe->overrides, first + i))->enabled = enabled;
  vn_document_edit_recipe (self, recipe, enabled ? _("Rule switched on") : _("Rule switched off"));
}

/**
 * vn_document_lacks_samples:
 *
 * Returns: whether no samples have been chosen although the recipe takes some
 */
gboolean
vn_document_lacks_samples (VnDocument *self)
{
  g_return_val_if_fail (VN_IS_DOCUMENT (self), FALSE);

  return self->data == NULL && vn_recipe_needs_samples (self->recipe);
}
