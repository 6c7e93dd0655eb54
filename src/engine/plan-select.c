/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What has to be computed, in which order, and by which operators. */
#include "vn-plan-passes.h"

#include "vn-backend.h"
#include "vn-error.h"
#include "vn-i18n.h"

/* Links equal values of a list together: head[] in the values, the rest by index. @own: those of outer graphs are in no chain:
 * who computes a tap tells it. */
static int *
plan_select_link_values (VnPlan    *self,
                         GPtrArray *list,
                         gboolean   own,
                         gsize      head_offset)
{
  int *next = g_new (int, MAX (list->len, 1));

  for (guint i = list->len; i-- > 0;)
    {
      const VnValue *value = g_ptr_array_index (list, i);
      int id = !own || value->graph == self->graph ? vn_plan_find (self, value) : -1;
      int *head = id >= 0 ? (int *) ((char *) &self->values[id] + head_offset) : NULL;

      next[i] = -1;
      if (head == NULL || !vn_plan_is_computed (self, value))
        continue;
      next[i] = *head;
      *head = (int) i;
    }
  return next;
}

/* Whether a value is one of the graph or, if @inner, of a graph inside its nodes. */
static gboolean
plan_select_knows (VnPlan        *self,
                   const VnValue *value,
                   gboolean       inner)
{
  const VnGraph *graph = value->graph;

  if (!inner)
    return vn_plan_find (self, value) >= 0;
  while (graph != NULL && graph != self->graph)
    graph = graph->parent;
  return graph != NULL;
}

static GPtrArray *
plan_select_copy_list (VnPlan      *self,
                       GPtrArray   *list,
                       gboolean     inner,
                       const char  *what,
                       GError     **error)
{
  g_autoptr(GPtrArray) copy = g_ptr_array_new ();

  for (guint i = 0; list != NULL && i < list->len; i++)
    {
      VnValue *value = g_ptr_array_index (list, i);

      if (value == NULL || !plan_select_knows (self, value, inner))
        {
          g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
                       inner ? _("%s %u (“%s”) is not a value of the model") : _("%s %u (“%s”) is not a value of the "
                                                                                   "model's main graph"),
                       what, i, value != NULL ? value->name : "");
          return NULL;
        }
      g_ptr_array_add (copy, value);
    }
  return g_steal_pointer (&copy);
}

static gboolean
plan_select_set_lists (VnPlan               *self,
                       const VnPlanOptions  *options,
                       GError              **error)
{
  GPtrArray *outputs = options->outputs != NULL ? options->outputs : self->graph->outputs;

  self->outputs = plan_select_copy_list (self, outputs, FALSE, _("Output"), error);
  if (self->outputs == NULL)
    return FALSE;
  /* all graphs have the same list of taps, so that a tap has one number everywhere */
  self->taps = self->depth > 0 && options->taps != NULL ? g_ptr_array_ref (options->taps)
                                                        : plan_select_copy_list (self, options->taps, TRUE, _("Tap"), error);
  return self->taps != NULL;
}

static gboolean
plan_select_has_computed (VnPlan    *self,
                          GPtrArray *list)
{
  for (guint i = 0; i < list->len; i++)
    if (vn_plan_find (self, g_ptr_array_index (list, i)) >= 0 && vn_plan_is_computed (self, g_ptr_array_index (list, i)))
      return TRUE;
  return FALSE;
}

static void
plan_select_take_ends (VnPlan *self)
{
  if (self->ends && self->all_outputs)
    {
      g_ptr_array_unref (self->outputs);
      self->outputs = vn_graph_list_compared (self->graph, self->lost);
    }
}

/* Outputs that cannot be computed go; taps keep their numbers. If nothing at all is left, the plan stays as it was
 * asked for, to fail with the names of the operators. */
static void
plan_select_drop_lost (VnPlan  *self,
                       VnNotes *notes)
{
  self->lost = vn_graph_find_lost (self->graph);
  plan_select_take_ends (self);
  if (!plan_select_has_computed (self, self->outputs) && !plan_select_has_computed (self, self->taps))
    {
      g_clear_pointer (&self->lost, g_free);
      return;
    }
  vn_graph_note_unsupported (self->graph, notes);
  for (guint i = self->outputs->len; i-- > 0;)
    if (!vn_plan_is_computed (self, g_ptr_array_index (self->outputs, i)))
      g_ptr_array_remove_index (self->outputs, i);
}

static void
plan_select_need (VnPlan    *self,
                  GPtrArray *queue,
                  VnValue   *value)
{
  int id = value != NULL ? vn_plan_find (self, value) : -1;

  if (id < 0 || self->values[id].needed || !vn_plan_is_computed (self, value))
    return;
  self->values[id].needed = TRUE;
  g_ptr_array_add (queue, value);
}

static void
plan_select_need_inputs (VnPlan       *self,
                         GPtrArray    *queue,
                         const VnNode *node)
{
  g_autoptr(GPtrArray) captured = vn_node_has_graphs (node) ? vn_node_list_captured (node) : NULL;

  for (guint i = 0; i < node->inputs->len; i++)
    plan_select_need (self, queue, g_ptr_array_index (node->inputs, i));
  for (guint i = 0; captured != NULL && i < captured->len; i++)
    plan_select_need (self, queue, g_ptr_array_index (captured, i));
}

/* Of a value inside a node, the node. An outer graph computes its own taps by itself. */
static void
plan_select_need_tap (VnPlan    *self,
                      GPtrArray *queue,
                      VnValue   *value)
{
  const VnGraph *graph = value->graph;
  const VnNode *holder = NULL;

  if (graph == self->graph)
    {
      plan_select_need (self, queue, value);
      return;
    }
  for (; graph != NULL && graph != self->graph; graph = graph->parent)
    holder = graph->parent_node;
  for (guint i = 0; graph != NULL && holder != NULL && i < holder->outputs->len; i++)
    plan_select_need (self, queue, g_ptr_array_index (holder->outputs, i));
}

/**
 * vn_plan_select:
 *
 * Takes over the wanted outputs and taps and marks every value they need. What can be read from the file as a
 * constant is not followed to its producer. With skip_unsupported, what depends on a node without kernel is left out.
 */
gboolean
vn_plan_select (VnPlan               *self,
                const VnPlanOptions  *options,
                VnNotes              *notes,
                GError              **error)
{
  g_autoptr(GPtrArray) queue = g_ptr_array_new ();

  g_return_val_if_fail (self != NULL && options != NULL, FALSE);

  if (!plan_select_set_lists (self, options, error))
    return FALSE;
  if (options->skip_unsupported)
    plan_select_drop_lost (self, notes);
  self->next_output = plan_select_link_values (self, self->outputs, FALSE, G_STRUCT_OFFSET (VnPlanValue, output));
  self->next_tap = plan_select_link_values (self, self->taps, TRUE, G_STRUCT_OFFSET (VnPlanValue, tap));

  for (guint i = 0; i < self->outputs->len; i++)
    plan_select_need (self, queue, g_ptr_array_index (self->outputs, i));
  for (guint i = 0; i < self->taps->len; i++)
    plan_select_need_tap (self, queue, g_ptr_array_index (self->taps, i));
  for (guint k = 0; k < queue->len; k++)
    {
      VnValue *value = g_ptr_array_index (queue, k);

      if (value->graph == self->graph && value->producer != NULL && vn_value_get_constant (value) == NULL)
        plan_select_need_inputs (self, queue, value->producer);
    }
  return TRUE;
}

static gboolean
plan_select_is_needed (VnPlan       *self,
                       const VnNode *node)
{
  for (guint i = 0; i < node->outputs->len; i++)
    {
      const VnValue *value = g_ptr_array_index (node->outputs, i);

      if (value != NULL && self->values[value->id].needed && vn_value_get_constant (value) == NULL)
        return TRUE;
    }
  return FALSE;
}

/**
 * vn_plan_sort_needed:
 *
 * Returns: (transfer container): the nodes to run, each after those it depends on
 */
GPtrArray *
vn_plan_sort_needed (VnPlan  *self,
                     GError **error)
{
  g_autoptr(GPtrArray) sorted = NULL;
  GPtrArray *nodes;

  g_return_val_if_fail (self != NULL, NULL);

  sorted = vn_graph_sort (self->graph, error);
  if (sorted == NULL)
    return NULL;
  nodes = g_ptr_array_new ();
  for (guint i = 0; i < sorted->len; i++)
    if (plan_select_is_needed (self, g_ptr_array_index (sorted, i)))
      g_ptr_array_add (nodes, g_ptr_array_index (sorted, i));
  return nodes;
}

/* ---- operators ---- */

typedef struct
{
  const VnNode *first;
  guint         n_nodes;
} Missing;

static void
plan_select_add_missing (GPtrArray    *missing,
                         const VnNode *node)
{
  Missing *entry;

  for (guint i = 0; i < missing->len; i++)
    {
      entry = g_ptr_array_index (missing, i);
      if (g_str_equal (entry->first->op_type, node->op_type) && g_str_equal (entry->first->domain, node->domain))
        {
          entry->n_nodes++;
          return;
        }
    }
  entry = g_new (Missing, 1);
  *entry = (Missing) { node, 1 };
  g_ptr_array_add (missing, entry);
}

static void
plan_select_describe_missing (VnPlan        *self,
                              const Missing *entry,
                              GString       *text)
{
  const VnNode *node = entry->first;
  g_autofree char *label = vn_node_dup_label (node);
  gint64 opset = vn_model_get_opset (self->model, node->domain);
  gboolean is_function = vn_model_find_function (self->model, node->domain, node->op_type) != NULL;

  g_string_append_printf (text, "%s%s%s%s (", text->len > 0 ? "; " : "", node->domain,
                          *node->domain != '\0' ? "." : "", node->op_type);
  if (is_function)
    g_string_append (text, _("a function of the model, "));
  g_string_append_printf (text, _("opset %lld"), (long long) opset);
  g_string_append_printf (text, ngettext (", %u node", ", %u nodes", entry->n_nodes), entry->n_nodes);
  g_string_append_printf (text, _(", first “%s”)"), label);
}

static void
plan_select_set_missing_error (VnPlan     *self,
                               GPtrArray  *missing,
                               GError    **error)
{
  g_autoptr(GString) text = g_string_new (NULL);

  for (guint i = 0; i < missing->len; i++)
    plan_select_describe_missing (self, g_ptr_array_index (missing, i), text);
  g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED,
               ngettext ("The model needs %u unsupported operator: %s",
                         "The model needs %u unsupported operators: %s", missing->len),
               missing->len, text->str);
}

/**
 * vn_plan_resolve:
 * @nodes: the nodes to run
 * @ops: (out): one operator for each
 *
 * Returns: %FALSE with one VN_ERROR_UNSUPPORTED that names every operator there is no kernel for
 */
gboolean
vn_plan_resolve (VnPlan       *self,
                 GPtrArray    *nodes,
                 const VnOp  **ops,
                 GError      **error)
{
  g_autoptr(GPtrArray) missing = g_ptr_array_new_with_free_func (g_free);

  g_return_val_if_fail (self != NULL && nodes != NULL, FALSE);

  for (guint i = 0; i < nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (nodes, i);

      ops[i] = vn_backend_lookup_node (node);
      if (ops[i] == NULL)
        plan_select_add_missing (missing, node);
    }
  if (missing->len == 0)
    return TRUE;
  plan_select_set_missing_error (self, missing, error);
  return FALSE;
}
