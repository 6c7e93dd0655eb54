/* SPDX-License-Identifier: GPL-3.0-or-later */

/* A recipe as a configuration of XQuant and XSlim; config-xquant.c reads it. */

#include "vn-export-settings.h"

#include "export-counts.h"

#include "vn-config-private.h"
#include "vn-i18n.h"
#include "vn-json.h"
#include "vn-recipe-rules.h"

#include <math.h>
#include <string.h>

#define COMPUTED "computed:Mul|Add|Sub|Div"
#define FLOAT_TYPES "type:Softmax|Sigmoid"

static const struct { const char *id, *name; } methods[] = {
  { "xslim", "default" }, { "kl-ppq", "kl" }, { "xslim-kl", "kl" }, { "minmax", "minmax" },
  { "percentile-average", "percentile" },
  { "xslim-mse", "mse" }, { "percentile", "percentile" }, { "entropy", "minmax" }, { "kl", "kl" }, { "mse", "mse" },
};

static void
export_xquant_refuse (VnNotes    *notes,
                      const char *what)
{
  vn_notes_add (notes, VN_NOTE_WARNING, "cannot-export", what, _("XQuant does not support this; it is omitted"));
}

static void
export_xquant_add_method (JsonBuilder *json,
                          const char  *method,
                          VnNotes     *notes)
{
  for (guint i = 0; i < G_N_ELEMENTS (methods); i++)
    if (g_str_equal (methods[i].id, method))
      {
        vn_json_add_text (json, "calibration_type", methods[i].name);
        return;
      }
  export_xquant_refuse (notes, method);
}

static void
export_xquant_add_share (JsonBuilder *json,
                         double       percentile)
{
  /* Of 99.99 a hundredth, not the number next to it. */
  vn_json_add_number (json, "max_percentile", round (percentile * 1e10) / 1e12);
}

/* ---- model and inputs ---- */

static void
export_xquant_add_model (JsonBuilder    *json,
                         const VnRecipe *self,
                         const char     *path)
{
  vn_json_begin_object (json, "model_parameters");
  vn_json_add_text (json, "onnx_model", path);
  if (self->opset > 0)
    vn_json_add_int (json, "opset", self->opset);
  if (!self->optimize)
    vn_json_add_bool (json, "skip_onnxsim", TRUE);
  json_builder_end_object (json);
}

static void
export_xquant_add_channels (JsonBuilder *json,
                            const char  *name,
                            const float  values[4])
{
  vn_json_begin_array (json, name);
  for (guint i = 0; i < 3; i++)
    json_builder_add_double_value (json, (double) values[i]);
  json_builder_end_array (json);
}

static void
export_xquant_add_input (JsonBuilder      *json,
                         const VnValue    *value,
                         const VnDataSpec *data)
{
  const VnInputData *own = data != NULL && data->inputs != NULL ? g_hash_table_lookup (data->inputs, value->name) : NULL;
  const VnPreprocess *pre = own != NULL ? &own->preprocess : data != NULL ? &data->preprocess : NULL;
  const char *script = own != NULL ? own->script : data != NULL ? data->script : NULL;

  json_builder_begin_object (json);
  vn_json_add_text (json, "input_name", value->name);
  vn_json_begin_array (json, "input_shape");
  for (int d = 0; d < value->type.shape.rank; d++)
    json_builder_add_int_value (json, value->type.shape.dims[d] == VN_DIM_UNKNOWN ? 1 : value->type.shape.dims[d]);
  json_builder_end_array (json);
  if (pre != NULL)
    {
      vn_json_add_text (json, "color_format", pre->color == VN_COLOR_BGR ? "bgr" : "rgb");
      export_xquant_add_channels (json, "mean_value", pre->mean);
      export_xquant_add_channels (json, "std_value", pre->std);
      if (script != NULL || pre->fit == VN_FIT_CROP)
        vn_json_add_text (json, "preprocess_file", script != NULL ? script : "PT_IMAGENET");
    }
  vn_json_add_text (json, "data_list_path", data != NULL ? data->path : "");
  json_builder_end_object (json);
}

static void
export_xquant_add_calibration (JsonBuilder      *json,
                               const VnRecipe   *self,
                               const VnModel    *model,
                               const VnDataSpec *data,
                               VnNotes          *notes)
{
  vn_json_begin_object (json, "calibration_parameters");
  if (data != NULL && data->max_samples > 0)
    vn_json_add_int (json, "calibration_step", data->max_samples);
  export_xquant_add_method (json, self->method, notes);
  vn_json_begin_array (json, "input_parametres");
  for (guint i = 0; i < model->graph->inputs->len; i++)
    {
      const VnValue *value = g_ptr_array_index (model->graph->inputs, i);

      if (value->initializer == NULL)
        export_xquant_add_input (json, value, data);
    }
  json_builder_end_array (json);
  json_builder_end_object (json);
  if (data != NULL && g_file_test (data->path, G_FILE_TEST_IS_DIR))
    vn_notes_add (notes, VN_NOTE_WARNING, "cannot-export", data->path,
                  _("XQuant expects a list of files, one path per line, instead of this folder"));
}

/* ---- rules ---- */

static gboolean
export_xquant_is_region (const VnOverride *rule)
{
  return rule->enabled && rule->in_edges != NULL && rule->out_edges != NULL && rule->pattern == NULL;
}

/* The two rules of precision level 2, behind that of their region. */
static gboolean
export_xquant_is_mixed (const VnRecipe   *self,
                        guint             at,
                        const VnOverride *region)
{
  const VnOverride *first, *second;

  if (at + 1 >= self->overrides->len)
    return FALSE;
  first = g_ptr_array_index (self->overrides, at);
  second = g_ptr_array_index (self->overrides, at + 1);
  if (!first->exclude || !second->exclude || g_strcmp0 (first->pattern, FLOAT_TYPES) != 0 ||
      g_strcmp0 (second->pattern, COMPUTED) != 0)
    return FALSE;
  if (region == NULL)
    return first->in_edges == NULL && second->in_edges == NULL;
  return first->in_edges != NULL && second->in_edges != NULL &&
         g_strv_equal ((const char * const *) first->in_edges, (const char * const *) region->in_edges) &&
         g_strv_equal ((const char * const *) second->in_edges, (const char * const *) region->in_edges);
}

static void
export_xquant_add_region (JsonBuilder      *json,
                          const VnOverride *rule,
                          gboolean          mixed,
                          VnNotes          *notes)
{
  json_builder_begin_object (json);
  vn_json_add_texts (json, "input_names", (const char * const *) rule->in_edges);
  vn_json_add_texts (json, "output_names", (const char * const *) rule->out_edges);
  vn_json_add_int (json, "precision_level", rule->exclude ? 3 : mixed ? 2 : 0);
  if (rule->method != NULL)
    export_xquant_add_method (json, rule->method, notes);
  if (rule->percentile > 0)
    export_xquant_add_share (json, rule->percentile);
  json_builder_end_object (json);
}

static void
export_xquant_add_regions (JsonBuilder    *json,
                           const VnRecipe *self,
                           VnNotes        *notes)
{
  vn_json_begin_array (json, "custom_setting");
  for (guint i = 0; i < self->overrides->len; i++)
    {
      const VnOverride *rule = g_ptr_array_index (self->overrides, i);

      if (export_xquant_is_region (rule))
        export_xquant_add_region (json, rule, export_xquant_is_mixed (self, i + 1, rule), notes);
    }
  json_builder_end_array (json);
}

/* Operators or nodes to ignore: rules that exclude by one of the two kinds of patterns. */
static void
export_xquant_add_ignored (JsonBuilder    *json,
                           const VnRecipe *self,
                           const char     *name,
                           gboolean        by_type)
{
  vn_json_begin_array (json, name);
  for (guint i = 0; i < self->overrides->len; i++)
    {
      const VnOverride *rule = g_ptr_array_index (self->overrides, i);
      gboolean is_type = rule->pattern != NULL && g_str_has_prefix (rule->pattern, VN_PATTERN_TYPE_PREFIX);

      if (!rule->enabled || !rule->exclude || rule->pattern == NULL || rule->in_edges != NULL || is_type != by_type ||
          g_str_equal (rule->pattern, FLOAT_TYPES) || g_str_has_prefix (rule->pattern, VN_PATTERN_COMPUTED_PREFIX))
        continue;
      json_builder_add_string_value (json, rule->pattern + (is_type ? strlen (VN_PATTERN_TYPE_PREFIX) : 0));
    }
  json_builder_end_array (json);
}

/* 3: found while running; 4: half precision; else 0 */
static int
export_xquant_get_level (const VnRecipe *self)
{
  if (vn_recipe_get_format (self)->half_arithmetic)
    return 4;
  return vn_recipe_get_format (self)->integer_products && self->dynamic ? 3 : 0;
}

/* What is otherwise than XQuant does it, and not in the file, as far as it may change something. */
static void
export_xquant_note_settings (const VnRecipe *self,
                             VnNotes        *run,
                             VnNotes        *notes)
{
  static const char * const told[] = { "activation", "weight", "symmetric-activations", "per-channel", "method", "percentile",
                                       "opset", "truncate", "optimize", NULL };
  g_autoptr(VnRecipe) base = vn_recipe_new ("xquant");
  const gboolean half = export_xquant_get_level (self) > 0;
  guint n;
  const VnSetting *settings = vn_setting_list_of_recipe (&n);

  for (guint i = 0; i < n; i++)
    {
      if (g_strv_contains (told, settings[i].id) || !_vn_export_setting_counts (&settings[i], self, base, run) ||
          (half && (g_str_equal (settings[i].id, "format") || g_str_equal (settings[i].id, "dynamic") ||
                    g_str_equal (settings[i].id, "bias"))))
        continue;
      if (g_str_equal (settings[i].id, "bias") && self->bias <= VN_BIAS_S32)
        vn_notes_add (notes, VN_NOTE_WARNING, "cannot-export", "bias",
                      _("XQuant leaves biases in float unless the variable XQUANT_BIAS_TO_FP32 is 0: set it"));
      else
        export_xquant_refuse (notes, settings[i].id);
    }
}

static void
export_xquant_note_rules (const VnRecipe *self,
                          VnNotes        *notes)
{
  for (guint i = 0; i < self->overrides->len; i++)
    {
      const VnOverride *rule = g_ptr_array_index (self->overrides, i);

      if (!rule->enabled || ((export_xquant_is_region (rule) || rule->exclude) && rule->activation == VN_DTYPE_UNDEFINED &&
                             rule->weight == VN_DTYPE_UNDEFINED))
        continue;
      vn_notes_add (notes, VN_NOTE_WARNING, "cannot-export", rule->pattern, _("XQuant supports only a part of rule %u"), i + 1);
    }
  if (export_xquant_get_level (self) < 3 &&
      (self->activation != VN_DTYPE_S8 || self->weight != VN_DTYPE_S8 || self->symmetric_activations ||
       !vn_recipe_has_channels (self)))
    vn_notes_add (notes, VN_NOTE_WARNING, "cannot-export", NULL,
                  _("XQuant always quantizes to signed 8-bit with per-channel weights: preset “xquant”"));
}

static gint64
export_xquant_get_finetune (const VnRecipe *self)
{
  if (vn_recipe_get_most (self, VN_LAYER_TRAIN) != VN_TRAIN_OFF)
    return self->train_blocks > 0 && self->train_blocks <= VN_XQUANT_FEW_BLOCKS ? 2 : 3;
  return vn_recipe_get_most (self, VN_LAYER_BIAS_CORRECTION) != VN_BIAS_CORRECTION_OFF || self->equalize_activations ||
         (self->equalize == VN_EQUALIZE_PPQ && self->equalize_level > 1);
}

static void
export_xquant_add_quantization (JsonBuilder    *json,
                                const VnRecipe *self,
                                VnNotes        *run,
                                VnNotes        *notes)
{
  gboolean mixed = FALSE;

  for (guint i = 0; i < self->overrides->len; i++)
    mixed = mixed || export_xquant_is_mixed (self, i, NULL);
  vn_json_begin_object (json, "quantization_parameters");
  vn_json_add_int (json, "precision_level", mixed ? 2 : export_xquant_get_level (self));
  if (self->truncate != NULL)
    vn_json_add_texts (json, "truncate_var_names", (const char * const *) self->truncate);
  vn_json_add_int (json, "finetune_level", export_xquant_get_finetune (self));
  export_xquant_add_share (json, self->percentile);
  export_xquant_add_regions (json, self, notes);
  export_xquant_add_ignored (json, self, "ignore_op_types", TRUE);
  export_xquant_add_ignored (json, self, "ignore_op_names", FALSE);
  json_builder_end_object (json);
  export_xquant_note_rules (self, notes);
  export_xquant_note_settings (self, run, notes);
}

/* JSON is UTF-8: names that are not stand in it as they are shown. */
static void
export_xquant_check_path (const char *path,
                          VnNotes    *notes)
{
  if (path != NULL && !g_utf8_validate (path, -1, NULL))
    {
      g_autofree char *shown = g_filename_display_name (path);

      vn_notes_add (notes, VN_NOTE_WARNING, "cannot-export", shown,
                    _("its name is not valid UTF-8 and cannot be saved: rename the file or folder, or enter its path by hand"));
    }
}

/**
 * vn_recipe_to_xquant:
 * @self: a valid recipe
 * @run: (nullable): notes of a run with @self: what changed nothing there is not missing
 * @notes: told what the configuration leaves out; may be @run
 *
 * Returns: (transfer full): a configuration as JSON
 */
char *
vn_recipe_to_xquant (const VnRecipe   *self,
                     const VnModel    *model,
                     const char       *path,
                     const VnDataSpec *data,
                     VnNotes          *run,
                     VnNotes          *notes)
{
  g_autoptr(JsonBuilder) json = json_builder_new ();
  g_autoptr(JsonNode) root = NULL;

  g_return_val_if_fail (self != NULL && model != NULL && path != NULL && notes != NULL, NULL);

  export_xquant_check_path (path, notes);
  export_xquant_check_path (data != NULL ? data->path : NULL, notes);
  json_builder_begin_object (json);
  export_xquant_add_model (json, self, path);
  export_xquant_add_calibration (json, self, model, data, notes);
  export_xquant_add_quantization (json, self, run, notes);
  json_builder_end_object (json);
  root = json_builder_get_root (json);
  return vn_json_to_text (root);
}
