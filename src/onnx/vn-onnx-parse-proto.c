/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Models in protobuf's text format. */
#include "vn-onnx-parse.h"

#include "vn-i18n.h"

#include <string.h>

static gboolean onnx_parse_message (VnTextIn *self, TextType type, char closing, GError **error);

static void
onnx_parse_skip (VnTextIn *self)
{
  while (self->at < self->end && (g_ascii_isspace (*self->at) || *self->at == '#'))
    {
      const char *line = *self->at == '#' ? memchr (self->at, '\n', (gsize) (self->end - self->at)) : self->at;

      self->at = line != NULL ? line + 1 : self->end;
    }
}

/* ---- text ---- */

/* Up to @n digits of that base. */
static guint32
onnx_parse_digits (VnTextIn *self,
                   guint     base,
                   guint     n)
{
  guint32 value = 0;

  for (; n > 0 && self->at < self->end && g_ascii_isxdigit (*self->at); n--, self->at++)
    {
      guint digit = (guint) g_ascii_xdigit_value (*self->at);

      if (digit >= base)
        break;
      value = value * base + digit;
    }
  return value;
}

/* What follows the backslash */
static gboolean
onnx_parse_escape (VnTextIn  *self,
                   GError   **error)
{
  static const char letters[] = "abfnrtv\\'\"?", meanings[] = "\a\b\f\n\r\t\v\\'\"?";
  char c = self->at < self->end ? *self->at : '\0';
  const char *letter = c != '\0' ? strchr (letters, c) : NULL, *digits;
  guint32 value;

  if (letter != NULL)
    {
      self->at++;
      vn_text_put_byte (self, (guint8) meanings[letter - letters]);
      return TRUE;
    }
  if (c >= '0' && c <= '7')
    {
      vn_text_put_byte (self, (guint8) onnx_parse_digits (self, 8, 3));
      return TRUE;
    }
  digits = c != '\0' ? ++self->at : self->at;
  if (c == 'x' || c == 'X')
    value = onnx_parse_digits (self, 16, 2);
  else if (c == 'u' || c == 'U')
    value = onnx_parse_digits (self, 16, c == 'u' ? 4 : 8);
  else
    return vn_text_fail (self, self->at, _("an escape sequence is unknown"), error);
  if (self->at == digits || ((c == 'u' || c == 'U') && !g_unichar_validate (value)))
    return vn_text_fail (self, digits, _("an escape sequence is unknown"), error);
  if (c == 'x' || c == 'X')
    vn_text_put_byte (self, (guint8) value);
  else
    vn_text_put_character (self, value);
  return TRUE;
}

static gboolean
onnx_parse_quoted (VnTextIn  *self,
                   GError   **error)
{
  const char *start = self->at;
  char quote = *self->at++;

  while (self->at < self->end && *self->at != quote && *self->at != '\n')
    if (*self->at != '\\')
      vn_text_put_byte (self, (guint8) *self->at++);
    else
      {
        self->at++;
        if (!onnx_parse_escape (self, error))
          return FALSE;
      }
  if (self->at == self->end || *self->at == '\n')
    return vn_text_fail (self, start, _("the closing quote is missing"), error);
  self->at++;
  return TRUE;
}

/* Several beside each other are one. */
static gboolean
onnx_parse_text (VnTextIn         *self,
                 const TextField  *field,
                 GError          **error)
{
  VnWireMark mark = vn_wire_begin (self->out);
  const char *start = self->at;

  while (self->at < self->end && (*self->at == '"' || *self->at == '\''))
    {
      if (!onnx_parse_quoted (self, error))
        return FALSE;
      onnx_parse_skip (self);
    }
  if (self->at == start)
    return vn_text_fail (self, start, _("text in quotes is missing"), error);
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
  VnTextToken token = vn_text_read_token (self);

  return vn_text_put_scalar (self, field, &token, error);
}

static gboolean
onnx_parse_inner (VnTextIn  *self,
                  TextType   type,
                  GError   **error)
{
  char opening = self->at < self->end ? *self->at : '\0';

  if (opening != '{' && opening != '<')
    return vn_text_fail (self, self->at, _("“{” is missing"), error);
  self->at++;
  return onnx_parse_message (self, type, opening == '{' ? '}' : '>', error);
}

static gboolean
onnx_parse_field (VnTextIn       *self,
                  VnTextMessage  *message,
                  GError        **error)
{
  VnTextToken name = vn_text_read_token (self);
  const TextField *field;
  gboolean colon;

  self->field = NULL;
  if (name.size == 0)
    return vn_text_fail (self, self->at, _("the name of a field is missing"), error);
  if (!vn_text_begin_field (self, message, &name, error))
    return FALSE;
  field = self->field;
  colon = vn_text_take (self, ':');
  if (!colon && field->kind != KIND_MESSAGE)
    return vn_text_fail (self, self->at, _("“:” is missing"), error);
  if (vn_text_take (self, '[') ? !vn_text_read_list (self, message, field, error)
                                : !vn_text_read_value (self, message, field, error))
    return FALSE;
  if (!vn_text_take (self, ','))
    vn_text_take (self, ';');
  return TRUE;
}

/* @closing: what ends it; 0: the end of the file */
static gboolean
onnx_parse_message (VnTextIn  *self,
                    TextType   type,
                    char       closing,
                    GError   **error)
{
  VnTextMessage message = { .type = type };

  if (!vn_text_enter (self, error))
    return FALSE;
  for (;;)
    {
      onnx_parse_skip (self);
      if (self->at == self->end)
        break;
      if (closing != '\0' && *self->at == closing)
        break;
      if (!onnx_parse_field (self, &message, error))
        return FALSE;
    }
  vn_text_end_message (self, &message);
  self->depth--;
  if (closing == '\0')
    return TRUE;
  if (self->at == self->end)
    return vn_text_fail (self, self->at, _("the file ends inside a message"), error);
  self->at++;
  return TRUE;
}

gboolean
vn_text_read_proto (VnTextIn  *self,
                    GError   **error)
{
  static const VnTextSyntax syntax = { onnx_parse_skip, onnx_parse_text, onnx_parse_scalar, onnx_parse_inner };

  g_return_val_if_fail (self != NULL, FALSE);

  self->syntax = &syntax;
  return onnx_parse_message (self, TEXT_ModelProto, '\0', error);
}
