/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pre-tokenizers: what splits a text into the words that a model makes tokens of. */
#include "tokenizer-private.h"

#include "vn-i18n.h"

#include <string.h>

/* ---- what becomes of matches ---- */

static const struct { const char *name; TokenizerSplit behavior; } behaviors[] = {
  { "Removed", SPLIT_REMOVED }, { "Isolated", SPLIT_ISOLATED }, { "MergedWithPrevious", SPLIT_MERGED_PREVIOUS },
  { "MergedWithNext", SPLIT_MERGED_NEXT }, { "Contiguous", SPLIT_CONTIGUOUS },
};

static void
split_read_behavior (TokenizerStep *self,
                     VnJsonFields  *fields)
{
  g_autofree char *name = vn_json_fields_dup_text (fields, "behavior");

  for (guint i = 0; name != NULL && i < G_N_ELEMENTS (behaviors); i++)
    if (g_str_equal (behaviors[i].name, name))
      {
        self->behavior = behaviors[i].behavior;
        return;
      }
  if (name != NULL)
    vn_json_fields_fail (fields, "behavior", _("is “%s”, which is not supported"), name);
}

/* Whether span @i goes on with the one before it. */
static gboolean
split_joins (TokenizerSplit       behavior,
             const TokenizerSpan *spans,
             const gboolean      *joined,
             guint                i)
{
  const gboolean is = spans[i].is_match, was = spans[i - 1].is_match;

  if (behavior == SPLIT_CONTIGUOUS)
    return is == was;
  if (behavior == SPLIT_MERGED_PREVIOUS)
    return is && !was;
  return FALSE;
}

/* From the end: a match goes to what is behind it, unless that is a match, too. */
static void
split_join_next (const TokenizerSpan *spans,
                 guint                n,
                 gboolean            *joined)
{
  for (guint i = 1; i < n; i++)
    joined[i] = spans[i - 1].is_match && !spans[i].is_match;
}

/* Appends the parts that @spans of @text make. */
static gboolean
split_add_parts (const TokenizerStep *self,
                 const char          *text,
                 const TokenizerPart *part,
                 GArray              *array,
                 TokenizerText       *to,
                 GError             **error)
{
  const TokenizerSpan *spans = (const TokenizerSpan *) (gconstpointer) array->data;
  g_autofree gboolean *joined = g_new0 (gboolean, array->len + 1);
  gsize start = to->text->len;
  gboolean is_first = part->is_first;

  if (self->behavior == SPLIT_MERGED_NEXT)
    split_join_next (spans, array->len, joined);
  for (guint i = 1; i < array->len && self->behavior != SPLIT_MERGED_NEXT; i++)
    joined[i] = split_joins (self->behavior, spans, joined, i);
  for (guint i = 0; i < array->len; i++)
    {
      if (self->behavior == SPLIT_REMOVED && spans[i].is_match)
        {
          is_first = FALSE;
          continue;
        }
      if (!tokenizer_text_append (to, text + spans[i].start, spans[i].end - spans[i].start, error))
        return FALSE;
      if (i + 1 < array->len && joined[i + 1])
        continue;
      tokenizer_text_end_part (to, start, is_first);
      is_first &= to->text->len == start;
      start = to->text->len;
    }
  return TRUE;
}

static gboolean
split_by_pattern (const TokenizerStep *self,
                  const char          *text,
                  gsize                length,
                  const TokenizerPart *part,
                  TokenizerText       *to,
                  GError             **error)
{
  g_autoptr(GArray) spans = g_array_new (FALSE, FALSE, sizeof (TokenizerSpan));

  if (!tokenizer_pattern_find (self, text, length, spans, error))
    return FALSE;
  for (guint i = 0; self->invert && i < spans->len; i++)
    g_array_index (spans, TokenizerSpan, i).is_match ^= TRUE;
  return split_add_parts (self, text, part, spans, to, error);
}

static gboolean
split_apply_pattern (const TokenizerStep *self,
                     const TokenizerText *from,
                     const TokenizerPart *part,
                     TokenizerText       *to,
                     GError             **error)
{
  return split_by_pattern (self, from->text->str + part->start, part->length, part, to, error);
}

/* A pattern that the step has by itself. */
static void
split_set_pattern (TokenizerStep  *self,
                   VnJsonFields   *fields,
                   const char     *pattern,
                   TokenizerSplit  behavior)
{
  GError *reason = NULL;

  self->behavior = behavior;
  self->regex = tokenizer_pattern_compile (pattern, &reason);
  vn_json_fields_take_error (fields, reason);
}

static void
split_read_split (TokenizerStep *self,
                  VnJsonFields  *fields)
{
  tokenizer_pattern_read (self, fields, "pattern");
  split_read_behavior (self, fields);
  self->invert = tokenizer_fields_is (fields, "invert");
}

static void
split_read_digits (TokenizerStep *self,
                   VnJsonFields  *fields)
{
  split_set_pattern (self, fields, "\\p{N}",
                     tokenizer_fields_is (fields, "individual_digits") ? SPLIT_ISOLATED : SPLIT_CONTIGUOUS);
}

static void
split_read_white_space (TokenizerStep *self,
                        VnJsonFields  *fields)
{
  split_set_pattern (self, fields, "\\s", SPLIT_REMOVED);
}

/* Words and what is neither a word nor blank. */
static void
split_read_words (TokenizerStep *self,
                  VnJsonFields  *fields)
{
  split_set_pattern (self, fields, "\\w+|[^\\w\\s]+", SPLIT_REMOVED);
  self->invert = TRUE;
}

/* That of ASCII and the categories of Unicode. */
static void
split_read_punctuation (TokenizerStep *self,
                        VnJsonFields  *fields)
{
  split_set_pattern (self, fields, "[\\p{P}!-/:-@\\x5b-`\\x7b-~]", SPLIT_ISOLATED);
  if (vn_json_fields_has (fields, "behavior"))
    split_read_behavior (self, fields);
}

static void
split_read_delimiter (TokenizerStep *self,
                      VnJsonFields  *fields)
{
  self->literal = tokenizer_fields_dup_content (fields, "delimiter");
  self->behavior = SPLIT_REMOVED;
  if (self->literal != NULL && *self->literal == '\0')
    vn_json_fields_fail (fields, "delimiter", _("is empty"));
}

/* ---- ByteLevel: each byte as a character that can be seen ---- */

static gunichar
split_get_byte_char (guint byte)
{
  guint place = 0;

  if ((byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae)
    return byte;
  place = byte <= ' ' ? byte : byte <= 0xa0 ? byte - 0x7f + 33 : 67;
  return 0x100 + place;
}

static void
split_read_byte_level (TokenizerStep *self,
                       VnJsonFields  *fields)
{
  self->left = !vn_json_fields_has (fields, "add_prefix_space") || vn_json_fields_get_bool (fields, "add_prefix_space");
  self->splits = !vn_json_fields_has (fields, "use_regex") || vn_json_fields_get_bool (fields, "use_regex");
  if (self->splits)
    split_set_pattern (self, fields, TOKENIZER_BYTE_LEVEL_PATTERN, SPLIT_ISOLATED);
}

static gboolean
split_show_bytes (const TokenizerText *from,
                  TokenizerText       *to,
                  GError             **error)
{
  char shown[256][6] = { 0 };

  for (guint b = 0; b < 256; b++)
    g_unichar_to_utf8 (split_get_byte_char (b), shown[b]);
  for (guint i = 0; i < from->parts->len; i++)
    {
      const TokenizerPart *part = &g_array_index (from->parts, TokenizerPart, i);
      const gsize start = to->text->len;

      if (!tokenizer_text_append (to, "", 2 * part->length > TOKENIZER_MOST_BYTES ? TOKENIZER_MOST_BYTES + 1 : 0, error))
        return FALSE;
      for (gsize k = 0; k < part->length; k++)
        g_string_append (to->text, shown[(guint8) from->text->str[part->start + k]]);
      tokenizer_text_end_part (to, start, part->is_first);
    }
  return tokenizer_text_append (to, "", 0, error);
}

static gboolean
split_apply_byte_level (const TokenizerStep *self,
                        const TokenizerText *from,
                        const TokenizerPart *part,
                        TokenizerText       *to,
                        GError             **error)
{
  const char *text = from->text->str + part->start;
  const gboolean blank = self->left && *text != ' ';
  g_autoptr(GString) whole = g_string_new (blank ? " " : NULL);
  TokenizerText words;
  gboolean good;

  g_string_append_len (whole, text, (gssize) part->length);
  tokenizer_text_init (&words);
  if (self->splits)
    good = split_by_pattern (self, whole->str, whole->len, part, &words, error);
  else if ((good = tokenizer_text_append (&words, whole->str, whole->len, error)))
    tokenizer_text_end_part (&words, 0, part->is_first);
  good = good && split_show_bytes (&words, to, error);
  tokenizer_text_clear (&words);
  return good;
}

/* ---- Metaspace: blanks as a character that can be seen ---- */

static const char * const schemes[] = { [PREPEND_NEVER] = "never", [PREPEND_FIRST] = "first", [PREPEND_ALWAYS] = "always" };

static void
split_read_metaspace (TokenizerStep *self,
                      VnJsonFields  *fields)
{
  const gboolean without = vn_json_fields_has (fields, "add_prefix_space") &&
                           !vn_json_fields_get_bool (fields, "add_prefix_space");
  g_autofree char *scheme = vn_json_fields_dup_text_if (fields, "prepend_scheme");
  gboolean known = scheme == NULL;

  self->literal = vn_json_fields_has (fields, "replacement") ? tokenizer_fields_dup_content (fields, "replacement")
                : g_strdup ("▁");
  if (self->literal != NULL && g_utf8_strlen (self->literal, -1) != 1)
    vn_json_fields_fail (fields, "replacement", _("must be a single character"));
  self->splits = !vn_json_fields_has (fields, "split") || vn_json_fields_get_bool (fields, "split");
  self->behavior = SPLIT_MERGED_NEXT;
  self->prepend = without ? PREPEND_NEVER : PREPEND_ALWAYS;
  for (guint i = 0; scheme != NULL && i < G_N_ELEMENTS (schemes); i++)
    if (g_str_equal (schemes[i], scheme))
      {
        known = TRUE;
        self->prepend = (TokenizerPrepend) i;
      }
  if (!known)
    vn_json_fields_fail (fields, "prepend_scheme", _("is “%s”, which is not supported"), scheme);
}

static gboolean
split_apply_metaspace (const TokenizerStep *self,
                       const TokenizerText *from,
                       const TokenizerPart *part,
                       TokenizerText       *to,
                       GError             **error)
{
  const char *text = from->text->str + part->start;
  g_autoptr(GString) whole = g_string_sized_new (part->length + 8);
  const gsize start = to->text->len;

  if (*text != ' ' && !g_str_has_prefix (text, self->literal) &&
      (self->prepend == PREPEND_ALWAYS || (self->prepend == PREPEND_FIRST && part->is_first)))
    g_string_append (whole, self->literal);
  for (gsize i = 0; i < part->length; i++)
    if (text[i] == ' ')
      g_string_append (whole, self->literal);
    else
      g_string_append_c (whole, text[i]);
  if (self->splits)
    return split_by_pattern (self, whole->str, whole->len, part, to, error);
  if (!tokenizer_text_append (to, whole->str, whole->len, error))
    return FALSE;
  tokenizer_text_end_part (to, start, part->is_first);
  return TRUE;
}

/* ---- the table ---- */

static const char * const plain[] = { "type", NULL };
static const char * const of_byte_level[] = { "type", "add_prefix_space", "trim_offsets", "use_regex", NULL };
static const char * const of_split[] = { "type", "pattern", "behavior", "invert", NULL };
static const char * const of_digits[] = { "type", "individual_digits", NULL };
static const char * const of_metaspace[] = { "type", "replacement", "str_rep", "add_prefix_space", "prepend_scheme", "split",
                                             NULL };
static const char * const of_punctuation[] = { "type", "behavior", NULL };
static const char * const of_delimiter[] = { "type", "delimiter", NULL };

const TokenizerKind tokenizer_pre_tokenizers[] = {
  { "ByteLevel", of_byte_level, split_read_byte_level, split_apply_byte_level },
  { "Split", of_split, split_read_split, split_apply_pattern },
  { "Digits", of_digits, split_read_digits, split_apply_pattern },
  { "Metaspace", of_metaspace, split_read_metaspace, split_apply_metaspace },
  { "WhitespaceSplit", plain, split_read_white_space, split_apply_pattern },
  { "Whitespace", plain, split_read_words, split_apply_pattern },
  { "Punctuation", of_punctuation, split_read_punctuation, split_apply_pattern },
  { "CharDelimiterSplit", of_delimiter, split_read_delimiter, split_apply_pattern },
  { NULL }
};
