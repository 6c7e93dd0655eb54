/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Types and shapes of all values, as far as they follow from the inputs. */
#include "vn-rewrite-private.h"

extern const VnPass vn_pass_infer;

static gboolean
infer_run (VnPassContext  *ctx,
           GError        **error)
{
  return vn_rewrite_infer (ctx, vn_pass_infer.id, error);
}

const VnPass vn_pass_infer = {
  .id = "infer",
  .title = N_("Infer types"),
  .summary = N_("Infers the element types and shapes of all tensors."),
  .exact = TRUE,
  .run = infer_run,
};
