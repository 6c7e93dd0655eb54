/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The job of “evaluate”: networks side by side on samples whose classes are known. */
#include "vn-jobs.h"

#include "vn-data-check.h"
#include "vn-error.h"
#include "vn-find-parts.h"
#include "vn-i18n.h"
#include "vn-task-reader.h"

typedef struct
{
  VnEvaluateSettings  settings;      /* owns what it points to */
  VnContestant       *contestants;
  VnLabels           *labels;        /* nullable: before the samples are open */
  VnUserMetric       *metric;        /* nullable: none was asked for, or not yet there */
  VnScore            *scores;
  VnParts            *parts;         /* nullable: of the outputs of the first network, as its samples show them */
  VnNotes            *notes;
} VnEvaluateJob;

static const VnJobKind evaluate_job_kind;

static gboolean
evaluate_job_same_inputs (const VnModel *a,
                          const VnModel *b,
                          GHashTable    *shapes)
{
  guint n_a, n_b;
  VnInputSpec *of_a = vn_model_dup_input_specs (a, shapes, &n_a);
  VnInputSpec *of_b = vn_model_dup_input_specs (b, shapes, &n_b);
  gboolean same = n_a == n_b;

  for (guint i = 0; same && i < n_a; i++)
    same = g_str_equal (of_a[i].name, of_b[i].name) && of_a[i].dtype == of_b[i].dtype && of_a[i].turned == of_b[i].turned &&
           vn_shape_equal (&of_a[i].shape, &of_b[i].shape);
  vn_input_specs_free (of_a, n_a);
  vn_input_specs_free (of_b, n_b);
  return same;
}

/* Networks that take the same share the samples, which are then read once. */
static gboolean
evaluate_job_open_contestant (VnEvaluateJob  *self,
                              guint           k,
                              GCancellable   *cancellable,
                              GError        **error)
{
  const VnEvaluateSettings *settings = &self->settings;
  VnContestant *own = &self->contestants[k];

  own->model = vn_model_to_runnable (settings->models->pdata[k], cancellable, error);
  if (own->model == NULL)
    return FALSE;
  for (guint i = 0; i < k; i++)
    if (evaluate_job_same_inputs (own->model, self->contestants[i].model, settings->input_shapes))
      {
        own->dataset = vn_dataset_ref (self->contestants[i].dataset);
        own->shapes = self->contestants[i].shapes != NULL ? g_hash_table_ref (self->contestants[i].shapes) : NULL;
        return TRUE;
      }
  own->dataset = vn_model_open_data (own->model, settings->data, settings->input_shapes, &own->shapes,
                                     k == 0 ? self->notes : NULL, error);
  if (own->dataset == NULL)
    g_prefix_error (error, "“%s”: ", own->model->path != NULL ? own->model->path : own->model->graph->name);
  return own->dataset != NULL;
}

/* What keeps known classes from being counted. */
static void
evaluate_job_note_labels (VnEvaluateJob  *self,
                          const VnLabels *labels)
{
  for (guint k = 0; k < self->settings.models->len; k++)
    {
      const VnScore *score = &self->scores[k];
      const char *path = self->contestants[k].model->path;

      if (labels->max >= 0 && score->n > 0 && score->n_labelled == 0 && labels->n_classes > 0 && score->n_outputs > 0)
        vn_notes_add (self->notes, VN_NOTE_WARNING, "labels-unusable", path,
                      ngettext ("The samples have %u class, but the model has %zu: a list of its classes is needed to "
                                "match them",
                                "The samples have %u classes, but the model has %zu: a list of its classes is needed "
                                "to match them", labels->n_classes), labels->n_classes, score->n_outputs);
      else if (labels->max >= 0 && score->n_labelled < score->n && (gsize) labels->max >= score->n_outputs)
        vn_notes_add (self->notes, VN_NOTE_WARNING, "labels-unusable", path,
                      _("There are samples of class %d, but the model has only %zu classes"), labels->max, score->n_outputs);
      else if (score->n_labelled > 0 && score->n_outputs == 1001 && (labels->n_classes == 1000 || labels->n_classes == 0) &&
               labels->max < 1000)
        vn_notes_add (self->notes, VN_NOTE_INFO, "labels-background", path,
                      _("The first of 1001 outputs is treated as background: class 0 is output 1"));
    }
}

/* What can be said of outputs that look like nothing known. */
static void
evaluate_job_note_task (VnEvaluateJob *self)
{
  const VnScore *first = &self->scores[0];
  const char *path = self->contestants[0].model->path;

  if (first->n == 0)
    return;
  if (self->metric != NULL && first->metrics->len == 0)
    vn_notes_add (self->notes, VN_NOTE_WARNING, "nothing-measured", self->settings.metric,
                  ngettext ("The metric returned no number for the %u sample",
                            "The metric returned no number for any of the %u samples", first->n), first->n);
  vn_task_note_unread (first->kept.task, self->settings.task, path, self->notes);
  if (first->kept.task == VN_TASK_OTHER && self->metric == NULL && self->settings.task == NULL)
    vn_notes_add (self->notes, VN_NOTE_INFO, "task-unknown", path,
                  _("The outputs do not match any known task, such as classes, detections, a mask or text: only their "
                    "error is reported. Use a custom metric to measure what matters"));
  for (guint k = 1; k < self->settings.models->len; k++)
    {
      const VnKept *kept = &self->scores[k].kept;

      if (kept->n_samples > 0 && kept->n == 0)
        {
          vn_notes_add (self->notes, VN_NOTE_INFO, "nothing-to-keep", path,
                        _("Its outputs for these samples contain nothing to compare. %s"), vn_task_get_rule (kept->task));
          return;
        }
    }
}

/* Why the first sample that failed could not be read. */
static const char *
evaluate_job_find_reason (VnNotes *notes)
{
  for (guint i = 0; i < vn_notes_get_n (notes); i++)
    if (g_str_equal (vn_notes_get (notes, i)->code, "sample-unreadable"))
      return vn_notes_get (notes, i)->text;
  return "?";
}

static gboolean
vn_evaluate_job_prepare (VnJob         *job,
                         GCancellable  *cancellable,
                         GError       **error)
{
  VnEvaluateJob *self = vn_job_get_state (job, &evaluate_job_kind);

  for (guint k = 0; k < self->settings.models->len; k++)
    if (!evaluate_job_open_contestant (self, k, cancellable, error))
      return FALSE;
  if (self->settings.metric != NULL &&
      (self->metric = vn_user_metric_new (self->settings.metric, self->settings.python, self->settings.metric_timeout,
                                          cancellable,
                                          error)) == NULL)
    return FALSE;
  self->labels = vn_labels_new (self->contestants[0].dataset, self->settings.models->pdata[0], self->settings.labels,
                                self->notes, error);
  return self->labels != NULL;
}

static gboolean
vn_evaluate_job_check (VnJob         *job,
                       GCancellable  *cancellable,
                       GError       **error)
{
  VnEvaluateJob *self = vn_job_get_state (job, &evaluate_job_kind);
  const VnContestant *first = &self->contestants[0];

  return vn_data_check (self->settings.models->pdata[0], first->model, first->shapes, first->dataset, FALSE, self->notes,
                        cancellable, error);
}

/* There is something to compare, output by output, only where there are several networks. */
static gboolean
evaluate_job_find_parts (VnEvaluateJob           *self,
                         const VnCompareOptions  *options,
                         GCancellable            *cancellable,
                         GError                 **error)
{
  const VnContestant *first = &self->contestants[0];
  const VnSamples run = { .shapes = first->shapes, .dataset = first->dataset, .indices = options->samples,
                          .n = options->n_samples,
                             .n_threads = options->n_threads };

  if (self->settings.models->len < 2)
    return TRUE;
  self->parts = vn_find_parts (first->model, &run, NULL, cancellable, error);
  return self->parts != NULL;
}

static gboolean
vn_evaluate_job_evaluate (VnJob         *job,
                          GCancellable  *cancellable,
                          GError       **error)
{
  VnEvaluateJob *self = vn_job_get_state (job, &evaluate_job_kind);
  VnProgress progress = vn_job_get_reporter (job);
  g_autoptr(GArray) samples = g_array_new (FALSE, FALSE, sizeof (guint));
  VnCompareOptions options = { .n_threads = self->settings.n_threads, .task = self->settings.task };

  for (guint i = 0; i < vn_dataset_get_n (self->contestants[0].dataset); i++)
    g_array_append_val (samples, i);
  options.samples = (const guint *) (gpointer) samples->data;
  options.n_samples = samples->len;
  if (!evaluate_job_find_parts (self, &options, cancellable, error))
    return FALSE;
  options.parts = self->parts;
  if (!vn_evaluate (self->contestants, self->settings.models->len, self->labels, &options, self->metric, self->scores, &progress,
                    self->notes,
                    cancellable, error))
    return FALSE;
  if (self->scores[0].n == 0)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA,
                   ngettext ("The %u sample could not be used: %s",
                             "None of the %u samples could be used; the first one: %s", samples->len), samples->len,
                   evaluate_job_find_reason (self->notes));
      return FALSE;
    }
  evaluate_job_note_labels (self, self->labels);
  evaluate_job_note_task (self);
  vn_notes_sort (self->notes);
  return TRUE;
}

static const VnStage stages[] = {
  { "prepare",  N_("Preparing"),            2,  NULL,                        vn_evaluate_job_prepare },
  { "check",    N_("Checking the samples"), 3,  NULL, vn_evaluate_job_check },
  { "evaluate", N_("Evaluating"),           95, NULL,                        vn_evaluate_job_evaluate },
  { NULL },
};

static void
evaluate_job_clear (gpointer data)
{
  VnEvaluateJob *self = data;

  for (guint k = 0; k < self->settings.models->len; k++)
    {
      g_clear_pointer (&self->contestants[k].model, vn_model_unref);
      g_clear_pointer (&self->contestants[k].shapes, g_hash_table_unref);
      g_clear_pointer (&self->contestants[k].dataset, vn_dataset_unref);
    }
  g_clear_pointer (&self->labels, vn_labels_free);
  for (guint k = 0; k < self->settings.models->len; k++)
    vn_score_clear (&self->scores[k]);
  g_clear_pointer (&self->metric, vn_user_metric_free);
  g_clear_pointer (&self->parts, vn_parts_unref);
  g_free (self->contestants);
  g_free (self->scores);
  g_ptr_array_unref (self->settings.models);
  vn_data_spec_free (self->settings.data);
  g_free ((char *) self->settings.labels);
  g_free ((char *) self->settings.task);
  g_free ((char *) self->settings.metric);
  g_free ((char *) self->settings.python);
  g_clear_pointer (&self->settings.input_shapes, g_hash_table_unref);
  vn_notes_unref (self->notes);
}

static const VnJobKind evaluate_job_kind = {
  .id = VN_JOB_EVALUATE,
  .state_size = sizeof (VnEvaluateJob),
  .stages = stages,
  .clear = evaluate_job_clear,
};

/**
 * vn_evaluate_job_new:
 * @settings: copied, with references to what it points to
 *
 * Returns: (transfer full): a job that runs several networks on the same samples
 */
VnJob *
vn_evaluate_job_new (const VnEvaluateSettings *settings)
{
  VnJob *job;
  VnEvaluateJob *self;

  g_return_val_if_fail (settings != NULL, NULL);

  job = vn_job_new (&evaluate_job_kind);
  self = vn_job_get_state (job, &evaluate_job_kind);
  self->notes = vn_notes_new ();
  self->settings = *settings;
  g_ptr_array_ref (settings->models);
  self->settings.data = vn_data_spec_copy (settings->data);
  self->settings.labels = g_strdup (settings->labels);
  self->settings.task = g_strdup (settings->task);
  self->settings.metric = g_strdup (settings->metric);
  self->settings.python = g_strdup (settings->python);
  self->settings.input_shapes = settings->input_shapes != NULL ? g_hash_table_ref (settings->input_shapes) : NULL;
  self->contestants = g_new0 (VnContestant, MAX (settings->models->len, 1));
  self->scores = g_new0 (VnScore, MAX (settings->models->len, 1));
  for (guint i = 0; i < settings->models->len; i++)
    vn_job_add_source (job, g_ptr_array_index (settings->models, i));
  return job;
}

/**
 * vn_evaluate_job_get_scores:
 *
 * Returns: (transfer none): one for each model, in their order, once the job has succeeded
 */
const VnScore *
vn_evaluate_job_get_scores (VnJob *job)
{
  VnEvaluateJob *self;

  g_return_val_if_fail (vn_job_is (job, VN_JOB_EVALUATE), NULL);

  self = vn_job_get_state (job, &evaluate_job_kind);
  return self->scores;
}

VnNotes *
vn_evaluate_job_get_notes (VnJob *job)
{
  VnEvaluateJob *self;

  g_return_val_if_fail (vn_job_is (job, VN_JOB_EVALUATE), NULL);

  self = vn_job_get_state (job, &evaluate_job_kind);
  return self->notes;
}
