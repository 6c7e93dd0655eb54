/* SPDX-License-Identifier: GPL-3.0-or-later */

/* A tensor changes its name on its way from the file to the report: preparation folds its node, a clamp takes over its
 * rounding, conversions are put behind it. The way is followed once, for all nodes, when somebody asks first. */

#include "vn-identity.h"

#include "vn-former.h"
#include "vn-node-index.h"

struct _VnIdentityMap
{
  const VnModel *source;      /* not owned: whoever has the map has the models */
  VnIdentity    *identities;  /* by VnNode.index; names belong to the models and @value_names */
  guint          n;
  GHashTable    *value_names; /* owned: its names are handed out */
  GHashTable    *nodes;       /* name of a value in any of the networks -> VnNode of the source */
  gatomicrefcount ref;
};

static const VnValue *
vn_identity_find_prepared (const VnModel *prepared,
                           GHashTable    *ends,
                           GHashTable    *labels,
                           const VnNode  *node)
{
  g_autofree char *label = NULL;
  const char *end;
  const VnNode *heir;

  for (guint i = 0; i < node->outputs->len; i++)
    {
      const VnValue *value = vn_node_get_output (node, i);
      const VnValue *same = value != NULL ? vn_graph_find_value (prepared->graph, value->name) : NULL;

      if (same != NULL)
        return same;
    }
  label = vn_node_dup_label (node);
  end = g_hash_table_lookup (ends, label);
  heir = g_hash_table_lookup (labels, end != NULL ? end : label);
  return heir != NULL ? vn_node_get_output (heir, 0) : NULL;
}

/**
 * vn_identity_find_rounded:
 * @plan: (nullable): %NULL: nothing is rounded
 * @value: of the prepared network
 *
 * Between an operator that is quantized and the clamp behind it nothing is rounded, or as the clamp's output is: that speaks
 * there.
 *
 * Returns: (transfer none): the value whose error, range and plan speak for @value
 */
const VnValue *
vn_identity_find_rounded (VnQuantPlan   *plan,
                          const VnValue *value)
{
  const VnTensorPlan *row = plan != NULL ? vn_quant_plan_find (plan, value->name) : NULL;
  g_autofree char *label = value->producer != NULL ? vn_node_dup_label (value->producer) : NULL;
  const VnValue *next = plan != NULL ? vn_quant_plan_find_clamped (plan, value) : NULL;

  if (next != NULL)
    return next;
  if (row == NULL || row->quantized || label == NULL || value->is_output || value->uses->len != 1 ||
      !vn_quant_plan_is_node_quantized (plan, label))
    return value;
  next = vn_node_get_output (g_array_index (value->uses, VnUse, 0).node, 0);
  row = next != NULL ? vn_quant_plan_find (plan, next->name) : NULL;
  return row != NULL && row->quantized ? next : value;
}

/* A value that several nodes went into speaks for the last of them: the one that gives it. */
static void
vn_identity_note (VnIdentityMap *self,
                  const char    *name,
                  const VnNode  *node)
{
  if (name != NULL)
    g_hash_table_insert (self->nodes, (gpointer) name, (gpointer) node);
}

static VnIdentityMap *
vn_identity_alloc (const VnModel *source,
                   GHashTable    *value_names)
{
  VnIdentityMap *self = g_new0 (VnIdentityMap, 1);

  g_atomic_ref_count_init (&self->ref);
  self->source = source;
  self->n = source->graph->nodes->len;
  self->identities = g_new0 (VnIdentity, self->n + 1);
  self->value_names = value_names != NULL ? g_hash_table_ref (value_names) : NULL;
  self->nodes = g_hash_table_new (g_str_hash, g_str_equal);
  return self;
}

/* Whoever gives a value itself comes before those that were folded into it. */
static void
vn_identity_note_sources (VnIdentityMap *self)
{
  for (guint i = 0; i < self->n; i++)
    vn_identity_note (self, self->identities[i].source, g_ptr_array_index (self->source->graph->nodes, i));
}

static void
vn_identity_fill_names (VnIdentityMap *self,
                        const VnNode  *node)
{
  VnIdentity *identity = &self->identities[node->index];

  if (identity->rounded != NULL && self->value_names != NULL)
    identity->quantized = g_hash_table_lookup (self->value_names, identity->rounded);
  vn_identity_note (self, identity->quantized, node);
  vn_identity_note (self, identity->rounded, node);
  vn_identity_note (self, identity->prepared, node);
}

static void
vn_identity_fill (VnIdentityMap *self,
                  const VnNode  *node,
                  const VnValue *prepared,
                  VnQuantPlan   *plan)
{
  VnIdentity *identity = &self->identities[node->index];
  const VnValue *source = vn_node_get_output (node, 0);

  identity->source = source != NULL ? source->name : NULL;
  if (prepared != NULL)
    {
      identity->prepared = prepared->name;
      identity->rounded = vn_identity_find_rounded (plan, prepared)->name;
    }
  vn_identity_fill_names (self, node);
}

/**
 * vn_identity_map_new:
 * @source: as opened; must outlive the map, as must @prepared
 * @prepared: what was quantized
 * @edits: (nullable): how @source became @prepared
 * @plan: (nullable): which tensors are rounded
 * @value_names: (nullable): of vn_quantize_write()
 *
 * Follows every node of @source through all networks.
 *
 * Returns: (transfer full): the map; immutable
 */
VnIdentityMap *
vn_identity_map_new (const VnModel *source,
                     const VnModel *prepared,
                     VnEditLog     *edits,
                     VnQuantPlan   *plan,
                     GHashTable    *value_names)
{
  VnIdentityMap *self;
  g_autoptr(GHashTable) ends = NULL, labels = NULL;

  g_return_val_if_fail (source != NULL && prepared != NULL, NULL);

  self = vn_identity_alloc (source, value_names);
  ends = vn_edit_log_list_ends (edits);
  labels = vn_graph_index_nodes (prepared->graph);
  for (guint i = 0; i < self->n; i++)
    {
      const VnNode *node = g_ptr_array_index (source->graph->nodes, i);

      vn_identity_fill (self, node, vn_identity_find_prepared (prepared, ends, labels, node), plan);
    }
  vn_identity_note_sources (self);
  return self;
}

/**
 * vn_identity_map_new_from_names:
 * @source: as opened; must outlive the map, as must the names
 * @identities: one for each node of @source, without names in the quantized network
 * @value_names: of vn_quantize_write()
 *
 * Returns: (transfer full): the map that somebody has made before
 */
VnIdentityMap *
vn_identity_map_new_from_names (const VnModel    *source,
                                const VnIdentity *identities,
                                GHashTable       *value_names)
{
  VnIdentityMap *self;

  g_return_val_if_fail (source != NULL && identities != NULL, NULL);

  self = vn_identity_alloc (source, value_names);
  for (guint i = 0; i < self->n; i++)
    {
      self->identities[i] = identities[i];
      vn_identity_fill_names (self, g_ptr_array_index (source->graph->nodes, i));
    }
  vn_identity_note_sources (self);
  return self;
}

VnIdentityMap *
vn_identity_map_ref (VnIdentityMap *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref);
  return self;
}

/**
 * vn_identity_map_unref:
 * @self: (nullable) (transfer full)
 */
void
vn_identity_map_unref (VnIdentityMap *self)
{
  if (self == NULL || !g_atomic_ref_count_dec (&self->ref))
    return;
  g_clear_pointer (&self->value_names, g_hash_table_unref);
  g_hash_table_unref (self->nodes);
  g_free (self->identities);
  g_free (self);
}

/**
 * vn_identity_map_get:
 * @source_node: of the main graph of the source
 *
 * Returns: (transfer none) (nullable): what stands for its result; %NULL: the node is of another graph
 */
const VnIdentity *
vn_identity_map_get (VnIdentityMap *self,
                     const VnNode  *source_node)
{
  g_return_val_if_fail (self != NULL && source_node != NULL, NULL);

  return source_node->graph == self->source->graph && source_node->index < self->n ? &self->identities[source_node->index] : NULL;
}

/**
 * vn_identity_map_find_node:
 * @value: name of a value in any of the networks
 *
 * Returns: (transfer none) (nullable): the node of the source whose result it stands for
 */
const VnNode *
vn_identity_map_find_node (VnIdentityMap *self,
                           const char    *value)
{
  g_return_val_if_fail (self != NULL && value != NULL, NULL);

  return g_hash_table_lookup (self->nodes, value);
}
