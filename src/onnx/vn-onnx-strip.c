/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Takes the raw data of tensors out of an encoded message before it is decoded. */
#include "vn-onnx-private.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-memory.h"

/* protobuf-c copies every bytes field, and that is what makes opening large networks slow. So the file is walked
 * first, and a message is made from it in which the raw data of each tensor are replaced by the index of a view into
 * the file. All of them, however small: then no content of a file can be taken for an index. */

/* Messages within messages; a graph inside a graph takes three (node, attribute, graph). */
#define MAX_DEPTH 100

typedef struct
{
  const guint8 *base;
  VnBuffer      out;
  GArray       *views;
} Strip;

static const struct {
  StripKind parent;
  guint32   number;
  StripKind child;
} children[] = {
  { STRIP_MODEL,    F_MODEL_GRAPH,         STRIP_GRAPH    },
  { STRIP_MODEL,    F_MODEL_FUNCTION,      STRIP_FUNCTION },
  { STRIP_GRAPH,    F_GRAPH_NODE,          STRIP_NODE     },
  { STRIP_GRAPH,    F_GRAPH_INITIALIZER,   STRIP_TENSOR   },
  { STRIP_FUNCTION, F_FUNCTION_NODE,       STRIP_NODE     },
  { STRIP_FUNCTION, F_FUNCTION_ATTR_PROTO, STRIP_ATTR     },
  { STRIP_NODE,     F_NODE_ATTR,           STRIP_ATTR     },
  { STRIP_ATTR,     F_ATTR_T,              STRIP_TENSOR   },
  { STRIP_ATTR,     F_ATTR_G,              STRIP_GRAPH    },
  { STRIP_ATTR,     F_ATTR_TENSORS,        STRIP_TENSOR   },
  { STRIP_ATTR,     F_ATTR_GRAPHS,         STRIP_GRAPH    },
};

static StripKind
onnx_strip_child_kind (StripKind parent,
                       guint32   number)
{
  for (guint i = 0; i < G_N_ELEMENTS (children); i++)
    if (children[i].parent == parent && children[i].number == number)
      return children[i].child;
  return STRIP_NONE;
}

static gboolean
onnx_strip_put (Strip         *self,
                gconstpointer  data,
                gsize          size,
                GError       **error)
{
  if (size > (gsize) G_MAXINT32 - self->out.size)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_LIMIT,
                   _("it holds more than 2 GB beside the raw data of its tensors; store weights as raw data"));
      return FALSE;
    }
  if (vn_buffer_add (&self->out, data, size))
    return TRUE;
  vn_memory_set_error (size, error);
  return FALSE;
}

static gboolean
onnx_strip_put_view (Strip              *self,
                     const VnWireField  *field,
                     GError            **error)
{
  RawView view = { (gsize) (field->data - self->base), (gsize) field->value };
  guint32 index = GUINT32_TO_LE (self->views->len);
  guint8 head[2] = { F_TENSOR_RAW << 3 | VN_WIRE_BYTES, sizeof index };

  g_array_append_val (self->views, view);
  return onnx_strip_put (self, head, sizeof head, error) && onnx_strip_put (self, &index, sizeof index, error);
}

static gboolean strip_message (Strip         *self,
                               StripKind      kind,
                               const guint8  *data,
                               gsize          size,
                               guint          depth,
                               GError       **error);

/* The length of the child is not known before it is made: five bytes hold any length a decoder accepts. */
static gboolean
onnx_strip_put_child (Strip              *self,
                      StripKind           kind,
                      const VnWireField  *field,
                      guint               depth,
                      GError            **error)
{
  guint8 head[6] = { (guint8) (field->number << 3 | VN_WIRE_BYTES) };
  gsize n_tag = 1;
  gsize at, length;

  if (field->number >= 16)
    {
      head[0] |= 0x80;
      head[1] = (guint8) (field->number >> 4);
      n_tag = 2;
    }
  if (!onnx_strip_put (self, head, n_tag, error))
    return FALSE;
  at = self->out.size;
  if (!onnx_strip_put (self, "\0\0\0\0", 5, error) ||
      !strip_message (self, kind, field->data, field->value, depth + 1, error))
    return FALSE;
  length = self->out.size - at - 5;
  for (guint i = 0; i < 5; i++)
    self->out.data[at + i] = (char) ((guint8) (length >> (7 * i) & 0x7f) | (i < 4 ? 0x80 : 0));
  return TRUE;
}

static gboolean
onnx_strip_check_status (VnWireStatus   status,
                         gsize          offset,
                         GError       **error)
{
  if (status == VN_WIRE_END)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED,
               status == VN_WIRE_TRUNCATED
               ? _("a field at byte %zu reaches past its end")
               : _("there is no valid field at byte %zu"), offset);
  return FALSE;
}

static gboolean
strip_message (Strip         *self,
               StripKind      kind,
               const guint8  *data,
               gsize          size,
               guint          depth,
               GError       **error)
{
  VnWireIn in = vn_wire_in (data, size);
  VnWireField field = { 0 };
  VnWireStatus status;

  if (depth > MAX_DEPTH)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_LIMIT, _("graphs are nested more than %d deep"), MAX_DEPTH / 3);
      return FALSE;
    }
  while ((status = vn_wire_next (&in, &field)) == VN_WIRE_FIELD)
    {
      StripKind child = field.type == VN_WIRE_BYTES ? onnx_strip_child_kind (kind, field.number) : STRIP_NONE;
      gboolean is_raw = kind == STRIP_TENSOR && field.number == F_TENSOR_RAW && field.type == VN_WIRE_BYTES;

      if (is_raw ? !onnx_strip_put_view (self, &field, error)
          : child != STRIP_NONE ? !onnx_strip_put_child (self, child, &field, depth, error)
          : !onnx_strip_put (self, field.start, field.end - field.start, error))
        return FALSE;
    }
  return onnx_strip_check_status (status, (gsize) ((field.start != NULL ? field.start : data) - self->base), error);
}

/**
 * vn_onnx_strip:
 * @bytes: an encoded message
 * @kind: which one
 * @views: takes one #RawView for each raw_data found
 *
 * Returns: (transfer full) (nullable): the message without the tensors' raw data. %NULL if @bytes is not a whole
 *   message (%VN_ERROR_MALFORMED), nested or large beyond measure (%VN_ERROR_LIMIT), or memory was refused
 *   (%VN_ERROR_MEMORY); messages of the error lack the file's name.
 */
GBytes *
vn_onnx_strip (GBytes     *bytes,
               StripKind   kind,
               GArray     *views,
               GError    **error)
{
  gsize size;
  const guint8 *data = g_bytes_get_data (bytes, &size);
  Strip self = { data, { 0 }, views };

  if (strip_message (&self, kind, data, size, 0, error))
    return vn_buffer_steal_bytes (&self.out, error);
  vn_buffer_clear (&self.out);
  return NULL;
}
