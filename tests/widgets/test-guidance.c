/* SPDX-License-Identifier: GPL-3.0-or-later */

/* What the steps of the wizard say and offer: samples unlike those of the training are told before calibration, with a button
 * that mends it; what was decided to keep is not said again. */

#include "vn-data-card.h"
#include "vn-expected-bar.h"
#include "vn-graph-view.h"
#include "vn-legend.h"
#include "vn-data-files.h"
#include "vn-step-export.h"
#include "vn-text-rows.h"
#include "vn-wizard-step.h"
#include "vn-wizard.h"
#include "data-step-fixture.h"
#include "widget-fixture.h"
#include "window-fixture.h"

#include <glib/gstdio.h>
#include <string.h>

static GtkWidget *
find_card (Fixture *fixture)
{
  return vn_test_find (GTK_WIDGET (fixture->window), VN_TYPE_DATA_CARD, NULL);
}

static gboolean
card_is_shown (gpointer window)
{
  return gtk_widget_get_visible (vn_test_find (window, VN_TYPE_DATA_CARD, NULL));
}

static gboolean
card_is_hidden (gpointer window)
{
  return !card_is_shown (window);
}

static gboolean
card_says (GtkWidget  *card,
           const char *text)
{
  return vn_test_find (card, GTK_TYPE_LABEL, text) != NULL;
}

static gboolean
card_says_unusable (gpointer card)
{
  return card_says (card, "The samples cannot be used");
}

static gboolean
card_says_few (gpointer card)
{
  return card_says (card, "Few samples");
}

static gboolean
step_warns (Fixture *fixture)
{
  GtkWidget *step = vn_test_find (GTK_WIDGET (fixture->window), g_type_from_name ("VnStepData"), NULL);

  return vn_wizard_step_has_warning (VN_WIZARD_STEP (step));
}

/* Pixels of 0 to 255 where −1 to 1 are wanted: said, mended by the button, and said no more. */
static void
test_cure (Fixture       *fixture,
           gconstpointer  user_data)
{
  g_autofree char *model = vn_data_step_write_model (fixture->folder);
  g_autofree char *pictures = vn_data_step_write_pictures (fixture->folder, 12);
  GtkWidget *card;
  const VnDataSpec *data;

  vn_data_step_show (fixture, model, pictures);
  g_assert_true (vn_test_wait (card_is_shown, fixture->window, SECONDS));
  card = find_card (fixture);
  g_assert_true (card_says (card, "Values unlike those used in training"));
  g_assert_true (step_warns (fixture));
  vn_test_settle (1500);
  vn_test_screenshot (GTK_WIDGET (fixture->window), "small-guidance-warning");
  g_signal_emit_by_name (vn_test_find (card, GTK_TYPE_BUTTON, "Use −1 … 1"), "clicked");
  g_assert_true (vn_test_wait (card_is_hidden, fixture->window, SECONDS));
  vn_test_settle (600);
  g_assert_true (card_is_hidden (fixture->window));      /* also after another look */
  g_assert_false (step_warns (fixture));
  data = vn_bench_get_data (VN_BENCH (fixture->document));
  g_assert_cmpfloat (data->preprocess.mean[1], ==, 127.5f);
  g_assert_cmpfloat (data->preprocess.std[2], ==, 127.5f);
  vn_test_screenshot (GTK_WIDGET (fixture->window), "small-guidance-mended");
  vn_data_step_remove_folder (pictures);
  g_unlink (model);
}

/* Kept: not said again until the samples change; the step keeps its mark. */
static void
test_keep (Fixture       *fixture,
           gconstpointer  user_data)
{
  g_autofree char *model = vn_data_step_write_model (fixture->folder);
  g_autofree char *pictures = vn_data_step_write_pictures (fixture->folder, 12);
  g_autoptr(VnDataSpec) data = NULL;

  vn_data_step_show (fixture, model, pictures);
  g_assert_true (vn_test_wait (card_is_shown, fixture->window, SECONDS));
  g_signal_emit_by_name (vn_test_find (find_card (fixture), GTK_TYPE_BUTTON, "_Keep"), "clicked");
  g_assert_true (card_is_hidden (fixture->window));
  g_assert_true (step_warns (fixture));
  vn_bench_set_n_samples (VN_BENCH (fixture->document), 8);      /* the same samples */
  vn_test_settle (1000);
  g_assert_true (card_is_hidden (fixture->window));
  data = vn_data_spec_copy (vn_bench_get_data (VN_BENCH (fixture->document)));
  data->preprocess.std[0] = data->preprocess.std[1] = data->preprocess.std[2] = 0.5f;
  vn_bench_set_data (VN_BENCH (fixture->document), data);
  g_assert_true (vn_test_wait (card_is_shown, fixture->window, SECONDS));
  vn_data_step_remove_folder (pictures);
  g_unlink (model);
}

static gboolean
says_all_used (gpointer row)
{
  return strstr (adw_action_row_get_subtitle (row), "all 4 available") != NULL;
}

static gboolean
says_spread (gpointer row)
{
  return strstr (adw_action_row_get_subtitle (row), "evenly spaced") != NULL;
}

/* Few samples are a fact; a folder without pictures is said once; what is held out is chosen, and kept by the project. */
static void
test_samples (Fixture       *fixture,
              gconstpointer  user_data)
{
  g_autofree char *model = vn_data_step_write_model (fixture->folder);
  g_autofree char *pictures = vn_data_step_write_pictures (fixture->folder, 4);
  g_autofree char *empty = g_build_filename (fixture->folder, "empty", NULL);
  g_autoptr(VnDataSpec) none = NULL;
  g_autoptr(VnDataSpec) small = NULL;
  GtkWidget *card, *folder, *used;

  vn_data_step_show (fixture, model, pictures);
  small = vn_data_spec_copy (vn_bench_get_data (VN_BENCH (fixture->document)));
  for (guint c = 0; c < 4; c++)
    small->preprocess.mean[c] = small->preprocess.std[c] = 127.5f;
  vn_bench_set_data (VN_BENCH (fixture->document), small);
  card = find_card (fixture);
  g_assert_true (vn_test_wait (card_says_few, card, SECONDS));
  g_assert_false (step_warns (fixture));

  /* more than there are changes nothing, and says so */
  used = vn_test_find (GTK_WIDGET (fixture->window), g_type_from_name ("VnStepData"), NULL);
  used = vn_test_find (used, ADW_TYPE_ACTION_ROW, "Use for calibration");
  g_assert_true (vn_test_wait (says_all_used, used, SECONDS));
  vn_bench_set_n_samples (VN_BENCH (fixture->document), 3);
  g_assert_true (vn_test_wait (says_spread, used, SECONDS));

  g_assert_cmpint (g_mkdir (empty, 0700), ==, 0);
  none = vn_data_spec_new (empty);
  vn_bench_set_data (VN_BENCH (fixture->document), none);
  g_assert_true (vn_test_wait (card_says_unusable, card, SECONDS));
  /* the row says where, the card says why */
  folder = vn_test_find (GTK_WIDGET (fixture->window), g_type_from_name ("VnStepData"), NULL);
  folder = vn_test_find (folder, ADW_TYPE_ACTION_ROW, NULL);
  g_assert_true (g_str_has_suffix (adw_action_row_get_subtitle (ADW_ACTION_ROW (folder)), "empty"));
  g_assert_null (vn_test_find (card, GTK_TYPE_BUTTON, "_Keep"));
  g_assert_nonnull (vn_test_find (card, GTK_TYPE_BUTTON, "Choose _Others…"));
  g_rmdir (empty);
  vn_data_step_remove_folder (pictures);
  g_unlink (model);
}

static void
press (Fixture    *fixture,
       const char *label,
       guint      *clicks)
{
  GtkWidget *button = vn_test_find (vn_test_find (GTK_WIDGET (fixture->window), VN_TYPE_WIZARD, NULL), GTK_TYPE_BUTTON, label);

  g_assert_nonnull (button);
  g_assert_true (gtk_widget_get_visible (button) && gtk_widget_is_sensitive (button));
  g_signal_emit_by_name (button, "clicked");
  (*clicks)++;
}

static gboolean
is_at_review (gpointer wizard)
{
  return g_str_equal (vn_wizard_get_step (wizard), "review");
}

static gboolean
exists (gpointer path)
{
  return g_file_test (path, G_FILE_TEST_EXISTS);
}

/* Cells of the table of the review, by title of the line; @column by its heading. */
static const char *
get_cell (GtkWidget  *table,
          const char *line,
          const char *column)
{
  GtkGrid *grid = GTK_GRID (vn_test_find (table, GTK_TYPE_GRID, NULL));
  int at = -1;

  for (int c = 1; c < 6; c++)
    {
      GtkWidget *heading = gtk_grid_get_child_at (grid, c, 0);

      if (heading != NULL && g_str_equal (gtk_label_get_label (GTK_LABEL (heading)), column))
        at = c;
    }
  for (int row = 2; at > 0 && row < 60; row += 2)
    {
      GtkWidget *title = gtk_grid_get_child_at (grid, 0, row);

      if (title != NULL && g_str_equal (gtk_label_get_label (GTK_LABEL (title)), line))
        return gtk_label_get_label (GTK_LABEL (gtk_grid_get_child_at (grid, at, row)));
    }
  return NULL;
}

/* The page is as high as what stands on it at this width, to its foot. */
static gboolean
review_is_high_enough (gpointer wizard)
{
  GtkWidget *foot = vn_test_find (wizard, g_type_from_name ("VnVerifyPanel"), NULL), *page = gtk_widget_get_parent (foot);
  GtkWidget *bin = gtk_widget_get_ancestor (page, g_type_from_name ("VnAdaptiveBin"));
  int needed;

  gtk_widget_measure (page, GTK_ORIENTATION_VERTICAL, gtk_widget_get_width (page), &needed, NULL, NULL, NULL);
  g_test_message ("the review takes %d of %d pixels", needed, gtk_widget_get_height (bin));
  return needed > 200 && gtk_widget_get_height (bin) >= needed;
}

static gboolean
is_refused (gpointer document)
{
  return vn_bench_get_expecting (VN_BENCH (document)) == VN_EXPECTING_REFUSED;
}

static gboolean
is_settled (gpointer document)
{
  return vn_bench_get_expecting (VN_BENCH (document)) == VN_EXPECTING_NOTHING && vn_window_fixture_is_idle (document) &&
         !vn_bench_is_stale (VN_BENCH (document));
}

/* What a change does cannot be told then: a run is offered, and what was found before comes back at once. */
static void
change_without_samples (Fixture *fixture)
{
  g_autoptr(GtkBitset) node = gtk_bitset_new_range (vn_window_fixture_get_item (fixture, "/left/conv")->index, 1);
  VnRun *before = vn_bench_get_shown (VN_BENCH (fixture->document));
  GtkWidget *bar = vn_test_find (GTK_WIDGET (fixture->window), VN_TYPE_EXPECTED_BAR, NULL);

  vn_document_set_precision (fixture->document, node, VN_NODE_FLOAT);
  g_assert_true (vn_test_wait (is_refused, fixture->document, SECONDS));
  g_assert_cmpstr (vn_bench_get_refusal (VN_BENCH (fixture->document)), ==, "There are no samples to measure the change with");
  vn_test_settle (300);
  g_signal_emit_by_name (vn_test_find (bar, GTK_TYPE_BUTTON, "_Run Now"), "clicked");
  g_assert_true (vn_test_wait (is_settled, fixture->document, SECONDS));
  g_assert_true (vn_bench_get_shown (VN_BENCH (fixture->document)) != before);
  g_assert_cmpuint (vn_bench_get_shown (VN_BENCH (fixture->document))->recipe->overrides->len, ==, 1);
  vn_bench_undo (VN_BENCH (fixture->document));
  g_assert_true (vn_test_wait (is_settled, fixture->document, SECONDS));
  g_assert_cmpuint (vn_bench_get_shown (VN_BENCH (fixture->document))->recipe->overrides->len, ==, 0);
  g_assert_cmpuint (fixture->n_failed, ==, 0);
}

static gboolean
shows_bits (gpointer graph_view)
{
  const VnOverlay *overlay = vn_graph_view_get_overlay (graph_view);

  return overlay != NULL && vn_overlay_get_kind (overlay) == VN_OVERLAY_BITS;
}

/* Without an error the graph still tells how many bits weights have. */
static void
check_bits (Fixture *fixture)
{
  GtkWidget *legend = vn_test_find (GTK_WIDGET (fixture->window), VN_TYPE_LEGEND, NULL);
  GtkWidget *stack = vn_test_find (legend, GTK_TYPE_STACK, NULL);
  GtkWidget *view = vn_test_find (GTK_WIDGET (fixture->window), VN_TYPE_GRAPH_VIEW, NULL);

  g_assert_cmpstr (gtk_stack_get_visible_child_name (GTK_STACK (stack)), ==, "scale");
  vn_legend_set_choice (VN_LEGEND (legend), VN_CHOICE_BITS);
  g_assert_true (vn_test_wait (shows_bits, view, SECONDS));
  /* three convolutions of 8 bits */
  g_assert_cmpuint (vn_overlay_count_band (vn_graph_view_get_overlay (VN_GRAPH_VIEW (view)), 2), ==, 3);
}

/* A target that takes no samples is reached without any, and its network is exported. */
static void
test_without_samples (Fixture       *fixture,
                      gconstpointer  user_data)
{
  g_autofree char *model = g_build_filename (fixture->folder, "out.onnx", NULL);
  VnWizard *wizard = VN_WIZARD (vn_test_find (GTK_WIDGET (fixture->window), VN_TYPE_WIZARD, NULL));
  GtkWidget *next, *table;
  guint clicks = 0;
  g_autoptr(GError) error = NULL;

  vn_window_fixture_open_model (fixture);
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.quantize", NULL);
  press (fixture, "_Next", &clicks);
  g_assert_cmpstr (vn_wizard_get_step (wizard), ==, "target");
  next = vn_test_find (GTK_WIDGET (wizard), GTK_TYPE_BUTTON, "_Next");
  g_assert_true (gtk_widget_has_css_class (next, "blocked"));
  g_assert_nonnull (vn_test_find (GTK_WIDGET (wizard), GTK_TYPE_LABEL, "This target needs samples"));
  vn_bench_edit_recipe (VN_BENCH (fixture->document), vn_recipe_new ("dynamic"), "Target Dynamic");
  vn_test_settle (300);
  g_assert_false (gtk_widget_has_css_class (next, "blocked"));
  press (fixture, "_Calibrate Now", &clicks);
  g_assert_true (vn_test_wait (is_at_review, wizard, SECONDS));
  g_assert_cmpuint (fixture->n_failed, ==, 0);
  g_assert_null (vn_bench_get_shown (VN_BENCH (fixture->document))->errors);
  vn_test_settle (300);
  vn_test_screenshot (GTK_WIDGET (fixture->window), "small-without-samples");
  check_bits (fixture);
  table = vn_test_find (GTK_WIDGET (wizard), g_type_from_name ("VnReviewTable"), NULL);
  g_assert_nonnull (vn_test_find (table, GTK_TYPE_LABEL, "Not measured: no samples were run"));
  g_assert_nonnull (get_cell (table, "Size", "Now"));
  g_assert_true (vn_bench_export (VN_BENCH (fixture->document), model, NULL, FALSE, &error));
  g_assert_no_error (error);
  g_assert_true (vn_test_wait (exists, model, SECONDS));
  g_assert_true (vn_test_wait (vn_window_fixture_is_idle, fixture->document, SECONDS));
  change_without_samples (fixture);
}

/* From an opened model to an exported one with a report: Open, Quantize, Change, Calibrate Now, Export… and Export are six
 * clicks. */
static void
test_clicks (Fixture       *fixture,
             gconstpointer  user_data)
{
  g_autofree char *pictures = vn_data_step_write_pictures (fixture->folder, 12);
  g_autofree char *folder = g_build_filename (fixture->folder, "out", NULL);
  g_autofree char *model = g_build_filename (folder, "other.onnx", NULL);
  g_autofree char *html = g_build_filename (folder, "other-report.html", NULL);
  g_autoptr(VnDataSpec) data = vn_data_spec_new (pictures);
  VnWizard *wizard = VN_WIZARD (vn_test_find (GTK_WIDGET (fixture->window), VN_TYPE_WIZARD, NULL));
  GtkWidget *table, *step, *waiting;
  VnRecipe *recipe;
  guint clicks = 1;      /* Open Model… */

  vn_window_fixture_open_model (fixture);
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.quantize", NULL);
  clicks++;
  g_assert_cmpstr (vn_wizard_get_step (wizard), ==, "data");    /* what asks for something comes first */
  g_assert_true (gtk_widget_has_css_class (vn_test_find (GTK_WIDGET (wizard), GTK_TYPE_BUTTON, "_Calibrate Now"), "blocked"));
  waiting = vn_test_find (GTK_WIDGET (wizard), GTK_TYPE_LABEL, "Drop a folder of images here");
  g_assert_true (gtk_widget_get_mapped (waiting));
  for (guint c = 0; c < 4; c++)
    data->preprocess.mean[c] = data->preprocess.std[c] = 127.5f;
  vn_bench_set_data (VN_BENCH (fixture->document), data);               /* Change… */
  clicks++;
  vn_test_settle (600);
  g_assert_false (gtk_widget_get_visible (waiting));
  press (fixture, "_Calibrate Now", &clicks);
  g_assert_true (vn_test_wait (is_at_review, wizard, SECONDS));
  table = vn_test_find (GTK_WIDGET (wizard), g_type_from_name ("VnReviewTable"), NULL);
  g_assert_nonnull (get_cell (table, "Size", "Float"));
  g_assert_true (vn_test_wait (review_is_high_enough, wizard, SECONDS));
  g_assert_nonnull (strstr (get_cell (table, "SQNR, /head/relu", "Now"), "dB"));
  g_assert_null (get_cell (table, "Size", "Before"));

  press (fixture, "_Export…", &clicks);
  step = vn_test_find (GTK_WIDGET (wizard), VN_TYPE_STEP_EXPORT, NULL);
  g_assert_cmpint (g_mkdir (folder, 0700), ==, 0);
  vn_step_export_set_model_path (VN_STEP_EXPORT (step), model);     /* elsewhere: the report comes along */
  g_assert_true (vn_test_wait (vn_window_fixture_is_idle, fixture->document, SECONDS));
  press (fixture, "_Export", &clicks);
  g_assert_true (vn_test_wait (exists, model, SECONDS));
  g_assert_true (vn_test_wait (vn_window_fixture_is_idle, fixture->document, SECONDS));
  g_assert_true (g_file_test (html, G_FILE_TEST_EXISTS));
  g_assert_cmpuint (clicks, <=, 6);

  /* Another run: what was before stands beside it. */
  recipe = vn_recipe_copy (vn_bench_get_recipe (VN_BENCH (fixture->document)));
  recipe->per_channel = !recipe->per_channel;
  vn_bench_edit_recipe (VN_BENCH (fixture->document), recipe, "Other scales");
  g_assert_true (vn_bench_quantize (VN_BENCH (fixture->document), NULL));
  g_assert_true (vn_test_wait (vn_window_fixture_is_idle, fixture->document, SECONDS));
  g_assert_nonnull (strstr (get_cell (table, "SQNR, /head/relu", "Before"), "dB"));
  vn_wizard_begin (wizard, "review");
  vn_test_settle (400);
  vn_test_screenshot (GTK_WIDGET (fixture->window), "small-guidance-review");
  vn_wizard_begin (wizard, "precision");
  vn_test_settle (400);
  vn_test_screenshot (GTK_WIDGET (fixture->window), "small-guidance-precision");
  g_assert_cmpuint (fixture->n_failed, ==, 0);
  vn_data_step_remove_folder (folder);
  vn_data_step_remove_folder (pictures);
}

static gboolean
has_samples (gpointer step)
{
  g_autofree char *answer = vn_wizard_step_dup_answer (VN_WIZARD_STEP (step));

  return answer != NULL && strcmp (answer, "12 samples") == 0;
}

/* What the step calls samples, by network: it asks for the text of a language model as token numbers, in files, and lets go on
 * without where the target needs none. */
static void
test_kinds (Fixture       *fixture,
            gconstpointer  user_data)
{
  static const struct { const char *heading, *none, *drop; gboolean takes_files; } kinds[] = {
    { "Calibration Images", "Choose a folder, or drop one here", "Drop a folder of images here", FALSE },
    { "Calibration Text", "Choose a file or folder of text (.txt) or token numbers (.npy, .bin, .raw)",
      "Drop a text, or a file of token numbers, here", TRUE },
  };
  g_autofree char *picture_model = vn_data_step_write_model (fixture->folder),
  *decoder = vn_data_step_write_decoder (fixture->folder);
  const char * const models[] = { picture_model, decoder };
  g_autofree char *texts = g_build_filename (fixture->folder, "tokens", NULL), *blocker = NULL;
  GtkWidget *step = vn_test_find (GTK_WIDGET (fixture->window), g_type_from_name ("VnStepData"), NULL), *folder;

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      vn_data_step_show (fixture, models[i], texts);
      vn_bench_set_data (VN_BENCH (fixture->document), NULL);
      vn_test_settle (600);
      g_test_message ("%u", i);
      g_assert_nonnull (vn_test_find (step, GTK_TYPE_LABEL, kinds[i].heading));
      g_assert_nonnull (vn_test_find (step, GTK_TYPE_LABEL, kinds[i].none));
      g_assert_nonnull (vn_test_find (step, GTK_TYPE_LABEL, kinds[i].drop));
      folder = vn_test_find (step, GTK_TYPE_LABEL, "No samples chosen");
      folder = vn_test_find (gtk_widget_get_ancestor (folder, ADW_TYPE_ACTION_ROW), GTK_TYPE_BUTTON, NULL);
      g_assert_cmpint (gtk_widget_get_visible (folder), ==, kinds[i].takes_files);
    }
  vn_bench_set_target (VN_BENCH (fixture->document), vn_preset_find ("w4-mixed", NULL));
  blocker = vn_wizard_step_dup_blocker (VN_WIZARD_STEP (step));
  g_assert_null (blocker);
  g_assert_false (gtk_widget_has_css_class (vn_test_find (GTK_WIDGET (fixture->window), GTK_TYPE_BUTTON, "_Calibrate Now"),
                                            "blocked"));
  vn_test_screenshot (GTK_WIDGET (fixture->window), "4-wizard-data-text");
  vn_document_use_folder (fixture->document, texts);
  g_assert_true (vn_test_wait (has_samples, step, SECONDS));
  for (guint i = 0; i < G_N_ELEMENTS (models); i++)
    g_unlink (models[i]);
  vn_data_step_remove_folder (texts);
}

typedef struct { VnWizardStep *step; guint n; } Wanted;

static gboolean
has_so_many (gpointer data)
{
  const Wanted *wanted = data;
  g_autofree char *answer = vn_wizard_step_dup_answer (wanted->step);
  g_autofree char *text = g_strdup_printf (wanted->n == 1 ? "%u sample" : "%u samples", wanted->n);

  return answer != NULL && strcmp (answer, text) == 0;
}

static gboolean
is_blocked (gpointer step)
{
  g_autofree char *blocker = vn_wizard_step_dup_blocker (VN_WIZARD_STEP (step));

  return blocker != NULL;
}

/* Plain text needs a tokenizer, which the step asks for; then it is cut as the rows say. */
static void
test_text (Fixture       *fixture,
           gconstpointer  user_data)
{
  static const struct { guint window, stride, n; } cuts[] = { { 0, 0, 1 }, { 10, 0, 4 }, { 10, 5, 7 }, { 10, 20, 2 } };
  g_autofree char *model = vn_data_step_write_decoder (fixture->folder);
  g_autofree char *plain = g_build_filename (fixture->folder, "plain", NULL);
  g_autofree char *texts = g_build_filename (fixture->folder, "tokens", NULL);
  g_autofree char *text = g_build_filename (plain, "a.txt", NULL);
  g_autofree char *tokenizer = g_build_filename (fixture->folder, "its.json", NULL);
  GtkWidget *step = vn_test_find (GTK_WIDGET (fixture->window), g_type_from_name ("VnStepData"), NULL), *rows;

  g_assert_cmpint (g_mkdir (plain, 0700), ==, 0);
  g_assert_true (g_file_set_contents (text, "abababababababababababababababababababab", -1, NULL));
  g_assert_true (g_file_set_contents (tokenizer, "{\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0, \"b\": 1},"
                                                 " \"merges\": []}}", -1, NULL));
  vn_data_step_show (fixture, model, text);
  g_assert_true (vn_test_wait (is_blocked, step, SECONDS));
  rows = vn_test_find (step, VN_TYPE_TEXT_ROWS, NULL);
  g_assert_true (gtk_widget_get_visible (rows));
  g_assert_nonnull (vn_test_find (rows, GTK_TYPE_LABEL,
                                  "None next to the model: plain text needs the tokenizer.json of the model"));
  vn_text_rows_set_tokenizer (VN_TEXT_ROWS (rows), tokenizer);
  for (guint i = 0; i < G_N_ELEMENTS (cuts); i++)
    {
      g_autoptr(VnDataSpec) data = vn_data_spec_copy (vn_bench_get_data (VN_BENCH (fixture->document)));
      Wanted wanted = { VN_WIZARD_STEP (step), cuts[i].n };

      data->window = cuts[i].window;
      data->stride = cuts[i].stride;
      vn_bench_set_data (VN_BENCH (fixture->document), data);
      g_test_message ("%u", i);
      g_assert_true (vn_test_wait (has_so_many, &wanted, SECONDS));
      g_assert_cmpstr (vn_bench_get_data (VN_BENCH (fixture->document))->tokenizer, ==, tokenizer);
    }
  g_assert_cmpuint (fixture->n_failed, ==, 0);
  vn_bench_set_data (VN_BENCH (fixture->document), NULL);
  vn_test_settle (600);
  g_unlink (model);
  g_unlink (tokenizer);
  vn_data_step_remove_folder (texts);
  vn_data_step_remove_folder (plain);
}

/* Settings come from a file, without the script that it names; labels are kept with the samples and give an accuracy; a script's
 * first function is taken. */
static void
test_files (Fixture       *fixture,
            gconstpointer  user_data)
{
  g_autofree char *model = vn_data_step_write_model (fixture->folder);
  g_autofree char *pictures = vn_data_step_write_pictures (fixture->folder, 12);
  g_autofree char *settings = g_build_filename (fixture->folder, "settings.json", NULL);
  g_autofree char *labels = g_build_filename (fixture->folder, "labels.txt", NULL);
  g_autofree char *script = g_build_filename (fixture->folder, "prepare.py", NULL);
  g_autofree char *wanted = g_strconcat (script, ":load", NULL);
  VnDataFiles *files;
  AdwActionRow *row;
  const VnDataSpec *data;

  vn_data_step_show (fixture, model, pictures);
  files = VN_DATA_FILES (vn_test_find (GTK_WIDGET (fixture->window), VN_TYPE_DATA_FILES, NULL));
  g_assert_true (g_file_set_contents (settings, "{ \"fit\": \"letterbox\", \"color\": \"bgr\", \"mean\": [1, 2, 3, 0], "
                                                "\"std\": [4, 5, 6, 1], \"script\": \"evil.py:run\" }", -1, NULL));
  vn_data_files_load (files, settings);
  data = vn_bench_get_data (VN_BENCH (fixture->document));
  g_assert_cmpstr (data->path, ==, pictures);
  g_assert_cmpint (data->preprocess.fit, ==, VN_FIT_LETTERBOX);
  g_assert_cmpint (data->preprocess.color, ==, VN_COLOR_BGR);
  g_assert_cmpfloat (data->preprocess.std[1], ==, 5);
  g_assert_null (data->script);

  g_assert_true (g_file_set_contents (labels, "one\ntwo\n", -1, NULL));
  vn_data_files_set_labels (files, labels);
  data = vn_bench_get_data (VN_BENCH (fixture->document));
  g_assert_cmpstr (data->labels, ==, labels);
  row = ADW_ACTION_ROW (vn_test_find (GTK_WIDGET (files), ADW_TYPE_ACTION_ROW, NULL));
  g_assert_nonnull (strstr (adw_action_row_get_subtitle (row), "labels.txt"));
  vn_data_files_set_labels (files, NULL);
  g_assert_null (vn_bench_get_data (VN_BENCH (fixture->document))->labels);

  g_assert_true (g_file_set_contents (script, "import numpy\n\ndef _own():\n  pass\n\n"
                                              "def load(path):\n  return None\n", -1, NULL));
  vn_data_files_set_script (files, script);
  g_assert_cmpstr (vn_bench_get_data (VN_BENCH (fixture->document))->script, ==, wanted);
  g_assert_cmpuint (fixture->n_failed, ==, 0);
  g_assert_true (g_file_set_contents (script, "x = 1\n", -1, NULL));
  vn_data_files_set_script (files, script);
  g_assert_cmpuint (fixture->n_failed, ==, 1);
  vn_bench_set_data (VN_BENCH (fixture->document), NULL);
  vn_test_settle (600);
  g_unlink (settings);
  g_unlink (labels);
  g_unlink (script);
  g_unlink (model);
  vn_data_step_remove_folder (pictures);
}

static void
count (guint *n)
{
  ++*n;
}

/* What other preprocessing may mend does not ask for other samples. */
static void
test_card_buttons (void)
{
  static const struct { const char *code; gboolean has_preprocessing; const char *button, *signal; } cases[] = {
    { "data-range", TRUE, "Set _Preprocessing", "preprocess" },
    { "data-range", FALSE, "Choose _Others…", "choose" },
    { "data-colors", TRUE, "Set _Preprocessing", "preprocess" },
    { "data-equal", TRUE, "Choose _Others…", "choose" },
    { "data-few", TRUE, "Choose _Others…", "choose" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(GPtrArray) cures = g_ptr_array_new (), findings = g_ptr_array_new ();
      VnDataFinding finding = { .level = VN_NOTE_WARNING, .code = (char *) cases[i].code, .title = (char *) "Odd",
                                .text = (char *) "These are odd", .cures = cures };
      VnDataLook look = { .findings = findings };
      GtkWidget *card = g_object_ref_sink (g_object_new (VN_TYPE_DATA_CARD, NULL)), *button;
      guint n = 0;

      g_ptr_array_add (findings, &finding);
      vn_data_card_show_look (VN_DATA_CARD (card), &look, NULL, cases[i].has_preprocessing);
      button = vn_test_find (card, GTK_TYPE_BUTTON, cases[i].button);
      g_assert_nonnull (button);
      g_signal_connect_swapped (card, cases[i].signal, G_CALLBACK (count), &n);
      g_signal_emit_by_name (button, "clicked");
      g_assert_cmpuint (n, ==, 1);
      g_object_unref (card);
    }
}

/* A size that does not fit leads to where it is set, not to other samples. */
static void
test_card_size (void)
{
  GtkWidget *card = g_object_ref_sink (g_object_new (VN_TYPE_DATA_CARD, NULL)), *button;
  guint n = 0;

  vn_data_card_show_problem (VN_DATA_CARD (card), "The samples cannot be used", "The model does not support that", TRUE);
  g_assert_null (vn_test_find (card, GTK_TYPE_BUTTON, "Choose _Others…"));
  button = vn_test_find (card, GTK_TYPE_BUTTON, "Set Input _Sizes");
  g_assert_nonnull (button);
  g_signal_connect_swapped (card, "sizes", G_CALLBACK (count), &n);
  g_signal_emit_by_name (button, "clicked");
  g_assert_cmpuint (n, ==, 1);
  vn_data_card_show_problem (VN_DATA_CARD (card), "The samples cannot be used", "There are none", FALSE);
  g_assert_nonnull (vn_test_find (card, GTK_TYPE_BUTTON, "Choose _Others…"));
  g_object_unref (card);
}

int
main (int   argc,
      char *argv[])
{
  vn_window_fixture_init (&argc, &argv);

  g_test_add ("/guidance/cure", Fixture, NULL, vn_window_fixture_set_up, test_cure, vn_window_fixture_tear_down);
  g_test_add_func ("/guidance/card-buttons", test_card_buttons);
  g_test_add_func ("/guidance/card-size", test_card_size);
  g_test_add ("/guidance/keep", Fixture, NULL, vn_window_fixture_set_up, test_keep, vn_window_fixture_tear_down);
  g_test_add ("/guidance/samples", Fixture, NULL, vn_window_fixture_set_up, test_samples, vn_window_fixture_tear_down);
  g_test_add ("/guidance/without-samples", Fixture, NULL, vn_window_fixture_set_up, test_without_samples,
              vn_window_fixture_tear_down);
  g_test_add ("/guidance/clicks", Fixture, NULL, vn_window_fixture_set_up, test_clicks, vn_window_fixture_tear_down);
  g_test_add ("/guidance/kinds", Fixture, NULL, vn_window_fixture_set_up, test_kinds, vn_window_fixture_tear_down);
  g_test_add ("/guidance/text", Fixture, NULL, vn_window_fixture_set_up, test_text, vn_window_fixture_tear_down);
  g_test_add ("/guidance/files", Fixture, NULL, vn_window_fixture_set_up, test_files, vn_window_fixture_tear_down);
  return g_test_run ();
}
