/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Tables of given ranges, and which kind of file one is: JSON begins with a brace; ONNX Runtime's calibration.cache is text,
 * a name and a number a line; its calibration.flatbuffers is neither. */

#include "vn-encodings-private.h"

#include "vn-error.h"
#include "vn-file.h"
#include "vn-i18n.h"
#include "vn-memory.h"
#include "vn-message.h"

#include <math.h>
#include <string.h>

#define MAX_FILE ((gsize) 256 << 20)

struct _VnGivenTable
{
  GPtrArray  *names;     /* of char */
  GHashTable *by_name;   /* borrowed name -> VnEncoding */
};

/**
 * vn_encoding_clear:
 *
 * Frees what @self holds, which then says nothing.
 */
void
vn_encoding_clear (VnEncoding *self)
{
  g_free (self->scales);
  g_free (self->zero_points);
  *self = (VnEncoding) { 0 };
}

static VnEncoding *
encodings_copy_imported (const VnEncoding *imported)
{
  VnEncoding *copy = g_memdup2 (imported, sizeof *imported);

  copy->scales = g_memdup2 (imported->scales, imported->n * sizeof *imported->scales);
  copy->zero_points = g_memdup2 (imported->zero_points, imported->n * sizeof *imported->zero_points);
  return copy;
}

static void
encodings_free_imported (gpointer data)
{
  vn_encoding_clear (data);
  g_free (data);
}

VnEncodingTable *
vn_encoding_table_new (void)
{
  VnEncodingTable *self = g_new0 (VnEncodingTable, 1);

  self->names = g_ptr_array_new_with_free_func (g_free);
  self->by_name = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, encodings_free_imported);
  return self;
}

void
vn_encoding_table_free (VnEncodingTable *self)
{
  g_hash_table_unref (self->by_name);
  g_ptr_array_unref (self->names);
  g_free (self);
}

static gboolean
encodings_check_scale (const char  *tensor,
                       float        scale,
                       GError     **error)
{
  if (isfinite (scale) && scale > 0)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("“%s”: the scale %g is not allowed; it must be larger than 0"),
               tensor, (double) scale);
  return FALSE;
}

static gboolean
encodings_check_zero_point (const char  *tensor,
                            VnDType      dtype,
                            gint64       zero_point,
                            GError     **error)
{
  gint64 low, high;

  if (dtype == VN_DTYPE_UNDEFINED)
    return TRUE;
  vn_dtype_integer_range (dtype, &low, &high);
  if (zero_point >= low && zero_point <= high)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED,
               _("“%s”: the zero point %lld is not allowed; %s has the integers from %lld to %lld"), tensor,
               (long long) zero_point, vn_dtype_get_name (dtype), (long long) low, (long long) high);
  return FALSE;
}

static gboolean
encodings_check (const char     *tensor,
                 const VnEncoding  *imported,
                 GError        **error)
{
  gboolean good = TRUE;

  if (imported->has_params)
    {
      good = encodings_check_scale (tensor, imported->scale, error) && encodings_check_zero_point (tensor, imported->dtype, imported->zero_point, error);
      for (guint i = 0; good && i < imported->n; i++)
        good = encodings_check_scale (tensor, imported->scales[i], error) &&
               encodings_check_zero_point (tensor, imported->dtype, imported->zero_points[i], error);
      return good;
    }
  if (isfinite (imported->range.min) && isfinite (imported->range.max) && imported->range.min <= imported->range.max)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED,
               _("“%s”: the range from %g to %g is not allowed; the minimum must not be larger than the maximum"),
               tensor, imported->range.min, imported->range.max);
  return FALSE;
}

/**
 * vn_encoding_table_add:
 *
 * Returns: %FALSE if what is given cannot be, or @tensor is in the table already
 */
gboolean
vn_encoding_table_add (VnEncodingTable   *self,
                       const char     *tensor,
                       const VnEncoding  *imported,
                       GError        **error)
{
  char *name;

  if (!g_utf8_validate (tensor, -1, NULL) || *tensor == '\0')
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("The name of a tensor is empty or not text"));
      return FALSE;
    }
  if (!encodings_check (tensor, imported, error))
    return FALSE;
  if (g_hash_table_contains (self->by_name, tensor))
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("“%s” is there twice"), tensor);
      return FALSE;
    }
  name = g_strdup (tensor);
  g_ptr_array_add (self->names, name);
  g_hash_table_insert (self->by_name, name, encodings_copy_imported (imported));
  return TRUE;
}

const VnEncoding *
vn_encoding_table_get (VnEncodingTable *self,
                       const char   *tensor)
{
  return g_hash_table_lookup (self->by_name, tensor);
}

guint
vn_encoding_table_get_n (VnEncodingTable *self)
{
  return self->names->len;
}

const char *
vn_encoding_table_get_name (VnEncodingTable *self,
                            guint         i)
{
  g_return_val_if_fail (i < self->names->len, NULL);

  return self->names->pdata[i];
}

gboolean
vn_encoding_add_amplitude (VnEncodingTable  *self,
                           const char    *tensor,
                           const char    *text,
                           GError       **error)
{
  char *end;
  double amplitude = g_ascii_strtod (text, &end);

  if (end == text || *end != '\0' || !isfinite (amplitude))
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("“%s”: “%s” is not a number"), tensor, text);
      return FALSE;
    }
  return vn_encoding_table_add (self, tensor, &(VnEncoding) { .range = { -fabs (amplitude), fabs (amplitude) } }, error);
}

/* Names may have blanks, numbers have none. */
static gboolean
encodings_parse_lines (VnEncodingTable  *self,
                       const char    *text,
                       gsize          length,
                       GError       **error)
{
  g_autofree char *copy = vn_memory_dup_text (text, length, error);
  g_auto(GStrv) lines = copy != NULL ? g_strsplit (copy, "\n", -1) : NULL;

  if (lines == NULL)
    return FALSE;
  for (guint i = 0; lines[i] != NULL; i++)
    {
      char *line = g_strchomp (lines[i]);
      char *blank = strrchr (line, ' ');

      if (*line == '\0')
        continue;
      if (blank == NULL)
        {
          g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("line %u: a name, a blank and a number are expected"), i + 1);
          return FALSE;
        }
      *blank = '\0';
      if (!vn_encoding_add_amplitude (self, line, blank + 1, error))
        {
          g_prefix_error (error, _("line %u: "), i + 1);
          return FALSE;
        }
    }
  return TRUE;
}

static gboolean
encodings_parse_any (VnEncodingTable  *self,
                     GBytes        *bytes,
                     const char    *name,
                     GError       **error)
{
  gsize size, at = 0;
  const char *data = g_bytes_get_data (bytes, &size);

  if (size > MAX_FILE)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_LIMIT, _("It has %zu bytes; a table of ranges may have %zu"), size, MAX_FILE);
      return FALSE;
    }
  while (at < size && g_ascii_isspace (data[at]))
    at++;
  if (at < size && data[at] == '{')
    return vn_encoding_parse_json (self, data, size, name, error);
  if (size == 0)
    return TRUE;
  if (g_utf8_validate_len (data, size, NULL))   /* no NUL in it */
    return encodings_parse_lines (self, data, size, error);
  return vn_encoding_parse_flatbuffer (self, bytes, error);
}

/**
 * vn_encoding_table_parse:
 * @bytes: Vernier's own JSON, parameters as onnxruntime.quantization took them, one of the three files that its
 *   write_calibration_table() makes, or a table of PPQ
 *
 * Returns: (transfer full) (nullable): the table; never an empty one
 */
VnEncodingTable *
vn_encoding_table_parse (GBytes      *bytes,
                         const char  *name,
                         GError     **error)
{
  g_autoptr(VnEncodingTable) self = vn_encoding_table_new ();

  if (!encodings_parse_any (self, bytes, name, error))
    {
      g_prefix_error (error, _("“%s” is no usable table of ranges: "), name);
      vn_message_make_valid (error);
      return NULL;
    }
  if (self->names->len > 0)
    return g_steal_pointer (&self);
  g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("“%s” is no usable table of ranges: it has no entries"), name);
  return NULL;
}

/**
 * vn_encoding_table_load:
 *
 * Returns: (transfer full) (nullable): the table in a file
 */
VnEncodingTable *
vn_encoding_table_load (const char  *path,
                        GError     **error)
{
  g_autoptr(GBytes) bytes = vn_file_map (path, error);

  return bytes != NULL ? vn_encoding_table_parse (bytes, path, error) : NULL;
}

/**
 * vn_encoding_table_save:
 *
 * Writes Vernier's own JSON, which gives back the same bits.
 */
gboolean
vn_encoding_table_save (VnEncodingTable  *self,
                        const char    *path,
                        GError       **error)
{
  g_autofree char *text = vn_encoding_to_json (self);

  return vn_file_write_all (path, text, strlen (text), error);
}
