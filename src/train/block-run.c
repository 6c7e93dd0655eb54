/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One item of a block: values forward, gradients back. */
#include "vn-train-block-private.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-memory.h"

#include <string.h>

/**
 * vn_block_run_new:
 * @is_fixed: whether it runs what only depends on constants
 *
 * Returns: (transfer full) (nullable): %NULL with an error if a node cannot be run
 */
VnBlockRun *
vn_block_run_new (VnBlock   *block,
                  gboolean   is_fixed,
                  GError   **error)
{
  g_autoptr(VnBlockRun) self = g_new0 (VnBlockRun, 1);

  self->block = block;
  self->is_fixed = is_fixed;
  self->item = VN_BLOCK_NO_ITEM;
  self->n_slots = block->slots->len;
  self->n_hooks = block->hooks->len;
  self->calls = g_new0 (VnOpCall, block->n_nodes + 1);
  self->kept = g_new0 (VnGradientKept, block->n_nodes + 1);
  self->values = g_new0 (VnTensor *, self->n_slots + 1);
  self->gradients = g_new0 (VnTensor *, self->n_slots + 1);
  self->reached = g_new0 (gboolean, self->n_slots + 1);
  self->params = g_new0 (float *, self->n_hooks + 1);
  for (guint k = 0; k < block->n_nodes; k++)
    if (block->nodes[k].is_fixed == is_fixed && !vn_op_call_init (&self->calls[k], block->nodes[k].node, error))
      return NULL;
  for (guint h = 0; h < self->n_hooks; h++)
    if (vn_block_slot (block, vn_block_hooked (block, h)->slot)->is_fixed == is_fixed &&
        (self->params[h] = vn_try_new0 (float, vn_block_hooked (block, h)->hook.n_params + 1, error)) == NULL)
      return NULL;
  return g_steal_pointer (&self);
}

void
vn_block_run_free (VnBlockRun *self)
{
  for (guint k = 0; k < self->block->n_nodes; k++)
    {
      vn_op_call_clear (&self->calls[k]);
      if (self->kept[k].free != NULL)
        self->kept[k].free (self->kept[k].data);
    }
  vn_tensor_clear_all (self->values, self->n_slots);
  vn_tensor_clear_all (self->gradients, self->n_slots);
  for (guint h = 0; h < self->n_hooks; h++)
    g_free (self->params[h]);
  vn_scratch_clear (&self->scratch);
  g_free (self->calls);
  g_free (self->kept);
  g_free (self->values);
  g_free (self->gradients);
  g_free (self->reached);
  g_free (self->params);
  g_free (self);
}

static void
block_run_set_value (VnBlockRun *self,
                     guint       slot,
                     VnTensor   *tensor)
{
  VnTensor *old = self->values[slot];

  self->values[slot] = tensor != NULL ? vn_tensor_ref (tensor) : NULL;
  g_clear_pointer (&old, vn_tensor_unref);
}

/**
 * vn_block_run_begin:
 *
 * Begins a step: takes the constants, or what was computed from them, and forgets the gradients of the step before.
 */
gboolean
vn_block_run_begin (VnBlockRun  *self,
                    GError     **error)
{
  const VnBlock *block = self->block;

  for (guint i = 0; i < self->n_slots; i++)
    {
      const VnBlockSlot *slot = vn_block_slot (block, i);

      self->reached[i] = FALSE;
      if (self->is_fixed && slot->constant != NULL)
        block_run_set_value (self, i, slot->constant);
      else if (!self->is_fixed && slot->is_fixed)
        block_run_set_value (self, i, block->fixed->values[i]);
    }
  for (guint h = 0; h < self->n_hooks; h++)
    if (self->params[h] != NULL)
      memset (self->params[h], 0, sizeof (float) * vn_block_hooked (block, h)->hook.n_params);
  self->is_ready = self->went_back = FALSE;
  return TRUE;
}

/* ---- forward ---- */

/* Gradients would silently end at another kind of float. */
static gboolean
block_run_check_float (VnBlockRun    *self,
                       const VnNode  *node,
                       guint          slot,
                       GError       **error)
{
  VnDType dtype = self->values[slot]->dtype;
  g_autofree char *label = NULL;

  if (dtype == VN_DTYPE_F32 || !vn_dtype_is_float (dtype) || !vn_block_slot (self->block, slot)->needs)
    return TRUE;
  label = vn_node_dup_label (node);
  g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("Node “%s” (%s): “%s” is %s: only float32 can be trained"), label,
               node->op_type,
               vn_block_slot (self->block, slot)->value->name, vn_dtype_get_name (dtype));
  return FALSE;
}

static gboolean
block_run_node (VnBlockRun  *self,
                guint        index,
                GError     **error)
{
  const VnBlockNode *node = &self->block->nodes[index];
  VnOpCall *call = &self->calls[index];

  for (guint i = 0; i < node->node->inputs->len; i++)
    call->in[i] = node->in[i] >= 0 ? self->values[node->in[i]] : NULL;
  if (!vn_op_call_run (call, &self->scratch, error))
    return FALSE;
  for (guint i = 0; i < node->node->outputs->len; i++)
    if (node->out[i] >= 0)
      {
        block_run_set_value (self, (guint) node->out[i], call->out[i]);
        if (!block_run_check_float (self, node->node, (guint) node->out[i], error))
          return FALSE;
      }
  return TRUE;
}

static gboolean
block_run_hook (VnBlockRun  *self,
                guint        index,
                GError     **error)
{
  const VnBlockHooked *hooked = vn_block_hooked (self->block, index);
  const VnTensor *before = self->values[vn_block_slot (self->block, hooked->slot)->from];
  VnTensor **after = &self->values[hooked->slot];

  if (before->dtype != VN_DTYPE_F32)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("“%s” is %s: only float32 can be trained"), hooked->hook.value->name,
                   vn_dtype_get_name (before->dtype));
      return FALSE;
    }
  if (*after == NULL || !vn_shape_equal (&(*after)->shape, &before->shape))
    {
      g_clear_pointer (after, vn_tensor_unref);
      *after = vn_tensor_new (VN_DTYPE_F32, &before->shape, error);
    }
  if (*after == NULL)
    return FALSE;
  if (hooked->hook.forward != NULL)
    return hooked->hook.forward (before, *after, self->item, hooked->hook.data, error);
  memcpy ((*after)->data, before->data, before->n_bytes);
  return TRUE;
}

/**
 * vn_block_run_forward_all:
 *
 * Runs what this run is for, from inputs and constants that are set.
 */
gboolean
vn_block_run_forward_all (VnBlockRun  *self,
                          GError     **error)
{
  for (guint i = 0; i < self->block->order->len; i++)
    {
      const VnBlockAction *action = &g_array_index (self->block->order, VnBlockAction, i);

      if (action->is_fixed == self->is_fixed &&
          !(action->is_hook ? block_run_hook (self, action->index, error) : block_run_node (self, action->index, error)))
        return FALSE;
    }
  for (guint i = 0; i < self->n_slots && !self->is_fixed; i++)
    self->reached[i] = self->reached[i] && vn_block_slot (self->block, i)->is_fixed;
  return TRUE;
}

/**
 * vn_block_run_forward:
 * @inputs: one tensor for each vn_block_get_input(), of any sizes that the nodes can be run with
 *
 * Computes all values of the block. Those of the item before are lost.
 */
gboolean
vn_block_run_forward (VnBlockRun        *self,
                      VnTensor * const  *inputs,
                      GError           **error)
{
  g_return_val_if_fail (self != NULL && !self->is_fixed && (inputs != NULL || self->block->inputs->len == 0), FALSE);

  self->is_ready = FALSE;
  for (guint i = 0; i < self->block->inputs->len; i++)
    {
      const VnValue *value = g_ptr_array_index (self->block->inputs, i);
      g_autoptr(VnTensor) aligned = NULL;

      if (inputs[i] == NULL)
        {
          g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA, _("Input “%s” is missing"), value->name);
          return FALSE;
        }
      aligned = vn_tensor_get_aligned (inputs[i], error);
      if (aligned == NULL)
        return FALSE;
      block_run_set_value (self, vn_block_find_slot (self->block, value), aligned);
    }
  self->is_ready = vn_block_run_forward_all (self, error);
  return self->is_ready;
}

static guint
block_run_find_common (const VnBlockRun *self,
                       const VnValue    *value)
{
  guint slot = vn_block_find_slot (self->block, value);

  return slot != G_MAXUINT ? vn_block_slot (self->block, slot)->common : G_MAXUINT;
}

/**
 * vn_block_run_get_value:
 *
 * Returns: (transfer none) (nullable): @value after the last vn_block_run_forward(), as all readers see it that have no hook of
 *   their own; %NULL if it is not of the block. Good until the next
 */
const VnTensor *
vn_block_run_get_value (VnBlockRun    *self,
                        const VnValue *value)
{
  guint slot;

  g_return_val_if_fail (self != NULL && value != NULL, NULL);

  slot = block_run_find_common (self, value);
  return slot != G_MAXUINT ? self->values[slot] : NULL;
}

const VnTensor *
vn_block_run_get_output (VnBlockRun *self,
                         guint       i)
{
  g_return_val_if_fail (self != NULL && i < self->block->outputs->len, NULL);

  return vn_block_run_get_value (self, g_ptr_array_index (self->block->outputs, i));
}

/* ---- back ---- */

/**
 * vn_block_run_reach:
 *
 * Returns: (transfer none) (nullable): the gradient of a slot, to be added to: zeroes at first
 */
VnTensor *
vn_block_run_reach (VnBlockRun  *self,
                    guint        slot,
                    GError     **error)
{
  const VnTensor *value = self->values[slot];
  VnTensor **gradient = &self->gradients[slot];

  if (self->reached[slot])
    return *gradient;
  if (*gradient == NULL || !vn_shape_equal (&(*gradient)->shape, &value->shape))
    {
      g_clear_pointer (gradient, vn_tensor_unref);
      *gradient = vn_tensor_new (VN_DTYPE_F32, &value->shape, error);
    }
  if (*gradient == NULL)
    return NULL;
  memset ((*gradient)->data, 0, (*gradient)->n_bytes);
  self->reached[slot] = TRUE;
  return *gradient;
}

/**
 * vn_block_run_get_output_gradient:
 *
 * Returns: (transfer none) (nullable): where the gradient of the loss by output @i is to be written, or added to, after
 *   vn_block_run_forward(); zeroes at first. %NULL with %VN_ERROR_MEMORY, or %VN_ERROR_UNSUPPORTED if it is not float32
 */
VnTensor *
vn_block_run_get_output_gradient (VnBlockRun  *self,
                                  guint        i,
                                  GError     **error)
{
  const VnValue *value;
  guint slot;

  g_return_val_if_fail (self != NULL && i < self->block->outputs->len && self->is_ready, NULL);

  value = g_ptr_array_index (self->block->outputs, i);
  slot = block_run_find_common (self, value);
  if (self->values[slot]->dtype != VN_DTYPE_F32)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("“%s” is %s: only float32 can be trained"), value->name,
                   vn_dtype_get_name (self->values[slot]->dtype));
      return NULL;
    }
  return vn_block_run_reach (self, slot, error);
}

static gboolean
block_run_hook_back (VnBlockRun  *self,
                     guint        index,
                     GError     **error)
{
  const VnBlockHooked *hooked = vn_block_hooked (self->block, index);
  guint from = vn_block_slot (self->block, hooked->slot)->from;
  VnTensor *gradient = self->gradients[hooked->slot], *to;

  if (!self->reached[hooked->slot] || !vn_block_slot (self->block, hooked->slot)->needs)
    return TRUE;
  if (hooked->hook.backward != NULL && !hooked->hook.backward (self->values[from], self->values[hooked->slot], gradient,
                                                               self->params[index],
                                                               self->item, hooked->hook.data, error))
    return FALSE;
  if (!vn_block_slot (self->block, from)->needs)
    return TRUE;
  to = vn_block_run_reach (self, from, error);
  for (gsize i = 0; to != NULL && i < to->n_elements; i++)
    ((float *) to->data)[i] += ((const float *) gradient->data)[i];
  return to != NULL;
}

static gboolean
block_run_has_gradient (const VnBlockRun  *self,
                        const VnBlockNode *node)
{
  gboolean out = FALSE, in = FALSE;

  for (guint i = 0; i < node->node->outputs->len; i++)
    out = out || (node->out[i] >= 0 && self->reached[node->out[i]]);
  for (guint i = 0; i < node->node->inputs->len; i++)
    in = in || (node->in[i] >= 0 && vn_block_slot (self->block, (guint) node->in[i])->needs);
  return out && in && node->gradient != NULL && node->gradient->inputs != 0;
}

static gboolean
block_run_node_back (VnBlockRun  *self,
                     guint        index,
                     GError     **error)
{
  const VnBlockNode *node = &self->block->nodes[index];
  guint n_in = node->node->inputs->len, n_out = node->node->outputs->len;
  g_autofree VnTensor **in = NULL, **out = NULL;
  VnGradientContext ctx;

  if (!block_run_has_gradient (self, node))
    return TRUE;
  in = g_new0 (VnTensor *, n_in + 1);
  out = g_new0 (VnTensor *, n_out + 1);
  for (guint i = 0; i < n_out; i++)
    out[i] = node->out[i] >= 0 && self->reached[node->out[i]] ? self->gradients[node->out[i]] : NULL;
  for (guint i = 0; i < n_in; i++)
    if (node->in[i] >= 0 && vn_block_slot (self->block, (guint) node->in[i])->needs &&
        vn_gradient_has_input (node->gradient, i) &&
        self->values[node->in[i]]->dtype == VN_DTYPE_F32 &&
        (in[i] = vn_block_run_reach (self, (guint) node->in[i], error)) == NULL)
      return FALSE;
  ctx = (VnGradientContext) { self->calls[index].ctx, out, in, &self->scratch, &self->kept[index] };
  return vn_gradient_run (node->gradient, &ctx, error);
}

/**
 * vn_block_run_back_all:
 *
 * Brings gradients back through all that this run is for.
 */
gboolean
vn_block_run_back_all (VnBlockRun  *self,
                       GError     **error)
{
  for (guint i = self->block->order->len; i-- > 0;)
    {
      const VnBlockAction *action = &g_array_index (self->block->order, VnBlockAction, i);

      if (action->is_fixed == self->is_fixed &&
          !(action->is_hook ? block_run_hook_back (self, action->index, error)
            : block_run_node_back (self, action->index, error)))
        return FALSE;
    }
  return TRUE;
}

/**
 * vn_block_run_backward:
 *
 * After vn_block_run_forward() and writing the gradients of outputs, once: adds to the gradients of the step.
 */
gboolean
vn_block_run_backward (VnBlockRun  *self,
                       GError     **error)
{
  g_return_val_if_fail (self != NULL && self->is_ready, FALSE);

  self->is_ready = FALSE;
  self->went_back = TRUE;
  return vn_block_run_back_all (self, error);
}

/**
 * vn_block_run_get_gradient:
 * @value: an input of the block or what it computes, whose gradient is wanted
 *
 * Returns: (transfer none) (nullable): the gradient of this item, after vn_block_run_backward(); %NULL: no gradient comes there
 */
const VnTensor *
vn_block_run_get_gradient (VnBlockRun    *self,
                           const VnValue *value)
{
  guint slot;

  g_return_val_if_fail (self != NULL && value != NULL, NULL);

  slot = vn_block_find_slot (self->block, value);
  g_return_val_if_fail (slot != G_MAXUINT, NULL);
  return self->reached[slot] ? self->gradients[slot] : NULL;
}
