/* SPDX-License-Identifier: GPL-3.0-or-later */

/* A setting that changes nothing is said, always: of random recipes one setting is changed, and either the exported network
 * has other bytes, or a note names the setting, never both. And every setting of the table changes something somewhere.
 *
 * test-idle-settings [--draws N] [--first SEED]: more than the usual */

#include "draw-recipe.h"
#include "mixed-models.h"

#include "vn-jobs.h"

#include <glib/gstdio.h>

static int n_draws = 142, first_seed = 1;

static const GOptionEntry entries[] = {
  { "draws", 0, 0, G_OPTION_ARG_INT, &n_draws, "How many recipes", "N" },
  { "first", 0, 0, G_OPTION_ARG_INT, &first_seed, "Seed of the first", "SEED" },
  { NULL }
};

/* What was found about a setting. */
typedef struct
{
  guint n_changed, n_idle;
} Tally;

typedef struct
{
  VnModel *models[3];
  char    *ranges;      /* a table of ranges of the first model */
  Tally   *tallies;     /* by setting */
} Fixture;

/* The file that would be written, without what it says of the recipe; NULL: the recipe cannot be followed. */
static GBytes *
export (VnModel        *model,
        const VnRecipe *recipe,
        VnNotes       **notes)
{
  g_autoptr(VnDataSpec) data = vn_data_spec_new ("random");
  g_autoptr(VnJob) job = NULL;
  VnRun *result;

  data->max_samples = 6;
  job = vn_quantize_job_new (&(VnQuantizeSettings) { .model = model, .data = data, .recipe = recipe, .skip_compare = TRUE,
                                                     .n_threads = 1 });
  if (!vn_job_run (job, NULL, NULL))
    return NULL;
  result = vn_quantize_job_get_result (job);
  *notes = vn_notes_ref (result->notes);
  g_ptr_array_set_size (result->quantized->metadata, 0);
  return vn_onnx_write_bytes (result->quantized, NULL);
}

static gboolean
is_said (VnNotes    *notes,
         const char *id)
{
  for (guint i = 0; i < vn_notes_get_n (notes); i++)
    if (g_str_equal (vn_notes_get (notes, i)->code, VN_NOTE_CODE_IDLE_SETTING) &&
        g_str_equal (vn_notes_get (notes, i)->subject, id))
      return TRUE;
  return FALSE;
}

/* Most often one in which @wanted may matter. */
static VnRecipe *
draw_recipe (GRand           *rand,
             const VnModel   *model,
             const VnSetting *wanted)
{
  guint n, n_presets;
  const VnPreset * const *presets = vn_preset_list (&n_presets);
  const VnSetting *settings = vn_setting_list_of_recipe (&n);
  gboolean may_matter = g_rand_double (rand) < 0.8;

  for (guint i = 0;; i++)
    {
      g_autoptr(VnRecipe) recipe = vn_recipe_new (presets[g_rand_int_range (rand, 0, (gint32) n_presets)]->id);

      draw_settings (rand, model, settings, n, recipe, g_rand_double_range (rand, 0, 0.15));
      if (vn_recipe_validate (recipe, NULL) &&
          (i > 1000 || !may_matter || vn_setting_get_idle_reason (wanted, recipe) == NULL))
        return g_steal_pointer (&recipe);
    }
}

/* The preset's value in one recipe, another in the other. %FALSE: they are alike. */
static gboolean
change (GRand           *rand,
        const Fixture   *fixture,
        const VnModel   *model,
        const VnSetting *setting,
        VnRecipe        *before,
        VnRecipe        *after)
{
  g_autoptr(VnRecipe) preset = vn_recipe_new (before->preset);
  g_autofree char *text = g_str_equal (setting->id, "ranges") ? g_strdup (fixture->ranges)
                                                              : draw_setting_value (rand, model, setting);

  vn_setting_copy (setting, before, preset);
  vn_setting_copy (setting, after, preset);
  if (!vn_setting_parse (setting, after, text, NULL))
    return FALSE;
  return !vn_setting_equal (setting, before, after) && vn_recipe_validate (before, NULL) && vn_recipe_validate (after, NULL);
}

/* What else training would have found only training again would tell, which takes as long. */
static gboolean
is_about_training (const VnSetting *setting,
                   const VnRecipe  *recipe)
{
  return g_str_has_prefix (setting->id, "train-") && vn_setting_get_idle_reason (setting, recipe) == NULL;
}

/* Each in turn that changes the network. */
static guint
choose_setting (const VnSetting *settings,
                guint            n,
                guint32          seed)
{
  guint n_wanted = 0, k;

  for (guint i = 0; i < n; i++)
    n_wanted += settings[i].stage != VN_SETTING_STAGE_MEASURE;
  k = seed % n_wanted;
  for (guint i = 0; i < n; i++)
    if (settings[i].stage != VN_SETTING_STAGE_MEASURE && k-- == 0)
      return i;
  g_assert_not_reached ();
}

/* %FALSE: nothing could be compared. */
static gboolean
try_draw (Fixture *fixture,
          guint32  seed)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed (seed);
  guint n;
  const VnSetting *settings = vn_setting_list_of_recipe (&n);
  guint i = choose_setting (settings, n, seed);
  VnModel *model = fixture->models[g_rand_int_range (rand, 0, G_N_ELEMENTS (fixture->models))];
  g_autoptr(VnRecipe) before = draw_recipe (rand, model, &settings[i]);
  g_autoptr(VnRecipe) after = vn_recipe_copy (before);
  g_autoptr(VnNotes) notes_before = NULL;
  g_autoptr(VnNotes) notes = NULL;
  g_autoptr(GBytes) bytes_before = NULL;
  g_autoptr(GBytes) bytes = NULL;
  gboolean same, said;

  if (!change (rand, fixture, model, &settings[i], before, after) || is_about_training (&settings[i], after) ||
      (bytes_before = export (model, before, &notes_before)) == NULL || (bytes = export (model, after, &notes)) == NULL)
    return FALSE;
  same = g_bytes_equal (bytes_before, bytes);
  said = is_said (notes, settings[i].id);
  if (same != said)
    {
      g_autofree char *json = vn_recipe_to_json (after);

      g_test_message ("seed %u, %s: %s, but %s\n%s", seed, settings[i].id, same ? "it changes nothing" : "it changes the network",
                      said ? "a note says that it changes nothing" : "no note says so", json);
      g_test_fail ();
    }
  fixture->tallies[i].n_changed += !same;
  fixture->tallies[i].n_idle += same;
  return TRUE;
}

/* Ranges of the first model, halved. */
static void
write_ranges (Fixture *fixture)
{
  g_autofree char *folder = g_dir_make_tmp ("vernier-XXXXXX", NULL);
  g_autoptr(GString) text = g_string_new ("{");
  GPtrArray *nodes = fixture->models[0]->graph->nodes;

  for (guint i = 0; i < nodes->len; i++)
    g_string_append_printf (text, "%s\"%s\": [-1, 1]", i > 0 ? ", " : "",
                            vn_node_get_output (g_ptr_array_index (nodes, i), 0)->name);
  g_string_append (text, "}");
  fixture->ranges = g_build_filename (folder, "ranges.json", NULL);
  g_assert_true (g_file_set_contents (fixture->ranges, text->str, -1, NULL));
}

static void
test_draws (void)
{
  Fixture fixture = { .models = { mixed_model_pictures (), mixed_model_words (), mixed_model_biased () } };
  guint n, n_compared = 0, n_idle = 0;
  const VnSetting *settings = vn_setting_list_of_recipe (&n);
  g_autofree Tally *tallies = g_new0 (Tally, n);
  g_autofree char *folder = NULL;

  fixture.tallies = tallies;
  write_ranges (&fixture);
  for (int i = 0; i < n_draws; i++)
    n_compared += try_draw (&fixture, (guint32) (first_seed + i));
  for (guint i = 0; i < n; i++)
    {
      g_test_message ("%s: %u changed the network, %u did not", settings[i].id, tallies[i].n_changed, tallies[i].n_idle);
      n_idle += tallies[i].n_idle;
    }
  g_test_message ("%u of %d draws compared, %u without effect", n_compared, n_draws, n_idle);
  g_assert_cmpuint (n_compared, >, (guint) n_draws / 4);
  g_assert_cmpuint (n_idle, >, n_compared / 20);
  folder = g_path_get_dirname (fixture.ranges);
  g_unlink (fixture.ranges);
  g_rmdir (folder);
  g_free (fixture.ranges);
  for (guint i = 0; i < G_N_ELEMENTS (fixture.models); i++)
    vn_model_unref (fixture.models[i]);
}

int
main (int   argc,
      char *argv[])
{
  g_autoptr(GOptionContext) context = g_option_context_new (NULL);

  g_test_init (&argc, &argv, NULL);
  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, &argc, &argv, NULL))
    return 2;
  g_test_add_func ("/job/idle-settings/draws", test_draws);
  return g_test_run ();
}
