/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <adwaita.h>

G_BEGIN_DECLS

typedef gboolean (*VnTestCondition) (gpointer data);

/* Skips the whole program (exit code 77) where there is no display. */
void     vn_test_widgets_init (int              *argc,
                               char           ***argv);
void     vn_test_forgive_tooltips (void);
gboolean vn_test_wait         (VnTestCondition   condition,
                               gpointer          data,
                               guint             seconds);
void     vn_test_settle       (guint             milliseconds);
void     vn_test_screenshot   (GtkWidget        *window,
                               const char       *name);

/* The first widget below @root, in depth-first order, of @type and (unless NULL) with this action name or
 * label. */
GtkWidget *vn_test_find       (GtkWidget        *root,
                               GType             type,
                               const char       *name);
gpointer   vn_test_find_controller (GtkWidget   *widget,
                               GType             type);

void       vn_test_picture    (GtkWidget        *native,
                               const char       *name);

G_END_DECLS
