/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What both sides of the page that compares show: the match of their nodes, and the node of the document in both of them. */
#include "compare-page-private.h"

#include "vn-compare-match.h"
#include "vn-compare-selection.h"

void
vn_compare_page_show_node (VnComparePage *self,
                           guint          side)
{
  g_autofree char *alone = NULL;
  guint node = vn_compare_selection_get_node (self->panes[side], &alone);

  vn_compare_tensor_set_node (self->tensor, node, alone);
}

void
vn_compare_page_travel_to_selection (VnComparePage *self)
{
  VnGraphView *view = vn_compare_pane_get_view (self->panes[0]);
  guint focus = vn_graph_view_get_focus_node (view);

  if (!self->wants_travel || self->match == NULL || vn_graph_view_get_layout (view) == NULL ||
      vn_graph_view_get_scene (view) != vn_compare_pane_get_scene (self->panes[0]) ||
      gtk_widget_get_width (GTK_WIDGET (view)) <= 0 ||
      gtk_widget_get_width (GTK_WIDGET (vn_compare_pane_get_view (self->panes[1]))) <= 0)
    return;
  self->wants_travel = FALSE;
  if (focus != VN_SCENE_NONE && vn_graph_view_is_selected (view, focus))
    vn_graph_view_zoom_to_node (view, focus);
}

/* What the document has selected, in both views. */
void
vn_compare_page_show_selection (VnComparePage *self)
{
  GtkBitset *selection = vn_document_get_selection (self->document);
  guint shown = 0;

  if (self->busy)
    return;
  self->busy = TRUE;
  for (guint side = 0; side < 2; side++)
    if (vn_compare_selection_show (self->panes[side], selection) == 1)
      shown = side;
  self->busy = FALSE;
  vn_compare_page_show_node (self, shown);
}

static void
compare_page_matched (gpointer     data,
                      VnNodeMatch *match,
                      VnAlignment *alignment)
{
  VnComparePage *self = data;

  g_clear_object (&self->matching);
  self->match = vn_node_match_ref (match);
  vn_compare_link_set_match (self->link, match, alignment);
  for (guint i = 0; i < 2; i++)
    vn_compare_pane_set_marks (self->panes[i], match, i);
  vn_compare_link_align (self->link);
  vn_compare_page_show_selection (self);
  vn_compare_page_travel_to_selection (self);
}

void
vn_compare_page_stop_matching (VnComparePage *self)
{
  if (self->matching != NULL)
    g_cancellable_cancel (self->matching);
  g_clear_object (&self->matching);
}

static void
compare_page_match (VnComparePage *self)
{
  VnComparedModel *models[] = { vn_compare_pane_get_model (self->panes[0]), vn_compare_pane_get_model (self->panes[1]) };
  VnScene *scenes[] = { vn_compare_pane_get_scene (self->panes[0]), vn_compare_pane_get_scene (self->panes[1]) };

  vn_compare_page_stop_matching (self);
  g_clear_pointer (&self->match, vn_node_match_unref);
  vn_compare_link_set_match (self->link, NULL, NULL);
  if (models[0] == NULL || models[1] == NULL)
    {
      for (guint i = 0; i < 2; i++)
        vn_compare_pane_show_alone (self->panes[i]);
      return;
    }
  self->matching = vn_compare_match_begin (G_OBJECT (self), models[0], models[1], scenes, compare_page_matched);
}

static const char *
compare_page_get_title (VnComparePage *self,
                        guint          side)
{
  VnCompareSource *source = vn_compare_pane_get_source (self->panes[side]);

  return source != NULL ? source->title : "";
}

void
vn_compare_page_models_changed (VnComparePage *self)
{
  compare_page_match (self);
  vn_compare_tensor_set_models (self->tensor, vn_compare_pane_get_model (self->panes[0]),
                                vn_compare_pane_get_model (self->panes[1]),
                                compare_page_get_title (self, 0), compare_page_get_title (self, 1));
  vn_compare_table_set_sides (self->table, vn_compare_pane_get_source (self->panes[0]),
                              vn_compare_pane_get_source (self->panes[1]));
}
