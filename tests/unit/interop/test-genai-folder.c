/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Folders of onnxruntime-genai: what a configuration names, and which files come along in a copy. */
#include "vn-error.h"
#include "vn-genai-folder.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#define CONFIG "{\"model\": {\"decoder\": {\"filename\": \"model.onnx\"}}}"

static void
remove_all (const char *path)
{
  g_autoptr(GDir) dir = g_file_test (path, G_FILE_TEST_IS_SYMLINK) ? NULL : g_dir_open (path, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *inner = g_build_filename (path, name, NULL);

      remove_all (inner);
    }
  g_remove (path);
}

/* @target: (nullable): of a link */
static void
put (const char *folder,
     const char *name,
     const char *text,
     const char *target)
{
  g_autofree char *path = g_build_filename (folder, name, NULL), *above = g_path_get_dirname (path);

  g_assert_cmpint (g_mkdir_with_parents (above, 0700), ==, 0);
  if (target != NULL)
    g_assert_cmpint (symlink (target, path), ==, 0);
  else
    g_assert_true (g_file_set_contents (path, text, -1, NULL));
}

/* Files and links in a folder, and whether they come along. */
static const struct
{
  const char *name, *target;
  gboolean comes;
} entries[] = {
  { "genai_config.json", NULL, TRUE },
  { "model.onnx", NULL, FALSE },
  { "model.onnx.data", NULL, FALSE },            /* said by the model */
  { "weights/more.data", NULL, FALSE },          /* likewise */
  { "weights/read.me", NULL, TRUE },
  { "tokenizer.json", NULL, TRUE },
  { ".hidden", NULL, TRUE },
  { ".git/config", NULL, FALSE },
  { "templates/chat/one.jinja", NULL, TRUE },
  { "blob", "../outside", TRUE },                /* as hubs keep them */
  { "templates/same", "../tokenizer.json", TRUE },
  { "linked", "templates", FALSE },
  { "lost", "nowhere", FALSE },
  { "other/genai_config.json", NULL, FALSE },    /* another language model */
  { "other/model.onnx", NULL, FALSE },
  { "copy/older", NULL, FALSE },                 /* what is copied to */
};

static char *
make_folder (void)
{
  char *above = g_dir_make_tmp ("vn-genai-XXXXXX", NULL);

  put (above, "outside", "from elsewhere", NULL);
  for (guint i = 0; i < G_N_ELEMENTS (entries); i++)
    {
      g_autofree char *name = g_build_filename ("lm", entries[i].name, NULL);

      put (above, name, g_str_has_suffix (name, VN_GENAI_CONFIG) ? CONFIG : entries[i].name, entries[i].target);
    }
  return above;
}

/* @folder's, with its external data */
static VnModel *
make_model (const VnGenaiFolder *folder)
{
  VnModel *model = vn_model_new (8, 21);

  g_ptr_array_add (model->files, g_build_filename (folder->path, "model.onnx.data", NULL));
  g_ptr_array_add (model->files, g_build_filename (folder->path, "weights", "more.data", NULL));
  return model;
}

static void
test_copy (void)
{
  g_autofree char *above = make_folder (), *path = g_build_filename (above, "lm", NULL),
  *to = g_build_filename (path, "copy", NULL);
  g_autoptr(GError) error = NULL;
  g_autoptr(VnGenaiFolder) folder = vn_genai_folder_open (path, &error);
  g_autoptr(VnModel) model = make_model (folder);
  g_autoptr(GPtrArray) names = vn_genai_folder_list_others (folder, model, to, &error);
  guint n = 0;

  g_assert_no_error (error);
  g_assert_true (vn_genai_folder_copy (folder, model, to, NULL, &error));
  for (guint i = 0; i < G_N_ELEMENTS (entries); i++)
    {
      g_autofree char *from = g_build_filename (path, entries[i].name, NULL),
      *copy = g_build_filename (to, entries[i].name, NULL);
      g_autofree char *before = NULL, *after = NULL;

      g_test_message ("%s", entries[i].name);
      g_assert_cmpint (g_file_test (copy, G_FILE_TEST_EXISTS), ==, entries[i].comes);
      n += entries[i].comes;
      if (!entries[i].comes)
        continue;
      g_assert_false (g_file_test (copy, G_FILE_TEST_IS_SYMLINK));
      g_assert_true (g_file_get_contents (from, &before, NULL, NULL) && g_file_get_contents (copy, &after, NULL, NULL));
      g_assert_cmpstr (before, ==, after);
    }
  g_assert_cmpuint (names->len, ==, n);
  g_assert_cmpuint (n, >, 5);
  remove_all (above);
}

/* What is refused, by what is put into the folder beside the rest. */
static void
test_refused (void)
{
  static const struct { const char *name, *target; int code; } cases[] = {
    { "templates/out", "../../outside", VN_ERROR_UNSUPPORTED },
    { "templates/root", "/etc/passwd", VN_ERROR_UNSUPPORTED },
    { "1/2/3/4/5/6/7/8/9/deep", NULL, VN_ERROR_LIMIT },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *above = make_folder (), *path = g_build_filename (above, "lm", NULL);
      g_autoptr(GError) error = NULL;
      g_autoptr(VnGenaiFolder) folder = vn_genai_folder_open (path, &error);
      g_autoptr(VnModel) model = make_model (folder);

      put (path, cases[i].name, "", cases[i].target);
      g_test_message ("%s", cases[i].name);
      g_assert_null (vn_genai_folder_list_others (folder, model, above, &error));
      g_assert_error (error, VN_ERROR, cases[i].code);
      g_assert_nonnull (strstr (error->message, path));
      remove_all (above);
    }
}

/* Which networks are the decoder of a folder. */
static void
test_find (void)
{
  static const struct { const char *name; gboolean found; } cases[] = {
    { "lm/model.onnx", TRUE }, { "lm/other/model.onnx", TRUE }, { "lm/other/../model.onnx", TRUE },
    { "lm/tokenizer.json", FALSE }, { "lm/weights/read.me", FALSE }, { "outside", FALSE }, { "nowhere/model.onnx", FALSE },
  };
  g_autofree char *above = make_folder ();

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_build_filename (above, cases[i].name, NULL), *real = g_canonicalize_filename (path, NULL),
      *in = g_path_get_dirname (real);
      g_autoptr(VnGenaiFolder) folder = vn_genai_folder_find (path);

      g_test_message ("%s", cases[i].name);
      g_assert_cmpint (folder != NULL, ==, cases[i].found);
      if (folder != NULL)
        g_assert_cmpstr (folder->path, ==, in);
    }
  remove_all (above);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/genai-folder/copy", test_copy);
  g_test_add_func ("/genai-folder/refused", test_refused);
  g_test_add_func ("/genai-folder/find", test_find);
  return g_test_run ();
}
