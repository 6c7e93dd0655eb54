/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs a network over the samples only as far as the values that are wanted. */
#include "training-samples.h"

#include "judge-copies.h"
#include "vn-i18n.h"
#include "vn-memory.h"
#include "vn-parallel.h"
#include "vn-sample-loop.h"
#include "vn-sample-pack.h"
#include "vn-sample-ranks.h"

static void
training_samples_free (VnTensor ***tensors,
                       guint       n,
                       guint       n_each)
{
  for (guint i = 0; tensors != NULL && i < n; i++)
    {
      if (tensors[i] != NULL)
        vn_tensor_clear_all (tensors[i], n_each);
      g_free (tensors[i]);
    }
  g_free (tensors);
}

static gsize
training_samples_get_bytes (VnTensor **tensors,
                            guint      n)
{
  gsize bytes = 0;

  for (guint i = 0; i < n; i++)
    bytes += tensors[i] != NULL ? tensors[i]->n_bytes : 0;
  return bytes;
}

/* ---- inputs of the network ---- */

void
vn_train_feed_clear (VnTrainFeed *self)
{
  g_return_if_fail (self != NULL);

  training_samples_free (self->inputs, self->n, self->n_inputs);
  *self = (VnTrainFeed) { 0 };
}

/* Samples are moved and mirrored, where they are pictures, so that there are this many at least: to a few, weights fit themselves
 * too closely. */
#define ENOUGH 96

/* Copies of a sample, the last of all. */
static gboolean
training_samples_copy (VnTrainFeed  *self,
                       guint         n_copies,
                       GError      **error)
{
  VnTensor **from = self->inputs[self->n - 1];

  for (guint i = 1; i < n_copies; i++)
    {
      VnTensor **inputs = g_new0 (VnTensor *, self->n_inputs + 1);

      self->inputs[self->n++] = inputs;
      inputs[0] = vn_judge_make_copy (from[0], i, error);
      if (inputs[0] == NULL)
        return FALSE;
    }
  return TRUE;
}

static gboolean
training_samples_keep (gpointer       worker,
                       guint          item,
                       VnTensor     **inputs,
                       gpointer       data,
                       GCancellable  *cancellable,
                       GError       **error)
{
  VnTrainFeed *self = data;
  VnTensor **kept = g_new0 (VnTensor *, self->n_inputs + 1);

  for (guint i = 0; i < self->n_inputs; i++)
    kept[i] = g_steal_pointer (&inputs[i]);
  self->inputs[self->n++] = kept;
  return training_samples_copy (self, self->n_copies, error);
}

/* As many samples as there is room for. Those that cannot be read are left out, with a note. */
static gboolean
training_samples_load (VnTrainFeed            *self,
                       const VnRepairSamples  *samples,
                       gsize                   most_bytes,
                       GError                **error)
{
  static const VnSampleFuncs funcs = { NULL, training_samples_keep, NULL };
  const VnSamples all = vn_repair_samples_get (samples, NULL);
  g_autoptr(VnSampleLoop) loop = vn_sample_loop_new (&all, &(VnSampleOptions) { .in_turn = TRUE }, &funcs, self, error);

  if (loop == NULL)
    return FALSE;
  for (guint i = 0; i < samples->n; i++)
    {
      if (!vn_sample_loop_run (loop, i, 1, NULL, error))
        return FALSE;
      if (self->n > 0 && self->n * training_samples_get_bytes (self->inputs[self->n - 1], self->n_inputs) > most_bytes)
        break;
    }
  return vn_sample_loop_check_read (loop, error);
}

/**
 * vn_train_feed_init:
 * @model: the float network
 * @most_bytes: that may be kept; there may be fewer samples then
 *
 * Returns: %FALSE with an error if no sample can be read
 */
gboolean
vn_train_feed_init (VnTrainFeed            *self,
                    VnModel                *model,
                    const VnRepairSamples  *samples,
                    gsize                   most_bytes,
                    GError                **error)
{
  VnPlanOptions options;
  g_autoptr(VnPlan) plan = NULL;

  g_return_val_if_fail (self != NULL && model != NULL && samples != NULL, FALSE);

  options = vn_plan_options_for_samples (samples->shapes);
  options.ends = TRUE;
  plan = vn_plan_new (model, &options, NULL, error);
  *self = (VnTrainFeed) { .n_threads = samples->n_threads > 0 ? samples->n_threads : vn_parallel_default_threads () };
  if (plan == NULL)
    return FALSE;
  self->n_inputs = vn_plan_get_n_inputs (plan);
  self->n_copies = CLAMP ((ENOUGH + samples->n - 1) / MAX (samples->n, 1), 1, vn_judge_get_most_copies (plan));
  self->inputs = g_new0 (VnTensor **, samples->n * self->n_copies + 1);
  return training_samples_load (self, samples, most_bytes, error);
}

/* ---- values ---- */

void
vn_train_taps_clear (VnTrainTaps *self)
{
  g_return_if_fail (self != NULL);

  training_samples_free (self->tensors, self->n, self->n_values);
  *self = (VnTrainTaps) { 0 };
}

typedef struct
{
  VnTrainTaps       *taps;
  const VnTrainFeed *feed;
  VnPlan            *plan;
  VnRunner         **runners;   /* by worker */
  GPtrArray         *values;
  guint              first;     /* sample of item 0 */
} TapRun;

typedef struct
{
  VnTensor **into;
  GError    *error;
} TapInto;

static void
training_samples_look (const VnValue  *value,
                       guint           tap,
                       const VnTensor *tensor,
                       gpointer        data)
{
  TapInto *self = data;

  if (self->error == NULL && self->into[tap] == NULL)
    self->into[tap] = vn_tensor_new_copy (tensor->dtype, &tensor->shape, tensor->data, &self->error);
}

/* Inputs of the network and constants are not told of by a run. */
static gboolean
training_samples_fill (TapRun     *self,
                       VnTensor  **into,
                       VnTensor  **inputs,
                       GError    **error)
{
  for (guint t = 0; t < self->values->len; t++)
    {
      VnValue *value = g_ptr_array_index (self->values, t);
      VnTensor *constant = vn_value_get_constant (value);

      for (guint i = 0; i < self->feed->n_inputs && into[t] == NULL; i++)
        if (vn_plan_get_input (self->plan, i) == value)
          into[t] = vn_tensor_ref (inputs[i]);
      if (into[t] == NULL && constant != NULL)
        into[t] = vn_tensor_ref (constant);
      if (into[t] == NULL)
        {
          g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("“%s” cannot be observed while the model runs"), value->name);
          return FALSE;
        }
    }
  return TRUE;
}

static gboolean
training_samples_run_item (gsize     item,
                           guint     worker,
                           gpointer  data,
                           GError  **error)
{
  TapRun *self = data;
  guint sample = self->first + (guint) item;
  TapInto into = { self->taps->tensors[sample], NULL };

  vn_runner_set_tap (self->runners[worker], training_samples_look, &into);
  if (!vn_runner_run (self->runners[worker], self->feed->inputs[sample], NULL, NULL, error))
    {
      g_clear_error (&into.error);
      return FALSE;
    }
  if (into.error != NULL)
    {
      g_propagate_error (error, into.error);
      return FALSE;
    }
  return training_samples_fill (self, into.into, self->feed->inputs[sample], error);
}

static GBytes *
training_samples_pack (gsize      item,
                       gpointer   data,
                       GError   **error)
{
  const TapRun *self = data;

  return vn_sample_pack_tensors (self->taps->tensors[self->first + item], self->values->len, error);
}

static gboolean
training_samples_take (gsize           item,
                       gconstpointer   bytes,
                       gsize           size,
                       gpointer        data,
                       GError        **error)
{
  const TapRun *self = data;

  return vn_sample_take_tensors (bytes, size, self->taps->tensors[self->first + item], self->values->len, error);
}

static const VnSharedFuncs training_samples_shared = { training_samples_run_item, training_samples_pack, training_samples_take };

static gboolean
training_samples_run (TapRun        *self,
                      gsize          most_bytes,
                      GCancellable  *cancellable,
                      GError       **error)
{
  VnTrainTaps *taps = self->taps;
  guint n_wanted = self->feed->n;

  /* the first alone: it says how many there is room for */
  for (guint n = 1; taps->n < n_wanted; n = n_wanted - taps->n)
    {
      self->first = taps->n;
      for (guint i = 0; i < n; i++)
        taps->tensors[self->first + i] = g_new0 (VnTensor *, taps->n_values + 1);
      taps->n += n;
      if (!vn_sample_ranks_for (self->feed->n_threads, n, &training_samples_shared, self, cancellable, error))
        return FALSE;
      n_wanted = (guint) MIN ((gsize) n_wanted, MAX (most_bytes / MAX (training_samples_get_bytes (taps->tensors[0],
                                                                                                   taps->n_values), 1), 1));
    }
  return TRUE;
}

/**
 * vn_train_taps_init:
 * @values: (element-type VnValue): of @model
 * @most_bytes: that may be kept
 *
 * Returns: %FALSE with an error if @model cannot be run as far as @values
 */
gboolean
vn_train_taps_init (VnTrainTaps        *self,
                    VnModel            *model,
                    GPtrArray          *values,
                    const VnTrainFeed  *feed,
                    GHashTable         *shapes,
                    gsize               most_bytes,
                    GCancellable       *cancellable,
                    GError            **error)
{
  VnPlanOptions options = vn_plan_options_for_samples (shapes);
  g_autoptr(VnPlan) plan = NULL;
  g_autofree VnRunner **runners = NULL;
  TapRun run;
  gboolean good;

  g_return_val_if_fail (self != NULL && model != NULL && values != NULL && feed != NULL, FALSE);

  options.taps = options.outputs = values;
  plan = vn_plan_new (model, &options, NULL, error);
  runners = g_new0 (VnRunner *, feed->n_threads);
  run = (TapRun) { self, feed, plan, runners, values, 0 };
  good = plan != NULL;
  *self = (VnTrainTaps) { .n_values = values->len, .n_copies = feed->n_copies };
  self->tensors = g_new0 (VnTensor **, feed->n + 1);
  for (guint i = 0; i < feed->n_threads && good; i++)
    good = (runners[i] = vn_runner_new (plan, error)) != NULL;
  good = good && training_samples_run (&run, most_bytes, cancellable, error);
  for (guint i = 0; i < feed->n_threads; i++)
    g_clear_pointer (&runners[i], vn_runner_free);
  return good;
}
