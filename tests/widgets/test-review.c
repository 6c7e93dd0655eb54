/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the review tells of detectors and masks, and of outputs that hold numbers of different size. */
#include "bench-private.h"
#include "vn-cures-list.h"
#include "vn-graph-page.h"
#include "vn-precision-gain.h"
#include "vn-precision-menu.h"
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
         double   share,
         double   mean)
{
  VnRun *result = vn_bench_get_shown (VN_BENCH (fixture->document));
  g_autoptr(VnRun) other = vn_run_with (result, VN_FACET_NOTES, result->notes);

  other->accuracy.kept = (VnKept) { task, 8, n, n_kept, 2, share, mean };
  vn_bench_set_run (VN_BENCH (fixture->document), other);
}

static void
test_kept (Fixture       *fixture,
           gconstpointer  data)
{
  /* @second, @mean_text: what is told beside the share, in place of the noise of the outputs */
  static const struct {
    VnTask task;
    guint64 n, n_kept;
    double share;
    const char *name, *title, *figure, *cell;
    double mean;
    const char *second, *mean_text;
  } cases[] = {
    { VN_TASK_DETECTION, 50, 47, 0.94, "matching detections", "Matching detections", "94.0 %", "94.0\302\240%", 0, NULL, NULL },
    { VN_TASK_SEGMENTATION, 3, 0, 0.875, "mask IoU", "Mask IoU", "87.5 %", "87.5\302\240%", 0, NULL, NULL },
    { VN_TASK_TOKENS, 96, 93, 0.969, "matching tokens", "Matching tokens", "96.9 %", "96.9\302\240%", 0.01684, "KL divergence",
      "0.0168" },
    { VN_TASK_TOKENS, 96, 95, 0.99, "matching tokens", "Matching tokens", "99.0 %", "99.0\302\240%", 6.04e-5, "KL divergence",
      "0.000060" },
    { VN_TASK_TOKENS, 96, 96, 1, "matching tokens", "Matching tokens", "100.0 %", "100.0\302\240%", 0, "KL divergence",
      "0.0000" },
    { VN_TASK_EMBEDDING, 96, 95, 0.99, "matching neighbors", "Matching neighbors", "99.0 %", "99.0\302\240%", 0.98476,
      "Mean cosine", "0.9848" },
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
      pretend (fixture, cases[i].task, cases[i].n, cases[i].n_kept, cases[i].share, cases[i].mean);
      g_assert_nonnull (vn_test_find (table, GTK_TYPE_LABEL, cases[i].title));
      g_assert_nonnull (vn_test_find (table, GTK_TYPE_LABEL, cases[i].cell));
      g_assert_nonnull (vn_test_find (review, GTK_TYPE_LABEL, cases[i].figure));    /* in the head, too */
      g_assert_nonnull (vn_test_find (review, GTK_TYPE_LABEL, cases[i].name));
      g_assert_cmpint (vn_test_find (review, GTK_TYPE_LABEL, "SQNR, worst output") != NULL, ==, cases[i].second == NULL);
      if (cases[i].second != NULL)
        {
          g_assert_nonnull (vn_test_find (table, GTK_TYPE_LABEL, cases[i].second));
          g_assert_nonnull (vn_test_find (table, GTK_TYPE_LABEL, cases[i].mean_text));
          g_assert_nonnull (vn_test_find (vn_test_find (review, GTK_TYPE_GRID, NULL), GTK_TYPE_LABEL, cases[i].mean_text));
        }
      scroll_down (review);
      vn_test_settle (300);
      vn_test_screenshot (GTK_WIDGET (fixture->window), cases[i].title);
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

/* ---- after a run ---- */

static guint
count_rows (GtkWidget *list)
{
  guint n = 0;

  for (GtkWidget *row = gtk_widget_get_first_child (list); row != NULL; row = gtk_widget_get_next_sibling (row))
    n++;
  return n;
}

/* What a precision would gain and cost stands behind it, at any depth. */
static char *
dup_choice (GMenuModel *menu,
            const char *target)
{
  for (int i = 0; i < g_menu_model_get_n_items (menu); i++)
    {
      g_autofree char *action = NULL, *own = NULL;
      g_autoptr(GMenuModel) section = g_menu_model_get_item_link (menu, i, G_MENU_LINK_SECTION);
      char *label = section != NULL ? dup_choice (section, target) : NULL;

      if (label != NULL)
        return label;
      if (g_menu_model_get_item_attribute (menu, i, G_MENU_ATTRIBUTE_ACTION, "s", &action) &&
          g_menu_model_get_item_attribute (menu, i, G_MENU_ATTRIBUTE_TARGET, "s", &own) &&
          g_str_equal (action, "win.set-precision") && g_str_equal (own, target) &&
          g_menu_model_get_item_attribute (menu, i, G_MENU_ATTRIBUTE_LABEL, "s", &label))
        return label;
    }
  return NULL;
}

static GtkWidget *
find_menu_button (GtkWidget  *root,
                  const char *label)
{
  if (GTK_IS_MENU_BUTTON (root) && g_strcmp0 (gtk_menu_button_get_label (GTK_MENU_BUTTON (root)), label) == 0)
    return root;
  for (GtkWidget *child = gtk_widget_get_first_child (root); child != NULL; child = gtk_widget_get_next_sibling (child))
    {
      GtkWidget *found = find_menu_button (child, label);

      if (found != NULL)
        return found;
    }
  return NULL;
}

static void
test_next (Fixture       *fixture,
           gconstpointer  data)
{
  GtkWidget *review, *cures, *list, *button;
  GtkAdjustment *adjustment;
  VnPrecisionGain gain;
  VnNodeItem *item;
  g_autofree char *wide = NULL, *in_float = NULL, *again = NULL, *eight = NULL;
  GMenuModel *menu;

  vn_window_fixture_find_origins (fixture);
  review = vn_test_find (vn_window_fixture_open_review (fixture), VN_TYPE_STEP_REVIEW, NULL);
  cures = vn_test_find (review, VN_TYPE_CURES_LIST, NULL);
  g_assert_nonnull (vn_test_find (cures, GTK_TYPE_LABEL, "What to Do Next"));
  list = vn_test_find (cures, GTK_TYPE_LIST_BOX, NULL);
  g_assert_cmpuint (count_rows (list), >=, 1);
  g_assert_cmpuint (count_rows (list), <=, 3);

  /* a new run is shown from its verdict on, what was found out about it since is not */
  adjustment = gtk_scrolled_window_get_vadjustment (GTK_SCROLLED_WINDOW (vn_test_find (review, GTK_TYPE_SCROLLED_WINDOW, NULL)));
  vn_test_settle (500);
  scroll_down (review);
  g_assert_cmpfloat (gtk_adjustment_get_value (adjustment), >, 100);
  pretend (fixture, VN_TASK_DETECTION, 50, 47, 0.94, 0);
  vn_test_settle (500);
  g_assert_cmpfloat (gtk_adjustment_get_value (adjustment), >, 100);
  pretend_parts (fixture, 30, 12);
  vn_test_settle (500);
  g_assert_cmpfloat (gtk_adjustment_get_value (adjustment), ==, 0);
  vn_step_review_show_curve (VN_STEP_REVIEW (review));
  vn_test_settle (500);
  g_assert_cmpfloat (gtk_adjustment_get_value (adjustment), >, 100);
  vn_test_screenshot (GTK_WIDGET (fixture->window), "review-mixed-precision");

  /* the menu of the selection bar */
  item = vn_window_fixture_get_item (fixture, "/left/conv");
  vn_document_select_one (fixture->document, item->index);
  g_assert_true (vn_precision_gain_estimate (VN_BENCH (fixture->document), &item->index, 1, VN_NODE_FLOAT, &gain));
  g_assert_cmpfloat (gain.gain_db, >, 0);
  g_assert_cmpint (gain.bytes, >, 0);
  button = vn_test_find (GTK_WIDGET (fixture->window), VN_TYPE_GRAPH_PAGE, NULL);
  button = find_menu_button (button, "Precision");
  menu = gtk_menu_button_get_menu_model (GTK_MENU_BUTTON (button));
  vn_precision_menu_tell (menu, fixture->document);
  wide = dup_choice (menu, "16");
  in_float = dup_choice (menu, "float");
  eight = dup_choice (menu, "8");
  g_test_message ("%s; %s", wide, in_float);
  g_assert_true (g_str_has_prefix (wide, "_16-Bit   ≈\u00a0+") && g_str_has_suffix (wide, "dB · same size"));
  g_assert_true (g_str_has_prefix (in_float, "_Float   ≈\u00a0+") && strstr (in_float, "dB · +") != NULL);
  g_assert_cmpstr (eight, ==, "_8-Bit");
  vn_precision_menu_tell (menu, fixture->document);      /* not twice */
  again = dup_choice (menu, "float");
  g_assert_cmpstr (again, ==, in_float);
  g_assert_cmpuint (fixture->n_failed, ==, 0);
}

int
main (int    argc,
      char **argv)
{
  vn_window_fixture_init (&argc, &argv);
  g_test_add ("/review/kept", Fixture, NULL, vn_window_fixture_set_up, test_kept, vn_window_fixture_tear_down);
  g_test_add ("/review/parts", Fixture, NULL, vn_window_fixture_set_up, test_parts, vn_window_fixture_tear_down);
  g_test_add ("/review/next", Fixture, NULL, vn_window_fixture_set_up, test_next, vn_window_fixture_tear_down);
  return g_test_run ();
}
