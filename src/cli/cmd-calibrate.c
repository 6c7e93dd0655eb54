/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "vn-cmd.h"

#include "vn-error.h"
#include "vn-file.h"
#include "vn-i18n.h"

#include <string.h>

static char *output, *preset, *shard;
static gboolean resume;
static int held_out = 16;
static double save_every;

static const GOptionEntry entries[] = {
  { "output", 'o', 0, G_OPTION_ARG_FILENAME, &output, N_("The statistics"), N_("FILE") },
  { "preset", 'p', 0, G_OPTION_ARG_STRING, &preset, N_("Target (default: cpu)"), N_("NAME") },
  { "shard", 0, 0, G_OPTION_ARG_STRING, &shard, N_("Only part K of N, to be merged later (1/3, 2/3, 3/3)"), N_("K/N") },
  { "held-out", 0, 0, G_OPTION_ARG_INT, &held_out, N_("Samples left for measuring the error (default: 16)"), N_("N") },
  { "resume", 0, 0, G_OPTION_ARG_NONE, &resume, N_("Go on where an interrupted run stopped (default: start anew)"), NULL },
  { "save-every", 0, 0, G_OPTION_ARG_DOUBLE, &save_every,
    N_("How often what was learned so far is kept beside FILE, should the run be interrupted (default: 10)"), N_("SECONDS") },
  { NULL }
};

static gboolean
parse_shard (guint   *index,
             guint   *n,
             GError **error)
{
  char *end;
  guint64 k, total = 0;

  *index = *n = 0;
  if (shard == NULL)
    return TRUE;
  k = g_ascii_strtoull (shard, &end, 10);
  if (end != shard && *end == '/')
    {
      const char *second = end + 1;

      total = g_ascii_strtoull (second, &end, 10);
      if (end != second && *end == '\0' && k >= 1 && k <= total && total <= G_MAXINT)
        {
          *index = (guint) k - 1;
          *n = (guint) total;
          return TRUE;
        }
    }
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
               _("--shard: “%s” is not allowed; use K/N with K from 1 to N, such as 1/3"), shard);
  return FALSE;
}

static VnRecipe *
make_recipe (GError **error)
{
  g_autoptr(VnRecipe) recipe = NULL;

  if (preset != NULL && vn_preset_find (preset, error) == NULL)
    return NULL;
  recipe = vn_recipe_new (preset);
  if (!vn_cmd_apply_settings (recipe, error) || !vn_recipe_validate (recipe, error))
    return NULL;
  return g_steal_pointer (&recipe);
}

static gboolean
check_output (GError **error)
{
  g_autofree char *part = NULL;

  if (output == NULL)
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED, _("-o is missing: say where the statistics go"));
      return FALSE;
    }
  part = vn_calibrate_part_path (output, -1);
  return vn_file_check_target (output, error) && vn_file_check_target (part, error);
}

static gboolean
take_up (VnStats **base,
         GError  **error)
{
  *base = NULL;
  return resume ? vn_calibrate_take_up (output, base, error) : vn_calibrate_clear_parts (output, error);
}

static gboolean
calibrate (VnCalibrateSettings  *settings,
           VnStats             **stats,
           VnNotes             **notes,
           GError              **error)
{
  g_autoptr(VnJob) job = vn_calibrate_job_new (settings);

  if (!vn_cmd_run_job (job, error))
    {
      vn_cmd_tell_kept (output);
      return FALSE;
    }
  *stats = vn_stats_ref (vn_calibrate_job_get_stats (VN_CALIBRATE_JOB (job)));
  *notes = vn_notes_ref (vn_calibrate_job_get_notes (VN_CALIBRATE_JOB (job)));
  return TRUE;
}

static void
print_result (VnStats     *stats,
              VnNotes     *notes,
              JsonBuilder *json)
{
  vn_notes_sort (notes);
  vn_cmd_print_notes (notes);
  vn_cmd_print (_("%s: statistics of %u tensors from %u samples\n"), output, vn_stats_get_n_values (stats),
                vn_stats_get_n_samples (stats));
  json_builder_set_member_name (json, "statistics");
  json_builder_add_string_value (json, output);
  json_builder_set_member_name (json, "network");
  json_builder_add_string_value (json, vn_stats_get_origin (stats)->network);
  json_builder_set_member_name (json, "samples");
  json_builder_add_int_value (json, vn_stats_get_n_samples (stats));
  json_builder_set_member_name (json, "tensors");
  json_builder_add_int_value (json, vn_stats_get_n_values (stats));
  vn_cmd_json_notes (json, notes);
}

static gboolean
calibrate_run (char        **args,
               JsonBuilder  *json,
               GError      **error)
{
  g_autoptr(VnDataSpec) data = vn_cmd_make_data_spec (error);
  g_autoptr(VnRecipe) recipe = data != NULL ? make_recipe (error) : NULL;
  g_autoptr(GHashTable) shapes = NULL;
  g_autoptr(VnModel) model = NULL;
  g_autoptr(VnStats) base = NULL;
  g_autoptr(VnStats) stats = NULL;
  g_autoptr(VnNotes) notes = NULL;
  VnCalibrateSettings settings = { 0 };

  if (recipe == NULL || !parse_shard (&settings.shard, &settings.n_shards, error) || !check_output (error) ||
      (model = vn_cmd_open_model_sized (args[0], &shapes, error)) == NULL || !take_up (&base, error))
    return FALSE;
  settings.model = model;
  settings.data = data;
  settings.recipe = recipe;
  settings.input_shapes = shapes;
  settings.n_held_out = (guint) MAX (held_out, 0);
  settings.n_threads = (guint) vn_cmd_options.threads;
  settings.keep = output;
  settings.keep_seconds = MAX (save_every, 0);
  settings.base = base;
  if (!calibrate (&settings, &stats, &notes, error) || !vn_stats_save (stats, output, error) ||
      !vn_calibrate_clear_parts (output, error))
    return FALSE;
  print_result (stats, notes, json);
  return TRUE;
}

const VnCmd vn_cmd_calibrate = {
  .name = "calibrate",
  .usage = "MODEL -o FILE --data PATH",
  .summary = N_("Run samples through a model and keep statistics of its tensors"),
  .options = entries,
  .needs_data = TRUE,
  .has_settings = TRUE,
  .n_args = 1,
  .run = calibrate_run,
};
