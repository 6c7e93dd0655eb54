/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pieces of tensors along one axis, taken out and put together, for every type of elements: strings are copied, those
 * smaller than a byte are moved one by one. */
#include "vn-op-body.h"

#include "vn-elem.h"

/* @n elements from index @from to index @to. */
static void
slab_copy_elements (VnTensor       *out,
                    gsize           to,
                    const VnTensor *in,
                    gsize           from,
                    gsize           n)
{
  guint bits = vn_dtype_get_bits (in->dtype), mask = (1u << (bits < 8 ? bits : 0)) - 1;

  if (in->dtype == VN_DTYPE_STRING)
    for (gsize i = 0; i < n; i++)
      {
        g_free (((char **) out->data)[to + i]);
        ((char **) out->data)[to + i] = g_strdup (((char **) in->data)[from + i]);
      }
  else if (bits >= 8 && n > 0)
    memcpy ((char *) out->data + to * (bits / 8), (const char *) in->data + from * (bits / 8), n * (bits / 8));
  else
    for (gsize i = 0; i < n; i++)
      {
        gsize source = (from + i) * bits, target = (to + i) * bits;
        guint value = ((const guint8 *) in->data)[source / 8] >> (source % 8) & mask;
        guint8 *byte = (guint8 *) out->data + target / 8;

        *byte = (guint8) ((*byte & ~(mask << (target % 8))) | value << (target % 8));
      }
}

static VnTensor *
slab_new_cleared (VnDType         dtype,
                  const VnShape  *shape,
                  GError        **error)
{
  VnTensor *tensor = vn_tensor_new (dtype, shape, error);

  if (tensor != NULL && dtype != VN_DTYPE_STRING && vn_dtype_get_bits (dtype) < 8 && tensor->n_bytes > 0)
    memset (tensor->data, 0, tensor->n_bytes);
  return tensor;
}

/**
 * vn_slab_take:
 * @tensor: aligned or not
 * @axis: of @tensor
 * @first, @n: a range that lies in it
 * @keep_axis: %FALSE: @n is 1, and the axis is dropped
 *
 * Returns: (transfer full) (nullable): a copy of that part, or %NULL with %VN_ERROR_LIMIT
 */
VnTensor *
vn_slab_take (const VnTensor  *tensor,
              int              axis,
              gint64           first,
              gint64           n,
              gboolean         keep_axis,
              GError         **error)
{
  VnShape shape = tensor->shape;
  gsize rows = (gsize) vn_shape_count (&shape, 0, axis);
  gsize inner = (gsize) vn_shape_count (&shape, axis + 1, shape.rank);
  gsize dim = (gsize) shape.dims[axis];
  VnTensor *out;

  shape.dims[axis] = n;
  if (!keep_axis)
    {
      memmove (&shape.dims[axis], &shape.dims[axis + 1], (size_t) (shape.rank - axis - 1) * sizeof shape.dims[0]);
      shape.rank--;
    }
  out = slab_new_cleared (tensor->dtype, &shape, error);
  for (gsize r = 0; out != NULL && out->n_elements > 0 && r < rows; r++)
    slab_copy_elements (out, r * (gsize) n * inner, tensor, (r * dim + (gsize) first) * inner, (gsize) n * inner);
  return out;
}

static gboolean
slab_join_shape (GPtrArray  *tensors,
                 int         axis,
                 gboolean    new_axis,
                 VnShape    *shape,
                 GError    **error)
{
  const VnTensor *first = g_ptr_array_index (tensors, 0);
  gint64 sum = 0;

  *shape = first->shape;
  for (guint i = 0; i < tensors->len; i++)
    {
      const VnTensor *tensor = g_ptr_array_index (tensors, i);
      VnShape rest = tensor->shape;

      if (!new_axis && rest.rank == shape->rank)
        rest.dims[axis] = shape->dims[axis];
      if (tensor->kind != VN_KIND_TENSOR || tensor->dtype != first->dtype || !vn_shape_equal (&rest, shape) ||
          !vn_checked_add_s64 (sum, new_axis ? 1 : tensor->shape.dims[axis], &sum))
        {
          g_autofree char *a = vn_shape_to_string (&first->shape, "×");
          g_autofree char *b = vn_shape_to_string (&tensor->shape, "×");

          g_set_error (error, VN_ERROR, VN_ERROR_SHAPE,
                       _("%s of shape %s and %s of shape %s (number %u) cannot be combined into a batch"),
                       vn_dtype_get_name (first->dtype), a,
                       vn_dtype_get_name (tensor->dtype), b, i);
          return FALSE;
        }
    }
  if (new_axis && shape->rank == VN_MAX_RANK)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_SHAPE, _("The result would have more than %d dims"), VN_MAX_RANK);
      return FALSE;
    }
  if (new_axis)
    {
      memmove (&shape->dims[axis + 1], &shape->dims[axis], (size_t) (shape->rank - axis) * sizeof shape->dims[0]);
      shape->rank++;
    }
  shape->dims[axis] = sum;
  return TRUE;
}

/**
 * vn_slab_join:
 * @tensors: (element-type VnTensor): at least one; alike but for the length of @axis
 * @axis: of the tensors, or, with @new_axis, of the result: where they are stacked
 *
 * Returns: (transfer full) (nullable): all of them one after the other; %NULL with %VN_ERROR_SHAPE if they do not fit,
 *   or %VN_ERROR_LIMIT
 */
VnTensor *
vn_slab_join (GPtrArray  *tensors,
              int         axis,
              gboolean    new_axis,
              GError    **error)
{
  VnTensor *out;
  VnShape shape;
  gsize rows, step, at = 0;

  if (!slab_join_shape (tensors, axis, new_axis, &shape, error))
    return NULL;
  out = slab_new_cleared (((const VnTensor *) g_ptr_array_index (tensors, 0))->dtype, &shape, error);
  if (out == NULL || out->n_elements == 0)
    return out;
  rows = (gsize) vn_shape_count (&shape, 0, axis);
  step = (gsize) vn_shape_count (&shape, axis, shape.rank);
  for (guint i = 0; i < tensors->len; i++)
    {
      const VnTensor *tensor = g_ptr_array_index (tensors, i);
      gsize n = tensor->n_elements / rows;

      for (gsize r = 0; r < rows; r++)
        slab_copy_elements (out, r * step + at, tensor, r * n, n);
      at += n;
    }
  return out;
}
