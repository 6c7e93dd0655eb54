/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Matrices that operators of ONNX Runtime have in blocks: of products, tables of embeddings, heads, whose products are outputs.
 * A language model often has one matrix for table and head, which the head multiplies by transposed: preparing makes another
 * constant of that, and what is stored in blocks of rows of the one is what is stored in blocks of columns of the other. */

#include "vn-resolver.h"

#include "vn-moe.h"
#include "vn-pass.h"

/* Numbers of 2 bits that fill a byte: rows of other lengths have none to themselves. */
#define ROW_STEP 4

/* Nodes between a product and the output that it becomes. */
#define MOST_BEHIND 8

/* MatMulNBits knows matrices; ones in front of them vanish in broadcasting if the data has as many axes. */
static gboolean
tables_is_matrix (const VnNode  *node,
                           const VnShape *weight)
{
  const VnValue *data = vn_node_get_input (node, 0);

  for (int i = 0; i + 2 < weight->rank; i++)
    {
      if (weight->dims[i] != 1)
        return FALSE;
    }
  return weight->rank == 2 || (data != NULL && data->type.shape.rank >= weight->rank);
}

/*< private >
 * vn_quant_has_nbits:
 *
 * Returns: whether @node multiplies by a constant matrix and nothing else, so that MatMulNBits (and Add) can do it
 */
gboolean
vn_quant_has_nbits (const VnNode *node)
{
  const VnValue *weight, *data;

  g_return_val_if_fail (node != NULL, FALSE);

  weight = vn_node_get_input (node, 1);
  data = vn_node_get_input (node, 0);
  if (!(vn_node_is (node, "MatMul") || vn_node_is (node, "Gemm")) || data == NULL || weight == NULL ||
      weight->initializer == NULL || weight->initializer->shape.rank < 2 || weight->initializer->n_elements == 0 ||
      data->type.shape.rank == 0)
    return FALSE;
  if (vn_node_is (node, "MatMul"))
    return data->type.shape.rank != 1 && tables_is_matrix (node, &weight->initializer->shape);
  return vn_node_get_int (node, "transA", 0) == 0 && vn_node_get_float (node, "alpha", 1) == 1 &&
         (vn_node_get_input (node, 2) == NULL || vn_node_get_float (node, "beta", 1) == 1);
}

/*< private >
 * vn_quant_has_table:
 *
 * Returns: whether @node gathers rows of a constant matrix, so that GatherBlockQuantized can do it
 */
gboolean
vn_quant_has_table (const VnNode *node)
{
  const VnValue *table;
  const VnShape *shape;

  g_return_val_if_fail (node != NULL, FALSE);

  table = vn_node_is (node, "Gather") ? vn_node_get_input (node, 0) : NULL;
  if (table == NULL || table->initializer == NULL || table->initializer->dtype != VN_DTYPE_F32)
    return FALSE;
  shape = &table->initializer->shape;
  return vn_node_get_int (node, "axis", 0) == 0 && shape->rank == 2 && shape->dims[0] > 0 && shape->dims[1] > 0 &&
         shape->dims[1] % ROW_STEP == 0 && vn_node_get_input (node, 1) != NULL;
}

/* Whether nothing but moving, scaling or turning into probabilities comes between. */
static gboolean
tables_is_plain (const VnNode *node)
{
  static const char * const plain[] = {
    "Add", "Cast", "Div", "Flatten", "Identity", "LogSoftmax", "Mul", "Reshape", "Slice", "Softmax", "Squeeze", "Tanh",
    "Transpose", "Unsqueeze", NULL
  };

  return *node->domain == '\0' && g_strv_contains (plain, node->op_type);
}

/*< private >
 * vn_quant_is_head:
 *
 * Returns: whether @node multiplies by a constant matrix, and what comes out of it is an output of the network
 */
gboolean
vn_quant_is_head (const VnNode *node)
{
  const VnValue *value;

  g_return_val_if_fail (node != NULL, FALSE);

  if (!vn_quant_has_nbits (node))
    return FALSE;
  value = vn_node_get_output (node, 0);
  for (guint i = 0; value != NULL && i <= MOST_BEHIND; i++)
    {
      const VnNode *next = value->uses->len == 1 ? g_array_index (value->uses, VnUse, 0).node : NULL;

      if (value->is_output)
        return TRUE;
      if (next == NULL || next->graph != node->graph || !tables_is_plain (next))
        return FALSE;
      value = vn_node_get_output (next, 0);
    }
  return FALSE;
}

/* The first that moves @value on, or adds to it. %NULL: @chooses says whether experts are chosen by it instead */
static const VnValue *
tables_follow_choice (const VnValue *value,
                      gboolean      *chooses)
{
  const VnValue *next = NULL;

  *chooses = FALSE;
  for (guint i = 0; value != NULL && i < value->uses->len && !*chooses; i++)
    {
      const VnUse *use = &g_array_index (value->uses, VnUse, i);

      *chooses = use->index == 1 && vn_moe_find_inputs (use->node) != NULL;
      if (next == NULL && tables_is_plain (use->node))
        next = vn_node_get_output (use->node, 0);
    }
  return *chooses ? NULL : next;
}

/*< private >
 * vn_quant_is_router:
 *
 * Returns: whether @node multiplies by a constant matrix, and what comes out of it chooses experts
 */
gboolean
vn_quant_is_router (const VnNode *node)
{
  const VnValue *value;
  gboolean chooses = FALSE;

  g_return_val_if_fail (node != NULL, FALSE);

  value = vn_quant_has_nbits (node) ? vn_node_get_output (node, 0) : NULL;
  for (guint i = 0; value != NULL && i < MOST_BEHIND; i++)
    value = tables_follow_choice (value, &chooses);
  return chooses;
}

/* ---- one matrix for both ---- */

/* Blocks of whole rows of bytes only: a last block that is filled up takes more room in a matrix. */
static gboolean
tables_may_share (const VnQuantRow *table,
                  gint64            columns,
                  const VnQuantRow *matrix)
{
  return matrix != NULL && matrix->tensor.quantized && matrix->tensor.dtype == table->tensor.dtype &&
         matrix->block == table->block && matrix->exact_levels == table->exact_levels &&
         matrix->has_zero_points == table->has_zero_points &&
         matrix->tensor.zero_point->dtype == table->tensor.zero_point->dtype && matrix->tensor.axis == 0 &&
         columns % table->block == 0;
}

static void
tables_tie (VnResolver  *self,
            VnQuantPlan *plan,
            VnValue     *table)
{
  VnQuantRow *row = vn_quant_plan_find_row (plan, table->name);
  const gint64 columns = table->initializer->shape.dims[1];

  if (row == NULL || !row->tensor.quantized || row->block == 0)
    return;
  for (guint i = 0; i < self->graph->nodes->len && row->tied == NULL; i++)
    {
      const VnNode *node = g_ptr_array_index (self->graph->nodes, i);
      const VnValue *matrix = !plan->excluded[i] && vn_quant_has_nbits (node) ? vn_node_get_input (node, 1) : NULL;

      if (matrix != NULL && tables_may_share (row, columns, vn_quant_plan_find_row (plan, matrix->name)) &&
          matrix->initializer->shape.rank == 2 && vn_matrices_are_transposed (table->initializer, matrix->initializer))
        row->tied = g_strdup (matrix->name);
    }
}

/*< private >
 * vn_resolver_tie_tables:
 * @plan: its rows are filled, and what is excluded is known
 *
 * Finds for each table the matrix that is the same, transposed, and is stored alike.
 */
void
vn_resolver_tie_tables (VnResolver  *self,
                        VnQuantPlan *plan)
{
  g_return_if_fail (self != NULL && plan != NULL);

  for (guint i = 0; self->scheme.write.packed_tables && i < self->graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (self->graph->nodes, i);

      if (!plan->excluded[i] && vn_quant_has_table (node))
        tables_tie (self, plan, vn_node_get_input (node, 0));
    }
}
