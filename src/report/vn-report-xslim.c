/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The analysis as XSlim writes it: a row for each constant and each result of an operator, the operators with the noisiest
 * results first. SNR is noise:signal over all elements of all samples, so less is better; numbers of rows where it is above
 * 0.1 or the cosine below 0.99 are red. F.Hist: 32 counts over the float range, of the calibration.
 *
 * Known deviations: all samples that are measured and all elements count, not a random part of them. */

#include "vn-report-private.h"

#include "vn-format.h"
#include "vn-i18n.h"

#include <math.h>

#define N_BINS 32

typedef struct
{
  double noise, signal, product, quantized, n;
} Sums;

/* ---- numbers ---- */

static char *
report_xslim_histogram_text (const VnHistogram *histogram)
{
  g_autoptr(GString) text = g_string_new (NULL);
  double counts[N_BINS], sum = 0, written = 0;

  if (histogram == NULL || histogram->min > histogram->max)
    return g_strdup ("");
  vn_histogram_linear (histogram, histogram->min, histogram->max, counts, N_BINS);
  for (guint i = 0; i < N_BINS; i++)
    {
      sum += counts[i];
      g_string_append_printf (text, "%s%.0f", i > 0 ? "," : "", rint (sum) - written);
      written = rint (sum);
    }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static void
report_xslim_append_row (GString           *text,
                         const char        *op,
                         const char        *var,
                         const VnErrorRow  *row,
                         const VnHistogram *histogram)
{
  const gboolean marked = vn_error_row_is_marked (row);
  g_autofree char *op_cell = _vn_report_cell (op), *var_cell = _vn_report_cell (var);
  g_autofree char *snr = vn_format_fixed (row->noise_to_signal, 4), *mse = vn_format_fixed (row->mse, 4);
  g_autofree char *cosine = vn_format_fixed (row->cosine, 4);
  g_autofree char *q_min = vn_format_fixed (row->quant_min, 3), *q_max = vn_format_fixed (row->quant_max, 3);
  g_autofree char *f_min = vn_format_fixed (row->float_min, 3), *f_max = vn_format_fixed (row->float_max, 3);
  g_autofree char *counts = report_xslim_histogram_text (histogram);
  const char *on = marked ? "<font color=\"red\">" : "", *off = marked ? "</font>" : "";

  g_string_append_printf (text, "| %s | %s | %s%s%s | %s%s%s | %s%s%s | %s, %s | %s, %s | %s |\n", op_cell, var_cell, on, snr,
                          off, on, mse, off, on, cosine, off, q_min, q_max, f_min, f_max, counts);
}

/* ---- constants ---- */

static void
report_xslim_add_element (Sums       *sums,
                          VnErrorRow *row,
                          double      x,
                          double      q)
{
  sums->noise += (q - x) * (q - x);
  sums->signal += x * x;
  sums->product += q * x;
  sums->quantized += q * q;
  sums->n++;
  row->float_min = MIN (row->float_min, x);
  row->float_max = MAX (row->float_max, x);
  row->quant_min = MIN (row->quant_min, q);
  row->quant_max = MAX (row->quant_max, q);
}

/* What the integers of a constant say against the constant; %FALSE if it does not become integers. */
static gboolean
report_xslim_measure_constant (VnTensor           *data,
                               const VnTensorPlan *plan,
                               VnErrorRow         *row)
{
  g_autoptr(VnTensor) aligned = vn_tensor_get_aligned (data, NULL);
  const int axis = plan->axis;
  const gsize inner = axis < 0 ? 1 : (gsize) vn_shape_count (&data->shape, axis + 1, data->shape.rank);
  Sums sums = { 0 };
  gint64 low, high;

  if (aligned == NULL || !vn_dtype_is_integer (plan->dtype) || plan->scale == NULL || data->n_elements == 0 ||
      plan->scale->n_elements != (axis < 0 ? 1 : (gsize) data->shape.dims[axis]))
    return FALSE;
  vn_dtype_integer_range (plan->dtype, &low, &high);
  *row = (VnErrorRow) { .float_min = INFINITY, .float_max = -INFINITY, .quant_min = INFINITY, .quant_max = -INFINITY };
  for (gsize i = 0; i < data->n_elements; i++)
    {
      const gsize channel = axis < 0 ? 0 : i / inner % plan->scale->n_elements;
      const double x = ((const float *) aligned->data)[i], scale = ((const float *) plan->scale->data)[channel];
      const double zero = (double) vn_tensor_get_s64 (plan->zero_point, channel);

      report_xslim_add_element (&sums, row, x, (CLAMP (rint (x / scale) + zero, (double) low, (double) high) - zero) * scale);
    }
  row->noise_to_signal = sums.noise == 0 ? 0 : sums.noise / sums.signal;
  row->mse = sums.noise / sums.n;
  row->cosine = sums.signal == 0 && sums.quantized == 0 ? 1
              : sums.signal == 0 || sums.quantized == 0 ? 0 : sums.product / sqrt (sums.signal * sums.quantized);
  return TRUE;
}

static void
report_xslim_append_constant (GString             *text,
                              const VnReportInput *input,
                              const char          *op,
                              const VnValue       *value)
{
  const VnTensorPlan *plan = vn_quant_plan_find (input->plan, value->name);
  g_autofree char *var = g_strconcat (value->name, "[Constant]", NULL);
  g_autoptr(VnHistogram) histogram = NULL;
  g_autoptr(VnScratch) scratch = NULL;
  g_autoptr(VnTensor) aligned = NULL;
  VnErrorRow row;

  if (plan == NULL || !plan->quantized || plan->role == VN_TENSOR_BIAS || value->initializer->dtype != VN_DTYPE_F32 ||
      !report_xslim_measure_constant (value->initializer, plan, &row) || (aligned = vn_tensor_get_aligned (value->initializer, NULL)) == NULL)
    return;
  histogram = vn_histogram_new ();
  scratch = vn_scratch_new ();
  vn_histogram_scan (histogram, scratch, aligned->data, aligned->n_elements);
  report_xslim_append_row (text, op, var, &row, histogram);
}

/* ---- operators ---- */

typedef struct { const VnNode *node; double noise; guint index; } Op;

static int
report_xslim_compare_ops (gconstpointer a,
                          gconstpointer b)
{
  const Op *x = a, *y = b;

  if (x->noise != y->noise)
    return x->noise > y->noise ? -1 : 1;
  return x->index < y->index ? -1 : 1;
}

static GArray *
report_xslim_list_ops (const VnReportInput *input,
                       const VnGraph       *graph)
{
  GArray *ops = g_array_new (FALSE, FALSE, sizeof (Op));

  for (guint i = 0; i < graph->nodes->len; i++)
    {
      Op op = { g_ptr_array_index (graph->nodes, i), -1, i };

      for (guint k = 0; k < op.node->outputs->len; k++)
        {
          const VnValue *value = vn_node_get_output (op.node, k);
          const VnErrorRow *row = value != NULL ? vn_error_table_find (input->errors, value->name) : NULL;

          op.noise = row != NULL ? MAX (op.noise, row->noise_to_signal) : op.noise;
        }
      if (op.noise >= 0)
        g_array_append_val (ops, op);
    }
  g_array_sort (ops, report_xslim_compare_ops);
  return ops;
}

static void
report_xslim_append_op (GString             *text,
                        const VnReportInput *input,
                        const VnNode        *node)
{
  g_autofree char *label = vn_node_dup_label (node);
  g_autofree char *op = g_strdup_printf ("%s[%s]", label, node->op_type);

  for (guint i = 0; i < node->inputs->len && input->plan != NULL; i++)
    {
      const VnValue *value = vn_node_get_input (node, i);

      if (value != NULL && value->initializer != NULL)
        report_xslim_append_constant (text, input, op, value);
    }
  for (guint i = 0; i < node->outputs->len; i++)
    {
      const VnValue *value = vn_node_get_output (node, i);
      const VnErrorRow *row = value != NULL ? vn_error_table_find (input->errors, value->name) : NULL;

      if (row != NULL)
        report_xslim_append_row (text, op, value->name, row, input->stats != NULL ? vn_stats_get (input->stats, value->name) : NULL);
    }
}

static void
report_xslim_append_legend (GString *text)
{
  const VnMetricInfo *noise = vn_metric_get_info (VN_METRIC_NOISE);
  g_autofree char *fine = vn_format_plain (noise->fine), *bad = vn_format_plain (noise->bad);
  g_autofree char *cosine = vn_format_plain (vn_metric_get_info (VN_METRIC_COSINE)->bad);

  g_string_append_printf (text, "\n%s", _("SNR is noise:signal, less is better"));
  g_string_append_printf (text, _(": below %s negligible, to %s acceptable. It says more than the cosine. "), fine, bad);
  g_string_append_printf (text, _("Red: SNR above %s or cosine below %s. "), bad, cosine);
  g_string_append_printf (text, "%s\n\n", _("An F range much wider than the Q range: values are clipped. Many empty bins: too few "
                                            "samples."));
}

/**
 * vn_report_xslim:
 * @input: with @errors and @prepared
 *
 * Returns: (transfer full): the analysis as XQuant and XSlim lay it out, in Markdown
 */
char *
vn_report_xslim (const VnReportInput *input)
{
  GString *text = g_string_new (NULL);
  g_autoptr(GArray) ops = NULL;

  g_return_val_if_fail (input->errors != NULL && input->prepared != NULL, NULL);

  ops = report_xslim_list_ops (input, input->prepared->graph);
  g_string_append_printf (text, "# %s\n", _("Quantization analysis"));
  _vn_report_append_verdict (text, input);
  report_xslim_append_legend (text);
  g_string_append (text, "| Op | Var | SNR | MSE | Cosine | Q.MinMax | F.MinMax | F.Hist |\n"
                         "|---|---|---:|---:|---:|---|---|---|\n");
  for (guint i = 0; i < ops->len; i++)
    report_xslim_append_op (text, input, g_array_index (ops, Op, i).node);
  _vn_report_append_notes (text, input->notes);
  return g_string_free (text, FALSE);
}
