/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "window-fixture.h"

#include "vn-application.h"
#include "vn-graph-edit.h"
#include "vn-onnx.h"
#include "vn-report.h"
#include "vn-wizard.h"
#include "widget-fixture.h"

#include <glib/gstdio.h>

static VnApplication *app;   /* one for all: a program has no second one on the bus */

void
vn_window_fixture_init (int    *argc,
                        char ***argv)
{
  vn_test_widgets_init (argc, argv);
  app = vn_application_new ();
  g_application_set_flags (G_APPLICATION (app), G_APPLICATION_NON_UNIQUE);
  g_assert_true (g_application_register (G_APPLICATION (app), NULL, NULL));
}

static VnValue *
add_weight (VnGraph    *graph,
            const char *name,
            gint64      n_out,
            gint64      n_in)
{
  VnShape shape = VN_SHAPE (n_out, n_in, 3, 3);
  gsize n = (gsize) (n_out * n_in * 9);
  g_autofree float *values = g_new (float, n);
  g_autoptr(VnTensor) tensor = NULL;
  g_autoptr(GRand) random = g_rand_new_with_seed (7);

  for (gsize i = 0; i < n; i++)
    values[i] = (float) g_rand_double_range (random, -0.4, 0.4);
  tensor = vn_tensor_new_f32 (&shape, values);
  return vn_graph_add_initializer (graph, name, tensor);
}

static VnValue *
add_conv (VnGraph    *graph,
          const char *name,
          VnValue    *input,
          gint64      n_in,
          gint64      n_out)
{
  static const gint64 pads[] = { 1, 1, 1, 1 };
  g_autofree char *weight = g_strconcat (name, ".weight", NULL);
  VnValue *inputs[] = { input, add_weight (graph, weight, n_out, n_in) };
  VnShape shape = VN_SHAPE (1, n_out, 16, 16);
  VnValue *output = vn_graph_add_value (graph, name, VN_DTYPE_F32, &shape);
  VnNode *node = vn_graph_add_node (graph, name, "", "Conv", inputs, 2, &output, 1);

  vn_node_set_ints (node, "pads", pads, G_N_ELEMENTS (pads));
  return output;
}

static VnValue *
add_relu (VnGraph    *graph,
          const char *name,
          VnValue    *input)
{
  VnValue *output = vn_graph_add_value (graph, name, VN_DTYPE_F32, &input->type.shape);

  vn_graph_add_node (graph, name, "", "Relu", &input, 1, &output, 1);
  return output;
}

/* As exporters that name only tensors write it: a constant that preparation takes away, then nodes without
 * names. */
static void
drop_names (VnGraph *graph)
{
  VnShape shape = VN_SHAPE (1);
  float one = 1;
  VnAttr *attr = vn_attr_new ("value", VN_ATTR_TENSOR);
  VnValue *unused = vn_graph_add_value (graph, "one", VN_DTYPE_F32, &shape);
  VnNode *constant = vn_graph_insert_node (graph, g_ptr_array_index (graph->nodes, 0), NULL, "", "Constant", NULL, 0,
                                           &unused, 1);

  attr->tensor = vn_tensor_new_f32 (&shape, &one);
  vn_node_set_attr (constant, attr);
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      VnNode *node = g_ptr_array_index (graph->nodes, i);

      g_free (node->name);
      node->name = g_strdup ("");
    }
}

/* Three convolutions, two of them in branches that are added. */
void
vn_window_fixture_write_model (const char *path,
                               gboolean    with_names)
{
  g_autoptr(VnModel) model = vn_model_new (8, 13);
  g_autoptr(GError) error = NULL;
  VnGraph *graph = model->graph;
  VnShape shape = VN_SHAPE (1, 3, 16, 16);
  VnValue *input = vn_graph_add_input (graph, "image", VN_DTYPE_F32, &shape);
  VnValue *stem = add_relu (graph, "/stem/relu", add_conv (graph, "/stem/conv", input, 3, 8));
  VnValue *branches[] = { add_conv (graph, "/left/conv", stem, 8, 8),
                          add_conv (graph, "/right/conv", stem, 8, 8) };
  VnValue *sum = vn_graph_add_value (graph, "sum", VN_DTYPE_F32, &stem->type.shape);
  gboolean ok;

  vn_graph_add_node (graph, "/add", "", "Add", branches, 2, &sum, 1);
  vn_graph_set_output (graph, 0, add_relu (graph, "/head/relu", sum));
  if (!with_names)
    drop_names (graph);
  ok = vn_onnx_write_file (model, path, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (ok);
}

/* As onnxruntime-genai opens it; its network is the same as ever. */
char *
vn_window_fixture_make_folder (const char *above)
{
  static const struct { const char *name, *text; } files[] = {
    { "genai_config.json", "{\"model\": {\"decoder\": {\"filename\": \"model.onnx\"}}}" },
    { "tokenizer.json", "{}" }, { "templates/chat.jinja", "{{ messages }}" },
  };
  char *folder = g_build_filename (above, "lm", NULL);
  g_autofree char *inner = g_build_filename (folder, "templates", NULL), *model = g_build_filename (folder, "model.onnx", NULL);

  g_assert_cmpint (g_mkdir_with_parents (inner, 0700), ==, 0);
  vn_window_fixture_write_model (model, TRUE);
  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      g_autofree char *path = g_build_filename (folder, files[i].name, NULL);

      g_assert_true (g_file_set_contents (path, files[i].text, -1, NULL));
    }
  return folder;
}

static void
on_failed (VnDocument     *document,
           const VnNotice *notice,
           Fixture        *fixture)
{
  g_test_message ("failed: %s: %s", notice->text, notice->error->message);
  fixture->n_failed++;
}

void
vn_window_fixture_set_up (Fixture       *fixture,
                          gconstpointer  data)
{
  g_autoptr(GError) error = NULL;

  vn_test_forgive_tooltips ();
  fixture->folder = g_dir_make_tmp ("vernier-window-XXXXXX", &error);
  g_assert_no_error (error);
  fixture->model_path = g_build_filename (fixture->folder, "small.onnx", NULL);
  vn_window_fixture_write_model (fixture->model_path, TRUE);
  fixture->window = vn_window_new (GTK_APPLICATION (app));
  fixture->document = vn_window_get_document (fixture->window);
  g_signal_connect (fixture->document, "notice::failed", G_CALLBACK (on_failed), fixture);
  gtk_window_set_default_size (GTK_WINDOW (fixture->window), 1600, 1000);
  gtk_window_present (GTK_WINDOW (fixture->window));
  vn_test_settle (300);
}

/**
 * vn_window_fixture_clear_folder:
 *
 * Removes all that is in @folder.
 */
void
vn_window_fixture_clear_folder (const char *folder)
{
  g_autoptr(GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);

      if (g_remove (path) != 0)
        {
          vn_window_fixture_clear_folder (path);
          g_rmdir (path);
        }
    }
}

void
vn_window_fixture_tear_down (Fixture       *fixture,
                             gconstpointer  data)
{
  gtk_window_destroy (GTK_WINDOW (fixture->window));
  vn_test_settle (50);
  vn_window_fixture_clear_folder (fixture->folder);
  g_assert_cmpint (g_rmdir (fixture->folder), ==, 0);
  g_free (fixture->model_path);
  g_free (fixture->folder);
}

gboolean
vn_window_fixture_is_idle (gpointer data)
{
  return vn_bench_get_job (VN_BENCH (data)) == NULL && vn_bench_get_expecting (VN_BENCH (data)) != VN_EXPECTING_SOON;
}

gboolean
vn_window_fixture_has_model (gpointer data)
{
  return vn_bench_get_model (VN_BENCH (data)) != NULL && vn_window_fixture_is_idle (data);
}

void
vn_window_fixture_open_model (Fixture *fixture)
{
  g_autoptr(GFile) file = g_file_new_for_path (fixture->model_path);

  vn_window_open_file (fixture->window, file);
  g_assert_true (vn_test_wait (vn_window_fixture_has_model, fixture->document, SECONDS));
  g_assert_cmpuint (fixture->n_failed, ==, 0);
}

void
vn_window_fixture_quantize (Fixture *fixture)
{
  g_autoptr(VnDataSpec) data = vn_data_spec_new ("random");
  g_autoptr(GError) error = NULL;
  gboolean ok;

  vn_bench_set_n_samples (VN_BENCH (fixture->document), 10);
  vn_bench_set_data (VN_BENCH (fixture->document), data);
  ok = vn_bench_quantize (VN_BENCH (fixture->document), &error);
  g_assert_no_error (error);
  g_assert_true (ok);
  g_assert_true (vn_test_wait (vn_window_fixture_is_idle, fixture->document, SECONDS));
  g_assert_cmpuint (fixture->n_failed, ==, 0);
  g_assert_nonnull (vn_bench_get_shown (VN_BENCH (fixture->document)));
}

gboolean
vn_window_fixture_has_origins (gpointer data)
{
  VnRun *result = vn_bench_get_shown (VN_BENCH (data));

  return vn_window_fixture_is_idle (data) && vn_bench_get_origins_job (VN_BENCH (data)) == NULL && result != NULL &&
         result->contributions != NULL;
}

void
vn_window_fixture_find_origins (Fixture *fixture)
{
  vn_window_fixture_open_model (fixture);
  vn_window_fixture_quantize (fixture);
  g_assert_true (vn_test_wait (vn_window_fixture_has_origins, fixture->document, SECONDS));
  g_assert_cmpuint (fixture->n_failed, ==, 0);
}

GtkWidget *
vn_window_fixture_open_review (Fixture *fixture)
{
  VnWizard *wizard;

  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.quantize", NULL);
  wizard = VN_WIZARD (vn_test_find (GTK_WIDGET (fixture->window), VN_TYPE_WIZARD, NULL));
  for (guint i = 0; i < 10 && !g_str_equal (vn_wizard_get_step (wizard), "review"); i++)
    vn_wizard_go_next (wizard);
  g_assert_cmpstr (vn_wizard_get_step (wizard), ==, "review");
  vn_test_settle (400);
  return GTK_WIDGET (wizard);
}

VnNodeItem *
vn_window_fixture_get_item (Fixture    *fixture,
                            const char *label)
{
  GListModel *nodes = vn_document_get_nodes (fixture->document);

  for (guint i = 0; i < g_list_model_get_n_items (nodes); i++)
    {
      g_autoptr(VnNodeItem) item = g_list_model_get_item (nodes, i);

      if (g_str_equal (item->label, label))
        return item;   /* the list keeps it */
    }
  g_test_message ("no node %s", label);
  return NULL;
}
