/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The job that finds where the error of a run starts, after the run. */
#pragma once

#include "vn-contribution.h"
#include "vn-job.h"
#include "vn-run.h"

G_BEGIN_DECLS

VnJob    *vn_origins_job_new         (VnJob         *run,
                                      VnRun         *result);   /* nullable */
VnRun    *vn_origins_job_get_result  (VnJob         *job);      /* borrowed; after success */
VnContributions *vn_origins_job_dup_contributions (VnJob        *job);    /* nullable; so far; from any thread */

G_END_DECLS
