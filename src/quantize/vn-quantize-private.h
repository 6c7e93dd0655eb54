/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-given.h"
#include "vn-npu.h"
#include "vn-op.h"
#include "vn-quantize.h"
#include "vn-setting.h"

G_BEGIN_DECLS

#define VN_PATTERN_TYPE_PREFIX "type:"
#define VN_MICROSOFT_DOMAIN "com.microsoft"
/* Types by what has them. */
#define VN_QUANT_BYTES     (VN_DTYPE_BIT (U8) | VN_DTYPE_BIT (S8))
#define VN_QUANT_INTEGERS  (VN_QUANT_BYTES | VN_DTYPE_BIT (U16) | VN_DTYPE_BIT (S16))
#define VN_QUANT_NIBBLES   (VN_DTYPE_BIT (U4) | VN_DTYPE_BIT (S4))
#define VN_QUANT_FLOAT8    (VN_DTYPE_BIT (F8E4M3) | VN_DTYPE_BIT (F8E5M2))
#define VN_QUANT_HALVES    (VN_DTYPE_BIT (F16) | VN_DTYPE_BIT (BF16))
#define VN_QUANT_BLOCKS    (VN_DTYPE_BIT (BFP16) | VN_DTYPE_BIT (MX4) | VN_DTYPE_BIT (MX6) | VN_DTYPE_BIT (MX9) | \
                            VN_DTYPE_BIT (MXINT8) | VN_DTYPE_BIT (MXFP8E5M2) | VN_DTYPE_BIT (MXFP8E4M3) | \
                            VN_DTYPE_BIT (MXFP6E3M2) | VN_DTYPE_BIT (MXFP6E2M3) | VN_DTYPE_BIT (MXFP4))
#define VN_QUANT_EXTENDED  (VN_QUANT_INTEGERS | VN_QUANT_NIBBLES | VN_QUANT_FLOAT8 | VN_QUANT_HALVES | VN_QUANT_BLOCKS | \
                            VN_DTYPE_BIT (U32) | VN_DTYPE_BIT (S32))
#define VN_QUANT_FIXED     (VN_DTYPE_BIT (S8) | VN_DTYPE_BIT (S16))
#define VN_QUANT_ACTIVATION_TYPES VN_QUANT_EXTENDED
#define VN_QUANT_WEIGHT_TYPES VN_QUANT_EXTENDED

/* ---- vn-override.c ---- */

gboolean vn_override_matches_labelled (const VnOverride *self,
                                       const VnNode     *node,
                                       const char       *label);
gboolean vn_pattern_matches_node      (const char       *pattern,
                                       const VnNode     *node,
                                       const char       *label);
gboolean vn_pattern_matches_text      (const char       *pattern,
                                       const char       *text);
gboolean vn_override_is_for_tensors   (const VnOverride *self);
gboolean vn_override_check_tensors    (const VnOverride *self,      /* quant-tensor-rules.c */
                                       const char       *where,
                                       GError          **error);

/* ---- recipe-lists.c ---- */

gboolean vn_recipe_check_pass         (const char       *id,
                                       GError          **error);
gboolean vn_recipe_check_channel_axis (const char       *text,
                                       GError          **error);
gboolean vn_recipe_check_fuse         (const char       *text,
                                       GError          **error);
gboolean vn_recipe_get_channel_axis   (const VnRecipe   *self,
                                       const char       *op_type,
                                       int              *axis);

/* ---- quant-params.c: formulas, no graph ---- */

gboolean  vn_quant_get_levels        (VnDType         dtype,
                                      gboolean        symmetric,
                                      gboolean        reduce_range,
                                      gint64         *qmin,
                                      gint64         *qmax);
gboolean  vn_quant_is_rounding       (VnDType         dtype);      /* no scale: values are only rounded */
VnTensor *vn_quant_integer_tensor    (VnDType         dtype,
                                      const VnShape  *shape,
                                      const gint64   *values,
                                      GError        **error);
VnTensor *vn_quant_quantize_tensor   (VnTensor       *data,
                                      VnDType         dtype,
                                      const VnTensor *scale,
                                      const VnTensor *zero_point,
                                      int             axis,
                                      gboolean        narrow,
                                      GError        **error);
VnTensor *vn_quant_cut_to_narrow     (VnTensor           *data,
                                      const VnTensorPlan *row,
                                      GError            **error);
VnTensor *vn_quant_round_tensor      (VnTensor       *data,
                                      VnDType        *dtype,
                                      int             axis,
                                      GError        **error);
gboolean  vn_quant_data_range        (VnTensor       *data,
                                      int             axis,       /* -1: of all elements */
                                      float          *min,        /* one, or one per channel */
                                      float          *max,
                                      guint64        *n_infinite,
                                      GError        **error);
gboolean  vn_quant_widen_range       (double         *min,
                                      double         *max,
                                      double          minimum,
                                      GError        **error);
float     vn_quant_round_scale       (float           scale,
                                      VnPowerRounding rounding);
float     vn_quant_int16_scale       (float           scale);
gboolean  vn_quant_raise_scales_for_bias (float           input_scale,
                                          float          *weight_scales,
                                          gsize           n,
                                          const float    *bias,
                                          gsize           n_bias,
                                          gboolean        per_channel);

/* ---- quant-xslim.c ---- */

gboolean vn_quant_is_used_by     (const VnValue   *value,
                                  char           **types,
                                  gboolean         otherwise);
float    vn_quant_adjust_scale   (const VnRecipe  *recipe,
                                  const VnValue   *value,
                                  gboolean         channel,
                                  float            scale);
gboolean vn_quant_keeps_integers (VnTensor        *data,
                                  VnDType          dtype,
                                  gint64          *zero_point);
void     vn_quant_limit_gate     (const VnValue   *value,
                                  VnRange         *range);
gboolean vn_quant_is_large_bias  (const VnRecipe  *recipe,
                                  const VnNode    *node,
                                  VnTensor        *bias,
                                  const float     *scales,
                                  gsize            n);

/* ---- quant-ranges.c ---- */

gboolean        vn_quant_get_rounding       (const VnRecipe         *recipe,
                                             const VnRangeMethod    *method,
                                             VnPowerRounding        *rounding);
gboolean        vn_quant_make_params        (const VnRecipe         *recipe,
                                             const char             *method,
                                             const VnRange          *range,
                                             VnDType                 dtype,
                                             gboolean                symmetric,
                                             gboolean                reduce_range,
                                             float                  *scale,
                                             gint64                 *zero_point,
                                             GError                **error);
VnRangeSettings vn_quant_get_range_settings (const VnRecipe         *recipe,
                                             double                  percentile,
                                             VnDType                 dtype,
                                             gboolean                symmetric,
                                             gboolean                reduce_range);
gboolean        vn_quant_method_ranges      (VnTensor               *data,
                                             int                     axis,
                                             const VnRangeMethod    *method,
                                             const VnRangeSettings  *settings,
                                             float                  *min,
                                             float                  *max,
                                             GError                **error);

/* ---- quant-blocks.c ---- */

gboolean  vn_quant_block_params    (VnTensor        *data,
                                    int              axis,
                                    gint64           block,
                                    VnDType          dtype,
                                    gboolean         symmetric,
                                    VnTensor       **scale,
                                    VnTensor       **zero_point,
                                    GError         **error);
VnTensor *vn_quant_quantize_blocks (VnTensor        *data,
                                    VnDType          dtype,
                                    const VnTensor  *scale,
                                    const VnTensor  *zero_point,
                                    int              axis,
                                    gint64           block,
                                    gboolean         zero_first,
                                    GError         **error);

/* ---- vn-resolver: what is worked out about a graph while a recipe is resolved ---- */

/* One node: which rules speak about it. */
typedef struct
{
  const VnOp *op;              /* NULL: unknown operator */
  gboolean    selected;        /* may be quantized */
  gboolean    placed_outside;  /* a list of nodes in the recipe leaves it out */
  int         exclude_rule;    /* rule that keeps it in float, or -1 */
  int         rule;            /* last rule that matches and does not exclude, or -1 */
  gboolean    marked;          /* it made a tensor quantized */
  gboolean    tail;            /* it lies behind the values at which the network is cut */
  gboolean    blind;           /* it lies behind a node that cannot be run: nothing is known of its results */
} VnQuantNode;

/* One value: how it is to be quantized. Indexed by VnValue.id. */
typedef struct
{
  gboolean      marked;
  gboolean      keep_float;    /* a setting or a rule says so */
  gboolean      fused;         /* the processor never writes it: what reads it is computed with it */
  int           tensor_rule;   /* last rule that names the tensor, or -1 */
  gboolean      as_weight;     /* takes the type of weights, not that of activations */
  int           axis;          /* channel axis, or -1 */
  gint64        block;         /* how many numbers along @axis share a scale; 0: all of a channel */
  gboolean      at_least_byte; /* the recipe's 4 bits do not hold for it */
  const VnValue *provider;     /* whose scale and zero point it takes, or NULL */
  const VnNode  *provider_node;
  const VnValue *absorbed_into;/* output of the clamp that replaced it, or NULL */
  const VnValue *range_from;   /* whose range is used; NULL: its own */
  gboolean      unit_range;    /* range is the one its operator guarantees */
  float         unit_min, unit_max;
  int           activation_rule, weight_rule, method_rule, percentile_rule;   /* last rule that sets it, or -1 */
} VnQuantMark;

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

typedef struct
{
  const VnModel  *model;
  const VnGraph  *graph;
  const VnRecipe *recipe;
  VnNotes        *notes;
  gint64          opset;
  VnHistogramFunc lookup;
  gpointer        lookup_data;

  VnGivenTable   *given;      /* nullable: the table that the recipe names */

  GPtrArray      *nodes;      /* of VnNode, in an order that can run: as in the file if that is one */
  VnQuantNode    *quant_nodes;/* by VnNode.index */
  VnQuantMark    *marks;      /* by VnValue.id */
  GArray         *biases;     /* of VnQuantBias */
  GPtrArray      *clamps;     /* of VnNode that vanish */
  GHashTable     *copy_names; /* names of copies of biases */
  GHashTable     *captured;   /* set of VnValue: graphs inside nodes use them, in float */
} VnResolver;

VnResolver  *vn_resolver_new          (const VnModel   *model,
                                       const VnRecipe  *recipe,
                                       VnNotes         *notes,     /* nullable */
                                       GError         **error);
void         vn_resolver_free         (VnResolver      *self);
VnQuantMark *vn_resolver_mark_of      (VnResolver      *self,
                                       const VnValue   *value);
gboolean     vn_resolver_can_quantize (VnResolver      *self,
                                       const VnValue   *value);
gboolean     vn_quant_is_sorted       (const VnGraph   *graph);
guint        vn_quant_count_uses      (const VnValue   *value);    /* by nodes of its own graph */
void         vn_resolver_skip_blind   (VnResolver      *self);     /* once lookup is set */
gboolean     vn_resolver_place        (VnResolver      *self,      /* quant-place.c */
                                       char           **labels,
                                       GError         **error);
void         vn_resolver_mark         (VnResolver      *self);     /* quant-mark.c */
gboolean     vn_resolver_is_divisor   (VnResolver      *self,
                                       const VnValue   *value);
gboolean     vn_resolver_may_mark     (VnResolver      *self,
                                       const VnValue   *value);
gboolean     vn_resolver_is_marked    (VnResolver      *self,
                                       const VnValue   *value);
gboolean     vn_resolver_mark_output  (VnResolver      *self,
                                       const VnNode    *node,
                                       guint            i);
gboolean     vn_resolver_keeps_outputs_float (VnResolver   *self,
                                              const VnNode *node);
gboolean     vn_quant_mark_clamp      (VnResolver      *self,      /* quant-mark-clamp.c */
                                       const VnNode    *node,
                                       const VnOp      *op);
void         vn_resolver_mark_bias    (VnResolver      *self,      /* quant-mark-bias.c */
                                       const VnNode    *node,
                                       int              input,
                                       const VnValue   *x,
                                       const VnValue   *weight);
void         vn_resolver_rename_shared_biases (VnResolver *self);
void         vn_resolver_set_ranges   (VnResolver      *self);     /* quant-settings.c */
void         vn_resolver_set_rules    (VnResolver      *self);
const VnValue *vn_resolver_root       (VnResolver      *self,
                                       const VnValue   *value);

/* ---- quant-given.c ---- */

gboolean       vn_resolver_load_given (VnResolver      *self,
                                       GError         **error);
const VnGiven *vn_resolver_get_given  (VnResolver      *self,
                                       const VnValue   *value);
gboolean       vn_quant_given_fits    (const VnGiven   *given,
                                       VnDType          dtype);
gboolean       vn_quant_given_range   (const VnGiven   *given,
                                       const char      *name,
                                       VnDType          dtype,
                                       VnRange         *range,
                                       GError         **error);

/* Peer rules about single operators: see quant-mark.c. */
gboolean     vn_quant_is_conversion   (const VnNode    *node);
gboolean     vn_quant_has_unit_range  (const VnNode    *node);
gint64       vn_quant_get_since       (const VnNode    *node);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnResolver, vn_resolver_free)

/* ---- plans (quant-plan.c) ---- */

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
};

struct _VnQuantPlan
{
  gatomicrefcount ref;
  GPtrArray      *rows;      /* of VnQuantRow */
  GHashTable     *by_name;   /* borrowed name -> VnQuantRow */
  GHashTable     *nodes;     /* labels of the nodes that take part */
  GArray         *clamps;    /* of guint: indices of nodes that vanish */
  gboolean       *excluded;  /* by node index: keeps float weights */
  gboolean       *selected;  /* by node index: may be quantized */
  guint           n_nodes;
  GPtrArray      *npu_nodes; /* of VnNpuNode */
};

VnQuantPlan *vn_quant_plan_new       (guint            n_nodes);
VnQuantRow  *vn_quant_plan_add       (VnQuantPlan     *self,
                                      const char      *name,
                                      VnTensorRole     role);
VnQuantRow  *vn_quant_plan_find_row  (VnQuantPlan     *self,
                                      const char      *name);

VnQuantRow  *vn_quant_row_new        (const char      *name,
                                      VnTensorRole     role);
void         vn_quant_row_take       (VnQuantRow      *self,
                                      const VnQuantRow *from,
                                      const char      *owner);
const VnQuantRow *vn_quant_row_for   (const VnQuantRow *self,
                                      const VnNode    *node);

/* ---- rules about tensors (quant-tensor-rules.c) ---- */

void         vn_resolver_set_tensor_rules (VnResolver *self);
const VnOverride *vn_resolver_get_tensor_rule (VnResolver    *self,
                                               const VnValue *value);
gboolean     vn_quant_answer         (VnAnswer         answer,
                                      gboolean         otherwise);
gboolean     vn_quant_rule_numbers   (char           **list,
                                      gsize            n,
                                      const char      *name,
                                      double          *numbers,
                                      GError         **error);
gboolean     vn_quant_given_constant (const VnGiven   *given,     /* quant-given.c */
                                      gsize            n,
                                      VnQuantRow      *row,
                                      GError         **error);
gboolean     vn_quant_given_params   (char           **scales,
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
gboolean     vn_quant_range_of       (VnResolver      *self,       /* quant-rows.c */
                                      const VnValue   *value,
                                      VnRange         *range,
                                      char           **winner,
                                      GError         **error);
const char  *vn_quant_method_of      (VnResolver      *self,
                                      const VnValue   *value);
gboolean     vn_quant_fill_converted (VnResolver      *self,
                                      const VnValue   *value,
                                      VnQuantRow      *row,
                                      GError         **error);
void         vn_quant_align          (VnResolver      *self,
                                      VnQuantPlan     *plan);      /* quant-align.c */
gboolean     vn_quant_fill_biases    (VnResolver      *self,
                                      VnQuantPlan     *plan,
                                      GError         **error);   /* quant-row-bias.c */
gboolean     vn_quant_fill_rows      (VnResolver      *self,
                                      VnQuantPlan     *plan,
                                      GError         **error);   /* quant-rows.c */
char        *vn_quant_dup_reason     (VnResolver      *self,
                                      const VnValue   *value);   /* quant-reason.c */
char        *vn_quant_dup_rule       (VnResolver      *self,
                                      int              rule,
                                      VnDType          dtype);
VnQuantPlan *vn_quantize_resolve_with (const VnModel   *prepared,
                                       const VnRecipe  *recipe,
                                       VnHistogramFunc  lookup,
                                       gpointer         data,
                                       VnNotes         *notes,
                                       GError         **error);

/* ---- biases (quant-bias.c) ---- */

VnDType      vn_quant_choose_bias    (const VnRecipe     *recipe,
                                      const VnTensorPlan *x,
                                      const VnTensorPlan *weight,
                                      gboolean           *product);
float        vn_quant_own_bias_scale (const VnRecipe     *recipe,
                                      VnDType             dtype,
                                      double              min,
                                      double              max);

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

const VnQuantPair *vn_quant_find_pair       (const VnRecipe     *recipe,
                                             VnPairFlags         flags,
                                             const VnTensorPlan *row);
void         vn_quant_pair_set_attributes   (const VnQuantPair  *pair,
                                             const VnTensorPlan *row,
                                             VnNode             *node,
                                             gboolean            back,
                                             int                 axis);
int          vn_quant_find_block_axis       (const VnValue      *value);
void         vn_quant_add_functions         (VnModel            *model,
                                             const VnRecipe     *recipe);   /* quant-bodies.c */
/* ---- processors that shift (quant-npu.c) ---- */

void         vn_quant_fuse             (VnResolver     *self);   /* quant-fuse.c */
VnNpuNode   *vn_npu_node_new           (const VnNode   *node);
void         vn_quant_refine_positions (VnResolver     *self,
                                        VnQuantPlan    *plan);
double       vn_npu_pool_factor        (gint64          height,
                                        gint64          width);    /* quant-npu-simulate.c */
/* ---- weights only (quant-weights.c) ---- */

gboolean     vn_quant_is_weight_only   (VnFormat         format);
gboolean     vn_quant_has_weight       (const VnNode    *node,
                                        VnFormat         format);
gboolean     vn_quant_has_nbits        (const VnNode    *node);
int          vn_quant_get_sum_axis     (const VnNode    *node);
gboolean     vn_quant_mark_weight_only (VnResolver      *self,
                                        const VnNode    *node);
void         vn_quant_mark_blocks      (VnResolver      *self,
                                        const VnNode    *node,
                                        const VnValue   *value);
gboolean     vn_quant_fill_blocks      (VnResolver      *self,
                                        const VnValue   *value,
                                        VnQuantRow      *row,
                                        GError         **error);

/* ---- floats of 16 bits (quant-half.c) ---- */

gboolean     vn_quant_is_half_format (VnFormat         format);
gboolean     vn_quant_is_single      (const VnValue   *value);
GHashTable  *vn_quant_find_positions (const VnGraph   *graph);
gboolean     vn_quant_can_be_half    (const VnNode    *node,
                                      GHashTable      *positions);
gboolean     vn_quant_is_half_input  (const VnNode    *node,
                                      guint            i);
VnTensor    *vn_quant_to_half        (VnTensor        *data,
                                      gsize           *n_clipped,
                                      gsize           *n_raised,
                                      GError         **error);
gboolean     vn_quant_fill_half      (VnResolver      *self,
                                      VnQuantPlan     *plan,
                                      GError         **error);

/* ---- writers (quant-write.c) ---- */

typedef struct
{
  VnFormat    format;
  const char *id;            /* "qdq" */
  VnDTypeSet  activations, weights;   /* types it can hold */
  gboolean  (*write) (VnModel        *model,        /* a copy, changed in place */
                      const VnRecipe *recipe,
                      VnQuantPlan    *plan,
                      GHashTable     *value_names,
                      GError        **error);    
} VnQuantFormat;

gboolean             vn_quant_check_type   (VnFormat         format,
                                            gboolean         weight,
                                            const char      *name,
                                            VnDType          dtype,
                                            GError         **error);
gboolean             vn_quant_check_types  (const VnRecipe  *recipe,
                                            GError         **error);   /* that the format can hold them */
VnValue             *vn_quant_add_value    (VnGraph          *graph,
                                            const char       *base,
                                            const char       *suffix,
                                            VnDType           dtype,
                                            const VnShape    *shape);
VnValue             *vn_quant_add_constant (VnGraph          *graph,
                                            const char       *base,
                                            const char       *suffix,
                                            VnTensor         *tensor);
const VnQuantFormat *vn_quant_format_find (VnFormat         format,
                                           GError         **error);
void                 vn_quant_drop_unused_constants (VnGraph    *graph,
                                                     GHashTable *captured);
gboolean             vn_quant_has_qoperator (const VnNode     *node);
void                 vn_quant_softmax_params (VnDType          dtype,
                                              float           *scale,
                                              gint64          *zero_point);
gboolean             vn_quant_write_qoperator (VnModel        *model,
                                               const VnRecipe *recipe,
                                               VnQuantPlan    *plan,
                                               GHashTable     *value_names,
                                               GError        **error);
gboolean             vn_quant_has_integer (const VnNode     *node,
                                           gboolean          dynamic);
gboolean             vn_quant_has_qlinear (const VnNode     *node);   /* write-qlinear.c */
gboolean             vn_quant_write_integer (VnModel          *model,
                                             const VnRecipe   *recipe,
                                             VnQuantPlan      *plan,
                                             GHashTable       *value_names,
                                             GError          **error);
gboolean             vn_quant_write_nbits (VnModel         *model,
                                           const VnRecipe  *recipe,
                                           VnQuantPlan     *plan,
                                           GHashTable      *value_names,
                                           GError         **error);
gboolean             vn_quant_write_fp16  (VnModel         *model,
                                           const VnRecipe  *recipe,
                                           VnQuantPlan     *plan,
                                           GHashTable      *value_names,
                                           GError         **error);
gboolean             vn_quant_write_bf16  (VnModel         *model,
                                           const VnRecipe  *recipe,
                                           VnQuantPlan     *plan,
                                           GHashTable      *value_names,
                                           GError         **error);
gboolean             vn_quant_write_qdq   (VnModel         *model,
                                           const VnRecipe  *recipe,
                                           VnQuantPlan     *plan,
                                           GHashTable      *value_names,
                                           GError         **error);
void                 vn_quant_write_dedicated (VnGraph       *graph,   /* write-pairs.c */
                                               VnQuantPlan   *plan,
                                               GPtrArray     *nodes,
                                               GHashTable    *value_names);
void                 vn_quant_write_converted (VnModel       *model,
                                               VnQuantPlan   *plan,
                                               GPtrArray     *nodes,
                                               GHashTable    *value_names);

#define VN_PATTERN_COMPUTED_PREFIX "computed:"   /* operators of nodes that read no constant */

G_END_DECLS
