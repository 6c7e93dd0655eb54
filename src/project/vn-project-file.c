/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Projects as JSON, version 1:
 *
 *   { "vernier-project": 1,
 *     "model": "detector.onnx", "digest": "…",
 *     "data": { … },        as in src/dataset/data-spec-json.c; may be missing
 *     "recipe": { … } }     as in src/recipe/recipe-json.c
 *
 * Paths below the folder of the file are relative to it, so that a folder can be moved with all that is in it. */

#include "vn-project-file.h"

#include "vn-error.h"
#include "vn-file.h"
#include "vn-i18n.h"
#include "vn-json.h"

#include <string.h>

#define VERSION_KEY "vernier-project"
#define VERSION 1

/**
 * vn_project_new:
 *
 * Returns: (transfer full): a project with copies of all that is given
 */
VnProject *
vn_project_new (const char       *model,
                const char       *digest,
                const VnDataSpec *data,
                const VnRecipe   *recipe)
{
  VnProject *self;

  g_return_val_if_fail (model != NULL && recipe != NULL, NULL);

  self = g_new0 (VnProject, 1);
  self->model = g_strdup (model);
  self->digest = g_strdup (digest);
  self->data = data != NULL ? vn_data_spec_copy (data) : NULL;
  self->recipe = vn_recipe_copy (recipe);
  return self;
}

/**
 * vn_project_free:
 * @self: (nullable) (transfer full): a project
 */
void
vn_project_free (VnProject *self)
{
  if (self == NULL)
    return;

  g_free (self->model);
  g_free (self->digest);
  vn_data_spec_free (self->data);
  vn_recipe_free (self->recipe);
  g_free (self);
}

/**
 * vn_project_is_file:
 *
 * Returns: whether @path is called as projects are
 */
gboolean
vn_project_is_file (const char *path)
{
  g_return_val_if_fail (path != NULL, FALSE);

  return g_str_has_suffix (path, VN_PROJECT_SUFFIX);
}

/**
 * vn_project_is_about:
 *
 * Returns: %FALSE if the network changed since the project was written
 */
gboolean
vn_project_is_about (const VnProject *self,
                     const VnModel   *model)
{
  g_autofree char *digest = NULL;

  g_return_val_if_fail (self != NULL && model != NULL, FALSE);

  digest = vn_model_dup_digest (model);
  return self->digest == NULL || g_str_equal (self->digest, digest);
}

/**
 * vn_project_runs_script:
 *
 * Returns: whether opening the samples runs somebody's Python: ask the user first
 */
gboolean
vn_project_runs_script (const VnProject *self)
{
  GHashTableIter iter;
  gpointer data;

  g_return_val_if_fail (self != NULL, FALSE);

  if (self->data == NULL)
    return FALSE;
  if (self->data->script != NULL)
    return TRUE;
  if (self->data->inputs == NULL)
    return FALSE;
  g_hash_table_iter_init (&iter, self->data->inputs);
  while (g_hash_table_iter_next (&iter, NULL, &data))
    if (((VnInputData *) data)->script != NULL)
      return TRUE;
  return FALSE;
}

/* ---- write ---- */

/* The recipe with a path that can be found from anywhere. */
static JsonNode *
project_file_make_recipe_node (const VnRecipe *recipe,
                               const char     *folder)
{
  g_autoptr(VnRecipe) copy = vn_recipe_copy (recipe);
  g_autofree char *text = NULL;

  if (copy->ranges != NULL)
    {
      char *path = vn_file_dup_short (copy->ranges, folder);

      g_free (copy->ranges);
      copy->ranges = path;
    }
  text = vn_recipe_to_json (copy);
  return vn_json_parse (text, -1, "recipe", NULL);
}

/**
 * vn_project_save:
 *
 * Returns: whether the file is complete; if not, what was there before still is
 */
gboolean
vn_project_save (const VnProject  *self,
                 const char       *path,
                 GError          **error)
{
  g_autofree char *whole = NULL, *folder = NULL, *model = NULL, *text = NULL;
  g_autoptr(JsonBuilder) json = json_builder_new ();
  g_autoptr(JsonNode) root = NULL;

  g_return_val_if_fail (self != NULL && path != NULL, FALSE);

  whole = g_canonicalize_filename (path, NULL);
  folder = g_path_get_dirname (whole);
  model = vn_file_dup_short (self->model, folder);
  json_builder_begin_object (json);
  vn_json_add_int (json, VERSION_KEY, VERSION);
  vn_json_add_text (json, "model", model);
  vn_json_add_text_if (json, "digest", self->digest);
  if (self->data != NULL)
    vn_json_add_node (json, "data", vn_data_spec_to_json (self->data, folder));
  vn_json_add_node (json, "recipe", project_file_make_recipe_node (self->recipe, folder));
  json_builder_end_object (json);
  root = json_builder_get_root (json);
  text = vn_json_to_text (root);
  return vn_file_write_all (path, text, strlen (text), error);
}

/* ---- read ---- */

static gboolean
project_file_check_version (JsonObject  *object,
                            GError     **error)
{
  double version;

  if (!json_object_has_member (object, VERSION_KEY))
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("this is no project: “%s” is missing"), VERSION_KEY);
      return FALSE;
    }
  if (!vn_json_get_number (json_object_get_member (object, VERSION_KEY), VERSION_KEY, &version, error))
    return FALSE;
  if (version == VERSION)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("the project has version %g; this program reads version %d"), version,
               VERSION);
  return FALSE;
}

static gboolean
project_file_check_members (JsonObject  *object,
                            GError     **error)
{
  static const char * const known[] = { VERSION_KEY, "model", "digest", "data", "recipe", NULL };
  static const char * const needed[] = { "model", "recipe", NULL };
  JsonObjectIter iter;
  const char *id;

  for (guint i = 0; needed[i] != NULL; i++)
    if (!json_object_has_member (object, needed[i]))
      {
        g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("“%s” is missing"), needed[i]);
        return FALSE;
      }
  json_object_iter_init (&iter, object);
  while (json_object_iter_next (&iter, &id, NULL))
    if (!g_strv_contains (known, id))
      {
        g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("%s: there is no such field"), id);
        return FALSE;
      }
  return TRUE;
}

static VnRecipe *
project_file_read_recipe (JsonNode    *node,
                          const char  *folder,
                          GError     **error)
{
  g_autofree char *text = vn_json_to_text (node);
  VnRecipe *recipe = vn_recipe_from_json (text, "recipe", error);

  if (recipe != NULL && recipe->ranges != NULL)
    {
      char *path = g_canonicalize_filename (recipe->ranges, folder);

      g_free (recipe->ranges);
      recipe->ranges = path;
    }
  return recipe;
}

static VnProject *
project_file_read_project (JsonNode    *root,
                           const char  *folder,
                           GError     **error)
{
  JsonObject *object = vn_json_get_object (root, _("project"), error);
  g_autoptr(VnProject) self = g_new0 (VnProject, 1);
  const char *model, *digest = NULL;

  if (object == NULL || !project_file_check_version (object, error) || !project_file_check_members (object, error))
    return NULL;
  model = vn_json_get_string (json_object_get_member (object, "model"), "model", error);
  if (model == NULL)
    return NULL;
  if (json_object_has_member (object, "digest"))
    {
      digest = vn_json_get_string (json_object_get_member (object, "digest"), "digest", error);
      if (digest == NULL)
        return NULL;
    }
  self->model = g_canonicalize_filename (model, folder);
  self->digest = g_strdup (digest);
  if (json_object_has_member (object, "data"))
    {
      self->data = vn_data_spec_from_json (json_object_get_member (object, "data"), "data", folder, error);
      if (self->data == NULL)
        return NULL;
    }
  self->recipe = project_file_read_recipe (json_object_get_member (object, "recipe"), folder, error);
  return self->recipe != NULL ? g_steal_pointer (&self) : NULL;
}

/**
 * vn_project_load:
 *
 * The network and the samples are not opened.
 *
 * Returns: (transfer full) (nullable): the project in a file; or the place, what is there and what is allowed
 */
VnProject *
vn_project_load (const char  *path,
                 GError     **error)
{
  g_autoptr(JsonNode) root = NULL;
  g_autofree char *whole = NULL, *folder = NULL;
  VnProject *self;

  g_return_val_if_fail (path != NULL, NULL);

  root = vn_json_load (path, error);
  if (root == NULL)
    return NULL;
  whole = g_canonicalize_filename (path, NULL);
  folder = g_path_get_dirname (whole);
  self = project_file_read_project (root, folder, error);
  if (self == NULL)
    g_prefix_error (error, "%s: ", path);
  return self;
}
