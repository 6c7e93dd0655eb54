/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What all jobs have in common: they run their stages one after the other, on any thread, and say how far they are. */
#include "vn-job.h"

#include "vn-file.h"
#include "vn-i18n.h"
#include "vn-memory.h"
#include "vn-thread.h"
#include "vn-time-left.h"

struct _VnJob
{
  GObject       parent_instance;
  const VnJobKind *kind;
  gpointer      state;        /* of its kind */
  GMainContext *context;      /* in which the job was made */
  GMutex        lock;
  char         *title;
  GPtrArray    *sources;      /* of VnModel */
  guint         lost;         /* vn_file_mark_lost() when it began */
  const char   *stage;        /* static, translated: title of the present one */
  const char   *unit;         /* static, translated */
  guint64       done, total;
  double        from, to;     /* of the whole job */
  double        progress;
  const VnStage *present;     /* nullable: the present stage */
  guint         part;         /* of it */
  VnTimeLeft    left;
  GArray       *timings;      /* of VnTiming, stage by stage */
  gint          notify_queued;        /* atomic */
};

G_DEFINE_FINAL_TYPE (VnJob, vn_job, G_TYPE_OBJECT)

/* @title: (nullable): the job says it by vn_job_set_title(); @failure: (nullable): the error says it all */
static const struct
{
  const char *title, *failure;
} job_kinds[] = {
#define VN_JOB_KIND(id, title, failure) { title, failure },
#include "vn-job-kinds.def"
#undef VN_JOB_KIND
};

enum { PROP_PROGRESS = 1, N_PROPS };

static GParamSpec *props[N_PROPS];

static void
vn_job_finalize (GObject *object)
{
  VnJob *self = VN_JOB (object);

  if (self->state != NULL)
    self->kind->clear (self->state);
  g_free (self->state);
  g_main_context_unref (self->context);
  g_mutex_clear (&self->lock);
  g_array_unref (self->timings);
  g_ptr_array_unref (self->sources);
  g_free (self->title);
  G_OBJECT_CLASS (vn_job_parent_class)->finalize (object);
}

static void
vn_job_get_property (GObject    *object,
                     guint       id,
                     GValue     *value,
                     GParamSpec *pspec)
{
  if (id == PROP_PROGRESS)
    g_value_set_double (value, vn_job_get_progress (VN_JOB (object)));
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
vn_job_class_init (VnJobClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->finalize = vn_job_finalize;
  object_class->get_property = vn_job_get_property;
  props[PROP_PROGRESS] = g_param_spec_double ("progress", NULL, NULL, 0, 1, 0, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (object_class, N_PROPS, props);
}

static void
vn_job_init (VnJob *self)
{
  self->context = g_main_context_ref_thread_default ();
  g_mutex_init (&self->lock);
  self->timings = g_array_new (FALSE, FALSE, sizeof (VnTiming));
  self->sources = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_model_unref);
}

/* ---- its kind ---- */

/**
 * vn_job_new:
 * @kind: what it does
 *
 * Returns: (transfer full): a job whose state is all zeros
 */
VnJob *
vn_job_new (const VnJobKind *kind)
{
  VnJob *self;

  g_return_val_if_fail (kind != NULL && kind->id < VN_N_JOB_KINDS && kind->stages != NULL && kind->clear != NULL, NULL);

  self = g_object_new (VN_TYPE_JOB, NULL);
  self->kind = kind;
  self->state = g_malloc0 (kind->state_size);
  return self;
}

/**
 * vn_job_get_state:
 * @kind: of which it must be
 *
 * Returns: (transfer none): what the stages fill, for the functions of its kind; as long as the job
 */
gpointer
vn_job_get_state (VnJob           *self,
                  const VnJobKind *kind)
{
  g_return_val_if_fail (VN_IS_JOB (self) && self->kind == kind, NULL);

  return self->state;
}

/**
 * vn_job_is:
 * @self: (nullable): a job, or none
 *
 * Returns: whether it is a job of the kind @id
 */
gboolean
vn_job_is (VnJob   *self,
           VnJobId  id)
{
  g_return_val_if_fail (self == NULL || VN_IS_JOB (self), FALSE);

  return self != NULL && self->kind->id == id;
}

VnJobId
vn_job_get_id (VnJob *self)
{
  g_return_val_if_fail (VN_IS_JOB (self), VN_N_JOB_KINDS);

  return self->kind->id;
}

/**
 * vn_job_can_be_left:
 *
 * A job hears that it is cancelled between its steps, and of a large network one can take seconds.
 *
 * Returns: whether nothing is lost if the process ends before that
 */
gboolean
vn_job_can_be_left (VnJob *self)
{
  g_return_val_if_fail (VN_IS_JOB (self), FALSE);

  return self->kind->can_be_left != NULL && self->kind->can_be_left (self);
}

/**
 * vn_job_id_get_failure:
 *
 * Returns: (transfer none): what heads the error of a job of this kind, translated: "Quantization failed"; empty: nothing does
 */
const char *
vn_job_id_get_failure (VnJobId id)
{
  g_return_val_if_fail (id < VN_N_JOB_KINDS, "");

  return job_kinds[id].failure != NULL ? _(job_kinds[id].failure) : "";
}

/* ---- progress ---- */

static gboolean
job_notify_progress_cb (gpointer data)
{
  VnJob *self = data;

  g_atomic_int_set (&self->notify_queued, FALSE);
  g_object_notify_by_pspec (G_OBJECT (self), props[PROP_PROGRESS]);
  return G_SOURCE_REMOVE;
}

/* Many calls between two turns of the main loop cost one notification. An attached source, not
 * g_main_context_invoke(): that could run the callback on the worker. */
static void
job_queue_notify (VnJob *self)
{
  g_autoptr(GSource) source = NULL;

  if (!g_atomic_int_compare_and_exchange (&self->notify_queued, FALSE, TRUE))
    return;
  source = g_idle_source_new ();
  g_source_set_priority (source, G_PRIORITY_DEFAULT);
  g_source_set_callback (source, job_notify_progress_cb, g_object_ref (self), g_object_unref);
  g_source_attach (source, self->context);
}

static void
job_report_cb (gpointer    data,
               const char *unit,
               guint64     done,
               guint64     total)
{
  VnJob *self = data;
  double fraction = total > 0 ? CLAMP ((double) done / (double) total, 0, 1) : 0;

  g_mutex_lock (&self->lock);
  self->unit = unit;
  self->done = done;
  self->total = total;
  /* Workers report in any order; the bar never runs back. */
  self->progress = MAX (self->progress, self->from + fraction * (self->to - self->from));
  if (total > 0 && (done > 0 || self->left.fraction >= 0))
    vn_time_left_report (&self->left, fraction);
  g_mutex_unlock (&self->lock);
  job_queue_notify (self);
}

/**
 * vn_job_get_reporter:
 *
 * Returns: what the core's functions take; fills the present stage. Valid as long as the job.
 */
VnProgress
vn_job_get_reporter (VnJob *self)
{
  g_return_val_if_fail (VN_IS_JOB (self), (VnProgress) { NULL });

  return (VnProgress) { job_report_cb, self };
}

/* ---- stages ---- */

/* Stages that have taken so long may have had much memory, and giving it back takes no time beside that. */
#define LONG_STAGE (G_USEC_PER_SEC / 4)

static double
job_get_now (void)
{
  return (double) g_get_monotonic_time () / G_USEC_PER_SEC;
}

/* Gives what begins its share of what is left, as the stages behind it are now known. */
static void
job_begin (VnJob         *self,
           const VnStage *stage,
           guint          part)
{
  VnStageCosts costs;

  vn_stage_find_costs (self, self->kind, stage, part, &costs);
  g_mutex_lock (&self->lock);
  self->stage = _(stage->title);
  self->unit = NULL;
  self->done = self->total = 0;
  self->progress = MAX (self->progress, part == 0 ? self->to : self->progress);
  self->from = self->progress;
  self->to = self->from + costs.cost / MAX (costs.cost + costs.rest, 1e-9) * (1 - self->from);
  self->present = stage;
  self->part = part;
  if (costs.known)
    vn_time_left_begin (&self->left, costs.cost, costs.rest, costs.in_seconds, job_get_now ());
  else
    vn_time_left_begin_unknown (&self->left);
  g_mutex_unlock (&self->lock);
  job_queue_notify (self);
}

/**
 * vn_job_begin_part:
 *
 * Called by a stage when it goes on with something else: costs are asked for once more, and what is told from now on is how much
 * of that is done.
 */
void
vn_job_begin_part (VnJob *self)
{
  g_return_if_fail (VN_IS_JOB (self) && self->present != NULL);

  job_begin (self, self->present, self->part + 1);
}

static gboolean
job_run_stage (VnJob          *self,
               const VnStage  *stage,
               VnTiming       *timing,
               GCancellable   *cancellable,
               GError        **error)
{
  gint64 start = g_get_monotonic_time ();
  gboolean ok;

  job_begin (self, stage, 0);
  ok = !g_cancellable_set_error_if_cancelled (cancellable, error) && stage->run (self, cancellable, error);
  if (g_get_monotonic_time () - start > LONG_STAGE)
    vn_memory_give_back ();
  vn_file_release_maps ();
  timing->seconds = (double) (g_get_monotonic_time () - start) / G_USEC_PER_SEC;
  return ok;
}

static void
job_begin_timings (VnJob         *self,
                   const VnStage *stages)
{
  g_array_set_size (self->timings, 0);
  for (const VnStage *stage = stages; stage->id != NULL; stage++)
    {
      VnTiming timing = { stage->id, stage->title, 0 };

      g_array_append_val (self->timings, timing);
    }
}

/**
 * vn_job_run_stages:
 *
 * Runs the stages of the job one after the other; for VnJobKind.run.
 *
 * Returns: %FALSE with the error of the first that fails; the others are not run
 */
gboolean
vn_job_run_stages (VnJob         *self,
                   GCancellable  *cancellable,
                   GError       **error)
{
  const VnStage *stages;

  g_return_val_if_fail (VN_IS_JOB (self), FALSE);

  stages = self->kind->stages;
  job_begin_timings (self, stages);
  for (guint i = 0; stages[i].id != NULL; i++)
    if ((stages[i].is_wanted == NULL || stages[i].is_wanted (self)) &&
        !job_run_stage (self, &stages[i], &g_array_index (self->timings, VnTiming, i), cancellable, error))
      return FALSE;
  return TRUE;
}

static void
job_end_stages (VnJob *self)
{
  g_mutex_lock (&self->lock);
  self->stage = _("Done");
  self->unit = NULL;
  self->done = self->total = 0;
  self->progress = self->from = self->to = 1;
  g_mutex_unlock (&self->lock);
  job_queue_notify (self);
}

/**
 * vn_job_dup_timings:
 *
 * Returns: (transfer full) (element-type VnTiming): how long each stage took, once the job has come to its end; all stages
 *   of its table in their order
 */
GArray *
vn_job_dup_timings (VnJob *self)
{
  g_return_val_if_fail (VN_IS_JOB (self), NULL);

  return g_array_copy (self->timings);
}

/**
 * vn_job_set_title:
 * @title: translated; instead of that of its kind
 */
void
vn_job_set_title (VnJob      *self,
                  const char *title)
{
  g_return_if_fail (VN_IS_JOB (self));

  g_free (self->title);
  self->title = g_strdup (title);
}

const char *
vn_job_get_title (VnJob *self)
{
  g_return_val_if_fail (VN_IS_JOB (self), NULL);

  if (self->title != NULL)
    return self->title;
  return job_kinds[self->kind->id].title != NULL ? _(job_kinds[self->kind->id].title) : "";
}

double
vn_job_get_progress (VnJob *self)
{
  double progress;

  g_return_val_if_fail (VN_IS_JOB (self), 0);

  g_mutex_lock (&self->lock);
  progress = self->progress;
  g_mutex_unlock (&self->lock);
  return progress;
}

/**
 * vn_job_dup_stage:
 *
 * Returns: (transfer full): what the job does now; before its first stage its own title
 */
char *
vn_job_dup_stage (VnJob *self)
{
  char *stage;

  g_return_val_if_fail (VN_IS_JOB (self), NULL);

  g_mutex_lock (&self->lock);
  stage = g_strdup (self->stage != NULL ? self->stage : vn_job_get_title (self));
  g_mutex_unlock (&self->lock);
  return stage;
}

/**
 * vn_job_dup_detail:
 *
 * Returns: (transfer full) (nullable): "62 of 100 samples"
 */
char *
vn_job_dup_detail (VnJob *self)
{
  char *detail = NULL;

  g_return_val_if_fail (VN_IS_JOB (self), NULL);

  g_mutex_lock (&self->lock);
  if (self->unit != NULL && self->total > 0)
    /* Translators: 62 of 100 samples */
    detail = g_strdup_printf (_("%llu of %llu %s"), (unsigned long long) self->done, (unsigned long long) self->total,
                              self->unit);
  g_mutex_unlock (&self->lock);
  return detail;
}

/**
 * vn_job_get_counts:
 * @done: (out): pieces of the present stage that are done
 * @total: (out): of so many; 0: it does not count
 */
void
vn_job_get_counts (VnJob   *self,
                   guint64 *done,
                   guint64 *total)
{
  g_return_if_fail (VN_IS_JOB (self));

  g_mutex_lock (&self->lock);
  *done = self->done;
  *total = self->total;
  g_mutex_unlock (&self->lock);
}

/**
 * vn_job_get_seconds_left:
 *
 * Returns: an estimate from what stages cost and how fast those behind went, negative while there is nothing to go by
 */
double
vn_job_get_seconds_left (VnJob *self)
{
  double left;

  g_return_val_if_fail (VN_IS_JOB (self), 0);

  g_mutex_lock (&self->lock);
  left = vn_time_left_get (&self->left, job_get_now ());
  g_mutex_unlock (&self->lock);
  return left;
}

/**
 * vn_job_add_source:
 * @model: (nullable): what the job reads; %NULL adds nothing
 *
 * If somebody writes into a file of @model, the job fails, whatever it made of it.
 */
void
vn_job_add_source (VnJob   *self,
                   VnModel *model)
{
  g_return_if_fail (VN_IS_JOB (self));

  if (model != NULL)
    g_ptr_array_add (self->sources, vn_model_ref (model));
}

/**
 * vn_job_check_sources:
 *
 * Called at the end of each job; by jobs themselves before they write a file.
 *
 * Returns: %FALSE with %G_FILE_ERROR_IO if what the job maps is not what was on the disk when it was opened: then there is no
 *   result, and what failed may have failed for that
 */
gboolean
vn_job_check_sources (VnJob   *self,
                      GError **error)
{
  g_return_val_if_fail (VN_IS_JOB (self), FALSE);

  if (!vn_file_check_lost (self->lost, error))
    return FALSE;
  for (guint i = 0; i < self->sources->len; i++)
    if (!vn_model_check_files (g_ptr_array_index (self->sources, i), error))
      return FALSE;
  return TRUE;
}

/**
 * vn_job_run:
 *
 * Runs the job in the calling thread.
 *
 * Returns: %FALSE on failure; %G_IO_ERROR_CANCELLED if it was cancelled, %VN_ERROR_MEMORY if memory was refused
 *   meanwhile, even where the job went on without; %G_FILE_ERROR_IO if somebody wrote into what it read
 */
gboolean
vn_job_run (VnJob         *self,
            GCancellable  *cancellable,
            GError       **error)
{
  guint mark = vn_memory_mark ();
  GError *reason = NULL;

  g_return_val_if_fail (VN_IS_JOB (self), FALSE);

  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;
  if (cancellable != NULL)
    g_cancellable_push_current (cancellable);     /* samples that are prepared by a helper process wait for it */
  self->lost = vn_file_mark_lost ();
  if (self->kind->run != NULL ? self->kind->run (self, cancellable, &reason) : vn_job_run_stages (self, cancellable, &reason))
    vn_memory_check (mark, &reason);
  if (cancellable != NULL)
    g_cancellable_pop_current (cancellable);
  if (!g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_CANCELLED) && !vn_job_check_sources (self, error))
    {
      g_clear_error (&reason);
      return FALSE;
    }
  if (reason != NULL)
    {
      g_propagate_error (error, reason);
      return FALSE;
    }
  job_end_stages (self);
  return TRUE;
}

static void
job_run_in_thread (GTask        *task,
                   gpointer      source,
                   gpointer      task_data,
                   GCancellable *cancellable)
{
  GError *error = NULL;

  if (vn_job_run (source, cancellable, &error))
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
}

/**
 * vn_job_start:
 * @callback: (nullable): called on the thread-default main context of the caller; ends with vn_job_finish()
 *
 * Runs the job on a thread of its own.
 */
void
vn_job_start (VnJob               *self,
              GCancellable        *cancellable,
              GAsyncReadyCallback  callback,
              gpointer             user_data)
{
  g_autoptr(GTask) task = NULL;

  g_return_if_fail (VN_IS_JOB (self));

  task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_source_tag (task, vn_job_start);
  /* What run() returned counts, also when somebody cancelled after it had done its work. */
  g_task_set_check_cancellable (task, FALSE);
  vn_thread_run_task (task, job_run_in_thread);
}

gboolean
vn_job_finish (VnJob         *self,
               GAsyncResult  *result,
               GError       **error)
{
  g_return_val_if_fail (VN_IS_JOB (self) && g_task_is_valid (result, self), FALSE);

  return g_task_propagate_boolean (G_TASK (result), error);
}
