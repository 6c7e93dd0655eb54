/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the program remembers between runs (GSettings, where the schema is installed), and where the demo is. */
#include "vn-settings.h"

#define SCHEMA_ID "io.github.vernier.Vernier"

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
      GSettingsSchemaSource *source = g_settings_schema_source_get_default ();
      g_autoptr(GSettingsSchema) schema = NULL;

      looked_up = TRUE;
      if (source != NULL)
        schema = g_settings_schema_source_lookup (source, SCHEMA_ID, TRUE);
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
