/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What exporters write out although the standard has an operator for it: LayerNormalization and Gelu. On request, because
 * a quantizer may know the parts only. What other such passes use, too, stands at the front. */
#include "vn-rewrite-private.h"

#include <math.h>

/* Names of intermediate results go, so nobody else may use them. */
static VnNode *
norms_only_producer (GHashTable   *returned,
                     const VnNode *node,
                     guint         i,
                     const char   *op_type)
{
  return vn_rewrite_producer_of_only (returned, node, i, op_type);
}

/*< private >
 * vn_rewrite_input_is:
 *
 * Returns: %TRUE if input @i is a constant of one element, @number but for rounding
 */
gboolean
vn_rewrite_input_is (const VnNode *node,
                     guint         i,
                     double        number)
{
  double found;

  return vn_rewrite_get_number (vn_node_get_input (node, i), &found) && fabs (found - number) <= 1e-6 * fabs (number);
}

/*< private >
 * vn_rewrite_replace_pattern:
 *
 * @op_type takes the place of the last node of a pattern; the others die with it.
 */
void
vn_rewrite_replace_pattern (VnPassContext *ctx,
                            VnNode        *last,
                            const char    *op_type,
                            VnValue      **inputs,
                            guint          n_inputs)
{
  g_autofree char *label = vn_node_dup_label (last);

  vn_edit_log_add (ctx->log, "replace", label, NULL, _("the nodes up to here with %s"), op_type);
  for (guint i = last->inputs->len; i-- > 0;)
    vn_node_set_input (last, i, i < n_inputs ? inputs[i] : NULL);
  for (guint i = last->inputs->len; i < n_inputs; i++)
    vn_node_set_input (last, i, inputs[i]);
  g_ptr_array_set_size (last->inputs, (int) n_inputs);
  vn_rewrite_set_op_type (last, op_type);
}

/* ---- LayerNormalization: (x - mean) / sqrt (mean ((x - mean)^2) + epsilon) * scale + bias ---- */

static gboolean
norms_is_last_axis_mean (const VnNode *node)
{
  const VnShape *shape = vn_rewrite_get_shape (vn_node_get_input (node, 0));
  gint64 axes[VN_MAX_RANK];
  gsize n;

  return vn_node_get_int (node, "keepdims", 1) == 1 && vn_rewrite_get_ints (node, "axes", 1, axes, VN_MAX_RANK, &n) &&
         n == 1 && shape != NULL && (axes[0] == -1 || axes[0] == shape->rank - 1);
}

/*< private >
 * vn_rewrite_is_variance:
 *
 * Returns: %TRUE if @mean is mean ((x - mean)^2) of @centred, the square written as Pow or Mul
 */
gboolean
vn_rewrite_is_variance (const VnNode  *mean,
                        const VnValue *centred,
                        VnMeanFunc     is_mean)
{
  const VnValue *squares = vn_node_get_input (mean, 0);
  const VnNode *square = squares != NULL ? squares->producer : NULL;

  if (!is_mean (mean) || square == NULL || vn_node_get_input (square, 0) != centred || squares->uses->len != 1)
    return FALSE;
  return (vn_node_is (square, "Pow") && vn_rewrite_input_is (square, 1, 2)) ||
         (vn_node_is (square, "Mul") && vn_node_get_input (square, 1) == centred);
}

/*< private >
 * vn_rewrite_find_centred:
 *
 * Returns: (transfer none) (nullable): x of a centred value x - mean (x)
 */
VnValue *
vn_rewrite_find_centred (const VnValue *centred,
                         VnMeanFunc     is_mean)
{
  const VnNode *sub = centred != NULL ? centred->producer : NULL;
  const VnNode *mean = sub != NULL && vn_node_is (sub, "Sub") ? vn_rewrite_producer (sub, 1, "ReduceMean") : NULL;

  return mean != NULL && is_mean (mean) && vn_node_get_input (mean, 0) == vn_node_get_input (sub, 0)
         ? vn_node_get_input (sub, 0) : NULL;
}

static gboolean
norms_is_line_of (const VnValue *value,
                  const VnValue *x)
{
  const VnShape *line = vn_rewrite_get_shape (value), *shape = vn_rewrite_get_shape (x);

  return value != NULL && value->initializer != NULL && value->initializer->dtype == VN_DTYPE_F32 && line->rank == 1 &&
         shape != NULL && shape->rank >= 1 && shape->dims[shape->rank - 1] == line->dims[0];
}

/* The constant operand of a sum or product, which is the other input than that of @inner. */
static VnValue *
norms_find_line (const VnNode *node,
                 const VnNode *inner,
                 const VnValue *x)
{
  VnValue *result = vn_node_get_output (inner, 0);
  VnValue *line = vn_node_get_input (node, vn_node_get_input (node, 0) == result ? 1 : 0);

  return norms_is_line_of (line, x) ? line : NULL;
}

/*< private >
 * vn_rewrite_producer_either:
 *
 * As vn_rewrite_producer_of_only(), of the first or the second input.
 */
VnNode *
vn_rewrite_producer_either (GHashTable   *returned,
                            const VnNode *node,
                            const char   *op_type)
{
  VnNode *found = norms_only_producer (returned, node, 0, op_type);

  return found != NULL ? found : norms_only_producer (returned, node, 1, op_type);
}

static void
norms_fuse_layer_norm (VnPassContext *ctx,
                       GHashTable    *returned,
                       VnNode        *last)
{
  VnNode *mul = vn_node_is (last, "Add") ? vn_rewrite_producer_either (returned, last, "Mul") : NULL;
  VnNode *div = mul != NULL ? vn_rewrite_producer_either (returned, mul, "Div") : NULL;
  VnNode *root = div != NULL ? norms_only_producer (returned, div, 1, "Sqrt") : NULL;
  VnNode *plus = root != NULL ? norms_only_producer (returned, root, 0, "Add") : NULL;
  VnNode *variance = plus != NULL ? vn_rewrite_producer_either (returned, plus, "ReduceMean") : NULL;
  VnValue *x, *inputs[3];
  double epsilon;

  if (variance == NULL || !vn_rewrite_is_variance (variance, vn_node_get_input (div, 0), norms_is_last_axis_mean) ||
      !vn_rewrite_get_number (vn_node_get_input (plus, vn_rewrite_producer (plus, 0, "ReduceMean") == variance ? 1 : 0),
                              &epsilon))
    return;
  x = vn_rewrite_find_centred (vn_node_get_input (div, 0), norms_is_last_axis_mean);
  if (x == NULL || vn_rewrite_get_dtype (x) != VN_DTYPE_F32)
    return;
  inputs[0] = x;
  inputs[1] = norms_find_line (mul, div, x);
  inputs[2] = norms_find_line (last, mul, x);
  if (inputs[1] == NULL || inputs[2] == NULL)
    return;
  vn_rewrite_replace_pattern (ctx, last, "LayerNormalization", inputs, 3);
  vn_node_set_int (last, "axis", -1);
  vn_node_set_float (last, "epsilon", (float) epsilon);
}

/* ---- Gelu: x (1 + erf (x / sqrt (2))) / 2, the half at one of three places ---- */

static gboolean
norms_is_scaled (const VnNode *node,
                 VnValue     **x)
{
  *x = vn_node_get_input (node, 0);
  return (vn_node_is (node, "Div") && vn_rewrite_input_is (node, 1, G_SQRT2)) ||
         (vn_node_is (node, "Mul") && vn_rewrite_input_is (node, 1, M_SQRT1_2));
}

/* x of 1 + erf (x / sqrt (2)). */
static VnValue *
norms_find_erf (GHashTable   *returned,
                const VnNode *plus)
{
  VnNode *erf = vn_rewrite_producer_either (returned, plus, "Erf");
  VnValue *scaled = erf != NULL ? vn_node_get_input (erf, 0) : NULL, *x = NULL;

  if (erf == NULL || !(vn_rewrite_input_is (plus, 0, 1) || vn_rewrite_input_is (plus, 1, 1)) || scaled->producer == NULL ||
      scaled->uses->len != 1 || !norms_is_scaled (scaled->producer, &x))
    return NULL;
  return x;
}

/* Of three factors one is @plus's result, one x and one 1/2, in any order of two products. */
static gboolean
norms_find_factors (GHashTable   *returned,
                    const VnNode *last,
                    VnValue     **x)
{
  VnNode *inner = vn_rewrite_producer_either (returned, last, "Mul"), *plus;
  guint n_x = 0, n_half = 0;
  const VnNode *both[2] = { last, inner };

  if (inner == NULL)
    return FALSE;
  plus = vn_rewrite_producer_either (returned, inner, "Add");
  plus = plus != NULL && norms_find_erf (returned, plus) != NULL ? plus : vn_rewrite_producer_either (returned, last, "Add");
  *x = plus != NULL ? norms_find_erf (returned, plus) : NULL;
  if (*x == NULL)
    return FALSE;
  for (guint i = 0; i < 2; i++)
    for (guint k = 0; k < 2; k++)
      {
        n_x += vn_node_get_input (both[i], k) == *x;
        n_half += vn_rewrite_input_is (both[i], k, 0.5);
      }
  return n_x == 1 && n_half == 1 && vn_rewrite_get_dtype (*x) == VN_DTYPE_F32;
}

static void
norms_fuse_gelu (VnPassContext *ctx,
                 GHashTable    *returned,
                 VnNode        *last)
{
  VnValue *x;

  if (vn_node_is (last, "Mul") && norms_find_factors (returned, last, &x))
    vn_rewrite_replace_pattern (ctx, last, "Gelu", &x, 1);
}

/* ---- */

/*< private >
 * vn_rewrite_fuse_all:
 * @opset: the first one that has the operator; older networks stay as they are, with a note
 *
 * Calls @func for each node that may be the last one of a pattern, with types inferred.
 */
gboolean
vn_rewrite_fuse_all (VnPassContext  *ctx,
                     const char     *pass,
                     gint64          opset,
                     VnFuseFunc      func,
                     GError        **error)
{
  g_autoptr(GHashTable) returned = NULL;
  g_autoptr(GPtrArray) nodes = NULL;

  if (vn_model_get_opset (ctx->model, "") < opset)
    {
      vn_notes_add (ctx->notes, VN_NOTE_INFO, "opset-too-low", pass, _("skipped: the operator requires opset %d"), (int) opset);
      return TRUE;
    }
  if (!vn_rewrite_infer (ctx, pass, error))
    return FALSE;
  returned = vn_rewrite_returned (ctx->model);
  nodes = vn_rewrite_list_nodes (ctx->model->graph);
  for (guint i = 0; i < nodes->len; i++)
    if (vn_node_get_output (g_ptr_array_index (nodes, i), 0) != NULL)
      func (ctx, returned, g_ptr_array_index (nodes, i));
  return TRUE;
}

static gboolean
norms_layer_norm_run (VnPassContext  *ctx,
                      GError        **error)
{
  return vn_rewrite_fuse_all (ctx, "fuse-layer-norm", 17, norms_fuse_layer_norm, error);
}

static gboolean
norms_gelu_run (VnPassContext  *ctx,
                GError        **error)
{
  return vn_rewrite_fuse_all (ctx, "fuse-gelu", 20, norms_fuse_gelu, error);
}

const VnPass vn_pass_fuse_layer_norm = {
  .id = "fuse-layer-norm",
  .title = N_("LayerNormalization"),
  .summary = N_("Fuses a decomposed layer normalization into one node (opset 17 or later)."),
  .stage = VN_PASS_REQUEST,
  .run = norms_layer_norm_run,
};

const VnPass vn_pass_fuse_gelu = {
  .id = "fuse-gelu",
  .title = N_("Gelu"),
  .summary = N_("Fuses a decomposed Gelu into one node (opset 20 or later)."),
  .stage = VN_PASS_REQUEST,
  .run = norms_gelu_run,
};
