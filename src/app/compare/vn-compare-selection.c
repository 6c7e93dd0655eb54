/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is selected in a pane, as nodes of the float model: the selection that all pages share. */
#include "vn-compare-selection.h"

#include "vn-i18n.h"

static guint
compare_selection_find_float (VnComparePane *pane,
                              guint          at)
{
  const VnSceneNode *box = vn_scene_get_node (vn_compare_pane_get_scene (pane), at);

  return box->kind == VN_SCENE_NODE ? vn_compared_model_get_float_node (vn_compare_pane_get_model (pane), box->source)
         : VN_MATCH_NONE;
}

static guint
compare_selection_find_box (VnComparePane *pane,
                            guint          float_node)
{
  guint node = vn_compared_model_get_node (vn_compare_pane_get_model (pane), float_node);

  return node != VN_MATCH_NONE ? vn_scene_find_source (vn_compare_pane_get_scene (pane), node) : VN_SCENE_NONE;
}

/* While a network is being loaded the view may still show another. */
static gboolean
compare_selection_is_ready (VnComparePane *pane)
{
  VnScene *scene = vn_compare_pane_get_scene (pane);

  return scene != NULL && vn_compare_pane_get_model (pane) != NULL &&
         vn_graph_view_get_scene (vn_compare_pane_get_view (pane)) == scene;
}

/**
 * vn_compare_selection_read:
 *
 * Returns: (transfer full): the indices in the float model of what is selected in @pane; what stands for nothing there is left
 * out
 */
GtkBitset *
vn_compare_selection_read (VnComparePane *pane)
{
  g_autoptr(GtkBitset) selection = gtk_bitset_new_empty ();
  g_autoptr(GArray) nodes = NULL;

  g_return_val_if_fail (VN_IS_COMPARE_PANE (pane), NULL);

  if (!compare_selection_is_ready (pane))
    return g_steal_pointer (&selection);
  nodes = vn_graph_view_dup_selection (vn_compare_pane_get_view (pane));
  for (guint i = 0; i < nodes->len; i++)
    {
      guint node = compare_selection_find_float (pane, g_array_index (nodes, guint, i));

      if (node != VN_MATCH_NONE)
        gtk_bitset_add (selection, node);
    }
  return g_steal_pointer (&selection);
}

/**
 * vn_compare_selection_show:
 * @selection: indices in the float model
 *
 * Selects in @pane what they stand for; a single node gets the focus.
 *
 * Returns: the number of nodes that are selected there now; 0 if @pane shows no network
 */
guint
vn_compare_selection_show (VnComparePane   *pane,
                           const GtkBitset *selection)
{
  g_autoptr(GArray) nodes = g_array_new (FALSE, FALSE, sizeof (guint));
  VnGraphView *view;
  GtkBitsetIter iter;
  guint index;

  g_return_val_if_fail (VN_IS_COMPARE_PANE (pane) && selection != NULL, 0);

  if (!compare_selection_is_ready (pane))
    return 0;
  for (gboolean ok = gtk_bitset_iter_init_first (&iter, selection, &index); ok; ok = gtk_bitset_iter_next (&iter, &index))
    {
      guint at = compare_selection_find_box (pane, index);

      if (at != VN_SCENE_NONE)
        g_array_append_val (nodes, at);
    }
  view = vn_compare_pane_get_view (pane);
  vn_graph_view_select (view, (const guint *) (gpointer) nodes->data, nodes->len, FALSE);
  if (nodes->len == 1)
    vn_graph_view_set_focus_node (view, g_array_index (nodes, guint, 0));
  return nodes->len;
}

/**
 * vn_compare_selection_get_node:
 * @alone: (out) (transfer full) (nullable): says that the node stands for nothing in the float model; %NULL otherwise
 *
 * Returns: the index in the float model of the node that is looked at, which is the selected one with the focus; %VN_MATCH_NONE:
 * none
 */
guint
vn_compare_selection_get_node (VnComparePane  *pane,
                               char          **alone)
{
  VnGraphView *view;
  guint focus, node;

  g_return_val_if_fail (VN_IS_COMPARE_PANE (pane) && alone != NULL, VN_MATCH_NONE);

  *alone = NULL;
  view = vn_compare_pane_get_view (pane);
  focus = vn_graph_view_get_focus_node (view);
  if (!compare_selection_is_ready (pane) || focus == VN_SCENE_NONE || !vn_graph_view_is_selected (view, focus))
    return VN_MATCH_NONE;
  node = compare_selection_find_float (pane, focus);
  if (node == VN_MATCH_NONE && vn_scene_get_node (vn_compare_pane_get_scene (pane), focus)->kind == VN_SCENE_NODE)
    {
      const VnSceneNode *box = vn_scene_get_node (vn_compare_pane_get_scene (pane), focus);

      *alone = g_strdup_printf (_("%s %s has no counterpart in the float model."), box->op, box->name);
    }
  return node;
}
