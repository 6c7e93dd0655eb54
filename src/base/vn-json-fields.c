/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading the members of an object: the first fault is kept, with its place. */
#include "vn-json-fields.h"

#include "vn-error.h"
#include "vn-i18n.h"

/* ---- the object ---- */

/**
 * vn_json_fields_take_error:
 * @reason: (transfer full) (nullable): something that is wrong; kept if it is the first
 */
void
vn_json_fields_take_error (VnJsonFields *self,
                           GError       *reason)
{
  g_return_if_fail (self != NULL);

  if (reason == NULL)
    return;
  self->object = NULL;
  if (self->error == NULL)
    self->error = reason;
  else
    g_error_free (reason);
}

/**
 * vn_json_fields_init:
 * @self: (out caller-allocates): then vn_json_fields_end() and vn_json_fields_clear()
 * @node: (nullable): an object, or the fault; %NULL reads as nothing
 * @where: what it is called in messages, "errors.tensors[2]"; "" for the whole file
 */
void
vn_json_fields_init (VnJsonFields *self,
                     JsonNode     *node,
                     const char   *where)
{
  GError *reason = NULL;

  g_return_if_fail (self != NULL && where != NULL);

  *self = (VnJsonFields) { .where = g_strdup (where) };
  if (node == NULL)
    return;
  self->object = vn_json_get_object (node, *where != '\0' ? where : _("the file"), &reason);
  vn_json_fields_take_error (self, reason);
}

void
vn_json_fields_clear (VnJsonFields *self)
{
  g_return_if_fail (self != NULL);

  g_clear_error (&self->error);
  g_clear_pointer (&self->where, g_free);
}

/**
 * vn_json_fields_enter:
 * @self: (out caller-allocates): to be ended with vn_json_fields_leave()
 * @id: of a member of @parent that is an object
 */
void
vn_json_fields_enter (VnJsonFields *self,
                      VnJsonFields *parent,
                      const char   *id)
{
  g_autofree char *where = vn_json_fields_dup_where (parent, id);

  vn_json_fields_init (self, vn_json_fields_get (parent, id), where);
}

/**
 * vn_json_fields_leave:
 *
 * What was wrong in @self is wrong in @parent.
 */
void
vn_json_fields_leave (VnJsonFields *self,
                      VnJsonFields *parent)
{
  g_return_if_fail (self != NULL);

  vn_json_fields_take_error (parent, g_steal_pointer (&self->error));
  vn_json_fields_clear (self);
}

/**
 * vn_json_fields_end:
 *
 * Returns: %TRUE if all that was read was there and right; or the first fault
 */
gboolean
vn_json_fields_end (VnJsonFields  *self,
                    GError       **error)
{
  g_return_val_if_fail (self != NULL, FALSE);

  if (self->error == NULL)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&self->error));
  return FALSE;
}

/**
 * vn_json_fields_dup_where:
 *
 * Returns: (transfer full): what member @id is called in messages
 */
char *
vn_json_fields_dup_where (VnJsonFields *self,
                          const char   *id)
{
  g_return_val_if_fail (self != NULL, NULL);

  return *self->where != '\0' ? g_strconcat (self->where, ".", id, NULL) : g_strdup (id);
}

gboolean
vn_json_fields_has (VnJsonFields *self,
                    const char   *id)
{
  JsonNode *node;

  g_return_val_if_fail (self != NULL, FALSE);

  node = self->object != NULL ? json_object_get_member (self->object, id) : NULL;
  return node != NULL && !JSON_NODE_HOLDS_NULL (node);
}

gboolean
vn_json_fields_contains (VnJsonFields *self,
                         const char   *id)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return self->object != NULL && json_object_has_member (self->object, id);
}

/**
 * vn_json_fields_fail:
 * @format: what is wrong with member @id, behind its name: “is -1; allowed are …”
 */
void
vn_json_fields_fail (VnJsonFields *self,
                     const char   *id,
                     const char   *format,
                     ...)
{
  g_autofree char *where = NULL;
  g_autofree char *text = NULL;
  va_list args;

  g_return_if_fail (self != NULL);

  where = vn_json_fields_dup_where (self, id);
  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  vn_json_fields_take_error (self, g_error_new (VN_ERROR, VN_ERROR_SETTING, "%s %s", where, text));
}

JsonNode *
vn_json_fields_get (VnJsonFields *self,
                    const char   *id)
{
  JsonNode *node;

  g_return_val_if_fail (self != NULL, NULL);

  node = self->object != NULL ? json_object_get_member (self->object, id) : NULL;
  if (self->object != NULL && node == NULL)
    {
      g_autofree char *where = vn_json_fields_dup_where (self, id);

      vn_json_fields_take_error (self, g_error_new (VN_ERROR, VN_ERROR_MALFORMED, _("“%s” is missing"), where));
    }
  return node;
}

/* ---- values ---- */

JsonArray *
vn_json_fields_get_array (VnJsonFields *self,
                          const char   *id)
{
  JsonNode *node;
  g_autofree char *where = NULL;
  GError *reason = NULL;
  JsonArray *array;

  g_return_val_if_fail (self != NULL, NULL);

  node = vn_json_fields_get (self, id);
  where = vn_json_fields_dup_where (self, id);
  array = node != NULL ? vn_json_get_array (node, where, &reason) : NULL;
  vn_json_fields_take_error (self, reason);
  return array;
}

char *
vn_json_fields_dup_text (VnJsonFields *self,
                         const char   *id)
{
  JsonNode *node;
  g_autofree char *where = NULL;
  GError *reason = NULL;
  const char *text;

  g_return_val_if_fail (self != NULL, NULL);

  node = vn_json_fields_get (self, id);
  where = node != NULL ? vn_json_fields_dup_where (self, id) : NULL;
  text = node != NULL ? vn_json_get_string (node, where, &reason) : NULL;
  vn_json_fields_take_error (self, reason);
  return g_strdup (text);
}

char *
vn_json_fields_dup_text_if (VnJsonFields *self,
                            const char   *id)
{
  g_return_val_if_fail (self != NULL, NULL);

  return vn_json_fields_has (self, id) ? vn_json_fields_dup_text (self, id) : NULL;
}

/**
 * vn_json_fields_dup_texts:
 *
 * Returns: (transfer full) (array zero-terminated=1) (nullable): a list of texts; %NULL with a fault
 */
char **
vn_json_fields_dup_texts (VnJsonFields *self,
                          const char   *id)
{
  JsonArray *array;
  g_autofree char *where = NULL;
  g_autoptr(GStrvBuilder) texts = g_strv_builder_new ();
  GError *reason = NULL;

  g_return_val_if_fail (self != NULL, NULL);

  array = vn_json_fields_get_array (self, id);
  where = vn_json_fields_dup_where (self, id);
  for (guint i = 0; array != NULL && reason == NULL && i < json_array_get_length (array); i++)
    {
      g_autofree char *place = g_strdup_printf ("%s[%u]", where, i);
      const char *text = vn_json_get_string (json_array_get_element (array, i), place, &reason);

      if (text != NULL)
        g_strv_builder_add (texts, text);
    }
  vn_json_fields_take_error (self, reason);
  return self->error == NULL ? g_strv_builder_end (texts) : NULL;
}

guint64
vn_json_fields_get_count (VnJsonFields *self,
                          const char   *id,
                          guint64       most)
{
  JsonNode *node;
  g_autofree char *where = NULL;
  GError *reason = NULL;
  guint64 value = 0;

  g_return_val_if_fail (self != NULL, 0);

  node = vn_json_fields_get (self, id);
  where = node != NULL ? vn_json_fields_dup_where (self, id) : NULL;
  if (node != NULL)
    vn_json_get_count (node, where, most, &value, &reason);
  vn_json_fields_take_error (self, reason);
  return value;
}

/**
 * vn_json_fields_get_double:
 *
 * Returns: what vn_json_add_number() wrote, NaN and infinities, too
 */
double
vn_json_fields_get_double (VnJsonFields *self,
                           const char   *id)
{
  JsonNode *node;
  g_autofree char *where = NULL;
  GError *reason = NULL;
  double value = 0;

  g_return_val_if_fail (self != NULL, 0);

  node = vn_json_fields_get (self, id);
  where = node != NULL ? vn_json_fields_dup_where (self, id) : NULL;
  if (node != NULL)
    vn_json_get_any_number (node, where, &value, &reason);
  vn_json_fields_take_error (self, reason);
  return value;
}

gboolean
vn_json_fields_get_bool (VnJsonFields *self,
                         const char   *id)
{
  JsonNode *node;
  g_autofree char *where = NULL;
  GError *reason = NULL;
  gboolean value = FALSE;

  g_return_val_if_fail (self != NULL, FALSE);

  node = vn_json_fields_get (self, id);
  where = node != NULL ? vn_json_fields_dup_where (self, id) : NULL;
  if (node != NULL)
    vn_json_get_boolean (node, where, &value, &reason);
  vn_json_fields_take_error (self, reason);
  return value;
}

/**
 * vn_json_fields_get_time:
 *
 * Returns: what vn_json_add_time() wrote, in seconds since 1970
 */
gint64
vn_json_fields_get_time (VnJsonFields *self,
                         const char   *id)
{
  g_autofree char *text = NULL;
  g_autoptr(GTimeZone) utc = g_time_zone_new_utc ();
  g_autoptr(GDateTime) time = NULL;

  g_return_val_if_fail (self != NULL, 0);

  text = vn_json_fields_dup_text (self, id);
  time = text != NULL ? g_date_time_new_from_iso8601 (text, utc) : NULL;
  if (text != NULL && time == NULL)
    vn_json_fields_fail (self, id, _("is “%s”; expected a time such as 2025-03-31T14:05:00Z"), text);
  return time != NULL ? g_date_time_to_unix (time) : 0;
}
