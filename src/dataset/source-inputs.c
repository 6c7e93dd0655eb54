/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Several inputs, each from a place of its own; the first file of each makes the first sample, and so on.
 *
 *   NAME=PATH;NAME=PATH        folders, lists or files; ones, zeros or random instead of PATH fills the input
 *   DIR/NAME/, DIR/NAME.txt    a folder or a list per input
 *   DIR/NAME_KEY.npy           all in one folder: files with the same key belong together
 *
 * Inputs that nothing is given for are filled by rule, if there is one for them (vn-input-role.c).
 *
 * NAME is the input's, with / : and \ replaced by _ where it is a file name. */

#include "vn-dataset-private.h"

#include "vn-error.h"
#include "vn-i18n.h"

#include <string.h>

/* ---- the files of one input ---- */

static void
source_inputs_add_lines (GPtrArray  *files,
                         const char *list,
                         char      **lines)
{
  g_autofree char *folder = vn_list_get_folder (list);

  for (guint i = 0; lines[i] != NULL; i++)
    if (lines[i][0] != '\0')
      g_ptr_array_add (files, g_canonicalize_filename (lines[i], folder));
}

static gboolean
source_inputs_add_folder (GPtrArray   *files,
                          const char  *path,
                          GError     **error)
{
  g_auto(VnListing) listing = { 0 };
  GPtrArray *names;

  if (!vn_listing_read (&listing, path, error))
    return FALSE;
  names = listing.pictures->len > 0 ? listing.pictures : listing.tensors;
  for (guint i = 0; i < names->len; i++)
    g_ptr_array_add (files, g_build_filename (path, names->pdata[i], NULL));
  return TRUE;
}

/* Paths of the samples in the folder, list or file @path. */
static GPtrArray *
source_inputs_collect (const char  *path,
                       GError     **error)
{
  g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func (g_free);

  if (g_file_test (path, G_FILE_TEST_IS_DIR))
    {
      if (!source_inputs_add_folder (files, path, error))
        return NULL;
    }
  else if (vn_file_kind (path) != VN_FILE_OTHER)
    g_ptr_array_add (files, g_strdup (path));
  else
    {
      g_auto(GStrv) lines = vn_list_read (path, error);

      if (lines == NULL)
        return NULL;
      source_inputs_add_lines (files, path, lines);
    }
  if (files->len > 0)
    return g_steal_pointer (&files);
  g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA, _("There are no samples in “%s”"), path);
  return NULL;
}

static void
source_inputs_free_column (GPtrArray *column)
{
  if (column != NULL)
    g_ptr_array_unref (column);
}

/* The files of every input; one without a place is filled, and has %NULL. */
static GPtrArray *
source_inputs_collect_all (VnDataset    *dataset,
                           char * const *places,
                           GError      **error)
{
  g_autoptr(GPtrArray) columns = g_ptr_array_new ();

  g_ptr_array_set_free_func (columns, (GDestroyNotify) source_inputs_free_column);
  for (guint k = 0; k < dataset->n_inputs; k++)
    {
      GPtrArray *files = *places[k] != '\0' ? source_inputs_collect (places[k], error) : NULL;

      if (files == NULL && *places[k] != '\0')
        return NULL;
      g_ptr_array_add (columns, files);
    }
  return g_steal_pointer (&columns);
}

/* @places: (array length=n_inputs): one path per input; empty where it is filled. */
static gboolean
source_inputs_open_places (VnDataset    *dataset,
                           char * const *places,
                           GError      **error)
{
  g_autoptr(GPtrArray) columns = source_inputs_collect_all (dataset, places, error);
  GPtrArray *first = NULL;
  guint of_first = 0;

  for (guint k = 0; columns != NULL && k < dataset->n_inputs; k++)
    {
      GPtrArray *column = columns->pdata[k];

      if (first == NULL && column != NULL)
        {
          first = column;
          of_first = k;
        }
      if (column == NULL || column->len == first->len)
        continue;
      g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA,
                   ngettext ("“%s” has %u sample for input “%s”, “%s” has %u for “%s”: every sample needs all inputs",
                             "“%s” has %u samples for input “%s”, “%s” has %u for “%s”: every sample needs all inputs",
                             first->len),
                   places[of_first], first->len, dataset->inputs[of_first].name, places[k], column->len, dataset->inputs[k].name);
      return FALSE;
    }
  if (columns == NULL)
    return FALSE;
  if (first == NULL)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA, _("Every input is filled by rule: at least one needs samples"));
      return FALSE;
    }

  for (guint i = 0; i < first->len; i++)
    {
      g_auto(GStrv) paths = g_new0 (char *, dataset->n_inputs + 1);
      g_autofree char *name = NULL;

      for (guint k = 0; k < dataset->n_inputs; k++)
        paths[k] = g_strdup (columns->pdata[k] != NULL ? ((GPtrArray *) columns->pdata[k])->pdata[i] : "");
      name = g_path_get_basename (first->pdata[i]);
      vn_dataset_add (dataset, name, -1, paths);
    }
  return TRUE;
}

/* ---- NAME=PATH;NAME=PATH ---- */

/* Whether @item is for input @k. */
static gboolean
source_inputs_is_for (const VnDataset *dataset,
                      const char      *item,
                      guint            k)
{
  const char *name = dataset->inputs[k].name;

  item += strspn (item, " ");
  return g_str_has_prefix (item, name) && item[strlen (name)] == '=';
}

/* The path given for input @k among @items, or NULL. */
static const char *
source_inputs_find_item (const VnDataset *dataset,
                         char * const    *items,
                         guint            k)
{
  const char *name = dataset->inputs[k].name;

  for (guint i = 0; items[i] != NULL; i++)
    {
      const char *item = items[i] + strspn (items[i], " ");

      if (source_inputs_is_for (dataset, item, k))
        return item + strlen (name) + 1;
    }
  return NULL;
}

static gboolean
source_inputs_named_claims (const VnDataset *dataset)
{
  g_auto(GStrv) items = vn_data_spec_split (dataset->spec->path);

  for (guint k = 0; k < dataset->n_inputs; k++)
    if (source_inputs_find_item (dataset, items, k) != NULL)
      return TRUE;
  return FALSE;
}

/* Each item is for one input, and no input has two. */
static gboolean
source_inputs_check_items (const VnDataset  *dataset,
                           char * const     *items,
                           GError          **error)
{
  g_autofree gboolean *found = g_new0 (gboolean, dataset->n_inputs + 1);

  for (guint i = 0; items[i] != NULL; i++)
    {
      guint k = 0;

      if (items[i][strspn (items[i], " ")] == '\0')
        continue;
      while (k < dataset->n_inputs && !source_inputs_is_for (dataset, items[i], k))
        k++;
      if (k < dataset->n_inputs && !found[k])
        {
          found[k] = TRUE;
          continue;
        }
      if (k < dataset->n_inputs)
        g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA, _("Input “%s” has two sources of samples; remove one of them"),
                     dataset->inputs[k].name);
      else
        g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA, _("“%s” does not match any input of the model; “inspect” "
                                                               "shows their names"), items[i]);
      return FALSE;
    }
  return TRUE;
}

static gboolean
source_inputs_named_open (VnDataset  *dataset,
                          VnNotes    *notes,
                          GError    **error)
{
  g_auto(GStrv) items = vn_data_spec_split (dataset->spec->path);
  g_auto(GStrv) places = g_new0 (char *, dataset->n_inputs + 1);

  if (!source_inputs_check_items (dataset, items, error))
    return FALSE;
  for (guint k = 0; k < dataset->n_inputs; k++)
    {
      const char *item = source_inputs_find_item (dataset, items, k);
      VnFill fill = item != NULL ? vn_fill_find (item) : VN_FILL_NONE;

      if (fill != VN_FILL_NONE)
        dataset->fills[k] = fill;
      places[k] = g_strdup (fill != VN_FILL_NONE || (item == NULL && vn_dataset_may_fill (dataset, k)) ? "" : item);
      if (places[k] != NULL)
        continue;
      g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA,
                   _("There are no samples for input “%s”: add “;%s=PATH”"),
                   dataset->inputs[k].name, dataset->inputs[k].name);
      return FALSE;
    }
  return source_inputs_open_places (dataset, places, error);
}

const VnSource vn_source_named = {
  .id = "named",
  .title = N_("a source for each input"),
  .claims = source_inputs_named_claims,
  .open = source_inputs_named_open,
  .load = vn_dataset_load_file,
};

/* ---- DIR/NAME/ and DIR/NAME.txt ---- */

static char *
source_inputs_find_place (const VnDataset *dataset,
                          guint            k)
{
  static const char * const endings[] = { "", ".txt", ".lst", ".list" };
  g_autofree char *stem = vn_input_file_name (dataset->inputs[k].name);

  for (guint e = 0; e < G_N_ELEMENTS (endings); e++)
    {
      g_autofree char *name = g_strconcat (stem, endings[e], NULL);
      char *path = g_build_filename (dataset->spec->path, name, NULL);

      if (g_file_test (path, e == 0 ? G_FILE_TEST_IS_DIR : G_FILE_TEST_IS_REGULAR))
        return path;
      g_free (path);
    }
  return NULL;
}

/* ---- DIR/NAME_KEY.npy ---- */

/* The input @file belongs to, and where its key starts; n_inputs if none. The longest name wins: "ids" and "ids_2". */
static guint
source_inputs_match_input (const VnDataset *dataset,
                           const char      *file,
                           const char     **key)
{
  guint best = dataset->n_inputs;
  gsize longest = 0;

  for (guint k = 0; k < dataset->n_inputs; k++)
    {
      g_autofree char *stem = vn_input_file_name (dataset->inputs[k].name);
      gsize n = strlen (stem);

      if (n <= longest || !g_str_has_prefix (file, stem) || strchr ("_-.", file[n]) == NULL)
        continue;
      longest = n;
      best = k;
      *key = file + n;
    }
  return best;
}

static gboolean
source_inputs_open_grouped (VnDataset        *dataset,
                            const VnListing  *listing,
                            GError          **error)
{
  const guint n_inputs = dataset->n_inputs;
  g_autoptr(GHashTable) groups = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_free);
  g_autoptr(GPtrArray) keys = g_ptr_array_new ();

  for (guint i = 0; i < listing->tensors->len; i++)
    {
      const char *file = listing->tensors->pdata[i];
      const char *key = NULL;
      guint k = source_inputs_match_input (dataset, file, &key);
      const char **group;

      if (k == n_inputs)
        continue;
      group = g_hash_table_lookup (groups, key);
      if (group == NULL)
        {
          char *copy = g_strdup (key);

          group = g_new0 (const char *, n_inputs);
          g_hash_table_insert (groups, copy, group);
          g_ptr_array_add (keys, copy);
        }
      group[k] = file;
    }

  for (guint i = 0; i < keys->len; i++)
    {
      const char **group = g_hash_table_lookup (groups, keys->pdata[i]);
      g_auto(GStrv) paths = g_new0 (char *, n_inputs + 1);

      for (guint k = 0; k < n_inputs; k++)
        {
          if (group[k] == NULL && vn_dataset_may_fill (dataset, k))
            {
              paths[k] = g_strdup ("");
              continue;
            }
          if (group[k] == NULL)
            {
              g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA, _("“%s” has no file “%s%s” for input “%s”"),
                           dataset->spec->path, dataset->inputs[k].name, (char *) keys->pdata[i], dataset->inputs[k].name);
              return FALSE;
            }
          paths[k] = g_build_filename (dataset->spec->path, group[k], NULL);
        }
      vn_dataset_add (dataset, group[dataset->main_input] != NULL ? group[dataset->main_input] : (char *) keys->pdata[i], -1,
                      paths);
    }
  return TRUE;
}

static gboolean
inputs_claims (const VnDataset *dataset)
{
  g_auto(VnListing) listing = { 0 };

  if (!g_file_test (dataset->spec->path, G_FILE_TEST_IS_DIR))
    return FALSE;
  for (guint k = 0; k < dataset->n_inputs; k++)
    {
      g_autofree char *place = source_inputs_find_place (dataset, k);

      if (place != NULL)
        return TRUE;
    }
  if (dataset->n_inputs < 2 || !vn_listing_read (&listing, dataset->spec->path, NULL))
    return FALSE;
  for (guint i = 0; i < listing.tensors->len; i++)
    {
      const char *key;

      if (vn_file_kind (listing.tensors->pdata[i]) != VN_FILE_NPZ &&
          source_inputs_match_input (dataset, listing.tensors->pdata[i], &key) < dataset->n_inputs)
        return TRUE;
    }
  return FALSE;
}

static gboolean
inputs_open (VnDataset  *dataset,
             VnNotes    *notes,
             GError    **error)
{
  g_auto(GStrv) places = g_new0 (char *, dataset->n_inputs + 1);
  g_auto(VnListing) listing = { 0 };
  guint n_found = 0;

  for (guint k = 0; k < dataset->n_inputs; k++)
    {
      g_autofree char *place = source_inputs_find_place (dataset, k);

      n_found += place != NULL;
      places[k] = place != NULL ? g_steal_pointer (&place) : g_strdup ("");
    }
  if (n_found == 0)
    return vn_listing_read (&listing, dataset->spec->path, error) && source_inputs_open_grouped (dataset, &listing, error);

  for (guint k = 0; k < dataset->n_inputs; k++)
    if (*places[k] == '\0' && !vn_dataset_may_fill (dataset, k))
      {
        g_autofree char *stem = vn_input_file_name (dataset->inputs[k].name);

        g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA,
                     _("“%s” has neither a folder “%s” nor a list “%s.txt” for input “%s”"),
                     dataset->spec->path, stem, stem, dataset->inputs[k].name);
        return FALSE;
      }
  return source_inputs_open_places (dataset, places, error);
}

const VnSource vn_source_inputs = {
  .id = "inputs",
  .title = N_("a subfolder or list for each input"),
  .claims = inputs_claims,
  .open = inputs_open,
  .load = vn_dataset_load_file,
};
