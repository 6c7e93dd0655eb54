/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Tensors that take the scale of a neighbour so that nothing has to be computed between them: what AMD's tools do for
 * float scales with AlignConcat, AlignPool, AlignPad and AlignSlice, and PPQ with “align to output” and “align to large”.
 *
 *   Concat, Pad                          what is read takes the parameters of the result
 *   AveragePool, GlobalAveragePool, Slice  the result takes those of what is read
 *   Add, Sub, Sum                        all that is read takes those with the largest scale
 *
 * Tensors that have parameters in common already move together. Where two nodes pull at one of them, the larger scale
 * wins, as a scale too small would cut values off. */

#include "vn-resolver.h"

#include "vn-i18n.h"

typedef enum { TO_OUTPUT, TO_INPUT, TO_LARGEST } Direction;

static const struct
{
  const char *type;
  Direction   direction;
  gsize       setting;     /* offset of a gboolean in VnRecipe */
} alignments[] = {
  { "Concat",            TO_OUTPUT,  G_STRUCT_OFFSET (VnRecipe, align_concat) },
  { "Pad",               TO_OUTPUT,  G_STRUCT_OFFSET (VnRecipe, align_pad) },
  { "AveragePool",       TO_INPUT,   G_STRUCT_OFFSET (VnRecipe, align_pool) },
  { "GlobalAveragePool", TO_INPUT,   G_STRUCT_OFFSET (VnRecipe, align_pool) },
  { "Slice",             TO_INPUT,   G_STRUCT_OFFSET (VnRecipe, align_slice) },
  { "Add",               TO_LARGEST, G_STRUCT_OFFSET (VnRecipe, align_eltwise) },
  { "Sub",               TO_LARGEST, G_STRUCT_OFFSET (VnRecipe, align_eltwise) },
  { "Sum",               TO_LARGEST, G_STRUCT_OFFSET (VnRecipe, align_eltwise) },
};

/* The row whose parameters @value has; NULL if it has none that could be changed. */
static VnQuantRow *
resolve_align_find_owner (VnResolver    *self,
                          VnQuantPlan   *plan,
                          const VnValue *value)
{
  VnQuantRow *row = value != NULL && value->graph == self->graph ? vn_quant_plan_find_row (plan, value->name) : NULL;

  if (row == NULL || !row->tensor.quantized || row->shares_converted || row->converted != NULL)
    return NULL;
  if (row->tensor.shares != NULL)
    row = vn_quant_plan_find_row (plan, row->tensor.shares);
  if (row->tensor.axis >= 0 || row->tensor.role == VN_TENSOR_BIAS || row->converted != NULL ||
      vn_resolver_get_annotation (self, vn_graph_find_value ((VnGraph *) self->graph, row->tensor.name))->as_weight)
    return NULL;
  return row;
}

/* What is zero all over has a scale of 1 that says nothing: any other will do. */
static float
resolve_align_scale_of (const VnQuantRow *row)
{
  return row->tensor.min == 0 && row->tensor.max == 0 ? 0 : *(const float *) row->tensor.scale->data;
}

static gboolean
resolve_align_is_shared_by_others (VnQuantPlan      *plan,
                                   const VnQuantRow *owner)
{
  for (guint i = 0; i < plan->rows->len; i++)
    if (g_strcmp0 (((const VnQuantRow *) g_ptr_array_index (plan->rows, i))->tensor.shares, owner->tensor.name) == 0)
      return TRUE;
  return FALSE;
}

/* @loser and all that shares with it get what @winner has. */
static void
resolve_align_join (VnQuantPlan      *plan,
                    VnQuantRow       *loser,
                    const VnQuantRow *winner,
                    const VnNode     *node)
{
  for (guint i = 0; i < plan->rows->len; i++)
    {
      VnQuantRow *row = g_ptr_array_index (plan->rows, i);

      if (row != loser && (row->shares_converted || g_strcmp0 (row->tensor.shares, loser->tensor.name) != 0))
        continue;
      vn_quant_row_take (row, winner, winner->tensor.name);
      g_free (row->tensor.rule);
      row->tensor.rule = g_strdup_printf (_("aligned with “%s” by %s"), winner->tensor.name, node->op_type);
    }
}

static void
align_pair (VnQuantPlan  *plan,
            VnQuantRow   *follower,
            VnQuantRow   *leader,
            const VnNode *node)
{
  if (follower == NULL || leader == NULL || follower == leader || follower->tensor.dtype != leader->tensor.dtype)
    return;
  if (resolve_align_is_shared_by_others (plan, follower) && resolve_align_scale_of (follower) > resolve_align_scale_of (leader))
    resolve_align_join (plan, leader, follower, node);
  else
    resolve_align_join (plan, follower, leader, node);
}

static void
align_to_largest (VnResolver   *self,
                  VnQuantPlan  *plan,
                  const VnNode *node)
{
  VnQuantRow *largest = NULL;

  for (guint i = 0; i < node->inputs->len; i++)
    {
      VnQuantRow *row = resolve_align_find_owner (self, plan, vn_node_get_input (node, i));

      if (row != NULL && (largest == NULL || resolve_align_scale_of (row) > resolve_align_scale_of (largest)))
        largest = row;
    }
  for (guint i = 0; i < node->inputs->len && largest != NULL; i++)
    {
      VnQuantRow *row = resolve_align_find_owner (self, plan, vn_node_get_input (node, i));

      if (row != NULL && row != largest && row->tensor.dtype == largest->tensor.dtype)
        resolve_align_join (plan, row, largest, node);
    }
}

static void
align_node (VnResolver   *self,
            VnQuantPlan  *plan,
            const VnNode *node,
            Direction     direction)
{
  guint n = g_str_equal (node->op_type, "Concat") ? node->inputs->len : 1;

  if (direction == TO_LARGEST)
    {
      align_to_largest (self, plan, node);
      return;
    }
  for (guint i = 0; i < MIN (n, node->inputs->len); i++)
    {
      /* looked up each time: the one before may have moved the result */
      VnQuantRow *input = resolve_align_find_owner (self, plan, vn_node_get_input (node, i));
      VnQuantRow *output = resolve_align_find_owner (self, plan, vn_node_get_output (node, 0));

      if (direction == TO_OUTPUT)
        align_pair (plan, input, output, node);
      else
        align_pair (plan, output, input, node);
    }
}

/*< private >
 * vn_resolver_align:
 *
 * When all rows but those of biases are filled.
 */
void
vn_resolver_align (VnResolver  *self,
                   VnQuantPlan *plan)
{
  g_return_if_fail (self != NULL);

  for (guint i = 0; i < self->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (self->nodes, i);

      if (!self->quant_nodes[node->index].selected)
        continue;
      for (guint k = 0; k < G_N_ELEMENTS (alignments); k++)
        if (G_STRUCT_MEMBER (gboolean, self->recipe, alignments[k].setting) && g_str_equal (alignments[k].type, node->op_type))
          align_node (self, plan, node, alignments[k].direction);
    }
}
