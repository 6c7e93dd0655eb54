/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Returns: milliseconds of processor time of the calling thread, which the load of the machine does not count in */
double vn_test_get_own_time (void);

/* Limits of time are stated for one machine. Others are slower, and where several share a processor each is so now and then.
 * Returns: @took, above @limit divided by how many times longer laying out text takes at this moment, which is most of what a
 *   window computes; never more than @took */
double vn_test_even_out (double took,
                         double limit);

G_END_DECLS
