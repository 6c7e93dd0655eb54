/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules and settings change what becomes of a few tensors: ranges are known, and only what lies behind these tensors is run. */
#include "vn-what-if.h"

#include "vn-job-input.h"

#include "vn-error.h"
#include "vn-format-traits.h"
#include "vn-i18n.h"
#include "vn-model-data.h"

/* Samples that are taken if nobody says how many, and bytes that are kept for them. */
#define USUAL_SAMPLES 4
#define MAX_BYTES ((gsize) 512 << 20)

/* The first that has 16 and 4 bits. */
#define MEASURED_OPSET 21

struct _VnWhatIf
{
  gatomicrefcount ref;
  VnResult       *result;
  VnModel        *prepared;     /* of the result, with the opset that all recipes are measured with */
  char           *digest;       /* of that */
  VnRecompare    *recompare;
};

VnWhatIf *
vn_what_if_ref (VnWhatIf *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref);
  return self;
}

void
vn_what_if_unref (VnWhatIf *self)
{
  if (!g_atomic_ref_count_dec (&self->ref))
    return;
  g_clear_pointer (&self->recompare, vn_recompare_free);
  g_clear_pointer (&self->prepared, vn_model_unref);
  g_free (self->digest);
  vn_result_unref (self->result);
  g_free (self);
}

/* ---- what a recipe makes of the float network ---- */

/* Biases and weights that samples change take runs of the whole network. */
static gboolean
what_if_check_recipe (const VnRecipe  *recipe,
                      GError         **error)
{
  if (recipe->bias_correction == VN_BIAS_CORRECTION_OFF && recipe->rounding == VN_WEIGHT_ROUNDING_NEAREST)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
               _("%s takes a whole run: what a change does cannot be told without it"),
               recipe->rounding != VN_WEIGHT_ROUNDING_NEAREST ? "rounding" : "bias-correction");
  return FALSE;
}

/* What is measured: tensors are float32, whatever the format; an opset that has all types of integers, so that a recipe with others
 * has the rest of its network in common. */
static VnRecipe *
what_if_make_measurable (const VnRecipe *recipe)
{
  VnRecipe *measured = vn_recipe_copy (recipe);

  if (vn_format_is (recipe->format, VN_FORMAT_COMPUTES_HALF))
    measured->float_io = TRUE;
  measured->opset = MAX (measured->opset, MEASURED_OPSET);
  return measured;
}

static VnModel *
what_if_prepare (VnResult        *result,
                 const VnRecipe  *recipe,
                 char           **digest,
                 GCancellable    *cancellable,
                 GError         **error)
{
  g_autoptr(VnEditLog) edits = vn_edit_log_new ();
  g_autoptr(VnNotes) unheard = vn_notes_new ();
  VnModel *prepared = vn_job_prepare (result->source, recipe, result->run.shapes, edits, unheard, cancellable, error);

  *digest = prepared != NULL ? vn_model_dup_digest (prepared) : NULL;
  return prepared;
}

static gboolean
what_if_check_digest (const char  *digest,
                      const char  *expected,
                      GError     **error)
{
  if (g_strcmp0 (digest, expected) == 0)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
               _("The settings make another float network, which has to be calibrated: what they do cannot be told without a whole run"));
  return FALSE;
}

/* Whether the recipe prepares the network as that of the result does: its ranges are known, and what it computes. */
static gboolean
what_if_check_network (VnWhatIf        *self,
                       const VnRecipe  *recipe,
                       GCancellable    *cancellable,
                       GError         **error)
{
  g_autofree char *digest = NULL;
  g_autoptr(VnModel) prepared = what_if_prepare (self->result, recipe, &digest, cancellable, error);

  return prepared != NULL && what_if_check_digest (digest, self->digest, error);
}

static VnModel *
what_if_quantize (VnWhatIf         *self,
                  const VnRecipe   *measured,
                  VnQuantPlan     **plan,
                  GHashTable      **names,
                  GError          **error)
{
  g_autoptr(VnNotes) unheard = vn_notes_new ();
  g_autoptr(VnModel) model = NULL;

  *plan = vn_quantize_resolve (self->prepared, measured, self->result->stats, unheard, error);
  if (*plan == NULL)
    return NULL;
  model = vn_quantize_write (self->prepared, measured, *plan, names, error);
  return model != NULL && vn_model_infer_types (model, self->result->run.shapes, NULL, error) ? g_steal_pointer (&model) : NULL;
}

/* ---- the result ---- */

/* The network of the result, with the opset of measuring. */
static gboolean
what_if_take_network (VnWhatIf        *self,
                      const VnRecipe  *measured,
                      GCancellable    *cancellable,
                      GError         **error)
{
  g_autofree char *own = NULL;
  g_autoptr(VnModel) prepared = what_if_prepare (self->result, self->result->recipe, &own, cancellable, error);

  if (prepared == NULL || !what_if_check_digest (own, self->result->prepared_digest, error))
    return FALSE;
  self->prepared = what_if_prepare (self->result, measured, &self->digest, cancellable, error);
  return self->prepared != NULL;
}

static gboolean
what_if_fill (VnWhatIf      *self,
              guint          n_samples,
              guint          n_threads,
              GCancellable  *cancellable,
              GError       **error)
{
  VnResult *result = self->result;
  g_autoptr(VnNotes) unheard = vn_notes_new ();
  g_autoptr(GHashTable) shapes = NULL, names = NULL;
  g_autoptr(VnRecipe) recipe = what_if_make_measurable (result->recipe);
  g_autoptr(VnDataset) dataset = NULL;
  g_autoptr(GArray) calibration = NULL, measured = NULL;
  g_autoptr(VnQuantPlan) plan = NULL;
  g_autoptr(VnModel) base = NULL;
  VnCompareOptions options = { .n_threads = n_threads };

  if (!what_if_take_network (self, recipe, cancellable, error))
    return FALSE;
  dataset = vn_model_open_data (self->prepared, result->data, result->run.shapes, &shapes, unheard, error);
  base = dataset != NULL ? what_if_quantize (self, recipe, &plan, &names, error) : NULL;
  if (base == NULL)
    return FALSE;
  vn_job_split_samples (result->data, vn_dataset_get_n (dataset), result->run.n_calibration, &calibration, &measured);
  options.value_names = names;
  options.plan = plan;
  options.samples = (const guint *) (gpointer) measured->data;
  options.n_samples = MIN (measured->len, n_samples > 0 ? n_samples : USUAL_SAMPLES);
  self->recompare = vn_recompare_new (self->prepared, base, shapes, dataset, &options, MAX_BYTES, cancellable, error);
  return self->recompare != NULL;
}

/**
 * vn_what_if_new:
 * @result: of a run with samples
 * @n_samples: to measure on, of those held out; 0: as usual. Fewer are taken of networks with large tensors
 * @n_threads: 0: all processors
 *
 * Runs the networks of @result on a few samples.
 *
 * Returns: (transfer full) (nullable): %VN_ERROR_SETTING if its recipe corrects biases or rounds weights by samples,
 *   %VN_ERROR_MISSING_DATA if it had no samples
 */
VnWhatIf *
vn_what_if_new (VnResult      *result,
                guint          n_samples,
                guint          n_threads,
                GCancellable  *cancellable,
                GError       **error)
{
  g_autoptr(VnWhatIf) self = NULL;

  g_return_val_if_fail (result != NULL && result->prepared != NULL && result->recipe != NULL, NULL);

  if (result->data == NULL || result->stats == NULL)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA, _("The run had no samples: what a change does cannot be measured"));
      return NULL;
    }
  if (!what_if_check_recipe (result->recipe, error))
    return NULL;
  self = g_new0 (VnWhatIf, 1);
  g_atomic_ref_count_init (&self->ref);
  self->result = vn_result_ref (result);
  return what_if_fill (self, n_samples, n_threads, cancellable, error) ? g_steal_pointer (&self) : NULL;
}

guint
vn_what_if_get_n_samples (VnWhatIf *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return vn_recompare_get_n (self->recompare);
}

/**
 * vn_what_if_get_base:
 *
 * Returns: (transfer none): errors of the result on the same samples: what vn_what_if_measure() is to be compared with
 */
VnErrorTable *
vn_what_if_get_base (VnWhatIf *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return vn_recompare_get_base (self->recompare);
}

/**
 * vn_what_if_measure:
 * @recipe: another one for the same network
 * @cost: (nullable) (out): how many tensors were computed again
 *
 * Measures the error of all tensors as it would be with @recipe. Only what lies behind the tensors that become something else is
 * run; ranges are those that the run found.
 *
 * Returns: (transfer full) (nullable): the numbers of a run with @recipe on these samples; %VN_ERROR_SETTING if it takes a whole run
 */
VnErrorTable *
vn_what_if_measure (VnWhatIf         *self,
                    const VnRecipe   *recipe,
                    VnRecompareCost  *cost,
                    GCancellable     *cancellable,
                    GError          **error)
{
  g_autoptr(VnQuantPlan) plan = NULL;
  g_autoptr(GHashTable) names = NULL;
  g_autoptr(VnModel) changed = NULL;
  g_autoptr(VnRecipe) measured = NULL;
  VnCompareOptions options = { 0 };

  g_return_val_if_fail (self != NULL && recipe != NULL, NULL);

  measured = what_if_make_measurable (recipe);
  if (!vn_recipe_validate (recipe, error) || !what_if_check_recipe (recipe, error) ||
      !what_if_check_network (self, measured, cancellable, error))
    return NULL;
  changed = what_if_quantize (self, measured, &plan, &names, error);
  if (changed == NULL)
    return NULL;
  options.value_names = names;
  options.plan = plan;
  return vn_recompare_measure (self->recompare, changed, &options, cost, cancellable, error);
}
