/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report as Markdown, to read. A wide table becomes one table for each of its parts, without columns that say nothing. */
#include "vn-report.h"

#include "vn-i18n.h"

typedef struct
{
  GString               *text;
  const VnReportSection *section;
  gboolean               in_facts;      /* the last lines are a table of facts, which others may go on with */
} Markdown;

/* ---- text ---- */

/* Names come from files: keep them from breaking the table. */
static void
markdown_append_escaped (GString    *text,
                         const char *plain)
{
  for (const char *at = plain; *at != '\0'; at++)
    {
      if (*at == '|' || *at == '`' || *at == '<' || *at == '*' || *at == '_' || *at == '\\')
        g_string_append_c (text, '\\');
      g_string_append_c (text, *at == '\n' || *at == '\r' ? ' ' : *at);
    }
}

static void
markdown_append_value (GString             *text,
                       const VnReportValue *value)
{
  const gboolean bold = value->is_bad && value->type == VN_REPORT_BOOL, red = value->is_bad && !bold;

  g_string_append (text, bold ? "**" : red ? "<font color=\"red\">" : "");
  markdown_append_escaped (text, value->display);
  g_string_append (text, bold ? "**" : red ? "</font>" : "");
}

/* Together with what stands before it. */
static void
markdown_append_joined (GString             *text,
                        VnReportJoin         join,
                        const VnReportValue *value)
{
  static const char * const before[] = { "", " … ", ", ", " (" };

  if (*value->display == '\0')
    return;
  g_string_append (text, before[join]);
  markdown_append_value (text, value);
  if (join == VN_REPORT_JOIN_PARENTHESES)
    g_string_append_c (text, ')');
}

static void
markdown_append_intro (Markdown   *self,
                       const char *intro)
{
  if (intro == NULL)
    return;
  g_string_append_c (self->text, '\n');
  markdown_append_escaped (self->text, intro);
  g_string_append_c (self->text, '\n');
}

/* ---- facts ---- */

static void
markdown_append_fact (Markdown  *self,
                      GPtrArray *facts,
                      guint      i)
{
  const VnReportFact *fact = g_ptr_array_index (facts, i);

  if (fact->join != VN_REPORT_APART || *fact->value->display == '\0')
    return;
  if (!self->in_facts)
    g_string_append (self->text, "\n| | |\n|---|---|\n");
  self->in_facts = TRUE;
  g_string_append_printf (self->text, "| %s | ", fact->label);
  markdown_append_value (self->text, fact->value);
  for (guint k = i + 1; k < facts->len && (fact = g_ptr_array_index (facts, k))->join != VN_REPORT_APART; k++)
    markdown_append_joined (self->text, fact->join, fact->value);
  g_string_append (self->text, " |\n");
}

/* A sentence that tells them all is read more easily than a table. */
static void
markdown_append_facts (Markdown              *self,
                       const VnReportContent *content)
{
  if (content->intro != NULL)
    {
      self->in_facts = FALSE;
      markdown_append_intro (self, content->intro);
      return;
    }
  for (guint i = 0; i < content->facts->len; i++)
    markdown_append_fact (self, content->facts, i);
}

/* ---- tables ---- */

static void
markdown_append_header (Markdown              *self,
                        const VnReportContent *table,
                        GArray                *columns)
{
  g_string_append (self->text, "\n|");
  for (guint i = 0; i < columns->len; i++)
    {
      const VnReportColumn *column = &table->columns[g_array_index (columns, guint, i)];

      g_string_append_printf (self->text, "%s%s%s%s |", column->title != NULL ? " " : "", column->title != NULL
                              ? _(column->title) : "",
                              column->unit != NULL && *column->unit != '\0' ? " " : "",
                              column->unit != NULL && *column->unit != '\0' ? _(column->unit) : "");
    }
  g_string_append (self->text, "\n|");
  for (guint i = 0; i < columns->len; i++)
    g_string_append (self->text, table->columns[g_array_index (columns, guint, i)].is_number ? "---:|" : "---|");
  g_string_append_c (self->text, '\n');
}

static void
markdown_append_row (Markdown              *self,
                     const VnReportContent *table,
                     GPtrArray             *row,
                     GArray                *columns)
{
  g_string_append_c (self->text, '|');
  for (guint i = 0; i < columns->len; i++)
    {
      const guint first = g_array_index (columns, guint, i);

      g_string_append_c (self->text, ' ');
      markdown_append_value (self->text, row->pdata[first]);
      for (guint c = first + 1; c < table->n_columns && table->columns[c].join != VN_REPORT_APART; c++)
        markdown_append_joined (self->text, table->columns[c].join, row->pdata[c]);
      g_string_append (self->text, " |");
    }
  g_string_append_c (self->text, '\n');
}

static void
markdown_append_part (Markdown              *self,
                      const VnReportContent *table,
                      guint                  part)
{
  const VnReportPart *info = &table->parts[part];
  g_autoptr(GArray) columns = vn_report_table_list_columns (table, part);
  g_autoptr(GPtrArray) rows = vn_report_table_list_rows (table, part);

  if (rows->len == 0)
    return;
  if (info->title != NULL)
    g_string_append_printf (self->text, "\n## %s\n", _(info->title));
  markdown_append_intro (self, info->intro != NULL ? _(info->intro) : NULL);
  markdown_append_header (self, table, columns);
  for (guint r = 0; r < rows->len; r++)
    markdown_append_row (self, table, g_ptr_array_index (rows, r), columns);
}

static void
markdown_append_table (Markdown              *self,
                       const VnReportContent *content)
{
  self->in_facts = FALSE;
  markdown_append_intro (self, content->intro);
  for (guint part = 0; part < content->n_parts; part++)
    markdown_append_part (self, content, part);
}

/* ---- words ---- */

static void
markdown_append_verdict (Markdown              *self,
                         const VnReportContent *content)
{
  self->in_facts = FALSE;
  g_string_append_printf (self->text, "\n**%s.** ", content->title);
  markdown_append_escaped (self->text, content->text);
  g_string_append_c (self->text, '\n');
}

static void
markdown_append_line (Markdown           *self,
                      const VnReportLine *line)
{
  if (line->title != NULL)
    g_string_append_printf (self->text, "**%s** ", line->title);
  if (line->subject != NULL)
    {
      markdown_append_escaped (self->text, line->subject);
      g_string_append (self->text, ": ");
    }
  markdown_append_escaped (self->text, line->text);
  if (line->remedy != NULL)
    {
      g_string_append (self->text, ". ");
      markdown_append_escaped (self->text, line->remedy);
    }
  g_string_append_c (self->text, '\n');
}

/* A list; in the head, where nobody may miss them, quotations. */
static void
markdown_append_notes (Markdown              *self,
                       const VnReportContent *content)
{
  const gboolean quoted = self->section->is_head;

  self->in_facts = FALSE;
  for (guint i = 0; i < content->lines->len; i++)
    {
      g_string_append (self->text, quoted ? "\n> " : i == 0 ? "\n- " : "- ");
      markdown_append_line (self, content->lines->pdata[i]);
    }
}

static void
markdown_append_command (Markdown              *self,
                         const VnReportContent *content)
{
  self->in_facts = FALSE;
  if (content->text == NULL)
    return;
  markdown_append_intro (self, content->intro);
  g_string_append_printf (self->text, "\n```sh\n%s\n```\n", content->text);
}

/* What it shows stands in tables, too. */
static void
markdown_skip (Markdown              *self,
               const VnReportContent *content)
{
}

/* ---- the report ---- */

typedef void (*MarkdownFunc) (Markdown *self, const VnReportContent *content);

static const MarkdownFunc kinds[VN_REPORT_N_KINDS] = {
  [VN_REPORT_FACTS] = markdown_append_facts,
  [VN_REPORT_TABLE] = markdown_append_table,
  [VN_REPORT_VERDICT] = markdown_append_verdict,
  [VN_REPORT_NOTES] = markdown_append_notes,
  [VN_REPORT_COMMAND] = markdown_append_command,
  [VN_REPORT_PICTURE] = markdown_skip,
};

static void
markdown_append_section (Markdown              *self,
                         const VnReportSection *section)
{
  gsize before = self->text->len, after;

  self->section = section;
  if (!section->is_head)
    {
      self->in_facts = FALSE;
      g_string_append_printf (self->text, "\n## %s\n", section->title);
    }
  after = self->text->len;
  for (guint i = 0; i < section->contents->len; i++)
    {
      const VnReportContent *content = g_ptr_array_index (section->contents, i);

      kinds[content->kind] (self, content);
    }
  if (self->text->len == after)   /* a title above nothing */
    g_string_truncate (self->text, before);
}

/**
 * vn_report_print_markdown:
 *
 * Returns: (transfer full): the report as Markdown
 */
GBytes *
vn_report_print_markdown (const VnReportModel  *model,
                          GError              **error G_GNUC_UNUSED)
{
  Markdown self = { g_string_new (NULL), NULL, FALSE };
  char *valid;

  g_return_val_if_fail (model != NULL, NULL);

  g_string_append_printf (self.text, "# %s\n", model->title);
  for (guint i = 0; i < model->sections->len; i++)
    markdown_append_section (&self, model->sections->pdata[i]);
  /* Names of files may be any bytes. */
  valid = g_utf8_make_valid (self.text->str, (gssize) self.text->len);
  g_string_free (self.text, TRUE);
  return g_bytes_new_take (valid, strlen (valid));
}
