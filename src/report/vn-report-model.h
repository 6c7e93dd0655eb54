/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The report as data: which sections there are, in which order, and what each tells. Printers (vn-report.h) decide only how
 * it looks. */

#include "vn-picture.h"
#include "vn-sign.h"

G_BEGIN_DECLS

typedef enum
{
  VN_REPORT_NOTHING,     /* not known, or does not apply */
  VN_REPORT_ABSENT,      /* the same of a row that has no such cell: programs do not read of it */
  VN_REPORT_BOOL,
  VN_REPORT_INT,
  VN_REPORT_NUMBER,
  VN_REPORT_TEXT,
  VN_REPORT_LIST,        /* of values */
  VN_REPORT_RECORD,      /* of facts */
} VnReportType;

/**
 * VnReportValue: what programs read, and how people are told.
 * @is_bad: worth a colour
 * @text: of TEXT
 * @parts: of LIST: VnReportValue; of RECORD: VnReportFact; of TEXT (nullable): VnReportValue, if @display is a list
 * @lead, @separator: (nullable): of a list: what stands before the first of @parts, and between them
 * @display: translated; empty where people need not be told, as of %VN_REPORT_NOTHING and %VN_REPORT_ABSENT
 * @sign: drawn in place of @display where that can be done
 * @node: index of the node that it names, from 1; 0: none
 */
typedef struct
{
  VnReportType type;
  gboolean     is_bad;
  gboolean     flag;
  gint64       integer;
  double       number;
  char        *text;
  GPtrArray   *parts;
  char        *lead;
  const char  *separator;
  char        *display;
  VnSign       sign;
  guint        node;
} VnReportValue;

/* How a fact or a column belongs to the one before it, for people: both are one thing to look at. */
typedef enum
{
  VN_REPORT_APART,
  VN_REPORT_JOIN_RANGE,          /* low … high */
  VN_REPORT_JOIN_COMMA,          /* uint8, symmetric */
  VN_REPORT_JOIN_PARENTHESES,    /* 17 bytes (2 times smaller) */
} VnReportJoin;

/**
 * VnReportFact: @key is for programs, @old_key (nullable) the name that it had, which they still find it by; @label is
 *   translated, static; %NULL of one that is joined.
 */
typedef struct
{
  const char    *key, *old_key, *label;
  VnReportJoin   join;
  VnReportValue *value;
} VnReportFact;

/**
 * VnReportColumn:
 * @id: key of its cells, for programs
 * @title, @unit: (nullable): N_()
 * @is_number: stands at the right
 * @part: which part of the table it is in; %VN_REPORT_ALL_PARTS: repeated in each, to say what a row is about
 * @old_id: (nullable): the key that its cells had, which programs still find them by
 */
typedef struct
{
  const char   *id, *title, *unit;
  gboolean      is_number;
  VnReportJoin  join;
  int           part;
  const char   *old_id;
} VnReportColumn;

#define VN_REPORT_ALL_PARTS (-1)

/**
 * VnReportPart: what of a wide table belongs together.
 * @title: (nullable): N_(); %NULL: the first, below the title of the section
 * @intro: (nullable): N_(): what it shows
 */
typedef struct { const char *title, *intro; } VnReportPart;

typedef enum
{
  VN_REPORT_FACTS,
  VN_REPORT_TABLE,
  VN_REPORT_VERDICT,
  VN_REPORT_NOTES,
  VN_REPORT_COMMAND,
  VN_REPORT_PICTURE,     /* what stands in a table, to look at: not for programs */
  VN_REPORT_N_KINDS
} VnReportKind;

/**
 * VnReportLine: a note as a report tells it.
 * @level: id; @title: (nullable): translated; @code, @subject, @remedy: nullable
 */
typedef struct { char *level, *title, *code, *subject, *text, *remedy; } VnReportLine;

/* What stands beside each other where there is room: one that is wide, and those that follow it. */
typedef enum { VN_REPORT_ALONE, VN_REPORT_WIDE, VN_REPORT_BESIDE } VnReportPlace;

/**
 * VnReportContent: one thing that a section tells.
 * @id: (nullable): key for programs; %NULL: it is the section
 * @intro: (nullable): translated: what people read before it. Of FACTS: a sentence that tells them all, in place of a table
 * @facts: of FACTS
 * @columns, @n_columns, @parts, @n_parts, @rows: of TABLE; a row is a #GPtrArray of one #VnReportValue for each column
 * @level, @title, @text: of VERDICT, @level being an id; of COMMAND @text alone, %NULL if there is none
 * @lines: of NOTES: VnReportLine
 * @picture: of PICTURE; @title is what stands above it (nullable), @text what it shows, for those who cannot see it
 * @place: where it stands on pages
 * @is_large: of TABLE: a short one, to be read first
 */
typedef struct
{
  VnReportKind          kind;
  const char           *id;
  char                 *intro;
  GPtrArray            *facts;
  const VnReportColumn *columns;
  guint                 n_columns;
  const VnReportPart   *parts;
  guint                 n_parts;
  GPtrArray            *rows;
  char                 *level, *title, *text;
  GPtrArray            *lines;
  VnPicture            *picture;
  VnReportPlace         place;
  gboolean              is_large;
} VnReportContent;

/**
 * VnReportBrief: the gist of a section, for the first look at a report that is laid out on pages. All translated.
 * @figure: (nullable): "16.9 → 4.2 MB"
 * @label: what it is of
 * @detail: (nullable): a few words more
 */
typedef struct { char *figure, *label, *detail; } VnReportBrief;

/**
 * VnReportStage: where a section stands on pages.
 * @VN_REPORT_STAGE_HEAD: in the head of the report, where its title need not be read
 * @VN_REPORT_STAGE_FIRST: on the first page, as far as there is room
 */
typedef enum { VN_REPORT_STAGE_HEAD, VN_REPORT_STAGE_FIRST, VN_REPORT_STAGE_REST } VnReportStage;

/**
 * VnReportSection:
 * @id: key for programs
 * @title: translated
 * @is_head: its stage is HEAD
 * @contents: VnReportContent; never empty
 * @briefs: VnReportBrief: those of the head are its figures, those of others are lists
 */
typedef struct
{
  const char    *id, *title;
  VnReportStage  stage;
  gboolean       is_head;
  GPtrArray     *contents;
  GPtrArray     *briefs;
} VnReportSection;

/**
 * VnReportModel:
 * @title: translated
 * @sections: VnReportSection, in the order they are told
 * @made: (nullable): when the run ended, and by which version of the program; in two lines
 * @foot: (nullable): translated: on which samples all this was measured
 */
typedef struct
{
  const char *title;
  GPtrArray  *sections;
  char       *made, *foot;
} VnReportModel;

void                   vn_report_model_free (VnReportModel       *self);
char                  *vn_report_model_dup_about (const VnReportModel *self);
const VnReportSection *vn_report_model_find (const VnReportModel *self,
                                             const char          *id);

/* What people are shown where there is room for @most characters. */
char                  *vn_report_value_dup_shown    (const VnReportValue   *self,
                                                     guint                  most);
char                  *vn_report_shorten            (const char            *text,
                                                     guint                  most);

/* What people are shown of a part of a table. */
GArray                *vn_report_table_list_columns (const VnReportContent *table,
                                                     guint                  part);      /* of guint */
GPtrArray             *vn_report_table_list_rows    (const VnReportContent *table,
                                                     guint                  part);      /* borrowed rows */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnReportModel, vn_report_model_free)

G_END_DECLS
