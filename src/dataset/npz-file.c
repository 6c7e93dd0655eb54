/* SPDX-License-Identifier: GPL-3.0-or-later */

/* One array out of an .npz, which is a ZIP archive of .npy files, stored or deflated. The central directory at the
 * end of the archive is read; sizes above 4 GB (ZIP64) are not. The header of an array is unpacked first: what it announces
 * must suit the network, and no more than that is unpacked.
 *
 *   end record (at the end, 22 bytes and a comment): "PK\5\6", ... +10 entries, +12 size and +16 start of the directory
 *   directory entry (46 bytes): "PK\1\2", ... +10 method, +20 packed size, +24 size, +28 name, +30 extra and +32
 *     comment length, +42 start of the local header, +46 name
 *   local header (30 bytes): "PK\3\4", ... +26 name and +28 extra length, then the data
 */

#include "vn-dataset-private.h"

#include "vn-error.h"
#include "vn-file.h"
#include "vn-i18n.h"
#include "vn-memory.h"
#include "vn-message.h"

#include <gio/gio.h>
#include <string.h>

#define END_SIZE 22
#define ENTRY_SIZE 46
#define LOCAL_SIZE 30
#define FIRST_PART ((gsize) 4096)         /* of an array; its header is nearly always shorter */
#define UNPACKED_FREE ((gsize) 256 << 20)  /* that an array may always have, */
#define UNPACKED_TIMES 4                   /* and so many times what it has packed */

typedef struct
{
  const guint8 *data;
  gsize         size;
  gsize         at;          /* of the directory entry */
  guint         n_entries;
} Archive;

typedef struct
{
  guint  method;
  gsize  packed, size, local;
  char  *name;               /* without .npy */
} Entry;

static guint
npz_file_get_16 (const guint8 *at)
{
  return at[0] | (guint) at[1] << 8;
}

static guint32
npz_file_get_32 (const guint8 *at)
{
  return npz_file_get_16 (at) | (guint32) npz_file_get_16 (at + 2) << 16;
}

static gboolean
npz_file_damaged (GError **error)
{
  g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("The .npz archive is damaged or larger than 4 GB"));
  return FALSE;
}

static gboolean
npz_file_archive_open (Archive  *self,
                       GBytes   *bytes,
                       GError  **error)
{
  self->data = g_bytes_get_data (bytes, &self->size);
  if (self->size < END_SIZE)
    return npz_file_damaged (error);
  for (gsize at = self->size - END_SIZE;; at--)
    {
      if (memcmp (self->data + at, "PK\5\6", 4) == 0)
        {
          self->n_entries = npz_file_get_16 (self->data + at + 10);
          self->at = npz_file_get_32 (self->data + at + 16);
          return TRUE;
        }
      if (at == 0 || self->size - at > END_SIZE + G_MAXUINT16)
        return npz_file_damaged (error);
    }
}

/* The entry at self->at, which moves on. @entry->name is to be freed. */
static gboolean
npz_file_archive_next (Archive  *self,
                       Entry    *entry,
                       GError  **error)
{
  const guint8 *at = self->data + self->at;
  gsize name_size, whole;

  if (self->at > self->size || self->size - self->at < ENTRY_SIZE || memcmp (at, "PK\1\2", 4) != 0)
    return npz_file_damaged (error);
  name_size = npz_file_get_16 (at + 28);
  whole = ENTRY_SIZE + name_size + npz_file_get_16 (at + 30) + npz_file_get_16 (at + 32);
  if (self->size - self->at < whole)
    return npz_file_damaged (error);
  *entry = (Entry) { npz_file_get_16 (at + 10), npz_file_get_32 (at + 20), npz_file_get_32 (at + 24), npz_file_get_32 (at + 42),
                     g_strndup ((const char *) at + ENTRY_SIZE, name_size) };
  if (g_str_has_suffix (entry->name, ".npy"))
    entry->name[strlen (entry->name) - 4] = '\0';
  self->at += whole;
  return TRUE;
}

/* The first @size bytes of what @packed unpacks to. */
static GBytes *
npz_file_inflate (GBytes  *packed,
                  gsize    size,
                  GError **error)
{
  g_autoptr(GZlibDecompressor) zlib = g_zlib_decompressor_new (G_ZLIB_COMPRESSOR_FORMAT_RAW);
  gsize n_packed, n_in = 0, n_out = 0;
  const guint8 *data = g_bytes_get_data (packed, &n_packed);
  guint8 *out = vn_memory_alloc (size, 1, error);
  GConverterResult result = G_CONVERTER_CONVERTED;

  if (out == NULL)
    return NULL;
  while (result == G_CONVERTER_CONVERTED && n_out < size)
    {
      gsize read, written;

      result = g_converter_convert (G_CONVERTER (zlib), data + n_in, n_packed - n_in, out + n_out, size - n_out,
                                    G_CONVERTER_INPUT_AT_END, &read, &written, NULL);
      n_in += read;
      n_out += written;
    }
  if (result != G_CONVERTER_ERROR && n_out == size)
    return g_bytes_new_take (out, size);
  g_free (out);
  npz_file_damaged (error);
  return NULL;
}

static gboolean
npz_file_check_size (const Entry     *entry,
                     const VnNpyInfo *info,
                     GError         **error)
{
  g_autofree char *shape = NULL;

  if (info->n_bytes <= UNPACKED_FREE || (info->n_bytes - UNPACKED_FREE) / UNPACKED_TIMES <= entry->packed)
    return TRUE;
  shape = vn_shape_to_string (&info->shape, "×");
  g_set_error (error, VN_ERROR, VN_ERROR_LIMIT,
               _("The array of shape %s would expand from %zu compressed bytes to %zu, above the limit of %d times "
                 "the size plus %zu MB: save it as .npy"), shape, entry->packed, info->n_bytes, UNPACKED_TIMES,
                 UNPACKED_FREE >> 20);
  return FALSE;
}

/* As much of the array as its header announces, if @input can take that. */
static GBytes *
npz_file_unpack (GBytes             *packed,
                 const Entry        *entry,
                 const VnInputSpec  *input,
                 GError            **error)
{
  g_autoptr(GBytes) first = npz_file_inflate (packed, MIN (entry->size, FIRST_PART), error);
  VnNpyInfo info;
  gsize needed;

  if (first != NULL && entry->size > FIRST_PART && vn_npy_get_data_offset (first) > FIRST_PART)
    {
      needed = MIN (entry->size, vn_npy_get_data_offset (first));
      g_clear_pointer (&first, g_bytes_unref);
      first = npz_file_inflate (packed, needed, error);
    }
  if (first == NULL || !vn_npy_parse_header (first, entry->size, &info, error) ||
      !vn_tensor_file_check (info.dtype, &info.shape, input, error) || !npz_file_check_size (entry, &info, error))
    return NULL;
  needed = info.offset + info.n_bytes;
  return needed <= g_bytes_get_size (first) ? g_steal_pointer (&first) : npz_file_inflate (packed, needed, error);
}

static GBytes *
npz_file_archive_extract (const Archive      *self,
                          GBytes             *bytes,
                          const Entry        *entry,
                          const VnInputSpec  *input,
                          GError            **error)
{
  g_autoptr(GBytes) packed = NULL;
  gsize start;

  if (entry->local > self->size || self->size - entry->local < LOCAL_SIZE ||
      memcmp (self->data + entry->local, "PK\3\4", 4) != 0)
    {
      npz_file_damaged (error);
      return NULL;
    }
  start = entry->local + LOCAL_SIZE + npz_file_get_16 (self->data + entry->local + 26)
          + npz_file_get_16 (self->data + entry->local + 28);
  if (start > self->size || self->size - start < entry->packed || (entry->method != 0 && entry->method != 8) ||
      (entry->method == 0 && entry->packed != entry->size))
    {
      npz_file_damaged (error);
      return NULL;
    }
  packed = g_bytes_new_from_bytes (bytes, start, entry->packed);
  return entry->method == 8 ? npz_file_unpack (packed, entry, input, error) : g_steal_pointer (&packed);
}

/* The array called as @input, or the only one there is. */
static GBytes *
npz_file_find_array (GBytes             *bytes,
                     const VnInputSpec  *input,
                     GError            **error)
{
  const char *name = input->name;
  g_autofree char *file_name = vn_input_file_name (name);
  g_autoptr(GString) known = g_string_new (NULL);
  Archive archive;

  if (!npz_file_archive_open (&archive, bytes, error))
    return NULL;
  for (guint i = 0; i < archive.n_entries; i++)
    {
      g_autofree char *entry_name = NULL;
      Entry entry;

      if (!npz_file_archive_next (&archive, &entry, error))
        return NULL;
      entry_name = entry.name;
      if ((archive.n_entries == 1 && !input->by_name) || g_str_equal (entry_name, name) || g_str_equal (entry_name, file_name))
        return npz_file_archive_extract (&archive, bytes, &entry, input, error);
      g_string_append_printf (known, "%s%s", i > 0 ? ", " : "", entry_name);
    }
  g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA, _("There is no array “%s”; available arrays: %s"), name, known->str);
  return NULL;
}

/**
 * vn_npz_read:
 * @path: an .npz file
 * @input: chooses the array by its name, if there are several; a packed one that it cannot take, as one sample or
 *   several stacked, is not unpacked, and neither is one that grows beyond measure
 *
 * Returns: (transfer full) (nullable): the array; errors name the file
 */
VnTensor *
vn_npz_read (const char         *path,
             const VnInputSpec  *input,
             GError            **error)
{
  g_autoptr(GBytes) bytes = vn_file_map (path, error);
  g_autoptr(GBytes) array = NULL;
  VnTensor *tensor = NULL;

  if (bytes == NULL)
    return NULL;
  array = npz_file_find_array (bytes, input, error);
  if (array != NULL)
    tensor = vn_npy_parse (array, error);
  if (tensor == NULL)
    g_prefix_error (error, "“%s”: ", path);
  vn_message_make_valid (error);
  return tensor;
}

/*< private >
 * vn_npz_lacks:
 * @path: an .npz file
 * @input: whose array is chosen by its name
 *
 * Returns: whether the file can be read, and has none that is called so
 */
gboolean
vn_npz_lacks (const char        *path,
              const VnInputSpec *input)
{
  g_autoptr(GBytes) bytes = NULL, array = NULL;
  g_autoptr(GError) reason = NULL;

  g_return_val_if_fail (path != NULL && input != NULL, FALSE);

  bytes = vn_file_map (path, NULL);
  array = bytes != NULL ? npz_file_find_array (bytes, input, &reason) : NULL;
  return bytes != NULL && array == NULL && g_error_matches (reason, VN_ERROR, VN_ERROR_MISSING_DATA);
}
