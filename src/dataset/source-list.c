/* SPDX-License-Identifier: GPL-3.0-or-later */

/* A list: a text file with one sample per line, paths relative to the list's own folder. Empty lines and lines that
 * start with # are skipped. A number after the path is the sample's class. For a network of several inputs a line
 * holds as many paths, separated by tabs, commas or blanks, or one .npz file. */

#include "vn-dataset-private.h"

#include "vn-error.h"
#include "vn-file.h"
#include "vn-i18n.h"
#include "vn-memory.h"

#include <string.h>

static char *
source_list_resolve (const char *folder,
                     const char *path)
{
  return g_canonicalize_filename (path, folder);
}

/* The class at the end of @line, which is cut off there; -1 if there is none. */
static int
source_list_split_label (const char *folder,
                         char       *line)
{
  char *end = line + strlen (line);
  char *at = end;
  g_autofree char *whole = NULL;
  guint64 label;

  while (at > line && g_ascii_isdigit (at[-1]))
    at--;
  if (at == end || at == line || strchr (" \t,", at[-1]) == NULL ||
      !g_ascii_string_to_unsigned (at, 10, 0, G_MAXINT, &label, NULL))
    return -1;
  whole = source_list_resolve (folder, line);
  if (g_file_test (whole, G_FILE_TEST_EXISTS))
    return -1;
  *at = '\0';
  while (at > line && strchr (" \t,", at[-1]) != NULL)
    *--at = '\0';
  return (int) label;
}

/* One path per input out of a line of several. */
static char **
source_list_split_columns (const VnDataset *dataset,
                           const char      *folder,
                           const char      *line)
{
  const guint n_inputs = dataset->n_inputs;
  const char *separators = strchr (line, '\t') != NULL ? "\t" : strchr (line, ',') != NULL ? "," : " ";
  g_auto(GStrv) parts = g_strsplit (line, separators, -1);
  g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; parts[i] != NULL; i++)
    if (*g_strstrip (parts[i]) != '\0')
      g_ptr_array_add (paths, source_list_resolve (folder, parts[i]));
  if (paths->len == 1 && vn_file_kind (paths->pdata[0]) == VN_FILE_NPZ)
    while (paths->len < n_inputs)
      g_ptr_array_add (paths, g_strdup (paths->pdata[0]));
  else if (paths->len == 1 && dataset->has_main)
    {
      g_autofree char *only = g_ptr_array_steal_index (paths, 0);

      for (guint k = 0; k < n_inputs; k++)
        g_ptr_array_add (paths, vn_dataset_dup_path (dataset, k, only));
    }
  if (paths->len != n_inputs)
    return NULL;
  g_ptr_array_add (paths, NULL);
  return (char **) g_ptr_array_free (g_steal_pointer (&paths), FALSE);
}

static gboolean
source_list_add_line (VnDataset   *dataset,
                      const char  *folder,
                      char        *line,
                      guint        number,
                      GError     **error)
{
  int label = source_list_split_label (folder, line);
  g_auto(GStrv) paths = NULL;

  if (dataset->n_inputs == 1)
    {
      paths = g_new0 (char *, 2);
      paths[0] = source_list_resolve (folder, line);
    }
  else
    paths = source_list_split_columns (dataset, folder, line);

  if (paths == NULL)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED,
                   ngettext ("“%s”, line %u: the model has %u input, so a line must hold %u path",
                             "“%s”, line %u: the model has %u inputs, so a line must hold %u paths", dataset->n_inputs),
                   dataset->spec->path, number, dataset->n_inputs, dataset->n_inputs);
      return FALSE;
    }
  vn_dataset_add (dataset, line, label, paths);
  return TRUE;
}

/**
 * vn_list_get_folder:
 * @path: a list file
 *
 * Returns: (transfer full): what the paths in it are relative to, absolute itself
 */
char *
vn_list_get_folder (const char *path)
{
  g_autofree char *folder = g_path_get_dirname (path);

  return g_canonicalize_filename (folder, NULL);
}

/**
 * vn_list_read:
 * @path: a list file
 *
 * Returns: (transfer full) (nullable): its lines, as of vn_file_read_lines()
 */
char **
vn_list_read (const char  *path,
              GError     **error)
{
  g_autoptr(GError) reason = NULL;
  char **lines = vn_file_read_lines (path, &reason);

  if (g_error_matches (reason, VN_ERROR, VN_ERROR_MALFORMED))
    g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED,
                 _("“%s” is neither an image, a tensor (.npy, .npz, .raw, .bin, .pb, .wav) nor a list of paths"), path);
  else if (lines == NULL)
    g_propagate_error (error, g_steal_pointer (&reason));
  return lines;
}

static gboolean
list_claims (const VnDataset *dataset)
{
  return g_file_test (dataset->spec->path, G_FILE_TEST_EXISTS) &&
         !g_file_test (dataset->spec->path, G_FILE_TEST_IS_DIR);
}

static gboolean
list_open (VnDataset  *dataset,
           VnNotes    *notes,
           GError    **error)
{
  g_auto(GStrv) lines = vn_list_read (dataset->spec->path, error);
  g_autofree char *folder = vn_list_get_folder (dataset->spec->path);

  if (lines == NULL)
    return FALSE;
  for (guint i = 0; lines[i] != NULL; i++)
    if (lines[i][0] != '\0' && !source_list_add_line (dataset, folder, lines[i], i + 1, error))
      return FALSE;
  if (dataset->samples->len > 0)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA, _("The list “%s” names no files"), dataset->spec->path);
  return FALSE;
}

const VnSource vn_source_list = {
  .id = "list",
  .title = N_("a list of files"),
  .claims = list_claims,
  .open = list_open,
  .load = vn_dataset_load_file,
};
