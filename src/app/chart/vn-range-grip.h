/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The handle of an end of a range: it takes the focus and is moved by keys; whoever holds it draws the line and moves it. */

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define VN_RANGE_GRIP_WIDTH 10
#define VN_RANGE_GRIP_HEIGHT 20

/* Signals: step (int pixels): an arrow key; set (): Enter, or the focus went; give-up (): Escape. */
#define VN_TYPE_RANGE_GRIP (vn_range_grip_get_type ())
G_DECLARE_FINAL_TYPE (VnRangeGrip, vn_range_grip, VN, RANGE_GRIP, GtkWidget)

GtkWidget *vn_range_grip_new        (const char  *label);
void       vn_range_grip_set_value  (VnRangeGrip *self,
                                     double       value,
                                     double       least,
                                     double       most,
                                     const char  *text);

G_END_DECLS
