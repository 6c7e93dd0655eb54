/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds counterparts: by the name of node or result where tools kept it, less what they append to it; else by what they compute
 * with. What only converts between numbers is nobody's counterpart. */
#include "vn-node-match.h"

#include "vn-compare.h"
#include "vn-op.h"

#include <string.h>

struct _VnNodeMatch
{
  gatomicrefcount ref;
  VnMatchedNode  *nodes[2];
  guint           n[2];
  guint          *last;        /* by node of the first: the last of those that its counterpart took in; itself if none */
  GHashTable     *values;      /* name in the first -> name in the second */
};

typedef struct
{
  VnNodeMatch   *match;
  const VnGraph *graphs[2];
  GHashTable    *names;        /* node name, and result name behind "\n", of the second -> node */
} Matching;

/* What quantizing tools append to names of nodes and results. */
static const char * const endings[] = { "_quant", "_quantized", "_QuantizeLinear_Input", "_q" };

/* ---- operators ---- */

/* What an operator on whole numbers computes: the name of the operator on floats. */
static char *
node_match_dup_base (const char *op_type)
{
  static const char * const prefixes[] = { "QLinear", "DynamicQuantize", "Extended" };

  for (guint i = 0; i < G_N_ELEMENTS (prefixes); i++)
    if (g_str_has_prefix (op_type, prefixes[i]))
      return g_strdup (op_type + strlen (prefixes[i]));
  if (g_str_equal (op_type, "QGemm"))
    return g_strdup ("Gemm");
  if (g_str_has_suffix (op_type, "Integer"))
    return g_strndup (op_type, strlen (op_type) - strlen ("Integer"));
  return g_strdup (op_type);
}

static gboolean
node_match_is_alike (const VnNode *a,
                     const VnNode *b)
{
  g_autofree char *base_a = NULL, *base_b = NULL;

  if (g_str_equal (a->op_type, b->op_type))
    return TRUE;
  base_a = node_match_dup_base (a->op_type);
  base_b = node_match_dup_base (b->op_type);
  return g_str_equal (base_a, base_b);
}

/* Changes how numbers are written, not what they are. */
static gboolean
node_match_passes_on (const VnNode *node)
{
  return vn_op_family (node) == VN_FAMILY_CONVERSION || vn_node_is (node, "Identity");
}

static gboolean
node_match_equal_ints (const VnAttr *a,
                       const VnAttr *b)
{
  return a->ints != NULL && b->ints != NULL && a->ints->len == b->ints->len &&
         memcmp (a->ints->data, b->ints->data, a->ints->len * sizeof (gint64)) == 0;
}

static gboolean
node_match_equal_attrs (const VnNode *a,
                        const VnNode *b)
{
  for (guint i = 0; i < a->attrs->len; i++)
    {
      const VnAttr *p = g_ptr_array_index (a->attrs, i), *q = vn_node_get_attr (b, p->name);

      if (q == NULL || p->type != q->type)
        return FALSE;
      if ((p->type == VN_ATTR_INT && p->i != q->i) || (p->type == VN_ATTR_FLOAT && p->f != q->f) ||
          (p->type == VN_ATTR_INTS && !node_match_equal_ints (p, q)) ||
          (p->type == VN_ATTR_STRING && p->s != NULL && q->s != NULL && !g_bytes_equal (p->s, q->s)))
        return FALSE;
    }
  return a->attrs->len == b->attrs->len;
}

/* ---- pairs ---- */

static VnNode *
node_match_get_node (const Matching *self,
                     guint           side,
                     guint           index)
{
  return g_ptr_array_index (self->graphs[side]->nodes, index);
}

static gboolean
node_match_is_free (const Matching *self,
                    guint           side,
                    const VnNode   *node)
{
  return self->match->nodes[side][node->index].other == VN_MATCH_NONE;
}

static void
node_match_pair (Matching     *self,
                 const VnNode *a,
                 const VnNode *b)
{
  VnMatchState state = g_str_equal (a->op_type, b->op_type) && g_str_equal (a->domain, b->domain) && node_match_equal_attrs (a, b)
                       ? VN_MATCH_SAME : VN_MATCH_CHANGED;

  self->match->nodes[0][a->index] = (VnMatchedNode) { state, b->index };
  self->match->nodes[1][b->index] = (VnMatchedNode) { state, a->index };
}

static gboolean
node_match_try (Matching     *self,
                const VnNode *a,
                const VnNode *b)
{
  if (b == NULL || !node_match_is_free (self, 1, b) || !node_match_is_alike (a, b))
    return FALSE;
  node_match_pair (self, a, b);
  return TRUE;
}

/* ---- by name ---- */

static void
node_match_note_names (Matching *self)
{
  self->names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < self->graphs[1]->nodes->len; i++)
    {
      VnNode *node = node_match_get_node (self, 1, i);

      if (node->name != NULL && *node->name != '\0')
        g_hash_table_insert (self->names, g_strdup (node->name), node);
      for (guint k = 0; k < node->outputs->len; k++)
        if (vn_node_get_output (node, k) != NULL)
          g_hash_table_insert (self->names, g_strconcat ("\n", vn_node_get_output (node, k)->name, NULL), node);
    }
}

static const VnNode *
node_match_look_up (const Matching *self,
                    const char     *mark,
                    const char     *name,
                    const char     *ending)
{
  g_autofree char *key = g_strconcat (mark, name, ending, NULL);

  return g_hash_table_lookup (self->names, key);
}

static gboolean
node_match_try_names (Matching     *self,
                      const VnNode *a,
                      const char   *ending)
{
  const VnValue *output = vn_node_get_output (a, 0);

  return (a->name != NULL && *a->name != '\0' && node_match_try (self, a, node_match_look_up (self, "", a->name, ending))) ||
         (output != NULL && node_match_try (self, a, node_match_look_up (self, "\n", output->name, ending)));
}

static void
node_match_by_name (Matching *self)
{
  for (int k = -1; k < (int) G_N_ELEMENTS (endings); k++)
    for (guint i = 0; i < self->graphs[0]->nodes->len; i++)
      {
        const VnNode *a = node_match_get_node (self, 0, i);

        if (node_match_is_free (self, 0, a))
          node_match_try_names (self, a, k < 0 ? "" : endings[k]);
      }
}

/* ---- by place ---- */

#define MOST_CONVERSIONS 6

/* The node that computes what @value holds, behind conversions; NULL: an input or a constant. */
static const VnNode *
node_match_find_source (const VnValue *value)
{
  const VnNode *node = value != NULL ? value->producer : NULL;

  while (node != NULL && node_match_passes_on (node))
    node = vn_node_get_input (node, 0) != NULL ? vn_node_get_input (node, 0)->producer : NULL;
  return node;
}

/* Among so many readers of one value none is known by its place; and all of them are not looked at for each. */
#define MOST_READERS 512

/* The only node like @like that reads @value, also behind conversions; NULL: none, or several, or too many to tell. */
static const VnNode *
node_match_find_reader (const Matching *self,
                        guint           side,
                        const VnValue  *value,
                        const VnNode   *like,
                        guint           depth)
{
  const VnNode *found = NULL;

  for (guint i = 0; value->uses->len <= MOST_READERS && i < value->uses->len; i++)
    {
      const VnUse *use = &g_array_index (value->uses, VnUse, i);
      const VnNode *reader = use->node;

      if (reader->graph != self->graphs[side])
        continue;
      if (node_match_passes_on (reader))
        reader = depth > 0 && vn_node_get_output (reader, 0) != NULL
                 ? node_match_find_reader (self, side, vn_node_get_output (reader, 0), like, depth - 1) : NULL;
      else if (!node_match_is_free (self, side, reader) || !node_match_is_alike (like, reader))
        reader = NULL;
      if (reader != NULL && found != NULL && reader != found)
        return NULL;
      if (reader != NULL)
        found = reader;
    }
  return found;
}

/* Both read what counterparts give, and there is no other that does. */
static gboolean
node_match_try_place (Matching     *self,
                      const VnNode *a)
{
  for (guint i = 0; i < a->inputs->len; i++)
    {
      const VnNode *source = node_match_find_source (vn_node_get_input (a, i)), *b;
      const VnValue *from = source != NULL ? vn_node_get_output (source, 0) : vn_node_get_input (a, i), *to = NULL;

      if (from == NULL || (source != NULL && (source->graph != a->graph || node_match_is_free (self, 0, source))))
        continue;
      if (source != NULL)
        to = vn_node_get_output (node_match_get_node (self, 1, self->match->nodes[0][source->index].other), 0);
      else if (from->is_input)
        to = g_hash_table_lookup (self->graphs[1]->by_name, from->name);
      if (to == NULL || node_match_find_reader (self, 0, from, a, MOST_CONVERSIONS) != a)
        continue;
      b = node_match_find_reader (self, 1, to, a, MOST_CONVERSIONS);
      if (b != NULL)
        return node_match_try (self, a, b);
    }
  return FALSE;
}

/* Whether the operator that gives its input can do its work, too. */
static gboolean
node_match_can_be_taken_in (const VnNode *node)
{
  return vn_node_is (node, "Relu") || vn_node_is (node, "Clip") || vn_node_is (node, "BatchNormalization");
}

/* What is not there any more was taken in by what comes before it. */
static void
node_match_absorb (Matching     *self,
                   const VnNode *a)
{
  const VnNode *source = node_match_find_source (vn_node_get_input (a, 0));

  if (node_match_can_be_taken_in (a) && source != NULL && source->graph == a->graph)
    self->match->nodes[0][a->index].other = self->match->nodes[0][source->index].other;
}

static void
node_match_by_place (Matching *self)
{
  g_autoptr(GPtrArray) order = vn_graph_sort (self->graphs[0], NULL);

  for (guint i = 0; order != NULL && i < order->len; i++)
    {
      const VnNode *a = g_ptr_array_index (order, i);

      if (node_match_is_free (self, 0, a) && !node_match_passes_on (a) && !node_match_try_place (self, a))
        node_match_absorb (self, a);
    }
}

/* The node that computes with @value, behind conversions; NULL: none. */
static const VnNode *
node_match_find_target (const VnValue *value)
{
  for (guint i = 0; value != NULL && value->uses->len > 0 && i < MOST_CONVERSIONS; i++)
    {
      const VnNode *node = g_array_index (value->uses, VnUse, 0).node;

      if (!node_match_passes_on (node))
        return node;
      value = vn_node_get_output (node, 0);
    }
  return NULL;
}

/* What is alone and passes on a tensor stands where that comes from, or for inputs and weights where they go. */
static void
node_match_place_conversions (Matching *self,
                              guint     side)
{
  for (guint i = 0; i < self->match->n[side]; i++)
    {
      const VnNode *node = node_match_get_node (self, side, i), *near;

      if (!node_match_is_free (self, side, node) || !node_match_passes_on (node))
        continue;
      near = node_match_find_source (vn_node_get_input (node, 0));
      if (near == NULL)
        near = node_match_find_target (vn_node_get_output (node, 0));
      if (near != NULL && near->graph == node->graph)
        self->match->nodes[side][i].other = self->match->nodes[side][near->index].other;
    }
}

/* ---- values ---- */

static void
node_match_find_last (Matching *self)
{
  VnNodeMatch *match = self->match;

  for (guint i = 0; i < match->n[0]; i++)
    {
      const VnNode *node = node_match_get_node (self, 0, i);

      for (gboolean goes_on = match->nodes[0][i].state != VN_MATCH_ALONE; goes_on;)
        {
          const VnValue *value = vn_node_get_output (node, 0);
          const VnNode *next = value != NULL && value->uses->len == 1 ? g_array_index (value->uses, VnUse, 0).node : NULL;

          goes_on = next != NULL && next->graph == node->graph && match->nodes[0][next->index].state == VN_MATCH_ALONE &&
                    match->nodes[0][next->index].other == match->nodes[0][i].other && node_match_can_be_taken_in (next);
          node = goes_on ? next : node;
        }
      match->last[i] = node->index;
    }
}

/* Of what counterparts give, what has no name in common: results of operators on whole numbers, with what they took in. */
static void
node_match_add_values (Matching *self)
{
  GHashTable *by_name = self->graphs[1]->by_name;

  for (guint i = 0; i < self->match->n[0]; i++)
    {
      const VnMatchedNode *matched = &self->match->nodes[0][i];
      const VnValue *value = vn_node_get_output (node_match_get_node (self, 0, self->match->last[i]), 0), *other;

      if (matched->state == VN_MATCH_ALONE || value == NULL)
        continue;
      other = vn_node_get_output (node_match_get_node (self, 1, matched->other), 0);
      if (other != NULL && !g_hash_table_contains (self->match->values, value->name) &&
          !g_hash_table_contains (by_name, value->name))
        g_hash_table_insert (self->match->values, g_strdup (value->name), g_strdup (other->name));
    }
}

static VnNodeMatch *
node_match_alloc (guint n_first,
                  guint n_second)
{
  VnNodeMatch *self = g_new0 (VnNodeMatch, 1);

  g_atomic_ref_count_init (&self->ref);
  self->n[0] = n_first;
  self->n[1] = n_second;
  self->last = g_new (guint, n_first + 1);
  for (guint i = 0; i < n_first; i++)
    self->last[i] = i;
  for (guint side = 0; side < 2; side++)
    {
      self->nodes[side] = g_new (VnMatchedNode, self->n[side] + 1);
      for (guint i = 0; i < self->n[side]; i++)
        self->nodes[side][i] = (VnMatchedNode) { VN_MATCH_ALONE, VN_MATCH_NONE };
    }
  return self;
}

/**
 * vn_node_match_new:
 * @first: mostly the float network
 * @second: mostly what a tool made of it
 *
 * Takes time by the number of nodes; looking up afterwards takes none.
 *
 * Returns: (transfer full): the counterparts of all nodes of both main graphs
 */
VnNodeMatch *
vn_node_match_new (const VnModel *first,
                   const VnModel *second)
{
  Matching self = { 0 };

  g_return_val_if_fail (first != NULL && second != NULL, NULL);

  self.graphs[0] = first->graph;
  self.graphs[1] = second->graph;
  self.match = node_match_alloc (first->graph->nodes->len, second->graph->nodes->len);
  node_match_note_names (&self);
  node_match_by_name (&self);
  node_match_by_place (&self);
  node_match_place_conversions (&self, 0);
  node_match_place_conversions (&self, 1);
  node_match_find_last (&self);
  self.match->values = vn_compare_match_names (first, second);
  node_match_add_values (&self);
  g_hash_table_unref (self.names);
  return self.match;
}

/**
 * vn_node_match_new_same:
 *
 * Returns: (transfer full): a network beside itself; what is changed about its nodes is said by vn_node_match_set_state()
 */
VnNodeMatch *
vn_node_match_new_same (guint n_nodes)
{
  VnNodeMatch *self = node_match_alloc (n_nodes, n_nodes);

  for (guint i = 0; i < n_nodes; i++)
    self->nodes[0][i] = self->nodes[1][i] = (VnMatchedNode) { VN_MATCH_SAME, i };
  self->values = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  return self;
}

/**
 * vn_node_match_set_state:
 * @node: of the first network; its counterpart gets the same state
 *
 * To be called before others have it.
 */
void
vn_node_match_set_state (VnNodeMatch  *self,
                         guint         node,
                         VnMatchState  state)
{
  g_return_if_fail (self != NULL && node < self->n[0] && self->nodes[0][node].other != VN_MATCH_NONE);

  self->nodes[0][node].state = state;
  self->nodes[1][self->nodes[0][node].other].state = state;
}

VnNodeMatch *
vn_node_match_ref (VnNodeMatch *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref);
  return self;
}

void
vn_node_match_unref (VnNodeMatch *self)
{
  if (self == NULL || !g_atomic_ref_count_dec (&self->ref))
    return;
  g_free (self->nodes[0]);
  g_free (self->nodes[1]);
  g_free (self->last);
  g_hash_table_unref (self->values);
  g_free (self);
}

guint
vn_node_match_get_n (const VnNodeMatch *self,
                     guint              side)
{
  g_return_val_if_fail (self != NULL && side < 2, 0);

  return self->n[side];
}

/**
 * vn_node_match_get:
 * @side: 0: @node is one of the first network; 1: of the second
 *
 * Returns: (transfer none): what stands for it
 */
const VnMatchedNode *
vn_node_match_get (const VnNodeMatch *self,
                   guint              side,
                   guint              node)
{
  g_return_val_if_fail (self != NULL && side < 2 && node < self->n[side], NULL);

  return &self->nodes[side][node];
}

guint
vn_node_match_count (const VnNodeMatch *self,
                     guint              side,
                     VnMatchState       state)
{
  guint n = 0;

  g_return_val_if_fail (self != NULL && side < 2, 0);

  for (guint i = 0; i < self->n[side]; i++)
    n += self->nodes[side][i].state == state;
  return n;
}

/**
 * vn_node_match_get_last:
 * @node: of the first network
 *
 * Returns: index of the last of the nodes behind it whose work its counterpart does as well: what that gives is compared with the
 *   result of this one; @node itself, if there is none
 */
guint
vn_node_match_get_last (const VnNodeMatch *self,
                        guint              node)
{
  g_return_val_if_fail (self != NULL && node < self->n[0], node);

  return self->last[node];
}

/**
 * vn_node_match_get_values:
 *
 * Returns: (transfer none) (element-type utf8 utf8): name of a tensor of the first network -> name of the one that stands for it
 *   in the second; those without an entry have the same name, or none
 */
GHashTable *
vn_node_match_get_values (VnNodeMatch *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->values;
}
