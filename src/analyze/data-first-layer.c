/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The first layer behind an input, and what it says about the samples; see vn-data-check.c. */
#include "vn-data-check-private.h"

#include "vn-i18n.h"

#include <math.h>

#define MAX_STEPS 6          /* operators before the first layer */
#define MOST_RATIO 4.0       /* deviation to that of training, either way */
#define MOST_SHIFT 2.5       /* of the mean, in deviations of training */
#define MOST_BIAS 15.0       /* of a bias, in deviations of what it is added to */
#define MOST_CLAMP 8.0       /* deviations, in upper limits of a clamp */
#define MOST_COLORS 1.9      /* divergence from training, to that with red and blue swapped: mean over the channels */
#define MOST_COLORS_BOTH 4.0 /* times the same of the median */
#define FEWEST_COLORS 4u     /* samples: one picture may be of any colour */

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
gboolean
_vn_first_layer_find (VnValue      *value,
                      VnFirstLayer *layer)
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

void
_vn_first_layer_add (VnFirstLayer          *layer,
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
  layer->n_tensors++;
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
get_channel (const VnFirstLayer *layer,
             gsize        c,
             double      *mean,
             double      *deviation)
{
  *mean = layer->sum[c] / layer->n;
  *deviation = sqrt (MAX (0, layer->squares[c] / layer->n - *mean * *mean));
}

static VnTensor *
get_parameter (const VnFirstLayer *layer,
               guint        i)
{
  VnValue *value = vn_node_get_input (layer->norm, i);
  VnTensor *tensor = value != NULL ? vn_value_get_constant (value) : NULL;

  return tensor != NULL && vn_dtype_is_float (tensor->dtype) && tensor->n_elements == layer->n_channels ? tensor : NULL;
}

/* Returns whether it said something. */
gboolean
_vn_first_layer_judge_by_norm (const VnFirstLayer *layer,
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
  return ratio > MOST_RATIO || ratio < 1 / MOST_RATIO || shift > MOST_SHIFT;
}

/* How far mean and deviation of each channel are from those of training: the divergence of two normal distributions.
 * @middle: (out): its median over the channels
 *
 * Returns: its mean; NaN if there are no channels */
static double
find_divergence (const VnFirstLayer *layer,
                 double      *middle)
{
  VnTensor *means = get_parameter (layer, 3);
  VnTensor *variances = get_parameter (layer, 4);
  g_autoptr(GArray) all = g_array_new (FALSE, FALSE, sizeof (double));
  double most = 0, sum = 0;

  for (gsize c = 0; means != NULL && variances != NULL && c < layer->n_channels; c++)
    most = MAX (most, vn_tensor_get_double (variances, c));
  for (gsize c = 0; most > 0 && c < layer->n_channels; c++)
    {
      double expected = vn_tensor_get_double (variances, c);
      double mean, deviation, variance, apart, divergence;

      if (!(expected > 1e-4 * most))
        continue;
      get_channel (layer, c, &mean, &deviation);
      variance = MAX (deviation * deviation, 1e-12 * expected);
      apart = mean - vn_tensor_get_double (means, c);
      divergence = 0.5 * ((variance + apart * apart) / expected - 1 - log (variance / expected));
      sum += divergence;
      g_array_append_val (all, divergence);
    }
  *middle = median (all);
  return sum / all->len;
}

/* @swapped: the same layer, of the same samples with red and blue swapped. Pictures of sky and sea, which are bluer than what
 * networks are trained with, come to 2.0 and 2.7 in the right order; so much is asked for that one in three sets of photographs
 * in the wrong order is told, by networks that have learned from colours. */
void
_vn_first_layer_judge_colors (const VnFirstLayer *layer,
                              const VnFirstLayer *swapped,
                              const char  *input,
                              VnNotes     *notes)
{
  double middle, middle_swapped;
  double mean = find_divergence (layer, &middle);
  double mean_swapped = find_divergence (swapped, &middle_swapped);

  if (layer->n_tensors < FEWEST_COLORS || swapped->n_tensors != layer->n_tensors || swapped->n_channels != layer->n_channels)
    return;
  if (mean > MOST_COLORS * mean_swapped && mean * middle > MOST_COLORS_BOTH * mean_swapped * middle_swapped)
    vn_notes_add (notes, VN_NOTE_WARNING, "data-colors", input,
                  _("With red and blue swapped the samples are more like those the network was trained with: %.2g instead of "
                    "%.2g from them; is the channel order right?"), mean_swapped, mean);
}

void
_vn_first_layer_judge_by_bias (const VnFirstLayer *layer,
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
