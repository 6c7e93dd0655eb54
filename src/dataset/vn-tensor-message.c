/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading what stands in front of a tensor in a stream. */
#include "vn-tensor-message.h"

#include <string.h>

/**
 * vn_tensor_message_read_head:
 * @self: (out caller-allocates): the dims are 0 until vn_tensor_message_read_dims()
 *
 * Returns: whether a message begins like this
 */
gboolean
vn_tensor_message_read_head (VnTensorMessage    *self,
                      const guint8  head[VN_TENSOR_MESSAGE_HEAD])
{
  guint64 n_bytes;

  g_return_val_if_fail (self != NULL && head != NULL, FALSE);

  memcpy (&n_bytes, head + 8, sizeof n_bytes);
  *self = (VnTensorMessage) { (char) head[4], head[5], head[6], GUINT64_FROM_LE (n_bytes), { 0 } };
  return memcmp (head, VN_TENSOR_MESSAGE_MAGIC, 4) == 0 && head[7] == 0;
}

/**
 * vn_tensor_message_read_dims:
 * @self: of at most %VN_MAX_RANK dims
 * @bytes: (array): 8 for each
 */
void
vn_tensor_message_read_dims (VnTensorMessage    *self,
                      const guint8 *bytes)
{
  g_return_if_fail (self != NULL && self->rank <= VN_MAX_RANK);

  memcpy (self->dims, bytes, self->rank * sizeof self->dims[0]);
  for (guint i = 0; i < self->rank; i++)
    self->dims[i] = GINT64_FROM_LE (self->dims[i]);
}

/**
 * vn_tensor_message_get_tensor:
 * @dtype: (out): its element type, of 8 to 64 bits
 * @shape: (out): its shape
 *
 * Returns: whether the payload is a tensor of as many bytes as its type and shape say
 */
gboolean
vn_tensor_message_get_tensor (const VnTensorMessage *self,
                       VnDType         *dtype,
                       VnShape         *shape)
{
  gsize n_elements, n_bytes;

  g_return_val_if_fail (self != NULL && dtype != NULL && shape != NULL && self->rank <= VN_MAX_RANK, FALSE);

  *dtype = self->dtype;
  *shape = (VnShape) { .rank = self->rank };
  memcpy (shape->dims, self->dims, sizeof self->dims);
  for (guint i = 0; i < self->rank; i++)
    if (self->dims[i] < 0)
      return FALSE;
  return self->kind == VN_TENSOR_MESSAGE_TENSOR && vn_dtype_is_valid (self->dtype) && vn_dtype_get_bits (self->dtype) >= 8 &&
         vn_dtype_get_bits (self->dtype) <= 64 && vn_tensor_size_in_bytes (self->dtype, shape, &n_elements, &n_bytes) &&
         n_bytes == self->n_bytes;
}
