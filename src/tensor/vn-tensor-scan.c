/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Looks through all numbers of a tensor for those that are none. */
#include "vn-tensor.h"

#include "vn-multiversion.h"
#include "vn-parallel.h"

#include <math.h>

/* Numbers that one thread looks at in one go. */
#define SCAN_PART ((gsize) 1 << 20)

typedef struct
{
  const VnTensor *tensor;
  gsize           n_nan, n_infinite;   /* atomic */
} Scan;

/* By the bits: those of an infinite number are 0x7f800000 without the sign, those of NaN are more. */
VN_MULTIVERSION
static void
tensor_scan_count_floats (const guint32 *bits,
                          gsize          n,
                          guint32       *n_nan,
                          guint32       *n_infinite)
{
  guint32 nan_count = 0, infinite_count = 0;

  for (gsize i = 0; i < n; i++)
    {
      guint32 magnitude = bits[i] & 0x7fffffff;

      nan_count += magnitude > 0x7f800000;
      infinite_count += magnitude == 0x7f800000;
    }
  *n_nan = nan_count;
  *n_infinite = infinite_count;
}

static void
tensor_scan_count_others (const VnTensor *tensor,
                          gsize           first,
                          gsize           last,
                          guint32        *n_nan,
                          guint32        *n_infinite)
{
  *n_nan = *n_infinite = 0;
  for (gsize i = first; i < last; i++)
    {
      double number = vn_tensor_get_double (tensor, i);

      *n_nan += isnan (number) != 0;
      *n_infinite += isinf (number) != 0;
    }
}

static gboolean
tensor_scan_part (gsize     item,
                  guint     worker,
                  gpointer  data,
                  GError  **error)
{
  Scan *self = data;
  gsize first = item * SCAN_PART, last = MIN (first + SCAN_PART, self->tensor->n_elements);
  guint32 n_nan, n_infinite;

  if (self->tensor->dtype == VN_DTYPE_F32 && (gsize) self->tensor->data % sizeof (float) == 0)
    tensor_scan_count_floats ((const guint32 *) self->tensor->data + first, last - first, &n_nan, &n_infinite);
  else
    tensor_scan_count_others (self->tensor, first, last, &n_nan, &n_infinite);
  g_atomic_pointer_add (&self->n_nan, (gssize) n_nan);
  g_atomic_pointer_add (&self->n_infinite, (gssize) n_infinite);
  return TRUE;
}

/**
 * vn_tensor_count_not_finite:
 * @self: of floats
 * @n_nan: (out): how many are no number
 * @n_infinite: (out): how many are infinite
 *
 * Large tensors are looked through by several threads.
 */
void
vn_tensor_count_not_finite (const VnTensor *self,
                            gsize          *n_nan,
                            gsize          *n_infinite)
{
  Scan scan = { .tensor = self };
  gsize n_parts;

  g_return_if_fail (self != NULL && n_nan != NULL && n_infinite != NULL);

  n_parts = self->n_elements / SCAN_PART + (self->n_elements % SCAN_PART != 0);
  vn_parallel_for (n_parts > 1 ? 0 : 1, n_parts, tensor_scan_part, &scan, NULL, NULL);
  *n_nan = scan.n_nan;
  *n_infinite = scan.n_infinite;
}
