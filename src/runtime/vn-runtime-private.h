/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* A copy of the network on which the steps of ONNX Runtime's optimizer are done, as far as they decide about kernels. Values of
 * scales matter, weights do not. */

#include "vn-graph-edit.h"
#include "vn-runtime.h"

G_BEGIN_DECLS

/**
 * VnRuntimeGraph:
 * @rows: VnNode of @graph -> VnRuntimeNode; nodes that the optimizer adds have none
 * @folded: set of VnValue: constants that are none in the file
 * @last: set of VnNode that compute with channels last
 * @open: some input has open sizes: what follows from sizes is not known when the network is loaded
 */
typedef struct
{
  VnModel    *model;
  VnGraph    *graph;
  GHashTable *rows;
  GHashTable *folded;
  GHashTable *last;
  gboolean    open;
} VnRuntimeGraph;

void vn_runtime_graph_clear (VnRuntimeGraph *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (VnRuntimeGraph, vn_runtime_graph_clear)

/* ---- runtime-graph.c ---- */

gboolean       vn_runtime_is_q          (const VnNode         *node);
gboolean       vn_runtime_is_dq         (const VnNode         *node);
gboolean       vn_runtime_is_constant   (const VnRuntimeGraph *self,
                                         const VnValue        *value);
const VnShape *vn_runtime_get_shape     (const VnValue        *value);    /* NULL if the rank is not known */
double         vn_runtime_count         (const VnValue        *value);    /* elements; 0 if not known */
VnDType        vn_runtime_get_dtype     (const VnValue        *value);
gboolean       vn_runtime_has_one_scale (const VnRuntimeGraph *self,
                                         const VnNode         *pair);     /* constant scalar scale and zero point */
gboolean       vn_runtime_same_params   (const VnRuntimeGraph *self,
                                         const VnNode         *a,
                                         const VnNode         *b);
VnNode        *vn_runtime_only_reader   (const VnValue        *value,
                                         guint                *index);
VnNode        *vn_runtime_get_producer  (const VnNode         *node,
                                         guint                 input);
GPtrArray     *vn_runtime_list_nodes    (const VnRuntimeGraph *self,
                                         GError              **error);
VnNode        *vn_runtime_add_half_pair (VnRuntimeGraph       *self,
                                         const VnNode         *like,
                                         const char           *op_type,
                                         VnValue              *from,
                                         VnDType               dtype);
void           vn_runtime_set_kernel    (VnNode               *node,
                                         const char           *domain,
                                         const char           *op_type);
void           vn_runtime_absorb        (VnRuntimeGraph       *self,
                                         VnNode               *node,
                                         VnNode               *into,
                                         guint                 output);   /* of @into, which makes what @node made */
gboolean       vn_runtime_bypass        (VnRuntimeGraph       *self,
                                         VnNode               *node);     /* readers take its input */
void           vn_runtime_share         (VnRuntimeGraph       *self,
                                         VnNode               *node,
                                         VnNode               *by);       /* readers take what @by makes, which is the same */
void           vn_runtime_take_over     (VnRuntimeGraph       *self,
                                         VnNode               *node,
                                         VnNode               *by);       /* which makes what @node made beside its own */
void           vn_runtime_fold          (VnRuntimeGraph       *self,
                                         VnNode               *node);
void           vn_runtime_explain       (VnRuntimeGraph       *self,
                                         const VnNode         *node,
                                         VnRuntimeReason       reason);

/* ---- vn-runtime.c ---- */

gboolean       vn_runtime_graph_init    (VnRuntimeGraph       *self,
                                         VnRuntimeForecast    *forecast,   /* gets a row for each node */
                                         const VnModel        *model,
                                         GHashTable           *input_shapes,
                                         GError              **error);
gboolean       vn_runtime_is_integer_kernel (const VnNode *node);
char          *vn_runtime_dup_kernel    (const VnNode         *node);

/* ---- steps, in the order of the optimizer ---- */

typedef gboolean (*VnRuntimeStep) (VnRuntimeGraph  *self,
                                   GError         **error);

gboolean       vn_runtime_simplify      (VnRuntimeGraph *self, GError **error);   /* runtime-simplify.c */
gboolean       vn_runtime_propagate     (VnRuntimeGraph *self, GError **error);   /* runtime-pairs.c */
gboolean       vn_runtime_quantize_rest (VnRuntimeGraph *self, GError **error);
gboolean       vn_runtime_split_pairs   (VnRuntimeGraph *self, GError **error);
gboolean       vn_runtime_drop_clamps   (VnRuntimeGraph *self, GError **error);
gboolean       vn_runtime_make_unsigned (VnRuntimeGraph *self, GError **error);
gboolean       vn_runtime_select        (VnRuntimeGraph *self, GError **error);   /* runtime-select.c */
gboolean       vn_runtime_fuse          (VnRuntimeGraph *self, GError **error);   /* runtime-fuse.c */
gboolean       vn_runtime_clean_up      (VnRuntimeGraph *self, GError **error);   /* runtime-pairs.c */
gboolean       vn_runtime_lay_out       (VnRuntimeGraph *self, GError **error);   /* runtime-layout.c */

/* ---- runtime-cost.c ---- */

double         vn_runtime_get_seconds   (const VnRuntimeGraph *self,
                                         const VnNode         *node,
                                         double                macs);
double         vn_runtime_get_run_seconds (void);

G_END_DECLS
