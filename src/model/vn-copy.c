/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copies of whole models. Tensors, types' encodings and opaque bytes are shared. */
#include "vn-copy-private.h"

#include "vn-graph-edit.h"

typedef struct
{
  VnModel    *model;
  GHashTable *values;   /* old VnValue -> new */
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

static void
copy_value (Copy          *copy,
            const VnValue *from,
            VnGraph       *graph)
{
  VnValue *value = g_new0 (VnValue, 1);

  *value = *from;
  value->name = g_strdup (from->name);
  value->graph = graph;
  value->producer = NULL;
  value->uses = g_array_sized_new (FALSE, FALSE, sizeof (VnUse), from->uses->len);
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

static void
copy_list (Copy      *copy,
           GPtrArray *from,
           GPtrArray *to)
{
  for (guint i = 0; i < from->len; i++)
    g_ptr_array_add (to, copy_mapped (copy, g_ptr_array_index (from, i)));
}

static VnGraph *
copy_graph (Copy          *copy,
            const VnGraph *from,
            VnGraph       *parent,
            VnNode        *parent_node)
{
  VnGraph *graph = vn_graph_new (copy->model, parent, parent_node);

  g_free (graph->name);
  graph->name = g_strdup (from->name);
  graph->doc = g_strdup (from->doc);
  graph->extra = copy_ref_bytes (from->extra);
  for (guint i = 0; i < from->values->len; i++)
    copy_value (copy, g_ptr_array_index (from->values, i), graph);
  copy_list (copy, from->inputs, graph->inputs);
  copy_list (copy, from->outputs, graph->outputs);
  copy_list (copy, from->initializers, graph->initializers);
  for (guint i = 0; i < from->nodes->len; i++)
    copy_node (copy, g_ptr_array_index (from->nodes, i), graph);
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
  copy = (Copy) { model, values };
  model->producer_name = g_strdup (self->producer_name);
  model->producer_version = g_strdup (self->producer_version);
  model->domain = g_strdup (self->domain);
  model->doc = g_strdup (self->doc);
  model->model_version = self->model_version;
  model->has_model_version = self->has_model_version;
  model->path = g_strdup (self->path);
  for (guint i = 0; i < self->files->len; i++)
    g_ptr_array_add (model->files, g_strdup (g_ptr_array_index (self->files, i)));
  model->file_size = self->file_size;
  model->extra = copy_ref_bytes (self->extra);
  copy_opsets (self->opsets, model->opsets);
  for (guint i = 0; i < self->metadata->len; i++)
    g_ptr_array_add (model->metadata, g_strdup (g_ptr_array_index (self->metadata, i)));
  vn_graph_free (model->graph);
  model->graph = copy_graph (&copy, self->graph, NULL, NULL);
  for (guint i = 0; i < self->functions->len; i++)
    copy_function (&copy, g_ptr_array_index (self->functions, i));
  return model;
}
