/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a channel holds in front of Relu is c or more nearly always, with c = max (0, mean - 3 deviations): then Relu (x - c) is
 * Relu (x) - c, and the c that the bias has less the next layer adds, by its weights, to its own biases. Mean and deviation are
 * those of samples. A pair of layers stays so if the outputs of held-out samples are no worse, and if the float network still
 * computes the same, beside what quantizing does to it: where zeros are padded it does not. */
#include "vn-absorb.h"

#include "vn-calibrate.h"
#include "vn-error.h"
#include "vn-graph-edit.h"
#include "vn-plan-blocks.h"
#include "vn-resolver.h"
#include "vn-weight-layer.h"

#include "balance-graph.h"

#include <math.h>

#define DEVIATIONS 3

/* In dB: how much nearer than the quantized network the float network stays to what it was. */
#define FLOAT_MARGIN 12

/* @before: what the first layer writes; @after: what the others read */
typedef struct
{
  const VnValue *before, *after;
  double        *amounts;      /* by channel */
  gboolean       chosen;
} AbsorbPair;

typedef struct
{
  const VnBalanceInput *input;
  GPtrArray            *pairs;     /* of AbsorbPair */
  VnStats              *plain, *absorbed;
  GCancellable         *cancellable;
} Absorb;

static void
absorb_free_pair (gpointer data)
{
  g_free (((AbsorbPair *) data)->amounts);
  g_free (data);
}

static void
absorb_clear (Absorb *self)
{
  g_clear_pointer (&self->pairs, g_ptr_array_unref);
  g_clear_pointer (&self->plain, vn_stats_unref);
  g_clear_pointer (&self->absorbed, vn_stats_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Absorb, absorb_clear)

/**
 * vn_absorb_get_amount:
 * @mean, @mean_square: of what a channel holds in front of Relu
 *
 * Returns: what its bias can have less
 */
double
vn_absorb_get_amount (double mean,
                      double mean_square)
{
  return fmax (0, mean - DEVIATIONS * sqrt (fmax (0, mean_square - mean * mean)));
}

/* ---- pairs of layers ---- */

static gboolean
absorb_has_bias (const VnNode *node,
                 gsize         n,
                 gboolean      needed)
{
  const VnValue *bias = vn_node_get_input (node, 2);

  return bias == NULL ? !needed
                      : bias->initializer != NULL && bias->initializer->dtype == VN_DTYPE_F32 &&
                      bias->initializer->n_elements == n && !bias->is_output;
}

static gboolean
absorb_can_take (const VnUse   *use,
                 const VnValue *value)
{
  g_autoptr(VnWeightLayer) layer = use->node->graph == value->graph && use->index == 0 && !vn_node_is (use->node, "MatMul")
                                   ? vn_weight_layer_new (use->node) : NULL;

  return layer != NULL && (gint64) (layer->groups * (layer->columns / layer->taps)) == value->type.shape.dims[1] &&
         absorb_has_bias (use->node, layer->groups * layer->rows, FALSE) &&
         (!vn_node_is (use->node, "Gemm") || (vn_node_get_float (use->node, "alpha", 1) == 1 &&
                                              vn_node_get_float (use->node, "beta", 1) == 1));
}

static void
absorb_find_pair (Absorb        *self,
                  const VnValue *before)
{
  const VnNode *relu = before->uses->len == 1 && !before->is_output ? g_array_index (before->uses, VnUse, 0).node : NULL;
  const VnValue *after = relu != NULL && relu->graph == before->graph && vn_node_is (relu, "Relu")
                         ? vn_node_get_output (relu, 0) : NULL;
  AbsorbPair *pair;

  if (after == NULL || after->is_output || after->uses->len == 0 || after->type.shape.rank < 2 ||
      !absorb_has_bias (before->producer, (gsize) before->type.shape.dims[1], TRUE))
    return;
  for (guint i = 0; i < after->uses->len; i++)
    if (!absorb_can_take (&g_array_index (after->uses, VnUse, i), after))
      return;
  pair = g_new0 (AbsorbPair, 1);
  *pair = (AbsorbPair) { before, after, g_new0 (double, (gsize) before->type.shape.dims[1]), TRUE };
  g_ptr_array_add (self->pairs, pair);
}

static void
absorb_find_pairs (Absorb *self)
{
  const VnGraph *graph = self->input->prepared->graph;
  g_autoptr(GHashTable) captured = vn_graph_find_captured (graph);

  self->pairs = g_ptr_array_new_with_free_func (absorb_free_pair);
  for (guint i = 0; i < graph->values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (graph->values, i);

      if (value->type.kind == VN_TYPE_TENSOR && vn_balance_is_written_by_layer (value, 1) &&
          !g_hash_table_contains (captured, value))
        absorb_find_pair (self, value);
    }
}

/* Pairs with nothing to absorb are none. */
static gboolean
absorb_look (Absorb  *self,
             GError **error)
{
  const VnRepairSamples *samples = self->input->samples;
  const VnSamples run = vn_repair_samples_get (samples, self->input->progress);
  g_autoptr(GPtrArray) values = g_ptr_array_new (), means = NULL, squares = NULL;

  for (guint i = 0; i < self->pairs->len; i++)
    g_ptr_array_add (values, (gpointer) ((const AbsorbPair *) g_ptr_array_index (self->pairs, i))->before);
  means = values->len > 0 ? vn_channel_stats (self->input->prepared, values, NULL, VN_CHANNEL_MEAN, &run, self->cancellable,
                                              error) : NULL;
  squares = means != NULL ? vn_channel_stats (self->input->prepared, values, NULL, VN_CHANNEL_MEAN_SQUARE, &run,
                                              self->cancellable, error) : NULL;
  for (guint i = squares != NULL ? values->len : 0; i-- > 0;)
    {
      AbsorbPair *pair = g_ptr_array_index (self->pairs, i);
      const GArray *mean = g_ptr_array_index (means, i), *square = g_ptr_array_index (squares, i);
      double sum = 0;

      for (guint c = 0; mean != NULL && square != NULL && c < mean->len; c++)
        {
          pair->amounts[c] = vn_absorb_get_amount (g_array_index (mean, double, c), g_array_index (square, double, c));
          sum += pair->amounts[c];
        }
      if (sum == 0)
        g_ptr_array_remove_index (self->pairs, i);
    }
  return values->len == 0 || squares != NULL;
}

/* ---- writing ---- */

static void
absorb_set_bias (VnNode   *node,
                 VnTensor *bias)
{
  VnValue *value = vn_node_get_input (node, 2);
  g_autofree char *label = vn_node_dup_label (node), *name = g_strconcat (label, "_absorbed", NULL);

  if (value != NULL && value->uses->len == 1)
    vn_graph_set_initializer (node->graph, value, bias);
  else
    vn_node_set_input (node, 2, vn_graph_add_initializer (node->graph, name, bias));
}

static gboolean
absorb_take_away (VnNode           *node,
                  const AbsorbPair *pair,
                  GError          **error)
{
  g_autoptr(VnTensor) old = vn_tensor_get_aligned (vn_node_get_input (node, 2)->initializer, error);
  g_autoptr(VnTensor) bias = old != NULL ? vn_tensor_new (VN_DTYPE_F32, &old->shape, error) : NULL;

  if (bias == NULL)
    return FALSE;
  for (gsize c = 0; c < bias->n_elements; c++)
    ((float *) bias->data)[c] = (float) ((double) ((const float *) old->data)[c] - pair->amounts[c]);
  absorb_set_bias (node, bias);
  return TRUE;
}

static gboolean
absorb_add (VnNode           *node,
            const AbsorbPair *pair,
            GError          **error)
{
  g_autoptr(VnWeightLayer) layer = vn_weight_layer_new (node);
  const VnValue *before = vn_node_get_input (node, 2);
  VnShape shape = VN_SHAPE ((gint64) (layer->groups * layer->rows));
  g_autoptr(VnTensor) weights = vn_tensor_get_aligned (vn_node_get_input (node, 1)->initializer, error);
  g_autoptr(VnTensor) old = weights != NULL && before != NULL ? vn_tensor_get_aligned (before->initializer, error) : NULL;
  g_autoptr(VnTensor) bias = weights != NULL && (before == NULL || old != NULL)
                             ? vn_tensor_new (VN_DTYPE_F32, old != NULL ? &old->shape : &shape, error) : NULL;

  if (bias == NULL)
    return FALSE;
  for (gsize i = 0; i < layer->groups * layer->rows; i++)
    {
      double sum = old != NULL ? (double) ((const float *) old->data)[i] : 0;

      for (gsize k = 0; k < layer->columns; k++)
        sum += (double) ((const float *) weights->data)[vn_weight_layer_get_offset (layer, i / layer->rows, i % layer->rows, k)] *
               pair->amounts[i / layer->rows * (layer->columns / layer->taps) + k / layer->taps];
      ((float *) bias->data)[i] = (float) sum;
    }
  absorb_set_bias (node, bias);
  return TRUE;
}

/* Copies keep the order of nodes. */
static VnModel *
absorb_write (const Absorb *self,
              GError      **error)
{
  g_autoptr(VnModel) model = vn_model_copy (self->input->prepared);

  for (guint i = 0; i < self->pairs->len; i++)
    {
      const AbsorbPair *pair = g_ptr_array_index (self->pairs, i);

      if (!pair->chosen)
        continue;
      if (!absorb_take_away (g_ptr_array_index (model->graph->nodes, pair->before->producer->index), pair, error))
        return NULL;
      for (guint u = 0; u < pair->after->uses->len; u++)
        if (!absorb_add (g_ptr_array_index (model->graph->nodes, g_array_index (pair->after->uses, VnUse, u).node->index), pair,
                         error))
          return NULL;
    }
  return g_steal_pointer (&model);
}

/* ---- measuring ---- */

static VnStats *
absorb_calibrate (Absorb   *self,
                  VnModel  *model,
                  GError  **error)
{
  const VnRepairSamples *samples = self->input->samples;
  g_autoptr(GPtrArray) taps = vn_quantize_list_values (model, self->input->recipe);
  VnPlanOptions plan_options = vn_plan_options_for_samples (samples->shapes);
  VnCalibrateOptions options = { .samples = samples->indices, .n_samples = samples->n, .n_threads = samples->n_threads,
                                 .votes = vn_recipe_needs_votes (self->input->recipe),
                                 .few_counts = !vn_recipe_needs_counts (self->input->recipe) };
  g_autoptr(VnPlan) plan = NULL;

  plan_options.taps = taps;
  plan = vn_plan_new_in_blocks (model, &plan_options, NULL, error);
  return plan != NULL ? vn_calibrate (plan, taps, samples->dataset, &options, self->input->progress, NULL, self->cancellable,
                                      error) : NULL;
}

static const VnHistogram *
absorb_lookup (const char *name,
               gpointer    data)
{
  Absorb *self = data;

  for (guint i = 0; i < self->pairs->len; i++)
    {
      const AbsorbPair *pair = g_ptr_array_index (self->pairs, i);

      if (pair->chosen && (g_str_equal (pair->before->name, name) || g_str_equal (pair->after->name, name)))
        return vn_stats_get (self->absorbed, name);
    }
  return vn_stats_get (self->plain, name);
}

static gboolean
absorb_judge (Absorb   *self,
              VnModel  *model,
              double   *sqnr_db,
              GError  **error)
{
  g_auto(VnJudgement) judgement = { 0 };

  if (!vn_model_infer_for_samples (model, self->input->samples->shapes, error) ||
      !vn_judge_measure (self->input->judge, model, &judgement, self->cancellable, error))
    return FALSE;
  *sqnr_db = judgement.sqnr_db;
  return TRUE;
}

/* @float_db: the same of the float network */
static gboolean
absorb_measure (Absorb   *self,
                double   *sqnr_db,
                double   *float_db,
                GError  **error)
{
  const VnBalanceInput *input = self->input;
  g_autoptr(VnModel) model = absorb_write (self, error), quantized = NULL;
  g_autoptr(VnQuantPlan) plan = model != NULL ? vn_quantize_resolve_with (model, input->recipe, absorb_lookup, self, NULL, error)
                                : NULL;

  quantized = plan != NULL ? vn_quantize_write (model, input->recipe, plan, NULL, error) : NULL;
  return quantized != NULL && absorb_judge (self, model, float_db, error) && absorb_judge (self, quantized, sqnr_db, error);
}

/* From front to end, each beside those that were kept. */
static gboolean
absorb_choose (Absorb        *self,
               VnRepairGain  *gain,
               GError       **error)
{
  double db, float_db;

  for (guint i = 0; i < self->pairs->len; i++)
    ((AbsorbPair *) g_ptr_array_index (self->pairs, i))->chosen = FALSE;
  if (!absorb_measure (self, &gain->before_db, &float_db, error))
    return FALSE;
  gain->after_db = gain->before_db;
  for (guint i = 0; i < self->pairs->len; i++)
    {
      AbsorbPair *pair = g_ptr_array_index (self->pairs, i);

      pair->chosen = TRUE;
      if (!absorb_measure (self, &db, &float_db, error))
        return FALSE;
      pair->chosen = db >= gain->after_db && float_db >= db + FLOAT_MARGIN;
      gain->after_db = pair->chosen ? db : gain->after_db;
    }
  return TRUE;
}

/**
 * vn_absorb_biases:
 * @gain: (out): what it has brought; counts pairs of layers
 *
 * Returns: (transfer full) (nullable): @input.prepared, with smaller numbers in front of layers whose biases can take the rest
 */
VnModel *
vn_absorb_biases (const VnBalanceInput *input,
                  VnRepairGain         *gain,
                  GCancellable         *cancellable,
                  GError              **error)
{
  g_auto(Absorb) self = { .input = input, .cancellable = cancellable };
  g_autoptr(VnModel) all = NULL;

  g_return_val_if_fail (input != NULL && input->prepared != NULL && input->samples != NULL && gain != NULL, NULL);

  *gain = (VnRepairGain) { 0 };
  absorb_find_pairs (&self);
  if (!absorb_look (&self, error))
    return NULL;
  gain->n_tried = self.pairs->len;
  all = absorb_write (&self, error);
  if (all == NULL || self.pairs->len == 0 || input->judge == NULL)
    {
      gain->n_kept = self.pairs->len;
      return g_steal_pointer (&all);
    }
  self.plain = absorb_calibrate (&self, input->prepared, error);
  self.absorbed = self.plain != NULL ? absorb_calibrate (&self, all, error) : NULL;
  if (self.absorbed == NULL || !absorb_choose (&self, gain, error))
    return NULL;
  for (guint i = 0; i < self.pairs->len; i++)
    gain->n_kept += ((const AbsorbPair *) g_ptr_array_index (self.pairs, i))->chosen;
  return absorb_write (&self, error);
}
