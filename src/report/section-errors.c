/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sections: the error of each tensor with how it is quantized, of each weight by itself, and of what runs inside nodes. */
#include "vn-report-build.h"

#include "vn-format.h"
#include "vn-i18n.h"

#include <math.h>

/* A column for each line of vn-metrics.def. */
#define VN_METRIC(SYMBOL, field, id, title, unit, scale, fine, bad) { #field, title, unit, TRUE, VN_REPORT_APART, 0 },

#define SUBJECT_COLUMNS \
  { "marked", NULL, NULL, FALSE, VN_REPORT_APART, 0 }, \
  { "node", N_("Node"), NULL, FALSE, VN_REPORT_APART, 0 }, \
  { "type", N_("Type"), NULL, FALSE, VN_REPORT_APART, 0 }, \
  { "tensor", N_("Tensor"), NULL, FALSE, VN_REPORT_APART, VN_REPORT_ALL_PARTS },

static void
section_errors_add_subject (GPtrArray        *row,
                            const VnErrorRow *error)
{
  const gboolean marked = vn_error_row_is_marked (error);
  VnReportValue *mark = _vn_report_bool (marked, marked ? "!" : "");

  mark->is_bad = marked;
  g_ptr_array_add (row, mark);
  g_ptr_array_add (row, _vn_report_text_as (error->node, error->node[0] != '\0' ? error->node : _("(input)")));
  g_ptr_array_add (row, _vn_report_text (error->op_type));
  g_ptr_array_add (row, _vn_report_text (error->value));
}

static void
section_errors_add_metrics (GPtrArray        *row,
                            const VnErrorRow *error)
{
  for (VnMetric metric = 0; metric < VN_N_METRICS; metric++)
    {
      const double value = vn_metric_get (error, metric);

      g_ptr_array_add (row, vn_metric_is_measured (error, metric)
                       ? _vn_report_number (value, vn_metric_format_fixed (metric, value))
                                                                  : _vn_report_absent ());
    }
}

/* ---- tensors ---- */

static const VnReportColumn tensor_columns[] = {
  SUBJECT_COLUMNS
  { "quantized", N_("Precision"), NULL, FALSE, VN_REPORT_APART, 0 },
#include "vn-metrics.def"
  { "float_min", N_("Float range"), NULL, FALSE, VN_REPORT_APART, 0 },
  { "float_max", NULL, NULL, FALSE, VN_REPORT_JOIN_RANGE, 0 },
  { "quantized_min", N_("Quantized range"), NULL, FALSE, VN_REPORT_APART, 0 },
  { "quantized_max", NULL, NULL, FALSE, VN_REPORT_JOIN_RANGE, 0 },
  { "worst_part", N_("Worst part"), NULL, FALSE, VN_REPORT_APART, 0 },
  { "dead", N_("Dead"), NULL, FALSE, VN_REPORT_APART, 0 },
  { "whole_sqnr_db", N_("All parts together"), N_("dB"), TRUE, VN_REPORT_APART, 0 },
  { "sqnr_margin_db", N_("Margin of the SQNR"), N_("dB"), TRUE, VN_REPORT_APART, 0 },
  { "held_out_sqnr_db", N_("From the held-out samples"), N_("dB"), TRUE, VN_REPORT_APART, 0 },
  { "preparation_sqnr_db", N_("Of preparation alone"), N_("dB"), TRUE, VN_REPORT_APART, 0 },
  { "local_sqnr_db", N_("Local SQNR"), N_("dB"), TRUE, VN_REPORT_APART, 0 },
  { "not_finite", N_("Non-finite"), NULL, TRUE, VN_REPORT_APART, 0 },
  { "not_finite_before", N_("Non-finite in the float model"), NULL, TRUE, VN_REPORT_APART, 0 },
  { "output", N_("Output"), NULL, FALSE, VN_REPORT_APART, 0 },
  { "last_computed", N_("Last before unsupported nodes"), NULL, FALSE, VN_REPORT_APART, 0 },
  { "dtype", N_("Data type"), NULL, FALSE, VN_REPORT_APART, 1 },
  { "scale", N_("Scale"), NULL, TRUE, VN_REPORT_APART, 1 },
  { "zero_point", N_("Zero point"), NULL, TRUE, VN_REPORT_APART, 1 },
  { "range_min", N_("Range"), NULL, FALSE, VN_REPORT_APART, 1 },
  { "range_max", NULL, NULL, FALSE, VN_REPORT_JOIN_RANGE, 1 },
  { "rule", N_("Rule"), NULL, FALSE, VN_REPORT_APART, 1 },
  { "runtime", N_("In ONNX Runtime"), NULL, FALSE, VN_REPORT_APART, 1 },
};

static const VnReportPart tensor_parts[] = {
  { NULL, N_("Each tensor of the quantized model compared with the same tensor of the float model, over all samples. "
             "SQNR in dB: higher is better. Noise-to-signal ratio: lower is better.") },
  { N_("Quantization parameters by tensor"), NULL },
};

static void
section_errors_add_precision (GPtrArray          *row,
                              VnRun              *run,
                              const VnTensorPlan *plan)
{
  if (run->plan == NULL)
    g_ptr_array_add (row, _vn_report_absent ());
  else if (plan != NULL && plan->quantized)
    g_ptr_array_add (row, _vn_report_bool (TRUE, vn_dtype_get_badge (plan->dtype)));
  else
    g_ptr_array_add (row, _vn_report_bool (FALSE, vn_dtype_get_badge (VN_DTYPE_F32)));
}

static void
section_errors_add_ranges (GPtrArray        *row,
                           const VnErrorRow *error)
{
  g_ptr_array_add (row, _vn_report_number (error->float_min, NULL));
  g_ptr_array_add (row, _vn_report_number (error->float_max, NULL));
  g_ptr_array_add (row, _vn_report_number (error->quant_min, NULL));
  g_ptr_array_add (row, _vn_report_number (error->quant_max, NULL));
}

static void
section_errors_add_db (GPtrArray *row,
                       double     db)
{
  g_ptr_array_add (row, isnan (db) ? _vn_report_absent () : _vn_report_number (db, vn_metric_format_fixed (VN_METRIC_SQNR, db)));
}

static void
section_errors_add_parts (GPtrArray        *row,
                          const VnErrorRow *error)
{
  const VnErrorPart *worst = vn_error_row_get_worst_part (error);
  g_autofree char *title = worst != NULL ? vn_error_part_dup_title (worst) : NULL;

  g_ptr_array_add (row, title != NULL ? _vn_report_text (title) : _vn_report_absent ());
  g_ptr_array_add (row, vn_error_row_is_dead (error) ? _vn_report_bool (TRUE, _("yes")) : _vn_report_absent ());
  g_ptr_array_add (row, worst != NULL ? _vn_report_number (error->whole_db,
                                                           vn_metric_format_fixed (VN_METRIC_SQNR, error->whole_db))
                                      : _vn_report_absent ());
  section_errors_add_db (row, error->margin_db);
  section_errors_add_db (row, error->held_out_db);
  section_errors_add_db (row, error->preparation_db);
}

static void
section_errors_add_rest (GPtrArray        *row,
                         const VnErrorRow *error)
{
  section_errors_add_parts (row, error);
  g_ptr_array_add (row, error->has_local ? _vn_report_number (error->local_db,
                                                              vn_metric_format_fixed (VN_METRIC_SQNR, error->local_db))
                                         : _vn_report_absent ());
  g_ptr_array_add (row, _vn_report_int ((gint64) error->n_bad, error->n_bad == 0 ? g_strdup ("") : NULL));
  g_ptr_array_add (row, error->n_bad_float > 0 ? _vn_report_int ((gint64) error->n_bad_float, NULL) : _vn_report_absent ());
  g_ptr_array_add (row, _vn_report_bool (error->is_output, error->is_output ? _("yes") : ""));
  g_ptr_array_add (row, error->is_last ? _vn_report_bool (TRUE, _("yes")) : _vn_report_absent ());
}

static void
section_errors_add_plan (GPtrArray          *row,
                         const VnTensorPlan *plan)
{
  if (plan != NULL && plan->quantized && plan->scale != NULL)
    {
      g_ptr_array_add (row, _vn_report_text (vn_dtype_get_name (plan->dtype)));
      g_ptr_array_add (row, _vn_report_number (vn_tensor_get_double (plan->scale, 0), NULL));
      g_ptr_array_add (row, _vn_report_int (vn_tensor_get_s64 (plan->zero_point, 0), NULL));
      g_ptr_array_add (row, _vn_report_number (plan->min, NULL));
      g_ptr_array_add (row, _vn_report_number (plan->max, NULL));
    }
  else
    for (guint i = 0; i < 5; i++)
      g_ptr_array_add (row, _vn_report_absent ());
  g_ptr_array_add (row, plan != NULL ? _vn_report_text (plan->rule) : _vn_report_absent ());
}

/* How the node that makes it is run. */
static void
section_errors_add_runtime (GPtrArray        *row,
                            VnRun            *run,
                            const VnErrorRow *error)
{
  const VnRuntimeNode *node = run->forecast != NULL && error->node[0] != '\0'
                              ? vn_runtime_forecast_find_value (run->forecast, error->value, error->node) : NULL;

  g_ptr_array_add (row, node != NULL ? _vn_report_text_as (vn_runtime_kind_get_id (node->kind),
                                                           vn_runtime_kind_get_title (node->kind))
                                     : _vn_report_absent ());
}

#define BRIEFS 4u

/* Where nobody asked where error starts, where it is largest. */
static void
section_errors_add_briefs (VnReportSection *section,
                           VnRun           *run,
                           const GArray    *order)
{
  if (run->contributions != NULL && vn_contributions_get_n (run->contributions) > 0)
    return;
  for (guint i = 0; i < MIN (order->len, BRIEFS); i++)
    {
      const VnErrorRow *error = vn_error_table_get (run->errors, g_array_index (order, guint, i));

      _vn_report_add_brief (section, vn_format_db (error->sqnr_db), g_strdup (error->value), g_strdup (error->op_type));
    }
}

void
_vn_report_build_tensors (VnReportSection *section,
                          VnRun           *run)
{
  g_autoptr(GArray) order = NULL;
  VnReportContent *table;

  if (run->errors == NULL)
    return;
  order = vn_error_table_sort_by (run->errors, vn_error_table_get_weakest_metric (run->errors));
  section_errors_add_briefs (section, run, order);
  table = _vn_report_add_table (section, NULL, tensor_columns, G_N_ELEMENTS (tensor_columns), tensor_parts,
                                G_N_ELEMENTS (tensor_parts));
  for (guint i = 0; i < order->len; i++)
    {
      const VnErrorRow *error = vn_error_table_get (run->errors, g_array_index (order, guint, i));
      const VnTensorPlan *plan = run->plan != NULL ? vn_quant_plan_find (run->plan, error->value) : NULL;
      GPtrArray *row = _vn_report_add_row (table);

      section_errors_add_subject (row, error);
      section_errors_add_precision (row, run, plan);
      section_errors_add_metrics (row, error);
      section_errors_add_ranges (row, error);
      section_errors_add_rest (row, error);
      section_errors_add_plan (row, plan);
      section_errors_add_runtime (row, run, error);
    }
}

/* ---- weights ---- */

static const VnReportColumn weight_columns[] = {
  SUBJECT_COLUMNS
#include "vn-metrics.def"
};

void
_vn_report_build_weights (VnReportSection *section,
                          VnRun           *run)
{
  static const VnReportPart parts[] = { { NULL, NULL } };
  const guint n = run->errors != NULL ? vn_error_table_get_n_weights (run->errors) : 0;
  VnReportContent *table;

  if (n == 0)
    return;
  table = _vn_report_add_table (section, NULL, weight_columns, G_N_ELEMENTS (weight_columns), parts, G_N_ELEMENTS (parts));
  for (guint i = 0; i < n; i++)
    {
      const VnErrorRow *error = vn_error_table_get_weight (run->errors, i);
      GPtrArray *row = _vn_report_add_row (table);

      section_errors_add_subject (row, error);
      section_errors_add_metrics (row, error);
    }
}

/* ---- bodies ---- */

static const VnReportColumn body_columns[] = {
  { "body", N_("Body"), NULL, FALSE, VN_REPORT_APART, VN_REPORT_ALL_PARTS },
  SUBJECT_COLUMNS
#include "vn-metrics.def"
  { "float_min", N_("Float range"), NULL, FALSE, VN_REPORT_APART, 0 },
  { "float_max", NULL, NULL, FALSE, VN_REPORT_JOIN_RANGE, 0 },
  { "quantized_min", N_("Quantized range"), NULL, FALSE, VN_REPORT_APART, 0 },
  { "quantized_max", NULL, NULL, FALSE, VN_REPORT_JOIN_RANGE, 0 },
};

static const VnReportColumn run_columns[] = {
  { "body", N_("Body"), NULL, FALSE, VN_REPORT_APART, VN_REPORT_ALL_PARTS },
  { "float_runs", N_("Runs of the float model"), NULL, TRUE, VN_REPORT_APART, 0 },
  { "quantized_runs", N_("Of the quantized model"), NULL, TRUE, VN_REPORT_APART, 0 },
  { "both_runs", N_("Of both"), NULL, TRUE, VN_REPORT_APART, 0 },
  { "compared_runs", N_("Compared"), NULL, TRUE, VN_REPORT_APART, 0 },
};

static void
section_errors_add_body (VnReportContent    *table,
                         const VnBodyErrors *body)
{
  g_autoptr(GArray) order = vn_error_table_sort_worst (body->errors);

  for (guint i = 0; i < order->len; i++)
    {
      const VnErrorRow *error = vn_error_table_get (body->errors, g_array_index (order, guint, i));
      GPtrArray *row = _vn_report_add_row (table);

      g_ptr_array_add (row, _vn_report_text (body->scope));
      section_errors_add_subject (row, error);
      section_errors_add_metrics (row, error);
      section_errors_add_ranges (row, error);
    }
}

static void
section_errors_add_runs (VnReportContent    *table,
                         const VnBodyErrors *body)
{
  const guint64 runs[] = { body->n_float, body->n_quant, body->n_both, body->n_compared };
  GPtrArray *row = _vn_report_add_row (table);

  g_ptr_array_add (row, _vn_report_text (body->scope));
  for (guint i = 0; i < G_N_ELEMENTS (runs); i++)
    g_ptr_array_add (row, _vn_report_int ((gint64) runs[i], NULL));
}

void
_vn_report_build_bodies (VnReportSection *section,
                         VnRun           *run)
{
  static const VnReportPart parts[] = {
    { NULL, N_("Over the runs that both models make of a body on the same sample, in each iteration.") }
  };
  static const VnReportPart plain[] = { { NULL, NULL } };
  const guint n = run->errors != NULL ? vn_error_table_get_n_bodies (run->errors) : 0;
  VnReportContent *runs, *table;

  if (n == 0)
    return;
  runs = _vn_report_add_table (section, "runs", run_columns, G_N_ELEMENTS (run_columns), parts, G_N_ELEMENTS (parts));
  table = _vn_report_add_table (section, "tensors", body_columns, G_N_ELEMENTS (body_columns), plain,
                                G_N_ELEMENTS (plain));
  for (guint i = 0; i < n; i++)
    {
      section_errors_add_runs (runs, vn_error_table_get_body (run->errors, i));
      section_errors_add_body (table, vn_error_table_get_body (run->errors, i));
    }
}
