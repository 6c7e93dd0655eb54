/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a block learns, found in the plan: constants become what would be stored, tensors are rounded on their way. */
#include "trained-block.h"

#include "vn-memory.h"

#include <math.h>
#include <string.h>

static void
trained_block_free_scale (VnTrainedScale *self)
{
  g_free (self->name);
  vn_fake_quantizer_free (self->grid);
  vn_adam_clear (&self->adam);
  g_array_unref (self->hooks);
  g_free (self);
}

void
vn_trained_block_free (VnTrainedBlock *self)
{
  if (self == NULL)
    return;
  g_clear_pointer (&self->block, vn_block_free);
  g_clear_pointer (&self->layers, g_ptr_array_unref);
  g_clear_pointer (&self->scales, g_ptr_array_unref);
  g_free (self);
}

gboolean
vn_train_state_is_stopped (const VnTrainState *self)
{
  g_return_val_if_fail (self != NULL, TRUE);

  return g_cancellable_is_cancelled (self->stop) || g_cancellable_is_cancelled (self->cancellable) ||
         (self->deadline != 0 && g_get_monotonic_time () > self->deadline);
}

/* ---- scales of tensors ---- */

static gboolean
trained_block_round (const VnTensor  *before,
                     VnTensor        *after,
                     guint            item,
                     gpointer         data,
                     GError         **error)
{
  vn_fake_quantizer_forward (((VnTrainedScale *) data)->grid, before->n_elements, before->data, after->data);
  return TRUE;
}

static gboolean
trained_block_round_back (const VnTensor  *before,
                          const VnTensor  *after,
                          VnTensor        *gradient,
                          float           *params,
                          guint            item,
                          gpointer         data,
                          GError         **error)
{
  VnTrainedScale *scale = data;
  double octaves = 0;

  vn_fake_quantizer_backward (scale->grid, before->n_elements, before->data, gradient->data, scale->learns ? &octaves : NULL);
  if (scale->learns)
    params[0] += (float) octaves;
  return TRUE;
}

/* Whose parameters a tensor has. */
static const VnQuantRow *
trained_block_find_root (VnQuantPlan      *plan,
                         const VnQuantRow *row)
{
  for (guint i = 0; i < 100 && row != NULL && row->tensor.shares != NULL; i++)
    {
      const VnQuantRow *next = vn_quant_plan_find_row (plan, row->tensor.shares);

      if (next == NULL || next == row)
        break;
      row = next;
    }
  return row;
}

static VnTrainedScale *
trained_block_take_scale (VnTrainedBlock    *self,
                          const VnQuantRow  *row,
                          const VnShape     *shape,
                          GError           **error)
{
  const VnQuantRow *root = trained_block_find_root (self->state->plan, row);
  VnTrainedScale *scale;

  for (guint i = 0; i < self->scales->len; i++)
    {
      scale = g_ptr_array_index (self->scales, i);
      if (g_str_equal (scale->name, root->tensor.name) && scale->grid->n == 1)
        return scale;
    }
  scale = g_new0 (VnTrainedScale, 1);
  scale->name = g_strdup (root->tensor.name);
  scale->hooks = g_array_new (FALSE, FALSE, sizeof (guint));
  g_ptr_array_add (self->scales, scale);
  scale->grid = vn_fake_quantizer_new (row, shape, error);
  if (scale->grid == NULL || !vn_adam_init (&scale->adam, 1, error))
    return NULL;
  scale->first = scale->grid->scales[0];
  scale->kind = scale->grid->n == 1 ? (VnScaleKind) GPOINTER_TO_INT (g_hash_table_lookup (self->state->kinds, scale->name))
                : VN_SCALE_FIXED;
  return scale;
}

static gboolean
trained_block_hook_value (VnTrainedBlock  *self,
                          const VnNode    *node,
                          const VnValue   *value,
                          GError         **error)
{
  const VnQuantRow *row = vn_quant_plan_find_row (self->state->plan, value->name);
  VnBlockHook hook = { .value = value, .forward = trained_block_round, .backward = trained_block_round_back };
  VnTrainedScale *scale;
  guint number;

  if (!vn_quant_row_has_integers (row) || row->tensor.role != VN_TENSOR_ACTIVATION || value->type.kind != VN_TYPE_TENSOR ||
      value->type.dtype != VN_DTYPE_F32 || vn_value_is_constant (value))
    return TRUE;
  scale = trained_block_take_scale (self, row, &value->type.shape, error);
  if (scale == NULL)
    return FALSE;
  hook.n_params = scale->kind != VN_SCALE_FIXED && vn_train_scales (self->state->trains[node->index]) ? 1 : 0;
  hook.data = scale;
  scale->learns = scale->learns || hook.n_params > 0;
  hook.n_params = 1;
  number = vn_block_add_hook (self->block, &hook);
  g_array_append_val (scale->hooks, number);
  return TRUE;
}

/* A scale that tensors elsewhere have, too, is not changed here. */
static gboolean
trained_block_add_scales (VnTrainedBlock  *self,
                          GPtrArray       *nodes,
                          GError         **error)
{
  for (guint i = 0; i < nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (nodes, i);

      for (guint k = 0; k < node->outputs->len; k++)
        if (vn_node_get_output (node, k) != NULL && !trained_block_hook_value (self, node, vn_node_get_output (node, k), error))
          return FALSE;
    }
  for (guint i = 0; i < self->scales->len; i++)
    {
      VnTrainedScale *scale = g_ptr_array_index (self->scales, i);

      scale->learns = scale->learns && (guint) GPOINTER_TO_INT (g_hash_table_lookup (self->state->n_shares, scale->name))
                      == scale->hooks->len;
    }
  return TRUE;
}

/* ---- constants ---- */

/* (nullable): what is decided about the bias that a node reads */
static const VnQuantRow *
trained_block_find_bias_row (VnQuantPlan  *plan,
                             const VnNode *node,
                             guint         input)
{
  for (guint i = 0; i < plan->rows->len; i++)
    {
      const VnQuantRow *row = g_ptr_array_index (plan->rows, i);

      if (row->tensor.role == VN_TENSOR_BIAS && row->node == node->index && row->input == input)
        return row;
    }
  return NULL;
}

/* What would be stored instead of a constant; biases of 32 bit are as good as float. */
static gboolean
trained_block_round_constant (VnTrainedBlock  *self,
                              const VnNode    *node,
                              guint            input,
                              GError         **error)
{
  const VnValue *value = vn_node_get_input (node, input);
  VnTensor *constant = value != NULL ? vn_value_get_constant (value) : NULL, *own;
  const VnQuantRow *row = constant != NULL ? trained_block_find_bias_row (self->state->plan, node, input) : NULL;
  g_autoptr(VnFakeQuantizer) grid = NULL;

  if (constant == NULL || constant->dtype != VN_DTYPE_F32)
    return TRUE;
  row = row != NULL ? row : vn_quant_plan_find_row (self->state->plan, value->name);
  if (!vn_quant_row_has_integers (row) || vn_dtype_get_bits (row->tensor.dtype) > 16 || row->beta != 1.f)
    return TRUE;
  grid = vn_fake_quantizer_new (row, &constant->shape, error);
  own = grid != NULL ? vn_block_get_constant (self->block, value) : NULL;
  if (own != NULL)
    vn_fake_quantizer_forward (grid, own->n_elements, own->data, own->data);
  return grid != NULL;
}

static gboolean
trained_block_add_layer (VnTrainedBlock  *self,
                         const VnNode    *node,
                         GError         **error)
{
  const VnTrainState *state = self->state;
  g_autoptr(VnWeightLayer) layer = vn_weight_layer_new (node);
  const VnQuantRow *row = layer != NULL && vn_quant_plan_is_node_quantized (state->plan, layer->label)
                        ? vn_quant_plan_find_row (state->plan, layer->weight) : NULL;
  const VnValue *wanted = layer != NULL ? vn_graph_find_value (state->wanted->graph, layer->weight) : NULL;
  VnScaleKind kind = layer != NULL ? (VnScaleKind) GPOINTER_TO_INT (g_hash_table_lookup (state->kinds, layer->weight))
                     : VN_SCALE_FIXED;
  VnTrainedLayerInput input = { .node = node, .row = row, .train = state->trains[node->index],
                                .trains_scales = kind != VN_SCALE_FIXED, .power_of_two = kind == VN_SCALE_POWER_OF_TWO };
  VnTrainedLayer *trained;

  if (!vn_quant_row_has_integers (row) || row->tensor.role != VN_TENSOR_WEIGHT || row->converted != NULL || wanted == NULL ||
      wanted->initializer == NULL || state->trains[node->index] == VN_TRAIN_OFF)
    return TRUE;
  input.bias_row = trained_block_find_bias_row (state->plan, node, 2);
  input.wanted = wanted->initializer;
  trained = vn_trained_layer_new (&input, error);
  if (trained == NULL)
    return FALSE;
  g_ptr_array_add (self->layers, trained);
  return vn_block_want_gradient (self->block, trained->weight, error) &&
         (trained->bias == NULL || vn_block_want_gradient (self->block, trained->bias, error));
}

/**
 * vn_trained_block_new:
 *
 * Returns: (transfer full) (nullable): %NULL with an error if gradients cannot be brought back through the nodes, or memory is
 * short
 */
VnTrainedBlock *
vn_trained_block_new (const VnTrainState  *state,
                      const VnTrainPart  *nodes,
                      GError             **error)
{
  g_autoptr(VnTrainedBlock) self = NULL;

  g_return_val_if_fail (state != NULL && nodes != NULL, NULL);

  self = g_new0 (VnTrainedBlock, 1);
  self->state = state;
  self->layers = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_trained_layer_free);
  self->scales = g_ptr_array_new_with_free_func ((GDestroyNotify) trained_block_free_scale);
  self->block = vn_block_new (state->model->graph, nodes->nodes, NULL, error);
  if (self->block == NULL || !trained_block_add_scales (self, nodes->nodes, error))
    return NULL;
  for (guint i = 0; i < nodes->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (nodes->nodes, i);

      for (guint k = 0; k < node->inputs->len; k++)
        if (!trained_block_round_constant (self, node, k, error))
          return NULL;
      if (!trained_block_add_layer (self, node, error))
        return NULL;
    }
  return g_steal_pointer (&self);
}

/**
 * vn_trained_block_learns:
 *
 * Returns: whether there is anything to train
 */
gboolean
vn_trained_block_learns (const VnTrainedBlock *self)
{
  gboolean learns = FALSE;

  g_return_val_if_fail (self != NULL, FALSE);

  for (guint i = 0; i < self->layers->len && !learns; i++)
    {
      const VnTrainedLayer *layer = g_ptr_array_index (self->layers, i);

      learns = layer->train != VN_TRAIN_THRESHOLDS || layer->trains_scales;
    }
  for (guint i = 0; i < self->scales->len && !learns; i++)
    learns = ((const VnTrainedScale *) g_ptr_array_index (self->scales, i))->learns;
  return learns;
}
