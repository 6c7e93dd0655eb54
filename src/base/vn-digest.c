/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Four lanes take eight bytes in turn. In each a word is mixed in by a product with an odd number, which carries its
 * bits upwards, and a shift, which brings them down again: both can be undone, so that in one lane two inputs of one
 * word never meet. Several lanes, because a product takes several cycles and the next one of a lane waits for it. */

#include "vn-digest.h"

#include <string.h>

#define ODD_1 G_GUINT64_CONSTANT (0x9e3779b97f4a7c15)   /* 2^64 divided by the golden ratio */
#define ODD_2 G_GUINT64_CONSTANT (0xd6e8feb86659fd93)

static inline guint64
digest_mix (guint64 lane,
            guint64 word,
            guint64 odd)
{
  lane = (lane ^ word) * odd;
  return lane ^ lane >> 32;
}

static inline guint64
digest_load_word (const guint8 *data)
{
  guint64 word;

  memcpy (&word, data, sizeof word);
  return GUINT64_FROM_LE (word);
}

/* @n: times as many bytes as the lanes have. Lanes are variables here: what is written through a pointer would be read again. */
static void
digest_add_whole (VnDigest     *self,
                  const guint8 *data,
                  gsize         n)
{
  guint64 a = self->lanes[0], b = self->lanes[1], c = self->lanes[2], d = self->lanes[3];

  for (gsize i = 0; i < n; i++, data += 32)
    {
      a = digest_mix (a, digest_load_word (data), ODD_1);
      b = digest_mix (b, digest_load_word (data + 8), ODD_1);
      c = digest_mix (c, digest_load_word (data + 16), ODD_1);
      d = digest_mix (d, digest_load_word (data + 24), ODD_1);
    }
  *self = (VnDigest) { { a, b, c, d } };
}

/**
 * vn_digest_add:
 * @data: (nullable): if @size is 0
 *
 * Adds one string of bytes. Its length counts: "ab", "c" is not "a", "bc".
 */
void
vn_digest_add (VnDigest      *self,
               gconstpointer  data,
               gsize          size)
{
  const guint8 *at = data;
  guint8 rest[32] = { 0 };
  gsize left = size % sizeof rest;

  g_return_if_fail (self != NULL);

  vn_digest_add_number (self, size);
  digest_add_whole (self, at, size / sizeof rest);
  at += size - left;
  if (left == 0)
    return;
  memcpy (rest, at, left);
  for (guint k = 0; k < 4; k++)
    self->lanes[k] = digest_mix (self->lanes[k], digest_load_word (rest + 8 * k), ODD_1);
}

void
vn_digest_add_string (VnDigest   *self,
                      const char *text)
{
  g_return_if_fail (self != NULL);

  vn_digest_add_number (self, text != NULL);
  if (text != NULL)
    vn_digest_add (self, text, strlen (text));
}

void
vn_digest_add_number (VnDigest *self,
                      guint64   number)
{
  g_return_if_fail (self != NULL);

  for (guint k = 0; k < 4; k++)
    self->lanes[k] = digest_mix (self->lanes[k], number + k, ODD_2);
}

static guint64
digest_fold (const VnDigest *self,
             guint64         odd)
{
  guint64 sum = odd;

  for (guint round = 0; round < 2; round++)
    for (guint k = 0; k < 4; k++)
      sum = digest_mix (sum, self->lanes[k], odd);
  return sum;
}

guint64
vn_digest_get (const VnDigest *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return digest_fold (self, ODD_1);
}

/**
 * vn_digest_dup_text:
 *
 * Returns: (transfer full): 32 hexadecimal digits
 */
char *
vn_digest_dup_text (const VnDigest *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return g_strdup_printf ("%016" G_GINT64_MODIFIER "x%016" G_GINT64_MODIFIER "x", digest_fold (self, ODD_1),
                          digest_fold (self, ODD_2));
}
