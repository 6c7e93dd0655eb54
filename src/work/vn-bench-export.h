/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What can be exported of a bench. */

#include "vn-bench.h"

G_BEGIN_DECLS

/* What an export consists of. */
typedef enum { VN_EXPORT_MODEL, VN_EXPORT_REPORT, VN_EXPORT_PICTURE, VN_EXPORT_WORK } VnExportGroup;

/**
 * VnExportKind: a file that can be exported.
 * @id: "model"; of reports that of their printer, of what was decided that of vn_bench_save()
 * @ending: added to the name of the model: "-report.html"
 * @title: N_()
 * @is_usual: exported unless the user says otherwise
 */
typedef struct
{
  const char    *id, *ending, *title;
  VnExportGroup  group;
  gboolean       is_usual;
} VnExportKind;

/* @dark: of pictures: 0: light, 1: dark, negative: as the window is */
typedef struct
{
  const VnExportKind *kind;
  const char         *path;
  int                 dark;
} VnExportFile;

gboolean          vn_bench_export              (VnBench     *self,
                                                const char  *model_path,
                                                const char  *report,
                                                gboolean     verify,
                                                GError     **error);
gboolean          vn_bench_exports_folder      (VnBench     *self,
                                                const char  *path);   /* nullable */
char             *vn_bench_dup_export_path     (VnBench     *self);
guint             vn_bench_count_exports       (void);
const VnExportKind *vn_bench_get_export        (guint i);
const VnExportKind *vn_bench_find_export       (const char *id);   /* NULL: there is none */
gboolean          vn_bench_can_export          (VnBench            *self,
                                                const VnExportKind *kind);
gboolean          vn_bench_export_files        (VnBench             *self,
                                                const VnExportFile  *files,
                                                guint                n_files,
                                                gboolean             verify,
                                                GError             **error);

G_END_DECLS
