/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Models that are written as text: their fields and numbers, and where a fault is. */
#include "vn-onnx-parse.h"

#include "vn-error.h"
#include "vn-i18n.h"

#include <math.h>
#include <string.h>

#define MAX_DEPTH 300     /* lists, too; the reader of encoded models bounds the messages */
#define MAX_NUMBER 400    /* characters */

static const char * const types[] = {
  "",
#define TEXT_TYPE(id) #id,
#define TEXT_FIELD(...)
#define TEXT_VALUE(...)
#include "vn-onnx-fields.def"
#undef TEXT_TYPE
#undef TEXT_FIELD
#undef TEXT_VALUE
};

static const TextField fields[] = {
#define TEXT_TYPE(id)
#define TEXT_FIELD(message, number, name, kind, label, type) \
  { TEXT_##message, number, #name, KIND_##kind, LABEL_##label, TEXT_##type },
#define TEXT_VALUE(...)
#include "vn-onnx-fields.def"
#undef TEXT_TYPE
#undef TEXT_FIELD
#undef TEXT_VALUE
};

static const struct
{
  TextType    type;
  const char *name;
  gint32      number;
} values[] = {
#define TEXT_TYPE(id)
#define TEXT_FIELD(...)
#define TEXT_VALUE(type, name, number) { TEXT_##type, #name, number },
#include "vn-onnx-fields.def"
#undef TEXT_TYPE
#undef TEXT_FIELD
#undef TEXT_VALUE
};

/* Sets an error with line, column and field. Returns: %FALSE */
gboolean
vn_text_fail (VnTextIn    *self,
              const char  *at,
              const char  *reason,
              GError     **error)
{
  gsize line = 1, column = 1;

  g_return_val_if_fail (self != NULL, FALSE);

  for (const char *p = self->start; p < at; p++)
    if (*p == '\n')
      {
        line++;
        column = 1;
      }
    else if ((*p & 0xc0) != 0x80)
      column++;
  if (self->field != NULL)
    {
      g_autofree char *message = g_strdelimit (g_strdup (types[self->field->message]), "_", '.');

      g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("line %zu, column %zu, field “%s” of %s: %s"), line, column,
                   self->field->name, message, reason);
    }
  else
    g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("line %zu, column %zu: %s"), line, column, reason);
  return FALSE;
}

/* One message or list deeper; the caller takes it back. */
gboolean
vn_text_enter (VnTextIn  *self,
               GError   **error)
{
  g_return_val_if_fail (self != NULL, FALSE);

  if (++self->depth <= MAX_DEPTH)
    return TRUE;
  vn_text_fail (self, self->at, _("messages are nested too deep"), error);
  if (error != NULL && *error != NULL)
    (*error)->code = VN_ERROR_LIMIT;
  return FALSE;
}

/* As it stands in onnx.proto, or as JSON has it: opset_import, opsetImport. */
static gboolean
onnx_parse_is_name (const char        *name,
                    const VnTextToken *token)
{
  gsize n = 0;

  if (strlen (name) == token->size && memcmp (name, token->data, token->size) == 0)
    return TRUE;
  for (const char *p = name; *p != '\0'; p++)
    {
      char c = *p == '_' && p[1] != '\0' ? g_ascii_toupper (*++p) : *p;

      if (n == token->size || token->data[n++] != c)
        return FALSE;
    }
  return n == token->size;
}

const TextField *
vn_text_find_field (TextType           type,
                    const VnTextToken *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (fields); i++)
    if (fields[i].message == type && onnx_parse_is_name (fields[i].name, name))
      return &fields[i];
  return NULL;
}

/* Finds the field and makes it the one that messages name. */
gboolean
vn_text_begin_field (VnTextIn           *self,
                     VnTextMessage      *message,
                     const VnTextToken  *name,
                     GError            **error)
{
  const TextField *field = vn_text_find_field (message->type, name);
  g_autofree char *shown = NULL, *valid = NULL, *type = NULL, *reason = NULL;

  g_return_val_if_fail (self != NULL, FALSE);

  if (field != NULL)
    {
      self->field = field;
      return TRUE;
    }
  shown = g_strndup (name->data, MIN (name->size, 60));
  valid = g_utf8_make_valid (shown, -1);
  type = g_strdelimit (g_strdup (types[message->type]), "_", '.');
  reason = g_strdup_printf (_("%s has no field “%s”"), type, valid);
  self->field = NULL;
  return vn_text_fail (self, name->data, reason, error);
}

static void
onnx_parse_end_packed (VnTextIn      *self,
                       VnTextMessage *message)
{
  if (message->packed != NULL)
    vn_wire_end (self->out, message->mark, message->packed->number);
  message->packed = NULL;
}

/* One more value of the field: a second one only if it is a list. */
static gboolean
onnx_parse_begin_value (VnTextIn         *self,
                        VnTextMessage    *message,
                        const TextField  *field,
                        GError          **error)
{
  guint64 bit = G_GUINT64_CONSTANT (1) << field->number;

  self->field = field;
  if (field->label == LABEL_ONE && (message->given & bit) != 0)
    return vn_text_fail (self, self->at, _("it is given twice"), error);
  message->given |= bit;
  if (message->packed == field)
    return TRUE;
  onnx_parse_end_packed (self, message);
  if (field->label == LABEL_PACKED)
    {
      message->packed = field;
      message->mark = vn_wire_begin (self->out);
    }
  return TRUE;
}

static gboolean
onnx_parse_inner (VnTextIn         *self,
                  const TextField  *field,
                  GError          **error)
{
  VnWireMark mark = vn_wire_begin (self->out);

  if (!self->syntax->read_inner (self, field->type, error))
    return FALSE;
  vn_wire_end (self->out, mark, field->number);
  return TRUE;
}

/* Whether @c comes next: it is passed then. */
gboolean
vn_text_take (VnTextIn *self,
              char      c)
{
  g_return_val_if_fail (self != NULL, FALSE);

  self->syntax->skip (self);
  if (self->at == self->end || *self->at != c)
    return FALSE;
  self->at++;
  return TRUE;
}

/* One value of a field. */
gboolean
vn_text_read_value (VnTextIn         *self,
                    VnTextMessage    *message,
                    const TextField  *field,
                    GError          **error)
{
  g_return_val_if_fail (self != NULL, FALSE);

  self->syntax->skip (self);
  if (!onnx_parse_begin_value (self, message, field, error))
    return FALSE;
  switch (field->kind)
    {
    case KIND_MESSAGE:
      return onnx_parse_inner (self, field, error);
    case KIND_STRING:
    case KIND_BYTES:
      return self->syntax->read_text (self, field, error);
    default:
      return self->syntax->read_scalar (self, field, error);
    }
}

/* Values of a field behind "[". */
gboolean
vn_text_read_list (VnTextIn         *self,
                   VnTextMessage    *message,
                   const TextField  *field,
                   GError          **error)
{
  g_return_val_if_fail (self != NULL, FALSE);

  if (field->label == LABEL_ONE)
    return vn_text_fail (self, self->at, _("it is not a list"), error);
  if (vn_text_take (self, ']'))
    return TRUE;
  do
    if (!vn_text_read_value (self, message, field, error))
      return FALSE;
  while (vn_text_take (self, ','));
  self->field = field;
  return vn_text_take (self, ']') || vn_text_fail (self, self->at, _("“]” is missing"), error);
}

void
vn_text_end_message (VnTextIn      *self,
                     VnTextMessage *message)
{
  g_return_if_fail (self != NULL);

  onnx_parse_end_packed (self, message);
  self->field = NULL;
}

/* ---- text ---- */

void
vn_text_flush (VnTextIn *self)
{
  g_return_if_fail (self != NULL);

  vn_wire_encoded (self->out, self->piece, self->n_piece);
  self->n_piece = 0;
}

void
vn_text_put_byte (VnTextIn *self,
                  guint8    byte)
{
  g_return_if_fail (self != NULL);

  if (self->n_piece == sizeof self->piece)
    vn_text_flush (self);
  self->piece[self->n_piece++] = byte;
}

/* @character: one that Unicode has */
void
vn_text_put_character (VnTextIn *self,
                       guint32   character)
{
  char bytes[6];
  int n = g_unichar_to_utf8 (character, bytes);

  g_return_if_fail (self != NULL);

  for (int i = 0; i < n; i++)
    vn_text_put_byte (self, (guint8) bytes[i]);
}

/* A word or number at the place: without a character if there is none. */
VnTextToken
vn_text_read_token (VnTextIn *self)
{
  VnTextToken token = { NULL, 0 };

  g_return_val_if_fail (self != NULL, token);

  token.data = self->at;
  while (self->at < self->end && (g_ascii_isalnum (*self->at) || strchr ("_+-.", *self->at) != NULL) && *self->at != '\0')
    self->at++;
  token.size = (gsize) (self->at - token.data);
  return token;
}

/* ---- numbers ---- */

static void
onnx_parse_put_varint (VnTextIn        *self,
                       const TextField *field,
                       guint64          value)
{
  guint8 bytes[10];
  gsize n = 0;

  if (field->label != LABEL_PACKED)
    {
      vn_wire_int (self->out, field->number, (gint64) value);
      return;
    }
  for (; value >= 0x80; value >>= 7)
    bytes[n++] = (guint8) value | 0x80;
  bytes[n++] = (guint8) value;
  vn_wire_encoded (self->out, bytes, n);
}

/* JSON may say 1e3 and 1.0 where it means 1000 and 1. */
static gboolean
onnx_parse_whole (const char *text,
                  guint64    *value)
{
  char *end;
  double number = g_ascii_strtod (text, &end);

  *value = number >= 0 && number < 9007199254740992.0 ? (guint64) number : 0;
  return *end == '\0' && g_ascii_isdigit (*text) && number < 9007199254740992.0 && (double) *value == number;
}

static gboolean
onnx_parse_integer (VnTextIn           *self,
                    const TextField    *field,
                    const VnTextToken  *token,
                    const char         *text,
                    GError            **error)
{
  gboolean negative = *text == '-';
  const char *digits = text + (negative ? 1 : 0);
  gboolean hex = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
  guint base = hex ? 16 : digits[0] == '0' && g_ascii_isdigit (digits[1]) ? 8 : 10;
  guint64 magnitude = 0, most;
  gboolean fits;

  fits = g_ascii_string_to_unsigned (digits + (hex ? 2 : 0), base, 0, G_MAXUINT64, &magnitude, NULL);
  if (!fits && (strpbrk (digits, ".eE") == NULL || !onnx_parse_whole (digits, &magnitude)))
    return vn_text_fail (self, token->data, _("this is not an integer of 64 bits"), error);
  most = field->kind == KIND_U64 ? G_MAXUINT64 : field->kind == KIND_S64 ? G_MAXINT64 : G_MAXINT32;
  if (negative ? magnitude > (field->kind == KIND_U64 ? 0 : most + 1) : magnitude > most)
    return vn_text_fail (self, token->data, _("the number is too large"), error);
  onnx_parse_put_varint (self, field, negative ? 0 - magnitude : magnitude);
  return TRUE;
}

static gboolean
onnx_parse_word (const char *text,
                 double     *value)
{
  const char *word = text + (*text == '-' ? 1 : 0);

  if (g_ascii_strcasecmp (word, "inf") == 0 || g_ascii_strcasecmp (word, "infinity") == 0)
    *value = *text == '-' ? -INFINITY : INFINITY;
  else if (g_ascii_strcasecmp (word, "nan") == 0)
    *value = NAN;
  else
    return FALSE;
  return TRUE;
}

static gboolean
onnx_parse_float (VnTextIn           *self,
                  const TextField    *field,
                  const VnTextToken  *token,
                  const char         *text,
                  GError            **error)
{
  const char *digits = text + (*text == '-' ? 1 : 0);
  double value;
  char *end;
  float single;

  if (!onnx_parse_word (text, &value))
    {
      value = g_ascii_strtod (text, &end);
      if ((*end == 'f' || *end == 'F') && end[1] == '\0')
        end++;
      if (*end != '\0' || (!g_ascii_isdigit (*digits) && *digits != '.') || strpbrk (text, "xX") != NULL)
        return vn_text_fail (self, token->data, _("this is not a number"), error);
      if (!isfinite (value) || (field->kind == KIND_F32 && !isfinite ((float) value)))
        return vn_text_fail (self, token->data, _("the number is too large"), error);
    }
  single = (float) value;
  if (field->kind == KIND_F64)
    vn_wire_encoded (self->out, &value, sizeof value);    /* only packed */
  else if (field->label == LABEL_PACKED)
    vn_wire_encoded (self->out, &single, sizeof single);
  else
    vn_wire_float (self->out, field->number, single);
  return TRUE;
}

static gboolean
onnx_parse_enumeration (VnTextIn           *self,
                        const TextField    *field,
                        const VnTextToken  *token,
                        const char         *text,
                        GError            **error)
{
  if (g_ascii_isdigit (*text) || *text == '-')
    return onnx_parse_integer (self, field, token, text, error);
  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    if (values[i].type == field->type && g_str_equal (values[i].name, text))
      {
        onnx_parse_put_varint (self, field, (guint64) values[i].number);
        return TRUE;
      }
  return vn_text_fail (self, token->data, _("the value is unknown"), error);
}

/* A number, or the name of one. @token: as it is written, without quotes */
gboolean
vn_text_put_scalar (VnTextIn           *self,
                    const TextField    *field,
                    const VnTextToken  *token,
                    GError            **error)
{
  char text[MAX_NUMBER + 1];

  g_return_val_if_fail (self != NULL, FALSE);

  if (token->size == 0 || token->size > MAX_NUMBER)
    return vn_text_fail (self, token->data, _("a number is missing"), error);
  memcpy (text, token->data, token->size);
  text[token->size] = '\0';
  switch (field->kind)
    {
    case KIND_F32:
    case KIND_F64:
      return onnx_parse_float (self, field, token, text, error);
    case KIND_ENUM:
      return onnx_parse_enumeration (self, field, token, text, error);
    default:
      return onnx_parse_integer (self, field, token, text, error);
    }
}
