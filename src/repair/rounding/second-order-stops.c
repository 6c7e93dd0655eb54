/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stops of second-order rounding: layers that read the same value. Both networks go there on all samples, and the layers are
 * rounded. */
#include "second-order-private.h"

#include "vn-format-traits.h"
#include "vn-graph-edit.h"
#include "vn-i18n.h"
#include "vn-moe.h"
#include "vn-parallel.h"
#include "vn-sample-pack.h"
#include "vn-sample-ranks.h"

/* Bytes that the layers of a stop may take, and values between stops in memory, of each network. */
#define STOP_BYTES ((gsize) 192 << 20)
#define KEPT_BYTES ((gsize) 8 << 20)

static void
second_order_stop_free (VnSecondOrderStop *self)
{
  g_ptr_array_unref (self->names);
  g_ptr_array_unref (self->wanted);
  g_free (self);
}

/* ---- networks ---- */

/*< private >
 * vn_second_order_set_weights:
 *
 * Gives layers from @first on, without @last, their rounded weights or those they had.
 */
void
vn_second_order_set_weights (VnSecondOrder *self,
                             guint          first,
                             guint          last,
                             gboolean       rounded)
{
  g_return_if_fail (self != NULL && last <= self->layers->len);

  for (guint i = first; i < last; i++)
    {
      const VnRoundedLayer *layer = g_ptr_array_index (self->layers, i);
      VnValue *weight = g_hash_table_lookup (self->model->graph->by_name, layer->layer->weight);

      /* what was not found in the quantized network was not rounded */
      vn_graph_set_initializer (self->model->graph, weight, rounded && layer->after != NULL ? layer->after : layer->before);
    }
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
second_order_find_read (const VnSecondOrder  *self,
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
second_order_find_name (const VnSecondOrder *self,
                        VnModel             *quantized,
                        guint                layer)
{
  const VnValue *read = second_order_find_read (self, quantized, g_ptr_array_index (self->layers, layer));

  return read != NULL && !vn_value_is_constant (read) ? read->name : NULL;
}

/* Whether layer @i, which reads @name, belongs to a stop; adds to @bytes what it takes. */
static gboolean
second_order_fits_stop (const VnSecondOrder     *self,
                        const VnSecondOrderStop *stop,
                        guint                    i,
                        const char              *name,
                        gsize                   *bytes)
{
  const VnRoundedLayer *layer = g_ptr_array_index (self->layers, i), *last;
  gboolean shares = FALSE;

  for (guint k = stop->first; k < stop->last && !shares; k++)
    shares = self->reads[k] != VN_SECOND_ORDER_NOWHERE && vn_rounded_layer_can_share (layer, g_ptr_array_index (self->layers, k));
  *bytes += shares ? 0 : vn_rounded_layer_get_bytes (layer);
  last = g_ptr_array_index (self->layers, stop->last - 1);
  if (layer->layer->is_experts || last->layer->is_experts)
    return layer->layer->node == last->layer->node;
  return *bytes <= STOP_BYTES && stop->names->len == 1 && g_str_equal (g_ptr_array_index (stop->names, 0), name);
}

static VnSecondOrderStop *
second_order_add_stop (VnSecondOrder *self,
                       guint          first)
{
  VnSecondOrderStop *stop = g_new (VnSecondOrderStop, 1);

  *stop = (VnSecondOrderStop) { first, first, g_ptr_array_new_with_free_func (g_free), g_ptr_array_new_with_free_func (g_free) };
  g_ptr_array_add (self->stops, stop);
  return stop;
}

/* Layer @i, which reads @name, belongs to @stop. */
static void
second_order_join_stop (VnSecondOrder     *self,
                        VnSecondOrderStop *stop,
                        guint              i,
                        const char        *name)
{
  const VnRoundedLayer *layer = g_ptr_array_index (self->layers, i);

  stop->last = i + 1;
  self->reads[i] = name != NULL ? 0 : VN_SECOND_ORDER_NOWHERE;
  while (name != NULL && self->reads[i] < stop->names->len &&
         !g_str_equal (g_ptr_array_index (stop->names, self->reads[i]), name))
    self->reads[i]++;
  if (name != NULL && self->reads[i] == stop->names->len)
    g_ptr_array_add (stop->names, g_strdup (name));
  if (name != NULL && vn_rounded_layer_has_target (layer) && stop->wanted->len == 0)
    g_ptr_array_add (stop->wanted, g_strdup (vn_node_get_input (layer->layer->node, 0)->name));
}

static gboolean
second_order_cut (VnSecondOrder *self,
                  VnModel       *quantized)
{
  VnSecondOrderStop *stop = NULL;
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
second_order_list_names (const VnSecondOrder *self,
                         gboolean             wanted)
{
  GPtrArray *all = g_ptr_array_new_with_free_func ((GDestroyNotify) g_strfreev);

  for (guint i = 0; i < self->stops->len; i++)
    {
      const VnSecondOrderStop *stop = g_ptr_array_index (self->stops, i);
      GPtrArray *names = wanted ? stop->wanted : stop->names;
      g_autoptr(GStrvBuilder) builder = g_strv_builder_new ();

      for (guint k = 0; k < names->len; k++)
        g_strv_builder_add (builder, g_ptr_array_index (names, k));
      g_ptr_array_add (all, g_strv_builder_end (builder));
    }
  return all;
}

/*< private >
 * vn_second_order_set_quantized:
 * @stop: up to which it will run, behind the one before
 *
 * What runs next is the network as it is rounded now.
 */
gboolean
vn_second_order_set_quantized (VnSecondOrder *self,
                               guint          stop,
                               GError       **error)
{
  g_autoptr(VnModel) quantized = vn_second_order_write (self, self->stops != NULL ? stop : VN_SECOND_ORDER_WHOLE, error);
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

/*< private >
 * vn_second_order_start:
 *
 * Finds the stops, and makes ready for the first.
 */
gboolean
vn_second_order_start (VnSecondOrder *self,
                       GError       **error)
{
  const gsize most = self->input->most_kept > 0 ? self->input->most_kept : KEPT_BYTES;
  g_autoptr(GPtrArray) names = NULL;
  gboolean counts = FALSE;

  self->walks[0] = vn_layer_walk_new (self->input->samples, most);
  if (!vn_second_order_set_quantized (self, 0, error))
    return FALSE;
  for (guint i = 0; i < self->stops->len; i++)
    counts |= ((const VnSecondOrderStop *) g_ptr_array_index (self->stops, i))->wanted->len > 0;
  if (!counts)
    return TRUE;
  self->walks[1] = vn_layer_walk_new (self->input->samples, most);
  names = second_order_list_names (self, TRUE);
  return vn_layer_walk_set_model (self->walks[1], (VnModel *) self->input->prepared, names, error);
}

/* ---- one stop ---- */

typedef struct
{
  VnSecondOrder      *self;
  VnTensor * const *reads;
  guint             sample;
} SecondOrderSample;

static gboolean
second_order_look_item (gsize    item,
                        guint    worker,
                        gpointer data,
                        GError **error)
{
  const SecondOrderSample *sample = data;
  const VnSecondOrder *self = sample->self;
  const VnSecondOrderStop *stop = g_ptr_array_index (self->stops, self->at);
  VnRoundedLayer *layer = g_ptr_array_index (self->batch, item);
  const guint place = self->reads[layer->place];
  const VnTensor *read = place != VN_SECOND_ORDER_NOWHERE ? sample->reads[place] : NULL;
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
  VnSecondOrder *self = data;
  SecondOrderSample now = { self, reads, sample };

  return vn_parallel_for (self->input->samples->n_threads, self->batch->len, second_order_look_item, &now, cancellable, error);
}

/*< private >
 * vn_second_order_pass:
 *
 * Goes to the stop. Layers of the batch are looked at, all groups of each or as many as memory allows.
 */
gboolean
vn_second_order_pass (VnSecondOrder *self,
                      GError       **error)
{
  const guint n = self->walks[1] != NULL ? 2 : 1;

  for (guint i = 0; i < n; i++)
    if (!vn_layer_walk_begin (self->walks[i], self->at, error))
      return FALSE;
  return vn_layer_pass_run (self->walks, n, self->input->samples, second_order_look, self, self->cancellable, error);
}

/* The first layer of this process that reads the same sums up for all of its. */
static gboolean
second_order_begin (VnSecondOrder *self,
                    GError       **error)
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
second_order_factor_item (gsize    item,
                          guint    worker,
                          gpointer data,
                          GError **error)
{
  VnRoundedLayer *layer = g_ptr_array_index ((GPtrArray *) data, item);

  return layer->moments == NULL || vn_rounded_layer_factor (layer, error);
}

static gboolean
second_order_factor (VnSecondOrder *self,
                     GError       **error)
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
second_order_solve_item (gsize    item,
                         guint    worker,
                         gpointer data,
                         GError **error)
{
  const VnSecondOrder *self = data;

  return vn_rounded_layer_solve (g_ptr_array_index (self->batch, item), self->input->samples->n_threads, error);
}

/* The rounded weights, and how much they were rounded by. */
static GBytes *
second_order_pack_item (gsize    item,
                        gpointer data,
                        GError **error)
{
  const VnRoundedLayer *layer = g_ptr_array_index (((const VnSecondOrder *) data)->batch, item);
  VnTensor *tensors[] = { layer->after, layer->n_read };

  return vn_sample_pack_tensors (tensors, G_N_ELEMENTS (tensors), error);
}

static gboolean
second_order_take_item (gsize         item,
                        gconstpointer bytes,
                        gsize         size,
                        gpointer      data,
                        GError      **error)
{
  VnRoundedLayer *layer = g_ptr_array_index (((const VnSecondOrder *) data)->batch, item);
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

/* ---- rounding ---- */

/*< private >
 * vn_second_order_report:
 *
 * Judging takes about as long as rounding.
 */
void
vn_second_order_report (const VnSecondOrder *self)
{
  g_return_if_fail (self != NULL);

  if (self->input->judge == NULL)
    vn_progress_report (self->input->progress, _("layers"), self->n_done, self->layers->len);
  else
    vn_progress_report (self->input->progress, _("steps"), self->n_done + self->n_reviewed, 2 * (guint64) self->layers->len);
}

/*< private >
 * vn_second_order_note_unreached:
 *
 * What no sample reaches is rounded to nearest, which the user should know: other samples may be needed.
 */
void
vn_second_order_note_unreached (const VnSecondOrder  *self,
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
second_order_round_once (VnSecondOrder *self,
                         GError       **error)
{
  const guint n_threads = self->input->samples->n_threads;
  gboolean good;

  good = second_order_begin (self, error) && vn_second_order_pass (self, error) && second_order_factor (self, error) &&
         vn_sample_ranks_for (n_threads, self->batch->len, &second_order_solving, self, self->cancellable, error);
  for (guint i = 0; i < self->batch->len; i++)
    vn_rounded_layer_end (g_ptr_array_index (self->batch, i));
  return good;
}

/*< private >
 * vn_second_order_round_stop:
 *
 * Rounds the layers of the batch, which is empty then.
 */
gboolean
vn_second_order_round_stop (VnSecondOrder *self,
                            GError       **error)
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
          vn_second_order_note_unreached (self, layer);
          g_ptr_array_remove_index (self->batch, i);
        }
    }
  return TRUE;
}
