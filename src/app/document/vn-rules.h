/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-document.h"

G_BEGIN_DECLS

/* What the rules of a recipe mean on the opened network. */

GtkBitset   *vn_rule_dup_nodes          (const VnOverride *rule,
                                         const VnGraph    *graph);
char        *vn_rule_describe_leak      (const VnOverride *rule,
                                         const VnGraph    *graph);    /* NULL: it encloses its region */
VnOverride  *vn_rule_new_for_region     (const VnGraph    *graph,
                                         GtkBitset        *nodes);

G_END_DECLS
