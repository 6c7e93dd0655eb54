/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text of a page of HTML: escaped, shortened where it could fill the page, with places where lines may end. */
#include "html-text.h"

#include "vn-pen.h"
#include "vn-report.h"

#include <math.h>

#define LEAST_PIECE  6u       /* characters of a name that stay together, and how many do at most */
#define MOST_PIECE  30u

/* Shortened, so that one text cannot fill the page. */
static void
html_append_shortened (Html       *self,
                       const char *plain,
                       guint       most)
{
  g_autofree char *clean = vn_pen_dup_clean (plain), *shorter = vn_report_shorten (clean, most);

  vn_pen_append_markup (self->text, shorter);
}

void
_vn_html_append (Html       *self,
                 const char *plain)
{
  html_append_shortened (self, plain, HTML_MOST_TEXT);
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

void
_vn_html_append_name (Html       *self,
                      const char *plain)
{
  g_autofree char *clean = vn_pen_dup_clean (plain), *shorter = vn_report_shorten (clean, HTML_MOST_NAME);

  html_append_breakable (self, shorter);
}

/* A sign says the same as the text, which it stands in place of. */
static void
html_append_sign (Html                *self,
                  const VnReportValue *value)
{
  g_autoptr(GString) drawn = g_string_new (NULL);
  g_autoptr(VnPen) pen = vn_pen_new_svg (drawn);
  double width, height;

  vn_sign_get_size (&value->sign, &width, &height);
  vn_sign_draw (&value->sign, pen, 0, 0);
  g_string_append_printf (self->text, "<svg class=\"sign\" width=\"%.0f\" height=\"%.0f\" role=\"img\" aria-label=\"",
                          ceil (width), ceil (height));
  _vn_html_append (self, value->display);
  g_string_append_printf (self->text, "\">%s</svg>", drawn->str);
}

void
_vn_html_append_value (Html                *self,
                       const VnReportValue *value,
                       guint                most)
{
  g_autofree char *shown = vn_report_value_dup_shown (value, most), *clean = vn_pen_dup_clean (shown);
  const gboolean leads = value->node > 0 && g_hash_table_contains (self->nodes, GUINT_TO_POINTER (value->node));

  if (value->sign.kind != VN_SIGN_NONE)
    {
      html_append_sign (self, value);
      return;
    }
  if (leads)
    g_string_append_printf (self->text, "<a href=\"#n%u\">", value->node - 1);
  html_append_breakable (self, clean);
  g_string_append (self->text, leads ? "</a>" : "");
}

void
_vn_html_append_element (Html       *self,
                         const char *opening,
                         const char *plain,
                         const char *closing)
{
  if (plain == NULL)
    return;
  g_string_append (self->text, opening);
  _vn_html_append (self, plain);
  g_string_append (self->text, closing);
}

/* What is joined stands in one cell. */
void
_vn_html_append_joined (Html                *self,
                        VnReportJoin         join,
                        const VnReportValue *value)
{
  static const char * const before[] = { "", " … ", ", ", " (" };

  if (*value->display == '\0')
    return;
  g_string_append (self->text, before[join]);
  _vn_html_append_value (self, value, HTML_MOST_NAME);
  if (join == VN_REPORT_JOIN_PARENTHESES)
    g_string_append_c (self->text, ')');
}
