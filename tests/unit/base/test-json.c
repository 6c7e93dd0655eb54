/* SPDX-License-Identifier: GPL-3.0-or-later */

/* JSON from anybody, and JSON that others can read. */

#include "vn-error.h"
#include "vn-json.h"

#include <float.h>
#include <string.h>

#include <math.h>

static void
test_refused (void)
{
  static const struct { const char *text; int code; } cases[] = {
    { "", VN_ERROR_MALFORMED },
    { "  \n", VN_ERROR_MALFORMED },
    { "{", VN_ERROR_MALFORMED },
    { "{\"a\": \xff\"b\"}", VN_ERROR_MALFORMED },
    { "[\"\\ud800\"]", VN_ERROR_MALFORMED },
    { "[\"\\udc00\"]", VN_ERROR_MALFORMED },
    { "[\"\\ud83d \\ude00\"]", VN_ERROR_MALFORMED },
    { "[\"\\ud83d\\u0041\"]", VN_ERROR_MALFORMED },
    { "[\"\\\\\\ud800\"]", VN_ERROR_MALFORMED },
    { "{\"a\\u0000b\": 1}", VN_ERROR_MALFORMED },
    { "[\"\\ud83", VN_ERROR_MALFORMED },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(JsonNode) node = vn_json_parse (cases[i].text, -1, "file", &error);
      g_autofree char *shown = g_strescape (cases[i].text, NULL);

      g_test_message ("%s", shown);
      g_assert_null (node);
      g_assert_error (error, VN_ERROR, cases[i].code);
      g_assert_true (g_regex_match_simple ("^file:([0-9]+:[0-9]+:)? ", error->message, 0, 0));
      g_assert_true (g_utf8_validate (error->message, -1, NULL));
    }
}

static void
test_deep (void)
{
  g_autoptr(GString) text = g_string_new (NULL);
  g_autoptr(GError) error = NULL;

  for (guint i = 0; i < 100000; i++)
    g_string_append_c (text, '[');
  g_assert_null (vn_json_parse (text->str, -1, "file", &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_LIMIT);
}

/* A key that stands twice in one object: the parser would keep the last without a word. */
static void
test_twice (void)
{
  static const struct { const char *text, *what; } cases[] = {
    { "{\"a\": 1, \"a\": 2}", "file, line 1: duplicate key “a”" },
    { "{\"a\": 1,\n\n\"b\": {\"a\": [], \"c\": {}},\n \"b\": 2}", "file, line 4: duplicate key “b”, first used in line 3" },
    { "[{}, {\"a\": {\"b\": 1,\n\"b\": 2}}]", "line 2: duplicate key “b”" },
    { "{\"a\\u0062\": 1, \"ab\": 2}", "“ab”" },
    { "{\"a\\\"\": 1, \"a\\\"\": 2}", "“a\"”" },
    { "{\"\": 1, \"x\": \"\", \"\": 2}", "“”" },
    { "{\"a\": 1, /* \" */ \"a\": 2}", "“a”" },
    { "{\"a\": 1, /*/ \" */ \"a\": 2}", "“a”" },
    { "{\"a\": 1, /***/ \"a\": 2}", "“a”" },
    { "{\"a\": \"/*\", \"a\": \"*/\"}", "“a”" },
    { "{/* \"b\": 1,\n */ \"a\": 1, \"a\": 2}", "line 2: duplicate key “a”" },
  };
  static const char * const good[] = {
    "{\"a\": {\"a\": [{\"a\": 1}, {\"a\": 1}]}, \"b\": \"a\", \"A\": \"b\"}",
    "{\"a\": [\"x\", \"x\", \"a\"], \"x\": 1}",
    "{/* \"a\": 1, \"a\": 2, */ \"a\": \"\\\"\", \"b\": \"a\\\\\"}",
    "[{\"a\": 1}, {\"a\": 2}]",
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(GError) error = NULL;

      g_test_message ("%s", cases[i].text);
      g_assert_null (vn_json_parse (cases[i].text, -1, "file", &error));
      g_assert_error (error, VN_ERROR, VN_ERROR_MALFORMED);
      g_test_message ("%s", error->message);
      g_assert_nonnull (strstr (error->message, cases[i].what));
    }
  for (guint i = 0; i < G_N_ELEMENTS (good); i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(JsonNode) node = vn_json_parse (good[i], -1, "file", &error);

      g_test_message ("%s", good[i]);
      g_assert_no_error (error);
      g_assert_nonnull (node);
    }
}

/* The parser would take the last of several values, and lose the memory of the others. */
static void
test_behind_end (void)
{
  static const struct { const char *text; gboolean good; } cases[] = {
    { "{}\n\n{\"a\": 1}", FALSE }, { "[][]", FALSE }, { "1 2", FALSE }, { "{}\n\n\"a\"", FALSE }, { "\"a\" {}", FALSE },
    { "{},{}", FALSE },
    { " {}\n \n", TRUE }, { "{} /* {} */", TRUE }, { "[{}, {}]", TRUE }, { "1", TRUE }, { "\"{}{}\"", TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(JsonNode) node = vn_json_parse (cases[i].text, -1, "file", &error);

      g_test_message ("%s: %s", cases[i].text, error != NULL ? error->message : "taken");
      g_assert_cmpint (node != NULL, ==, cases[i].good);
      if (i == 0)
        g_assert_nonnull (strstr (error->message, "file, line 3: unexpected content after the end"));
    }
}

/* The parser would read these in its own way: a comment lasts from a slash to the next one, a number may be octal. */
static void
test_not_json (void)
{
  static const struct { const char *text, *what; } cases[] = {
    { "/ \" /[[", "line 1: “/”" }, { "// \"\n{}", "“/”" }, { "{}\n # a", "line 2: unexpected content" },
    { "[\n #]", "line 2: “#”" },
    { "{'a': 1}", "“'”" }, { "[010]", "“010”" }, { "[0x10]", "“0x10”" }, { "[.5]", "“.5”" }, { "[1.]", "“1.”" },
    { "[1e]", "“1e”" },
    { "[-]", "“-”" }, { "[+1]", "“+1”" }, { "[1-2]", "“1-2”" }, { "[NaN]", "“NaN”" }, { "[-Infinity]", "“-Infinity”" },
    { "[nullx]", "“nullx”" }, { "[nul]", "“nul”" }, { "var a = {}", "“var”" }, { "[ä]", "“ä”" }, { "[$10]", "“$”" },
    { "[\"\\uDDs\"]", "“\\u” is not a JSON escape" }, { "[\"\\d\"]", "“\\d”" }, { "[\"\\101\"]", "“\\1”" },
    { "[\"\\ä\"]", "“\\ä”" },
    { "null {}", "unexpected content" }, { "{} true", "unexpected content" }, { "[1 /* a", "" }, { "{\"", "" }, { "{\"a\\", "" },
    { "/*", "" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(JsonNode) node = vn_json_parse (cases[i].text, -1, "file", &error);

      g_test_message ("%s: %s", cases[i].text, error != NULL ? error->message : "taken");
      g_assert_null (node);
      g_assert_error (error, VN_ERROR, VN_ERROR_MALFORMED);
      g_assert_nonnull (strstr (error->message, cases[i].what));
    }
}

static void
test_comments (void)
{
  static const struct { const char *text, *plain; } cases[] = {
    { "[1, /* a/b \" ] */ 2]", "[1,2]" }, { "/*/ [ */ {}", "{}" }, { "[\"/* a */\"]", "[\"/* a */\"]" }, { "{}/**/", "{}" },
    { "{}/***/ ", "{}" },
    { "[\"\\\"/*\", /* */ true]", "[\"\\\"/*\",true]" }, { "{} /* open", "{}" }, { "{}/*", "{}" },
    { "[-0.5, 0, 25e-2, 5E+1]", "[-0.5,0,0.25,50.0]" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(JsonNode) node = vn_json_parse (cases[i].text, -1, "file", &error);
      g_autofree char *plain = node != NULL ? json_to_string (node, FALSE) : NULL;

      g_assert_no_error (error);
      g_assert_cmpstr (plain, ==, cases[i].plain);
    }
}

/* The parser keeps 64 bits of a whole number and lets the rest go: -18446744073709551603 would be 13. */
static void
test_large_numbers (void)
{
  static const struct { const char *text; gboolean good; } cases[] = {
    { "[9223372036854775807]", TRUE },
    { "[-9223372036854775808]", TRUE },
    { "[9223372036854775808]", FALSE },
    { "[-9223372036854775809]", FALSE },
    { "{\"a\":\n-18446744073709551603}", FALSE },
    { "[1, 18446744073709551617]", FALSE },
    { "[1e300, -1.5e-300, 99999999999999999999.5]", TRUE },
    { "[\"99999999999999999999\"]", TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(JsonNode) node = vn_json_parse (cases[i].text, -1, "file", &error);

      g_test_message ("%s", cases[i].text);
      g_assert_true ((node != NULL) == cases[i].good);
      if (cases[i].good)
        continue;
      g_assert_error (error, VN_ERROR, VN_ERROR_MALFORMED);
      g_assert_nonnull (strstr (error->message, "64 bits"));
    }
}

static void
test_escapes (void)
{
  static const struct { const char *text, *value; } cases[] = {
    { "[\"\\ud83d\\ude00\"]", "\xf0\x9f\x98\x80" },
    { "[\"\\\\ud800\"]", "\\ud800" },
    { "[\"\\\\u0000\\u0041\"]", "\\u0000A" },
    { "[\"\\u00fc\"]", "ü" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(JsonNode) node = vn_json_parse (cases[i].text, -1, "file", &error);

      g_assert_no_error (error);
      g_assert_cmpstr (json_array_get_string_element (json_node_get_array (node), 0), ==, cases[i].value);
    }
}

/* Every number is read back to the same bits, and what looks like a number in a text is left alone. */
static void
test_numbers (void)
{
  static const double numbers[] = { 0, -1, 0.1, 1e17, -1e22, 1e40, 1e300, DBL_MAX, DBL_MIN, 5e-324, 1e-7, 3e-310, 123456789 };
  g_autoptr(JsonBuilder) builder = json_builder_new ();
  g_autoptr(JsonNode) root = NULL, again = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *text = NULL;
  JsonArray *array;

  json_builder_begin_array (builder);
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    json_builder_add_double_value (builder, numbers[i]);
  json_builder_add_string_value (builder, "1e+40.0 \\\" 1e5.0");
  json_builder_add_string_value (builder, "\xff");
  json_builder_end_array (builder);
  root = json_builder_get_root (builder);
  text = vn_json_to_text (root);
  again = vn_json_parse (text, -1, "file", &error);
  g_assert_no_error (error);
  array = json_node_get_array (again);
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    g_assert_cmpfloat (json_array_get_double_element (array, i), ==, numbers[i]);
  g_assert_cmpstr (json_array_get_string_element (array, G_N_ELEMENTS (numbers)), ==, "1e+40.0 \\\" 1e5.0");
  g_assert_cmpstr (json_array_get_string_element (array, G_N_ELEMENTS (numbers) + 1), ==, "\xef\xbf\xbd");
}

/* Every kind of member, those that JSON has no value for, and one that is left out. */
static void
test_write (void)
{
  static const char * const texts[] = { "a", "b", NULL };
  g_autoptr(JsonBuilder) json = json_builder_new ();
  g_autoptr(JsonGenerator) generator = json_generator_new ();
  g_autoptr(JsonNode) root = NULL;
  g_autofree char *text = NULL;

  json_builder_begin_object (json);
  vn_json_add_text (json, "text", "x");
  vn_json_add_text (json, "none", NULL);
  vn_json_add_text_if (json, "here", "y");
  vn_json_add_text_if (json, "missing", NULL);
  vn_json_add_int (json, "int", -7);
  vn_json_add_bool (json, "bool", TRUE);
  vn_json_add_number (json, "number", 0.5);
  vn_json_add_number (json, "nan", (double) NAN);
  vn_json_add_number (json, "inf", (double) -INFINITY);
  vn_json_add_texts (json, "texts", texts);
  vn_json_add_texts (json, "empty", NULL);
  vn_json_begin_object (json, "object");
  json_builder_end_object (json);
  vn_json_begin_array (json, "array");
  json_builder_end_array (json);
  vn_json_add_node (json, "node", json_node_new (JSON_NODE_NULL));
  json_builder_end_object (json);
  root = json_builder_get_root (json);
  json_generator_set_root (generator, root);
  text = json_generator_to_data (generator, NULL);
  g_assert_cmpstr (text, ==, "{\"text\":\"x\",\"none\":null,\"here\":\"y\",\"int\":-7,\"bool\":true,\"number\":0.5,"
                   "\"nan\":\"nan\",\"inf\":\"-inf\",\"texts\":[\"a\",\"b\"],\"empty\":[],\"object\":{},\"array\":[],"
                   "\"node\":null}");
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/json/refused", test_refused);
  g_test_add_func ("/json/deep", test_deep);
  g_test_add_func ("/json/twice", test_twice);
  g_test_add_func ("/json/behind-end", test_behind_end);
  g_test_add_func ("/json/not-json", test_not_json);
  g_test_add_func ("/json/comments", test_comments);
  g_test_add_func ("/json/large-numbers", test_large_numbers);
  g_test_add_func ("/json/escapes", test_escapes);
  g_test_add_func ("/json/numbers", test_numbers);
  g_test_add_func ("/json/write", test_write);
  return g_test_run ();
}
