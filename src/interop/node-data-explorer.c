/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Node data of Model Explorer: "results" by name of a node or of an output, of one graph or by the ids of several. Its colors and
 * ranges of colors are not used: nodes are colored on one scale here. */
#include "node-data-read.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-json.h"
#include "vn-shown.h"

#define MOST_GRAPHS 1000u

static char *
node_data_explorer_dup_where (const char *where,
                              const char *id)
{
  g_autofree char *shown = vn_shown_dup (id);

  return *where != '\0' ? g_strconcat (where, ".", shown, NULL) : g_steal_pointer (&shown);
}

/* Words are colored in Model Explorer, too, but they have no place on a scale. */
static gboolean
node_data_explorer_read_value (VnNodeData  *self,
                               GPtrArray   *data,
                               JsonNode    *node,
                               const char  *name,
                               const char  *where,
                               GError     **error)
{
  JsonObject *object = vn_json_get_object (node, where, error);
  g_autofree char *of_value = g_strconcat (where, ".value", NULL);
  JsonNode *value = object != NULL ? json_object_get_member (object, "value") : NULL;
  GType type = value != NULL && JSON_NODE_HOLDS_VALUE (value) ? json_node_get_value_type (value) : G_TYPE_INVALID;
  double number;

  if (object == NULL)
    return FALSE;
  if (value == NULL)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("“%s” is missing"), of_value);
      return FALSE;
    }
  if (type != G_TYPE_INT64 && type != G_TYPE_DOUBLE)
    {
      self->n_skipped++;
      return TRUE;
    }
  if (!vn_json_get_number (value, of_value, &number, error))
    return FALSE;
  _vn_node_data_add (data, name, NULL, number);
  return TRUE;
}

static gboolean
node_data_explorer_read_graph (VnNodeData  *self,
                               JsonObject  *graph,
                               const char  *id,
                               const char  *where,
                               GError     **error)
{
  g_autofree char *of_results = node_data_explorer_dup_where (where, "results");
  JsonNode *node = json_object_get_member (graph, "results");
  JsonObject *results;
  JsonObjectIter iter;
  const char *name;
  GPtrArray *data;

  if (node == NULL)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("“%s” is missing"), of_results);
      return FALSE;
    }
  results = vn_json_get_object (node, of_results, error);
  if (results == NULL)
    return FALSE;
  if (self->graphs->len == MOST_GRAPHS)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_LIMIT, _("more than %u graphs"), MOST_GRAPHS);
      return FALSE;
    }
  data = _vn_node_data_add_graph (self, id);
  json_object_iter_init_ordered (&iter, results);
  while (json_object_iter_next_ordered (&iter, &name, &node))
    {
      g_autofree char *of_node = node_data_explorer_dup_where (of_results, name);

      if (!node_data_explorer_read_value (self, data, node, name, of_node, error))
        return FALSE;
    }
  return TRUE;
}

/* A graph may be called "results", too. */
static gboolean
node_data_explorer_is_graph (JsonObject *object)
{
  JsonNode *results = json_object_get_member (object, "results");

  return results != NULL && !(JSON_NODE_HOLDS_OBJECT (results) &&
                              json_object_has_member (json_node_get_object (results), "results"));
}

static gboolean
node_data_explorer_read_model (VnNodeData  *self,
                               JsonNode    *root,
                               const char  *where,
                               GError     **error)
{
  JsonObject *object = vn_json_get_object (root, *where != '\0' ? where : _("the file"), error), *graph;
  JsonObjectIter iter;
  JsonNode *node;
  const char *id;

  if (object == NULL)
    return FALSE;
  if (node_data_explorer_is_graph (object))
    return node_data_explorer_read_graph (self, object, NULL, where, error);
  json_object_iter_init_ordered (&iter, object);
  while (json_object_iter_next_ordered (&iter, &id, &node))
    {
      g_autofree char *of_graph = node_data_explorer_dup_where (where, id);

      graph = vn_json_get_object (node, of_graph, error);
      if (graph == NULL || !node_data_explorer_read_graph (self, graph, id, of_graph, error))
        return FALSE;
    }
  return TRUE;
}

/*< private >
 * _vn_node_data_read_explorer:
 *
 * Adds the numbers of a graph, of all graphs of a model, or of a list of models.
 */
gboolean
_vn_node_data_read_explorer (VnNodeData  *self,
                             JsonNode    *root,
                             GError     **error)
{
  JsonArray *list = JSON_NODE_HOLDS_ARRAY (root) ? json_node_get_array (root) : NULL;

  if (list == NULL)
    return node_data_explorer_read_model (self, root, "", error);
  for (guint i = 0; i < json_array_get_length (list); i++)
    {
      g_autofree char *where = g_strdup_printf ("[%u]", i);

      if (!node_data_explorer_read_model (self, json_array_get_element (list, i), where, error))
        return FALSE;
    }
  return TRUE;
}
