/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs networks on held-out samples and compares their outputs with the float ones, which are run once and kept. Sums are
 * kept by sample and added in their order, so that the figure does not depend on the threads. */
#include "vn-judge.h"

#include "vn-i18n.h"
#include "vn-memory.h"
#include "vn-parallel.h"

#include <math.h>

/* Bytes of float outputs that are kept: of more samples than fit, the first ones serve. */
#define KEEP_BYTES ((gsize) 128 << 20)

struct _VnJudge
{
  VnRepairSamples samples;
  guint           n_outputs, n_inputs;
  VnTensor     ***inputs;     /* by sample; NULL: not read */
  VnTensor     ***outputs;    /* by sample, of the float network */
};

typedef struct
{
  VnJudge     *judge;
  VnRunner   **runners;       /* by worker */
  VnErrorSum  *sums;          /* by sample and output; NULL: the float network runs */
} Trial;

static void
judge_free_tensors (VnTensor **tensors,
                    guint      n)
{
  vn_tensor_clear_all (tensors, n);
  g_free (tensors);
}

/**
 * vn_judge_free:
 */
void
vn_judge_free (VnJudge *self)
{
  if (self == NULL)
    return;
  for (guint s = 0; s < self->samples.n; s++)
    {
      judge_free_tensors (self->inputs[s], self->n_inputs);
      judge_free_tensors (self->outputs[s], self->n_outputs);
    }
  g_free (self->inputs);
  g_free (self->outputs);
  g_free (self);
}

/* ---- running ---- */

static void
judge_add_error (VnErrorSum     *sum,
                 const VnTensor *wanted,
                 const VnTensor *found)
{
  if (wanted != NULL && found != NULL && wanted->dtype == VN_DTYPE_F32 && found->dtype == VN_DTYPE_F32 &&
      wanted->n_elements == found->n_elements)
    vn_error_sum_add (sum, wanted->data, found->data, wanted->n_elements);
}

static gboolean
judge_run_sample (gsize     sample,
                  guint     worker,
                  gpointer  data,
                  GError  **error)
{
  Trial *trial = data;
  VnJudge *self = trial->judge;
  VnTensor **outputs;

  if (self->inputs[sample] == NULL)
    return TRUE;
  outputs = g_new0 (VnTensor *, self->n_outputs + 1);
  if (!vn_runner_run (trial->runners[worker], self->inputs[sample], outputs, NULL, error))
    {
      judge_free_tensors (outputs, self->n_outputs);
      return FALSE;
    }
  if (trial->sums == NULL)
    {
      self->outputs[sample] = outputs;
      return TRUE;
    }
  for (guint i = 0; i < self->n_outputs; i++)
    judge_add_error (&trial->sums[sample * self->n_outputs + i], self->outputs[sample][i], outputs[i]);
  judge_free_tensors (outputs, self->n_outputs);
  return TRUE;
}

static gboolean
judge_run (VnJudge       *self,
           VnPlan        *plan,
           VnErrorSum    *sums,
           GCancellable  *cancellable,
           GError       **error)
{
  guint n = MAX (1, MIN (self->samples.n_threads > 0 ? self->samples.n_threads : vn_parallel_default_threads (), self->samples.n));
  g_autofree VnRunner **runners = g_new0 (VnRunner *, n);
  Trial trial = { self, runners, sums };
  gboolean good = TRUE;

  for (guint i = 0; i < n && good; i++)
    good = (runners[i] = vn_runner_new (plan, error)) != NULL;
  good = good && vn_parallel_for (n, self->samples.n, judge_run_sample, &trial, cancellable, error);
  for (guint i = 0; i < n; i++)
    g_clear_pointer (&runners[i], vn_runner_free);
  return good;
}

/* ---- the judge ---- */

static gboolean
judge_load (VnJudge  *self,
            GError  **error)
{
  for (guint s = 0; s < self->samples.n; s++)
    {
      GError *bad = NULL;

      self->inputs[s] = g_new0 (VnTensor *, self->n_inputs + 1);
      if (vn_dataset_load (self->samples.dataset, self->samples.indices[s], self->inputs[s], &bad))
        continue;
      judge_free_tensors (self->inputs[s], self->n_inputs);
      self->inputs[s] = NULL;
      if (!vn_dataset_leave_out (self->samples.dataset, self->samples.indices[s], bad, self->samples.notes, error))
        return FALSE;
    }
  return TRUE;
}

/* As many samples as there is room for. */
static guint
judge_count_samples (VnPlan *plan,
                     guint   n)
{
  gsize bytes = 0;

  for (guint i = 0; i < vn_plan_get_n_outputs (plan); i++)
    {
      const VnShape *shape = &vn_plan_get_output (plan, i)->type.shape;

      if (vn_shape_is_static (shape))
        bytes += (gsize) vn_shape_count (shape, 0, shape->rank) * sizeof (float);
    }
  for (guint i = 0; i < vn_plan_get_n_inputs (plan); i++)
    {
      const VnShape *shape = &vn_plan_get_input_type (plan, i)->shape;

      bytes += (gsize) MAX (vn_shape_count (shape, 0, shape->rank), 0) * sizeof (float);
    }
  return (guint) CLAMP (KEEP_BYTES / MAX (bytes, 1), 1, MAX (n, 1));
}

/**
 * vn_judge_new:
 * @model: the float network
 * @samples: what to measure on; those that cannot be read are left out, with a note
 *
 * Returns: (transfer full) (nullable): %NULL with an error if @model cannot be run or memory is short
 */
VnJudge *
vn_judge_new (VnModel                *model,
              const VnRepairSamples  *samples,
              GCancellable           *cancellable,
              GError                **error)
{
  VnPlanOptions options = { 0 };
  g_autoptr(VnPlan) plan = NULL;
  g_autoptr(VnJudge) self = NULL;

  g_return_val_if_fail (model != NULL && samples != NULL, NULL);

  options.input_shapes = samples->shapes;
  plan = vn_plan_new (model, &options, NULL, error);
  if (plan == NULL)
    return NULL;
  self = g_new0 (VnJudge, 1);
  self->samples = *samples;
  self->samples.n = MIN (samples->n, judge_count_samples (plan, samples->n));
  self->n_inputs = vn_plan_get_n_inputs (plan);
  self->n_outputs = vn_plan_get_n_outputs (plan);
  self->inputs = g_new0 (VnTensor **, self->samples.n + 1);
  self->outputs = g_new0 (VnTensor **, self->samples.n + 1);
  if (!judge_load (self, error) || !judge_run (self, plan, NULL, cancellable, error))
    return NULL;
  return g_steal_pointer (&self);
}

static double
judge_find_mean (const VnJudge    *self,
                 const VnErrorSum *sums)
{
  double total = 0;
  guint n = 0;

  for (guint i = 0; i < self->n_outputs; i++)
    {
      VnErrorSum sum;

      vn_error_sum_init (&sum);
      for (guint s = 0; s < self->samples.n; s++)
        vn_error_sum_merge (&sum, &sums[s * self->n_outputs + i]);
      if (sum.n == 0 && sum.n_bad == 0)
        continue;
      total += vn_error_sum_bounded_sqnr (&sum);
      n++;
    }
  return n > 0 ? total / n : vn_sqnr_bound (INFINITY, 0);
}

/**
 * vn_judge_measure:
 * @model: a network with the inputs and outputs of the float one
 * @sqnr_db: (out): signal to quantization noise of each output over all samples, in dB, averaged over the outputs; between
 *   -200 and 200. 200 also where no output is of float32
 *
 * Returns: %FALSE with an error if @model cannot be run
 */
gboolean
vn_judge_measure (VnJudge       *self,
                  VnModel       *model,
                  double        *sqnr_db,
                  GCancellable  *cancellable,
                  GError       **error)
{
  VnPlanOptions options = { 0 };
  g_autoptr(VnPlan) plan = NULL;
  g_autofree VnErrorSum *sums = NULL;
  gsize n;

  g_return_val_if_fail (self != NULL && model != NULL && sqnr_db != NULL, FALSE);

  options.input_shapes = self->samples.shapes;
  plan = vn_plan_new (model, &options, NULL, error);
  n = (gsize) self->samples.n * self->n_outputs;
  sums = g_new (VnErrorSum, n + 1);
  if (plan == NULL)
    return FALSE;
  if (vn_plan_get_n_inputs (plan) != self->n_inputs || vn_plan_get_n_outputs (plan) != self->n_outputs)
    {
      g_set_error_literal (error, VN_ERROR, VN_ERROR_SHAPE, _("The quantized network has other inputs or outputs than the float one"));
      return FALSE;
    }
  for (gsize i = 0; i < n; i++)
    vn_error_sum_init (&sums[i]);
  if (!judge_run (self, plan, sums, cancellable, error))
    return FALSE;
  *sqnr_db = judge_find_mean (self, sums);
  return TRUE;
}
