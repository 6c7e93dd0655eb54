/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Work of a task on a thread of its own. */

#include <gio/gio.h>

G_BEGIN_DECLS

void vn_thread_run_task (GTask           *task,
                         GTaskThreadFunc  work);
void vn_thread_run_pooled (GTask           *task,
                           GTaskThreadFunc  work);

G_END_DECLS
