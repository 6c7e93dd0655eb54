/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a run found inside a body of a node, as a run of the network that the body is when it is opened. */
#include "vn-body-run.h"

#include "vn-body.h"
#include "vn-i18n.h"

#include <math.h>

/* The node of the prepared network that does what @node of the opened one does; %NULL: there is none any more. */
static const VnNode *
body_run_find_holder (VnRun        *run,
                      const VnNode *node)
{
  const VnIdentity *identity;
  const VnValue *value;

  if (run->prepared == NULL)
    return node;
  identity = vn_identity_map_get (vn_run_get_identity (run), node);
  if (identity == NULL || identity->prepared == NULL)
    return NULL;
  value = vn_graph_find_value (run->prepared->graph, identity->prepared);
  return value != NULL && value->producer != NULL && g_str_equal (value->producer->op_type, node->op_type) ? value->producer
                                                                                                           : NULL;
}

static char *
body_run_dup_scope (VnRun        *run,
                    const VnNode *node,
                    const char   *attr)
{
  const VnNode *holder = body_run_find_holder (run, node);
  const VnAttr *found = holder != NULL && *attr != '\0' ? vn_node_get_attr (holder, attr) : NULL;

  return found != NULL && found->graph != NULL ? vn_graph_dup_scope (found->graph) : NULL;
}

/**
 * vn_run_find_body:
 * @node: of the main graph of the model as opened
 * @attr: as of VnBody
 *
 * Returns: (transfer none) (nullable): what was measured in the body; %NULL also of functions, whose tensors are those of the
 *   network itself when it runs
 */
VnBodyErrors *
vn_run_find_body (VnRun        *self,
                  const VnNode *node,
                  const char   *attr)
{
  g_autofree char *scope = NULL;

  g_return_val_if_fail (self != NULL && node != NULL && attr != NULL, NULL);

  scope = self->errors != NULL ? body_run_dup_scope (self, node, attr) : NULL;
  return scope != NULL ? vn_error_table_find_body (self->errors, scope) : NULL;
}

/* Its tensors are those of the network when it runs: their names begin with that of the call. */
static const VnErrorRow *
body_run_get_worst_of_call (VnRun        *run,
                            const VnNode *call)
{
  g_autofree char *label = vn_node_dup_label (call), *prefix = g_strconcat (*call->name != '\0' ? call->name : label, "/", NULL);
  const VnErrorRow *worst = NULL;

  for (guint i = 0; i < vn_error_table_get_n (run->errors); i++)
    {
      const VnErrorRow *row = vn_error_table_get (run->errors, i);

      if (g_str_has_prefix (row->value, prefix) && (worst == NULL || row->noise_to_signal > worst->noise_to_signal))
        worst = row;
    }
  return worst;
}

/**
 * vn_run_get_worst_inside:
 * @node: of the main graph of the model as opened
 * @attr: as of VnBody
 *
 * Returns: (transfer none) (nullable): of the tensors inside the body the one with the most noise
 */
const VnErrorRow *
vn_run_get_worst_inside (VnRun        *self,
                         const VnNode *node,
                         const char   *attr)
{
  const VnBodyErrors *found;

  g_return_val_if_fail (self != NULL && node != NULL && attr != NULL, NULL);

  if (self->errors == NULL)
    return NULL;
  if (*attr == '\0')
    return body_run_get_worst_of_call (self, node);
  found = vn_run_find_body (self, node, attr);
  return found != NULL ? vn_body_errors_get_worst (found) : NULL;
}

/* ---- a run of the body ---- */

/* Where error starts is not known inside bodies: it does not count that it is known of a tensor that comes from outside. */
static VnErrorRow *
body_run_copy_row (const VnErrorRow *from,
                   const VnValue    *value)
{
  VnErrorRow *row = vn_error_row_copy (from);

  row->is_output = value->is_output;
  row->is_last = FALSE;
  if (value->is_input)
    row->contribution = NAN;
  return row;
}

static gboolean
body_run_add_row (VnErrorTable  *errors,
                  VnErrorTable  *from,
                  const VnValue *value)
{
  const VnErrorRow *row = vn_error_table_find (from, value->name);

  if (row == NULL || vn_error_table_find (errors, value->name) != NULL)
    return FALSE;
  vn_error_table_add (errors, body_run_copy_row (row, value));
  return TRUE;
}

/* Of the tensors of @body. What it reads may come from the network around it, as may all of it that was put there before the run.
 * Returns: %FALSE if nothing that it computes was measured */
static gboolean
body_run_pick_rows (VnErrorTable  *errors,
                    VnErrorTable  *own,
                    VnErrorTable  *around,
                    const VnGraph *body)
{
  g_autoptr(GPtrArray) order = vn_graph_sort (body, NULL);
  guint n = 0;

  for (guint i = 0; i < body->inputs->len; i++)
    if (!body_run_add_row (errors, own, g_ptr_array_index (body->inputs, i)))
      body_run_add_row (errors, around, g_ptr_array_index (body->inputs, i));
  for (guint i = 0; order != NULL && i < order->len; i++)
    {
      const VnNode *node = g_ptr_array_index (order, i);

      for (guint k = 0; k < node->outputs->len; k++)
        if (vn_node_get_output (node, k) != NULL)
          n += body_run_add_row (errors, own, vn_node_get_output (node, k));
    }
  return n > 0;
}

/* The value whose row speaks for @value: that of the clamp behind it, where it has none of its own. */
static const char *
body_run_find_rounded (VnErrorTable  *errors,
                       const VnValue *value)
{
  const VnNode *reader = value->uses->len == 1 ? g_array_index (value->uses, VnUse, 0).node : NULL;

  if (vn_error_table_find (errors, value->name) != NULL || reader == NULL || reader->graph != value->graph ||
      vn_node_get_output (reader, 0) == NULL || !(vn_node_is (reader, "Relu") || vn_node_is (reader, "Clip")))
    return value->name;
  return vn_node_get_output (reader, 0)->name;
}

/* @map: (nullable): to the body as it was prepared; %NULL: that is not there any more */
static VnRunNode *
body_run_make_node (const VnNode  *node,
                    VnIdentityMap *map,
                    VnErrorTable  *errors)
{
  const VnValue *output = vn_node_get_output (node, 0);
  const VnIdentity *identity = map != NULL ? vn_identity_map_get (map, node) : NULL;
  VnRunNode *row = g_new0 (VnRunNode, 1);

  row->label = vn_node_dup_label (node);
  row->op_type = g_strdup (node->op_type);
  row->source = g_strdup (output != NULL ? output->name : NULL);
  row->prepared = g_strdup (identity != NULL ? identity->prepared : row->source);
  row->rounded = g_strdup (identity != NULL ? identity->rounded : output != NULL ? body_run_find_rounded (errors, output) : NULL);
  return row;
}

/* Which row speaks for each of the nodes of @body, and what becomes of it. */
static void
body_run_set_nodes (VnRun         *self,
                    VnRun         *around,
                    const VnNode  *node,
                    const char    *attr,
                    const VnModel *body)
{
  const VnNode *holder = around->prepared != NULL && *attr != '\0' ? body_run_find_holder (around, node) : NULL;
  g_autoptr(VnModel) prepared = holder != NULL ? vn_model_new_for_body (holder, attr, NULL) : NULL;
  VnQuantPlan *plan = holder != NULL && around->plan != NULL ? vn_quant_plan_find_body (around->plan, holder, attr) : NULL;
  g_autoptr(VnIdentityMap) map = prepared != NULL ? vn_identity_map_new (body, prepared, around->edits, plan, NULL) : NULL;

  self->nodes = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_run_node_free);
  for (guint i = 0; i < body->graph->nodes->len; i++)
    g_ptr_array_add (self->nodes, body_run_make_node (g_ptr_array_index (body->graph->nodes, i), map, self->errors));
  self->plan = plan != NULL ? vn_quant_plan_ref (plan) : NULL;
}

static void
body_run_note (VnRun              *self,
               const VnBodyErrors *found)
{
  const guint64 n_alone = found->n_float + found->n_quant - 2 * found->n_both, n_dropped = found->n_both - found->n_compared;

  if (n_alone > 0)
    vn_notes_add (self->notes, VN_NOTE_WARNING, "body-alone", NULL,
                  ngettext ("%llu run of the body is not compared: the float and the quantized model take different branches",
                            "%llu runs of the body are not compared: the float and the quantized model take different branches",
                            (gulong) n_alone), (unsigned long long) n_alone);
  if (n_dropped > 0)
    vn_notes_add (self->notes, VN_NOTE_INFO, "body-first-runs", NULL,
                  ngettext ("The error is of the first iterations: %llu run of the body is not compared, to save memory",
                            "The error is of the first iterations: %llu runs of the body are not compared, to save memory",
                            (gulong) n_dropped), (unsigned long long) n_dropped);
}

/**
 * vn_run_new_inside:
 * @around: a run of the model of @node
 * @node: of its main graph
 * @attr: as of VnBody
 * @body: vn_model_new_for_body() of these
 *
 * Returns: (transfer full) (nullable): what @around found inside, as a record of a run of @body; %NULL: nothing was measured
 *   there
 */
VnRun *
vn_run_new_inside (VnRun        *around,
                   const VnNode *node,
                   const char   *attr,
                   VnModel      *body)
{
  g_autoptr(VnRun) self = vn_run_new ();
  g_autofree char *scope = NULL;
  const VnBodyErrors *found;

  g_return_val_if_fail (around != NULL && node != NULL && attr != NULL && body != NULL, NULL);

  if (around->errors == NULL || around->recipe == NULL)
    return NULL;
  scope = body_run_dup_scope (around, node, attr);
  found = scope != NULL ? vn_error_table_find_body (around->errors, scope) : NULL;
  self->notes = vn_notes_new ();
  self->errors = vn_error_table_new (vn_error_table_get_n_samples (around->errors));
  if (!body_run_pick_rows (self->errors, found != NULL ? found->errors : around->errors, around->errors, body->graph))
    return NULL;
  if (scope != NULL)
    vn_error_table_take_inside (self->errors, around->errors, scope);
  if (found != NULL)
    body_run_note (self, found);
  body_run_set_nodes (self, around, node, attr, body);
  self->value_names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  self->source = vn_model_ref (body);
  self->recipe = vn_recipe_copy (around->recipe);
  self->state = VN_RUN_MEASURED;
  self->n_held_out = around->n_held_out;
  self->left_out = around->left_out;
  self->time = around->time;
  return g_steal_pointer (&self);
}
