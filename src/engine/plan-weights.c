/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Constants that are computed from others, and what operators pack of constants. Of a plan that may keep only so many bytes of
 * both, large constants beyond are hollow: tensors without data, which are made when a step needs them and go when it has run. */
#include "vn-plan-private.h"

#include "vn-file.h"
#include "vn-i18n.h"
#include "vn-memory.h"

#include <stdlib.h>

/* What is smaller counts for nothing; what is smaller than this stays beside what was packed of it. */
#define LARGE ((gsize) 1 << 20)
#define SMALL ((gsize) 1 << 16)

/* Memory is given back to the system when so much of it was freed. */
#define GIVE_BACK ((gsize) 48 << 20)

static gboolean
plan_weights_run_alone (const VnStep  *step,
                        VnOpContext   *ctx,
                        GError       **error)
{
  gpointer scratch = NULL;
  gboolean ok;

  if (ctx->scratch_bytes > 0)
    {
      scratch = vn_engine_alloc (ctx->scratch_bytes, _("the workspace"), error);
      if (scratch == NULL)
        return FALSE;
    }
  ctx->scratch = scratch;
  ok = vn_op_run (ctx, error);
  free (scratch);
  return ok;
}

/**
 * vn_step_fold:
 * @ctx: of @self, with all inputs and their types
 *
 * Runs a step whose inputs are all constant; outputs that infer has made already stay.
 */
gboolean
vn_step_fold (const VnStep  *self,
              VnOpContext   *ctx,
              GError       **error)
{
  if (!vn_step_check_dtype (self, self->n_own > 0 ? self->in_types[0].dtype : VN_DTYPE_UNDEFINED, error))
    return FALSE;
  if (vn_op_is_alias (self->op, self->node) && ctx->in[0] != NULL && self->n_outputs == 1 &&
      ctx->in[0]->dtype == self->out_types[0].dtype)
    {
      ctx->out[0] = vn_tensor_new_reshaped (ctx->in[0], &self->out_types[0].shape, error);
      return ctx->out[0] != NULL;
    }
  for (guint i = 0; i < self->n_outputs; i++)
    {
      if (self->outputs[i] < 0 || ctx->out[i] != NULL)
        continue;
      ctx->out[i] = vn_tensor_new (self->out_types[i].dtype, &self->out_types[i].shape, error);
      if (ctx->out[i] == NULL)
        return FALSE;
    }
  return plan_weights_run_alone (self, ctx, error);
}

/* ---- constants without data ---- */

gboolean
vn_plan_is_hollow (const VnPlan *self,
                   int           id)
{
  const VnTensor *constant = id >= 0 ? self->values[id].constant : NULL;

  return constant != NULL && constant->data == NULL && constant->n_bytes > 0;
}

static gboolean
plan_weights_set_hollow (VnPlanValue    *value,
                         VnDType         dtype,
                         const VnShape  *shape,
                         GError        **error)
{
  g_clear_pointer (&value->constant, vn_tensor_unref);
  value->constant = vn_tensor_new_wrap (dtype, shape, NULL, NULL, NULL, error);
  value->store = VN_STORE_CONSTANT;
  if (value->constant == NULL)
    return FALSE;
  value->type = vn_tensor_get_type (value->constant);
  return TRUE;
}

/* Counts @n_bytes among what the plan keeps, if there is room for them. */
static gboolean
plan_weights_keep (VnPlan *self,
                   gsize   n_bytes)
{
  if (self->most_weights == 0 || n_bytes < LARGE)
    return TRUE;
  if (n_bytes > self->most_weights - MIN (self->most_weights, self->kept_weights))
    return FALSE;
  self->kept_weights += n_bytes;
  return TRUE;
}

/**
 * vn_plan_load_weight:
 * @id: a value that is constant in the model
 *
 * Takes the constant from the model. Kernels need it aligned: a copy of it is made if there is room, or when it is needed.
 */
gboolean
vn_plan_load_weight (VnPlan  *self,
                     guint    id,
                     GError **error)
{
  VnPlanValue *value = &self->values[id];
  VnTensor *tensor = vn_value_get_constant (value->value);

  if (!vn_tensor_is_aligned (tensor) && value->tap < 0 && value->output < 0 && !plan_weights_keep (self, tensor->n_bytes))
    return plan_weights_set_hollow (value, tensor->dtype, &tensor->shape, error);
  value->constant = vn_tensor_get_aligned (tensor, error);
  if (value->constant == NULL)
    return FALSE;
  value->store = VN_STORE_CONSTANT;
  value->type = vn_tensor_get_type (value->constant);
  return TRUE;
}

/**
 * vn_plan_defer:
 * @step: all its inputs are constant
 * @n_bytes: of its results
 *
 * Decides whether the result is kept. If not, it becomes hollow, and whoever needs it calls vn_plan_make_constant().
 *
 * Returns: whether the plan has taken @step: it is not to be run now
 */
gboolean
vn_plan_defer (VnPlan *self,
               VnStep *step,
               gsize   n_bytes)
{
  VnPlanValue *value = step->n_outputs == 1 && step->outputs[0] >= 0 ? &self->values[step->outputs[0]] : NULL;

  if (value == NULL || step->bodies != NULL || value->tap >= 0 || value->output >= 0 || plan_weights_keep (self, n_bytes) ||
      !plan_weights_set_hollow (value, step->out_types[0].dtype, &step->out_types[0].shape, NULL))
    return FALSE;
  value->maker = step;
  for (guint i = 0; i < step->n_inputs; i++)
    if (step->inputs[i] >= 0)
      self->values[step->inputs[i]].makes = TRUE;
  g_ptr_array_add (self->makers, step);
  return TRUE;
}

static VnTensor *
plan_weights_run_maker (const VnPlan  *self,
                        const VnStep  *maker,
                        GError       **error)
{
  g_autofree VnTensor **in = g_new0 (VnTensor *, maker->n_inputs + 1);
  VnTensor *out[1] = { NULL };
  VnOpContext ctx;
  gboolean good = TRUE;

  for (guint i = 0; i < maker->n_inputs && good; i++)
    good = maker->inputs[i] < 0 || (in[i] = vn_plan_make_constant (self, (guint) maker->inputs[i], error)) != NULL;
  vn_step_init_context (maker, &ctx);
  ctx.in = in;
  ctx.out = out;
  if (good && !vn_step_fold (maker, &ctx, error))
    {
      vn_step_prefix_error (maker, error);
      g_clear_pointer (&out[0], vn_tensor_unref);
    }
  vn_tensor_clear_all (in, maker->n_inputs);
  return out[0];
}

/**
 * vn_plan_make_constant:
 * @id: a constant
 *
 * Returns: (transfer full) (nullable): it with its data; %NULL if there is no memory for them
 */
VnTensor *
vn_plan_make_constant (const VnPlan  *self,
                       guint          id,
                       GError       **error)
{
  const VnPlanValue *value = &self->values[id];

  if (!vn_plan_is_hollow (self, (int) id))
    return vn_tensor_ref (value->constant);
  if (value->maker != NULL)
    return plan_weights_run_maker (self, value->maker, error);
  return vn_tensor_get_aligned (vn_value_get_constant (value->value), error);
}

/**
 * vn_plan_fill:
 *
 * Gives a hollow constant its data for good.
 */
gboolean
vn_plan_fill (VnPlan  *self,
              guint    id,
              GError **error)
{
  VnTensor *made = vn_plan_make_constant (self, id, error);

  if (made == NULL)
    return FALSE;
  vn_tensor_unref (self->values[id].constant);
  self->values[id].constant = made;
  return TRUE;
}

/* ---- what operators pack ---- */

/**
 * vn_step_pack:
 * @in: (array): the constant inputs; %NULL for all others
 * @prepared: (out): what the operator packs of them
 */
gboolean
vn_step_pack (const VnStep  *self,
              VnTensor     **in,
              gpointer      *prepared,
              GError       **error)
{
  g_autofree VnTensor **out = g_new0 (VnTensor *, self->n_outputs + 1);
  VnOpContext ctx;

  vn_step_init_context (self, &ctx);
  ctx.in = in;
  ctx.out = out;
  if (vn_op_prepare (&ctx, prepared, error))
    return TRUE;
  vn_step_prefix_error (self, error);
  return FALSE;
}

/* Input 1 is the weight that operators pack; it is then there for its shape. */
static VnPlanValue *
plan_weights_get_packed (const VnPlan *self,
                         const VnStep *step)
{
  VnPlanValue *weight = step->n_inputs > 1 && step->inputs[1] >= 0 ? &self->values[step->inputs[1]] : NULL;

  return weight != NULL && weight->constant != NULL && weight->n_uses == 1 && weight->tap < 0 && weight->output < 0 &&
         !weight->makes
         ? weight : NULL;
}

/* Whether the plan holds the data of a constant, and not the file of the model. */
static gboolean
plan_weights_is_own (const VnPlanValue *value)
{
  return value->constant->data != NULL && value->constant != vn_value_get_constant (value->value);
}

/* What was freed may lie between what was packed, too small for more of it. */
static void
plan_weights_give_back (VnPlan *self,
                        gsize   n_bytes)
{
  if (self->most_weights == 0)
    return;
  self->freed_bytes += n_bytes;
  if (self->freed_bytes < GIVE_BACK)
    return;
  self->freed_bytes = 0;
  vn_memory_give_back ();
}

/* What was packed gives way: to the view into the file, whose pages are released, or to a tensor without data. */
static gboolean
plan_weights_drop_packed (VnPlan        *self,
                          const VnStep  *step,
                          GError       **error)
{
  VnPlanValue *weight = step->prepared != NULL ? plan_weights_get_packed (self, step) : NULL;
  VnTensor *original = weight != NULL ? vn_value_get_constant (weight->value) : NULL;
  gsize n_bytes;

  if (original != NULL)
    vn_file_release_pages (original->data, original->n_bytes);
  if (weight == NULL || original == weight->constant || weight->constant->n_bytes < SMALL)
    return TRUE;
  n_bytes = weight->constant->n_bytes;
  if (original != NULL)
    {
      vn_tensor_unref (weight->constant);
      weight->constant = vn_tensor_ref (original);
    }
  else
    {
      VnTensorType type = vn_tensor_get_type (weight->constant);

      if (!plan_weights_set_hollow (weight, type.dtype, &type.shape, error))
        return FALSE;
    }
  plan_weights_give_back (self, n_bytes);
  return TRUE;
}

/* Bytes that the plan would hold for @step beside those that it holds: made once, and as long as the step runs. */
static gsize
plan_weights_count (const VnPlan *self,
                    const VnStep *step,
                    gsize        *passing)
{
  const VnPlanValue *packed = step->op->prepare != NULL ? plan_weights_get_packed (self, step) : NULL;
  gsize kept = 0;

  *passing = 0;
  for (guint i = 0; i < step->n_inputs; i++)
    {
      const VnPlanValue *value = step->inputs[i] >= 0 ? &self->values[step->inputs[i]] : NULL;

      if (value == NULL || value->constant == NULL || value->constant->n_bytes < LARGE)
        continue;
      if (i == 1 && step->op->prepare != NULL)
        kept += packed != NULL && plan_weights_is_own (packed) ? 0 : value->constant->n_bytes;
      else if (vn_plan_is_hollow (self, step->inputs[i]))
        kept += value->constant->n_bytes;
      *passing += value->constant->n_bytes * (i == 1 && step->op->prepare != NULL ? 2 : 1);
    }
  return kept;
}

/* What is hollow and not packed is needed in each run. */
static gboolean
plan_weights_fill_step (VnPlan        *self,
                        const VnStep  *step,
                        GError       **error)
{
  for (guint i = 0; i < step->n_inputs; i++)
    if (vn_plan_is_hollow (self, step->inputs[i]) && !(i == 1 && step->prepared != NULL) &&
        !vn_plan_fill (self, (guint) step->inputs[i], error))
      return FALSE;
  return TRUE;
}

/**
 * vn_plan_pack_step:
 *
 * Lets the operator of @step pack constants, unless the plan may not keep so much: then it is done whenever the step runs.
 */
gboolean
vn_plan_pack_step (VnPlan  *self,
                   VnStep  *step,
                   GError **error)
{
  g_autofree VnTensor **in = g_new0 (VnTensor *, step->n_inputs + 1);
  gboolean good = TRUE;
  gsize passing;

  if (step->n_nodes > 0)
    return TRUE;   /* the backend has its constants */
  if (!plan_weights_keep (self, plan_weights_count (self, step, &passing)))
    {
      step->lazy = TRUE;
      self->passing_bytes = MAX (self->passing_bytes, passing);
      return TRUE;
    }
  for (guint i = 0; i < step->n_inputs && good; i++)
    if (step->inputs[i] >= 0 && self->values[step->inputs[i]].constant != NULL)
      good = (in[i] = vn_plan_make_constant (self, (guint) step->inputs[i], error)) != NULL;
  good = good && vn_step_pack (step, in, &step->prepared, error);
  vn_tensor_clear_all (in, step->n_inputs);
  return good && plan_weights_fill_step (self, step, error) && plan_weights_drop_packed (self, step, error);
}
