/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What classes and letters are called, in lists as people and tools write them. */
#include "vn-class-names.h"

#include <glib/gstdio.h>

/* Names joined by |. */
static const struct { const char *text, *names; } lists[] = {
  { "{0: 'person', 1: 'bicycle'}", "person|bicycle" },
  { "{\"2\": \"cat\", \"0\": \"dog\"}", "dog||cat" },
  { "[\"a\", 'b\\u00e9',\n \"c\"]", "a|b\303\251|c" },
  { "{\"0\": [\"n01440764\", \"tench\"], \"1\": [\"n01443537\", \"goldfish\"]}", "tench|goldfish" },
  { "[\"a\", ]", "a" },
  { "[]", NULL }, { "", NULL }, { "person", NULL }, { "[1, 2]", NULL }, { "[[]]", NULL }, { "{0: ['a'}", NULL },
  { "{\"0\": \"a\"", NULL },
};

static const struct { const char *lines, *names; } files[] = {
  { "person\nbicycle\n\ncar\n", "person|bicycle|car" },
  { "0 person\n1 bicycle\n", "person|bicycle" },
  { "0: person\n1: bicycle\n", "person|bicycle" },
  { "n01440764 tench, Tinca tinca\nn01443537 goldfish, Carassius auratus\n", "tench|goldfish" },
  { "traffic light\nfire hydrant\n", "traffic light|fire hydrant" },
  { "[\"a\",\n\"b\"]", "a|b" },
  { "0\n1\n2\n", "0|1|2" },
  { ",\n.\n", ",|." },
  { "a.png 3\nb.png 1\n", NULL },
  { "3 a.png\n1 b.png\n", NULL },
  { "name label\na.png 3\nb.png 1\nc.png 1\n", NULL },
  { "[1, 2]", NULL },
  { "", NULL },
};

static void
assert_names (char       **names,
              const char  *expected)
{
  g_autofree char *joined = names != NULL ? g_strjoinv ("|", names) : NULL;

  g_assert_cmpstr (joined, ==, expected);
}

static void
test_lists (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (lists); i++)
    {
      g_auto(GStrv) names = vn_class_names_parse (lists[i].text);

      g_test_message ("%s", lists[i].text);
      assert_names (names, lists[i].names);
    }
}

static void
test_lines (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      g_auto(GStrv) lines = g_strsplit (files[i].lines, "\n", -1);
      g_auto(GStrv) names = vn_class_names_from_lines (lines);

      g_test_message ("%s", files[i].lines);
      assert_names (names, files[i].names);
    }
}

static void
add (VnModel    *model,
     const char *key,
     const char *value)
{
  if (value == NULL)
    return;
  g_ptr_array_add (model->metadata, g_strdup (key));
  g_ptr_array_add (model->metadata, g_strdup (value));
}

/* The file of the user comes first, then that of the network. */
static void
test_find (void)
{
  static const struct { const char *names, *character; gboolean letters; const char *expected; } cases[] = {
    { NULL, NULL, FALSE, NULL },
    { "{0: 'a', 1: 'b'}", NULL, FALSE, "a|b" },
    { "none", "#\n \nx\r\n", TRUE, "#| |x" },
    { NULL, "", TRUE, NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnModel) model = vn_model_new (8, 13);
      g_auto(GStrv) names = NULL;

      add (model, "names", cases[i].names);
      add (model, "character", cases[i].character);
      names = vn_class_names_find (model, NULL, 0, cases[i].letters);
      assert_names (names, cases[i].expected);
    }
}

/* Of the user a list of letters is taken as it is, whatever else lines may mean. */
static void
test_user (void)
{
  static const struct { gboolean letters; const char *expected; } cases[] = { { TRUE, "#| |x" }, { FALSE, "x" } };
  g_autofree char *folder = g_dir_make_tmp ("vernier-names-XXXXXX", NULL), *file = g_build_filename (folder, "names.txt", NULL);
  g_autoptr(VnDataSpec) spec = vn_data_spec_new (VN_DATA_RANDOM);
  const VnInputSpec input = { .name = (char *) "x", .dtype = VN_DTYPE_F32, .shape = VN_SHAPE (1, 3) };
  g_autoptr(VnModel) model = vn_model_new (8, 13);
  g_autoptr(VnDataset) dataset = NULL;

  g_assert_true (g_file_set_contents (file, "#\n \nx\n", -1, NULL));
  spec->labels = g_strdup (file);
  dataset = vn_dataset_open (spec, &input, 1, NULL, NULL);
  g_assert_nonnull (dataset);
  add (model, "names", "['of the network']");
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_auto(GStrv) names = vn_class_names_find (model, dataset, 0, cases[i].letters);

      assert_names (names, cases[i].expected);
    }
  g_assert_cmpint (g_unlink (file), ==, 0);
  g_assert_cmpint (g_rmdir (folder), ==, 0);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/class-names/lists", test_lists);
  g_test_add_func ("/class-names/lines", test_lines);
  g_test_add_func ("/class-names/find", test_find);
  g_test_add_func ("/class-names/user", test_user);
  return g_test_run ();
}
