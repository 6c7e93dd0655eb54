/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sizes that inputs for earlier keys and values leave open, but the node that reads them tells: how many heads there are,
 * how many numbers one has, and how many keys a cache has that only holds those of a window. */
#include "vn-input-role.h"

/* Inputs of com.microsoft:GroupQueryAttention */
enum { QUERIES, KEYS, PAST_KEYS = 3, PAST_VALUES, COSINES = 7 };

/* Axes of earlier keys: [batch, heads, tokens, size] */
enum { HEADS = 1, ROWS, SIZE };

/* Inputs of floats of 16 bits are rounded to them, and cast to what attention computes in. */
#define MOST_CASTS 2

/* @n_casts: how often @input may become another type before the attention reads it */
static const VnNode *
input_caches_find_reader (const VnValue *input,
                          guint          n_casts)
{
  const VnNode *found = NULL;

  for (guint i = 0; input != NULL && found == NULL && i < input->uses->len; i++)
    {
      const VnUse *use = &g_array_index (input->uses, VnUse, i);

      if (g_strcmp0 (use->node->op_type, "GroupQueryAttention") == 0 && (use->index == PAST_KEYS || use->index == PAST_VALUES))
        found = use->node;
      else if (n_casts > 0 && vn_node_is (use->node, "Cast"))
        found = input_caches_find_reader (vn_node_get_output (use->node, 0), n_casts - 1);
    }
  return found;
}

static gint64
input_caches_get_last_dim (const VnNode *node,
                           guint         i)
{
  const VnValue *value = vn_node_get_input (node, i);

  return value != NULL && value->type.shape.rank > 0 ? value->type.shape.dims[value->type.shape.rank - 1] : VN_DIM_UNKNOWN;
}

/* Queries have @heads heads in their last axis, where keys and values stand beside them; without, those stand in there, too. The
 * table of cosines has half a head, unless only a part of it is turned: it is asked last. */
static gint64
input_caches_find_size (const VnNode *node,
                        gint64        heads,
                        gint64        kv_heads)
{
  gint64 width = input_caches_get_last_dim (node, QUERIES), half = input_caches_get_last_dim (node, COSINES);
  gint64 n = vn_node_get_input (node, KEYS) != NULL ? heads : heads + 2 * kv_heads;

  if (width > 0 && width % n == 0)
    return width / n;
  return half > 0 && half <= G_MAXINT32 ? 2 * half : VN_DIM_UNKNOWN;
}

/* Rows that are there before the first token, too, say nothing of how many there have been. */
static void
input_caches_fill_rows (VnInputSpec  *self,
                        const VnNode *node)
{
  gint64 window = vn_node_get_int (node, "local_window_size", -1);

  if (vn_node_get_int (node, "sliding_window_cache", 0) == 0 || window < 1 || window > G_MAXINT32)
    return;
  if (self->shape.dims[ROWS] < 0)
    self->shape.dims[ROWS] = window;
  self->is_past[ROWS] = TRUE;
  self->symbols[ROWS] = 0;
}

/**
 * vn_input_spec_slides:
 *
 * Returns: whether the input has rows for the earlier keys or values of a window, however many tokens there have been
 */
gboolean
vn_input_spec_slides (const VnInputSpec *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return self->shape.rank == 4 && self->is_past[ROWS] && self->symbols[ROWS] == 0;
}

/**
 * vn_input_spec_fill_cache:
 * @input: of a network, which @self was made of
 *
 * Fills open dims of @self, where @input has keys or values of earlier tokens for com.microsoft:GroupQueryAttention.
 */
void
vn_input_spec_fill_cache (VnInputSpec   *self,
                          const VnValue *input)
{
  const VnNode *node;
  gint64 heads, kv_heads;

  g_return_if_fail (self != NULL && input != NULL);

  node = self->shape.rank == 4 ? input_caches_find_reader (input, MOST_CASTS) : NULL;
  heads = node != NULL ? vn_node_get_int (node, "num_heads", 0) : 0;
  kv_heads = node != NULL ? vn_node_get_int (node, "kv_num_heads", 0) : 0;
  if (heads < 1 || heads > G_MAXINT32 || kv_heads < 1 || kv_heads > heads)
    return;
  if (self->shape.dims[HEADS] < 0)
    self->shape.dims[HEADS] = kv_heads;
  input_caches_fill_rows (self, node);
  if (self->shape.dims[SIZE] < 0)
    self->shape.dims[SIZE] = input_caches_find_size (node, heads, kv_heads);
}
