/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Puts errors of means into biases. */
#include "vn-bias-correct.h"

#include "vn-i18n.h"

#include <math.h>

/* AMD: a correction that is large beside the biases is made smaller; nothing below this is. */
#define SMALL 0.1
#define BIAS_PART 256

static double
bias_correct_find_damping (const VnTensor *bias,
                           const GArray   *means)
{
  double largest = 0, most = 0;

  for (gsize c = 0; bias != NULL && c < bias->n_elements; c++)
    most = fmax (most, fabs (vn_tensor_get_double (bias, c)));
  for (guint c = 0; c < means->len; c++)
    largest = fmax (largest, fabs (g_array_index (means, double, c)));
  return largest > most / BIAS_PART && largest > SMALL ? most / BIAS_PART / largest : 1;
}

static VnTensor *
bias_correct_make_bias (const VnTensor *old,
                        const GArray   *means,
                        double          factor,
                        double         *largest,
                        GError        **error)
{
  VnTensor *bias = vn_tensor_new (VN_DTYPE_F32, old != NULL && old->n_elements == means->len ? &old->shape
                                                                                           : &VN_SHAPE (means->len), error);

  for (guint c = 0; bias != NULL && c < means->len; c++)
    {
      double before = old == NULL ? 0 : vn_tensor_get_double (old, old->n_elements == 1 ? 0 : c);
      double after = before + factor * g_array_index (means, double, c);

      ((float *) bias->data)[c] = isfinite ((float) after) ? (float) after : (float) before;
      *largest = fmax (*largest, fabs ((double) ((float *) bias->data)[c] - before));
    }
  return bias;
}

static void
bias_correct_set_bias (VnNode   *node,
                       VnTensor *bias)
{
  VnValue *value = vn_node_get_input (node, 2);
  g_autofree char *base = NULL;

  if (value != NULL && value->initializer != NULL && value->uses->len == 1 && value->graph == node->graph && !value->is_output)
    {
      vn_graph_set_initializer (node->graph, value, bias);
      return;
    }
  base = g_strconcat (vn_node_get_output (node, 0)->name, "_bias", NULL);
  vn_node_set_input (node, 2, vn_graph_add_initializer (node->graph, base, bias));
}

static gboolean
correct (VnNode            *node,
         const VnBiasError *found,
         VnBiasCorrection   rule,
         VnEditLog         *log,
         GError           **error)
{
  VnValue *value = vn_node_get_input (node, 2);
  g_autoptr(VnTensor) old = value != NULL ? vn_tensor_get_aligned (vn_value_get_constant (value), error) : NULL;
  g_autoptr(VnTensor) bias = NULL;
  double beta = vn_node_is (node, "Gemm") ? (double) vn_node_get_float (node, "beta", 1) : 1, largest = 0, factor;

  if (value != NULL && old == NULL)
    return FALSE;
  if (beta == 0 || (old != NULL && old->n_elements != 1 && old->n_elements != found->means->len))
    return TRUE;
  factor = (rule == VN_BIAS_CORRECTION_AMD ? bias_correct_find_damping (old, found->means) : 1) / beta;
  bias = bias_correct_make_bias (old, found->means, factor, &largest, error);
  if (bias == NULL)
    return FALSE;
  if (largest == 0)
    return TRUE;
  bias_correct_set_bias (node, bias);
  vn_edit_log_add (log, "set", found->node, NULL, _("%s: biases of %u channels corrected by up to %.4g"), found->node,
                   found->means->len, largest);
  return TRUE;
}

/**
 * vn_bias_correct:
 * @prepared: the float network
 * @errors: (element-type VnBiasError): from vn_bias_measure()
 * @rule: AMD: a correction of more than 0.1 and more than a 256th of the largest bias becomes that much; XSlim: as it is
 *
 * Returns: (transfer full) (nullable): a copy of @prepared with corrected biases; layers that had none have got some
 */
VnModel *
vn_bias_correct (const VnModel     *prepared,
                 GPtrArray         *errors,
                 VnBiasCorrection   rule,
                 VnEditLog         *log,
                 GError           **error)
{
  g_autoptr(VnModel) model = NULL;
  g_autoptr(GHashTable) nodes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  g_return_val_if_fail (prepared != NULL && errors != NULL, NULL);

  model = vn_model_copy (prepared);
  for (guint i = 0; i < model->graph->nodes->len; i++)
    g_hash_table_insert (nodes, vn_node_dup_label (g_ptr_array_index (model->graph->nodes, i)),
                         g_ptr_array_index (model->graph->nodes, i));
  vn_edit_log_set_pass (log, "bias-correction");
  for (guint i = 0; i < errors->len; i++)
    {
      const VnBiasError *found = g_ptr_array_index (errors, i);
      VnNode *node = g_hash_table_lookup (nodes, found->node);

      if (node != NULL && !correct (node, found, rule, log, error))
        return NULL;
    }
  return g_steal_pointer (&model);
}
