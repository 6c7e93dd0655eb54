/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-json.h"

G_BEGIN_DECLS

/* ---- vn-json-check.c ---- */

char    *vn_json_dup_without_comments (const char *text,
                                       gsize       length);
gboolean vn_json_check_text (const char  *text,
                             gsize        length,
                             const char  *name,
                             GError     **error);

G_END_DECLS
