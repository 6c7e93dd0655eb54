/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* A row about a tensor that crosses the edge of a region. */

#include "vn-rules.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

GtkWidget *vn_leak_row_new (guint             rule,
                            const VnRuleLeak *leak);

G_END_DECLS
