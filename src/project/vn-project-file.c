/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Projects as JSON, version 1:
 *
 *   { "vernier-project": 1,
 *     "model": "detector.onnx", "digest": "…",
 *     "data": { … },        as in src/dataset/data-spec-json.c; may be missing
 *     "sizes": { … },       as in vn-project-sizes.c; may be missing
 *     "recipe": { … },      as in src/recipe/recipe-json.c
 *     "runs": [ { … } ] }   as in vn-project-runs.c; may be missing
 *
 * Paths below the folder of the file are relative to it, so that a folder can be moved with all that is in it. */

#include "vn-project-file.h"

#include "project-sizes.h"

#include "vn-error.h"
#include "vn-file.h"
#include "vn-i18n.h"
#include "vn-recipe-json.h"

#include <string.h>

#define VERSION_KEY "vernier-project"
#define VERSION 1

static VnProject *
project_file_new_empty (void)
{
  VnProject *self = g_new0 (VnProject, 1);

  self->runs = vn_project_runs_new ();
  return self;
}

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

  self = project_file_new_empty ();
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
  g_clear_pointer (&self->sizes, g_hash_table_unref);
  vn_recipe_free (self->recipe);
  g_ptr_array_unref (self->runs);
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
  g_return_val_if_fail (self != NULL, FALSE);

  return self->data != NULL && !vn_data_spec_may_run (self->data);
}

/* ---- write ---- */

/**
 * vn_project_to_json:
 * @self: all its runs are saved
 * @folder: of the file; paths below it are relative to it
 *
 * Returns: (transfer full): the project as text; vn_project_from_json() makes an equal one of it
 */
char *
vn_project_to_json (const VnProject *self,
                    const char      *folder)
{
  g_autofree char *model = NULL;
  g_autoptr(JsonBuilder) json = json_builder_new ();
  g_autoptr(JsonNode) root = NULL;

  g_return_val_if_fail (self != NULL && folder != NULL, NULL);

  model = vn_file_dup_short (self->model, folder);
  json_builder_begin_object (json);
  vn_json_add_int (json, VERSION_KEY, VERSION);
  vn_json_add_text (json, "model", model);
  vn_json_add_text_if (json, "digest", self->digest);
  if (self->data != NULL)
    vn_json_add_node (json, "data", vn_data_spec_to_json (self->data, folder));
  _vn_project_add_sizes (json, self);
  vn_json_add_node (json, "recipe", vn_recipe_to_node (self->recipe, folder));
  if (self->runs->len > 0)
    vn_json_begin_array (json, "runs");
  for (guint i = 0; i < self->runs->len; i++)
    json_builder_add_value (json, vn_project_run_to_json (g_ptr_array_index (self->runs, i), folder));
  if (self->runs->len > 0)
    json_builder_end_array (json);
  json_builder_end_object (json);
  root = json_builder_get_root (json);
  return vn_json_to_text (root);
}

/**
 * vn_project_save:
 *
 * Writes the files of new runs, then the project.
 *
 * Returns: whether all is complete; if not, the project that was there before still is
 */
gboolean
vn_project_save (VnProject   *self,
                 const char  *path,
                 GError     **error)
{
  g_autofree char *whole = NULL, *folder = NULL, *text = NULL;

  g_return_val_if_fail (self != NULL && path != NULL, FALSE);

  for (guint i = 0; i < self->runs->len; i++)
    if (!vn_project_run_save (g_ptr_array_index (self->runs, i), path, error))
      return FALSE;
  whole = g_canonicalize_filename (path, NULL);
  folder = g_path_get_dirname (whole);
  text = vn_project_to_json (self, folder);
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
      g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("not a project: “%s” is missing"), VERSION_KEY);
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
  static const char * const known[] = { VERSION_KEY, "model", "digest", "data", "sizes", "recipe", "runs", NULL };
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
        g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("%s: unknown field"), id);
        return FALSE;
      }
  return TRUE;
}

/**
 * vn_project_find_run:
 *
 * Returns: (transfer none) (nullable): the run of that name
 */
VnProjectRun *
vn_project_find_run (const VnProject *self,
                     const char      *id)
{
  g_return_val_if_fail (self != NULL && id != NULL, NULL);

  return vn_project_runs_find (self->runs, id);
}

/* One that is wrong is no run that cannot be read, which costs only that run: nobody knows what was meant. */
static gboolean
project_file_read_runs (VnProject   *self,
                        JsonNode    *node,
                        const char  *folder,
                        GError     **error)
{
  JsonArray *array = vn_json_get_array (node, "runs", error);
  gboolean ok = array != NULL;

  for (guint i = 0; ok && i < json_array_get_length (array); i++)
    {
      g_autofree char *where = g_strdup_printf ("runs[%u]", i);
      VnJsonFields fields;
      VnProjectRun *run;

      vn_json_fields_init (&fields, json_array_get_element (array, i), where);
      run = vn_project_run_from_json (&fields, folder);
      if (run != NULL && vn_project_find_run (self, run->id) != NULL)
        vn_json_fields_fail (&fields, "id", _("is “%s”, which another run already uses"), run->id);
      if (run != NULL)
        g_ptr_array_add (self->runs, run);
      ok = vn_json_fields_end (&fields, error);
      vn_json_fields_clear (&fields);
    }
  return ok;
}

static VnProject *
project_file_read_project (JsonNode    *root,
                           const char  *folder,
                           GError     **error)
{
  JsonObject *object = vn_json_get_object (root, _("project"), error);
  g_autoptr(VnProject) self = project_file_new_empty ();
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
  self->model = vn_file_dup_long (model, folder);
  self->digest = g_strdup (digest);
  if (json_object_has_member (object, "data"))
    {
      self->data = vn_data_spec_from_json (json_object_get_member (object, "data"), "data", folder, error);
      if (self->data == NULL)
        return NULL;
    }
  self->recipe = vn_recipe_from_node (json_object_get_member (object, "recipe"), "recipe", folder, error);
  if (self->recipe == NULL ||
      (json_object_has_member (object, "sizes") && !_vn_project_read_sizes (self, json_object_get_member (object, "sizes"),
                                                                            error)) ||
      (json_object_has_member (object, "runs") &&
       !project_file_read_runs (self, json_object_get_member (object, "runs"), folder, error)))
    return NULL;
  return g_steal_pointer (&self);
}

/**
 * vn_project_from_json:
 * @text: what vn_project_to_json() writes, or anybody
 * @name: of the file, for messages
 * @folder: that relative paths start from
 *
 * Returns: (transfer full) (nullable): as vn_project_load()
 */
VnProject *
vn_project_from_json (const char  *text,
                      gssize       length,
                      const char  *name,
                      const char  *folder,
                      GError     **error)
{
  g_autoptr(JsonNode) root = NULL;
  VnProject *self;

  g_return_val_if_fail (text != NULL && name != NULL && folder != NULL, NULL);

  root = vn_json_parse (text, length, name, error);
  if (root == NULL)
    return NULL;
  self = project_file_read_project (root, folder, error);
  if (self == NULL)
    g_prefix_error (error, "%s: ", name);
  return self;
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
  g_autoptr(GBytes) bytes = NULL;
  g_autofree char *whole = NULL, *folder = NULL;
  const char *text;
  gsize size;

  g_return_val_if_fail (path != NULL, NULL);

  bytes = vn_file_map (path, error);
  if (bytes == NULL)
    return NULL;
  text = g_bytes_get_data (bytes, &size);
  whole = g_canonicalize_filename (path, NULL);
  folder = g_path_get_dirname (whole);
  return vn_project_from_json (text, (gssize) size, path, folder, error);
}
