/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What a run found inside a body. */

#include "vn-run.h"

G_BEGIN_DECLS

VnBodyErrors *vn_run_find_body (VnRun         *self,
                                const VnNode  *node,
                                const char    *attr);      /* NULL: not measured */
const VnErrorRow *vn_run_get_worst_inside (VnRun        *self,
                                           const VnNode *node,
                                           const char   *attr);      /* NULL: not measured */
VnRun        *vn_run_new_inside (VnRun        *around,
                                 const VnNode *node,
                                 const char   *attr,
                                 VnModel      *body);      /* NULL: nothing was measured in it */

G_END_DECLS
