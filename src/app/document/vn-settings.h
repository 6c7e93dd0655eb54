/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* The few things the program remembers. Without an installed schema everything has its default and nothing
 * is kept. */

GSettings *vn_settings_get        (void);   /* borrowed; NULL without schema */
int        vn_settings_get_int    (const char *key,
                                   int         fallback);
gboolean   vn_settings_get_bool   (const char *key,
                                   gboolean    fallback);
void       vn_settings_set_bool   (const char *key,
                                   gboolean    value);
char      *vn_settings_dup_string (const char *key,
                                   const char *fallback);
void       vn_settings_set_string (const char *key,
                                   const char *value);

G_END_DECLS
