/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Names from files, as they are shown: they cannot end a line, move the cursor or turn the direction of what follows. */

#include <glib.h>

G_BEGIN_DECLS

char *vn_shown_dup     (const char *text);
char *vn_shown_vprintf (const char *format,
                        va_list     args) G_GNUC_PRINTF (1, 0);
char *vn_shown_printf  (const char *format,
                        ...) G_GNUC_PRINTF (1, 2);

G_END_DECLS
