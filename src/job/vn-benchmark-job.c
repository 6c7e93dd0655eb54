/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "vn-jobs.h"

#include "vn-i18n.h"
#include "vn-parallel.h"

#define FEWEST_RUNS 3
#define DEFAULT_SECONDS 2.0

struct _VnBenchmarkJob
{
  VnJob                parent_instance;
  VnBenchmarkSettings  settings;       /* owns what it points to */
  VnBenchmark         *result;
};

G_DEFINE_FINAL_TYPE (VnBenchmarkJob, vn_benchmark_job, VN_TYPE_JOB)

/* A plan with its inputs, while it is measured. */
typedef struct
{
  VnBenchmarkJob *job;
  VnPlan         *plan;
  VnTensor      **inputs;
  VnRunner      **runners;     /* one for each thread */
  gint            n_done;      /* atomic */
  guint           n_total;
  GCancellable   *cancellable;
} Bench;

static gboolean
is_enough (const VnBenchmarkSettings *settings,
           guint                      n_runs,
           gint64                     elapsed)
{
  double seconds = settings->seconds > 0 ? settings->seconds : DEFAULT_SECONDS;

  if (settings->n_runs > 0)
    return n_runs >= settings->n_runs;
  return n_runs >= FEWEST_RUNS && (double) elapsed >= seconds * G_USEC_PER_SEC;
}

static void
report (Bench  *bench,
        guint   n_runs,
        gint64  elapsed)
{
  const VnBenchmarkSettings *settings = &bench->job->settings;
  double seconds = settings->seconds > 0 ? settings->seconds : DEFAULT_SECONDS;
  VnProgress progress = vn_job_get_reporter (VN_JOB (bench->job));

  if (settings->n_runs > 0)
    vn_progress_report (&progress, NULL, _("runs"), n_runs, settings->n_runs);
  else
    vn_progress_report (&progress, NULL, NULL, (guint64) elapsed, (guint64) (seconds * G_USEC_PER_SEC));
}

/* One sample after the other. The clock is looked at between the nodes, too, which costs some 50 ns for each. */
static gboolean
time_mode (Bench    *bench,
           guint     mode,
           guint     n_threads,
           GError  **error)
{
  VnRunner *runner = bench->runners[0];
  g_autofree gint64 *steps = g_new0 (gint64, vn_plan_get_n_steps (bench->plan) + 1);
  g_autoptr(GArray) runs = g_array_new (FALSE, FALSE, sizeof (gint64));
  gint64 start = g_get_monotonic_time (), now = start;
  gboolean good = TRUE;

  vn_runner_set_threads (runner, n_threads);
  vn_runner_set_timing (runner, steps);
  while (good && !is_enough (&bench->job->settings, runs->len, now - start))
    {
      gint64 begin = g_get_monotonic_time (), usec;

      good = vn_runner_run (runner, bench->inputs, NULL, bench->cancellable, error);
      now = g_get_monotonic_time ();
      usec = now - begin;
      g_array_append_val (runs, usec);
      report (bench, runs->len, now - start);
    }
  vn_runner_set_timing (runner, NULL);
  vn_runner_set_threads (runner, 1);
  if (good)
    vn_benchmark_set_time (bench->job->result, mode, runs, steps);
  return good;
}

/* ---- as many samples at once as threads ---- */

static gboolean
run_one (gsize      item,
         guint      worker,
         gpointer   data,
         GError   **error)
{
  Bench *bench = data;
  VnProgress progress = vn_job_get_reporter (VN_JOB (bench->job));
  int n;

  if (!vn_runner_run (bench->runners[worker], bench->inputs, NULL, bench->cancellable, error))
    return FALSE;
  n = g_atomic_int_add (&bench->n_done, 1) + 1;
  vn_progress_report (&progress, NULL, _("runs"), (guint64) n, bench->n_total);
  return TRUE;
}

static guint
count_runs (const VnBenchmarkSettings *settings,
            double                     median_ms)
{
  double seconds = settings->seconds > 0 ? settings->seconds : DEFAULT_SECONDS;
  double n = settings->n_runs > 0 ? settings->n_runs : seconds * 1e3 / MAX (median_ms, 1e-3);

  return (guint) CLAMP (n, FEWEST_RUNS, 1e6) * settings->n_threads;
}

static gboolean
time_at_once (Bench   *bench,
              GError **error)
{
  VnBenchmark *result = bench->job->result;
  guint n_threads = bench->job->settings.n_threads;
  gint64 start;
  double seconds;

  /* The runners are made and their memory is touched before the clock runs. */
  for (guint i = 1; i < n_threads; i++)
    {
      bench->runners[i] = vn_runner_new (bench->plan, error);
      if (bench->runners[i] == NULL ||
          !vn_runner_run (bench->runners[i], bench->inputs, NULL, bench->cancellable, error))
        return FALSE;
    }
  bench->n_total = count_runs (&bench->job->settings, result->time[VN_BENCHMARK_ONE].median_ms);
  start = g_get_monotonic_time ();
  if (!vn_parallel_for (n_threads, bench->n_total, run_one, bench, bench->cancellable, error))
    return FALSE;
  seconds = (double) MAX (g_get_monotonic_time () - start, 1) / G_USEC_PER_SEC;
  result->n_at_once = bench->n_total;
  result->per_second = bench->n_total / seconds;
  return TRUE;
}

/* ---- the job ---- */

static gboolean
time_all (Bench   *bench,
          GError **error)
{
  VnJob *job = VN_JOB (bench->job);
  VnBenchmark *result = bench->job->result;
  guint n_threads = bench->job->settings.n_threads;

  vn_job_begin_phase (job, _("Warming up"), 0.05, 0.1);
  bench->runners[0] = vn_runner_new (bench->plan, error);
  if (bench->runners[0] == NULL ||
      !vn_runner_run (bench->runners[0], bench->inputs, NULL, bench->cancellable, error))
    return FALSE;
  vn_job_begin_phase (job, _("One thread"), 0.1, 0.4);
  if (!time_mode (bench, VN_BENCHMARK_ONE, 1, error))
    return FALSE;
  vn_job_begin_phase (job, _("All threads, one sample"), 0.4, 0.7);
  if (!time_mode (bench, VN_BENCHMARK_MANY, n_threads, error))
    return FALSE;
  vn_job_begin_phase (job, _("All threads, one sample each"), 0.7, 1);
  if (!time_at_once (bench, error))
    return FALSE;
  vn_benchmark_finish (result);
  return TRUE;
}

static void
clear_tensors (VnTensor **tensors,
               guint      n)
{
  for (guint i = 0; i < n; i++)
    g_clear_pointer (&tensors[i], vn_tensor_unref);
}

static gboolean
vn_benchmark_job_run (VnJob         *job,
                      GCancellable  *cancellable,
                      GError       **error)
{
  VnBenchmarkJob *self = VN_BENCHMARK_JOB (job);
  const VnBenchmarkSettings *settings = &self->settings;
  g_autoptr(VnModel) model = vn_model_to_runnable (settings->model, cancellable, error);
  g_autoptr(GHashTable) shapes = NULL;
  VnPlanOptions options = { 0 };
  g_autofree VnTensor **inputs = NULL;
  g_autofree VnRunner **runners = g_new0 (VnRunner *, settings->n_threads);
  g_autoptr(VnPlan) plan = NULL;
  Bench bench = { .job = self, .runners = runners, .cancellable = cancellable };
  gboolean good;

  vn_job_begin_phase (job, _("Planning"), 0, 0.05);
  if (model == NULL || !vn_model_size_for_run (model, settings->data, settings->input_shapes, &shapes, NULL, error))
    return FALSE;
  options.input_shapes = shapes;
  plan = vn_plan_new (model, &options, NULL, error);
  if (plan == NULL)
    return FALSE;
  g_clear_pointer (&self->result, vn_benchmark_free);
  self->result = vn_benchmark_new (plan, settings->n_threads);
  bench.inputs = inputs = g_new0 (VnTensor *, vn_plan_get_n_inputs (plan) + 1);
  bench.plan = plan;
  good = vn_plan_load_sample (plan, settings->data, settings->inputs, inputs, error) && time_all (&bench, error);
  for (guint i = 0; i < settings->n_threads; i++)
    g_clear_pointer (&runners[i], vn_runner_free);
  clear_tensors (inputs, vn_plan_get_n_inputs (plan));
  return good;
}

static void
vn_benchmark_job_finalize (GObject *object)
{
  VnBenchmarkJob *self = VN_BENCHMARK_JOB (object);

  vn_model_unref (self->settings.model);
  g_clear_pointer (&self->settings.data, vn_data_spec_free);
  g_clear_pointer (&self->settings.inputs, g_hash_table_unref);
  g_clear_pointer (&self->settings.input_shapes, g_hash_table_unref);
  g_clear_pointer (&self->result, vn_benchmark_free);
  G_OBJECT_CLASS (vn_benchmark_job_parent_class)->finalize (object);
}

static void
vn_benchmark_job_class_init (VnBenchmarkJobClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = vn_benchmark_job_finalize;
  VN_JOB_CLASS (klass)->run = vn_benchmark_job_run;
}

static void
vn_benchmark_job_init (VnBenchmarkJob *self)
{
}

/**
 * vn_benchmark_job_new:
 * @settings: copied, with references to what it points to
 *
 * Returns: (transfer full): a job that measures how long a network takes, and each of its nodes
 */
VnJob *
vn_benchmark_job_new (const VnBenchmarkSettings *settings)
{
  VnBenchmarkJob *self = g_object_new (VN_TYPE_BENCHMARK_JOB, NULL);

  self->settings = *settings;
  vn_model_ref (settings->model);
  self->settings.data = settings->data != NULL ? vn_data_spec_copy (settings->data) : NULL;
  self->settings.inputs = settings->inputs != NULL ? g_hash_table_ref (settings->inputs) : NULL;
  self->settings.input_shapes = settings->input_shapes != NULL ? g_hash_table_ref (settings->input_shapes) : NULL;
  if (settings->n_threads == 0)
    self->settings.n_threads = vn_parallel_default_threads ();
  vn_job_set_title (VN_JOB (self), _("Measuring speed"));
  return VN_JOB (self);
}

VnBenchmark *
vn_benchmark_job_get_result (VnBenchmarkJob *self)
{
  return self->result;
}
