/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Accuracy by labels that a file gives: the specification of samples names it, and classes by number are counted. */

#include "vn-compare.h"
#include "vn-dataset.h"
#include "vn-graph-edit.h"

#include <glib/gstdio.h>

#define N_SAMPLES 6u

/* x [1,3] -> Relu: the class is the largest of three numbers. */
static VnModel *
make_model (void)
{
  VnModel *model = vn_model_new (8, 13);
  VnValue *in = vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (1, 3));
  VnValue *out = vn_graph_add_value (model->graph, "y", VN_DTYPE_F32, &VN_SHAPE (1, 3));

  vn_graph_add_node (model->graph, NULL, "", "Relu", &in, 1, &out, 1);
  vn_graph_set_output (model->graph, 0, out);
  return model;
}

static void
measure (const char *folder,
         const char *labels,
         VnAccuracy *accuracy)
{
  const VnInputSpec input = { (char *) "x", VN_DTYPE_F32, VN_SHAPE (1, 3) };
  const guint samples[N_SAMPLES] = { 0, 1, 2, 3, 4, 5 };
  const VnCompareOptions options = { .samples = samples, .n_samples = N_SAMPLES };
  g_autoptr(VnModel) model = make_model (), other = make_model ();
  g_autoptr(VnDataSpec) spec = vn_data_spec_new (folder);
  g_autoptr(VnDataset) dataset = NULL;
  g_autoptr(GError) error = NULL;

  spec->labels = g_strdup (labels);
  dataset = vn_dataset_open (spec, &input, 1, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (vn_dataset_get_n (dataset), ==, N_SAMPLES);
  g_assert_true (vn_evaluate_accuracy (model, other, NULL, dataset, &options, accuracy, NULL, &error));
  g_assert_no_error (error);
}

static void
test_file (void)
{
  g_autofree char *folder = g_dir_make_tmp ("vn-accuracy-XXXXXX", NULL);
  g_autofree char *labels = g_build_filename (g_get_tmp_dir (), "vn-accuracy-labels.txt", NULL);
  g_autoptr(GString) text = g_string_new (NULL);
  VnAccuracy with, without;

  for (guint i = 0; i < N_SAMPLES; i++)
    {
      g_autofree char *path = g_strdup_printf ("%s/%u.npy", folder, i);
      float values[3] = { 0.1f, 0.1f, 0.1f };
      g_autoptr(VnTensor) tensor = NULL;

      values[i % 3] = 1;
      tensor = vn_tensor_new_f32 (&VN_SHAPE (1, 3), values);
      g_assert_true (vn_npy_write (path, tensor, NULL));
      g_string_append_printf (text, "%u.npy %u\n", i, i == 5 ? 0 : i % 3);      /* the last one is wrong */
    }
  g_assert_true (g_file_set_contents (labels, text->str, -1, NULL));
  measure (folder, NULL, &without);
  g_assert_false (without.valid);
  measure (folder, labels, &with);
  g_assert_true (with.valid);
  g_assert_cmpuint (with.n, ==, N_SAMPLES);
  g_assert_cmpuint (with.float_top1, ==, N_SAMPLES - 1);
  g_assert_cmpuint (with.quant_top1, ==, N_SAMPLES - 1);
  for (guint i = 0; i < N_SAMPLES; i++)
    {
      g_autofree char *path = g_strdup_printf ("%s/%u.npy", folder, i);

      g_unlink (path);
    }
  g_rmdir (folder);
  g_unlink (labels);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/accuracy/labels", test_file);
  return g_test_run ();
}
