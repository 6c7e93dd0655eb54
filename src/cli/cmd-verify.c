/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command "verify": an export in a runtime itself: whether it loads, agrees with our outputs, what is computed in integers,
 * and how long it takes. */
#include "vn-cmd.h"

#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-ort-install.h"
#include "vn-verified-json.h"
#include "verify-folder.h"
#include "vn-verify-job.h"

#include <math.h>

static char *float_file, *runtime_id;
static gboolean install;
static int runs, timeout;

/* "|onnxruntime|openvino" */
static const char runtime_ids[] =
#define VN_TARGET_RUNTIME(id, ...) "|" id
#include "vn-runtimes.def"
#undef VN_TARGET_RUNTIME
  ;

static const GOptionEntry entries[] = {
  { "model", 0, 0, G_OPTION_ARG_FILENAME, &float_file, N_("Float model to compare the latency with"), N_("FLOAT") },
  { "runtime", 0, 0, G_OPTION_ARG_STRING, &runtime_id,
    N_("Runtime that runs it (default: that of the target that it was quantized for, if found, or else onnxruntime)"),
    &runtime_ids[1] },
  { "runs", 0, 0, G_OPTION_ARG_INT, &runs, N_("Number of alternating runs; the shortest time counts (default: 20)"), N_("N") },
  { "timeout", 0, 0, G_OPTION_ARG_INT, &timeout, N_("Timeout of the runtime (default: 300)"), N_("SECONDS") },
  { "install", 0, 0, G_OPTION_ARG_NONE, &install,
    N_("Make a Python environment with the runtime in the folder of caches, which is used from then on where no other is named; "
       "takes packages from where pip does"), NULL },
  { NULL }
};

static void
cmd_verify_print_fault (const VnVerification *result)
{
  g_autofree char *fault = vn_verification_dup_fault (result), *remedy = vn_verification_dup_remedy (result);

  if (fault != NULL)
    vn_cmd_print ("  %s\n", fault);
  if (remedy != NULL)
    vn_cmd_print (_("    possible fixes: %s\n"), remedy);
}

static void
cmd_verify_print_outputs (const VnVerification *result)
{
  for (guint i = 0; i < result->outputs->len; i++)
    {
      const VnVerifiedOutput *output = g_ptr_array_index (result->outputs, i);
      g_autofree char *db = vn_format_db (output->sqnr_db), *title = vn_verified_output_dup_title (output);

      vn_cmd_print (_("  output %s: SQNR %s against our simulation, largest difference %.3g\n"), title, db, output->largest);
      if (!isnan (output->their_db))
        {
          g_autofree char *theirs = vn_format_db (output->their_db), *ours = vn_format_db (output->our_db);

          vn_cmd_print (_("    SQNR against the float model: %s in %s, %s in our simulation\n"), theirs, result->runtime->title,
                        ours);
        }
    }
}

static void
cmd_verify_print_time (const VnVerification *result)
{
  if (!vn_verification_has_time (result))
    return;
  if (result->float_seconds > 0)
    vn_cmd_print (_("  latency %.3f ms, %.2f times the %.3f ms of the float model (one thread)\n"), 1e3 * result->seconds,
                  result->seconds / result->float_seconds, 1e3 * result->float_seconds);
  else
    vn_cmd_print (_("  latency %.3f ms (one thread)\n"), 1e3 * result->seconds);
}

/* What the runtime tells of nodes. */
static void
cmd_verify_print_nodes (const VnVerification *result)
{
  if (!isnan (result->integer_share))
    vn_cmd_print (_("  %.1f %% integer MACs, by the kernels in use\n"), 100 * result->integer_share);
  vn_cmd_print_verified_nodes (result);
}

static void
cmd_verify_print (const VnVerification *result)
{
  vn_cmd_print (ngettext ("%s %s loads it in %.2f s and runs %u sample\n",
                          "%s %s loads it in %.2f s and runs %u samples\n", result->n_samples), result->runtime->package,
                result->version, result->load_seconds, result->n_samples);
  cmd_verify_print_outputs (result);
  cmd_verify_print_fault (result);
  cmd_verify_print_time (result);
  cmd_verify_print_nodes (result);
}

static void
cmd_verify_add_outputs (JsonBuilder          *json,
                        const VnVerification *result)
{
  const gboolean is_first = result->runtime == vn_target_runtime_get_default ();
  g_autofree char *theirs = g_strconcat (result->runtime->id, "_sqnr_db", NULL);

  vn_json_begin_array (json, "outputs");
  for (guint i = 0; i < result->outputs->len; i++)
    {
      const VnVerifiedOutput *output = g_ptr_array_index (result->outputs, i);

      json_builder_begin_object (json);
      vn_json_add_text (json, "name", output->name);
      vn_cmd_json_part (json, output->part);
      vn_json_add_number (json, "sqnr_db", output->sqnr_db);
      vn_json_add_number (json, "largest_difference", output->largest);
      if (!isnan (output->their_db))
        {
          vn_json_add_number (json, "runtime_sqnr_db", output->their_db);
          if (is_first)   /* its figures had its name when there was no other */
            vn_json_add_number (json, theirs, output->their_db);
          vn_json_add_number (json, "our_sqnr_db", output->our_db);
        }
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
}

static void
cmd_verify_add_nodes (JsonBuilder          *json,
                      const VnVerification *result)
{
  if (!isnan (result->integer_share))
    vn_json_add_number (json, "integer_share", result->integer_share);
  if (result->n_products > 0)
    {
      vn_json_add_int (json, "products", result->n_products);
      vn_json_add_int (json, "integer_products", result->n_integer_products);
      vn_verified_nodes_to_json (result->floats, "float_products", json);
    }
  if (result->n_partitions > 0)
    {
      vn_json_add_int (json, "partitions", result->n_partitions);
      vn_verified_nodes_to_json (result->fallen, "refused_nodes", json);
    }
}

static void
cmd_verify_add_json (JsonBuilder          *json,
                     const VnVerification *result)
{
  vn_json_add_text (json, "runtime", result->runtime->id);
  vn_json_add_text (json, "version", result->version);
  if (result->runtime == vn_target_runtime_get_default ())
    vn_json_add_text (json, result->runtime->id, result->version);
  vn_json_add_int (json, "samples", result->n_samples);
  vn_json_add_bool (json, "agrees", vn_verification_judge (result) == VN_AGREEMENT_SAME);
  vn_json_add_text (json, "agreement", vn_agreement_get_id (vn_verification_judge (result)));
  vn_json_add_bool (json, "saturates", result->saturates);
  if (result->saturates)
    vn_json_add_bool (json, "exact_agrees", result->exact_agrees);
  if (result->saturates && !isnan (result->exact_db))
    vn_json_add_number (json, "exact_sqnr_db", result->exact_db);
  vn_json_add_number (json, "load_seconds", result->load_seconds);
  if (vn_verification_has_time (result))
    vn_json_add_number (json, "seconds", result->seconds);
  if (result->float_seconds > 0)
    vn_json_add_number (json, "float_seconds", result->float_seconds);
  cmd_verify_add_nodes (json, result);
  cmd_verify_add_outputs (json, result);
}

static gboolean
cmd_verify_check (GError **error)
{
  if (runs >= 0 && timeout >= 0)
    return TRUE;
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, _("--%s must be a positive number"), runs < 0
               ? "runs" : "timeout");
  return FALSE;
}

static gboolean
cmd_verify_install (const VnTargetRuntime  *runtime,
                    const char             *python,
                    JsonBuilder            *json,
                    GError                **error)
{
  g_autoptr(VnJob) job = vn_ort_install_new (runtime, python);
  g_autofree char *own = NULL;

  if (!vn_cmd_run_job (job, error))
    return FALSE;
  own = vn_verify_dup_own_python (runtime);
  vn_cmd_print (_("%s is installed: %s\n"), runtime->package, own);
  vn_json_add_text (json, "python", own);
  return TRUE;
}

/* What the export says of its target, as quantizing wrote it. */
static const VnTargetRuntime *
cmd_verify_find_runtime (const VnModel *model)
{
  const char *id = vn_model_get_metadata (model, "vernier.preset");

  return vn_target_runtime_of (id != NULL ? vn_preset_find (id, NULL) : NULL);
}

static gboolean
verify_run (char        **args,
            JsonBuilder  *json,
            GError      **error)
{
  g_autofree char *python = vn_cmd_take_python (TRUE);
  g_autoptr(GError) bad = NULL;
  g_autoptr(VnDataSpec) data = vn_cmd_options.data != NULL ? vn_cmd_make_data_spec (&bad) : NULL;
  g_autoptr(VnModel) model = NULL;
  g_autoptr(GHashTable) shapes = NULL;
  g_autoptr(VnJob) job = NULL;
  g_auto(VnCmdFolder) folder = { 0 }, float_folder = { 0 };
  VnVerifySettings settings = { .path = args[0], .float_path = float_file, .data = data, .python = python,
                                .n_runs = (guint) MAX (runs, 0),
                                .timeout = (guint) MAX (timeout, 0), .n_samples = (guint) MAX (vn_cmd_options.samples, 0),
                                .n_threads = (guint) MAX (vn_cmd_options.threads, 0) };

  if (runtime_id != NULL && (settings.runtime = vn_target_runtime_find (runtime_id, error)) == NULL)
    return FALSE;
  if (vn_cmd_options.ep_library != NULL && settings.runtime != NULL && settings.runtime != vn_target_runtime_get_default ())
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, _("--ep-library cannot be combined with --runtime %s"),
                   runtime_id);
      return FALSE;
    }
  if (install)
    return cmd_verify_install (settings.runtime != NULL ? settings.runtime : vn_target_runtime_get_default (), python, json,
                               error);
  if (bad != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&bad));
      return FALSE;
    }
  if (!cmd_verify_check (error) || !vn_cmd_folder_open (&folder, &settings.path, NULL, error) ||
      (float_file != NULL && !vn_cmd_folder_open (&float_folder, &settings.float_path, NULL, error)) ||
      (model = vn_cmd_open_model_sized (settings.path, &shapes, error)) == NULL)
    return FALSE;
  vn_cmd_take_metadata (data, model);
  settings.model = model;
  settings.or_usual = settings.runtime == NULL;
  if (settings.runtime == NULL)
    settings.runtime = cmd_verify_find_runtime (model);
  settings.input_shapes = shapes;
  job = vn_verify_job_new (&settings);
  if (!vn_cmd_run_job (job, error))
    return FALSE;
  vn_cmd_print_notes (vn_verify_job_get_notes (job));
  cmd_verify_print (vn_verify_job_get_result (job));
  cmd_verify_add_json (json, vn_verify_job_get_result (job));
  vn_cmd_json_notes (json, vn_verify_job_get_notes (job));
  return TRUE;
}

static const char * const common[] = { "model", "data", "samples", "preprocess", "runtime", "runs", "timeout", "install",
                                       "python", "shape", "custom-ops", "json", NULL };

const VnCmd vn_cmd_verify = {
  .name = "verify",
  .usage = "(QUANTIZED [--model FLOAT] [--data PATH] | --install) [--runtime ID]",
  .summary = N_("Check that a quantized model loads in its runtime, gives the same outputs, and how fast it is"),
  .options = entries,
  .common = common,
  .needs_data = TRUE,
  .n_args = 1,
  .lists = &install,
  .run = verify_run,
};
