/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Second-order rounding from the front of a network to its end, a stop at a time, of layers that read the same value: the
 * quantized network, with the layers before already rounded, goes there on all samples, and beside it the float one, where what
 * it computes counts. What the layers read decides how their weights are rounded. At the end, parts of the network without which
 * the outputs are nearer to the float ones are taken back. */
#include "layer-pass.h"
#include "rounded-layer.h"

#include "vn-format-traits.h"
#include "vn-graph-edit.h"
#include "vn-i18n.h"
#include "vn-linalg.h"
#include "vn-memory.h"
#include "vn-moe.h"
#include "vn-sample-pack.h"
#include "vn-sample-ranks.h"

/* Parts that a network is judged in at least. */
#define PARTS 8

/* Bytes that the layers of a stop may take, and values between stops in memory, of each network. */
#define STOP_BYTES ((gsize) 192 << 20)
#define KEPT_BYTES ((gsize) 8 << 20)

/**
 * SecondOrderStop:
 * @first, @last: layers, without the last
 * @names: what they read in the quantized network
 * @wanted: what they read in the float one; empty: it does not count
 */
typedef struct
{
  guint      first, last;
  GPtrArray *names, *wanted;
} SecondOrderStop;

static void
second_order_stop_free (SecondOrderStop *self)
{
  g_ptr_array_unref (self->names);
  g_ptr_array_unref (self->wanted);
  g_free (self);
}

/* What a layer reads, by layer: the place of its name among those of its stop; NOWHERE: it is not in the quantized network */
#define NOWHERE G_MAXUINT

typedef struct
{
  const VnRepairInput *input;
  VnModel             *model;      /* @prepared with the weights rounded so far */
  GPtrArray           *layers;     /* of VnRoundedLayer, from front to end */
  guint               *reads;      /* by layer: place among the names of its stop; NOWHERE */
  GPtrArray           *stops;      /* of SecondOrderStop, from front to end */
  VnLayerWalk         *walks[VN_LAYER_PASS_WALKS];  /* of the quantized network and, nullable, of the float one */
  guint                at;         /* the stop */
  GPtrArray           *batch;      /* of VnRoundedLayer: those of the stop that are not done */
  VnRepairGain        *gain;
  guint                n_done;
  guint                n_verdicts; /* that were found in the journal */
  gboolean             has_best;
  VnJudgement          best;       /* of @model, if @has_best */
  double               best_db;
  GCancellable        *cancellable;
} SecondOrder;

static void
second_order_clear (SecondOrder *self)
{
  g_clear_pointer (&self->model, vn_model_unref);
  g_clear_pointer (&self->batch, g_ptr_array_unref);
  g_clear_pointer (&self->layers, g_ptr_array_unref);
  g_clear_pointer (&self->stops, g_ptr_array_unref);
  g_clear_pointer (&self->reads, g_free);
  for (guint i = 0; i < VN_LAYER_PASS_WALKS; i++)
    g_clear_pointer (&self->walks[i], vn_layer_walk_free);
  vn_judgement_clear (&self->best);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SecondOrder, second_order_clear)

/* ---- the layers ---- */

static gboolean
second_order_can_round (const VnQuantRow *row)
{
  return vn_quant_row_has_integers (row) && row->tensor.role == VN_TENSOR_WEIGHT && row->converted == NULL;
}

static void
second_order_add_layers (SecondOrder  *self,
                         const VnNode *node)
{
  g_autoptr(GPtrArray) list = vn_weight_layer_list (node);

  while (list->len > 0)
    {
      VnWeightLayer *layer = g_ptr_array_steal_index (list, 0);
      const VnQuantRow *row = vn_quant_plan_is_node_quantized (self->input->plan, layer->label)
                              ? vn_quant_plan_find_row (self->input->plan, layer->weight) : NULL;

      if (second_order_can_round (row))
        g_ptr_array_add (self->layers, vn_rounded_layer_new (layer, row, self->layers->len));
      else
        vn_weight_layer_free (layer);
    }
}

static gboolean
second_order_list_layers (SecondOrder  *self,
                          GError   **error)
{
  g_autoptr(GPtrArray) order = vn_graph_sort (self->model->graph, error);
  g_autofree int *roundings = vn_recipe_list_for_nodes (self->input->recipe, VN_LAYER_ROUNDING, self->model->graph);

  if (order == NULL)
    return FALSE;
  self->layers = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_rounded_layer_free);
  for (guint i = 0; i < order->len; i++)
    {
      const VnNode *node = g_ptr_array_index (order, i);

      if (roundings[node->index] != VN_WEIGHT_ROUNDING_NEAREST)
        second_order_add_layers (self, node);
    }
  return TRUE;
}

/* ---- what they read ---- */

static VnModel *
second_order_write (SecondOrder  *self,
                    GError   **error)
{
  const VnRepairInput *input = self->input;
  g_autoptr(VnModel) model = vn_quantize_write (self->model, input->recipe, input->plan, NULL, error);

  if (model == NULL || !vn_model_infer_for_samples (model, input->samples->shapes, error))
    return NULL;
  return g_steal_pointer (&model);
}

/* What the experts of a node read is told by a further output of what computes its result. */
static VnValue *
second_order_find_told (VnModel              *quantized,
                        const VnRoundedLayer *rounded)
{
  const VnValue *before = vn_node_get_output (rounded->layer->node, 0);
  VnValue *result = before != NULL ? vn_graph_find_value (quantized->graph, before->name) : NULL;
  VnNode *node = result != NULL ? result->producer : NULL;

  if (node == NULL || vn_moe_find_inputs (node) == NULL)
    return NULL;
  for (guint i = node->outputs->len; i <= rounded->layer->output; i++)
    {
      g_autofree char *suffix = g_strdup_printf ("%s_read%u", result->name, i);

      vn_node_set_output (node, i, vn_graph_add_value (quantized->graph, suffix, VN_DTYPE_F32, NULL));
    }
  return vn_node_get_output (node, rounded->layer->output);
}

/* What a layer reads in the quantized network. MatMulNBits has another name than what it stands for, and reads the same value. */
static VnValue *
second_order_find_read (const SecondOrder    *self,
                        VnModel              *quantized,
                        const VnRoundedLayer *rounded)
{
  const VnNode *node = vn_graph_find_node (quantized->graph, rounded->layer->label);
  const VnValue *before = vn_node_get_input (rounded->layer->node, 0);

  if (rounded->layer->is_experts)
    return second_order_find_told (quantized, rounded);
  if (node != NULL)
    return vn_node_get_input (node, 0);
  return before != NULL && vn_recipe_get_format (self->input->recipe)->packed_matrices
         ? vn_graph_find_value (quantized->graph, before->name) : NULL;
}

/* ---- stops ---- */

static const char *
second_order_find_name (const SecondOrder *self,
                        VnModel           *quantized,
                        guint              layer)
{
  const VnValue *read = second_order_find_read (self, quantized, g_ptr_array_index (self->layers, layer));

  return read != NULL && !vn_value_is_constant (read) ? read->name : NULL;
}

/* Whether layer @i, which reads @name, belongs to a stop; adds to @bytes what it takes. */
static gboolean
second_order_fits_stop (const SecondOrder     *self,
                        const SecondOrderStop *stop,
                        guint                  i,
                        const char            *name,
                        gsize                 *bytes)
{
  const VnRoundedLayer *layer = g_ptr_array_index (self->layers, i), *last;
  gboolean shares = FALSE;

  for (guint k = stop->first; k < stop->last && !shares; k++)
    shares = self->reads[k] != NOWHERE && vn_rounded_layer_can_share (layer, g_ptr_array_index (self->layers, k));
  *bytes += shares ? 0 : vn_rounded_layer_get_bytes (layer);
  last = g_ptr_array_index (self->layers, stop->last - 1);
  if (layer->layer->is_experts || last->layer->is_experts)
    return layer->layer->node == last->layer->node;
  return *bytes <= STOP_BYTES && stop->names->len == 1 && g_str_equal (g_ptr_array_index (stop->names, 0), name);
}

static SecondOrderStop *
second_order_add_stop (SecondOrder *self,
                       guint        first)
{
  SecondOrderStop *stop = g_new (SecondOrderStop, 1);

  *stop = (SecondOrderStop) { first, first, g_ptr_array_new_with_free_func (g_free), g_ptr_array_new_with_free_func (g_free) };
  g_ptr_array_add (self->stops, stop);
  return stop;
}

/* Layer @i, which reads @name, belongs to @stop. */
static void
second_order_join_stop (SecondOrder     *self,
                        SecondOrderStop *stop,
                        guint            i,
                        const char      *name)
{
  const VnRoundedLayer *layer = g_ptr_array_index (self->layers, i);

  stop->last = i + 1;
  self->reads[i] = name != NULL ? 0 : NOWHERE;
  while (name != NULL && self->reads[i] < stop->names->len &&
         !g_str_equal (g_ptr_array_index (stop->names, self->reads[i]), name))
    self->reads[i]++;
  if (name != NULL && self->reads[i] == stop->names->len)
    g_ptr_array_add (stop->names, g_strdup (name));
  if (name != NULL && vn_rounded_layer_has_target (layer) && stop->wanted->len == 0)
    g_ptr_array_add (stop->wanted, g_strdup (vn_node_get_input (layer->layer->node, 0)->name));
}

static gboolean
second_order_cut (SecondOrder *self,
                  VnModel     *quantized)
{
  SecondOrderStop *stop = NULL;
  gsize bytes = 0;

  self->stops = g_ptr_array_new_with_free_func ((GDestroyNotify) second_order_stop_free);
  self->reads = g_new0 (guint, self->layers->len + 1);
  for (guint i = 0; i < self->layers->len; i++)
    {
      const char *name = second_order_find_name (self, quantized, i);

      if (stop == NULL || (name != NULL && stop->names->len > 0 && !second_order_fits_stop (self, stop, i, name, &bytes)))
        {
          stop = second_order_add_stop (self, i);
          bytes = vn_rounded_layer_get_bytes (g_ptr_array_index (self->layers, i));
        }
      second_order_join_stop (self, stop, i, name);
    }
  return self->layers->len > 0;
}

/* (transfer full) (element-type GStrv): of all stops. */
static GPtrArray *
second_order_list_names (const SecondOrder *self,
                         gboolean           wanted)
{
  GPtrArray *all = g_ptr_array_new_with_free_func ((GDestroyNotify) g_strfreev);

  for (guint i = 0; i < self->stops->len; i++)
    {
      const SecondOrderStop *stop = g_ptr_array_index (self->stops, i);
      GPtrArray *names = wanted ? stop->wanted : stop->names;
      g_autoptr(GStrvBuilder) builder = g_strv_builder_new ();

      for (guint k = 0; k < names->len; k++)
        g_strv_builder_add (builder, g_ptr_array_index (names, k));
      g_ptr_array_add (all, g_strv_builder_end (builder));
    }
  return all;
}

/* The network as it is rounded now: what lies behind the last stop counts. */
static gboolean
second_order_set_quantized (SecondOrder  *self,
                            GError      **error)
{
  g_autoptr(VnModel) quantized = second_order_write (self, error);
  g_autoptr(GPtrArray) names = NULL;

  if (quantized == NULL)
    return FALSE;
  if (self->stops == NULL)
    second_order_cut (self, quantized);
  for (guint i = 0; i < self->layers->len; i++)     /* makes experts tell */
    second_order_find_name (self, quantized, i);
  if (!vn_model_infer_for_samples (quantized, self->input->samples->shapes, error))
    return FALSE;
  names = second_order_list_names (self, FALSE);
  return vn_layer_walk_set_model (self->walks[0], quantized, names, error);
}

static gboolean
second_order_start (SecondOrder  *self,
                    GError      **error)
{
  const gsize most = self->input->most_kept > 0 ? self->input->most_kept : KEPT_BYTES;
  g_autoptr(GPtrArray) names = NULL;
  gboolean counts = FALSE;

  self->walks[0] = vn_layer_walk_new (self->input->samples, most);
  if (!second_order_set_quantized (self, error))
    return FALSE;
  for (guint i = 0; i < self->stops->len; i++)
    counts |= ((const SecondOrderStop *) g_ptr_array_index (self->stops, i))->wanted->len > 0;
  if (!counts)
    return TRUE;
  self->walks[1] = vn_layer_walk_new (self->input->samples, most);
  names = second_order_list_names (self, TRUE);
  return vn_layer_walk_set_model (self->walks[1], (VnModel *) self->input->prepared, names, error);
}

/* ---- one stop ---- */

typedef struct
{
  SecondOrder      *self;
  VnTensor * const *reads;
  guint             sample;
} SecondOrderSample;

static gboolean
second_order_look_item (gsize     item,
                        guint     worker,
                        gpointer  data,
                        GError  **error)
{
  const SecondOrderSample *sample = data;
  const SecondOrder *self = sample->self;
  const SecondOrderStop *stop = g_ptr_array_index (self->stops, self->at);
  VnRoundedLayer *layer = g_ptr_array_index (self->batch, item);
  const guint place = self->reads[layer->place];
  const VnTensor *read = place != NOWHERE ? sample->reads[place] : NULL;
  const VnTensor *wanted = stop->wanted->len > 0 ? sample->reads[stop->names->len] : NULL;

  if (read == NULL || layer->moments == NULL)
    return TRUE;
  vn_rounded_layer_look_at (layer, read, wanted, sample->sample);
  return vn_rounded_layer_add_sample (layer, self->input->samples->n_threads, self->cancellable, error);
}

static gboolean
second_order_look (guint              sample,
                   VnTensor * const  *reads,
                   gpointer           data,
                   GCancellable      *cancellable,
                   GError           **error)
{
  SecondOrder *self = data;
  SecondOrderSample now = { self, reads, sample };

  return vn_parallel_for (self->input->samples->n_threads, self->batch->len, second_order_look_item, &now, cancellable, error);
}

/* Goes to the stop. Layers that are left are looked at, all groups of each or as many as memory allows. */
static gboolean
second_order_go (SecondOrder  *self,
                 GError      **error)
{
  const guint n = self->walks[1] != NULL ? 2 : 1;

  for (guint i = 0; i < n; i++)
    if (!vn_layer_walk_begin (self->walks[i], self->at, error))
      return FALSE;
  return vn_layer_pass_run (self->walks, n, self->input->samples, second_order_look, self, self->cancellable, error);
}

/* The first layer of this process that reads the same sums up for all of its. */
static gboolean
second_order_begin (SecondOrder  *self,
                    GError      **error)
{
  for (guint i = 0; i < self->batch->len; i++)
    {
      VnRoundedLayer *layer = g_ptr_array_index (self->batch, i);

      vn_rounded_layer_choose_part (layer);
      for (guint k = 0; k < i && layer->shares == NULL; k++)
        {
          VnRoundedLayer *other = g_ptr_array_index (self->batch, k);

          if (vn_sample_ranks_is_own (i) && other->moments != NULL && self->reads[other->place] == self->reads[layer->place] &&
              vn_rounded_layer_can_share (layer, other))
            layer->shares = other;
        }
      if (vn_sample_ranks_is_own (i) && layer->shares == NULL && !vn_rounded_layer_begin (layer, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
second_order_factor_item (gsize     item,
                          guint     worker,
                          gpointer  data,
                          GError  **error)
{
  VnRoundedLayer *layer = g_ptr_array_index ((GPtrArray *) data, item);

  return layer->moments == NULL || vn_rounded_layer_factor (layer, error);
}

static gboolean
second_order_factor (SecondOrder  *self,
                     GError      **error)
{
  for (guint i = 0; i < self->batch->len; i++)
    {
      VnRoundedLayer *layer = g_ptr_array_index (self->batch, i);

      if (layer->shares == NULL)
        continue;
      vn_tensor_unref (layer->n_read);
      layer->n_read = vn_tensor_ref (layer->shares->n_read);
    }
  return vn_parallel_for (self->input->samples->n_threads, self->batch->len, second_order_factor_item, self->batch,
                          self->cancellable, error);
}

static gboolean
second_order_solve_item (gsize     item,
                         guint     worker,
                         gpointer  data,
                         GError  **error)
{
  const SecondOrder *self = data;

  return vn_rounded_layer_solve (g_ptr_array_index (self->batch, item), self->input->samples->n_threads, error);
}

/* The rounded weights, and how much they were rounded by. */
static GBytes *
second_order_pack_item (gsize      item,
                        gpointer   data,
                        GError   **error)
{
  const VnRoundedLayer *layer = g_ptr_array_index (((const SecondOrder *) data)->batch, item);
  VnTensor *tensors[] = { layer->after, layer->n_read };

  return vn_sample_pack_tensors (tensors, G_N_ELEMENTS (tensors), error);
}

static gboolean
second_order_take_item (gsize           item,
                        gconstpointer   bytes,
                        gsize           size,
                        gpointer        data,
                        GError        **error)
{
  VnRoundedLayer *layer = g_ptr_array_index (((const SecondOrder *) data)->batch, item);
  VnTensor *tensors[2] = { NULL };

  if (!vn_sample_take_tensors (bytes, size, tensors, G_N_ELEMENTS (tensors), error) ||
      (tensors[1] == NULL && !vn_sample_ranks_refuse (error)))
    {
      vn_tensor_clear_all (tensors, G_N_ELEMENTS (tensors));
      return FALSE;
    }
  g_clear_pointer (&layer->after, vn_tensor_unref);
  layer->after = tensors[0];
  vn_tensor_unref (layer->n_read);
  layer->n_read = tensors[1];
  return TRUE;
}

static const VnSharedFuncs second_order_solving = { second_order_solve_item, second_order_pack_item, second_order_take_item };

/* ---- keeping what helps ---- */

static void
second_order_set_weights (SecondOrder  *self,
                          GPtrArray *batch,
                          guint      first,
                          guint      last,
                          gboolean   rounded)
{
  for (guint i = first; i < last; i++)
    {
      const VnRoundedLayer *layer = g_ptr_array_index (batch, i);
      VnValue *weight = g_hash_table_lookup (self->model->graph->by_name, layer->layer->weight);

      /* what was not found in the quantized network was not rounded */
      vn_graph_set_initializer (self->model->graph, weight, rounded && layer->after != NULL ? layer->after : layer->before);
    }
}

/* @best: (nullable): what it must exceed to be of use */
static gboolean
second_order_measure (SecondOrder        *self,
                      const VnJudgement  *best,
                      VnJudgement        *judgement,
                      GError            **error)
{
  g_autoptr(VnModel) quantized = second_order_write (self, error);

  return quantized != NULL && vn_judge_measure_against (self->input->judge, quantized, best, 0, judgement, self->cancellable,
                                                        error);
}

/* ---- verdicts ---- */

/* What an earlier run decided about the same layers. @verdict: (out) (nullable): %NULL: it did not come that far */
static gboolean
second_order_find_verdict (SecondOrder              *self,
                           guint                     first,
                           guint                     last,
                           VnRoundingOutcome         least,
                           VnRoundingOutcome         most,
                           const VnRoundingVerdict **verdict,
                           GError                  **error)
{
  *verdict = self->input->journal != NULL ? vn_rounding_journal_get_verdict (self->input->journal, self->n_verdicts) : NULL;
  if (*verdict == NULL)
    return TRUE;
  if ((*verdict)->first != first || (*verdict)->last != last || (*verdict)->outcome < least || (*verdict)->outcome > most)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED,
                   _("The decisions that were kept do not match layers %u to %u, which are judged next: start over without "
                     "--resume"), first, last);
      return FALSE;
    }
  self->n_verdicts++;
  return TRUE;
}

static gboolean
second_order_keep_verdict (SecondOrder        *self,
                           guint               first,
                           guint               last,
                           VnRoundingOutcome   outcome,
                           GError            **error)
{
  const VnRoundingVerdict verdict = { .first = first, .last = last, .outcome = outcome, .best_db = self->best_db };

  if (self->input->journal == NULL)
    return TRUE;
  self->n_verdicts++;
  return vn_rounding_journal_add_verdict (self->input->journal, &verdict, error);
}

static void
second_order_forget_best (SecondOrder *self)
{
  if (self->has_best)
    vn_judgement_clear (&self->best);
  self->has_best = FALSE;
}

/* Of the weights as they are. Whoever goes on with what was kept measures only once. */
static gboolean
second_order_find_best (SecondOrder  *self,
                        GError      **error)
{
  if (self->has_best)
    return TRUE;
  if (!second_order_measure (self, NULL, &self->best, error))
    return FALSE;
  self->has_best = TRUE;
  self->best_db = self->best.sqnr_db;
  return TRUE;
}

/* Of all layers, rounded or not. */
static gboolean
second_order_measure_all (SecondOrder        *self,
                          VnRoundingOutcome   which,
                          double             *sqnr_db,
                          GError            **error)
{
  const VnRoundingVerdict *verdict;

  if (!second_order_find_verdict (self, 0, self->layers->len, which, which, &verdict, error))
    return FALSE;
  second_order_forget_best (self);
  if (verdict != NULL)
    self->best_db = verdict->best_db;
  else if (!second_order_find_best (self, error) || !second_order_keep_verdict (self, 0, self->layers->len, which, error))
    return FALSE;
  *sqnr_db = self->best_db;
  return TRUE;
}

/* Takes rounding back where the outputs are better without it. A layer changes them less than chance does, as its errors add to
 * those of all others or cancel them: what it computes is nearer to the float values for certain, and that decides unless the
 * samples say something else. Leaves the weights without it, or as they were. */
static gboolean
second_order_judge (SecondOrder        *self,
                    guint               first,
                    guint               last,
                    VnRoundingOutcome  *outcome,
                    GError            **error)
{
  g_auto(VnJudgement) without = { 0 };
  double gain;

  if (!second_order_find_best (self, error))
    return FALSE;
  second_order_set_weights (self, self->layers, first, last, FALSE);
  if (!second_order_measure (self, &self->best, &without, error))
    return FALSE;
  gain = without.sqnr_db - self->best.sqnr_db;
  if (!without.hopeless && gain > vn_judgement_get_error (&without, &self->best))
    {
      vn_judgement_take (&self->best, &without);
      self->best_db = self->best.sqnr_db;
      *outcome = VN_ROUNDING_TAKEN_BACK;
    }
  else
    {
      second_order_set_weights (self, self->layers, first, last, TRUE);
      *outcome = gain <= 0 || last - first == 1 ? VN_ROUNDING_KEPT : VN_ROUNDING_SPLIT;
    }
  return second_order_keep_verdict (self, first, last, *outcome, error);
}

static gboolean
second_order_review (SecondOrder  *self,
                     guint         first,
                     guint         last,
                     GError      **error)
{
  const VnRoundingVerdict *verdict;
  VnRoundingOutcome outcome;

  if (!second_order_find_verdict (self, first, last, VN_ROUNDING_KEPT,
                                  last - first == 1 ? VN_ROUNDING_TAKEN_BACK : VN_ROUNDING_SPLIT, &verdict, error))
    return FALSE;
  if (verdict != NULL)
    {
      outcome = verdict->outcome;
      self->best_db = verdict->best_db;
      if (outcome == VN_ROUNDING_TAKEN_BACK)
        second_order_set_weights (self, self->layers, first, last, FALSE);
    }
  else if (!second_order_judge (self, first, last, &outcome, error))
    return FALSE;
  if (outcome == VN_ROUNDING_TAKEN_BACK)
    self->gain->n_kept -= last - first;
  return outcome != VN_ROUNDING_SPLIT || (second_order_review (self, first, (first + last) / 2, error) &&
                                          second_order_review (self, (first + last) / 2, last, error));
}

/* The end of each part is in @ends. */
static gboolean
second_order_review_all (SecondOrder  *self,
                         GArray       *ends,
                         double        plain_db,
                         GError      **error)
{
  double whole_db;

  self->gain->n_kept = self->layers->len;
  if (!second_order_measure_all (self, VN_ROUNDING_WHOLE, &whole_db, error))
    return FALSE;
  for (guint i = 0; i < ends->len; i++)
    if (!second_order_review (self, i > 0 ? g_array_index (ends, guint, i - 1) : 0, g_array_index (ends, guint, i), error))
      return FALSE;
  self->gain->before_db = plain_db;
  self->gain->after_db = self->best_db;
  if (self->best_db >= plain_db)
    return TRUE;
  second_order_set_weights (self, self->layers, 0, self->layers->len, FALSE);
  self->gain->after_db = plain_db;
  self->gain->n_kept = 0;
  return TRUE;
}

/* ---- what an earlier run has finished ---- */

/* What no sample reaches is rounded to nearest, which the user should know: other samples may be needed. */
static void
second_order_note_unreached (const SecondOrder    *self,
                             const VnRoundedLayer *rounded)
{
  const VnWeightLayer *layer = rounded->layer;
  VnNotes *notes = self->input->samples->notes;
  g_autoptr(GString) list = g_string_new (NULL);
  guint n = 0;

  for (gsize g = 0; g < layer->groups; g++)
    if (!vn_rounded_layer_is_reached (rounded, g))
      g_string_append_printf (list, "%s%zu", n++ > 0 ? ", " : "", g);
  if (n == 0 || notes == NULL || (layer->is_experts && layer->input != vn_moe_find_inputs (layer->node)->weight[VN_MOE_FC1]))
    return;
  if (layer->is_experts)
    vn_notes_add (notes, VN_NOTE_WARNING, "experts-unreached", layer->label,
                  _("“%s”: experts that are rounded to nearest, as fewer than %u tokens of the samples go to each: %s "
                    "(%u of %zu)"),
                  layer->label, VN_ROUNDED_LEAST_READ, list->str, n, layer->groups);
  else if (n == layer->groups)
    vn_notes_add (notes, VN_NOTE_WARNING, "layer-unreached", layer->weight,
                  _("“%s” is rounded to nearest: no sample reaches “%s”"), layer->weight, layer->label);
}

static gboolean
second_order_round_once (SecondOrder  *self,
                         GError      **error)
{
  const guint n_threads = self->input->samples->n_threads;
  gboolean good;

  good = second_order_begin (self, error) && second_order_go (self, error) && second_order_factor (self, error) &&
         vn_sample_ranks_for (n_threads, self->batch->len, &second_order_solving, self, self->cancellable, error);
  for (guint i = 0; i < self->batch->len; i++)
    vn_rounded_layer_end (g_ptr_array_index (self->batch, i));
  return good;
}

/* The layers of the stop. */
static gboolean
second_order_round (SecondOrder  *self,
                    GError      **error)
{
  while (self->batch->len > 0)
    {
      if (!second_order_round_once (self, error))
        return FALSE;
      for (guint i = self->batch->len; i-- > 0;)
        {
          VnRoundedLayer *layer = g_ptr_array_index (self->batch, i);

          if (!vn_rounded_layer_is_done (layer))
            continue;
          second_order_note_unreached (self, layer);
          g_ptr_array_remove_index (self->batch, i);
        }
    }
  return TRUE;
}

/* Layers from @first on that have been taken. A stop that an earlier run did not come to the end of begins anew. */
static gboolean
second_order_is_kept (const SecondOrder *self,
                      guint              first)
{
  gboolean kept = self->input->journal != NULL;

  for (guint i = first; i < self->n_done && kept; i++)
    kept = vn_rounding_journal_has (self->input->journal, i);
  return kept;
}

static gboolean
second_order_take_kept (SecondOrder  *self,
                        guint         first,
                        GError      **error)
{
  gboolean told;

  for (guint i = first; i < self->n_done; i++)
    {
      VnRoundedLayer *layer = g_ptr_array_index (self->layers, i);

      if (!vn_rounding_journal_read (self->input->journal, i, &layer->before->shape, &layer->after, error) ||
          !vn_rounding_journal_read_counts (self->input->journal, i, layer->n_read, &told, error))
        return FALSE;
      if (told)
        second_order_note_unreached (self, layer);
    }
  return TRUE;
}

static gboolean
second_order_is_reached (const VnRoundedLayer *rounded)
{
  for (gsize g = 0; g < rounded->layer->groups; g++)
    if (!vn_rounded_layer_is_reached (rounded, g))
      return FALSE;
  return TRUE;
}

static gboolean
second_order_keep (SecondOrder  *self,
                   guint         first,
                   GError      **error)
{
  for (guint i = first; i < self->n_done && self->input->journal != NULL; i++)
    {
      const VnRoundedLayer *layer = g_ptr_array_index (self->layers, i);

      if ((!second_order_is_reached (layer) &&
           !vn_rounding_journal_add_counts (self->input->journal, i, layer->n_read, error)) ||
          !vn_rounding_journal_add (self->input->journal, i, layer->after, error))
        return FALSE;
    }
  return TRUE;
}

static void
second_order_list_batch (SecondOrder           *self,
                         const SecondOrderStop *stop)
{
  g_clear_pointer (&self->batch, g_ptr_array_unref);
  self->batch = g_ptr_array_new ();
  for (guint i = stop->first; i < stop->last; i++)
    if (self->reads[i] != NOWHERE)
      g_ptr_array_add (self->batch, g_ptr_array_index (self->layers, i));
}

static gboolean
second_order_do_stop (SecondOrder           *self,
                      const SecondOrderStop *stop,
                      GError               **error)
{
  const gboolean is_last = self->at + 1 == self->stops->len;

  self->n_done = stop->last;
  second_order_list_batch (self, stop);
  if (second_order_is_kept (self, stop->first))
    {
      g_ptr_array_set_size (self->batch, 0);
      if (!second_order_take_kept (self, stop->first, error) || (!is_last && !second_order_go (self, error)))
        return FALSE;
    }
  else if (!second_order_round (self, error) || !second_order_keep (self, stop->first, error))
    return FALSE;
  for (guint i = stop->first; i < stop->last; i++)
    self->gain->n_tried += ((VnRoundedLayer *) g_ptr_array_index (self->layers, i))->after != NULL;
  second_order_set_weights (self, self->layers, stop->first, stop->last, TRUE);
  vn_progress_report (self->input->progress, _("layers"), self->n_done, self->layers->len);
  for (guint i = 0; i < VN_LAYER_PASS_WALKS && self->walks[i] != NULL; i++)
    vn_layer_walk_leave (self->walks[i]);
  vn_memory_give_back ();
  return is_last || second_order_set_quantized (self, error);
}

/* @ends: (element-type guint): gets where parts of the network end, between stops. */
static gboolean
second_order_do_stops (SecondOrder  *self,
                       GArray       *ends,
                       GError      **error)
{
  const guint most = (self->layers->len + PARTS - 1) / PARTS;
  guint first = 0;

  if (self->layers->len == 0)
    return TRUE;
  if (!second_order_start (self, error))
    return FALSE;
  for (self->at = 0; self->at < self->stops->len; self->at++)
    {
      const SecondOrderStop *stop = g_ptr_array_index (self->stops, self->at);

      if (!second_order_do_stop (self, stop, error))
        return FALSE;
      if (stop->last - first < most && stop->last < self->layers->len)
        continue;
      g_array_append_val (ends, stop->last);
      first = stop->last;
    }
  return TRUE;
}

static gboolean
second_order_do_all (SecondOrder  *self,
                     GError      **error)
{
  g_autoptr(GArray) ends = g_array_new (FALSE, FALSE, sizeof (guint));
  double plain_db = 0;

  if (self->input->judge != NULL && !second_order_measure_all (self, VN_ROUNDING_PLAIN, &plain_db, error))
    return FALSE;
  if (!second_order_do_stops (self, ends, error))
    return FALSE;
  for (guint i = 0; i < VN_LAYER_PASS_WALKS; i++)
    g_clear_pointer (&self->walks[i], vn_layer_walk_free);
  self->gain->n_kept = self->layers->len;
  return self->input->judge == NULL || second_order_review_all (self, ends, plain_db, error);
}

/**
 * vn_second_order_round:
 * @gain: (out): what it has brought
 *
 * Rounds the weights of Conv, ConvTranspose, Gemm and MatMul so that what the layers compute from quantized inputs changes least:
 * Frantar et al., "GPTQ" (2022), with the columns of im2col for convolutions.
 *
 * Returns: (transfer full) (nullable): @prepared with weights that are values of the grids of the plan where they were rounded:
 *   written by the same plan they give the integers found here; %NULL with an error
 */
VnModel *
vn_second_order_round (const VnRepairInput  *input,
                       VnRepairGain         *gain,
                       GCancellable         *cancellable,
                       GError              **error)
{
  g_auto(SecondOrder) self = { .input = input, .gain = gain, .cancellable = cancellable };

  g_return_val_if_fail (input != NULL && input->prepared != NULL && input->plan != NULL && gain != NULL, NULL);

  *gain = (VnRepairGain) { 0 };
  if (!vn_linalg_init (_("set “rounding” to “nearest”"), error))
    return NULL;
  self.model = vn_model_copy (input->prepared);
  if (!second_order_list_layers (&self, error) || !second_order_do_all (&self, error))
    return NULL;
  return g_steal_pointer (&self.model);
}
