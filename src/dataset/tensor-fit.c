/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Samples that are tensors, brought to the shape and type of an input; and whether that can be done at all. */
#include "vn-dataset-private.h"

#include "vn-checked.h"
#include "vn-error.h"
#include "vn-i18n.h"

#include <string.h>

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

  g_set_error (error, VN_ERROR, VN_ERROR_SHAPE, _("The sample is %s of shape %s, but input “%s” expects %s of shape %s"),
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

/* ---- channels first, where the network takes them last ---- */

/*< private >
 * vn_input_spec_turn:
 * @turned: (out): receives @self with the channels first; its name is borrowed
 *
 * Returns: whether samples may have them there
 */
gboolean
vn_input_spec_turn (const VnInputSpec *self,
                    VnInputSpec       *turned)
{
  const gint64 *dims;

  g_return_val_if_fail (self != NULL && turned != NULL, FALSE);

  dims = self->shape.dims;
  *turned = *self;
  turned->shape = VN_SHAPE (dims[0], dims[3], dims[1], dims[2]);
  return self->turned != VN_TURNED_NEVER && self->shape.rank == 4;
}

/* N×C×H×W to N×H×W×C */
static VnTensor *
tensor_fit_move_channels (VnTensor  *tensor,
                          GError   **error)
{
  const gint64 *dims = tensor->shape.dims;
  const VnShape shape = VN_SHAPE (dims[0], dims[2], dims[3], dims[1]);
  const gsize size = vn_dtype_get_bits (tensor->dtype) / 8, area = (gsize) (dims[2] * dims[3]), n_channels = (gsize) dims[1];
  g_autoptr(VnTensor) moved = vn_tensor_new (tensor->dtype, &shape, error);
  const char *in = tensor->data;
  char *out;

  if (moved == NULL)
    return NULL;
  out = moved->data;
  for (gsize n = 0; n < (gsize) dims[0]; n++)
    for (gsize i = 0; i < area; i++)
      for (gsize c = 0; c < n_channels; c++, out += size)
        memcpy (out, in + ((n * n_channels + c) * area + i) * size, size);
  return g_steal_pointer (&moved);
}

/* (transfer full) (nullable): @tensor with the channels moved to where the network takes them; %NULL without error: it is to be
 * taken as it is */
static VnTensor *
tensor_fit_turn (VnTensor           *tensor,
                 const VnInputSpec  *input,
                 GError            **error)
{
  g_autoptr(VnTensor) shaped = NULL;
  VnInputSpec turned;
  VnShape shape;

  if (!vn_input_spec_turn (input, &turned) || vn_dtype_get_bits (tensor->dtype) < 8 ||
      (input->turned == VN_TURNED_IF_NEEDED && tensor_fit_match_shape (&tensor->shape, &input->shape, &shape)) ||
      !tensor_fit_match_shape (&tensor->shape, &turned.shape, &shape))
    return NULL;
  shaped = vn_tensor_new_reshaped (tensor, &shape, error);
  return shaped != NULL ? tensor_fit_move_channels (shaped, error) : NULL;
}

/**
 * vn_tensor_fit:
 * @tensor: a sample
 * @input: what the network takes
 *
 * Dims of 1 may be missing or too many, the order of the others must be that of the input, or where @input allows it that with
 * the channels first. Types are converted, but not from float to integer.
 *
 * Returns: (transfer full) (nullable): the sample in the input's shape and type, aligned
 */
VnTensor *
vn_tensor_fit (VnTensor           *tensor,
               const VnInputSpec  *input,
               GError            **error)
{
  g_autoptr(GError) turning = NULL;
  g_autoptr(VnTensor) turned = tensor_fit_turn (tensor, input, &turning);
  g_autoptr(VnTensor) shaped = NULL;
  g_autoptr(VnTensor) converted = NULL;
  VnShape shape;

  if (turning != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&turning));
      return NULL;
    }
  tensor = turned != NULL ? turned : tensor;
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
