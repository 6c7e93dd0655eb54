/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Keeping others, who do the same, from changing files between reading and writing them. */

#include <gio/gio.h>

G_BEGIN_DECLS

/**
 * VnFileLock: the right to read files and write them anew, as long as it lives or the process does. It is a lock on their
 * folders, as a file that is replaced keeps none.
 */
typedef struct _VnFileLock VnFileLock;

VnFileLock *vn_file_lock_new  (const char * const  *paths,
                               guint                seconds,
                               GError             **error);
void        vn_file_lock_free (VnFileLock          *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnFileLock, vn_file_lock_free)

G_END_DECLS
