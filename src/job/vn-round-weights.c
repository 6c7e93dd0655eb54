/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Second-order rounding as part of quantizing: learned from samples that were calibrated with, judged on those held out. */
#include "vn-job-input.h"

#include "vn-error.h"
#include "vn-format.h"
#include "vn-format-traits.h"
#include "vn-i18n.h"
#include "vn-logit-space.h"
#include "vn-quant-plan.h"
#include "vn-sample-ranks.h"
#include "vn-second-order.h"

#include <string.h>

/* What is learned from unless the recipe says something else: samples, and tokens of a language model. */
#define SAMPLES 12
#define TOKENS  4800

/* How weights are rounded: layers that another version of the program has finished are not gone on with. */
#define METHOD "float targets"

/*< private >
 * vn_job_make_pairs_recipe:
 *
 * Errors are measured in floats: operators on integers, and products of integers, are written as pairs for that.
 *
 * Returns: (transfer full): @recipe with a format that can be measured
 */
VnRecipe *
vn_job_make_pairs_recipe (const VnRecipe *recipe)
{
  const VnFormatTraits *format;
  VnRecipe *copy;

  g_return_val_if_fail (recipe != NULL, NULL);

  format = vn_recipe_get_format (recipe);
  copy = vn_recipe_copy (recipe);
  if (format->integer_operators || format->integer_products)
    copy->format = vn_format_find (VN_FORMAT_TRAIT (has_pairs));
  return copy;
}

static void
round_weights_note (const VnJobInput   *self,
                    const VnRepairGain *gain)
{
  g_autofree char *more = vn_format_signed_db (gain->after_db - gain->before_db);

  vn_notes_add (self->notes, VN_NOTE_INFO, "second-order", "rounding",
                ngettext ("Second-order rounding of weights: kept for %u of %u layer; output SQNR %s",
                          "Second-order rounding of weights: kept for %u of %u layers; output SQNR %s", gain->n_tried),
                gain->n_kept, gain->n_tried, more);
}

/* Numbers of the tokens of one sample; 0: the network is no language model, or nobody knows. */
static gint64
round_weights_count_tokens (const VnJobInput *self)
{
  const VnGraph *graph = self->prepared->graph;
  gint64 most = 0;
  gboolean has_logits = FALSE;

  for (guint i = 0; i < graph->outputs->len; i++)
    has_logits |= vn_value_is_logits (g_ptr_array_index (graph->outputs, i));
  for (guint i = 0; i < graph->inputs->len && has_logits; i++)
    {
      const VnValue *input = g_ptr_array_index (graph->inputs, i);
      const VnShape *given = self->shapes != NULL ? g_hash_table_lookup (self->shapes, input->name) : NULL;
      const VnShape *shape = given != NULL ? given : &input->type.shape;

      if (input->type.dtype == VN_DTYPE_S64 && input->type.kind == VN_TYPE_TENSOR && shape->rank == 2)
        most = MAX (most, vn_shape_count (shape, 0, shape->rank));
    }
  return most;
}

/*< private >
 * vn_job_count_rounding_samples:
 * @recipe: says how many; 0: as many as the setting promises
 *
 * Returns: how many samples second-order rounding takes if there are as many
 */
guint
vn_job_count_rounding_samples (const VnJobInput *self,
                               const VnRecipe   *recipe)
{
  gint64 n_tokens;

  g_return_val_if_fail (self != NULL && recipe != NULL, 0);

  if (recipe->rounding_samples > 0)
    return (guint) recipe->rounding_samples;
  n_tokens = round_weights_count_tokens (self);
  return n_tokens > 0 ? (guint) MAX (TOKENS / n_tokens, SAMPLES) : SAMPLES;
}

/* Of all that decides about the weights, and about which of them are kept. */
static char *
round_weights_dup_digest (const VnJobInput  *self,
                          const VnRecipe    *recipe,
                          VnQuantPlan       *plan,
                          const GArray      *indices)
{
  g_autoptr(GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);
  g_autofree char *samples = vn_dataset_dup_digest (self->dataset, (const guint *) (gpointer) indices->data, indices->len);
  g_autoptr(GArray) judged = vn_job_list_judged (self, (GArray *) indices, VN_JUDGED_SAMPLES);
  g_autofree char *others = vn_dataset_dup_digest (self->dataset, (const guint *) (gpointer) judged->data, judged->len);
  VnStatsOrigin *origin = vn_job_make_origin (self->model, self->prepared, self->data, samples);
  g_autofree char *settings = vn_recipe_dup_digest (recipe);
  const char * const texts[] = { origin->source, origin->prepared, origin->data, samples, others, settings, METHOD };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    g_checksum_update (sum, (const guchar *) (texts[i] != NULL ? texts[i] : ""), texts[i] != NULL ? (gssize) strlen (texts[i]) + 1
                       : 1);
  for (guint i = 0; i < plan->rows->len; i++)
    {
      const VnTensorPlan *tensor = &((const VnQuantRow *) g_ptr_array_index (plan->rows, i))->tensor;

      if (tensor->scale != NULL)
        g_checksum_update (sum, tensor->scale->data, (gssize) tensor->scale->n_bytes);
      if (tensor->zero_point != NULL)
        g_checksum_update (sum, tensor->zero_point->data, (gssize) tensor->zero_point->n_bytes);
    }
  vn_stats_origin_free (origin);
  return g_strdup (g_checksum_get_string (sum));
}

/* @journal: (out) (nullable): %NULL: nothing is kept */
static gboolean
round_weights_open_journal (const VnJobInput   *self,
                            const VnRecipe     *recipe,
                            VnQuantPlan        *plan,
                            const GArray       *indices,
                            VnRoundingJournal **journal,
                            GError            **error)
{
  g_autofree char *digest = NULL;

  *journal = NULL;
  if (self->kept_rounding == NULL || vn_sample_ranks_get_n () > 1)
    return TRUE;
  digest = round_weights_dup_digest (self, recipe, plan, indices);
  *journal = vn_rounding_journal_open (self->kept_rounding, digest, error);
  return *journal != NULL;
}

/**
 * vn_rounding_dup_kept_path:
 * @save_stats: where the statistics of a run are written
 *
 * Returns: (transfer full): where the layers are kept meanwhile that second-order rounding has finished
 */
char *
vn_rounding_dup_kept_path (const char *save_stats)
{
  g_return_val_if_fail (save_stats != NULL, NULL);

  return g_strconcat (save_stats, ".rounding", NULL);
}

/*< private >
 * vn_job_round_weights:
 * @job: told how far it is
 * @stats: what ranges are found from
 *
 * Returns: (transfer full) (nullable): the prepared network with weights that the plan of that network turns into the integers
 *   that were found
 */
VnModel *
vn_job_round_weights (const VnJobInput  *self,
                      VnJob             *job,
                      VnStats           *stats,
                      GCancellable      *cancellable,
                      GError           **error)
{
  g_autoptr(VnRecipe) recipe = NULL;
  g_autoptr(VnQuantPlan) plan = NULL;
  g_autoptr(VnJudge) judge = NULL;
  g_autoptr(GArray) indices = NULL;
  g_autoptr(VnRoundingJournal) journal = NULL;
  VnProgress progress;
  VnRepairSamples samples;
  VnRepairInput input;
  VnRepairGain gain;
  VnModel *rounded;

  g_return_val_if_fail (self != NULL && job != NULL && stats != NULL, NULL);

  if (self->dataset == NULL)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA,
                   _("Second-order rounding needs samples: add --data, or set rounding to “nearest”"));
      return NULL;
    }
  recipe = vn_job_make_pairs_recipe (self->recipe);
  indices = vn_job_take_samples (self->calibration, vn_job_count_rounding_samples (self, self->recipe));
  plan = vn_quantize_resolve (self->prepared, recipe, stats, NULL, error);
  judge = plan != NULL ? vn_job_make_judge (self, indices, VN_JUDGED_SAMPLES, cancellable, error) : NULL;
  if (judge == NULL || !round_weights_open_journal (self, recipe, plan, indices, &journal, error))
    return NULL;
  samples = vn_job_get_samples (self, indices);
  progress = vn_job_get_reporter (job);
  input = (VnRepairInput) { .prepared = self->prepared, .recipe = recipe, .plan = plan, .samples = &samples, .judge = judge,
                            .journal = journal, .progress = &progress };
  rounded = vn_second_order_round (&input, &gain, cancellable, error);
  if (rounded != NULL)
    round_weights_note (self, &gain);
  return rounded;
}

/*< private >
 * vn_job_take_rounded:
 * @corrected: the prepared network with other biases; %NULL: itself
 * @rounded: the prepared network with other weights; %NULL: itself
 *
 * Returns: (transfer full): the network that has both
 */
VnModel *
vn_job_take_rounded (const VnJobInput *self,
                     const VnModel    *corrected,
                     const VnModel    *rounded)
{
  VnModel *both;

  g_return_val_if_fail (self != NULL, NULL);

  if (corrected == NULL || rounded == NULL)
    return vn_model_ref ((VnModel *) (corrected != NULL ? corrected : rounded != NULL ? rounded : self->prepared));
  both = vn_model_copy (corrected);
  for (guint i = 0; i < rounded->graph->values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (rounded->graph->values, i);
      const VnValue *before = g_hash_table_lookup (self->prepared->graph->by_name, value->name);

      if (value->initializer != NULL && before != NULL && before->initializer != value->initializer)
        vn_graph_set_initializer (both->graph, g_hash_table_lookup (both->graph->by_name, value->name), value->initializer);
    }
  return both;
}
