/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-document.h"

#include <adwaita.h>

G_BEGIN_DECLS

/* Menus that set the precision of the selected nodes. */

void vn_precision_menu_tell    (GMenuModel    *menu,
                                VnDocument    *document);
void vn_precision_menu_connect (GtkMenuButton *button,
                                VnDocument    *document);

G_END_DECLS
