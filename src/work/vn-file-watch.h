/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-model.h"

#include <gio/gio.h>

G_BEGIN_DECLS

/**
 * VnFileWatch: whether the files of a model are still what was opened; of the main thread.
 */
typedef struct _VnFileWatch VnFileWatch;

typedef void (*VnFileWatchFunc) (gpointer data);

VnFileWatch *vn_file_watch_new         (VnFileWatchFunc changed,
                                        gpointer        data);
void         vn_file_watch_free        (VnFileWatch *self);
void         vn_file_watch_set_model   (VnFileWatch *self,
                                        VnModel     *model);   /* nullable */
void         vn_file_watch_look        (VnFileWatch *self);
gboolean     vn_file_watch_has_changed (VnFileWatch *self);

G_END_DECLS
