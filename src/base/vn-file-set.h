/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/**
 * VnFileSet: all files that a piece of work reads and writes, known before it starts, so that nothing that is read is
 * replaced and no two results go into one file. A file is what it is on the disk, by whatever name it is called, also if
 * it is not there yet. Devices and pipes are no files.
 */
typedef struct _VnFileSet VnFileSet;

/* Says with vn_file_set_reads() what @data stands for; called only if something that exists would be replaced. */
typedef void     (*VnFileSetFunc)   (VnFileSet      *self,
                                     gpointer        data);
typedef gboolean (*VnFileNameFunc)  (const char     *name);

VnFileSet *vn_file_set_new          (void);
VnFileSet *vn_file_set_ref          (VnFileSet      *self);
void       vn_file_set_unref        (VnFileSet      *self);
void       vn_file_set_reads        (VnFileSet      *self,
                                     const char     *path,
                                     const char     *what);
void       vn_file_set_reads_folder (VnFileSet      *self,
                                     const char     *path,
                                     VnFileNameFunc  is_read,
                                     const char     *what);
void       vn_file_set_reads_later  (VnFileSet      *self,
                                     VnFileSetFunc   func,
                                     gpointer        data,
                                     GDestroyNotify  data_free);
void       vn_file_set_writes       (VnFileSet      *self,
                                     const char     *path,
                                     const char     *what);
void       vn_file_set_writes_in    (VnFileSet      *self,
                                     const char     *folder,
                                     const char     *name,
                                     const char     *what);
gboolean   vn_file_set_check        (VnFileSet      *self,
                                     GError        **error);
gboolean   vn_file_set_has_other    (VnFileSet      *self,
                                     const char     *path,
                                     const char     *what);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnFileSet, vn_file_set_unref)

G_END_DECLS
