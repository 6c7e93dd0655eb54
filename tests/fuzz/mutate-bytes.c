/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mutate-bytes.h"

#include <string.h>

static const char * const numbers[] = { "0", "-1", "1e400", "-1e-320", "0.5", "9223372036854775807", "-9223372036854775808",
                                        "18446744073709551616", "1e15", "255", "2147483648", "NaN", "null", "true", NULL };

static const char *
pick_word (GRand              *rand,
           const char * const *words)
{
  guint n = 0;

  while (words[n] != NULL)
    n++;
  return words[g_rand_int_range (rand, 0, (gint32) n)];
}

/* @size bytes at @at make room for @text. */
static void
splice (GByteArray *bytes,
        guint       at,
        guint       size,
        const char *text)
{
  guint length = (guint) strlen (text), rest = bytes->len - at - size;
  g_autofree guint8 *tail = g_memdup2 (bytes->data + at + size, rest);

  g_byte_array_set_size (bytes, at);
  g_byte_array_append (bytes, (const guint8 *) text, length);
  if (rest > 0)
    g_byte_array_append (bytes, tail, rest);
}

static void
replace_number (GByteArray *bytes,
                guint       at,
                GRand      *rand)
{
  guint size = 0;

  while (at < bytes->len && !g_ascii_isdigit (bytes->data[at]))
    at++;
  while (at + size < bytes->len && strchr ("0123456789.eE+-", bytes->data[at + size]) != NULL && bytes->data[at + size] != '\0')
    size++;
  if (size > 0)
    splice (bytes, at, size, pick_word (rand, numbers));
}

static void
repeat_part (GByteArray *bytes,
             guint       size)
{
  g_autofree guint8 *copy = g_memdup2 (bytes->data, MIN (size, 200));

  if (copy != NULL)
    g_byte_array_append (bytes, copy, MIN (size, 200));
}

void
mutate_bytes (GByteArray         *bytes,
              GRand              *rand,
              const char * const *words)
{
  guint n = g_rand_boolean (rand) ? 1 : (guint) g_rand_int_range (rand, 2, 6);

  for (guint i = 0; i < n && bytes->len > 1; i++)
    {
      guint at = (guint) g_rand_int_range (rand, 0, (gint32) bytes->len);

      switch (g_rand_int_range (rand, 0, words != NULL ? 12 : 8))
        {
        default:
          bytes->data[at] ^= 1u << g_rand_int_range (rand, 0, 8);
          break;
        case 1:
          bytes->data[at] = (guint8) g_rand_int (rand);
          break;
        case 2:
          bytes->data[at] = 0xff;
          break;
        case 3:
          g_byte_array_set_size (bytes, at + 1);
          break;
        case 4:
          g_byte_array_remove_index (bytes, at);
          break;
        case 0:
          repeat_part (bytes, at);
          break;
        case 8:
        case 9:
          splice (bytes, at, 0, pick_word (rand, words));
          break;
        case 10:
        case 11:
          replace_number (bytes, at, rand);
          break;
        }
    }
}
