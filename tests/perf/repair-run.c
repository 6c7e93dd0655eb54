/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measures repairs: repair-run MODEL FOLDER THREADS [SETTING=VALUE]... Prints the seconds of a float run of all samples, of each
 * stage of quantizing with these settings and of the search for origins, and which core OpenBLAS computes for. */
#include "vn-jobs.h"
#include "vn-linalg.h"
#include "vn-onnx.h"
#include "vn-plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What every repair is measured beside: the samples loaded and run once, one after the other. */
static gboolean
run_float (VnModel           *model,
           const VnDataSpec  *data,
           guint              n_threads,
           GError           **error)
{
  const VnValue *input = g_ptr_array_index (model->graph->inputs, 0);
  VnInputSpec spec = { input->name, input->type.dtype, input->type.shape };
  g_autoptr(VnDataset) dataset = vn_dataset_open (data, &spec, 1, NULL, error);
  g_autoptr(VnPlan) plan = dataset != NULL ? vn_plan_new (model, &(VnPlanOptions) { 0 }, NULL, error) : NULL;
  g_autoptr(VnRunner) runner = plan != NULL ? vn_runner_new (plan, error) : NULL;
  gint64 start = g_get_monotonic_time ();
  guint n = dataset != NULL ? vn_dataset_get_n (dataset) : 0;
  gboolean good = runner != NULL;

  if (good)
    vn_runner_set_threads (runner, n_threads);
  for (guint i = 0; i < n && good; i++)
    {
      VnTensor *inputs[2] = { NULL };

      good = vn_dataset_load (dataset, i, inputs, error) && vn_runner_run (runner, inputs, NULL, NULL, error);
      vn_tensor_clear_all (inputs, 1);
    }
  if (good)
    printf ("float %.4f s, %u samples\n", (double) (g_get_monotonic_time () - start) * 1e-6, n);
  return good;
}

static gboolean
run_job (VnModel           *model,
         const VnDataSpec  *data,
         guint              n_threads,
         char             **settings,
         GError           **error)
{
  g_autoptr(VnRecipe) recipe = vn_recipe_new ("cpu");
  VnQuantizeSettings job_settings = { .model = model, .data = data, .recipe = recipe, .n_threads = n_threads, .origins = TRUE };
  g_autoptr(VnJob) job = NULL;
  g_autoptr(GArray) timings = NULL;

  for (; *settings != NULL; settings++)
    {
      g_auto(GStrv) parts = g_strsplit (*settings, "=", 2);

      if (parts[0] == NULL || parts[1] == NULL || !vn_recipe_set (recipe, parts[0], parts[1], error))
        return FALSE;
    }
  job = vn_quantize_job_new (&job_settings);
  if (!vn_job_run (job, NULL, error))
    return FALSE;
  timings = vn_job_dup_timings (job);
  for (guint i = 0; i < timings->len; i++)
    printf ("%s %.4f s\n", g_array_index (timings, VnTiming, i).id, g_array_index (timings, VnTiming, i).seconds);
  return TRUE;
}

int
main (int   argc,
      char *argv[])
{
  g_autoptr(GError) error = NULL;
  g_autoptr(VnModel) model = NULL;
  g_autoptr(VnDataSpec) data = NULL;

  if (argc < 4)
    {
      fprintf (stderr, "repair-run MODEL FOLDER THREADS [SETTING=VALUE]...\n");
      return 2;
    }
  data = vn_data_spec_new (argv[2]);
  model = vn_onnx_read_file (argv[1], &error);
  if (model == NULL || !vn_model_infer_types (model, NULL, NULL, &error) || !vn_linalg_init ("", &error) ||
      !run_float (model, data, (guint) atoi (argv[3]), &error) ||
      !run_job (model, data, (guint) atoi (argv[3]), argv + 4, &error))
    {
      fprintf (stderr, "%s\n", error != NULL ? error->message : "a setting has no value");
      return 1;
    }
  printf ("OpenBLAS core %s\n", vn_linalg_get_core ());
  return 0;
}
