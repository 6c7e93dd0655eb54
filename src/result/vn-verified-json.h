/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What a runtime tells of nodes, in JSON: the same in files of runs and on standard output. */

#include "vn-verification.h"

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

void vn_verified_nodes_to_json (const GPtrArray *nodes,
                                const char      *member,
                                JsonBuilder     *json);

G_END_DECLS
