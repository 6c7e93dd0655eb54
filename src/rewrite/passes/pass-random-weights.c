/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A network to hand out without what it has learned: weights become random numbers of the same range. */
#include "vn-rewrite-private.h"

#include <math.h>

static const char * const learned[] = { "Conv", "ConvTranspose", "Gemm", "MatMul", "LSTM", "GRU", "RNN", "Gather", "PRelu",
                                        NULL };

static gboolean
random_weights_is_learned (const VnValue *value)
{
  for (guint i = 0; i < value->uses->len; i++)
    {
      const VnUse *use = &g_array_index (value->uses, VnUse, i);

      if (*use->node->domain == '\0' && g_strv_contains (learned, use->node->op_type))
        return TRUE;
    }
  return FALSE;
}

static gboolean
random_weights_find_range (const VnTensor *tensor,
                           double         *min,
                           double         *max)
{
  *min = INFINITY;
  *max = -INFINITY;
  for (gsize i = 0; i < tensor->n_elements; i++)
    {
      float number = ((const float *) tensor->data)[i];

      if (!isfinite (number))
        continue;
      *min = MIN (*min, number);
      *max = MAX (*max, number);
    }
  return *min < *max;
}

/* The same for the same name, and ends of the range that are met: whoever runs it twice gets the same file. */
static VnTensor *
random_weights_randomize (const VnTensor  *tensor,
                          const char      *name,
                          GError         **error)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed (g_str_hash (name));
  double min, max;
  VnTensor *result;

  if (!random_weights_find_range (tensor, &min, &max) ||
      (result = vn_tensor_new_constant (VN_DTYPE_F32, &tensor->shape, error)) == NULL)
    return NULL;
  for (gsize i = 0; i < result->n_elements; i++)
    ((float *) result->data)[i] = i < 2 ? (float) (i == 0 ? min : max) : (float) (min + (max - min) * g_rand_double (rand));
  if (vn_tensor_equal (result, tensor))
    g_clear_pointer (&result, vn_tensor_unref);
  return result;
}

static gboolean
random_graph (VnPassContext  *ctx,
              VnGraph        *graph,
              GError        **error)
{
  for (guint i = 0; i < graph->initializers->len; i++)
    {
      VnValue *value = g_ptr_array_index (graph->initializers, i);
      g_autoptr(VnTensor) aligned = random_weights_is_learned (value) ? vn_rewrite_constant_f32 (value, NULL) : NULL;
      GError *local = NULL;
      g_autoptr(VnTensor) random = aligned != NULL ? random_weights_randomize (aligned, value->name, &local) : NULL;

      if (local != NULL)
        {
          g_propagate_error (error, local);
          return FALSE;
        }
      if (random == NULL)
        continue;
      vn_graph_set_initializer (graph, value, random);
      vn_edit_log_add (ctx->log, "set", value->name, NULL, _("random values"));
    }
  return TRUE;
}

static gboolean
random_run (VnPassContext  *ctx,
            GError        **error)
{
  return vn_rewrite_each_graph (ctx, random_graph, error);
}

const VnPass vn_pass_random_weights = {
  .id = "random-weights",
  .title = N_("Random weights"),
  .summary = N_("Replaces float weights with random values of their range, to share a model without its trained weights."),
  .stage = VN_PASS_REQUEST,
  .alters = TRUE,
  .run = random_run,
};
