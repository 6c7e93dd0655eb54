/* SPDX-License-Identifier: GPL-3.0-or-later */
/* TreeEnsemble, TreeEnsembleRegressor, TreeEnsembleClassifier (ai.onnx.ml): every tree votes with the leaf a row ends
 * in; votes are put together, and labels follow from them the way ONNX Runtime draws them, where ONNX is vague. */
#include "vn-ml-tree.h"
#include "vn-number.h"

typedef enum { AVERAGE, SUM, MINIMUM, MAXIMUM, N_AGGREGATES } Aggregate;   /* numbered as in TreeEnsemble */

typedef struct
{
  const VnForest *forest;
  const VnTensor *x;
  VnTensor       *labels_out, *scores_out;
  Aggregate       aggregate;
  VnMlTransform   transform;
  VnTensor       *base;            /* NULL: none */
  VnMlLabels      labels;          /* n = 0: regression */
  gboolean        one_class, all_positive;
  gsize           columns, n, piece;
  char           *scratch;
} Trees;

/* What a worker needs for one row. */
typedef struct
{
  double *row, *scores, *has;
  float  *z;
} Row;

/* Bytes of a Row, a multiple of 64. FALSE: more than anyone has. */
static gboolean
ml_tree_get_piece (gint64  columns,
                   gsize   n,
                   gsize  *piece)
{
  if (columns > G_MAXINT32 / 64 || n > G_MAXINT32 / 64)
    return FALSE;
  *piece = ((gsize) MAX (columns, 0) * sizeof (double) + n * (2 * sizeof (double) + sizeof (float)) + 128) & ~(gsize) 63;
  return TRUE;
}

static Row
ml_tree_get_row (const Trees *self,
                 guint        worker)
{
  double *at = (double *) (gpointer) (self->scratch + worker * self->piece);

  return (Row) { at, at + self->columns, at + self->columns + self->n, (float *) (at + self->columns + 2 * self->n) };
}

/* ---- votes ---- */

static double
ml_tree_add (const Trees *self,
             double       a,
             double       b)
{
  return self->forest->wide ? a + b : (double) ((float) a + (float) b);
}

static void
ml_tree_vote (const Trees *self,
              const Row   *row)
{
  const VnForest *forest = self->forest;

  for (gsize i = 0; i < self->n; i++)
    row->scores[i] = row->has[i] = 0;
  for (gsize t = 0; t < forest->n_roots; t++)
    {
      const VnTreeNode *leaf = vn_forest_find_leaf (forest, forest->roots[t], row->row);

      for (gsize v = leaf->first; v < leaf->first + leaf->n; v++)
        {
          double *score = &row->scores[forest->votes[v].target], weight = forest->votes[v].weight;
          gboolean has = row->has[forest->votes[v].target] != 0;

          if (self->aggregate <= SUM)
            *score = ml_tree_add (self, *score, weight);
          else if (!has || (self->aggregate == MINIMUM ? weight < *score : weight > *score))
            *score = weight;
          row->has[forest->votes[v].target] = 1;
        }
    }
}

static double
ml_tree_base_of (const Trees *self,
                 gsize        i)
{
  return self->base != NULL && i < self->base->n_elements ? vn_tensor_get_double (self->base, i) : 0.;
}

/* ---- regression ---- */

static void
ml_tree_finish_regression (const Trees *self,
                           const Row   *row,
                           gsize        r)
{
  gboolean whole = self->base != NULL && self->base->n_elements == self->n;
  VnTensor *out = self->scores_out;

  for (gsize i = 0; i < self->n; i++)
    {
      double score = row->scores[i];

      if (self->aggregate == AVERAGE && self->forest->n_roots > 0)
        score = self->forest->wide ? score / (double) self->forest->n_roots
                                   : (double) ((float) score / (float) self->forest->n_roots);
      row->scores[i] = whole ? ml_tree_add (self, score, ml_tree_base_of (self, i)) : score;
      row->z[i] = (float) row->scores[i];
    }
  if (self->n > 1 || self->transform == VN_ML_PROBIT)
    vn_ml_transform (self->transform, row->z, self->n);
  for (gsize i = 0; i < self->n; i++)
    vn_number_store (out->dtype, out->data, r * self->n + i,
                     self->transform == VN_ML_NONE ? row->scores[i] : (double) row->z[i]);
}

/* ---- classification ---- */

static gsize
ml_tree_find_winner (const Trees *self,
                     const Row   *row)
{
  gsize best = G_MAXSIZE;

  for (gsize i = 0; i < self->n; i++)
    if (row->has[i] != 0 && (best == G_MAXSIZE || row->scores[i] > row->scores[best]))
      best = i;
  return best == G_MAXSIZE ? 0 : best;
}

static void
ml_tree_add_base (const Trees *self,
                  const Row   *row)
{
  gsize n_base = self->base != NULL ? self->base->n_elements : 0;

  for (gsize i = 0; i < MIN (n_base, self->n); i++)
    {
      row->scores[i] = ml_tree_add (self, row->scores[i], ml_tree_base_of (self, i));
      row->has[i] = 1;
    }
}

/* Two classes: the score of the second decides, or the only one there is. */
static void
ml_tree_finish_pair (const Trees *self,
                     const Row   *row,
                     gsize        r)
{
  gboolean single = row->has[1] == 0;
  double weight = single ? row->scores[0] : row->scores[1];
  gboolean positive = weight > (self->one_class && self->all_positive ? 0.5 : 0.);

  if (self->labels_out != NULL)
    vn_ml_labels_store (&self->labels, self->labels_out, r, positive ? 1 : 0);
  row->z[0] = (float) row->scores[0];
  row->z[1] = (float) row->scores[1];
  if (!single)
    vn_ml_transform (self->transform, row->z, 2);
  else
    vn_ml_transform_pair (self->transform, self->one_class && self->all_positive ? VN_ML_PAIR_COMPLEMENT : VN_ML_PAIR_NEGATIVE,
                          row->z);
}

static void
ml_tree_finish_classification (const Trees *self,
                               const Row   *row,
                               gsize        r)
{
  ml_tree_add_base (self, row);
  if (self->n == 2)
    ml_tree_finish_pair (self, row, r);
  else
    {
      for (gsize i = 0; i < self->n; i++)
        row->z[i] = (float) row->scores[i];
      if (self->n == 1)
        vn_ml_labels_store_sign (&self->labels, self->labels_out, r, row->scores[0] > 0);
      else
        vn_ml_labels_store (&self->labels, self->labels_out, r, ml_tree_find_winner (self, row));
      if (self->n > 1 || self->transform == VN_ML_PROBIT)
        vn_ml_transform (self->transform, row->z, self->n);
    }
  if (self->scores_out != NULL)
    memcpy ((float *) self->scores_out->data + r * self->n, row->z, self->n * sizeof (float));
}

static void
ml_tree_run_row (gpointer data,
                 gsize    item,
                 guint    worker)
{
  const Trees *self = data;
  Row row = ml_tree_get_row (self, worker);
  gboolean narrow = !self->forest->wide;

  for (gsize c = 0; c < self->columns; c++)
    {
      double x = vn_tensor_get_double (self->x, item * self->columns + c);

      row.row[c] = narrow ? (double) (float) x : x;
    }
  ml_tree_vote (self, &row);
  if (self->labels.n > 0)
    ml_tree_finish_classification (self, &row, item);
  else
    ml_tree_finish_regression (self, &row, item);
}

/* ---- attributes ---- */

static gboolean
ml_tree_is_tree_ensemble (const VnOpContext *ctx)
{
  return g_str_equal (ctx->op->type, "TreeEnsemble");
}

static gboolean
ml_tree_is_classifier (const VnOpContext *ctx)
{
  return g_str_equal (ctx->op->type, "TreeEnsembleClassifier");
}

static gboolean
ml_tree_read_numbered (VnOpContext  *ctx,
                       Trees        *self,
                       GError      **error)
{
  gint64 aggregate = vn_node_get_int (ctx->node, "aggregate_function", SUM);
  gint64 transform = vn_node_get_int (ctx->node, "post_transform", VN_ML_NONE);

  if (aggregate < 0 || aggregate >= N_AGGREGATES || transform < 0 || transform >= VN_ML_N_TRANSFORMS)
    return vn_op_fail (ctx, error, _("TreeEnsemble: aggregate_function %lld or post_transform %lld"
                                     " is unknown"), (long long) aggregate, (long long) transform);
  self->aggregate = (Aggregate) aggregate;
  self->transform = (VnMlTransform) transform;
  return TRUE;
}

/* Everything but trees and data. */
static gboolean
ml_tree_read_attributes (VnOpContext  *ctx,
                         Trees        *self,
                         GError      **error)
{
  static const char * const aggregates[] = { "AVERAGE", "SUM", "MIN", "MAX", NULL };
  gint64 targets = vn_node_get_int (ctx->node, "n_targets", 1);
  guint aggregate = SUM;

  *self = (Trees) { .aggregate = SUM, .n = (gsize) targets };
  if (ml_tree_is_classifier (ctx))
    {
      if (!vn_ml_read_labels (ctx, "classlabels_int64s", "classlabels_strings", &self->labels, error))
        return FALSE;
      self->n = self->labels.n;
    }
  else if (targets < 1 || targets > G_MAXINT32)
    return vn_op_fail (ctx, error, _("%s: the number of targets is %lld"), ctx->op->type, (long long) targets);
  if (ml_tree_is_tree_ensemble (ctx))
    return ml_tree_read_numbered (ctx, self, error);
  if (!ml_tree_is_classifier (ctx))
    aggregate = vn_op_attr_choice (ctx, "aggregate_function", "SUM", aggregates, error);
  self->aggregate = aggregate < N_AGGREGATES ? (Aggregate) aggregate : SUM;
  return aggregate != G_MAXUINT && vn_ml_read_transform (ctx, &self->transform, error);
}

static gboolean
ml_tree_trees_infer (VnOpContext *ctx,
                     GError     **error)
{
  gint64 rows, columns;
  gsize piece;
  Trees self;

  if (!ml_tree_read_attributes (ctx, &self, error) ||
      !vn_ml_get_rows (ctx, &ctx->in_types[0].shape, &rows, &columns, error))
    return FALSE;
  if (!ml_tree_get_piece (columns, self.n, &piece))
    return vn_op_fail (ctx, error, _("%s: %zu targets are too many"), ctx->op->type, self.n);
  ctx->scratch_bytes = piece * vn_op_max_workers ();
  if (ml_tree_is_classifier (ctx))
    {
      vn_op_set_output (ctx, 0, vn_ml_labels_dtype (&self.labels), &VN_SHAPE (rows));
      vn_op_set_output (ctx, 1, VN_DTYPE_F32, &VN_SHAPE (rows, (gint64) self.n));
    }
  else
    vn_op_set_output (ctx, 0, ml_tree_is_tree_ensemble (ctx) ? ctx->in_types[0].dtype : VN_DTYPE_F32,
                      &VN_SHAPE (rows, (gint64) self.n));
  return TRUE;
}

static VnForest *
ml_tree_make_forest (VnOpContext  *ctx,
                     GError      **error)
{
  Trees self;

  if (!ml_tree_read_attributes (ctx, &self, error))
    return NULL;
  if (ml_tree_is_tree_ensemble (ctx))
    return vn_forest_new (ctx, self.n, error);
  return vn_forest_new_classic (ctx, ml_tree_is_classifier (ctx) ? "class_" : "target_", self.n, error);
}

static gboolean
ml_tree_trees_prepare (VnOpContext *ctx,
                       gpointer    *prepared,
                       GError     **error)
{
  *prepared = ml_tree_make_forest (ctx, error);
  return *prepared != NULL;
}

static gboolean
ml_tree_read_base (VnOpContext  *ctx,
                   VnTensor    **base,
                   GError      **error)
{
  *base = NULL;
  if (ml_tree_is_tree_ensemble (ctx) || (vn_node_get_attr (ctx->node, "base_values") == NULL &&
                                         vn_node_get_tensor (ctx->node, "base_values_as_tensor") == NULL))
    return TRUE;
  *base = vn_ml_dup_list (ctx, NULL, "base_values", NULL, "base_values_as_tensor", error);
  return *base != NULL;
}

static void
ml_tree_look_at_votes (Trees *self)
{
  const VnForest *forest = self->forest;

  self->one_class = self->all_positive = TRUE;
  for (gsize i = 0; i < forest->n_votes; i++)
    {
      self->one_class &= forest->votes[i].target == forest->votes[0].target;
      self->all_positive &= forest->votes[i].weight >= 0;
    }
}

static gboolean
ml_tree_trees_run (VnOpContext *ctx,
                   GError     **error)
{
  g_autoptr(VnForest) own = ctx->prepared == NULL ? ml_tree_make_forest (ctx, error) : NULL;
  g_autoptr(VnTensor) base = NULL;
  gint64 rows, columns;
  Trees self;

  if (ctx->prepared == NULL && own == NULL)
    return FALSE;
  if (!ml_tree_read_attributes (ctx, &self, error) || !ml_tree_read_base (ctx, &base, error) ||
      !vn_ml_get_rows (ctx, &ctx->in[0]->shape, &rows, &columns, error))
    return FALSE;
  ml_tree_get_piece (columns, self.n, &self.piece);
  self.forest = own != NULL ? own : ctx->prepared;
  self.x = ctx->in[0];
  self.base = base;
  self.columns = (gsize) columns;
  self.scratch = ctx->scratch;
  if (self.forest->n_features > self.columns)
    return vn_op_fail (ctx, error, _("%s: the trees use %zu features, but there are only %zu"),
                       ctx->op->type, self.forest->n_features, self.columns);
  self.labels_out = self.labels.n > 0 ? ctx->out[0] : NULL;
  self.scores_out = self.labels.n == 0 ? ctx->out[0] : ctx->n_outputs > 1 ? ctx->out[1] : NULL;
  ml_tree_look_at_votes (&self);
  vn_op_for_items (ctx, (gsize) rows, 10. * (double) (self.columns + 10 * self.forest->n_roots), ml_tree_run_row, &self);
  return TRUE;
}

#define TREES(id, type_, since_, outputs, dtypes_, ...)                         \
  const VnOp vn_op_ml_##id = {                                                  \
    .domain = "ai.onnx.ml", .type = type_, .since = since_,                     \
    .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, .max_outputs = outputs, \
    .dtypes = dtypes_,                                                          \
    __VA_ARGS__                                                                 \
    .family = VN_FAMILY_COMPUTE,                                                \
    .infer = ml_tree_trees_infer,                                               \
    .run = ml_tree_trees_run,                                                   \
    .prepare = ml_tree_trees_prepare,                                           \
    .release = (GDestroyNotify) vn_forest_free,                                 \
  };

TREES (tree_ensemble, "TreeEnsemble", 5, 1, VN_FULL_FLOAT_BITS, .stand_ins = VN_STAND_IN_HALVES,)
TREES (tree_ensemble_classifier, "TreeEnsembleClassifier", 1, 2, VN_ML_FEATURE_BITS, )
TREES (tree_ensemble_regressor, "TreeEnsembleRegressor", 1, 1, VN_ML_FEATURE_BITS, )
