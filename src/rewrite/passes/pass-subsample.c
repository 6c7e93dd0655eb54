/* SPDX-License-Identifier: GPL-3.0-or-later */
/* 1x1 convolutions that leave pixels out, as in the first networks of the ResNet family: nobody need compute, round and convert
 * what they do not read. OpenVINO moves such strides up by itself, into the midst of a dequantization, which then is none any
 * more. */
#include "vn-rewrite-private.h"

#include <string.h>

#define N_AXES 2   /* height and width */

/* %FALSE: strides or padding are not said for two axes, or the padding by a rule. */
static gboolean
subsample_get_strides (const VnNode *conv,
                       gint64        strides[N_AXES])
{
  g_autofree char *rule = vn_node_dup_string (conv, "auto_pad", "NOTSET");
  const VnShape *weight = vn_rewrite_get_shape (vn_node_get_input (conv, 1));
  gsize n;
  const gint64 *own = vn_node_get_ints (conv, "strides", &n);

  strides[0] = strides[1] = 1;
  if (weight == NULL || weight->rank != 2 + N_AXES || !(g_str_equal (rule, "NOTSET") || g_str_equal (rule, "VALID")) ||
      (own != NULL && n != N_AXES))
    return FALSE;
  if (own != NULL)
    memcpy (strides, own, sizeof *strides * N_AXES);
  return strides[0] > 0 && strides[1] > 0 && strides[0] < G_MAXINT32 && strides[1] < G_MAXINT32;
}

/* A Conv that reads single pixels and leaves some out. */
static gboolean
subsample_is_reader (const VnUse *use,
                     gint64       strides[N_AXES])
{
  const VnNode *node = use->node;
  const VnShape *weight = vn_node_is (node, "Conv") && use->index == 0
                          ? vn_rewrite_get_shape (vn_node_get_input (node, 1)) : NULL;
  gsize n;
  const gint64 *pads = vn_node_get_ints (node, "pads", &n);

  if (weight == NULL || weight->rank != 2 + N_AXES || weight->dims[2] != 1 || weight->dims[3] != 1)
    return FALSE;
  for (gsize i = 0; pads != NULL && i < n; i++)
    if (pads[i] != 0)
      return FALSE;
  return subsample_get_strides (node, strides) && (strides[0] > 1 || strides[1] > 1);
}

/* What all readers of @value leave out alike. */
static gboolean
subsample_find (GHashTable    *returned,
                const VnValue *value,
                gint64         strides[N_AXES])
{
  gint64 others[N_AXES];

  if (value->uses->len == 0 || vn_rewrite_is_kept (returned, value) || vn_rewrite_get_dtype (value) != VN_DTYPE_F32 ||
      !subsample_is_reader (&g_array_index (value->uses, VnUse, 0), strides))
    return FALSE;
  for (guint i = 1; i < value->uses->len; i++)
    if (!subsample_is_reader (&g_array_index (value->uses, VnUse, i), others) || others[0] != strides[0] ||
        others[1] != strides[1])
      return FALSE;
  return TRUE;
}

/* A Conv in front computes at every second pixel only: its own strides and those behind multiply. */
static gboolean
subsample_give_to_producer (VnValue      *value,
                            const gint64  strides[N_AXES])
{
  gint64 sum[N_AXES];

  if (value->producer == NULL || !vn_node_is (value->producer, "Conv") || !subsample_get_strides (value->producer, sum))
    return FALSE;
  for (guint i = 0; i < N_AXES; i++)
    if ((sum[i] *= strides[i]) > G_MAXINT32)
      return FALSE;
  vn_node_set_ints (value->producer, "strides", sum, N_AXES);
  vn_value_set_type (value, VN_DTYPE_F32, NULL);
  return TRUE;
}

/* A pool over single pixels, which integers pass through unchanged. */
static void
subsample_insert_pool (VnValue      *value,
                       VnNode       *before,
                       const gint64  strides[N_AXES])
{
  static const gint64 one[N_AXES] = { 1, 1 };
  VnValue *pixels = vn_rewrite_add_result (before, "pixels");
  VnNode *pool;

  vn_value_replace_uses (value, pixels, NULL);
  pool = vn_graph_insert_node (before->graph, before, NULL, "", "MaxPool", &value, 1, &pixels, 1);
  vn_node_set_ints (pool, "kernel_shape", one, N_AXES);
  vn_node_set_ints (pool, "strides", strides, N_AXES);
}

static void
subsample_move (VnPassContext *ctx,
                VnValue       *value,
                const gint64   strides[N_AXES])
{
  static const gint64 one[N_AXES] = { 1, 1 };
  g_autoptr(GPtrArray) readers = g_ptr_array_new ();
  g_autofree char *label = NULL;

  for (guint i = 0; i < value->uses->len; i++)
    g_ptr_array_add (readers, g_array_index (value->uses, VnUse, i).node);
  label = vn_node_dup_label (g_ptr_array_index (readers, 0));
  for (guint i = 0; i < readers->len; i++)
    vn_node_set_ints (g_ptr_array_index (readers, i), "strides", one, N_AXES);
  if (!subsample_give_to_producer (value, strides))
    subsample_insert_pool (value, g_ptr_array_index (readers, 0), strides);
  vn_edit_log_add (ctx->log, "replace", label, value->name, _("the stride moves before “%s”"), value->name);
}

static gboolean
subsample_node (VnPassContext  *ctx,
                GHashTable     *returned,
                VnNode         *node,
                GError        **error)
{
  VnValue *value = vn_node_is (node, "Conv") ? vn_node_get_input (node, 0) : NULL;
  gint64 strides[N_AXES];

  if (value != NULL && value->graph == node->graph && value->initializer == NULL && value->producer != NULL &&
      subsample_find (returned, value, strides))
    subsample_move (ctx, value, strides);
  return TRUE;
}

static gboolean
subsample_graph (VnPassContext  *ctx,
                 VnGraph        *graph,
                 GError        **error)
{
  return vn_rewrite_each_sorted (ctx, graph, FALSE, subsample_node, error);
}

static gboolean
subsample_run (VnPassContext  *ctx,
               GError        **error)
{
  return vn_rewrite_infer (ctx, "subsample-first", error) && vn_rewrite_each_graph (ctx, subsample_graph, error);
}

const VnPass vn_pass_subsample_first = {
  .id = "subsample-first",
  .title = N_("Strides before 1x1 convolutions"),
  .summary = N_("Moves strides of 1x1 convolutions before the tensor that only they read, into a convolution there or a MaxPool "
                "over single pixels."),
  .stage = VN_PASS_REQUEST,
  .exact = TRUE,
  .run = subsample_run,
};
