/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Whether a recipe can be followed: each field by itself, and what a format or a processor asks of several together. */

#include "vn-recipe-rules.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-recipe-check-private.h"

#define MOST_NBITS_BLOCK 256   /* that ONNX Runtime 1.31 loads; 1.32 takes larger ones, too */

static gboolean
check_fuse (const VnRecipe  *self,
            GError         **error)
{
  g_autofree char *able = NULL;

  if (self->fuse == NULL || vn_recipe_get_format (self)->fuses_nodes)
    return TRUE;
  able = vn_format_dup_names (VN_FORMAT_TRAIT (fuses_nodes));
  g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("fuse: only %s can leave a tensor between two nodes float"), able);
  return FALSE;
}

/* What is about pairs of QuantizeLinear and DequantizeLinear means nothing without them. */
static gboolean
check_pairs (const VnRecipe  *self,
             GError         **error)
{
  const char *wrong = self->dedicated_pairs ? "dedicated-pairs" : self->pairs_on_weights ? "pairs-on-weights"
                    : !self->quantize_bias ? "quantize-bias" : NULL;
  g_autofree char *able = NULL;

  for (guint i = 0; i < self->overrides->len && wrong == NULL; i++)
    if (((const VnOverride *) g_ptr_array_index (self->overrides, i))->convert != VN_DTYPE_UNDEFINED)
      wrong = "convert";
  if (wrong == NULL || vn_recipe_get_format (self)->has_pairs)
    return TRUE;
  able = vn_format_dup_names (VN_FORMAT_TRAIT (has_pairs));
  g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("%s: only the format %s supports this"), wrong, able);
  return FALSE;
}

static gboolean
check_npu (const VnRecipe  *self,
           GError         **error)
{
  g_autofree char *able = vn_format_dup_names (VN_FORMAT_TRAIT (has_pairs)), *format = NULL;
  const char *wrong = NULL;

  if (!self->npu)
    return TRUE;
  if (vn_recipe_get_power_of_two (self) != VN_POWER_OF_TWO_NEAREST)
    wrong = _("power-of-two must be “nearest”");
  else if (!self->symmetric_activations || !self->symmetric_weights)
    wrong = _("activations and weights must be symmetric");
  else if (!vn_recipe_get_format (self)->has_pairs)
    wrong = format = g_strdup_printf (_("the format must be %s"), able);
  else if (self->bias != VN_BIAS_AUTO && vn_bias_get_type (self->bias) != self->weight)
    wrong = _("biases have the type of the weights; leave bias at “auto”");
  if (wrong == NULL)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("npu: the NPU can only shift: %s"), wrong);
  return FALSE;
}

/* FixNeuron computes in float32, which holds no integers of 32 bit. */
static gboolean
check_fixed_point (const VnRecipe  *self,
                   GError         **error)
{
  if (!vn_recipe_get_format (self)->power_of_two_scales || self->bias != VN_BIAS_S32)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
               _("bias: FixNeuron supports integers of at most 24 bits, not “int32”: use “auto”, “int16” or “int8”"));
  return FALSE;
}

/* What holds between fields; each by itself was looked at before. */
static gboolean
check_types (const VnRecipe  *recipe,
             VnDType          activation,
             VnDType          weight,
             const char      *where,
             GError         **error)
{
  if (vn_recipe_get_format (recipe)->integer_operators && activation != recipe->activation)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED,
                   _("%s: activation is %s, but operators of the format “%s” use a single type, here %s"), where,
                   vn_dtype_get_name (activation), vn_format_get_traits (recipe->format)->id,
                   vn_dtype_get_name (recipe->activation));
      return FALSE;
    }
  if (activation != VN_DTYPE_S8 || weight != VN_DTYPE_U8)
    return TRUE;

  g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED,
               _("%s: no runtime multiplies int8 activations by uint8 weights; use int8 weights"), where);
  return FALSE;
}

static gboolean
recipe_check_is_about_tensors (const VnOverride *rule)
{
  return rule->symmetric != VN_AS_RECIPE || rule->reduce_range != VN_AS_RECIPE || rule->per_channel != VN_AS_RECIPE ||
         rule->axis != VN_AXIS_AS_RECIPE || rule->min != NULL || rule->max != NULL || rule->scales != NULL ||
         rule->convert != VN_DTYPE_UNDEFINED;
}

static gboolean
check_override (const VnRecipe    *recipe,
                const VnOverride  *rule,
                const char        *where,
                GError           **error)
{
  gboolean by_edges = rule->in_edges != NULL || rule->out_edges != NULL;
  gboolean for_tensors = vn_override_is_for_tensors (rule);

  if (!vn_settings_check (vn_setting_list_of_rule, rule, where, error) || !vn_override_check_tensors (rule, where, error))
    return FALSE;
  if (for_tensors ? rule->pattern != NULL || by_edges : rule->pattern == NULL && !by_edges)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
                   _("%s: set a pattern, boundary edges, or both to select what matches between the edges; or only tensors"),
                   where);
      return FALSE;
    }
  if (for_tensors && rule->rounding == VN_AS_RECIPE && rule->bias_correction == VN_AS_RECIPE && !rule->float_results)
    return TRUE;
  if (for_tensors)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("%s: rounding, bias-correction and float-results can be set "
                                                        "for nodes only"), where);
      return FALSE;
    }
  if (recipe_check_is_about_tensors (rule))
    {
      g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
                   _("%s: ranges, scales, axes and conversions can only be set for tensors"), where);
      return FALSE;
    }
  if (rule->pattern != NULL && *rule->pattern == '\0')
    {
      g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("%s: the pattern is empty"), where);
      return FALSE;
    }
  return check_types (recipe, rule->activation != VN_DTYPE_UNDEFINED ? rule->activation : recipe->activation,
                      rule->weight != VN_DTYPE_UNDEFINED ? rule->weight : recipe->weight, where, error);
}

/* DynamicQuantizeLinear makes uint8 and nothing else. */
static gboolean
check_dynamic (const VnRecipe  *self,
               GError         **error)
{
  g_autofree char *able = vn_format_dup_names (VN_FORMAT_TRAIT (dynamic_ranges));

  if (!self->dynamic)
    return TRUE;
  if (!vn_recipe_get_format (self)->dynamic_ranges)
    g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
                 _("recipe: “dynamic” is true, but only the formats %s support dynamic quantization"), able);
  else if (self->activation != VN_DTYPE_U8)
    g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
                 _("recipe: activation is %s, but dynamic quantization supports only uint8"),
                 vn_dtype_get_name (self->activation));
  else
    return TRUE;
  return FALSE;
}

/* Whether weights or activations of 8 bit occur. */
static gboolean
recipe_check_has_bytes (const VnRecipe *self,
                        gboolean        of_weights)
{
  if (vn_dtype_get_bits (of_weights ? self->weight : self->activation) == 8)
    return TRUE;
  for (guint i = 0; i < self->overrides->len; i++)
    {
      const VnOverride *rule = g_ptr_array_index (self->overrides, i);
      VnDType dtype = of_weights ? rule->weight : rule->activation;

      if (rule->enabled && dtype != VN_DTYPE_UNDEFINED && vn_dtype_get_bits (dtype) == 8)
        return TRUE;
    }
  return FALSE;
}

/**
 * vn_recipe_has_kernels:
 *
 * Returns: whether ONNX Runtime may put its kernels on integers in place of what is written: they stand between pairs of 8 bits
 */
gboolean
vn_recipe_has_kernels (const VnRecipe *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return vn_recipe_get_format (self)->integer_kernels && !self->dynamic &&
         recipe_check_has_bytes (self, FALSE);
}

/* ONNX Runtime multiplies integers of 8 bit by others with one scale, or one for each channel, and does not look whether
 * there are more. */
static gboolean
check_blocks_in_pairs (const VnRecipe  *self,
                       gint64           block,
                       const char      *where,
                       GError         **error)
{
  if (block == 0 || !vn_recipe_get_format (self)->has_pairs)
    return TRUE;
  if (recipe_check_has_bytes (self, TRUE) && recipe_check_has_bytes (self, FALSE))
    g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED,
                 _("%s: block-size is %lld, but ONNX Runtime cannot multiply 8-bit activations by block-wise 8-bit "
                   "weights: use 4-bit weights or 16-bit activations"), where, (long long) block);
  else if (self->npu || self->pairs_on_weights)
    g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("%s: block-size is %lld, but “%s” needs one scale per weight"), where,
                 (long long) block, self->npu ? "npu" : "pairs-on-weights");
  else if (self->block_scales == VN_BLOCK_SCALES_INTEGER && (self->weight != VN_DTYPE_S4 || !self->symmetric_weights))
    g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
                 _("%s: block-scales is “integer”, which needs symmetric weights of type int4"), where);
  else
    return TRUE;
  return FALSE;
}

/* What blocks ask of the other settings. */
static gboolean
check_blocks (const VnRecipe  *self,
              VnDType          weight,
              gint64           block,
              const char      *where,
              GError         **error)
{
  g_autofree char *able = vn_format_dup_names (VN_FORMAT_TRAIT (block_scales));

  if (block != 0 && !vn_recipe_get_format (self)->block_scales)
    g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("%s: block-size is %lld, but only the formats %s support blocks"), where,
                 (long long) block, able);
  else if ((block & (block - 1)) != 0)
    g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
                 _("%s: block-size is %lld, expected 0 or a power of two of at least 16"), where,
                 (long long) block);
  else if (vn_recipe_get_format (self)->packed_matrices && block > MOST_NBITS_BLOCK)
    g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
                 _("%s: block-size is %lld, but MatMulNBits of ONNX Runtime has blocks of 16, 32, 64, 128 or 256 only"), where,
                 (long long) block);
  else if (vn_recipe_get_format (self)->packed_matrices && vn_dtype_get_bits (weight) > 8)
    g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED,
                 _("%s: weight is %s, but the format “%s” supports only 2, 4 and 8 bits"), where, vn_dtype_get_name (weight),
                 vn_format_get_traits (self->format)->id);
  else if (block != 0 && weight != VN_DTYPE_UNDEFINED && !vn_dtype_is_integer (weight))
    g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("%s: weight is %s, but blocks require integers"), where,
                 vn_dtype_get_name (weight));
  else if (block != 0 && !vn_recipe_get_format (self)->packed_matrices && self->opset != 0 && self->opset < 21)
    g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("%s: opset is %lld, but blocks require at least 21"), where,
                 (long long) self->opset);
  else
    return check_blocks_in_pairs (self, block, where, error);
  return FALSE;
}

/* Of what is wrong because a rule says it: which rule. */
static gboolean
recipe_check_name_rule (const VnRecipe  *self,
                        VnLayerSetting   which,
                        GError         **error)
{
  for (guint i = 0; i < self->overrides->len && vn_recipe_get_layer_setting (self, which) == 0; i++)
    if (vn_override_get_layer_setting (g_ptr_array_index (self->overrides, i), which) > VN_AS_RECIPE + 1)
      {
        g_prefix_error (error, _("rule %u: "), i + 1);
        break;
      }
  return FALSE;
}

/* Whether the recipe or one of its rules has @method. */
static gboolean
check_has_block_method (const VnRecipe *self,
                        VnBlockMethod   method)
{
  gboolean has = self->block_method == method;

  for (guint i = 0; i < self->overrides->len; i++)
    {
      const VnOverride *rule = g_ptr_array_index (self->overrides, i);

      has |= rule->enabled && rule->block_method == 1 + (int) method;
    }
  return has && vn_recipe_has_blocks (self);
}

/* Levels are moved to where numbers are, so that 0 need not be in the middle; with HQQ it is not even one of them. */
static gboolean
check_block_method (const VnRecipe  *self,
                    GError         **error)
{
  const gboolean hqq = check_has_block_method (self, VN_BLOCK_METHOD_HQQ);

  if (hqq && (!vn_recipe_get_format (self)->packed_matrices || vn_recipe_get_most (self, VN_LAYER_TRAIN) != VN_TRAIN_OFF))
    {
      g_autofree char *able = vn_format_dup_names (VN_FORMAT_TRAIT (packed_matrices));

      g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
                   _("block-method: “hqq” has zero points that are not integers, which the format %s has, without training; set "
                     "block-method to “mse”"), able);
      return recipe_check_name_rule (self, VN_LAYER_BLOCK_METHOD, error);
    }
  if (!self->symmetric_weights || !(hqq || check_has_block_method (self, VN_BLOCK_METHOD_K_QUANT)))
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
               _("block-method: “k-quant” and “hqq” need zero points; set symmetric-weights to false, or block-method to “mse”"));
  return recipe_check_name_rule (self, VN_LAYER_BLOCK_METHOD, error);
}

/* What is done to a network in one go is done in one way: rules only say where. */
static gboolean
check_one_way (const VnRecipe  *self,
               VnLayerSetting   which,
               GError         **error)
{
  int most = vn_recipe_get_most (self, which);
  guint n;
  const VnSetting *settings = vn_setting_list_of_recipe (&n);
  const char * const *ids = vn_setting_find (settings, n, vn_layer_setting_get_id (which), NULL)->choices;

  for (guint i = 0; i <= self->overrides->len; i++)
    {
      const VnOverride *rule = i > 0 ? g_ptr_array_index (self->overrides, i - 1) : NULL;
      int said = rule != NULL ? vn_override_get_layer_setting (rule, which) - 1 : vn_recipe_get_layer_setting (self, which);
      g_autofree char *where = NULL;

      if (said <= 0 || said == most)
        continue;
      where = rule != NULL ? g_strdup_printf (_("rule %u"), i) : g_strdup (_("recipe"));
      g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("%s: %s is “%s”, but “%s” elsewhere; use the same value, or “%s”"), where,
                   vn_layer_setting_get_id (which), ids[said], ids[most], ids[0]);
      return FALSE;
    }
  return TRUE;
}

/* There must be integers to choose from, and what layers read must be known. */
static gboolean
check_rounding (const VnRecipe  *self,
                GError         **error)
{
  g_autofree char *formats = vn_format_dup_names (VN_FORMAT_TRAIT (integer_weights));

  if (vn_recipe_get_most (self, VN_LAYER_ROUNDING) == VN_WEIGHT_ROUNDING_NEAREST ||
      (!self->dynamic && vn_recipe_get_format (self)->integer_weights))
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED,
               _("rounding: “second-order” requires integer weights and static ranges, in the formats %s; choose one "
                 "of these, or “nearest”"), formats);
  return recipe_check_name_rule (self, VN_LAYER_ROUNDING, error);
}

static gboolean
check_range_search (const VnRecipe  *self,
                    GError         **error)
{
  g_autofree char *formats = vn_format_dup_names (VN_FORMAT_TRAIT (integer_weights));

  if (self->range_search == VN_RANGE_SEARCH_OFF || (!self->dynamic && vn_recipe_get_format (self)->integer_weights))
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED,
               _("range-search: “outputs” requires integer weights and static ranges, in the formats %s; choose one "
                 "of these, or “off”"),
               formats);
  return FALSE;
}

static gboolean
check_train (const VnRecipe  *self,
             GError         **error)
{
  g_autofree char *formats = vn_format_dup_names (VN_FORMAT_TRAIT (integer_weights));

  if (!check_one_way (self, VN_LAYER_TRAIN, error))
    return FALSE;
  if (vn_recipe_get_most (self, VN_LAYER_TRAIN) == VN_TRAIN_OFF ||
      (!self->dynamic && vn_recipe_get_format (self)->integer_weights))
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED,
               _("train: training requires integer weights and static ranges, in the formats %s; choose one of these, "
                 "or “off”"), formats);
  return recipe_check_name_rule (self, VN_LAYER_TRAIN, error);
}

/* Factors within weights suit every format; the pairs that give channels back have an axis. */
static gboolean
check_balance (const VnRecipe  *self,
               GError         **error)
{
  g_autofree char *able = NULL;
  int most = vn_recipe_get_most (self, VN_LAYER_BALANCE_CHANNELS);

  if (self->absorb_bias && (!vn_recipe_needs_samples (self) || self->dynamic))
    {
      g_set_error_literal (error, VN_ERROR, VN_ERROR_UNSUPPORTED,
                           _("absorb-bias: bias absorption narrows activation ranges, and this recipe stores none; "
                             "turn it off"));
      return FALSE;
    }
  if (!check_one_way (self, VN_LAYER_BALANCE_CHANNELS, error))
    return FALSE;
  if (most == VN_BALANCE_CHANNELS_OFF)
    return TRUE;
  if (!vn_recipe_may_balance (self))
    {
      g_set_error_literal (error, VN_ERROR, VN_ERROR_UNSUPPORTED,
                           _("balance-channels: channel smoothing is for formats that round weights or activations to "
                             "integers; turn it off"));
      return recipe_check_name_rule (self, VN_LAYER_BALANCE_CHANNELS, error);
    }
  if (most == VN_BALANCE_CHANNELS_FOLDED || (vn_recipe_get_format (self)->has_pairs && !self->npu))
    return TRUE;
  able = vn_format_dup_names (VN_FORMAT_TRAIT (has_pairs));
  g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED,
               _("balance-channels: “restored” is available only in the formats %s, without “npu”; use one of these, "
                 "or “folded”"), able);
  return recipe_check_name_rule (self, VN_LAYER_BALANCE_CHANNELS, error);
}

/* Both take part in what is stored: there must be something. */
static gboolean
check_correction (const VnRecipe  *self,
                  GError         **error)
{
  if (!check_one_way (self, VN_LAYER_BIAS_CORRECTION, error))
    return FALSE;
  if (vn_recipe_get_most (self, VN_LAYER_BIAS_CORRECTION) != VN_BIAS_CORRECTION_OFF &&
      (!vn_recipe_needs_samples (self) || self->dynamic))
    {
      g_autofree char *able = vn_format_dup_names (VN_FORMAT_TRAIT (standard_integers));

      g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED,
                   _("bias-correction: requires static ranges of activations; turn it off, or choose another format: "
                     "%s have such ranges"), able);
      return recipe_check_name_rule (self, VN_LAYER_BIAS_CORRECTION, error);
    }
  if (!self->equalize_activations || self->equalize == VN_EQUALIZE_PPQ)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("equalize-activations: only “ppq” equalization uses activations; "
                                                    "turn it off, or set equalize to “ppq”"));
  return FALSE;
}

/**
 * vn_recipe_validate:
 * @self: a recipe, maybe read from a file
 *
 * Returns: %FALSE with %VN_ERROR_SETTING or %VN_ERROR_UNSUPPORTED if a field holds what cannot be followed
 */
gboolean
vn_recipe_validate (const VnRecipe  *self,
                    GError         **error)
{
  g_return_val_if_fail (self != NULL, FALSE);

  if (!vn_settings_check (vn_setting_list_of_recipe, self, _("recipe"), error) ||
      !vn_format_check_number (self->format, error) ||
      !check_types (self, self->activation, self->weight, _("recipe"), error) ||
      !check_dynamic (self, error) ||
      !check_blocks (self, self->weight, self->block_size, _("recipe"), error) || !check_block_method (self, error) ||
      !check_fuse (self, error) ||
      !check_pairs (self, error) ||
      !check_npu (self, error) || !check_fixed_point (self, error) ||
      !check_correction (self, error) ||
      !check_rounding (self, error) || !check_range_search (self, error) || !check_train (self, error) ||
      !check_balance (self, error))
    return FALSE;

  if (self->method == NULL)
    {
      g_set_error_literal (error, VN_ERROR, VN_ERROR_SETTING, _("recipe: a range method is missing"));
      return FALSE;
    }

  for (guint i = 0; i < self->overrides->len; i++)
    {
      g_autofree char *where = g_strdup_printf (_("rule %u"), i + 1);

      const VnOverride *rule = g_ptr_array_index (self->overrides, i);

      if (!check_override (self, rule, where, error) ||
          !check_blocks (self, rule->weight, rule->block_size != 0 ? rule->block_size : self->block_size, where, error))
        return FALSE;
    }
  return vn_format_check_recipe (self, error);
}
