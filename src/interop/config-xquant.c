/* SPDX-License-Identifier: GPL-3.0-or-later */

/* XQuant, and XSlim which follows it: JSON with model_parameters, calibration_parameters and quantization_parameters.
 *
 * precision_level: 0 and 1: all operators in 8 bit (XSlim makes no difference between them); 2: sums, differences,
 *   products and quotients of two activations, Softmax and Sigmoid stay float; 3: scales found while running, inside a
 *   custom_setting: float; 4: half precision, inside a custom_setting: float
 * finetune_level: 0: weights equalized between layers in a chain; from 1 on also over branches and with what samples come to,
 *   and biases corrected; 2 and 3 also train scales: named in the notes, as that is not done */

#include "vn-config-private.h"

#include "vn-calibrate.h"
#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-recipe-change.h"

#include <math.h>
#include <string.h>

#define COMPUTED "computed:Mul|Add|Sub|Div"
#define FLOAT_TYPES "type:Softmax|Sigmoid"
#define XQUANT_STEP 100   /* samples, unless said */
#define XSLIM_STEP 500

enum { LEVEL_NONE = -1, LEVEL_ALL, LEVEL_PARTLY, LEVEL_MIXED, LEVEL_DYNAMIC, LEVEL_HALF };

/* one of input_parameters */
typedef struct
{
  char   *name, *dtype, *file_type, *color, *preprocess, *list;
  GArray *shape, *mean, *std;
} Input;

/* one of custom_setting */
typedef struct
{
  char  **from, **to;
  char   *type;
  double  percentile;
  gint64  level;
} Custom;

typedef struct
{
  char      *model, *prefix, *working_dir;
  gboolean   skip_onnxsim;
  gint64     opset;
  gint64     step, batch;
  char      *device, *type;
  GPtrArray *inputs, *customs;
  gint64     precision, finetune;
  gboolean   analyze;
  double     percentile;
  char     **truncate, **ignore_types, **ignore_names;
} XQuant;

static const char * const types[] = { "default", "kl", "minmax", "percentile", "mse", NULL };
static const char * const methods[] = { "xslim", "kl-ppq", "minmax", "percentile-average", "xslim-mse", NULL };
static const char * const file_types[] = { "img", "npy", "raw", NULL };
static const char * const devices[] = { "cuda", "cpu", NULL };
static const char * const colors[] = { "bgr", "rgb", NULL };
static const char * const dtypes[] = { "float32", "int8", "uint8", "int16", "uint16", "int32", "int64", "float16", "bool", NULL };

static const Custom usual_custom = { .level = LEVEL_NONE };

#define AT(type, field) .offset = G_STRUCT_OFFSET (type, field)

static const VnConfigField model_fields[] = {
  { "onnx_model", VN_CONFIG_TEXT, AT (XQuant, model) },
  { "output_model_file_prefix", VN_CONFIG_TEXT, AT (XQuant, prefix) },
  { "output_prefix", VN_CONFIG_TEXT, AT (XQuant, prefix) },
  { "working_dir", VN_CONFIG_TEXT, AT (XQuant, working_dir) },
  { "skip_onnxsim", VN_CONFIG_BOOL, AT (XQuant, skip_onnxsim) },
  { "opset", VN_CONFIG_INT, AT (XQuant, opset), 1, 1000 },
  { NULL }
};

static const VnConfigField input_fields[] = {
  { "input_name", VN_CONFIG_TEXT, AT (Input, name) },
  { "input_shape", VN_CONFIG_SIZES, AT (Input, shape) },
  { "dtype", VN_CONFIG_CHOICE, AT (Input, dtype), .choices = dtypes },
  { "file_type", VN_CONFIG_CHOICE, AT (Input, file_type), .choices = file_types },
  { "color_format", VN_CONFIG_CHOICE, AT (Input, color), .choices = colors },
  { "mean_value", VN_CONFIG_NUMBERS, AT (Input, mean) },
  { "std_value", VN_CONFIG_NUMBERS, AT (Input, std) },
  { "preprocess_file", VN_CONFIG_TEXT, AT (Input, preprocess) },
  { "data_list_path", VN_CONFIG_TEXT, AT (Input, list) },
  { NULL }
};

static const VnConfigField calibration_fields[] = {
  { "calibration_step", VN_CONFIG_INT, AT (XQuant, step), 1, 1e6 },
  { "calibration_batch_size", VN_CONFIG_INT, AT (XQuant, batch), 1, 1e6 },
  { "calibration_device", VN_CONFIG_CHOICE, AT (XQuant, device), .choices = devices },
  { "calibration_type", VN_CONFIG_CHOICE, AT (XQuant, type), .choices = types },
  { "input_parametres", VN_CONFIG_OBJECTS, AT (XQuant, inputs), .fields = input_fields, .size = sizeof (Input) },
  { "input_parameters", VN_CONFIG_OBJECTS, AT (XQuant, inputs), .fields = input_fields, .size = sizeof (Input) },
  { NULL }
};

static const VnConfigField custom_fields[] = {
  { "input_names", VN_CONFIG_TEXTS, AT (Custom, from) },
  { "output_names", VN_CONFIG_TEXTS, AT (Custom, to) },
  { "precision_level", VN_CONFIG_INT, AT (Custom, level), LEVEL_ALL, LEVEL_HALF },
  { "calibration_type", VN_CONFIG_CHOICE, AT (Custom, type), .choices = types },
  { "max_percentile", VN_CONFIG_NUMBER, AT (Custom, percentile), 0.5, 1 },
  { NULL }
};

static const VnConfigField quantization_fields[] = {
  { "analysis_enable", VN_CONFIG_BOOL, AT (XQuant, analyze) },
  { "precision_level", VN_CONFIG_INT, AT (XQuant, precision), LEVEL_ALL, LEVEL_HALF },
  { "finetune_level", VN_CONFIG_INT, AT (XQuant, finetune), 0, 3 },
  { "max_percentile", VN_CONFIG_NUMBER, AT (XQuant, percentile), 0.5, 1 },
  { "custom_setting", VN_CONFIG_OBJECTS, AT (XQuant, customs), .fields = custom_fields, .size = sizeof (Custom),
    .initial = &usual_custom },
  { "truncate_var_names", VN_CONFIG_TEXTS, AT (XQuant, truncate) },
  { "ignore_op_types", VN_CONFIG_TEXTS, AT (XQuant, ignore_types) },
  { "ignore_op_names", VN_CONFIG_TEXTS, AT (XQuant, ignore_names) },
  { NULL }
};

static const VnConfigField fields[] = {
  { "model_parameters", VN_CONFIG_OBJECT, .fields = model_fields },
  { "calibration_parameters", VN_CONFIG_OBJECT, .fields = calibration_fields },
  { "quantization_parameters", VN_CONFIG_OBJECT, .fields = quantization_fields },
  { NULL }
};

static void
config_xquant_clear (XQuant *self)
{
  vn_config_clear_fields (fields, self);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (XQuant, config_xquant_clear)

/* ---- inputs ---- */

/* One number for all channels, or one for each. */
static gboolean
config_xquant_set_channels (float         values[4],
                            const GArray *numbers,
                            gboolean      divides,
                            const char   *where,
                            GError      **error)
{
  if (numbers == NULL || numbers->len == 0)
    return TRUE;
  if (numbers->len > 4)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("%s: %u values are not allowed; use 1 to 4"), where, numbers->len);
      return FALSE;
    }
  for (guint i = 0; i < 4; i++)
    {
      double value = g_array_index (numbers, double, MIN (i, numbers->len - 1));

      if (divides && (float) value == 0)
        {
          g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("%s: %g is not allowed; pixels are divided by it"), where, value);
          return FALSE;
        }
      if (!isfinite ((float) value))
        {
          g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("%s: %g is not allowed; it is not a pixel value"), where, value);
          return FALSE;
        }
      values[i] = (float) value;
    }
  return TRUE;
}

/* FILE.py:FUNCTION with the file where it is. */
static char *
config_xquant_find_script (VnConfig   *config,
                           const char *script)
{
  const char *colon = strrchr (script, ':');
  g_autofree char *name = colon != NULL ? g_strndup (script, (gsize) (colon - script)) : g_strdup (script);
  g_autofree char *file = vn_config_find_file (config, name);

  return g_strconcat (file, colon, NULL);
}

static gboolean
config_xquant_add_preprocess (VnConfig       *config,
                              const Input    *from,
                              VnConfigInput  *to,
                              const char     *where,
                              GError        **error)
{
  g_autofree char *mean = g_strconcat (where, ".mean_value", NULL), *std = g_strconcat (where, ".std_value", NULL);
  g_autofree char *preset = g_strconcat (where, ".preprocess_file", NULL);

  vn_preprocess_init (&to->preprocess);
  if (from->preprocess != NULL && vn_data_spec_is_script (from->preprocess))
    {
      to->script = config_xquant_find_script (config, from->preprocess);
      vn_config_note (config, VN_NOTE_INFO, preset, _("“%s” is run to read the samples"), from->preprocess);
    }
  else if (from->preprocess != NULL && !vn_preprocess_set_preset (&to->preprocess, from->preprocess, error))
    {
      g_prefix_error (error, _("%s: use PT_IMAGENET, IMAGENET or FILE.py:FUNCTION: "), preset);
      return FALSE;
    }
  if (from->preprocess == NULL)
    to->preprocess.resample = VN_RESAMPLE_AREA;   /* as XQuant's own preprocessing does it */
  to->preprocess.color = g_strcmp0 (from->color, "rgb") == 0 ? VN_COLOR_RGB : VN_COLOR_BGR;
  return config_xquant_set_channels (to->preprocess.mean, from->mean, FALSE, mean, error) &&
         config_xquant_set_channels (to->preprocess.std, from->std, TRUE, std, error);
}

static gboolean
config_xquant_add_input (VnConfig     *config,
                         const Input  *from,
                         guint         index,
                         GError      **error)
{
  g_autofree char *where = g_strdup_printf ("calibration_parameters.input_parametres[%u]", index);
  VnConfigInput *to = g_new0 (VnConfigInput, 1);

  g_ptr_array_add (config->inputs, to);
  to->name = g_strdup (from->name);
  to->list = g_strdup (from->list);
  to->dtype = from->dtype != NULL ? vn_dtype_from_name (from->dtype) : VN_DTYPE_UNDEFINED;
  to->raw = g_strcmp0 (from->file_type, "raw") == 0;
  if (from->shape != NULL)
    {
      to->rank = from->shape->len;
      to->shape = g_memdup2 (from->shape->data, sizeof (gint64) * to->rank);
    }
  return config_xquant_add_preprocess (config, from, to, where, error);
}

/* ---- levels ---- */

static void
config_xquant_add_mixed (VnConfig  *config,
                         char     **from,
                         char     **to)
{
  vn_config_add_rule (config, FLOAT_TYPES, from, to, TRUE);
  vn_config_add_rule (config, COMPUTED, from, to, TRUE);
}

static gboolean
config_xquant_set_level (VnConfig      *config,
                         const XQuant  *xquant,
                         GError       **error)
{
  switch (xquant->precision)
    {
    case LEVEL_PARTLY:
      vn_config_note (config, VN_NOTE_INFO, "quantization_parameters.precision_level",
                      _("Level 1 quantizes as level 0 does, as in XSlim"));
      return TRUE;
    case LEVEL_MIXED:
      config_xquant_add_mixed (config, NULL, NULL);
      return TRUE;
    case LEVEL_DYNAMIC:
      config->needs_samples = FALSE;
      vn_recipe_apply_settings (config->recipe, "dynamic=true");
      return vn_recipe_set (config->recipe, "bias", "auto", error) &&
             vn_recipe_set (config->recipe, "activation", "uint8", error) &&
             vn_recipe_set (config->recipe, "format", "integer", error);
    case LEVEL_HALF:
      config->needs_samples = FALSE;
      return vn_recipe_set (config->recipe, "bias", "auto", error) && vn_recipe_set (config->recipe, "format", "fp16", error);
    default:
      return TRUE;
    }
}

/* What XSlim reads from the environment: whether biases stay float, as they do unless it is “0”. */
static gboolean
config_xquant_set_bias (VnConfig  *config,
                        GError   **error)
{
  const char *variable = g_getenv ("XQUANT_BIAS_TO_FP32");
  gint64 number = 1;

  if (variable == NULL)
    return TRUE;
  if (!g_ascii_string_to_signed (variable, 10, G_MININT32, G_MAXINT32, &number, NULL))
    {
      g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("The variable XQUANT_BIAS_TO_FP32 is “%s”; use 0 or 1"), variable);
      return FALSE;
    }
  return number > 0 || vn_recipe_set (config->recipe, "bias", "auto", error);
}

/* By finetune_level. */
static void
config_xquant_set_finetune (VnConfig     *config,
                            const XQuant *xquant)
{
  static const char * const levels[] = {
    "equalize=ppq equalize-level=1 equalize-activations=false bias-correction=off train=off train-blocks=0",
    "equalize=ppq equalize-level=2 equalize-activations=true bias-correction=xslim train=off train-blocks=0",
    "equalize=ppq equalize-level=2 equalize-activations=true bias-correction=xslim train=adaquant-thresholds train-blocks="
    G_STRINGIFY (VN_XQUANT_FEW_BLOCKS),
    "equalize=ppq equalize-level=2 equalize-activations=true bias-correction=xslim train=adaquant-thresholds train-blocks="
    G_STRINGIFY (VN_XQUANT_MORE_BLOCKS),
  };

  if (xquant->precision < LEVEL_DYNAMIC)
    vn_recipe_apply_settings (config->recipe, levels[CLAMP (xquant->finetune, 0, 3)]);
}

/* ---- rules ---- */

static const char *
config_xquant_find_method (const char *type)
{
  for (guint i = 0; type != NULL && types[i] != NULL; i++)
    if (g_str_equal (types[i], type))
      return methods[i];
  return NULL;
}

/* The operators that are quantized anyway. */
static char *
config_xquant_dup_usual (const VnConfig *config)
{
  char **op_types = config->recipe->op_types;
  g_autofree char *usual = op_types != NULL ? g_strjoinv ("|", op_types) : NULL;

  return usual != NULL ? g_strconcat ("type:", usual, NULL) : NULL;
}

static gboolean
config_xquant_add_custom (VnConfig      *config,
                          const XQuant  *xquant,
                          const Custom  *custom,
                          guint          index,
                          GError       **error)
{
  gint64 level = custom->level != LEVEL_NONE ? custom->level : xquant->precision;
  gboolean exclude = custom->level >= LEVEL_DYNAMIC;
  gboolean includes = level < LEVEL_MIXED && xquant->precision == LEVEL_MIXED;
  VnOverride *rule;

  if (custom->from == NULL || custom->to == NULL || custom->from[0] == NULL || custom->to[0] == NULL)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
                   _("quantization_parameters.custom_setting[%u]: input_names and output_names must name the tensors around the "
                     "region"),
                   index);
      return FALSE;
    }
  /* a rule that says nothing would still ask for operators that stay float elsewhere */
  if (exclude || includes || config_xquant_find_method (custom->type) != NULL || custom->percentile > 0)
    {
      g_autofree char *usual = exclude ? NULL : config_xquant_dup_usual (config);

      rule = vn_config_add_rule (config, usual, custom->from, custom->to, exclude);
      rule->method = g_strdup (config_xquant_find_method (custom->type));
      rule->percentile = custom->percentile * 100;
    }
  if (level == LEVEL_MIXED)
    config_xquant_add_mixed (config, custom->from, custom->to);
  return TRUE;
}

static gboolean
config_xquant_add_rules (VnConfig      *config,
                         const XQuant  *xquant,
                         GError       **error)
{
  for (guint i = 0; xquant->customs != NULL && i < xquant->customs->len; i++)
    if (!config_xquant_add_custom (config, xquant, g_ptr_array_index (xquant->customs, i), i, error))
      return FALSE;
  for (char **at = xquant->ignore_types; at != NULL && *at != NULL; at++)
    {
      g_autofree char *pattern = g_strconcat ("type:", *at, NULL);

      vn_config_add_rule (config, pattern, NULL, NULL, TRUE);
    }
  for (char **at = xquant->ignore_names; at != NULL && *at != NULL; at++)
    vn_config_add_rule (config, *at, NULL, NULL, TRUE);
  return TRUE;
}

/* ---- all ---- */

/* Fields as settings have them. */
typedef struct
{
  gboolean optimize;
  double   percentile;
  gint64   opset;
} Own;

static const VnConfigTarget own_targets[] = {
  { "optimize", G_STRUCT_OFFSET (Own, optimize) },
  { "percentile", G_STRUCT_OFFSET (Own, percentile), VN_CONFIG_POSITIVE },
  { "opset", G_STRUCT_OFFSET (Own, opset) },
};

static gboolean
config_xquant_set_recipe (VnConfig      *config,
                          const XQuant  *xquant,
                          GError       **error)
{
  Own own;

  g_clear_pointer (&config->recipe, vn_recipe_free);
  config->recipe = vn_recipe_new ("xquant");
  if (xquant->type != NULL &&
      !vn_config_set (config, "method", config_xquant_find_method (xquant->type), "calibration_parameters.calibration_type",
                      error))
    return FALSE;
  own = (Own) { !xquant->skip_onnxsim, xquant->percentile * 100, xquant->opset >= 10 ? xquant->opset : 0 };
  vn_config_take_fields (config, own_targets, G_N_ELEMENTS (own_targets), &own);
  if (xquant->opset > 0 && xquant->opset < 10)
    vn_config_note (config, VN_NOTE_WARNING, "model_parameters.opset", _("Quantization needs at least opset 10; it is "
                                                                         "raised as needed"));
  config_xquant_set_finetune (config, xquant);
  return config_xquant_set_bias (config, error) && config_xquant_set_level (config, xquant, error);
}

static void
config_xquant_note_rest (VnConfig     *config,
                         const XQuant *xquant)
{
  if (xquant->step < 10 || xquant->step > 1000)
    vn_config_note (config, VN_NOTE_WARNING, "calibration_parameters.calibration_step",
                    ngettext ("%d sample is requested; 100 to 1000 are typical",
                              "%d samples are requested; 100 to 1000 are typical", xquant->step), (int) xquant->step);
  if (xquant->batch != 1)
    vn_config_note (config, VN_NOTE_INFO, "calibration_parameters.calibration_batch_size",
                    _("Samples are processed one by one"));
  if (g_strcmp0 (xquant->device, "cuda") == 0)
    vn_config_note (config, VN_NOTE_INFO, "calibration_parameters.calibration_device", _("The CPU is used"));
}

/* “。/tmp” for “./tmp”: what an input method for Chinese makes of it. */
static void
config_xquant_mend_path (VnConfig   *config,
                         char      **path,
                         const char *where)
{
  g_autoptr(GString) mended = g_string_new (*path);

  g_string_replace (mended, "\xef\xbc\x8f", "/", 0);
  if (*path != NULL && (g_utf8_get_char (*path) == 0x3002 || g_utf8_get_char (*path) == 0xff0e))
    {
      g_string_erase (mended, 0, 3);
      g_string_prepend_c (mended, '.');
    }
  if (*path == NULL || g_str_equal (*path, mended->str))
    return;
  vn_config_note (config, VN_NOTE_WARNING, where,
                  _("“%s” is read as “%s”: it has a full-width character instead of “.” or “/”"), *path, mended->str);
  g_free (*path);
  *path = g_strdup (mended->str);
}

static gboolean
config_xquant_convert (VnConfig  *config,
                       XQuant    *xquant,
                       GError   **error)
{
  config_xquant_mend_path (config, &xquant->working_dir, "model_parameters.working_dir");
  config_xquant_mend_path (config, &xquant->model, "model_parameters.onnx_model");
  if (!config_xquant_set_recipe (config, xquant, error) || !config_xquant_add_rules (config, xquant, error))
    return FALSE;
  for (guint i = 0; xquant->inputs != NULL && i < xquant->inputs->len; i++)
    if (!config_xquant_add_input (config, g_ptr_array_index (xquant->inputs, i), i, error))
      return FALSE;
  config->model = g_steal_pointer (&xquant->model);
  config->prefix = g_steal_pointer (&xquant->prefix);
  config->working_dir = g_steal_pointer (&xquant->working_dir);
  config->truncate = g_steal_pointer (&xquant->truncate);
  config->analyze = xquant->analyze;
  config->n_samples = (guint) xquant->step;
  config->has_samples = TRUE;
  config_xquant_note_rest (config, xquant);
  return TRUE;
}

static gboolean
config_xquant_has_member (JsonNode   *root,
                          const char *group,
                          const char *field)
{
  JsonNode *node = JSON_NODE_HOLDS_OBJECT (root) ? json_object_get_member (json_node_get_object (root), group) : NULL;

  return node != NULL && JSON_NODE_HOLDS_OBJECT (node) && json_object_has_member (json_node_get_object (node), field);
}

/* Its spelling, and fields that XQuant has not. */
static gboolean
config_xquant_is_xslim (JsonNode *root)
{
  return config_xquant_has_member (root, "calibration_parameters", "input_parameters") ||
         config_xquant_has_member (root, "calibration_parameters", "calibration_batch_size") ||
         config_xquant_has_member (root, "model_parameters", "opset") ||
         config_xquant_has_member (root, "quantization_parameters", "ignore_op_types") ||
         config_xquant_has_member (root, "quantization_parameters", "ignore_op_names");
}

static gboolean
config_xquant_read_xquant (VnConfig  *config,
                           JsonNode  *root,
                           GError   **error)
{
  g_auto(XQuant) xquant = { .step = config_xquant_is_xslim (root) ? XSLIM_STEP : XQUANT_STEP, .batch = 1, .precision = LEVEL_ALL,
                            .finetune = 1, .analyze = TRUE };

  return vn_config_read_fields (config, fields, &xquant, root, "", error) && config_xquant_convert (config, &xquant, error);
}

static gboolean
config_xquant_knows (JsonObject *root)
{
  return json_object_has_member (root, "model_parameters") || json_object_has_member (root, "calibration_parameters") ||
         json_object_has_member (root, "quantization_parameters");
}

const VnConfigReader vn_config_xquant = {
  .id = "xquant",
  .title = N_("XQuant and XSlim"),
  .knows = config_xquant_knows,
  .read = config_xquant_read_xquant,
};
