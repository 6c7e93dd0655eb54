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

/* What decoding takes is known before anything is decoded: a few bytes of a file can become hundreds in memory. Nodes, their
 * attributes, tensors and values are what a network consists of; so much is not spent on anything else. */
#define FREE_BYTES ((gsize) 256 << 20)
#define TIMES 4                        /* the size of the file, beyond that */
#define FIELD_BYTES 96                 /* of memory for a string or an unknown field, besides its content */
#define MOST_FIELDS 10000              /* that a node has: inputs, outputs, attributes */
#define NUMBER_BYTES 16                /* for each number in a list, which has at least a byte in the file */

typedef struct
{
  const guint8 *base;
  gsize         size;
  gsize         most_parts, most_others;
  VnBuffer      out;
  GArray       *views;
  gsize         n_parts;    /* bytes of memory for what a network consists of, */
  gsize         n_others;   /* and for everything else */
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

/* Memory for a message of a kind, decoded and in the model. */
static gsize
onnx_strip_message_bytes (StripKind kind)
{
  switch (kind)
    {
    case STRIP_NODE: return 600;
    case STRIP_ATTR: return 500;
    case STRIP_TENSOR: return 900;
    default: return 1500;
    }
}

static gboolean
onnx_strip_is_value (StripKind          kind,
                     const VnWireField *field)
{
  return kind == STRIP_GRAPH &&
         (field->number == F_GRAPH_INPUT || field->number == F_GRAPH_OUTPUT || field->number == F_GRAPH_VALUE_INFO);
}

/* Lists of numbers that may have a byte each. */
static gboolean
onnx_strip_is_numbers (StripKind          kind,
                       const VnWireField *field)
{
  if (kind == STRIP_TENSOR)
    return field->number == F_TENSOR_DIMS || field->number == F_TENSOR_INT32 || field->number == F_TENSOR_INT64 ||
           field->number == F_TENSOR_UINT64;
  return kind == STRIP_ATTR && field->number == F_ATTR_INTS;
}

/* Lists that can be as long as the file. */
static gboolean
onnx_strip_is_list (StripKind          kind,
                    const VnWireField *field)
{
  return kind == STRIP_TENSOR ? field->number != F_TENSOR_INT32 &&
         (onnx_strip_is_numbers (kind, field) || field->number == F_TENSOR_STRINGS)
                              : kind == STRIP_ATTR && (field->number == F_ATTR_INTS || field->number == F_ATTR_STRINGS);
}

static gsize
onnx_strip_field_bytes (StripKind          kind,
                        StripKind          child,
                        const VnWireField *field)
{
  gsize whole = (gsize) (field->end - field->start);

  if (child != STRIP_NONE)
    return onnx_strip_message_bytes (child);
  if (field->type != VN_WIRE_BYTES)
    return FIELD_BYTES / 2;
  if (kind == STRIP_TENSOR && field->number == F_TENSOR_RAW)
    return FIELD_BYTES;
  if (onnx_strip_is_numbers (kind, field))
    return NUMBER_BYTES * whole;
  return FIELD_BYTES + 3 * whole + (onnx_strip_is_value (kind, field) ? 600 : 0);
}

static gboolean
onnx_strip_count (Strip              *self,
                  StripKind           kind,
                  StripKind           child,
                  const VnWireField  *field,
                  gsize               n_before,
                  GError            **error)
{
  gboolean is_part = child != STRIP_NONE || onnx_strip_is_value (kind, field) || (kind == STRIP_NODE && n_before < MOST_FIELDS) ||
                     ((kind == STRIP_ATTR || kind == STRIP_TENSOR) && !onnx_strip_is_list (kind, field));
  gsize *sum = is_part ? &self->n_parts : &self->n_others;

  *sum += onnx_strip_field_bytes (kind, child, field);
  if (self->n_parts <= self->most_parts && self->n_others <= self->most_others)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_LIMIT,
               _("parsing its %zu bytes would need more than %zu MB of memory: it has too many small elements"), self->size,
               (self->n_others + self->n_parts) >> 20);
  return FALSE;
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
                   _("it has more than 2 GB in addition to the raw data of its tensors; store weights as raw data"));
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
               ? _("a field at byte %zu extends past the end")
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
  gsize n_fields = 0;

  if (depth > MAX_DEPTH)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_LIMIT, _("graphs are nested more than %d deep"), MAX_DEPTH / 3);
      return FALSE;
    }
  while ((status = vn_wire_next (&in, &field)) == VN_WIRE_FIELD)
    {
      StripKind child = field.type == VN_WIRE_BYTES ? onnx_strip_child_kind (kind, field.number) : STRIP_NONE;
      gboolean is_raw = kind == STRIP_TENSOR && field.number == F_TENSOR_RAW && field.type == VN_WIRE_BYTES;

      if (!onnx_strip_count (self, kind, child, &field, n_fields++, error))
        return FALSE;
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
  Strip self = { .base = data, .size = size, .views = views, .most_parts = vn_memory_get_growth () + TIMES * size,
                 .most_others = FREE_BYTES + TIMES * size };

  if (strip_message (&self, kind, data, size, 0, error))
    return vn_buffer_steal_bytes (&self.out, error);
  vn_buffer_clear (&self.out);
  return NULL;
}
