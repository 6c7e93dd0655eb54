/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The memory of a run. */
#include "vn-runner-private.h"

#include "vn-i18n.h"

#include <stdlib.h>
#include <string.h>

/**
 * vn_runner_reserve_scratch:
 *
 * Sees to it that the runner's scratch has at least @size bytes.
 */
gboolean
vn_runner_reserve_scratch (VnRunner  *self,
                           gsize      size,
                           GError   **error)
{
  gpointer scratch;

  if (self->scratch != NULL && size <= self->scratch_size)
    return TRUE;
  scratch = vn_engine_alloc (size, _("the workspace"), error);
  if (scratch == NULL)
    return FALSE;
  free (self->scratch);
  self->scratch = scratch;
  self->scratch_size = size;
  return TRUE;
}

static gboolean
runner_wrap_arena (VnRunner  *self,
                   GError   **error)
{
  for (guint id = 0; id < self->plan->n_values; id++)
    {
      const VnPlanValue *value = &self->plan->values[id];

      if (value->store == VN_STORE_CONSTANT)
        self->tensors[id] = value->constant != NULL ? vn_tensor_ref (value->constant) : NULL;
      if (value->store != VN_STORE_ARENA)
        continue;
      self->tensors[id] = vn_tensor_new_wrap (value->type.dtype, &value->type.shape, self->arena + value->offset,
                                              NULL, NULL, error);
      if (self->tensors[id] == NULL)
        return FALSE;
    }
  return TRUE;
}

static gboolean
runner_make_bodies (VnRunner  *self,
                    GError   **error)
{
  self->bodies = g_new0 (VnRunner **, self->plan->steps->len + 1);
  for (guint i = 0; i < self->plan->steps->len; i++)
    {
      const VnStep *step = g_ptr_array_index (self->plan->steps, i);

      if (step->bodies == NULL)
        continue;
      self->bodies[i] = g_new0 (VnRunner *, step->bodies->len + 1);
      for (guint b = 0; b < step->bodies->len; b++)
        {
          const VnBody *body = g_ptr_array_index (step->bodies, b);

          if (body->plan != NULL && (self->bodies[i][b] = vn_runner_new (body->plan, error)) == NULL)
            return FALSE;
        }
    }
  return TRUE;
}

static void
runner_free_bodies (VnRunner *self)
{
  for (guint i = 0; self->bodies != NULL && i < self->plan->steps->len; i++)
    {
      const VnStep *step = g_ptr_array_index (self->plan->steps, i);

      for (guint b = 0; self->bodies[i] != NULL && b < step->bodies->len; b++)
        g_clear_pointer (&self->bodies[i][b], vn_runner_free);
      g_free (self->bodies[i]);
    }
  g_free (self->bodies);
}

/**
 * vn_runner_new:
 * @plan: kept alive by the runner
 *
 * Returns: (transfer full) (nullable): memory to run @plan once at a time, or %NULL with %VN_ERROR_MEMORY
 */
VnRunner *
vn_runner_new (VnPlan  *plan,
               GError **error)
{
  g_autoptr(VnRunner) self = g_new0 (VnRunner, 1);

  g_return_val_if_fail (plan != NULL, NULL);

  self->plan = vn_plan_ref (plan);
  self->n_threads = 1;
  self->round = &self->own_round;
  self->tensors = g_new0 (VnTensor *, plan->n_values + 1);
  self->displaced = g_array_new (FALSE, FALSE, sizeof (VnDisplaced));
  self->grown = g_new0 (gsize, plan->n_values + 1);
  self->skips = g_new0 (gboolean, plan->steps->len + 1);
  g_mutex_init (&self->ends.lock);
  self->in = g_new0 (VnTensor *, plan->max_inputs + 1);
  self->out = g_new0 (VnTensor *, plan->max_outputs + 1);
  self->in_types = g_new0 (VnTensorType, plan->max_inputs + 1);
  self->out_types = g_new0 (VnTensorType, plan->max_outputs + 1);
  self->arena = vn_engine_alloc (plan->arena_size, _("the activations"), error);
  if (self->arena == NULL || !vn_runner_reserve_scratch (self, plan->scratch_size, error) ||
      !runner_wrap_arena (self, error) || !runner_make_bodies (self, error))
    return NULL;
  return g_steal_pointer (&self);
}

void
vn_runner_free (VnRunner *self)
{
  for (guint id = 0; id < self->plan->n_values; id++)
    g_clear_pointer (&self->tensors[id], vn_tensor_unref);
  g_free (self->tensors);
  g_array_unref (self->displaced);
  g_free (self->grown);
  g_free (self->skips);
  g_free (self->ends.low);
  g_free (self->ends.high);
  g_mutex_clear (&self->ends.lock);
  g_free (self->in);
  g_free (self->out);
  g_free (self->in_types);
  g_free (self->out_types);
  free (self->arena);
  free (self->scratch);
  runner_free_bodies (self);
  g_clear_pointer (&self->variant, vn_runner_free);
  vn_plan_unref (self->plan);
  g_free (self);
}

/**
 * vn_runner_set_threads:
 * @n_threads: how many threads an operator may use; at least 1. The results do not depend on it.
 */
void
vn_runner_set_threads (VnRunner *self,
                       guint     n_threads)
{
  g_return_if_fail (self != NULL);

  self->n_threads = MAX (n_threads, 1);
}

/**
 * vn_runner_set_tap:
 * @func: (nullable): called in vn_runner_run() for each tapped value
 */
void
vn_runner_set_tap (VnRunner  *self,
                   VnTapFunc  func,
                   gpointer   data)
{
  g_return_if_fail (self != NULL);

  self->tap = func;
  self->tap_data = data;
}

/**
 * vn_runner_set_blocks_tap:
 * @func: (nullable): called in vn_runner_run() for each tapped value whose channels lie in blocks
 */
void
vn_runner_set_blocks_tap (VnRunner        *self,
                          VnBlocksTapFunc  func)
{
  g_return_if_fail (self != NULL);

  self->blocks_tap = func;
}

/**
 * vn_runner_set_ends_tap:
 * @func: (nullable): called in vn_runner_run() for tapped values that need not be told element by element
 */
void
vn_runner_set_ends_tap (VnRunner      *self,
                        VnEndsTapFunc  func)
{
  g_return_if_fail (self != NULL);

  self->ends_tap = func;
}

/**
 * vn_runner_set_timing:
 * @step_usec: (nullable): vn_plan_get_n_steps() counters of microseconds, added to in each run; without the time
 *   taken by taps
 */
void
vn_runner_set_timing (VnRunner *self,
                      gint64   *step_usec)
{
  g_return_if_fail (self != NULL);

  self->step_usec = step_usec;
}

/**
 * vn_runner_displace:
 * @tensor: (transfer full): what value @id is until the run ends
 */
void
vn_runner_displace (VnRunner *self,
                    guint     id,
                    VnTensor *tensor)
{
  VnDisplaced displaced = { id, self->tensors[id] };

  if (self->plan->values[id].store == VN_STORE_ARENA)
    g_array_append_val (self->displaced, displaced);
  else
    g_clear_pointer (&self->tensors[id], vn_tensor_unref);
  self->tensors[id] = tensor;
}

/**
 * vn_runner_clear_run:
 *
 * Gives back what was kept for one run only.
 */
void
vn_runner_clear_run (VnRunner *self)
{
  for (guint i = self->displaced->len; i-- > 0;)
    {
      const VnDisplaced *displaced = &g_array_index (self->displaced, VnDisplaced, i);

      vn_tensor_unref (self->tensors[displaced->id]);
      self->tensors[displaced->id] = displaced->tensor;
    }
  g_array_set_size (self->displaced, 0);
  memset (self->grown, 0, self->plan->n_values * sizeof self->grown[0]);
  self->n_grown = 0;
  for (guint id = 0; id < self->plan->n_values; id++)
    if (self->plan->values[id].store == VN_STORE_HEAP || self->plan->values[id].store == VN_STORE_INPUT)
      g_clear_pointer (&self->tensors[id], vn_tensor_unref);
}
