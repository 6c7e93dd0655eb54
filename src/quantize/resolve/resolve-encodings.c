/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Ranges and parameters that the user gives. Both come before what statistics say; parameters, but not ranges, also before
 * what operators guarantee: a range is what somebody observed, and the peer takes 0 to 1 for Softmax whatever that was. */

#include "vn-resolver.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-memory.h"

#include <string.h>

static gboolean
resolve_encodings_check_imported (VnResolver     *self,
                                  const VnValue  *value,
                                  const VnEncoding  *imported,
                                  GError        **error)
{
  if (value->initializer == NULL && imported->n > 0)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
                   _("“%s” gives %u scales for “%s”, which is no constant: only weights have a scale for each channel"),
                   self->recipe->ranges, imported->n, value->name);
      return FALSE;
    }
  if (vn_format_check_type (self->recipe->format, value->initializer != NULL, value->name, imported->dtype, error))
    return TRUE;
  g_prefix_error (error, "%s: ", self->recipe->ranges);
  return FALSE;
}

static gboolean
resolve_encodings_key_means (const VnGraph *graph,
                             gpointer       key)
{
  g_autofree char *scope = vn_graph_dup_scope (graph);

  return g_str_has_prefix (key, scope) && g_hash_table_contains (graph->by_name, (const char *) key + strlen (scope));
}

static gboolean
resolve_encodings_check_all_imported (VnResolver  *self,
                                      GError     **error)
{
  const guint n = vn_encoding_table_get_n (self->imported);
  const char *unknown = NULL;
  guint n_unknown = 0;

  for (guint i = 0; i < n; i++)
    {
      const char *name = vn_encoding_table_get_name (self->imported, i);
      const VnValue *value = g_hash_table_lookup (self->graph->by_name, name);

      if (value != NULL && !resolve_encodings_check_imported (self, value, vn_encoding_table_get (self->imported, name), error))
        return FALSE;
      if (value != NULL || vn_resolver_is_meant_inside (self, resolve_encodings_key_means, (gpointer) name))
        continue;
      unknown = unknown != NULL ? unknown : name;
      n_unknown++;
    }
  if (n_unknown > 0 && self->notes != NULL)
    vn_notes_add (self->notes, VN_NOTE_WARNING, "range-unused", unknown,
                  ngettext ("%u of the %u tensor in “%s” is none of the prepared network, this one: what is given for it has no effect",
                            "%u of the %u tensors in “%s” are none of the prepared network, this is one of them: what is given for them has no effect", n), n_unknown, n, self->recipe->ranges);
  return TRUE;
}

/*< private >
 * vn_resolver_load_encodings:
 *
 * Reads the table that the recipe names, if it does. Names that the network lacks are noted: of a table for the network as
 * it was before preparation some may be gone.
 *
 * Returns: %FALSE if it cannot be read, or gives what the format of the recipe cannot hold
 */
gboolean
vn_resolver_load_encodings (VnResolver  *self,
                            GError     **error)
{
  g_return_val_if_fail (self != NULL, FALSE);

  if (self->recipe->ranges == NULL)
    return TRUE;
  self->imported = vn_encoding_table_load (self->recipe->ranges, error);
  return self->imported != NULL && (self->scope != NULL || resolve_encodings_check_all_imported (self, error));
}

static const VnEncoding *
resolve_encodings_find (VnResolver    *self,
                        const VnValue *value)
{
  g_autofree char *key = NULL;

  if (self->imported == NULL)
    return NULL;
  key = vn_quant_scope_dup_key (self->scope, value->name);
  return vn_encoding_table_get (self->imported, key);
}

/*< private >
 * vn_resolver_get_encoding:
 *
 * Returns: (transfer none) (nullable): what is imported for @value, or for the tensor whose range it takes, and holds
 */
const VnEncoding *
vn_resolver_get_encoding (VnResolver    *self,
                          const VnValue *value)
{
  const VnAnnotation *annotation;
  const VnEncoding *imported;

  g_return_val_if_fail (self != NULL && value != NULL, NULL);

  annotation = vn_resolver_get_annotation (self, value);
  imported = resolve_encodings_find (self, value);
  if (imported == NULL && annotation->range_from != NULL)
    imported = resolve_encodings_find (self, annotation->range_from);
  return imported != NULL && annotation->unit_range && !imported->has_params ? NULL : imported;
}

/*< private >
 * vn_encoding_fits:
 *
 * Returns: whether scale and zero point are given, for this type
 */
gboolean
vn_encoding_fits (const VnEncoding *imported,
                  VnDType        dtype)
{
  g_return_val_if_fail (imported != NULL, FALSE);

  return imported->has_params && (imported->dtype == VN_DTYPE_UNDEFINED || imported->dtype == dtype);
}

/* Types without levels have no zero point. */
static gboolean
resolve_encodings_check_zero_point (const char  *name,
                                    VnDType      dtype,
                                    gint64       zero_point,
                                    GError     **error)
{
  gint64 qmin, qmax;

  if (vn_quant_get_levels (dtype, FALSE, FALSE, &qmin, &qmax) && zero_point >= qmin && zero_point <= qmax)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
               _("“%s”: the zero point %lld that is given does not fit %s; choose the type it was made for, or give a "
                 "range"), name, (long long) zero_point, vn_dtype_get_name (dtype));
  return FALSE;
}

/*< private >
 * vn_encoding_fill_constant:
 * @n: channels of the constant, or 1
 * @row: its type and axis are set
 */
gboolean
vn_encoding_fill_constant (const VnEncoding  *imported,
                           gsize           n,
                           VnQuantRow     *row,
                           GError        **error)
{
  g_autofree float *scales = vn_try_new (float, n, error);
  g_autofree gint64 *zero_points = vn_try_new (gint64, n, error);
  VnShape shape;

  g_return_val_if_fail (imported != NULL && row != NULL, FALSE);

  shape = row->tensor.axis < 0 ? VN_SHAPE_SCALAR : VN_SHAPE ((gint64) n);
  if (scales == NULL || zero_points == NULL)
    return FALSE;
  if (imported->n > 0 && imported->n != n)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("“%s”: %u scales are given; give 1 or %llu, one for each channel"),
                   row->tensor.name, imported->n, (unsigned long long) n);
      return FALSE;
    }
  for (gsize i = 0; i < n; i++)
    {
      scales[i] = imported->n > 0 ? imported->scales[i] : imported->scale;
      zero_points[i] = imported->n > 0 ? imported->zero_points[i] : imported->zero_point;
      if (!resolve_encodings_check_zero_point (row->tensor.name, row->tensor.dtype, zero_points[i], error))
        return FALSE;
    }
  g_free (row->tensor.method);
  row->tensor.method = g_strdup ("imported");
  row->tensor.scale = vn_tensor_new_copy (VN_DTYPE_F32, &shape, scales, error);
  if (row->tensor.scale == NULL)
    return FALSE;
  row->tensor.zero_point = vn_quant_integer_tensor (row->tensor.dtype, &shape, zero_points, error);
  return row->tensor.zero_point != NULL;
}

/*< private >
 * vn_encoding_get_range:
 * @dtype: that the tensor gets
 *
 * Returns: %FALSE if the zero point that is given lies outside of @dtype
 */
gboolean
vn_encoding_get_range (const VnEncoding  *imported,
                       const char     *name,
                       VnDType         dtype,
                       VnRange        *range,
                       GError        **error)
{
  VnDType own;
  gint64 qmin, qmax;

  g_return_val_if_fail (imported != NULL && range != NULL, FALSE);

  own = imported->dtype != VN_DTYPE_UNDEFINED ? imported->dtype : dtype;
  *range = imported->range;
  if (!imported->has_params)
    return TRUE;
  if (!resolve_encodings_check_zero_point (name, own, imported->zero_point, error) || !vn_quant_get_levels (own, FALSE, FALSE, &qmin, &qmax))
    return FALSE;
  range->min = (double) (qmin - imported->zero_point) * (double) imported->scale;
  range->max = (double) (qmax - imported->zero_point) * (double) imported->scale;
  return TRUE;
}
