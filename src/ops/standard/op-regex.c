/* SPDX-License-Identifier: GPL-3.0-or-later */
/* RegexFullMatch: does the whole string match the pattern? The pattern is RE2's. GRegex searches by trial, not by
 * automaton: what RE2 does not know is refused, what both write alike but mean differently is written out, and the
 * number of trials is limited. */
#include "vn-string-private.h"

#define MAX_PATTERN 20000
#define LIMITS "(*LIMIT_MATCH=2000000)(*LIMIT_HEAP=65536)"

#define WORD "0-9A-Za-z_"
#define NOT_WORD "\\x00-/:-@\\[-^`{-\\x{10FFFF}"
#define EDGE "(?:(?<![" WORD "])(?=[" WORD "])|(?<=[" WORD "])(?![" WORD "]))"
#define NO_EDGE "(?:(?<![" WORD "])(?![" WORD "])|(?<=[" WORD "])(?=[" WORD "]))"

/* Escapes for sets of characters: RE2 means ASCII. */
typedef struct
{
  const char *name;
  const char *set;      /* within brackets */
} Set;

static const Set escapes[] = {
  { "d", "0-9" }, { "D", "\\x00-/:-\\x{10FFFF}" }, { "w", WORD }, { "W", NOT_WORD },
  { "s", "\\t\\n\\f\\r " }, { "S", "\\x00-\\x08\\x0b\\x0e-\\x1f!-\\x{10FFFF}" },
};

static const Set classes[] = {
  { "alnum", "0-9A-Za-z" }, { "alpha", "A-Za-z" }, { "ascii", "\\x00-\\x7f" }, { "blank", "\\t " },
  { "cntrl", "\\x00-\\x1f\\x7f" }, { "digit", "0-9" }, { "graph", "!-~" }, { "lower", "a-z" }, { "print", " -~" },
  { "punct", "!-/:-@\\[-`{-~" }, { "space", "\\t-\\r " }, { "upper", "A-Z" }, { "word", WORD },
  { "xdigit", "0-9A-Fa-f" }, { "^alnum", "\\x00-/:-@\\[-`{-\\x{10FFFF}" },
  { "^alpha", "\\x00-@\\[-`{-\\x{10FFFF}" }, { "^ascii", "\\x{80}-\\x{10FFFF}" },
  { "^blank", "\\x00-\\x08\\x0a-\\x1f!-\\x{10FFFF}" }, { "^cntrl", " -~\\x{80}-\\x{10FFFF}" },
  { "^digit", "\\x00-/:-\\x{10FFFF}" }, { "^graph", "\\x00- \\x7f-\\x{10FFFF}" },
  { "^lower", "\\x00-`{-\\x{10FFFF}" }, { "^print", "\\x00-\\x1f\\x7f-\\x{10FFFF}" },
  { "^punct", "\\x00- 0-9A-Za-z\\x7f-\\x{10FFFF}" }, { "^space", "\\x00-\\x08\\x0e-\\x1f!-\\x{10FFFF}" },
  { "^upper", "\\x00-@\\[-\\x{10FFFF}" }, { "^word", NOT_WORD }, { "^xdigit", "\\x00-/:-@G-`g-\\x{10FFFF}" },
};

static gboolean
regex_refuse (GError     **error,
              const char  *pattern,
              const char  *at)
{
  g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("The pattern “%s” is not valid RE2 syntax from “%s” on"), pattern, at);
  return FALSE;
}

static const char *
regex_find_set (const Set  *sets,
                gsize       n_sets,
                const char *name,
                gsize       length)
{
  for (gsize i = 0; i < n_sets; i++)
    if (strlen (sets[i].name) == length && strncmp (sets[i].name, name, length) == 0)
      return sets[i].set;
  return NULL;
}

static const char *
regex_copy_char (GString    *out,
                 const char *at)
{
  const char *next = g_utf8_next_char (at);

  g_string_append_len (out, at, next - at);
  return next;
}

/* Text between \Q and \E stands for itself. */
static const char *
regex_copy_quoted (GString    *out,
                   const char *at)
{
  const char *end = strstr (at, "\\E");
  g_autofree char *text = end != NULL ? g_strndup (at, (gsize) (end - at)) : g_strdup (at);
  g_autofree char *escaped = g_regex_escape_string (text, -1);

  g_string_append (out, escaped);
  return end != NULL ? end + 2 : at + strlen (at);
}

/* @at is behind a backslash. */
static const char *
regex_copy_escape (GString    *out,
                   const char *at,
                   gboolean    in_class)
{
  const char *set = regex_find_set (escapes, G_N_ELEMENTS (escapes), at, 1);

  if (set != NULL)
    {
      g_string_append_printf (out, in_class ? "%s" : "[%s]", set);
      return at + 1;
    }
  if (*at == 'Q' && !in_class)
    return regex_copy_quoted (out, at + 1);
  if ((*at == 'b' || *at == 'B') && !in_class)
    {
      g_string_append (out, *at == 'b' ? EDGE : NO_EDGE);
      return at + 1;
    }
  /* Numbers from 1 on would be references; letters RE2 does not know. */
  if (*at == '\0' || (g_ascii_isdigit (*at) && *at != '0') ||
      (g_ascii_isalpha (*at) && strchr (in_class ? "afnrtvxpP" : "afnrtvxpPAz", *at) == NULL))
    return NULL;
  g_string_append_c (out, '\\');
  return regex_copy_char (out, at);
}

/* @at is behind an opening bracket. */
static const char *
regex_copy_class (GString    *out,
                  const char *at)
{
  gboolean first = TRUE;

  g_string_append_c (out, '[');
  if (*at == '^')
    at = regex_copy_char (out, at);
  for (; *at != '\0' && (first || *at != ']'); first = FALSE)
    {
      const char *end = g_str_has_prefix (at, "[:") ? strstr (at, ":]") : NULL;
      const char *set = end != NULL ? regex_find_set (classes, G_N_ELEMENTS (classes), at + 2, (gsize) (end - at - 2)) : NULL;

      if (set != NULL)
        g_string_append (out, set);
      else if (*at == '[' || *at == ']')
        g_string_append_printf (out, "\\%c", *at);
      if (set != NULL)
        at = end + 2;
      else if (*at == '[' || *at == ']')
        at++;
      else if (*at == '\\')
        at = regex_copy_escape (out, at + 1, TRUE);
      else
        at = regex_copy_char (out, at);
      if (at == NULL)
        return NULL;
    }
  g_string_append_c (out, ']');
  return *at == ']' ? at + 1 : NULL;
}

/* @at is at "(": groups, also with names and flags, but no look-around, verbs or recursion. */
static const char *
regex_copy_group (GString    *out,
                  const char *at)
{
  gsize n;

  if (at[1] == '*')
    return NULL;
  if (at[1] != '?')
    return regex_copy_char (out, at);
  if (g_str_has_prefix (at, "(?P<") || (at[2] == '<' && (g_ascii_isalpha (at[3]) || at[3] == '_')))
    {
      g_string_append (out, "(?<");
      return at + (at[2] == 'P' ? 4 : 3);
    }
  n = strspn (at + 2, "imsU-");
  if (at[2 + n] != ':' && at[2 + n] != ')')
    return NULL;
  g_string_append_len (out, at, (gssize) (3 + n));
  return at + 3 + n;
}

static gboolean
regex_translate (const char  *pattern,
                 GString     *out,
                 GError     **error)
{
  gboolean repeated = FALSE;
  gsize depth = 0;

  for (const char *at = pattern, *next; *at != '\0'; at = next)
    {
      gboolean repeats = *at == '*' || *at == '+';

      /* A bracket too many would close what is put around the pattern. */
      if ((repeated && repeats) || (*at == ')' && depth-- == 0))
        return regex_refuse (error, pattern, at);
      next = *at == '\\' ? regex_copy_escape (out, at + 1, FALSE) : *at == '[' ? regex_copy_class (out, at + 1)
           : *at == '(' ? regex_copy_group (out, at) : regex_copy_char (out, at);
      if (next == NULL)
        return regex_refuse (error, pattern, at);
      depth += *at == '(' && next[-1] != ')';
      repeated = repeats || *at == '?' || *at == '}';
    }
  return TRUE;
}

static GRegex *
regex_compile (VnOpContext  *ctx,
               GError      **error)
{
  g_autofree char *pattern = vn_node_dup_string (ctx->node, "pattern", NULL);
  g_autoptr(GString) text = g_string_new (LIMITS "\\A(?:");
  g_autoptr(GError) wrong = NULL;
  GRegex *regex;

  if (pattern == NULL || !g_utf8_validate (pattern, -1, NULL) || strlen (pattern) > MAX_PATTERN)
    {
      vn_op_fail (ctx, error, _("the pattern is missing, longer than %d bytes, or not UTF-8"), MAX_PATTERN);
      return NULL;
    }
  if (!regex_translate (pattern, text, error))
    return NULL;
  g_string_append (text, ")\\z");
  regex = g_regex_new (text->str, G_REGEX_DOLLAR_ENDONLY | G_REGEX_NEWLINE_LF, 0, &wrong);
  if (regex == NULL)
    vn_op_fail (ctx, error, _("the pattern “%s” is not valid: %s"), pattern, wrong->message);
  return regex;
}

static gboolean
regex_infer (VnOpContext *ctx,
             GError     **error)
{
  g_autoptr(GRegex) regex = regex_compile (ctx, error);

  if (regex == NULL)
    return FALSE;
  vn_op_set_output (ctx, 0, VN_DTYPE_BOOL, &ctx->in_types[0].shape);
  return TRUE;
}

static gboolean
regex_run (VnOpContext *ctx,
           GError     **error)
{
  g_autoptr(GRegex) regex = regex_compile (ctx, error);
  guint8 *out = ctx->out[0]->data;

  for (gsize i = 0; regex != NULL && i < ctx->in[0]->n_elements; i++)
    {
      const char *text = vn_string_get (ctx->in[0], i);
      g_autoptr(GError) wrong = NULL;

      if (!g_utf8_validate (text, -1, NULL))
        return vn_op_fail (ctx, error, _("string %zu is not valid UTF-8"), i);
      out[i] = g_regex_match_full (regex, text, -1, 0, 0, NULL, &wrong);
      if (wrong != NULL)
        {
          g_set_error (error, VN_ERROR, VN_ERROR_LIMIT, _("Matching string %zu takes too many steps: %s. Use a "
                                                          "simpler pattern"), i, wrong->message);
          return FALSE;
        }
    }
  return regex != NULL;
}

const VnOp vn_op_regex_full_match_20 = {
  .domain = "", .type = "RegexFullMatch", .since = 20,
  .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, .max_outputs = 1,
  .dtypes = VN_DTYPE_BIT (STRING),
  .infer = regex_infer,
  .run = regex_run,
};
