/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What ONNX Runtime's kernels on integers ask of a node: one table for preparation, plan, writers and forecast. */

#include "vn-op.h"

G_BEGIN_DECLS

/**
 * VnKernelForm: a form that ONNX Runtime does not compute rightly between 8 bit pairs.
 * @op_type: operator
 * @id: which of its forms
 * @moved: what it does not bear is moving channels last
 * @text: what is wrong, untranslated
 */
typedef struct
{
  const char *op_type;
  const char *id;
  gboolean    moved;
  const char *text;   /* N_() */
} VnKernelForm;

const VnKernelForm *vn_kernel_find_form        (const VnNode *node);
gboolean            vn_kernel_has_form         (const VnNode *node,
                                                const char   *id);
gboolean            vn_kernel_takes_types      (const char   *op_type,
                                                VnDType       left,
                                                VnDType       right,
                                                VnDType       result);
gboolean            vn_kernel_get_weight_axis  (const VnNode *node,
                                                int           rank,
                                                int          *axis);
gboolean            vn_kernel_get_channel_axis (const VnNode *node,
                                                guint         input,
                                                int          *axis);

G_END_DECLS
