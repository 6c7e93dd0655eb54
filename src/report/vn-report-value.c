/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values and facts of a report: each for programs and, as text, for people. */
#include "vn-report-build.h"

#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-shown.h"

#include <string.h>

static VnReportValue *
report_value_new (VnReportType  type,
                  char         *display)
{
  VnReportValue *self = g_new0 (VnReportValue, 1);

  self->type = type;
  self->display = display;
  return self;
}

VnReportValue *
_vn_report_nothing (void)
{
  return report_value_new (VN_REPORT_NOTHING, g_strdup (""));
}

VnReportValue *
_vn_report_absent (void)
{
  return report_value_new (VN_REPORT_ABSENT, g_strdup (""));
}

/*< private >
 * _vn_report_bool:
 * @display: what is told if it is so; empty: nothing is
 */
VnReportValue *
_vn_report_bool (gboolean    flag,
                 const char *display)
{
  VnReportValue *self = report_value_new (VN_REPORT_BOOL, g_strdup (display));

  self->flag = flag;
  return self;
}

VnReportValue *
_vn_report_int (gint64  integer,
                char   *display)
{
  VnReportValue *self = report_value_new (VN_REPORT_INT, display);

  self->integer = integer;
  if (display == NULL)
    self->display = g_strdup_printf ("%" G_GINT64_FORMAT, integer);
  return self;
}

VnReportValue *
_vn_report_number (double  number,
                   char   *display)
{
  VnReportValue *self = report_value_new (VN_REPORT_NUMBER, display);

  self->number = number;
  if (display == NULL)
    self->display = vn_format_plain (number);
  return self;
}

VnReportValue *
_vn_report_text (const char *text)
{
  return text != NULL ? _vn_report_text_as (text, text) : _vn_report_nothing ();
}

VnReportValue *
_vn_report_text_as (const char *text,
                    const char *display)
{
  VnReportValue *self = report_value_new (VN_REPORT_TEXT, vn_shown_dup (display));

  self->text = g_strdup (text);
  return self;
}

VnReportValue *
_vn_report_list (void)
{
  VnReportValue *self = report_value_new (VN_REPORT_LIST, g_strdup (""));

  self->parts = g_ptr_array_new_with_free_func (_vn_report_value_free);
  return self;
}

/*< private >
 * _vn_report_list_add:
 * @part: (transfer full)
 * @separator: between what is displayed
 *
 * Returns: @list
 */
VnReportValue *
_vn_report_list_add (VnReportValue *list,
                     VnReportValue *part,
                     const char    *separator)
{
  g_autofree char *before = list->display;

  list->display = g_strconcat (before, list->parts->len > 0 ? separator : "", part->display, NULL);
  list->separator = separator;
  g_ptr_array_add (list->parts, part);
  return list;
}

/*< private >
 * _vn_report_rule:
 *
 * Returns: (transfer full): @rule: as a recipe has it for programs, in words for people
 */
VnReportValue *
_vn_report_rule (const VnOverride *rule)
{
  g_auto(GStrv) subjects = vn_override_list_subjects (rule);
  g_autofree char *json = vn_override_to_json (rule), *effect = vn_override_dup_effect (rule);
  VnReportValue *self = _vn_report_list ();

  g_free (self->display);
  /* Translators: what a rule says, and what it is about: “float: conv_1, conv_2” */
  self->lead = g_strdup_printf (rule->enabled ? _("%s: ") : _("%s (turned off): "), effect);
  if (rule->name != NULL)
    {
      g_autofree char *rest = self->lead;

      /* Translators: what somebody calls a rule, and what it says: “Class heads”, float: conv_1, conv_2 */
      self->lead = g_strdup_printf (_("“%s”, %s"), rule->name, rest);
    }
  self->display = g_strdup (self->lead);
  for (guint i = 0; subjects[i] != NULL; i++)
    _vn_report_list_add (self, _vn_report_text (subjects[i]), ", ");
  self->type = VN_REPORT_TEXT;
  self->text = g_steal_pointer (&json);
  return self;
}

/*< private >
 * _vn_report_for_programs:
 *
 * Returns: @self, of which people are told elsewhere
 */
VnReportValue *
_vn_report_for_programs (VnReportValue *self)
{
  g_free (self->display);
  self->display = g_strdup ("");
  return self;
}

/*< private >
 * _vn_report_signed:
 *
 * Returns: @self, which is told by @sign where that can be drawn
 */
VnReportValue *
_vn_report_signed (VnReportValue *self,
                   VnSign         sign)
{
  self->sign = sign;
  return self;
}

/*< private >
 * _vn_report_about:
 * @node: of the model as opened
 *
 * Returns: @self, which leads to @node
 */
VnReportValue *
_vn_report_about (VnReportValue *self,
                  const VnNode  *node)
{
  self->node = node->index + 1;
  return self;
}

VnReportValue *
_vn_report_record (char *display)
{
  VnReportValue *self = report_value_new (VN_REPORT_RECORD, display);

  self->parts = _vn_report_facts_new ();
  return self;
}

void
_vn_report_value_free (gpointer value)
{
  VnReportValue *self = value;

  g_free (self->text);
  g_free (self->lead);
  g_free (self->display);
  g_clear_pointer (&self->parts, g_ptr_array_unref);
  g_free (self);
}

/* ---- what is shown where there is little room ---- */

/**
 * vn_report_shorten:
 * @most: characters, at least 8
 *
 * Returns: (transfer full): @text, cut at the end of a word if it is too long, or, if it is one word, in its middle
 */
char *
vn_report_shorten (const char *text,
                   guint       most)
{
  glong n;
  g_autofree char *first = NULL, *last = NULL;
  char *space;

  g_return_val_if_fail (text != NULL && most >= 8, NULL);

  n = g_utf8_strlen (text, -1);
  if (n <= (glong) most)
    return g_strdup (text);
  first = g_utf8_substring (text, 0, most - 2);
  space = strrchr (first, ' ');
  if (space != NULL && g_utf8_strlen (first, space - first) >= (glong) most / 3)
    {
      *space = '\0';
      return g_strconcat (first, " …", NULL);
    }
  g_free (first);
  first = g_utf8_substring (text, 0, most / 2);
  last = g_utf8_substring (text, n - (glong) (most - most / 2 - 1), n);
  return g_strconcat (first, "…", last, NULL);
}

/* As many whole parts as there is room for, but one. */
static char *
report_value_shorten_list (const VnReportValue *self,
                           guint                most)
{
  g_autoptr(GString) text = g_string_new (self->lead);
  guint n = 0, left;

  for (; n < self->parts->len; n++)
    {
      const VnReportValue *part = g_ptr_array_index (self->parts, n);
      g_autofree char *shown = vn_report_value_dup_shown (part, most);

      if (n > 0 && g_utf8_strlen (text->str, -1) + g_utf8_strlen (self->separator, -1) + g_utf8_strlen (shown, -1) > (glong) most)
        break;
      g_string_append_printf (text, "%s%s", n > 0 ? self->separator : "", shown);
    }
  left = self->parts->len - n;
  if (left == 0)
    return g_strdup (text->str);
  /* Translators: a list whose end is left out, and how many that is */
  return g_strdup_printf (ngettext ("%s and %u more", "%s and %u more", left), text->str, left);
}

/**
 * vn_report_value_dup_shown:
 * @self: what is told
 * @most: characters that there is room for; a list may take a few more
 *
 * Returns: (transfer full): what people are shown: of a list whole items and how many more there are, of other text its beginning
 */
char *
vn_report_value_dup_shown (const VnReportValue *self,
                           guint                most)
{
  g_return_val_if_fail (self != NULL, NULL);

  if (self->type != VN_REPORT_RECORD && self->parts != NULL && g_utf8_strlen (self->display, -1) > (glong) most)
    return report_value_shorten_list (self, most);
  return vn_report_shorten (self->display, most);
}

/* ---- facts ---- */

static void
report_value_free_fact (gpointer data)
{
  VnReportFact *fact = data;

  _vn_report_value_free (fact->value);
  g_free (fact);
}

GPtrArray *
_vn_report_facts_new (void)
{
  return g_ptr_array_new_with_free_func (report_value_free_fact);
}

void
_vn_report_fact (GPtrArray     *facts,
                 const char    *key,
                 const char    *label,
                 VnReportValue *value)
{
  _vn_report_fact_joined (facts, key, VN_REPORT_APART, value);
  ((VnReportFact *) facts->pdata[facts->len - 1])->label = label;
}

/*< private >
 * _vn_report_fact_joined:
 *
 * Adds a fact that people read together with the one before it.
 */
void
_vn_report_fact_joined (GPtrArray     *facts,
                        const char    *key,
                        VnReportJoin   join,
                        VnReportValue *value)
{
  VnReportFact *fact = g_new0 (VnReportFact, 1);

  *fact = (VnReportFact) { .key = key, .join = join, .value = value };
  g_ptr_array_add (facts, fact);
}
