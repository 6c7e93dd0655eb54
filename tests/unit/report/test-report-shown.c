/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What people are shown of texts and lists where there is little room: whole items, and how many more there are. */
#include "vn-report-build.h"

#include <string.h>

static VnReportValue *
make_list (const char *items,
           const char *separator)
{
  g_auto(GStrv) words = g_strsplit (items, "|", -1);
  VnReportValue *list = _vn_report_list ();

  for (guint i = 0; words[i] != NULL; i++)
    _vn_report_list_add (list, _vn_report_text (words[i]), separator);
  return list;
}

static void
test_list (void)
{
  static const struct { const char *items; guint most; const char *shown; } cases[] = {
    { "bias correction|limited gates|second-order rounding", 100, "bias correction; limited gates; second-order rounding" },
    { "bias correction|limited gates|second-order rounding", 40, "bias correction; limited gates and 1 more" },
    { "bias correction|limited gates|second-order rounding", 20, "bias correction and 2 more" },
    { "bias correction|limited gates|second-order rounding", 10, "bias … and 2 more" },
    { "/model/layers.0/self_attn/q_proj/Relu_output_0|b", 20, "/model/lay…_output_0 and 1 more" },
    { "", 20, "" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      VnReportValue *list = make_list (cases[i].items, "; ");
      g_autofree char *shown = vn_report_value_dup_shown (list, cases[i].most);

      g_assert_cmpstr (shown, ==, cases[i].shown);
      _vn_report_value_free (list);
    }
}

/* Every item that is shown is one of the list, and none is lost: those that are left out are counted. */
static void
test_count (void)
{
  GString *items = g_string_new (NULL);
  guint n_cut = 0;

  for (guint i = 0; i < 60; i++)
    g_string_append_printf (items, "%s/layers.%u/Größe", i > 0 ? "|" : "", i * i);
  for (guint most = 16; most < 1400; most += 7)
    {
      VnReportValue *list = make_list (items->str, ", ");
      g_autofree char *shown = vn_report_value_dup_shown (list, most);
      char *end = strstr (shown, " and ");
      g_auto(GStrv) parts = NULL;
      guint left = 0;

      if (end != NULL)
        {
          left = (guint) strtoul (end + 5, NULL, 10);
          *end = '\0';
          n_cut++;
        }
      parts = g_strsplit (shown, ", ", -1);
      g_assert_cmpuint (g_strv_length (parts) + left, ==, 60);
      for (guint i = 0; parts[i] != NULL; i++)
        g_assert_cmpstr (parts[i], ==, ((VnReportValue *) g_ptr_array_index (list->parts, i))->display);
      g_assert_cmpuint (g_utf8_strlen (shown, -1), <=, MAX (most, 18));
      _vn_report_value_free (list);
    }
  g_assert_cmpuint (n_cut, >, 50);
  g_string_free (items, TRUE);
}

static void
test_text (void)
{
  static const struct { const char *text; guint most; const char *shown; } cases[] = {
    { "Nothing stands out", 18, "Nothing stands out" },
    { "Nothing stands out", 17, "Nothing stands …" },
    { "/model/layers.0/Relu", 9, "/mod…Relu" },
    { "aäöüß日本語ééé", 8, "aäöü…ééé" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *shown = vn_report_shorten (cases[i].text, cases[i].most);

      g_assert_cmpstr (shown, ==, cases[i].shown);
    }
}

/* For programs as a recipe has it, for people in words. */
static void
test_rule (void)
{
  VnOverride *rule = vn_override_new ();
  g_autofree char *json = NULL, *shown = NULL;
  VnReportValue *value;

  rule->tensors = g_strsplit ("conv_1,conv_2,conv_3", ",", -1);
  rule->exclude = TRUE;
  json = vn_override_to_json (rule);
  value = _vn_report_rule (rule);
  g_assert_cmpstr (value->text, ==, json);
  g_assert_cmpstr (value->display, ==, "float: conv_1, conv_2, conv_3");
  shown = vn_report_value_dup_shown (value, 16);
  g_assert_cmpstr (shown, ==, "float: conv_1 and 2 more");
  _vn_report_value_free (value);
  vn_override_free (rule);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/report-shown/list", test_list);
  g_test_add_func ("/report-shown/count", test_count);
  g_test_add_func ("/report-shown/text", test_text);
  g_test_add_func ("/report-shown/rule", test_rule);
  return g_test_run ();
}
