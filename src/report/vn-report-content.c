/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a section of a report holds: builders add it here. */
#include "vn-report-build.h"

#include "vn-shown.h"

static void
report_content_free_line (gpointer data)
{
  VnReportLine *line = data;

  g_free (line->level);
  g_free (line->title);
  g_free (line->code);
  g_free (line->subject);
  g_free (line->text);
  g_free (line->remedy);
  g_free (line);
}

void
_vn_report_content_free (gpointer data)
{
  VnReportContent *content = data;

  g_free (content->intro);
  g_free (content->level);
  g_free (content->title);
  g_free (content->text);
  g_clear_pointer (&content->facts, g_ptr_array_unref);
  g_clear_pointer (&content->rows, g_ptr_array_unref);
  g_clear_pointer (&content->lines, g_ptr_array_unref);
  g_clear_pointer (&content->picture, vn_picture_unref);
  g_free (content);
}

/* ---- what builders add ---- */

static VnReportContent *
report_content_add (VnReportSection *section,
                    VnReportKind     kind,
                    const char      *id,
                    char            *intro)
{
  VnReportContent *content = g_new0 (VnReportContent, 1);

  content->kind = kind;
  content->id = id;
  content->intro = vn_shown_dup (intro);
  g_free (intro);
  g_ptr_array_add (section->contents, content);
  return content;
}

/*< private >
 * _vn_report_add_facts:
 * @sentence: (transfer full) (nullable): tells them all
 *
 * Returns: where _vn_report_fact() adds to
 */
GPtrArray *
_vn_report_add_facts (VnReportSection *section,
                      char            *sentence)
{
  VnReportContent *content = report_content_add (section, VN_REPORT_FACTS, NULL, sentence);

  content->facts = _vn_report_facts_new ();
  return content->facts;
}

/*< private >
 * _vn_report_add_table:
 * @id: (nullable): %NULL: the table is the section
 * @parts: static, at least one
 *
 * Returns: what _vn_report_add_row() adds to
 */
VnReportContent *
_vn_report_add_table (VnReportSection      *section,
                      const char           *id,
                      const VnReportColumn *columns,
                      guint                 n_columns,
                      const VnReportPart   *parts,
                      guint                 n_parts)
{
  VnReportContent *content = report_content_add (section, VN_REPORT_TABLE, id, NULL);

  content->columns = columns;
  content->n_columns = n_columns;
  content->parts = parts;
  content->n_parts = n_parts;
  content->rows = g_ptr_array_new_with_free_func ((GDestroyNotify) g_ptr_array_unref);
  return content;
}

/*< private >
 * _vn_report_add_row:
 *
 * Returns: where the cells go, one for each column, in their order
 */
GPtrArray *
_vn_report_add_row (VnReportContent *table)
{
  GPtrArray *row = g_ptr_array_new_full (table->n_columns, _vn_report_value_free);

  g_ptr_array_add (table->rows, row);
  return row;
}

void
_vn_report_add_verdict (VnReportSection *section,
                        const char      *level,
                        const char      *title,
                        const char      *text)
{
  VnReportContent *content = report_content_add (section, VN_REPORT_VERDICT, NULL, NULL);

  content->level = g_strdup (level);
  content->title = g_strdup (title);
  content->text = vn_shown_dup (text);
}

void
_vn_report_add_command (VnReportSection *section,
                        const char      *id,
                        const char      *intro,
                        char            *command)
{
  VnReportContent *content = report_content_add (section, VN_REPORT_COMMAND, id, g_strdup (intro));

  content->text = command;
}

/*< private >
 * _vn_report_add_notes:
 *
 * Returns: (element-type VnReportLine): where _vn_report_add_note() adds to
 */
GPtrArray *
_vn_report_add_notes (VnReportSection *section,
                      const char      *id)
{
  VnReportContent *content = report_content_add (section, VN_REPORT_NOTES, id, NULL);

  content->lines = g_ptr_array_new_with_free_func (report_content_free_line);
  return content->lines;
}

/*< private >
 * _vn_report_add_note:
 * @title: (nullable): what kind of note it is, for people
 * @remedy: (nullable)
 */
void
_vn_report_add_note (GPtrArray    *lines,
                     const VnNote *note,
                     const char   *title,
                     const char   *remedy)
{
  VnReportLine *line = g_new0 (VnReportLine, 1);

  line->level = g_strdup (vn_note_level_get_id (note->level));
  line->title = g_strdup (title);
  line->code = g_strdup (note->code);
  line->subject = vn_shown_dup (note->subject);
  line->text = vn_shown_dup (note->text);
  line->remedy = vn_shown_dup (remedy);
  g_ptr_array_add (lines, line);
}

/*< private >
 * _vn_report_add_picture:
 * @title: (nullable): what stands above it
 * @text: what it shows, in words
 * @picture: (transfer full)
 *
 * Returns: (transfer none): what may be placed otherwise than alone
 */
VnReportContent *
_vn_report_add_picture (VnReportSection *section,
                        const char      *title,
                        const char      *text,
                        VnPicture       *picture)
{
  VnReportContent *content = report_content_add (section, VN_REPORT_PICTURE, NULL, NULL);

  content->title = g_strdup (title);
  content->text = vn_shown_dup (text);
  content->picture = picture;
  return content;
}

void
_vn_report_brief_free (gpointer brief)
{
  VnReportBrief *self = brief;

  g_free (self->figure);
  g_free (self->label);
  g_free (self->detail);
  g_free (self);
}

/*< private >
 * _vn_report_add_brief:
 * @figure: (transfer full) (nullable)
 * @label: (transfer full)
 * @detail: (transfer full) (nullable)
 */
void
_vn_report_add_brief (VnReportSection *section,
                      char            *figure,
                      char            *label,
                      char            *detail)
{
  VnReportBrief *brief = g_new0 (VnReportBrief, 1);

  *brief = (VnReportBrief) { figure, label, detail };
  g_ptr_array_add (section->briefs, brief);
}

/* ---- tables ---- */

static gboolean
report_content_has_text (const GPtrArray *row,
                         guint            column)
{
  return *((VnReportValue *) g_ptr_array_index (row, column))->display != '\0';
}

/**
 * vn_report_table_list_columns:
 * @table: of kind %VN_REPORT_TABLE
 *
 * Returns: (transfer full) (element-type guint): the columns of @part that begin one for people and say something in any row
 */
GArray *
vn_report_table_list_columns (const VnReportContent *table,
                              guint                  part)
{
  GArray *columns;

  g_return_val_if_fail (table != NULL && table->kind == VN_REPORT_TABLE, NULL);

  columns = g_array_new (FALSE, FALSE, sizeof (guint));
  for (guint c = 0; c < table->n_columns; c++)
    {
      gboolean any = table->columns[c].title == NULL;   /* of marks: that there are none is worth seeing */

      if ((table->columns[c].part != (int) part && table->columns[c].part != VN_REPORT_ALL_PARTS) ||
          table->columns[c].join != VN_REPORT_APART)
        continue;
      for (guint r = 0; r < table->rows->len && !any; r++)
        any = report_content_has_text (g_ptr_array_index (table->rows, r), c);
      if (any)
        g_array_append_val (columns, c);
    }
  return columns;
}

/**
 * vn_report_table_list_rows:
 * @table: of kind %VN_REPORT_TABLE
 *
 * Returns: (transfer container): the rows that have something to tell in @part besides what they are about
 */
GPtrArray *
vn_report_table_list_rows (const VnReportContent *table,
                           guint                  part)
{
  GPtrArray *rows;

  g_return_val_if_fail (table != NULL && table->kind == VN_REPORT_TABLE, NULL);

  rows = g_ptr_array_new ();
  for (guint r = 0; r < table->rows->len; r++)
    {
      GPtrArray *row = g_ptr_array_index (table->rows, r);
      gboolean any = FALSE;

      for (guint c = 0; c < table->n_columns && !any; c++)
        any = table->columns[c].part == (int) part && report_content_has_text (row, c);
      if (any)
        g_ptr_array_add (rows, row);
    }
  return rows;
}
