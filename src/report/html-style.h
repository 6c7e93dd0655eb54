/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* How a report looks in a browser. */

#include <glib.h>

G_BEGIN_DECLS

void _vn_html_append_style (GString *text);

G_END_DECLS
