/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tensors in front of an output hold its slices, too, as far as nodes only move or join them: from the outputs back. */
#include "vn-find-parts.h"

typedef VnPartition *(*InheritFunc) (const VnPartition *output,
                                     const VnNode      *node,
                                     guint              input);

static VnPartition *
parts_inherit_same (const VnPartition *output,
                    const VnNode      *node,
                    guint              input)
{
  return input == 0 ? vn_partition_new_range (output, output->axis, 0, output->n_slices) : NULL;
}

static VnPartition *
parts_inherit_joined (const VnPartition *output,
                      const VnNode      *node,
                      guint              input)
{
  int rank = vn_node_get_input (node, input)->type.shape.rank;
  gint64 axis = vn_node_get_int (node, "axis", 0), first = 0;

  if (rank <= 0)
    return NULL;
  axis += axis < 0 ? rank : 0;
  if (axis != (gint64) output->axis)
    return vn_partition_new_range (output, output->axis, 0, output->n_slices);
  for (guint i = 0; i < input; i++)
    {
      const VnShape *shape = &vn_node_get_input (node, i)->type.shape;

      if (shape->rank != rank || shape->dims[axis] <= 0)
        return NULL;
      first += shape->dims[axis];
    }
  return vn_partition_new_range (output, output->axis, (guint) first,
                                 (guint) vn_node_get_input (node, input)->type.shape.dims[axis]);
}

static VnPartition *
parts_inherit_transposed (const VnPartition *output,
                          const VnNode      *node,
                          guint              input)
{
  int rank = vn_node_get_input (node, 0)->type.shape.rank;
  gsize n;
  const gint64 *perm = vn_node_get_ints (node, "perm", &n);
  gint64 axis = perm != NULL && output->axis < n ? perm[output->axis] : rank - 1 - (int) output->axis;

  return axis >= 0 && axis < rank ? vn_partition_new_range (output, (guint) axis, 0, output->n_slices) : NULL;
}

/* The axis stays one of its own: as many numbers lie behind it as before. */
static VnPartition *
parts_inherit_reshaped (const VnPartition *output,
                        const VnNode      *node,
                        guint              input)
{
  const VnShape *from = &vn_node_get_input (node, 0)->type.shape, *to = &vn_node_get_output (node, 0)->type.shape;
  gint64 behind;

  if (input != 0 || !vn_shape_is_static (from) || !vn_shape_is_static (to) || (int) output->axis >= to->rank)
    return NULL;
  behind = vn_shape_count (to, (int) output->axis + 1, to->rank);
  for (int a = 0; a < from->rank; a++)
    if (from->dims[a] == (gint64) output->n_slices && vn_shape_count (from, a + 1, from->rank) == behind)
      return vn_partition_new_range (output, (guint) a, 0, output->n_slices);
  return NULL;
}

static const struct
{
  const char *op_type;
  InheritFunc inherit;
} rules[] = {
  { "Concat", parts_inherit_joined },
  { "Transpose", parts_inherit_transposed },
  { "Reshape", parts_inherit_reshaped },
  { "Identity", parts_inherit_same },
  { "Cast", parts_inherit_same },
  { "Sigmoid", parts_inherit_same },
};

static void
parts_inherit_node (VnParts      *self,
                    const VnNode *node)
{
  const VnValue *output = vn_node_get_output (node, 0);
  const VnPartition *partition = output != NULL ? vn_parts_get (self, output->name) : NULL;

  for (guint r = 0; partition != NULL && r < G_N_ELEMENTS (rules); r++)
    for (guint i = 0; vn_node_is (node, rules[r].op_type) && i < node->inputs->len; i++)
      {
        const VnValue *input = vn_node_get_input (node, i);
        gboolean takes = input != NULL && !vn_value_is_constant (input) && vn_parts_get (self, input->name) == NULL;
        VnPartition *found = takes ? rules[r].inherit (partition, node, i) : NULL;

        if (found != NULL)
          vn_parts_take (self, input->name, found);
      }
}

/**
 * vn_parts_inherit:
 * @self: parts of outputs; nobody else has seen it yet
 * @model: whose types are inferred
 *
 * Adds the tensors in front of them.
 */
void
vn_parts_inherit (VnParts       *self,
                  const VnModel *model)
{
  g_autoptr(GPtrArray) order = NULL;

  g_return_if_fail (self != NULL && model != NULL);

  order = vn_parts_get_n (self) > 0 ? vn_graph_sort (model->graph, NULL) : NULL;
  for (guint i = order != NULL ? order->len : 0; i > 0; i--)
    parts_inherit_node (self, g_ptr_array_index (order, i - 1));
}
