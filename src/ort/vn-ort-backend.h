/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* ONNX Runtime as what runs nodes that we have no kernel for, or all nodes of a network. */

#include "vn-backend.h"

G_BEGIN_DECLS

#define VN_TYPE_ORT_BACKEND (vn_ort_backend_get_type ())
G_DECLARE_FINAL_TYPE (VnOrtBackend, vn_ort_backend, VN, ORT_BACKEND, VnBackend)

/**
 * VnOrtSettings:
 * @provider: (nullable): as `--engine onnxruntime:` has it: "cuda"; %NULL: the CPU
 * @custom_ops: (nullable) (type filename): a library with operators, which is code that the user trusts
 * @takes_all: runs what we have kernels for, too
 */
typedef struct
{
  const char *provider, *custom_ops;
  gboolean    takes_all;
} VnOrtSettings;

VnBackend *vn_ort_backend_new   (const VnOrtSettings  *settings);      /* NULL: defaults */
gboolean   vn_ort_backend_start (VnOrtBackend         *self,
                                 GError              **error);
void       vn_ort_backend_stop  (VnOrtBackend         *self);
const char *vn_model_get_custom_ops (const VnModel    *model);         /* (nullable), borrowed */

G_END_DECLS
