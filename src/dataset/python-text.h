/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Reading what Python prints, and JSON. */

#include <glib.h>

G_BEGIN_DECLS

gboolean _vn_python_take_char   (const char **at,
                                 char         wanted);
gboolean _vn_python_take_number (const char **at,
                                 guint        most,
                                 guint       *number);
char    *_vn_python_take_text   (const char **at);

G_END_DECLS
