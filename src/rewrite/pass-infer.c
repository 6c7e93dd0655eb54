/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Types and shapes of all values, as far as they follow from the inputs. */
#include "vn-rewrite-private.h"

static void
describe_types (const VnGraph *graph,
                GPtrArray     *types)
{
  for (guint i = 0; i < graph->values->len; i++)
    g_ptr_array_add (types, vn_type_to_string (&((const VnValue *) g_ptr_array_index (graph->values, i))->type));
}

static gboolean
describe_graph (VnPassContext  *ctx,
                VnGraph        *graph,
                GPtrArray      *types)
{
  describe_types (graph, types);
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (graph->nodes, i);

      for (guint a = 0; a < node->attrs->len; a++)
        {
          VnAttr *attr = g_ptr_array_index (node->attrs, a);

          if (attr->graph != NULL)
            describe_graph (ctx, attr->graph, types);
          for (guint g = 0; attr->graphs != NULL && g < attr->graphs->len; g++)
            describe_graph (ctx, g_ptr_array_index (attr->graphs, g), types);
        }
    }
  return TRUE;
}

/**
 * vn_rewrite_infer:
 *
 * Infers types and writes one line if any was found or changed. Passes that depend on ranks call it first.
 */
gboolean
vn_rewrite_infer (VnPassContext  *ctx,
                  GError        **error)
{
  g_autoptr(GPtrArray) before = g_ptr_array_new_with_free_func (g_free);
  g_autoptr(GPtrArray) after = g_ptr_array_new_with_free_func (g_free);
  guint n = 0;

  describe_graph (ctx, ctx->model->graph, before);
  if (!vn_model_infer_types (ctx->model, ctx->input_shapes, ctx->notes, error))
    return FALSE;
  describe_graph (ctx, ctx->model->graph, after);
  for (guint i = 0; i < before->len && i < after->len; i++)
    n += !g_str_equal (g_ptr_array_index (before, i), g_ptr_array_index (after, i));
  if (n > 0)
    vn_edit_log_add (ctx->log, "set", ctx->model->graph->name, NULL,
                     g_dngettext (GETTEXT_PACKAGE, "%u type inferred", "%u types inferred", n), n);
  return TRUE;
}

const VnPass vn_pass_infer = {
  .id = "infer",
  .title = N_("Infer types"),
  .summary = N_("Finds the element types and shapes of all values."),
  .exact = TRUE,
  .run = vn_rewrite_infer,
};
