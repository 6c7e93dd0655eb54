/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From front to end: what a block reads comes from the quantized network, with all blocks before already trained; what it should
 * compute from the float one. A block is kept if the outputs of held-out samples are nearer to the float ones with it. */
#include "vn-training.h"

#include "trained-block.h"

#include "vn-error.h"
#include "vn-graph-edit.h"
#include "vn-i18n.h"
#include "vn-linalg.h"
#include "vn-memory.h"
#include "vn-parallel.h"

#include <math.h>
#include <string.h>

/* Bytes that may be kept of inputs of the network, and of what the present block reads and computes. */
#define FEED_BYTES ((gsize) 192 << 20)
#define TAP_BYTES ((gsize) 256 << 20)

/* Factors that ranges are tried with, to see which scales follow; and how exactly. */
#define PROBE_HALF 0.5f
#define PROBE_FREE 0.8f
#define PROBE_TOLERANCE 1e-3

/* Share of the standard error that all blocks together must bring. */
#define LEAST_CHANCE 0.5

typedef struct
{
  const VnTrainInput *input;
  VnTrainState        state;
  VnStats            *stats;      /* with the factors so far */
  VnTrainFeed         feed;
  VnJudgement         first, now;  /* of the network at the beginning, and as it is */
  double              best_db, chance;   /* of its best, and what chance may have brought of that */
  GHashTable         *best_constants;   /* by name: VnTensor of the network at its best */
  VnStats            *best_stats;
  guint               n_taken;    /* blocks */
  VnRepairGain       *gain;
} Training;

static void
training_clear (Training *self)
{
  g_clear_pointer (&self->state.model, vn_model_unref);
  g_clear_pointer (&self->state.plan, vn_quant_plan_unref);
  g_clear_pointer (&self->state.kinds, g_hash_table_unref);
  g_clear_pointer (&self->state.n_shares, g_hash_table_unref);
  g_free (self->state.trains);
  g_clear_pointer (&self->state.importance, g_hash_table_unref);
  g_clear_pointer (&self->stats, vn_stats_unref);
  vn_train_feed_clear (&self->feed);
  vn_judgement_clear (&self->first);
  vn_judgement_clear (&self->now);
  g_clear_pointer (&self->best_constants, g_hash_table_unref);
  g_clear_pointer (&self->best_stats, vn_stats_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Training, training_clear)

void
vn_train_result_clear (VnTrainResult *self)
{
  g_return_if_fail (self != NULL);

  g_clear_pointer (&self->model, vn_model_unref);
  g_clear_pointer (&self->stats, vn_stats_unref);
}

/* ---- plans ---- */

static VnQuantPlan *
training_resolve (Training  *self,
                  VnStats   *stats,
                  GError   **error)
{
  const VnModel *planned = self->input->planned != NULL ? self->input->planned : self->input->prepared;

  return vn_quantize_resolve (planned, self->input->recipe, stats, NULL, error);
}

static VnModel *
training_write (Training     *self,
                VnModel      *model,
                VnQuantPlan  *plan,
                GHashTable  **names,
                GError      **error)
{
  g_autoptr(VnModel) written = vn_quantize_write (model, self->input->recipe, plan, names, error);

  if (written == NULL || !vn_model_infer_for_samples (written, self->input->samples->shapes, error))
    return NULL;
  return g_steal_pointer (&written);
}

/* ---- which scales follow the ranges ---- */

static VnQuantPlan *
training_probe (Training  *self,
                float      factor,
                GError   **error)
{
  g_autoptr(VnRangeFactors) factors = vn_range_factors_new_uniform (factor, factor);
  g_autoptr(VnStats) bare = vn_stats_with_factors (self->stats, NULL), stats = vn_stats_with_factors (bare, factors);

  return training_resolve (self, stats, error);
}

static double
training_get_ratio (const VnTensorPlan *row,
                    const VnTensorPlan *plain)
{
  if (row == NULL || plain == NULL || row->scale == NULL || plain->scale == NULL ||
      row->scale->n_elements != plain->scale->n_elements)
    return NAN;
  return vn_tensor_get_double (row->scale, 0) / vn_tensor_get_double (plain->scale, 0);
}

static void
training_note_kind (Training           *self,
                    const VnTensorPlan *plain,
                    const VnTensorPlan *half,
                    const VnTensorPlan *free_)
{
  double by_half = training_get_ratio (half, plain), by_free = training_get_ratio (free_, plain);
  VnScaleKind kind = VN_SCALE_FIXED;

  if (fabs (by_half - (double) PROBE_HALF) < PROBE_TOLERANCE)
    kind = fabs (by_free - (double) PROBE_FREE) < PROBE_TOLERANCE ? VN_SCALE_FREE : VN_SCALE_POWER_OF_TWO;
  g_hash_table_insert (self->state.kinds, g_strdup (plain->name), GINT_TO_POINTER (kind));
}

static void
training_count_shares (Training *self)
{
  VnQuantPlan *plan = self->state.plan;

  for (guint i = 0; i < vn_quant_plan_get_n (plan); i++)
    {
      const VnTensorPlan *row = vn_quant_plan_get (plan, i);
      const char *name = row->name;

      for (guint k = 0; k < 100 && row != NULL && row->shares != NULL; k++)
        {
          name = row->shares;
          row = vn_quant_plan_find (plan, name);
        }
      g_hash_table_insert (self->state.n_shares, g_strdup (name),
                           GINT_TO_POINTER (GPOINTER_TO_INT (g_hash_table_lookup (self->state.n_shares, name)) + 1));
    }
}

static gboolean
training_find_kinds (Training  *self,
                     GError   **error)
{
  g_autoptr(VnQuantPlan) plain = NULL, half = NULL, free_ = NULL;

  self->state.kinds = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self->state.n_shares = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  training_count_shares (self);
  if (!vn_train_scales (self->state.scheme.kind))
    return TRUE;
  plain = training_probe (self, 1, error);
  half = plain != NULL ? training_probe (self, PROBE_HALF, error) : NULL;
  free_ = half != NULL ? training_probe (self, PROBE_FREE, error) : NULL;
  if (free_ == NULL)
    return FALSE;
  for (guint i = 0; i < vn_quant_plan_get_n (plain); i++)
    {
      const VnTensorPlan *row = vn_quant_plan_get (plain, i);

      if (row->quantized && row->scale != NULL)
        training_note_kind (self, row, vn_quant_plan_find (half, row->name), vn_quant_plan_find (free_, row->name));
    }
  return TRUE;
}

/* ---- keeping what helps ---- */

static gboolean
training_measure (Training     *self,
                  VnModel      *model,
                  VnQuantPlan  *plan,
                  VnJudgement  *judgement,
                  GError      **error)
{
  g_autoptr(VnModel) written = training_write (self, model, plan, NULL, error);

  return written != NULL && vn_judge_measure (self->input->judge, written, judgement, self->state.cancellable, error);
}

/* What is best so far is what is left at the end. */
static void
training_keep_best (Training *self)
{
  const VnGraph *graph = self->state.model->graph;

  g_hash_table_remove_all (self->best_constants);
  for (guint i = 0; i < graph->values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (graph->values, i);

      if (value->initializer != NULL)
        g_hash_table_insert (self->best_constants, g_strdup (value->name), vn_tensor_ref (value->initializer));
    }
  vn_stats_ref (self->stats);
  g_clear_pointer (&self->best_stats, vn_stats_unref);
  self->best_stats = self->stats;
  self->gain->n_kept = self->n_taken;
}

static void
training_return_to_best (Training *self)
{
  GHashTableIter iter;
  gpointer name, tensor;

  g_hash_table_iter_init (&iter, self->best_constants);
  while (g_hash_table_iter_next (&iter, &name, &tensor))
    vn_graph_set_initializer (self->state.model->graph, g_hash_table_lookup (self->state.model->graph->by_name, name), tensor);
  vn_stats_unref (self->stats);
  self->stats = vn_stats_ref (self->best_stats);
}

/* What all blocks together have brought may be chance. */
static void
training_return_to_start (Training *self)
{
  const VnTrainInput *input = self->input;

  vn_model_unref (self->state.model);
  self->state.model = vn_model_copy (input->start != NULL ? input->start : input->prepared);
  vn_stats_unref (self->stats);
  self->stats = vn_stats_ref (input->stats);
  self->best_db = self->gain->before_db;
  self->gain->n_kept = 0;
}

/* Takes what a block has learned unless the outputs are worse by more than chance: a block changes them less than chance does,
 * but what it computes is nearer to the float values for certain. In the end all returns to where the outputs were best. */
static gboolean
training_take (Training        *self,
               VnTrainedBlock  *block,
               GError         **error)
{
  g_autoptr(VnStats) stats = vn_trained_block_take_scales (block, self->state.plan, self->stats);
  g_autoptr(VnModel) model = vn_model_copy (self->state.model);
  g_autoptr(VnQuantPlan) plan = stats == NULL ? vn_quant_plan_ref (self->state.plan) : training_resolve (self, stats, error);
  gboolean judges = self->input->judge != NULL;
  g_auto(VnJudgement) after = { 0 };

  if (plan == NULL || !vn_trained_block_set_weights (block, model, error) ||
      (judges && !training_measure (self, model, plan, &after, error)))
    return FALSE;
  if (judges && after.sqnr_db < self->now.sqnr_db - vn_judgement_get_error (&after, &self->now))
    return TRUE;
  vn_quant_plan_unref (self->state.plan);
  self->state.plan = g_steal_pointer (&plan);
  if (stats != NULL)
    {
      vn_stats_unref (self->stats);
      self->stats = g_steal_pointer (&stats);
    }
  if (!vn_trained_block_set_weights (block, self->state.model, error))   /* the nodes of all blocks are those of this network */
    return FALSE;
  self->n_taken++;
  if (judges)
    vn_judgement_take (&self->now, &after);
  if (!judges || self->now.sqnr_db > self->best_db)
    {
      self->best_db = self->now.sqnr_db;
      self->chance = judges ? LEAST_CHANCE * vn_judgement_get_error (&self->now, &self->first) : 0;
      training_keep_best (self);
    }
  return TRUE;
}

/* ---- one block ---- */

/* (transfer full) (nullable): what stands in the quantized network for what a block reads */
static GPtrArray *
training_list_reads (const VnBlock  *block,
                     const VnModel  *quantized,
                     GHashTable     *names,
                     GError        **error)
{
  g_autoptr(GPtrArray) reads = g_ptr_array_new ();

  for (guint i = 0; i < vn_block_get_n_inputs (block); i++)
    {
      const VnValue *value = vn_block_get_input (block, i);
      const char *name = g_hash_table_lookup (names, value->name);
      VnValue *read = vn_graph_find_value (quantized->graph, name != NULL ? name : value->name);

      if (read == NULL)
        {
          g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("“%s” is not in the quantized model"), value->name);
          return NULL;
        }
      g_ptr_array_add (reads, read);
    }
  return g_steal_pointer (&reads);
}

static GPtrArray *
training_list_wanted (const VnBlock *block,
                      const VnModel *model,
                      gboolean       outputs)
{
  GPtrArray *values = g_ptr_array_new ();
  guint n = outputs ? vn_block_get_n_outputs (block) : vn_block_get_n_inputs (block);

  for (guint i = 0; i < n; i++)
    {
      const VnValue *value = outputs ? vn_block_get_output (block, i) : vn_block_get_input (block, i);

      g_ptr_array_add (values, vn_graph_find_value (model->graph, value->name));
    }
  return values;
}

static gboolean
training_tap (Training     *self,
              VnTrainTaps  *taps,
              VnModel      *model,
              GPtrArray    *values,
              GError      **error)
{
  return vn_train_taps_init (taps, model, values, &self->feed, self->input->samples->shapes, TAP_BYTES, self->state.cancellable,
                             error);
}

/* What a block reads and should compute. */
static gboolean
training_look (Training        *self,
               VnTrainedBlock  *block,
               gboolean         mixes,
               VnTrainTaps     *read,
               VnTrainTaps     *float_read,
               VnTrainTaps     *wanted,
               GError         **error)
{
  VnModel *prepared = (VnModel *) self->input->prepared;
  g_autoptr(GHashTable) names = NULL;
  g_autoptr(VnModel) quantized = training_write (self, self->state.model, self->state.plan, &names, error);
  g_autoptr(GPtrArray) reads = quantized != NULL ? training_list_reads (block->block, quantized, names, error) : NULL;
  g_autoptr(GPtrArray) outputs = training_list_wanted (block->block, prepared, TRUE);
  g_autoptr(GPtrArray) inputs = training_list_wanted (block->block, prepared, FALSE);

  return reads != NULL && training_tap (self, read, quantized, reads, error) &&
         training_tap (self, wanted, prepared, outputs, error) &&
         (!mixes || training_tap (self, float_read, prepared, inputs, error));
}

static gboolean
training_do_block (Training           *self,
                   const VnTrainPart  *nodes,
                   guint64             done,
                   guint64             total,
                   GError            **error)
{
  g_autoptr(VnTrainedBlock) block = vn_trained_block_new (&self->state, nodes, error);
  g_auto(VnTrainTaps) read = { 0 }, wanted = { 0 }, float_read = { 0 };
  gboolean mixes = self->state.scheme.float_inputs > 0;

  if (block == NULL)
    return FALSE;
  if (!vn_trained_block_learns (block))
    return TRUE;
  if (!training_look (self, block, mixes, &read, &float_read, &wanted, error))
    return FALSE;
  self->gain->n_tried++;
  return vn_trained_block_train (block, &read, mixes ? &float_read : NULL, &wanted, self->input->progress, done, total, error) &&
         (block->after >= block->before || training_take (self, block, error));
}

/* A block that cannot be trained is left as it is, but for memory. */
static gboolean
training_do_blocks (Training   *self,
                    GPtrArray  *blocks,
                    GError    **error)
{
  guint64 steps = vn_train_get_steps (&self->state.scheme);

  for (guint i = 0; i < blocks->len && !vn_train_state_is_stopped (&self->state); i++)
    {
      g_autoptr(GError) local = NULL;

      self->state.n_left = blocks->len - i;
      if (training_do_block (self, g_ptr_array_index (blocks, i), steps * i, steps * blocks->len, &local) ||
          vn_train_state_is_stopped (&self->state) || !vn_error_is_memory (local))
        continue;
      g_propagate_error (error, g_steal_pointer (&local));
      return FALSE;
    }
  return TRUE;
}

/* ---- the blocks with the largest error ---- */

typedef struct
{
  guint  index;
  double error;
} Rank;

static int
training_compare_ranks (gconstpointer a,
                        gconstpointer b)
{
  const Rank *x = a, *y = b;

  return x->error != y->error ? (x->error < y->error) - (x->error > y->error) : (x->index > y->index) - (x->index < y->index);
}

static int
training_compare_indices (gconstpointer a,
                          gconstpointer b)
{
  const Rank *x = a, *y = b;

  return (x->index > y->index) - (x->index < y->index);
}

/* Error of what a block computes in the quantized network, by the energy of the float values; 0: it cannot be told. */
static double
training_measure_part (Training     *self,
                       VnTrainPart  *nodes)
{
  g_autoptr(VnTrainedBlock) block = vn_trained_block_new (&self->state, nodes, NULL);
  g_auto(VnTrainTaps) read = { 0 }, float_read = { 0 }, wanted = { 0 };

  return block != NULL && vn_trained_block_learns (block) &&
         training_look (self, block, FALSE, &read, &float_read, &wanted, NULL) &&
         vn_trained_block_measure (block, &read, &wanted, NULL) ? block->before : 0;
}

/* Leaves those with the largest error, from front to end. */
static void
training_keep_worst (Training  *self,
                     GPtrArray *blocks)
{
  gsize n = self->state.scheme.blocks;
  g_autoptr(GArray) ranks = g_array_new (FALSE, FALSE, sizeof (Rank));

  if (n == 0 || n >= blocks->len)
    return;
  for (guint i = 0; i < blocks->len; i++)
    {
      Rank rank = { i, training_measure_part (self, g_ptr_array_index (blocks, i)) };

      g_array_append_val (ranks, rank);
    }
  g_array_sort (ranks, training_compare_ranks);
  g_array_set_size (ranks, (guint) n);
  g_array_sort (ranks, training_compare_indices);
  for (guint i = blocks->len, left = ranks->len; i-- > 0;)
    if (left > 0 && g_array_index (ranks, Rank, left - 1).index == i)
      left--;
    else
      g_ptr_array_remove_index (blocks, i);
}

/* Networks with nodes that no gradient passes do without. */
static gboolean
training_find_importance (Training  *self,
                          GError   **error)
{
  VnModel *prepared = (VnModel *) self->input->prepared;
  g_autoptr(GPtrArray) parts = vn_training_cut (prepared->graph, self->state.scheme.unit, error);
  g_autoptr(GError) local = NULL;

  if (parts == NULL)
    return FALSE;
  self->state.importance = vn_train_importance_measure (prepared, parts, &self->feed, self->input->samples->shapes,
                                                        self->state.scheme.seed, self->state.cancellable, &local);
  if (self->state.importance != NULL || !vn_error_is_memory (local))
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&local));
  return FALSE;
}

static gboolean
training_do_all (Training  *self,
                 GError   **error)
{
  g_autoptr(GPtrArray) blocks = vn_training_cut (self->state.model->graph, self->state.scheme.unit, error);

  if (blocks == NULL || !training_find_importance (self, error))
    return FALSE;
  training_keep_worst (self, blocks);
  return training_do_blocks (self, blocks, error);
}

static gboolean
training_begin (Training  *self,
                GError   **error)
{
  const VnTrainInput *input = self->input;
  VnTrainState *state = &self->state;
  double seconds;

  self->stats = vn_stats_ref (input->stats);
  state->wanted = input->prepared;
  state->model = vn_model_copy (input->start != NULL ? input->start : input->prepared);
  vn_train_scheme_init (&state->scheme, input->recipe);
  seconds = input->seconds > 0 ? input->seconds : state->scheme.seconds;
  state->n_threads = input->samples->n_threads > 0 ? input->samples->n_threads : vn_parallel_default_threads ();
  state->stop = input->stop;
  state->deadline = seconds > 0 ? g_get_monotonic_time () + (gint64) (seconds * G_USEC_PER_SEC) : 0;
  state->trains = vn_recipe_list_for_nodes (input->recipe, VN_LAYER_TRAIN, state->model->graph);
  state->plan = training_resolve (self, self->stats, error);
  if (state->plan == NULL || !training_find_kinds (self, error) ||
      !vn_train_feed_init (&self->feed, (VnModel *) input->prepared, input->samples, FEED_BYTES, error) ||
      (input->judge != NULL && !training_measure (self, state->model, state->plan, &self->first, error)))
    return FALSE;
  self->now = (VnJudgement) { self->first.sqnr_db, self->first.each != NULL ? g_array_ref (self->first.each) : NULL };
  self->gain->before_db = self->gain->after_db = self->best_db = self->now.sqnr_db;
  self->best_constants = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) vn_tensor_unref);
  training_keep_best (self);
  return TRUE;
}

/**
 * vn_train:
 * @result: (out): to be cleared
 * @gain: (out): what it has brought; counts blocks
 * @cancellable: (nullable): once training has begun, it ends with the best so far
 *
 * Returns: %FALSE with an error if memory is short or the network cannot be run
 */
gboolean
vn_train (const VnTrainInput  *input,
          VnTrainResult       *result,
          VnRepairGain        *gain,
          GCancellable        *cancellable,
          GError             **error)
{
  g_auto(Training) self = { .input = input, .gain = gain, .state.cancellable = cancellable };

  g_return_val_if_fail (input != NULL && input->prepared != NULL && input->stats != NULL, FALSE);
  g_return_val_if_fail (result != NULL && gain != NULL, FALSE);

  *gain = (VnRepairGain) { 0 };
  *result = (VnTrainResult) { 0 };
  if (!vn_linalg_init (_("turn “train” off"), error) || !training_begin (&self, error) || !training_do_all (&self, error))
    return FALSE;
  if (self.best_db > gain->before_db + self.chance || input->judge == NULL)
    training_return_to_best (&self);
  else
    training_return_to_start (&self);
  gain->after_db = self.best_db;
  *result = (VnTrainResult) { g_steal_pointer (&self.state.model), g_steal_pointer (&self.stats), gain->n_tried > 0 };
  return TRUE;
}
