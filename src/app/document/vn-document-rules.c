/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of rules: what a new one is called, how it gets another name, and that results call it so, too. */
#include "vn-document-private.h"

#include "vn-drop.h"
#include "vn-i18n.h"
#include "vn-rule-name.h"

/**
 * vn_document_set_group_func:
 * @func: (nullable): what the graph calls nodes that it shows as a group
 */
void
vn_document_set_group_func (VnDocument  *self,
                            VnGroupFunc  func,
                            gpointer     data)
{
  g_return_if_fail (VN_IS_DOCUMENT (self));

  self->group_title = func;
  self->group_data = data;
}

/**
 * vn_document_dup_rule_name:
 * @nodes: indices of nodes
 *
 * Returns: (transfer full) (nullable): what a rule about just these nodes is called unless somebody says otherwise; %NULL: there are none
 */
char *
vn_document_dup_rule_name (VnDocument *self,
                           GtkBitset  *nodes)
{
  g_autoptr(GArray) indices = NULL;
  GtkBitsetIter iter;
  guint index;
  char *title;

  g_return_val_if_fail (VN_IS_DOCUMENT (self) && nodes != NULL, NULL);

  if (self->model == NULL)
    return NULL;
  title = self->group_title != NULL && gtk_bitset_get_size (nodes) > 1 ? self->group_title (self->group_data, nodes) : NULL;
  if (title != NULL)
    return title;
  indices = g_array_new (FALSE, FALSE, sizeof (guint));
  for (gboolean ok = gtk_bitset_iter_init_first (&iter, nodes, &index); ok; ok = gtk_bitset_iter_next (&iter, &index))
    g_array_append_val (indices, index);
  return vn_rule_name_of_nodes (self->model->graph, (const guint *) indices->data, indices->len);
}

/**
 * vn_document_rename_rules:
 * @first: number of the first of @n rules
 * @name: (nullable): what they are called from now on; %NULL or blank: as what they are about
 *
 * One step that can be undone. Nothing is run, as nothing else changes.
 *
 * Returns: %FALSE if there are no such rules
 */
gboolean
vn_document_rename_rules (VnDocument *self,
                          guint       first,
                          guint       n,
                          const char *name)
{
  VnRecipe *recipe;

  g_return_val_if_fail (VN_IS_DOCUMENT (self), FALSE);

  if (n == 0 || first >= self->recipe->overrides->len || n > self->recipe->overrides->len - first)
    return FALSE;
  recipe = vn_recipe_copy (self->recipe);
  for (guint i = first; i < first + n; i++)
    vn_override_set_name (g_ptr_array_index (recipe->overrides, i), name);
  vn_document_edit_recipe (self, recipe, _("Rule renamed"));
  return TRUE;
}

/**
 * vn_document_dup_named:
 * @result: of a run, or what is expected
 *
 * Returns: (transfer full): @result; if it was made with the present recipe but for names that have changed since, the same with the
 *   present ones
 */
VnResult *
vn_document_dup_named (VnDocument *self,
                       VnResult   *result)
{
  g_return_val_if_fail (VN_IS_DOCUMENT (self) && result != NULL, NULL);

  if (result->recipe == NULL || vn_recipe_has_equal_names (result->recipe, self->recipe) || !vn_recipe_equal (result->recipe, self->recipe))
    return vn_result_ref (result);
  return vn_result_new_named (result, self->recipe);
}

static gboolean
document_rules_name (VnDocument  *self,
                     VnResult   **result)
{
  VnResult *named = *result != NULL ? vn_document_dup_named (self, *result) : NULL, *old = *result;
  gboolean changed = named != old;

  *result = named;
  if (changed)
    vn_drop_large (old, (GDestroyNotify) vn_result_unref);
  else if (old != NULL)
    vn_result_unref (old);
  return changed;
}

/**
 * vn_document_name_results:
 *
 * What was found with the present recipe calls its rules as that does: reports tell them.
 */
void
vn_document_name_results (VnDocument *self)
{
  gboolean changed;

  g_return_if_fail (VN_IS_DOCUMENT (self));

  changed = document_rules_name (self, &self->result);
  changed |= document_rules_name (self, &self->expected);
  changed |= document_rules_name (self, &self->past);
  for (guint i = 0; i < self->known->len; i++)
    document_rules_name (self, (VnResult **) &g_ptr_array_index (self->known, i));
  if (!changed)
    return;
  if (self->result != NULL)
    vn_document_renew_run (self, self->result);
  vn_document_update_nodes (self);
  g_signal_emit (self, vn_document_signals[VN_SIGNAL_RESULT], 0);
}
