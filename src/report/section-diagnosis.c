/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sections: why the tensors that cost most cost what they do; and what came of the cures. */
#include "vn-report-build.h"

#include "vn-format.h"
#include "vn-i18n.h"

#include <math.h>

static const VnReportColumn reason_columns[] = {
  { "rank", N_("Rank"), NULL, TRUE, VN_REPORT_APART, 0 },
  { "tensor", N_("Tensor"), NULL, FALSE, VN_REPORT_APART, 0 },
  { "node", N_("Node"), NULL, FALSE, VN_REPORT_APART, 0 },
  { "share", N_("Share of the error"), NULL, TRUE, VN_REPORT_APART, 0 },
  { "reason", N_("Reason"), NULL, FALSE, VN_REPORT_APART, 0 },
  { "text", N_("Details"), NULL, FALSE, VN_REPORT_APART, 0 },
  { "cures", N_("Possible fixes"), NULL, FALSE, VN_REPORT_APART, 0 },
};

static const VnReportPart reason_parts[] = {
  { NULL, N_("Likely causes found in the statistics of the samples and of the tensors that contribute most to the "
             "output error, largest contribution first.") },
};

static const VnReportColumn cure_columns[] = {
  { "tensor", N_("Tensor"), NULL, FALSE, VN_REPORT_APART, 0 },
  { "reason", N_("Reason"), NULL, FALSE, VN_REPORT_APART, 0 },
  { "cure", N_("Fix"), NULL, FALSE, VN_REPORT_APART, 0 },
  { "outcome", N_("Outcome"), NULL, FALSE, VN_REPORT_APART, 0 },
  { "before_sqnr_db", N_("Before"), N_("dB"), TRUE, VN_REPORT_APART, 0 },
  { "after_sqnr_db", N_("After"), N_("dB"), TRUE, VN_REPORT_APART, 0 },
  { "before_bytes", N_("Size before"), NULL, TRUE, VN_REPORT_APART, 0 },
  { "after_bytes", N_("Size after"), NULL, TRUE, VN_REPORT_APART, 0 },
  { "before_kept", N_("Answers kept before"), NULL, TRUE, VN_REPORT_APART, 0 },
  { "after_kept", N_("Answers kept after"), NULL, TRUE, VN_REPORT_APART, 0 },
};

#define N_ANSWER_COLUMNS 2u     /* the last ones: where answers are known */

static const VnReportPart cure_parts[] = {
  { NULL, N_("Each fix applied alone on top of this run's settings: mean output SQNR on held-out samples, and model size.") },
};

static VnReportValue *
section_diagnosis_list_cures (const VnFinding *finding)
{
  g_autoptr(GArray) cures = vn_finding_list_cures (finding);
  VnReportValue *list = _vn_report_list ();

  for (guint i = 0; i < cures->len; i++)
    {
      VnCure cure = g_array_index (cures, VnCure, i);

      _vn_report_list_add (list, _vn_report_text_as (vn_cure_get_id (cure), vn_cure_get_title (cure)), "; ");
    }
  return list;
}

static const char *
section_diagnosis_name_run (const VnFinding *finding)
{
  return vn_reason_get_scope (finding->reason) == VN_SCOPE_RUN ? _("(samples)") : _("(the model)");
}

void
_vn_report_build_reasons (VnReportSection *section,
                          VnRun           *run)
{
  guint n = run->diagnosis != NULL ? vn_diagnosis_get_n (run->diagnosis) : 0;
  VnReportContent *table;

  if (n == 0)
    return;
  table = _vn_report_add_table (section, NULL, reason_columns, G_N_ELEMENTS (reason_columns), reason_parts,
                                G_N_ELEMENTS (reason_parts));
  for (guint i = 0; i < n; i++)
    {
      const VnFinding *finding = vn_diagnosis_get (run->diagnosis, i);
      GPtrArray *row = _vn_report_add_row (table);
      gboolean of_run = *finding->tensor == '\0';

      g_ptr_array_add (row, of_run ? _vn_report_nothing () : _vn_report_int (finding->rank, NULL));
      g_ptr_array_add (row, _vn_report_text_as (finding->tensor, of_run
                                                ? section_diagnosis_name_run (finding) : finding->tensor));
      g_ptr_array_add (row, _vn_report_text (finding->node));
      g_ptr_array_add (row, of_run ? _vn_report_nothing ()
                                   : _vn_report_number (finding->share, g_strdup_printf ("%.1f %%", 100 * finding->share)));
      g_ptr_array_add (row, _vn_report_text_as (vn_reason_get_id (finding->reason), vn_reason_get_title (finding->reason)));
      g_ptr_array_add (row, _vn_report_text (finding->text));
      g_ptr_array_add (row, section_diagnosis_list_cures (finding));
    }
}

static VnReportValue *
section_diagnosis_tell_kept (const VnKept *kept)
{
  return vn_kept_is_known (kept) ? _vn_report_number (kept->share, g_strdup_printf ("%.1f %%", 100 * kept->share))
                                 : _vn_report_nothing ();
}

void
_vn_report_build_cures (VnReportSection *section,
                        VnRun           *run)
{
  guint n = run->diagnosis != NULL ? vn_diagnosis_get_n_trials (run->diagnosis) : 0;
  VnReportContent *table;
  gboolean with_answers = FALSE;

  if (n == 0)
    return;
  for (guint i = 0; i < n; i++)
    with_answers |= vn_kept_is_known (&vn_diagnosis_get_trial (run->diagnosis, i)->after.kept);
  table = _vn_report_add_table (section, NULL, cure_columns,
                                G_N_ELEMENTS (cure_columns) - (with_answers ? 0 : N_ANSWER_COLUMNS), cure_parts,
                                G_N_ELEMENTS (cure_parts));
  for (guint i = 0; i < n; i++)
    {
      const VnCureTrial *trial = vn_diagnosis_get_trial (run->diagnosis, i);
      GPtrArray *row = _vn_report_add_row (table);
      g_autofree char *text = vn_cure_trial_dup_text (trial);
      gboolean measured = !isnan (trial->after_db);

      g_ptr_array_add (row, _vn_report_text_as (trial->tensor, *trial->tensor != '\0' ? trial->tensor : _("(samples)")));
      g_ptr_array_add (row, _vn_report_text_as (vn_reason_get_id (trial->reason), vn_reason_get_title (trial->reason)));
      g_ptr_array_add (row, _vn_report_text_as (vn_cure_get_id (trial->cure), vn_cure_get_title (trial->cure)));
      g_ptr_array_add (row, _vn_report_text_as (vn_trial_state_get_id (trial->state), text));
      g_ptr_array_add (row, _vn_report_number (trial->before_db, vn_format_fixed (trial->before_db, 2)));
      g_ptr_array_add (row, measured ? _vn_report_number (trial->after_db, vn_format_fixed (trial->after_db, 2))
                       : _vn_report_nothing ());
      g_ptr_array_add (row, _vn_report_int ((gint64) trial->before_bytes, vn_format_bytes (trial->before_bytes)));
      g_ptr_array_add (row, measured ? _vn_report_int ((gint64) trial->after_bytes, vn_format_bytes (trial->after_bytes))
                       : _vn_report_nothing ());
      if (!with_answers)
        continue;
      g_ptr_array_add (row, section_diagnosis_tell_kept (&trial->before.kept));
      g_ptr_array_add (row, section_diagnosis_tell_kept (&trial->after.kept));
    }
}
