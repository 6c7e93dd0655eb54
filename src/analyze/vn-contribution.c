/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each sample runs once through the float network, and what it computed is kept; then, for each tensor, what lies downstream of
 * it runs again with that tensor quantized. Sums are kept by sample and added in the order of the samples, so that the figures
 * do not depend on the threads. */
#include "vn-contribution.h"

#include "contribution-probe.h"

#include "vn-error-sum.h"
#include "vn-i18n.h"
#include "vn-memory.h"
#include "vn-parallel.h"

#include <math.h>

typedef struct
{
  VnRunner  *runner;
  VnTensor **known;        /* by tap: what the float network computes of the present sample */
  GError    *error;
} Worker;

/* Of one sample. */
typedef struct
{
  VnErrorSum *local;       /* by suspect */
  VnErrorSum *outputs;     /* by suspect and output */
} Sums;

typedef struct
{
  VnProbe            *probe;
  VnPlan             *plan;
  const VnChannelRun *run;
  GCancellable       *cancellable;
  Worker             *workers;
  guint               n_workers, n_outputs;
  Sums               *per_sample;
  gint                done;
} Contribution;

static void
contribution_clear (Contribution *self)
{
  for (guint i = 0; self->workers != NULL && i < self->n_workers; i++)
    {
      g_clear_pointer (&self->workers[i].runner, vn_runner_free);
      g_free (self->workers[i].known);
      g_clear_error (&self->workers[i].error);
    }
  g_free (self->workers);
  for (guint s = 0; self->per_sample != NULL && s < self->run->n_samples; s++)
    {
      g_free (self->per_sample[s].local);
      g_free (self->per_sample[s].outputs);
    }
  g_free (self->per_sample);
  g_clear_pointer (&self->plan, vn_plan_unref);
  g_clear_pointer (&self->probe, vn_probe_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Contribution, contribution_clear)

/* ---- one sample ---- */

static void
contribution_keep (const VnValue  *value,
                   guint           tap,
                   const VnTensor *tensor,
                   gpointer        data)
{
  Worker *worker = data;

  if (worker->error != NULL || tensor->dtype != VN_DTYPE_F32)
    return;
  g_clear_pointer (&worker->known[tap], vn_tensor_unref);
  worker->known[tap] = vn_tensor_new_copy (VN_DTYPE_F32, &tensor->shape, tensor->data, &worker->error);
}

static VnTensor *
contribution_shift (const VnTensor  *tensor,
                    const VnTensor  *shift,
                    int              axis,
                    GError         **error)
{
  VnTensor *result = vn_tensor_new_copy (VN_DTYPE_F32, &tensor->shape, tensor->data, error);
  int at = axis < 0 ? tensor->shape.rank - 1 : axis;
  gsize inner;

  if (result == NULL || at < 0 || at >= tensor->shape.rank || tensor->n_elements == 0)
    return result;
  inner = (gsize) vn_shape_count (&tensor->shape, at + 1, tensor->shape.rank);
  for (gsize i = 0; i < result->n_elements; i++)
    {
      gsize channel = i / inner % (gsize) tensor->shape.dims[at];

      ((float *) result->data)[i] += ((const float *) shift->data)[channel % shift->n_elements];
    }
  return result;
}

/* What the suspect's value is when that alone is quantized; %NULL without an error if it was not computed. */
static VnTensor *
contribution_change (Worker           *worker,
                     const VnSuspect  *suspect,
                     GError          **error)
{
  const VnTensor *known = worker->known[suspect->tap];

  if (known == NULL)
    return NULL;
  if (suspect->shift != NULL)
    return contribution_shift (known, suspect->shift, suspect->axis, error);
  if (suspect->twin_tap < 0)
    return vn_probe_round (suspect->row, known, error);
  return worker->known[suspect->twin_tap] != NULL ? vn_tensor_ref (worker->known[suspect->twin_tap]) : NULL;
}

static void
contribution_compare (VnErrorSum     *sum,
                      const VnTensor *wanted,
                      const VnTensor *found)
{
  if (wanted != NULL && wanted->dtype == VN_DTYPE_F32 && (found == NULL || wanted->n_elements == found->n_elements))
    vn_error_sum_add (sum, wanted->data, found != NULL ? found->data : wanted->data, wanted->n_elements);
}

static gboolean
contribution_try (Contribution  *self,
                  Worker       *worker,
                  guint         suspect_at,
                  VnTensor    **inputs,
                  VnTensor    **wanted,
                  Sums         *sums,
                  GError      **error)
{
  const VnSuspect *suspect = &g_array_index (self->probe->suspects, VnSuspect, suspect_at);
  GError *local = NULL;
  g_autoptr(VnTensor) changed = contribution_change (worker, suspect, &local);
  g_autofree VnTensor **outputs = g_new0 (VnTensor *, self->n_outputs + 1);
  VnTapValue given = { suspect->tap, changed };
  gboolean good;

  if (changed == NULL)
    {
      if (local != NULL)
        g_propagate_error (error, local);
      return local == NULL;
    }
  contribution_compare (&sums->local[suspect_at], worker->known[suspect->tap], changed);
  good = vn_runner_run_from (worker->runner, inputs, worker->known, &given, 1, outputs, self->cancellable, error);
  for (guint i = 0; i < self->n_outputs && good; i++)
    contribution_compare (&sums->outputs[suspect_at * self->n_outputs + i], wanted[i], outputs[i]);
  vn_tensor_clear_all (outputs, self->n_outputs);
  return good;
}

static gboolean
contribution_run_float (Contribution  *self,
                        Worker       *worker,
                        VnTensor    **inputs,
                        VnTensor    **outputs,
                        GError      **error)
{
  gboolean good;

  vn_runner_set_tap (worker->runner, contribution_keep, worker);
  good = vn_runner_run (worker->runner, inputs, outputs, self->cancellable, error);
  vn_runner_set_tap (worker->runner, NULL, NULL);   /* nobody looks at the layers with quantized weights from now on */
  if (good && worker->error != NULL)
    g_propagate_error (error, g_steal_pointer (&worker->error));
  else if (good)
    return TRUE;
  g_clear_error (&worker->error);
  return FALSE;
}

static gboolean
contribution_measure (Contribution  *self,
                      Worker       *worker,
                      Sums         *sums,
                      VnTensor    **inputs,
                      VnTensor    **wanted,
                      GError      **error)
{
  guint n = self->probe->suspects->len;

  if (!contribution_run_float (self, worker, inputs, wanted, error))
    return FALSE;
  sums->local = vn_try_new (VnErrorSum, n + 1, error);
  sums->outputs = sums->local != NULL ? vn_try_new (VnErrorSum, (gsize) n * self->n_outputs + 1, error) : NULL;
  if (sums->outputs == NULL)
    return FALSE;
  for (guint i = 0; i < n; i++)
    vn_error_sum_init (&sums->local[i]);
  for (gsize i = 0; i < (gsize) n * self->n_outputs; i++)
    vn_error_sum_init (&sums->outputs[i]);
  for (guint i = 0; i < n; i++)
    if (!contribution_try (self, worker, i, inputs, wanted, sums, error))
      return FALSE;
  return TRUE;
}

static gboolean
contribution_run_item (gsize     item,
                       guint     index,
                       gpointer  data,
                       GError  **error)
{
  Contribution *self = data;
  const VnChannelRun *run = self->run;
  Worker *worker = &self->workers[index];
  guint n = vn_plan_get_n_inputs (self->plan);
  g_autofree VnTensor **inputs = g_new0 (VnTensor *, n + 1);
  g_autofree VnTensor **wanted = g_new0 (VnTensor *, self->n_outputs + 1);
  GError *bad = NULL;
  gboolean good;

  if (!vn_dataset_load (run->dataset, run->samples[item], inputs, &bad))
    good = vn_dataset_leave_out (run->dataset, run->samples[item], bad, run->notes, error);
  else
    good = contribution_measure (self, worker, &self->per_sample[item], inputs, wanted, error);
  vn_tensor_clear_all (inputs, n);
  vn_tensor_clear_all (wanted, self->n_outputs);
  vn_tensor_clear_all (worker->known, self->probe->taps->len);
  vn_progress_report (run->progress, _("samples"), (guint) g_atomic_int_add (&self->done, 1) + 1, run->n_samples);
  return good;
}

/* ---- all ---- */

static gboolean
contribution_make_workers (Contribution  *self,
                           GError      **error)
{
  guint n_threads = self->run->n_threads > 0 ? self->run->n_threads : vn_parallel_default_threads ();

  self->n_workers = CLAMP (self->run->n_samples, 1, n_threads);
  self->workers = g_new0 (Worker, self->n_workers);
  self->per_sample = g_new0 (Sums, self->run->n_samples + 1);
  for (guint i = 0; i < self->n_workers; i++)
    {
      self->workers[i].runner = vn_runner_new (self->plan, error);
      if (self->workers[i].runner == NULL)
        return FALSE;
      self->workers[i].known = g_new0 (VnTensor *, self->probe->taps->len + 1);
    }
  return TRUE;
}

static void
contribution_join (const Contribution *self,
                   gsize              at,
                   gboolean           local,
                   VnErrorSum        *sum)
{
  vn_error_sum_init (sum);
  for (guint s = 0; s < self->run->n_samples; s++)
    if (self->per_sample[s].outputs != NULL)
      vn_error_sum_merge (sum, local ? &self->per_sample[s].local[at] : &self->per_sample[s].outputs[at]);
}

/* Of each output, the noise of all suspects together. */
static double *
contribution_total_noise (const Contribution *self)
{
  double *total = g_new0 (double, self->n_outputs + 1);

  for (guint i = 0; i < self->probe->suspects->len; i++)
    for (guint o = 0; o < self->n_outputs; o++)
      {
        VnErrorSum sum;

        contribution_join (self, (gsize) i * self->n_outputs + o, FALSE, &sum);
        total[o] += sum.dd;
      }
  return total;
}

static guint
contribution_count (const Contribution *self)
{
  guint n = 0;

  for (guint s = 0; s < self->run->n_samples; s++)
    n += self->per_sample[s].outputs != NULL;
  return n;
}

static void
contribution_fill (const Contribution *self,
                   guint              i,
                   const double      *total,
                   VnContribution    *item)
{
  const VnSuspect *suspect = &g_array_index (self->probe->suspects, VnSuspect, i);
  VnErrorSum sum;
  guint n = 0;

  *item = (VnContribution) { .name = g_strdup (suspect->row->tensor.name), .role = suspect->row->tensor.role,
                             .node = suspect->node != NULL ? vn_node_dup_label (suspect->node) : g_strdup (""),
                             .value = g_strdup (suspect->speaker), .share_error = NAN, .n_samples = contribution_count (self) };
  contribution_join (self, i, TRUE, &sum);
  item->local_db = vn_error_sum_bounded_sqnr (&sum);
  for (guint o = 0; o < self->n_outputs; o++)
    {
      contribution_join (self, (gsize) i * self->n_outputs + o, FALSE, &sum);
      if (sum.n == 0 && sum.n_bad == 0)
        continue;
      item->alone_db += vn_error_sum_bounded_sqnr (&sum);
      item->share += total[o] > 0 && isfinite (total[o]) ? sum.dd / total[o] : 0;
      n++;
    }
  item->alone_db = n > 0 ? item->alone_db / n : vn_sqnr_bound (INFINITY, 0);
  item->share = n > 0 ? item->share / n : 0;
}

static VnContributions *
contribution_collect (const Contribution *self)
{
  VnContributions *result = vn_contributions_new_empty ();
  g_autofree double *total = contribution_total_noise (self);

  for (guint i = 0; i < self->probe->suspects->len; i++)
    {
      VnContribution item;

      contribution_fill (self, i, total, &item);
      vn_contributions_add (result, &item);
    }
  return result;
}

/**
 * vn_contribution_measure:
 * @prepared: the float network
 * @written: @prepared, or it with other weights and biases, which become integers instead
 * @plan: of it
 * @run: samples to measure on
 *
 * Measures for every activation, weight and bias that becomes integers what that alone costs: no estimate, the network runs
 * from there on.
 *
 * Returns: (transfer full) (nullable): %NULL with an error if the network cannot be run
 */
VnContributions *
vn_contribution_measure (const VnModel       *prepared,
                         const VnModel       *written,
                         VnQuantPlan         *plan,
                         const VnChannelRun  *run,
                         GCancellable        *cancellable,
                         GError             **error)
{
  VnPlanOptions options = { .input_shapes = run->shapes, .can_restart = TRUE };
  g_auto(Contribution) self = { .run = run, .cancellable = cancellable };

  g_return_val_if_fail (prepared != NULL && plan != NULL && run != NULL, NULL);

  self.probe = vn_probe_new (prepared, written, plan, error);
  if (self.probe == NULL || !vn_model_infer_types (self.probe->model, run->shapes, NULL, error))
    return NULL;
  options.taps = self.probe->taps;
  self.plan = vn_plan_new (self.probe->model, &options, NULL, error);
  if (self.plan == NULL)
    return NULL;
  self.n_outputs = vn_plan_get_n_outputs (self.plan);
  if (!contribution_make_workers (&self, error) ||
      !vn_parallel_for (self.n_workers, run->n_samples, contribution_run_item, &self, cancellable, error))
    return NULL;
  return contribution_collect (&self);
}
