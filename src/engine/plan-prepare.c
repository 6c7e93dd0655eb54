/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Operators pack the constants they read, once for all runs. */
#include "vn-plan-passes.h"

#include "vn-file.h"
#include "vn-parallel.h"

static gboolean
prepare_step (VnPlan    *self,
              VnStep    *step,
              GError   **error)
{
  g_autofree VnTensor **in = g_new0 (VnTensor *, step->n_inputs + 1);
  g_autofree VnTensor **out = g_new0 (VnTensor *, step->n_outputs + 1);
  VnOpContext ctx;

  for (guint i = 0; i < step->n_inputs; i++)
    in[i] = step->inputs[i] >= 0 ? self->values[step->inputs[i]].constant : NULL;
  vn_step_init_context (step, &ctx);
  ctx.in = in;
  ctx.out = out;
  if (vn_op_prepare (&ctx, &step->prepared, error))
    return TRUE;
  vn_step_prefix_error (step, error);
  return FALSE;
}

/* Operators that prepare pack input 1, the weight: an aligned copy of it gives way to the view into the file, and the
 * pages of the file to the packed form. */
static void
plan_prepare_drop_read_weight (VnPlan       *self,
                               const VnStep *step)
{
  VnPlanValue *weight = step->n_inputs > 1 && step->inputs[1] >= 0 ? &self->values[step->inputs[1]] : NULL;
  VnTensor *original = weight != NULL && weight->constant != NULL ? vn_value_get_constant (weight->value) : NULL;

  if (step->prepared == NULL || original == NULL || weight->n_uses != 1 || weight->output >= 0)
    return;
  vn_file_release_pages (original->data, original->n_bytes);
  if (original == weight->constant)
    return;
  vn_tensor_unref (weight->constant);
  weight->constant = vn_tensor_ref (original);
}

static gboolean
prepare_item (gsize      item,
              guint      worker,
              gpointer   data,
              GError   **error)
{
  VnPlan *self = data;
  VnStep *step = g_ptr_array_index (self->steps, item);

  if (!prepare_step (self, step, error))
    return FALSE;
  plan_prepare_drop_read_weight (self, step);
  return TRUE;
}

/**
 * vn_plan_prepare:
 *
 * Lets operators pack their constant inputs. Sizes of the others may be unknown where they depend on data. Steps do not
 * touch each other's weights, and large networks have much to pack: bodies are too small to wake other threads for.
 */
gboolean
vn_plan_prepare (VnPlan  *self,
                 GError **error)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return vn_parallel_for (self->depth > 0 ? 1 : vn_parallel_default_threads (), self->steps->len, prepare_item, self,
                          NULL, error);
}
