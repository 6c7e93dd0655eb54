/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What each node has of its own: bytes of weights, before quantizing and after, and the error of rounding it. */

#include "vn-run.h"

G_BEGIN_DECLS

/**
 * VnNodeSize: constants that a node reads.
 * @before: in the network as opened
 * @after: in the quantized network, with scales and zero points; negative: not known
 */
typedef struct
{
  gint64 before, after;
} VnNodeSize;

/* What the rounding of each tensor does by itself: name of the value whose row speaks for it -> double: signal to noise in dB. */
GHashTable *vn_local_errors_new (VnRun *result);   /* nullable */

GArray *vn_node_sizes_list (const VnModel *source,
                            VnRun         *result);   /* nullable */
GArray *vn_node_bits_list  (const VnModel *source,
                            VnRun         *result);   /* nullable */

G_END_DECLS
