/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Which program a configuration is for. */

#include "vn-config-private.h"
#include "vn-encodings-private.h"

#include "vn-error.h"
#include "vn-i18n.h"

static const VnConfigReader * const readers[] = {
#define VN_CONFIG(name) &vn_config_##name,
#include "vn-configs.def"
#undef VN_CONFIG
};

static void
config_free_input (gpointer data)
{
  VnConfigInput *self = data;

  g_free (self->name);
  g_free (self->shape);
  g_free (self->list);
  g_free (self->script);
  g_free (self);
}

static void
config_free_group (gpointer data)
{
  VnConfigGroup *self = data;

  g_free (self->name);
  g_strfreev (self->start_nodes);
  g_strfreev (self->end_nodes);
  g_free (self);
}

static const VnConfigReader *
config_find_reader (JsonNode    *root,
                    const char  *path,
                    GError     **error)
{
  g_autoptr(GString) titles = g_string_new (NULL);
  const char *foreign;

  if (!JSON_NODE_HOLDS_OBJECT (root))
    {
      vn_json_get_object (root, path, error);
      return NULL;
    }
  for (guint i = 0; i < G_N_ELEMENTS (readers); i++)
    if (readers[i]->knows (json_node_get_object (root)))
      return readers[i];
  foreign = vn_json_describe_foreign (json_node_get_object (root));
  if (foreign != NULL)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, "%s: %s", path, foreign);
      return NULL;
    }
  for (guint i = 0; i < G_N_ELEMENTS (readers); i++)
    g_string_append_printf (titles, "%s%s", i > 0 ? ", " : "", _(readers[i]->title));
  g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED,
               _("%s: not a quantization configuration; supported are %s"), path, titles->str);
  return NULL;
}

static VnConfig *
config_read_config (JsonNode    *root,
                    const char  *path,
                    GError     **error)
{
  const VnConfigReader *reader = config_find_reader (root, path, error);
  g_autoptr(VnConfig) self = NULL;

  if (reader == NULL)
    return NULL;
  self = g_new0 (VnConfig, 1);
  self->format = reader->id;
  self->path = g_strdup (path);
  self->recipe = vn_recipe_new (NULL);
  self->notes = vn_notes_new ();
  self->inputs = g_ptr_array_new_with_free_func (config_free_input);
  self->groups = g_ptr_array_new_with_free_func (config_free_group);
  self->needs_samples = TRUE;
  if (reader->read (self, root, error) && vn_recipe_validate (self->recipe, error))
    return g_steal_pointer (&self);
  g_prefix_error (error, "%s: ", path);
  return NULL;
}

/**
 * vn_config_parse:
 * @length: -1: up to the NUL
 * @path: of the file, for messages and to find files that the text names
 *
 * Returns: (transfer full) (nullable): what the text says, its recipe valid; or the place, what is there and what is allowed
 */
VnConfig *
vn_config_parse (const char  *text,
                 gssize       length,
                 const char  *path,
                 GError     **error)
{
  g_autoptr(JsonNode) root = NULL;

  g_return_val_if_fail (text != NULL, NULL);

  root = vn_json_parse (text, length, path, error);
  return root != NULL ? config_read_config (root, path, error) : NULL;
}

/**
 * vn_config_load:
 *
 * Returns: (transfer full) (nullable): what the file says
 */
VnConfig *
vn_config_load (const char  *path,
                GError     **error)
{
  g_autoptr(JsonNode) root = NULL;

  g_return_val_if_fail (path != NULL, NULL);

  root = vn_json_load (path, error);
  return root != NULL ? config_read_config (root, path, error) : NULL;
}

void
vn_config_free (VnConfig *self)
{
  if (self == NULL)
    return;
  g_free (self->path);
  vn_recipe_free (self->recipe);
  vn_notes_unref (self->notes);
  g_free (self->model);
  g_free (self->prefix);
  g_free (self->working_dir);
  g_ptr_array_unref (self->inputs);
  g_strfreev (self->truncate);
  g_ptr_array_unref (self->groups);
  g_free (self);
}
