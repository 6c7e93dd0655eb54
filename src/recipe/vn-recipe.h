/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The recipe: everything that decides how a network is quantized. */

#include "vn-equalize.h"
#include "vn-file-set.h"
#include "vn-model.h"
#include "vn-preset.h"

G_BEGIN_DECLS

typedef enum
{
#define VN_FORMAT(SYMBOL, ...) VN_FORMAT_##SYMBOL,
#include "vn-formats.def"
#undef VN_FORMAT
  VN_N_FORMATS
} VnFormat;

/* Scales of powers of two: as AMD rounds them, or as PPQ does. */
typedef enum { VN_POWER_OF_TWO_OFF, VN_POWER_OF_TWO_NEAREST, VN_POWER_OF_TWO_PPQ } VnPowerOfTwo;
/* Types of biases; VN_BIAS_AUTO: 32 bit with the scale input times weight where both are integers of up to 16 bit,
 * otherwise what goes with the weights. */
typedef enum
{
  VN_BIAS_AUTO, VN_BIAS_S32, VN_BIAS_S16, VN_BIAS_S8, VN_BIAS_F16, VN_BIAS_BF16, VN_BIAS_F32,
  VN_N_BIASES
} VnBiasType;

/* Scales of blocks: floats, or those of their channel times integers of 4 bits, 1 to 15. */
typedef enum { VN_BLOCK_SCALES_FLOAT, VN_BLOCK_SCALES_INTEGER, VN_N_BLOCK_SCALES } VnBlockScales;

/* Types of the scales of normalizations: that of weights, or the unsigned one of as many bits. */
typedef enum { VN_NORM_WEIGHT_AS_WEIGHT, VN_NORM_WEIGHT_UNSIGNED, VN_N_NORM_WEIGHTS } VnNormWeight;

/* Whose operators are written without their meaning, for their own tools. */
typedef enum { VN_VENDOR_NONE, VN_VENDOR_AMD, VN_VENDOR_VITIS, VN_N_VENDORS } VnVendorDomain;
/* Which activations that only depthwise convolutions read have a scale for each channel: none, those whose neighbours can hold
 * it in their weights, or all that ONNX Runtime can run. */
typedef enum
{
  VN_ACTIVATION_CHANNELS_OFF, VN_ACTIVATION_CHANNELS_FOLDED, VN_ACTIVATION_CHANNELS_DEPTHWISE, VN_N_ACTIVATION_CHANNELS
} VnActivationChannels;

/* Whether channels of very different size are scaled to like size: not; where weights and constants take the factors; also
 * where a DequantizeLinear with a scale per channel must give the tensor back as it was. */
typedef enum
{
  VN_BALANCE_CHANNELS_OFF, VN_BALANCE_CHANNELS_FOLDED, VN_BALANCE_CHANNELS_RESTORED, VN_N_BALANCE_CHANNELS
} VnBalanceChannels;

/* How weights become integers: each to the nearest, or so that the products change least. */
typedef enum { VN_WEIGHT_ROUNDING_NEAREST, VN_WEIGHT_ROUNDING_SECOND_ORDER, VN_N_WEIGHT_ROUNDINGS } VnWeightRounding;

/* How exactly MatMulNBits of ONNX Runtime multiplies: as suits the bits of its weights, or one of its levels: 0 to 3 compute in
 * float, 4 rounds activations to 8 bits block by block. */
typedef enum
{
  VN_ACCURACY_LEVEL_AUTO, VN_ACCURACY_LEVEL_0, VN_ACCURACY_LEVEL_1, VN_ACCURACY_LEVEL_2, VN_ACCURACY_LEVEL_3, VN_ACCURACY_LEVEL_4,
  VN_N_ACCURACY_LEVELS
} VnAccuracyLevel;

/* What a network computes with beside integer weights: the floats it had, or these. */
typedef enum { VN_FLOAT_TYPE_AUTO, VN_FLOAT_TYPE_FLOAT32, VN_FLOAT_TYPE_FLOAT16, VN_FLOAT_TYPE_BFLOAT16,
               VN_N_FLOAT_TYPES } VnFloatType;

/* How scale and zero point of a block of a weight are found: from its ends, or searched for, by the squared error, as k-quants
 * are, or as HQQ does. */
typedef enum
{
  VN_BLOCK_METHOD_MINMAX, VN_BLOCK_METHOD_MSE, VN_BLOCK_METHOD_K_QUANT, VN_BLOCK_METHOD_HQQ, VN_N_BLOCK_METHODS
} VnBlockMethod;

/* Whether ranges are searched for that keep what layers compute from them nearest to the float values. */
typedef enum { VN_RANGE_SEARCH_OFF, VN_RANGE_SEARCH_OUTPUTS, VN_N_RANGE_SEARCHES } VnRangeSearch;

/* What is trained, block by block: nothing; scales; which way weights are rounded; weights and biases; or scales and one of
 * these. */
typedef enum
{
  VN_TRAIN_OFF, VN_TRAIN_THRESHOLDS, VN_TRAIN_ADAROUND, VN_TRAIN_ADAQUANT, VN_TRAIN_ADAROUND_THRESHOLDS,
  VN_TRAIN_ADAQUANT_THRESHOLDS,
  VN_N_TRAINS
} VnTrain;

/* What is trained at once. */
typedef enum { VN_TRAIN_UNIT_BLOCK, VN_TRAIN_UNIT_LAYER, VN_N_TRAIN_UNITS } VnTrainUnit;

/* Whose rules biases are corrected by. */
typedef enum { VN_BIAS_CORRECTION_OFF, VN_BIAS_CORRECTION_AMD, VN_BIAS_CORRECTION_XSLIM, VN_BIAS_CORRECTION_GUARDED,
               VN_N_BIAS_CORRECTIONS } VnBiasCorrection;
/* What a rule says about something that is either so or not. */
typedef enum { VN_AS_RECIPE, VN_YES, VN_NO, VN_N_ANSWERS } VnAnswer;

/* Settings that rules can say otherwise for some nodes or tensors: those of vn-settings.def that are VN_LAYER_SETTING. */
typedef enum
{
#define VN_SETTING(...)
#define VN_RULE_SETTING(...)
#define VN_LAYER_SETTING(SYMBOL, ...) VN_LAYER_##SYMBOL,
#include "vn-settings.def"
#undef VN_SETTING
#undef VN_RULE_SETTING
#undef VN_LAYER_SETTING
  VN_N_LAYER_SETTINGS
} VnLayerSetting;

/**
 * VnOverride: a rule for some nodes, or for some tensors. Rules are applied in order, the last that matches wins. Fields:
 * vn-settings.def.
 * @name: (nullable): what people call it; vn_override_set_name()
 * @pattern: node name, glob over node names, or "type:OP"; NULL when boundaries or tensors are given
 * @tensors: names of values, or globs over them: what follows @percentile is for such rules only
 * @exclude: leave these nodes or tensors in float
 * @axis: of the scales per channel, counted from the end if negative; %VN_AXIS_AS_RECIPE
 * @min, @max, @scales, @zero_points: numbers as text, one for all or one for each channel
 * @activation_channels, @balance_channels, @bias_correction, @rounding, @train, @accuracy_level, @block_method: %VN_AS_RECIPE, or
 * one more than what a recipe would say
 * @block_size: of weights; 0: as the recipe
 * @convert: type some or all readers see instead, %VN_DTYPE_UNDEFINED: none. @receivers: which, patterns of nodes; NULL: all
 */
typedef struct
{
  char      *name;
  char      *pattern;
  char     **in_edges, **out_edges;   /* NULL-terminated value names, or NULL */
  gboolean   enabled;
  gboolean   exclude;
  gboolean   float_results;           /* of nodes: what they read and their weights are quantized all the same */
  VnDType    activation;              /* VN_DTYPE_UNDEFINED: as the recipe */
  VnDType    weight;
  char      *method;                  /* NULL: as the recipe */
  double     percentile;              /* 0: as the recipe */
  int        activation_channels, balance_channels, bias_correction, rounding, train, accuracy_level, block_method;
  gint64     block_size;

  char     **tensors;
  VnAnswer   symmetric, reduce_range, per_channel;
  gint64     axis;
  char     **min, **max, **scales, **zero_points;
  VnDType    convert;
  char     **receivers;
  VnAnswer   convert_symmetric;
  char     **convert_min, **convert_max, **convert_scale, **convert_zero_point;
} VnOverride;

#define VN_AXIS_AS_RECIPE (-100)

/**
 * VnRecipe: everything that decides how a model is quantized. Plain data; copy before changing one that is shared.
 * All fields but preset and overrides are described by vn-settings.def.
 */
typedef struct
{
  const char *preset;         /* id in vn-presets.def, static */
  VnFormat    format;
  gboolean    dynamic;        /* INTEGER: ranges of activations are found while the network runs */
  VnDType     activation;
  VnDType     weight;
  VnBiasType  bias;
  VnVendorDomain vendor_domain;
  gboolean    per_channel;
  gboolean    float_io;       /* FP16: inputs and outputs stay float32 */
  VnFloatType float_type;     /* WEIGHTS, MATMULNBITS */
  gint64      block_size;     /* WEIGHTS, MATMULNBITS: along the axis that is summed over; 0: off */
  VnBlockMethod block_method; /* of weights in blocks */
  gboolean    importance;     /* the search for it weights channels by what reaches them: vn-importance.h */
  VnAccuracyLevel accuracy_level;   /* MATMULNBITS */
  gboolean    packed_tables;  /* MATMULNBITS: tables that are gathered from, too */
  gboolean    wide_tables;    /* weights only: these, and matrices that outputs come from, have 8 bits at least */
  double      wide_share;     /* weights only: part of the bytes of the others that may have 8 bits: the most sensitive ones */
  gboolean    whole_blocks;   /* what they do not divide has a scale per channel */
  VnBlockScales block_scales; /* QDQ: of MatMul and Gemm */
  gboolean    symmetric_activations;
  gboolean    symmetric_weights;
  /* what XSlim does otherwise */
  char      **channel_types;  /* per_channel: operators whose weights have such scales; NULL: all */
  char      **power_of_two_types;  /* operators whose weights have scales that are powers of two, rounded up */
  gboolean    full_range;     /* symmetric scales of signed types count on all integers: -128 .. 127 */
  double      minimum_scale;  /* 0: none. Channels of weights that would need a smaller one are zero. */
  gboolean    integer_constants;   /* constants that are whole numbers of 8 bit keep them: scale 1 */
  gboolean    limit_gates;    /* ranges of what Sigmoid and HardSigmoid read end where these saturate */
  gboolean    quantize_norms; /* scale and bias of normalizations */
  VnNormWeight norm_weight;
  gint64      largest_bias;   /* biases of Conv with more steps stay float; 0: none do */
  gboolean    reduce_range;
  gboolean    narrow_range;   /* stored weights keep to the levels that have an opposite: AMD's quantizers */
  char       *method;         /* id of a range method */
  double      percentile;
  gboolean    two_sided;      /* percentile */
  char       *weight_method;  /* id of a range method; NULL: see vn_recipe_get_weight_method() */
  double      minimum_real_range;
  gboolean    symmetric_ranges, unsigned_relu;
  char      **fixed_ranges;   /* "OP:TYPE=MIN,MAX" */
  VnPowerOfTwo power_of_two;
  VnActivationChannels activation_channels;
  gboolean    int16_scale;
  gboolean    optimize;
  /* cross-layer equalization of the float network (vn-equalize.h); correction of biases (vn-bias-correct.h) */
  gboolean    clip6_to_relu, static_shapes;
  VnEqualizeKind equalize;
  gint64      equalize_steps; /* 0: as usual for @equalize; -1: until nothing changes */
  double      equalize_threshold;
  gboolean    equalize_append_bias;
  double      equalize_difference;
  gint64      equalize_level;
  gboolean    equalize_activations;
  VnBiasCorrection bias_correction;
  gint64      correction_samples;
  VnBalanceChannels balance_channels;   /* vn-balance.h */
  double      balance_exponent, balance_cost;
  gboolean    absorb_bias;              /* vn-absorb.h */
  VnWeightRounding rounding;    /* how weights become integers (vn-second-order.h) */
  gint64      rounding_samples;
  VnRangeSearch range_search;   /* vn-range-search.h */
  VnTrain     train;            /* vn-training.h */
  VnTrainUnit train_unit;
  gint64      train_blocks, train_steps, train_batch, train_samples, train_seed;
  double      train_rate, train_regularization, train_float_inputs, train_time;
  gboolean    train_early_stop;
  char      **passes;         /* ids of preparation passes that run on request */
  char      **truncate;       /* names of values, NULL-terminated, or NULL */
  char      **ranges;         /* files with imported encodings (vn-encodings.h), the last first in rank, or NULL */
  char       *task;           /* what the network does, as vn_task_get_id() says it; NULL: found from its file and outputs */
  gint64      opset;          /* 0: lowest that works, never below the model's */

  /* which nodes: names, globs, "type:OP" */
  char      **op_types;       /* NULL: those onnxruntime.quantization takes unasked */
  char      **float_types;    /* of these: those that stay float */
  char      **only_nodes;     /* NULL: all */
  char      **input_nodes, **output_nodes;   /* NULL: from the first, to the last */
  gboolean    constant_matmul_only, float_small_products;
  gboolean    subgraphs;       /* graphs inside nodes, too */
  /* which tensors */
  char      **float_inputs, **float_outputs; /* names of graph inputs and outputs, globs */
  char      **float_output_types;            /* operators whose outputs stay float */
  gboolean    float_mixed;    /* what joins unlike numbers behind the last layers stays float */
  gboolean    quantize_residuals;   /* inputs of Add that are not one with the convolution before it */
  gboolean    force_passthrough, keep_clamps, quantize_bias, raise_weight_scales;
  gboolean    dedicated_pairs, pairs_on_weights, standard_floats;
  char      **channel_axes;                  /* "OP=AXIS" */
  char      **fuse;                          /* "OP+OP"; NULL: what npu fuses; "none" */
  /* tensors that share */
  gboolean    align_concat, align_pool, align_pad, align_slice, align_eltwise;
  /* neural processors that shift instead of multiplying */
  gboolean    npu, simulate_npu;
  char      **npu_rules, **npu_operators;    /* NULL: the usual ones; "none" */
  gint64      npu_rounds;

  GPtrArray  *overrides;      /* of VnOverride, in order */
} VnRecipe;

VnDType vn_bias_get_type (VnBiasType self);   /* VN_DTYPE_UNDEFINED: as it goes with inputs and weights */

const VnPreset         *vn_recipe_get_target (const VnRecipe  *self);
gboolean                vn_recipe_suits_target (const VnRecipe *self,
                                                GError        **error);
gboolean                vn_recipe_apply_placement (VnRecipe   *self);

VnRecipe   *vn_recipe_new          (const char       *preset);    /* NULL: "cpu"; must exist */
VnRecipe   *vn_recipe_copy         (const VnRecipe   *self);
void        vn_recipe_free         (VnRecipe         *self);
gboolean    vn_recipe_equal        (const VnRecipe   *a,
                                    const VnRecipe   *b);
gboolean    vn_recipe_set          (VnRecipe         *self,
                                    const char       *id,
                                    const char       *text,
                                    GError          **error);     /* a setting of vn-settings.def by its id */
void        vn_recipe_apply_settings (VnRecipe       *self,
                                      const char     *settings);
VnOverride *vn_override_new        (void);                        /* enabled, says nothing yet */
VnOverride *vn_recipe_add_exclude  (VnRecipe         *self,
                                    const char       *pattern);   /* returned rule is owned by the recipe */
gboolean    vn_recipe_remove_exclude (VnRecipe       *self,
                                      const char     *pattern);
gboolean    vn_recipe_has_channels  (const VnRecipe  *self);       /* weights have a scale for each channel */
gboolean    vn_recipe_has_kernels   (const VnRecipe  *self);       /* ONNX Runtime may compute on integers of 8 bits */
const char *vn_recipe_get_weight_method (const VnRecipe *self);    /* id of the range method of weights */
VnPowerOfTwo vn_recipe_get_power_of_two (const VnRecipe *self);    /* what all scales are rounded to */
void        vn_recipe_add_files     (const VnRecipe  *self,
                                     VnFileSet       *set);
gboolean    vn_recipe_uses_samples  (const VnRecipe  *self);       /* ranges of activations say something about the result */
gboolean    vn_recipe_needs_votes   (const VnRecipe  *self);       /* a range method asks what each sample chooses */
gboolean    vn_recipe_needs_counts  (const VnRecipe  *self);       /* or how the elements between the ends are spread */
gboolean    vn_recipe_may_balance   (const VnRecipe  *self);
gboolean    vn_recipe_needs_samples (const VnRecipe  *self);       /* ranges of activations are stored in the result */
gboolean    vn_recipe_validate     (const VnRecipe   *self,
                                    GError          **error);     /* field, value, what is allowed */
char       *vn_recipe_to_json      (const VnRecipe   *self);
VnRecipe   *vn_recipe_from_json    (const char       *text,
                                    const char       *name,
                                    GError          **error);
char       *vn_recipe_dup_digest   (const VnRecipe   *self);       /* tells recipes apart */
VnRecipe   *vn_recipe_load         (const char       *path,
                                    GError          **error);
gboolean    vn_recipe_save         (const VnRecipe   *self,
                                    const char       *path,
                                    GError          **error);
char       *vn_override_to_json    (const VnOverride *self);       /* in one line */
VnOverride *vn_override_from_json  (const char       *text,
                                    GError          **error);
char      **vn_override_list_subjects (const VnOverride *self);    /* override-words.c */
char       *vn_override_dup_subject (const VnOverride *self);
char       *vn_override_dup_effect (const VnOverride *self);       /* translated */
gboolean    vn_override_matches    (const VnOverride *self,
                                    const VnNode     *node);      /* pattern rules only */
gboolean    vn_pattern_matches_text (const char      *pattern,
                                     const char      *text);      /* of tensors: a name, or a glob over names */
VnOverride *vn_override_copy       (const VnOverride *self);
gboolean    vn_override_equal      (const VnOverride *a,
                                    const VnOverride *b);         /* whatever they are called */
void        vn_override_set_name   (VnOverride       *self,       /* override-name.c */
                                    const char       *name);      /* nullable */
gboolean    vn_recipe_has_equal_names (const VnRecipe *a,
                                       const VnRecipe *b);
void        vn_recipe_forget_names (VnRecipe         *self);
GPtrArray  *vn_override_find_nodes (const VnOverride *self,
                                    const VnGraph    *graph,
                                    GError          **error);

gboolean    vn_train_scales        (int               train);      /* a VnTrain trains scales */
gboolean    vn_train_rounds        (int               train);      /* which way weights are rounded */
gboolean    vn_train_weights       (int               train);      /* weights and biases */
gboolean    vn_recipe_has_factors  (const VnRecipe   *self);       /* ranges are multiplied by what a search or training found */

int        *vn_recipe_find_rules_of_nodes (const VnRecipe *self,         /* recipe-layers.c */
                                           const VnGraph  *graph);
const char *vn_layer_setting_get_id (VnLayerSetting   self);
int         vn_recipe_get_most     (const VnRecipe   *self,
                                    VnLayerSetting    which);
void        vn_recipe_turn_off     (VnRecipe         *self,
                                    VnLayerSetting    which);
int        *vn_recipe_list_for_nodes (const VnRecipe *self,
                                      VnLayerSetting  which,
                                      const VnGraph  *graph);
int        *vn_recipe_list_for_values (const VnRecipe *self,
                                       VnLayerSetting  which,
                                       const VnGraph  *graph);
gint64     *vn_recipe_list_blocks_for_values (const VnRecipe *self,
                                              const VnGraph  *graph);
gboolean    vn_recipe_has_blocks   (const VnRecipe   *self);       /* some weights may have a scale for each block */
gboolean    vn_recipe_has_importance (const VnRecipe *self);
void        vn_override_free       (VnOverride       *self);

/**
 * VnRuleSet: rules that were made together, and are shown as one: neighbours that each name a single node and say the same of it;
 * or a rule by itself.
 * @first, @n: rules of the recipe
 * @nodes: of guint: indices of the nodes that they are about, in order
 * @title: their name, or what they are about: "Conv stem to Relu #4", "head.cls", "type:Softmax"
 * @enabled: all of them are
 * @names_nodes: each names a node
 */
typedef struct
{
  guint     first, n;
  GArray   *nodes;
  char     *title;
  gboolean  enabled, names_nodes;
} VnRuleSet;

GPtrArray  *vn_recipe_list_rule_sets (const VnRecipe *self,
                                      const VnGraph  *graph);      /* rule-sets.c */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnRecipe, vn_recipe_free)

G_END_DECLS
