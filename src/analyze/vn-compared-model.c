/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Answers for a network beside another one: which node of the float network a node stands for, its error, where its tensors are
 * read, and what tables tell of it. */
#include "vn-compared-model.h"

#include <math.h>
#include <string.h>

struct _VnComparedModel
{
  gatomicrefcount    ref;
  VnModel           *float_model;   /* as opened */
  VnModel           *shown;
  VnRun             *result;        /* nullable */
  VnNodeMatch       *match;         /* nullable: @float_model -> @shown, if these are two */
  VnErrorTable      *errors;        /* nullable */
  const VnErrorRow **rows;          /* nullable: by node of @shown */
  VnRuntimeForecast *forecast;      /* nullable: of a file */
};

/* ---- errors ---- */

/* The name of the tensor of the float network that the row of a node of another tool's file has. */
static const char *
compared_model_get_float_value (VnComparedModel *self,
                                guint            node)
{
  const VnMatchedNode *matched = vn_node_match_get (self->match, 1, node);
  const VnValue *value;

  if (matched->state == VN_MATCH_ALONE)
    return NULL;
  value = vn_node_get_output (g_ptr_array_index (self->float_model->graph->nodes,
                                                 vn_node_match_get_last (self->match, matched->other)), 0);
  return value != NULL ? value->name : NULL;
}

static const VnErrorRow *
compared_model_find_row (VnComparedModel *self,
                         guint            node)
{
  const char *value;

  if (self->result != NULL)
    return vn_run_get_node_error (self->result, g_ptr_array_index (self->shown->graph->nodes, node));
  value = compared_model_get_float_value (self, node);
  return value != NULL ? vn_error_table_find (self->errors, value) : NULL;
}

static void
compared_model_list_rows (VnComparedModel *self)
{
  guint n = self->shown->graph->nodes->len;

  if (self->errors == NULL)
    return;
  self->rows = g_new0 (const VnErrorRow *, n + 1);
  for (guint i = 0; i < n; i++)
    self->rows[i] = compared_model_find_row (self, i);
}

/* ---- making one ---- */

static VnComparedModel *
compared_model_alloc (VnModel *float_model,
                      VnModel *shown)
{
  VnComparedModel *self = g_new0 (VnComparedModel, 1);

  g_atomic_ref_count_init (&self->ref);
  self->float_model = vn_model_ref (float_model);
  self->shown = vn_model_ref (shown);
  return self;
}

/**
 * vn_compared_model_new_float:
 * @model: as opened
 *
 * Returns: (transfer full): the float network
 */
VnComparedModel *
vn_compared_model_new_float (VnModel *model)
{
  g_return_val_if_fail (model != NULL, NULL);

  return compared_model_alloc (model, model);
}

/**
 * vn_compared_model_new_result:
 * @result: its networks may be gone, if it is that of a run that was kept
 *
 * Returns: (transfer full): a quantized network, with the nodes of the float one
 */
VnComparedModel *
vn_compared_model_new_result (VnRun *result)
{
  VnComparedModel *self;

  g_return_val_if_fail (result != NULL && result->source != NULL, NULL);

  self = compared_model_alloc (result->source, result->source);
  self->result = vn_run_ref (result);
  self->errors = result->errors != NULL ? vn_error_table_ref (result->errors) : NULL;
  compared_model_list_rows (self);
  return self;
}

/**
 * vn_compared_model_new_file:
 * @float_model: as opened
 * @model: made of it by some tool, or just alike
 * @errors: (nullable): of @model against @float_model
 *
 * Takes time by the number of nodes.
 *
 * Returns: (transfer full): a network with nodes of its own
 */
VnComparedModel *
vn_compared_model_new_file (VnModel      *float_model,
                            VnModel      *model,
                            VnErrorTable *errors)
{
  VnComparedModel *self;

  g_return_val_if_fail (float_model != NULL && model != NULL, NULL);

  self = compared_model_alloc (float_model, model);
  self->match = vn_node_match_new (float_model, model);
  self->errors = errors != NULL ? vn_error_table_ref (errors) : NULL;
  compared_model_list_rows (self);
  return self;
}

/**
 * vn_compared_model_make_forecast:
 *
 * Finds out what ONNX Runtime will make of the network of a file, for its figures. Takes time by the number of nodes; may be
 * called from any thread.
 */
void
vn_compared_model_make_forecast (VnComparedModel *self)
{
  VnRuntimeForecast *forecast;

  g_return_if_fail (self != NULL);

  if (self->result != NULL || g_atomic_pointer_get (&self->forecast) != NULL)
    return;
  forecast = vn_runtime_forecast_new (self->shown, NULL, NULL, NULL);
  if (!g_atomic_pointer_compare_and_exchange (&self->forecast, NULL, forecast))
    vn_runtime_forecast_unref (forecast);
}

VnComparedModel *
vn_compared_model_ref (VnComparedModel *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref);
  return self;
}

void
vn_compared_model_unref (VnComparedModel *self)
{
  if (self == NULL || !g_atomic_ref_count_dec (&self->ref))
    return;
  g_free (self->rows);
  g_clear_pointer (&self->errors, vn_error_table_unref);
  g_clear_pointer (&self->match, vn_node_match_unref);
  g_clear_pointer (&self->result, vn_run_unref);
  g_clear_pointer (&self->forecast, vn_runtime_forecast_unref);
  vn_model_unref (self->shown);
  vn_model_unref (self->float_model);
  g_free (self);
}

/* ---- what there is ---- */

VnModel *
vn_compared_model_get_model (VnComparedModel *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->shown;
}

VnRun *
vn_compared_model_get_result (VnComparedModel *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->result;
}

VnErrorTable *
vn_compared_model_get_errors (VnComparedModel *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->errors;
}

gboolean
vn_compared_model_is_float (VnComparedModel *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return self->result == NULL && self->match == NULL;
}

gboolean
vn_compared_model_is_file (VnComparedModel *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return self->match != NULL;
}

/**
 * vn_compared_model_has_network:
 *
 * Returns: %FALSE: of a run that was kept there is nothing that could be run
 */
gboolean
vn_compared_model_has_network (VnComparedModel *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return self->result == NULL || (self->result->quantized != NULL && self->result->prepared != NULL);
}

/**
 * vn_compared_model_get_float_node:
 * @node: of the model that is shown
 *
 * Returns: index of the node of the float network that it stands for, or that it belongs to; %VN_MATCH_NONE: of none
 */
guint
vn_compared_model_get_float_node (VnComparedModel *self,
                                  guint            node)
{
  g_return_val_if_fail (self != NULL && node < self->shown->graph->nodes->len, VN_MATCH_NONE);

  return self->match != NULL ? vn_node_match_get (self->match, 1, node)->other : node;
}

/**
 * vn_compared_model_get_node:
 * @float_node: of the float network
 *
 * Returns: index of the node that stands for it; %VN_MATCH_NONE: none
 */
guint
vn_compared_model_get_node (VnComparedModel *self,
                            guint            float_node)
{
  g_return_val_if_fail (self != NULL && float_node < self->float_model->graph->nodes->len, VN_MATCH_NONE);

  return self->match != NULL ? vn_node_match_get (self->match, 0, float_node)->other : float_node;
}

/**
 * vn_compared_model_get_row:
 * @node: of the model that is shown
 *
 * Returns: (transfer none) (nullable): its error against the float network; %NULL: not measured
 */
const VnErrorRow *
vn_compared_model_get_row (VnComparedModel *self,
                           guint            node)
{
  g_return_val_if_fail (self != NULL && node < self->shown->graph->nodes->len, NULL);

  return self->rows != NULL ? self->rows[node] : NULL;
}

/**
 * vn_compared_model_get_rows:
 *
 * Returns: (transfer none) (nullable): what vn_compared_model_get_row() gives, by index of the node; %NULL: nothing was measured
 */
const VnErrorRow * const *
vn_compared_model_get_rows (VnComparedModel *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return (const VnErrorRow * const *) self->rows;
}

/* ---- where tensors are ---- */

static const VnNode *
compared_model_get_float (VnComparedModel *self,
                          guint            float_node)
{
  return g_ptr_array_index (self->float_model->graph->nodes, float_node);
}

/* The identity of a node in whichever of two results there is. */
static const VnIdentity *
compared_model_find_identity (VnComparedModel *self,
                              VnComparedModel *beside,
                              const VnNode    *node)
{
  VnRun *result = self->result != NULL ? self->result : beside->result;

  return result != NULL ? vn_identity_map_get (vn_run_get_identity (result), node) : NULL;
}

/* The name that speaks for the node, where the model as opened has it: behind what the file, or the run, has taken in. */
static const char *
compared_model_find_source_value (VnComparedModel  *self,
                                  const VnNode     *node,
                                  const VnIdentity *identity,
                                  VnNodeMatch      *match)
{
  const VnValue *output;

  if (match != NULL)
    node = g_ptr_array_index (self->float_model->graph->nodes, vn_node_match_get_last (match, node->index));
  output = vn_node_get_output (node, 0);
  if (match == NULL && identity != NULL && identity->rounded != NULL &&
      g_hash_table_contains (self->float_model->graph->by_name, identity->rounded))
    return identity->rounded;
  return output != NULL ? output->name : NULL;
}

static const char *
compared_model_find_file_value (VnComparedModel  *self,
                                const VnNode     *node,
                                const VnIdentity *identity)
{
  const char *value = compared_model_find_source_value (self, node, identity, self->match);
  const char *other = value != NULL ? g_hash_table_lookup (vn_node_match_get_values (self->match), value) : NULL;

  if (other != NULL)
    return other;
  return value != NULL && g_hash_table_contains (self->shown->graph->by_name, value) ? value : NULL;
}

/**
 * vn_compared_model_find_tensor:
 * @beside: what it is compared with
 * @float_node: a node of the float network
 * @source: (out caller-allocates): where the result of the node is in this network; lives as long as both
 *
 * Returns: %FALSE: it has nothing that stands for the result, or its network is gone
 */
gboolean
vn_compared_model_find_tensor (VnComparedModel *self,
                               VnComparedModel *beside,
                               guint            float_node,
                               VnTensorSource  *source)
{
  const VnNode *node;
  const VnIdentity *identity;

  g_return_val_if_fail (self != NULL && beside != NULL && source != NULL && float_node < self->float_model->graph->nodes->len,
                        FALSE);

  node = compared_model_get_float (self, float_node);
  identity = compared_model_find_identity (self, beside, node);
  *source = (VnTensorSource) { 0 };
  if (self->result != NULL)
    *source = (VnTensorSource) { .network = self->result->quantized, .value = identity != NULL ? identity->quantized : NULL,
                                 .plan = self->result->plan, .plan_value = identity != NULL ? identity->rounded : NULL };
  else if (self->match != NULL)
    *source = (VnTensorSource) { .network = self->shown, .value = compared_model_find_file_value (self, node, identity) };
  else if (beside->result != NULL && beside->result->prepared != NULL)   /* as it was measured: what was prepared before */
    *source = (VnTensorSource) { .network = beside->result->prepared, .value = identity != NULL ? identity->rounded : NULL };
  else
    *source = (VnTensorSource) { .network = self->float_model,
                                 .value = compared_model_find_source_value (self, node, NULL, beside->match) };
  /* of a clamp that another tool took in there is nothing to see before it */
  if (beside->match != NULL && self->match == NULL && source->value != NULL &&
      compared_model_find_file_value (beside, node, identity) == NULL)
    return FALSE;
  return source->network != NULL && source->value != NULL;
}

/* The first constant of floats with several elements that a node computes with, behind its first input. */
static const char *
compared_model_find_constant (const VnNode *node)
{
  for (guint i = 0; node != NULL && i < node->inputs->len; i++)
    {
      const VnValue *value = vn_node_get_input (node, i);
      const VnTensor *tensor = value != NULL ? vn_value_get_constant (value) : NULL;

      if (tensor != NULL && vn_dtype_is_float (tensor->dtype) && tensor->n_elements > 1)
        return value->name;
    }
  return NULL;
}

/**
 * vn_compared_model_find_weight:
 * @source: (out caller-allocates): where the weight of the node is in this network; lives as long as both
 *
 * As vn_compared_model_find_tensor().
 */
gboolean
vn_compared_model_find_weight (VnComparedModel *self,
                               VnComparedModel *beside,
                               guint            float_node,
                               VnTensorSource  *source)
{
  const VnNode *node;
  const VnIdentity *identity;
  VnRun *result;
  VnModel *reference;

  g_return_val_if_fail (self != NULL && beside != NULL && source != NULL && float_node < self->float_model->graph->nodes->len,
                        FALSE);

  node = compared_model_get_float (self, float_node);
  identity = compared_model_find_identity (self, beside, node);
  result = self->result != NULL ? self->result : beside->result;
  reference = self->float_model;
  if (result != NULL && result->prepared != NULL && identity != NULL && identity->prepared != NULL && self->match == NULL &&
      beside->match == NULL)
    {
      const VnValue *value = g_hash_table_lookup (result->prepared->graph->by_name, identity->prepared);

      reference = result->prepared;
      node = value != NULL ? value->producer : NULL;
    }
  *source = (VnTensorSource) { .value = compared_model_find_constant (node), .reference = reference };
  if (self->result != NULL)
    source->network = self->result->quantized;
  else
    source->network = self->match != NULL ? self->shown : reference;
  return source->network != NULL && source->value != NULL;
}

/* ---- two of them ---- */

static gboolean
compared_model_equal_plans (const VnTensorPlan *a,
                            const VnTensorPlan *b)
{
  gboolean quantized_a = a != NULL && a->quantized, quantized_b = b != NULL && b->quantized;

  return quantized_a == quantized_b && (!quantized_a || a->dtype == b->dtype);
}

/* The same nodes; where precision differs they are changed. */
static VnNodeMatch *
compared_model_match_results (VnComparedModel *self,
                              VnComparedModel *other)
{
  GPtrArray *nodes = self->shown->graph->nodes;
  VnNodeMatch *match = vn_node_match_new_same (nodes->len);

  for (guint i = 0; self->result != NULL && other->result != NULL && i < nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (nodes, i);

      if (!compared_model_equal_plans (vn_run_get_node_plan (self->result, node), vn_run_get_node_plan (other->result, node)))
        vn_node_match_set_state (match, i, VN_MATCH_CHANGED);
    }
  return match;
}

/**
 * vn_compared_model_match:
 *
 * Takes time by the number of nodes, if the models that are shown are two.
 *
 * Returns: (transfer full): which nodes of the two models that are shown belong together
 */
VnNodeMatch *
vn_compared_model_match (VnComparedModel *self,
                         VnComparedModel *other)
{
  g_return_val_if_fail (self != NULL && other != NULL, NULL);

  if (self->shown == other->shown)
    return compared_model_match_results (self, other);
  if (self->shown == other->float_model && other->match != NULL)
    return vn_node_match_ref (other->match);
  return vn_node_match_new (self->shown, other->shown);
}

/* ---- figures ---- */

/**
 * vn_compared_model_get_figures:
 * @figures: (out caller-allocates): of the float network: it agrees with itself
 */
void
vn_compared_model_get_figures (VnComparedModel *self,
                               VnRunFigures    *figures)
{
  VnRun file = { 0 };

  g_return_if_fail (self != NULL && figures != NULL);

  file.quantized_bytes = self->shown->file_size;
  file.errors = self->errors;
  file.forecast = g_atomic_pointer_get (&self->forecast);
  vn_run_figures_init (figures, self->result != NULL ? self->result : &file);
  if (!vn_compared_model_is_float (self))
    return;
  figures->outputs_db = INFINITY;
  figures->agreement = figures->runtime.ratio = 1;
  figures->runtime.integer_share = 0;
}
