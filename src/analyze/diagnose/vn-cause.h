/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-run.h"

G_BEGIN_DECLS

/* Why a node of the opened model has the error it has, in one sentence; NULL: nothing stands out. */
char *vn_cause_describe (VnRun        *result,
                         const VnNode *node);

/* The node whose error this one only passes on, borrowed; NULL: the error is its own. */
const VnNode *vn_cause_find_origin (VnRun        *result,
                                    const VnNode *node);

G_END_DECLS
