/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "vn-jobs.h"

#include "vn-pass.h"

static gboolean
has_half (const VnModel *model)
{
  for (guint i = 0; i < model->graph->values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (model->graph->values, i);

      if (value->type.kind == VN_TYPE_TENSOR && value->type.dtype == VN_DTYPE_F16)
        return TRUE;
    }
  return FALSE;
}

/**
 * vn_model_to_runnable:
 *
 * The engine computes in float32; a network in float16 runs converted.
 *
 * Returns: (transfer full) (nullable): @model itself, or a converted copy
 */
VnModel *
vn_model_to_runnable (VnModel       *model,
                      GCancellable  *cancellable,
                      GError       **error)
{
  g_autoptr(VnModel) copy = NULL;
  VnPassContext ctx = { .cancellable = cancellable };

  if (!has_half (model))
    return vn_model_ref (model);
  copy = vn_model_copy (model);
  ctx.model = copy;
  if (!vn_pass_run ("fp16-to-fp32", &ctx, error) || !vn_model_infer_types (copy, NULL, NULL, error))
    return NULL;
  return g_steal_pointer (&copy);
}
