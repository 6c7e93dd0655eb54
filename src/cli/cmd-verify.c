/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command "verify": an export in ONNX Runtime itself: whether it loads, agrees with our outputs, and how long it takes. */
#include "vn-cmd.h"

#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-ort-install.h"
#include "verify-folder.h"
#include "vn-verify-job.h"

#include <math.h>

static char *float_file;
static gboolean install;
static int runs, timeout;

static const GOptionEntry entries[] = {
  { "model", 0, 0, G_OPTION_ARG_FILENAME, &float_file, N_("Float model to compare the latency with"), N_("FLOAT") },
  { "runs", 0, 0, G_OPTION_ARG_INT, &runs, N_("Number of alternating runs; the shortest time counts (default: 20)"), N_("N") },
  { "timeout", 0, 0, G_OPTION_ARG_INT, &timeout, N_("Timeout of ONNX Runtime (default: 300)"), N_("SECONDS") },
  { "install", 0, 0, G_OPTION_ARG_NONE, &install,
    N_("Make a Python environment with onnxruntime in the folder of caches, which is used from then on where no other is named; "
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
cmd_verify_print (const VnVerification *result)
{
  vn_cmd_print (ngettext ("onnxruntime %s loads it in %.2f s and runs %u sample\n",
                          "onnxruntime %s loads it in %.2f s and runs %u samples\n", result->n_samples), result->version,
                          result->load_seconds, result->n_samples);
  for (guint i = 0; i < result->outputs->len; i++)
    {
      const VnVerifiedOutput *output = g_ptr_array_index (result->outputs, i);
      g_autofree char *db = vn_format_db (output->sqnr_db), *title = vn_verified_output_dup_title (output);

      vn_cmd_print (_("  output %s: SQNR %s against our simulation, largest difference %.3g\n"), title, db, output->largest);
      if (!isnan (output->their_db))
        {
          g_autofree char *theirs = vn_format_db (output->their_db), *ours = vn_format_db (output->our_db);

          vn_cmd_print (_("    SQNR against the float model: %s in ONNX Runtime, %s in our simulation\n"), theirs, ours);
        }
    }
  cmd_verify_print_fault (result);
  if (result->float_seconds > 0)
    vn_cmd_print (_("  latency %.3f ms, %.2f times the %.3f ms of the float model (one thread)\n"), 1e3 * result->seconds,
                  result->seconds / result->float_seconds, 1e3 * result->float_seconds);
  else
    vn_cmd_print (_("  latency %.3f ms (one thread)\n"), 1e3 * result->seconds);
  if (!isnan (result->integer_share))
    vn_cmd_print (_("  %.1f %% integer MACs, by the kernels in use\n"), 100 * result->integer_share);
}

static void
cmd_verify_add_json (JsonBuilder          *json,
                     const VnVerification *result)
{
  vn_json_add_text (json, "onnxruntime", result->version);
  vn_json_add_int (json, "samples", result->n_samples);
  vn_json_add_bool (json, "agrees", vn_verification_judge (result) == VN_AGREEMENT_SAME);
  vn_json_add_text (json, "agreement", vn_agreement_get_id (vn_verification_judge (result)));
  vn_json_add_bool (json, "saturates", result->saturates);
  if (result->saturates)
    vn_json_add_bool (json, "exact_agrees", result->exact_agrees);
  if (result->saturates && !isnan (result->exact_db))
    vn_json_add_number (json, "exact_sqnr_db", result->exact_db);
  vn_json_add_number (json, "load_seconds", result->load_seconds);
  vn_json_add_number (json, "seconds", result->seconds);
  if (result->float_seconds > 0)
    vn_json_add_number (json, "float_seconds", result->float_seconds);
  if (!isnan (result->integer_share))
    vn_json_add_number (json, "integer_share", result->integer_share);
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
          vn_json_add_number (json, "onnxruntime_sqnr_db", output->their_db);
          vn_json_add_number (json, "our_sqnr_db", output->our_db);
        }
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
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
cmd_verify_install (const char   *python,
                    JsonBuilder  *json,
                    GError      **error)
{
  g_autoptr(VnJob) job = vn_ort_install_new (python);
  g_autofree char *own = NULL;

  if (!vn_cmd_run_job (job, error))
    return FALSE;
  own = vn_verify_dup_own_python ();
  vn_cmd_print (_("onnxruntime is installed: %s\n"), own);
  vn_json_add_text (json, "python", own);
  return TRUE;
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
  VnVerifySettings settings = { .path = args[0], .float_path = float_file, .data = data, .python = python,
                                .n_runs = (guint) MAX (runs, 0),
                                .timeout = (guint) MAX (timeout, 0), .n_samples = (guint) MAX (vn_cmd_options.samples, 0),
                                .n_threads = (guint) MAX (vn_cmd_options.threads, 0) };

  if (install)
    return cmd_verify_install (python, json, error);
  if (bad != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&bad));
      return FALSE;
    }
  if (!cmd_verify_check (error) || (model = vn_cmd_open_model_sized (args[0], &shapes, error)) == NULL)
    return FALSE;
  vn_cmd_take_metadata (data, model);
  settings.model = model;
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

const VnCmd vn_cmd_verify = {
  .name = "verify",
  .usage = "(QUANTIZED [--model FLOAT] [--data PATH] | --install)",
  .summary = N_("Check that a quantized model loads in ONNX Runtime, gives the same outputs, and how fast it is"),
  .options = entries,
  .needs_data = TRUE,
  .n_args = 1,
  .lists = &install,
  .run = verify_run,
};
