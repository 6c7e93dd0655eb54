/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A step of training: constants once, then all items over threads, then what they have summed up. */
#include "vn-train-block-private.h"

#include "vn-float-mode.h"
#include "vn-gradient-private.h"
#include "vn-parallel.h"

typedef struct
{
  VnBlock         *block;
  guint            n_items, n_lanes;
  VnBlockItemFunc  func;
  gpointer         data;
  GCancellable    *cancellable;
} Step;

/* Runs are made anew after hooks were added: they have a place for each. */
static gboolean
block_step_prepare (VnBlock  *self,
                    guint     n_lanes,
                    GError  **error)
{
  gboolean fresh = self->settled;

  if (!vn_block_settle (self, error))
    return FALSE;
  for (guint i = 0; i < VN_BLOCK_LANES && !fresh; i++)
    g_clear_pointer (&self->lanes[i], vn_block_run_free);
  if (!fresh)
    g_clear_pointer (&self->fixed, vn_block_run_free);
  if (self->fixed == NULL && (self->fixed = vn_block_run_new (self, TRUE, error)) == NULL)
    return FALSE;
  if (!vn_block_run_begin (self->fixed, error) || !vn_block_run_forward_all (self->fixed, error))
    return FALSE;
  for (guint i = 0; i < n_lanes; i++)
    if ((self->lanes[i] == NULL && (self->lanes[i] = vn_block_run_new (self, FALSE, error)) == NULL) ||
        !vn_block_run_begin (self->lanes[i], error))
      return FALSE;
  return TRUE;
}

static gboolean
block_step_run_lane (gsize      lane,
                     guint      worker,
                     gpointer   data,
                     GError   **error)
{
  const Step *step = data;
  VnBlockRun *run = step->block->lanes[lane];

  for (guint item = (guint) lane; item < step->n_items; item += step->n_lanes)
    {
      run->item = item;
      if (g_cancellable_set_error_if_cancelled (step->cancellable, error) || !step->func (run, item, step->data, error))
        return FALSE;
    }
  return TRUE;
}

/* ---- sums over the lanes, in their order ---- */

static gboolean
block_step_sum_slot (gsize      slot,
                     guint      worker,
                     gpointer   data,
                     GError   **error)
{
  const Step *step = data;
  VnBlock *block = step->block;
  VnTensor *sum;

  if (!vn_block_slot (block, (guint) slot)->is_fixed)
    return TRUE;
  for (guint i = 0; i < step->n_lanes; i++)
    {
      if (!block->lanes[i]->reached[slot])
        continue;
      sum = vn_block_run_reach (block->fixed, (guint) slot, error);
      if (sum == NULL)
        return FALSE;
      vn_gradient_add_scaled (sum->data, block->lanes[i]->gradients[slot]->data, 1, sum->n_elements);
    }
  return TRUE;
}

static void
block_step_sum_hooks (const Step *step)
{
  for (guint h = 0; h < step->block->hooks->len; h++)
    {
      VnBlockHooked *hooked = vn_block_hooked (step->block, h);

      memset (hooked->gradients, 0, sizeof *hooked->gradients * hooked->hook.n_params);
      if (step->block->fixed->params[h] != NULL)
        vn_gradient_add_scaled (hooked->gradients, step->block->fixed->params[h], 1, hooked->hook.n_params);
      for (guint i = 0; i < step->n_lanes; i++)
        if (step->block->lanes[i]->params[h] != NULL)
          vn_gradient_add_scaled (hooked->gradients, step->block->lanes[i]->params[h], 1, hooked->hook.n_params);
    }
}

static gboolean
block_step_finish (Step    *step,
                   guint    n_threads,
                   GError **error)
{
  gboolean went_back = FALSE;

  for (guint i = 0; i < step->n_lanes; i++)
    went_back = went_back || step->block->lanes[i]->went_back;
  if (went_back && (!vn_parallel_for (n_threads, step->block->slots->len, block_step_sum_slot, step, NULL, error) ||
                    !vn_block_run_back_all (step->block->fixed, error)))
    return FALSE;
  block_step_sum_hooks (step);
  return TRUE;
}

/**
 * vn_block_step:
 * @n_items: at least 1
 * @n_threads: 0: as many as there are processors; more than 8 are not used. The results do not depend on it
 * @func: called once for each item, in the threads
 * @cancellable: (nullable): looked at between items
 *
 * Runs all items with constants and hooks as they are now. If @func brings gradients back, vn_block_get_gradient() and
 * vn_block_get_hook_gradients() give their sums over the items afterwards.
 *
 * Returns: %FALSE with the error of @func or of a node, which is named, with %VN_ERROR_UNSUPPORTED if a gradient cannot
 *   be brought back to where it is wanted, or %G_IO_ERROR_CANCELLED
 */
gboolean
vn_block_step (VnBlock          *self,
               guint             n_items,
               guint             n_threads,
               VnBlockItemFunc   func,
               gpointer          data,
               GCancellable     *cancellable,
               GError          **error)
{
  Step step = { self, n_items, MIN (n_items, VN_BLOCK_LANES), func, data, cancellable };
  gboolean good;
  guint mode;

  g_return_val_if_fail (self != NULL && n_items > 0 && func != NULL, FALSE);

  if (n_threads == 0)
    n_threads = vn_parallel_default_threads ();
  mode = vn_float_mode_begin (TRUE);
  good = block_step_prepare (self, step.n_lanes, error) &&
         vn_parallel_for (n_threads, step.n_lanes, block_step_run_lane, &step, cancellable, error) &&
         block_step_finish (&step, n_threads, error);
  vn_float_mode_end (mode);
  return good;
}

/**
 * vn_block_get_gradient:
 * @value: a constant whose gradient is wanted
 *
 * Returns: (transfer none) (nullable): summed up over the items of the last step; %NULL if no gradient has come there
 */
const VnTensor *
vn_block_get_gradient (VnBlock       *self,
                       const VnValue *value)
{
  guint slot;

  g_return_val_if_fail (self != NULL && value != NULL, NULL);

  slot = vn_block_find_slot (self, value);
  g_return_val_if_fail (slot != G_MAXUINT, NULL);
  return self->fixed != NULL && slot < self->fixed->n_slots && self->fixed->reached[slot] ? self->fixed->gradients[slot] : NULL;
}
