/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Taking settings, format and rules of a recipe together, once: whoever resolves, writes or repairs reads what came of it. */

#include "vn-quant-scheme.h"

#include "vn-recipe-rules.h"

#define NBITS_BLOCK 128   /* of MatMulNBits, where the recipe does not say */

static void
quant_scheme_set_scales (VnScaleScheme  *self,
                         const VnRecipe *recipe)
{
  const VnPowerOfTwo power_of_two = vn_recipe_get_power_of_two (recipe);

  self->method = recipe->method != NULL ? vn_range_method_find (recipe->method, NULL) : NULL;
  self->powers_of_two = power_of_two != VN_POWER_OF_TWO_OFF || vn_recipe_get_format (recipe)->power_of_two_scales;
  self->other_rounding = power_of_two == VN_POWER_OF_TWO_PPQ ? VN_POWER_HALF_UP : VN_POWER_NEAREST;
  self->tolerates_steps = recipe->power_of_two != VN_POWER_OF_TWO_PPQ;
  self->full_range = recipe->full_range;
  self->int16 = recipe->int16_scale;
  self->minimum_range = recipe->minimum_real_range;
  self->minimum = recipe->minimum_scale;
  self->power_of_two_types = recipe->power_of_two_types;
}

/* Which rule speaks about which tensor is not known yet: any that says something counts. */
static void
quant_scheme_ask_rules (VnActivationScheme *self,
                        const GPtrArray    *rules)
{
  for (guint i = 0; i < rules->len; i++)
    {
      const VnOverride *rule = g_ptr_array_index (rules, i);
      const VnRangeMethod *method = rule->enabled && rule->method != NULL ? vn_range_method_find (rule->method, NULL) : NULL;

      self->shares_exponents |= vn_dtype_is_block (rule->activation);
      self->all_integers &= rule->activation == VN_DTYPE_UNDEFINED || vn_dtype_is_integer (rule->activation);
      self->tries_larger |= method != NULL && method->power_of_two;
    }
}

static void
quant_scheme_set_activations (VnActivationScheme  *self,
                              const VnRecipe      *recipe,
                              const VnRangeMethod *method)
{
  self->dtype = recipe->activation;
  self->symmetric = recipe->symmetric_activations;
  self->method = recipe->method;
  self->percentile = recipe->percentile;
  self->two_sided = recipe->two_sided;
  self->unsigned_relu = recipe->unsigned_relu;
  self->centered = recipe->symmetric_ranges;
  self->limits_gates = recipe->limit_gates;
  self->dynamic = recipe->dynamic;
  self->encodings = recipe->ranges;
  self->channels = recipe->activation_channels;
  self->may_have_channels = vn_recipe_get_format (recipe)->has_pairs && !recipe->npu &&
                            vn_recipe_get_most (recipe, VN_LAYER_ACTIVATION_CHANNELS) != VN_ACTIVATION_CHANNELS_OFF;
  self->shares_exponents = vn_dtype_is_block (recipe->activation);
  self->all_integers = vn_dtype_is_integer (recipe->activation);
  self->tries_larger = method != NULL && method->power_of_two && !g_str_equal (method->id, "nonoverflow");
  quant_scheme_ask_rules (self, recipe->overrides);
}

static void
quant_scheme_set_weights (VnWeightScheme *self,
                          const VnRecipe *recipe)
{
  self->dtype = recipe->weight;
  self->symmetric = recipe->symmetric_weights;
  self->reduce_range = recipe->reduce_range;
  self->narrow = recipe->narrow_range;
  self->keeps_integers = recipe->integer_constants;
  self->per_channel = vn_recipe_has_channels (recipe);
  self->channel_types = recipe->channel_types;
  self->method = vn_recipe_get_weight_method (recipe);
  self->integer_blocks = recipe->block_scales == VN_BLOCK_SCALES_INTEGER && vn_recipe_get_format (recipe)->has_pairs;
  self->whole_blocks = recipe->whole_blocks || self->integer_blocks;
  self->wide_tables = recipe->wide_tables && vn_recipe_get_format (recipe)->weights_only;
  self->wide_share = vn_recipe_has_wide_share (recipe) ? recipe->wide_share : 0;
  self->block_method = recipe->block_method;
  self->block = recipe->block_size == 0 && vn_recipe_get_format (recipe)->packed_matrices ? NBITS_BLOCK : recipe->block_size;
}

static void
quant_scheme_set_biases (VnBiasScheme   *self,
                         const VnRecipe *recipe)
{
  self->quantized = recipe->quantize_bias;
  self->dtype = vn_bias_get_type (recipe->bias);
  self->own_scale = vn_recipe_get_format (recipe)->power_of_two_scales;
  self->raises_weights = recipe->raise_weight_scales;
  self->most_steps = vn_recipe_get_format (recipe)->has_pairs ? recipe->largest_bias : 0;   /* others have no float ones */
}

static void
quant_scheme_set_placement (VnPlacementScheme *self,
                            const VnRecipe    *recipe)
{
  const VnFormatTraits *format = vn_recipe_get_format (recipe);

  self->op_types = recipe->op_types;
  self->float_types = recipe->float_types;
  self->only_nodes = recipe->only_nodes;
  self->input_nodes = recipe->input_nodes;
  self->output_nodes = recipe->output_nodes;
  self->truncate = recipe->truncate;
  self->float_inputs = recipe->float_inputs;
  self->float_outputs = recipe->float_outputs;
  self->float_output_types = recipe->float_output_types;
  self->fuse = recipe->fuse;
  self->any_operator = format->all_operators;
  self->constant_matmul_only = recipe->constant_matmul_only;
  self->float_small_products = recipe->float_small_products;
  self->residuals = recipe->quantize_residuals;
  self->subgraphs = recipe->subgraphs;
  self->float_mixed = recipe->float_mixed;
  self->through_passthrough = recipe->force_passthrough;
  self->keep_clamps = recipe->keep_clamps;
  self->norms = recipe->quantize_norms || format->integer_operators;
  self->unsigned_norms = recipe->norm_weight == VN_NORM_WEIGHT_UNSIGNED;
  self->fuses_usual = recipe->npu && (recipe->fuse == NULL || !g_strv_contains ((const char * const *) recipe->fuse, "none"));
}

static void
quant_scheme_set_write (VnWriteScheme  *self,
                        const VnRecipe *recipe)
{
  self->format = vn_recipe_get_format (recipe);
  self->vendor = recipe->vendor_domain;
  self->dynamic = recipe->dynamic;
  self->float_io = recipe->float_io;
  self->float_weights = recipe->pairs_on_weights;
  self->dedicated_pairs = recipe->dedicated_pairs;
  self->standard_floats = recipe->standard_floats;
  self->bodies = recipe->subgraphs;
  self->packed_tables = recipe->packed_tables && self->format->packed_matrices;
}

/**
 * vn_quant_scheme_init:
 * @self: (out): filled whatever it held
 * @recipe: a recipe, which must live as long as @self is read
 */
void
vn_quant_scheme_init (VnQuantScheme  *self,
                      const VnRecipe *recipe)
{
  g_return_if_fail (self != NULL && recipe != NULL);

  *self = (VnQuantScheme) { .format = vn_recipe_get_format (recipe), .preset = recipe->preset, .rules = recipe->overrides,
                            .npu = recipe->npu, .npu_rules = recipe->npu_rules, .npu_rounds = recipe->npu_rounds };
  quant_scheme_set_scales (&self->scales, recipe);
  quant_scheme_set_activations (&self->activations, recipe, self->scales.method);
  quant_scheme_set_weights (&self->weights, recipe);
  quant_scheme_set_biases (&self->biases, recipe);
  quant_scheme_set_placement (&self->placement, recipe);
  quant_scheme_set_write (&self->write, recipe);
}

/**
 * vn_train_scheme_init:
 * @self: (out): filled whatever it held
 */
void
vn_train_scheme_init (VnTrainScheme  *self,
                      const VnRecipe *recipe)
{
  VnTrain kind;

  g_return_if_fail (self != NULL && recipe != NULL);

  kind = (VnTrain) vn_recipe_get_most (recipe, VN_LAYER_TRAIN);
  *self = (VnTrainScheme) {
    .kind = kind, .unit = recipe->train_unit, .blocks = (guint) recipe->train_blocks, .steps = (guint) recipe->train_steps,
    .batch = (guint) recipe->train_batch, .seed = (guint32) recipe->train_seed, .rate = recipe->train_rate,
    .regularization = recipe->train_regularization, .float_inputs = recipe->train_float_inputs, .seconds = recipe->train_time,
    .stops_early = recipe->train_early_stop && !vn_train_rounds (kind),   /* AdaRound comes to its integers at its end only */
  };
}
