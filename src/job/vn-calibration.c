/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "vn-calibration-private.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-equalize.h"
#include "vn-npu.h"
#include "vn-pass.h"
#include "vn-truncate.h"

/* Nodes without a name get what lists and rules call them, before preparation moves them to other places. */
static VnModel *
name_nodes (const VnModel *source)
{
  VnModel *named = vn_model_copy (source);

  for (guint i = 0; i < named->graph->nodes->len; i++)
    {
      VnNode *node = g_ptr_array_index (named->graph->nodes, i);
      g_autofree char *label = vn_node_dup_label (node);

      if (*node->name == '\0')
        {
          g_free (node->name);
          node->name = g_steal_pointer (&label);
        }
    }
  return named;
}

_Static_assert ((int) VN_BALANCE_PPQ == (int) VN_EQUALIZE_PPQ && (int) VN_N_BALANCES == (int) VN_N_EQUALIZE_KINDS, "the same order");

static VnEqualizeOptions
get_equalize_options (const VnRecipe *recipe)
{
  return (VnEqualizeOptions) { .kind = (VnEqualizeKind) recipe->equalize, .steps = (int) recipe->equalize_steps,
                               .threshold = recipe->equalize_threshold, .append_bias = recipe->equalize_append_bias,
                               .difference = recipe->equalize_difference, .level = (int) recipe->equalize_level };
}

/* AMD's tools bring a network into forms that their processors have before they quantize it for these. */
static char **
list_passes (const VnRecipe *recipe)
{
  static const char * const for_npu[] = { "bn-to-conv", "mean-to-pool", "split-large-pool", "split-to-slice", NULL };
  g_autoptr(GStrvBuilder) passes = g_strv_builder_new ();

  if (recipe->clip6_to_relu)
    g_strv_builder_add (passes, "clip6-to-relu");
  if (recipe->passes != NULL)
    g_strv_builder_addv (passes, (const char **) recipe->passes);
  else if (recipe->npu)
    g_strv_builder_addv (passes, (const char **) for_npu);
  return g_strv_builder_end (passes);
}

/*< private >
 * vn_job_needs_samples_to_equalize:
 *
 * Returns: whether vn_job_equalize() has to be called once there are samples
 */
gboolean
vn_job_needs_samples_to_equalize (const VnRecipe *recipe)
{
  return recipe->equalize == VN_BALANCE_PPQ && recipe->equalize_activations;
}

/*< private >
 * vn_job_prepare:
 *
 * Weights are balanced here unless samples are needed for it: see vn_job_equalize().
 *
 * Returns: (transfer full) (nullable): the float network that @recipe quantizes
 */
VnModel *
vn_job_prepare (const VnModel   *source,
                const VnRecipe  *recipe,
                GHashTable      *input_shapes,
                VnEditLog       *edits,
                VnNotes         *notes,
                GCancellable    *cancellable,
                GError         **error)
{
  g_autoptr(VnModel) named = name_nodes (source);
  g_auto(GStrv) passes = list_passes (recipe);
  const VnPrepareOptions options = { .target_opset = vn_quantize_get_opset (source, recipe),
                                     .input_shapes = input_shapes, .optimize = recipe->optimize,
                                     .passes = (const char * const *) passes };
  const VnEqualizeOptions equalize = get_equalize_options (recipe);
  g_autoptr(VnModel) prepared = vn_prepare_model_with (named, &options, edits, notes, cancellable, error);
  g_autoptr(GPtrArray) behind = NULL;

  /* Before any sample is run. */
  if (prepared != NULL && recipe->truncate != NULL &&
      (behind = vn_model_truncate (prepared, (const char * const *) recipe->truncate, error)) == NULL)
    return NULL;
  if (prepared != NULL && !vn_job_needs_samples_to_equalize (recipe) &&
      !vn_equalize_model (prepared, &equalize, edits, cancellable, error))
    return NULL;
  if (prepared == NULL || !recipe->simulate_npu)
    return g_steal_pointer (&prepared);
  vn_npu_simulate (prepared, (const char * const *) recipe->npu_operators, notes);
  return vn_model_infer_types (prepared, input_shapes, notes, error) ? g_steal_pointer (&prepared) : NULL;
}

/* As spread evenly over the samples that are left as the held-out ones were. */
static void
thin_out (GArray *indices,
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
  GArray *taken = g_array_copy (samples);

  thin_out (taken, (guint) MIN (n, G_MAXUINT));
  return taken;
}

static GHashTable *
look_at_activations (const VnEqualizeOptions *options,
                     VnModel                 *prepared,
                     const VnChannelRun      *run,
                     GCancellable            *cancellable,
                     GError                 **error)
{
  g_autoptr(GPtrArray) values = vn_equalize_list_results (prepared, options, error);
  g_autoptr(GPtrArray) largest = values != NULL ? vn_channel_stats (prepared, values, VN_CHANNEL_LARGEST, run, cancellable, error)
                                                : NULL;
  GHashTable *table;

  if (largest == NULL)
    return NULL;
  table = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_array_unref);
  for (guint i = 0; i < values->len; i++)
    if (g_ptr_array_index (largest, i) != NULL)
      g_hash_table_insert (table, g_strdup (((VnValue *) g_ptr_array_index (values, i))->name),
                           g_array_ref (g_ptr_array_index (largest, i)));
  return table;
}

/*< private >
 * vn_job_equalize:
 * @prepared: from vn_job_prepare(); changed in place
 * @samples: (nullable): of guint: all that there are to calibrate on; %NULL: none
 *
 * Balances weights where @recipe wants activations to be looked at for that.
 */
gboolean
vn_job_equalize (VnJob               *job,
                 const VnRecipe      *recipe,
                 VnModel             *prepared,
                 const VnChannelRun  *data,
                 GArray              *samples,
                 VnEditLog           *edits,
                 GCancellable        *cancellable,
                 GError             **error)
{
  VnEqualizeOptions options = get_equalize_options (recipe);
  VnProgress progress = vn_job_get_reporter (job);
  g_autoptr(GArray) taken = samples != NULL ? vn_job_take_samples (samples, recipe->correction_samples) : NULL;
  g_autoptr(GHashTable) activations = NULL;
  VnChannelRun run = *data;

  if (!vn_job_needs_samples_to_equalize (recipe))
    return TRUE;
  if (taken == NULL || taken->len == 0)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA,
                   _("Weights are to be balanced by activations, which takes samples: give --data, or turn equalize-activations off"));
      return FALSE;
    }
  run.samples = (const guint *) (gpointer) taken->data;
  run.n_samples = taken->len;
  run.title = _("Balancing weights");
  run.progress = &progress;
  activations = look_at_activations (&options, prepared, &run, cancellable, error);
  options.activations = activations;
  return activations != NULL && vn_equalize_model (prepared, &options, edits, cancellable, error);
}

/* A network that computes in integers would be quantized a second time, on top of its own errors. */
gboolean
vn_job_check_is_float (const VnModel  *model,
                       GError        **error)
{
  guint n = vn_quantize_count_quantized (model);

  if (n == 0)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
               _("This network is quantized already: %u of its %u nodes quantize tensors or compute with quantized ones. "
                 "Quantize the float network it was made from; comparing the two shows its error"),
               n, model->graph->nodes->len);
  return FALSE;
}

/*< private >
 * vn_job_split_samples:
 * @n: how many there are
 * @n_held: to measure the error on
 * @n_calibration: to calibrate on; 0: all others
 *
 * Returns: %FALSE if there are too few to hold any out: the same samples serve for both
 */
gboolean
vn_job_split_samples (guint    n,
                      guint    n_held,
                      guint    n_calibration,
                      GArray **calibration,
                      GArray **held_out)
{
  gboolean apart = n_held > 0 && n >= 2 * n_held;

  vn_dataset_split (n, apart ? n_held : 0, calibration, held_out);
  if (!apart)
    {
      g_array_unref (*held_out);
      *held_out = g_array_copy (*calibration);
    }
  thin_out (*calibration, n_calibration);
  thin_out (*held_out, n_held);
  return apart;
}

/* ---- origin ---- */

static gboolean
all_equal (const float *numbers)
{
  return numbers[0] == numbers[1] && numbers[0] == numbers[2] && numbers[0] == numbers[3];
}

static void
add_numbers (GString     *text,
             const char  *name,
             const float *numbers)
{
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_append_printf (text, "%s%s", text->len > 0 ? ", " : "", name);
  for (guint i = 0; i < 4 && (i == 0 || !all_equal (numbers)); i++)
    g_string_append_printf (text, " %s", g_ascii_formatd (buffer, sizeof buffer, "%.9g", numbers[i]));
}

/* For people to compare when two parts differ. */
static char *
describe_data (const VnDataSpec *data)
{
  static const char * const fits[] = { "stretch", "crop", "letterbox" };
  static const char * const colors[] = { "rgb", "bgr" };
  static const char * const layouts[] = { "auto", "nchw", "nhwc" };
  const VnPreprocess *pre = &data->preprocess;
  g_autoptr(GString) text = g_string_new (NULL);

  add_numbers (text, "mean", pre->mean);
  add_numbers (text, "std", pre->std);
  g_string_append_printf (text, ", %s, %s, %s", colors[pre->color], layouts[pre->layout], fits[pre->fit]);
  if (pre->resize > 0)
    g_string_append_printf (text, ", resize %u", pre->resize);
  if (pre->width > 0 || pre->height > 0)
    g_string_append_printf (text, ", %ux%u", pre->width, pre->height);
  if (g_str_equal (data->path, "random"))
    g_string_append_printf (text, ", seed %llu", (unsigned long long) data->seed);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/*< private >
 * vn_job_make_origin:
 * @data: (nullable): where the samples come from
 *
 * Reads all weights twice.
 *
 * Returns: (transfer full): what statistics of these say about themselves
 */
VnStatsOrigin *
vn_job_make_origin (const VnModel    *source,
                    const VnModel    *prepared,
                    const VnDataSpec *data)
{
  VnStatsOrigin *self = g_new0 (VnStatsOrigin, 1);
  g_autofree char *name = source->path != NULL ? g_path_get_basename (source->path) : g_strdup (source->graph->name);

  self->network = g_utf8_make_valid (name != NULL ? name : "", -1);
  self->source = vn_model_dup_digest (source);
  self->prepared = vn_model_dup_digest (prepared);
  self->opset = vn_model_get_opset (prepared, "");
  self->data = data != NULL ? describe_data (data) : g_strdup ("");
  return self;
}

/* ---- running ---- */

typedef struct
{
  const char *path;
  VnStats    *base;   /* nullable */
} Keeper;

static gboolean
keep (VnStats   *stats,
      gpointer   data,
      GError   **error)
{
  Keeper *self = data;
  g_autoptr(VnStats) sum = vn_stats_continue (self->base, stats, error);

  return sum != NULL && vn_stats_save (sum, self->path, error);
}

static GArray *
list_rest (const VnCalibration *self)
{
  GArray *rest = g_array_new (FALSE, FALSE, sizeof (guint));

  for (guint i = 0; i < self->samples->len; i++)
    {
      guint sample = g_array_index (self->samples, guint, i);

      if (self->base == NULL || !vn_stats_has_sample (self->base, sample, vn_dataset_get_name (self->dataset, sample)))
        g_array_append_val (rest, sample);
    }
  return rest;
}

/* Every n-th: neighbours are alike, and so are then the parts. */
static GArray *
take_share (const VnCalibration *self,
            GArray              *rest)
{
  GArray *share = g_array_new (FALSE, FALSE, sizeof (guint));

  for (guint i = self->rank; i < rest->len; i += MAX (self->n_ranks, 1))
    g_array_append_val (share, g_array_index (rest, guint, i));
  return share;
}

/* Before hours of work: the base must be of these very samples, or it would bring others in. */
static gboolean
check_base (const VnCalibration *self,
            guint                n_rest,
            GError             **error)
{
  const VnStatsOrigin *origin = self->base != NULL ? vn_stats_get_origin (self->base) : NULL;
  guint n_known = self->samples->len - n_rest;

  if (self->base == NULL)
    return TRUE;
  if (!vn_stats_check_origin (self->base, self->origin, _("The interrupted run"), error))
    return FALSE;
  if (origin != NULL && (g_strcmp0 (origin->prepared, self->origin->prepared) != 0 ||
                         g_strcmp0 (origin->data, self->origin->data) != 0))
    {
      g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
                   _("The interrupted run had other settings (opset %lld, samples: %s; now opset %lld, samples: %s); resume "
                     "with the same options, or start anew without --resume"), (long long) origin->opset, origin->data,
                   (long long) self->origin->opset, self->origin->data);
      return FALSE;
    }
  if (vn_stats_get_n_samples (self->base) == n_known)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
               _("The interrupted run had %u samples, of which only %u are among the %u asked for now; resume with the "
                 "same data and options, or start anew without --resume"),
               vn_stats_get_n_samples (self->base), n_known, self->samples->len);
  return FALSE;
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
                  VnNotes              *notes,
                  GCancellable         *cancellable,
                  GError              **error)
{
  gboolean shared = self->n_ranks > 1;
  g_autoptr(GArray) rest = list_rest (self);
  g_autoptr(GArray) share = take_share (self, rest);
  g_autofree char *part = self->keep != NULL ? vn_calibrate_part_path (self->keep, shared ? (int) self->rank : -1) : NULL;
  Keeper keeper = { part, shared ? NULL : self->base };
  VnPlanOptions plan_options = { .input_shapes = self->shapes, .taps = self->taps, .skip_unsupported = TRUE };
  VnCalibrateOptions options = { .samples = (const guint *) (gpointer) share->data, .n_samples = share->len,
                                 .n_threads = self->n_threads, .origin = self->origin,
                                 .checkpoint = part != NULL ? keep : NULL, .checkpoint_data = &keeper,
                                 .checkpoint_seconds = self->keep_seconds,
                                 .may_be_empty = shared || self->base != NULL };
  VnProgress progress = vn_job_get_reporter (job);
  g_autoptr(VnPlan) plan = NULL;
  g_autoptr(VnStats) stats = NULL;
  VnStats *sum;

  if (!check_base (self, rest->len, error))
    return NULL;
  plan = vn_plan_new (self->prepared, &plan_options, notes, error);
  if (plan == NULL)
    return NULL;
  stats = vn_calibrate (plan, self->taps, self->dataset, &options, &progress, notes, cancellable, error);
  if (stats == NULL)
    return NULL;
  sum = vn_stats_continue (keeper.base, stats, error);
  if (sum != NULL && keeper.base != NULL)
    vn_stats_note_values (sum, notes);
  return sum;
}

/*< private >
 * vn_job_load_stats:
 * @origin: of what the statistics are to be used for
 *
 * Reads parts and joins them.
 *
 * Returns: (transfer full) (nullable): the sum; the same bits in any order of @paths
 */
VnStats *
vn_job_load_stats (const char * const   *paths,
                   const VnStatsOrigin  *origin,
                   VnNotes              *notes,
                   GError              **error)
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
      if (!vn_stats_check_origin (stats, origin, paths[i], error))
        return NULL;
      if (vn_stats_get_n_left (stats) > 0)
        vn_notes_add (notes, VN_NOTE_WARNING, "statistics-partial", paths[i],
                      _("Calibration was interrupted: %u samples went in, %u did not; “calibrate --resume” finishes it"),
                      vn_stats_get_n_samples (stats), vn_stats_get_n_left (stats));
    }
  sum = vn_stats_merge ((VnStats **) parts->pdata, parts->len, error);
  if (sum == NULL)
    return NULL;
  n_twice = vn_stats_count_twice (sum, &twice);
  if (n_twice > 0)
    vn_notes_add (notes, VN_NOTE_WARNING, "sample-twice", twice,
                  _("%u samples went in twice, this is one of them: do the parts overlap?"), n_twice);
  return g_steal_pointer (&sum);
}
