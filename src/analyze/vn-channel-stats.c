/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One figure for each channel of values, over samples. Figures are kept per sample and joined in the order of the
 * samples, so that they do not depend on the threads. */
#include "vn-channel-stats.h"
#include "trimmed-mean.h"

#include "vn-memory.h"
#include "vn-multiversion.h"
#include "vn-sample-loop.h"
#include "vn-sample-ranks.h"

#include <math.h>
#include <string.h>

/* One of so many values is left out at each end of a trimmed mean. */
#define TRIM 1000

typedef struct
{
  const VnSamples *samples;
  VnChannelStat    stat;
  const int       *axes;         /* nullable: by tap */
  GPtrArray       *taps;
  VnPlan          *plan;
  GPtrArray      **per_sample;   /* of GArray of double, by tap; NULL: left out */
} Stats;

typedef struct
{
  VnRunner    *runner;
  const Stats *stats;
  GPtrArray   *figures;          /* of the present sample */
} Worker;

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

  /* Not fmax(): GCC 12 crashes where it makes vectors of that for AArch64. */
  for (gsize i = 0; i < n; i++)
    largest = MAX (largest, fabs ((double) numbers[i]));
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
  gsize n_channels = (gsize) tensor->shape.dims[axis],
  inner = (gsize) vn_shape_count (&tensor->shape, axis + 1, tensor->shape.rank);
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
  int axis = worker->stats->axes != NULL ? worker->stats->axes[tap] : 1;
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
      double figure = channel_stats_figure_of (worker->stats->stat, numbers, n);

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

static gpointer
channel_stats_start (guint      n_inside,
                     gpointer   data,
                     GError   **error)
{
  Stats *self = data;
  Worker *worker = g_new0 (Worker, 1);

  *worker = (Worker) { .stats = self, .runner = vn_sample_runner_new (self->plan, n_inside, channel_stats_look_at, worker,
                                                                      error) };
  if (worker->runner == NULL)
    g_clear_pointer (&worker, g_free);
  return worker;
}

static gboolean
channel_stats_scan (gpointer       data,
                    guint          item,
                    VnTensor     **inputs,
                    gpointer       user_data,
                    GCancellable  *cancellable,
                    GError       **error)
{
  Worker *worker = data;
  Stats *self = user_data;

  worker->figures = self->per_sample[item] = channel_stats_new_figures (self->taps->len);
  return vn_runner_run (worker->runner, inputs, NULL, cancellable, error);
}

static void
channel_stats_stop (gpointer data)
{
  vn_runner_free (((Worker *) data)->runner);
  g_free (data);
}

/* For each tap: how many channels, or NO_CHANNELS, and their figures. */
#define NO_CHANNELS G_MAXUINT64

static GBytes *
channel_stats_pack (guint      item,
                    gpointer   data,
                    GError   **error)
{
  const Stats *self = data;
  GByteArray *bytes = g_byte_array_new ();

  for (guint i = 0; i < self->taps->len; i++)
    {
      const GArray *figures = g_ptr_array_index (self->per_sample[item], i);
      const guint64 n = figures != NULL ? figures->len : NO_CHANNELS;

      g_byte_array_append (bytes, (const guint8 *) &n, sizeof n);
      if (figures != NULL)
        g_byte_array_append (bytes, (const guint8 *) figures->data, figures->len * (guint) sizeof (double));
    }
  return g_byte_array_free_to_bytes (bytes);
}

static gboolean
channel_stats_take (guint           item,
                    gconstpointer   bytes,
                    gsize           size,
                    gpointer        data,
                    GError        **error)
{
  const Stats *self = data;
  const guint8 *at = bytes, *end = at + size;

  self->per_sample[item] = channel_stats_new_figures (self->taps->len);
  for (guint i = 0; i < self->taps->len; i++)
    {
      guint64 n;
      GArray *figures;

      if ((gsize) (end - at) < sizeof n)
        return vn_sample_ranks_refuse (error);
      memcpy (&n, at, sizeof n);
      at += sizeof n;
      if (n == NO_CHANNELS)
        continue;
      if (n > (gsize) (end - at) / sizeof (double))
        return vn_sample_ranks_refuse (error);
      figures = g_array_sized_new (FALSE, FALSE, sizeof (double), (guint) n);
      g_array_append_vals (figures, at, (guint) n);
      at += n * sizeof (double);
      g_ptr_array_index (self->per_sample[item], i) = figures;
    }
  return at == end || vn_sample_ranks_refuse (error);
}

static const VnSampleFuncs channel_stats_funcs = { .start = channel_stats_start, .scan = channel_stats_scan,
                                                   .stop = channel_stats_stop, .pack = channel_stats_pack,
                                                   .take = channel_stats_take };

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

  for (guint s = 0; s < self->samples->n; s++)
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

static void
stats_clear (Stats *self)
{
  for (guint s = 0; self->per_sample != NULL && s < self->samples->n; s++)
    g_clear_pointer (&self->per_sample[s], g_ptr_array_unref);
  g_free (self->per_sample);
  g_clear_pointer (&self->plan, vn_plan_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Stats, stats_clear)

/**
 * vn_channel_stats:
 * @values: (element-type VnValue): float32 tensors of two axes or more, of the graph of @model
 * @axes: (nullable): by value: the axis of its channels; %NULL: 1 for all
 *
 * Runs the samples and looks at the channels of @values. Samples that cannot be read are left out, with a note.
 *
 * Returns: (transfer full) (element-type GArray) (nullable): by value a GArray of double, one for each channel; %NULL
 *   where a value cannot be computed here or has no channels. %NULL with an error if a run fails or is cancelled
 */
GPtrArray *
vn_channel_stats (VnModel          *model,
                  GPtrArray        *values,
                  const int        *axes,
                  VnChannelStat     stat,
                  const VnSamples  *samples,
                  GCancellable     *cancellable,
                  GError          **error)
{
  VnPlanOptions options;
  g_auto(Stats) self = { 0 };
  GPtrArray *joined;

  g_return_val_if_fail (model != NULL && values != NULL && samples != NULL, NULL);

  if (values->len == 0)
    return channel_stats_new_figures (0);
  options = vn_plan_options_for_samples (samples->shapes);
  options.taps = values;
  self = (Stats) { .samples = samples, .stat = stat, .axes = axes, .taps = values,
                   .plan = vn_plan_new (model, &options, NULL, error) };
  self.per_sample = g_new0 (GPtrArray *, samples->n + 1);
  if (self.plan == NULL || !vn_samples_each (samples, &(VnSampleOptions) { .plans = &self.plan, .n_plans = 1 },
                                             &channel_stats_funcs, &self,
                                             cancellable, error))
    return NULL;
  joined = channel_stats_new_figures (values->len);
  for (guint i = 0; i < values->len; i++)
    g_ptr_array_index (joined, i) = channel_stats_join (&self, i);
  return joined;
}
