/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads and writes the wire format of protocol buffers. */
#include "vn-onnx-wire.h"

#include "vn-memory.h"

#include <string.h>

/* Below this size a copy costs less than a piece of its own. */
#define BLOB_MIN 512

#define MAX_VARINT 10

VnWireStatus
vn_wire_read_varint (VnWireIn *self,
                     guint64  *value)
{
  guint64 result = 0;

  g_return_val_if_fail (self != NULL && value != NULL, VN_WIRE_BAD);

  for (guint i = 0; i < MAX_VARINT; i++)
    {
      guint8 byte;

      if (self->at == self->end)
        return VN_WIRE_TRUNCATED;
      byte = *self->at++;
      result |= (guint64) (byte & 0x7f) << (7 * i);
      if ((byte & 0x80) == 0)
        {
          *value = result;
          return VN_WIRE_FIELD;
        }
    }
  return VN_WIRE_BAD;
}

static VnWireStatus
onnx_wire_skip_bytes (VnWireIn *self,
                      guint64   n)
{
  if (n > (guint64) (self->end - self->at))
    return VN_WIRE_TRUNCATED;
  self->at += n;
  return VN_WIRE_FIELD;
}

/**
 * vn_wire_next:
 * @field: (out): valid if %VN_WIRE_FIELD is returned
 *
 * Steps to the next field of a message. Nothing outside the message is ever touched. Groups, which ONNX does not use,
 * count as %VN_WIRE_BAD.
 */
VnWireStatus
vn_wire_next (VnWireIn    *self,
              VnWireField *field)
{
  guint64 tag;
  VnWireStatus status;

  if (self->at == self->end)
    return VN_WIRE_END;
  field->start = self->at;
  status = vn_wire_read_varint (self, &tag);
  if (status != VN_WIRE_FIELD)
    return status;
  if (tag >> 32 != 0 || tag >> 3 == 0)
    return VN_WIRE_BAD;
  field->number = (guint32) (tag >> 3);
  field->type = tag & 7;
  field->value = 0;
  field->data = NULL;
  switch ((guint) field->type)
    {
    case VN_WIRE_VARINT:
      status = vn_wire_read_varint (self, &field->value);
      break;
    case VN_WIRE_FIXED64:
      status = onnx_wire_skip_bytes (self, 8);
      break;
    case VN_WIRE_FIXED32:
      status = onnx_wire_skip_bytes (self, 4);
      break;
    case VN_WIRE_BYTES:
      status = vn_wire_read_varint (self, &field->value);
      field->data = self->at;
      if (status == VN_WIRE_FIELD)
        status = onnx_wire_skip_bytes (self, field->value);
      break;
    default:
      return VN_WIRE_BAD;
    }
  field->end = self->at;
  return status;
}

/**
 * vn_wire_find:
 *
 * Returns: %TRUE with the last field of that number, if there is one and the message is whole
 */
gboolean
vn_wire_find (gconstpointer  data,
              gsize          size,
              guint32        number,
              VnWireField   *field)
{
  VnWireIn in = vn_wire_in (data, size);
  VnWireField next;
  VnWireStatus status;
  gboolean found = FALSE;

  while ((status = vn_wire_next (&in, &next)) == VN_WIRE_FIELD)
    if (next.number == number)
      {
        *field = next;
        found = TRUE;
      }
  return found && status == VN_WIRE_END;
}

/* ---- writing ---- */

typedef struct
{
  guint         position;   /* the blob comes before this byte of the small content */
  gconstpointer data;
  gsize         size;
} Blob;

struct _VnWireOut
{
  VnBuffer    small;
  GArray     *blobs;   /* of Blob */
  guint64     blob_bytes;
  gboolean    overflow;
};

VnWireOut *
vn_wire_out_new (void)
{
  VnWireOut *self = g_new0 (VnWireOut, 1);

  self->blobs = g_array_new (FALSE, FALSE, sizeof (Blob));
  return self;
}

void
vn_wire_out_free (VnWireOut *self)
{
  vn_buffer_clear (&self->small);
  g_array_unref (self->blobs);
  g_free (self);
}

guint64
vn_wire_out_size (VnWireOut *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->small.size + self->blob_bytes;
}

/**
 * vn_wire_out_overflow:
 *
 * Returns: %TRUE if the small content outgrew 2 GB; the message is then not complete
 */
gboolean
vn_wire_out_overflow (VnWireOut *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return self->overflow;
}

/**
 * vn_wire_out_failed:
 *
 * Returns: %TRUE if memory was refused; the message is then not complete
 */
gboolean
vn_wire_out_failed (VnWireOut *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return self->small.failed;
}

gboolean
vn_wire_out_emit (VnWireOut   *self,
                  VnWireSink   sink,
                  gpointer     data,
                  GError     **error)
{
  gsize at = 0;

  g_return_val_if_fail (self != NULL, FALSE);

  for (guint i = 0; i < self->blobs->len; i++)
    {
      const Blob *blob = &g_array_index (self->blobs, Blob, i);

      if (blob->position > at && !sink (data, self->small.data + at, blob->position - at, error))
        return FALSE;
      at = blob->position;
      if (!sink (data, blob->data, blob->size, error))
        return FALSE;
    }
  return at == self->small.size || sink (data, self->small.data + at, self->small.size - at, error);
}

static gboolean
onnx_wire_append_piece (gpointer        data,
                        gconstpointer   piece,
                        gsize           size,
                        GError        **error)
{
  return vn_buffer_add (data, piece, size);
}

/**
 * vn_wire_out_append:
 * @buffer: receives the message; vn_buffer_steal_bytes() says whether memory was refused
 */
void
vn_wire_out_append (VnWireOut *self,
                    VnBuffer  *buffer)
{
  g_return_if_fail (self != NULL);

  vn_wire_out_emit (self, onnx_wire_append_piece, buffer, NULL);
}

static void
onnx_wire_append (VnWireOut     *self,
                  gconstpointer  data,
                  gsize          size)
{
  if (size > (gsize) G_MAXINT32 - MIN (self->small.size, G_MAXINT32))
    {
      self->overflow = TRUE;
      return;
    }
  if (size > 0)
    vn_buffer_add (&self->small, data, size);
}

static guint
onnx_wire_put_varint (guint8  *at,
                      guint64  value)
{
  guint n = 0;

  while (value >= 0x80)
    {
      at[n++] = (guint8) value | 0x80;
      value >>= 7;
    }
  at[n++] = (guint8) value;
  return n;
}

static void
onnx_wire_append_tag (VnWireOut  *self,
                      guint32     number,
                      VnWireType  type)
{
  guint8 bytes[MAX_VARINT];

  onnx_wire_append (self, bytes, onnx_wire_put_varint (bytes, (guint64) number << 3 | type));
}

static void
onnx_wire_append_varint (VnWireOut *self,
                         guint64    value)
{
  guint8 bytes[MAX_VARINT];

  onnx_wire_append (self, bytes, onnx_wire_put_varint (bytes, value));
}

/**
 * vn_wire_begin:
 *
 * What is written from here to vn_wire_end() becomes a message inside the message.
 */
VnWireMark
vn_wire_begin (VnWireOut *self)
{
  return (VnWireMark) { (guint) self->small.size, self->blobs->len, self->blob_bytes };
}

void
vn_wire_end (VnWireOut  *self,
             VnWireMark  mark,
             guint32     number)
{
  guint64 size = (self->small.size - mark.position) + (self->blob_bytes - mark.blob_bytes);
  gsize payload = self->small.size - mark.position;
  guint8 head[2 * MAX_VARINT];
  guint n = onnx_wire_put_varint (head, (guint64) number << 3 | VN_WIRE_BYTES);

  n += onnx_wire_put_varint (head + n, size);
  onnx_wire_append (self, head, n);
  if (self->overflow || self->small.failed)
    return;
  memmove (self->small.data + mark.position + n, self->small.data + mark.position, payload);
  memcpy (self->small.data + mark.position, head, n);
  for (guint i = mark.blob; i < self->blobs->len; i++)
    g_array_index (self->blobs, Blob, i).position += n;
}

void
vn_wire_int (VnWireOut *self,
             guint32    number,
             gint64     value)
{
  onnx_wire_append_tag (self, number, VN_WIRE_VARINT);
  onnx_wire_append_varint (self, (guint64) value);
}

void
vn_wire_float (VnWireOut *self,
               guint32    number,
               float      value)
{
  onnx_wire_append_tag (self, number, VN_WIRE_FIXED32);
  onnx_wire_append (self, &value, sizeof value);
}

void
vn_wire_bytes (VnWireOut     *self,
               guint32        number,
               gconstpointer  data,
               gsize          size)
{
  onnx_wire_append_tag (self, number, VN_WIRE_BYTES);
  onnx_wire_append_varint (self, size);
  onnx_wire_append (self, data, size);
}

void
vn_wire_string (VnWireOut  *self,
                guint32     number,
                const char *text)
{
  if (text != NULL)
    vn_wire_bytes (self, number, text, strlen (text));
}

void
vn_wire_gbytes (VnWireOut *self,
                guint32    number,
                GBytes    *bytes)
{
  vn_wire_blob (self, number, g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
}

void
vn_wire_blob (VnWireOut     *self,
              guint32        number,
              gconstpointer  data,
              gsize          size)
{
  Blob blob;

  if (size < BLOB_MIN)
    {
      vn_wire_bytes (self, number, data, size);
      return;
    }
  onnx_wire_append_tag (self, number, VN_WIRE_BYTES);
  onnx_wire_append_varint (self, size);
  blob = (Blob) { (guint) self->small.size, data, size };
  g_array_append_val (self->blobs, blob);
  self->blob_bytes += size;
}

void
vn_wire_ints_packed (VnWireOut    *self,
                     guint32       number,
                     const gint64 *values,
                     gsize         n)
{
  VnWireMark mark = vn_wire_begin (self);

  if (n == 0)
    return;
  for (gsize i = 0; i < n; i++)
    onnx_wire_append_varint (self, (guint64) values[i]);
  vn_wire_end (self, mark, number);
}

void
vn_wire_encoded (VnWireOut     *self,
                 gconstpointer  data,
                 gsize          size)
{
  onnx_wire_append (self, data, size);
}
