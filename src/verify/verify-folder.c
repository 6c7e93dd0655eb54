/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Folders that were made for a while: what files in them are called, and how they are removed. */
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

/*< private >
 * vn_verify_folder_dup_tensor:
 * @prefix: whose tensors they are, as of VnVerifyRequest
 * @i: number of the input, or of the output
 *
 * Returns: (transfer full): the file of a tensor of @sample
 */
char *
vn_verify_folder_dup_tensor (const char *folder,
                             const char *prefix,
                             guint       sample,
                             guint       i)
{
  g_autofree char *name = NULL;

  g_return_val_if_fail (folder != NULL && prefix != NULL, NULL);

  name = g_strdup_printf ("%s%u-%u.npy", prefix, sample, i);
  return g_build_filename (folder, name, NULL);
}

/**
 * vn_verify_dup_environment:
 *
 * Returns: (transfer full) (type filename): where the environment that the program makes for @runtime is, or would be
 */
char *
vn_verify_dup_environment (const VnTargetRuntime *runtime)
{
  g_return_val_if_fail (runtime != NULL, NULL);

  return g_build_filename (g_get_user_cache_dir (), "vernier", runtime->id, NULL);
}

/**
 * vn_verify_dup_own_python:
 *
 * Returns: (transfer full) (nullable) (type filename): the environment's interpreter; %NULL: it has not been made
 */
char *
vn_verify_dup_own_python (const VnTargetRuntime *runtime)
{
  g_autofree char *folder = NULL, *python = NULL;

  g_return_val_if_fail (runtime != NULL, NULL);

  folder = vn_verify_dup_environment (runtime);
  python = g_build_filename (folder, "bin", "python", NULL);
  return g_file_test (python, G_FILE_TEST_IS_EXECUTABLE) ? g_steal_pointer (&python) : NULL;
}
