/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The user's Python: FILE.py:FUNCTION. To prepare samples the function gets a list of paths and a dict about the input,
 * and returns a tensor; a metric is vn-user-metric.c's. A helper per thread that loads, up to MAX_HELPERS, each started when it
 * is first needed. */

#include "vn-script-private.h"

#include "vn-dataset-private.h"
#include "vn-error.h"
#include "vn-i18n.h"

#include <math.h>
#include <string.h>

#define MAX_HELPERS 4u
#define MAX_DEATHS 3          /* after so many helpers ended badly no other is started */

struct _VnScript
{
  VnScriptRole  role;
  char         *text, *file, *function, *python;
  guint         timeout;
  GCancellable *cancellable;   /* nullable */

  GMutex     lock;
  GCond      idle;
  GPtrArray *helpers;          /* of VnHelper, those that are idle */
  guint      n_helpers;        /* with those at work */
  guint      max_helpers;
  gboolean   has_finish;
  guint      n_deaths;
  GError    *last_death;       /* why the last of them ended */
};

/**
 * vn_data_spec_is_script:
 * @text: what was given as preprocessing
 *
 * Returns: whether it looks like FILE.py:FUNCTION rather than the name of a preset
 */
gboolean
vn_data_spec_is_script (const char *text)
{
  const char *colon;

  g_return_val_if_fail (text != NULL, FALSE);

  colon = strrchr (text, ':');
  return g_str_has_suffix (text, ".py") || (colon != NULL && colon - text >= 3 && memcmp (colon - 3, ".py", 3) == 0);
}

static gboolean
script_pool_is_identifier (const char *text)
{
  if (*text == '\0' || g_ascii_isdigit (*text))
    return FALSE;
  for (; *text != '\0'; text++)
    if (!g_ascii_isalnum (*text) && *text != '_' && (guchar) *text < 0x80)
      return FALSE;
  return TRUE;
}

static gboolean
script_pool_split (VnScript    *self,
                   GError     **error)
{
  const char *colon = strrchr (self->text, ':');
  g_autofree char *file = NULL;

  if (colon == NULL || colon == self->text || !script_pool_is_identifier (colon + 1))
    {
      g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
                   self->role == VN_SCRIPT_METRIC
                     ? _("The metric “%s” must name a Python file and a function in it, as in “metrics.py:measure”")
                     : _("The preprocessing “%s” must name a Python file and a function in it, as in “prepare.py:load”"),
                     self->text);
      return FALSE;
    }
  file = g_strndup (self->text, (gsize) (colon - self->text));
  self->file = g_canonicalize_filename (file, NULL);
  self->function = g_strdup (colon + 1);
  if (g_file_test (self->file, G_FILE_TEST_IS_REGULAR))
    return TRUE;
  g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_NOENT,
               self->role == VN_SCRIPT_METRIC ? _("The file of the metric “%s” does not exist")
               : _("The preprocessing file “%s” does not exist"),
               self->file);
  return FALSE;
}

static const char *
script_pool_get_usual_python (void)
{
  const char *python = g_getenv ("VN_PYTHON");

  return python != NULL && *python != '\0' ? python : "python3";
}

static VnHelper *
script_pool_start_helper (VnScript  *self,
                          GError   **error)
{
  return vn_helper_new (self->role, self->python, self->file, self->function, self->timeout, self->cancellable, error);
}

/**
 * vn_script_new:
 * @role: what the function is for
 * @script: FILE.py:FUNCTION
 * @python: (nullable): the interpreter; %NULL: that of VN_PYTHON, or python3
 * @timeout: seconds that a call may take; 0: VN_SCRIPT_TIMEOUT
 * @cancellable: (nullable): ends what waits, now and later
 *
 * Runs the file once, so that what is wrong with it shows now.
 *
 * Returns: (transfer full) (nullable): %VN_ERROR_SETTING or a #GFileError for @script; errors of vn_helper_new()
 */
VnScript *
vn_script_new (VnScriptRole    role,
               const char     *script,
               const char     *python,
               guint           timeout,
               GCancellable   *cancellable,
               GError        **error)
{
  g_autoptr(VnScript) self = g_new0 (VnScript, 1);
  VnHelper *first;

  g_mutex_init (&self->lock);
  g_cond_init (&self->idle);
  self->text = g_strdup (script);
  self->role = role;
  self->python = g_strdup (python != NULL ? python : script_pool_get_usual_python ());
  self->timeout = timeout > 0 ? timeout : VN_SCRIPT_TIMEOUT;
  self->cancellable = cancellable != NULL ? g_object_ref (cancellable) : NULL;
  self->max_helpers = MIN (g_get_num_processors (), MAX_HELPERS);
  self->helpers = g_ptr_array_new ();
  if (!script_pool_split (self, error) || (first = script_pool_start_helper (self, error)) == NULL)
    return NULL;
  g_ptr_array_add (self->helpers, first);
  self->n_helpers = 1;
  self->has_finish = vn_helper_has_finish (first);
  return g_steal_pointer (&self);
}

void
vn_script_free (VnScript *self)
{
  if (self == NULL)
    return;
  for (guint i = 0; i < self->helpers->len; i++)
    vn_helper_free (self->helpers->pdata[i]);
  g_ptr_array_unref (self->helpers);
  g_clear_object (&self->cancellable);
  g_clear_error (&self->last_death);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->idle);
  g_free (self->text);
  g_free (self->file);
  g_free (self->function);
  g_free (self->python);
  g_free (self);
}

/* ---- whose turn it is ---- */

/* @helper: (nullable): if it can be used again
 * @reason: (nullable): why it cannot */
static void
script_pool_give_back (VnScript     *self,
                       VnHelper     *helper,
                       const GError *reason)
{
  g_mutex_lock (&self->lock);
  if (helper != NULL)
    {
      g_ptr_array_add (self->helpers, helper);
    }
  else
    {
      self->n_helpers--;
      if (!g_cancellable_is_cancelled (self->cancellable))
        {
          self->n_deaths++;
          g_clear_error (&self->last_death);
          self->last_death = g_error_copy (reason);
        }
    }
  if (self->n_deaths >= MAX_DEATHS)
    g_cond_broadcast (&self->idle);
  else
    g_cond_signal (&self->idle);
  g_mutex_unlock (&self->lock);
}

/* A helper for this thread alone: an idle one, a new one, or the next that becomes idle; each at work becomes idle or
 * ends within the timeout. */
static VnHelper *
script_pool_take_helper (VnScript  *self,
                         GError   **error)
{
  g_autoptr(GError) reason = NULL;
  VnHelper *helper = NULL;
  gboolean start = FALSE;
  gboolean broken;

  g_mutex_lock (&self->lock);
  while (self->n_deaths < MAX_DEATHS && self->helpers->len == 0 && self->n_helpers >= self->max_helpers)
    g_cond_wait (&self->idle, &self->lock);
  broken = self->n_deaths >= MAX_DEATHS;
  if (!broken && self->helpers->len > 0)
    helper = g_ptr_array_steal_index (self->helpers, self->helpers->len - 1);
  else if (!broken)
    start = TRUE;
  self->n_helpers += start;
  if (broken)
    g_set_error (error, self->last_death->domain, self->last_death->code,
                 _("%s. Giving up after %d such failures"), self->last_death->message, MAX_DEATHS);
  g_mutex_unlock (&self->lock);

  if (start && (helper = script_pool_start_helper (self, &reason)) == NULL)
    {
      script_pool_give_back (self, NULL, reason);
      g_propagate_error (error, g_steal_pointer (&reason));
    }
  return helper;
}

/* @alive: whether @helper can be asked again; @reason: (nullable): why not */
static void
script_pool_end_turn (VnScript     *self,
                      VnHelper     *helper,
                      gboolean      alive,
                      const GError *reason)
{
  if (!alive)
    g_clear_pointer (&helper, vn_helper_free);
  script_pool_give_back (self, helper, reason);
}

/**
 * vn_script_measure:
 *
 * Lets a helper measure: see vn_helper_measure(). Any thread.
 *
 * Returns: %FALSE with an error of vn_helper_measure()
 */
gboolean
vn_script_measure (VnScript            *self,
                   const char          *request,
                   const VnHelperPart  *parts,
                   guint                n_parts,
                   char               **text,
                   GBytes             **rest,
                   GError             **error)
{
  g_autoptr(GError) reason = NULL;
  VnHelper *helper = script_pool_take_helper (self, &reason);
  gboolean alive = FALSE, good = FALSE;

  if (helper != NULL)
    {
      good = vn_helper_measure (helper, request, parts, n_parts, self->cancellable, text, rest, &alive, &reason);
      script_pool_end_turn (self, helper, alive, reason);
    }
  if (!good)
    g_propagate_error (error, g_steal_pointer (&reason));
  return good;
}

/**
 * vn_script_has_finish:
 *
 * Returns: whether the file has a function for the results of all samples
 */
gboolean
vn_script_has_finish (const VnScript *self)
{
  return self->has_finish;
}

/* ---- the request ---- */

/* A JSON string, in ASCII. Bytes of a file name that are not UTF-8 become the lone surrogates Python stands for them. */
void
vn_script_append_string (GString    *json,
                         const char *text)
{
  g_string_append_c (json, '"');
  while (*text != '\0')
    {
      gunichar c = g_utf8_get_char_validated (text, -1);
      gboolean valid = c != (gunichar) -1 && c != (gunichar) -2;

      if (!valid)
        g_string_append_printf (json, "\\udc%02x", (guint) (guchar) *text);
      else if (c > 0xffff)
        g_string_append_printf (json, "\\u%04x\\u%04x", 0xd7c0 + (c >> 10), 0xdc00 + (c & 0x3ff));
      else if (c < 0x20 || c > 0x7e || c == '"' || c == '\\')
        g_string_append_printf (json, "\\u%04x", c);
      else
        g_string_append_c (json, (char) c);
      text = valid ? g_utf8_next_char (text) : text + 1;
    }
  g_string_append_c (json, '"');
}

/* With as few digits as tell @value from its neighbours: 0.1, not 0.100000001. */
static void
script_pool_append_float (GString *json,
                          float    value)
{
  static const char * const formats[] = { "%.6g", "%.7g", "%.8g", "%.9g" };
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    if ((float) g_ascii_strtod (g_ascii_formatd (text, sizeof text, formats[i], (double) value), NULL) == value)
      break;
  g_string_append (json, text);
}

static void
script_pool_append_floats (GString     *json,
                           const char  *key,
                           const float *values,
                           guint        n)
{
  g_string_append_printf (json, ", \"%s\": [", key);
  for (guint i = 0; i < n; i++)
    {
      g_string_append (json, i > 0 ? ", " : "");
      script_pool_append_float (json, values[i]);
    }
  g_string_append_c (json, ']');
}

static void
script_pool_append_text (GString    *json,
                         const char *key,
                         const char *value)
{
  g_string_append_printf (json, ", \"%s\": ", key);
  vn_script_append_string (json, value);
}

/* Open sizes are those asked for, the batch 1; what nobody knows is null, so that using it fails. */
static void
script_pool_append_shape (GString            *json,
                          const VnInputSpec  *input,
                          const VnPreprocess *preprocess)
{
  const VnShape *shape = &input->shape;
  VnPicturePlan plan;
  gboolean is_picture = vn_picture_plan_init (&plan, input, preprocess, NULL);
  int row = shape->rank - (is_picture && plan.layout == VN_LAYOUT_NHWC ? 3 : 2);

  g_string_append (json, ", \"input_shape\": [");
  for (int i = 0; i < shape->rank; i++)
    {
      gint64 dim = shape->dims[i];

      if (dim == VN_DIM_UNKNOWN && is_picture && i >= row && i < row + 2)
        dim = i == row ? plan.height : plan.width;
      else if (dim == VN_DIM_UNKNOWN && i == 0)
        dim = 1;
      g_string_append (json, i > 0 ? ", " : "");
      if (dim > 0)
        g_string_append_printf (json, "%" G_GINT64_FORMAT, dim);
      else
        g_string_append (json, dim == 0 && shape->dims[i] == 0 ? "0" : "null");
    }
  g_string_append_c (json, ']');
}

static char *
script_pool_make_request (const VnScript     *self,
                          const VnDataSpec   *spec,
                          const VnInputSpec  *input,
                          const VnPreprocess *preprocess,
                          const char         *path)
{
  GString *json = g_string_new ("{\"paths\": [");
  VnFileKind kind = vn_file_kind (path);
  gint64 batch = input->shape.rank > 0 && input->shape.dims[0] > 0 ? input->shape.dims[0] : 1;
  gboolean is_picture = kind == VN_FILE_PICTURE || kind == VN_FILE_OTHER;
  VnPicturePlan plan;
  guint n_channels = input->shape.rank > 2 && vn_picture_plan_init (&plan, input, preprocess, NULL) ? plan.channels : 3;

  /* A batch of pictures is the same one repeated, as without a script. */
  for (gint64 i = 0; i < (is_picture && input->shape.rank == 4 ? MIN (batch, 1024) : 1); i++)
    {
      g_string_append (json, i > 0 ? ", " : "");
      vn_script_append_string (json, path);
    }
  g_string_append (json, "], \"input\": {\"input_name\": ");
  vn_script_append_string (json, input->name);
  script_pool_append_shape (json, input, preprocess);
  script_pool_append_text (json, "dtype", vn_dtype_get_name (input->dtype));
  script_pool_append_text (json, "file_type", is_picture ? "img" : kind == VN_FILE_NPY || kind == VN_FILE_NPZ ? "npy" : "raw");
  script_pool_append_text (json, "color_format", preprocess->color == VN_COLOR_BGR ? "bgr" : "rgb");
  script_pool_append_floats (json, "mean_value", preprocess->mean, n_channels);
  script_pool_append_floats (json, "std_value", preprocess->std, n_channels);
  script_pool_append_text (json, "preprocess_file", self->text);
  script_pool_append_text (json, "data_list_path", spec->path);
  g_string_append (json, "}}");
  return g_string_free (json, FALSE);
}

/* ---- the answer ---- */

static gboolean
script_pool_check_finite (const VnScript  *self,
                          const VnTensor  *tensor,
                          const char      *path,
                          GError         **error)
{
  gsize n = 0;

  if (!vn_dtype_is_float (tensor->dtype))
    return TRUE;
  for (gsize i = 0; i < tensor->n_elements; i++)
    n += !isfinite (vn_tensor_get_double (tensor, i));
  if (n == 0)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_NUMERIC,
               ngettext ("The preprocessing “%s” produced %zu of %zu value of “%s” that is NaN or infinite",
                         "The preprocessing “%s” produced %zu of %zu values of “%s” that are NaN or infinite",
                         tensor->n_elements),
               self->text, n, tensor->n_elements, path);
  return FALSE;
}

/**
 * vn_script_load:
 * @spec: for the path of the samples, which the dict tells
 * @input: what the network takes
 * @preprocess: mean, deviation, size and order, which the dict tells
 * @path: file of one sample
 *
 * Any thread.
 *
 * Returns: (transfer full) (nullable): the sample in the input's shape and type. %VN_ERROR_SHAPE if what came back does
 *   not fit, %VN_ERROR_NUMERIC if it is not finite; errors of vn_helper_ask()
 */
VnTensor *
vn_script_load (VnScript           *self,
                const VnDataSpec   *spec,
                const VnInputSpec  *input,
                const VnPreprocess *preprocess,
                const char         *path,
                GError            **error)
{
  g_autofree char *request = script_pool_make_request (self, spec, input, preprocess, path);
  g_autoptr(GError) reason = NULL;
  g_autoptr(VnTensor) raw = NULL;
  VnHelper *helper = script_pool_take_helper (self, &reason);
  VnTensor *tensor = NULL;
  gboolean alive = FALSE;

  if (helper != NULL)
    {
      raw = vn_helper_ask (helper, request, self->cancellable, &alive, &reason);
      script_pool_end_turn (self, helper, alive, reason);
    }
  if (raw == NULL)
    {
      g_propagate_prefixed_error (error, g_steal_pointer (&reason), "“%s”: ", path);
      return NULL;
    }
  if (script_pool_check_finite (self, raw, path, error) && (tensor = vn_tensor_fit (raw, input, error)) == NULL)
    g_prefix_error (error, _("“%s”: the preprocessing “%s” returned data that do not match: "), path, self->text);
  return tensor;
}
