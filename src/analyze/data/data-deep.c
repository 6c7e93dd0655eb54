/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What layers further back say about pictures, where the first one says nothing. A BatchNormalization keeps mean and deviation of
 * what it saw in training wherever it stands. And a convolution without activation, followed by convolutions whose biases take
 * its mean away again, has no reason to learn one: what it gave in training often lay around 0, at least between depthwise
 * convolutions, which are trained with BatchNormalizations behind them even where these are folded. Pictures of something else,
 * and flat ones, are as far from training as those of half the scale; so only that is said which another of the named
 * preprocessings would mend, by far. */
#include "vn-data-check-private.h"

#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-thresholds.h"

#include <math.h>

#define MAX_SAMPLES 8u
#define MAX_STEPS   4u        /* operators between two convolutions */
#define MOST_TIMES  10.0f     /* of the deviation that is divided by */
#define MAX_NORMS   8u        /* the first ones; what is behind the last is not run */

/* How far samples are from what the network was trained with; NaN: it does not tell. */
typedef struct
{
  double norms;               /* divergence behind BatchNormalizations: median over them */
  double means;               /* the part of it that comes from means, the same */
  double linear;              /* mean of the linear layer, in deviations */
} Distance;

/* ---- the layers ---- */

static gboolean
deep_is_conv (const VnNode *node)
{
  return vn_node_is (node, "Conv") || (g_str_equal (node->op_type, "FusedConv") && g_str_equal (node->domain, "com.microsoft"));
}

/* Whether the convolution mixes channels, and has biases that take a mean away. */
static gboolean
deep_takes_mean (const VnUse *use)
{
  const VnValue *weights = vn_node_get_input (use->node, 1), *bias = vn_node_get_input (use->node, 2);
  const VnTensor *tensor = use->index == 0 && weights != NULL ? vn_value_get_constant (weights) : NULL;

  return tensor != NULL && tensor->shape.rank == 4 && tensor->shape.dims[1] > 1 && bias != NULL &&
         vn_value_get_constant (bias) != NULL;
}

/* Whether @value only goes, also by sums with other values, into convolutions that take its mean away. */
static gboolean
deep_is_linear (const VnValue *value,
                guint          step)
{
  for (guint i = 0; i < value->uses->len; i++)
    {
      const VnUse *use = &g_array_index (value->uses, VnUse, i);
      const VnValue *other = vn_node_is (use->node, "Add") ? vn_node_get_input (use->node, 1 - use->index) : NULL;
      const VnValue *sum = other != NULL && vn_value_get_constant (other) == NULL ? vn_node_get_output (use->node, 0) : NULL;

      if (sum != NULL ? step == 0 || !deep_is_linear (sum, step - 1) : !deep_is_conv (use->node) || !deep_takes_mean (use))
        return FALSE;
    }
  return value->uses->len > 0;
}

static gboolean
deep_is_depthwise (const VnNode *node)
{
  const VnValue *weights = deep_is_conv (node) ? vn_node_get_input (node, 1) : NULL;
  const VnTensor *tensor = weights != NULL ? vn_value_get_constant (weights) : NULL;

  return tensor != NULL && tensor->shape.rank == 4 && tensor->shape.dims[1] == 1 && vn_node_get_int (node, "group", 1) > 1;
}

/* Whether the convolution is depthwise, or the one before it. */
static gboolean
deep_is_of_depthwise (const VnNode *conv)
{
  const VnValue *from = vn_node_get_input (conv, 0);

  for (guint i = 0; i < MAX_STEPS && from != NULL && from->producer != NULL && !deep_is_conv (from->producer); i++)
    from = vn_node_get_input (from->producer, 0);
  return deep_is_depthwise (conv) || (from != NULL && from->producer != NULL && deep_is_depthwise (from->producer));
}

static void
deep_add_layer (GPtrArray    *layers,
                GPtrArray    *outputs,
                VnValue      *value,
                const VnNode *norm)
{
  VnFirstLayer *layer;

  if (value == NULL || g_ptr_array_find (outputs, value, NULL))
    return;
  layer = g_new0 (VnFirstLayer, 1);
  layer->value = value;
  layer->norm = norm;
  layer->clamp = INFINITY;
  g_ptr_array_add (layers, layer);
  g_ptr_array_add (outputs, value);
}

/* BatchNormalizations behind convolutions; only if there are none, the first linear layer. */
static GPtrArray *
deep_list_layers (const VnGraph *graph,
                  GPtrArray     *outputs)
{
  GPtrArray *layers = g_ptr_array_new_with_free_func (_vn_first_layer_free);

  for (guint i = 0; i < graph->nodes->len && layers->len < MAX_NORMS; i++)
    {
      const VnNode *node = g_ptr_array_index (graph->nodes, i);
      VnValue *value = vn_node_get_input (node, 0);

      if (vn_node_is (node, "BatchNormalization") && value != NULL && value->producer != NULL && deep_is_conv (value->producer))
        deep_add_layer (layers, outputs, value, node);
    }
  for (guint i = 0; i < graph->nodes->len && layers->len == 0; i++)
    {
      const VnNode *node = g_ptr_array_index (graph->nodes, i);
      VnValue *value = vn_node_get_output (node, 0);

      if (vn_node_is (node, "Conv") && value != NULL && deep_is_of_depthwise (node) && deep_is_linear (value, 1))
        deep_add_layer (layers, outputs, value, NULL);
    }
  return layers;
}

/* ---- what they see ---- */

typedef struct
{
  const VnFirstLayers      *first, *deep;
  guint                     input;
  const VnPreprocessPreset *preset;      /* nullable: as it would have made the samples */
} Look;

static gboolean
deep_scan (guint          sample,
           VnTensor     **inputs,
           gpointer       data,
           GCancellable  *cancellable)
{
  const Look *self = data;

  if (self->preset != NULL)
    {
      VnTensor *other = vn_dataset_renormalize (self->first->dataset, self->input, inputs[self->input], &self->preset->settings);

      if (other == NULL)
        return FALSE;
      vn_tensor_unref (inputs[self->input]);
      inputs[self->input] = other;
    }
  _vn_first_layers_run (self->deep, self->deep->layers, inputs, cancellable);
  return TRUE;
}

static Distance
deep_get_distance (const GPtrArray *layers)
{
  g_autoptr(GArray) norms = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr(GArray) means = g_array_new (FALSE, FALSE, sizeof (double));
  Distance distance = { NAN, NAN, NAN };

  for (guint i = 0; i < layers->len; i++)
    {
      const VnFirstLayer *layer = layers->pdata[i];
      double of_means, divergence;

      if (layer->sum == NULL || !(layer->n > 1))
        continue;
      if (layer->norm == NULL)
        distance.linear = _vn_first_layer_get_mean (layer);
      else if (isfinite (divergence = _vn_first_layer_get_divergence (layer, &of_means)))
        {
          g_array_append_val (norms, divergence);
          g_array_append_val (means, of_means);
        }
    }
  distance.norms = _vn_data_median (norms);
  distance.means = _vn_data_median (means);
  return distance;
}

static Distance
deep_measure (const VnFirstLayers      *self,
              const VnFirstLayers      *deep,
              guint                     input,
              const VnPreprocessPreset *preset,
              GCancellable             *cancellable)
{
  g_autoptr(GArray) samples = _vn_data_spread (self->dataset, MAX_SAMPLES);
  g_autoptr(GPtrArray) layers = _vn_first_layers_copy (deep->layers);
  VnFirstLayers copy = *deep;
  Look look = { self, &copy, input, preset };

  copy.layers = layers;
  if (!_vn_data_each (self->dataset, samples, deep_scan, &look, cancellable))
    return (Distance) { NAN, NAN, NAN };
  return deep_get_distance (layers);
}

/* ---- the verdict ---- */

static gboolean
deep_is_far (const Distance *own)
{
  return own->norms > VN_DATA_DEEP || own->linear > VN_DATA_LINEAR;
}

static gboolean
deep_is_mended (const Distance *own,
                const Distance *other)
{
  if (!isnan (own->norms))
    return own->norms > VN_DATA_DEEP_LESS * other->norms && own->means > VN_DATA_DEEP_MEANS * other->means;
  return other->linear < VN_DATA_LINEAR_NEAR && own->linear > VN_DATA_LINEAR_LESS * other->linear;
}

static void
deep_note (const Distance           *own,
           const Distance           *best,
           const VnPreprocessPreset *preset,
           const char               *name,
           VnNotes                  *notes)
{
  g_autofree char *remedy = g_strdup_printf (_("Choose a different preprocessing: “%s” (%s) matches the model."), preset->id,
                                             _(preset->title));
  g_autofree char *more = vn_format_number (own->norms / best->norms, 2);
  g_autofree char *mean = vn_format_number (own->linear, 2), *other = vn_format_number (best->linear, 2);

  if (!isnan (own->norms))
    vn_notes_add_remedy (notes, VN_NOTE_WARNING, "data-range", name, remedy,
                         _("Judging by the BatchNormalization statistics, the samples are %s times as far from the "
                           "training data as they would be with “%s”"), more, preset->id);
  else
    vn_notes_add_remedy (notes, VN_NOTE_WARNING, "data-range", name, remedy,
                         _("After the first layers, the samples have a mean of %s standard deviations instead of "
                           "about 0; with “%s” it would be %s"), mean, preset->id, other);
}

/* Whether the preset divides by about the same: factors of 255 are told by the first layer. */
static gboolean
deep_is_comparable (const VnPreprocess *own,
                    const VnPreprocess *other)
{
  for (guint c = 0; c < 3; c++)
    if (!(other->std[c] < MOST_TIMES * own->std[c]) || !(own->std[c] < MOST_TIMES * other->std[c]))
      return FALSE;
  return TRUE;
}

/*< private >
 * _vn_data_deep_judge:
 * @input: index of the input of pictures
 * @name: its name
 *
 * Runs some pictures through the first part of the network; if they are far from training there, once more for each of the named
 * preprocessings.
 *
 * Returns: whether it said that another suits the network by far better
 */
gboolean
_vn_data_deep_judge (const VnFirstLayers *self,
                     guint                input,
                     const char          *name,
                     VnNotes             *notes,
                     GCancellable        *cancellable)
{
  g_autoptr(GPtrArray) outputs = g_ptr_array_new ();
  g_autoptr(GPtrArray) layers = deep_list_layers (self->model->graph, outputs);
  VnPlanOptions options = vn_plan_options_for_samples (self->shapes);
  VnFirstLayers deep = { .model = self->model, .shapes = self->shapes, .dataset = self->dataset,
                         .n_inputs = self->n_inputs, .layers = layers };
  g_autoptr(VnPlan) plan = NULL;
  g_autoptr(VnRunner) runner = NULL;
  const VnPreprocess *settings = vn_dataset_get_preprocess (self->dataset, input);
  Distance own, best = { NAN, NAN, NAN };
  g_autoptr(GPtrArray) offered = g_ptr_array_new ();
  const VnPreprocessPreset *presets, *preset = NULL;
  guint n;

  if (layers->len == 0 || settings == NULL)
    return FALSE;
  options.outputs = outputs;
  options.no_fusion = TRUE;
  plan = vn_plan_new (self->model, &options, NULL, NULL);
  if (plan == NULL || vn_plan_get_n_inputs (plan) != self->n_inputs || vn_plan_get_n_outputs (plan) != layers->len)
    return FALSE;
  deep.runner = runner = vn_runner_new (plan, NULL);
  own = deep_measure (self, &deep, input, NULL, cancellable);
  if (!deep_is_far (&own))
    return FALSE;
  presets = vn_preprocess_presets (&n);
  for (guint i = 0; i < n; i++)
    {
      Distance other;

      if (_vn_data_is_preset_repeated (presets, i) || !deep_is_comparable (settings, &presets[i].settings))
        continue;
      other = deep_measure (self, &deep, input, &presets[i], cancellable);
      if (!deep_is_mended (&own, &other) || (preset != NULL && !(other.norms < best.norms || other.linear < best.linear)))
        continue;
      preset = &presets[i];
      best = other;
    }
  if (preset == NULL)
    return FALSE;
  g_ptr_array_add (offered, (gpointer) preset);
  _vn_data_offer_presets (self, input, name, offered);
  deep_note (&own, &best, preset, name, notes);
  return TRUE;
}
