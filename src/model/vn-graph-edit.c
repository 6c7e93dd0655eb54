/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Building and changing graphs. Invariants kept by every function here:
 * - graph->by_name maps every value of graph->values; value->id is its index there
 * - value->producer/output_index and node->outputs agree; value->uses and node->inputs agree
 * - node->index is its position in graph->nodes */
#include "vn-graph-private.h"

#define FIRST_SUFFIX 2u     /* of the second that wants a name */

static gboolean
graph_edit_has_inside (const VnGraph *self,
                       const char    *name)
{
  GHashTableIter iter;
  gpointer inner;

  if (self->inner == NULL)
    return FALSE;
  g_hash_table_iter_init (&iter, self->inner);
  while (g_hash_table_iter_next (&iter, &inner, NULL))
    if (g_hash_table_contains (((const VnGraph *) inner)->by_name, name) || graph_edit_has_inside (inner, name))
      return TRUE;
  return FALSE;
}

/* Among many names of one base the search for a free one begins where the last one ended. */
static guint
graph_edit_get_first_suffix (GHashTable *suffixes,
                             const char *base)
{
  const guint first = suffixes != NULL ? GPOINTER_TO_UINT (g_hash_table_lookup (suffixes, base)) : 0;

  return MAX (first, FIRST_SUFFIX);
}

static void
graph_edit_lower_suffix (VnGraph    *self,
                         const char *base,
                         guint       suffix)
{
  GHashTableIter iter;
  gpointer inner;

  if (graph_edit_get_first_suffix (self->suffixes, base) > suffix)
    g_hash_table_insert (self->suffixes, g_strdup (base), GUINT_TO_POINTER (suffix));
  if (self->inner == NULL)
    return;
  g_hash_table_iter_init (&iter, self->inner);
  while (g_hash_table_iter_next (&iter, &inner, NULL))
    graph_edit_lower_suffix (inner, base, suffix);
}

/* The name of a value is free again, in this graph, in outer graphs and in those of nodes. */
static void
graph_edit_release_name (VnGraph    *self,
                         const char *name)
{
  const char *underscore = strrchr (name, '_');
  g_autofree char *base = underscore != NULL ? g_strndup (name, (gsize) (underscore - name)) : NULL;
  guint64 suffix;

  g_hash_table_remove (self->by_name, name);
  if (base == NULL || !g_ascii_string_to_unsigned (underscore + 1, 10, FIRST_SUFFIX, G_MAXUINT, &suffix, NULL))
    return;
  graph_edit_lower_suffix (self, base, (guint) suffix);
  for (VnGraph *outer = self->parent; outer != NULL; outer = outer->parent)
    if (graph_edit_get_first_suffix (outer->suffixes, base) > suffix)
      g_hash_table_insert (outer->suffixes, g_strdup (base), GUINT_TO_POINTER ((guint) suffix));
}

/**
 * vn_graph_unique_name:
 *
 * Returns: (transfer full): @base, or "@base_2", "@base_3" ...: a name no value here, in outer graphs or in those of
 *   nodes (If, Loop, Scan) has, so that none hides another
 */
char *
vn_graph_unique_name (VnGraph    *self,
                      const char *base)
{
  char *name;
  guint first, suffix;

  g_return_val_if_fail (self != NULL, NULL);

  name = g_strdup (base);
  first = suffix = graph_edit_get_first_suffix (self->suffixes, base);
  while (vn_graph_find_value (self, name) != NULL || graph_edit_has_inside (self, name))
    {
      g_free (name);
      name = g_strdup_printf ("%s_%u", base, suffix++);
    }
  if (suffix == first)
    return name;
  if (self->suffixes == NULL)
    self->suffixes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_hash_table_insert (self->suffixes, g_strdup (base), GUINT_TO_POINTER (suffix - 1));   /* nobody has this one yet */
  return name;
}

static VnValue *
graph_edit_add_value (VnGraph       *self,
                      char          *name,
                      VnDType        dtype,
                      const VnShape *shape)
{
  VnValue *value = g_new0 (VnValue, 1);

  value->name = name;
  value->graph = self;
  value->id = self->values->len;
  vn_uses_init (value->uses);
  vn_type_init_tensor (&value->type, dtype, shape);
  if (dtype == VN_DTYPE_UNDEFINED && shape == NULL)
    value->type.kind = VN_TYPE_UNKNOWN;
  g_ptr_array_add (self->values, value);
  g_hash_table_insert (self->by_name, value->name, value);
  return value;
}

static VnValue *
graph_edit_make_input (VnValue *value)
{
  value->is_input = TRUE;
  value->has_info = TRUE;
  g_ptr_array_add (value->graph->inputs, value);
  return value;
}

/**
 * vn_graph_add_value:
 *
 * Returns: (transfer none): a new value without producer; owned by the graph. Its name is made unique.
 */
VnValue *
vn_graph_add_value (VnGraph       *self,
                    const char    *name,
                    VnDType        dtype,
                    const VnShape *shape)
{
  g_return_val_if_fail (self != NULL, NULL);

  return graph_edit_add_value (self, vn_graph_unique_name (self, name != NULL && name[0] != '\0' ? name : "value"), dtype, shape);
}

/**
 * vn_graph_add_named:
 * @name: that no other value of this graph has; values of outer and inner graphs may
 * @input: whether it is an input of the graph
 *
 * For files, which may use a name twice, and for who knows the names of all graphs.
 *
 * Returns: (transfer none): a new value of unknown type
 */
VnValue *
vn_graph_add_named (VnGraph    *self,
                    const char *name,
                    gboolean    input)
{
  VnValue *value;

  g_return_val_if_fail (self != NULL && name != NULL, NULL);
  g_return_val_if_fail (g_hash_table_lookup (self->by_name, name) == NULL, NULL);

  value = graph_edit_add_value (self, g_strdup (name), VN_DTYPE_UNDEFINED, NULL);
  return input ? graph_edit_make_input (value) : value;
}

VnValue *
vn_graph_add_input (VnGraph       *self,
                    const char    *name,
                    VnDType        dtype,
                    const VnShape *shape)
{
  g_return_val_if_fail (self != NULL, NULL);

  return graph_edit_make_input (vn_graph_add_value (self, name, dtype, shape));
}

VnValue *
vn_graph_add_initializer (VnGraph    *self,
                          const char *name,
                          VnTensor   *tensor)
{
  VnValue *value;

  g_return_val_if_fail (self != NULL && tensor != NULL, NULL);

  value = vn_graph_add_value (self, name, tensor->dtype, &tensor->shape);
  vn_graph_set_initializer (self, value, tensor);
  return value;
}

/**
 * vn_graph_set_initializer:
 * @tensor: (nullable): %NULL makes @value no initializer any more
 *
 * The value's type follows the tensor.
 */
void
vn_graph_set_initializer (VnGraph  *self,
                          VnValue  *value,
                          VnTensor *tensor)
{
  VnTensor *old;

  g_return_if_fail (self != NULL && value != NULL);

  old = value->initializer;
  if (tensor != NULL && old == NULL)
    g_ptr_array_add (self->initializers, value);
  else if (tensor == NULL && old != NULL)
    vn_graph_forget_initializer (self, value);
  value->initializer = tensor != NULL ? vn_tensor_ref (tensor) : NULL;
  g_clear_pointer (&value->initializer_extra, g_bytes_unref);
  if (tensor != NULL)
    vn_value_set_type (value, tensor->dtype, &tensor->shape);
  g_clear_pointer (&old, vn_tensor_unref);
}

void
vn_value_set_type (VnValue       *self,
                   VnDType        dtype,
                   const VnShape *shape)
{
  g_return_if_fail (self != NULL);

  vn_type_clear (&self->type);
  vn_type_init_tensor (&self->type, dtype, shape);
}

/* ---- nodes ---- */

/**
 * vn_node_set_input:
 * @i: 0 .. number of inputs (one past the end extends the list)
 * @value: (nullable): of the node's graph or an outer one
 */
void
vn_node_set_input (VnNode  *self,
                   guint    i,
                   VnValue *value)
{
  VnValue *old;

  g_return_if_fail (self != NULL && i <= self->inputs->len);

  old = vn_node_get_input (self, i);
  if (i == self->inputs->len)
    g_ptr_array_add (self->inputs, NULL);
  if (old != NULL)
    vn_uses_remove (old->uses, self, i);
  self->inputs->pdata[i] = value;
  if (value != NULL)
    vn_uses_add (value->uses, &(VnUse) { self, i });
}

/**
 * vn_node_set_output:
 * @i: 0 .. number of outputs (one past the end extends the list)
 * @value: (nullable): taken from its present producer, if it has one
 */
void
vn_node_set_output (VnNode  *self,
                    guint    i,
                    VnValue *value)
{
  VnValue *old;

  g_return_if_fail (self != NULL && i <= self->outputs->len);

  old = vn_node_get_output (self, i);
  if (i == self->outputs->len)
    g_ptr_array_add (self->outputs, NULL);
  if (old != NULL)
    old->producer = NULL;
  if (value != NULL)
    {
      if (value->producer != NULL)
        value->producer->outputs->pdata[value->output_index] = NULL;
      value->producer = self;
      value->output_index = i;
    }
  self->outputs->pdata[i] = value;
}

static void
graph_edit_collect_node_names (VnGraph *self)
{
  self->node_names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  vn_graph_settle (self);
  for (guint i = 0; i < self->nodes->len; i++)
    g_hash_table_insert (self->node_names, g_strdup (((VnNode *) g_ptr_array_index (self->nodes, i))->name),
                         GUINT_TO_POINTER (FIRST_SUFFIX));
}

static char *
graph_edit_unique_node_name (VnGraph    *self,
                             const char *base)
{
  char *name = g_strdup (base);
  guint suffix;

  if (self->node_names == NULL)
    graph_edit_collect_node_names (self);
  suffix = graph_edit_get_first_suffix (self->node_names, base);
  while (g_hash_table_contains (self->node_names, name))
    {
      g_free (name);
      name = g_strdup_printf ("%s_%u", base, suffix++);
    }
  if (suffix > FIRST_SUFFIX)
    g_hash_table_insert (self->node_names, g_strdup (base), GUINT_TO_POINTER (suffix));
  g_hash_table_insert (self->node_names, g_strdup (name), GUINT_TO_POINTER (FIRST_SUFFIX));
  return name;
}

/**
 * vn_graph_insert_node:
 * @before: (nullable): %NULL appends
 * @name: (nullable): made unique by a suffix
 * @inputs: (array length=n_inputs): %NULL elements are omitted inputs
 *
 * Returns: (transfer none): the new node, owned by the graph
 */
VnNode *
vn_graph_insert_node (VnGraph     *self,
                      VnNode      *before,
                      const char  *name,
                      const char  *domain,
                      const char  *op_type,
                      VnValue    **inputs,
                      guint        n_inputs,
                      VnValue    **outputs,
                      guint        n_outputs)
{
  VnNode *node;

  g_return_val_if_fail (self != NULL, NULL);

  node = g_new0 (VnNode, 1);
  node->graph = self;
  node->name = name != NULL && name[0] != '\0' ? graph_edit_unique_node_name (self, name) : g_strdup ("");
  node->domain = g_strdup (domain);
  node->op_type = g_strdup (op_type);
  node->inputs = g_ptr_array_new ();
  node->outputs = g_ptr_array_new ();
  node->attrs = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_attr_free);
  vn_graph_order_insert (self, before, node);
  for (guint i = 0; i < n_inputs; i++)
    vn_node_set_input (node, i, inputs[i]);
  for (guint i = 0; i < n_outputs; i++)
    vn_node_set_output (node, i, outputs[i]);
  return node;
}

VnNode *
vn_graph_add_node (VnGraph     *self,
                   const char  *name,
                   const char  *domain,
                   const char  *op_type,
                   VnValue    **inputs,
                   guint        n_inputs,
                   VnValue    **outputs,
                   guint        n_outputs)
{
  g_return_val_if_fail (self != NULL, NULL);

  return vn_graph_insert_node (self, NULL, name, domain, op_type, inputs, n_inputs, outputs, n_outputs);
}

/**
 * vn_graph_drop_uses:
 * @self: a graph in an attribute of a node, about to be freed
 *
 * Takes the uses that its nodes, and those of graphs inside them, make of values, also of outer graphs.
 */
void
vn_graph_drop_uses (VnGraph *self)
{
  g_return_if_fail (self != NULL);

  vn_graph_settle (self);
  for (guint i = 0; i < self->nodes->len; i++)
    {
      VnNode *node = g_ptr_array_index (self->nodes, i);

      for (guint k = 0; k < node->inputs->len; k++)
        if (vn_node_get_input (node, k) != NULL)
          vn_node_set_input (node, k, NULL);
      for (guint a = 0; a < node->attrs->len; a++)
        {
          VnAttr *attr = g_ptr_array_index (node->attrs, a);

          if (attr->graph != NULL)
            vn_graph_drop_uses (attr->graph);
          for (guint g = 0; attr->graphs != NULL && g < attr->graphs->len; g++)
            vn_graph_drop_uses (g_ptr_array_index (attr->graphs, g));
        }
    }
}

/**
 * vn_graph_remove_node:
 *
 * Removes and frees @node. Its outputs stay in the graph without a producer.
 */
void
vn_graph_remove_node (VnGraph *self,
                      VnNode  *node)
{
  g_return_if_fail (self != NULL && node != NULL);

  for (guint i = 0; i < node->inputs->len; i++)
    if (vn_node_get_input (node, i) != NULL)
      vn_uses_remove (vn_node_get_input (node, i)->uses, node, i);
  for (guint i = 0; i < node->outputs->len; i++)
    if (vn_node_get_output (node, i) != NULL)
      vn_node_get_output (node, i)->producer = NULL;
  for (guint a = 0; a < node->attrs->len; a++)
    {
      VnAttr *attr = g_ptr_array_index (node->attrs, a);

      if (attr->graph != NULL)
        vn_graph_drop_uses (attr->graph);
      for (guint g = 0; attr->graphs != NULL && g < attr->graphs->len; g++)
        vn_graph_drop_uses (g_ptr_array_index (attr->graphs, g));
    }
  vn_graph_order_remove (self, node);
}

/**
 * vn_graph_remove_value:
 * @value: without uses and producer, and no graph output
 */
void
vn_graph_remove_value (VnGraph *self,
                       VnValue *value)
{
  g_return_if_fail (self != NULL && value != NULL);
  g_return_if_fail (value->uses->len == 0 && value->producer == NULL && !value->is_output);

  if (value->is_input)
    g_ptr_array_remove (self->inputs, value);
  if (value->initializer != NULL)
    vn_graph_forget_initializer (self, value);
  graph_edit_release_name (self, value->name);
  vn_graph_forget_value (self, value);
}

static gboolean
graph_edit_is_still_output (VnGraph *self,
                            VnValue *value)
{
  return g_ptr_array_find (self->outputs, value, NULL);
}

/**
 * vn_graph_set_output:
 * @i: 0 .. number of outputs (one past the end appends)
 */
void
vn_graph_set_output (VnGraph *self,
                     guint    i,
                     VnValue *value)
{
  VnValue *old = NULL;

  g_return_if_fail (self != NULL && value != NULL && i <= self->outputs->len);

  if (i == self->outputs->len)
    g_ptr_array_add (self->outputs, NULL);
  else
    old = g_ptr_array_index (self->outputs, i);
  self->outputs->pdata[i] = value;
  if (old != NULL && old != value)
    old->is_output = graph_edit_is_still_output (self, old);
  if (value->graph == self)
    {
      value->is_output = TRUE;
      value->has_info = TRUE;
    }
}

void
vn_graph_rename_value (VnGraph    *self,
                       VnValue    *value,
                       const char *name)
{
  g_return_if_fail (self != NULL && value != NULL);
  g_return_if_fail (g_hash_table_lookup (self->by_name, name) == NULL);

  graph_edit_release_name (self, value->name);
  g_free (value->name);
  value->name = g_strdup (name);
  g_hash_table_insert (self->by_name, value->name, value);
}

/**
 * vn_graph_reorder:
 * @nodes: (element-type VnNode): a permutation of the graph's nodes
 */
void
vn_graph_reorder (VnGraph   *self,
                  GPtrArray *nodes)
{
  g_return_if_fail (self != NULL && nodes != NULL && nodes->len == vn_graph_get_n_nodes (self));

  vn_graph_settle (self);
  for (guint i = 0; i < nodes->len; i++)
    {
      self->nodes->pdata[i] = nodes->pdata[i];
      ((VnNode *) g_ptr_array_index (nodes, i))->index = i;
    }
}

/**
 * vn_value_replace_uses:
 * @except: (nullable): a node whose inputs stay
 *
 * Makes all users of @self use @by. The graph's outputs are not touched.
 */
void
vn_value_replace_uses (VnValue *self,
                       VnValue *by,
                       VnNode  *except)
{
  g_autoptr(GArray) uses = NULL;

  g_return_if_fail (self != NULL);

  if (self == by)
    return;
  uses = vn_uses_copy (self->uses);
  vn_uses_clear (self->uses);
  for (guint i = 0; i < uses->len; i++)
    {
      const VnUse use = g_array_index (uses, VnUse, i);

      if (use.node != except)
        use.node->inputs->pdata[use.index] = by;
      if (use.node == except)
        vn_uses_add (self->uses, &use);
      else if (by != NULL)
        vn_uses_add (by->uses, &use);
    }
}
