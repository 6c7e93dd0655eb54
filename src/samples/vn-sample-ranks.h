/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Processes that share the samples of loops: each runs the same program on the same files, and comes to the same loops in the
 * same order. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/**
 * VnGatherFunc:
 * @own: what this process has
 *
 * Waits for all processes. Called by the thread that runs a loop.
 *
 * Returns: (transfer full) (element-type GBytes) (nullable): what each of them has, by rank; %NULL with an error if one failed
 */
typedef GPtrArray *(*VnGatherFunc) (GBytes  *own,
                                    GError **error);

void       vn_sample_ranks_set      (guint          rank,
                                     guint          n,
                                     VnGatherFunc   gather);
guint      vn_sample_ranks_get_rank (void);
guint      vn_sample_ranks_get_n    (void);                  /* 1: alone */
GPtrArray *vn_sample_ranks_gather   (GBytes        *own,
                                     GError       **error);
gboolean   vn_sample_ranks_refuse   (GError       **error);
gpointer   vn_sample_ranks_dup      (gconstpointer  bytes,
                                     gsize          size,
                                     gsize          n,
                                     gsize          element_size,
                                     GError       **error);

G_END_DECLS
