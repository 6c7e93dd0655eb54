/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Folders that are made for a while, and the one that stays: the environment of ONNX Runtime that the program has made. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

void  vn_verify_folder_remove     (const char *path);
char *vn_verify_folder_dup_tensor (const char *folder,
                                   const char *prefix,
                                   guint       sample,
                                   guint       i);
char *vn_verify_dup_environment   (void);
char *vn_verify_dup_own_python    (void);

G_END_DECLS
