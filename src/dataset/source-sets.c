/* SPDX-License-Identifier: GPL-3.0-or-later */

/* One sub-folder per sample, as ONNX ships its test data: input_0.pb, input_1.pb ... in the order of the inputs. A
 * file named after the input (image.npy) will do as well. Such a sub-folder alone is one sample. */

#include "vn-dataset-private.h"

#include "vn-error.h"
#include "vn-i18n.h"

/* The file of input @k in @folder. */
static char *
source_sets_find_input (const VnDataset *dataset,
                        const char      *folder,
                        guint            k)
{
  static const char * const endings[] = { ".pb", ".npy", ".raw", ".bin" };
  g_autofree char *name = vn_input_file_name (dataset->inputs[k].name);
  g_autofree char *number = g_strdup_printf ("input_%u", k);
  const char *stems[] = { number, name };

  for (guint s = 0; s < G_N_ELEMENTS (stems); s++)
    for (guint e = 0; e < G_N_ELEMENTS (endings); e++)
      {
        g_autofree char *file = g_strconcat (stems[s], endings[e], NULL);
        char *path = g_build_filename (folder, file, NULL);

        if (g_file_test (path, G_FILE_TEST_IS_REGULAR))
          return path;
        g_free (path);
      }
  return NULL;
}

/* Whether the folder itself is one sample, and not several that happen to be called so. */
static gboolean
source_sets_is_set (const VnDataset *dataset)
{
  g_autofree char *input = g_build_filename (dataset->spec->path, "input_0.pb", NULL);
  g_autofree char *output = g_build_filename (dataset->spec->path, "output_0.pb", NULL);

  return g_file_test (input, G_FILE_TEST_IS_REGULAR) && (dataset->n_inputs > 1 || g_file_test (output, G_FILE_TEST_IS_REGULAR));
}

static gboolean
sets_claims (const VnDataset *dataset)
{
  g_auto(VnListing) listing = { 0 };

  if (source_sets_is_set (dataset))
    return TRUE;
  if (!g_file_test (dataset->spec->path, G_FILE_TEST_IS_DIR) ||
      !vn_listing_read (&listing, dataset->spec->path, NULL) ||
      listing.pictures->len + listing.tensors->len > 0)
    return FALSE;
  for (guint i = 0; i < listing.folders->len; i++)
    {
      g_autofree char *folder = g_build_filename (dataset->spec->path, listing.folders->pdata[i], NULL);
      g_autofree char *file = source_sets_find_input (dataset, folder, dataset->main_input);

      if (file != NULL)
        return TRUE;
    }
  return FALSE;
}

/* Adds the sample in @folder, or notes what it lacks. */
static void
source_sets_add_set (VnDataset  *dataset,
                     const char *name,
                     const char *folder,
                     VnNotes    *notes)
{
  g_auto(GStrv) paths = g_new0 (char *, dataset->n_inputs + 1);
  guint k = 0;

  for (; k < dataset->n_inputs; k++)
    {
      paths[k] = source_sets_find_input (dataset, folder, k);
      if (paths[k] == NULL && k != dataset->main_input && vn_dataset_may_fill (dataset, k))
        paths[k] = g_strdup ("");
      if (paths[k] == NULL)
        break;
    }
  if (k == dataset->n_inputs)
    vn_dataset_add (dataset, name, -1, paths);
  else
    vn_notes_add (notes, VN_NOTE_WARNING, "sample-incomplete", name,
                  _("Skipped: no file for input %u, “%s”"), k, dataset->inputs[k].name);
}

static gboolean
sets_open (VnDataset  *dataset,
           VnNotes    *notes,
           GError    **error)
{
  g_auto(VnListing) listing = { 0 };

  if (!vn_listing_read (&listing, dataset->spec->path, error))
    return FALSE;
  if (source_sets_is_set (dataset))
    {
      g_autofree char *name = g_path_get_basename (dataset->spec->path);

      source_sets_add_set (dataset, name, dataset->spec->path, notes);
    }
  for (guint i = 0; i < listing.folders->len && !source_sets_is_set (dataset); i++)
    {
      g_autofree char *folder = g_build_filename (dataset->spec->path, listing.folders->pdata[i], NULL);

      source_sets_add_set (dataset, listing.folders->pdata[i], folder, notes);
    }
  if (dataset->samples->len > 0)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA,
               _("No subfolder of “%s” has a file for each of the %u inputs: expected input_0.pb and so on"),
               dataset->spec->path, dataset->n_inputs);
  return FALSE;
}

const VnSource vn_source_sets = {
  .id = "sets",
  .title = N_("a folder per sample"),
  .claims = sets_claims,
  .open = sets_open,
  .load = vn_dataset_load_file,
};
