/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Networks that go to a stop on all samples. Of several processes each runs a part of the samples, and keeps what lies between
 * stops of these; what the stops want it tells the others. */
#include "layer-pass.h"

#include "vn-sample-loop.h"
#include "vn-sample-pack.h"

typedef struct
{
  VnLayerWalk * const *walks;
  guint                n_walks, n_reads;
  VnTensor          ***reads;      /* by sample that is to be looked at */
} LayerPass;

typedef struct
{
  VnRunner *runners[VN_LAYER_PASS_WALKS];
} LayerPassWorker;

static void
layer_pass_stop (gpointer worker)
{
  LayerPassWorker *self = worker;

  for (guint i = 0; i < VN_LAYER_PASS_WALKS; i++)
    if (self->runners[i] != NULL)
      vn_sample_runner_stop (self->runners[i]);
  g_free (self);
}

static gpointer
layer_pass_start (guint      n_inside,
                  gpointer   data,
                  GError   **error)
{
  const LayerPass *self = data;
  LayerPassWorker *worker = g_new0 (LayerPassWorker, 1);

  for (guint i = 0; i < self->n_walks; i++)
    {
      worker->runners[i] = vn_layer_walk_new_runner (self->walks[i], n_inside, error);
      if (worker->runners[i] != NULL)
        continue;
      layer_pass_stop (worker);
      return NULL;
    }
  return worker;
}

static gboolean
layer_pass_scan (gpointer       worker,
                 guint          item,
                 VnTensor     **inputs,
                 gpointer       data,
                 GCancellable  *cancellable,
                 GError       **error)
{
  LayerPass *self = data;
  VnTensor **reads = self->reads[item] = g_new0 (VnTensor *, self->n_reads + 1);

  for (guint i = 0; i < self->n_walks; i++)
    {
      if (!vn_layer_walk_run (self->walks[i], ((LayerPassWorker *) worker)->runners[i], item, inputs, reads, cancellable, error))
        return FALSE;
      reads += vn_layer_walk_count_reads (self->walks[i]);
    }
  return TRUE;
}

static GBytes *
layer_pass_pack (guint      item,
                 gpointer   data,
                 GError   **error)
{
  LayerPass *self = data;

  return vn_sample_pack_tensors (self->reads[item], self->n_reads, error);
}

static gboolean
layer_pass_take (guint           item,
                 gconstpointer   bytes,
                 gsize           size,
                 gpointer        data,
                 GError        **error)
{
  LayerPass *self = data;

  self->reads[item] = g_new0 (VnTensor *, self->n_reads + 1);
  return vn_sample_take_tensors (bytes, size, self->reads[item], self->n_reads, error);
}

static const VnSampleFuncs layer_pass_funcs = { .start = layer_pass_start, .scan = layer_pass_scan, .stop = layer_pass_stop,
                                                .pack = layer_pass_pack, .take = layer_pass_take };

static void
layer_pass_drop (LayerPass *self,
                 guint      sample)
{
  if (self->reads[sample] != NULL)
    vn_tensor_clear_all (self->reads[sample], self->n_reads);
  g_clear_pointer (&self->reads[sample], g_free);
}

/* As many samples at a time as there are processes: what their layers read is in memory. */
static gboolean
layer_pass_run (LayerPass        *self,
                VnSampleLoop     *loop,
                guint             n,
                VnLayerPassLook   look,
                gpointer          data,
                GCancellable     *cancellable,
                GError          **error)
{
  const guint n_ranks = vn_sample_loop_get_n_ranks (loop);

  for (guint from = 0; from < n; from += n_ranks)
    {
      const guint end = MIN (from + n_ranks, n);

      if (!vn_sample_loop_run (loop, from, end - from, cancellable, error))
        return FALSE;
      for (guint i = from; i < end; i++)
        {
          if (self->reads[i] != NULL && !look (i, self->reads[i], data, cancellable, error))
            return FALSE;
          layer_pass_drop (self, i);
        }
    }
  return TRUE;
}

/**
 * vn_layer_pass_run:
 * @walks: (array length=n_walks): of the same samples, each begun
 *
 * Runs all networks up to their stops.
 *
 * Returns: whether all samples that can be read have run
 */
gboolean
vn_layer_pass_run (VnLayerWalk * const    *walks,
                   guint                   n_walks,
                   const VnRepairSamples  *samples,
                   VnLayerPassLook         look,
                   gpointer                data,
                   GCancellable           *cancellable,
                   GError                **error)
{
  VnPlan *plans[VN_LAYER_PASS_WALKS] = { NULL };
  LayerPass self = { .walks = walks, .n_walks = n_walks };
  g_autoptr(VnSampleLoop) loop = NULL;
  VnSamples all;
  gboolean good;

  g_return_val_if_fail (walks != NULL && n_walks <= VN_LAYER_PASS_WALKS && samples != NULL && look != NULL, FALSE);

  for (guint i = 0; i < n_walks; i++)
    {
      plans[i] = vn_layer_walk_get_plan (walks[i]);
      self.n_reads += vn_layer_walk_count_reads (walks[i]);
    }
  all = vn_repair_samples_get (samples, NULL);
  self.reads = g_new0 (VnTensor **, all.n + 1);
  loop = vn_sample_loop_new (&all, &(VnSampleOptions) { .plans = plans, .n_plans = n_walks, .in_turn = TRUE }, &layer_pass_funcs,
                             &self, error);
  good = loop != NULL && layer_pass_run (&self, loop, all.n, look, data, cancellable, error);
  for (guint i = 0; i < all.n; i++)
    layer_pass_drop (&self, i);
  g_free (self.reads);
  for (guint i = 0; i < n_walks && good; i++)
    vn_layer_walk_end (walks[i]);
  return good;
}
