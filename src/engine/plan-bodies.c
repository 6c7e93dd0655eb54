/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The graphs in attributes of a node: each gets a plan of its own. */
#include "vn-plan-passes.h"

#include "vn-error.h"
#include "vn-i18n.h"

static void
plan_bodies_body_free (gpointer data)
{
  VnBody *self = data;

  g_clear_pointer (&self->plan, vn_plan_unref);
  g_clear_error (&self->error);
  g_free (self);
}

/* The branch that a constant condition leaves out. */
static gboolean
plan_bodies_is_never_run (VnPlan       *self,
                          const VnStep *step,
                          const VnAttr *attr)
{
  const VnTensor *flag = step->n_own > 0 && step->inputs[0] >= 0 ? self->values[step->inputs[0]].constant : NULL;

  if (!vn_node_is (step->node, "If") || flag == NULL || flag->dtype != VN_DTYPE_BOOL || flag->n_elements != 1)
    return FALSE;
  return g_str_equal (attr->name, *(const guint8 *) flag->data != 0 ? "else_branch" : "then_branch");
}

/* Shapes that cannot work are no fault while nobody runs them: exporters leave both ways of a case distinction in. */
static gboolean
plan_body (VnPlan          *self,
           VnStep          *step,
           const VnAttr    *attr,
           GPtrArray       *captured,
           VnPlanInnerFunc  plan_inner,
           GError         **error)
{
  VnBody *body = g_new0 (VnBody, 1);

  g_ptr_array_add (step->bodies, body);
  body->graph = attr->graph;
  if (plan_bodies_is_never_run (self, step, attr))
    return TRUE;
  body->plan = plan_inner (self, attr->graph, captured, &body->error);
  if (body->plan != NULL)
    return TRUE;
  g_prefix_error (&body->error, _("in its graph “%s”: "), attr->name);
  if (g_error_matches (body->error, VN_ERROR, VN_ERROR_SHAPE))
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&body->error));
  return FALSE;
}

/**
 * vn_plan_bodies:
 * @captured: (nullable) (element-type VnValue): what the graphs in the step's node use from outside
 * @plan_inner: plans one of them
 *
 * Plans the graphs of a node that has some.
 */
gboolean
vn_plan_bodies (VnPlan           *self,
                VnStep           *step,
                GPtrArray        *captured,
                VnPlanInnerFunc   plan_inner,
                GError          **error)
{
  g_return_val_if_fail (self != NULL && step != NULL, FALSE);

  if (captured == NULL)
    return TRUE;
  step->bodies = g_ptr_array_new_with_free_func (plan_bodies_body_free);
  for (guint i = 0; i < step->node->attrs->len; i++)
    {
      const VnAttr *attr = g_ptr_array_index (step->node->attrs, i);

      if (attr->graph != NULL && !plan_body (self, step, attr, captured, plan_inner, error))
        return FALSE;
    }
  return TRUE;
}

VnBody *
vn_step_find_body (const VnStep  *self,
                   const VnGraph *graph)
{
  for (guint i = 0; self->bodies != NULL && i < self->bodies->len; i++)
    {
      VnBody *body = g_ptr_array_index (self->bodies, i);

      if (body->graph == graph)
        return body;
    }
  return NULL;
}

/**
 * vn_step_body_type:
 * @step: a #VnStep
 *
 * Returns: what is known of output @i of a graph of the step, for #VnOpBodies
 */
VnTensorType
vn_step_body_type (gpointer        step,
                   const VnGraph  *graph,
                   guint           i)
{
  const VnBody *body = vn_step_find_body (step, graph);
  const VnValue *value = g_ptr_array_index (graph->outputs, i);
  VnTensorType declared = vn_type_get_declared (&value->type), type;

  declared.shape = VN_SHAPE_UNKNOWN;
  if (body == NULL || body->plan == NULL)
    return declared;
  type = body->plan->values[vn_plan_find (body->plan, value)].type;
  return type.dtype != VN_DTYPE_UNDEFINED ? type : declared;
}
