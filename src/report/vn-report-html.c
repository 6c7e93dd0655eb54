/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report as one page of HTML that needs nothing else: no script, no picture and no style from elsewhere. The first screen tells
 * verdict, figures, where the error starts and what was done. */
#include "vn-report.h"

#include "html-style.h"

#include "vn-i18n.h"
#include "vn-pen.h"

#include <string.h>

#define WIDTH         1040.0
#define SMALL_WIDTH    330.0
#define SHOWN_ROWS      20u       /* of a table; the rest is folded */
#define MOST_ROWS      400u
#define MOST_NAME      160u       /* characters of a cell; what is longer is shortened */
#define MOST_TEXT     1280u
#define LEAST_PIECE      6u       /* characters of a name that stay together, and how many do at most */
#define MOST_PIECE      30u
#define MOST_PICTURES 3600000u    /* bytes of a page with its pictures */
#define MOST_BYTES    4500000u    /* where tables end */
#define MOST_COMMAND   100000u

typedef struct
{
  GString               *text;
  const VnReportSection *section;
} Html;

/* ---- text ---- */

/* Shortened, so that one text cannot fill the page. */
static void
html_append_shortened (Html       *self,
                       const char *plain,
                       guint       most)
{
  g_autofree char *clean = vn_pen_dup_clean (plain), *shorter = vn_report_shorten (clean, most);

  vn_pen_append_markup (self->text, shorter);
}

static void
html_append (Html       *self,
             const char *plain)
{
  html_append_shortened (self, plain, MOST_TEXT);
}

/* Lines may end behind these, and in the middle of what has none. */
static void
html_append_breakable (Html       *self,
                       const char *clean)
{
  guint n = 0;

  while (*clean != '\0')
    {
      const gunichar c = g_utf8_get_char (clean);
      g_autofree char *letter = g_strndup (clean, (gsize) (g_utf8_next_char (clean) - clean));

      vn_pen_append_markup (self->text, letter);
      clean = g_utf8_next_char (clean);
      n = c == ' ' ? 0 : n + 1;
      if (*clean == '\0' || *clean == ' ' || n == 0)
        continue;
      if (((c == '/' || c == '_' || c == ':') && n >= LEAST_PIECE) || n >= MOST_PIECE)
        {
          g_string_append (self->text, "<wbr>");
          n = 0;
        }
    }
}

static void
html_append_name (Html       *self,
                  const char *plain)
{
  g_autofree char *clean = vn_pen_dup_clean (plain), *shorter = vn_report_shorten (clean, MOST_NAME);

  html_append_breakable (self, shorter);
}

static void
html_append_value (Html                *self,
                   const VnReportValue *value,
                   guint                most)
{
  g_autofree char *shown = vn_report_value_dup_shown (value, most), *clean = vn_pen_dup_clean (shown);

  html_append_breakable (self, clean);
}

static void
html_append_element (Html       *self,
                     const char *opening,
                     const char *plain,
                     const char *closing)
{
  if (plain == NULL)
    return;
  g_string_append (self->text, opening);
  html_append (self, plain);
  g_string_append (self->text, closing);
}

/* What is joined stands in one cell. */
static void
html_append_joined (Html                *self,
                    VnReportJoin         join,
                    const VnReportValue *value)
{
  static const char * const before[] = { "", " … ", ", ", " (" };

  if (*value->display == '\0')
    return;
  g_string_append (self->text, before[join]);
  html_append_value (self, value, MOST_NAME);
  if (join == VN_REPORT_JOIN_PARENTHESES)
    g_string_append_c (self->text, ')');
}

/* ---- contents ---- */

static void
html_add_facts (Html                  *self,
                const VnReportContent *content)
{
  gboolean any = FALSE;

  if (content->intro != NULL)
    {
      html_append_element (self, "<p>", content->intro, "</p>\n");
      return;
    }
  for (guint i = 0; i < content->facts->len; i++)
    {
      const VnReportFact *fact = g_ptr_array_index (content->facts, i);

      if (fact->join != VN_REPORT_APART || *fact->value->display == '\0')
        continue;
      g_string_append (self->text, any ? "" : "<table>\n");
      any = TRUE;
      html_append_element (self, "<tr><th scope=\"row\">", fact->label, "</th><td>");
      html_append_value (self, fact->value, MOST_TEXT);
      for (guint k = i + 1; k < content->facts->len && (fact = g_ptr_array_index (content->facts, k))->join != VN_REPORT_APART; k++)
        html_append_joined (self, fact->join, fact->value);
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

      g_string_append (self->text, column->title == NULL ? "<td class=\"mark\">" : column->is_number ? "<th scope=\"col\" class=\"n\">" : "<th scope=\"col\">");
      if (column->title != NULL)
        html_append (self, _(column->title));
      if (column->unit != NULL && *column->unit != '\0')
        html_append_element (self, " ", _(column->unit), "");
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
        g_string_append_printf (self->text, "<td class=\"%s%s%s\">", kind, *kind != '\0' && value->is_bad ? " " : "", value->is_bad ? "bad" : "");
      else
        g_string_append (self->text, "<td>");
      html_append_value (self, value, MOST_NAME);
      for (guint c = first + 1; c < table->n_columns && table->columns[c].join != VN_REPORT_APART; c++)
        html_append_joined (self, table->columns[c].join, g_ptr_array_index (row, c));
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
      g_autofree char *left = g_strdup_printf (_("%u more are in the report as Markdown or JSON."), rows->len - n);

      html_append_element (self, "<p class=\"dim\">", left, "</p>\n");
    }
}

static void
html_add_table (Html                  *self,
                const VnReportContent *content)
{
  html_append_element (self, "<p class=\"dim\">", content->intro, "</p>\n");
  for (guint part = 0; part < content->n_parts; part++)
    {
      const VnReportPart *info = &content->parts[part];
      g_autoptr(GArray) columns = vn_report_table_list_columns (content, part);
      g_autoptr(GPtrArray) rows = vn_report_table_list_rows (content, part);

      if (rows->len == 0)
        continue;
      html_append_element (self, "<h3>", info->title != NULL ? _(info->title) : NULL, "</h3>\n");
      html_append_element (self, "<p class=\"dim\">", info->intro != NULL ? _(info->intro) : NULL, "</p>\n");
      html_add_rows (self, content, columns, rows);
    }
}

static void
html_add_line (Html               *self,
               const VnReportLine *line)
{
  html_append_element (self, "<b>", line->title, "</b> ");
  html_append_element (self, "<span class=\"name\">", line->subject, "</span>: ");
  html_append (self, line->text);
  html_append_element (self, ". ", line->remedy, "");
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
  return g_str_equal (level, "good") ? "good" : g_str_equal (level, "unusable") || g_str_equal (level, "not-finite") ? "bad" : "watch";
}

static void
html_add_verdict (Html                  *self,
                  const VnReportContent *content)
{
  g_string_append_printf (self->text, "<h2 class=\"%s\">", html_find_mood (content->level));
  html_append_element (self, "", content->title, "</h2>\n");
  html_append_element (self, "<p>", content->text, "</p>\n");
}

static void
html_add_command (Html                  *self,
                  const VnReportContent *content)
{
  if (content->text == NULL)
    return;
  html_append_element (self, "<p>", content->intro, "</p>\n");
  if (strlen (content->text) > MOST_COMMAND)
    {
      html_append_element (self, "<p class=\"dim\">", _("The command is too long for a page; it is in the report as Markdown or JSON."), "</p>\n");
      return;
    }
  g_string_append (self->text, "<pre><code>");
  vn_pen_append_markup (self->text, content->text);
  g_string_append (self->text, "</code></pre>\n");
}

/* A picture that would make the page too heavy is left out: what it shows stands in tables. */
static void
html_add_picture (Html                  *self,
                  const VnReportContent *content)
{
  const double width = vn_picture_is_small (content->picture) ? SMALL_WIDTH : WIDTH;
  const double height = vn_picture_get_height (content->picture, width);
  g_autoptr(GString) drawn = g_string_new (NULL);
  g_autoptr(VnPen) pen = vn_pen_new_svg (drawn);

  if (height <= 0)
    return;
  vn_picture_draw (content->picture, pen, width);
  if (self->text->len + drawn->len > MOST_PICTURES)
    {
      html_append_element (self, "<p class=\"dim\">", _("The network is too large for a picture on a page; tables have its errors."), "</p>\n");
      return;
    }
  g_string_append (self->text, "<figure>\n");
  if (content->title != NULL)
    {
      g_string_append (self->text, "<h3 class=\"name\">");
      html_append_name (self, content->title);
      g_string_append (self->text, "</h3>\n");
    }
  g_string_append_printf (self->text, "<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"", width, height);
  html_append (self, content->text);
  g_string_append (self->text, "\">\n");
  g_string_append_len (self->text, drawn->str, (gssize) drawn->len);
  html_append_element (self, "</svg>\n<figcaption>", content->text, "</figcaption>\n</figure>\n");
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

/* ---- the first screen ---- */

static void
html_add_title (Html                *self,
                const VnReportModel *model)
{
  const VnReportSection *section = vn_report_model_find (model, "model");

  html_append_element (self, "<header><h1>", model->title, "</h1>\n");
  for (guint i = 0; section != NULL && i < section->contents->len; i++)
    {
      const VnReportContent *content = g_ptr_array_index (section->contents, i);

      for (guint k = 0; content->kind == VN_REPORT_FACTS && k < content->facts->len; k++)
        {
          const VnReportFact *fact = g_ptr_array_index (content->facts, k);

          if (*fact->value->display == '\0')
            continue;
          html_append_element (self, "<span class=\"dim name\">", k > 0 ? fact->label : NULL, " ");
          html_append_element (self, k > 0 ? "" : "<span class=\"dim name\">", fact->value->display, "</span>\n");
        }
    }
  g_string_append (self->text, "</header>\n");
}

static void
html_add_cards (Html                *self,
                const VnReportModel *model)
{
  g_string_append (self->text, "<div class=\"cards\">\n");
  for (guint i = 0; i < model->sections->len; i++)
    {
      const VnReportSection *section = g_ptr_array_index (model->sections, i);

      for (guint k = 0; section->is_head && k < section->briefs->len; k++)
        {
          const VnReportBrief *brief = g_ptr_array_index (section->briefs, k);

          html_append_element (self, "<div><b>", brief->figure != NULL ? brief->figure : "", "</b>");
          html_append_element (self, "<span class=\"dim name\">", brief->label, "</span></div>\n");
        }
    }
  g_string_append (self->text, "</div>\n");
}

static void
html_add_glance (Html                *self,
                 const VnReportModel *model)
{
  g_string_append (self->text, "<div class=\"glance\">\n");
  for (guint i = 0; i < model->sections->len; i++)
    {
      const VnReportSection *section = g_ptr_array_index (model->sections, i);

      if (section->is_head || section->briefs->len == 0)
        continue;
      html_append_element (self, "<section><h2>", section->title, "</h2>\n<ul>\n");
      for (guint k = 0; k < section->briefs->len; k++)
        {
          const VnReportBrief *brief = g_ptr_array_index (section->briefs, k);

          g_string_append (self->text, "<li>");
          html_append_element (self, "<b>", brief->figure, "</b>");
          g_string_append (self->text, "<span class=\"name\">");
          html_append_name (self, brief->label);
          if (brief->detail != NULL)
            {
              g_string_append (self->text, " <span class=\"dim\">");
              html_append_name (self, brief->detail);
              g_string_append (self->text, "</span>");
            }
          g_string_append (self->text, "</span></li>\n");
        }
      g_string_append (self->text, "</ul></section>\n");
    }
  g_string_append (self->text, "</div>\n");
}

/* ---- the page ---- */

static gboolean
html_is_small (const VnReportSection *section,
               guint                  i)
{
  const VnReportContent *content = i < section->contents->len ? g_ptr_array_index (section->contents, i) : NULL;

  return content != NULL && content->kind == VN_REPORT_PICTURE && vn_picture_is_small (content->picture);
}

static void
html_add_contents (Html                  *self,
                   const VnReportSection *section)
{
  gboolean in_grid = FALSE;

  self->section = section;
  for (guint i = 0; i < section->contents->len; i++)
    {
      const VnReportContent *content = g_ptr_array_index (section->contents, i);

      if (html_is_small (section, i) && !in_grid)
        g_string_append (self->text, "<div class=\"grid\">\n");
      in_grid = html_is_small (section, i);
      kinds[content->kind] (self, content);
      if (in_grid && !html_is_small (section, i + 1))
        g_string_append (self->text, "</div>\n");
    }
}

/* A title above nothing is taken back. */
static void
html_add_section (Html                  *self,
                  const VnReportSection *section)
{
  const gsize before = self->text->len;
  gsize after;

  g_string_append_printf (self->text, "<section id=\"%s\">", section->id);
  html_append_element (self, "<h2>", section->title, "</h2>\n");
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
html_add_body (Html                *self,
               const VnReportModel *model)
{
  const VnReportSection *summary = vn_report_model_find (model, "summary");

  html_add_title (self, model);
  if (summary != NULL)
    {
      g_string_append (self->text, "<section class=\"verdict\">\n");
      html_add_contents (self, summary);
      g_string_append (self->text, "</section>\n");
    }
  html_add_cards (self, model);
  html_add_glance (self, model);
  for (guint i = 0; i < model->sections->len; i++)
    {
      const VnReportSection *section = g_ptr_array_index (model->sections, i);

      if (!section->is_head)
        html_add_section (self, section);
    }
  html_add_head_facts (self, model);
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
  Html self = { g_string_new (NULL), NULL };

  g_return_val_if_fail (model != NULL, NULL);

  /* Translators: the code of the language that you translate to, such as “de” */
  g_string_append_printf (self.text, "<!DOCTYPE html>\n<html lang=\"%s\">\n<head>\n<meta charset=\"utf-8\">\n", C_("language of the report", "en"));
  g_string_append (self.text, "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
                              "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                              "<meta name=\"color-scheme\" content=\"light dark\">\n");
  html_append_element (&self, "<title>", model->title, "</title>\n");
  _vn_html_append_style (self.text);
  g_string_append (self.text, "</head>\n<body>\n");
  html_add_body (&self, model);
  g_string_append (self.text, "</body>\n</html>\n");
  return g_string_free_to_bytes (self.text);
}
