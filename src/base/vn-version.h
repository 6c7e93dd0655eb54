/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What program this is, and what it was made of and runs on. */

#include <glib.h>

G_BEGIN_DECLS

char *vn_version_dup_build (void);

G_END_DECLS
