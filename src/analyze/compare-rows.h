/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of errors, as comparing makes them. */
#pragma once

#include "vn-part-sums.h"
#include "vn-plan.h"

G_BEGIN_DECLS

gboolean    vn_compare_has_row  (const VnValue    *value);
VnErrorRow *vn_compare_make_row (VnPlan            *plan,
                                 const VnValue     *value,
                                 const VnErrorSum  *sums,
                                 const VnPartition *partition,
                                 const VnErrorSum  *local);

G_END_DECLS
