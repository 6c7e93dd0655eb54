/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* For people: a real minus sign, a no-break space before the unit, the locale's decimal point. Each returns an owned string. */
char    *vn_format_number       (double       value,
                                 guint        significant);
char    *vn_format_decimals     (double       value,
                                 guint        decimals);
char    *vn_format_signed       (double       value,
                                 guint        decimals);
char    *vn_format_db           (double       decibels);
char    *vn_format_signed_db    (double       decibels);
char    *vn_format_bytes        (guint64      bytes);
char    *vn_format_interval     (double       min,
                                 double       max);
char    *vn_format_duration     (double       seconds);
char    *vn_format_path         (const char  *path);

/* For columns of a terminal: ASCII, as printf() pads bytes. */
char    *vn_format_db_column    (double       decibels);
char    *vn_format_db_margin (double decibels,
                              double margin);
char    *vn_format_db_column_margin (double decibels,
                                     double margin);
char    *vn_format_bytes_column (guint64      bytes);

/* For tables of reports: the locale's decimal point, the rest as programs write it. */
char    *vn_format_plain        (double       value);
char    *vn_format_fixed        (double       value,
                                 guint        decimals);

/* For text that is edited, and read back. */
char    *vn_format_to_locale    (const char  *number);
char    *vn_format_from_locale  (const char  *text);
char    *vn_format_floats       (const float *values,
                                 guint        n);
gboolean vn_format_parse_floats (const char  *text,
                                 float       *values,
                                 guint        n,
                                 guint       *n_read);

G_END_DECLS
