/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Section: what is kept of the answers to each sample, those with the most lost first. */
#include "vn-report-build.h"

#include "vn-i18n.h"

#include <math.h>

static const VnReportColumn columns[] = {
  { "sample", N_("Sample"), NULL, FALSE, VN_REPORT_APART, 0 },
  { "of", N_("Answers"), NULL, TRUE, VN_REPORT_APART, 0 },
  { "kept", N_("Kept"), NULL, TRUE, VN_REPORT_APART, 0 },
  { "lost", N_("Lost"), NULL, TRUE, VN_REPORT_APART, 0 },
  { "added", N_("Added"), NULL, TRUE, VN_REPORT_APART, 0 },
  { "share", N_("Share"), NULL, TRUE, VN_REPORT_APART, 0 },
};

static const VnReportPart parts[] = {
  { NULL, N_("What the quantized model keeps of the answers of the float model to each sample, those with the most lost "
             "first.") },
};

/* What is not counted one by one has a share alone. */
static VnReportValue *
section_answers_count (const VnKept *kept,
                       guint64       n)
{
  return vn_task_get_counted (kept->task) != NULL ? _vn_report_int ((gint64) n, NULL) : _vn_report_absent ();
}

static VnReportValue *
section_answers_share (const VnKept *kept)
{
  return isnan (kept->share) ? _vn_report_nothing () : _vn_report_number (kept->share,
                                                                          g_strdup_printf ("%.1f %%", 100 * kept->share));
}

void
_vn_report_build_answers (VnReportSection *section,
                          VnRun           *run)
{
  g_autoptr(GPtrArray) sorted = run->answers != NULL ? vn_sample_answers_sort (run->answers) : NULL;
  VnReportContent *table;

  if (sorted == NULL || sorted->len == 0)
    return;
  table = _vn_report_add_table (section, NULL, columns, G_N_ELEMENTS (columns), parts, G_N_ELEMENTS (parts));
  for (guint i = 0; i < sorted->len; i++)
    {
      const VnSampleAnswer *answer = g_ptr_array_index (sorted, i);
      const VnKept *kept = &answer->kept;
      GPtrArray *row = _vn_report_add_row (table);

      g_ptr_array_add (row, _vn_report_text (answer->name));
      g_ptr_array_add (row, section_answers_count (kept, kept->n));
      g_ptr_array_add (row, section_answers_count (kept, kept->n_kept));
      g_ptr_array_add (row, section_answers_count (kept, kept->n - kept->n_kept));
      g_ptr_array_add (row, section_answers_count (kept, kept->n_added));
      g_ptr_array_add (row, section_answers_share (kept));
    }
}
