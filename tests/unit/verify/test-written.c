/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which files an export says it has written. */
#include "vn-export-job.h"
#include "vn-graph-edit.h"
#include "vn-jobs.h"
#include "vn-onnx.h"

#include <glib/gstdio.h>

/* @threshold: of weights that the network has in a file beside it; 0: none. @data: the export has such a file, too */
static const struct
{
  gsize    threshold;
  gboolean data;
} cases[] = {
  { 0, FALSE },
  { 1024, TRUE },
};

static VnModel *
make_model (const char *path,
            gsize       threshold)
{
  g_autoptr(VnModel) model = vn_model_new (10, 21);
  g_autoptr(VnTensor) weights = vn_tensor_new (VN_DTYPE_F32, &VN_SHAPE (64, 64), NULL);
  VnValue *x = vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (1, 64));
  VnValue *y = vn_graph_add_value (model->graph, "y", VN_DTYPE_F32, NULL), *inputs[] = { x, NULL };
  const VnOnnxWriteOptions options = { .external_threshold = threshold };
  g_autoptr(GError) error = NULL;
  VnModel *read;

  for (gsize i = 0; i < weights->n_elements; i++)
    ((float *) weights->data)[i] = (float) (i % 37) - 18;
  inputs[1] = vn_graph_add_initializer (model->graph, "w", weights);
  vn_graph_add_node (model->graph, "product", "", "MatMul", inputs, 2, &y, 1);
  vn_graph_set_output (model->graph, 0, y);
  vn_onnx_write_file (model, path, &options, NULL, &error);
  g_assert_no_error (error);
  read = vn_onnx_read_file (path, &error);
  g_assert_no_error (error);
  return read;
}

static VnRun *
quantize (VnModel *model)
{
  g_autoptr(VnRecipe) recipe = vn_recipe_new ("w4-matmul");
  VnQuantizeSettings settings = { .model = model, .recipe = recipe, .n_threads = 1, .skip_compare = TRUE };
  g_autoptr(VnJob) job = vn_quantize_job_new (&settings);
  g_autoptr(GError) error = NULL;

  vn_job_run (job, NULL, &error);
  g_assert_no_error (error);
  return vn_run_ref (vn_quantize_job_get_result (job));
}

static void
test_model (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *folder = g_dir_make_tmp ("vn-written-XXXXXX", NULL), *path = g_build_filename (folder, "a.onnx", NULL);
      g_autofree char *data = g_strconcat (path, ".data", NULL), *out = g_build_filename (folder, "b.onnx", NULL);
      g_autofree char *out_data = g_strconcat (out, ".data", NULL);
      g_autoptr(VnModel) model = make_model (path, cases[i].threshold);
      g_autoptr(VnRun) run = quantize (model);
      g_autoptr(VnJob) job = vn_export_job_new (run, out, NULL);
      g_autoptr(GError) error = NULL;
      GPtrArray *written;

      vn_job_run (job, NULL, &error);
      g_assert_no_error (error);
      written = vn_export_job_get_written (job);
      g_test_message ("%u: %u files", i, written->len);
      g_assert_cmpuint (written->len, ==, cases[i].data ? 2 : 1);
      g_assert_cmpstr (g_ptr_array_index (written, 0), ==, out);
      if (cases[i].data)
        g_assert_cmpstr (g_ptr_array_index (written, 1), ==, out_data);
      g_assert_true (g_file_test (out_data, G_FILE_TEST_EXISTS) == cases[i].data);
      for (guint k = 0; k < 4; k++)
        g_unlink ((const char *[]) { path, data, out, out_data }[k]);
      g_rmdir (folder);
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/written/model", test_model);
  return g_test_run ();
}
