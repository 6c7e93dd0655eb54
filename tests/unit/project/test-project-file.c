/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Project files: what is saved is loaded again, with its runs; folders can be moved; what is wrong is told with its place. */
#include "draw-run.h"
#include "vn-error.h"
#include "vn-file.h"
#include "vn-project-file.h"

#include <glib/gstdio.h>
#include <math.h>
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
  g_autoptr(GHashTable) sizes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  VnOverride *rule = vn_override_new ();
  VnPreprocess other;
  VnProject *project;

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
  data->labels = g_build_filename (folder, "labels.txt", NULL);
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
  recipe->ranges = g_new0 (char *, 2);
  recipe->ranges[0] = g_build_filename (folder, "ranges.json", NULL);
  project = vn_project_new (model, "0123abcd", data, recipe);
  g_hash_table_insert (sizes, g_strdup ("image"), g_memdup2 (&VN_SHAPE (1, 3, VN_DIM_UNKNOWN, 320), sizeof (VnShape)));
  vn_project_set_sizes (project, sizes);
  return project;
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
  g_assert_true (vn_shape_equal (g_hash_table_lookup (again->sizes, "image"), &VN_SHAPE (1, 3, VN_DIM_UNKNOWN, 320)));
  g_assert_cmpstr (again->data->path, ==, project->data->path);
  g_assert_cmpuint (again->data->max_samples, ==, 77);
  g_assert_cmpuint (again->data->seed, ==, project->data->seed);
  g_assert_null (again->data->python);      /* no file says which interpreter runs */
  g_assert_null (strstr (text, "python3.11"));
  g_assert_cmpstr (again->data->labels, ==, project->data->labels);
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
  g_assert_false (vn_project_runs_script (project));     /* whose script the user has named */
}

/* Names of files are bytes; JSON is UTF-8. */
static void
test_names (Fixture       *self,
            gconstpointer  unused)
{
  static const char * const names[] = { "n\xff.onnx", "\xc3(/n.onnx", "file:n.onnx", "file:%20", "100%41.onnx", "n \"1\".onnx" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *model = g_build_filename (self->folder, names[i], NULL),
      *samples = g_build_filename ("/elsewhere", names[i], NULL);
      g_autofree char *text = NULL;
      g_autoptr(VnRecipe) recipe = vn_recipe_new (NULL);
      g_autoptr(VnDataSpec) data = vn_data_spec_new (samples);
      g_autoptr(VnProject) project = NULL, again = NULL;
      g_autoptr(GError) error = NULL;

      recipe->ranges = g_new0 (char *, 2);
      recipe->ranges[0] = g_strconcat (model, ".ranges", NULL);
      project = vn_project_new (model, NULL, data, recipe);
      g_assert_true (vn_project_save (project, self->path, &error));
      g_assert_true (g_file_get_contents (self->path, &text, NULL, NULL));
      g_assert_null (strstr (text, self->folder));
      again = vn_project_load (self->path, &error);
      g_assert_no_error (error);
      /* Compared as the writer knows them: without what is no part of a path. */
      g_assert_cmpstr (again->model, ==, project->model);
      g_assert_cmpstr (again->data->path, ==, project->data->path);
      g_assert_cmpstrv (again->recipe->ranges, project->recipe->ranges);
    }
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

/* ---- runs ---- */

static VnProjectRun *
add_run (VnProject  *project,
         const char *id,
         guint       seed)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed (seed);
  g_autoptr(VnRun) record = draw_run (rand);
  g_autoptr(VnProjectRun) run = vn_project_run_new (id, record);

  vn_project_add_run (project, run);
  return vn_project_find_run (project, id);
}

static void
remove_runs (const char *project)
{
  g_autofree char *folder = g_strconcat (project, "-runs", NULL);
  g_autoptr(GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);

      g_unlink (path);
    }
  g_rmdir (folder);
}

static const gsize figure_offsets[] = {
  G_STRUCT_OFFSET (VnRunFigures, mean_db), G_STRUCT_OFFSET (VnRunFigures, worst_db), G_STRUCT_OFFSET (VnRunFigures, outputs_db),
  G_STRUCT_OFFSET (VnRunFigures, accuracy), G_STRUCT_OFFSET (VnRunFigures, runtime.integer_share),
  G_STRUCT_OFFSET (VnRunFigures, runtime.ratio),
};

static guint
count_figures (const VnRunFigures *figures)
{
  guint n = 0;

  for (guint i = 0; i < G_N_ELEMENTS (figure_offsets); i++)
    n += !isnan (G_STRUCT_MEMBER (double, figures, figure_offsets[i]));
  return n;
}

/* Of what runs are drawn from it: one with some figures. Each new setting changes which these are. */
static guint
find_seed_with_figures (void)
{
  for (guint seed = 1; seed < 1000; seed++)
    {
      g_autoptr(GRand) rand = g_rand_new_with_seed (seed);
      g_autoptr(VnRun) record = draw_run (rand);
      VnRunFigures figures;

      vn_run_figures_init (&figures, record);
      if (count_figures (&figures) > 2)
        return seed;
    }
  g_assert_not_reached ();
}

/* What a project keeps of the figures of a run is what they were. */
static void
check_figures (const VnRunFigures *kept,
               const VnRun        *record)
{
  VnRunFigures figures;

  vn_run_figures_init (&figures, record);
  g_assert_cmpuint (kept->float_bytes, ==, figures.float_bytes);
  g_assert_cmpuint (kept->quantized_bytes, ==, figures.quantized_bytes);
  for (guint i = 0; i < G_N_ELEMENTS (figure_offsets); i++)
    {
      const double a = G_STRUCT_MEMBER (double, kept, figure_offsets[i]);
      const double b = G_STRUCT_MEMBER (double, &figures, figure_offsets[i]);

      g_assert_true (a == b || (isnan (a) && isnan (b)));
    }
  g_assert_cmpuint (count_figures (kept), >, 2);
}

/* What is listed and what the files hold is there again; a file that is damaged or gone costs itself alone. */
static void
test_runs (Fixture       *self,
           gconstpointer  unused)
{
  g_autoptr(VnProject) project = make_project (self->folder), again = NULL;
  g_autoptr(VnRun) kept = NULL, loaded = NULL;
  g_autofree char *text = NULL, *before = NULL, *after = NULL;
  g_autoptr(GError) error = NULL;
  VnProjectRun *run;

  kept = vn_run_ref (add_run (project, "one", find_seed_with_figures ())->record);
  add_run (project, "two", 22);
  add_run (project, "three", 23);
  g_assert_true (vn_project_save (project, self->path, &error));
  g_assert_no_error (error);
  g_assert_true (g_file_get_contents (self->path, &text, NULL, NULL));
  g_assert_nonnull (strstr (text, "\"a.vernier-runs/two.json\""));

  again = vn_project_load (self->path, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (again->runs->len, ==, 3);
  before = vn_project_to_json (project, self->folder);
  after = vn_project_to_json (again, self->folder);
  g_assert_cmpstr (before, ==, after);
  run = vn_project_find_run (again, "one");
  loaded = vn_project_run_load (run, self->path, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (loaded->recipe_digest, ==, kept->recipe_digest);
  g_assert_cmpstr (run->recipe_digest, ==, kept->recipe_digest);
  g_assert_cmpstr (run->preset, ==, kept->recipe->preset);
  check_figures (&run->figures, kept);

  g_assert_true (g_file_set_contents (vn_project_find_run (again, "two")->file, "{\"vernier-result\": 1", -1, NULL));
  g_unlink (vn_project_find_run (again, "three")->file);
  for (guint i = 1; i < 3; i++)
    {
      run = g_ptr_array_index (again->runs, i);
      g_assert_null (vn_project_run_load (run, self->path, &error));
      g_assert_nonnull (strstr (error->message, run->file));
      g_clear_error (&error);
    }
  g_assert_true (vn_project_save (again, self->path, &error));   /* keeps their lines */
  vn_project_free (g_steal_pointer (&again));
  again = vn_project_load (self->path, &error);
  g_assert_cmpuint (again->runs->len, ==, 3);
  remove_runs (self->path);
}

/* A run's file goes with it only if it lies where the project keeps them. */
static void
test_remove (Fixture       *self,
             gconstpointer  unused)
{
  g_autoptr(VnProject) project = make_project (self->folder), other = NULL;
  g_autofree char *second = g_build_filename (self->folder, "b.vernier", NULL), *file = NULL, *precious = NULL, *text = NULL;
  g_autoptr(GError) error = NULL;
  gboolean removed;

  add_run (project, "one", 31);
  add_run (project, "two", 32);
  g_assert_true (vn_project_save (project, self->path, &error));
  file = g_strdup (vn_project_find_run (project, "one")->file);
  other = vn_project_load (self->path, &error);
  g_assert_true (vn_project_save (other, second, &error));
  g_assert_true (vn_project_remove_run (other, second, "one", &removed, &error));
  g_assert_false (removed);
  g_assert_true (g_file_test (file, G_FILE_TEST_EXISTS));

  g_assert_false (vn_project_remove_run (project, self->path, "three", &removed, &error));
  g_assert_nonnull (strstr (error->message, "three"));
  g_clear_error (&error);
  g_assert_true (vn_project_remove_run (project, self->path, "one", &removed, &error));
  g_assert_true (removed);
  g_assert_false (g_file_test (file, G_FILE_TEST_EXISTS));

  /* A project from anybody that names somebody's file */
  precious = g_build_filename (self->folder, "precious.json", NULL);
  g_assert_true (g_file_set_contents (precious, "{}", -1, NULL));
  g_free (vn_project_find_run (project, "two")->file);
  vn_project_find_run (project, "two")->file = g_strdup (precious);
  g_assert_true (vn_project_save (project, self->path, &error));
  g_assert_true (vn_project_remove_run (project, self->path, "two", &removed, &error));
  g_assert_false (removed);
  g_assert_true (g_file_test (precious, G_FILE_TEST_EXISTS));

  g_assert_true (g_file_get_contents (self->path, &text, NULL, NULL));
  g_assert_null (strstr (text, "\"runs\""));
  g_unlink (precious);
  g_unlink (second);
  remove_runs (self->path);
}

/* Saving over a project keeps its runs; over one of another model, or something else, it is refused. */
static void
test_keep (Fixture       *self,
           gconstpointer  unused)
{
  g_autoptr(VnProject) old = make_project (self->folder), same = make_project (self->folder), other = make_project (self->folder);
  g_autoptr(GError) error = NULL;

  add_run (old, "one", 41);
  g_assert_true (vn_project_save (old, self->path, &error));
  add_run (same, "two", 42);
  g_assert_true (vn_project_keep_runs (same, self->path, &error));
  g_assert_true (vn_project_keep_runs (same, self->path, &error));
  g_assert_cmpuint (same->runs->len, ==, 2);
  g_assert_cmpstr (((VnProjectRun *) same->runs->pdata[0])->id, ==, "one");
  g_assert_true (vn_project_save (same, self->path, &error));

  g_free (other->model);
  g_free (other->digest);
  other->model = g_strdup ("/far/other.onnx");
  other->digest = g_strdup ("ff");
  g_assert_false (vn_project_keep_runs (other, self->path, &error));
  g_assert_nonnull (strstr (error->message, "2 runs of another model"));
  g_clear_error (&error);
  g_assert_true (g_file_set_contents (self->path, "my diary", -1, NULL));
  g_assert_false (vn_project_keep_runs (same, self->path, &error));
  g_clear_error (&error);
  remove_runs (self->path);
}

/* All files of a project are known before something is written. */
static void
test_file_set (Fixture       *self,
               gconstpointer  unused)
{
  g_autoptr(VnProject) project = make_project (self->folder);
  g_autoptr(VnFileSet) reads = vn_file_set_new (), writes = vn_file_set_new ();
  g_autofree char *fresh = vn_project_run_dup_own_path ("fresh", self->path);
  g_autoptr(GError) error = NULL;

  add_run (project, "one", 51);
  g_assert_true (vn_project_save (project, self->path, &error));
  vn_project_add_files (project, self->path, reads);
  g_assert_true (vn_file_set_has_other (reads, self->path, "-o"));
  g_assert_true (vn_file_set_has_other (reads, vn_project_find_run (project, "one")->file, "-o"));
  g_assert_false (vn_file_set_has_other (reads, fresh, "-o"));
  vn_project_add_outputs (writes, self->path, "fresh", "--save-project");
  g_assert_true (vn_file_set_has_other (writes, fresh, "-o"));
  remove_runs (self->path);
}

/* ---- what is wrong ---- */

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
    " \"data\": {\"path\": \"b\", \"mean\": [1, 1]}}", "data.mean has 2 " },
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
#define START "{\"vernier-project\": 1, \"model\": \"a\", \"recipe\": {\"vernier-recipe\": 1}, \"runs\": "
#define RUN(id) "{\"id\": \"" id "\", \"time\": \"2025-03-31T14:05:00Z\", \"file\": \"x\", \"recipe-digest\": \"\"," \
                " \"preset\": \"cpu\", \"changes\": [], \"mean-sqnr\": \"nan\", \"worst-output-sqnr\": 1," \
                " \"float-bytes\": 1, \"quantized-bytes\": 1, \"verdict\": \"v\"}"
  { START "3}", "runs: " },
  { START "[3]}", "runs[0]: " },
  { START "[{}]}", "“runs[0].id” is missing" },
  { START "[" RUN ("../../a") "]}", "runs[0].id is “../../a”" },
  { START "[" RUN ("") "]}", "runs[0].id is “”" },
  { START "[" RUN ("a") ", " RUN ("a") "]}", "runs[1].id is “a”" },
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
  g_autofree char *text = NULL, *damaged = g_build_filename (self->folder, "damaged.vernier", NULL);
  static const char with[] = "\0\"{}[],:-9ez\\\xff";
  guint refused = 0;
  gsize n;

  add_run (project, "one", 61);
  add_run (project, "two", 62);
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
        g_assert_true (g_file_set_contents_full (damaged, changed, (gssize) n, G_FILE_SET_CONTENTS_NONE, 0666, NULL));
        again = vn_project_load (damaged, &error);
        g_assert_true ((again == NULL) == (error != NULL));
        refused += again == NULL;
      }
  g_assert_cmpuint (refused, >, 100);
  g_unlink (damaged);
  remove_runs (self->path);
}

/* A run is called what its recipe says otherwise than its preset, unless the user calls it something. */
static void
test_run_titles (void)
{
  static const struct { const char *changes[6], *title; } cases[] = {
    { { NULL }, "cpu" }, { { "per-channel=true", "percentile=99.9" }, "Per-channel scales, Percentile 99.9" },
    { { "symmetric-weights=false" }, "Symmetric weights: off" },
    { { "{\"nodes\":\"/head/*\",\"exclude\":true}" }, "/head/*: float" },
    { { "{\"tensors\":[\"/head/a\",\"/head/b\"],\"activation\":\"u16\"}" }, "2 tensors of head: uint16" },
    { { "a=1", "b=2", "c=3", "d=4" }, "a 1, b 2 and 2 more" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const VnProjectRun run = { .preset = (char *) "cpu", .changes = (char **) cases[i].changes },
                         named = { .preset = (char *) "cpu", .name = (char *) "mine", .changes = (char **) cases[i].changes };
      g_autofree char *title = vn_project_run_dup_title (&run), *own = vn_project_run_dup_title (&named);

      g_assert_cmpstr (title, ==, cases[i].title);
      g_assert_cmpstr (own, ==, "mine");
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add ("/project-file/roundtrip", Fixture, NULL, setup, test_roundtrip, teardown);
  g_test_add ("/project-file/names", Fixture, NULL, setup, test_names, teardown);
  g_test_add ("/project-file/without-data", Fixture, NULL, setup, test_without_data, teardown);
  g_test_add ("/project-file/runs", Fixture, NULL, setup, test_runs, teardown);
  g_test_add ("/project-file/remove", Fixture, NULL, setup, test_remove, teardown);
  g_test_add ("/project-file/keep", Fixture, NULL, setup, test_keep, teardown);
  g_test_add ("/project-file/file-set", Fixture, NULL, setup, test_file_set, teardown);
  g_test_add ("/project-file/wrong", Fixture, NULL, setup, test_wrong, teardown);
  g_test_add ("/project-file/mutations", Fixture, NULL, setup, test_mutations, teardown);
  g_test_add_func ("/project/run-titles", test_run_titles);
  return g_test_run ();
}
