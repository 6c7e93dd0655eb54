/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Recipes as JSON, version 1:
 *
 *   { "vernier-recipe": 1,
 *     "preset": "cpu",                     what the rest is said on top of; may be missing: "cpu"
 *     "format": "qdq", ...                 any setting of vn-settings.def by its id
 *     "rules": [ { "name": "all Softmax", "nodes": "type:Softmax", "exclude": true },
 *                { "from": ["n2", "n7"], "to": ["y"], "activation": "uint16" } ] }
 *
 * Yes and no are true and false, numbers are numbers, types and methods texts, lists lists of texts. What is unknown or
 * of the wrong kind is refused with its place: a recipe with a typing error must not quantize something else. */

#include "vn-recipe-rules.h"

#include "vn-digest.h"
#include "vn-error.h"
#include "vn-file.h"
#include "vn-i18n.h"
#include "vn-recipe-check-private.h"
#include "vn-recipe-json.h"

#define VERSION_KEY "vernier-recipe"
#define VERSION 1

/* ---- write ---- */

static void
recipe_json_add_field (JsonBuilder     *json,
                       const VnSetting *setting,
                       gconstpointer    object)
{
  g_autofree char *text = vn_setting_dup_text (setting, object);
  char **list;

  json_builder_set_member_name (json, setting->id);
  switch (setting->type)
    {
    case VN_SETTING_BOOL:
      json_builder_add_boolean_value (json, g_str_equal (text, "true"));
      break;
    case VN_SETTING_INT:
      json_builder_add_int_value (json, g_ascii_strtoll (text, NULL, 10));
      break;
    case VN_SETTING_DOUBLE:
      json_builder_add_double_value (json, g_ascii_strtod (text, NULL));
      break;
    case VN_SETTING_LIST:
      json_builder_begin_array (json);
      list = G_STRUCT_MEMBER (char **, object, setting->offset);
      for (guint i = 0; list != NULL && list[i] != NULL; i++)
        json_builder_add_string_value (json, list[i]);
      json_builder_end_array (json);
      break;
    default:
      json_builder_add_string_value (json, text);
      break;
    }
}

/* A reader with other defaults must come to the same recipe: only lists and texts that are not there are left out, unless
 * the preset has one that is taken away. */
static gboolean
recipe_json_has_settings (const VnSetting *setting,
                          const VnRecipe  *self,
                          const VnRecipe  *preset)
{
  return (setting->type != VN_SETTING_LIST && setting->type != VN_SETTING_STRING) ||
         !vn_setting_is_default (setting, self) || !vn_setting_is_default (setting, preset);
}

static void
recipe_json_add_rule (JsonBuilder      *json,
                      const VnOverride *rule)
{
  guint n;
  const VnSetting *settings = vn_setting_list_of_rule (&n);

  json_builder_begin_object (json);
  for (guint i = 0; i < n; i++)
    if (!vn_setting_is_default (&settings[i], rule))
      recipe_json_add_field (json, &settings[i], rule);
  json_builder_end_object (json);
}

/**
 * vn_recipe_to_json:
 *
 * Returns: (transfer full): the recipe as text; vn_recipe_from_json() makes an equal one of it
 */
char *
vn_recipe_to_json (const VnRecipe *self)
{
  g_autoptr(JsonBuilder) json = json_builder_new ();
  g_autoptr(JsonNode) root = NULL;
  g_autoptr(VnRecipe) preset = NULL;
  guint n;
  const VnSetting *settings = vn_setting_list_of_recipe (&n);

  g_return_val_if_fail (self != NULL, NULL);

  preset = vn_recipe_new (self->preset);
  json_builder_begin_object (json);
  vn_json_add_int (json, VERSION_KEY, VERSION);
  vn_json_add_text (json, "preset", self->preset);
  for (guint i = 0; i < n; i++)
    if (recipe_json_has_settings (&settings[i], self, preset))
      recipe_json_add_field (json, &settings[i], self);
  vn_json_begin_array (json, "rules");
  for (guint i = 0; i < self->overrides->len; i++)
    recipe_json_add_rule (json, g_ptr_array_index (self->overrides, i));
  json_builder_end_array (json);
  json_builder_end_object (json);
  root = json_builder_get_root (json);
  return vn_json_to_text (root);
}

/**
 * vn_override_to_json:
 *
 * Returns: (transfer full): the rule in one line, as it stands in a recipe; vn_override_from_json() makes an equal one of it
 */
char *
vn_override_to_json (const VnOverride *self)
{
  g_autoptr(JsonBuilder) json = json_builder_new ();
  g_autoptr(JsonNode) root = NULL;

  g_return_val_if_fail (self != NULL, NULL);

  recipe_json_add_rule (json, self);
  root = json_builder_get_root (json);
  return json_to_string (root, FALSE);
}

/* ---- read ---- */

/* What is a number may stand as one, too. */
static char *
recipe_json_read_element (const VnSetting  *setting,
                          JsonNode         *node,
                          const char       *where,
                          GError          **error)
{
  char number[G_ASCII_DTOSTR_BUF_SIZE];
  GType type = JSON_NODE_HOLDS_VALUE (node) ? json_node_get_value_type (node) : G_TYPE_INVALID;

  if (setting->check != vn_recipe_check_number || (type != G_TYPE_INT64 && type != G_TYPE_DOUBLE))
    return g_strdup (vn_json_get_string (node, where, error));
  return g_strdup (g_ascii_dtostr (number, sizeof number, json_node_get_double (node)));
}

static gboolean
recipe_json_read_list (const VnSetting  *setting,
                       gpointer          object,
                       JsonNode         *node,
                       const char       *where,
                       GError          **error)
{
  JsonArray *array;
  g_autoptr(GStrvBuilder) texts = g_strv_builder_new ();

  if (setting->check == NULL && setting->choices == NULL && JSON_NODE_HOLDS_VALUE (node) &&
      json_node_get_value_type (node) == G_TYPE_STRING)   /* one stands for itself */
    {
      g_strv_builder_add (texts, json_node_get_string (node));
      vn_setting_take_list (setting, object, g_strv_builder_end (texts));
      return TRUE;
    }
  array = vn_json_get_array (node, where, error);
  if (array == NULL)
    return FALSE;
  for (guint i = 0; i < json_array_get_length (array); i++)
    {
      g_autofree char *place = g_strdup_printf ("%s[%u]", where, i);
      g_autofree char *text = recipe_json_read_element (setting, json_array_get_element (array, i), place, error);

      if (text == NULL)
        return FALSE;
      g_strv_builder_add (texts, text);
    }
  vn_setting_take_list (setting, object, g_strv_builder_end (texts));
  return TRUE;
}

/* As text, of a value of the kind the setting has. */
static char *
recipe_json_read_text (const VnSetting  *setting,
                       JsonNode         *node,
                       const char       *where,
                       GError          **error)
{
  char number[G_ASCII_DTOSTR_BUF_SIZE];
  gboolean yes;
  double value;

  switch (setting->type)
    {
    case VN_SETTING_BOOL:
      return vn_json_get_boolean (node, where, &yes, error) ? g_strdup (yes ? "true" : "false") : NULL;
    case VN_SETTING_INT:
    case VN_SETTING_DOUBLE:
      if (!vn_json_get_number (node, where, &value, error))
        return NULL;
      return g_strdup (g_ascii_dtostr (number, sizeof number, value));
    default:
      return g_strdup (vn_json_get_string (node, where, error));
    }
}

static gboolean
recipe_json_read_field (const VnSetting  *settings,
                        guint             n,
                        gpointer          object,
                        const char       *prefix,
                        const char       *id,
                        JsonNode         *node,
                        GError          **error)
{
  const VnSetting *setting = vn_setting_find (settings, n, id, error);
  g_autofree char *where = *prefix != '\0' ? g_strconcat (prefix, ".", id, NULL) : g_strdup (id);
  g_autofree char *text = NULL;
  gboolean ok;

  if (setting == NULL)
    {
      g_prefix_error (error, "%s: ", *prefix != '\0' ? prefix : _("recipe"));
      return FALSE;
    }
  if (setting->type == VN_SETTING_LIST)
    return recipe_json_read_list (setting, object, node, where, error);
  text = recipe_json_read_text (setting, node, where, error);
  if (text == NULL)
    return FALSE;
  ok = vn_setting_parse (setting, object, text, error);
  if (!ok && *prefix != '\0')
    g_prefix_error (error, "%s.", prefix);
  return ok;
}

static VnOverride *
recipe_json_read_rule (JsonNode    *node,
                       const char  *where,
                       GError     **error)
{
  JsonObject *object = vn_json_get_object (node, where, error);
  VnOverride *rule;
  JsonObjectIter iter;
  const char *id;
  JsonNode *value;
  guint n;
  const VnSetting *settings = vn_setting_list_of_rule (&n);

  if (object == NULL)
    return NULL;
  rule = vn_override_new ();
  json_object_iter_init (&iter, object);
  while (json_object_iter_next (&iter, &id, &value))
    if (!recipe_json_read_field (settings, n, rule, where, id, value, error))
      {
        vn_override_free (rule);
        return NULL;
      }
  return rule;
}

static gboolean
recipe_json_read_rules (VnRecipe  *self,
                        JsonNode  *node,
                        GError   **error)
{
  JsonArray *array = vn_json_get_array (node, "rules", error);

  if (array == NULL)
    return FALSE;
  for (guint i = 0; i < json_array_get_length (array); i++)
    {
      g_autofree char *where = g_strdup_printf ("rules[%u]", i);
      VnOverride *rule = recipe_json_read_rule (json_array_get_element (array, i), where, error);

      if (rule == NULL)
        return FALSE;
      g_ptr_array_add (self->overrides, rule);
    }
  return TRUE;
}

/**
 * vn_override_from_json:
 * @text: one object, as in the list "rules" of a recipe
 *
 * Returns: (transfer full) (nullable): the rule; vn_recipe_validate() says whether it can stand in a recipe
 */
VnOverride *
vn_override_from_json (const char  *text,
                       GError     **error)
{
  g_autoptr(JsonNode) root = NULL;

  g_return_val_if_fail (text != NULL, NULL);

  root = vn_json_parse (text, -1, _("rule"), error);
  return root != NULL ? recipe_json_read_rule (root, _("rule"), error) : NULL;
}

static gboolean
recipe_json_check_version (JsonObject  *object,
                           GError     **error)
{
  JsonNode *node = json_object_get_member (object, VERSION_KEY);
  double version;

  if (node == NULL)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("This is not a recipe: “%s” is missing"), VERSION_KEY);
      return FALSE;
    }
  if (!vn_json_get_number (node, VERSION_KEY, &version, error))
    return FALSE;
  if (version == VERSION)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("The recipe has version %g; this program reads version %d"),
               version, VERSION);
  return FALSE;
}

static VnRecipe *
recipe_json_start (JsonObject  *object,
                   GError     **error)
{
  JsonNode *node = json_object_get_member (object, "preset");
  const char *preset = node != NULL ? vn_json_get_string (node, "preset", error) : "cpu";

  if (preset == NULL || vn_preset_find (preset, error) == NULL)
    return NULL;
  return vn_recipe_new (preset);
}

static VnRecipe *
recipe_json_read_recipe (JsonNode  *root,
                         GError   **error)
{
  JsonObject *object = vn_json_get_object (root, _("recipe"), error);
  g_autoptr(VnRecipe) self = NULL;
  JsonObjectIter iter;
  const char *id;
  JsonNode *value;
  guint n;
  const VnSetting *settings = vn_setting_list_of_recipe (&n);

  if (object == NULL || !recipe_json_check_version (object, error))
    return NULL;
  self = recipe_json_start (object, error);
  if (self == NULL)
    return NULL;
  json_object_iter_init (&iter, object);
  while (json_object_iter_next (&iter, &id, &value))
    {
      if (g_str_equal (id, VERSION_KEY) || g_str_equal (id, "preset"))
        continue;
      if (!(g_str_equal (id, "rules") ? recipe_json_read_rules (self, value, error)
                                      : recipe_json_read_field (settings, n, self, "", id, value, error)))
        return NULL;
    }
  return vn_recipe_validate (self, error) ? g_steal_pointer (&self) : NULL;
}

/**
 * vn_recipe_from_json:
 * @text: what vn_recipe_to_json() writes, or somebody by hand
 * @name: of the file, for messages
 *
 * Returns: (transfer full) (nullable): a recipe that vn_recipe_validate() accepts; or the place, what is there and what is
 *   allowed
 */
VnRecipe *
vn_recipe_from_json (const char  *text,
                     const char  *name,
                     GError     **error)
{
  g_autoptr(JsonNode) root = NULL;
  VnRecipe *self;

  g_return_val_if_fail (text != NULL && name != NULL, NULL);

  root = vn_json_parse (text, -1, name, error);
  if (root == NULL)
    return NULL;
  self = recipe_json_read_recipe (root, error);
  if (self == NULL)
    g_prefix_error (error, "%s: ", name);
  return self;
}

/* A copy that names its files otherwise. */
static VnRecipe *
recipe_json_copy_with_paths (const VnRecipe *recipe,
                             const char     *folder,
                             char         *(*change) (const char *, const char *))
{
  VnRecipe *copy = vn_recipe_copy (recipe);

  for (guint i = 0; copy->ranges != NULL && copy->ranges[i] != NULL; i++)
    {
      char *path = change (copy->ranges[i], folder);

      g_free (copy->ranges[i]);
      copy->ranges[i] = path;
    }
  return copy;
}

/**
 * vn_recipe_to_node:
 * @folder: of the file that it becomes a part of; files below are named relative to it, so that both can be moved together
 *
 * Returns: (transfer full): the recipe as a part of another file
 */
JsonNode *
vn_recipe_to_node (const VnRecipe *self,
                   const char     *folder)
{
  g_autoptr(VnRecipe) copy = NULL;
  g_autofree char *text = NULL;

  g_return_val_if_fail (self != NULL && folder != NULL, NULL);

  copy = recipe_json_copy_with_paths (self, folder, vn_file_dup_short);
  text = vn_recipe_to_json (copy);
  return vn_json_parse (text, -1, "recipe", NULL);
}

/**
 * vn_recipe_from_node:
 * @node: what vn_recipe_to_node() makes, or somebody by hand
 * @name: what it is called in messages
 * @folder: of the file it comes from
 *
 * Returns: (transfer full) (nullable): as vn_recipe_from_json()
 */
VnRecipe *
vn_recipe_from_node (JsonNode    *node,
                     const char  *name,
                     const char  *folder,
                     GError     **error)
{
  g_autoptr(VnRecipe) recipe = NULL;

  g_return_val_if_fail (node != NULL && name != NULL && folder != NULL, NULL);

  recipe = recipe_json_read_recipe (node, error);
  if (recipe == NULL)
    g_prefix_error (error, "%s: ", name);
  return recipe != NULL ? recipe_json_copy_with_paths (recipe, folder, vn_file_dup_long) : NULL;
}

/**
 * vn_recipe_dup_digest:
 *
 * Returns: (transfer full): the same for recipes that say the same, wherever the program was started and whatever their rules are
 *   called; a file they name counts by its path
 */
char *
vn_recipe_dup_digest (const VnRecipe *self)
{
  g_autoptr(VnRecipe) copy = NULL;
  g_autofree char *text = NULL;
  VnDigest digest = { { 0 } };

  g_return_val_if_fail (self != NULL, NULL);

  copy = recipe_json_copy_with_paths (self, NULL, g_canonicalize_filename);
  vn_recipe_forget_names (copy);
  text = vn_recipe_to_json (copy);
  vn_digest_add_string (&digest, text);
  return vn_digest_dup_text (&digest);
}

/**
 * vn_recipe_load:
 *
 * Returns: (transfer full) (nullable): the recipe in a file
 */
VnRecipe *
vn_recipe_load (const char  *path,
                GError     **error)
{
  g_autoptr(JsonNode) root = NULL;
  VnRecipe *self;

  g_return_val_if_fail (path != NULL, NULL);

  root = vn_json_load (path, error);
  if (root == NULL)
    return NULL;
  self = recipe_json_read_recipe (root, error);
  if (self == NULL)
    g_prefix_error (error, "%s: ", path);
  return self;
}

/**
 * vn_recipe_save:
 *
 * Returns: whether the file is complete; if not, what was there before still is
 */
gboolean
vn_recipe_save (const VnRecipe  *self,
                const char      *path,
                GError         **error)
{
  g_autofree char *text = NULL;

  g_return_val_if_fail (self != NULL && path != NULL, FALSE);

  text = vn_recipe_to_json (self);
  return vn_file_write_all (path, text, strlen (text), error);
}
