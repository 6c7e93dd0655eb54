/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "data-step-fixture.h"

#include "vn-graph-edit.h"
#include "vn-onnx.h"
#include "vn-wizard.h"
#include "widget-fixture.h"

#include <gdk-pixbuf/gdk-pixbuf.h>
#include <glib/gstdio.h>
#include <math.h>

#define SIDE 16

/* image -> BatchNormalization of what pictures from -1 to 1 have -> Relu */
char *
vn_data_step_write_model (const char *folder)
{
  g_autoptr(VnModel) model = vn_model_new (8, 13);
  VnGraph *graph = model->graph;
  VnShape shape = VN_SHAPE (1, 3, SIDE, SIDE);
  VnValue *in = vn_graph_add_input (graph, "image", VN_DTYPE_F32, &shape);
  VnValue *norm = vn_graph_add_value (graph, "norm", VN_DTYPE_F32, &shape);
  VnValue *out = vn_graph_add_value (graph, "out", VN_DTYPE_F32, &shape);
  g_autoptr(VnTensor) ones = vn_tensor_new_f32 (&VN_SHAPE (3), (const float[3]) { 1, 1, 1 });
  g_autoptr(VnTensor) means = vn_tensor_new_f32 (&VN_SHAPE (3), (const float[3]) { 0, 0, 0 });
  g_autoptr(VnTensor) variances = vn_tensor_new_f32 (&VN_SHAPE (3), (const float[3]) { 0.2f, 0.2f, 0.2f });
  VnValue *one = vn_graph_add_initializer (graph, "one", ones);
  VnValue *mean = vn_graph_add_initializer (graph, "mean", means);
  VnValue *variance = vn_graph_add_initializer (graph, "variance", variances);
  char *path = g_build_filename (folder, "norm.onnx", NULL);

  vn_graph_add_node (graph, "/norm", "", "BatchNormalization", (VnValue *[]) { in, one, mean, mean, variance }, 5, &norm, 1);
  vn_graph_add_node (graph, "/relu", "", "Relu", &norm, 1, &out, 1);
  vn_graph_set_output (graph, 0, out);
  g_assert_true (vn_onnx_write_file (model, path, NULL, NULL, NULL));
  return path;
}

#define WORDS 32
#define WIDTH 32
#define N_TEXTS 12
#define LENGTH 40

static VnValue *
add_table (VnGraph    *graph,
           const char *name,
           gint64      rows,
           gint64      columns)
{
  g_autofree float *values = g_new (float, (gsize) (rows * columns));
  g_autoptr(VnTensor) tensor = NULL;

  for (gint64 i = 0; i < rows * columns; i++)
    values[i] = (float) sin ((double) (i * i % 97 + i) * 0.7);
  tensor = vn_tensor_new_f32 (&VN_SHAPE (rows, columns), values);
  return vn_graph_add_initializer (graph, name, tensor);
}

static void
write_texts (const char *folder)
{
  g_autofree char *texts = g_build_filename (folder, "tokens", NULL);

  g_assert_cmpint (g_mkdir (texts, 0700), ==, 0);
  for (guint i = 0; i < N_TEXTS; i++)
    {
      g_autofree char *path = g_strdup_printf ("%s/%02u.npy", texts, i);
      g_autoptr(VnTensor) tensor = vn_tensor_new (VN_DTYPE_S64, &VN_SHAPE (1, LENGTH), NULL);

      for (guint k = 0; k < LENGTH; k++)
        ((gint64 *) tensor->data)[k] = (k * k + i * 5) % WORDS;
      g_assert_true (vn_npy_write (path, tensor, NULL));
    }
}

/* input_ids -> Gather -> MatMul -> logits; past.key goes to present.key as it is. */
char *
vn_data_step_write_decoder (const char *folder)
{
  g_autoptr(VnModel) model = vn_model_new (8, 17);
  VnGraph *graph = model->graph;
  VnValue *ids = vn_graph_add_input (graph, "input_ids", VN_DTYPE_S64, &VN_SHAPE (1, -1));
  VnValue *past = vn_graph_add_input (graph, "past.key", VN_DTYPE_F32, &VN_SHAPE (1, 2, -1, 4));
  VnValue *x = vn_graph_add_value (graph, "x", VN_DTYPE_F32, &VN_SHAPE (1, -1, WIDTH));
  VnValue *logits = vn_graph_add_value (graph, "logits", VN_DTYPE_F32, &VN_SHAPE (1, -1, WORDS));
  VnValue *present = vn_graph_add_value (graph, "present.key", VN_DTYPE_F32, &past->type.shape);
  char *path = g_build_filename (folder, "decoder.onnx", NULL);

  vn_graph_add_node (graph, "/embed", "", "Gather", (VnValue *[]) { add_table (graph, "table", WORDS, WIDTH), ids }, 2, &x, 1);
  vn_graph_add_node (graph, "/head", "", "MatMul", (VnValue *[]) { x, add_table (graph, "head", WIDTH, WORDS) }, 2, &logits, 1);
  vn_graph_add_node (graph, "/keep", "", "Identity", &past, 1, &present, 1);
  vn_graph_set_output (graph, 0, logits);
  vn_graph_set_output (graph, 1, present);
  g_assert_true (vn_onnx_write_file (model, path, NULL, NULL, NULL));
  write_texts (folder);
  return path;
}

char *
vn_data_step_write_pictures (const char *folder,
                             guint       n)
{
  char *pictures = g_build_filename (folder, "pictures", NULL);

  g_assert_cmpint (g_mkdir (pictures, 0700), ==, 0);
  for (guint i = 0; i < n; i++)
    {
      g_autoptr(GdkPixbuf) pixbuf = gdk_pixbuf_new (GDK_COLORSPACE_RGB, FALSE, 8, SIDE, SIDE);
      g_autofree char *path = g_strdup_printf ("%s/%02u.png", pictures, i);
      guchar *pixels = gdk_pixbuf_get_pixels (pixbuf);

      for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
          for (int c = 0; c < 3; c++)
            pixels[y * gdk_pixbuf_get_rowstride (pixbuf) + 3 * x + c] =
              (guchar) (127 + 80 * sin (x * (0.3 + 0.05 * i) + c) + 40 * cos (y * 0.4 + i));
      g_assert_true (gdk_pixbuf_save (pixbuf, path, "png", NULL, NULL));
    }
  return pictures;
}

void
vn_data_step_remove_folder (const char *path)
{
  g_autoptr(GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *file = g_build_filename (path, name, NULL);

      g_unlink (file);
    }
  g_rmdir (path);
}

void
vn_data_step_show (Fixture    *fixture,
                   const char *model,
                   const char *samples)
{
  g_autoptr(VnDataSpec) data = vn_data_spec_new (samples);

  vn_bench_open (VN_BENCH (fixture->document), model);
  g_assert_true (vn_test_wait (vn_window_fixture_has_model, fixture->document, SECONDS));
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.quantize", NULL);
  vn_wizard_begin (VN_WIZARD (vn_test_find (GTK_WIDGET (fixture->window), VN_TYPE_WIZARD, NULL)), "data");
  vn_bench_set_data (VN_BENCH (fixture->document), data);
}
