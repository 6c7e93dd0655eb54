/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Types of values: copying, clearing, and their text. */
#include "vn-model.h"

/**
 * vn_type_init_tensor:
 * @self: (out caller-allocates): uninitialised or cleared
 * @dtype: %VN_DTYPE_UNDEFINED if not known
 * @shape: (nullable): %NULL if not even the rank is known
 */
void
vn_type_init_tensor (VnType        *self,
                     VnDType        dtype,
                     const VnShape *shape)
{
  *self = (VnType) { VN_TYPE_TENSOR, dtype, shape != NULL ? *shape : VN_SHAPE_UNKNOWN };
}

/**
 * vn_type_copy:
 * @self: (out caller-allocates): uninitialised or cleared
 */
void
vn_type_copy (VnType       *self,
              const VnType *from)
{
  g_return_if_fail (from != NULL);

  *self = *from;
  for (guint i = 0; i < VN_MAX_RANK; i++)
    self->symbols[i] = g_strdup (from->symbols[i]);
  if (from->encoded != NULL)
    g_bytes_ref (from->encoded);
}

/**
 * vn_type_clear:
 *
 * Frees what @self owns and makes it unknown.
 */
void
vn_type_clear (VnType *self)
{
  g_return_if_fail (self != NULL);

  for (guint i = 0; i < VN_MAX_RANK; i++)
    g_free (self->symbols[i]);
  g_clear_pointer (&self->encoded, g_bytes_unref);
  *self = (VnType) { VN_TYPE_UNKNOWN, VN_DTYPE_UNDEFINED, VN_SHAPE_UNKNOWN };
}

static void
type_append_dims (GString      *text,
                  const VnType *self)
{
  if (self->shape.rank < 0)
    return;
  g_string_append_c (text, '[');
  for (int i = 0; i < self->shape.rank; i++)
    {
      if (i > 0)
        g_string_append_c (text, ',');
      if (self->shape.dims[i] >= 0)
        g_string_append_printf (text, "%" G_GINT64_FORMAT, self->shape.dims[i]);
      else
        g_string_append (text, self->symbols[i] != NULL ? self->symbols[i] : "?");
    }
  g_string_append_c (text, ']');
}

/**
 * vn_type_to_string:
 *
 * Returns: (transfer full): "float32[batch,3,224,224]"; without brackets if the rank is not known; "sequence of float32"
 */
char *
vn_type_to_string (const VnType *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  static const char * const kinds[] = { "unknown", "tensor", "sparse tensor", "sequence", "optional", "map", "opaque" };
  GString *text = g_string_new (NULL);

  if (self->kind != VN_TYPE_TENSOR && self->kind != VN_TYPE_SPARSE_TENSOR)
    {
      g_string_append (text, kinds[self->kind]);
      if (self->dtype != VN_DTYPE_UNDEFINED)
        g_string_append_printf (text, " of %s", vn_dtype_get_name (self->dtype));
      return g_string_free (text, FALSE);
    }
  if (self->kind == VN_TYPE_SPARSE_TENSOR)
    g_string_append (text, "sparse ");
  g_string_append (text, vn_dtype_get_name (self->dtype));
  type_append_dims (text, self);
  return g_string_free (text, FALSE);
}
