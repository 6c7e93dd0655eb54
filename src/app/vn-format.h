/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-error-table.h"
#include "vn-model.h"

G_BEGIN_DECLS

/* Numbers as the window writes them: a real minus sign, a no-break space before the unit, “–” for what was
 * not measured. Each returns an owned string. */

char *vn_format_number     (double            value,
                            guint             significant);
char *vn_format_db         (double            decibels);
char *vn_format_bytes      (guint64           bytes);
char *vn_format_interval   (double            min,
                            double            max);
char *vn_format_shape      (const VnType     *type);
char *vn_format_metric     (VnMetric          metric,
                            double            value);
char *vn_format_duration   (double            seconds);
char *vn_format_path       (const char       *path);
char *vn_format_attr       (const VnAttr     *attr);
gboolean vn_format_parse_floats (const char  *text,
                                 float       *values,
                                 guint        n,
                                 guint       *n_read);
gboolean vn_format_parse_shape  (const char  *text,
                                 VnShape     *shape);
char *vn_format_floats     (const float      *values,
                            guint             n);

G_END_DECLS
