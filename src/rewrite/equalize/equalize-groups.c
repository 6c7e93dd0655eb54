/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which layers factors can move between.
 *
 * AMD: a Conv or Gemm, behind it any number of Relu, LeakyRelu, Pad and ReduceMean that alone read what is before them,
 * then a Conv or Gemm; convolutions without groups, or depthwise. And Conv, depthwise Conv, Conv with nothing but Relu
 * between.
 * PPQ: all layers whose results flow together, and all that read that. */
#include "vn-equalize-private.h"

#include "vn-memory.h"

/*< private >
 * vn_equalizer_add_group:
 * @n: channels
 *
 * Returns: (transfer none) (nullable): an empty group; %NULL if memory was refused
 */
VnEqualGroup *
vn_equalizer_add_group (VnEqualizer *self,
                        gsize        n)
{
  g_autofree double *factors = vn_try_new (double, n, NULL), *factors2 = vn_try_new (double, n, NULL);
  VnEqualGroup *group;

  if (factors == NULL || factors2 == NULL)
    return NULL;
  group = g_new0 (VnEqualGroup, 1);
  group->heads = g_ptr_array_new ();
  group->tails = g_ptr_array_new ();
  group->n = n;
  group->factors = g_steal_pointer (&factors);
  group->factors2 = g_steal_pointer (&factors2);
  for (gsize i = 0; i < n; i++)
    group->factors[i] = group->factors2[i] = 1;
  g_ptr_array_add (self->owned, group);
  return group;
}

/* ---- what hands factors on ---- */

static gboolean
equalize_groups_is_zero_or_missing (const VnNode *node,
                                    guint         i)
{
  return vn_node_get_input (node, i) == NULL || vn_rewrite_is_filled_with (vn_node_get_input (node, i), 0);
}

/* Nothing is added to the first two axes, and only zeros to the others, or what is there already. */
static gboolean
equalize_groups_pad_propagates (const VnNode *node)
{
  g_autofree char *mode = vn_node_dup_string (node, "mode", "constant");
  gint64 pads[2 * VN_MAX_RANK];
  gsize n;

  if (g_str_equal (mode, "constant") && (!equalize_groups_is_zero_or_missing (node, 2) ||
                                         vn_node_get_float (node, "value", 0) != 0))
    return FALSE;
  if (vn_node_get_input (node, 3) != NULL || !vn_rewrite_get_ints (node, "pads", 1, pads, 2 * VN_MAX_RANK, &n) || n < 4)
    return FALSE;
  return pads[0] == 0 && pads[1] == 0 && pads[n / 2] == 0 && pads[n / 2 + 1] == 0;
}

static gboolean
equalize_groups_mean_propagates (const VnNode  *node,
                                 const VnValue *value)
{
  const VnShape *shape = vn_rewrite_get_shape (value);
  gint64 axes[VN_MAX_RANK];
  gsize n;

  if (shape == NULL || !vn_rewrite_get_ints (node, "axes", 1, axes, VN_MAX_RANK, &n) || n == 0)
    return FALSE;
  for (gsize i = 0; i < n; i++)
    if (axes[i] + (axes[i] < 0 ? shape->rank : 0) < 2)
      return FALSE;
  return TRUE;
}

/* Both are computed, and have as many channels: none of them is spread over those of the other. */
static gboolean
equalize_groups_sum_propagates (const VnNode *node)
{
  const VnShape *a = vn_rewrite_get_shape (vn_node_get_input (node, 0));
  const VnShape *b = vn_rewrite_get_shape (vn_node_get_input (node, 1));

  return a != NULL && b != NULL && a->rank == b->rank && a->rank >= 2 && a->dims[1] > 0 && a->dims[1] == b->dims[1];
}

static gboolean
equalize_groups_is_one_of (const VnNode       *node,
                           const char * const *types)
{
  for (; *types != NULL; types++)
    if (vn_node_is (node, *types))
      return TRUE;
  return FALSE;
}

static gboolean
equalize_groups_has_one_output (const VnNode *node)
{
  for (guint i = 1; i < node->outputs->len; i++)
    if (vn_node_get_output (node, i) != NULL)
      return FALSE;
  return vn_node_get_output (node, 0) != NULL;
}

/*< private >
 * vn_equalizer_propagates:
 * @value: what @node reads
 *
 * Returns: whether a positive factor on a channel of @value is one on that channel of the result
 */
gboolean
vn_equalizer_propagates (const VnEqualizer *self,
                         const VnNode      *node,
                         const VnValue     *value)
{
  static const char * const plain[] = { "Relu", "MaxPool", "GlobalMaxPool", "AveragePool", "GlobalAveragePool", NULL };
  gboolean ppq = self->options->kind == VN_EQUALIZE_PPQ;

  if (!equalize_groups_has_one_output (node))
    return FALSE;
  if (!ppq)
    return vn_node_is (node, "Relu") || vn_node_is (node, "LeakyRelu") ||
           (vn_node_is (node, "Pad") && equalize_groups_pad_propagates (node)) ||
           (vn_node_is (node, "ReduceMean") && equalize_groups_mean_propagates (node, value));
  if (vn_node_is (node, "Add") || vn_node_is (node, "Sub"))
    return self->options->level >= 2 && equalize_groups_sum_propagates (node);
  if (vn_node_is (node, "PRelu"))
    return value == vn_node_get_input (node, 0) && vn_value_is_constant (vn_node_get_input (node, 1));
  return equalize_groups_is_one_of (node, plain);
}

/* ---- pairs and triples ---- */

static VnEqualLayer *
equalize_groups_find_layer (const VnEqualizer *self,
                            const VnNode      *node)
{
  return g_hash_table_lookup (self->layers, node);
}

/* The layer that alone reads @value, behind what hands on; only Relu if @plain. */
static VnEqualLayer *
equalize_groups_follow (const VnEqualizer *self,
                        const VnEqualLayer *head,
                        gboolean            plain)
{
  const VnValue *value = vn_node_get_output (head->node, 0);
  guint index = 0;

  while (value != NULL)
    {
      VnNode *user = vn_rewrite_only_user (self->returned, value, &index);
      VnEqualLayer *layer = user != NULL ? equalize_groups_find_layer (self, user) : NULL;

      if (layer != NULL)
        return index == 0 && layer->n_in == head->n_out ? layer : NULL;
      if (user == NULL || (plain && !vn_node_is (user, "Relu")) || !vn_equalizer_propagates (self, user, value))
        return NULL;
      value = vn_node_get_output (user, 0);
    }
  return NULL;
}

static gboolean
equalize_groups_may_pair (const VnEqualLayer *layer)
{
  return vn_node_is (layer->node, "Gemm") ||
         (vn_node_is (layer->node, "Conv") && (layer->group == 1 || vn_equal_layer_is_depthwise (layer)));
}

/* Quark's order: as in the graph, of one head first the pair, then the triple; what comes first comes once more at the end,
 * but for what follows a triple that stands there. */
static void
equalize_groups_insert_group (VnEqualizer  *self,
                              VnEqualGroup *group)
{
  const VnEqualGroup *last;

  if (self->groups->len == 0)
    g_ptr_array_add (self->groups, group);
  last = g_ptr_array_index (self->groups, self->groups->len - 1);
  g_ptr_array_insert (self->groups, (int) self->groups->len - (last->middle != NULL && group->middle == NULL ? 0 : 1), group);
}

static void
equalize_groups_add_pair (VnEqualizer  *self,
                          VnEqualLayer *head)
{
  VnEqualLayer *tail = equalize_groups_may_pair (head) ? equalize_groups_follow (self, head, FALSE) : NULL;
  VnEqualGroup *group;

  if (tail == NULL || !equalize_groups_may_pair (tail))
    return;
  if ((group = vn_equalizer_add_group (self, head->n_out)) == NULL)
    return;
  g_ptr_array_add (group->heads, head);
  g_ptr_array_add (group->tails, tail);
  equalize_groups_insert_group (self, group);
}

static gboolean
equalize_groups_is_plain_conv (const VnEqualLayer *layer)
{
  return vn_node_is (layer->node, "Conv") && layer->group == 1 && layer->weight->shape.rank == 4;
}

static void
equalize_groups_add_triple (VnEqualizer  *self,
                            VnEqualLayer *first)
{
  VnEqualLayer *middle = equalize_groups_is_plain_conv (first) ? equalize_groups_follow (self, first, TRUE) : NULL;
  VnEqualLayer *last = middle != NULL && vn_equal_layer_is_depthwise (middle)
                       ? equalize_groups_follow (self, middle, TRUE) : NULL;
  VnEqualGroup *group;

  if (last == NULL || !equalize_groups_is_plain_conv (last))
    return;
  if ((group = vn_equalizer_add_group (self, first->n_out)) == NULL)
    return;
  g_ptr_array_add (group->heads, first);
  g_ptr_array_add (group->tails, last);
  group->middle = middle;
  equalize_groups_insert_group (self, group);
}

void
vn_equalizer_find_pairs (VnEqualizer *self)
{
  for (guint i = 0; i < self->order->len; i++)
    {
      equalize_groups_add_pair (self, g_ptr_array_index (self->order, i));
      equalize_groups_add_triple (self, g_ptr_array_index (self->order, i));
    }
}

/* ---- groups ---- */

typedef struct
{
  const VnEqualizer *self;
  GPtrArray         *values;          /* of VnValue: those whose channels are scaled, in the order they were found */
  GHashTable        *seen;
  GPtrArray         *heads, *tails;
  gboolean           closed;          /* nothing else reads or makes them */
} Search;

static void
equalize_groups_add_value (Search  *search,
                           VnValue *value)
{
  if (value != NULL && g_hash_table_add (search->seen, value))
    g_ptr_array_add (search->values, value);
}

static void
equalize_groups_add_once (GPtrArray *array,
                          gpointer   item)
{
  if (!g_ptr_array_find (array, item, NULL))
    g_ptr_array_add (array, item);
}

/* What @node reads and makes has the same factors. */
static gboolean
equalize_groups_join (Search        *search,
                      const VnNode  *node,
                      const VnValue *value)
{
  gboolean sum = vn_node_is (node, "Add") || vn_node_is (node, "Sub");

  if (!vn_equalizer_propagates (search->self, node, value))
    return FALSE;
  equalize_groups_add_value (search, vn_node_get_output (node, 0));
  equalize_groups_add_value (search, vn_node_get_input (node, 0));
  if (sum)
    equalize_groups_add_value (search, vn_node_get_input (node, 1));
  return TRUE;
}

static gboolean
equalize_groups_visit_producer (Search  *search,
                                VnValue *value)
{
  VnEqualLayer *layer = value->producer != NULL ? equalize_groups_find_layer (search->self, value->producer) : NULL;

  if (value->producer == NULL || value->is_input || vn_value_is_constant (value))
    return FALSE;
  if (layer == NULL)
    return equalize_groups_join (search, value->producer, vn_node_get_input (value->producer, 0));
  equalize_groups_add_once (search->heads, layer);
  return TRUE;
}

static gboolean
equalize_groups_visit_user (Search      *search,
                            VnValue     *value,
                            const VnUse *use)
{
  VnEqualLayer *layer = equalize_groups_find_layer (search->self, use->node);

  if (use->node->graph != value->graph)
    return FALSE;
  if (layer == NULL)
    return equalize_groups_join (search, use->node, value);
  equalize_groups_add_once (search->tails, layer);
  return use->index == 0;
}

static gboolean
equalize_groups_visit (Search  *search,
                       VnValue *value)
{
  if (vn_rewrite_is_kept (search->self->returned, value) || value->uses->len == 0 ||
      !equalize_groups_visit_producer (search, value) ||
      (search->self->options->level < 2 && value->uses->len > 1))
    return FALSE;
  for (guint i = 0; i < value->uses->len; i++)
    if (!equalize_groups_visit_user (search, value, &g_array_index (value->uses, VnUse, i)))
      return FALSE;
  return TRUE;
}

static gboolean
equalize_groups_has_channels (const Search *search,
                              gsize         n)
{
  for (guint i = 0; i < search->heads->len; i++)
    if (((const VnEqualLayer *) g_ptr_array_index (search->heads, i))->n_out != n)
      return FALSE;
  for (guint i = 0; i < search->tails->len; i++)
    if (((const VnEqualLayer *) g_ptr_array_index (search->tails, i))->n_in != n)
      return FALSE;
  return search->tails->len > 0;
}

static void
equalize_groups_take_layers (GPtrArray *to,
                             GPtrArray *from)
{
  for (guint i = 0; i < from->len; i++)
    g_ptr_array_add (to, g_ptr_array_index (from, i));
}

static void
equalize_groups_add_group_from (VnEqualizer  *self,
                                VnEqualLayer *head,
                                GHashTable   *done)
{
  g_autoptr(GPtrArray) values = g_ptr_array_new (), heads = g_ptr_array_new (), tails = g_ptr_array_new ();
  g_autoptr(GHashTable) seen = g_hash_table_new (NULL, NULL);
  Search search = { self, values, seen, heads, tails, TRUE };
  VnEqualGroup *group;

  equalize_groups_add_value (&search, vn_node_get_output (head->node, 0));
  for (guint i = 0; i < values->len && search.closed; i++)
    search.closed = equalize_groups_visit (&search, g_ptr_array_index (values, i));
  for (guint i = 0; i < heads->len; i++)
    g_hash_table_add (done, g_ptr_array_index (heads, i));
  if (!search.closed || !equalize_groups_has_channels (&search, head->n_out))
    return;
  if ((group = vn_equalizer_add_group (self, head->n_out)) == NULL)
    return;
  equalize_groups_take_layers (group->heads, heads);
  equalize_groups_take_layers (group->tails, tails);
  g_ptr_array_add (self->groups, group);
}

void
vn_equalizer_find_groups (VnEqualizer *self)
{
  g_autoptr(GHashTable) done = g_hash_table_new (NULL, NULL);

  for (guint i = 0; i < self->order->len; i++)
    if (!g_hash_table_contains (done, g_ptr_array_index (self->order, i)))
      equalize_groups_add_group_from (self, g_ptr_array_index (self->order, i), done);
}
