/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Telling which settings of a recipe changed nothing in a network. */
#pragma once

#include "vn-job-input.h"

G_BEGIN_DECLS

void vn_job_note_idle_settings (VnJob            *job,
                                const VnJobInput *input,
                                VnResult         *result,
                                const VnModel    *corrected,    /* nullable */
                                const VnModel    *rounded,      /* nullable */
                                GCancellable     *cancellable);

G_END_DECLS
