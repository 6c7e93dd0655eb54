/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command "runs": lists the runs of a project, and removes some. */
#include "vn-cmd.h"

#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-project-file.h"
#include "vn-verdict.h"

#include <math.h>

static char **removes;

static const GOptionEntry entries[] = {
  { "remove", 0, 0, G_OPTION_ARG_STRING_ARRAY, &removes,
    N_("Remove a run, and its file if it is next to the project (repeatable)"), N_("ID") },
  { NULL }
};

/* All or none are removed. */
static gboolean
cmd_runs_check_removes (const VnProject  *project,
                        const char       *path,
                        GError          **error)
{
  for (char **at = removes; at != NULL && *at != NULL; at++)
    {
      gboolean twice = FALSE;

      for (char **other = removes; other < at; other++)
        twice = twice || g_str_equal (*other, *at);
      if (!twice && vn_project_find_run (project, *at) != NULL)
        continue;
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                   twice ? _("--remove: %s: the run “%s” is specified twice; nothing was removed")
                         : _("--remove: %s has no run “%s”; nothing was removed. “vernier-cli runs” lists the runs"), path, *at);
      return FALSE;
    }
  return TRUE;
}

static gboolean
cmd_runs_remove (VnProject   *project,
                 const char  *path,
                 GError     **error)
{
  if (!cmd_runs_check_removes (project, path, error))
    return FALSE;
  for (char **at = removes; at != NULL && *at != NULL; at++)
    {
      gboolean file_removed;

      if (!vn_project_remove_run (project, path, *at, &file_removed, error))
        return FALSE;
      vn_cmd_print (file_removed ? _("%s: removed, with its file\n") : _("%s: removed; it had no file of its own\n"), *at);
    }
  return TRUE;
}

/* Files that are gone or damaged cost what is in them, not the line of the run. */
static void
cmd_runs_check_files (const VnProject *project,
                      const char      *path,
                      VnNotes         *notes)
{
  for (guint i = 0; i < project->runs->len; i++)
    {
      const VnProjectRun *run = g_ptr_array_index (project->runs, i);
      g_autoptr(GError) error = NULL;
      g_autoptr(VnRun) record = vn_project_run_load (run, path, &error);

      if (record == NULL)
        vn_notes_add (notes, VN_NOTE_WARNING, "run-unreadable", run->id, _("%s. The list entry is kept; remove it "
                                                                           "with --remove"),
                      error->message);
    }
}

static void
cmd_runs_print_run (const VnProjectRun *run)
{
  g_autoptr(GDateTime) time = g_date_time_new_from_unix_local (run->time);
  g_autofree char *when = time != NULL ? g_date_time_format (time, "%Y-%m-%d %H:%M") : g_strdup ("");
  g_autofree char *mean = isnan (run->figures.mean_db) ? g_strdup ("") : vn_format_db_column (run->figures.mean_db);
  g_autofree char *size = vn_format_bytes_column (run->figures.quantized_bytes);
  g_autofree char *changes = g_strjoinv (" ", run->changes);

  vn_cmd_print ("  %-22s  %s  %10s  %10s  %s\n", run->id, when, mean, size, vn_verdict_get_title (run->verdict));
  if (run->name != NULL)
    vn_cmd_print ("    “%s”\n", run->name);
  vn_cmd_print ("    %s%s%s\n", run->preset, *changes != '\0' ? ": " : "", changes);
}

static void
cmd_runs_print (const VnProject *project,
                const char      *path,
                JsonBuilder     *json)
{
  g_autofree char *whole = g_canonicalize_filename (path, NULL), *folder = g_path_get_dirname (whole);
  g_autofree char *model = g_path_get_basename (project->model);
  guint n = project->runs->len;

  vn_cmd_print (ngettext ("%s: %u run of %s\n", "%s: %u runs of %s; all are kept until they are removed\n", n), path, n, model);
  if (n > 0)
    vn_cmd_print ("  %-22s  %-16s  %10s  %10s  %s\n", _("run"), _("time"), _("mean SQNR"), _("size"), _("verdict"));
  vn_json_add_text (json, "model", project->model);
  vn_json_begin_array (json, "runs");
  for (guint i = 0; i < n; i++)
    {
      cmd_runs_print_run (g_ptr_array_index (project->runs, i));
      json_builder_add_value (json, vn_project_run_to_json (g_ptr_array_index (project->runs, i), folder));
    }
  json_builder_end_array (json);
}

static gboolean
runs_run (char        **args,
          JsonBuilder  *json,
          GError      **error)
{
  g_autoptr(VnProject) project = NULL;
  g_autoptr(VnNotes) notes = vn_notes_new ();

  if (removes != NULL && !vn_cmd_lock_projects (args[0], NULL, error))
    return FALSE;
  project = vn_project_load (args[0], error);
  if (project == NULL || !cmd_runs_remove (project, args[0], error))
    return FALSE;
  cmd_runs_check_files (project, args[0], notes);
  vn_cmd_print_notes (notes);
  cmd_runs_print (project, args[0], json);
  vn_cmd_json_notes (json, notes);
  return TRUE;
}

const VnCmd vn_cmd_runs = {
  .name = "runs",
  .usage = "PROJECT [--remove ID]",
  .summary = N_("List the runs of a project, or remove some"),
  .options = entries,
  .without_model = TRUE,
  .n_args = 1,
  .run = runs_run,
};
