/* SPDX-License-Identifier: GPL-3.0-or-later */

/* AMD's quantizer settings: overall_quantize_config, the same for kinds of tensors, and for single layers by
 * layer_type (as PyTorch calls it) or layer_name. And files of subgraphs for mixed precision, whose nodes stay float. */

#include "vn-config-private.h"

#include "vn-error.h"
#include "vn-i18n.h"

/* A quantize_config: of everything, of a kind of tensors, or of a layer. Texts that are NULL are not said. */
typedef struct
{
  char    *datatype, *method, *round_mode, *scale_type, *statistic;
  gint64   bits;                 /* 0: not said */
  double   percentage;
  gboolean symmetry, per_channel, is_signed, narrow_range;
} Tensors;

typedef struct { Tensors overall, input, weights, bias, activation; } Group;

typedef struct
{
  char  *type, *name;
  char **kinds;
  Group  group;
} Layer;

/* AMD’s “fast finetune”, as extra_options or algo_config say it. */
typedef struct
{
  char    *algorithm;
  gint64   steps, batch, size, seed;       /* 0: not said */
  double   rate, regularization, drop;     /* negative: not said */
  gboolean early_stop;
} Finetune;

typedef struct
{
  gboolean   relu6, silu, cle, first_last, add, correct;
  gint64     steps;
  double     difference, threshold;
  gboolean   append_bias, use_threshold, subgraphs;
  char      *device, *minmse;
  gint64     opset;
  char     **kinds;
  Group      group;
  GPtrArray *layers, *algorithms;
  gboolean   fast_finetune;
  Finetune   finetune;
} Settings;

static const char * const datatypes[] = { "int", "float16", "bfloat16", "float32", NULL };
static const char * const names[] = { "maxmin", "percentile", "mse", "diffs", "entropy", NULL };
static const char * const methods[] = { "minmax", "percentile", "mse", "nonoverflow", "entropy", NULL };
static const char * const scale_types[] = { "float", "poweroftwo", NULL };
static const char * const roundings[] = { "half_even", "half_up", "half_down", "std_round", NULL };
static const char * const minmse_modes[] = { "All", "MostCommon", "Percentile", NULL };
static const char * const statistics[] = { "max", "mean", "median", "modal", NULL };

/* Layers as PyTorch calls them. */
static const struct { const char *torch, *onnx; } layer_types[] = {
  { "Conv1d", "Conv" }, { "Conv2d", "Conv" }, { "Conv3d", "Conv" }, { "ConvTranspose2d", "ConvTranspose" },
  { "ConvTranspose3d", "ConvTranspose" }, { "Linear", "Gemm|MatMul" }, { "ReLU", "Relu" }, { "ReLU6", "Clip" },
  { "MaxPool2d", "MaxPool" }, { "AvgPool2d", "AveragePool" }, { "AdaptiveAvgPool2d", "GlobalAveragePool" },
  { "BatchNorm2d", "BatchNormalization" }, { "LayerNorm", "LayerNormalization" }, { "Sigmoid", "Sigmoid" },
  { "Softmax", "Softmax" }, { "GELU", "Gelu" }, { "Hardswish", "HardSwish" }, { "Add", "Add" }, { "Cat", "Concat" },
};

#define AT(type, field) .offset = G_STRUCT_OFFSET (type, field)

static const VnConfigField tensor_fields[] = {
  { "datatype", VN_CONFIG_CHOICE, AT (Tensors, datatype), .choices = datatypes },
  { "bit_width", VN_CONFIG_INT, AT (Tensors, bits), 1, 32 },
  { "method", VN_CONFIG_CHOICE, AT (Tensors, method), .choices = names },
  { "round_mode", VN_CONFIG_CHOICE, AT (Tensors, round_mode), .choices = roundings },
  { "symmetry", VN_CONFIG_BOOL, AT (Tensors, symmetry) },
  { "per_channel", VN_CONFIG_BOOL, AT (Tensors, per_channel) },
  { "signed", VN_CONFIG_BOOL, AT (Tensors, is_signed) },
  { "narrow_range", VN_CONFIG_BOOL, AT (Tensors, narrow_range) },
  { "scale_type", VN_CONFIG_CHOICE, AT (Tensors, scale_type), .choices = scale_types },
  { "calib_statistic_method", VN_CONFIG_CHOICE, AT (Tensors, statistic), .choices = statistics },
  { "percentage", VN_CONFIG_NUMBER, AT (Tensors, percentage), 50, 100 },
  { NULL }
};

static const VnConfigField kind_fields[] = {
  { "input", VN_CONFIG_OBJECT, AT (Group, input), .fields = tensor_fields },
  { "weights", VN_CONFIG_OBJECT, AT (Group, weights), .fields = tensor_fields },
  { "bias", VN_CONFIG_OBJECT, AT (Group, bias), .fields = tensor_fields },
  { "activation", VN_CONFIG_OBJECT, AT (Group, activation), .fields = tensor_fields },
  { NULL }
};

static const VnConfigField layer_fields[] = {
  { "layer_type", VN_CONFIG_TEXT, AT (Layer, type) },
  { "layer_name", VN_CONFIG_TEXT, AT (Layer, name) },
  { "quantizable_data_type", VN_CONFIG_TEXTS, AT (Layer, kinds) },
  { "overall_quantize_config", VN_CONFIG_OBJECT, AT (Layer, group.overall), .fields = tensor_fields },
  { "tensor_quantize_config", VN_CONFIG_OBJECT, AT (Layer, group), .fields = kind_fields },
  { NULL }
};

static const Layer usual_layer = { .group.overall = { .is_signed = TRUE, .symmetry = TRUE } };

static const char * const algorithms[] = { "adaround", "adaquant", NULL };

/* What says how PyTorch computes it, or how it is told, has no effect here. */
static const VnConfigField finetune_fields[] = {
  { "OptimAlgorithm", VN_CONFIG_CHOICE, AT (Finetune, algorithm), .choices = algorithms },
  { "NumIterations", VN_CONFIG_INT, AT (Finetune, steps), 1, 1 << 20 },
  { "LearningRate", VN_CONFIG_NUMBER, AT (Finetune, rate), 0, 10 },
  { "BatchSize", VN_CONFIG_INT, AT (Finetune, batch), 1, 1 << 30 },
  { "DataSize", VN_CONFIG_INT, AT (Finetune, size), 1, 1 << 30 },
  { "FixedSeed", VN_CONFIG_INT, AT (Finetune, seed), 0, 4294967295. },
  { "EarlyStop", VN_CONFIG_BOOL, AT (Finetune, early_stop) },
  { "RegParam", VN_CONFIG_NUMBER, AT (Finetune, regularization), 0, 100 },
  { "DropRatio", VN_CONFIG_NUMBER, AT (Finetune, drop), 0, 1 },
  { "NumBatches", VN_CONFIG_IGNORED }, { "OptimDevice", VN_CONFIG_IGNORED }, { "InferDevice", VN_CONFIG_IGNORED },
  { "LRAdjust", VN_CONFIG_IGNORED }, { "SelectiveUpdate", VN_CONFIG_IGNORED }, { "UpdateBias", VN_CONFIG_IGNORED },
  { "OutputQDQ", VN_CONFIG_IGNORED }, { "MemOptLevel", VN_CONFIG_IGNORED }, { "CacheDir", VN_CONFIG_IGNORED },
  { "LogPeriod", VN_CONFIG_IGNORED }, { "Parallel", VN_CONFIG_IGNORED }, { "TargetOpType", VN_CONFIG_IGNORED },
  { "BetaRange", VN_CONFIG_IGNORED }, { "WarmStart", VN_CONFIG_IGNORED }, { "RefModelPath", VN_CONFIG_IGNORED },
  { "OutputIndex", VN_CONFIG_IGNORED }, { "DynamicBatch", VN_CONFIG_IGNORED },
  { NULL }
};

/* The same as Quark writes its algorithms. */
static const VnConfigField algorithm_fields[] = {
  { "name", VN_CONFIG_TEXT, AT (Finetune, algorithm) },
  { "num_iterations", VN_CONFIG_INT, AT (Finetune, steps), 1, 1 << 20 },
  { "learning_rate", VN_CONFIG_NUMBER, AT (Finetune, rate), 0, 10 },
  { "batch_size", VN_CONFIG_INT, AT (Finetune, batch), 1, 1 << 30 },
  { "data_size", VN_CONFIG_INT, AT (Finetune, size), 1, 1 << 30 },
  { "fixed_seed", VN_CONFIG_INT, AT (Finetune, seed), 0, 4294967295. },
  { "early_stop", VN_CONFIG_BOOL, AT (Finetune, early_stop) },
  { "reg_param", VN_CONFIG_NUMBER, AT (Finetune, regularization), 0, 100 },
  { "drop_ratio", VN_CONFIG_NUMBER, AT (Finetune, drop), 0, 1 },
  { "num_batches", VN_CONFIG_IGNORED }, { "optim_device", VN_CONFIG_IGNORED }, { "infer_device", VN_CONFIG_IGNORED },
  { "lr_adjust", VN_CONFIG_IGNORED }, { "selective_update", VN_CONFIG_IGNORED }, { "update_bias", VN_CONFIG_IGNORED },
  { "output_qdq", VN_CONFIG_IGNORED }, { "mem_opt_level", VN_CONFIG_IGNORED }, { "cache_dir", VN_CONFIG_IGNORED },
  { "log_period", VN_CONFIG_IGNORED }, { "parallel", VN_CONFIG_IGNORED }, { "target_op_type", VN_CONFIG_IGNORED },
  { "beta_range", VN_CONFIG_IGNORED }, { "warm_start", VN_CONFIG_IGNORED }, { "ref_model_path", VN_CONFIG_IGNORED },
  { "output_index", VN_CONFIG_IGNORED }, { "dynamic_batch", VN_CONFIG_IGNORED }, { "use_gds", VN_CONFIG_IGNORED },
  { NULL }
};

static const Finetune usual_finetune = { .rate = -1, .regularization = -1, .drop = -1 };

/* As vai_q_onnx and Quark call them in Python. */
static const VnConfigField extra_fields[] = {
  { "CLESteps", VN_CONFIG_INT, AT (Settings, steps), -1, 1000 },
  { "CLETotalLayerDiffThreshold", VN_CONFIG_NUMBER, AT (Settings, difference), 0, 1 },
  { "CLEScaleAppendBias", VN_CONFIG_BOOL, AT (Settings, append_bias) },
  { "CLEScaleUseThreshold", VN_CONFIG_BOOL, AT (Settings, use_threshold) },
  { "CLEWeightThreshold", VN_CONFIG_NUMBER, AT (Settings, threshold), 0, 1e6 },
  { "ReplaceClip6Relu", VN_CONFIG_BOOL, AT (Settings, relu6) },
  { "MinMSEMode", VN_CONFIG_CHOICE, AT (Settings, minmse), .choices = minmse_modes },
  { "MinMSEModePof2Scale", VN_CONFIG_CHOICE, AT (Settings, minmse), .choices = minmse_modes },
  { "BiasCorrection", VN_CONFIG_BOOL, AT (Settings, correct) },
  { "EnableSubgraph", VN_CONFIG_BOOL, AT (Settings, subgraphs) },
  { "FastFinetune", VN_CONFIG_OBJECT, AT (Settings, finetune), .fields = finetune_fields },
  { NULL }
};

static const VnConfigField fields[] = {
  { "convert_relu6_to_relu", VN_CONFIG_BOOL, AT (Settings, relu6) },
  { "convert_silu_to_hswish", VN_CONFIG_BOOL, AT (Settings, silu) },
  { "include_cle", VN_CONFIG_BOOL, AT (Settings, cle) },
  { "keep_first_last_layer_accuracy", VN_CONFIG_BOOL, AT (Settings, first_last) },
  { "keep_add_layer_accuracy", VN_CONFIG_BOOL, AT (Settings, add) },
  { "include_bias_corr", VN_CONFIG_BOOL, AT (Settings, correct) },
  { "include_fast_ft", VN_CONFIG_BOOL, AT (Settings, fast_finetune) },
  { "algo_config", VN_CONFIG_OBJECTS, AT (Settings, algorithms), .fields = algorithm_fields,
    .size = sizeof (Finetune), .initial = &usual_finetune },
  { "extra_options", VN_CONFIG_OBJECT, .fields = extra_fields },
  { "target_device", VN_CONFIG_TEXT, AT (Settings, device) },
  { "onnx_opset_version", VN_CONFIG_INT, AT (Settings, opset), 1, 1000 },
  { "quantizable_data_type", VN_CONFIG_TEXTS, AT (Settings, kinds) },
  { "overall_quantize_config", VN_CONFIG_OBJECT, AT (Settings, group.overall), .fields = tensor_fields },
  { "tensor_quantize_config", VN_CONFIG_OBJECT, AT (Settings, group), .fields = kind_fields },
  { "layer_quantize_config", VN_CONFIG_OBJECTS, AT (Settings, layers), .fields = layer_fields, .size = sizeof (Layer),
    .initial = &usual_layer },
  { NULL }
};

static void
config_amd_clear (Settings *self)
{
  vn_config_clear_fields (fields, self);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Settings, config_amd_clear)

/* ---- tensors ---- */

static gboolean
config_amd_is_given (const Tensors *self)
{
  return self->datatype != NULL || self->bits > 0;
}

/* "int" of 8 bits: "s8"; the type of a float: its name; NULL with nothing said. */
static char *
config_amd_dup_type (const Tensors  *self,
                     const char     *where,
                     GError        **error)
{
  if (self->datatype == NULL || g_str_equal (self->datatype, "int"))
    return g_strdup_printf ("%s%d", self->is_signed ? "s" : "u", self->bits > 0 ? (int) self->bits : 8);
  if (g_str_equal (self->datatype, "float16"))
    return g_strdup ("fp16");
  if (g_str_equal (self->datatype, "bfloat16"))
    return g_strdup ("bf16");
  g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("%s.datatype: float32 is not quantized; exclude tensors that "
                                                        "stay in float"), where);
  return NULL;
}

static const char *
config_amd_find_method (const char *name)
{
  for (guint i = 0; name != NULL && names[i] != NULL; i++)
    if (g_str_equal (names[i], name))
      return methods[i];
  return NULL;
}

static void
config_amd_note_tensors (VnConfig      *config,
                         const Tensors *self,
                         const char    *where)
{
  if (self->round_mode != NULL && !g_str_equal (self->round_mode, "half_even"))
    vn_config_note (config, VN_NOTE_WARNING, where, _("round_mode %s: ONNX rounds halves to even"), self->round_mode);
  if (self->statistic != NULL && !g_str_equal (self->statistic, "max"))
    vn_config_note (config, VN_NOTE_WARNING, where, _("calib_statistic_method %s: all samples are processed together"),
                    self->statistic);
}

/* What comes of several fields for all tensors. */
typedef struct
{
  gboolean symmetric, per_channel, reduce_range, narrow_range;
  double   percentile;
} Overall;

static const VnConfigTarget overall_targets[] = {
  { "symmetric-activations", G_STRUCT_OFFSET (Overall, symmetric) },
  { "per-channel", G_STRUCT_OFFSET (Overall, per_channel) },
  { "reduce-range", G_STRUCT_OFFSET (Overall, reduce_range) },
  { "narrow-range", G_STRUCT_OFFSET (Overall, narrow_range) },
  { "percentile", G_STRUCT_OFFSET (Overall, percentile), VN_CONFIG_POSITIVE },
};

static gboolean
config_amd_set_overall (VnConfig       *config,
                        const Settings *settings,
                        GError        **error)
{
  const Group *group = &settings->group;
  const Tensors *activation = config_amd_is_given (&group->activation) ? &group->activation : &group->overall;
  const Tensors *weights = config_amd_is_given (&group->weights) ? &group->weights : &group->overall;
  const char *where = "overall_quantize_config";
  g_autofree char *a = config_amd_dup_type (activation, where, error);
  g_autofree char *w = a != NULL ? config_amd_dup_type (weights, where, error) : NULL;
  gboolean is_int = activation->datatype == NULL || g_str_equal (activation->datatype, "int");
  Overall all;

  if (w == NULL)
    return FALSE;
  if (!is_int && !vn_config_set (config, "format", "extended", where, error))
    return FALSE;
  if (!vn_config_set (config, "activation", a, where, error) || !vn_config_set (config, "weight", w, where, error))
    return FALSE;
  if (config_amd_find_method (group->overall.method) != NULL &&
      !vn_config_set (config, "method", config_amd_find_method (group->overall.method), where, error))
    return FALSE;
  all = (Overall) { group->overall.symmetry && is_int, (weights->per_channel || group->weights.per_channel) && is_int, FALSE,
                    group->overall.narrow_range || group->weights.narrow_range, group->overall.percentage };
  vn_config_take_fields (config, overall_targets, G_N_ELEMENTS (overall_targets), &all);
  if (g_strcmp0 (group->overall.scale_type, "poweroftwo") == 0)
    vn_recipe_apply_settings (config->recipe, "power-of-two=nearest");
  if (config_amd_is_given (&group->bias))
    vn_config_note (config, VN_NOTE_INFO, "tensor_quantize_config.bias", _("Biases get the type that matches inputs "
                                                                           "and weights"));
  config_amd_note_tensors (config, &group->overall, where);
  return TRUE;
}

/* ---- layers ---- */

static char *
config_amd_dup_pattern (const Layer *layer)
{
  for (guint i = 0; layer->type != NULL && i < G_N_ELEMENTS (layer_types); i++)
    if (g_str_equal (layer_types[i].torch, layer->type))
      return g_strconcat ("type:", layer_types[i].onnx, NULL);
  return layer->type != NULL ? g_strconcat ("type:", layer->type, NULL) : g_strdup (layer->name);
}

static gboolean
config_amd_set_type (VnDType       *dtype,
                     const Tensors *tensors,
                     const char    *where,
                     GError       **error)
{
  g_autofree char *name = config_amd_dup_type (tensors, where, error);

  if (name == NULL)
    return FALSE;
  *dtype = vn_dtype_from_name (name);
  if (*dtype != VN_DTYPE_UNDEFINED)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("%s.bit_width: %d is not allowed; use 4, 8 or 16"), where,
               (int) tensors->bits);
  return FALSE;
}

static gboolean
config_amd_add_layer (VnConfig     *config,
                      const Layer  *layer,
                      guint         index,
                      GError      **error)
{
  g_autofree char *where = g_strdup_printf ("layer_quantize_config[%u]", index);
  g_autofree char *pattern = config_amd_dup_pattern (layer);
  const Tensors *overall = &layer->group.overall;
  VnOverride *rule;

  if (pattern == NULL)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("%s: layer_type or layer_name is required"), where);
      return FALSE;
    }
  rule = vn_config_add_rule (config, pattern, NULL, NULL, g_strcmp0 (overall->datatype, "float32") == 0);
  if (rule->exclude)
    return TRUE;
  if (overall->bits > 0 || overall->datatype != NULL)
    {
      if (!config_amd_set_type (&rule->activation, overall, where, error) ||
          !config_amd_set_type (&rule->weight, overall, where, error))
        return FALSE;
    }
  rule->method = g_strdup (config_amd_find_method (overall->method));
  if (layer->group.weights.per_channel != config->recipe->per_channel &&
      (layer->group.weights.per_channel || overall->per_channel))
    vn_config_note (config, VN_NOTE_WARNING, where, _("per_channel: applies to the whole model, not to individual layers"));
  config_amd_note_tensors (config, overall, where);
  return TRUE;
}

/* ---- all ---- */

static void
config_amd_note_options (VnConfig       *config,
                         const Settings *settings)
{
  const struct { gboolean is_set; const char *name, *what; } options[] = {
    { settings->silu, "convert_silu_to_hswish", _("Sigmoid is left unchanged") },
    { settings->first_last, "keep_first_last_layer_accuracy", _("The first and last layers are quantized like the "
                                                                "others; exclude them to keep them in float") },
    { settings->add, "keep_add_layer_accuracy", _("Additions are quantized like other operators; exclude type:Add to "
                                                  "keep them in float") },
  };

  for (guint i = 0; i < G_N_ELEMENTS (options); i++)
    if (options[i].is_set)
      vn_config_note (config, VN_NOTE_WARNING, options[i].name, "%s", options[i].what);
}

/* The method “mse” is MinMSE there, whose mode counts with powers of two. */
static void
config_amd_set_minmse (VnConfig       *config,
                       const Settings *settings)
{
  const VnRecipe *recipe = config->recipe;
  gboolean all = g_strcmp0 (settings->minmse, "All") == 0;

  if (settings->minmse == NULL)
    return;
  if (recipe->power_of_two == VN_POWER_OF_TWO_OFF || g_strcmp0 (recipe->method, "mse") != 0)
    vn_config_note (config, VN_NOTE_INFO, "MinMSEMode", _("Applies only to the method “mse” with the scale_type “poweroftwo”"));
  else if (g_str_equal (settings->minmse, "Percentile"))
    vn_config_note (config, VN_NOTE_WARNING, "MinMSEMode", _("Percentile is not supported; ranges are found by “%s”"),
                    recipe->method);
  else
    vn_recipe_apply_settings (config->recipe, all ? "method=minmse" : "method=minmse-common");
}

static const VnConfigTarget correction_targets[] = {
  { "clip6-to-relu", G_STRUCT_OFFSET (Settings, relu6) },
  { "subgraphs", G_STRUCT_OFFSET (Settings, subgraphs) },
};

static const VnConfigTarget equalize_targets[] = {
  { "equalize-steps", G_STRUCT_OFFSET (Settings, steps) },
  { "equalize-difference", G_STRUCT_OFFSET (Settings, difference) },
  { "equalize-threshold", G_STRUCT_OFFSET (Settings, threshold) },
  { "equalize-append-bias", G_STRUCT_OFFSET (Settings, append_bias) },
};

static void
config_amd_set_corrections (VnConfig       *config,
                            const Settings *settings)
{
  vn_config_take_fields (config, correction_targets, G_N_ELEMENTS (correction_targets), settings);
  vn_recipe_apply_settings (config->recipe, settings->correct ? "bias-correction=amd" : "bias-correction=off");
  vn_recipe_apply_settings (config->recipe, settings->cle ? "equalize=amd" : "equalize=off");
  if (!settings->cle)
    return;
  vn_config_take_fields (config, equalize_targets, G_N_ELEMENTS (equalize_targets), settings);
  if (!settings->use_threshold)
    vn_recipe_apply_settings (config->recipe, "equalize-threshold=0");
}

/* AdaQuant moves weights by so much there unless it is said otherwise; here by steps of their scales, in the same proportion. */
#define AMD_ADAQUANT_RATE 1e-5
#define OWN_ADAQUANT_RATE 0.02

static const VnConfigTarget finetune_targets[] = {
  { "train-steps", G_STRUCT_OFFSET (Finetune, steps), VN_CONFIG_POSITIVE },
  { "train-batch", G_STRUCT_OFFSET (Finetune, batch), VN_CONFIG_POSITIVE },
  { "train-samples", G_STRUCT_OFFSET (Finetune, size), VN_CONFIG_POSITIVE },
  { "train-seed", G_STRUCT_OFFSET (Finetune, seed), VN_CONFIG_NOT_NEGATIVE },
  { "train-rate", G_STRUCT_OFFSET (Finetune, rate), VN_CONFIG_POSITIVE },
  { "train-regularization", G_STRUCT_OFFSET (Finetune, regularization), VN_CONFIG_NOT_NEGATIVE },
  { "train-float-inputs", G_STRUCT_OFFSET (Finetune, drop), VN_CONFIG_NOT_NEGATIVE },
  { "train-early-stop", G_STRUCT_OFFSET (Finetune, early_stop) },
};

static void
config_amd_set_finetune (VnConfig       *config,
                         const Finetune *finetune)
{
  gboolean weights = g_strcmp0 (finetune->algorithm, "adaquant") == 0;
  Finetune own = *finetune;

  own.seed = finetune->seed > 0 ? finetune->seed & G_MAXINT32 : -1;
  if (weights)
    own.rate = finetune->rate / AMD_ADAQUANT_RATE * OWN_ADAQUANT_RATE;
  if (finetune->drop >= 0)
    own.drop = 1 - finetune->drop;
  vn_recipe_apply_settings (config->recipe, weights ? "train=adaquant train-unit=layer" : "train=adaround train-unit=layer");
  vn_config_take_fields (config, finetune_targets, G_N_ELEMENTS (finetune_targets), &own);
}

/* Algorithms that are no training are told of. */
static void
config_amd_set_training (VnConfig       *config,
                         const Settings *settings)
{
  if (settings->fast_finetune || settings->finetune.algorithm != NULL)
    config_amd_set_finetune (config, &settings->finetune);
  for (guint i = 0; settings->algorithms != NULL && i < settings->algorithms->len; i++)
    {
      const Finetune *algorithm = g_ptr_array_index (settings->algorithms, i);

      if (g_strcmp0 (algorithm->algorithm, "adaround") == 0 || g_strcmp0 (algorithm->algorithm, "adaquant") == 0)
        config_amd_set_finetune (config, algorithm);
      else
        vn_config_note (config, VN_NOTE_WARNING, "algo_config", _("“%s” is not supported here; use adaround or adaquant"),
                        algorithm->algorithm != NULL ? algorithm->algorithm : "");
    }
}

static gboolean
config_amd_read_settings (VnConfig  *config,
                          JsonNode  *root,
                          GError   **error)
{
  g_auto(Settings) settings = { .group.overall = { .is_signed = TRUE, .symmetry = TRUE }, .steps = 1, .difference = 2e-7,
                                .threshold = 0.5, .append_bias = TRUE, .use_threshold = TRUE,
                                .finetune = usual_finetune };

  settings.group.weights.is_signed = settings.group.activation.is_signed = TRUE;
  if (!vn_config_read_fields (config, fields, &settings, root, "", error) || !config_amd_set_overall (config, &settings, error))
    return FALSE;
  for (guint i = 0; settings.layers != NULL && i < settings.layers->len; i++)
    if (!config_amd_add_layer (config, g_ptr_array_index (settings.layers, i), i, error))
      return FALSE;
  if (settings.opset < 13)
    settings.opset = 0;
  vn_config_take_fields (config, &(VnConfigTarget) { "opset", G_STRUCT_OFFSET (Settings, opset) }, 1, &settings);
  config_amd_set_corrections (config, &settings);
  config_amd_set_minmse (config, &settings);
  config_amd_set_training (config, &settings);
  config_amd_note_options (config, &settings);
  return TRUE;
}

static gboolean
config_amd_knows_settings (JsonObject *root)
{
  return json_object_has_member (root, "overall_quantize_config") || json_object_has_member (root, "layer_quantize_config");
}

const VnConfigReader vn_config_amd = {
  .id = "amd",
  .title = N_("AMD’s quantizer settings"),
  .knows = config_amd_knows_settings,
  .read = config_amd_read_settings,
};

/* ---- subgraphs ---- */

static const VnConfigField group_fields[] = {
  { "name", VN_CONFIG_TEXT, AT (VnConfigGroup, name) },
  { "start_nodes", VN_CONFIG_TEXTS, AT (VnConfigGroup, start_nodes) },
  { "end_nodes", VN_CONFIG_TEXTS, AT (VnConfigGroup, end_nodes) },
  { NULL }
};

static const VnConfigField subgraph_fields[] = {
  { "subgraphs", VN_CONFIG_OBJECTS, AT (VnConfig, groups), .fields = group_fields, .size = sizeof (VnConfigGroup) },
  { NULL }
};

static gboolean
config_amd_read_subgraphs (VnConfig  *config,
                           JsonNode  *root,
                           GError   **error)
{
  if (!vn_config_read_fields (config, subgraph_fields, config, root, "", error))
    return FALSE;
  for (guint i = 0; i < config->groups->len; i++)
    {
      VnConfigGroup *group = g_ptr_array_index (config->groups, i);

      if (group->name == NULL)
        group->name = g_strdup_printf ("%u", i + 1);
    }
  vn_config_note (config, VN_NOTE_INFO, "subgraphs", _("The nodes of these subgraphs stay in float"));
  return TRUE;
}

static gboolean
config_amd_knows_subgraphs (JsonObject *root)
{
  return json_object_has_member (root, "subgraphs");
}

const VnConfigReader vn_config_subgraphs = {
  .id = "subgraphs",
  .title = N_("subgraphs for mixed precision"),
  .knows = config_amd_knows_subgraphs,
  .read = config_amd_read_subgraphs,
};
