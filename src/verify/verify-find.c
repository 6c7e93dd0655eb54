/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a runtime is on this machine: the interpreter that the user names, or else the environment that was made for it, the
 * usual Python, the library. */
#include "verify-process.h"

#include "vn-ort-child.h"
#include "verify-folder.h"
#include "verify-script.h"
#include "vn-verify-error.h"

#include "vn-i18n.h"

#include <string.h>

#define PYTHON "VN_PYTHON"
#define MOST_RUNTIMES 16

/* What the last search for each came to, by its number; of vn_verify_runtime_get_state(). */
static gint states[MOST_RUNTIMES];

static const char *
verify_find_get_variable (const char *name)
{
  const char *value = name != NULL ? g_getenv (name) : NULL;

  return value != NULL && *value != '\0' ? value : NULL;
}

/* ---- what was found ---- */

static void
verify_find_set_state (const VnTargetRuntime *runtime,
                       VnRuntimeState         state)
{
  g_atomic_int_set (&states[vn_target_runtime_get_index (runtime) % MOST_RUNTIMES], (gint) state);
}

/**
 * vn_verify_runtime_get_state:
 *
 * Returns: what the last search for it came to; one that has been installed since is there
 */
VnRuntimeState
vn_verify_runtime_get_state (const VnTargetRuntime *runtime)
{
  g_autofree char *own = NULL;

  g_return_val_if_fail (runtime != NULL, VN_RUNTIME_STATE_UNKNOWN);

  own = vn_verify_dup_own_python (runtime);
  return own != NULL ? VN_RUNTIME_STATE_FOUND
                     : (VnRuntimeState) g_atomic_int_get (&states[vn_target_runtime_get_index (runtime) % MOST_RUNTIMES]);
}

/* ---- looking ---- */

/* What the user named; nothing else is tried then. */
static GPtrArray *
verify_find_list_named (const VnVerifyRequest *request)
{
  const VnTargetRuntime *runtime = request->runtime;
  const char *library = verify_find_get_variable (runtime->library), *own = verify_find_get_variable (runtime->variable);
  GPtrArray *pythons = g_ptr_array_new ();

  if (request->python != NULL)
    g_ptr_array_add (pythons, (gpointer) request->python);
  if (own != NULL)
    g_ptr_array_add (pythons, (gpointer) own);
  if (pythons->len == 0 && library == NULL && runtime->variable == NULL && verify_find_get_variable (PYTHON) != NULL)
    g_ptr_array_add (pythons, (gpointer) verify_find_get_variable (PYTHON));
  return pythons;
}

/* The first that has the runtime. @python: NULL: the library */
static gboolean
verify_find_try_each (const VnVerifyRequest  *request,
                      GPtrArray              *pythons,
                      VnVerifyReply          *reply,
                      gboolean               *missing,
                      GCancellable           *cancellable,
                      GError                **error)
{
  g_autoptr(GError) reason = NULL;

  *missing = TRUE;
  for (guint i = 0; i < pythons->len && *missing; i++)
    {
      g_clear_error (&reason);
      if (vn_verify_process_try (request, pythons->pdata[i], reply, missing, cancellable, &reason))
        return TRUE;
    }
  if (reason != NULL)
    g_propagate_error (error, g_steal_pointer (&reason));
  return FALSE;
}

/* What to do is said once, with both ways. */
static void
verify_find_explain (const VnTargetRuntime  *runtime,
                     const char             *python,
                     GError                **error)
{
  if (runtime->library != NULL)
    g_set_error (error, VN_VERIFY_ERROR, VN_VERIFY_ERROR_MISSING,
                 _("ONNX Runtime was not found: Python “%s” has no onnxruntime, and there is no libonnxruntime.so. "
                   "Install it (“vernier-cli verify --install” creates a separate environment for it), select an "
                   "interpreter with --python or VN_PYTHON, or set VN_ORT_LIBRARY"),
                 python);
  else
    g_set_error (error, VN_VERIFY_ERROR, VN_VERIFY_ERROR_MISSING,
                 _("%s was not found: Python “%s” has no %s. Install it (“vernier-cli verify --install --runtime %s” creates a "
                   "separate environment for it), or select an interpreter with --python or %s"),
                 runtime->title, python, runtime->module, runtime->id, vn_verify_script_get_variable (runtime));
}

/* What there is on this machine, where the user named nothing. What has none of them is not searched again and again. */
static gboolean
verify_find_try_found (const VnVerifyRequest  *request,
                       VnVerifyReply          *reply,
                       GCancellable           *cancellable,
                       GError                **error)
{
  const VnTargetRuntime *runtime = request->runtime;
  g_autofree char *own = vn_verify_dup_own_python (runtime);
  const char *usual = verify_find_get_variable (PYTHON) != NULL ? verify_find_get_variable (PYTHON) : "python3";
  g_autoptr(GPtrArray) pythons = g_ptr_array_new ();
  g_autoptr(GError) reason = NULL;
  gboolean missing;

  if (own != NULL)
    g_ptr_array_add (pythons, own);
  if (own != NULL || request->is_asked || vn_verify_runtime_get_state (runtime) != VN_RUNTIME_STATE_MISSING)
    {
      g_ptr_array_add (pythons, (gpointer) usual);
      if (runtime->library != NULL && vn_ort_child_is_there ())
        g_ptr_array_add (pythons, NULL);
    }
  if (verify_find_try_each (request, pythons, reply, &missing, cancellable, &reason))
    {
      verify_find_set_state (runtime, VN_RUNTIME_STATE_FOUND);
      return TRUE;
    }
  if (reason != NULL && !g_error_matches (reason, VN_VERIFY_ERROR, VN_VERIFY_ERROR_MISSING))
    {
      if (!g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_CANCELLED))
        verify_find_set_state (runtime, VN_RUNTIME_STATE_FOUND);
      g_propagate_error (error, g_steal_pointer (&reason));
      return FALSE;
    }
  verify_find_set_state (runtime, VN_RUNTIME_STATE_MISSING);
  verify_find_explain (runtime, usual, error);
  return FALSE;
}

/*< private >
 * vn_verify_process_run:
 * @reply: (out): owns what it has; vn_verify_reply_clear()
 *
 * In what the user named, or else in what there is.
 */
gboolean
vn_verify_process_run (const VnVerifyRequest *request,
                       VnVerifyReply         *reply,
                       GCancellable          *cancellable,
                       GError               **error)
{
  g_autoptr(GPtrArray) named = NULL;
  gboolean missing, found;

  g_return_val_if_fail (request != NULL && reply != NULL, FALSE);

  if (!vn_verify_process_begin (request, error))
    return FALSE;
  named = verify_find_list_named (request);
  if (request->python == NULL && verify_find_get_variable (request->runtime->library) != NULL && vn_ort_child_is_there ())
    return vn_verify_process_try (request, NULL, reply, &missing, cancellable, error);
  if (named->len == 0)
    return verify_find_try_found (request, reply, cancellable, error);
  found = verify_find_try_each (request, named, reply, &missing, cancellable, error);
  if (!g_cancellable_is_cancelled (cancellable))
    verify_find_set_state (request->runtime, missing ? VN_RUNTIME_STATE_MISSING : VN_RUNTIME_STATE_FOUND);
  return found;
}
