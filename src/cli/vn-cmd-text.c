/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text in columns, for --help and "list". */
#include "vn-cmd-help.h"

/**
 * vn_cmd_append_wrapped:
 * @text: what stands in front ends at @column
 * @words: words with single spaces between them
 * @indent: column that further lines begin at
 *
 * Appends @words, broken between words so that no line has more than %VN_CMD_COLUMNS columns, and a line break.
 */
void
vn_cmd_append_wrapped (GString    *text,
                       const char *words,
                       guint       column,
                       guint       indent)
{
  g_auto(GStrv) parts = g_strsplit (words, " ", -1);
  gboolean first = TRUE;

  g_return_if_fail (text != NULL);

  for (guint i = 0; parts[i] != NULL; i++)
    {
      guint length = (guint) g_utf8_strlen (parts[i], -1);

      if (!first && column + 1 + length > VN_CMD_COLUMNS)
        {
          g_string_append_printf (text, "\n%*s", (int) indent, "");
          column = indent;
          first = TRUE;
        }
      g_string_append_printf (text, "%s%s", first ? "" : " ", parts[i]);
      column += length + !first;
      first = FALSE;
    }
  g_string_append_c (text, '\n');
}

/**
 * vn_cmd_append_item:
 * @left: what is explained, in the left column
 * @right: the explanation
 * @width: of the left column, with the space around it; a longer @left has a line of its own
 */
void
vn_cmd_append_item (GString    *text,
                    const char *left,
                    const char *right,
                    guint       width)
{
  guint length = (guint) g_utf8_strlen (left, -1) + 2;

  g_return_if_fail (text != NULL);

  g_string_append_printf (text, "  %s", left);
  if (length + 2 > width)
    g_string_append_printf (text, "\n%*s", (int) width, "");
  else
    g_string_append_printf (text, "%*s", (int) (width - length), "");
  vn_cmd_append_wrapped (text, right, width, width);
}
