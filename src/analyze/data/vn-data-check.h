/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Looks whether the samples are likely to be what the network was trained on. */

#include "vn-dataset.h"
#include "vn-model.h"

G_BEGIN_DECLS

gboolean vn_data_check (VnModel       *model,
                        const VnModel *fed,
                        GHashTable    *shapes,       /* nullable */
                        VnDataset     *dataset,
                        gboolean       calibrates,
                        VnNotes       *notes,
                        GCancellable  *cancellable,
                        GError       **error);

G_END_DECLS
