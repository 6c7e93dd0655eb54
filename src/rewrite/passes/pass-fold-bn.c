/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What follows a Conv, ConvTranspose or Gemm and is affine in each channel goes into its weights:
 *
 *   m[c] * (sum (w[c] * x) + b[c]) + a[c]  =  sum (m[c] * w[c] * x) + (m[c] * b[c] + a[c])
 *
 * BatchNormalization: m = scale / sqrt (var + epsilon), a = bias - mean * m. Mul, Div, Add and Sub with a constant of
 * one number a channel: m or a alone. Computed in double, rounded to float32 once. The value the second node made is
 * now made by the first; its name stays. */
#include "vn-rewrite-private.h"

#include "vn-memory.h"

#include <math.h>

/* y = m * x + a for each of n channels */
typedef struct
{
  gsize   n;
  double *m, *a;
} Affine;

static void
fold_bn_affine_clear (Affine *self)
{
  g_free (self->m);
  g_free (self->a);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Affine, fold_bn_affine_clear)

/* FALSE: memory was refused. */
static gboolean
fold_bn_affine_init (Affine *self,
                     gsize   n)
{
  self->n = n;
  self->m = vn_try_new (double, n, NULL);
  self->a = vn_try_new0 (double, n, NULL);
  for (gsize i = 0; self->m != NULL && i < n; i++)
    self->m[i] = 1;
  return self->m != NULL && self->a != NULL;
}

/* ---- the second node ---- */

static gboolean
fold_bn_read_batch_norm (const VnNode *node,
                         gsize         n,
                         Affine       *affine)
{
  g_autoptr(VnTensor) scale = vn_rewrite_constant_f32 (vn_node_get_input (node, 1), NULL);
  g_autoptr(VnTensor) bias = vn_rewrite_constant_f32 (vn_node_get_input (node, 2), NULL);
  g_autoptr(VnTensor) mean = vn_rewrite_constant_f32 (vn_node_get_input (node, 3), NULL);
  g_autoptr(VnTensor) var = vn_rewrite_constant_f32 (vn_node_get_input (node, 4), NULL);
  double epsilon = vn_node_get_float (node, "epsilon", 1e-5f);

  if (scale == NULL || bias == NULL || mean == NULL || var == NULL || scale->n_elements != n ||
      bias->n_elements != n || mean->n_elements != n || var->n_elements != n ||
      vn_node_get_int (node, "training_mode", 0) != 0 || vn_node_get_int (node, "spatial", 1) != 1)
    return FALSE;
  for (guint i = 1; i < node->outputs->len; i++)
    if (vn_node_get_output (node, i) != NULL)
      return FALSE;
  if (!fold_bn_affine_init (affine, n))
    return FALSE;
  for (gsize i = 0; i < n; i++)
    {
      affine->m[i] = ((float *) scale->data)[i] / sqrt (((float *) var->data)[i] + epsilon);
      affine->a[i] = ((float *) bias->data)[i] - ((float *) mean->data)[i] * affine->m[i];
    }
  return TRUE;
}

/* Does the constant hold one number, or one for each channel of a tensor of that rank (axis 1)? */
static gboolean
fold_bn_is_per_channel (const VnTensor *tensor,
                        int             rank,
                        gsize           n)
{
  const VnShape *shape = &tensor->shape;

  if (shape->rank > rank)
    return FALSE;
  if (tensor->n_elements == 1)
    return TRUE;
  return tensor->n_elements == n && shape->rank >= rank - 1 && (gsize) shape->dims[shape->rank - rank + 1] == n;
}

static gboolean
fold_bn_read_arithmetic (const VnNode  *node,
                         const VnValue *from,
                         int            rank,
                         gsize          n,
                         Affine        *affine)
{
  static const char types[4][4] = { "Add", "Sub", "Mul", "Div" };
  gboolean second = vn_node_get_input (node, 1) == from;
  g_autoptr(VnTensor) other = vn_rewrite_constant_f32 (vn_node_get_input (node, second ? 0 : 1), NULL);
  guint kind = 0;

  while (kind < G_N_ELEMENTS (types) && !vn_node_is (node, types[kind]))
    kind++;
  if (kind == G_N_ELEMENTS (types) || node->inputs->len != 2 || other == NULL || (second && kind % 2 == 1) ||
      !fold_bn_is_per_channel (other, rank, n))
    return FALSE;
  if (!fold_bn_affine_init (affine, n))
    return FALSE;
  for (gsize i = 0; i < n; i++)
    {
      double c = ((float *) other->data)[other->n_elements == 1 ? 0 : i];

      if (kind < 2)
        affine->a[i] = kind == 0 ? c : -c;
      else
        affine->m[i] = kind == 2 ? c : 1 / c;
    }
  return TRUE;
}

static gboolean
fold_bn_is_finite (const Affine *affine)
{
  for (gsize i = 0; i < affine->n; i++)
    if (!isfinite (affine->m[i]) || !isfinite (affine->a[i]))
      return FALSE;
  return TRUE;
}

/* ---- the first node ---- */

/* How the weights lie: value number i belongs to channel (i / inner) % period + (i / outer) * period. */
typedef struct
{
  VnNode   *node;
  VnTensor *weight;      /* owned, aligned */
  VnTensor *bias;        /* owned, aligned; NULL: none */
  gsize     n_channels;
  gsize     inner;       /* elements from one channel to the next */
  gsize     period;      /* channels within a group */
  gsize     outer;       /* elements of a group */
  int       rank;        /* of the output */
  double    beta;        /* Gemm: factor of the bias */
  double    alpha;
} Host;

static void
fold_bn_host_clear (Host *self)
{
  g_clear_pointer (&self->weight, vn_tensor_unref);
  g_clear_pointer (&self->bias, vn_tensor_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Host, fold_bn_host_clear)

static gboolean
fold_bn_lay_out (Host *self)
{
  const VnShape *shape = &self->weight->shape;
  gsize n = self->weight->n_elements;

  self->rank = shape->rank;
  self->alpha = self->beta = 1;
  if (vn_node_is (self->node, "Gemm"))
    {
      gboolean transposed = vn_node_get_int (self->node, "transB", 0) != 0;

      self->n_channels = (gsize) shape->dims[transposed ? 0 : 1];
      self->inner = transposed ? (gsize) shape->dims[1] : 1;
      self->period = self->n_channels;
      self->outer = n;
      self->beta = vn_node_get_float (self->node, "beta", 1);
    }
  else if (vn_node_is (self->node, "Conv"))
    {
      self->n_channels = self->period = (gsize) shape->dims[0];
      self->inner = self->n_channels > 0 ? n / self->n_channels : 1;
      self->outer = n;
    }
  else
    {
      gint64 group = vn_node_get_int (self->node, "group", 1);
      gsize groups = (gsize) group;

      if (group < 1 || shape->dims[0] % group != 0)
        return FALSE;
      self->period = (gsize) shape->dims[1];
      self->n_channels = self->period * groups;
      self->inner = (gsize) vn_shape_count (shape, 2, shape->rank);
      self->outer = n / groups;
    }
  return TRUE;
}

static gboolean
fold_bn_is_host (const VnNode *node)
{
  return vn_node_is (node, "Conv") || vn_node_is (node, "ConvTranspose") || vn_node_is (node, "Gemm");
}

/* FALSE: nothing can go into this node. */
static gboolean
fold_bn_host_init (Host   *self,
                   VnNode *node)
{
  VnValue *bias = vn_node_get_input (node, 2);

  if (!fold_bn_is_host (node) || vn_node_get_input (node, 1) == NULL)
    return FALSE;
  self->node = node;
  self->weight = vn_rewrite_constant_f32 (vn_node_get_input (node, 1), NULL);
  if (self->weight == NULL || self->weight->shape.rank < 2 || self->weight->n_elements == 0 || !fold_bn_lay_out (self))
    return FALSE;
  if (bias == NULL)
    return TRUE;
  self->bias = vn_rewrite_constant_f32 (bias, NULL);
  return self->bias != NULL &&
         (self->bias->n_elements == self->n_channels || self->bias->n_elements == 1) &&
         (self->bias->n_elements == 1 ||
          (gsize) self->bias->shape.dims[self->bias->shape.rank - 1] == self->n_channels);
}

static VnTensor *
fold_bn_scaled_weight (const Host    *self,
                       const Affine  *affine,
                       GError       **error)
{
  VnTensor *result = vn_tensor_new_constant (VN_DTYPE_F32, &self->weight->shape, error);
  const float *from = self->weight->data;

  for (gsize i = 0; result != NULL && i < result->n_elements; i++)
    {
      gsize channel = (i / self->inner) % self->period + i / self->outer * self->period;

      ((float *) result->data)[i] = (float) (from[i] * affine->m[channel]);
    }
  return result;
}

static VnTensor *
fold_bn_scaled_bias (const Host    *self,
                     const Affine  *affine,
                     GError       **error)
{
  VnTensor *result = vn_tensor_new_constant (VN_DTYPE_F32, &VN_SHAPE ((gint64) self->n_channels), error);

  for (gsize i = 0; result != NULL && i < self->n_channels; i++)
    {
      double old = self->bias != NULL ? ((float *) self->bias->data)[self->bias->n_elements == 1 ? 0 : i] : 0;

      ((float *) result->data)[i] = (float) (self->beta * old * affine->m[i] + affine->a[i]);
    }
  return result;
}

/* Weights that others use as well, or that a Constant node makes, get a sibling. */
static void
fold_bn_set_constant_input (VnNode     *node,
                            guint       i,
                            const char *role,
                            VnTensor   *tensor)
{
  VnValue *value = vn_node_get_input (node, i);

  if (value != NULL && value->initializer != NULL && value->uses->len == 1 && value->graph == node->graph &&
      !value->is_output)
    {
      vn_graph_set_initializer (value->graph, value, tensor);
      return;
    }
  value = vn_rewrite_add_constant (node, role, tensor);
  vn_node_set_input (node, i, value);
}

static gboolean
fold_bn_needs_scaling (const Affine *affine)
{
  for (gsize i = 0; i < affine->n; i++)
    if (affine->m[i] != 1)
      return TRUE;
  return FALSE;
}

static gboolean
fold_bn_rewrite_host (Host          *self,
                      const Affine  *affine,
                      GError       **error)
{
  g_autoptr(VnTensor) weight = fold_bn_needs_scaling (affine) ? fold_bn_scaled_weight (self, affine, error)
                                                      : vn_tensor_ref (self->weight);
  g_autoptr(VnTensor) bias = weight != NULL ? fold_bn_scaled_bias (self, affine, error) : NULL;

  if (bias == NULL)
    return FALSE;
  if (weight != self->weight && fold_bn_needs_scaling (affine))
    fold_bn_set_constant_input (self->node, 1, "weight", weight);
  if (self->beta != 1)
    vn_node_set_float (self->node, "beta", 1);
  fold_bn_set_constant_input (self->node, 2, "bias", bias);
  return TRUE;
}

/* ---- the pair ---- */

static void
fold_bn_take_over_output (VnNode  *host,
                          VnNode  *follower)
{
  VnValue *between = vn_node_get_output (host, 0);
  VnValue *result = vn_node_get_output (follower, 0);

  vn_graph_remove_node (follower->graph, follower);
  vn_node_set_output (host, 0, result);
  vn_graph_remove_value (between->graph, between);
}

static gboolean
fold_pair (VnPassContext  *ctx,
           GHashTable     *returned,
           VnNode         *node,
           gboolean       *folded,
           GError        **error)
{
  VnValue *between = vn_node_get_output (node, 0);
  g_auto(Host) host = { 0 };
  g_auto(Affine) affine = { 0 };
  g_autofree char *label = NULL;
  g_autofree char *target = NULL;
  VnNode *follower;
  guint index = 0;

  *folded = FALSE;
  if (between == NULL || !fold_bn_host_init (&host, node))
    return TRUE;
  follower = vn_rewrite_only_user (returned, between, &index);
  if (follower == NULL || vn_node_get_output (follower, 0) == NULL)
    return TRUE;
  if (vn_node_is (follower, "BatchNormalization")
      ? index != 0 || !fold_bn_read_batch_norm (follower, host.n_channels, &affine)
      : !fold_bn_read_arithmetic (follower, between, host.rank, host.n_channels, &affine))
    return TRUE;
  if (!fold_bn_is_finite (&affine))
    return TRUE;
  if (!fold_bn_rewrite_host (&host, &affine, error))
    return FALSE;
  vn_rewrite_need_ir (ctx, 4);
  label = vn_node_dup_label (follower);
  target = vn_node_dup_label (node);
  vn_edit_log_add (ctx->log, "fold", label, target, _("%s into %s"), follower->op_type, target);
  fold_bn_take_over_output (node, follower);
  *folded = TRUE;
  return TRUE;
}

static gboolean
fold_bn_graph (VnPassContext  *ctx,
               VnGraph        *graph,
               GError        **error)
{
  g_autoptr(GHashTable) returned = vn_rewrite_returned (ctx->model);

  /* A node that is folded away stands anywhere; the host's own place may move down by one. */
  for (guint i = 0; i < vn_graph_get_n_nodes (graph); i++)
    {
      VnNode *node = vn_graph_get_node (graph, i);
      gboolean folded = fold_bn_is_host (node);

      while (folded)
        if (!fold_pair (ctx, returned, node, &folded, error))
          return FALSE;
      i = vn_node_get_index (node);
    }
  return TRUE;
}

static gboolean
fold_bn_run (VnPassContext  *ctx,
             GError        **error)
{
  return vn_rewrite_each_graph (ctx, fold_bn_graph, error);
}

const VnPass vn_pass_fold_bn = {
  .id = "fold-bn",
  .title = N_("Fold BatchNormalization"),
  .summary = N_("Folds BatchNormalization and constant per-channel factors and offsets into the preceding weights."),
  .exact = FALSE,
  .repeats = TRUE,
  .run = fold_bn_run,
};
