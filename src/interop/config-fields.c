/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Reads an object of a configuration into a structure, by a table. */

#include "vn-config-private.h"

#include "vn-error.h"
#include "vn-i18n.h"

#include <math.h>

static gboolean
config_fields_check_number (const VnConfigField *field,
                            double               value,
                            const char          *where,
                            GError             **error)
{
  if (field->kind == VN_CONFIG_INT && (value != floor (value) || fabs (value) > 1e15))
    {
      g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("%s: %g is not allowed; use an integer"), where, value);
      return FALSE;
    }
  if (!(field->max > field->min) || (value >= field->min && value <= field->max))
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("%s: %g is not allowed; use %g to %g"), where, value, field->min,
               field->max);
  return FALSE;
}

static gboolean
config_fields_read_number (const VnConfigField *field,
                           gpointer             target,
                           JsonNode            *node,
                           const char          *where,
                           GError             **error)
{
  double value;

  if (!vn_json_get_number (node, where, &value, error) || !config_fields_check_number (field, value, where, error))
    return FALSE;
  if (field->kind == VN_CONFIG_INT)
    G_STRUCT_MEMBER (gint64, target, field->offset) = (gint64) value;
  else
    G_STRUCT_MEMBER (double, target, field->offset) = value;
  return TRUE;
}

static gboolean
config_fields_read_text (const VnConfigField *field,
                         gpointer             target,
                         JsonNode            *node,
                         const char          *where,
                         GError             **error)
{
  const char *text = vn_json_get_string (node, where, error);
  char **place = &G_STRUCT_MEMBER (char *, target, field->offset);
  g_autofree char *allowed = NULL;

  if (text == NULL)
    return FALSE;
  if (*text == '\0')
    return TRUE;
  for (guint i = 0; field->kind == VN_CONFIG_CHOICE && field->choices[i] != NULL; i++)
    if (g_ascii_strcasecmp (field->choices[i], text) == 0)
      {
        g_free (*place);
        *place = g_strdup (field->choices[i]);
        return TRUE;
      }
  if (field->kind == VN_CONFIG_TEXT)
    {
      g_free (*place);
      *place = g_strdup (text);
      return TRUE;
    }
  allowed = g_strjoinv (", ", (char **) field->choices);
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("%s: %s %s not implemented yet; supported are %s"), where, field->name,
               text, allowed);
  return FALSE;
}

static gboolean
config_fields_read_texts (const VnConfigField *field,
                          gpointer             target,
                          JsonNode            *node,
                          const char          *where,
                          GError             **error)
{
  g_autoptr(GStrvBuilder) texts = g_strv_builder_new ();
  char ***place = &G_STRUCT_MEMBER (char **, target, field->offset);
  JsonArray *array;

  if (JSON_NODE_HOLDS_ARRAY (node))
    {
      array = json_node_get_array (node);
      for (guint i = 0; i < json_array_get_length (array); i++)
        {
          g_autofree char *at = g_strdup_printf ("%s[%u]", where, i);
          const char *text = vn_json_get_string (json_array_get_element (array, i), at, error);

          if (text == NULL)
            return FALSE;
          g_strv_builder_add (texts, text);
        }
    }
  else
    {
      const char *text = vn_json_get_string (node, where, error);

      if (text == NULL)
        return FALSE;
      if (*text != '\0')
        g_strv_builder_add (texts, text);
    }
  g_strfreev (*place);
  *place = g_strv_builder_end (texts);
  return TRUE;
}

static gboolean
config_fields_add_element (const VnConfigField *field,
                           GArray              *elements,
                           JsonNode            *node,
                           const char          *where,
                           GError             **error)
{
  double value;
  gint64 size = VN_DIM_UNKNOWN;

  /* A size may be a symbol. */
  if (field->kind == VN_CONFIG_SIZES && JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING)
    {
      g_array_append_val (elements, size);
      return TRUE;
    }
  if (!vn_json_get_number (node, where, &value, error))
    return FALSE;
  if (field->kind == VN_CONFIG_NUMBERS)
    {
      g_array_append_val (elements, value);
      return TRUE;
    }
  if (value != floor (value) || value < -1 || value > G_MAXINT32)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("%s: %g is not allowed; use a size, or -1 if it is dynamic"), where,
                   value);
      return FALSE;
    }
  size = value < 0 ? VN_DIM_UNKNOWN : (gint64) value;
  g_array_append_val (elements, size);
  return TRUE;
}

static gboolean
config_fields_read_elements (const VnConfigField *field,
                             gpointer             target,
                             JsonNode            *node,
                             const char          *where,
                             GError             **error)
{
  gsize size = field->kind == VN_CONFIG_NUMBERS ? sizeof (double) : sizeof (gint64);
  g_autoptr(GArray) elements = g_array_new (FALSE, FALSE, (guint) size);
  GArray **place = &G_STRUCT_MEMBER (GArray *, target, field->offset);

  if (JSON_NODE_HOLDS_ARRAY (node))
    {
      JsonArray *array = json_node_get_array (node);

      for (guint i = 0; i < json_array_get_length (array); i++)
        {
          g_autofree char *at = g_strdup_printf ("%s[%u]", where, i);

          if (!config_fields_add_element (field, elements, json_array_get_element (array, i), at, error))
            return FALSE;
        }
    }
  else if (!config_fields_add_element (field, elements, node, where, error))
    return FALSE;
  g_clear_pointer (place, g_array_unref);
  *place = g_steal_pointer (&elements);
  return TRUE;
}

static gpointer
config_fields_add_object (const VnConfigField *field,
                          gpointer             target)
{
  GPtrArray **elements = &G_STRUCT_MEMBER (GPtrArray *, target, field->offset);
  gpointer element = field->initial != NULL ? g_memdup2 (field->initial, field->size) : g_malloc0 (field->size);

  if (*elements == NULL)
    *elements = g_ptr_array_new ();
  g_ptr_array_add (*elements, element);
  return element;
}

static gboolean
config_fields_read_objects (VnConfig            *self,
                            const VnConfigField *field,
                            gpointer             target,
                            JsonNode            *node,
                            const char          *where,
                            GError             **error)
{
  JsonArray *array = vn_json_get_array (node, where, error);

  if (array == NULL)
    return FALSE;
  for (guint i = 0; i < json_array_get_length (array); i++)
    {
      g_autofree char *at = g_strdup_printf ("%s[%u]", where, i);
      gpointer element = config_fields_add_object (field, target);

      if (!vn_config_read_fields (self, field->fields, element, json_array_get_element (array, i), at, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
config_fields_read_map (VnConfig            *self,
                        const VnConfigField *field,
                        gpointer             target,
                        JsonNode            *node,
                        const char          *where,
                        GError             **error)
{
  JsonObject *object = vn_json_get_object (node, where, error);
  JsonObjectIter iter;
  const char *name;
  JsonNode *value;

  if (object == NULL)
    return FALSE;
  json_object_iter_init (&iter, object);
  while (json_object_iter_next (&iter, &name, &value))
    {
      g_autofree char *at = g_strconcat (where, ".", name, NULL);
      gpointer element = config_fields_add_object (field, target);

      G_STRUCT_MEMBER (char *, element, field->key) = g_strdup (name);
      if (!vn_config_read_fields (self, field->fields, element, value, at, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
config_fields_read_field (VnConfig            *self,
                          const VnConfigField *field,
                          gpointer             target,
                          JsonNode            *node,
                          const char          *where,
                          GError             **error)
{
  if (JSON_NODE_HOLDS_NULL (node))
    return TRUE;
  switch (field->kind)
    {
    case VN_CONFIG_BOOL:
      return vn_json_get_boolean (node, where, &G_STRUCT_MEMBER (gboolean, target, field->offset), error);
    case VN_CONFIG_INT:
    case VN_CONFIG_NUMBER:
      return config_fields_read_number (field, target, node, where, error);
    case VN_CONFIG_TEXT:
    case VN_CONFIG_CHOICE:
      return config_fields_read_text (field, target, node, where, error);
    case VN_CONFIG_TEXTS:
      return config_fields_read_texts (field, target, node, where, error);
    case VN_CONFIG_SIZES:
    case VN_CONFIG_NUMBERS:
      return config_fields_read_elements (field, target, node, where, error);
    case VN_CONFIG_OBJECT:
      return vn_config_read_fields (self, field->fields, (char *) target + field->offset, node, where, error);
    case VN_CONFIG_OBJECTS:
      return config_fields_read_objects (self, field, target, node, where, error);
    case VN_CONFIG_MAP:
      return config_fields_read_map (self, field, target, node, where, error);
    case VN_CONFIG_IGNORED:
    default:
      vn_config_note (self, VN_NOTE_INFO, where, _("This has no effect here"));
      return TRUE;
    }
}

static void
config_fields_clear_objects (const VnConfigField *field,
                             GPtrArray           *elements)
{
  for (guint i = 0; elements != NULL && i < elements->len; i++)
    {
      gpointer element = g_ptr_array_index (elements, i);

      vn_config_clear_fields (field->fields, element);
      if (field->kind == VN_CONFIG_MAP)
        g_free (G_STRUCT_MEMBER (char *, element, field->key));
      g_free (element);
    }
  g_clear_pointer (&elements, g_ptr_array_unref);
}

/*< private >
 * vn_config_clear_fields:
 *
 * Frees what vn_config_read_fields() put into @target and nobody took.
 */
void
vn_config_clear_fields (const VnConfigField *fields,
                        gpointer             target)
{
  for (; fields->name != NULL; fields++)
    switch (fields->kind)
      {
      case VN_CONFIG_TEXT:
      case VN_CONFIG_CHOICE:
        g_clear_pointer (&G_STRUCT_MEMBER (char *, target, fields->offset), g_free);
        break;
      case VN_CONFIG_TEXTS:
        g_clear_pointer (&G_STRUCT_MEMBER (char **, target, fields->offset), g_strfreev);
        break;
      case VN_CONFIG_SIZES:
      case VN_CONFIG_NUMBERS:
        g_clear_pointer (&G_STRUCT_MEMBER (GArray *, target, fields->offset), g_array_unref);
        break;
      case VN_CONFIG_OBJECT:
        vn_config_clear_fields (fields->fields, (char *) target + fields->offset);
        break;
      case VN_CONFIG_OBJECTS:
      case VN_CONFIG_MAP:
        config_fields_clear_objects (fields, g_steal_pointer (&G_STRUCT_MEMBER (GPtrArray *, target, fields->offset)));
        break;
      default:
        break;
      }
}

static const VnConfigField *
config_fields_find_field (const VnConfigField *fields,
                          const char          *name)
{
  for (; fields->name != NULL; fields++)
    if (g_str_equal (fields->name, name))
      return fields;
  return NULL;
}

static char *
config_fields_dup_names (const VnConfigField *fields)
{
  g_autoptr(GStrvBuilder) names = g_strv_builder_new ();
  g_auto(GStrv) list = NULL;

  for (; fields->name != NULL; fields++)
    g_strv_builder_add (names, fields->name);
  list = g_strv_builder_end (names);
  return g_strjoinv (", ", list);
}

/*< private >
 * vn_config_read_fields:
 * @fields: ends with one without name
 * @target: the structure
 * @where: the place of @node: "quantization_parameters"; "" for the whole file
 *
 * Fields that are not in the table are named in the notes.
 *
 * Returns: %FALSE with the place, the value and what is allowed
 */
gboolean
vn_config_read_fields (VnConfig            *self,
                       const VnConfigField *fields,
                       gpointer             target,
                       JsonNode            *node,
                       const char          *where,
                       GError             **error)
{
  JsonObject *object = vn_json_get_object (node, *where != '\0' ? where : _("configuration"), error);
  JsonObjectIter iter;
  const char *name;
  JsonNode *value;

  if (object == NULL)
    return FALSE;
  json_object_iter_init (&iter, object);
  while (json_object_iter_next (&iter, &name, &value))
    {
      const VnConfigField *field = config_fields_find_field (fields, name);
      g_autofree char *at = *where != '\0' ? g_strconcat (where, ".", name, NULL) : g_strdup (name);

      if (field == NULL)
        {
          g_autofree char *known = config_fields_dup_names (fields);

          vn_config_note (self, VN_NOTE_WARNING, at, _("Unknown field, which has no effect; known fields are %s"), known);
        }
      else if (!config_fields_read_field (self, field, target, value, at, error))
        return FALSE;
    }
  return TRUE;
}
