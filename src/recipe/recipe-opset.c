/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The opset of ai.onnx that a recipe needs, and what one that it names stands against. */

#include "vn-quant-scheme.h"
#include "vn-recipe-rules.h"

#include "vn-encodings.h"
#include "vn-i18n.h"

/* Opset that has @dtype in QuantizeLinear. */
static gint64
recipe_opset_of_type (VnDType dtype)
{
  if (dtype == VN_DTYPE_F8E4M3 || dtype == VN_DTYPE_F8E5M2)
    return 19;
  return dtype != VN_DTYPE_UNDEFINED && vn_dtype_get_bits (dtype) != 8 ? 21 : 10;
}

/* ONNX Runtime quantizes biases of float convolutions that stand between quantized tensors by itself, with Round, which
 * came with opset 11; it does not look whether the model has that. */
static gboolean
recipe_opset_may_leave_biases (const VnRecipe *self)
{
  if ((self->bias != VN_BIAS_AUTO && self->bias != VN_BIAS_S32) ||
      self->op_types != NULL || self->only_nodes != NULL || self->input_nodes != NULL || self->output_nodes != NULL ||
      self->float_inputs != NULL || self->float_outputs != NULL || self->float_output_types != NULL ||
      self->constant_matmul_only || !self->quantize_bias)
    return TRUE;
  for (guint i = 0; i < self->overrides->len; i++)
    {
      const VnOverride *rule = g_ptr_array_index (self->overrides, i);

      if (rule->enabled && (rule->exclude || rule->float_results))
        return TRUE;
    }
  return FALSE;
}

static gboolean
recipe_opset_needs_channels (const VnRecipe *self)
{
  for (guint i = 0; i < self->overrides->len; i++)
    {
      const VnOverride *rule = g_ptr_array_index (self->overrides, i);

      if (rule->enabled && (rule->per_channel == VN_YES || rule->axis != VN_AXIS_AS_RECIPE))
        return TRUE;
    }
  return vn_recipe_has_channels (self);
}

/* Operators of a vendor's domain without their meaning; the functions that say it are written for a later opset. */
static gboolean
recipe_opset_is_vendors (const VnRecipe *self)
{
  return vn_recipe_get_format (self)->extends_standard && self->vendor_domain != VN_VENDOR_NONE;
}

/**
 * vn_recipe_get_least_opset:
 *
 * Returns: the opset that the operators need which are written, whatever the types: DynamicQuantizeLinear, scales per channel
 *   of QuantizeLinear
 */
gint64
vn_recipe_get_least_opset (const VnRecipe *self)
{
  const VnFormatTraits *format;

  g_return_val_if_fail (self != NULL, 0);

  format = vn_recipe_get_format (self);
  if (self->dynamic)
    return 11;
  if (format->integer_products)
    return format->opset;
  return MAX (recipe_opset_needs_channels (self) ? 13 : 10, recipe_opset_is_vendors (self)
              ? format->vendor_opset : format->opset);
}

/* Whether a table cannot be read is said when it is used. */
static gint64
recipe_opset_of_given (const VnRecipe *self)
{
  g_autoptr(VnEncodingTable) table = self->ranges != NULL ? vn_encoding_table_load_all (self->ranges, NULL) : NULL;
  gint64 opset = 10;

  for (guint i = 0; table != NULL && i < vn_encoding_table_get_n (table); i++)
    {
      const VnEncoding *imported = vn_encoding_table_get (table, vn_encoding_table_get_name (table, i));

      opset = MAX (opset, MAX (recipe_opset_of_type (imported->dtype), imported->n > 0 ? 13 : 10));
    }
  return opset;
}

static gint64
recipe_opset_of_types (const VnRecipe *self)
{
  const VnFormatTraits *format = vn_recipe_get_format (self);
  gboolean weights_only = format->weights_only;
  gint64 opset = recipe_opset_of_type (self->weight);

  if (format->packed_matrices || !format->has_scales)
    return 10;
  if (!weights_only)
    opset = MAX (opset, recipe_opset_of_type (self->activation));
  if (vn_recipe_has_blocks (self))
    opset = MAX (opset, 21);

  if (self->bias == VN_BIAS_S16)
    opset = MAX (opset, 21);
  if (self->bias == VN_BIAS_BF16)   /* Cast has it since then */
    opset = MAX (opset, 13);

  for (guint i = 0; i < self->overrides->len; i++)
    {
      const VnOverride *rule = g_ptr_array_index (self->overrides, i);

      if (rule->enabled && !rule->exclude)
        opset = MAX (opset, MAX (weights_only ? 10 : MAX (recipe_opset_of_type (rule->activation),
                                                          recipe_opset_of_type (rule->convert)),
                                 recipe_opset_of_type (rule->weight)));
    }
  return opset;
}

/**
 * vn_recipe_get_needed_opset:
 *
 * QuantizeLinear exists since opset 10, has scales per channel since 13, floats of 8 bit since 19, and 16 and 4 bit
 * integers since 21. Networks that are quantized in part need 11 to be loaded by ONNX Runtime. Where AMD's operators are
 * written alone, the types are theirs.
 *
 * Returns: the version of ai.onnx that the result needs, or the one that the recipe names if that is later
 */
gint64
vn_recipe_get_needed_opset (const VnRecipe *self)
{
  gint64 opset;

  g_return_val_if_fail (self != NULL, 0);

  opset = MAX (vn_recipe_get_least_opset (self), self->opset);
  if (recipe_opset_may_leave_biases (self))
    opset = MAX (opset, 11);
  if (vn_recipe_get_format (self)->weights_only && self->float_type == VN_FLOAT_TYPE_BFLOAT16)   /* Cast has it since then */
    opset = MAX (opset, 13);
  if (!vn_recipe_get_format (self)->power_of_two_scales && !recipe_opset_is_vendors (self))
    opset = MAX (opset, MAX (recipe_opset_of_types (self), recipe_opset_of_given (self)));
  return opset;
}

/**
 * vn_recipe_note_one_scale:
 * @notes: (nullable): receives "one-scale"
 *
 * Says why weights have one scale each where the recipe asks for one per channel.
 */
void
vn_recipe_note_one_scale (const VnRecipe *self,
                          VnNotes        *notes)
{
  g_return_if_fail (self != NULL);

  if (notes == NULL || !self->per_channel || vn_recipe_has_channels (self))
    return;
  if (self->npu)
    vn_notes_add (notes, VN_NOTE_INFO, "one-scale", "per-channel",
                  _("Weights are quantized per tensor, not per channel: with “npu”, the NPU can only shift"));
  else if (vn_recipe_get_format (self)->power_of_two_scales)
    vn_notes_add (notes, VN_NOTE_INFO, "one-scale", "per-channel",
                  _("Weights are quantized per tensor, not per channel: the format “%s” does not support per-channel scales"),
                  vn_recipe_get_format (self)->id);
  else if (self->opset > 0 && self->opset < 13)
    vn_notes_add (notes, VN_NOTE_WARNING, "one-scale", "per-channel",
                  _("Weights are quantized per tensor, not per channel: the target opset is %lld, but per-channel "
                    "scales need 13"),
                  (long long) self->opset);
}
