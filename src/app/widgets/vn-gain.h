/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <adwaita.h>

G_BEGIN_DECLS

/* What a change of the recipe gains, and what it costs. */

char      *vn_gain_dup_cost (gint64      bytes,
                             double      time_ratio);
GtkWidget *vn_gain_new      (const char *gain,
                             const char *count,
                             gboolean    helps,
                             gint64      bytes,
                             double      time_ratio);

G_END_DECLS
