/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What both networks compute for a few samples is kept, if there is room. Another quantized network runs from those values that
 * it has in common with the one before: what its changes do not reach is not run, and has the errors it had. */
#include "vn-recompare.h"

#include "compare-rows.h"
#include "recompare-same.h"

#include "vn-memory.h"
#include "vn-parallel.h"
#include "vn-sample-loop.h"

/**
 * Kept: of one sample.
 * @floats, @quants: by value; %NULL for what is no float32, or not there
 */
typedef struct
{
  VnTensor **inputs, **floats, **quants;
} Kept;

struct _VnRecompare
{
  VnModel      *float_model, *base;
  GHashTable   *input_shapes;   /* nullable */
  VnDataset    *dataset;
  GArray       *samples;        /* of guint */
  guint         n_threads, n_inputs;
  GPtrArray    *values;         /* of VnValue: of the float network, in the order of rows */
  GPtrArray    *base_names;     /* by value: (nullable): name of its counterpart in @base */
  VnPlan       *float_plan;
  VnErrorTable *errors;
  GArray       *kept;           /* of Kept */
  gsize         n_bytes;        /* of what the samples compute */
  gsize         budget;         /* for what is kept */
  gboolean      keeps;          /* it fits */
  VnParts      *parts;          /* nullable */
};

static void
recompare_forget (VnRecompare *self)
{
  for (guint s = 0; s < self->kept->len; s++)
    {
      Kept *kept = &g_array_index (self->kept, Kept, s);

      vn_tensor_clear_all (kept->floats, self->values->len);
      vn_tensor_clear_all (kept->quants, self->values->len);
    }
  self->keeps = FALSE;
}

void
vn_recompare_free (VnRecompare *self)
{
  if (self == NULL)
    return;
  recompare_forget (self);
  for (guint s = 0; s < self->kept->len; s++)
    {
      Kept *kept = &g_array_index (self->kept, Kept, s);

      vn_tensor_clear_all (kept->inputs, self->n_inputs);
      g_free (kept->inputs);
      g_free (kept->floats);
      g_free (kept->quants);
    }
  g_array_unref (self->kept);
  g_array_unref (self->samples);
  g_clear_pointer (&self->values, g_ptr_array_unref);
  g_clear_pointer (&self->base_names, g_ptr_array_unref);
  g_clear_pointer (&self->float_plan, vn_plan_unref);
  g_clear_pointer (&self->errors, vn_error_table_unref);
  g_clear_pointer (&self->input_shapes, g_hash_table_unref);
  g_clear_pointer (&self->parts, vn_parts_unref);
  vn_dataset_unref (self->dataset);
  vn_model_unref (self->float_model);
  vn_model_unref (self->base);
  g_free (self);
}

/* ---- what is kept ---- */

static VnValue *
recompare_find_counterpart (const VnModel          *quantized,
                            const VnCompareOptions *options,
                            const char             *value)
{
  const char *name = options->value_names != NULL ? g_hash_table_lookup (options->value_names, value) : NULL;
  VnValue *other = g_hash_table_lookup (quantized->graph->by_name, name != NULL ? name : value);

  return other != NULL && !vn_value_is_constant (other) ? other : NULL;
}

/**
 * Keep:
 * @numbers: (nullable): by tap: its place in @tensors
 */
typedef struct
{
  VnRecompare  *self;
  VnTensor    **tensors;
  const GArray *numbers;
  GError       *error;
} Keep;

static void
recompare_keep (const VnValue  *value,
                guint           tap,
                const VnTensor *tensor,
                gpointer        data)
{
  Keep *keep = data;
  guint at = keep->numbers != NULL ? g_array_index (keep->numbers, guint, tap) : tap;

  if (tensor->dtype != VN_DTYPE_F32 || keep->tensors[at] != NULL || keep->error != NULL)
    return;
  keep->self->n_bytes += tensor->n_bytes;
  if (keep->self->keeps && keep->self->n_bytes > keep->self->budget)
    recompare_forget (keep->self);
  if (keep->self->keeps)
    keep->tensors[at] = vn_tensor_new_copy (VN_DTYPE_F32, &tensor->shape, tensor->data, &keep->error);
}

static VnRunner *
recompare_make_runner (VnRecompare  *self,
                       VnModel      *model,
                       GPtrArray    *taps,
                       VnPlan      **kept_plan,
                       GError      **error)
{
  VnPlanOptions options = vn_plan_options_for_samples (self->input_shapes);
  g_autoptr(VnPlan) plan = NULL;
  VnRunner *runner;

  options.taps = taps;
  options.can_restart = TRUE;
  plan = vn_plan_new (model, &options, NULL, error);
  runner = plan != NULL ? vn_runner_new (plan, error) : NULL;
  if (runner != NULL)
    vn_runner_set_threads (runner, self->n_threads > 0 ? self->n_threads : vn_parallel_default_threads ());
  if (kept_plan != NULL)
    *kept_plan = g_steal_pointer (&plan);
  return runner;
}

static gboolean
recompare_keep_all (VnRecompare    *self,
                    VnRunner       *runner,
                    VnTensor      **inputs,
                    VnTensor      **tensors,
                    const GArray   *numbers,
                    GCancellable   *cancellable,
                    GError        **error)
{
  Keep keep = { self, tensors, numbers, NULL };
  gboolean good;

  vn_runner_set_tap (runner, recompare_keep, &keep);
  good = vn_runner_run (runner, inputs, NULL, cancellable, error);
  if (good && keep.error == NULL)
    return TRUE;
  if (good)
    g_propagate_error (error, g_steal_pointer (&keep.error));
  g_clear_error (&keep.error);
  return FALSE;
}

/* What runs the samples whose values are kept. */
typedef struct
{
  VnRecompare   *self;
  const guint   *indices;
  VnRunner      *float_runner, *quant_runner;
  const GArray  *numbers;
} Fill;

static gboolean
recompare_keep_sample (gpointer       worker,
                       guint          item,
                       VnTensor     **inputs,
                       gpointer       data,
                       GCancellable  *cancellable,
                       GError       **error)
{
  const Fill *fill = data;
  VnRecompare *self = fill->self;
  Kept kept = { g_new0 (VnTensor *, self->n_inputs + 1), g_new0 (VnTensor *, self->values->len + 1),
                g_new0 (VnTensor *, self->values->len + 1) };

  for (guint i = 0; i < self->n_inputs; i++)
    kept.inputs[i] = g_steal_pointer (&inputs[i]);
  g_array_append_val (self->kept, kept);
  g_array_append_val (self->samples, fill->indices[item]);
  return recompare_keep_all (self, fill->float_runner, kept.inputs, kept.floats, NULL, cancellable, error) &&
         recompare_keep_all (self, fill->quant_runner, kept.inputs, kept.quants, fill->numbers, cancellable, error);
}

/* As many as there is room for. */
static gboolean
recompare_keep_samples (const Fill              *fill,
                        const VnCompareOptions  *options,
                        gsize                    max_bytes,
                        GCancellable            *cancellable,
                        GError                 **error)
{
  static const VnSampleFuncs funcs = { NULL, recompare_keep_sample, NULL };
  const VnSamples samples = { .dataset = fill->self->dataset, .indices = options->samples, .n = options->n_samples };
  const VnSampleOptions in_turn = { .in_turn = TRUE };
  g_autoptr(VnSampleLoop) loop = vn_sample_loop_new (&samples, &in_turn, &funcs, (gpointer) fill, error);

  if (loop == NULL)
    return FALSE;
  for (guint s = 0; s < options->n_samples; s++)
    {
      const guint n = fill->self->samples->len;

      if (fill->self->n_bytes + (n > 0 ? fill->self->n_bytes / n : 0) > max_bytes)
        break;
      if (!vn_sample_loop_run (loop, s, 1, cancellable, error))
        return FALSE;
    }
  return vn_sample_loop_check_read (loop, error);
}

static gboolean
recompare_list_values (VnRecompare  *self,
                       GError      **error)
{
  g_autoptr(GPtrArray) order = vn_graph_sort (self->float_model->graph, error);

  if (order == NULL)
    return FALSE;
  for (guint i = 0; i < self->float_model->graph->inputs->len; i++)
    if (vn_compare_has_row (g_ptr_array_index (self->float_model->graph->inputs, i)))
      g_ptr_array_add (self->values, g_ptr_array_index (self->float_model->graph->inputs, i));
  for (guint i = 0; i < order->len; i++)
    {
      const VnNode *node = g_ptr_array_index (order, i);

      for (guint k = 0; k < node->outputs->len; k++)
        if (vn_node_get_output (node, k) != NULL && vn_compare_has_row (vn_node_get_output (node, k)))
          g_ptr_array_add (self->values, vn_node_get_output (node, k));
    }
  return TRUE;
}

/* @numbers: by tap: number of the value in the float network */
static GPtrArray *
recompare_list_base_taps (VnRecompare            *self,
                          const VnCompareOptions *options,
                          GArray                 *numbers)
{
  GPtrArray *taps = g_ptr_array_new ();

  for (guint i = 0; i < self->values->len; i++)
    {
      VnValue *other = recompare_find_counterpart (self->base, options,
                                                   ((const VnValue *) g_ptr_array_index (self->values, i))->name);

      g_ptr_array_add (self->base_names, other != NULL ? g_strdup (other->name) : NULL);
      if (other == NULL)
        continue;
      g_ptr_array_add (taps, other);
      g_array_append_val (numbers, i);
    }
  return taps;
}

static gboolean
recompare_fill (VnRecompare             *self,
                const VnCompareOptions  *options,
                gsize                    max_bytes,
                GCancellable            *cancellable,
                GError                 **error)
{
  g_autoptr(GArray) numbers = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autoptr(GPtrArray) taps = NULL;
  g_autoptr(VnRunner) float_runner = NULL, quant_runner = NULL;
  VnCompareOptions all = *options;
  Fill fill;

  if (!recompare_list_values (self, error))
    return FALSE;
  taps = recompare_list_base_taps (self, options, numbers);
  float_runner = recompare_make_runner (self, self->float_model, self->values, &self->float_plan, error);
  quant_runner = float_runner != NULL ? recompare_make_runner (self, self->base, taps, NULL, error) : NULL;
  if (quant_runner == NULL)
    return FALSE;
  fill = (Fill) { self, options->samples, float_runner, quant_runner, numbers };
  if (!recompare_keep_samples (&fill, options, max_bytes, cancellable, error))
    return FALSE;
  g_clear_pointer (&float_runner, vn_runner_free);
  g_clear_pointer (&quant_runner, vn_runner_free);
  all.samples = (const guint *) (gpointer) self->samples->data;
  all.n_samples = self->samples->len;
  self->errors = vn_compare (self->float_model, self->base, self->input_shapes, self->dataset, &all, NULL, NULL, cancellable,
                             error);
  return self->errors != NULL;
}

/**
 * vn_recompare_new:
 * @base: the quantized network that others are near to
 * @options: of @base; as many of its samples are taken as compute no more than @max_bytes, but one at least
 *
 * Compares both networks, and keeps what they compute if it fits into vn_memory_get_budget(). Without, other networks are
 * compared as a whole, on the same samples.
 *
 * Returns: (transfer full) (nullable): as vn_compare(); an error also if a sample cannot be read
 */
VnRecompare *
vn_recompare_new (VnModel                 *float_model,
                  VnModel                 *base,
                  GHashTable              *input_shapes,
                  VnDataset               *dataset,
                  const VnCompareOptions  *options,
                  gsize                    max_bytes,
                  GCancellable            *cancellable,
                  GError                 **error)
{
  g_autoptr(VnRecompare) self = NULL;
  guint n_inputs = 0;

  g_return_val_if_fail (float_model != NULL && base != NULL && dataset != NULL && options != NULL && options->n_samples > 0,
                        NULL);

  for (guint i = 0; i < float_model->graph->inputs->len; i++)
    n_inputs += ((const VnValue *) g_ptr_array_index (float_model->graph->inputs, i))->initializer == NULL;
  self = g_new0 (VnRecompare, 1);
  self->float_model = vn_model_ref (float_model);
  self->base = vn_model_ref (base);
  self->dataset = vn_dataset_ref (dataset);
  self->input_shapes = input_shapes != NULL ? g_hash_table_ref (input_shapes) : NULL;
  self->n_threads = options->n_threads;
  self->parts = options->parts != NULL ? vn_parts_ref (options->parts) : NULL;
  self->budget = vn_memory_get_budget ();
  self->keeps = TRUE;
  self->n_inputs = n_inputs;
  self->values = g_ptr_array_new ();
  self->base_names = g_ptr_array_new_with_free_func (g_free);
  self->samples = g_array_new (FALSE, FALSE, sizeof (guint));
  self->kept = g_array_new (FALSE, FALSE, sizeof (Kept));
  return recompare_fill (self, options, max_bytes, cancellable, error) ? g_steal_pointer (&self) : NULL;
}

guint
vn_recompare_get_n (VnRecompare *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->samples->len;
}

/**
 * vn_recompare_get_bytes:
 *
 * Returns: how much memory takes what is kept; 0: it does not fit into the budget
 */
gsize
vn_recompare_get_bytes (VnRecompare *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->keeps ? self->n_bytes : 0;
}

/**
 * vn_recompare_get_base:
 *
 * Returns: (transfer none): errors of the base on the same samples
 */
VnErrorTable *
vn_recompare_get_base (VnRecompare *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->errors;
}

/* ---- another network ---- */

/**
 * Again: one measurement.
 * @rows: (element-type guint): by tap: number of the value in the float network
 * @is_known: by tap: it is what it was
 * @wanted: (element-type guint): the other taps
 * @partitions: by tap: (nullable)
 * @places: by tap: the first of its sums; behind them how many there are of a sample
 * @sums: by sample, from @places on
 */
typedef struct
{
  VnRecompare  *self;
  GPtrArray    *taps;
  GArray       *rows, *wanted;
  gboolean     *is_known;
  VnPlan       *plan;
  VnRunner    **runners;
  guint         n_runners;
  const VnPartition **partitions;
  guint        *places;
  VnErrorSum   *sums;
  GCancellable *cancellable;
} Again;

static void
recompare_clear_again (Again *again)
{
  for (guint i = 0; again->runners != NULL && i < again->n_runners; i++)
    g_clear_pointer (&again->runners[i], vn_runner_free);
  g_free (again->runners);
  g_free (again->is_known);
  g_free (again->partitions);
  g_free (again->places);
  g_free (again->sums);
  g_clear_pointer (&again->taps, g_ptr_array_unref);
  g_clear_pointer (&again->rows, g_array_unref);
  g_clear_pointer (&again->wanted, g_array_unref);
  g_clear_pointer (&again->plan, vn_plan_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Again, recompare_clear_again)

static gboolean
recompare_inputs_match (const VnGraph *a,
                        const VnGraph *b)
{
  for (guint i = 0; i < a->inputs->len && a->inputs->len == b->inputs->len; i++)
    if (!g_str_equal (((const VnValue *) g_ptr_array_index (a->inputs, i))->name,
                      ((const VnValue *) g_ptr_array_index (b->inputs, i))->name))
      return FALSE;
  return a->inputs->len == b->inputs->len;
}

static void
recompare_place_sums (Again *again)
{
  again->partitions = g_new0 (const VnPartition *, again->taps->len + 1);
  again->places = g_new0 (guint, again->taps->len + 1);
  for (guint t = 0; t < again->taps->len; t++)
    {
      const VnValue *value = g_ptr_array_index (again->self->values, g_array_index (again->rows, guint, t));

      again->partitions[t] = vn_parts_get (again->self->parts, value->name);
      again->places[t + 1] = again->places[t] + vn_part_sums_count (again->partitions[t]);
    }
}

/* %FALSE if what is computed has to be converted before it can be compared, which only a whole comparison does. */
static gboolean
recompare_list_taps (Again                  *again,
                     const VnModel          *changed,
                     GHashTable             *same,
                     const VnCompareOptions *options)
{
  VnRecompare *self = again->self;

  if (!recompare_inputs_match (self->float_model->graph, changed->graph))
    return FALSE;
  for (guint r = 0; r < self->values->len; r++)
    {
      const char *value = ((const VnValue *) g_ptr_array_index (self->values, r))->name;
      VnValue *other = recompare_find_counterpart (changed, options, value);
      const VnTensorPlan *row = options->plan != NULL ? vn_quant_plan_find (options->plan, value) : NULL;

      if (other == NULL || (options->plan != NULL &&
                            vn_quant_plan_find_clamped (options->plan, g_ptr_array_index (self->values, r)) != NULL))
        continue;
      if ((other->type.dtype != VN_DTYPE_F32 && other->type.dtype != VN_DTYPE_UNDEFINED) || (row != NULL && row->factors != NULL))
        return FALSE;
      g_ptr_array_add (again->taps, other);
      g_array_append_val (again->rows, r);
    }
  recompare_place_sums (again);
  again->is_known = g_new0 (gboolean, again->taps->len + 1);
  for (guint t = 0; t < again->taps->len; t++)
    {
      const VnValue *other = g_ptr_array_index (again->taps, t);

      again->is_known[t] = g_hash_table_contains (same, other->name) &&
                           g_strcmp0 (other->name, g_ptr_array_index (self->base_names, g_array_index (again->rows, guint, t)))
                           == 0;
    }
  return TRUE;
}

typedef struct
{
  const Again *again;
  const Kept  *kept;
  VnErrorSum  *sums;
} Listen;

static void
recompare_hear (const VnValue  *value,
                guint           tap,
                const VnTensor *tensor,
                gpointer        data)
{
  const Listen *listen = data;
  const VnTensor *wanted = listen->kept->floats[g_array_index (listen->again->rows, guint, tap)];

  if (wanted != NULL && tensor->dtype == VN_DTYPE_F32 && tensor->n_elements == wanted->n_elements)
    vn_part_sums_add (&listen->sums[listen->again->places[tap]], listen->again->partitions[tap], &wanted->shape, wanted->data,
                      tensor->data);
}

static gboolean
recompare_run_sample (gsize      item,
                      guint      worker,
                      gpointer   data,
                      GError   **error)
{
  Again *again = data;
  const Kept *kept = &g_array_index (again->self->kept, Kept, item);
  g_autofree VnTensor **known = g_new0 (VnTensor *, again->taps->len + 1);
  Listen listen = { again, kept, again->sums + item * again->places[again->taps->len] };
  gboolean good;

  for (guint t = 0; t < again->taps->len; t++)
    {
      vn_part_sums_init (&listen.sums[again->places[t]], again->partitions[t]);
      known[t] = again->is_known[t] ? kept->quants[g_array_index (again->rows, guint, t)] : NULL;
    }
  vn_runner_set_tap (again->runners[worker], recompare_hear, &listen);
  good = vn_runner_run_taps (again->runners[worker], kept->inputs, known, (const guint *) (gpointer) again->wanted->data,
                             again->wanted->len, NULL, again->cancellable, error);
  vn_runner_set_tap (again->runners[worker], NULL, NULL);
  return good;
}

static gboolean
recompare_run (Again    *again,
               VnModel  *changed,
               GError  **error)
{
  VnRecompare *self = again->self;
  VnPlanOptions options = vn_plan_options_for_samples (self->input_shapes);

  options.taps = again->taps;
  options.can_restart = TRUE;
  again->plan = vn_plan_new (changed, &options, NULL, error);
  if (again->plan == NULL)
    return FALSE;
  for (guint t = 0; t < again->taps->len; t++)
    if (!again->is_known[t] && vn_plan_is_computed (again->plan, g_ptr_array_index (again->taps, t)))
      g_array_append_val (again->wanted, t);
  again->n_runners = MIN (self->n_threads > 0 ? self->n_threads : vn_parallel_default_threads (), self->kept->len);
  again->runners = g_new0 (VnRunner *, again->n_runners + 1);
  for (guint i = 0; i < again->n_runners; i++)
    if ((again->runners[i] = vn_runner_new (again->plan, error)) == NULL)
      return FALSE;
  again->sums = g_new0 (VnErrorSum, (gsize) self->kept->len * again->places[again->taps->len] + 1);
  return again->wanted->len == 0 ||
         vn_parallel_for (again->n_runners, self->kept->len, recompare_run_sample, again, again->cancellable, error);
}

/* The rows as they were, but for those that were computed again. */
static VnErrorTable *
recompare_make_table (const Again *again)
{
  VnRecompare *self = again->self;
  VnErrorTable *table = vn_error_table_new (self->kept->len);

  for (guint t = 0; t < again->taps->len; t++)
    {
      const VnValue *value = g_ptr_array_index (self->values, g_array_index (again->rows, guint, t));
      const VnErrorRow *before = again->is_known[t] ? vn_error_table_find (self->errors, value->name) : NULL;
      VnErrorSum sums[1 + VN_MOST_PARTS];

      vn_part_sums_init (sums, again->partitions[t]);
      for (guint s = 0; s < self->kept->len; s++)
        vn_part_sums_merge (sums, again->partitions[t], &again->sums[s * again->places[again->taps->len] + again->places[t]]);
      if (before != NULL)
        vn_error_table_add (table, vn_error_row_copy (before));
      else if (sums[0].n > 0)
        vn_error_table_add (table, vn_compare_make_row (self->float_plan, value, sums, again->partitions[t], NULL));
    }
  return table;
}

/**
 * vn_recompare_measure:
 * @changed: a quantized network
 * @options: of @changed; its samples do not matter
 * @cost: (nullable) (out): how much was run
 *
 * Compares @changed with the float network on the samples of the base. What is the same there is not run, if what it computes is
 * kept; a network with little in common with it, or in a format whose tensors have to be converted, is compared as a whole: local
 * errors are measured only then, errors of weights never. May be called from several threads.
 *
 * Returns: (transfer full) (nullable): the numbers of vn_compare() on these samples
 */
VnErrorTable *
vn_recompare_measure (VnRecompare             *self,
                      VnModel                 *changed,
                      const VnCompareOptions  *options,
                      VnRecompareCost         *cost,
                      GCancellable            *cancellable,
                      GError                 **error)
{
  g_auto(Again) again = { 0 };
  g_autoptr(GHashTable) same = NULL;
  VnCompareOptions all;

  g_return_val_if_fail (self != NULL && changed != NULL && options != NULL, NULL);

  same = vn_recompare_list_same (self->base, changed, error);
  if (same == NULL)
    return NULL;
  again = (Again) { .self = self, .taps = g_ptr_array_new (), .rows = g_array_new (FALSE, FALSE, sizeof (guint)),
                    .wanted = g_array_new (FALSE, FALSE, sizeof (guint)), .cancellable = cancellable };
  if (cost != NULL)
    *cost = (VnRecompareCost) { self->values->len, self->values->len };
  if (self->keeps && recompare_list_taps (&again, changed, same, options))
    {
      if (!recompare_run (&again, changed, error))
        return NULL;
      if (cost != NULL)
        *cost = (VnRecompareCost) { again.taps->len, again.wanted->len };
      return recompare_make_table (&again);
    }
  all = *options;
  all.parts = self->parts;
  all.samples = (const guint *) (gpointer) self->samples->data;
  all.n_samples = self->samples->len;
  all.n_threads = self->n_threads;
  return vn_compare (self->float_model, changed, self->input_shapes, self->dataset, &all, NULL, NULL, cancellable, error);
}
