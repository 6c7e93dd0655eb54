/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Removes folders that were made for a while. */
#include "verify-folder.h"

#include <glib/gstdio.h>

/*< private >
 * vn_verify_folder_remove:
 * @path: a folder with all that is in it, or a file
 *
 * A link is removed, not what it leads to.
 */
void
vn_verify_folder_remove (const char *path)
{
  g_autoptr(GDir) dir = NULL;
  const char *name;

  g_return_if_fail (path != NULL);

  if (g_unlink (path) == 0)
    return;
  dir = g_dir_open (path, 0, NULL);
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *inside = g_build_filename (path, name, NULL);

      vn_verify_folder_remove (inside);
    }
  g_rmdir (path);
}
