/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text from files made fit to be shown: on a terminal, in a report, in a line of a log. */
#include "vn-shown.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define MOST_ARGS 32
#define MOST_SHOWN 65536     /* bytes of a text that a line takes: names may be as large as files */

/* ---- text ---- */

/* Of Unicode: controls, the ends of lines and paragraphs, and what turns the direction of writing. */
static gboolean
shown_is_hidden (gunichar c)
{
  return c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
         (c >= 0x2066 && c <= 0x2069);
}

static void
shown_append_hidden (GString  *shown,
                     gunichar  c)
{
  if (c == '\n')
    g_string_append (shown, "\\n");
  else if (c == '\t')
    g_string_append (shown, "\\t");
  else if (c == '\r')
    g_string_append (shown, "\\r");
  else if (c < 0x80)
    g_string_append_printf (shown, "\\x%02x", c);
  else
    g_string_append_printf (shown, "\\u%04x", c);
}

static gboolean
shown_is_plain (const char *text)
{
  for (const char *at = text; *at != '\0'; at++)
    if ((guchar) *at < 0x20 || (guchar) *at >= 0x7f)
      return FALSE;
  return TRUE;
}

static void
shown_append (GString    *shown,
              const char *text)
{
  const char *end = text + strlen (text);

  for (const char *at = text; at < end;)
    {
      const gunichar c = g_utf8_get_char_validated (at, end - at);

      if (c == (gunichar) -1 || c == (gunichar) -2)
        g_string_append_printf (shown, "\\x%02x", (guchar) *at++);
      else
        {
          const char *next = g_utf8_next_char (at);

          if (shown_is_hidden (c))
            shown_append_hidden (shown, c);
          else
            g_string_append_len (shown, at, next - at);
          at = next;
        }
    }
}

/**
 * vn_shown_dup:
 * @text: (nullable): anything, UTF-8 or not
 *
 * Returns: (transfer full) (nullable): @text in one line of valid UTF-8, with controls and bytes that are no UTF-8 written as
 *   “\n”, “\x1b” or “\u202e”; made so again it stays as it is
 */
char *
vn_shown_dup (const char *text)
{
  GString *shown;

  if (text == NULL || shown_is_plain (text))
    return g_strdup (text);
  shown = g_string_sized_new (strlen (text) + 8);
  shown_append (shown, text);
  return g_string_free (shown, FALSE);
}

/* ---- formats ---- */

typedef enum { ARG_NONE, ARG_INT, ARG_LONG, ARG_LONG_LONG, ARG_SIZE, ARG_INTMAX, ARG_PTRDIFF, ARG_DOUBLE, ARG_LONG_DOUBLE,
               ARG_TEXT, ARG_POINTER } ArgType;

typedef union
{
  int           i;
  long          l;
  long long     ll;
  size_t        z;
  intmax_t      j;
  ptrdiff_t     t;
  double        d;
  long double   ld;
  const char   *s;
  const void   *p;
} Arg;

/* One conversion: “%-*s”, “%2$.1f”. */
typedef struct
{
  const char *end;
  char        spec[32];       /* as it is given to printf, with numbers for stars and without a place */
  guint       arg;
  int         star[2];        /* arguments for width and precision; -1: none */
  gsize       n_flags;
  ArgType     type;
} Conversion;

static ArgType
shown_find_type (char        conversion,
                 const char *length,
                 gsize       n_length)
{
  if (conversion == 's')
    return ARG_TEXT;
  if (conversion == 'p')
    return ARG_POINTER;
  if (strchr ("eEfFgGaA", conversion) != NULL)
    return n_length > 0 && *length == 'L' ? ARG_LONG_DOUBLE : ARG_DOUBLE;
  if (conversion == '\0' || strchr ("diouxXc", conversion) == NULL)
    return ARG_NONE;
  if (n_length == 0 || *length == 'h')
    return ARG_INT;
  return *length == 'z' ? ARG_SIZE : *length == 'j' ? ARG_INTMAX : *length == 't' ? ARG_PTRDIFF : n_length == 2
         ? ARG_LONG_LONG : ARG_LONG;
}

static gsize
shown_span_digits (const char *at)
{
  return strspn (at, "0123456789");
}

/* @at: behind a “%” that begins a conversion. FALSE: it is none that is known here. */
static gboolean
shown_parse (const char *at,
             guint      *next,
             Conversion *self)
{
  GString *spec = g_string_new ("%");
  const gsize n_place = shown_span_digits (at);
  const gboolean placed = n_place > 0 && at[n_place] == '$';
  const guint place = placed ? (guint) g_ascii_strtoull (at, NULL, 10) : 0;
  const char *from;
  gsize n;

  *self = (Conversion) { .star = { -1, -1 } };
  at += placed ? n_place + 1 : 0;
  n = strspn (at, "-+ #0'");
  g_string_append_len (spec, at, (gssize) n);
  at += n;
  for (guint k = 0; k < 2 && (k == 0 || *at == '.'); k++)
    {
      if (k == 1)
        g_string_append_c (spec, *at++);
      if (*at == '*')
        {
          self->star[k] = (int) (*next)++;
          g_string_append_c (spec, *at++);
          continue;
        }
      n = shown_span_digits (at);
      g_string_append_len (spec, at, (gssize) n);
      at += n;
    }
  from = at;
  at += strspn (at, "hlLzjt");
  g_string_append_len (spec, from, at - from);
  self->type = shown_find_type (*at, from, (gsize) (at - from));
  g_string_append_c (spec, *at);
  self->end = at + 1;
  self->arg = placed ? place - 1 : (*next)++;
  n = g_strlcpy (self->spec, spec->str, sizeof self->spec);
  g_string_free (spec, TRUE);
  return self->type != ARG_NONE && n < sizeof self->spec && self->arg < MOST_ARGS && *next <= MOST_ARGS && (!placed || place > 0);
}

/* Which arguments there are; @n: (out): how many. */
static gboolean
shown_list_types (const char *format,
                  ArgType    *types,
                  guint      *n)
{
  guint next = 0;

  *n = 0;
  for (const char *at = strchr (format, '%'); at != NULL; at = strchr (at, '%'))
    {
      Conversion one;

      if (at[1] == '%')
        {
          at += 2;
          continue;
        }
      if (!shown_parse (at + 1, &next, &one))
        return FALSE;
      for (guint k = 0; k < 2; k++)
        if (one.star[k] >= 0)
          types[one.star[k]] = ARG_INT;
      types[one.arg] = one.type;
      *n = MAX (*n, MAX (next, one.arg + 1));
      at = one.end;
    }
  return TRUE;
}

static void
shown_take_arg (Arg     *self,
                ArgType  type,
                va_list *args)
{
  switch (type)
    {
    case ARG_INT:         self->i = va_arg (*args, int); break;
    case ARG_LONG:        self->l = va_arg (*args, long); break;
    case ARG_LONG_LONG:   self->ll = va_arg (*args, long long); break;
    case ARG_SIZE:        self->z = va_arg (*args, size_t); break;
    case ARG_INTMAX:      self->j = va_arg (*args, intmax_t); break;
    case ARG_PTRDIFF:     self->t = va_arg (*args, ptrdiff_t); break;
    case ARG_DOUBLE:      self->d = va_arg (*args, double); break;
    case ARG_LONG_DOUBLE: self->ld = va_arg (*args, long double); break;
    case ARG_TEXT:        self->s = va_arg (*args, const char *); break;
    case ARG_POINTER:     self->p = va_arg (*args, const void *); break;
    case ARG_NONE:        break;
    }
}

/* As vn_shown_dup(), and not more than anybody reads. */
static char *
shown_dup_start (const char *text)
{
  g_autofree char *start = NULL, *shown = NULL;

  if (strnlen (text, MOST_SHOWN + 1) <= MOST_SHOWN)
    return vn_shown_dup (text);
  start = g_strndup (text, MOST_SHOWN);
  shown = vn_shown_dup (start);
  return g_strconcat (shown, "…", NULL);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

/* @arg as @spec says, whose stars stand for @a and @b. */
#define SHOWN_PUT(value)                                                            \
  do {                                                                              \
    if (n_stars == 2)                                                               \
      g_string_append_printf (shown, self->spec, stars[0], stars[1], value);        \
    else if (n_stars == 1)                                                          \
      g_string_append_printf (shown, self->spec, stars[0], value);                  \
    else                                                                            \
      g_string_append_printf (shown, self->spec, value);                            \
  } while (0)

static void
shown_append_arg (GString          *shown,
                  const Conversion *self,
                  const Arg        *args)
{
  const Arg *arg = &args[self->arg];
  g_autofree char *text = NULL;
  int stars[2] = { 0, 0 };
  guint n_stars = 0;

  for (guint k = 0; k < 2; k++)
    if (self->star[k] >= 0)
      stars[n_stars++] = args[self->star[k]].i;
  switch (self->type)
    {
    case ARG_INT:         SHOWN_PUT (arg->i); break;
    case ARG_LONG:        SHOWN_PUT (arg->l); break;
    case ARG_LONG_LONG:   SHOWN_PUT (arg->ll); break;
    case ARG_SIZE:        SHOWN_PUT (arg->z); break;
    case ARG_INTMAX:      SHOWN_PUT (arg->j); break;
    case ARG_PTRDIFF:     SHOWN_PUT (arg->t); break;
    case ARG_DOUBLE:      SHOWN_PUT (arg->d); break;
    case ARG_LONG_DOUBLE: SHOWN_PUT (arg->ld); break;
    case ARG_TEXT:
      text = shown_dup_start (arg->s != NULL ? arg->s : "(null)");
      SHOWN_PUT (text);
      break;
    case ARG_POINTER:     SHOWN_PUT (arg->p); break;
    case ARG_NONE:        break;
    }
}

/**
 * vn_shown_vprintf:
 * @format: as of printf(), also with places (“%2$s”), at most 32 arguments
 *
 * The one way for names into lines: what @format itself says stays, line breaks and all; each text that it takes is made fit by
 * vn_shown_dup(), and cut short behind 64 kB.
 *
 * Returns: (transfer full): the text
 */
char *
vn_shown_vprintf (const char *format,
                  va_list     args)
{
  ArgType types[MOST_ARGS] = { ARG_NONE };
  Arg values[MOST_ARGS];
  g_autoptr(GString) shown = NULL;
  const char *at = format;
  guint n, next = 0;
  va_list copy;

  g_return_val_if_fail (format != NULL, NULL);

  if (!shown_list_types (format, types, &n))
    {
      g_autofree char *plain = g_strdup_vprintf (format, args);

      return vn_shown_dup (plain);
    }
  va_copy (copy, args);
  for (guint i = 0; i < n; i++)
    shown_take_arg (&values[i], types[i], &copy);
  va_end (copy);
  shown = g_string_new (NULL);
  for (const char *percent = strchr (at, '%'); percent != NULL; percent = strchr (at, '%'))
    {
      Conversion one;

      g_string_append_len (shown, at, percent - at);
      at = percent + 2;
      if (percent[1] == '%')
        g_string_append_c (shown, '%');
      else if (shown_parse (percent + 1, &next, &one))
        {
          shown_append_arg (shown, &one, values);
          at = one.end;
        }
    }
  g_string_append (shown, at);
  return g_string_free (g_steal_pointer (&shown), FALSE);
}

#pragma GCC diagnostic pop

/**
 * vn_shown_printf:
 *
 * Returns: (transfer full): as vn_shown_vprintf()
 */
char *
vn_shown_printf (const char *format,
                 ...)
{
  va_list args;
  char *shown;

  g_return_val_if_fail (format != NULL, NULL);

  va_start (args, format);
  shown = vn_shown_vprintf (format, args);
  va_end (args);
  return shown;
}
