/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much the error of weights matters, as part of quantizing: mean squares of what matrices of weights are multiplied by in the
 * float network, on samples that were calibrated with. */
#include "vn-job-input.h"

#include "layer-batch.h"
#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-memory.h"
#include "vn-sample-pack.h"
#include "vn-sample-ranks.h"
#include "vn-weight-layer.h"

#include <math.h>
#include <string.h>

/* Positions looked at in each sample. */
#define POSITIONS 400

/* @columns: room for what is read; @sums: float64, of the squares of each column */
typedef struct
{
  VnWeightLayer *layer;
  float         *columns;
  VnTensor      *sums;
} ReachedWeight;

static void
measure_importance_free_weight (gpointer data)
{
  ReachedWeight *self = data;

  vn_weight_layer_free (self->layer);
  g_free (self->columns);
  g_clear_pointer (&self->sums, vn_tensor_unref);
  g_free (self);
}

static gboolean
measure_importance_begin (ReachedWeight *self,
                          GError       **error)
{
  self->columns = vn_try_new (float, self->layer->columns * POSITIONS, error);
  self->sums = self->columns != NULL ? vn_tensor_new (VN_DTYPE_F64, &VN_SHAPE ((gint64) self->layer->columns), error) : NULL;
  if (self->sums == NULL)
    return FALSE;
  memset (self->sums->data, 0, self->sums->n_bytes);
  return TRUE;
}

static gboolean
measure_importance_look (gpointer        data,
                         const VnTensor *read,
                         guint           sample,
                         GError        **error)
{
  ReachedWeight *self = data;
  const gsize k = self->layer->columns, n = vn_weight_layer_gather (self->layer, read, sample, POSITIONS, self->columns);
  double *sums = self->sums->data;

  for (gsize i = 0; i < n; i++)
    for (gsize c = 0; c < k; c++)
      {
        const double square = (double) self->columns[i * k + c] * (double) self->columns[i * k + c];

        sums[c] += isfinite (square) ? square : 0;
      }
  return TRUE;
}

/* Where processes share the samples, each has looked at some of the layers. */
static gboolean
measure_importance_share (gsize    item,
                          guint    worker,
                          gpointer data,
                          GError **error)
{
  return TRUE;
}

static GBytes *
measure_importance_pack (gsize    item,
                         gpointer data,
                         GError **error)
{
  return vn_sample_pack_tensors (&((ReachedWeight *) g_ptr_array_index ((GPtrArray *) data, item))->sums, 1, error);
}

static gboolean
measure_importance_take (gsize         item,
                         gconstpointer bytes,
                         gsize         size,
                         gpointer      data,
                         GError      **error)
{
  ReachedWeight *self = g_ptr_array_index ((GPtrArray *) data, item);

  g_clear_pointer (&self->sums, vn_tensor_unref);
  if (!vn_sample_take_tensors (bytes, size, &self->sums, 1, error))
    return FALSE;
  return (self->sums != NULL && self->sums->dtype == VN_DTYPE_F64 && self->sums->n_elements == self->layer->columns) ||
         vn_sample_ranks_refuse (error);
}

static const VnSharedFuncs sharing = { measure_importance_share, measure_importance_pack, measure_importance_take };

/* ---- the network ---- */

/* All matrices: which of them have blocks, and how these are found, may change. @taps: (out): what they read */
static GPtrArray *
measure_importance_list (VnModel   *prepared,
                         GPtrArray *taps)
{
  GPtrArray *layers = g_ptr_array_new_with_free_func (measure_importance_free_weight);

  for (guint i = 0; i < prepared->graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (prepared->graph->nodes, i);
      VnValue *read = vn_node_get_input (node, 0);
      g_autoptr(VnWeightLayer) layer = vn_weight_layer_new (node);

      if (layer == NULL || layer->groups != 1 || layer->taps != 1 || read == NULL || vn_value_is_constant (read))
        continue;
      g_ptr_array_add (layers, g_new0 (ReachedWeight, 1));
      ((ReachedWeight *) g_ptr_array_index (layers, layers->len - 1))->layer = g_steal_pointer (&layer);
      g_ptr_array_add (taps, read);
    }
  return layers;
}

static VnImportance *
measure_importance_collect (GPtrArray *layers,
                            GError   **error)
{
  g_autoptr(VnImportance) importance = vn_importance_new ();

  for (guint i = 0; i < layers->len; i++)
    {
      const ReachedWeight *read = g_ptr_array_index (layers, i);

      if (!vn_importance_add (importance, read->layer->weight, read->sums->data, read->layer->columns, error))
        return NULL;
    }
  return g_steal_pointer (&importance);
}

/* Of all matrices of weights. */
static VnImportance *
measure_importance_of_network (VnModel               *prepared,
                               const VnRepairSamples *samples,
                               GCancellable          *cancellable,
                               GError               **error)
{
  g_autoptr(GPtrArray) taps = g_ptr_array_new ();
  g_autoptr(GPtrArray) layers = NULL;

  layers = measure_importance_list (prepared, taps);
  for (guint i = 0; i < layers->len; i++)
    if (!measure_importance_begin (g_ptr_array_index (layers, i), error))
      return NULL;
  if (layers->len > 0 &&
      (!vn_layer_batch_run (layers, samples, prepared, taps, measure_importance_look, NULL, cancellable, error) ||
       !vn_sample_ranks_for (samples->n_threads, layers->len, &sharing, layers, cancellable, error)))
    return NULL;
  return measure_importance_collect (layers, error);
}

/* ---- the stage ---- */

/*< private >
 * vn_job_measure_importance:
 * @stats: what ranges are found from
 *
 * Returns: (transfer full) (nullable): @stats with what was measured
 */
VnStats *
vn_job_measure_importance (const VnJobInput  *self,
                           VnStats           *stats,
                           GCancellable      *cancellable,
                           GError           **error)
{
  g_autoptr(GArray) learned = NULL;
  g_autoptr(VnImportance) importance = NULL;
  VnRepairSamples samples;

  g_return_val_if_fail (self != NULL && stats != NULL, NULL);

  if (self->dataset == NULL)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA,
                   _("An importance matrix needs samples: add --data, or turn off importance"));
      return NULL;
    }
  learned = vn_job_take_samples (self->calibration, vn_job_count_rounding_samples (self, self->recipe));
  samples = vn_job_get_samples (self, learned);
  importance = measure_importance_of_network (self->prepared, &samples, cancellable, error);
  return importance != NULL ? vn_stats_with_importance (stats, importance) : NULL;
}
