/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Experimental operators of early ONNX, still found in old models: Affine, Scale, ParametricSoftplus, ScaledTanh,
 * ImageScaler, Crop. They were never in a later opset, so any version is taken. */
#include "vn-elem.h"

static gboolean
legacy_check_f32 (VnOpContext *ctx,
                  GError     **error)
{
  return ctx->in[0]->dtype == VN_DTYPE_F32 || vn_op_unsupported (ctx, 0, error);
}

/* y = alpha x + beta */
static gboolean
legacy_affine_run (VnOpContext *ctx,
                   GError     **error)
{
  float alpha = vn_node_get_float (ctx->node, "alpha", 1.f), beta = vn_node_get_float (ctx->node, "beta", 0.f);
  const float *x = ctx->in[0]->data;
  float *y = ctx->out[0]->data;

  if (!legacy_check_f32 (ctx, error))
    return FALSE;
  for (gsize i = 0; i < ctx->in[0]->n_elements; i++)
    y[i] = alpha * x[i] + beta;
  return TRUE;
}

static gboolean
legacy_scale_run (VnOpContext *ctx,
                  GError     **error)
{
  float scale = vn_node_get_float (ctx->node, "scale", 1.f);
  const float *x = ctx->in[0]->data;
  float *y = ctx->out[0]->data;

  if (!legacy_check_f32 (ctx, error))
    return FALSE;
  for (gsize i = 0; i < ctx->in[0]->n_elements; i++)
    y[i] = scale * x[i];
  return TRUE;
}

/* y = alpha ln (1 + e^(beta x)) */
static gboolean
legacy_parametric_softplus_run (VnOpContext *ctx,
                                GError     **error)
{
  float alpha = vn_node_get_float (ctx->node, "alpha", 1.f), beta = vn_node_get_float (ctx->node, "beta", 1.f);
  const float *x = ctx->in[0]->data;
  float *y = ctx->out[0]->data;

  if (!legacy_check_f32 (ctx, error))
    return FALSE;
  for (gsize i = 0; i < ctx->in[0]->n_elements; i++)
    {
      float t = beta * x[i];

      y[i] = alpha * (t > 0.f ? t + log1pf (expf (-t)) : log1pf (expf (t)));
    }
  return TRUE;
}

/* y = alpha tanh (beta x) */
static gboolean
legacy_scaled_tanh_run (VnOpContext *ctx,
                        GError     **error)
{
  float alpha = vn_node_get_float (ctx->node, "alpha", 1.f), beta = vn_node_get_float (ctx->node, "beta", 1.f);
  const float *x = ctx->in[0]->data;
  float *y = ctx->out[0]->data;

  if (!legacy_check_f32 (ctx, error))
    return FALSE;
  for (gsize i = 0; i < ctx->in[0]->n_elements; i++)
    y[i] = alpha * tanhf (beta * x[i]);
  return TRUE;
}

/* ---- ImageScaler: y = scale x + bias[channel] ---- */

static gboolean
legacy_image_scaler_infer (VnOpContext *ctx,
                           GError     **error)
{
  const VnShape *input = &ctx->in_types[0].shape;
  gsize n;

  vn_node_get_floats (ctx->node, "bias", &n);
  if (input->rank >= 0 && (input->rank != 4 || (input->dims[1] >= 0 && n > 0 && input->dims[1] != (gint64) n)))
    return vn_op_fail (ctx, error, _("ImageScaler: %zu biases for an input of %d dims with %lld"
                                     " channels"), n, input->rank, (long long) (input->rank > 1 ? input->dims[1] : 0));
  return vn_op_infer_same (ctx, error);
}

static gboolean
legacy_image_scaler_run (VnOpContext *ctx,
                         GError     **error)
{
  const VnShape *shape = &ctx->in[0]->shape;
  float scale = vn_node_get_float (ctx->node, "scale", 1.f);
  const float *x = ctx->in[0]->data, *bias;
  float *y = ctx->out[0]->data;
  gsize n, plane;

  if (!legacy_check_f32 (ctx, error))
    return FALSE;
  bias = vn_node_get_floats (ctx->node, "bias", &n);
  plane = (gsize) (shape->dims[2] * shape->dims[3]);
  for (gsize i = 0; i < ctx->in[0]->n_elements; i++)
    y[i] = x[i] * scale + (n > 0 ? bias[i / plane % n] : 0.f);
  return TRUE;
}

/* ---- Crop: border left, top, right, bottom; or left and top with a size ---- */

static gboolean
legacy_crop_window (VnOpContext *ctx,
                    gint64       window[4],
                    GError     **error)
{
  const VnShape *input = &ctx->in_types[0].shape;
  gsize n_border, n_scale;
  const gint64 *border = vn_node_get_ints (ctx->node, "border", &n_border);
  const gint64 *scale = vn_node_get_ints (ctx->node, "scale", &n_scale);

  if (n_border != 4 || (n_scale != 0 && n_scale != 2))
    return vn_op_fail (ctx, error, _("Crop: border has %zu values, scale has %zu; expected 4 and 2"), n_border, n_scale);
  for (guint i = 0; i < 4; i++)
    if (border[i] < 0 || border[i] > input->dims[i % 2 == 0 ? 3 : 2])
      return vn_op_fail (ctx, error, _("Crop: border %u is %lld"), i, (long long) border[i]);
  window[0] = border[1];
  window[1] = border[0];
  window[2] = n_scale == 2 ? scale[0] : input->dims[2] - border[1] - border[3];
  window[3] = n_scale == 2 ? scale[1] : input->dims[3] - border[0] - border[2];
  for (guint i = 0; i < 2; i++)
    if (window[2 + i] < 0 || window[2 + i] > input->dims[2 + i] - window[i])
      return vn_op_fail (ctx, error, _("Crop: %lld elements from offset %lld on exceed the size %lld"),
                         (long long) window[2 + i], (long long) window[i], (long long) input->dims[2 + i]);
  return TRUE;
}

static gboolean
legacy_crop_infer (VnOpContext *ctx,
                   GError     **error)
{
  VnShape out = ctx->in_types[0].shape;
  gint64 window[4];

  if (out.rank >= 0 && out.rank != 4)
    return vn_op_fail (ctx, error, _("Crop: the input must have 4 dims, found %d"), out.rank);
  if (out.rank == 4 && out.dims[2] >= 0 && out.dims[3] >= 0)
    {
      if (!legacy_crop_window (ctx, window, error))
        return FALSE;
      out.dims[2] = window[2];
      out.dims[3] = window[3];
    }
  else if (out.rank == 4)
    out.dims[2] = out.dims[3] = VN_DIM_UNKNOWN;
  vn_op_set_output (ctx, 0, ctx->in_types[0].dtype, &out);
  return TRUE;
}

static gboolean
legacy_crop_run (VnOpContext *ctx,
                 GError     **error)
{
  const VnShape *in = &ctx->in[0]->shape;
  gsize size = vn_elem_size (ctx->in[0]->dtype);
  gint64 window[4], h = in->dims[2], w = in->dims[3];
  VnCopy copy = { 0 };

  if (!vn_op_check_movable (ctx, error) || !legacy_crop_window (ctx, window, error))
    return FALSE;
  vn_copy_add_dim (&copy, in->dims[0] * in->dims[1], window[2] * window[3], h * w);
  vn_copy_add_dim (&copy, window[2], window[3], w);
  vn_copy_add_dim (&copy, window[3], 1, 1);
  vn_copy_run (&copy, size, ctx->out[0]->data,
               (const char *) ctx->in[0]->data + (gsize) (window[0] * w + window[1]) * size);
  return TRUE;
}

#define LEGACY(variable, name, types, group, infer_func, run_func)              \
  const VnOp variable = {                                                       \
    .domain = "", .type = name, .since = 1,                                     \
    .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, .max_outputs = 1,       \
    .dtypes = types,                                                            \
    .family = group,                                                            \
    .infer = infer_func,                                                        \
    .run = run_func,                                                            \
  };

#define F32_BIT VN_DTYPE_BIT (F32)

LEGACY (vn_op_affine_1, "Affine", F32_BIT, VN_FAMILY_ARITHMETIC, vn_op_infer_same, legacy_affine_run)
LEGACY (vn_op_scale_1, "Scale", F32_BIT, VN_FAMILY_ARITHMETIC, vn_op_infer_same, legacy_scale_run)
LEGACY (vn_op_parametric_softplus_1, "ParametricSoftplus", F32_BIT, VN_FAMILY_ACTIVATION, vn_op_infer_same,
        legacy_parametric_softplus_run)
LEGACY (vn_op_scaled_tanh_1, "ScaledTanh", F32_BIT, VN_FAMILY_ACTIVATION, vn_op_infer_same, legacy_scaled_tanh_run)
LEGACY (vn_op_image_scaler_1, "ImageScaler", F32_BIT, VN_FAMILY_ARITHMETIC, legacy_image_scaler_infer, legacy_image_scaler_run)
LEGACY (vn_op_crop_1, "Crop", VN_MOVABLE_BITS, VN_FAMILY_SHAPE, legacy_crop_infer, legacy_crop_run)
