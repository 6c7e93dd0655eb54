/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rows for several inputs: what each expects, where its samples are, and what the menu of a row does. */
#include "data-step-fixture.h"

#include "vn-graph-edit.h"
#include "vn-input-rows.h"
#include "vn-input-sizes.h"
#include "vn-onnx.h"
#include "widget-fixture.h"

#include <glib/gstdio.h>
#include <string.h>

/* (left + right) times attention_mask */
static char *
write_model (const char *folder)
{
  g_autoptr(VnModel) model = vn_model_new (8, 13);
  VnGraph *graph = model->graph;
  const VnShape shape = VN_SHAPE (1, 6);
  VnValue *left = vn_graph_add_input (graph, "left", VN_DTYPE_F32, &shape);
  VnValue *right = vn_graph_add_input (graph, "right", VN_DTYPE_F32, &shape);
  VnValue *mask = vn_graph_add_input (graph, "attention_mask", VN_DTYPE_F32, &shape);
  VnValue *sum = vn_graph_add_value (graph, "sum", VN_DTYPE_F32, &shape);
  VnValue *out = vn_graph_add_value (graph, "out", VN_DTYPE_F32, &shape);
  char *path = g_build_filename (folder, "two.onnx", NULL);

  vn_graph_add_node (graph, "sum", "", "Add", (VnValue *[]) { left, right }, 2, &sum, 1);
  vn_graph_add_node (graph, "seen", "", "Mul", (VnValue *[]) { sum, mask }, 2, &out, 1);
  vn_graph_set_output (graph, 0, out);
  g_assert_true (vn_onnx_write_file (model, path, NULL, NULL, NULL));
  return path;
}

static char *
write_samples (const char *folder)
{
  char *samples = g_build_filename (folder, "numbers", NULL);

  g_assert_cmpint (g_mkdir (samples, 0700), ==, 0);
  for (guint i = 0; i < 3; i++)
    {
      g_autoptr(VnTensor) tensor = vn_tensor_new (VN_DTYPE_F32, &VN_SHAPE (1, 6), NULL);
      g_autofree char *path = g_strdup_printf ("%s/%u.npy", samples, i);

      for (guint k = 0; k < 6; k++)
        ((float *) tensor->data)[k] = (float) (i * k) - 2;
      g_assert_true (vn_npy_write (path, tensor, NULL));
    }
  return samples;
}

/* The row of an input; NULL: there is none */
static AdwActionRow *
find_row (Fixture    *fixture,
          const char *name)
{
  GtkWidget *rows = vn_test_find (GTK_WIDGET (fixture->window), VN_TYPE_INPUT_ROWS, NULL);
  GtkWidget *title = vn_test_find (rows, GTK_TYPE_LABEL, name);

  return title != NULL ? ADW_ACTION_ROW (gtk_widget_get_ancestor (title, ADW_TYPE_ACTION_ROW)) : NULL;
}

typedef struct { Fixture *fixture; const char *name, *text; } Wanted;

static gboolean
row_says (gpointer data)
{
  const Wanted *wanted = data;
  AdwActionRow *row = find_row (wanted->fixture, wanted->name);

  return row != NULL && strstr (adw_action_row_get_subtitle (row), wanted->text) != NULL;
}

static void
assert_row (Fixture    *fixture,
            const char *name,
            const char *text)
{
  Wanted wanted = { fixture, name, text };

  if (!vn_test_wait (row_says, &wanted, SECONDS))
    g_test_message ("%s: %s, not %s", name, adw_action_row_get_subtitle (find_row (fixture, name)), text);
  g_assert_true (row_says (&wanted));
}

static void
activate (Fixture    *fixture,
          const char *name,
          const char *action)
{
  g_assert_true (gtk_widget_activate_action (GTK_WIDGET (find_row (fixture, name)), action, NULL));
}

static void
assert_path (Fixture    *fixture,
             const char *format,
             const char *samples)
{
  g_auto(GStrv) parts = g_strsplit (format, "%", -1);
  g_autofree char *wanted = g_strjoinv (samples, parts);

  g_assert_cmpstr (vn_bench_get_data (VN_BENCH (fixture->document))->path, ==, wanted);
}

static void
test_rows (Fixture       *fixture,
           gconstpointer  user_data)
{
  g_autofree char *model = write_model (fixture->folder), *samples = write_samples (fixture->folder);
  g_autofree char *named = g_strdup_printf ("left=%s", samples);

  vn_data_step_show (fixture, model, named);
  assert_row (fixture, "left", "numbers, float32, 1×6");
  assert_row (fixture, "left", samples);
  assert_row (fixture, "right", "Needs samples");
  assert_row (fixture, "attention_mask", "mask, float32, 1×6\nFilled with ones");
  vn_test_screenshot (GTK_WIDGET (fixture->window), "input-rows");
  activate (fixture, "left", "input.all");
  assert_row (fixture, "attention_mask", samples);
  assert_path (fixture, "left=%;right=%;attention_mask=%", samples);
  activate (fixture, "attention_mask", "input.usual");
  assert_row (fixture, "attention_mask", "Filled with ones");
  activate (fixture, "right", "input.zeros");
  assert_row (fixture, "right", "Filled with zeros");
  assert_path (fixture, "left=%;right=zeros", samples);
  activate (fixture, "attention_mask", "input.random");
  assert_row (fixture, "attention_mask", "Filled with random values");
  assert_path (fixture, "left=%;right=zeros;attention_mask=random", samples);
  vn_data_step_remove_folder (samples);
  g_unlink (model);
}

/* Of one input of pictures the other rows of the page say it all. */
static void
test_pictures (Fixture       *fixture,
               gconstpointer  user_data)
{
  g_autofree char *model = vn_data_step_write_model (fixture->folder);
  g_autofree char *pictures = vn_data_step_write_pictures (fixture->folder, 2);

  vn_data_step_show (fixture, model, pictures);
  vn_test_settle (600);
  g_assert_false (gtk_widget_get_visible (vn_test_find (GTK_WIDGET (fixture->window), VN_TYPE_INPUT_ROWS, NULL)));
  vn_data_step_remove_folder (pictures);
  g_unlink (model);
}

static gboolean
has_targets (gpointer window)
{
  return vn_test_find (window, GTK_TYPE_LABEL, "8-bit weights") != NULL;
}

/* A number that was typed is taken over while the focus goes to a row of a list that it replaces. */
static void
test_focus (Fixture       *fixture,
            gconstpointer  user_data)
{
  g_autofree char *model = vn_data_step_write_decoder (fixture->folder);
  g_autofree char *texts = g_build_filename (fixture->folder, "tokens", NULL);
  GtkWidget *window = GTK_WIDGET (fixture->window), *spin, *row;

  vn_data_step_show (fixture, model, texts);
  g_assert_true (vn_test_wait (has_targets, window, SECONDS));
  row = vn_test_find (window, ADW_TYPE_ACTION_ROW, "Held-out samples");
  spin = vn_test_find (row, GTK_TYPE_SPIN_BUTTON, NULL);
  row = gtk_widget_get_ancestor (vn_test_find (window, GTK_TYPE_LABEL, "8-bit weights"), ADW_TYPE_ACTION_ROW);
  gtk_widget_grab_focus (spin);
  vn_test_settle (50);
  gtk_widget_grab_focus (row);   /* the word stays what it is */
  vn_test_settle (200);
  g_assert_cmpint (vn_bench_get_data (VN_BENCH (fixture->document))->held_out, ==, -1);
  row = gtk_widget_get_ancestor (vn_test_find (window, GTK_TYPE_LABEL, "8-bit weights"), ADW_TYPE_ACTION_ROW);
  gtk_widget_grab_focus (spin);
  vn_test_settle (50);
  gtk_editable_set_text (GTK_EDITABLE (spin), "1");
  gtk_widget_grab_focus (row);
  vn_test_settle (200);
  g_assert_cmpint (vn_bench_get_data (VN_BENCH (fixture->document))->held_out, ==, 1);
  vn_bench_set_data (VN_BENCH (fixture->document), NULL);
  vn_test_settle (600);
  vn_data_step_remove_folder (texts);
  g_unlink (model);
}

/* A decoder of @n_caches / 2 layers, of which none is there. */
static char *
write_decoder (const char *folder,
               guint       n_caches)
{
  g_autoptr(VnModel) model = vn_model_new (8, 13);
  VnGraph *graph = model->graph;
  VnValue *x = vn_graph_add_input (graph, "x", VN_DTYPE_F32, &VN_SHAPE (1, 6));
  VnValue *y = vn_graph_add_value (graph, "y", VN_DTYPE_F32, &VN_SHAPE (1, 6));
  char *path = g_build_filename (folder, "decoder.onnx", NULL);

  vn_graph_add_node (graph, "answer", "", "Relu", &x, 1, &y, 1);
  vn_graph_set_output (graph, 0, y);
  for (guint i = 0; i < n_caches; i++)
    {
      g_autofree char *past = g_strdup_printf ("past.%u", i), *present = g_strdup_printf ("present.%u", i);
      VnValue *in = vn_graph_add_input (graph, past, VN_DTYPE_F32, &VN_SHAPE (1, 2, -1, 4));
      VnValue *out = vn_graph_add_value (graph, present, VN_DTYPE_F32, &VN_SHAPE (1, 2, -1, 4));

      vn_graph_add_node (graph, NULL, "", "Relu", &in, 1, &out, 1);
      vn_graph_set_output (graph, i + 1, out);
    }
  g_assert_true (vn_onnx_write_file (model, path, NULL, NULL, NULL));
  return path;
}

/* Rows of the list of @list_type, but for @hidden of them */
static void
assert_visible (Fixture *fixture,
                GType    list_type,
                guint    n,
                guint    hidden)
{
  GtkWidget *list = vn_test_find (vn_test_find (GTK_WIDGET (fixture->window), list_type, NULL), GTK_TYPE_LIST_BOX, NULL);
  guint n_rows = 0, n_hidden = 0;

  for (GtkWidget *row = gtk_widget_get_first_child (list); row != NULL; row = gtk_widget_get_next_sibling (row))
    {
      n_rows++;
      n_hidden += !gtk_widget_get_visible (row);
    }
  g_test_message ("%s: %u rows, %u hidden", g_type_name (list_type), n_rows, n_hidden);
  g_assert_cmpuint (n_rows, ==, n);
  g_assert_cmpuint (n_hidden, ==, hidden);
}

static void
activate_fold (Fixture *fixture,
               GType    list_type)
{
  GtkWidget *rows = vn_test_find (GTK_WIDGET (fixture->window), list_type, NULL);
  GtkWidget *title = vn_test_find (rows, GTK_TYPE_LABEL, "6 inputs for earlier keys and values");

  g_assert_nonnull (title);
  g_assert_true (gtk_widget_activate (gtk_widget_get_ancestor (title, GTK_TYPE_LIST_BOX_ROW)));
}

/* Few are shown as they are; more stand behind one row until somebody wants to see them. */
static void
test_caches (Fixture       *fixture,
             gconstpointer  user_data)
{
  const guint n_caches = GPOINTER_TO_UINT (user_data), fold = n_caches > 4;
  g_autofree char *model = write_decoder (fixture->folder, n_caches);

  vn_data_step_show (fixture, model, "random");
  vn_test_settle (600);
  assert_visible (fixture, VN_TYPE_INPUT_ROWS, 1 + n_caches + fold, fold * n_caches);
  assert_visible (fixture, VN_TYPE_INPUT_SIZES, n_caches + fold, fold * n_caches);
  if (fold)
    {
      activate_fold (fixture, VN_TYPE_INPUT_ROWS);
      assert_visible (fixture, VN_TYPE_INPUT_ROWS, 1 + n_caches + fold, 1);
      vn_input_sizes_edit (VN_INPUT_SIZES (vn_test_find (GTK_WIDGET (fixture->window), VN_TYPE_INPUT_SIZES, NULL)), "past.3");
      assert_visible (fixture, VN_TYPE_INPUT_SIZES, n_caches + fold, 1);
    }
  g_unlink (model);
}

int
main (int   argc,
      char *argv[])
{
  vn_window_fixture_init (&argc, &argv);

  g_test_add ("/input-rows/rows", Fixture, NULL, vn_window_fixture_set_up, test_rows, vn_window_fixture_tear_down);
  g_test_add ("/input-rows/pictures", Fixture, NULL, vn_window_fixture_set_up, test_pictures, vn_window_fixture_tear_down);
  g_test_add ("/input-rows/focus", Fixture, NULL, vn_window_fixture_set_up, test_focus, vn_window_fixture_tear_down);
  g_test_add ("/input-rows/caches/few", Fixture, GUINT_TO_POINTER (4), vn_window_fixture_set_up, test_caches,
              vn_window_fixture_tear_down);
  g_test_add ("/input-rows/caches/many", Fixture, GUINT_TO_POINTER (6), vn_window_fixture_set_up, test_caches,
              vn_window_fixture_tear_down);
  return g_test_run ();
}
