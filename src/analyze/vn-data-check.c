/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Whether samples look as the network expects them. What it expects is read off its first layer: a BatchNormalization
 * there keeps mean and deviation of what it saw in training; without one, biases that dwarf everything the samples
 * make, or a clamp that cuts nearly all of it off, tell that the scale is wrong. The limits are far from what pictures
 * prepared rightly give (a factor of 2 at most between their deviation and that of training), so that factors of 255
 * are found, but not a mean that is a little off.
 *
 * Whether red and blue are swapped only a BatchNormalization tells, and not every one: most first layers are nearly symmetric in
 * colour. The samples go through the first layer in both orders, and what comes out is held against
 * mean and deviation of training (judge_colors()). */

#include "vn-data-check-private.h"

#include "vn-i18n.h"
#include "vn-plan.h"

#include <math.h>

#define MAX_SAMPLES 16u       /* looked at, evenly spread */
#define FEW_SAMPLES 10

typedef struct
{
  VnDataset *dataset;
  VnNotes   *notes;
  guint      n_samples, n_inputs;
  VnTensor **first;         /* the first sample */
  gboolean   all_equal;
  guint      n_constant, n_bad, n_planar, n_planar_wrong, n_packed, n_packed_wrong;
  gboolean   calibrates;
} Samples;

/* ---- the samples themselves ---- */

static gboolean
look_at_values (const VnTensor *tensor,
                gsize          *n_bad)
{
  gboolean constant = TRUE;
  double first = tensor->n_elements > 0 ? vn_tensor_get_double (tensor, 0) : 0;

  for (gsize i = 0; i < tensor->n_elements; i++)
    {
      double value = vn_tensor_get_double (tensor, i);

      *n_bad += !isfinite (value);
      constant &= value == first;
    }
  return constant;
}

/* Whether the elements of a picture that should lie in planes change three times as far as fast as side by side: then
 * the three colours of a pixel do. */
static gboolean
is_interleaved (const VnTensor *tensor)
{
  double near = 0, far = 0;

  for (gsize i = 3; i < tensor->n_elements; i++)
    {
      double value = vn_tensor_get_double (tensor, i);

      near += fabs (value - vn_tensor_get_double (tensor, i - 1));
      far += fabs (value - vn_tensor_get_double (tensor, i - 3));
    }
  return far < 0.5 * near;
}

/* Whether a picture that should lie pixel by pixel lies in planes: then what is a row above is nearer than what is three
 * rows above; otherwise that is the pixel above, and a row of a plane is the way to quite another pixel. */
static gboolean
is_in_planes (const VnTensor *tensor)
{
  gsize row = (gsize) tensor->shape.dims[2];
  double one = 0, three = 0;

  for (gsize i = 3 * row; i < tensor->n_elements; i++)
    {
      double value = vn_tensor_get_double (tensor, i);

      one += fabs (value - vn_tensor_get_double (tensor, i - row));
      three += fabs (value - vn_tensor_get_double (tensor, i - 3 * row));
    }
  return one < 0.7 * three;
}

/* @channels: the axis of the colours */
static gboolean
is_picture (const VnTensor *tensor,
            int             channels)
{
  const gint64 *dims = tensor->shape.dims;
  const int first = channels == 1 ? 2 : 1;

  return vn_dtype_is_float (tensor->dtype) && tensor->shape.rank == 4 && dims[channels] == 3 && dims[first] >= 16 &&
         dims[first + 1] >= 16;
}

static void
look_at_sample (Samples   *self,
                guint      index,
                VnTensor **tensors)
{
  gboolean constant = TRUE;
  gboolean is_first = self->n_samples++ == 0;
  gboolean floats = FALSE;

  for (guint k = 0; k < self->n_inputs; k++)
    {
      gsize n_bad = 0;

      if (vn_dtype_is_float (tensors[k]->dtype))
        {
          floats = TRUE;
          constant &= look_at_values (tensors[k], &n_bad) || tensors[k]->n_elements < 2;
        }
      if (n_bad > 0 && self->n_bad++ == 0)
        vn_notes_add (self->notes, VN_NOTE_WARNING, "data-not-finite", vn_dataset_get_name (self->dataset, index),
                      _("%zu of %zu values are NaN or infinite"), n_bad, tensors[k]->n_elements);
      if (is_picture (tensors[k], 1))
        {
          self->n_planar++;
          self->n_planar_wrong += is_interleaved (tensors[k]);
        }
      else if (is_picture (tensors[k], 3))
        {
          self->n_packed++;
          self->n_packed_wrong += is_in_planes (tensors[k]);
        }
      if (is_first)
        self->first[k] = vn_tensor_ref (tensors[k]);
      else
        self->all_equal &= vn_tensor_equal (self->first[k], tensors[k]);
    }
  self->n_constant += floats && constant;
}

static void
note_samples (const Samples *self)
{
  guint n = vn_dataset_get_n (self->dataset);

  if (self->calibrates && n < FEW_SAMPLES)
    vn_notes_add (self->notes, VN_NOTE_INFO, "data-few", NULL,
                  _("Only %u samples: ranges get better with more; 100 to 1000 are usual"), n);
  if (self->n_samples > 1 && self->all_equal)
    vn_notes_add (self->notes, VN_NOTE_WARNING, "data-equal", NULL,
                  _("The %u samples that were looked at are all equal: ranges will fit nothing else"), self->n_samples);
  else if (self->n_constant > 0)
    vn_notes_add (self->notes, VN_NOTE_WARNING, "data-constant", NULL,
                  _("%u of the %u samples that were looked at have the same value everywhere"), self->n_constant, self->n_samples);
  if (self->n_planar_wrong > self->n_planar / 2)
    vn_notes_add (self->notes, VN_NOTE_WARNING, "data-layout", NULL,
                  _("The samples look like N×H×W×C, colour by colour for each pixel; the network takes N×C×H×W"));
  if (self->n_packed_wrong > self->n_packed / 2)
    vn_notes_add (self->notes, VN_NOTE_WARNING, "data-layout", NULL,
                  _("The samples look like N×C×H×W, a plane for each colour; the network takes N×H×W×C"));
}

/* ---- all together ---- */

static void
layers_free (gpointer data)
{
  VnFirstLayer *layer = data;

  g_free (layer->sum);
  g_free (layer->squares);
  g_free (layer);
}

/* A plan for the first layers only; NULL if there is none, or the network does not take the data set's inputs. */
static VnPlan *
plan_layers (VnModel    *model,
             GHashTable *shapes,
             guint       n_inputs,
             GPtrArray  *layers)
{
  g_autoptr(GPtrArray) outputs = g_ptr_array_new ();
  VnPlanOptions options = { .input_shapes = shapes, .outputs = outputs, .no_fusion = TRUE };
  g_autoptr(VnPlan) plan = NULL;
  guint n = 0;

  for (guint i = 0; i < model->graph->inputs->len; i++)
    {
      VnValue *value = g_ptr_array_index (model->graph->inputs, i);
      VnFirstLayer found = { .input = n };

      if (value->initializer != NULL)
        continue;
      n++;
      if (!vn_dtype_is_float (value->type.dtype) || !_vn_first_layer_find (value, &found) || g_ptr_array_find (outputs, found.value, NULL))
        continue;
      found.direct = found.value == value;
      if (!found.direct)
        g_ptr_array_add (outputs, found.value);
      g_ptr_array_add (layers, g_memdup2 (&found, sizeof found));
    }
  if (n != n_inputs)
    g_ptr_array_set_size (layers, 0);
  if (layers->len == 0 || outputs->len == 0 || (plan = vn_plan_new (model, &options, NULL, NULL)) == NULL ||
      vn_plan_get_n_inputs (plan) != n || vn_plan_get_n_outputs (plan) != outputs->len)
    return NULL;
  return g_steal_pointer (&plan);
}

/* The samples once more, with red and blue swapped where they are pictures; FALSE if none is. */
static gboolean
swap_colors (VnDataset  *dataset,
             VnTensor  **tensors,
             VnTensor  **swapped,
             guint       n)
{
  gboolean any = FALSE;

  for (guint k = 0; k < n; k++)
    {
      swapped[k] = vn_dataset_swap_colors (dataset, k, tensors[k]);
      any |= swapped[k] != NULL;
      if (swapped[k] == NULL)
        swapped[k] = vn_tensor_ref (tensors[k]);
    }
  return any;
}

/* @runner: (nullable): runs what is not the input itself */
static void
run_layers (VnRunner      *runner,
            GPtrArray     *layers,
            VnTensor     **tensors,
            GCancellable  *cancellable)
{
  g_autofree VnTensor **outputs = g_new0 (VnTensor *, layers->len + 1);
  gboolean ran = runner != NULL && vn_runner_run (runner, tensors, outputs, cancellable, NULL);
  guint at = 0;

  for (guint i = 0; i < layers->len; i++)
    {
      VnFirstLayer *layer = layers->pdata[i];

      if (layer->direct)
        _vn_first_layer_add (layer, tensors[layer->input]);
      else if (ran)
        {
          _vn_first_layer_add (layer, outputs[at]);
          vn_tensor_unref (outputs[at++]);
        }
    }
}

/* @swapped: the same layers, of samples with red and blue swapped, if there were any */
static void
judge (GPtrArray *layers,
       GPtrArray *swapped,
       VnModel   *model,
       VnNotes   *notes)
{
  for (guint i = 0; i < layers->len; i++)
    {
      const VnFirstLayer *layer = layers->pdata[i];
      guint n = 0;

      for (guint k = 0; layer->sum != NULL && layer->n > 1 && k < model->graph->inputs->len; k++)
        {
          const VnValue *value = g_ptr_array_index (model->graph->inputs, k);

          if (value->initializer != NULL || n++ != layer->input)
            continue;
          if (layer->norm == NULL)
            _vn_first_layer_judge_by_bias (layer, value->name, notes);
          else if (!_vn_first_layer_judge_by_norm (layer, value->name, notes) && ((const VnFirstLayer *) swapped->pdata[i])->sum != NULL)
            _vn_first_layer_judge_colors (layer, swapped->pdata[i], value->name, notes);
        }
    }
}

static gboolean
has_norm (const GPtrArray *layers)
{
  for (guint i = 0; i < layers->len; i++)
    if (((const VnFirstLayer *) layers->pdata[i])->norm != NULL)
      return TRUE;
  return FALSE;
}

/* Before they have seen anything. */
static GPtrArray *
copy_layers (const GPtrArray *layers)
{
  GPtrArray *copy = g_ptr_array_new_with_free_func (layers_free);

  for (guint i = 0; i < layers->len; i++)
    g_ptr_array_add (copy, g_memdup2 (layers->pdata[i], sizeof (VnFirstLayer)));
  return copy;
}

static guint
count_inputs (const VnModel *model)
{
  guint n = 0;

  for (guint i = 0; i < model->graph->inputs->len; i++)
    n += ((VnValue *) g_ptr_array_index (model->graph->inputs, i))->initializer == NULL;
  return n;
}

/**
 * vn_data_check:
 * @model: as it was opened: preparation folds what training left behind
 * @fed: the model whose inputs @dataset was opened for; may be @model
 * @shapes: (nullable): sizes of inputs, as of vn_model_open_data()
 * @dataset: samples for all its inputs
 * @calibrates: ranges are to be found with them: few are a fact to tell
 * @notes: receives "data-few", "data-equal", "data-constant", "data-not-finite", "data-layout", "data-range" and
 *   "data-colors"
 *
 * Looks at a few samples, evenly spread, and runs the network's first layer on them. Samples that cannot be read and
 * networks whose first layer cannot be run say nothing.
 *
 * Returns: %FALSE only if it was cancelled
 */
gboolean
vn_data_check (VnModel       *model,
               const VnModel *fed,
               GHashTable    *shapes,
               VnDataset     *dataset,
               gboolean       calibrates,
               VnNotes       *notes,
               GCancellable  *cancellable,
               GError       **error)
{
  const guint n = vn_dataset_get_n (dataset);
  const guint n_checked = MIN (n, MAX_SAMPLES);
  const guint n_inputs = count_inputs (fed);
  Samples samples = { dataset, notes, .n_inputs = n_inputs, .first = g_new0 (VnTensor *, n_inputs + 1), .all_equal = TRUE,
                      .calibrates = calibrates };
  g_autoptr(GPtrArray) layers = g_ptr_array_new_with_free_func (layers_free);
  g_autoptr(VnPlan) plan = plan_layers (model, shapes, n_inputs, layers);
  g_autoptr(GPtrArray) swapped = copy_layers (layers);
  g_autoptr(VnRunner) runner = plan != NULL ? vn_runner_new (plan, NULL) : NULL;

  for (guint i = 0; i < n_checked && !g_cancellable_is_cancelled (cancellable); i++)
    {
      guint index = (guint) ((guint64) i * n / n_checked);
      g_autofree VnTensor **tensors = g_new0 (VnTensor *, n_inputs + 1);
      g_autofree VnTensor **others = g_new0 (VnTensor *, n_inputs + 1);

      if (!vn_dataset_load (dataset, index, tensors, NULL))
        continue;
      look_at_sample (&samples, index, tensors);
      run_layers (runner, layers, tensors, cancellable);
      if (has_norm (layers) && swap_colors (dataset, tensors, others, n_inputs))
        run_layers (runner, swapped, others, cancellable);
      for (guint k = 0; k < n_inputs; k++)
        {
          vn_tensor_unref (tensors[k]);
          g_clear_pointer (&others[k], vn_tensor_unref);
        }
    }
  for (guint k = 0; k < n_inputs; k++)
    g_clear_pointer (&samples.first[k], vn_tensor_unref);
  g_free (samples.first);
  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;
  note_samples (&samples);
  if (samples.n_bad == 0)
    judge (layers, swapped, model, notes);
  return TRUE;
}
