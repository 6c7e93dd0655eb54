/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mutate-file.h"

#include "vn-json.h"

#include <string.h>

/* Members and elements of a text, each with what holds it. */
typedef struct
{
  JsonNode   *holder;
  const char *name;     /* NULL: an element */
  guint       at;
} Place;

static const char * const values[] = {
  "null", "true", "false", "0", "-1", "1", "2", "8", "0.5", "1e308", "-1e-320", "9223372036854775807", "-9223372036854775808",
  "4294967296",
  "\"\"", "\"a\"", "\"*\"", "\"type:Conv\"", "\"nan\"", "\"0.5\"", "\"\\u0000\"", "\"\xc3\x9c\"", "\"../x\"", "\"/x\"", "[]",
  "{}", "[[]]", "[1, 2]",
  "[\"a\", \"a\"]", "{\"a\": 1}",
};

static void
collect (JsonNode *node,
         GArray   *places)
{
  if (JSON_NODE_HOLDS_ARRAY (node))
    for (guint i = 0; i < json_array_get_length (json_node_get_array (node)); i++)
      {
        const Place place = { node, NULL, i };

        g_array_append_val (places, place);
        collect (json_array_get_element (json_node_get_array (node), i), places);
      }
  else if (JSON_NODE_HOLDS_OBJECT (node))
    {
      JsonObjectIter iter;
      const char *name;
      JsonNode *member;

      json_object_iter_init_ordered (&iter, json_node_get_object (node));
      while (json_object_iter_next_ordered (&iter, &name, &member))
        {
          const Place place = { node, name, 0 };

          g_array_append_val (places, place);
          collect (member, places);
        }
    }
}

static JsonNode *
get_value (const Place *place)
{
  return place->name != NULL ? json_object_get_member (json_node_get_object (place->holder), place->name)
                             : json_array_get_element (json_node_get_array (place->holder), place->at);
}

static JsonNode *
make_value (const char *text)
{
  JsonNode *node = json_from_string (text, NULL);

  return node != NULL ? node : json_node_new (JSON_NODE_NULL);
}

/* Down to its leaves: it may be put into itself. */
static JsonNode *
copy_value (const Place *place)
{
  g_autofree char *text = json_to_string (get_value (place), FALSE);

  return make_value (text);
}

/* A new array of the elements, with @value (transfer full) (nullable) instead of, or behind, the one at @place. */
static void
rebuild_array (const Place *place,
               JsonNode    *value,
               guint        n_more)
{
  JsonArray *before = json_node_get_array (place->holder);
  g_autoptr(JsonArray) after = json_array_new ();

  for (guint i = 0; i < json_array_get_length (before); i++)
    {
      if (i != place->at || n_more > 0)
        json_array_add_element (after, json_node_copy (json_array_get_element (before, i)));
      for (guint k = 0; i == place->at && value != NULL && k < MAX (n_more, 1); k++)
        json_array_add_element (after, json_node_copy (value));
    }
  g_clear_pointer (&value, json_node_unref);
  json_node_set_array (place->holder, after);
}

static void
put_value (const Place *place,
           JsonNode    *value)
{
  if (place->name == NULL)
    rebuild_array (place, value, 0);
  else if (value != NULL)
    json_object_set_member (json_node_get_object (place->holder), place->name, value);
  else
    json_object_remove_member (json_node_get_object (place->holder), place->name);
}

static JsonNode *
draw_value (GRand *rand)
{
  return make_value (values[g_rand_int_range (rand, 0, (gint32) G_N_ELEMENTS (values))]);
}

/* Under the name of another member, which may be none of this object. */
static void
rename_member (const Place *place,
               const Place *other,
               GRand       *rand)
{
  g_autofree char *name = g_strdup (other->name != NULL ? other->name : "a");
  JsonNode *value = copy_value (place);

  if (place->name != NULL && g_rand_boolean (rand))
    json_object_remove_member (json_node_get_object (place->holder), place->name);
  if (place->name != NULL)
    json_object_set_member (json_node_get_object (place->holder), name, value);
  else
    rebuild_array (place, value, 1);
}

static void
mutate_once (JsonNode *root,
             GRand    *rand)
{
  g_autoptr(GArray) places = g_array_new (FALSE, FALSE, sizeof (Place));
  const Place *place, *other;

  collect (root, places);
  if (places->len == 0)
    return;
  place = &g_array_index (places, Place, g_rand_int_range (rand, 0, (gint32) places->len));
  other = &g_array_index (places, Place, g_rand_int_range (rand, 0, (gint32) places->len));
  switch (g_rand_int_range (rand, 0, 6))
    {
    case 0:
      put_value (place, NULL);
      break;
    case 1:
      put_value (place, copy_value (other));
      break;
    case 2:
      rename_member (place, other, rand);
      break;
    case 3:
      if (place->name == NULL)
        rebuild_array (place, copy_value (place), (guint) g_rand_int_range (rand, 1, 20));
      break;
    default:
      put_value (place, draw_value (rand));
      break;
    }
}

gboolean
mutate_json (GByteArray *bytes,
             GRand      *rand)
{
  /* Of the first it is known that it is not nested beyond measure. */
  g_autoptr(JsonNode) sealed = vn_json_parse ((const char *) bytes->data, (gssize) bytes->len, "seed", NULL), root = NULL;
  g_autofree char *text = NULL;
  guint n = (guint) g_rand_int_range (rand, 1, 4);

  if (sealed == NULL)
    return FALSE;
  text = g_strndup ((const char *) bytes->data, bytes->len);
  root = json_from_string (text, NULL);
  if (root == NULL)
    return FALSE;
  for (guint i = 0; i < n; i++)
    mutate_once (root, rand);
  g_free (text);
  text = vn_json_to_text (root);
  close_up (text);
  g_byte_array_set_size (bytes, 0);
  g_byte_array_append (bytes, (const guint8 *) text, (guint) strlen (text));
  return TRUE;
}
