/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The popover about the operator of the selected node. */
#include "vn-inspector.h"
#include "vn-op-doc.h"
#include "widget-fixture.h"
#include "window-fixture.h"

static GtkWidget *
find_popover (Fixture *fixture)
{
  GtkWidget *inspector = vn_test_find (GTK_WIDGET (fixture->window), VN_TYPE_INSPECTOR, NULL);

  return GTK_WIDGET (gtk_menu_button_get_popover (GTK_MENU_BUTTON (vn_test_find (inspector, GTK_TYPE_MENU_BUTTON, NULL))));
}

static gboolean
is_shown (gpointer data)
{
  GtkWidget *popover = find_popover (data);

  return popover != NULL && gtk_widget_get_mapped (popover);
}

static void
test_about (Fixture       *fixture,
            gconstpointer  data)
{
  GtkWidget *inspector, *button, *popover;
  VnNodeItem *item;

  vn_window_fixture_open_model (fixture);
  inspector = vn_test_find (GTK_WIDGET (fixture->window), VN_TYPE_INSPECTOR, NULL);
  button = vn_test_find (inspector, GTK_TYPE_MENU_BUTTON, NULL);
  vn_test_settle (300);
  g_assert_false (gtk_widget_get_visible (button));
  item = vn_window_fixture_get_item (fixture, "/left/conv");
  vn_document_select_one (fixture->document, item->index);
  vn_test_settle (300);
  g_assert_true (gtk_widget_get_visible (button));
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.about-operator", NULL);
  g_assert_true (vn_test_wait (is_shown, fixture, SECONDS));
  popover = find_popover (fixture);
  g_assert_nonnull (vn_test_find (popover, GTK_TYPE_LABEL, "Conv"));
  g_assert_nonnull (vn_test_find (popover, GTK_TYPE_LABEL, "In Vernier"));
  g_assert_cmpint (vn_test_find (popover, GTK_TYPE_LABEL, "Attributes") != NULL, ==, vn_op_doc_get_source () != NULL);
  vn_test_picture (popover, "operator-popover");
  vn_test_picture (GTK_WIDGET (fixture->window), "operator-window");
  gtk_popover_popdown (GTK_POPOVER (popover));
  vn_document_select_all (fixture->document);
  vn_test_settle (300);
  g_assert_false (gtk_widget_get_visible (button));
}

int
main (int    argc,
      char **argv)
{
  vn_window_fixture_init (&argc, &argv);
  g_test_add ("/operator/about", Fixture, NULL, vn_window_fixture_set_up, test_about, vn_window_fixture_tear_down);
  return g_test_run ();
}
