/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Decodes graphs and functions: values, initializers, nodes, outputs. */
#include "vn-onnx-private.h"

#include "vn-error.h"
#include "vn-graph-edit.h"
#include "vn-i18n.h"
#include "vn-memory.h"

/* ---- values ---- */

static gboolean
onnx_read_graph_check_new (VnGraph     *graph,
                           const char  *name,
                           const char  *what,
                           GError     **error)
{
  if (!vn_onnx_check_name (name, what, error))
    return FALSE;
  if (name == NULL || *name == '\0')
    g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("%s without a name"), what);
  else if (g_hash_table_contains (graph->by_name, name))
    g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED,
                 _("the value “%s” is defined twice, the second time as %s"), name, what);
  else
    return TRUE;
  return FALSE;
}

static VnValue *
onnx_read_graph_define_value (VnGraph     *graph,
                              const char  *name,
                              const char  *what,
                              GError     **error)
{
  if (!onnx_read_graph_check_new (graph, name, what, error))
    return NULL;
  return vn_graph_add_named (graph, name, FALSE);
}

static VnValue *
onnx_read_graph_define_input (VnGraph     *graph,
                              const char  *name,
                              GError     **error)
{
  if (!onnx_read_graph_check_new (graph, name, _("graph input"), error))
    return NULL;
  return vn_graph_add_named (graph, name, TRUE);
}

static void
onnx_read_graph_set_info (VnValue           *value,
                          const PbValueInfo *proto)
{
  g_autoptr(VnWireOut) extra = vn_wire_out_new ();

  value->has_info = TRUE;
  if (proto->has_type)
    {
      vn_type_clear (&value->type);
      vn_onnx_type_decode (&value->type, proto->type.data, proto->type.len);
    }
  g_free (value->doc);
  value->doc = vn_onnx_dup_text (proto->doc_string);
  vn_onnx_extra_unknown (extra, &proto->base, 0);
  g_clear_pointer (&value->extra, g_bytes_unref);
  value->extra = vn_onnx_extra_finish (extra);
}

static gboolean
onnx_read_graph_decode_inputs (VnGraph        *graph,
                               const PbGraph  *proto,
                               GError        **error)
{
  for (gsize i = 0; i < proto->n_input; i++)
    {
      VnValue *value = onnx_read_graph_define_input (graph, proto->input[i]->name, error);

      if (value == NULL)
        return FALSE;
      onnx_read_graph_set_info (value, proto->input[i]);
    }
  return TRUE;
}

static gboolean
onnx_read_graph_decode_initializer (VnOnnxReader    *self,
                                    VnGraph         *graph,
                                    const PbTensor  *proto,
                                    GError         **error)
{
  g_autoptr(VnWireOut) extra = vn_wire_out_new ();
  g_autoptr(VnTensor) tensor = NULL;
  VnValue *value = proto->name != NULL ? g_hash_table_lookup (graph->by_name, proto->name) : NULL;
  VnType declared;

  if (value != NULL && value->initializer != NULL)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("duplicate initializer “%s”"), proto->name);
      return FALSE;
    }
  if (value == NULL && (value = onnx_read_graph_define_value (graph, proto->name, _("initializer"), error)) == NULL)
    return FALSE;
  tensor = vn_onnx_tensor_decode (self, proto, error);
  if (tensor == NULL)
    return FALSE;

  /* The declared type of an initializer that is an input as well stays as it was declared. */
  vn_type_copy (&declared, &value->type);
  vn_graph_set_initializer (graph, value, tensor);
  vn_type_clear (&value->type);
  if (declared.kind == VN_TYPE_UNKNOWN && declared.encoded == NULL)
    vn_type_init_tensor (&value->type, tensor->dtype, &tensor->shape);
  else
    vn_type_copy (&value->type, &declared);
  vn_type_clear (&declared);

  vn_onnx_tensor_extra (extra, proto);
  value->initializer_extra = vn_onnx_extra_finish (extra);
  return TRUE;
}

static gboolean
onnx_read_graph_is_sparse (const ProtobufCMessageUnknownField *unknown)
{
  return unknown->tag == F_GRAPH_SPARSE && unknown->wire_type == PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED;
}

static gboolean
onnx_read_graph_add_dense (VnOnnxReader  *self,
                           VnGraph       *graph,
                           const char    *name,
                           VnTensor      *dense,
                           GError       **error)
{
  VnValue *value = g_hash_table_lookup (graph->by_name, name);

  if (value != NULL && value->initializer != NULL)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("duplicate initializer “%s”"), name);
      return FALSE;
    }
  if (value == NULL && (value = onnx_read_graph_define_value (graph, name, _("sparse initializer"), error)) == NULL)
    return FALSE;
  vn_graph_set_initializer (graph, value, dense);
  vn_notes_add (self->model->notes, VN_NOTE_INFO, "sparse-initializer", name,
                _("“%s” is a sparse tensor in the file; it is read, and written, as a dense one"), name);
  return TRUE;
}

/* Nothing but the reader knows of sparse initializers. */
static gboolean
onnx_read_graph_decode_sparse (VnOnnxReader   *self,
                               VnGraph        *graph,
                               const PbGraph  *proto,
                               GError        **error)
{
  for (guint i = 0; i < proto->base.n_unknown_fields; i++)
    {
      const ProtobufCMessageUnknownField *unknown = &proto->base.unknown_fields[i];
      g_autoptr(GBytes) bytes = NULL;
      g_autoptr(VnTensor) dense = NULL;
      g_autofree char *name = NULL;

      if (!onnx_read_graph_is_sparse (unknown))
        continue;
      bytes = vn_onnx_sparse_get_content (unknown);
      dense = vn_onnx_sparse_decode (bytes, self->path, &name, error);
      if (dense == NULL || !onnx_read_graph_add_dense (self, graph, name != NULL ? name : "", dense, error))
        return FALSE;
    }
  return TRUE;
}

/* ---- nodes ---- */

static char *
onnx_read_graph_describe_node (const PbNode *proto,
                               gsize         i)
{
  const char *type = proto->op_type != NULL ? proto->op_type : "";

  if (proto->name != NULL && *proto->name != '\0')
    return g_strdup_printf (_("node “%s” (%s): "), proto->name, type);
  return g_strdup_printf (_("node %zu (%s): "), i, type);
}

static gboolean
onnx_read_graph_define_outputs (VnGraph       *graph,
                                const PbNode  *proto,
                                GError       **error)
{
  for (gsize i = 0; i < proto->n_output; i++)
    if (*proto->output[i] != '\0' && onnx_read_graph_define_value (graph, proto->output[i], _("node output"), error) == NULL)
      return FALSE;
  return TRUE;
}

static gboolean
onnx_read_graph_collect_inputs (VnGraph       *graph,
                                const PbNode  *proto,
                                VnValue      **inputs,
                                GError       **error)
{
  for (gsize i = 0; i < proto->n_input; i++)
    {
      if (*proto->input[i] == '\0')
        continue;
      inputs[i] = vn_graph_find_value (graph, proto->input[i]);
      if (inputs[i] == NULL)
        {
          g_autofree char *name = vn_onnx_dup_text (proto->input[i]);

          g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED,
                       _("its input “%s” is neither computed by a node, nor an input, nor an initializer"), name);
          return FALSE;
        }
    }
  return TRUE;
}

static VnNode *
onnx_read_graph_add_node (VnGraph       *graph,
                          const PbNode  *proto,
                          GError       **error)
{
  g_autofree VnValue **inputs = g_new0 (VnValue *, proto->n_input + 1);
  g_autofree VnValue **outputs = g_new0 (VnValue *, proto->n_output + 1);
  const char *domain = proto->domain != NULL ? proto->domain : "";
  gboolean alias = g_str_equal (domain, "ai.onnx");
  VnNode *node;

  if (!onnx_read_graph_collect_inputs (graph, proto, inputs, error))
    return NULL;
  for (gsize i = 0; i < proto->n_output; i++)
    if (*proto->output[i] != '\0')
      outputs[i] = g_hash_table_lookup (graph->by_name, proto->output[i]);
  node = vn_graph_add_node (graph, NULL, alias ? "" : domain, proto->op_type,
                            inputs, (guint) proto->n_input, outputs, (guint) proto->n_output);

  /* Names of nodes are kept as they are, even where several have the same. */
  g_free (node->name);
  node->name = g_strdup (proto->name != NULL ? proto->name : "");
  node->written_domain_alias = alias;
  return node;
}

static gboolean
onnx_read_graph_decode_attrs (VnOnnxReader  *self,
                              VnNode        *node,
                              const PbNode  *proto,
                              GError       **error)
{
  for (gsize i = 0; i < proto->n_attribute; i++)
    {
      VnAttr *attr = NULL;

      if (!vn_onnx_attr_decode (self, node->graph, node, proto->attribute[i], &attr, error))
        return FALSE;
      g_ptr_array_add (node->attrs, attr);
    }
  return TRUE;
}

static gboolean
onnx_read_graph_decode_node (VnOnnxReader  *self,
                             VnGraph       *graph,
                             const PbNode  *proto,
                             GError       **error)
{
  g_autoptr(VnWireOut) extra = vn_wire_out_new ();
  VnNode *node;

  if (!vn_onnx_check_name (proto->name, _("node"), error) ||
      !vn_onnx_check_name (proto->op_type, _("operator"), error) ||
      !vn_onnx_check_name (proto->domain, _("domain"), error))
    return FALSE;
  if (proto->op_type == NULL || *proto->op_type == '\0')
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("it has no operator type"));
      return FALSE;
    }
  node = onnx_read_graph_add_node (graph, proto, error);
  if (node == NULL || !onnx_read_graph_decode_attrs (self, node, proto, error))
    return FALSE;
  g_free (node->overload);
  node->overload = proto->overload != NULL && *proto->overload != '\0' ? g_strdup (proto->overload) : NULL;
  g_free (node->doc);
  node->doc = vn_onnx_dup_text (proto->doc_string);
  vn_onnx_extra_unknown (extra, &proto->base, 0);
  node->extra = vn_onnx_extra_finish (extra);
  return TRUE;
}

/* Outputs of all nodes are defined before the first node is made: nodes need not be sorted. Each of @protos is freed as soon as
 * its node is there: in large networks they are a quarter of what is needed. */
static gboolean
onnx_read_graph_decode_nodes (VnOnnxReader        *self,
                              VnGraph             *graph,
                              PbNode             **protos,
                              gsize                n,
                              GError             **error)
{
  for (gsize i = 0; i < n; i++)
    if (!onnx_read_graph_define_outputs (graph, protos[i], error))
      {
        g_autofree char *label = onnx_read_graph_describe_node (protos[i], i);

        g_prefix_error (error, "%s", label);
        return FALSE;
      }
  for (gsize i = 0; i < n; i++)
    {
      if (!onnx_read_graph_decode_node (self, graph, protos[i], error))
        {
          g_autofree char *label = onnx_read_graph_describe_node (protos[i], i);

          g_prefix_error (error, "%s", label);
          return FALSE;
        }
      vn__onnx__node_proto__free_unpacked (g_steal_pointer (&protos[i]), &self->allocator.functions);
    }
  return TRUE;
}

/* ---- graphs ---- */

static gboolean
onnx_read_graph_add_output (VnGraph     *graph,
                            const char  *name,
                            VnValue    **value,
                            GError     **error)
{
  *value = name != NULL && *name != '\0' ? vn_graph_find_value (graph, name) : NULL;
  if (*value != NULL)
    {
      vn_graph_set_output (graph, graph->outputs->len, *value);
      return TRUE;
    }
  g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("no node computes the graph output “%s”"),
               name != NULL && g_utf8_validate (name, -1, NULL) ? name : "");
  return FALSE;
}

static gboolean
onnx_read_graph_decode_outputs (VnGraph        *graph,
                                const PbGraph  *proto,
                                GError        **error)
{
  for (gsize i = 0; i < proto->n_output; i++)
    {
      VnValue *value;

      if (!onnx_read_graph_add_output (graph, proto->output[i]->name, &value, error))
        return FALSE;
      if (value->graph == graph && !value->is_input)
        onnx_read_graph_set_info (value, proto->output[i]);
    }
  return TRUE;
}

/* An entry for a value that is not there, or a second one, stays encoded. */
static void
onnx_read_graph_decode_value_infos (VnGraph       *graph,
                                    const PbGraph *proto,
                                    VnWireOut     *extra)
{
  for (gsize i = 0; i < proto->n_value_info; i++)
    {
      const PbValueInfo *info = proto->value_info[i];
      VnValue *value = info->name != NULL ? g_hash_table_lookup (graph->by_name, info->name) : NULL;

      if (value != NULL && !value->has_info)
        onnx_read_graph_set_info (value, info);
      else
        {
          gsize size = vn__onnx__value_info_proto__get_packed_size (info);
          g_autofree guint8 *packed = vn_memory_alloc (size, 1, NULL);

          if (packed == NULL)
            continue;
          vn__onnx__value_info_proto__pack (info, packed);
          vn_wire_bytes (extra, F_GRAPH_VALUE_INFO, packed, size);
        }
    }
}

/**
 * vn_onnx_graph_decode:
 * @graph: empty
 *
 * Fills @graph. Nested graphs find the values of the graphs around them; a name of their own hides an outer one.
 */
gboolean
vn_onnx_graph_decode (VnOnnxReader   *self,
                      VnGraph        *graph,
                      PbGraph        *proto,
                      GError        **error)
{
  g_autoptr(VnWireOut) extra = vn_wire_out_new ();

  g_free (graph->name);
  graph->name = vn_onnx_dup_text (proto->name != NULL ? proto->name : "");
  g_free (graph->doc);
  graph->doc = vn_onnx_dup_text (proto->doc_string);
  if (!onnx_read_graph_decode_inputs (graph, proto, error))
    return FALSE;
  for (gsize i = 0; i < proto->n_initializer; i++)
    if (!onnx_read_graph_decode_initializer (self, graph, proto->initializer[i], error))
      return FALSE;
  if (!onnx_read_graph_decode_sparse (self, graph, proto, error) ||
      !onnx_read_graph_decode_nodes (self, graph, proto->node, proto->n_node, error) ||
      !onnx_read_graph_decode_outputs (graph, proto, error))
    return FALSE;
  onnx_read_graph_decode_value_infos (graph, proto, extra);
  vn_onnx_extra_unknown (extra, &proto->base, F_GRAPH_SPARSE);
  graph->extra = vn_onnx_extra_finish (extra);
  return TRUE;
}

/* ---- functions ---- */

static gboolean
onnx_read_graph_decode_body (VnOnnxReader      *self,
                             VnGraph           *body,
                             PbFunction        *proto,
                             GError           **error)
{
  for (gsize i = 0; i < proto->n_input; i++)
    if (onnx_read_graph_define_input (body, proto->input[i], error) == NULL)
      return FALSE;
  if (!onnx_read_graph_decode_nodes (self, body, proto->node, proto->n_node, error))
    return FALSE;
  for (gsize i = 0; i < proto->n_output; i++)
    {
      VnValue *value;

      if (!onnx_read_graph_add_output (body, proto->output[i], &value, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
onnx_read_graph_decode_function_attrs (VnOnnxReader      *self,
                                       VnFunction        *function,
                                       const PbFunction  *proto,
                                       GError           **error)
{
  for (gsize i = 0; i < proto->n_attribute; i++)
    {
      if (!vn_onnx_check_name (proto->attribute[i], _("attribute"), error))
        return FALSE;
      g_ptr_array_add (function->attr_names, g_strdup (proto->attribute[i]));
    }
  for (gsize i = 0; i < proto->n_attribute_proto; i++)
    {
      VnAttr *attr = NULL;

      if (!vn_onnx_attr_decode (self, function->body, NULL, proto->attribute_proto[i], &attr, error))
        return FALSE;
      g_ptr_array_add (function->attr_defaults, attr);
    }
  return TRUE;
}

/**
 * vn_onnx_function_decode:
 *
 * @function: with empty lists and body
 */
gboolean
vn_onnx_function_decode (VnOnnxReader      *self,
                         VnFunction        *function,
                         PbFunction        *proto,
                         GError           **error)
{
  g_autoptr(VnWireOut) extra = vn_wire_out_new ();

  function->domain = vn_onnx_dup_text (proto->domain != NULL ? proto->domain : "");
  function->name = vn_onnx_dup_text (proto->name != NULL ? proto->name : "");
  function->overload = vn_onnx_dup_text (proto->overload);
  function->doc = vn_onnx_dup_text (proto->doc_string);
  for (gsize i = 0; i < proto->n_opset_import; i++)
    vn_onnx_opset_decode (function->opsets, proto->opset_import[i]);
  if (!onnx_read_graph_decode_function_attrs (self, function, proto, error) ||
      !onnx_read_graph_decode_body (self, function->body, proto, error))
    {
      g_prefix_error (error, _("function “%s”: "), function->name);
      return FALSE;
    }
  vn_onnx_extra_unknown (extra, &proto->base, 0);
  function->extra = vn_onnx_extra_finish (extra);
  return TRUE;
}
