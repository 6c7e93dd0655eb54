/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Takes pictures of every page with a real network and real photographs, in light and dark, into
 * VN_SCREENSHOTS:
 *
 *   VN_SCREENSHOTS=folder run-headless.sh test-screenshots [MODEL SAMPLES PRESET]
 *
 * Without that folder, or without VN_SHARED for the model and the samples, it is skipped. */
#include "vn-application.h"
#include "vn-curve-view.h"
#include "vn-compare-page.h"
#include "vn-document.h"
#include "vn-node-item.h"
#include "vn-report-page.h"
#include "vn-settings-dialog.h"
#include "vn-window.h"
#include "vn-wizard.h"
#include "widget-fixture.h"

#include <math.h>

#define SECONDS 300

static gboolean
is_idle (gpointer data)
{
  return vn_bench_get_job (VN_BENCH (data)) == NULL && vn_bench_get_origins_job (VN_BENCH (data)) == NULL &&
         vn_bench_get_expecting (VN_BENCH (data)) != VN_EXPECTING_SOON;
}

static gboolean
has_model (gpointer data)
{
  return vn_bench_get_model (VN_BENCH (data)) != NULL && is_idle (data);
}

static void
take (gpointer    window,
      const char *name)
{
  g_autofree char *light = g_strconcat (name, "-light", NULL);
  g_autofree char *dark = g_strconcat (name, "-dark", NULL);

  vn_test_settle (700);
  vn_test_screenshot (GTK_WIDGET (window), light);
  adw_style_manager_set_color_scheme (adw_style_manager_get_default (), ADW_COLOR_SCHEME_FORCE_DARK);
  vn_test_settle (500);
  vn_test_screenshot (GTK_WIDGET (window), dark);
  adw_style_manager_set_color_scheme (adw_style_manager_get_default (), ADW_COLOR_SCHEME_FORCE_LIGHT);
  vn_test_settle (200);
}

static guint
find_worst (VnDocument *document)
{
  GListModel *nodes = vn_document_get_nodes (document);
  double worst = INFINITY;
  guint at = 0;

  for (guint i = 0; i < g_list_model_get_n_items (nodes); i++)
    {
      g_autoptr(VnNodeItem) item = g_list_model_get_item (nodes, i);

      if (item->measured && item->weight_bytes > 0 && item->metrics[VN_METRIC_SQNR] < worst)
        {
          worst = item->metrics[VN_METRIC_SQNR];
          at = i;
        }
    }
  return at;
}

static void
open_and_quantize (VnWindow   *window,
                   const char *model,
                   const char *samples,
                   const char *preset)
{
  VnDocument *document = vn_window_get_document (window);
  g_autoptr(GFile) file = g_file_new_for_path (model);
  g_autoptr(VnDataSpec) data = vn_data_spec_new (samples);
  g_autoptr(GError) error = NULL;
  gboolean ok;

  vn_window_open_file (window, file);
  g_assert_true (vn_test_wait (has_model, document, SECONDS));
  take (window, "2-opened");
  ok = vn_preprocess_set_preset (&data->preprocess, preset, &error);
  g_assert_no_error (error);
  g_assert_true (ok);
  vn_bench_set_n_samples (VN_BENCH (document), 40);
  vn_bench_set_data (VN_BENCH (document), data);
  ok = vn_bench_quantize (VN_BENCH (document), &error);
  g_assert_no_error (error);
  g_assert_true (ok);
  vn_test_settle (1200);
  vn_test_screenshot (GTK_WIDGET (window), "2-running-light");
  g_assert_true (vn_test_wait (is_idle, document, SECONDS));
  g_assert_nonnull (vn_bench_get_shown (VN_BENCH (document)));
}

static void
cancel_run (VnDocument *document)
{
  if (vn_bench_get_job (VN_BENCH (document)) != NULL && vn_bench_get_expecting (VN_BENCH (document)) == VN_EXPECTING_SHOWN)
    vn_bench_cancel (VN_BENCH (document));
}

/* What 16 bit for the selected nodes are expected to do, before a run tells. */
static void
take_expected (VnWindow *window)
{
  VnDocument *document = vn_window_get_document (window);
  gulong handler = g_signal_connect (document, "work-changed", G_CALLBACK (cancel_run), NULL);

  gtk_widget_activate_action (GTK_WIDGET (window), "win.set-precision", "s", "16");
  g_assert_true (vn_test_wait (is_idle, document, SECONDS));
  g_signal_handler_disconnect (document, handler);
  take (window, "2-expected");
  g_assert_true (vn_bench_quantize (VN_BENCH (document), NULL));
  g_assert_true (vn_test_wait (is_idle, document, SECONDS));
}

static gboolean
is_compared (gpointer data)
{
  return !vn_compare_page_is_busy (data);
}

/* Float beside quantized, a weight, the table, and the run before beside the present one. */
static void
take_compare (VnWindow *window)
{
  VnDocument *document = vn_window_get_document (window);
  GtkWidget *page = vn_test_find (GTK_WIDGET (window), VN_TYPE_COMPARE_PAGE, NULL), *choice;

  vn_document_select_one (document, find_worst (document));
  vn_window_show_page (window, "compare");
  vn_page_reveal_selection (VN_PAGE (page));
  vn_test_settle (1500);
  g_assert_true (vn_test_wait (is_compared, page, SECONDS));
  take (window, "5-compare");
  g_signal_emit_by_name (vn_test_find (page, g_type_from_name ("VnChannelsChart"), NULL), "channel-chosen", 1);
  gtk_toggle_button_set_active (GTK_TOGGLE_BUTTON (vn_test_find (page, GTK_TYPE_TOGGLE_BUTTON, "Weight")), TRUE);
  vn_test_settle (500);
  g_assert_true (vn_test_wait (is_compared, page, SECONDS));
  take (window, "5-compare-weight");
  choice = vn_test_find (page, GTK_TYPE_DROP_DOWN, NULL);
  gtk_drop_down_set_selected (GTK_DROP_DOWN (choice), 2);   /* the newest run before */
  vn_test_settle (500);
  g_assert_true (vn_test_wait (is_compared, page, SECONDS));
  gtk_widget_activate_action (page, "compare.table", NULL);
  take (window, "5-compare-runs");
  gtk_widget_activate_action (page, "compare.table", NULL);
  vn_window_show_page (window, "graph");
}

static gboolean
is_drawn (gpointer data)
{
  return !vn_report_page_is_busy (data);
}

static void
take_report (VnWindow *window)
{
  GtkWidget *page = vn_test_find (GTK_WIDGET (window), VN_TYPE_REPORT_PAGE, NULL);

  vn_window_show_page (window, "report");
  vn_test_settle (500);
  g_assert_true (vn_test_wait (is_drawn, page, SECONDS));
  take (window, "6-report");
}

static void
take_main_pages (VnWindow *window)
{
  VnDocument *document = vn_window_get_document (window);
  g_autoptr(GtkBitset) several = gtk_bitset_new_empty ();
  guint worst = find_worst (document);
  GtkWidget *stack, *legend;
  GtkDropDown *choice;

  take (window, "2-result");
  vn_document_select_one (document, worst);
  gtk_widget_activate_action (GTK_WIDGET (window), "win.show-in-graph", NULL);
  take (window, "2-graph");
  legend = vn_test_find (GTK_WIDGET (window), g_type_from_name ("VnLegend"), NULL);
  choice = GTK_DROP_DOWN (vn_test_find (legend, GTK_TYPE_DROP_DOWN, NULL));
  gtk_drop_down_set_selected (choice, VN_N_METRICS + 2);
  take (window, "2-kernels");
  gtk_drop_down_set_selected (choice, VN_METRIC_CONTRIBUTION);
  gtk_bitset_add_range (several, worst, 3);
  vn_document_select (document, several);
  take (window, "2-several");
  take_expected (window);
  stack = vn_test_find (GTK_WIDGET (window), GTK_TYPE_STACK_SWITCHER, NULL);
  gtk_stack_set_visible_child_name (gtk_stack_switcher_get_stack (GTK_STACK_SWITCHER (stack)), "recipe");
  take (window, "2-recipe");
  vn_window_show_page (window, "nodes");
  take (window, "3-nodes");
  take_compare (window);
  take_report (window);
  vn_window_show_page (window, "graph");
}

/* The end of a step: settings stand below what is chosen first. */
static void
scroll_down (GtkWidget *step)
{
  GtkWidget *scrolled = vn_test_find (step, GTK_TYPE_SCROLLED_WINDOW, NULL);
  GtkAdjustment *adjustment = gtk_scrolled_window_get_vadjustment (GTK_SCROLLED_WINDOW (scrolled));

  gtk_adjustment_set_value (adjustment, gtk_adjustment_get_upper (adjustment));
}

/* The review while the program improves, and what that has gained. */
static void
take_improving (VnWindow  *window,
                GtkWidget *wizard)
{
  VnDocument *document = vn_window_get_document (window);
  GtkWidget *review = vn_test_find (wizard, g_type_from_name ("VnStepReview"), NULL);
  GtkWidget *start = vn_test_find (review, GTK_TYPE_BUTTON, "_Improve Automatically");
  GtkWidget *list = vn_test_find (review, g_type_from_name ("VnOriginsList"), NULL);

  scroll_down (review);
  take (window, "4-wizard-review-end");
  g_signal_emit_by_name (vn_test_find (review, GTK_TYPE_BUTTON, "_Verify"), "clicked");
  vn_test_settle (1500);
  take (window, "4-wizard-review-verifying");
  g_assert_true (vn_test_wait (is_idle, document, SECONDS));
  vn_test_settle (300);
  scroll_down (review);
  take (window, "4-wizard-review-verified");
  g_signal_emit_by_name (vn_test_find (list, GTK_TYPE_BUTTON, "16-Bit"), "clicked");
  vn_test_settle (100);
  g_assert_true (vn_test_wait (is_idle, document, SECONDS));
  g_signal_emit_by_name (start, "clicked");
  vn_test_settle (3000);
  take (window, "4-wizard-review-improving");
  g_assert_true (vn_test_wait (is_idle, document, SECONDS));
  take (window, "4-wizard-review-improved");
  scroll_down (review);
  take (window, "4-wizard-review-improved-end");
}

/* Mixed precision while it is calculated, and as a chart with a point selected. */
static void
take_curve (VnWindow  *window,
            GtkWidget *wizard)
{
  VnDocument *document = vn_window_get_document (window);
  GtkWidget *panel = vn_test_find (wizard, g_type_from_name ("VnCurvePanel"), NULL);
  VnCurveView *view = VN_CURVE_VIEW (vn_test_find (panel, VN_TYPE_CURVE_VIEW, NULL));

  gtk_widget_activate_action (GTK_WIDGET (window), "win.mixed-precision", NULL);
  g_signal_emit_by_name (vn_test_find (panel, GTK_TYPE_BUTTON, "_Calculate"), "clicked");
  vn_test_settle (1500);
  take (window, "4-wizard-curve-running");
  g_assert_true (vn_test_wait (is_idle, document, SECONDS));
  vn_test_settle (300);
  vn_curve_view_select (view, (int) vn_curve_get_n (vn_bench_get_curve (VN_BENCH (document))) / 3);
  take (window, "4-wizard-curve");
}

static void
take_wizard (VnWindow *window)
{
  static const char * const steps[] = {
#define VN_WIZARD_STEP(id, title) #id,
#include "vn-wizard-steps.def"
#undef VN_WIZARD_STEP
  };
  VnWizard *wizard = VN_WIZARD (vn_test_find (GTK_WIDGET (window), VN_TYPE_WIZARD, NULL));

  gtk_widget_activate_action (GTK_WIDGET (window), "win.quantize", NULL);
  vn_wizard_begin (wizard, steps[0]);
  for (guint i = 0; i < G_N_ELEMENTS (steps); i++)
    {
      g_autofree char *name = g_strconcat ("4-wizard-", steps[i], NULL);

      g_assert_cmpstr (vn_wizard_get_step (wizard), ==, steps[i]);
      vn_test_settle (1500);
      take (window, name);
      if (g_str_equal (steps[i], "precision"))
        {
          scroll_down (vn_test_find (GTK_WIDGET (wizard), g_type_from_name ("VnStepPrecision"), NULL));
          take (window, "4-wizard-precision-end");
        }
      if (g_str_equal (steps[i], "review"))
        {
          take_curve (window, GTK_WIDGET (wizard));
          take_improving (window, GTK_WIDGET (wizard));
        }
      if (i + 1 < G_N_ELEMENTS (steps))
        vn_wizard_go_next (wizard);
    }
}

/* All Settings, a picture for each screenful. */
static void
take_settings (VnWindow *window)
{
  GtkWidget *dialog = vn_settings_dialog_new (GTK_WINDOW (window), vn_window_get_document (window));
  GtkAdjustment *adjustment;

  gtk_window_present (GTK_WINDOW (dialog));
  vn_test_settle (700);
  adjustment = gtk_scrolled_window_get_vadjustment (GTK_SCROLLED_WINDOW (vn_test_find (dialog, GTK_TYPE_SCROLLED_WINDOW, NULL)));
  for (guint i = 0; i * gtk_adjustment_get_page_size (adjustment) < gtk_adjustment_get_upper (adjustment); i++)
    {
      g_autofree char *name = g_strdup_printf ("5-settings-%u", i + 1);

      gtk_adjustment_set_value (adjustment, i * gtk_adjustment_get_page_size (adjustment));
      take (dialog, name);
    }
  gtk_window_destroy (GTK_WINDOW (dialog));
}

int
main (int    argc,
      char **argv)
{
  const char *shared = g_getenv ("VN_SHARED");
  const char *folder = g_getenv ("VN_SCREENSHOTS");
  VnApplication *app;
  VnWindow *window;
  g_autofree char *model = NULL, *samples = NULL;

  if (folder == NULL || *folder == 0 || (argc < 4 && (shared == NULL || *shared == 0)))
    {
      g_print ("1..0 # SKIP VN_SCREENSHOTS or VN_SHARED is not set\n");
      return EXIT_SUCCESS;
    }
  vn_test_widgets_init (&argc, &argv);
  model = argc > 3 ? g_strdup (argv[1])
                   : g_build_filename (shared, "models", "det_ultraface_rfb320.onnx", NULL);
  samples = argc > 3 ? g_strdup (argv[2]) : g_build_filename (shared, "images", "coco", NULL);
  app = vn_application_new ();
  g_application_set_flags (G_APPLICATION (app), G_APPLICATION_NON_UNIQUE);
  g_assert_true (g_application_register (G_APPLICATION (app), NULL, NULL));
  adw_style_manager_set_color_scheme (adw_style_manager_get_default (), ADW_COLOR_SCHEME_FORCE_LIGHT);
  window = vn_window_new (GTK_APPLICATION (app));
  gtk_window_set_default_size (GTK_WINDOW (window), 1600, 1000);
  gtk_window_present (GTK_WINDOW (window));
  take (window, "1-empty");
  open_and_quantize (window, model, samples, argc > 3 ? argv[3] : "minus-one-one");
  take_main_pages (window);
  take_wizard (window);
  take_settings (window);
  gtk_window_destroy (GTK_WINDOW (window));
  g_print ("1..1\nok 1 /screenshots\n");
  return 0;
}
