/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Operators whose meaning changed. */
#include "vn-rewrite-private.h"

VN_OPSET_RULE (vn_opset_upsample_resize)
{
  vn_rewrite_set_op_type (node, "Resize");
  return TRUE;
}

/* -1: some scale is below 1, +1: some above; 2: both; 0: none, or not known */
static int
opset_shape_direction (const VnValue *scales)
{
  VnTensor *tensor = scales != NULL ? vn_value_get_constant (scales) : NULL;
  gboolean down = FALSE, up = FALSE;

  for (gsize i = 0; tensor != NULL && i < tensor->n_elements; i++)
    {
      down |= vn_tensor_get_double (tensor, i) < 1;
      up |= vn_tensor_get_double (tensor, i) > 1;
    }
  return down && up ? 2 : down ? -1 : up;
}

/* The regions of Resize may be left out from opset 13 on only: until then an empty tensor says that there are none. */
static VnValue *
opset_shape_add_empty_regions (VnGraph *graph)
{
  g_autoptr(VnTensor) none = vn_tensor_new_f32 (&VN_SHAPE (0), (const float[]) { 0 });

  return vn_graph_add_initializer (graph, "roi", none);
}

/* Resize-10 takes (X, scales) and maps positions by x / scale; the nearest pixel is the one before when enlarging and
 * the one after when reducing. */
VN_OPSET_RULE (vn_opset_resize_mode)
{
  VnValue *scales = vn_node_get_input (node, 1);
  g_autofree char *mode = vn_node_dup_string (node, "mode", "nearest");
  int dir = opset_shape_direction (scales);

  if (node->inputs->len != 2)
    return vn_opset_refuse (step, _("it should have an input and scales"), error);
  if (dir == 2 && g_str_equal (mode, "nearest"))
    return vn_opset_refuse (step, _("it enlarges one axis and reduces another"), error);
  vn_node_set_input (node, 1, opset_shape_add_empty_regions (node->graph));
  vn_node_set_input (node, 2, scales);
  vn_node_set_string (node, "coordinate_transformation_mode", "asymmetric");
  if (g_str_equal (mode, "nearest"))
    vn_node_set_string (node, "nearest_mode", dir < 0 ? "ceil" : "floor");
  return TRUE;
}

VN_OPSET_RULE (vn_opset_dropout_mask)
{
  const VnValue *mask = vn_node_get_output (node, 1);

  if (mask != NULL && (mask->uses->len > 0 || mask->is_output))
    return vn_opset_refuse (step, _("its mask is used"), error);
  return FALSE;
}

VN_OPSET_RULE (vn_opset_dropout_ratio)
{
  if (vn_node_get_attr (node, "ratio") == NULL)
    return FALSE;
  vn_node_remove_attr (node, "ratio");
  return TRUE;
}

VN_OPSET_RULE (vn_opset_scatter)
{
  vn_rewrite_set_op_type (node, "ScatterElements");
  return TRUE;
}

/* ---- Softmax and its kin ---- */

static gboolean
opset_shape_all_ones_behind (const VnShape *shape,
                             int            axis)
{
  for (int i = axis + 1; i < shape->rank; i++)
    if (shape->dims[i] != 1)
      return FALSE;
  return TRUE;
}

static VnValue *
shape_of (VnNode  *node,
          VnValue *x)
{
  VnValue *result;

  if (x->type.kind == VN_TYPE_TENSOR && vn_shape_is_static (&x->type.shape))
    {
      VnShape list = VN_SHAPE (x->type.shape.rank);
      g_autoptr(VnTensor) dims = vn_tensor_new_s64 (&list, x->type.shape.dims);

      return vn_rewrite_add_constant (node, "shape", dims);
    }
  result = vn_rewrite_add_result (node, "shape");
  vn_graph_insert_node (node->graph, node, NULL, "", "Shape", &x, 1, &result, 1);
  return result;
}

/* Flatten in front, Reshape behind: the old form saw a matrix of rows from the axis on. */
static void
opset_shape_wrap_in_matrix (VnNode *node,
                            gint64  axis)
{
  VnValue *x = vn_node_get_input (node, 0);
  VnValue *y = vn_node_get_output (node, 0);
  VnValue *flat = vn_rewrite_add_result (node, "flat");
  VnValue *rows = vn_rewrite_add_result (node, "rows");
  VnValue *back[2] = { rows, shape_of (node, x) };
  VnNode *flatten = vn_graph_insert_node (node->graph, node, NULL, "", "Flatten", &x, 1, &flat, 1);

  vn_node_set_int (flatten, "axis", axis);
  vn_node_set_input (node, 0, flat);
  vn_node_set_output (node, 0, rows);
  vn_node_set_int (node, "axis", -1);
  vn_graph_insert_node (node->graph, vn_node_get_next (node), NULL, "", "Reshape", back, 2, &y, 1);
}

VN_OPSET_RULE (vn_opset_softmax)
{
  gint64 axis = vn_node_get_int (node, "axis", 1);
  VnValue *x = vn_node_get_input (node, 0);
  int rank = vn_opset_rank (x), resolved = -1;

  if (x == NULL || vn_node_get_output (node, 0) == NULL)
    return FALSE;
  if (rank >= 0 && !vn_shape_resolve_axis (&x->type.shape, axis, &resolved))
    return vn_opset_refuse (step, _("its axis is out of range for its input"), error);
  if (axis == -1 || (rank >= 0 && opset_shape_all_ones_behind (&x->type.shape, resolved)))
    {
      vn_node_set_int (node, "axis", axis);
      return TRUE;
    }
  opset_shape_wrap_in_matrix (node, axis);
  return TRUE;
}

/* ---- others ---- */

VN_OPSET_RULE (vn_opset_split_outputs)
{
  if (vn_node_get_input (node, 1) != NULL || vn_node_get_attr (node, "num_outputs") != NULL)
    return FALSE;
  vn_node_set_int (node, "num_outputs", node->outputs->len);
  return TRUE;
}

VN_OPSET_RULE (vn_opset_batch_norm_outputs)
{
  gboolean changed = FALSE;

  for (guint i = 1; i < node->outputs->len; i++)
    {
      VnValue *value = vn_node_get_output (node, i);

      if (value != NULL && (value->uses->len > 0 || value->is_output))
        return vn_opset_refuse (step, _("its training outputs are used"), error);
    }
  while (node->outputs->len > 1)
    {
      guint last = node->outputs->len - 1;
      VnValue *value = vn_node_get_output (node, last);

      vn_node_set_output (node, last, NULL);
      g_ptr_array_set_size (node->outputs, (int) last);
      if (value != NULL)
        vn_graph_remove_value (value->graph, value);
      changed = TRUE;
    }
  return changed;
}

VN_OPSET_RULE (vn_opset_roi_align)
{
  vn_node_set_string (node, "coordinate_transformation_mode", "output_half_pixel");
  return TRUE;
}

VN_OPSET_RULE (vn_opset_grid_sample)
{
  g_autofree char *mode = vn_node_dup_string (node, "mode", NULL);

  if (mode == NULL || g_str_equal (mode, "nearest"))
    return FALSE;
  vn_node_set_string (node, "mode", g_str_equal (mode, "bicubic") ? "cubic" : "linear");
  return TRUE;
}

/* Until 20 scale and bias held one number a group. */
static gboolean
opset_shape_repeat_groups (VnOpsetStep  *step,
                           VnNode       *node,
                           guint         i,
                           const char   *role,
                           gint64        times,
                           GError      **error)
{
  VnValue *value = vn_node_get_input (node, i);
  g_autoptr(VnTensor) old = vn_rewrite_constant_f32 (value, error);
  g_autoptr(VnTensor) repeated = NULL;

  if (old == NULL)
    return *error == NULL ? vn_opset_refuse (step, _("scale and bias are not constant"), error) : FALSE;
  repeated = vn_tensor_new (VN_DTYPE_F32, &VN_SHAPE ((gint64) old->n_elements * times), error);
  if (repeated == NULL)
    return FALSE;
  for (gsize k = 0; k < repeated->n_elements; k++)
    ((float *) repeated->data)[k] = ((const float *) old->data)[k / (gsize) times];
  vn_node_set_input (node, i, vn_rewrite_add_constant (node, role, repeated));
  return TRUE;
}

VN_OPSET_RULE (vn_opset_group_norm)
{
  const VnValue *x = vn_node_get_input (node, 0);
  gint64 groups = vn_node_get_int (node, "num_groups", 0);
  gint64 channels = vn_opset_rank (x) > 1 ? x->type.shape.dims[1] : -1;

  if (groups <= 0 || channels <= 0 || channels % groups != 0)
    return vn_opset_refuse (step, _("its number of channels is unknown"), error);
  return opset_shape_repeat_groups (step, node, 1, "scale", channels / groups, error) &&
         opset_shape_repeat_groups (step, node, 2, "bias", channels / groups, error);
}
