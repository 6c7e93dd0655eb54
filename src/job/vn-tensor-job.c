/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The job that runs two networks as far as one tensor, on one sample for its pictures, and on all for its errors. Of all tensors
 * one is kept, from one sample. */
#include "vn-tensor-job.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-job-input.h"
#include "vn-memory.h"
#include "vn-sample-loop.h"

#include <math.h>

/* ---- reader ---- */

struct _VnTensorReader
{
  gatomicrefcount ref;
  VnDataSpec     *data;
  GHashTable     *given;        /* nullable */
  guint           n_calibration;
  GMutex          lock;         /* of what follows */
  VnDataset      *dataset;
  GHashTable     *shapes;       /* nullable */
  GArray         *samples;      /* of guint */
  GHashTable     *runnable;     /* VnModel -> VnModel: as the engine takes it */
};

/**
 * vn_tensor_reader_new:
 * @data: the samples of a run
 * @n_calibration: as of VnQuantizeSettings: so that those are looked at which the error is measured on
 *
 * Returns: (transfer full): nothing is opened yet
 */
VnTensorReader *
vn_tensor_reader_new (const VnDataSpec *data,
                      GHashTable       *input_shapes,
                      guint             n_calibration)
{
  VnTensorReader *self;

  g_return_val_if_fail (data != NULL, NULL);

  self = g_new0 (VnTensorReader, 1);
  g_atomic_ref_count_init (&self->ref);
  g_mutex_init (&self->lock);
  self->data = vn_data_spec_copy (data);
  self->given = input_shapes != NULL ? g_hash_table_ref (input_shapes) : NULL;
  self->n_calibration = n_calibration;
  self->runnable = g_hash_table_new_full (NULL, NULL, (GDestroyNotify) vn_model_unref, (GDestroyNotify) vn_model_unref);
  return self;
}

VnTensorReader *
vn_tensor_reader_ref (VnTensorReader *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref);
  return self;
}

void
vn_tensor_reader_unref (VnTensorReader *self)
{
  if (self == NULL || !g_atomic_ref_count_dec (&self->ref))
    return;
  g_mutex_clear (&self->lock);
  vn_data_spec_free (self->data);
  g_clear_pointer (&self->given, g_hash_table_unref);
  g_clear_pointer (&self->dataset, vn_dataset_unref);
  g_clear_pointer (&self->shapes, g_hash_table_unref);
  g_clear_pointer (&self->samples, g_array_unref);
  g_hash_table_unref (self->runnable);
  g_free (self);
}

/**
 * vn_tensor_reader_ref_dataset:
 *
 * Returns: (transfer full) (nullable): the samples; %NULL before a job has opened them
 */
VnDataset *
vn_tensor_reader_ref_dataset (VnTensorReader *self)
{
  VnDataset *dataset;

  g_return_val_if_fail (self != NULL, NULL);

  g_mutex_lock (&self->lock);
  dataset = self->dataset != NULL ? vn_dataset_ref (self->dataset) : NULL;
  g_mutex_unlock (&self->lock);
  return dataset;
}

guint
vn_tensor_reader_get_n_samples (VnTensorReader *self)
{
  guint n;

  g_return_val_if_fail (self != NULL, 0);

  g_mutex_lock (&self->lock);
  n = self->samples != NULL ? self->samples->len : 0;
  g_mutex_unlock (&self->lock);
  return n;
}

guint
vn_tensor_reader_get_sample (VnTensorReader *self,
                             guint           i)
{
  g_return_val_if_fail (self != NULL && i < vn_tensor_reader_get_n_samples (self), 0);

  return g_array_index (self->samples, guint, i);
}

static VnModel *
tensor_job_find_runnable (VnTensorReader  *self,
                          VnModel         *network,
                          GCancellable    *cancellable,
                          GError         **error)
{
  VnModel *model = g_hash_table_lookup (self->runnable, network);

  if (model != NULL)
    return model;
  model = vn_model_to_runnable (network, cancellable, error);
  if (model != NULL)
    g_hash_table_insert (self->runnable, vn_model_ref (network), model);
  return model;
}

static gboolean
tensor_job_open_samples (VnTensorReader  *self,
                         VnModel         *model,
                         GError         **error)
{
  g_autoptr(GArray) calibration = NULL;

  if (self->dataset != NULL)
    return TRUE;
  self->dataset = vn_model_open_data (model, self->data, self->given, &self->shapes, NULL, error);
  if (self->dataset == NULL)
    return FALSE;
  vn_job_split_samples (self->data, self->dataset, self->n_calibration, &calibration, &self->samples);
  if (self->samples->len > 0)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA, _("%s has no samples to show"), self->data->path);
  g_clear_pointer (&self->dataset, vn_dataset_unref);
  g_clear_pointer (&self->samples, g_array_unref);
  return FALSE;
}

/* ---- view ---- */

VnTensorView *
vn_tensor_view_ref (VnTensorView *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref);
  return self;
}

/**
 * vn_tensor_view_get_extent:
 * @extent: (out): of the part of @channel that a picture shows
 */
void
vn_tensor_view_get_extent (const VnTensorView *self,
                           gsize               channel,
                           VnTensorExtent     *extent)
{
  const float *first, *second;

  g_return_if_fail (self != NULL && channel < self->layout.n_channels && extent != NULL);

  first = self->tensors[0]->data;
  second = self->tensors[1]->data;
  *extent = (VnTensorExtent) { { INFINITY, INFINITY }, { -INFINITY, -INFINITY }, 0 };
  for (gsize row = 0; row < self->layout.n_rows; row++)
    for (gsize column = 0; column < self->layout.n_columns; column++)
      {
        gsize i;

        if (!vn_tensor_layout_get_index (&self->layout, channel, row, column, &i))
          continue;
        extent->low[0] = fmin (extent->low[0], (double) first[i]);
        extent->high[0] = fmax (extent->high[0], (double) first[i]);
        extent->low[1] = fmin (extent->low[1], (double) second[i]);
        extent->high[1] = fmax (extent->high[1], (double) second[i]);
        extent->largest = fmax (extent->largest, fabs ((double) second[i] - (double) first[i]));
      }
  if (!(extent->low[0] <= extent->high[0]))
    *extent = (VnTensorExtent) { { 0, 0 }, { 0, 0 }, 0 };
}

void
vn_tensor_view_unref (VnTensorView *self)
{
  if (self == NULL || !g_atomic_ref_count_dec (&self->ref))
    return;
  vn_tensor_clear_all (self->tensors, 2);
  vn_tensor_errors_clear (&self->errors);
  g_clear_pointer (&self->sqnr, g_array_unref);
  g_free (self);
}

static VnTensorView *
tensor_job_make_view (const VnTensorQuery  *query,
                      VnTensor             *tensors[2],
                      GError              **error)
{
  VnTensorView *self = g_new0 (VnTensorView, 1);

  g_atomic_ref_count_init (&self->ref);
  self->is_weight = query->is_weight;
  self->sample = query->sample;
  self->shape = tensors[0]->shape;
  for (guint i = 0; i < 2; i++)
    self->tensors[i] = g_steal_pointer (&tensors[i]);
  vn_tensor_layout_init (&self->layout, &self->shape, query->is_weight, query->axis);
  if (vn_tensor_errors_init (&self->errors, &self->layout, error))
    return self;
  vn_tensor_view_unref (self);
  return NULL;
}

static double
tensor_job_add_errors (VnTensorView *view,
                       const float  *first,
                       const float  *second)
{
  VnErrorSum sum;

  vn_tensor_errors_add (&view->errors, &view->layout, first, second, &view->grid);
  vn_error_sum_init (&sum);
  vn_error_sum_add (&sum, first, second, view->layout.n_elements);
  view->n_samples++;
  return vn_error_sum_sqnr (&sum);
}

/* ---- job ---- */

typedef struct
{
  VnTensorReader *reader;
  VnTensorQuery   query;
  VnTensorPair   *pair;
  VnTensorView   *view;
} VnTensorJob;

static const VnJobKind tensor_job_kind;

static gboolean
tensor_job_prepare (VnTensorJob   *self,
                    GCancellable  *cancellable,
                    GError       **error)
{
  g_autoptr(GMutexLocker) locker = g_mutex_locker_new (&self->reader->lock);
  VnTensorSource sources[2] = { self->query.sources[0], self->query.sources[1] };

  for (guint i = 0; i < 2; i++)
    {
      sources[i].network = tensor_job_find_runnable (self->reader, sources[i].network, cancellable, error);
      if (sources[i].network == NULL)
        return FALSE;
    }
  if (!tensor_job_open_samples (self->reader, sources[0].network, error))
    return FALSE;
  self->pair = vn_tensor_pair_new (sources, self->reader->shapes, error);
  return self->pair != NULL;
}

static gboolean
vn_tensor_job_prepare (VnJob         *job,
                       GCancellable  *cancellable,
                       GError       **error)
{
  VnTensorJob *self = vn_job_get_state (job, &tensor_job_kind);

  return self->query.is_weight || tensor_job_prepare (self, cancellable, error);
}

static gboolean
tensor_job_read_weights (VnTensorJob  *self,
                         GError      **error)
{
  VnTensor *tensors[2] = { NULL, NULL };
  VnValueGrid grid = { 0 };

  tensors[0] = vn_tensor_source_read_weight (&self->query.sources[0], NULL, error);
  tensors[1] = tensors[0] != NULL ? vn_tensor_source_read_weight (&self->query.sources[1], &grid, error) : NULL;
  if (tensors[1] != NULL && tensors[0]->n_elements != tensors[1]->n_elements)
    g_set_error (error, VN_ERROR, VN_ERROR_SHAPE, _("“%s” has %zu elements in one model and %zu in the other"),
                 self->query.sources[0].value,
                 tensors[0]->n_elements, tensors[1]->n_elements);
  else if (tensors[1] != NULL)
    self->view = tensor_job_make_view (&self->query, tensors, error);
  vn_tensor_clear_all (tensors, 2);
  if (self->view == NULL)
    return FALSE;
  self->view->grid = grid;
  tensor_job_add_errors (self->view, self->view->tensors[0]->data, self->view->tensors[1]->data);
  return TRUE;
}

static gboolean
tensor_job_read_sample (VnTensorJob   *self,
                        guint          sample,
                        VnTensor      *tensors[2],
                        GCancellable  *cancellable,
                        GError       **error)
{
  guint n = vn_tensor_pair_get_n_inputs (self->pair);
  g_autofree VnTensor **inputs = g_new0 (VnTensor *, n + 1);
  gboolean good = vn_sample_load (self->reader->dataset, vn_tensor_reader_get_sample (self->reader, sample), inputs, error) &&
                  vn_tensor_pair_read (self->pair, inputs, tensors, cancellable, error);

  vn_tensor_clear_all (inputs, n);
  return good;
}

static gboolean
vn_tensor_job_look (VnJob         *job,
                    GCancellable  *cancellable,
                    GError       **error)
{
  VnTensorJob *self = vn_job_get_state (job, &tensor_job_kind);
  VnTensor *tensors[2] = { NULL, NULL };
  const VnValueGrid *grid;

  if (self->query.is_weight)
    return tensor_job_read_weights (self, error);
  self->query.sample = MIN (self->query.sample, vn_tensor_reader_get_n_samples (self->reader) - 1);
  if (!tensor_job_read_sample (self, self->query.sample, tensors, cancellable, error))
    return FALSE;
  self->view = tensor_job_make_view (&self->query, tensors, error);
  vn_tensor_clear_all (tensors, 2);
  if (self->view == NULL)
    return FALSE;
  grid = vn_tensor_pair_get_grid (self->pair, 1);
  if (grid != NULL)
    self->view->grid = *grid;
  if (!self->query.all)
    tensor_job_add_errors (self->view, self->view->tensors[0]->data, self->view->tensors[1]->data);
  return TRUE;
}

static gboolean
tensor_job_wants_all (VnJob *job)
{
  VnTensorJob *self = vn_job_get_state (job, &tensor_job_kind);

  return self->query.all && !self->query.is_weight;
}

/* One sample after the other: what is looked at next shall not wait for more of them than the one under way. */
static gboolean
vn_tensor_job_measure (VnJob         *job,
                       GCancellable  *cancellable,
                       GError       **error)
{
  VnTensorJob *self = vn_job_get_state (job, &tensor_job_kind);
  VnProgress progress = vn_job_get_reporter (job);
  guint n = vn_tensor_reader_get_n_samples (self->reader);

  self->view->sqnr = g_array_new (FALSE, FALSE, sizeof (double));
  for (guint i = 0; i < n; i++)
    {
      VnTensor *tensors[2] = { NULL, NULL };
      g_autoptr(GError) bad = NULL;
      double db = NAN;

      if (g_cancellable_set_error_if_cancelled (cancellable, error))
        return FALSE;
      if (tensor_job_read_sample (self, i, tensors, cancellable, &bad) && tensors[0]->n_elements == self->view->layout.n_elements)
        db = tensor_job_add_errors (self->view, tensors[0]->data, tensors[1]->data);
      vn_tensor_clear_all (tensors, 2);
      if (bad != NULL && (g_error_matches (bad, G_IO_ERROR, G_IO_ERROR_CANCELLED) || vn_error_is_memory (bad)))
        {
          g_propagate_error (error, g_steal_pointer (&bad));
          return FALSE;
        }
      g_array_append_val (self->view->sqnr, db);
      vn_progress_report (&progress, _("samples"), i + 1, n);
    }
  return TRUE;
}

static const VnStage stages[] = {
  { "prepare", N_("Preparing"),           10, NULL,                 vn_tensor_job_prepare },
  { "look",    N_("Running one sample"),  10, NULL,                 vn_tensor_job_look },
  { "measure", N_("Measuring error"),     80, tensor_job_wants_all, vn_tensor_job_measure },
  { NULL },
};

static void
tensor_job_clear (gpointer data)
{
  VnTensorJob *self = data;

  for (guint i = 0; i < 2; i++)
    {
      VnTensorSource *source = &self->query.sources[i];

      g_clear_pointer (&source->network, vn_model_unref);
      g_clear_pointer (&source->reference, vn_model_unref);
      g_clear_pointer (&source->plan, vn_quant_plan_unref);
      g_free ((char *) source->value);
      g_free ((char *) source->plan_value);
    }
  g_clear_pointer (&self->pair, vn_tensor_pair_free);
  g_clear_pointer (&self->view, vn_tensor_view_unref);
  g_clear_pointer (&self->reader, vn_tensor_reader_unref);
}

static const VnJobKind tensor_job_kind = {
  .id = VN_JOB_TENSOR,
  .state_size = sizeof (VnTensorJob),
  .stages = stages,
  .clear = tensor_job_clear,
};

/**
 * vn_tensor_query_get_axis:
 * @node: that has a weight
 *
 * Returns: the axis along which the channels of its output lie in the weight
 */
int
vn_tensor_query_get_axis (const VnNode *node)
{
  g_return_val_if_fail (node != NULL, 0);

  if (vn_node_is (node, "ConvTranspose") || vn_node_is (node, "MatMul"))
    return 1;
  return vn_node_is (node, "Gemm") && vn_node_get_int (node, "transB", 0) == 0 ? 1 : 0;
}

/**
 * vn_tensor_job_new:
 * @query: copied
 *
 * Returns: (transfer full): a job that reads one tensor of two networks
 */
VnJob *
vn_tensor_job_new (VnTensorReader      *reader,
                   const VnTensorQuery *query)
{
  VnJob *job;
  VnTensorJob *self;

  g_return_val_if_fail (reader != NULL && query != NULL && query->sources[0].network != NULL && query->sources[1].network != NULL,
                        NULL);

  job = vn_job_new (&tensor_job_kind);
  self = vn_job_get_state (job, &tensor_job_kind);
  self->reader = vn_tensor_reader_ref (reader);
  self->query = *query;
  for (guint i = 0; i < 2; i++)
    {
      VnTensorSource *source = &self->query.sources[i];

      vn_model_ref (source->network);
      vn_job_add_source (job, source->network);
      source->value = g_strdup (source->value);
      source->plan_value = g_strdup (source->plan_value);
      if (source->reference != NULL)
        vn_model_ref (source->reference);
      if (source->plan != NULL)
        vn_quant_plan_ref (source->plan);
    }
  return job;
}

VnTensorView *
vn_tensor_job_get_view (VnJob *job)
{
  VnTensorJob *self;

  g_return_val_if_fail (vn_job_is (job, VN_JOB_TENSOR), NULL);

  self = vn_job_get_state (job, &tensor_job_kind);
  return self->view;
}
