/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Sums of errors of a tensor and of its parts: the first sum is that of all its elements, those of the parts follow. */

#include "vn-error-sum.h"
#include "vn-parts.h"
#include "vn-shape.h"

G_BEGIN_DECLS

guint  vn_part_sums_count    (const VnPartition *partition);    /* nullable, as in the others */
void   vn_part_sums_init     (VnErrorSum        *sums,
                              const VnPartition *partition);
void   vn_part_sums_add      (VnErrorSum        *sums,
                              const VnPartition *partition,
                              const VnShape     *shape,
                              const float       *f,
                              const float       *q);
void   vn_part_sums_merge    (VnErrorSum        *sums,
                              const VnPartition *partition,
                              const VnErrorSum  *from);
double vn_part_sums_get_sqnr (const VnErrorSum  *sums,
                              const VnPartition *partition);
double vn_part_sums_get_margin (const VnErrorSum * const *samples,   /* sums of each, NULL: left out */
                                guint              n,
                                const VnPartition *partition);
guint  vn_part_sums_find_worst (const VnErrorSum  *sums,
                                const VnPartition *partition);
VnErrorPart *vn_part_sums_make_part (const VnErrorSum  *sums,
                                     const VnPartition *partition,
                                     guint              i);
void   vn_part_sums_fill_row (const VnErrorSum  *sums,
                              const VnPartition *partition,
                              VnErrorRow        *row);

G_END_DECLS
