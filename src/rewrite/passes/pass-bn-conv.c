/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A BatchNormalization that no weights before it can take (behind Concat, for one) as a Conv that looks at one pixel of
 * one channel:  y[c] = m[c] * x[c] + a[c],  m = scale / sqrt (var + epsilon),  a = bias - mean * m. */
#include "vn-rewrite-private.h"

#include <math.h>

typedef struct
{
  VnTensor *values[4];   /* scale, bias, mean, var: float32, aligned, of one length */
  gsize     n;
} Constants;

static void
bn_conv_constants_clear (Constants *self)
{
  for (guint i = 0; i < G_N_ELEMENTS (self->values); i++)
    g_clear_pointer (&self->values[i], vn_tensor_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Constants, bn_conv_constants_clear)

static gboolean
bn_conv_read_constants (const VnNode *node,
                        Constants    *constants)
{
  for (guint i = 0; i < G_N_ELEMENTS (constants->values); i++)
    {
      constants->values[i] = vn_rewrite_constant_f32 (vn_node_get_input (node, i + 1), NULL);
      if (constants->values[i] == NULL || constants->values[i]->shape.rank != 1 ||
          (i > 0 && constants->values[i]->n_elements != constants->values[0]->n_elements))
        return FALSE;
    }
  constants->n = constants->values[0]->n_elements;
  return constants->n > 0;
}

static gboolean
bn_conv_is_plain (const VnNode *node)
{
  const VnShape *shape = vn_rewrite_get_shape (vn_node_get_input (node, 0));

  for (guint i = 1; i < node->outputs->len; i++)
    if (vn_node_get_output (node, i) != NULL)
      return FALSE;
  return vn_node_is (node, "BatchNormalization") && shape != NULL && shape->rank >= 3 && shape->rank <= 5 &&
         vn_rewrite_get_dtype (vn_node_get_input (node, 0)) == VN_DTYPE_F32 && vn_node_get_output (node, 0) != NULL &&
         vn_node_get_int (node, "training_mode", 0) == 0 && vn_node_get_int (node, "spatial", 1) == 1;
}

static gboolean
bn_conv_compute (const Constants *constants,
                 double           epsilon,
                 VnTensor        *weight,
                 VnTensor        *bias)
{
  for (gsize i = 0; i < constants->n; i++)
    {
      double number[4], m, a;

      for (guint k = 0; k < 4; k++)
        number[k] = ((const float *) constants->values[k]->data)[i];
      m = number[0] / sqrt (number[3] + epsilon);
      a = number[1] - number[2] * m;
      if (!isfinite (m) || !isfinite (a))
        return FALSE;
      ((float *) weight->data)[i] = (float) m;
      ((float *) bias->data)[i] = (float) a;
    }
  return TRUE;
}

static gboolean
bn_conv_convert (VnPassContext  *ctx,
                 GHashTable     *returned,
                 VnNode         *node,
                 GError        **error)
{
  static const char * const attrs[] = { "epsilon", "momentum", "spatial", "training_mode", "is_test" };
  g_auto(Constants) constants = { 0 };
  g_autoptr(VnTensor) weight = NULL;
  g_autoptr(VnTensor) bias = NULL;
  g_autofree char *label = vn_node_dup_label (node);
  VnShape shape = VN_SHAPE_SCALAR;
  const VnShape *from;

  if (!bn_conv_is_plain (node) || !bn_conv_read_constants (node, &constants))
    return TRUE;
  from = vn_rewrite_get_shape (vn_node_get_input (node, 0));
  if (from->dims[1] >= 0 && (gsize) from->dims[1] != constants.n)
    return TRUE;
  shape.rank = from->rank;
  shape.dims[0] = (gint64) constants.n;
  for (int i = 1; i < shape.rank; i++)
    shape.dims[i] = 1;
  weight = vn_tensor_new_constant (VN_DTYPE_F32, &shape, error);
  bias = weight != NULL ? vn_tensor_new_constant (VN_DTYPE_F32, &VN_SHAPE ((gint64) constants.n), error) : NULL;
  if (bias == NULL)
    return FALSE;
  if (!bn_conv_compute (&constants, vn_node_get_float (node, "epsilon", 1e-5f), weight, bias))
    return TRUE;
  vn_edit_log_add (ctx->log, "replace", label, NULL, _("%s with %s"), node->op_type, "Conv");
  vn_rewrite_need_ir (ctx, 4);
  for (guint i = node->inputs->len; i-- > 1;)
    {
      VnValue *value = vn_node_get_input (node, i);

      vn_node_set_input (node, i, NULL);
      vn_rewrite_drop_unused (returned, value);
    }
  g_ptr_array_set_size (node->inputs, 1);
  for (guint i = 0; i < G_N_ELEMENTS (attrs); i++)
    vn_node_remove_attr (node, attrs[i]);
  vn_rewrite_set_op_type (node, "Conv");
  vn_node_set_input (node, 1, vn_rewrite_add_constant (node, "weight", weight));
  vn_node_set_input (node, 2, vn_rewrite_add_constant (node, "bias", bias));
  vn_node_set_int (node, "group", (gint64) constants.n);
  return TRUE;
}

static gboolean
bn_conv_run (VnPassContext  *ctx,
             GError        **error)
{
  g_autoptr(GHashTable) returned = NULL;
  g_autoptr(GPtrArray) nodes = NULL;

  if (!vn_rewrite_infer (ctx, "bn-to-conv", error))
    return FALSE;
  returned = vn_rewrite_returned (ctx->model);
  nodes = vn_rewrite_list_nodes (ctx->model->graph);
  for (guint i = 0; i < nodes->len; i++)
    if (!bn_conv_convert (ctx, returned, g_ptr_array_index (nodes, i), error))
      return FALSE;
  return TRUE;
}

const VnPass vn_pass_bn_to_conv = {
  .id = "bn-to-conv",
  .title = N_("BatchNormalization to Conv"),
  .summary = N_("Replaces each remaining BatchNormalization with a 1×1 Conv."),
  .stage = VN_PASS_REQUEST,
  .run = bn_conv_run,
};
