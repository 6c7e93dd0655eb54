/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a network is run on: --input, --shape and --dim. */
#include "vn-cmd.h"

#include "vn-i18n.h"
#include "vn-onnx.h"

#include <string.h>

static VnTensor *
cmd_inputs_read_tensor (const char  *path,
                        GError     **error)
{
  if (g_str_has_suffix (path, ".pb"))
    return vn_onnx_tensor_read_file (path, NULL, error);
  return vn_npy_read (path, error);
}

/* NAME=FILE: a name as well as a file may have “=” in it. */
static char *
cmd_inputs_dup_name (const VnModel *model,
                     const char    *option)
{
  const char *equals = strchr (option, '=');

  for (guint i = 0; i < model->graph->inputs->len; i++)
    {
      const VnValue *value = g_ptr_array_index (model->graph->inputs, i);

      if (g_str_has_prefix (option, value->name) && option[strlen (value->name)] == '=')
        return g_strdup (value->name);
    }
  return equals != NULL ? g_strndup (option, equals - option) : NULL;
}

static gboolean
cmd_inputs_read_input (const VnModel  *model,
                       const char     *option,
                       GHashTable     *shapes,
                       GHashTable     *tensors,
                       GError        **error)
{
  g_autofree char *name = cmd_inputs_dup_name (model, option);
  VnTensor *tensor;

  if (name == NULL)
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, _("--input: “%s” is not allowed; use NAME=FILE"),
                   option);
      return FALSE;
    }
  if (!vn_cmd_check_input (model, "--input", name, error))
    return FALSE;
  if (g_hash_table_contains (tensors, name))
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, _("--input: “%s” is specified twice"), name);
      return FALSE;
    }
  tensor = cmd_inputs_read_tensor (option + strlen (name) + 1, error);
  if (tensor == NULL)
    return FALSE;
  g_hash_table_insert (shapes, g_strdup (name), g_memdup2 (&tensor->shape, sizeof tensor->shape));
  g_hash_table_insert (tensors, g_steal_pointer (&name), tensor);
  return TRUE;
}

/* Sizes of open dims follow the files; the tensors are kept for the run. */
static gboolean
cmd_inputs_read_inputs (const VnModel  *model,
                        GHashTable     *shapes,
                        GHashTable     *tensors,
                        GError        **error)
{
  for (char **at = vn_cmd_options.inputs; at != NULL && *at != NULL; at++)
    if (!cmd_inputs_read_input (model, *at, shapes, tensors, error))
      return FALSE;
  return TRUE;
}

/* NAME=FILE; what the names are is not known yet, so every “=” may be the one. */
static void
cmd_inputs_add_input_files (VnFileSet *files)
{
  for (char **at = vn_cmd_options.inputs; at != NULL && *at != NULL; at++)
    for (const char *equals = strchr (*at, '='); equals != NULL; equals = strchr (equals + 1, '='))
      if (g_file_test (equals + 1, G_FILE_TEST_IS_REGULAR))
        vn_file_set_reads (files, equals + 1, _("a value of an input"));
}

/**
 * vn_cmd_new_files:
 * @model: (nullable): path of the network
 *
 * Returns: (transfer full): what the command is known to read before the network is opened; vn_model_add_files() and
 *   vn_data_spec_add_files() know the rest
 */
VnFileSet *
vn_cmd_new_files (const char *model)
{
  VnFileSet *files = vn_file_set_new ();

  vn_file_set_reads (files, model, _("the model itself"));
  cmd_inputs_add_input_files (files);
  return files;
}

/* Samples that no input is left for would be passed over. */
static gboolean
cmd_inputs_check_data (const VnModel  *model,
                       GHashTable     *given,
                       GError        **error)
{
  guint n = 0;

  for (guint i = 0; i < model->graph->inputs->len; i++)
    n += ((const VnValue *) g_ptr_array_index (model->graph->inputs, i))->initializer == NULL;
  if (vn_cmd_options.data == NULL || g_hash_table_size (given) < MAX (n, 1))
    return TRUE;
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, _("--data has no effect because --input sets every "
                                                                  "input: remove one of them"));
  return FALSE;
}

/**
 * vn_cmd_open_to_run:
 * @shapes: (out) (transfer full): VnShape by input name, of --shape, --dim and of the files of --input
 * @given: (out) (transfer full): VnTensor by input name, of --input
 *
 * Returns: (transfer full) (nullable): the model in the file, as the engine can run it
 */
VnModel *
vn_cmd_open_to_run (const char  *path,
                    GHashTable **shapes,
                    GHashTable **given,
                    GError     **error)
{
  g_autoptr(VnModel) opened = NULL;
  g_autoptr(VnModel) model = NULL;
  g_autoptr(GHashTable) sizes = NULL;
  g_autoptr(GHashTable) tensors = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) vn_tensor_unref);
  GError *shape_error = NULL;

  g_return_val_if_fail (path != NULL, NULL);

  opened = vn_cmd_open_model (path, error);
  model = opened != NULL ? vn_model_to_runnable (opened, NULL, error) : NULL;
  if (model == NULL)
    return NULL;
  sizes = vn_cmd_parse_shapes (opened, &shape_error);
  if (shape_error != NULL)
    {
      g_propagate_error (error, shape_error);
      return NULL;
    }
  if (sizes == NULL)
    sizes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  if (!cmd_inputs_read_inputs (model, sizes, tensors, error) || !cmd_inputs_check_data (model, tensors, error))
    return NULL;
  *shapes = g_steal_pointer (&sizes);
  *given = g_steal_pointer (&tensors);
  return g_steal_pointer (&model);
}
