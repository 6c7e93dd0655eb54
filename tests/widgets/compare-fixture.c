/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page that compares, in a window: its parts, waiting for it, and clicks on boxes. */
#include "compare-fixture.h"

#include "vn-compare-tensor.h"
#include "widget-fixture.h"

static GtkWidget *
find_nth (GtkWidget *root,
          GType      type,
          guint     *n)
{
  if (G_TYPE_CHECK_INSTANCE_TYPE (root, type) && (*n)-- == 0)
    return root;
  for (GtkWidget *child = gtk_widget_get_first_child (root); child != NULL; child = gtk_widget_get_next_sibling (child))
    {
      GtkWidget *found = find_nth (child, type, n);

      if (found != NULL)
        return found;
    }
  return NULL;
}

GtkWidget *
vn_compare_get_nth (GtkWidget *root,
                            GType      type,
                            guint      n)
{
  GtkWidget *found = find_nth (root, type, &n);

  g_assert_nonnull (found);
  return found;
}

CompareParts
vn_compare_get_parts (Fixture *fixture)
{
  CompareParts parts;

  parts.page = VN_COMPARE_PAGE (vn_compare_get_nth (GTK_WIDGET (fixture->window), VN_TYPE_COMPARE_PAGE, 0));
  for (guint i = 0; i < 2; i++)
    {
      parts.panes[i] = VN_COMPARE_PANE (vn_compare_get_nth (GTK_WIDGET (parts.page), VN_TYPE_COMPARE_PANE, i));
      parts.views[i] = vn_compare_pane_get_view (parts.panes[i]);
    }
  parts.tensor = vn_compare_get_nth (GTK_WIDGET (parts.page), VN_TYPE_COMPARE_TENSOR, 0);
  return parts;
}

static gboolean
is_mapped (gpointer data)
{
  return gtk_widget_get_mapped (data);
}

gboolean
vn_compare_is_calm (gpointer data)
{
  return !vn_compare_page_is_busy (data);
}

void
vn_compare_wait (CompareParts *parts)
{
  vn_test_settle (50);
  g_assert_true (vn_test_wait (vn_compare_is_calm, parts->page, SECONDS));
  vn_test_settle (50);
}

CompareParts
vn_compare_show (Fixture *fixture)
{
  CompareParts parts = vn_compare_get_parts (fixture);

  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.show-page", "s", "compare");
  g_assert_true (vn_test_wait (is_mapped, parts.page, SECONDS));
  vn_test_settle (400);
  vn_compare_wait (&parts);
  return parts;
}

guint
vn_compare_count_marks (VnGraphView *view,
                                VnSceneMark  mark)
{
  VnOverlay *overlay = vn_graph_view_get_overlay (view);
  guint n = 0;

  g_assert_nonnull (overlay);
  for (guint i = 0; i < vn_overlay_get_n (overlay); i++)
    n += vn_overlay_get (overlay, i)->mark == mark;
  return n;
}

guint
vn_compare_find_box (VnGraphView *view,
                             const char  *name)
{
  VnScene *scene = vn_graph_view_get_scene (view);

  g_assert_nonnull (scene);
  for (guint i = 0; i < vn_scene_get_n_nodes (scene); i++)
    if (g_str_equal (vn_scene_get_node (scene, i)->name, name))
      return i;
  g_test_message ("no box %s", name);
  g_assert_not_reached ();
}

/* As a click does it. */
void
vn_compare_click_box (VnGraphView *view,
                              const char  *name)
{
  guint box = vn_compare_find_box (view, name);

  vn_graph_view_select (view, &box, 1, FALSE);
  vn_graph_view_set_focus_node (view, box);
}

const char *
vn_compare_get_page (CompareParts *parts)
{
  return gtk_stack_get_visible_child_name (GTK_STACK (vn_compare_get_nth (parts->tensor, GTK_TYPE_STACK, 0)));
}
