/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs networks on held-out samples and compares their outputs with the float ones, which are run once and kept. Sums are
 * kept by sample and added in their order, so that the figure does not depend on the threads. */
#include "judge-copies.h"
#include "judge-private.h"

#include "vn-i18n.h"
#include "vn-logit-space.h"
#include "vn-memory.h"
#include "vn-sample-loop.h"

/* Bytes of float outputs that are kept: of more samples than fit, the first ones serve. */
#define KEEP_BYTES ((gsize) 128 << 20)

/**
 * vn_judge_free:
 */
void
vn_judge_free (VnJudge *self)
{
  if (self == NULL)
    return;
  for (guint i = 0; i < self->samples.n; i++)
    _vn_judge_free_tensors (self->inputs[i], self->n_inputs);
  for (guint i = 0; i < self->n_runs; i++)
    _vn_judge_free_tensors (self->outputs[i], self->n_outputs);
  if (self->copies != NULL)
    _vn_judge_free_tensors (self->copies, self->n_runs);
  g_free (self->inputs);
  g_free (self->outputs);
  g_free (self->partitions);
  g_free (self->logits);
  g_free (self->places);
  g_free (self->input_names);
  g_free (self->output_names);
  g_clear_pointer (&self->model, vn_model_unref);
  g_clear_pointer (&self->samples.parts, vn_parts_unref);
  g_free (self);
}

/* ---- the judge ---- */

static gboolean
judge_keep_inputs (gpointer       worker,
                   guint          item,
                   VnTensor     **inputs,
                   gpointer       data,
                   GCancellable  *cancellable,
                   GError       **error)
{
  VnJudge *self = data;

  self->inputs[item] = g_new0 (VnTensor *, self->n_inputs + 1);
  for (guint i = 0; i < self->n_inputs; i++)
    self->inputs[item][i] = g_steal_pointer (&inputs[i]);
  return TRUE;
}

static gboolean
judge_load (VnJudge       *self,
            VnPlan        *plan,
            GCancellable  *cancellable,
            GError       **error)
{
  static const VnSampleFuncs funcs = { NULL, judge_keep_inputs, NULL };
  const VnSamples samples = vn_repair_samples_get (&self->samples, NULL);

  return vn_samples_each (&samples, &(VnSampleOptions) { .plans = &plan, .n_plans = 1 }, &funcs, self, cancellable, error);
}

/* What is kept of each sample. @inputs, @outputs: (out) */
static void
judge_count_bytes (VnPlan *plan,
                   gsize  *inputs,
                   gsize  *outputs)
{
  *inputs = *outputs = 0;
  for (guint i = 0; i < vn_plan_get_n_outputs (plan); i++)
    {
      const VnShape *shape = &vn_plan_get_output (plan, i)->type.shape;

      if (vn_shape_is_static (shape))
        *outputs += (gsize) vn_shape_count (shape, 0, shape->rank) * sizeof (float);
    }
  for (guint i = 0; i < vn_plan_get_n_inputs (plan); i++)
    {
      const VnShape *shape = &vn_plan_get_input_type (plan, i)->shape;

      *inputs += (gsize) MAX (vn_shape_count (shape, 0, shape->rank), 0) * sizeof (float);
    }
}

/* As many samples as there is room for, and as many copies that are near them. */
static void
judge_count_runs (VnJudge               *self,
                  VnPlan                *plan,
                  const VnRepairSamples *samples)
{
  gsize inputs, outputs, room;

  judge_count_bytes (plan, &inputs, &outputs);
  self->samples.n = MIN (samples->n, (guint) CLAMP (KEEP_BYTES / MAX (inputs + outputs, 1), 1, MAX (samples->n, 1)));
  room = KEEP_BYTES / MAX (outputs * self->samples.n, 1);
  self->n_copies = samples->near_copies > 0 ? MIN (vn_judge_count_near_copies (plan),
                                                   (guint) CLAMP (room, 1, samples->near_copies))
                                            : samples->once ? 1 : vn_judge_count_copies (plan, self->samples.n);
  self->make_copy = samples->near_copies > 0 ? vn_judge_make_near_copy : vn_judge_make_copy;
  self->n_runs = self->samples.n * self->n_copies;
  if (self->n_copies > 1 && self->n_runs <= KEEP_BYTES / MAX (inputs, 1))
    self->copies = g_new0 (VnTensor *, self->n_runs + 1);
}

static void
judge_place_sums (VnJudge *self,
                  VnPlan  *plan)
{
  self->partitions = g_new0 (const VnPartition *, self->n_outputs + 1);
  self->places = g_new0 (guint, self->n_outputs + 1);
  self->logits = g_new0 (gboolean, self->n_outputs + 1);
  for (guint i = 0; i < self->n_outputs; i++)
    {
      const VnValue *output = vn_plan_get_output (plan, i);

      self->logits[i] = vn_value_is_logits (output);
      self->partitions[i] = self->logits[i] ? NULL : vn_parts_get (self->samples.parts, output->name);
      self->places[i + 1] = self->places[i] + vn_part_sums_count (self->partitions[i]);
    }
}

static void
judge_take_names (VnJudge *self,
                  VnModel *model,
                  VnPlan  *plan)
{
  self->model = vn_model_ref (model);
  self->input_names = g_new0 (const char *, self->n_inputs + 1);
  self->output_names = g_new0 (const char *, self->n_outputs + 1);
  for (guint i = 0; i < self->n_inputs; i++)
    self->input_names[i] = vn_plan_get_input (plan, i)->name;
  for (guint i = 0; i < self->n_outputs; i++)
    self->output_names[i] = vn_plan_get_output (plan, i)->name;
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
  VnPlanOptions options;
  g_autoptr(VnPlan) plan = NULL;
  g_autoptr(VnJudge) self = NULL;
  double lag;

  g_return_val_if_fail (model != NULL && samples != NULL, NULL);

  options = vn_plan_options_for_samples (samples->shapes);
  options.ends = TRUE;
  plan = vn_plan_new (model, &options, NULL, error);
  if (plan == NULL)
    return NULL;
  self = g_new0 (VnJudge, 1);
  self->samples = *samples;
  self->samples.parts = samples->parts != NULL ? vn_parts_ref (samples->parts) : NULL;
  self->n_inputs = vn_plan_get_n_inputs (plan);
  self->n_outputs = vn_plan_get_n_outputs (plan);
  judge_take_names (self, model, plan);
  judge_place_sums (self, plan);
  judge_count_runs (self, plan, samples);
  self->inputs = g_new0 (VnTensor **, self->samples.n + 1);
  self->outputs = g_new0 (VnTensor **, self->n_runs + 1);
  if (!judge_load (self, plan, cancellable, error) || !_vn_judge_run (self, plan, NULL, NULL, NULL, &lag, cancellable, error))
    return NULL;
  return g_steal_pointer (&self);
}

guint
vn_judge_get_n_copies (VnJudge *self)
{
  g_return_val_if_fail (self != NULL, 1);

  return self->n_copies;
}

guint
vn_judge_get_n (VnJudge *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->samples.n;
}

/* Of all runs, in their order, and of each of them. */
static void
judge_fill (const VnJudge *self,
            VnJudgement   *judgement)
{
  g_autofree guint *runs = g_new (guint, self->n_runs + 1);

  judgement->each = g_array_new (FALSE, FALSE, sizeof (double));
  for (guint r = 0; r < self->n_runs; r++)
    {
      double mean = _vn_judge_find_mean (self, judgement->sums, &r, 1);

      g_array_append_val (judgement->each, mean);
      runs[r] = r;
    }
  judgement->sqnr_db = _vn_judge_find_mean (self, judgement->sums, runs, self->n_runs);
}

/* Returns: (transfer full) (nullable): it knows the task; %NULL: there is none that could be told */
static VnKeptMeter *
judge_make_meter (const VnJudge *self)
{
  g_autoptr(VnKeptMeter) meter = vn_kept_meter_new (self->model, NULL, 1);
  gboolean enough = FALSE;

  for (guint s = 0; s < self->samples.n && !enough; s++)
    if (self->inputs[s] != NULL)
      {
        VnTaskOutputs all = _vn_judge_describe_outputs (self, s, self->outputs[s * self->n_copies]);

        enough = vn_kept_meter_look (meter, &all);
      }
  return vn_kept_meter_get_task (meter) != VN_TASK_OTHER ? g_steal_pointer (&meter) : NULL;
}

static VnPlan *
judge_make_plan (const VnJudge  *self,
                 VnModel        *model,
                 GError        **error)
{
  VnPlanOptions options = vn_plan_options_for_samples (self->samples.shapes);
  g_autoptr(VnPlan) plan = NULL;

  options.ends = TRUE;
  plan = vn_plan_new (model, &options, NULL, error);
  if (plan == NULL ||
      (vn_plan_get_n_inputs (plan) == self->n_inputs && vn_plan_get_n_outputs (plan) == self->n_outputs))
    return g_steal_pointer (&plan);
  g_set_error_literal (error, VN_ERROR, VN_ERROR_SHAPE, _("The inputs or outputs of the quantized model differ "
                                                          "from those of the float model"));
  return NULL;
}

/* @rival: (nullable) */
static gboolean
judge_measure (VnJudge       *self,
               VnModel       *model,
               const VnJudgeRival   *rival,
               VnJudgement   *judgement,
               GCancellable  *cancellable,
               GError       **error)
{
  g_autoptr(VnPlan) plan = judge_make_plan (self, model, error);
  g_autoptr(VnKeptMeter) meter = NULL;
  gsize n = (gsize) self->n_runs * self->places[self->n_outputs];
  double lag;

  *judgement = (VnJudgement) { 0 };
  if (plan == NULL)
    return FALSE;
  judgement->sums = g_new (VnErrorSum, n + 1);
  for (gsize i = 0; i < n; i++)
    vn_error_sum_init (&judgement->sums[i]);
  meter = judge_make_meter (self);
  if (!_vn_judge_run (self, plan, judgement->sums, meter, rival, &lag, cancellable, error))
    {
      vn_judgement_clear (judgement);
      return FALSE;
    }
  judgement->hopeless = lag < 0;
  if (judgement->hopeless)
    judgement->sqnr_db = rival->best->sqnr_db + lag;
  else
    judge_fill (self, judgement);
  if (meter != NULL && !judgement->hopeless)
    vn_kept_meter_finish (meter, 0, &judgement->kept);
  return TRUE;
}

/**
 * vn_judge_measure:
 * @model: a network with the inputs and outputs of the float one
 * @judgement: (out): to be cleared
 *
 * Returns: %FALSE with an error if @model cannot be run
 */
gboolean
vn_judge_measure (VnJudge       *self,
                  VnModel       *model,
                  VnJudgement   *judgement,
                  GCancellable  *cancellable,
                  GError       **error)
{
  g_return_val_if_fail (self != NULL && model != NULL && judgement != NULL, FALSE);

  return judge_measure (self, model, NULL, judgement, cancellable, error);
}

/**
 * vn_judge_measure_against:
 * @best: (nullable): by the same judge
 * @least_gain: in dB: what @model must have more than @best to be of use
 * @judgement: (out): to be cleared
 *
 * As vn_judge_measure(); but a network that is far from that on a part of the runs is not run on the others.
 */
gboolean
vn_judge_measure_against (VnJudge            *self,
                          VnModel            *model,
                          const VnJudgement  *best,
                          double              least_gain,
                          VnJudgement        *judgement,
                          GCancellable       *cancellable,
                          GError            **error)
{
  const VnJudgeRival rival = { best, least_gain };

  g_return_val_if_fail (self != NULL && model != NULL && judgement != NULL, FALSE);

  return judge_measure (self, model, best != NULL && best->each != NULL ? &rival : NULL, judgement, cancellable, error);
}
