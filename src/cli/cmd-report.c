/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command "report": the report of a run that a project keeps, at any time after it. */
#include "vn-cmd.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-node-data-write.h"
#include "vn-project-file.h"
#include "vn-report.h"

static char *output, *form, *run_id;

static const GOptionEntry entries[] = {
  { "output", 'o', 0, G_OPTION_ARG_FILENAME, &output,
    N_("Report file, or folder for all formats (default: Markdown on standard output)"), N_("PATH") },
  { "format", 'f', 0, G_OPTION_ARG_STRING, &form, N_("Report format (default: from the file extension)"),
    "markdown|json|html|pdf|node-data" },
  { "run", 0, 0, G_OPTION_ARG_STRING, &run_id, N_("Which run; “vernier-cli runs” lists them (default: the last)"), N_("ID") },
  { NULL }
};

static gboolean
cmd_report_is_node_data (void)
{
  return g_strcmp0 (form, VN_NODE_DATA_FORM) == 0;
}

static const VnProjectRun *
cmd_report_find_run (const VnProject  *project,
                     const char       *path,
                     GError          **error)
{
  const VnProjectRun *run = NULL;

  if (run_id != NULL)
    run = vn_project_find_run (project, run_id);
  else if (project->runs->len > 0)
    run = g_ptr_array_index (project->runs, project->runs->len - 1);
  if (run == NULL && run_id != NULL)
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, _("--run: %s has no run “%s”; “vernier-cli runs” lists them"),
                 path, run_id);
  else if (run == NULL)
    g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA, _("%s has no runs to report; create one with “vernier-cli "
                                                           "quantize %s -o FILE”"), path, path);
  return run;
}

static gboolean
cmd_report_check_form (const VnReportPrinter **printer,
                       GError                **error)
{
  if (form == NULL)
    return output == NULL || vn_report_check_form (output, error);
  if (cmd_report_is_node_data ())
    {
      if (output == NULL)
        g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                     _("--format %s writes a file for each metric and requires --output FOLDER"), form);
      return output != NULL;
    }
  *printer = vn_report_printer_find (form);
  if (*printer == NULL)
    {
      guint n;
      const VnReportPrinter *list = vn_report_printer_list (&n);
      g_autoptr(GString) all = g_string_new (NULL);

      for (guint i = 0; i < n; i++)
        g_string_append_printf (all, "%s%s", i > 0 ? ", " : "", list[i].id);
      g_string_append (all, ", " VN_NODE_DATA_FORM);
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, _("--format: there is no format “%s”; choose one of: %s"),
                   form, all->str);
      return FALSE;
    }
  if (!vn_report_check_form ((*printer)->file, error))
    return FALSE;
  if (output != NULL || (*printer)->is_text)
    return TRUE;
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, _("--format %s is not text and requires --output"), form);
  return FALSE;
}

/* Nothing that the report is made from may be replaced by it. */
static gboolean
cmd_report_check_files (const VnProject        *project,
                        const char             *path,
                        const VnReportPrinter  *printer,
                        GError                **error)
{
  g_autoptr(VnFileSet) files = vn_cmd_new_files (project->model);

  vn_project_add_files (project, path, files);
  vn_file_set_reads (files, path, _("the project"));
  if (cmd_report_is_node_data ())
    vn_node_data_add_outputs (files, output);
  else if (printer != NULL)
    vn_file_set_writes (files, output, _("the report"));
  else
    vn_report_add_outputs (files, output);
  return vn_file_set_check (files, error);
}

static gboolean
cmd_report_write (const VnReportModel    *report,
                  const VnReportPrinter  *printer,
                  GError                **error)
{
  g_autoptr(GBytes) bytes = NULL;
  g_autofree char *text = NULL;

  vn_cmd_hold_files ();
  if (output == NULL && vn_cmd_options.json)   /* which has it under "report" */
    return TRUE;
  if (output != NULL)
    return printer != NULL ? vn_report_write (report, printer, output, error) : vn_report_export (report, output, error);
  bytes = (printer != NULL ? printer : vn_report_printer_find_for_file ("report.md"))->print (report, error);
  if (bytes == NULL)
    return FALSE;
  text = g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
  vn_cmd_put (text);
  return TRUE;
}

static gboolean
report_run (char        **args,
            JsonBuilder  *json,
            GError      **error)
{
  g_autoptr(VnProject) project = vn_project_load (args[0], error);
  const VnProjectRun *run = project != NULL ? cmd_report_find_run (project, args[0], error) : NULL;
  const VnReportPrinter *printer = NULL;
  g_autoptr(VnRun) record = NULL;
  g_autoptr(VnModel) model = NULL;
  g_autoptr(VnRun) result = NULL;
  g_autoptr(VnReportModel) report = NULL;

  if (run == NULL || !cmd_report_check_form (&printer, error) || !cmd_report_check_files (project, args[0], printer, error))
    return FALSE;
  record = vn_project_run_load (run, args[0], error);
  model = record != NULL ? vn_cmd_open_model (record->path != NULL ? record->path : project->model, error) : NULL;
  result = model != NULL ? vn_run_with_model (record, model, error) : NULL;
  if (result == NULL)
    return FALSE;
  report = vn_report_model_new (result, VN_REPORT_LAYOUT_REPORT);
  if (cmd_report_is_node_data ())
    vn_cmd_hold_files ();
  if (cmd_report_is_node_data () ? !vn_node_data_write (result, output, error) : !cmd_report_write (report, printer, error))
    return FALSE;
  vn_json_add_text (json, "run", run->id);
  vn_cmd_json_report (json, report);
  return TRUE;
}

const VnCmd vn_cmd_report = {
  .name = "report",
  .usage = "PROJECT [-o FILE.html]",
  .summary = N_("Write the report of a run stored in a project"),
  .options = entries,
  .without_model = TRUE,
  .n_args = 1,
  .run = report_run,
};
