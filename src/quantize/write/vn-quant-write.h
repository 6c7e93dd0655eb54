/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Writing a plan into a network: one writer for each format of vn-formats.def, and what they share. */

#include "vn-format-writer.h"
#include "vn-quant-math.h"
#include "vn-quant-nodes.h"
#include "vn-quant-plan.h"
#include "vn-quantize.h"

G_BEGIN_DECLS

/* ---- how one tensor is written (write-pair.c) ---- */

typedef enum
{
  VN_PAIR_LINEAR,     /* quantize, dequantize, with scale and zero point */
  VN_PAIR_CAST,       /* to the type, back */
  VN_PAIR_BLOCK,      /* one node that rounds */
  VN_PAIR_FIX,        /* one node that rounds, with scale and zero point */
} VnPairKind;

typedef struct
{
  VnPairKind  kind;
  const char *domain, *forth, *back;   /* back: NULL if one node does both */
} VnQuantPair;

/* What decides for all tensors of a network together which operators are written. */
typedef enum
{
  VN_PAIRS_CONTRIB = 1 << 0,   /* the standard of the result has no integers but those of 8 bit: ONNX Runtime's domain */
  VN_PAIRS_BYTES   = 1 << 1,   /* activations of 8 bit stand in standard operators, and are fused with what reads them */
} VnPairFlags;

const VnQuantPair *vn_quant_find_pair       (const VnWriteScheme *scheme,
                                             VnPairFlags          flags,
                                             const VnTensorPlan  *row);
void         vn_quant_pair_set_attributes   (const VnQuantPair  *pair,
                                             const VnTensorPlan *row,
                                             VnNode             *node,
                                             gboolean            back,
                                             int                 axis);
int          vn_quant_find_block_axis       (const VnValue      *value);
void         vn_quant_add_functions         (VnModel             *model,
                                             const VnWriteScheme *scheme);   /* write-bodies.c */

/* ---- what writers share ---- */

VnValue             *vn_quant_add_value    (VnGraph          *graph,   /* write-values.c */
                                            const char       *base,
                                            const char       *suffix,
                                            VnDType           dtype,
                                            const VnShape    *shape);
VnValue             *vn_quant_add_constant (VnGraph          *graph,
                                            const char       *base,
                                            const char       *suffix,
                                            VnTensor         *tensor);
void                 vn_quant_drop_unused_constants (VnGraph    *graph,
                                                     GHashTable *captured);
gboolean             vn_quant_write_qdq    (VnModel             *model,
                                            const VnWriteScheme *scheme,
                                            VnQuantPlan         *plan,
                                            GHashTable          *value_names,
                                            GError             **error);
void                 vn_quant_write_dedicated (VnGraph       *graph,   /* write-pairs.c */
                                               VnQuantPlan   *plan,
                                               GPtrArray     *nodes,
                                               GHashTable    *value_names);
void                 vn_quant_write_converted (VnModel       *model,
                                               VnQuantPlan   *plan,
                                               GPtrArray     *nodes,
                                               GHashTable    *value_names);

/* ---- graphs inside nodes (write-inner.c) ---- */

typedef struct _VnInnerGraph VnInnerGraph;

GPtrArray           *vn_inner_graphs_take     (VnModel       *model,
                                               VnQuantPlan   *plan);
VnModel             *vn_inner_graph_get_model (VnInnerGraph  *self);
VnQuantPlan         *vn_inner_graph_get_plan  (VnInnerGraph  *self);
void                 vn_inner_graph_put_back  (VnInnerGraph  *self,
                                               GHashTable    *own,
                                               GHashTable    *names);

/* ---- blocks (write-blocks.c) ---- */

/**
 * VnBlockLayout: how a weight is packed.
 * @by_rows: stored as N x K
 * @table: rows are not filled up to whole blocks
 */
typedef struct
{
  gsize    n, k, n_blocks, block, row_bytes;
  guint    bits;
  gboolean by_rows, table;
} VnBlockLayout;

VnBlockLayout        vn_quant_get_block_layout (const VnQuantRow *row,
                                                const VnTensor   *weight,
                                                gboolean          table);
gboolean             vn_quant_pack_blocks     (const VnQuantRow  *row,
                                               VnTensor          *weight,
                                               gboolean           table,
                                               VnTensor         **packed,
                                               VnTensor         **scales,
                                               VnTensor         **zero_points,
                                               GError           **error);
gint64               vn_quant_get_accuracy_level (const VnQuantPlan *plan,
                                                  guint            node);

/* ---- write-experts.c ---- */

GArray              *vn_quant_list_written_experts (VnGraph      *graph,
                                                    VnQuantPlan  *plan);
gboolean             vn_quant_write_experts   (VnModel           *model,
                                               VnQuantPlan       *plan,
                                               const GArray      *experts,
                                               GHashTable        *captured,
                                               GError           **error);

/* ---- write-half.c ---- */

gboolean             vn_quant_write_halves    (VnModel       *model,
                                               VnDType        dtype,
                                               gboolean       float_io,
                                               GHashTable    *singles,
                                               GHashTable    *ends,
                                               GHashTable    *value_names,
                                               GError       **error);

/* ---- write-restored.c ---- */

gboolean             vn_quant_write_restored  (VnModel       *model,
                                               GError       **error);

G_END_DECLS
