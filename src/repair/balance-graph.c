/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Channels that must have one factor are joined, node by node: what Relu reads and writes, what Add adds up. Convolutions take
 * factors into their weights, on both sides; functions that factors do not pass through read the tensor as it was. */
#include "balance-graph.h"

#include "vn-graph-edit.h"
#include "vn-recipe-rules.h"

#include <math.h>

/* ---- joining ---- */

static guint
balance_graph_find_root (const VnBalanceGraph *self,
                         guint                 at)
{
  VnBalanceChannel *channels = (VnBalanceChannel *) (gpointer) self->channels->data;

  while (channels[at].parent != at)
    at = channels[at].parent = channels[channels[at].parent].parent;
  return at;
}

/*< private >
 * vn_balance_graph_get_channel:
 *
 * Returns: (transfer none): what stands for @channel of @value and all that have one factor with it
 */
VnBalanceChannel *
vn_balance_graph_get_channel (const VnBalanceGraph *self,
                              const VnValue        *value,
                              guint                 channel)
{
  g_return_val_if_fail (channel < self->n[value->id], NULL);

  return &g_array_index (self->channels, VnBalanceChannel, balance_graph_find_root (self, self->first[value->id] + channel));
}

static void
balance_graph_join (VnBalanceGraph *self,
                    const VnValue  *a,
                    guint           first_a,
                    const VnValue  *b,
                    guint           first_b,
                    guint           n)
{
  for (guint c = 0; c < n; c++)
    {
      guint from = balance_graph_find_root (self, self->first[a->id] + first_a + c);
      guint to = balance_graph_find_root (self, self->first[b->id] + first_b + c);
      VnBalanceChannel *channel = &g_array_index (self->channels, VnBalanceChannel, to);

      channel->pinned = channel->pinned || g_array_index (self->channels, VnBalanceChannel, from).pinned;
      g_array_index (self->channels, VnBalanceChannel, from).parent = to;
    }
}

static void
balance_graph_pin (VnBalanceGraph *self,
                   const VnValue  *value)
{
  for (guint c = 0; c < self->n[value->id]; c++)
    vn_balance_graph_get_channel (self, value, c)->pinned = TRUE;
}

static void
balance_graph_join_parts (VnBalanceGraph *self,
                          const VnNode   *node,
                          gboolean        splits)
{
  const VnValue *whole = splits ? vn_node_get_input (node, 0) : vn_node_get_output (node, 0);
  const GPtrArray *parts = splits ? node->outputs : node->inputs;

  for (guint i = 0, at = 0; i < parts->len; i++)
    {
      const VnValue *part = g_ptr_array_index (parts, i);
      guint n = part != NULL ? vn_balance_graph_count (self, part) : 0;

      if (n > 0 && self->n[part->id] == n)
        balance_graph_join (self, part, 0, whole, at, n);
      at += n;
    }
}

static void
balance_graph_join_shuffled (VnBalanceGraph *self,
                             const VnNode   *node)
{
  gsize groups = 0;
  const VnNode *last = vn_balance_find_unshuffled (node, &groups);
  const VnValue *input = vn_node_get_input (node, 0), *output = vn_node_get_output (last, 0);
  gsize each = self->n[input->id] / groups;

  for (gsize g = 0; g < groups; g++)
    for (gsize i = 0; i < each; i++)
      balance_graph_join (self, input, (guint) (g * each + i), output, (guint) (i * groups + g), 1);
}

static void
balance_graph_link_use (VnBalanceGraph *self,
                        const VnValue  *value,
                        const VnUse    *use)
{
  switch (vn_balance_graph_get_role (self, use->node, use->index))
    {
    case VN_BALANCE_PINS:
      balance_graph_pin (self, value);
      break;
    case VN_BALANCE_PASSES:
    case VN_BALANCE_CONSTANT:
      balance_graph_join (self, value, 0, vn_node_get_output (use->node, 0), 0, self->n[value->id]);
      break;
    case VN_BALANCE_JOINS:
      balance_graph_join_parts (self, use->node, FALSE);
      break;
    case VN_BALANCE_SPLITS:
      balance_graph_join_parts (self, use->node, TRUE);
      break;
    case VN_BALANCE_SHUFFLES:
      balance_graph_join_shuffled (self, use->node);
      break;
    case VN_BALANCE_WEIGHT:
    case VN_BALANCE_RESTORES:
      break;
    }
}

/* Whether what @value holds has factors because of what its node reads. */
static gboolean
balance_graph_follows (const VnBalanceGraph *self,
                       const VnValue        *value)
{
  const VnNode *node = value->producer;
  gsize groups;

  if (node == NULL)
    return FALSE;
  for (guint i = 0; i < node->inputs->len; i++)
    {
      const VnValue *input = vn_node_get_input (node, i);
      VnBalanceRole role = input != NULL && input->graph == self->graph && self->n[input->id] > 0
                           ? vn_balance_graph_get_role (self, node, i)
                                                                                                  : VN_BALANCE_PINS;

      if (role == VN_BALANCE_PASSES || role == VN_BALANCE_CONSTANT || role == VN_BALANCE_JOINS || role == VN_BALANCE_SPLITS)
        return TRUE;
    }
  if (vn_node_is (node, "Reshape") && vn_node_get_input (node, 0)->producer != NULL)
    {
      const VnValue *middle = vn_node_get_input (vn_node_get_input (node, 0)->producer, 0);

      return middle != NULL && middle->producer != NULL && vn_balance_find_unshuffled (middle->producer, &groups) == node;
    }
  return FALSE;
}

static void
balance_graph_link (VnBalanceGraph *self)
{
  for (guint i = 0; i < self->graph->values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (self->graph->values, i);
      VnBalanceWriter writer;

      if (self->n[value->id] == 0)
        continue;
      if (g_hash_table_contains (self->captured, value) || (value->is_output && !self->restores) ||
          (!vn_balance_find_writer (value, self->axis[value->id], &writer) && !balance_graph_follows (self, value) &&
           vn_balance_graph_find_gate (self, value) == NULL))
        balance_graph_pin (self, value);
      for (guint k = 0; k < value->uses->len; k++)
        balance_graph_link_use (self, value, &g_array_index (value->uses, VnUse, k));
    }
}

/*< private >
 * vn_balance_list_left_alone:
 *
 * Returns: (transfer full) (array): by VnValue.id: whether the recipe, or a rule, says that a tensor is left as it is
 */
gboolean *
vn_balance_list_left_alone (const VnRecipe *recipe,
                            const VnGraph  *graph)
{
  g_autofree int *rules = NULL;
  gboolean *alone;

  g_return_val_if_fail (recipe != NULL && graph != NULL, NULL);

  rules = vn_recipe_list_for_values (recipe, VN_LAYER_BALANCE_CHANNELS, graph);
  alone = g_new0 (gboolean, MAX (graph->values->len, 1));
  for (guint i = 0; i < graph->values->len; i++)
    alone[i] = rules[i] - 1 == VN_BALANCE_CHANNELS_OFF ||
               (rules[i] == VN_AS_RECIPE && recipe->balance_channels == VN_BALANCE_CHANNELS_OFF);
  return alone;
}

/* Where the recipe does not ask for balancing, tensors are left as they are but for those that rules name, and what has factors
 * in common with them. */
static void
balance_graph_pin_unnamed (VnBalanceGraph *self,
                           const int      *rules)
{
  g_autoptr(GHashTable) named = g_hash_table_new (NULL, NULL);   /* set of VnBalanceChannel */

  for (guint i = 0; i < self->graph->values->len; i++)
    for (guint c = 0; rules[i] != VN_AS_RECIPE && c < self->n[i]; c++)
      g_hash_table_add (named, vn_balance_graph_get_channel (self, g_ptr_array_index (self->graph->values, i), c));
  for (guint i = 0; i < self->graph->values->len; i++)
    for (guint c = 0; c < self->n[i]; c++)
      {
        VnBalanceChannel *channel = vn_balance_graph_get_channel (self, g_ptr_array_index (self->graph->values, i), c);

        channel->pinned |= !g_hash_table_contains (named, channel);
      }
}

static void
balance_graph_apply_rules (VnBalanceGraph *self,
                           const VnRecipe *recipe)
{
  g_autofree int *rules = vn_recipe_list_for_values (recipe, VN_LAYER_BALANCE_CHANNELS, self->graph);

  for (guint i = 0; i < self->graph->values->len; i++)
    if (rules[i] - 1 == VN_BALANCE_CHANNELS_OFF)
      balance_graph_pin (self, g_ptr_array_index (self->graph->values, i));
  if (recipe->balance_channels == VN_BALANCE_CHANNELS_OFF)
    balance_graph_pin_unnamed (self, rules);
}

/* ---- the graph ---- */

/*< private >
 * vn_balance_graph_is_quantized:
 *
 * Returns: whether the numbers of @value count: what only a clamp reads, which vanishes, is never written
 */
gboolean
vn_balance_graph_is_quantized (const VnBalanceGraph *self,
                               const VnValue        *value)
{
  const VnNode *reader;

  g_return_val_if_fail (self != NULL && value != NULL, FALSE);

  reader = value->uses->len == 1 && !value->is_output ? g_array_index (value->uses, VnUse, 0).node : NULL;
  return reader == NULL || reader->graph != self->graph || !(vn_node_is (reader, "Relu") || vn_node_is (reader, "Clip"));
}

/*< private >
 * vn_balance_graph_number_units:
 *
 * Needs the factors. Channels of one tensor are one unit, and so are those of tensors that have some of them in common; where all
 * factors are 1 there is none.
 */
void
vn_balance_graph_number_units (VnBalanceGraph *self)
{
  g_autofree guint *parent = NULL;

  g_return_if_fail (self != NULL);

  parent = g_new (guint, self->channels->len + 1);
  for (guint i = 0; i < self->channels->len; i++)
    parent[i] = balance_graph_find_root (self, i);
  for (guint v = 0; v < self->graph->values->len; v++)
    for (guint c = 1; c < self->n[v]; c++)
      {
        guint a = self->first[v], b = self->first[v] + c;

        while (parent[a] != a)
          a = parent[a];
        while (parent[b] != b)
          b = parent[b];
        parent[MAX (a, b)] = MIN (a, b);
      }
  self->n_units = 0;
  for (guint i = 0; i < self->channels->len; i++)
    g_array_index (self->channels, VnBalanceChannel, i).unit = G_MAXUINT;
  for (guint i = 0; i < self->channels->len; i++)
    {
      VnBalanceChannel *channel = &g_array_index (self->channels, VnBalanceChannel, i);
      guint at = i;

      if (channel->parent != i || channel->pinned || channel->factor == 1)
        continue;
      while (parent[at] != at)
        at = parent[at];
      if (g_array_index (self->channels, VnBalanceChannel, at).unit == G_MAXUINT)
        g_array_index (self->channels, VnBalanceChannel, at).unit = self->n_units++;
    }
  for (guint i = 0; i < self->channels->len; i++)
    {
      guint at = i;

      while (parent[at] != at)
        at = parent[at];
      g_array_index (self->channels, VnBalanceChannel, i).unit = g_array_index (self->channels, VnBalanceChannel, at).unit;
    }
}

/*< private >
 * vn_balance_graph_get_unit:
 *
 * Returns: the unit that @value belongs to; %G_MAXUINT: none
 */
guint
vn_balance_graph_get_unit (const VnBalanceGraph *self,
                           const VnValue        *value)
{
  g_return_val_if_fail (self != NULL && value != NULL, G_MAXUINT);

  return self->n[value->id] > 0 ? vn_balance_graph_get_channel (self, value, 0)->unit : G_MAXUINT;
}

/*< private >
 * vn_balance_graph_new:
 *
 * Returns: (transfer full): channels joined, no factors yet
 */
VnBalanceGraph *
vn_balance_graph_new (const VnGraph  *graph,
                      const VnRecipe *recipe)
{
  VnBalanceGraph *self;

  g_return_val_if_fail (graph != NULL && recipe != NULL, NULL);

  self = g_new0 (VnBalanceGraph, 1);
  self->graph = graph;
  self->restores = vn_recipe_get_most (recipe, VN_LAYER_BALANCE_CHANNELS) == VN_BALANCE_CHANNELS_RESTORED;
  self->captured = vn_graph_find_captured (graph);
  self->channels = g_array_new (FALSE, TRUE, sizeof (VnBalanceChannel));
  self->first = g_new0 (guint, graph->values->len + 1);
  self->n = g_new0 (guint, graph->values->len + 1);
  self->axis = vn_balance_find_axes (graph);
  vn_balance_graph_find_heads (self);
  for (guint i = 0; i < graph->values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (graph->values, i);

      self->first[value->id] = self->channels->len;
      self->n[value->id] = vn_balance_graph_count (self, value);
      for (guint c = 0; c < self->n[value->id]; c++)
        {
          VnBalanceChannel channel = { .parent = self->channels->len, .unit = G_MAXUINT, .widest = G_MAXUINT, .factor = 1 };

          g_array_append_val (self->channels, channel);
        }
    }
  vn_balance_graph_find_gates (self);
  balance_graph_link (self);
  balance_graph_apply_rules (self, recipe);
  return self;
}

void
vn_balance_graph_free (VnBalanceGraph *self)
{
  if (self == NULL)
    return;
  g_hash_table_unref (self->captured);
  g_array_unref (self->channels);
  g_ptr_array_unref (self->gates);
  g_hash_table_unref (self->between);
  g_free (self->first);
  g_free (self->n);
  g_free (self->axis);
  g_free (self->heads);
  g_free (self->whole);
  g_free (self);
}
