/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The first screen of a report in HTML: its title, its figures, and the gist of what follows. */
#include "html-head.h"

#include "vn-pen.h"
#include "vn-sign.h"

#define ICON 48.0

static void
html_add_icon (Html *self)
{
  g_autoptr(GString) drawn = g_string_new (NULL);
  g_autoptr(VnPen) pen = vn_pen_new_svg (drawn);

  vn_sign_draw_icon (pen, 0, 0, ICON);
  g_string_append_printf (self->text, "<svg class=\"sign\" width=\"%.0f\" height=\"%.0f\" aria-hidden=\"true\">%s</svg>", ICON,
                          ICON, drawn->str);
}

void
_vn_html_add_title (Html                *self,
                    const VnReportModel *model)
{
  g_autofree char *about = vn_report_model_dup_about (model);
  g_auto(GStrv) lines = model->made != NULL ? g_strsplit (model->made, "\n", -1) : NULL;

  g_string_append (self->text, "<header>");
  html_add_icon (self);
  _vn_html_append_element (self, "<div class=\"title\"><h1>", model->title, "</h1>\n");
  _vn_html_append_element (self, "<span class=\"dim name\">", about, "</span></div>\n<div class=\"made dim\">");
  for (guint i = 0; lines != NULL && lines[i] != NULL; i++)
    _vn_html_append_element (self, i > 0 ? "<br>" : "", lines[i], "");
  g_string_append (self->text, "</div></header>\n");
}

void
_vn_html_add_cards (Html                *self,
                    const VnReportModel *model)
{
  g_string_append (self->text, "<div class=\"cards\">\n");
  for (guint i = 0; i < model->sections->len; i++)
    {
      const VnReportSection *section = g_ptr_array_index (model->sections, i);

      for (guint k = 0; section->is_head && k < section->briefs->len; k++)
        {
          const VnReportBrief *brief = g_ptr_array_index (section->briefs, k);

          _vn_html_append_element (self, "<div><b>", brief->figure != NULL ? brief->figure : "", "</b>");
          _vn_html_append_element (self, "<span class=\"dim name\">", brief->label, "</span></div>\n");
        }
    }
  g_string_append (self->text, "</div>\n");
}

void
_vn_html_add_glance (Html                *self,
                     const VnReportModel *model)
{
  g_string_append (self->text, "<div class=\"glance\">\n");
  for (guint i = 0; i < model->sections->len; i++)
    {
      const VnReportSection *section = g_ptr_array_index (model->sections, i);

      if (section->stage != VN_REPORT_STAGE_REST || section->briefs->len == 0)
        continue;
      _vn_html_append_element (self, "<section><h2>", section->title, "</h2>\n<ul>\n");
      for (guint k = 0; k < section->briefs->len; k++)
        {
          const VnReportBrief *brief = g_ptr_array_index (section->briefs, k);

          g_string_append (self->text, "<li>");
          _vn_html_append_element (self, "<b>", brief->figure, "</b>");
          g_string_append (self->text, "<span class=\"name\">");
          _vn_html_append_name (self, brief->label);
          if (brief->detail != NULL)
            {
              g_string_append (self->text, " <span class=\"dim\">");
              _vn_html_append_name (self, brief->detail);
              g_string_append (self->text, "</span>");
            }
          g_string_append (self->text, "</span></li>\n");
        }
      g_string_append (self->text, "</ul></section>\n");
    }
  g_string_append (self->text, "</div>\n");
}

/* On which samples all this was measured. */
void
_vn_html_add_foot (Html                *self,
                   const VnReportModel *model)
{
  _vn_html_append_element (self, "<footer>", model->foot, "</footer>\n");
}
