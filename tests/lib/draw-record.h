/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random records of runs: every member, numbers of every kind, texts that JSON must escape. */
#pragma once

#include "vn-result.h"

G_BEGIN_DECLS

VnResult *draw_run_record (GRand *rand);

G_END_DECLS
