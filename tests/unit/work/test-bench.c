/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The bench: what is told of a run, how often, and when; how what is shown follows the recipe; what a project brings back. */
#include "engine-fixture.h"

#include "vn-bench-export.h"
#include "vn-bench-files.h"
#include "vn-bench-rules.h"

#include "vn-onnx.h"
#include "vn-setting.h"
#include "vn-validate.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#define SIDE 8
#define N_SAMPLES 12
#define SECONDS 90

typedef struct
{
  VnModel *model;
  VnBench *bench;
  char    *folder, *path;
  guint    n_model, n_data, n_recipe, n_run, n_expected, n_runs, n_work, n_done, n_failed;
  gboolean was_whole;      /* whenever a run was told of, all that belongs to it was there */
} Fixture;

static VnModel *
make_model (void)
{
  VnModel *model = vn_model_new (8, 13);

  vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (1, 2, SIDE, SIDE));
  add_floats (model, "w1", VN_SHAPE (4, 2, 1, 1), 0.3f, 0.07f);
  add_floats (model, "b1", VN_SHAPE (4), -0.5f, 0.25f);
  add_floats (model, "w2", VN_SHAPE (3, 4, 1, 1), -0.4f, 0.1f);
  add_node (model, "Conv", "conv1", "x w1 b1", "c");
  add_node (model, "Relu", "relu", "c", "d");
  add_node (model, "Conv", "conv2", "d w2", "y");
  set_outputs (model, "y");
  g_assert_true (vn_model_infer_types (model, NULL, NULL, NULL));
  return model;
}

static void
count (guint *n)
{
  (*n)++;
}

/* Whoever hears of a run finds its line in the list, and no job that goes on with it in front. */
static void
run_changed (VnBench *bench,
             Fixture *self)
{
  VnRun *shown = vn_bench_get_shown (bench);

  self->n_run++;
  if (shown != NULL && shown->state != VN_RUN_ESTIMATED && vn_bench_get_runs (bench)->len == 0)
    self->was_whole = FALSE;
}

/* Saving, a second after a change, tells of them, too: on a slow machine before the first run has ended. */
static void
runs_changed (VnBench *bench,
              Fixture *self)
{
  if (vn_bench_get_runs (bench)->len > 0)
    self->n_runs++;
}

static void
failed (VnBench        *bench,
        const VnNotice *notice,
        Fixture        *self)
{
  g_test_message ("failed: %s: %s", notice->text, notice->error->message);
  self->n_failed++;
}

static void
connect_all (Fixture *self)
{
  const struct { const char *name; guint *n; } counted[] = {
    { "changed::model", &self->n_model }, { "changed::data", &self->n_data }, { "changed::recipe", &self->n_recipe },
    { "changed::expected", &self->n_expected }, { "work-changed", &self->n_work }, { "notice::done", &self->n_done },
  };

  for (guint i = 0; i < G_N_ELEMENTS (counted); i++)
    g_signal_connect_swapped (self->bench, counted[i].name, G_CALLBACK (count), counted[i].n);
  g_signal_connect (self->bench, "changed::run", G_CALLBACK (run_changed), self);
  g_signal_connect (self->bench, "changed::runs", G_CALLBACK (runs_changed), self);
  g_signal_connect (self->bench, "notice::failed", G_CALLBACK (failed), self);
}

static void
forget_counts (Fixture *self)
{
  self->n_model = self->n_data = self->n_recipe = self->n_run = self->n_expected = self->n_runs = self->n_work = self->n_done = 0;
}

static void
set_up (Fixture       *self,
        gconstpointer  data)
{
  g_autoptr(GError) error = NULL;

  self->folder = g_dir_make_tmp ("vn-bench-XXXXXX", NULL);
  self->path = g_build_filename (self->folder, "small.onnx", NULL);
  self->model = make_model ();
  vn_onnx_write_file (self->model, self->path, NULL, NULL, &error);
  g_assert_no_error (error);
  self->bench = vn_bench_new ();
  self->was_whole = TRUE;
  connect_all (self);
}

static void
tear_down (Fixture       *self,
           gconstpointer  data)
{
  g_autofree char *command = NULL;

  g_assert_cmpuint (self->n_failed, ==, 0);
  g_assert_true (self->was_whole);
  vn_bench_cancel (self->bench);
  vn_bench_cancel_origins (self->bench);
  vn_bench_flush (self->bench);
  while (g_main_context_iteration (NULL, FALSE)) { }
  /* canceled work holds the bench until it ends, and tells this fixture so */
  g_object_add_weak_pointer (G_OBJECT (self->bench), (gpointer *) &self->bench);
  g_object_unref (self->bench);
  while (self->bench != NULL)
    g_main_context_iteration (NULL, TRUE);
  vn_model_unref (self->model);
  command = g_strdup_printf ("rm -rf '%s'", self->folder);
  g_assert_true (g_spawn_command_line_sync (command, NULL, NULL, NULL, NULL));
  g_free (self->folder);
  g_free (self->path);
}

static gboolean
is_late (gpointer data)
{
  *(gboolean *) data = TRUE;
  return G_SOURCE_REMOVE;
}

static void
wait_until (Fixture   *self,
            gboolean (*is_so) (Fixture *self))
{
  gboolean late = FALSE;
  guint source = g_timeout_add_seconds (SECONDS, is_late, &late);

  while (!is_so (self) && !late)
    g_main_context_iteration (NULL, TRUE);
  g_assert_false (late);
  g_source_remove (source);
}

static gboolean
is_open (Fixture *self)
{
  return vn_bench_get_job (self->bench) == NULL && vn_bench_get_model (self->bench) != NULL;
}

/* And nothing is looked at behind it any more. */
static gboolean
is_looked_at (Fixture *self)
{
  return is_open (self) && vn_bench_get_weights_job (self->bench) == NULL;
}

static gboolean
has_run (Fixture *self)
{
  return vn_bench_get_job (self->bench) == NULL && vn_bench_get_confirmed (self->bench) != NULL;
}

static gboolean
has_settled (Fixture *self)
{
  return has_run (self) && vn_bench_get_expecting (self->bench) == VN_EXPECTING_NOTHING && !vn_bench_is_stale (self->bench) &&
         vn_bench_get_origins_job (self->bench) == NULL;
}

static void
open_and_run (Fixture *self)
{
  g_autoptr(VnDataSpec) data = vn_data_spec_new ("random");

  vn_bench_open (self->bench, self->path);
  wait_until (self, is_open);
  vn_bench_set_n_samples (self->bench, N_SAMPLES);
  vn_bench_set_data (self->bench, data);
  g_assert_true (vn_bench_quantize (self->bench, NULL));
  wait_until (self, has_settled);
}

/* One end of a run tells each thing once. */
static void
test_told_once (Fixture       *self,
                gconstpointer  data)
{
  g_autoptr(VnDataSpec) spec = vn_data_spec_new ("random");

  vn_bench_open (self->bench, self->path);
  wait_until (self, is_looked_at);
  g_assert_cmpuint (self->n_model, ==, 1);
  g_assert_cmpuint (self->n_run, ==, 1);
  g_assert_cmpuint (self->n_data, ==, 1);
  forget_counts (self);
  vn_bench_set_data (self->bench, spec);
  g_assert_cmpuint (self->n_data, ==, 1);
  g_assert_cmpuint (self->n_run, ==, 0);
  forget_counts (self);
  g_assert_true (vn_bench_quantize (self->bench, NULL));
  wait_until (self, has_run);
  g_assert_cmpuint (self->n_run, ==, 1);
  g_assert_cmpuint (self->n_runs, ==, 1);
  g_assert_cmpuint (self->n_done, ==, 1);
  g_assert_cmpuint (self->n_work, ==, 2);
  g_assert_cmpuint (self->n_expected + self->n_data + self->n_recipe + self->n_model, ==, 0);
  g_assert_cmpuint (vn_bench_get_runs (self->bench)->len, ==, 1);
  wait_until (self, has_settled);
  g_assert_cmpuint (self->n_run, ==, 2);      /* where error starts is known, too */
  g_assert_cmpuint (vn_bench_get_runs (self->bench)->len, ==, 1);
  g_assert_nonnull (vn_bench_get_confirmed (self->bench)->contributions);
}

/* What was measured comes back at once, and without a run, when its recipe does. */
static void
test_follows (Fixture       *self,
              gconstpointer  data)
{
  VnRecipe *recipe;
  double first_db, second_db;

  open_and_run (self);
  first_db = vn_error_table_get_outputs_sqnr (vn_bench_get_shown (self->bench)->errors);
  recipe = vn_recipe_copy (vn_bench_get_recipe (self->bench));
  g_assert_true (vn_recipe_set (recipe, "activation", "u16", NULL));
  forget_counts (self);
  vn_bench_edit_recipe (self->bench, recipe, "16 bits");
  g_assert_cmpuint (self->n_recipe, ==, 1);
  g_assert_true (vn_bench_is_stale (self->bench) || vn_bench_get_expecting (self->bench) != VN_EXPECTING_NOTHING);
  if (vn_bench_get_job (self->bench) == NULL && vn_bench_get_expecting (self->bench) == VN_EXPECTING_REFUSED)
    g_assert_true (vn_bench_quantize (self->bench, NULL));
  wait_until (self, has_settled);
  second_db = vn_error_table_get_outputs_sqnr (vn_bench_get_shown (self->bench)->errors);
  g_assert_cmpfloat (second_db, >, first_db + 5);
  g_assert_cmpuint (vn_bench_get_runs (self->bench)->len, ==, 2);
  forget_counts (self);
  g_assert_cmpstr (vn_bench_undo (self->bench), ==, "16 bits");
  g_assert_null (vn_bench_get_job (self->bench));
  g_assert_false (vn_bench_is_stale (self->bench));
  g_assert_cmpuint (self->n_run, ==, 1);
  g_assert_cmpuint (self->n_recipe, ==, 1);
  g_assert_cmpfloat (vn_error_table_get_outputs_sqnr (vn_bench_get_shown (self->bench)->errors), ==, first_db);
  g_assert_cmpstr (vn_bench_redo (self->bench), ==, "16 bits");
  g_assert_cmpfloat (vn_error_table_get_outputs_sqnr (vn_bench_get_shown (self->bench)->errors), ==, second_db);
}

/* A run is about the samples that it was made of, and about no others. */
static void
test_subject (Fixture       *self,
              gconstpointer  data)
{
  g_autoptr(VnDataSpec) same = vn_data_spec_new ("random");
  guint n_calibration;

  open_and_run (self);
  n_calibration = vn_bench_get_confirmed (self->bench)->n_calibration;
  g_assert_false (vn_bench_is_stale (self->bench));
  vn_bench_set_n_samples (self->bench, N_SAMPLES);
  g_assert_false (vn_bench_is_stale (self->bench));
  vn_bench_set_n_samples (self->bench, N_SAMPLES - 2);
  g_assert_true (vn_bench_is_stale (self->bench));
  vn_bench_set_data (self->bench, same);
  g_assert_true (vn_bench_is_stale (self->bench));
  g_assert_true (vn_bench_quantize (self->bench, NULL));
  wait_until (self, has_settled);
  g_assert_cmpuint (vn_bench_get_confirmed (self->bench)->n_calibration, <, n_calibration);
}

/* Rules for nodes are one step; the same choice again changes nothing. */
static void
test_precision (Fixture       *self,
                gconstpointer  data)
{
  const guint nodes[] = { 0, 2 };

  vn_bench_set_model (self->bench, self->model);
  g_assert_cmpuint (vn_bench_set_precision (self->bench, nodes, 2, VN_NODE_FLOAT), ==, 2);
  g_assert_cmpuint (vn_bench_get_recipe (self->bench)->overrides->len, ==, 2);
  g_assert_cmpuint (vn_bench_set_precision (self->bench, nodes, 2, VN_NODE_FLOAT), ==, 0);
  g_assert_cmpuint (vn_bench_set_precision (self->bench, nodes, 1, VN_NODE_AS_RECIPE), ==, 1);
  g_assert_cmpuint (vn_bench_get_recipe (self->bench)->overrides->len, ==, 1);
  g_assert_nonnull (vn_bench_undo (self->bench));
  g_assert_nonnull (vn_bench_undo (self->bench));
  g_assert_cmpuint (vn_bench_get_recipe (self->bench)->overrides->len, ==, 0);
  g_assert_false (vn_bench_can_undo (self->bench));
}

static gboolean
is_opened_project (Fixture *self)
{
  return is_open (self) && vn_bench_get_project_path (self->bench) != NULL && vn_bench_get_shown (self->bench) != NULL;
}

/* What a project keeps is what is shown when it is opened once more. */
static void
test_project (Fixture       *self,
              gconstpointer  data)
{
  g_autofree char *project = g_build_filename (self->folder, "small.vernier", NULL);
  g_autoptr(GError) error = NULL;
  double db;

  open_and_run (self);
  db = vn_error_table_get_outputs_sqnr (vn_bench_get_shown (self->bench)->errors);
  g_assert_true (vn_bench_save_project (self->bench, project, &error));
  g_assert_no_error (error);
  vn_bench_flush (self->bench);
  g_object_unref (self->bench);
  forget_counts (self);
  self->bench = vn_bench_new ();
  connect_all (self);
  g_assert_true (vn_bench_open_project (self->bench, project, NULL, &error));
  wait_until (self, is_opened_project);
  g_assert_cmpint (vn_bench_get_expecting (self->bench), ==, VN_EXPECTING_PAST);
  g_assert_cmpuint (vn_bench_get_runs (self->bench)->len, ==, 1);
  g_assert_cmpuint (vn_bench_get_n_samples (self->bench), ==, N_SAMPLES);
  g_assert_cmpfloat (vn_error_table_get_outputs_sqnr (vn_bench_get_shown (self->bench)->errors), ==, db);
  g_assert_null (vn_bench_get_confirmed (self->bench));
  g_assert_false (vn_bench_is_stale (self->bench));
}

/* The next work starts from what the one before came to; nothing goes on that nobody asked for, nor is kept anywhere. */
static void
test_batch (Fixture       *self,
            gconstpointer  data)
{
  g_autoptr(VnDataSpec) spec = vn_data_spec_new ("random");
  g_autoptr(VnRecipe) recipe = vn_recipe_new (NULL);
  const VnCurveSettings wished = { .cost = VN_CURVE_COST_SIZE, .target_db = 35, .most_float = NAN };
  g_autoptr(VnRun) plain = NULL;
  VnRun *chosen;

  spec->max_samples = N_SAMPLES;
  g_object_unref (self->bench);
  self->bench = vn_bench_new_batch (&(VnQuantizeSettings) { .model = self->model, .data = spec, .recipe = recipe,
                                                            .n_calibration = 4, .n_threads = 1 });
  connect_all (self);
  g_assert_true (vn_bench_quantize (self->bench, NULL));
  wait_until (self, has_run);
  plain = vn_run_ref (vn_bench_get_confirmed (self->bench));
  g_assert_cmpuint (plain->n_calibration, ==, 4);
  g_assert_null (vn_bench_get_origins_job (self->bench));
  g_assert_null (plain->contributions);
  g_assert_null (plain->verification);
  g_assert_true (vn_bench_choose_on_curve (self->bench, &wished, NULL));
  wait_until (self, has_run);
  chosen = vn_bench_get_confirmed (self->bench);
  g_assert_nonnull (chosen->curve);
  g_assert_cmpuint (chosen->n_calibration, ==, 4);
  g_assert_cmpfloat (vn_error_table_get_outputs_sqnr (chosen->errors), >, wished.target_db);
  g_assert_true (vn_recipe_equal (vn_bench_get_recipe (self->bench), plain->recipe));
  g_assert_cmpuint (self->n_done, ==, 2);
  vn_bench_flush (self->bench);
  g_assert_null (vn_bench_get_place (self->bench));
  g_assert_true (vn_recipe_equal (recipe, plain->recipe));
}

static void
note_cancel (VnBench        *bench,
             const VnNotice *notice,
             GError        **error)
{
  g_assert_null (*error);
  *error = g_error_copy (notice->error);
}

/* Who waits for work hears that it was canceled. */
static void
test_canceled (Fixture       *self,
               gconstpointer  data)
{
  g_autoptr(VnDataSpec) spec = vn_data_spec_new ("random");
  g_autoptr(VnRecipe) recipe = vn_recipe_new (NULL);
  g_autoptr(GError) error = NULL;

  spec->max_samples = N_SAMPLES;
  g_object_unref (self->bench);
  self->bench = vn_bench_new_batch (&(VnQuantizeSettings) { .model = self->model, .data = spec, .recipe = recipe });
  connect_all (self);
  g_signal_connect (self->bench, "notice::canceled", G_CALLBACK (note_cancel), &error);
  g_assert_true (vn_bench_quantize (self->bench, NULL));
  vn_bench_cancel (self->bench);
  while (error == NULL)
    g_main_context_iteration (NULL, TRUE);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_null (vn_bench_get_job (self->bench));
  g_assert_null (vn_bench_get_confirmed (self->bench));
  g_assert_cmpuint (self->n_done, ==, 0);
}

/* What is made of a model is called after it, however that is written. */
static void
test_file_names (Fixture       *self,
                 gconstpointer  data)
{
  static const struct { const char *path, *name; } cases[] = {
    { "/a/detector.onnx", "detector-quantized.onnx" },
    { "/a/detector.onnxtxt", "detector-quantized.onnx" },
    { "/a/detector.json", "detector-quantized.onnx" },
    { "/a/detector.v2", "detector.v2-quantized.onnx" },
    { "/a/x.onnx.onnx", "x.onnx-quantized.onnx" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnModel) model = make_model ();
      g_autofree char *name = NULL;

      model->path = g_strdup (cases[i].path);
      vn_bench_set_model (self->bench, model);
      name = vn_bench_dup_file_name (self->bench, VN_QUANTIZED_SUFFIX);
      g_assert_cmpstr (name, ==, cases[i].name);
    }
}

static guint
count_not_finite (Fixture *self)
{
  guint n = 0;

  for (guint i = 0; i < vn_bench_get_n_notes (self->bench); i++)
    n += g_str_equal (vn_bench_get_note (self->bench, i)->code, VN_NOTE_WEIGHTS_NOT_FINITE);
  return n;
}

/* A network is there before its weights are read: what is found in them is told later, once, of the network that is open, and
 * not if one cancels that. */
static void
test_weights_behind (Fixture       *self,
                     gconstpointer  data)
{
  g_autofree char *whole = g_strdup (self->path), *broken = g_build_filename (self->folder, "broken.onnx", NULL);
  guint n_notes = 0;

  add_floats (self->model, "w3", VN_SHAPE (3, 3, 1, 1), NAN, 0);
  add_node (self->model, "Conv", "conv3", "y w3", "z");
  set_outputs (self->model, "z");
  vn_onnx_write_file (self->model, broken, NULL, NULL, NULL);
  g_signal_connect_swapped (self->bench, "changed::notes", G_CALLBACK (count), &n_notes);

  vn_bench_open (self->bench, broken);
  wait_until (self, is_open);
  g_assert_nonnull (vn_bench_get_weights_job (self->bench));
  g_assert_cmpuint (count_not_finite (self), ==, 0);
  wait_until (self, is_looked_at);
  g_assert_cmpuint (count_not_finite (self), ==, 1);
  g_assert_cmpuint (n_notes, ==, 1);

  vn_bench_open (self->bench, broken);
  wait_until (self, is_open);
  vn_bench_cancel (self->bench);
  wait_until (self, is_looked_at);
  g_assert_cmpuint (count_not_finite (self), ==, n_notes - 1);     /* it may have been done already */
  n_notes = 1;

  vn_bench_open (self->bench, broken);
  wait_until (self, is_open);
  vn_bench_set_model (self->bench, NULL);
  g_assert_null (vn_bench_get_weights_job (self->bench));
  vn_bench_open (self->bench, whole);
  wait_until (self, is_looked_at);
  g_assert_cmpuint (count_not_finite (self), ==, 0);
  g_assert_cmpuint (n_notes, ==, 2);
}

typedef struct
{
  guint   n_calls, most;
  guint64 done, total;
} Look;

static gboolean
look_on (gpointer data,
         guint64  done,
         guint64  total)
{
  Look *self = data;

  g_assert_cmpuint (done, >=, self->done);
  self->done = done;
  self->total = total;
  return ++self->n_calls < self->most;
}

/* It ends between two constants. */
static void
test_weights_stop (Fixture       *self,
                   gconstpointer  data)
{
  static const struct { guint most, n_found; } cases[] = { { 99, 2 }, { 1, 0 }, { 4, 1 }, { 5, 2 } };

  add_floats (self->model, "w3", VN_SHAPE (3, 3, 1, 1), NAN, 0);
  add_floats (self->model, "w4", VN_SHAPE (3, 3, 1, 1), INFINITY, 0);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnNotes) notes = vn_notes_new ();
      Look look = { .most = cases[i].most };

      vn_model_validate_weights (self->model, notes, look_on, &look);
      g_assert_cmpuint (vn_notes_get_n (notes), ==, cases[i].n_found);
      g_assert_cmpuint (look.n_calls, ==, MIN (cases[i].most, 5u));
      g_assert_true ((look.done == look.total) == (cases[i].most >= 5));
    }
}

static gboolean
is_idle (Fixture *self)
{
  return vn_bench_get_job (self->bench) == NULL;
}

/* Beside the export for a tool that quantizes by itself lies what it is told; a tool that reads pairs is told nothing, and one
 * whose export has an error only when it is known where that starts. */
static void
test_layers (Fixture       *self,
             gconstpointer  data)
{
  static const struct { const char *target, *ending, *name; } cases[] = {
    { "hailo", ".hailo.py", "\"conv" }, { "coreml", ".coreml.py", "\"w" }, { "tidl", NULL, NULL }, { "ort-cpu", NULL, NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnDataSpec) spec = vn_data_spec_new ("random");
      g_autoptr(VnRecipe) recipe = vn_recipe_new (cases[i].target);
      g_autofree char *out = g_build_filename (self->folder, cases[i].target, NULL), *text = NULL;
      g_autofree char *model = g_strconcat (out, ".onnx", NULL), *list = g_strconcat (out, cases[i].ending, NULL);
      g_autoptr(GDir) dir = NULL;
      guint n = 0;

      spec->max_samples = N_SAMPLES;
      g_object_unref (self->bench);
      self->bench = vn_bench_new_batch (&(VnQuantizeSettings) { .model = self->model, .data = spec, .recipe = recipe,
                                                                .n_threads = 1 });
      connect_all (self);
      g_assert_true (vn_bench_quantize (self->bench, NULL));
      wait_until (self, has_run);
      g_assert_true (vn_bench_export (self->bench, model, NULL, FALSE, NULL));
      wait_until (self, is_idle);
      g_assert_true (g_file_test (model, G_FILE_TEST_EXISTS));
      if (cases[i].ending != NULL)
        {
          g_assert_true (g_file_get_contents (list, &text, NULL, NULL));
          g_assert_nonnull (strstr (text, cases[i].name));
          g_assert_null (strstr (text, "@LAYERS@"));
          continue;
        }
      dir = g_dir_open (self->folder, 0, NULL);
      for (const char *name = g_dir_read_name (dir); name != NULL; name = g_dir_read_name (dir))
        n += g_str_has_prefix (name, cases[i].target);
      g_assert_cmpuint (n, ==, 1);
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add ("/bench/told-once", Fixture, NULL, set_up, test_told_once, tear_down);
  g_test_add ("/bench/follows", Fixture, NULL, set_up, test_follows, tear_down);
  g_test_add ("/bench/subject", Fixture, NULL, set_up, test_subject, tear_down);
  g_test_add ("/bench/precision", Fixture, NULL, set_up, test_precision, tear_down);
  g_test_add ("/bench/file-names", Fixture, NULL, set_up, test_file_names, tear_down);
  g_test_add ("/bench/layers", Fixture, NULL, set_up, test_layers, tear_down);
  g_test_add ("/bench/batch", Fixture, NULL, set_up, test_batch, tear_down);
  g_test_add ("/bench/weights-behind", Fixture, NULL, set_up, test_weights_behind, tear_down);
  g_test_add ("/bench/weights-stop", Fixture, NULL, set_up, test_weights_stop, tear_down);
  g_test_add ("/bench/canceled", Fixture, NULL, set_up, test_canceled, tear_down);
  g_test_add ("/bench/project", Fixture, NULL, set_up, test_project, tear_down);
  return g_test_run ();
}
