/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the review tells of detectors and masks, and of outputs that hold numbers of different size. */
#include "bench-private.h"
#include "vn-review-table.h"
#include "vn-step-review.h"
#include "vn-task.h"
#include "vn-wizard.h"
#include "widget-fixture.h"
#include "window-fixture.h"

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
  VnRun *result = vn_bench_get_shown (VN_BENCH (fixture->document));
  g_autoptr(VnRun) other = vn_run_with (result, VN_FACET_NOTES, result->notes);

  other->accuracy.kept = (VnKept) { task, 8, n, n_kept, 2, share };
  vn_bench_set_run (VN_BENCH (fixture->document), other);
}

static void
test_kept (Fixture       *fixture,
           gconstpointer  data)
{
  static const struct { VnTask task; guint64 n, n_kept; double share; const char *name, *title, *figure, *cell; } cases[] = {
    { VN_TASK_DETECTION, 50, 47, 0.94, "matching detections", "Matching detections", "94.0 %", "94.0\302\240%" },
    { VN_TASK_SEGMENTATION, 3, 0, 0.875, "mask IoU", "Mask IoU", "87.5 %", "87.5\302\240%" },
  };
  GtkWidget *review, *table;

  vn_window_fixture_open_model (fixture);
  vn_window_fixture_quantize (fixture);
  vn_bench_cancel_origins (VN_BENCH (fixture->document));
  review = vn_test_find (GTK_WIDGET (show_step (fixture, "review")), VN_TYPE_STEP_REVIEW, NULL);
  /* what comes out of the small network looks like masks */
  g_assert_cmpint (vn_bench_get_shown (VN_BENCH (fixture->document))->accuracy.kept.task, ==, VN_TASK_SEGMENTATION);
  table = vn_test_find (review, VN_TYPE_REVIEW_TABLE, NULL);
  g_assert_nonnull (vn_test_find (table, GTK_TYPE_LABEL, "Mask IoU"));
  g_assert_null (vn_test_find (table, GTK_TYPE_LABEL, "Matching detections"));
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

/* ---- parts ---- */

/* The present result, as if its output held boxes and scores that keep so much. */
static void
pretend_parts (Fixture *fixture,
               double   boxes_db,
               double   scores_db)
{
  VnRun *result = vn_bench_get_shown (VN_BENCH (fixture->document));
  g_autoptr(VnRun) other = vn_run_with (result, VN_FACET_NOTES, result->notes);
  VnErrorTable *errors = vn_error_table_copy (result->errors);
  VnErrorRow *row = (VnErrorRow *) vn_error_table_find (errors, "/head/relu");
  const VnErrorPart parts[] = { { .axis = 1, .slices = (char *) "0-3", .n = 4, .size = 500, .sqnr_db = boxes_db },
                                { .axis = 1, .slices = (char *) "4-7", .n = 4, .size = 0.9, .sqnr_db = scores_db } };

  g_clear_pointer (&row->parts, g_ptr_array_unref);
  row->sqnr_db = 60;
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    vn_error_row_take_part (row, vn_error_part_copy (&parts[i]));
  g_clear_pointer (&other->errors, vn_error_table_unref);
  other->errors = errors;
  other->time++;      /* another run */
  vn_bench_set_run (VN_BENCH (fixture->document), other);
}

/* The part that speaks for an output is named, and what was before stands in the same line though it was of another part. */
static void
test_parts (Fixture       *fixture,
            gconstpointer  data)
{
  GtkWidget *review, *table;

  vn_window_fixture_open_model (fixture);
  vn_window_fixture_quantize (fixture);
  vn_bench_cancel_origins (VN_BENCH (fixture->document));
  review = vn_test_find (GTK_WIDGET (show_step (fixture, "review")), VN_TYPE_STEP_REVIEW, NULL);
  table = vn_test_find (review, VN_TYPE_REVIEW_TABLE, NULL);
  g_assert_nonnull (vn_test_find (table, GTK_TYPE_LABEL, "SQNR, /head/relu"));
  pretend_parts (fixture, 30, 12);
  g_assert_nonnull (vn_test_find (table, GTK_TYPE_LABEL, "SQNR, /head/relu, channels 4–7 (up to 0.9)"));
  g_assert_nonnull (vn_test_find (table, GTK_TYPE_LABEL, "12.0\u00a0dB"));
  pretend_parts (fixture, 8, 25);
  g_assert_nonnull (vn_test_find (table, GTK_TYPE_LABEL, "SQNR, /head/relu, channels 0–3 (up to 500)"));
  g_assert_null (vn_test_find (table, GTK_TYPE_LABEL, "SQNR, /head/relu, channels 4–7 (up to 0.9)"));
  g_assert_nonnull (vn_test_find (table, GTK_TYPE_LABEL, "8.0\u00a0dB"));
  g_assert_nonnull (vn_test_find (table, GTK_TYPE_LABEL, "12.0\u00a0dB"));
  scroll_down (review);
  vn_test_settle (300);
  vn_test_screenshot (GTK_WIDGET (fixture->window), "review-parts");
  g_assert_cmpuint (fixture->n_failed, ==, 0);
}

int
main (int    argc,
      char **argv)
{
  vn_window_fixture_init (&argc, &argv);
  g_test_add ("/review/kept", Fixture, NULL, vn_window_fixture_set_up, test_kept, vn_window_fixture_tear_down);
  g_test_add ("/review/parts", Fixture, NULL, vn_window_fixture_set_up, test_parts, vn_window_fixture_tear_down);
  return g_test_run ();
}
