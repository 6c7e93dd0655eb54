/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Ranges and parameters that the user gives. Both come before what statistics say; parameters, but not ranges, also before
 * what operators guarantee: a range is what somebody observed, and the peer takes 0 to 1 for Softmax whatever that was. */

#include "vn-resolver.h"

#include "vn-error.h"
#include "vn-former.h"
#include "vn-i18n.h"
#include "vn-memory.h"

#include <string.h>

static char *
resolve_encodings_dup_files (VnResolver *self)
{
  return g_strjoinv ("”, “", self->scheme.activations.encodings);
}

static gboolean
resolve_encodings_check_imported (VnResolver        *self,
                                  const VnValue     *value,
                                  const VnEncoding  *imported,
                                  GError           **error)
{
  g_autofree char *files = resolve_encodings_dup_files (self);

  if (value->initializer == NULL && imported->n > 0)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
                   _("“%s” specifies %u scales for “%s”, which is not a constant: only weights are quantized per channel"),
                   files, imported->n, value->name);
      return FALSE;
    }
  if (vn_format_check_type (self->scheme.format->format, value->initializer != NULL, value->name, imported->dtype, error))
    return TRUE;
  g_prefix_error (error, "%s: ", files);
  return FALSE;
}

/* Under which of the names that a tensor has or had something is given for it; NULL: nothing is. */
static char *
resolve_encodings_dup_name (VnResolver    *self,
                            const VnValue *value)
{
  GPtrArray *names = self->scope == NULL ? vn_graph_list_same (self->graph, value->name) : NULL;
  g_autofree char *key = NULL;

  if (self->imported == NULL)
    return NULL;
  for (guint i = 0; names != NULL && i < names->len; i++)
    if (vn_encoding_table_get (self->imported, names->pdata[i]) != NULL)
      return g_strdup (names->pdata[i]);
  key = vn_quant_scope_dup_key (self->scope, value->name);
  return vn_encoding_table_get (self->imported, key) != NULL ? g_steal_pointer (&key) : NULL;
}

/*< private >
 * vn_resolver_find_given:
 *
 * Preparation gives tensors other names, and lets one take the place of another: what is given under a name of the model as it
 * was opened holds for the tensor that has these numbers now.
 *
 * Returns: (transfer none) (nullable): what is given for @value itself
 */
const VnEncoding *
vn_resolver_find_given (VnResolver    *self,
                        const VnValue *value)
{
  g_autofree char *name = NULL;

  g_return_val_if_fail (self != NULL && value != NULL, NULL);

  name = resolve_encodings_dup_name (self, value);
  return name != NULL ? vn_encoding_table_get (self->imported, name) : NULL;
}

/* ---- types ---- */

static gboolean
resolve_encodings_gives_type (VnResolver    *self,
                              const VnValue *value,
                              VnDType       *dtype)
{
  const VnEncoding *given = vn_resolver_find_given (self, value);

  *dtype = given != NULL ? given->dtype : VN_DTYPE_UNDEFINED;
  return vn_dtype_is_integer (*dtype) && vn_dtype_get_bits (*dtype) == vn_dtype_get_bits (self->scheme.activations.dtype);
}

/* Operators of integers take and give one type: where all activations that are given have the other sign than the recipe's, the
 * rest have it, too. */
static VnDType
resolve_encodings_find_activation (VnResolver *self)
{
  VnDType found = VN_DTYPE_UNDEFINED, dtype;

  for (guint i = 0; vn_dtype_is_integer (self->scheme.activations.dtype) && i < self->graph->values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (self->graph->values, i);

      if (value->initializer != NULL || !resolve_encodings_gives_type (self, value, &dtype))
        continue;
      if (found != VN_DTYPE_UNDEFINED && found != dtype)
        return self->scheme.activations.dtype;
      found = dtype;
    }
  return found != VN_DTYPE_UNDEFINED ? found : self->scheme.activations.dtype;
}

/* Where they are given with both signs, what is given in the other type is said in that of the rest; and no kernel takes weights
 * without sign beside activations with one. */
static void
resolve_encodings_agree (VnResolver *self)
{
  for (guint i = 0; i < self->graph->values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (self->graph->values, i);
      g_autofree char *name = NULL;
      VnDType dtype;

      if (!resolve_encodings_gives_type (self, value, &dtype) || dtype == self->activation ||
          (value->initializer != NULL && !vn_dtype_is_signed (self->activation)))
        continue;
      name = resolve_encodings_dup_name (self, value);
      vn_encoding_table_retype (self->imported, name, self->activation);
    }
}

/* ---- names ---- */

static gboolean
resolve_encodings_key_means (const VnGraph *graph,
                             gpointer       key)
{
  g_autofree char *scope = vn_graph_dup_scope (graph);

  return g_str_has_prefix (key, scope) && g_hash_table_contains (graph->by_name, (const char *) key + strlen (scope));
}

/* The names of all tensors, those that they had before among them. */
static GHashTable *
resolve_encodings_list_names (VnResolver *self)
{
  GHashTable *known = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < self->graph->values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (self->graph->values, i);
      GPtrArray *names = vn_graph_list_same (self->graph, value->name);

      g_hash_table_add (known, value->name);
      for (guint k = 0; names != NULL && k < names->len; k++)
        g_hash_table_add (known, names->pdata[k]);
    }
  return known;
}

/* Names that no tensor has any more: of those inside of another one, of which something is given, that holds. */
typedef struct
{
  const char    *unknown, *gone, *inside;   /* the first of each */
  const VnValue *heir;                      /* of @gone */
  guint          n_unknown, n_gone, n_inside;
} Lost;

static void
resolve_encodings_count_lost (VnResolver *self,
                              const char *name,
                              Lost       *lost)
{
  const VnValue *heir = vn_graph_find_former_value (self->graph, name);

  if (heir == NULL)
    {
      lost->unknown = lost->n_unknown++ == 0 ? name : lost->unknown;
      return;
    }
  if (vn_resolver_find_given (self, heir) != NULL)
    {
      lost->inside = lost->n_inside++ == 0 ? name : lost->inside;
      return;
    }
  if (lost->n_gone++ == 0)
    {
      lost->gone = name;
      lost->heir = heir;
    }
}

static void
resolve_encodings_report_lost (VnResolver *self,
                               const Lost *lost)
{
  g_autofree char *files = resolve_encodings_dup_files (self);

  if (lost->n_unknown > 0)
    vn_notes_add (self->notes, VN_NOTE_WARNING, "range-unused", lost->unknown,
                  ngettext ("“%2$s” has an entry for %1$u tensor that is not in the prepared model, this one: it has no effect",
                            "“%2$s” has entries for %1$u tensors that are not in the prepared model, such as this "
                            "one: they have no effect",
                            lost->n_unknown), lost->n_unknown, files);
  if (lost->n_gone > 0)
    vn_notes_add (self->notes, VN_NOTE_WARNING, "range-unused", lost->gone,
                  ngettext ("“%2$s” has an entry for %1$u tensor that preparation merged into another, this one into "
                            "“%3$s”: it has no effect; add an entry for that one",
                            "“%2$s” has entries for %1$u tensors that preparation merged into others, such as this "
                            "one into “%3$s”: they have no effect; add entries for those", lost->n_gone), lost->n_gone, files,
                            lost->heir->name);
  if (lost->n_inside > 0)
    vn_notes_add (self->notes, VN_NOTE_INFO, "range-inside", lost->inside,
                  ngettext ("“%2$s” has an entry for %1$u tensor that preparation merged into another, this one: the "
                            "entry of that one is used",
                            "“%2$s” has entries for %1$u tensors that preparation merged into others, such as this "
                            "one: the entries of those are used", lost->n_inside), lost->n_inside, files);
}

static gboolean
resolve_encodings_check_all_imported (VnResolver  *self,
                                      GError     **error)
{
  g_autoptr(GHashTable) known = resolve_encodings_list_names (self);
  Lost lost = { 0 };

  for (guint i = 0; i < self->graph->values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (self->graph->values, i);
      const VnEncoding *given = vn_resolver_find_given (self, value);

      if (given != NULL && !resolve_encodings_check_imported (self, value, given, error))
        return FALSE;
    }
  for (guint i = 0; i < vn_encoding_table_get_n (self->imported); i++)
    {
      const char *name = vn_encoding_table_get_name (self->imported, i);

      if (!g_hash_table_contains (known, name) && !vn_resolver_is_meant_inside (self, resolve_encodings_key_means,
                                                                                (gpointer) name))
        resolve_encodings_count_lost (self, name, &lost);
    }
  if (self->notes != NULL)
    resolve_encodings_report_lost (self, &lost);
  return TRUE;
}

/*< private >
 * vn_resolver_load_encodings:
 *
 * Reads the tables that the recipe names, if it does, and decides which type activations have that they do not name. Names that
 * the network lacks are noted.
 *
 * Returns: %FALSE if one cannot be read, or gives what the format of the recipe cannot hold
 */
gboolean
vn_resolver_load_encodings (VnResolver  *self,
                            GError     **error)
{
  g_return_val_if_fail (self != NULL, FALSE);

  if (self->scheme.activations.encodings == NULL)
    return TRUE;
  self->imported = vn_encoding_table_load_all (self->scheme.activations.encodings, error);
  if (self->imported == NULL)
    return FALSE;
  self->activation = resolve_encodings_find_activation (self);
  if (self->scheme.format->integer_operators)
    resolve_encodings_agree (self);
  return self->scope != NULL || resolve_encodings_check_all_imported (self, error);
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
  imported = vn_resolver_find_given (self, value);
  if (imported == NULL && annotation->range_from != NULL)
    imported = vn_resolver_find_given (self, annotation->range_from);
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
               _("“%s”: the specified zero point %lld is outside the range of %s; choose the type it was made for, or "
                 "specify a range"), name, (long long) zero_point, vn_dtype_get_name (dtype));
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
      g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("“%s”: %u scales are specified, expected 1 or %llu, one per channel"),
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
  if (!resolve_encodings_check_zero_point (name, own, imported->zero_point, error) ||
      !vn_quant_get_levels (own, FALSE, FALSE, &qmin, &qmax))
    return FALSE;
  range->min = (double) (qmin - imported->zero_point) * (double) imported->scale;
  range->max = (double) (qmax - imported->zero_point) * (double) imported->scale;
  return TRUE;
}
