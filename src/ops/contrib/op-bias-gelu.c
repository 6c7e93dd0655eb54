/* SPDX-License-Identifier: GPL-3.0-or-later */
/* BiasGelu and FastGelu of ONNX Runtime: gelu (x + bias), by erf and by tanh; the bias runs along the last axis. */
#include "vn-vecmath.h"

static gboolean
bias_gelu_infer (VnOpContext *ctx,
                 GError     **error)
{
  const VnShape *x = &ctx->in_types[0].shape;

  if (!vn_op_check_alike (ctx, 0x2, error))
    return FALSE;
  if (vn_op_has_input (ctx, 1))
    {
      const VnShape *b = &ctx->in_types[1].shape;

      if (b->rank >= 0 && x->rank >= 0 &&
          (b->rank != 1 || x->rank < 1 ||
           (b->dims[0] >= 0 && x->dims[x->rank - 1] >= 0 && b->dims[0] != x->dims[x->rank - 1])))
        return vn_op_fail (ctx, error, _("the bias must have one element for each element of the last axis"));
    }
  return vn_op_infer_same (ctx, error);
}

VN_MULTIVERSION
static void
bias_gelu_erf_line (const float *x,
                    const float *bias,
                    float       *y,
                    gsize        n)
{
  for (gsize i = 0; i < n; i++)
    {
      float v = x[i] + bias[i];

      y[i] = 0.5f * v * (1.f + vn_erff (v * 0.707106781f));
    }
}

VN_MULTIVERSION
static void
bias_gelu_tanh_line (const float *x,
                     const float *bias,
                     float       *y,
                     gsize        n)
{
  for (gsize i = 0; i < n; i++)
    {
      float v = bias != NULL ? x[i] + bias[i] : x[i];

      y[i] = 0.5f * v * (1.f + vn_tanhf (0.797884561f * (v + 0.044715f * v * v * v)));
    }
}

typedef struct
{
  const VnOpContext *ctx;
  gsize              line;
  void             (*func) (const float *x, const float *bias, float *y, gsize n);
} BiasGelu;

static void
gelu_item (gpointer data,
           gsize    item,
           guint    worker)
{
  const BiasGelu *self = data;
  const VnOpContext *ctx = self->ctx;

  self->func ((const float *) ctx->in[0]->data + item * self->line, vn_op_has_input (ctx, 1) ? ctx->in[1]->data : NULL,
              (float *) ctx->out[0]->data + item * self->line, self->line);
}

static gboolean
bias_gelu_run_lines (VnOpContext *ctx,
                     void       (*func) (const float *x, const float *bias, float *y, gsize n))
{
  const VnShape *x = &ctx->in[0]->shape;
  BiasGelu job = { ctx, x->rank > 0 ? (gsize) x->dims[x->rank - 1] : 1, func };

  if (job.line > 0)
    vn_op_for_items (ctx, ctx->in[0]->n_elements / job.line, (double) job.line * 8, gelu_item, &job);
  return TRUE;
}

static gboolean
bias_gelu_run (VnOpContext *ctx,
               GError     **error)
{
  return bias_gelu_run_lines (ctx, bias_gelu_erf_line);
}

static gboolean
bias_gelu_fast_gelu_run (VnOpContext *ctx,
                         GError     **error)
{
  return bias_gelu_run_lines (ctx, bias_gelu_tanh_line);
}

#define OPERATOR(id, type_, least, run_)                                     \
const VnOp vn_op_ms_##id = {                                                 \
  .domain = "com.microsoft", .type = type_, .since = 1,                      \
  .min_inputs = least, .max_inputs = 2, .min_outputs = 1, .max_outputs = 1,  \
  .dtypes = VN_DTYPE_BIT (F32),                                              \
  .stand_ins = VN_STAND_IN_HALVES,                                           \
  .family = VN_FAMILY_ACTIVATION,                                            \
  .quant = VN_QUANT_TRAITS (VN_QUANT_GENERIC, FALSE),                        \
  .infer = bias_gelu_infer,                                                  \
  .run = run_,                                                               \
};

OPERATOR (bias_gelu, "BiasGelu", 2, bias_gelu_run)
OPERATOR (fast_gelu, "FastGelu", 1, bias_gelu_fast_gelu_run)
