/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-dtype.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* The letters of a precision in their frame: a label with a style class per kind. */
GtkWidget *vn_badge_new (void);
void       vn_badge_set (GtkWidget *badge,
                         VnDType    dtype);

G_END_DECLS
