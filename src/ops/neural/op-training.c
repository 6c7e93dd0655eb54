/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Adagrad, Adam, Momentum (ai.onnx.preview.training): one step of an optimizer on any number of tensors. Inputs: the
 * learning rate, how many steps were made, then all tensors, all gradients and all states of each kind; outputs: all
 * new tensors, then the new states. Formulas are those of the operators' texts. */
#include "vn-number.h"

typedef struct
{
  double rate, norm, epsilon, alpha, beta, factor;
  gboolean nesterov;
} Step;

typedef struct
{
  double x, g, v, h;    /* tensor, gradient, one or two states */
} Element;

typedef void (*UpdateFunc) (const Step *step,
                            Element    *e);

static void
training_update_adagrad (const Step *step,
                         Element    *e)
{
  double g = step->norm * e->x + e->g;

  e->v += g * g;
  e->x -= step->rate * g / (sqrt (e->v) + step->epsilon);
}

static void
training_update_adam (const Step *step,
                      Element    *e)
{
  double g = step->norm * e->x + e->g;

  e->v = step->alpha * e->v + (1 - step->alpha) * g;
  e->h = step->beta * e->h + (1 - step->beta) * g * g;
  e->x = (e->x - step->rate * e->v / (sqrt (e->h) + step->epsilon)) * step->factor;
}

static void
training_update_momentum (const Step *step,
                          Element    *e)
{
  double g = step->norm * e->x + e->g;

  e->v = step->alpha * e->v + step->beta * g;
  e->x -= step->rate * (step->nesterov ? g + step->alpha * e->v : e->v);
}

/* How many states a tensor has. */
static guint
training_count_states (const VnOpContext *ctx)
{
  return g_str_equal (ctx->op->type, "Adam") ? 2 : 1;
}

static gboolean
training_infer (VnOpContext *ctx,
                GError     **error)
{
  guint parts = 2 + training_count_states (ctx), n = (ctx->n_inputs - 2) / parts;

  if (n == 0 || (ctx->n_inputs - 2) % parts != 0 || ctx->n_outputs > n * (parts - 1))
    return vn_op_fail (ctx, error, _("%s: %u inputs and %u outputs do not form complete tensors"), ctx->op->type,
                       ctx->n_inputs, ctx->n_outputs);
  for (guint i = 2; i < ctx->n_inputs; i++)
    {
      const VnTensorType *x = &ctx->in_types[2 + (i - 2) % n], *own = &ctx->in_types[i];

      if (!vn_op_has_input (ctx, i))
        return vn_op_fail (ctx, error, _("%s: input %u is missing"), ctx->op->type, i);
      if (own->dtype != VN_DTYPE_UNDEFINED && (VN_FULL_FLOAT_BITS >> own->dtype & 1) == 0)
        return vn_op_unsupported (ctx, i, error);
      if (vn_shape_is_static (&x->shape) && vn_shape_is_static (&own->shape) && !vn_shape_equal (&x->shape, &own->shape))
        return vn_op_fail (ctx, error, _("%s: input %u does not have the shape of its tensor, input %u"), ctx->op->type, i,
                           2 + (i - 2) % n);
    }
  for (guint i = 0; i < ctx->n_outputs; i++)
    vn_op_set_output (ctx, i, ctx->in_types[2 + i % n].dtype, &ctx->in_types[2 + i % n].shape);
  return TRUE;
}

static gboolean
training_read_step (VnOpContext  *ctx,
                    Step         *step,
                    double       *steps_made,
                    GError      **error)
{
  gboolean known;

  *step = (Step) { .norm = (double) vn_node_get_float (ctx->node, "norm_coefficient", 0.f),
                   .epsilon = (double) vn_node_get_float (ctx->node, "epsilon", 1e-6f),
                   .alpha = (double) vn_node_get_float (ctx->node, "alpha", 0.9f),
                   .beta = (double) vn_node_get_float (ctx->node, "beta", 0.999f), .factor = 1. };
  if (!vn_number_scalar (ctx, 0, &step->rate, &known, error) || !vn_op_check_index_dtype (ctx, 1, error))
    return FALSE;
  if (ctx->in[1]->n_elements != 1)
    return vn_op_fail (ctx, error, _("%s: input 1 must have 1 element, found %zu"), ctx->op->type, ctx->in[1]->n_elements);
  *steps_made = (double) vn_tensor_get_s64 (ctx->in[1], 0);
  return TRUE;
}

static void
training_store_if_wanted (VnTensor *out,
                          gsize     i,
                          double    value)
{
  if (out != NULL)
    vn_number_store (out->dtype, out->data, i, value);
}

static void
training_update_all (VnOpContext *ctx,
                     const Step  *step,
                     UpdateFunc   update)
{
  guint states = training_count_states (ctx), n = (ctx->n_inputs - 2) / (2 + states);

  for (guint t = 0; t < n; t++)
    for (gsize i = 0; i < ctx->in[2 + t]->n_elements; i++)
      {
        Element e = { vn_tensor_get_double (ctx->in[2 + t], i), vn_tensor_get_double (ctx->in[2 + n + t], i),
                      vn_tensor_get_double (ctx->in[2 + 2 * n + t], i),
                      states > 1 ? vn_tensor_get_double (ctx->in[2 + 3 * n + t], i) : 0. };

        update (step, &e);
        training_store_if_wanted (t < ctx->n_outputs ? ctx->out[t] : NULL, i, e.x);
        training_store_if_wanted (n + t < ctx->n_outputs ? ctx->out[n + t] : NULL, i, e.v);
        training_store_if_wanted (2 * n + t < ctx->n_outputs ? ctx->out[2 * n + t] : NULL, i, e.h);
      }
}

static gboolean
training_adagrad_run (VnOpContext *ctx,
                      GError     **error)
{
  double made;
  Step step;

  if (!training_read_step (ctx, &step, &made, error))
    return FALSE;
  step.rate /= 1. + made * (double) vn_node_get_float (ctx->node, "decay_factor", 0.f);
  training_update_all (ctx, &step, training_update_adagrad);
  return TRUE;
}

static gboolean
training_adam_run (VnOpContext *ctx,
                   GError     **error)
{
  double made;
  Step step;

  if (!training_read_step (ctx, &step, &made, error))
    return FALSE;
  if (made > 0)
    step.rate *= sqrt (1. - pow (step.beta, made)) / (1. - pow (step.alpha, made));
  step.factor = 1. - (double) vn_node_get_float (ctx->node, "norm_coefficient_post", 0.f);
  training_update_all (ctx, &step, training_update_adam);
  return TRUE;
}

static gboolean
training_momentum_run (VnOpContext *ctx,
                       GError     **error)
{
  static const char * const modes[] = { "standard", "nesterov", NULL };
  guint mode = vn_op_attr_choice (ctx, "mode", "standard", modes, error);
  double made;
  Step step;

  if (mode == G_MAXUINT || !training_read_step (ctx, &step, &made, error))
    return FALSE;
  step.nesterov = mode == 1;
  step.beta = made > 0 ? step.beta : 1.;
  training_update_all (ctx, &step, training_update_momentum);
  return TRUE;
}

#define TRAINING(id, type_, least)                                                                              \
  const VnOp vn_op_training_##id = {                                                                            \
    .domain = "ai.onnx.preview.training", .type = type_, .since = 1,                                            \
    .min_inputs = 2 + least, .max_inputs = VN_OP_MAX_INPUTS, .min_outputs = 1, .max_outputs = VN_OP_MAX_INPUTS, \
    .dtypes = VN_FULL_FLOAT_BITS,                                                                               \
    .family = VN_FAMILY_OTHER,                                                                                  \
    .infer = training_infer,                                                                                    \
    .run = training_##id##_run,                                                                                 \
  };

TRAINING (adagrad, "Adagrad", 3)
TRAINING (adam, "Adam", 4)
TRAINING (momentum, "Momentum", 3)
