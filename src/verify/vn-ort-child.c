/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the process does that runs libonnxruntime: the job and the reply are the same files as with Python (verify-process.c). */
#include "vn-ort-child.h"

#include "ort-library.h"
#include "ort-plugin.h"
#include "ort-server.h"
#include "verify-process.h"

#include "vn-error.h"
#include "vn-file.h"
#include "vn-i18n.h"
#include "vn-json.h"
#include "vn-tensor.h"

#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>
#include <time.h>

#define LEAST_RUNS 3   /* that are measured, however long they take */

static gboolean there;

/**
 * Network: a session with what is needed to run it
 * @input_types: of ONNX's numbers
 */
typedef struct
{
  const VnOrtLibrary *library;
  OrtSession         *session;
  GPtrArray          *inputs, *outputs;   /* of char */
  GArray             *input_types;        /* of int */
  double              load_seconds, best;
} Network;

typedef struct
{
  const char   *folder, *custom_ops;
  VnOrtPlugin   plugin;      /* without a name: none */
  VnOrtLibrary  library;
  OrtEnv       *env;
  OrtMemory    *memory;
  GPtrArray    *names;       /* of the inputs, as in the files */
  const char   *stage;
  Network       networks[2]; /* the export, and the float network if there is one */
  guint         n_networks;
  gboolean      saturates;
  Network       exact;       /* where kernels saturate the export with others, if it loads so; without session otherwise */
} Child;

static double
ort_child_get_seconds (void)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

static gboolean
ort_child_check (const Child  *self,
                 OrtStatus    *status,
                 GError      **error)
{
  return vn_ort_library_check (&self->library, status, error);
}

/* ---- sessions ---- */

static gboolean
ort_child_open_session (Child       *self,
                        const char  *path,
                        const char  *optimized,
                        gboolean     exact,
                        OrtSession **session,
                        GError     **error)
{
  const VnOrtLibrary *ort = &self->library;
  OrtOptions *options = NULL;
  void *handle = NULL;

  return ort_child_check (self, ort->create_options (&options), error) &&
         ort_child_check (self, ort->set_intra_threads (options, 1), error) &&
         ort_child_check (self, ort->set_inter_threads (options, 1), error) &&
         ort_child_check (self, ort->set_log_severity (options, 4), error) &&
         (*self->custom_ops == '\0' ||
          ort_child_check (self, ort->register_custom_ops (options, self->custom_ops, &handle), error)) &&
         (self->plugin.name == NULL || vn_ort_plugin_append (&self->plugin, ort, self->env, options, error)) &&
         (optimized == NULL || ort_child_check (self, ort->set_optimized_path (options, optimized), error)) &&
         (!exact || ort_child_check (self, ort->set_option (options, "session.x64quantprecision", "1"), error)) &&
         ort_child_check (self, ort->create_session (self->env, path, options, session), error);
}

static gboolean
ort_child_read_input_type (Child    *self,
                           Network  *network,
                           gsize     i,
                           GError  **error)
{
  const VnOrtLibrary *ort = &self->library;
  const OrtTensorType *tensor = NULL;
  OrtType *type = NULL;
  int number = 0;

  if (!ort_child_check (self, ort->get_input_type (network->session, i, &type), error))
    return FALSE;
  if (!ort_child_check (self, ort->get_tensor_type (type, &tensor), error) ||
      (tensor != NULL && !ort_child_check (self, ort->get_element_type (tensor, &number), error)))
    return FALSE;
  ort->release_type (type);
  g_array_append_val (network->input_types, number);
  return TRUE;
}

static gboolean
ort_child_read_names (Child    *self,
                      Network  *network,
                      GError  **error)
{
  const VnOrtLibrary *ort = &self->library;
  OrtAllocator *allocator = NULL;
  size_t n_inputs = 0, n_outputs = 0;
  char *name = NULL;

  if (!ort_child_check (self, ort->get_allocator (&allocator), error) ||
      !ort_child_check (self, ort->get_n_inputs (network->session, &n_inputs), error) ||
      !ort_child_check (self, ort->get_n_outputs (network->session, &n_outputs), error))
    return FALSE;
  for (size_t i = 0; i < n_inputs; i++)
    {
      if (!ort_child_check (self, ort->get_input_name (network->session, i, allocator, &name), error) ||
          !ort_child_read_input_type (self, network, i, error))
        return FALSE;
      g_ptr_array_add (network->inputs, g_strdup (name));
    }
  for (size_t i = 0; i < n_outputs; i++)
    {
      if (!ort_child_check (self, ort->get_output_name (network->session, i, allocator, &name), error))
        return FALSE;
      g_ptr_array_add (network->outputs, g_strdup (name));
    }
  return TRUE;
}

static gboolean
ort_child_load (Child       *self,
                Network     *network,
                const char  *path,
                GError     **error)
{
  const double began = ort_child_get_seconds ();

  *network = (Network) { .library = &self->library, .inputs = g_ptr_array_new_with_free_func (g_free),
                         .outputs = g_ptr_array_new_with_free_func (g_free),
                         .input_types = g_array_new (FALSE, FALSE, sizeof (int)),
                         .best = INFINITY };
  if (!ort_child_open_session (self, path, NULL, network == &self->exact, &network->session, error))
    return FALSE;
  network->load_seconds = ort_child_get_seconds () - began;
  return ort_child_read_names (self, network, error);
}

/* ---- samples ---- */

static char *
ort_child_dup_path (const Child *self,
                    const char  *prefix,
                    guint        sample,
                    guint        i)
{
  g_autofree char *name = g_strdup_printf ("%s%u-%u.npy", prefix, sample, i);

  return g_build_filename (self->folder, name, NULL);
}

/* In the type that the network takes; samples are read as float32. */
static VnTensor *
ort_child_read_input (const Child    *self,
                      const Network  *network,
                      guint           sample,
                      guint           i,
                      GError        **error)
{
  g_autofree char *path = ort_child_dup_path (self, "", sample, i);
  g_autoptr(VnTensor) read = vn_npy_read (path, error), fitting = NULL;
  guint at = 0;
  int type;

  if (read == NULL)
    return NULL;
  if (!g_ptr_array_find_with_equal_func (network->inputs, g_ptr_array_index (self->names, i), g_str_equal, &at))
    return g_steal_pointer (&read);
  type = g_array_index (network->input_types, int, at);
  fitting = vn_dtype_is_valid (type) && (VnDType) type != read->dtype
            ? vn_tensor_convert (read, (VnDType) type, error) : vn_tensor_ref (read);
  return fitting != NULL ? vn_tensor_own (fitting, error) : NULL;   /* it may be written to there */
}

/* One sample as a network takes it; @tensors own the memory of @values. */
typedef struct
{
  guint      index, n;
  VnTensor **tensors;
  OrtValue **values;
} Sample;

static void
ort_child_clear_sample (const Child *self,
                        Sample      *sample)
{
  for (guint i = 0; i < sample->n; i++)
    g_clear_pointer (&sample->values[i], self->library.release_value);
  if (sample->tensors != NULL)
    vn_tensor_clear_all (sample->tensors, sample->n);
  g_clear_pointer (&sample->tensors, g_free);
  g_clear_pointer (&sample->values, g_free);
}

static gboolean
ort_child_read_sample (const Child    *self,
                       const Network  *network,
                       guint           index,
                       Sample         *sample,
                       GError        **error)
{
  *sample = (Sample) { .index = index, .n = self->names->len, .tensors = g_new0 (VnTensor *, self->names->len + 1),
                       .values = g_new0 (OrtValue *, self->names->len + 1) };
  for (guint i = 0; i < self->names->len; i++)
    {
      gint64 dims[VN_MAX_RANK] = { 0 };
      VnTensor *tensor = ort_child_read_input (self, network, index, i, error);

      sample->tensors[i] = tensor;
      if (tensor == NULL)
        return FALSE;
      for (int d = 0; d < tensor->shape.rank; d++)
        dims[d] = tensor->shape.dims[d];
      if (!ort_child_check (self, self->library.wrap_tensor (self->memory, tensor->data, tensor->n_bytes, dims,
                                                             (size_t) tensor->shape.rank,
                                                             (int) tensor->dtype, &sample->values[i]), error))
        return FALSE;
    }
  return TRUE;
}

static VnTensor *
ort_child_take_value (Child     *self,
                      OrtValue  *value,
                      GError   **error)
{
  const VnOrtLibrary *ort = &self->library;
  OrtTensorType *type = NULL;
  VnShape shape = { 0 };
  gint64 dims[VN_MAX_RANK] = { 0 };
  size_t rank = 0;
  int number = 0;
  void *data = NULL;

  if (!ort_child_check (self, ort->get_value_type (value, &type), error) ||
      !ort_child_check (self, ort->get_element_type (type, &number), error) ||
      !ort_child_check (self, ort->get_rank (type, &rank), error))
    return NULL;
  if (rank > VN_MAX_RANK || !vn_dtype_is_valid (number) || number == VN_DTYPE_STRING)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("an output has %zu dims and type %d"), (gsize) rank, number);
      return NULL;
    }
  if (!ort_child_check (self, ort->get_dims (type, dims, rank), error) ||
      !ort_child_check (self, ort->get_data (value, &data), error))
    return NULL;
  ort->release_tensor_type (type);
  shape.rank = (int) rank;
  memcpy (shape.dims, dims, rank * sizeof *dims);
  return vn_tensor_new_copy ((VnDType) number, &shape, data, error);
}

static gboolean
ort_child_write_outputs (Child       *self,
                         const char  *prefix,
                         guint        sample,
                         OrtValue   **values,
                         guint        n,
                         GError     **error)
{
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *path = ort_child_dup_path (self, prefix, sample, i);
      g_autoptr(VnTensor) tensor = ort_child_take_value (self, values[i], error);

      if (tensor == NULL || !vn_npy_write (path, tensor, error))
        return FALSE;
    }
  return TRUE;
}

/* Outputs go to files if @prefix is there. */
static gboolean
ort_child_run_once (Child         *self,
                    Network       *network,
                    const Sample  *sample,
                    const char    *prefix,
                    GError       **error)
{
  const VnOrtLibrary *ort = &self->library;
  const guint n = network->outputs->len;
  g_autofree OrtValue **outputs = g_new0 (OrtValue *, n + 1);
  const double began = ort_child_get_seconds ();
  gboolean good = ort_child_check (self, ort->run (network->session, NULL, (const char * const *) self->names->pdata,
                                                   (const OrtValue * const *) sample->values, sample->n,
                                                   (const char * const *) network->outputs->pdata, n, outputs), error);

  network->best = MIN (network->best, ort_child_get_seconds () - began);
  good = good && (prefix == NULL || ort_child_write_outputs (self, prefix, sample->index, outputs, n, error));
  for (guint i = 0; i < n; i++)
    g_clear_pointer (&outputs[i], ort->release_value);
  return good;
}

static gboolean
ort_child_write_sample (Child       *self,
                        Network     *network,
                        guint        index,
                        const char  *prefix,
                        GError     **error)
{
  Sample sample = { 0 };
  gboolean good = ort_child_read_sample (self, network, index, &sample, error) &&
                  ort_child_run_once (self, network, &sample, prefix, error);

  ort_child_clear_sample (self, &sample);
  return good;
}

/* ---- whether kernels saturate ---- */

static gboolean
ort_child_multiply (Child    *self,
                    Network  *probe,
                    gint32   *sum,
                    GError  **error)
{
  static const char * const names[] = { "a", "b" }, * const output[] = { "sum" };
  const gint64 dims[][2] = { { 1, VN_VERIFY_PROBE_LENGTH }, { VN_VERIFY_PROBE_LENGTH, 1 } };
  const VnOrtLibrary *ort = &self->library;
  guint8 left[VN_VERIFY_PROBE_LENGTH];
  gint8 right[VN_VERIFY_PROBE_LENGTH];
  OrtValue *values[] = { NULL, NULL }, *result = NULL;
  void *data = NULL;
  gboolean good;

  memset (left, 255, sizeof left);
  memset (right, 127, sizeof right);
  good = ort_child_check (self, ort->wrap_tensor (self->memory, left, sizeof left, dims[0], 2, VN_DTYPE_U8, &values[0]), error) &&
         ort_child_check (self, ort->wrap_tensor (self->memory, right, sizeof right, dims[1], 2, VN_DTYPE_S8, &values[1]),
                          error) &&
         ort_child_check (self, ort->run (probe->session, NULL, names, (const OrtValue * const *) values, 2, output, 1, &result),
                          error) &&
         ort_child_check (self, ort->get_data (result, &data), error);
  if (good)
    memcpy (sum, data, sizeof *sum);
  g_clear_pointer (&result, ort->release_value);
  g_clear_pointer (&values[0], ort->release_value);
  g_clear_pointer (&values[1], ort->release_value);
  return good;
}

/* Where that cannot be found out, nothing is said of it. */
static gboolean
ort_child_find_saturation (Child      *self,
                           const char *path)
{
  Network probe = { 0 };
  gint32 sum = 0;

  return ort_child_load (self, &probe, path, NULL) && ort_child_multiply (self, &probe, &sum, NULL) && sum != VN_VERIFY_PROBE_SUM;
}

/* ---- the job ---- */

static gboolean
ort_child_has_same_outputs (const Child *self)
{
  const GPtrArray *a = self->networks[0].outputs, *b = self->networks[1].outputs;

  for (guint i = 0; self->n_networks > 1 && a->len == b->len && i < a->len; i++)
    if (!g_str_equal (g_ptr_array_index (a, i), g_ptr_array_index (b, i)))
      return FALSE;
  return self->n_networks > 1 && a->len == b->len;
}

static gboolean
ort_child_run_samples (Child    *self,
                       guint     n_samples,
                       GError  **error)
{
  const gboolean same = ort_child_has_same_outputs (self);

  for (guint s = 0; s < n_samples; s++)
    {
      self->stage = "float";
      if (self->n_networks > 1 && !ort_child_write_sample (self, &self->networks[1], s, same ? "float-" : NULL, error))
        return FALSE;
      self->stage = "run";
      if (!ort_child_write_sample (self, &self->networks[0], s, "out-", error))
        return FALSE;
      if (self->exact.session != NULL && !ort_child_write_sample (self, &self->exact, s, "exact-", NULL))
        self->exact.session = NULL;
    }
  return TRUE;
}

/* In turns, so that what else the machine does meets both. */
static gboolean
ort_child_measure (Child    *self,
                   guint     n_runs,
                   double    seconds,
                   GError  **error)
{
  const double until = seconds > 0 ? ort_child_get_seconds () + seconds : INFINITY;
  Sample samples[G_N_ELEMENTS (self->networks)] = { { 0 } };
  gboolean good = TRUE;

  for (guint k = 0; k < self->n_networks && good; k++)
    {
      self->networks[k].best = INFINITY;
      good = ort_child_read_sample (self, &self->networks[k], 0, &samples[k], error);
    }
  for (guint r = 0; r < n_runs && good && (r < LEAST_RUNS || ort_child_get_seconds () < until); r++)
    for (guint k = 0; k < self->n_networks && good; k++)
      {
        self->stage = k == 0 ? "run" : "float";
        good = ort_child_run_once (self, &self->networks[k], &samples[k], NULL, error);
      }
  for (guint k = 0; k < self->n_networks; k++)
    ort_child_clear_sample (self, &samples[k]);
  return good;
}

static gboolean
ort_child_read_plugin (Child       *self,
                       JsonObject  *provider,
                       GError     **error)
{
  g_autoptr(GStrvBuilder) options = g_strv_builder_new ();
  g_auto(GStrv) each = NULL;
  g_autofree char *library = g_strdup_printf ("%s=%s", json_object_get_string_member_with_default (provider, "name", ""),
                                              json_object_get_string_member_with_default (provider, "library", ""));
  JsonObject *given = json_object_get_object_member (provider, "options");
  g_autoptr(GList) keys = json_object_get_members (given);

  for (GList *at = keys; at != NULL; at = at->next)
    {
      g_autofree char *option = g_strdup_printf ("%s=%s", (char *) at->data, json_object_get_string_member (given, at->data));

      g_strv_builder_add (options, option);
    }
  each = g_strv_builder_end (options);
  return vn_ort_plugin_parse (&self->plugin, library, (const char * const *) each, error);
}

static gboolean
ort_child_do (Child       *self,
              JsonObject  *job,
              GError     **error)
{
  const char *model = json_object_get_string_member_with_default (job, "model", ""), *optimized, *float_model;
  JsonArray *inputs = json_object_get_array_member (job, "inputs");
  OrtSession *unused = NULL;

  optimized = json_object_get_string_member_with_default (job, "optimized", "");
  self->custom_ops = json_object_get_string_member_with_default (job, "custom_ops", "");
  float_model = json_object_get_string_member_with_default (job, "float_model", "");
  for (guint i = 0; inputs != NULL && i < json_array_get_length (inputs); i++)
    g_ptr_array_add (self->names, g_strdup (json_array_get_string_element (inputs, i)));
  self->stage = "import";
  if (!vn_ort_library_open (&self->library, error) ||
      !ort_child_check (self, self->library.create_env (4, "vernier", &self->env), error) ||
      !ort_child_check (self, self->library.create_cpu_memory (1, 0, &self->memory), error))
    return FALSE;
  if (json_object_has_member (job, "provider") &&
      (!ort_child_read_plugin (self, json_object_get_object_member (job, "provider"), error) ||
       !vn_ort_plugin_register (&self->plugin, &self->library, self->env, error)))
    return FALSE;
  self->stage = "float";
  self->saturates = self->plugin.name == NULL &&
                    ort_child_find_saturation (self, json_object_get_string_member_with_default (job, "probe", ""));
  self->n_networks = *float_model != '\0' ? 2 : 1;
  if (self->n_networks > 1 && !ort_child_load (self, &self->networks[1], float_model, error))
    return FALSE;
  self->stage = "load";
  if (!ort_child_load (self, &self->networks[0], model, error))
    return FALSE;
  if (self->saturates && !ort_child_load (self, &self->exact, model, NULL))
    self->exact.session = NULL;
  if (!ort_child_run_samples (self, (guint) json_object_get_int_member_with_default (job, "samples", 0), error) ||
      !ort_child_measure (self, (guint) json_object_get_int_member_with_default (job, "runs", 1),
                          json_object_get_double_member_with_default (job, "seconds", 0), error))
    return FALSE;
  if (*optimized != '\0')
    ort_child_open_session (self, model, optimized, FALSE, &unused, NULL);
  return TRUE;
}

static gboolean
ort_child_reply (const Child   *self,
                 const GError  *reason)
{
  g_autoptr(JsonBuilder) json = json_builder_new ();
  g_autoptr(JsonNode) root = NULL;
  g_autofree char *path = g_build_filename (self->folder, "reply.json", NULL), *text = NULL;
  g_autofree char *version = self->plugin.name != NULL
                             ? g_strdup_printf ("%s (%s)", self->library.version, self->plugin.name)
                             : g_strdup (self->library.version);

  json_builder_begin_object (json);
  if (reason != NULL)
    {
      vn_json_add_text (json, "stage", self->stage);
      vn_json_add_text (json, "error", reason->message);
    }
  else
    {
      vn_json_add_text (json, "version", version);
      vn_json_add_bool (json, "saturates", self->saturates);
      vn_json_add_number (json, "load_seconds", self->networks[0].load_seconds);
      vn_json_add_number (json, "seconds", self->networks[0].best);
      vn_json_add_number (json, "float_seconds", self->n_networks > 1 ? self->networks[1].best : 0);
    }
  json_builder_end_object (json);
  root = json_builder_get_root (json);
  text = vn_json_to_text (root);
  return vn_file_write_all (path, text, strlen (text), NULL);
}

/* All that is open ends with the process. */
static gboolean
ort_child_main (const char *folder)
{
  Child self = { .folder = folder, .names = g_ptr_array_new (), .stage = "import" };
  g_autoptr(JsonParser) parser = json_parser_new ();
  g_autofree char *path = g_build_filename (folder, "job.json", NULL);
  g_autoptr(GError) reason = NULL;
  JsonNode *root;

  if (!json_parser_load_from_file (parser, path, NULL) || (root = json_parser_get_root (parser)) == NULL ||
      !JSON_NODE_HOLDS_OBJECT (root))
    return FALSE;
  ort_child_do (&self, json_node_get_object (root), &reason);
  return ort_child_reply (&self, reason);
}

/**
 * vn_ort_child_take_over:
 * @argc, @argv: of main(), which asks this first
 * @status: (out): what main() shall return, if %TRUE
 *
 * Returns: whether this process was started to run libonnxruntime, and has done so
 */
gboolean
vn_ort_child_take_over (int    argc,
                        char **argv,
                        int   *status)
{
  g_return_val_if_fail (status != NULL, FALSE);

  there = TRUE;
  if (vn_ort_server_take_over (argc, argv, status))
    return TRUE;
  if (argc != 3 || !g_str_equal (argv[1], VN_ORT_CHILD))
    return FALSE;
  *status = ort_child_main (argv[2]) ? 0 : 1;
  return TRUE;
}

/**
 * vn_ort_child_is_there:
 *
 * Returns: whether this program can be started so
 */
gboolean
vn_ort_child_is_there (void)
{
  return there;
}
