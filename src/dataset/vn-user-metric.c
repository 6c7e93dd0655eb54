/* SPDX-License-Identifier: GPL-3.0-or-later */

/* A metric in the user's Python: FILE.py:FUNCTION. The function gets a dict about the sample and a dict with the outputs of a
 * network, arrays of numpy by name, and returns a number, a dict of numbers, or None where nothing can be measured. If the file
 * has a function “finish”, that gets the list of what FUNCTION returned, which may then be anything, in the order of the
 * samples, and returns the same as FUNCTION otherwise does, for all of them. */

#include "vn-user-metric.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-json.h"
#include "vn-script-private.h"

struct _VnUserMetric
{
  VnScript *script;
  char     *text;
};

/**
 * vn_user_metric_new:
 * @script: FILE.py:FUNCTION
 * @python: (nullable): the interpreter; %NULL: python3
 * @timeout: seconds that a call may take; 0: VN_SCRIPT_TIMEOUT
 * @cancellable: (nullable): ends what waits, now and later
 *
 * Runs the file once, so that what is wrong with it shows now. It must come from the user, never from a file that somebody
 * sent.
 *
 * Returns: (transfer full) (nullable): errors of vn_script_new()
 */
VnUserMetric *
vn_user_metric_new (const char    *script,
                    const char    *python,
                    guint          timeout,
                    GCancellable  *cancellable,
                    GError       **error)
{
  g_autoptr(VnUserMetric) self = NULL;

  g_return_val_if_fail (script != NULL, NULL);

  self = g_new0 (VnUserMetric, 1);
  self->text = g_strdup (script);
  self->script = vn_script_new (VN_SCRIPT_METRIC, script, python, timeout, cancellable, error);
  return self->script != NULL ? g_steal_pointer (&self) : NULL;
}

void
vn_user_metric_free (VnUserMetric *self)
{
  if (self == NULL)
    return;
  g_clear_pointer (&self->script, vn_script_free);
  g_free (self->text);
  g_free (self);
}

/**
 * vn_user_metric_has_finish:
 *
 * Returns: whether the results of all samples are to be given to vn_user_metric_finish()
 */
gboolean
vn_user_metric_has_finish (const VnUserMetric *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return vn_script_has_finish (self->script);
}

/* ---- the request ---- */

/* As numpy has it; types that it does not have become float32. */
static VnTensor *
user_metric_convert (VnTensor  *tensor,
                     GError   **error)
{
  static const VnDType known[] = { VN_DTYPE_F32, VN_DTYPE_F64, VN_DTYPE_F16, VN_DTYPE_U8, VN_DTYPE_S8, VN_DTYPE_U16, VN_DTYPE_S16,
                                   VN_DTYPE_S32, VN_DTYPE_S64, VN_DTYPE_U32, VN_DTYPE_U64, VN_DTYPE_BOOL };

  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    if (tensor->dtype == known[i])
      return vn_tensor_ref (tensor);
  return vn_tensor_convert (tensor, VN_DTYPE_F32, error);
}

static gboolean
user_metric_is_array (const VnTensor *tensor)
{
  return !vn_tensor_is_container (tensor) && tensor->dtype != VN_DTYPE_STRING;
}

static void
user_metric_append_output (GString        *json,
                           const char     *name,
                           const VnTensor *tensor)
{
  g_string_append (json, "{\"name\": ");
  vn_script_append_string (json, name);
  g_string_append_printf (json, ", \"dtype\": \"%s\", \"bytes\": %" G_GSIZE_FORMAT ", \"shape\": [",
                          vn_dtype_get_name (tensor->dtype),
                          tensor->n_bytes);
  for (int i = 0; i < tensor->shape.rank; i++)
    g_string_append_printf (json, "%s%" G_GINT64_FORMAT, i > 0 ? ", " : "", tensor->shape.dims[i]);
  g_string_append (json, "]}");
}

static void
user_metric_append_text (GString    *json,
                         const char *key,
                         const char *value)
{
  g_string_append_printf (json, "\"%s\": ", key);
  if (value != NULL)
    vn_script_append_string (json, value);
  else
    g_string_append (json, "null");
  g_string_append (json, ", ");
}

static GString *
user_metric_begin_request (const VnMetricSample *sample)
{
  GString *json = g_string_new ("{\"sample\": {");

  user_metric_append_text (json, "name", sample->name);
  user_metric_append_text (json, "path", sample->path);
  user_metric_append_text (json, "model", sample->model);
  user_metric_append_text (json, "class", sample->class_name);
  if (sample->label >= 0)
    g_string_append_printf (json, "\"label\": %d, ", sample->label);
  else
    g_string_append (json, "\"label\": null, ");
  g_string_append_printf (json, "\"index\": %u}, \"outputs\": [", sample->index);
  return json;
}

/* ---- the answer ---- */

static void
user_metric_clear_number (gpointer data)
{
  g_free (((VnMetricNumber *) data)->name);
}

/**
 * vn_metric_numbers_new:
 *
 * Returns: (transfer full) (element-type VnMetricNumber): an empty list that owns the names
 */
GArray *
vn_metric_numbers_new (void)
{
  GArray *numbers = g_array_new (FALSE, FALSE, sizeof (VnMetricNumber));

  g_array_set_clear_func (numbers, user_metric_clear_number);
  return numbers;
}

void
vn_metric_result_free (VnMetricResult *self)
{
  if (self == NULL)
    return;
  g_clear_pointer (&self->numbers, g_array_unref);
  g_clear_pointer (&self->rest, g_bytes_unref);
  g_free (self);
}

/* [ [ name, number ] ], as the driver writes it. */
static gboolean
user_metric_read_numbers (JsonNode  *root,
                          GArray    *numbers,
                          GError   **error)
{
  JsonArray *list = vn_json_get_array (root, "", error);

  for (guint i = 0; list != NULL && i < json_array_get_length (list); i++)
    {
      JsonArray *pair = vn_json_get_array (json_array_get_element (list, i), "", error);
      VnMetricNumber number = { 0 };
      const char *name;

      if (pair == NULL || json_array_get_length (pair) != 2 ||
          (name = vn_json_get_string (json_array_get_element (pair, 0), "", error)) == NULL ||
          !vn_json_get_number (json_array_get_element (pair, 1), "", &number.value, error))
        {
          if (error != NULL && *error == NULL)
            g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("expected a name and a number"));
          return FALSE;
        }
      number.name = g_strdup (name);
      g_array_append_val (numbers, number);
    }
  return list != NULL;
}

static VnMetricResult *
user_metric_ask (VnUserMetric        *self,
                 const char          *request,
                 const VnHelperPart  *parts,
                 guint                n_parts,
                 GError             **error)
{
  g_autoptr(VnMetricResult) result = g_new0 (VnMetricResult, 1);
  g_autoptr(JsonNode) root = NULL;
  g_autofree char *text = NULL;

  result->numbers = vn_metric_numbers_new ();
  if (!vn_script_measure (self->script, request, parts, n_parts, &text, &result->rest, error) ||
      (root = vn_json_parse (text, -1, self->text, error)) == NULL || !user_metric_read_numbers (root, result->numbers, error))
    return NULL;
  return g_steal_pointer (&result);
}

/**
 * vn_user_metric_measure:
 * @names, @outputs: (array length=n_outputs): what the network gave; texts, sequences and optionals are left out
 *
 * Any thread.
 *
 * Returns: (transfer full) (nullable): what the function returned. %VN_ERROR_MISSING_DATA with its exception, or with how
 *   its process ended, %VN_ERROR_LIMIT after the timeout, %G_IO_ERROR_CANCELLED; all name the sample and the network
 */
VnMetricResult *
vn_user_metric_measure (VnUserMetric          *self,
                        const VnMetricSample  *sample,
                        const char * const    *names,
                        VnTensor * const      *outputs,
                        guint                  n_outputs,
                        GError               **error)
{
  g_autoptr(GString) json = NULL;
  g_autoptr(GPtrArray) tensors = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_tensor_unref);
  g_autofree VnHelperPart *parts = g_new0 (VnHelperPart, n_outputs + 1);
  VnMetricResult *result;

  g_return_val_if_fail (self != NULL && sample != NULL, NULL);

  json = user_metric_begin_request (sample);
  for (guint i = 0; i < n_outputs; i++)
    if (user_metric_is_array (outputs[i]))
      {
        VnTensor *tensor = user_metric_convert (outputs[i], error);

        if (tensor == NULL)
          return NULL;
        g_string_append (json, tensors->len > 0 ? ", " : "");
        user_metric_append_output (json, names[i], tensor);
        parts[tensors->len] = (VnHelperPart) { tensor->data, tensor->n_bytes };
        g_ptr_array_add (tensors, tensor);
      }
  g_string_append (json, "]}");
  result = user_metric_ask (self, json->str, parts, tensors->len, error);
  if (result == NULL)
    g_prefix_error (error, _("“%s”, outputs of “%s”: "), sample->path != NULL ? sample->path : sample->name, sample->model);
  return result;
}

/**
 * vn_user_metric_finish:
 * @results: (array length=n_results): of all samples of one network
 *
 * Returns: (transfer full) (nullable): what the function “finish” returned; errors as of vn_user_metric_measure()
 */
VnMetricResult *
vn_user_metric_finish (VnUserMetric            *self,
                       VnMetricResult * const  *results,
                       guint                    n_results,
                       GError                 **error)
{
  g_autoptr(GString) json = g_string_new ("{\"results\": [");
  g_autofree VnHelperPart *parts = g_new0 (VnHelperPart, n_results + 1);
  VnMetricResult *result;

  g_return_val_if_fail (self != NULL && vn_user_metric_has_finish (self), NULL);

  for (guint i = 0; i < n_results; i++)
    {
      parts[i].data = g_bytes_get_data (results[i]->rest, &parts[i].n_bytes);
      g_string_append_printf (json, "%s%" G_GSIZE_FORMAT, i > 0 ? ", " : "", parts[i].n_bytes);
    }
  g_string_append (json, "]}");
  result = user_metric_ask (self, json->str, parts, n_results, error);
  if (result == NULL)
    g_prefix_error (error, _("Function “finish”: "));
  return result;
}
