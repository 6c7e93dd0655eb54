/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is run in a runtime without being asked for: whether anything is, which exports, and in which one. */
#include "vn-verify-job.h"
#include "verify-folder.h"
#include "verify-process.h"

#include "vn-backend.h"
#include "vn-error.h"
#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-memory.h"

#define LOOKING_TIMEOUT 60   /* seconds */
#define COPIES 3           /* of the weights: as files are read, as kernels hold them, and what is computed */

static gint has_looked;   /* for runtimes, or somebody does */

static gboolean
verify_usual_is_set (const char *name)
{
  const char *value = g_getenv (name);

  return value != NULL && *value != '\0';
}

/**
 * vn_verify_job_is_usual:
 *
 * Returns: whether exports are run in ONNX Runtime without being asked for, which the environment can switch off
 */
gboolean
vn_verify_job_is_usual (void)
{
  return !verify_usual_is_set ("VN_NO_VERIFY");
}

static void
verify_usual_look_for (const VnTargetRuntime *runtime,
                       const char            *folder,
                       GCancellable          *cancellable)
{
  g_autoptr(GPtrArray) inputs = g_ptr_array_new ();
  const VnVerifyRequest request = { .runtime = runtime, .folder = folder, .model = "", .name = "", .inputs = inputs,
                                    .timeout = LOOKING_TIMEOUT, .looks = TRUE };
  VnVerifyReply reply = { NULL };

  vn_verify_process_run (&request, &reply, cancellable, NULL);
  vn_verify_reply_clear (&reply);
}

/**
 * vn_verify_job_needs_look:
 *
 * Returns: whether nobody has looked yet which runtimes there are: vn_verify_job_look_for_runtimes()
 */
gboolean
vn_verify_job_needs_look (void)
{
  return !g_atomic_int_get (&has_looked);
}

/**
 * vn_verify_job_look_for_runtimes:
 * @cancellable: (nullable):
 *
 * Looks for each runtime, for vn_verify_runtime_get_state(), without running anything in it, once. From any thread; it takes a
 * second for each.
 */
void
vn_verify_job_look_for_runtimes (GCancellable *cancellable)
{
  guint n;
  const VnTargetRuntime *runtimes = vn_target_runtime_list (&n);
  g_autofree char *folder = NULL;

  if (!g_atomic_int_compare_and_exchange (&has_looked, FALSE, TRUE))
    return;
  folder = g_dir_make_tmp ("vernier-verify-XXXXXX", NULL);
  for (guint i = 0; i < n && folder != NULL; i++)
    verify_usual_look_for (&runtimes[i], folder, cancellable);
  if (g_cancellable_is_cancelled (cancellable))
    g_atomic_int_set (&has_looked, FALSE);
  if (folder != NULL)
    vn_verify_folder_remove (folder);
}

/**
 * vn_verify_runtime_of:
 * @result: of a run
 *
 * Returns: (transfer none): what runs its target, if that can run here; or else ONNX Runtime
 */
const VnTargetRuntime *
vn_verify_runtime_of (const VnRun *result)
{
  const VnTargetRuntime *runtime;

  g_return_val_if_fail (result != NULL, NULL);

  runtime = result->recipe != NULL ? vn_target_runtime_of (vn_recipe_get_target (result->recipe)) : NULL;
  return runtime != NULL ? runtime : vn_target_runtime_get_default ();
}

/**
 * vn_verify_runtime_for:
 * @result: of a run
 *
 * Returns: (transfer none): what its export is run in: what runs its target here, unless that was looked for and not found; or
 *   else ONNX Runtime
 */
const VnTargetRuntime *
vn_verify_runtime_for (VnRun *result)
{
  const VnTargetRuntime *runtime;

  g_return_val_if_fail (result != NULL, NULL);

  runtime = vn_verify_runtime_of (result);
  return vn_verify_runtime_get_state (runtime) != VN_RUNTIME_STATE_MISSING
         ? runtime : vn_target_runtime_get_default ();
}

/**
 * vn_verify_runtime_missing:
 * @result: of a run
 *
 * Returns: (transfer none) (nullable): what would run its export and was looked for, and not found; one that the program installs
 *   would be used then, unless the environment names another
 */
const VnTargetRuntime *
vn_verify_runtime_missing (VnRun *result)
{
  const VnTargetRuntime *all[2];

  g_return_val_if_fail (result != NULL, NULL);

  all[0] = vn_verify_runtime_of (result);
  all[1] = vn_target_runtime_get_default ();
  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    if (vn_verify_runtime_get_state (all[i]) == VN_RUNTIME_STATE_MISSING)
      return all[i];
  return NULL;
}

/* Operators that neither the standard nor ONNX Runtime has, nor a library that it loads, and that are not spelled out in the
 * file. */
static const VnNode *
verify_usual_find_foreign (const VnModel *model)
{
  static const char * const known[] = { "", "ai.onnx", "ai.onnx.ml", "com.microsoft", NULL };

  for (guint i = 0; i < model->graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (model->graph->nodes, i);
      gboolean found = g_strv_contains (known, node->domain) || vn_backend_has_kernel (node);

      for (guint k = 0; k < model->functions->len && !found; k++)
        {
          const VnFunction *function = g_ptr_array_index (model->functions, k);

          found = g_str_equal (function->name, node->op_type) && g_str_equal (function->domain, node->domain);
        }
      if (!found)
        return node;
    }
  return NULL;
}

/**
 * vn_verify_job_suits:
 * @result: of a run
 *
 * Returns: whether what it exports can be run in ONNX Runtime without being asked for; %FALSE with the reason: it is for another
 *   runtime, computes with bfloat16, or is too large
 */
gboolean
vn_verify_job_suits (VnRun   *result,
                     GError **error)
{
  const VnNode *foreign;
  g_autofree char *gaps = NULL;
  gsize need;

  g_return_val_if_fail (result != NULL && result->quantized != NULL, FALSE);

  foreign = verify_usual_find_foreign (result->quantized);
  if (vn_verify_runtime_for (result) == vn_target_runtime_get_default ())
    gaps = vn_runtime_dup_bfloat_gaps (result->quantized->graph);
  need = COPIES * (result->float_bytes + result->quantized_bytes);
  if (foreign != NULL)
    g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("%s of “%s” is an operator of another runtime"), foreign->op_type,
                 foreign->domain);
  else if (gaps != NULL)
    g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("ONNX Runtime has no bfloat16 kernels for %s on a CPU"), gaps);
  else if (need > vn_memory_get_budget ())
    {
      g_autofree char *size = vn_format_bytes (need);

      g_set_error (error, VN_ERROR, VN_ERROR_LIMIT,
                   _("it would take about %s of memory; --verify, or the button Verify, does it all the same"), size);
    }
  else
    return TRUE;
  return FALSE;
}
