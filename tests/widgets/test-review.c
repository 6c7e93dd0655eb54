/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The last steps of the assistant: what the review tells of detectors and masks, and the forms in which a report is exported. */
#include "vn-document-private.h"
#include "vn-report.h"
#include "vn-review-table.h"
#include "vn-step-export.h"
#include "vn-step-review.h"
#include "vn-task.h"
#include "vn-wizard.h"
#include "widget-fixture.h"
#include "window-fixture.h"

#include <glib/gstdio.h>
#include <string.h>

static VnWizard *
show_step (Fixture    *fixture,
           const char *step)
{
  VnWizard *wizard = VN_WIZARD (vn_test_find (GTK_WIDGET (fixture->window), VN_TYPE_WIZARD, NULL));

  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.quantize", NULL);
  vn_wizard_begin (wizard, step);
  g_assert_cmpstr (vn_wizard_get_step (wizard), ==, step);
  vn_test_settle (1000);
  return wizard;
}

static void
scroll_down (GtkWidget *step)
{
  GtkWidget *scrolled = vn_test_find (step, GTK_TYPE_SCROLLED_WINDOW, NULL);
  GtkAdjustment *adjustment = gtk_scrolled_window_get_vadjustment (GTK_SCROLLED_WINDOW (scrolled));

  gtk_adjustment_set_value (adjustment, gtk_adjustment_get_upper (adjustment));
}

/* ---- detectors and masks ---- */

/* The present result, as if what it was made of were a network for this task. */
static void
pretend (Fixture *fixture,
         VnTask   task,
         guint64  n,
         guint64  n_kept,
         double   share)
{
  VnResult *result = vn_document_get_result (fixture->document);
  g_autoptr(VnResult) other = vn_result_new_with_verification (result, NULL, NULL, result->notes);

  other->accuracy.kept = (VnKept) { task, 8, n, n_kept, 2, share };
  vn_document_set_result (fixture->document, other);
}

static void
test_kept (Fixture       *fixture,
           gconstpointer  data)
{
  static const struct { VnTask task; guint64 n, n_kept; double share; const char *name, *title, *figure, *cell; } cases[] = {
    { VN_TASK_DETECTION, 50, 47, 0.94, "detections kept", "Detections kept", "94.0 %", "94.0\302\240%" },
    { VN_TASK_SEGMENTATION, 3, 0, 0.875, "mask overlap", "Mask overlap", "87.5 %", "87.5\302\240%" },
  };
  GtkWidget *review, *table;

  vn_window_fixture_open_model (fixture);
  vn_window_fixture_quantize (fixture);
  vn_document_cancel_origins (fixture->document);
  review = vn_test_find (GTK_WIDGET (show_step (fixture, "review")), VN_TYPE_STEP_REVIEW, NULL);
  /* what comes out of the small network looks like masks */
  g_assert_cmpint (vn_document_get_result (fixture->document)->accuracy.kept.task, ==, VN_TASK_SEGMENTATION);
  table = vn_test_find (review, VN_TYPE_REVIEW_TABLE, NULL);
  g_assert_nonnull (vn_test_find (table, GTK_TYPE_LABEL, "Mask overlap"));
  g_assert_null (vn_test_find (table, GTK_TYPE_LABEL, "Detections kept"));
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      pretend (fixture, cases[i].task, cases[i].n, cases[i].n_kept, cases[i].share);
      g_assert_nonnull (vn_test_find (table, GTK_TYPE_LABEL, cases[i].title));
      g_assert_nonnull (vn_test_find (table, GTK_TYPE_LABEL, cases[i].cell));
      g_assert_nonnull (vn_test_find (review, GTK_TYPE_LABEL, cases[i].figure));    /* in the head, too */
      g_assert_nonnull (vn_test_find (review, GTK_TYPE_LABEL, cases[i].name));
      scroll_down (review);
      vn_test_settle (300);
      vn_test_screenshot (GTK_WIDGET (fixture->window), i == 0 ? "review-detections" : "review-masks");
    }
  g_assert_cmpuint (fixture->n_failed, ==, 0);
}

/* ---- forms of a report ---- */

static void
check_begins (const char *path,
              const char *beginning)
{
  g_autofree char *bytes = NULL;
  gsize length;

  if (!g_file_get_contents (path, &bytes, &length, NULL))
    g_error ("%s was not written", path);
  g_assert_cmpuint (length, >, 1000);
  g_assert_true (g_str_has_prefix (bytes, beginning));
}

static void
test_forms (Fixture       *fixture,
            gconstpointer  data)
{
  static const struct { const char *ending, *beginning; } beginnings[] = {
    { ".md", "# " }, { ".json", "{" }, { ".html", "<!DOCTYPE html>" }, { ".pdf", "%PDF-" },
  };
  guint n, n_checked = 0;
  const VnReportPrinter *printers = vn_report_printer_list (&n);
  GtkDropDown *forms;
  AdwActionRow *row;
  GtkWidget *step;
  VnWizard *wizard;

  vn_window_fixture_open_model (fixture);
  vn_window_fixture_quantize (fixture);
  vn_document_cancel_origins (fixture->document);
  wizard = show_step (fixture, "export");
  step = vn_test_find (GTK_WIDGET (wizard), VN_TYPE_STEP_EXPORT, NULL);
  forms = GTK_DROP_DOWN (vn_test_find (step, GTK_TYPE_DROP_DOWN, NULL));
  row = ADW_ACTION_ROW (vn_test_find (step, ADW_TYPE_ACTION_ROW, "Report"));
  g_assert_cmpuint (g_list_model_get_n_items (gtk_drop_down_get_model (forms)), ==, n + 1);
  for (guint i = 0; i <= n; i++)
    {
      const char *ending = i > 0 ? strrchr (printers[i - 1].file, '.') : "";
      g_autofree char *name = g_strdup_printf ("small-quantized-report%s", ending);
      g_autofree char *path = g_build_filename (fixture->folder, name, NULL);

      gtk_drop_down_set_selected (forms, i);
      g_assert_true (g_str_has_suffix (adw_action_row_get_subtitle (row), name));
      vn_wizard_go_next (wizard);
      g_assert_true (vn_test_wait (vn_window_fixture_is_idle, fixture->document, SECONDS));
      g_assert_cmpuint (fixture->n_failed, ==, 0);
      for (guint k = 0; k < G_N_ELEMENTS (beginnings); k++)
        {
          g_autofree char *in_folder = g_strdup_printf ("%s/report%s", path, beginnings[k].ending);

          if (i > 0 && !g_str_equal (beginnings[k].ending, ending))
            continue;
          check_begins (i == 0 ? in_folder : path, beginnings[k].beginning);
          n_checked++;
        }
      if (i == 3)
        vn_test_settle (300);
      if (i == 3)
        vn_test_screenshot (GTK_WIDGET (fixture->window), "export-form");
    }
  g_assert_cmpuint (n_checked, ==, 2 * n);
}

int
main (int    argc,
      char **argv)
{
  vn_window_fixture_init (&argc, &argv);
  g_test_add ("/review/kept", Fixture, NULL, vn_window_fixture_set_up, test_kept, vn_window_fixture_tear_down);
  g_test_add ("/review/forms", Fixture, NULL, vn_window_fixture_set_up, test_forms, vn_window_fixture_tear_down);
  return g_test_run ();
}
