/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command "dump": writes the tensors of a run to files. */
#include "vn-cmd.h"

#include "vn-i18n.h"

static char *output_dir;
static gboolean floats, force;

static const GOptionEntry entries[] = {
  { "output-dir", 'o', 0, G_OPTION_ARG_FILENAME, &output_dir, N_("Output folder (default: dump_results)"), N_("DIR") },
  { "float", 0, 0, G_OPTION_ARG_NONE, &floats, N_("Also write the float output of every node, as NAME_float"), NULL },
  { "force", 0, 0, G_OPTION_ARG_NONE, &force, N_("Write to a folder that is not empty, overwriting files of the same names"),
    NULL },
  VN_CMD_GROUP_MARK (DATA),
  { "input", 'i', 0, G_OPTION_ARG_FILENAME_ARRAY, &vn_cmd_options.inputs, N_("Value of an input (.npy or TensorProto .pb)"),
    N_("NAME=FILE") },
  { NULL }
};

static void
cmd_dump_print_result (VnDump      *dump,
                       const char  *folder,
                       JsonBuilder *json)
{
  guint n_quantized = 0, n = vn_dump_get_n (dump);
  g_autofree char *index = g_build_filename (folder, VN_DUMP_INDEX, NULL);

  vn_json_add_text (json, "folder", folder);
  vn_json_begin_array (json, "files");
  for (guint i = 0; i < n; i++)
    {
      const VnDumpFile *file = vn_dump_get (dump, i);
      g_autofree char *shape = vn_shape_to_string (&file->shape, ",");

      n_quantized += file->quantized;
      json_builder_begin_object (json);
      vn_json_add_text (json, "file", file->file);
      vn_json_add_text (json, "tensor", file->value);
      vn_json_add_text (json, "dtype", vn_dtype_get_name (file->dtype));
      vn_json_add_text (json, "shape", shape);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
  vn_cmd_print (ngettext ("%s: %u quantized tensor and %u float tensors, each as .bin and .txt, listed in “%s”\n",
                          "%s: %u quantized and %u float tensors, each as .bin and .txt, listed in “%s”\n", n_quantized), folder,
                          n_quantized,
                n - n_quantized, index);
}

static gboolean
dump_run (char        **args,
          JsonBuilder  *json,
          GError      **error)
{
  g_autoptr(GHashTable) shapes = NULL;
  g_autoptr(GHashTable) given = NULL;
  g_autoptr(VnDataSpec) data = NULL;
  g_autoptr(VnFileSet) files = vn_cmd_new_files (args[0]);
  g_autoptr(VnModel) model = NULL;
  g_autoptr(VnJob) job = NULL;
  VnDumpSettings settings = { .folder = output_dir != NULL ? output_dir : "dump_results", .floats = floats, .replace = force,
                              .n_threads = vn_cmd_options.threads > 0 ? (guint) vn_cmd_options.threads
                                           : g_get_num_processors () };

  if ((vn_cmd_options.data != NULL && (data = vn_cmd_make_data_spec (error)) == NULL) ||
      (model = vn_cmd_open_to_run (args[0], &shapes, &given, error)) == NULL)
    return FALSE;
  vn_cmd_take_metadata (data, model);
  settings.model = model;
  settings.data = data;
  settings.inputs = given;
  settings.input_shapes = shapes;
  settings.files = files;
  job = vn_dump_job_new (&settings);
  vn_cmd_hold_files ();
  if (!vn_cmd_run_job (job, error))
    return FALSE;
  vn_cmd_print_notes (vn_dump_job_get_notes (job));
  cmd_dump_print_result (vn_dump_job_get_dump (job), settings.folder, json);
  vn_cmd_json_notes (json, vn_dump_job_get_notes (job));
  return TRUE;
}

static const char * const common[] = { "output-dir", "float", "force", "input", "data", "preprocess", "shape", "engine",
                                       "threads", "json", NULL };

const VnCmd vn_cmd_dump = {
  .name = "dump",
  .usage = "QUANTIZED [--data PATH] [-o DIR]",
  .summary = N_("Write every tensor of a quantized model for the first sample"),
  .options = entries,
  .common = common,
  .needs_data = TRUE,
  .n_args = 1,
  .run = dump_run,
};
