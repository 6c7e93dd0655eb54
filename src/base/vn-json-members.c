/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Structures as JSON by a table of their fields. */
#include "vn-json-members.h"

#include "vn-error.h"
#include "vn-i18n.h"

#include <float.h>
#include <math.h>

#define CHANNELS 4

#define FIELD(TYPE, member, object) G_STRUCT_MEMBER (TYPE, object, (member)->offset)

/* ---- write ---- */

static gboolean
json_members_is_said (const VnJsonMember *self,
                      gconstpointer       object)
{
  switch (self->kind)
    {
    case VN_JSON_BOOL:
    case VN_JSON_UINT:
    case VN_JSON_CHOICE:
      return FIELD (const guint, self, object) != 0;
    case VN_JSON_COUNT:
    case VN_JSON_TIME:
      return FIELD (const guint64, self, object) != 0;
    case VN_JSON_NUMBER:
      return !isnan (FIELD (const double, self, object));
    case VN_JSON_TEXT:
      return FIELD (char * const, self, object) != NULL;
    default:
      return TRUE;
    }
}

static void
json_members_write_one (const VnJsonMember *self,
                        gconstpointer       object,
                        JsonBuilder        *json)
{
  const float *floats = &FIELD (const float, self, object);

  switch (self->kind)
    {
    case VN_JSON_BOOL:
      vn_json_add_bool (json, self->id, FIELD (const gboolean, self, object));
      break;
    case VN_JSON_UINT:
      vn_json_add_int (json, self->id, FIELD (const guint, self, object));
      break;
    case VN_JSON_COUNT:
      vn_json_add_int (json, self->id, FIELD (const gint64, self, object));
      break;
    case VN_JSON_NUMBER:
      vn_json_add_number (json, self->id, FIELD (const double, self, object));
      break;
    case VN_JSON_FLOAT:
      vn_json_add_number (json, self->id, *floats);
      break;
    case VN_JSON_CHANNELS:
      vn_json_begin_array (json, self->id);
      for (guint i = 0; i < CHANNELS; i++)
        vn_json_add_double (json, floats[i]);
      json_builder_end_array (json);
      break;
    case VN_JSON_TEXT:
      vn_json_add_text (json, self->id, FIELD (char * const, self, object));
      break;
    case VN_JSON_TIME:
      vn_json_add_time (json, self->id, FIELD (const gint64, self, object));
      break;
    case VN_JSON_CHOICE:
      vn_json_add_text (json, self->id, self->choices[FIELD (const guint, self, object)]);
      break;
    }
}

/**
 * vn_json_members_write:
 * @object: a structure of the kind that @members describes
 * @json: an object that is being written
 */
void
vn_json_members_write (const VnJsonMember *members,
                       gconstpointer       object,
                       JsonBuilder        *json)
{
  g_return_if_fail (members != NULL && object != NULL && json != NULL);

  for (; members->id != NULL; members++)
    if (members->need != VN_JSON_IF_SAID || json_members_is_said (members, object))
      json_members_write_one (members, object, json);
}

/* ---- read ---- */

static gboolean
json_members_read_float (JsonNode    *node,
                         const char  *where,
                         float       *value,
                         GError     **error)
{
  double number;

  if (!vn_json_get_number (node, where, &number, error))
    return FALSE;
  if (fabs (number) <= FLT_MAX)
    {
      *value = (float) number;
      return TRUE;
    }
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("%s is %g, which is out of the range of a float"), where, number);
  return FALSE;
}

static gboolean
json_members_read_channels (JsonNode    *node,
                            const char  *where,
                            float       *values,
                            GError     **error)
{
  JsonArray *array = vn_json_get_array (node, where, error);
  gboolean ok = array != NULL;

  if (ok && json_array_get_length (array) != CHANNELS)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("%s has %u values; expected four, one per channel"), where,
                   json_array_get_length (array));
      return FALSE;
    }
  for (guint i = 0; ok && i < CHANNELS; i++)
    ok = json_members_read_float (json_array_get_element (array, i), where, &values[i], error);
  return ok;
}

static void
json_members_read_floats (const VnJsonMember *self,
                          gpointer            object,
                          VnJsonFields       *fields)
{
  JsonNode *node = vn_json_fields_get (fields, self->id);
  g_autofree char *where = vn_json_fields_dup_where (fields, self->id);
  float *values = &FIELD (float, self, object);
  GError *reason = NULL;

  if (node != NULL && self->kind == VN_JSON_FLOAT)
    json_members_read_float (node, where, values, &reason);
  else if (node != NULL)
    json_members_read_channels (node, where, values, &reason);
  vn_json_fields_take_error (fields, reason);
}

static void
json_members_read_choice (const VnJsonMember *self,
                          gpointer            object,
                          VnJsonFields       *fields)
{
  g_autofree char *text = vn_json_fields_dup_text (fields, self->id), *allowed = NULL;
  guint i = 0;

  if (text == NULL)
    return;
  while (self->choices[i] != NULL && !g_str_equal (self->choices[i], text))
    i++;
  if (self->choices[i] != NULL)
    {
      FIELD (guint, self, object) = i;
      return;
    }
  allowed = g_strjoinv (", ", (char **) self->choices);
  vn_json_fields_fail (fields, self->id, _("is “%s”; choose one of: %s"), text, allowed);
}

static void
json_members_read_one (const VnJsonMember *self,
                       gpointer            object,
                       VnJsonFields       *fields)
{
  switch (self->kind)
    {
    case VN_JSON_BOOL:
      FIELD (gboolean, self, object) = vn_json_fields_get_bool (fields, self->id);
      break;
    case VN_JSON_UINT:
      FIELD (guint, self, object) = (guint) vn_json_fields_get_count (fields, self->id, self->most > 0 ? self->most : G_MAXUINT);
      break;
    case VN_JSON_COUNT:
      FIELD (guint64, self, object) = vn_json_fields_get_count (fields, self->id, self->most > 0 ? self->most : G_MAXINT64);
      break;
    case VN_JSON_NUMBER:
      FIELD (double, self, object) = vn_json_fields_get_double (fields, self->id);
      break;
    case VN_JSON_FLOAT:
    case VN_JSON_CHANNELS:
      json_members_read_floats (self, object, fields);
      break;
    case VN_JSON_TEXT:
      g_free (FIELD (char *, self, object));
      FIELD (char *, self, object) = vn_json_fields_dup_text (fields, self->id);
      break;
    case VN_JSON_TIME:
      FIELD (gint64, self, object) = vn_json_fields_get_time (fields, self->id);
      break;
    case VN_JSON_CHOICE:
      json_members_read_choice (self, object, fields);
      break;
    }
}

/**
 * vn_json_members_read:
 * @object: a structure of the kind that @members describes, with its defaults
 *
 * Members that are not in the table are passed over. What is wrong is the error of @fields; @object can be freed then.
 */
void
vn_json_members_read (const VnJsonMember *members,
                      gpointer            object,
                      VnJsonFields       *fields)
{
  g_return_if_fail (members != NULL && object != NULL && fields != NULL);

  for (; members->id != NULL && fields->object != NULL; members++)
    if (members->need == VN_JSON_ALWAYS || vn_json_fields_has (fields, members->id) ||
        (members->need == VN_JSON_MAY_MISS && vn_json_fields_contains (fields, members->id)))
      json_members_read_one (members, object, fields);
}

/**
 * vn_json_members_find:
 *
 * Returns: (transfer none) (nullable): the member of that id
 */
const VnJsonMember *
vn_json_members_find (const VnJsonMember *members,
                      const char         *id)
{
  g_return_val_if_fail (members != NULL && id != NULL, NULL);

  for (; members->id != NULL; members++)
    if (g_str_equal (members->id, id))
      return members;
  return NULL;
}
