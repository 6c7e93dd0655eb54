/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Features on their way into a classifier (ai.onnx.ml): ArrayFeatureExtractor, Binarizer, Scaler, Normalizer, Imputer
 * and FeatureVectorizer. Most make float32 of any number. */
#include "vn-ml.h"
#include "vn-number.h"

/* ---- ArrayFeatureExtractor: columns by their index ---- */

static gboolean
ml_features_extract_infer (VnOpContext *ctx,
                           GError     **error)
{
  const VnShape *x = &ctx->in_types[0].shape, *indices = &ctx->in_types[1].shape;
  VnShape out = VN_SHAPE_UNKNOWN;
  gsize n;

  if (!vn_op_check_index_dtype (ctx, 1, error))
    return FALSE;
  if (x->rank == 0)
    return vn_op_fail (ctx, error, _("ArrayFeatureExtractor: the input must have 1 dim or more"));
  if (x->rank > 0)
    {
      out = x->rank > 1 ? *x : VN_SHAPE (1, 0);
      out.dims[out.rank - 1] = vn_shape_is_static (indices) && vn_shape_n_elements (indices, &n) ? (gint64) n : VN_DIM_UNKNOWN;
    }
  vn_op_set_output (ctx, 0, ctx->in_types[0].dtype, &out);
  return TRUE;
}

static gboolean
ml_features_extract_run (VnOpContext *ctx,
                         GError     **error)
{
  const VnTensor *x = ctx->in[0], *indices = ctx->in[1];
  gsize columns = (gsize) x->shape.dims[x->shape.rank - 1], n = indices->n_elements, size = vn_elem_size (x->dtype);
  gsize rows = columns > 0 ? x->n_elements / columns : 0;
  char *to = ctx->out[0]->data;

  if (!vn_op_check_movable (ctx, error))
    return FALSE;
  for (gsize k = 0; k < n; k++)
    {
      gint64 index = vn_tensor_get_s64 (indices, k);

      if (index < 0 || index >= (gint64) columns)
        return vn_op_fail (ctx, error, _("ArrayFeatureExtractor: index %lld is out of range, there are %zu features"),
                           (long long) index, columns);
      for (gsize r = 0; r < rows; r++)
        memcpy (to + (r * n + k) * size, (const char *) x->data + (r * columns + (gsize) index) * size, size);
    }
  return TRUE;
}

const VnOp vn_op_ml_array_feature_extractor = {
  .domain = "ai.onnx.ml", .type = "ArrayFeatureExtractor", .since = 1,
  .min_inputs = 2, .max_inputs = 2, .min_outputs = 1, .max_outputs = 1,
  .dtypes = VN_NUMBER_BITS | VN_DTYPE_BIT (BOOL),
  .stand_ins = VN_STAND_IN_STRINGS,
  .family = VN_FAMILY_SHAPE,
  .infer = ml_features_extract_infer,
  .run = ml_features_extract_run,
};

/* ---- Binarizer ---- */

static gboolean
ml_features_binarizer_run (VnOpContext *ctx,
                           GError     **error)
{
  const VnTensor *x = ctx->in[0];
  VnTensor *y = ctx->out[0];
  double threshold = (double) vn_node_get_float (ctx->node, "threshold", 0.f);

  for (gsize i = 0; i < x->n_elements; i++)
    vn_number_store (y->dtype, y->data, i, vn_tensor_get_double (x, i) > threshold);
  return TRUE;
}

const VnOp vn_op_ml_binarizer = {
  .domain = "ai.onnx.ml", .type = "Binarizer", .since = 1,
  .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, .max_outputs = 1,
  .dtypes = VN_ML_FEATURE_BITS,
  .family = VN_FAMILY_ARITHMETIC,
  .infer = vn_op_infer_same,
  .run = ml_features_binarizer_run,
};

/* ---- Scaler: (x - offset) scale; Normalizer ---- */

static gboolean
ml_features_float_infer (VnOpContext *ctx,
                         GError     **error)
{
  vn_op_set_output (ctx, 0, VN_DTYPE_F32, &ctx->in_types[0].shape);
  return TRUE;
}

/* A list of one number, or one for each feature: the last dim; the step from one to the next. */
static gboolean
ml_features_check_per_feature (VnOpContext   *ctx,
                               const VnShape *shape,
                               const char    *name,
                               gsize          n,
                               gsize         *step,
                               GError       **error)
{
  gint64 features = shape->rank > 0 ? shape->dims[shape->rank - 1] : 1;

  *step = n == 1 ? 0 : 1;
  if (n == 1 || (gint64) n == features)
    return TRUE;
  return vn_op_fail (ctx, error, _("%s: %s has %zu values for %lld features"), ctx->op->type,
                     name, n, (long long) features);
}

static gboolean
ml_features_scaler_run (VnOpContext *ctx,
                        GError     **error)
{
  static const float no_offset = 0.f, no_scale = 1.f;
  const VnTensor *x = ctx->in[0];
  gsize n_offset, n_scale, offset_step = 0, scale_step = 0;
  const float *offset = vn_node_get_floats (ctx->node, "offset", &n_offset);
  const float *scale = vn_node_get_floats (ctx->node, "scale", &n_scale);
  gsize columns = x->shape.rank > 0 ? (gsize) x->shape.dims[x->shape.rank - 1] : 1;
  float *y = ctx->out[0]->data;

  if ((offset != NULL && !ml_features_check_per_feature (ctx, &x->shape, "offset", n_offset, &offset_step, error)) ||
      (scale != NULL && !ml_features_check_per_feature (ctx, &x->shape, "scale", n_scale, &scale_step, error)))
    return FALSE;
  offset = offset != NULL ? offset : &no_offset;
  scale = scale != NULL ? scale : &no_scale;
  for (gsize i = 0; i < x->n_elements; i++)
    y[i] = (float) ((vn_tensor_get_double (x, i) - (double) offset[i % columns * offset_step]) *
                    (double) scale[i % columns * scale_step]);
  return TRUE;
}

const VnOp vn_op_ml_scaler = {
  .domain = "ai.onnx.ml", .type = "Scaler", .since = 1,
  .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, .max_outputs = 1,
  .dtypes = VN_ML_FEATURE_BITS,
  .family = VN_FAMILY_ARITHMETIC,
  .infer = ml_features_float_infer,
  .run = ml_features_scaler_run,
};

typedef enum { NORM_MAX, NORM_L1, NORM_L2 } Norm;

static double
ml_features_norm_of_row (const VnTensor *x,
                         gsize           first,
                         gsize           n,
                         Norm            norm)
{
  double sum = 0, max = -HUGE_VAL;

  for (gsize i = first; i < first + n; i++)
    {
      double v = vn_tensor_get_double (x, i);

      sum += norm == NORM_L2 ? v * v : fabs (v);
      max = MAX (max, v);
    }
  return norm == NORM_MAX ? max : norm == NORM_L1 ? sum : sqrt (sum);
}

static gboolean
ml_features_normalizer_infer (VnOpContext *ctx,
                              GError     **error)
{
  gint64 rows, columns;

  return vn_ml_get_rows (ctx, &ctx->in_types[0].shape, &rows, &columns, error) && ml_features_float_infer (ctx, error);
}

static gboolean
ml_features_normalizer_run (VnOpContext *ctx,
                            GError     **error)
{
  static const char * const norms[] = { "MAX", "L1", "L2", NULL };
  guint norm = vn_op_attr_choice (ctx, "norm", "MAX", norms, error);
  const VnTensor *x = ctx->in[0];
  gsize columns = (gsize) x->shape.dims[x->shape.rank - 1];
  float *y = ctx->out[0]->data;

  if (norm == G_MAXUINT)
    return FALSE;
  for (gsize first = 0; first < x->n_elements; first += columns)
    {
      double divisor = ml_features_norm_of_row (x, first, columns, (Norm) norm);

      for (gsize i = first; i < first + columns; i++)
        y[i] = (float) (divisor != 0 ? vn_tensor_get_double (x, i) / divisor : vn_tensor_get_double (x, i));
    }
  return TRUE;
}

const VnOp vn_op_ml_normalizer = {
  .domain = "ai.onnx.ml", .type = "Normalizer", .since = 1,
  .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, .max_outputs = 1,
  .dtypes = VN_ML_FEATURE_BITS,
  .family = VN_FAMILY_POOL_NORM,
  .infer = ml_features_normalizer_infer,
  .run = ml_features_normalizer_run,
};

/* ---- Imputer: values that are missing ---- */

static void
ml_features_impute_floats (const VnTensor *x,
                           VnTensor       *y,
                           const float    *values,
                           gsize           step,
                           gsize           columns,
                           double          missing)
{
  for (gsize i = 0; i < x->n_elements; i++)
    {
      double v = vn_tensor_get_double (x, i);

      if (v == missing || (isnan (v) && isnan (missing)))
        vn_number_store (y->dtype, y->data, i, (double) values[i % columns * step]);
    }
}

static void
ml_features_impute_ints (const VnTensor *x,
                         VnTensor       *y,
                         const gint64   *values,
                         gsize           step,
                         gsize           columns,
                         gint64          missing)
{
  for (gsize i = 0; i < x->n_elements; i++)
    if (vn_tensor_get_s64 (x, i) != missing)
      continue;
    else if (y->dtype == VN_DTYPE_S64)
      ((gint64 *) y->data)[i] = values[i % columns * step];
    else
      ((gint32 *) y->data)[i] = (gint32) CLAMP (values[i % columns * step], G_MININT32, G_MAXINT32);
}

static gboolean
ml_features_imputer_run (VnOpContext *ctx,
                         GError     **error)
{
  const VnTensor *x = ctx->in[0];
  VnTensor *y = ctx->out[0];
  gboolean floats = vn_dtype_is_float (x->dtype);
  const char *name = floats ? "imputed_value_floats" : "imputed_value_int64s";
  gsize columns = x->shape.rank > 0 ? (gsize) x->shape.dims[x->shape.rank - 1] : 1, n_floats, n_ints, step;
  const float *float_values = vn_node_get_floats (ctx->node, name, &n_floats);
  const gint64 *int_values = vn_node_get_ints (ctx->node, name, &n_ints);

  if (n_floats + n_ints == 0)
    return vn_op_fail (ctx, error, _("Imputer: %s data need the attribute %s"), vn_dtype_get_name (x->dtype), name);
  if (!ml_features_check_per_feature (ctx, &x->shape, name, floats ? n_floats : n_ints, &step, error))
    return FALSE;
  if (x->n_bytes > 0)
    memcpy (y->data, x->data, x->n_bytes);
  if (floats)
    ml_features_impute_floats (x, y, float_values, step, columns,
                               (double) vn_node_get_float (ctx->node, "replaced_value_float", 0.f));
  else
    ml_features_impute_ints (x, y, int_values, step, columns, vn_node_get_int (ctx->node, "replaced_value_int64", 0));
  return TRUE;
}

const VnOp vn_op_ml_imputer = {
  .domain = "ai.onnx.ml", .type = "Imputer", .since = 1,
  .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, .max_outputs = 1,
  .dtypes = VN_ML_FEATURE_BITS,
  .family = VN_FAMILY_ARITHMETIC,
  .infer = vn_op_infer_same,
  .run = ml_features_imputer_run,
};

/* ---- FeatureVectorizer: rows of all inputs side by side, each cut or filled up with zeros to its declared length ---- */

/* Columns that input @i gets in the output. */
static gboolean
ml_features_get_width (VnOpContext  *ctx,
                       guint         i,
                       gint64       *width,
                       GError      **error)
{
  gint64 rows;
  gsize n;
  const gint64 *declared = vn_node_get_ints (ctx->node, "inputdimensions", &n);

  if (!vn_ml_get_rows (ctx, &ctx->in_types[i].shape, &rows, width, error))
    return FALSE;
  if (declared == NULL)
    return TRUE;
  if (n != ctx->n_inputs || declared[i] < 0 || declared[i] > G_MAXINT32)
    return vn_op_fail (ctx, error, _("FeatureVectorizer: inputdimensions does not have a length for each of %u inputs"),
                       ctx->n_inputs);
  *width = declared[i];
  return TRUE;
}

static gboolean
ml_features_vectorizer_infer (VnOpContext *ctx,
                              GError     **error)
{
  gint64 rows = VN_DIM_UNKNOWN, columns = 0;

  for (guint i = 0; i < ctx->n_inputs; i++)
    {
      gint64 n, width;

      if (!vn_op_has_input (ctx, i))
        return vn_op_fail (ctx, error, _("FeatureVectorizer: input %u is missing"), i);
      if (!vn_ml_get_rows (ctx, &ctx->in_types[i].shape, &n, &width, error) || !ml_features_get_width (ctx, i, &width, error))
        return FALSE;
      columns = width < 0 || columns < 0 ? VN_DIM_UNKNOWN : columns + width;
      if (n >= 0 && rows >= 0 && n != rows)
        return vn_op_fail (ctx, error, _("FeatureVectorizer: inputs have %lld and %lld rows"),
                           (long long) rows, (long long) n);
      rows = n >= 0 ? n : rows;
    }
  vn_op_set_output (ctx, 0, VN_DTYPE_F32, &VN_SHAPE (rows, columns));
  return TRUE;
}

static gboolean
ml_features_vectorizer_run (VnOpContext *ctx,
                            GError     **error)
{
  gsize rows = (gsize) ctx->out[0]->shape.dims[0], total = (gsize) ctx->out[0]->shape.dims[1], at = 0;
  float *y = ctx->out[0]->data;

  for (guint i = 0; i < ctx->n_inputs; i++)
    {
      const VnTensor *x = ctx->in[i];
      gsize columns = (gsize) x->shape.dims[x->shape.rank - 1];
      gint64 width;

      if (!ml_features_get_width (ctx, i, &width, error))
        return FALSE;
      for (gsize r = 0; r < rows; r++)
        for (gsize c = 0; c < (gsize) width; c++)
          y[r * total + at + c] = c < columns ? (float) vn_tensor_get_double (x, r * columns + c) : 0.f;
      at += (gsize) width;
    }
  return TRUE;
}

const VnOp vn_op_ml_feature_vectorizer = {
  .domain = "ai.onnx.ml", .type = "FeatureVectorizer", .since = 1,
  .min_inputs = 1, .max_inputs = VN_OP_MAX_INPUTS, .min_outputs = 1, .max_outputs = 1,
  .dtypes = VN_ML_FEATURE_BITS,
  .same_dtype = 0xfffe,
  .family = VN_FAMILY_SHAPE,
  .infer = ml_features_vectorizer_infer,
  .run = ml_features_vectorizer_run,
};
