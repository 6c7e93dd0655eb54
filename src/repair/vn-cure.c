/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the cures of vn-cures.def change in a recipe: settings, or rules about the tensor and the nodes around it. */
#include "vn-cure.h"

#include "cure-region.h"

#include "vn-quant-scheme.h"
#include "vn-recipe-change.h"

#include <math.h>

/* Of what values a range leaves out. */
#define CURE_PERCENTILE 99.99

/* What is to be cured. */
typedef struct
{
  VnRun              *result;
  const VnFinding    *finding;
  const VnValue      *value;      /* nullable: of the run there is none */
  const VnTensorPlan *plan;       /* nullable */
} Case;

typedef gboolean (*Apply) (VnRecipe *recipe, const Case *on);

/* ---- rules ---- */

static char **
cure_new_list (const char *text)
{
  char **list = g_new0 (char *, 2);

  list[0] = g_strdup (text);
  return list;
}

/* What a clamp reads, which would get a range of its own where a rule gives one to what the clamp writes. */
static const VnValue *
cure_find_clamped (const Case *on)
{
  const VnNode *clamp = on->value->producer;
  const VnValue *input = clamp != NULL && (vn_node_is (clamp, "Relu") || vn_node_is (clamp, "Clip"))
                         ? vn_node_get_input (clamp, 0) : NULL;

  return input != NULL && input->uses->len == 1 && !input->is_output ? input : NULL;
}

/* About the tensor that the parameters are those of; what rules said about it before is replaced, as the last one holds. */
static VnOverride *
cure_add_rule (VnRecipe   *recipe,
               const Case *on)
{
  VnOverride *rule = vn_override_new ();
  const VnValue *clamped = cure_find_clamped (on);

  rule->tensors = g_new0 (char *, 3);
  rule->tensors[0] = g_strdup (on->plan->shares != NULL ? on->plan->shares : on->plan->name);
  rule->tensors[1] = clamped != NULL ? g_strdup (clamped->name) : NULL;
  vn_recipe_take_rule (recipe, rule);
  return rule;
}

static gboolean
cure_set_range (VnRecipe      *recipe,
                const Case    *on,
                const VnRange *range)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  VnOverride *rule = cure_add_rule (recipe, on);

  rule->min = cure_new_list (g_ascii_dtostr (text, sizeof text, range->min));
  rule->max = cure_new_list (g_ascii_dtostr (text, sizeof text, range->max));
  if (range->min >= 0)
    rule->symmetric = VN_NO;
  return TRUE;
}

static gboolean
cure_is_activation (const Case *on)
{
  return on->plan != NULL && on->plan->role == VN_TENSOR_ACTIVATION;
}

static gboolean
cure_is_weight (const Case *on)
{
  return on->plan != NULL && on->plan->role == VN_TENSOR_WEIGHT;
}

static gboolean
cure_set_method (VnRecipe   *recipe,
                 const Case *on,
                 const char *method,
                 double      percentile)
{
  g_autofree char *of_weights = g_strconcat ("weight-method=", method, NULL);
  const VnRecipeChange change = { VN_RECIPE_FREE_SCALES, 0, NULL, of_weights };
  VnOverride *rule;

  if (cure_is_weight (on))
    return percentile == 0 && vn_recipe_change (recipe, &change);
  if (!vn_recipe_suits_change (recipe, &change) || !cure_is_activation (on) ||
      (percentile == 0 && g_str_equal (on->plan->method != NULL ? on->plan->method : "", method)))
    return FALSE;
  rule = cure_add_rule (recipe, on);
  rule->method = g_strdup (method);
  rule->percentile = percentile;
  return TRUE;
}

/* ---- the cures ---- */

static gboolean
cure_apply_per_channel (VnRecipe   *recipe,
                        const Case *on)
{
  return cure_is_weight (on) && vn_cure_change (VN_CURE_PER_CHANNEL, recipe);
}

static gboolean
cure_apply_folded (VnRecipe   *recipe,
                   const Case *on)
{
  return on->value != NULL && vn_cure_change (VN_CURE_FOLDED, recipe);
}

static gboolean
cure_apply_depthwise (VnRecipe   *recipe,
                      const Case *on)
{
  return on->value != NULL && vn_cure_change (VN_CURE_DEPTHWISE, recipe);
}

/* Also where branches are added up: one finding more or less decides about them. */
static gboolean
cure_apply_equalize (VnRecipe   *recipe,
                     const Case *on)
{
  if (on->value == NULL || !vn_cure_change (VN_CURE_EQUALIZE, recipe))
    return FALSE;
  vn_recipe_apply_settings (recipe, "equalize-level=2");
  return TRUE;
}

static gboolean
cure_apply_balance (VnRecipe   *recipe,
                    const Case *on)
{
  return on->value != NULL && vn_cure_change (VN_CURE_BALANCE, recipe);
}

static gboolean
cure_apply_seen_range (VnRecipe   *recipe,
                       const Case *on)
{
  const VnHistogram *histogram = cure_is_activation (on) ? vn_stats_get (on->result->stats, on->value->name) : NULL;

  return histogram != NULL && histogram->min < histogram->max &&
         cure_set_range (recipe, on, &(VnRange) { MIN ((double) histogram->min, 0), MAX ((double) histogram->max, 0) });
}

static gboolean
cure_apply_live_range (VnRecipe   *recipe,
                       const Case *on)
{
  VnRange range;

  return on->plan != NULL && on->plan->axis < 0 && vn_diagnose_live_range (on->result, on->value->name, &range) &&
         cure_set_range (recipe, on, &range);
}

static gboolean
cure_apply_percentile (VnRecipe   *recipe,
                       const Case *on)
{
  return cure_set_method (recipe, on, "percentile", CURE_PERCENTILE);
}

static gboolean
cure_apply_mse (VnRecipe   *recipe,
                const Case *on)
{
  return cure_set_method (recipe, on, "mse", 0);
}

static gboolean
cure_apply_gates (VnRecipe   *recipe,
                  const Case *on)
{
  return cure_is_activation (on) && vn_cure_change (VN_CURE_GATES, recipe);
}

static gboolean
cure_apply_eight_bits (VnRecipe   *recipe,
                       const Case *on)
{
  VnQuantScheme scheme;
  VnDType *type;
  VnOverride *rule;

  if (on->plan == NULL || !vn_dtype_is_integer (on->plan->dtype))
    return FALSE;
  vn_quant_scheme_init (&scheme, recipe);
  rule = cure_add_rule (recipe, on);
  type = cure_is_activation (on) ? &rule->activation : &rule->weight;
  *type = cure_is_activation (on) ? scheme.activations.dtype : scheme.weights.dtype;
  if (vn_dtype_get_bits (*type) < 8)
    *type = cure_is_activation (on) ? VN_DTYPE_U8 : VN_DTYPE_S8;
  return TRUE;
}

static gboolean
cure_apply_sixteen_bits (VnRecipe   *recipe,
                         const Case *on)
{
  g_autoptr(GPtrArray) values = g_ptr_array_new ();

  if (!cure_is_activation (on) || !vn_cure_can_widen (recipe) || vn_cure_widen (on->plan->dtype) == VN_DTYPE_UNDEFINED)
    return FALSE;
  g_ptr_array_add (values, (gpointer) on->value);
  vn_cure_add_wide_region (recipe, vn_cure_widen (on->plan->dtype), values);
  return TRUE;
}

static gboolean
cure_apply_second_order (VnRecipe   *recipe,
                         const Case *on)
{
  return on->value != NULL && vn_cure_change (VN_CURE_SECOND_ORDER, recipe);
}

static gboolean
cure_apply_bias_correction (VnRecipe   *recipe,
                            const Case *on)
{
  return on->value != NULL && vn_cure_change (VN_CURE_BIAS_CORRECTION, recipe);
}

static gboolean
cure_apply_bias_room (VnRecipe   *recipe,
                      const Case *on)
{
  return on->value != NULL && vn_cure_change (VN_CURE_BIAS_ROOM, recipe);
}

static gboolean
cure_apply_float_bias (VnRecipe   *recipe,
                       const Case *on)
{
  return on->value != NULL && vn_cure_change (VN_CURE_FLOAT_BIAS, recipe);
}

static gboolean
cure_apply_float_output (VnRecipe   *recipe,
                         const Case *on)
{
  if (on->value == NULL || !on->value->is_output)
    return FALSE;
  vn_recipe_append (recipe, "float-outputs", (const char *[]) { on->value->name, NULL });
  return TRUE;
}

/* What a weight suffers from may be what it multiplies: then that suffers, too. */
static const VnValue *
cure_find_centre (const Case *on)
{
  const VnNode *reader = cure_is_weight (on) && on->value->uses->len > 0 ? g_array_index (on->value->uses, VnUse, 0).node : NULL;
  const VnValue *input = reader != NULL ? vn_node_get_input (reader, 0) : NULL;

  return input != NULL && !vn_value_is_constant (input) &&
         (on->finding->reason == VN_REASON_CHANNEL_SPREAD || on->finding->reason == VN_REASON_WASTED_RANGE) ? input : on->value;
}

static gboolean
cure_apply_float_region (VnRecipe   *recipe,
                         const Case *on)
{
  g_autoptr(GPtrArray) nodes = on->value != NULL ? _vn_cure_list_nodes (cure_find_centre (on)) : NULL;

  for (guint i = 0; nodes != NULL && i < nodes->len; i++)
    {
      g_autofree char *label = vn_node_dup_label (g_ptr_array_index (nodes, i));

      vn_recipe_add_exclude (recipe, label);
    }
  return nodes != NULL && nodes->len > 0;
}

#define CURE_RECIPE(function) cure_apply_##function
#define CURE_SAMPLES(function) NULL
#define CURE_NOTHING(function) NULL

static const Apply apply[VN_N_CURES] = {
#define VN_CURE(SYMBOL, function, id, kind, place, title) CURE_##kind (function),
#include "vn-cures.def"
#undef VN_CURE
};

/* A bias that several layers share has a row under another name in the plan. */
static const VnValue *
cure_find_value (VnRun           *result,
                 const VnFinding *finding)
{
  const VnGraph *graph = result->prepared->graph;
  const VnValue *value = *finding->tensor != '\0' ? vn_graph_find_value (graph, finding->tensor) : NULL;
  const VnNode *node = value == NULL && *finding->tensor != '\0' ? vn_graph_find_node (graph, finding->node) : NULL;

  return node != NULL ? vn_node_get_input (node, 2) : value;
}

/**
 * vn_cure_apply:
 * @recipe: changed; after %FALSE it is not to be used any more
 * @result: of the recipe as it was
 * @finding: of @result: where it is needed
 *
 * Returns: whether there was something to change; never for a result without its networks, as a project keeps it
 */
gboolean
vn_cure_apply (VnCure           self,
               VnRecipe        *recipe,
               VnRun           *result,
               const VnFinding *finding)
{
  Case on = { .result = result, .finding = finding };
  gboolean suited;

  g_return_val_if_fail (self < VN_N_CURES && recipe != NULL && result != NULL && finding != NULL, FALSE);

  if (result->prepared == NULL || (finding->unfit >> self & 1))
    return FALSE;
  on.value = cure_find_value (result, finding);
  on.plan = *finding->tensor != '\0' ? vn_quant_plan_find (result->plan, finding->tensor) : NULL;
  suited = vn_recipe_suits_target (recipe, NULL);
  return apply[self] != NULL && (*finding->tensor == '\0' || (on.value != NULL && on.plan != NULL)) &&
         apply[self] (recipe, &on) &&
         vn_recipe_validate (recipe, NULL) && (!suited || vn_recipe_suits_target (recipe, NULL));
}
