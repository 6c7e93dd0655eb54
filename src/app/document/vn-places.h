/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where what the window shows lies: the demo, the help, the schema of its settings. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

char *vn_demo_find    (void);
char *vn_help_find    (void);
char *vn_schemas_find (void);

G_END_DECLS
