/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Few samples: all are measured, each by a network that was calibrated without it, and the margin is that of leaving each out of
 * the figure. The same is put together here from runs of their own, one for each part. */
#include "vn-compare.h"
#include "vn-jobs.h"
#include "vn-model-data.h"
#include "vn-onnx.h"

#include <glib/gstdio.h>
#include <math.h>
#include <unistd.h>

#define PARTS 4u

static VnModel *
read_demo (void)
{
  g_autofree char *path = g_build_filename (g_getenv ("VN_DEMO"), "demo.onnx", NULL);
  g_autoptr(GError) error = NULL;
  VnModel *model = vn_onnx_read_file (path, &error);

  g_assert_no_error (error);
  return model;
}

static VnRun *
quantize (VnModel        *model,
          VnDataSpec     *data,
          const VnRecipe *recipe,
          gboolean        skip_compare)
{
  VnQuantizeSettings settings = { .model = model, .data = data, .recipe = recipe, .n_threads = 2, .skip_compare = skip_compare };
  g_autoptr(VnJob) job = vn_quantize_job_new (&settings);
  g_autoptr(GError) error = NULL;

  vn_job_run (job, NULL, &error);
  g_assert_no_error (error);
  return vn_run_ref (vn_quantize_job_get_result (job));
}

static VnDataSpec *
open_samples (guint n)
{
  g_autofree char *folder = g_build_filename (g_getenv ("VN_DEMO"), "samples", NULL);
  VnDataSpec *data = vn_data_spec_new (folder);

  data->max_samples = n;
  return data;
}

/* ---- what is measured ---- */

static void
test_count (void)
{
  static const struct { guint n, n_calibration, n_measured; gboolean left_out; } cases[] = {
    { 1, 1, 1, FALSE }, { 2, 2, 2, TRUE }, { 4, 4, 4, TRUE }, { 5, 4, 5, TRUE }, { 12, 10, 12, TRUE }, { 20, 16, 20, TRUE },
  };
  g_autoptr(VnModel) model = read_demo ();
  g_autoptr(VnRecipe) recipe = vn_recipe_new ("cpu");

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnDataSpec) data = open_samples (cases[i].n);
      g_autoptr(VnRun) result = quantize (model, data, recipe, FALSE), alone = quantize (model, data, recipe, TRUE);
      g_autofree char *one = vn_model_dup_digest (result->quantized), *other = vn_model_dup_digest (alone->quantized);

      g_test_message ("%u samples: calibrated on %u, measured on %u", cases[i].n, result->n_calibration, result->n_held_out);
      g_assert_cmpuint (result->n_calibration, ==, cases[i].n_calibration);
      g_assert_cmpuint (result->n_held_out, ==, cases[i].n_measured);
      g_assert_cmpuint (vn_error_table_get_n_samples (result->errors), ==, cases[i].n_measured);
      g_assert_true (result->left_out == cases[i].left_out);
      g_assert_cmpstr (one, ==, other);   /* measuring changes nothing */
    }
}

/* What is learned beyond ranges would have to be learned again for each part. */
static void
test_learned (void)
{
  g_autoptr(VnModel) model = read_demo ();
  g_autoptr(VnRecipe) recipe = vn_recipe_new ("cpu");
  g_autoptr(VnDataSpec) data = open_samples (20);
  g_autoptr(VnRun) plain = quantize (model, data, recipe, FALSE), corrected = NULL;
  double worst, of_plain;

  recipe->bias_correction = VN_BIAS_CORRECTION_AMD;
  corrected = quantize (model, data, recipe, FALSE);
  g_assert_false (corrected->left_out);
  g_assert_cmpuint (corrected->n_held_out, ==, 4);
  /* the two are held against each other on the four samples that both were measured on */
  worst = vn_error_table_get_worst_sqnr (corrected->errors, plain->errors);
  of_plain = vn_error_table_get_worst_sqnr (plain->errors, corrected->errors);
  g_assert_cmpfloat (worst, ==, vn_error_table_get_worst_sqnr (corrected->errors, NULL));
  g_assert_cmpfloat (of_plain, !=, vn_error_table_get_worst_sqnr (plain->errors, NULL));
}

/* ---- the figures ---- */

typedef struct { double signal, noise; } Sums;

/* Of one sample of @all, by a network that was calibrated on @others alone. */
static Sums
measure (VnModel        *model,
         const VnRecipe *recipe,
         const char     *others,
         VnDataSpec     *all,
         guint           sample,
         const char     *output)
{
  g_autoptr(VnDataSpec) data = vn_data_spec_new (others);
  g_autoptr(VnRun) result = NULL;
  g_autoptr(GHashTable) shapes = NULL;
  g_autoptr(VnNotes) notes = vn_notes_new ();
  g_autoptr(GError) error = NULL;
  g_autoptr(VnDataset) dataset = NULL;
  g_autoptr(VnErrorTable) errors = NULL;
  VnCompareOptions options = { .samples = &sample, .n_samples = 1, .n_threads = 1, .outputs_only = TRUE };
  const VnErrorRow *row;

  data->held_out = 0;
  result = quantize (model, data, recipe, TRUE);
  dataset = vn_model_open_data (result->prepared, all, NULL, &shapes, notes, &error);
  g_assert_no_error (error);
  options.value_names = result->value_names;
  options.plan = result->plan;
  errors = vn_compare (result->prepared, result->quantized, shapes, dataset, &options, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  row = vn_error_table_find (errors, output);
  g_assert_nonnull (row);
  return (Sums) { row->mse * (double) row->n / row->noise_to_signal, row->mse * (double) row->n };
}

/* A folder of links, and those in front of it. */
static void
remove_folder (const char *path)
{
  g_autoptr(GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *inside = g_build_filename (path, name, NULL);

      if (g_file_test (inside, G_FILE_TEST_IS_DIR) && !g_file_test (inside, G_FILE_TEST_IS_SYMLINK))
        remove_folder (inside);
      else
        g_unlink (inside);
    }
  g_rmdir (path);
}

static double
get_db (const Sums *sums,
        guint       n,
        guint       without)
{
  double signal = 0, noise = 0;

  for (guint i = 0; i < n; i++)
    if (i != without)
      {
        signal += sums[i].signal;
        noise += sums[i].noise;
      }
  return 10 * log10 (signal / noise);
}

/* Samples number 0, 1, 3 and 4 are calibrated with, each a part of its own, and number 2 is held out. */
static void
test_figures (void)
{
  const guint calibration[PARTS] = { 0, 1, 3, 4 };
  g_autoptr(VnModel) model = read_demo ();
  g_autoptr(VnRecipe) recipe = vn_recipe_new ("cpu");
  g_autoptr(VnDataSpec) all = open_samples (5);
  g_autoptr(VnRun) result = quantize (model, all, recipe, FALSE);
  g_autofree char *folder = g_dir_make_tmp ("vn-parts-XXXXXX", NULL);
  const char *output = ((const VnValue *) g_ptr_array_index (result->prepared->graph->outputs, 0))->name;
  const VnErrorRow *row = vn_error_table_find (result->errors, output);
  g_autoptr(VnNotes) notes = vn_notes_new ();
  g_autoptr(GHashTable) shapes = NULL;
  g_autoptr(VnDataset) dataset = vn_model_open_data (result->prepared, all, NULL, &shapes, notes, NULL);
  double mean = 0, squares = 0;
  Sums sums[PARTS + 1];

  for (guint part = 0; part <= PARTS; part++)
    {
      g_autofree char *others = g_strdup_printf ("%s/%u", folder, part);

      g_assert_cmpint (g_mkdir (others, 0700), ==, 0);
      for (guint i = 0; i < PARTS; i++)
        if (i != part)
          {
            const char *from = vn_dataset_get_path (dataset, calibration[i]);
            g_autofree char *base = g_path_get_basename (from), *to = g_build_filename (others, base, NULL);

            g_assert_cmpint (symlink (from, to), ==, 0);
          }
      sums[part] = measure (model, recipe, others, all, part < PARTS ? calibration[part] : 2, output);
    }
  g_assert_cmpfloat_with_epsilon (row->whole_db, get_db (sums, PARTS + 1, G_MAXUINT), 1e-6);
  g_assert_cmpfloat_with_epsilon (row->held_out_db, 10 * log10 (sums[PARTS].signal / sums[PARTS].noise), 1e-6);
  for (guint i = 0; i <= PARTS; i++)
    mean += get_db (sums, PARTS + 1, i) / (PARTS + 1);
  for (guint i = 0; i <= PARTS; i++)
    squares += pow (get_db (sums, PARTS + 1, i) - mean, 2);
  g_assert_null (row->parts);
  /* Student's t, 4 degrees */
  g_assert_cmpfloat_with_epsilon (row->margin_db, 2.776 * sqrt (PARTS / (PARTS + 1.0) * squares), 1e-6);
  g_assert_cmpfloat (row->margin_db, >, 0.1);
  remove_folder (folder);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/few-samples/count", test_count);
  g_test_add_func ("/few-samples/learned", test_learned);
  g_test_add_func ("/few-samples/figures", test_figures);
  return g_test_run ();
}
