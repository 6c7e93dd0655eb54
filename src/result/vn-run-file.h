/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Records of runs to and from JSON; what the file holds is said in vn-run-file.c and in vernier-result(5). */

#include "vn-run.h"

G_BEGIN_DECLS

#define VN_RUN_FILE_VERSION_KEY "vernier-result"
#define VN_RUN_FILE_VERSION 1

char    *vn_run_to_json   (const VnRun  *self,
                           const char   *folder);
VnRun   *vn_run_from_json (const char   *text,
                           gssize        length,   /* -1: up to the NUL */
                           const char   *name,
                           const char   *folder,
                           GError      **error);
gboolean vn_run_save      (const VnRun  *self,
                           const char   *path,
                           const char   *folder,
                           GError      **error);
VnRun   *vn_run_load      (const char   *path,
                           const char   *folder,
                           GError      **error);

G_END_DECLS
