/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the program remembers between runs (GSettings, where the schema is found). */
#include "vn-settings.h"

#include "vn-places.h"

#define SCHEMA_ID "io.github.vernier.Vernier"

/* The schema of the system, or the copy that was installed with the program, wherever that is now. */
static GSettingsSchema *
settings_find_schema (void)
{
  GSettingsSchemaSource *system = g_settings_schema_source_get_default ();
  GSettingsSchema *schema = system != NULL ? g_settings_schema_source_lookup (system, SCHEMA_ID, TRUE) : NULL;
  g_autofree char *folder = schema == NULL ? vn_schemas_find () : NULL;
  GSettingsSchemaSource *own = folder != NULL ? g_settings_schema_source_new_from_directory (folder, system, FALSE, NULL) : NULL;

  if (own == NULL)
    return schema;
  schema = g_settings_schema_source_lookup (own, SCHEMA_ID, FALSE);
  g_settings_schema_source_unref (own);
  return schema;
}

/**
 * vn_settings_get:
 *
 * Returns: (transfer none) (nullable): the settings, or %NULL if the program is run without being installed
 */
GSettings *
vn_settings_get (void)
{
  static GSettings *settings;
  static gboolean looked_up;

  if (!looked_up)
    {
      g_autoptr(GSettingsSchema) schema = settings_find_schema ();

      looked_up = TRUE;
      if (schema != NULL)
        settings = g_settings_new_full (schema, NULL, NULL);
    }
  return settings;
}

int
vn_settings_get_int (const char *key,
                     int         fallback)
{
  GSettings *settings = vn_settings_get ();

  return settings != NULL ? g_settings_get_int (settings, key) : fallback;
}

gboolean
vn_settings_get_bool (const char *key,
                      gboolean    fallback)
{
  GSettings *settings = vn_settings_get ();

  return settings != NULL ? g_settings_get_boolean (settings, key) : fallback;
}

void
vn_settings_set_bool (const char *key,
                      gboolean    value)
{
  GSettings *settings = vn_settings_get ();

  if (settings != NULL)
    g_settings_set_boolean (settings, key, value);
}

char *
vn_settings_dup_string (const char *key,
                        const char *fallback)
{
  GSettings *settings = vn_settings_get ();

  return settings != NULL ? g_settings_get_string (settings, key) : g_strdup (fallback);
}

void
vn_settings_set_string (const char *key,
                        const char *value)
{
  GSettings *settings = vn_settings_get ();

  if (settings != NULL)
    g_settings_set_string (settings, key, value);
}
