/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the steps of each tensor cost: each adds a twelfth of its square as noise, and as much of that reaches the outputs as the
 * weights behind let through. Tensors whose channels depend on each other are one unit; balance-steps.c finds its factors. */
#include "balance-noise.h"
#include "balance-steps.h"

#include "vn-memory.h"
#include "vn-weight-layer.h"

#include <math.h>

/* Units depend on each other through the weights between them. */
#define SWEEPS 3

/* A convolution or product. By group, row and input channel of the group: the largest weight and the sum of squares over the
 * taps. */
typedef struct
{
  const VnNode  *node;
  const VnValue *input, *output;   /* nullable: without channels */
  gsize          groups, rows, channels;
  double        *largest, *square;
  double         levels;           /* on each side of zero; 0: stays float */
  double         bias_levels;
  VnTensor      *bias;             /* nullable */
} NoiseLayer;

typedef struct
{
  VnBalanceGraph       *graph;
  const VnBalanceNoise *noise;
  GPtrArray            *layers;    /* of NoiseLayer */
  double               *gains;     /* by channel: noise of the outputs for noise in it */
  guint                *local;     /* by channel that stands for others: its index in the unit, plus 1 */
} Noise;

static void
noise_free_layer (gpointer data)
{
  NoiseLayer *layer = data;

  g_clear_pointer (&layer->bias, vn_tensor_unref);
  g_free (layer->largest);
  g_free (layer->square);
  g_free (layer);
}

static void
noise_clear (Noise *self)
{
  g_clear_pointer (&self->layers, g_ptr_array_unref);
  g_free (self->gains);
  g_free (self->local);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Noise, noise_clear)

/* ---- the layers ---- */

/* Levels on the longer side of zero. */
static double
noise_get_levels (Noise      *self,
                  const char *name)
{
  const VnTensorPlan *plan = vn_quant_plan_find (self->noise->plan, name);
  gint64 least, most, zero;

  if (plan == NULL || !plan->quantized || plan->scale == NULL || plan->zero_point == NULL ||
      vn_dtype_get_bits (plan->dtype) > 16 ||
      !vn_dtype_integer_range (plan->dtype, &least, &most))
    return 0;
  zero = (gint64) vn_tensor_get_double (plan->zero_point, 0);
  return (double) MAX (most - zero, zero - least - 1);
}

static void
noise_sum_up (NoiseLayer          *self,
              const VnWeightLayer *layer,
              const float         *weights)
{
  for (gsize g = 0; g < self->groups; g++)
    for (gsize m = 0; m < self->rows; m++)
      for (gsize k = 0; k < layer->columns; k++)
        {
          double w = (double) weights[vn_weight_layer_get_offset (layer, g, m, k)];
          gsize at = (g * self->rows + m) * self->channels + k / layer->taps;

          self->largest[at] = fmax (self->largest[at], fabs (w));
          self->square[at] += w * w;
        }
}

static gboolean
noise_add_layer (Noise         *self,
                 const VnNode  *node,
                 GError       **error)
{
  g_autoptr(VnWeightLayer) found = vn_weight_layer_new (node);
  const VnValue *input = vn_node_get_input (node, 0), *output = vn_node_get_output (node, 0), *bias = vn_node_get_input (node, 2);
  g_autoptr(VnTensor) data = NULL;
  NoiseLayer *layer;

  if (found == NULL || input == NULL || output == NULL)
    return TRUE;
  data = vn_tensor_get_aligned (vn_node_get_input (node, 1)->initializer, error);
  if (data == NULL)
    return FALSE;
  layer = g_new0 (NoiseLayer, 1);
  g_ptr_array_add (self->layers, layer);
  layer->node = node;
  layer->groups = found->groups;
  layer->rows = found->rows;
  layer->channels = found->columns / found->taps;
  layer->input = self->graph->n[input->id] == layer->groups * layer->channels ? input : NULL;
  layer->output = self->graph->n[output->id] == layer->groups * layer->rows ? output : NULL;
  layer->largest = vn_try_new0 (double, layer->groups * layer->rows * layer->channels, error);
  layer->square = layer->largest != NULL ? vn_try_new0 (double, layer->groups * layer->rows * layer->channels, error) : NULL;
  if (layer->square == NULL)
    return FALSE;
  noise_sum_up (layer, found, data->data);
  layer->levels = noise_get_levels (self, found->weight);
  layer->bias = bias != NULL && bias->initializer != NULL && bias->initializer->dtype == VN_DTYPE_F32
                ? vn_tensor_get_aligned (bias->initializer, error) : NULL;
  layer->bias_levels = layer->bias != NULL ? noise_get_levels (self, bias->name) : 0;
  return bias == NULL || bias->initializer == NULL || layer->bias != NULL || bias->initializer->dtype != VN_DTYPE_F32;
}

/* ---- what noise of a channel comes to at the outputs ---- */

static double *
noise_get_gains (Noise         *self,
                 const VnValue *value)
{
  return self->gains + self->graph->first[value->id];
}

/* Where nothing is known of what follows, noise counts beside the numbers themselves. */
static void
noise_end_at (Noise         *self,
              const VnValue *value)
{
  const double *square = self->noise->square + self->graph->first[value->id];
  double power = 0;

  for (guint c = 0; c < self->graph->n[value->id]; c++)
    power += square[c];
  for (guint c = 0; c < self->graph->n[value->id] && power > 0; c++)
    noise_get_gains (self, value)[c] += 1 / power;
}

static void
noise_take_from_layer (Noise            *self,
                       const NoiseLayer *layer)
{
  double *to = noise_get_gains (self, layer->input);
  const double *from = layer->output != NULL ? noise_get_gains (self, layer->output) : NULL;

  for (gsize i = 0; from != NULL && i < layer->groups * layer->rows; i++)
    for (gsize j = 0; j < layer->channels; j++)
      to[i / layer->rows * layer->channels + j] += layer->square[i * layer->channels + j] * from[i];
}

static const NoiseLayer *
noise_find_layer (const Noise  *self,
                  const VnNode *node)
{
  for (guint i = 0; i < self->layers->len; i++)
    if (((const NoiseLayer *) g_ptr_array_index (self->layers, i))->node == node)
      return g_ptr_array_index (self->layers, i);
  return NULL;
}

/* From the part @value of a whole, or from the parts of a whole that @value is. */
static void
noise_take_from_parts (Noise         *self,
                       const VnNode  *node,
                       guint          input,
                       const VnValue *value,
                       gboolean       splits)
{
  const GPtrArray *parts = splits ? node->outputs : node->inputs;
  double *to = noise_get_gains (self, value);
  guint at = 0;

  for (guint i = 0; i < parts->len; i++)
    {
      const VnValue *part = g_ptr_array_index (parts, i);
      guint n = part != NULL ? self->graph->n[part->id] : 0;

      for (guint c = 0; c < n && splits; c++)
        to[at + c] += noise_get_gains (self, part)[c];
      for (guint c = 0; c < n && !splits && i == input; c++)
        to[c] += noise_get_gains (self, vn_node_get_output (node, 0))[at + c];
      at += n;
    }
}

static void
noise_take_from_shuffled (Noise         *self,
                          const VnNode  *node,
                          const VnValue *value)
{
  gsize groups = 1, each;
  const VnNode *last = vn_balance_find_unshuffled (node, &groups);
  const double *from = noise_get_gains (self, vn_node_get_output (last, 0));

  each = self->graph->n[value->id] / groups;
  for (gsize i = 0; i < each * groups; i++)
    noise_get_gains (self, value)[i] += from[i % each * groups + i / each];
}

/* Half of the numbers are negative, and what is wrong with those is seen no more. */
static gboolean
noise_is_half (const VnNode *node)
{
  return vn_node_is (node, "Relu") || vn_node_is (node, "Clip");
}

static void
noise_take_from_use (Noise         *self,
                     const VnValue *value,
                     const VnUse   *use)
{
  const VnValue *output = vn_node_get_output (use->node, 0);
  const NoiseLayer *layer;

  switch (vn_balance_graph_get_role (self->graph, use->node, use->index))
    {
    case VN_BALANCE_WEIGHT:
      layer = noise_find_layer (self, use->node);
      if (layer != NULL && layer->input == value && layer->output != NULL)
        noise_take_from_layer (self, layer);
      else
        noise_end_at (self, value);
      break;
    case VN_BALANCE_PASSES:
    case VN_BALANCE_CONSTANT:
      for (guint c = 0; c < self->graph->n[value->id]; c++)
        noise_get_gains (self, value)[c] += noise_get_gains (self, output)[c] * (noise_is_half (use->node) ? 0.5 : 1);
      break;
    case VN_BALANCE_JOINS:
    case VN_BALANCE_SPLITS:
      noise_take_from_parts (self, use->node, use->index, value,
                             vn_balance_graph_get_role (self->graph, use->node, use->index) == VN_BALANCE_SPLITS);
      break;
    case VN_BALANCE_SHUFFLES:
      noise_take_from_shuffled (self, use->node, value);
      break;
    case VN_BALANCE_PINS:
    case VN_BALANCE_RESTORES:
      noise_end_at (self, value);
      break;
    }
}

/* From the outputs to the inputs, as if noise of one channel had nothing to do with that of another. */
static gboolean
noise_find_gains (Noise   *self,
                  GError **error)
{
  const VnGraph *graph = self->graph->graph;
  g_autoptr(GPtrArray) nodes = vn_graph_sort (graph, error);

  for (guint i = nodes != NULL ? nodes->len + 1 : 0; i-- > 0;)
    {
      const GPtrArray *values = i > 0 ? ((const VnNode *) g_ptr_array_index (nodes, i - 1))->outputs : graph->inputs;

      for (guint k = 0; k < values->len; k++)
        {
          const VnValue *value = g_ptr_array_index (values, k);

          if (value == NULL || self->graph->n[value->id] == 0)
            continue;
          if (value->is_output)
            noise_end_at (self, value);
          for (guint u = 0; u < value->uses->len; u++)
            noise_take_from_use (self, value, &g_array_index (value->uses, VnUse, u));
        }
    }
  return nodes != NULL;
}

/* ---- the terms of a unit ---- */

static double
noise_get_factor (const Noise   *self,
                  const VnValue *value,
                  gsize          channel)
{
  return value != NULL ? vn_balance_graph_get_channel (self->graph, value, (guint) channel)->factor : 1;
}

static guint
noise_get_root (const Noise   *self,
                const VnValue *value,
                gsize          channel)
{
  const VnBalanceChannel *found = vn_balance_graph_get_channel (self->graph, value, (guint) channel);

  return (guint) (found - (const VnBalanceChannel *) (gpointer) self->graph->channels->data);
}

static guint
noise_get_local (const Noise   *self,
                 const VnValue *value,
                 gsize          channel)
{
  return self->local[noise_get_root (self, value, channel)] - 1;
}

static void
noise_add_entry (GArray *entries,
                 guint   root,
                 double  top,
                 double  cost)
{
  VnBalanceEntry entry = { root, top, cost };

  g_array_append_val (entries, entry);
}

/* What takes the scale of another tensor is not rounded once more. */
static void
noise_add_activation (Noise         *self,
                      VnBalanceUnit *unit,
                      const VnValue *value)
{
  double levels = noise_get_levels (self, value->name);
  const VnTensorPlan *plan = vn_quant_plan_find (self->noise->plan, value->name);
  GArray *entries = levels > 0 ? vn_balance_unit_add_term (unit, FALSE) : NULL;

  for (guint c = 0; entries != NULL && c < self->graph->n[value->id]; c++)
    noise_add_entry (entries, noise_get_local (self, value, c), self->noise->largest[self->graph->first[value->id] + c] / levels,
                     plan->shares != NULL ? 0 : noise_get_gains (self, value)[c]);
}

static void
noise_add_in_front (Noise            *self,
                    VnBalanceUnit    *unit,
                    const NoiseLayer *layer)
{
  const double *gains = noise_get_gains (self, layer->output);
  const double *square = layer->input != NULL ? self->noise->square + self->graph->first[layer->input->id] : NULL;
  GArray *weights = layer->levels > 0 && square != NULL ? vn_balance_unit_add_term (unit, FALSE) : NULL;
  GArray *biases = layer->bias_levels > 0 ? vn_balance_unit_add_term (unit, FALSE) : NULL;

  for (gsize i = 0; i < layer->groups * layer->rows; i++)
    {
      guint root = noise_get_local (self, layer->output, i);
      double top = 0, energy = 0;

      for (gsize j = 0; j < layer->channels && square != NULL; j++)
        {
          gsize channel = i / layer->rows * layer->channels + j;
          double factor = noise_get_factor (self, layer->input, channel);

          top = fmax (top, layer->largest[i * layer->channels + j] * factor);
          energy += square[channel] / (factor * factor);
        }
      if (weights != NULL)
        noise_add_entry (weights, root, top / layer->levels, gains[i] * energy);
      if (biases != NULL)
        noise_add_entry (biases, root, fabs ((double) ((const float *) layer->bias->data)[i]) / layer->bias_levels, gains[i]);
    }
}

static void
noise_add_behind (Noise            *self,
                  VnBalanceUnit    *unit,
                  const NoiseLayer *layer)
{
  const double *square = self->noise->square + self->graph->first[layer->input->id];
  const double *gains = layer->output != NULL ? noise_get_gains (self, layer->output) : NULL;
  GArray *entries = layer->levels > 0 ? vn_balance_unit_add_term (unit, TRUE) : NULL;

  for (gsize channel = 0; entries != NULL && channel < layer->groups * layer->channels; channel++)
    {
      gsize first = channel / layer->channels * layer->rows, j = channel % layer->channels;
      double top = 0, gain = 0;

      for (gsize i = first; i < first + layer->rows; i++)
        {
          double factor = noise_get_factor (self, layer->output, i);

          top = fmax (top, layer->largest[i * layer->channels + j] / factor);
          gain += (gains != NULL ? gains[i] : 1) * factor * factor;
        }
      noise_add_entry (entries, noise_get_local (self, layer->input, channel), top / layer->levels, square[channel] * gain);
    }
}

/* ---- all units ---- */

static double
noise_get_clamp (const VnNode *node)
{
  const VnValue *high = vn_node_get_input (node, 2);
  const VnTensor *constant = high != NULL ? vn_value_get_constant (high) : NULL;

  return constant != NULL ? vn_tensor_get_double (constant, 0)
                          : vn_node_get_attr (node, "max") != NULL ? (double) vn_node_get_float (node, "max", 0) : INFINITY;
}

static void
noise_add_clamps (Noise         *self,
                  VnBalanceUnit *unit,
                  const VnValue *value)
{
  for (guint i = 0; i < value->uses->len; i++)
    {
      const VnNode *node = g_array_index (value->uses, VnUse, i).node;
      double clamp = vn_node_is (node, "Clip") ? noise_get_clamp (node) : INFINITY;
      const VnValue *output = vn_node_get_output (node, 0);

      for (guint c = 0; isfinite (clamp) && clamp > 0 && c < self->graph->n[output->id]; c++)
        {
          guint root = noise_get_local (self, output, c);
          double part = fmin (self->noise->largest[self->graph->first[output->id] + c] / clamp, 1);

          unit->clipped[root] = fmax (unit->clipped[root], fmax (part, VN_BALANCE_LEAST_FACTOR));
          unit->has_clamp = TRUE;
        }
    }
}

static VnBalanceUnit *
noise_make_unit (Noise           *self,
                 const GPtrArray *values)
{
  GArray *roots = g_array_new (FALSE, FALSE, sizeof (guint));
  VnBalanceUnit *unit;

  for (guint i = 0; i < values->len; i++)
    for (guint c = 0; c < self->graph->n[((const VnValue *) g_ptr_array_index (values, i))->id]; c++)
      {
        guint root = noise_get_root (self, g_ptr_array_index (values, i), c);

        if (self->local[root] > 0)
          continue;
        g_array_append_val (roots, root);
        self->local[root] = roots->len;
      }
  unit = vn_balance_unit_new (roots, self->noise->power_of_two);
  for (guint r = 0; r < roots->len; r++)
    {
      const VnBalanceChannel *channel = &g_array_index (self->graph->channels, VnBalanceChannel, g_array_index (roots, guint, r));

      unit->pinned[r] = channel->pinned;
      unit->factors[r] = channel->factor;
    }
  return unit;
}

static void
noise_add_terms (Noise           *self,
                 VnBalanceUnit   *unit,
                 const GPtrArray *values,
                 guint            index)
{
  for (guint i = 0; i < values->len; i++)
    {
      noise_add_activation (self, unit, g_ptr_array_index (values, i));
      noise_add_clamps (self, unit, g_ptr_array_index (values, i));
    }
  for (guint i = 0; i < self->layers->len; i++)
    {
      const NoiseLayer *layer = g_ptr_array_index (self->layers, i);

      if (layer->output != NULL && vn_balance_graph_get_unit (self->graph, layer->output) == index)
        noise_add_in_front (self, unit, layer);
      if (layer->input != NULL && vn_balance_graph_get_unit (self->graph, layer->input) == index)
        noise_add_behind (self, unit, layer);
    }
}

static void
noise_optimize_unit (Noise           *self,
                     const GPtrArray *values,
                     guint            index)
{
  g_autoptr(VnBalanceUnit) unit = noise_make_unit (self, values);
  gboolean better;

  noise_add_terms (self, unit, values, index);
  better = vn_balance_unit_minimize_noise (unit);
  for (guint r = 0; r < unit->roots->len; r++)
    {
      guint root = g_array_index (unit->roots, guint, r);

      if (better)
        g_array_index (self->graph->channels, VnBalanceChannel, root).factor = unit->factors[r];
      self->local[root] = 0;
    }
}

/* (element-type GPtrArray): by unit: the tensors */
static GPtrArray *
noise_list_units (const Noise *self)
{
  GPtrArray *units = g_ptr_array_new_with_free_func ((GDestroyNotify) g_ptr_array_unref);

  for (guint i = 0; i < self->graph->n_units; i++)
    g_ptr_array_add (units, g_ptr_array_new ());
  for (guint i = 0; i < self->graph->graph->values->len; i++)
    {
      VnValue *value = g_ptr_array_index (self->graph->graph->values, i);
      guint unit = vn_balance_graph_get_unit (self->graph, value);

      if (unit != G_MAXUINT)
        g_ptr_array_add (g_ptr_array_index (units, unit), value);
    }
  return units;
}

/* All channels that may have a factor make units. */
static void
noise_number_units (Noise *self)
{
  for (int factor = 2; factor >= 1; factor--)
    {
      for (guint i = 0; i < self->graph->channels->len; i++)
        g_array_index (self->graph->channels, VnBalanceChannel, i).factor = factor;
      if (factor == 2)
        vn_balance_graph_number_units (self->graph);
    }
}

/*< private >
 * vn_balance_minimize_noise:
 *
 * Sets the factors; number the units anew afterwards.
 */
gboolean
vn_balance_minimize_noise (VnBalanceGraph        *graph,
                           const VnBalanceNoise  *noise,
                           GError               **error)
{
  g_auto(Noise) self = { .graph = graph, .noise = noise };
  g_autoptr(GPtrArray) units = NULL;

  g_return_val_if_fail (graph != NULL && noise != NULL && noise->plan != NULL, FALSE);

  self.layers = g_ptr_array_new_with_free_func (noise_free_layer);
  self.gains = g_new0 (double, graph->channels->len + 1);
  self.local = g_new0 (guint, graph->channels->len + 1);
  for (guint i = 0; i < graph->graph->nodes->len; i++)
    if (!noise_add_layer (&self, g_ptr_array_index (graph->graph->nodes, i), error))
      return FALSE;
  if (!noise_find_gains (&self, error))
    return FALSE;
  noise_number_units (&self);
  units = noise_list_units (&self);
  for (guint sweep = 0; sweep < SWEEPS; sweep++)
    for (guint i = 0; i < units->len; i++)
      noise_optimize_unit (&self, g_ptr_array_index (units, i), i);
  return TRUE;
}
