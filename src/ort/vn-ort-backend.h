/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* ONNX Runtime as what runs nodes that we have no kernel for, or all nodes of a network. */

#include "ort-plugin.h"
#include "vn-backend.h"

G_BEGIN_DECLS

#define VN_TYPE_ORT_BACKEND (vn_ort_backend_get_type ())
G_DECLARE_FINAL_TYPE (VnOrtBackend, vn_ort_backend, VN, ORT_BACKEND, VnBackend)

/**
 * VnOrtSettings:
 * @provider: (nullable): as `--engine onnxruntime:` has it: "cuda"; %NULL: the CPU
 * @custom_ops: (nullable) (type filename): a library with operators, which is code that the user trusts
 * @ep_library: (nullable): "NAME=PATH": an execution provider in a library of its own, which is code that the user trusts; all
 *   runs there if @takes_all, and exports that are verified
 * @ep_options: (nullable) (array zero-terminated): "KEY=VALUE" of that, or of the provider that a target runs on
 * @takes_all: runs what we have kernels for, too
 */
typedef struct
{
  const char         *provider, *custom_ops, *ep_library;
  const char * const *ep_options;
  gboolean            takes_all;
} VnOrtSettings;

VnBackend *vn_ort_backend_new   (const VnOrtSettings  *settings);      /* NULL: defaults */
gboolean   vn_ort_backend_start (VnOrtBackend         *self,
                                 GError              **error);
void       vn_ort_backend_stop  (VnOrtBackend         *self);
const char *vn_model_get_custom_ops (const VnModel    *model);         /* (nullable), borrowed */
const VnOrtPlugin *vn_model_get_plugin (const VnModel     *model);     /* (nullable), borrowed; not registered */

G_END_DECLS
