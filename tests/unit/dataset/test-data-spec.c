/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Where samples are and how they are prepared, as JSON: what is written is read again, and what is wrong is said with its
 * place. */

#include "vn-dataset.h"
#include "vn-error.h"
#include "vn-json.h"

#include <glib/gstdio.h>

#define WHOLE "{\"path\":\"random\",\"samples\":7,\"held-out\":3,\"seed\":4503599627370497,\"fit\":\"crop\",\"color\":\"bgr\"," \
              "\"layout\":\"nhwc\",\"width\":5,\"height\":6,\"resize\":8,\"crop-part\":0.5,\"crop-down\":true,\"fill\":2.0," \
              "\"resample\":\"area\",\"mean\":[0.0,1.0,2.0,3.0],\"std\":[1.0,2.0,3.0,4.0],\"timeout\":9,\"raw-type\":\"int64\"," \
              "\"inputs\":{\"x\":{\"fit\":\"stretch\",\"color\":\"rgb\",\"layout\":\"auto\",\"width\":0,\"height\":0," \
              "\"resize\":0,\"crop-part\":1.0,\"crop-down\":false,\"fill\":0.0,\"resample\":\"linear\"," \
              "\"mean\":[0.0,0.0,0.0,0.0],\"std\":[1.0,1.0,1.0,1.0],\"raw-type\":\"float32\"}}}"

static VnDataSpec *
data_spec_read (const char  *text,
                GError     **error)
{
  g_autoptr(JsonNode) root = vn_json_parse (text, -1, "file", NULL);

  g_assert_nonnull (root);
  return vn_data_spec_from_json (root, "data", g_get_tmp_dir (), error);
}

static void
test_same (void)
{
  static const char * const texts[] = {
    WHOLE,
    "{\"path\":\"random\",\"samples\":0,\"seed\":0,\"fit\":\"stretch\",\"color\":\"rgb\",\"layout\":\"auto\",\"width\":0,"
    "\"height\":0,\"resize\":0,\"crop-part\":0.0,\"crop-down\":false,\"fill\":0.0,\"resample\":\"linear\","
    "\"mean\":[0.0,0.0,0.0,0.0],\"std\":[1.0,1.0,1.0,1.0],\"timeout\":0}",
  };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(VnDataSpec) spec = data_spec_read (texts[i], &error);
      g_autoptr(JsonNode) node = NULL;
      g_autofree char *again = NULL;

      g_assert_no_error (error);
      node = vn_data_spec_to_json (spec, g_get_tmp_dir ());
      again = json_to_string (node, FALSE);
      g_assert_cmpstr (again, ==, texts[i]);
    }
}

/* A part of a good text in place of another. */
static char *
data_spec_change (const char *from,
                  const char *to)
{
  g_autoptr(GString) text = g_string_new (WHOLE);

  g_assert_cmpuint (g_string_replace (text, from, to, 1), ==, 1);
  return g_strdup (text->str);
}

static void
test_wrong (void)
{
  static const struct { const char *from, *to, *message; } cases[] = {
    { "\"path\":\"random\",", "", "data.path is missing: specify the samples, or “random”" },
    { "\"random\"", "1", "data.path: expected a string, found a number" },
    { "\"samples\":7", "\"samples\":-1", "data.samples is -1; expected an integer from 0 to 2147483647" },
    { "\"samples\":7", "\"samples\":null", "data.samples: expected a number, found null" },
    { "\"samples\":7", "\"sample\":7", "data.sample: unknown field" },
    { "4503599627370497", "1e19", "data.seed is 1e+19; expected an integer from 0 to 9223372036854775807" },
    { "\"crop\"", "\"cut\"", "data.fit is “cut”; choose one of: stretch, crop, letterbox" },
    { "\"crop\"", "[]", "data.fit: expected a string, found an array" },
    { "\"width\":5", "\"width\":65537", "data.width is 65537; expected an integer from 0 to 65536" },
    { "\"width\":5", "\"width\":1.5", "data.width is 1.5; expected an integer from 0 to 65536" },
    { "true", "null", "data.crop-down: expected true or false, found null" },
    { "\"fill\":2.0", "\"fill\":1e39", "data.fill is 1e+39, which is out of the range of a float" },
    { "0.5", "1.5", "data.crop-part is 1.5; expected 0 to 1" },
    { "0.0,1.0,2.0,3.0", "0.0,1.0", "data.mean has 2 values; expected four, one per channel" },
    { "0.0,1.0,2.0,3.0", "0.0,1.0,[],3.0", "data.mean: expected a number, found an array" },
    { "[0.0,1.0,2.0,3.0]", "0", "data.mean: expected an array, found a number" },
    { "1.0,2.0,3.0,4.0", "1.0,0.0,3.0,4.0", "data.std: division by 0 is not allowed" },
    { "int64", "number", "data.raw-type is “number”; expected a type such as float32 or int64" },
    { "\"x\":{\"fit\":\"stretch\"", "\"x\":{\"fit\":\"cut\"",
      "data.inputs.x.fit is “cut”; choose one of: stretch, crop, letterbox" },
    { "\"x\":{\"fit\":\"stretch\"", "\"x\":{\"samples\":1", "data.inputs.x.samples: unknown field" },
    { "\"x\":{", "\"y\":1,\"x\":{", "data.inputs.y: expected an object, found a number" },
    { "\"timeout\":9", "\"python\":9", "data.python: expected a string, found a number" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = data_spec_change (cases[i].from, cases[i].to);
      g_autoptr(GError) error = NULL;

      g_test_message ("%s", text);
      g_assert_null (data_spec_read (text, &error));
      g_assert_nonnull (error);
      g_assert_cmpstr (error->message, ==, cases[i].message);
    }
}

/* A path may hold what parts items, if something lies there. */
static void
test_split (void)
{
  g_autofree char *folder = g_dir_make_tmp ("vn-split-XXXXXX", NULL), *odd = g_build_filename (folder, "a;b;c", NULL);
  g_autofree char *both = g_strdup_printf ("x=%s;y=ones\nz=/no/such;w", odd);
  g_autofree char *first = g_strdup_printf ("x=%s", odd);
  const char *wanted[] = { first, "y=ones", "z=/no/such", "w", NULL };
  static const char * const names[] = { "x", "y", NULL };
  g_autoptr(VnDataSpec) spec = vn_data_spec_new ("");
  g_auto(GStrv) parts = NULL, after = NULL;
  g_autofree char *source = NULL;

  g_assert_cmpint (g_mkdir (odd, 0700), ==, 0);
  parts = vn_data_spec_split (both);
  g_assert_cmpstrv (parts, (char **) wanted);
  vn_data_spec_set_source (spec, names, "x", "y", "zeros");
  vn_data_spec_set_source (spec, names, "x", "x", odd);
  source = vn_data_spec_dup_source (spec, "x");
  g_assert_cmpstr (source, ==, odd);
  g_rmdir (odd);
  after = vn_data_spec_split (both);
  g_assert_cmpuint (g_strv_length (after), ==, 6);
  g_rmdir (folder);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/data-spec/same", test_same);
  g_test_add_func ("/data-spec/wrong", test_wrong);
  g_test_add_func ("/data-spec/split", test_split);
  return g_test_run ();
}
