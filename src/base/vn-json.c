/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading JSON from anybody (limits, checked texts, typed values with errors that say where), and writing it. */
#include "vn-json-private.h"

#include "vn-error.h"
#include "vn-file.h"
#include "vn-i18n.h"
#include "vn-memory.h"
#include "vn-message.h"

#include <math.h>

#define MAX_BYTES ((gsize) 64 << 20)
#define MAX_EXACT 9007199254740992.0   /* up to 2^53 a double holds every whole number */

/**
 * vn_json_parse:
 * @name: what the text is called in messages
 *
 * Returns: (transfer full) (nullable): the root, or %VN_ERROR_MALFORMED, %VN_ERROR_LIMIT
 */
JsonNode *
vn_json_parse (const char  *text,
               gssize       length,
               const char  *name,
               GError     **error)
{
  g_autoptr(JsonParser) parser = json_parser_new_immutable ();
  g_autoptr(GError) reason = NULL;
  g_autofree char *plain = NULL;
  const char *said;
  gsize size;

  g_return_val_if_fail (text != NULL, NULL);

  size = length < 0 ? strlen (text) : (gsize) length;
  if (size > MAX_BYTES)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_LIMIT, _("%s: larger than %d MB"), name, (int) (MAX_BYTES >> 20));
      return NULL;
    }
  if (!g_utf8_validate_len (text, size, NULL))
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("%s: not JSON: the text is not valid UTF-8"), name);
      return NULL;
    }
  plain = vn_json_dup_without_comments (text, size);
  if (plain != NULL)
    text = plain;
  if (!vn_json_check_text (text, size, name, error))
    return NULL;
  if (!json_parser_load_from_data (parser, text, (gssize) size, &reason))
    {
      /* The parser quotes what it has made of escapes, or half a character. */
      vn_message_make_valid (&reason);
      /* It calls every text so, and says line and column behind it. */
      said = g_str_has_prefix (reason->message, "<data>:") ? reason->message + strlen ("<data>") : NULL;
      g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, "%s%s%s", name, said != NULL ? "" : ": ", said != NULL
                   ? said : reason->message);
      return NULL;
    }
  if (json_parser_get_root (parser) == NULL)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("%s: the file is empty"), name);
      return NULL;
    }
  return json_node_copy (json_parser_get_root (parser));
}

static gpointer
json_read_text (const char  *text,
                gssize       length,
                const char  *name,
                GError     **error)
{
  return vn_json_parse (text, length, name, error);
}

/**
 * vn_json_load:
 *
 * Returns: (transfer full) (nullable): the root of a file
 */
JsonNode *
vn_json_load (const char  *path,
              GError     **error)
{
  g_return_val_if_fail (path != NULL, NULL);

  return vn_file_parse (path, json_read_text, (GDestroyNotify) json_node_unref, error);
}

/* The generator writes 1e+40 as 1e+40.0, which is no JSON: leaves the .0 out where it follows an exponent. */
static char *
json_mend_numbers (const char *text)
{
  g_autoptr(GString) mended = g_string_sized_new (strlen (text));
  gboolean quoted = FALSE, exponent = FALSE;

  for (const char *at = text; *at != '\0'; at++)
    {
      if (quoted && *at == '\\')
        g_string_append_c (mended, *at++);
      else if (*at == '"')
        quoted = !quoted;
      else if (!quoted && *at == 'e')
        exponent = g_ascii_isdigit (at[-(at > text)]);
      else if (exponent && at[0] == '.' && at[1] == '0')
        {
          at++;
          continue;
        }
      else if (!g_ascii_isdigit (*at) && *at != '+' && *at != '-')
        exponent = FALSE;
      g_string_append_c (mended, *at);
    }
  return g_string_free (g_steal_pointer (&mended), FALSE);
}

/**
 * vn_json_to_text:
 *
 * Returns: (transfer full): indented, with a newline at the end; valid UTF-8 whatever the texts are
 */
char *
vn_json_to_text (JsonNode *root)
{
  g_autoptr(JsonGenerator) generator = json_generator_new ();
  g_autofree char *text = NULL, *valid = NULL, *mended = NULL;

  g_return_val_if_fail (root != NULL, NULL);

  json_generator_set_root (generator, root);
  json_generator_set_pretty (generator, TRUE);
  text = json_generator_to_data (generator, NULL);
  valid = g_utf8_make_valid (text, -1);
  mended = json_mend_numbers (valid);
  return g_strconcat (mended, "\n", NULL);
}

/* ---- values ---- */

static const char *
json_describe (JsonNode *node)
{
  if (JSON_NODE_HOLDS_OBJECT (node))
    return _("an object");
  if (JSON_NODE_HOLDS_ARRAY (node))
    return _("an array");
  if (JSON_NODE_HOLDS_NULL (node))
    return _("null");
  switch (json_node_get_value_type (node))
    {
    case G_TYPE_STRING:
      return _("a string");
    case G_TYPE_BOOLEAN:
      return _("true or false");
    default:
      return _("a number");
    }
}

static gboolean
json_expect (gboolean     is,
             JsonNode    *node,
             const char  *where,
             const char  *what,
             GError     **error)
{
  if (!is)
    g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("%s: expected %s, found %s"), where, what, json_describe (node));
  return is;
}

/**
 * vn_json_get_object:
 * @where: what the value is called: "rules[2]"
 *
 * Returns: (transfer none) (nullable): the object, or %VN_ERROR_SETTING saying what is there instead
 */
JsonObject *
vn_json_get_object (JsonNode    *node,
                    const char  *where,
                    GError     **error)
{
  g_return_val_if_fail (node != NULL, NULL);

  return json_expect (JSON_NODE_HOLDS_OBJECT (node), node, where, _("an object"), error) ? json_node_get_object (node) : NULL;
}

JsonArray *
vn_json_get_array (JsonNode    *node,
                   const char  *where,
                   GError     **error)
{
  g_return_val_if_fail (node != NULL, NULL);

  return json_expect (JSON_NODE_HOLDS_ARRAY (node), node, where, _("an array"), error) ? json_node_get_array (node) : NULL;
}

const char *
vn_json_get_string (JsonNode    *node,
                    const char  *where,
                    GError     **error)
{
  gboolean is;

  g_return_val_if_fail (node != NULL, NULL);

  is = JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING;
  return json_expect (is, node, where, _("a string"), error) ? json_node_get_string (node) : NULL;
}

gboolean
vn_json_get_number (JsonNode    *node,
                    const char  *where,
                    double      *number,
                    GError     **error)
{
  GType type;

  g_return_val_if_fail (node != NULL, FALSE);

  type = JSON_NODE_HOLDS_VALUE (node) ? json_node_get_value_type (node) : G_TYPE_INVALID;
  if (!json_expect (type == G_TYPE_INT64 || type == G_TYPE_DOUBLE, node, where, _("a number"), error))
    return FALSE;
  *number = json_node_get_double (node);
  return json_expect (isfinite (*number), node, where, _("a finite number"), error);
}

/**
 * vn_json_get_any_number:
 *
 * Reads what vn_json_add_number() writes: also “nan”, “inf” and “-inf”.
 *
 * Returns: %FALSE with %VN_ERROR_SETTING saying what is there instead
 */
gboolean
vn_json_get_any_number (JsonNode    *node,
                        const char  *where,
                        double      *number,
                        GError     **error)
{
  static const struct { const char *text; double number; } others[] =
    { { "nan", NAN }, { "inf", INFINITY }, { "-inf", -INFINITY } };
  const char *text;

  g_return_val_if_fail (node != NULL, FALSE);

  text = JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING ? json_node_get_string (node)
                                                                                          : NULL;
  if (text == NULL)
    return vn_json_get_number (node, where, number, error);
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    if (g_str_equal (others[i].text, text))
      {
        *number = others[i].number;
        return TRUE;
      }
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("%s is “%s”; expected a number, “nan”, “inf” or “-inf”"), where, text);
  return FALSE;
}

/**
 * vn_json_get_count:
 * @count: (out): a whole number from 0 to @most, exact
 *
 * Returns: %FALSE with %VN_ERROR_SETTING saying what is there instead
 */
gboolean
vn_json_get_count (JsonNode    *node,
                   const char  *where,
                   guint64      most,
                   guint64     *count,
                   GError     **error)
{
  double value;

  g_return_val_if_fail (node != NULL, FALSE);

  if (!vn_json_get_number (node, where, &value, error))
    return FALSE;
  if (json_node_get_value_type (node) == G_TYPE_INT64)
    *count = (guint64) MAX (json_node_get_int (node), 0);
  else
    *count = value >= 0 && value <= MAX_EXACT ? (guint64) value : 0;
  if (value >= 0 && value == floor (value) && (value == 0 || *count > 0) && *count <= most)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("%s is %g; expected an integer from 0 to %llu"), where, value,
               (unsigned long long) most);
  return FALSE;
}

gboolean
vn_json_get_boolean (JsonNode    *node,
                     const char  *where,
                     gboolean    *value,
                     GError     **error)
{
  gboolean is;

  g_return_val_if_fail (node != NULL, FALSE);

  is = JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_BOOLEAN;
  if (!json_expect (is, node, where, _("true or false"), error))
    return FALSE;
  *value = json_node_get_boolean (node);
  return TRUE;
}
