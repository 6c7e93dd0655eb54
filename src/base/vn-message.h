/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Messages that can be shown whatever is in them. */

#include <glib.h>

G_BEGIN_DECLS

void vn_message_make_valid (GError **error);

G_END_DECLS
