/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Networks side by side on the same samples. Each thread runs one sample through all of them; what comes out is kept per
 * sample and added in the order of the samples, so that the numbers do not depend on the threads. */
#include "vn-evaluate.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-parallel.h"

#include <math.h>
#include <string.h>

#define TOP 5

/* What one network made of one sample. */
typedef struct
{
  gboolean   done;
  gsize      n_outputs;
  gsize      answer;      /* the first of the largest */
  int        rank;        /* of the true class, from 0; -1 if that is not known */
  VnErrorSum error;
} Answer;

typedef struct
{
  const VnContestant     *contestants;
  guint                   n_contestants, n_workers;
  VnPlan                **plans;           /* by contestant */
  VnRunner              **runners;         /* by worker and contestant */
  const VnLabels         *labels;
  const VnCompareOptions *options;
  Answer                 *answers;         /* by sample and contestant */
  const VnProgress       *progress;
  VnNotes                *notes;
  gint                    n_done;
} Evaluate;

/* ---- one answer ---- */

/* Elements for the first of the pictures of a batch. */
static gsize
evaluate_count_outputs (const VnTensor *tensor)
{
  gsize n = tensor->n_elements;

  if (tensor->shape.rank >= 2 && tensor->shape.dims[0] > 1)
    n /= (gsize) tensor->shape.dims[0];
  return vn_tensor_is_container (tensor) || !vn_dtype_is_float (tensor->dtype) ? 0 : n;
}

/* The output that has a number for each class, or else the first one that has several numbers for a picture; -1: none. */
static int
evaluate_find_scores (const VnLabels  *labels,
                      VnTensor * const *outputs,
                      guint            n)
{
  int first = -1;

  for (guint i = 0; i < n; i++)
    {
      gsize size = evaluate_count_outputs (outputs[i]);

      if (size >= 2 && labels->n_classes >= 2 && (size == labels->n_classes || size == labels->n_classes + 1))
        return (int) i;
      if (size >= 2 && first < 0)
        first = (int) i;
    }
  return first;
}

/* How many classes come before @wanted: those with more, and of equal ones those with lower numbers. */
static int
evaluate_find_rank (const VnTensor *tensor,
                    gsize           n,
                    gsize           wanted)
{
  double value = vn_tensor_get_double (tensor, wanted);
  int rank = 0;

  for (gsize i = 0; i < n; i++)
    {
      double other = vn_tensor_get_double (tensor, i);

      rank += other > value || (other == value && i < wanted) || (isnan (value) && i != wanted);
    }
  return rank;
}

static gsize
evaluate_arg_max (const VnTensor *tensor,
                  gsize           n)
{
  gsize best = 0;

  for (gsize i = 1; i < n; i++)
    if (vn_tensor_get_double (tensor, i) > vn_tensor_get_double (tensor, best))
      best = i;
  return best;
}

static void
evaluate_score (const VnLabels    *labels,
                guint              sample,
                VnTensor * const  *outputs,
                guint              n,
                Answer            *answer)
{
  int at = evaluate_find_scores (labels, outputs, n);
  int wanted;

  answer->done = TRUE;
  answer->rank = -1;
  if (at < 0)
    return;
  answer->n_outputs = evaluate_count_outputs (outputs[at]);
  answer->answer = evaluate_arg_max (outputs[at], answer->n_outputs);
  wanted = vn_labels_get (labels, sample, answer->n_outputs);
  if (wanted >= 0)
    answer->rank = evaluate_find_rank (outputs[at], answer->n_outputs, (gsize) wanted);
}

/* ---- outputs against those of the first network ---- */

static int
evaluate_find_counterpart (const Evaluate *self,
                           guint           k,
                           guint           output)
{
  guint n = vn_plan_get_n_outputs (self->plans[0]);

  for (guint i = 0; i < n; i++)
    if (g_str_equal (vn_plan_get_output (self->plans[0], i)->name, vn_plan_get_output (self->plans[k], output)->name))
      return (int) i;
  return n == vn_plan_get_n_outputs (self->plans[k]) ? (int) output : -1;
}

static void
evaluate_compare_outputs (const Evaluate   *self,
                          guint             k,
                          VnTensor * const *first,
                          VnTensor * const *outputs,
                          VnErrorSum       *sum)
{
  for (guint i = 0; i < vn_plan_get_n_outputs (self->plans[k]); i++)
    {
      int other = evaluate_find_counterpart (self, k, i);

      if (other < 0 || outputs[i]->dtype != VN_DTYPE_F32 || first[other]->dtype != VN_DTYPE_F32 ||
          first[other]->n_elements != outputs[i]->n_elements)
        continue;
      vn_error_sum_add (sum, first[other]->data, outputs[i]->data, outputs[i]->n_elements);
    }
}

/* ---- one sample ---- */

static void
evaluate_clear_tensors (VnTensor **tensors,
                        guint      n)
{
  for (guint i = 0; tensors != NULL && i < n; i++)
    g_clear_pointer (&tensors[i], vn_tensor_unref);
}

/* @first: (nullable): what the first network gave */
static gboolean
evaluate_run_one (Evaluate         *self,
                  guint             worker,
                  guint             item,
                  guint             k,
                  VnTensor * const *inputs,
                  VnTensor * const *first,
                  VnTensor        **outputs,
                  GError          **error)
{
  guint n = vn_plan_get_n_outputs (self->plans[k]);
  Answer *answer = &self->answers[(gsize) item * self->n_contestants + k];

  if (!vn_runner_run (self->runners[(gsize) worker * self->n_contestants + k], inputs, outputs, NULL, error))
    return FALSE;
  evaluate_score (self->labels, self->options->samples[item], outputs, n, answer);
  vn_error_sum_init (&answer->error);
  if (first != NULL)
    evaluate_compare_outputs (self, k, first, outputs, &answer->error);
  return TRUE;
}

static gboolean
evaluate_load (Evaluate   *self,
               guint       index,
               guint       k,
               VnTensor  **inputs,
               gboolean   *readable,
               GError    **error)
{
  VnDataset *dataset = self->contestants[k].dataset;
  GError *bad = NULL;

  *readable = vn_dataset_load (dataset, index, inputs, &bad);
  return *readable || vn_dataset_leave_out (dataset, index, bad, self->notes, error);
}

/* Runs sample @item through all networks, whose inputs are read once if they are the same. */
static gboolean
evaluate_sample (Evaluate   *self,
                 guint       worker,
                 guint       item,
                 GError    **error)
{
  guint index = self->options->samples[item], n = self->n_contestants;
  g_autofree VnTensor ***outputs = g_new0 (VnTensor **, n);
  VnTensor **inputs = NULL;
  gboolean good = TRUE, readable = TRUE;

  for (guint k = 0; k < n && good && readable; k++)
    {
      guint n_inputs = vn_plan_get_n_inputs (self->plans[k]);

      if (k == 0 || self->contestants[k].dataset != self->contestants[k - 1].dataset)
        {
          evaluate_clear_tensors (inputs, k > 0 ? vn_plan_get_n_inputs (self->plans[k - 1]) : 0);
          g_free (inputs);
          inputs = g_new0 (VnTensor *, n_inputs + 1);
          good = evaluate_load (self, index, k, inputs, &readable, error);
          if (!good || !readable)
            break;
        }
      outputs[k] = g_new0 (VnTensor *, vn_plan_get_n_outputs (self->plans[k]) + 1);
      good = evaluate_run_one (self, worker, item, k, inputs, k > 0 ? outputs[0] : NULL, outputs[k], error);
    }
  for (guint k = 0; k < n; k++)
    {
      evaluate_clear_tensors (outputs[k], outputs[k] != NULL ? vn_plan_get_n_outputs (self->plans[k]) : 0);
      g_free (outputs[k]);
      if (!readable)
        self->answers[(gsize) item * n + k].done = FALSE;
    }
  for (guint i = 0; inputs != NULL && inputs[i] != NULL; i++)
    vn_tensor_unref (inputs[i]);
  g_free (inputs);
  return good;
}

static gboolean
evaluate_item (gsize     item,
               guint     worker,
               gpointer  data,
               GError  **error)
{
  Evaluate *self = data;
  gboolean good = evaluate_sample (self, worker, (guint) item, error);

  vn_progress_report (self->progress, _("samples"), (guint) g_atomic_int_add (&self->n_done, 1) + 1, self->options->n_samples);
  return good;
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
               contestant->model->path != NULL ? contestant->model->path : contestant->model->graph->name);
  return FALSE;
}

static gboolean
evaluate_make_runners (Evaluate  *self,
                       GError   **error)
{
  for (guint k = 0; k < self->n_contestants; k++)
    {
      VnPlanOptions options = { .input_shapes = self->contestants[k].shapes, .skip_unsupported = TRUE };

      self->plans[k] = vn_plan_new (self->contestants[k].model, &options, NULL, error);
      if (self->plans[k] == NULL || !evaluate_check_inputs (self->plans[k], &self->contestants[k], error))
        return FALSE;
      for (guint i = 0; i < self->n_workers; i++)
        if ((self->runners[(gsize) i * self->n_contestants + k] = vn_runner_new (self->plans[k], error)) == NULL)
          return FALSE;
    }
  return TRUE;
}

static void
evaluate_sum_up (const Evaluate *self,
                 VnScore        *scores)
{
  guint n = self->n_contestants;

  for (guint k = 0; k < n; k++)
    {
      scores[k] = (VnScore) { 0 };
      vn_error_sum_init (&scores[k].error);
    }
  for (guint s = 0; s < self->options->n_samples; s++)
    for (guint k = 0; k < n; k++)
      {
        const Answer *answer = &self->answers[(gsize) s * n + k], *first = &self->answers[(gsize) s * n];

        if (!answer->done)
          continue;
        scores[k].n++;
        scores[k].n_outputs = MAX (scores[k].n_outputs, answer->n_outputs);
        scores[k].n_labelled += answer->rank >= 0;
        scores[k].top1 += answer->rank == 0;
        scores[k].top5 += answer->rank >= 0 && answer->rank < TOP;
        scores[k].n_agree += answer->n_outputs > 0 && first->n_outputs == answer->n_outputs && first->answer == answer->answer;
        vn_error_sum_merge (&scores[k].error, &answer->error);
      }
}

static void
evaluate_clear (Evaluate *self)
{
  for (guint i = 0; i < self->n_workers * self->n_contestants; i++)
    g_clear_pointer (&self->runners[i], vn_runner_free);
  for (guint k = 0; k < self->n_contestants; k++)
    g_clear_pointer (&self->plans[k], vn_plan_unref);
  g_free (self->runners);
  g_free (self->plans);
  g_free (self->answers);
}

/**
 * vn_evaluate:
 * @contestants: (array length=n_contestants): at least one; their data sets hold the same samples
 * @labels: of the first one's data set
 * @options: which samples, how many threads
 * @scores: (out caller-allocates) (array length=n_contestants):
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
             VnScore                 *scores,
             const VnProgress        *progress,
             VnNotes                 *notes,
             GCancellable            *cancellable,
             GError                 **error)
{
  Evaluate self;
  gboolean good;

  g_return_val_if_fail (contestants != NULL && options != NULL, FALSE);

  self = (Evaluate) { .contestants = contestants, .n_contestants = n_contestants, .labels = labels, .options = options,
                      .progress = progress, .notes = notes };
  self.n_workers = options->n_threads > 0 ? options->n_threads : vn_parallel_default_threads ();
  self.n_workers = MAX (1, MIN (self.n_workers, options->n_samples));
  self.plans = g_new0 (VnPlan *, n_contestants);
  self.runners = g_new0 (VnRunner *, (gsize) self.n_workers * n_contestants);
  self.answers = g_new0 (Answer, MAX ((gsize) options->n_samples * n_contestants, 1));
  good = evaluate_make_runners (&self, error) &&
         vn_parallel_for (self.n_workers, options->n_samples, evaluate_item, &self, cancellable, error);
  if (good)
    evaluate_sum_up (&self, scores);
  evaluate_clear (&self);
  return good;
}

/* ---- the float and the quantized network ---- */

static gboolean
evaluate_is_classifier (const VnModel *model,
                        VnDataset     *dataset)
{
  const VnValue *output = model->graph->outputs->len > 0 ? g_ptr_array_index (model->graph->outputs, 0) : NULL;
  g_autofree gboolean *lost = vn_graph_find_lost (model->graph);
  gint64 n = 1;

  if (output == NULL || output->type.shape.rank < 1 || vn_dataset_get_n_classes (dataset) < 2)
    return FALSE;
  if (output->graph != model->graph || lost[output->id])
    return FALSE;
  for (int i = 0; i < output->type.shape.rank; i++)
    n *= output->type.shape.dims[i] < 0 && i == 0 ? 1 : output->type.shape.dims[i];
  return n == vn_dataset_get_n_classes (dataset);
}

/**
 * vn_evaluate_top1:
 * @accuracy: (out): valid is %FALSE when the data have no labels, or the output does not have one element per class or
 *   cannot be computed here
 *
 * Returns: %FALSE if a network could not be run, or on cancellation
 */
gboolean
vn_evaluate_top1 (VnModel                 *float_model,
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
  /* An unreadable sample has been reported by whoever ran the samples before. */
  g_autoptr(VnNotes) notes = vn_notes_new ();
  VnScore scores[2];

  g_return_val_if_fail (float_model != NULL && quant_model != NULL && options != NULL && accuracy != NULL, FALSE);

  *accuracy = (VnAccuracy) { 0 };
  if (!evaluate_is_classifier (float_model, dataset))
    return TRUE;
  labels = vn_labels_new (dataset, NULL, notes, error);
  if (labels == NULL || !vn_evaluate (contestants, 2, labels, options, scores, NULL, notes, cancellable, error))
    return FALSE;
  *accuracy = (VnAccuracy) { scores[0].n_labelled, scores[0].top1, scores[1].top1, scores[1].n_agree,
                             scores[0].n_labelled > 0 };
  return TRUE;
}
