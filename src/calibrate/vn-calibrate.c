/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The streaming run over the samples: one sample per thread as far as memory goes, each with a runner, a counting table and a
 * histogram per tap. Nothing is kept of a sample but the counts, so memory does not grow with their number, and as
 * counts are only added, the result does not depend on threads or order. */

#include "calibrate-taps.h"
#include "vn-histogram-private.h"
#include "vn-stats-private.h"

#include "vn-digest.h"
#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-memory.h"
#include "vn-plan-blocks.h"
#include "vn-sample-loop.h"

typedef struct
{
  const struct _Run *run;
  VnRunner     *runner;
  const VnDerived *derived;   /* one per tap: what need not be looked at */
  const int    *chain;        /* one per tap: the next one derived from the same tap, or from this; -1: none */
  VnHistogramScratch *scratch;
  VnHistogram **histograms;   /* one per tap; of derived ones only the sums over samples and votes */
  const VnTapChannels *channels, *looked_at;       /* one per tap */
  VnChannelRanges *ranges;    /* one per tap: of its channels, as far as they are not derived */
  VnHistogram  *sample;       /* empty between two tensors */
  gboolean     *seen;         /* one per tap: reported, if only without elements */
  gboolean      votes;        /* samples' choices are counted */
  gboolean      counts;       /* the sample that runs is in the histograms, not by its ends alone */
  guint         n_counted;
  VnEnds       *ends;         /* one per tap: of samples that are not counted */
  GArray       *samples;      /* of VnStatsSample: those that went in */
} Worker;

typedef struct _Run
{
  VnPlan                   *plan;
  GPtrArray                *taps;
  VnDataset                *dataset;
  const VnCalibrateOptions *options;
  GCancellable             *cancellable;
  VnDerived                *derived;    /* one per tap */
  int                      *chain;      /* one per tap */
  VnTapChannels            *channels;   /* one per tap: of which ranges are wanted */
  VnTapChannels            *looked_at;  /* one per tap: of which they are found, for itself or for what is derived from it */
  gboolean                 *counted;    /* (nullable): by sample: whether it is in the histograms; NULL: all are */
  VnSampleLoop             *loop;
  GPtrArray                *parts;      /* of VnStats: where processes share the samples, what each has learned */
  guint                     mark;       /* of vn_memory_mark() at the beginning */
} Run;

/* A tap that is not derived, and all that are derived from it. */
static void
calibrate_observe_elements (Worker                *self,
                            guint                  tap,
                            const float           *x,
                            const VnChannelLayout *layout,
                            gboolean               has_channels)
{
  VnChannelRanges *ranges = has_channels ? &self->ranges[tap] : NULL;
  VnHistogram *sample = self->sample;
  VnSampleTails tails = { 0 };

  if (!self->counts && vn_ends_scan (&self->ends[tap], self->scratch, x, layout, ranges))
    return;
  vn_histogram_scan_channels (sample, self->scratch, x, layout, ranges);
  for (int i = (int) tap; i >= 0; i = self->chain[i])
    {
      const VnDerived *derived = &self->derived[i];

      vn_sample_sums_add (&self->histograms[i]->samples, sample, &tails, derived->min, derived->max);
      if (self->votes)
        vn_histogram_add_votes (self->histograms[i], sample, derived->min, derived->max);
    }
  vn_histogram_take_counts (self->histograms[tap], sample, self->scratch);
}

/* The channels of a clamped tap have the ranges of its source, clamped; but an infinite element, of which no channel knows,
 * became a finite one. */
static gboolean
calibrate_knows_channels (const Worker *self,
                          guint         tap)
{
  const VnDerived *derived = &self->derived[tap];
  const VnHistogram *source = self->histograms[derived->source];

  return self->channels[tap] == VN_TAP_CHANNELS_NONE ||
         (!derived->moved && self->looked_at[derived->source] == self->channels[tap] &&
          source->n_pos_inf + source->n_neg_inf == 0);
}

static void
calibrate_observe (const VnValue  *value,
                   guint           tap,
                   const VnTensor *tensor,
                   gpointer        data)
{
  Worker *self = data;
  VnChannelLayout layout;
  gboolean has_channels;

  if (tensor->dtype != VN_DTYPE_F32)
    return;
  self->seen[tap] = TRUE;
  has_channels = _vn_calibrate_get_layout (self->looked_at[tap], tensor, &layout);
  if (self->derived[tap].source < 0)
    calibrate_observe_elements (self, tap, tensor->data, &layout, has_channels);
  else if (has_channels && !calibrate_knows_channels (self, tap))
    vn_channel_ranges_scan (&self->ranges[tap], tensor->data, layout.n_first, layout.n_channels, layout.n_inner);
}

/* The same of what lies in blocks: channels are the second axis of the value. */
static void
calibrate_observe_blocks (const VnValue  *value,
                          guint           tap,
                          const VnTensor *tensor,
                          gsize           n_channels,
                          gpointer        data)
{
  Worker *self = data;
  const VnShape *shape = &tensor->shape;
  const VnChannelLayout layout = { (gsize) shape->dims[0], n_channels, (gsize) vn_shape_count (shape, 2, shape->rank - 1),
                                   (guint) shape->dims[shape->rank - 1] };

  self->seen[tap] = TRUE;
  if (self->derived[tap].source < 0)
    {
      calibrate_observe_elements (self, tap, tensor->data, &layout, self->looked_at[tap] == VN_TAP_CHANNELS_SECOND);
      return;
    }
  if (self->channels[tap] != VN_TAP_CHANNELS_SECOND || calibrate_knows_channels (self, tap))
    return;
  vn_histogram_scan_channels (self->sample, self->scratch, tensor->data, &layout, &self->ranges[tap]);
  vn_histogram_clear (self->sample);   /* of that only the ranges were wanted */
}

/* A #VnEndsTapFunc, for samples that are not counted. */
static gboolean
calibrate_take_ends (const VnValue *value,
                     guint          tap,
                     const float   *low,
                     const float   *high,
                     gsize          n_channels,
                     gpointer       data)
{
  Worker *self = data;
  VnChannelRanges *ranges = self->looked_at[tap] == VN_TAP_CHANNELS_SECOND ? &self->ranges[tap] : NULL;

  if (self->derived[tap].source >= 0 || self->looked_at[tap] == VN_TAP_CHANNELS_LAST ||
      !vn_ends_take_channels (&self->ends[tap], low, high, n_channels, ranges))
    return FALSE;
  self->seen[tap] = TRUE;
  return TRUE;
}

/* Pages of counters that the histogram of a tensor usually has: so many powers of two that its numbers lie between. */
#define USUAL_PAGES 32

/* What a worker has beside its runner. */
static gsize
calibrate_count_bytes (const VnDerived *derived,
                       guint            n)
{
  gsize bytes = n * sizeof (VnHistogram);

  for (guint i = 0; i < n; i++)
    if (derived[i].source < 0)
      bytes += (gsize) USUAL_PAGES * VN_HISTOGRAM_PAGE_BINS * sizeof (guint64);
  return bytes;
}

static void
calibrate_stop (gpointer data)
{
  Worker *self = data;

  vn_runner_free (self->runner);
  vn_scratch_free (self->scratch);
  g_array_unref (self->samples);
  for (guint i = 0; i < self->run->taps->len; i++)
    {
      vn_histogram_free (self->histograms[i]);
      vn_channel_ranges_clear (&self->ranges[i]);
    }
  vn_histogram_free (self->sample);
  g_free (self->ranges);
  g_free (self->histograms);
  g_free (self->ends);
  g_free (self->seen);
  g_free (self);
}

static gpointer
calibrate_start (guint      n_inside,
                 gpointer   data,
                 GError   **error)
{
  const Run *run = data;
  VnRunner *runner = vn_memory_expect (run->taps->len * sizeof (VnHistogram), error) ? vn_runner_new (run->plan, error) : NULL;
  Worker *self;

  if (runner == NULL)
    return NULL;
  self = g_new0 (Worker, 1);
  *self = (Worker) { .run = run, .runner = runner, .derived = run->derived, .chain = run->chain, .channels = run->channels,
                     .looked_at = run->looked_at, .votes = run->options->votes, .scratch = vn_scratch_new (),
                     .samples = vn_stats_samples_new (), .seen = g_new0 (gboolean, run->taps->len + 1),
                     .sample = vn_histogram_new (),
                     .histograms = g_new (VnHistogram *, run->taps->len + 1),
                     .ends = g_new (VnEnds, run->taps->len + 1),
                     .ranges = g_new0 (VnChannelRanges, run->taps->len + 1) };
  for (guint i = 0; i < run->taps->len; i++)
    {
      self->histograms[i] = vn_histogram_new ();
      self->ends[i] = VN_ENDS_NONE;
    }
  vn_runner_set_threads (runner, n_inside);
  vn_runner_set_tap (runner, calibrate_observe, self);
  vn_runner_set_blocks_tap (runner, calibrate_observe_blocks);
  return self;
}

static void
calibrate_worker_add_sample (Worker           *self,
                             const Run        *run,
                             guint             sample,
                             VnTensor * const *inputs)
{
  VnDigest digest = { 0 };

  for (guint i = 0; i < vn_plan_get_n_inputs (run->plan); i++)
    vn_digest_add (&digest, inputs[i]->data, inputs[i]->dtype != VN_DTYPE_STRING ? inputs[i]->n_bytes : 0);
  vn_stats_samples_add (self->samples, sample, vn_dataset_get_name (run->dataset, sample), vn_digest_get (&digest));
  self->n_counted += self->counts;
}

/* Where the counts are to outlive a cancelled run, a sample that has been begun is finished: half of one is in no list. */
static gboolean
calibrate_scan (gpointer       data,
                guint          item,
                VnTensor     **inputs,
                gpointer       user_data,
                GCancellable  *cancellable,
                GError       **error)
{
  Worker *self = data;
  const Run *run = user_data;

  self->counts = run->counted == NULL || run->counted[item];
  vn_runner_set_ends_tap (self->runner, self->counts ? NULL : calibrate_take_ends);
  if (!vn_runner_run (self->runner, inputs, NULL, run->options->checkpoint != NULL ? NULL : cancellable, error))
    return FALSE;
  calibrate_worker_add_sample (self, run, run->options->samples[item], inputs);
  return TRUE;
}

static const Worker *
calibrate_run_get_worker (const Run *run,
                          guint      w)
{
  return vn_sample_loop_get_worker (run->loop, w);
}

/* Sum over all threads; NULL if the tap reported nothing that can be observed. */
static VnHistogram *
calibrate_run_merge (Run      *run,
                     guint     tap,
                     gboolean  last)
{
  g_autoptr(VnHistogram) sum = NULL;
  VnEnds ends = VN_ENDS_NONE;

  for (guint w = 0; w < vn_sample_loop_get_n_workers (run->loop); w++)
    {
      const Worker *worker = calibrate_run_get_worker (run, w);

      if (!worker->seen[tap])
        continue;
      vn_ends_widen (&ends, &worker->ends[tap]);
      if (sum == NULL && last)
        {
          sum = g_steal_pointer (&worker->histograms[tap]);
          continue;
        }
      if (sum == NULL)
        sum = vn_histogram_new ();
      vn_histogram_merge (sum, worker->histograms[tap]);
    }
  if (sum != NULL)
    vn_histogram_count_ends (sum, &ends);
  return g_steal_pointer (&sum);
}

/* Those of its own, and where its source alone was looked at, those of that. */
static void
calibrate_run_merge_ranges (Run             *run,
                            guint            tap,
                            VnChannelRanges *ranges)
{
  const VnDerived *derived = &run->derived[tap];
  const gboolean is_clamped = derived->source >= 0 && !derived->moved && run->looked_at[derived->source] == run->channels[tap];

  for (guint w = 0; w < vn_sample_loop_get_n_workers (run->loop) && run->channels[tap] != VN_TAP_CHANNELS_NONE; w++)
    {
      const Worker *worker = calibrate_run_get_worker (run, w);

      vn_channel_ranges_merge (ranges, &worker->ranges[tap]);
      if (is_clamped)
        vn_channel_ranges_merge_clamped (ranges, &worker->ranges[derived->source], derived->min, derived->max);
    }
}

/* What of a derived tap was not derived is in @own. */
static VnHistogram *
calibrate_run_clamp (Run               *run,
                     guint              tap,
                     const VnHistogram *source,
                     const VnHistogram *own)
{
  const VnDerived *derived = &run->derived[tap];
  VnHistogram *clamped = source != NULL ? vn_histogram_new_clamped (source, derived->min, derived->max) : NULL;

  if (clamped != NULL && own != NULL)
    {
      clamped->samples = own->samples;
      vn_position_votes_merge (&clamped->votes, &own->votes);
      calibrate_run_merge_ranges (run, tap, &clamped->channels);
    }
  return clamped;
}

/* Of all taps; NULL where nothing could be observed. After the @last ones of a run the threads have none. */
static GPtrArray *
calibrate_run_list_histograms (Run      *run,
                               gboolean  last)
{
  GPtrArray *sums = g_ptr_array_new_full (run->taps->len, (GDestroyNotify) vn_histogram_free);

  for (guint i = 0; i < run->taps->len; i++)
    g_ptr_array_add (sums, calibrate_run_merge (run, i, last));
  for (guint i = 0; i < run->taps->len; i++)
    {
      g_autoptr(VnHistogram) own = sums->pdata[i];
      const int source = run->derived[i].source;

      if (source < 0)
        {
          if (own != NULL)
            calibrate_run_merge_ranges (run, i, &own->channels);
          own = NULL;
        }
      else
        sums->pdata[i] = calibrate_run_clamp (run, i, sums->pdata[source], own);
    }
  return sums;
}

static void
calibrate_run_list_samples (Run     *run,
                            VnStats *stats)
{
  for (guint w = 0; w < vn_sample_loop_get_n_workers (run->loop); w++)
    {
      const GArray *samples = calibrate_run_get_worker (run, w)->samples;

      stats->n_counted += calibrate_run_get_worker (run, w)->n_counted;
      for (guint i = 0; i < samples->len; i++)
        {
          const VnStatsSample *sample = &g_array_index (samples, VnStatsSample, i);

          vn_stats_samples_add (stats->samples, sample->index, sample->name, sample->digest);
        }
    }
  vn_stats_samples_sort (stats->samples);
  stats->n_samples = stats->samples->len;
  /* of several processes each has finished its part */
  stats->n_left = vn_sample_loop_get_n_ranks (run->loop) == 1
                  ? run->options->n_samples - vn_sample_loop_get_n_done (run->loop) : 0;
  stats->n_all = run->options->n_all;
}

static VnStats *
calibrate_run_collect (Run       *run,
                       gboolean   last,
                       GError   **error)
{
  g_autoptr(VnStats) stats = NULL;
  g_autoptr(GPtrArray) sums = NULL;

  if (!vn_memory_expect (run->taps->len * sizeof (VnHistogram), error))
    return NULL;
  stats = vn_stats_new (0);
  stats->origin = vn_stats_origin_copy (run->options->origin);
  calibrate_run_list_samples (run, stats);
  sums = calibrate_run_list_histograms (run, last);
  for (guint i = 0; i < run->taps->len; i++)
    {
      const VnValue *value = g_ptr_array_index (run->taps, i);
      g_autoptr(VnHistogram) sum = g_steal_pointer (&sums->pdata[i]);
      g_autofree char *key = NULL;

      /* Constants, integers and float16 are not observed. What lies in a branch that no sample has taken was looked for. */
      if (sum == NULL && value->graph->parent == NULL)
        continue;
      if (sum == NULL)
        sum = vn_histogram_new ();
      key = vn_value_dup_key (value);
      vn_stats_take (stats, key, g_steal_pointer (&sum));
    }
  vn_stats_seal (stats);
  return vn_memory_check (run->mark, error) ? g_steal_pointer (&stats) : NULL;
}

static GBytes *
calibrate_pack (gpointer   data,
                GError   **error)
{
  Run *run = data;
  VnStats *own = calibrate_run_collect (run, TRUE, error);

  if (own == NULL)
    return NULL;
  g_ptr_array_add (run->parts, own);
  return vn_stats_to_bytes (own, error);
}

static gboolean
calibrate_take (GBytes    *bytes,
                gpointer   data,
                GError   **error)
{
  Run *run = data;
  VnStats *part = vn_stats_from_bytes (bytes, error);

  if (part != NULL)
    g_ptr_array_add (run->parts, part);
  return part != NULL;
}

static const VnSampleFuncs calibrate_funcs = { .start = calibrate_start, .scan = calibrate_scan, .stop = calibrate_stop,
                                               .pack_sum = calibrate_pack, .take_sum = calibrate_take };

/* What all processes have learned: counts only add up. */
static VnStats *
calibrate_run_join (Run     *run,
                    GError **error)
{
  return vn_sample_loop_get_n_ranks (run->loop) > 1 ? vn_stats_merge ((VnStats **) run->parts->pdata, run->parts->len, error)
                                                    : calibrate_run_collect (run, TRUE, error);
}

/* ---- checkpoints ---- */

#define CHECKPOINT_SECONDS 10
#define SLICE_PER_WORKER 4

static gboolean
calibrate_run_checkpoint (Run     *run,
                          GError **error)
{
  g_autoptr(VnStats) stats = calibrate_run_collect (run, FALSE, error);

  return stats != NULL && run->options->checkpoint (stats, run->options->checkpoint_data, error);
}

/* So many samples that several slices fit between two checkpoints, but no more: at the end of each all threads wait for
 * the slowest. */
static guint
calibrate_next_slice (guint   slice,
                      guint   n_workers,
                      double  seconds,
                      double  interval)
{
  double fitting = slice * interval / (2 * MAX (seconds, 1e-6));

  return MAX (n_workers, (guint) MIN (fitting, 4.0 * slice));
}

static gboolean
calibrate_run_slices (Run     *run,
                      GError **error)
{
  const VnCalibrateOptions *options = run->options;
  double interval = options->checkpoint_seconds > 0 ? options->checkpoint_seconds : CHECKPOINT_SECONDS;
  const guint n_workers = vn_sample_loop_get_n_workers (run->loop);
  guint slice = options->checkpoint != NULL ? n_workers * SLICE_PER_WORKER : options->n_samples, from = 0;
  gint64 saved = g_get_monotonic_time ();

  while (from < options->n_samples)
    {
      gint64 start = g_get_monotonic_time ();
      guint n = MIN (slice, options->n_samples - from);
      gint64 now;

      if (!vn_sample_loop_run (run->loop, from, n, run->cancellable, error))
        return FALSE;
      from += n;
      now = g_get_monotonic_time ();
      slice = calibrate_next_slice (slice, n_workers, (double) (now - start) / G_USEC_PER_SEC, interval);
      if (options->checkpoint == NULL || from == options->n_samples || now - saved < interval * G_USEC_PER_SEC)
        continue;
      if (!calibrate_run_checkpoint (run, error))
        return FALSE;
      saved = now;
    }
  return TRUE;
}

/* Runs all samples. A cancelled run hands over what it has before it ends; not of several processes, which would have to agree
 * when. */
static gboolean
calibrate_run_all (Run     *run,
                   GError **error)
{
  g_autoptr(GError) reason = NULL;

  if (vn_sample_loop_get_n_ranks (run->loop) > 1)
    return vn_sample_loop_run (run->loop, 0, run->options->n_samples, run->cancellable, error);
  if (calibrate_run_slices (run, &reason))
    return TRUE;
  if (run->options->checkpoint != NULL && g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_CANCELLED) &&
      !calibrate_run_checkpoint (run, error))
    return FALSE;
  g_propagate_error (error, g_steal_pointer (&reason));
  return FALSE;
}

static gboolean
calibrate_check_arguments (VnDataset                 *dataset,
                           const VnCalibrateOptions  *options,
                           GError                   **error)
{
  guint n = vn_dataset_get_n (dataset);

  if (options->n_samples == 0 && !options->may_be_empty)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA, _("There are no samples to calibrate on"));
      return FALSE;
    }
  for (guint i = 0; i < options->n_samples; i++)
    if (options->samples[i] >= n)
      {
        g_set_error (error, VN_ERROR, VN_ERROR_SETTING, ngettext ("Sample %u was requested, but there is only %u",
                                                                  "Sample %u was requested, but there are only %u", n),
                     options->samples[i], n);
        return FALSE;
      }
  return TRUE;
}

/**
 * vn_calibrate:
 * @plan: must have been made with the values to observe as taps
 * @taps: (element-type VnValue): as given to the plan
 * @dataset: opened for the plan's inputs, in their order
 * @options: which samples, how many threads, who wants to keep what a long run has learned so far
 * @progress: (nullable): told after every sample
 * @notes: (nullable): receives unreadable samples and values that are not finite
 * @cancellable: (nullable): looked at before every sample and inside the run
 *
 * Runs the samples through the network, one per thread if there is memory for so many, and observes every tapped float32 value;
 * others have no entry in the result. A sample that cannot be loaded is left out and named in @notes; none left is
 * %VN_ERROR_MISSING_DATA. NaN and infinities are counted and noted, they do not enter ranges.
 *
 * Processes that share the loops' samples, vn_sample_ranks_set(), all have the statistics of all samples afterwards; nothing is
 * kept of what they have learned when they are cancelled.
 *
 * Returns: (transfer full) (nullable): statistics, the same bits for any number of processes and threads and order of samples
 */
VnStats *
vn_calibrate (VnPlan                    *plan,
              GPtrArray                 *taps,
              VnDataset                 *dataset,
              const VnCalibrateOptions  *options,
              const VnProgress          *progress,
              VnNotes                   *notes,
              GCancellable              *cancellable,
              GError                   **error)
{
  Run run;
  g_autoptr(VnStats) stats = NULL;
  VnSamples samples;
  VnSampleOptions loop_options;
  gboolean ok;

  g_return_val_if_fail (plan != NULL && taps != NULL && options != NULL, NULL);

  if (!calibrate_check_arguments (dataset, options, error))
    return NULL;
  run = (Run) { .plan = plan, .taps = taps, .options = options, .dataset = dataset, .cancellable = cancellable,
                .parts = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_stats_unref), .mark = vn_memory_mark () };
  run.derived = vn_plan_derive_taps (plan);
  run.chain = _vn_calibrate_chain_derived (run.derived, taps->len);
  run.channels = _vn_calibrate_find_channels (taps);
  run.looked_at = _vn_calibrate_add_sources (run.channels, run.derived, taps->len);
  samples = (VnSamples) { dataset, NULL, options->samples, options->n_samples, options->n_threads, progress, notes };
  loop_options = (VnSampleOptions) { .plans = &plan, .n_plans = 1, .more = calibrate_count_bytes (run.derived, taps->len) };
  run.loop = vn_sample_loop_new (&samples, &loop_options, &calibrate_funcs, &run, error);
  if (run.loop != NULL && vn_sample_loop_get_n_ranks (run.loop) == 1)
    run.counted = _vn_calibrate_choose_counted (options);
  vn_progress_report (progress, _("samples"), 0, options->n_samples);
  ok = run.loop != NULL && calibrate_run_all (&run, error);
  if (ok)
    ok = (stats = calibrate_run_join (&run, error)) != NULL;
  if (ok && notes != NULL && !options->may_be_empty)
    vn_stats_note_values (stats, notes);
  if (ok && !options->may_be_empty && !vn_sample_loop_check_read (run.loop, error))
    g_clear_pointer (&stats, vn_stats_unref);

  vn_sample_loop_free (run.loop);
  g_ptr_array_unref (run.parts);
  g_free (run.derived);
  g_free (run.chain);
  g_free (run.channels);
  g_free (run.looked_at);
  g_free (run.counted);
  return g_steal_pointer (&stats);
}
