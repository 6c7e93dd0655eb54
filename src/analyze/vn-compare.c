/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cumulative error: the float and the quantized network run on the same sample, in step: when the
 * quantized run shows a value, the float run goes on until it has shown its counterpart, so that few float values are kept
 * at a time. Sums are kept per sample and added in the order of the samples, so that the numbers do not depend on the
 * threads. */
#include "vn-compare.h"

#include "compare-private.h"
#include "compare-rounds.h"

#include "vn-error.h"
#include "vn-error-sum.h"
#include "vn-i18n.h"
#include "vn-memory.h"
#include "vn-sample-loop.h"
#include "vn-sample-ranks.h"
#include "vn-value-grid.h"

#include <math.h>
#include <string.h>

typedef struct
{
  const VnComparing *compare;
  VnRunner          *float_runner, *quant_runner;
  VnTensor         **kept;       /* by pair: what the float run showed, until the quantized run shows the counterpart */
  gboolean          *shown;      /* by pair: whether the float run has come to it in the present sample */
  guint              awaited;    /* the pair that the quantized run waits for */
  GError            *error;      /* why the float run stopped, or a tap could not do its work */
  VnTensor         **before;     /* by pair: what went into the quantization, if that is asked for */
  VnErrorSum        *sums;       /* of the present sample, from the places on by pair */
  CompareRounds     *rounds;     /* what the float run showed inside nodes */
  gboolean          *passed;     /* by node of the main graph: whether the float run is behind it; NULL: there are no bodies */
} Worker;

static void
compare_clear_sums (const VnComparing *self,
                    VnErrorSum        *sums)
{
  for (guint i = 0; i < self->n_sums; i++)
    vn_error_sum_init (&sums[i]);
  memset (vn_comparing_get_runs (self, sums), 0, self->pairs.bodies->len * sizeof (VnBodyRuns));
}

/* ---- a sample ---- */

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

/* All rounds of a Loop are shown before the first of the quantized network. */
static void
compare_keep_round (Worker         *worker,
                    guint           tap,
                    const VnTensor *tensor)
{
  const VnPairPlace *place = &worker->compare->inside[tap];

  if (place->is_first)
    vn_comparing_get_runs (worker->compare, worker->sums)[place->body].n_float++;
  if (tensor->dtype == VN_DTYPE_F32 && worker->error == NULL)
    vn_compare_rounds_keep (worker->rounds, tap, vn_runner_get_round (worker->float_runner), tensor, &worker->error);
}

static void
compare_keep_float (const VnValue  *value,
                    guint           tap,
                    const VnTensor *tensor,
                    gpointer        data)
{
  Worker *worker = data;

  if (worker->compare->inside[tap].body != G_MAXUINT)
    {
      compare_keep_round (worker, tap, tensor);
      return;
    }
  worker->shown[tap] = TRUE;
  if (!worker->compare->wanted[tap] || worker->error != NULL)
    return;
  if (tap == worker->awaited && tensor->dtype == VN_DTYPE_F32)
    {
      g_clear_pointer (&worker->kept[tap], vn_tensor_unref);
      worker->kept[tap] = vn_tensor_ref ((VnTensor *) tensor);   /* compared before the float run goes on */
    }
  else
    compare_copy_float (&worker->kept[tap], tensor, &worker->error);
}

static gboolean
compare_advance_float (Worker *worker)
{
  const VnNode *next = worker->error == NULL ? vn_runner_get_next (worker->float_runner) : NULL;

  if (next == NULL)
    return FALSE;
  vn_runner_advance (worker->float_runner, &worker->error);
  if (worker->passed != NULL)
    worker->passed[next->index] = TRUE;
  return TRUE;
}

/* What the float run shows in the round that the quantized run is in; NULL: it has not run that, or too much to be kept. */
static VnTensor *
compare_pull_round (Worker *worker,
                    guint   tap)
{
  const VnComparing *self = worker->compare;
  const VnPairPlace *place = &self->inside[tap];
  const CompareBody *body = &g_array_index (self->pairs.bodies, CompareBody, place->body);
  VnBodyRuns *runs = &vn_comparing_get_runs (self, worker->sums)[place->body];
  VnTensor *kept;
  gboolean found;

  while (!worker->passed[body->holder->index] && compare_advance_float (worker))
    ;
  found = vn_compare_rounds_take (worker->rounds, tap, vn_runner_get_round (worker->quant_runner), &kept);
  if (place->is_first)
    {
      runs->n_quant++;
      runs->n_both += found;
      runs->n_compared += kept != NULL;
    }
  return kept;
}

/* The counterpart of what the quantized run shows now; NULL if there is none. */
static VnTensor *
compare_pull_float (Worker *worker,
                    guint   tap)
{
  if (worker->compare->inside[tap].body != G_MAXUINT)
    {
      g_clear_pointer (&worker->kept[tap], vn_tensor_unref);
      return worker->kept[tap] = compare_pull_round (worker, tap);
    }
  worker->awaited = tap;
  while (worker->compare->wanted[tap] && !worker->shown[tap] && compare_advance_float (worker))
    ;
  worker->awaited = G_MAXUINT;
  return worker->kept[tap];
}

static VnTensor *
compare_to_float (const VnTensor     *tensor,
                  const CompareGrid  *grid,
                  GError            **error)
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
  const VnComparing *self = worker->compare;
  const guint n_pairs = self->pairs.float_taps->len;
  const CompareGrid *grid;
  VnTensor *kept;
  g_autoptr(VnTensor) converted = NULL;

  if (tap >= n_pairs)
    {
      if (worker->error == NULL)
        compare_copy_float (&worker->before[g_array_index (self->pairs.sources, guint, tap - n_pairs)], tensor, &worker->error);
      return;
    }
  grid = &g_array_index (self->pairs.grids, CompareGrid, tap);
  kept = compare_pull_float (worker, tap);
  if (kept == NULL || kept->n_elements != tensor->n_elements || worker->error != NULL)
    return;
  if (tensor->dtype == VN_DTYPE_F16)
    tensor = converted = vn_tensor_convert ((VnTensor *) tensor, VN_DTYPE_F32, &worker->error);
  else if (grid->scale != 0 && vn_dtype_is_integer (tensor->dtype))
    tensor = converted = compare_to_float (tensor, grid, &worker->error);
  else if (grid->factors != NULL && tensor->dtype == VN_DTYPE_F32)
    tensor = converted = compare_take_factors (tensor, grid->factors, &worker->error);
  if (tensor == NULL || tensor->dtype != VN_DTYPE_F32)
    return;
  vn_part_sums_add (&worker->sums[self->places[tap]], self->partitions[tap], &tensor->shape, kept->data, tensor->data);
  g_clear_pointer (&worker->kept[tap], vn_tensor_unref);
  kept = worker->before[tap];
  if (kept != NULL && kept->n_elements == tensor->n_elements)
    vn_error_sum_add (&worker->sums[self->places[n_pairs] + tap], kept->data, tensor->data, tensor->n_elements);
  g_clear_pointer (&worker->before[tap], vn_tensor_unref);
}

/* The rest of the float run would show only what nobody waits for, but may fail. */
static gboolean
compare_run_in_step (Worker        *worker,
                     VnTensor     **inputs,
                     GCancellable  *cancellable,
                     GError       **error)
{
  gboolean good = vn_runner_begin (worker->float_runner, inputs, cancellable, error) &&
                  vn_runner_run (worker->quant_runner, inputs, NULL, cancellable, error);

  while (good && compare_advance_float (worker))
    ;
  vn_runner_end (worker->float_runner);
  if (good && worker->error != NULL)
    g_propagate_error (error, g_steal_pointer (&worker->error));
  else if (good)
    return TRUE;
  g_clear_error (&worker->error);
  return FALSE;
}

/* ---- workers ---- */

static void
compare_stop (gpointer data)
{
  Worker *worker = data;

  g_clear_pointer (&worker->float_runner, vn_runner_free);
  g_clear_pointer (&worker->quant_runner, vn_runner_free);
  g_free (worker->kept);
  g_free (worker->shown);
  g_free (worker->before);
  g_free (worker->sums);
  g_free (worker->passed);
  vn_compare_rounds_free (worker->rounds);
  g_clear_error (&worker->error);
  g_free (worker);
}

static gpointer
compare_start (guint      n_inside,
               gpointer   data,
               GError   **error)
{
  const VnComparing *self = data;
  const guint n = self->pairs.float_taps->len;
  Worker *worker = g_new0 (Worker, 1);

  *worker = (Worker) { .compare = self, .kept = g_new0 (VnTensor *, n), .shown = g_new0 (gboolean, n), .awaited = G_MAXUINT,
                       .before = g_new0 (VnTensor *, n), .sums = g_malloc0 (vn_comparing_get_size (self)),
                       .rounds = vn_compare_rounds_new (),
                       .passed = self->pairs.bodies->len > 0 ? g_new0 (gboolean, self->n_nodes) : NULL,
                       .float_runner = vn_sample_runner_new (self->float_plan, n_inside, compare_keep_float, worker, error) };
  if (worker->float_runner != NULL)
    worker->quant_runner = vn_sample_runner_new (self->quant_plan, n_inside, compare_quant, worker, error);
  if (worker->quant_runner == NULL)
    {
      compare_stop (worker);
      return NULL;
    }
  return worker;
}

static gboolean
compare_scan (gpointer       data,
              guint          item,
              VnTensor     **inputs,
              gpointer       user_data,
              GCancellable  *cancellable,
              GError       **error)
{
  Worker *worker = data;
  VnComparing *self = user_data;
  const guint n = self->pairs.float_taps->len;
  gboolean good;

  compare_clear_sums (self, worker->sums);
  memset (worker->shown, 0, n * sizeof *worker->shown);
  if (worker->passed != NULL)
    memset (worker->passed, 0, self->n_nodes * sizeof *worker->passed);
  good = compare_run_in_step (worker, inputs, cancellable, error);
  if (good)
    self->per_sample[item] = vn_memory_dup (worker->sums, vn_comparing_get_size (self), 1, error);
  vn_tensor_clear_all (worker->kept, n);
  vn_tensor_clear_all (worker->before, n);
  vn_compare_rounds_clear (worker->rounds);
  return good && self->per_sample[item] != NULL;
}

static GBytes *
compare_pack (guint      item,
              gpointer   data,
              GError   **error)
{
  const VnComparing *self = data;

  return g_bytes_new_static (self->per_sample[item], vn_comparing_get_size (self));
}

static gboolean
compare_take (guint           item,
              gconstpointer   bytes,
              gsize           size,
              gpointer        data,
              GError        **error)
{
  VnComparing *self = data;

  self->per_sample[item] = vn_sample_ranks_dup (bytes, size, vn_comparing_get_size (self), 1, error);
  return self->per_sample[item] != NULL;
}

static const VnSampleFuncs compare_funcs = { compare_start, compare_scan, compare_stop, compare_pack, compare_take };

/* ---- plans ---- */

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

static void
compare_place_bodies (VnComparing *self)
{
  self->inside = g_new0 (VnPairPlace, self->pairs.float_taps->len + 1);
  for (guint i = 0; i < self->pairs.float_taps->len; i++)
    {
      const guint k = vn_compare_find_body (&self->pairs, i);

      self->inside[i] = (VnPairPlace) { k, k != G_MAXUINT && g_array_index (self->pairs.bodies, CompareBody, k).first == i };
    }
}

/* Nobody would ever take what only one of the two computes. */
static gboolean *
compare_list_wanted (const VnComparing *self)
{
  gboolean *wanted = g_new (gboolean, self->pairs.float_taps->len);

  for (guint i = 0; i < self->pairs.float_taps->len; i++)
    wanted[i] = self->inside[i].body != G_MAXUINT ||
                (vn_plan_is_computed (self->float_plan, g_ptr_array_index (self->pairs.float_taps, i)) &&
                 vn_plan_is_computed (self->quant_plan, g_ptr_array_index (self->pairs.quant_taps, i)));
  return wanted;
}

/* Where the sums of each pair begin. */
static void
compare_place_sums (VnComparing *self)
{
  guint n = self->pairs.float_taps->len;

  self->partitions = g_new0 (const VnPartition *, n + 1);
  self->places = g_new0 (guint, n + 1);
  for (guint i = 0; i < n; i++)
    {
      const VnValue *value = g_ptr_array_index (self->pairs.float_taps, i);

      self->partitions[i] = self->inside[i].body == G_MAXUINT ? vn_parts_get (self->options->parts, value->name) : NULL;
      self->places[i + 1] = self->places[i] + vn_part_sums_count (self->partitions[i]);
    }
  self->n_sums = self->places[n] + n;
}

static void
compare_clear (VnComparing *self)
{
  g_clear_error (&self->none);
  g_free (self->wanted);
  g_free (self->partitions);
  g_free (self->places);
  g_free (self->inside);
  for (guint i = 0; self->per_sample != NULL && i < self->n_all; i++)
    g_free (self->per_sample[i]);
  g_free (self->per_sample);
  g_clear_pointer (&self->float_plan, vn_plan_unref);
  g_clear_pointer (&self->quant_plan, vn_plan_unref);
  vn_compare_clear_pairs (&self->pairs);
}

static gboolean
compare_check_inputs_match (VnComparing  *self,
                            GError      **error)
{
  guint n = vn_plan_get_n_inputs (self->float_plan);

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

static gboolean
compare_run_samples (VnComparing  *self,
                     GHashTable   *input_shapes,
                     GError      **error)
{
  const VnCompareOptions *options = self->options;
  VnPlan * const plans[] = { self->float_plan, self->quant_plan };
  const VnSamples samples = { self->dataset, input_shapes, options->samples, options->n_samples, options->n_threads,
                              self->progress, self->notes };
  const VnSampleOptions loop_options = { .plans = plans, .n_plans = 2, .more = vn_plan_get_arena_size (self->float_plan) / 2,
                                         .n_before = self->n_before, .n_all = self->n_all };
  g_autoptr(VnSampleLoop) loop = NULL;

  compare_place_bodies (self);
  self->wanted = compare_list_wanted (self);
  compare_place_sums (self);
  loop = vn_sample_loop_new (&samples, &loop_options, &compare_funcs, self, error);
  if (loop == NULL || !vn_sample_loop_run (loop, 0, samples.n, self->cancellable, error))
    return FALSE;
  vn_sample_loop_check_read (loop, &self->none);
  return TRUE;
}

/* Runs @quant_model on the samples of the options; whatever comes of it, compare_clear() is due. */
static gboolean
compare_run (VnComparing  *self,
             VnModel      *float_model,
             VnModel      *quant_model,
             GHashTable   *input_shapes,
             GError      **error)
{
  self->per_sample = g_new0 (VnErrorSum *, MAX (self->n_all, 1));
  self->n_nodes = float_model->graph->nodes->len;
  if (!vn_compare_collect_pairs (&self->pairs, float_model, quant_model, self->options, error))
    return FALSE;
  self->float_plan = compare_make_plan (float_model, self->pairs.float_taps, input_shapes, float_model, error);
  if (self->float_plan == NULL)
    return FALSE;
  self->quant_plan = compare_make_plan (quant_model, self->pairs.quant_taps, input_shapes, float_model, error);
  return self->quant_plan != NULL && compare_check_inputs_match (self, error) && compare_run_samples (self, input_shapes, error);
}

/* By pair: the same of the fold, G_MAXUINT if it has none. */
static guint *
compare_map_pairs (const VnComparing *self,
                   const VnComparing *fold)
{
  g_autoptr(GHashTable) places = g_hash_table_new (NULL, NULL);
  guint *map = g_new (guint, self->pairs.float_taps->len);

  for (guint k = 0; k < fold->pairs.float_taps->len; k++)
    g_hash_table_insert (places, g_ptr_array_index (fold->pairs.float_taps, k), GUINT_TO_POINTER (k + 1));
  for (guint i = 0; i < self->pairs.float_taps->len; i++)
    map[i] = GPOINTER_TO_UINT (g_hash_table_lookup (places, g_ptr_array_index (self->pairs.float_taps, i))) - 1;
  return map;
}

static void
compare_take_runs (const VnComparing *self,
                   const VnComparing *fold,
                   const VnErrorSum  *from,
                   VnErrorSum        *to)
{
  for (guint i = 0; i < self->pairs.bodies->len; i++)
    for (guint k = 0; k < fold->pairs.bodies->len; k++)
      if (g_array_index (self->pairs.bodies, CompareBody, i).graph == g_array_index (fold->pairs.bodies, CompareBody, k).graph)
        vn_comparing_get_runs (self, to)[i] = vn_comparing_get_runs (fold, from)[k];
}

/* Takes the samples of a fold, from @place on: tensors that only the other network has are no concern. */
static void
compare_take_fold (VnComparing       *self,
                   const VnComparing *fold,
                   guint              place)
{
  const guint n = self->pairs.float_taps->len, n_there = fold->pairs.float_taps->len;
  g_autofree guint *map = compare_map_pairs (self, fold);

  for (guint s = 0; s < fold->options->n_samples; s++)
    {
      const VnErrorSum *from = fold->per_sample[s];
      VnErrorSum *to = from != NULL ? g_malloc (vn_comparing_get_size (self)) : NULL;

      if (to != NULL)
        compare_clear_sums (self, to);
      for (guint i = 0; to != NULL && i < n; i++)
        if (map[i] != G_MAXUINT)
          {
            vn_part_sums_merge (&to[self->places[i]], self->partitions[i], &from[fold->places[map[i]]]);
            vn_error_sum_merge (&to[self->places[n] + i], &from[fold->places[n_there] + map[i]]);
          }
      if (to != NULL)
        compare_take_runs (self, fold, from, to);
      self->per_sample[place + s] = to;
    }
}

static gboolean
compare_run_folds (VnComparing  *self,
                   VnModel      *float_model,
                   GHashTable   *input_shapes,
                   GError      **error)
{
  guint place = self->options->n_samples;

  for (guint i = 0; i < self->options->n_folds; i++)
    {
      const VnCompareFold *fold = &self->options->folds[i];
      VnCompareOptions options = *self->options;
      /* who calibrated others with the same samples has told of those that cannot be read */
      VnComparing there = { .dataset = self->dataset, .options = &options, .n_all = self->n_all, .progress = self->progress,
                            .cancellable = self->cancellable, .n_before = place };
      gboolean good;

      options.value_names = fold->value_names;
      options.plan = fold->plan;
      options.samples = fold->samples;
      options.n_samples = fold->n_samples;
      good = compare_run (&there, float_model, fold->model, input_shapes, error);
      if (good)
        compare_take_fold (self, &there, place);
      if (self->none == NULL)
        self->none = g_steal_pointer (&there.none);
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
  VnComparing self;
  VnErrorTable *table = NULL;

  g_return_val_if_fail (float_model != NULL && options != NULL, NULL);

  self = (VnComparing) { .dataset = dataset, .options = options, .n_all = vn_compare_count_samples (options),
                         .progress = progress, .notes = notes, .cancellable = cancellable };
  if (compare_run (&self, float_model, quant_model, input_shapes, error) &&
      compare_run_folds (&self, float_model, input_shapes, error))
    table = vn_comparing_make_table (&self, error);
  compare_clear (&self);
  return table;
}
