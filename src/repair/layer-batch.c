/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Layers that are looked at together: as many as memory allows, over all samples. Of several processes each runs a part of the
 * samples, and looks at a part of the layers in all: what is summed up over samples is added in their order, by one process. */
#include "layer-batch.h"

#include "vn-parallel.h"
#include "vn-sample-loop.h"
#include "vn-sample-pack.h"
#include "vn-sample-ranks.h"

/* Bytes that the layers of a batch may take. */
#define BATCH_BYTES ((gsize) 192 << 20)

typedef struct
{
  GPtrArray        *batch;
  VnPlan           *plan;
  VnLayerBatchLook  look;
  VnLayerBatchAdd   add;       /* nullable */
  guint             n_threads, sample;
  guint             n_ranks;
  VnTensor       ***reads;     /* where processes share the samples: by sample that is to be looked at, what the layers read */
  GError           *error;     /* nullable: what went wrong inside a run */
} LayerBatch;

/**
 * vn_layer_batch_take:
 * @n_taken: (inout): how many of @layers were taken before
 * @most: layers that may be taken
 * @get_bytes: what a layer takes while it is looked at
 *
 * Returns: (transfer container): the next of @layers, one at least if any is left
 */
GPtrArray *
vn_layer_batch_take (GPtrArray *layers,
                     guint     *n_taken,
                     guint      most,
                     gsize    (*get_bytes) (gconstpointer layer))
{
  GPtrArray *batch;
  gsize bytes = 0;

  g_return_val_if_fail (layers != NULL && n_taken != NULL && get_bytes != NULL, NULL);

  batch = g_ptr_array_new ();
  while (*n_taken < layers->len && batch->len < most)
    {
      gpointer layer = g_ptr_array_index (layers, *n_taken);

      bytes += get_bytes (layer);
      if (batch->len > 0 && bytes > BATCH_BYTES)
        break;
      g_ptr_array_add (batch, layer);
      ++*n_taken;
    }
  return batch;
}

static void
layer_batch_look (const VnValue  *value,
                  guint           tap,
                  const VnTensor *tensor,
                  gpointer        data)
{
  LayerBatch *self = data;

  if (self->error != NULL)
    return;
  if (self->n_ranks > 1 && self->reads[self->sample][tap] == NULL)
    self->reads[self->sample][tap] = vn_tensor_new_copy (tensor->dtype, &tensor->shape, tensor->data, &self->error);
  else if (self->n_ranks == 1)
    self->look (g_ptr_array_index (self->batch, tap), tensor, self->sample, &self->error);
}

static gboolean
layer_batch_add_item (gsize     item,
                      guint     worker,
                      gpointer  data,
                      GError  **error)
{
  LayerBatch *self = data;

  return !vn_sample_ranks_is_own (item) || self->add (g_ptr_array_index (self->batch, item), error);
}

static gboolean
layer_batch_add (LayerBatch    *self,
                 GCancellable  *cancellable,
                 GError       **error)
{
  return self->add == NULL || vn_parallel_for (self->n_threads, self->batch->len, layer_batch_add_item, self, cancellable, error);
}

static gpointer
layer_batch_start (guint      n_inside,
                   gpointer   data,
                   GError   **error)
{
  return vn_sample_runner_new (((LayerBatch *) data)->plan, n_inside, layer_batch_look, data, error);
}

static gboolean
layer_batch_scan (gpointer       runner,
                  guint          item,
                  VnTensor     **inputs,
                  gpointer       data,
                  GCancellable  *cancellable,
                  GError       **error)
{
  LayerBatch *self = data;

  self->sample = item;
  if (self->n_ranks > 1)
    self->reads[item] = g_new0 (VnTensor *, self->batch->len + 1);
  if (!vn_runner_run (runner, inputs, NULL, cancellable, error))
    return FALSE;
  if (self->error != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&self->error));
      return FALSE;
    }
  return self->n_ranks > 1 || layer_batch_add (self, cancellable, error);
}

/* ---- several processes ---- */

static GBytes *
layer_batch_pack (guint      item,
                  gpointer   data,
                  GError   **error)
{
  LayerBatch *self = data;

  return vn_sample_pack_tensors (self->reads[item], self->batch->len, error);
}

static gboolean
layer_batch_take (guint           item,
                  gconstpointer   bytes,
                  gsize           size,
                  gpointer        data,
                  GError        **error)
{
  LayerBatch *self = data;

  self->reads[item] = g_new0 (VnTensor *, self->batch->len + 1);
  return vn_sample_take_tensors (bytes, size, self->reads[item], self->batch->len, error);
}

static const VnSampleFuncs layer_batch_funcs = { .start = layer_batch_start, .scan = layer_batch_scan,
                                                 .stop = vn_sample_runner_stop, .pack = layer_batch_pack,
                                                 .take = layer_batch_take };

static void
layer_batch_drop (LayerBatch *self,
                  guint       sample)
{
  if (self->reads[sample] != NULL)
    vn_tensor_clear_all (self->reads[sample], self->batch->len);
  g_clear_pointer (&self->reads[sample], g_free);
}

static gboolean
layer_batch_look_item (gsize     item,
                       guint     worker,
                       gpointer  data,
                       GError  **error)
{
  LayerBatch *self = data;
  const VnTensor *read = self->reads[self->sample][item];

  return read == NULL || !vn_sample_ranks_is_own (item) ||
         self->look (g_ptr_array_index (self->batch, item), read, self->sample, error);
}

/* What some samples gave, in their order. */
static gboolean
layer_batch_look_at (LayerBatch    *self,
                     guint          from,
                     guint          n,
                     GCancellable  *cancellable,
                     GError       **error)
{
  for (self->sample = from; self->sample < from + n; self->sample++)
    {
      if (self->reads[self->sample] == NULL)
        continue;
      if (!vn_parallel_for (self->n_threads, self->batch->len, layer_batch_look_item, self, cancellable, error) ||
          !layer_batch_add (self, cancellable, error))
        return FALSE;
      layer_batch_drop (self, self->sample);
    }
  return TRUE;
}

/* As many samples at a time as there are processes: what their layers read is kept. */
static gboolean
layer_batch_run_shared (LayerBatch    *self,
                        VnSampleLoop  *loop,
                        guint          n,
                        GCancellable  *cancellable,
                        GError       **error)
{
  gboolean good = TRUE;

  self->reads = g_new0 (VnTensor **, n + 1);
  for (guint from = 0; from < n && good; from += self->n_ranks)
    {
      const guint n_now = MIN (self->n_ranks, n - from);

      good = vn_sample_loop_run (loop, from, n_now, cancellable, error) &&
             layer_batch_look_at (self, from, n_now, cancellable, error);
    }
  for (guint i = 0; i < n; i++)
    layer_batch_drop (self, i);
  g_clear_pointer (&self->reads, g_free);
  return good;
}

/**
 * vn_layer_batch_run:
 * @taps: (element-type VnValue): of @model: what each layer of @batch reads
 * @add: (nullable): %NULL: there is nothing to do after a sample
 *
 * Runs @model up to the layers of @batch on all samples.
 *
 * Returns: whether all samples that can be read have run
 */
gboolean
vn_layer_batch_run (GPtrArray              *batch,
                    const VnRepairSamples  *samples,
                    VnModel                *model,
                    GPtrArray              *taps,
                    VnLayerBatchLook        look,
                    VnLayerBatchAdd         add,
                    GCancellable           *cancellable,
                    GError                **error)
{
  g_autoptr(VnPlan) plan = NULL;
  VnPlanOptions options;
  LayerBatch self = { .batch = batch, .look = look, .add = add };
  g_autoptr(VnSampleLoop) loop = NULL;
  VnSamples all;
  gboolean good;

  g_return_val_if_fail (batch != NULL && samples != NULL && model != NULL && look != NULL, FALSE);
  g_return_val_if_fail (taps != NULL && taps->len == batch->len, FALSE);

  options = vn_plan_options_for_samples (samples->shapes);
  options.taps = options.outputs = taps;
  plan = vn_plan_new (model, &options, NULL, error);
  self.plan = plan;
  self.n_threads = samples->n_threads;
  all = vn_repair_samples_get (samples, NULL);
  loop = plan != NULL ? vn_sample_loop_new (&all, &(VnSampleOptions) { .plans = &self.plan, .n_plans = 1, .in_turn = TRUE },
                                            &layer_batch_funcs, &self, error) : NULL;
  self.n_ranks = loop != NULL ? vn_sample_loop_get_n_ranks (loop) : 1;
  good = loop != NULL && (self.n_ranks > 1 ? layer_batch_run_shared (&self, loop, all.n, cancellable, error)
                                           : vn_sample_loop_run (loop, 0, all.n, cancellable, error));
  g_clear_error (&self.error);
  return good;
}
