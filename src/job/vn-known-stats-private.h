/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Statistics that a run need not make: given in files, left by an earlier run, or not needed. */
#pragma once

#include "vn-job-input.h"

G_BEGIN_DECLS

gboolean vn_job_take_known_stats (VnJobInput    *input,
                                  VnStats       *loaded,
                                  VnStats       *earlier,
                                  VnRun         *result,
                                  GCancellable  *cancellable,
                                  GError       **error);

G_END_DECLS
