/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cumulative error: the float and the quantized network run on the same sample, in step: when the
 * quantized run shows a value, the float run goes on until it has shown its counterpart, so that few float values are kept
 * at a time. Sums are kept per sample and added in the order of the samples, so that the numbers do not depend on the
 * threads. */
#include "vn-compare.h"

#include "compare-pairs.h"
#include "compare-rows.h"

#include "vn-error.h"
#include "vn-error-sum.h"
#include "vn-i18n.h"
#include "vn-memory.h"
#include "vn-parallel.h"
#include "vn-value-grid.h"

#include <math.h>
#include <string.h>

typedef struct
{
  VnRunner    *float_runner, *quant_runner;
  VnTensor   **kept;       /* by pair: what the float run showed, until the quantized run shows the counterpart */
  gboolean    *shown;      /* by pair: whether the float run has come to it in the present sample */
  guint        awaited;    /* the pair that the quantized run waits for */
  const gboolean *wanted;  /* by pair: whether both runs compute it */
  GError      *error;      /* why the float run stopped, or a tap could not do its work */
  VnTensor   **before;     /* by pair: what went into the quantization, if that is asked for */
  VnErrorSum  *sums;       /* of the present sample, from @places on by pair; behind them those of the quantizations alone */
  const guint *places;     /* by pair: the first of its sums; behind them that of the quantizations */
  guint        n_pairs;
  const VnPartition * const *partitions;   /* by pair: (nullable) */
  const guint *sources;    /* by tap behind those of the pairs: the pair whose quantization it goes into */
  const CompareGrid  *grids;      /* by pair */
} Worker;

typedef struct
{
  ComparePairs pairs;
  VnPlan      *float_plan, *quant_plan;
  gboolean    *wanted;                    /* by pair */
  const VnPartition **partitions;         /* by pair: (nullable) */
  guint       *places;
  guint        n_sums;                    /* of a sample */
  GCancellable *cancellable;
  VnDataset   *dataset;
  const VnCompareOptions *options;
  guint        n_inputs;
  Worker      *workers;
  guint        n_workers;    /* as many samples at a time as there is memory for */
  VnErrorSum **per_sample;   /* n_all of them, those of folds last; NULL: sample left out */
  guint        n_all;
  const VnProgress *progress;
  VnNotes     *notes;
  gint         done;
} Compare;

static gboolean
compare_copy_float (VnTensor       **kept,
                    const VnTensor  *tensor,
                    GError         **error)
{
  if (tensor->dtype != VN_DTYPE_F32)
    return TRUE;
  g_clear_pointer (kept, vn_tensor_unref);
  *kept = vn_tensor_new_copy (VN_DTYPE_F32, &tensor->shape, tensor->data, error);
  return *kept != NULL;
}

static void
compare_keep_float (const VnValue  *value,
                    guint           tap,
                    const VnTensor *tensor,
                    gpointer        data)
{
  Worker *worker = data;

  worker->shown[tap] = TRUE;
  if (!worker->wanted[tap] || worker->error != NULL)
    return;
  if (tap == worker->awaited && value->graph->parent == NULL && tensor->dtype == VN_DTYPE_F32)
    {
      g_clear_pointer (&worker->kept[tap], vn_tensor_unref);
      worker->kept[tap] = vn_tensor_ref ((VnTensor *) tensor);   /* compared before the float run goes on */
    }
  else
    compare_copy_float (&worker->kept[tap], tensor, &worker->error);
}

/* The counterpart of what the quantized run shows now; NULL if there is none. */
static VnTensor *
compare_pull_float (Worker        *worker,
                    const VnValue *value,
                    guint          tap)
{
  worker->awaited = value->graph->parent == NULL ? tap : G_MAXUINT;   /* in a loop each round is shown */
  while (worker->wanted[tap] && !worker->shown[tap] && worker->error == NULL && !vn_runner_is_done (worker->float_runner))
    vn_runner_advance (worker->float_runner, &worker->error);
  worker->awaited = G_MAXUINT;
  return worker->kept[tap];
}

static VnTensor *
compare_to_float (const VnTensor  *tensor,
                  const CompareGrid      *grid,
                  GError         **error)
{
  VnTensor *result = vn_tensor_new (VN_DTYPE_F32, &tensor->shape, error);

  for (gsize i = 0; result != NULL && i < tensor->n_elements; i++)
    ((float *) result->data)[i] = ((float) vn_tensor_get_s64 (tensor, i) - grid->zero_point) * grid->scale;
  return result;
}

/* What the tensor is without the factors that neighbours hold. */
static VnTensor *
compare_take_factors (const VnTensor  *tensor,
                      const VnTensor  *factors,
                      GError         **error)
{
  VnTensor *result = vn_tensor_new_copy (VN_DTYPE_F32, &tensor->shape, tensor->data, error);
  gsize n = factors->n_elements, inner;

  if (result == NULL || tensor->shape.rank < 2 || tensor->shape.dims[1] != (gint64) n || tensor->n_elements == 0)
    return result;
  inner = (gsize) vn_shape_count (&tensor->shape, 2, tensor->shape.rank);
  for (gsize i = 0; i < result->n_elements; i++)
    ((float *) result->data)[i] *= ((const float *) factors->data)[i / inner % n];
  return result;
}

static void
compare_quant (const VnValue  *value,
               guint           tap,
               const VnTensor *tensor,
               gpointer        data)
{
  Worker *worker = data;
  VnTensor *kept;
  g_autoptr(VnTensor) converted = NULL;

  if (tap >= worker->n_pairs)
    {
      if (worker->error == NULL)
        compare_copy_float (&worker->before[worker->sources[tap - worker->n_pairs]], tensor, &worker->error);
      return;
    }
  kept = compare_pull_float (worker, value, tap);
  if (kept == NULL || kept->n_elements != tensor->n_elements || worker->error != NULL)
    return;
  if (tensor->dtype == VN_DTYPE_F16)
    tensor = converted = vn_tensor_convert ((VnTensor *) tensor, VN_DTYPE_F32, &worker->error);
  else if (worker->grids[tap].scale != 0 && vn_dtype_is_integer (tensor->dtype))
    tensor = converted = compare_to_float (tensor, &worker->grids[tap], &worker->error);
  else if (worker->grids[tap].factors != NULL && tensor->dtype == VN_DTYPE_F32)
    tensor = converted = compare_take_factors (tensor, worker->grids[tap].factors, &worker->error);
  if (tensor == NULL || tensor->dtype != VN_DTYPE_F32)
    return;
  vn_part_sums_add (&worker->sums[worker->places[tap]], worker->partitions[tap], &tensor->shape, kept->data, tensor->data);
  g_clear_pointer (&worker->kept[tap], vn_tensor_unref);
  kept = worker->before[tap];
  if (kept != NULL && kept->n_elements == tensor->n_elements)
    vn_error_sum_add (&worker->sums[worker->places[worker->n_pairs] + tap], kept->data, tensor->data, tensor->n_elements);
  g_clear_pointer (&worker->before[tap], vn_tensor_unref);
}

/* The rest of the float run would show only what nobody waits for, but may fail. */
static gboolean
compare_run_in_step (Compare    *self,
                     Worker     *worker,
                     VnTensor  **inputs,
                     GError    **error)
{
  gboolean good = vn_runner_begin (worker->float_runner, inputs, self->cancellable, error) &&
                  vn_runner_run (worker->quant_runner, inputs, NULL, self->cancellable, error);

  while (good && worker->error == NULL && !vn_runner_is_done (worker->float_runner))
    vn_runner_advance (worker->float_runner, &worker->error);
  vn_runner_end (worker->float_runner);
  if (good && worker->error != NULL)
    g_propagate_error (error, g_steal_pointer (&worker->error));
  else if (good)
    return TRUE;
  g_clear_error (&worker->error);
  return FALSE;
}

static gboolean
compare_sample (Compare   *self,
                guint      sample,
                Worker    *worker,
                VnTensor **inputs,
                GError   **error)
{
  guint n = self->pairs.float_taps->len;
  GError *bad = NULL;

  if (!vn_dataset_load (self->dataset, self->options->samples[sample], inputs, &bad))
    return vn_dataset_leave_out (self->dataset, self->options->samples[sample], bad, self->notes, error);
  for (guint i = 0; i < self->n_sums; i++)
    vn_error_sum_init (&worker->sums[i]);
  memset (worker->shown, 0, n * sizeof *worker->shown);
  if (!compare_run_in_step (self, worker, inputs, error))
    return FALSE;
  self->per_sample[sample] = vn_memory_dup (worker->sums, self->n_sums, sizeof (VnErrorSum), error);
  return self->per_sample[sample] != NULL;
}

static gboolean
compare_item (gsize     item,
              guint     index,
              gpointer  data,
              GError  **error)
{
  Compare *self = data;
  Worker *worker = &self->workers[index];
  g_autofree VnTensor **inputs = g_new0 (VnTensor *, self->n_inputs + 1);
  gboolean good = compare_sample (self, (guint) item, worker, inputs, error);

  vn_tensor_clear_all (inputs, self->n_inputs);
  vn_tensor_clear_all (worker->kept, self->pairs.float_taps->len);
  vn_tensor_clear_all (worker->before, self->pairs.float_taps->len);
  vn_progress_report (self->progress, _("samples"), (guint) g_atomic_int_add (&self->done, 1) + 1, self->n_all);
  return good;
}

static VnPlan *
compare_make_plan (VnModel        *model,
                   GPtrArray      *taps,
                   GHashTable     *input_shapes,
                   const VnModel  *float_model,
                   GError        **error)
{
  VnPlanOptions options = vn_plan_options_for_samples (input_shapes);

  options.taps = taps;
  options.most_weights = vn_plan_share_weights (float_model, 2);
  return vn_plan_new (model, &options, NULL, error);
}

/* Nobody would ever take what only one of the two computes. */
static gboolean *
compare_list_wanted (const Compare *self)
{
  gboolean *wanted = g_new (gboolean, self->pairs.float_taps->len);

  for (guint i = 0; i < self->pairs.float_taps->len; i++)
    wanted[i] = vn_plan_is_computed (self->float_plan, g_ptr_array_index (self->pairs.float_taps, i)) &&
                vn_plan_is_computed (self->quant_plan, g_ptr_array_index (self->pairs.quant_taps, i));
  return wanted;
}

/* Where the sums of each pair begin. */
static void
compare_place_sums (Compare *self)
{
  guint n = self->pairs.float_taps->len;

  self->partitions = g_new0 (const VnPartition *, n + 1);
  self->places = g_new0 (guint, n + 1);
  for (guint i = 0; i < n; i++)
    {
      const VnValue *value = g_ptr_array_index (self->pairs.float_taps, i);

      self->partitions[i] = value->graph->parent == NULL ? vn_parts_get (self->options->parts, value->name) : NULL;
      self->places[i + 1] = self->places[i] + vn_part_sums_count (self->partitions[i]);
    }
  self->n_sums = self->places[n] + n;
}

static gboolean
compare_make_workers (Compare  *self,
                      GError  **error)
{
  VnPlan * const plans[] = { self->float_plan, self->quant_plan };
  guint n = self->pairs.float_taps->len, n_inside;

  self->wanted = compare_list_wanted (self);
  compare_place_sums (self);
  self->n_workers = vn_plan_share_threads (plans, 2, vn_plan_get_arena_size (self->float_plan) / 2, self->options->n_threads, MAX (self->options->n_samples, 1), &n_inside);
  self->workers = g_new0 (Worker, self->n_workers);
  for (guint i = 0; i < self->n_workers; i++)
    {
      Worker *worker = &self->workers[i];

      worker->float_runner = vn_runner_new (self->float_plan, error);
      if (worker->float_runner == NULL)
        return FALSE;
      worker->quant_runner = vn_runner_new (self->quant_plan, error);
      if (worker->quant_runner == NULL)
        return FALSE;
      worker->kept = g_new0 (VnTensor *, n);
      worker->shown = g_new0 (gboolean, n);
      worker->wanted = self->wanted;
      worker->before = g_new0 (VnTensor *, n);
      worker->sums = g_new0 (VnErrorSum, self->n_sums);
      worker->places = self->places;
      worker->partitions = self->partitions;
      worker->n_pairs = n;
      worker->awaited = G_MAXUINT;
      worker->sources = (const guint *) (gpointer) self->pairs.sources->data;
      worker->grids = (const CompareGrid *) (gpointer) self->pairs.grids->data;
      vn_runner_set_threads (worker->float_runner, n_inside);
      vn_runner_set_threads (worker->quant_runner, n_inside);
      vn_runner_set_tap (worker->float_runner, compare_keep_float, worker);
      vn_runner_set_tap (worker->quant_runner, compare_quant, worker);
    }
  return TRUE;
}

static void
compare_free_workers (Compare *self)
{
  for (guint i = 0; self->workers != NULL && i < self->n_workers; i++)
    {
      g_clear_pointer (&self->workers[i].float_runner, vn_runner_free);
      g_clear_pointer (&self->workers[i].quant_runner, vn_runner_free);
      g_free (self->workers[i].kept);
      g_free (self->workers[i].shown);
      g_free (self->workers[i].before);
      g_free (self->workers[i].sums);
      g_clear_error (&self->workers[i].error);
    }
  g_clear_pointer (&self->workers, g_free);
}

static void
compare_clear (Compare *self)
{
  compare_free_workers (self);
  g_free (self->wanted);
  g_free (self->partitions);
  g_free (self->places);
  for (guint i = 0; self->per_sample != NULL && i < self->n_all; i++)
    g_free (self->per_sample[i]);
  g_free (self->per_sample);
  g_clear_pointer (&self->float_plan, vn_plan_unref);
  g_clear_pointer (&self->quant_plan, vn_plan_unref);
  vn_compare_clear_pairs (&self->pairs);
}

/* Whether nodes read @value, and none of them can be run. */
static gboolean
compare_is_last (VnPlan        *plan,
                 const VnValue *value)
{
  for (guint i = 0; i < value->uses->len; i++)
    {
      const VnNode *user = g_array_index (value->uses, VnUse, i).node;

      while (user->graph != value->graph && user->graph->parent_node != NULL)
        user = user->graph->parent_node;
      for (guint k = 0; user->graph == value->graph && k < user->outputs->len; k++)
        if (vn_node_get_output (user, k) != NULL && vn_plan_is_computed (plan, vn_node_get_output (user, k)))
          return FALSE;
    }
  return value->uses->len > 0 && !value->is_output;
}

/*< private >
 * vn_compare_make_row:
 * @plan: of the float network
 * @sums: (array): as many as vn_part_sums_count() says
 * @partition: (nullable): of @value
 * @local: (nullable): what its pair of quantization and dequantization does
 *
 * Returns: (transfer full): the row of @value
 */
VnErrorRow *
vn_compare_make_row (VnPlan            *plan,
                     const VnValue     *value,
                     const VnErrorSum  *sums,
                     const VnPartition *partition,
                     const VnErrorSum  *local)
{
  VnErrorRow *row;

  g_return_val_if_fail (plan != NULL && value != NULL && sums != NULL, NULL);

  row = vn_error_row_new ();
  row->value = g_strdup (value->name);
  row->node = value->producer != NULL ? vn_node_dup_label (value->producer) : g_strdup ("");
  row->op_type = g_strdup (value->producer != NULL ? value->producer->op_type : "");
  row->is_output = value->is_output;
  row->is_last = compare_is_last (plan, value);
  vn_part_sums_fill_row (sums, partition, row);
  row->has_local = local != NULL && local->n > 0;
  row->local_db = local != NULL ? vn_error_sum_sqnr (local) : 0;
  return row;
}

/* Why the first sample could not be read. */
static char *
compare_dup_reason (Compare *self)
{
  const guint *samples = self->options->n_samples > 0 ? self->options->samples : self->options->folds[0].samples;
  g_autofree VnTensor **inputs = g_new0 (VnTensor *, self->n_inputs + 1);
  g_autoptr(GError) bad = NULL;

  vn_dataset_load (self->dataset, samples[0], inputs, &bad);
  vn_tensor_clear_all (inputs, self->n_inputs);
  return g_strdup (bad != NULL ? bad->message : "?");
}

/* What the first @n samples come to. */
static void
compare_merge_samples (const Compare *self,
                       guint          tap,
                       guint          n,
                       VnErrorSum    *sums,
                       VnErrorSum    *local)
{
  vn_part_sums_init (sums, self->partitions[tap]);
  vn_error_sum_init (local);
  for (guint s = 0; s < n; s++)
    if (self->per_sample[s] != NULL)
      {
        vn_part_sums_merge (sums, self->partitions[tap], &self->per_sample[s][self->places[tap]]);
        vn_error_sum_merge (local, &self->per_sample[s][self->places[self->pairs.float_taps->len] + tap]);
      }
}

/* %NULL: no sample has shown it. */
static VnErrorRow *
compare_make_row (const Compare *self,
                  guint          tap)
{
  const VnPartition *partition = self->partitions[tap];
  g_autofree const VnErrorSum **each = g_new0 (const VnErrorSum *, self->n_all);
  VnErrorSum sums[1 + VN_MOST_PARTS], local;
  VnErrorRow *row;

  compare_merge_samples (self, tap, self->n_all, sums, &local);
  if (sums[0].n == 0)
    return NULL;
  row = vn_compare_make_row (self->float_plan, g_ptr_array_index (self->pairs.float_taps, tap), sums, partition, &local);
  for (guint s = 0; s < self->n_all; s++)
    each[s] = self->per_sample[s] != NULL ? &self->per_sample[s][self->places[tap]] : NULL;
  row->margin_db = vn_part_sums_get_margin (each, self->n_all, partition);
  compare_merge_samples (self, tap, self->options->n_samples, sums, &local);
  row->held_out_db = sums[0].n > 0 ? vn_part_sums_get_sqnr (sums, partition) : NAN;
  return row;
}

static VnErrorTable *
compare_make_table (Compare  *self,
                    GError  **error)
{
  g_autoptr(VnErrorTable) table = NULL;
  guint n_used = 0;

  for (guint s = 0; s < self->n_all; s++)
    n_used += self->per_sample[s] != NULL;
  if (n_used == 0)
    {
      g_autofree char *reason = compare_dup_reason (self);

      g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA,
                   ngettext ("The %u sample could not be read: %s",
                             "None of the %u samples could be read; the first one: %s", self->n_all),
                   self->n_all, reason);
      return NULL;
    }
  table = vn_error_table_new (n_used);
  for (guint i = 0; i < self->pairs.float_taps->len; i++)
    {
      VnErrorRow *row = compare_make_row (self, i);

      if (row != NULL)
        vn_error_table_add (table, row);
    }
  return g_steal_pointer (&table);
}

static gboolean
compare_check_inputs_match (Compare  *self,
                            GError  **error)
{
  guint n = vn_plan_get_n_inputs (self->float_plan);

  self->n_inputs = n;
  for (guint i = 0; i < n && n == vn_plan_get_n_inputs (self->quant_plan); i++)
    if (!g_str_equal (vn_plan_get_input (self->float_plan, i)->name, vn_plan_get_input (self->quant_plan, i)->name))
      {
        g_set_error (error, VN_ERROR, VN_ERROR_SHAPE, _("The models' inputs differ: “%s” and “%s”"),
                     vn_plan_get_input (self->float_plan, i)->name, vn_plan_get_input (self->quant_plan, i)->name);
        return FALSE;
      }
  if (n == vn_plan_get_n_inputs (self->quant_plan))
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_SHAPE,
               ngettext ("The models have %u and %u input",
                         "The models have %u and %u inputs", vn_plan_get_n_inputs (self->quant_plan)), n,
               vn_plan_get_n_inputs (self->quant_plan));
  return FALSE;
}

/* Runs @quant_model on the samples of the options; whatever comes of it, compare_clear() is due. */
static gboolean
compare_run (Compare     *self,
             VnModel     *float_model,
             VnModel     *quant_model,
             GHashTable  *input_shapes,
             GError     **error)
{
  self->per_sample = g_new0 (VnErrorSum *, MAX (self->n_all, 1));
  if (!vn_compare_collect_pairs (&self->pairs, float_model, quant_model, self->options, error))
    return FALSE;
  self->float_plan = compare_make_plan (float_model, self->pairs.float_taps, input_shapes, float_model, error);
  if (self->float_plan == NULL)
    return FALSE;
  self->quant_plan = compare_make_plan (quant_model, self->pairs.quant_taps, input_shapes, float_model, error);
  if (self->quant_plan == NULL || !compare_check_inputs_match (self, error) || !compare_make_workers (self, error) ||
      !vn_parallel_for (self->n_workers, self->options->n_samples, compare_item, self, self->cancellable, error))
    return FALSE;
  compare_free_workers (self);
  return TRUE;
}

/* By pair: the same of the fold, G_MAXUINT if it has none. */
static guint *
compare_map_pairs (const Compare *self,
                   const Compare *fold)
{
  g_autoptr(GHashTable) places = g_hash_table_new (NULL, NULL);
  guint *map = g_new (guint, self->pairs.float_taps->len);

  for (guint k = 0; k < fold->pairs.float_taps->len; k++)
    g_hash_table_insert (places, g_ptr_array_index (fold->pairs.float_taps, k), GUINT_TO_POINTER (k + 1));
  for (guint i = 0; i < self->pairs.float_taps->len; i++)
    map[i] = GPOINTER_TO_UINT (g_hash_table_lookup (places, g_ptr_array_index (self->pairs.float_taps, i))) - 1;
  return map;
}

/* Takes the samples of a fold, from @place on: tensors that only the other network has are no concern. */
static void
compare_take_fold (Compare       *self,
                   const Compare *fold,
                   guint          place)
{
  const guint n = self->pairs.float_taps->len, n_there = fold->pairs.float_taps->len;
  g_autofree guint *map = compare_map_pairs (self, fold);

  for (guint s = 0; s < fold->options->n_samples; s++)
    {
      const VnErrorSum *from = fold->per_sample[s];
      VnErrorSum *to = from != NULL ? g_new (VnErrorSum, self->n_sums) : NULL;

      for (guint i = 0; to != NULL && i < self->n_sums; i++)
        vn_error_sum_init (&to[i]);
      for (guint i = 0; to != NULL && i < n; i++)
        if (map[i] != G_MAXUINT)
          {
            vn_part_sums_merge (&to[self->places[i]], self->partitions[i], &from[fold->places[map[i]]]);
            vn_error_sum_merge (&to[self->places[n] + i], &from[fold->places[n_there] + map[i]]);
          }
      self->per_sample[place + s] = to;
    }
}

static gboolean
compare_run_folds (Compare     *self,
                   VnModel     *float_model,
                   GHashTable  *input_shapes,
                   GError     **error)
{
  guint place = self->options->n_samples;

  for (guint i = 0; i < self->options->n_folds; i++)
    {
      const VnCompareFold *fold = &self->options->folds[i];
      VnCompareOptions options = *self->options;
      /* who calibrated others with the same samples has told of those that cannot be read */
      Compare there = { .dataset = self->dataset, .options = &options, .n_all = self->n_all, .progress = self->progress,
                        .cancellable = self->cancellable, .done = (gint) place };
      gboolean good;

      options.value_names = fold->value_names;
      options.plan = fold->plan;
      options.samples = fold->samples;
      options.n_samples = fold->n_samples;
      good = compare_run (&there, float_model, fold->model, input_shapes, error);
      if (good)
        compare_take_fold (self, &there, place);
      compare_clear (&there);
      if (!good)
        return FALSE;
      place += fold->n_samples;
    }
  return TRUE;
}

/**
 * vn_compare_count_samples:
 *
 * Returns: those of all folds, too
 */
guint
vn_compare_count_samples (const VnCompareOptions *options)
{
  guint n;

  g_return_val_if_fail (options != NULL, 0);

  n = options->n_samples;
  for (guint i = 0; i < options->n_folds; i++)
    n += options->folds[i].n_samples;
  return n;
}

/**
 * vn_compare:
 * @input_shapes: (nullable): by input name, VnShape*, for dims the models leave open
 * @progress: (nullable)
 * @notes: (nullable): samples left out
 *
 * Returns: (transfer full) (nullable): a row for every float value that has a counterpart, in execution order
 */
VnErrorTable *
vn_compare (VnModel                 *float_model,
            VnModel                 *quant_model,
            GHashTable              *input_shapes,
            VnDataset               *dataset,
            const VnCompareOptions  *options,
            const VnProgress        *progress,
            VnNotes                 *notes,
            GCancellable            *cancellable,
            GError                 **error)
{
  Compare self;
  VnErrorTable *table = NULL;

  g_return_val_if_fail (float_model != NULL && options != NULL, NULL);

  self = (Compare) { .dataset = dataset, .options = options, .n_all = vn_compare_count_samples (options), .progress = progress,
                     .notes = notes, .cancellable = cancellable };
  if (compare_run (&self, float_model, quant_model, input_shapes, error) &&
      compare_run_folds (&self, float_model, input_shapes, error))
    table = compare_make_table (&self, error);
  compare_clear (&self);
  return table;
}
