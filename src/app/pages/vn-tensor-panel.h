/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The values of one tensor on one sample: float, quantized, and the difference. */

#include "inspector-tensor.h"

#include "vn-tensor-job.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define VN_TYPE_TENSOR_PANEL (vn_tensor_panel_get_type ())
G_DECLARE_FINAL_TYPE (VnTensorPanel, vn_tensor_panel, VN, TENSOR_PANEL, AdwBin)

GtkWidget *vn_tensor_panel_new      (VnDocument        *document,
                                     VnTensorReader    *reader,
                                     VnInspectedTensor *tensor);
gboolean   vn_tensor_panel_is_shown (VnTensorPanel     *self);

G_END_DECLS
