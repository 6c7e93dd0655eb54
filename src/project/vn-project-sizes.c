/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sizes of inputs that a project gives where its network leaves them open: { "images": [1, 3, 640, 640] }, -1 for what the
 * first sample is to say. */
#include "project-sizes.h"

#include "vn-error.h"
#include "vn-i18n.h"

#include <math.h>
#include <string.h>

#define MOST ((double) G_MAXINT32)

/**
 * vn_project_set_sizes:
 * @sizes: (nullable) (element-type utf8 VnShape): copied; %NULL: what the network leaves open is open
 */
void
vn_project_set_sizes (VnProject  *self,
                      GHashTable *sizes)
{
  GHashTableIter iter;
  gpointer name, shape;

  g_return_if_fail (self != NULL);

  g_clear_pointer (&self->sizes, g_hash_table_unref);
  if (sizes == NULL || g_hash_table_size (sizes) == 0)
    return;
  self->sizes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_hash_table_iter_init (&iter, sizes);
  while (g_hash_table_iter_next (&iter, &name, &shape))
    g_hash_table_insert (self->sizes, g_strdup (name), g_memdup2 (shape, sizeof (VnShape)));
}

/**
 * vn_project_merge_sizes:
 * @given: (nullable) (transfer full) (element-type utf8 VnShape): sizes that hold before those of the project
 *
 * Returns: (transfer full) (nullable): both
 */
GHashTable *
vn_project_merge_sizes (const VnProject *self,
                        GHashTable      *given)
{
  GHashTableIter iter;
  gpointer name, shape;

  g_return_val_if_fail (self != NULL, given);

  if (self->sizes == NULL)
    return given;
  if (given == NULL)
    given = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_hash_table_iter_init (&iter, self->sizes);
  while (g_hash_table_iter_next (&iter, &name, &shape))
    if (!g_hash_table_contains (given, name))
      g_hash_table_insert (given, g_strdup (name), g_memdup2 (shape, sizeof (VnShape)));
  return given;
}

/*< private >
 * _vn_project_add_sizes:
 *
 * Writes the field, if there is something to write.
 */
void
_vn_project_add_sizes (JsonBuilder     *json,
                       const VnProject *self)
{
  g_autoptr(GList) names = self->sizes != NULL ? g_list_sort (g_hash_table_get_keys (self->sizes), (GCompareFunc) strcmp) : NULL;

  if (names == NULL)
    return;
  vn_json_begin_object (json, "sizes");
  for (GList *at = names; at != NULL; at = at->next)
    {
      const VnShape *shape = g_hash_table_lookup (self->sizes, at->data);

      vn_json_begin_array (json, at->data);
      for (int i = 0; i < shape->rank; i++)
        json_builder_add_int_value (json, shape->dims[i] >= 0 ? shape->dims[i] : -1);
      json_builder_end_array (json);
    }
  json_builder_end_object (json);
}

static gboolean
project_sizes_read (JsonNode    *node,
                    const char  *where,
                    VnShape     *shape,
                    GError     **error)
{
  JsonArray *array = vn_json_get_array (node, where, error);

  if (array == NULL)
    return FALSE;
  *shape = (VnShape) { .rank = (int) MIN (json_array_get_length (array), VN_MAX_RANK + 1) };
  if (shape->rank > VN_MAX_RANK)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_LIMIT, _("%s has %u sizes; at most %d are allowed"), where,
                   json_array_get_length (array), VN_MAX_RANK);
      return FALSE;
    }
  for (int i = 0; i < shape->rank; i++)
    {
      double size;

      if (!vn_json_get_number (json_array_get_element (array, (guint) i), where, &size, error))
        return FALSE;
      if (size != floor (size) || size < -1 || size > MOST)
        {
          g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("%s: %g is not a size; use an integer, or −1 for the size "
                                                            "of the first sample"), where, size);
          return FALSE;
        }
      shape->dims[i] = size < 0 ? VN_DIM_UNKNOWN : (gint64) size;
    }
  return TRUE;
}

/*< private >
 * _vn_project_read_sizes:
 */
gboolean
_vn_project_read_sizes (VnProject  *self,
                        JsonNode   *node,
                        GError    **error)
{
  JsonObject *object = vn_json_get_object (node, "sizes", error);
  g_autoptr(GHashTable) sizes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  JsonObjectIter iter;
  const char *name;
  JsonNode *member;

  if (object == NULL)
    return FALSE;
  json_object_iter_init (&iter, object);
  while (json_object_iter_next (&iter, &name, &member))
    {
      g_autofree char *where = g_strconcat ("sizes.", name, NULL);
      VnShape shape;

      if (!project_sizes_read (member, where, &shape, error))
        return FALSE;
      g_hash_table_insert (sizes, g_strdup (name), g_memdup2 (&shape, sizeof shape));
    }
  vn_project_set_sizes (self, sizes);
  return TRUE;
}
