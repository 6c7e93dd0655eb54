/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Section: the table of XQuant and XSlim, in their layout. */
#include "vn-report-build.h"

#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-xslim-analysis.h"

/* Programs of these tools look for these titles. */
static const VnReportColumn columns[] = {
  { "op", "Op", NULL, FALSE, VN_REPORT_APART, 0 },
  { "var", "Var", NULL, FALSE, VN_REPORT_APART, 0 },
  { "snr", "SNR", NULL, TRUE, VN_REPORT_APART, 0 },
  { "mse", "MSE", NULL, TRUE, VN_REPORT_APART, 0 },
  { "cosine", "Cosine", NULL, TRUE, VN_REPORT_APART, 0 },
  { "quantized_min", "Q.MinMax", NULL, FALSE, VN_REPORT_APART, 0 },
  { "quantized_max", NULL, NULL, FALSE, VN_REPORT_JOIN_COMMA, 0 },
  { "float_min", "F.MinMax", NULL, FALSE, VN_REPORT_APART, 0 },
  { "float_max", NULL, NULL, FALSE, VN_REPORT_JOIN_COMMA, 0 },
  { "histogram", "F.Hist", NULL, FALSE, VN_REPORT_APART, 0 },
};

static char *
section_xslim_dup_legend (void)
{
  const VnMetricInfo *noise = vn_metric_get_info (VN_METRIC_NOISE);
  g_autofree char *fine = vn_format_plain (noise->fine), *bad = vn_format_plain (noise->bad);
  g_autofree char *cosine = vn_format_plain (vn_metric_get_info (VN_METRIC_COSINE)->bad);
  GString *text = g_string_new (_("SNR is the noise-to-signal ratio, lower is better"));

  g_string_append_printf (text, _(": below %s is negligible, up to %s is acceptable. It is more informative than the "
                                  "cosine. "), fine, bad);
  g_string_append_printf (text, _("Red: SNR above %s or cosine below %s. "), bad, cosine);
  g_string_append (text, _("An F range much wider than the Q range means clipped values. Many empty bins mean too few "
                           "samples."));
  return g_string_free (text, FALSE);
}

static void
section_xslim_add_number (GPtrArray *cells,
                          double     number,
                          guint      decimals,
                          gboolean   is_bad)
{
  VnReportValue *value = _vn_report_number (number, vn_format_fixed (number, decimals));

  value->is_bad = is_bad;
  g_ptr_array_add (cells, value);
}

static VnReportValue *
section_xslim_counts (const VnXslimRow *row)
{
  VnReportValue *list = _vn_report_list ();

  for (guint i = 0; row->has_counts && i < VN_XSLIM_N_COUNTS; i++)
    _vn_report_list_add (list, _vn_report_int (row->counts[i], NULL), ",");
  return list;
}

static void
section_xslim_add_row (VnReportContent  *table,
                       const VnXslimRow *row)
{
  GPtrArray *cells = _vn_report_add_row (table);

  g_ptr_array_add (cells, _vn_report_text (row->op));
  g_ptr_array_add (cells, _vn_report_text (row->var));
  section_xslim_add_number (cells, row->noise_to_signal, 4, row->is_marked);
  section_xslim_add_number (cells, row->mse, 4, row->is_marked);
  section_xslim_add_number (cells, row->cosine, 4, row->is_marked);
  section_xslim_add_number (cells, row->quantized_min, 3, FALSE);
  section_xslim_add_number (cells, row->quantized_max, 3, FALSE);
  section_xslim_add_number (cells, row->float_min, 3, FALSE);
  section_xslim_add_number (cells, row->float_max, 3, FALSE);
  g_ptr_array_add (cells, section_xslim_counts (row));
}

void
_vn_report_build_xslim (VnReportSection *section,
                        VnRun           *run)
{
  static const VnReportPart parts[] = { { NULL, NULL } };
  g_autoptr(GPtrArray) rows = vn_xslim_list_rows (run->prepared, run->errors, run->plan, run->stats);
  VnReportContent *table = _vn_report_add_table (section, NULL, columns, G_N_ELEMENTS (columns), parts, G_N_ELEMENTS (parts));

  table->intro = section_xslim_dup_legend ();
  for (guint i = 0; i < rows->len; i++)
    section_xslim_add_row (table, g_ptr_array_index (rows, i));
}
