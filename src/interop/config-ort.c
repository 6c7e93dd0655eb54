/* SPDX-License-Identifier: GPL-3.0-or-later */

/* quantize_config.json, which scripts around onnxruntime.quantization leave beside the models they have made. */

#include "vn-config-private.h"

#include "vn-error.h"
#include "vn-i18n.h"

typedef struct
{
  char  *name;
  char **op_types;
  char  *weight_type, *activation_type;
} Model;

typedef struct
{
  gboolean   per_channel, reduce_range;
  char     **op_types;
  char      *weight_type, *activation_type;
  GPtrArray *models;
} Settings;

static const char * const types[] = { "QInt8", "QUInt8", "QInt16", "QUInt16", "QInt4", "QUInt4", NULL };
static const char * const ids[] = { "s8", "u8", "s16", "u16", "s4", "u4", NULL };

#define AT(type, field) .offset = G_STRUCT_OFFSET (type, field)

static const VnConfigField model_fields[] = {
  { "op_types", VN_CONFIG_TEXTS, AT (Model, op_types) },
  { "weight_type", VN_CONFIG_CHOICE, AT (Model, weight_type), .choices = types },
  { "activation_type", VN_CONFIG_CHOICE, AT (Model, activation_type), .choices = types },
  { NULL }
};

static const VnConfigField fields[] = {
  { "per_channel", VN_CONFIG_BOOL, AT (Settings, per_channel) },
  { "reduce_range", VN_CONFIG_BOOL, AT (Settings, reduce_range) },
  { "op_types", VN_CONFIG_TEXTS, AT (Settings, op_types) },
  { "weight_type", VN_CONFIG_CHOICE, AT (Settings, weight_type), .choices = types },
  { "activation_type", VN_CONFIG_CHOICE, AT (Settings, activation_type), .choices = types },
  { "per_model_config", VN_CONFIG_MAP, AT (Settings, models), .fields = model_fields, .size = sizeof (Model),
    .key = G_STRUCT_OFFSET (Model, name) },
  { NULL }
};

static void
config_ort_clear (Settings *self)
{
  vn_config_clear_fields (fields, self);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Settings, config_ort_clear)

static gboolean
config_ort_set_type (VnConfig    *config,
                     const char  *setting,
                     const char  *type,
                     GError     **error)
{
  for (guint i = 0; type != NULL && types[i] != NULL; i++)
    if (g_str_equal (types[i], type))
      return vn_config_set (config, setting, ids[i], setting[0] == 'w' ? "weight_type" : "activation_type", error);
  return TRUE;
}

/* Only these operators: all others are left out, then these are taken in again. */
static void
config_ort_add_types (VnConfig  *config,
                      char     **op_types)
{
  g_autofree char *pattern = NULL, *all = NULL;

  if (op_types == NULL || op_types[0] == NULL)
    return;
  all = g_strjoinv ("|", op_types);
  pattern = g_strconcat ("type:", all, NULL);
  vn_config_add_rule (config, "type:*", NULL, NULL, TRUE);
  vn_config_add_rule (config, pattern, NULL, NULL, FALSE);
}

static const VnConfigTarget targets[] = {
  { "per-channel", G_STRUCT_OFFSET (Settings, per_channel) },
  { "reduce-range", G_STRUCT_OFFSET (Settings, reduce_range) },
};

static gboolean
config_ort_read_settings (VnConfig  *config,
                          JsonNode  *root,
                          GError   **error)
{
  g_auto(Settings) settings = { 0 };
  const Model *model = NULL;

  if (!vn_config_read_fields (config, fields, &settings, root, "", error))
    return FALSE;
  if (settings.models != NULL && settings.models->len > 1)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("per_model_config: there are settings for %u models; keep one of them"),
                   settings.models->len);
      return FALSE;
    }
  if (settings.models != NULL && settings.models->len == 1)
    model = g_ptr_array_index (settings.models, 0);
  vn_config_take_fields (config, targets, G_N_ELEMENTS (targets), &settings);
  config_ort_add_types (config, model != NULL && model->op_types != NULL ? model->op_types : settings.op_types);
  return config_ort_set_type (config, "weight", settings.weight_type, error) &&
         config_ort_set_type (config, "activation", settings.activation_type, error) &&
         (model == NULL || (config_ort_set_type (config, "weight", model->weight_type, error) &&
                            config_ort_set_type (config, "activation", model->activation_type, error)));
}

static gboolean
config_ort_knows_settings (JsonObject *root)
{
  return json_object_has_member (root, "per_model_config") ||
         (json_object_has_member (root, "per_channel") && json_object_has_member (root, "reduce_range"));
}

const VnConfigReader vn_config_ort = {
  .id = "ort",
  .title = N_("ONNX Runtime’s quantize_config"),
  .knows = config_ort_knows_settings,
  .read = config_ort_read_settings,
};
