/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A table of names and values: a line for each node, with comma, semicolon or tab between; a name in quotes may hold all of them.
 * Beside a semicolon or a tab numbers may have a decimal comma, as spreadsheets write them. */
#include "node-data-read.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-shown.h"

#include <math.h>
#include <string.h>

#define MOST_SHOWN 40    /* characters of the file in a message */
#define MOST_ROWS 500000u

/* @lines: line by name */
typedef struct
{
  GPtrArray  *data;
  GHashTable *lines;
  char        separator;   /* NUL: not known yet */
  guint       line;
  gboolean    has_rows;
} Table;

static gboolean
node_data_table_fail (const Table  *self,
                      GError      **error,
                      const char   *format,
                      ...) G_GNUC_PRINTF (3, 4);

static gboolean
node_data_table_fail (const Table  *self,
                      GError      **error,
                      const char   *format,
                      ...)
{
  g_autofree char *text = NULL;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  /* Translators: the number of a line, and what is wrong in it */
  g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("line %u: %s"), self->line, text);
  return FALSE;
}

static char *
node_data_table_dup_shown (const char *text)
{
  g_autofree char *shown = vn_shown_dup (text), *start = NULL;

  if (g_utf8_strlen (shown, -1) <= MOST_SHOWN)
    return g_steal_pointer (&shown);
  start = g_utf8_substring (shown, 0, MOST_SHOWN);
  return g_strconcat (start, "…", NULL);
}

/* What stands outside of quotes decides, the rarest first: a comma may be one of a number. */
static char
node_data_table_find_separator (const char *line)
{
  gboolean quoted = FALSE, has_semicolon = FALSE;

  for (; *line != '\0'; line++)
    {
      quoted ^= *line == '"';
      if (!quoted && *line == '\t')
        return '\t';
      has_semicolon |= !quoted && *line == ';';
    }
  return has_semicolon ? ';' : ',';
}

/* Takes the field at @at, which moves behind it; NULL: a quote does not end, or is followed by more. */
static char *
node_data_table_take_field (const Table  *self,
                            const char  **at)
{
  g_autoptr(GString) field = g_string_new (NULL);
  const char *end;

  if (**at != '"')
    {
      end = *at + strcspn (*at, (const char []) { self->separator, '\0' });
      g_string_append_len (field, *at, end - *at);
      *at = end;
      return g_strstrip (g_string_free (g_steal_pointer (&field), FALSE));
    }
  for (end = *at + 1; *end != '\0' && !(end[0] == '"' && end[1] != '"'); end++)
    {
      end += *end == '"';
      g_string_append_c (field, *end);
    }
  if (*end != '"')
    return NULL;
  for (end++; *end == ' '; end++)
    ;
  *at = end;
  return *end == '\0' || *end == self->separator ? g_string_free (g_steal_pointer (&field), FALSE) : NULL;
}

/* Returns: whether @text is a number as a whole; words such as "nan" are numbers that are not finite. */
static gboolean
node_data_table_read_number (const Table *self,
                             const char  *text,
                             double      *number)
{
  g_autofree char *plain = g_strdup (text);
  char *end;

  if (self->separator != ',' && strchr (plain, '.') == NULL)
    g_strdelimit (plain, ",", '.');
  *number = g_ascii_strtod (plain, &end);
  return *plain != '\0' && *end == '\0' && strpbrk (plain, "xX") == NULL;
}

static gboolean
node_data_table_read_line (VnNodeData  *numbers,
                           Table       *self,
                           const char  *line,
                           GError     **error)
{
  const char *at = line;
  g_autofree char *name = node_data_table_take_field (self, &at), *text = NULL, *shown = NULL;
  double value;
  guint first;

  if (name != NULL && *at != '\0')
    {
      for (at++; *at == ' '; at++)
        ;
      text = node_data_table_take_field (self, &at);
    }
  else if (name != NULL)
    return node_data_table_fail (self, error, _("expected a name and a value, found one field"));
  if (text == NULL)
    return node_data_table_fail (self, error, _("a quotation mark is not closed, or text follows it"));
  if (*at != '\0')
    return node_data_table_fail (self, error, _("expected a name and a value, found more fields"));
  shown = node_data_table_dup_shown (text);
  if (!node_data_table_read_number (self, text, &value))
    {
      if (!self->has_rows)
        {
          self->has_rows = TRUE;    /* they are titles */
          return TRUE;
        }
      return node_data_table_fail (self, error, _("“%s” is not a number"), shown);
    }
  self->has_rows = TRUE;
  if (*name == '\0')
    return node_data_table_fail (self, error, _("the name is empty"));
  first = GPOINTER_TO_UINT (g_hash_table_lookup (self->lines, name));
  if (first > 0)
    {
      g_autofree char *twice = node_data_table_dup_shown (name);

      return node_data_table_fail (self, error, _("“%s” was already given in line %u"), twice, first);
    }
  g_hash_table_insert (self->lines, g_strdup (name), GUINT_TO_POINTER (self->line));
  if (g_hash_table_size (self->lines) > MOST_ROWS)
    return node_data_table_fail (self, error, _("more than %u names"), MOST_ROWS);
  if (isfinite (value))
    _vn_node_data_add (self->data, name, NULL, value);
  else
    numbers->n_skipped++;
  return TRUE;
}

/*< private >
 * _vn_node_data_read_table:
 *
 * Adds the numbers of a table. A first line whose value is no number has the titles.
 */
gboolean
_vn_node_data_read_table (VnNodeData  *self,
                          const char  *text,
                          GError     **error)
{
  g_autoptr(GHashTable) lines = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  Table table = { _vn_node_data_add_graph (self, NULL), lines, '\0', 0, FALSE };
  const char *at = g_str_has_prefix (text, "\xef\xbb\xbf") ? text + 3 : text;

  while (*at != '\0')
    {
      gsize length = strcspn (at, "\n");
      g_autofree char *line = g_strndup (at, length);

      table.line++;
      at += length + (at[length] == '\n');
      if (*g_strchomp (line) == '\0')
        continue;
      if (table.separator == '\0')
        table.separator = node_data_table_find_separator (line);
      if (!node_data_table_read_line (self, &table, line, error))
        return FALSE;
    }
  return TRUE;
}
