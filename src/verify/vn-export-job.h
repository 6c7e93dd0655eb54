/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The job of exporting: model and report; all or nothing per file. */
#pragma once

#include "vn-job.h"
#include "vn-onnx.h"
#include "vn-report.h"
#include "vn-run.h"

G_BEGIN_DECLS

/* Writes a file of its own: nothing is there afterwards, or all of it. Runs on the thread of the job. */
typedef gboolean (*VnExportFunc) (gpointer      data,
                                  const char   *path,
                                  GCancellable *cancellable,
                                  GError      **error);

/* Copies a file, likewise. */
typedef gboolean (*VnCopyFunc)   (const char   *from,
                                  const char   *to,
                                  GCancellable *cancellable,
                                  GError      **error);

VnJob    *vn_export_job_new      (VnRun            *result,         /* nullable: only files of vn_export_job_add_file() */
                                  const char       *model_path,     /* nullable */
                                  const char       *report);        /* nullable: file or folder: vn_report_export() */
gboolean  vn_export_add_outputs (VnFileSet                 *set,
                                 const VnModel             *source,
                                 const char                *model_path,
                                 const char                *report,
                                 const VnOnnxWriteOptions  *options,
                                 GError                   **error);
void      vn_export_job_set_verify (VnJob                    *job,
                                    const char               *python,     /* nullable */
                                    gboolean                  is_asked);
VnRun    *vn_export_job_get_result (VnJob                    *job);       /* borrowed; with what was measured */
void      vn_export_job_add_report (VnJob                    *job,
                                    const VnReportPrinter    *printer,    /* nullable: by the ending */
                                    const char               *path);
void      vn_export_job_add_file   (VnJob                    *job,
                                    const char               *path,
                                    const char               *what,
                                    VnExportFunc              func,
                                    gpointer                  data,
                                    GDestroyNotify            destroy);
void      vn_export_job_add_copy   (VnJob                    *job,
                                    const char               *from,
                                    const char               *path,
                                    const char               *what,
                                    VnCopyFunc                func);
void      vn_export_job_make_folder (VnJob                   *job,
                                     const char              *folder);
GPtrArray *vn_export_job_get_written (VnJob                  *job);       /* of char, borrowed */
void      vn_export_job_set_write_options (VnJob                    *job,
                                           const VnOnnxWriteOptions *options);   /* its name must outlive the job */

G_END_DECLS
