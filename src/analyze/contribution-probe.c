/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Beside each layer with a quantized weight stands another that has the weight as it comes back from its integers and reads the
 * same float input. Activations are rounded, and biases shifted, while the network runs. */
#include "contribution-probe.h"

#include "vn-graph-edit.h"
#include "vn-identity.h"
#include "vn-logit-space.h"
#include "vn-quant-math.h"

#include <math.h>

static void
contribution_suspect_clear (gpointer data)
{
  g_clear_pointer (&((VnSuspect *) data)->shift, vn_tensor_unref);
}

void
vn_probe_free (VnProbe *self)
{
  if (self == NULL)
    return;
  g_clear_pointer (&self->model, vn_model_unref);
  g_clear_pointer (&self->taps, g_ptr_array_unref);
  g_clear_pointer (&self->floats, g_array_unref);
  g_clear_pointer (&self->outputs, g_array_unref);
  g_clear_pointer (&self->suspects, g_array_unref);
  g_clear_pointer (&self->ends, g_array_unref);
  g_clear_pointer (&self->parts, vn_parts_unref);
  g_free (self);
}

/* ---- rounding ---- */

/**
 * vn_probe_round:
 * @row: with scale and zero point
 * @tensor: float32
 *
 * Returns: (transfer full) (nullable): @tensor as it comes back from its integers; %NULL if memory is short
 */
VnTensor *
vn_probe_round (const VnQuantRow  *row,
                const VnTensor    *tensor,
                GError           **error)
{
  const float *scales, *from;
  VnTensor *result;
  gint64 qmin, qmax;

  g_return_val_if_fail (row != NULL && tensor != NULL, NULL);

  result = vn_tensor_new (VN_DTYPE_F32, &tensor->shape, error);
  scales = row->tensor.scale->data;
  from = tensor->data;
  vn_dtype_integer_range (row->tensor.dtype, &qmin, &qmax);
  for (gsize i = 0; result != NULL && i < tensor->n_elements; i++)
    {
      gsize at = vn_quant_row_find_scale (row, &tensor->shape, i);
      float zero = (float) vn_tensor_get_double (row->tensor.zero_point, row->tensor.zero_point->n_elements > 1 ? at : 0);
      float whole = floorf (zero), q = rintf (from[i] / scales[at] + (zero - whole)) + whole;

      ((float *) result->data)[i] = (CLAMP (q, (float) qmin, (float) qmax) - zero) * scales[at];
    }
  return result;
}

/* ---- the network ---- */

static guint
contribution_add_tap (VnProbe *self,
                      VnValue *value)
{
  guint at;

  if (g_ptr_array_find (self->taps, value, &at))
    return at;
  at = self->taps->len;
  g_ptr_array_add (self->taps, value);
  g_array_append_val (self->floats, at);
  return at;
}

static guint
contribution_add_twin (VnProbe *self,
                       VnValue *value)
{
  g_ptr_array_add (self->taps, value);
  return self->taps->len - 1;
}

/* Those that the plan has: what depends on a node without kernel is not computed. */
static void
contribution_add_outputs (VnProbe *self)
{
  const VnGraph *graph = self->model->graph;
  g_autofree gboolean *lost = vn_graph_find_lost (graph);
  g_autoptr(GPtrArray) outputs = vn_graph_list_compared (graph, lost);

  for (guint i = 0; i < outputs->len; i++)
    {
      guint tap = contribution_add_tap (self, g_ptr_array_index (outputs, i));

      g_array_append_val (self->outputs, tap);
    }
}

/* An output without parts is one end, one with parts as many as it has. */
static void
contribution_add_ends (VnProbe *self)
{
  for (guint o = 0; o < self->outputs->len; o++)
    {
      guint tap = g_array_index (self->outputs, guint, o);
      const VnValue *output = g_ptr_array_index (self->taps, tap);
      const gboolean logits = vn_value_is_logits (output);
      const VnPartition *partition = logits ? NULL : vn_parts_get (self->parts, output->name);

      for (guint part = 0; part < (partition != NULL ? partition->n_parts : 1); part++)
        {
          VnProbeEnd end = { o, tap, partition, part, logits };

          g_array_append_val (self->ends, end);
        }
    }
}

/* What an operator hands on with the parameters of its input has lost nothing more. */
static gboolean
contribution_is_handed_on (VnQuantPlan   *plan,
                           const VnValue *value,
                           const VnQuantRow *row)
{
  const VnValue *input = value->producer != NULL ? vn_node_get_input (value->producer, 0) : NULL;
  const VnQuantRow *from = input != NULL ? vn_quant_plan_find_row (plan, input->name) : NULL;

  return row->tensor.shares != NULL && from != NULL && from->tensor.quantized &&
         (g_str_equal (row->tensor.shares, from->tensor.name) || g_strcmp0 (row->tensor.shares, from->tensor.shares) == 0);
}

static void
contribution_add_activation (VnProbe     *self,
                             VnQuantPlan *plan,
                             VnValue     *value)
{
  const VnQuantRow *row = vn_quant_plan_find_row (plan, value->name);
  VnSuspect suspect = { row, value->producer, value, 0, -1, NULL, 0, NULL };

  if (!vn_quant_row_has_integers (row) || row->tensor.role != VN_TENSOR_ACTIVATION || vn_value_is_constant (value) ||
      contribution_is_handed_on (plan, value, row) || vn_quant_plan_find_clamped (plan, value) != NULL)
    return;
  suspect.speaker = value->name;
  suspect.tap = contribution_add_tap (self, value);
  g_array_append_val (self->suspects, suspect);
}

static VnNode *
contribution_copy_layer (VnGraph  *graph,
                         VnNode   *node,
                         guint     input,
                         VnTensor *weight)
{
  g_autofree VnValue **inputs = g_new0 (VnValue *, node->inputs->len + 1);
  VnValue *output = vn_graph_add_value (graph, vn_node_get_output (node, 0)->name, VN_DTYPE_UNDEFINED, NULL);
  VnNode *copy;

  for (guint i = 0; i < node->inputs->len; i++)
    inputs[i] = i == input ? vn_graph_add_initializer (graph, vn_node_get_input (node, i)->name, weight)
                : vn_node_get_input (node, i);
  copy = vn_graph_add_node (graph, NULL, node->domain, node->op_type, inputs, node->inputs->len, &output, 1);
  for (guint i = 0; i < node->attrs->len; i++)
    vn_node_set_attr (copy, vn_attr_copy (g_ptr_array_index (node->attrs, i)));
  return copy;
}

static gboolean
contribution_add_weight (VnProbe      *self,
                         VnQuantPlan  *plan,
                         const VnModel *written,
                         VnNode       *node,
                         guint         input,
                         GError      **error)
{
  const VnValue *value = vn_node_get_input (node, input);
  const VnValue *own = g_hash_table_lookup (written->graph->by_name, value->name);
  const VnQuantRow *row = vn_quant_plan_find_row (plan, value->name);
  g_autoptr(VnTensor) data = NULL;
  g_autoptr(VnTensor) rounded = NULL;
  VnSuspect suspect = { row, node, vn_node_get_output (node, 0), 0, -1, NULL, 0, NULL };
  VnNode *twin;

  if (!vn_quant_row_has_integers (row) || row->tensor.role != VN_TENSOR_WEIGHT || value->initializer->dtype != VN_DTYPE_F32)
    return TRUE;
  data = vn_tensor_get_aligned (own != NULL && own->initializer != NULL ? own->initializer : value->initializer, error);
  rounded = data != NULL ? vn_probe_round (row, data, error) : NULL;
  if (rounded == NULL)
    return FALSE;
  twin = contribution_copy_layer (self->model->graph, node, input, rounded);
  suspect.tap = contribution_add_tap (self, suspect.value);
  suspect.speaker = vn_identity_find_rounded (plan, suspect.value)->name;
  suspect.twin_tap = (int) contribution_add_twin (self, vn_node_get_output (twin, 0));
  g_array_append_val (self->suspects, suspect);
  return TRUE;
}

static const VnQuantRow *
contribution_find_bias (VnQuantPlan  *plan,
                        const VnNode *node)
{
  for (guint i = 0; i < plan->rows->len; i++)
    {
      const VnQuantRow *row = g_ptr_array_index (plan->rows, i);

      if (row->tensor.role == VN_TENSOR_BIAS && row->source != NULL && row->node == node->index)
        return vn_quant_row_has_integers (row) ? row : NULL;
    }
  return NULL;
}

static gboolean
contribution_add_bias (VnProbe      *self,
                       VnQuantPlan  *plan,
                       VnNode       *node,
                       GError      **error)
{
  const VnQuantRow *row = contribution_find_bias (plan, node);
  VnSuspect suspect = { row, node, vn_node_get_output (node, 0), 0, -1, NULL, vn_node_is (node, "Gemm") ? -1 : 1, NULL };
  VnTensor *bias = row != NULL && row->input < node->inputs->len
                   ? vn_value_get_constant (vn_node_get_input (node, row->input)) : NULL;
  g_autoptr(VnTensor) data = NULL;
  gint64 qmin = 0, qmax = 0;

  if (bias == NULL || bias->dtype != VN_DTYPE_F32 || vn_node_is (node, "MatMul"))
    return TRUE;
  data = vn_tensor_get_aligned (bias, error);
  suspect.shift = data != NULL ? vn_tensor_new (VN_DTYPE_F32, &VN_SHAPE ((gint64) data->n_elements), error) : NULL;
  if (suspect.shift == NULL)
    return FALSE;
  vn_dtype_integer_range (row->tensor.dtype, &qmin, &qmax);
  for (gsize i = 0; i < data->n_elements; i++)
    {
      double scale = (double) ((const float *) row->tensor.scale->data)[row->tensor.scale->n_elements > 1 ? i : 0];
      double b = (double) ((const float *) data->data)[i] * (double) row->beta;

      ((float *) suspect.shift->data)[i] = (float) (CLAMP (rint (b / scale), (double) qmin, (double) qmax) * scale - b);
    }
  suspect.tap = contribution_add_tap (self, suspect.value);
  suspect.speaker = vn_identity_find_rounded (plan, suspect.value)->name;
  g_array_append_val (self->suspects, suspect);
  return TRUE;
}

static gboolean
contribution_add_node (VnProbe      *self,
                       VnQuantPlan  *plan,
                       const VnModel *written,
                       VnNode       *node,
                       GError      **error)
{
  g_autofree char *label = vn_node_dup_label (node);

  if (vn_quant_plan_is_node_quantized (plan, label) && vn_node_get_output (node, 0) != NULL && !vn_node_has_graphs (node))
    {
      for (guint i = 0; i < node->inputs->len; i++)
        if (vn_node_get_input (node, i) != NULL && vn_node_get_input (node, i)->initializer != NULL &&
            !contribution_add_weight (self, plan, written, node, i, error))
          return FALSE;
      if (!contribution_add_bias (self, plan, node, error))
        return FALSE;
    }
  for (guint i = 0; i < node->outputs->len; i++)
    if (vn_node_get_output (node, i) != NULL)
      contribution_add_activation (self, plan, vn_node_get_output (node, i));
  return TRUE;
}

/**
 * vn_probe_new:
 * @written: @prepared, or it with other weights, which become integers instead
 * @parts: (nullable): of the outputs
 *
 * Returns: (transfer full) (nullable): %NULL with an error if @prepared has a cycle or memory is short
 */
VnProbe *
vn_probe_new (const VnModel   *prepared,
              const VnModel   *written,
              VnQuantPlan     *plan,
              VnParts         *parts,
              GError         **error)
{
  g_autoptr(VnProbe) self = g_new0 (VnProbe, 1);
  g_autoptr(GPtrArray) order = NULL;

  g_return_val_if_fail (prepared != NULL, NULL);

  self->model = vn_model_copy (prepared);
  self->taps = g_ptr_array_new ();
  self->floats = g_array_new (FALSE, FALSE, sizeof (guint));
  self->outputs = g_array_new (FALSE, FALSE, sizeof (guint));
  self->suspects = g_array_new (FALSE, FALSE, sizeof (VnSuspect));
  self->ends = g_array_new (FALSE, FALSE, sizeof (VnProbeEnd));
  self->parts = parts != NULL ? vn_parts_ref (parts) : NULL;
  g_array_set_clear_func (self->suspects, contribution_suspect_clear);
  order = vn_graph_sort (self->model->graph, error);
  if (order == NULL)
    return NULL;
  for (guint i = 0; i < self->model->graph->inputs->len; i++)
    contribution_add_activation (self, plan, g_ptr_array_index (self->model->graph->inputs, i));
  for (guint i = 0; i < order->len; i++)
    if (!contribution_add_node (self, plan, written, g_ptr_array_index (order, i), error))
      return NULL;
  contribution_add_outputs (self);
  contribution_add_ends (self);
  return g_steal_pointer (&self);
}
