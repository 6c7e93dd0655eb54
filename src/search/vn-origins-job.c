/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The job that finds where the error of a run starts, and why, when the result of the run is already in use. */
#include "vn-origins-job.h"

#include "vn-diagnose.h"
#include "vn-i18n.h"
#include "vn-jobs.h"

typedef struct
{
  VnJob         *run;
  VnRun         *base;      /* nullable */
  VnRun         *result;
  GMutex         lock;
  VnContributions *so_far;   /* nullable; under the lock */
} VnOriginsJob;

static const VnJobKind origins_job_kind;

static gboolean
vn_origins_job_wants_run (VnJob *job)
{
  VnOriginsJob *self = vn_job_get_state (job, &origins_job_kind);

  return vn_quantize_job_get_result (self->run) == NULL;
}

static gboolean
vn_origins_job_quantize (VnJob         *job,
                         GCancellable  *cancellable,
                         GError       **error)
{
  VnOriginsJob *self = vn_job_get_state (job, &origins_job_kind);

  return vn_job_run (self->run, cancellable, error);
}

static gboolean
vn_origins_job_wants_origins (VnJob *job)
{
  VnOriginsJob *self = vn_job_get_state (job, &origins_job_kind);
  VnRun *result = vn_quantize_job_get_result (self->run);

  return result == NULL || result->errors != NULL;
}

static void
origins_job_take (VnContributions *so_far,
                  gpointer         data)
{
  VnOriginsJob *self = data;

  g_mutex_lock (&self->lock);
  g_clear_pointer (&self->so_far, vn_contributions_unref);
  self->so_far = vn_contributions_ref (so_far);
  g_mutex_unlock (&self->lock);
}

static gboolean
vn_origins_job_measure (VnJob         *job,
                        GCancellable  *cancellable,
                        GError       **error)
{
  VnOriginsJob *self = vn_job_get_state (job, &origins_job_kind);
  VnProgress progress = vn_job_get_reporter (job);
  VnContributionOptions options = { .found = origins_job_take, .data = self };
  g_autoptr(VnContributions) contributions = NULL;
  g_autoptr(VnDiagnosis) diagnosis = NULL;
  g_autoptr(VnRun) marked = NULL;

  contributions = vn_quantize_job_measure_origins (self->run, &options, &progress, cancellable, error);
  if (contributions == NULL)
    return FALSE;
  origins_job_take (contributions, self);
  marked = vn_run_with (self->base != NULL ? self->base : vn_quantize_job_get_result (self->run), VN_FACET_CONTRIBUTIONS,
                        contributions);
  diagnosis = vn_diagnose (marked);
  self->result = vn_run_with (marked, VN_FACET_DIAGNOSIS, diagnosis);
  return TRUE;
}

static const VnStage stages[] = {
  { "quantize", N_("Quantizing"),                40, vn_origins_job_wants_run,     vn_origins_job_quantize },
  { "origins",  N_("Finding error sources"), 60, vn_origins_job_wants_origins, vn_origins_job_measure },
  { NULL },
};

static void
origins_job_clear (gpointer data)
{
  VnOriginsJob *self = data;

  g_clear_object (&self->run);
  g_clear_pointer (&self->base, vn_run_unref);
  g_clear_pointer (&self->result, vn_run_unref);
  g_clear_pointer (&self->so_far, vn_contributions_unref);
  g_mutex_clear (&self->lock);
}

static const VnJobKind origins_job_kind = {
  .id = VN_JOB_ORIGINS,
  .state_size = sizeof (VnOriginsJob),
  .stages = stages,
  .clear = origins_job_clear,
};

/**
 * vn_origins_job_new:
 * @run: has succeeded, or has not been started: then it is run first
 * @result: (nullable): what gets the contributions; of @run, or of one with the same settings. %NULL: that of @run
 *
 * Returns: (transfer full): the job; it keeps @run and @result
 */
VnJob *
vn_origins_job_new (VnJob *run,
                    VnRun *result)
{
  VnJob *job;
  VnOriginsJob *self;

  g_return_val_if_fail (vn_job_is (run, VN_JOB_QUANTIZE), NULL);

  job = vn_job_new (&origins_job_kind);
  self = vn_job_get_state (job, &origins_job_kind);
  g_mutex_init (&self->lock);
  self->run = g_object_ref (run);
  self->base = result != NULL ? vn_run_ref (result) : NULL;
  vn_job_add_source (job, result != NULL ? result->source : NULL);
  return job;
}

/**
 * vn_origins_job_get_result:
 *
 * Returns: (transfer none) (nullable): after success, the result together with where its error starts; %NULL if the run had no
 *   samples to measure on
 */
VnRun *
vn_origins_job_get_result (VnJob *job)
{
  VnOriginsJob *self;

  g_return_val_if_fail (vn_job_is (job, VN_JOB_ORIGINS), NULL);

  self = vn_job_get_state (job, &origins_job_kind);
  return self->result;
}

/**
 * vn_origins_job_dup_contributions:
 *
 * What is known at this time: estimates first, then more and more is measured; told by “progress”. May be called from any thread.
 *
 * Returns: (transfer full) (nullable): %NULL before there is anything
 */
VnContributions *
vn_origins_job_dup_contributions (VnJob *job)
{
  VnOriginsJob *self;
  VnContributions *so_far;

  g_return_val_if_fail (vn_job_is (job, VN_JOB_ORIGINS), NULL);

  self = vn_job_get_state (job, &origins_job_kind);
  g_mutex_lock (&self->lock);
  so_far = self->so_far != NULL ? vn_contributions_ref (self->so_far) : NULL;
  g_mutex_unlock (&self->lock);
  return so_far;
}
