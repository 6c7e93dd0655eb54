/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How samples are prepared, out of a file: a project, a run, the settings of samples alone, or a configuration of another
 * quantizer. */
#include "vn-load-preprocess.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-json.h"

/* @present, prepared as @from says; a script that a file names does not come along: it would run at once. */
static VnDataSpec *
load_preprocess_take (const VnDataSpec *present,
                      const VnDataSpec *from)
{
  VnDataSpec *spec = vn_data_spec_copy (present);
  GHashTableIter iter;
  gpointer name, data;

  spec->preprocess = from->preprocess;
  spec->raw_type = from->raw_type;
  g_clear_pointer (&spec->script, g_free);
  g_clear_pointer (&spec->inputs, g_hash_table_unref);
  if (from->inputs == NULL)
    return spec;
  g_hash_table_iter_init (&iter, from->inputs);
  while (g_hash_table_iter_next (&iter, &name, &data))
    {
      const VnInputData *input = data;

      vn_data_spec_set_input (spec, name, &input->preprocess, NULL);
      vn_data_spec_set_raw_type (spec, name, input->raw_type);
    }
  return spec;
}

/* The object of ours that says how samples are prepared; NULL: the file is of another kind. */
static JsonNode *
load_preprocess_find_own (JsonNode *root)
{
  JsonObject *object = JSON_NODE_HOLDS_OBJECT (root) ? json_node_get_object (root) : NULL;

  if (object != NULL && json_object_has_member (object, "data") &&
      JSON_NODE_HOLDS_OBJECT (json_object_get_member (object, "data")))
    return json_object_get_member (object, "data");
  if (object != NULL && (json_object_has_member (object, "mean") || json_object_has_member (object, "fit")))
    return root;
  return NULL;
}

static VnDataSpec *
load_preprocess_read_own (JsonNode    *node,
                          const char  *path,
                          GError     **error)
{
  g_autofree char *folder = g_path_get_dirname (path);

  if (!json_object_has_member (json_node_get_object (node), "path"))      /* the settings alone are enough here */
    json_object_set_string_member (json_node_get_object (node), "path", VN_DATA_RANDOM);
  return vn_data_spec_from_json (node, path, folder, error);
}

static VnDataSpec *
load_preprocess_read_foreign (const char        *path,
                              const VnDataSpec  *present,
                              const VnModel     *model,
                              GError           **error)
{
  g_autoptr(VnConfig) config = vn_config_load (path, error);

  if (config == NULL || !vn_config_bind (config, model, TRUE, error))
    return NULL;
  if (config->inputs->len == 0)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA, _("“%s” does not specify preprocessing"), path);
      return NULL;
    }
  return vn_config_make_data (config, model, present->path, error);
}

/**
 * vn_load_preprocess:
 * @path: a project, a run, the settings of samples, or a configuration of another quantizer
 * @present: the samples, which stay
 * @model: whose inputs they are for
 *
 * Returns: (transfer full) (nullable): @present, prepared as the file says; scripts that it names are left out
 */
VnDataSpec *
vn_load_preprocess (const char        *path,
                    const VnDataSpec  *present,
                    const VnModel     *model,
                    GError           **error)
{
  g_autoptr(JsonNode) root = NULL;
  g_autoptr(VnDataSpec) found = NULL;
  JsonNode *own;

  g_return_val_if_fail (path != NULL && present != NULL && model != NULL, NULL);

  root = vn_json_load (path, error);
  if (root == NULL)
    return NULL;
  own = load_preprocess_find_own (root);
  found = own != NULL ? load_preprocess_read_own (own, path, error) : load_preprocess_read_foreign (path, present, model, error);
  return found != NULL ? load_preprocess_take (present, found) : NULL;
}
