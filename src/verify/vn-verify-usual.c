/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is run in ONNX Runtime without being asked for: whether anything is, and which exports. */
#include "vn-verify-job.h"
#include "verify-folder.h"
#include "verify-process.h"

#include "vn-error.h"
#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-memory.h"

#define LOOKING_TIMEOUT 60   /* seconds */
#define COPIES 3           /* of the weights: as files are read, as kernels hold them, and what is computed */

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

/**
 * vn_verify_job_look_for_runtime:
 * @cancellable: (nullable):
 *
 * Looks for an ONNX Runtime, for vn_verify_job_lacks_runtime(), without running anything in it: only where the environment names
 * none, and once. From any thread; it takes a second.
 */
void
vn_verify_job_look_for_runtime (GCancellable *cancellable)
{
  static gint has_looked;
  g_autofree char *folder = NULL;
  g_autoptr(GPtrArray) inputs = NULL;
  VnVerifyRequest request = { 0 };
  VnVerifyReply reply = { NULL };

  if (verify_usual_is_set ("VN_PYTHON") || verify_usual_is_set ("VN_ORT_LIBRARY") ||
      !g_atomic_int_compare_and_exchange (&has_looked, FALSE, TRUE))
    return;
  folder = g_dir_make_tmp ("vernier-verify-XXXXXX", NULL);
  inputs = g_ptr_array_new ();
  /* a runtime that there is says that it cannot load this */
  request = (VnVerifyRequest) { .python = "python3", .folder = folder, .model = "", .name = "", .inputs = inputs,
                                .timeout = LOOKING_TIMEOUT };
  if (folder != NULL && !vn_verify_process_run (&request, &reply, cancellable, NULL) && g_cancellable_is_cancelled (cancellable))
    g_atomic_int_set (&has_looked, FALSE);
  g_free (reply.version);
  if (folder != NULL)
    vn_verify_folder_remove (folder);
}

/* Operators that neither the standard nor ONNX Runtime has, and that are not spelled out in the file. */
static const VnNode *
verify_usual_find_foreign (const VnModel *model)
{
  static const char * const known[] = { "", "ai.onnx", "ai.onnx.ml", "com.microsoft", NULL };

  for (guint i = 0; i < model->graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (model->graph->nodes, i);
      gboolean found = g_strv_contains (known, node->domain);

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
 *   runtime, or too large
 */
gboolean
vn_verify_job_suits (VnRun   *result,
                     GError **error)
{
  const VnNode *foreign;
  gsize need;

  g_return_val_if_fail (result != NULL && result->quantized != NULL, FALSE);

  foreign = verify_usual_find_foreign (result->quantized);
  need = COPIES * (result->float_bytes + result->quantized_bytes);
  if (foreign != NULL)
    g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("%s of “%s” is an operator of another runtime"), foreign->op_type,
                 foreign->domain);
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

/**
 * vn_verify_job_lacks_runtime:
 *
 * Returns: whether this program has looked for an ONNX Runtime and found none: one that it installs itself would be used, as
 *   nobody has named another
 */
gboolean
vn_verify_job_lacks_runtime (void)
{
  return vn_verify_process_lacks_runtime ();
}
