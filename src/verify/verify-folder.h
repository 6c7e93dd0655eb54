/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Folders that are made for a while, and those that stay: the environments of runtimes that the program has made. */
#pragma once

#include "vn-target-runtime.h"

G_BEGIN_DECLS

void  vn_verify_folder_remove     (const char *path);
char *vn_verify_folder_dup_tensor (const char *folder,
                                   const char *prefix,
                                   guint       sample,
                                   guint       i);
char *vn_verify_dup_environment   (const VnTargetRuntime *runtime);
char *vn_verify_dup_own_python    (const VnTargetRuntime *runtime);

G_END_DECLS
