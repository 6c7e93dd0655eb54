/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Blocks end where the fewest tensors lead from what is in front to what is behind, one if there is such a place: in front of the
 * next layer with weights, so that what follows a layer, up to its activation, is trained with it. */
#include "training-cut.h"

#include "vn-gradient.h"
#include "vn-weight-layer.h"

/* Layers and nodes that a block has at most. */
#define MOST_LAYERS 4
#define MOST_NODES 80

typedef struct
{
  GPtrArray *order;       /* of VnNode */
  guint     *position;    /* by VnNode.index */
  guint     *crossing;    /* by position: tensors that lead from there, or before, to behind it */
  gboolean  *layer, *known;
  guint      last_layer;   /* position */
  guint      most_layers;
} TrainingCut;

static void
training_cut_clear (TrainingCut *self)
{
  g_clear_pointer (&self->order, g_ptr_array_unref);
  g_free (self->position);
  g_free (self->crossing);
  g_free (self->layer);
  g_free (self->known);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (TrainingCut, training_cut_clear)

static void
training_cut_free (VnTrainPart *self)
{
  g_ptr_array_unref (self->nodes);
  g_free (self);
}

/* The last position that reads a value; behind all if it is an output of the network or a graph inside a node reads it. */
static guint
training_cut_find_last_use (const TrainingCut  *self,
                            const VnGraph *graph,
                            const VnValue *value,
                            guint          from)
{
  guint last = value->is_output ? self->order->len : from;

  for (guint i = 0; i < value->uses->len; i++)
    {
      const VnUse *use = &g_array_index (value->uses, VnUse, i);

      last = MAX (last, use->node->graph == graph ? self->position[use->node->index] : self->order->len);
    }
  return last;
}

static gboolean
training_cut_is_constant (const VnNode *node)
{
  return node->outputs->len == 1 && vn_node_get_output (node, 0) != NULL && vn_value_is_constant (vn_node_get_output (node, 0));
}

static void
training_cut_look (TrainingCut        *self,
                   const VnGraph *graph)
{
  guint n = self->order->len;

  self->position = g_new0 (guint, graph->nodes->len + 1);
  self->crossing = g_new0 (guint, n + 1);
  self->layer = g_new0 (gboolean, n + 1);
  self->known = g_new0 (gboolean, n + 1);
  for (guint i = 0; i < n; i++)
    self->position[((const VnNode *) g_ptr_array_index (self->order, i))->index] = i;
  for (guint i = 0; i < n; i++)
    {
      const VnNode *node = g_ptr_array_index (self->order, i);
      g_autoptr(VnWeightLayer) layer = vn_weight_layer_new (node);

      self->layer[i] = layer != NULL;
      self->last_layer = layer != NULL ? i : self->last_layer;
      self->known[i] = vn_gradient_check_node (node, NULL) || training_cut_is_constant (node);
      for (guint k = 0; k < node->outputs->len; k++)
        {
          const VnValue *value = vn_node_get_output (node, k);
          guint last = value != NULL && !vn_value_is_constant (value) ? training_cut_find_last_use (self, graph, value, i) : i;

          for (guint p = i; p < MIN (last, n); p++)
            self->crossing[p]++;
        }
    }
}

/* Of classes, what a last Softmax reads says more than the few probabilities that are not nearly 0. */
static gboolean
training_cut_is_end (const TrainingCut *self,
                     guint              at)
{
  const VnNode *node = g_ptr_array_index (self->order, at);

  return at > self->last_layer && (g_str_equal (node->op_type, "Softmax") || g_str_equal (node->op_type, "LogSoftmax"));
}

/* The last position of the block that begins at @first. */
static guint
training_cut_find_end (const TrainingCut *self,
                       guint         first)
{
  guint best = first, best_crossing = G_MAXUINT, n_layers = 0;

  for (guint i = first; i < self->order->len && self->known[i] && i - first < MOST_NODES; i++)
    {
      gboolean whole = i + 1 == self->order->len || self->layer[i + 1] || !self->known[i + 1] ||
                       training_cut_is_end (self, i + 1);

      n_layers += self->layer[i];
      if (n_layers > self->most_layers || (i > first && training_cut_is_end (self, i)))
        break;
      if (n_layers > 0 && (whole || self->crossing[i] == 1) && self->crossing[i] <= best_crossing)
        {
          best = i;
          best_crossing = self->crossing[i];
        }
    }
  return best;
}

static VnTrainPart *
training_cut_take (const TrainingCut *self,
                   guint         first,
                   guint         last)
{
  VnTrainPart *block = g_new0 (VnTrainPart, 1);

  block->nodes = g_ptr_array_new ();
  for (guint i = first; i <= last; i++)
    {
      g_ptr_array_add (block->nodes, g_ptr_array_index (self->order, i));
      block->n_layers += self->layer[i];
    }
  return block;
}

/**
 * vn_training_cut:
 *
 * Returns: (transfer full) (nullable) (element-type VnTrainPart): blocks that gradients can be brought back through, from front
 *   to end; %NULL with an error if @graph has no order
 */
GPtrArray *
vn_training_cut (const VnGraph  *graph,
                 VnTrainUnit     unit,
                 GError        **error)
{
  g_auto(TrainingCut) self = { .most_layers = unit == VN_TRAIN_UNIT_LAYER ? 1 : MOST_LAYERS };
  GPtrArray *blocks;

  g_return_val_if_fail (graph != NULL, NULL);

  self.order = vn_graph_sort (graph, error);
  if (self.order == NULL)
    return NULL;
  training_cut_look (&self, graph);
  blocks = g_ptr_array_new_with_free_func ((GDestroyNotify) training_cut_free);
  for (guint first = 0, last; first < self.order->len; first = last + 1)
    {
      last = training_cut_find_end (&self, first);
      if (self.known[first])
        g_ptr_array_add (blocks, training_cut_take (&self, first, last));
    }
  return blocks;
}
