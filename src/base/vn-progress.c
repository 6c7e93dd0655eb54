/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The progress that a thread is told of without being given it, as GCancellable has a current one: for loops that lie deep. */
#include "vn-progress.h"

static GPrivate current;

/**
 * vn_progress_swap_current:
 * @self: (nullable): must stay until the next swap; %NULL: nobody is told
 *
 * What vn_progress_report_current() tells from now on, in this thread.
 *
 * Returns: (nullable): what it told before, to be put back
 */
const VnProgress *
vn_progress_swap_current (const VnProgress *self)
{
  const VnProgress *before = g_private_get (&current);

  g_private_set (&current, (gpointer) self);
  return before;
}

/**
 * vn_progress_report_current:
 * @total: 0: unknown
 *
 * Tells whoever asked for it in this thread; nobody may have.
 */
void
vn_progress_report_current (guint64 done,
                            guint64 total)
{
  vn_progress_report (g_private_get (&current), NULL, done, total);
}
