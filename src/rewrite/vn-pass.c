/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "vn-rewrite-private.h"

#include "vn-validate.h"

#define VN_PASS(name) extern const VnPass name;
#include "vn-passes.def"
#undef VN_PASS

static const VnPass * const passes[] = {
#define VN_PASS(name) &name,
#include "vn-passes.def"
#undef VN_PASS
};

/**
 * vn_pass_list:
 * @n: (out): how many
 *
 * Returns: (transfer none): all passes, in the order vn_prepare_model() runs them
 */
const VnPass * const *
vn_pass_list (guint *n)
{
  *n = G_N_ELEMENTS (passes);
  return passes;
}

/**
 * vn_pass_find:
 *
 * Returns: (transfer none) (nullable): the pass of that id
 */
const VnPass *
vn_pass_find (const char *id)
{
  for (guint i = 0; i < G_N_ELEMENTS (passes); i++)
    if (g_str_equal (passes[i]->id, id))
      return passes[i];
  return NULL;
}

/**
 * vn_pass_run:
 * @id: one of vn_pass_list()
 *
 * Runs one pass on ctx->model and checks that the result is sound. On failure the model may be half changed and must
 * be thrown away.
 *
 * Returns: %FALSE with an error whose message begins with the pass
 */
gboolean
vn_pass_run (const char     *id,
             VnPassContext  *ctx,
             GError        **error)
{
  const VnPass *pass = vn_pass_find (id);

  if (pass == NULL)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("There is no pass “%s”"), id);
      return FALSE;
    }
  if (g_cancellable_set_error_if_cancelled (ctx->cancellable, error))
    return FALSE;
  vn_edit_log_set_pass (ctx->log, pass->id);
  if (pass->run (ctx, error) &&
      vn_model_validate (ctx->model, VN_VALIDATE_STRUCTURE, NULL, error))
    return TRUE;
  g_prefix_error (error, "%s: ", pass->id);
  return FALSE;
}

/* Documented in the header. Types are inferred before the other passes as well: some conversions depend on ranks. */
VnModel *
vn_prepare_model (const VnModel  *model,
                  gint64          target_opset,
                  GHashTable     *input_shapes,
                  VnEditLog      *log,
                  VnNotes        *notes,
                  GCancellable   *cancellable,
                  GError        **error)
{
  g_autoptr(VnModel) copy = vn_model_copy (model);
  VnPassContext ctx = { copy, log, notes, cancellable, target_opset, input_shapes };

  for (guint i = 0; i < G_N_ELEMENTS (passes); i++)
    if (!vn_pass_run (passes[i]->id, &ctx, error))
      return NULL;
  return g_steal_pointer (&copy);
}
