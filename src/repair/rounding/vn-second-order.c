/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Second-order rounding from the front of a network to its end, a stop at a time, of layers that read the same value: the
 * quantized network, with the layers before already rounded, goes there on all samples, and beside it the float one, where what
 * it computes counts. What the layers read decides how their weights are rounded. At the end, parts of the network without which
 * the outputs are nearer to the float ones are taken back. */
#include "second-order-private.h"

#include "vn-graph-edit.h"
#include "vn-i18n.h"
#include "vn-linalg.h"
#include "vn-memory.h"

/* Parts that a network is judged in at least. */
#define PARTS 8

static void
second_order_clear (VnSecondOrder *self)
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

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (VnSecondOrder, second_order_clear)

/* ---- the layers ---- */

static gboolean
second_order_can_round (const VnQuantRow *row)
{
  return vn_quant_row_has_integers (row) && row->tensor.role == VN_TENSOR_WEIGHT && row->converted == NULL;
}

static void
second_order_add_layers (VnSecondOrder *self,
                         const VnNode  *node)
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
second_order_list_layers (VnSecondOrder *self,
                          GError       **error)
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

/* ---- what an earlier run has finished ---- */

/* Layers from @first on that have been taken. A stop that an earlier run did not come to the end of begins anew. */
static gboolean
second_order_is_kept (const VnSecondOrder *self,
                      guint                first)
{
  gboolean kept = self->input->journal != NULL;

  for (guint i = first; i < self->n_done && kept; i++)
    kept = vn_rounding_journal_has (self->input->journal, i);
  return kept;
}

static gboolean
second_order_take_kept (VnSecondOrder *self,
                        guint          first,
                        GError       **error)
{
  gboolean told;

  for (guint i = first; i < self->n_done; i++)
    {
      VnRoundedLayer *layer = g_ptr_array_index (self->layers, i);

      if (!vn_rounding_journal_read (self->input->journal, i, &layer->before->shape, &layer->after, error) ||
          !vn_rounding_journal_read_counts (self->input->journal, i, layer->n_read, &told, error))
        return FALSE;
      if (told)
        vn_second_order_note_unreached (self, layer);
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
second_order_keep (VnSecondOrder *self,
                   guint          first,
                   GError       **error)
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
second_order_list_batch (VnSecondOrder           *self,
                         const VnSecondOrderStop *stop)
{
  g_clear_pointer (&self->batch, g_ptr_array_unref);
  self->batch = g_ptr_array_new ();
  for (guint i = stop->first; i < stop->last; i++)
    if (self->reads[i] != VN_SECOND_ORDER_NOWHERE)
      g_ptr_array_add (self->batch, g_ptr_array_index (self->layers, i));
}

static gboolean
second_order_do_stop (VnSecondOrder           *self,
                      const VnSecondOrderStop *stop,
                      GError                 **error)
{
  const gboolean is_last = self->at + 1 == self->stops->len;

  self->n_done = stop->last;
  second_order_list_batch (self, stop);
  if (second_order_is_kept (self, stop->first))
    {
      g_ptr_array_set_size (self->batch, 0);
      if (!second_order_take_kept (self, stop->first, error) || (!is_last && !vn_second_order_pass (self, error)))
        return FALSE;
    }
  else if (!vn_second_order_round_stop (self, error) || !second_order_keep (self, stop->first, error))
    return FALSE;
  for (guint i = stop->first; i < stop->last; i++)
    self->gain->n_tried += ((VnRoundedLayer *) g_ptr_array_index (self->layers, i))->after != NULL;
  vn_second_order_set_weights (self, stop->first, stop->last, TRUE);
  vn_second_order_report (self);
  for (guint i = 0; i < VN_LAYER_PASS_WALKS && self->walks[i] != NULL; i++)
    vn_layer_walk_leave (self->walks[i]);
  vn_memory_give_back ();
  return is_last || vn_second_order_set_quantized (self, self->at + 1, error);
}

/* @ends: (element-type guint): gets where parts of the network end, between stops. */
static gboolean
second_order_do_stops (VnSecondOrder *self,
                       GArray        *ends,
                       GError       **error)
{
  const guint most = (self->layers->len + PARTS - 1) / PARTS;
  guint first = 0;

  if (self->layers->len == 0)
    return TRUE;
  if (!vn_second_order_start (self, error))
    return FALSE;
  for (self->at = 0; self->at < self->stops->len; self->at++)
    {
      const VnSecondOrderStop *stop = g_ptr_array_index (self->stops, self->at);

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
second_order_do_all (VnSecondOrder *self,
                     GError       **error)
{
  g_autoptr(GArray) ends = g_array_new (FALSE, FALSE, sizeof (guint));
  double plain_db = 0;

  if (self->input->judge != NULL && !vn_second_order_measure_all (self, VN_ROUNDING_PLAIN, &plain_db, error))
    return FALSE;
  if (!second_order_do_stops (self, ends, error))
    return FALSE;
  for (guint i = 0; i < VN_LAYER_PASS_WALKS; i++)
    g_clear_pointer (&self->walks[i], vn_layer_walk_free);
  self->gain->n_kept = self->layers->len;
  return self->input->judge == NULL || vn_second_order_review_all (self, ends, plain_db, error);
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
vn_second_order_round (const VnRepairInput *input,
                       VnRepairGain        *gain,
                       GCancellable        *cancellable,
                       GError             **error)
{
  g_auto(VnSecondOrder) self = { .input = input, .gain = gain, .cancellable = cancellable };

  g_return_val_if_fail (input != NULL && input->prepared != NULL && input->plan != NULL && gain != NULL, NULL);

  *gain = (VnRepairGain) { 0 };
  if (!vn_linalg_init (_("set “rounding” to “nearest”"), error))
    return NULL;
  self.model = vn_model_copy (input->prepared);
  if (!second_order_list_layers (&self, error) || !second_order_do_all (&self, error))
    return NULL;
  return g_steal_pointer (&self.model);
}
