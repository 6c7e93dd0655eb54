/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Project files: what is saved is loaded again, folders can be moved, and what is wrong is told with its place. */
#include "vn-error.h"
#include "vn-file.h"
#include "vn-project-file.h"

#include <glib/gstdio.h>
#include <string.h>

typedef struct
{
  char *folder, *path;
} Fixture;

static void
setup (Fixture       *self,
       gconstpointer  data)
{
  self->folder = g_dir_make_tmp ("vn-project-XXXXXX", NULL);
  g_assert_nonnull (self->folder);
  self->path = g_build_filename (self->folder, "a.vernier", NULL);
}

static void
teardown (Fixture       *self,
          gconstpointer  data)
{
  g_unlink (self->path);
  g_rmdir (self->folder);
  g_free (self->path);
  g_free (self->folder);
}

static VnProject *
make_project (const char *folder)
{
  g_autofree char *model = g_build_filename (folder, "net.onnx", NULL);
  g_autofree char *ids = g_build_filename (folder, "ids.txt", NULL);
  g_autofree char *places = g_strdup_printf ("ids=%s;mask=/elsewhere/mask.txt", ids);
  g_autofree char *script = g_build_filename (folder, "prepare.py:load", NULL);
  g_autoptr(VnDataSpec) data = vn_data_spec_new (places);
  g_autoptr(VnRecipe) recipe = vn_recipe_new ("a16w8");
  VnOverride *rule = vn_override_new ();
  VnPreprocess other;

  data->max_samples = 77;
  data->seed = G_GUINT64_CONSTANT (1) << 40;
  data->preprocess.fit = VN_FIT_LETTERBOX;
  data->preprocess.color = VN_COLOR_BGR;
  data->preprocess.layout = VN_LAYOUT_NHWC;
  data->preprocess.width = 640;
  data->preprocess.mean[1] = 0.1f;
  data->preprocess.std[2] = 57.375f;
  data->preprocess.fill = 114;
  data->python = g_strdup ("python3.11");
  data->timeout = 9;
  data->raw_type = VN_DTYPE_S64;
  vn_preprocess_init (&other);
  other.crop_down = TRUE;
  other.crop_part = 0.875f;
  vn_data_spec_set_input (data, "mask \"1\"", &other, script);
  rule->in_edges = g_strsplit ("n2,n7", ",", -1);
  rule->out_edges = g_strsplit ("y", ",", -1);
  rule->exclude = TRUE;
  g_ptr_array_add (recipe->overrides, rule);
  recipe->ranges = g_build_filename (folder, "ranges.json", NULL);
  return vn_project_new (model, "0123abcd", data, recipe);
}

static void
test_roundtrip (Fixture       *self,
                gconstpointer  unused)
{
  g_autoptr(VnProject) project = make_project (self->folder), again = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *text = NULL;
  const VnInputData *input;

  g_assert_true (vn_project_save (project, self->path, &error));
  g_assert_no_error (error);
  g_assert_true (g_file_get_contents (self->path, &text, NULL, NULL));
  g_assert_null (strstr (text, self->folder));   /* so that the folder can be moved */
  g_assert_nonnull (strstr (text, "/elsewhere/mask.txt"));

  again = vn_project_load (self->path, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (again->model, ==, project->model);
  g_assert_cmpstr (again->digest, ==, project->digest);
  g_assert_true (vn_recipe_equal (again->recipe, project->recipe));
  g_assert_cmpstr (again->data->path, ==, project->data->path);
  g_assert_cmpuint (again->data->max_samples, ==, 77);
  g_assert_cmpuint (again->data->seed, ==, project->data->seed);
  g_assert_cmpstr (again->data->python, ==, "python3.11");
  g_assert_cmpuint (again->data->timeout, ==, 9);
  g_assert_cmpint (again->data->raw_type, ==, VN_DTYPE_S64);
  g_assert_cmpmem (&again->data->preprocess, sizeof (VnPreprocess), &project->data->preprocess, sizeof (VnPreprocess));
  input = g_hash_table_lookup (again->data->inputs, "mask \"1\"");
  g_assert_nonnull (input);
  g_assert_true (input->preprocess.crop_down);
  g_assert_cmpfloat (input->preprocess.crop_part, ==, 0.875f);
  g_assert_true (g_str_has_prefix (input->script, self->folder));
  g_assert_true (g_str_has_suffix (input->script, "/prepare.py:load"));
  g_assert_true (vn_project_runs_script (again));
}

static void
test_without_data (Fixture       *self,
                   gconstpointer  unused)
{
  g_autoptr(VnRecipe) recipe = vn_recipe_new (NULL);
  g_autoptr(VnProject) project = vn_project_new ("/far/net.onnx", NULL, NULL, recipe), again = NULL;
  g_autoptr(GError) error = NULL;

  g_assert_true (vn_project_save (project, self->path, &error));
  again = vn_project_load (self->path, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (again->model, ==, "/far/net.onnx");
  g_assert_null (again->digest);
  g_assert_null (again->data);
  g_assert_false (vn_project_runs_script (again));
}

/* Nothing but what is wrong is told, with its place. */
static const struct { const char *text, *message; } wrong[] = {
  { "[]", "project" },
  { "{}", "vernier-project" },
  { "{\"vernier-project\": 2}", "version 2" },
  { "{\"vernier-project\": 1, \"recipe\": {\"vernier-recipe\": 1}}", "“model” is missing" },
  { "{\"vernier-project\": 1, \"model\": \"a\"}", "“recipe” is missing" },
  { "{\"vernier-project\": 1, \"model\": 3, \"recipe\": {\"vernier-recipe\": 1}}", "model" },
  { "{\"vernier-project\": 1, \"model\": \"a\", \"recipe\": {\"vernier-recipe\": 1}, \"extra\": 1}", "extra" },
  { "{\"vernier-project\": 1, \"model\": \"a\", \"recipe\": {\"vernier-recipe\": 1, \"format\": \"qdx\"}}", "qdx" },
  { "{\"vernier-project\": 1, \"model\": \"a\", \"recipe\": {\"vernier-recipe\": 1}, \"data\": {}}", "data.path" },
  { "{\"vernier-project\": 1, \"model\": \"a\", \"recipe\": {\"vernier-recipe\": 1}, \"data\": {\"path\": 1}}", "data.path" },
  { "{\"vernier-project\": 1, \"model\": \"a\", \"recipe\": {\"vernier-recipe\": 1},"
    " \"data\": {\"path\": \"b\", \"fit\": \"shrink\"}}", "data.fit is “shrink”; choose one of: stretch, crop, letterbox" },
  { "{\"vernier-project\": 1, \"model\": \"a\", \"recipe\": {\"vernier-recipe\": 1},"
    " \"data\": {\"path\": \"b\", \"width\": -1}}", "data.width is -1" },
  { "{\"vernier-project\": 1, \"model\": \"a\", \"recipe\": {\"vernier-recipe\": 1},"
    " \"data\": {\"path\": \"b\", \"std\": [1, 1, 0, 1]}}", "data.std" },
  { "{\"vernier-project\": 1, \"model\": \"a\", \"recipe\": {\"vernier-recipe\": 1},"
    " \"data\": {\"path\": \"b\", \"mean\": [1, 1]}}", "data.mean has 2 numbers" },
  { "{\"vernier-project\": 1, \"model\": \"a\", \"recipe\": {\"vernier-recipe\": 1},"
    " \"data\": {\"path\": \"b\", \"fill\": 1e300}}", "data.fill" },
  { "{\"vernier-project\": 1, \"model\": \"a\", \"recipe\": {\"vernier-recipe\": 1},"
    " \"data\": {\"path\": \"b\", \"seed\": 0.5}}", "data.seed is 0.5" },
  { "{\"vernier-project\": 1, \"model\": \"a\", \"recipe\": {\"vernier-recipe\": 1},"
    " \"data\": {\"path\": \"b\", \"raw-type\": \"int4\"}}", "data.raw-type" },
  { "{\"vernier-project\": 1, \"model\": \"a\", \"recipe\": {\"vernier-recipe\": 1},"
    " \"data\": {\"path\": \"b\", \"inputs\": {\"x\": {\"path\": \"c\"}}}}", "data.inputs.x.path" },
  { "{\"vernier-project\": 1, \"model\": \"a\", \"recipe\": {\"vernier-recipe\": 1},"
    " \"data\": {\"path\": \"b\", \"inputs\": [1]}}", "data.inputs" },
};

static void
test_wrong (Fixture       *self,
            gconstpointer  unused)
{
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(VnProject) project = NULL;

      g_assert_true (g_file_set_contents (self->path, wrong[i].text, -1, NULL));
      project = vn_project_load (self->path, &error);
      g_test_message ("%s -> %s", wrong[i].text, error != NULL ? error->message : "accepted");
      g_assert_null (project);
      g_assert_nonnull (error);
      g_assert_true (g_str_has_prefix (error->message, self->path));
      g_assert_nonnull (strstr (error->message, wrong[i].message));
    }
}

/* A file damaged at any place is refused or understood, never more. */
static void
test_mutations (Fixture       *self,
                gconstpointer  unused)
{
  g_autoptr(VnProject) project = make_project (self->folder);
  g_autofree char *text = NULL;
  static const char with[] = "\0\"{}[],:-9ez\\\xff";
  guint refused = 0;
  gsize n;

  g_assert_true (vn_project_save (project, self->path, NULL));
  g_assert_true (g_file_get_contents (self->path, &text, &n, NULL));
  for (gsize at = 0; at < n; at += 3)
    for (gsize k = 0; k < sizeof with - 1; k += 1 + at % 3)
      {
        g_autofree char *changed = g_memdup2 (text, n);
        g_autoptr(GError) error = NULL;
        g_autoptr(VnProject) again = NULL;

        changed[at] = with[k];
        /* Without waiting for the disk, thousands of times. */
        g_assert_true (g_file_set_contents_full (self->path, changed, (gssize) n, G_FILE_SET_CONTENTS_NONE, 0666, NULL));
        again = vn_project_load (self->path, &error);
        g_assert_true ((again == NULL) == (error != NULL));
        refused += again == NULL;
      }
  g_assert_cmpuint (refused, >, 100);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add ("/project-file/roundtrip", Fixture, NULL, setup, test_roundtrip, teardown);
  g_test_add ("/project-file/without-data", Fixture, NULL, setup, test_without_data, teardown);
  g_test_add ("/project-file/wrong", Fixture, NULL, setup, test_wrong, teardown);
  g_test_add ("/project-file/mutations", Fixture, NULL, setup, test_mutations, teardown);
  return g_test_run ();
}
