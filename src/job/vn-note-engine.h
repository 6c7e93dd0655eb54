/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* How far ranges of another engine are from those of ours. */

#include "vn-dataset.h"
#include "vn-model.h"
#include "vn-note.h"

G_BEGIN_DECLS

gboolean vn_job_note_engine (VnModel       *model,
                             GPtrArray     *taps,
                             VnDataset     *dataset,     /* nullable */
                             GHashTable    *shapes,      /* nullable */
                             VnNotes       *notes,
                             GCancellable  *cancellable,
                             GError       **error);

G_END_DECLS
