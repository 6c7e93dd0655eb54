/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shapes of all values, and constant folding: what depends on constants only is computed here, once. */
#include "vn-plan-passes.h"

#include "vn-checked.h"
#include "vn-error.h"
#include "vn-i18n.h"

/* A folded result may be this large without further question; above it, only if it is not much larger than what it
 * was made from (weights dequantized from 4 or 8 bits), so that Expand or ConstantOfShape cannot blow up the plan. */
#define FOLD_FREE_BYTES ((gsize) 16 << 20)
#define FOLD_GROWTH 8
#define MOST_FOLDED ((gsize) 256 << 20)   /* in all, beyond so many times the model: in steps, a little becomes any amount */

static gboolean
plan_infer_is_random (const VnNode *node)
{
  static const char * const types[] = { "RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike",
                                        "Multinomial", "Bernoulli", NULL };

  return g_strv_contains (types, node->op_type);
}

static void
plan_infer_set_constant (VnPlan   *self,
                         guint     id,
                         VnTensor *tensor)
{
  VnPlanValue *value = &self->values[id];

  value->constant = tensor;
  value->store = VN_STORE_CONSTANT;
  value->type = vn_tensor_get_type (tensor);
}

/* Constants are taken from the model when first used. */
static gboolean
plan_infer_load_constant (VnPlan   *self,
                          guint     id,
                          GError  **error)
{
  VnPlanValue *value = &self->values[id];

  if (value->constant != NULL || value->store != VN_STORE_NONE)
    return TRUE;
  if (vn_value_get_constant (value->value) == NULL)
    {
      if (value->value->producer != NULL)
        return TRUE;
      g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("Nothing produces “%s”"), value->value->name);
      return FALSE;
    }
  if (vn_plan_load_weight (self, id, error))
    return TRUE;
  g_prefix_error (error, _("Weight “%s”: "), value->value->name);
  return FALSE;
}

/* ---- folding ---- */

static gboolean
plan_infer_inputs_are_constant (VnPlan       *self,
                                const VnStep *step,
                                gsize        *n_bytes)
{
  *n_bytes = 0;
  for (guint i = 0; i < step->n_inputs; i++)
    {
      if (step->inputs[i] < 0)
        continue;
      if (self->values[step->inputs[i]].constant == NULL)
        return FALSE;
      *n_bytes += self->values[step->inputs[i]].constant->n_bytes;
    }
  return TRUE;
}

/* @out_bytes: (out): of the results */
static gboolean
plan_infer_is_foldable (VnPlan       *self,
                        const VnStep *step,
                        gsize        *out_bytes)
{
  gsize in_bytes, total = 0;

  *out_bytes = 0;
  if (plan_infer_is_random (step->node) || step->op->makes_outputs || !plan_infer_inputs_are_constant (self, step, &in_bytes))
    return FALSE;
  for (guint i = 0; i < step->n_outputs; i++)
    {
      gsize n_elements, n_bytes;

      if (step->outputs[i] < 0)
        continue;
      if (step->out_types[i].dtype == VN_DTYPE_UNDEFINED ||
          !vn_shape_is_static (&step->out_types[i].shape) ||
          !vn_tensor_size_in_bytes (step->out_types[i].dtype, &step->out_types[i].shape, &n_elements, &n_bytes) ||
          !vn_checked_add (total, n_bytes, &total))
        return FALSE;
    }
  *out_bytes = total;
  return (total <= FOLD_FREE_BYTES || total / FOLD_GROWTH <= in_bytes) && vn_checked_add (self->n_folded, total, &total) &&
         (total <= MOST_FOLDED || (total - MOST_FOLDED) / FOLD_GROWTH <= self->model->file_size);
}

/* ---- steps ---- */

static int *
plan_infer_ids_of (VnPlan    *plan,
                   GPtrArray *values,
                   guint      n_more)
{
  int *ids = g_new (int, MAX (values->len + n_more, 1));

  for (guint i = 0; i < values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (values, i);

      ids[i] = value != NULL ? vn_plan_find (plan, value) : -1;
    }
  return ids;
}

/* Values that the graphs inside the node use are inputs of the step, too: they must live so long. */
static void
plan_infer_append_captured (VnStep    *self,
                            VnPlan    *plan,
                            GPtrArray *captured)
{
  for (guint i = 0; captured != NULL && i < captured->len; i++)
    {
      int id = vn_plan_find (plan, g_ptr_array_index (captured, i));

      if (plan->values[id].constant == NULL)
        self->inputs[self->n_inputs++] = id;
    }
}

/* A step with all its outputs wanted and the types of its inputs as the plan knows them now. What the graphs inside the
 * node capture becomes further inputs, unless it is constant. */
static VnStep *
plan_infer_step_new (VnPlan       *plan,
                     const VnNode *node,
                     const VnOp   *op,
                     GPtrArray    *captured)
{
  VnStep *self = g_new0 (VnStep, 1);

  self->node = node;
  self->op = op;
  self->opset = vn_model_get_opset (plan->model, node->domain);
  if (self->opset == 0 && *node->domain != '\0')
    self->opset = 1;   /* used but not imported: a common fault of exporters, as vn_op_lookup_node() reads it */
  self->n_inputs = self->n_own = node->inputs->len;
  self->n_outputs = node->outputs->len;
  self->inputs = plan_infer_ids_of (plan, node->inputs, captured != NULL ? captured->len : 0);
  self->outputs = plan_infer_ids_of (plan, node->outputs, 0);
  plan_infer_append_captured (self, plan, captured);
  self->in_types = g_new0 (VnTensorType, MAX (self->n_inputs, 1));
  self->out_types = g_new0 (VnTensorType, MAX (self->n_outputs, 1));
  self->dying = g_array_new (FALSE, FALSE, sizeof (guint));
  for (guint i = 0; i < self->n_inputs; i++)
    {
      if (self->inputs[i] >= 0)
        self->in_types[i] = plan->values[self->inputs[i]].type;
      else
        self->in_types[i].shape = VN_SHAPE_UNKNOWN;
    }
  for (guint i = 0; i < self->n_outputs; i++)
    self->out_types[i].shape = VN_SHAPE_UNKNOWN;
  return self;
}

/* ---- one node ---- */

#define FEW_TENSORS 12u   /* of most nodes, which need no memory of their own */

static void
plan_infer_clear_tensors (VnTensor **tensors,
                          guint      n)
{
  for (guint i = 0; i < n; i++)
    g_clear_pointer (&tensors[i], vn_tensor_unref);
}

/* Runs may be given another value for it, as for any float that is tapped, and what reads it is then computed from that: it is
 * no constant, whatever it is made of. */
static gboolean
plan_infer_may_change (const VnPlan *self,
                       int           id)
{
  return self->can_restart && self->values[id].tap >= 0 && self->values[id].type.dtype == VN_DTYPE_F32;
}

/* Does `run` still have something to do? */
static gboolean
plan_infer_take_outputs (VnPlan    *self,
                         VnStep    *step,
                         VnTensor **out)
{
  gboolean open = FALSE;

  for (guint i = 0; i < step->n_outputs; i++)
    {
      if (step->outputs[i] < 0)
        continue;
      self->values[step->outputs[i]].type = out[i] != NULL ? vn_tensor_get_type (out[i]) : step->out_types[i];
      if (out[i] != NULL && !plan_infer_may_change (self, step->outputs[i]))
        {
          plan_infer_set_constant (self, (guint) step->outputs[i], g_steal_pointer (&out[i]));
          step->outputs[i] = -1;
          continue;
        }
      open = TRUE;
    }
  return open;
}

static gboolean
plan_infer_is_static (const VnStep *step)
{
  if (step->op->makes_outputs)
    return FALSE;
  for (guint i = 0; i < step->n_inputs; i++)
    if (step->inputs[i] >= 0 && !vn_shape_is_static (&step->in_types[i].shape))
      return FALSE;
  for (guint i = 0; i < step->n_outputs; i++)
    if (step->outputs[i] >= 0 &&
        (step->out_types[i].dtype == VN_DTYPE_UNDEFINED || !vn_shape_is_static (&step->out_types[i].shape)))
      return FALSE;
  return TRUE;
}

static gboolean
plan_infer_has_all (VnTensor     **out,
                    const VnStep  *step)
{
  for (guint i = 0; i < step->n_outputs; i++)
    if (step->outputs[i] >= 0 && out[i] == NULL)
      return FALSE;
  return TRUE;
}

/* Gives hollow constants their data; @made: (out): how many had none. */
static gboolean
plan_infer_make_hollow (VnPlan        *self,
                        const VnStep  *step,
                        VnTensor     **in,
                        VnTensor     **made,
                        guint         *n_made,
                        GError       **error)
{
  for (guint i = 0; i < step->n_own; i++)
    if (vn_plan_is_hollow (self, step->inputs[i]))
      {
        in[i] = made[*n_made] = vn_plan_make_constant (self, (guint) step->inputs[i], error);
        if (in[i] == NULL)
          return FALSE;
        ++*n_made;
      }
  return TRUE;
}

/* Folds what can be, unless the plan takes the step over, to do so later. */
static gboolean
plan_infer_try_fold (VnPlan       *self,
                     VnStep       *step,
                     VnOpContext  *ctx,
                     VnTensor    **in,
                     gboolean     *deferred,
                     GError      **error)
{
  g_autofree VnTensor **made = g_new0 (VnTensor *, step->n_own + 1);
  guint n_made = 0;
  gsize n_bytes;
  gboolean good;

  if (plan_infer_has_all (ctx->out, step) || !plan_infer_is_foldable (self, step, &n_bytes))
    return TRUE;
  *deferred = vn_plan_defer (self, step, n_bytes);
  if (*deferred)
    return TRUE;
  self->n_folded += n_bytes;
  good = plan_infer_make_hollow (self, step, in, made, &n_made, error) && (n_made == 0 || vn_op_infer (ctx, error)) &&
         (plan_infer_has_all (ctx->out, step) || vn_step_fold (step, ctx, error));
  vn_tensor_clear_all (made, n_made);
  return good;
}

static gboolean
infer_and_fold (VnPlan       *self,
                VnStep       *step,
                VnTensor    **in,
                VnTensor    **out,
                gboolean     *deferred,
                GError      **error)
{
  const VnOpBodies bodies = { .get_type = vn_step_body_type, .data = step };
  VnOpContext ctx;

  vn_step_init_context (step, &ctx);
  ctx.in = in;
  ctx.out = out;
  ctx.bodies = &bodies;
  if (!vn_op_check_call (&ctx, error) || !vn_op_infer (&ctx, error))
    return FALSE;
  step->scratch_bytes = ctx.scratch_bytes;
  if (!plan_infer_try_fold (self, step, &ctx, in, deferred, error))
    return FALSE;
  step->dynamic = !plan_infer_is_static (step);
  return TRUE;
}

/* A value that a node uses: a constant is taken from the model now. @tensor: (out) (nullable): %NULL: for graphs inside the node,
 * which need its data. */
static gboolean
plan_infer_load_input (VnPlan         *self,
                       const VnValue  *value,
                       VnTensor      **tensor,
                       GError        **error)
{
  int id = vn_plan_find (self, value);

  if (id < 0)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("“%s” belongs to a graph that does not enclose this one"), value->name);
      return FALSE;
    }
  if (!plan_infer_load_constant (self, (guint) id, error))
    return FALSE;
  if (tensor != NULL)
    *tensor = vn_plan_is_hollow (self, id) ? NULL : self->values[id].constant;
  else if (vn_plan_is_hollow (self, id))
    return vn_plan_fill (self, (guint) id, error);
  return TRUE;
}

static gboolean
infer_node (VnPlan           *self,
            const VnNode     *node,
            const VnOp       *op,
            VnPlanInnerFunc   plan_inner,
            GError          **error)
{
  g_autoptr(VnStep) step = NULL;
  const guint n_tensors = node->inputs->len + 1 + node->outputs->len + 1;
  g_autofree VnTensor **many = n_tensors > FEW_TENSORS ? g_new0 (VnTensor *, n_tensors) : NULL;
  VnTensor *few[FEW_TENSORS] = { NULL };
  VnTensor **in = many != NULL ? many : few, **out = in + node->inputs->len + 1;
  g_autoptr(GPtrArray) captured = vn_node_has_graphs (node) ? vn_node_list_captured (node) : NULL;
  gboolean ok = TRUE, deferred = FALSE;

  for (guint i = 0; i < node->inputs->len && ok; i++)
    if (g_ptr_array_index (node->inputs, i) != NULL)
      ok = plan_infer_load_input (self, g_ptr_array_index (node->inputs, i), &in[i], error);
  for (guint i = 0; captured != NULL && i < captured->len && ok; i++)
    ok = plan_infer_load_input (self, g_ptr_array_index (captured, i), NULL, error);
  step = plan_infer_step_new (self, node, op, ok ? captured : NULL);
  ok = ok && vn_plan_bodies (self, step, captured, plan_inner, error) && infer_and_fold (self, step, in, out, &deferred, error);
  if (deferred)
    {
      step = NULL;   /* the plan has it */
      return ok;
    }
  if (ok && plan_infer_take_outputs (self, step, out))
    {
      ok = vn_step_check_dtype (step, step->n_own > 0 ? step->in_types[0].dtype : VN_DTYPE_UNDEFINED, error);
      if (ok)
        g_ptr_array_add (self->steps, g_steal_pointer (&step));
    }
  if (!ok)
    vn_step_prefix_error (step, error);
  plan_infer_clear_tensors (out, node->outputs->len);
  return ok;
}

/**
 * vn_plan_infer:
 * @nodes: sorted
 * @ops: one for each node
 * @plan_inner: plans graphs in attributes of nodes
 *
 * Infers the type of every value and makes a step of each node that does not fold into a constant.
 */
gboolean
vn_plan_infer (VnPlan              *self,
               GPtrArray           *nodes,
               const VnOp * const  *ops,
               VnPlanInnerFunc      plan_inner,
               GError             **error)
{
  g_return_val_if_fail (self != NULL && nodes != NULL, FALSE);

  for (guint i = 0; i < nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (nodes, i);

      if (!infer_node (self, node, ops[i], plan_inner, error))
        return FALSE;
    }
  for (guint i = 0; i < self->outputs->len; i++)
    {
      const VnValue *value = g_ptr_array_index (self->outputs, i);

      if (!plan_infer_load_constant (self, (guint) vn_plan_find (self, value), error))
        return FALSE;
    }
  return TRUE;
}
