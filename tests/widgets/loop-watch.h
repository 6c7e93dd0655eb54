/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Watches the main loop: how long it computes between two of its looks for events, in processor time of its thread, which the load of
 * the machine does not count in. While it does, what it is at is noted, to be told where it takes too long. */
#define LOOP_WATCH_LIMIT 50.    /* milliseconds that the main loop may compute at a time: more is told */
#define LOOP_WATCH_MOST 100.    /* and more than that is a fault: beside programs that use the same caches everything takes longer */

void     loop_watch_start (void);
void     loop_watch_allow (double milliseconds);   /* another limit than LOOP_WATCH_MOST for the step that has begun */
void     loop_watch_begin (const char *step);   /* what is done from now on; a string that stays */
void     loop_watch_pause (void);
void     loop_watch_tell  (void);               /* the longest turn of each step so far */
guint    loop_watch_end   (void);               /* steps that took too long; tells them, and what they were at */

G_END_DECLS
