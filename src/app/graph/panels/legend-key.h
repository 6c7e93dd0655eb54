/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A line of the key of colours. */
#pragma once

#include "vn-scene.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

GtkWidget *vn_legend_key_new (VnOverlayKind  kind,
                              guint          at,
                              const char    *text);

G_END_DECLS
