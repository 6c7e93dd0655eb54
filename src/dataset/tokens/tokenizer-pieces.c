/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sets of pieces, sorted: no choice of pieces makes looking one up slow, as one of keys of a hash table can. */
#include "tokenizer-private.h"

#include <string.h>

void
tokenizer_pieces_init (TokenizerPieces *self)
{
  *self = (TokenizerPieces) { .pieces = g_array_new (FALSE, FALSE, sizeof (TokenizerPiece)) };
}

void
tokenizer_pieces_clear (TokenizerPieces *self)
{
  g_clear_pointer (&self->pieces, g_array_unref);
}

/* @text stays the caller's. */
void
tokenizer_pieces_add (TokenizerPieces *self,
                      const char      *text,
                      gsize            length,
                      guint32          id)
{
  TokenizerPiece piece = { text, (guint32) length, id };

  g_array_append_val (self->pieces, piece);
}

static int
pieces_compare (gconstpointer a,
                gconstpointer b)
{
  const TokenizerPiece *x = a, *y = b;
  const int order = memcmp (x->text, y->text, MIN (x->length, y->length));

  return order != 0 ? order : (x->length > y->length) - (x->length < y->length);
}

static int
pieces_compare_stable (gconstpointer a,
                       gconstpointer b)
{
  const TokenizerPiece *x = a, *y = b;
  const int order = pieces_compare (a, b);

  return order != 0 ? order : (x->id > y->id) - (x->id < y->id);
}

/* To be called once, when all are there. Of equal ones the one with the highest number stays. */
void
tokenizer_pieces_sort (TokenizerPieces *self)
{
  TokenizerPiece *pieces = (TokenizerPiece *) (gpointer) self->pieces->data;
  guint n = 0;

  g_array_sort (self->pieces, pieces_compare_stable);
  for (guint i = 0; i < self->pieces->len; i++)
    if (i + 1 == self->pieces->len || pieces_compare (&pieces[i], &pieces[i + 1]) != 0)
      pieces[n++] = pieces[i];
  g_array_set_size (self->pieces, n);
  memset (self->starts, 0, sizeof self->starts);
  for (guint i = 0; i < n; i++)
    if (pieces[i].length > 0)
      self->starts[(guint8) pieces[i].text[0] + 1]++;
  self->starts[0] = n > 0 && pieces[0].length == 0 ? 1 : 0;
  for (guint b = 0; b < 256; b++)
    self->starts[b + 1] += self->starts[b];
}

/**
 * tokenizer_pieces_find:
 *
 * Returns: the number of the piece that is @text; %TOKENIZER_NONE: there is none
 */
guint32
tokenizer_pieces_find (const TokenizerPieces *self,
                       const char            *text,
                       gsize                  length)
{
  const TokenizerPiece *pieces = (const TokenizerPiece *) (gconstpointer) self->pieces->data;
  const TokenizerPiece wanted = { text, (guint32) length, 0 };
  guint from, to;

  if (length == 0 || length > G_MAXUINT32)
    return TOKENIZER_NONE;
  from = self->starts[(guint8) text[0]];
  to = self->starts[(guint8) text[0] + 1];
  while (from < to)
    {
      const guint middle = from + (to - from) / 2;
      const int order = pieces_compare (&pieces[middle], &wanted);

      if (order == 0)
        return pieces[middle].id;
      if (order < 0)
        from = middle + 1;
      else
        to = middle;
    }
  return TOKENIZER_NONE;
}

void
tokenizer_walk_start (TokenizerWalk         *self,
                      const TokenizerPieces *pieces)
{
  *self = (TokenizerWalk) { 0, pieces->pieces->len, 0 };
}

/* Where in @from to @to the byte after @length others is at least @byte. */
static guint
pieces_find_byte (const TokenizerPiece *pieces,
                  guint                 from,
                  guint                 to,
                  guint32               length,
                  guint                 byte)
{
  while (from < to)
    {
      const guint middle = from + (to - from) / 2;

      if (pieces[middle].length <= length || (guint8) pieces[middle].text[length] < byte)
        from = middle + 1;
      else
        to = middle;
    }
  return from;
}

/**
 * tokenizer_walk_next:
 * @byte: the next one of the text
 * @id: (out): of the piece that ends with it; %TOKENIZER_NONE: none does
 *
 * Returns: whether there are pieces that begin with all bytes so far
 */
gboolean
tokenizer_walk_next (TokenizerWalk         *self,
                     const TokenizerPieces *pieces,
                     char                   byte,
                     guint32               *id)
{
  const TokenizerPiece *all = (const TokenizerPiece *) (gconstpointer) pieces->pieces->data;
  const guint8 b = (guint8) byte;

  if (self->length == 0)
    {
      self->from = pieces->starts[b];
      self->to = pieces->starts[b + 1];
    }
  else
    {
      self->from = pieces_find_byte (all, self->from, self->to, self->length, b);
      self->to = pieces_find_byte (all, self->from, self->to, self->length, b + 1u);
    }
  self->length++;
  *id = self->from < self->to && all[self->from].length == self->length ? all[self->from].id : TOKENIZER_NONE;
  return self->from < self->to;
}
