/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The weights of a quantized network against those of the float one. Whole numbers that are constant become floats again by
 * their scales; their counterpart is the constant of the same name, less what quantizing appended, or the one that the node of
 * the same name reads at the same place. */
#include "vn-compare.h"

#include "vn-error-sum.h"
#include "vn-node-index.h"
#include "vn-stored-weight.h"

#include <string.h>

/* Weights that the operator packs or that have no scale are told nowhere else either. */
static gboolean
compare_weights_find (const VnNode   *node,
                      VnStoredWeight *weight)
{
  return vn_stored_weight_find (weight, node) && (weight->form == VN_STORED_PAIR || weight->form == VN_STORED_INTEGER);
}

/* ---- their counterparts ---- */

static gboolean
compare_weights_is_like (const VnValue  *value,
                         const VnTensor *tensor)
{
  const VnTensor *constant = value != NULL ? vn_value_get_constant (value) : NULL;

  return constant != NULL && constant->dtype == VN_DTYPE_F32 && vn_shape_equal (&constant->shape, &tensor->shape);
}

static const VnValue *
compare_weights_find_by_name (const VnModel  *model,
                              const char     *name,
                              const VnTensor *tensor)
{
  static const char * const endings[] = { "_quantized", "_DequantizeLinear_Input", "_q", "" };

  for (guint i = 0; i < G_N_ELEMENTS (endings); i++)
    {
      g_autofree char *stem = g_str_has_suffix (name, endings[i]) ? g_strndup (name, strlen (name) - strlen (endings[i])) : NULL;
      const VnValue *value = stem != NULL ? g_hash_table_lookup (model->graph->by_name, stem) : NULL;

      if (compare_weights_is_like (value, tensor))
        return value;
    }
  return NULL;
}

static const VnValue *
compare_weights_find_by_user (GHashTable     *nodes,
                              const VnStoredWeight   *weight,
                              const VnTensor *tensor)
{
  const VnNode *node = weight->user != NULL && *weight->user->name != '\0'
                       ? g_hash_table_lookup (nodes, weight->user->name) : NULL;
  const VnValue *value = node != NULL ? vn_node_get_input (node, weight->index) : NULL;

  return compare_weights_is_like (value, tensor) ? value : NULL;
}

/* ---- the rows ---- */

/* Weights in a mapped file may lie anywhere. FALSE: no memory to copy them. */
static gboolean
compare_weights_measure (const VnValue  *value,
                         const VnTensor *tensor,
                         VnErrorSum     *sum)
{
  g_autoptr(VnTensor) constant = vn_tensor_get_aligned (vn_value_get_constant (value), NULL);

  if (constant == NULL)
    return FALSE;
  vn_error_sum_init (sum);
  vn_error_sum_add (sum, constant->data, tensor->data, tensor->n_elements);
  vn_tensor_release_pages (constant);
  return TRUE;
}

/* Found by name and by node, in both networks, it mostly is the same one. */
static gboolean
compare_weights_was_measured (const VnValue * const *candidates,
                              guint                  n)
{
  for (guint i = 0; i < n; i++)
    if (candidates[i] != NULL && vn_value_get_constant (candidates[i])->data == vn_value_get_constant (candidates[n])->data)
      return TRUE;
  return FALSE;
}

/* In the network as it was and as it was prepared, by name and by node, what is nearest: a factor that preparation folded into
 * the weights is no error. */
static const VnValue *
compare_weights_find_nearest (const VnModel * const *models,
                              GHashTable * const    *nodes,
                              const VnStoredWeight          *weight,
                              const VnTensor        *tensor,
                              VnErrorSum            *best)
{
  const VnValue *candidates[4] = { NULL }, *found = NULL;

  for (guint i = 0; i < 2 && models[i] != NULL; i++)
    {
      candidates[2 * i] = compare_weights_find_by_name (models[i], weight->value->name, tensor);
      candidates[2 * i + 1] = compare_weights_find_by_user (nodes[i], weight, tensor);
    }
  for (guint k = 0; k < G_N_ELEMENTS (candidates); k++)
    {
      VnErrorSum sum;

      if (candidates[k] == NULL || compare_weights_was_measured (candidates, k) ||
          !compare_weights_measure (candidates[k], tensor, &sum))
        continue;
      if (found == NULL || vn_error_sum_noise (&sum) < vn_error_sum_noise (best))
        {
          found = candidates[k];
          *best = sum;
        }
    }
  return found;
}

/* @user: (nullable): what computes with it */
static VnErrorRow *
compare_weights_make_row (const char       *name,
                          const VnNode     *user,
                          const VnErrorSum *sum)
{
  VnErrorRow *row = vn_error_row_new ();

  row->value = g_strdup (name);
  row->node = user != NULL ? vn_node_dup_label (user) : g_strdup ("");
  row->op_type = g_strdup (user != NULL ? user->op_type : "");
  vn_error_sum_fill_row (sum, row);
  return row;
}

/**
 * vn_compare_weights:
 * @float_model: the reference
 * @prepared: (nullable): the same, prepared as for quantizing
 * @table: gets a row for each weight that has a counterpart
 *
 * Returns: how many have none
 */
guint
vn_compare_weights (const VnModel *float_model,
                    const VnModel *prepared,
                    const VnModel *quant_model,
                    VnErrorTable  *table)
{
  const VnModel *models[] = { float_model, prepared };
  g_autoptr(GHashTable) seen = g_hash_table_new (NULL, NULL), of_float = NULL, of_prepared = NULL;
  guint n_missing = 0;

  g_return_val_if_fail (float_model != NULL && quant_model != NULL && table != NULL, 0);

  of_float = vn_graph_index_nodes (float_model->graph);
  of_prepared = prepared != NULL ? vn_graph_index_nodes (prepared->graph) : NULL;
  for (guint i = 0; i < quant_model->graph->nodes->len; i++)
    {
      const VnNode *node = quant_model->graph->nodes->pdata[i];
      g_autoptr(VnTensor) tensor = NULL;
      const VnValue *value;
      VnErrorSum sum;
      VnStoredWeight weight;

      if (!compare_weights_find (node, &weight) ||
          !g_hash_table_add (seen, (gpointer) weight.value))
        continue;
      tensor = vn_stored_weight_restore (&weight, NULL);
      value = tensor != NULL ? compare_weights_find_nearest (models, (GHashTable *[]) { of_float, of_prepared }, &weight, tensor,
                                                             &sum) : NULL;
      if (value != NULL)
        vn_error_table_add_weight (table, compare_weights_make_row (value->name, weight.user, &sum));
      else
        n_missing++;
    }
  vn_error_table_sort_weights (table);
  return n_missing;
}

/* ---- one of them ---- */

/* Whether the same node reads it at the same place as one of @uses. */
static gboolean
compare_weights_has_use (const VnUses *uses,
                         const VnStoredWeight *weight)
{
  for (guint i = 0; weight->user != NULL && i < uses->len; i++)
    {
      const VnUse *use = &g_array_index (uses, VnUse, i);

      if (*use->node->name != '\0' && use->index == weight->index && g_str_equal (use->node->name, weight->user->name))
        return TRUE;
    }
  return FALSE;
}

static gboolean
compare_weights_find_one (const VnModel *reference,
                          const VnModel *network,
                          const VnValue *value,
                          VnStoredWeight *found)
{
  const VnTensor *tensor = vn_value_get_constant (value);
  gboolean by_use = FALSE;

  for (guint i = 0; i < network->graph->nodes->len; i++)
    {
      const VnNode *node = network->graph->nodes->pdata[i];
      VnStoredWeight weight;

      if (!compare_weights_find (node, &weight) ||
          !vn_shape_equal (&vn_value_get_constant (weight.value)->shape, &tensor->shape))
        continue;
      if (compare_weights_find_by_name (reference, weight.value->name, tensor) == value)
        {
          *found = weight;
          return TRUE;
        }
      if (!by_use && compare_weights_has_use (value->uses, &weight))
        {
          *found = weight;
          by_use = TRUE;
        }
    }
  return by_use;
}

static void
compare_weights_fill_grid (const VnStoredWeight *weight,
                           VnValueGrid  *grid)
{
  *grid = (VnValueGrid) { 0, 0, vn_value_get_constant (weight->value)->dtype, FALSE };
  if (weight->scale->n_elements != 1 || weight->outer != NULL)
    return;
  grid->scale = vn_tensor_get_double (weight->scale, 0);
  grid->zero_point = weight->zero_point != NULL ? vn_tensor_get_s64 (weight->zero_point, 0) : 0;
}

/**
 * vn_compare_read_weight:
 * @reference: has a constant @name
 * @network: made of it by some tool, or @reference itself
 * @grid: (out caller-allocates) (nullable): its scale; @grid->scale is 0 if the weight is float or has several
 *
 * Returns: (transfer full) (nullable): what @network holds for the constant, as float32; %NULL if there is nothing
 */
VnTensor *
vn_compare_read_weight (const VnModel *reference,
                        const VnModel *network,
                        const char    *name,
                        VnValueGrid   *grid)
{
  const VnValue *value, *same;
  g_autoptr(VnTensor) converted = NULL;
  VnTensor *constant;
  VnStoredWeight weight;

  g_return_val_if_fail (reference != NULL && network != NULL && name != NULL, NULL);

  if (grid != NULL)
    *grid = (VnValueGrid) { 0 };
  value = g_hash_table_lookup (reference->graph->by_name, name);
  if (value == NULL || vn_value_get_constant (value) == NULL)
    return NULL;
  if (network != reference && compare_weights_find_one (reference, network, value, &weight))
    {
      if (grid != NULL)
        compare_weights_fill_grid (&weight, grid);
      return vn_stored_weight_restore (&weight, NULL);
    }
  same = g_hash_table_lookup (network->graph->by_name, name);
  constant = same != NULL ? vn_value_get_constant (same) : NULL;
  if (constant == NULL || !vn_dtype_is_float (constant->dtype))
    return NULL;
  converted = vn_tensor_convert (constant, VN_DTYPE_F32, NULL);
  return converted != NULL ? vn_tensor_get_aligned (converted, NULL) : NULL;
}
