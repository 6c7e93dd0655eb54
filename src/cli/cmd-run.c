/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command "run": runs a network on one sample and shows or saves its outputs. */
#include "vn-cmd.h"

#include "vn-file-hold.h"
#include "vn-i18n.h"

#include <math.h>

static char *output_dir;
static int repeat = 1;

static const GOptionEntry entries[] = {
  VN_CMD_GROUP_MARK (DATA),
  { "input", 'i', 0, G_OPTION_ARG_FILENAME_ARRAY, &vn_cmd_options.inputs, N_("Value of an input (.npy or TensorProto .pb)"),
    N_("NAME=FILE") },
  VN_CMD_GROUP_MARK (OUTPUT),
  { "output-dir", 'o', 0, G_OPTION_ARG_FILENAME, &output_dir, N_("Write each output to DIR/NAME.npy"), N_("DIR") },
  { "repeat", 'r', 0, G_OPTION_ARG_INT, &repeat, N_("Number of runs; prints the shortest time"), N_("N") },
  { NULL }
};

static char *
cmd_run_plain_name (const char *name)
{
  return g_strdelimit (g_strdup (name), "/:", '_');
}

/* Names that differ only in what a file name cannot hold are numbered. */
static char *
cmd_run_dup_file_name (VnPlan *plan,
                       guint   output)
{
  g_autofree char *plain = cmd_run_plain_name (vn_plan_get_output (plan, output)->name);
  guint n_before = 0;

  for (guint i = 0; i < output; i++)
    {
      g_autofree char *other = cmd_run_plain_name (vn_plan_get_output (plan, i)->name);

      n_before += g_str_equal (other, plain);
    }
  return n_before > 0 ? g_strdup_printf ("%s.%u.npy", plain, n_before + 1) : g_strconcat (plain, ".npy", NULL);
}

static gboolean
cmd_run_write_output (VnPlan          *plan,
                      guint            output,
                      const VnTensor  *tensor,
                      GError         **error)
{
  g_autofree char *file = cmd_run_dup_file_name (plan, output);
  g_autofree char *path = NULL;

  if (output_dir == NULL)
    return TRUE;
  if (!vn_file_make_folder (output_dir, error))
    return FALSE;
  path = g_build_filename (output_dir, file, NULL);
  return vn_npy_write (path, tensor, error);
}

static void
cmd_run_show_output (JsonBuilder    *json,
                     const char     *name,
                     const VnTensor *tensor)
{
  g_autofree char *shape = vn_shape_to_string (&tensor->shape, ",");
  double lo = INFINITY, hi = -INFINITY, sum = 0;

  for (gsize i = 0; i < tensor->n_elements; i++)
    {
      double value = vn_tensor_get_double (tensor, i);

      lo = fmin (lo, value);
      hi = fmax (hi, value);
      sum += value;
    }
  vn_cmd_print ("  %s: %s[%s]  %s %.6g … %.6g, %s %.6g\n", name, vn_dtype_get_name (tensor->dtype), shape, _("range"), lo, hi,
                _("mean"), tensor->n_elements > 0 ? sum / (double) tensor->n_elements : 0.0);
  json_builder_begin_object (json);
  vn_json_add_text (json, "name", name);
  vn_json_add_text (json, "dtype", vn_dtype_get_name (tensor->dtype));
  vn_json_add_text (json, "shape", shape);
  vn_json_add_number (json, "min", lo);
  vn_json_add_number (json, "max", hi);
  json_builder_end_object (json);
}

static gboolean
run_times (VnRunner   *runner,
           VnTensor  **tensors,
           VnTensor  **outputs,
           guint       n_outputs,
           double     *best_ms,
           GError    **error)
{
  *best_ms = INFINITY;
  for (int r = 0; r < repeat; r++)
    {
      gint64 start = g_get_monotonic_time ();

      for (guint i = 0; i < n_outputs; i++)
        g_clear_pointer (&outputs[i], vn_tensor_unref);
      if (!vn_runner_run (runner, tensors, outputs, NULL, error))
        return FALSE;
      *best_ms = fmin (*best_ms, (double) (g_get_monotonic_time () - start) / 1e3);
    }
  return TRUE;
}

static gboolean
cmd_run_show_outputs (VnPlan       *plan,
                      VnTensor    **outputs,
                      double        best_ms,
                      JsonBuilder  *json,
                      GError      **error)
{
  vn_cmd_hold_files ();
  vn_cmd_print (_("Outputs (%.2f ms)\n"), best_ms);
  vn_json_add_number (json, "milliseconds", best_ms);
  vn_json_begin_array (json, "outputs");
  for (guint i = 0; i < vn_plan_get_n_outputs (plan); i++)
    {
      const char *name = vn_plan_get_output (plan, i)->name;

      cmd_run_show_output (json, name, outputs[i]);
      if (!cmd_run_write_output (plan, i, outputs[i], error))
        return FALSE;
    }
  json_builder_end_array (json);
  return TRUE;
}

/* Nothing that is read lies where the outputs go. */
static gboolean
cmd_run_check_files (VnPlan            *plan,
                     const VnModel     *model,
                     const VnDataSpec  *data,
                     const char        *path,
                     GError           **error)
{
  g_autoptr(VnFileSet) files = vn_cmd_new_files (path);

  vn_model_add_files (model, files);
  vn_data_spec_add_files (data, files);
  for (guint i = 0; i < vn_plan_get_n_outputs (plan); i++)
    {
      g_autofree char *file = cmd_run_dup_file_name (plan, i);

      vn_file_set_writes_in (files, output_dir, file, _("an output"));
    }
  return vn_file_set_check (files, error);
}

static gboolean
run_plan (VnPlan       *plan,
          VnDataSpec   *data,
          GHashTable   *given,
          JsonBuilder  *json,
          GError      **error)
{
  guint n_inputs = vn_plan_get_n_inputs (plan), n_outputs = vn_plan_get_n_outputs (plan);
  g_autofree VnTensor **tensors = g_new0 (VnTensor *, n_inputs + 1);
  g_autofree VnTensor **outputs = g_new0 (VnTensor *, n_outputs + 1);
  g_autoptr(VnRunner) runner = vn_runner_new (plan, error);
  double best_ms = 0;
  gboolean good = FALSE;

  if (runner != NULL)
    {
      vn_runner_set_threads (runner, vn_cmd_options.threads > 0 ? (guint) vn_cmd_options.threads : g_get_num_processors ());
      good = vn_plan_load_sample (plan, data, given, tensors, error) &&
             run_times (runner, tensors, outputs, n_outputs, &best_ms, error) && vn_cmd_check_models (error) &&
             cmd_run_show_outputs (plan, outputs, best_ms, json, error);
    }
  for (guint i = 0; i < n_inputs; i++)
    g_clear_pointer (&tensors[i], vn_tensor_unref);
  for (guint i = 0; i < n_outputs; i++)
    g_clear_pointer (&outputs[i], vn_tensor_unref);
  return good;
}

static gboolean
run_run (char        **args,
         JsonBuilder  *json,
         GError      **error)
{
  g_autoptr(GHashTable) asked = NULL;
  g_autoptr(GHashTable) given = NULL;
  g_autoptr(GHashTable) shapes = NULL;
  g_autoptr(VnDataSpec) data = repeat >= 1 && vn_cmd_options.data != NULL ? vn_cmd_make_data_spec (error) : NULL;
  g_autoptr(VnModel) model = NULL;
  g_autoptr(VnPlan) plan = NULL;
  g_autoptr(VnNotes) notes = vn_notes_new ();
  VnPlanOptions options = { .skip_unsupported = TRUE };

  if (repeat < 1)
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, _("--repeat must be at least 1"));
      return FALSE;
    }
  if ((data == NULL && vn_cmd_options.data != NULL) ||
      (model = vn_cmd_open_to_run (args[0], &asked, &given, error)) == NULL)
    return FALSE;
  vn_cmd_take_metadata (data, model);
  if (!vn_model_size_for_run (model, data, asked, &shapes, notes, error))
    return FALSE;
  options.input_shapes = shapes;
  plan = vn_plan_new (model, &options, notes, error);
  if (plan == NULL || !cmd_run_check_files (plan, model, data, args[0], error) || !run_plan (plan, data, given, json, error))
    return FALSE;
  vn_cmd_print_notes (notes);
  vn_cmd_json_notes (json, notes);
  return TRUE;
}

static const char * const common[] = { "input", "data", "samples", "preprocess", "output-dir", "repeat", "shape", "engine",
                                       "threads", "json", NULL };

const VnCmd vn_cmd_run = {
  .name = "run",
  .usage = "MODEL",
  .summary = N_("Run a model on given inputs, on a sample, or on random values"),
  .options = entries,
  .common = common,
  .needs_data = TRUE,
  .n_args = 1,
  .run = run_run,
};
