/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The analysis of XSlim: a row for each constant and each result of an operator, the operators with the noisiest results
 * first.
 *
 * Known deviations: all samples that are measured and all elements count, not a random part of them. */
#include "vn-xslim-analysis.h"

#include <math.h>

typedef struct
{
  double noise, signal, product, quantized, n;
} Sums;

/* ---- rows ---- */

static void
xslim_free_row (gpointer data)
{
  VnXslimRow *row = data;

  g_free (row->op);
  g_free (row->var);
  g_free (row);
}

/* Whole numbers that sum up to what was counted. */
static gboolean
xslim_fill_counts (gint64            *counts,
                   const VnHistogram *histogram)
{
  double parts[VN_XSLIM_N_COUNTS], sum = 0, written = 0;

  if (histogram == NULL || histogram->min > histogram->max)
    return FALSE;
  vn_histogram_linear (histogram, histogram->min, histogram->max, parts, VN_XSLIM_N_COUNTS);
  for (guint i = 0; i < VN_XSLIM_N_COUNTS; i++)
    {
      sum += parts[i];
      counts[i] = (gint64) (rint (sum) - written);
      written = rint (sum);
    }
  return TRUE;
}

static void
xslim_add_row (GPtrArray         *rows,
               const char        *op,
               char              *var,
               const VnErrorRow  *error,
               const VnHistogram *histogram)
{
  VnXslimRow *row = g_new0 (VnXslimRow, 1);

  *row = (VnXslimRow) { .op = g_strdup (op), .var = var, .noise_to_signal = error->noise_to_signal, .mse = error->mse,
                        .cosine = error->cosine, .float_min = error->float_min, .float_max = error->float_max,
                        .quantized_min = error->quant_min, .quantized_max = error->quant_max,
                        .is_marked = vn_error_row_is_marked (error) };
  row->has_counts = xslim_fill_counts (row->counts, histogram);
  g_ptr_array_add (rows, row);
}

/* ---- constants ---- */

static void
xslim_add_element (Sums       *sums,
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
xslim_measure_constant (VnTensor           *data,
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

      xslim_add_element (&sums, row, x, (CLAMP (rint (x / scale) + zero, (double) low, (double) high) - zero) * scale);
    }
  row->noise_to_signal = sums.noise == 0 ? 0 : sums.noise / sums.signal;
  row->mse = sums.noise / sums.n;
  row->cosine = sums.signal == 0 && sums.quantized == 0 ? 1
              : sums.signal == 0 || sums.quantized == 0 ? 0 : sums.product / sqrt (sums.signal * sums.quantized);
  return TRUE;
}

static void
xslim_add_constant (GPtrArray     *rows,
                    VnQuantPlan   *quant_plan,
                    const char    *op,
                    const VnValue *value)
{
  const VnTensorPlan *plan = vn_quant_plan_find (quant_plan, value->name);
  g_autoptr(VnHistogram) histogram = NULL;
  g_autoptr(VnHistogramScratch) scratch = NULL;
  g_autoptr(VnTensor) aligned = NULL;
  VnErrorRow row;

  if (plan == NULL || !plan->quantized || plan->role == VN_TENSOR_BIAS || value->initializer->dtype != VN_DTYPE_F32 ||
      !xslim_measure_constant (value->initializer, plan, &row) ||
      (aligned = vn_tensor_get_aligned (value->initializer, NULL)) == NULL)
    return;
  histogram = vn_histogram_new ();
  scratch = vn_scratch_new ();
  vn_histogram_scan (histogram, scratch, aligned->data, aligned->n_elements);
  xslim_add_row (rows, op, g_strconcat (value->name, "[Constant]", NULL), &row, histogram);
}

/* ---- operators ---- */

typedef struct { const VnNode *node; double noise; guint index; } Op;

static int
xslim_compare_ops (gconstpointer a,
                   gconstpointer b)
{
  const Op *x = a, *y = b;

  if (x->noise != y->noise)
    return x->noise > y->noise ? -1 : 1;
  return x->index < y->index ? -1 : 1;
}

static GArray *
xslim_list_ops (VnErrorTable  *errors,
                const VnGraph *graph)
{
  GArray *ops = g_array_new (FALSE, FALSE, sizeof (Op));

  for (guint i = 0; i < graph->nodes->len; i++)
    {
      Op op = { g_ptr_array_index (graph->nodes, i), -1, i };

      for (guint k = 0; k < op.node->outputs->len; k++)
        {
          const VnValue *value = vn_node_get_output (op.node, k);
          const VnErrorRow *row = value != NULL ? vn_error_table_find (errors, value->name) : NULL;

          op.noise = row != NULL ? MAX (op.noise, row->noise_to_signal) : op.noise;
        }
      if (op.noise >= 0)
        g_array_append_val (ops, op);
    }
  g_array_sort (ops, xslim_compare_ops);
  return ops;
}

/* Constants that it reads, then its results. */
static void
xslim_add_op (GPtrArray    *rows,
              const VnNode *node,
              VnErrorTable *errors,
              VnQuantPlan  *plan,
              VnStats      *stats)
{
  g_autofree char *label = vn_node_dup_label (node);
  g_autofree char *op = g_strdup_printf ("%s[%s]", label, node->op_type);

  for (guint i = 0; i < node->inputs->len && plan != NULL; i++)
    {
      const VnValue *value = vn_node_get_input (node, i);

      if (value != NULL && value->initializer != NULL)
        xslim_add_constant (rows, plan, op, value);
    }
  for (guint i = 0; i < node->outputs->len; i++)
    {
      const VnValue *value = vn_node_get_output (node, i);
      const VnErrorRow *error = value != NULL ? vn_error_table_find (errors, value->name) : NULL;

      if (error != NULL)
        xslim_add_row (rows, op, g_strdup (value->name), error, stats != NULL ? vn_stats_get (stats, value->name) : NULL);
    }
}

/**
 * vn_xslim_list_rows:
 * @prepared: the float network that was compared
 * @errors: of its tensors
 * @plan: (nullable): what became of its constants
 * @stats: (nullable): of the calibration
 *
 * Returns: (transfer full) (element-type VnXslimRow): the rows of the analysis as XQuant and XSlim order them
 */
GPtrArray *
vn_xslim_list_rows (const VnModel *prepared,
                    VnErrorTable  *errors,
                    VnQuantPlan   *plan,
                    VnStats       *stats)
{
  GPtrArray *rows;
  g_autoptr(GArray) ops = NULL;

  g_return_val_if_fail (prepared != NULL && errors != NULL, NULL);

  rows = g_ptr_array_new_with_free_func (xslim_free_row);
  ops = xslim_list_ops (errors, prepared->graph);
  for (guint i = 0; i < ops->len; i++)
    xslim_add_op (rows, g_array_index (ops, Op, i).node, errors, plan, stats);
  return rows;
}
