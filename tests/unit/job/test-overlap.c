/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Windows of text that overlap: none to calibrate on has a token of one to measure the error on. */
#include "vn-job-input.h"
#include "vn-sample-overlap.h"

#include <glib/gstdio.h>

#define MOST_TOKENS 4000

/* @texts: files, or one tensor if 0; @n: tokens of each; @held: asked for, -1: as many as usual. All that follows is expected:
 * @reach: samples behind one that share tokens with it. */
static const struct
{
  guint    texts, n, window, stride, max;
  int      held;
  guint    n_samples, reach, n_calibration, n_measured;
  gboolean apart;
} cases[] = {
  /* none overlap */
  { 0, 800, 8, 8, 0, -1, 100, 0, 84, 16, TRUE },
  { 0, 800, 8, 0, 0, 10, 100, 0, 90, 10, TRUE },
  { 0, 804, 8, 4, 50, 10, 50, 0, 40, 10, TRUE },
  /* each run that is held out costs as many as the reach at either end: 16 of 1, 10 of 1, 16 of 1 or 2, and 10 in two texts */
  { 0, 804, 8, 4, 0, -1, 200, 1, 200 - 16 - 16 * 2, 16, TRUE },
  { 0, 804, 8, 4, 0, 10, 200, 1, 200 - 10 - 10 * 2, 10, TRUE },
  { 0, 804, 8, 3, 0, 20, 266, 2, 266 - 20 - 16 * 4, 20, TRUE },
  { 2, 404, 8, 4, 0, 10, 200, 1, 200 - 10 - 10 * 2, 10, TRUE },
  /* one run at the end */
  { 0, 107, 8, 1, 0, 20, 100, 7, 100 - 20 - 7, 20, TRUE },
  { 0, 20, 8, 1, 0, -1, 13, 7, 13 - 2 - 7, 2, TRUE },
  /* nothing would be left, or none is to be held out */
  { 0, 12, 8, 1, 0, -1, 5, 4, 5, 1, FALSE },
  { 0, 804, 8, 4, 0, 0, 200, 1, 200, 16, FALSE },
};

static char *
write_tokens (guint i)
{
  char *folder = g_dir_make_tmp ("vn-overlap-XXXXXX", NULL);

  for (guint k = 0; k < MAX (cases[i].texts, 1); k++)
    {
      g_autoptr(VnTensor) tensor = vn_tensor_new (VN_DTYPE_S64, &VN_SHAPE (cases[i].n), NULL);
      g_autofree char *name = g_strdup_printf ("%s/%u.npy", folder, k);

      for (guint t = 0; t < cases[i].n; t++)
        ((gint64 *) tensor->data)[t] = (gint64) k * cases[i].n + t;
      g_assert_true (vn_npy_write (name, tensor, NULL));
    }
  return folder;
}

/* Each token is there once. */
static void
mark (VnDataset *dataset,
      GArray    *samples,
      gboolean  *marks)
{
  for (guint i = 0; i < samples->len; i++)
    {
      g_autoptr(VnTensor) tensor = NULL;

      g_assert_true (vn_dataset_load (dataset, g_array_index (samples, guint, i), &tensor, NULL));
      for (gsize k = 0; k < tensor->n_elements; k++)
        marks[vn_tensor_get_s64 (tensor, k)] = TRUE;
    }
}

static void
test_split (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *folder = write_tokens (i), *first = g_build_filename (folder, "0.npy", NULL);
      g_autoptr(VnDataSpec) spec = vn_data_spec_new (cases[i].texts > 0 ? folder : first);
      const VnInputSpec input = { (char *) "ids", VN_DTYPE_S64, VN_SHAPE (-1, -1), .limit = 2 * MOST_TOKENS };
      g_autofree gboolean *learned = g_new0 (gboolean, 2 * MOST_TOKENS), *measured = g_new0 (gboolean, 2 * MOST_TOKENS);
      g_autoptr(GArray) calibration = NULL, others = NULL;
      g_autoptr(VnDataset) dataset = NULL;
      gboolean apart;
      guint n_both = 0;

      spec->window = cases[i].window;
      spec->stride = cases[i].stride;
      spec->max_samples = cases[i].max;
      spec->held_out = cases[i].held < 0 ? VN_HELD_OUT_USUAL : cases[i].held;
      dataset = vn_dataset_open (spec, &input, 1, NULL, NULL);
      apart = vn_job_split_samples (spec, dataset, 0, &calibration, &others);
      mark (dataset, calibration, learned);
      mark (dataset, others, measured);
      for (guint t = 0; t < 2 * MOST_TOKENS; t++)
        n_both += learned[t] && measured[t];
      g_test_message ("%u: %u samples, reach %u, %u and %u, %u tokens of both", i, vn_dataset_get_n (dataset),
                      vn_dataset_count_overlap (dataset), calibration->len, others->len, n_both);
      g_assert_cmpuint (vn_dataset_get_n (dataset), ==, cases[i].n_samples);
      g_assert_cmpuint (vn_dataset_count_overlap (dataset), ==, cases[i].reach);
      g_assert_cmpuint (calibration->len, ==, cases[i].n_calibration);
      g_assert_cmpuint (others->len, ==, cases[i].n_measured);
      g_assert_true (apart == cases[i].apart);
      g_assert_true ((n_both == 0) == apart);
      for (guint k = 0; k < MAX (cases[i].texts, 1); k++)
        {
          g_autofree char *name = g_strdup_printf ("%s/%u.npy", folder, k);

          g_unlink (name);
        }
      g_rmdir (folder);
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/overlap/split", test_split);
  return g_test_run ();
}
