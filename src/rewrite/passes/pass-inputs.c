/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Up to IR version 3 every initializer had to be listed as an input too. Since 4 that means a default the caller may
 * replace, which keeps runtimes from folding it and callers from knowing what to feed. */
#include "vn-rewrite-private.h"

static gboolean
inputs_run (VnPassContext  *ctx,
            GError        **error)
{
  VnGraph *graph = ctx->model->graph;

  for (guint i = graph->inputs->len; i-- > 0;)
    {
      VnValue *value = g_ptr_array_index (graph->inputs, i);

      if (value->initializer == NULL)
        continue;
      vn_rewrite_need_ir (ctx, 4);
      value->is_input = FALSE;
      value->has_info = value->is_output;
      g_ptr_array_remove_index (graph->inputs, i);
      vn_edit_log_add (ctx->log, "set", value->name, NULL, _("weights are not model inputs"));
    }
  return TRUE;
}

const VnPass vn_pass_inputs = {
  .id = "inputs",
  .title = N_("Remove weights from inputs"),
  .summary = N_("Removes initializers from the list of model inputs."),
  .exact = TRUE,
  .run = inputs_run,
};
