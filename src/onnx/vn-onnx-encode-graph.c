/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Encodes graphs, nodes, attributes and tensors as protocol buffers. */
#include "vn-onnx-private.h"

/* Data from here on are placed so that a reader can map them by page; smaller ones on a cache line. */
#define PAGE_FROM (1u << 20)
#define PAGE 4096
#define LINE 64

/* Copies fields that are encoded already, without the two numbers given (0: none). */
static void
onnx_encode_graph_put_extra (VnWireOut    *out,
                             const guint8 *data,
                             gsize         size,
                             guint32       without,
                             guint32       without_too)
{
  VnWireIn in = vn_wire_in (data, size);
  VnWireField field;

  while (vn_wire_next (&in, &field) == VN_WIRE_FIELD)
    if (field.number != without && field.number != without_too)
      vn_wire_encoded (out, field.start, field.end - field.start);
}

static void
onnx_encode_graph_put_extra_bytes (VnWireOut *out,
                                   GBytes    *extra)
{
  if (extra != NULL)
    vn_wire_encoded (out, g_bytes_get_data (extra, NULL), g_bytes_get_size (extra));
}

/* ---- tensors ---- */

static void
onnx_encode_graph_put_entry (VnWireOut  *out,
                             const char *key,
                             const char *value)
{
  VnWireMark mark = vn_wire_begin (out);

  vn_wire_string (out, F_ENTRY_KEY, key);
  vn_wire_string (out, F_ENTRY_VALUE, value);
  vn_wire_end (out, mark, F_TENSOR_EXTERNAL);
}

static void
onnx_encode_graph_put_external (VnOnnxEncoder *self,
                                VnTensor      *tensor,
                                const char    *name)
{
  guint64 align = tensor->n_bytes >= PAGE_FROM ? PAGE : LINE;
  guint64 start = self->names == NULL ? (self->external_size + align - 1) / align * align : 0;
  ExternalPiece piece = { tensor, start, vn_onnx_name_piece (self, name) };
  g_autofree char *location = g_strconcat (piece.location, self->suffix, NULL);
  g_autofree char *offset = g_strdup_printf ("%" G_GUINT64_FORMAT, piece.offset);
  g_autofree char *length = g_strdup_printf ("%" G_GSIZE_FORMAT, tensor->n_bytes);

  g_array_append_val (self->pieces, piece);
  self->external_size = piece.offset + tensor->n_bytes;
  onnx_encode_graph_put_entry (self->out, "location", location);
  onnx_encode_graph_put_entry (self->out, "offset", offset);
  onnx_encode_graph_put_entry (self->out, "length", length);
  vn_wire_int (self->out, F_TENSOR_LOCATION, LOCATION_EXTERNAL);
}

static gboolean
onnx_encode_graph_goes_outside (const VnOnnxEncoder *self,
                                const VnTensor      *tensor,
                                const guint8        *extra,
                                gsize                extra_size,
                                gboolean             may_move)
{
  VnWireField field;

  if (self->location == NULL || tensor->dtype == VN_DTYPE_STRING || tensor->n_bytes == 0)
    return FALSE;
  if (self->threshold > 0)
    return may_move && tensor->n_bytes >= self->threshold;
  return vn_wire_find (extra, extra_size, F_TENSOR_EXTERNAL, &field);
}

/**
 * vn_onnx_encode_tensor:
 * @name: (nullable)
 * @extra: (nullable): encoded fields beside those of a #VnTensor
 * @may_move: may be written to the external file
 *
 * Writes the fields of a TensorProto; numbers always as raw data.
 */
void
vn_onnx_encode_tensor (VnOnnxEncoder *self,
                       VnTensor      *tensor,
                       const char    *name,
                       const guint8  *extra,
                       gsize          extra_size,
                       gboolean       may_move)
{
  char * const *strings = tensor->data;

  vn_wire_ints_packed (self->out, F_TENSOR_DIMS, tensor->shape.dims, (gsize) tensor->shape.rank);
  vn_wire_int (self->out, F_TENSOR_TYPE, tensor->dtype);
  vn_wire_string (self->out, F_TENSOR_NAME, name);
  if (onnx_encode_graph_goes_outside (self, tensor, extra, extra_size, may_move))
    onnx_encode_graph_put_external (self, tensor, name);
  else if (tensor->dtype != VN_DTYPE_STRING)
    vn_wire_blob (self->out, F_TENSOR_RAW, tensor->data, tensor->n_bytes);
  for (gsize i = 0; tensor->dtype == VN_DTYPE_STRING && i < tensor->n_elements; i++)
    vn_wire_string (self->out, F_TENSOR_STRINGS, strings[i]);
  onnx_encode_graph_put_extra (self->out, extra, extra_size, F_TENSOR_EXTERNAL, F_TENSOR_LOCATION);
}

static void
onnx_encode_graph_put_initializer (VnOnnxEncoder *self,
                                   const VnValue *value)
{
  VnWireMark mark = vn_wire_begin (self->out);
  gsize size = 0;
  const guint8 *extra = value->initializer_extra != NULL ? g_bytes_get_data (value->initializer_extra, &size) : NULL;

  vn_onnx_encode_tensor (self, value->initializer, value->name, extra, size, TRUE);
  vn_wire_end (self->out, mark, F_GRAPH_INITIALIZER);
}

/* ---- attributes ---- */

/* The i-th of the encoded messages an attribute keeps for its tensors. */
static void
onnx_encode_graph_find_tensor_extra (const VnAttr  *attr,
                                     guint32        number,
                                     guint          i,
                                     const guint8 **data,
                                     gsize         *size)
{
  VnWireIn in;
  VnWireField field;
  gsize n;

  *data = NULL;
  *size = 0;
  if (attr->extra == NULL)
    return;
  in.at = g_bytes_get_data (attr->extra, &n);
  in.end = in.at + n;
  while (vn_wire_next (&in, &field) == VN_WIRE_FIELD)
    if (field.number == number && field.type == VN_WIRE_BYTES && i-- == 0)
      {
        *data = field.data;
        *size = field.value;
        return;
      }
}

static void
onnx_encode_graph_put_attr_tensor (VnOnnxEncoder *self,
                                   const VnAttr  *attr,
                                   guint32        number,
                                   guint          i,
                                   VnTensor      *tensor,
                                   const char    *name)
{
  VnWireMark mark = vn_wire_begin (self->out);
  const guint8 *extra;
  gsize size;

  onnx_encode_graph_find_tensor_extra (attr, number, i, &extra, &size);
  vn_onnx_encode_tensor (self, tensor, name, extra, size, FALSE);
  vn_wire_end (self->out, mark, number);
}

static void
onnx_encode_graph_put_attr (VnOnnxEncoder *self,
                            const VnGraph *graph,
                            guint32        number)
{
  VnWireMark mark = vn_wire_begin (self->out);

  self->nesting++;
  vn_onnx_encode_graph (self, graph);
  self->nesting--;
  vn_wire_end (self->out, mark, number);
}

static void
onnx_encode_graph_put_attr_list (VnOnnxEncoder *self,
                                 const VnAttr  *attr)
{
  for (guint i = 0; attr->floats != NULL && i < attr->floats->len; i++)
    vn_wire_float (self->out, F_ATTR_FLOATS, g_array_index (attr->floats, float, i));
  for (guint i = 0; attr->ints != NULL && i < attr->ints->len; i++)
    vn_wire_int (self->out, F_ATTR_INTS, g_array_index (attr->ints, gint64, i));
  for (guint i = 0; attr->strings != NULL && i < attr->strings->len; i++)
    vn_wire_gbytes (self->out, F_ATTR_STRINGS, g_ptr_array_index (attr->strings, i));
  for (guint i = 0; attr->tensors != NULL && i < attr->tensors->len; i++)
    onnx_encode_graph_put_attr_tensor (self, attr, F_ATTR_TENSORS, i, g_ptr_array_index (attr->tensors, i), NULL);
  for (guint i = 0; attr->graphs != NULL && i < attr->graphs->len; i++)
    onnx_encode_graph_put_attr (self, g_ptr_array_index (attr->graphs, i), F_ATTR_GRAPHS);
}

static void
onnx_encode_graph_put_attr_value (VnOnnxEncoder *self,
                                  const VnAttr  *attr)
{
  if (attr->type == VN_ATTR_FLOAT)
    vn_wire_float (self->out, F_ATTR_F, attr->f);
  else if (attr->type == VN_ATTR_INT)
    vn_wire_int (self->out, F_ATTR_I, attr->i);
  else if (attr->type == VN_ATTR_STRING && attr->s != NULL)
    vn_wire_gbytes (self->out, F_ATTR_S, attr->s);
  else if (attr->type == VN_ATTR_TENSOR && attr->tensor != NULL)
    onnx_encode_graph_put_attr_tensor (self, attr, F_ATTR_T, 0, attr->tensor, attr->tensor_name);
  else if (attr->type == VN_ATTR_GRAPH && attr->graph != NULL)
    onnx_encode_graph_put_attr (self, attr->graph, F_ATTR_G);
  else
    onnx_encode_graph_put_attr_list (self, attr);
}

/**
 * vn_onnx_encode_attr:
 *
 * Writes the fields of an AttributeProto.
 */
void
vn_onnx_encode_attr (VnOnnxEncoder *self,
                     const VnAttr  *attr)
{
  gsize size = 0;
  const guint8 *extra = attr->extra != NULL ? g_bytes_get_data (attr->extra, &size) : NULL;

  vn_wire_string (self->out, F_ATTR_NAME, attr->name);
  if (attr->ref_name != NULL)
    vn_wire_string (self->out, F_ATTR_REF, attr->ref_name);
  else
    onnx_encode_graph_put_attr_value (self, attr);
  vn_wire_string (self->out, F_ATTR_DOC, attr->doc);
  if (attr->type != VN_ATTR_OPAQUE && attr->type != VN_ATTR_UNDEFINED)
    vn_wire_int (self->out, F_ATTR_TYPE, attr->type);
  onnx_encode_graph_put_extra (self->out, extra, size, F_ATTR_T, F_ATTR_TENSORS);
}

/* ---- nodes and graphs ---- */

static void
onnx_encode_graph_put_names (VnWireOut *out,
                             GPtrArray *values,
                             guint32    number)
{
  for (guint i = 0; i < values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (values, i);

      vn_wire_string (out, number, value != NULL ? value->name : "");
    }
}

/**
 * vn_onnx_encode_node:
 *
 * Writes the fields of a NodeProto.
 */
void
vn_onnx_encode_node (VnOnnxEncoder *self,
                     const VnNode  *node)
{
  onnx_encode_graph_put_names (self->out, node->inputs, F_NODE_INPUT);
  onnx_encode_graph_put_names (self->out, node->outputs, F_NODE_OUTPUT);
  if (node->name != NULL && *node->name != '\0')
    vn_wire_string (self->out, F_NODE_NAME, node->name);
  vn_wire_string (self->out, F_NODE_OP_TYPE, node->op_type);
  for (guint i = 0; i < node->attrs->len; i++)
    {
      VnWireMark mark = vn_wire_begin (self->out);

      vn_onnx_encode_attr (self, g_ptr_array_index (node->attrs, i));
      vn_wire_end (self->out, mark, F_NODE_ATTR);
    }
  vn_wire_string (self->out, F_NODE_DOC, node->doc);
  if (node->written_domain_alias && *node->domain == '\0')
    vn_wire_string (self->out, F_NODE_DOMAIN, "ai.onnx");
  else if (*node->domain != '\0')
    vn_wire_string (self->out, F_NODE_DOMAIN, node->domain);
  vn_wire_string (self->out, F_NODE_OVERLOAD, node->overload);
  onnx_encode_graph_put_extra_bytes (self->out, node->extra);
}

/* Readers of protocol buffers refuse a message with more than 100 in each other. A graph has one above it and three for each
 * graph around it, and below it a type has three (information, type, tensor), or five with its sizes. */
#define MAX_DEPTH 100
#define TYPE_DEPTH 3
#define SHAPE_DEPTH 5

static gboolean
onnx_encode_graph_has_room (const VnOnnxEncoder *self,
                            guint                depth)
{
  return 1 + 3 * self->nesting + depth <= MAX_DEPTH;
}

static void
onnx_encode_graph_put_type (VnOnnxEncoder *self,
                            const VnType  *type)
{
  gboolean whole = onnx_encode_graph_has_room (self, SHAPE_DEPTH);
  VnType without_sizes = { .kind = type->kind, .dtype = type->dtype, .shape = VN_SHAPE_UNKNOWN };
  VnWireMark mark;

  if (!whole && (type->kind != VN_TYPE_TENSOR || !onnx_encode_graph_has_room (self, TYPE_DEPTH)))
    return;
  mark = vn_wire_begin (self->out);
  vn_onnx_type_encode (self->out, whole ? type : &without_sizes);
  vn_wire_end (self->out, mark, F_INFO_TYPE);
}

/**
 * vn_onnx_encode_info:
 *
 * Writes a ValueInfoProto as field @number. In graphs that lie as deep as readers go the sizes are left out, or the type.
 */
void
vn_onnx_encode_info (VnOnnxEncoder *self,
                     const VnValue *value,
                     guint32        number)
{
  VnWireMark mark = vn_wire_begin (self->out);

  vn_wire_string (self->out, F_INFO_NAME, value->name);
  if (value->type.kind != VN_TYPE_UNKNOWN || value->type.encoded != NULL)
    onnx_encode_graph_put_type (self, &value->type);
  vn_wire_string (self->out, F_INFO_DOC, value->doc);
  onnx_encode_graph_put_extra_bytes (self->out, value->extra);
  vn_wire_end (self->out, mark, number);
}

static void
onnx_encode_graph_put_infos (VnOnnxEncoder *self,
                             GPtrArray     *values,
                             guint32        number)
{
  for (guint i = 0; i < values->len; i++)
    vn_onnx_encode_info (self, g_ptr_array_index (values, i), number);
}

/* A second value_info of a known value must not contradict what a pass has made of its type. */
static void
onnx_encode_graph_put_graph_extra (VnOnnxEncoder *self,
                                   const VnGraph *graph)
{
  VnWireIn in;
  VnWireField field, name;
  gsize size;

  if (graph->extra == NULL)
    return;
  in.at = g_bytes_get_data (graph->extra, &size);
  in.end = in.at + size;
  while (vn_wire_next (&in, &field) == VN_WIRE_FIELD)
    {
      g_autofree char *text = NULL;
      const VnValue *value = NULL;

      if (field.number == F_GRAPH_VALUE_INFO && field.type == VN_WIRE_BYTES &&
          vn_wire_find (field.data, field.value, F_INFO_NAME, &name) && name.type == VN_WIRE_BYTES)
        {
          text = g_strndup ((const char *) name.data, name.value);
          value = g_hash_table_lookup (graph->by_name, text);
        }
      if (value != NULL)
        vn_onnx_encode_info (self, value, F_GRAPH_VALUE_INFO);
      else
        vn_wire_encoded (self->out, field.start, field.end - field.start);
    }
}

/**
 * vn_onnx_encode_graph:
 *
 * Writes the fields of a GraphProto.
 */
void
vn_onnx_encode_graph (VnOnnxEncoder *self,
                      const VnGraph *graph)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      VnWireMark mark = vn_wire_begin (self->out);

      vn_onnx_encode_node (self, g_ptr_array_index (graph->nodes, i));
      vn_wire_end (self->out, mark, F_GRAPH_NODE);
    }
  /* onnx.checker takes no graph without a name, whatever read it before. */
  vn_wire_string (self->out, F_GRAPH_NAME, *graph->name != '\0' ? graph->name : "graph");
  for (guint i = 0; i < graph->initializers->len; i++)
    onnx_encode_graph_put_initializer (self, g_ptr_array_index (graph->initializers, i));
  vn_wire_string (self->out, F_GRAPH_DOC, graph->doc);
  onnx_encode_graph_put_infos (self, graph->inputs, F_GRAPH_INPUT);
  onnx_encode_graph_put_infos (self, graph->outputs, F_GRAPH_OUTPUT);
  for (guint i = 0; i < graph->values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (graph->values, i);

      if (value->has_info && !value->is_input && !value->is_output)
        vn_onnx_encode_info (self, value, F_GRAPH_VALUE_INFO);
    }
  onnx_encode_graph_put_graph_extra (self, graph);
}
