/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two samples give an estimate of what each tensor costs. In the order of it tensors are measured on one, then those that
 * matter on more: each sample runs once through the float network, and from what that computed on, what lies downstream of a
 * tensor runs again with that quantized. Sums are kept by sample and added in the order of the samples, so that the figures
 * do not depend on the threads, nor on how much of what it computed is kept. Processes share the tensors, not the samples, which
 * are too few: each runs the float network on all. */
#include "vn-contribution.h"

#include "contribution-sample.h"
#include "contribution-shares.h"

#include "vn-checked.h"
#include "vn-memory.h"
#include "vn-parallel.h"
#include "vn-sample-loop.h"
#include "vn-sample-ranks.h"

#include <math.h>
#include <string.h>

/* How many samples a tensor is measured on, while its share, and twice the error of that, is at least so much; the first of them
 * goes by the estimate, which may be a thousand times too small. The third and later ones are for shares
 * that are large, or not yet certain to a fifth of a percentage point. */
static const struct { guint n_samples; double least_share, large_share, least_error; } contribution_levels[] =
  { { 1, 1e-6, 0, 0 }, { 2, 1e-3, 0, 0 }, { 4, 1e-2, 1e-2, 2e-3 }, { G_MAXUINT, 1e-2, INFINITY, 2e-3 } };

/* Samples whose values are kept at a time, if there is memory for them, and tensors that a thread takes at a time, or that are
 * told together. */
#define GROUP 2
#define CHUNK 4
#define SLICE 64

/* Tensors that a thread has beside those of its runner: what the float network computes, and that with something changed. */
#define COPIES 2

/* Differences that are kept at most. */
#define MOST_KEPT ((gsize) 8 << 20)

typedef struct
{
  VnProbe            *probe;
  VnPlan             *plan;
  const VnSamples    *run;
  const VnContributionOptions *options;
  GCancellable       *cancellable;
  VnSampleLoop       *loop;                /* over the samples with their copies; its workers are runners */
  guint              *indices;             /* n_samples of them */
  guint               n_threads;
  guint               n_ends, n_suspects, n_kept;
  guint               n_samples, n_copies;   /* with their copies; of each */
  VnProbeSample       group[GROUP];
  guint               most_group;          /* samples that there is memory for */
  guint               first, n_group;      /* samples that are in it */
  gsize               budget;              /* bytes that may be kept of it */
  VnShares            shares;
  const guint        *batch;
  guint               n_batch;
  guint64             done, total;
} Contribution;

static void
contribution_clear (Contribution *self)
{
  g_clear_pointer (&self->loop, vn_sample_loop_free);
  g_free (self->indices);
  for (guint i = 0; i < GROUP; i++)
    vn_probe_sample_clear (&self->group[i]);
  vn_shares_clear (&self->shares);
  g_clear_pointer (&self->plan, vn_plan_unref);
  g_clear_pointer (&self->probe, vn_probe_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Contribution, contribution_clear)

/* Samples that all suspects are measured on, but those that hardly matter. */
static guint
contribution_count_common (const Contribution *self)
{
  return self->options != NULL && self->options->thorough
         ? self->n_samples : MIN (contribution_levels[0].n_samples, self->n_samples);
}

static gboolean
contribution_make_sums (const Contribution  *self,
                        VnShareSums         *sums,
                        GError             **error)
{
  if (sums->local == NULL)
    sums->local = vn_try_new0 (VnNoise, self->n_suspects + 1, error);
  if (sums->local != NULL && sums->outputs == NULL)
    sums->outputs = vn_try_new0 (VnNoise, (gsize) self->n_suspects * self->n_ends + 1, error);
  if (sums->outputs != NULL && sums->kept == NULL && self->n_kept > 0 && sums >= self->shares.per_sample &&
      sums < self->shares.per_sample + contribution_count_common (self))
    {
      sums->kept = vn_try_new0 (float, (gsize) self->n_suspects * self->n_ends * self->n_kept + 1, error);
      return sums->kept != NULL;
    }
  return sums->outputs != NULL;
}

/* ---- a group of samples ---- */

static gpointer
contribution_start (guint      n_inside,
                    gpointer   data,
                    GError   **error)
{
  return vn_sample_runner_new (((Contribution *) data)->plan, n_inside, NULL, NULL, error);
}

static VnRunner *
contribution_get_runner (const Contribution *self,
                         guint               worker)
{
  return vn_sample_loop_get_worker (self->loop, worker);
}

static gboolean
contribution_copy_input (const Contribution  *self,
                         VnProbeSample       *sample,
                         guint                copy,
                         GError             **error)
{
  VnTensor *changed = self->options->make_copy (sample->inputs[0], copy, error);

  if (changed == NULL)
    return FALSE;
  vn_tensor_unref (sample->inputs[0]);
  sample->inputs[0] = changed;
  return TRUE;
}

/* What is left out has no place in the group. */
static gboolean
contribution_load (gpointer       runner,
                   guint          item,
                   VnTensor     **inputs,
                   gpointer       data,
                   GCancellable  *cancellable,
                   GError       **error)
{
  Contribution *self = data;
  VnProbeSample *sample = &self->group[item - self->first];

  vn_probe_sample_init (sample, self->probe, self->plan, self->budget / self->n_group);
  for (guint i = 0; i < vn_plan_get_n_inputs (self->plan); i++)
    sample->inputs[i] = g_steal_pointer (&inputs[i]);
  if (item % self->n_copies > 0 && !contribution_copy_input (self, sample, item % self->n_copies, error))
    return FALSE;
  return contribution_make_sums (self, &self->shares.per_sample[item], error) &&
         vn_probe_sample_run (sample, runner, cancellable, error);
}

static const VnSampleFuncs contribution_funcs = { contribution_start, contribution_load, vn_sample_runner_stop };

/* Those that @n items are shared among, with all threads. */
static guint
contribution_set_threads (Contribution *self,
                          gsize         n)
{
  const guint n_workers = (guint) MIN ((gsize) vn_sample_loop_get_n_workers (self->loop), MAX (n, 1));

  for (guint i = 0; i < n_workers; i++)
    vn_runner_set_threads (contribution_get_runner (self, i), self->n_threads / n_workers);
  return n_workers;
}

static gboolean
contribution_for_all (Contribution         *self,
                      gsize                 n,
                      const VnSharedFuncs  *funcs,
                      GError              **error)
{
  return vn_sample_ranks_for (contribution_set_threads (self, n), n, funcs, self, self->cancellable, error);
}

/* ---- what processes tell each other ---- */

static void
contribution_pack_sums (const Contribution *self,
                        const VnShareSums  *sums,
                        guint               suspect,
                        GByteArray         *bytes)
{
  const gsize outputs = (gsize) suspect * self->n_ends, kept = outputs * self->n_kept;

  g_byte_array_append (bytes, (const guint8 *) &sums->local[suspect], sizeof *sums->local);
  g_byte_array_append (bytes, (const guint8 *) &sums->outputs[outputs], self->n_ends * (guint) sizeof *sums->outputs);
  if (sums->kept != NULL)
    g_byte_array_append (bytes, (const guint8 *) &sums->kept[kept], self->n_ends * self->n_kept * (guint) sizeof *sums->kept);
}

/* Returns: where the next begins; @sums are as large as those that were packed. */
static const guint8 *
contribution_take_sums (const Contribution *self,
                        VnShareSums        *sums,
                        guint               suspect,
                        const guint8       *bytes)
{
  const gsize outputs = (gsize) suspect * self->n_ends, kept = outputs * self->n_kept;

  memcpy (&sums->local[suspect], bytes, sizeof *sums->local);
  bytes += sizeof *sums->local;
  memcpy (&sums->outputs[outputs], bytes, self->n_ends * sizeof *sums->outputs);
  bytes += self->n_ends * sizeof *sums->outputs;
  if (sums->kept == NULL)
    return bytes;
  memcpy (&sums->kept[kept], bytes, (gsize) self->n_ends * self->n_kept * sizeof *sums->kept);
  return bytes + (gsize) self->n_ends * self->n_kept * sizeof *sums->kept;
}

static gsize
contribution_count_packed (const Contribution *self,
                           const VnShareSums  *sums)
{
  const gsize of_kept = sums->kept != NULL ? self->n_kept * sizeof *sums->kept : 0;

  return sizeof *sums->local + self->n_ends * (sizeof *sums->outputs + of_kept);
}

static gboolean
contribution_is_whole (const Contribution *self)
{
  for (guint i = 0; i < self->n_group; i++)
    if (self->group[i].probe != NULL && self->group[i].stretch > 0)
      return FALSE;
  return TRUE;
}

/* Takes in the samples from @first on, unless they are there, with what serves the measurements: estimates leave the last
 * taps. */
static gboolean
contribution_load_group (Contribution  *self,
                         guint          first,
                         guint          end,
                         GError       **error)
{
  guint n = MIN (self->most_group, end - first);

  if (self->n_group == n && self->first == first && contribution_is_whole (self))
    return TRUE;
  for (guint i = 0; i < GROUP; i++)
    vn_probe_sample_clear (&self->group[i]);
  self->first = first;
  self->n_group = n;
  contribution_set_threads (self, n);
  return vn_sample_loop_run (self->loop, first, n, self->cancellable, error);
}

static gboolean
contribution_wants_estimate_only (const Contribution *self)
{
  return self->options != NULL && self->options->estimate;
}

static gboolean
contribution_estimate_sample (gsize      item,
                              guint      worker,
                              gpointer   data,
                              GError   **error)
{
  Contribution *self = data;
  VnShareSums *sums = &self->shares.estimates[self->first + item];
  VnProbeSample *sample = &self->group[item];

  if (sample->probe == NULL)
    return TRUE;
  return contribution_make_sums (self, sums, error) &&
         vn_probe_sample_estimate (sample, contribution_get_runner (self, worker), sums->local, sums->outputs, self->cancellable,
                                   error);
}

static GBytes *
contribution_pack_estimate (gsize      item,
                            gpointer   data,
                            GError   **error)
{
  const Contribution *self = data;
  GByteArray *bytes;

  if (self->group[item].probe == NULL)
    return NULL;
  bytes = g_byte_array_new ();
  for (guint i = 0; i < self->n_suspects; i++)
    contribution_pack_sums (self, &self->shares.estimates[self->first + item], i, bytes);
  return g_byte_array_free_to_bytes (bytes);
}

static gboolean
contribution_take_estimate (gsize           item,
                            gconstpointer   bytes,
                            gsize           size,
                            gpointer        data,
                            GError        **error)
{
  Contribution *self = data;
  VnShareSums *sums = &self->shares.estimates[self->first + item];

  if (!contribution_make_sums (self, sums, error))
    return FALSE;
  if (size != self->n_suspects * contribution_count_packed (self, sums))
    return vn_sample_ranks_refuse (error);
  for (guint i = 0; i < self->n_suspects; i++)
    bytes = contribution_take_sums (self, sums, i, bytes);
  return TRUE;
}

static const VnSharedFuncs contribution_estimates = { contribution_estimate_sample, contribution_pack_estimate,
                                                      contribution_take_estimate };

/* A few suspects on one sample of the group. */
static gboolean
contribution_measure_chunk (gsize      item,
                            guint      worker,
                            gpointer   data,
                            GError   **error)
{
  Contribution *self = data;
  guint in_group = (guint) (item % self->n_group), from = (guint) (item / self->n_group) * CHUNK;
  VnShareSums *sums = &self->shares.per_sample[self->first + in_group];

  for (guint k = from; k < MIN (from + CHUNK, self->n_batch) && self->group[in_group].probe != NULL; k++)
    {
      guint i = self->batch[k];
      const VnSuspect *suspect = &g_array_index (self->probe->suspects, VnSuspect, i);

      if (!vn_probe_sample_measure (&self->group[in_group], contribution_get_runner (self, worker), suspect, &sums->local[i],
                                    &sums->outputs[(gsize) i * self->n_ends],
                                    sums->kept != NULL ? sums->kept + (gsize) i * self->n_ends * self->n_kept : NULL,
                                    self->n_kept,
                                    self->cancellable, error))
        return FALSE;
    }
  return TRUE;
}

static GBytes *
contribution_pack_chunk (gsize      item,
                         gpointer   data,
                         GError   **error)
{
  const Contribution *self = data;
  const guint in_group = (guint) (item % self->n_group), from = (guint) (item / self->n_group) * CHUNK;
  GByteArray *bytes;

  if (self->group[in_group].probe == NULL)
    return NULL;
  bytes = g_byte_array_new ();
  for (guint k = from; k < MIN (from + CHUNK, self->n_batch); k++)
    contribution_pack_sums (self, &self->shares.per_sample[self->first + in_group], self->batch[k], bytes);
  return g_byte_array_free_to_bytes (bytes);
}

static gboolean
contribution_take_chunk (gsize           item,
                         gconstpointer   bytes,
                         gsize           size,
                         gpointer        data,
                         GError        **error)
{
  Contribution *self = data;
  const guint in_group = (guint) (item % self->n_group), from = (guint) (item / self->n_group) * CHUNK;
  const guint end = MIN (from + CHUNK, self->n_batch);
  VnShareSums *sums = &self->shares.per_sample[self->first + in_group];

  if (self->group[in_group].probe == NULL || from >= end || size != (end - from) * contribution_count_packed (self, sums))
    return vn_sample_ranks_refuse (error);
  for (guint k = from; k < end; k++)
    bytes = contribution_take_sums (self, sums, self->batch[k], bytes);
  return TRUE;
}

static const VnSharedFuncs contribution_chunks = { contribution_measure_chunk, contribution_pack_chunk, contribution_take_chunk };

/* ---- what was found ---- */

static VnContributions *
contribution_collect (Contribution *self)
{
  vn_shares_update (&self->shares);
  return vn_shares_collect (&self->shares);
}

static void
contribution_report (Contribution *self)
{
  g_autoptr(VnContributions) so_far = NULL;

  if (self->options == NULL || self->options->found == NULL)
    return;
  so_far = contribution_collect (self);
  self->options->found (so_far, self->options->data);
}

/* ---- what is measured ---- */

/* On the samples of the group. */
static gboolean
contribution_measure_group (Contribution  *self,
                            const GArray  *order,
                            GError       **error)
{
  for (guint from = 0; from < order->len; from += SLICE)
    {
      gsize n_chunks;

      self->batch = &g_array_index (order, guint, from);
      self->n_batch = MIN (SLICE, order->len - from);
      n_chunks = (self->n_batch + CHUNK - 1) / CHUNK;
      if (!contribution_for_all (self, n_chunks * self->n_group, &contribution_chunks, error))
        return FALSE;
      for (guint k = 0; k < self->n_batch; k++)
        self->shares.standing[self->batch[k]].n_samples = self->first + self->n_group;
      self->done += (guint64) self->n_batch * self->n_group;
      vn_progress_report (self->run->progress, NULL, self->done, MAX (self->total, self->done));
      if (self->first == 0)
        contribution_report (self);
    }
  return TRUE;
}

/* Who was left out at a level is not measured at the next ones: its sums are of the first samples. */
static gboolean
contribution_is_wanted (const Contribution *self,
                        guint               suspect,
                        guint               level)
{
  const VnStanding *standing = &self->shares.standing[suspect];

  if (level > 0 && standing->n_samples < MIN (contribution_levels[level - 1].n_samples, self->n_samples))
    return FALSE;
  if (self->options != NULL && self->options->thorough)
    return TRUE;
  return standing->most >= contribution_levels[level].least_share &&
         (standing->share >= contribution_levels[level].large_share ||
          !(standing->share_error < contribution_levels[level].least_error));
}

/* Returns: (transfer full) (element-type guint): suspects, those that may have the largest share first */
static GArray *
contribution_list_wanted (const Contribution *self,
                          guint               level)
{
  GArray *order = g_array_new (FALSE, FALSE, sizeof (guint));

  for (guint i = 0; i < self->n_suspects; i++)
    if (contribution_is_wanted (self, i, level))
      g_array_append_val (order, i);
  g_array_sort_with_data (order, vn_shares_compare, (gpointer) &self->shares);
  return order;
}

static gboolean
contribution_measure_level (Contribution  *self,
                            guint          level,
                            GError       **error)
{
  guint begin = level > 0 ? MIN (contribution_levels[level - 1].n_samples, self->n_samples) : 0;
  guint end = MIN (contribution_levels[level].n_samples, self->n_samples);
  g_autoptr(GArray) order = NULL;

  vn_shares_update (&self->shares);
  order = contribution_list_wanted (self, level);
  if (level > 0)
    self->total = self->done + (guint64) order->len * (end - begin) + (guint64) order->len * (self->n_samples - end) / 4;
  for (guint first = begin; first < end && order->len > 0; first += self->most_group)
    if (!contribution_load_group (self, first, end, error) || !contribution_measure_group (self, order, error))
      return FALSE;
  contribution_report (self);
  return TRUE;
}

static gboolean
contribution_measure_all (Contribution  *self,
                          GError       **error)
{
  guint n = MIN (GROUP, self->n_samples);

  self->total = (guint64) self->n_suspects * 5;
  for (guint first = 0; first < n; first += self->most_group)
    if (!contribution_load_group (self, first, n, error) ||
        !contribution_for_all (self, self->n_group, &contribution_estimates, error))
      return FALSE;
  contribution_report (self);
  if (contribution_wants_estimate_only (self))
    return TRUE;
  for (guint level = 0; level < G_N_ELEMENTS (contribution_levels); level++)
    if (!contribution_measure_level (self, level, error))
      return FALSE;
  return TRUE;
}

/* Bytes of all that a sample computes in float, and of the largest of it; without what has a size that depends on data. */
static gsize
contribution_count_bytes (const Contribution *self,
                          gsize              *largest)
{
  gsize sum = 0;

  *largest = 0;
  for (guint i = 0; i < self->probe->floats->len; i++)
    {
      const VnValue *value = g_ptr_array_index (self->probe->taps, g_array_index (self->probe->floats, guint, i));
      gsize n_elements, n_bytes;

      if (value->type.kind != VN_TYPE_TENSOR || !vn_shape_is_static (&value->type.shape) ||
          !vn_tensor_size_in_bytes (VN_DTYPE_F32, &value->type.shape, &n_elements, &n_bytes) ||
          !vn_checked_add (sum, n_bytes, &sum))
        continue;
      *largest = MAX (*largest, n_bytes);
    }
  return sum;
}

/* A part of the memory is for runners, at least a quarter of it for what samples compute. */
static gboolean
contribution_make_loop (Contribution  *self,
                        GError       **error)
{
  gsize budget = vn_memory_get_budget (), largest, bytes = contribution_count_bytes (self, &largest);
  gsize copies = COPIES * MIN (largest, G_MAXSIZE / 8), each = vn_plan_get_arena_size (self->plan) + copies;
  const VnSampleOptions options = { .plans = &self->plan, .n_plans = 1, .more = copies + each / 3, .n_shares = G_MAXUINT };
  VnSamples samples = *self->run;
  guint64 most_group;
  guint n_workers;

  self->n_copies = self->options != NULL && self->options->make_copy != NULL ? MAX (self->options->n_copies, 1) : 1;
  self->n_samples = self->run->n * self->n_copies;
  self->indices = g_new (guint, self->n_samples);
  for (guint i = 0; i < self->n_samples; i++)
    self->indices[i] = self->run->indices[i / self->n_copies];
  samples.indices = self->indices;
  samples.n = self->n_samples;
  samples.progress = NULL;
  self->loop = vn_sample_loop_new (&samples, &options, &contribution_funcs, self, error);
  if (self->loop == NULL)
    return FALSE;
  n_workers = vn_sample_loop_get_n_workers (self->loop);
  self->n_threads = MAX (self->run->n_threads > 0 ? self->run->n_threads : vn_parallel_default_threads (), n_workers);
  self->budget = MAX (budget - MIN (budget, n_workers * each + vn_plan_get_arena_size (self->plan)), budget / 4);
  /* processes go on together */
  if (!vn_sample_ranks_get_least (bytes <= self->budget / GROUP ? GROUP : 1, &most_group, error))
    return FALSE;
  self->most_group = (guint) most_group;
  return TRUE;
}

static void
contribution_make_shares (Contribution *self)
{
  self->n_suspects = self->probe->suspects->len;
  self->n_ends = self->probe->ends->len;
  if (self->options != NULL)
    self->n_kept = (guint) MIN (self->options->n_numbers,
                                MOST_KEPT / MAX ((gsize) self->n_suspects * self->n_ends * contribution_count_common (self), 1));
  vn_shares_init (&self->shares, self->probe, self->n_samples, contribution_count_common (self), self->n_kept);
}

/**
 * vn_contribution_measure:
 * @prepared: the float network
 * @written: @prepared, or it with other weights and biases, which become integers instead
 * @plan: of it
 * @run: samples to measure on
 * @options: (nullable)
 *
 * Measures for every activation, weight and bias that becomes integers what that alone costs: the network runs from there on. On
 * how many samples, VnContribution.n_samples tells: on one, on more if it matters and is not yet certain, on none if a millionth
 * of the error is estimated to come from there. Figures are the same bits for any number of threads and any budget of memory:
 * vn_memory_get_budget() says how many tensors are measured at a time, and what is kept of one sample or two.
 *
 * Returns: (transfer full) (nullable): %NULL with an error if the network cannot be run
 */
VnContributions *
vn_contribution_measure (const VnModel                *prepared,
                         const VnModel                *written,
                         VnQuantPlan                  *plan,
                         const VnSamples              *run,
                         const VnContributionOptions  *options,
                         GCancellable                 *cancellable,
                         GError                      **error)
{
  VnPlanOptions plan_options;
  g_auto(Contribution) self = { .run = run, .options = options, .cancellable = cancellable };

  g_return_val_if_fail (prepared != NULL && plan != NULL && run != NULL && run->n > 0, NULL);

  self.probe = vn_probe_new (prepared, written, plan, options != NULL ? options->parts : NULL, error);
  if (self.probe == NULL || !vn_model_infer_for_samples (self.probe->model, run->shapes, error))
    return NULL;
  plan_options = vn_plan_options_for_samples (run->shapes);
  plan_options.ends = TRUE;
  plan_options.taps = self.probe->taps;
  plan_options.can_restart = TRUE;
  plan_options.most_weights = vn_plan_share_weights (prepared, 1);
  self.plan = vn_plan_new (self.probe->model, &plan_options, NULL, error);
  if (self.plan == NULL || !contribution_make_loop (&self, error))
    return NULL;
  contribution_make_shares (&self);
  if (!contribution_measure_all (&self, error))
    return NULL;
  return contribution_collect (&self);
}
