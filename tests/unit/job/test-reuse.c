/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Statistics of an earlier run serve again if calibrating would find them once more, and never otherwise; and how many
 * samples are held out is one rule. */
#include "engine-fixture.h"

#include "vn-error.h"
#include "vn-jobs.h"
#include "vn-setting.h"

#include <glib/gstdio.h>

#define SIDE 8

/* Large values into Clip, as in a network with Relu6: without the upper end the ranges behind it are others. */
static VnModel *
make_model (void)
{
  VnModel *model = vn_model_new (8, 13);

  vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (1, 2, SIDE, SIDE));
  add_floats (model, "w1", VN_SHAPE (4, 2, 1, 1), 30, 7);
  add_floats (model, "b1", VN_SHAPE (4), -0.5f, 0.25f);
  add_floats (model, "low", VN_SHAPE_SCALAR, 0, 0);
  add_floats (model, "high", VN_SHAPE_SCALAR, 6, 0);
  add_floats (model, "w2", VN_SHAPE (3, 4, 1, 1), -0.4f, 0.1f);
  add_node (model, "Conv", "conv1", "x w1 b1", "c");
  add_node (model, "Clip", "clip", "c low high", "d");
  add_node (model, "Conv", "conv2", "d w2", "y");
  set_outputs (model, "y");
  g_assert_true (vn_model_infer_types (model, NULL, NULL, NULL));
  return model;
}

static VnDataSpec *
make_random (guint n)
{
  VnDataSpec *data = vn_data_spec_new ("random");

  data->max_samples = n;
  return data;
}

static VnRun *
run (const VnQuantizeSettings  *settings,
     GError                   **error)
{
  g_autoptr(VnJob) job = vn_quantize_job_new (settings);

  return vn_job_run (job, NULL, error) ? vn_run_ref (vn_quantize_job_get_result (job)) : NULL;
}

static VnRun *
quantize (VnModel           *model,
          const VnDataSpec  *data,
          const VnRecipe    *recipe,
          VnStats           *earlier,
          GError           **error)
{
  const VnQuantizeSettings settings = { .model = model, .data = data, .recipe = recipe, .n_threads = 1, .skip_compare = TRUE,
                                        .earlier = earlier };

  return run (&settings, error);
}

/* Every element of every sample is counted, whatever the recipe asks for. */
static VnRun *
quantize_counting (VnModel          *model,
                   const VnDataSpec *data,
                   const char       *id,
                   const char       *text)
{
  g_autoptr(VnRecipe) recipe = vn_recipe_new (NULL);
  const VnQuantizeSettings settings = { .model = model, .data = data, .recipe = recipe, .n_threads = 1, .skip_compare = TRUE,
                                        .whole_counts = TRUE };

  return vn_recipe_set (recipe, id, text, NULL) ? run (&settings, NULL) : NULL;
}

static VnRun *
quantize_with (VnModel          *model,
               const VnDataSpec *data,
               const char       *id,
               const char       *text,
               VnStats          *earlier,
               GError          **error)
{
  g_autoptr(VnRecipe) recipe = vn_recipe_new (NULL);

  if (id != NULL && !vn_recipe_set (recipe, id, text, error))
    return NULL;
  return quantize (model, data, recipe, earlier, error);
}

/* What changes neither the network nor the samples costs no run; another opset alone does not either. */
static void
test_reused (void)
{
  static const char * const settings[][2] = {
    { NULL, NULL }, { "method", "entropy" }, { "per-channel", "true" }, { "activation", "u16" }, { "opset", "17" },
    { "symmetric-activations", "true" }, { "format", "qoperator" },
  };
  g_autoptr(VnModel) model = make_model ();
  g_autoptr(VnDataSpec) data = make_random (7);   /* as few are all counted */
  g_autoptr(VnRun) first = quantize_with (model, data, NULL, NULL, NULL, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (settings); i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(VnRun) again = quantize_with (model, data, settings[i][0], settings[i][1], first->stats, &error);

      g_assert_no_error (error);
      g_test_message ("%s", settings[i][0] != NULL ? settings[i][0] : "nothing");
      g_assert_true (again->stats == first->stats);
      g_assert_cmpfloat (vn_run_get_seconds (again, "calibrate"), ==, 0);
    }
}

/* Of many samples few are counted where minimum and maximum are all that is asked for: another method runs them once more. */
static void
test_counts (void)
{
  static const struct { const char *id, *text; gboolean reused; } settings[] = {
    { "per-channel", "true", TRUE }, { "method", "entropy", FALSE }, { "method", "percentile", FALSE },
    { "range-search", "outputs", FALSE },
  };
  g_autoptr(VnModel) model = make_model ();
  g_autoptr(VnDataSpec) data = make_random (32);
  g_autoptr(VnRun) few = quantize_with (model, data, NULL, NULL, NULL, NULL);
  g_autoptr(VnRun) all = quantize_counting (model, data, "method", "minmax");

  g_assert_false (vn_stats_has_counts (few->stats));
  g_assert_true (vn_stats_has_counts (all->stats));
  for (guint i = 0; i < G_N_ELEMENTS (settings); i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(VnRun) again = quantize_with (model, data, settings[i].id, settings[i].text, few->stats, &error);
      g_autoptr(VnRun) with_all = quantize_with (model, data, settings[i].id, settings[i].text, all->stats, NULL);

      g_assert_no_error (error);
      g_test_message ("%s=%s", settings[i].id, settings[i].text);
      g_assert_cmpint (again->stats == few->stats, ==, settings[i].reused);
      g_assert_true (vn_stats_has_counts (again->stats) != settings[i].reused);
      g_assert_true (with_all->stats == all->stats || vn_stats_get_factors (with_all->stats) != NULL);
    }
}

/* A pass changes what the values are. */
static void
test_pass (void)
{
  g_autoptr(VnModel) model = make_model ();
  g_autoptr(VnDataSpec) data = make_random (8);
  g_autoptr(VnRun) first = quantize_with (model, data, NULL, NULL, NULL, NULL);
  g_autoptr(VnRun) second = quantize_with (model, data, "passes", "clip-to-relu", first->stats, NULL);
  g_autoptr(VnRun) alone = quantize_with (model, data, "passes", "clip-to-relu", NULL, NULL);

  g_assert_cmpfloat (vn_stats_get (first->stats, "d")->max, ==, 6);
  g_assert_true (second->stats != first->stats);
  g_assert_true (vn_stats_equal (second->stats, alone->stats));
  g_assert_cmpfloat (vn_stats_get (second->stats, "d")->max, >, 6);
}

/* Values to try for a setting: those that its table allows, as far as a few can stand for all. */
static GPtrArray *
list_values (const VnSetting *setting)
{
  GPtrArray *values = g_ptr_array_new_with_free_func (g_free);

  if (setting->type == VN_SETTING_BOOL)
    {
      g_ptr_array_add (values, g_strdup ("true"));
      g_ptr_array_add (values, g_strdup ("false"));
    }
  for (guint i = 0; setting->type == VN_SETTING_ENUM && setting->choices[i] != NULL; i++)
    g_ptr_array_add (values, g_strdup (setting->choices[i]));
  if (setting->type == VN_SETTING_INT)
    for (guint i = 0; i < 2; i++)
      g_ptr_array_add (values, g_strdup_printf ("%d", i == 0 ? 16 : 2));
  if (g_str_equal (setting->id, "method"))
    for (guint i = 0, n = 0; i < (vn_range_method_list (&n), n); i++)
      g_ptr_array_add (values, g_strdup (vn_range_method_list (&n)[i]->id));
  if (g_str_equal (setting->id, "passes"))
    for (guint i = 0, n = 0; i < (vn_pass_list (&n), n); i++)
      g_ptr_array_add (values, g_strdup (vn_pass_list (&n)[i]->id));
  if (g_str_equal (setting->id, "truncate"))
    g_ptr_array_add (values, g_strdup ("d"));
  return values;
}

/* For every setting of the table: with the statistics of another recipe at hand, which count few samples, the result is what it
 * is if all of them are counted for it. */
static void
test_never_stale (void)
{
  g_autoptr(VnModel) model = make_model ();
  g_autoptr(VnDataSpec) data = make_random (16);
  g_autoptr(VnRun) first = quantize_with (model, data, NULL, NULL, NULL, NULL);
  guint n, n_compared = 0, n_run = 0;
  const VnSetting *settings = vn_setting_list_of_recipe (&n);

  for (guint i = 0; i < n; i++)
    {
      g_autoptr(GPtrArray) values = list_values (&settings[i]);

      for (guint k = 0; k < values->len; k++)
        {
          g_autoptr(VnRun) with = quantize_with (model, data, settings[i].id, values->pdata[k], first->stats, NULL);
          g_autoptr(VnRun) without = quantize_counting (model, data, settings[i].id, values->pdata[k]);
          g_autofree char *one = NULL, *other = NULL;

          g_assert_cmpint (with != NULL, ==, without != NULL);
          if (with == NULL)
            continue;
          one = vn_model_dup_digest (with->quantized);
          other = vn_model_dup_digest (without->quantized);
          if (!g_str_equal (one, other))
            g_error ("%s=%s: stale statistics were used", settings[i].id, (char *) values->pdata[k]);
          n_compared++;
          n_run += with->stats != first->stats;
        }
    }
  g_test_message ("%u recipes, %u of them calibrated anew", n_compared, n_run);
  g_assert_cmpuint (n_compared, >, 50);
  g_assert_cmpuint (n_run, >, 0);
  g_assert_cmpuint (n_run, <, n_compared);
}

static void
write_samples (const char *folder,
               guint       n,
               float       factor)
{
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *name = g_strdup_printf ("%02u.raw", i);
      g_autofree char *path = g_build_filename (folder, name, NULL);
      float values[2 * SIDE * SIDE];

      for (guint k = 0; k < G_N_ELEMENTS (values); k++)
        values[k] = factor * (float) ((k * 13 + i) % 17);
      g_assert_true (g_file_set_contents (path, (const char *) values, sizeof values, NULL));
    }
}

static void
remove_folder (const char *folder,
               guint       n)
{
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *name = g_strdup_printf ("%02u.raw", i);
      g_autofree char *path = g_build_filename (folder, name, NULL);

      g_unlink (path);
    }
  g_rmdir (folder);
}

/* The same names with other contents, other settings of the samples, and another number of them. */
static void
test_samples (void)
{
  g_autoptr(VnModel) model = make_model ();
  g_autofree char *folder = g_dir_make_tmp ("vernier-reuse-XXXXXX", NULL);
  g_autoptr(VnDataSpec) data = vn_data_spec_new (folder);
  g_autoptr(VnRun) first = NULL, same = NULL, fewer = NULL, held = NULL, changed = NULL;

  write_samples (folder, 10, 0.01f);
  first = quantize_with (model, data, NULL, NULL, NULL, NULL);
  g_assert_nonnull (first);
  same = quantize_with (model, data, NULL, NULL, first->stats, NULL);
  g_assert_true (same->stats == first->stats);
  data->held_out = 2;                                      /* what the rule says for ten */
  held = quantize_with (model, data, NULL, NULL, first->stats, NULL);
  g_assert_true (held->stats == first->stats);
  data->held_out = 4;
  fewer = quantize_with (model, data, NULL, NULL, first->stats, NULL);
  g_assert_true (fewer->stats != first->stats);
  g_assert_cmpuint (fewer->n_calibration, ==, 6);
  data->held_out = VN_HELD_OUT_USUAL;
  write_samples (folder, 10, 0.05f);
  changed = quantize_with (model, data, NULL, NULL, first->stats, NULL);
  g_assert_true (changed->stats != first->stats);
  g_assert_cmpfloat (vn_stats_get (changed->stats, "c")->max, >,
                     vn_stats_get (first->stats, "c")->max);
  remove_folder (folder, 10);
}

/* Statistics in files: of another opset they serve, of a network that a pass changed they do not, whatever the opset. */
static void
test_files (void)
{
  g_autoptr(VnModel) model = make_model ();
  g_autoptr(VnDataSpec) data = make_random (4);
  g_autoptr(VnRecipe) recipe = vn_recipe_new (NULL);
  g_autofree char *folder = g_dir_make_tmp ("vernier-reuse-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "stats", NULL);
  const char *paths[] = { path, NULL };
  g_autoptr(VnRun) first = quantize_with (model, data, NULL, NULL, NULL, NULL);
  g_autoptr(GError) error = NULL;

  g_assert_true (vn_stats_save (first->stats, path, NULL));
  g_assert_true (vn_recipe_set (recipe, "opset", "17", NULL));
  for (guint i = 0; i < 2; i++)
    {
      VnQuantizeSettings settings = { .model = model, .data = data, .recipe = recipe, .n_threads = 1, .skip_compare = TRUE,
                                      .stats = paths };
      g_autoptr(VnJob) job = vn_quantize_job_new (&settings);

      g_assert_cmpint (vn_job_run (job, NULL, &error), ==, i == 0);
      if (i == 0)
        g_assert_no_error (error);
      g_assert_true (vn_recipe_set (recipe, "passes", "clip-to-relu", NULL));
    }
  g_assert_error (error, VN_ERROR, VN_ERROR_SETTING);
  g_unlink (path);
  g_rmdir (folder);
}

/* A fifth, at most 16; what is said, unless it leaves fewer than it takes. */
static void
test_held_out (void)
{
  static const struct { gint said; guint n, held, measured; } cases[] = {
    { VN_HELD_OUT_USUAL, 1, 0, 1 },    { VN_HELD_OUT_USUAL, 4, 0, 4 },     { VN_HELD_OUT_USUAL, 5, 1, 1 },
    { VN_HELD_OUT_USUAL, 12, 2, 2 },   { VN_HELD_OUT_USUAL, 79, 15, 15 },  { VN_HELD_OUT_USUAL, 80, 16, 16 },
    { VN_HELD_OUT_USUAL, 5000, 16, 16 }, { 0, 3, 0, 3 },                   { 0, 100, 0, 16 },
    { 16, 31, 0, 16 },                 { 16, 32, 16, 16 },                 { 40, 100, 40, 40 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnDataSpec) data = vn_data_spec_new ("random");

      data->held_out = cases[i].said;
      g_assert_cmpuint (vn_data_spec_count_held_out (data, cases[i].n), ==, cases[i].held);
      g_assert_cmpuint (vn_data_spec_count_measured (data, cases[i].n), ==, cases[i].measured);
    }
}

/* Calibrating on its own and as a part of quantizing takes the same samples. */
static void
test_same_samples (void)
{
  g_autoptr(VnModel) model = make_model ();
  g_autoptr(VnRecipe) recipe = vn_recipe_new (NULL);

  for (gint held = VN_HELD_OUT_USUAL; held < 8; held += 4)
    {
      g_autoptr(VnDataSpec) data = make_random (24);
      VnCalibrateSettings settings = { .model = model, .data = data, .recipe = recipe, .n_threads = 1 };
      g_autoptr(VnRun) result = NULL;
      g_autoptr(VnJob) job = NULL;

      data->held_out = held;
      result = quantize_counting (model, data, "method", recipe->method);   /* as what is kept is */
      job = vn_calibrate_job_new (&settings);
      g_assert_true (vn_job_run (job, NULL, NULL));
      g_assert_true (vn_stats_equal (vn_calibrate_job_get_stats (job), result->stats));
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/reuse/reused", test_reused);
  g_test_add_func ("/reuse/counts", test_counts);
  g_test_add_func ("/reuse/pass", test_pass);
  g_test_add_func ("/reuse/never-stale", test_never_stale);
  g_test_add_func ("/reuse/samples", test_samples);
  g_test_add_func ("/reuse/files", test_files);
  g_test_add_func ("/reuse/held-out", test_held_out);
  g_test_add_func ("/reuse/same-samples", test_same_samples);
  return g_test_run ();
}
