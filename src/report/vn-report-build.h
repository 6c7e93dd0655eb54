/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the builders of sections make them of; a builder adds nothing where there is nothing to tell. */

#include "vn-report.h"
#include "vn-spread.h"

G_BEGIN_DECLS

typedef void (*VnReportBuildFunc) (VnReportSection *section,
                                   VnRun           *run);

#define VN_REPORT_SECTION(id, title, layouts, stage) \
  void _vn_report_build_##id (VnReportSection *section, VnRun *run);
#include "vn-report-sections.def"
#undef VN_REPORT_SECTION

/* Values: vn-report-value.c. @display: (transfer full) (nullable): NULL: as the value is written. */
VnReportValue   *_vn_report_nothing     (void);
VnReportValue   *_vn_report_absent      (void);
VnReportValue   *_vn_report_bool        (gboolean              flag,
                                         const char           *display);
VnReportValue   *_vn_report_int         (gint64                integer,
                                         char                 *display);
VnReportValue   *_vn_report_number      (double                number,
                                         char                 *display);
VnReportValue   *_vn_report_text        (const char           *text);       /* NULL: nothing */
VnReportValue   *_vn_report_text_as     (const char           *text,
                                         const char           *display);
VnReportValue   *_vn_report_list        (void);
VnReportValue   *_vn_report_list_add    (VnReportValue        *list,
                                         VnReportValue        *part,
                                         const char           *separator);
VnReportValue   *_vn_report_rule        (const VnOverride     *rule);
VnReportValue   *_vn_report_signed      (VnReportValue        *self,
                                         VnSign                sign);
VnReportValue   *_vn_report_about       (VnReportValue        *self,
                                         const VnNode         *node);
VnReportValue   *_vn_report_for_programs (VnReportValue       *self);
VnReportValue   *_vn_report_record      (char                 *display);
void             _vn_report_value_free  (gpointer              value);

/* Facts: vn-report-value.c. @value: (transfer full) */
GPtrArray       *_vn_report_facts_new   (void);
void             _vn_report_fact        (GPtrArray            *facts,
                                         const char           *key,
                                         const char           *label,
                                         VnReportValue        *value);
void             _vn_report_fact_joined (GPtrArray            *facts,
                                         const char           *key,
                                         VnReportJoin          join,
                                         VnReportValue        *value);

/* Contents of a section: vn-report-content.c */
void             _vn_report_content_free (gpointer             content);
GPtrArray       *_vn_report_add_facts   (VnReportSection      *section,
                                         char                 *sentence);
VnReportContent *_vn_report_add_table   (VnReportSection      *section,
                                         const char           *id,
                                         const VnReportColumn *columns,
                                         guint                 n_columns,
                                         const VnReportPart   *parts,
                                         guint                 n_parts);
GPtrArray       *_vn_report_add_row     (VnReportContent      *table);
void             _vn_report_add_verdict (VnReportSection      *section,
                                         const char           *level,
                                         const char           *title,
                                         const char           *text);
void             _vn_report_add_command (VnReportSection      *section,
                                         const char           *id,
                                         const char           *intro,
                                         char                 *command);
GPtrArray       *_vn_report_add_notes   (VnReportSection      *section,
                                         const char           *id);
VnReportContent *_vn_report_add_picture (VnReportSection      *section,
                                         const char           *title,
                                         const char           *text,
                                         VnPicture            *picture);
void             _vn_report_add_brief   (VnReportSection      *section,
                                         char                 *figure,
                                         char                 *label,
                                         char                 *detail);
void             _vn_report_brief_free  (gpointer              brief);
void             _vn_report_add_note    (GPtrArray            *lines,
                                         const VnNote         *note,
                                         const char           *title,
                                         const char           *remedy);

/* Parts of the section "network": section-precision.c. */
void             _vn_report_add_size    (VnReportSection      *section,
                                         VnRun                *run);
void             _vn_report_add_precision (VnReportSection    *section,
                                         VnRun                *run);

G_END_DECLS
