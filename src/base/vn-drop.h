/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Gives up what is large without waiting until its memory is freed. */

#include <glib.h>

G_BEGIN_DECLS

void vn_drop        (gpointer       data,
                     GDestroyNotify unref);
void vn_drop_large  (gpointer       data,
                     GDestroyNotify unref);
void vn_drop_memory (void);

G_END_DECLS
