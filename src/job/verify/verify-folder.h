/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Folders that are made for a while. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

void vn_verify_folder_remove (const char *path);

G_END_DECLS
