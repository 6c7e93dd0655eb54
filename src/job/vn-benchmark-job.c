/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The job of “benchmark”: how long a network takes in three modes, and each of its nodes. */
#include "vn-jobs.h"

#include "vn-i18n.h"
#include "vn-parallel.h"

#define FEWEST_RUNS 3
#define DEFAULT_SECONDS 2.0

typedef struct
{
  VnJob               *job;             /* whose state it is */
  VnBenchmarkSettings  settings;       /* owns what it points to */
  VnBenchmark         *result;

  VnPlan              *plan;
  VnTensor           **inputs;         /* one for each input of @plan */
  VnRunner           **runners;        /* one for each thread */
  gint                 n_done;         /* atomic */
  guint                n_total;
  GCancellable        *cancellable;    /* of the stage that runs */
} VnBenchmarkJob;

static const VnJobKind benchmark_job_kind;

static gboolean
benchmark_job_is_enough (const VnBenchmarkSettings *settings,
                         guint                      n_runs,
                         gint64                     elapsed)
{
  double seconds = settings->seconds > 0 ? settings->seconds : DEFAULT_SECONDS;

  if (settings->n_runs > 0)
    return n_runs >= settings->n_runs;
  return n_runs >= FEWEST_RUNS && (double) elapsed >= seconds * G_USEC_PER_SEC;
}

static void
benchmark_job_report (VnBenchmarkJob *self,
                      guint           n_runs,
                      gint64          elapsed)
{
  const VnBenchmarkSettings *settings = &self->settings;
  double seconds = settings->seconds > 0 ? settings->seconds : DEFAULT_SECONDS;
  VnProgress progress = vn_job_get_reporter (self->job);

  if (settings->n_runs > 0)
    vn_progress_report (&progress, _("runs"), n_runs, settings->n_runs);
  else
    vn_progress_report (&progress, NULL, (guint64) elapsed, (guint64) (seconds * G_USEC_PER_SEC));
}

/* One sample after the other. The clock is looked at between the nodes, too, which costs some 50 ns for each. */
static gboolean
benchmark_job_time_mode (VnBenchmarkJob  *self,
                         guint            mode,
                         guint            n_threads,
                         GCancellable    *cancellable,
                         GError         **error)
{
  VnRunner *runner = self->runners[0];
  g_autofree gint64 *steps = g_new0 (gint64, vn_plan_get_n_steps (self->plan) + 1);
  g_autoptr(GArray) runs = g_array_new (FALSE, FALSE, sizeof (gint64));
  gint64 start = g_get_monotonic_time (), now = start;
  gboolean good = TRUE;

  vn_runner_set_threads (runner, n_threads);
  vn_runner_set_timing (runner, steps);
  while (good && !benchmark_job_is_enough (&self->settings, runs->len, now - start))
    {
      gint64 begin = g_get_monotonic_time (), usec;

      good = vn_runner_run (runner, self->inputs, NULL, cancellable, error);
      now = g_get_monotonic_time ();
      usec = now - begin;
      g_array_append_val (runs, usec);
      benchmark_job_report (self, runs->len, now - start);
    }
  vn_runner_set_timing (runner, NULL);
  vn_runner_set_threads (runner, 1);
  if (good)
    vn_benchmark_set_time (self->result, mode, runs, steps);
  return good;
}

/* ---- as many samples at once as threads ---- */

static gboolean
benchmark_job_run_one (gsize      item,
                       guint      worker,
                       gpointer   data,
                       GError   **error)
{
  VnBenchmarkJob *self = data;
  VnProgress progress = vn_job_get_reporter (self->job);
  int n;

  if (!vn_runner_run (self->runners[worker], self->inputs, NULL, self->cancellable, error))
    return FALSE;
  n = g_atomic_int_add (&self->n_done, 1) + 1;
  vn_progress_report (&progress, _("runs"), (guint64) n, self->n_total);
  return TRUE;
}

static guint
benchmark_job_count_runs (const VnBenchmarkSettings *settings,
                          double                     median_ms)
{
  double seconds = settings->seconds > 0 ? settings->seconds : DEFAULT_SECONDS;
  double n = settings->n_runs > 0 ? settings->n_runs : seconds * 1e3 / MAX (median_ms, 1e-3);

  return (guint) CLAMP (n, FEWEST_RUNS, 1e6) * settings->n_threads;
}

static gboolean
vn_benchmark_job_time_at_once (VnJob         *job,
                               GCancellable  *cancellable,
                               GError       **error)
{
  VnBenchmarkJob *self = vn_job_get_state (job, &benchmark_job_kind);
  VnBenchmark *result = self->result;
  guint n_threads = self->settings.n_threads;
  gint64 start;
  double seconds;

  /* The runners are made and their memory is touched before the clock runs. */
  for (guint i = 1; i < n_threads; i++)
    {
      self->runners[i] = vn_runner_new (self->plan, error);
      if (self->runners[i] == NULL || !vn_runner_run (self->runners[i], self->inputs, NULL, cancellable, error))
        return FALSE;
    }
  self->n_total = benchmark_job_count_runs (&self->settings, result->time[VN_BENCHMARK_ONE].median_ms);
  self->cancellable = cancellable;
  start = g_get_monotonic_time ();
  if (!vn_parallel_for (n_threads, self->n_total, benchmark_job_run_one, self, cancellable, error))
    return FALSE;
  seconds = (double) MAX (g_get_monotonic_time () - start, 1) / G_USEC_PER_SEC;
  result->n_at_once = self->n_total;
  result->per_second = self->n_total / seconds;
  vn_benchmark_finish (result);
  return TRUE;
}

/* ---- the job ---- */

static void
benchmark_job_clear_measured (VnBenchmarkJob *self)
{
  for (guint i = 0; self->runners != NULL && i < self->settings.n_threads; i++)
    g_clear_pointer (&self->runners[i], vn_runner_free);
  for (guint i = 0; self->inputs != NULL && i < vn_plan_get_n_inputs (self->plan); i++)
    g_clear_pointer (&self->inputs[i], vn_tensor_unref);
  g_clear_pointer (&self->runners, g_free);
  g_clear_pointer (&self->inputs, g_free);
  g_clear_pointer (&self->plan, vn_plan_unref);
}

static gboolean
vn_benchmark_job_plan (VnJob         *job,
                       GCancellable  *cancellable,
                       GError       **error)
{
  VnBenchmarkJob *self = vn_job_get_state (job, &benchmark_job_kind);
  const VnBenchmarkSettings *settings = &self->settings;
  g_autoptr(VnModel) model = vn_model_to_float (settings->model, cancellable, error);
  g_autoptr(GHashTable) shapes = NULL;
  VnPlanOptions options = { 0 };

  if (model == NULL || !vn_model_size_for_run (model, settings->data, settings->input_shapes, &shapes, NULL, error))
    return FALSE;
  options.input_shapes = shapes;
  benchmark_job_clear_measured (self);
  g_clear_pointer (&self->result, vn_benchmark_free);
  self->plan = vn_plan_new (model, &options, NULL, error);
  if (self->plan == NULL)
    return FALSE;
  self->result = vn_benchmark_new (self->plan, settings->n_threads);
  self->runners = g_new0 (VnRunner *, settings->n_threads);
  self->inputs = g_new0 (VnTensor *, vn_plan_get_n_inputs (self->plan) + 1);
  return vn_plan_load_sample (self->plan, settings->data, settings->inputs, self->inputs, error);
}

static gboolean
vn_benchmark_job_warm_up (VnJob         *job,
                          GCancellable  *cancellable,
                          GError       **error)
{
  VnBenchmarkJob *self = vn_job_get_state (job, &benchmark_job_kind);

  self->runners[0] = vn_runner_new (self->plan, error);
  return self->runners[0] != NULL && vn_runner_run (self->runners[0], self->inputs, NULL, cancellable, error);
}

static gboolean
vn_benchmark_job_time_one (VnJob         *job,
                           GCancellable  *cancellable,
                           GError       **error)
{
  VnBenchmarkJob *self = vn_job_get_state (job, &benchmark_job_kind);

  return benchmark_job_time_mode (self, VN_BENCHMARK_ONE, 1, cancellable, error);
}

static gboolean
vn_benchmark_job_time_many (VnJob         *job,
                            GCancellable  *cancellable,
                            GError       **error)
{
  VnBenchmarkJob *self = vn_job_get_state (job, &benchmark_job_kind);

  return benchmark_job_time_mode (self, VN_BENCHMARK_MANY, self->settings.n_threads, cancellable, error);
}

static const VnStage stages[] = {
  { "plan",    N_("Planning"),                     5,  NULL, vn_benchmark_job_plan },
  { "warm-up", N_("Warming up"),                   5,  NULL, vn_benchmark_job_warm_up },
  { "one",     N_("One thread"),                   30, NULL, vn_benchmark_job_time_one },
  { "many",    N_("All threads, one sample"),      30, NULL, vn_benchmark_job_time_many },
  { "at-once", N_("All threads, one sample each"), 30, NULL, vn_benchmark_job_time_at_once },
  { NULL },
};

static void
benchmark_job_clear (gpointer data)
{
  VnBenchmarkJob *self = data;

  benchmark_job_clear_measured (self);
  vn_model_unref (self->settings.model);
  g_clear_pointer (&self->settings.data, vn_data_spec_free);
  g_clear_pointer (&self->settings.inputs, g_hash_table_unref);
  g_clear_pointer (&self->settings.input_shapes, g_hash_table_unref);
  g_clear_pointer (&self->result, vn_benchmark_free);
}

static const VnJobKind benchmark_job_kind = {
  .id = VN_JOB_BENCHMARK,
  .state_size = sizeof (VnBenchmarkJob),
  .stages = stages,
  .clear = benchmark_job_clear,
};

/**
 * vn_benchmark_job_new:
 * @settings: copied, with references to what it points to
 *
 * Returns: (transfer full): a job that measures how long a network takes, and each of its nodes
 */
VnJob *
vn_benchmark_job_new (const VnBenchmarkSettings *settings)
{
  VnJob *job;
  VnBenchmarkJob *self;

  g_return_val_if_fail (settings != NULL, NULL);

  job = vn_job_new (&benchmark_job_kind);
  self = vn_job_get_state (job, &benchmark_job_kind);
  self->job = job;
  self->settings = *settings;
  vn_model_ref (settings->model);
  vn_job_add_source (job, settings->model);
  self->settings.data = settings->data != NULL ? vn_data_spec_copy (settings->data) : NULL;
  self->settings.inputs = settings->inputs != NULL ? g_hash_table_ref (settings->inputs) : NULL;
  self->settings.input_shapes = settings->input_shapes != NULL ? g_hash_table_ref (settings->input_shapes) : NULL;
  if (settings->n_threads == 0)
    self->settings.n_threads = vn_parallel_default_threads ();
  return job;
}

VnBenchmark *
vn_benchmark_job_get_result (VnJob *job)
{
  VnBenchmarkJob *self;

  g_return_val_if_fail (vn_job_is (job, VN_JOB_BENCHMARK), NULL);

  self = vn_job_get_state (job, &benchmark_job_kind);
  return self->result;
}
