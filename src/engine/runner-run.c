/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run: its inputs, one step after the other, what is told of them. */
#include "vn-runner-private.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-memory.h"

#include <string.h>

#define GROWTH_TIMES 64   /* of what a sample has, beyond vn_memory_get_growth() */

/* ---- inputs ---- */

/* Inputs of inner graphs may have a type that is not known, or known in part. What an optional holds does for it. */
static gboolean
runner_run_fits (const VnTensorType *type,
                 const VnTensor     *tensor)
{
  if (type->kind != VN_KIND_UNKNOWN && type->kind != VN_KIND_OPTIONAL && type->kind != tensor->kind)
    return FALSE;
  if (type->dtype != VN_DTYPE_UNDEFINED && type->dtype != tensor->dtype &&
      (tensor->kind == VN_KIND_TENSOR || tensor->dtype != VN_DTYPE_UNDEFINED))
    return FALSE;
  return !vn_shape_is_static (&type->shape) || vn_shape_equal (&tensor->shape, &type->shape);
}

/**
 * vn_runner_check_given:
 * @type: of @value, as the plan has it
 *
 * Returns: whether @tensor can be @value; %VN_ERROR_SHAPE if not
 */
gboolean
vn_runner_check_given (const VnValue       *value,
                       const VnTensorType  *type,
                       const VnTensor      *tensor,
                       GError             **error)
{
  g_autofree char *wanted = NULL;
  g_autofree char *found = NULL;

  if (runner_run_fits (type, tensor))
    return TRUE;

  wanted = vn_shape_to_string (&type->shape, ",");
  found = vn_shape_to_string (&tensor->shape, ",");
  g_set_error (error, VN_ERROR, VN_ERROR_SHAPE,
               _("“%s” is planned as %s[%s], but was passed as %s[%s]"), value->name,
               vn_dtype_get_name (type->dtype), wanted, vn_dtype_get_name (tensor->dtype), found);
  return FALSE;
}

static gboolean
runner_run_set_inputs (VnRunner           *self,
                       VnTensor * const   *inputs,
                       GError            **error)
{
  for (guint i = 0; i < self->plan->inputs->len; i++)
    {
      const VnValue *value = g_ptr_array_index (self->plan->inputs, i);
      guint id = (guint) vn_plan_find (self->plan, value);
      const VnPlanValue *planned = &self->plan->values[id];

      if (!planned->needed)
        continue;
      if (inputs[i] == NULL)
        {
          g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA, _("Input “%s” is missing"), value->name);
          return FALSE;
        }
      if (!vn_runner_check_given (value, &planned->type, inputs[i], error))
        return FALSE;
      self->tensors[id] = vn_tensor_get_aligned (inputs[i], error);
      if (self->tensors[id] == NULL)
        return FALSE;
    }
  return TRUE;
}

/* ---- outputs and taps ---- */

static VnTensor *
runner_run_copy_tensor (VnTensor  *tensor,
                        GError   **error)
{
  VnTensor *copy;

  if (tensor->dtype == VN_DTYPE_STRING || vn_tensor_is_container (tensor))
    return vn_tensor_ref (tensor);
  copy = vn_tensor_new (tensor->dtype, &tensor->shape, error);
  if (copy != NULL)
    memcpy (copy->data, tensor->data, tensor->n_bytes);
  return copy;
}

/* Tells the taps of a value that is now known, and hands it out if it is an output. */
static gboolean
runner_run_publish (VnRunner   *self,
                    guint       id,
                    VnTensor  **outputs,
                    GError    **error)
{
  const VnPlan *plan = self->plan;
  const VnPlanValue *value = &plan->values[id];
  VnTensor *tensor = self->tensors[id];
  gboolean is_own = value->root == id && (value->store == VN_STORE_HEAP || value->store == VN_STORE_CONSTANT) &&
                    self->start == NULL;   /* what is given may be borrowed */

  /* what the network holds is no news, what was folded is */
  if (self->tap != NULL && self->told != id + 1 && (value->store != VN_STORE_CONSTANT || !vn_value_is_constant (value->value)))
    for (int tap = value->tap; tap >= 0; tap = plan->next_tap[tap])
      {
        if (value->n_channels == 0)
          self->tap (value->value, (guint) tap, tensor, self->tap_data);
        else if (self->blocks_tap != NULL)
          self->blocks_tap (value->value, (guint) tap, tensor, value->n_channels, self->tap_data);
      }
  if (outputs == NULL)
    return TRUE;
  for (int k = value->output; k >= 0; k = plan->next_output[k])
    {
      if (is_own)
        outputs[k] = vn_tensor_ref (tensor);
      else
        outputs[k] = plan->depth > 0 ? vn_tensor_own (tensor, error) : runner_run_copy_tensor (tensor, error);
      if (outputs[k] == NULL)
        return FALSE;
    }
  return TRUE;
}

/* With a start only what follows from it is news. */
static gboolean
runner_run_is_news (const VnRunner *self,
                    guint           id)
{
  return self->start == NULL || self->start->changed[id];
}

/* Takes what was given for a value, if anything was. */
static gboolean
runner_run_take_given (VnRunner  *self,
                       guint      id,
                       GError   **error)
{
  VnTensor *tensor = self->start != NULL ? self->start->tensors[id] : NULL;
  VnTensor *aligned = tensor != NULL ? vn_tensor_get_aligned (tensor, error) : NULL;

  if (aligned != NULL)
    vn_runner_displace (self, id, aligned);
  return tensor == NULL || aligned != NULL;
}

/* Inputs that are tapped, and outputs that no step computes. */
static gboolean
runner_run_publish_given (VnRunner   *self,
                          VnTensor  **outputs,
                          GError    **error)
{
  for (guint id = 0; id < self->plan->n_values; id++)
    {
      const VnPlanValue *value = &self->plan->values[id];

      if (value->store == VN_STORE_INPUT && !runner_run_take_given (self, id, error))
        return FALSE;
      if ((value->store == VN_STORE_INPUT || value->store == VN_STORE_CONSTANT) && self->tensors[id] != NULL &&
          (value->tap >= 0 || value->output >= 0) && runner_run_is_news (self, id) &&
          !runner_run_publish (self, id, outputs, error))
        return FALSE;
    }
  return TRUE;
}

/* ---- graphs inside a step ---- */

typedef struct
{
  VnRunner     *runner;
  const VnStep *step;
  guint         n_runs;     /* of graphs inside it, so far */
} BodyCall;

static VnTensorType
runner_run_get_body_type (gpointer        data,
                          const VnGraph  *graph,
                          guint           i)
{
  return vn_step_body_type ((gpointer) ((BodyCall *) data)->step, graph, i);
}

static VnRunner *
runner_run_find_runner (VnRunner       *self,
                        const VnStep   *step,
                        const VnGraph  *graph,
                        GError        **error)
{
  for (guint b = 0; step->bodies != NULL && b < step->bodies->len; b++)
    {
      const VnBody *body = g_ptr_array_index (step->bodies, b);

      if (body->graph != graph)
        continue;
      if (body->plan != NULL)
        return self->bodies[step->index][b];
      if (body->error != NULL && error != NULL)
        *error = g_error_copy (body->error);
      return NULL;
    }
  return NULL;
}

/* A number for the n-th run inside a step of the run @round. */
static guint64
runner_run_get_round (guint64 round,
                      guint   n)
{
  guint64 mixed = (round ^ n) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);

  mixed = (mixed ^ mixed >> 29) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
  return mixed ^ mixed >> 32;
}

/* Runs a graph of the step on the values the operator gives and those of outer graphs. */
static gboolean
run_body (gpointer           data,
          const VnGraph     *graph,
          VnTensor * const  *inputs,
          VnTensor         **outputs,
          GError           **error)
{
  BodyCall *call = data;
  VnRunner *self = call->runner;
  VnRunner *inner = runner_run_find_runner (self, call->step, graph, error);
  guint n_captured = call->step->n_inputs - call->step->n_own, n = graph->inputs->len;
  g_autofree VnTensor **all = NULL;
  const guint64 round = *self->round;
  gboolean good;

  if (inner == NULL || g_cancellable_set_error_if_cancelled (self->cancellable, error))
    {
      if (error != NULL && *error == NULL)
        g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("its graph was not planned"));
      return FALSE;
    }
  all = g_new0 (VnTensor *, n + n_captured + 1);
  for (guint i = 0; i < n; i++)
    all[i] = inputs[i];
  for (guint i = 0; i < n_captured; i++)
    all[n + i] = self->in[call->step->n_own + i];
  inner->n_threads = self->n_threads;
  inner->growth = self->growth;
  inner->tap = self->tap;
  inner->tap_data = self->tap_data;
  inner->round = self->round;
  *self->round = runner_run_get_round (round, ++call->n_runs);
  good = vn_runner_run (inner, all, outputs, self->cancellable, error);
  *self->round = round;
  return good;
}

/* ---- the run ---- */

static gboolean
run_step (VnRunner      *self,
          const VnStep  *step,
          gint64        *usec,
          GError       **error)
{
  BodyCall call = { self, step, 0 };
  const VnOpBodies bodies = { .get_type = runner_run_get_body_type, .run = run_body, .data = &call };
  gint64 start = usec != NULL ? g_get_monotonic_time () : 0;

  self->told = 0;
  if (!(vn_runner_wants_ends (self, step) ? vn_runner_run_for_ends (self, step, &bodies, error)
        : vn_runner_run_step (self, step, &bodies, error)))
    {
      vn_step_prefix_error (step, error);
      return FALSE;
    }
  if (usec != NULL)
    *usec += g_get_monotonic_time () - start;
  return TRUE;
}

/* After a step, whether it was run or not. */
static gboolean
runner_run_finish_step (VnRunner      *self,
                        const VnStep  *step,
                        gboolean       was_run,
                        GError       **error)
{
  for (guint i = 0; i < step->n_outputs; i++)
    {
      guint id = (guint) step->outputs[i];

      if (step->outputs[i] < 0)
        continue;
      if (self->start != NULL && self->start->next && was_run && self->start->changed[id] &&
          !runner_run_publish (self, id, self->outputs, error))
        return FALSE;
      if (!runner_run_take_given (self, id, error))
        return FALSE;
      if (self->start != NULL && self->start->next)
        continue;
      if ((was_run || self->start->tensors[id] != NULL) && runner_run_is_news (self, id) &&
          !runner_run_publish (self, id, self->outputs, error))
        return FALSE;
    }
  for (guint i = 0; i < step->dying->len; i++)
    {
      guint id = g_array_index (step->dying, guint, i);

      g_clear_pointer (&self->tensors[id], vn_tensor_unref);
      if (self->plan->values[id].output >= 0)
        continue;   /* who wants it has it still */
      self->n_grown -= self->grown[id];
      self->grown[id] = 0;
    }
  return TRUE;
}

/* Larger samples make larger values of every kind. A graph inside a node may make what the whole network may. */
static void
runner_run_set_growth (VnRunner          *self,
                       VnTensor * const  *inputs)
{
  gsize growth = vn_memory_get_growth ();

  if (self->plan->depth > 0)
    return;
  for (guint i = 0; i < self->plan->inputs->len; i++)
    if (inputs[i] != NULL)
      growth += MIN ((G_MAXSIZE - growth) / GROWTH_TIMES, inputs[i]->n_bytes) * GROWTH_TIMES;
  self->growth = growth;
}

static gboolean
runner_run_begin_planned (VnRunner           *self,
                          VnTensor * const   *inputs,
                          const VnStart      *start,
                          VnTensor          **outputs,
                          GCancellable       *cancellable,
                          GError            **error)
{
  self->cancellable = cancellable;
  self->start = start;
  self->outputs = outputs;
  self->next_step = 0;
  self->told = 0;
  memset (self->skips, 0, self->plan->steps->len * sizeof *self->skips);
  runner_run_set_growth (self, inputs);
  return runner_run_set_inputs (self, inputs, error) && runner_run_publish_given (self, outputs, error);
}

static gboolean
runner_run_advance_planned (VnRunner  *self,
                            GError   **error)
{
  guint i = self->next_step++;
  const VnStep *step = g_ptr_array_index (self->plan->steps, i);
  gint64 *usec = self->step_usec != NULL ? &self->step_usec[i] : NULL;
  gboolean runs = self->start == NULL || self->start->runs[i];

  return !g_cancellable_set_error_if_cancelled (self->cancellable, error) &&
         (!runs || self->skips[i] || run_step (self, step, usec, error)) && runner_run_finish_step (self, step, runs, error);
}

static gboolean
run_all (VnRunner           *self,
         VnTensor * const   *inputs,
         const VnStart      *start,
         VnTensor          **outputs,
         GCancellable       *cancellable,
         GError            **error)
{
  if (!runner_run_begin_planned (self, inputs, start, outputs, cancellable, error))
    return FALSE;
  while (self->next_step < self->plan->steps->len)
    if (!runner_run_advance_planned (self, error))
      return FALSE;
  return TRUE;
}

/**
 * vn_runner_run_planned:
 * @start: (nullable): where to start from, for the plan of this very runner
 *
 * As vn_runner_run(), with inputs of the sizes of the plan.
 */
gboolean
vn_runner_run_planned (VnRunner           *self,
                       VnTensor * const   *inputs,
                       const VnStart      *start,
                       VnTensor          **outputs,
                       GCancellable       *cancellable,
                       GError            **error)
{
  gboolean ok;

  ok = run_all (self, inputs, start, outputs, cancellable, error);
  vn_runner_clear_run (self);
  for (guint i = 0; outputs != NULL && !ok && i < self->plan->outputs->len; i++)
    g_clear_pointer (&outputs[i], vn_tensor_unref);
  return ok;
}

/* Makes the runner for samples of other sizes one for @plan. */
static gboolean
runner_run_set_variant (VnRunner  *self,
                        VnPlan    *plan,
                        GError   **error)
{
  if (self->variant == NULL || self->variant->plan != plan)
    {
      g_clear_pointer (&self->variant, vn_runner_free);
      self->variant = vn_runner_new (plan, error);
      if (self->variant == NULL)
        return FALSE;
    }
  self->variant->n_threads = self->n_threads;
  self->variant->tap = self->tap;
  self->variant->blocks_tap = self->blocks_tap;
  self->variant->ends_tap = self->ends_tap;
  self->variant->tap_data = self->tap_data;
  self->variant->round = self->round;
  /* Steps that fold away for some sizes may be there for others. */
  self->variant->step_usec = plan->steps->len == self->plan->steps->len ? self->step_usec : NULL;
  return TRUE;
}

/**
 * vn_runner_for_inputs:
 *
 * Returns: (transfer none) (nullable): @self, or one of its own for the sizes of @inputs if they differ from those of its plan
 */
VnRunner *
vn_runner_for_inputs (VnRunner          *self,
                      VnTensor * const  *inputs,
                      GError           **error)
{
  g_autoptr(VnPlan) plan = vn_plan_for_inputs (self->plan, inputs, error);

  if (plan == NULL || (plan != self->plan && !runner_run_set_variant (self, plan, error)))
    return NULL;
  return plan != self->plan ? self->variant : self;
}

/**
 * vn_runner_run:
 * @inputs: one tensor for each vn_plan_get_input(), of its type; sizes that the model leaves open may differ from
 *   those of the plan, which is then made anew for them. %NULL is accepted where the plan does not need the input
 * @outputs: (nullable) (out caller-allocates): vn_plan_get_n_outputs() places that receive owned tensors; all %NULL
 *   after a failure
 * @cancellable: (nullable): looked at between the steps
 *
 * Runs the network once. The result is the same bit by bit whatever runner or thread count, and whatever taps but for Gelu:
 * taps keep nodes apart, and Gelu on its own rounds its polynomial otherwise than Gelu at the end of a product (5e-7 at most).
 *
 * Returns: %FALSE with the error of the node that failed, named in the message, or %G_IO_ERROR_CANCELLED
 */
gboolean
vn_runner_run (VnRunner           *self,
               VnTensor * const   *inputs,
               VnTensor          **outputs,
               GCancellable       *cancellable,
               GError            **error)
{
  VnRunner *runner;

  g_return_val_if_fail (self != NULL && (inputs != NULL || self->plan->inputs->len == 0), FALSE);

  for (guint i = 0; outputs != NULL && i < self->plan->outputs->len; i++)
    outputs[i] = NULL;
  runner = vn_runner_for_inputs (self, inputs, error);
  return runner != NULL && vn_runner_run_planned (runner, inputs, NULL, outputs, cancellable, error);
}

/**
 * vn_runner_begin:
 * @inputs: as of vn_runner_run(); must outlive the run
 *
 * Begins a run that its caller drives with vn_runner_advance() and must end with vn_runner_end(), also after a failure.
 * Taps of inputs and of folded values are told here. Two networks that are driven in step never need all values of one of
 * them at a time.
 */
gboolean
vn_runner_begin (VnRunner           *self,
                 VnTensor * const   *inputs,
                 GCancellable       *cancellable,
                 GError            **error)
{
  g_return_val_if_fail (self != NULL && self->driven == NULL, FALSE);
  g_return_val_if_fail (inputs != NULL || self->plan->inputs->len == 0, FALSE);

  self->driven = vn_runner_for_inputs (self, inputs, error);
  return self->driven != NULL && runner_run_begin_planned (self->driven, inputs, NULL, NULL, cancellable, error);
}

/**
 * vn_runner_is_done:
 *
 * Returns: whether the run that vn_runner_begin() began has come to its end
 */
gboolean
vn_runner_is_done (VnRunner *self)
{
  g_return_val_if_fail (self != NULL && self->driven != NULL, TRUE);

  return self->driven->next_step >= self->driven->plan->steps->len;
}

/**
 * vn_runner_get_next:
 *
 * Returns: (transfer none) (nullable): the node whose step comes next in the run that vn_runner_begin() began; %NULL: it has come
 *   to its end
 */
const VnNode *
vn_runner_get_next (VnRunner *self)
{
  g_return_val_if_fail (self != NULL && self->driven != NULL, NULL);

  return vn_runner_is_done (self) ? NULL : ((const VnStep *) g_ptr_array_index (self->driven->plan->steps,
                                                                                self->driven->next_step))->node;
}

/**
 * vn_runner_get_round:
 * @self: of the whole network; for taps to call
 *
 * Two networks with the same nodes that hold graphs give the same rounds the same number, whatever else they compute.
 *
 * Returns: a number for the run of the graph inside a node that the tapped value belongs to: by which iterations of which nodes
 *   around it; 0: of the main graph
 */
guint64
vn_runner_get_round (VnRunner *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return *self->round;
}

/**
 * vn_runner_advance:
 *
 * Computes the next step of the run that vn_runner_begin() began, unless it has come to its end.
 */
gboolean
vn_runner_advance (VnRunner  *self,
                   GError   **error)
{
  g_return_val_if_fail (self != NULL && self->driven != NULL, FALSE);

  return vn_runner_is_done (self) || runner_run_advance_planned (self->driven, error);
}

/**
 * vn_runner_end:
 *
 * Ends what vn_runner_begin() began, wherever it is. Does nothing if no run was begun.
 */
void
vn_runner_end (VnRunner *self)
{
  g_return_if_fail (self != NULL);

  if (self->driven != NULL)
    vn_runner_clear_run (self->driven);
  self->driven = NULL;
}
