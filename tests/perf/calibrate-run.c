/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measures a calibration: calibrate-run MODEL FOLDER METHOD [THREADS [prepare]]: every float value of the network is observed
 * over all samples of the folder and its range computed; METHOD `forward`: nothing is observed; `prepare`: the network as it is
 * prepared for quantizing. Prints seconds and peak memory. Without a folder only opens the network, several times, and prints the
 * shortest time. */
#include "vn-calibrate.h"
#include "vn-machine.h"
#include "vn-onnx.h"
#include "vn-pass.h"
#include "vn-plan-blocks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The most memory this program ever held: unlike getrusage(), without what the caller of the program had. */
static int
peak_megabytes (void)
{
  g_autofree char *text = NULL;
  const char *line;

  if (!g_file_get_contents ("/proc/self/status", &text, NULL, NULL) || (line = strstr (text, "VmHWM:")) == NULL)
    return -1;
  return atoi (line + strlen ("VmHWM:")) / 1024;
}

static GPtrArray *
float_values (VnModel *model)
{
  GPtrArray *taps = g_ptr_array_new ();

  for (guint i = 0; i < model->graph->values->len; i++)
    {
      VnValue *value = g_ptr_array_index (model->graph->values, i);

      if (value->initializer == NULL && !vn_value_is_constant (value) &&
          (value->type.dtype == VN_DTYPE_F32 || value->type.dtype == VN_DTYPE_UNDEFINED))
        g_ptr_array_add (taps, value);
    }
  return taps;
}

static VnDataset *
open_samples (VnPlan      *plan,
              const char  *folder,
              GError     **error)
{
  g_autoptr(VnDataSpec) spec = vn_data_spec_new (folder);
  VnInputSpec input = { vn_plan_get_input (plan, 0)->name, vn_plan_get_input_type (plan, 0)->dtype,
                        vn_plan_get_input_type (plan, 0)->shape };

  return vn_dataset_open (spec, &input, 1, NULL, error);
}

static gboolean
print_ranges (VnStats     *stats,
              const char  *method_id,
              GError     **error)
{
  const VnRangeMethod *method = vn_range_method_find (method_id, error);
  VnRangeSettings settings = { .percentile = 99.999 };
  double sum = 0;

  for (guint i = 0; method != NULL && i < vn_stats_get_n_values (stats); i++)
    {
      VnRange range;

      if (!method->range (vn_stats_get (stats, vn_stats_get_name (stats, i)), &settings, &range, error))
        return FALSE;
      sum += range.max - range.min;
    }
  printf ("%u values over %u samples, sum of ranges %.6g, statistics %.1f MB\n", vn_stats_get_n_values (stats),
          vn_stats_get_n_samples (stats), sum, (double) vn_stats_get_bytes (stats) / 1e6);
  return method != NULL;
}

static gboolean
run_open (const char  *path,
          GError     **error)
{
  gint64 best = G_MAXINT64;

  for (int i = 0; i < 20; i++)
    {
      gint64 start = g_get_monotonic_time ();
      g_autoptr(VnModel) model = vn_onnx_read_file (path, error);

      if (model == NULL)
        return FALSE;
      best = MIN (best, g_get_monotonic_time () - start);
    }
  printf ("open %.3f ms peak %d MB\n", (double) best / 1e3, peak_megabytes ());
  return TRUE;
}

static VnModel *
open_model (const char  *path,
            gboolean     prepares,
            GError     **error)
{
  g_autoptr(VnModel) model = vn_onnx_read_file (path, error);
  VnPrepareOptions options = { .optimize = TRUE };

  if (model == NULL || !prepares)
    return g_steal_pointer (&model);
  options.target_opset = vn_model_get_opset (model, "");
  return vn_prepare_model_with (model, &options, NULL, NULL, NULL, error);
}

static gboolean
run (const char  *path,
     const char  *folder,
     const char  *method,
     guint        n_threads,
     gboolean     prepares,
     GError     **error)
{
  gint64 start = g_get_monotonic_time ();
  g_autoptr(VnModel) model = open_model (path, prepares, error);
  gboolean observes = !g_str_equal (method, "forward");
  g_autoptr(GPtrArray) taps = model != NULL && observes ? float_values (model) : g_ptr_array_new ();
  VnPlanOptions options = { .taps = taps };
  g_autoptr(VnPlan) plan = model != NULL ? vn_plan_new_in_blocks (model, &options, NULL, error) : NULL;
  g_autoptr(VnDataset) dataset = plan != NULL ? open_samples (plan, folder, error) : NULL;
  g_autofree guint *samples = NULL;
  const VnRangeMethod *by = observes ? vn_range_method_find (method, error) : NULL;
  VnCalibrateOptions calibrate = { .n_threads = n_threads, .few_counts = by != NULL && by->by_ends };
  g_autoptr(VnStats) stats = NULL;

  if (dataset == NULL)
    return FALSE;
  calibrate.n_samples = vn_dataset_get_n (dataset);
  calibrate.samples = samples = g_new (guint, calibrate.n_samples);
  for (guint i = 0; i < calibrate.n_samples; i++)
    samples[i] = i;
  stats = vn_calibrate (plan, taps, dataset, &calibrate, NULL, NULL, NULL, error);
  if (stats == NULL || (observes && !print_ranges (stats, method, error)))
    return FALSE;
  printf ("seconds %.3f cpu %.3f peak %d MB core %s\n", (double) (g_get_monotonic_time () - start) / 1e6,
          (double) clock () / CLOCKS_PER_SEC, peak_megabytes (), vn_machine_get_instruction_set ());
  return TRUE;
}

int
main (int    argc,
      char **argv)
{
  g_autoptr(GError) error = NULL;

  if (argc != 2 && argc < 4)
    {
      fprintf (stderr, "usage: calibrate-run MODEL [FOLDER METHOD [THREADS [prepare]]]\n");
      return 2;
    }
  if (argc == 2 ? run_open (argv[1], &error)
      : run (argv[1], argv[2], argv[3], argc > 4 ? (guint) atoi (argv[4]) : 0, argc > 5, &error))
    return 0;
  fprintf (stderr, "%s\n", error->message);
  return 1;
}
