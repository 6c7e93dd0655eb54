/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The steps of “--auto”: what each changes in a recipe, and where it cannot. */
#include "improve-steps.h"

#include "vn-cure.h"
#include "vn-format-traits.h"
#include "vn-i18n.h"

static gboolean
improve_apply_mixed (VnRecipe      *recipe,
                     const VnGraph *graph)
{
  if (recipe->float_mixed || !vn_recipe_needs_samples (recipe))
    return FALSE;
  return recipe->float_mixed = TRUE;
}

/* ---- the network ---- */

static gboolean
improve_apply_optimized (VnRecipe      *recipe,
                         const VnGraph *graph)
{
  if (recipe->optimize || recipe->ranges != NULL)   /* which name tensors that may be gone then */
    return FALSE;
  return recipe->optimize = TRUE;
}

/* Processors that convert for nothing gain nothing by float. */
static gboolean
improve_may_mix_float (const VnRecipe *recipe)
{
  return vn_format_is (recipe->format, VN_FORMAT_HAS_PAIRS) && vn_recipe_needs_samples (recipe) && !recipe->npu;
}

static gboolean
improve_apply_tails (VnRecipe      *recipe,
                     const VnGraph *graph)
{
  g_autoptr(GPtrArray) tail = NULL;
  VnOverride *rule;

  if (!improve_may_mix_float (recipe) || (tail = vn_improve_list_tail (graph)) == NULL)
    return FALSE;
  for (guint i = 0; i < recipe->overrides->len; i++)
    {
      const VnOverride *other = g_ptr_array_index (recipe->overrides, i);

      if (other->exclude && other->tensors != NULL && g_strv_equal ((const char * const *) other->tensors, (const char * const *) tail->pdata))
        return FALSE;   /* in the second round it is there */
    }
  rule = vn_override_new ();
  rule->tensors = g_strdupv ((char **) tail->pdata);
  rule->exclude = TRUE;
  g_ptr_array_add (recipe->overrides, rule);
  return TRUE;
}

static gboolean
improve_apply_fused (VnRecipe      *recipe,
                     const VnGraph *graph)
{
  g_autoptr(GPtrArray) pairs = NULL;
  guint n_old = recipe->fuse != NULL ? g_strv_length (recipe->fuse) : 0;
  char **fuse;

  if (recipe->npu || !vn_format_is (recipe->format, VN_FORMAT_HAS_FUSED) || !vn_recipe_needs_samples (recipe) ||
      (n_old > 0 && g_strv_contains ((const char * const *) recipe->fuse, "none")))
    return FALSE;
  pairs = vn_improve_list_fusable (graph);
  for (guint i = pairs->len; i-- > 0; )
    if (n_old > 0 && g_strv_contains ((const char * const *) recipe->fuse, g_ptr_array_index (pairs, i)))
      g_ptr_array_remove_index (pairs, i);
  if (pairs->len == 0)
    return FALSE;
  fuse = g_new0 (char *, n_old + pairs->len + 1);
  for (guint i = 0; i < n_old; i++)
    fuse[i] = g_strdup (recipe->fuse[i]);
  for (guint i = 0; i < pairs->len; i++)
    fuse[n_old + i] = g_strdup (g_ptr_array_index (pairs, i));
  g_strfreev (recipe->fuse);
  recipe->fuse = fuse;
  return TRUE;
}

/* ---- formats whose scales are powers of two ---- */

static gboolean
improve_is_power_of_two (const VnRecipe *recipe)
{
  return vn_recipe_get_power_of_two (recipe) != VN_POWER_OF_TWO_OFF && !vn_recipe_has_channels (recipe) && !recipe->dynamic &&
         vn_recipe_needs_samples (recipe);
}

static gboolean
improve_apply_guarded (VnRecipe      *recipe,
                       const VnGraph *graph)
{
  if (recipe->bias_correction != VN_BIAS_CORRECTION_OFF || !improve_is_power_of_two (recipe))
    return FALSE;
  recipe->bias_correction = VN_BIAS_CORRECTION_GUARDED;
  return TRUE;
}

static gboolean
improve_apply_least_noise (VnRecipe      *recipe,
                           const VnGraph *graph)
{
  if (recipe->balance_channels != VN_BALANCE_CHANNELS_OFF || !improve_is_power_of_two (recipe))
    return FALSE;
  recipe->balance_channels = VN_BALANCE_CHANNELS_FOLDED;
  return TRUE;
}

static gboolean
improve_apply_equalize_pairs (VnRecipe      *recipe,
                              const VnGraph *graph)
{
  if (recipe->equalize != VN_EQUALIZE_OFF || recipe->balance_channels != VN_BALANCE_CHANNELS_OFF || !improve_is_power_of_two (recipe))
    return FALSE;
  recipe->equalize = VN_EQUALIZE_AMD;
  return TRUE;
}

static gboolean
improve_apply_absorb (VnRecipe      *recipe,
                      const VnGraph *graph)
{
  if (recipe->absorb_bias || !improve_is_power_of_two (recipe))
    return FALSE;
  return recipe->absorb_bias = TRUE;
}

static gboolean
improve_apply_whole_ranges (VnRecipe      *recipe,
                            const VnGraph *graph)
{
  if (g_strcmp0 (recipe->method, "minmax") == 0 || !improve_is_power_of_two (recipe))
    return FALSE;
  g_free (recipe->method);
  recipe->method = g_strdup ("minmax");
  return TRUE;
}

/* ---- all formats ---- */

static gboolean
improve_apply_folded (VnRecipe      *recipe,
                      const VnGraph *graph)
{
  return vn_cure_change (VN_CURE_FOLDED, recipe);
}

static gboolean
improve_apply_gates (VnRecipe      *recipe,
                     const VnGraph *graph)
{
  return vn_cure_change (VN_CURE_GATES, recipe);
}

static gboolean
improve_set_method (VnRecipe   *recipe,
                    const char *method)
{
  const VnRangeMethod *now = vn_range_method_find (recipe->method, NULL);

  if (!vn_recipe_needs_samples (recipe) || g_strcmp0 (recipe->method, method) == 0 || now == NULL || now->power_of_two)
    return FALSE;
  g_free (recipe->method);
  recipe->method = g_strdup (method);
  return TRUE;
}

static gboolean
improve_apply_mse (VnRecipe      *recipe,
                   const VnGraph *graph)
{
  return improve_set_method (recipe, "mse");
}

static gboolean
improve_apply_best (VnRecipe      *recipe,
                    const VnGraph *graph)
{
  return improve_set_method (recipe, "best");
}

/* Elsewhere it is the preset's choice. */
static gboolean
improve_apply_per_channel (VnRecipe      *recipe,
                           const VnGraph *graph)
{
  if (recipe->per_channel || !recipe->dynamic || !vn_format_is (recipe->format, VN_FORMAT_IS_PRODUCTS))
    return FALSE;
  return recipe->per_channel = TRUE;
}

static gboolean
improve_apply_placement (VnRecipe      *recipe,
                         const VnGraph *graph)
{
  return vn_recipe_apply_placement (recipe);
}

/* Where weights and constants take all factors it is what folding them in was. */
static gboolean
improve_apply_restored (VnRecipe      *recipe,
                        const VnGraph *graph)
{
  if (recipe->balance_channels == VN_BALANCE_CHANNELS_RESTORED || recipe->dynamic || recipe->npu || !vn_recipe_may_balance (recipe) ||
      !vn_format_is (recipe->format, VN_FORMAT_HAS_PAIRS) || improve_is_power_of_two (recipe))
    return FALSE;
  recipe->balance_channels = VN_BALANCE_CHANNELS_RESTORED;
  return TRUE;
}

/* Transformers: products of matrices hold nearly all of the weights, and what lies between them costs little in float. */
static gboolean
improve_has_matrices (const VnGraph *graph)
{
  guint n = 0;

  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (graph->nodes, i);
      const VnValue *weight = vn_node_is (node, "MatMul") ? vn_node_get_input (node, 1) : NULL;

      n += weight != NULL && weight->initializer != NULL;
    }
  return n > 1;
}

static gboolean
improve_apply_matrices (VnRecipe      *recipe,
                        const VnGraph *graph)
{
  static const char * const types[] = { "MatMul", NULL };

  if ((recipe->op_types != NULL && g_strv_equal ((const char * const *) recipe->op_types, types)) || recipe->npu || recipe->dynamic ||
      improve_is_power_of_two (recipe) || vn_recipe_get_target (recipe)->placement == NULL || !vn_format_is (recipe->format, VN_FORMAT_HAS_PAIRS))
    return FALSE;
  g_strfreev (recipe->op_types);
  g_strfreev (recipe->float_output_types);
  recipe->op_types = g_strdupv ((char **) types);
  recipe->float_output_types = g_strdupv ((char **) types);
  return TRUE;
}

static gboolean
improve_apply_matrices_restored (VnRecipe      *recipe,
                                 const VnGraph *graph)
{
  return improve_apply_matrices (recipe, graph) && improve_apply_restored (recipe, graph);
}

static gboolean
improve_apply_channels (VnRecipe      *recipe,
                        const VnGraph *graph)
{
  return vn_cure_change (VN_CURE_DEPTHWISE, recipe);
}

static gboolean
improve_apply_sixteen (VnRecipe      *recipe,
                       const VnGraph *graph)
{
  if (!vn_cure_can_widen (recipe) || vn_cure_widen (recipe->activation) == VN_DTYPE_UNDEFINED)
    return FALSE;
  recipe->activation = vn_cure_widen (recipe->activation);
  return TRUE;
}

static gboolean
improve_apply_equalize (VnRecipe      *recipe,
                        const VnGraph *graph)
{
  return !improve_is_power_of_two (recipe) && vn_cure_change (VN_CURE_EQUALIZE, recipe);
}

static gboolean
improve_apply_balance (VnRecipe      *recipe,
                       const VnGraph *graph)
{
  if (recipe->balance_channels != VN_BALANCE_CHANNELS_OFF || improve_is_power_of_two (recipe) || !vn_recipe_may_balance (recipe) ||
      !(recipe->dynamic || vn_format_is (recipe->format, VN_FORMAT_HAS_PAIRS)))
    return FALSE;
  recipe->balance_channels = VN_BALANCE_CHANNELS_FOLDED;
  return TRUE;
}

static gboolean
improve_apply_ranges (VnRecipe      *recipe,
                      const VnGraph *graph)
{
  if (recipe->range_search != VN_RANGE_SEARCH_OFF || !vn_recipe_needs_samples (recipe))
    return FALSE;
  recipe->range_search = VN_RANGE_SEARCH_OUTPUTS;
  return TRUE;
}

static gboolean
improve_apply_biases (VnRecipe      *recipe,
                      const VnGraph *graph)
{
  return vn_cure_change (VN_CURE_BIAS_CORRECTION, recipe);
}

static gboolean
improve_apply_second_order (VnRecipe      *recipe,
                            const VnGraph *graph)
{
  return vn_cure_change (VN_CURE_SECOND_ORDER, recipe);
}

static gboolean
improve_apply_train (VnRecipe      *recipe,
                     const VnGraph *graph)
{
  if (vn_recipe_get_most (recipe, VN_LAYER_TRAIN) != VN_TRAIN_OFF || !vn_recipe_needs_samples (recipe))
    return FALSE;
  recipe->train = VN_TRAIN_ADAQUANT_THRESHOLDS;
  return TRUE;
}

/* ---- where the error starts ---- */

static gboolean
improve_has_sixteen (const VnRecipe *recipe)
{
  return (vn_recipe_get_target (recipe)->traits & VN_TARGET_HAS_SIXTEEN) != 0;
}

/* Processors that compute 16 bit on integers need not go to float for it, which may cost them anything. */
static gboolean
improve_apply_float_origins (VnRecipe      *recipe,
                             const VnGraph *graph)
{
  return !improve_has_sixteen (recipe) && improve_may_mix_float (recipe);
}

static gboolean
improve_apply_whole_origins (VnRecipe      *recipe,
                             const VnGraph *graph)
{
  return g_strcmp0 (recipe->method, "minmax") != 0 && improve_is_power_of_two (recipe);
}

static void
improve_add_whole (VnRecipe       *recipe,
                   const VnGraph  *graph,
                   char          **tensors)
{
  VnOverride *rule = vn_override_new ();

  rule->tensors = g_strdupv (tensors);
  rule->method = g_strdup ("minmax");
  g_ptr_array_add (recipe->overrides, rule);
}

static void
improve_add_float (VnRecipe       *recipe,
                   const VnGraph  *graph,
                   char          **tensors)
{
  VnOverride *rule = vn_override_new ();

  rule->tensors = g_strdupv (tensors);
  rule->exclude = TRUE;
  g_ptr_array_add (recipe->overrides, rule);
}

/* Only where 16 bit are computed on integers, too: elsewhere float is as good and costs no more. */
static gboolean
improve_apply_wide_origins (VnRecipe      *recipe,
                            const VnGraph *graph)
{
  return improve_has_sixteen (recipe) && vn_cure_can_widen (recipe) &&
         vn_cure_widen (recipe->activation) != VN_DTYPE_UNDEFINED;
}

static void
improve_add_wide (VnRecipe       *recipe,
                  const VnGraph  *graph,
                  char          **tensors)
{
  g_autoptr(GPtrArray) values = g_ptr_array_new ();

  for (; *tensors != NULL; tensors++)
    if (vn_graph_find_value (graph, *tensors) != NULL)
      g_ptr_array_add (values, vn_graph_find_value (graph, *tensors));
  if (values->len > 0)
    vn_cure_add_wide_region (recipe, vn_cure_widen (recipe->activation), values);
}

static const VnImproveStep improve_steps[] = {
#define VN_IMPROVE_STEP(id, kind, least_gain, add, suits, title) { #id, title, VN_IMPROVE_##kind, least_gain, improve_apply_##id, add, suits },
#include "vn-improve-steps.def"
#undef VN_IMPROVE_STEP
};

/**
 * vn_improve_step_list:
 *
 * Returns: (array length=n): all steps, in the order in which they are tried
 */
const VnImproveStep *
vn_improve_step_list (guint *n)
{
  g_return_val_if_fail (n != NULL, NULL);

  *n = G_N_ELEMENTS (improve_steps);
  return improve_steps;
}
