/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Files of a bench besides its model: the project, recipes and configurations, scripts, and where samples are. */

#include "vn-bench.h"

G_BEGIN_DECLS

gboolean    vn_bench_open_project       (VnBench     *self,
                                         const char  *path,
                                         const char  *model,   /* nullable */
                                         GError     **error);
const char *vn_bench_get_project_path   (VnBench *self);   /* NULL: no file yet */
const char *vn_bench_get_place          (VnBench *self);   /* NULL: nothing is kept yet */
gboolean    vn_bench_save_project       (VnBench     *self,
                                         const char  *path,
                                         GError     **error);
gboolean    vn_bench_is_opening_project (VnBench *self);
void        vn_bench_keep               (VnBench *self);
void        vn_bench_flush              (VnBench *self);
gboolean    vn_bench_open_settings      (VnBench     *self,
                                         const char  *path,
                                         GError     **error);
void        vn_bench_use_folder         (VnBench    *self,
                                         const char *path,
                                         int         held_out);
void        vn_bench_open_demo          (VnBench    *self,
                                         const char *folder);
gboolean    vn_bench_is_demo            (VnBench *self);
char       *vn_bench_dup_save_path      (VnBench    *self,
                                         const char *kind);
gboolean    vn_bench_save               (VnBench     *self,
                                         const char  *kind,
                                         const char  *path,
                                         VnNotes     *notes,
                                         GError     **error);

/* ---- the runs of the project ---- */

void          vn_bench_restore_run     (VnBench    *self,
                                        const char *id);
void          vn_bench_read_run_async  (VnBench             *self,
                                        const VnProjectRun  *run,
                                        GCancellable        *cancellable,
                                        GAsyncReadyCallback  callback,
                                        gpointer             user_data);
VnRun        *vn_bench_read_run_finish (VnBench       *self,
                                        GAsyncResult  *async,
                                        GError       **error);
void          vn_bench_rename_run      (VnBench    *self,
                                        const char *id,
                                        const char *name);   /* nullable */
void          vn_bench_remove_run      (VnBench    *self,
                                        const char *id);
gboolean      vn_bench_return_run      (VnBench *self);

void vn_bench_leave_weights (VnBench *self);

G_END_DECLS
