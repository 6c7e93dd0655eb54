/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which files samples are read from: those that a folder, a list, or a place for each input stands for, and the user's
 * Python. */
#include "vn-dataset-private.h"

#include "vn-i18n.h"

#include <string.h>

static gboolean
data_spec_files_is_sample (const char *name)
{
  return vn_file_kind (name) != VN_FILE_OTHER;
}

/**
 * vn_data_is_sample_file:
 * @path: of a file
 *
 * Returns: whether its ending says that it is a picture, a sound or an array, which can be nothing but samples
 */
gboolean
vn_data_is_sample_file (const char *path)
{
  VnFileKind kind;

  g_return_val_if_fail (path != NULL, FALSE);

  kind = vn_file_kind (path);
  return kind == VN_FILE_PICTURE || kind == VN_FILE_NPY || kind == VN_FILE_NPZ || kind == VN_FILE_WAV;
}

/* Among the samples of several inputs there may be lists. */
static gboolean
data_spec_files_is_sample_or_list (const char *name)
{
  return data_spec_files_is_sample (name) || g_str_has_suffix (name, ".txt") || g_str_has_suffix (name, ".lst") ||
         g_str_has_suffix (name, ".list");
}

static void
data_spec_files_add_file (VnFileSet  *set,
                          const char *path,
                          const char *folder)
{
  g_autofree char *whole = g_canonicalize_filename (path, folder);

  if (g_file_test (whole, G_FILE_TEST_IS_REGULAR))
    vn_file_set_reads (set, whole, _("a sample"));
}

/* A line may be a path, a path and a class, or several paths. */
static void
data_spec_files_add_lines (VnFileSet *set,
                           gpointer   data)
{
  const char *list = data;
  g_autofree char *folder = vn_list_get_folder (list);
  g_auto(GStrv) lines = vn_list_read (list, NULL);

  for (guint i = 0; lines != NULL && lines[i] != NULL; i++)
    {
      g_auto(GStrv) parts = g_strsplit_set (lines[i], "\t, ", -1);

      if (lines[i][0] == '\0')
        continue;
      data_spec_files_add_file (set, lines[i], folder);
      for (guint k = 0; parts[0] != NULL && parts[1] != NULL && parts[k] != NULL; k++)
        if (*parts[k] != '\0')
          data_spec_files_add_file (set, parts[k], folder);
    }
}

static void
data_spec_files_add_place (VnFileSet  *set,
                           const char *path)
{
  if (g_file_test (path, G_FILE_TEST_IS_DIR))
    {
      vn_file_set_reads_folder (set, path, data_spec_files_is_sample_or_list, _("a sample"));
      return;
    }
  if (!g_file_test (path, G_FILE_TEST_IS_REGULAR))
    return;
  vn_file_set_reads (set, path, data_spec_files_is_sample (path) ? _("a sample") : _("the list of samples"));
  if (!data_spec_files_is_sample (path))
    vn_file_set_reads_later (set, data_spec_files_add_lines, g_strdup (path), g_free);
}

/* FILE.py:FUNCTION */
static void
data_spec_files_add_script (VnFileSet  *set,
                            const char *script)
{
  const char *colon = script != NULL ? strrchr (script, ':') : NULL;
  g_autofree char *file = colon != NULL ? g_strndup (script, (gsize) (colon - script)) : g_strdup (script);

  vn_file_set_reads (set, file, _("the preprocessing"));
}

/**
 * vn_data_spec_add_files:
 * @self: (nullable)
 * @set: told that what @self stands for is read
 */
void
vn_data_spec_add_files (const VnDataSpec *self,
                        VnFileSet        *set)
{
  g_auto(GStrv) items = self != NULL ? vn_data_spec_split (self->path) : NULL;
  GHashTableIter iter;
  gpointer input;

  if (self == NULL)
    return;
  data_spec_files_add_place (set, self->path);
  for (guint i = 0; items[i] != NULL; i++)
    if (strchr (items[i], '=') != NULL)
      data_spec_files_add_place (set, strchr (items[i], '=') + 1);
  data_spec_files_add_script (set, self->script);
  if (self->tokenizer != NULL)
    vn_file_set_reads (set, self->tokenizer, _("the tokenizer"));
  if (self->labels != NULL)
    data_spec_files_add_place (set, self->labels);
  if (self->inputs == NULL)
    return;
  g_hash_table_iter_init (&iter, self->inputs);
  while (g_hash_table_iter_next (&iter, NULL, &input))
    data_spec_files_add_script (set, ((VnInputData *) input)->script);
}
