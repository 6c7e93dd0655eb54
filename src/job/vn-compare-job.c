/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The job of “compare”: a float network and a quantized one from files, tensor by tensor. */
#include "vn-job-input.h"

#include "vn-data-check.h"
#include "vn-find-parts.h"
#include "vn-i18n.h"
#include "vn-node-match.h"
#include "vn-weights-check.h"

typedef struct
{
  VnModel      *float_model, *quant_model;
  VnDataSpec   *data;
  GHashTable   *input_shapes;
  guint         n_threads;
  VnModel      *float_run, *quant_run;   /* as the engine takes them */
  GHashTable   *shapes;                  /* nullable */
  VnDataset    *dataset;
  VnParts      *parts;
  VnErrorTable *errors;
  VnNotes      *notes;
} VnCompareJob;

static const VnJobKind compare_job_kind;

static void
compare_job_list_all (guint   n,
                      GArray *indices)
{
  for (guint i = 0; i < n; i++)
    g_array_append_val (indices, i);
}

/* Without running anything. What preparation folds into weights is folded into those of the float network, too. */
static void
compare_weights (VnCompareJob *self,
                 GCancellable *cancellable)
{
  g_autoptr(VnRecipe) recipe = vn_recipe_new (NULL);
  g_autoptr(VnEditLog) edits = vn_edit_log_new ();
  g_autoptr(VnNotes) unheard = vn_notes_new ();
  g_autoptr(VnModel) prepared = vn_job_prepare (self->float_model, recipe, self->input_shapes, edits, unheard, cancellable, NULL);
  guint n = vn_compare_weights (self->float_model, prepared, self->quant_model, self->errors);

  if (n > 0)
    vn_notes_add (self->notes, VN_NOTE_INFO, "weights-unmatched", NULL,
                  ngettext ("%u quantized constant has no counterpart of the same name or position: compare with the "
                            "float model after preparation",
                            "%u quantized constants have no counterpart of the same name or position: compare with "
                            "the float model after preparation", n), n);
}

/* Who exported the quantized network for one size gave it for both. */
static void
compare_job_take_fixed (VnCompareJob *self)
{
  g_autoptr(GHashTable) shapes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  GHashTableIter iter;
  gpointer name, shape;

  for (guint i = 0; i < self->float_model->graph->inputs->len; i++)
    {
      const VnValue *open = g_ptr_array_index (self->float_model->graph->inputs, i);
      const VnValue *fixed = vn_graph_find_value (self->quant_model->graph, open->name);

      if (fixed != NULL && open->initializer == NULL && !vn_shape_is_static (&open->type.shape) &&
          fixed->type.shape.rank > 0 && vn_shape_is_static (&fixed->type.shape))
        g_hash_table_insert (shapes, g_strdup (open->name), g_memdup2 (&fixed->type.shape, sizeof (VnShape)));
    }
  if (g_hash_table_size (shapes) == 0)
    return;
  if (self->input_shapes != NULL)
    {
      g_hash_table_iter_init (&iter, self->input_shapes);
      while (g_hash_table_iter_next (&iter, &name, &shape))
        if (!g_hash_table_contains (shapes, name))
          g_hash_table_insert (shapes, g_strdup (name), g_memdup2 (shape, sizeof (VnShape)));
      g_hash_table_unref (self->input_shapes);
    }
  self->input_shapes = g_steal_pointer (&shapes);
}

static gboolean
vn_compare_job_prepare (VnJob         *job,
                        GCancellable  *cancellable,
                        GError       **error)
{
  VnCompareJob *self = vn_job_get_state (job, &compare_job_kind);

  self->float_run = vn_model_to_float (self->float_model, cancellable, error);
  self->quant_run = self->float_run != NULL ? vn_model_to_runnable (self->quant_model, cancellable, error) : NULL;
  if (self->quant_run == NULL)
    return FALSE;
  compare_job_take_fixed (self);
  self->dataset = vn_model_open_data (self->float_run, self->data, self->input_shapes, &self->shapes, self->notes, error);
  return self->dataset != NULL;
}

static gboolean
vn_compare_job_check (VnJob         *job,
                      GCancellable  *cancellable,
                      GError       **error)
{
  VnCompareJob *self = vn_job_get_state (job, &compare_job_kind);

  return vn_data_check (self->float_model, self->float_run, self->shapes, self->dataset, FALSE, self->notes, cancellable, error);
}

static gboolean
vn_compare_job_compare (VnJob         *job,
                        GCancellable  *cancellable,
                        GError       **error)
{
  VnCompareJob *self = vn_job_get_state (job, &compare_job_kind);
  g_autoptr(VnNodeMatch) match = vn_node_match_new (self->float_run, self->quant_run);
  g_autoptr(GArray) samples = g_array_new (FALSE, FALSE, sizeof (guint));
  VnCompareOptions options = { .value_names = vn_node_match_get_values (match), .n_threads = self->n_threads, .local = TRUE,
                               .bodies = TRUE };
  VnProgress progress = vn_job_get_reporter (job);
  VnSamples run;

  vn_weights_check (self->float_model, self->notes);
  vn_weights_check (self->quant_model, self->notes);
  vn_graph_note_unsupported (self->float_run->graph, self->notes);
  compare_job_list_all (vn_dataset_get_n (self->dataset), samples);
  options.samples = (const guint *) (gpointer) samples->data;
  options.n_samples = samples->len;
  run = (VnSamples) { .shapes = self->shapes, .dataset = self->dataset, .indices = options.samples, .n = options.n_samples,
                         .n_threads = self->n_threads };
  self->parts = vn_find_parts (self->float_run, &run, NULL, cancellable, error);
  if (self->parts == NULL)
    return FALSE;
  options.parts = self->parts;
  self->errors = vn_compare (self->float_run, self->quant_run, self->shapes, self->dataset, &options, &progress, self->notes,
                             cancellable, error);
  return self->errors != NULL;
}

static gboolean
vn_compare_job_compare_weights (VnJob         *job,
                                GCancellable  *cancellable,
                                GError       **error)
{
  VnCompareJob *self = vn_job_get_state (job, &compare_job_kind);

  compare_weights (self, cancellable);
  vn_notes_sort (self->notes);
  return TRUE;
}

static gboolean
vn_compare_job_run (VnJob         *job,
                    GCancellable  *cancellable,
                    GError       **error)
{
  VnCompareJob *self = vn_job_get_state (job, &compare_job_kind);

  if (vn_job_run_stages (job, cancellable, error))
    return TRUE;
  if (!g_cancellable_is_cancelled (cancellable))
    vn_job_explain_open_sizes (self->float_model, self->data, self->input_shapes, error);
  return FALSE;
}

static const VnStage stages[] = {
  { "prepare", N_("Preparing"),            2,  NULL,                       vn_compare_job_prepare },
  { "check",   N_("Checking the samples"), 8,  NULL, vn_compare_job_check },
  { "compare", N_("Measuring error"),      85, NULL,                       vn_compare_job_compare },
  { "weights", N_("Comparing weights"),    5,  NULL,                       vn_compare_job_compare_weights },
  { NULL },
};

static void
compare_job_clear (gpointer data)
{
  VnCompareJob *self = data;

  vn_model_unref (self->float_model);
  vn_model_unref (self->quant_model);
  vn_data_spec_free (self->data);
  g_clear_pointer (&self->input_shapes, g_hash_table_unref);
  g_clear_pointer (&self->float_run, vn_model_unref);
  g_clear_pointer (&self->quant_run, vn_model_unref);
  g_clear_pointer (&self->shapes, g_hash_table_unref);
  g_clear_pointer (&self->dataset, vn_dataset_unref);
  g_clear_pointer (&self->parts, vn_parts_unref);
  g_clear_pointer (&self->errors, vn_error_table_unref);
  vn_notes_unref (self->notes);
}

static const VnJobKind compare_job_kind = {
  .id = VN_JOB_COMPARE,
  .state_size = sizeof (VnCompareJob),
  .stages = stages,
  .run = vn_compare_job_run,
  .clear = compare_job_clear,
};

/**
 * vn_compare_job_new:
 * @float_model: the reference
 * @quant_model: a model with the same inputs and names
 * @data: all its samples are used
 * @input_shapes: (nullable): sizes of inputs that @float_model leaves open; those that @quant_model fixes are its own
 *
 * Returns: (transfer full): a job that measures the error of every tensor both models have
 */
VnJob *
vn_compare_job_new (VnModel          *float_model,
                    VnModel          *quant_model,
                    const VnDataSpec *data,
                    GHashTable       *input_shapes,
                    guint             n_threads)
{
  VnJob *job;
  VnCompareJob *self;

  g_return_val_if_fail (float_model != NULL, NULL);

  job = vn_job_new (&compare_job_kind);
  self = vn_job_get_state (job, &compare_job_kind);
  self->notes = vn_notes_new ();
  self->float_model = vn_model_ref (float_model);
  self->quant_model = vn_model_ref (quant_model);
  vn_job_add_source (job, float_model);
  vn_job_add_source (job, quant_model);
  self->data = vn_data_spec_copy (data);
  self->input_shapes = input_shapes != NULL ? g_hash_table_ref (input_shapes) : NULL;
  self->n_threads = n_threads;
  return job;
}

VnErrorTable *
vn_compare_job_get_errors (VnJob *job)
{
  VnCompareJob *self;

  g_return_val_if_fail (vn_job_is (job, VN_JOB_COMPARE), NULL);

  self = vn_job_get_state (job, &compare_job_kind);
  return self->errors;
}

VnNotes *
vn_compare_job_get_notes (VnJob *job)
{
  VnCompareJob *self;

  g_return_val_if_fail (vn_job_is (job, VN_JOB_COMPARE), NULL);

  self = vn_job_get_state (job, &compare_job_kind);
  return self->notes;
}
