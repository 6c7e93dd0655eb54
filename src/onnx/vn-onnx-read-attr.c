/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Decodes attributes. */
#include "vn-onnx-private.h"

#include "vn-error.h"
#include "vn-graph-edit.h"
#include "vn-i18n.h"
#include "vn-memory.h"

/* Older writers leave the type out; then the one field that is set says it. */
static VnAttrType
onnx_read_attr_guess_type (const PbAttr *proto)
{
  const struct {
    gboolean   set;
    VnAttrType type;
  } fields[] = {
    { proto->t != NULL,       VN_ATTR_TENSOR  },
    { proto->g != NULL,       VN_ATTR_GRAPH   },
    { proto->n_floats > 0,    VN_ATTR_FLOATS  },
    { proto->n_ints > 0,      VN_ATTR_INTS    },
    { proto->n_strings > 0,   VN_ATTR_STRINGS },
    { proto->n_tensors > 0,   VN_ATTR_TENSORS },
    { proto->n_graphs > 0,    VN_ATTR_GRAPHS  },
    { proto->has_s,           VN_ATTR_STRING  },
    { proto->has_f,           VN_ATTR_FLOAT   },
    { proto->has_i,           VN_ATTR_INT     },
  };

  for (guint i = 0; i < G_N_ELEMENTS (fields); i++)
    if (fields[i].set)
      return fields[i].type;
  return VN_ATTR_UNDEFINED;
}

static gboolean
onnx_read_attr_missing (const char  *field,
                        GError     **error)
{
  g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("its type requires a %s, but there is none"), field);
  return FALSE;
}

static GBytes *
onnx_read_attr_copy_bytes (const ProtobufCBinaryData  *data,
                           GError                    **error)
{
  gpointer copy = vn_memory_dup (data->data, data->len, 1, error);

  return copy != NULL ? g_bytes_new_take (copy, data->len) : NULL;
}

static gboolean
onnx_read_attr_decode_strings (VnAttr        *attr,
                               const PbAttr  *proto,
                               GError       **error)
{
  g_clear_pointer (&attr->strings, g_ptr_array_unref);
  attr->strings = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);
  for (gsize i = 0; i < proto->n_strings; i++)
    {
      GBytes *string = onnx_read_attr_copy_bytes (&proto->strings[i], error);

      if (string == NULL)
        return FALSE;
      g_ptr_array_add (attr->strings, string);
    }
  return TRUE;
}

static gboolean
onnx_read_attr_decode_lists (VnAttr        *attr,
                             const PbAttr  *proto,
                             GError       **error)
{
  /* GLib's arrays cannot be refused memory: it is asked for here whether there is enough. */
  if (attr->type == VN_ATTR_FLOATS)
    {
      if (!vn_memory_expect (proto->n_floats * sizeof (float), error))
        return FALSE;
      g_clear_pointer (&attr->floats, g_array_unref);
      attr->floats = g_array_sized_new (FALSE, FALSE, sizeof (float), (guint) proto->n_floats);
      g_array_append_vals (attr->floats, proto->floats, (guint) proto->n_floats);
    }
  else if (attr->type == VN_ATTR_INTS)
    {
      if (!vn_memory_expect (proto->n_ints * sizeof (gint64), error))
        return FALSE;
      g_clear_pointer (&attr->ints, g_array_unref);
      attr->ints = g_array_sized_new (FALSE, FALSE, sizeof (gint64), (guint) proto->n_ints);
      g_array_append_vals (attr->ints, proto->ints, (guint) proto->n_ints);
    }
  else
    {
      return onnx_read_attr_decode_strings (attr, proto, error);
    }
  return TRUE;
}

static gboolean
onnx_read_attr_decode_tensors (VnOnnxReader  *self,
                               VnAttr        *attr,
                               const PbAttr  *proto,
                               GError       **error)
{
  g_clear_pointer (&attr->tensors, g_ptr_array_unref);
  attr->tensors = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_tensor_unref);
  for (gsize i = 0; i < proto->n_tensors; i++)
    {
      VnTensor *tensor = vn_onnx_tensor_decode (self, proto->tensors[i], error);

      if (tensor == NULL)
        return FALSE;
      g_ptr_array_add (attr->tensors, tensor);
    }
  return TRUE;
}

static VnGraph *
onnx_read_attr_decode_graph (VnOnnxReader   *self,
                             VnGraph        *graph,
                             VnNode         *node,
                             PbGraph        *proto,
                             GError        **error)
{
  VnGraph *inner;

  if (node == NULL)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("a graph cannot be the default of a function's attribute"));
      return NULL;
    }
  inner = vn_graph_new (graph->model, graph, node);
  if (self->decode_graph (self, inner, proto, error))
    return inner;
  vn_graph_free (inner);
  return NULL;
}

static gboolean
onnx_read_attr_decode_graphs (VnOnnxReader  *self,
                              VnGraph       *graph,
                              VnNode        *node,
                              VnAttr        *attr,
                              const PbAttr  *proto,
                              GError       **error)
{
  g_clear_pointer (&attr->graphs, g_ptr_array_unref);
  attr->graphs = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_graph_free);
  for (gsize i = 0; i < proto->n_graphs; i++)
    {
      VnGraph *inner = onnx_read_attr_decode_graph (self, graph, node, proto->graphs[i], error);

      if (inner == NULL)
        return FALSE;
      g_ptr_array_add (attr->graphs, inner);
    }
  return TRUE;
}

static gboolean
onnx_read_attr_decode_value (VnOnnxReader  *self,
                             VnGraph       *graph,
                             VnNode        *node,
                             VnAttr        *attr,
                             const PbAttr  *proto,
                             GError       **error)
{
  switch (attr->type)
    {
    case VN_ATTR_FLOAT:
      attr->f = proto->f;
      return TRUE;
    case VN_ATTR_INT:
      attr->i = proto->i;
      return TRUE;
    case VN_ATTR_STRING:
      g_clear_pointer (&attr->s, g_bytes_unref);
      attr->s = onnx_read_attr_copy_bytes (&proto->s, error);
      return attr->s != NULL;
    case VN_ATTR_TENSOR:
      if (proto->t == NULL)
        return onnx_read_attr_missing ("tensor", error);
      attr->tensor_name = g_strdup (proto->t->name);
      attr->tensor = vn_onnx_tensor_decode (self, proto->t, error);
      return attr->tensor != NULL;
    case VN_ATTR_GRAPH:
      if (proto->g == NULL)
        return onnx_read_attr_missing ("graph", error);
      attr->graph = onnx_read_attr_decode_graph (self, graph, node, proto->g, error);
      return attr->graph != NULL;
    case VN_ATTR_TENSORS:
      return onnx_read_attr_decode_tensors (self, attr, proto, error);
    case VN_ATTR_GRAPHS:
      return onnx_read_attr_decode_graphs (self, graph, node, attr, proto, error);
    case VN_ATTR_FLOATS:
    case VN_ATTR_INTS:
    case VN_ATTR_STRINGS:
      return onnx_read_attr_decode_lists (attr, proto, error);
    default:
      return TRUE;
    }
}

/* What a tensor has beside its content goes into the attribute's extra as a message of the tensor's field: one for
 * `t`, and one for each of `tensors`. */
static void
onnx_read_attr_extra_tensor (VnWireOut      *extra,
                             guint32         number,
                             const PbTensor *proto,
                             gboolean        with_name)
{
  VnWireMark mark = vn_wire_begin (extra);

  if (with_name)
    vn_wire_string (extra, F_TENSOR_NAME, proto->name);
  vn_onnx_tensor_extra (extra, proto);
  vn_wire_end (extra, mark, number);
}

static void
onnx_read_attr_extra_scalars (VnWireOut    *extra,
                              VnAttrType    type,
                              const PbAttr *proto)
{
  if (proto->has_f && type != VN_ATTR_FLOAT)
    vn_wire_float (extra, F_ATTR_F, proto->f);
  if (proto->has_i && type != VN_ATTR_INT)
    vn_wire_int (extra, F_ATTR_I, proto->i);
  if (proto->has_s && type != VN_ATTR_STRING)
    vn_wire_bytes (extra, F_ATTR_S, proto->s.data, proto->s.len);
}

static GBytes *
onnx_read_attr_decode_extra (const VnAttr *attr,
                             const PbAttr *proto)
{
  g_autoptr(VnWireOut) extra = vn_wire_out_new ();

  onnx_read_attr_extra_scalars (extra, attr->type, proto);
  if (attr->type == VN_ATTR_TENSOR && proto->t != NULL &&
      (proto->t->n_external_data > 0 || proto->t->base.n_unknown_fields > 0))
    onnx_read_attr_extra_tensor (extra, F_ATTR_T, proto->t, FALSE);
  if (attr->type == VN_ATTR_TENSORS)
    for (gsize i = 0; i < proto->n_tensors; i++)
      onnx_read_attr_extra_tensor (extra, F_ATTR_TENSORS, proto->tensors[i], TRUE);
  if (attr->type == VN_ATTR_OPAQUE)
    vn_wire_int (extra, F_ATTR_TYPE, proto->type);
  vn_onnx_extra_unknown (extra, &proto->base, 0);
  return vn_onnx_extra_finish (extra);
}

static VnAttrType
attr_type (const PbAttr *proto)
{
  if (proto->type == VN_ATTR_UNDEFINED)
    return onnx_read_attr_guess_type (proto);
  return proto->type > 0 && proto->type < TYPE_OPAQUE_FIRST ? (VnAttrType) proto->type : VN_ATTR_OPAQUE;
}

static const ProtobufCMessageUnknownField *
onnx_read_attr_find_sparse (const PbAttr *proto)
{
  for (guint i = 0; i < proto->base.n_unknown_fields; i++)
    {
      const ProtobufCMessageUnknownField *unknown = &proto->base.unknown_fields[i];

      if (unknown->tag == F_ATTR_SPARSE && unknown->wire_type == PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED)
        return unknown;
    }
  return NULL;
}

/* The value of a Constant: what it is as a dense tensor. %FALSE with an error if it is damaged; @attr is NULL if it is none. */
static gboolean
onnx_read_attr_decode_sparse (VnOnnxReader  *self,
                              const VnNode  *node,
                              const PbAttr  *proto,
                              VnAttr       **attr,
                              GError       **error)
{
  const ProtobufCMessageUnknownField *field = onnx_read_attr_find_sparse (proto);
  g_autoptr(GBytes) bytes = NULL;
  g_autoptr(VnTensor) dense = NULL;
  g_autofree char *unused = NULL, *label = NULL;

  *attr = NULL;
  if (field == NULL || g_strcmp0 (proto->name, "sparse_value") != 0 || !vn_node_is (node, "Constant"))
    return TRUE;
  bytes = vn_onnx_sparse_get_content (field);
  dense = vn_onnx_sparse_decode (bytes, self->path, &unused, error);
  if (dense == NULL)
    return FALSE;
  label = vn_node_dup_label (node);
  vn_notes_add (self->model->notes, VN_NOTE_INFO, "sparse-initializer", label,
                _("“%s” is a sparse tensor in the file; it is read, and written, as a dense one"), label);
  *attr = vn_attr_new ("value", VN_ATTR_TENSOR);
  (*attr)->tensor = g_steal_pointer (&dense);
  return TRUE;
}

/**
 * vn_onnx_attr_decode:
 * @graph: where @node is: what nested graphs see
 * @attr: (out) (transfer full)
 */
gboolean
vn_onnx_attr_decode (VnOnnxReader  *self,
                     VnGraph       *graph,
                     VnNode        *node,
                     const PbAttr  *proto,
                     VnAttr       **attr,
                     GError       **error)
{
  const char *name = proto->name != NULL ? proto->name : "";
  gboolean is_ref = proto->ref_attr_name != NULL && *proto->ref_attr_name != '\0';
  g_autoptr(VnAttr) result = NULL;

  if (!vn_onnx_check_name (name, _("attribute"), error) || !onnx_read_attr_decode_sparse (self, node, proto, attr, error))
    return FALSE;
  if (*attr != NULL)
    return TRUE;
  result = vn_attr_new (name, attr_type (proto));
  result->doc = vn_onnx_dup_text (proto->doc_string);
  if (is_ref)
    result->ref_name = g_strdup (proto->ref_attr_name);
  else if (!onnx_read_attr_decode_value (self, graph, node, result, proto, error))
    {
      g_prefix_error (error, _("attribute “%s”: "), name);
      return FALSE;
    }
  result->extra = onnx_read_attr_decode_extra (result, proto);
  *attr = g_steal_pointer (&result);
  return TRUE;
}
