/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Weights that are infinite, as masks of transformers hold them: a range with them cannot be quantized. */
#include "vn-rewrite-private.h"

#include <math.h>

/* exp (-10000) is 0, and even float16 holds it. */
#define FAR 10000.0f

static VnTensor *
finite_make_finite (const VnTensor  *tensor,
                    gboolean        *has_nan,
                    GError         **error)
{
  g_autoptr(VnTensor) result = NULL;
  const float *from = tensor->data;
  gsize n = 0;

  for (gsize i = 0; i < tensor->n_elements; i++)
    {
      n += isinf (from[i]) != 0;
      *has_nan = *has_nan || isnan (from[i]);
    }
  if (n == 0 || (result = vn_tensor_new_constant (VN_DTYPE_F32, &tensor->shape, error)) == NULL)
    return NULL;
  for (gsize i = 0; i < tensor->n_elements; i++)
    ((float *) result->data)[i] = isinf (from[i]) ? copysignf (FAR, from[i]) : from[i];
  return g_steal_pointer (&result);
}

static gboolean
finite_graph (VnPassContext  *ctx,
              VnGraph        *graph,
              GError        **error)
{
  for (guint i = 0; i < graph->initializers->len; i++)
    {
      VnValue *value = g_ptr_array_index (graph->initializers, i);
      g_autoptr(VnTensor) aligned = vn_rewrite_constant_f32 (value, NULL);
      gboolean has_nan = FALSE;
      GError *local = NULL;
      g_autoptr(VnTensor) finite = aligned != NULL ? finite_make_finite (aligned, &has_nan, &local) : NULL;

      if (local != NULL)
        {
          g_propagate_error (error, local);
          return FALSE;
        }
      if (has_nan)
        vn_notes_add (ctx->notes, VN_NOTE_WARNING, "nan-weights", value->name, _("NaN weights are kept"));
      if (finite == NULL)
        continue;
      vn_graph_set_initializer (graph, value, finite);
      vn_edit_log_add (ctx->log, "set", value->name, NULL, _("infinite weights become ±%g"), (double) FAR);
    }
  return TRUE;
}

static gboolean
finite_run (VnPassContext  *ctx,
            GError        **error)
{
  return vn_rewrite_each_graph (ctx, finite_graph, error);
}

const VnPass vn_pass_finite_weights = {
  .id = "finite-weights",
  .title = N_("Finite weights"),
  .summary = N_("Replaces infinite weights with 10000 or -10000."),
  .stage = VN_PASS_REQUEST,
  .alters = TRUE,
  .run = finite_run,
};
