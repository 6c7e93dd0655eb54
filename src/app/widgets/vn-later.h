/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What follows from a change of a large network, one thing after the other. */

#include "vn-document.h"

G_BEGIN_DECLS

typedef void (*VnLaterFunc) (gpointer self);

void vn_later (gpointer     object,
               VnDocument  *document,
               VnLaterFunc  func);
void vn_later_frame (GtkWidget   *widget,
                     VnDocument  *document,
                     VnLaterFunc  func);

G_END_DECLS
