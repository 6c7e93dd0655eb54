/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The resolved plan: a table of rows. */

#include "vn-resolver.h"

static void
quant_plan_row_free (gpointer data)
{
  VnQuantRow *row = data;

  g_free (row->tensor.name);
  g_clear_pointer (&row->tensor.scale, vn_tensor_unref);
  g_clear_pointer (&row->tensor.zero_point, vn_tensor_unref);
  g_clear_pointer (&row->tensor.factors, vn_tensor_unref);
  g_clear_pointer (&row->stored_scale, vn_tensor_unref);
  g_clear_pointer (&row->block_factors, vn_tensor_unref);
  g_clear_pointer (&row->channel_scale, vn_tensor_unref);
  g_free (row->tensor.method);
  g_free (row->tensor.shares);
  g_free (row->tensor.rule);
  g_free (row->source);
  g_free (row->tied);
  g_free (row->receives);
  g_clear_pointer (&row->converted, quant_plan_row_free);
  g_free (row);
}

static void
quant_plan_npu_move_free (gpointer data)
{
  g_free (((VnNpuMove *) data)->tensor);
  g_free (data);
}

static void
quant_plan_npu_node_free (gpointer data)
{
  VnNpuNode *self = data;

  g_free (self->node);
  g_free (self->op_type);
  g_ptr_array_unref (self->moves);
  g_free (self);
}

static void
quant_plan_body_free (gpointer data)
{
  VnQuantBody *self = data;

  g_free (self->attr);
  vn_quant_plan_unref (self->plan);
  g_free (self);
}

/*< private >
 * vn_npu_node_new:
 *
 * Returns: (transfer full): a node of which nothing is known
 */
VnNpuNode *
vn_npu_node_new (const VnNode *node)
{
  g_autofree char *label = NULL;

  g_return_val_if_fail (node != NULL, NULL);

  label = vn_node_dup_label (node);
  return vn_npu_node_new_named (label, node->op_type);
}

/*< private >
 * vn_npu_node_new_named:
 *
 * Returns: (transfer full): the same of a node that is known by name
 */
VnNpuNode *
vn_npu_node_new_named (const char *label,
                       const char *op_type)
{
  VnNpuNode *self;

  g_return_val_if_fail (label != NULL && op_type != NULL, NULL);

  self = g_new0 (VnNpuNode, 1);
  self->node = g_strdup (label);
  self->op_type = g_strdup (op_type);
  self->inputs[0] = self->inputs[1] = self->weight = self->bias = self->output = VN_NPU_NONE;
  self->cut = self->bias_shift = self->read = self->write = VN_NPU_NONE;
  self->moves = g_ptr_array_new_with_free_func (quant_plan_npu_move_free);
  return self;
}

/*< private >
 * vn_npu_node_add_move:
 * @rule, @reason: static
 */
void
vn_npu_node_add_move (VnNpuNode  *self,
                      const char *tensor,
                      int         from,
                      int         to,
                      const char *rule,
                      const char *reason)
{
  VnNpuMove *move;

  g_return_if_fail (self != NULL);

  move = g_new0 (VnNpuMove, 1);
  *move = (VnNpuMove) { g_strdup (tensor), from, to, rule, reason };
  g_ptr_array_add (self->moves, move);
}

/**
 * vn_quant_plan_get_n_npu_nodes:
 *
 * Returns: how many nodes the processor's limits speak of; 0 without the setting “npu”
 */
guint
vn_quant_plan_get_n_npu_nodes (VnQuantPlan *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->npu_nodes->len;
}

/**
 * vn_quant_plan_get_npu_node:
 *
 * Returns: (transfer none): positions and shifts of one of them, in the order of the network
 */
const VnNpuNode *
vn_quant_plan_get_npu_node (VnQuantPlan *self,
                            guint        i)
{
  g_return_val_if_fail (self != NULL && i < self->npu_nodes->len, NULL);

  return g_ptr_array_index (self->npu_nodes, i);
}

/*< private >
 * vn_quant_plan_new:
 * @n_nodes: of the prepared graph
 */
VnQuantPlan *
vn_quant_plan_new (guint n_nodes)
{
  VnQuantPlan *self = g_new0 (VnQuantPlan, 1);

  g_atomic_ref_count_init (&self->ref);
  self->rows = g_ptr_array_new_with_free_func (quant_plan_row_free);
  self->by_name = g_hash_table_new (g_str_hash, g_str_equal);
  self->nodes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self->clamps = g_array_new (FALSE, FALSE, sizeof (guint));
  self->excluded = g_new0 (gboolean, n_nodes + 1);
  self->selected = g_new0 (gboolean, n_nodes + 1);
  self->n_nodes = n_nodes;
  self->npu_nodes = g_ptr_array_new_with_free_func (quant_plan_npu_node_free);
  self->bodies = g_ptr_array_new_with_free_func (quant_plan_body_free);
  return self;
}

/*< private >
 * vn_quant_row_new:
 *
 * Returns: (transfer full): a row, in float so far
 */
VnQuantRow *
vn_quant_row_new (const char   *name,
                  VnTensorRole  role)
{
  VnQuantRow *row;

  g_return_val_if_fail (name != NULL, NULL);

  row = g_new0 (VnQuantRow, 1);
  row->tensor.name = g_strdup (name);
  row->tensor.role = role;
  row->tensor.dtype = VN_DTYPE_F32;
  row->tensor.axis = -1;
  row->beta = 1;
  return row;
}

/*< private >
 * vn_quant_row_take:
 * @owner: name of the tensor whose parameters @from holds
 *
 * Gives @self the type, range and parameters of @from.
 */
void
vn_quant_row_take (VnQuantRow       *self,
                   const VnQuantRow *from,
                   const char       *owner)
{
  VnTensorPlan *to;
  g_autofree char *method = NULL;

  g_return_if_fail (self != NULL && from != NULL);

  to = &self->tensor;
  method = g_strdup (from->tensor.method);
  g_clear_pointer (&to->scale, vn_tensor_unref);
  g_clear_pointer (&to->zero_point, vn_tensor_unref);
  g_free (to->method);
  g_free (to->shares);
  to->quantized = TRUE;
  to->dtype = from->tensor.dtype;
  to->axis = from->tensor.axis;
  to->scale = vn_tensor_ref (from->tensor.scale);
  to->zero_point = vn_tensor_ref (from->tensor.zero_point);
  to->min = from->tensor.min;
  to->max = from->tensor.max;
  to->method = g_steal_pointer (&method);
  to->shares = g_strdup (owner);
}

/*< private >
 * vn_quant_row_get_stored_scale:
 *
 * Returns: (transfer none): the scale as it is written
 */
VnTensor *
vn_quant_row_get_stored_scale (const VnQuantRow *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->stored_scale != NULL ? self->stored_scale : self->tensor.scale;
}

/*< private >
 * vn_quant_leave_float:
 * @why: for the list of tensors
 *
 * Takes back that a tensor is quantized.
 */
void
vn_quant_leave_float (VnQuantRow *self,
                      const char *why)
{
  g_return_if_fail (self != NULL);

  self->tensor.quantized = FALSE;
  self->tensor.dtype = VN_DTYPE_F32;
  g_free (self->tensor.rule);
  self->tensor.rule = g_strdup (why);
}

/*< private >
 * vn_quant_row_find_scale:
 * @shape: of the tensor
 * @i: number of an element
 *
 * Returns: which of the scales holds for the element
 */
gsize
vn_quant_row_find_scale (const VnQuantRow *self,
                         const VnShape    *shape,
                         gsize             i)
{
  int axis;
  gsize inner, channels, blocks, at;

  g_return_val_if_fail (self != NULL && shape != NULL, 0);

  axis = self->tensor.axis;
  if (self->tensor.scale->n_elements == 1 || axis < 0 || axis >= shape->rank)
    return 0;
  inner = (gsize) vn_shape_count (shape, axis + 1, shape->rank);
  channels = (gsize) shape->dims[axis];
  at = i / inner % channels;
  if (self->block == 0)
    return at;
  blocks = (channels + (gsize) self->block - 1) / (gsize) self->block;
  return (i / inner / channels * blocks + at / (gsize) self->block) * inner + i % inner;
}

/*< private >
 * vn_tensor_plan_get_levels:
 * @lowest, @highest: (out): of its integers, as its scale was made for them
 *
 * Returns: %FALSE if its type has no evenly spaced levels
 */
gboolean
vn_tensor_plan_get_levels (const VnTensorPlan *self,
                           gint64             *lowest,
                           gint64             *highest)
{
  g_return_val_if_fail (self != NULL && lowest != NULL && highest != NULL, FALSE);

  return vn_quant_get_levels (self->dtype, self->even_levels, self->reduce_range, lowest, highest);
}

/*< private >
 * vn_quant_row_has_integers:
 * @self: (nullable): a row
 *
 * Returns: whether the tensor becomes integers with scale and zero point
 */
gboolean
vn_quant_row_has_integers (const VnQuantRow *self)
{
  return self != NULL && self->tensor.quantized && self->tensor.scale != NULL && self->tensor.zero_point != NULL &&
         vn_dtype_is_integer (self->tensor.dtype);
}

/*< private >
 * vn_quant_row_for:
 *
 * Returns: (transfer none): how @node sees the tensor
 */
const VnQuantRow *
vn_quant_row_for (const VnQuantRow *self,
                  const VnNode     *node)
{
  g_return_val_if_fail (self != NULL && node != NULL, NULL);

  return self->converted != NULL && self->receives[node->index] ? self->converted : self;
}

/*< private >
 * vn_quant_plan_add:
 *
 * Returns: (transfer none): a new row, in float so far
 */
VnQuantRow *
vn_quant_plan_add (VnQuantPlan  *self,
                   const char   *name,
                   VnTensorRole  role)
{
  VnQuantRow *row;

  g_return_val_if_fail (self != NULL, NULL);

  row = vn_quant_row_new (name, role);
  g_ptr_array_add (self->rows, row);
  g_hash_table_insert (self->by_name, row->tensor.name, row);
  return row;
}

/*< private >
 * vn_quant_plan_take_body:
 * @node: index of a node
 * @attr: the attribute of it that holds a graph
 * @body: (transfer full): what becomes of that
 */
void
vn_quant_plan_take_body (VnQuantPlan *self,
                         guint        node,
                         const char  *attr,
                         VnQuantPlan *body)
{
  VnQuantBody *entry;

  g_return_if_fail (self != NULL && attr != NULL && body != NULL);

  entry = g_new (VnQuantBody, 1);
  *entry = (VnQuantBody) { node, g_strdup (attr), body };
  g_ptr_array_add (self->bodies, entry);
}

/**
 * vn_quant_plan_find_body:
 * @holder: a node of the graph that @self is of
 * @attr: the attribute of it that holds a graph
 *
 * Returns: (transfer none) (nullable): what becomes of the graph as a network of its own; %NULL: nothing in it is quantized
 */
VnQuantPlan *
vn_quant_plan_find_body (VnQuantPlan  *self,
                         const VnNode *holder,
                         const char   *attr)
{
  g_return_val_if_fail (self != NULL && holder != NULL && attr != NULL, NULL);

  for (guint i = 0; i < self->bodies->len; i++)
    {
      const VnQuantBody *body = g_ptr_array_index (self->bodies, i);

      if (body->node == holder->index && g_str_equal (body->attr, attr))
        return body->plan;
    }
  return NULL;
}

/*< private >
 * vn_quant_plan_has_quantized:
 *
 * Returns: whether anything is quantized, in the graph or inside its nodes
 */
gboolean
vn_quant_plan_has_quantized (VnQuantPlan *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return self->bodies->len > 0 || vn_quant_plan_count_quantized (self) > 0;
}

/*< private >
 * vn_quant_plan_find_row:
 */
VnQuantRow *
vn_quant_plan_find_row (VnQuantPlan *self,
                        const char  *name)
{
  g_return_val_if_fail (self != NULL, NULL);

  return g_hash_table_lookup (self->by_name, name);
}

/**
 * vn_quant_plan_ref:
 *
 * Returns: (transfer full): @self
 */
VnQuantPlan *
vn_quant_plan_ref (VnQuantPlan *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref);
  return self;
}

/**
 * vn_quant_plan_unref:
 * @self: (transfer full): a plan
 */
void
vn_quant_plan_unref (VnQuantPlan *self)
{
  g_return_if_fail (self != NULL);

  if (!g_atomic_ref_count_dec (&self->ref))
    return;

  g_hash_table_unref (self->by_name);
  g_hash_table_unref (self->nodes);
  g_ptr_array_unref (self->rows);
  g_array_unref (self->clamps);
  g_free (self->excluded);
  g_free (self->selected);
  g_free (self->accuracy_levels);
  g_ptr_array_unref (self->npu_nodes);
  g_ptr_array_unref (self->bodies);
  g_free (self);
}

/**
 * vn_quant_plan_get_n:
 *
 * Returns: how many rows: every float tensor of the prepared graph has one, quantized or not, and every copy of a bias
 */
guint
vn_quant_plan_get_n (VnQuantPlan *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->rows->len;
}

/**
 * vn_quant_plan_get:
 * @i: below vn_quant_plan_get_n()
 *
 * Returns: (transfer none): the row: tensors in the order of the graph, then biases
 */
const VnTensorPlan *
vn_quant_plan_get (VnQuantPlan *self,
                   guint        i)
{
  g_return_val_if_fail (self != NULL && i < self->rows->len, NULL);

  return &((const VnQuantRow *) g_ptr_array_index (self->rows, i))->tensor;
}

/**
 * vn_quant_plan_find:
 * @value_name: of a value in the prepared model
 *
 * Returns: (transfer none) (nullable): its row; %NULL for tensors that are not float
 */
const VnTensorPlan *
vn_quant_plan_find (VnQuantPlan *self,
                    const char  *value_name)
{
  const VnQuantRow *row;

  g_return_val_if_fail (self != NULL && value_name != NULL, NULL);

  row = vn_quant_plan_find_row (self, value_name);
  return row != NULL ? &row->tensor : NULL;
}

/**
 * vn_quant_plan_count_quantized:
 *
 * Returns: how many tensors are quantized, those of graphs inside nodes included
 */
guint
vn_quant_plan_count_quantized (VnQuantPlan *self)
{
  guint n = 0;

  g_return_val_if_fail (self != NULL, 0);

  for (guint i = 0; i < self->rows->len; i++)
    n += vn_quant_plan_get (self, i)->quantized != FALSE;
  for (guint i = 0; i < self->bodies->len; i++)
    n += vn_quant_plan_count_quantized (((const VnQuantBody *) g_ptr_array_index (self->bodies, i))->plan);
  return n;
}

/**
 * vn_quant_plan_is_node_quantized:
 * @node_label: what vn_node_dup_label() says of the node
 *
 * Returns: whether the node computes on quantized tensors, or was absorbed by one that does
 */
gboolean
vn_quant_plan_is_node_quantized (VnQuantPlan *self,
                                 const char  *node_label)
{
  g_return_val_if_fail (self != NULL && node_label != NULL, FALSE);

  return g_hash_table_contains (self->nodes, node_label);
}

/**
 * vn_quant_plan_find_clamped:
 * @value: of the prepared network
 *
 * Where a clamp stays, what it reads has the grid of what it gives: that cuts off what the clamp cuts off anyway.
 *
 * Returns: (transfer none) (nullable): what the clamp gives, whose errors are those of @value; %NULL: @value is not quantized so
 */
const VnValue *
vn_quant_plan_find_clamped (VnQuantPlan   *self,
                            const VnValue *value)
{
  const VnTensorPlan *row;
  const VnNode *clamp;
  const VnValue *output;

  g_return_val_if_fail (self != NULL && value != NULL, NULL);

  row = vn_quant_plan_find (self, value->name);
  clamp = value->uses->len == 1 ? g_array_index (value->uses, VnUse, 0).node : NULL;
  output = clamp != NULL && (vn_node_is (clamp, "Relu") || vn_node_is (clamp, "Clip")) ? vn_node_get_output (clamp, 0) : NULL;
  return row != NULL && row->quantized && output != NULL && g_strcmp0 (row->shares, output->name) == 0 ? output : NULL;
}
