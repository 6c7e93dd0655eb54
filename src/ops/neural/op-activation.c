/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Operators that map one element to one, with up to two numbers from attributes. Each function is written twice:
 * for float32 in a form that becomes vector code, for float64 plainly. */
#include "vn-vecmath.h"

#include <math.h>

/* v: the element, a and b: the numbers of the attributes */
typedef void (*MapF32) (const float *x, float *y, gsize n, float a, float b);
typedef void (*MapF64) (const double *x, double *y, gsize n, double a, double b);

typedef struct
{
  const VnOpContext *ctx;
  MapF32             map_f32;
  MapF64             map_f64;
  float              a, b;
} Map;

static void
activation_map_range (gpointer data,
                      gsize    first,
                      gsize    n)
{
  const Map *self = data;
  const VnTensor *x = self->ctx->in[0];
  VnTensor *y = self->ctx->out[0];

  if (x->dtype == VN_DTYPE_F64)
    self->map_f64 ((const double *) x->data + first, (double *) y->data + first, n, self->a, self->b);
  else
    self->map_f32 ((const float *) x->data + first, (float *) y->data + first, n, self->a, self->b);
}

static gboolean
activation_map_run (VnOpContext *ctx,
                    MapF32       map_f32,
                    MapF64       map_f64,
                    float        a,
                    float        b)
{
  Map map = { ctx, map_f32, map_f64, a, b };

  vn_op_for_ranges (ctx, ctx->in[0]->n_elements, 4, activation_map_range, &map);
  return TRUE;
}

#define MAP_F32(name, expression)                                            \
VN_MULTIVERSION                                                              \
static void                                                                  \
name##_f32 (const float *x, float *y, gsize n, float a, float b)             \
{                                                                            \
  for (gsize i = 0; i < n; i++)                                              \
    {                                                                        \
      float v = x[i];                                                        \
      y[i] = (expression);                                                   \
    }                                                                        \
}

#define MAP_F64(name, expression)                                            \
static void                                                                  \
name##_f64 (const double *x, double *y, gsize n, double a, double b)         \
{                                                                            \
  for (gsize i = 0; i < n; i++)                                              \
    {                                                                        \
      double v = x[i];                                                       \
      y[i] = (expression);                                                   \
    }                                                                        \
}

#define MAP_RUN(name, a, b)                                                  \
static gboolean                                                              \
name##_run (VnOpContext *ctx, GError **error)                                \
{                                                                            \
  return activation_map_run (ctx, name##_f32, name##_f64, (a), (b));         \
}

#define ATTR(name, fallback) vn_node_get_float (ctx->node, name, fallback)

VN_INLINE float
clamp_unit_f32 (float v)
{
  v = v < 0.f ? 0.f : v;
  return v > 1.f ? 1.f : v;
}

VN_INLINE double
clamp_unit_f64 (double v)
{
  v = v < 0 ? 0 : v;
  return v > 1 ? 1 : v;
}

MAP_F32 (relu, v < 0.f ? 0.f : v)
MAP_F64 (relu, v < 0 ? 0 : v)
MAP_RUN (relu, 0, 0)

MAP_F32 (leaky_relu, v < 0.f ? v * a : v)
MAP_F64 (leaky_relu, v < 0 ? v * a : v)
MAP_RUN (leaky_relu, ATTR ("alpha", 0.01f), 0)

MAP_F32 (thresholded_relu, v <= a ? 0.f : v)
MAP_F64 (thresholded_relu, v <= a ? 0 : v)
MAP_RUN (thresholded_relu, ATTR ("alpha", 1.f), 0)

MAP_F32 (elu, v < 0.f ? a * vn_expm1f (v) : v)
MAP_F64 (elu, v < 0 ? a * expm1 (v) : v)
MAP_RUN (elu, ATTR ("alpha", 1.f), 0)

MAP_F32 (celu, v < 0.f ? a * vn_expm1f (v / a) : v)
MAP_F64 (celu, v < 0 ? a * expm1 (v / a) : v)
MAP_RUN (celu, ATTR ("alpha", 1.f), 0)

MAP_F32 (selu, b * (v <= 0.f ? a * vn_expm1f (v) : v))
MAP_F64 (selu, b * (v <= 0 ? a * expm1 (v) : v))
MAP_RUN (selu, ATTR ("alpha", 1.67326319f), ATTR ("gamma", 1.05070102f))

MAP_F32 (sigmoid, vn_sigmoidf (v))
MAP_F64 (sigmoid, 1 / (1 + exp (-v)))
MAP_RUN (sigmoid, 0, 0)

MAP_F32 (swish, v * vn_sigmoidf (a * v))
MAP_F64 (swish, v / (1 + exp (-a * v)))
MAP_RUN (swish, ATTR ("alpha", 1.f), 0)

MAP_F32 (quick_gelu, v * vn_sigmoidf (a * v))
MAP_F64 (quick_gelu, v / (1 + exp (-a * v)))
MAP_RUN (quick_gelu, ATTR ("alpha", 1.702f), 0)

MAP_F32 (tanh, vn_tanhf (v))
MAP_F64 (tanh, tanh (v))
MAP_RUN (tanh, 0, 0)

MAP_F32 (softplus, vn_softplusf (v))
MAP_F64 (softplus, (v < 0 ? 0 : v) + log1p (exp (-fabs (v))))
MAP_RUN (softplus, 0, 0)

MAP_F32 (softsign, v / (1.f + __builtin_fabsf (v)))
MAP_F64 (softsign, v / (1 + fabs (v)))
MAP_RUN (softsign, 0, 0)

MAP_F32 (hard_sigmoid, clamp_unit_f32 (a * v + b))
MAP_F64 (hard_sigmoid, clamp_unit_f64 (a * v + b))
MAP_RUN (hard_sigmoid, ATTR ("alpha", 0.2f), ATTR ("beta", 0.5f))

MAP_F32 (hard_swish, v * clamp_unit_f32 (v * (1.f / 6.f) + 0.5f))
MAP_F64 (hard_swish, v * clamp_unit_f64 (v / 6 + 0.5))
MAP_RUN (hard_swish, 0, 0)

MAP_F32 (erf, vn_erff (v))
MAP_F64 (erf, erf (v))
MAP_RUN (erf, 0, 0)

MAP_F32 (gelu_erf, vn_geluf (v))
MAP_F64 (gelu_erf, 0.5 * v * (1 + erf (v * G_SQRT2 / 2)))

MAP_F32 (gelu_tanh, 0.5f * v * (1.f + vn_tanhf (0.797884561f * (v + 0.044715f * v * v * v))))
MAP_F64 (gelu_tanh, 0.5 * v * (1 + tanh (0.79788456080286536 * (v + 0.044715 * v * v * v))))

MAP_F32 (mish, vn_mishf (v))
MAP_F64 (mish, v * tanh ((v < 0 ? 0 : v) + log1p (exp (-fabs (v)))))
MAP_RUN (mish, 0, 0)

static gboolean
activation_gelu_infer (VnOpContext *ctx,
                       GError     **error)
{
  g_autofree char *mode = vn_node_dup_string (ctx->node, "approximate", "none");

  if (!g_str_equal (mode, "none") && !g_str_equal (mode, "tanh"))
    return vn_op_fail (ctx, error, _("approximate is “%s”, expected “none” or “tanh”"), mode);
  return vn_op_infer_same (ctx, error);
}

static gboolean
activation_gelu_run (VnOpContext *ctx,
                     GError     **error)
{
  g_autofree char *mode = vn_node_dup_string (ctx->node, "approximate", "none");

  if (g_str_equal (mode, "tanh"))
    return activation_map_run (ctx, gelu_tanh_f32, gelu_tanh_f64, 0, 0);
  return activation_map_run (ctx, gelu_erf_f32, gelu_erf_f64, 0, 0);
}

/* ---- integers ---- */

#define RELU_CASE(name, T)                                                   \
  case VN_DTYPE_##name:                                                      \
    for (gsize i = 0; i < n; i++)                                            \
      ((T *) y)[i] = ((const T *) x)[i] < 0 ? 0 : ((const T *) x)[i];        \
    return TRUE;

static gboolean
activation_relu_any_run (VnOpContext *ctx,
                         GError     **error)
{
  gconstpointer x = ctx->in[0]->data;
  gpointer y = ctx->out[0]->data;
  gsize n = ctx->in[0]->n_elements;

  switch (ctx->in[0]->dtype)
    {
      RELU_CASE (S8, gint8)
      RELU_CASE (S16, gint16)
      RELU_CASE (S32, gint32)
      RELU_CASE (S64, gint64)
    default:
      return relu_run (ctx, error);
    }
}

/* As the reference does: computed as a float, which becomes an integer again. */
static gboolean
activation_erf_any_run (VnOpContext *ctx,
                        GError     **error)
{
  const VnTensor *in = ctx->in[0];
  gsize size = vn_dtype_get_bits (in->dtype) / 8;

  if (vn_dtype_is_float (in->dtype))
    return erf_run (ctx, error);
  for (gsize i = 0; i < in->n_elements; i++)
    {
      gint64 value = (gint64) erf (vn_tensor_get_double (in, i));

      memcpy ((char *) ctx->out[0]->data + i * size, &value, size);
    }
  return TRUE;
}

#define FLOATS (VN_DTYPE_BIT (F32) | VN_DTYPE_BIT (F64))
#define SIGNED (VN_DTYPE_BIT (S8) | VN_DTYPE_BIT (S16) | VN_DTYPE_BIT (S32) | VN_DTYPE_BIT (S64))
#define UNSIGNED (VN_DTYPE_BIT (U8) | VN_DTYPE_BIT (U16) | VN_DTYPE_BIT (U32) | VN_DTYPE_BIT (U64))

#define OPERATOR_OF(id, types, domain_, type_, since_, until_, family_, role, ort, infer_, run_) \
const VnOp vn_op_##id = {                                                                        \
  .domain = domain_, .type = type_, .since = since_, .until = until_,                            \
  .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, .max_outputs = 1,                          \
  .dtypes = types,                                                                               \
  .stand_ins = VN_STAND_IN_HALVES,                                                               \
  .family = family_,                                                                             \
  .quant = VN_QUANT_TRAITS (role, ort),                                                          \
  .infer = infer_,                                                                               \
  .run = run_,                                                                                   \
};

#define OPERATOR(id, ...) OPERATOR_OF (id, FLOATS, __VA_ARGS__)
#define ACTIVATION(id, type, since, role, ort, run) \
  OPERATOR (id, "", type, since, 0, VN_FAMILY_ACTIVATION, role, ort, vn_op_infer_same, run)

ACTIVATION (celu_12, "Celu", 12, VN_QUANT_GENERIC, FALSE, celu_run)
ACTIVATION (elu_1, "Elu", 1, VN_QUANT_GENERIC, FALSE, elu_run)
ACTIVATION (hard_sigmoid_1, "HardSigmoid", 1, VN_QUANT_GENERIC, FALSE, hard_sigmoid_run)
ACTIVATION (hard_swish_14, "HardSwish", 14, VN_QUANT_GENERIC, FALSE, hard_swish_run)
ACTIVATION (leaky_relu_1, "LeakyRelu", 1, VN_QUANT_GENERIC, TRUE, leaky_relu_run)
ACTIVATION (mish_18, "Mish", 18, VN_QUANT_GENERIC, FALSE, mish_run)
OPERATOR_OF (relu_1, FLOATS | SIGNED, "", "Relu", 1, 0, VN_FAMILY_ACTIVATION, VN_QUANT_CLAMP, TRUE, vn_op_infer_same,
             activation_relu_any_run)
ACTIVATION (selu_1, "Selu", 1, VN_QUANT_GENERIC, FALSE, selu_run)
ACTIVATION (sigmoid_1, "Sigmoid", 1, VN_QUANT_GENERIC, TRUE, sigmoid_run)
ACTIVATION (softplus_1, "Softplus", 1, VN_QUANT_GENERIC, FALSE, softplus_run)
ACTIVATION (softsign_1, "Softsign", 1, VN_QUANT_GENERIC, FALSE, softsign_run)
ACTIVATION (swish_24, "Swish", 24, VN_QUANT_GENERIC, FALSE, swish_run)
ACTIVATION (tanh_1, "Tanh", 1, VN_QUANT_GENERIC, FALSE, tanh_run)
ACTIVATION (thresholded_relu_10, "ThresholdedRelu", 10, VN_QUANT_GENERIC, FALSE, thresholded_relu_run)

OPERATOR_OF (erf_9, FLOATS | SIGNED | UNSIGNED, "", "Erf", 9, 0, VN_FAMILY_ARITHMETIC, VN_QUANT_GENERIC, FALSE,
             vn_op_infer_same, activation_erf_any_run)
OPERATOR (gelu_20, "", "Gelu", 20, 0, VN_FAMILY_ACTIVATION, VN_QUANT_GENERIC, FALSE, activation_gelu_infer, activation_gelu_run)
OPERATOR (ms_gelu, "com.microsoft", "Gelu", 1, 0, VN_FAMILY_ACTIVATION, VN_QUANT_GENERIC, FALSE, vn_op_infer_same,
          activation_gelu_run)
OPERATOR (ms_quick_gelu, "com.microsoft", "QuickGelu", 1, 0, VN_FAMILY_ACTIVATION, VN_QUANT_GENERIC, FALSE,
          vn_op_infer_same, quick_gelu_run)
