/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Texts and numbers as Python and JSON print them, one after the other. */
#include "python-text.h"

static void
python_text_skip (const char **at)
{
  while (g_ascii_isspace (**at))
    (*at)++;
}

/*< private >
 * _vn_python_take_char:
 * @at: (inout): behind @wanted afterwards, if that comes next, blanks aside
 */
gboolean
_vn_python_take_char (const char **at,
                      char         wanted)
{
  python_text_skip (at);
  if (**at != wanted)
    return FALSE;
  (*at)++;
  return TRUE;
}

/*< private >
 * _vn_python_take_number:
 * @at: (inout): behind the number afterwards
 * @most: no larger number is taken
 *
 * Returns: whether a number without a sign comes next, blanks aside
 */
gboolean
_vn_python_take_number (const char **at,
                        guint        most,
                        guint       *number)
{
  char *end;
  guint64 value;

  python_text_skip (at);
  if (!g_ascii_isdigit (**at))
    return FALSE;
  value = g_ascii_strtoull (*at, &end, 10);
  if (value > most)
    return FALSE;
  *number = (guint) value;
  *at = end;
  return TRUE;
}

/* A character by its number in @n_digits hexadecimal digits. */
static gboolean
python_text_take_code (const char **at,
                       guint        n_digits,
                       GString     *text)
{
  gunichar code = 0;

  for (guint i = 0; i < n_digits; i++, (*at)++)
    {
      if (!g_ascii_isxdigit (**at))
        return FALSE;
      code = code << 4 | (gunichar) g_ascii_xdigit_value (**at);
    }
  if (!g_unichar_validate (code) || code == 0)
    return FALSE;
  g_string_append_unichar (text, code);
  return TRUE;
}

/* What stands after a backslash. */
static gboolean
python_text_take_escape (const char **at,
                         GString     *text)
{
  const char letter = **at;

  if (letter == '\0')
    return FALSE;
  (*at)++;
  if (letter == 'x' || letter == 'u' || letter == 'U')
    return python_text_take_code (at, letter == 'x' ? 2 : letter == 'u' ? 4 : 8, text);
  g_string_append_c (text, letter == 'n' ? '\n' : letter == 't' ? '\t' : letter == 'r' ? '\r' : letter);
  return TRUE;
}

/*< private >
 * _vn_python_take_text:
 * @at: (inout): behind the text afterwards
 *
 * Returns: (transfer full) (nullable): the text in quotes of either kind that comes next, blanks aside; always UTF-8
 */
char *
_vn_python_take_text (const char **at)
{
  g_autoptr(GString) text = g_string_new (NULL);
  char quote;

  python_text_skip (at);
  quote = **at;
  if (quote != '\'' && quote != '"')
    return NULL;
  for ((*at)++; **at != quote;)
    {
      if (**at == '\0')
        return NULL;
      if (**at != '\\')
        g_string_append_c (text, *(*at)++);
      else if ((*at)++, !python_text_take_escape (at, text))
        return NULL;
    }
  (*at)++;
  return g_utf8_make_valid (text->str, (gssize) text->len);
}
