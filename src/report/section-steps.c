/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sections: what was tried to lower the error, and what it gained; and what other choices of precision come to. */
#include "vn-report-build.h"

#include "vn-format.h"
#include "vn-i18n.h"

#include <math.h>

#define BRIEFS 4u

static VnReportValue *
section_steps_db (double db)
{
  return isnan (db) ? _vn_report_nothing () : _vn_report_number (db, vn_format_fixed (db, 2));
}

/* ---- what was tried ---- */

static const VnReportColumn columns[] = {
  { "kept", N_("Kept"), NULL, FALSE, VN_REPORT_APART, 0 },
  { "step", N_("Step"), NULL, FALSE, VN_REPORT_APART, 0 },
  { "before_sqnr_db", N_("Before"), N_("dB"), TRUE, VN_REPORT_APART, 0 },
  { "after_sqnr_db", N_("After"), N_("dB"), TRUE, VN_REPORT_APART, 0 },
  { "outcome", N_("Outcome"), NULL, FALSE, VN_REPORT_APART, 0 },
};

static const VnReportPart parts[] = {
  { NULL, N_("What “--auto” tried, in this order, each on top of what was kept before: mean signal to noise of the outputs on held-out samples.") },
};

static void
section_steps_add_briefs (VnReportSection *section,
                          GPtrArray       *steps)
{
  guint n_kept = 0;

  for (guint i = 0; i < steps->len; i++)
    {
      const VnRunStep *step = g_ptr_array_index (steps, i);

      if (!step->kept || n_kept++ >= BRIEFS)
        continue;
      _vn_report_add_brief (section, isnan (step->after_db - step->before_db) ? NULL : g_strdup_printf ("%+.1f dB", step->after_db - step->before_db),
                            g_strdup (step->title), NULL);
    }
  if (n_kept == 0)
    _vn_report_add_brief (section, NULL, g_strdup (_("Nothing that was tried lowers the error by more than chance may.")), NULL);
}

void
_vn_report_build_steps (VnReportSection     *section,
                        const VnReportInput *input)
{
  VnReportContent *table;

  if (input->steps == NULL || input->steps->len == 0)
    return;
  table = _vn_report_add_table (section, NULL, columns, G_N_ELEMENTS (columns), parts, G_N_ELEMENTS (parts));
  for (guint i = 0; i < input->steps->len; i++)
    {
      const VnRunStep *step = g_ptr_array_index (input->steps, i);
      GPtrArray *row = _vn_report_add_row (table);

      g_ptr_array_add (row, _vn_report_bool (step->kept, step->kept ? _("yes") : ""));
      g_ptr_array_add (row, _vn_report_text (step->title));
      g_ptr_array_add (row, section_steps_db (step->before_db));
      g_ptr_array_add (row, section_steps_db (step->after_db));
      g_ptr_array_add (row, _vn_report_text (step->outcome));
    }
  section_steps_add_briefs (section, input->steps);
}

/* ---- other choices ---- */

static const VnReportColumn curve_columns[] = {
  { "chosen", N_("Chosen"), NULL, FALSE, VN_REPORT_APART, 0 },
  { "choice", N_("Choice"), NULL, FALSE, VN_REPORT_APART, 0 },
  { "predicted_sqnr_db", N_("Predicted"), N_("dB"), TRUE, VN_REPORT_APART, 0 },
  { "measured_sqnr_db", N_("Measured"), N_("dB"), TRUE, VN_REPORT_APART, 0 },
  { "bytes", N_("Size"), NULL, TRUE, VN_REPORT_APART, 0 },
  { "integer_macs", N_("Multiplications on integers"), NULL, TRUE, VN_REPORT_APART, 0 },
  { "seconds", N_("Time expected"), NULL, TRUE, VN_REPORT_APART, 0 },
};

static const VnReportPart curve_parts[] = {
  { NULL, N_("The best choices of precision that there are: none of them is worse than another in everything. Signal to noise of the outputs.") },
};

/* What a choice costs, by what distinguishes them. */
static double
section_steps_get_cost (const VnCurvePoint *point,
                        guint               axis)
{
  return axis == 0 ? point->bytes / 1e6 : 1e3 * point->seconds;
}

static void
section_steps_add_curve (VnReportSection *section,
                         GPtrArray       *curve,
                         guint            axis)
{
  const VnPictureAxes axes = { axis == 0 ? _("Size in MB") : _("Time expected in ms"), _("Signal to noise in dB"), NULL, 0, TRUE, FALSE };
  g_autofree VnPicturePoint *points = g_new0 (VnPicturePoint, curve->len + 1);
  guint n = 0;

  for (guint i = 0; i < curve->len; i++)
    {
      const VnCurvePoint *point = g_ptr_array_index (curve, i);
      const gboolean measured = !isnan (point->measured_db);
      const double db = measured ? point->measured_db : point->predicted_db;

      if (isfinite (section_steps_get_cost (point, axis)) && isfinite (db))
        points[n++] = (VnPicturePoint) { section_steps_get_cost (point, axis), db, 0.25, point->is_chosen, !measured, point->title };
    }
  if (n > 1)
    _vn_report_add_picture (section, NULL, axis == 0 ? _("Error against size. Hollow: predicted; filled: measured; thick: chosen.")
                                                      : _("Error against time. Hollow: predicted; filled: measured; thick: chosen."),
                            vn_picture_new_points (&axes, points, n));
}

static VnReportValue *
section_steps_amount (double  amount,
                      char  *(*format) (double))
{
  return isnan (amount) ? _vn_report_nothing () : _vn_report_number (amount, format != NULL ? format (amount) : NULL);
}

static char *
section_steps_format_bytes (double bytes)
{
  return vn_format_bytes ((guint64) bytes);
}

static char *
section_steps_format_ms (double seconds)
{
  return g_strdup_printf ("%.2f ms", 1e3 * seconds);
}

void
_vn_report_build_curve (VnReportSection     *section,
                        const VnReportInput *input)
{
  VnReportContent *table;

  if (input->curve == NULL || input->curve->len == 0)
    return;
  section_steps_add_curve (section, input->curve, 0);
  section_steps_add_curve (section, input->curve, 1);
  table = _vn_report_add_table (section, NULL, curve_columns, G_N_ELEMENTS (curve_columns), curve_parts, G_N_ELEMENTS (curve_parts));
  for (guint i = 0; i < input->curve->len; i++)
    {
      const VnCurvePoint *point = g_ptr_array_index (input->curve, i);
      GPtrArray *row = _vn_report_add_row (table);

      g_ptr_array_add (row, _vn_report_bool (point->is_chosen, point->is_chosen ? _("yes") : ""));
      g_ptr_array_add (row, _vn_report_text (point->title));
      g_ptr_array_add (row, section_steps_db (point->predicted_db));
      g_ptr_array_add (row, section_steps_db (point->measured_db));
      g_ptr_array_add (row, section_steps_amount (point->bytes, section_steps_format_bytes));
      g_ptr_array_add (row, section_steps_amount (point->integer_macs, NULL));
      g_ptr_array_add (row, section_steps_amount (point->seconds, section_steps_format_ms));
    }
}
