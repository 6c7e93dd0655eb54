/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What each place of a kernel sees, as columns of a matrix, so that convolutions are matrix products. */
#pragma once

#include "vn-sliding-window.h"

G_BEGIN_DECLS

/* About so many numbers are unfolded at a time: they stay in the cache of the second level. */
#define VN_COLUMNS_CHUNK ((gsize) 128 << 10)

gboolean vn_columns_is_plain (const VnSlidingWindow *window);
gsize    vn_columns_n_lines  (const VnSlidingWindow *window,
                              gsize                  depth);
void     vn_columns_unfold   (const VnSlidingWindow *window,
                              gsize                  channels,
                              gsize                  first_line,
                              gsize                  n_lines,
                              const float           *image,
                              float                 *columns);
void     vn_columns_fold     (const VnSlidingWindow *window,
                              gsize                  channels,
                              gsize                  first_line,
                              gsize                  n_lines,
                              const float           *columns,
                              float                 *image);

G_END_DECLS
