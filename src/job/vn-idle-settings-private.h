/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Telling which settings of a recipe changed nothing in a network. */
#pragma once

#include "vn-job-input.h"

G_BEGIN_DECLS

/**
 * VnUntrained: what there was before a network was trained.
 * @rounded: (nullable): the prepared network with rounded weights
 * @stats: what ranges were found from
 * @has_blocks: there was something to train
 */
typedef struct
{
  VnModel  *rounded;
  VnStats  *stats;
  gboolean  has_blocks;
} VnUntrained;

void vn_job_note_idle_settings (VnJob             *job,
                                const VnJobInput  *input,
                                VnRun             *result,
                                const VnModel     *corrected,    /* nullable */
                                const VnModel     *rounded,      /* nullable */
                                const VnUntrained *untrained,    /* nullable */
                                GCancellable      *cancellable);

G_END_DECLS
