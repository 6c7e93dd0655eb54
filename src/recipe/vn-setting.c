/* SPDX-License-Identifier: GPL-3.0-or-later */

/* What vn-settings.def says, and what can be done with any field it names. */

#include "vn-recipe-private.h"

#include "vn-error.h"
#include "vn-foreign-word.h"
#include "vn-i18n.h"

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
static const char * const vn_equalize_ids[] = { "off", "amd", "ppq", NULL };
/* In the order of their enumerations, behind what a rule says that leaves it to the recipe. */
static const char * const vn_bias_correction_ids[] = { "recipe", "off", "amd", "xslim", "guarded", NULL };
static const char * const vn_activation_channels_ids[] = { "recipe", "off", "folded", "depthwise", NULL };
static const char * const vn_balance_channels_ids[] = { "recipe", "off", "folded", "restored", NULL };
static const char * const vn_weight_rounding_ids[] = { "recipe", "nearest", "second-order", NULL };
static const char * const vn_range_search_ids[] = { "off", "outputs", NULL };
static const char * const vn_train_ids[] = { "recipe", "off", "thresholds", "adaround", "adaquant", "adaround-thresholds", "adaquant-thresholds", NULL };
static const char * const vn_train_unit_ids[] = { "block", "layer", NULL };
static const char * const vn_vendor_ids[] = { "none", "amd", "vitis", NULL };
_Static_assert (G_N_ELEMENTS (vn_activation_channels_ids) == VN_N_ACTIVATION_CHANNELS + 2 &&
                G_N_ELEMENTS (vn_balance_channels_ids) == VN_N_BALANCE_CHANNELS + 2 &&
                G_N_ELEMENTS (vn_weight_rounding_ids) == VN_N_WEIGHT_ROUNDINGS + 2 &&
                G_N_ELEMENTS (vn_train_ids) == VN_N_TRAINS + 2 && G_N_ELEMENTS (vn_train_unit_ids) == VN_N_TRAIN_UNITS + 1 &&
                G_N_ELEMENTS (vn_range_search_ids) == VN_N_RANGE_SEARCHES + 1 &&
                G_N_ELEMENTS (vn_bias_correction_ids) == VN_N_BIAS_CORRECTIONS + 2, "a name each");
_Static_assert (G_N_ELEMENTS (vn_bias_ids) == VN_N_BIASES + 1 && G_N_ELEMENTS (vn_vendor_ids) == VN_N_VENDORS + 1,
                "a name each");
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

#define FIELD(TYPE, self, object) G_STRUCT_MEMBER (TYPE, object, (self)->offset)

static double
setting_get_number (const VnSetting *self,
                    gconstpointer    object)
{
  if (self->type == VN_SETTING_DOUBLE)
    return FIELD (const double, self, object);
  return self->type == VN_SETTING_INT ? (double) FIELD (const gint64, self, object) : FIELD (const int, self, object);
}

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

/* ---- what is allowed ---- */

/**
 * vn_setting_dup_allowed:
 *
 * Returns: (transfer full): what may stand there, for messages and help: "qdq, qoperator", "50 to 100"
 */
char *
vn_setting_dup_allowed (const VnSetting *self)
{
  g_autoptr(GString) text = g_string_new (NULL);

  g_return_val_if_fail (self != NULL, NULL);

  switch (self->type)
    {
    case VN_SETTING_BOOL:
      return g_strdup (_("true or false"));
    case VN_SETTING_INT:
    case VN_SETTING_DOUBLE:
      if (self->def < self->min || self->def > self->max)
        return g_strdup_printf (_("%.10g, or %.10g to %.10g"), self->def, self->min, self->max);
      return g_strdup_printf (_("%.10g to %.10g"), self->min, self->max);
    case VN_SETTING_ENUM:
    case VN_SETTING_LIST:
      return self->choices != NULL ? g_strjoinv (", ", (char **) self->choices) : g_strdup (_("a text"));
    case VN_SETTING_DTYPE:
      for (guint i = 0; i < VN_N_DTYPES; i++)
        if (self->dtypes >> i & 1)
          g_string_append_printf (text, "%s%s", text->len > 0 ? ", " : "", vn_dtype_get_name ((VnDType) i));
      return g_string_free (g_steal_pointer (&text), FALSE);
    default:
      return g_strdup (_("a text"));
    }
}

static gboolean
setting_refuse (const VnSetting  *self,
                const char       *text,
                GError          **error)
{
  g_autofree char *allowed = vn_setting_dup_allowed (self);
  g_autofree char *hint = NULL;

  if (self->type == VN_SETTING_ENUM || self->type == VN_SETTING_DTYPE)
    hint = vn_word_dup_hint (self->type == VN_SETTING_ENUM ? VN_FOREIGN_FORMAT : VN_FOREIGN_TYPE, text, self->choices);
  if (hint != NULL)
    g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("%s: “%s” is not allowed; %s"), self->id, text, hint);
  else
    g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("%s: “%s” is not allowed; use %s"), self->id, text, allowed);
  return FALSE;
}

/* Of a method that is not known: what was meant, if that can be said, in the place of all there are. */
static void
setting_hint_at_method (const VnSetting  *self,
                        const char       *method,
                        GError          **reason)
{
  g_auto(GStrv) known = NULL;
  g_autofree char *hint = NULL;

  if (self->check != vn_range_method_check)
    return;
  known = vn_setting_list_choices (self, NULL);
  hint = vn_word_dup_hint (VN_FOREIGN_METHOD, method, (const char * const *) known);
  if (hint == NULL)
    return;
  g_clear_error (reason);
  g_set_error (reason, VN_ERROR, VN_ERROR_SETTING, _("There is no calibration method “%s”; %s"), method, hint);
}

static guint
setting_count_choices (const VnSetting *self)
{
  return g_strv_length ((char **) self->choices);
}

static gboolean
setting_are_elements_allowed (const VnSetting  *self,
                              char            **list,
                              GError          **error)
{
  for (guint i = 0; list != NULL && list[i] != NULL; i++)
    {
      if (self->choices != NULL && !g_strv_contains (self->choices, list[i]))
        {
          g_autofree char *allowed = vn_setting_dup_allowed (self);

          g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("“%s” is not allowed; use %s"), list[i], allowed);
          return FALSE;
        }
      if (self->check != NULL && !self->check (list[i], error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
setting_is_allowed (const VnSetting  *self,
                    gconstpointer     object,
                    GError          **error)
{
  const char *text;
  double number;

  switch (self->type)
    {
    case VN_SETTING_BOOL:
      return TRUE;
    case VN_SETTING_LIST:
      return setting_are_elements_allowed (self, FIELD (char ** const, self, object), error);
    case VN_SETTING_STRING:
      text = FIELD (const char * const, self, object);
      return text == NULL || self->check == NULL || self->check (text, error);
    case VN_SETTING_ENUM:
      number = setting_get_number (self, object);
      return number >= 0 && number < setting_count_choices (self);
    case VN_SETTING_DTYPE:
      number = setting_get_number (self, object);
      return number == self->def || (number > 0 && number < VN_N_DTYPES && (self->dtypes >> (guint) number & 1));
    default:
      number = setting_get_number (self, object);
      return number == self->def || (number >= self->min && number <= self->max);
    }
}

/**
 * vn_setting_check:
 *
 * Returns: %FALSE with %VN_ERROR_SETTING, naming setting, value and what is allowed, if the field holds what it must not
 */
gboolean
vn_setting_check (const VnSetting  *self,
                  gconstpointer     object,
                  GError          **error)
{
  g_autofree char *text = NULL;
  g_autoptr(GError) reason = NULL;

  g_return_val_if_fail (self != NULL, FALSE);

  if (setting_is_allowed (self, object, &reason))
    return TRUE;
  if (reason != NULL)
    {
      if (self->type == VN_SETTING_STRING)
        setting_hint_at_method (self, FIELD (const char * const, self, object), &reason);
      g_propagate_prefixed_error (error, g_steal_pointer (&reason), "%s: ", self->id);
      return FALSE;
    }
  text = vn_setting_dup_text (self, object);
  return setting_refuse (self, text, error);
}

/* ---- as text ---- */

static gboolean
setting_parse_int (const VnSetting  *self,
                   gpointer          object,
                   const char       *text)
{
  static const char * const no[] = { "false", "no", "off", "0", NULL }, * const yes[] = { "true", "yes", "on", "1", NULL };

  switch (self->type)
    {
    case VN_SETTING_BOOL:
      FIELD (int, self, object) = g_strv_contains (yes, text);
      return FIELD (int, self, object) || g_strv_contains (no, text);
    case VN_SETTING_ENUM:
      for (int i = 0; self->choices[i] != NULL; i++)
        if (g_str_equal (self->choices[i], text))
          {
            FIELD (int, self, object) = i;
            return TRUE;
          }
      return FALSE;
    default:
      FIELD (int, self, object) = (int) vn_dtype_from_name (text);
      return FIELD (int, self, object) != VN_DTYPE_UNDEFINED;
    }
}

static gboolean
setting_parse_double (const char *text,
                      double     *number)
{
  char *end;

  *number = g_ascii_strtod (text, &end);
  return end != text && *end == '\0' && isfinite (*number);
}

static void
setting_append_to_list (char      ***list,
                        const char  *text)
{
  guint n = *list != NULL ? g_strv_length (*list) : 0;

  *list = g_renew (char *, *list, n + 2);
  (*list)[n] = g_strdup (text);
  (*list)[n + 1] = NULL;
}

/**
 * vn_setting_parse:
 * @text: "true", "99.9", "u8", "minmse"; of a LIST: one more element; "" takes away the text of a STRING and all elements
 *   of a LIST
 *
 * Returns: %FALSE with %VN_ERROR_SETTING if @text is not allowed; the field then holds anything
 */
gboolean
vn_setting_parse (const VnSetting  *self,
                  gpointer          object,
                  const char       *text,
                  GError          **error)
{
  gboolean ok = TRUE;

  g_return_val_if_fail (self != NULL, FALSE);

  switch (self->type)
    {
    case VN_SETTING_INT:
      ok = g_ascii_string_to_signed (text, 10, G_MININT64, G_MAXINT64, &FIELD (gint64, self, object), NULL);
      break;
    case VN_SETTING_DOUBLE:
      ok = setting_parse_double (text, &FIELD (double, self, object));
      break;
    case VN_SETTING_STRING:
      g_free (FIELD (char *, self, object));
      FIELD (char *, self, object) = *text != '\0' ? g_strdup (text) : NULL;
      break;
    case VN_SETTING_LIST:
      if (*text == '\0')
        vn_setting_clear (self, object);
      else
        setting_append_to_list (&FIELD (char **, self, object), text);
      break;
    default:
      ok = setting_parse_int (self, object, text);
      break;
    }
  return ok ? vn_setting_check (self, object, error) : setting_refuse (self, text, error);
}

/**
 * vn_setting_take_list:
 * @self: a LIST
 * @list: (transfer full): its elements; an empty one says nothing
 *
 * What vn_setting_parse() does for each, in one go.
 */
void
vn_setting_take_list (const VnSetting  *self,
                      gpointer          object,
                      char            **list)
{
  g_return_if_fail (self != NULL && self->type == VN_SETTING_LIST);

  vn_setting_clear (self, object);
  if (list[0] != NULL)
    FIELD (char **, self, object) = list;
  else
    g_strfreev (list);
}

/**
 * vn_setting_dup_text:
 *
 * Returns: (transfer full): the field as vn_setting_parse() reads it; elements of a LIST joined by ", "
 */
char *
vn_setting_dup_text (const VnSetting *self,
                     gconstpointer    object)
{
  char number[G_ASCII_DTOSTR_BUF_SIZE];
  int i;

  g_return_val_if_fail (self != NULL, NULL);

  switch (self->type)
    {
    case VN_SETTING_BOOL:
      return g_strdup (FIELD (const int, self, object) ? "true" : "false");
    case VN_SETTING_STRING:
      return g_strdup (FIELD (const char * const, self, object) != NULL ? FIELD (const char * const, self, object) : "");
    case VN_SETTING_LIST:
      return FIELD (char ** const, self, object) != NULL ? g_strjoinv (", ", FIELD (char ** const, self, object)) : g_strdup ("");
    case VN_SETTING_DTYPE:
      return g_strdup (vn_dtype_get_name ((VnDType) FIELD (const int, self, object)));
    case VN_SETTING_ENUM:
      i = FIELD (const int, self, object);
      return i >= 0 && (guint) i < setting_count_choices (self) ? g_strdup (self->choices[i]) : g_strdup_printf ("%d", i);
    default:
      return g_strdup (g_ascii_dtostr (number, sizeof number, setting_get_number (self, object)));
    }
}

/**
 * vn_setting_dup_short_text:
 *
 * Returns: (transfer full): as vn_setting_dup_text(), numbers with no more digits than vn_setting_parse() needs to read the
 *   same: for people and for command lines
 */
char *
vn_setting_dup_short_text (const VnSetting *self,
                           gconstpointer    object)
{
  g_return_val_if_fail (self != NULL, NULL);

  static const char * const formats[] = { "%.6g", "%.9g", "%.15g", "%.16g" };
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  for (guint i = 0; self->type == VN_SETTING_DOUBLE && i < G_N_ELEMENTS (formats); i++)
    {
      g_ascii_formatd (text, sizeof text, formats[i], FIELD (const double, self, object));
      if (g_ascii_strtod (text, NULL) == FIELD (const double, self, object))
        return g_strdup (text);
    }
  return vn_setting_dup_text (self, object);
}
