/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The runs of a judge: shared by threads and processes, in parts where those before tell whether the others are worth it. */
#include "judge-copies.h"
#include "judge-private.h"

#include "vn-logit-space.h"
#include "vn-memory.h"
#include "vn-parallel.h"
#include "vn-sample-pack.h"
#include "vn-sample-ranks.h"

#include <math.h>
#include <string.h>

/* In how many parts, each spread over all samples, the runs are done at most where those before show whether the others are worth
 * it, and how many runs there must be in one. */
#define MOST_PARTS 4
#define LEAST_RUNS 8

/* In standard errors: by how much a network must be worse on the runs so far to be looked at no further. */
#define CERTAIN 4

typedef struct
{
  VnJudge     *judge;
  VnPlan      *plan;          /* whose inputs may be of other floats than those of the float network */
  VnRunner   **runners;       /* by worker */
  VnErrorSum  *sums;          /* by run, from places on by output; NULL: the float network runs */
  VnKeptMeter *meter;         /* nullable: of the answers */
  const guint *runs;          /* what is run now */
  GVariant   **kept;          /* nullable: where processes share the runs: by run (nullable): what the meter has added */
} Trial;

void
_vn_judge_free_tensors (VnTensor **tensors,
                        guint      n)
{
  vn_tensor_clear_all (tensors, n);
  g_free (tensors);
}

/* Each output over all of the runs, averaged over the outputs. */
double
_vn_judge_find_mean (const VnJudge    *self,
                     const VnErrorSum *sums,
                     const guint      *runs,
                     guint             n_runs)
{
  double total = 0;
  guint n = 0;

  for (guint i = 0; i < self->n_outputs; i++)
    {
      VnErrorSum all[1 + VN_MOST_PARTS];

      vn_part_sums_init (all, self->partitions[i]);
      for (guint r = 0; r < n_runs; r++)
        vn_part_sums_merge (all, self->partitions[i], &sums[runs[r] * self->places[self->n_outputs] + self->places[i]]);
      if (all[0].n == 0 && all[0].n_bad == 0)
        continue;
      total += vn_part_sums_get_sqnr (all, self->partitions[i]);
      n++;
    }
  return n > 0 ? total / n : vn_sqnr_bound (INFINITY, 0);
}

/* ---- running ---- */

/* Position by position: logits of a large vocabulary are not copied. */
static gboolean
judge_add_logits (VnErrorSum      *sum,
                  const VnTensor  *wanted,
                  const VnTensor  *found,
                  GError         **error)
{
  const gsize n = (gsize) wanted->shape.dims[wanted->shape.rank - 1];
  g_autofree double *roots = vn_try_new (double, n, error);
  g_autofree float *weighed = roots != NULL ? vn_try_new (float, 2 * n, error) : NULL;

  if (weighed == NULL)
    return FALSE;
  for (gsize at = 0; at + n <= wanted->n_elements && n > 0; at += n)
    {
      vn_logits_weigh_position ((const float *) wanted->data + at, (const float *) found->data + at, n, roots, weighed,
                                weighed + n);
      vn_error_sum_add (sum, weighed, weighed + n, n);
    }
  return TRUE;
}

/* Of output @i. */
static gboolean
judge_add_error (const VnJudge     *self,
                 guint              i,
                 VnErrorSum        *sums,
                 const VnTensor    *wanted,
                 const VnTensor    *found,
                 GError           **error)
{
  if (wanted == NULL || found == NULL || wanted->dtype != VN_DTYPE_F32 || found->dtype != VN_DTYPE_F32 ||
      wanted->n_elements != found->n_elements)
    return TRUE;
  if (self->logits[i] && wanted->shape.rank > 0)
    return judge_add_logits (sums, wanted, found, error);
  vn_part_sums_add (sums, self->partitions[i], &wanted->shape, wanted->data, found->data);
  return TRUE;
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
        taken[i] = inputs[i]->dtype == VN_DTYPE_F32 && vn_dtype_is_float (dtype) ? vn_tensor_convert (inputs[i], dtype, error)
                                                                                 : vn_tensor_ref (inputs[i]);
      good = inputs[i] == NULL || taken[i] != NULL;
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

VnTaskOutputs
_vn_judge_describe_outputs (const VnJudge    *self,
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
  described[0] = _vn_judge_describe_outputs (self, sample, self->outputs[run]);
  described[1] = _vn_judge_describe_outputs (self, sample, outputs);
  if (trial->kept != NULL)
    trial->kept[run] = g_variant_ref_sink (vn_kept_meter_add_packed (trial->meter, sample, described));
  else
    vn_kept_meter_add (trial->meter, sample, described);
}

static gboolean
judge_run_item (gsize     item,
                guint     worker,
                gpointer  data,
                GError  **error)
{
  Trial *trial = data;
  VnJudge *self = trial->judge;
  const gsize run = trial->runs[item];
  VnTensor **outputs;
  gboolean good = TRUE;

  if (self->inputs[run / self->n_copies] == NULL)
    return TRUE;
  outputs = g_new0 (VnTensor *, self->n_outputs + 1);
  if (!judge_run_network (trial, trial->runners[worker], run, outputs, error) ||
      !judge_to_float (outputs, self->n_outputs, error))
    {
      _vn_judge_free_tensors (outputs, self->n_outputs);
      return FALSE;
    }
  if (trial->sums == NULL)
    {
      self->outputs[run] = outputs;
      return TRUE;
    }
  for (guint i = 0; i < self->n_outputs && good; i++)
    good = judge_add_error (self, i, &trial->sums[run * self->places[self->n_outputs] + self->places[i]], self->outputs[run][i],
                            outputs[i], error);
  judge_add_answers (trial, run, outputs);
  _vn_judge_free_tensors (outputs, self->n_outputs);
  return good;
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
judge_pack (gsize      item,
            gpointer   data,
            GError   **error)
{
  const Trial *trial = data;
  const VnJudge *self = trial->judge;
  const gsize run = trial->runs[item];
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
judge_take (gsize           item,
            gconstpointer   bytes,
            gsize           size,
            gpointer        data,
            GError        **error)
{
  const Trial *trial = data;
  VnJudge *self = trial->judge;
  const gsize run = trial->runs[item];

  if (trial->sums != NULL)
    return judge_take_sums (trial, run, bytes, size, error);
  self->outputs[run] = g_new0 (VnTensor *, self->n_outputs + 1);
  return vn_sample_take_tensors (bytes, size, self->outputs[run], self->n_outputs, error);
}

static const VnSharedFuncs judge_funcs = { judge_run_item, judge_pack, judge_take };

/* What outputs that cannot be handed on, such as strings, each process computes itself. */
static gboolean
judge_run_missing (gsize     item,
                   guint     worker,
                   gpointer  data,
                   GError  **error)
{
  const Trial *trial = data;

  return trial->judge->outputs[trial->runs[item]] != NULL || judge_run_item (item, worker, data, error);
}

/* @n of the runs that the trial names now. */
static gboolean
judge_run_some (Trial         *trial,
                guint          n,
                guint          n_threads,
                GCancellable  *cancellable,
                GError       **error)
{
  gboolean good;

  if (trial->meter != NULL && vn_sample_ranks_get_n () > 1)
    trial->kept = g_new0 (GVariant *, trial->judge->n_runs + 1);
  good = vn_sample_ranks_for (n_threads, n, &judge_funcs, trial, cancellable, error) &&
         (trial->sums != NULL || vn_parallel_for (n_threads, n, judge_run_missing, trial, cancellable, error));
  for (guint i = 0; trial->kept != NULL && i < trial->judge->n_runs; i++)
    g_clear_pointer (&trial->kept[i], g_variant_unref);
  g_clear_pointer (&trial->kept, g_free);
  return good;
}

/* ---- all runs ---- */

/* The standard error of the mean gain of the first @n runs, as that of vn_judgement_get_error(). */
static double
judge_find_error (const Trial        *trial,
                  const VnJudgeRival *rival,
                  guint               n)
{
  VnJudgement now = { .each = g_array_new (FALSE, FALSE, sizeof (double)) };
  VnJudgement best = { .each = g_array_new (FALSE, FALSE, sizeof (double)) };
  double error;

  for (guint i = 0; i < n; i++)
    {
      double mean = _vn_judge_find_mean (trial->judge, trial->sums, &trial->runs[i], 1);

      g_array_append_val (now.each, mean);
      g_array_append_val (best.each, g_array_index (rival->best->each, double, trial->runs[i]));
    }
  error = vn_judgement_get_error (&now, &best);
  vn_judgement_clear (&now);
  vn_judgement_clear (&best);
  return error;
}

/* By how many dB the first @n runs are worse, if what they must reach is too far for chance; else 0. So many of all runs are
 * known for certain. */
static double
judge_find_lag (const Trial        *trial,
                const VnJudgeRival *rival,
                guint               n)
{
  double gain = _vn_judge_find_mean (trial->judge, trial->sums, trial->runs, n)
                - _vn_judge_find_mean (trial->judge, rival->best->sums, trial->runs, n);
  double unknown = sqrt (1 - (double) n / trial->judge->n_runs);

  return gain < 0 && gain - rival->least_gain < -CERTAIN * unknown * judge_find_error (trial, rival, n) ? gain : 0;
}

/* @lag: (out): below 0: the runs so far are so much worse than the rival that the others were left out */
static gboolean
judge_run_all (Trial               *trial,
               const VnJudgeRival  *rival,
               guint                n_threads,
               double              *lag,
               GCancellable        *cancellable,
               GError             **error)
{
  const guint n = trial->judge->n_runs, n_parts = rival != NULL ? CLAMP (n / LEAST_RUNS, 1, MOST_PARTS) : 1;
  g_autofree guint *runs = g_new (guint, n + 1);
  guint n_done = 0;

  *lag = 0;
  for (guint part = 0; part < n_parts && *lag == 0; part++)
    {
      guint n_now = 0;

      trial->runs = runs + n_done;
      for (guint run = part; run < n; run += n_parts)
        runs[n_done + n_now++] = run;
      if (!judge_run_some (trial, n_now, n_threads, cancellable, error))
        return FALSE;
      n_done += n_now;
      trial->runs = runs;
      if (n_done < n)
        *lag = judge_find_lag (trial, rival, n_done);
    }
  return TRUE;
}

/*< private >
 * _vn_judge_run:
 * @sums: (nullable): by run; %NULL: @plan is of the float network, whose outputs are kept
 * @lag: (out): below 0: the runs so far are by so many dB worse than those of @rival, and the others were left out
 *
 * Runs the network on all samples and their copies.
 */
gboolean
_vn_judge_run (VnJudge             *self,
               VnPlan              *plan,
               VnErrorSum          *sums,
               VnKeptMeter         *meter,
               const VnJudgeRival  *rival,
               double              *lag,
               GCancellable        *cancellable,
               GError             **error)
{
  guint n_inside, n = vn_plan_share_threads (&plan, 1, 0, self->samples.n_threads, self->n_runs, &n_inside);
  g_autofree VnRunner **runners = g_new0 (VnRunner *, n);
  Trial trial = { .judge = self, .plan = plan, .runners = runners, .sums = sums, .meter = meter };
  gboolean good = TRUE;

  for (guint i = 0; i < n && good; i++)
    if ((good = (runners[i] = vn_runner_new (plan, error)) != NULL))
      vn_runner_set_threads (runners[i], n_inside);
  good = good && judge_run_all (&trial, rival, n, lag, cancellable, error);
  for (guint i = 0; i < n; i++)
    g_clear_pointer (&runners[i], vn_runner_free);
  return good;
}
