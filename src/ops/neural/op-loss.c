/* SPDX-License-Identifier: GPL-3.0-or-later */
/* NegativeLogLikelihoodLoss: minus the input at the class each target names, times the weight of that class;
 * SoftmaxCrossEntropyLoss: the same of the logarithm of the softmax over the classes. Their mean is the sum divided by
 * the sum of the weights. Targets that are ignore_index count as weight 0. */
#include "vn-number.h"

enum { INPUT, TARGET, WEIGHT };

typedef enum { MEAN, SUM, NONE } Reduction;

typedef struct
{
  const VnTensor *x, *target, *weight;
  VnTensor       *loss, *log_prob;
  gboolean        softmax, has_ignored;
  gint64          ignored;
  Reduction       reduction;
  gsize           classes, inner;
} Loss;

static gboolean
loss_get_reduction (VnOpContext  *ctx,
                    Reduction    *reduction,
                    GError      **error)
{
  static const char * const names[] = { "mean", "sum", "none", NULL };
  guint choice = vn_op_attr_choice (ctx, "reduction", "mean", names, error);

  *reduction = (Reduction) choice;
  return choice != G_MAXUINT;
}

static gboolean
loss_check_shapes (VnOpContext  *ctx,
                   GError      **error)
{
  const VnShape *x = &ctx->in_types[INPUT].shape, *target = &ctx->in_types[TARGET].shape;
  const VnShape *weight = vn_op_has_input (ctx, WEIGHT) ? &ctx->in_types[WEIGHT].shape : NULL;

  if (x->rank < 0)
    return TRUE;
  if (x->rank < 2 || (target->rank >= 0 && target->rank != x->rank - 1))
    return vn_op_fail (ctx, error, _("%s: the input has %d dims and the targets have %d; the targets must have all "
                                     "axes but the class axis, 1"), ctx->op->type, x->rank, target->rank);
  for (int d = 0; d < target->rank; d++)
    {
      gint64 have = x->dims[d == 0 ? 0 : d + 1];

      if (have >= 0 && target->dims[d] >= 0 && have != target->dims[d])
        return vn_op_fail (ctx, error, _("%s: dim %d of the targets is %lld, the input has %lld"),
                           ctx->op->type, d, (long long) target->dims[d], (long long) have);
    }
  if (weight != NULL && weight->rank >= 0 && (weight->rank != 1 || (weight->dims[0] >= 0 && x->dims[1] >= 0 &&
                                                                    weight->dims[0] != x->dims[1])))
    return vn_op_fail (ctx, error, _("%s: there must be one weight for each of %lld classes"), ctx->op->type,
                       (long long) x->dims[1]);
  return TRUE;
}

static gboolean
loss_infer (VnOpContext *ctx,
            GError     **error)
{
  const VnShape *x = &ctx->in_types[INPUT].shape;
  VnShape loss = VN_SHAPE_SCALAR;
  Reduction reduction;

  if (!vn_op_check_index_dtype (ctx, TARGET, error) || !loss_get_reduction (ctx, &reduction, error) ||
      !loss_check_shapes (ctx, error))
    return FALSE;
  if (reduction == NONE)
    {
      loss = ctx->in_types[TARGET].shape;
      if (x->rank >= 2)
        {
          loss = VN_SHAPE (x->dims[0]);
          loss.rank = x->rank - 1;
          memcpy (loss.dims + 1, x->dims + 2, (gsize) (x->rank - 2) * sizeof (gint64));
        }
    }
  vn_op_set_output (ctx, 0, ctx->in_types[INPUT].dtype, &loss);
  vn_op_set_output (ctx, 1, ctx->in_types[INPUT].dtype, x);
  return TRUE;
}

/* Logarithm of the sum of the exponentials of all classes of one item. */
static double
loss_log_sum (const Loss *self,
              gsize       base)
{
  double max = -INFINITY, sum = 0;

  for (gsize c = 0; c < self->classes; c++)
    {
      double x = vn_tensor_get_double (self->x, base + c * self->inner);

      if (x > max || isnan (x))
        max = x;
    }
  if (!isfinite (max))
    return max;
  for (gsize c = 0; c < self->classes; c++)
    sum += exp (vn_tensor_get_double (self->x, base + c * self->inner) - max);
  return max + log (sum);
}

static double
loss_item (const Loss *self,
           gsize       item,
           gsize       base,
           double     *weight)
{
  gint64 class = vn_tensor_get_s64 (self->target, item);
  double log_of_sum = self->softmax ? loss_log_sum (self, base) : 0.;

  for (gsize c = 0; self->log_prob != NULL && c < self->classes; c++)
    vn_number_store (self->log_prob->dtype, self->log_prob->data, base + c * self->inner,
                     vn_tensor_get_double (self->x, base + c * self->inner) - log_of_sum);
  *weight = 0.;
  if (self->has_ignored && class == self->ignored)
    return 0.;
  *weight = self->weight != NULL ? vn_tensor_get_double (self->weight, (gsize) class) : 1.;
  return *weight * (log_of_sum - vn_tensor_get_double (self->x, base + (gsize) class * self->inner));
}

static gboolean
loss_check_targets (VnOpContext  *ctx,
                    const Loss   *self,
                    GError      **error)
{
  for (gsize i = 0; i < self->target->n_elements; i++)
    {
      gint64 class = vn_tensor_get_s64 (self->target, i);

      if ((class < 0 || class >= (gint64) self->classes) && !(self->has_ignored && class == self->ignored))
        return vn_op_fail (ctx, error, _("%s: target %zu is class %lld, but there are only %zu classes"), ctx->op->type, i,
                           (long long) class, self->classes);
    }
  return TRUE;
}

static gboolean
loss_run (VnOpContext *ctx,
          GError     **error)
{
  const VnTensor *x = ctx->in[INPUT];
  Loss self = { .x = x, .target = ctx->in[TARGET], .weight = vn_op_has_input (ctx, WEIGHT) ? ctx->in[WEIGHT] : NULL,
                .loss = ctx->out[0], .log_prob = ctx->n_outputs > 1 ? ctx->out[1] : NULL,
                .softmax = g_str_equal (ctx->op->type, "SoftmaxCrossEntropyLoss"),
                .has_ignored = vn_node_get_attr (ctx->node, "ignore_index") != NULL,
                .ignored = vn_node_get_int (ctx->node, "ignore_index", 0),
                .classes = (gsize) x->shape.dims[1], .inner = (gsize) vn_shape_count (&x->shape, 2, x->shape.rank) };
  double sum = 0, weights = 0;

  if ((VN_FLOAT_BITS >> x->dtype & 1) == 0)
    return vn_op_unsupported (ctx, INPUT, error);
  if (!loss_get_reduction (ctx, &self.reduction, error) || !loss_check_targets (ctx, &self, error))
    return FALSE;
  for (gsize i = 0; i < self.target->n_elements; i++)
    {
      double weight, loss = loss_item (&self, i, i / self.inner * self.classes * self.inner + i % self.inner, &weight);

      sum += loss;
      weights += weight;
      if (self.reduction == NONE)
        vn_number_store (x->dtype, self.loss->data, i, loss);
    }
  if (self.reduction != NONE)
    vn_number_store (x->dtype, self.loss->data, 0, self.reduction == SUM ? sum : sum / weights);
  return TRUE;
}

#define LOSS(variable, name, outputs)                                           \
  const VnOp variable = {                                                       \
    .domain = "", .type = name, .since = 12,                                    \
    .min_inputs = 2, .max_inputs = 3, .min_outputs = 1, .max_outputs = outputs, \
    .others = { [1] = VN_INDEX_BITS },                                          \
    .dtypes = VN_FULL_FLOAT_BITS, .same_dtype = 1u << WEIGHT,                   \
    .stand_ins = VN_STAND_IN_HALVES,                                            \
    .family = VN_FAMILY_OTHER,                                                  \
    .infer = loss_infer,                                                        \
    .run = loss_run,                                                            \
  };

LOSS (vn_op_negative_log_likelihood_loss_12, "NegativeLogLikelihoodLoss", 1)
LOSS (vn_op_softmax_cross_entropy_loss_12, "SoftmaxCrossEntropyLoss", 2)
