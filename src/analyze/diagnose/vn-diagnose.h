/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds why the tensors that cost most cost what they do. */
#pragma once

#include "vn-run.h"

G_BEGIN_DECLS

VnDiagnosis *vn_diagnose          (VnRun        *result);
char        *vn_diagnose_tensor   (VnRun        *result,
                                   const char   *name,
                                   VnReason     *reason);      /* out, nullable */
gboolean     vn_diagnose_live_range (VnRun      *result,
                                     const char *name,
                                     VnRange    *range);

G_END_DECLS
