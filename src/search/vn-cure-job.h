/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The job that quantizes, finds why that costs what it costs, and measures what helps. */
#pragma once

#include "vn-jobs.h"

G_BEGIN_DECLS

/**
 * VnCureSettings:
 * @quantize: samples must be there, and be compared
 * @seconds: for the cures, behind finding where error starts: none is tried that would probably end later
 * @n_tensors: of so many tensors that cost most
 */
typedef struct
{
  VnQuantizeSettings quantize;
  double             seconds;
  guint              n_tensors;
} VnCureSettings;

#define VN_CURE_TENSORS 3

VnJob    *vn_cure_job_new        (const VnCureSettings *settings);
VnRun    *vn_cure_job_get_result (VnJob                *job);        /* borrowed; after success */

G_END_DECLS
