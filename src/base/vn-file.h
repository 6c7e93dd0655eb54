/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/**
 * VnFileWriter: a file that appears under its name only when complete. Until
 * vn_file_writer_commit() the data are in a file without a name, which vanishes
 * with the process, or where there are none in a temporary file beside it, which
 * vn_file_writer_free() removes.
 */
typedef struct _VnFileWriter VnFileWriter;

VnFileWriter *vn_file_writer_new    (const char     *path,
                                     GError        **error);
gboolean      vn_file_writer_write  (VnFileWriter   *self,
                                     gconstpointer   data,
                                     gsize           size,
                                     GError        **error);
gboolean      vn_file_writer_commit (VnFileWriter   *self,
                                     GError        **error);
void          vn_file_writer_free   (VnFileWriter   *self);

gboolean      vn_file_check_target  (const char     *path,
                                     GError        **error);    /* before long work whose result goes there */

gboolean      vn_file_write_all     (const char     *path,
                                     gconstpointer   data,
                                     gsize           size,
                                     GError        **error);
char         *vn_file_follow_links  (const char     *path);
char         *vn_file_dup_short     (const char     *path,
                                     const char     *folder);
char         *vn_file_dup_long      (const char     *name,
                                     const char     *folder);
char        **vn_file_read_lines    (const char     *path,
                                     GError        **error);
void          vn_file_fail          (GError        **error,
                                     const char     *what,
                                     const char     *path,
                                     int             code);

/* The file that stands for the standard input, which can be read once only; set while there is one thread. */
void          vn_file_set_standard_input (const char  *path);
gboolean      vn_file_is_standard_input  (const char  *path);   /* nullable */

/* ---- mapped files (vn-file-map.c) ---- */

/**
 * VnFileParse:
 * @length: in bytes; nothing need follow them
 * @name: what the text is called in messages
 *
 * Returns: (transfer full) (nullable): what it says
 */
typedef gpointer (*VnFileParse)     (const char     *text,
                                     gssize          length,
                                     const char     *name,
                                     GError        **error);

GBytes       *vn_file_map           (const char     *path,
                                     GError        **error);
gpointer      vn_file_parse         (const char     *path,
                                     VnFileParse     parse,
                                     GDestroyNotify  free,
                                     GError        **error);
void          vn_file_release_pages (gconstpointer   data,
                                     gsize           size);
void          vn_file_release_maps  (void);
void          vn_file_watch_map     (GBytes         *bytes);
gboolean      vn_file_check_map     (GBytes         *bytes,
                                     gboolean        in_place,
                                     GError        **error);
gboolean      vn_file_is_current    (GBytes         *bytes);
guint         vn_file_mark_lost     (void);
gboolean      vn_file_check_lost    (guint           mark,
                                     GError        **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnFileWriter, vn_file_writer_free)

G_END_DECLS
