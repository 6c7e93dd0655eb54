/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where what is installed with the program lies: the demo and the help. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

char *vn_demo_find (void);
char *vn_help_find (void);

G_END_DECLS
