/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the most likely cause of a node's error: errors from before, or what the statistics of its tensors tell. */
#include "vn-cause.h"

#include "vn-diagnose.h"
#include "vn-i18n.h"
#include "vn-thresholds.h"

#include <math.h>

/**
 * vn_cause_find_origin:
 *
 * Returns: (transfer none) (nullable): the producer of the worst input, if that is nearly as bad as the
 *   output of @node; %NULL if the error arises in @node, or was not measured
 */
const VnNode *
vn_cause_find_origin (VnRun        *result,
                      const VnNode *node)
{
  const VnErrorRow *own;
  const VnNode *worst = NULL;
  double worst_db = INFINITY;

  g_return_val_if_fail (result != NULL && node != NULL, NULL);

  own = vn_run_get_node_error (result, node);
  for (guint i = 0; own != NULL && i < node->inputs->len; i++)
    {
      VnValue *input = vn_node_get_input (node, i);
      const VnErrorRow *row = input != NULL && input->producer != NULL && input->graph == node->graph
                              ? vn_run_get_node_error (result, input->producer) : NULL;

      if (row != NULL && row->sqnr_db < worst_db)
        {
          worst_db = row->sqnr_db;
          worst = input->producer;
        }
    }
  return worst != NULL && worst_db <= own->sqnr_db + VN_PASSED_ON_DB ? worst : NULL;
}

static char *
cause_describe_origin (VnRun        *result,
                       const VnNode *node)
{
  const VnNode *origin = vn_cause_find_origin (result, node);
  g_autofree char *label = origin != NULL ? vn_node_dup_label (origin) : NULL;

  return label != NULL ? g_strdup_printf (_("Propagates the error of %s."), label) : NULL;
}

/* By the rules of vn-reasons.def: of its output, or of its weight first unless rounding the output loses as much as is lost. */
static char *
cause_describe_tensors (VnRun              *result,
                        const VnNode       *node,
                        const VnErrorRow   *row,
                        const VnTensorPlan *plan)
{
  const VnValue *weight = node->inputs->len > 1 ? vn_node_get_input (node, 1) : NULL;
  const char *names[2] = { plan->name, weight != NULL && vn_value_is_constant (weight) ? weight->name : NULL };
  gboolean weight_first = !row->has_local || row->local_db > row->sqnr_db + VN_PASSED_ON_DB;
  char *text = NULL;

  for (guint i = 0; i < 2 && text == NULL; i++)
    if (names[weight_first ? 1 - i : i] != NULL)
      text = vn_diagnose_tensor (result, names[weight_first ? 1 - i : i], NULL);
  return text;
}

/**
 * vn_cause_describe:
 * @result: a run
 * @node: of the model as opened
 *
 * Looks, in this order, for values that are no numbers, for a node left in float, for error that only comes
 * in from before, and for the reasons that the statistics of its output and of its weight tell.
 *
 * Returns: (transfer full) (nullable): one sentence
 */
char *
vn_cause_describe (VnRun        *result,
                   const VnNode *node)
{
  const VnErrorRow *row;
  const VnTensorPlan *plan;
  char *text = NULL;

  g_return_val_if_fail (result != NULL, NULL);

  row = vn_run_get_node_error (result, node);
  plan = vn_run_get_node_plan (result, node);
  if (row != NULL && row->n_bad > 0)
    return g_strdup_printf (ngettext ("%.0f value became NaN or infinite.", "%.0f values became NaN or infinite.",
                                      row->n_bad), (double) row->n_bad);
  if (row == NULL || !(row->sqnr_db < vn_metric_get_info (VN_METRIC_SQNR)->fine))
    return plan != NULL && !plan->quantized ? g_strdup (_("Not quantized.")) : NULL;

  text = cause_describe_origin (result, node);
  if (text == NULL && plan != NULL && plan->quantized)
    text = cause_describe_tensors (result, node, row, plan);
  if (text == NULL && plan != NULL && !plan->quantized)
    text = g_strdup (_("Not quantized itself: the error comes from its inputs or weights."));
  return text;
}
