/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What follows the matrix products of transformers: a bias along the last axis, and Gelu as one node or decomposed. */
#include "vn-fuse-private.h"

#include "vn-memory.h"

/* ---- bias ---- */

static gboolean
plan_fuse_product_is_by_column (const VnTensor *constant,
                                const VnStep   *taker)
{
  const VnShape *y = &taker->out_types[0].shape;
  gint64 n = y->rank > 0 ? y->dims[y->rank - 1] : 0;

  /* With a vector on the right the last axis of the result is that of the rows. */
  return taker->in_types[1].shape.rank >= 2 && constant->shape.rank >= 1 &&
         constant->shape.dims[constant->shape.rank - 1] == n && constant->n_elements == (gsize) n;
}

static gboolean
plan_fuse_product_take_line (VnFusion     *self,
                             VnStep       *taker,
                             const VnStep *step,
                             guint         input)
{
  const VnTensor *constant = vn_fuse_get_constant (self, step, input);

  if (!taker->op->fuses_line || taker->line != NULL || taker->has_sum || constant == NULL ||
      !plan_fuse_product_is_by_column (constant, taker))
    return FALSE;
  taker->line = vn_try_new (float, constant->n_elements, NULL);
  if (taker->line == NULL)
    return FALSE;
  memcpy (taker->line, constant->data, constant->n_elements * sizeof (float));
  return TRUE;
}

/**
 * vn_fuse_line:
 *
 * The bias of a product, in a node of its own.
 */
VnStep *
vn_fuse_line (VnFusion *self,
              VnStep   *step)
{
  if (!vn_node_is (step->node, "Add") || step->n_inputs != 2)
    return NULL;
  for (guint i = 0; i < 2; i++)
    {
      VnStep *taker = vn_fuse_find_taker (self, step, i, 1);

      if (taker != NULL && plan_fuse_product_take_line (self, taker, step, 1 - i))
        return taker;
    }
  return NULL;
}

/* ---- Gelu as one node ---- */

static const VnActivation gelu_by_erf = { .active = TRUE, .kind = VN_ACTIVATION_GELU, .a = 0.707106781f, .b = 0.5f };
static const VnActivation gelu_by_tanh = { .active = TRUE, .kind = VN_ACTIVATION_GELU_TANH };

/**
 * vn_fuse_gelu:
 *
 * Gelu, and those of ONNX Runtime, which may have a bias.
 */
VnStep *
vn_fuse_gelu (VnFusion *self,
              VnStep   *step)
{
  static const struct {
    const char *domain, *type;
  } types[] = { { "", "Gelu" }, { "com.microsoft", "Gelu" }, { "com.microsoft", "BiasGelu" },
                { "com.microsoft", "FastGelu" } };
  VnStep *taker = vn_fuse_find_taker (self, step, 0, 1);

  for (guint i = 0; i < G_N_ELEMENTS (types) && taker != NULL; i++)
    if (g_str_equal (step->node->domain, types[i].domain) && g_str_equal (step->node->op_type, types[i].type))
      {
        g_autofree char *mode = vn_node_dup_string (step->node, "approximate", "none");
        gboolean by_tanh = g_str_equal (types[i].type, "FastGelu") || g_str_equal (mode, "tanh");

        if (step->n_inputs > 1 && step->inputs[1] >= 0 && !plan_fuse_product_take_line (self, taker, step, 1))
          return NULL;
        taker->activation = by_tanh ? gelu_by_tanh : gelu_by_erf;
        return taker;
      }
  return NULL;
}

/* ---- decomposed Gelu ---- */

/* Returns: the step that makes @id, if it is of this type, and nobody else needs its result */
static VnStep *
plan_fuse_product_find_private (const VnFusion *self,
                                int             id,
                                const char     *type,
                                guint           n_inputs)
{
  VnStep *step = id >= 0 ? self->producers[id] : NULL;

  if (step == NULL || !vn_node_is (step->node, type) || step->n_inputs != n_inputs || step->dynamic ||
      step->activation.active || !vn_fuse_is_private (self, id, 1))
    return NULL;
  return step;
}

/* Returns: which input of @step is not the constant number @value; -1 if there is no such number */
static int
plan_fuse_product_find_other (const VnFusion *self,
                              const VnStep   *step,
                              float          *value)
{
  for (int i = 0; i < 2; i++)
    if (vn_fuse_get_scalar (self, step, 1 - (guint) i, value))
      return i;
  return -1;
}

/**
 * Gate: the steps of 1 + erf (a x), or 1 + erf (x / a).
 * @x: id
 */
typedef struct
{
  VnStep       *add, *erf, *scale;
  int           x;
  VnActivation  map;
} Gate;

static gboolean
plan_fuse_product_match_erf (const VnFusion *self,
                             int             id,
                             Gate           *gate)
{
  float one;
  int at;

  *gate = (Gate) { .map = { .active = TRUE, .b = 1.f } };
  gate->add = plan_fuse_product_find_private (self, id, "Add", 2);
  at = gate->add != NULL ? plan_fuse_product_find_other (self, gate->add, &one) : -1;
  gate->erf = at >= 0 && one == 1.f ? plan_fuse_product_find_private (self, gate->add->inputs[at], "Erf", 1) : NULL;
  if (gate->erf == NULL)
    return FALSE;
  gate->map.kind = VN_ACTIVATION_GELU;
  gate->scale = plan_fuse_product_find_private (self, gate->erf->inputs[0], "Mul", 2);
  at = gate->scale != NULL ? plan_fuse_product_find_other (self, gate->scale, &gate->map.a) : -1;
  if (at < 0)
    {
      gate->map.kind = VN_ACTIVATION_GELU_DIVIDED;
      gate->scale = plan_fuse_product_find_private (self, gate->erf->inputs[0], "Div", 2);
      at = gate->scale != NULL && vn_fuse_get_scalar (self, gate->scale, 1, &gate->map.a) ? 0 : -1;
    }
  gate->x = at >= 0 ? gate->scale->inputs[at] : -1;
  return gate->x >= 0;
}

/* A product with one half. Returns: the id of the other factor, -1 if @step is none */
static int
plan_fuse_product_match_half (const VnFusion *self,
                              const VnStep   *step)
{
  float half;
  int at = step != NULL ? plan_fuse_product_find_other (self, step, &half) : -1;

  return at >= 0 && half == 0.5f ? step->inputs[at] : -1;
}

static void
plan_fuse_product_take_gate (VnFusion   *self,
                             VnStep     *taker,
                             const Gate *gate,
                             VnStep     *half)
{
  taker->activation = gate->map;
  taker->activation.b = half != NULL ? 0.5f : 1.f;
  vn_fuse_mark_dead (self, gate->add);
  vn_fuse_mark_dead (self, gate->erf);
  vn_fuse_mark_dead (self, gate->scale);
  if (half != NULL)
    vn_fuse_mark_dead (self, half);
}

/* x g, (x / 2) g or x (g / 2), where g, or its half, is input @at. */
static VnStep *
plan_fuse_product_take_written_gelu (VnFusion *self,
                                     VnStep   *step,
                                     guint     at)
{
  Gate gate;
  gboolean whole = plan_fuse_product_match_erf (self, step->inputs[at], &gate);
  VnStep *half = whole ? NULL : plan_fuse_product_find_private (self, step->inputs[at], "Mul", 2), *taker;
  const VnStep *reader = step;
  guint input = 1 - at;

  if (!whole && !plan_fuse_product_match_erf (self, plan_fuse_product_match_half (self, half), &gate))
    return NULL;
  if (whole && step->inputs[input] != gate.x)
    {
      half = plan_fuse_product_find_private (self, step->inputs[input], "Mul", 2);
      if (half == NULL || plan_fuse_product_match_half (self, half) != gate.x)
        return NULL;
      reader = half;
      input = half->inputs[0] == gate.x ? 0 : 1;
    }
  taker = reader->inputs[input] == gate.x ? vn_fuse_find_taker (self, reader, input, 2) : NULL;
  if (taker == NULL || !vn_fuse_is_same_type (self, gate.x, step->outputs[0]))
    return NULL;
  plan_fuse_product_take_gate (self, taker, &gate, half);
  return taker;
}

/**
 * vn_fuse_written_gelu:
 *
 * The product in which a Gelu by erf ends. One half is exact wherever it is multiplied, so that its place does not
 * matter; the error function is that of the node Erf, but for the last bits (the compiler contracts its polynomial as
 * it sees fit).
 */
VnStep *
vn_fuse_written_gelu (VnFusion *self,
                      VnStep   *step)
{
  VnStep *taker = NULL;

  if (!vn_node_is (step->node, "Mul") || step->n_inputs != 2 || step->activation.active || step->dynamic)
    return NULL;
  for (guint i = 0; i < 2 && taker == NULL; i++)
    taker = plan_fuse_product_take_written_gelu (self, step, i);
  return taker;
}

/**
 * vn_fuse_half:
 *
 * The last step of a Gelu that is halved in the end.
 */
VnStep *
vn_fuse_half (VnFusion *self,
              VnStep   *step)
{
  gboolean is_product = vn_node_is (step->node, "Mul") && step->n_inputs == 2 && !step->activation.active;
  int x = is_product ? plan_fuse_product_match_half (self, step) : -1;
  VnStep *taker = x >= 0 ? self->producers[x] : NULL;

  if (taker == NULL || !taker->activation.active || taker->activation.b != 1.f ||
      (taker->activation.kind != VN_ACTIVATION_GELU && taker->activation.kind != VN_ACTIVATION_GELU_DIVIDED) ||
      !vn_fuse_is_private (self, x, 1) || !vn_fuse_is_same_type (self, x, step->outputs[0]))
    return NULL;
  taker->activation.b = 0.5f;
  return taker;
}
