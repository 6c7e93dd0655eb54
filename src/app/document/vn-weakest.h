/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The nodes that most of the error comes from. */

#include "vn-document.h"
#include "vn-node-item.h"

G_BEGIN_DECLS

GPtrArray *vn_weakest_list       (VnDocument *document);     /* of VnNodeItem, worst first */
GArray    *vn_weakest_list_parts (VnRun      *result,
                                  VnNodeItem *item);         /* of guint: VnContributions, largest first */
char      *vn_weakest_dup_parts  (VnRun      *result,
                                  VnNodeItem *item);

G_END_DECLS
