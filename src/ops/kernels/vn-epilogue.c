/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What follows a convolution or product on its results: bias, clamp, activation, addition; one row at a time. */
#include "vn-epilogue.h"
#include "vn-vecmath.h"

#include <math.h>

/**
 * vn_epilogue_set_fused:
 *
 * Takes over what the engine fused behind the operator.
 */
void
vn_epilogue_set_fused (VnEpilogue        *self,
                       const VnOpContext *ctx)
{
  self->factors = ctx->factors;
  self->shifts = ctx->shifts;
  self->sum = ctx->sum != NULL ? ctx->sum->data : NULL;
  self->map = ctx->activation;
}

/**
 * vn_epilogue_is_clamp:
 *
 * Returns: whether nothing but a bias and a clamp, or neither, is to be done
 */
gboolean
vn_epilogue_is_clamp (const VnEpilogue *self)
{
  return self->sum == NULL && self->factors == NULL && (!self->map.active || self->map.kind == VN_ACTIVATION_CLAMP);
}

/**
 * vn_epilogue_from_node:
 *
 * Reads the attributes activation and activation_params, or activation_alpha and activation_beta, of ONNX Runtime's
 * fused operators.
 *
 * Returns: %FALSE with %VN_ERROR_UNSUPPORTED if the activation is none of those they have
 */
gboolean
vn_epilogue_from_node (VnEpilogue   *self,
                       VnOpContext  *ctx,
                       GError      **error)
{
  static const struct {
    const char       *name;
    VnActivationKind  kind;
    float             a, b;
  } kinds[] = {
    { "", VN_ACTIVATION_CLAMP, 0.f, 0.f },
    { "Relu", VN_ACTIVATION_CLAMP, 0.f, 0.f },
    { "Clip", VN_ACTIVATION_CLAMP, -G_MAXFLOAT, G_MAXFLOAT },
    { "LeakyRelu", VN_ACTIVATION_LEAKY_RELU, 0.01f, 0.f },
    { "Tanh", VN_ACTIVATION_TANH, 0.f, 0.f },
    { "Sigmoid", VN_ACTIVATION_SIGMOID, 0.f, 0.f },
    { "HardSigmoid", VN_ACTIVATION_HARD_SIGMOID, 0.2f, 0.5f },
  };
  g_autofree char *name = vn_node_dup_string (ctx->node, "activation", "");
  gsize n;
  const float *params = vn_node_get_floats (ctx->node, "activation_params", &n);

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (g_str_equal (name, kinds[i].name))
      {
        VnActivation *map = &self->map;

        map->active = i > 0;
        map->kind = kinds[i].kind;
        map->a = n > 0 && i > 1 ? params[0] : vn_node_get_float (ctx->node, "activation_alpha", kinds[i].a);
        map->b = n > 1 && i > 1 ? params[1] : vn_node_get_float (ctx->node, "activation_beta", kinds[i].b);
        /* An infinite value stays so behind a plain Relu. */
        map->min = i == 1 ? 0.f : map->a;
        map->max = i == 1 ? (float) INFINITY : map->b;
        return TRUE;
      }
  g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("unknown activation “%s” in a fused operator"), name);
  return FALSE;
}

VN_MULTIVERSION
static void
epilogue_row_add (float       *y,
                  const float *sum,
                  float        bias,
                  gsize        n)
{
  if (sum != NULL && bias != 0.f)
    for (gsize i = 0; i < n; i++)
      y[i] = y[i] + bias + sum[i];
  else if (sum != NULL)
    for (gsize i = 0; i < n; i++)
      y[i] += sum[i];
  else
    for (gsize i = 0; i < n; i++)
      y[i] += bias;
}

VN_MULTIVERSION
static void
epilogue_row_add_clamp (float *y,
                        float  bias,
                        float  lo,
                        float  hi,
                        gsize  n)
{
  for (gsize i = 0; i < n; i++)
    {
      float v = y[i] + bias;

      v = v < lo ? lo : v;
      y[i] = v > hi ? hi : v;
    }
}

#define ROW_MAP(name, expression)                                            \
VN_MULTIVERSION                                                              \
static void                                                                  \
name (float *y, const VnActivation *map, gsize n)                            \
{                                                                            \
  const float a = map->a, b = map->b, min = map->min, max = map->max;        \
                                                                             \
  (void) a; (void) b; (void) min; (void) max;                                \
  for (gsize i = 0; i < n; i++)                                              \
    {                                                                        \
      float v = y[i];                                                        \
      y[i] = (expression);                                                   \
    }                                                                        \
}

VN_INLINE float
clamp_to (float v,
          float min,
          float max)
{
  v = v < min ? min : v;
  return v > max ? max : v;
}

ROW_MAP (row_clamp, clamp_to (v, min, max))
ROW_MAP (row_leaky_relu, v < 0.f ? v * a : v)
ROW_MAP (row_tanh, vn_tanhf (v))
ROW_MAP (row_sigmoid, vn_sigmoidf (v))
ROW_MAP (row_hard_sigmoid, clamp_to (a * v + b, 0.f, 1.f))
ROW_MAP (row_silu, v * vn_sigmoidf (v))
ROW_MAP (row_hard_swish, v * clamp_to (a * v + b, 0.f, 1.f))
ROW_MAP (row_shift_swish, v * clamp_to (v + a, min, max) / b)
ROW_MAP (row_swish_of_part, v * (clamp_to (v + a, min, max) / b))
ROW_MAP (row_gelu, b * v * (1.f + vn_erff (v * a)))
ROW_MAP (row_gelu_divided, b * v * (1.f + vn_erff (v / a)))
ROW_MAP (row_gelu_tanh, 0.5f * v * (1.f + vn_tanhf (0.797884561f * (v + 0.044715f * v * v * v))))

/* Adding 0 makes 0 of -0, as an integer has no sign then. */
VN_INLINE float
quantize_to (float               v,
             float               scale,
             const VnActivation *map)
{
  float code = rintf (v / scale);

  code = code < map->min ? map->min : code;
  code = code > map->max ? map->max : code;
  return scale * ((v == v ? code : map->b) + 0.f);
}

ROW_MAP (row_quantizer, quantize_to (v, a, map))

static void (* const maps[]) (float *y, const VnActivation *map, gsize n) = {
  [VN_ACTIVATION_CLAMP] = row_clamp,
  [VN_ACTIVATION_LEAKY_RELU] = row_leaky_relu,
  [VN_ACTIVATION_TANH] = row_tanh,
  [VN_ACTIVATION_SIGMOID] = row_sigmoid,
  [VN_ACTIVATION_HARD_SIGMOID] = row_hard_sigmoid,
  [VN_ACTIVATION_SILU] = row_silu,
  [VN_ACTIVATION_HARD_SWISH] = row_hard_swish,
  [VN_ACTIVATION_SHIFT_SWISH] = row_shift_swish,
  [VN_ACTIVATION_SWISH_OF_PART] = row_swish_of_part,
  [VN_ACTIVATION_GELU] = row_gelu,
  [VN_ACTIVATION_GELU_DIVIDED] = row_gelu_divided,
  [VN_ACTIVATION_GELU_TANH] = row_gelu_tanh,
  [VN_ACTIVATION_QUANTIZER] = row_quantizer,
};

VN_MULTIVERSION
static void
epilogue_row_affine (float *y,
                     float  factor,
                     float  shift,
                     gsize  n)
{
  for (gsize i = 0; i < n; i++)
    y[i] = y[i] * factor + shift;
}

static void
epilogue_apply_row (const VnEpilogue *self,
                    float            *y,
                    gsize             row,
                    gsize             n)
{
  const float *sum = self->sum != NULL ? self->sum + (y - self->base) : NULL;
  float bias = self->bias != NULL ? self->bias[row] : 0.f;

  if (self->bias != NULL && vn_epilogue_is_clamp (self) && self->map.active)
    {
      epilogue_row_add_clamp (y, bias, self->map.min, self->map.max, n);
      return;
    }
  if (self->factors != NULL)
    {
      if (bias != 0.f)
        epilogue_row_add (y, NULL, bias, n);
      epilogue_row_affine (y, self->factors[row], self->shifts[row], n);
      bias = 0.f;
    }
  if (sum != NULL || bias != 0.f)
    epilogue_row_add (y, sum, bias, n);
  if (self->map.active)
    maps[self->map.kind] (y, &self->map, n);
}

/**
 * vn_epilogue_apply:
 * @y: first result of a block; rows are @pitch elements apart
 * @row: index of its first row into the bias
 */
void
vn_epilogue_apply (const VnEpilogue *self,
                   float            *y,
                   gsize             row,
                   gsize             n_rows,
                   gsize             n_columns,
                   gsize             pitch)
{
  if (self->bias == NULL && self->sum == NULL && self->factors == NULL && !self->map.active)
    return;
  for (gsize i = 0; i < n_rows; i++)
    epilogue_apply_row (self, y + i * pitch, row + i, n_columns);
}
