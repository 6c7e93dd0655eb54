/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One pass, run and checked: also by passes that end with another. */
#include "vn-rewrite-private.h"

#include "vn-validate.h"

/**
 * vn_pass_apply:
 *
 * As vn_pass_run(), for who knows the pass itself.
 */
gboolean
vn_pass_apply (const VnPass   *pass,
               VnPassContext  *ctx,
               GError        **error)
{
  gboolean done;

  if (g_cancellable_set_error_if_cancelled (ctx->cancellable, error))
    return FALSE;
  vn_edit_log_set_pass (ctx->log, pass->id);
  vn_model_begin_edits (ctx->model);
  done = pass->run (ctx, error);
  vn_model_end_edits (ctx->model);
  if (done &&
      vn_model_validate (ctx->model, VN_VALIDATE_STRUCTURE, NULL, error))
    return TRUE;
  g_prefix_error (error, "%s: ", pass->id);
  return FALSE;
}
