/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Section: what was tried to lower the error, and what it gained. */
#include "vn-report-build.h"

#include "vn-format.h"
#include "vn-i18n.h"

#include <math.h>

#define BRIEFS 4u

static VnReportValue *
section_steps_gain (double db)
{
  return isnan (db) ? _vn_report_nothing () : _vn_report_number (db, vn_format_signed (db, 2));
}

/* ---- what was tried ---- */

static const VnReportColumn columns[] = {
  { "kept", N_("Kept"), NULL, FALSE, VN_REPORT_APART, 0 },
  { "step", N_("Step"), NULL, FALSE, VN_REPORT_APART, 0 },
  { "gain_db", N_("Gain"), N_("dB"), TRUE, VN_REPORT_APART, 0 },
  { "outcome", N_("Outcome"), NULL, FALSE, VN_REPORT_APART, 0 },
};

static const VnReportPart parts[] = {
  { NULL, N_("What “--auto” tried, in this order, each on top of what was kept before: its gain in mean output SQNR, "
             "on samples not used to calibrate it.") },
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
      _vn_report_add_brief (section, isnan (step->after_db - step->before_db)
                            ? NULL : vn_format_signed_db (step->after_db - step->before_db),
                            g_strdup (step->title), NULL);
    }
  if (n_kept == 0)
    _vn_report_add_brief (section, NULL, g_strdup (_("Nothing that was tried lowers the error by more than chance.")), NULL);
}

void
_vn_report_build_steps (VnReportSection *section,
                        VnRun           *run)
{
  VnReportContent *table;

  if (run->steps == NULL || run->steps->len == 0)
    return;
  table = _vn_report_add_table (section, NULL, columns, G_N_ELEMENTS (columns), parts, G_N_ELEMENTS (parts));
  for (guint i = 0; i < run->steps->len; i++)
    {
      const VnRunStep *step = g_ptr_array_index (run->steps, i);
      GPtrArray *row = _vn_report_add_row (table);

      g_ptr_array_add (row, _vn_report_bool (step->kept, step->kept ? _("yes") : ""));
      g_ptr_array_add (row, _vn_report_text (step->title));
      g_ptr_array_add (row, section_steps_gain (step->after_db - step->before_db));
      g_ptr_array_add (row, _vn_report_text (step->outcome));
    }
  section_steps_add_briefs (section, run->steps);
}
