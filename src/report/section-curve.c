/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Section: mixed precision: error over size, multiplications and time, from the cheapest choice to the most accurate one. */
#include "vn-report-build.h"

#include "vn-format.h"
#include "vn-i18n.h"

#include <math.h>

static const VnReportColumn columns[] = {
  { "state", N_("Point"), NULL, FALSE, VN_REPORT_APART, 0 },
  { "predicted_sqnr_db", N_("Predicted"), N_("dB"), TRUE, VN_REPORT_APART, 0 },
  { "measured_sqnr_db", N_("Measured"), N_("dB"), TRUE, VN_REPORT_APART, 0 },
  { "answers_kept", N_("Answers kept"), NULL, TRUE, VN_REPORT_APART, 0 },
  { "kl_divergence", N_("KL divergence"), N_("nats"), TRUE, VN_REPORT_APART, 0 },
  { "bytes", N_("Size"), NULL, TRUE, VN_REPORT_APART, 0 },
  { "integer_share", N_("Integer MACs"), NULL, TRUE, VN_REPORT_APART, 0 },
  { "wide_share", N_("In 16-bit"), NULL, TRUE, VN_REPORT_APART, 0 },
  { "time_ratio", N_("Latency relative to float"), NULL, TRUE, VN_REPORT_APART, 0 },
  { "float_tensors", N_("Tensors in float"), NULL, TRUE, VN_REPORT_APART, 0 },
  { "wide_tensors", N_("16-bit tensors"), NULL, TRUE, VN_REPORT_APART, 0 },
  { "small_weights", N_("4-bit weights"), NULL, TRUE, VN_REPORT_APART, 0 },
  { "rules", N_("Rules"), NULL, FALSE, VN_REPORT_APART, 0 },
};

static const VnReportPart parts[] = {
  { NULL, N_("Choices of precision by what each tensor costs the outputs: mean output SQNR, predicted and, where "
             "available, measured. “anchor”: measured first, to correct the predictions of the others; “validation”: "
             "measured after it was predicted. Size is the file size; the share of MACs and the latency are estimates "
             "for ONNX Runtime.") },
};

static VnReportValue *
section_curve_share (double share)
{
  return isnan (share) ? _vn_report_nothing () : _vn_report_number (share, g_strdup_printf ("%.1f %%", 100 * share));
}

static VnReportValue *
section_curve_db (double db)
{
  if (isnan (db))
    return _vn_report_nothing ();
  return _vn_report_number (db, db >= VN_CURVE_FLOAT_DB ? g_strdup (_("float accuracy")) : vn_format_fixed (db, 2));
}

static VnReportValue *
section_curve_divergence (const VnKept *kept)
{
  return kept->task == VN_TASK_TOKENS && vn_kept_is_known (kept) && !isnan (kept->mean)
         ? _vn_report_number (kept->mean, vn_kept_dup_mean (kept)) : _vn_report_nothing ();
}

/* The rules that a point adds. */
static VnReportValue *
section_curve_rules (const VnCurvePoint *point,
                     guint               n_before)
{
  VnReportValue *rules = _vn_report_list ();

  for (guint i = n_before; i < point->recipe->overrides->len; i++)
    _vn_report_list_add (rules, _vn_report_rule (g_ptr_array_index (point->recipe->overrides, i)), "; ");
  return rules;
}

void
_vn_report_build_curve (VnReportSection *section,
                        VnRun           *run)
{
  VnReportContent *table;
  guint n_plain = G_MAXUINT;

  if (run->curve == NULL || vn_curve_get_n (run->curve) == 0)
    return;
  for (guint i = 0; i < vn_curve_get_n (run->curve); i++)
    n_plain = MIN (n_plain, vn_curve_get (run->curve, i)->recipe->overrides->len);
  if (vn_curve_get_n (run->curve) > 1)
    _vn_report_add_picture (section, NULL, _("Error versus cost. Hollow: predicted; filled: measured; thick: chosen."),
                            vn_picture_new_curve (run->curve, run->curve->cost));
  table = _vn_report_add_table (section, NULL, columns, G_N_ELEMENTS (columns), parts, G_N_ELEMENTS (parts));
  for (guint i = 0; i < vn_curve_get_n (run->curve); i++)
    {
      const VnCurvePoint *point = vn_curve_get (run->curve, i);
      GPtrArray *row = _vn_report_add_row (table);

      g_ptr_array_add (row, _vn_report_text_as (vn_curve_point_get_state_id (point), vn_curve_point_get_state_title (point)));
      g_ptr_array_add (row, section_curve_db (point->predicted_db));
      g_ptr_array_add (row, section_curve_db (point->measured_db));
      g_ptr_array_add (row, section_curve_share (vn_kept_is_known (&point->kept) ? point->kept.share : NAN));
      g_ptr_array_add (row, section_curve_divergence (&point->kept));
      g_ptr_array_add (row, _vn_report_int ((gint64) point->bytes, vn_format_bytes (point->bytes)));
      g_ptr_array_add (row, section_curve_share (point->integer_share));
      g_ptr_array_add (row, section_curve_share (point->wide_share));
      g_ptr_array_add (row, isnan (point->time_ratio)
                          ? _vn_report_nothing ()
                          : _vn_report_number (point->time_ratio, vn_format_fixed (point->time_ratio, 2)));
      g_ptr_array_add (row, _vn_report_int (point->n_float, NULL));
      g_ptr_array_add (row, _vn_report_int (point->n_wide, NULL));
      g_ptr_array_add (row, _vn_report_int (point->n_small, NULL));
      g_ptr_array_add (row, section_curve_rules (point, n_plain));
    }
}
