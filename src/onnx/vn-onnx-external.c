/* SPDX-License-Identifier: GPL-3.0-or-later */
/* External data: checks where they are said to be, and maps the file once. */
#include "vn-onnx-private.h"

#include "vn-checked.h"
#include "vn-error.h"
#include "vn-file.h"
#include "vn-i18n.h"

#include <stdlib.h>
#include <string.h>

typedef struct
{
  const char *location;
  guint64     offset;
  guint64     length;
  gboolean    has_length;
} Place;

static gboolean
onnx_external_parse_number (const char  *key,
                            const char  *text,
                            guint64     *value,
                            GError     **error)
{
  if (text != NULL && g_ascii_string_to_unsigned (text, 10, 0, G_MAXINT64, value, NULL))
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("external data: %s is “%s”, not a number"),
               key, text != NULL ? text : "");
  return FALSE;
}

static gboolean
onnx_external_parse_place (const PbTensor  *proto,
                           Place           *place,
                           GError         **error)
{
  for (gsize i = 0; i < proto->n_external_data; i++)
    {
      const PbEntry *entry = proto->external_data[i];

      if (g_strcmp0 (entry->key, "location") == 0)
        place->location = entry->value;
      else if (g_strcmp0 (entry->key, "offset") == 0)
        {
          if (!onnx_external_parse_number ("offset", entry->value, &place->offset, error))
            return FALSE;
        }
      else if (g_strcmp0 (entry->key, "length") == 0)
        {
          if (!onnx_external_parse_number ("length", entry->value, &place->length, error))
            return FALSE;
          place->has_length = TRUE;
        }
    }
  if (place->location != NULL && *place->location != '\0')
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("external data: no file is specified"));
  return FALSE;
}

/* A model must not make us read files elsewhere on the machine. */
static gboolean
onnx_external_check_location (const char  *location,
                              GError     **error)
{
  g_auto(GStrv) parts = g_strsplit (location, "/", -1);

  if (!g_path_is_absolute (location) && !g_strv_contains ((const char * const *) parts, ".."))
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED,
               _("external data: “%s” points outside the folder of the model"), location);
  return FALSE;
}

static gboolean
onnx_external_is_below (const char *path,
                        const char *folder)
{
  const gsize n = strlen (folder);

  return strncmp (path, folder, n) == 0 && (path[n] == '/' || (n > 0 && folder[n - 1] == '/'));
}

/* A link may lead out of the folder as “..” does. Where the model is a link itself, as in a cache of downloads, its data may lie
 * beside what that leads to. */
static gboolean
onnx_external_check_links (const char  *model,
                           const char  *folder,
                           const char  *location,
                           const char  *path,
                           GError     **error)
{
  g_autofree char *real = realpath (path, NULL), *real_model = realpath (model, NULL), *real_folder = realpath (folder, NULL);
  g_autofree char *beside = real_model != NULL ? g_path_get_dirname (real_model) : NULL;

  if (real == NULL || (real_folder != NULL && onnx_external_is_below (real, real_folder)) ||
      (beside != NULL && onnx_external_is_below (real, beside)))
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED,
               _("external data: “%s” is a link to “%s”, outside of the model's folder; put the file itself there"),
               location, real);
  return FALSE;
}

static GBytes *
onnx_external_map_location (VnOnnxReader  *self,
                            const char    *location,
                            GError       **error)
{
  GBytes *bytes = g_hash_table_lookup (self->external, location);
  g_autofree char *folder = NULL;
  g_autofree char *path = NULL;

  if (bytes != NULL)
    return bytes;
  if (!onnx_external_check_location (location, error))
    return NULL;
  if (self->path == NULL)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA,
                   _("its data are in the file “%s”, but the model was not read from a file"), location);
      return NULL;
    }
  folder = g_path_get_dirname (self->path);
  path = g_build_filename (folder, location, NULL);
  if (!onnx_external_check_links (self->path, folder, location, path, error))
    return NULL;
  bytes = vn_file_map (path, error);
  if (bytes == NULL)
    {
      g_prefix_error (error, _("external data are missing: "));
      return NULL;
    }
  vn_file_watch_map (bytes);
  self->external_bytes += g_bytes_get_size (bytes);
  if (self->model != NULL)
    {
      g_ptr_array_add (self->model->files, g_strdup (path));
      g_ptr_array_add (self->model->maps, g_bytes_ref (bytes));
    }
  g_hash_table_insert (self->external, g_strdup (location), bytes);
  return bytes;
}

/**
 * vn_onnx_external_map:
 * @proto: a tensor whose data_location is external
 * @n_bytes: how many it needs
 *
 * The named file is looked for beside the model and mapped once. Its path must be relative and must not climb.
 *
 * Returns: (transfer full) (nullable): a view into the mapped file
 */
GBytes *
vn_onnx_external_map (VnOnnxReader    *self,
                      const PbTensor  *proto,
                      gsize            n_bytes,
                      GError         **error)
{
  Place place = { 0 };
  GBytes *file;
  gsize end;

  if (!onnx_external_parse_place (proto, &place, error) ||
      (file = onnx_external_map_location (self, place.location, error)) == NULL)
    return NULL;
  if (place.has_length && place.length != n_bytes)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED,
                   ngettext ("external data: there is %llu byte, but the shape needs %zu",
                             "external data: there are %llu bytes, but the shape needs %zu", place.length),
                   (unsigned long long) place.length, n_bytes);
      return NULL;
    }
  if (!vn_checked_add (place.offset, n_bytes, &end) || end > g_bytes_get_size (file))
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED,
                   _("external data: bytes %llu to %llu are requested, but “%s” has %zu"),
                   (unsigned long long) place.offset, (unsigned long long) (place.offset + n_bytes), place.location,
                   g_bytes_get_size (file));
      return NULL;
    }
  return g_bytes_new_from_bytes (file, place.offset, n_bytes);
}
