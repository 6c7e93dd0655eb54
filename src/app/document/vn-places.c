/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where what is installed with the program lies: the demo and the help. */
#include "vn-places.h"

/* A folder that is known by a file in it. */
typedef struct
{
  const char *variable;    /* of the environment, before all others */
  const char *installed;
  const char *near[2];     /* seen from the program's folder */
  const char *file;
} Place;

static char *
places_place_try (const Place *place,
                  const char  *folder)
{
  g_autofree char *file = g_build_filename (folder, place->file, NULL);

  return g_file_test (file, G_FILE_TEST_IS_REGULAR) ? g_canonicalize_filename (folder, NULL) : NULL;
}

static char *
places_place_find (const Place *place)
{
  const char *set = g_getenv (place->variable);
  g_autofree char *self = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree char *folder = self != NULL ? g_path_get_dirname (self) : NULL;
  char *found;

  if (set != NULL)
    return places_place_try (place, set);
  found = places_place_try (place, place->installed);
  for (guint i = 0; folder != NULL && found == NULL && i < G_N_ELEMENTS (place->near); i++)
    {
      g_autofree char *path = g_build_filename (folder, place->near[i], NULL);

      found = places_place_try (place, path);
    }
  return found;
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
  static const Place place = { "VN_DEMO_DIR", VN_PKGDATADIR "/demo", { "../share/vernier/demo", "../../../data/demo" }, "demo.onnx" };

  return places_place_find (&place);
}

/**
 * vn_help_find:
 *
 * The help is looked for in $VN_HELP_DIR, where it was installed, and near the program: in the prefix it was
 * moved to, or in the build folder.
 *
 * Returns: (transfer full) (nullable): the folder that holds index.html
 */
char *
vn_help_find (void)
{
  static const Place place = { "VN_HELP_DIR", VN_PKGDATADIR "/help", { "../share/vernier/help", "../../data/help" }, "index.html" };

  return places_place_find (&place);
}
