/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shapes: comparing, counting, broadcasting, axes, strides and text. */
#include "vn-shape.h"

#include "vn-checked.h"

/**
 * vn_shape_is_static:
 *
 * Returns: %TRUE if rank and every dim are known
 */
gboolean
vn_shape_is_static (const VnShape *self)
{
  if (self->rank < 0)
    return FALSE;
  for (int i = 0; i < self->rank; i++)
    if (self->dims[i] < 0)
      return FALSE;
  return TRUE;
}

/**
 * vn_shape_equal:
 *
 * Returns: %TRUE if ranks and dims are the same; an unknown dim equals only an unknown dim
 */
gboolean
vn_shape_equal (const VnShape *a,
                const VnShape *b)
{
  if (a->rank != b->rank)
    return FALSE;
  for (int i = 0; i < a->rank; i++)
    if (a->dims[i] != b->dims[i])
      return FALSE;
  return TRUE;
}

/**
 * vn_shape_n_elements:
 * @n: (out): product of the dims, 1 for a scalar
 *
 * Returns: %FALSE if the shape is not static or the product does not fit
 */
gboolean
vn_shape_n_elements (const VnShape *self,
                     gsize         *n)
{
  gsize product = 1;

  if (!vn_shape_is_static (self))
    return FALSE;
  for (int i = 0; i < self->rank; i++)
    if (!vn_checked_mul (product, (gsize) self->dims[i], &product))
      return FALSE;
  *n = product;
  return TRUE;
}

/**
 * vn_shape_count:
 *
 * Returns: product of the dims first .. last - 1, or %G_MAXINT64 if that is too large
 */
gint64
vn_shape_count (const VnShape *self,
                int            first,
                int            last)
{
  gint64 product = 1;

  for (int i = first; i < last; i++)
    if (!vn_checked_mul_s64 (product, self->dims[i], &product))
      return G_MAXINT64;
  return product;
}

static gboolean
shape_broadcast_dim (gint64  a,
                     gint64  b,
                     gint64 *out)
{
  if (a == b || b == 1)
    *out = a;
  else if (a == 1)
    *out = b;
  else if (a < 0 && b < 0)
    *out = VN_DIM_IS_LONG (a) ? a : VN_DIM_IS_LONG (b) ? b : VN_DIM_UNKNOWN;
  else if (a < 0)
    *out = b;
  else if (b < 0)
    *out = a;
  else
    return FALSE;
  return TRUE;
}

/**
 * vn_shape_broadcast:
 * @out: (out): the shape both are stretched to; may be @a or @b
 *
 * NumPy's rule: aligned at the last dim, a dim of 1 stretches. An unknown dim beside a dim above 1 becomes that dim.
 *
 * Returns: %FALSE if the shapes do not go together
 */
gboolean
vn_shape_broadcast (const VnShape *a,
                    const VnShape *b,
                    VnShape       *out)
{
  VnShape result = { MAX (a->rank, b->rank) };

  if (a->rank < 0 || b->rank < 0)
    {
      *out = VN_SHAPE_UNKNOWN;
      return TRUE;
    }
  for (int i = 1; i <= result.rank; i++)
    {
      gint64 x = i <= a->rank ? a->dims[a->rank - i] : 1;
      gint64 y = i <= b->rank ? b->dims[b->rank - i] : 1;

      if (!shape_broadcast_dim (x, y, &result.dims[result.rank - i]))
        return FALSE;
    }
  *out = result;
  return TRUE;
}

/**
 * vn_shape_resolve_axis:
 * @axis: -rank .. rank - 1; negative counts from the end
 * @resolved: (out): 0 .. rank - 1
 *
 * Returns: %FALSE if @axis is outside, or the rank unknown
 */
gboolean
vn_shape_resolve_axis (const VnShape *self,
                       gint64         axis,
                       int           *resolved)
{
  if (self->rank < 0 || axis < -self->rank || axis >= self->rank)
    return FALSE;
  *resolved = (int) (axis < 0 ? axis + self->rank : axis);
  return TRUE;
}

/**
 * vn_shape_strides:
 * @strides: (out): step of each dim in elements, row-major
 */
void
vn_shape_strides (const VnShape *self,
                  gint64         strides[VN_MAX_RANK])
{
  /* Unsigned: an empty shape may have dims whose product does not fit. */
  guint64 step = 1;

  for (int i = self->rank - 1; i >= 0; i--)
    {
      strides[i] = (gint64) step;
      step *= (guint64) MAX (self->dims[i], 1);
    }
}

/**
 * vn_shape_to_string:
 * @separator: between the dims: "×" or ","
 *
 * Returns: (transfer full): "1×3×224×224"; "?" for an unknown dim, "…" for an unknown rank, "scalar" for rank 0
 */
char *
vn_shape_to_string (const VnShape *self,
                    const char    *separator)
{
  GString *text = g_string_new (NULL);

  if (self->rank < 0)
    g_string_append (text, "…");
  else if (self->rank == 0)
    g_string_append (text, "scalar");
  for (int i = 0; i < self->rank; i++)
    {
      if (i > 0)
        g_string_append (text, separator);
      if (self->dims[i] < 0)
        g_string_append (text, "?");
      else
        g_string_append_printf (text, "%" G_GINT64_FORMAT, self->dims[i]);
    }
  return g_string_free (text, FALSE);
}
