/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Quantized networks for processors that want other integers: activations of another type of 8 bit, biases of 16 bit. */
#include "vn-rewrite-private.h"

#include <math.h>

#define MICROSOFT "com.microsoft"
/* So many steps of 16 bit are one of 8 bit: 65535 / 255. */
#define STEPS 257

static VnTensor *
requantize_get_constant (const VnNode *node,
                         guint         i)
{
  VnValue *value = vn_node_get_input (node, i);
  VnTensor *tensor = value != NULL ? vn_value_get_constant (value) : NULL;

  return tensor != NULL ? vn_tensor_get_aligned (tensor, NULL) : NULL;
}

static gboolean
requantize_same_constant (const VnNode *a,
                          const VnNode *b,
                          guint         i)
{
  g_autoptr(VnTensor) x = requantize_get_constant (a, i), y = requantize_get_constant (b, i);

  return vn_node_get_input (a, i) == vn_node_get_input (b, i) || (x != NULL && y != NULL && vn_tensor_equal (x, y));
}

/* ---- activations ---- */

/* All that reads what @node makes turns it back, with the same numbers. */
static gboolean
requantize_is_pair (GHashTable   *returned,
                    const VnNode *node)
{
  const VnValue *middle = vn_node_get_output (node, 0);

  if (middle == NULL || middle->uses->len == 0 || vn_rewrite_is_kept (returned, middle) ||
      vn_node_get_int (node, "block_size", 0) != 0 || vn_value_is_constant (vn_node_get_input (node, 0)))
    return FALSE;
  for (guint i = 0; i < middle->uses->len; i++)
    {
      const VnUse *use = &g_array_index (middle->uses, VnUse, i);

      if (!vn_node_dequantizes (use->node) || use->index != 0 || use->node->graph != node->graph ||
          !requantize_same_constant (node, use->node, 1) || !requantize_same_constant (node, use->node, 2))
        return FALSE;
    }
  return TRUE;
}

static gboolean
requantize_is_other_activation (VnDType from,
                                VnDType to)
{
  return from != to && (from == VN_DTYPE_U8 || from == VN_DTYPE_S8 || from == VN_DTYPE_U16 || from == VN_DTYPE_S16);
}

static gint64
requantize_move_zero_point (gint64  zero_point,
                            VnDType from,
                            VnDType to)
{
  gint64 first, first_to, last;

  vn_dtype_integer_range (from, &first, &last);
  vn_dtype_integer_range (to, &first_to, &last);
  zero_point -= first;
  return (vn_dtype_get_bits (from) == 16 ? (gint64) rint ((double) zero_point / STEPS) : zero_point) + first_to;
}

static VnTensor *
requantize_move_zero_points (const VnTensor  *zero_points,
                             VnDType          to,
                             GError         **error)
{
  VnTensor *moved = vn_tensor_new_constant (to, &zero_points->shape, error);

  for (gsize i = 0; moved != NULL && i < moved->n_elements; i++)
    ((guint8 *) moved->data)[i] = (guint8) requantize_move_zero_point (vn_tensor_get_s64 (zero_points, i), zero_points->dtype,
                                                                       to);
  return moved;
}

static VnTensor *
requantize_widen_steps (const VnTensor  *scale,
                        GError         **error)
{
  VnTensor *wide = vn_tensor_new_constant (VN_DTYPE_F32, &scale->shape, error);

  for (gsize i = 0; wide != NULL && i < wide->n_elements; i++)
    ((float *) wide->data)[i] = (float) (vn_tensor_get_double (scale, i) * STEPS);
  return wide;
}

/* Nodes of other domains than the standard's are there for types that it does not know; these it knows. */
static void
requantize_become_standard (VnNode     *node,
                            const char *op_type)
{
  g_free (node->domain);
  node->domain = g_strdup ("");
  vn_rewrite_set_op_type (node, op_type);
  vn_node_remove_attr (node, "output_dtype");
}

static gboolean
requantize_convert_pair (VnPassContext  *ctx,
                         VnNode         *node,
                         VnDType         to,
                         GError        **error)
{
  g_autoptr(VnTensor) zero_points = requantize_get_constant (node, 2), scale = requantize_get_constant (node, 1), moved = NULL,
  wide = NULL;
  VnValue *middle = vn_node_get_output (node, 0), *zero_point, *step = vn_node_get_input (node, 1);
  g_autofree char *label = vn_node_dup_label (node);

  if (zero_points == NULL || scale == NULL || scale->dtype != VN_DTYPE_F32 ||
      !requantize_is_other_activation (zero_points->dtype, to))
    return TRUE;
  if (vn_dtype_get_bits (zero_points->dtype) == 16 && (wide = requantize_widen_steps (scale, error)) == NULL)
    return FALSE;
  moved = requantize_move_zero_points (zero_points, to, error);
  if (moved == NULL)
    return FALSE;
  zero_point = vn_rewrite_add_constant (node, "zero_point", moved);
  if (wide != NULL)
    step = vn_rewrite_add_constant (node, "scale", wide);
  for (guint i = 0; i <= middle->uses->len; i++)
    {
      VnNode *one = i < middle->uses->len ? g_array_index (middle->uses, VnUse, i).node : node;

      vn_node_set_input (one, 1, step);
      vn_node_set_input (one, 2, zero_point);
      requantize_become_standard (one, one == node ? "QuantizeLinear" : "DequantizeLinear");
    }
  vn_value_set_type (middle, to, &middle->type.shape);
  vn_edit_log_add (ctx->log, "set", label, NULL, _("%s to %s, zero point %lld"), vn_dtype_get_name (zero_points->dtype),
                   vn_dtype_get_name (to), (long long) vn_tensor_get_s64 (moved, 0));
  return TRUE;
}

static gboolean
requantize_convert_activations (VnPassContext  *ctx,
                                const char     *pass,
                                VnDType         to,
                                GError        **error)
{
  g_autoptr(GHashTable) returned = NULL;
  g_autoptr(GPtrArray) nodes = NULL;

  if (!vn_rewrite_infer (ctx, pass, error))
    return FALSE;
  returned = vn_rewrite_returned (ctx->model);
  nodes = vn_rewrite_list_nodes (ctx->model->graph);
  for (guint i = 0; i < nodes->len; i++)
    if (vn_node_quantizes (g_ptr_array_index (nodes, i)) && requantize_is_pair (returned, g_ptr_array_index (nodes, i)) &&
        !requantize_convert_pair (ctx, g_ptr_array_index (nodes, i), to, error))
      return FALSE;
  return vn_pass_apply (&vn_pass_dead, ctx, error);
}

static gboolean
requantize_activations_u8_run (VnPassContext  *ctx,
                               GError        **error)
{
  return requantize_convert_activations (ctx, "activations-u8", VN_DTYPE_U8, error);
}

static gboolean
requantize_activations_s8_run (VnPassContext  *ctx,
                               GError        **error)
{
  return requantize_convert_activations (ctx, "activations-s8", VN_DTYPE_S8, error);
}

/* ---- biases ---- */

/* How many elements share a scale, one after the other; 0: not as a bias has it. */
static gboolean
requantize_is_line (const VnTensor *data,
                    const VnTensor *scale)
{
  return data->dtype == VN_DTYPE_S32 && data->shape.rank <= 1 && scale->dtype == VN_DTYPE_F32 &&
         (scale->n_elements == 1 || scale->n_elements == data->n_elements);
}

/* The largest of those that have scale @c. */
static gint64
requantize_find_largest (const VnTensor *data,
                         gsize           c,
                         gsize           n_scales)
{
  gint64 largest = 0;

  for (gsize i = n_scales == 1 ? 0 : c; i < (n_scales == 1 ? data->n_elements : c + 1); i++)
    largest = MAX (largest, ABS (vn_tensor_get_s64 (data, i)));
  return largest;
}

/* Scales under which all fits into 16 bit. */
static VnTensor *
requantize_make_room (const VnTensor  *data,
                      const VnTensor  *scale,
                      GError         **error)
{
  VnTensor *raised = vn_tensor_new_constant (VN_DTYPE_F32, &scale->shape, error);

  for (gsize c = 0; raised != NULL && c < raised->n_elements; c++)
    {
      double largest = (double) requantize_find_largest (data, c, scale->n_elements);

      ((float *) raised->data)[c] = (float) (vn_tensor_get_double (scale, c) * MAX (largest / G_MAXINT16, 1));
    }
  return raised;
}

static VnTensor *
requantize_narrow (const VnTensor  *data,
                   const VnTensor  *scale,
                   const VnTensor  *raised,
                   GError         **error)
{
  VnTensor *result = vn_tensor_new_constant (VN_DTYPE_S16, &data->shape, error);

  for (gsize i = 0; result != NULL && i < result->n_elements; i++)
    {
      gsize c = scale->n_elements == 1 ? 0 : i;
      double number = rint ((double) vn_tensor_get_s64 (data, i) * (vn_tensor_get_double (scale, c) /
                                                                    vn_tensor_get_double (raised, c)));

      ((gint16 *) result->data)[i] = (gint16) CLAMP (number, G_MININT16, G_MAXINT16);
    }
  return result;
}

static gboolean
requantize_is_bias (const VnValue *value)
{
  for (guint i = 0; i < value->uses->len; i++)
    {
      const VnUse *use = &g_array_index (value->uses, VnUse, i);

      if (use->index != 2 || !(vn_node_is (use->node, "Conv") || vn_node_is (use->node, "ConvTranspose") ||
                               vn_node_is (use->node, "Gemm")))
        return FALSE;
    }
  return value->uses->len > 0;
}

static gboolean
requantize_narrow_bias (VnPassContext  *ctx,
                        VnNode         *node,
                        GError        **error)
{
  g_autoptr(VnTensor) data = requantize_get_constant (node, 0), scale = requantize_get_constant (node, 1), raised = NULL,
  small = NULL;
  g_autofree char *label = vn_node_dup_label (node);
  VnValue *old = vn_node_get_input (node, 2);

  if (data == NULL || scale == NULL || !requantize_is_line (data, scale) ||
      (old != NULL && !vn_rewrite_is_filled_with (old, 0)))
    return TRUE;
  raised = requantize_make_room (data, scale, error);
  small = raised != NULL ? requantize_narrow (data, scale, raised, error) : NULL;
  if (small == NULL)
    return FALSE;
  vn_node_set_input (node, 0, vn_rewrite_add_constant (node, "int16", small));
  if (!vn_tensor_equal (raised, scale))
    vn_node_set_input (node, 1, vn_rewrite_add_constant (node, "scale", raised));
  if (old != NULL)
    {
      vn_node_set_input (node, 2, NULL);
      g_ptr_array_set_size (node->inputs, 2);
    }
  if (*node->domain == '\0' && vn_model_get_opset (ctx->model, "") < 21)
    {
      g_free (node->domain);
      node->domain = g_strdup (MICROSOFT);
      if (vn_model_get_opset (ctx->model, MICROSOFT) == 0)
        vn_model_set_opset (ctx->model, MICROSOFT, 1);
    }
  vn_edit_log_add (ctx->log, "set", label, NULL, _("an int16 bias, scale %g, was %g"), vn_tensor_get_double (raised, 0),
                   vn_tensor_get_double (scale, 0));
  return TRUE;
}

static gboolean
requantize_bias_int16_run (VnPassContext  *ctx,
                           GError        **error)
{
  g_autoptr(GPtrArray) nodes = vn_rewrite_list_nodes (ctx->model->graph);

  for (guint i = 0; i < nodes->len; i++)
    {
      VnNode *node = g_ptr_array_index (nodes, i);

      if (vn_node_dequantizes (node) && vn_node_get_output (node, 0) != NULL &&
          requantize_is_bias (vn_node_get_output (node, 0)) &&
          !requantize_narrow_bias (ctx, node, error))
        return FALSE;
    }
  return vn_pass_apply (&vn_pass_dead, ctx, error);
}

/* ---- */

const VnPass vn_pass_activations_u8 = {
  .id = "activations-u8",
  .title = N_("uint8 activations"),
  .summary = N_("Converts quantized activations from int8 (same values), int16 and uint16 (257 steps become one) to uint8."),
  .stage = VN_PASS_REQUEST,
  .alters = TRUE,
  .run = requantize_activations_u8_run,
};

const VnPass vn_pass_activations_s8 = {
  .id = "activations-s8",
  .title = N_("int8 activations"),
  .summary = N_("Converts quantized activations from uint8 (same values), int16 and uint16 (257 steps become one) to int8."),
  .stage = VN_PASS_REQUEST,
  .alters = TRUE,
  .run = requantize_activations_s8_run,
};

const VnPass vn_pass_bias_int16 = {
  .id = "bias-int16",
  .title = N_("int16 biases"),
  .summary = N_("Converts quantized biases from int32 to int16, with larger scales where they would overflow."),
  .stage = VN_PASS_REQUEST,
  .alters = TRUE,
  .run = requantize_bias_int16_run,
};
