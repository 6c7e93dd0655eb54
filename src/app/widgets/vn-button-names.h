/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What a screen reader calls buttons. */

#include <gtk/gtk.h>

G_BEGIN_DECLS

GtkWidget *vn_button_new_with_mnemonic (const char *label);
void       vn_button_names_set         (GtkWidget  *root);

G_END_DECLS
