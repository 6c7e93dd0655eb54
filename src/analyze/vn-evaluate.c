/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Top-1 of a classifier over labelled samples: the class is the folder's place among the sorted folders. */
#include "vn-compare.h"

#include "vn-parallel.h"

typedef struct
{
  VnPlan                 *plans[2];       /* float, quantized */
  VnRunner              **runners[2];     /* by worker */
  VnDataset              *dataset;
  const VnCompareOptions *options;
  guint                   n_workers;
  gint8                  *hits[2];        /* by sample: -1 left out, 0, 1 */
  guint                  *answers[2];     /* by sample */
} Evaluate;

static guint
arg_max (const VnTensor *tensor)
{
  guint best = 0;

  for (gsize i = 1; i < tensor->n_elements; i++)
    if (vn_tensor_get_double (tensor, i) > vn_tensor_get_double (tensor, best))
      best = (guint) i;
  return best;
}

static gboolean
run_one (Evaluate  *self,
         guint      which,
         guint      worker,
         guint      sample,
         VnTensor **inputs,
         int        label,
         GError   **error)
{
  guint n_outputs = vn_plan_get_n_outputs (self->plans[which]);
  g_autofree VnTensor **outputs = g_new0 (VnTensor *, n_outputs + 1);

  if (!vn_runner_run (self->runners[which][worker], inputs, outputs, NULL, error))
    return FALSE;
  self->answers[which][sample] = arg_max (outputs[0]);
  self->hits[which][sample] = (int) self->answers[which][sample] == label;
  for (guint i = 0; i < n_outputs; i++)
    g_clear_pointer (&outputs[i], vn_tensor_unref);
  return TRUE;
}

static gboolean
evaluate_item (gsize     item,
               guint     worker,
               gpointer  data,
               GError  **error)
{
  Evaluate *self = data;
  guint n_inputs = vn_plan_get_n_inputs (self->plans[0]);
  guint index = self->options->samples[item];
  int label = vn_dataset_get_label (self->dataset, index);
  g_autofree VnTensor **inputs = g_new0 (VnTensor *, n_inputs + 1);
  gboolean good = TRUE;

  self->hits[0][item] = self->hits[1][item] = -1;
  if (label < 0)
    return TRUE;
  /* An unreadable sample has been reported by whoever ran the samples before. */
  if (vn_dataset_load (self->dataset, index, inputs, NULL))
    good = run_one (self, 0, worker, (guint) item, inputs, label, error) &&
           run_one (self, 1, worker, (guint) item, inputs, label, error);
  for (guint i = 0; i < n_inputs; i++)
    g_clear_pointer (&inputs[i], vn_tensor_unref);
  return good;
}

static gboolean
is_classifier (const VnModel *model,
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

static gboolean
make_runners (Evaluate    *self,
              VnModel     *models[2],
              GHashTable  *input_shapes,
              GError     **error)
{
  VnPlanOptions options = { .input_shapes = input_shapes, .skip_unsupported = TRUE };

  for (guint which = 0; which < 2; which++)
    {
      self->plans[which] = vn_plan_new (models[which], &options, NULL, error);
      if (self->plans[which] == NULL)
        return FALSE;
      for (guint i = 0; i < self->n_workers; i++)
        if ((self->runners[which][i] = vn_runner_new (self->plans[which], error)) == NULL)
          return FALSE;
    }
  return TRUE;
}

static void
count_hits (const Evaluate *self,
            VnAccuracy     *accuracy)
{
  for (guint s = 0; s < self->options->n_samples; s++)
    if (self->hits[0][s] >= 0)
      {
        accuracy->n++;
        accuracy->float_top1 += self->hits[0][s];
        accuracy->quant_top1 += self->hits[1][s];
        accuracy->agree += self->answers[0][s] == self->answers[1][s];
      }
  accuracy->valid = accuracy->n > 0;
}

static void
evaluate_clear (Evaluate *self)
{
  for (guint which = 0; which < 2; which++)
    {
      for (guint i = 0; i < self->n_workers; i++)
        g_clear_pointer (&self->runners[which][i], vn_runner_free);
      g_clear_pointer (&self->plans[which], vn_plan_unref);
      g_free (self->runners[which]);
      g_free (self->hits[which]);
      g_free (self->answers[which]);
    }
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
  Evaluate self = { .dataset = dataset, .options = options };
  VnModel *models[2] = { float_model, quant_model };
  gboolean good;

  *accuracy = (VnAccuracy) { 0 };
  if (!is_classifier (float_model, dataset))
    return TRUE;
  self.n_workers = options->n_threads > 0 ? options->n_threads : vn_parallel_default_threads ();
  for (guint which = 0; which < 2; which++)
    {
      self.runners[which] = g_new0 (VnRunner *, self.n_workers);
      self.hits[which] = g_new0 (gint8, MAX (options->n_samples, 1));
      self.answers[which] = g_new0 (guint, MAX (options->n_samples, 1));
    }
  good = make_runners (&self, models, input_shapes, error) &&
         vn_parallel_for (self.n_workers, options->n_samples, evaluate_item, &self, cancellable, error);
  if (good)
    count_hits (&self, accuracy);
  evaluate_clear (&self);
  return good;
}
