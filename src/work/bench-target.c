/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The targets of a bench: changing to another, and what each does to the network that is open. */
#include "bench-private.h"

#include "vn-i18n.h"

/* What is calculated of other targets than the present one takes time and memory with large networks. */
#define MOST_BYTES ((gsize) 64 << 20)

/**
 * vn_bench_dup_target_recipe:
 * @preset: id of a target
 *
 * Returns: (transfer full): what the recipe becomes with that target: rules for single nodes stay, and whether it is about graphs
 *   inside nodes
 */
VnRecipe *
vn_bench_dup_target_recipe (VnBench    *self,
                            const char *preset)
{
  VnRecipe *recipe;

  g_return_val_if_fail (VN_IS_BENCH (self) && preset != NULL, NULL);

  if (g_strcmp0 (preset, self->recipe->preset) == 0)
    return vn_recipe_copy (self->recipe);
  recipe = vn_recipe_new (preset);
  recipe->subgraphs = self->recipe->subgraphs;
  for (guint i = 0; i < self->recipe->overrides->len; i++)
    g_ptr_array_add (recipe->overrides, vn_override_copy (g_ptr_array_index (self->recipe->overrides, i)));
  return recipe;
}

/**
 * vn_bench_set_target:
 * @preset: (transfer none): of the list of presets
 */
void
vn_bench_set_target (VnBench        *self,
                     const VnPreset *preset)
{
  g_autofree char *title = NULL;

  g_return_if_fail (VN_IS_BENCH (self) && preset != NULL);

  if (g_str_equal (preset->id, self->recipe->preset))
    return;
  title = g_strdup_printf (_("Target %s"), _(preset->title));
  vn_bench_edit_recipe (self, vn_bench_dup_target_recipe (self, preset->id), title);
}

/**
 * vn_bench_tells_of_target:
 * @preset: (nullable): id of a target; %NULL: the present one
 *
 * Returns: whether what it does to the network that is open is calculated: of large ones only for the present target
 */
gboolean
vn_bench_tells_of_target (VnBench    *self,
                          const char *preset)
{
  const VnModel *model;

  g_return_val_if_fail (VN_IS_BENCH (self), FALSE);

  model = self->subject->model;
  return model != NULL && (preset == NULL || g_str_equal (preset, self->recipe->preset) || model->file_size <= MOST_BYTES);
}

/**
 * vn_bench_find_coverage:
 * @preset: (nullable): id of a target; %NULL: the present one
 * @coverage: (out) (nullable): borrowed, until something changes; %NULL: it is not known
 * @reason: (out) (nullable): borrowed: why it is not: what a run would fail with; %NULL: it is being calculated, and there will
 *   be “changed::coverage”, or nothing is open, or it is a target that is not told of
 *
 * Tells what the target does to the network that is open.
 */
void
vn_bench_find_coverage (VnBench           *self,
                        const char        *preset,
                        const VnCoverage **coverage,
                        const char       **reason)
{
  g_autoptr(VnRecipe) recipe = NULL;
  const VnCoverageAnswer *answer;

  g_return_if_fail (VN_IS_BENCH (self) && coverage != NULL && reason != NULL);

  *coverage = NULL;
  *reason = NULL;
  if (!vn_bench_tells_of_target (self, preset))
    return;
  recipe = preset != NULL ? vn_bench_dup_target_recipe (self, preset) : vn_recipe_copy (self->recipe);
  vn_coverages_set_model (self->coverages, self->subject->model, self->subject->input_shapes);
  answer = vn_coverages_find (self->coverages, recipe);
  *coverage = answer->coverage;
  *reason = answer->reason;
}
