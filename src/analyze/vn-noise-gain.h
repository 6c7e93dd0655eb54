/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much a float network amplifies noise, before anything is quantized. */
#pragma once

#include "vn-samples.h"

G_BEGIN_DECLS

gboolean vn_noise_gain_measure (const VnModel       *model,
                                const VnSamples     *samples,
                                double              *gain_db,
                                GCancellable        *cancellable,
                                GError             **error);
char    *vn_noise_gain_dup_text (double              gain_db);

G_END_DECLS
