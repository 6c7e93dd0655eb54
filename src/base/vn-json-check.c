/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the parser of JSON would take without a word, or be brought down by: looked for in the text before it is parsed. It takes
 * more than JSON, as numbers of other bases and comments between two slashes: what is not read here just as the parser reads it
 * is refused, and comments are taken out. */
#include "vn-json-private.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-memory.h"

#include <string.h>

#define MAX_DEPTH 100     /* the parser calls itself for each level */
#define MAX_SHOWN 40      /* digits of a number in a message */
#define FREE_BYTES ((gsize) 256 << 20)   /* that a parsed text may take, */
#define TIMES 4                          /* and so many times its own size */
#define VALUE_BYTES 110                  /* what a value, a list and an object take, about, beside their texts */
#define LIST_BYTES 250
#define OBJECT_BYTES 500

/* ---- strings and comments ---- */

/* Returns: the last byte of the string that begins at @at, or of the text if it does not end; @at where none begins */
static const char *
json_check_find_end (const char *at,
                     const char *end)
{
  if (*at != '"')
    return at;
  for (at++; at < end && *at != '"'; at++)
    at += *at == '\\';
  return MIN (at, end - 1);
}

static const char *
json_check_find_comment_end (const char *at,
                             const char *end)
{
  const char *close = g_strstr_len (at + 2, end - at - 2, "*/");

  return close != NULL ? close + 1 : end - 1;
}

/*< private >
 * vn_json_dup_without_comments:
 * @text: @length bytes
 *
 * Returns: (transfer full) (nullable): @text with spaces where comments are, of the same length and lines; %NULL if there are
 * none
 */
char *
vn_json_dup_without_comments (const char *text,
                              gsize       length)
{
  char *plain, *end;

  if (g_strstr_len (text, (gssize) length, "/*") == NULL)
    return NULL;
  plain = g_strndup (text, length);
  end = plain + length;
  for (char *at = plain; at < end; at++)
    {
      at = (char *) json_check_find_end (at, end);
      if (at[0] != '/' || at[1] != '*')
        continue;
      for (const char *last = json_check_find_comment_end (at, end); at <= last; at++)
        *at = *at == '\n' ? '\n' : ' ';
      at--;
    }
  return plain;
}

/* ---- memory ---- */

/* What parsing takes is known before: two bytes of a text may become an object. */
static gboolean
json_check_size (const char  *text,
                 gsize        length,
                 const char  *name,
                 GError     **error)
{
  const char *end = text + length;
  gsize n_bytes = 2 * length;

  for (const char *at = text; at < end; at++)
    {
      char c = *at;

      at = json_check_find_end (at, end);
      if (c == ',' || c == ':')
        n_bytes += VALUE_BYTES;
      else if (c == '[' || c == '{')
        n_bytes += c == '[' ? LIST_BYTES : OBJECT_BYTES;
    }
  if (n_bytes <= FREE_BYTES + TIMES * length)
    return vn_memory_expect (n_bytes, error);
  g_set_error (error, VN_ERROR, VN_ERROR_LIMIT, _("%s: parsing its %zu bytes would need %zu MB of memory: it has too "
                                                  "many small elements"),
               name, length, n_bytes >> 20);
  return FALSE;
}

/* ---- escapes ---- */

/* The four hexadecimal digits of an escape, or G_MAXUINT. */
static guint
json_check_read_escape (const char *text,
                        const char *end)
{
  guint value = 0;

  if (end - text < 6 || text[0] != '\\' || text[1] != 'u')
    return G_MAXUINT;
  for (guint i = 2; i < 6; i++)
    {
      if (!g_ascii_isxdigit (text[i]))
        return G_MAXUINT;
      value = value << 4 | (guint) g_ascii_xdigit_value (text[i]);
    }
  return value;
}

/* Halves of surrogate pairs without the other half are no characters, and the parser makes invalid UTF-8 of them; NUL would
 * end the text. What is no escape it takes for one, or loses the memory of it. */
static gboolean
json_check_escapes (const char  *text,
                    gsize        length,
                    const char  *name,
                    GError     **error)
{
  const char *end = text + length;

  for (const char *at = text; at < end; at++)
    {
      gboolean is_escape = *at == '\\' && end - at > 1, is_code = is_escape && at[1] == 'u';
      guint code = is_code ? json_check_read_escape (at, end) : G_MAXUINT;
      gboolean high = code >= 0xd800 && code < 0xdc00;
      guint next = high ? json_check_read_escape (at + 6, end) : 0;

      if (is_code ? code == G_MAXUINT : is_escape && strchr ("\"\\/bfnrt", at[1]) == NULL)
        {
          g_autofree char *shown = g_utf8_substring (at, 0, 2);

          g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("%s: “%s” is not a JSON escape sequence; write a "
                                                              "backslash as \\\\"), name, shown);
          return FALSE;
        }
      if ((high && !(next >= 0xdc00 && next < 0xe000)) || (code >= 0xdc00 && code < 0xe000) || code == 0)
        {
          g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("%s: the escape \\u%04x is not a valid character"), name, code);
          return FALSE;
        }
      at += high ? 11 : *at == '\\';
    }
  return TRUE;
}

/* ---- levels, keys and numbers ---- */

/* @keys: line by key, of the object that is open here; NULL: none was yet
 * @is_object: else a list
 * @wants_key: the next text is a key */
typedef struct
{
  GHashTable *keys;
  gboolean    is_object, wants_key;
} Level;

/* @has_value: one stands there already that is in no other */
typedef struct
{
  const char *at, *end, *name;
  guint       line, depth;
  gboolean    has_value;
  Level       levels[MAX_DEPTH + 1];
} Scan;

/* The parser takes any number of values one after the other, and the last one counts. */
static gboolean
json_check_begin_value (Scan    *self,
                        GError **error)
{
  if (self->depth > 0 || !self->has_value)
    {
      self->has_value = TRUE;
      return TRUE;
    }
  g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("%s, line %u: unexpected content after the end; remove it"),
               self->name, self->line);
  return FALSE;
}

/* With its escapes resolved, so that two ways to write a key are the same. */
static char *
json_check_dup_key (const char *text,
                    gsize       length)
{
  g_autoptr(JsonParser) parser = NULL;
  g_autofree char *list = NULL;

  if (memchr (text, '\\', length) == NULL)
    return g_strndup (text, length);
  parser = json_parser_new ();
  list = g_strdup_printf ("[\"%.*s\"]", (int) length, text);
  if (!json_parser_load_from_data (parser, list, -1, NULL))
    return g_strndup (text, length);      /* the parser will say what is wrong with it */
  return g_strdup (json_array_get_string_element (json_node_get_array (json_parser_get_root (parser)), 0));
}

static gboolean
json_check_key (Scan        *self,
                const char  *text,
                gsize        length,
                GError     **error)
{
  Level *level = &self->levels[self->depth];
  g_autofree char *key = json_check_dup_key (text, length);
  gpointer line;

  if (level->keys == NULL)
    level->keys = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  if (g_hash_table_lookup_extended (level->keys, key, NULL, &line))
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED,
                   _("%s, line %u: duplicate key “%s”, first used in line %u; remove one of them"), self->name,
                   self->line, key, GPOINTER_TO_UINT (line));
      return FALSE;
    }
  g_hash_table_insert (level->keys, g_steal_pointer (&key), GUINT_TO_POINTER (self->line));
  level->wants_key = FALSE;
  return TRUE;
}

static void
json_check_count_lines (Scan       *self,
                        const char *end)
{
  for (; self->at < end; self->at++)
    self->line += *self->at == '\n';
}

static gboolean
json_check_string (Scan    *self,
                   GError **error)
{
  const char *start = self->at + 1, *last = json_check_find_end (self->at, self->end);
  gboolean is_key = self->levels[self->depth].is_object && self->levels[self->depth].wants_key;

  if (is_key && last >= start && !json_check_key (self, start, (gsize) (last - start), error))
    return FALSE;
  json_check_count_lines (self, last);
  return TRUE;
}

/* Shows what stands from @start to where it is now, or the character there. */
static gboolean
json_check_refuse (Scan       *self,
                   const char *start,
                   GError    **error)
{
  glong length = self->at > start ? (glong) (self->at - start) : 1;
  g_autofree char *text = g_utf8_substring (start, 0, MIN (MAX_SHOWN, length));

  g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("%s, line %u: “%s” is not JSON"), self->name, self->line, text);
  return FALSE;
}

static const char *
json_check_skip_digits (Scan *self)
{
  while (self->at < self->end && g_ascii_isdigit (*self->at))
    self->at++;
  return self->at;
}

static gboolean
json_check_take (Scan       *self,
                 const char *any)
{
  if (self->at == self->end || strchr (any, *self->at) == NULL)
    return FALSE;
  self->at++;
  return TRUE;
}

/* As RFC 8259 has it, at @self->at, which moves behind it. */
static gboolean
json_check_is_number (Scan     *self,
                      gboolean *is_whole)
{
  const char *start;

  json_check_take (self, "-");
  start = self->at;
  if (json_check_skip_digits (self) == start || (*start == '0' && self->at - start > 1))
    return FALSE;
  *is_whole = TRUE;
  if (json_check_take (self, "."))
    {
      *is_whole = FALSE;
      start = self->at;
      if (json_check_skip_digits (self) == start)
        return FALSE;
    }
  if (json_check_take (self, "eE"))
    {
      *is_whole = FALSE;
      json_check_take (self, "+-");
      start = self->at;
      if (json_check_skip_digits (self) == start)
        return FALSE;
    }
  return TRUE;
}

static gboolean
json_check_is_word (const char *text,
                    gsize       length)
{
  static const char * const words[] = { "null", "true", "false" };

  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (strlen (words[i]) == length && strncmp (text, words[i], length) == 0)
      return TRUE;
  return FALSE;
}

/* A number or a word. The parser keeps whole numbers in 64 bits and lets the others wrap around. */
static gboolean
json_check_plain (Scan    *self,
                  GError **error)
{
  const char *start = self->at;
  gboolean is_whole = FALSE, is_number = json_check_is_number (self, &is_whole);
  const char *behind = self->at;
  g_autofree char *text = NULL;

  self->at = start;
  while (self->at < self->end && (g_ascii_isalnum (*self->at) || strchr ("+-._", *self->at) != NULL))
    self->at++;
  if (!(is_number && behind == self->at) && !json_check_is_word (start, (gsize) (self->at - start)))
    return json_check_refuse (self, start, error);
  text = g_strndup (start, (gsize) (self->at - start));
  self->at--;
  if (!is_whole || g_ascii_string_to_signed (text, 10, G_MININT64, G_MAXINT64, NULL, NULL))
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("%s, line %u: the number %.*s%s does not fit into 64 bits"), self->name,
               self->line,
               MAX_SHOWN, text, strlen (text) > MAX_SHOWN ? "…" : "");
  return FALSE;
}

static gboolean
json_check_open (Scan      *self,
                 gboolean   is_object,
                 GError   **error)
{
  Level *level;

  if (self->depth == MAX_DEPTH)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_LIMIT, _("%s: nested more than %d levels deep"), self->name, MAX_DEPTH);
      return FALSE;
    }
  level = &self->levels[++self->depth];
  level->is_object = level->wants_key = is_object;
  if (level->keys != NULL)
    g_hash_table_remove_all (level->keys);
  return TRUE;
}

/* Moves to the last byte of what it has read. */
static gboolean
json_check_token (Scan    *self,
                  GError **error)
{
  Level *level = &self->levels[self->depth];
  char c = *self->at;

  if (strchr ("]},: \t\r\n", c) == NULL)
    {
      if (!json_check_begin_value (self, error))
        return FALSE;
      if (c == '"')
        return json_check_string (self, error);
      return c == '{' || c == '[' ? json_check_open (self, c == '{', error) : json_check_plain (self, error);
    }
  if ((c == '}' || c == ']') && self->depth > 0)
    self->depth--;
  else if (c == ',')
    level->wants_key = level->is_object;
  self->line += c == '\n';
  return TRUE;
}

/*< private >
 * vn_json_check_text:
 * @text: valid UTF-8 without comments, with a NUL or anything else behind it
 * @name: what it is called in messages
 *
 * Returns: %FALSE with %VN_ERROR_MALFORMED if a key stands twice in an object, a whole number does not fit into 64 bits, an
 *   escape stands for no character, a word or number is none of JSON, or there is more than one value; with %VN_ERROR_LIMIT if it
 *   is nested too deep or consists of too many parts
 */
gboolean
vn_json_check_text (const char  *text,
                    gsize        length,
                    const char  *name,
                    GError     **error)
{
  Scan self = { text, text + length, name, 1 };
  gboolean good = json_check_size (text, length, name, error) && json_check_escapes (text, length, name, error);

  for (; good && self.at < self.end; self.at++)
    good = json_check_token (&self, error);
  for (guint i = 0; i <= MAX_DEPTH; i++)
    g_clear_pointer (&self.levels[i].keys, g_hash_table_unref);
  return good;
}
