/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/**
 * VnParallelFunc:
 * @item: index of the item, 0 .. n_items - 1
 * @worker: index of the calling worker, 0 .. n_threads - 1: a place for per-thread state
 *
 * Returns: %FALSE with @error set to stop everything
 */
typedef gboolean (*VnParallelFunc) (gsize      item,
                                    guint      worker,
                                    gpointer   data,
                                    GError   **error);

guint    vn_parallel_default_threads (void);
void     vn_parallel_limit_default_threads (guint n_threads);
gboolean vn_parallel_for             (guint            n_threads,
                                      gsize            n_items,
                                      VnParallelFunc   func,
                                      gpointer         data,
                                      GCancellable    *cancellable,
                                      GError         **error);

G_END_DECLS
