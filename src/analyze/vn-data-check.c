/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Whether samples look as the network expects them. What it expects is read off its first layer: a BatchNormalization
 * there keeps mean and deviation of what it saw in training; without one, biases that dwarf everything the samples
 * make, or a clamp that cuts nearly all of it off, tell that the scale is wrong. The limits are far from what pictures
 * prepared rightly give (a factor of 2 at most between their deviation and that of training), so that factors of 255
 * are found, but not a mean that is a little off; whether red and blue are swapped cannot be told this way. */

#include "vn-data-check.h"

#include "vn-i18n.h"
#include "vn-plan.h"

#include <math.h>

#define MAX_SAMPLES 8u       /* looked at, evenly spread */
#define FEW_SAMPLES 10
#define MAX_STEPS 6          /* operators before the first layer */
#define MOST_RATIO 4.0       /* deviation to that of training, either way */
#define MOST_SHIFT 2.5       /* of the mean, in deviations of training */
#define MOST_BIAS 15.0       /* of a bias, in deviations of what it is added to */
#define MOST_CLAMP 8.0       /* deviations, in upper limits of a clamp */

/* The first layer behind an input. */
typedef struct
{
  guint         input;
  gboolean      direct;     /* the input itself is looked at */
  VnValue      *value;      /* looked at: the output of a Conv, or what goes into a BatchNormalization */
  const VnNode *norm;       /* nullable: the BatchNormalization behind it */
  VnTensor     *bias;       /* nullable: of the Conv */
  double        clamp;      /* upper limit right behind it, or infinity */

  double       *sum, *squares;
  gsize         n_channels;
  double        n;          /* elements of a channel */
} Layer;

typedef struct
{
  VnDataset *dataset;
  VnNotes   *notes;
  guint      n_samples, n_inputs;
  VnTensor **first;         /* the first sample */
  gboolean   all_equal;
  guint      n_constant, n_bad, n_interleaved, n_planar;
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

static gboolean
has_planes (const VnTensor *tensor)
{
  const VnShape *shape = &tensor->shape;

  return vn_dtype_is_float (tensor->dtype) && shape->rank == 4 && shape->dims[1] == 3 && shape->dims[2] >= 16 && shape->dims[3] >= 16;
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
      if (has_planes (tensors[k]))
        {
          self->n_planar++;
          self->n_interleaved += is_interleaved (tensors[k]);
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

  if (n < FEW_SAMPLES)
    vn_notes_add (self->notes, VN_NOTE_INFO, "data-few", NULL,
                  _("Only %u samples: ranges get better with more; 100 to 1000 are usual"), n);
  if (self->n_samples > 1 && self->all_equal)
    vn_notes_add (self->notes, VN_NOTE_WARNING, "data-equal", NULL,
                  _("The %u samples that were looked at are all equal: ranges will fit nothing else"), self->n_samples);
  else if (self->n_constant > 0)
    vn_notes_add (self->notes, VN_NOTE_WARNING, "data-constant", NULL,
                  _("%u of the %u samples that were looked at have the same value everywhere"), self->n_constant, self->n_samples);
  if (self->n_interleaved > self->n_planar / 2)
    vn_notes_add (self->notes, VN_NOTE_WARNING, "data-layout", NULL,
                  _("The samples look like N×H×W×C, colour by colour for each pixel; the network takes N×C×H×W"));
}

/* ---- the first layer ---- */

static const VnNode *
find_use (const VnValue *value,
          const char    *op_type)
{
  for (guint i = 0; i < value->uses->len; i++)
    {
      const VnUse *use = &g_array_index (value->uses, VnUse, i);

      if (use->index == 0 && vn_node_is (use->node, op_type))
        return use->node;
    }
  return NULL;
}

static double
find_clamp (const VnValue *value)
{
  const VnNode *clip = find_use (value, "Clip");
  VnTensor *max = clip != NULL && vn_node_get_input (clip, 2) != NULL ? vn_value_get_constant (vn_node_get_input (clip, 2)) : NULL;
  double limit = max != NULL && max->n_elements == 1 ? vn_tensor_get_double (max, 0)
               : clip != NULL ? (double) vn_node_get_float (clip, "max", INFINITY) : INFINITY;

  return limit > 0 ? limit : INFINITY;
}

/* Follows @value to the first Conv or BatchNormalization. */
static gboolean
find_layer (VnValue *value,
            Layer   *layer)
{
  for (guint step = 0; step < MAX_STEPS && value != NULL; step++)
    {
      const VnNode *conv = find_use (value, "Conv");
      const VnNode *norm = find_use (value, "BatchNormalization");
      const VnValue *bias;

      if (conv != NULL && (value = vn_node_get_output (conv, 0)) != NULL)
        {
          bias = vn_node_get_input (conv, 2);
          layer->value = value;
          layer->norm = find_use (value, "BatchNormalization");
          layer->bias = bias != NULL ? vn_value_get_constant (bias) : NULL;
          layer->clamp = find_clamp (value);
          return TRUE;
        }
      if (norm != NULL)
        {
          layer->value = value;
          layer->norm = norm;
          layer->clamp = INFINITY;
          return TRUE;
        }
      value = value->uses->len > 0 ? vn_node_get_output (g_array_index (value->uses, VnUse, 0).node, 0) : NULL;
    }
  return FALSE;
}

static void
add_channels (Layer          *layer,
              const VnTensor *tensor)
{
  const VnShape *shape = &tensor->shape;
  const gsize channels = shape->rank >= 3 ? (gsize) shape->dims[1] : 0;
  gsize area;

  if (tensor->dtype != VN_DTYPE_F32 || channels == 0 || tensor->n_elements == 0 ||
      (layer->sum != NULL && layer->n_channels != channels))
    return;
  if (layer->sum == NULL)
    {
      layer->n_channels = channels;
      layer->sum = g_new0 (double, channels);
      layer->squares = g_new0 (double, channels);
    }
  area = tensor->n_elements / channels / (gsize) shape->dims[0];
  for (gsize i = 0; i < tensor->n_elements; i++)
    {
      double value = (double) ((const float *) tensor->data)[i];
      gsize c = i / area % channels;

      layer->sum[c] += value;
      layer->squares[c] += value * value;
    }
  layer->n += (double) (tensor->n_elements / channels);
}

/* ---- the verdict ---- */

static int
compare_doubles (gconstpointer a,
                 gconstpointer b)
{
  double x = *(const double *) a;
  double y = *(const double *) b;

  return (x > y) - (x < y);
}

/* Of a few numbers; NaN if there are none. Sorts them. */
static double
median (GArray *values)
{
  if (values->len == 0)
    return NAN;
  g_array_sort (values, compare_doubles);
  return g_array_index (values, double, values->len / 2);
}

static void
get_channel (const Layer *layer,
             gsize        c,
             double      *mean,
             double      *deviation)
{
  *mean = layer->sum[c] / layer->n;
  *deviation = sqrt (MAX (0, layer->squares[c] / layer->n - *mean * *mean));
}

static VnTensor *
get_parameter (const Layer *layer,
               guint        i)
{
  VnValue *value = vn_node_get_input (layer->norm, i);
  VnTensor *tensor = value != NULL ? vn_value_get_constant (value) : NULL;

  return tensor != NULL && vn_dtype_is_float (tensor->dtype) && tensor->n_elements == layer->n_channels ? tensor : NULL;
}

static void
judge_by_norm (const Layer *layer,
               const char  *input,
               VnNotes     *notes)
{
  VnTensor *means = get_parameter (layer, 3);
  VnTensor *variances = get_parameter (layer, 4);
  g_autoptr(GArray) ratios = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr(GArray) shifts = g_array_new (FALSE, FALSE, sizeof (double));
  double most = 0, ratio, shift;

  for (gsize c = 0; means != NULL && variances != NULL && c < layer->n_channels; c++)
    most = MAX (most, vn_tensor_get_double (variances, c));
  for (gsize c = 0; most > 0 && c < layer->n_channels; c++)
    {
      double expected = sqrt (vn_tensor_get_double (variances, c));
      double mean, deviation;

      if (!(vn_tensor_get_double (variances, c) > 1e-4 * most))      /* a channel that died in training */
        continue;
      get_channel (layer, c, &mean, &deviation);
      ratio = deviation / expected;
      shift = fabs (mean - vn_tensor_get_double (means, c)) / expected;
      g_array_append_val (ratios, ratio);
      g_array_append_val (shifts, shift);
    }
  ratio = median (ratios);
  shift = median (shifts);
  if (ratio > MOST_RATIO || ratio < 1 / MOST_RATIO)
    vn_notes_add (notes, VN_NOTE_WARNING, "data-range", input,
                  _("Behind the first layer the samples vary %.3g times as much as those the network was trained with: "
                    "check the mean and deviation of the preprocessing"), ratio);
  else if (shift > MOST_SHIFT)
    vn_notes_add (notes, VN_NOTE_WARNING, "data-range", input,
                  _("Behind the first layer the samples lie %.3g deviations from those the network was trained with: "
                    "check the mean of the preprocessing"), shift);
}

static void
judge_by_bias (const Layer *layer,
               const char  *input,
               VnNotes     *notes)
{
  g_autoptr(GArray) deviations = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr(GArray) biases = g_array_new (FALSE, FALSE, sizeof (double));
  double bias, deviation;

  for (gsize c = 0; c < layer->n_channels; c++)
    {
      double mean;

      get_channel (layer, c, &mean, &deviation);
      if (layer->bias != NULL && layer->bias->n_elements == layer->n_channels)
        {
          bias = fabs (vn_tensor_get_double (layer->bias, c)) / MAX (deviation, 1e-30);
          g_array_append_val (biases, bias);
        }
      g_array_append_val (deviations, deviation);
    }
  bias = median (biases);
  deviation = median (deviations);
  if (bias > MOST_BIAS)
    vn_notes_add (notes, VN_NOTE_WARNING, "data-range", input,
                  _("The samples hardly reach the network: biases of its first layer are %.3g times as large as what the "
                    "samples change there; are they to be 0 to 255?"), bias);
  else if (deviation > MOST_CLAMP * layer->clamp)
    vn_notes_add (notes, VN_NOTE_WARNING, "data-range", input,
                  _("The first layer's output varies by %.3g and is cut off at %.3g: are the samples to be divided by 255?"),
                  deviation, layer->clamp);
}

/* ---- all together ---- */

static void
layers_free (gpointer data)
{
  Layer *layer = data;

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
      Layer found = { .input = n };

      if (value->initializer != NULL)
        continue;
      n++;
      if (!vn_dtype_is_float (value->type.dtype) || !find_layer (value, &found) || g_ptr_array_find (outputs, found.value, NULL))
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
      Layer *layer = layers->pdata[i];

      if (layer->direct)
        add_channels (layer, tensors[layer->input]);
      else if (ran)
        {
          add_channels (layer, outputs[at]);
          vn_tensor_unref (outputs[at++]);
        }
    }
}

static void
judge (GPtrArray *layers,
       VnModel   *model,
       VnNotes   *notes)
{
  for (guint i = 0; i < layers->len; i++)
    {
      const Layer *layer = layers->pdata[i];
      guint n = 0;

      for (guint k = 0; layer->sum != NULL && layer->n > 1 && k < model->graph->inputs->len; k++)
        {
          const VnValue *value = g_ptr_array_index (model->graph->inputs, k);

          if (value->initializer != NULL || n++ != layer->input)
            continue;
          if (layer->norm != NULL)
            judge_by_norm (layer, value->name, notes);
          else
            judge_by_bias (layer, value->name, notes);
        }
    }
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
 * @notes: receives "data-few", "data-equal", "data-constant", "data-not-finite", "data-layout" and "data-range"
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
               VnNotes       *notes,
               GCancellable  *cancellable,
               GError       **error)
{
  const guint n = vn_dataset_get_n (dataset);
  const guint n_checked = MIN (n, MAX_SAMPLES);
  const guint n_inputs = count_inputs (fed);
  Samples samples = { dataset, notes, .n_inputs = n_inputs, .first = g_new0 (VnTensor *, n_inputs + 1), .all_equal = TRUE };
  g_autoptr(GPtrArray) layers = g_ptr_array_new_with_free_func (layers_free);
  g_autoptr(VnPlan) plan = plan_layers (model, shapes, n_inputs, layers);
  g_autoptr(VnRunner) runner = plan != NULL ? vn_runner_new (plan, NULL) : NULL;

  for (guint i = 0; i < n_checked && !g_cancellable_is_cancelled (cancellable); i++)
    {
      guint index = (guint) ((guint64) i * n / n_checked);
      g_autofree VnTensor **tensors = g_new0 (VnTensor *, n_inputs + 1);

      if (!vn_dataset_load (dataset, index, tensors, NULL))
        continue;
      look_at_sample (&samples, index, tensors);
      run_layers (runner, layers, tensors, cancellable);
      for (guint k = 0; k < n_inputs; k++)
        vn_tensor_unref (tensors[k]);
    }
  for (guint k = 0; k < n_inputs; k++)
    g_clear_pointer (&samples.first[k], vn_tensor_unref);
  g_free (samples.first);
  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;
  note_samples (&samples);
  if (samples.n_bad == 0)
    judge (layers, model, notes);
  return TRUE;
}
