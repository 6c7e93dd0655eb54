/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What floats over the graphs: nothing of it lies over anything else of it, at any size of the window, with and without panels
 * beside the page. */
#include "compare-fixture.h"
#include "vn-graph-page.h"
#include "widget-fixture.h"

static const struct { int width, height; } sizes[] = { { 900, 600 }, { 1000, 625 }, { 1600, 1000 } };

/* Parts of overlays that are seen, of all overlays in a widget; not what fills one. */
static void
list_floating (GtkWidget *root,
               GPtrArray *found)
{
  for (GtkWidget *child = gtk_widget_get_first_child (root); child != NULL; child = gtk_widget_get_next_sibling (child))
    {
      gboolean is_seen = gtk_widget_get_mapped (child) && gtk_widget_get_width (child) > 0 && gtk_widget_get_height (child) > 0;

      if (!is_seen)
        continue;
      if (gtk_widget_has_css_class (child, "floating"))
        g_ptr_array_add (found, child);
      list_floating (child, found);
    }
}

static char *
describe (GtkWidget *widget)
{
  g_auto(GStrv) classes = gtk_widget_get_css_classes (widget);

  return g_strjoinv (".", classes);
}

/* Returns: how many there are. */
static guint
check_pairs (GtkWidget *page)
{
  g_autoptr(GPtrArray) found = g_ptr_array_new ();

  list_floating (page, found);
  for (guint i = 0; i < found->len; i++)
    for (guint k = i + 1; k < found->len; k++)
      {
        g_autofree char *first = describe (g_ptr_array_index (found, i)), *second = describe (g_ptr_array_index (found, k));
        graphene_rect_t a, b, both;

        g_assert_true (gtk_widget_compute_bounds (g_ptr_array_index (found, i), page, &a));
        g_assert_true (gtk_widget_compute_bounds (g_ptr_array_index (found, k), page, &b));
        if (graphene_rect_intersection (&a, &b, &both) && both.size.width >= 1 && both.size.height >= 1)
          g_error ("%s lies over %s by %.0f x %.0f, in a page of %d x %d", first, second, both.size.width, both.size.height,
                   gtk_widget_get_width (page), gtk_widget_get_height (page));
      }
  return found->len;
}

static GtkWidget *
find_symbols (GtkWidget *root)
{
  if (gtk_widget_has_css_class (root, "symbols"))
    return root;
  for (GtkWidget *child = gtk_widget_get_first_child (root); child != NULL; child = gtk_widget_get_next_sibling (child))
    {
      GtkWidget *found = find_symbols (child);

      if (found != NULL)
        return found;
    }
  return NULL;
}

static void
test_graph (Fixture       *fixture,
            gconstpointer  data)
{
  GtkWidget *window = GTK_WIDGET (fixture->window), *page = vn_test_find (window, VN_TYPE_GRAPH_PAGE, NULL);
  GtkWidget *symbols = find_symbols (page);

  vn_window_fixture_open_model (fixture);
  vn_window_fixture_quantize (fixture);
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    for (guint with = 0; with < 4; with++)
      {
        gtk_window_set_default_size (GTK_WINDOW (window), sizes[i].width, sizes[i].height);
        gtk_label_set_label (GTK_LABEL (symbols), "N = number of samples in a batch\nT = length of the sequence");
        gtk_widget_set_visible (symbols, with > 0);
        gtk_widget_activate_action (window, with % 2 == 1 ? "win.select-all" : "win.select-none", NULL);
        if (with == 2)
          gtk_widget_activate_action (window, "win.toggle-inspector", NULL);
        vn_test_settle (600);
        g_assert_cmpuint (check_pairs (page), >=, with == 0 ? 2 : with % 2 == 1 ? 4 : 3);
      }
}

static void
test_compare (Fixture       *fixture,
              gconstpointer  data)
{
  CompareParts parts;

  vn_window_fixture_open_model (fixture);
  vn_window_fixture_quantize (fixture);
  parts = vn_compare_show (fixture);
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      gtk_window_set_default_size (GTK_WINDOW (fixture->window), sizes[i].width, sizes[i].height);
      vn_test_settle (600);
      g_assert_cmpuint (check_pairs (GTK_WIDGET (parts.page)), >=, 4);
    }
}

int
main (int    argc,
      char **argv)
{
  vn_window_fixture_init (&argc, &argv);
#define ADD(name, func) g_test_add (name, Fixture, NULL, vn_window_fixture_set_up, func, vn_window_fixture_tear_down)
  ADD ("/floating/graph", test_graph);
  ADD ("/floating/compare", test_compare);
#undef ADD
  return g_test_run ();
}
