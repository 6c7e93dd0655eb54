/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where few samples are held out, chance says how large the error on them is. So all are measured: those calibrated with in
 * parts, each by a network that is quantized in the same way from the others (cross-validation: Stone 1974). What else is learned
 * from samples than ranges takes too long to be learned again for each part: such a network is measured on the samples held out
 * alone. */
#include "quantize-folds.h"

#include "vn-format-traits.h"
#include "vn-sample-overlap.h"
#include "vn-model-data.h"

#define MOST_PARTS 4u
#define MOST_WEIGHTS ((gsize) 256 << 20)   /* bytes: each part has a network of its own */

/* Nothing but ranges comes from samples. */
static gboolean
folds_learn_ranges_only (const VnRecipe *recipe)
{
  return vn_recipe_uses_samples (recipe) && !vn_job_wants_balance (recipe) && recipe->range_search == VN_RANGE_SEARCH_OFF &&
         vn_recipe_get_most (recipe, VN_LAYER_BIAS_CORRECTION) == VN_BIAS_CORRECTION_OFF &&
         vn_recipe_get_most (recipe, VN_LAYER_ROUNDING) == VN_WEIGHT_ROUNDING_NEAREST &&
         vn_recipe_get_most (recipe, VN_LAYER_TRAIN) == VN_TRAIN_OFF;
}

/*< private >
 * vn_folds_count_parts:
 * @input: its samples are split
 *
 * Returns: in how many parts the samples to calibrate with are to be left out in turn; 0: enough are held out, none were to be,
 *   they share tokens, or more than ranges is learned from them
 */
guint
vn_folds_count_parts (const VnJobInput *input)
{
  guint n;

  g_return_val_if_fail (input != NULL, 0);

  if (input->dataset == NULL || input->data->held_out == 0 || (input->apart && input->measured->len >= VN_MOST_MEASURED) ||
      vn_dataset_count_overlap (input->dataset) > 0 || !folds_learn_ranges_only (input->recipe) ||
      vn_graph_weight_bytes (input->prepared->graph) > MOST_WEIGHTS)
    return 0;
  n = MIN (input->calibration->len, MOST_PARTS);
  return n > 1 ? n : 0;
}

/*< private >
 * vn_job_list_compared:
 * @n_parts: of vn_folds_count_parts()
 *
 * Returns: (transfer full) (element-type guint): all samples that errors are measured on, those held out first
 */
GArray *
vn_job_list_compared (const VnJobInput *self,
                      guint             n_parts)
{
  g_return_val_if_fail (self != NULL && self->measured != NULL, NULL);

  return n_parts > 0 ? vn_job_list_judged (self, NULL, G_MAXUINT) : g_array_copy (self->measured);
}

/* Samples are float32: what takes or gives others is measured with inputs and outputs of that. */
static gboolean
folds_takes_floats (const VnModel *model)
{
  for (guint i = 0; i < model->graph->inputs->len; i++)
    {
      const VnValue *input = g_ptr_array_index (model->graph->inputs, i);

      if (input->initializer == NULL && input->type.kind == VN_TYPE_TENSOR && input->type.dtype != VN_DTYPE_F32 &&
          vn_dtype_is_float (input->type.dtype))
        return FALSE;
    }
  return TRUE;
}

static VnModel *
folds_write (const VnJobInput  *input,
             const VnRecipe    *recipe,
             VnModel           *written,
             VnQuantPlan       *plan,
             GHashTable       **names,
             GError           **error)
{
  g_autoptr(GHashTable) given = vn_job_input_list_given (input);
  g_autoptr(VnModel) model = vn_quantize_write (written, recipe, plan, names, error);

  return model != NULL && vn_model_infer_types (model, given, NULL, error) ? g_steal_pointer (&model) : NULL;
}

/*< private >
 * vn_job_write_measurable:
 * @written: the prepared network with its last weights
 * @quantized, @value_names: (nullable): what is exported, and the names in it: taken where samples fit it
 * @names: (out) (transfer full) (nullable): as of VnCompareOptions
 *
 * Returns: (transfer full) (nullable): what is run to measure the error: the same network as is exported, with inputs and outputs
 * of float32
 */
VnModel *
vn_job_write_measurable (const VnJobInput  *input,
                         VnModel           *written,
                         VnQuantPlan       *plan,
                         VnModel           *quantized,
                         GHashTable        *value_names,
                         GHashTable       **names,
                         GError           **error)
{
  g_autoptr(VnRecipe) recipe = NULL;
  g_autoptr(VnModel) model = NULL;
  gboolean halves;

  g_return_val_if_fail (input != NULL && written != NULL && plan != NULL && names != NULL, NULL);

  *names = NULL;
  recipe = vn_recipe_copy (input->recipe);
  halves = vn_recipe_get_format (recipe)->half_arithmetic && !recipe->float_io;
  model = quantized != NULL ? vn_model_ref (quantized) : folds_write (input, recipe, written, plan, names, error);
  if (model == NULL)
    return NULL;
  if (folds_takes_floats (model) && !halves)
    {
      if (quantized != NULL && value_names != NULL)
        *names = g_hash_table_ref (value_names);
      return g_steal_pointer (&model);
    }
  g_clear_pointer (names, g_hash_table_unref);
  recipe->float_io = TRUE;
  return folds_write (input, recipe, vn_recipe_get_format (recipe)->half_arithmetic ? input->prepared : written, plan, names,
                      error);
}

/* From all parts but one. */
static gboolean
folds_add (VnFolds           *self,
           const VnJobInput  *input,
           VnStats           *stats,
           guint              part,
           guint              n_parts,
           GError           **error)
{
  g_autoptr(VnStats) others = vn_stats_merge_others (stats, part, error);
  g_autoptr(GArray) samples = NULL;
  VnCompareFold fold = { NULL };

  if (others == NULL)
    return FALSE;
  if (vn_stats_get_n_samples (others) == 0)
    return TRUE;
  fold.plan = vn_quantize_resolve (input->prepared, input->recipe, others, NULL, error);
  if (fold.plan == NULL)
    return FALSE;
  fold.model = vn_job_write_measurable (input, input->prepared, fold.plan, NULL, NULL, &fold.value_names, error);
  samples = vn_job_take_part (input->calibration, part, n_parts);
  fold.n_samples = samples->len;
  fold.samples = (const guint *) (gpointer) g_array_free (g_steal_pointer (&samples), FALSE);
  g_array_append_val (self->folds, fold);
  return fold.model != NULL;
}

/*< private >
 * vn_folds_make:
 * @self: (out): vn_folds_clear(), whatever is returned
 * @stats: of the samples to calibrate with, with their parts
 *
 * Quantizes a network for each part.
 */
gboolean
vn_folds_make (VnFolds           *self,
               const VnJobInput  *input,
               VnStats           *stats,
               GCancellable      *cancellable,
               GError           **error)
{
  const GPtrArray *parts;

  g_return_val_if_fail (self != NULL && input != NULL && stats != NULL, FALSE);

  self->folds = g_array_new (FALSE, FALSE, sizeof (VnCompareFold));
  parts = vn_stats_get_parts (stats);
  for (guint i = 0; parts != NULL && i < parts->len; i++)
    if (g_cancellable_set_error_if_cancelled (cancellable, error) || !folds_add (self, input, stats, i, parts->len, error))
      return FALSE;
  return TRUE;
}

void
vn_folds_clear (VnFolds *self)
{
  g_return_if_fail (self != NULL);

  for (guint i = 0; self->folds != NULL && i < self->folds->len; i++)
    {
      VnCompareFold *fold = &g_array_index (self->folds, VnCompareFold, i);

      g_clear_pointer (&fold->model, vn_model_unref);
      g_clear_pointer (&fold->value_names, g_hash_table_unref);
      g_clear_pointer (&fold->plan, vn_quant_plan_unref);
      g_free ((guint *) fold->samples);
    }
  g_clear_pointer (&self->folds, g_array_unref);
}
