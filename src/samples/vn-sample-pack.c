/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tensors one behind the other, each with a head of its type and shape, padded to whole words. */
#include "vn-sample-pack.h"

#include "vn-memory.h"
#include "vn-sample-ranks.h"

#include <string.h>

/**
 * Head:
 * @there: 0: there is no tensor
 * @n_bytes: of the data behind it
 */
typedef struct
{
  guint64 there, dtype, n_bytes;
  VnShape shape;
} Head;

#define PAD(n) (((n) + 7) & ~(gsize) 7)

/* Strings, sequences and maps lie in several places. */
static gboolean
sample_pack_is_plain (const VnTensor *tensor)
{
  return tensor == NULL || (!vn_tensor_is_container (tensor) && tensor->dtype != VN_DTYPE_STRING);
}

/**
 * vn_sample_pack_tensors:
 * @tensors: (array length=n): may have %NULL
 *
 * Returns: (transfer full) (nullable): what vn_sample_take_tensors() takes; %NULL without an error: there are strings, sequences
 *   or maps among them; with one: no memory
 */
GBytes *
vn_sample_pack_tensors (VnTensor * const  *tensors,
                        guint              n,
                        GError           **error)
{
  gsize size = 0;
  guint8 *bytes, *at;

  g_return_val_if_fail (tensors != NULL || n == 0, NULL);

  for (guint i = 0; i < n; i++)
    {
      if (!sample_pack_is_plain (tensors[i]))
        return NULL;
      size += sizeof (Head) + (tensors[i] != NULL ? PAD (tensors[i]->n_bytes) : 0);
    }
  bytes = at = vn_memory_alloc (MAX (size, 1), 1, error);
  for (guint i = 0; bytes != NULL && i < n; i++)
    {
      Head head;

      memset (&head, 0, sizeof head);
      if (tensors[i] != NULL)
        {
          head.there = 1;
          head.dtype = tensors[i]->dtype;
          head.n_bytes = tensors[i]->n_bytes;
          head.shape = tensors[i]->shape;
        }
      memcpy (at, &head, sizeof head);
      at += sizeof head;
      if (head.n_bytes > 0)
        memcpy (at, tensors[i]->data, head.n_bytes);
      at += PAD (head.n_bytes);
    }
  return bytes != NULL ? g_bytes_new_take (bytes, size) : NULL;
}

static gboolean
sample_pack_take_one (const Head    *head,
                      const guint8  *bytes,
                      VnTensor     **tensor,
                      GError       **error)
{
  *tensor = NULL;
  if (head->there == 0)
    return TRUE;
  if (head->dtype >= VN_N_DTYPES || head->dtype == VN_DTYPE_STRING || head->shape.rank < 0 || head->shape.rank > VN_MAX_RANK)
    return vn_sample_ranks_refuse (error);
  *tensor = vn_tensor_new ((VnDType) head->dtype, &head->shape, error);
  if (*tensor == NULL)
    return FALSE;
  if ((*tensor)->n_bytes != head->n_bytes)
    {
      g_clear_pointer (tensor, vn_tensor_unref);
      return vn_sample_ranks_refuse (error);
    }
  if (head->n_bytes > 0)
    memcpy ((*tensor)->data, bytes, head->n_bytes);
  return TRUE;
}

/**
 * vn_sample_take_tensors:
 * @bytes: (array length=size): of vn_sample_pack_tensors() of another process
 * @tensors: (out caller-allocates) (array length=n): also after an error to be cleared
 *
 * Returns: %FALSE with an error if they are not @n tensors, or there is no memory
 */
gboolean
vn_sample_take_tensors (gconstpointer   bytes,
                        gsize           size,
                        VnTensor      **tensors,
                        guint           n,
                        GError        **error)
{
  const guint8 *at = bytes, *end;

  g_return_val_if_fail (bytes != NULL || size == 0, FALSE);
  g_return_val_if_fail (tensors != NULL || n == 0, FALSE);

  end = at + size;
  for (guint i = 0; i < n; i++)
    {
      Head head;

      if ((gsize) (end - at) < sizeof head)
        return vn_sample_ranks_refuse (error);
      memcpy (&head, at, sizeof head);
      at += sizeof head;
      if (head.n_bytes > (gsize) (end - at) || PAD (head.n_bytes) > (gsize) (end - at))
        return vn_sample_ranks_refuse (error);
      if (!sample_pack_take_one (&head, at, &tensors[i], error))
        return FALSE;
      at += PAD (head.n_bytes);
    }
  return at == end || vn_sample_ranks_refuse (error);
}
