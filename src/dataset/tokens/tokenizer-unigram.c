/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Unigram: of all ways to cut a word into pieces the one whose scores add up to the most (Viterbi). */
#include "tokenizer-private.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-memory.h"

#include <string.h>

#define LONGEST_WORD ((gsize) 32 << 20)
#define UNKNOWN_PENALTY 10.0

typedef struct
{
  JsonNode       *vocab;      /* that the pieces borrow */
  TokenizerPieces pieces;
  GArray         *scores;     /* of double, by number */
  guint32         bytes[256], unknown;
  double          least;
  gboolean        byte_fallback;
} Unigram;

/* The best way to get to a byte: where its last piece begins. */
typedef struct { double score; guint32 start, id; } Best;

static void
unigram_free (gpointer data)
{
  Unigram *self = data;

  tokenizer_pieces_clear (&self->pieces);
  g_clear_pointer (&self->scores, g_array_unref);
  g_clear_pointer (&self->vocab, json_node_unref);
  g_free (self);
}

static guint32
unigram_count (gconstpointer data)
{
  return ((const Unigram *) data)->scores->len;
}

static guint32
unigram_find (gconstpointer  data,
              const char    *text,
              gsize          length)
{
  return tokenizer_pieces_find (&((const Unigram *) data)->pieces, text, length);
}

/* ["piece", score] */
static gboolean
unigram_read_piece (Unigram     *self,
                    JsonNode    *node,
                    const char  *where,
                    guint32      id,
                    GError     **error)
{
  JsonArray *pair = vn_json_get_array (node, where, error);
  const char *piece;
  double score;

  if (pair == NULL)
    return FALSE;
  if (json_array_get_length (pair) != 2)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("%s: expected a piece and its score"), where);
      return FALSE;
    }
  piece = vn_json_get_string (json_array_get_element (pair, 0), where, error);
  if (piece == NULL || !vn_json_get_number (json_array_get_element (pair, 1), where, &score, error))
    return FALSE;
  if (strlen (piece) > TOKENIZER_LONGEST_PIECE)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_LIMIT, _("%s: has %zu bytes; at most %u are supported"), where, strlen (piece),
                   TOKENIZER_LONGEST_PIECE);
      return FALSE;
    }
  tokenizer_pieces_add (&self->pieces, piece, strlen (piece), id);
  g_array_append_val (self->scores, score);
  self->least = MIN (self->least, score);
  return TRUE;
}

static void
unigram_read_vocab (Unigram      *self,
                    VnJsonFields *fields)
{
  JsonNode *node = vn_json_fields_get (fields, "vocab");
  JsonArray *array = node != NULL ? vn_json_fields_get_array (fields, "vocab") : NULL;
  const guint n = array != NULL ? json_array_get_length (array) : 0;
  GError *reason = NULL;

  self->vocab = array != NULL ? json_node_ref (node) : NULL;
  self->least = n > 0 ? G_MAXDOUBLE : 0;
  for (guint i = 0; reason == NULL && i < n; i++)
    {
      g_autofree char *where = vn_json_fields_dup_where (fields, "vocab");
      g_autofree char *whole = g_strdup_printf ("%s[%u]", where, i);

      unigram_read_piece (self, json_array_get_element (array, i), whole, i, &reason);
    }
  vn_json_fields_take_error (fields, reason);
  tokenizer_pieces_sort (&self->pieces);
}

static gpointer
unigram_read (VnJsonFields *fields)
{
  static const char * const known[] = { "type", "unk_id", "vocab", "byte_fallback", NULL };
  Unigram *self = g_new0 (Unigram, 1);

  tokenizer_pieces_init (&self->pieces);
  self->scores = g_array_new (FALSE, FALSE, sizeof (double));
  tokenizer_fields_check (fields, known);
  unigram_read_vocab (self, fields);
  self->unknown = vn_json_fields_has (fields, "unk_id")
                  ? (guint32) vn_json_fields_get_count (fields, "unk_id", MAX (self->scores->len, 1) - 1) : TOKENIZER_NONE;
  self->byte_fallback = tokenizer_find_bytes (&self->pieces, self->bytes) && tokenizer_fields_is (fields, "byte_fallback");
  return self;
}

/* ---- a word ---- */

static void
unigram_offer (Best    *best,
               double   score,
               guint32  start,
               guint32  id)
{
  if (best->start == TOKENIZER_NONE || score > best->score)
    *best = (Best) { score, start, id };
}

/* Tells the ends of all pieces that begin at @start; a character that is none is unknown. */
static gboolean
unigram_step (const Unigram  *self,
              const char     *word,
              gsize           length,
              gsize           start,
              Best           *best,
              GError        **error)
{
  const gsize n_char = (gsize) (g_utf8_next_char (word + start) - (word + start));
  const double score = best[start].score;
  gboolean alone = FALSE, more = TRUE;
  TokenizerWalk walk;

  tokenizer_walk_start (&walk, &self->pieces);
  for (gsize end = start + 1; more && end <= length; end++)
    {
      guint32 id;

      more = tokenizer_walk_next (&walk, &self->pieces, word[end - 1], &id);
      if (id == TOKENIZER_NONE)
        continue;
      alone |= end - start == n_char;
      unigram_offer (&best[end], score + g_array_index (self->scores, double, id), (guint32) start, id);
    }
  if (!alone && self->unknown == TOKENIZER_NONE)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA, _("the vocabulary has no piece for “%.*s”, and no unknown one"),
                   (int) n_char, word + start);
      return FALSE;
    }
  if (!alone)
    unigram_offer (&best[start + n_char], score + self->least - UNKNOWN_PENALTY, (guint32) start, self->unknown);
  return TRUE;
}

/* A stretch that no piece is there for, or a piece. */
static void
unigram_add (const Unigram *self,
             const char    *text,
             gsize          length,
             GArray        *tokens)
{
  const guint32 id = unigram_find (self, text, length);

  if (id != TOKENIZER_NONE)
    g_array_append_val (tokens, id);
  else if (!self->byte_fallback || !tokenizer_add_bytes (self->bytes, text, length, tokens))
    g_array_append_val (tokens, self->unknown);
}

/* From the end back, then in order; unknown ones that follow each other are one. */
static void
unigram_follow (const Unigram *self,
                const char    *word,
                gsize          length,
                Best          *best,
                GArray        *tokens)
{
  gsize end = length, start;

  for (; end > 0; end = start)       /* turned round: each start says where its piece ends */
    {
      start = best[end].start;
      best[start].score = (double) end;
      while (best[end].id == self->unknown && start > 0 && best[start].id == self->unknown)
        {
          start = best[start].start;
          best[start].score = (double) end;
        }
    }
  for (start = 0; start < length; start = end)
    {
      end = (gsize) best[start].score;
      unigram_add (self, word + start, end - start, tokens);
    }
}

static gboolean
unigram_encode (gconstpointer   data,
                const char     *word,
                gsize           length,
                GArray         *tokens,
                GError        **error)
{
  const Unigram *self = data;
  g_autofree Best *best = NULL;

  if (length > LONGEST_WORD)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_LIMIT, _("this tokenizer takes the text for one word of %zu bytes; at most %zu are "
                                                      "supported: split the text into several files"), length, LONGEST_WORD);
      return FALSE;
    }
  best = vn_try_new (Best, length + 1, error);
  if (best == NULL)
    return FALSE;
  for (gsize i = 0; i <= length; i++)
    best[i] = (Best) { 0, TOKENIZER_NONE, TOKENIZER_NONE };
  for (gsize at = 0; at < length; at = (gsize) (g_utf8_next_char (word + at) - word))
    if (!unigram_step (self, word, length, at, best, error) ||
        (at % 65536 == 0 && g_cancellable_set_error_if_cancelled (g_cancellable_get_current (), error)))
      return FALSE;
  unigram_follow (self, word, length, best, tokens);
  return tokenizer_check_tokens (tokens, error);
}

const TokenizerModel tokenizer_unigram = {
  .type = "Unigram",
  .read = unigram_read,
  .free = unigram_free,
  .count = unigram_count,
  .find = unigram_find,
  .encode = unigram_encode,
};
