/* SPDX-License-Identifier: GPL-3.0-or-later */
/* LayerNormalization: y = (x - mean) / sqrt (variance + epsilon) * scale + bias over the axes from `axis` on, and
 * RMSNormalization: y = x / sqrt (mean of squares + epsilon) * scale. */
#include "vn-elem.h"
#include "vn-norm-line.h"

#include <math.h>

enum { X, SCALE, BIAS };

/* Scale and bias must have the normalized axes' shape, or be one number; leading ones do not matter. */
static gboolean
layer_norm_check_factor (VnOpContext   *ctx,
                         guint          input,
                         const VnShape *x,
                         int            axis,
                         GError       **error)
{
  const VnShape *shape = &ctx->in_types[input].shape;
  gsize n, size = (gsize) vn_shape_count (x, axis, x->rank);

  if (!vn_op_has_input (ctx, input) || !vn_shape_is_static (shape) || !vn_shape_is_static (x))
    return TRUE;
  if (!vn_shape_n_elements (shape, &n) || (n != 1 && n != size))
    return vn_op_fail (ctx, error, _("input %u has %zu elements, but %zu are normalized together: expected one "
                                     "element or the same number"), input, n, size);
  return TRUE;
}

static gboolean
layer_norm_infer (VnOpContext *ctx,
                  GError     **error)
{
  const VnShape *x = &ctx->in_types[X].shape;
  VnShape statistics = *x;
  int axis;

  if (!vn_op_check_alike (ctx, 0x6, error))
    return FALSE;
  vn_op_set_output (ctx, 0, ctx->in_types[X].dtype, x);
  if (x->rank >= 0)
    {
      if (!vn_op_axis (ctx, x, vn_node_get_int (ctx->node, "axis", -1), &axis, error) ||
          !layer_norm_check_factor (ctx, SCALE, x, axis, error) ||
          !layer_norm_check_factor (ctx, BIAS, x, axis, error))
        return FALSE;
      for (int i = axis; i < x->rank; i++)
        statistics.dims[i] = 1;
    }
  for (guint i = 1; i < ctx->n_outputs; i++)
    vn_op_set_output (ctx, i, VN_DTYPE_F32, &statistics);
  return TRUE;
}

typedef struct
{
  const VnOpContext *ctx;
  gsize              size;
  double             epsilon;
  gboolean           centred;
} LayerNorm;

static void
layer_norm_store_statistics (const VnOpContext *ctx,
                             gsize              line,
                             float              mean,
                             float              factor)
{
  if (ctx->n_outputs > 1 && ctx->out[1] != NULL)
    ((float *) ctx->out[1]->data)[line] = mean;
  if (ctx->n_outputs > 2 && ctx->out[2] != NULL)
    ((float *) ctx->out[2]->data)[line] = factor;
}

static void
layer_norm_line_f64 (const LayerNorm *self,
                     gsize            line)
{
  const VnOpContext *ctx = self->ctx;
  const VnTensor *scale = ctx->in[SCALE], *bias = vn_op_has_input (ctx, BIAS) ? ctx->in[BIAS] : NULL;
  const double *x = (const double *) ctx->in[X]->data + line * self->size;
  double *y = (double *) ctx->out[0]->data + line * self->size, mean = 0, squares = 0, factor;

  for (gsize i = 0; self->centred && i < self->size; i++)
    mean += x[i] / (double) self->size;
  for (gsize i = 0; i < self->size; i++)
    squares += (x[i] - mean) * (x[i] - mean);
  factor = 1 / sqrt (squares / (double) self->size + self->epsilon);
  for (gsize i = 0; i < self->size; i++)
    {
      double b = bias != NULL ? ((const double *) bias->data)[bias->n_elements > 1 ? i : 0] : 0;

      y[i] = (x[i] - mean) * factor * ((const double *) scale->data)[scale->n_elements > 1 ? i : 0] + b;
    }
  layer_norm_store_statistics (ctx, line, (float) mean, (float) factor);
}

static void
layer_norm_line (gpointer data,
                 gsize    item,
                 guint    worker)
{
  const LayerNorm *self = data;
  const VnOpContext *ctx = self->ctx;
  const VnTensor *scale = ctx->in[SCALE], *bias = vn_op_has_input (ctx, BIAS) ? ctx->in[BIAS] : NULL;
  const float *x = (const float *) ctx->in[X]->data + item * self->size;
  float mean, factor;

  if (ctx->in[X]->dtype == VN_DTYPE_F64)
    {
      layer_norm_line_f64 (self, item);
      return;
    }
  vn_norm_measure (x, self->size, self->centred, self->epsilon, &mean, &factor);
  vn_norm_scale (x, (float *) ctx->out[0]->data + item * self->size, self->size, mean, factor, scale->data,
                 scale->n_elements > 1, bias != NULL ? bias->data : NULL, bias != NULL && bias->n_elements > 1);
  layer_norm_store_statistics (ctx, item, mean, factor);
}

static gboolean
layer_norm_run_lines (VnOpContext *ctx,
                      gboolean     centred,
                      GError     **error)
{
  const VnShape *x = &ctx->in[X]->shape;
  LayerNorm job = { ctx, 0, vn_node_get_float (ctx->node, "epsilon", 1e-5f), centred };
  int axis;

  if (!vn_op_axis (ctx, x, vn_node_get_int (ctx->node, "axis", -1), &axis, error))
    return FALSE;
  job.size = (gsize) vn_shape_count (x, axis, x->rank);
  vn_op_for_items (ctx, (gsize) vn_shape_count (x, 0, axis), (double) job.size * 3, layer_norm_line, &job);
  return TRUE;
}

static gboolean
layer_norm_run (VnOpContext *ctx,
                GError     **error)
{
  return layer_norm_run_lines (ctx, TRUE, error);
}

static gboolean
layer_norm_rms_norm_run (VnOpContext *ctx,
                         GError     **error)
{
  return layer_norm_run_lines (ctx, FALSE, error);
}

/* Since 17 in ONNX; before, ONNX Runtime knew it under the same name. */
const VnOp vn_op_layer_normalization_1 = {
  .domain = "", .type = "LayerNormalization", .since = 1,
  .min_inputs = 2, .max_inputs = 3, .min_outputs = 1, .max_outputs = 3,
  .dtypes = VN_DTYPE_BIT (F32) | VN_DTYPE_BIT (F64),
  .stand_ins = VN_STAND_IN_HALVES,
  .same_dtype = 1u << 1 | 1u << 2,
  .family = VN_FAMILY_POOL_NORM,
  .quant = { VN_QUANT_NORM, SCALE, BIAS, -1, TRUE },
  .infer = layer_norm_infer,
  .run = layer_norm_run,
};

const VnOp vn_op_rms_normalization_23 = {
  .domain = "", .type = "RMSNormalization", .since = 23,
  .min_inputs = 2, .max_inputs = 2, .min_outputs = 1, .max_outputs = 1,
  .dtypes = VN_DTYPE_BIT (F32) | VN_DTYPE_BIT (F64),
  .stand_ins = VN_STAND_IN_HALVES,
  .same_dtype = 1u << 1 | 1u << 2,
  .family = VN_FAMILY_POOL_NORM,
  .quant = VN_QUANT_TRAITS (VN_QUANT_OPAQUE, FALSE),
  .infer = layer_norm_infer,
  .run = layer_norm_rms_norm_run,
};

const VnOp vn_op_simplified_layer_normalization_1 = {
  .domain = "", .type = "SimplifiedLayerNormalization", .since = 1,
  .min_inputs = 2, .max_inputs = 2, .min_outputs = 1, .max_outputs = 1,
  .dtypes = VN_DTYPE_BIT (F32) | VN_DTYPE_BIT (F64),
  .stand_ins = VN_STAND_IN_HALVES,
  .same_dtype = 1u << 1 | 1u << 2,
  .family = VN_FAMILY_POOL_NORM,
  .quant = VN_QUANT_TRAITS (VN_QUANT_OPAQUE, FALSE),
  .infer = layer_norm_infer,
  .run = layer_norm_rms_norm_run,
};
