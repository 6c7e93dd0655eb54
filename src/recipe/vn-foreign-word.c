/* SPDX-License-Identifier: GPL-3.0-or-later */
/* “Did you mean”: words of other quantizers (vn-foreign-words.def), other spellings, and near misses. */
#include "vn-foreign-word.h"

#include "vn-i18n.h"

#include <string.h>

#define WORD_MAX 48   /* longer ones are no slips of the finger */

static const VnForeignWord words[] = {
#define VN_FOREIGN_WORD(KIND, ...) { VN_FOREIGN_##KIND, __VA_ARGS__ },
#include "vn-foreign-words.def"
#undef VN_FOREIGN_WORD
};

static const char * const kinds[] = { "option", "preset", "method", "format", "type", "command", "operator" };

/**
 * vn_foreign_word_list:
 * @n: (out): how many
 *
 * Returns: (transfer none) (array length=n): the words of other quantizers
 */
const VnForeignWord *
vn_foreign_word_list (guint *n)
{
  g_return_val_if_fail (n != NULL, NULL);

  *n = G_N_ELEMENTS (words);
  return words;
}

/**
 * vn_foreign_word_get_kind:
 *
 * Returns: "option", "preset" ...: where the word would stand here
 */
const char *
vn_foreign_word_get_kind (const VnForeignWord *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return kinds[self->kind];
}

/* "--CLE_Steps=3" and "cle-steps" are the same. */
static char *
word_dup_plain (const char *word)
{
  GString *plain = g_string_new (NULL);

  for (; *word != '\0' && *word != '='; word++)
    if (*word != '-' && *word != '_')
      g_string_append_c (plain, g_ascii_tolower (*word));
  return g_string_free (plain, FALSE);
}

/**
 * vn_word_is_same:
 *
 * Returns: whether both are the same option or word, spelled in another way: without regard to case, "-" and "_"; what follows
 *   a "=" does not count
 */
gboolean
vn_word_is_same (const char *a,
                 const char *b)
{
  g_autofree char *x = NULL, *y = NULL;

  g_return_val_if_fail (a != NULL && b != NULL, FALSE);

  x = word_dup_plain (a);
  y = word_dup_plain (b);
  return g_str_equal (x, y);
}

/**
 * vn_foreign_word_get_here:
 *
 * Returns: (transfer none): what people write in the place of the word, "" where there is nothing
 */
const char *
vn_foreign_word_get_here (const VnForeignWord *self)
{
  g_return_val_if_fail (self != NULL, "");

  if (self->here == NULL || self->here[0] == '{')
    return "";
  return self->here + (self->here[0] == '!');
}

/**
 * vn_foreign_word_find:
 * @kind: where the word stands
 * @word: as somebody wrote it: without regard to case, "-" and "_", with "--" or a class in front or not
 *
 * Returns: (transfer none) (nullable): what it is, if another quantizer has that word
 */
const VnForeignWord *
vn_foreign_word_find (VnForeignKind  kind,
                      const char    *word)
{
  const char *dot;

  g_return_val_if_fail (word != NULL, NULL);

  dot = strrchr (word, '.');
  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (words[i].kind == kind && vn_word_is_same (words[i].word, word))
      return &words[i];
  return dot != NULL ? vn_foreign_word_find (kind, dot + 1) : NULL;
}

/* How many letters must be changed, added, left out or swapped with their neighbours. */
static guint
word_get_distance (const char *a,
                   const char *b)
{
  guint n = (guint) strlen (a), m = (guint) strlen (b);
  guint d[3][WORD_MAX + 1];   /* the last two rows and the one being filled */

  if (n > WORD_MAX || m > WORD_MAX)
    return G_MAXUINT;
  for (guint k = 0; k <= m; k++)
    d[0][k] = k;
  for (guint i = 1; i <= n; i++)
    {
      guint *row = d[i % 3], *above = d[(i + 2) % 3], *before = d[(i + 1) % 3];

      row[0] = i;
      for (guint k = 1; k <= m; k++)
        {
          row[k] = MIN (above[k - 1] + (a[i - 1] != b[k - 1]), MIN (above[k], row[k - 1]) + 1);
          if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
            row[k] = MIN (row[k], before[k - 2] + 1);
        }
    }
  return d[n % 3][m];
}

/* The one of @known that @word was meant to be. */
static const char *
word_find_near (const char         *word,
                const char * const *known)
{
  g_autofree char *plain = word_dup_plain (word);
  guint least = (guint) strlen (plain) / 3 + 1;   /* so that it differs by a third at most */
  const char *found = NULL;

  for (guint i = 0; known != NULL && known[i] != NULL; i++)
    {
      g_autofree char *other = word_dup_plain (known[i]);
      guint distance = word_get_distance (plain, other);

      if (distance < least && distance < strlen (other))
        {
          least = distance;
          found = known[i];
        }
    }
  return found;
}

/**
 * vn_word_dup_hint:
 * @kind: where the word stands
 * @word: one that is not known
 * @known: (nullable) (array zero-terminated=1): those that are
 *
 * Returns: (transfer full) (nullable): a question for the end of a message, “did you mean …?”, if the word is another
 *   tool's or nearly one of @known
 */
char *
vn_word_dup_hint (VnForeignKind       kind,
                  const char         *word,
                  const char * const *known)
{
  const VnForeignWord *foreign;
  const char *near, *here, *remark;

  g_return_val_if_fail (word != NULL, NULL);

  for (guint i = 0; known != NULL && known[i] != NULL; i++)
    if (vn_word_is_same (known[i], word))
      return g_strdup_printf (_("did you mean “%s”?"), known[i]);
  foreign = vn_foreign_word_find (kind, word);
  if (foreign == NULL)
    {
      near = word_find_near (word, known);
      return near != NULL ? g_strdup_printf (_("did you mean “%s”?"), near) : NULL;
    }
  remark = foreign->remark != NULL ? _(foreign->remark) : NULL;
  here = vn_foreign_word_get_here (foreign);
  if (here[0] == '\0')
    return g_strdup_printf (_("“%s” of %s: %s"), foreign->word, foreign->tool, remark);
  if (remark != NULL)
    return g_strdup_printf (_("did you mean “%s”? (%s)"), here, remark);
  return g_strdup_printf (_("did you mean “%s”?"), here);
}
