/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "vn-calibration-private.h"

#include "vn-data-check.h"
#include "vn-i18n.h"

struct _VnCompareJob
{
  VnJob         parent_instance;
  VnModel      *float_model, *quant_model;
  VnDataSpec   *data;
  GHashTable   *input_shapes;
  guint         n_threads;
  VnErrorTable *errors;
  VnNotes      *notes;
};

G_DEFINE_FINAL_TYPE (VnCompareJob, vn_compare_job, VN_TYPE_JOB)

static void
list_all (guint   n,
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
                  _("%u quantized constants have no counterpart of the same name or place: compare with the model that was "
                    "quantized, after preparation"), n);
}

static gboolean
vn_compare_job_run (VnJob         *job,
                    GCancellable  *cancellable,
                    GError       **error)
{
  VnCompareJob *self = VN_COMPARE_JOB (job);
  g_autoptr(VnModel) float_model = vn_model_to_runnable (self->float_model, cancellable, error);
  g_autoptr(VnModel) quant_model = float_model != NULL ? vn_model_to_runnable (self->quant_model, cancellable, error) : NULL;
  g_autoptr(VnDataset) dataset = NULL;
  g_autoptr(GHashTable) shapes = NULL;
  g_autoptr(GHashTable) names = NULL;
  g_autoptr(GArray) samples = g_array_new (FALSE, FALSE, sizeof (guint));
  VnCompareOptions options = { .n_threads = self->n_threads, .local = TRUE };
  VnProgress progress = vn_job_get_reporter (job);

  if (quant_model == NULL)
    return FALSE;
  dataset = vn_model_open_data (float_model, self->data, self->input_shapes, &shapes, self->notes, error);
  if (dataset == NULL)
    return FALSE;
  if (!g_str_equal (self->data->path, "random") &&
      !vn_data_check (self->float_model, float_model, shapes, dataset, FALSE, self->notes, cancellable, error))
    return FALSE;
  vn_graph_note_unsupported (float_model->graph, self->notes);
  names = vn_compare_match_names (float_model, quant_model);
  options.value_names = names;
  list_all (vn_dataset_get_n (dataset), samples);
  options.samples = (const guint *) (gpointer) samples->data;
  options.n_samples = samples->len;
  vn_job_begin_phase (job, _("Measuring error"), 0, 1);
  self->errors = vn_compare (float_model, quant_model, shapes, dataset, &options, &progress,
                             self->notes, cancellable, error);
  if (self->errors != NULL)
    compare_weights (self, cancellable);
  vn_notes_sort (self->notes);
  return self->errors != NULL;
}

static void
vn_compare_job_finalize (GObject *object)
{
  VnCompareJob *self = VN_COMPARE_JOB (object);

  vn_model_unref (self->float_model);
  vn_model_unref (self->quant_model);
  vn_data_spec_free (self->data);
  g_clear_pointer (&self->input_shapes, g_hash_table_unref);
  g_clear_pointer (&self->errors, vn_error_table_unref);
  vn_notes_unref (self->notes);
  G_OBJECT_CLASS (vn_compare_job_parent_class)->finalize (object);
}

static void
vn_compare_job_class_init (VnCompareJobClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = vn_compare_job_finalize;
  VN_JOB_CLASS (klass)->run = vn_compare_job_run;
}

static void
vn_compare_job_init (VnCompareJob *self)
{
  self->notes = vn_notes_new ();
}

/**
 * vn_compare_job_new:
 * @float_model: the reference
 * @quant_model: a model with the same inputs and names
 * @data: all its samples are used
 * @input_shapes: (nullable)
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
  VnCompareJob *self = g_object_new (VN_TYPE_COMPARE_JOB, NULL);

  self->float_model = vn_model_ref (float_model);
  self->quant_model = vn_model_ref (quant_model);
  self->data = vn_data_spec_copy (data);
  self->input_shapes = input_shapes != NULL ? g_hash_table_ref (input_shapes) : NULL;
  self->n_threads = n_threads;
  vn_job_set_title (VN_JOB (self), _("Comparing"));
  return VN_JOB (self);
}

VnErrorTable *
vn_compare_job_get_errors (VnCompareJob *self)
{
  return self->errors;
}

VnNotes *
vn_compare_job_get_notes (VnCompareJob *self)
{
  return self->notes;
}
