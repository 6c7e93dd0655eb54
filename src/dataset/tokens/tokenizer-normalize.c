/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Normalizers: what changes a text between added tokens before it is split. Each part stays one. */
#include "tokenizer-private.h"

#include "vn-error.h"
#include "vn-i18n.h"

#include <string.h>

/* Bringing marks into order takes a time that grows with the square of how many follow one another; no script needs so many. */
#define MOST_MARKS 1024

typedef struct { const char *type; GNormalizeMode mode; } Form;

static const Form forms[] = {
  { "NFD", G_NORMALIZE_NFD }, { "NFC", G_NORMALIZE_NFC }, { "NFKD", G_NORMALIZE_NFKD }, { "NFKC", G_NORMALIZE_NFKC },
};

static gboolean
normalize_check_marks (const char  *text,
                       gsize        length,
                       GError     **error)
{
  guint n = 0;

  for (const char *at = text; at < text + length; at = g_utf8_next_char (at))
    {
      n = (guchar) *at >= 0x80 && g_unichar_combining_class (g_utf8_get_char (at)) != 0 ? n + 1 : 0;
      if (n > MOST_MARKS)
        {
          g_set_error (error, VN_ERROR, VN_ERROR_LIMIT, _("more than %d combining marks follow one another"), MOST_MARKS);
          return FALSE;
        }
    }
  return TRUE;
}

static gboolean
normalize_apply_form (const TokenizerStep *self,
                      const TokenizerText *from,
                      const TokenizerPart *part,
                      TokenizerText       *to,
                      GError             **error)
{
  const gsize start = to->text->len;
  const char *text = from->text->str + part->start;
  g_autofree char *changed = NULL;

  for (guint i = 0; changed == NULL && i < G_N_ELEMENTS (forms); i++)
    if (g_str_equal (forms[i].type, self->kind->type))
      {
        if (!normalize_check_marks (text, part->length, error))
          return FALSE;
        changed = g_utf8_normalize (text, (gssize) part->length, forms[i].mode);
      }
  if (!tokenizer_text_append (to, changed != NULL ? changed : "", changed != NULL ? strlen (changed) : 0, error))
    return FALSE;
  tokenizer_text_end_part (to, start, part->is_first);
  return TRUE;
}

/* g_unichar_tolower() leaves alone what is no letter: Roman numbers, and letters in circles. */
static gunichar
normalize_lower (gunichar c)
{
  if (c >= 0x2160 && c <= 0x216f)
    return c + 16;
  if (c >= 0x24b6 && c <= 0x24cf)
    return c + 26;
  return g_unichar_tolower (c);
}

/* One character at a time; of all only U+0130 becomes two. */
static gboolean
normalize_apply_lowercase (const TokenizerStep *self,
                           const TokenizerText *from,
                           const TokenizerPart *part,
                           TokenizerText       *to,
                           GError             **error)
{
  const gsize start = to->text->len;
  const char *text = from->text->str + part->start;

  if (!tokenizer_text_append (to, "", 0, error))
    return FALSE;
  for (const char *at = text; at < text + part->length; at = g_utf8_next_char (at))
    {
      const gunichar c = g_utf8_get_char (at);

      if (c == 0x130)
        g_string_append (to->text, "i\u0307");
      else
        g_string_append_unichar (to->text, normalize_lower (c));
    }
  tokenizer_text_end_part (to, start, part->is_first);
  return TRUE;
}

static gboolean
normalize_apply_strip_accents (const TokenizerStep *self,
                               const TokenizerText *from,
                               const TokenizerPart *part,
                               TokenizerText       *to,
                               GError             **error)
{
  const gsize start = to->text->len;
  const char *text = from->text->str + part->start;

  if (!tokenizer_text_append (to, "", 0, error))
    return FALSE;
  for (const char *at = text; at < text + part->length; at = g_utf8_next_char (at))
    if (!g_unichar_ismark (g_utf8_get_char (at)))
      g_string_append_len (to->text, at, g_utf8_next_char (at) - at);
  tokenizer_text_end_part (to, start, part->is_first);
  return TRUE;
}

static void
normalize_read_prepend (TokenizerStep *self,
                        VnJsonFields  *fields)
{
  self->content = tokenizer_fields_dup_content (fields, "prepend");
}

static gboolean
normalize_apply_prepend (const TokenizerStep *self,
                         const TokenizerText *from,
                         const TokenizerPart *part,
                         TokenizerText       *to,
                         GError             **error)
{
  const gsize start = to->text->len;

  if (!tokenizer_text_append (to, self->content, strlen (self->content), error) ||
      !tokenizer_text_append (to, from->text->str + part->start, part->length, error))
    return FALSE;
  tokenizer_text_end_part (to, start, part->is_first);
  return TRUE;
}

static void
normalize_read_replace (TokenizerStep *self,
                        VnJsonFields  *fields)
{
  tokenizer_pattern_read (self, fields, "pattern");
  self->content = tokenizer_fields_dup_content (fields, "content");
}

static gboolean
normalize_apply_replace (const TokenizerStep *self,
                         const TokenizerText *from,
                         const TokenizerPart *part,
                         TokenizerText       *to,
                         GError             **error)
{
  const gsize start = to->text->len, n = strlen (self->content);
  const char *text = from->text->str + part->start;
  g_autoptr(GArray) spans = g_array_new (FALSE, FALSE, sizeof (TokenizerSpan));

  if (!tokenizer_pattern_find (self, text, part->length, spans, error))
    return FALSE;
  for (guint i = 0; i < spans->len; i++)
    {
      const TokenizerSpan *span = &g_array_index (spans, TokenizerSpan, i);

      if (!tokenizer_text_append (to, span->is_match ? self->content : text + span->start,
                                  span->is_match ? n : span->end - span->start, error))
        return FALSE;
    }
  tokenizer_text_end_part (to, start, part->is_first);
  return TRUE;
}

static void
normalize_read_strip (TokenizerStep *self,
                      VnJsonFields  *fields)
{
  self->left = tokenizer_fields_is (fields, "strip_left");
  self->right = tokenizer_fields_is (fields, "strip_right");
}

/* White_Space of Unicode */
static gboolean
normalize_is_space (gunichar c)
{
  return (c >= 9 && c <= 13) || c == 0x85 || (c != 0x180e && g_unichar_isspace (c));
}

static gboolean
normalize_apply_strip (const TokenizerStep *self,
                       const TokenizerText *from,
                       const TokenizerPart *part,
                       TokenizerText       *to,
                       GError             **error)
{
  const gsize start = to->text->len;
  const char *text = from->text->str + part->start, *end = text + part->length, *last;

  while (self->left && text < end && normalize_is_space (g_utf8_get_char (text)))
    text = g_utf8_next_char (text);
  while (self->right && end > text && normalize_is_space (g_utf8_get_char (last = g_utf8_prev_char (end))))
    end = last;
  if (!tokenizer_text_append (to, text, (gsize) (end - text), error))
    return FALSE;
  tokenizer_text_end_part (to, start, part->is_first);
  return TRUE;
}

static const char * const plain[] = { "type", NULL };
static const char * const of_prepend[] = { "type", "prepend", NULL };
static const char * const of_replace[] = { "type", "pattern", "content", NULL };
static const char * const of_strip[] = { "type", "strip_left", "strip_right", NULL };

const TokenizerKind tokenizer_normalizers[] = {
  { "NFD", plain, NULL, normalize_apply_form },
  { "NFC", plain, NULL, normalize_apply_form },
  { "NFKD", plain, NULL, normalize_apply_form },
  { "NFKC", plain, NULL, normalize_apply_form },
  { "Lowercase", plain, NULL, normalize_apply_lowercase },
  { "StripAccents", plain, NULL, normalize_apply_strip_accents },
  { "Prepend", of_prepend, normalize_read_prepend, normalize_apply_prepend },
  { "Replace", of_replace, normalize_read_replace, normalize_apply_replace },
  { "Strip", of_strip, normalize_read_strip, normalize_apply_strip },
  { NULL }
};
