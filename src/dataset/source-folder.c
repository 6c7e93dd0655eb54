/* SPDX-License-Identifier: GPL-3.0-or-later */

/* A folder of samples, or of one sub-folder per class. Pictures win over tensors that lie beside them; a tensor that lies
 * there alone may hold several samples, stacked. Sub-folders count as classes only if no sample lies in the folder itself;
 * an empty one keeps its number, so that classes are numbered as in the full data set. */

#include "vn-dataset-private.h"

#include "vn-error.h"
#include "vn-i18n.h"

static gboolean
folder_claims (const VnDataset *dataset)
{
  return g_file_test (dataset->spec->path, G_FILE_TEST_IS_DIR);
}

static GPtrArray *
source_folder_pick_samples (const VnListing *listing)
{
  return listing->pictures->len > 0 ? listing->pictures : listing->tensors;
}

static void
source_folder_note_ignored (VnNotes         *notes,
                            const char      *path,
                            const VnListing *listing)
{
  guint n_mixed = listing->pictures->len > 0 ? listing->tensors->len : 0;
  GPtrArray *samples = source_folder_pick_samples (listing);

  if (samples->len > 0 && listing->folders->len > 0)
    vn_notes_add (notes, VN_NOTE_INFO, "data-folders-ignored", path,
                  ngettext ("%u subfolder is ignored because there are samples next to it",
                            "%u subfolders are ignored because there are samples next to them", listing->folders->len),
                            listing->folders->len);
  if (listing->others->len + n_mixed > 0)
    vn_notes_add (notes, VN_NOTE_INFO, "data-files-ignored", path,
                  ngettext ("%u file is ignored, “%s”",
                            "%u files are ignored, such as “%s”", listing->others->len + n_mixed), listing->others->len + n_mixed,
                  (const char *) (n_mixed > 0 ? listing->tensors : listing->others)->pdata[0]);
}

static void
source_folder_add_file (VnDataset  *dataset,
                        const char *folder,      /* nullable: class */
                        const char *name,
                        int         label)
{
  g_autofree char *shown = folder != NULL ? g_build_filename (folder, name, NULL) : g_strdup (name);
  g_autofree char *whole = g_build_filename (dataset->spec->path, shown, NULL);
  g_auto(GStrv) paths = g_new0 (char *, dataset->n_inputs + 1);

  for (guint k = 0; k < dataset->n_inputs; k++)
    paths[k] = vn_dataset_dup_path (dataset, k, whole);
  vn_dataset_add (dataset, shown, label, paths);
}

static gboolean
source_folder_add_classes (VnDataset        *dataset,
                           const VnListing  *top,
                           VnNotes          *notes,
                           GError          **error)
{
  for (guint c = 0; c < top->folders->len; c++)
    {
      const char *folder = top->folders->pdata[c];
      g_autofree char *path = g_build_filename (dataset->spec->path, folder, NULL);
      g_auto(VnListing) listing = { 0 };
      GPtrArray *samples;

      if (!vn_listing_read (&listing, path, error))
        return FALSE;
      samples = source_folder_pick_samples (&listing);
      for (guint i = 0; i < samples->len; i++)
        source_folder_add_file (dataset, folder, samples->pdata[i], (int) c);
      source_folder_note_ignored (notes, path, &listing);
      g_ptr_array_add (dataset->classes, g_strdup (folder));
    }
  return TRUE;
}

/* Several inputs need more than one file per sample, unless those are .npz. */
static gboolean
source_folder_check_inputs (const VnDataset  *dataset,
                            GError          **error)
{
  g_autoptr(GString) names = g_string_new (NULL);

  for (guint i = 0; !dataset->has_main && i < dataset->samples->len; i++)
    {
      const VnSample *sample = g_ptr_array_index (dataset->samples, i);

      if (sample->paths != NULL && vn_file_kind (sample->paths[0]) == VN_FILE_NPZ)
        continue;
      for (guint k = 0; k < dataset->n_inputs; k++)
        g_string_append_printf (names, "%s%s", k > 0 ? ", " : "", dataset->inputs[k].name);
      g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA,
                   _("The model has %u inputs (%s); “%s” needs a subfolder or a list for each of them, or .npz files "
                     "with all of them"), dataset->n_inputs, names->str, dataset->spec->path);
      return FALSE;
    }
  return TRUE;
}

/* One tensor alone is taken as if it had been named itself. */
static gboolean
source_folder_add_alone (VnDataset   *dataset,
                         const char  *name,
                         GError     **error)
{
  g_autofree char *path = g_build_filename (dataset->spec->path, name, NULL);

  return vn_dataset_add_stacked (dataset, path, error);
}

static gboolean
folder_open (VnDataset  *dataset,
             VnNotes    *notes,
             GError    **error)
{
  g_auto(VnListing) listing = { 0 };
  GPtrArray *samples;

  if (!vn_listing_read (&listing, dataset->spec->path, error))
    return FALSE;
  samples = source_folder_pick_samples (&listing);
  if (samples->len == 1 && samples == listing.tensors && !source_folder_add_alone (dataset, samples->pdata[0], error))
    return FALSE;
  for (guint i = 0; i < samples->len && dataset->samples->len < samples->len; i++)
    source_folder_add_file (dataset, NULL, samples->pdata[i], -1);
  source_folder_note_ignored (notes, dataset->spec->path, &listing);
  if (samples->len == 0 && !source_folder_add_classes (dataset, &listing, notes, error))
    return FALSE;
  if (dataset->samples->len > 0)
    return source_folder_check_inputs (dataset, error);

  if (listing.folders->len == 0)
    g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA,
                 _("There are no samples in “%s”: expected images (JPEG, PNG, BMP, GIF, TIFF, WebP, PNM) or tensors "
                   "(.npy, .npz, .raw, .bin, .pb, .wav)"), dataset->spec->path);
  else
    g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA,
                 ngettext ("There are no samples in “%s” or in its %u subfolder: expected images (JPEG, PNG, BMP, "
                           "GIF, TIFF, WebP, PNM) or tensors (.npy, .npz, .raw, .bin, .pb, .wav)",
                           "There are no samples in “%s” or in its %u subfolders: expected images (JPEG, PNG, BMP, "
                           "GIF, TIFF, WebP, PNM) or tensors (.npy, .npz, .raw, .bin, .pb, .wav)", listing.folders->len),
                 dataset->spec->path, listing.folders->len);
  return FALSE;
}

const VnSource vn_source_folder = {
  .id = "folder",
  .title = N_("a folder of samples"),
  .claims = folder_claims,
  .open = folder_open,
  .load = vn_dataset_load_stacked,
};
