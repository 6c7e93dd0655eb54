/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Limits of time are stated for one machine. Others are slower, and where several share a processor each is so now and then.
 * Returns: how many times longer laying out text takes at this moment, which is most of what a window computes; at least 1 */
double vn_test_get_pace (void);

G_END_DECLS
