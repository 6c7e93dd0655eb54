/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Structures as JSON by tables: what is written is read again; what may miss; what is wrong is said with its place. */

#include "vn-error.h"
#include "vn-json-members.h"

#include <math.h>
#include <string.h>

typedef enum { RED, GREEN } Color;

typedef struct
{
  gboolean bool_always, bool_said;
  guint    uint_most, uint_said;
  guint64  count;
  double   number, number_said;
  float    real, channels[4];
  char    *text, *text_said;
  gint64   time;
  Color    color;
} Thing;

static const char * const colors[] = { "red", "green", NULL };

#define AT(field) G_STRUCT_OFFSET (Thing, field)

static const VnJsonMember members[] = {
  { "bool", VN_JSON_BOOL, VN_JSON_ALWAYS, AT (bool_always) },
  { "bool-said", VN_JSON_BOOL, VN_JSON_IF_SAID, AT (bool_said) },
  { "uint", VN_JSON_UINT, VN_JSON_MAY_MISS, AT (uint_most), 10 },
  { "uint-said", VN_JSON_UINT, VN_JSON_IF_SAID, AT (uint_said) },
  { "count", VN_JSON_COUNT, VN_JSON_ALWAYS, AT (count) },
  { "number", VN_JSON_NUMBER, VN_JSON_ALWAYS, AT (number) },
  { "number-said", VN_JSON_NUMBER, VN_JSON_IF_SAID, AT (number_said) },
  { "real", VN_JSON_FLOAT, VN_JSON_ALWAYS, AT (real) },
  { "channels", VN_JSON_CHANNELS, VN_JSON_ALWAYS, AT (channels) },
  { "text", VN_JSON_TEXT, VN_JSON_ALWAYS, AT (text) },
  { "text-said", VN_JSON_TEXT, VN_JSON_IF_SAID, AT (text_said) },
  { "time", VN_JSON_TIME, VN_JSON_ALWAYS, AT (time) },
  { "color", VN_JSON_CHOICE, VN_JSON_ALWAYS, AT (color), .choices = colors },
  { NULL }
};

#define WHOLE "{\"bool\":true,\"uint\":7,\"count\":4503599627370497,\"number\":\"-inf\",\"real\":0.5,\"channels\":[0.0,1.0,2.0,3.0]," \
              "\"text\":\"a\",\"time\":\"2025-03-31T14:05:00Z\",\"color\":\"green\"}"

static char *
members_write (const Thing *thing)
{
  g_autoptr(JsonBuilder) json = json_builder_new ();
  g_autoptr(JsonNode) root = NULL;

  json_builder_begin_object (json);
  vn_json_members_write (members, thing, json);
  json_builder_end_object (json);
  root = json_builder_get_root (json);
  return json_to_string (root, FALSE);
}

static gboolean
members_read (Thing       *thing,
              const char  *text,
              GError     **error)
{
  g_autoptr(JsonNode) root = json_from_string (text, NULL);
  g_auto(VnJsonFields) fields = { 0 };

  *thing = (Thing) { .number_said = NAN };
  vn_json_fields_init (&fields, root, "thing");
  vn_json_members_read (members, thing, &fields);
  return vn_json_fields_end (&fields, error);
}

static void
members_clear (Thing *thing)
{
  g_free (thing->text);
  g_free (thing->text_said);
}

static void
test_same (void)
{
  static const char * const texts[] = {
    WHOLE,
    "{\"bool\":false,\"bool-said\":true,\"uint\":0,\"uint-said\":4294967295,\"count\":0,\"number\":\"nan\",\"number-said\":1.5,"
    "\"real\":-1.0,\"channels\":[0.0,0.0,0.0,0.0],\"text\":\"\",\"text-said\":\"b\",\"time\":\"1970-01-01T00:00:00Z\",\"color\":\"red\"}",
  };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr(GError) error = NULL;
      g_autofree char *again = NULL;
      Thing thing;

      g_assert_true (members_read (&thing, texts[i], &error));
      g_assert_no_error (error);
      again = members_write (&thing);
      g_assert_cmpstr (again, ==, texts[i]);
      members_clear (&thing);
    }
}

/* A part of a good text in place of another. */
static char *
members_change (const char *from,
                const char *to)
{
  g_autoptr(GString) text = g_string_new (WHOLE);

  g_assert_cmpuint (g_string_replace (text, from, to, 1), ==, 1);
  return g_strdup (text->str);
}

static void
test_wrong (void)
{
  static const struct { const char *from, *to, *message; int code; } cases[] = {
    { "\"bool\":true,", "", "“thing.bool” is missing", VN_ERROR_MALFORMED },
    { "\"bool\":true", "\"bool\":null", "thing.bool: expected true or false, found null", VN_ERROR_SETTING },
    { "\"bool\":true", "\"bool\":1", "thing.bool: expected true or false, found a number", VN_ERROR_SETTING },
    { "\"uint\":7", "\"uint\":11", "thing.uint is 11; expected an integer from 0 to 10", VN_ERROR_SETTING },
    { "\"uint\":7", "\"uint\":null", "thing.uint: expected a number, found null", VN_ERROR_SETTING },
    { "\"uint\":7", "\"uint-said\":-1", "thing.uint-said is -1; expected an integer from 0 to 4294967295", VN_ERROR_SETTING },
    { "4503599627370497", "1e19", "thing.count is 1e+19; expected an integer from 0 to 9223372036854775807", VN_ERROR_SETTING },
    { "\"-inf\"", "\"much\"", "thing.number is “much”; expected a number, “nan”, “inf” or “-inf”", VN_ERROR_SETTING },
    { "0.5", "1e39", "thing.real is 1e+39, which is out of the range of a float", VN_ERROR_SETTING },
    { "0.0,1.0,2.0,3.0", "0.0,1.0", "thing.channels has 2 values; expected four, one per channel", VN_ERROR_SETTING },
    { "0.0,1.0,2.0,3.0", "0.0,1.0,[],3.0", "thing.channels: expected a number, found an array", VN_ERROR_SETTING },
    { "\"text\":\"a\"", "\"text\":{}", "thing.text: expected a string, found an object", VN_ERROR_SETTING },
    { "2025-03-31", "2025-13-31", "thing.time is “2025-13-31T14:05:00Z”; expected a time such as 2025-03-31T14:05:00Z", VN_ERROR_SETTING },
    { "\"green\"", "\"blue\"", "thing.color is “blue”; choose one of: red, green", VN_ERROR_SETTING },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = members_change (cases[i].from, cases[i].to);
      g_autoptr(GError) error = NULL;
      Thing thing;

      g_test_message ("%s", text);
      g_assert_false (members_read (&thing, text, &error));
      g_assert_error (error, VN_ERROR, cases[i].code);
      g_assert_cmpstr (error->message, ==, cases[i].message);
      members_clear (&thing);
    }
}

static void
test_missing (void)
{
  static const struct { const char *from, *to; } cases[] = {
    { "\"uint\":7,", "" }, { "\"uint\":7", "\"text-said\":null" }, { "\"uint\":7", "\"number-said\":null" }, { "\"uint\":7", "\"unknown\":[]" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = members_change (cases[i].from, cases[i].to);
      g_autoptr(GError) error = NULL;
      Thing thing;

      g_assert_true (members_read (&thing, text, &error));
      g_assert_no_error (error);
      g_assert_cmpuint (thing.uint_most, ==, 0);
      g_assert_null (thing.text_said);
      g_assert_true (isnan (thing.number_said));
      members_clear (&thing);
    }
  g_assert_true (vn_json_members_find (members, "count") == &members[4]);
  g_assert_null (vn_json_members_find (members, "unknown"));
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/json-members/same", test_same);
  g_test_add_func ("/json-members/wrong", test_wrong);
  g_test_add_func ("/json-members/missing", test_missing);
  return g_test_run ();
}
