/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <adwaita.h>

G_BEGIN_DECLS

/* What the user prefers, kept in GSettings. */

void       vn_preferences_apply (void);
GtkWidget *vn_preferences_new   (GtkWindow *parent);   /* nullable */

G_END_DECLS
