/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-document.h"

#include <adwaita.h>

G_BEGIN_DECLS

/* All settings of the recipe, a row for each line of vn-settings.def. */
GtkWidget *vn_settings_dialog_new (GtkWindow  *parent,
                                   VnDocument *document);

G_END_DECLS
