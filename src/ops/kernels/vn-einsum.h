/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The equation of Einsum, as sizes and strides of its labels. */
#pragma once

#include "vn-op-kernel.h"

G_BEGIN_DECLS

#define VN_EINSUM_LETTERS 52
#define VN_EINSUM_LABELS (VN_EINSUM_LETTERS + VN_MAX_RANK)
#define VN_EINSUM_NOT_MET ((gint64) -2)   /* size of a label that is in no operand */

#define VN_EINSUM_OPERANDS 16

enum { VN_EINSUM_FIRST, VN_EINSUM_SECOND, VN_EINSUM_RESULT = VN_EINSUM_OPERANDS, VN_EINSUM_TERMS };

/**
 * VnEinsumTerm: axes as labels: letters first, then the axes of an ellipsis counted from the last.
 * @ellipsis: place where it stands, -1: none
 */
typedef struct
{
  int labels[VN_MAX_RANK];
  int n;
  int ellipsis;
} VnEinsumTerm;

/**
 * VnEinsum:
 * @n_ellipsis: axes of the widest ellipsis
 * @size: by label; %VN_DIM_UNKNOWN: unknown
 * @stride: 0 where a term does not have it, or repeats it
 */
typedef struct
{
  VnEinsumTerm terms[VN_EINSUM_TERMS];
  int          n_operands;
  int          n_ellipsis;
  gint64       size[VN_EINSUM_LABELS];
  gsize        stride[VN_EINSUM_TERMS][VN_EINSUM_LABELS];
  gboolean     has[VN_EINSUM_TERMS][VN_EINSUM_LABELS];
} VnEinsum;

gboolean vn_einsum_init (VnEinsum       *self,
                         VnOpContext    *ctx,
                         const VnShape **shapes,
                         GError        **error);

G_END_DECLS
