/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Forms that accelerators have hardware for: each a pass of its own, on request. */
#include "vn-rewrite-private.h"

#include <math.h>

typedef void (*NodeFunc) (VnPassContext *ctx,
                          GHashTable    *returned,
                          VnNode        *node);

static gboolean
npu_each_node (VnPassContext  *ctx,
               const char     *pass,
               const char     *op_type,
               NodeFunc        func,
               GError        **error)
{
  g_autoptr(GHashTable) returned = NULL;
  g_autoptr(GPtrArray) nodes = NULL;

  if (!vn_rewrite_infer (ctx, pass, error))
    return FALSE;
  returned = vn_rewrite_returned (ctx->model);
  nodes = vn_rewrite_list_nodes (ctx->model->graph);
  for (guint i = 0; i < nodes->len; i++)
    if (vn_node_is (g_ptr_array_index (nodes, i), op_type) && vn_node_get_input (g_ptr_array_index (nodes, i), 0) != NULL &&
        vn_node_get_output (g_ptr_array_index (nodes, i), 0) != NULL)
      func (ctx, returned, g_ptr_array_index (nodes, i));
  return TRUE;
}

static void
npu_log_type (VnPassContext *ctx,
              const VnNode  *node,
              const char    *by)
{
  g_autofree char *label = vn_node_dup_label (node);

  vn_edit_log_add (ctx->log, "replace", label, NULL, _("%s with %s"), node->op_type, by);
}

static void
npu_drop_inputs_from (GHashTable *returned,
                      VnNode     *node,
                      guint       first)
{
  for (guint i = node->inputs->len; i-- > first;)
    {
      VnValue *value = vn_node_get_input (node, i);

      vn_node_set_input (node, i, NULL);
      g_ptr_array_set_size (node->inputs, (int) i);
      if (value != NULL)
        vn_rewrite_drop_unused (returned, value);
    }
}

/* ---- ReduceMean over height and width ---- */

static void
npu_mean_to_pool (VnPassContext *ctx,
                  GHashTable    *returned,
                  VnNode        *node)
{
  const VnShape *shape = vn_rewrite_get_shape (vn_node_get_input (node, 0));
  gint64 axes[VN_MAX_RANK];
  gsize n;

  if (shape == NULL || shape->rank != 4 || vn_node_get_int (node, "keepdims", 1) != 1 ||
      vn_rewrite_get_dtype (vn_node_get_input (node, 0)) != VN_DTYPE_F32 ||
      !vn_rewrite_get_ints (node, "axes", 1, axes, VN_MAX_RANK, &n) || n != 2)
    return;
  for (gsize i = 0; i < n; i++)
    axes[i] += axes[i] < 0 ? 4 : 0;
  if (MIN (axes[0], axes[1]) != 2 || MAX (axes[0], axes[1]) != 3)
    return;
  npu_log_type (ctx, node, "GlobalAveragePool");
  npu_drop_inputs_from (returned, node, 1);
  vn_node_remove_attr (node, "axes");
  vn_node_remove_attr (node, "keepdims");
  vn_node_remove_attr (node, "noop_with_empty_axes");
  vn_rewrite_set_op_type (node, "GlobalAveragePool");
}

static gboolean
npu_mean_to_pool_run (VnPassContext  *ctx,
                      GError        **error)
{
  return npu_each_node (ctx, "mean-to-pool", "ReduceMean", npu_mean_to_pool, error);
}

const VnPass vn_pass_mean_to_pool = {
  .id = "mean-to-pool",
  .title = N_("ReduceMean to GlobalAveragePool"),
  .summary = N_("Replaces ReduceMean over height and width with GlobalAveragePool."),
  .stage = VN_PASS_REQUEST,
  .run = npu_mean_to_pool_run,
};

/* ---- pools over large areas ---- */

#define MAX_AREA 512

/* The smallest window whose sides divide those of the picture and that leaves an area that is small enough. */
static gboolean
npu_find_window (gint64  height,
                 gint64  width,
                 gint64  window[2])
{
  gint64 best = G_MAXINT64;

  for (gint64 h = 1; h <= MIN (height, MAX_AREA); h++)
    for (gint64 w = 1; height % h == 0 && w <= MIN (width, MAX_AREA / h); w++)
      if (width % w == 0 && (height / h) * (width / w) <= MAX_AREA && h * w < best)
        {
          best = h * w;
          window[0] = h;
          window[1] = w;
        }
  return best < G_MAXINT64;
}

static void
npu_split_pool (VnPassContext *ctx,
                GHashTable    *returned,
                VnNode        *node)
{
  VnValue *from = vn_node_get_input (node, 0), *between;
  const VnShape *shape = vn_rewrite_get_shape (from);
  g_autofree char *label = vn_node_dup_label (node);
  gint64 window[2];
  VnNode *first;

  if (shape == NULL || shape->rank != 4 || !vn_shape_is_static (shape) || shape->dims[2] > G_MAXINT16 ||
      shape->dims[3] > G_MAXINT16 || shape->dims[2] * shape->dims[3] <= MAX_AREA)
    return;
  if (!npu_find_window (shape->dims[2], shape->dims[3], window))
    {
      vn_notes_add (ctx->notes, VN_NOTE_WARNING, "large-pool", label, _("a pool over %d×%d cannot be split evenly"),
                    (int) shape->dims[2], (int) shape->dims[3]);
      return;
    }
  vn_edit_log_add (ctx->log, "replace", label, NULL, _("pools windows of %d×%d first"), (int) window[0], (int) window[1]);
  between = vn_rewrite_add_result (node, "windows");
  vn_edit_log_note_same (ctx->log, from->name, between->name);   /* what is a mean lies within its range */
  first = vn_graph_insert_node (node->graph, node, NULL, "", "AveragePool", &from, 1, &between, 1);
  vn_node_set_ints (first, "kernel_shape", window, 2);
  vn_node_set_ints (first, "strides", window, 2);
  vn_node_set_input (node, 0, between);
}

static gboolean
npu_split_pool_run (VnPassContext  *ctx,
                    GError        **error)
{
  return npu_each_node (ctx, "split-large-pool", "GlobalAveragePool", npu_split_pool, error);
}

const VnPass vn_pass_split_large_pool = {
  .id = "split-large-pool",
  .title = N_("Split large pools"),
  .summary = N_("Splits a GlobalAveragePool over more than 512 pixels into two pools."),
  .stage = VN_PASS_REQUEST,
  .run = npu_split_pool_run,
};

/* ---- Split ---- */

static gboolean
npu_find_starts (const VnNode *node,
                 int           axis,
                 gint64       *starts)
{
  starts[0] = 0;
  for (guint i = 0; i < node->outputs->len; i++)
    {
      const VnShape *shape = vn_rewrite_get_shape (vn_node_get_output (node, i));

      if (shape == NULL || axis >= shape->rank || shape->dims[axis] < 0)
        return FALSE;
      starts[i + 1] = starts[i] + shape->dims[axis];
    }
  return TRUE;
}

static void
npu_insert_slice (VnNode  *node,
                  VnValue *result,
                  gint64   from,
                  gint64   to,
                  gint64   axis)
{
  const gint64 numbers[3] = { from, to, axis };
  const char * const roles[3] = { "starts", "ends", "axes" };
  VnValue *inputs[4] = { vn_node_get_input (node, 0) };
  VnNode *slice = vn_graph_insert_node (node->graph, node, NULL, "", "Slice", inputs, 1, &result, 1);

  for (guint i = 0; i < 3; i++)
    {
      g_autoptr(VnTensor) tensor = vn_tensor_new_s64 (&VN_SHAPE (1), &numbers[i]);

      vn_node_set_input (slice, i + 1, vn_rewrite_add_constant (slice, roles[i], tensor));
    }
}

static void
npu_split_to_slice (VnPassContext *ctx,
                    GHashTable    *returned,
                    VnNode        *node)
{
  const VnShape *shape = vn_rewrite_get_shape (vn_node_get_input (node, 0));
  g_autofree gint64 *starts = g_new0 (gint64, node->outputs->len + 1);
  g_autoptr(GPtrArray) results = g_ptr_array_new ();
  int axis;

  if (shape == NULL || !vn_shape_resolve_axis (shape, vn_node_get_int (node, "axis", 0), &axis))
    return;
  for (guint i = 0; i < node->outputs->len; i++)
    if (vn_node_get_output (node, i) == NULL)
      return;
    else
      g_ptr_array_add (results, vn_node_get_output (node, i));
  if (!npu_find_starts (node, axis, starts))
    return;
  npu_log_type (ctx, node, "Slice");
  for (guint i = 0; i < results->len; i++)
    vn_node_set_output (node, i, NULL);
  for (guint i = 0; i < results->len; i++)
    npu_insert_slice (node, g_ptr_array_index (results, i), starts[i], starts[i + 1], axis);
  npu_drop_inputs_from (returned, node, 1);
  vn_graph_remove_node (node->graph, node);
}

static gboolean
npu_split_to_slice_run (VnPassContext  *ctx,
                        GError        **error)
{
  return vn_model_get_opset (ctx->model, "") < 10 ||
         npu_each_node (ctx, "split-to-slice", "Split", npu_split_to_slice, error);
}

const VnPass vn_pass_split_to_slice = {
  .id = "split-to-slice",
  .title = N_("Split to Slice"),
  .summary = N_("Replaces Split with one Slice per part."),
  .stage = VN_PASS_REQUEST,
  .exact = TRUE,
  .run = npu_split_to_slice_run,
};

/* ---- Clip ---- */

static gboolean
npu_get_bounds (const VnNode *node,
                double       *low,
                double       *high)
{
  *low = vn_node_get_attr (node, "min") != NULL ? vn_node_get_float (node, "min", 0) : -INFINITY;
  *high = vn_node_get_attr (node, "max") != NULL ? vn_node_get_float (node, "max", 0) : INFINITY;
  return (vn_node_get_input (node, 1) == NULL || vn_rewrite_get_number (vn_node_get_input (node, 1), low)) &&
         (vn_node_get_input (node, 2) == NULL || vn_rewrite_get_number (vn_node_get_input (node, 2), high)) && *low == 0;
}

static void
npu_become_relu (VnPassContext *ctx,
                 GHashTable    *returned,
                 VnNode        *node)
{
  npu_log_type (ctx, node, "Relu");
  npu_drop_inputs_from (returned, node, 1);
  vn_node_remove_attr (node, "min");
  vn_node_remove_attr (node, "max");
  vn_rewrite_set_op_type (node, "Relu");
}

static void
npu_clip_to_relu (VnPassContext *ctx,
                  GHashTable    *returned,
                  VnNode        *node)
{
  double low, high;

  if (npu_get_bounds (node, &low, &high) && high > 0)
    npu_become_relu (ctx, returned, node);
}

static void
npu_clip6_to_relu (VnPassContext *ctx,
                   GHashTable    *returned,
                   VnNode        *node)
{
  double low, high;

  if (npu_get_bounds (node, &low, &high) && high == 6)
    npu_become_relu (ctx, returned, node);
}

static gboolean
npu_clip_to_relu_run (VnPassContext  *ctx,
                      GError        **error)
{
  return npu_each_node (ctx, "clip-to-relu", "Clip", npu_clip_to_relu, error);
}

static gboolean
npu_clip6_to_relu_run (VnPassContext  *ctx,
                       GError        **error)
{
  return npu_each_node (ctx, "clip6-to-relu", "Clip", npu_clip6_to_relu, error);
}

const VnPass vn_pass_clip_to_relu = {
  .id = "clip-to-relu",
  .title = N_("Replace Clip with Relu"),
  .summary = N_("Replaces Clip with minimum 0 with Relu; values above the maximum are no longer clipped."),
  .stage = VN_PASS_REQUEST,
  .alters = TRUE,
  .run = npu_clip_to_relu_run,
};

const VnPass vn_pass_clip6_to_relu = {
  .id = "clip6-to-relu",
  .title = N_("Clip from 0 to 6 to Relu"),
  .summary = N_("Replaces Clip from 0 to 6 with Relu, as before cross-layer equalization; values above 6 are no "
                "longer clipped."),
  .stage = VN_PASS_REQUEST,
  .alters = TRUE,
  .run = npu_clip6_to_relu_run,
};
