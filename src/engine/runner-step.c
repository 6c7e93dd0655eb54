/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One step of a run: with everything planned, or with shapes that are only known now. */
#include "vn-runner-private.h"

#include "vn-error.h"
#include "vn-i18n.h"

static gboolean
runner_step_reshape_input (VnRunner       *self,
                           const VnStep   *step,
                           const VnShape  *shape,
                           GError        **error)
{
  self->tensors[step->outputs[0]] = vn_tensor_new_reshaped (self->in[0], shape, error);
  return self->tensors[step->outputs[0]] != NULL;
}

/* The result lies where the input does, unless the input was given and lies somewhere else. */
static gboolean
runner_step_view_input (VnRunner       *self,
                        const VnStep   *step,
                        GError        **error)
{
  guint id = (guint) step->outputs[0];
  VnTensor *view;

  if (self->tensors[id]->data == self->in[0]->data)
    return TRUE;
  view = vn_tensor_new_reshaped (self->in[0], &step->out_types[0].shape, error);
  if (view != NULL)
    vn_runner_displace (self, id, view);
  return view != NULL;
}

/* Values of @self whose sizes show only now: @n_bytes of @id come to them. */
static gboolean
runner_step_grow (VnRunner           *self,
                  const VnOpContext  *ctx,
                  guint               id,
                  gsize               n_bytes,
                  GError            **error)
{
  if (!vn_op_may_grow (ctx, self->n_grown + MIN (n_bytes, G_MAXSIZE - self->n_grown), error))
    return FALSE;
  self->n_grown += n_bytes;
  self->grown[id] += n_bytes;
  return TRUE;
}

static gboolean
runner_step_grow_outputs (VnRunner           *self,
                          const VnStep       *step,
                          const VnOpContext  *ctx,
                          GError            **error)
{
  for (guint i = 0; i < step->n_outputs; i++)
    {
      gsize n_elements, n_bytes;
      int id = step->outputs[i];

      if (id >= 0 && self->tensors[id] == NULL && vn_shape_is_static (&self->out_types[i].shape) &&
          vn_tensor_size_in_bytes (self->out_types[i].dtype, &self->out_types[i].shape, &n_elements, &n_bytes) &&
          !runner_step_grow (self, ctx, (guint) id, n_bytes, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
runner_step_allocate_outputs (VnRunner            *self,
                              const VnStep        *step,
                              const VnTensorType  *types,
                              GError             **error)
{
  for (guint i = 0; i < step->n_outputs; i++)
    {
      int id = step->outputs[i];

      if (id >= 0 && types[i].kind != VN_KIND_TENSOR)
        {
          g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("it cannot pass on sequences and optionals here"));
          return FALSE;
        }
      if (id >= 0 && self->tensors[id] == NULL)
        self->tensors[id] = vn_tensor_new (types[i].dtype, &types[i].shape, error);
      if (id >= 0 && self->tensors[id] == NULL)
        return FALSE;
      self->out[i] = id >= 0 ? self->tensors[id] : NULL;
    }
  return TRUE;
}

static gboolean
runner_step_run_static (VnRunner      *self,
                        const VnStep  *step,
                        VnOpContext   *ctx,
                        GError       **error)
{
  if (step->alias && self->plan->values[step->outputs[0]].store == VN_STORE_ARENA)
    return runner_step_view_input (self, step, error);
  if (step->alias)
    return runner_step_reshape_input (self, step, &step->out_types[0].shape, error);
  if (!runner_step_allocate_outputs (self, step, step->out_types, error))
    return FALSE;
  ctx->scratch = self->scratch;
  return vn_op_run (ctx, error);
}

/* ---- shapes known only now ---- */

static void
runner_step_set_types (VnRunner      *self,
                       const VnStep  *step)
{
  for (guint i = 0; i < step->n_inputs; i++)
    {
      const VnTensor *tensor = self->in[i];

      self->in_types[i] = tensor != NULL ? vn_tensor_get_type (tensor)
                                         : (VnTensorType) { VN_DTYPE_UNDEFINED, VN_SHAPE_UNKNOWN };
    }
  for (guint i = 0; i < step->n_outputs; i++)
    {
      self->out_types[i] = (VnTensorType) { VN_DTYPE_UNDEFINED, VN_SHAPE_UNKNOWN };
      self->out[i] = NULL;
    }
}

/* What the plan promised to later steps must hold. */
static gboolean
runner_step_check_promise (const VnPlanValue   *value,
                           const VnTensorType  *found,
                           GError             **error)
{
  g_autofree char *planned = NULL;
  g_autofree char *now = NULL;

  if (found->kind == VN_KIND_SEQUENCE || found->kind == VN_KIND_OPTIONAL)
    return TRUE;   /* nobody plans with more than that */
  if (found->dtype == VN_DTYPE_UNDEFINED || !vn_shape_is_static (&found->shape))
    {
      g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED,
                   _("the shape of its output “%s” cannot be inferred"), value->value->name);
      return FALSE;
    }
  if (value->type.dtype == VN_DTYPE_UNDEFINED || !vn_shape_is_static (&value->type.shape) ||
      (value->type.dtype == found->dtype && vn_shape_equal (&value->type.shape, &found->shape)))
    return TRUE;
  planned = vn_shape_to_string (&value->type.shape, ",");
  now = vn_shape_to_string (&found->shape, ",");
  g_set_error (error, VN_ERROR, VN_ERROR_SHAPE, _("its output “%s” was planned as %s[%s] but is %s[%s]"),
               value->value->name, vn_dtype_get_name (value->type.dtype), planned,
               vn_dtype_get_name (found->dtype), now);
  return FALSE;
}

/* Takes over tensors that `infer` made; FALSE only on error. @open: is there something left to compute? */
static gboolean
runner_step_take_inferred (VnRunner      *self,
                           const VnStep  *step,
                           gboolean      *open,
                           GError       **error)
{
  *open = FALSE;
  for (guint i = 0; i < step->n_outputs; i++)
    {
      int id = step->outputs[i];

      if (self->out[i] != NULL)
        self->out_types[i] = vn_tensor_get_type (self->out[i]);
      if (id < 0)
        {
          g_clear_pointer (&self->out[i], vn_tensor_unref);
          continue;
        }
      self->tensors[id] = self->out[i];
      *open |= self->out[i] == NULL;
    }
  for (guint i = 0; i < step->n_outputs; i++)
    if (step->outputs[i] >= 0 &&
        !runner_step_check_promise (&self->plan->values[step->outputs[i]], &self->out_types[i], error))
      return FALSE;
  return TRUE;
}

static void
runner_step_drop_inferred (VnRunner      *self,
                           const VnStep  *step)
{
  for (guint i = 0; i < step->n_outputs; i++)
    g_clear_pointer (&self->out[i], vn_tensor_unref);
}

/* ---- operators that make their outputs ---- */

/* Takes over what the operator made: everything that is wanted must be there. */
static gboolean
runner_step_take_made (VnRunner           *self,
                       const VnStep       *step,
                       const VnOpContext  *ctx,
                       GError            **error)
{
  for (guint i = 0; i < step->n_outputs; i++)
    {
      int id = step->outputs[i];
      VnTensorType type;

      if (id < 0)
        continue;
      if (self->out[i] == NULL)
        {
          g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("it did not compute its output %u"), i);
          return FALSE;
        }
      type = vn_tensor_get_type (self->out[i]);
      self->tensors[id] = g_steal_pointer (&self->out[i]);
      if (!runner_step_grow (self, ctx, (guint) id, self->tensors[id]->n_bytes, error))
        return FALSE;
      if (!runner_step_check_promise (&self->plan->values[id], &type, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
runner_step_run_maker (VnRunner      *self,
                       const VnStep  *step,
                       VnOpContext   *ctx,
                       GError       **error)
{
  gboolean ok = vn_step_check_dtype (step, step->n_own > 0 ? self->in_types[0].dtype : VN_DTYPE_UNDEFINED, error) &&
                vn_runner_reserve_scratch (self, ctx->scratch_bytes, error);

  ctx->scratch = self->scratch;
  ok = ok && vn_op_run (ctx, error) && runner_step_take_made (self, step, ctx, error);
  runner_step_drop_inferred (self, step);
  return ok;
}

static gboolean
runner_step_run_dynamic (VnRunner      *self,
                         const VnStep  *step,
                         VnOpContext   *ctx,
                         GError       **error)
{
  gboolean open;

  runner_step_set_types (self, step);
  ctx->in_types = self->in_types;
  ctx->out_types = self->out_types;
  ctx->scratch_bytes = 0;
  if (!vn_op_check_call (ctx, error) || !vn_op_infer (ctx, error))
    {
      runner_step_drop_inferred (self, step);
      return FALSE;
    }
  if (step->op->makes_outputs)
    return runner_step_run_maker (self, step, ctx, error);
  if (!runner_step_take_inferred (self, step, &open, error))
    return FALSE;
  if (!open)
    return TRUE;
  if (!vn_step_check_dtype (step, step->n_own > 0 ? self->in_types[0].dtype : VN_DTYPE_UNDEFINED, error))
    return FALSE;
  if (step->op->containers && step->alias && vn_tensor_is_container (self->in[0]))
    {
      self->tensors[step->outputs[0]] = vn_tensor_ref (self->in[0]);
      return TRUE;
    }
  if (step->alias && self->out_types[0].dtype == self->in_types[0].dtype)
    return runner_step_reshape_input (self, step, &self->out_types[0].shape, error);
  if (!runner_step_grow_outputs (self, step, ctx, error) ||
      !runner_step_allocate_outputs (self, step, self->out_types, error) ||
      !vn_runner_reserve_scratch (self, ctx->scratch_bytes, error))
    return FALSE;
  ctx->scratch = self->scratch;
  return vn_op_run (ctx, error);
}

/* ---- constants that are not kept ---- */

static gboolean
runner_step_make_constants (VnRunner      *self,
                            const VnStep  *step,
                            VnTensor     **made,
                            GError       **error)
{
  for (guint i = 0; i < step->n_inputs; i++)
    {
      if (step->inputs[i] < 0 || self->plan->values[step->inputs[i]].constant == NULL)
        continue;
      made[i] = self->in[i] = vn_plan_make_constant (self->plan, (guint) step->inputs[i], error);
      if (made[i] == NULL)
        return FALSE;
    }
  return TRUE;
}

/* The weight is then there for its shape. */
static void
runner_step_drop_packed (VnRunner      *self,
                         const VnStep  *step,
                         VnTensor     **made)
{
  const VnTensor *original = vn_value_get_constant (self->plan->values[step->inputs[1]].value);

  self->in[1] = self->tensors[step->inputs[1]];
  g_clear_pointer (&made[1], vn_tensor_unref);
  if (original != NULL)
    vn_tensor_release_pages (original);
}

static gboolean
runner_step_run_lazy (VnRunner      *self,
                      const VnStep  *step,
                      VnOpContext   *ctx,
                      GError       **error)
{
  g_autofree VnTensor **made = g_new0 (VnTensor *, step->n_inputs + 1);
  gboolean good = runner_step_make_constants (self, step, made, error) && vn_step_pack (step, made, &ctx->prepared, error);

  if (good && ctx->prepared != NULL && step->n_inputs > 1 && made[1] != NULL)
    runner_step_drop_packed (self, step, made);
  good = good && (step->dynamic ? runner_step_run_dynamic (self, step, ctx, error)
                  : runner_step_run_static (self, step, ctx, error));
  vn_op_release (step->op, ctx->prepared);
  vn_tensor_clear_all (made, step->n_inputs);
  return good;
}

/**
 * vn_runner_run_step:
 * @bodies: runs the graphs inside the step's node
 *
 * Computes the outputs of @step into the runner's tensors.
 */
gboolean
vn_runner_run_step (VnRunner          *self,
                    const VnStep      *step,
                    const VnOpBodies  *bodies,
                    GError           **error)
{
  VnOpContext ctx;

  vn_step_init_context (step, &ctx);
  ctx.bodies = bodies;
  ctx.in = self->in;
  ctx.out = self->out;
  ctx.n_threads = self->n_threads;
  ctx.growth = self->growth;
  ctx.cancellable = self->cancellable;
  ctx.ends = self->finds_ends ? &self->ends : NULL;
  if (self->finds_ends && step->clamp != NULL)
    ctx.activation = step->clamp_range;
  for (guint i = 0; i < step->n_inputs; i++)
    self->in[i] = step->inputs[i] >= 0 ? self->tensors[step->inputs[i]] : NULL;
  ctx.sum = step->has_sum ? self->in[step->n_inputs - 1] : NULL;
  if (step->lazy)
    return runner_step_run_lazy (self, step, &ctx, error);
  return step->dynamic ? runner_step_run_dynamic (self, step, &ctx, error) : runner_step_run_static (self, step, &ctx, error);
}
