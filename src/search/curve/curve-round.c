/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Weights that were rounded for one type suit no other: where the recipe asks for second-order rounding, both types have weights
 * of their own, and each choice is made of them. */
#include "curve-job-private.h"

/*< private >
 * _vn_curve_job_round_other:
 * @other: the recipe with the other type of weights
 *
 * Finds the weights of the other type, unless they are rounded to the nearest.
 */
gboolean
_vn_curve_job_round_other (VnCurveJob      *self,
                           const VnRecipe  *other,
                           GCancellable    *cancellable,
                           GError         **error)
{
  VnImproveBench *bench = self->bench;
  VnModel *own = g_steal_pointer (&bench->rounded);
  gboolean good = own == NULL || vn_improve_bench_round (bench, other, cancellable, error);

  self->other_rounded = g_steal_pointer (&bench->rounded);
  bench->rounded = own;
  return good;
}

/* Names of the weights that @recipe gives the other type. */
static GHashTable *
curve_round_list_others (VnCurveJob     *self,
                         const VnRecipe *recipe)
{
  GHashTable *names = g_hash_table_new (g_str_hash, g_str_equal);
  VnDType other = vn_curve_get_other_weight (self->settings.quantize.recipe);
  guint own = self->settings.quantize.recipe->overrides->len;

  for (guint i = own; i < recipe->overrides->len; i++)
    {
      const VnOverride *rule = g_ptr_array_index (recipe->overrides, i);

      for (guint k = 0; rule->weight == other && rule->tensors != NULL && rule->tensors[k] != NULL; k++)
        g_hash_table_add (names, rule->tensors[k]);
    }
  return names;
}

/* The weights that @recipe gets. */
static VnModel *
curve_round_join (VnCurveJob     *self,
                  const VnRecipe *recipe)
{
  g_autoptr(GHashTable) names = curve_round_list_others (self, recipe);
  VnModel *both = vn_model_copy (self->plain->rounded);

  for (guint i = 0; i < both->graph->values->len; i++)
    {
      VnValue *value = g_ptr_array_index (both->graph->values, i);
      const VnValue *other = g_hash_table_lookup (self->other_rounded->graph->by_name, value->name);

      if (value->initializer != NULL && other != NULL && other->initializer != NULL && g_hash_table_contains (names, value->name))
        vn_graph_set_initializer (both->graph, value, other->initializer);
    }
  return both;
}

/*< private >
 * _vn_curve_job_forecast:
 *
 * vn_improve_bench_forecast() with the weights that @recipe gets.
 */
gboolean
_vn_curve_job_forecast (VnCurveJob      *self,
                        const VnRecipe  *recipe,
                        VnImproveTrial  *trial,
                        GError         **error)
{
  if (self->other_rounded != NULL)
    {
      g_clear_pointer (&self->bench->rounded, vn_model_unref);
      self->bench->rounded = curve_round_join (self, recipe);
    }
  return vn_improve_bench_forecast (self->bench, recipe, trial, error);
}
