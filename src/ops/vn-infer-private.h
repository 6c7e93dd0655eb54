/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-op-private.h"

G_BEGIN_DECLS

/* Larger values are weights, not sizes. */
#define VN_INFER_MAX_ELEMENTS 1024

VnTensor *vn_infer_to_numbers   (VnDims            *dims,
                                 const VnTensor    *tensor);
VnTensor *vn_infer_from_numbers (VnDims            *dims,
                                 const VnTensor    *numbers,
                                 VnDType            dtype);
void      vn_infer_numbers      (const VnOpContext *ctx,
                                 VnTensor         **out);

G_END_DECLS
