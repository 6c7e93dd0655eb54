/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One figure for each channel of values, over samples. Figures are kept per sample and joined in the order of the
 * samples, so that they do not depend on the threads. */
#include "vn-channel-stats.h"
#include "trimmed-mean.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-memory.h"
#include "vn-multiversion.h"
#include "vn-parallel.h"

#include <math.h>

/* One of so many values is left out at each end of a trimmed mean. */
#define TRIM 1000

typedef struct
{
  VnRunner      *runner;
  VnChannelStat  stat;
  const int     *axes;      /* nullable: by tap */
  GPtrArray     *figures;   /* of GArray of double, by tap: of the present sample */
} Worker;

typedef struct
{
  const VnChannelRun *run;
  VnChannelStat       stat;
  GPtrArray          *taps;
  VnPlan             *plan;
  Worker             *workers;
  guint               n_workers;
  GPtrArray         **per_sample;   /* NULL: left out */
  gint                done;
} Stats;

/* ---- one channel ---- */

static double
channel_stats_mean_of (const float *numbers,
                       gsize        n)
{
  double sum = 0;

  for (gsize i = 0; i < n; i++)
    sum += (double) numbers[i];
  return n > 0 ? sum / (double) n : 0;
}

static double
channel_stats_largest_of (const float *numbers,
                          gsize        n)
{
  double largest = 0;

  for (gsize i = 0; i < n; i++)
    largest = fmax (largest, fabs ((double) numbers[i]));
  return largest;
}

static double
channel_stats_mean_square_of (const float *numbers,
                              gsize        n)
{
  double sum = 0;

  for (gsize i = 0; i < n; i++)
    sum += (double) numbers[i] * (double) numbers[i];
  return n > 0 ? sum / (double) n : 0;
}

static double
channel_stats_figure_of (VnChannelStat  stat,
                         const float   *numbers,
                         gsize          n)
{
  switch (stat)
    {
    case VN_CHANNEL_LARGEST:
      return channel_stats_largest_of (numbers, n);
    case VN_CHANNEL_MEAN_SQUARE:
      return channel_stats_mean_square_of (numbers, n);
    case VN_CHANNEL_TRIMMED_MEAN:
      if (n >= TRIM)
        return vn_trimmed_mean (numbers, n, n / TRIM);
      break;
    case VN_CHANNEL_MEAN:
      break;
    }
  return channel_stats_mean_of (numbers, n);
}

static VN_MULTIVERSION gboolean
channel_stats_are_finite (const float *numbers,
                          gsize        n)
{
  guint32 bad = 0;

  for (gsize i = 0; i < n; i++)
    bad |= !(fabsf (numbers[i]) < INFINITY);
  return bad == 0;
}

/* The numbers of a channel, without a copy in @room if they stand together. Values that are not finite say nothing. */
static const float *
channel_stats_gather (const VnTensor *tensor,
                      int             axis,
                      gsize           channel,
                      float          *room,
                      gsize          *n)
{
  gsize n_channels = (gsize) tensor->shape.dims[axis], inner = (gsize) vn_shape_count (&tensor->shape, axis + 1, tensor->shape.rank);
  gsize n_first = tensor->n_elements / (inner * n_channels);
  const float *data = tensor->data;

  *n = inner;
  if (n_first == 1 && channel_stats_are_finite (data + channel * inner, inner))
    return data + channel * inner;
  *n = 0;
  for (gsize i = 0; i < n_first; i++)
    {
      const float *from = data + (i * n_channels + channel) * inner;

      for (gsize k = 0; k < inner; k++)
        if (isfinite (from[k]))
          room[(*n)++] = from[k];
    }
  return room;
}

static void
channel_stats_look_at (const VnValue  *value,
                       guint           tap,
                       const VnTensor *tensor,
                       gpointer        data)
{
  Worker *worker = data;
  int axis = worker->axes != NULL ? worker->axes[tap] : 1;
  GArray *figures;
  g_autofree float *room = NULL;

  if (tensor->dtype != VN_DTYPE_F32 || tensor->shape.rank < MAX (2, axis + 1) || tensor->n_elements == 0 ||
      g_ptr_array_index (worker->figures, tap) != NULL)
    return;
  room = vn_try_new (float, tensor->n_elements / (gsize) tensor->shape.dims[axis], NULL);
  if (room == NULL)
    return;
  figures = g_array_sized_new (FALSE, FALSE, sizeof (double), (guint) tensor->shape.dims[axis]);
  for (gsize c = 0; c < (gsize) tensor->shape.dims[axis]; c++)
    {
      gsize n;
      const float *numbers = channel_stats_gather (tensor, axis, c, room, &n);
      double figure = channel_stats_figure_of (worker->stat, numbers, n);

      g_array_append_val (figures, figure);
    }
  g_ptr_array_index (worker->figures, tap) = figures;
}

/* ---- samples ---- */

static void
channel_stats_unref_figures (gpointer figures)
{
  if (figures != NULL)
    g_array_unref (figures);
}

static GPtrArray *
channel_stats_new_figures (guint n)
{
  GPtrArray *figures = g_ptr_array_new_with_free_func (channel_stats_unref_figures);

  g_ptr_array_set_size (figures, (int) n);
  return figures;
}

static gboolean
channel_stats_run_sample (Stats     *self,
                          guint      sample,
                          Worker    *worker,
                          VnTensor **inputs,
                          GError   **error)
{
  const VnChannelRun *run = self->run;
  guint mark = vn_memory_mark ();
  GError *bad = NULL;

  if (!vn_dataset_load (run->dataset, run->samples[sample], inputs, &bad))
    return vn_dataset_leave_out (run->dataset, run->samples[sample], bad, run->notes, error);
  return vn_runner_run (worker->runner, inputs, NULL, NULL, error) && vn_memory_check (mark, error);
}

static gboolean
channel_stats_run_item (gsize     item,
                        guint     index,
                        gpointer  data,
                        GError  **error)
{
  Stats *self = data;
  Worker *worker = &self->workers[index];
  guint n = vn_plan_get_n_inputs (self->plan);
  g_autofree VnTensor **inputs = g_new0 (VnTensor *, n + 1);
  gboolean good;

  worker->figures = channel_stats_new_figures (self->taps->len);
  good = channel_stats_run_sample (self, (guint) item, worker, inputs, error);
  self->per_sample[item] = g_steal_pointer (&worker->figures);
  vn_tensor_clear_all (inputs, n);
  vn_progress_report (self->run->progress, _("samples"), (guint) g_atomic_int_add (&self->done, 1) + 1, self->run->n_samples);
  return good;
}

/* ---- all ---- */

static void
channel_stats_add_figures (GArray       *sum,
                           const GArray *figures,
                           gboolean      largest)
{
  for (guint c = 0; c < sum->len; c++)
    {
      double *to = &g_array_index (sum, double, c), from = g_array_index (figures, double, c);

      *to = largest ? fmax (*to, from) : *to + from;
    }
}

static GArray *
channel_stats_join (const Stats *self,
                    guint        tap)
{
  GArray *sum = NULL;
  guint n = 0;

  for (guint s = 0; s < self->run->n_samples; s++)
    {
      const GArray *figures = self->per_sample[s] != NULL ? g_ptr_array_index (self->per_sample[s], tap) : NULL;

      if (figures == NULL || (sum != NULL && sum->len != figures->len))
        continue;
      if (sum == NULL)
        {
          sum = g_array_sized_new (FALSE, TRUE, sizeof (double), figures->len);
          g_array_set_size (sum, figures->len);
        }
      channel_stats_add_figures (sum, figures, self->stat == VN_CHANNEL_LARGEST);
      n++;
    }
  for (guint c = 0; self->stat != VN_CHANNEL_LARGEST && sum != NULL && c < sum->len; c++)
    g_array_index (sum, double, c) /= n;
  return sum;
}

static gboolean
channel_stats_make_workers (Stats   *self,
                            GError **error)
{
  guint n_inside;

  self->n_workers = vn_plan_share_threads (&self->plan, 1, 0, self->run->n_threads, self->run->n_samples, &n_inside);
  self->workers = g_new0 (Worker, self->n_workers);
  self->per_sample = g_new0 (GPtrArray *, self->run->n_samples + 1);
  for (guint i = 0; i < self->n_workers; i++)
    {
      self->workers[i].runner = vn_runner_new (self->plan, error);
      if (self->workers[i].runner == NULL)
        return FALSE;
      vn_runner_set_threads (self->workers[i].runner, n_inside);
      self->workers[i].stat = self->stat;
      self->workers[i].axes = self->run->axes;
      vn_runner_set_tap (self->workers[i].runner, channel_stats_look_at, &self->workers[i]);
    }
  return TRUE;
}

static void
stats_clear (Stats *self)
{
  for (guint i = 0; self->workers != NULL && i < self->n_workers; i++)
    g_clear_pointer (&self->workers[i].runner, vn_runner_free);
  g_free (self->workers);
  for (guint s = 0; self->per_sample != NULL && s < self->run->n_samples; s++)
    g_clear_pointer (&self->per_sample[s], g_ptr_array_unref);
  g_free (self->per_sample);
  g_clear_pointer (&self->plan, vn_plan_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Stats, stats_clear)

/**
 * vn_channel_stats:
 * @values: (element-type VnValue): float32 tensors of two axes or more, of the graph of @model
 *
 * Runs the samples and looks at the channels of @values. Samples that cannot be read are left out, with a note.
 *
 * Returns: (transfer full) (element-type GArray) (nullable): by value a GArray of double, one for each channel; %NULL
 *   where a value cannot be computed here or has no channels. %NULL with an error if a run fails or is cancelled
 */
GPtrArray *
vn_channel_stats (VnModel             *model,
                  GPtrArray           *values,
                  VnChannelStat        stat,
                  const VnChannelRun  *run,
                  GCancellable        *cancellable,
                  GError             **error)
{
  VnPlanOptions options;
  g_auto(Stats) self = { 0 };
  GPtrArray *joined;

  g_return_val_if_fail (model != NULL && values != NULL && run != NULL, NULL);

  if (values->len == 0)
    return channel_stats_new_figures (0);
  options = vn_plan_options_for_samples (run->shapes);
  options.taps = values;
  self = (Stats) { .run = run, .stat = stat, .taps = values };
  self.plan = vn_plan_new (model, &options, NULL, error);
  if (self.plan == NULL || !channel_stats_make_workers (&self, error) ||
      !vn_parallel_for (self.n_workers, run->n_samples, channel_stats_run_item, &self, cancellable, error))
    return NULL;
  joined = channel_stats_new_figures (values->len);
  for (guint i = 0; i < values->len; i++)
    g_ptr_array_index (joined, i) = channel_stats_join (&self, i);
  return joined;
}
