/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keywords and values of other quantizers among the arguments of a command (vn-foreign-words.def), put as they are written
 * here. */
#include "vn-cmd-help.h"

#include "vn-calibrate.h"
#include "vn-error.h"
#include "vn-foreign-word.h"
#include "vn-i18n.h"
#include "vn-recipe.h"

#include <json-glib/json-glib.h>
#include <string.h>

#define MOST_DEPTH 4   /* of objects in objects */

/**
 * Arguments: the arguments of a command while they are put otherwise.
 * @options: of the command, of VnCmdOption
 * @first: what presets stand for: it comes before all that is said beside them
 * @rest: as they were given, but for the words of others
 * @depth: of the object that is being read
 */
typedef struct
{
  GArray    *options;
  GPtrArray *first, *rest;
  guint      depth;
  GError    *error;
} Arguments;

/* ---- what there is ---- */

static const VnCmdOption *
foreign_find_option (const Arguments *self,
                     const char      *name)
{
  for (guint pass = 0; pass < 2; pass++)   /* another spelling counts only where there is no such option */
    for (guint i = 0; i < self->options->len; i++)
      {
        const VnCmdOption *option = &g_array_index (self->options, VnCmdOption, i);

        if (pass == 0 ? g_str_equal (option->entry->long_name, name) : vn_word_is_same (option->entry->long_name, name))
          return option;
      }
  return NULL;
}

static const VnCmdOption *
foreign_find_letter (const Arguments *self,
                     char             letter)
{
  for (guint i = 0; i < self->options->len; i++)
    {
      const VnCmdOption *option = &g_array_index (self->options, VnCmdOption, i);

      if (letter != '\0' && option->entry->short_name == letter)
        return option;
    }
  return NULL;
}

/* What the value of an option is a word for; %FALSE: it has none of its own. */
static gboolean
foreign_find_kind (const VnCmdOption *option,
                   VnForeignKind     *kind)
{
  if (option->setting == NULL)
    {
      *kind = VN_FOREIGN_PRESET;
      return g_str_equal (option->entry->long_name, "preset");
    }
  if (option->setting->type == VN_SETTING_DTYPE)
    *kind = VN_FOREIGN_TYPE;
  else if (g_str_equal (option->setting->id, "format"))
    *kind = VN_FOREIGN_FORMAT;
  else if (option->setting->check == vn_range_method_check)
    *kind = VN_FOREIGN_METHOD;
  else
    return FALSE;
  return TRUE;
}

static gboolean
foreign_is_own_value (const VnCmdOption *option,
                      const char        *value)
{
  g_autoptr(VnRecipe) recipe = NULL;

  if (option->setting == NULL)
    return vn_preset_find (value, NULL) != NULL;
  recipe = vn_recipe_new (NULL);
  return vn_recipe_set (recipe, option->setting->id, value, NULL);
}

static gboolean
foreign_is_switch (const VnCmdOption *option)
{
  return option->entry->arg == G_OPTION_ARG_NONE || (option->setting != NULL && option->setting->type == VN_SETTING_BOOL);
}

static gboolean
foreign_takes_next (const VnCmdOption *option)
{
  return option->entry->arg != G_OPTION_ARG_NONE &&
         (option->entry->flags & (G_OPTION_FLAG_OPTIONAL_ARG | G_OPTION_FLAG_NO_ARG)) == 0;
}

/* Python's True and False; %FALSE: it is neither. */
static gboolean
foreign_read_switch (const char *value,
                     gboolean   *on)
{
  *on = g_ascii_strcasecmp (value, "true") == 0 || g_str_equal (value, "1");
  return *on || g_ascii_strcasecmp (value, "false") == 0 || g_str_equal (value, "0");
}

/* ---- putting it otherwise ---- */

static void foreign_add_named (Arguments *self, const char *name, const char *value);

static void
foreign_append (GPtrArray  *list,
                const char *name,
                const char *value)
{
  g_ptr_array_add (list, value != NULL ? g_strconcat ("--", name, "=", value, NULL) : g_strconcat ("--", name, NULL));
}

/* As it stands in the table; the value of a switch is said, as GOption would take the next argument for it. */
static void
foreign_append_here (const Arguments *self,
                     GPtrArray       *list,
                     const char      *here)
{
  const VnCmdOption *option = foreign_find_option (self, here + 2);

  if (strchr (here, '=') == NULL && option != NULL && option->setting != NULL && option->setting->type == VN_SETTING_BOOL)
    foreign_append (list, option->entry->long_name, "true");
  else
    g_ptr_array_add (list, g_strdup (here));
}

/* "minmse --power-of-two=nearest": the value, and what belongs to it. */
static void
foreign_add_word (Arguments         *self,
                  const VnCmdOption *option,
                  const char        *here,
                  gboolean           is_preset)
{
  g_auto(GStrv) words = g_strsplit (here, " ", -1);

  foreign_append (self->rest, option->entry->long_name, words[0]);
  for (guint i = 1; words[i] != NULL; i++)
    foreign_append_here (self, is_preset ? self->first : self->rest, words[i]);
}

static void
foreign_add_text (Arguments         *self,
                  const VnCmdOption *option,
                  const char        *value)
{
  const VnForeignWord *word;
  VnForeignKind kind;
  gboolean on;

  if (foreign_is_switch (option) && foreign_read_switch (value, &on))
    {
      if (option->setting != NULL)
        foreign_append (self->rest, option->entry->long_name, on ? "true" : "false");
      else if (on)
        foreign_append (self->rest, option->entry->long_name, NULL);
      return;
    }
  word = foreign_find_kind (option, &kind) && !foreign_is_own_value (option, value) ? vn_foreign_word_find (kind, value) : NULL;
  if (word != NULL && word->here != NULL)
    foreign_add_word (self, option, word->here, kind == VN_FOREIGN_PRESET);
  else
    foreign_append (self->rest, option->entry->long_name, value);
}

static char *
foreign_dup_scalar (JsonNode *node)
{
  char number[G_ASCII_DTOSTR_BUF_SIZE];
  GType type = json_node_get_value_type (node);

  if (type == G_TYPE_STRING)
    return json_node_dup_string (node);
  if (type == G_TYPE_BOOLEAN)
    return g_strdup (json_node_get_boolean (node) ? "true" : "false");
  if (type == G_TYPE_INT64)
    return g_strdup_printf ("%" G_GINT64_FORMAT, json_node_get_int (node));
  return g_strdup (g_ascii_dtostr (number, sizeof number, json_node_get_double (node)));
}

static char *
foreign_dup_text (JsonNode *node)
{
  return JSON_NODE_HOLDS_VALUE (node) ? foreign_dup_scalar (node) : json_to_string (node, FALSE);
}

/* A list is the option for each of its elements, an object for each member: {"MatMul": 1} is "MatMul=1". */
static void
foreign_add_elements (Arguments         *self,
                      const VnCmdOption *option,
                      JsonNode          *node)
{
  if (JSON_NODE_HOLDS_ARRAY (node))
    for (guint i = 0; i < json_array_get_length (json_node_get_array (node)); i++)
      {
        g_autofree char *text = foreign_dup_text (json_array_get_element (json_node_get_array (node), i));

        foreign_add_text (self, option, text);
      }
  else
    {
      JsonObjectIter at;
      const char *name;
      JsonNode *member;

      json_object_iter_init (&at, json_node_get_object (node));
      while (json_object_iter_next (&at, &name, &member))
        {
          g_autofree char *text = foreign_dup_text (member);
          g_autofree char *both = g_strconcat (name, "=", text, NULL);

          foreign_add_text (self, option, both);
        }
    }
}

/* What other tools give as a list or an object, our options take one by one. */
static JsonNode *
foreign_parse_elements (const VnCmdOption *option,
                        const char        *value)
{
  gboolean repeats = option->entry->arg == G_OPTION_ARG_STRING_ARRAY || option->entry->arg == G_OPTION_ARG_FILENAME_ARRAY ||
                     (option->setting != NULL && option->setting->type == VN_SETTING_LIST);

  return repeats && (value[0] == '[' || value[0] == '{') && !g_str_equal (option->entry->long_name, "rule")
         ? json_from_string (value, NULL) : NULL;
}

static void
foreign_add_value (Arguments         *self,
                   const VnCmdOption *option,
                   const char        *value)
{
  g_autoptr(JsonNode) node = value != NULL ? foreign_parse_elements (option, value) : NULL;

  if (node != NULL && !JSON_NODE_HOLDS_VALUE (node) && !JSON_NODE_HOLDS_NULL (node))
    foreign_add_elements (self, option, node);
  else if (value != NULL)
    foreign_add_text (self, option, value);
  else
    foreign_append (self->rest, option->entry->long_name, NULL);
}

/* @overrides: of tensors, not options */
static void
foreign_add_members (Arguments  *self,
                     const char *name,
                     const char *value,
                     gboolean    overrides)
{
  g_autoptr(JsonNode) node = value != NULL ? json_from_string (value, NULL) : NULL;
  JsonObjectIter at;
  const char *member;
  JsonNode *content;

  if (node == NULL || !JSON_NODE_HOLDS_OBJECT (node) || self->depth >= MOST_DEPTH)
    {
      g_clear_error (&self->error);
      g_set_error (&self->error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, _("--%s expects a JSON object"), name);
      return;
    }
  if (overrides)
    {
      vn_cmd_add_overrides (self->rest, json_node_get_object (node), &self->error);
      return;
    }
  self->depth++;
  json_object_iter_init (&at, json_node_get_object (node));
  while (self->error == NULL && json_object_iter_next (&at, &member, &content))
    if (!JSON_NODE_HOLDS_NULL (content))
      {
        g_autofree char *text = foreign_dup_text (content);

        foreign_add_named (self, member, text);
      }
  self->depth--;
}

static void
foreign_refuse (Arguments           *self,
                const char          *name,
                const VnForeignWord *word)
{
  g_clear_error (&self->error);
  if (word != NULL)
    g_set_error (&self->error, G_OPTION_ERROR, G_OPTION_ERROR_UNKNOWN_OPTION, _("Unknown option --%s; “%s” of %s: %s"), name,
                 word->word, word->tool, _(word->remark));
  else
    g_set_error (&self->error, G_OPTION_ERROR, G_OPTION_ERROR_UNKNOWN_OPTION, _("Unknown option --%s"), name);
}

/* What is done whether it is asked for or not. */
static void
foreign_tell (const char *name)
{
  g_autofree char *hint = vn_word_dup_hint (VN_FOREIGN_OPTION, name, NULL);

  vn_cmd_warn ("note: --%s: %s", name, hint);
}

/* What the word of another quantizer stands for. */
static void
foreign_add_foreign (Arguments           *self,
                     const VnForeignWord *word,
                     const char          *name,
                     const char          *value)
{
  gboolean on = TRUE, is_switch = value == NULL || foreign_read_switch (value, &on), inverse;
  g_auto(GStrv) words = NULL;

  if (word->here == NULL)
    {
      if (!is_switch || on)
        foreign_refuse (self, name, word);
      return;
    }
  if (word->here[0] == '{')
    {
      foreign_add_members (self, name, value, g_str_equal (word->here, VN_FOREIGN_TENSORS));
      return;
    }
  inverse = word->here[0] == '!';
  words = g_strsplit (word->here + inverse, " ", -1);
  if (word->here[0] == '\0')
    {
      if (!on)
        foreign_tell (name);
      return;
    }
  if (strchr (word->here, '=') == NULL && words[1] == NULL)
    foreign_add_named (self, words[0] + 2, value);
  else if (!is_switch)
    g_set_error (&self->error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, _("--%s: “%s” is not allowed; use %s"), name, value,
                 _("true or false"));
  else if (on != inverse)
    for (guint i = 0; words[i] != NULL; i++)
      foreign_append_here (self, self->rest, words[i]);
}

/* @name: without "--"; @value: (nullable): none was given */
static void
foreign_add_named (Arguments  *self,
                   const char *name,
                   const char *value)
{
  const VnCmdOption *option = foreign_find_option (self, name);
  const VnForeignWord *word = option == NULL ? vn_foreign_word_find (VN_FOREIGN_OPTION, name) : NULL;

  if (option != NULL)
    foreign_add_value (self, option, value);
  else if (word != NULL)
    foreign_add_foreign (self, word, name, value);
  else if (self->depth > 0)
    foreign_refuse (self, name, NULL);
  else
    foreign_append (self->rest, name, value);
}

/* Whether the argument behind an option is its value: that of a switch of others is true or false. */
static gboolean
foreign_has_next (const Arguments *self,
                  const char      *name,
                  const char      *next)
{
  const VnCmdOption *option = foreign_find_option (self, name);
  const VnForeignWord *word = option == NULL ? vn_foreign_word_find (VN_FOREIGN_OPTION, name) : NULL;
  gboolean on;

  if (next == NULL || (option == NULL && word == NULL))
    return FALSE;
  if (option == NULL && word->here != NULL && g_str_has_prefix (word->here, "--") && strpbrk (word->here, "= ") == NULL)
    option = foreign_find_option (self, word->here + 2);
  if (option != NULL && foreign_takes_next (option))
    return TRUE;
  if (option == NULL && word->here != NULL && word->here[0] == '{')
    return TRUE;
  /* our own switches have no value behind them, but their other spellings may */
  return (option == NULL || !g_str_equal (option->entry->long_name, name)) && foreign_read_switch (next, &on);
}

/* Returns: how many arguments that were */
static guint
foreign_add_argument (Arguments   *self,
                      char       **args)
{
  const char *equals = strchr (args[0], '=');
  gboolean is_letter = args[0][0] == '-' && args[0][1] != '\0' && args[0][2] == '\0';
  const VnCmdOption *letter = is_letter ? foreign_find_letter (self, args[0][1]) : NULL;
  g_autofree char *name = NULL;

  if (letter != NULL && foreign_takes_next (letter) && args[1] != NULL)
    {
      foreign_add_text (self, letter, args[1]);
      return 2;
    }
  if (!g_str_has_prefix (args[0], "--"))
    {
      g_ptr_array_add (self->rest, g_strdup (args[0]));
      return 1;
    }
  name = equals != NULL ? g_strndup (args[0] + 2, (gsize) (equals - args[0]) - 2) : g_strdup (args[0] + 2);
  if (equals == NULL && foreign_has_next (self, name, args[1]))
    {
      foreign_add_named (self, name, args[1]);
      return 2;
    }
  foreign_add_named (self, name, equals != NULL ? equals + 1 : NULL);
  return 1;
}

/**
 * vn_cmd_accept_foreign_words:
 * @options: of the command, of VnCmdOption
 * @args: (inout): the command and its arguments; what is a word of another quantizer is put as it is written here, whatever
 *   else is not known is left as it was. What a preset of others stands for comes first, so that all that is said beside it
 *   counts
 *
 * Returns: %FALSE with %G_OPTION_ERROR where a word is known, but cannot be had, or where one in an object is not known
 */
gboolean
vn_cmd_accept_foreign_words (GArray   *options,
                             char   ***args,
                             GError  **error)
{
  g_autoptr(GPtrArray) rest = g_ptr_array_new_with_free_func (g_free), first = g_ptr_array_new_with_free_func (g_free);
  Arguments self = { options, first, rest };
  char **at;

  g_return_val_if_fail (options != NULL && args != NULL && (*args)[0] != NULL, FALSE);

  for (at = *args + 1; self.error == NULL && *at != NULL && !g_str_equal (*at, "--");)
    at += foreign_add_argument (&self, at);
  if (self.error != NULL)
    {
      g_propagate_error (error, self.error);
      return FALSE;
    }
  g_ptr_array_insert (first, 0, g_strdup ((*args)[0]));
  g_ptr_array_extend_and_steal (first, g_steal_pointer (&rest));
  for (; *at != NULL; at++)
    g_ptr_array_add (first, g_strdup (*at));
  g_ptr_array_add (first, NULL);
  g_strfreev (*args);
  *args = (char **) g_ptr_array_free (g_steal_pointer (&first), FALSE);
  return TRUE;
}
