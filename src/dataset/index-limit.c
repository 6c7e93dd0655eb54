/* SPDX-License-Identifier: GPL-3.0-or-later */

/* How large the numbers in an integer input may be: token numbers must lie within the embedding they are looked up in. */

#include "vn-dataset.h"

#define MAX_DEPTH 16      /* operators between an input and the embedding */
#define MAX_USES 1000     /* looked at in all */

/* Operators that hand integers on as they are, in other shapes or types. */
static const char * const passing[] = {
  "Cast", "Expand", "Flatten", "Identity", "Reshape", "Slice", "Squeeze", "Tile", "Transpose", "Unsqueeze", NULL
};

/* Inputs of com.microsoft's EmbedLayerNormalization: which table (its place among the inputs) an input looks up. */
static const int embed_tables[] = { 2, 4, -1, -1, -1, -1, -1, -1, 3 };

static gint64
index_limit_min (gint64 a,
                 gint64 b)
{
  return a == 0 ? b : b == 0 ? a : MIN (a, b);
}

static gint64
index_limit_table_size (const VnNode *node,
                        guint         input,
                        gint64        axis)
{
  const VnValue *table = vn_node_get_input (node, input);
  const VnShape *shape = table != NULL && table->initializer != NULL ? &table->initializer->shape
                       : table != NULL && table->type.kind == VN_TYPE_TENSOR ? &table->type.shape : NULL;

  if (shape == NULL || shape->rank < 1)
    return 0;
  axis = axis < 0 ? axis + shape->rank : axis;
  return axis >= 0 && axis < shape->rank && shape->dims[axis] > 0 ? shape->dims[axis] : 0;
}

static gint64 index_limit_find_limit (const VnValue *value, guint depth, guint *budget);

/* What node @use of a value says about it; 0: nothing. */
static gint64
index_limit_use (const VnUse *use,
                 guint        depth,
                 guint       *budget)
{
  const VnNode *node = use->node;
  const VnAttr *axis;

  if (g_str_equal (node->domain, "com.microsoft") && g_str_equal (node->op_type, "EmbedLayerNormalization"))
    return use->index < G_N_ELEMENTS (embed_tables) && embed_tables[use->index] > 0
           ? index_limit_table_size (node, (guint) embed_tables[use->index], 0) : 0;
  if (g_str_equal (node->domain, "com.microsoft") && g_str_equal (node->op_type, "GatherBlockQuantized") && use->index == 1 &&
      vn_node_get_int (node, "gather_axis", 0) == 0)
    return index_limit_table_size (node, 0, 0);
  if (*node->domain != '\0')
    return 0;
  if (g_str_equal (node->op_type, "Gather") && use->index == 1)
    {
      axis = vn_node_get_attr (node, "axis");
      return index_limit_table_size (node, 0, axis != NULL ? axis->i : 0);
    }
  if (use->index == 0 && g_strv_contains (passing, node->op_type) && vn_node_get_output (node, 0) != NULL)
    return index_limit_find_limit (vn_node_get_output (node, 0), depth + 1, budget);
  return 0;
}

static gint64
index_limit_find_limit (const VnValue *value,
                        guint          depth,
                        guint         *budget)
{
  gint64 limit = 0;

  for (guint i = 0; depth < MAX_DEPTH && i < value->uses->len && *budget > 0; i++)
    {
      (*budget)--;
      limit = index_limit_min (limit, index_limit_use (&g_array_index (value->uses, VnUse, i), depth, budget));
    }
  return limit;
}

/**
 * vn_value_find_index_limit:
 * @input: an input of the network
 *
 * Follows @input to where it is looked up: Gather, or com.microsoft's EmbedLayerNormalization and GatherBlockQuantized.
 *
 * Returns: the size of the smallest table, which all its elements must be less than; 0 if there is none
 */
gint64
vn_value_find_index_limit (const VnValue *input)
{
  guint budget = MAX_USES;

  g_return_val_if_fail (input != NULL, 0);

  return index_limit_find_limit (input, 0, &budget);
}
