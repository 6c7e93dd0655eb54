/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SVMClassifier, SVMRegressor (ai.onnx.ml): products of a row with support vectors, or with weights where there are none.
 * A classifier of k classes has k (k - 1) / 2 scores, one for each pair, which vote; with prob_a and prob_b they become
 * probabilities by the method of Wu, Lin and Weng (2004, their second one), as in libsvm. */
#include "vn-ml.h"

typedef enum { LINEAR, POLY, RBF, SIGMOID } Kernel;

typedef struct
{
  const VnTensor *x;
  Kernel          kernel;
  float           gamma, coef0, degree;
  const float    *coefficients, *vectors, *rho, *prob_a, *prob_b;
  gsize           n_coefficients, n_vectors, n_rho, n_prob;
  gsize           rows, columns;
  VnMlTransform   transform;
  /* classifier */
  VnMlLabels      labels;
  const gint64   *per_class;
  gsize           n_pairs;
  gboolean        all_positive;
} Svm;

static gboolean
ml_svm_read_svm (VnOpContext  *ctx,
                 Svm          *self,
                 GError      **error)
{
  static const char * const kernels[] = { "LINEAR", "POLY", "RBF", "SIGMOID", NULL };
  guint kernel = vn_op_attr_choice (ctx, "kernel_type", "LINEAR", kernels, error);
  gsize n_params, n_b;
  const float *params = vn_node_get_floats (ctx->node, "kernel_params", &n_params);
  gint64 rows, columns;

  *self = (Svm) { .kernel = (Kernel) kernel };
  self->coefficients = vn_node_get_floats (ctx->node, "coefficients", &self->n_coefficients);
  self->vectors = vn_node_get_floats (ctx->node, "support_vectors", &self->n_vectors);
  self->rho = vn_node_get_floats (ctx->node, "rho", &self->n_rho);
  self->prob_a = vn_node_get_floats (ctx->node, "prob_a", &self->n_prob);
  self->prob_b = vn_node_get_floats (ctx->node, "prob_b", &n_b);
  if (kernel == G_MAXUINT || !vn_ml_read_transform (ctx, &self->transform, error) ||
      !vn_ml_get_rows (ctx, &ctx->in_types[0].shape, &rows, &columns, error))
    return FALSE;
  if (self->coefficients == NULL || self->rho == NULL || self->n_prob != n_b || (n_params != 0 && n_params != 3))
    return vn_op_fail (ctx, error, _("%s: coefficients or rho are missing, or kernel_params or prob_b have a wrong length"),
                       ctx->op->type);
  self->gamma = n_params == 3 ? params[0] : 0.f;
  self->coef0 = n_params == 3 ? params[1] : 0.f;
  self->degree = n_params == 3 ? params[2] : 0.f;
  self->rows = rows > 0 ? (gsize) rows : 0;
  self->columns = columns > 0 ? (gsize) columns : 0;
  return TRUE;
}

static gboolean
ml_svm_check_length (VnOpContext  *ctx,
                     const char   *name,
                     gsize         n,
                     gsize         expected,
                     GError      **error)
{
  return n == expected || vn_op_fail (ctx, error, _("%s: %s has %zu values, expected %zu"),
                                      ctx->op->type, name, n, expected);
}

/* Product of a row with @vector. */
static float
ml_svm_product (const Svm   *self,
                Kernel       kernel,
                gsize        row,
                const float *vector)
{
  double sum = 0;

  for (gsize c = 0; c < self->columns; c++)
    {
      double x = vn_tensor_get_double (self->x, row * self->columns + c), d = x - (double) vector[c];

      sum += kernel == RBF ? d * d : x * (double) vector[c];
    }
  switch (kernel)
    {
    case POLY: return powf (self->gamma * (float) sum + self->coef0, self->degree);
    case RBF: return expf (-self->gamma * (float) sum);
    case SIGMOID: return tanhf (self->gamma * (float) sum + self->coef0);
    case LINEAR:
    default:
      return (float) sum;
    }
}

/* ---- SVMRegressor ---- */

static gboolean
ml_svm_read_regressor (VnOpContext  *ctx,
                       Svm          *self,
                       gsize        *n_supports,
                       GError      **error)
{
  gint64 n = vn_node_get_int (ctx->node, "n_supports", 0);

  if (!ml_svm_read_svm (ctx, self, error))
    return FALSE;
  if (n < 0 || n > (gint64) self->n_vectors)
    return vn_op_fail (ctx, error, _("SVMRegressor: n_supports is %lld, but there are %zu support vector values"),
                       (long long) n, self->n_vectors);
  *n_supports = (gsize) n;
  if (ctx->in_types[0].shape.rank < 0 || ctx->in_types[0].shape.dims[ctx->in_types[0].shape.rank - 1] < 0)
    return TRUE;
  return n == 0 ? ml_svm_check_length (ctx, "coefficients", self->n_coefficients, self->columns, error)
                : ml_svm_check_length (ctx, "coefficients", self->n_coefficients, *n_supports, error) &&
                  ml_svm_check_length (ctx, "support_vectors", self->n_vectors, *n_supports * self->columns, error);
}

static gboolean
ml_svm_regressor_infer (VnOpContext *ctx,
                        GError     **error)
{
  const VnShape *x = &ctx->in_types[0].shape;
  gsize n = 0;
  Svm self;

  if (!ml_svm_read_regressor (ctx, &self, &n, error))
    return FALSE;
  vn_op_set_output (ctx, 0, VN_DTYPE_F32, &VN_SHAPE (x->rank == 2 ? x->dims[0] : x->rank == 1 ? 1 : VN_DIM_UNKNOWN, 1));
  return TRUE;
}

static gboolean
ml_svm_regressor_run (VnOpContext *ctx,
                      GError     **error)
{
  gboolean one_class = vn_node_get_int (ctx->node, "one_class", 0) != 0;
  float *y = ctx->out[0]->data;
  gsize n = 0;
  Svm self;

  if (!ml_svm_read_regressor (ctx, &self, &n, error))
    return FALSE;
  self.x = ctx->in[0];
  for (gsize r = 0; r < self.rows; r++)
    {
      double sum = (double) self.rho[0];

      for (gsize i = 0; i < n; i++)
        sum += (double) self.coefficients[i] * (double) ml_svm_product (&self, self.kernel, r, self.vectors + i * self.columns);
      if (n == 0)
        sum += (double) ml_svm_product (&self, LINEAR, r, self.coefficients);
      y[r] = one_class ? (sum > 0 ? 1.f : -1.f) : (float) sum;
    }
  return TRUE;
}

const VnOp vn_op_ml_svm_regressor = {
  .domain = "ai.onnx.ml", .type = "SVMRegressor", .since = 1,
  .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, .max_outputs = 1,
  .dtypes = VN_ML_FEATURE_BITS,
  .family = VN_FAMILY_COMPUTE,
  .infer = ml_svm_regressor_infer,
  .run = ml_svm_regressor_run,
};

/* ---- SVMClassifier ---- */

#define MAX_CLASSES 4096

/* Support vectors of all classes together; 0: weights instead. */
static gboolean
ml_svm_count_supports (VnOpContext  *ctx,
                       const Svm    *self,
                       gsize         n_classes,
                       gsize        *n_supports,
                       GError      **error)
{
  *n_supports = 0;
  for (gsize i = 0; i < n_classes; i++)
    {
      if (self->per_class[i] < 0 || self->per_class[i] > (gint64) self->n_vectors)
        return vn_op_fail (ctx, error, _("SVMClassifier: class %zu has %lld support vectors"), i,
                           (long long) self->per_class[i]);
      *n_supports += (gsize) self->per_class[i];
    }
  return TRUE;
}

static gboolean
ml_svm_check_classifier (VnOpContext  *ctx,
                         Svm          *self,
                         gsize         n_supports,
                         GError      **error)
{
  gsize n = self->labels.n;
  gboolean known = ctx->in_types[0].shape.rank >= 0 && ctx->in_types[0].shape.dims[ctx->in_types[0].shape.rank - 1] >= 0;

  if (n_supports == 0)
    return !known || ml_svm_check_length (ctx, "coefficients", self->n_coefficients, n * self->columns, error);
  if (n < 2 || self->n_rho < self->n_pairs || (self->n_prob != 0 && self->n_prob < self->n_pairs))
    return vn_op_fail (ctx, error, _("SVMClassifier: rho, prob_a and prob_b need %zu values for %zu classes"), self->n_pairs, n);
  return ml_svm_check_length (ctx, "coefficients", self->n_coefficients, (n - 1) * n_supports, error) &&
         (!known || ml_svm_check_length (ctx, "support_vectors", self->n_vectors, n_supports * self->columns, error));
}

static gboolean
ml_svm_read_classifier (VnOpContext  *ctx,
                        Svm          *self,
                        gsize        *n_supports,
                        GError      **error)
{
  gsize n;

  if (!ml_svm_read_svm (ctx, self, error) ||
      !vn_ml_read_labels (ctx, "classlabels_ints", "classlabels_strings", &self->labels, error))
    return FALSE;
  self->per_class = vn_node_get_ints (ctx->node, "vectors_per_class", &n);
  if (self->labels.n > MAX_CLASSES || (n != 0 && n != self->labels.n))
    return vn_op_fail (ctx, error, _("SVMClassifier: %zu labels, but %zu values in vectors_per_class"),
                       self->labels.n, n);
  self->n_pairs = self->labels.n * (self->labels.n - 1) / 2;
  self->all_positive = TRUE;
  for (gsize i = 0; i < self->n_coefficients; i++)
    self->all_positive &= self->coefficients[i] >= 0.f;
  return ml_svm_count_supports (ctx, self, n, n_supports, error) && ml_svm_check_classifier (ctx, self, *n_supports, error);
}

/* How many scores a row has in the output. */
static gsize
ml_svm_count_scores (const Svm *self,
                     gsize      n_supports)
{
  if (n_supports == 0 || self->n_prob > 0)
    return self->labels.n;
  return self->labels.n > 2 ? self->n_pairs : 2;
}

static gboolean
ml_svm_classifier_infer (VnOpContext *ctx,
                         GError     **error)
{
  const VnShape *x = &ctx->in_types[0].shape;
  gint64 rows = x->rank == 2 ? x->dims[0] : x->rank == 1 ? 1 : VN_DIM_UNKNOWN;
  gsize n = 0, n_classes;
  Svm self;

  if (!ml_svm_read_classifier (ctx, &self, &n, error))
    return FALSE;
  n_classes = self.labels.n;
  vn_op_set_output (ctx, 0, vn_ml_labels_dtype (&self.labels), &VN_SHAPE (rows));
  vn_op_set_output (ctx, 1, VN_DTYPE_F32, &VN_SHAPE (rows, (gint64) ml_svm_count_scores (&self, n)));
  ctx->scratch_bytes = sizeof (float) * (n + 2 * self.n_pairs + 3 * n_classes + 2 * n_classes * n_classes + 4);
  return TRUE;
}

/* Scores of all pairs from @products; votes for the winners. The coefficients of class i against class j are in row
 * j - 1 beside the vectors of i, and in row i beside those of j, for i < j. */
static void
ml_svm_score_pairs (const Svm   *self,
                    gsize        n_supports,
                    const float *products,
                    float       *scores,
                    float       *votes)
{
  gsize n = self->labels.n, pair = 0, start_i = 0;

  for (gsize i = 0; i < n; i++)
    votes[i] = 0.f;
  for (gsize i = 0; i < n; start_i += (gsize) self->per_class[i++])
    for (gsize j = i + 1, start_j = start_i + (gsize) self->per_class[i]; j < n; start_j += (gsize) self->per_class[j++])
      {
        double sum = (double) self->rho[pair];

        for (gsize v = start_i; v < start_i + (gsize) self->per_class[i]; v++)
          sum += (double) self->coefficients[(j - 1) * n_supports + v] * (double) products[v];
        for (gsize v = start_j; v < start_j + (gsize) self->per_class[j]; v++)
          sum += (double) self->coefficients[i * n_supports + v] * (double) products[v];
        scores[pair++] = (float) sum;
        votes[sum > 0 ? i : j] += 1.f;
      }
}

/* One round over all classes of the iteration that solves min Σ (r_ji p_i - r_ij p_j)². */
static void
ml_svm_improve_probabilities (const float *q,
                              float       *qp,
                              float       *p,
                              gsize        n,
                              float        pqp)
{
  for (gsize i = 0; i < n; i++)
    {
      float step = (pqp - qp[i]) / q[i * n + i];

      p[i] += step;
      pqp = (pqp + step * (step * q[i * n + i] + 2.f * qp[i])) / ((1.f + step) * (1.f + step));
      for (gsize j = 0; j < n; j++)
        {
          qp[j] = (qp[j] + step * q[i * n + j]) / (1.f + step);
          p[j] /= 1.f + step;
        }
    }
}

/* @r: [n, n], how probable class i is against class j. */
static void
ml_svm_couple (const float *r,
               float       *q,
               float       *qp,
               float       *p,
               gsize        n)
{
  for (gsize i = 0; i < n; i++)
    {
      p[i] = 1.f / (float) n;
      q[i * n + i] = 0.f;
      for (gsize j = 0; j < n; j++)
        if (j != i)
          {
            q[i * n + i] += r[j * n + i] * r[j * n + i];
            q[i * n + j] = -r[j * n + i] * r[i * n + j];
          }
    }
  for (int round = 0; round < 100; round++)
    {
      float pqp = 0.f, worst = 0.f;

      for (gsize i = 0; i < n; i++)
        {
          qp[i] = 0.f;
          for (gsize j = 0; j < n; j++)
            qp[i] += q[i * n + j] * p[j];
          pqp += p[i] * qp[i];
        }
      for (gsize i = 0; i < n; i++)
        worst = MAX (worst, fabsf (qp[i] - pqp));
      if (worst < 0.005f / (float) n)
        return;
      ml_svm_improve_probabilities (q, qp, p, n, pqp);
    }
}

static void
ml_svm_find_probabilities (const Svm   *self,
                           const float *scores,
                           float       *room,
                           float       *p)
{
  gsize n = self->labels.n, pair = 0;
  float *r = room, *q = r + n * n, *qp = q + n * n;

  for (gsize i = 0; i < n; i++)
    for (gsize j = i + 1; j < n; j++, pair++)
      {
        float value = -(scores[pair] * self->prob_a[pair] + self->prob_b[pair]);

        vn_ml_transform (VN_ML_LOGISTIC, &value, 1);
        r[i * n + j] = CLAMP (value, 1e-7f, 1.f - 1e-7f);
        r[j * n + i] = 1.f - r[i * n + j];
      }
  ml_svm_couple (r, q, qp, p, n);
}

static gsize
ml_svm_find_largest (const float *values,
                     gsize        n)
{
  gsize best = 0;

  for (gsize i = 1; i < n; i++)
    if (values[i] > values[best])
      best = i;
  return best;
}

/* Votes decide; scores of two classes without votes have a rule of their own, and so has a single one. */
static void
ml_svm_store_label (const Svm *self,
                    VnTensor  *out,
                    gsize      row,
                    gsize      winner,
                    float      weight,
                    gboolean   voted)
{
  if (self->labels.n == 1)
    vn_ml_labels_store_sign (&self->labels, out, row, weight > 0.f);
  else if (self->labels.n == 2 && !voted && (self->all_positive ? weight >= 0.5f : weight > 0.f))
    vn_ml_labels_store (&self->labels, out, row, 1);
  else
    vn_ml_labels_store (&self->labels, out, row, winner);
}

/* One row; scores of the output are left in @z. */
static void
ml_svm_classify (const Svm *self,
                 gsize      n_supports,
                 VnTensor  *labels,
                 gsize      row,
                 float     *room,
                 float     *z)
{
  gsize n = self->labels.n;
  float *products = room, *scores = products + n_supports, *votes = scores + self->n_pairs + 2, *rest = votes + n;
  const float *ballot = z;
  gsize winner;

  if (n_supports == 0)
    for (gsize i = 0; i < n; i++)
      z[i] = ml_svm_product (self, LINEAR, row, self->coefficients + i * self->columns) + self->rho[0];
  else
    {
      for (gsize v = 0; v < n_supports; v++)
        products[v] = ml_svm_product (self, self->kernel, row, self->vectors + v * self->columns);
      ml_svm_score_pairs (self, n_supports, products, scores, votes);
      ballot = votes;
      if (self->n_prob > 0)
        ml_svm_find_probabilities (self, scores, rest, z);
      else
        memcpy (z, scores, self->n_pairs * sizeof (float));
    }
  winner = ml_svm_find_largest (ballot, n);
  ml_svm_store_label (self, labels, row, winner, ballot[winner], n_supports > 0);
  if (n_supports > 0 && self->n_prob == 0 && n <= 2)
    vn_ml_transform_pair (self->transform, self->transform == VN_ML_NONE ? VN_ML_PAIR_NEGATIVE : VN_ML_PAIR_COMPLEMENT, z);
  else
    vn_ml_transform (self->transform, z, ml_svm_count_scores (self, n_supports));
}

static gboolean
ml_svm_classifier_run (VnOpContext *ctx,
                       GError     **error)
{
  float *room = ctx->scratch, *z, *to = ctx->n_outputs > 1 && ctx->out[1] != NULL ? ctx->out[1]->data : NULL;
  gsize n_supports = 0, n_scores, n;
  Svm self;

  if (!ml_svm_read_classifier (ctx, &self, &n_supports, error))
    return FALSE;
  n = self.labels.n;
  self.x = ctx->in[0];
  n_scores = ml_svm_count_scores (&self, n_supports);
  z = room + n_supports + self.n_pairs + 2 + 2 * n + 2 * n * n;
  for (gsize r = 0; r < self.rows; r++)
    {
      ml_svm_classify (&self, n_supports, ctx->out[0], r, room, z);
      if (to != NULL)
        memcpy (to + r * n_scores, z, n_scores * sizeof (float));
    }
  return TRUE;
}

const VnOp vn_op_ml_svm_classifier = {
  .domain = "ai.onnx.ml", .type = "SVMClassifier", .since = 1,
  .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, .max_outputs = 2,
  .dtypes = VN_ML_FEATURE_BITS,
  .family = VN_FAMILY_COMPUTE,
  .infer = ml_svm_classifier_infer,
  .run = ml_svm_classifier_run,
};
