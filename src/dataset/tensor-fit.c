/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Samples that are tensors, brought to the shape and type of an input; and whether that can be done at all. */
#include "vn-dataset-private.h"

#include "vn-checked.h"
#include "vn-error.h"
#include "vn-i18n.h"

static gboolean
tensor_fit_dims_match (const VnShape *have,
                       const VnShape *want,
                       VnShape       *out)
{
  if (have->rank != want->rank)
    return FALSE;
  for (int i = 0; i < want->rank; i++)
    if (want->dims[i] != VN_DIM_UNKNOWN && want->dims[i] != have->dims[i])
      return FALSE;
  *out = *have;
  return TRUE;
}

/* The shape @have takes as @want when dims of 1 are put in or left out. Unknown dims of @want take what is left over
 * of @have, the first of them 1 if there is not enough: the batch comes first. */
static gboolean
tensor_fit_match_shape (const VnShape *have,
                        const VnShape *want,
                        VnShape       *out)
{
  gint64 dims[VN_MAX_RANK];
  int n = 0, n_fixed = 0, n_open = 0, k = 0;

  if (want->rank == VN_RANK_UNKNOWN)
    {
      *out = *have;
      return TRUE;
    }
  if (tensor_fit_dims_match (have, want, out))
    return TRUE;

  for (int i = 0; i < have->rank; i++)
    if (have->dims[i] != 1)
      dims[n++] = have->dims[i];
  for (int i = 0; i < want->rank; i++)
    {
      n_open += want->dims[i] == VN_DIM_UNKNOWN;
      n_fixed += want->dims[i] != VN_DIM_UNKNOWN && want->dims[i] != 1;
    }
  if (n < n_fixed || n - n_fixed > n_open)
    return FALSE;

  n_open -= n - n_fixed;
  *out = *want;
  for (int i = 0; i < want->rank; i++)
    if (want->dims[i] == VN_DIM_UNKNOWN)
      out->dims[i] = n_open-- > 0 ? 1 : dims[k++];
    else if (want->dims[i] != 1 && want->dims[i] != dims[k++])
      return FALSE;
  return TRUE;
}

/* Floats do not silently become integers: labels or token numbers saved as floats are more likely a mistake. */
static gboolean
tensor_fit_may_convert (VnDType from,
                        VnDType to)
{
  return from == to || !vn_dtype_is_float (from) || vn_dtype_is_float (to);
}

static gboolean
tensor_fit_refuse (VnDType             dtype,
                   const VnShape      *shape,
                   const VnInputSpec  *input,
                   GError            **error)
{
  g_autofree char *have = vn_shape_to_string (shape, "×");
  g_autofree char *want = vn_shape_to_string (&input->shape, "×");

  g_set_error (error, VN_ERROR, VN_ERROR_SHAPE, _("The sample is %s of shape %s, input “%s” takes %s of shape %s"),
               vn_dtype_get_name (dtype), have, input->name, vn_dtype_get_name (input->dtype), want);
  return FALSE;
}

/**
 * vn_tensor_file_check:
 * @dtype: what a file announces
 * @shape: and of which shape; static
 *
 * Before the elements are had: one sample, or several stacked, have some times the elements that @input has.
 *
 * Returns: %FALSE with %VN_ERROR_SHAPE if vn_tensor_fit() will refuse it in any case
 */
gboolean
vn_tensor_file_check (VnDType             dtype,
                      const VnShape      *shape,
                      const VnInputSpec  *input,
                      GError            **error)
{
  gsize known = 1, n = 1;

  for (int i = 0; i < input->shape.rank; i++)
    if (input->shape.dims[i] > 0 && !vn_checked_mul (known, (gsize) input->shape.dims[i], &known))
      return tensor_fit_refuse (dtype, shape, input, error);
  for (int i = 0; i < shape->rank; i++)
    if (!vn_checked_mul (n, (gsize) shape->dims[i], &n))
      return tensor_fit_refuse (dtype, shape, input, error);
  return (n % known == 0 && tensor_fit_may_convert (dtype, input->dtype)) || tensor_fit_refuse (dtype, shape, input, error);
}

/**
 * vn_tensor_fit:
 * @tensor: a sample
 * @input: what the network takes
 *
 * Dims of 1 may be missing or too many, the order of the others must be that of the input. Types are converted,
 * but not from float to integer.
 *
 * Returns: (transfer full) (nullable): the sample in the input's shape and type, aligned
 */
VnTensor *
vn_tensor_fit (VnTensor           *tensor,
               const VnInputSpec  *input,
               GError            **error)
{
  g_autoptr(VnTensor) shaped = NULL;
  g_autoptr(VnTensor) converted = NULL;
  VnShape shape;

  if (!tensor_fit_match_shape (&tensor->shape, &input->shape, &shape) || !tensor_fit_may_convert (tensor->dtype, input->dtype))
    {
      tensor_fit_refuse (tensor->dtype, &tensor->shape, input, error);
      return NULL;
    }
  shaped = vn_tensor_new_reshaped (tensor, &shape, error);
  if (shaped == NULL)
    return NULL;
  converted = vn_tensor_convert (shaped, input->dtype, error);
  return converted != NULL ? vn_tensor_get_aligned (converted, error) : NULL;
}
