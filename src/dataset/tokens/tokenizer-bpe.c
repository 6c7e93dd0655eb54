/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Byte pair encoding: a word's characters, of which the pair with the lowest rank becomes one, until none is left that may. The
 * pairs wait in a heap, so that a whole text that is one word takes n log n. */
#include "tokenizer-private.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-memory.h"

#include <string.h>

#define LONGEST_WORD ((gsize) 16 << 20)

/* @pair: of two numbers */
typedef struct { guint64 pair; guint32 rank, made; } Merge;

typedef struct
{
  JsonNode       *vocab;         /* that the pieces borrow */
  TokenizerPieces pieces;
  GArray         *merges;        /* of Merge, sorted */
  guint32         bytes[256], unknown, n;
  char           *prefix, *suffix;      /* nullable */
  gboolean        byte_fallback, fuse, whole;
} Bpe;

/* @next, @prev: places; NONE: there is none. @id: NONE: merged into another one */
typedef struct { guint32 id, prev, next; } Symbol;
typedef struct { guint32 rank, place, made; } Waiting;

static void
bpe_free (gpointer data)
{
  Bpe *self = data;

  tokenizer_pieces_clear (&self->pieces);
  g_clear_pointer (&self->merges, g_array_unref);
  g_clear_pointer (&self->vocab, json_node_unref);
  g_free (self->prefix);
  g_free (self->suffix);
  g_free (self);
}

static guint32
bpe_count (gconstpointer data)
{
  return ((const Bpe *) data)->n;
}

static guint32
bpe_find (gconstpointer  data,
          const char    *text,
          gsize          length)
{
  return tokenizer_pieces_find (&((const Bpe *) data)->pieces, text, length);
}

/* ---- reading ---- */

static void
bpe_read_vocab (Bpe          *self,
                VnJsonFields *fields)
{
  JsonNode *node = vn_json_fields_get (fields, "vocab");
  g_autofree char *where = vn_json_fields_dup_where (fields, "vocab");
  GError *reason = NULL;
  JsonObject *object = node != NULL ? vn_json_get_object (node, where, &reason) : NULL;
  JsonObjectIter iter;
  const char *piece;
  JsonNode *number;

  self->vocab = object != NULL ? json_node_ref (node) : NULL;
  if (object != NULL)
    json_object_iter_init (&iter, object);
  while (object != NULL && reason == NULL && json_object_iter_next (&iter, &piece, &number))
    {
      guint64 id = 0;

      if (vn_json_get_count (number, where, TOKENIZER_MOST_TOKENS, &id, &reason))
        tokenizer_pieces_add (&self->pieces, piece, strlen (piece), (guint32) id);
      self->n = MAX (self->n, (guint32) id + 1);
    }
  vn_json_fields_take_error (fields, reason);
  tokenizer_pieces_sort (&self->pieces);
}

/* “a b”, or ["a", "b"] */
static gboolean
bpe_split_merge (JsonNode    *node,
                 const char **first,
                 gsize       *n_first,
                 const char **second)
{
  JsonArray *pair = JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;
  const char *text = JSON_NODE_HOLDS_VALUE (node) ? json_node_get_string (node) : NULL;

  if (pair != NULL && json_array_get_length (pair) == 2)
    {
      JsonNode *a = json_array_get_element (pair, 0), *b = json_array_get_element (pair, 1);

      *first = JSON_NODE_HOLDS_VALUE (a) ? json_node_get_string (a) : NULL;
      *second = JSON_NODE_HOLDS_VALUE (b) ? json_node_get_string (b) : NULL;
      *n_first = *first != NULL ? strlen (*first) : 0;
      return *first != NULL && *second != NULL;
    }
  if (text == NULL || strchr (text, ' ') == NULL || strchr (strchr (text, ' ') + 1, ' ') != NULL)
    return FALSE;
  *first = text;
  *n_first = (gsize) (strchr (text, ' ') - text);
  *second = text + *n_first + 1;
  return TRUE;
}

static gboolean
bpe_read_merge (Bpe        *self,
                JsonNode   *node,
                guint32     rank,
                GString    *both)
{
  const gsize n_prefix = self->prefix != NULL ? strlen (self->prefix) : 0;
  const char *first, *second;
  guint32 a, b;
  gsize n_first;
  Merge merge = { .rank = rank };

  if (!bpe_split_merge (node, &first, &n_first, &second) || strlen (second) < n_prefix)
    return FALSE;
  a = tokenizer_pieces_find (&self->pieces, first, n_first);
  b = tokenizer_pieces_find (&self->pieces, second, strlen (second));
  g_string_truncate (both, 0);
  g_string_append_len (both, first, (gssize) n_first);
  g_string_append (both, second + n_prefix);
  merge.made = tokenizer_pieces_find (&self->pieces, both->str, both->len);
  merge.pair = (guint64) a << 32 | b;
  if (a == TOKENIZER_NONE || b == TOKENIZER_NONE || merge.made == TOKENIZER_NONE)
    return FALSE;
  g_array_append_val (self->merges, merge);
  return TRUE;
}

static int
bpe_compare_merges (gconstpointer a,
                    gconstpointer b)
{
  const Merge *x = a, *y = b;
  const int order = (x->pair > y->pair) - (x->pair < y->pair);

  return order != 0 ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

/* Of a pair that is there twice, the last counts. */
static void
bpe_sort_merges (Bpe *self)
{
  Merge *merges = (Merge *) (gpointer) self->merges->data;
  guint n = 0;

  g_array_sort (self->merges, bpe_compare_merges);
  for (guint i = 0; i < self->merges->len; i++)
    if (i + 1 == self->merges->len || merges[i].pair != merges[i + 1].pair)
      merges[n++] = merges[i];
  g_array_set_size (self->merges, n);
}

static void
bpe_read_merges (Bpe          *self,
                 VnJsonFields *fields)
{
  JsonArray *array = vn_json_fields_get_array (fields, "merges");
  const guint n = array != NULL ? json_array_get_length (array) : 0;
  g_autoptr(GString) both = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    if (!bpe_read_merge (self, json_array_get_element (array, i), i, both))
      {
        vn_json_fields_fail (fields, "merges", _("number %u is not two pieces of the vocabulary that make a third one"), i);
        return;
      }
  bpe_sort_merges (self);
}

static void
bpe_read_unknown (Bpe          *self,
                  VnJsonFields *fields)
{
  g_autofree char *unknown = vn_json_fields_dup_text_if (fields, "unk_token");

  self->unknown = unknown != NULL ? bpe_find (self, unknown, strlen (unknown)) : TOKENIZER_NONE;
  if (unknown != NULL && self->unknown == TOKENIZER_NONE && fields->error == NULL)
    vn_json_fields_fail (fields, "unk_token", _("is “%s”, which the vocabulary does not have"), unknown);
}

/* (transfer full) (nullable): %NULL also where it is empty */
static char *
bpe_read_affix (VnJsonFields *fields,
                const char   *id)
{
  g_autofree char *text = vn_json_fields_has (fields, id) ? tokenizer_fields_dup_content (fields, id) : NULL;

  return text != NULL && *text != '\0' ? g_steal_pointer (&text) : NULL;
}

static gpointer
bpe_read (VnJsonFields *fields)
{
  static const char * const known[] = { "type", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix",
                                        "fuse_unk", "byte_fallback", "ignore_merges", "vocab", "merges", NULL };
  Bpe *self = g_new0 (Bpe, 1);

  tokenizer_pieces_init (&self->pieces);
  self->merges = g_array_new (FALSE, FALSE, sizeof (Merge));
  tokenizer_fields_check (fields, known);
  if (vn_json_fields_has (fields, "dropout") && vn_json_fields_get_double (fields, "dropout") > 0)
    vn_json_fields_fail (fields, "dropout", _("is not 0: random tokens are not supported"));
  self->prefix = bpe_read_affix (fields, "continuing_subword_prefix");
  self->suffix = bpe_read_affix (fields, "end_of_word_suffix");
  self->fuse = tokenizer_fields_is (fields, "fuse_unk");
  self->whole = tokenizer_fields_is (fields, "ignore_merges");
  self->byte_fallback = tokenizer_fields_is (fields, "byte_fallback");
  bpe_read_vocab (self, fields);
  bpe_read_merges (self, fields);
  bpe_read_unknown (self, fields);
  self->byte_fallback = tokenizer_find_bytes (&self->pieces, self->bytes) && self->byte_fallback;
  return self;
}

/* ---- the heap: by rank, then by place ---- */

static gboolean
bpe_is_before (const Waiting *a,
               const Waiting *b)
{
  return a->rank != b->rank ? a->rank < b->rank : a->place < b->place;
}

static void
bpe_push (GArray  *heap,
          Waiting  one)
{
  Waiting *all;
  guint at = heap->len;

  g_array_append_val (heap, one);
  all = (Waiting *) (gpointer) heap->data;
  for (; at > 0 && bpe_is_before (&one, &all[(at - 1) / 2]); at = (at - 1) / 2)
    all[at] = all[(at - 1) / 2];
  all[at] = one;
}

static Waiting
bpe_pop (GArray *heap)
{
  Waiting *all = (Waiting *) (gpointer) heap->data;
  const Waiting top = all[0], last = all[heap->len - 1];
  const guint n = heap->len - 1;
  guint at = 0;

  g_array_set_size (heap, n);
  while (2 * at + 1 < n)
    {
      guint next = 2 * at + 1;

      next += next + 1 < n && bpe_is_before (&all[next + 1], &all[next]);
      if (!bpe_is_before (&all[next], &last))
        break;
      all[at] = all[next];
      at = next;
    }
  if (n > 0)
    all[at] = last;
  return top;
}

/* ---- a word ---- */

static const Merge *
bpe_find_merge (const Bpe *self,
                guint32    a,
                guint32    b)
{
  const Merge *merges = (const Merge *) (gconstpointer) self->merges->data;
  const guint64 pair = (guint64) a << 32 | b;
  guint from = 0, to = self->merges->len;

  while (from < to)
    {
      const guint middle = from + (to - from) / 2;

      if (merges[middle].pair == pair)
        return &merges[middle];
      if (merges[middle].pair < pair)
        from = middle + 1;
      else
        to = middle;
    }
  return NULL;
}

/* The number of a character as it stands in a word. */
static guint32
bpe_find_char (const Bpe  *self,
               const char *text,
               gsize       length,
               gboolean    is_first,
               gboolean    is_last)
{
  g_autofree char *whole = NULL;

  if ((is_first || self->prefix == NULL) && (!is_last || self->suffix == NULL))
    return bpe_find (self, text, length);
  whole = g_strdup_printf ("%s%.*s%s", is_first || self->prefix == NULL ? "" : self->prefix, (int) length, text,
                           is_last && self->suffix != NULL ? self->suffix : "");
  return bpe_find (self, whole, strlen (whole));
}

/* Appends the numbers of the characters. What is unknown is held back until the next that is known, behind single bytes. */
static void
bpe_add_chars (const Bpe  *self,
               const char *word,
               gsize       length,
               GArray     *ids)
{
  gboolean held = FALSE;

  for (const char *at = word, *next; at < word + length; at = next)
    {
      guint32 id;

      next = g_utf8_next_char (at);
      id = bpe_find_char (self, at, (gsize) (next - at), at == word, next >= word + length);
      if (id == TOKENIZER_NONE && self->byte_fallback && tokenizer_add_bytes (self->bytes, at, (gsize) (next - at), ids))
        continue;
      if (id == TOKENIZER_NONE && self->unknown == TOKENIZER_NONE)
        continue;
      if (held && (id != TOKENIZER_NONE || !self->fuse))
        g_array_append_val (ids, self->unknown);
      held = id == TOKENIZER_NONE;
      if (!held)
        g_array_append_val (ids, id);
    }
  if (held)
    g_array_append_val (ids, self->unknown);
}

static void
bpe_wait (const Bpe    *self,
          const Symbol *symbols,
          guint32       place,
          GArray       *heap)
{
  const guint32 next = place != TOKENIZER_NONE ? symbols[place].next : TOKENIZER_NONE;
  const Merge *merge = next != TOKENIZER_NONE ? bpe_find_merge (self, symbols[place].id, symbols[next].id) : NULL;

  if (merge != NULL)
    bpe_push (heap, (Waiting) { merge->rank, place, merge->made });
}

static void
bpe_join (Symbol  *symbols,
          guint32  place,
          guint32  made)
{
  const guint32 right = symbols[place].next, next = symbols[right].next;

  symbols[place].id = made;
  symbols[place].next = next;
  symbols[right].id = TOKENIZER_NONE;
  if (next != TOKENIZER_NONE)
    symbols[next].prev = place;
}

static gboolean
bpe_merge (const Bpe  *self,
           Symbol     *symbols,
           guint       n,
           GError    **error)
{
  g_autoptr(GArray) heap = g_array_new (FALSE, FALSE, sizeof (Waiting));

  for (guint32 i = 0; i < n; i++)
    bpe_wait (self, symbols, i, heap);
  for (guint steps = 1; heap->len > 0; steps++)
    {
      const Waiting top = bpe_pop (heap);
      const Symbol *symbol = &symbols[top.place];
      const Merge *merge;

      if (steps % 65536 == 0 && g_cancellable_set_error_if_cancelled (g_cancellable_get_current (), error))
        return FALSE;
      if (symbol->id == TOKENIZER_NONE || symbol->next == TOKENIZER_NONE)
        continue;
      merge = bpe_find_merge (self, symbol->id, symbols[symbol->next].id);
      if (merge == NULL || merge->made != top.made)   /* a neighbor has been merged meanwhile */
        continue;
      bpe_join (symbols, top.place, top.made);
      bpe_wait (self, symbols, symbol->prev, heap);
      bpe_wait (self, symbols, top.place, heap);
    }
  return TRUE;
}

static gboolean
bpe_encode (gconstpointer   data,
            const char     *word,
            gsize           length,
            GArray         *tokens,
            GError        **error)
{
  const Bpe *self = data;
  const guint32 whole = self->whole ? bpe_find (self, word, length) : TOKENIZER_NONE;
  g_autoptr(GArray) ids = NULL;
  g_autofree Symbol *symbols = NULL;

  if (whole != TOKENIZER_NONE)
    {
      g_array_append_val (tokens, whole);
      return TRUE;
    }
  if (length > LONGEST_WORD)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_LIMIT, _("this tokenizer takes the text for one word of %zu bytes; at most %zu are "
                                                      "supported: split the text into several files"), length, LONGEST_WORD);
      return FALSE;
    }
  ids = g_array_new (FALSE, FALSE, sizeof (guint32));
  bpe_add_chars (self, word, length, ids);
  symbols = vn_try_new (Symbol, MAX (ids->len, 1), error);
  if (symbols == NULL)
    return FALSE;
  for (guint i = 0; i < ids->len; i++)
    symbols[i] = (Symbol) { g_array_index (ids, guint32, i), i > 0 ? i - 1 : TOKENIZER_NONE,
                            i + 1 < ids->len ? i + 1 : TOKENIZER_NONE };
  if (!bpe_merge (self, symbols, ids->len, error))
    return FALSE;
  for (guint i = 0; i < ids->len; i++)
    if (symbols[i].id != TOKENIZER_NONE)
      g_array_append_val (tokens, symbols[i].id);
  return tokenizer_check_tokens (tokens, error);
}

const TokenizerModel tokenizer_bpe = {
  .type = "BPE",
  .read = bpe_read,
  .free = bpe_free,
  .count = bpe_count,
  .find = bpe_find,
  .encode = bpe_encode,
};
