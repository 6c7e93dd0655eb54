/* SPDX-License-Identifier: GPL-3.0-or-later */

/* What lies in a folder. Names with a known ending are taken for files without asking the disk, so that a folder of
 * many thousand pictures costs one pass over its directory. */

#include "vn-dataset-private.h"

#include "vn-i18n.h"

#include <string.h>

static const struct
{
  const char *ending;
  VnFileKind  kind;
} endings[] = {
  { ".jpg", VN_FILE_PICTURE },
  { ".jpeg", VN_FILE_PICTURE },
  { ".jpe", VN_FILE_PICTURE },
  { ".jfif", VN_FILE_PICTURE },
  { ".png", VN_FILE_PICTURE },
  { ".bmp", VN_FILE_PICTURE },
  { ".gif", VN_FILE_PICTURE },
  { ".tif", VN_FILE_PICTURE },
  { ".tiff", VN_FILE_PICTURE },
  { ".webp", VN_FILE_PICTURE },
  { ".pbm", VN_FILE_PICTURE },
  { ".pgm", VN_FILE_PICTURE },
  { ".ppm", VN_FILE_PICTURE },
  { ".pnm", VN_FILE_PICTURE },
  { ".npy", VN_FILE_NPY },
  { ".npz", VN_FILE_NPZ },
  { ".raw", VN_FILE_RAW },
  { ".bin", VN_FILE_RAW },
  { ".pb", VN_FILE_PB },
  { ".wav", VN_FILE_WAV },
};

/**
 * vn_file_kind:
 * @name: file name or path
 *
 * Returns: what its ending says, in any case of letters
 */
VnFileKind
vn_file_kind (const char *name)
{
  const char *dot = strrchr (name, '.');

  if (dot != NULL)
    for (guint i = 0; i < G_N_ELEMENTS (endings); i++)
      if (g_ascii_strcasecmp (dot, endings[i].ending) == 0)
        return endings[i].kind;
  return VN_FILE_OTHER;
}

/* A list may name files without an ending: those are pictures if anything. */
gboolean
vn_file_is_picture (const char *path)
{
  VnFileKind kind = vn_file_kind (path);

  return kind == VN_FILE_PICTURE || kind == VN_FILE_OTHER;
}

static gsize
file_list_digits (const char *text)
{
  return strspn (text, "0123456789");
}

/* Two runs of digits as numbers of any length. */
static int
file_list_compare_numbers (const char *a,
                           gsize       n_a,
                           const char *b,
                           gsize       n_b)
{
  for (; n_a > 1 && *a == '0'; n_a--)
    a++;
  for (; n_b > 1 && *b == '0'; n_b--)
    b++;
  if (n_a != n_b)
    return n_a < n_b ? -1 : 1;
  return strncmp (a, b, n_a);
}

/**
 * vn_natural_compare:
 *
 * Orders names as people count: 2 before 10. Independent of the locale, so that a list is the same everywhere.
 *
 * Returns: negative, 0 (equal names only) or positive
 */
int
vn_natural_compare (const char *a,
                    const char *b)
{
  const char *whole_a = a;
  const char *whole_b = b;

  while (*a != '\0' && *b != '\0')
    {
      gsize n_a = file_list_digits (a);
      gsize n_b = file_list_digits (b);
      int order = n_a > 0 && n_b > 0 ? file_list_compare_numbers (a, n_a, b, n_b) : (int) (guchar) *a - (int) (guchar) *b;

      if (order != 0)
        return order;
      a += n_a > 0 && n_b > 0 ? n_a : 1;
      b += n_a > 0 && n_b > 0 ? n_b : 1;
    }
  if (*a != *b)
    return *a == '\0' ? -1 : 1;
  return strcmp (whole_a, whole_b);
}

static gint
file_list_compare_names (gconstpointer a,
                         gconstpointer b)
{
  return vn_natural_compare (*(const char * const *) a, *(const char * const *) b);
}

/**
 * vn_listing_read:
 * @self: set on success; clear with vn_listing_clear()
 * @path: a folder
 *
 * Returns: %FALSE with a #GFileError if the folder cannot be read
 */
gboolean
vn_listing_read (VnListing   *self,
                 const char  *path,
                 GError     **error)
{
  g_autoptr(GDir) dir = g_dir_open (path, 0, error);
  const char *name;

  if (dir == NULL)
    return FALSE;
  self->pictures = g_ptr_array_new_with_free_func (g_free);
  self->tensors = g_ptr_array_new_with_free_func (g_free);
  self->folders = g_ptr_array_new_with_free_func (g_free);
  self->others = g_ptr_array_new_with_free_func (g_free);

  while ((name = g_dir_read_name (dir)) != NULL)
    {
      VnFileKind kind = vn_file_kind (name);
      g_autofree char *full = NULL;

      if (name[0] == '.')
        continue;
      if (kind != VN_FILE_OTHER)
        {
          g_ptr_array_add (kind == VN_FILE_PICTURE ? self->pictures : self->tensors, g_strdup (name));
          continue;
        }
      full = g_build_filename (path, name, NULL);
      g_ptr_array_add (g_file_test (full, G_FILE_TEST_IS_DIR) ? self->folders : self->others, g_strdup (name));
    }

  g_ptr_array_sort (self->pictures, file_list_compare_names);
  g_ptr_array_sort (self->tensors, file_list_compare_names);
  g_ptr_array_sort (self->folders, file_list_compare_names);
  g_ptr_array_sort (self->others, file_list_compare_names);
  return TRUE;
}

void
vn_listing_clear (VnListing *self)
{
  g_clear_pointer (&self->pictures, g_ptr_array_unref);
  g_clear_pointer (&self->tensors, g_ptr_array_unref);
  g_clear_pointer (&self->folders, g_ptr_array_unref);
  g_clear_pointer (&self->others, g_ptr_array_unref);
}

/**
 * vn_input_file_name:
 * @input: name of a network input
 *
 * Returns: (transfer full): the name with the characters that files should not have replaced by _
 */
char *
vn_input_file_name (const char *input)
{
  return g_strdelimit (g_strdup (input), "/:\\", '_');
}
