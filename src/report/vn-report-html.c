/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report as one page of HTML that needs nothing else: no script, no picture and no style from elsewhere. The first screen
 * tells verdict, figures, where the error starts and what was done. */
#include "vn-report.h"

#include "html-head.h"
#include "html-style.h"

#include "vn-i18n.h"
#include "vn-pen.h"

#include <string.h>

#define WIDTH         1040.0
#define SMALL_WIDTH    330.0
#define WIDE_WIDTH     680.0      /* of what has something beside it */
#define SHOWN_ROWS      20u       /* of a table; the rest is folded */
#define MOST_ROWS      400u
#define MOST_PICTURES 3600000u    /* bytes of a page with its pictures */
#define MOST_BYTES    4500000u    /* where tables end */
#define MOST_COMMAND   100000u

/* ---- contents ---- */

static void
html_add_facts (Html                  *self,
                const VnReportContent *content)
{
  gboolean any = FALSE;

  if (content->intro != NULL)
    {
      _vn_html_append_element (self, "<p>", content->intro, "</p>\n");
      return;
    }
  for (guint i = 0; i < content->facts->len; i++)
    {
      const VnReportFact *fact = g_ptr_array_index (content->facts, i);

      if (fact->join != VN_REPORT_APART || *fact->value->display == '\0')
        continue;
      g_string_append (self->text, any ? "" : "<table>\n");
      any = TRUE;
      _vn_html_append_element (self, "<tr><th scope=\"row\">", fact->label, "</th><td>");
      _vn_html_append_value (self, fact->value, HTML_MOST_TEXT);
      for (guint k = i + 1; k < content->facts->len &&
           (fact = g_ptr_array_index (content->facts, k))->join != VN_REPORT_APART; k++)
        _vn_html_append_joined (self, fact->join, fact->value);
      g_string_append (self->text, "</td></tr>\n");
    }
  g_string_append (self->text, any ? "</table>\n" : "");
}

static void
html_open_table (Html                  *self,
                 const VnReportContent *table,
                 const GArray          *columns)
{
  g_string_append (self->text, "<div class=\"wide\"><table>\n<thead><tr>");
  for (guint i = 0; i < columns->len; i++)
    {
      const VnReportColumn *column = &table->columns[g_array_index (columns, guint, i)];

      g_string_append (self->text, column->title == NULL ? "<td class=\"mark\">" : column->is_number
                       ? "<th scope=\"col\" class=\"n\">" : "<th scope=\"col\">");
      if (column->title != NULL)
        _vn_html_append (self, _(column->title));
      if (column->unit != NULL && *column->unit != '\0')
        _vn_html_append_element (self, " ", _(column->unit), "");
      g_string_append (self->text, column->title == NULL ? "</td>" : "</th>");
    }
  g_string_append (self->text, "</tr></thead>\n<tbody>\n");
}

static void
html_add_row (Html                  *self,
              const VnReportContent *table,
              const GArray          *columns,
              const GPtrArray       *row)
{
  g_string_append (self->text, "<tr>");
  for (guint i = 0; i < columns->len; i++)
    {
      const guint first = g_array_index (columns, guint, i);
      const VnReportValue *value = g_ptr_array_index (row, first);
      const VnReportColumn *column = &table->columns[first];
      const char *kind = column->title == NULL ? "mark" : column->is_number ? "n" : "";

      if (*kind != '\0' || value->is_bad)
        g_string_append_printf (self->text, "<td class=\"%s%s%s\">", kind, *kind != '\0' && value->is_bad ? " " : "",
                                value->is_bad ? "bad" : "");
      else
        g_string_append (self->text, "<td>");
      _vn_html_append_value (self, value, HTML_MOST_NAME);
      for (guint c = first + 1; c < table->n_columns && table->columns[c].join != VN_REPORT_APART; c++)
        _vn_html_append_joined (self, table->columns[c].join, g_ptr_array_index (row, c));
      g_string_append (self->text, "</td>");
    }
  g_string_append (self->text, "</tr>\n");
}

/* The first rows, then the others folded; those that are too many for a page are only counted. */
static void
html_add_rows (Html                  *self,
               const VnReportContent *table,
               const GArray          *columns,
               const GPtrArray       *rows)
{
  guint n = MIN (rows->len, self->text->len < MOST_BYTES ? MOST_ROWS : 0), shown = n <= SHOWN_ROWS + 5 ? n : SHOWN_ROWS;

  html_open_table (self, table, columns);
  for (guint r = 0; r < shown; r++)
    html_add_row (self, table, columns, g_ptr_array_index (rows, r));
  g_string_append (self->text, "</tbody></table></div>\n");
  if (shown < n)
    {
      g_string_append_printf (self->text, "<details><summary>");
      g_string_append_printf (self->text, ngettext ("%u more", "%u more", n - shown), n - shown);
      g_string_append (self->text, "</summary>\n");
      html_open_table (self, table, columns);
      for (guint r = shown; r < n && self->text->len < MOST_BYTES; r++)
        html_add_row (self, table, columns, g_ptr_array_index (rows, r));
      g_string_append (self->text, "</tbody></table></div></details>\n");
    }
  if (n < rows->len)
    {
      g_autofree char *left = g_strdup_printf (ngettext ("%u more is in the Markdown and JSON reports.",
                                                         "%u more are in the Markdown and JSON reports.", rows->len - n),
                                                         rows->len - n);

      _vn_html_append_element (self, "<p class=\"dim\">", left, "</p>\n");
    }
}

static void
html_add_table (Html                  *self,
                const VnReportContent *content)
{
  _vn_html_append_element (self, "<p class=\"dim\">", content->intro, "</p>\n");
  for (guint part = 0; part < content->n_parts; part++)
    {
      const VnReportPart *info = &content->parts[part];
      g_autoptr(GArray) columns = vn_report_table_list_columns (content, part);
      g_autoptr(GPtrArray) rows = vn_report_table_list_rows (content, part);

      if (rows->len == 0)
        continue;
      _vn_html_append_element (self, "<h3>", info->title != NULL ? _(info->title) : NULL, "</h3>\n");
      _vn_html_append_element (self, "<p class=\"dim\">", info->intro != NULL ? _(info->intro) : NULL, "</p>\n");
      html_add_rows (self, content, columns, rows);
    }
}

static void
html_add_line (Html               *self,
               const VnReportLine *line)
{
  _vn_html_append_element (self, "<b>", line->title, "</b> ");
  _vn_html_append_element (self, "<span class=\"name\">", line->subject, "</span>: ");
  _vn_html_append (self, line->text);
  _vn_html_append_element (self, ". ", line->remedy, "");
}

static void
html_add_notes (Html                  *self,
                const VnReportContent *content)
{
  const gboolean in_head = self->section->is_head;

  if (content->lines->len == 0)
    return;
  g_string_append (self->text, in_head ? "" : "<ul class=\"notes\">\n");
  for (guint i = 0; i < content->lines->len && self->text->len < MOST_BYTES; i++)
    {
      g_string_append (self->text, in_head ? "<p class=\"note\">" : "<li>");
      html_add_line (self, g_ptr_array_index (content->lines, i));
      g_string_append (self->text, in_head ? "</p>\n" : "</li>\n");
    }
  g_string_append (self->text, in_head ? "" : "</ul>\n");
}

/* Levels of verdicts by what is to be done about them. */
static const char *
html_find_mood (const char *level)
{
  return g_str_equal (level, "good") ? "good" : g_str_equal (level, "unusable") || g_str_equal (level, "not-finite")
         ? "bad" : "watch";
}

static void
html_add_verdict (Html                  *self,
                  const VnReportContent *content)
{
  g_string_append_printf (self->text, "<h2 class=\"%s\">", html_find_mood (content->level));
  _vn_html_append_element (self, "", content->title, "</h2>\n");
  _vn_html_append_element (self, "<p>", content->text, "</p>\n");
}

static void
html_add_command (Html                  *self,
                  const VnReportContent *content)
{
  if (content->text == NULL)
    return;
  _vn_html_append_element (self, "<p>", content->intro, "</p>\n");
  if (strlen (content->text) > MOST_COMMAND)
    {
      _vn_html_append_element (self, "<p class=\"dim\">",
                               _("The command is too long for a page; it is in the report as Markdown or JSON."), "</p>\n");
      return;
    }
  g_string_append (self->text, "<pre><code>");
  vn_pen_append_markup (self->text, content->text);
  g_string_append (self->text, "</code></pre>\n");
}

static void
html_note_node (const VnPenLink *link,
                gpointer         data)
{
  g_hash_table_add (((Html *) data)->nodes, GUINT_TO_POINTER (link->node + 1));
}

/* A picture that would make the page too heavy is left out: what it shows stands in tables. */
static void
html_add_picture (Html                  *self,
                  const VnReportContent *content)
{
  const gboolean is_small = vn_picture_is_small (content->picture) || content->place == VN_REPORT_BESIDE;
  const double width = is_small ? SMALL_WIDTH : content->place == VN_REPORT_WIDE ? WIDE_WIDTH : WIDTH;
  const double height = vn_picture_get_height (content->picture, width);
  g_autoptr(GString) drawn = g_string_new (NULL);
  g_autoptr(VnPen) pen = vn_pen_new_svg (drawn);

  if (height <= 0)
    return;
  vn_pen_set_link_func (pen, html_note_node, self);
  vn_picture_draw (content->picture, pen, width);
  if (self->text->len + drawn->len > MOST_PICTURES)
    {
      _vn_html_append_element (self, "<p class=\"dim\">", _("The graph is too large to draw on a page; its errors are "
                                                            "in the tables."), "</p>\n");
      return;
    }
  g_string_append (self->text, "<figure>\n");
  if (content->title != NULL)
    {
      g_string_append (self->text, "<h3 class=\"name\">");
      _vn_html_append_name (self, content->title);
      g_string_append (self->text, "</h3>\n");
    }
  g_string_append_printf (self->text, "<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"", width, height);
  _vn_html_append (self, content->text);
  g_string_append (self->text, "\">\n");
  g_string_append_len (self->text, drawn->str, (gssize) drawn->len);
  g_string_append (self->text, "</svg>\n");
  _vn_html_append_element (self, "<figcaption>", content->place == VN_REPORT_BESIDE ? NULL : content->text, "</figcaption>\n");
  g_string_append (self->text, "</figure>\n");
}

typedef void (*HtmlFunc) (Html *self, const VnReportContent *content);

static const HtmlFunc kinds[VN_REPORT_N_KINDS] = {
  [VN_REPORT_FACTS] = html_add_facts,
  [VN_REPORT_TABLE] = html_add_table,
  [VN_REPORT_VERDICT] = html_add_verdict,
  [VN_REPORT_NOTES] = html_add_notes,
  [VN_REPORT_COMMAND] = html_add_command,
  [VN_REPORT_PICTURE] = html_add_picture,
};

/* ---- the page ---- */

/* What a content stands in beside others: NULL: it stands alone. */
static const char *
html_get_box (const VnReportSection *section,
              guint                  i)
{
  const VnReportContent *content = i < section->contents->len ? g_ptr_array_index (section->contents, i) : NULL;

  if (content == NULL)
    return NULL;
  if (content->place != VN_REPORT_ALONE)
    return content->place == VN_REPORT_WIDE ? "beside" : "column";
  return content->kind == VN_REPORT_PICTURE && vn_picture_is_small (content->picture) ? "grid" : NULL;
}

/* Opens and closes boxes between the content before @i and @i: a column is in "beside". */
static void
html_change_box (Html       *self,
                 const char *before,
                 const char *now)
{
  const gboolean enters_column = g_strcmp0 (before, "beside") == 0 && g_strcmp0 (now, "column") == 0;

  if (g_strcmp0 (before, now) == 0)
    return;
  if (before != NULL && !enters_column)
    g_string_append (self->text, g_str_equal (before, "column") ? "</div></div>\n" : "</div>\n");
  if (now != NULL)
    g_string_append_printf (self->text, g_str_equal (now, "column") && !enters_column
                            ? "<div class=\"beside\"><div class=\"%s\">\n" :
                            "<div class=\"%s\">\n", now);
}

static void
html_add_contents (Html                  *self,
                   const VnReportSection *section)
{
  const char *box = NULL;

  self->section = section;
  for (guint i = 0; i < section->contents->len; i++)
    {
      const VnReportContent *content = g_ptr_array_index (section->contents, i);

      html_change_box (self, box, html_get_box (section, i));
      box = html_get_box (section, i);
      kinds[content->kind] (self, content);
    }
  html_change_box (self, box, NULL);
}

/* A title above nothing is taken back. */
static void
html_add_section (Html                  *self,
                  const VnReportSection *section)
{
  const gsize before = self->text->len;
  gsize after;

  g_string_append_printf (self->text, "<section id=\"%s\">", section->id);
  _vn_html_append_element (self, "<h2>", section->title, "</h2>\n");
  after = self->text->len;
  html_add_contents (self, section);
  if (self->text->len == after)
    g_string_truncate (self->text, before);
  else
    g_string_append (self->text, "</section>\n");
}

/* What the first screen has told in figures, in full. */
static void
html_add_head_facts (Html                *self,
                     const VnReportModel *model)
{
  for (guint i = 0; i < model->sections->len; i++)
    {
      const VnReportSection *section = g_ptr_array_index (model->sections, i);

      if (section->is_head && !g_str_equal (section->id, "summary"))
        html_add_section (self, section);
    }
}

static void
html_add_stage (Html                *self,
                const VnReportModel *model,
                VnReportStage        stage)
{
  for (guint i = 0; i < model->sections->len; i++)
    {
      const VnReportSection *section = g_ptr_array_index (model->sections, i);

      if (section->stage == stage)
        html_add_section (self, section);
    }
}

static void
html_add_body (Html                *self,
               const VnReportModel *model)
{
  const VnReportSection *summary = vn_report_model_find (model, "summary");

  _vn_html_add_title (self, model);
  if (summary != NULL)
    {
      g_string_append (self->text, "<section class=\"verdict\">\n");
      html_add_contents (self, summary);
      g_string_append (self->text, "</section>\n");
    }
  _vn_html_add_cards (self, model);
  html_add_stage (self, model, VN_REPORT_STAGE_FIRST);
  _vn_html_add_glance (self, model);
  html_add_stage (self, model, VN_REPORT_STAGE_REST);
  html_add_head_facts (self, model);
  _vn_html_add_foot (self, model);
}

/**
 * vn_report_print_html:
 *
 * Returns: (transfer full): the report as a page of HTML, less than 5 MB
 */
GBytes *
vn_report_print_html (const VnReportModel  *model,
                      GError              **error G_GNUC_UNUSED)
{
  g_autoptr(GHashTable) nodes = g_hash_table_new (NULL, NULL);
  Html self = { g_string_new (NULL), NULL, nodes };

  g_return_val_if_fail (model != NULL, NULL);

  /* Translators: the code of the language that you translate to, such as “de” */
  g_string_append_printf (self.text, "<!DOCTYPE html>\n<html lang=\"%s\">\n<head>\n<meta charset=\"utf-8\">\n",
                          C_("language of the report", "en"));
  g_string_append (self.text,
                   "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
                              "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                              "<meta name=\"color-scheme\" content=\"light dark\">\n");
  _vn_html_append_element (&self, "<title>", model->title, "</title>\n");
  _vn_html_append_style (self.text);
  g_string_append (self.text, "</head>\n<body>\n");
  html_add_body (&self, model);
  g_string_append (self.text, "</body>\n</html>\n");
  return g_string_free_to_bytes (self.text);
}
