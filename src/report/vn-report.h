/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Reports: what they are made of, and the printers that write them. */

#include "vn-error-table.h"
#include "vn-file-set.h"
#include "vn-quantize.h"
#include "vn-report-model.h"
#include "vn-run.h"

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/* The command that makes the same network again, for a shell; NULL if none can: vn-report-command.c. */
char   *vn_report_dup_command (VnRun *run);

/* Which sections a report has, and in whose words: bits of vn-report-sections.def. */
typedef enum
{
  VN_REPORT_LAYOUT_REPORT  = 1 << 0,
  VN_REPORT_LAYOUT_XSLIM   = 1 << 1,    /* the analysis of XQuant and XSlim */
  VN_REPORT_LAYOUT_VERDICT = 1 << 2,    /* the verdict alone */
  VN_REPORT_LAYOUT_ANY     = VN_REPORT_LAYOUT_REPORT | VN_REPORT_LAYOUT_XSLIM
} VnReportLayout;

VnReportModel         *vn_report_model_new             (VnRun                  *run,
                                                        VnReportLayout          layout);

/* What fonts, their libraries and the thread that looks for them take at most. */
#define VN_REPORT_FONT_BYTES ((gsize) 192 << 20)

/* How a report looks: a line of vn-report-printers.def. */
typedef GBytes * (*VnReportPrintFunc) (const VnReportModel  *model,
                                       GError              **error);

#define VN_REPORT_PRINTER(id, file, is_text, print, title) GBytes *print (const VnReportModel *model, GError **error);
#include "vn-report-printers.def"
#undef VN_REPORT_PRINTER

/* Whether this build draws pages; without, vn_report_print_pdf() is an error. */
extern const gboolean vn_report_has_pdf;

/**
 * VnReportPrinter:
 * @id: "markdown"
 * @file: its name in the folder of a report; its ending is that of all files of this printer
 * @is_text: it can be shown on a terminal
 * @title: N_()
 */
typedef struct
{
  const char        *id, *file;
  gboolean           is_text;
  VnReportPrintFunc  print;
  const char        *title;
} VnReportPrinter;

const VnReportPrinter *vn_report_printer_list          (guint                  *n);
const VnReportPrinter *vn_report_printer_find_for_file (const char             *path);
gboolean               vn_report_write                 (const VnReportModel    *model,
                                                        const VnReportPrinter  *printer,
                                                        const char             *path,
                                                        GError                **error);
gboolean               vn_report_expect_memory         (const char             *path,
                                                        GError                **error);
/* @path: a file whose ending is one of the table, or a folder for all forms. */
gboolean               vn_report_export                (const VnReportModel    *model,
                                                        const char             *path,
                                                        GError                **error);
gboolean               vn_report_check_form            (const char             *path,
                                                        GError                **error);
void                   vn_report_add_outputs           (VnFileSet              *files,
                                                        const char             *path);       /* nullable */
const VnReportPrinter *vn_report_printer_find          (const char             *id);         /* NULL: there is none */

/**
 * VnReportLink: a place on a sheet where a node is drawn, or told of.
 * @node: index in the model as opened
 * @title: what is said of it
 * @weight: what is most worth going to: of a row of a table %VN_REPORT_ROW_WEIGHT, else how bad the node is, 0 … 1
 */
typedef struct
{
  double  x, y, width, height;
  guint   node;
  char   *title;
  double  weight;
} VnReportLink;

#define VN_REPORT_ROW_WEIGHT 2

/**
 * VnReportSheet: a page for a screen. Lengths are in points.
 * @drawn: a recording, on nothing: paper is to be put below it
 * @text: its text, by lines
 * @links: of VnReportLink, as they come from top to bottom
 */
typedef struct
{
  struct _cairo_surface *drawn;
  double                 width, height;
  char                  *text;
  GArray                *links;
} VnReportSheet;

#define VN_REPORT_A4_WIDTH     595.28
#define VN_REPORT_LEAST_WIDTH  300.0

GPtrArray             *vn_report_draw_sheets           (const VnReportModel    *model,
                                                        double                  width,
                                                        GError                **error);

/* The tree that vn_report_print_json() prints. */
JsonNode              *vn_report_to_json               (const VnReportModel    *model);

G_END_DECLS
