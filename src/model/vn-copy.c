/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copies of whole models, and of graphs inside nodes. Tensors, types' encodings and opaque bytes are shared. */
#include "vn-copy-private.h"

#include "vn-graph-private.h"

typedef struct
{
  VnModel    *model;
  GHashTable *values;   /* old VnValue -> new */
  gboolean    unique;   /* names must differ from those of outer graphs */
} Copy;

static VnGraph *copy_graph (Copy          *copy,
                            const VnGraph *from,
                            VnGraph       *parent,
                            VnNode        *parent_node);

static GBytes *
copy_ref_bytes (GBytes *bytes)
{
  return bytes != NULL ? g_bytes_ref (bytes) : NULL;
}

/* A name in an inner graph may not hide one outside. */
static char *
copy_find_name (const VnGraph *graph,
                const char    *base)
{
  char *name = g_strdup (base);

  for (guint i = 1; vn_graph_find_value (graph, name) != NULL; i++)
    {
      g_free (name);
      name = g_strdup_printf ("%s_%u", base, i);
    }
  return name;
}

static void
copy_value (Copy          *copy,
            const VnValue *from,
            VnGraph       *graph)
{
  VnValue *value = g_new0 (VnValue, 1);

  *value = *from;
  value->name = copy->unique ? copy_find_name (graph, from->name) : g_strdup (from->name);
  value->graph = graph;
  value->id = graph->values->len;
  value->producer = NULL;
  vn_uses_init (value->uses);
  vn_type_copy (&value->type, &from->type);
  value->initializer = from->initializer != NULL ? vn_tensor_ref (from->initializer) : NULL;
  value->doc = g_strdup (from->doc);
  value->extra = copy_ref_bytes (from->extra);
  value->initializer_extra = copy_ref_bytes (from->initializer_extra);
  g_ptr_array_add (graph->values, value);
  g_hash_table_insert (graph->by_name, value->name, value);
  g_hash_table_insert (copy->values, (gpointer) from, value);
}

static VnValue *
copy_mapped (Copy          *copy,
             const VnValue *from)
{
  return from != NULL ? g_hash_table_lookup (copy->values, from) : NULL;
}

static void
copy_attr (Copy         *copy,
           const VnAttr *from,
           VnNode       *node)
{
  VnAttr *attr = _vn_attr_copy_plain (from);

  if (from->graph != NULL)
    attr->graph = copy_graph (copy, from->graph, node->graph, node);
  if (from->graphs != NULL)
    {
      attr->graphs = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_graph_free);
      for (guint i = 0; i < from->graphs->len; i++)
        g_ptr_array_add (attr->graphs, copy_graph (copy, g_ptr_array_index (from->graphs, i), node->graph, node));
    }
  g_ptr_array_add (node->attrs, attr);
}

static void
copy_node (Copy         *copy,
           const VnNode *from,
           VnGraph      *graph)
{
  VnNode *node = vn_graph_add_node (graph, NULL, from->domain, from->op_type, NULL, 0, NULL, 0);

  g_free (node->name);
  node->name = g_strdup (from->name);
  node->overload = g_strdup (from->overload);
  node->doc = g_strdup (from->doc);
  node->extra = copy_ref_bytes (from->extra);
  node->written_domain_alias = from->written_domain_alias;
  node->channels = from->channels;
  for (guint i = 0; i < from->inputs->len; i++)
    vn_node_set_input (node, i, copy_mapped (copy, vn_node_get_input (from, i)));
  for (guint i = 0; i < from->outputs->len; i++)
    vn_node_set_output (node, i, copy_mapped (copy, vn_node_get_output (from, i)));
  for (guint i = 0; i < from->attrs->len; i++)
    copy_attr (copy, g_ptr_array_index (from->attrs, i), node);
}

/* @graph: (nullable): only what became a value of this graph */
static void
copy_list (Copy          *copy,
           const VnGraph *graph,
           GPtrArray     *from,
           GPtrArray     *to)
{
  for (guint i = 0; i < from->len; i++)
    {
      VnValue *value = copy_mapped (copy, g_ptr_array_index (from, i));

      if (graph == NULL || value->graph == graph)
        g_ptr_array_add (to, value);
    }
}

/* Values that have a place already, outside, are not copied. */
static void
copy_fill_graph (Copy          *copy,
                 const VnGraph *from,
                 VnGraph       *graph)
{
  g_free (graph->name);
  graph->name = g_strdup (from->name);
  graph->doc = g_strdup (from->doc);
  graph->extra = copy_ref_bytes (from->extra);
  vn_graph_settle (from);
  for (guint i = 0; i < from->values->len; i++)
    if (copy_mapped (copy, g_ptr_array_index (from->values, i)) == NULL)
      copy_value (copy, g_ptr_array_index (from->values, i), graph);
  copy_list (copy, graph, from->inputs, graph->inputs);
  copy_list (copy, NULL, from->outputs, graph->outputs);
  copy_list (copy, graph, from->initializers, graph->initializers);
  for (guint i = 0; i < from->nodes->len; i++)
    copy_node (copy, g_ptr_array_index (from->nodes, i), graph);
}

static VnGraph *
copy_graph (Copy          *copy,
            const VnGraph *from,
            VnGraph       *parent,
            VnNode        *parent_node)
{
  VnGraph *graph = vn_graph_new (copy->model, parent, parent_node);

  copy_fill_graph (copy, from, graph);
  return graph;
}

static void
copy_opsets (GArray *from,
             GArray *to)
{
  for (guint i = 0; i < from->len; i++)
    {
      VnOpset opset = g_array_index (from, VnOpset, i);

      opset.domain = g_strdup (opset.domain);
      g_array_append_val (to, opset);
    }
}

static gpointer
copy_string (gconstpointer text,
             gpointer      data)
{
  return g_strdup (text);
}

static void
copy_opset_clear (gpointer data)
{
  g_free (((VnOpset *) data)->domain);
}

static void
copy_function (Copy             *copy,
               const VnFunction *from)
{
  VnFunction *function = g_new0 (VnFunction, 1);

  function->domain = g_strdup (from->domain);
  function->name = g_strdup (from->name);
  function->overload = g_strdup (from->overload);
  function->body = from->body != NULL ? copy_graph (copy, from->body, NULL, NULL) : NULL;
  if (from->attr_names != NULL)
    {
      function->attr_names = g_ptr_array_copy (from->attr_names, copy_string, NULL);
      g_ptr_array_set_free_func (function->attr_names, g_free);
    }
  if (from->attr_defaults != NULL)
    {
      function->attr_defaults = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_attr_free);
      for (guint i = 0; i < from->attr_defaults->len; i++)
        g_ptr_array_add (function->attr_defaults, _vn_attr_copy_plain (g_ptr_array_index (from->attr_defaults, i)));
    }
  if (from->opsets != NULL)
    {
      function->opsets = g_array_new (FALSE, TRUE, sizeof (VnOpset));
      g_array_set_clear_func (function->opsets, copy_opset_clear);
      copy_opsets (from->opsets, function->opsets);
    }
  function->doc = g_strdup (from->doc);
  function->extra = copy_ref_bytes (from->extra);
  g_ptr_array_add (copy->model->functions, function);
}

/**
 * vn_model_copy:
 *
 * Returns: (transfer full): a model of its own that may be edited; weights are shared. The reader's notes stay behind.
 */
VnModel *
vn_model_copy (const VnModel *self)
{
  g_autoptr(GHashTable) values = g_hash_table_new (NULL, NULL);
  VnModel *model;
  Copy copy;

  g_return_val_if_fail (self != NULL, NULL);

  model = vn_model_new (self->ir_version, 0);
  copy = (Copy) { .model = model, .values = values };
  model->producer_name = g_strdup (self->producer_name);
  model->producer_version = g_strdup (self->producer_version);
  model->domain = g_strdup (self->domain);
  model->doc = g_strdup (self->doc);
  model->model_version = self->model_version;
  model->has_model_version = self->has_model_version;
  model->widened = self->widened;
  model->path = g_strdup (self->path);
  for (guint i = 0; i < self->files->len; i++)
    g_ptr_array_add (model->files, g_strdup (g_ptr_array_index (self->files, i)));
  for (guint i = 0; i < self->maps->len; i++)
    g_ptr_array_add (model->maps, g_bytes_ref (g_ptr_array_index (self->maps, i)));
  model->file_size = self->file_size;
  model->extra = copy_ref_bytes (self->extra);
  g_set_object (&model->backend, self->backend);
  copy_opsets (self->opsets, model->opsets);
  for (guint i = 0; i < self->metadata->len; i++)
    g_ptr_array_add (model->metadata, g_strdup (g_ptr_array_index (self->metadata, i)));
  vn_graph_free (model->graph);
  model->graph = copy_graph (&copy, self->graph, NULL, NULL);
  model->graph->former_values = self->graph->former_values != NULL ? g_hash_table_ref (self->graph->former_values) : NULL;
  model->graph->former_nodes = self->graph->former_nodes != NULL ? g_hash_table_ref (self->graph->former_nodes) : NULL;
  model->graph->same_values = self->graph->same_values != NULL ? g_hash_table_ref (self->graph->same_values) : NULL;
  for (guint i = 0; i < self->functions->len; i++)
    copy_function (&copy, g_ptr_array_index (self->functions, i));
  return model;
}

/* What an inner graph has from outside: a constant, or an input. NULL if the name is taken. */
static VnValue *
copy_captured (const VnValue *from,
               VnGraph       *graph)
{
  VnTensor *constant = vn_value_get_constant (from);
  VnValue *value;

  if (vn_graph_find_value (graph, from->name) != NULL)
    return NULL;
  value = vn_graph_add_named (graph, from->name, constant == NULL);
  vn_type_clear (&value->type);
  vn_type_copy (&value->type, &from->type);
  if (constant != NULL)
    vn_graph_set_initializer (graph, value, constant);
  return value;
}

/**
 * vn_model_new_from_body:
 * @body: a graph in an attribute of a node
 * @originals: (element-type VnValue VnValue): receives, for each value of the new model, the one of @body, or of a graph
 *   around or inside it, that it stands for
 *
 * What @body has from outer graphs becomes initializers where it is constant, else inputs behind its own. Graphs inside
 * nodes of @body come along.
 *
 * Returns: (transfer full) (nullable): @body as a network of its own, to be put back with vn_node_set_body(); %NULL if a
 *   value in it hides one outside
 */
VnModel *
vn_model_new_from_body (const VnGraph *body,
                        GHashTable    *originals)
{
  g_autoptr(GHashTable) values = g_hash_table_new (NULL, NULL);
  g_autoptr(GPtrArray) captured = NULL;
  g_autoptr(VnModel) model = NULL;
  GHashTableIter iter;
  gpointer from, to;
  Copy copy;

  g_return_val_if_fail (body != NULL && originals != NULL, NULL);

  captured = vn_graph_list_captured (body);
  model = vn_model_new (body->model->ir_version, 0);
  copy = (Copy) { .model = model, .values = values };
  copy_opsets (body->model->opsets, model->opsets);
  g_set_object (&model->backend, body->model->backend);
  for (guint i = 0; i < body->values->len; i++)
    copy_value (&copy, g_ptr_array_index (body->values, i), model->graph);
  for (guint i = 0; i < captured->len; i++)
    {
      VnValue *outer = g_ptr_array_index (captured, i), *value = copy_captured (outer, model->graph);

      if (value == NULL)
        return NULL;
      g_hash_table_insert (values, outer, value);
    }
  g_ptr_array_set_size (model->graph->inputs, 0);
  copy_fill_graph (&copy, body, model->graph);
  for (guint i = 0; i < captured->len; i++)
    {
      VnValue *value = copy_mapped (&copy, g_ptr_array_index (captured, i));

      if (value->initializer == NULL)
        g_ptr_array_add (model->graph->inputs, value);
      value->is_output = FALSE;
    }
  for (guint i = 0; i < model->graph->outputs->len; i++)
    ((VnValue *) g_ptr_array_index (model->graph->outputs, i))->is_output = TRUE;
  g_hash_table_iter_init (&iter, values);
  while (g_hash_table_iter_next (&iter, &from, &to))
    g_hash_table_insert (originals, to, from);
  return g_steal_pointer (&model);
}

/**
 * vn_node_set_body:
 * @self: a node that holds a graph in the attribute @name
 * @from: what takes the place of that: the main graph of another model
 * @outer: (inout) (element-type VnValue VnValue): for values of @from that are not to be copied, the values around @self that
 *   they stand for; gets the copies of all others
 *
 * Copies @from into the attribute. Values whose names would hide others outside are renamed.
 */
void
vn_node_set_body (VnNode        *self,
                  const char    *name,
                  const VnGraph *from,
                  GHashTable    *outer)
{
  VnAttr *attr;
  Copy copy;

  g_return_if_fail (self != NULL && name != NULL && from != NULL && outer != NULL);

  copy = (Copy) { .model = self->graph->model, .values = outer, .unique = TRUE };
  attr = vn_attr_new (name, VN_ATTR_GRAPH);
  if (vn_node_get_attr (self, name) != NULL && vn_node_get_attr (self, name)->graph != NULL)
    vn_graph_drop_uses (vn_node_get_attr (self, name)->graph);
  attr->graph = copy_graph (&copy, from, self->graph, self);
  vn_node_set_attr (self, attr);
}
