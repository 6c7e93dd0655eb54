/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random records of runs: every member, numbers of every kind, texts that JSON must escape. */
#pragma once

#include "vn-run.h"

G_BEGIN_DECLS

VnRun    *draw_run (GRand *rand);

G_END_DECLS
