/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Verifying: asking the runtime, and what it tells of the kernels that it chose. */
#include "verify-job-private.h"
#include "verify-encode.h"
#include "verify-facts.h"
#include "verify-process.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-onnx.h"
#include "vn-ort-backend.h"
#include "vn-pass.h"

#include <math.h>

/* ---- the networks ---- */

/* The network that a result was made of, unless it is still in the file that it was opened from. */
static gboolean
verify_run_write_float (VnVerifyJob   *self,
                        GCancellable  *cancellable,
                        GError       **error)
{
  if (self->settings.float_path != NULL || self->result == NULL)
    return TRUE;
  self->settings.float_path = g_build_filename (self->folder, "float.onnx", NULL);
  return vn_onnx_write_file (self->result->source, self->settings.float_path, NULL, cancellable, error);
}

static gboolean
verify_run_is_open (const VnModel *model)
{
  for (guint i = 0; i < model->graph->inputs->len; i++)
    {
      const VnValue *value = g_ptr_array_index (model->graph->inputs, i);

      if (value->initializer == NULL && value->type.kind == VN_TYPE_TENSOR && !vn_shape_is_static (&value->type.shape))
        return TRUE;
    }
  return FALSE;
}

/* @path: (inout): of @model; that of a copy with the sizes of the samples, if it leaves them open. What cannot be fixed stays as
 * it is: the runtime says what it lacks. */
static gboolean
verify_run_fix (VnVerifyJob   *self,
                const VnModel *model,
                const char    *name,
                const char   **path,
                char         **copy,
                GCancellable  *cancellable,
                GError       **error)
{
  static const char * const passes[] = { "fix-shapes", NULL };
  const VnPrepareOptions options = { .input_shapes = self->sizes, .passes = passes, .skip_optimization = TRUE };
  g_autoptr(VnModel) fixed = NULL;

  if (!verify_run_is_open (model) || self->sizes == NULL)
    return TRUE;
  fixed = vn_prepare_model_with (model, &options, NULL, NULL, cancellable, NULL);
  if (fixed == NULL)
    return !g_cancellable_set_error_if_cancelled (cancellable, error);
  *path = *copy = g_build_filename (self->folder, name, NULL);
  return vn_onnx_write_file (fixed, *path, NULL, cancellable, error);
}

static gboolean
verify_run_fix_both (VnVerifyJob      *self,
                     VnVerifyRequest  *request,
                     char            **copy,
                     char            **float_copy,
                     GCancellable     *cancellable,
                     GError          **error)
{
  g_autoptr(VnModel) source = NULL;

  if (!verify_run_fix (self, self->settings.model, "fixed.onnx", &request->model, copy, cancellable, error))
    return FALSE;
  if (request->float_model == NULL)
    return TRUE;
  source = vn_onnx_read_file (request->float_model, NULL);
  return source == NULL ||
         verify_run_fix (self, source, "fixed-float.onnx", &request->float_model, float_copy, cancellable, error);
}

/* ---- asking ---- */

static void
verify_run_take (VnVerifyJob   *self,
                 VnVerifyReply *reply)
{
  VnVerification *found = self->found;
  g_autoptr(VnRuntimeForecast) forecast = reply->facts != NULL
                                          ? vn_runtime_forecast_new (self->settings.model, self->shapes, NULL, NULL) : NULL;

  found->version = g_steal_pointer (&reply->version);
  found->load_seconds = reply->load_seconds;
  found->seconds = reply->seconds;
  found->float_seconds = reply->float_seconds;
  found->saturates = reply->saturates;
  vn_verify_facts_read (found, reply->facts, reply->log, forecast);
}

/* In one runtime. */
static gboolean
verify_run_ask (VnVerifyJob            *self,
                const VnVerifyRequest  *usual,
                const VnTargetRuntime  *runtime,
                GCancellable           *cancellable,
                GError                **error)
{
  VnVerifyRequest request = *usual;
  VnVerifyReply reply = { NULL };
  g_autofree char *copy = NULL, *float_copy = NULL;
  gboolean good;

  self->found->runtime = request.runtime = runtime;
  if (request.plugin != NULL && request.plugin->name == NULL && (runtime->traits & VN_TARGET_RUNTIME_PROVIDER) == 0)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("%s takes no options of an execution provider"), runtime->title);
      return FALSE;
    }
  if ((runtime->traits & VN_TARGET_RUNTIME_TIMES) == 0)
    request.n_runs = 0;
  if (!self->is_asked)
    request.timeout = runtime->patience;
  if ((runtime->traits & VN_TARGET_RUNTIME_STATIC) != 0 &&
      !verify_run_fix_both (self, &request, &copy, &float_copy, cancellable, error))
    return FALSE;
  good = vn_verify_process_run (&request, &reply, cancellable, error);
  if (good)
    verify_run_take (self, &reply);
  vn_verify_reply_clear (&reply);
  return good;
}

/* One after the other, until one is there. */
static gboolean
verify_run_ask_each (VnVerifyJob            *self,
                     const VnVerifyRequest  *request,
                     GCancellable           *cancellable,
                     GError                **error)
{
  if (request->plugin != NULL && request->plugin->name != NULL)
    return verify_run_ask (self, request, vn_target_runtime_get_default (), cancellable, error);
  for (guint i = 0; i + 1 < self->n_runtimes; i++)
    {
      g_autoptr(GError) reason = NULL;

      if (verify_run_ask (self, request, self->runtimes[i], cancellable, &reason))
        return TRUE;
      if (!g_error_matches (reason, VN_VERIFY_ERROR, VN_VERIFY_ERROR_MISSING))
        {
          g_propagate_error (error, g_steal_pointer (&reason));
          return FALSE;
        }
      vn_notes_add (self->notes, VN_NOTE_INFO, "runtime-missing", NULL, _("The export is for another runtime. %s"),
                    reason->message);
    }
  return verify_run_ask (self, request, self->runtimes[self->n_runtimes - 1], cancellable, error);
}

/*< private >
 * vn_verify_run_there:
 *
 * Runs the export, and the float network if there is one, in the first of the runtimes that is there.
 */
gboolean
vn_verify_run_there (VnVerifyJob   *self,
                     GCancellable  *cancellable,
                     GError       **error)
{
  const VnVerifySettings *settings;
  g_autofree char *written = NULL, *encoded = NULL, *encoded_float = NULL, *name = NULL, *optimized = NULL;
  g_autoptr(GPtrArray) names = g_ptr_array_new ();
  VnVerifyRequest request = { 0 };
  const VnOrtPlugin *plugin;

  g_return_val_if_fail (self != NULL, FALSE);

  settings = &self->settings;
  written = settings->path == NULL ? g_build_filename (self->folder, "export.onnx", NULL) : NULL;
  name = settings->path != NULL ? g_strdup_printf ("“%s”", settings->path) : g_strdup (_("the export"));
  if ((written != NULL && !vn_onnx_write_file (settings->model, written, NULL, cancellable, error)) ||
      !verify_run_write_float (self, cancellable, error))
    return FALSE;
  plugin = vn_model_get_plugin (settings->model);
  /* what a provider has compiled is written by no version */
  optimized = plugin == NULL || plugin->name == NULL ? g_build_filename (self->folder, VN_VERIFY_OPTIMIZED, NULL) : NULL;
  request = (VnVerifyRequest) { .folder = self->folder, .model = written != NULL ? written : settings->path,
                                .float_model = settings->float_path, .inputs = names, .optimized = optimized,
                                .n_samples = self->found->n_samples, .n_runs = settings->n_runs, .timeout = settings->timeout,
                                .custom_ops = vn_model_get_custom_ops (settings->model),
                                .plugin = plugin,
                                .name = name, .seconds = settings->seconds, .is_asked = self->is_asked,
                                .python = settings->python != NULL && *settings->python != '\0' ? settings->python : NULL };
  if (!vn_verify_encode (self->folder, "encoded.onnx", &request.model, &encoded, cancellable, error) ||
      !vn_verify_encode (self->folder, "encoded-float.onnx", &request.float_model, &encoded_float, cancellable, error))
    return FALSE;
  for (guint i = 0; i < vn_plan_get_n_inputs (self->plan); i++)
    g_ptr_array_add (names, vn_plan_get_input (self->plan, i)->name);
  return verify_run_ask_each (self, &request, cancellable, error);
}

/* ---- kernels ---- */

/* Two products of 8 bit by 7 fit into 16: weights that use fewer of their bits, as "reduce-range" makes them, let no sum
 * saturate. */
static gboolean
verify_run_has_large_weights (const VnModel *model)
{
  for (guint i = 0; i < model->graph->initializers->len; i++)
    {
      const VnTensor *weight = ((const VnValue *) g_ptr_array_index (model->graph->initializers, i))->initializer;

      if (weight->dtype != VN_DTYPE_S8 || weight->shape.rank < 2)
        continue;
      for (gsize k = 0; k < weight->n_elements; k++)
        if (ABS ((int) ((const gint8 *) weight->data)[k]) > 64)
          return TRUE;
    }
  return FALSE;
}

/*< private >
 * vn_verify_run_read_kernels:
 *
 * Kernels are told where the graph can be had and read; without it the forecast stays what it is.
 */
void
vn_verify_run_read_kernels (VnVerifyJob *self)
{
  g_autofree char *path = NULL;
  g_autoptr(VnModel) optimized = NULL;
  g_autoptr(VnRuntimeForecast) made = NULL;
  const VnRuntimeForecast *forecast;
  double share;

  g_return_if_fail (self != NULL);

  path = g_build_filename (self->folder, VN_VERIFY_OPTIMIZED, NULL);
  optimized = g_file_test (path, G_FILE_TEST_EXISTS) ? vn_onnx_read_file (path, NULL) : NULL;
  if (optimized == NULL && !self->found->saturates)
    return;
  forecast = self->result != NULL ? self->result->forecast : NULL;
  if (forecast == NULL)
    forecast = made = vn_runtime_forecast_new (self->settings.model, self->settings.input_shapes, NULL, NULL);
  if (optimized != NULL && forecast != NULL)
    {
      self->kernels = vn_runtime_forecast_observe (forecast, optimized);
      self->found->integer_share = vn_runtime_forecast_integer_share (self->kernels);
    }
  share = self->found->integer_share;
  if (isnan (share) && forecast != NULL)
    share = vn_runtime_forecast_integer_share (forecast);
  /* Sums of integers saturate; where there are none, outputs differ for other reasons. */
  if (share == 0 || !verify_run_has_large_weights (self->settings.model))
    self->found->saturates = FALSE;
}
