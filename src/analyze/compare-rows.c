/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of errors, as comparing makes them: of what the sums of a tensor came to. */
#include "compare-rows.h"

#include "vn-cache.h"

/* Whether an output of floats can be computed. */
static gboolean
compare_rows_have_outputs (VnPlan *plan)
{
  const GPtrArray *outputs = vn_plan_get_model (plan)->graph->outputs;

  for (guint i = 0; i < outputs->len; i++)
    if (vn_compare_has_row (outputs->pdata[i]) && vn_plan_is_computed (plan, outputs->pdata[i]))
      return TRUE;
  return FALSE;
}

/* Whether a node that cannot be run reads @value, and nothing else that would tell of it. */
static gboolean
compare_rows_is_last (VnPlan        *plan,
                      const VnValue *value)
{
  const gboolean has_outputs = compare_rows_have_outputs (plan);
  gboolean is_lost = FALSE;

  for (guint i = 0; i < value->uses->len; i++)
    {
      const VnNode *user = g_array_index (value->uses, VnUse, i).node;
      gboolean is_run = FALSE;

      while (user->graph != value->graph && user->graph->parent_node != NULL)
        user = user->graph->parent_node;
      for (guint k = 0; user->graph == value->graph && k < user->outputs->len; k++)
        is_run |= vn_node_get_output (user, k) != NULL && vn_plan_is_computed (plan, vn_node_get_output (user, k));
      if (is_run && has_outputs)
        return FALSE;
      is_lost |= !is_run;
    }
  return is_lost && !value->is_output;
}

/*< private >
 * vn_compare_make_row:
 * @plan: of the float network
 * @sums: (array): as many as vn_part_sums_count() says
 * @partition: (nullable): of @value
 * @local: (nullable): what its pair of quantization and dequantization does
 *
 * Returns: (transfer full): the row of @value
 */
VnErrorRow *
vn_compare_make_row (VnPlan            *plan,
                     const VnValue     *value,
                     const VnErrorSum  *sums,
                     const VnPartition *partition,
                     const VnErrorSum  *local)
{
  VnErrorRow *row;

  g_return_val_if_fail (plan != NULL && value != NULL && sums != NULL, NULL);

  row = vn_error_row_new ();
  row->value = g_strdup (value->name);
  row->node = value->producer != NULL ? vn_node_dup_label (value->producer) : g_strdup ("");
  row->op_type = g_strdup (value->producer != NULL ? value->producer->op_type : "");
  row->is_output = value->is_output && !vn_value_is_cache (value);
  row->is_last = value->graph->parent == NULL && compare_rows_is_last (plan, value);
  vn_part_sums_fill_row (sums, partition, row);
  row->has_local = local != NULL && local->n > 0;
  row->local_db = local != NULL ? vn_error_sum_sqnr (local) : 0;
  return row;
}
