/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What another precision of some nodes would gain and cost: by what each of their tensors contributes to the error, and by the
 * sizes of their constants. */
#include "vn-precision-gain.h"

#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-node-sizes.h"

#include <math.h>

#define MOST_SHARE 0.9999    /* more than that is not told: 40 dB */

/* What a tensor still adds when it is given twice the bits is nothing beside the others. */
static gboolean
precision_gain_removes (const VnContribution *item,
                        VnDType               dtype,
                        VnNodePrecision       precision)
{
  return precision == VN_NODE_FLOAT || (item->role == VN_TENSOR_ACTIVATION && vn_dtype_get_bits (dtype) < 16);
}

/* Each contribution once, however many nodes stand for it. */
static double
precision_gain_sum_shares (VnRun           *run,
                           const VnGraph   *graph,
                           const guint     *nodes,
                           guint            n,
                           VnNodePrecision  precision)
{
  g_autoptr(GHashTable) dtypes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  double sum = 0;

  for (guint i = 0; i < n; i++)
    {
      const VnNode *node = g_ptr_array_index (graph->nodes, nodes[i]);
      const VnErrorRow *row = vn_run_get_node_error (run, node);
      const VnDType dtype = vn_run_get_node_dtype (run, node);

      g_hash_table_insert (dtypes, vn_node_dup_label (node), GINT_TO_POINTER (dtype));
      if (row != NULL)
        g_hash_table_insert (dtypes, g_strconcat ("=", row->value, NULL), GINT_TO_POINTER (dtype));
    }
  for (guint i = 0; i < vn_contributions_get_n (run->contributions); i++)
    {
      const VnContribution *item = vn_contributions_get (run->contributions, i);
      g_autofree char *value = g_strconcat ("=", item->value, NULL);
      gpointer dtype;

      if ((g_hash_table_lookup_extended (dtypes, value, NULL, &dtype) ||
           (*item->node != '\0' && g_hash_table_lookup_extended (dtypes, item->node, NULL, &dtype))) &&
          precision_gain_removes (item, (VnDType) GPOINTER_TO_INT (dtype), precision))
        sum += item->share;
    }
  return CLAMP (sum, 0, MOST_SHARE);
}

static gint64
precision_gain_sum_bytes (VnModel     *model,
                          VnRun       *run,
                          const guint *nodes,
                          guint        n)
{
  g_autoptr(GArray) sizes = vn_node_sizes_list (model, run);
  gint64 bytes = 0;

  for (guint i = 0; sizes != NULL && i < n; i++)
    {
      const VnNodeSize *size = nodes[i] < sizes->len ? &g_array_index (sizes, VnNodeSize, nodes[i]) : NULL;

      if (size != NULL && size->after >= 0)
        bytes += size->before - size->after;
    }
  return bytes;
}

/**
 * vn_precision_gain_estimate:
 * @nodes: (array length=n): indices of nodes
 * @precision: %VN_NODE_16_BIT or %VN_NODE_FLOAT, of their outputs
 * @gain: (out):
 *
 * Returns: %FALSE if nothing was quantized yet, or the recipe has changed since
 */
gboolean
vn_precision_gain_estimate (VnBench         *bench,
                            const guint     *nodes,
                            guint            n,
                            VnNodePrecision  precision,
                            VnPrecisionGain *gain)
{
  VnModel *model;
  VnRun *run;

  g_return_val_if_fail (VN_IS_BENCH (bench) && (nodes != NULL || n == 0) && gain != NULL, FALSE);
  g_return_val_if_fail (precision == VN_NODE_16_BIT || precision == VN_NODE_FLOAT, FALSE);

  *gain = (VnPrecisionGain) { NAN, 0 };
  model = vn_bench_get_model (bench);
  run = vn_bench_get_shown (bench);
  if (model == NULL || run == NULL || n == 0)
    return FALSE;
  for (guint i = 0; i < n; i++)
    g_return_val_if_fail (nodes[i] < model->graph->nodes->len, FALSE);
  if (run->contributions != NULL)
    gain->gain_db = -10 * log10 (1 - precision_gain_sum_shares (run, model->graph, nodes, n, precision));
  if (precision == VN_NODE_FLOAT)
    gain->bytes = precision_gain_sum_bytes (model, run, nodes, n);
  return TRUE;
}

/**
 * vn_precision_gain_dup_text:
 *
 * Returns: (transfer full): “≈ +1.2 dB · +34 kB”
 */
char *
vn_precision_gain_dup_text (const VnPrecisionGain *self)
{
  g_autofree char *amount = NULL, *bytes = NULL, *db = NULL;

  g_return_val_if_fail (self != NULL, NULL);

  amount = vn_format_bytes ((guint64) ABS (self->bytes));
  bytes = self->bytes == 0 ? g_strdup (_("same size")) : g_strconcat (self->bytes > 0 ? "+" : "\u2212", amount, NULL);
  if (isnan (self->gain_db))
    return g_steal_pointer (&bytes);
  db = vn_format_signed_db (self->gain_db);
  return g_strdup_printf ("≈\u00a0%s · %s", db, bytes);
}
