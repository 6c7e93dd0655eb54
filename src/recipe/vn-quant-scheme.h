/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the settings of a recipe come to once its format and its rules are taken together. */

#include "vn-calibrate.h"
#include "vn-format-traits.h"
#include "vn-recipe.h"

G_BEGIN_DECLS

/**
 * VnScaleScheme: how scales are made of ranges.
 * @method: of activations, and of whatever range is from no method; %NULL: there is none of that name
 * @powers_of_two: all scales are powers of two; otherwise those of ranges that such a method has found
 * @other_rounding: how scales of ranges that clip become powers of two; those of full ranges are rounded up
 * @tolerates_steps: full ranges may end a step or two beyond the levels of the smaller power
 * @full_range: symmetric scales of signed types count on all integers
 * @int16: scales are M / 2^N with integers of 16 bits
 * @minimum_range: smaller ranges are widened to it; 0: none
 * @minimum: of the scales of constants; 0: none
 * @power_of_two_types: (nullable): operators whose weights have powers of two anyway
 */
typedef struct
{
  const VnRangeMethod *method;
  gboolean             powers_of_two, tolerates_steps, full_range, int16;
  VnPowerRounding      other_rounding;
  double               minimum_range, minimum;
  char               **power_of_two_types;
} VnScaleScheme;

/**
 * VnActivationScheme: activations that no rule and no table of encodings speaks of.
 * @method: id
 * @unsigned_relu: what cannot be negative has all levels
 * @centered: ranges reach as far below 0 as above
 * @limits_gates: ranges of what gates read end where these saturate
 * @dynamic: ranges are found while the network runs
 * @shares_exponents: here, or by a rule, some are of types whose elements share an exponent
 * @all_integers: here, and by every rule, all are integers
 * @tries_larger: here, or by a rule, a method may take a larger scale than that of the full range
 * @channels: which have a scale for each channel; @may_have_channels: the format, and its processor, have such activations
 * @encodings: (nullable): files with imported encodings
 */
typedef struct
{
  VnDType               dtype;
  gboolean              symmetric;
  const char           *method;
  double                percentile;
  gboolean              two_sided, unsigned_relu, centered, limits_gates, dynamic;
  gboolean              shares_exponents, all_integers, tries_larger;
  gboolean              may_have_channels;
  VnActivationChannels  channels;
  char                **encodings;
} VnActivationScheme;

/**
 * VnWeightScheme: weights and other constants that no rule and no table of encodings speaks of.
 * @method: id
 * @reduce_range: a bit less is used
 * @narrow: they keep to the levels that have an opposite
 * @keeps_integers: constants that are whole numbers keep them
 * @per_channel: weights of @channel_types (nullable: all) have a scale for each channel
 * @block: how many elements share a scale; 0: all of a channel. @block_method: how it is found
 * @whole_blocks: weights with a rest have no blocks
 * @integer_blocks: scales of blocks are that of the channel times an integer
 * @wide_tables: those of heads and tables have 8 bits at least
 * @wide_share: of the numbers in the others, that may have 8 bits instead of fewer
 */
typedef struct
{
  VnDType      dtype;
  gboolean     symmetric, reduce_range, narrow, keeps_integers, per_channel, whole_blocks, integer_blocks, wide_tables;
  const char  *method;
  char       **channel_types;
  gint64       block;
  VnBlockMethod block_method;
  double       wide_share;
} VnWeightScheme;

/**
 * VnBiasScheme:
 * @quantized: biases do not stay float
 * @dtype: %VN_DTYPE_UNDEFINED: by the types of input and weight
 * @own_scale: never that of input times weight
 * @most_steps: those of Conv that need more stay float; 0: none does
 * @raises_weights: scales of weights are raised where a bias does not fit
 */
typedef struct
{
  gboolean  quantized, own_scale, raises_weights;
  VnDType   dtype;
  gint64    most_steps;
} VnBiasScheme;

/**
 * VnPlacementScheme: what is quantized at all. Lists are of names, globs and "type:OP", and %NULL where nothing is said.
 * @any_operator: with no @op_types every operator that the format has, not only the usual ones
 * @through_passthrough: operators that pass values on are quantized behind float, too
 * @float_types: operators that stay float, of those that would be quantized
 * @float_small_products: small convolutions and products with vectors stay float
 * @residuals: of what is added to a convolution's results, the other input is quantized
 * @norms: parameters of normalizations are; @unsigned_norms: their scales in an unsigned type
 * @fuses_usual: nodes that neural processors compute in one, beside those of @fuse
 */
typedef struct
{
  char     **op_types, **float_types, **only_nodes, **input_nodes, **output_nodes, **truncate;
  char     **float_inputs, **float_outputs, **float_output_types, **fuse;
  gboolean   any_operator, constant_matmul_only, float_small_products, residuals, subgraphs, float_mixed, through_passthrough,
             keep_clamps, norms, unsigned_norms, fuses_usual;
} VnPlacementScheme;

/**
 * VnWriteScheme: how the rows of a plan are written. Plain values: it outlives the recipe.
 * @float_io: inputs and outputs of a network of halves stay float32
 * @float_weights: weights stay float, and go through pairs
 * @standard_floats: floats of 8 bit stand in operators of the standard, whatever ONNX Runtime makes of that
 * @dedicated_pairs: each reader of a tensor has its own
 * @bodies: graphs inside nodes are quantized
 * @packed_tables: tables that are gathered from are stored in blocks
 */
typedef struct
{
  const VnFormatTraits *format;
  VnVendorDomain        vendor;
  gboolean              dynamic, float_io, float_weights, dedicated_pairs, standard_floats, bodies, packed_tables;
} VnWriteScheme;

/**
 * VnQuantScheme: a recipe, resolved against its format. All but @write borrows from the recipe, which must not change meanwhile.
 * @preset: (nullable): id
 * @rules: (element-type VnOverride): of the recipe, enabled or not
 * @npu: scales keep to the shifts of neural processors: those of @npu_rules (nullable: all), in at most @npu_rounds rounds
 */
typedef struct
{
  const VnFormatTraits *format;
  const char           *preset;
  const GPtrArray      *rules;
  VnScaleScheme         scales;
  VnActivationScheme    activations;
  VnWeightScheme        weights;
  VnBiasScheme          biases;
  VnPlacementScheme     placement;
  VnWriteScheme         write;
  gboolean              npu;
  char                **npu_rules;
  gint64                npu_rounds;
} VnQuantScheme;

/**
 * VnTrainScheme: how weights and scales are trained, where a rule does not say otherwise of a node.
 * @kind: the most that is trained anywhere
 * @blocks: that are trained, the worst first; 0: all
 * @steps: of a block; 0: as many as suit @kind
 * @rate: 0: as suits @kind
 * @float_inputs: share of what a block reads that stays float
 * @stops_early: where steps bring nothing
 * @seconds: that it may take at most; 0: any
 */
typedef struct
{
  VnTrain      kind;
  VnTrainUnit  unit;
  guint        blocks, steps, batch;
  guint32      seed;
  double       rate, regularization, float_inputs, seconds;
  gboolean     stops_early;
} VnTrainScheme;

/**
 * VnPrepareScheme: what is made of the float network before that is quantized.
 * @equalizes_by_samples: what samples make of activations takes part in @equalize
 * @passes: ids of preparation passes
 * @named: (nullable): values that are kept where the network is made simpler
 * @truncate: (nullable): values behind which it stays float
 * @npu_operators: (nullable): that are simulated
 */
typedef struct
{
  gboolean          optimize, simulates_npu, equalizes_by_samples;
  VnEqualizeOptions equalize;
  char            **passes, **named, **truncate, **npu_operators;
} VnPrepareScheme;

VnPrepareScheme   vn_prepare_scheme              (const VnRecipe  *self);     /* recipe-prepare.c */
void              vn_prepare_scheme_clear        (VnPrepareScheme *self);
VnEqualizeOptions vn_recipe_get_equalize_options (const VnRecipe  *self);
gboolean          vn_recipe_equalizes_by_samples (const VnRecipe  *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (VnPrepareScheme, vn_prepare_scheme_clear)

void   vn_quant_scheme_init       (VnQuantScheme  *self,
                                   const VnRecipe *recipe);

void   vn_train_scheme_init       (VnTrainScheme  *self,
                                   const VnRecipe *recipe);

gint64 vn_recipe_get_least_opset  (const VnRecipe  *self);      /* recipe-opset.c */
gint64 vn_recipe_get_needed_opset (const VnRecipe  *self);
void   vn_recipe_note_one_scale   (const VnRecipe  *self,
                                   VnNotes         *notes);

G_END_DECLS
