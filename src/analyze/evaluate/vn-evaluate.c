/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Networks side by side on the same samples. Each thread runs one sample through all of them; what comes out is kept per
 * sample and added in the order of the samples, so that the numbers do not depend on the threads. */
#include "vn-evaluate.h"

#include "evaluate-metric.h"
#include "evaluate-outputs.h"
#include "evaluate-share.h"
#include "vn-kept-meter.h"
#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-sample-loop.h"
#include "vn-sample-ranks.h"

#include <math.h>
#include <string.h>

#define TOP 5
#define MOST_PROBES 12u      /* samples that are looked at for the task, readable or not */

/* What one network made of one sample. */
typedef struct
{
  gboolean   done;
  gsize      n_outputs;
  int        rank;        /* of the true class, from 0; -1 if that is not known */
} Answer;

typedef struct
{
  const VnContestant     *contestants;
  guint                   n_contestants;
  VnPlan                **plans;           /* by contestant */
  guint                  *places;          /* by contestant: of its inputs among those of a sample */
  GPtrArray              *datasets;        /* of VnDataset: each that contestants have, once */
  const VnLabels         *labels;
  const VnCompareOptions *options;
  const char           ***names;           /* of outputs, by contestant */
  VnKeptMeter            *meter;
  Answer                 *answers;         /* by sample and contestant */
  EvaluateOutputs        *outputs;         /* of these answers */
  VnUserMetric           *metric;          /* nullable */
  VnMetricResult        **measured;        /* by sample and contestant */
  GVariant              **kept;            /* nullable: by sample, for other processes */
  const VnProgress       *progress;
  VnNotes                *notes;
  gboolean                no_others;       /* leave what is not recognized */
  guint                   first;           /* of the samples that run now: those of folds come last */
  guint                   n_all;
} Evaluate;

/* ---- one answer ---- */

static void
evaluate_score (const Evaluate   *self,
                guint             item,
                VnTensor * const *outputs,
                guint             n,
                Answer           *answer)
{
  const VnTaskOutputs all = { .tensors = outputs, .n = n, .n_classes = self->labels->n_classes };
  int at, wanted;

  answer->done = TRUE;
  answer->rank = -1;
  if (vn_kept_meter_get_task (self->meter) != VN_TASK_CLASSIFICATION || (at = vn_task_find_scores (&all, &answer->n_outputs)) < 0)
    return;
  wanted = vn_labels_get (self->labels, self->options->samples[item], answer->n_outputs);
  if (wanted >= 0)
    answer->rank = evaluate_outputs_find_rank (outputs[at], answer->n_outputs, (gsize) wanted);
}

/* ---- what the user's metric says of them ---- */

static const char *
evaluate_name_model (const VnContestant *contestant)
{
  return contestant->model->path != NULL ? contestant->model->path : contestant->model->graph->name;
}

static VnMetricSample
evaluate_describe_sample (const Evaluate *self,
                          guint           index,
                          guint           k)
{
  VnDataset *dataset = self->contestants[0].dataset;
  int folder = vn_dataset_get_label (dataset, index);

  return (VnMetricSample) { .name = vn_dataset_get_name (dataset, index), .path = vn_dataset_get_path (dataset, index),
                            .index = index,
                            .label = vn_labels_get_number (self->labels, index),
                            .class_name = folder >= 0 && (guint) folder < vn_dataset_get_n_classes (dataset)
                                            ? vn_dataset_get_class (dataset, (guint) folder) : NULL,
                            .model = evaluate_name_model (&self->contestants[k]) };
}

static gboolean
evaluate_measure (Evaluate          *self,
                  guint              item,
                  VnTensor        ***outputs,
                  GError           **error)
{
  for (guint k = 0; k < self->n_contestants && self->metric != NULL; k++)
    {
      VnMetricSample sample = evaluate_describe_sample (self, self->options->samples[item], k);
      guint n = vn_plan_get_n_outputs (self->plans[k]);
      VnMetricResult *result = vn_user_metric_measure (self->metric, &sample, self->names[k], outputs[k], n, error);

      if (result == NULL)
        return FALSE;
      self->measured[(gsize) item * self->n_contestants + k] = result;
    }
  return TRUE;
}

static gboolean
evaluate_sum_up_metric (const Evaluate  *self,
                        guint            k,
                        VnScore         *score,
                        GError         **error)
{
  g_autoptr(GPtrArray) results = g_ptr_array_new ();

  for (guint s = 0; s < self->options->n_samples; s++)
    if (self->measured[(gsize) s * self->n_contestants + k] != NULL)
      g_ptr_array_add (results, self->measured[(gsize) s * self->n_contestants + k]);
  score->metrics = evaluate_metric_sum_up (self->metric, results, evaluate_name_model (&self->contestants[k]), error);
  return score->metrics != NULL;
}

/* ---- one sample ---- */

/* @first: (nullable): what the first network gave */
static gboolean
evaluate_run_one (Evaluate         *self,
                  VnRunner         *runner,
                  guint             item,
                  guint             k,
                  VnTensor        **inputs,
                  VnTensor * const *first,
                  VnTensor        **outputs,
                  GCancellable     *cancellable,
                  GError          **error)
{
  guint n = vn_plan_get_n_outputs (self->plans[k]);
  Answer *answer = &self->answers[(gsize) item * self->n_contestants + k];

  if (!vn_runner_run (runner, inputs, outputs, cancellable, error) ||
      !evaluate_outputs_widen (outputs, n, error))
    return FALSE;
  evaluate_score (self, item, outputs, n, answer);
  if (first != NULL)
    evaluate_outputs_add (self->outputs, (gsize) item * self->n_contestants + k, first, self->names[k], n, outputs);
  return TRUE;
}

static VnTaskOutputs
evaluate_describe_outputs (const Evaluate   *self,
                           guint             item,
                           guint             k,
                           VnTensor * const *inputs,
                           VnTensor * const *outputs)
{
  const guint n = vn_plan_get_n_inputs (self->plans[k]);
  g_autofree const char **names = g_new0 (const char *, n + 1);
  VnTaskOutputs all = { .tensors = outputs, .n = vn_plan_get_n_outputs (self->plans[k]), .names = self->names[k],
                        .n_classes = self->labels->n_classes,
                        .n_seen = vn_dataset_get_n_seen (self->contestants[0].dataset, self->options->samples[item]) };

  for (guint i = 0; i < n; i++)
    names[i] = vn_plan_get_input (self->plans[k], i)->name;
  vn_task_find_inputs (&all, inputs, names, n);
  return all;
}

/* ---- workers: a runner for each network ---- */

static void
evaluate_stop (gpointer data)
{
  VnRunner **runners = data;

  for (guint k = 0; runners[k] != NULL; k++)
    vn_runner_free (runners[k]);
  g_free (runners);
}

static gpointer
evaluate_start (guint      n_inside,
                gpointer   data,
                GError   **error)
{
  const Evaluate *self = data;
  VnRunner **runners = g_new0 (VnRunner *, self->n_contestants + 1);

  for (guint k = 0; k < self->n_contestants; k++)
    if ((runners[k] = vn_sample_runner_new (self->plans[k], n_inside, NULL, NULL, error)) == NULL)
      {
        evaluate_stop (runners);
        return NULL;
      }
  return runners;
}

static gboolean
evaluate_scan (gpointer       worker,
               guint          number,
               VnTensor     **inputs,
               gpointer       data,
               GCancellable  *cancellable,
               GError       **error)
{
  Evaluate *self = data;
  VnRunner **runners = worker;
  const guint n = self->n_contestants, item = self->first + number;
  g_autofree VnTensor ***outputs = g_new0 (VnTensor **, n);
  g_autofree VnTaskOutputs *described = g_new0 (VnTaskOutputs, n + 1);
  gboolean good = TRUE;

  for (guint k = 0; k < n && good; k++)
    {
      VnTensor **own = inputs + self->places[k];

      outputs[k] = g_new0 (VnTensor *, vn_plan_get_n_outputs (self->plans[k]) + 1);
      good = evaluate_run_one (self, runners[k], item, k, own, k > 0 ? outputs[0] : NULL, outputs[k], cancellable, error);
      described[k] = evaluate_describe_outputs (self, item, k, own, outputs[k]);
    }
  described[n] = described[0];     /* for what is told of one network alone */
  if (good && self->kept != NULL)
    self->kept[item] = g_variant_ref_sink (vn_kept_meter_add_packed (self->meter, item, described));
  else if (good && (n > 1 || vn_kept_meter_tells_alone (self->meter)))
    vn_kept_meter_add (self->meter, item, described);
  good = good && evaluate_measure (self, item, outputs, error);
  for (guint k = 0; k < n; k++)
    {
      vn_tensor_clear_all (outputs[k], outputs[k] != NULL ? vn_plan_get_n_outputs (self->plans[k]) : 0);
      g_free (outputs[k]);
    }
  return good;
}

static const VnSampleFuncs evaluate_funcs = { evaluate_start, evaluate_scan, evaluate_stop };

/* ---- several processes ---- */

static GBytes *
evaluate_pack (guint      number,
               gpointer   data,
               GError   **error)
{
  Evaluate *self = data;
  const guint n = self->n_contestants, item = self->first + number;

  return evaluate_share_pack (self->outputs, (gsize) item * n, n, &self->answers[(gsize) item * n], sizeof (Answer),
                              self->kept[item]);
}

static gboolean
evaluate_take (guint           number,
               gconstpointer   bytes,
               gsize           size,
               gpointer        data,
               GError        **error)
{
  Evaluate *self = data;
  const guint n = self->n_contestants, item = self->first + number;

  return evaluate_share_take (self->outputs, (gsize) item * n, n, &self->answers[(gsize) item * n], sizeof (Answer),
                              self->meter, bytes, size, error);
}

/* What the user's metric says is not handed on: with one each process does all. */
static const VnSampleFuncs evaluate_shared_funcs = { evaluate_start, evaluate_scan, evaluate_stop, evaluate_pack, evaluate_take };

static gboolean
evaluate_is_shared (const Evaluate *self)
{
  return vn_sample_ranks_get_n () > 1 && self->metric == NULL;
}

/* ---- all of them ---- */

static gboolean
evaluate_check_inputs (VnPlan            *plan,
                       const VnContestant *contestant,
                       GError           **error)
{
  if (vn_plan_get_n_outputs (plan) > 0)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("No output of “%s” can be computed here"),
               evaluate_name_model (contestant));
  return FALSE;
}

/* Networks that share a data set have their inputs in the same place. */
static void
evaluate_place_inputs (Evaluate *self,
                       guint     k)
{
  guint place = 0, i;

  for (i = 0; i < self->datasets->len && self->datasets->pdata[i] != self->contestants[k].dataset; i++)
    place += vn_dataset_get_n_inputs (self->datasets->pdata[i]) + 1;
  if (i == self->datasets->len)
    g_ptr_array_add (self->datasets, self->contestants[k].dataset);
  self->places[k] = place;
}

static gboolean
evaluate_make_plans (Evaluate  *self,
                     GError   **error)
{
  g_ptr_array_set_size (self->datasets, 0);
  for (guint k = 0; k < self->n_contestants; k++)
    {
      VnPlanOptions options = vn_plan_options_for_samples (self->contestants[k].shapes);

      options.most_weights = vn_plan_share_weights (self->contestants[0].model, self->n_contestants);
      self->plans[k] = vn_plan_new (self->contestants[k].model, &options, NULL, error);
      if (self->plans[k] == NULL || !evaluate_check_inputs (self->plans[k], &self->contestants[k], error))
        return FALSE;
      self->names[k] = evaluate_outputs_list_names (self->plans[k]);
      evaluate_place_inputs (self, k);
    }
  return TRUE;
}

/* ---- what the outputs show ---- */

typedef struct
{
  Evaluate *evaluate;
  gboolean  enough;
} Probe;

static gpointer
evaluate_probe_start (guint      n_inside,
                      gpointer   data,
                      GError   **error)
{
  return vn_sample_runner_new (((Probe *) data)->evaluate->plans[0], n_inside, NULL, NULL, error);
}

/* Looks at what the first network gives. */
static gboolean
evaluate_probe_scan (gpointer       runner,
                     guint          number,
                     VnTensor     **inputs,
                     gpointer       data,
                     GCancellable  *cancellable,
                     GError       **error)
{
  Probe *probe = data;
  const Evaluate *self = probe->evaluate;
  const guint n_outputs = vn_plan_get_n_outputs (self->plans[0]);
  g_autofree VnTensor **outputs = g_new0 (VnTensor *, n_outputs + 1);
  const gboolean good = vn_runner_run (runner, inputs, outputs, cancellable, error) &&
                        evaluate_outputs_widen (outputs, n_outputs, error);

  if (good)
    {
      VnTaskOutputs all = evaluate_describe_outputs (self, 0, 0, inputs, outputs);

      probe->enough = vn_kept_meter_look (self->meter, &all);
    }
  vn_tensor_clear_all (outputs, n_outputs);
  return good;
}

/* Until it is enough; whatever is wrong there the run itself tells. */
static void
evaluate_probe (Evaluate     *self,
                GCancellable *cancellable)
{
  static const VnSampleFuncs funcs = { evaluate_probe_start, evaluate_probe_scan, vn_sample_runner_stop };
  Probe probe = { self, FALSE };
  const VnSamples samples = { .dataset = self->contestants[0].dataset, .indices = self->options->samples,
                              .n = MIN (self->options->n_samples, MOST_PROBES), .n_threads = self->options->n_threads };
  g_autoptr(VnSampleLoop) loop = vn_sample_loop_new (&samples, &(VnSampleOptions) { .in_turn = TRUE }, &funcs, &probe, NULL);

  for (guint i = 0; loop != NULL && i < samples.n && !probe.enough && !g_cancellable_is_cancelled (cancellable); i++)
    vn_sample_loop_run (loop, i, 1, cancellable, NULL);
}

static void
evaluate_look_at_outputs (Evaluate     *self,
                          GCancellable *cancellable)
{
  VnTaskHint hint = { 0 };

  self->outputs = evaluate_outputs_new (self->names[0], vn_plan_get_n_outputs (self->plans[0]), self->options->parts,
                                        (gsize) self->options->n_samples * self->n_contestants);
  evaluate_outputs_leave_out_caches (self->outputs, self->plans[0]);
  hint.is_given = self->options->task != NULL && vn_task_find (self->options->task, &hint.task);
  self->meter = vn_kept_meter_new (self->contestants[0].model, &hint, MAX (self->n_contestants, 2) - 1);
  vn_kept_meter_collect (self->meter, self->options->samples, self->options->n_samples, self->options->answers != NULL);
  evaluate_probe (self, cancellable);
}

static void
evaluate_sum_up (const Evaluate *self,
                 VnScore        *scores)
{
  guint n = self->n_contestants;

  for (guint k = 0; k < n; k++)
    {
      scores[k] = (VnScore) { 0 };
      scores[k].errors = k > 0 ? evaluate_outputs_sum_up (self->outputs, k, n) : NULL;
      scores[k].kept = (VnKept) { .task = vn_kept_meter_get_task (self->meter), .share = NAN, .mean = NAN };
      if (k == 0)
        continue;
      vn_kept_meter_finish (self->meter, k - 1, &scores[k].kept);
      scores[k].answers = vn_kept_meter_steal_answers (self->meter, k - 1, self->contestants[0].dataset);
    }
  for (guint s = 0; s < self->options->n_samples; s++)
    for (guint k = 0; k < n; k++)
      {
        const Answer *answer = &self->answers[(gsize) s * n + k];

        if (!answer->done)
          continue;
        scores[k].n++;
        scores[k].n_outputs = MAX (scores[k].n_outputs, answer->n_outputs);
        scores[k].n_labelled += answer->rank >= 0;
        scores[k].top1 += answer->rank == 0;
        scores[k].top5 += answer->rank >= 0 && answer->rank < TOP;
      }
}

static void
evaluate_clear_plans (Evaluate *self)
{
  for (guint k = 0; k < self->n_contestants; k++)
    {
      g_clear_pointer (&self->plans[k], vn_plan_unref);
      g_clear_pointer (&self->names[k], g_free);
    }
}

static void
evaluate_clear (Evaluate *self)
{
  evaluate_clear_plans (self);
  for (gsize i = 0; i < (gsize) self->n_all * self->n_contestants; i++)
    vn_metric_result_free (self->measured[i]);
  g_free (self->measured);
  for (guint s = 0; self->kept != NULL && s < self->n_all; s++)
    g_clear_pointer (&self->kept[s], g_variant_unref);
  g_free (self->kept);
  g_free (self->names);
  vn_kept_meter_free (self->meter);
  evaluate_outputs_free (self->outputs);
  g_free (self->plans);
  g_free (self->places);
  g_ptr_array_unref (self->datasets);
  g_free (self->answers);
}

static gboolean
evaluate_run_samples (Evaluate      *self,
                      guint          n,
                      GCancellable  *cancellable,
                      GError       **error)
{
  VnSampleOptions options;
  VnSamples samples;
  VnTask task;

  if (!evaluate_make_plans (self, error))
    return FALSE;
  if (self->meter == NULL)
    evaluate_look_at_outputs (self, cancellable);
  task = vn_kept_meter_get_task (self->meter);
  if (self->no_others && task == VN_TASK_OTHER)
    return TRUE;
  samples = (VnSamples) { .dataset = self->datasets->pdata[0], .indices = self->options->samples + self->first, .n = n,
                          .n_threads = self->options->n_threads, .progress = self->progress, .notes = self->notes };
  options = (VnSampleOptions) { .plans = self->plans, .n_plans = self->n_contestants,
                                .others = (VnDataset **) self->datasets->pdata + 1,
                                .n_others = self->datasets->len - 1, .n_before = self->first, .n_all = self->n_all };
  return vn_samples_each (&samples, &options, self->kept != NULL ? &evaluate_shared_funcs : &evaluate_funcs, self, cancellable,
                          error);
}

/* Those of folds by the network of each, in place of the second one. */
static gboolean
evaluate_run_folds (Evaluate      *self,
                    guint          n_own,
                    GCancellable  *cancellable,
                    GError       **error)
{
  const VnContestant *given = self->contestants;
  gboolean good = TRUE;

  self->first = n_own;
  for (guint i = 0; i < self->options->n_folds && good; i++)
    {
      const VnCompareFold *fold = &self->options->folds[i];
      const VnContestant contestants[] = { given[0], { fold->model, given[1].shapes, given[1].dataset } };

      evaluate_clear_plans (self);
      self->contestants = contestants;
      good = evaluate_run_samples (self, fold->n_samples, cancellable, error);
      self->contestants = given;
      self->first += fold->n_samples;
    }
  return good;
}

static gboolean
evaluate_run (Evaluate      *self,
              guint          n_own,
              VnScore       *scores,
              GCancellable  *cancellable,
              GError       **error)
{
  if (!evaluate_run_samples (self, n_own, cancellable, error) || !evaluate_run_folds (self, n_own, cancellable, error))
    return FALSE;
  evaluate_sum_up (self, scores);
  for (guint k = 0; k < self->n_contestants && self->metric != NULL; k++)
    if (!evaluate_sum_up_metric (self, k, &scores[k], error))
      return FALSE;
  evaluate_metric_add_figures (self->meter, scores, self->n_contestants);
  return TRUE;
}

static gboolean
evaluate_networks (Evaluate      *self,
                   VnScore       *scores,
                   GCancellable  *cancellable,
                   GError       **error)
{
  const VnCompareOptions *given = self->options;
  VnCompareOptions options = *given;
  g_autofree guint *samples = NULL;
  guint n = self->n_contestants;
  gboolean good;

  options.n_samples = self->n_all = vn_compare_count_samples (given);
  options.samples = samples = evaluate_share_list_samples (given, self->n_all);
  self->options = &options;
  self->plans = g_new0 (VnPlan *, n);
  self->places = g_new0 (guint, n);
  self->datasets = g_ptr_array_new ();
  self->answers = g_new0 (Answer, MAX ((gsize) self->n_all * n, 1));
  self->names = g_new0 (const char **, n);
  self->measured = g_new0 (VnMetricResult *, MAX ((gsize) self->n_all * n, 1));
  self->kept = evaluate_is_shared (self) ? g_new0 (GVariant *, self->n_all + 1) : NULL;
  good = evaluate_run (self, given->n_samples, scores, cancellable, error);
  evaluate_clear (self);
  return good;
}

/**
 * vn_evaluate:
 * @contestants: (array length=n_contestants): at least one; their data sets hold the same samples
 * @labels: of the first one's data set
 * @options: which samples, how many threads
 * @metric: (nullable): the user's own measure
 * @scores: (out caller-allocates) (array length=n_contestants): vn_score_clear()
 * @progress: (nullable)
 * @notes: receives which samples could not be read: they are left out of all numbers
 *
 * Runs all networks on the same samples.
 *
 * Returns: %FALSE if a network could not be run, or on cancellation
 */
gboolean
vn_evaluate (const VnContestant      *contestants,
             guint                    n_contestants,
             const VnLabels          *labels,
             const VnCompareOptions  *options,
             VnUserMetric            *metric,
             VnScore                 *scores,
             const VnProgress        *progress,
             VnNotes                 *notes,
             GCancellable            *cancellable,
             GError                 **error)
{
  Evaluate self;

  g_return_val_if_fail (contestants != NULL && options != NULL, FALSE);

  self = (Evaluate) { .contestants = contestants, .n_contestants = n_contestants, .labels = labels, .options = options,
                      .metric = metric, .progress = progress, .notes = notes };
  return evaluate_networks (&self, scores, cancellable, error);
}

void
vn_score_clear (VnScore *self)
{
  g_return_if_fail (self != NULL);

  g_clear_pointer (&self->metrics, g_array_unref);
  g_clear_pointer (&self->errors, vn_error_table_unref);
  g_clear_pointer (&self->answers, g_ptr_array_unref);
}

/* ---- the float and the quantized network ---- */

/**
 * vn_evaluate_accuracy:
 * @accuracy: (out): valid is %FALSE when the data have no labels, or the output does not have one element per class or
 *   cannot be computed here; what is kept is of all tasks but classification
 *
 * What both answer to each sample is added to the answers of @options, with labels or without.
 *
 * Returns: %FALSE if a network could not be run, or on cancellation
 */
gboolean
vn_evaluate_accuracy (VnModel                 *float_model,
                      VnModel                 *quant_model,
                      GHashTable              *input_shapes,
                      VnDataset               *dataset,
                      const VnCompareOptions  *options,
                      VnAccuracy              *accuracy,
                      GCancellable            *cancellable,
                      GError                 **error)
{
  const VnContestant contestants[] = { { float_model, input_shapes, dataset }, { quant_model, input_shapes, dataset } };
  g_autoptr(VnLabels) labels = NULL;
  g_autoptr(VnNotes) notes = vn_notes_new ();     /* whoever ran the samples before has told which cannot be read */
  Evaluate self;
  VnScore scores[2];
  gboolean is_classifier;

  g_return_val_if_fail (float_model != NULL && quant_model != NULL && options != NULL && accuracy != NULL, FALSE);

  *accuracy = (VnAccuracy) { 0 };
  is_classifier = evaluate_outputs_are_classes (float_model, dataset);
  if (!is_classifier && !evaluate_outputs_are_computed (float_model))
    return TRUE;
  labels = vn_labels_new (dataset, float_model, vn_dataset_get_labels (dataset), notes, error);
  self = (Evaluate) { .contestants = contestants, .n_contestants = 2, .labels = labels, .options = options, .notes = notes,
                      .no_others = !is_classifier };
  if (labels == NULL || !evaluate_networks (&self, scores, cancellable, error))
    return FALSE;
  if (is_classifier)
    *accuracy = (VnAccuracy) { .n = scores[0].n_labelled, .float_top1 = scores[0].top1, .quant_top1 = scores[1].top1,
                               .agree = (guint) scores[1].kept.n_kept, .valid = scores[0].n_labelled > 0,
                               .n_classes = (guint) scores[0].n_outputs };
  if (scores[1].kept.task != VN_TASK_CLASSIFICATION)
    accuracy->kept = scores[1].kept;
  if (options->answers != NULL && scores[1].answers != NULL)
    g_ptr_array_extend_and_steal (options->answers, g_steal_pointer (&scores[1].answers));
  for (guint k = 0; k < G_N_ELEMENTS (scores); k++)
    vn_score_clear (&scores[k]);
  return TRUE;
}
