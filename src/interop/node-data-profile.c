/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Times of nodes in a profile of ONNX Runtime: events of Chrome's trace format. A kernel's event is named after its node;
 * each run of the network is an event, too. */
#include "node-data-read.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-json-fields.h"

#include <string.h>

#define KERNEL "_kernel_time"
#define MICROSECOND 1e-6
#define MOST_MICROSECONDS 1e15

/* @events: times that a node was run */
typedef struct
{
  GPtrArray  *data;
  GHashTable *by_name;     /* of guint: place in @data, from 1 */
  GArray     *events;      /* of guint, by place */
  guint       n_runs;
} Profile;

/*< private >
 * _vn_node_data_is_profile:
 *
 * Returns: whether it is a list of events, or an object with one
 */
gboolean
_vn_node_data_is_profile (JsonNode *root)
{
  JsonNode *first;

  if (JSON_NODE_HOLDS_OBJECT (root))
    return json_object_has_member (json_node_get_object (root), "traceEvents");
  if (!JSON_NODE_HOLDS_ARRAY (root) || json_array_get_length (json_node_get_array (root)) == 0)
    return FALSE;
  first = json_array_get_element (json_node_get_array (root), 0);
  return JSON_NODE_HOLDS_OBJECT (first) && (json_object_has_member (json_node_get_object (first), "ph") ||
                                            json_object_has_member (json_node_get_object (first), "cat"));
}

static const char *
node_data_profile_get_text (JsonObject *object,
                            const char *id)
{
  JsonNode *node = json_object_get_member (object, id);

  return node != NULL && JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING
         ? json_node_get_string (node) : NULL;
}

/* Shape of the second input: [{"float": [1, 1, 8, 8]}, {"float": [64, 1, 5, 5]}] */
static void
node_data_profile_read_weight (VnNodeDatum *datum,
                               JsonNode    *inputs)
{
  JsonArray *list = inputs != NULL && JSON_NODE_HOLDS_ARRAY (inputs) ? json_node_get_array (inputs) : NULL;
  JsonNode *second = list != NULL && json_array_get_length (list) > 1 ? json_array_get_element (list, 1) : NULL;
  g_autoptr(GList) types = second != NULL && JSON_NODE_HOLDS_OBJECT (second)
                           ? json_object_get_values (json_node_get_object (second)) : NULL;
  JsonArray *dims = types != NULL && JSON_NODE_HOLDS_ARRAY (types->data) ? json_node_get_array (types->data) : NULL;

  if (dims == NULL || json_array_get_length (dims) > VN_MAX_RANK)
    return;
  datum->weight.rank = (int) json_array_get_length (dims);
  for (int i = 0; i < datum->weight.rank; i++)
    {
      JsonNode *dim = json_array_get_element (dims, (guint) i);

      if (!JSON_NODE_HOLDS_VALUE (dim) || json_node_get_value_type (dim) != G_TYPE_INT64)
        {
          datum->weight.rank = VN_RANK_UNKNOWN;
          return;
        }
      datum->weight.dims[i] = json_node_get_int (dim);
    }
}

static void
node_data_profile_add (Profile    *self,
                       const char *event,
                       JsonObject *object,
                       double      seconds)
{
  g_autofree char *name = g_strndup (event, strlen (event) - strlen (KERNEL));
  JsonNode *args = json_object_get_member (object, "args");
  guint place = GPOINTER_TO_UINT (g_hash_table_lookup (self->by_name, name)), none = 0;

  if (place == 0)
    {
      _vn_node_data_add (self->data, name, args != NULL && JSON_NODE_HOLDS_OBJECT (args)
                         ? node_data_profile_get_text (json_node_get_object (args), "op_name") : NULL, 0);
      if (args != NULL && JSON_NODE_HOLDS_OBJECT (args))
        node_data_profile_read_weight (g_ptr_array_index (self->data, self->data->len - 1),
                                       json_object_get_member (json_node_get_object (args), "input_type_shape"));
      g_array_append_val (self->events, none);
      place = self->data->len;
      g_hash_table_insert (self->by_name, g_steal_pointer (&name), GUINT_TO_POINTER (place));
    }
  ((VnNodeDatum *) g_ptr_array_index (self->data, place - 1))->value += seconds;
  g_array_index (self->events, guint, place - 1)++;
}

static gboolean
node_data_profile_read_event (Profile   *self,
                              JsonNode  *node,
                              guint      at,
                              GError   **error)
{
  g_autofree char *where = g_strdup_printf ("[%u]", at), *of_time = g_strconcat (where, ".dur", NULL);
  JsonObject *object = vn_json_get_object (node, where, error);
  const char *name = object != NULL ? node_data_profile_get_text (object, "name") : NULL;
  double time;

  if (object == NULL)
    return FALSE;
  if (g_strcmp0 (name, "model_run") == 0)
    self->n_runs++;
  if (name == NULL || !g_str_has_suffix (name, KERNEL) || g_strcmp0 (node_data_profile_get_text (object, "cat"), "Node") != 0)
    return TRUE;
  if (!json_object_has_member (object, "dur"))
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("“%s” is missing"), of_time);
      return FALSE;
    }
  if (!vn_json_get_number (json_object_get_member (object, "dur"), of_time, &time, error))
    return FALSE;
  if (time < 0 || time > MOST_MICROSECONDS)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("%s is %g; expected a time in microseconds"), of_time, time);
      return FALSE;
    }
  node_data_profile_add (self, name, object, time * MICROSECOND);
  return TRUE;
}

/* A profile that was cut has no event of the run: then the node that ran most often tells how many there were. */
static void
node_data_profile_average (Profile *self)
{
  for (guint i = 0, most = self->n_runs; i < self->events->len; i++)
    self->n_runs = most > 0 ? most : MAX (self->n_runs, g_array_index (self->events, guint, i));
  for (guint i = 0; i < self->data->len; i++)
    ((VnNodeDatum *) g_ptr_array_index (self->data, i))->value /= self->n_runs;
}

/*< private >
 * _vn_node_data_read_profile:
 *
 * Adds the time of each node in seconds: of all its events, divided by the number of runs.
 */
gboolean
_vn_node_data_read_profile (VnNodeData  *self,
                            JsonNode    *root,
                            GError     **error)
{
  JsonArray *events = JSON_NODE_HOLDS_ARRAY (root) ? json_node_get_array (root)
                      : vn_json_get_array (json_object_get_member (json_node_get_object (root), "traceEvents"), "traceEvents",
                                           error);
  g_autoptr(GHashTable) by_name = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr(GArray) counts = g_array_new (FALSE, FALSE, sizeof (guint));
  Profile profile = { NULL, by_name, counts, 0 };

  if (events == NULL)
    return FALSE;
  profile.data = _vn_node_data_add_graph (self, NULL);
  for (guint i = 0; i < json_array_get_length (events); i++)
    if (!node_data_profile_read_event (&profile, json_array_get_element (events, i), i, error))
      return FALSE;
  node_data_profile_average (&profile);
  self->is_time = TRUE;
  self->n_runs = profile.n_runs;
  return TRUE;
}
