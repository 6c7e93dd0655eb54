/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The rows of a plan, as resolving fills and writing reads them. */

#include "vn-npu.h"
#include "vn-quant-scheme.h"
#include "vn-quantize.h"

G_BEGIN_DECLS

typedef struct _VnQuantRow VnQuantRow;

struct _VnQuantRow
{
  VnTensorPlan tensor;       /* first: rows are handed out as VnTensorPlan */
  char        *source;       /* bias: name of the float initializer in the prepared model */
  guint        node;         /* bias: index of the node that reads it, and which input */
  guint        input;
  float        beta;
  VnQuantRow  *converted;    /* type, scale and zero point that some nodes see instead, or NULL */
  gboolean     shares_converted;   /* has the parameters of what @shares names was converted to */
  gboolean    *receives;     /* by node index: sees @converted */
  gint64       block;        /* weight: how many numbers along its axis share a scale; 0: no blocks */
  gboolean     has_zero_points;   /* weight of blocks: they are written */
  VnTensor    *block_factors, *channel_scale;   /* weight of blocks: uint8 and float32, whose products are the scale; or NULL */
  gboolean     exact_levels;      /* weight of blocks: VN_BLOCK_EXACT */
  gboolean     experts;      /* weight of a mixture of experts: the operator that it is written for reads integers */
  char        *tied;         /* table: the matrix that is the same transposed, and is stored instead; NULL: none */
  VnTensor    *stored_scale; /* what is written instead of the scale; NULL: that */
};

/* What becomes of a graph inside a node. */
typedef struct
{
  guint        node;         /* index of the node that holds it */
  char        *attr;         /* in which attribute */
  VnQuantPlan *plan;         /* of the graph as a network of its own: see vn_model_new_from_body() */
} VnQuantBody;

struct _VnQuantPlan
{
  gatomicrefcount ref;
  GPtrArray      *rows;      /* of VnQuantRow */
  GHashTable     *by_name;   /* borrowed name -> VnQuantRow */
  GHashTable     *nodes;     /* labels of the nodes that take part */
  GArray         *clamps;    /* of guint: indices of nodes that vanish */
  gboolean       *excluded;  /* by node index: keeps float weights */
  gboolean       *selected;  /* by node index: may be quantized */
  int            *accuracy_levels;   /* (nullable): of VnAccuracyLevel, by node index; NULL: the format has none */
  guint           n_nodes;
  VnWriteScheme   write;     /* how rows are written */
  gboolean        unreached; /* a graph inside a node that no sample has run */
  GPtrArray      *npu_nodes; /* of VnNpuNode */
  GPtrArray      *bodies;    /* of VnQuantBody: those in which something is quantized */
};

VnQuantPlan *vn_quant_plan_new       (guint            n_nodes);
VnQuantRow  *vn_quant_plan_add       (VnQuantPlan     *self,
                                      const char      *name,
                                      VnTensorRole     role);
VnQuantRow  *vn_quant_plan_find_row  (VnQuantPlan     *self,
                                      const char      *name);

void         vn_quant_plan_take_body (VnQuantPlan     *self,
                                      guint            node,
                                      const char      *attr,
                                      VnQuantPlan     *body);
gboolean     vn_quant_plan_has_quantized (VnQuantPlan *self);
VnQuantRow  *vn_quant_row_new        (const char      *name,
                                      VnTensorRole     role);
void         vn_quant_row_take       (VnQuantRow      *self,
                                      const VnQuantRow *from,
                                      const char      *owner);
VnTensor    *vn_quant_row_get_stored_scale (const VnQuantRow *self);
gsize        vn_quant_row_find_scale (const VnQuantRow *self,
                                      const VnShape    *shape,
                                      gsize             i);
void         vn_quant_leave_float    (VnQuantRow      *self,
                                      const char      *why);
gboolean     vn_quant_row_has_integers (const VnQuantRow *self);     /* nullable */
gboolean     vn_tensor_plan_get_levels (const VnTensorPlan *self,
                                        gint64       *lowest,
                                        gint64       *highest);
const VnQuantRow *vn_quant_row_for   (const VnQuantRow *self,
                                      const VnNode    *node);


VnNpuNode   *vn_npu_node_new           (const VnNode   *node);
VnNpuNode   *vn_npu_node_new_named     (const char     *label,
                                        const char     *op_type);
void         vn_npu_node_add_move      (VnNpuNode      *self,
                                        const char     *tensor,
                                        int             from,
                                        int             to,
                                        const char     *rule,
                                        const char     *reason);

G_END_DECLS
