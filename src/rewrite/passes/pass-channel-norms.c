/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Decomposed InstanceNormalization and LpNormalization. On request, as in pass-norms.c. */
#include "vn-rewrite-private.h"

#include <math.h>

/* ---- InstanceNormalization: (x - mean) / sqrt (mean ((x - mean)^2) + epsilon) over height and width ---- */

/* Over all axes behind the channels. */
static gboolean
channel_norms_is_spatial_mean (const VnNode *node)
{
  const VnShape *shape = vn_rewrite_get_shape (vn_node_get_input (node, 0));
  gint64 axes[VN_MAX_RANK];
  guint seen = 0;
  gsize n;

  if (shape == NULL || shape->rank < 3 || vn_node_get_int (node, "keepdims", 1) != 1 ||
      !vn_rewrite_get_ints (node, "axes", 1, axes, VN_MAX_RANK, &n) || n != (gsize) shape->rank - 2)
    return FALSE;
  for (gsize i = 0; i < n; i++)
    {
      gint64 axis = axes[i] < 0 ? axes[i] + shape->rank : axes[i];

      if (axis < 2 || axis >= shape->rank)
        return FALSE;
      seen |= 1u << axis;
    }
  return seen == ((1u << shape->rank) - 1) - 3;
}

/* A number for each channel, as it is broadcast over @shape; NULL: something else, or nothing to be known. */
static VnTensor *
channel_norms_get_channel_line (const VnValue *value,
                                const VnShape *shape)
{
  g_autoptr(VnTensor) constant = vn_rewrite_constant_f32 (value, NULL);
  gint64 channels = shape->dims[1];
  VnTensor *line;

  if (constant == NULL || channels <= 0 || constant->shape.rank > shape->rank ||
      (constant->n_elements != 1 && constant->n_elements != (gsize) channels))
    return NULL;
  if (constant->n_elements != 1 && (constant->shape.rank < shape->rank - 1 ||
                                    constant->shape.dims[constant->shape.rank - (shape->rank - 1)] != channels))
    return NULL;
  line = vn_tensor_new (VN_DTYPE_F32, &VN_SHAPE (channels), NULL);
  for (gint64 i = 0; line != NULL && i < channels; i++)
    ((float *) line->data)[i] = ((const float *) constant->data)[constant->n_elements == 1 ? 0 : i];
  return line;
}

static VnTensor *
channel_norms_fill_line (gint64 n,
                         float  number)
{
  VnTensor *line = vn_tensor_new (VN_DTYPE_F32, &VN_SHAPE (n), NULL);

  for (gsize i = 0; line != NULL && i < line->n_elements; i++)
    ((float *) line->data)[i] = number;
  return line;
}

/* x of @node, (x - mean) / sqrt (variance + epsilon), also written as a product with the reciprocal. */
static VnValue *
channel_norms_find_normalized (GHashTable   *returned,
                               const VnNode *node,
                               double       *epsilon)
{
  VnNode *inverse = vn_node_is (node, "Mul") ? vn_rewrite_producer_either (returned, node, "Reciprocal") : NULL;
  guint i = inverse != NULL && vn_rewrite_producer (node, 0, "Reciprocal") == inverse ? 1 : 0;
  VnValue *centred = vn_node_get_input (node, i), *x;
  VnNode *root = inverse != NULL ? vn_rewrite_producer_of_only (returned, inverse, 0, "Sqrt")
                 : vn_node_is (node, "Div") ? vn_rewrite_producer_of_only (returned, node, 1, "Sqrt") : NULL;
  VnNode *plus = root != NULL ? vn_rewrite_producer_of_only (returned, root, 0, "Add") : NULL;
  VnNode *variance = plus != NULL ? vn_rewrite_producer_either (returned, plus, "ReduceMean") : NULL;

  if (variance == NULL || !vn_rewrite_is_variance (variance, centred, channel_norms_is_spatial_mean) ||
      !vn_rewrite_get_number (vn_node_get_input (plus, vn_rewrite_producer (plus, 0, "ReduceMean") == variance ? 1 : 0),
                              epsilon))
    return NULL;
  x = vn_rewrite_find_centred (centred, channel_norms_is_spatial_mean);
  return x != NULL && vn_rewrite_get_dtype (x) == VN_DTYPE_F32 && vn_rewrite_get_shape (x)->dims[1] > 0 ? x : NULL;
}

static void
channel_norms_become_instance_norm (VnPassContext *ctx,
                                    VnNode        *last,
                                    VnValue       *x,
                                    VnTensor      *scale,
                                    VnTensor      *bias,
                                    double         epsilon)
{
  VnValue *inputs[3] = { x, vn_rewrite_add_constant (last, "scale", scale), vn_rewrite_add_constant (last, "bias", bias) };

  vn_rewrite_replace_pattern (ctx, last, "InstanceNormalization", inputs, 3);
  vn_node_set_float (last, "epsilon", (float) epsilon);
}

/* The product or sum of a constant of the channels with what @inner makes. */
static VnTensor *
channel_norms_get_other_line (const VnNode  *node,
                              const VnNode  *inner,
                              const VnShape *shape)
{
  return channel_norms_get_channel_line (vn_node_get_input (node, vn_node_get_input (node, 0) == vn_node_get_output (inner, 0)
                                                            ? 1 : 0),
                                         shape);
}

static VnNode *
channel_norms_find_inner (GHashTable   *returned,
                          const VnNode *node)
{
  VnNode *div = vn_rewrite_producer_either (returned, node, "Div");

  return div != NULL ? div : vn_rewrite_producer_either (returned, node, "Mul");
}

/* With a factor and an offset for each channel. */
static void
channel_norms_fuse_affine (VnPassContext *ctx,
                           GHashTable    *returned,
                           VnNode        *last)
{
  VnNode *mul = vn_node_is (last, "Add") ? vn_rewrite_producer_either (returned, last, "Mul") : NULL;
  VnNode *inner = mul != NULL ? channel_norms_find_inner (returned, mul) : NULL;
  double epsilon;
  VnValue *x = inner != NULL ? channel_norms_find_normalized (returned, inner, &epsilon) : NULL;
  g_autoptr(VnTensor) scale = x != NULL ? channel_norms_get_other_line (mul, inner, vn_rewrite_get_shape (x)) : NULL;
  g_autoptr(VnTensor) bias = x != NULL ? channel_norms_get_other_line (last, mul, vn_rewrite_get_shape (x)) : NULL;

  if (scale != NULL && bias != NULL)
    channel_norms_become_instance_norm (ctx, last, x, scale, bias, epsilon);
}

static void
channel_norms_fuse_plain (VnPassContext *ctx,
                          GHashTable    *returned,
                          VnNode        *last)
{
  double epsilon;
  VnValue *x = channel_norms_find_normalized (returned, last, &epsilon);
  gint64 channels = x != NULL ? vn_rewrite_get_shape (x)->dims[1] : 0;
  g_autoptr(VnTensor) scale = x != NULL ? channel_norms_fill_line (channels, 1) : NULL;
  g_autoptr(VnTensor) bias = x != NULL ? channel_norms_fill_line (channels, 0) : NULL;

  if (scale != NULL && bias != NULL)
    channel_norms_become_instance_norm (ctx, last, x, scale, bias, epsilon);
}

static gboolean
channel_norms_instance_norm_run (VnPassContext  *ctx,
                                 GError        **error)
{
  return vn_rewrite_fuse_all (ctx, "fuse-instance-norm", 6, channel_norms_fuse_affine, error) &&
         vn_rewrite_fuse_all (ctx, "fuse-instance-norm", 6, channel_norms_fuse_plain, error) &&
         vn_pass_apply (&vn_pass_dead, ctx, error);
}

/* ---- LpNormalization: x / |x| along an axis ---- */

/* What guards against a division by zero, and is lost: it must be too small to matter. What is added always does. */
#define LARGEST_GUARD 1e-5
#define LARGEST_TERM 1e-7

static gboolean
channel_norms_is_square_of (const VnValue  *squares,
                            VnValue       **x)
{
  const VnNode *node = squares != NULL ? squares->producer : NULL;

  if (node == NULL || squares->uses->len != 1)
    return FALSE;
  *x = vn_node_get_input (node, 0);
  return (vn_node_is (node, "Pow") && vn_rewrite_input_is (node, 1, 2)) ||
         (vn_node_is (node, "Mul") && vn_node_get_input (node, 1) == *x);
}

/* x of a norm over one axis, or of its square. */
static VnValue *
channel_norms_find_reduced (const VnNode *node,
                            gint64       *axis)
{
  VnValue *x = vn_node_get_input (node, 0);
  const VnShape *shape = vn_rewrite_get_shape (x);
  gsize n;

  if (shape == NULL || vn_node_get_int (node, "keepdims", 1) != 1 ||
      !vn_rewrite_get_ints (node, "axes", 1, axis, 1, &n) || n != 1)
    return NULL;
  if (vn_node_is (node, "ReduceSum"))
    return channel_norms_is_square_of (x, &x) ? x : NULL;
  return x;
}

/* The node that makes input @i, other than by keeping it from 0 or repeating it along the axis. */
static VnNode *
channel_norms_skip_guards (GHashTable   *returned,
                           const VnNode *node,
                           guint         i,
                           gboolean      squared,
                           gboolean     *expanded)
{
  static const char * const guards[] = { "Clip", "Max", "Add", "Expand" };

  for (guint k = 0; k < G_N_ELEMENTS (guards); k++)
    {
      VnNode *guard = vn_rewrite_producer_of_only (returned, node, i, guards[k]);
      double number = 0;

      if (guard == NULL)
        continue;
      if (k == 3)
        {
          *expanded = TRUE;
          return channel_norms_skip_guards (returned, guard, 0, squared, expanded);
        }
      if (vn_node_is (guard, "Clip") && vn_node_get_attr (guard, "min") != NULL)
        number = vn_node_get_float (guard, "min", 1);
      else if (!vn_rewrite_get_number (vn_node_get_input (guard, 1), &number))
        return NULL;
      number = squared && number > 0 ? sqrt (number) : number;
      if (!(number >= 0 && number <= (k == 2 ? LARGEST_TERM : LARGEST_GUARD)) || vn_node_get_input (guard, 2) != NULL ||
          vn_node_get_attr (guard, "max") != NULL || guard->inputs->len > 3)
        return NULL;
      return channel_norms_skip_guards (returned, guard, 0, squared, expanded);
    }
  return vn_node_get_input (node, i) != NULL && vn_node_get_input (node, i)->uses->len == 1 &&
         !vn_rewrite_is_kept (returned, vn_node_get_input (node, i)) &&
         vn_node_get_input (node, i)->graph == node->graph ? vn_node_get_input (node, i)->producer : NULL;
}

static VnValue *
channel_norms_find_norm (GHashTable   *returned,
                         const VnNode *node,
                         guint         i,
                         gint64       *axis,
                         gboolean     *expanded)
{
  VnNode *norm = channel_norms_skip_guards (returned, node, i, FALSE, expanded);

  if (norm != NULL && vn_node_is (norm, "Sqrt"))
    {
      norm = channel_norms_skip_guards (returned, norm, 0, TRUE, expanded);
      return norm != NULL && (vn_node_is (norm, "ReduceSumSquare") || vn_node_is (norm, "ReduceSum"))
             ? channel_norms_find_reduced (norm, axis) : NULL;
    }
  return norm != NULL && vn_node_is (norm, "ReduceL2") ? channel_norms_find_reduced (norm, axis) : NULL;
}

static void
channel_norms_fuse_l2 (VnPassContext *ctx,
                       GHashTable    *returned,
                       VnNode        *last)
{
  VnNode *inverse = vn_node_is (last, "Mul") ? vn_rewrite_producer_either (returned, last, "Reciprocal") : NULL;
  guint other = inverse != NULL && vn_rewrite_producer (last, 0, "Reciprocal") == inverse ? 1 : 0;
  VnValue *x = vn_node_get_input (last, other);
  gboolean expanded = FALSE;
  gint64 axis;

  if (inverse == NULL && !vn_node_is (last, "Div"))
    return;
  if (x == NULL || vn_rewrite_get_dtype (x) != VN_DTYPE_F32 ||
      channel_norms_find_norm (returned, inverse != NULL ? inverse : last, inverse != NULL ? 0 : 1, &axis, &expanded) != x)
    return;
  if (expanded && !vn_rewrite_same_static_shape (x, vn_node_get_output (last, 0)))
    return;
  vn_rewrite_replace_pattern (ctx, last, "LpNormalization", &x, 1);
  vn_node_set_int (last, "axis", axis);
  vn_node_set_int (last, "p", 2);
}

static gboolean
channel_norms_l2_norm_run (VnPassContext  *ctx,
                           GError        **error)
{
  return vn_rewrite_fuse_all (ctx, "fuse-l2-norm", 1, channel_norms_fuse_l2, error) && vn_pass_apply (&vn_pass_dead, ctx, error);
}

const VnPass vn_pass_fuse_instance_norm = {
  .id = "fuse-instance-norm",
  .title = N_("InstanceNormalization"),
  .summary = N_("Fuses a decomposed instance normalization into one node."),
  .stage = VN_PASS_REQUEST,
  .run = channel_norms_instance_norm_run,
};

const VnPass vn_pass_fuse_l2_norm = {
  .id = "fuse-l2-norm",
  .title = N_("LpNormalization"),
  .summary = N_("Fuses a division by the Euclidean norm along an axis into one node."),
  .stage = VN_PASS_REQUEST,
  .run = channel_norms_l2_norm_run,
};
