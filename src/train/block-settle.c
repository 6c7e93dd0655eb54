/* SPDX-License-Identifier: GPL-3.0-or-later */
/* In which order nodes and hooks of a block are run, what of it only depends on constants, where gradients have to go. */
#include "vn-train-block-private.h"

static void
block_settle_add (VnBlock  *self,
                  gboolean  is_hook,
                  gboolean  is_fixed,
                  guint     index)
{
  VnBlockAction action = { is_hook, is_fixed, index };

  g_array_append_val (self->order, action);
}

/* Hooks on a slot come right behind what makes it; hooks on what they make behind them. */
static void
block_settle_add_hooks (VnBlock *self,
                        guint    from)
{
  for (guint h = 0; h < self->hooks->len; h++)
    {
      guint to = vn_block_hooked (self, h)->slot;
      VnBlockSlot *slot = vn_block_slot (self, to);

      if (slot->from != from)
        continue;
      slot->is_fixed = vn_block_slot (self, from)->is_fixed;
      slot->needs = slot->is_wanted || vn_block_slot (self, from)->needs || vn_block_hooked (self, h)->hook.n_params > 0;
      block_settle_add (self, TRUE, slot->is_fixed, h);
      block_settle_add_hooks (self, to);
    }
}

static gboolean
block_settle_node (VnBlock      *self,
                   VnBlockNode  *node,
                   gboolean     *needs,
                   GError      **error)
{
  gboolean any = FALSE;

  *needs = FALSE;
  node->is_fixed = TRUE;
  for (guint i = 0; i < node->node->inputs->len; i++)
    {
      const VnBlockSlot *slot = node->in[i] >= 0 ? vn_block_slot (self, (guint) node->in[i]) : NULL;

      if (slot == NULL)
        continue;
      node->is_fixed = node->is_fixed && slot->is_fixed;
      any = any || slot->needs;
      *needs = *needs || (slot->needs && vn_gradient_has_input (node->gradient, i));
    }
  return !any || vn_gradient_check_node (node->node, error);
}

/**
 * vn_block_settle:
 *
 * To be called before the block is run. Hooks and wishes that were added since are taken into account.
 *
 * Returns: %FALSE with %VN_ERROR_UNSUPPORTED if a gradient has to pass a node that it cannot pass
 */
gboolean
vn_block_settle (VnBlock  *self,
                 GError  **error)
{
  if (self->settled)
    return TRUE;
  g_array_set_size (self->order, 0);
  for (guint i = 0; i < self->slots->len; i++)
    {
      VnBlockSlot *slot = vn_block_slot (self, i);

      if (!slot->is_source)
        continue;
      slot->needs = slot->is_wanted;
      block_settle_add_hooks (self, i);
    }
  for (guint k = 0; k < self->n_nodes; k++)
    {
      VnBlockNode *node = &self->nodes[k];
      gboolean needs;

      if (!block_settle_node (self, node, &needs, error))
        return FALSE;
      block_settle_add (self, FALSE, node->is_fixed, k);
      for (guint i = 0; i < node->node->outputs->len; i++)
        {
          VnBlockSlot *slot = node->out[i] >= 0 ? vn_block_slot (self, (guint) node->out[i]) : NULL;

          if (slot == NULL)
            continue;
          slot->is_fixed = node->is_fixed;
          slot->needs = slot->is_wanted || needs;
          block_settle_add_hooks (self, (guint) node->out[i]);
        }
    }
  self->settled = TRUE;
  return TRUE;
}
