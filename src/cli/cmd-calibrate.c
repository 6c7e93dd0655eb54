/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command "calibrate": observes the ranges of a network on samples and saves or joins the statistics. */
#include "vn-cmd.h"

#include "vn-error.h"
#include "vn-file.h"
#include "vn-encodings.h"
#include "vn-i18n.h"
#include "vn-project-file.h"
#include "vn-ranks.h"

static char *output, *preset, *target, *shard, *table, *recipe_file;
static gboolean wide;
static gboolean resume;
static double save_every;

static const GOptionEntry entries[] = {
  VN_CMD_GROUP_MARK (OUTPUT),
  { "output", 'o', 0, G_OPTION_ARG_FILENAME, &output, N_("the statistics"), N_("FILE") },
  { "table", 0, 0, G_OPTION_ARG_FILENAME, &table, N_("Also write the ranges found by --method as JSON, for “quantize "
                                                     "--ranges”"), N_("FILE") },
  VN_CMD_GROUP_MARK (TARGET),
  { "preset", 'p', 0, G_OPTION_ARG_STRING, &preset, N_("Types and format (default: cpu)"), N_("NAME") },
  { "target", 0, 0, G_OPTION_ARG_STRING, &target,
    N_("Runtime to quantize for, see “list targets”; replaces --preset"), N_("ID") },
  { "wide", 0, 0, G_OPTION_ARG_NONE, &wide,
    N_("With --target: its most accurate variant, usually with 16-bit activations"), NULL },
  { "recipe", 'r', 0, G_OPTION_ARG_FILENAME, &recipe_file, N_("Settings and rules from a file, as for “quantize”"), N_("FILE") },
  VN_CMD_GROUP_MARK (DATA),
  { "shard", 0, 0, G_OPTION_ARG_STRING, &shard, N_("Calibrate only shard K of N, to be merged later (1/3, 2/3, 3/3)"),
    N_("K/N") },
  VN_CMD_GROUP_MARK (OUTPUT),
  { "resume", 0, 0, G_OPTION_ARG_NONE, &resume, N_("Resume an interrupted run (default: start over)"), NULL },
  { "save-every", 0, 0, G_OPTION_ARG_DOUBLE, &save_every,
    N_("Interval for saving progress next to FILE, for --resume (default: 10)"), N_("SECONDS") },
  { NULL }
};

static gboolean
cmd_calibrate_parse_shard (guint   *index,
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

static gboolean
cmd_calibrate_check_output (VnFileSet  *files,
                            GError    **error)
{
  if (output == NULL && table == NULL)
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED, _("-o is missing: specify where to write the statistics"));
      return FALSE;
    }
  if (output == NULL && resume)
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, _("--resume requires -o: the interrupted run "
                                                                      "saved its progress next to that file"));
      return FALSE;
    }
  if (table != NULL && shard != NULL)
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                   _("--table needs all samples, but --shard uses only a part of them: pass the statistics of all "
                     "shards to “quantize --stats”"));
      return FALSE;
    }
  for (guint i = 0; output != NULL && vn_ranks_get_n () > 1 && i < vn_ranks_get_n (); i++)
    {
      g_autofree char *part = vn_calibrate_part_path (output, (int) i);

      vn_file_set_writes (files, part, _("the statistics"));
    }
  vn_calibrate_add_outputs (files, output, _("the statistics"));
  vn_file_set_writes (files, table, "--table");
  return vn_file_set_check (files, error);
}

/* Of several processes one looks at what is left of an interrupted run, and tells the others. */
static gboolean
cmd_calibrate_resume (VnStats **base,
                      GError  **error)
{
  GError *reason = NULL;

  *base = NULL;
  if (vn_ranks_get_rank () == 0 && resume)
    vn_calibrate_resume (output, base, &reason);
  else if (vn_ranks_get_rank () == 0 && output != NULL)
    vn_calibrate_clear_parts (output, &reason);
  return vn_cmd_agree (reason, error) && vn_cmd_share_stats (base, error);
}

static gboolean
calibrate (VnCalibrateSettings  *settings,
           VnModel             **prepared,
           VnStats             **stats,
           VnNotes             **notes,
           GError              **error)
{
  g_autoptr(VnJob) job = vn_calibrate_job_new (settings);

  if (!vn_cmd_run_job (job, error))
    {
      if (output != NULL)
        vn_cmd_set_cancel_note (output);
      return FALSE;
    }
  *prepared = vn_model_ref (vn_calibrate_job_get_prepared (job));
  *stats = vn_stats_ref (vn_calibrate_job_get_stats (job));
  *notes = vn_notes_ref (vn_calibrate_job_get_notes (job));
  return TRUE;
}

static void
cmd_calibrate_print_result (VnStats     *stats,
                            VnNotes     *notes,
                            JsonBuilder *json)
{
  vn_notes_sort (notes);
  vn_cmd_print_notes (notes);
  vn_cmd_print (ngettext ("%s: statistics of %u tensors from %u sample\n",
                          "%s: statistics of %u tensors from %u samples\n", vn_stats_get_n_samples (stats)), output != NULL
                          ? output : table, vn_stats_get_n_values (stats),
                vn_stats_get_n_samples (stats));
  vn_json_add_text_if (json, "statistics", output);
  vn_json_add_text_if (json, "table", table);
  vn_json_add_text (json, "network", vn_stats_get_origin (stats)->network);
  vn_json_add_int (json, "samples", vn_stats_get_n_samples (stats));
  vn_json_add_int (json, "tensors", vn_stats_get_n_values (stats));
  vn_cmd_json_notes (json, notes);
}

/* Several processes: what all have learned and what was known before. */
static gboolean
cmd_calibrate_join_all (VnStats **stats,
                        VnNotes  *notes,
                        VnStats  *base,
                        GError  **error)
{
  GError *reason = NULL;
  VnStats *sum = NULL;

  if (vn_ranks_get_n () == 1)
    return TRUE;
  if (!vn_cmd_join_stats (stats, notes, error))
    return FALSE;
  if (vn_ranks_get_rank () == 0)
    sum = vn_stats_continue (base, *stats, &reason);
  if (sum != NULL && vn_stats_get_n_samples (sum) == 0)
    g_set_error (&reason, VN_ERROR, VN_ERROR_MISSING_DATA, _("None of the samples could be used; the first one: %s"),
                 vn_notes_get_n (notes) > 0 ? vn_notes_get (notes, 0)->text : "?");
  else if (sum != NULL)
    vn_stats_note_values (sum, notes);
  if (sum != NULL)
    {
      vn_stats_unref (*stats);
      *stats = sum;
    }
  return vn_cmd_agree (reason, error);
}

static gboolean
cmd_calibrate_save_table (const VnModel   *prepared,
                          const VnRecipe  *recipe,
                          VnStats         *stats,
                          GError         **error)
{
  g_autoptr(VnEncodingTable) ranges = NULL;

  if (table == NULL)
    return TRUE;
  ranges = vn_encoding_table_new_from_stats (prepared, recipe, stats, error);
  return ranges != NULL && vn_encoding_table_save (ranges, table, error);
}

static gboolean
cmd_calibrate_save (const VnModel   *prepared,
                    const VnRecipe  *recipe,
                    VnStats         *stats,
                    GError         **error)
{
  GError *reason = NULL;

  vn_cmd_hold_files ();
  if (vn_ranks_get_rank () == 0 && cmd_calibrate_save_table (prepared, recipe, stats, &reason) && output != NULL &&
      vn_stats_save (stats, output, &reason))
    vn_calibrate_clear_parts (output, &reason);
  return vn_cmd_agree (reason, error);
}

static gboolean
cmd_calibrate_read_options (VnCalibrateSettings  *settings,
                            const VnProject      *project,
                            const char           *path,
                            VnDataSpec          **data,
                            VnRecipe            **recipe,
                            GError              **error)
{
  const char *start = preset;

  *data = vn_cmd_take_data_spec (project != NULL ? project->data : NULL, path, error);
  if (*data == NULL)
    return FALSE;
  vn_cmd_hold_out (*data, (*data)->held_out);
  if (!vn_cmd_choose_target (&start, target, wide, error))
    return FALSE;
  *recipe = vn_cmd_make_recipe (project != NULL ? project->recipe : NULL, start, recipe_file, NULL, NULL, error);
  if (*recipe == NULL || !cmd_calibrate_parse_shard (&settings->shard, &settings->n_shards, error))
    return FALSE;
  settings->data = *data;
  settings->recipe = *recipe;
  settings->n_threads = (guint) vn_cmd_options.threads;
  settings->keep = output;
  settings->keep_seconds = MAX (save_every, 0);
  settings->rank = vn_ranks_get_rank ();
  settings->n_ranks = vn_ranks_get_n ();
  return TRUE;
}

static gboolean
calibrate_run (char        **args,
               JsonBuilder  *json,
               GError      **error)
{
  g_autoptr(VnDataSpec) data = NULL;
  g_autoptr(VnRecipe) recipe = NULL;
  g_autoptr(GHashTable) shapes = NULL;
  g_autoptr(VnModel) model = NULL;
  g_autoptr(VnModel) prepared = NULL;
  g_autoptr(VnStats) base = NULL;
  g_autoptr(VnStats) stats = NULL;
  g_autoptr(VnNotes) notes = NULL;
  g_autoptr(VnProject) project = NULL;
  const char *path = args[0];
  VnCalibrateSettings settings = { 0 };
  g_autoptr(VnFileSet) files = NULL;
  GError *reason = NULL;

  if (vn_project_is_file (path) && (project = vn_project_load (path, &reason)) != NULL)
    path = project->model;
  files = vn_cmd_new_files (path);
  if (reason == NULL && cmd_calibrate_read_options (&settings, project, args[0], &data, &recipe, &reason))
    {
      if (project != NULL)
        vn_file_set_reads (files, args[0], _("the project"));
      vn_data_spec_add_files (data, files);
      vn_recipe_add_files (recipe, files);
      vn_file_set_reads (files, recipe_file, _("the recipe"));
      cmd_calibrate_check_output (files, &reason);
    }
  if (!vn_cmd_agree (g_steal_pointer (&reason), error))
    return FALSE;
  model = vn_cmd_open_model_sized (path, &shapes, &reason);
  if (model != NULL)
    {
      vn_cmd_take_metadata (data, model);
      vn_model_add_files (model, files);
      vn_file_set_check (files, &reason);
    }
  if (!vn_cmd_agree (reason, error) || !cmd_calibrate_resume (&base, error))
    return FALSE;
  settings.model = model;
  if (project != NULL)
    shapes = vn_project_merge_sizes (project, g_steal_pointer (&shapes));
  settings.input_shapes = shapes;
  settings.base = base;
  if (!calibrate (&settings, &prepared, &stats, &notes, error) || !cmd_calibrate_join_all (&stats, notes, base, error) ||
      !cmd_calibrate_save (prepared, recipe, stats, error))
    return FALSE;
  if (project != NULL && vn_cmd_options.data == NULL)
    vn_cmd_note_idle_kept (notes, data);
  if (vn_ranks_get_rank () == 0)
    cmd_calibrate_print_result (stats, notes, json);
  return TRUE;
}

static const char * const common[] = { "output", "data", "samples", "preprocess", "preset", "recipe", "method", "table", "shard",
                                       "resume", "held-out", "json", NULL };

const VnCmd vn_cmd_calibrate = {
  .name = "calibrate",
  .usage = "(MODEL | PROJECT) (-o FILE | --table FILE) --data PATH",
  .summary = N_("Run samples through a model and save statistics of its tensors"),
  .options = entries,
  .common = common,
  .in_ranks = TRUE,
  .needs_data = TRUE,
  .holds_out = TRUE,
  .takes_trust = TRUE,
  .has_settings = TRUE,
  .n_args = 1,
  .run = calibrate_run,
};
