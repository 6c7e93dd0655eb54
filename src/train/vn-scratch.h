/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/**
 * VnScratch: working space that grows with what is asked for, and is kept for the next call: one per thread.
 */
typedef struct
{
  gpointer data;
  gsize    size;
} VnScratch;

gpointer vn_scratch_reserve (VnScratch    *self,
                             gsize         n,
                             gsize         size,
                             GError      **error);
void     vn_scratch_clear   (VnScratch    *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (VnScratch, vn_scratch_clear)

G_END_DECLS
