/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-error-table.h"
#include "vn-quantize.h"

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
} VnReportInput;

/* Markdown: sizes, settings, verdict, table sorted worst first with XQuant's marks, notes. No times: the same run gives the same text. */
char   *vn_report_markdown  (const VnReportInput *input);
/* The table of XQuant and XSlim: constants and results by operator, the noisiest first. */
char   *vn_report_xslim     (const VnReportInput *input);
/* JSON of the same content; schema in the comment of vn-report-json.c. */
char   *vn_report_json      (const VnReportInput *input);

G_END_DECLS
