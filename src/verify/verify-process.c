/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs networks in onnxruntime in the user's Python, or else by libonnxruntime: a process of its own, which may crash, hang or
 * eat memory without harm to ours. */
#include "verify-process.h"

#include "vn-ort-child.h"
#include "verify-folder.h"
#include "vn-verify-error.h"

#include "vn-error.h"
#include "vn-file.h"
#include "vn-graph-edit.h"
#include "vn-i18n.h"
#include "vn-json.h"
#include "vn-onnx.h"

#include <glib/gstdio.h>
#include <json-glib/json-glib.h>
#include <string.h>

#define JOB "job.json"
#define REPLY "reply.json"
#define PROBE "probe.onnx"
#define ERRORS "stderr.txt"
#define LONGEST_REASON 400   /* bytes of what Python said */

G_DEFINE_QUARK (vn-verify-error-quark, vn_verify_error)

/* What runs there. It answers with a file, so that what libraries print cannot get between. */
static const char script[] =
  "import sys\n"
  "sys.path[:] = [p for p in sys.path if p not in ('', '.')]\n"   /* the current folder may be somebody else's */
  "import json, os, time\n"
  "folder = sys.argv[1]\n"
  "with open(os.path.join(folder, 'job.json'), encoding='utf-8') as file:\n"
  "    job = json.load(file)\n"
  "def reply(**what):\n"
  "    with open(os.path.join(folder, 'reply.part'), 'w', encoding='utf-8') as out:\n"
  "        json.dump(what, out)\n"
  "    os.replace(os.path.join(folder, 'reply.part'), os.path.join(folder, 'reply.json'))\n"
  "    sys.exit(0)\n"
  "stage = 'import'\n"
  "try:\n"
  "    import numpy\n"
  "    import onnxruntime\n"
  "    stage = 'float' if job['float_model'] else 'load'\n"
  "    options = onnxruntime.SessionOptions()\n"
  "    options.intra_op_num_threads = options.inter_op_num_threads = 1\n"
  "    options.log_severity_level = 4\n"
  "    def find_saturation():\n"
  "        a, b = numpy.full((1, job['probe_length']), 255, numpy.uint8), numpy.full((job['probe_length'], 1), 127, numpy.int8)\n"
  "        probe = onnxruntime.InferenceSession(job['probe'], options, providers=['CPUExecutionProvider'])\n"
  "        return probe.run(None, {'a': a, 'b': b})[0].item() != job['probe_sum']\n"
  "    def open_exact():\n"
  "        exactly = onnxruntime.SessionOptions()\n"
  "        exactly.intra_op_num_threads = exactly.inter_op_num_threads = 1\n"
  "        exactly.log_severity_level = 4\n"
  "        exactly.add_session_config_entry('session.x64quantprecision', '1')\n"
  "        return onnxruntime.InferenceSession(job['model'], exactly, providers=['CPUExecutionProvider'])\n"
  "    def attempt(what, otherwise):\n"
  "        try:\n"
  "            return what()\n"
  "        except Exception:\n"
  "            return otherwise\n"
  "    saturates = attempt(find_saturation, False)\n"
  "    def open_session(name):\n"
  "        return onnxruntime.InferenceSession(job[name], options, providers=['CPUExecutionProvider'])\n"
  "    floats = [open_session('float_model')] if job['float_model'] else []\n"
  "    stage = 'load'\n"
  "    began = time.perf_counter()\n"
  "    sessions = [open_session('model'), *floats]\n"
  "    load = time.perf_counter() - began\n"
  "    exact = attempt(open_exact, None) if saturates else None\n"
  "    stage = 'run'\n"
  "    halves = [{i.name for i in session.get_inputs() if i.type == 'tensor(float16)'} for session in sessions]\n"
  "    def run(k):\n"
  "        return sessions[k].run(None, fitting[k])\n"
  "    def fit(feeds, k):\n"
  "        return {name: value.astype(numpy.float16) if name in halves[k] else value for name, value in feeds.items()}\n"
  "    for s in reversed(range(job['samples'])):\n"
  "        feeds = {name: numpy.load(os.path.join(folder, '%d-%d.npy' % (s, i))) for i, name in enumerate(job['inputs'])}\n"
  "        fitting = [fit(feeds, k) for k in range(len(sessions))]\n"
  "        stage = 'float'\n"
  "        wanted = run(1) if floats else []\n"
  "        stage = 'run'\n"
  "        for o, value in enumerate(run(0)):\n"
  "            numpy.save(os.path.join(folder, 'out-%d-%d.npy' % (s, o)), value)\n"
  "        for o, value in enumerate(attempt(lambda: exact.run(None, fitting[0]), []) if exact else []):\n"
  "            numpy.save(os.path.join(folder, 'exact-%d-%d.npy' % (s, o)), value)\n"
  "        if floats and [o.name for o in sessions[0].get_outputs()] == [o.name for o in floats[0].get_outputs()]:\n"
  "            for o, value in enumerate(wanted):\n"
  "                numpy.save(os.path.join(folder, 'float-%d-%d.npy' % (s, o)), value)\n"
  "    best = [float('inf')] * len(sessions)\n"
  "    until = time.perf_counter() + (job['seconds'] or float('inf'))\n"
  "    for r in range(job['runs']):\n"
  "        if r >= 3 and time.perf_counter() > until:\n"
  "            break\n"
  "        for k in range(len(sessions)):\n"
  "            stage = 'float' if k else 'run'\n"
  "            began = time.perf_counter()\n"
  "            run(k)\n"
  "            best[k] = min(best[k], time.perf_counter() - began)\n"
  "    if job['optimized']:\n"
  "        sessions.clear()\n"
  "        try:\n"
  "            options.optimized_model_filepath = job['optimized']\n"
  "            open_session('model')\n"
  "        except Exception:\n"
  "            pass\n"
  "    reply(version=onnxruntime.__version__, saturates=saturates, load_seconds=load, seconds=best[0], float_seconds=best[1] if "
  "len(best) > 1 else 0)\n"
  "except Exception as error:\n"
  "    reply(stage=stage, error='%s: %s' % (type(error).__name__, error))\n";

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
  vn_json_add_text (json, "probe", probe);
  vn_json_add_int (json, "probe_length", VN_VERIFY_PROBE_LENGTH);
  vn_json_add_int (json, "probe_sum", VN_VERIFY_PROBE_SUM);
  vn_json_add_int (json, "samples", request->n_samples);
  vn_json_add_int (json, "runs", request->n_runs);
  vn_json_add_number (json, "seconds", request->seconds);
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
                      gboolean                library,
                      GError                **error)
{
  g_autoptr(GSubprocessLauncher) launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDOUT_SILENCE);
  g_autofree char *errors = g_build_filename (request->folder, ERRORS, NULL);
  const char *in_python[] = { request->python, "-u", "-B", "-c", script, request->folder, NULL };
  const char *in_library[] = { "/proc/self/exe", VN_ORT_CHILD, request->folder, NULL };
  g_autoptr(GError) reason = NULL;
  GSubprocess *process;

  g_subprocess_launcher_set_stderr_file_path (launcher, errors);
  g_subprocess_launcher_setenv (launcher, "TMPDIR", request->folder, TRUE);   /* what libraries leave there goes with it */
  process = g_subprocess_launcher_spawnv (launcher, library ? in_library : in_python, &reason);
  if (process == NULL)
    g_set_error (error, VN_VERIFY_ERROR, VN_VERIFY_ERROR_MISSING,
                 _("ONNX Runtime is looked for in Python, but “%s” does not start; name the interpreter that has it with "
                   "--python or "
                   "in VN_PYTHON: %s"), library ? in_library[0] : request->python, reason->message);
  return process;
}

/* ---- what it said ---- */

/* The last line that says something. */
static char *
verify_process_dup_errors (const VnVerifyRequest *request)
{
  g_autofree char *path = g_build_filename (request->folder, ERRORS, NULL);
  g_autofree char *text = NULL;
  const char *line;

  if (!g_file_get_contents (path, &text, NULL, NULL))
    return g_strdup ("");
  g_strchomp (text);
  line = strrchr (text, '\n');
  return g_utf8_make_valid (line != NULL ? line + 1 : text, (gssize) strnlen (line != NULL ? line + 1 : text, LONGEST_REASON));
}

static void
verify_process_explain (const VnVerifyRequest  *request,
                        JsonObject             *object,
                        gboolean                library,
                        gboolean               *missing,
                        GError                **error)
{
  const char *stage = json_object_get_string_member_with_default (object, "stage", "");
  const char *said = json_object_get_string_member_with_default (object, "error", "");
  g_autofree char *start = g_strndup (said, LONGEST_REASON), *valid = g_utf8_make_valid (start, -1);
  g_autofree char *reason = g_strconcat (g_strstrip (valid), strlen (said) > LONGEST_REASON ? " …" : "", NULL);

  *missing = g_str_equal (stage, "import");
  if (*missing && library)
    g_set_error (error, VN_VERIFY_ERROR, VN_VERIFY_ERROR_MISSING,
                 _("The ONNX Runtime library cannot be used: %s; set VN_ORT_LIBRARY to another one, or select a "
                   "Python with onnxruntime with --python or VN_PYTHON"), reason);
  else if (*missing)
    g_set_error (error, VN_VERIFY_ERROR, VN_VERIFY_ERROR_MISSING,
                 _("Python “%s” has no onnxruntime (%s): install it there (pip install onnxruntime), or select "
                   "another interpreter with --python or VN_PYTHON"), request->python, reason);
  else if (g_str_equal (stage, "float"))
    g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("ONNX Runtime cannot run the float model “%s”: %s"),
                 request->float_model, reason);
  else
    g_set_error (error, VN_VERIFY_ERROR, VN_VERIFY_ERROR_REFUSED,
                 g_str_equal (stage, "load") ? _("ONNX Runtime does not load %s: %s")
                 : _("ONNX Runtime loads %s, but cannot run it: %s"),
                 request->name, reason);
}

static gboolean
verify_process_read_reply (const VnVerifyRequest  *request,
                           gboolean                library,
                           VnVerifyReply          *reply,
                           gboolean               *missing,
                           GError                **error)
{
  g_autoptr(JsonParser) parser = json_parser_new ();
  g_autofree char *path = g_build_filename (request->folder, REPLY, NULL);
  JsonNode *root;
  JsonObject *object;

  if (!json_parser_load_from_file (parser, path, NULL) || (root = json_parser_get_root (parser)) == NULL ||
      !JSON_NODE_HOLDS_OBJECT (root))
    {
      g_autofree char *errors = verify_process_dup_errors (request);

      g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, library ? _("libonnxruntime terminated without a result; it "
                                                                      "may have crashed or run out of memory: %s")
                           : _("Python with ONNX Runtime terminated without a result; it may have crashed or run out "
                               "of memory: %s"), errors);
      return FALSE;
    }
  object = json_node_get_object (root);
  if (json_object_has_member (object, "error"))
    {
      verify_process_explain (request, object, library, missing, error);
      return FALSE;
    }
  reply->version = g_strdup (json_object_get_string_member_with_default (object, "version", "?"));
  reply->load_seconds = json_object_get_double_member_with_default (object, "load_seconds", 0);
  reply->seconds = json_object_get_double_member_with_default (object, "seconds", 0);
  reply->float_seconds = json_object_get_double_member_with_default (object, "float_seconds", 0);
  reply->saturates = json_object_get_boolean_member_with_default (object, "saturates", FALSE);
  return TRUE;
}

/* @missing: (out): there is no onnxruntime */
static gboolean
verify_process_try (const VnVerifyRequest  *request,
                    gboolean                library,
                    VnVerifyReply          *reply,
                    gboolean               *missing,
                    GCancellable           *cancellable,
                    GError                **error)
{
  g_autofree char *old = g_build_filename (request->folder, REPLY, NULL);
  g_autoptr(GSubprocess) process = NULL;

  g_unlink (old);
  process = verify_process_start (request, library, error);
  *missing = process == NULL;
  if (process == NULL)
    return FALSE;
  if (verify_process_wait (process, request->timeout, cancellable))
    return verify_process_read_reply (request, library, reply, missing, error);
  if (!g_cancellable_set_error_if_cancelled (cancellable, error))
    g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED,
                 ngettext ("ONNX Runtime did not finish within %u second: increase --timeout, or use fewer samples",
                           "ONNX Runtime did not finish within %u seconds: increase --timeout, or use fewer samples",
                           request->timeout),
                 request->timeout);
  return FALSE;
}

/* What to do is said once, with both ways. */
static void
verify_process_explain_missing (const VnVerifyRequest  *request,
                                GError                **error)
{
  g_set_error (error, VN_VERIFY_ERROR, VN_VERIFY_ERROR_MISSING,
               _("ONNX Runtime was not found: Python “%s” has no onnxruntime, and there is no libonnxruntime.so. "
                 "Install it (“vernier-cli verify --install” creates a separate environment for it), select an "
                 "interpreter with --python or VN_PYTHON, or set VN_ORT_LIBRARY"),
               request->python);
}

/* The last search on this machine found none. */
static gint found_nothing;

/*< private >
 * vn_verify_process_lacks_runtime:
 *
 * Returns: whether ONNX Runtime was looked for where nobody named one, and not found, and none has been installed since
 */
gboolean
vn_verify_process_lacks_runtime (void)
{
  g_autofree char *own = vn_verify_dup_own_python ();

  return own == NULL && g_atomic_int_get (&found_nothing);
}

/* What there is on this machine, where the user named nothing: the environment that was made for this, the usual Python, the
 * library. What has none of them is not searched again and again. */
static gboolean
verify_process_try_found (const VnVerifyRequest  *request,
                          VnVerifyReply          *reply,
                          GCancellable           *cancellable,
                          GError                **error)
{
  g_autofree char *own = vn_verify_dup_own_python ();
  const char *pythons[] = { own, request->python };
  g_autoptr(GError) reason = NULL;
  gboolean missing = own != NULL || request->is_asked || !g_atomic_int_get (&found_nothing);

  for (guint i = 0; i < G_N_ELEMENTS (pythons) + 1 && missing; i++)
    {
      const gboolean library = i == G_N_ELEMENTS (pythons);
      VnVerifyRequest one = *request;

      if (library ? !vn_ort_child_is_there () : pythons[i] == NULL)
        continue;
      one.python = library ? NULL : pythons[i];
      g_clear_error (&reason);
      if (verify_process_try (&one, library, reply, &missing, cancellable, &reason))
        {
          g_atomic_int_set (&found_nothing, FALSE);
          return TRUE;
        }
    }
  if (reason != NULL && !g_error_matches (reason, VN_VERIFY_ERROR, VN_VERIFY_ERROR_MISSING))
    g_propagate_error (error, g_steal_pointer (&reason));
  else
    {
      g_atomic_int_set (&found_nothing, TRUE);
      verify_process_explain_missing (request, error);
    }
  return FALSE;
}

/*< private >
 * vn_verify_process_run:
 * @reply: (out): its version is owned by the caller
 *
 * In what the user named, or else in what there is.
 */
gboolean
vn_verify_process_run (const VnVerifyRequest *request,
                       VnVerifyReply         *reply,
                       GCancellable          *cancellable,
                       GError               **error)
{
  gboolean missing;

  g_return_val_if_fail (request != NULL && reply != NULL, FALSE);

  if (!verify_process_write_job (request, error))
    return FALSE;
  if (request->library != NULL && !request->is_python_given && vn_ort_child_is_there ())
    return verify_process_try (request, TRUE, reply, &missing, cancellable, error);
  if (request->is_python_given)
    return verify_process_try (request, FALSE, reply, &missing, cancellable, error);
  return verify_process_try_found (request, reply, cancellable, error);
}
