/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-error-table.h"
#include "vn-quantize.h"
#include "vn-result.h"

G_BEGIN_DECLS

/**
 * VnReportInput: what a report tells. All borrowed; nullable where said.
 */
typedef struct
{
  const VnModel    *source;
  const VnModel    *prepared;       /* nullable: the float network that was compared */
  const VnModel    *quantized;      /* nullable */
  const VnRecipe   *recipe;         /* nullable: a plain comparison */
  const VnDataSpec *data;           /* nullable */
  VnQuantPlan      *plan;           /* nullable */
  VnErrorTable     *errors;         /* nullable */
  VnStats          *stats;          /* nullable */
  VnNotes          *notes;          /* nullable */
  const VnAccuracy *accuracy;       /* nullable, or not valid */
  gsize             float_bytes, quantized_bytes;
  guint             n_calibration, n_held_out;
  const VnRunSettings *run;         /* nullable: then no command can repeat it */
} VnReportInput;

/* All that a result says; its strings and objects stay its own. */
void    vn_report_input_init (VnReportInput  *self,
                              const VnResult *result);

/* The command that makes the same network again, for a shell; NULL if none can: vn-report-command.c. */
char   *vn_report_dup_command (const VnReportInput *input);

/* Markdown: sizes, settings, verdict, table sorted worst first with XQuant's marks, notes. No times: the same run gives the same text. */
char   *vn_report_markdown  (const VnReportInput *input);
/* The table of XQuant and XSlim: constants and results by operator, the noisiest first. */
char   *vn_report_xslim     (const VnReportInput *input);
/* JSON of the same content; schema in the comment of vn-report-json.c. */
char   *vn_report_json      (const VnReportInput *input);

G_END_DECLS
