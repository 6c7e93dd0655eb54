/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What is worked out about a network while a recipe is resolved, and the steps that do it. */

#include "vn-encodings.h"
#include "vn-op.h"
#include "vn-quant-math.h"
#include "vn-quant-nodes.h"
#include "vn-quant-plan.h"
#include "vn-quant-scheme.h"
#include "vn-quantize.h"
#include "vn-recipe-rules.h"
#include "vn-setting.h"

G_BEGIN_DECLS

/* One node: which rules speak about it. */
typedef struct
{
  const VnOp *op;              /* NULL: unknown operator */
  gboolean    selected;        /* may be quantized */
  gboolean    placed_outside;  /* a list of nodes in the recipe leaves it out */
  int         exclude_rule;    /* rule that keeps it in float, or -1 */
  int         rule;            /* last rule that matches and does not exclude, or -1 */
  gboolean    annotated;          /* it made a tensor quantized */
  gboolean    tail;            /* it lies behind the values at which the network is cut */
  gboolean    mixed;           /* it joins numbers of very different size, or follows what does */
  gboolean    blind;           /* it lies behind a node that cannot be run: nothing is known of its results */
} VnQuantNode;

/* What is done about values that stand for others: resolve-masks.c. */
typedef enum
{
  VN_MASK_NONE,
  VN_MASK_FLOAT,               /* stays float */
  VN_MASK_NAN,                 /* stays float, as NaN were seen */
  VN_MASK_CUT,                 /* its range is that of the other values */
  VN_N_MASKS
} VnMask;

/* One value: how it is to be quantized. Indexed by VnValue.id. */
typedef struct
{
  gboolean      annotated;
  gboolean      keep_float;    /* a setting or a rule says so */
  VnMask        mask;
  float         mask_min, mask_max;   /* where it is cut: of the values that remain */
  gboolean      fused;         /* the processor never writes it: what reads it is computed with it */
  int           tensor_rule;   /* last rule that names the tensor, or -1 */
  gboolean      as_weight;     /* takes the type of weights, not that of activations */
  gboolean      is_unsigned;   /* or the unsigned one of as many bits */
  int           axis;          /* channel axis, or -1 */
  gboolean      one_scale;     /* its readers have their channels along different axes */
  gint64        block;         /* how many numbers along @axis share a scale; 0: all of a channel */
  gboolean      at_least_byte; /* the recipe's 4 bits do not hold for it */
  const VnNode *experts;       /* a mixture of experts that it is a weight of, or NULL */
  const VnValue *provider;     /* whose scale and zero point it takes, or NULL */
  const VnNode  *provider_node;
  const VnValue *absorbed_into;/* output of the clamp that replaced it, or NULL */
  const VnValue *range_from;   /* whose range is used; NULL: its own */
  gboolean      unit_range;    /* range is the one its operator guarantees */
  float         unit_min, unit_max;
  int           activation_rule, weight_rule, method_rule, percentile_rule;   /* last rule that sets it, or -1 */
} VnAnnotation;

/* A bias that becomes int32. */
typedef struct
{
  const VnNode  *node;
  guint          input;
  const VnValue *bias, *x, *weight;
  float          beta;         /* factor folded into the bias */
  char          *name;         /* of the tensor in the result: of @bias, or of a copy */
} VnQuantBias;

typedef const VnHistogram * (*VnHistogramFunc) (const char *value_name,
                                                gpointer    data);

/**
 * VnQuantScope: a graph inside a node, as a network of its own.
 * @outer: (nullable): the same of the graph around it; %NULL: that is the main graph
 * @outer_plan: (nullable): what becomes of the graph around it
 * @captured: set of names: values of @model that it has from outer graphs
 * @originals: value of @model -> value of the prepared network
 * @recipe: that of the network, without what it says of the network's ends
 * @holder, @attr: label of the node, and attribute, that hold the graph
 */
typedef gboolean (*VnGraphFunc) (const VnGraph *graph,
                                 gpointer       data);

typedef struct _VnQuantScope VnQuantScope;
struct _VnQuantScope
{
  const VnQuantScope *outer;
  VnQuantPlan        *outer_plan;
  VnModel            *model;
  GHashTable         *captured, *originals;
  VnRecipe           *recipe;
  char               *holder;
  const char         *attr;
};

typedef struct
{
  const VnModel  *model;
  const VnGraph  *graph;
  const VnRecipe *recipe;
  VnQuantScheme   scheme;     /* what @recipe comes to */
  VnNotes        *notes;
  gint64          opset;
  VnHistogramFunc lookup;
  gpointer        lookup_data;
  const VnRangeFactors *factors;  /* nullable: of ranges, found by a search */
  const VnImportance *importance; /* nullable: of weights in blocks */
  const VnQuantScope *scope;      /* of a graph inside a node; NULL: the main graph */

  VnEncodingTable   *imported;      /* nullable: what the tables that the recipe names give */
  VnDType            activation;    /* of activations that neither a rule nor a table gives a type */

  GPtrArray      *nodes;      /* of VnNode, in an order that can run: as in the file if that is one */
  VnQuantNode    *quant_nodes;/* by VnNode.index */
  VnAnnotation    *annotations;      /* by VnValue.id */
  GArray         *biases;     /* of VnQuantBias */
  GPtrArray      *clamps;     /* of VnNode that vanish */
  GHashTable     *with_bias;  /* set of VnNode: those in @biases */
  GHashTable     *bias_copies; /* VnValue: biases in @biases -> where the search for a copy's name goes on; 0: none yet */
  GHashTable     *copy_names; /* names of copies of biases */
  GHashTable     *suffixes;   /* (nullable): the names of initializers by what stands before a number at their end */
  int            *block_methods;   /* by VnValue.id: VN_AS_RECIPE, or one more than a VnBlockMethod */
  gint64         *block_sizes;     /* by VnValue.id; 0: as the recipe */
  GHashTable     *captured;   /* set of VnValue: graphs inside nodes use them, in float */
} VnResolver;

VnResolver  *vn_resolver_new          (const VnModel   *model,
                                       const VnRecipe  *recipe,
                                       const VnQuantScope *scope,  /* nullable */
                                       VnNotes         *notes,     /* nullable */
                                       GError         **error);
void         vn_resolver_free         (VnResolver      *self);
void         vn_resolver_skip_blind   (VnResolver      *self);     /* once lookup is set */
void         vn_resolver_leave_mixed  (VnResolver      *self);     /* resolve-mixed.c */
VnAnnotation *vn_resolver_get_annotation      (VnResolver      *self,       /* resolver-values.c */
                                               const VnValue   *value);
gboolean     vn_resolver_can_quantize (VnResolver      *self,
                                       const VnValue   *value);
const VnValue *vn_resolver_root       (VnResolver      *self,
                                       const VnValue   *value);
gboolean     vn_resolver_fill_channels (VnResolver     *self,      /* resolve-channels.c */
                                        VnQuantPlan    *plan,
                                        GError        **error);
typedef VnDType (*VnResolverTypeFunc) (VnResolver    *self,
                                       const VnValue *value);

gboolean     vn_quant_has_experts     (const VnNode    *node);     /* resolve-experts.c */
guint        vn_quant_list_experts    (const VnNode    *node,
                                       const VnValue  **weights);
gboolean     vn_resolver_annotate_experts (VnResolver  *self,
                                           const VnNode *node);
VnDType      vn_resolver_join_experts (VnResolver      *self,
                                       const VnValue   *value,
                                       VnResolverTypeFunc other);
void         vn_resolver_leave_experts (VnResolver     *self,
                                        VnQuantPlan    *plan);
void         vn_resolver_tie_tables   (VnResolver      *self,      /* resolve-tables.c */
                                       VnQuantPlan     *plan);
gboolean     vn_resolver_place        (VnResolver      *self,      /* resolve-place.c */
                                       char           **labels,
                                       GError         **error);
void         vn_resolver_keep_forms       (VnResolver      *self);     /* resolve-forms.c */
gboolean     vn_resolver_takes_weight     (VnResolver      *self,
                                           const VnNode    *node,
                                           guint            input);
void         vn_resolver_annotate         (VnResolver      *self);     /* resolve-annotate.c */
gboolean     vn_resolver_is_divisor   (VnResolver      *self,      /* resolve-annotate-value.c */
                                       const VnValue   *value);
gboolean     vn_resolver_may_annotate     (VnResolver      *self,
                                           const VnValue   *value);
gboolean     vn_resolver_is_annotated    (VnResolver      *self,
                                          const VnValue   *value);
gboolean     vn_resolver_annotate_value  (VnResolver      *self,
                                          const VnValue   *value);
gboolean     vn_resolver_annotate_output  (VnResolver      *self,
                                           const VnNode    *node,
                                           guint            i);
gboolean     vn_resolver_keeps_outputs_float (VnResolver   *self,
                                              const VnNode *node);
gboolean     vn_resolver_annotate_clamp   (VnResolver      *self,      /* resolve-annotate-clamp.c */
                                           const VnNode    *node,
                                           const VnOp      *op);
void         vn_resolver_annotate_bias    (VnResolver      *self,      /* resolve-annotate-bias.c */
                                           const VnNode    *node,
                                           int              input,
                                           const VnValue   *x,
                                           const VnValue   *weight);
void         vn_resolver_rename_shared_biases (VnResolver *self);
void         vn_resolver_set_ranges   (VnResolver      *self);     /* resolve-settings.c */
void         vn_resolver_set_rules    (VnResolver      *self);

/* ---- graphs inside nodes (resolve-inner.c) ---- */

VnQuantScope *vn_quant_scope_new      (const VnQuantScope *outer,
                                       VnQuantPlan     *outer_plan,
                                       const VnRecipe  *recipe,
                                       const VnNode    *holder,
                                       const VnAttr    *attr);
void         vn_quant_scope_free      (VnQuantScope    *self);
VnValue     *vn_quant_scope_find_original (const VnQuantScope *self,   /* nullable */
                                           VnValue         *value);
char        *vn_quant_scope_dup_key   (const VnQuantScope *self,      /* nullable */
                                       const char      *name);
const VnQuantRow *vn_resolver_find_outer_row (VnResolver    *self,
                                              const VnValue *value);
gboolean     vn_resolver_is_meant_inside (VnResolver    *self,
                                          VnGraphFunc     means,
                                          gpointer        data);

gboolean     vn_resolver_find_masks   (VnResolver      *self,
                                       GError         **error);    /* resolve-masks.c */
gboolean     vn_resolver_skip_unseen  (VnResolver      *self,
                                       VnQuantPlan     *plan,
                                       GError         **error);    /* resolve-unseen.c */

/* ---- resolve-encodings.c ---- */

gboolean       vn_resolver_load_encodings (VnResolver      *self,
                                           GError         **error);
const VnEncoding *vn_resolver_find_given    (VnResolver      *self,
                                             const VnValue   *value);
const VnEncoding *vn_resolver_get_encoding (VnResolver      *self,
                                            const VnValue   *value);
gboolean       vn_encoding_fits       (const VnEncoding   *imported,
                                       VnDType          dtype);
gboolean       vn_encoding_get_range  (const VnEncoding   *imported,
                                       const char      *name,
                                       VnDType          dtype,
                                       VnRange         *range,
                                       GError         **error);


G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnResolver, vn_resolver_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnQuantScope, vn_quant_scope_free)

/* ---- what XSlim does otherwise (resolve-xslim.c) ---- */

gboolean vn_quant_is_used_by     (const VnValue   *value,
                                  char           **types,
                                  gboolean         otherwise);
float    vn_quant_adjust_scale   (const VnScaleScheme *scheme,
                                  const VnValue       *value,
                                  gboolean             channel,
                                  float                scale);
gboolean vn_quant_keeps_integers (VnTensor        *data,
                                  VnDType          dtype,
                                  gint64          *zero_point);
void     vn_quant_limit_gate     (const VnValue   *value,
                                  VnRange         *range);
gboolean vn_quant_is_large_bias  (const VnBiasScheme *scheme,
                                  const VnNode       *node,
                                  VnTensor           *bias,
                                  const float        *scales,
                                  gsize               n);

/* ---- rules about tensors (resolve-tensor-rules.c) ---- */

void         vn_resolver_set_tensor_rules (VnResolver *self);
const VnOverride *vn_resolver_get_tensor_rule (VnResolver    *self,
                                               const VnValue *value);
gboolean     vn_encoding_fill_constant (const VnEncoding   *imported,     /* resolve-encodings.c */
                                        gsize            n,
                                        VnQuantRow      *row,
                                        GError         **error);
gboolean     vn_quant_parse_params   (char           **scales,
                                      char           **zero_points,
                                      gsize            n,
                                      VnQuantRow      *row,
                                      GError         **error);
gboolean     vn_quant_rule_range     (const VnOverride *rule,
                                      const char      *name,
                                      gsize            n,
                                      float           *min,
                                      float           *max,
                                      GError         **error);
const VnOverride *vn_resolver_get_rule (VnResolver     *self,       /* resolve-ranges.c */
                                       int              index);
VnDType      vn_resolver_get_imported_type (VnResolver    *self,
                                            const VnValue *value,
                                            VnDType        otherwise);
VnDType      vn_resolver_get_activation_type (VnResolver    *self,
                                              const VnValue *value);
gboolean     vn_resolver_is_symmetric (VnResolver      *self,
                                       const VnValue   *value);
gboolean     vn_resolver_find_range  (VnResolver      *self,
                                      const VnValue   *value,
                                      VnRange         *range,
                                      char           **winner,
                                      GError         **error);
const char  *vn_resolver_get_method  (VnResolver      *self,
                                      const VnValue   *value);
gboolean     vn_resolver_fill_converted (VnResolver      *self,
                                         const VnValue   *value,
                                         VnQuantRow      *row,
                                         GError         **error);
void         vn_resolver_align       (VnResolver      *self,
                                      VnQuantPlan     *plan);      /* resolve-align.c */
gboolean     vn_resolver_fill_biases (VnResolver      *self,
                                      VnQuantPlan     *plan,
                                      GError         **error);   /* resolve-row-bias.c */
gboolean     vn_resolver_fill_rows   (VnResolver      *self,
                                      VnQuantPlan     *plan,
                                      GError         **error);   /* resolve-rows.c */
char        *vn_resolver_dup_reason  (VnResolver      *self,
                                      const VnValue   *value);   /* resolve-reason.c */
char        *vn_resolver_dup_rule    (VnResolver      *self,
                                      int              rule,
                                      VnDType          dtype);
VnQuantPlan *vn_quantize_resolve_with (const VnModel   *prepared,
                                       const VnRecipe  *recipe,
                                       VnHistogramFunc  lookup,
                                       gpointer         data,
                                       VnNotes         *notes,
                                       GError         **error);
VnQuantPlan *vn_quantize_resolve_factors (const VnModel        *prepared,
                                          const VnRecipe       *recipe,
                                          VnHistogramFunc       lookup,
                                          gpointer              data,
                                          const VnRangeFactors *factors,
                                          const VnImportance   *importance,
                                          VnNotes              *notes,
                                          GError              **error);

/* ---- processors that shift (resolve-fuse.c, resolve-npu.c) ---- */

void         vn_resolver_fuse          (VnResolver     *self);   /* resolve-fuse.c */

gboolean     vn_resolver_is_small_product   (const VnNode *node);       /* resolve-products.c */
void         vn_resolver_annotate_residuals (VnResolver   *self);
void         vn_resolver_refine_positions (VnResolver     *self,
                                           VnQuantPlan    *plan);

/* ---- resolve-wide.c ---- */

void         vn_resolver_choose_wide   (VnResolver      *self);

/* ---- weights only (resolve-weights.c) ---- */

gboolean     vn_resolver_annotate_weight_only (VnResolver      *self,
                                               const VnNode    *node);
void         vn_resolver_annotate_blocks   (VnResolver      *self,
                                            const VnNode    *node,
                                            const VnValue   *value);
void         vn_resolver_check_factors (VnResolver      *self,
                                        const VnValue   *value,
                                        VnDType          dtype);
gboolean     vn_resolver_fill_blocks   (VnResolver      *self,
                                        const VnValue   *value,
                                        VnQuantRow      *row,
                                        GError         **error);

/* ---- floats of 16 bits (resolve-half.c) ---- */

gboolean     vn_resolver_fill_half   (VnResolver      *self,
                                      VnQuantPlan     *plan,
                                      GError         **error);


G_END_DECLS
