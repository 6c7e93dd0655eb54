/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of gradients share: the functions of the table, and sums in a fixed order. */
#pragma once

#include "vn-gradient.h"

#include "vn-op-kernel.h"

G_BEGIN_DECLS

#define VN_GRADIENT(domain, op_type, inputs, backward) gboolean backward (VnGradientContext *ctx, GError **error);
#define VN_GRADIENT_CHECKED(domain, op_type, inputs, check, backward) \
  gboolean check (const VnNode *node, GError **error);                \
  gboolean backward (VnGradientContext *ctx, GError **error);
#define VN_GRADIENT_NONE(domain, op_type)
#include "vn-gradients.def"
#undef VN_GRADIENT
#undef VN_GRADIENT_CHECKED
#undef VN_GRADIENT_NONE

/* Sums are split over so many numbers, one behind the other: compilers make vectors of them, and the order stays. */
#define VN_SUM_LANES 16

float vn_gradient_sum        (const float *x,
                              gsize        n);
float vn_gradient_dot        (const float *x,
                              const float *y,
                              gsize        n);
void  vn_gradient_add_scaled (float       *y,
                              const float *x,
                              float        factor,
                              gsize        n);
void  vn_gradient_sum_planes (float       *sums,
                              const float *x,
                              gsize        batch,
                              gsize        channels,
                              gsize        size);

/* The numbers of a tensor, or NULL. */
static inline float *
vn_gradient_data (VnTensor *tensor)
{
  return tensor != NULL ? tensor->data : NULL;
}

G_END_DECLS
