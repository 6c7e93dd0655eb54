/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Searches a grid of factors for the ranges of weights and of what layers read. A candidate is the plan that the recipe makes of
 * all ranges times a factor: whatever the format demands of scales holds for each. */
#include "vn-range-search.h"

#include "layer-batch.h"
#include "search-layer.h"
#include "vn-i18n.h"
#include "vn-linalg.h"
#include "vn-memory.h"
#include "vn-sample-ranks.h"

/* Factors that are tried, in hundredths: of the same error the first is taken. Small steps change which way single weights are
 * rounded, large ones give up what lies far out. */
static const guint8 candidates[] = { 100, 99, 98, 97, 96, 95, 94, 93, 92, 91, 90, 101, 102, 103, 104, 105, 88, 86, 84, 82, 80, 78,
                                     76, 74, 72, 70,
                                     68, 66, 64, 62, 60, 57, 54, 50, 45, 40 };
#define CANDIDATES G_N_ELEMENTS (candidates)

/* What ranges of activations must bring at least, in dB. */
#define LEAST_GAIN 0.2

typedef struct
{
  const VnRangeSearchInput *input;
  VnStats                  *base;       /* without factors */
  VnRecipe                 *recipe;
  VnQuantPlan              *plans[CANDIDATES];
  GPtrArray                *layers;     /* of VnSearchLayer, from front to end */
  guint                     n_done;
  VnRepairGain             *gain;
  GCancellable             *cancellable;
} RangeSearch;

static void
range_search_clear (RangeSearch *self)
{
  g_clear_pointer (&self->base, vn_stats_unref);
  g_clear_pointer (&self->recipe, vn_recipe_free);
  g_clear_pointer (&self->layers, g_ptr_array_unref);
  for (guint i = 0; i < CANDIDATES; i++)
    g_clear_pointer (&self->plans[i], vn_quant_plan_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (RangeSearch, range_search_clear)

static float
range_search_get_factor (guint i)
{
  return (float) candidates[i] / 100;
}

/* ---- candidates and layers ---- */

static VnQuantPlan *
range_search_resolve (RangeSearch     *self,
                      VnRangeFactors  *factors,
                      GError         **error)
{
  g_autoptr(VnStats) stats = vn_stats_with_factors (self->base, factors);

  return vn_quantize_resolve (self->input->prepared, self->recipe, stats, NULL, error);
}

static gboolean
range_search_make_candidates (RangeSearch  *self,
                              GError      **error)
{
  for (guint i = 0; i < CANDIDATES; i++)
    {
      g_autoptr(VnRangeFactors) factors = vn_range_factors_new_uniform (range_search_get_factor (i), range_search_get_factor (i));

      self->plans[i] = range_search_resolve (self, factors, error);
      if (self->plans[i] == NULL)
        return FALSE;
    }
  return TRUE;
}

static gboolean
range_search_list_layers (RangeSearch  *self,
                          GError      **error)
{
  g_autoptr(GPtrArray) order = vn_graph_sort (self->input->prepared->graph, error);

  if (order == NULL)
    return FALSE;
  self->layers = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_search_layer_free);
  for (guint i = 0; i < order->len; i++)
    {
      g_autoptr(VnWeightLayer) layer = vn_weight_layer_new (g_ptr_array_index (order, i));
      const VnValue *read = layer != NULL ? vn_node_get_input (layer->node, 0) : NULL;

      if (read != NULL && !vn_value_is_constant (read) && vn_quant_plan_is_node_quantized (self->plans[0], layer->label))
        g_ptr_array_add (self->layers, vn_search_layer_new (g_steal_pointer (&layer), self->plans[0], self->input->samples->n));
    }
  return TRUE;
}

/* ---- what the layers read ---- */

static gboolean
range_search_look (gpointer         layer,
                   const VnTensor  *read,
                   guint            sample,
                   GError         **error)
{
  return vn_search_layer_look_at (layer, read, sample, error);
}

static gboolean
range_search_gather (RangeSearch  *self,
                     GPtrArray    *batch,
                     GError      **error)
{
  g_autoptr(GPtrArray) taps = g_ptr_array_new ();

  for (guint i = 0; i < batch->len; i++)
    {
      VnSearchLayer *layer = g_ptr_array_index (batch, i);

      g_ptr_array_add (taps, vn_node_get_input (layer->layer->node, 0));
      if (vn_sample_ranks_is_own (i) && !vn_search_layer_begin (layer, error))
        return FALSE;
    }
  return vn_layer_batch_run (batch, self->input->samples, self->input->prepared, taps, range_search_look, NULL, self->cancellable,
                             error);
}

/* ---- batches ---- */

static gsize
range_search_get_bytes (gconstpointer layer)
{
  return vn_search_layer_get_bytes (layer);
}

static gboolean
range_search_measure_item (gsize     item,
                           guint     worker,
                           gpointer  data,
                           GError  **error)
{
  RangeSearch *self = ((gpointer *) data)[0];
  GPtrArray *batch = ((gpointer *) data)[1];

  return vn_search_layer_measure (g_ptr_array_index (batch, item), self->plans, CANDIDATES, error);
}

static GBytes *
range_search_pack_item (gsize      item,
                        gpointer   data,
                        GError   **error)
{
  return vn_search_layer_pack (g_ptr_array_index ((GPtrArray *) ((gpointer *) data)[1], item), CANDIDATES);
}

static gboolean
range_search_take_item (gsize           item,
                        gconstpointer   bytes,
                        gsize           size,
                        gpointer        data,
                        GError        **error)
{
  return vn_search_layer_take (g_ptr_array_index ((GPtrArray *) ((gpointer *) data)[1], item), bytes, size, CANDIDATES, error);
}

static const VnSharedFuncs range_search_measuring = { range_search_measure_item, range_search_pack_item, range_search_take_item };

static gboolean
range_search_do_batch (RangeSearch  *self,
                       GError      **error)
{
  g_autoptr(GPtrArray) batch = vn_layer_batch_take (self->layers, &self->n_done, self->layers->len, range_search_get_bytes);
  gpointer data[] = { self, batch };
  gboolean good = range_search_gather (self, batch, error) &&
                  vn_sample_ranks_for (self->input->samples->n_threads, batch->len, &range_search_measuring, data,
                                       self->cancellable, error);

  for (guint i = 0; i < batch->len; i++)
    vn_search_layer_end (g_ptr_array_index (batch, i));
  vn_progress_report (self->input->progress, _("layers"), self->n_done, self->layers->len);
  return good;
}

/* ---- choosing ---- */

/* The candidate of least error; of equal ones the widest. */
static guint
range_search_choose (const double *errors,
                     gsize         step)
{
  guint best = 0;

  for (guint i = 1; i < CANDIDATES; i++)
    if (errors[i * step] < errors[best * step])
      best = i;
  return best;
}

static guint
range_search_get_bits (RangeSearch *self,
                       const char  *tensor)
{
  return (guint) vn_dtype_get_bits (vn_quant_plan_find (self->plans[0], tensor)->dtype);
}

static void
range_search_add_weight (RangeSearch         *self,
                         const VnSearchLayer *layer,
                         VnRangeFactors      *factors)
{
  g_autofree float *found = g_new (float, layer->n_scales + 1);

  for (gsize c = 0; c < layer->n_scales; c++)
    found[c] = range_search_get_factor (range_search_choose (layer->weight_errors + c, layer->n_scales));
  if (layer->n_scales > 0)
    vn_range_factors_set (factors, layer->layer->weight, range_search_get_bits (self, layer->layer->weight), layer->n_scales,
                          found, found);
}

/* Several layers may read what has one range. */
static void
range_search_add_read (RangeSearch    *self,
                       const char     *tensor,
                       VnRangeFactors *factors)
{
  double sums[CANDIDATES] = { 0 };
  float found;

  for (guint i = 0; i < self->layers->len; i++)
    {
      const VnSearchLayer *layer = g_ptr_array_index (self->layers, i);

      for (guint k = 0; k < CANDIDATES && g_strcmp0 (layer->read, tensor) == 0; k++)
        sums[k] += layer->read_errors[k];
    }
  found = range_search_get_factor (range_search_choose (sums, 1));
  vn_range_factors_set (factors, tensor, range_search_get_bits (self, tensor), 1, &found, &found);
}

static VnRangeFactors *
range_search_make_factors (RangeSearch *self,
                           gboolean     weights,
                           gboolean     reads)
{
  VnRangeFactors *factors = vn_range_factors_new ();

  for (guint i = 0; i < self->layers->len; i++)
    {
      const VnSearchLayer *layer = g_ptr_array_index (self->layers, i);

      if (weights)
        range_search_add_weight (self, layer, factors);
      if (reads && layer->read != NULL)
        range_search_add_read (self, layer->read, factors);
    }
  return factors;
}

/* ---- keeping what helps ---- */

static gboolean
range_search_measure (RangeSearch     *self,
                      VnRangeFactors  *factors,
                      VnJudgement     *judgement,
                      GError         **error)
{
  g_autoptr(VnQuantPlan) plan = range_search_resolve (self, factors, error);
  g_autoptr(VnModel) model = plan != NULL ? vn_quantize_write (self->input->prepared, self->recipe, plan, NULL, error) : NULL;

  return model != NULL && vn_model_infer_for_samples (model, self->input->samples->shapes, error) &&
         vn_judge_measure (self->input->judge, model, judgement, self->cancellable, error);
}

/* Whether the outputs are better with @factors than with @best by more than @least; chance must be exceeded, too, if there is
 * such a limit. Takes them then. */
static gboolean
range_search_try (RangeSearch     *self,
                  VnRangeFactors  *factors,
                  double           least,
                  VnRangeFactors **best,
                  VnJudgement     *judgement,
                  GError         **error)
{
  g_auto(VnJudgement) with = { 0 };
  double chance;

  if (!range_search_measure (self, factors, &with, error))
    return FALSE;
  chance = least > 0 ? MAX (least, vn_judgement_get_error (&with, judgement)) : 0;
  if (!(with.sqnr_db > judgement->sqnr_db + chance))
    return TRUE;
  vn_judgement_take (judgement, &with);
  vn_range_factors_unref (*best);
  *best = vn_range_factors_ref (factors);
  self->gain->n_kept = self->layers->len;
  return TRUE;
}

/* Ranges of weights are measured on all there is; those of activations cut off what samples that nobody has seen may hold, so
 * they must bring more than chance may. */
static VnRangeFactors *
range_search_keep_best (RangeSearch  *self,
                        GError      **error)
{
  g_autoptr(VnRangeFactors) best = vn_range_factors_new (), weights = NULL, both = NULL;
  g_auto(VnJudgement) judgement = { 0 };

  self->gain->n_tried = self->layers->len;
  weights = range_search_make_factors (self, TRUE, FALSE);
  both = range_search_make_factors (self, TRUE, TRUE);
  if (self->input->judge == NULL)
    {
      self->gain->n_kept = self->layers->len;
      return g_steal_pointer (&both);
    }
  if (!range_search_measure (self, best, &judgement, error))
    return NULL;
  self->gain->before_db = judgement.sqnr_db;
  if (!range_search_try (self, weights, 0, &best, &judgement, error))
    return NULL;
  if (self->gain->n_kept == 0)
    {
      vn_range_factors_unref (both);
      both = range_search_make_factors (self, FALSE, TRUE);
    }
  if (!range_search_try (self, both, LEAST_GAIN, &best, &judgement, error))
    return NULL;
  self->gain->after_db = judgement.sqnr_db;
  return g_steal_pointer (&best);
}

/**
 * vn_range_search:
 * @gain: (out): what it has brought
 *
 * Finds by which factor ranges of weights and activations are best multiplied: so that what layers compute from them is nearest
 * to the float values.
 *
 * Returns: (transfer full) (nullable): the factors; %NULL with an error
 */
VnRangeFactors *
vn_range_search (const VnRangeSearchInput  *input,
                 VnRepairGain              *gain,
                 GCancellable              *cancellable,
                 GError                   **error)
{
  g_auto(RangeSearch) self = { .input = input, .gain = gain, .cancellable = cancellable };

  g_return_val_if_fail (input != NULL && input->prepared != NULL && input->stats != NULL && gain != NULL, NULL);

  *gain = (VnRepairGain) { 0 };
  if (!vn_linalg_init (_("turn “range-search” off"), error))
    return NULL;
  self.base = vn_stats_with_factors (input->stats, NULL);
  self.recipe = vn_recipe_copy (input->recipe);
  self.recipe->range_search = VN_RANGE_SEARCH_OUTPUTS;
  if (!range_search_make_candidates (&self, error) || !range_search_list_layers (&self, error))
    return NULL;
  while (self.n_done < self.layers->len)
    if (!range_search_do_batch (&self, error))
      return NULL;
  return range_search_keep_best (&self, error);
}
