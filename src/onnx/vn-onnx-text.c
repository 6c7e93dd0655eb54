/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What reading has in common: names, free text, fields that nobody knows, opsets. */
#include "vn-onnx-private.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-memory.h"

/**
 * vn_onnx_check_name:
 * @name: (nullable)
 *
 * Names are shown, searched and written to JSON: they must be UTF-8.
 */
gboolean
vn_onnx_check_name (const char  *name,
                    const char  *what,
                    GError     **error)
{
  g_autofree char *shown = NULL;

  if (name == NULL || g_utf8_validate (name, -1, NULL))
    return TRUE;
  shown = g_utf8_make_valid (name, -1);
  g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("%s: the name “%s” is not valid UTF-8"), what, shown);
  return FALSE;
}

/**
 * vn_onnx_dup_text:
 *
 * Returns: (transfer full) (nullable): free text with what is not UTF-8 replaced
 */
char *
vn_onnx_dup_text (const char *text)
{
  return text != NULL ? g_utf8_make_valid (text, -1) : NULL;
}

/**
 * vn_onnx_extra_unknown:
 *
 * Adds the fields the decoder did not know, as they were; but not those numbered @without (0: none).
 */
void
vn_onnx_extra_unknown (VnWireOut              *extra,
                       const ProtobufCMessage *message,
                       guint32                 without)
{
  for (guint i = 0; i < message->n_unknown_fields; i++)
    {
      const ProtobufCMessageUnknownField *field = &message->unknown_fields[i];
      guint64 tag = (guint64) field->tag << 3 | (guint) field->wire_type;
      guint8 bytes[10];
      gsize n = 0;

      if (without != 0 && field->tag == without)
        continue;
      for (; tag >= 0x80; tag >>= 7)
        bytes[n++] = (guint8) tag | 0x80;
      bytes[n++] = (guint8) tag;
      vn_wire_encoded (extra, bytes, n);
      vn_wire_encoded (extra, field->data, field->len);
    }
}

/**
 * vn_onnx_extra_finish:
 *
 * Returns: (transfer full) (nullable): what was written, or %NULL if nothing was; also if memory was refused, which
 *   vn_onnx_read_bytes() finds out
 */
GBytes *
vn_onnx_extra_finish (VnWireOut *extra)
{
  g_auto(VnBuffer) bytes = { 0 };

  if (vn_wire_out_size (extra) == 0 || vn_wire_out_overflow (extra))
    return NULL;
  vn_wire_out_append (extra, &bytes);
  return vn_buffer_steal_bytes (&bytes, NULL);
}

/**
 * vn_onnx_opset_decode:
 * @opsets: (element-type VnOpset): takes one more
 */
void
vn_onnx_opset_decode (GArray        *opsets,
                      const PbOpset *proto)
{
  VnOpset opset = { NULL, proto->version };

  if (proto->domain == NULL || g_str_equal (proto->domain, "ai.onnx"))
    opset.domain = g_strdup ("");
  else
    opset.domain = vn_onnx_dup_text (proto->domain);
  g_array_append_val (opsets, opset);
}
