/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Layers that are looked at together: as many as memory allows, over all samples. */
#include "layer-batch.h"

#include "vn-parallel.h"
#include "vn-sample-loop.h"

/* Bytes that the layers of a batch may take. */
#define BATCH_BYTES ((gsize) 192 << 20)

typedef struct
{
  GPtrArray        *batch;
  VnPlan           *plan;
  VnLayerBatchLook  look;
  VnLayerBatchAdd   add;       /* nullable */
  guint             n_threads, sample;
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

  if (self->error == NULL)
    self->look (g_ptr_array_index (self->batch, tap), tensor, self->sample, &self->error);
}

static gboolean
layer_batch_add_item (gsize     item,
                      guint     worker,
                      gpointer  data,
                      GError  **error)
{
  LayerBatch *self = data;

  return self->add (g_ptr_array_index (self->batch, item), error);
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
  if (!vn_runner_run (runner, inputs, NULL, cancellable, error))
    return FALSE;
  if (self->error != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&self->error));
      return FALSE;
    }
  return self->add == NULL || vn_parallel_for (self->n_threads, self->batch->len, layer_batch_add_item, self, cancellable, error);
}

static const VnSampleFuncs layer_batch_funcs = { layer_batch_start, layer_batch_scan, vn_sample_runner_stop };

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
  LayerBatch self = { batch, NULL, look, add, 0, 0, NULL };
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
  good = plan != NULL && vn_samples_each (&all, &(VnSampleOptions) { .plans = &self.plan, .n_plans = 1, .in_turn = TRUE },
                                          &layer_batch_funcs,
                                          &self, cancellable, error);
  g_clear_error (&self.error);
  return good;
}
