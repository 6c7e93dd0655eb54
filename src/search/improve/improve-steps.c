/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The steps of “--auto”: what those change in a recipe that no line of settings says. */
#include "improve-steps.h"

#include "vn-cure.h"
#include "vn-i18n.h"

/* ---- what is looked for in the network ---- */

static gboolean
improve_leave_tails (VnRecipe      *recipe,
                     const VnGraph *graph)
{
  g_autoptr(GPtrArray) tail = vn_improve_list_tail (graph);
  VnOverride *rule;

  if (tail == NULL || vn_recipe_excludes_tensors (recipe, (const char * const *) tail->pdata))   /* in the second round it does */
    return FALSE;
  rule = vn_override_new ();
  rule->tensors = g_strdupv ((char **) tail->pdata);
  rule->exclude = TRUE;
  vn_recipe_take_rule (recipe, rule);
  return TRUE;
}

static gboolean
improve_fuse (VnRecipe      *recipe,
              const VnGraph *graph)
{
  g_autoptr(GPtrArray) pairs = vn_improve_list_fusable (graph);

  g_ptr_array_add (pairs, NULL);
  return vn_recipe_append (recipe, "fuse", (const char * const *) pairs->pdata);
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

/* ---- what repairs do, too ---- */

static gboolean
improve_place (VnRecipe      *recipe,
               const VnGraph *graph)
{
  return vn_recipe_apply_placement (recipe);
}

static gboolean
improve_round (VnRecipe      *recipe,
               const VnGraph *graph)
{
  return vn_cure_change (VN_CURE_SECOND_ORDER, recipe);
}

static gboolean
improve_fold_scales (VnRecipe      *recipe,
                     const VnGraph *graph)
{
  return vn_cure_change (VN_CURE_FOLDED, recipe);
}

static gboolean
improve_scale_channels (VnRecipe      *recipe,
                        const VnGraph *graph)
{
  return vn_cure_change (VN_CURE_DEPTHWISE, recipe);
}

static gboolean
improve_limit_gates (VnRecipe      *recipe,
                     const VnGraph *graph)
{
  return vn_cure_change (VN_CURE_GATES, recipe);
}

static gboolean
improve_equalize (VnRecipe      *recipe,
                  const VnGraph *graph)
{
  return vn_cure_change (VN_CURE_EQUALIZE, recipe);
}

static gboolean
improve_correct (VnRecipe      *recipe,
                 const VnGraph *graph)
{
  return vn_cure_change (VN_CURE_BIAS_CORRECTION, recipe);
}

static gboolean
improve_widen (VnRecipe      *recipe,
               const VnGraph *graph)
{
  VnDType wide = vn_cure_get_wide_type (recipe);

  return wide != VN_DTYPE_UNDEFINED && vn_recipe_set (recipe, "activation", vn_dtype_get_name (wide), NULL);
}

/* Where weights and constants take all factors it is what folding them in was. */
static gboolean
improve_restore (VnRecipe      *recipe,
                 const VnGraph *graph)
{
  static const VnRecipeChange change = {
    VN_RECIPE_FOLDS_FACTORS | VN_RECIPE_HAS_PAIRS, VN_RECIPE_DYNAMIC | VN_RECIPE_NPU | VN_RECIPE_SHIFTS, NULL,
    "balance-channels=restored",
  };

  return vn_recipe_change (recipe, &change);
}

/* ---- where the error starts ---- */

static gboolean
improve_clips (VnRecipe      *recipe,
               const VnGraph *graph)
{
  static const VnRecipeChange whole = { .settings = "method=minmax" };
  g_autoptr(VnRecipe) copy = vn_recipe_copy (recipe);

  return vn_recipe_change (copy, &whole);
}

static void
improve_add_whole (VnRecipe       *recipe,
                   const VnGraph  *graph,
                   char          **tensors)
{
  VnOverride *rule = vn_override_new ();

  rule->tensors = g_strdupv (tensors);
  rule->method = g_strdup ("minmax");
  vn_recipe_take_rule (recipe, rule);
}

/* Processors that compute 16 bit on integers need not go to float for it, which may cost them anything; those that convert for
 * nothing gain nothing by it. */
static void
improve_add_float (VnRecipe       *recipe,
                   const VnGraph  *graph,
                   char          **tensors)
{
  VnOverride *rule = vn_override_new ();

  rule->tensors = g_strdupv (tensors);
  rule->exclude = TRUE;
  vn_recipe_take_rule (recipe, rule);
}

/* Only where 16 bit are computed on integers, too: elsewhere float is as good and costs no more. */
static gboolean
improve_can_widen (VnRecipe      *recipe,
                   const VnGraph *graph)
{
  return vn_cure_get_wide_type (recipe) != VN_DTYPE_UNDEFINED;
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
    vn_cure_add_wide_region (recipe, vn_cure_get_wide_type (recipe), values);
}

/* ---- all ---- */

static const VnImproveStep improve_steps[] = {
#define VN_IMPROVE_STEP(id, kind, least_gain, title, ...) { #id, title, VN_IMPROVE_##kind, least_gain, __VA_ARGS__ },
#include "vn-improve-steps.def"
#undef VN_IMPROVE_STEP
};

/**
 * vn_improve_step_apply:
 * @recipe: changed, as far as one step does
 * @graph: the float network, as it is prepared for quantizing
 *
 * Returns: whether there was something to change; of %VN_IMPROVE_ORIGINS: whether the step can be tried
 */
gboolean
vn_improve_step_apply (const VnImproveStep *self,
                       VnRecipe            *recipe,
                       const VnGraph       *graph)
{
  g_return_val_if_fail (self != NULL && recipe != NULL && graph != NULL, FALSE);

  if (self->change.settings != NULL ? !vn_recipe_change (recipe, &self->change) : !vn_recipe_suits_change (recipe, &self->change))
    return FALSE;
  return self->apply == NULL || self->apply (recipe, graph);
}

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
