/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Making a block of nodes: which values go in and come out, its constants, the hooks on its values. */
#include "vn-train-block-private.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-linalg.h"

/**
 * vn_block_check:
 * @nodes: of VnNode
 *
 * To be asked before a block is made: also of nodes that no gradient may have to pass in the end.
 *
 * Returns: whether gradients can be brought back through all of them; %FALSE with %VN_ERROR_UNSUPPORTED, which names the first
 *   node that is in the way
 */
gboolean
vn_block_check (GPtrArray  *nodes,
                GError    **error)
{
  g_return_val_if_fail (nodes != NULL, FALSE);

  for (guint i = 0; i < nodes->len; i++)
    if (!vn_gradient_check_node (g_ptr_array_index (nodes, i), error))
      return FALSE;
  return TRUE;
}

/* ---- making one ---- */

static guint
block_add_slot (VnBlock       *self,
                const VnValue *value,
                int            hook,
                guint          from)
{
  VnBlockSlot slot = { .value = value, .hook = hook, .from = from, .common = self->slots->len };

  g_array_append_val (self->slots, slot);
  return slot.common;
}

/* Its numbers can be changed without the network knowing of it. */
static VnTensor *
block_copy_constant (VnTensor  *tensor,
                     GError   **error)
{
  return tensor->dtype == VN_DTYPE_F32 ? vn_tensor_new_copy (VN_DTYPE_F32, &tensor->shape, tensor->data, error)
                                       : vn_tensor_get_aligned (tensor, error);
}

/* The slot of what a node reads: one that the block computes, a constant, or an input of the block. */
static gboolean
block_take_input (VnBlock  *self,
                  VnValue  *value,
                  int      *place,
                  GError  **error)
{
  VnTensor *constant = value != NULL ? vn_value_get_constant (value) : NULL;
  guint at = value != NULL ? vn_block_find_slot (self, value) : 0;
  VnBlockSlot *slot;

  *place = -1;
  if (value == NULL)
    return TRUE;
  if (at == G_MAXUINT)
    {
      at = block_add_slot (self, value, -1, 0);
      g_hash_table_insert (self->slot_of, value, GUINT_TO_POINTER (at + 1));
      slot = vn_block_slot (self, at);
      slot->is_source = TRUE;
      slot->is_fixed = constant != NULL;
      slot->constant = constant != NULL ? block_copy_constant (constant, error) : NULL;
      if (constant != NULL && slot->constant == NULL)
        return FALSE;
      if (constant == NULL)
        g_ptr_array_add (self->inputs, value);
    }
  *place = (int) at;
  return TRUE;
}

static gboolean
block_take_node (VnBlock      *self,
                 VnBlockNode  *to,
                 VnNode       *node,
                 GError      **error)
{
  to->node = node;
  to->gradient = vn_gradient_find (node);
  to->in = g_new (int, node->inputs->len + 1);
  to->out = g_new (int, node->outputs->len + 1);
  for (guint i = 0; i < node->inputs->len; i++)
    if (!block_take_input (self, vn_node_get_input (node, i), &to->in[i], error))
      return FALSE;
  for (guint i = 0; i < node->outputs->len; i++)
    {
      VnValue *value = vn_node_get_output (node, i);

      to->out[i] = -1;
      if (value == NULL)
        continue;
      to->out[i] = (int) block_add_slot (self, value, -1, 0);
      g_hash_table_insert (self->slot_of, value, GUINT_TO_POINTER (to->out[i] + 1));
    }
  return TRUE;
}

/* Nodes of the set, in an order that can run. Constants need not be run: they are there. */
static gboolean
block_take_nodes (VnBlock        *self,
                  const VnGraph  *graph,
                  GHashTable     *set,
                  GError        **error)
{
  g_autoptr(GPtrArray) sorted = vn_graph_sort (graph, error);

  if (sorted == NULL)
    return FALSE;
  self->nodes = g_new0 (VnBlockNode, g_hash_table_size (set) + 1);
  for (guint i = 0; i < sorted->len; i++)
    {
      VnNode *node = g_ptr_array_index (sorted, i);

      if (!g_hash_table_contains (set, node) || (node->outputs->len == 1 && vn_node_get_output (node, 0) != NULL &&
                                                 vn_value_is_constant (vn_node_get_output (node, 0))))
        continue;
      self->n_nodes++;
      if (!block_take_node (self, &self->nodes[self->n_nodes - 1], node, error))
        return FALSE;
    }
  return TRUE;
}

/* Somebody outside of the block reads it. */
static gboolean
block_is_read_outside (const VnValue *value,
                       GHashTable    *set)
{
  for (guint u = 0; u < value->uses->len; u++)
    if (!g_hash_table_contains (set, g_array_index (value->uses, VnUse, u).node))
      return TRUE;
  return value->is_output;
}

static void
block_find_outputs (VnBlock    *self,
                    GHashTable *set)
{
  for (guint k = 0; k < self->n_nodes; k++)
    for (guint i = 0; i < self->nodes[k].node->outputs->len; i++)
      {
        VnValue *value = vn_node_get_output (self->nodes[k].node, i);

        if (value != NULL && block_is_read_outside (value, set))
          g_ptr_array_add (self->outputs, value);
      }
}

static gboolean
block_take_outputs (VnBlock    *self,
                    GPtrArray  *outputs,
                    GError    **error)
{
  for (guint i = 0; i < outputs->len; i++)
    {
      VnValue *value = g_ptr_array_index (outputs, i);

      if (vn_block_find_slot (self, value) == G_MAXUINT)
        {
          g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("“%s” is not computed by the trained nodes"), value->name);
          return FALSE;
        }
      g_ptr_array_add (self->outputs, value);
    }
  return TRUE;
}

/**
 * vn_block_new:
 * @graph: whose model is kept alive; it must not be edited while there is the block
 * @nodes: of VnNode of @graph, in any order
 * @outputs: (nullable): of VnValue: what they are run for; %NULL: what somebody else reads, and outputs of the graph
 *
 * Returns: (transfer full) (nullable): nodes that can be run; whether gradients can be brought back is found out when it is known
 *   which are wanted, by the first step. %NULL with %VN_ERROR_MEMORY or %VN_ERROR_UNSUPPORTED
 */
VnBlock *
vn_block_new (const VnGraph  *graph,
              GPtrArray      *nodes,
              GPtrArray      *outputs,
              GError        **error)
{
  g_autoptr(VnBlock) self = NULL;
  g_autoptr(GHashTable) set = NULL;

  g_return_val_if_fail (graph != NULL && nodes != NULL, NULL);

  if (!vn_linalg_init (_("turn “train” off"), error))
    return NULL;
  set = g_hash_table_new (NULL, NULL);
  for (guint i = 0; i < nodes->len; i++)
    g_hash_table_add (set, g_ptr_array_index (nodes, i));
  self = g_new0 (VnBlock, 1);
  self->model = vn_model_ref (graph->model);
  self->inputs = g_ptr_array_new ();
  self->outputs = g_ptr_array_new ();
  self->slots = g_array_new (FALSE, TRUE, sizeof (VnBlockSlot));
  self->slot_of = g_hash_table_new (NULL, NULL);
  self->hooks = g_array_new (FALSE, TRUE, sizeof (VnBlockHooked));
  self->order = g_array_new (FALSE, TRUE, sizeof (VnBlockAction));
  if (!block_take_nodes (self, graph, set, error))
    return NULL;
  if (outputs == NULL)
    block_find_outputs (self, set);
  else if (!block_take_outputs (self, outputs, error))
    return NULL;
  return g_steal_pointer (&self);
}

void
vn_block_free (VnBlock *self)
{
  if (self == NULL)
    return;
  g_clear_pointer (&self->fixed, vn_block_run_free);
  for (guint i = 0; i < VN_BLOCK_LANES; i++)
    g_clear_pointer (&self->lanes[i], vn_block_run_free);
  for (guint i = 0; i < self->slots->len; i++)
    g_clear_pointer (&vn_block_slot (self, i)->constant, vn_tensor_unref);
  for (guint i = 0; i < self->hooks->len; i++)
    g_free (vn_block_hooked (self, i)->gradients);
  for (guint k = 0; k < self->n_nodes; k++)
    {
      g_free (self->nodes[k].in);
      g_free (self->nodes[k].out);
    }
  g_free (self->nodes);
  g_array_unref (self->slots);
  g_array_unref (self->hooks);
  g_array_unref (self->order);
  g_hash_table_unref (self->slot_of);
  g_ptr_array_unref (self->inputs);
  g_ptr_array_unref (self->outputs);
  vn_model_unref (self->model);
  g_free (self);
}

/* ---- what it has ---- */

guint
vn_block_get_n_inputs (const VnBlock *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->inputs->len;
}

/**
 * vn_block_get_input:
 *
 * Returns: (transfer none): a value that is no constant, which nodes of the block read and do not compute
 */
VnValue *
vn_block_get_input (const VnBlock *self,
                    guint          i)
{
  g_return_val_if_fail (self != NULL && i < self->inputs->len, NULL);

  return g_ptr_array_index (self->inputs, i);
}

guint
vn_block_get_n_outputs (const VnBlock *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->outputs->len;
}

VnValue *
vn_block_get_output (const VnBlock *self,
                     guint          i)
{
  g_return_val_if_fail (self != NULL && i < self->outputs->len, NULL);

  return g_ptr_array_index (self->outputs, i);
}

/**
 * vn_block_get_constant:
 *
 * Returns: (transfer none) (nullable): the block's own copy of a float32 constant that its nodes read: what is written there is
 *   used from the next step on; %NULL if @value is no such
 */
VnTensor *
vn_block_get_constant (VnBlock       *self,
                       const VnValue *value)
{
  guint slot;

  g_return_val_if_fail (self != NULL && value != NULL, NULL);

  slot = vn_block_find_slot (self, value);
  if (slot == G_MAXUINT || vn_block_slot (self, slot)->constant == NULL ||
      vn_block_slot (self, slot)->constant->dtype != VN_DTYPE_F32)
    return NULL;
  return vn_block_slot (self, slot)->constant;
}

/**
 * vn_block_want_gradient:
 * @value: a constant, an input, or what a node of the block computes
 *
 * Asks for the gradient by @value as it is stored or computed, before hooks. What hooks learn is asked for by adding them.
 *
 * Returns: %FALSE with %VN_ERROR_SETTING if the block does not have such a float32 value
 */
gboolean
vn_block_want_gradient (VnBlock        *self,
                        const VnValue  *value,
                        GError        **error)
{
  guint slot;

  g_return_val_if_fail (self != NULL && value != NULL, FALSE);

  slot = vn_block_find_slot (self, value);
  if (slot == G_MAXUINT || (vn_block_slot (self, slot)->constant != NULL && vn_block_get_constant (self, value) == NULL))
    {
      g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("“%s” is not a float32 value of the trained nodes"), value->name);
      return FALSE;
    }
  vn_block_slot (self, slot)->is_wanted = TRUE;
  self->settled = FALSE;
  return TRUE;
}

/* Who has read @from reads @to. */
static void
block_redirect (VnBlock           *self,
                const VnBlockHook *hook,
                guint              from,
                guint              to)
{
  for (guint k = 0; k < self->n_nodes; k++)
    for (guint i = 0; i < self->nodes[k].node->inputs->len; i++)
      if (self->nodes[k].in[i] == (int) from && (hook->reader == NULL ||
                                                 (hook->reader == self->nodes[k].node && hook->input == i)))
        self->nodes[k].in[i] = (int) to;
}

static int
block_find_read (const VnBlock     *self,
                 const VnBlockHook *hook)
{
  for (guint k = 0; k < self->n_nodes; k++)
    if (self->nodes[k].node == hook->reader)
      return self->nodes[k].in[hook->input];
  return -1;
}

/**
 * vn_block_add_hook:
 * @hook: copied; @value is of the block, and a reader that it names has it as that input
 *
 * Returns: its number, for vn_block_get_hook_gradients()
 */
guint
vn_block_add_hook (VnBlock           *self,
                   const VnBlockHook *hook)
{
  VnBlockHooked hooked = { 0 };
  guint value;
  int from;

  g_return_val_if_fail (self != NULL && hook != NULL && hook->value != NULL, G_MAXUINT);
  g_return_val_if_fail (hook->reader == NULL || vn_node_get_input (hook->reader, hook->input) == hook->value, G_MAXUINT);
  value = vn_block_find_slot (self, hook->value);
  g_return_val_if_fail (value != G_MAXUINT, G_MAXUINT);
  from = hook->reader != NULL ? block_find_read (self, hook) : (int) vn_block_slot (self, value)->common;
  g_return_val_if_fail (from >= 0, G_MAXUINT);

  hooked.hook = *hook;
  hooked.gradients = g_new0 (float, hook->n_params + 1);
  hooked.slot = block_add_slot (self, hook->value, (int) self->hooks->len, (guint) from);
  g_array_append_val (self->hooks, hooked);
  block_redirect (self, hook, (guint) from, hooked.slot);
  if (hook->reader == NULL)
    vn_block_slot (self, value)->common = hooked.slot;
  self->settled = FALSE;
  return self->hooks->len - 1;
}

/**
 * vn_block_get_hook_gradients:
 * @hook: number of a hook
 *
 * Returns: (transfer none): of its n_params numbers, summed up over the items of the last step
 */
const float *
vn_block_get_hook_gradients (VnBlock *self,
                             guint    hook)
{
  g_return_val_if_fail (self != NULL && hook < self->hooks->len, NULL);

  return vn_block_hooked (self, hook)->gradients;
}
