/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Types that were inferred become part of the file, for tools that look there instead of finding them. */
#include "vn-rewrite-private.h"

extern const VnPass vn_pass_declare;

static void
declare_drop_names (VnType *type)
{
  for (int i = 0; i < type->shape.rank; i++)
    g_clear_pointer (&type->symbols[i], g_free);
}

static gboolean
declare_graph (VnPassContext  *ctx,
               VnGraph        *graph,
               GError        **error)
{
  gboolean unnamed = ctx->options != NULL && ctx->options->unnamed_sizes;
  guint n = 0;

  for (guint i = 0; i < graph->values->len; i++)
    {
      VnValue *value = g_ptr_array_index (graph->values, i);

      if (value->producer == NULL || value->has_info || value->type.kind != VN_TYPE_TENSOR ||
          value->type.dtype == VN_DTYPE_UNDEFINED || value->type.shape.rank < 0)
        continue;
      if (unnamed)
        declare_drop_names (&value->type);
      value->has_info = TRUE;
      n++;
    }
  if (n > 0)
    vn_edit_log_add (ctx->log, "set", *graph->name != '\0' ? graph->name : "graph", NULL,
                     g_dngettext (GETTEXT_PACKAGE, "%u type added to the file", "%u types added to the file", n), n);
  return TRUE;
}

static gboolean
declare_run (VnPassContext  *ctx,
             GError        **error)
{
  return vn_rewrite_infer (ctx, vn_pass_declare.id, error) &&
         vn_rewrite_each_graph (ctx, declare_graph, error);
}

const VnPass vn_pass_declare = {
  .id = "declare",
  .title = N_("Add types"),
  .summary = N_("Stores the types and shapes of all tensors in the model."),
  .stage = VN_PASS_REQUEST,
  .exact = TRUE,
  .run = declare_run,
};
