/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Weights that several nodes share: a copy for each, so that each can have a scale of its own; or one for each axis of
 * channels. */
#include "vn-rewrite-private.h"

#include "vn-kernel-form.h"

typedef gboolean (*UseFunc) (const VnUse *use);

static gboolean
copies_any_use (const VnUse *use)
{
  return TRUE;
}

static gboolean
copies_is_bias (const VnUse *use)
{
  return use->index == 2 && (vn_node_is (use->node, "Conv") || vn_node_is (use->node, "ConvTranspose") ||
                             vn_node_is (use->node, "Gemm"));
}

static gboolean
copies_is_shared (const VnValue *value,
                  UseFunc        wanted)
{
  const VnNode *first = value->uses->len > 0 ? g_array_index (value->uses, VnUse, 0).node : NULL;
  gboolean found = FALSE, shared = FALSE;

  for (guint i = 0; i < value->uses->len; i++)
    {
      const VnUse *use = &g_array_index (value->uses, VnUse, i);

      found = found || wanted (use);
      shared = shared || use->node != first;
    }
  return found && shared;
}

/* The first node keeps the weights. */
static void
copies_copy_for_users (VnPassContext *ctx,
                       VnValue       *value,
                       UseFunc        wanted)
{
  const VnNode *first = g_array_index (value->uses, VnUse, 0).node;
  g_autoptr(GArray) uses = vn_uses_copy (value->uses);

  for (guint i = 0; i < uses->len; i++)
    {
      const VnUse *use = &g_array_index (uses, VnUse, i);
      VnValue *copy;

      if (use->node == first || use->node->graph != value->graph || !wanted (use))
        continue;
      copy = vn_graph_add_initializer (value->graph, value->name, value->initializer);
      vn_node_set_input (use->node, use->index, copy);
      vn_edit_log_add (ctx->log, "add", copy->name, value->name, _("a copy of %s"), value->name);
      vn_edit_log_note_same (ctx->log, value->name, copy->name);
    }
}

static gboolean
copies_copy_run (VnPassContext *ctx,
                 UseFunc        wanted)
{
  const VnGraph *graph = ctx->model->graph;
  guint n = graph->initializers->len;

  for (guint i = 0; i < n; i++)
    {
      VnValue *value = g_ptr_array_index (graph->initializers, i);

      if (value->initializer != NULL && value->initializer->dtype == VN_DTYPE_F32 && !value->is_input &&
          !value->is_output && copies_is_shared (value, wanted))
        copies_copy_for_users (ctx, value, wanted);
    }
  return TRUE;
}

static gboolean
copies_copy_shared_run (VnPassContext  *ctx,
                        GError        **error)
{
  return copies_copy_run (ctx, copies_any_use);
}

static gboolean
copies_copy_bias_run (VnPassContext  *ctx,
                      GError        **error)
{
  return copies_copy_run (ctx, copies_is_bias);
}

/* ---- channels along several axes ---- */

/* A use whose scales of channels lie along another axis than those of the first use that has channels: @axis, -1 before. */
static gboolean
copies_turns_channels (const VnUse *use,
                       int         *axis)
{
  int own;

  if (!vn_kernel_get_channel_axis (use->node, use->index, &own))
    return FALSE;
  if (*axis < 0)
    *axis = own;
  return own != *axis;
}

/* One copy for all that read a weight along an axis. */
static void
copies_copy_for_axes (VnPassContext *ctx,
                      VnValue       *value)
{
  g_autoptr(GArray) uses = vn_uses_copy (value->uses);
  VnValue *copy = NULL;
  int axis = -1;

  for (guint i = 0; i < uses->len; i++)
    {
      const VnUse *use = &g_array_index (uses, VnUse, i);

      if (use->node->graph != value->graph || !copies_turns_channels (use, &axis))
        continue;
      if (copy == NULL)
        {
          copy = vn_graph_add_initializer (value->graph, value->name, value->initializer);
          vn_edit_log_add (ctx->log, "add", copy->name, value->name, _("a copy of %s"), value->name);
          vn_edit_log_note_same (ctx->log, value->name, copy->name);
        }
      vn_node_set_input (use->node, use->index, copy);
    }
}

static gboolean
copies_copy_axes_run (VnPassContext  *ctx,
                      GError        **error)
{
  const VnGraph *graph = ctx->model->graph;
  guint n = graph->initializers->len;

  for (guint i = 0; i < n; i++)
    {
      VnValue *value = g_ptr_array_index (graph->initializers, i);

      if (value->initializer != NULL && value->initializer->dtype == VN_DTYPE_F32 && !value->is_input && !value->is_output &&
          value->uses->len > 1)
        copies_copy_for_axes (ctx, value);
    }
  return TRUE;
}

const VnPass vn_pass_copy_axes = {
  .id = "copy-axes",
  .title = N_("Copy weights that are read along two axes"),
  .summary = N_("Gives nodes that share a weight and have their channels along different axes a weight of their own."),
  .stage = VN_PASS_REQUEST,
  .exact = TRUE,
  .run = copies_copy_axes_run,
};

const VnPass vn_pass_copy_shared_init = {
  .id = "copy-shared-init",
  .title = N_("Copy shared weights"),
  .summary = N_("Gives each node float weights of its own."),
  .stage = VN_PASS_REQUEST,
  .exact = TRUE,
  .run = copies_copy_shared_run,
};

const VnPass vn_pass_copy_bias_init = {
  .id = "copy-bias-init",
  .title = N_("Copy shared biases"),
  .summary = N_("Gives each Conv, ConvTranspose and Gemm a bias of its own."),
  .stage = VN_PASS_REQUEST,
  .exact = TRUE,
  .run = copies_copy_bias_run,
};
