/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Records of runs to and from JSON; what the file holds is said in vn-result-file.c and in vernier-result(5). */

#include "vn-run-record.h"

G_BEGIN_DECLS

#define VN_RESULT_VERSION_KEY "vernier-result"
#define VN_RESULT_VERSION 1

char        *vn_run_record_to_json   (const VnRunRecord *self,
                                      const char        *folder);
VnRunRecord *vn_run_record_from_json (const char        *text,
                                      gssize             length,     /* -1: up to the NUL */
                                      const char        *name,
                                      const char        *folder,
                                      GError           **error);
gboolean     vn_run_record_save      (const VnRunRecord *self,
                                      const char        *path,
                                      const char        *folder,
                                      GError           **error);
VnRunRecord *vn_run_record_load      (const char        *path,
                                      const char        *folder,
                                      GError           **error);

G_END_DECLS
