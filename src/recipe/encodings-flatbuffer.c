/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The flatbuffers file of ONNX Runtime's calibration tables: table TrtTable { dict: [KeyValue] }, table KeyValue { key:
 * string; value: string }, the value being an amplitude in decimal. All numbers are little-endian, offsets count from where
 * they stand; a table begins with the distance back to its list of fields, in which 16 bit each say where in the table a
 * field stands, 0 for absent. */

#include "vn-encodings-private.h"

#include "vn-error.h"
#include "vn-i18n.h"

#include <string.h>

#define MAX_NAME 65536   /* texts may overlap: without a limit they take the square of the file's size */

typedef struct
{
  const guint8 *data;
  gsize         size;
} Buffer;

static gboolean
encodings_flatbuffer_damaged (GError **error)
{
  g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED,
               _("it is neither JSON nor text, nor a valid calibration.flatbuffers of ONNX Runtime"));
  return FALSE;
}

static gboolean
encodings_flatbuffer_read_u32 (const Buffer *self,
                               gsize         at,
                               guint32      *value)
{
  if (self->size < sizeof *value || at > self->size - sizeof *value)
    return FALSE;
  memcpy (value, self->data + at, sizeof *value);
  *value = GUINT32_FROM_LE (*value);
  return TRUE;
}

static gboolean
encodings_flatbuffer_read_u16 (const Buffer *self,
                               gsize         at,
                               guint16      *value)
{
  if (self->size < sizeof *value || at > self->size - sizeof *value)
    return FALSE;
  memcpy (value, self->data + at, sizeof *value);
  *value = GUINT16_FROM_LE (*value);
  return TRUE;
}

/* Where the offset at @at leads. Sums of two numbers below 2^32 and the size of a file fit into gsize. */
static gboolean
encodings_flatbuffer_follow (const Buffer *self,
                             gsize         at,
                             gsize        *target)
{
  guint32 offset;

  if (!encodings_flatbuffer_read_u32 (self, at, &offset) || offset == 0)
    return FALSE;
  *target = at + offset;
  return *target < self->size;
}

/* Where what field @index of the table at @table refers to begins. */
static gboolean
encodings_flatbuffer_find_field (const Buffer *self,
                                 gsize         table,
                                 guint         index,
                                 gsize        *target)
{
  guint32 back;
  guint16 fields_size, offset;
  gint64 fields;

  if (!encodings_flatbuffer_read_u32 (self, table, &back))
    return FALSE;
  fields = (gint64) table - (gint32) back;
  if (fields < 0 || !encodings_flatbuffer_read_u16 (self, (gsize) fields, &fields_size) || fields_size < 4 + 2 * (index + 1) ||
      !encodings_flatbuffer_read_u16 (self, (gsize) fields + 4 + 2 * index, &offset) || offset == 0)
    return FALSE;
  return encodings_flatbuffer_follow (self, table + offset, target);
}

static char *
encodings_flatbuffer_read_string (const Buffer *self,
                                  gsize         table,
                                  guint         index)
{
  gsize at;
  guint32 length;
  g_autofree char *text = NULL;

  if (!encodings_flatbuffer_find_field (self, table, index, &at) || !encodings_flatbuffer_read_u32 (self, at, &length) ||
      length > MAX_NAME ||
      length > self->size - at - sizeof length)
    return NULL;
  text = g_strndup ((const char *) self->data + at + sizeof length, length);
  return strlen (text) == length ? g_steal_pointer (&text) : NULL;
}

static gboolean
encodings_flatbuffer_read_entry (VnEncodingTable  *table,
                                 const Buffer  *self,
                                 gsize          at,
                                 GError       **error)
{
  gsize entry;
  g_autofree char *key = NULL;
  g_autofree char *value = NULL;

  if (!encodings_flatbuffer_follow (self, at, &entry) || (key = encodings_flatbuffer_read_string (self, entry, 0)) == NULL ||
      (value = encodings_flatbuffer_read_string (self, entry, 1)) == NULL)
    return encodings_flatbuffer_damaged (error);
  return vn_encoding_add_amplitude (table, key, value, error);
}

/*< private >
 * vn_encoding_parse_flatbuffer:
 *
 * Returns: %FALSE if anything lies outside the file
 */
gboolean
vn_encoding_parse_flatbuffer (VnEncodingTable  *table,
                              GBytes        *bytes,
                              GError       **error)
{
  Buffer self;
  gsize root, list;
  guint32 n;

  self.data = g_bytes_get_data (bytes, &self.size);
  if (!encodings_flatbuffer_follow (&self, 0, &root) || !encodings_flatbuffer_find_field (&self, root, 0, &list) ||
      !encodings_flatbuffer_read_u32 (&self, list, &n) ||
      n > (self.size - list) / sizeof n)
    return encodings_flatbuffer_damaged (error);
  for (guint32 i = 0; i < n; i++)
    if (!encodings_flatbuffer_read_entry (table, &self, list + sizeof n * (i + 1), error))
      return FALSE;
  return TRUE;
}
