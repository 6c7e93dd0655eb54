/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command "prepare": the float-to-float passes alone. */
#include "vn-cmd.h"

#include "vn-file.h"
#include "vn-i18n.h"

#include <string.h>

static char *output;
static char **pass_ids;
static gboolean skip_optimization, skip_onnx_shape, skip_symbolic_shape, auto_merge, guess_rank;
static gboolean list_passes, nhwc;
static int verbose = 1;
static gint64 int_max = G_MAXINT32, opset;

static const GOptionEntry entries[] = {
  { "output", 'o', 0, G_OPTION_ARG_FILENAME, &output, N_("the prepared model"), N_("FILE") },
  VN_CMD_GROUP_MARK (PREPARATION),
  { "skip-optimization", 0, 0, G_OPTION_ARG_NONE, &skip_optimization, N_("Apply only the changes that are requested"), NULL },
  { "skip-onnx-shape", 0, 0, G_OPTION_ARG_NONE, &skip_onnx_shape,
    N_("With --skip-symbolic-shape: do not write shapes into the file"), NULL },
  { "skip-symbolic-shape", 0, 0, G_OPTION_ARG_NONE, &skip_symbolic_shape,
    N_("Do not infer symbolic dimensions"), NULL },
  { "auto-merge", 0, 0, G_OPTION_ARG_NONE, &auto_merge, N_("Merge symbolic dimensions that must be equal"), NULL },
  { "int-max", 0, 0, G_OPTION_ARG_INT64, &int_max, N_("Value treated as unbounded in Slice (default: 2147483647)"), N_("N") },
  { "guess-output-rank", 0, 0, G_OPTION_ARG_NONE, &guess_rank,
    N_("Assume that outputs of unknown operators have the rank of input 0"), NULL },
  { "opset", 0, 0, G_OPTION_ARG_INT64, &opset, N_("Convert to this opset (default: unchanged)"), N_("N") },
  { "nhwc-inputs", 0, 0, G_OPTION_ARG_NONE, &nhwc, N_("Convert image inputs to channels last (NHWC)"), NULL },
  { "pass", 0, 0, G_OPTION_ARG_STRING_ARRAY, &pass_ids, N_("Run this pass as well (repeatable)"), N_("ID") },
  VN_CMD_GROUP_MARK (OUTPUT),
  { "list-passes", 0, 0, G_OPTION_ARG_NONE, &list_passes, N_("List the passes and exit"), NULL },
  { "verbose", 0, 0, G_OPTION_ARG_INT, &verbose, N_("0: results, 1: also warnings (default), 3: also every change"),
    N_("LEVEL") },
  { NULL }
};

static const char *
cmd_prepare_stage_name (VnPassStage stage)
{
  return stage == VN_PASS_ALWAYS ? "always" : stage == VN_PASS_OPTIMIZE ? "optimize" : "request";
}

static void
cmd_prepare_print_passes (JsonBuilder *json)
{
  guint n;
  const VnPass * const *passes = vn_pass_list (&n);

  vn_json_begin_array (json, "passes");
  for (guint i = 0; i < n; i++)
    {
      vn_cmd_print ("%-20s %-9s %s\n", passes[i]->id, cmd_prepare_stage_name (passes[i]->stage), _(passes[i]->summary));
      json_builder_begin_object (json);
      vn_json_add_text (json, "id", passes[i]->id);
      vn_json_add_text (json, "when", cmd_prepare_stage_name (passes[i]->stage));
      vn_json_add_text (json, "summary", _(passes[i]->summary));
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
}

static gboolean
cmd_prepare_refuse (GError     **error,
                    const char  *option,
                    const char  *allowed)
{
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, _("%s: use %s"), option, allowed);
  return FALSE;
}

static gboolean
cmd_prepare_check_options (const char  *model,
                           GError     **error)
{
  g_autoptr(VnFileSet) files = NULL;

  for (char **id = pass_ids; id != NULL && *id != NULL; id++)
    if (vn_pass_find (*id) == NULL)
      {
        g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                     _("--pass: there is no pass “%s”; --list-passes lists them"), *id);
        return FALSE;
      }
  if (output == NULL)
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED, _("-o is missing: specify where to write the prepared model"));
      return FALSE;
    }
  if (int_max < 1)
    return cmd_prepare_refuse (error, "--int-max", _("a positive number"));
  if (opset < 0)
    return cmd_prepare_refuse (error, "--opset", _("a positive number"));
  if (verbose < 0 || verbose > 3)
    return cmd_prepare_refuse (error, "--verbose", _("a level from 0 to 3"));
  files = vn_cmd_new_files (model);
  vn_file_set_writes (files, output, _("the prepared model"));
  return vn_file_set_check (files, error);
}

/* Passes that options stand for, beside those given by --pass. */
static char **
cmd_prepare_list_ids (GHashTable *shapes)
{
  g_autoptr(GStrvBuilder) ids = g_strv_builder_new ();

  if (pass_ids != NULL)
    g_strv_builder_addv (ids, (const char **) pass_ids);
  if (shapes != NULL)
    g_strv_builder_add (ids, "fix-shapes");
  if (nhwc)
    g_strv_builder_add (ids, "nhwc-inputs");
  if (!skip_onnx_shape || !skip_symbolic_shape)
    g_strv_builder_add (ids, "declare");
  return g_strv_builder_end (ids);
}

static guint
cmd_prepare_count_nodes (const VnGraph *graph)
{
  guint n = graph->nodes->len;

  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (graph->nodes, i);

      for (guint a = 0; a < node->attrs->len; a++)
        {
          const VnAttr *attr = g_ptr_array_index (node->attrs, a);

          n += attr->graph != NULL ? cmd_prepare_count_nodes (attr->graph) : 0;
        }
    }
  return n;
}

static void
cmd_prepare_add_edits (JsonBuilder *json,
                       VnEditLog   *edits)
{
  vn_json_begin_array (json, "edits");
  for (guint i = 0; i < vn_edit_log_get_n (edits); i++)
    {
      const VnEdit *edit = vn_edit_log_get (edits, i);

      if (verbose >= 3)
        vn_cmd_print ("  %s: %s %s: %s\n", edit->pass, edit->verb, edit->subject, edit->detail);
      json_builder_begin_object (json);
      vn_json_add_text (json, "pass", edit->pass);
      vn_json_add_text (json, "verb", edit->verb);
      vn_json_add_text (json, "subject", edit->subject);
      vn_json_add_text (json, "detail", edit->detail);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
}

static void
cmd_prepare_print_result (JsonBuilder   *json,
                          const VnModel *before,
                          VnJob         *job)
{
  const VnModel *after = vn_prepare_job_get_model (job);
  gint64 from = vn_model_get_opset (before, ""), to = vn_model_get_opset (after, "");

  vn_cmd_print (ngettext ("%s: %u node (was %u), opset %lld (was %lld)\n",
                          "%s: %u nodes (was %u), opset %lld (was %lld)\n", cmd_prepare_count_nodes (after->graph)), output,
                cmd_prepare_count_nodes (after->graph), cmd_prepare_count_nodes (before->graph), (long long) to,
                (long long) from);
  vn_json_add_number (json, "nodes_before", cmd_prepare_count_nodes (before->graph));
  vn_json_add_number (json, "nodes", cmd_prepare_count_nodes (after->graph));
  vn_json_add_number (json, "opset", (double) to);
  cmd_prepare_add_edits (json, vn_prepare_job_get_edits (job));
  vn_cmd_json_notes (json, vn_prepare_job_get_notes (job));
  if (verbose >= 1)
    vn_cmd_print_notes (vn_prepare_job_get_notes (job));
}

/* What comes along in a folder, without anything of it being replaced that is read. */
static gboolean
cmd_prepare_copy_folder (const VnCmdFolder  *folder,
                         const char         *path,
                         const VnModel      *model,
                         gboolean            is_written,
                         GError            **error)
{
  g_autoptr(VnFileSet) files = vn_cmd_new_files (path);

  if (is_written)
    return vn_cmd_folder_copy (folder, model, error);
  return vn_cmd_folder_add_outputs (folder, model, files, error) && vn_file_set_check (files, error);
}

static gboolean
prepare_run (char        **args,
             JsonBuilder  *json,
             GError      **error)
{
  g_autoptr(VnModel) model = NULL;
  g_autoptr(GHashTable) shapes = NULL;
  g_autoptr(GError) shape_error = NULL;
  g_autoptr(VnJob) job = NULL;
  g_auto(GStrv) ids = NULL;
  g_auto(VnCmdFolder) folder = { 0 };
  const char *path = args[0];
  VnPrepareSettings settings = { 0 };

  if (list_passes)
    {
      cmd_prepare_print_passes (json);
      return TRUE;
    }
  if (!vn_cmd_folder_open (&folder, &path, &output, error) || !cmd_prepare_check_options (path, error) ||
      !vn_cmd_fill_write_options (&settings.write, error))
    return FALSE;
  model = vn_cmd_open_model (path, error);
  if (model == NULL || !cmd_prepare_copy_folder (&folder, path, model, FALSE, error))
    return FALSE;
  settings.path = output;
  shapes = vn_cmd_parse_shapes (model, &shape_error);
  if (shape_error != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&shape_error));
      return FALSE;
    }
  ids = cmd_prepare_list_ids (shapes);
  settings.model = model;
  settings.options = (VnPrepareOptions) {
    .target_opset = opset, .input_shapes = shapes, .passes = (const char * const *) ids, .optimize = TRUE,
    .skip_optimization = skip_optimization, .auto_merge = auto_merge, .guess_rank = guess_rank,
    .unnamed_sizes = skip_symbolic_shape, .int_max = int_max,
  };
  job = vn_prepare_job_new (&settings);
  vn_cmd_catch_interrupts ();
  if (!vn_cmd_run_job (job, error) || !cmd_prepare_copy_folder (&folder, path, model, TRUE, error))
    return FALSE;
  cmd_prepare_print_result (json, model, job);
  return TRUE;
}

static const char * const common[] = { "output", "shape", "dim", "opset", "pass", "list-passes", "skip-optimization",
                                       "auto-merge", "nhwc-inputs", "save-as-external-data", "verbose", "json", NULL };

const VnCmd vn_cmd_prepare = {
  .name = "prepare",
  .usage = "MODEL -o FILE",
  .summary = N_("Simplify a float model and infer its shapes before quantization"),
  .options = entries,
  .common = common,
  .writes_model = TRUE,
  .n_args = 1,
  .lists = &list_passes,
  .run = prepare_run,
};
