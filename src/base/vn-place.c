/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where what is installed with the program lies: near it, so that an installed tree can be moved. */
#include "vn-place.h"

#include <libintl.h>
#include <locale.h>

static char *
place_try (const VnPlace *self,
           const char    *folder)
{
  g_autofree char *file = g_build_filename (folder, self->file, NULL);

  return g_file_test (file, G_FILE_TEST_IS_REGULAR) ? g_canonicalize_filename (folder, NULL) : NULL;
}

/**
 * vn_place_find:
 *
 * Looks in the folder that the environment names, or else near the program, which may have been moved with all that was
 * installed, and then where it was installed.
 *
 * Returns: (transfer full) (nullable): the folder, absolute
 */
char *
vn_place_find (const VnPlace *self)
{
  const char *set;
  g_autofree char *program = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree char *folder = program != NULL ? g_path_get_dirname (program) : NULL;

  g_return_val_if_fail (self != NULL && self->file != NULL, NULL);

  set = self->variable != NULL ? g_getenv (self->variable) : NULL;
  if (set != NULL)
    return place_try (self, set);
  for (guint i = 0; folder != NULL && i < G_N_ELEMENTS (self->near) && self->near[i] != NULL; i++)
    {
      g_autofree char *path = g_build_filename (folder, self->near[i], NULL);
      char *found = place_try (self, path);

      if (found != NULL)
        return found;
    }
  return self->installed != NULL ? place_try (self, self->installed) : NULL;
}

/**
 * vn_place_find_locale:
 * @installed: the folder that catalogues were installed in
 *
 * Makes the process speak the user's language, with the catalogues near the program, installed or just built, or where they were
 * installed.
 */
void
vn_place_find_locale (const char *installed)
{
  VnPlace place = { .near = { "../share/locale", "../../po" }, .installed = installed,
                    .file = "de/LC_MESSAGES/" GETTEXT_PACKAGE ".mo" };
  g_autofree char *folder = NULL;

  g_return_if_fail (installed != NULL);

  setlocale (LC_ALL, "");
  folder = vn_place_find (&place);
  bindtextdomain (GETTEXT_PACKAGE, folder != NULL ? folder : installed);
  bind_textdomain_codeset (GETTEXT_PACKAGE, "UTF-8");
  textdomain (GETTEXT_PACKAGE);
}
