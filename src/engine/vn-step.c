/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A step of the plan: one node with its types, the values it reads and writes, and the context its operator gets. */
#include "vn-plan-private.h"

#include "vn-checked.h"
#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-memory.h"

#include <stdlib.h>

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

/* It has neither inputs nor outputs, and is in no graph. */
static void
step_free_node (VnNode *node)
{
  g_ptr_array_unref (node->inputs);
  g_ptr_array_unref (node->outputs);
  g_ptr_array_unref (node->attrs);
  g_free (node->name);
  g_free (node->op_type);
  g_free (node->domain);
  g_free (node);
}

/**
 * vn_step_new_backend:
 * @op: that of a backend
 * @first: the first of the nodes that it stands for
 * @n_inputs: of @inputs
 *
 * Returns: (transfer full): a step of @n_nodes nodes, whose own types are still to be set
 */
VnStep *
vn_step_new_backend (const VnOp   *op,
                     const VnNode *first,
                     guint         n_nodes,
                     guint         n_inputs,
                     guint         n_outputs)
{
  VnStep *self = g_new0 (VnStep, 1);
  VnNode *node = g_new0 (VnNode, 1);

  node->graph = first->graph;
  node->index = first->index;
  node->name = vn_node_dup_label (first);
  node->op_type = g_strdup (first->op_type);
  node->domain = g_strdup ("io.github.vernier");   /* no operator that passes know by its name */
  node->inputs = g_ptr_array_new ();
  node->outputs = g_ptr_array_new ();
  node->attrs = g_ptr_array_new ();
  self->node = self->own_node = node;
  self->op = op;
  self->n_nodes = n_nodes;
  self->n_inputs = self->n_own = n_inputs;
  self->n_outputs = n_outputs;
  self->inputs = g_new (int, MAX (n_inputs, 1));
  self->outputs = g_new (int, MAX (n_outputs, 1));
  self->in_types = g_new0 (VnTensorType, MAX (n_inputs, 1));
  self->out_types = g_new0 (VnTensorType, MAX (n_outputs, 1));
  self->dying = g_array_new (FALSE, FALSE, sizeof (guint));
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
  g_free (self->pads);
  g_free (self->inputs);
  g_free (self->outputs);
  g_free (self->in_types);
  g_free (self->out_types);
  if (self->own_node != NULL)
    step_free_node (self->own_node);
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
    .pads = self->pads,
    .subnormals = self->subnormals,
    .prepared = self->prepared,
    .n_threads = 1,
  };
}

void
vn_step_prefix_error (const VnStep  *self,
                      GError       **error)
{
  g_autofree char *label = vn_node_dup_label (self->node);

  if (self->n_nodes > 1)
    {
      g_prefix_error (error, ngettext ("%u node starting at “%s” (%s): ", "%u nodes starting at “%s” (%s): ", self->n_nodes),
                      self->n_nodes, label, self->node->op_type);
      return;
    }
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
  g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("it does not support %s data"), vn_dtype_get_name (dtype));
  return FALSE;
}

/**
 * vn_engine_alloc:
 * @size: bytes, may be 0
 * @what: what it is for, in the message
 *
 * Returns: memory aligned to 64 bytes, for free(); %NULL with %VN_ERROR_MEMORY if there is not enough
 */
gpointer
vn_engine_alloc (gsize        size,
                 const char  *what,
                 GError     **error)
{
  gpointer memory = NULL;

  if (!vn_checked_add (size, 63, &size) ||
      (memory = vn_memory_try_aligned (MAX (size & ~(gsize) 63, 64), 64)) == NULL)
    {
      vn_memory_set_error (size, error);
      g_prefix_error (error, "%s: ", what);
      return NULL;
    }
  return memory;
}
