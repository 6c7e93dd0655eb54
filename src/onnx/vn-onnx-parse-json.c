/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Models in JSON, as protocol buffers are mapped to it: bytes in base 64, numbers of 64 bits as text. */
#include "vn-onnx-parse.h"

#include "vn-i18n.h"

#include <string.h>

/* Bits of base 64 that are no byte yet */
typedef struct
{
  guint32 bits;
  guint   n;
  guint   n_filled;   /* “=” at the end */
} Base64;

static void
onnx_parse_skip (VnTextIn *self)
{
  while (self->at < self->end && g_ascii_isspace (*self->at))
    self->at++;
}

static gboolean
onnx_parse_take_null (VnTextIn *self)
{
  if (self->end - self->at < 4 || memcmp (self->at, "null", 4) != 0)
    return FALSE;
  self->at += 4;
  return TRUE;
}

/* ---- text ---- */

static gboolean
onnx_parse_put_base64 (VnTextIn *self,
                       Base64   *state,
                       guint32   c)
{
  static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const char *place;

  if (c == '=')
    return state->n_filled++ < 2;
  c = c == '-' ? '+' : c == '_' ? '/' : c;
  place = c > 0 && c < 0x80 ? strchr (alphabet, (int) c) : NULL;
  if (place == NULL || state->n_filled > 0)
    return FALSE;
  state->bits = state->bits << 6 | (guint32) (place - alphabet);
  state->n += 6;
  if (state->n >= 8)
    {
      state->n -= 8;
      vn_text_put_byte (self, (guint8) (state->bits >> state->n));
    }
  return TRUE;
}

static gboolean
onnx_parse_hex (VnTextIn *self,
                guint32  *value)
{
  *value = 0;
  for (guint i = 0; i < 4; i++, self->at++)
    {
      if (self->at == self->end || !g_ascii_isxdigit (*self->at))
        return FALSE;
      *value = *value << 4 | (guint32) g_ascii_xdigit_value (*self->at);
    }
  return TRUE;
}

/* What follows the backslash. Characters beyond 16 bits are two sequences. */
static gboolean
onnx_parse_escape (VnTextIn *self,
                   guint32  *value)
{
  static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
  char c = self->at < self->end ? *self->at++ : '\0';
  const char *letter = c != '\0' ? strchr (letters, c) : NULL;
  guint32 low;

  if (letter != NULL)
    {
      *value = (guint32) meanings[letter - letters];
      return TRUE;
    }
  if (c != 'u' || !onnx_parse_hex (self, value))
    return FALSE;
  if (*value < 0xd800 || *value > 0xdfff)
    return TRUE;
  if (*value > 0xdbff || self->end - self->at < 6 || self->at[0] != '\\' || self->at[1] != 'u')
    return FALSE;
  self->at += 2;
  if (!onnx_parse_hex (self, &low) || low < 0xdc00 || low > 0xdfff)
    return FALSE;
  *value = 0x10000 + ((*value - 0xd800) << 10) + (low - 0xdc00);
  return TRUE;
}

static gboolean
onnx_parse_text (VnTextIn         *self,
                 const TextField  *field,
                 GError          **error)
{
  VnWireMark mark = vn_wire_begin (self->out);
  const char *start = self->at;
  Base64 base64 = { 0 };

  if (!vn_text_take (self, '"'))
    return vn_text_fail (self, start, _("text in quotes is missing"), error);
  while (self->at < self->end && *self->at != '"')
    {
      const char *at = self->at;
      gboolean escaped = *self->at == '\\';
      guint32 c = (guint8) *self->at++;

      if (escaped ? !onnx_parse_escape (self, &c) : c < 0x20)
        return vn_text_fail (self, at, _("an escape sequence is unknown"), error);
      if (field->kind == KIND_BYTES && !onnx_parse_put_base64 (self, &base64, c))
        return vn_text_fail (self, at, _("this is not base 64"), error);
      if (field->kind != KIND_BYTES && escaped)
        vn_text_put_character (self, c);
      else if (field->kind != KIND_BYTES)
        vn_text_put_byte (self, (guint8) c);
    }
  if (base64.n == 6)
    return vn_text_fail (self, self->at, _("this is not base 64"), error);
  if (!vn_text_take (self, '"'))
    return vn_text_fail (self, start, _("the closing quote is missing"), error);
  vn_text_flush (self);
  vn_wire_end (self->out, mark, field->number);
  return TRUE;
}

/* ---- values ---- */

static gboolean
onnx_parse_scalar (VnTextIn         *self,
                   const TextField  *field,
                   GError          **error)
{
  gboolean quoted = vn_text_take (self, '"');
  VnTextToken token = vn_text_read_token (self);

  if (!vn_text_put_scalar (self, field, &token, error))
    return FALSE;
  return !quoted || vn_text_take (self, '"') || vn_text_fail (self, self->at, _("the closing quote is missing"), error);
}

static gboolean
onnx_parse_member (VnTextIn       *self,
                   VnTextMessage  *message,
                   GError        **error)
{
  VnTextToken name;
  const TextField *field;

  self->field = NULL;
  if (!vn_text_take (self, '"'))
    return vn_text_fail (self, self->at, _("the name of a field is missing"), error);
  name.data = self->at;
  while (self->at < self->end && *self->at != '"')
    self->at++;
  name.size = (gsize) (self->at - name.data);
  if (!vn_text_begin_field (self, message, &name, error))
    return FALSE;
  field = self->field;
  if (!vn_text_take (self, '"') || !vn_text_take (self, ':'))
    return vn_text_fail (self, self->at, _("“:” is missing"), error);
  onnx_parse_skip (self);
  if (onnx_parse_take_null (self))
    return TRUE;
  if (field->label == LABEL_ONE)
    return vn_text_read_value (self, message, field, error);
  return vn_text_take (self, '[') ? vn_text_read_list (self, message, field, error)
                                  : vn_text_fail (self, self->at, _("“[” is missing"), error);
}

static gboolean
onnx_parse_object (VnTextIn  *self,
                   TextType   type,
                   GError   **error)
{
  VnTextMessage message = { .type = type };

  if (!vn_text_enter (self, error))
    return FALSE;
  if (!vn_text_take (self, '{'))
    return vn_text_fail (self, self->at, _("“{” is missing"), error);
  if (!vn_text_take (self, '}'))
    {
      do
        if (!onnx_parse_member (self, &message, error))
          return FALSE;
      while (vn_text_take (self, ','));
      self->field = NULL;
      if (!vn_text_take (self, '}'))
        return vn_text_fail (self, self->at, _("“}” is missing"), error);
    }
  vn_text_end_message (self, &message);
  self->depth--;
  return TRUE;
}

gboolean
vn_text_read_json (VnTextIn  *self,
                   GError   **error)
{
  static const VnTextSyntax syntax = { onnx_parse_skip, onnx_parse_text, onnx_parse_scalar, onnx_parse_object };

  g_return_val_if_fail (self != NULL, FALSE);

  self->syntax = &syntax;
  if (!onnx_parse_object (self, TEXT_ModelProto, error))
    return FALSE;
  onnx_parse_skip (self);
  return self->at == self->end || vn_text_fail (self, self->at, _("something follows the model"), error);
}
