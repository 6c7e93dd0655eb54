/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the operators of ai.onnx.ml share: transforms of scores, labels and rows. */
#include "vn-ml.h"
#include "vn-string-private.h"

/**
 * vn_ml_read_transform:
 * @transform: (out): what the attribute post_transform names
 *
 * Returns: %FALSE with an error if it names none
 */
gboolean
vn_ml_read_transform (VnOpContext    *ctx,
                      VnMlTransform  *transform,
                      GError        **error)
{
  static const char * const names[] = { "NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT", NULL };
  guint found = vn_op_attr_choice (ctx, "post_transform", "NONE", names, error);

  *transform = found < VN_ML_N_TRANSFORMS ? (VnMlTransform) found : VN_ML_NONE;
  return found != G_MAXUINT;
}

static float
ml_logistic (float x)
{
  float v = 1.f / (1.f + expf (-fabsf (x)));

  return x < 0.f ? 1.f - v : v;
}

/* The quantile of the normal distribution, with Winitzki's approximation of the inverse error function (a = 0.147):
 * everybody who runs these models uses it, and it is some 0.002 off. */
static float
ml_probit (float p)
{
  const float a = 0.147f;
  float x = 2.f * p - 1.f;
  float l = logf ((1.f - x) * (1.f + x));
  float b = 2.f / (3.14159f * a) + 0.5f * l;
  float root = sqrtf (sqrtf (b * b - 1.f / a * l) - b);

  return 1.41421356f * (x < 0.f ? -root : root);
}

/* @skip_zeros: e^0 counts as 0. */
static void
ml_softmax (float    *scores,
            gsize     n,
            gboolean  skip_zeros)
{
  float max = -G_MAXFLOAT, sum = 0.f;

  for (gsize i = 0; i < n; i++)
    max = MAX (max, scores[i]);
  for (gsize i = 0; i < n; i++)
    {
      if (skip_zeros && fabsf (scores[i]) <= 1e-7f)
        {
          scores[i] *= expf (-max);
          continue;
        }
      scores[i] = expf (scores[i] - max);
      sum += scores[i];
    }
  for (gsize i = 0; i < n; i++)
    scores[i] /= sum;
}

/**
 * vn_ml_transform:
 * @scores: of one row, replaced
 *
 * Makes probabilities, or what @transform stands for, of scores.
 */
void
vn_ml_transform (VnMlTransform  transform,
                 float         *scores,
                 gsize          n)
{
  switch (transform)
    {
    case VN_ML_SOFTMAX:
    case VN_ML_SOFTMAX_ZERO:
      ml_softmax (scores, n, transform == VN_ML_SOFTMAX_ZERO);
      return;
    case VN_ML_LOGISTIC:
    case VN_ML_PROBIT:
      for (gsize i = 0; i < n; i++)
        scores[i] = transform == VN_ML_LOGISTIC ? ml_logistic (scores[i]) : ml_probit (scores[i]);
      return;
    case VN_ML_NONE:
    case VN_ML_N_TRANSFORMS:
    default:
      return;
    }
}

/**
 * vn_ml_transform_pair:
 * @scores: the first is the score of the second class; on return those of both
 *
 * Makes two scores of one. Transforms of lists of scores do nothing here.
 */
void
vn_ml_transform_pair (VnMlTransform transform,
                      VnMlPair      pair,
                      float         scores[2])
{
  float s = transform == VN_ML_PROBIT ? ml_probit (scores[0]) : scores[0];

  scores[0] = transform == VN_ML_LOGISTIC ? ml_logistic (-s) : pair == VN_ML_PAIR_COMPLEMENT ? 1.f - s : -s;
  scores[1] = transform == VN_ML_LOGISTIC ? ml_logistic (s) : s;
}

/**
 * vn_ml_get_rows:
 * @shape: [N, F], or [F] for a single row
 * @rows: (out): N, %VN_DIM_UNKNOWN if not known
 * @columns: (out): F, likewise
 *
 * Returns: %FALSE with an error if it has another number of dims
 */
gboolean
vn_ml_get_rows (VnOpContext    *ctx,
                const VnShape  *shape,
                gint64         *rows,
                gint64         *columns,
                GError        **error)
{
  *rows = *columns = VN_DIM_UNKNOWN;
  if (shape->rank < 0)
    return TRUE;
  if (shape->rank != 1 && shape->rank != 2)
    return vn_op_fail (ctx, error, _("%s: expected an input of 1 or 2 dims, found %d"), ctx->op->type, shape->rank);
  *rows = shape->rank == 2 ? shape->dims[0] : 1;
  *columns = shape->dims[shape->rank - 1];
  return TRUE;
}

/**
 * vn_ml_read_labels:
 * @ints: name of the attribute with numbers
 * @strings: name of the attribute with texts, which counts if both are there
 * @labels: (out): borrowed from the node
 *
 * Returns: %FALSE with an error if there is neither
 */
gboolean
vn_ml_read_labels (VnOpContext  *ctx,
                   const char   *ints,
                   const char   *strings,
                   VnMlLabels   *labels,
                   GError      **error)
{
  const VnAttr *attr = vn_node_get_attr (ctx->node, strings);

  *labels = (VnMlLabels) { 0 };
  if (attr != NULL && attr->type == VN_ATTR_STRINGS && attr->strings != NULL && attr->strings->len > 0)
    {
      labels->strings = attr->strings;
      labels->n = attr->strings->len;
      return TRUE;
    }
  labels->ints = vn_node_get_ints (ctx->node, ints, &labels->n);
  if (labels->ints == NULL)
    return vn_op_fail (ctx, error, _("%s: there are no labels in %s or %s"), ctx->op->type, ints, strings);
  return TRUE;
}

/**
 * vn_ml_labels_dtype:
 *
 * Returns: element type of an output that holds labels
 */
VnDType
vn_ml_labels_dtype (const VnMlLabels *self)
{
  return self->strings != NULL ? VN_DTYPE_STRING : VN_DTYPE_S64;
}

/**
 * vn_ml_labels_store:
 * @out: of the type of the labels
 * @label: less than the number of labels
 */
void
vn_ml_labels_store (const VnMlLabels *self,
                    VnTensor         *out,
                    gsize             row,
                    gsize             label)
{
  if (self->strings != NULL)
    vn_string_take (out, row, vn_ml_dup_bytes (g_ptr_array_index (self->strings, label)));
  else
    ((gint64 *) out->data)[row] = self->ints[label];
}

/**
 * vn_ml_labels_store_sign:
 *
 * For classifiers with one score: the second or first of two labels; 1 or 0 if there is another number of them.
 */
void
vn_ml_labels_store_sign (const VnMlLabels *self,
                         VnTensor         *out,
                         gsize             row,
                         gboolean          positive)
{
  if (self->n == 2)
    vn_ml_labels_store (self, out, row, positive ? 1 : 0);
  else if (self->strings != NULL)
    vn_string_take (out, row, g_strdup (positive ? "1" : "0"));
  else
    ((gint64 *) out->data)[row] = positive;
}

/**
 * vn_ml_dup_bytes:
 *
 * Returns: (transfer full): text of a string attribute, up to a NUL if it has one
 */
char *
vn_ml_dup_bytes (GBytes *bytes)
{
  gsize size;
  const char *data = g_bytes_get_data (bytes, &size);

  return g_strndup (data != NULL ? data : "", data != NULL ? size : 0);
}
