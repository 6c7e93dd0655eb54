/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A tensor as the inspector looks at it: its names, plan and histogram, and changes of what the recipe says of it. */
#include "inspector-tensor.h"

#include "vn-i18n.h"

static VnNodeItem *
inspector_tensor_find_producer (VnDocument *document,
                                const char *value_name)
{
  VnModel *model = vn_bench_get_model (VN_BENCH (document));
  const VnValue *value = model != NULL ? vn_graph_find_value (model->graph, value_name) : NULL;

  if (value == NULL || value->producer == NULL || vn_node_get_output (value->producer, 0) != value)
    return NULL;
  return g_list_model_get_item (vn_document_get_nodes (document), value->producer->index);
}

static VnInspectedTensor *
inspector_tensor_new (VnDocument *document,
                      const char *source,
                      VnNodeItem *item)
{
  VnInspectedTensor *self = g_new0 (VnInspectedTensor, 1);
  VnRun *result = vn_bench_get_shown (VN_BENCH (document));

  self->source = g_strdup (source);
  self->item = item != NULL ? g_object_ref (item) : NULL;
  self->result = result != NULL ? vn_run_ref (result) : NULL;
  return self;
}

/* Before the first run rules are about the names of the opened network. */
static void
inspector_tensor_find_plan (VnInspectedTensor *self,
                            const char        *name)
{
  if (self->result != NULL && self->result->plan != NULL && self->plan == NULL)
    self->plan = vn_quant_plan_find (self->result->plan, name);
  if (self->result != NULL && self->result->stats != NULL && self->histogram == NULL)
    self->histogram = vn_stats_get (self->result->stats, name);
  self->role = self->plan != NULL ? self->plan->role : self->role;
  self->name = g_strdup (self->plan != NULL ? self->plan->name : name);
}

/**
 * vn_inspected_tensor_new_for_node:
 *
 * Returns: (transfer full) (nullable): the first output of a node
 */
VnInspectedTensor *
vn_inspected_tensor_new_for_node (VnDocument *document,
                                  VnNodeItem *item)
{
  const VnValue *output;
  const VnIdentity *identity;
  VnInspectedTensor *self;

  g_return_val_if_fail (VN_IS_DOCUMENT (document) && VN_IS_NODE_ITEM (item), NULL);

  output = item->node->outputs->len > 0 ? vn_node_get_output (item->node, 0) : NULL;
  if (output == NULL)
    return NULL;
  self = inspector_tensor_new (document, output->name, item);
  identity = self->result != NULL && self->result->prepared != NULL
             ? vn_identity_map_get (vn_run_get_identity (self->result), item->node) : NULL;
  if (self->result != NULL)
    {
      self->plan = vn_run_get_node_plan (self->result, item->node);
      self->histogram = vn_run_get_node_histogram (self->result, item->node);
    }
  inspector_tensor_find_plan (self, identity != NULL && identity->rounded != NULL ? identity->rounded : output->name);
  return self;
}

/**
 * vn_inspected_tensor_new_for_value:
 * @name: of a value of the opened network
 *
 * Returns: (transfer full) (nullable): that tensor
 */
VnInspectedTensor *
vn_inspected_tensor_new_for_value (VnDocument *document,
                                   const char *name)
{
  g_autoptr(VnNodeItem) producer = NULL;
  VnInspectedTensor *self;

  g_return_val_if_fail (VN_IS_DOCUMENT (document) && name != NULL, NULL);

  if (vn_bench_get_model (VN_BENCH (document)) == NULL ||
      vn_graph_find_value (vn_bench_get_model (VN_BENCH (document))->graph, name) == NULL)
    return NULL;
  producer = inspector_tensor_find_producer (document, name);
  if (producer != NULL)
    return vn_inspected_tensor_new_for_node (document, producer);
  self = inspector_tensor_new (document, name, NULL);
  inspector_tensor_find_plan (self, name);
  return self;
}

static const char *
inspector_tensor_find_constant (VnInspectedTensor *self,
                                const VnNode      *node,
                                VnTensorRole       role)
{
  for (guint i = 0; i < node->inputs->len; i++)
    {
      const VnValue *input = vn_node_get_input (node, i);
      const VnTensorPlan *plan = input != NULL && vn_value_get_constant (input) != NULL
                                 ? vn_quant_plan_find (self->result->plan, input->name) : NULL;

      if (plan != NULL && plan->role == role)
        return input->name;
    }
  return NULL;
}

/**
 * vn_inspected_tensor_new_for_constant:
 * @item: a node
 * @role: %VN_TENSOR_WEIGHT or %VN_TENSOR_BIAS
 *
 * Returns: (transfer full) (nullable): its weight, or its bias, as the result tells of them
 */
VnInspectedTensor *
vn_inspected_tensor_new_for_constant (VnDocument   *document,
                                      VnNodeItem   *item,
                                      VnTensorRole  role)
{
  VnRun *result;
  const VnIdentity *identity;
  const VnValue *value;
  const char *name;
  VnInspectedTensor *self;

  g_return_val_if_fail (VN_IS_DOCUMENT (document) && VN_IS_NODE_ITEM (item), NULL);

  result = vn_bench_get_shown (VN_BENCH (document));
  if (result == NULL || result->plan == NULL || result->prepared == NULL)
    return NULL;
  identity = vn_identity_map_get (vn_run_get_identity (result), item->node);
  value = identity != NULL && identity->prepared != NULL
          ? vn_graph_find_value (result->prepared->graph, identity->prepared) : NULL;
  if (value == NULL || value->producer == NULL)
    return NULL;
  self = inspector_tensor_new (document, "", item);
  name = inspector_tensor_find_constant (self, value->producer, role);
  if (name == NULL)
    {
      vn_inspected_tensor_free (self);
      return NULL;
    }
  inspector_tensor_find_plan (self, name);
  return self;
}

VnInspectedTensor *
vn_inspected_tensor_copy (const VnInspectedTensor *self)
{
  VnInspectedTensor *copy;

  g_return_val_if_fail (self != NULL, NULL);

  copy = g_memdup2 (self, sizeof *self);
  copy->source = g_strdup (self->source);
  copy->name = g_strdup (self->name);
  copy->item = self->item != NULL ? g_object_ref (self->item) : NULL;
  copy->result = self->result != NULL ? vn_run_ref (self->result) : NULL;
  return copy;
}

void
vn_inspected_tensor_free (VnInspectedTensor *self)
{
  if (self == NULL)
    return;

  g_free (self->source);
  g_free (self->name);
  g_clear_object (&self->item);
  g_clear_pointer (&self->result, vn_run_unref);
  g_free (self);
}

/**
 * vn_inspected_tensor_can_range:
 *
 * Returns: whether it has a range of its own that can be changed
 */
gboolean
vn_inspected_tensor_can_range (VnInspectedTensor *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return self->plan != NULL && self->plan->quantized && self->plan->role == VN_TENSOR_ACTIVATION && self->plan->shares == NULL &&
         vn_dtype_is_integer (self->plan->dtype);
}

/**
 * vn_inspected_tensor_get_range:
 * @self: with a range
 * @is_given: (out): a rule gives it
 *
 * Returns: the range that holds, also while what a rule gives was not measured yet
 */
VnRange
vn_inspected_tensor_get_range (VnInspectedTensor *self,
                               VnDocument        *document,
                               gboolean          *is_given)
{
  const VnOverride *rule;
  VnRange range = { 0 };

  g_return_val_if_fail (self != NULL && self->plan != NULL && is_given != NULL, range);

  rule = vn_bench_find_tensor_rule (VN_BENCH (document), self->name);
  range = (VnRange) { self->plan->min, self->plan->max };
  *is_given = rule != NULL && (rule->min != NULL || rule->max != NULL);
  if (rule != NULL && rule->min != NULL)
    range.min = g_ascii_strtod (rule->min[0], NULL);
  if (rule != NULL && rule->max != NULL)
    range.max = g_ascii_strtod (rule->max[0], NULL);
  return range;
}

/* ---- changes ---- */

typedef enum { CHANGE_RANGE, CHANGE_METHOD, CHANGE_TYPE, CHANGE_NODE } ChangeKind;

typedef struct
{
  ChangeKind      kind;
  VnDocument     *document;
  VnModel        *model;        /* that it is about */
  char           *tensor;
  gboolean        has_range;
  VnRange         range;
  char           *method;       /* nullable */
  VnTensorRole    role;
  VnDType         dtype;
  guint           node;
  VnNodePrecision precision;
} Change;

static void
inspector_tensor_free_change (gpointer data)
{
  Change *self = data;

  g_object_unref (self->document);
  vn_model_unref (self->model);
  g_free (self->tensor);
  g_free (self->method);
  g_free (self);
}

static gboolean
inspector_tensor_apply (const Change  *self,
                        GError       **error)
{
  g_autoptr(GtkBitset) nodes = NULL;

  switch (self->kind)
    {
    case CHANGE_RANGE:
      return vn_bench_set_tensor_range (VN_BENCH (self->document), self->tensor, self->has_range ? &self->range : NULL, error);
    case CHANGE_METHOD:
      return vn_bench_set_tensor_method (VN_BENCH (self->document), self->tensor, self->method, error);
    case CHANGE_TYPE:
      return vn_bench_set_tensor_type (VN_BENCH (self->document), self->tensor, self->role, self->dtype, error);
    case CHANGE_NODE:
      nodes = gtk_bitset_new_range (self->node, 1);
      vn_document_set_precision (self->document, nodes, self->precision);
      return TRUE;
    }
  return TRUE;
}

static gboolean
inspector_tensor_make_change (gpointer data)
{
  Change *self = data;
  g_autoptr(GError) error = NULL;

  if (vn_bench_get_model (VN_BENCH (self->document)) == self->model && !inspector_tensor_apply (self, &error))
    {
      vn_bench_report (VN_BENCH (self->document), error->message);
      g_signal_emit_by_name (self->document, "changed::recipe");   /* rows show what holds */
    }
  return G_SOURCE_REMOVE;
}

static void
inspector_tensor_queue (VnDocument        *document,
                        VnInspectedTensor *tensor,
                        Change             change)
{
  Change *queued = g_new (Change, 1);

  *queued = change;
  queued->document = g_object_ref (document);
  queued->model = vn_model_ref (vn_bench_get_model (VN_BENCH (document)));
  queued->tensor = g_strdup (tensor->name);
  queued->method = g_strdup (change.method);
  g_idle_add_full (G_PRIORITY_DEFAULT, inspector_tensor_make_change, queued, inspector_tensor_free_change);
}

/**
 * vn_inspected_tensor_set_range:
 * @range: (nullable): from now on; %NULL: what its method says
 */
void
vn_inspected_tensor_set_range (VnInspectedTensor *self,
                               VnDocument        *document,
                               const VnRange     *range)
{
  g_return_if_fail (self != NULL && VN_IS_DOCUMENT (document));

  inspector_tensor_queue (document, self, (Change) { .kind = CHANGE_RANGE, .has_range = range != NULL, .range = range != NULL
                                                     ? *range : (VnRange) { 0 } });
}

/**
 * vn_inspected_tensor_set_method:
 * @method: (nullable): id of a range method; %NULL: that of the target
 */
void
vn_inspected_tensor_set_method (VnInspectedTensor *self,
                                VnDocument        *document,
                                const char        *method)
{
  g_return_if_fail (self != NULL && VN_IS_DOCUMENT (document));

  inspector_tensor_queue (document, self, (Change) { .kind = CHANGE_METHOD, .method = (char *) method });
}

/**
 * vn_inspected_tensor_set_bits:
 * @bits: 4, 8 or 16; %VN_BITS_FLOAT; %VN_BITS_OF_TARGET
 */
void
vn_inspected_tensor_set_bits (VnInspectedTensor *self,
                              VnDocument        *document,
                              guint              bits)
{
  const VnRecipe *recipe;
  gboolean is_signed;
  Change change = { .kind = CHANGE_TYPE };
  VnDType target;

  g_return_if_fail (self != NULL && VN_IS_DOCUMENT (document));

  recipe = vn_bench_get_recipe (VN_BENCH (document));
  if (self->role == VN_TENSOR_ACTIVATION && self->item != NULL && bits != 4)
    {
      change.kind = CHANGE_NODE;
      change.node = self->item->index;
      change.precision = bits == 8 ? VN_NODE_8_BIT : bits == 16 ? VN_NODE_16_BIT : bits == VN_BITS_FLOAT
                         ? VN_NODE_FLOAT : VN_NODE_AS_RECIPE;
      inspector_tensor_queue (document, self, change);
      return;
    }
  target = self->role == VN_TENSOR_ACTIVATION ? recipe->activation : recipe->weight;
  is_signed = !vn_dtype_is_integer (target) || vn_dtype_is_signed (target);
  change.role = self->role;
  change.dtype = bits == 4 ? (is_signed ? VN_DTYPE_S4 : VN_DTYPE_U4) : bits == 8 ? (is_signed ? VN_DTYPE_S8 : VN_DTYPE_U8)
                 : bits == 16 ? (is_signed ? VN_DTYPE_S16 : VN_DTYPE_U16) : bits == VN_BITS_FLOAT
                 ? VN_DTYPE_F32 : VN_DTYPE_UNDEFINED;
  inspector_tensor_queue (document, self, change);
}

typedef struct
{
  VnDocument *document;
  char       *tensor;      /* nullable */
  guint       node;
} Aim;

static void
inspector_tensor_free_aim (gpointer data)
{
  Aim *self = data;

  g_object_unref (self->document);
  g_free (self->tensor);
  g_free (self);
}

static gboolean
inspector_tensor_select (gpointer data)
{
  const Aim *self = data;

  if (self->tensor != NULL)
    vn_document_select_tensor (self->document, self->tensor);
  else
    vn_document_select_one (self->document, self->node);
  return G_SOURCE_REMOVE;
}

/**
 * vn_inspector_select_later:
 * @tensor: (nullable): a value of the opened network; %NULL: @node
 *
 * Selects it when the row that was activated has done its work: it will be gone then.
 */
void
vn_inspector_select_later (VnDocument *document,
                           const char *tensor,
                           guint       node)
{
  Aim *aim = g_new (Aim, 1);

  g_return_if_fail (VN_IS_DOCUMENT (document));

  *aim = (Aim) { g_object_ref (document), g_strdup (tensor), node };
  g_idle_add_full (G_PRIORITY_DEFAULT, inspector_tensor_select, aim, inspector_tensor_free_aim);
}

/**
 * vn_inspector_dup_prospect:
 *
 * Returns: (transfer full): when one will see what a change of the recipe does
 */
char *
vn_inspector_dup_prospect (VnDocument *document)
{
  const char *refusal;

  g_return_val_if_fail (VN_IS_DOCUMENT (document), NULL);

  if (vn_bench_get_shown (VN_BENCH (document)) == NULL)
    return g_strdup (_("A change creates a rule and takes effect at the next quantization."));
  switch (vn_bench_get_expecting (VN_BENCH (document)))
    {
    case VN_EXPECTING_SOON:
      return g_strdup (_("Measuring the effect of the change …"));
    case VN_EXPECTING_SHOWN:
      return g_strdup (_("The estimated effect of the change is shown; a full run confirms it."));
    case VN_EXPECTING_REFUSED:
      refusal = vn_bench_get_refusal (VN_BENCH (document));
      return g_strdup_printf (_("A full run is needed to see the effect of the change: %s"), refusal != NULL ? refusal : "");
    case VN_EXPECTING_PAST:
    case VN_EXPECTING_AROUND:
    case VN_EXPECTING_NOTHING:
      break;
    }
  return g_strdup (_("A change creates a rule; its effect is measured at once."));
}
