/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The selection on the graph page: that of the document and that of the canvas are one; its bar, and travelling through it. */
#include "graph-page-private.h"

#include "vn-i18n.h"
#include "vn-leak-row.h"
#include "vn-node-set.h"
#include "vn-rules.h"
#include "vn-subgraph.h"

#define LEAK_WIDTH 300

void
vn_graph_page_show_selection (VnGraphPage *self)
{
  GtkBitset *selection = vn_document_get_selection (self->document);
  g_autoptr(GArray) nodes = g_array_new (FALSE, FALSE, sizeof (guint));
  GtkBitsetIter iter;
  guint index;

  if (self->busy || self->scene == NULL)
    return;
  for (gboolean ok = gtk_bitset_iter_init_first (&iter, selection, &index); ok;
       ok = gtk_bitset_iter_next (&iter, &index))
    {
      guint node = vn_scene_find_source (self->scene, index);

      if (node != VN_SCENE_NONE)
        g_array_append_val (nodes, node);
    }
  self->busy = TRUE;
  vn_graph_view_select (self->view, (const guint *) (gpointer) nodes->data, nodes->len, FALSE);
  vn_graph_view_select_tensor (self->view, vn_document_get_tensor (self->document));
  if (nodes->len == 1)
    vn_graph_view_set_focus_node (self->view, g_array_index (nodes, guint, 0));
  self->busy = FALSE;
}

/* From the canvas. */
void
vn_graph_page_take_selection (VnGraphPage *self)
{
  g_autoptr(GArray) nodes = NULL;
  g_autoptr(GtkBitset) selection = NULL;

  if (self->busy || self->scene == NULL)
    return;
  nodes = vn_graph_view_dup_selection (self->view);
  selection = gtk_bitset_new_empty ();
  for (guint i = 0; i < nodes->len; i++)
    {
      const VnSceneNode *node = vn_scene_get_node (self->scene, g_array_index (nodes, guint, i));

      if (vn_scene_node_is_of_model (node))
        gtk_bitset_add (selection, node->source);
    }
  self->busy = TRUE;
  if (gtk_bitset_is_empty (selection))
    vn_document_select_tensor (self->document, vn_graph_view_get_selected_tensor (self->view));
  vn_document_select (self->document, selection);
  self->busy = FALSE;
}

/* ---- groups ---- */

/* Whether just @nodes lie in @group, in groups inside it, too; counts those seen. */
static gboolean
graph_page_select_holds_only (VnGraphPage *self,
                              guint        group,
                              GtkBitset   *nodes,
                              guint64     *n_seen)
{
  guint n;
  const VnGroupChild *children = vn_groups_get_children (self->groups, group, &n);

  for (guint i = 0; i < n; i++)
    {
      const VnSceneNode *node = children[i].is_group ? NULL : vn_scene_get_node (self->scene, children[i].index);

      if (children[i].is_group && !graph_page_select_holds_only (self, children[i].index, nodes, n_seen))
        return FALSE;
      if (node == NULL || !vn_scene_node_is_of_model (node))
        continue;
      if (!gtk_bitset_contains (nodes, node->source))
        return FALSE;
      (*n_seen)++;
    }
  return TRUE;
}

/* With the groups around it: “layer 3, attention”. */
static char *
graph_page_select_join_titles (VnGraphPage *self,
                               guint        group)
{
  g_autoptr(GString) text = g_string_new (NULL);

  for (guint at = group; at != VN_GROUPS_ROOT && at != VN_SCENE_NONE; at = vn_groups_get (self->groups, at)->parent)
    {
      g_string_prepend (text, at == group ? "" : ", ");
      g_string_prepend (text, vn_groups_get (self->groups, at)->title);
    }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/**
 * vn_graph_page_dup_group_title:
 *
 * A VnGroupFunc.
 */
char *
vn_graph_page_dup_group_title (gpointer     page,
                               const guint *nodes,
                               guint        n)
{
  VnGraphPage *self = page;
  guint node = self->scene != NULL && self->groups != NULL && n > 0
               ? vn_scene_find_source (self->scene, nodes[0]) : VN_SCENE_NONE;
  g_autoptr(GtkBitset) set = NULL;

  if (node == VN_SCENE_NONE || self->grouped != vn_bench_get_model (VN_BENCH (self->document)))
    return NULL;
  set = gtk_bitset_new_empty ();
  for (guint i = 0; i < n; i++)
    gtk_bitset_add (set, nodes[i]);
  for (guint group = vn_groups_of_node (self->groups, node); group != VN_GROUPS_ROOT && group != VN_SCENE_NONE;
       group = vn_groups_get (self->groups, group)->parent)
    {
      guint64 n_seen = 0;

      if (!graph_page_select_holds_only (self, group, set, &n_seen))
        return NULL;
      if (n_seen == n)
        return graph_page_select_join_titles (self, group);
    }
  return NULL;
}

/* ---- bar ---- */

static char **
graph_page_select_list_names (GPtrArray *values)
{
  char **names = g_new0 (char *, values->len + 1);

  for (guint i = 0; i < values->len; i++)
    names[i] = g_strdup (((VnValue *) g_ptr_array_index (values, i))->name);
  return names;
}

/* The tensors that the rule about just these nodes does not name. */
static char **
graph_page_select_list_leaks (VnGraphPage *self,
                              GtkBitset   *selection)
{
  const VnRecipe *recipe = vn_bench_get_recipe (VN_BENCH (self->document));
  const VnGraph *graph = vn_bench_get_model (VN_BENCH (self->document))->graph;
  int at = vn_node_set_find_region (selection, recipe, graph);
  g_autoptr(GPtrArray) leaks = at >= 0 ? vn_rule_list_leaks (g_ptr_array_index (recipe->overrides, at), graph, NULL) : NULL;
  char **names = g_new0 (char *, leaks != NULL ? leaks->len + 1 : 1);

  for (guint i = 0; leaks != NULL && i < leaks->len; i++)
    names[i] = g_strdup (((const VnRuleLeak *) g_ptr_array_index (leaks, i))->value);
  return names;
}

/**
 * vn_graph_page_show_leak:
 * @tensor: that crosses the border of the selected region without being named by its rule
 * @x, @y: on the graph
 *
 * Tells what that means, with the button that adds the edge.
 */
void
vn_graph_page_show_leak (VnGraphPage *self,
                         const char  *tensor,
                         gboolean     enters,
                         double       x,
                         double       y)
{
  const VnRecipe *recipe = vn_bench_get_recipe (VN_BENCH (self->document));
  const VnGraph *graph = vn_bench_get_model (VN_BENCH (self->document))->graph;
  int at = vn_node_set_find_region (vn_document_get_selection (self->document), recipe, graph);
  g_autoptr(GPtrArray) leaks = at >= 0 ? vn_rule_list_leaks (g_ptr_array_index (recipe->overrides, at), graph, NULL) : NULL;
  GtkWidget *list;
  graphene_point_t point;

  for (guint i = 0; leaks != NULL && i < leaks->len; i++)
    {
      const VnRuleLeak *leak = g_ptr_array_index (leaks, i);

      if (leak->enters != enters || !g_str_equal (leak->value, tensor) ||
          !gtk_widget_compute_point (GTK_WIDGET (self->view), GTK_WIDGET (self), &GRAPHENE_POINT_INIT ((float) x, (float) y),
                                     &point))
        continue;
      list = gtk_list_box_new ();
      gtk_list_box_set_selection_mode (GTK_LIST_BOX (list), GTK_SELECTION_NONE);
      gtk_list_box_append (GTK_LIST_BOX (list), vn_leak_row_new ((guint) at, leak));
      gtk_widget_set_size_request (list, LEAK_WIDTH, -1);
      gtk_popover_set_child (self->leak, list);
      gtk_popover_set_pointing_to (self->leak, &(GdkRectangle) { (int) point.x, (int) point.y, 1, 1 });
      gtk_popover_popup (self->leak);
      return;
    }
}

static void
graph_page_select_update_boundary (VnGraphPage *self,
                                   guint       *n_in,
                                   guint       *n_out)
{
  VnModel *model = vn_bench_get_model (VN_BENCH (self->document));
  GtkBitset *selection = vn_document_get_selection (self->document);
  g_autoptr(GPtrArray) nodes = g_ptr_array_new ();
  g_auto(GStrv) in_names = NULL, out_names = NULL, leaks = NULL;
  VnBoundary boundary = { 0 };
  GtkBitsetIter iter;
  guint index;

  for (gboolean ok = gtk_bitset_iter_init_first (&iter, selection, &index); ok;
       ok = gtk_bitset_iter_next (&iter, &index))
    g_ptr_array_add (nodes, g_ptr_array_index (model->graph->nodes, index));
  vn_boundary_of_nodes (&boundary, model->graph, nodes);
  *n_in = boundary.in_edges->len;
  *n_out = boundary.out_edges->len;
  in_names = graph_page_select_list_names (boundary.in_edges);
  out_names = graph_page_select_list_names (boundary.out_edges);
  if (nodes->len > 1)
    {
      leaks = graph_page_select_list_leaks (self, selection);
      vn_graph_view_set_boundary (self->view, (const char * const *) in_names, (const char * const *) out_names,
                                  (const char * const *) leaks);
    }
  else
    {
      vn_graph_view_set_boundary (self->view, NULL, NULL, NULL);
    }
  vn_boundary_clear (&boundary);
}

static void
graph_page_select_update_place (VnGraphPage *self)
{
  guint n = (guint) gtk_bitset_get_size (vn_document_get_selection (self->document));
  g_autofree char *place = self->at < n ? g_strdup_printf (_("%u of %u"), self->at + 1, n) : g_strdup ("");

  gtk_label_set_label (self->bar_place, place);
  gtk_widget_set_visible (GTK_WIDGET (self->bar_place), self->at < n);
}

static void
graph_page_select_update_bar (VnGraphPage *self)
{
  guint n = (guint) gtk_bitset_get_size (vn_document_get_selection (self->document));
  guint n_in = 0, n_out = 0;
  g_autofree char *count = NULL, *rest = NULL, *markup = NULL;

  if (vn_bench_get_model (VN_BENCH (self->document)) != NULL)
    graph_page_select_update_boundary (self, &n_in, &n_out);
  gtk_revealer_set_reveal_child (self->bar, n > 1);
  graph_page_select_update_place (self);
  gtk_widget_queue_allocate (gtk_widget_get_parent (self->corner));
  if (n < 2)
    return;
  count = g_strdup_printf (ngettext ("%u node", "%u nodes", n), n);
  rest = g_strdup_printf (_("%u in · %u out"), n_in, n_out);
  markup = g_markup_printf_escaped ("<b>%s</b> · %s", count, rest);
  gtk_label_set_markup (self->bar_label, markup);
}

void
vn_graph_page_selection_changed (VnGraphPage *self)
{
  self->at = G_MAXUINT;
  vn_graph_page_show_selection (self);
  graph_page_select_update_bar (self);
}

/* ---- travelling ---- */

/* Travels to a node that the canvas has; constants have no box. */
static gboolean
graph_page_select_go_to (VnGraphPage *self,
                         guint        at)
{
  guint node = vn_scene_find_source (self->scene, gtk_bitset_get_nth (vn_document_get_selection (self->document), at));

  if (node == VN_SCENE_NONE)
    return FALSE;
  self->at = at;
  graph_page_select_update_place (self);
  vn_graph_view_zoom_to_node (self->view, node);
  return TRUE;
}

/* To the next selected node, or the one before, around the end; all stay selected. */
void
vn_graph_page_travel (VnGraphPage *self,
                      int          step)
{
  guint n, at;

  if (self->scene == NULL)
    return;
  n = (guint) gtk_bitset_get_size (vn_document_get_selection (self->document));
  at = self->at < n ? self->at : step > 0 ? n - 1 : 0;
  for (guint i = 0; i < n; i++)
    {
      at = (at + n + (guint) step) % n;
      if (graph_page_select_go_to (self, at))
        return;
    }
}

/* To the first selected node. */
void
vn_graph_page_travel_here (VnGraphPage *self)
{
  self->at = G_MAXUINT;
  vn_graph_page_travel (self, 1);
}

/* ---- from the legend ---- */

/* The same nodes again: the next of them. */
static void
graph_page_select_and_travel (VnGraphPage *self,
                              GtkBitset   *nodes)
{
  gboolean again = gtk_bitset_equals (nodes, vn_document_get_selection (self->document));

  if (!again)
    vn_document_select (self->document, nodes);
  vn_graph_page_travel (self, 1);
}

void
vn_graph_page_select_band (VnGraphPage *self,
                           guint        band)
{
  VnOverlay *overlay = vn_graph_view_get_overlay (self->view);
  g_autoptr(GtkBitset) nodes = gtk_bitset_new_empty ();

  for (guint i = 0; overlay != NULL && i < vn_overlay_get_n (overlay); i++)
    {
      const VnOverlayItem *item = vn_overlay_get (overlay, i);
      const VnSceneNode *node = vn_scene_get_node (self->scene, i);

      if (item->measured && node->kind == VN_SCENE_NODE && item->band == band)
        gtk_bitset_add (nodes, node->source);
    }
  graph_page_select_and_travel (self, nodes);
}

/* Selects what is worse than a place of the scale while that is dragged, and travels there when it is let go. */
void
vn_graph_page_select_worse (VnGraphPage *self,
                            double       axis,
                            gboolean     is_over)
{
  VnOverlay *overlay = vn_graph_view_get_overlay (self->view);
  float t = (float) vn_heat_t (axis, vn_legend_get_handles (self->legend));
  g_autoptr(GtkBitset) nodes = gtk_bitset_new_empty ();

  for (guint i = 0; overlay != NULL && i < vn_overlay_get_n (overlay); i++)
    {
      const VnOverlayItem *item = vn_overlay_get (overlay, i);
      const VnSceneNode *node = vn_scene_get_node (self->scene, i);

      if (item->measured && node->kind == VN_SCENE_NODE && (item->is_nan || item->t > t))
        gtk_bitset_add (nodes, node->source);
    }
  vn_document_select (self->document, nodes);
  if (is_over)
    vn_graph_page_travel (self, 1);
}
