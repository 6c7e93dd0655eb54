/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which values are kept in blocks of channels (vn-blocked.h). Convolutions take data in either form and make blocks;
 * what follows works on blocks as long as nobody needs the value as the graph has it: an operator without such a form,
 * an output, a tap that minds the order. Where both are needed, steps that change the order are put between. */
#include "vn-plan-passes.h"

#include "vn-blocked.h"

/**
 * Layout:
 * @uses, @ops, @scratch: by step: what it becomes
 * @wanted: by step: whether it does
 * @producers: by value id: 1 + the step whose output 0 it is; 0: none
 * @n_blocked, @n_plain: by value id: how many inputs of steps it is in each form
 * @blocked: by value id: 1 + the id of the value in blocks; 0: none
 */
typedef struct
{
  VnPlan        *plan;
  VnBlockedUse  *uses;
  const VnOp   **ops;
  gsize         *scratch;
  gboolean      *wanted;
  guint         *producers, *n_blocked, *n_plain, *blocked;
} Layout;

static VnStep *
plan_layout_get_step (const Layout *self,
                      guint         k)
{
  return g_ptr_array_index (self->plan->steps, k);
}

/* The mask of a Dropout that nobody reads does not count. */
static gboolean
plan_layout_has_one_output (const VnStep *step)
{
  for (guint i = 0; i < step->n_outputs; i++)
    if ((step->outputs[i] < 0) != (i > 0))
      return FALSE;
  return step->n_outputs > 0;
}

static void
plan_layout_look_at_step (Layout *self,
                          guint   k)
{
  const VnStep *step = plan_layout_get_step (self, k);
  g_autofree VnTensor **in = g_new0 (VnTensor *, step->n_inputs + 1);
  VnOpContext ctx;

  if (step->n_outputs > 0 && step->outputs[0] >= 0)
    self->producers[step->outputs[0]] = k + 1;
  if (step->dynamic || step->line != NULL || step->n_inputs == 0 || !plan_layout_has_one_output (step))
    return;
  for (guint i = 0; i < step->n_inputs; i++)
    in[i] = step->inputs[i] >= 0 ? self->plan->values[step->inputs[i]].constant : NULL;
  vn_step_init_context (step, &ctx);
  ctx.in = in;
  if (in[0] != NULL)
    return;
  self->uses[k] = vn_blocked_find (&ctx, &self->ops[k]);
  self->scratch[k] = ctx.scratch_bytes;
  if (self->uses[k] == VN_BLOCKED_SAME && (step->has_sum || step->factors != NULL))
    self->uses[k] = VN_BLOCKED_NEVER;
  self->wanted[k] = self->uses[k] != VN_BLOCKED_NEVER;
}

/* Inputs that can be blocked; the others are constant, or read as the graph has them. */
static gboolean
plan_layout_is_data (const Layout *self,
                     guint         k,
                     guint         i)
{
  const VnStep *step = plan_layout_get_step (self, k);

  if (step->inputs[i] < 0 || self->plan->values[step->inputs[i]].constant != NULL)
    return FALSE;
  return i == 0 || (step->has_sum && i == step->n_inputs - 1) || self->uses[k] == VN_BLOCKED_SAME;
}

/* A run may start from it: what follows reads it as the graph has it. */
static gboolean
plan_layout_is_start (const Layout *self,
                      int           id)
{
  return self->plan->can_restart && self->plan->values[id].tap >= 0;
}

static gboolean
plan_layout_comes_in_blocks (const Layout *self,
                             int           id)
{
  guint producer = self->producers[id];

  return producer > 0 && self->wanted[producer - 1] && self->uses[producer - 1] != VN_BLOCKED_OUT &&
         !plan_layout_is_start (self, id);
}

static gboolean
plan_layout_all_come_in_blocks (const Layout *self,
                                guint         k)
{
  const VnStep *step = plan_layout_get_step (self, k);

  for (guint i = 0; i < step->n_inputs; i++)
    if (plan_layout_is_data (self, k, i) && !plan_layout_comes_in_blocks (self, step->inputs[i]))
      return FALSE;
  return TRUE;
}

/* Counts or discounts what the inputs of a step are wanted as. */
static void
plan_layout_count_uses (Layout *self,
                        guint   k,
                        guint   by)
{
  const VnStep *step = plan_layout_get_step (self, k);

  for (guint i = 0; i < step->n_inputs; i++)
    if (step->inputs[i] >= 0)
      (self->wanted[k] && plan_layout_is_data (self, k, i) ? self->n_blocked : self->n_plain)[step->inputs[i]] += by;
}

/* Blocks that are filled at least by half. */
static gboolean
plan_layout_fills_blocks (const VnStep *step)
{
  return step->out_types[0].shape.dims[1] >= (vn_blocked_get_lanes () + 1) / 2;
}

/* Blocks must come from somewhere or go somewhere, unless so much is computed with them that it pays: changing the order alone
 * gains nothing. */
static gboolean
plan_layout_is_worth_it (const Layout *self,
                         guint         k)
{
  const VnStep *step = plan_layout_get_step (self, k);

  switch (self->uses[k])
    {
    case VN_BLOCKED_ALONE:
      return TRUE;
    case VN_BLOCKED_ANY:
      return plan_layout_comes_in_blocks (self, step->inputs[0]) ||
             (self->n_blocked[step->outputs[0]] > 0 && plan_layout_fills_blocks (step));
    case VN_BLOCKED_ALL:
    case VN_BLOCKED_OUT:
      return plan_layout_comes_in_blocks (self, step->inputs[0]);
    case VN_BLOCKED_SAME:
      return plan_layout_all_come_in_blocks (self, k) && self->n_blocked[step->outputs[0]] > 0;
    default:
      return FALSE;
    }
}

/* Each step that drops out may make others drop out, before and behind it. A network that needs more rounds stays as it
 * is. */
#define MAX_ROUNDS 16

static void
plan_layout_choose (Layout *self)
{
  guint n = self->plan->steps->len;
  gboolean changed = TRUE;

  for (guint k = 0; k < n; k++)
    plan_layout_count_uses (self, k, 1);
  for (guint round = 0; round < MAX_ROUNDS && changed; round++)
    {
      changed = FALSE;
      for (guint i = 0; i < n; i++)
        {
          guint k = round % 2 == 0 ? i : n - 1 - i;

          if (!self->wanted[k] || plan_layout_is_worth_it (self, k))
            continue;
          plan_layout_count_uses (self, k, -1u);
          self->wanted[k] = FALSE;
          plan_layout_count_uses (self, k, 1);
          changed = TRUE;
        }
    }
  for (guint k = 0; k < n && changed; k++)
    self->wanted[k] = FALSE;
}

/* ---- changing the plan ---- */

/* A further value: @id in blocks. */
static guint
plan_layout_add_value (Layout *self,
                       guint   id)
{
  VnPlan *plan = self->plan;
  VnPlanValue *value;

  plan->values = g_renew (VnPlanValue, plan->values, plan->n_values + 1);
  value = &plan->values[plan->n_values];
  *value = (VnPlanValue) { .value = plan->values[id].value, .type = plan->values[id].type, .root = plan->n_values,
                           .n_uses = 1, .tap = -1, .output = -1, .needed = TRUE };
  vn_blocked_get_shape (&plan->values[id].type.shape, &value->type.shape);
  self->blocked[id] = plan->n_values + 1;
  return plan->n_values++;
}

static gboolean
plan_layout_takes_planes (const Layout *self,
                          guint         k)
{
  return self->uses[k] == VN_BLOCKED_ANY || self->uses[k] == VN_BLOCKED_ALONE;
}

static void
plan_layout_take_inputs (Layout    *self,
                         guint      k,
                         GPtrArray *steps)
{
  VnStep *step = plan_layout_get_step (self, k);

  for (guint i = 0; i < step->n_inputs; i++)
    {
      int id = step->inputs[i];

      if (!plan_layout_is_data (self, k, i) || (plan_layout_takes_planes (self, k) && i == 0 && self->blocked[id] == 0))
        continue;
      if (self->blocked[id] == 0)
        {
          int blocked = (int) plan_layout_add_value (self, (guint) id);

          g_ptr_array_add (steps, vn_step_new_order (step, &vn_op_blocked_make, &self->plan->values[id].type, id,
                                                     blocked));
        }
      step->inputs[i] = (int) self->blocked[id] - 1;
      if (self->uses[k] == VN_BLOCKED_SAME)
        step->in_types[i] = self->plan->values[step->inputs[i]].type;
    }
}

static void
plan_layout_give_output (Layout    *self,
                         guint      k,
                         GPtrArray *steps)
{
  VnStep *step = plan_layout_get_step (self, k);
  int id = step->outputs[0];
  VnPlanValue *value = &self->plan->values[id];

  if (self->uses[k] == VN_BLOCKED_OUT)
    return;
  if (self->uses[k] == VN_BLOCKED_SAME)
    vn_blocked_get_shape (&value->type.shape, &step->out_types[0].shape);
  if ((value->tap < 0 || (self->plan->taps_in_blocks && value->type.dtype == VN_DTYPE_F32)) && value->output < 0 &&
      self->n_plain[id] == 0)
    {
      VnShape plain = value->type.shape;

      value->n_channels = (gsize) plain.dims[1];
      vn_blocked_get_shape (&plain, &value->type.shape);
      self->blocked[id] = (guint) id + 1;
      return;
    }
  step->outputs[0] = (int) plan_layout_add_value (self, (guint) id);
  if (plan_layout_is_start (self, id))
    self->blocked[id] = 0;
  g_ptr_array_add (steps, vn_step_new_order (step, &vn_op_blocked_undo, &self->plan->values[id].type,
                                             step->outputs[0], id));
}

static void
plan_layout_change_steps (Layout *self)
{
  GPtrArray *steps = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_step_free);

  for (guint k = 0; k < self->plan->steps->len; k++)
    {
      VnStep *step = plan_layout_get_step (self, k);

      if (self->wanted[k])
        {
          plan_layout_take_inputs (self, k, steps);
          step->op = self->ops[k];
          step->scratch_bytes = self->scratch[k];
        }
      g_ptr_array_add (steps, step);
      if (self->wanted[k])
        plan_layout_give_output (self, k, steps);
    }
  g_ptr_array_set_free_func (self->plan->steps, NULL);
  g_ptr_array_unref (self->plan->steps);
  self->plan->steps = steps;
}

/**
 * vn_plan_lay_out:
 *
 * Keeps values between convolutions in blocks of channels. The results are the same bits.
 */
void
vn_plan_lay_out (VnPlan *self)
{
  guint n;
  g_autofree VnBlockedUse *uses = NULL;
  g_autofree const VnOp **ops = NULL;
  g_autofree gsize *scratch = NULL;
  g_autofree gboolean *wanted = NULL;
  g_autofree guint *producers = NULL;
  guint v;
  Layout layout;

  g_return_if_fail (self != NULL);

  n = MAX (self->steps->len, 1);
  uses = g_new0 (VnBlockedUse, n);
  ops = g_new0 (const VnOp *, n);
  scratch = g_new0 (gsize, n);
  wanted = g_new0 (gboolean, n);
  producers = g_new0 (guint, 4 * MAX (self->n_values, 1));
  v = MAX (self->n_values, 1);
  layout = (Layout) { self, uses, ops, scratch, wanted, producers, producers + v, producers + 2 * v, producers + 3 * v };
  if (vn_blocked_get_lanes () == 0)
    return;
  for (guint k = 0; k < self->steps->len; k++)
    plan_layout_look_at_step (&layout, k);
  plan_layout_choose (&layout);
  plan_layout_change_steps (&layout);
}
