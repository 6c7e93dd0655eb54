/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values and facts of a report: each for programs and, as text, for people. */
#include "vn-report-build.h"

#include "vn-format.h"

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
  VnReportValue *self = report_value_new (VN_REPORT_TEXT, g_strdup (display));

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

  list->display = list->parts->len > 0 ? g_strconcat (before, separator, part->display, NULL) : g_strdup (part->display);
  g_ptr_array_add (list->parts, part);
  return list;
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
  g_free (self->display);
  g_clear_pointer (&self->parts, g_ptr_array_unref);
  g_free (self);
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

  *fact = (VnReportFact) { key, NULL, join, value };
  g_ptr_array_add (facts, fact);
}
