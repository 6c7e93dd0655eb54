/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What each node has of its own: the bytes of its constants, of which one that several nodes read counts for the first, so that
 * the sum is that of the file; and the error of rounding it. */
#include "vn-node-sizes.h"

#include <math.h>

#define MOST_STEPS 8    /* from a weight to the node that computes with it: scaling, transposing, reshaping */

static gint64
node_sizes_count_constant (const VnValue *value,
                           GHashTable    *seen)
{
  const VnTensor *tensor = vn_value_get_constant (value);

  return tensor != NULL && g_hash_table_add (seen, (gpointer) value) ? (gint64) tensor->n_bytes : 0;
}

/* Whether all that @value is computed of is constant. */
static gboolean
node_sizes_is_constant (const VnValue *value,
                        guint          steps)
{
  if (vn_value_is_constant (value))
    return TRUE;
  if (steps == 0 || value->producer == NULL || value->producer->inputs->len == 0 || value->producer->graph != value->graph)
    return FALSE;
  for (guint i = 0; i < value->producer->inputs->len; i++)
    {
      const VnValue *input = vn_node_get_input (value->producer, i);

      if (input != NULL && !node_sizes_is_constant (input, steps - 1))
        return FALSE;
    }
  return TRUE;
}

static gint64
node_sizes_count (const VnNode *node,
                  GHashTable   *seen,
                  guint         steps)
{
  gint64 bytes = 0;

  for (guint i = 0; i < node->inputs->len; i++)
    {
      const VnValue *input = vn_node_get_input (node, i);

      if (input == NULL)
        continue;
      if (vn_value_is_constant (input))
        bytes += node_sizes_count_constant (input, seen);
      else if (steps > 0 && node_sizes_is_constant (input, steps))
        bytes += node_sizes_count (input->producer, seen, steps - 1);
    }
  return bytes;
}

/* What is behind a pair of the quantized network computes. */
static const VnNode *
node_sizes_find_computing (const VnValue *value)
{
  const VnNode *node = value->producer;

  while (node != NULL && (vn_node_is (node, "QuantizeLinear") || vn_node_is (node, "DequantizeLinear")))
    {
      const VnValue *input = vn_node_get_input (node, 0);

      node = input != NULL ? input->producer : NULL;
    }
  return node;
}

/* Returns: (nullable): what does the work of @node of the source in the quantized network */
static const VnNode *
node_sizes_find_after (VnRun        *result,
                       const VnNode *node)
{
  const VnIdentity *identity = vn_identity_map_get (vn_run_get_identity (result), node);
  const char *name = identity != NULL ? identity->quantized != NULL ? identity->quantized : identity->rounded : NULL;
  const VnValue *value = name != NULL ? vn_graph_find_value (result->quantized->graph, name) : NULL;

  return value != NULL ? node_sizes_find_computing (value) : NULL;
}

/* A node that is there no more, because another does its work, has no bytes of its own. */
static gint64
node_sizes_count_after (VnRun        *result,
                        const VnNode *node,
                        GHashTable   *counted,
                        GHashTable   *seen)
{
  const VnNode *computing = node_sizes_find_after (result, node);

  if (computing == NULL || !g_hash_table_add (counted, (gpointer) computing))
    return 0;
  return node_sizes_count (computing, seen, MOST_STEPS);
}

/**
 * vn_node_sizes_list:
 * @source: the model as opened
 * @result: (nullable): of a run on @source
 *
 * Returns: (transfer full) (element-type VnNodeSize): by index of the node. What follows is not known without the quantized
 *   network, which a run that was read from a file does not have
 */
GArray *
vn_node_sizes_list (const VnModel *source,
                    VnRun         *result)
{
  g_autoptr(GHashTable) before = g_hash_table_new (NULL, NULL), after = g_hash_table_new (NULL, NULL);
  g_autoptr(GHashTable) counted = g_hash_table_new (NULL, NULL);
  GArray *sizes = g_array_new (FALSE, TRUE, sizeof (VnNodeSize));
  gboolean known = result != NULL && result->quantized != NULL;

  g_return_val_if_fail (source != NULL, sizes);

  for (guint i = 0; i < source->graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (source->graph->nodes, i);
      VnNodeSize size = { node_sizes_count (node, before, 0), -1 };

      if (known)
        size.after = node_sizes_count_after (result, node, counted, after);
      g_array_append_val (sizes, size);
    }
  return sizes;
}

/* ---- bits ---- */

/* Operators that read packed weights, and the attribute that says of how many bits. */
static const struct { const char *op, *attribute; } packed[] = {
  { "MatMulNBits", "bits" }, { "GatherBlockQuantized", "bits" }, { "QMoE", "expert_weight_bits" },
};

/* Not sizes, axes and indices. */
static gboolean
node_sizes_may_be_weight (const VnTensor *tensor)
{
  return vn_dtype_is_float (tensor->dtype) || (vn_dtype_is_integer (tensor->dtype) && vn_dtype_get_bits (tensor->dtype) <= 16);
}

/* @largest: (inout): numbers in the largest weight so far. Returns: bits of one of these; @bits where no larger weight is read */
static guint
node_sizes_find_bits (const VnNode *node,
                      guint         steps,
                      guint         bits,
                      gsize        *largest)
{
  for (guint i = 0; i < node->inputs->len; i++)
    {
      const VnValue *input = vn_node_get_input (node, i);
      const VnTensor *tensor = input != NULL && vn_value_is_constant (input) ? vn_value_get_constant (input) : NULL;

      if (tensor != NULL && tensor->n_elements > *largest && node_sizes_may_be_weight (tensor))
        {
          *largest = tensor->n_elements;
          bits = vn_dtype_get_bits (tensor->dtype);
        }
      else if (tensor == NULL && input != NULL && steps > 0 && node_sizes_is_constant (input, steps))
        bits = node_sizes_find_bits (input->producer, steps - 1, bits, largest);
    }
  return bits;
}

static guint
node_sizes_get_bits (const VnNode *node)
{
  gsize largest = 1;

  for (guint i = 0; i < G_N_ELEMENTS (packed); i++)
    if (g_str_equal (node->op_type, packed[i].op))
      return (guint) CLAMP (vn_node_get_int (node, packed[i].attribute, 4), 1, 64);
  return node_sizes_find_bits (node, MOST_STEPS, 0, &largest);
}

static gboolean
node_sizes_is_one_of (const VnNode       *node,
                      const char * const *ops)
{
  return node != NULL && g_strv_contains (ops, node->op_type);
}

/* A product of integers is followed by a Cast, its scale and a bias: what these stand for is the product before them. */
static const VnNode *
node_sizes_find_product (const VnNode *node,
                         const VnNode *source)
{
  static const char * const behind[] = { "Add", "Cast", "Mul", NULL };
  static const char * const integers[] = { "ConvInteger", "MatMulInteger", NULL };
  const VnNode *at = node_sizes_is_one_of (source, behind) ? NULL : node;

  for (guint steps = 0; steps < MOST_STEPS && node_sizes_is_one_of (at, behind); steps++)
    {
      const VnNode *next = NULL;

      for (guint i = 0; i < at->inputs->len && next == NULL; i++)
        {
          const VnValue *input = vn_node_get_input (at, i);
          const VnNode *producer = input != NULL ? input->producer : NULL;

          if (node_sizes_is_one_of (producer, integers))
            return producer;
          next = node_sizes_is_one_of (producer, behind) ? producer : NULL;
        }
      at = next;
    }
  return node;
}

/**
 * vn_node_bits_list:
 * @source: the model as opened
 * @result: (nullable): of a run on @source
 *
 * Returns: (transfer full) (element-type guint): by index of the node: bits of each number in the largest constant that it
 *   computes with, after quantizing if the quantized network is there; 0: it has none
 */
GArray *
vn_node_bits_list (const VnModel *source,
                   VnRun         *result)
{
  GArray *list = g_array_new (FALSE, TRUE, sizeof (guint));
  const gboolean known = result != NULL && result->quantized != NULL;

  g_return_val_if_fail (source != NULL, list);

  for (guint i = 0; i < source->graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (source->graph->nodes, i);
      const VnNode *after = known ? node_sizes_find_after (result, node) : node;
      const guint bits = after != NULL ? node_sizes_get_bits (node_sizes_find_product (after, node)) : 0;

      g_array_append_val (list, bits);
    }
  return list;
}

/**
 * vn_local_errors_new:
 * @result: (nullable): of a run
 *
 * As the error table says, or where that was not measured as the search for where error starts says: of an activation and of the
 * weights that it is computed with, together.
 *
 * Returns: (transfer full) (element-type utf8 double): by the name of a value in the prepared model; those not measured are not
 * in it
 */
GHashTable *
vn_local_errors_new (VnRun *result)
{
  GHashTable *local = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  GHashTableIter iter;
  gpointer noise;

  for (guint i = 0; result != NULL && result->contributions != NULL && i < vn_contributions_get_n (result->contributions); i++)
    {
      const VnContribution *item = vn_contributions_get (result->contributions, i);
      double *sum = g_hash_table_lookup (local, item->value);

      if (sum == NULL)
        g_hash_table_insert (local, g_strdup (item->value), sum = g_new0 (double, 1));
      *sum += pow (10, -item->local_db / 10);
    }
  g_hash_table_iter_init (&iter, local);
  while (g_hash_table_iter_next (&iter, NULL, &noise))
    *(double *) noise = -10 * log10 (*(double *) noise);
  for (guint i = 0; result != NULL && result->errors != NULL && i < vn_error_table_get_n (result->errors); i++)
    {
      const VnErrorRow *row = vn_error_table_get (result->errors, i);

      if (row->has_local)
        g_hash_table_replace (local, g_strdup (row->value), g_memdup2 (&row->local_db, sizeof row->local_db));
    }
  return local;
}
