/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Records of runs to and from JSON; what the file holds is said in vn-result-file.c and in vernier-result(5). */

#include "vn-result.h"

G_BEGIN_DECLS

#define VN_RESULT_VERSION_KEY "vernier-result"
#define VN_RESULT_VERSION 1

char     *vn_result_to_json   (const VnResult  *self,
                               const char      *folder);
VnResult *vn_result_from_json (const char      *text,
                               gssize           length,   /* -1: up to the NUL */
                               const char      *name,
                               const char      *folder,
                               GError         **error);
gboolean  vn_result_save      (const VnResult  *self,
                               const char      *path,
                               const char      *folder,
                               GError         **error);
VnResult *vn_result_load      (const char      *path,
                               const char      *folder,
                               GError         **error);

G_END_DECLS
