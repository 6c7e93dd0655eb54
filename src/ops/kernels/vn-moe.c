/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mixtures of experts as ONNX Runtime 1.32 computes them on a processor (moe_cpu.cc, moe_quantization_cpu.cc). The k experts with
 * the largest numbers of the router are chosen, the last of equal ones first. MoE weights them by a softmax over all experts,
 * with normalize_routing_weights divided by the sum of those chosen; QMoE by a softmax over those chosen, whatever that attribute
 * says, or by what it is given. use_sparse_mixer changes nothing there. */
#include "vn-moe.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-multiversion.h"
#include "vn-vecmath.h"

#include <math.h>

/* Smaller shares count as none. */
#define LEAST_SHARE 0.f
#define LEAST_CHOSEN_SHARE 1e-8f

#define NONE VN_MOE_NO_INPUT

static const VnMoeInputs inputs[] = {
  { "MoE",  { 2, 4, 6 }, { 3, 5, 7 },  { NONE, NONE, NONE }, { NONE, NONE, NONE }, NONE },
  { "QMoE", { 2, 5, 8 }, { 4, 7, 10 }, { 3, 6, 9 },          { 11, 12, 13 },       14 },
};

static const char * const activations[] = { "relu", "gelu", "silu", "swiglu", "identity" };

/**
 * vn_moe_find_inputs:
 *
 * Returns: (nullable): where the inputs of @node are; %NULL: it is no mixture of experts
 */
const VnMoeInputs *
vn_moe_find_inputs (const VnNode *node)
{
  for (guint i = 0; i < G_N_ELEMENTS (inputs); i++)
    if (g_str_equal (node->domain, "com.microsoft") && g_str_equal (node->op_type, inputs[i].op_type))
      return &inputs[i];
  return NULL;
}

/**
 * vn_moe_get_packed_inputs:
 *
 * Returns: where the inputs of QMoE are
 */
const VnMoeInputs *
vn_moe_get_packed_inputs (void)
{
  return &inputs[1];
}

static gboolean
moe_refuse (GError     **error,
            VnError      code,
            const char  *text)
{
  g_set_error_literal (error, VN_ERROR, code, text);
  return FALSE;
}

static gboolean
moe_read_activation (VnMoe         *self,
                     const VnNode  *node,
                     GError       **error)
{
  g_autofree char *name = vn_node_dup_string (node, "activation_type", "relu");
  const gint64 fusion = vn_node_get_int (node, "swiglu_fusion", 0);
  guint i = 0;

  while (i < G_N_ELEMENTS (activations) && !g_str_equal (activations[i], name))
    i++;
  if (i == G_N_ELEMENTS (activations))
    {
      g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("%s: attribute %s has the unknown value “%s”"), node->op_type,
                   "activation_type", name);
      return FALSE;
    }
  if (vn_node_get_int (node, "swiglu_limit_after_activation", 0) != 0)
    return moe_refuse (error, VN_ERROR_UNSUPPORTED, _("experts that are clipped after SwiGLU are not supported"));
  self->activation = (VnMoeActivation) i;
  self->alpha = vn_node_get_float (node, "activation_alpha", 1.f);
  self->beta = vn_node_get_float (node, "activation_beta", 0.f);
  self->limit = vn_node_get_float (node, "swiglu_limit", INFINITY);
  self->third = vn_node_get_input (node, self->inputs->weight[VN_MOE_FC3]) != NULL;
  self->gated = self->third || self->activation == VN_MOE_SWIGLU;
  self->interleaved = !self->third && fusion == 1;
  if (self->activation == VN_MOE_SWIGLU && !self->third && fusion != 1 && fusion != 2)
    return moe_refuse (error, VN_ERROR_SHAPE, _("SwiGLU without swiglu_fusion needs the weights of a third product"));
  return TRUE;
}

/**
 * vn_moe_init:
 * @node: a MoE or QMoE
 * @tokens: static: of its input 0
 * @router: static: of its input 1
 *
 * All but what the weights say: vn_moe_set_inter() must follow.
 *
 * Returns: %FALSE with an error if the attributes or sizes cannot be computed
 */
gboolean
vn_moe_init (VnMoe         *self,
             const VnNode  *node,
             const VnShape *tokens,
             const VnShape *router,
             GError       **error)
{
  const gint64 k = vn_node_get_int (node, "k", 1);
  gint64 n_tokens;

  *self = (VnMoe) { .inputs = vn_moe_find_inputs (node) };
  g_return_val_if_fail (self->inputs != NULL, FALSE);

  if ((tokens->rank != 2 && tokens->rank != 3) || router->rank != 2)
    return moe_refuse (error, VN_ERROR_SHAPE, _("experts read tokens of two or three axes and a router's result of two"));
  n_tokens = vn_shape_count (tokens, 0, tokens->rank - 1);
  self->n_tokens = (gsize) n_tokens;
  self->hidden = (gsize) tokens->dims[tokens->rank - 1];
  self->n_experts = (gsize) router->dims[1];
  self->chosen_only = self->inputs->shares != NONE;
  self->normalize = vn_node_get_int (node, "normalize_routing_weights", 0) == 1;
  if (router->dims[0] != n_tokens || self->hidden < 1 || self->hidden > G_MAXINT32 || self->n_experts > G_MAXINT32 ||
      k < 1 || k > router->dims[1])
    {
      g_set_error (error, VN_ERROR, VN_ERROR_SHAPE,
                   _("%lld tokens of %zu elements cannot go to %lld of %zu experts, with the router's result of %lld tokens"),
                   (long long) n_tokens, self->hidden, (long long) k, self->n_experts, (long long) router->dims[0]);
      return FALSE;
    }
  self->k = (gsize) k;
  return moe_read_activation (self, node, error);
}

/**
 * vn_moe_set_inter:
 * @inter: elements between the products
 */
gboolean
vn_moe_set_inter (VnMoe   *self,
                  gint64   inter,
                  GError **error)
{
  if (inter < 1 || inter > G_MAXINT32 / 2)
    return moe_refuse (error, VN_ERROR_SHAPE, _("the weights of the experts have no elements, or too many"));
  self->inter = (gsize) inter;
  self->columns = self->inter * (self->gated ? 2 : 1);
  return TRUE;
}

/**
 * vn_moe_get_rows:
 *
 * Returns: rows of the weights of @product: elements of its result
 */
gsize
vn_moe_get_rows (const VnMoe  *self,
                 VnMoeProduct  product)
{
  return product == VN_MOE_FC2 ? self->hidden : self->third ? self->inter : self->columns;
}

/**
 * vn_moe_get_columns:
 *
 * Returns: columns of the weights of @product: elements of what it reads
 */
gsize
vn_moe_get_columns (const VnMoe  *self,
                    VnMoeProduct  product)
{
  return product == VN_MOE_FC2 ? self->inter : self->hidden;
}

/* ---- routing ---- */

/* NaN where one is not a number. */
static void
moe_fill_softmax (const float *from,
                  float       *to,
                  gsize        n)
{
  float largest = from[0], sum = 0;

  for (gsize i = 1; i < n; i++)
    largest = MAX (largest, from[i]);
  for (gsize i = 0; i < n; i++)
    sum += to[i] = expf (from[i] - largest);
  for (gsize i = 0; i < n; i++)
    to[i] /= sum;
}

static gboolean
moe_is_chosen (const gint32 *chosen,
               gsize         n,
               gsize         expert)
{
  for (gsize i = 0; i < n; i++)
    if (chosen[i] == (gint32) expert)
      return TRUE;
  return FALSE;
}

static void
moe_choose (const float *line,
            gsize        n,
            gsize        k,
            gint32      *chosen)
{
  for (gsize i = 0; i < k; i++)
    {
      chosen[i] = -1;
      for (gsize j = n; j-- > 0;)
        if (!moe_is_chosen (chosen, i, j) && (chosen[i] < 0 || line[j] > line[chosen[i]]))
          chosen[i] = (gint32) j;
    }
}

static void
moe_divide_by_sum (float *weights,
                   gsize  k)
{
  float sum = 0;

  for (gsize i = 0; i < k; i++)
    sum += weights[i];
  for (gsize i = 0; i < k; i++)
    weights[i] = sum != 0 ? weights[i] / sum : 0;
}

/**
 * vn_moe_route:
 * @router: tokens x experts
 * @shares: (nullable): tokens x experts: what results are weighted by
 * @line: room for one number for each expert
 * @experts: (out): tokens x k; −1: the share is too small to count
 * @weights: (out): their shares
 */
void
vn_moe_route (const VnMoe *self,
              const float *router,
              const float *shares,
              float       *line,
              gint32      *experts,
              float       *weights)
{
  const float least = self->chosen_only ? LEAST_CHOSEN_SHARE : LEAST_SHARE;
  const gsize n = self->n_experts, k = self->k;

  for (gsize t = 0; t < self->n_tokens; t++, experts += k, weights += k)
    {
      const float *from = router + t * n;

      if (!self->chosen_only)
        moe_fill_softmax (from, line, n);
      moe_choose (self->chosen_only ? from : line, n, k, experts);
      for (gsize i = 0; i < k; i++)
        weights[i] = shares != NULL ? shares[t * n + (gsize) experts[i]]
                     : self->chosen_only ? from[experts[i]] : line[experts[i]];
      if (self->chosen_only && shares == NULL)
        moe_fill_softmax (weights, weights, k);
      else if (self->normalize)
        moe_divide_by_sum (weights, k);
      for (gsize i = 0; i < k; i++)
        if (!(weights[i] > least))
          experts[i] = -1;
    }
}

/* ---- activation ---- */

VN_MULTIVERSION
static void
moe_gate (const VnMoe *self,
          const float *gate,
          const float *value,
          gsize        step,
          float       *to)
{
  for (gsize i = 0; i < self->inter; i++)
    {
      float g = gate[i * step], l = value[i * step];

      g = g > self->limit ? self->limit : g;
      l = l > self->limit ? self->limit : l < -self->limit ? -self->limit : l;
      to[i] = g * vn_sigmoidf (self->alpha * g) * (l + self->beta);
    }
}

VN_MULTIVERSION
static void
moe_gelu (const float *from,
          float       *to,
          gsize        n)
{
  for (gsize i = 0; i < n; i++)
    {
      float v = from[i];

      to[i] = 0.5f * v * (1.f + vn_tanhf (0.797884561f * (v + 0.044715f * v * v * v)));
    }
}

VN_MULTIVERSION
static void
moe_silu (const float *from,
          float       *to,
          gsize        n)
{
  for (gsize i = 0; i < n; i++)
    to[i] = from[i] * vn_sigmoidf (from[i]);
}

static void
moe_apply (const VnMoe *self,
           const float *from,
           float       *to)
{
  if (self->activation == VN_MOE_GELU)
    moe_gelu (from, to, self->inter);
  else if (self->activation == VN_MOE_SILU)
    moe_silu (from, to, self->inter);
  else
    for (gsize i = 0; i < self->inter; i++)
      to[i] = self->activation == VN_MOE_RELU && from[i] < 0 ? 0 : from[i];
}

/**
 * vn_moe_activate:
 * @from: rows x columns: of the first product, and behind it the third
 * @to: rows x inter
 */
void
vn_moe_activate (const VnMoe *self,
                 const float *from,
                 float       *to,
                 gsize        n_rows)
{
  for (gsize r = 0; r < n_rows; r++, from += self->columns, to += self->inter)
    {
      const float *value = from + self->inter;

      if (self->activation == VN_MOE_SWIGLU && self->interleaved)
        moe_gate (self, from, from + 1, 2, to);
      else if (self->activation == VN_MOE_SWIGLU)
        moe_gate (self, from, value, 1, to);
      else
        moe_apply (self, from, to);
      for (gsize i = 0; self->gated && self->activation != VN_MOE_SWIGLU && i < self->inter; i++)
        to[i] *= value[i];
    }
}
