/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Added tokens: what is found in a text before anything is split. Of those that begin at one place the longest counts. */
#include "tokenizer-private.h"

#include "vn-error.h"
#include "vn-i18n.h"

#include <string.h>

#define MOST_ADDED 65536u

static void
added_clear_one (gpointer data)
{
  g_free (((TokenizerAdded *) data)->content);
}

void
tokenizer_added_init (TokenizerAddedSet *self)
{
  self->tokens = g_array_new (FALSE, TRUE, sizeof (TokenizerAdded));
  g_array_set_clear_func (self->tokens, added_clear_one);
  tokenizer_pieces_init (&self->raw);
  tokenizer_pieces_init (&self->normalized);
  self->texts = g_ptr_array_new_with_free_func (g_free);
}

void
tokenizer_added_clear (TokenizerAddedSet *self)
{
  g_clear_pointer (&self->tokens, g_array_unref);
  tokenizer_pieces_clear (&self->raw);
  tokenizer_pieces_clear (&self->normalized);
  g_clear_pointer (&self->texts, g_ptr_array_unref);
}

/* (transfer full) (nullable): @text as the normalizers make it */
static char *
added_normalize (const char  *content,
                 GPtrArray   *normalizers,
                 GError     **error)
{
  TokenizerText text;
  char *result = NULL;

  tokenizer_text_init (&text);
  g_string_append (text.text, content);
  tokenizer_text_end_part (&text, 0, TRUE);
  if (tokenizer_steps_apply (normalizers, &text, error))
    result = g_strdup (text.text->str);
  tokenizer_text_clear (&text);
  return result;
}

static gboolean
added_read_one (TokenizerAddedSet *self,
                VnJsonFields      *fields,
                GPtrArray         *normalizers)
{
  static const char * const known[] = { "id", "content", "single_word", "lstrip", "rstrip", "normalized", "special", NULL };
  TokenizerAdded token = { 0 };
  char *normal = NULL;
  GError *reason = NULL;

  tokenizer_fields_check (fields, known);
  token.content = tokenizer_fields_dup_content (fields, "content");
  token.id = (guint32) vn_json_fields_get_count (fields, "id", TOKENIZER_MOST_TOKENS);
  token.lstrip = tokenizer_fields_is (fields, "lstrip");
  token.rstrip = tokenizer_fields_is (fields, "rstrip");
  token.single_word = tokenizer_fields_is (fields, "single_word");
  token.normalized = vn_json_fields_has (fields, "normalized") ? vn_json_fields_get_bool (fields, "normalized")
                   : !tokenizer_fields_is (fields, "special");
  if (fields->error == NULL && *token.content != '\0')
    {
      normal = token.normalized ? added_normalize (token.content, normalizers, &reason) : g_strdup (token.content);
      vn_json_fields_take_error (fields, reason);
    }
  if (normal != NULL)
    {
      g_ptr_array_add (self->texts, normal);
      if (*normal != '\0')
        tokenizer_pieces_add (token.normalized ? &self->normalized : &self->raw, normal, strlen (normal), self->tokens->len);
    }
  g_array_append_val (self->tokens, token);
  return fields->error == NULL;
}

/**
 * tokenizer_added_read:
 * @node: (nullable): the member “added_tokens”
 * @normalizers: (element-type TokenizerStep): also taken by tokens that are looked for in what these give
 */
gboolean
tokenizer_added_read (TokenizerAddedSet  *self,
                      JsonNode           *node,
                      GPtrArray          *normalizers,
                      GError            **error)
{
  JsonArray *array = node != NULL && !JSON_NODE_HOLDS_NULL (node) ? vn_json_get_array (node, "added_tokens", error) : NULL;
  const guint n = array != NULL ? json_array_get_length (array) : 0;

  if (array == NULL)
    return node == NULL || JSON_NODE_HOLDS_NULL (node);
  if (n > MOST_ADDED)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_LIMIT, _("added_tokens: has %u elements; at most %u are supported"), n, MOST_ADDED);
      return FALSE;
    }
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *where = g_strdup_printf ("added_tokens[%u]", i);
      g_auto(VnJsonFields) fields = { 0 };

      vn_json_fields_init (&fields, json_array_get_element (array, i), where);
      added_read_one (self, &fields, normalizers);
      if (!vn_json_fields_end (&fields, error))
        return FALSE;
    }
  tokenizer_pieces_sort (&self->raw);
  tokenizer_pieces_sort (&self->normalized);
  return TRUE;
}

/* ---- looking ---- */

static gboolean
added_is_word (gunichar c)
{
  switch (g_unichar_type (c))
    {
    case G_UNICODE_LOWERCASE_LETTER:
    case G_UNICODE_UPPERCASE_LETTER:
    case G_UNICODE_TITLECASE_LETTER:
    case G_UNICODE_MODIFIER_LETTER:
    case G_UNICODE_OTHER_LETTER:
    case G_UNICODE_DECIMAL_NUMBER:
    case G_UNICODE_LETTER_NUMBER:
    case G_UNICODE_NON_SPACING_MARK:
    case G_UNICODE_SPACING_MARK:
    case G_UNICODE_ENCLOSING_MARK:
    case G_UNICODE_CONNECT_PUNCTUATION:
      return TRUE;
    default:
      return c == 0x200c || c == 0x200d || (c >= 0x24b6 && c <= 0x24e9);
    }
}

static gboolean
added_is_space (gunichar c)
{
  return (c >= 9 && c <= 13) || c == 0x85 || (c >= 0x20 && c != 0x180e && g_unichar_isspace (c));
}

/* The longest that @text begins with; its end, or 0. */
static gsize
added_match (const TokenizerPieces *pieces,
             const char            *text,
             gsize                  length,
             guint32               *place)
{
  TokenizerWalk walk;
  gboolean more = TRUE;
  gsize longest = 0;

  tokenizer_walk_start (&walk, pieces);
  for (gsize i = 0; more && i < length; i++)
    {
      guint32 id;

      more = tokenizer_walk_next (&walk, pieces, text[i], &id);
      if (id == TOKENIZER_NONE)
        continue;
      longest = i + 1;
      *place = id;
    }
  return longest;
}

static gboolean
added_stands_alone (const char *text,
                    gsize       length,
                    gsize       start,
                    gsize       end)
{
  return (start == 0 || !added_is_word (g_utf8_get_char (g_utf8_prev_char (text + start)))) &&
         (end == length || !added_is_word (g_utf8_get_char (text + end)));
}

/**
 * tokenizer_added_next:
 * @find: (inout): zeros for the first
 *
 * The next token is looked for behind the last one, even if the blanks there belong to that.
 *
 * Returns: whether there is one; else @find->start is @length
 */
gboolean
tokenizer_added_next (const TokenizerAddedSet *self,
                      const TokenizerPieces   *pieces,
                      const char              *text,
                      gsize                    length,
                      TokenizerFind           *find)
{
  find->from = find->end;
  while (find->at < length && pieces->pieces->len > 0)
    {
      guint32 place = 0;
      const gsize at = find->at, n = added_match (pieces, text + at, length - at, &place);
      const TokenizerAdded *token = n > 0 ? &g_array_index (self->tokens, TokenizerAdded, place) : NULL;

      find->at += MAX (n, 1);
      if (token == NULL || (token->single_word && !added_stands_alone (text, length, at, at + n)))
        continue;
      *find = (TokenizerFind) { find->at, find->from, at, at + n, token->id };
      find->start = token->lstrip ? MAX (at, find->from) : at;
      while (token->lstrip && find->start > find->from &&
             added_is_space (g_utf8_get_char (g_utf8_prev_char (text + find->start))))
        find->start = (gsize) (g_utf8_prev_char (text + find->start) - text);
      while (token->rstrip && find->end < length && added_is_space (g_utf8_get_char (text + find->end)))
        find->end = (gsize) (g_utf8_next_char (text + find->end) - text);
      if (find->start < find->end)
        return TRUE;
      find->from = find->end;     /* nothing is left of it: the one before has taken its blanks */
    }
  find->start = length;
  return FALSE;
}
