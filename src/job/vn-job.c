/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What all jobs have in common: they run their stages one after the other, on any thread, and say how far they are. */
#include "vn-job.h"

#include "vn-file.h"
#include "vn-i18n.h"
#include "vn-memory.h"
#include "vn-thread.h"

typedef struct
{
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
  double        stage_start_progress;
  gint64        stage_start;  /* monotonic, microseconds; 0: not started */
  GArray       *timings;      /* of VnTiming, stage by stage */
  gint          notify_queued;        /* atomic */
} VnJobPrivate;

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE (VnJob, vn_job, G_TYPE_OBJECT)

enum { PROP_PROGRESS = 1, N_PROPS };

static GParamSpec *props[N_PROPS];

static VnJobPrivate *
job_get_private (VnJob *self)
{
  return vn_job_get_instance_private (self);
}

static gboolean job_run_stages (VnJob         *self,
                                GCancellable  *cancellable,
                                GError       **error);

static void
vn_job_finalize (GObject *object)
{
  VnJobPrivate *priv = job_get_private (VN_JOB (object));

  g_main_context_unref (priv->context);
  g_mutex_clear (&priv->lock);
  g_array_unref (priv->timings);
  g_ptr_array_unref (priv->sources);
  g_free (priv->title);
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
  klass->run = job_run_stages;
  props[PROP_PROGRESS] = g_param_spec_double ("progress", NULL, NULL, 0, 1, 0, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (object_class, N_PROPS, props);
}

static void
vn_job_init (VnJob *self)
{
  VnJobPrivate *priv = job_get_private (self);

  priv->context = g_main_context_ref_thread_default ();
  g_mutex_init (&priv->lock);
  priv->timings = g_array_new (FALSE, FALSE, sizeof (VnTiming));
  priv->sources = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_model_unref);
}

static gboolean
job_notify_progress_cb (gpointer data)
{
  VnJob *self = data;

  g_atomic_int_set (&job_get_private (self)->notify_queued, FALSE);
  g_object_notify_by_pspec (G_OBJECT (self), props[PROP_PROGRESS]);
  return G_SOURCE_REMOVE;
}

/* Many calls between two turns of the main loop cost one notification. An attached source, not
 * g_main_context_invoke(): that could run the callback on the worker. */
static void
job_queue_notify (VnJob *self)
{
  VnJobPrivate *priv = job_get_private (self);
  g_autoptr(GSource) source = NULL;

  if (!g_atomic_int_compare_and_exchange (&priv->notify_queued, FALSE, TRUE))
    return;
  source = g_idle_source_new ();
  g_source_set_priority (source, G_PRIORITY_DEFAULT);
  g_source_set_callback (source, job_notify_progress_cb, g_object_ref (self), g_object_unref);
  g_source_attach (source, priv->context);
}

static void
job_report_cb (gpointer    data,
               const char *unit,
               guint64     done,
               guint64     total)
{
  VnJob *self = data;
  VnJobPrivate *priv = job_get_private (self);
  double fraction = total > 0 ? CLAMP ((double) done / (double) total, 0, 1) : 0;

  g_mutex_lock (&priv->lock);
  priv->unit = unit;
  priv->done = done;
  priv->total = total;
  /* Workers report in any order; the bar never runs back. */
  priv->progress = MAX (priv->progress, priv->from + fraction * (priv->to - priv->from));
  g_mutex_unlock (&priv->lock);
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
job_sum_weights (VnJob         *self,
                 const VnStage *stage)
{
  double sum = 0;

  for (; stage->id != NULL; stage++)
    if (stage->is_wanted == NULL || stage->is_wanted (self))
      sum += stage->weight;
  return sum;
}

/* Gives the stage its share of what is left, as the stages behind it are now known. */
static void
job_begin_stage (VnJob         *self,
                 const VnStage *stage)
{
  VnJobPrivate *priv = job_get_private (self);
  double share = stage->weight / MAX (stage->weight + job_sum_weights (self, stage + 1), 1e-9);

  g_mutex_lock (&priv->lock);
  priv->stage = _(stage->title);
  priv->unit = NULL;
  priv->done = priv->total = 0;
  priv->progress = MAX (priv->progress, priv->to);
  priv->from = priv->progress;
  priv->to = priv->from + share * (1 - priv->from);
  priv->stage_start_progress = priv->from;
  priv->stage_start = g_get_monotonic_time ();
  g_mutex_unlock (&priv->lock);
  job_queue_notify (self);
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

  job_begin_stage (self, stage);
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
  VnJobPrivate *priv = job_get_private (self);

  g_array_set_size (priv->timings, 0);
  for (const VnStage *stage = stages; stage->id != NULL; stage++)
    {
      VnTiming timing = { stage->id, stage->title, 0 };

      g_array_append_val (priv->timings, timing);
    }
}

/* VnJobClass.run of jobs that need no more. */
static gboolean
job_run_stages (VnJob         *self,
                GCancellable  *cancellable,
                GError       **error)
{
  VnJobPrivate *priv = job_get_private (self);
  const VnStage *stages = VN_JOB_GET_CLASS (self)->stages;

  job_begin_timings (self, stages);
  for (guint i = 0; stages[i].id != NULL; i++)
    if ((stages[i].is_wanted == NULL || stages[i].is_wanted (self)) &&
        !job_run_stage (self, &stages[i], &g_array_index (priv->timings, VnTiming, i), cancellable, error))
      return FALSE;
  return TRUE;
}

static void
job_end_stages (VnJob *self)
{
  VnJobPrivate *priv = job_get_private (self);

  g_mutex_lock (&priv->lock);
  priv->stage = _("Done");
  priv->unit = NULL;
  priv->done = priv->total = 0;
  priv->progress = priv->from = priv->to = 1;
  g_mutex_unlock (&priv->lock);
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

  return g_array_copy (job_get_private (self)->timings);
}

void
vn_job_set_title (VnJob      *self,
                  const char *title)
{
  VnJobPrivate *priv;

  g_return_if_fail (VN_IS_JOB (self));

  priv = job_get_private (self);
  g_free (priv->title);
  priv->title = g_strdup (title);
}

const char *
vn_job_get_title (VnJob *self)
{
  VnJobPrivate *priv;

  g_return_val_if_fail (VN_IS_JOB (self), NULL);

  priv = job_get_private (self);
  return priv->title != NULL ? priv->title : "";
}

double
vn_job_get_progress (VnJob *self)
{
  VnJobPrivate *priv;
  double progress;

  g_return_val_if_fail (VN_IS_JOB (self), 0);

  priv = job_get_private (self);
  g_mutex_lock (&priv->lock);
  progress = priv->progress;
  g_mutex_unlock (&priv->lock);
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
  VnJobPrivate *priv;
  char *stage;

  g_return_val_if_fail (VN_IS_JOB (self), NULL);

  priv = job_get_private (self);
  g_mutex_lock (&priv->lock);
  stage = g_strdup (priv->stage != NULL ? priv->stage : vn_job_get_title (self));
  g_mutex_unlock (&priv->lock);
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
  VnJobPrivate *priv;
  char *detail = NULL;

  g_return_val_if_fail (VN_IS_JOB (self), NULL);

  priv = job_get_private (self);
  g_mutex_lock (&priv->lock);
  if (priv->unit != NULL && priv->total > 0)
    /* Translators: 62 of 100 samples */
    detail = g_strdup_printf (_("%llu of %llu %s"), (unsigned long long) priv->done, (unsigned long long) priv->total,
                              priv->unit);
  g_mutex_unlock (&priv->lock);
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
  VnJobPrivate *priv;

  g_return_if_fail (VN_IS_JOB (self));

  priv = job_get_private (self);
  g_mutex_lock (&priv->lock);
  *done = priv->done;
  *total = priv->total;
  g_mutex_unlock (&priv->lock);
}

/**
 * vn_job_get_seconds_left:
 *
 * Returns: an estimate from the speed of the present stage, negative while there is nothing to go by
 */
double
vn_job_get_seconds_left (VnJob *self)
{
  VnJobPrivate *priv;
  double left = -1;

  g_return_val_if_fail (VN_IS_JOB (self), 0);

  priv = job_get_private (self);
  g_mutex_lock (&priv->lock);
  if (priv->stage_start > 0)
    {
      double seconds = (double) (g_get_monotonic_time () - priv->stage_start) / G_USEC_PER_SEC;
      double gained = priv->progress - priv->stage_start_progress;

      if (seconds > 0.3 && gained > 0.01)
        left = seconds / gained * (1 - priv->progress);
    }
  g_mutex_unlock (&priv->lock);
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
    g_ptr_array_add (job_get_private (self)->sources, vn_model_ref (model));
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
  VnJobPrivate *priv;

  g_return_val_if_fail (VN_IS_JOB (self), FALSE);

  priv = job_get_private (self);
  if (!vn_file_check_lost (priv->lost, error))
    return FALSE;
  for (guint i = 0; i < priv->sources->len; i++)
    if (!vn_model_check_files (g_ptr_array_index (priv->sources, i), error))
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
  job_get_private (self)->lost = vn_file_mark_lost ();
  if (VN_JOB_GET_CLASS (self)->run (self, cancellable, &reason))
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
