/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The verdict on a run, as the commands print it: the summary of the report. */
#include "vn-cmd.h"

static void
cmd_verdict_print_content (const VnReportContent *content)
{
  if (content->kind == VN_REPORT_VERDICT)
    vn_cmd_print ("  %s\n    %s\n", content->title, content->text);
  for (guint i = 0; content->kind == VN_REPORT_NOTES && i < content->lines->len; i++)
    {
      const VnReportLine *line = g_ptr_array_index (content->lines, i);

      vn_cmd_print ("  %s %s%s%s\n", line->title, line->subject != NULL ? line->subject : "", line->subject != NULL ? ": " : "",
                    line->text);
      vn_cmd_print ("    %s\n", line->remedy);
    }
}

/* First what is suspected of the samples, with its remedy. */
void
vn_cmd_print_verdict (const VnReportModel *report)
{
  const VnReportSection *summary;

  g_return_if_fail (report != NULL);

  summary = vn_report_model_find (report, "summary");
  for (guint i = 0; i < summary->contents->len; i++)
    cmd_verdict_print_content (g_ptr_array_index (summary->contents, i));
}

/* "verdict" for people, "level" for machines. */
void
vn_cmd_json_verdict (JsonBuilder         *json,
                     const VnReportModel *report)
{
  const VnReportSection *summary = vn_report_model_find (report, "summary");

  g_return_if_fail (json != NULL);

  for (guint i = 0; i < summary->contents->len; i++)
    {
      const VnReportContent *content = g_ptr_array_index (summary->contents, i);

      if (content->kind != VN_REPORT_VERDICT)
        continue;
      vn_json_add_text (json, "verdict", content->title);
      vn_json_add_text (json, "level", content->level);
    }
}
