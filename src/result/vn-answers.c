/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Boxes of one sample, and which of them are kept. */
#include "vn-answers.h"

void
vn_sample_answer_free (VnSampleAnswer *self)
{
  if (self == NULL)
    return;

  g_array_unref (self->first);
  g_array_unref (self->other);
  g_array_unref (self->partners);
  g_free (self);
}

/**
 * vn_sample_answer_count_kept:
 *
 * Returns: how many boxes of the float network the quantized one has as well
 */
guint
vn_sample_answer_count_kept (const VnSampleAnswer *self)
{
  guint n = 0;

  g_return_val_if_fail (self != NULL, 0);

  for (guint i = 0; i < self->partners->len; i++)
    n += g_array_index (self->partners, guint, i) != VN_NO_PARTNER;
  return n;
}

/**
 * vn_sample_answer_find_owner:
 * @other: a box of the quantized network
 *
 * Returns: the box of the float network that it keeps, or %VN_NO_PARTNER
 */
guint
vn_sample_answer_find_owner (const VnSampleAnswer *self,
                             guint                 other)
{
  g_return_val_if_fail (self != NULL && other < self->other->len, VN_NO_PARTNER);

  for (guint i = 0; i < self->partners->len; i++)
    if (g_array_index (self->partners, guint, i) == other)
      return i;
  return VN_NO_PARTNER;
}
