/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A Python environment of the program's own that has onnxruntime, made when the user asks for it. */
#pragma once

#include "vn-job.h"

G_BEGIN_DECLS

#define VN_TYPE_ORT_INSTALL (vn_ort_install_get_type ())
G_DECLARE_FINAL_TYPE (VnOrtInstall, vn_ort_install, VN, ORT_INSTALL, VnJob)

VnJob *vn_ort_install_new (const char *python);   /* nullable */

G_END_DECLS
