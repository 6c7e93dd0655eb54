/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pixels of 0 to 255, with the mean subtracted or not, or larger values, for a network that was trained with small ones and keeps
 * no BatchNormalization that would tell: it has been folded into the convolutions, whose biases are then about as large as what
 * is added to them. A hundred times larger samples leave nothing of the biases in the first layer. That alone may also be a
 * network that was trained without any normalization: only if biases count throughout the network once the samples are from -1 to
 * 1 are these said to be too large. */
#include "vn-data-check-private.h"

#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-thresholds.h"

#include <math.h>

#define MAX_SAMPLES 4u

/* Every convolution with biases, as a layer that is looked at. */
static GPtrArray *
scale_list_layers (const VnGraph *graph,
                   GPtrArray     *taps)
{
  GPtrArray *layers = g_ptr_array_new_with_free_func (_vn_first_layer_free);

  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (graph->nodes, i);
      VnValue *bias = vn_node_get_input (node, 2), *value = vn_node_get_output (node, 0);
      VnFirstLayer *layer;

      if (!(vn_node_is (node, "Conv") || vn_node_is (node, "ConvTranspose")) || value == NULL || bias == NULL ||
          vn_value_get_constant (bias) == NULL)
        continue;
      layer = g_new0 (VnFirstLayer, 1);
      layer->value = value;
      layer->bias = vn_value_get_constant (bias);
      layer->clamp = INFINITY;
      g_ptr_array_add (layers, layer);
      g_ptr_array_add (taps, value);
    }
  return layers;
}

static void
scale_see (const VnValue  *value,
           guint           tap,
           const VnTensor *tensor,
           gpointer        data)
{
  GPtrArray *layers = data;

  _vn_first_layer_add (layers->pdata[tap], tensor);
}

/* From @low … @high to -1 … 1. */
static VnTensor *
scale_shrink (const VnTensor *tensor,
              double          low,
              double          high)
{
  const float middle = (float) ((low + high) / 2), half = (float) ((high - low) / 2);
  VnTensor *small = tensor->dtype == VN_DTYPE_F32 ? vn_tensor_new (VN_DTYPE_F32, &tensor->shape, NULL) : NULL;

  for (gsize i = 0; small != NULL && i < tensor->n_elements; i++)
    ((float *) small->data)[i] = (((const float *) tensor->data)[i] - middle) / half;
  return small;
}

typedef struct
{
  VnRunner *runner;
  guint     input;
  double    low, high;
} Look;

static gboolean
scale_scan (guint          sample,
            VnTensor     **inputs,
            gpointer       data,
            GCancellable  *cancellable)
{
  const Look *self = data;
  VnTensor *small = scale_shrink (inputs[self->input], self->low, self->high);

  if (small == NULL)
    return FALSE;
  vn_tensor_unref (inputs[self->input]);
  inputs[self->input] = small;
  return vn_runner_run (self->runner, inputs, NULL, cancellable, NULL);
}

/* How large what is added to the biases is, in these: the median over the layers, each the median over its channels. NaN if the
 * network cannot be run. */
static double
scale_measure (const VnFirstLayers *self,
               guint                input,
               double               low,
               double               high,
               const VnValue       *first,
               double              *of_first,
               GCancellable        *cancellable)
{
  g_autoptr(GArray) samples = _vn_data_spread (self->dataset, MAX_SAMPLES);
  g_autoptr(GPtrArray) taps = g_ptr_array_new ();
  g_autoptr(GPtrArray) layers = scale_list_layers (self->model->graph, taps);
  VnPlanOptions options = vn_plan_options_for_samples (self->shapes);
  g_autoptr(VnPlan) plan = NULL;
  g_autoptr(VnRunner) runner = NULL;
  g_autoptr(GArray) ratios = g_array_new (FALSE, FALSE, sizeof (double));

  options.taps = taps;
  plan = vn_plan_new (self->model, &options, NULL, NULL);
  runner = plan != NULL && vn_plan_get_n_inputs (plan) == self->n_inputs ? vn_runner_new (plan, NULL) : NULL;
  if (runner == NULL)
    return NAN;
  vn_runner_set_tap (runner, scale_see, layers);
  if (!_vn_data_each (self->dataset, samples, scale_scan, &(Look) { runner, input, low, high }, cancellable))
    return NAN;
  *of_first = NAN;
  for (guint i = 0; i < layers->len; i++)
    {
      const VnFirstLayer *layer = layers->pdata[i];
      double ratio = layer->sum != NULL ? 1 / _vn_first_layer_get_bias (layer) : NAN;

      if (layer->value == first)
        *of_first = ratio;
      if (!isnan (ratio))
        g_array_append_val (ratios, ratio);
    }
  return _vn_data_median (ratios);
}

/*< private >
 * _vn_data_scale_judge:
 * @layer: index of a first layer without BatchNormalization
 * @low, @high: the samples are from here to there, @high being the larger
 *
 * Returns: whether it said that the samples are too large
 */
gboolean
_vn_data_scale_judge (const VnFirstLayers *self,
                      guint                layer,
                      const char          *input,
                      double               low,
                      double               high,
                      VnNotes             *notes,
                      GCancellable        *cancellable)
{
  const VnFirstLayer *first = self->layers->pdata[layer];
  g_autofree char *raw_text = NULL, *small_text = NULL, *low_text = NULL, *high_text = NULL;
  double raw = 1 / _vn_first_layer_get_bias (first);
  double small, all;

  if (!(raw > VN_DATA_RAW))
    return FALSE;
  all = scale_measure (self, first->input, low, high, first->value, &small, cancellable);
  if (!(small < VN_DATA_SMALL_FIRST) || !(all < VN_DATA_SMALL_ALL))
    return FALSE;
  if (self->sight != NULL)
    _vn_data_find_scales (self, layer, input, cancellable);
  raw_text = vn_format_number (raw, 3);
  small_text = vn_format_number (small, 3);
  low_text = vn_format_number (low, 3);
  high_text = vn_format_number (high, 3);
  vn_notes_add_remedy (notes, VN_NOTE_WARNING, "data-range", input,
                       _("Set the mean and standard deviation used in training; common presets are “imagenet”, "
                         "“minus-one-one” and “zero-one”."),
                       _("The samples span %s to %s, which makes their contribution to the first layer %s times as "
                         "large as its biases; scaled to −1 to 1, it would be %s times as large, which matches the "
                         "biases of the whole model"),
                       low_text, high_text, raw_text, small_text);
  return TRUE;
}
