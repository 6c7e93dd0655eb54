/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Is a model sound? Each level includes the ones before it. */
#include "vn-validate.h"

#include "vn-error.h"
#include "vn-i18n.h"

#include <math.h>

typedef struct
{
  const VnModel   *model;
  VnValidateLevel  level;
  VnNotes         *notes;
} Check;

static gboolean validate_check_graph (Check          *check,
                                      const VnGraph  *graph,
                                      GError        **error);

static gboolean
validate_check_value (Check          *check,
                      const VnValue  *value,
                      GError        **error)
{
  const VnNode *producer = value->producer;

  if (value->name == NULL || value->name[0] == '\0')
    g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("A tensor has no name"));
  else if (!g_utf8_validate (value->name, -1, NULL))
    g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("The name of a tensor is not valid UTF-8"));
  else if (producer != NULL && (value->is_input || value->initializer != NULL))
    g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED,
                 _("“%s” is the output of a node and also an input or initializer; rename one of them"), value->name);
  else if (producer != NULL && vn_node_get_output (producer, value->output_index) != value)
    g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("Two nodes compute “%s”; rename one output"), value->name);
  else
    return TRUE;
  return FALSE;
}

static gboolean
validate_has_source (const VnValue *value)
{
  return value->producer != NULL || value->is_input || value->initializer != NULL || value->graph->extra != NULL;
}

static gboolean
validate_check_inputs (const VnNode  *node,
                       GError       **error)
{
  for (guint i = 0; i < node->inputs->len; i++)
    {
      const VnValue *value = vn_node_get_input (node, i);

      if (value != NULL && !validate_has_source (value))
        {
          g_autofree char *label = vn_node_dup_label (node);

          g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED,
                       _("Node “%s” (%s) uses “%s”, which nothing in the model produces"), label, node->op_type, value->name);
          return FALSE;
        }
    }
  return TRUE;
}

static gboolean
validate_check_attrs (Check         *check,
                      const VnNode  *node,
                      GError       **error)
{
  for (guint i = 0; i < node->attrs->len; i++)
    {
      const VnAttr *attr = g_ptr_array_index (node->attrs, i);

      if (attr->graph != NULL && !validate_check_graph (check, attr->graph, error))
        return FALSE;
      for (guint g = 0; attr->graphs != NULL && g < attr->graphs->len; g++)
        if (!validate_check_graph (check, g_ptr_array_index (attr->graphs, g), error))
          return FALSE;
      if (check->level >= VN_VALIDATE_SIZES && attr->type == VN_ATTR_TENSOR && attr->ref_name == NULL &&
          attr->tensor == NULL && attr->extra == NULL)
        {
          g_autofree char *label = vn_node_dup_label (node);

          g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED,
                       _("Attribute “%s” of node “%s” should contain a tensor, but is empty"), attr->name, label);
          return FALSE;
        }
    }
  return TRUE;
}

static gboolean
validate_check_node (Check         *check,
                     const VnNode  *node,
                     GError       **error)
{
  if (node->op_type == NULL || node->op_type[0] == '\0')
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("Node %u has no operator"), node->index);
      return FALSE;
    }
  if (vn_model_get_opset (check->model, node->domain) == 0 && node->domain[0] != '\0')
    vn_notes_add (check->notes, VN_NOTE_WARNING, "domain-not-imported", node->domain,
                  _("Operators of the domain “%s” are used, but the model does not import it"), node->domain);
  return validate_check_inputs (node, error) && validate_check_attrs (check, node, error);
}

static gboolean
validate_check_initializer (const VnValue  *value,
                            GError        **error)
{
  const VnTensor *tensor = value->initializer;

  if (value->type.kind == VN_TYPE_TENSOR && value->type.dtype != VN_DTYPE_UNDEFINED && tensor->dtype != value->type.dtype)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("“%s” is declared as %s, but its data are %s"), value->name,
                   vn_dtype_get_name (value->type.dtype), vn_dtype_get_name (tensor->dtype));
      return FALSE;
    }
  return TRUE;
}

static void
validate_note_unused (Check         *check,
                      const VnValue *value)
{
  if (value->uses->len == 0 && !value->is_output)
    vn_notes_add (check->notes, VN_NOTE_INFO, "unused-initializer", value->name, _("The weights “%s” are not used"), value->name);
}

static void
validate_note_contents (VnNotes       *notes,
                        const VnValue *value)
{
  const VnTensor *tensor = value->initializer;
  VnTensorFacts facts;

  if (tensor->dtype != VN_DTYPE_F32 && tensor->dtype != VN_DTYPE_F16 && tensor->dtype != VN_DTYPE_F64)
    return;
  vn_tensor_get_facts (tensor, &facts);
  if (facts.n_nan + facts.n_infinite > 0)
    vn_notes_add (notes, VN_NOTE_PROBLEM, VN_NOTE_WEIGHTS_NOT_FINITE, value->name,
                  ngettext ("%zu of %zu weight in “%s” is NaN or infinite",
                            "%zu of %zu weights in “%s” are NaN or infinite", tensor->n_elements),
                  facts.n_nan + facts.n_infinite, tensor->n_elements, value->name);
}

static gboolean
validate_is_sorted (GPtrArray *order)
{
  for (guint i = 0; i < order->len; i++)
    if (((const VnNode *) g_ptr_array_index (order, i))->index != i)
      return FALSE;
  return TRUE;
}

static gboolean
validate_check_values (Check          *check,
                       const VnGraph  *graph,
                       GError        **error)
{
  for (guint i = 0; i < graph->values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (graph->values, i);

      if (!validate_check_value (check, value, error))
        return FALSE;
      if (value->initializer == NULL)
        continue;
      if (check->level >= VN_VALIDATE_SIZES && !validate_check_initializer (value, error))
        return FALSE;
      if (check->level >= VN_VALIDATE_NAMES)
        validate_note_unused (check, value);
      if (check->level >= VN_VALIDATE_CONTENTS)
        validate_note_contents (check->notes, value);
    }
  return TRUE;
}

static gboolean
validate_check_outputs (const VnGraph  *graph,
                        GError        **error)
{
  for (guint i = 0; i < graph->outputs->len; i++)
    {
      const VnValue *value = g_ptr_array_index (graph->outputs, i);

      if (!validate_has_source (value))
        {
          g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("The output “%s” is not computed by any node"), value->name);
          return FALSE;
        }
    }
  return TRUE;
}

static gboolean
validate_check_graph (Check          *check,
                      const VnGraph  *graph,
                      GError        **error)
{
  g_autoptr(GPtrArray) order = NULL;

  if (!validate_check_values (check, graph, error) || !validate_check_outputs (graph, error))
    return FALSE;
  for (guint i = 0; i < graph->nodes->len; i++)
    if (!validate_check_node (check, g_ptr_array_index (graph->nodes, i), error))
      return FALSE;
  order = vn_graph_sort (graph, error);
  if (order == NULL)
    return FALSE;
  if (check->level < VN_VALIDATE_NAMES)
    return TRUE;
  if (!validate_is_sorted (order))
    vn_notes_add (check->notes, VN_NOTE_INFO, "unsorted-nodes", graph->name,
                  _("The nodes are not topologically sorted; they are sorted on export"));
  return TRUE;
}

/**
 * vn_model_validate:
 * @notes: (nullable): findings that are no errors
 *
 * Returns: %FALSE with %VN_ERROR_MALFORMED and a message naming the node or tensor
 */
gboolean
vn_model_validate (const VnModel    *model,
                   VnValidateLevel   level,
                   VnNotes          *notes,
                   GError          **error)
{
  Check check;

  g_return_val_if_fail (model != NULL, FALSE);

  check = (Check) { model, level, notes };
  return validate_check_graph (&check, model->graph, error);
}

/* ---- weights alone ---- */

typedef struct
{
  VnNotes        *notes;
  VnValidateFunc  go_on;     /* NULL: only bytes are added up */
  gpointer        data;
  guint64         done, total;
} Scan;

static gboolean
validate_scan_value (Scan          *self,
                     const VnValue *value)
{
  if (value->initializer == NULL)
    return TRUE;
  self->done += value->initializer->n_bytes;
  if (self->go_on == NULL)
    return TRUE;
  validate_note_contents (self->notes, value);
  return self->go_on (self->data, self->done, self->total);
}

static gboolean
validate_scan_graph (Scan          *self,
                     const VnGraph *graph)
{
  for (guint i = 0; i < graph->values->len; i++)
    if (!validate_scan_value (self, g_ptr_array_index (graph->values, i)))
      return FALSE;
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (graph->nodes, i);

      for (guint k = 0; k < node->attrs->len; k++)
        {
          const VnAttr *attr = g_ptr_array_index (node->attrs, k);

          if (attr->graph != NULL && !validate_scan_graph (self, attr->graph))
            return FALSE;
        }
    }
  return TRUE;
}

/**
 * vn_model_validate_weights:
 * @model: one that passed %VN_VALIDATE_NAMES; only read
 * @notes: what %VN_VALIDATE_CONTENTS finds beyond that
 * @go_on: how far it is
 *
 * Reads all weights. From any thread.
 */
void
vn_model_validate_weights (const VnModel  *model,
                           VnNotes        *notes,
                           VnValidateFunc  go_on,
                           gpointer        data)
{
  Scan bytes = { 0 }, scan;

  g_return_if_fail (model != NULL && notes != NULL && go_on != NULL);

  validate_scan_graph (&bytes, model->graph);
  scan = (Scan) { notes, go_on, data, 0, bytes.done };
  validate_scan_graph (&scan, model->graph);
}
