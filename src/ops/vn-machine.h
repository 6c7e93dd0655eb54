/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

const char *vn_machine_get_instruction_set (void);

G_END_DECLS
