/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs networks on held-out samples and compares their outputs with the float ones, which are run once and kept. Sums are
 * kept by sample and added in their order, so that the figure does not depend on the threads. */
#include "judge-copies.h"
#include "vn-judge.h"

#include "vn-kept-meter.h"
#include "vn-i18n.h"
#include "vn-memory.h"
#include "vn-parallel.h"
#include "vn-sample-loop.h"
#include "vn-sample-pack.h"
#include "vn-sample-ranks.h"

#include <math.h>
#include <string.h>

/* Bytes of float outputs that are kept: of more samples than fit, the first ones serve. */
#define KEEP_BYTES ((gsize) 128 << 20)

struct _VnJudge
{
  VnRepairSamples samples;
  guint           n_outputs, n_inputs;
  guint           n_copies;   /* how often each sample is run, moved a little */
  guint           n_runs;
  VnTensor     *(*make_copy) (const VnTensor *tensor, guint copy, GError **error);
  VnTensor     ***inputs;     /* by sample; NULL: not read */
  VnTensor      **copies;     /* by run (nullable): what copies of samples read, as far as there is room for them */
  VnTensor     ***outputs;    /* by run, of the float network */
  const VnPartition **partitions;   /* by output: (nullable) */
  guint          *places;     /* by output: the first of its sums; behind them how many there are of a run */
  VnModel        *model;      /* the float network, which the names are of */
  const char    **input_names, **output_names;
};

typedef struct
{
  VnJudge     *judge;
  VnPlan      *plan;          /* whose inputs may be of other floats than those of the float network */
  VnRunner   **runners;       /* by worker */
  VnErrorSum  *sums;          /* by run, from places on by output; NULL: the float network runs */
  VnKeptMeter *meter;         /* nullable: of the answers */
  GVariant   **kept;          /* nullable: where processes share the runs: by run (nullable): what the meter has added */
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
  for (guint i = 0; i < self->samples.n; i++)
    judge_free_tensors (self->inputs[i], self->n_inputs);
  for (guint i = 0; i < self->n_runs; i++)
    judge_free_tensors (self->outputs[i], self->n_outputs);
  if (self->copies != NULL)
    judge_free_tensors (self->copies, self->n_runs);
  g_free (self->inputs);
  g_free (self->outputs);
  g_free (self->partitions);
  g_free (self->places);
  g_free (self->input_names);
  g_free (self->output_names);
  g_clear_pointer (&self->model, vn_model_unref);
  g_clear_pointer (&self->samples.parts, vn_parts_unref);
  g_free (self);
}

/* ---- running ---- */

static void
judge_add_error (VnErrorSum        *sums,
                 const VnPartition *partition,
                 const VnTensor    *wanted,
                 const VnTensor    *found)
{
  if (wanted != NULL && found != NULL && wanted->dtype == VN_DTYPE_F32 && found->dtype == VN_DTYPE_F32 &&
      wanted->n_elements == found->n_elements)
    vn_part_sums_add (sums, partition, &wanted->shape, wanted->data, found->data);
}

static gboolean
judge_run_as (Trial              *trial,
              VnRunner           *runner,
              VnTensor * const   *inputs,
              VnTensor          **outputs,
              GError            **error)
{
  guint n = trial->judge->n_inputs;
  g_autofree VnTensor **taken = g_new0 (VnTensor *, n + 1);
  gboolean good = TRUE;

  for (guint i = 0; i < n && good; i++)
    {
      VnDType dtype = vn_plan_get_input_type (trial->plan, i)->dtype;

      if (inputs[i] != NULL)
        good = (taken[i] = inputs[i]->dtype == VN_DTYPE_F32 && vn_dtype_is_float (dtype)
                ? vn_tensor_convert (inputs[i], dtype, error)
                                                                                        : vn_tensor_ref (inputs[i])) != NULL;
    }
  good = good && vn_runner_run (runner, taken, outputs, NULL, error);
  vn_tensor_clear_all (taken, n);
  return good;
}

/* The sample itself, or a copy of it, which only networks with one input get. */
static gboolean
judge_run_network (Trial     *trial,
                   VnRunner  *runner,
                   gsize      run,
                   VnTensor **outputs,
                   GError   **error)
{
  VnJudge *self = trial->judge;
  VnTensor **inputs = self->inputs[run / self->n_copies];
  g_autoptr(VnTensor) copy = NULL;

  if (run % self->n_copies == 0)
    return judge_run_as (trial, runner, inputs, outputs, error);
  copy = self->copies != NULL && self->copies[run] != NULL
         ? vn_tensor_ref (self->copies[run]) : self->make_copy (inputs[0], (guint) (run % self->n_copies), error);
  if (copy == NULL)
    return FALSE;
  if (self->copies != NULL && self->copies[run] == NULL)
    self->copies[run] = vn_tensor_ref (copy);
  return judge_run_as (trial, runner, &copy, outputs, error);
}

/* Outputs of other floats, too, are compared as float32. */
static gboolean
judge_to_float (VnTensor **tensors,
                guint      n,
                GError   **error)
{
  for (guint i = 0; i < n; i++)
    if (tensors[i] != NULL && (tensors[i]->dtype == VN_DTYPE_F16 || tensors[i]->dtype == VN_DTYPE_F64))
      {
        VnTensor *converted = vn_tensor_convert (tensors[i], VN_DTYPE_F32, error);

        if (converted == NULL)
          return FALSE;
        vn_tensor_unref (tensors[i]);
        tensors[i] = converted;
      }
  return TRUE;
}

static VnTaskOutputs
judge_describe_outputs (const VnJudge    *self,
                        guint             sample,
                        VnTensor * const *outputs)
{
  VnTaskOutputs all = { .tensors = outputs, .n = self->n_outputs, .names = self->output_names };

  vn_task_find_inputs (&all, self->inputs[sample], self->input_names, self->n_inputs);
  return all;
}

static void
judge_add_answers (Trial            *trial,
                   gsize             run,
                   VnTensor * const *outputs)
{
  const VnJudge *self = trial->judge;
  guint sample = (guint) (run / self->n_copies);
  VnTaskOutputs described[2];

  if (trial->meter == NULL || run % self->n_copies != 0)
    return;
  described[0] = judge_describe_outputs (self, sample, self->outputs[run]);
  described[1] = judge_describe_outputs (self, sample, outputs);
  if (trial->kept != NULL)
    trial->kept[run] = g_variant_ref_sink (vn_kept_meter_add_packed (trial->meter, sample, described));
  else
    vn_kept_meter_add (trial->meter, sample, described);
}

static gboolean
judge_run_item (gsize     run,
                guint     worker,
                gpointer  data,
                GError  **error)
{
  Trial *trial = data;
  VnJudge *self = trial->judge;
  VnTensor **outputs;

  if (self->inputs[run / self->n_copies] == NULL)
    return TRUE;
  outputs = g_new0 (VnTensor *, self->n_outputs + 1);
  if (!judge_run_network (trial, trial->runners[worker], run, outputs, error) ||
      !judge_to_float (outputs, self->n_outputs, error))
    {
      judge_free_tensors (outputs, self->n_outputs);
      return FALSE;
    }
  if (trial->sums == NULL)
    {
      self->outputs[run] = outputs;
      return TRUE;
    }
  for (guint i = 0; i < self->n_outputs; i++)
    judge_add_error (&trial->sums[run * self->places[self->n_outputs] + self->places[i]], self->partitions[i],
                     self->outputs[run][i], outputs[i]);
  judge_add_answers (trial, run, outputs);
  judge_free_tensors (outputs, self->n_outputs);
  return TRUE;
}

/* ---- several processes ---- */

/* Sums, and where the answers are told, what is kept of them. */
#define SHARE_TYPE "(ayma" VN_KEPT_SUM_TYPE ")"

static gsize
judge_count_sums (const VnJudge *self)
{
  return self->places[self->n_outputs];
}

static GBytes *
judge_pack (gsize      run,
            gpointer   data,
            GError   **error)
{
  const Trial *trial = data;
  const VnJudge *self = trial->judge;
  const gsize n = judge_count_sums (self);
  GVariant *sums;
  g_autoptr(GVariant) all = NULL;

  if (self->inputs[run / self->n_copies] == NULL)
    return NULL;
  if (trial->sums == NULL)
    return vn_sample_pack_tensors (self->outputs[run], self->n_outputs, error);
  sums = g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, &trial->sums[run * n], n * sizeof *trial->sums, 1);
  all = g_variant_ref_sink (g_variant_new ("(@aym@a" VN_KEPT_SUM_TYPE ")", sums, trial->kept != NULL ? trial->kept[run] : NULL));
  return g_variant_get_data_as_bytes (all);
}

static gboolean
judge_take_sums (const Trial    *trial,
                 gsize           run,
                 gconstpointer   bytes,
                 gsize           size,
                 GError        **error)
{
  const gsize n = judge_count_sums (trial->judge);
  g_autoptr(GBytes) whole = g_bytes_new (bytes, size);
  g_autoptr(GVariant) all = g_variant_ref_sink (g_variant_new_from_bytes (G_VARIANT_TYPE (SHARE_TYPE), whole, FALSE));
  g_autoptr(GVariant) sums = g_variant_get_child_value (all, 0), maybe = g_variant_get_child_value (all, 1);
  g_autoptr(GVariant) kept = g_variant_get_maybe (maybe);

  if (g_variant_get_size (sums) != n * sizeof *trial->sums)
    return vn_sample_ranks_refuse (error);
  if (n > 0)
    memcpy (&trial->sums[run * n], g_variant_get_data (sums), n * sizeof *trial->sums);
  return kept == NULL || trial->meter == NULL || vn_kept_meter_take (trial->meter, (guint) run, kept) ||
         vn_sample_ranks_refuse (error);
}

static gboolean
judge_take (gsize           run,
            gconstpointer   bytes,
            gsize           size,
            gpointer        data,
            GError        **error)
{
  const Trial *trial = data;
  VnJudge *self = trial->judge;

  if (trial->sums != NULL)
    return judge_take_sums (trial, run, bytes, size, error);
  self->outputs[run] = g_new0 (VnTensor *, self->n_outputs + 1);
  return vn_sample_take_tensors (bytes, size, self->outputs[run], self->n_outputs, error);
}

static const VnSharedFuncs judge_funcs = { judge_run_item, judge_pack, judge_take };

/* What outputs that cannot be handed on, such as strings, each process computes itself. */
static gboolean
judge_run_missing (gsize     run,
                   guint     worker,
                   gpointer  data,
                   GError  **error)
{
  const Trial *trial = data;

  return trial->judge->outputs[run] != NULL || judge_run_item (run, worker, data, error);
}

static gboolean
judge_run_all (Trial         *trial,
               guint          n_threads,
               GCancellable  *cancellable,
               GError       **error)
{
  const guint n = trial->judge->n_runs;
  gboolean good;

  if (trial->meter != NULL && vn_sample_ranks_get_n () > 1)
    trial->kept = g_new0 (GVariant *, n + 1);
  good = vn_sample_ranks_for (n_threads, n, &judge_funcs, trial, cancellable, error) &&
         (trial->sums != NULL || vn_parallel_for (n_threads, n, judge_run_missing, trial, cancellable, error));
  for (guint i = 0; trial->kept != NULL && i < n; i++)
    g_clear_pointer (&trial->kept[i], g_variant_unref);
  g_clear_pointer (&trial->kept, g_free);
  return good;
}

/* ---- all runs ---- */

static gboolean
judge_run (VnJudge       *self,
           VnPlan        *plan,
           VnErrorSum    *sums,
           VnKeptMeter   *meter,
           GCancellable  *cancellable,
           GError       **error)
{
  guint n_inside, n = vn_plan_share_threads (&plan, 1, 0, self->samples.n_threads, self->n_runs, &n_inside);
  g_autofree VnRunner **runners = g_new0 (VnRunner *, n);
  Trial trial = { self, plan, runners, sums, meter, NULL };
  gboolean good = TRUE;

  for (guint i = 0; i < n && good; i++)
    if ((good = (runners[i] = vn_runner_new (plan, error)) != NULL))
      vn_runner_set_threads (runners[i], n_inside);
  good = good && judge_run_all (&trial, n, cancellable, error);
  for (guint i = 0; i < n; i++)
    g_clear_pointer (&runners[i], vn_runner_free);
  return good;
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
  for (guint i = 0; i < self->n_outputs; i++)
    {
      self->partitions[i] = vn_parts_get (self->samples.parts, vn_plan_get_output (plan, i)->name);
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
  if (!judge_load (self, plan, cancellable, error) || !judge_run (self, plan, NULL, NULL, cancellable, error))
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

/* Of the runs from @first on: each output over all of them, averaged over the outputs. */
static double
judge_find_mean (const VnJudge    *self,
                 const VnErrorSum *sums,
                 guint             first,
                 guint             n_runs)
{
  double total = 0;
  guint n = 0;

  for (guint i = 0; i < self->n_outputs; i++)
    {
      VnErrorSum all[1 + VN_MOST_PARTS];

      vn_part_sums_init (all, self->partitions[i]);
      for (guint r = first; r < first + n_runs; r++)
        vn_part_sums_merge (all, self->partitions[i], &sums[r * self->places[self->n_outputs] + self->places[i]]);
      if (all[0].n == 0 && all[0].n_bad == 0)
        continue;
      total += vn_part_sums_get_sqnr (all, self->partitions[i]);
      n++;
    }
  return n > 0 ? total / n : vn_sqnr_bound (INFINITY, 0);
}

/* The same for each run alone. */
static GArray *
judge_list_means (const VnJudge    *self,
                  const VnErrorSum *sums)
{
  GArray *means = g_array_new (FALSE, FALSE, sizeof (double));

  for (guint r = 0; r < self->n_runs; r++)
    {
      double mean = judge_find_mean (self, sums, r, 1);

      g_array_append_val (means, mean);
    }
  return means;
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
        VnTaskOutputs all = judge_describe_outputs (self, s, self->outputs[s * self->n_copies]);

        enough = vn_kept_meter_look (meter, &all);
      }
  return vn_kept_meter_get_task (meter) != VN_TASK_OTHER ? g_steal_pointer (&meter) : NULL;
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
  VnPlanOptions options;
  g_autoptr(VnPlan) plan = NULL;
  g_autoptr(VnKeptMeter) meter = NULL;
  g_autofree VnErrorSum *sums = NULL;
  gsize n;

  g_return_val_if_fail (self != NULL && model != NULL && judgement != NULL, FALSE);

  *judgement = (VnJudgement) { 0 };
  options = vn_plan_options_for_samples (self->samples.shapes);
  options.ends = TRUE;
  plan = vn_plan_new (model, &options, NULL, error);
  n = (gsize) self->n_runs * self->places[self->n_outputs];
  sums = g_new (VnErrorSum, n + 1);
  if (plan == NULL)
    return FALSE;
  if (vn_plan_get_n_inputs (plan) != self->n_inputs || vn_plan_get_n_outputs (plan) != self->n_outputs)
    {
      g_set_error_literal (error, VN_ERROR, VN_ERROR_SHAPE, _("The inputs or outputs of the quantized model differ "
                                                              "from those of the float model"));
      return FALSE;
    }
  for (gsize i = 0; i < n; i++)
    vn_error_sum_init (&sums[i]);
  meter = judge_make_meter (self);
  if (!judge_run (self, plan, sums, meter, cancellable, error))
    return FALSE;
  *judgement = (VnJudgement) { judge_find_mean (self, sums, 0, self->n_runs), judge_list_means (self, sums), { 0 } };
  if (meter != NULL)
    vn_kept_meter_finish (meter, 0, &judgement->kept);
  return TRUE;
}
