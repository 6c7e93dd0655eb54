/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What can be chosen for the sides of the page that compares: runs of the document, its networks, and files that are opened. */
#include "compare-page-private.h"

#include "vn-compare-sources.h"
#include "vn-later.h"

void
vn_compare_page_choose (VnComparePage *self,
                        GPtrArray     *list)
{
  VnCompareSource *chosen[] = { vn_compare_pane_get_source (self->panes[0]), vn_compare_pane_get_source (self->panes[1]) };
  VnCompareSource *present = vn_compare_sources_get_present (list, self->document);

  if (chosen[0] == NULL || !g_ptr_array_find (list, chosen[0], NULL))
    chosen[0] = vn_compare_sources_get_float (list);
  if (chosen[1] == NULL || chosen[1] == self->proposed || !g_ptr_array_find (list, chosen[1], NULL))
    chosen[1] = self->proposed = present;
  for (guint i = 0; i < 2; i++)
    vn_compare_pane_set_source (self->panes[i], chosen[i]);
  gtk_stack_set_visible_child_name (self->stack, chosen[1] != NULL ? "compare" : "empty");
  vn_compare_page_models_changed (self);
}

/* While the list changes, lists that show it choose by themselves: none does. */
void
vn_compare_page_set_lists (VnComparePage *self,
                           GPtrArray     *list)
{
  for (guint i = 0; i < 2; i++)
    vn_compare_pane_set_list (self->panes[i], NULL);
  g_list_store_splice (self->sources, 0, g_list_model_get_n_items (G_LIST_MODEL (self->sources)), list->pdata, list->len);
  for (guint i = 0; i < 2; i++)
    vn_compare_pane_set_list (self->panes[i], G_LIST_MODEL (self->sources));
  vn_compare_table_set_list (self->table, G_LIST_MODEL (self->sources));
}

void
vn_compare_page_update_sources (VnComparePage *self)
{
  g_autoptr(GPtrArray) list = vn_compare_sources_list (self->document, G_LIST_MODEL (self->sources));

  vn_compare_page_set_lists (self, list);
  vn_compare_page_choose (self, list);
}

void
vn_compare_page_sources_changed (VnComparePage *self)
{
  vn_later (self, self->document, (VnLaterFunc) vn_compare_page_update_sources);
}

/* Nothing of another model is kept. */
void
vn_compare_page_model_changed (VnComparePage *self)
{
  g_autoptr(GPtrArray) none = g_ptr_array_new ();

  for (guint i = 0; i < 2; i++)
    vn_compare_pane_set_source (self->panes[i], NULL);
  vn_compare_page_set_lists (self, none);
  vn_compare_page_sources_changed (self);
}

void
vn_compare_page_stop_loading (VnComparePage *self)
{
  for (guint i = 0; self->sources != NULL && i < g_list_model_get_n_items (G_LIST_MODEL (self->sources)); i++)
    {
      g_autoptr(VnCompareSource) source = g_list_model_get_item (G_LIST_MODEL (self->sources), i);

      vn_compare_source_cancel (source);
    }
}
