/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which samples a job calibrates on and which it measures the error on, and what statistics of them say about themselves:
 * the same for every job. */
#include "vn-job-input.h"

#include "vn-i18n.h"
#include "vn-sample-overlap.h"

/* As spread evenly over the samples that are left as the held-out ones were. */
static void
job_samples_thin_out (GArray *indices,
                      guint   n)
{
  guint *items = (guint *) (gpointer) indices->data;

  if (n == 0 || n >= indices->len)
    return;
  for (guint i = 0; i < n; i++)
    items[i] = items[(guint64) i * indices->len / n];
  g_array_set_size (indices, n);
}

/*< private >
 * vn_job_take_samples:
 *
 * Returns: (transfer full): @n of @samples, spread evenly; all if there are no more
 */
GArray *
vn_job_take_samples (GArray *samples,
                     gint64  n)
{
  GArray *taken;

  g_return_val_if_fail (samples != NULL, NULL);

  taken = g_array_copy (samples);
  job_samples_thin_out (taken, (guint) MIN (n, G_MAXUINT));
  return taken;
}

/*< private >
 * vn_job_take_part:
 *
 * Returns: (transfer full): every @n_parts-th of @samples, from number @part on: neighbors are alike, and so are then the parts
 */
GArray *
vn_job_take_part (GArray *samples,
                  guint   part,
                  guint   n_parts)
{
  GArray *taken;

  g_return_val_if_fail (samples != NULL && n_parts > 0, NULL);

  taken = g_array_new (FALSE, FALSE, sizeof (guint));
  for (guint i = part; i < samples->len; i += n_parts)
    g_array_append_val (taken, g_array_index (samples, guint, i));
  return taken;
}

/* Those of 0 .. n-1 that are not in @taken, which ascends. */
static GArray *
job_samples_list_others (guint   n,
                         GArray *taken)
{
  GArray *others = g_array_new (FALSE, FALSE, sizeof (guint));
  guint k = 0;

  for (guint i = 0; i < n; i++)
    if (k < taken->len && g_array_index (taken, guint, k) == i)
      k++;
    else
      g_array_append_val (others, i);
  return others;
}

/* Marks those of both, which may be %NULL, by their number: lists of a million are not searched for each of a million.
 * Returns: (transfer full) (element-type gboolean): as long as the largest number asks for */
static GArray *
job_samples_mark (GArray *a,
                  GArray *b)
{
  GArray *marks = g_array_new (FALSE, TRUE, sizeof (gboolean));
  GArray *both[] = { a, b };

  for (guint k = 0; k < G_N_ELEMENTS (both); k++)
    for (guint i = 0; both[k] != NULL && i < both[k]->len; i++)
      {
        guint sample = g_array_index (both[k], guint, i);

        if (sample >= marks->len)
          g_array_set_size (marks, sample + 1);
        g_array_index (marks, gboolean, sample) = TRUE;
      }
  return marks;
}

static gboolean
job_samples_is_marked (GArray *marks,
                       guint   sample)
{
  return sample < marks->len && g_array_index (marks, gboolean, sample);
}

/* Takes out of @samples those that share tokens with any of @others, which may be %NULL. */
static void
job_samples_leave_out (VnDataset *dataset,
                       GArray    *samples,
                       GArray    *others)
{
  g_autoptr(GArray) marks = NULL;
  guint n, n_left = 0;

  if (dataset == NULL || others == NULL || vn_dataset_count_overlap (dataset) == 0)
    return;
  n = vn_dataset_get_n (dataset);
  marks = g_array_new (FALSE, TRUE, sizeof (gboolean));
  g_array_set_size (marks, n);
  for (guint k = 0; k < others->len; k++)
    {
      guint at = g_array_index (others, guint, k);

      for (guint i = at; i-- > 0 && vn_dataset_do_overlap (dataset, i, at);)
        g_array_index (marks, gboolean, i) = TRUE;
      for (guint i = at + 1; i < n && vn_dataset_do_overlap (dataset, at, i); i++)
        g_array_index (marks, gboolean, i) = TRUE;
    }
  for (guint i = 0; i < samples->len; i++)
    if (!g_array_index (marks, gboolean, g_array_index (samples, guint, i)))
      g_array_index (samples, guint, n_left++) = g_array_index (samples, guint, i);
  g_array_set_size (samples, n_left);
}

/* Appends up to @n - @judged->len of @others, spread evenly. */
static void
job_samples_fill (GArray *judged,
                  GArray *others,
                  guint   n)
{
  g_autoptr(GArray) taken = NULL;

  if (judged->len >= n || others->len == 0)
    return;
  taken = vn_job_take_samples (others, n - judged->len);
  g_array_append_vals (judged, taken->data, taken->len);
}

/* Those of the samples that nothing is learned from, beside those held out. */
static GArray *
job_samples_list_unseen (const VnJobInput *self,
                         GArray           *judged)
{
  GArray *unseen = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autoptr(GArray) seen = job_samples_mark (self->calibration, judged);

  for (guint i = 0; self->dataset != NULL && i < vn_dataset_get_n (self->dataset); i++)
    if (!job_samples_is_marked (seen, i))
      g_array_append_val (unseen, i);
  job_samples_leave_out (self->dataset, unseen, self->calibration);
  return unseen;
}

/*< private >
 * vn_job_count_unseen:
 *
 * Returns: how many samples there are that are not calibrated with
 */
guint
vn_job_count_unseen (const VnJobInput *self)
{
  g_autoptr(GArray) none = NULL;
  g_autoptr(GArray) unseen = NULL;

  g_return_val_if_fail (self != NULL && self->calibration != NULL, 0);

  none = g_array_new (FALSE, FALSE, sizeof (guint));
  unseen = job_samples_list_unseen (self, none);
  return unseen->len;
}

/*< private >
 * vn_job_list_judged:
 * @used: those that what is judged has been made from
 * @n: how many there should be
 *
 * Lists samples to judge changes by: those held out; if they are fewer than @n, others that were not calibrated with; if there
 * are still too few, also some that were, as the outputs of a handful of samples say little, but none of @used.
 *
 * Returns: (transfer full) (element-type guint)
 */
GArray *
vn_job_list_judged (const VnJobInput *self,
                    GArray           *used,
                    guint             n)
{
  g_autoptr(GArray) others = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autoptr(GArray) unseen = NULL;
  g_autoptr(GArray) taken = NULL;
  GArray *judged;

  g_return_val_if_fail (self != NULL && self->measured != NULL, NULL);

  judged = vn_job_take_samples (self->measured, MAX (n, 1));
  unseen = job_samples_list_unseen (self, judged);
  job_samples_fill (judged, unseen, n);
  taken = job_samples_mark (used, judged);
  for (guint i = 0; i < self->calibration->len; i++)
    {
      guint sample = g_array_index (self->calibration, guint, i);

      if (!job_samples_is_marked (taken, sample))
        g_array_append_val (others, sample);
    }
  job_samples_leave_out (self->dataset, others, used);
  job_samples_fill (judged, others, n);
  return judged;
}

/*< private >
 * vn_job_get_samples:
 * @indices: (element-type guint): must outlive what is returned
 */
VnRepairSamples
vn_job_get_samples (const VnJobInput *self,
                    const GArray     *indices)
{
  g_return_val_if_fail (self != NULL && indices != NULL, (VnRepairSamples) { 0 });

  return (VnRepairSamples) { .shapes = self->shapes, .dataset = self->dataset,
                             .indices = (const guint *) (gpointer) indices->data,
                             .n = indices->len, .n_threads = self->n_threads, .notes = self->notes, .parts = self->parts };
}

/*< private >
 * vn_job_make_judge:
 * @used: (nullable): as of vn_job_list_judged()
 * @n: samples that each change is judged by, if there are as many
 *
 * Returns: (transfer full) (nullable): keeps the outputs of the model as opened; %NULL with an error also if it cannot run
 */
VnJudge *
vn_job_make_judge (const VnJobInput  *self,
                   GArray            *used,
                   guint              n,
                   GCancellable      *cancellable,
                   GError           **error)
{
  g_autoptr(GArray) judged = NULL;
  VnRepairSamples samples;

  g_return_val_if_fail (self != NULL && self->dataset != NULL, NULL);

  judged = vn_job_list_judged (self, used, n);
  samples = vn_job_get_samples (self, judged);
  samples.once = self->draft;
  return vn_judge_new (vn_job_input_get_reference (self), &samples, cancellable, error);
}

/* Of those that are neither measured nor calibrated with as many as are missing. */
static void
job_samples_add_unseen (GArray    *measured,
                        VnDataset *dataset,
                        GArray    *calibration)
{
  g_autoptr(GArray) others = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autoptr(GArray) taken = job_samples_mark (calibration, measured);

  for (guint i = 0; i < vn_dataset_get_n (dataset); i++)
    if (!job_samples_is_marked (taken, i))
      g_array_append_val (others, i);
  job_samples_leave_out (dataset, others, calibration);
  job_samples_fill (measured, others, VN_MOST_MEASURED);
}

/* Samples that share tokens lie side by side: they are held out in runs, which cost at most a quarter of all samples at their
 * ends. A single run is the last. */
#define RUN_SHARE 8u

static void
job_samples_hold_runs (guint    n,
                       guint    n_held,
                       guint    reach,
                       GArray **held)
{
  const guint n_runs = CLAMP (n / (RUN_SHARE * reach), 1, n_held);

  *held = g_array_new (FALSE, FALSE, sizeof (guint));
  for (guint k = 0; k < n_runs; k++)
    {
      guint begin = (guint) ((guint64) k * n / n_runs), end = (guint) ((guint64) (k + 1) * n / n_runs);
      guint size = (guint) ((guint64) (k + 1) * n_held / n_runs - (guint64) k * n_held / n_runs);
      guint first = n_runs == 1 ? n - size : begin + (end - begin - MIN (size, end - begin)) / 2;

      for (guint i = first; i < first + size; i++)
        g_array_append_val (*held, i);
    }
}

/* None is held out where nothing would be left to calibrate on. */
static void
job_samples_hold_out (VnDataset *dataset,
                      guint     *n_held,
                      GArray   **calibration,
                      GArray   **held)
{
  const guint n = vn_dataset_get_n (dataset), reach = vn_dataset_count_overlap (dataset);

  if (reach == 0 || *n_held == 0)
    {
      vn_dataset_split (n, *n_held, calibration, held);
      return;
    }
  job_samples_hold_runs (n, *n_held, reach, held);
  *calibration = job_samples_list_others (n, *held);
  job_samples_leave_out (dataset, *calibration, *held);
  if ((*calibration)->len > 0)
    return;
  g_array_unref (*calibration);
  g_array_unref (*held);
  *n_held = 0;
  vn_dataset_split (n, 0, calibration, held);
}

/*< private >
 * vn_job_split_samples:
 * @data: says how many are held out
 * @dataset: the samples; what shares tokens with those held out is not calibrated on
 * @n_calibration: to calibrate on; 0: all that are not held out
 * @calibration: (out) (transfer full) (element-type guint): to calibrate on
 * @measured: (out) (transfer full) (element-type guint): to measure the error on
 *
 * Returns: %FALSE if none could be held out: samples in @measured are also in @calibration
 */
gboolean
vn_job_split_samples (const VnDataSpec  *data,
                      VnDataset         *dataset,
                      guint              n_calibration,
                      GArray           **calibration,
                      GArray           **measured)
{
  guint n, n_held, n_measured;
  g_autoptr(GArray) others = NULL;
  gboolean apart;

  g_return_val_if_fail (data != NULL && dataset != NULL, FALSE);

  n = vn_dataset_get_n (dataset);
  n_held = vn_data_spec_count_held_out (data, n);
  n_measured = vn_data_spec_count_measured (data, n);
  job_samples_hold_out (dataset, &n_held, calibration, &others);
  job_samples_thin_out (*calibration, n_calibration);
  if (n_held == 0)
    {
      g_clear_pointer (&others, g_array_unref);
      others = job_samples_list_others (n, *calibration);
      job_samples_leave_out (dataset, others, *calibration);
    }
  apart = others->len >= n_measured;
  *measured = g_array_copy (apart ? others : *calibration);
  job_samples_thin_out (*measured, n_measured);
  if (apart && data->held_out != 0)
    job_samples_add_unseen (*measured, dataset, *calibration);
  return apart;
}

/* To measure the error on: of those chosen for it, or else of all, the samples that @stats have not seen. */
static gboolean
job_samples_measure_unseen (VnJobInput *self,
                            VnStats    *stats,
                            GArray     *candidates)
{
  g_autoptr(GArray) unseen = g_array_new (FALSE, FALSE, sizeof (guint));
  guint n = vn_data_spec_count_measured (self->data, vn_dataset_get_n (self->dataset));

  for (guint i = 0; i < candidates->len && unseen->len < n; i++)
    {
      guint sample = g_array_index (candidates, guint, i);

      if (!vn_stats_has_sample (stats, G_MAXUINT, vn_dataset_get_name (self->dataset, sample)))
        g_array_append_val (unseen, sample);
    }
  if (unseen->len == 0)
    return FALSE;
  g_array_unref (self->measured);
  self->measured = g_steal_pointer (&unseen);
  return TRUE;
}

/*< private >
 * vn_job_choose_measured:
 * @stats: (nullable): of other runs, from files
 *
 * Takes samples that @stats have not seen to measure the error on, if there are such.
 */
void
vn_job_choose_measured (VnJobInput *self,
                        VnStats    *stats)
{
  g_return_if_fail (self != NULL && self->dataset != NULL);

  if (stats != NULL)
    self->apart = job_samples_measure_unseen (self, stats, self->measured) ||
                  job_samples_measure_unseen (self, stats, self->calibration);
}

/*< private >
 * vn_job_note_overlap:
 *
 * Says how many samples are left where some share tokens.
 */
void
vn_job_note_overlap (const VnJobInput *self)
{
  guint n;

  g_return_if_fail (self != NULL && self->dataset != NULL);

  n = vn_dataset_get_n (self->dataset);
  if (!self->apart || self->notes == NULL || vn_dataset_count_overlap (self->dataset) == 0)
    return;
  vn_notes_add (self->notes, VN_NOTE_INFO, "data-overlap", NULL,
                ngettext ("Overlapping windows: calibration uses %u and error measurement %u of %u sample to avoid shared "
                          "tokens",
                          "Overlapping windows: calibration uses %u and error measurement %u of %u samples to avoid shared "
                          "tokens", n), self->calibration->len, self->measured->len, n);
}

/*< private >
 * vn_job_note_measured:
 * @stats: (nullable): as of vn_job_choose_measured()
 *
 * Where the same samples serve for both, the reader of the figures has to know.
 */
void
vn_job_note_measured (const VnJobInput *self,
                      const VnStats    *stats)
{
  guint n;

  g_return_if_fail (self != NULL && self->dataset != NULL);

  n = vn_dataset_get_n (self->dataset);
  if (self->apart)
    return;
  if (stats != NULL)
    vn_notes_add (self->notes, VN_NOTE_WARNING, "no-held-out", NULL,
                  ngettext ("The %u sample is in the statistics: the error is measured on a sample used for calibration",
                            "All %u samples are in the statistics: the error is measured on samples used for calibration", n), n);
  else if (self->data->held_out == 0)
    vn_notes_add (self->notes, VN_NOTE_INFO, "no-held-out", NULL,
                  _("No samples are held out: the error is measured on samples used for calibration"));
  else
    vn_notes_add (self->notes, VN_NOTE_WARNING, "no-held-out", NULL,
                  ngettext ("Only %u sample: the error is measured on the samples used for calibration",
                            "Only %u samples: the error is measured on the samples used for calibration", n), n);
}

/* ---- origin ---- */

static gboolean
job_samples_all_equal (const float *numbers)
{
  return numbers[0] == numbers[1] && numbers[0] == numbers[2] && numbers[0] == numbers[3];
}

static void
job_samples_add_numbers (GString     *text,
                         const char  *name,
                         const float *numbers)
{
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_append_printf (text, "%s%s", text->len > 0 ? ", " : "", name);
  for (guint i = 0; i < 4 && (i == 0 || !job_samples_all_equal (numbers)); i++)
    g_string_append_printf (text, " %s", g_ascii_formatd (buffer, sizeof buffer, "%.9g", numbers[i]));
}

/* For people to compare when two parts differ. */
static char *
job_samples_describe_data (const VnDataSpec *data)
{
  static const char * const fits[] = { "stretch", "crop", "letterbox" };
  static const char * const colors[] = { "rgb", "bgr" };
  static const char * const layouts[] = { "auto", "nchw", "nhwc" };
  const VnPreprocess *pre = &data->preprocess;
  g_autoptr(GString) text = g_string_new (NULL);

  job_samples_add_numbers (text, "mean", pre->mean);
  job_samples_add_numbers (text, "std", pre->std);
  g_string_append_printf (text, ", %s, %s, %s", colors[pre->color], layouts[pre->layout], fits[pre->fit]);
  if (pre->resize > 0)
    g_string_append_printf (text, ", resize %u", pre->resize);
  if (pre->width > 0 || pre->height > 0)
    g_string_append_printf (text, ", %ux%u", pre->width, pre->height);
  if (vn_data_spec_is_random (data))
    g_string_append_printf (text, ", seed %llu", (unsigned long long) data->seed);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/*< private >
 * vn_job_make_origin:
 * @data: (nullable): where the samples come from
 * @samples: (nullable): vn_dataset_dup_digest() of those that go in
 *
 * Reads all weights twice.
 *
 * Returns: (transfer full): what statistics of these say about themselves
 */
VnStatsOrigin *
vn_job_make_origin (const VnModel    *source,
                    const VnModel    *prepared,
                    const VnDataSpec *data,
                    const char       *samples)
{
  VnStatsOrigin *self;
  g_autofree char *name = NULL;

  g_return_val_if_fail (source != NULL, NULL);

  self = g_new0 (VnStatsOrigin, 1);
  name = source->path != NULL ? g_path_get_basename (source->path) : g_strdup (source->graph->name);
  self->network = g_utf8_make_valid (name != NULL ? name : "", -1);
  self->source = vn_model_dup_digest (source);
  self->prepared = vn_model_dup_digest (prepared);
  self->opset = vn_model_get_opset (prepared, "");
  self->data = data != NULL ? job_samples_describe_data (data) : g_strdup ("");
  self->samples = g_strdup (samples);
  return self;
}
