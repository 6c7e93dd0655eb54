/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints what the range methods choose, for comparisons with other programs.
 *
 *   range-run SPEC... -- FILE.npy...            each file is a sample of one tensor
 *   range-run SPEC... -- MODEL.onnx FOLDER      every float value of the network, over the .npy samples of the folder
 *
 * A SPEC is METHOD[,percentile=P][,symmetric][,two-sided][,bits=B][,qmin=Q,qmax=Q]. A line per value and SPEC: name, SPEC,
 * minimum, maximum, parted by tabulators; "-" and the reason where there is no range. */
#include "vn-calibrate.h"
#include "vn-onnx.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const VnRangeMethod *
parse_spec (const char       *spec,
            VnRangeSettings  *settings,
            GError          **error)
{
  g_auto(GStrv) words = g_strsplit (spec, ",", -1);

  *settings = (VnRangeSettings) { .percentile = 99.999 };
  for (guint i = 1; words[i] != NULL; i++)
    {
      const char *value = strchr (words[i], '=');
      double number = value != NULL ? g_ascii_strtod (value + 1, NULL) : 0;

      settings->symmetric |= g_str_equal (words[i], "symmetric");
      settings->two_sided |= g_str_equal (words[i], "two-sided");
      if (g_str_has_prefix (words[i], "percentile="))
        settings->percentile = number;
      else if (g_str_has_prefix (words[i], "bits="))
        settings->bits = (guint) number;
      else if (g_str_has_prefix (words[i], "qmin="))
        settings->qmin = (gint64) number;
      else if (g_str_has_prefix (words[i], "qmax="))
        settings->qmax = (gint64) number;
    }
  return vn_range_method_find (words[0], error);
}

static gboolean
print_ranges (const VnHistogram  *histogram,
              const char         *name,
              char              **specs,
              int                 n,
              GError            **error)
{
  for (int i = 0; i < n; i++)
    {
      VnRangeSettings settings;
      const VnRangeMethod *method = parse_spec (specs[i], &settings, error);
      g_autoptr(GError) none = NULL;
      VnRange range;

      if (method == NULL)
        return FALSE;
      if (method->range (histogram, &settings, &range, &none))
        printf ("%s\t%s\t%.17g\t%.17g\n", name, specs[i], range.min, range.max);
      else
        printf ("%s\t%s\t-\t%s\n", name, specs[i], none->message);
    }
  return TRUE;
}

static gboolean
run_files (char    **specs,
           int       n_specs,
           char    **paths,
           int       n_paths,
           GError  **error)
{
  g_autoptr(VnHistogram) sum = vn_histogram_new ();
  g_autoptr(VnHistogramScratch) scratch = vn_scratch_new ();

  for (int i = 0; i < n_paths; i++)
    {
      g_autoptr(VnTensor) tensor = vn_npy_read (paths[i], error);
      VnHistogram *sample;

      if (tensor == NULL)
        return FALSE;
      sample = vn_histogram_new ();
      vn_histogram_scan (sample, scratch, tensor->data, tensor->n_elements);
      vn_histogram_add_votes (sum, sample, (float) -INFINITY, (float) INFINITY);
      vn_histogram_take_sample (sum, sample);
    }
  return print_ranges (sum, "x", specs, n_specs, error);
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

static VnStats *
calibrate (const char  *path,
           const char  *folder,
           GError     **error)
{
  g_autoptr(VnModel) model = vn_onnx_read_file (path, error);
  g_autoptr(GPtrArray) taps = model != NULL ? float_values (model) : NULL;
  VnPlanOptions plan_options = { .taps = taps };
  g_autoptr(VnPlan) plan = model != NULL ? vn_plan_new (model, &plan_options, NULL, error) : NULL;
  g_autoptr(VnDataSpec) spec = vn_data_spec_new (folder);
  g_autoptr(VnDataset) dataset = NULL;
  g_autofree guint *samples = NULL;
  VnCalibrateOptions options = { 0 };
  VnInputSpec input;

  if (plan == NULL)
    return NULL;
  input = (VnInputSpec) { vn_plan_get_input (plan, 0)->name, vn_plan_get_input_type (plan, 0)->dtype,
                          vn_plan_get_input_type (plan, 0)->shape };
  dataset = vn_dataset_open (spec, &input, 1, NULL, error);
  if (dataset == NULL)
    return NULL;
  options.n_samples = vn_dataset_get_n (dataset);
  options.samples = samples = g_new (guint, options.n_samples);
  for (guint i = 0; i < options.n_samples; i++)
    samples[i] = i;
  return vn_calibrate (plan, taps, dataset, &options, NULL, NULL, NULL, error);
}

static gboolean
run_model (char    **specs,
           int       n_specs,
           char    **paths,
           GError  **error)
{
  g_autoptr(VnStats) stats = calibrate (paths[0], paths[1], error);

  for (guint i = 0; stats != NULL && i < vn_stats_get_n_values (stats); i++)
    {
      const char *name = vn_stats_get_name (stats, i);

      if (!print_ranges (vn_stats_get (stats, name), name, specs, n_specs, error))
        return FALSE;
    }
  return stats != NULL;
}

int
main (int    argc,
      char **argv)
{
  g_autoptr(GError) error = NULL;
  int n = 0;
  gboolean ok;

  while (n + 1 < argc && !g_str_equal (argv[n + 1], "--"))
    n++;
  if (argc < n + 3)
    {
      fprintf (stderr, "usage: range-run SPEC... -- FILE.npy...|MODEL FOLDER\n");
      return 2;
    }
  ok = g_str_has_suffix (argv[n + 2], ".onnx") && argc == n + 4
         ? run_model (argv + 1, n, argv + n + 2, &error)
         : run_files (argv + 1, n, argv + n + 2, argc - n - 2, &error);
  if (ok)
    return 0;
  fprintf (stderr, "%s\n", error->message);
  return 1;
}
