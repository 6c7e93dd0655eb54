/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Working space of a thread: asked for, aligned, kept. */
#include "vn-scratch.h"

#include "vn-checked.h"
#include "vn-memory.h"

#include <stdlib.h>

/**
 * vn_scratch_reserve:
 * @n, @size: elements, and bytes of one
 *
 * Returns: (transfer none) (nullable): memory aligned to 64 bytes, good until the next call; %NULL with %VN_ERROR_MEMORY
 */
gpointer
vn_scratch_reserve (VnScratch  *self,
                    gsize       n,
                    gsize       size,
                    GError    **error)
{
  gsize bytes;

  g_return_val_if_fail (self != NULL, NULL);

  if (!vn_checked_mul (n, size, &bytes) || !vn_checked_add (bytes, 63, &bytes) || bytes > G_MAXSSIZE)
    {
      vn_memory_set_error (G_MAXSSIZE, error);
      return NULL;
    }
  bytes = MAX (bytes & ~(gsize) 63, 64);
  if (self->data != NULL && bytes <= self->size)
    return self->data;
  vn_scratch_clear (self);
  self->data = vn_memory_try_aligned (bytes, 64);
  if (self->data == NULL)
    vn_memory_set_error (bytes, error);
  self->size = self->data != NULL ? bytes : 0;
  return self->data;
}

void
vn_scratch_clear (VnScratch *self)
{
  g_return_if_fail (self != NULL);

  free (self->data);
  *self = (VnScratch) { 0 };
}
