/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Running samples for statistics, and taking statistics from files. */
#include "vn-calibration-private.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-plan-blocks.h"

typedef struct
{
  VnJob      *job;
  const char *path;
  VnStats    *base;   /* nullable */
} Keeper;

static gboolean
calibration_keep (VnStats   *stats,
                  gpointer   data,
                  GError   **error)
{
  Keeper *self = data;
  g_autoptr(VnStats) sum = vn_stats_continue (self->base, stats, error);

  return sum != NULL && vn_job_check_sources (self->job, error) && vn_stats_save (sum, self->path, error);
}

static GArray *
calibration_list_rest (const VnCalibration *self)
{
  GArray *rest = g_array_new (FALSE, FALSE, sizeof (guint));

  for (guint i = 0; i < self->samples->len; i++)
    {
      guint sample = g_array_index (self->samples, guint, i);

      if (self->base == NULL || !vn_stats_has_sample (self->base, sample, vn_dataset_get_name (self->input->dataset, sample)))
        g_array_append_val (rest, sample);
    }
  return rest;
}

/* Before hours of work: the base must be of these very samples, or it would bring others in. */
static gboolean
calibration_check_base (const VnCalibration *self,
                        guint                n_rest,
                        GError             **error)
{
  const VnStatsOrigin *origin = self->base != NULL ? vn_stats_get_origin (self->base) : NULL;
  guint n_known = self->samples->len - n_rest;

  if (self->base == NULL)
    return TRUE;
  if (!vn_stats_check_origin (self->base, self->input->origin, _("The interrupted run"), error))
    return FALSE;
  if (origin != NULL && (g_strcmp0 (origin->prepared, self->input->origin->prepared) != 0 ||
                         g_strcmp0 (origin->data, self->input->origin->data) != 0))
    {
      g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
                   _("The interrupted run had other settings (opset %lld, samples: %s; now opset %lld, samples: %s); "
                     "resume with the same options, or start over without --resume"), (long long) origin->opset, origin->data,
                   (long long) self->input->origin->opset, self->input->origin->data);
      return FALSE;
    }
  if (vn_recipe_needs_votes (self->input->recipe) && !vn_stats_has_votes (self->base))
    {
      g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
                   _("The interrupted run did not record the best power of two of each sample, which the method “%s” "
                     "needs; resume with another method, or start over without --resume"), self->input->recipe->method);
      return FALSE;
    }
  if (vn_stats_get_n_samples (self->base) == n_known)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
               ngettext ("The interrupted run had %u sample, but only %u of them is among the %u requested now; "
                         "resume with the same data and options, or start over without --resume",
                         "The interrupted run had %u samples, but only %u of them are among the %u requested now; "
                         "resume with the same data and options, or start over without --resume",
                         vn_stats_get_n_samples (self->base)),
               vn_stats_get_n_samples (self->base), n_known, self->samples->len);
  return FALSE;
}

/* ---- in parts ---- */

/* Bytes that statistics may take that are kept in parts beside their sum. */
#define MOST_PARTS_BYTES ((gsize) 512 << 20)

/* Whether parts are worth running one by one: of very many values they would be let go of again. @n_bytes is the least that the
 * statistics of a part take. */
static gboolean
calibration_may_keep_parts (const VnCalibration *self,
                            gsize                n_bytes)
{
  return n_bytes <= MOST_PARTS_BYTES / (self->n_parts + 2);
}

/* A value has a page of counters unless all of it is zero. */
#define LEAST_VALUE_BYTES (sizeof (VnHistogram) + VN_HISTOGRAM_PAGE_BINS * sizeof (guint64))

/* One run after another, told as one. */
typedef struct
{
  const VnProgress *all;
  guint64           before, total;
} Series;

static void
calibration_report_series (gpointer    data,
                           const char *unit,
                           guint64     done,
                           guint64     total)
{
  const Series *self = data;

  vn_progress_report (self->all, unit, self->before + done, self->total);
}

/* What the parts have in common is in @options. */
static GPtrArray *
calibration_run_parts (const VnCalibration       *self,
                       VnPlan                    *plan,
                       const VnCalibrateOptions  *options,
                       const VnProgress          *progress,
                       GCancellable              *cancellable,
                       GError                   **error)
{
  g_autoptr(GPtrArray) parts = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_stats_unref);
  Series series = { progress, 0, options->n_samples };
  const VnProgress reporter = { calibration_report_series, &series };

  for (guint p = 0; p < self->n_parts; p++)
    {
      g_autoptr(GArray) part = vn_job_take_part (self->samples, p, self->n_parts);
      VnCalibrateOptions one = *options;
      VnStats *stats;

      one.samples = (const guint *) (gpointer) part->data;
      one.n_samples = part->len;
      one.may_be_empty = TRUE;
      stats = vn_calibrate (plan, self->taps, self->input->dataset, &one, &reporter, self->input->notes, cancellable, error);
      if (stats == NULL)
        return NULL;
      g_ptr_array_add (parts, stats);
      series.before += part->len;
    }
  return g_steal_pointer (&parts);
}

/* The same bits as one run; %NULL without an error if no sample can be used. */
static VnStats *
calibration_join_parts (const VnCalibration  *self,
                        GPtrArray            *parts,
                        GError              **error)
{
  g_autoptr(VnStats) sum = calibration_may_keep_parts (self, vn_stats_get_bytes (g_ptr_array_index (parts, 0)))
                           ? vn_stats_merge_parts (parts, error) : vn_stats_merge_taking (parts, error);

  if (sum == NULL || vn_stats_get_n_samples (sum) == 0)
    return NULL;
  vn_stats_note_values (sum, self->input->notes);
  return g_steal_pointer (&sum);
}

/*< private >
 * vn_job_calibrate:
 *
 * Runs the samples that the base lacks, or a share of them.
 *
 * Returns: (transfer full) (nullable): statistics; of one process those of all samples, the same bits as if there had
 *   been no interruption
 */
VnStats *
vn_job_calibrate (VnJob                *job,
                  const VnCalibration  *self,
                  GCancellable         *cancellable,
                  GError              **error)
{
  const VnJobInput *input = self->input;
  gboolean shared = self->n_ranks > 1;
  g_autoptr(GArray) rest = calibration_list_rest (self);
  g_autoptr(GArray) share = vn_job_take_part (rest, self->rank, MAX (self->n_ranks, 1));
  g_autofree char *part = self->keep != NULL ? vn_calibrate_part_path (self->keep, shared ? (int) self->rank : -1) : NULL;
  Keeper keeper = { job, part, shared ? NULL : self->base };
  VnPlanOptions plan_options = vn_plan_options_for_samples (input->shapes);
  VnCalibrateOptions options = { .samples = (const guint *) (gpointer) share->data, .n_samples = share->len, .n_all = self->n_all,
                                 .n_threads = input->n_threads, .origin = input->origin,
                                 .votes = vn_recipe_needs_votes (input->recipe),
                                 .few_counts = !input->whole_counts && !vn_recipe_needs_counts (input->recipe),
                                 .checkpoint = part != NULL ? calibration_keep : NULL, .checkpoint_data = &keeper,
                                 .checkpoint_seconds = self->keep_seconds,
                                 .may_be_empty = shared || self->base != NULL };
  VnProgress progress = vn_job_get_reporter (job);
  g_autoptr(VnPlan) plan = NULL;
  g_autoptr(VnStats) stats = NULL;
  VnStats *sum;

  if (!calibration_check_base (self, rest->len, error))
    return NULL;
  plan_options.taps = self->taps;
  plan_options.most_weights = vn_plan_share_weights (input->prepared, 1);
  plan = vn_plan_new_in_blocks (input->prepared, &plan_options, input->notes, error);
  if (plan == NULL)
    return NULL;
  if (self->n_parts > 1 && calibration_may_keep_parts (self, self->taps->len * LEAST_VALUE_BYTES))
    {
      g_autoptr(GPtrArray) parts = calibration_run_parts (self, plan, &options, &progress, cancellable, error);

      stats = parts != NULL ? calibration_join_parts (self, parts, error) : NULL;
      if (stats != NULL || (error != NULL && *error != NULL))
        return g_steal_pointer (&stats);
    }
  stats = vn_calibrate (plan, self->taps, input->dataset, &options, &progress, input->notes, cancellable, error);
  if (stats == NULL)
    return NULL;
  sum = vn_stats_continue (keeper.base, stats, error);
  if (sum != NULL && keeper.base != NULL)
    vn_stats_note_values (sum, input->notes);
  return sum;
}

/*< private >
 * vn_job_load_stats:
 * @input: what the statistics are to be used for, with its origin
 *
 * Reads parts and joins them.
 *
 * Returns: (transfer full) (nullable): the sum; the same bits in any order of @paths
 */
VnStats *
vn_job_load_stats (const char * const  *paths,
                   const VnJobInput    *input,
                   GCancellable        *cancellable,
                   GError             **error)
{
  g_autoptr(GPtrArray) parts = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_stats_unref);
  g_autoptr(VnStats) sum = NULL;
  const char *twice = NULL;
  guint n_twice;

  for (guint i = 0; paths[i] != NULL; i++)
    {
      VnStats *stats = vn_stats_load (paths[i], error);

      if (stats == NULL)
        return NULL;
      g_ptr_array_add (parts, stats);
      if (!vn_job_input_check_stats (input, stats, paths[i], cancellable, error))
        return NULL;
      if (vn_stats_get_n_left (stats) > 0)
        vn_notes_add (input->notes, VN_NOTE_WARNING, "statistics-partial", paths[i],
                      ngettext ("Calibration was interrupted: %u sample is done, %u are left; finish it with "
                                "“calibrate --resume”",
                                "Calibration was interrupted: %u samples are done, %u are left; finish it with "
                                "“calibrate --resume”", vn_stats_get_n_samples (stats)),
                      vn_stats_get_n_samples (stats), vn_stats_get_n_left (stats));
    }
  sum = vn_stats_merge_taking (parts, error);
  if (sum == NULL)
    return NULL;
  if (vn_stats_get_n_missing (sum) > 0)
    vn_notes_add (input->notes, VN_NOTE_WARNING, "statistics-partial", NULL,
                  _("Incomplete statistics: %u samples are included, %u are missing; pass the files of all shards "
                    "from “calibrate --shard”"),
                  vn_stats_get_n_samples (sum), vn_stats_get_n_missing (sum));
  n_twice = vn_stats_count_twice (sum, &twice);
  if (n_twice > 0)
    vn_notes_add (input->notes, VN_NOTE_WARNING, "sample-twice", twice,
                  ngettext ("%u sample was counted twice, this one: do the shards overlap?",
                            "%u samples were counted twice, such as this one: do the shards overlap?", n_twice), n_twice);
  return g_steal_pointer (&sum);
}
