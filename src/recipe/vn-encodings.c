/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of imported encodings: what a tensor may be given, and what it was given. */
#include "vn-encodings-private.h"

#include "vn-error.h"
#include "vn-i18n.h"

#include <math.h>

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
  g_return_if_fail (self != NULL);

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
               _("“%s”: the zero point %lld is not allowed; the range of %s is %lld to %lld"), tensor,
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
      good = encodings_check_scale (tensor, imported->scale, error) &&
             encodings_check_zero_point (tensor, imported->dtype, imported->zero_point, error);
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

  g_return_val_if_fail (self != NULL, FALSE);

  if (!g_utf8_validate (tensor, -1, NULL) || *tensor == '\0')
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("The name of a tensor is empty or not text"));
      return FALSE;
    }
  if (!encodings_check (tensor, imported, error))
    return FALSE;
  if (g_hash_table_contains (self->by_name, tensor))
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("“%s” appears twice"), tensor);
      return FALSE;
    }
  name = g_strdup (tensor);
  g_ptr_array_add (self->names, name);
  g_hash_table_insert (self->by_name, name, encodings_copy_imported (imported));
  return TRUE;
}

/**
 * vn_encoding_table_join:
 * @later: another table, which stays as it is
 *
 * Adds what @later gives; of a tensor that both name only that counts.
 */
void
vn_encoding_table_join (VnEncodingTable *self,
                        VnEncodingTable *later)
{
  g_return_if_fail (self != NULL && later != NULL && self != later);

  for (guint i = 0; i < later->names->len; i++)
    {
      const char *tensor = later->names->pdata[i];
      VnEncoding *copy = encodings_copy_imported (g_hash_table_lookup (later->by_name, tensor));
      gpointer name;

      if (!g_hash_table_lookup_extended (self->by_name, tensor, &name, NULL))
        {
          name = g_strdup (tensor);
          g_ptr_array_add (self->names, name);
        }
      g_hash_table_insert (self->by_name, name, copy);
    }
}

/**
 * vn_encoding_table_retype:
 * @tensor: one that the table gives a type
 * @dtype: a type of integers as wide as that, with or without sign
 *
 * Says the same in another type: scales stay, and zero points move by half the levels.
 *
 * Returns: whether it could be: %FALSE if the widths differ, or no type is given
 */
gboolean
vn_encoding_table_retype (VnEncodingTable *self,
                          const char      *tensor,
                          VnDType          dtype)
{
  VnEncoding *encoding;
  gint64 from, to, high;

  g_return_val_if_fail (self != NULL && tensor != NULL && vn_dtype_is_integer (dtype), FALSE);

  encoding = g_hash_table_lookup (self->by_name, tensor);
  if (encoding == NULL || !vn_dtype_is_integer (encoding->dtype) ||
      vn_dtype_get_bits (encoding->dtype) != vn_dtype_get_bits (dtype))
    return FALSE;
  vn_dtype_integer_range (encoding->dtype, &from, &high);
  vn_dtype_integer_range (dtype, &to, &high);
  encoding->dtype = dtype;
  encoding->zero_point += to - from;
  for (guint i = 0; i < encoding->n; i++)
    encoding->zero_points[i] += to - from;
  return TRUE;
}

const VnEncoding *
vn_encoding_table_get (VnEncodingTable *self,
                       const char   *tensor)
{
  g_return_val_if_fail (self != NULL, NULL);

  return g_hash_table_lookup (self->by_name, tensor);
}

guint
vn_encoding_table_get_n (VnEncodingTable *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->names->len;
}

const char *
vn_encoding_table_get_name (VnEncodingTable *self,
                            guint         i)
{
  g_return_val_if_fail (self != NULL && i < self->names->len, NULL);

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
