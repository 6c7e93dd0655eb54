/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Operators pack the constants they read, once for all runs. */
#include "vn-plan-passes.h"

#include "vn-parallel.h"

static gboolean
prepare_item (gsize      item,
              guint      worker,
              gpointer   data,
              GError   **error)
{
  VnPlan *self = data;

  return vn_plan_pack_step (self, g_ptr_array_index (self->steps, item), error);
}

/**
 * vn_plan_prepare:
 *
 * Lets operators pack their constant inputs. Sizes of the others may be unknown where they depend on data. Steps do not
 * touch each other's weights, and large networks have much to pack: bodies are too small to wake other threads for. Where
 * not all may be kept, the first steps come first.
 */
gboolean
vn_plan_prepare (VnPlan  *self,
                 GError **error)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return vn_parallel_for (self->depth > 0 || self->most_weights > 0 ? 1 : vn_parallel_default_threads (), self->steps->len,
                          prepare_item,
                          self, NULL, error);
}
