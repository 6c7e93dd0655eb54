/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A Python environment of the program's own that has onnxruntime, made when the user asks for it. */
#pragma once

#include "vn-job.h"

G_BEGIN_DECLS

VnJob *vn_ort_install_new (const char *python);   /* nullable */

G_END_DECLS
