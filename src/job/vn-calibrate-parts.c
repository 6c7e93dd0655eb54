/* SPDX-License-Identifier: GPL-3.0-or-later */

/* What long runs leave beside the file they are to write, FILE: FILE.part is what one process has learned so far. Several
 * that share the work each keep their own in FILE.part-N, beside a FILE.part that an earlier run may have left. */

#include "vn-jobs.h"

#include "vn-i18n.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>

/**
 * vn_calibrate_part_path:
 * @path: the file to be written in the end
 * @rank: number of the process among those that share the work, or -1
 *
 * Returns: (transfer full): where what was learned so far is kept
 */
char *
vn_calibrate_part_path (const char *path,
                        int         rank)
{
  g_return_val_if_fail (path != NULL, NULL);

  return rank < 0 ? g_strdup_printf ("%s.part", path) : g_strdup_printf ("%s.part-%d", path, rank);
}

static gboolean
calibrate_parts_is_number (const char *text)
{
  return *text != '\0' && strspn (text, "0123456789") == strlen (text);
}

/* FILE.part, if it is there, and then every FILE.part-N. */
static GPtrArray *
calibrate_parts_list (const char *path)
{
  GPtrArray *list = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *folder = g_path_get_dirname (path);
  g_autofree char *base = g_path_get_basename (path);
  g_autofree char *prefix = g_strconcat (base, ".part-", NULL);
  g_autofree char *first = vn_calibrate_part_path (path, -1);
  g_autoptr(GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  if (g_file_test (first, G_FILE_TEST_EXISTS))
    g_ptr_array_add (list, g_steal_pointer (&first));
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    if (g_str_has_prefix (name, prefix) && calibrate_parts_is_number (name + strlen (prefix)))
      g_ptr_array_add (list, g_build_filename (folder, name, NULL));
  return list;
}

/**
 * vn_calibrate_add_outputs:
 * @set: told what writing statistics into @path writes and removes
 * @path: (nullable): the file to be written in the end; %NULL adds nothing
 * @what: the option that names it
 */
void
vn_calibrate_add_outputs (VnFileSet  *set,
                          const char *path,
                          const char *what)
{
  g_autoptr(GPtrArray) parts = path != NULL ? calibrate_parts_list (path) : NULL;
  g_autofree char *first = path != NULL ? vn_calibrate_part_path (path, -1) : NULL;

  g_return_if_fail (set != NULL);

  if (path == NULL)
    return;
  vn_file_set_writes (set, path, what);
  vn_file_set_writes (set, first, what);
  for (guint i = 0; i < parts->len; i++)
    if (!g_str_equal (parts->pdata[i], first))
      vn_file_set_writes (set, parts->pdata[i], what);
}

static gboolean
calibrate_parts_remove (GPtrArray  *parts,
                        guint       from,
                        GError    **error)
{
  for (guint i = from; i < parts->len; i++)
    if (g_unlink (parts->pdata[i]) != 0 && errno != ENOENT)
      {
        int code = errno;

        g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (code), _("Cannot remove “%s”: %s"),
                     (char *) parts->pdata[i], g_strerror (code));
        return FALSE;
      }
  return TRUE;
}

/**
 * vn_calibrate_clear_parts:
 * @path: the file they belong to
 *
 * Removes what runs have left beside @path.
 */
gboolean
vn_calibrate_clear_parts (const char  *path,
                          GError     **error)
{
  g_autoptr(GPtrArray) parts = NULL;

  g_return_val_if_fail (path != NULL, FALSE);

  parts = calibrate_parts_list (path);
  return calibrate_parts_remove (parts, 0, error);
}

/* Part by part, skipping those that are already in the sum: a run that was interrupted in here has joined them. */
static VnStats *
calibrate_parts_join (GPtrArray  *parts,
                      GError    **error)
{
  g_autoptr(VnStats) sum = NULL;

  for (guint i = 0; i < parts->len; i++)
    {
      g_autoptr(VnStats) part = vn_stats_load (parts->pdata[i], error);
      VnStats *both;

      if (part == NULL)
        {
          g_prefix_error (error, "%s", _("The interrupted run cannot be resumed: "));
          return NULL;
        }
      if (sum != NULL && vn_stats_covers (sum, part))
        continue;
      both = vn_stats_continue (sum, part, error);
      if (both == NULL)
        return NULL;
      g_clear_pointer (&sum, vn_stats_unref);
      sum = both;
    }
  return g_steal_pointer (&sum);
}

/**
 * vn_calibrate_resume:
 * @path: the file to be written in the end
 * @base: (out) (nullable): what interrupted runs have left; %NULL if nothing
 *
 * Joins the parts of several processes to one, so that as many as you like can go on. A run that came to its end has left @path
 * itself: it holds all samples, and is not made anew.
 *
 * Returns: %FALSE if a part is damaged or they do not belong together
 */
gboolean
vn_calibrate_resume (const char  *path,
                     VnStats    **base,
                     GError     **error)
{
  g_autoptr(GPtrArray) parts = NULL;
  g_autofree char *first = NULL;
  g_autoptr(VnStats) sum = NULL;

  g_return_val_if_fail (path != NULL, FALSE);

  parts = calibrate_parts_list (path);
  first = vn_calibrate_part_path (path, -1);
  *base = NULL;
  if (parts->len == 0 && g_file_test (path, G_FILE_TEST_IS_REGULAR))
    {
      *base = vn_stats_load (path, error);
      if (*base == NULL)
        g_prefix_error (error, "%s", _("The interrupted run cannot be resumed: "));
      return *base != NULL;
    }
  if (parts->len == 0)
    return TRUE;
  sum = calibrate_parts_join (parts, error);
  if (sum == NULL)
    return FALSE;
  if (parts->len > 1 || !g_str_equal (parts->pdata[0], first))
    if (!vn_stats_save (sum, first, error) || !calibrate_parts_remove (parts, g_str_equal (parts->pdata[0], first), error))
      return FALSE;
  *base = g_steal_pointer (&sum);
  return TRUE;
}
