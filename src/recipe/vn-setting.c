/* SPDX-License-Identifier: GPL-3.0-or-later */

/* What vn-settings.def says, and how a field it names is set and compared. */

#include "vn-setting-private.h"

#include "vn-error.h"
#include "vn-foreign-word.h"
#include "vn-i18n.h"
#include "vn-recipe-check-private.h"

#include <math.h>

_Static_assert (sizeof (VnDType) == sizeof (int) && sizeof (VnFormat) == sizeof (int), "read and written as int");

static const char * const vn_format_ids[] = {
#define VN_FORMAT(SYMBOL, id, ...) #id,
#include "vn-formats.def"
#undef VN_FORMAT
  NULL
};

static const char * const vn_power_of_two_ids[] = { "off", "nearest", "ppq", NULL };
/* "none" alone leaves all out. The last: not unless it is asked for. */
static const char * const vn_npu_operator_ids[] = { "none", "LeakyRelu", "Sigmoid", "HardSigmoid", "AveragePool", "ReduceMean",
                                                    "Clip", NULL };
static const char * const vn_npu_rule_ids[] = { "none", "align-concat", "align-pool", "align-pad", "align-slice", "shift-read",
                                                "shift-write", "shift-cut", "shift-bias", "hard-sigmoid", "shift-swish", NULL };
/* In the order of VnBiasType and VnVendorDomain. */
static const char * const vn_bias_ids[] = { "auto", "int32", "int16", "int8", "float16", "bfloat16", "float32", NULL };
static const char * const vn_norm_weight_ids[] = { "weight", "unsigned", NULL };
static const char * const vn_block_scales_ids[] = { "float", "integer", NULL };
static const char * const vn_float_type_ids[] = { "auto", "float32", "float16", "bfloat16", NULL };
static const char * const vn_equalize_ids[] = { "off", "amd", "ppq", NULL };
/* In the order of their enumerations, behind what a rule says that leaves it to the recipe. */
static const char * const vn_bias_correction_ids[] = { "recipe", "off", "amd", "xslim", "guarded", NULL };
static const char * const vn_activation_channels_ids[] = { "recipe", "off", "folded", "depthwise", NULL };
static const char * const vn_balance_channels_ids[] = { "recipe", "off", "folded", "restored", NULL };
static const char * const vn_weight_rounding_ids[] = { "recipe", "nearest", "second-order", NULL };
static const char * const vn_block_method_ids[] = { "recipe", "minmax", "mse", "k-quant", "hqq", NULL };
static const char * const vn_accuracy_level_ids[] = { "recipe", "auto", "0", "1", "2", "3", "4", NULL };
static const char * const vn_range_search_ids[] = { "off", "outputs", NULL };
static const char * const vn_train_ids[] = { "recipe", "off", "thresholds", "adaround", "adaquant", "adaround-thresholds",
                                             "adaquant-thresholds", NULL };
static const char * const vn_train_unit_ids[] = { "block", "layer", NULL };
static const char * const vn_vendor_ids[] = { "none", "amd", "vitis", NULL };
_Static_assert (G_N_ELEMENTS (vn_activation_channels_ids) == VN_N_ACTIVATION_CHANNELS + 2 &&
                G_N_ELEMENTS (vn_balance_channels_ids) == VN_N_BALANCE_CHANNELS + 2 &&
                G_N_ELEMENTS (vn_weight_rounding_ids) == VN_N_WEIGHT_ROUNDINGS + 2 &&
                G_N_ELEMENTS (vn_block_method_ids) == VN_N_BLOCK_METHODS + 2 &&
                G_N_ELEMENTS (vn_accuracy_level_ids) == VN_N_ACCURACY_LEVELS + 2 &&
                G_N_ELEMENTS (vn_train_ids) == VN_N_TRAINS + 2 && G_N_ELEMENTS (vn_train_unit_ids) == VN_N_TRAIN_UNITS + 1 &&
                G_N_ELEMENTS (vn_range_search_ids) == VN_N_RANGE_SEARCHES + 1 &&
                G_N_ELEMENTS (vn_bias_correction_ids) == VN_N_BIAS_CORRECTIONS + 2, "a name each");
_Static_assert (G_N_ELEMENTS (vn_bias_ids) == VN_N_BIASES + 1 && G_N_ELEMENTS (vn_vendor_ids) == VN_N_VENDORS + 1 &&
                G_N_ELEMENTS (vn_norm_weight_ids) == VN_N_NORM_WEIGHTS + 1 &&
                G_N_ELEMENTS (vn_block_scales_ids) == VN_N_BLOCK_SCALES + 1 &&
                G_N_ELEMENTS (vn_float_type_ids) == VN_N_FLOAT_TYPES + 1, "a name each");
/* In the order of VnAnswer. */
static const char * const vn_answer_ids[] = { "recipe", "true", "false", NULL };

/* In the order of VnSettingGroup. */
static const struct { const char *id, *title; } groups[] = {
#define VN_SETTING_GROUP(SYMBOL, ...) { __VA_ARGS__ },
#include "vn-setting-groups.def"
#undef VN_SETTING_GROUP
};

#define SETTING(STRUCT, TYPE, field, id_, def_, min_, max_, allowed, title_, blurb_, ...)                              \
  { .id = id_, .title = title_, .blurb = blurb_, .type = VN_SETTING_##TYPE, .offset = G_STRUCT_OFFSET (STRUCT, field), \
    .def = def_, .min = min_, .max = max_, allowed, __VA_ARGS__ },

static const VnSetting of_recipe[] = {
#define VN_SETTING(GROUP, STAGE, NEED, ...)                                                                    \
  SETTING (VnRecipe, __VA_ARGS__, .group = VN_SETTING_GROUP_##GROUP, .stage = VN_SETTING_STAGE_##STAGE,        \
           .need = VN_SETTING_NEED_##NEED)
#define VN_LAYER_SETTING(SYMBOL, GROUP, STAGE, NEED, field, id, ids, ...) \
  VN_SETTING (GROUP, STAGE, NEED, ENUM, field, id, 0, 0, 0, .choices = ids + 1, __VA_ARGS__)
#define VN_RULE_SETTING(...)
#include "vn-settings.def"
#undef VN_SETTING
#undef VN_LAYER_SETTING
#undef VN_RULE_SETTING
};

static const VnSetting of_rule[] = {
#define VN_SETTING(...)
#define VN_LAYER_SETTING(...)
#define VN_RULE_SETTING(...) SETTING (VnOverride, __VA_ARGS__, .group = VN_N_SETTING_GROUPS)
#include "vn-settings.def"
#undef VN_LAYER_SETTING
#undef VN_RULE_SETTING
#define VN_RULE_SETTING(...)
#define VN_LAYER_SETTING(SYMBOL, GROUP, STAGE, NEED, field, id, ids, ...) \
  SETTING (VnOverride, ENUM, field, id, VN_AS_RECIPE, 0, 0, .choices = ids, __VA_ARGS__, .group = VN_N_SETTING_GROUPS)
#include "vn-settings.def"
#undef VN_SETTING
#undef VN_LAYER_SETTING
#undef VN_RULE_SETTING
};

/**
 * vn_setting_list_of_recipe:
 * @n: (out): how many
 *
 * Returns: (transfer none) (array length=n): the plain fields of VnRecipe
 */
const VnSetting *
vn_setting_list_of_recipe (guint *n)
{
  *n = G_N_ELEMENTS (of_recipe);
  return of_recipe;
}

/**
 * vn_setting_list_of_rule:
 * @n: (out): how many
 *
 * Returns: (transfer none) (array length=n): the fields of VnOverride
 */
const VnSetting *
vn_setting_list_of_rule (guint *n)
{
  *n = G_N_ELEMENTS (of_rule);
  return of_rule;
}

/**
 * vn_setting_find:
 * @list: (array length=n): one of the two lists
 *
 * Returns: (transfer none) (nullable): the setting called @id, or %VN_ERROR_SETTING naming those there are
 */
const VnSetting *
vn_setting_find (const VnSetting  *list,
                 guint             n,
                 const char       *id,
                 GError          **error)
{
  g_autofree const char **known = g_new0 (const char *, n + 1);
  g_autofree char *all = NULL, *hint = NULL;

  g_return_val_if_fail (list != NULL, NULL);

  for (guint i = 0; i < n; i++)
    {
      if (g_str_equal (list[i].id, id))
        return &list[i];
      known[i] = list[i].id;
    }
  all = g_strjoinv (", ", (char **) known);
  hint = vn_word_dup_hint (VN_FOREIGN_OPTION, id, known);
  if (hint != NULL)
    g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("There is no setting “%s”; %s"), id, hint);
  else
    g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("There is no setting “%s”; there are: %s"), id, all);
  return NULL;
}

/**
 * vn_setting_get_group:
 * @self: a setting of a recipe
 *
 * Returns: which group of vn-setting-groups.def it belongs to
 */
VnSettingGroup
vn_setting_get_group (const VnSetting *self)
{
  g_return_val_if_fail (self != NULL && self->group < VN_N_SETTING_GROUPS, VN_SETTING_GROUP_TARGET);

  return self->group;
}

const char *
vn_setting_group_get_id (VnSettingGroup self)
{
  g_return_val_if_fail (self < VN_N_SETTING_GROUPS, NULL);

  return groups[self].id;
}

/**
 * vn_setting_group_get_title:
 *
 * Returns: the heading of the group, translated
 */
const char *
vn_setting_group_get_title (VnSettingGroup self)
{
  g_return_val_if_fail (self < VN_N_SETTING_GROUPS, NULL);

  return _(groups[self].title);
}

/* ---- fields ---- */

/**
 * vn_setting_reset:
 *
 * Sets a field of memory that holds nothing to its default.
 */
void
vn_setting_reset (const VnSetting *self,
                  gpointer         object)
{
  g_return_if_fail (self != NULL);

  switch (self->type)
    {
    case VN_SETTING_DOUBLE:
      FIELD (double, self, object) = self->def;
      break;
    case VN_SETTING_INT:
      FIELD (gint64, self, object) = (gint64) self->def;
      break;
    case VN_SETTING_STRING:
    case VN_SETTING_LIST:
      FIELD (gpointer, self, object) = NULL;
      break;
    default:
      FIELD (int, self, object) = (int) self->def;
      break;
    }
}

/**
 * vn_setting_clear:
 *
 * Frees what the field holds.
 */
void
vn_setting_clear (const VnSetting *self,
                  gpointer         object)
{
  g_return_if_fail (self != NULL);

  if (self->type == VN_SETTING_STRING)
    g_clear_pointer (&FIELD (char *, self, object), g_free);
  else if (self->type == VN_SETTING_LIST)
    g_clear_pointer (&FIELD (char **, self, object), g_strfreev);
}

/**
 * vn_setting_own:
 *
 * Makes a field that was copied with its structure one's own.
 */
void
vn_setting_own (const VnSetting *self,
                gpointer         object)
{
  g_return_if_fail (self != NULL);

  if (self->type == VN_SETTING_STRING)
    FIELD (char *, self, object) = g_strdup (FIELD (char *, self, object));
  else if (self->type == VN_SETTING_LIST)
    FIELD (char **, self, object) = g_strdupv (FIELD (char **, self, object));
}

/**
 * vn_setting_copy:
 * @to: gets a copy of what @from has
 */
void
vn_setting_copy (const VnSetting *self,
                 gpointer         to,
                 gconstpointer    from)
{
  g_return_if_fail (self != NULL);

  vn_setting_clear (self, to);
  switch (self->type)
    {
    case VN_SETTING_DOUBLE:
      FIELD (double, self, to) = FIELD (const double, self, from);
      break;
    case VN_SETTING_INT:
      FIELD (gint64, self, to) = FIELD (const gint64, self, from);
      break;
    case VN_SETTING_STRING:
    case VN_SETTING_LIST:
      FIELD (gpointer, self, to) = FIELD (const gpointer, self, from);
      vn_setting_own (self, to);
      break;
    default:
      FIELD (int, self, to) = FIELD (const int, self, from);
      break;
    }
}

static gboolean
setting_lists_equal (char **a,
                     char **b)
{
  if (a == NULL || b == NULL)
    return a == b;
  return g_strv_equal ((const char * const *) a, (const char * const *) b);
}

gboolean
vn_setting_equal (const VnSetting *self,
                  gconstpointer    a,
                  gconstpointer    b)
{
  g_return_val_if_fail (self != NULL, FALSE);

  switch (self->type)
    {
    case VN_SETTING_STRING:
      return g_strcmp0 (FIELD (char * const, self, a), FIELD (char * const, self, b)) == 0;
    case VN_SETTING_LIST:
      return setting_lists_equal (FIELD (char ** const, self, a), FIELD (char ** const, self, b));
    case VN_SETTING_BOOL:
      return !FIELD (const int, self, a) == !FIELD (const int, self, b);
    default:
      return setting_get_number (self, a) == setting_get_number (self, b);
    }
}

gboolean
vn_setting_is_default (const VnSetting *self,
                       gconstpointer    object)
{
  g_return_val_if_fail (self != NULL, FALSE);

  if (self->type == VN_SETTING_STRING || self->type == VN_SETTING_LIST)
    return FIELD (const gconstpointer, self, object) == NULL;
  if (self->type == VN_SETTING_BOOL)
    return !FIELD (const int, self, object) == !self->def;
  return setting_get_number (self, object) == self->def;
}
