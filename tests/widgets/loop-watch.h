/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Watches the main loop: how long it computes between two of its looks for events, in processor time of its thread, which the
 * load of the machine does not count in; what is too long is divided by how slow the machine is just then (vn_test_even_out()).
 * While it computes, what it is at is noted, to be told where it takes too long. For benchmarks: whatever is not started does
 * nothing. */
#define LOOP_WATCH_LIMIT 50.    /* milliseconds that the main loop may compute at a time */

void     loop_watch_start (void);
void     loop_watch_allow (double milliseconds);   /* another limit than LOOP_WATCH_LIMIT for the step that has begun */
void     loop_watch_begin (const char *step);   /* what is done from now on; a string that stays */
void     loop_watch_pause (void);
void     loop_watch_tell  (void);               /* the longest turn of each step so far */
/* Tells the steps that took too long, and what they were at. Programs beside this one that use the same caches make everything
 * take longer: what took too long may be done again, and counts only if it did each time since loop_watch_forget().
 * Returns: how many steps took too long each time */
guint    loop_watch_end   (void);
void     loop_watch_forget (void);

G_END_DECLS
