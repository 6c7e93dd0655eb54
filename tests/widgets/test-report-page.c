/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report page follows the document, shows what is exported, and copies it. With VN_SCREENSHOTS pictures of it. */
#include "vn-compat.h"
#include "vn-report-page.h"
#include "vn-report.h"
#include "vn-sheet-view.h"
#include "widget-fixture.h"
#include "window-fixture.h"

#include <string.h>

static VnReportPage *
get_page (Fixture *fixture)
{
  return VN_REPORT_PAGE (vn_test_find (GTK_WIDGET (fixture->window), VN_TYPE_REPORT_PAGE, NULL));
}

static gboolean
is_quiet (gpointer page)
{
  return !vn_report_page_is_busy (page);
}

static const char *
get_shown (Fixture *fixture)
{
  GtkWidget *stack = vn_test_find (GTK_WIDGET (get_page (fixture)), GTK_TYPE_STACK, NULL);

  return gtk_stack_get_visible_child_name (GTK_STACK (stack));
}

static guint
count_sheets (Fixture *fixture)
{
  GtkWidget *sheet = vn_test_find (GTK_WIDGET (get_page (fixture)), VN_TYPE_SHEET_VIEW, NULL);
  guint n = 0;

  for (; sheet != NULL; sheet = gtk_widget_get_next_sibling (sheet))
    n++;
  return n;
}

static void
wait_for_report (Fixture *fixture)
{
  vn_test_settle (100);
  g_assert_true (vn_test_wait (is_quiet, get_page (fixture), SECONDS));
}

static char *
print_markdown (VnRun *result)
{
  g_autoptr(VnReportModel) model = vn_report_model_new (result, VN_REPORT_LAYOUT_REPORT);
  g_autoptr(GBytes) bytes = vn_report_print_markdown (model, NULL);

  return g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
}

static void
text_read (GObject      *clipboard,
           GAsyncResult *result,
           gpointer      data)
{
  *(char **) data = gdk_clipboard_read_text_finish (GDK_CLIPBOARD (clipboard), result, NULL);
  if (*(char **) data == NULL)
    *(char **) data = g_strdup ("");
}

static gboolean
is_there (gpointer text)
{
  return *(char **) text != NULL;
}

static char *
read_clipboard (Fixture *fixture)
{
  char *text = NULL;

  gdk_clipboard_read_text_async (gtk_widget_get_clipboard (GTK_WIDGET (fixture->window)), NULL, text_read, &text);
  g_assert_true (vn_test_wait (is_there, &text, SECONDS));
  return text;
}

static void
check_described (GtkWidget  *sheet,
                 const char *words)
{
  /* Translators are not at work here: what a screen reader is told is the text of the page. */
  g_autofree char *problem = gtk_test_accessible_check_property (GTK_ACCESSIBLE (sheet), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                                                 words);

  g_assert_true (problem == NULL || strstr (problem, words) != NULL);
}

/* ---- tests ---- */

static void
test_follows (Fixture       *fixture,
              gconstpointer  data)
{
  GtkWidget *button;
  g_autofree char *first = NULL, *again = NULL, *markdown = NULL, *command = NULL;
  guint n;

  vn_window_fixture_open_model (fixture);
  vn_test_settle (600);
  vn_window_show_page (fixture->window, "report");
  vn_test_settle (600);
  g_assert_cmpstr (get_shown (fixture), ==, "empty");
  button = vn_test_find (GTK_WIDGET (get_page (fixture)), GTK_TYPE_BUTTON, "win.quantize");
  g_assert_nonnull (button);
  g_assert_true (gtk_widget_is_sensitive (button));

  vn_window_fixture_quantize (fixture);
  wait_for_report (fixture);
  g_assert_cmpstr (get_shown (fixture), ==, "report");
  n = count_sheets (fixture);
  g_assert_cmpuint (n, >, 1);
  check_described (vn_test_find (GTK_WIDGET (get_page (fixture)), VN_TYPE_SHEET_VIEW, NULL), "Quantization report");

  /* What is copied is the report of what is shown. */
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "report.copy", NULL);
  vn_test_settle (500);
  first = read_clipboard (fixture);
  markdown = print_markdown (vn_bench_get_shown (VN_BENCH (fixture->document)));
  g_assert_cmpstr (first, ==, markdown);
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "report.copy-command", NULL);
  vn_test_settle (500);
  command = read_clipboard (fixture);
  g_assert_true (g_str_has_prefix (command, "vernier-cli quantize "));

  /* A rule: what is expected of it, or found by another run, is reported at once. */
  vn_document_select_one (fixture->document, vn_window_fixture_get_item (fixture, "/left/conv")->index);
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.set-precision", "s", "16");
  vn_test_settle (400);
  g_assert_true (vn_test_wait (vn_window_fixture_is_idle, fixture->document, SECONDS));
  wait_for_report (fixture);
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "report.copy", NULL);
  vn_test_settle (500);
  again = read_clipboard (fixture);
  g_assert_cmpstr (again, !=, first);
}

static gboolean
is_settled (gpointer document)
{
  return vn_bench_get_job (VN_BENCH (document)) == NULL && vn_bench_get_origins_job (VN_BENCH (document)) == NULL &&
         vn_bench_get_shown (VN_BENCH (document)) != NULL &&
         vn_bench_get_expecting (VN_BENCH (document)) != VN_EXPECTING_SOON;
}

/* A click on the box or the row of a node shows it in the graph; Tab goes from row to row, and then on. */
static void
test_leads (Fixture       *fixture,
            gconstpointer  data)
{
  g_autoptr(VnReportModel) model = NULL;
  g_autoptr(GPtrArray) sheets = NULL;
  AdwViewStack *stack = ADW_VIEW_STACK (vn_test_find (GTK_WIDGET (fixture->window), ADW_TYPE_VIEW_STACK, NULL));
  GtkWidget *view;
  guint n_clicked = 0, n_rows = 0, n_tabs = 0;

  gtk_window_set_default_size (GTK_WINDOW (fixture->window), 1280, 800);
  vn_window_fixture_open_model (fixture);
  vn_window_fixture_quantize (fixture);
  g_assert_true (vn_test_wait (is_settled, fixture->document, SECONDS));
  model = vn_report_model_new (vn_bench_get_shown (VN_BENCH (fixture->document)), VN_REPORT_LAYOUT_REPORT);
  vn_window_show_page (fixture->window, "report");
  wait_for_report (fixture);
  view = vn_test_find (GTK_WIDGET (get_page (fixture)), VN_TYPE_SHEET_VIEW, NULL);
  sheets = vn_report_draw_sheets (model, VN_REPORT_A4_WIDTH, NULL);
  g_assert_cmpuint (count_sheets (fixture), ==, sheets->len);
  for (guint i = 0; i < sheets->len; i++, view = gtk_widget_get_next_sibling (view))
    {
      const VnReportSheet *sheet = g_ptr_array_index (sheets, i);
      const double scale = gtk_widget_get_width (view) / sheet->width;
      guint n_here = 0;

      for (guint k = 0; k < sheet->links->len; k++)
        {
          const VnReportLink *link = &g_array_index (sheet->links, VnReportLink, k);
          g_autoptr(GtkBitset) expected = gtk_bitset_new_range (link->node, 1);

          g_signal_emit_by_name (vn_test_find_controller (view, GTK_TYPE_GESTURE_CLICK), "released", 1,
                                 (link->x + link->width / 2) * scale, (link->y + link->height / 2) * scale);
          g_assert_true (gtk_bitset_equals (vn_document_get_selection (fixture->document), expected));
          g_assert_cmpstr (adw_view_stack_get_visible_child_name (stack), ==, "graph");
          vn_window_show_page (fixture->window, "report");
          n_here += link->weight >= VN_REPORT_ROW_WEIGHT;
          n_clicked++;
        }
      gtk_widget_grab_focus (view);
      while (gtk_widget_child_focus (view, GTK_DIR_TAB_FORWARD) && n_tabs < 1000)
        n_tabs++;
      n_rows += n_here;
    }
  g_assert_cmpuint (n_clicked - n_rows, ==, vn_bench_get_model (VN_BENCH (fixture->document))->graph->nodes->len);
  g_assert_cmpuint (n_rows, >, 0);
  g_assert_cmpuint (n_tabs, ==, n_rows);
}

/* The page alone, at any width. */
static GtkWidget *
show_alone (Fixture *fixture,
            int      width)
{
  GtkWidget *window = gtk_window_new (), *page = g_object_new (VN_TYPE_REPORT_PAGE, NULL);

  vn_page_set_document (VN_PAGE (page), fixture->document);
  gtk_widget_insert_action_group (window, "report", vn_page_get_actions (VN_PAGE (page)));
  gtk_window_set_child (GTK_WINDOW (window), page);
  gtk_window_set_default_size (GTK_WINDOW (window), width, 800);
  gtk_window_present (GTK_WINDOW (window));
  for (guint i = 0; i < 2; i++)
    {
      vn_test_settle (500);
      g_assert_true (vn_test_wait (is_quiet, page, SECONDS));
    }
  return window;
}

/* Narrow: the sheets are drawn narrower, so that text stays as large. */
static void
test_narrow (Fixture       *fixture,
             gconstpointer  data)
{
  static const int widths[] = { 1280, 600, 460 };
  double ratios[G_N_ELEMENTS (widths)];

  vn_window_fixture_open_model (fixture);
  vn_window_fixture_quantize (fixture);
  for (guint i = 0; i < G_N_ELEMENTS (widths); i++)
    {
      GtkWidget *window = show_alone (fixture, widths[i]), *sheet = vn_test_find (window, VN_TYPE_SHEET_VIEW, NULL);

      g_assert_cmpint (gtk_widget_get_width (window), ==, widths[i]);
      ratios[i] = (double) gtk_widget_get_height (sheet) / gtk_widget_get_width (sheet);
      gtk_window_destroy (GTK_WINDOW (window));
    }
  g_assert_cmpfloat_with_epsilon (ratios[0], 841.89 / 595.28, 0.01);
  g_assert_cmpfloat (ratios[1], >, ratios[0] + 0.2);
  g_assert_cmpfloat (ratios[2], >, ratios[1] + 0.2);
}

static gboolean
is_sharp (gpointer page)
{
  GtkWidget *sheet = vn_test_find (page, VN_TYPE_SHEET_VIEW, NULL);

  return sheet != NULL && vn_sheet_view_is_sharp (VN_SHEET_VIEW (sheet));
}

static void
scroll (GtkWidget *window,
        double     pages)
{
  GtkWidget *page = vn_test_find (window, VN_TYPE_REPORT_PAGE, NULL);
  GtkWidget *scrolled = gtk_widget_get_ancestor (vn_test_find (page, VN_TYPE_SHEET_VIEW, NULL), GTK_TYPE_SCROLLED_WINDOW);
  GtkAdjustment *adjustment = gtk_scrolled_window_get_vadjustment (GTK_SCROLLED_WINDOW (scrolled));

  gtk_adjustment_set_value (adjustment, pages * gtk_adjustment_get_page_size (adjustment));
  vn_test_settle (500);
  g_assert_true (vn_test_wait (is_quiet, page, SECONDS));
}

static void
take (GtkWidget  *window,
      const char *name)
{
  static const AdwColorScheme schemes[] = { ADW_COLOR_SCHEME_FORCE_LIGHT, ADW_COLOR_SCHEME_FORCE_DARK };

  for (guint dark = 0; dark < 2; dark++)
    {
      adw_style_manager_set_color_scheme (adw_style_manager_get_default (), schemes[dark]);
      vn_test_settle (400);
      for (guint page = 0; page < 3; page++)
        {
          g_autofree char *file = g_strdup_printf ("6-report-%s-%s-%u", name, dark ? "dark" : "light", page);

          scroll (window, page);
          vn_test_screenshot (window, file);
        }
    }
  scroll (window, 0);
  g_assert_true (vn_test_wait (is_sharp, window, SECONDS));
  adw_style_manager_set_color_scheme (adw_style_manager_get_default (), ADW_COLOR_SCHEME_DEFAULT);
}

/* The demo, in the window and narrow. */
static void
test_demo (Fixture       *fixture,
           gconstpointer  data)
{
  GtkWidget *narrow;

  if (!vn_document_open_demo (fixture->document))
    {
      g_test_skip ("the demo is not there");
      return;
    }
  gtk_window_set_default_size (GTK_WINDOW (fixture->window), 1280, 800);
  vn_test_settle (600);
  g_assert_true (vn_test_wait (is_settled, fixture->document, SECONDS));
  vn_window_show_page (fixture->window, "report");
  wait_for_report (fixture);
  take (GTK_WIDGET (fixture->window), "1280");
  narrow = show_alone (fixture, 600);
  take (narrow, "600");
  gtk_window_destroy (GTK_WINDOW (narrow));
}

int
main (int    argc,
      char **argv)
{
  vn_window_fixture_init (&argc, &argv);
  g_test_add ("/report-page/follows", Fixture, NULL, vn_window_fixture_set_up, test_follows, vn_window_fixture_tear_down);
  g_test_add ("/report-page/leads", Fixture, NULL, vn_window_fixture_set_up, test_leads, vn_window_fixture_tear_down);
  g_test_add ("/report-page/narrow", Fixture, NULL, vn_window_fixture_set_up, test_narrow, vn_window_fixture_tear_down);
  g_test_add ("/report-page/demo", Fixture, NULL, vn_window_fixture_set_up, test_demo, vn_window_fixture_tear_down);
  return g_test_run ();
}
