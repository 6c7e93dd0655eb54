/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measures where error starts: contribution-run MODEL FOLDER SAMPLES [THREADS [BUDGET [thorough]]]. BUDGET is the megabytes that
 * may be kept, 0 by the machine. Prints the seconds to the estimate, to the first figure of every tensor and to the end, how the
 * estimate ranks the tensors beside what is measured, the peak of memory, and a digest of all figures. */
#include "vn-contribution.h"
#include "vn-jobs.h"
#include "vn-memory.h"
#include "vn-onnx.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct
{
  gint64           start;
  double           cpu;                   /* seconds of the processor at the start */
  double           estimated, measured;   /* seconds */
  guint            n_measured;
  VnContributions *estimate;
} Watch;

static void
watch_found (VnContributions *so_far,
             gpointer         data)
{
  Watch *watch = data;
  double seconds = (double) (g_get_monotonic_time () - watch->start) * 1e-6;
  guint n = 0;

  for (guint i = 0; i < vn_contributions_get_n (so_far); i++)
    n += vn_contributions_get (so_far, i)->n_samples > 0;
  if (watch->estimate == NULL)
    {
      watch->estimate = vn_contributions_ref (so_far);
      watch->estimated = seconds;
    }
  if (n > watch->n_measured)
    watch->measured = seconds;
  watch->n_measured = MAX (watch->n_measured, n);
}

/* Places by share, 0 for the largest. */
static double *
rank (VnContributions *self)
{
  g_autoptr(GArray) order = vn_contributions_sort (self);
  double *ranks = g_new (double, order->len + 1);

  for (guint k = 0; k < order->len; k++)
    ranks[g_array_index (order, guint, k)] = k;
  return ranks;
}

static void
print_ranks (VnContributions *estimate,
             VnContributions *found)
{
  g_autofree double *a = rank (estimate), *b = rank (found);
  guint n = vn_contributions_get_n (found), hits = 0, first = 0;
  double squares = 0, covered = 0;

  for (guint i = 0; i < n; i++)
    {
      squares += (a[i] - b[i]) * (a[i] - b[i]);
      hits += a[i] < 10 && b[i] < 10;
      covered += a[i] < 10 ? vn_contributions_get (found, i)->share : 0;
      if (b[i] == 0)
        first = (guint) a[i] + 1;
    }
  printf ("rank correlation %.3f, %u of the first 10, the first is number %u of the estimate, whose first 10 have %.0f %%\n",
          1 - 6 * squares / ((double) n * ((double) n * n - 1)), hits, first, 100 * covered);
}

static double
cpu_seconds (void)
{
  return (double) clock () / CLOCKS_PER_SEC;
}

static int
peak_megabytes (void)
{
  g_autofree char *text = NULL;
  const char *line;

  if (!g_file_get_contents ("/proc/self/status", &text, NULL, NULL) || (line = strstr (text, "VmHWM:")) == NULL)
    return -1;
  return atoi (line + strlen ("VmHWM:")) / 1024;
}

static void
add_figures (GChecksum       *sum,
             VnContributions *self)
{
  for (guint i = 0; i < vn_contributions_get_n (self); i++)
    {
      const VnContribution *item = vn_contributions_get (self, i);
      const double figures[] = { item->share, item->share_error, item->alone_db, item->local_db, item->n_samples };

      g_checksum_update (sum, (const guchar *) figures, sizeof figures);
    }
}

/* Of the estimate, too: equal for equal bits. */
static void
print_digest (VnContributions *estimate,
              VnContributions *found)
{
  g_autoptr(GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);

  add_figures (sum, estimate);
  add_figures (sum, found);
  printf ("digest %.16s\n", g_checksum_get_string (sum));
}

static VnRun *
quantize (VnModel          *model,
          const VnDataSpec *data,
          guint             n_threads,
          GError          **error)
{
  g_autoptr(VnRecipe) recipe = vn_recipe_new ("cpu");
  VnQuantizeSettings settings = { .model = model, .data = data, .recipe = recipe, .n_calibration = 8, .n_threads = n_threads,
                                  .skip_compare = TRUE };
  g_autoptr(VnJob) job = NULL;

  if (!vn_recipe_set (recipe, "per-channel", "true", error))
    return NULL;
  job = vn_quantize_job_new (&settings);
  return vn_job_run (job, NULL, error) ? vn_run_ref (vn_quantize_job_get_result (job)) : NULL;
}

static VnContributions *
measure (VnRun             *result,
         const VnDataSpec  *data,
         guint              n_samples,
         guint              n_threads,
         gboolean           thorough,
         Watch             *watch,
         GError           **error)
{
  const VnValue *input = g_ptr_array_index (result->prepared->graph->inputs, 0);
  VnInputSpec spec = { input->name, input->type.dtype, input->type.shape };
  g_autoptr(VnDataset) dataset = vn_dataset_open (data, &spec, 1, NULL, error);
  g_autofree guint *samples = g_new (guint, n_samples + 1);
  VnContributionOptions options = { .found = watch_found, .data = watch, .thorough = thorough };
  VnSamples run = { .dataset = dataset, .indices = samples, .n_threads = n_threads };

  if (dataset == NULL)
    return NULL;
  for (guint i = 0; i < n_samples; i++)
    samples[i] = i % vn_dataset_get_n (dataset);
  run.n = n_samples;
  watch->start = g_get_monotonic_time ();
  watch->cpu = cpu_seconds ();
  return vn_contribution_measure (result->prepared, result->prepared, result->plan, &run, &options, NULL, error);
}

int
main (int   argc,
      char *argv[])
{
  g_autoptr(GError) error = NULL;
  g_autoptr(VnModel) model = argc > 3 ? vn_onnx_read_file (argv[1], &error) : NULL;
  g_autoptr(VnDataSpec) data = argc > 3 ? vn_data_spec_new (argv[2]) : NULL;
  guint n_threads = argc > 4 ? (guint) atoi (argv[4]) : 2;
  g_autoptr(VnRun) result = model != NULL ? quantize (model, data, n_threads, &error) : NULL;
  g_autoptr(VnContributions) found = NULL;
  Watch watch = { 0 };

  vn_memory_set_budget (argc > 5 ? (gsize) atoi (argv[5]) << 20 : 0);
  if (result != NULL)
    found = measure (result, data, (guint) atoi (argv[3]), n_threads, argc > 6, &watch, &error);
  if (found == NULL)
    {
      fprintf (stderr, "%s\n", error != NULL ? error->message
               : "usage: contribution-run MODEL FOLDER SAMPLES [THREADS [BUDGET [thorough]]]");
      return 1;
    }
  printf ("%u tensors, %s samples: estimated after %.2f s, all measured after %.2f s, done after %.2f s, %.2f CPU s, %d MB\n",
          vn_contributions_get_n (found), argv[3], watch.estimated, watch.measured,
          (double) (g_get_monotonic_time () - watch.start) * 1e-6, cpu_seconds () - watch.cpu, peak_megabytes ());
  print_ranks (watch.estimate, found);
  print_digest (watch.estimate, found);
  vn_contributions_unref (watch.estimate);
  return 0;
}
