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

static gboolean
has_demo (const char *folder)
{
  g_autofree char *model = g_build_filename (folder, "demo.onnx", NULL);

  return g_file_test (model, G_FILE_TEST_IS_REGULAR);
}

/**
 * vn_demo_find:
 *
 * The demo is looked for in $VN_DEMO_DIR, where it was installed, and near the program: in the prefix it was
 * moved to, or in the source folder when it runs from a build folder inside it.
 *
 * Returns: (transfer full) (nullable): the folder that holds demo.onnx and samples
 */
char *
vn_demo_find (void)
{
  static const char * const near[] = { "../share/vernier/demo", "../../../data/demo" };
  const char *set = g_getenv ("VN_DEMO_DIR");
  g_autofree char *self = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree char *folder = self != NULL ? g_path_get_dirname (self) : NULL;

  if (set != NULL)
    return has_demo (set) ? g_strdup (set) : NULL;
  if (has_demo (VN_PKGDATADIR "/demo"))
    return g_strdup (VN_PKGDATADIR "/demo");
  for (guint i = 0; folder != NULL && i < G_N_ELEMENTS (near); i++)
    {
      g_autofree char *path = g_build_filename (folder, near[i], NULL);

      if (has_demo (path))
        return g_canonicalize_filename (path, NULL);
    }
  return NULL;
}
