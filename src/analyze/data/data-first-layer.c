/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The first layer behind an input, and what it says about the samples; see vn-data-check.c. */
#include "vn-data-check-private.h"

#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-memory.h"
#include "vn-thresholds.h"

#include <math.h>

#define MAX_STEPS 6          /* operators before the first layer */

/* ---- the first layer ---- */

static const VnNode *
first_layer_find_use (const VnValue *value,
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
first_layer_find_clamp (const VnValue *value)
{
  const VnNode *clip = first_layer_find_use (value, "Clip");
  VnTensor *max = clip != NULL && vn_node_get_input (clip, 2) != NULL
                  ? vn_value_get_constant (vn_node_get_input (clip, 2)) : NULL;
  double limit = max != NULL && max->n_elements == 1 ? vn_tensor_get_double (max, 0)
               : clip != NULL ? (double) vn_node_get_float (clip, "max", INFINITY) : INFINITY;

  return limit > 0 ? limit : INFINITY;
}

/* Follows @value to the first Conv or BatchNormalization. */
gboolean
_vn_first_layer_find (VnValue      *value,
                      VnFirstLayer *layer)
{
  for (guint step = 0; step < MAX_STEPS && value != NULL; step++)
    {
      const VnNode *conv = first_layer_find_use (value, "Conv");
      const VnNode *norm = first_layer_find_use (value, "BatchNormalization");
      const VnValue *bias;

      if (conv != NULL && (value = vn_node_get_output (conv, 0)) != NULL)
        {
          bias = vn_node_get_input (conv, 2);
          layer->value = value;
          layer->norm = first_layer_find_use (value, "BatchNormalization");
          layer->bias = bias != NULL ? vn_value_get_constant (bias) : NULL;
          layer->clamp = first_layer_find_clamp (value);
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

void
_vn_first_layer_free (gpointer layer)
{
  VnFirstLayer *self = layer;

  g_free (self->sum);
  g_free (self->squares);
  g_free (self);
}

void
_vn_first_layer_add (VnFirstLayer   *layer,
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
      g_autofree double *sum = vn_try_new0 (double, channels, NULL), *squares = vn_try_new0 (double, channels, NULL);

      if (sum == NULL || squares == NULL)
        return;
      layer->n_channels = channels;
      layer->sum = g_steal_pointer (&sum);
      layer->squares = g_steal_pointer (&squares);
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
  layer->n_tensors++;
}

/* ---- the verdict ---- */

static int
first_layer_compare_doubles (gconstpointer a,
                             gconstpointer b)
{
  double x = *(const double *) a;
  double y = *(const double *) b;

  return (x > y) - (x < y);
}

/*< private >
 * _vn_data_median:
 *
 * Returns: the median of a few doubles; NaN if there are none. Sorts them
 */
double
_vn_data_median (GArray *values)
{
  if (values->len == 0)
    return NAN;
  g_array_sort (values, first_layer_compare_doubles);
  return g_array_index (values, double, values->len / 2);
}

static void
first_layer_get_channel (const VnFirstLayer *layer,
                         gsize               c,
                         double             *mean,
                         double             *deviation)
{
  *mean = layer->sum[c] / layer->n;
  *deviation = sqrt (MAX (0, layer->squares[c] / layer->n - *mean * *mean));
}

static VnTensor *
first_layer_get_parameter (const VnFirstLayer *layer,
                           guint               i)
{
  VnValue *value = vn_node_get_input (layer->norm, i);
  VnTensor *tensor = value != NULL ? vn_value_get_constant (value) : NULL;

  return tensor != NULL && vn_dtype_is_float (tensor->dtype) && tensor->n_elements == layer->n_channels ? tensor : NULL;
}

/* Deviation to that of training, and how far the mean is from that of training in deviations: medians over the channels. */
static void
first_layer_measure_norm (const VnFirstLayer *layer,
                          double             *ratio,
                          double             *shift)
{
  VnTensor *means = first_layer_get_parameter (layer, 3);
  VnTensor *variances = first_layer_get_parameter (layer, 4);
  g_autoptr(GArray) ratios = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr(GArray) shifts = g_array_new (FALSE, FALSE, sizeof (double));
  double most = 0;

  for (gsize c = 0; means != NULL && variances != NULL && c < layer->n_channels; c++)
    most = MAX (most, vn_tensor_get_double (variances, c));
  for (gsize c = 0; most > 0 && c < layer->n_channels; c++)
    {
      double expected = sqrt (vn_tensor_get_double (variances, c));
      double mean, deviation;

      if (!(vn_tensor_get_double (variances, c) > 1e-4 * most))      /* a channel that died in training */
        continue;
      first_layer_get_channel (layer, c, &mean, &deviation);
      *ratio = deviation / expected;
      *shift = fabs (mean - vn_tensor_get_double (means, c)) / expected;
      g_array_append_val (ratios, *ratio);
      g_array_append_val (shifts, *shift);
    }
  *ratio = _vn_data_median (ratios);
  *shift = _vn_data_median (shifts);
}

static gboolean
first_layer_is_ratio_wrong (double ratio)
{
  return ratio > VN_DATA_RATIO || ratio < 1 / VN_DATA_RATIO;
}

/* Returns whether it said something. */
gboolean
_vn_first_layer_judge_by_norm (const VnFirstLayer *layer,
                               const char         *input,
                               const char         *remedy,
                               VnNotes            *notes)
{
  g_autofree char *number = NULL;
  double ratio, shift;

  first_layer_measure_norm (layer, &ratio, &shift);
  number = vn_format_number (first_layer_is_ratio_wrong (ratio) ? ratio : shift, 3);
  if (first_layer_is_ratio_wrong (ratio))
    vn_notes_add_remedy (notes, VN_NOTE_WARNING, "data-range", input, remedy,
                         _("After the first layer, the samples vary %s times as much as the training data"), number);
  else if (shift > VN_DATA_SHIFT)
    vn_notes_add_remedy (notes, VN_NOTE_WARNING, "data-range", input, remedy,
                         _("After the first layer, the samples are %s standard deviations away from the training data"), number);
  return first_layer_is_ratio_wrong (ratio) || shift > VN_DATA_SHIFT;
}

/* How far mean and deviation of each channel are from those of training: the divergence of two normal distributions.
 * @middle: (out): its median over the channels
 * @means_part: (out) (nullable): the part of it that comes from the means, as a mean over the channels
 *
 * Returns: its mean; NaN if there are no channels */
static double
first_layer_find_divergence (const VnFirstLayer *layer,
                             double             *middle,
                             double             *means_part)
{
  VnTensor *means = first_layer_get_parameter (layer, 3);
  VnTensor *variances = first_layer_get_parameter (layer, 4);
  g_autoptr(GArray) all = g_array_new (FALSE, FALSE, sizeof (double));
  double most = 0, sum = 0, sum_apart = 0;

  for (gsize c = 0; means != NULL && variances != NULL && c < layer->n_channels; c++)
    most = MAX (most, vn_tensor_get_double (variances, c));
  for (gsize c = 0; most > 0 && c < layer->n_channels; c++)
    {
      double expected = vn_tensor_get_double (variances, c);
      double mean, deviation, variance, apart, divergence;

      if (!(expected > 1e-4 * most))
        continue;
      first_layer_get_channel (layer, c, &mean, &deviation);
      variance = MAX (deviation * deviation, 1e-12 * expected);
      apart = mean - vn_tensor_get_double (means, c);
      divergence = 0.5 * ((variance + apart * apart) / expected - 1 - log (variance / expected));
      sum += divergence;
      sum_apart += 0.5 * apart * apart / expected;
      g_array_append_val (all, divergence);
    }
  *middle = _vn_data_median (all);
  if (means_part != NULL)
    *means_part = sum_apart / all->len;
  return sum / all->len;
}

/* @swapped: the same layer, of the same samples with red and blue swapped. Pictures of sky and sea, which are bluer than what
 * networks are trained with, come to 2.0 and 2.7 in the right order; so much is asked for that one in three sets of photographs
 * in the wrong order is told, by networks that have learned from colours.
 *
 * Returns whether it said something. */
gboolean
_vn_first_layer_judge_colors (const VnFirstLayer *layer,
                              const VnFirstLayer *swapped,
                              const char         *input,
                              VnNotes            *notes)
{
  double middle, middle_swapped;
  double mean = first_layer_find_divergence (layer, &middle, NULL);
  double mean_swapped = first_layer_find_divergence (swapped, &middle_swapped, NULL);

  if (layer->n_tensors < VN_DATA_COLORS_FEWEST || swapped->n_tensors != layer->n_tensors ||
      swapped->n_channels != layer->n_channels ||
      !(mean > VN_DATA_COLORS * mean_swapped && mean * middle > VN_DATA_COLORS_BOTH * mean_swapped * middle_swapped))
    return FALSE;
  vn_notes_add (notes, VN_NOTE_WARNING, "data-colors", input,
                _("With red and blue swapped, the samples are closer to the training data: distance %.2g instead of %.2g"),
                mean_swapped, mean);
  return TRUE;
}

/* Medians over the channels: of the biases, in deviations of what they are added to (NaN: there are none), and of the
 * deviations. */
static void
first_layer_measure_bias (const VnFirstLayer *layer,
                          double             *bias,
                          double             *deviation)
{
  g_autoptr(GArray) deviations = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr(GArray) biases = g_array_new (FALSE, FALSE, sizeof (double));

  for (gsize c = 0; c < layer->n_channels; c++)
    {
      double mean;

      first_layer_get_channel (layer, c, &mean, deviation);
      if (layer->bias != NULL && layer->bias->n_elements == layer->n_channels)
        {
          *bias = fabs (vn_tensor_get_double (layer->bias, c)) / MAX (*deviation, 1e-30);
          g_array_append_val (biases, *bias);
        }
      g_array_append_val (deviations, *deviation);
    }
  *bias = _vn_data_median (biases);
  *deviation = _vn_data_median (deviations);
}

/* Returns whether it said something. */
gboolean
_vn_first_layer_judge_by_bias (const VnFirstLayer *layer,
                               const char         *input,
                               const char         *remedy,
                               VnNotes            *notes)
{
  g_autofree char *number = NULL, *clamp = NULL;
  double bias, deviation;

  first_layer_measure_bias (layer, &bias, &deviation);
  number = vn_format_number (bias > VN_DATA_BIAS ? bias : deviation, 3);
  clamp = vn_format_number (layer->clamp, 3);
  if (bias > VN_DATA_BIAS)
    vn_notes_add_remedy (notes, VN_NOTE_WARNING, "data-range", input, remedy,
                         _("The samples have almost no effect: the biases of the first layer are %s times as large as "
                           "the contribution of the samples"), number);
  else if (deviation > VN_DATA_CLAMP * layer->clamp)
    vn_notes_add_remedy (notes, VN_NOTE_WARNING, "data-range", input, remedy,
                         _("The sample values are too large: the output of the first layer varies by %s and is clipped at %s"),
                         number, clamp);
  return bias > VN_DATA_BIAS || deviation > VN_DATA_CLAMP * layer->clamp;
}

/*< private >
 * _vn_first_layer_find_fault:
 *
 * Returns: what a judge would say of the samples
 */
VnDataFault
_vn_first_layer_find_fault (const VnFirstLayer *layer)
{
  double ratio, shift, bias, deviation;

  if (layer->sum == NULL || !(layer->n > 1))
    return VN_FAULT_NONE;
  if (layer->norm != NULL)
    {
      first_layer_measure_norm (layer, &ratio, &shift);
      return first_layer_is_ratio_wrong (ratio) ? VN_FAULT_RATIO : shift > VN_DATA_SHIFT ? VN_FAULT_SHIFT : VN_FAULT_NONE;
    }
  first_layer_measure_bias (layer, &bias, &deviation);
  return bias > VN_DATA_BIAS ? VN_FAULT_BIAS : deviation > VN_DATA_CLAMP * layer->clamp ? VN_FAULT_CLAMP : VN_FAULT_NONE;
}

/*< private >
 * _vn_first_layer_get_distance:
 *
 * Returns: how far the samples are from what the layer expects, to compare one preprocessing with another; infinity if they are
 *   so far that a judge would say so, NaN if the layer does not tell
 */
double
_vn_first_layer_get_distance (const VnFirstLayer *layer)
{
  double bias, deviation;

  if (layer->sum == NULL || !(layer->n > 1))
    return NAN;
  if (_vn_first_layer_find_fault (layer) != VN_FAULT_NONE)
    return INFINITY;
  if (layer->norm != NULL)
    return first_layer_find_divergence (layer, &bias, NULL);
  first_layer_measure_bias (layer, &bias, &deviation);
  return fabs (log (MAX (bias, 1e-30)));
}

/*< private >
 * _vn_first_layer_get_fault:
 *
 * Returns: the number of @fault, whether it is one or not; NaN: there is none
 */
double
_vn_first_layer_get_fault (const VnFirstLayer *layer,
                           VnDataFault         fault)
{
  double ratio, shift, bias, deviation;

  if (layer->sum == NULL || !(layer->n > 1) || fault == VN_FAULT_NONE)
    return NAN;
  if (fault == VN_FAULT_RATIO || fault == VN_FAULT_SHIFT)
    {
      first_layer_measure_norm (layer, &ratio, &shift);
      return fault == VN_FAULT_RATIO ? ratio : shift;
    }
  first_layer_measure_bias (layer, &bias, &deviation);
  return fault == VN_FAULT_BIAS ? bias : fault == VN_FAULT_CLAMP ? deviation : 1 / bias;
}

/*< private >
 * _vn_first_layer_get_bias:
 *
 * Returns: biases, in deviations of what they are added to: the median over the channels; NaN if there are none
 */
double
_vn_first_layer_get_bias (const VnFirstLayer *layer)
{
  double bias, deviation;

  first_layer_measure_bias (layer, &bias, &deviation);
  return bias;
}

/*< private >
 * _vn_first_layer_get_divergence:
 * @means: (out): the part of it that comes from the means
 *
 * Returns: how far what goes into a BatchNormalization is from training: the mean over the channels; NaN if it does not tell
 */
double
_vn_first_layer_get_divergence (const VnFirstLayer *layer,
                                double             *means)
{
  double middle;

  return first_layer_find_divergence (layer, &middle, means);
}

/*< private >
 * _vn_first_layer_get_mean:
 *
 * Returns: how far the mean is from 0, in deviations: the median over the channels; NaN if there are none
 */
double
_vn_first_layer_get_mean (const VnFirstLayer *layer)
{
  g_autoptr(GArray) means = g_array_new (FALSE, FALSE, sizeof (double));

  for (gsize c = 0; c < layer->n_channels; c++)
    {
      double mean, deviation;

      first_layer_get_channel (layer, c, &mean, &deviation);
      mean = fabs (mean) / MAX (deviation, 1e-30);
      g_array_append_val (means, mean);
    }
  return _vn_data_median (means);
}

/* ---- several at once ---- */

/*< private >
 * _vn_first_layers_copy:
 *
 * Returns: (transfer full) (element-type VnFirstLayer): the same layers, which have seen nothing yet
 */
GPtrArray *
_vn_first_layers_copy (const GPtrArray *layers)
{
  GPtrArray *copy = g_ptr_array_new_with_free_func (_vn_first_layer_free);

  for (guint i = 0; i < layers->len; i++)
    {
      VnFirstLayer *layer = g_memdup2 (layers->pdata[i], sizeof (VnFirstLayer));

      layer->sum = layer->squares = NULL;
      layer->n_channels = 0;
      layer->n = 0;
      layer->n_tensors = 0;
      g_ptr_array_add (copy, layer);
    }
  return copy;
}

/*< private >
 * _vn_first_layers_run:
 * @layers: those of @self, or a copy: see what they make of one sample
 */
void
_vn_first_layers_run (const VnFirstLayers  *self,
                      GPtrArray            *layers,
                      VnTensor            **tensors,
                      GCancellable         *cancellable)
{
  g_autofree VnTensor **outputs = g_new0 (VnTensor *, layers->len + 1);
  gboolean ran = self->runner != NULL && vn_runner_run (self->runner, tensors, outputs, cancellable, NULL);
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
