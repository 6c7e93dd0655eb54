/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs networks in a runtime in the user's Python, or else by its library: a process of its own, which may crash, hang or eat
 * memory without harm to ours. */
#include "verify-process.h"

#include "vn-ort-child.h"
#include "verify-folder.h"
#include "verify-script.h"
#include "vn-verify-error.h"

#include "vn-error.h"
#include "vn-file.h"
#include "vn-graph-edit.h"
#include "vn-i18n.h"
#include "vn-json.h"
#include "vn-onnx.h"

#include <glib/gstdio.h>
#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#define JOB "job.json"
#define REPLY "reply.json"
#define PROBE "probe.onnx"
#define ERRORS "stderr.txt"
#define LONGEST_REASON 400   /* bytes of what Python said */
#define LARGEST_REPLY (64u << 20)
#define LARGEST_LOG (16u << 20)

G_DEFINE_QUARK (vn-verify-error-quark, vn_verify_error)

/* Of constants the product would be done by another kernel, if at all. */
static gboolean
verify_process_write_probe (const char  *path,
                            GError     **error)
{
  const VnShape left = { .rank = 2, .dims = { 1, VN_VERIFY_PROBE_LENGTH } },
  right = { .rank = 2, .dims = { VN_VERIFY_PROBE_LENGTH, 1 } };
  const VnShape one = { .rank = 2, .dims = { 1, 1 } };
  g_autoptr(VnModel) model = vn_model_new (8, 13);
  VnValue *operands[] = { vn_graph_add_input (model->graph, "a", VN_DTYPE_U8, &left),
                          vn_graph_add_input (model->graph, "b", VN_DTYPE_S8, &right) };
  VnValue *sum = vn_graph_add_value (model->graph, "sum", VN_DTYPE_S32, &one);

  vn_graph_add_node (model->graph, "product", "", "MatMulInteger", operands, G_N_ELEMENTS (operands), &sum, 1);
  vn_graph_set_output (model->graph, 0, sum);
  return vn_onnx_write_file (model, path, NULL, NULL, error);
}

static void
verify_process_add_plugin (JsonBuilder       *json,
                           const VnOrtPlugin *plugin)
{
  vn_json_begin_object (json, "provider");
  vn_json_add_text_if (json, "name", plugin->name);
  vn_json_add_text_if (json, "library", plugin->path);
  vn_json_begin_object (json, "options");
  for (guint i = 0; i < plugin->n_options; i++)
    vn_json_add_text (json, plugin->keys[i], plugin->values[i]);
  json_builder_end_object (json);
  json_builder_end_object (json);
}

static gboolean
verify_process_write_job (const VnVerifyRequest  *request,
                          GError                **error)
{
  g_autoptr(JsonBuilder) json = json_builder_new ();
  g_autoptr(JsonGenerator) generator = json_generator_new ();
  g_autoptr(JsonNode) root = NULL;
  g_autofree char *path = g_build_filename (request->folder, JOB, NULL), *probe = g_build_filename (request->folder, PROBE, NULL);
  g_autofree char *text = NULL;
  gsize size;

  if (!verify_process_write_probe (probe, error))
    return FALSE;
  json_builder_begin_object (json);
  vn_json_add_text (json, "model", request->model);
  vn_json_add_text (json, "float_model", request->float_model != NULL ? request->float_model : "");
  vn_json_begin_array (json, "inputs");
  for (guint i = 0; i < request->inputs->len; i++)
    json_builder_add_string_value (json, g_ptr_array_index (request->inputs, i));
  json_builder_end_array (json);
  vn_json_add_text (json, "optimized", request->optimized != NULL ? request->optimized : "");
  vn_json_add_text (json, "custom_ops", request->custom_ops != NULL ? request->custom_ops : "");
  if (request->plugin != NULL)
    verify_process_add_plugin (json, request->plugin);
  vn_json_add_text (json, "probe", probe);
  vn_json_add_int (json, "probe_length", VN_VERIFY_PROBE_LENGTH);
  vn_json_add_int (json, "probe_sum", VN_VERIFY_PROBE_SUM);
  vn_json_add_int (json, "samples", request->n_samples);
  vn_json_add_int (json, "runs", request->n_runs);
  vn_json_add_number (json, "seconds", request->seconds);
  vn_json_add_bool (json, "look", request->looks);
  json_builder_end_object (json);
  root = json_builder_get_root (json);
  json_generator_set_root (generator, root);
  text = json_generator_to_data (generator, &size);
  return vn_file_write_all (path, text, size, error);
}

/* ---- waiting ---- */

typedef struct
{
  gboolean ended, late;
} Wait;

static void
verify_process_ended (GObject      *source,
                      GAsyncResult *result,
                      gpointer      data)
{
  ((Wait *) data)->ended = TRUE;
  g_subprocess_wait_finish (G_SUBPROCESS (source), result, NULL);
}

static gboolean
verify_process_is_late (gpointer data)
{
  ((Wait *) data)->late = TRUE;
  return G_SOURCE_REMOVE;
}

/* FALSE: it had to be ended, as it was cancelled or took too long. */
static gboolean
verify_process_wait (GSubprocess   *process,
                     guint          timeout,
                     GCancellable  *cancellable)
{
  GMainContext *context = g_main_context_new ();
  GSource *timer = g_timeout_source_new_seconds (timeout);
  Wait wait = { FALSE, FALSE };
  gboolean stopped;

  g_main_context_push_thread_default (context);
  g_source_set_callback (timer, verify_process_is_late, &wait, NULL);
  g_source_attach (timer, context);
  g_subprocess_wait_async (process, cancellable, verify_process_ended, &wait);
  while (!wait.ended && !wait.late)
    g_main_context_iteration (context, TRUE);
  stopped = wait.late || g_cancellable_is_cancelled (cancellable);
  if (stopped)
    g_subprocess_force_exit (process);
  while (!wait.ended)
    g_main_context_iteration (context, TRUE);
  g_subprocess_wait (process, NULL, NULL);
  g_source_destroy (timer);
  g_source_unref (timer);
  g_main_context_pop_thread_default (context);
  g_main_context_unref (context);
  return !stopped;
}

static GSubprocess *
verify_process_start (const VnVerifyRequest  *request,
                      const char             *python,
                      GError                **error)
{
  g_autoptr(GSubprocessLauncher) launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDOUT_SILENCE);
  g_autofree char *errors = g_build_filename (request->folder, ERRORS, NULL);
  g_autofree char *script = vn_verify_script_new (request->runtime);
  const char *in_python[] = { python, "-u", "-B", "-c", script, request->folder, NULL };
  const char *in_library[] = { "/proc/self/exe", VN_ORT_CHILD, request->folder, NULL };
  g_autoptr(GError) reason = NULL;
  GSubprocess *process;

  g_subprocess_launcher_set_stderr_file_path (launcher, errors);
  g_subprocess_launcher_setenv (launcher, "TMPDIR", request->folder, TRUE);   /* what libraries leave there goes with it */
  process = g_subprocess_launcher_spawnv (launcher, python != NULL ? in_python : in_library, &reason);
  if (process == NULL)
    g_set_error (error, VN_VERIFY_ERROR, VN_VERIFY_ERROR_MISSING,
                 _("%s is looked for in Python, but “%s” does not start; name the interpreter that has it with "
                   "--python or "
                   "in %s: %s"), request->runtime->title, python != NULL ? python : in_library[0],
                 vn_verify_script_get_variable (request->runtime), reason->message);
  return process;
}

/* ---- what it said ---- */

/* (nullable): all that it wrote to standard error, from its beginning */
static char *
verify_process_dup_log (const VnVerifyRequest *request)
{
  g_autofree char *path = g_build_filename (request->folder, ERRORS, NULL);
  g_autoptr(GFile) file = g_file_new_for_path (path);
  g_autoptr(GFileInputStream) stream = g_file_read (file, NULL, NULL);
  g_autoptr(GBytes) bytes = stream != NULL ? g_input_stream_read_bytes (G_INPUT_STREAM (stream), LARGEST_LOG, NULL, NULL) : NULL;

  return bytes != NULL ? g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes)) : NULL;
}

/* The last line that says something. */
static char *
verify_process_dup_errors (const VnVerifyRequest *request)
{
  g_autofree char *text = verify_process_dup_log (request);
  const char *line;

  if (text == NULL)
    return g_strdup ("");
  g_strchomp (text);
  line = strrchr (text, '\n');
  return g_utf8_make_valid (line != NULL ? line + 1 : text, (gssize) strnlen (line != NULL ? line + 1 : text, LONGEST_REASON));
}

/* Of another kind than it should be: as if it were not there. */
static JsonNode *
verify_process_get_member (JsonObject *object,
                           const char *name,
                           GType       type)
{
  JsonNode *node = json_object_get_member (object, name);

  return node != NULL && JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == type ? node : NULL;
}

static char *
verify_process_dup_member (JsonObject *object,
                           const char *name)
{
  JsonNode *node = verify_process_get_member (object, name, G_TYPE_STRING);

  return g_strdup (node != NULL ? json_node_get_string (node) : "?");
}

static double
verify_process_read_seconds (JsonObject *object,
                             const char *name)
{
  JsonNode *node = verify_process_get_member (object, name, G_TYPE_DOUBLE);
  const double seconds = node != NULL ? json_node_get_double (node) : 0;

  return isfinite (seconds) && seconds > 0 ? seconds : 0;
}

static gboolean
verify_process_read_flag (JsonObject *object,
                          const char *name)
{
  JsonNode *node = verify_process_get_member (object, name, G_TYPE_BOOLEAN);

  return node != NULL && json_node_get_boolean (node);
}

static gboolean
verify_process_is_small (const char *path)
{
  GStatBuf info;

  return g_lstat (path, &info) == 0 && S_ISREG (info.st_mode) && info.st_size <= LARGEST_REPLY;
}

static void
verify_process_explain_import (const VnVerifyRequest  *request,
                               const char             *python,
                               const char             *reason,
                               GError                **error)
{
  const VnTargetRuntime *runtime = request->runtime;

  if (python == NULL)
    g_set_error (error, VN_VERIFY_ERROR, VN_VERIFY_ERROR_MISSING,
                 _("The ONNX Runtime library cannot be used: %s; set VN_ORT_LIBRARY to another one, or select a "
                   "Python with onnxruntime with --python or VN_PYTHON"), reason);
  else
    g_set_error (error, VN_VERIFY_ERROR, VN_VERIFY_ERROR_MISSING,
                 _("Python “%s” has no %s (%s): install it there (pip install %s), or select "
                   "another interpreter with --python or %s"), python, runtime->module, reason,
                 runtime->package, vn_verify_script_get_variable (runtime));
}

static void
verify_process_explain (const VnVerifyRequest  *request,
                        JsonObject             *object,
                        const char             *python,
                        gboolean               *missing,
                        GError                **error)
{
  const char *title = request->runtime->title;
  g_autofree char *stage = verify_process_dup_member (object, "stage"), *said = verify_process_dup_member (object, "error");
  g_autofree char *start = g_strndup (said, LONGEST_REASON), *valid = g_utf8_make_valid (start, -1);
  g_autofree char *reason = g_strconcat (g_strstrip (valid), strlen (said) > LONGEST_REASON ? " …" : "", NULL);

  *missing = g_str_equal (stage, "import");
  if (*missing)
    verify_process_explain_import (request, python, reason, error);
  else if (g_str_equal (stage, "float"))
    g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("%s cannot run the float model “%s”: %s"), title,
                 request->float_model, reason);
  else
    g_set_error (error, VN_VERIFY_ERROR, VN_VERIFY_ERROR_REFUSED,
                 g_str_equal (stage, "load") ? _("%s does not load %s: %s") : _("%s loads %s, but cannot run it: %s"),
                 title, request->name, reason);
}

/* ---- the reply ---- */

static void
verify_process_read_figures (const VnVerifyRequest *request,
                             JsonObject            *object,
                             VnVerifyReply         *reply)
{
  JsonNode *facts = json_object_get_member (object, "facts");

  reply->version = verify_process_dup_member (object, "version");
  reply->load_seconds = verify_process_read_seconds (object, "load_seconds");
  reply->seconds = verify_process_read_seconds (object, "seconds");
  reply->float_seconds = verify_process_read_seconds (object, "float_seconds");
  reply->saturates = verify_process_read_flag (object, "saturates");
  reply->facts = facts != NULL ? json_node_copy (facts) : NULL;
  reply->log = request->runtime->facts.log != NULL ? verify_process_dup_log (request) : NULL;
}

static gboolean
verify_process_read_reply (const VnVerifyRequest  *request,
                           const char             *python,
                           VnVerifyReply          *reply,
                           gboolean               *missing,
                           GError                **error)
{
  g_autoptr(JsonParser) parser = json_parser_new ();
  g_autofree char *path = g_build_filename (request->folder, REPLY, NULL);
  JsonNode *root;

  if (!verify_process_is_small (path) || !json_parser_load_from_file (parser, path, NULL) ||
      (root = json_parser_get_root (parser)) == NULL || !JSON_NODE_HOLDS_OBJECT (root))
    {
      g_autofree char *errors = verify_process_dup_errors (request);

      g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED,
                   python == NULL ? _("lib%s terminated without a result; it may have crashed or run out of memory: %s")
                   : _("Python with %s terminated without a result; it may have crashed or run out "
                       "of memory: %s"), python == NULL ? request->runtime->module : request->runtime->title, errors);
      return FALSE;
    }
  if (json_object_has_member (json_node_get_object (root), "error"))
    {
      verify_process_explain (request, json_node_get_object (root), python, missing, error);
      return FALSE;
    }
  verify_process_read_figures (request, json_node_get_object (root), reply);
  return TRUE;
}

/*< private >
 * vn_verify_process_try:
 * @python: (nullable): interpreter; %NULL: the library, by this program
 * @reply: (out): owns what it has; vn_verify_reply_clear()
 * @missing: (out): there is no runtime
 *
 * Runs the networks once, with what vn_verify_process_begin() has written.
 */
gboolean
vn_verify_process_try (const VnVerifyRequest  *request,
                       const char             *python,
                       VnVerifyReply          *reply,
                       gboolean               *missing,
                       GCancellable           *cancellable,
                       GError                **error)
{
  g_autofree char *old = NULL;
  g_autoptr(GSubprocess) process = NULL;

  g_return_val_if_fail (request != NULL && reply != NULL && missing != NULL, FALSE);

  old = g_build_filename (request->folder, REPLY, NULL);
  g_unlink (old);
  process = verify_process_start (request, python, error);
  *missing = process == NULL;
  if (process == NULL)
    return FALSE;
  if (verify_process_wait (process, request->timeout, cancellable))
    return verify_process_read_reply (request, python, reply, missing, error);
  if (!g_cancellable_set_error_if_cancelled (cancellable, error))
    g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED,
                 ngettext ("%s did not finish within %u second: increase --timeout, or use fewer samples",
                           "%s did not finish within %u seconds: increase --timeout, or use fewer samples",
                           request->timeout),
                 request->runtime->title, request->timeout);
  return FALSE;
}

/*< private >
 * vn_verify_process_begin:
 *
 * Writes what the process is asked for.
 */
gboolean
vn_verify_process_begin (const VnVerifyRequest  *request,
                         GError                **error)
{
  g_return_val_if_fail (request != NULL, FALSE);

  return verify_process_write_job (request, error);
}

/*< private >
 * vn_verify_reply_clear:
 */
void
vn_verify_reply_clear (VnVerifyReply *self)
{
  g_return_if_fail (self != NULL);

  g_clear_pointer (&self->version, g_free);
  g_clear_pointer (&self->log, g_free);
  g_clear_pointer (&self->facts, json_node_unref);
}
