/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Patterns of a tokenizer.json. They are written for Oniguruma with Ruby's syntax; GRegex is PCRE2. What both write and mean
 * alike is taken as it is, classes that differ are written out, and all else is refused: no text is split in another way than
 * the model was trained with. */
#include "tokenizer-private.h"

#include "vn-error.h"
#include "vn-i18n.h"

#include <string.h>

#define LONGEST_PATTERN 65536
#define MOST_STEPS "(*LIMIT_MATCH=10000000)"     /* of one match, so that no pattern takes forever */

/* White_Space, Nd and Word of Unicode, for use within brackets */
#define SPACE "\\p{Z}\\t-\\r\\x{85}"
#define DIGIT "\\p{Nd}"
#define WORD "\\p{L}\\p{M}\\p{Nd}\\p{Nl}\\p{Pc}" \
  "\\x{24B6}-\\x{24E9}\\x{1F130}-\\x{1F149}\\x{1F150}-\\x{1F169}\\x{1F170}-\\x{1F189}"

static const struct { char small; const char *members; } classes[] = {
  { 's', SPACE }, { 'd', DIGIT }, { 'w', WORD },
};

/* Groups that mean the same in both. */
static const char * const groups[] = { "(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?i:" };

typedef struct
{
  const char *pattern, *at;
  GString    *out;
  gboolean    in_class;
} Translator;

static gboolean
pattern_refuse (const Translator  *self,
                gsize              n,
                GError           **error)
{
  g_autofree char *part = g_strndup (self->at, n);
  g_autofree char *valid = g_utf8_make_valid (part, -1);

  g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("“%s” in a regular expression is not supported"), valid);
  return FALSE;
}

/* \p{…}: one or two letters are a category, a longer name is that of a script. */
static gboolean
pattern_translate_property (Translator  *self,
                            GError     **error)
{
  const char *name = self->at + 3;
  const gsize n = self->at[2] == '{' ? strcspn (name, "}") : 0;

  if (n == 0 || name[n] != '}' || strspn (name, G_CSET_A_2_Z G_CSET_a_2_z "_") < n)
    return pattern_refuse (self, MIN (n + 4, strlen (self->at)), error);
  g_string_append_printf (self->out, "\\%c{%s%.*s}", self->at[1], n > 2 ? "sc:" : "", (int) n, name);
  self->at = name + n + 1;
  return TRUE;
}

static gboolean
pattern_translate_code (Translator  *self,
                        GError     **error)
{
  if (strspn (self->at + 2, "0123456789abcdefABCDEF") < 4)
    return pattern_refuse (self, MIN ((gsize) 6, strlen (self->at)), error);
  g_string_append_printf (self->out, "\\x{%.4s}", self->at + 2);
  self->at += 6;
  return TRUE;
}

static gboolean
pattern_translate_escape (Translator  *self,
                          GError     **error)
{
  const char c = self->at[1];

  for (guint i = 0; i < G_N_ELEMENTS (classes); i++)
    if (g_ascii_tolower (c) == classes[i].small)
      {
        const gboolean not = g_ascii_isupper (c);

        if (not && self->in_class)
          return pattern_refuse (self, 2, error);
        g_string_append_printf (self->out, self->in_class ? "%s%s" : "[%s%s]", not ? "^" : "", classes[i].members);
        self->at += 2;
        return TRUE;
      }
  if (c == 'p' || c == 'P')
    return pattern_translate_property (self, error);
  if (c == 'u')
    return pattern_translate_code (self, error);
  if (c == '\0' || (g_ascii_isalnum (c) && strchr ("nrtfx", c) == NULL))
    return pattern_refuse (self, c == '\0' ? 1 : 2, error);
  g_string_append_len (self->out, self->at, c > 0 ? 2 : 1);
  self->at += c > 0 ? 2 : 1;
  return TRUE;
}

static gboolean
pattern_translate_group (Translator  *self,
                         GError     **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (groups); i++)
    if (g_str_has_prefix (self->at, groups[i]))
      {
        g_string_append (self->out, groups[i]);
        self->at += strlen (groups[i]);
        return TRUE;
      }
  if (self->at[1] == '?' || self->at[1] == '*')
    return pattern_refuse (self, MIN ((gsize) 3, strlen (self->at)), error);
  g_string_append (self->out, "(?:");
  self->at++;
  return TRUE;
}

/* {2,3}: without a lower number, or with + behind it, it means something else in each. */
static gboolean
pattern_translate_count (Translator  *self,
                         GError     **error)
{
  const gsize n = strspn (self->at + 1, "0123456789,") + 2;

  if (!g_ascii_isdigit (self->at[1]) || self->at[n - 1] != '}' || self->at[n] == '+')
    return pattern_refuse (self, MIN (n + 1, strlen (self->at)), error);
  g_string_append_len (self->out, self->at, (gssize) n);
  self->at += n;
  return TRUE;
}

static gboolean
pattern_translate_one (Translator  *self,
                       GError     **error)
{
  const char c = *self->at;

  if (c == '\\')
    return pattern_translate_escape (self, error);
  if (self->in_class && (c == '[' || g_str_has_prefix (self->at, "&&")))
    return pattern_refuse (self, 2, error);
  if (!self->in_class && c == '(')
    return pattern_translate_group (self, error);
  if (!self->in_class && c == '{')
    return pattern_translate_count (self, error);
  if (c == '[')
    {
      const gsize n = self->at[1] == '^' ? 2 : 1;

      if (self->at[n] == ']')
        return pattern_refuse (self, n + 1, error);
      g_string_append_len (self->out, self->at, (gssize) n);
      self->at += n;
      self->in_class = TRUE;
      return TRUE;
    }
  self->in_class &= c != ']';
  g_string_append_c (self->out, c);
  self->at++;
  return TRUE;
}

/**
 * tokenizer_pattern_compile:
 * @pattern: as a tokenizer.json has it
 *
 * Returns: (transfer full) (nullable): it for GRegex; %VN_ERROR_UNSUPPORTED names what is not known to mean the same there
 */
GRegex *
tokenizer_pattern_compile (const char  *pattern,
                           GError     **error)
{
  g_autoptr(GString) out = g_string_new (MOST_STEPS);
  Translator translator = { .pattern = pattern, .at = pattern, .out = out };
  g_autoptr(GError) reason = NULL;
  GRegex *regex;

  if (*pattern == '\0' || strlen (pattern) > LONGEST_PATTERN)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("a regular expression has %zu bytes; 1 to %d are supported"),
                   strlen (pattern), LONGEST_PATTERN);
      return NULL;
    }
  while (*translator.at != '\0')
    if (!pattern_translate_one (&translator, error))
      return NULL;
  regex = g_regex_new (out->str, G_REGEX_OPTIMIZE | G_REGEX_MULTILINE | G_REGEX_NEWLINE_LF, G_REGEX_MATCH_NEWLINE_LF, &reason);
  if (regex == NULL)
    g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("the regular expression “%s” is not supported: %s"), pattern,
                 reason->message);
  return regex;
}

/**
 * tokenizer_pattern_read:
 * @id: of a member {"Regex": …} or {"String": …}
 */
void
tokenizer_pattern_read (TokenizerStep *step,
                        VnJsonFields  *fields,
                        const char    *id)
{
  static const char * const forms[] = { "Regex", "String", NULL };
  g_autofree char *regex = NULL, *text = NULL;
  GError *reason = NULL;
  VnJsonFields pattern;

  vn_json_fields_enter (&pattern, fields, id);
  tokenizer_fields_check (&pattern, forms);
  if (vn_json_fields_has (&pattern, "String"))
    text = tokenizer_fields_dup_content (&pattern, "String");
  else
    regex = vn_json_fields_dup_text (&pattern, "Regex");
  if (text != NULL && *text == '\0')
    vn_json_fields_fail (&pattern, "String", _("is empty"));
  if (regex != NULL)
    {
      step->regex = tokenizer_pattern_compile (regex, &reason);
      if (reason != NULL)
        g_prefix_error (&reason, "%s.Regex: ", pattern.where);
      vn_json_fields_take_error (&pattern, reason);
    }
  step->literal = g_steal_pointer (&text);
  vn_json_fields_leave (&pattern, fields);
}

/* ---- looking ---- */

static void
pattern_add (GArray   *spans,
             gsize     start,
             gsize     end,
             gboolean  is_match)
{
  TokenizerSpan span = { start, end, is_match };

  g_array_append_val (spans, span);
}

static void
pattern_find_literal (const char *literal,
                      const char *text,
                      gsize       length,
                      GArray     *spans)
{
  const gsize n = strlen (literal);
  gsize last = 0;

  for (const char *at; (at = memmem (text + last, length - last, literal, n)) != NULL; last = (gsize) (at - text) + n)
    {
      if (at > text + last)
        pattern_add (spans, last, (gsize) (at - text), FALSE);
      pattern_add (spans, (gsize) (at - text), (gsize) (at - text) + n, TRUE);
    }
  if (last < length)
    pattern_add (spans, last, length, FALSE);
}

/**
 * tokenizer_pattern_find:
 * @spans: (element-type TokenizerSpan): appended to: all of @text, what fits the pattern and what lies between
 */
gboolean
tokenizer_pattern_find (const TokenizerStep  *step,
                        const char           *text,
                        gsize                 length,
                        GArray               *spans,
                        GError              **error)
{
  g_autoptr(GMatchInfo) match = NULL;
  g_autoptr(GError) reason = NULL;
  gsize last = 0;
  int start, end;

  if (step->literal != NULL)
    {
      pattern_find_literal (step->literal, text, length, spans);
      return TRUE;
    }
  g_regex_match_full (step->regex, text, (gssize) length, 0, 0, &match, &reason);
  for (guint n = 1; reason == NULL && g_match_info_matches (match); g_match_info_next (match, &reason), n++)
    {
      if (!g_match_info_fetch_pos (match, 0, &start, &end))
        break;
      if ((gsize) start > last)
        pattern_add (spans, last, (gsize) start, FALSE);
      pattern_add (spans, (gsize) start, (gsize) end, TRUE);
      last = (gsize) end;
      if (n % 4096 == 0 && g_cancellable_set_error_if_cancelled (g_cancellable_get_current (), error))
        return FALSE;
    }
  if (reason != NULL)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_LIMIT, _("a regular expression took too long on the text: %s"), reason->message);
      return FALSE;
    }
  if (last < length)
    pattern_add (spans, last, length, FALSE);
  return TRUE;
}
