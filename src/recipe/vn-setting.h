/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Settings of a recipe as a table: their types, texts and checks, and what they change. */

#include "vn-recipe.h"

G_BEGIN_DECLS

typedef enum
{
  VN_SETTING_BOOL,      /* gboolean */
  VN_SETTING_INT,       /* gint64 */
  VN_SETTING_DOUBLE,    /* double */
  VN_SETTING_ENUM,      /* an enumeration from 0 on */
  VN_SETTING_DTYPE,     /* VnDType */
  VN_SETTING_STRING,    /* char *, NULL: not set */
  VN_SETTING_LIST,      /* char **, NULL: not set */
} VnSettingType;

typedef enum
{
#define VN_SETTING_GROUP(SYMBOL, ...) VN_SETTING_GROUP_##SYMBOL,
#include "vn-setting-groups.def"
#undef VN_SETTING_GROUP
  VN_N_SETTING_GROUPS
} VnSettingGroup;

typedef enum
{
#define VN_SETTING_NEED(SYMBOL, ...) VN_SETTING_NEED_##SYMBOL,
#include "vn-setting-needs.def"
#undef VN_SETTING_NEED
  VN_N_SETTING_NEEDS
} VnSettingNeed;

/* What a setting changes first: the float network, what is made of it, or only what is told of that. */
typedef enum { VN_SETTING_STAGE_PREPARE, VN_SETTING_STAGE_QUANTIZE, VN_SETTING_STAGE_MEASURE } VnSettingStage;

/**
 * VnSetting: one plain field of a recipe or a rule, from vn-settings.def.
 * @id: JSON key and --option; words joined by "-"
 * @group: with which others help and window show it; of a recipe's only, as are @stage and @need
 * @stage: what it changes first
 * @need: what the others must say for it to matter
 * @offset: of the field in its structure
 * @def: what it is before anybody says something; allowed in any case
 * @choices: ENUM: NULL-terminated ids, in the order of the enumeration; LIST: (nullable): what an element may be
 * @dtypes: DTYPE: the set of types allowed
 * @check: (nullable): STRING: whether a text is allowed; LIST: whether an element is
 */
typedef struct
{
  const char         *id, *title, *blurb;   /* title and blurb: N_() */
  VnSettingGroup      group;
  VnSettingStage      stage;
  VnSettingNeed       need;
  VnSettingType       type;
  gsize               offset;
  double              def, min, max;
  const char * const *choices;
  VnDTypeSet          dtypes;
  gboolean          (*check) (const char *text, GError **error);
} VnSetting;

/**
 * VnSettingDifference: what a recipe says otherwise than its preset.
 * @setting: (nullable): %NULL of a rule
 * @id: "percentile"; "rules[0]"
 * @value: as vn_setting_dup_short_text(); of a rule: as vn_override_to_json()
 * @preset_value: (nullable): %NULL of a rule
 */
typedef struct
{
  const VnSetting *setting;
  char            *id, *title;
  char            *value, *preset_value;
} VnSettingDifference;

/* Code of the notes about settings that change nothing; their subject is the id. */
#define VN_NOTE_CODE_IDLE_SETTING "setting-without-effect"
#define VN_NOTE_CODE_IMPLIED_SETTING "setting-implied"

/* One of the two lists: fields of recipes, or of rules. */
typedef const VnSetting * (*VnSettingsFunc) (guint *n);

const VnSetting *vn_setting_list_of_recipe (guint             *n);
const VnSetting *vn_setting_list_of_rule   (guint             *n);
const VnSetting *vn_setting_find           (const VnSetting   *list,
                                            guint              n,
                                            const char        *id,
                                            GError           **error);
VnSettingGroup   vn_setting_get_group       (const VnSetting   *self);
const char      *vn_setting_group_get_id    (VnSettingGroup     self);
const char      *vn_setting_group_get_title (VnSettingGroup     self);        /* translated */
const char      *vn_setting_get_idle_reason (const VnSetting   *self,         /* setting-effect.c */
                                             const VnRecipe    *recipe);
void             vn_recipe_note_implied_settings (const VnRecipe *self,
                                                  VnNotes        *notes);
void             vn_recipe_note_idle_settings (const VnRecipe  *self,
                                               VnNotes         *notes);
GPtrArray       *vn_recipe_list_differences (const VnRecipe    *self);        /* of VnSettingDifference */

/* @object: the recipe or rule that has the field */
void             vn_setting_reset          (const VnSetting   *self,
                                            gpointer           object);
void             vn_setting_clear          (const VnSetting   *self,
                                            gpointer           object);
void             vn_setting_own            (const VnSetting   *self,
                                            gpointer           object);   /* after a shallow copy */
void             vn_setting_copy           (const VnSetting   *self,
                                            gpointer           to,
                                            gconstpointer      from);
gboolean         vn_setting_equal          (const VnSetting   *self,
                                            gconstpointer      a,
                                            gconstpointer      b);
gboolean         vn_setting_is_default     (const VnSetting   *self,
                                            gconstpointer      object);
gboolean         vn_setting_check          (const VnSetting   *self,
                                            gconstpointer      object,
                                            GError           **error);
gboolean         vn_setting_parse          (const VnSetting   *self,
                                            gpointer           object,
                                            const char        *text,
                                            GError           **error);
void             vn_setting_take_list      (const VnSetting   *self,
                                            gpointer           object,
                                            char             **list);
char            *vn_setting_dup_text       (const VnSetting   *self,
                                            gconstpointer      object);
char            *vn_setting_dup_short_text (const VnSetting   *self,
                                            gconstpointer      object);
char            *vn_setting_dup_allowed    (const VnSetting   *self);
char           **vn_setting_list_choices   (const VnSetting   *self,      /* setting-choices.c */
                                            char            ***titles);

void             vn_settings_reset         (VnSettingsFunc     list,      /* setting-list.c */
                                            gpointer           object);
void             vn_settings_clear         (VnSettingsFunc     list,
                                            gpointer           object);
void             vn_settings_own           (VnSettingsFunc     list,
                                            gpointer           object);
gboolean         vn_settings_equal         (VnSettingsFunc     list,
                                            gconstpointer      a,
                                            gconstpointer      b);
gboolean         vn_settings_check         (VnSettingsFunc     list,
                                            gconstpointer      object,
                                            const char        *where,
                                            GError           **error);

G_END_DECLS
