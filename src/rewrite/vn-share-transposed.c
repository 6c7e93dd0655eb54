/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One matrix for two: language models look words up in a table and multiply by the same table, transposed, in the end. Folding
 * makes a constant of that, and weights are quantized as constants only; where both stay float, a file would hold the same
 * numbers twice. There, Transpose is put back: what loads the file computes it once. */
#include "vn-pass.h"

#include <string.h>

/* Smaller ones are not worth a node. */
#define LEAST_BYTES ((gsize) 64 << 10)

/* Rows and columns that are compared in one go; numbers along each axis that tell matrices apart. */
#define TILE 32
#define SAMPLED 8

static gboolean
share_is_matrix (const VnValue *value)
{
  const VnTensor *tensor = value->initializer;

  return tensor != NULL && !value->is_input && !value->is_output && value->uses->len > 0 && tensor->shape.rank == 2 &&
         tensor->shape.dims[0] > 1 && tensor->shape.dims[1] > 1 && tensor->n_bytes >= LEAST_BYTES &&
         (tensor->dtype == VN_DTYPE_F32 || tensor->dtype == VN_DTYPE_F16 || tensor->dtype == VN_DTYPE_BF16);
}

static const guint8 *
share_get_number (const VnTensor *self,
                  gsize           row,
                  gsize           column)
{
  const gsize size = self->n_bytes / self->n_elements;

  return (const guint8 *) self->data + (row * (gsize) self->shape.dims[1] + column) * size;
}

/* Of type, sizes and some numbers; @turned: as the transposed matrix has it. */
static guint64
share_make_key (const VnTensor *self,
                gboolean        turned)
{
  const gsize rows = (gsize) self->shape.dims[0], columns = (gsize) self->shape.dims[1], size = self->n_bytes / self->n_elements;
  guint64 key = 14695981039346656037u ^ (guint64) self->dtype ^ (turned ? columns : rows) << 8;

  for (gsize i = 0; i < SAMPLED; i++)
    for (gsize k = 0; k < SAMPLED; k++)
      {
        const guint8 *number = turned ? share_get_number (self, rows * k / SAMPLED, columns * i / SAMPLED)
                                      : share_get_number (self, rows * i / SAMPLED, columns * k / SAMPLED);

        for (gsize b = 0; b < size; b++)
          key = (key ^ number[b]) * 1099511628211u;
      }
  return key;
}

static gboolean
share_tile_is_transposed (const VnTensor *a,
                          const VnTensor *b,
                          gsize           row,
                          gsize           column)
{
  const gsize last_row = MIN (row + TILE, (gsize) a->shape.dims[0]), last_column = MIN (column + TILE, (gsize) a->shape.dims[1]);
  const gsize size = a->n_bytes / a->n_elements, step = (gsize) b->shape.dims[1] * size;

  for (gsize r = row; r < last_row; r++)
    {
      const guint8 *x = share_get_number (a, r, column), *y = share_get_number (b, column, r);

      for (gsize c = column; c < last_column; c++, x += size, y += step)
        if (size == 2 ? memcmp (x, y, 2) != 0 : memcmp (x, y, 4) != 0)
          return FALSE;
    }
  return TRUE;
}

/**
 * vn_matrices_are_transposed:
 * @a, @b: of two axes, and numbers of 2 or 4 bytes
 *
 * Returns: whether one is the transpose of the other, bit for bit
 */
gboolean
vn_matrices_are_transposed (const VnTensor *a,
                            const VnTensor *b)
{
  g_return_val_if_fail (a != NULL && b != NULL && a->shape.rank == 2 && b->shape.rank == 2, FALSE);

  if (a->dtype != b->dtype || a->shape.dims[0] != b->shape.dims[1] || a->shape.dims[1] != b->shape.dims[0])
    return FALSE;
  for (gsize r = 0; r < (gsize) a->shape.dims[0]; r += TILE)
    for (gsize c = 0; c < (gsize) a->shape.dims[1]; c += TILE)
      if (!share_tile_is_transposed (a, b, r, c))
        return FALSE;
  return TRUE;
}

/* Whether it is looked up in, maybe in another type: that one is kept as it is. */
static gboolean
share_is_table (const VnValue *value,
                gboolean       may_cast)
{
  for (guint i = 0; value != NULL && i < value->uses->len; i++)
    {
      const VnNode *node = g_array_index (value->uses, VnUse, i).node;

      if (vn_node_is (node, "Gather") ||
          (may_cast && vn_node_is (node, "Cast") && share_is_table (vn_node_get_output (node, 0), FALSE)))
        return TRUE;
    }
  return FALSE;
}

/* Pairs of constants, the one that is kept first: each is in one pair at most. */
static GPtrArray *
share_list_pairs (const VnGraph *graph)
{
  g_autoptr(GHashTable) known = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  GPtrArray *pairs = g_ptr_array_new ();

  for (guint i = 0; i < graph->values->len; i++)
    {
      VnValue *value = g_ptr_array_index (graph->values, i), *other;
      guint64 key;

      if (!share_is_matrix (value))
        continue;
      key = share_make_key (value->initializer, TRUE);
      other = g_hash_table_lookup (known, &key);
      if (other != NULL && vn_matrices_are_transposed (other->initializer, value->initializer))
        {
          const gboolean turns_other = share_is_table (value, TRUE) && !share_is_table (other, TRUE);

          g_ptr_array_add (pairs, turns_other ? value : other);
          g_ptr_array_add (pairs, turns_other ? other : value);
          g_hash_table_remove (known, &key);
          continue;
        }
      key = share_make_key (value->initializer, FALSE);
      if (!g_hash_table_contains (known, &key))
        g_hash_table_insert (known, g_memdup2 (&key, sizeof key), value);
    }
  return pairs;
}

static void
share_turn (VnGraph *graph,
            VnValue *kept,
            VnValue *turned)
{
  static const gint64 order[] = { 1, 0 };
  const VnTensor *tensor = turned->initializer;
  const VnDType dtype = tensor->dtype;
  const VnShape shape = tensor->shape;
  g_autofree char *name = g_strconcat (turned->name, "_Transpose", NULL);
  VnNode *first = vn_graph_get_node (graph, 0);

  vn_graph_set_initializer (graph, turned, NULL);
  vn_value_set_type (turned, dtype, &shape);
  vn_node_set_ints (vn_graph_insert_node (graph, first, name, "", "Transpose", &kept, 1, &turned, 1), "perm", order, 2);
}

/**
 * vn_model_share_transposed:
 *
 * Returns: (transfer full): @model itself, or a copy for writing where of two large matrices of floats that are each other's
 *   transpose one is stored and the other made of it; values keep their names
 */
VnModel *
vn_model_share_transposed (VnModel *model)
{
  g_autoptr(GPtrArray) pairs = NULL;
  VnModel *copy;

  g_return_val_if_fail (model != NULL, NULL);

  pairs = share_list_pairs (model->graph);
  if (pairs->len == 0)
    return vn_model_ref (model);
  copy = vn_model_copy (model);
  for (guint i = 0; i < pairs->len; i += 2)
    {
      const VnValue *kept = g_ptr_array_index (pairs, i), *turned = g_ptr_array_index (pairs, i + 1);

      share_turn (copy->graph, vn_graph_find_value (copy->graph, kept->name), vn_graph_find_value (copy->graph, turned->name));
    }
  return copy;
}
