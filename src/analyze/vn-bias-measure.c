/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What quantizing does to the means of layers. Both kinds are measured in one run of a network made for it: the quantized
 * one, with float layers added.
 *
 * AMD: beside each quantized layer stands the float one, with the Relu or Clip behind it, and reads the same quantized
 *   input; compared is what comes behind the quantized layer's rounding.
 * XSlim: beside the quantized network stands the whole float one. Nodes are joined to blocks in their order; what a block
 *   of the quantized network reads from another one it takes from the float network, rounded. Compared is what layers
 *   compute, before it is rounded. So the errors of a block do not reach the next. */
#include "vn-bias-correct.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-node-index.h"

#include <string.h>

/* Weights of nodes for blocks, and how much a block holds. */
#define BLOCK_WEIGHT 20.0

typedef struct
{
  const VnBiasQuantized *quantized;
  VnModel    *model;      /* what is run */
  GHashTable *twins;      /* VnValue of the float network -> of @model */
  GHashTable *nodes;      /* label -> VnNode of the float network */
  GHashTable *blocks;     /* VnNode of the float network -> number of its block */
  GPtrArray  *taps;       /* of VnValue: by layer the float one, the quantized one */
  GPtrArray  *layers;     /* of VnNode of the float network */
} Probe;

static void
bias_measure_probe_clear (Probe *self)
{
  g_clear_pointer (&self->model, vn_model_unref);
  g_clear_pointer (&self->twins, g_hash_table_unref);
  g_clear_pointer (&self->nodes, g_hash_table_unref);
  g_clear_pointer (&self->blocks, g_hash_table_unref);
  g_clear_pointer (&self->taps, g_ptr_array_unref);
  g_clear_pointer (&self->layers, g_ptr_array_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Probe, bias_measure_probe_clear)

/**
 * vn_bias_is_layer:
 *
 * Returns: whether the bias of @node can be corrected
 */
gboolean
vn_bias_is_layer (const VnNode *node)
{
  const VnValue *bias;

  g_return_val_if_fail (node != NULL, FALSE);

  bias = vn_node_get_input (node, 2);
  return (vn_node_is (node, "Conv") || vn_node_is (node, "ConvTranspose") || vn_node_is (node, "Gemm")) &&
         vn_node_get_output (node, 0) != NULL && vn_node_get_input (node, 0) != NULL &&
         vn_node_get_input (node, 1) != NULL && vn_value_is_constant (vn_node_get_input (node, 1)) &&
         (bias == NULL || vn_value_is_constant (bias));
}

/* ---- float nodes beside quantized ones ---- */

/* The float value in the network that is run. NULL: there is none. */
static VnValue *
bias_measure_find_twin (Probe   *self,
                        VnValue *value)
{
  VnValue *twin = g_hash_table_lookup (self->twins, value);
  VnTensor *constant = vn_value_get_constant (value);

  if (twin != NULL)
    return twin;
  if (constant != NULL)
    twin = vn_graph_add_initializer (self->model->graph, value->name, constant);
  else if (value->is_input && value->producer == NULL)
    twin = vn_graph_find_value (self->model->graph, value->name);
  if (twin != NULL)
    g_hash_table_insert (self->twins, value, twin);
  return twin;
}

static gboolean
bias_measure_has_twins (Probe        *self,
                        const VnNode *node)
{
  for (guint i = 0; i < node->inputs->len; i++)
    if (vn_node_get_input (node, i) != NULL && bias_measure_find_twin (self, vn_node_get_input (node, i)) == NULL)
      return FALSE;
  return !vn_node_has_graphs (node);
}

/* Adds @node, reading @inputs. */
static VnNode *
bias_measure_add_copy (Probe        *self,
                       const VnNode *node,
                       VnValue     **inputs)
{
  g_autofree VnValue **outputs = g_new0 (VnValue *, node->outputs->len + 1);
  VnNode *copy;

  for (guint i = 0; i < node->outputs->len; i++)
    if (vn_node_get_output (node, i) != NULL)
      {
        const VnValue *from = vn_node_get_output (node, i);

        outputs[i] = vn_graph_add_value (self->model->graph, from->name, from->type.dtype, NULL);
      }
  copy = vn_graph_add_node (self->model->graph, NULL, node->domain, node->op_type, inputs, node->inputs->len, outputs,
                            node->outputs->len);
  for (guint i = 0; i < node->attrs->len; i++)
    vn_node_set_attr (copy, vn_attr_copy (g_ptr_array_index (node->attrs, i)));
  return copy;
}

static gboolean
bias_measure_add_twin (Probe  *self,
                       VnNode *node)
{
  g_autofree VnValue **inputs = g_new0 (VnValue *, node->inputs->len + 1);
  VnNode *copy;

  if (!bias_measure_has_twins (self, node))
    return FALSE;
  for (guint i = 0; i < node->inputs->len; i++)
    if (vn_node_get_input (node, i) != NULL)
      inputs[i] = bias_measure_find_twin (self, vn_node_get_input (node, i));
  copy = bias_measure_add_copy (self, node, inputs);
  for (guint i = 0; i < node->outputs->len; i++)
    if (vn_node_get_output (node, i) != NULL)
      g_hash_table_insert (self->twins, vn_node_get_output (node, i), vn_node_get_output (copy, i));
  return TRUE;
}

/* What stands for @value in the quantized network. */
static VnValue *
bias_measure_find_quantized (Probe         *self,
                             const VnValue *value)
{
  const char *name = g_hash_table_lookup (self->quantized->value_names, value->name);

  return vn_graph_find_value (self->model->graph, name != NULL ? name : value->name);
}

static void
bias_measure_add_layer (Probe   *self,
                        VnNode  *node,
                        VnValue *float_value,
                        VnValue *quant_value)
{
  if (float_value == NULL || quant_value == NULL)
    return;
  g_ptr_array_add (self->layers, node);
  g_ptr_array_add (self->taps, float_value);
  g_ptr_array_add (self->taps, quant_value);
}

/* ---- AMD ---- */

static VnNode *
bias_measure_next_clamp (const VnValue *value)
{
  VnNode *user = value->uses->len == 1 && !value->is_output ? g_array_index (value->uses, VnUse, 0).node : NULL;

  return user != NULL && user->graph == value->graph && (vn_node_is (user, "Relu") || vn_node_is (user, "Clip")) &&
         vn_node_get_input (user, 0) == value ? user : NULL;
}

static void
bias_measure_add_alone (Probe  *self,
                        VnNode *node,
                        VnNode *quant_node)
{
  VnValue *end = vn_node_get_output (node, 0);

  g_hash_table_remove_all (self->twins);
  g_hash_table_insert (self->twins, vn_node_get_input (node, 0), vn_node_get_input (quant_node, 0));
  if (!bias_measure_add_twin (self, node))
    return;
  for (VnNode *clamp = bias_measure_next_clamp (end); clamp != NULL &&
       bias_measure_add_twin (self, clamp); clamp = bias_measure_next_clamp (end))
    end = vn_node_get_output (clamp, 0);
  bias_measure_add_layer (self, node, g_hash_table_lookup (self->twins, end), bias_measure_find_quantized (self, end));
}

/* ---- XSlim ---- */

static double
bias_measure_weigh (const VnNode *node)
{
  static const char * const shapes[] = { "Reshape", "Transpose", "Flatten", "Squeeze", "Unsqueeze", "Identity", "Slice",
                                         "Split", "Concat", "Gather", "Shape", "Cast", "Pad", "Expand" };

  if (vn_bias_is_layer (node) || vn_node_is (node, "MatMul"))
    return 4;
  if (strstr (node->op_type, "Norm") != NULL || strstr (node->op_type, "Pool") != NULL)
    return 2;
  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++)
    if (g_str_equal (node->op_type, shapes[i]))
      return 0.5;
  return 1;
}

static void
bias_measure_make_blocks (Probe     *self,
                          GPtrArray *order)
{
  double weight = 0;
  guint block = 0;

  for (guint i = 0; i < order->len; i++)
    {
      double more = bias_measure_weigh (g_ptr_array_index (order, i));

      if (weight + more > BLOCK_WEIGHT)
        {
          block++;
          weight = 0;
        }
      weight += more;
      g_hash_table_insert (self->blocks, g_ptr_array_index (order, i), GUINT_TO_POINTER (block));
    }
}

/* The float value, rounded as the quantized one is. */
static VnValue *
bias_measure_add_rounded (Probe   *self,
                          VnValue *twin,
                          VnValue *quantized)
{
  VnNode *dequantize = quantized->producer;
  VnValue *integers = dequantize != NULL && vn_node_is (dequantize, "DequantizeLinear")
                      ? vn_node_get_input (dequantize, 0) : NULL;
  VnNode *quantize = integers != NULL ? integers->producer : NULL;
  VnValue *inputs[3] = { twin };

  if (quantize == NULL || !vn_node_is (quantize, "QuantizeLinear") || quantize->inputs->len > 3 || dequantize->inputs->len > 3)
    return twin;
  for (guint i = 1; i < quantize->inputs->len; i++)
    inputs[i] = vn_node_get_input (quantize, i);
  inputs[0] = vn_node_get_output (bias_measure_add_copy (self, quantize, inputs), 0);
  for (guint i = 1; i < dequantize->inputs->len; i++)
    inputs[i] = vn_node_get_input (dequantize, i);
  return vn_node_get_output (bias_measure_add_copy (self, dequantize, inputs), 0);
}

/* Nodes of other blocks that read @value in the quantized network read the float one instead. */
static void
bias_measure_cut (Probe   *self,
                  VnNode  *node,
                  VnValue *value)
{
  VnValue *twin = g_hash_table_lookup (self->twins, value), *quantized = bias_measure_find_quantized (self, value),
  *rounded = NULL;
  gpointer own = g_hash_table_lookup (self->blocks, node);
  g_autoptr(GArray) uses = NULL;

  if (twin == NULL || quantized == NULL)
    return;
  uses = vn_uses_copy (quantized->uses);
  for (guint i = 0; i < uses->len; i++)
    {
      const VnUse *use = &g_array_index (uses, VnUse, i);
      g_autofree char *label = vn_node_dup_label (use->node);
      VnNode *user = use->node->graph == self->model->graph ? g_hash_table_lookup (self->nodes, label) : NULL;

      if (user == NULL || g_hash_table_lookup (self->blocks, user) == own)
        continue;
      if (rounded == NULL)
        rounded = bias_measure_add_rounded (self, twin, quantized);
      vn_node_set_input (use->node, use->index, rounded);
    }
}

static void
bias_measure_add_float_network (Probe     *self,
                                GPtrArray *order)
{
  bias_measure_make_blocks (self, order);
  for (guint i = 0; i < order->len; i++)
    bias_measure_add_twin (self, g_ptr_array_index (order, i));
  for (guint i = 0; i < order->len; i++)
    {
      VnNode *node = g_ptr_array_index (order, i);

      for (guint k = 0; k < node->outputs->len; k++)
        if (vn_node_get_output (node, k) != NULL)
          bias_measure_cut (self, node, vn_node_get_output (node, k));
    }
}

/* ---- both ---- */

static gboolean
bias_measure_probe_init (Probe                 *self,
                         const VnModel         *prepared,
                         const VnBiasQuantized *quantized,
                         const VnRecipe        *recipe,
                         GHashTable            *shapes,
                         GError               **error)
{
  g_autoptr(GPtrArray) order = vn_graph_sort (prepared->graph, error);
  g_autoptr(GHashTable) quantized_nodes = NULL;
  g_autofree int *rules = vn_recipe_list_for_nodes (recipe, VN_LAYER_BIAS_CORRECTION, prepared->graph);
  VnBiasCorrection rule = (VnBiasCorrection) vn_recipe_get_most (recipe, VN_LAYER_BIAS_CORRECTION);

  *self = (Probe) { .quantized = quantized, .model = vn_model_copy (quantized->model) };
  self->twins = g_hash_table_new (NULL, NULL);
  self->nodes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self->blocks = g_hash_table_new (NULL, NULL);
  self->taps = g_ptr_array_new ();
  self->layers = g_ptr_array_new ();
  if (order == NULL)
    return FALSE;
  for (guint i = 0; i < order->len; i++)
    g_hash_table_insert (self->nodes, vn_node_dup_label (g_ptr_array_index (order, i)), g_ptr_array_index (order, i));
  if (rule == VN_BIAS_CORRECTION_XSLIM)
    bias_measure_add_float_network (self, order);
  quantized_nodes = vn_graph_index_nodes (self->model->graph);
  for (guint i = 0; i < order->len; i++)
    {
      VnNode *node = g_ptr_array_index (order, i);
      g_autofree char *label = vn_node_dup_label (node);
      VnNode *quant_node = vn_bias_is_layer (node) && vn_quant_plan_is_node_quantized (quantized->plan, label)
                         ? g_hash_table_lookup (quantized_nodes, label) : NULL;

      if (rules[node->index] == VN_BIAS_CORRECTION_OFF || quant_node == NULL ||
          !g_str_equal (quant_node->op_type, node->op_type) || vn_node_get_input (quant_node, 0) == NULL)
        continue;
      if (rule == VN_BIAS_CORRECTION_XSLIM)
        bias_measure_add_layer (self, node, g_hash_table_lookup (self->twins, vn_node_get_output (node, 0)),
                                vn_node_get_output (quant_node, 0));
      else
        bias_measure_add_alone (self, node, quant_node);
    }
  return vn_model_infer_for_samples (self->model, shapes, error);
}

static void
bias_measure_free_error (gpointer data)
{
  VnBiasError *self = data;

  g_free (self->node);
  g_array_unref (self->means);
  g_free (self);
}

static void
bias_measure_add_error (GPtrArray    *errors,
                        const VnNode *node,
                        const GArray *of_float,
                        const GArray *of_quantized)
{
  VnBiasError *found;

  if (of_float == NULL || of_quantized == NULL || of_float->len != of_quantized->len)
    return;
  found = g_new0 (VnBiasError, 1);
  found->node = vn_node_dup_label (node);
  found->means = g_array_sized_new (FALSE, FALSE, sizeof (double), of_float->len);
  for (guint c = 0; c < of_float->len; c++)
    {
      double mean = g_array_index (of_float, double, c) - g_array_index (of_quantized, double, c);

      g_array_append_val (found->means, mean);
    }
  g_ptr_array_add (errors, found);
}

/**
 * vn_bias_measure:
 * @prepared: the float network, with names of nodes as in the quantized one
 * @recipe: says by which rule, and of which layers
 *
 * Returns: (transfer full) (element-type VnBiasError) (nullable): the errors of those layers that are quantized and could be
 *   run, in their order
 */
GPtrArray *
vn_bias_measure (const VnModel          *prepared,
                 const VnBiasQuantized  *quantized,
                 const VnRecipe         *recipe,
                 const VnSamples        *run,
                 GCancellable           *cancellable,
                 GError                **error)
{
  g_auto(Probe) probe = { 0 };
  g_autoptr(GPtrArray) means = NULL;
  GPtrArray *errors;

  g_return_val_if_fail (prepared != NULL && quantized != NULL && recipe != NULL && run != NULL, NULL);

  if (!bias_measure_probe_init (&probe, prepared, quantized, recipe, run->shapes, error))
    return NULL;
  means = vn_channel_stats (probe.model, probe.taps, NULL,
                            vn_recipe_get_most (recipe, VN_LAYER_BIAS_CORRECTION) == VN_BIAS_CORRECTION_XSLIM
                            ? VN_CHANNEL_TRIMMED_MEAN : VN_CHANNEL_MEAN, run, cancellable, error);
  if (means == NULL)
    return NULL;
  errors = g_ptr_array_new_with_free_func (bias_measure_free_error);
  for (guint i = 0; i < probe.layers->len; i++)
    bias_measure_add_error (errors, g_ptr_array_index (probe.layers, i), g_ptr_array_index (means, 2 * i),
                            g_ptr_array_index (means, 2 * i + 1));
  return errors;
}
