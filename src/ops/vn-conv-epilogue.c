/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "vn-conv.h"
#include "vn-vecmath.h"

#include <math.h>

/**
 * vn_epilogue_set_clamp:
 * @activation: the clamp the engine fused behind the operator; ignored if not active
 */
void
vn_epilogue_set_clamp (VnEpilogue         *self,
                       const VnActivation *activation)
{
  if (!activation->active)
    return;
  self->kind = VN_EPILOGUE_CLAMP;
  self->a = activation->min;
  self->b = activation->max;
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
    const char     *name;
    VnEpilogueKind  kind;
    float           a, b;
  } kinds[] = {
    { "", VN_EPILOGUE_NONE, 0.f, 0.f },
    { "Relu", VN_EPILOGUE_CLAMP, 0.f, G_MAXFLOAT },
    { "Clip", VN_EPILOGUE_CLAMP, -G_MAXFLOAT, G_MAXFLOAT },
    { "LeakyRelu", VN_EPILOGUE_LEAKY_RELU, 0.01f, 0.f },
    { "Tanh", VN_EPILOGUE_TANH, 0.f, 0.f },
    { "Sigmoid", VN_EPILOGUE_SIGMOID, 0.f, 0.f },
    { "HardSigmoid", VN_EPILOGUE_HARD_SIGMOID, 0.2f, 0.5f },
  };
  g_autofree char *name = vn_node_dup_string (ctx->node, "activation", "");
  gsize n;
  const float *params = vn_node_get_floats (ctx->node, "activation_params", &n);

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (g_str_equal (name, kinds[i].name))
      {
        self->kind = kinds[i].kind;
        self->a = n > 0 && i > 1 ? params[0] : vn_node_get_float (ctx->node, "activation_alpha", kinds[i].a);
        self->b = n > 1 && i > 1 ? params[1] : vn_node_get_float (ctx->node, "activation_beta", kinds[i].b);
        /* An infinite value stays so behind a plain Relu. */
        if (i == 1)
          {
            self->a = 0.f;
            self->b = (float) INFINITY;
          }
        return TRUE;
      }
  g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("activation “%s” of a fused operator is not known"), name);
  return FALSE;
}

VN_MULTIVERSION
static void
row_add (float       *y,
         const float *sum,
         float        bias,
         gsize        n)
{
  if (sum != NULL)
    for (gsize i = 0; i < n; i++)
      y[i] = y[i] + bias + sum[i];
  else
    for (gsize i = 0; i < n; i++)
      y[i] += bias;
}

VN_MULTIVERSION
static void
row_add_clamp (float *y,
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
name (float *y, float a, float b, gsize n)                                   \
{                                                                            \
  for (gsize i = 0; i < n; i++)                                              \
    {                                                                        \
      float v = y[i];                                                        \
      y[i] = (expression);                                                   \
    }                                                                        \
}

VN_INLINE float
clamp_unit (float v)
{
  v = v < 0.f ? 0.f : v;
  return v > 1.f ? 1.f : v;
}

ROW_MAP (row_leaky_relu, v < 0.f ? a * v : v)
ROW_MAP (row_tanh, vn_tanhf (v))
ROW_MAP (row_sigmoid, vn_sigmoidf (v))
ROW_MAP (row_hard_sigmoid, clamp_unit (a * v + b))

static void
apply_row (const VnEpilogue *self,
           float            *y,
           float             bias,
           gsize             n)
{
  const float *sum = self->sum != NULL ? self->sum + (y - self->base) : NULL;

  if (self->kind == VN_EPILOGUE_CLAMP && sum == NULL)
    {
      row_add_clamp (y, bias, self->a, self->b, n);
      return;
    }
  if (sum != NULL || bias != 0.f)
    row_add (y, sum, bias, n);

  switch (self->kind)
    {
    case VN_EPILOGUE_NONE:
      break;
    case VN_EPILOGUE_CLAMP:
      row_add_clamp (y, 0.f, self->a, self->b, n);
      break;
    case VN_EPILOGUE_LEAKY_RELU:
      row_leaky_relu (y, self->a, self->b, n);
      break;
    case VN_EPILOGUE_TANH:
      row_tanh (y, self->a, self->b, n);
      break;
    case VN_EPILOGUE_SIGMOID:
      row_sigmoid (y, self->a, self->b, n);
      break;
    case VN_EPILOGUE_HARD_SIGMOID:
      row_hard_sigmoid (y, self->a, self->b, n);
      break;
    default:
      g_assert_not_reached ();
    }
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
  if (self->bias == NULL && self->sum == NULL && self->kind == VN_EPILOGUE_NONE)
    return;
  for (gsize i = 0; i < n_rows; i++)
    apply_row (self, y + i * pitch, self->bias != NULL ? self->bias[row + i] : 0.f, n_columns);
}
