/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-run.h"

G_BEGIN_DECLS

/* The nodes that most of the error comes from: indices in the model as opened, the worst first. */
GArray *vn_weak_nodes_list (VnRun *result);     /* of guint */

G_END_DECLS
