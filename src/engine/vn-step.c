/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A step of the plan: one node with its types, the values it reads and writes, and the context its operator gets. */
#include "vn-plan-private.h"

#include "vn-checked.h"
#include "vn-error.h"
#include "vn-i18n.h"

#include <stdlib.h>

static int *
ids_of (VnPlan    *plan,
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
append_captured (VnStep    *self,
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

/**
 * vn_step_new:
 * @captured: (nullable) (element-type VnValue): values that the graphs inside the node use; those that are not constant
 *   become further inputs
 *
 * Returns: (transfer full): a step for @node with all its outputs wanted and the types of its inputs as the plan
 *   knows them now
 */
VnStep *
vn_step_new (VnPlan       *plan,
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
  self->inputs = ids_of (plan, node->inputs, captured != NULL ? captured->len : 0);
  self->outputs = ids_of (plan, node->outputs, 0);
  append_captured (self, plan, captured);
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

/**
 * vn_step_new_order:
 * @like: the step it is made for
 * @op: what it does
 * @type: of both values as the graph has them
 * @from, @to: ids of the values
 *
 * Returns: (transfer full): a step of no node of its own
 */
VnStep *
vn_step_new_order (const VnStep       *like,
                   const VnOp         *op,
                   const VnTensorType *type,
                   int                 from,
                   int                 to)
{
  VnStep *self = g_new0 (VnStep, 1);

  self->node = like->node;
  self->op = op;
  self->opset = like->opset;
  self->n_inputs = self->n_own = self->n_outputs = 1;
  self->inputs = g_memdup2 (&from, sizeof from);
  self->outputs = g_memdup2 (&to, sizeof to);
  self->in_types = g_memdup2 (type, sizeof *type);
  self->out_types = g_memdup2 (type, sizeof *type);
  self->dying = g_array_new (FALSE, FALSE, sizeof (guint));
  self->is_order = TRUE;
  return self;
}

void
vn_step_free (VnStep *self)
{
  vn_op_release (self->op, self->prepared);
  g_array_unref (self->dying);
  g_clear_pointer (&self->bodies, g_ptr_array_unref);
  g_free (self->factors);
  g_free (self->line);
  g_free (self->inputs);
  g_free (self->outputs);
  g_free (self->in_types);
  g_free (self->out_types);
  g_free (self);
}

/* Everything of the context but tensors, scratch and threads. */
void
vn_step_init_context (const VnStep *self,
                      VnOpContext  *ctx)
{
  *ctx = (VnOpContext) {
    .op = self->op,
    .node = self->node,
    .opset = self->opset,
    .n_inputs = self->n_own,
    .n_outputs = self->n_outputs,
    .in_types = self->in_types,
    .out_types = self->out_types,
    .scratch_bytes = self->scratch_bytes,
    .activation = self->activation,
    .factors = self->factors,
    .shifts = self->shifts,
    .line = self->line,
    .prepared = self->prepared,
    .n_threads = 1,
  };
}

void
vn_step_prefix_error (const VnStep  *self,
                      GError       **error)
{
  g_autofree char *label = vn_node_dup_label (self->node);

  g_prefix_error (error, _("Node “%s” (%s): "), label, self->node->op_type);
}

/**
 * vn_step_check_dtype:
 * @dtype: element type of input 0
 *
 * Returns: %FALSE with VN_ERROR_UNSUPPORTED if the operator has no kernel for it
 */
gboolean
vn_step_check_dtype (const VnStep  *self,
                     VnDType        dtype,
                     GError       **error)
{
  if (vn_op_takes (self->op, dtype))
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("it cannot be run on %s data"), vn_dtype_get_name (dtype));
  return FALSE;
}

/**
 * vn_engine_alloc:
 * @size: bytes, may be 0
 * @what: what it is for, in the message
 *
 * Returns: memory aligned to 64 bytes, for free(); %NULL with VN_ERROR_LIMIT if there is not enough
 */
gpointer
vn_engine_alloc (gsize        size,
                 const char  *what,
                 GError     **error)
{
  gpointer memory = NULL;

  if (!vn_checked_add (size, 63, &size) ||
      posix_memalign (&memory, 64, MAX (size & ~(gsize) 63, 64)) != 0)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_LIMIT,
                   _("Not enough memory for %s: %zu bytes are needed"), what, size);
      return NULL;
    }
  return memory;
}
