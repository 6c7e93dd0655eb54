/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Types and shapes after a change of the network, and the line that the log of changes has for them. */
#include "vn-rewrite-private.h"

static void
infer_describe_graph (const VnGraph *graph,
                      GPtrArray     *types)
{
  vn_graph_settle (graph);
  for (guint i = 0; i < graph->values->len; i++)
    g_ptr_array_add (types, vn_type_to_string (&((const VnValue *) g_ptr_array_index (graph->values, i))->type));
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (graph->nodes, i);

      for (guint a = 0; a < node->attrs->len; a++)
        {
          VnAttr *attr = g_ptr_array_index (node->attrs, a);

          if (attr->graph != NULL)
            infer_describe_graph (attr->graph, types);
          for (guint g = 0; attr->graphs != NULL && g < attr->graphs->len; g++)
            infer_describe_graph (g_ptr_array_index (attr->graphs, g), types);
        }
    }
}

/**
 * vn_rewrite_infer:
 * @pass: id of the pass that asks; the line it writes is that of "infer" all the same
 *
 * Infers types and writes one line if any was found or changed. Passes that depend on ranks call it first.
 */
gboolean
vn_rewrite_infer (VnPassContext  *ctx,
                  const char     *pass,
                  GError        **error)
{
  const char *name = ctx->model->graph->name;
  g_autoptr(GPtrArray) before = g_ptr_array_new_with_free_func (g_free);
  g_autoptr(GPtrArray) after = g_ptr_array_new_with_free_func (g_free);
  const VnPrepareOptions *asked = ctx->options;
  VnInferOptions options = { .input_shapes = ctx->input_shapes };
  guint n = 0;

  if (asked != NULL)
    {
      options.auto_merge = asked->auto_merge;
      options.guess_rank = asked->guess_rank;
      options.int_max = asked->int_max;
    }
  infer_describe_graph (ctx->model->graph, before);
  if (!vn_model_infer_types_with (ctx->model, &options, ctx->notes, error))
    return FALSE;
  infer_describe_graph (ctx->model->graph, after);
  for (guint i = 0; i < before->len && i < after->len; i++)
    n += !g_str_equal (g_ptr_array_index (before, i), g_ptr_array_index (after, i));
  if (n == 0)
    return TRUE;
  vn_edit_log_set_pass (ctx->log, "infer");
  vn_edit_log_add (ctx->log, "set", *name != '\0' ? name : "graph", NULL,
                   g_dngettext (GETTEXT_PACKAGE, "%u type inferred", "%u types inferred", n), n);
  vn_edit_log_set_pass (ctx->log, pass);
  return TRUE;
}
