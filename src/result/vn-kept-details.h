/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What is told of tokens beside how many are kept. */

#include "vn-task.h"

G_BEGIN_DECLS

char *vn_kept_dup_details (const VnKept *self);

G_END_DECLS
