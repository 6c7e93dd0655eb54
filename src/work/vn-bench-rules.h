/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Rules of a bench's recipe: for nodes, regions and tensors, and changes of those that are there. */

#include "vn-bench.h"

G_BEGIN_DECLS

/* What the rule for a single node says. */
typedef enum { VN_NODE_AS_RECIPE, VN_NODE_8_BIT, VN_NODE_16_BIT, VN_NODE_FLOAT } VnNodePrecision;

/* ---- for nodes and regions ---- */

guint           vn_bench_set_precision       (VnBench         *self,
                                              const guint     *nodes,
                                              guint            n,
                                              VnNodePrecision  precision);
gboolean        vn_bench_add_region          (VnBench         *self,
                                              const guint     *nodes,
                                              guint            n,
                                              VnNodePrecision  precision);
gboolean        vn_bench_add_edge            (VnBench    *self,
                                              guint       rule,
                                              const char *value,
                                              gboolean    enters);
gboolean        vn_bench_try_precision       (VnBench         *self,
                                              guint            node,
                                              VnNodePrecision  precision);
char           *vn_bench_dup_precision_key   (VnBench         *self,
                                              guint            node,
                                              VnNodePrecision  precision);
char           *vn_bench_get_precision_title (VnNodePrecision precision,
                                              guint           n);

/* ---- those that are there ---- */

void            vn_bench_move_rules          (VnBench *self,
                                              guint    first,
                                              guint    n,
                                              guint    before);
void            vn_bench_remove_rules        (VnBench *self,
                                              guint    first,
                                              guint    n);
gboolean        vn_bench_rename_rules        (VnBench    *self,
                                              guint       first,
                                              guint       n,
                                              const char *name);   /* nullable */
void            vn_bench_enable_rules        (VnBench  *self,
                                              guint     first,
                                              guint     n,
                                              gboolean  enabled);

/* ---- about one tensor (bench-tensor.c) ---- */

const VnOverride *vn_bench_find_tensor_rule  (VnBench    *self,
                                              const char *tensor);   /* NULL: there is none for just this tensor */
gboolean          vn_bench_set_tensor_range  (VnBench        *self,
                                              const char     *tensor,
                                              const VnRange  *range,   /* nullable: as the method says */
                                              GError        **error);
gboolean          vn_bench_set_tensor_method (VnBench     *self,
                                              const char  *tensor,
                                              const char  *method,   /* nullable: as the target says */
                                              GError     **error);
gboolean          vn_bench_set_tensor_type   (VnBench       *self,
                                              const char    *tensor,
                                              VnTensorRole   role,
                                              VnDType        dtype,
                                              GError       **error);

G_END_DECLS
