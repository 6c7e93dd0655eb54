/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Whether samples look as the network expects them. What it expects is read off its first layer: a BatchNormalization
 * there keeps mean and deviation of what it saw in training; without one, biases that dwarf everything the samples
 * make, or a clamp that cuts nearly all of it off, tell that the scale is wrong, and so do biases that nothing is left of
 * (data-scale.c). The limits (vn-thresholds.h) are far from what pictures prepared rightly give, so that factors of 255
 * are found, but not a mean that is a little off. Half the scale is sometimes told by layers further back (data-deep.c), and
 * values that are cut off by the first operator (data-cut.c).
 *
 * Whether red and blue are swapped only a BatchNormalization tells, and not every one: most first layers are nearly symmetric in
 * colour. The samples go through the first layer in both orders, and what comes out is held against
 * mean and deviation of training (_vn_first_layer_judge_colors()). */

#include "vn-data-check-private.h"

#include "vn-i18n.h"
#include "vn-op.h"
#include "vn-plan.h"
#include "vn-thresholds.h"

#include <math.h>

#define MAX_SAMPLES 16u       /* looked at, evenly spread */
#define MAX_READ    64u       /* whose largest value is looked at, the same */
#define RAW_MAX 100.0         /* pixels of 0 to 255 reach this, with their mean subtracted, too */

typedef struct
{
  VnDataset *dataset;
  VnNotes   *notes;
  guint      n_samples, n_inputs;
  VnTensor **first;         /* the first sample */
  double    *low, *high;    /* of the finite values, by input */
  const char **names;       /* of the inputs */
  gboolean  *masks;         /* inputs that only tell what is to be seen: may be infinite, or all ones */
  gboolean  *indices;       /* inputs that are looked up in a table, as tokens are */
  gboolean   all_equal;
  VnDataReach *reach;
  guint      n_constant, n_noise, n_bad, n_planar, n_planar_wrong, n_packed, n_packed_wrong;
  gboolean   calibrates;
} Samples;

/* ---- the samples themselves ---- */

static gboolean
data_check_samples_look_at_values (Samples        *self,
                                   guint           input,
                                   const VnTensor *tensor,
                                   gsize          *n_bad)
{
  gboolean constant = TRUE;
  double first = tensor->n_elements > 0 ? vn_tensor_get_double (tensor, 0) : 0;

  for (gsize i = 0; i < tensor->n_elements; i++)
    {
      double value = vn_tensor_get_double (tensor, i);

      constant &= value == first;
      if (!isfinite (value))
        {
          *n_bad += !self->masks[input] || isnan (value);
          continue;
        }
      self->low[input] = MIN (self->low[input], value);
      self->high[input] = MAX (self->high[input], value);
    }
  return constant;
}

/* Whether the elements of a picture that should lie in planes change three times as far as fast as side by side: then
 * the three colours of a pixel do. */
static gboolean
data_check_samples_is_interleaved (const VnTensor *tensor)
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
data_check_samples_is_in_planes (const VnTensor *tensor)
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
data_check_samples_is_picture (const VnTensor *tensor,
                               int             channels)
{
  const gint64 *dims = tensor->shape.dims;
  const int first = channels == 1 ? 2 : 1;

  return vn_dtype_is_float (tensor->dtype) && tensor->shape.rank == 4 && dims[channels] == 3 && dims[first] >= 16 &&
         dims[first + 1] >= 16;
}

static void
data_check_samples_look_at (Samples   *self,
                            guint      index,
                            VnTensor **tensors)
{
  gboolean constant = TRUE;
  gboolean is_first = self->n_samples++ == 0;
  gboolean shows = FALSE, noise = FALSE;

  for (guint k = 0; k < self->n_inputs; k++)
    {
      gsize n_bad = 0;

      if (vn_dtype_is_float (tensors[k]->dtype) || self->indices[k])
        {
          gboolean is_constant = data_check_samples_look_at_values (self, k, tensors[k], &n_bad);
          gboolean packed = !data_check_samples_is_picture (tensors[k], 1);

          if (!packed || data_check_samples_is_picture (tensors[k], 3))
            is_constant = is_constant || _vn_data_picture_is_plain (tensors[k], packed);
          if (!self->masks[k] && tensors[k]->n_elements > 1)
            {
              shows = TRUE;
              constant &= is_constant;
            }
        }
      if (n_bad > 0 && self->n_bad++ == 0)
        vn_notes_add (self->notes, VN_NOTE_WARNING, "data-not-finite", vn_dataset_get_name (self->dataset, index),
                      ngettext ("%zu of %zu value is NaN or infinite",
                                "%zu of %zu values are NaN or infinite", tensors[k]->n_elements), n_bad, tensors[k]->n_elements);
      if (data_check_samples_is_picture (tensors[k], 1))
        {
          gboolean wrong = data_check_samples_is_interleaved (tensors[k]);

          self->n_planar++;
          self->n_planar_wrong += wrong;
          noise |= !wrong && _vn_data_picture_is_noise (tensors[k], FALSE);
        }
      else if (data_check_samples_is_picture (tensors[k], 3))
        {
          gboolean wrong = data_check_samples_is_in_planes (tensors[k]);

          self->n_packed++;
          self->n_packed_wrong += wrong;
          noise |= !wrong && _vn_data_picture_is_noise (tensors[k], TRUE);
        }
      if (is_first)
        self->first[k] = vn_tensor_ref (tensors[k]);
      else
        self->all_equal &= vn_tensor_equal (self->first[k], tensors[k]);
    }
  self->n_constant += shows && constant;
  self->n_noise += noise;
}

static void
data_check_samples_note (const Samples *self)
{
  guint n = vn_dataset_get_n (self->dataset);

  if (self->calibrates && n < VN_DATA_FEW)
    vn_notes_add (self->notes, VN_NOTE_INFO, "data-few", NULL,
                  ngettext ("Only %u sample: more samples give better ranges; 100 to 1000 are typical",
                            "Only %u samples: more samples give better ranges; 100 to 1000 are typical", n), n);
  if (self->n_samples > 1 && self->all_equal)
    vn_notes_add (self->notes, VN_NOTE_WARNING, "data-equal", NULL,
                  ngettext ("The %u sample checked is the only one of its kind: the ranges will not fit any other data",
                            "All %u samples checked are identical: the ranges will not fit any other data", self->n_samples),
                            self->n_samples);
  else if (self->n_constant > 0)
    vn_notes_add (self->notes, VN_NOTE_WARNING, "data-constant", NULL,
                  _("%u of the %u samples checked are constant or a single color"), self->n_constant,
                  self->n_samples);
  if (self->n_noise > self->n_samples / 2)
    vn_notes_add (self->notes, VN_NOTE_WARNING, "data-noise", NULL,
                  ngettext ("%u of the %u sample checked is noise: neighboring pixels are unrelated",
                            "%u of the %u samples checked are noise: neighboring pixels are unrelated",
                            self->n_samples), self->n_noise, self->n_samples);
  if (self->n_planar_wrong > self->n_planar / 2)
    vn_notes_add (self->notes, VN_NOTE_WARNING, "data-layout", NULL,
                  _("The samples look like N×H×W×C (channels last); the model expects N×C×H×W"));
  if (self->n_packed_wrong > self->n_packed / 2)
    vn_notes_add (self->notes, VN_NOTE_WARNING, "data-layout", NULL,
                  _("The samples look like N×C×H×W (channels first); the model expects N×H×W×C"));
}

/* ---- the first layers ---- */

/* A plan for the first layers only; NULL if there is none, or the network does not take the data set's inputs. */
static VnPlan *
data_check_first_layers_plan (const VnFirstLayers *self)
{
  g_autoptr(GPtrArray) outputs = g_ptr_array_new ();
  VnPlanOptions options = vn_plan_options_for_samples (self->shapes);
  const GPtrArray *inputs = self->model->graph->inputs;
  g_autoptr(VnPlan) plan = NULL;
  guint n = 0;

  options.outputs = outputs;
  options.no_fusion = TRUE;
  for (guint i = 0; i < inputs->len; i++)
    {
      VnValue *value = g_ptr_array_index (inputs, i);
      VnFirstLayer found = { .input = n };

      if (value->initializer != NULL)
        continue;
      n++;
      if (!vn_dtype_is_float (value->type.dtype) || !_vn_first_layer_find (value, &found) ||
          g_ptr_array_find (outputs, found.value, NULL))
        continue;
      found.direct = found.value == value;
      if (!found.direct)
        g_ptr_array_add (outputs, found.value);
      g_ptr_array_add (self->layers, g_memdup2 (&found, sizeof found));
    }
  if (n != self->n_inputs)
    g_ptr_array_set_size (self->layers, 0);
  if (self->layers->len == 0 || outputs->len == 0 || (plan = vn_plan_new (self->model, &options, NULL, NULL)) == NULL ||
      vn_plan_get_n_inputs (plan) != n || vn_plan_get_n_outputs (plan) != outputs->len)
    return NULL;
  return g_steal_pointer (&plan);
}

/* The samples once more, with red and blue swapped where they are pictures; FALSE if none is. */
static gboolean
data_check_first_layers_swap_colors (VnDataset  *dataset,
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

/* What the settings of an input are, where they make tensors of pictures; else NULL: there is nothing to change about them. */
static const VnPreprocess *
data_check_first_layers_get_settings (const VnFirstLayers *self,
                                      guint                input)
{
  return self->sight != NULL ? vn_dataset_get_preprocess (self->dataset, input) : NULL;
}

static void
data_check_first_layers_offer_colors (const VnFirstLayers *self,
                                      guint                input,
                                      const char          *name)
{
  const VnPreprocess *own = data_check_first_layers_get_settings (self, input);
  GPtrArray *cures;
  VnDataCure *cure;

  if (own == NULL)
    return;
  cures = g_ptr_array_new_with_free_func (_vn_data_cure_free);
  cure = g_new0 (VnDataCure, 1);
  cure->input = g_strdup (name);
  cure->settings = *own;
  cure->settings.color = own->color == VN_COLOR_BGR ? VN_COLOR_RGB : VN_COLOR_BGR;
  cure->title = g_strdup (cure->settings.color == VN_COLOR_BGR ? _("BGR") : _("RGB"));
  g_ptr_array_add (cures, cure);
  _vn_data_sight_add_cures (self->sight, "data-colors", TRUE, cures);
}

/* The samples are right as far as the layer tells: what it seems to be made for is what they are. */
static void
data_check_first_layers_confirm (const VnFirstLayers *self,
                                 guint                index,
                                 const char          *name,
                                 GCancellable        *cancellable)
{
  const VnFirstLayer *layer = self->layers->pdata[index];
  const VnPreprocess *own = data_check_first_layers_get_settings (self, layer->input);
  double raw = _vn_first_layer_get_fault (layer, VN_FAULT_RAW);

  if (own != NULL && (layer->norm != NULL || raw < VN_DATA_SMALL_FIRST) &&
      _vn_data_is_best_scale (self, index, name, cancellable))
    _vn_data_sight_set_suits (self->sight, name, own);
}

static const VnValue *
data_check_first_layers_get_input (const VnFirstLayers *self,
                                   guint                input)
{
  const GPtrArray *inputs = self->model->graph->inputs;
  guint n = 0;

  for (guint k = 0; k < inputs->len; k++)
    {
      const VnValue *value = g_ptr_array_index (inputs, k);

      if (value->initializer == NULL && n++ == input)
        return value;
    }
  return NULL;
}

/* Whether pictures are left that layers further back can say something about. */
static gboolean
data_check_samples_show_something (const Samples *self)
{
  return self->n_samples >= VN_DATA_DEEP_FEWEST && !self->all_equal && self->n_constant == 0 &&
         self->n_noise <= self->n_samples / 2 && self->n_planar_wrong <= self->n_planar / 2 &&
         self->n_packed_wrong <= self->n_packed / 2;
}

/* @swapped: the same layers, of samples with red and blue swapped, if there were any */
static void
data_check_first_layers_judge (const VnFirstLayers *self,
                               const GPtrArray     *swapped,
                               const Samples       *samples,
                               GCancellable        *cancellable)
{
  for (guint i = 0; i < self->layers->len; i++)
    {
      const VnFirstLayer *layer = self->layers->pdata[i];
      const VnValue *value = data_check_first_layers_get_input (self, layer->input);
      const char *input = value != NULL ? value->name : NULL;
      g_autofree char *remedy = NULL;
      gboolean said;

      if (layer->sum == NULL || !(layer->n > 1) || input == NULL)
        continue;
      if (_vn_data_metadata_judge (self, i, input, samples->notes))
        continue;
      if (isinf (_vn_first_layer_get_distance (layer)))
        remedy = _vn_data_find_preset (self, i, input, cancellable);
      said = layer->norm != NULL ? _vn_first_layer_judge_by_norm (layer, input, remedy, samples->notes)
                                 : _vn_first_layer_judge_by_bias (layer, input, remedy, samples->notes);
      if (!said && layer->norm == NULL && samples->high[layer->input] > RAW_MAX)
        said = _vn_data_scale_judge (self, i, input, samples->low[layer->input], samples->high[layer->input], samples->notes,
                                     cancellable);
      said = said || _vn_data_cut_judge (self, layer->input, value, samples->notes, cancellable) ||
             (data_check_samples_show_something (samples) &&
              _vn_data_deep_judge (self, layer->input, input, samples->notes, cancellable));
      if (!said)
        data_check_first_layers_confirm (self, i, input, cancellable);
      if (!said && layer->norm != NULL && ((const VnFirstLayer *) swapped->pdata[i])->sum != NULL &&
          _vn_first_layer_judge_colors (layer, swapped->pdata[i], input, samples->notes))
        data_check_first_layers_offer_colors (self, layer->input, input);
    }
}

static gboolean
data_check_first_layers_have_norm (const GPtrArray *layers)
{
  for (guint i = 0; i < layers->len; i++)
    if (((const VnFirstLayer *) layers->pdata[i])->norm != NULL)
      return TRUE;
  return FALSE;
}

/* ---- what inputs are for ---- */

/* Where a mask ends: what comes out is no mask any more. */
static const char * const mask_ends[] = {
  "Softmax", "LogSoftmax", "Exp", "IsNaN", "IsInf", "Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual", "Attention",
  "MultiHeadAttention", "GroupQueryAttention", NULL,
};

/* Whether no way from @value leads into a product or a normalization, unless a mask ends on it. */
static gboolean
data_check_follow_mask (const VnValue *value,
                        GHashTable    *seen,
                        gboolean      *ends)
{
  for (guint i = 0; i < value->uses->len; i++)
    {
      const VnUse *use = &g_array_index (value->uses, VnUse, i);
      const VnOp *op = vn_op_lookup_node (use->node, NULL);

      if (g_strv_contains (mask_ends, use->node->op_type) || (vn_node_is (use->node, "Where") && use->index == 0))
        {
          *ends = TRUE;
          continue;
        }
      if (op == NULL || op->quant.role == VN_QUANT_COMPUTE || op->quant.role == VN_QUANT_MATMUL ||
          op->quant.role == VN_QUANT_NORM)
        return FALSE;
      for (guint k = 0; k < use->node->outputs->len; k++)
        {
          VnValue *output = vn_node_get_output (use->node, k);

          if (output != NULL && g_hash_table_add (seen, output) && !data_check_follow_mask (output, seen, ends))
            return FALSE;
        }
    }
  return TRUE;
}

static gboolean
data_check_is_mask (const VnValue *value)
{
  g_autoptr(GHashTable) seen = g_hash_table_new (NULL, NULL);
  gboolean ends = FALSE;

  return data_check_follow_mask (value, seen, &ends) && ends;
}

static gboolean
data_check_is_index (const VnValue *value)
{
  for (guint i = 0; i < value->uses->len; i++)
    {
      const VnUse *use = &g_array_index (value->uses, VnUse, i);

      if (vn_dtype_is_integer (value->type.dtype) && vn_node_is (use->node, "Gather") && use->index == 1)
        return TRUE;
    }
  return FALSE;
}

/* ---- all together ---- */

static guint
data_check_count_inputs (const VnModel *model)
{
  guint n = 0;

  for (guint i = 0; i < model->graph->inputs->len; i++)
    n += ((VnValue *) g_ptr_array_index (model->graph->inputs, i))->initializer == NULL;
  return n;
}

static void
data_check_samples_init (Samples       *self,
                         const VnModel *fed)
{
  guint n = 0;

  self->first = g_new0 (VnTensor *, self->n_inputs + 1);
  self->low = g_new (double, self->n_inputs + 1);
  self->high = g_new (double, self->n_inputs + 1);
  self->all_equal = TRUE;
  for (guint k = 0; k < self->n_inputs; k++)
    {
      self->low[k] = INFINITY;
      self->high[k] = -INFINITY;
    }
  self->names = g_new0 (const char *, self->n_inputs + 1);
  self->masks = g_new0 (gboolean, self->n_inputs + 1);
  self->indices = g_new0 (gboolean, self->n_inputs + 1);
  for (guint i = 0; i < fed->graph->inputs->len; i++)
    {
      const VnValue *value = g_ptr_array_index (fed->graph->inputs, i);

      if (value->initializer != NULL)
        continue;
      self->masks[n] = data_check_is_mask (value);
      self->indices[n] = data_check_is_index (value);
      self->names[n++] = value->name;
    }
}

static void
data_check_samples_clear (Samples *self)
{
  for (guint k = 0; k < self->n_inputs; k++)
    g_clear_pointer (&self->first[k], vn_tensor_unref);
  _vn_data_reach_free (self->reach);
  g_free (self->first);
  g_free (self->low);
  g_free (self->high);
  g_free (self->names);
  g_free (self->masks);
  g_free (self->indices);
}

typedef struct
{
  Samples             *samples;
  const VnFirstLayers *layers;
  GPtrArray           *swapped;
} Check;

/* One sample: its values, and what the first layers make of it, in both orders of colours. */
static gboolean
data_check_sample (guint          index,
                   VnTensor     **inputs,
                   gpointer       data,
                   GCancellable  *cancellable)
{
  Check *self = data;
  Samples *samples = self->samples;
  const VnFirstLayers *layers = self->layers;
  const guint n_inputs = samples->n_inputs;
  g_autofree VnTensor **others = g_new0 (VnTensor *, n_inputs + 1);

  data_check_samples_look_at (samples, index, inputs);
  _vn_data_reach_add (samples->reach, index, inputs, samples->masks);
  if (layers->sight != NULL)
    _vn_data_sight_add_sample (layers->sight, inputs, (const char * const *) samples->names, n_inputs);
  _vn_first_layers_run (layers, layers->layers, inputs, cancellable);
  if (data_check_first_layers_have_norm (layers->layers) &&
      data_check_first_layers_swap_colors (samples->dataset, inputs, others, n_inputs))
    _vn_first_layers_run (layers, self->swapped, others, cancellable);
  vn_tensor_clear_all (others, n_inputs);
  return TRUE;
}

static gboolean
data_check_reach (guint          index,
                  VnTensor     **inputs,
                  gpointer       data,
                  GCancellable  *cancellable)
{
  Samples *samples = data;

  _vn_data_reach_add (samples->reach, index, inputs, samples->masks);
  return TRUE;
}

/* More samples than are looked at closely: one of another scale spoils all ranges. */
static void
data_check_read_others (Samples      *samples,
                        const GArray *checked,
                        GCancellable *cancellable)
{
  g_autoptr(GArray) others = _vn_data_spread (samples->dataset, MAX_READ);
  guint n = 0;

  for (guint i = 0, next = 0; i < others->len; i++)
    {
      const guint index = g_array_index (others, guint, i);

      while (next < checked->len && g_array_index (checked, guint, next) < index)
        next++;
      if (next == checked->len || g_array_index (checked, guint, next) != index)
        g_array_index (others, guint, n++) = index;
    }
  g_array_set_size (others, n);
  _vn_data_each (samples->dataset, others, data_check_reach, samples, cancellable);
}

/*< private >
 * _vn_data_check:
 * @sight: (nullable): receives the values, and what can be done about each note
 *
 * As vn_data_check().
 */
gboolean
_vn_data_check (VnModel        *model,
                const VnModel  *fed,
                GHashTable     *shapes,
                VnDataset      *dataset,
                gboolean        calibrates,
                VnDataSight    *sight,
                VnNotes        *notes,
                GCancellable   *cancellable,
                GError        **error)
{
  g_autoptr(GArray) checked = _vn_data_spread (dataset, MAX_SAMPLES);
  Samples samples = { .dataset = dataset, .notes = notes, .n_inputs = data_check_count_inputs (fed), .calibrates = calibrates };
  g_autoptr(GPtrArray) found = g_ptr_array_new_with_free_func (_vn_first_layer_free);
  VnFirstLayers layers;
  g_autoptr(GPtrArray) swapped = NULL;
  g_autoptr(VnPlan) plan = NULL;
  g_autoptr(VnRunner) runner = NULL;

  layers = (VnFirstLayers) { .model = model, .shapes = shapes, .dataset = dataset, .n_inputs = samples.n_inputs, .layers = found,
                             .sight = sight };
  if (vn_dataset_is_random (dataset))
    {
      vn_notes_add (notes, VN_NOTE_WARNING, "data-random", NULL, _("The samples are random values, not representative data"));
      return TRUE;
    }
  plan = data_check_first_layers_plan (&layers);
  layers.runner = runner = plan != NULL ? vn_runner_new (plan, NULL) : NULL;
  swapped = _vn_first_layers_copy (found);
  data_check_samples_init (&samples, fed);
  samples.reach = _vn_data_reach_new (samples.n_inputs);
  _vn_data_each (dataset, checked, data_check_sample, &(Check) { &samples, &layers, swapped }, cancellable);
  data_check_read_others (&samples, checked, cancellable);
  if (!g_cancellable_is_cancelled (cancellable))
    {
      data_check_samples_note (&samples);
      if (!_vn_data_reach_note (samples.reach, dataset, samples.names, notes) && samples.n_bad == 0)
        data_check_first_layers_judge (&layers, swapped, &samples, cancellable);
    }
  data_check_samples_clear (&samples);
  return !g_cancellable_set_error_if_cancelled (cancellable, error);
}

/**
 * vn_data_check:
 * @model: as it was opened: preparation folds what training left behind
 * @fed: the model whose inputs @dataset was opened for; may be @model
 * @shapes: (nullable): sizes of inputs, as of vn_model_open_data()
 * @dataset: samples for all its inputs
 * @calibrates: ranges are to be found with them: few are a fact to tell
 * @notes: receives "data-few", and what is in vn-data-suspicions.def
 *
 * Looks at a few samples, evenly spread, and runs the network's first layer on them. Samples that cannot be read and
 * networks whose first layer cannot be run say nothing. Random values are said to be that, and not looked at.
 *
 * Returns: %FALSE only if it was cancelled
 */
gboolean
vn_data_check (VnModel        *model,
               const VnModel  *fed,
               GHashTable     *shapes,
               VnDataset      *dataset,
               gboolean        calibrates,
               VnNotes        *notes,
               GCancellable   *cancellable,
               GError        **error)
{
  g_return_val_if_fail (model != NULL && fed != NULL && dataset != NULL && notes != NULL, FALSE);

  return _vn_data_check (model, fed, shapes, dataset, calibrates, NULL, notes, cancellable, error);
}
