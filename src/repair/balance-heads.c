/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The values of attention: channels of the last axis are cut into heads, mixed along other axes, and put together again. Each
 * channel stays what it was: those of the projection in front are those that the one behind reads. */
#include "balance-graph.h"

#include <string.h>

/* Nodes from where channels are cut to where they are put together. */
#define MOST_NODES 8

typedef struct
{
  VnBalanceGraph *graph;
  const VnValue  *whole;       /* what is cut */
  GPtrArray      *values;      /* of VnValue: in heads */
  GArray         *axes;        /* of int: of each the axis that holds heads */
  GPtrArray      *joined;      /* of VnValue: of each the tensor that has its numbers; NULL: @whole */
} Heads;

static void
heads_clear (Heads *self)
{
  g_clear_pointer (&self->values, g_ptr_array_unref);
  g_clear_pointer (&self->axes, g_array_unref);
  g_clear_pointer (&self->joined, g_ptr_array_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Heads, heads_clear)

static gint64
heads_get_dim (const VnValue *value,
               int            from_end)
{
  const VnShape *shape = &value->type.shape;

  return value->type.kind == VN_TYPE_TENSOR && shape->rank >= from_end ? shape->dims[shape->rank - from_end] : -1;
}

static gboolean
heads_is_float (const VnValue *value)
{
  return value != NULL && value->type.kind == VN_TYPE_TENSOR && value->type.dtype == VN_DTYPE_F32 &&
         vn_shape_is_static (&value->type.shape);
}

/* Whether channels of the last axis of @whole are the last two axes of @parts, one after the other. */
static gboolean
heads_are_cut (const VnValue *whole,
               const VnValue *parts)
{
  return heads_get_dim (parts, 1) > 0 && heads_get_dim (parts, 2) > 0 && heads_get_dim (parts, 3) > 0 &&
         heads_get_dim (whole, 1) == heads_get_dim (parts, 1) * heads_get_dim (parts, 2);
}

/* "bhij,bhjd->bhid", whatever the letters are. */
static gboolean
heads_is_equation_of_product (const VnNode *node,
                              int           rank)
{
  g_autofree char *said = vn_node_dup_string (node, "equation", "");
  g_auto(GStrv) words = g_strsplit (said, " ", -1);
  g_autofree char *text = g_strjoinv ("", words);
  gsize n = (gsize) MAX (rank, 2), shared = n - 2;
  const char *a = text, *b = text + n + 1, *out = text + 2 * n + 3;

  return strlen (text) == 3 * n + 3 && a[n] == ',' && strncmp (b + n, "->", 2) == 0 && strchr (text, '.') == NULL &&
         strncmp (a, b, shared) == 0 && strncmp (a, out, shared) == 0 && a[shared] == out[shared] && a[shared + 1] == b[shared] &&
         b[shared + 1] == out[shared + 1] && a[shared] != a[shared + 1] && b[shared] != b[shared + 1];
}

/* Whether each number that @node writes is a sum of numbers of one channel of what it reads second, which has the last axis. */
static gboolean
heads_is_mixed (const VnNode  *node,
                const VnValue *value,
                int            axis)
{
  const VnValue *output = vn_node_get_output (node, 0);
  int rank = value->type.shape.rank;

  return (vn_node_is (node, "MatMul") || (vn_node_is (node, "Einsum") && node->inputs->len == 2 &&
                                          heads_is_equation_of_product (node, rank))) &&
         vn_node_get_input (node, 0) != value && heads_is_float (output) && output->type.shape.rank == rank && axis < rank - 2 &&
         output->type.shape.dims[axis] == value->type.shape.dims[axis] && heads_get_dim (output, 1) == heads_get_dim (value, 1);
}

/* Where the heads are behind a Transpose that leaves the last axis where it is; -1: it does not. */
static int
heads_find_transposed (const VnNode *node,
                       int           axis)
{
  gsize n = 0;
  const gint64 *order = vn_node_get_ints (node, "perm", &n);

  if (n == 0 || order[n - 1] != (gint64) n - 1 || !heads_is_float (vn_node_get_output (node, 0)))
    return -1;
  for (gsize i = 0; i + 1 < n; i++)
    if (order[i] == axis)
      return (int) i;
  return -1;
}

static const VnValue *heads_follow (Heads         *self,
                                    const VnValue *value,
                                    int            axis,
                                    gboolean       mixed);

/* What is put together behind @use; NULL: channels do not get there. */
static const VnValue *
heads_follow_use (Heads         *self,
                  const VnValue *value,
                  int            axis,
                  gboolean       mixed,
                  const VnUse   *use)
{
  const VnValue *output = vn_node_get_output (use->node, 0);
  int behind;

  if (use->node->graph != self->graph->graph || output == NULL)
    return NULL;
  if (use->index == 1)
    return !mixed && heads_is_mixed (use->node, value, axis) ? heads_follow (self, output, axis, TRUE) : NULL;
  if (vn_node_is (use->node, "Transpose"))
    return (behind = heads_find_transposed (use->node, axis)) >= 0 ? heads_follow (self, output, behind, mixed) : NULL;
  return mixed && vn_node_is (use->node, "Reshape") && axis == value->type.shape.rank - 2 && heads_are_cut (output, value) &&
         heads_is_float (output) && self->graph->axis[output->id] == output->type.shape.rank - 1
         ? output : NULL;
}

/* Whatever reads @value must get to where channels are put together. Returns: (nullable): the first such place */
static const VnValue *
heads_follow (Heads         *self,
              const VnValue *value,
              int            axis,
              gboolean       mixed)
{
  const VnValue *joined = NULL;
  guint at = self->values->len;

  if (at >= MOST_NODES || value->is_output || value->uses->len == 0)
    return NULL;
  g_ptr_array_add (self->values, (gpointer) value);
  g_array_append_val (self->axes, axis);
  g_ptr_array_add (self->joined, NULL);
  for (guint i = 0; i < value->uses->len; i++)
    {
      const VnValue *found = heads_follow_use (self, value, axis, mixed, &g_array_index (value->uses, VnUse, i));

      if (found == NULL)
        return NULL;
      joined = joined != NULL ? joined : found;
    }
  self->joined->pdata[at] = mixed ? (gpointer) joined : NULL;
  return joined;
}

static void
heads_look_at (VnBalanceGraph *graph,
               const VnNode   *node)
{
  const VnValue *input = vn_node_get_input (node, 0), *output = vn_node_get_output (node, 0);
  g_auto(Heads) self = { graph, input, g_ptr_array_new (), g_array_new (FALSE, FALSE, sizeof (int)), g_ptr_array_new () };

  if (!vn_node_is (node, "Reshape") || !heads_is_float (input) || !heads_is_float (output) || input->graph != graph->graph ||
      graph->axis[input->id] != input->type.shape.rank - 1 || !heads_are_cut (input, output) ||
      heads_follow (&self, output, output->type.shape.rank - 2, FALSE) == NULL)
    return;
  for (guint i = 0; i < self.values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (self.values, i), *joined = g_ptr_array_index (self.joined, i);

      graph->axis[value->id] = value->type.shape.rank - 1;
      graph->heads[value->id] = g_array_index (self.axes, int, i);
      graph->whole[value->id] = joined != NULL ? joined : input;
    }
}

/*< private >
 * vn_balance_graph_find_heads:
 *
 * Finds the tensors that hold channels of others in heads. Needs the axes.
 */
void
vn_balance_graph_find_heads (VnBalanceGraph *self)
{
  g_return_if_fail (self != NULL);

  self->heads = g_new (int, self->graph->values->len + 1);
  self->whole = g_new0 (const VnValue *, self->graph->values->len + 1);
  for (guint i = 0; i < self->graph->values->len; i++)
    self->heads[i] = -1;
  for (guint i = 0; i < self->graph->nodes->len; i++)
    heads_look_at (self, g_ptr_array_index (self->graph->nodes, i));
}

/*< private >
 * vn_balance_is_in_heads:
 * @node: reads @value
 *
 * Returns: whether @value holds channels in heads, or @node cuts it into them
 */
gboolean
vn_balance_is_in_heads (const VnBalanceGraph *self,
                        const VnNode         *node,
                        const VnValue        *value)
{
  const VnValue *output;

  g_return_val_if_fail (self != NULL && node != NULL && value != NULL, FALSE);

  output = vn_node_get_output (node, 0);
  return output != NULL && (self->whole[value->id] != NULL || (vn_node_is (node, "Reshape") && self->whole[output->id] == value));
}

/*< private >
 * vn_balance_find_role_of_heads:
 * @input: which input of @node: @value
 *
 * Returns: what becomes of the factors of channels at @node, which cuts them into heads, moves or mixes these, or puts them
 * together
 */
VnBalanceRole
vn_balance_find_role_of_heads (const VnBalanceGraph *self,
                               const VnNode         *node,
                               guint                 input,
                               const VnValue        *value)
{
  const VnValue *output;

  g_return_val_if_fail (self != NULL && node != NULL && value != NULL && vn_balance_is_in_heads (self, node, value),
                        VN_BALANCE_PINS);

  output = vn_node_get_output (node, 0);
  if (self->whole[value->id] == NULL)
    return input == 0 ? VN_BALANCE_PASSES : VN_BALANCE_PINS;
  if (vn_node_is (node, "Reshape"))
    return heads_are_cut (output, value) ? VN_BALANCE_PASSES : VN_BALANCE_PINS;
  return self->whole[output->id] != NULL && input == (vn_node_is (node, "Transpose") ? 0 : 1)
         ? VN_BALANCE_PASSES : VN_BALANCE_PINS;
}
