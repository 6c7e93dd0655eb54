/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The float network that a recipe quantizes, and its samples: the same for every job. */
#include "vn-job-input.h"

#include "vn-channel-stats.h"
#include "vn-data-check.h"
#include "vn-equalize.h"
#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-node-index.h"
#include "vn-npu.h"
#include "vn-pass.h"
#include "vn-quant-scheme.h"
#include "vn-truncate.h"

static VnModel *
job_input_prepare_for_opset (const VnModel   *source,
                             const VnRecipe  *recipe,
                             gint64           opset,
                             GHashTable      *input_shapes,
                             VnEditLog       *edits,
                             VnNotes         *notes,
                             GCancellable    *cancellable,
                             GError         **error)
{
  g_autoptr(VnModel) named = vn_model_copy_named (source);
  g_auto(VnPrepareScheme) scheme = vn_prepare_scheme (recipe);
  const VnPrepareOptions options = { .target_opset = opset, .input_shapes = input_shapes, .optimize = scheme.optimize,
                                     .passes = (const char * const *) scheme.passes,
                                     .keep = (const char * const *) scheme.named };
  g_autoptr(VnModel) prepared = vn_prepare_model_with (named, &options, edits, notes, cancellable, error);
  g_autoptr(GPtrArray) behind = NULL;

  /* Before any sample is run. */
  if (prepared != NULL && scheme.truncate != NULL &&
      (behind = vn_model_truncate (prepared, (const char * const *) scheme.truncate, error)) == NULL)
    return NULL;
  if (prepared != NULL && !scheme.equalizes_by_samples &&
      !vn_equalize_model (prepared, &scheme.equalize, edits, cancellable, error))
    return NULL;
  if (prepared == NULL || !scheme.simulates_npu)
    return g_steal_pointer (&prepared);
  vn_npu_simulate (prepared, (const char * const *) scheme.npu_operators, notes);
  return vn_model_infer_types (prepared, input_shapes, notes, error) ? g_steal_pointer (&prepared) : NULL;
}

/*< private >
 * vn_job_prepare:
 *
 * Weights are equalized here unless samples are needed for it: see vn_job_input_equalize().
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
  g_return_val_if_fail (source != NULL, NULL);

  return job_input_prepare_for_opset (source, recipe, vn_quantize_get_opset (source, recipe), input_shapes, edits, notes,
                                      cancellable,
                                      error);
}

static GHashTable *
job_input_look_at_activations (const VnEqualizeOptions *options,
                               VnModel                 *prepared,
                               const VnSamples         *run,
                               GCancellable            *cancellable,
                               GError                 **error)
{
  g_autoptr(GPtrArray) values = vn_equalize_list_results (prepared, options, error);
  g_autoptr(GPtrArray) largest = values != NULL
                                 ? vn_channel_stats (prepared, values, NULL, VN_CHANNEL_LARGEST, run, cancellable, error)
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
 * vn_job_input_wants_equalize:
 *
 * Returns: whether weights are to be equalized by what samples make of activations
 */
gboolean
vn_job_input_wants_equalize (const VnJobInput *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return vn_recipe_equalizes_by_samples (self->recipe);
}

/*< private >
 * vn_job_input_equalize:
 * @job: told how far it is
 *
 * Changes the prepared network in place.
 */
gboolean
vn_job_input_equalize (VnJobInput    *self,
                       VnJob         *job,
                       GCancellable  *cancellable,
                       GError       **error)
{
  VnEqualizeOptions options;
  VnProgress progress = vn_job_get_reporter (job);
  g_autoptr(GArray) taken = NULL;
  VnSamples run;
  g_autoptr(GHashTable) activations = NULL;

  g_return_val_if_fail (self != NULL, FALSE);

  options = vn_recipe_get_equalize_options (self->recipe);
  taken = self->calibration != NULL ? vn_job_take_samples (self->calibration, self->recipe->correction_samples)
                                    : NULL;
  run = (VnSamples) { .shapes = self->shapes, .dataset = self->dataset, .n_threads = self->n_threads, .progress = &progress,
                         .notes = self->notes };
  if (taken == NULL || taken->len == 0)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA,
                   _("Equalization by activations needs samples: add --data, or turn equalize-activations off"));
      return FALSE;
    }
  run.indices = (const guint *) (gpointer) taken->data;
  run.n = taken->len;
  activations = job_input_look_at_activations (&options, self->prepared, &run, cancellable, error);
  options.activations = activations;
  return activations != NULL && vn_equalize_model (self->prepared, &options, self->edits, cancellable, error);
}

/*< private >
 * vn_job_input_get_shapes:
 * @recipe: that of @self, or another for the same samples
 *
 * Returns: (transfer none) (nullable): the sizes that @recipe prepares the network with
 */
GHashTable *
vn_job_input_get_shapes (const VnJobInput *self,
                         const VnRecipe   *recipe)
{
  g_return_val_if_fail (self != NULL && recipe != NULL, NULL);

  return recipe->static_shapes && self->fixed_shapes != NULL ? self->fixed_shapes : self->given_shapes;
}

/*< private >
 * vn_job_input_list_given:
 * @self: prepared
 *
 * Returns: (transfer full) (nullable): the sizes that were given, without those of inputs whose axes preparing has turned:
 *   these are part of the prepared network
 */
GHashTable *
vn_job_input_list_given (const VnJobInput *self)
{
  GHashTable *given, *list;
  GHashTableIter iter;
  gpointer name, shape;

  g_return_val_if_fail (self != NULL && self->prepared != NULL, NULL);

  given = vn_job_input_get_shapes (self, self->recipe);
  if (given == NULL)
    return NULL;
  list = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_hash_table_iter_init (&iter, given);
  while (g_hash_table_iter_next (&iter, &name, &shape))
    {
      const VnValue *value = vn_graph_find_value (self->prepared->graph, name);

      if (value == NULL || !vn_shape_is_static (&value->type.shape) || vn_shape_equal (&value->type.shape, shape))
        g_hash_table_insert (list, g_strdup (name), g_memdup2 (shape, sizeof (VnShape)));
    }
  return list;
}

static gboolean
job_input_open_samples (VnJobInput  *self,
                        GError     **error)
{
  g_autoptr(GHashTable) given = vn_job_input_list_given (self);

  if (self->data == NULL)
    {
      self->shapes = g_steal_pointer (&given);
      return TRUE;
    }
  self->dataset = vn_model_open_data (self->prepared, self->data, given, &self->shapes, self->notes, error);
  if (self->dataset == NULL)
    return FALSE;
  if (self->known != NULL)
    vn_dataset_share_kept (self->dataset, self->known);
  self->apart = vn_job_split_samples (self->data, self->dataset, self->n_calibration, &self->calibration, &self->measured);
  vn_job_note_overlap (self);
  return TRUE;
}

/*< private >
 * vn_job_input_validate:
 *
 * Returns: %FALSE if the recipe cannot work, or the network is quantized already
 */
gboolean
vn_job_input_validate (const VnJobInput  *self,
                       GError           **error)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return vn_recipe_validate (self->recipe, error) && vn_quantize_check_is_float (self->model, error);
}

/* Sizes that the network leaves open are those of the first sample. */
static gboolean
job_input_fix_shapes (VnJobInput  *self,
                      GError     **error)
{
  g_autoptr(VnDataset) dataset = NULL;

  if (!self->recipe->static_shapes || self->data == NULL)
    return TRUE;
  dataset = vn_model_open_data (self->model, self->data, self->given_shapes, &self->fixed_shapes, NULL, error);
  return dataset != NULL;
}

/*< private >
 * vn_job_input_prepare:
 *
 * Prepares the network as the recipe says, and opens the samples.
 */
gboolean
vn_job_input_prepare (VnJobInput    *self,
                      GCancellable  *cancellable,
                      GError       **error)
{
  g_return_val_if_fail (self != NULL, FALSE);

  if (!job_input_fix_shapes (self, error))
    return FALSE;
  self->prepared = vn_job_prepare (self->model, self->recipe, vn_job_input_get_shapes (self, self->recipe), self->edits,
                                   self->notes, cancellable, error);
  return self->prepared != NULL && job_input_open_samples (self, error);
}

/*< private >
 * vn_job_input_check:
 * @calibrates: the samples will be run for statistics
 *
 * Notes what looks wrong with the samples.
 */
gboolean
vn_job_input_check (VnJobInput    *self,
                    gboolean       calibrates,
                    GCancellable  *cancellable,
                    GError       **error)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return self->dataset == NULL ||
         vn_data_check (self->model, self->prepared, self->shapes, self->dataset, calibrates, self->notes, cancellable, error);
}

/*< private >
 * vn_job_input_find_parts:
 *
 * Looks for parts of the outputs on the samples that are measured, and others if these are few; without samples there are none.
 */
gboolean
vn_job_input_find_parts (VnJobInput        *self,
                         const VnProgress  *progress,
                         GCancellable      *cancellable,
                         GError           **error)
{
  VnSamples run;
  g_autoptr(GArray) looked_at = NULL;

  g_return_val_if_fail (self != NULL, FALSE);

  if (self->dataset == NULL)
    return TRUE;
  looked_at = vn_job_list_judged (self, NULL, MAX (self->measured->len, VN_JUDGED_SAMPLES));
  run = (VnSamples) { .shapes = self->shapes, .dataset = self->dataset, .indices = (const guint *) (gpointer) looked_at->data,
                         .n = looked_at->len, .n_threads = self->n_threads,
                         .progress = progress };   /* who measures tells what cannot be read */
  g_clear_pointer (&self->parts, vn_parts_unref);
  self->parts = vn_find_parts (self->prepared, &run, vn_data_spec_is_random (self->data) ? NULL : self->notes, cancellable,
                               error);
  return self->parts != NULL;
}

/*< private >
 * vn_job_input_make_origin:
 *
 * Reads all weights twice. After this the prepared network must not be changed.
 */
void
vn_job_input_make_origin (VnJobInput *self)
{
  g_autofree char *samples = NULL;

  g_return_if_fail (self != NULL);

  samples = self->dataset == NULL ? NULL
                                  : vn_dataset_dup_digest (self->dataset,
                                                           (const guint *) (gpointer) self->calibration->data,
                                                           self->calibration->len);
  g_clear_pointer (&self->origin, vn_stats_origin_free);
  self->origin = vn_job_make_origin (self->model, self->prepared, self->data, samples);
}

/* What the prepared network would be with another opset alone; NULL if that cannot be told. */
static VnStatsOrigin *
job_input_make_origin_for_opset (const VnJobInput *self,
                                 gint64            opset,
                                 GCancellable     *cancellable)
{
  g_autoptr(VnModel) prepared = NULL;

  if (vn_recipe_equalizes_by_samples (self->recipe))
    return NULL;
  prepared = job_input_prepare_for_opset (self->model, self->recipe, opset, vn_job_input_get_shapes (self, self->recipe), NULL,
                                          NULL, cancellable, NULL);
  return prepared != NULL ? vn_job_make_origin (self->model, prepared, self->data, self->origin->samples) : NULL;
}

/*< private >
 * vn_job_input_check_stats:
 * @path: (nullable): where @stats come from, for messages
 *
 * Needs vn_job_input_make_origin(). Statistics of a network that only has another opset serve as well: what has the same
 * name there has the same values.
 *
 * Returns: %FALSE if @stats are of another network, or of one that was prepared otherwise
 */
gboolean
vn_job_input_check_stats (const VnJobInput  *self,
                          VnStats           *stats,
                          const char        *path,
                          GCancellable      *cancellable,
                          GError           **error)
{
  const VnStatsOrigin *origin = vn_stats_get_origin (stats);
  g_autoptr(VnStatsOrigin) same = NULL;

  g_return_val_if_fail (self != NULL, FALSE);

  if (origin != NULL && origin->opset != self->origin->opset && g_strcmp0 (origin->source, self->origin->source) == 0)
    same = job_input_make_origin_for_opset (self, origin->opset, cancellable);
  return vn_stats_check_origin (stats, same != NULL ? same : self->origin, path, error);
}

/*< private >
 * vn_job_input_owns_stats:
 * @stats: of an earlier run
 *
 * Needs vn_job_input_make_origin().
 *
 * Returns: whether calibrating would find @stats once more: they are of the same samples and of the same network
 */
gboolean
vn_job_input_owns_stats (const VnJobInput *self,
                         VnStats          *stats,
                         GCancellable     *cancellable)
{
  const VnStatsOrigin *origin = vn_stats_get_origin (stats);

  g_return_val_if_fail (self != NULL, FALSE);

  return origin != NULL && origin->samples != NULL && g_strcmp0 (origin->samples, self->origin->samples) == 0 &&
         vn_job_input_check_stats (self, stats, NULL, cancellable, NULL);
}

void
vn_job_input_clear (VnJobInput *self)
{
  g_return_if_fail (self != NULL);

  g_clear_pointer (&self->prepared, vn_model_unref);
  g_clear_pointer (&self->dataset, vn_dataset_unref);
  g_clear_pointer (&self->shapes, g_hash_table_unref);
  g_clear_pointer (&self->fixed_shapes, g_hash_table_unref);
  g_clear_pointer (&self->calibration, g_array_unref);
  g_clear_pointer (&self->measured, g_array_unref);
  g_clear_pointer (&self->origin, vn_stats_origin_free);
  g_clear_pointer (&self->parts, vn_parts_unref);
  g_clear_pointer (&self->reference, vn_model_unref);
  g_clear_pointer (&self->preparation, vn_error_table_unref);
}
