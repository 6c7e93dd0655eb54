/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Models that are written as text: which files they are, and what each becomes. */
#include "vn-onnx-parse.h"

#include "vn-error.h"
#include "vn-file.h"
#include "vn-i18n.h"
#include "vn-onnx.h"

#include <string.h>

static const char *
onnx_parse_skip_head (const char *at,
                      const char *end)
{
  if (end - at >= 3 && memcmp (at, "\xef\xbb\xbf", 3) == 0)
    at += 3;
  while (at < end && (g_ascii_isspace (*at) || *at == '#'))
    if (*at == '#')
      {
        at = memchr (at, '\n', (gsize) (end - at));
        if (at == NULL)
          return end;
      }
    else
      at++;
  return at;
}

/**
 * vn_onnx_is_text:
 *
 * Returns: whether this begins like a model in protobuf's text format or in JSON; an encoded model never does
 */
gboolean
vn_onnx_is_text (GBytes *bytes)
{
  gsize size;
  const char *data, *end;
  VnTextIn in = { NULL };
  VnTextToken name;

  g_return_val_if_fail (bytes != NULL, FALSE);

  data = g_bytes_get_data (bytes, &size);
  if (size == 0)
    return FALSE;
  end = data + size;
  in.at = onnx_parse_skip_head (data, end);
  in.end = end;
  if (in.at < end && *in.at == '{')
    {
      in.at++;
      while (in.at < end && g_ascii_isspace (*in.at))
        in.at++;
      return in.at < end && (*in.at == '"' || *in.at == '}');
    }
  name = vn_text_read_token (&in);
  while (in.at < end && g_ascii_isspace (*in.at))
    in.at++;
  return name.size > 0 && in.at < end && strchr (":{<", *in.at) != NULL && *in.at != '\0' &&
         vn_text_find_field (TEXT_ModelProto, &name) != NULL;
}

/**
 * vn_onnx_file_is_text:
 *
 * Returns: whether the file is a model as text, which other programs do not read as ONNX; %FALSE also if it cannot be opened
 */
gboolean
vn_onnx_file_is_text (const char *path)
{
  g_autoptr(GBytes) bytes = NULL;

  g_return_val_if_fail (path != NULL, FALSE);

  bytes = vn_file_map (path, NULL);
  return bytes != NULL && vn_onnx_is_text (bytes);
}

/**
 * vn_onnx_parse:
 * @bytes: a model as text: vn_onnx_is_text()
 *
 * Fails with %VN_ERROR_MALFORMED, which tells line, column and field; %VN_ERROR_LIMIT for nesting and more than 2 GB;
 * %VN_ERROR_MEMORY.
 *
 * Returns: (transfer full) (nullable): an encoded ModelProto
 */
GBytes *
vn_onnx_parse (GBytes  *bytes,
               GError **error)
{
  g_autoptr(VnWireOut) out = vn_wire_out_new ();
  g_auto(VnBuffer) buffer = { 0 };
  VnTextIn self = { .out = out };
  gsize size;

  g_return_val_if_fail (bytes != NULL, NULL);

  self.start = g_bytes_get_data (bytes, &size);
  self.end = self.start + size;
  self.at = onnx_parse_skip_head (self.start, self.end);
  if (self.at < self.end && *self.at == '{' ? !vn_text_read_json (&self, error) : !vn_text_read_proto (&self, error))
    return NULL;
  if (vn_wire_out_overflow (out))
    {
      g_set_error (error, VN_ERROR, VN_ERROR_LIMIT, _("the model takes more than 2 GB"));
      return NULL;
    }
  if (vn_wire_out_failed (out))
    {
      vn_memory_set_error (0, error);
      return NULL;
    }
  vn_wire_out_append (out, &buffer);
  return vn_buffer_steal_bytes (&buffer, error);
}
