/* SPDX-License-Identifier: GPL-3.0-or-later */
/* LinearClassifier, LinearRegressor (ai.onnx.ml): X Wᵀ + b with weights in attributes, and what is made of the scores. */
#include "vn-ml.h"

typedef struct
{
  const VnTensor *x;
  const float    *weights, *intercepts;   /* [targets, columns]; NULL: 0 */
  gsize           rows, columns, targets;
  VnMlTransform   transform;
} Linear;

/* Everything but the data; @self->targets is given. */
static gboolean
ml_linear_read_linear (VnOpContext  *ctx,
                       Linear       *self,
                       GError      **error)
{
  gsize n_weights, n_intercepts;
  gint64 rows, columns;

  self->weights = vn_node_get_floats (ctx->node, "coefficients", &n_weights);
  self->intercepts = vn_node_get_floats (ctx->node, "intercepts", &n_intercepts);
  if (!vn_ml_get_rows (ctx, &ctx->in_types[0].shape, &rows, &columns, error) ||
      !vn_ml_read_transform (ctx, &self->transform, error))
    return FALSE;
  if (self->targets == 0 || n_weights % self->targets != 0 || (columns >= 0 && n_weights / self->targets != (gsize) columns))
    return vn_op_fail (ctx, error, _("%s: %zu coefficients for %lld features and %zu targets"), ctx->op->type,
                       n_weights, (long long) columns, self->targets);
  if (n_intercepts != 0 && n_intercepts != self->targets)
    return vn_op_fail (ctx, error, _("%s: %zu intercepts for %zu targets"), ctx->op->type,
                       n_intercepts, self->targets);
  self->rows = rows > 0 ? (gsize) rows : 0;
  self->columns = columns > 0 ? (gsize) columns : 0;
  return TRUE;
}

static float
ml_linear_score_of (const Linear *self,
                    gsize         row,
                    gsize         target)
{
  const float *w = self->weights + target * self->columns;
  double sum = self->intercepts != NULL ? (double) self->intercepts[target] : 0.;

  for (gsize c = 0; c < self->columns; c++)
    sum += vn_tensor_get_double (self->x, row * self->columns + c) * (double) w[c];
  return (float) sum;
}

/* ---- LinearRegressor ---- */

static gboolean
ml_linear_read_regressor (VnOpContext  *ctx,
                          Linear       *self,
                          GError      **error)
{
  gint64 targets = vn_node_get_int (ctx->node, "targets", 1);

  if (targets < 1 || targets > G_MAXINT32)
    return vn_op_fail (ctx, error, _("LinearRegressor: the number of targets is %lld"), (long long) targets);
  *self = (Linear) { .targets = (gsize) targets };
  return ml_linear_read_linear (ctx, self, error);
}

static gboolean
ml_linear_regressor_infer (VnOpContext *ctx,
                           GError     **error)
{
  const VnShape *x = &ctx->in_types[0].shape;
  Linear self;

  if (!ml_linear_read_regressor (ctx, &self, error))
    return FALSE;
  vn_op_set_output (ctx, 0, VN_DTYPE_F32,
                    &VN_SHAPE (x->rank == 2 ? x->dims[0] : x->rank == 1 ? 1 : VN_DIM_UNKNOWN, (gint64) self.targets));
  return TRUE;
}

static gboolean
ml_linear_regressor_run (VnOpContext *ctx,
                         GError     **error)
{
  float *y = ctx->out[0]->data;
  Linear self;

  if (!ml_linear_read_regressor (ctx, &self, error))
    return FALSE;
  self.x = ctx->in[0];
  for (gsize r = 0; r < self.rows; r++, y += self.targets)
    {
      for (gsize t = 0; t < self.targets; t++)
        y[t] = ml_linear_score_of (&self, r, t);
      if (self.targets > 1 || self.transform == VN_ML_PROBIT)   /* as ONNX Runtime has it */
        vn_ml_transform (self.transform, y, self.targets);
    }
  return TRUE;
}

const VnOp vn_op_ml_linear_regressor = {
  .domain = "ai.onnx.ml", .type = "LinearRegressor", .since = 1,
  .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, .max_outputs = 1,
  .dtypes = VN_ML_FEATURE_BITS,
  .family = VN_FAMILY_COMPUTE,
  .infer = ml_linear_regressor_infer,
  .run = ml_linear_regressor_run,
};

/* ---- LinearClassifier ---- */

static gboolean
ml_linear_read_classifier (VnOpContext  *ctx,
                           Linear       *self,
                           VnMlLabels   *labels,
                           GError      **error)
{
  gsize n_weights, n_intercepts;
  gint64 rows, columns;

  *self = (Linear) { 0 };
  vn_node_get_floats (ctx->node, "coefficients", &n_weights);
  vn_node_get_floats (ctx->node, "intercepts", &n_intercepts);
  if (!vn_ml_read_labels (ctx, "classlabels_ints", "classlabels_strings", labels, error) ||
      !vn_ml_get_rows (ctx, &ctx->in_types[0].shape, &rows, &columns, error))
    return FALSE;
  self->targets = n_intercepts > 0 ? n_intercepts : columns > 0 ? n_weights / (gsize) columns : labels->n;
  if (!ml_linear_read_linear (ctx, self, error))
    return FALSE;
  if (self->targets > 1 && self->targets > labels->n)
    return vn_op_fail (ctx, error, _("LinearClassifier: %zu labels for %zu classes"), labels->n,
                       self->targets);
  return TRUE;
}

static gboolean
ml_linear_classifier_infer (VnOpContext *ctx,
                            GError     **error)
{
  const VnShape *x = &ctx->in_types[0].shape;
  gint64 rows = x->rank == 2 ? x->dims[0] : x->rank == 1 ? 1 : VN_DIM_UNKNOWN;
  VnMlLabels labels;
  Linear self;

  if (!ml_linear_read_classifier (ctx, &self, &labels, error))
    return FALSE;
  vn_op_set_output (ctx, 0, vn_ml_labels_dtype (&labels), &VN_SHAPE (rows));
  vn_op_set_output (ctx, 1, VN_DTYPE_F32,
                    &VN_SHAPE (rows, self.targets == 1 && labels.n == 2 ? 2 : (gint64) self.targets));
  ctx->scratch_bytes = MAX (self.targets, 2) * sizeof (float);
  return TRUE;
}

static gsize
ml_linear_find_largest (const float *scores,
                        gsize        n)
{
  gsize best = 0;

  for (gsize i = 1; i < n; i++)
    if (scores[i] > scores[best])
      best = i;
  return best;
}

static gboolean
ml_linear_classifier_run (VnOpContext *ctx,
                          GError     **error)
{
  float *scores = ctx->scratch, *z = ctx->n_outputs > 1 && ctx->out[1] != NULL ? ctx->out[1]->data : NULL;
  VnMlLabels labels;
  Linear self;
  gsize n;

  if (!ml_linear_read_classifier (ctx, &self, &labels, error))
    return FALSE;
  self.x = ctx->in[0];
  n = self.targets == 1 && labels.n == 2 ? 2 : self.targets;
  for (gsize r = 0; r < self.rows; r++)
    {
      for (gsize t = 0; t < self.targets; t++)
        scores[t] = ml_linear_score_of (&self, r, t);
      if (self.targets > 1)
        vn_ml_labels_store (&labels, ctx->out[0], r, ml_linear_find_largest (scores, self.targets));
      else
        vn_ml_labels_store_sign (&labels, ctx->out[0], r, scores[0] > 0.f);
      if (n > self.targets)
        vn_ml_transform_pair (self.transform, VN_ML_PAIR_COMPLEMENT, scores);
      else
        vn_ml_transform (self.transform, scores, n);
      if (z != NULL)
        memcpy (z + r * n, scores, n * sizeof (float));
    }
  return TRUE;
}

const VnOp vn_op_ml_linear_classifier = {
  .domain = "ai.onnx.ml", .type = "LinearClassifier", .since = 1,
  .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, .max_outputs = 2,
  .dtypes = VN_ML_FEATURE_BITS,
  .family = VN_FAMILY_COMPUTE,
  .infer = ml_linear_classifier_infer,
  .run = ml_linear_classifier_run,
};
