/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Processes that share the samples of loops, and other items of work: each runs the same program on the same files, and comes to
 * the same loops in the same order. */
#pragma once

#include "vn-parallel.h"

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

/**
 * VnSharedFuncs: work on items that do not depend on each other.
 * @run: does one of them, and leaves what came of it where @data tells
 * @pack: what came of @item, for other processes on the same kind of machine; (nullable) %NULL without an error: nothing
 * @take: leaves what @pack of another process gave where @run would have; %FALSE with an error stops all
 */
typedef struct
{
  VnParallelFunc run;
  GBytes      *(*pack) (gsize           item,
                        gpointer        data,
                        GError        **error);
  gboolean     (*take) (gsize           item,
                        gconstpointer   bytes,
                        gsize           size,
                        gpointer        data,
                        GError        **error);
} VnSharedFuncs;

void       vn_sample_ranks_set      (guint          rank,
                                     guint          n,
                                     VnGatherFunc   gather);
guint      vn_sample_ranks_get_rank (void);
guint      vn_sample_ranks_get_n    (void);                  /* 1: alone */
GPtrArray *vn_sample_ranks_gather   (GBytes        *own,
                                     GError        *failure,
                                     GError       **error);
gboolean   vn_sample_ranks_for      (guint          n_threads,
                                     gsize          n_items,
                                     const VnSharedFuncs *funcs,
                                     gpointer       data,
                                     GCancellable  *cancellable,
                                     GError       **error);
gboolean   vn_sample_ranks_is_own   (gsize          item);
gboolean   vn_sample_ranks_get_least (guint64       own,
                                     guint64       *least,
                                     GError       **error);
gboolean   vn_sample_ranks_refuse   (GError       **error);
gpointer   vn_sample_ranks_dup      (gconstpointer  bytes,
                                     gsize          size,
                                     gsize          n,
                                     gsize          element_size,
                                     GError       **error);

G_END_DECLS
