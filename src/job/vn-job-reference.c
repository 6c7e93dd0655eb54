/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Errors are those against the model as it was opened. Where preparation changes what the outputs are, as an approximation in it
 * does, the prepared network is no measure; where it does not, it serves, as all its tensors can be compared. */
#include "vn-job-input.h"

#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-jobs.h"

#include <math.h>

#define EXACT_DB 80.0      /* other sums of the same products differ by less */

static gboolean
job_reference_same_values (const GPtrArray *a,
                           const GPtrArray *b)
{
  if (a->len != b->len)
    return FALSE;
  for (guint i = 0; i < a->len; i++)
    {
      const VnValue *x = g_ptr_array_index (a, i), *y = g_ptr_array_index (b, i);

      if (!g_str_equal (x->name, y->name) || x->type.shape.rank != y->type.shape.rank)
        return FALSE;
      for (int d = 0; d < x->type.shape.rank; d++)
        if (x->type.shape.dims[d] >= 0 && y->type.shape.dims[d] >= 0 && x->type.shape.dims[d] != y->type.shape.dims[d])
          return FALSE;
    }
  return TRUE;
}

/* As the engine runs it; %NULL if it cannot, or if preparation has given the network other inputs or outputs. */
static VnModel *
job_reference_open (const VnJobInput *self,
                    GCancellable     *cancellable)
{
  g_autoptr(VnModel) opened = vn_model_to_float (self->model, cancellable, NULL);

  if (opened == NULL || !job_reference_same_values (opened->graph->inputs, self->prepared->graph->inputs) ||
      !job_reference_same_values (opened->graph->outputs, self->prepared->graph->outputs))
    return NULL;
  return g_steal_pointer (&opened);
}

static VnErrorTable *
job_reference_compare (const VnJobInput  *self,
                       VnModel           *opened,
                       GArray            *samples,
                       guint              n,
                       const VnProgress  *progress,
                       GCancellable      *cancellable)
{
  const VnCompareOptions options = { .samples = (const guint *) (gpointer) samples->data, .n_samples = MIN (n, samples->len),
                                     .n_threads = self->n_threads, .outputs_only = TRUE, .parts = self->parts };

  return vn_compare (opened, self->prepared, self->shapes, self->dataset, &options, progress, NULL, cancellable, NULL);
}

static double
job_reference_find_worst (VnErrorTable *errors)
{
  double worst = INFINITY;

  for (guint i = 0; i < vn_error_table_get_n (errors); i++)
    worst = MIN (worst, vn_error_table_get (errors, i)->whole_db);
  return worst;
}

/*< private >
 * vn_job_input_find_reference:
 * @samples: (nullable) (element-type guint): that errors are measured on; %NULL: there are none
 *
 * Looks whether preparation has changed what the network computes. If so, @reference is the model as opened, and @preparation
 * holds what that alone costs each output, over all samples that are measured. Where that cannot be told, as inputs or outputs
 * are others, the prepared network is the measure.
 *
 * Returns: %FALSE with an error if it was cancelled
 */
gboolean
vn_job_input_find_reference (VnJobInput        *self,
                             GArray            *samples,
                             const VnProgress  *progress,
                             GCancellable      *cancellable,
                             GError           **error)
{
  g_autoptr(VnModel) opened = NULL;
  g_autoptr(VnErrorTable) few = NULL;

  g_return_val_if_fail (self != NULL && self->prepared != NULL, FALSE);

  g_clear_pointer (&self->reference, vn_model_unref);
  g_clear_pointer (&self->preparation, vn_error_table_unref);
  /* what stands for operators of a processor is no edit */
  if (self->dataset == NULL || self->edits == NULL || (vn_edit_log_get_n (self->edits) == 0 && !self->recipe->simulate_npu))
    return TRUE;
  opened = job_reference_open (self, cancellable);
  few = opened != NULL ? job_reference_compare (self, opened, samples, VN_REFERENCE_SAMPLES, progress, cancellable) : NULL;
  if (few != NULL && job_reference_find_worst (few) < EXACT_DB)
    {
      self->preparation = job_reference_compare (self, opened, samples, G_MAXUINT, NULL, cancellable);
      self->reference = self->preparation != NULL ? g_steal_pointer (&opened) : NULL;
    }
  return !g_cancellable_set_error_if_cancelled (cancellable, error);
}

/*< private >
 * vn_job_input_get_reference:
 *
 * Returns: (transfer none): what outputs are measured against
 */
VnModel *
vn_job_input_get_reference (const VnJobInput *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->reference != NULL ? self->reference : self->prepared;
}

/* What is measured against the model as opened, with what only the prepared network tells. */
static VnErrorRow *
job_reference_join_rows (const VnErrorRow *row,
                         const VnErrorRow *output,
                         const VnErrorRow *preparation)
{
  VnErrorRow *joined = vn_error_row_copy (output != NULL ? output : row);

  if (output == NULL)
    return joined;
  g_free (joined->node);
  g_free (joined->op_type);
  joined->node = g_strdup (row->node);
  joined->op_type = g_strdup (row->op_type);
  joined->has_local = row->has_local;
  joined->local_db = row->local_db;
  joined->contribution = row->contribution;
  joined->preparation_db = preparation != NULL ? preparation->sqnr_db : NAN;
  return joined;
}

/*< private >
 * vn_job_input_measure_outputs:
 * @errors: (transfer full): of all tensors, against the prepared network
 * @quantized, @options: as they were measured
 * @progress: (nullable): told how far it is, where there is another measure
 *
 * Returns: (transfer full) (nullable): the same, with outputs against the model as opened, if that is another measure
 */
VnErrorTable *
vn_job_input_measure_outputs (const VnJobInput        *self,
                              VnErrorTable            *errors,
                              VnModel                 *quantized,
                              const VnCompareOptions  *options,
                              const VnProgress        *progress,
                              GCancellable            *cancellable,
                              GError                 **error)
{
  VnCompareOptions outputs_only;
  g_autoptr(VnErrorTable) before = errors, outputs = NULL;
  VnErrorTable *joined;

  g_return_val_if_fail (self != NULL && errors != NULL && options != NULL, NULL);

  if (self->reference == NULL)
    return g_steal_pointer (&before);
  outputs_only = *options;
  outputs_only.outputs_only = TRUE;
  outputs = vn_compare (self->reference, quantized, self->shapes, self->dataset, &outputs_only, progress, NULL, cancellable,
                        error);
  if (outputs == NULL)
    return NULL;
  joined = vn_error_table_new (vn_error_table_get_n_samples (before));
  for (guint i = 0; i < vn_error_table_get_n (before); i++)
    {
      const VnErrorRow *row = vn_error_table_get (before, i);

      vn_error_table_add (joined, job_reference_join_rows (row, row->is_output ? vn_error_table_find (outputs, row->value) : NULL,
                                                           vn_error_table_find (self->preparation, row->value)));
    }
  return joined;
}
