/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a network is run on: --input, --shape and --dim. */
#include "vn-cmd.h"

#include "vn-i18n.h"
#include "vn-onnx.h"

#include <string.h>

static VnTensor *
read_tensor (const char  *path,
             GError     **error)
{
  if (g_str_has_suffix (path, ".pb"))
    return vn_onnx_tensor_read_file (path, NULL, error);
  return vn_npy_read (path, error);
}

static char *
find_input_file (const char *name)
{
  gsize length = strlen (name);

  for (char **at = vn_cmd_options.inputs; at != NULL && *at != NULL; at++)
    if (strncmp (*at, name, length) == 0 && (*at)[length] == '=')
      return *at + length + 1;
  return NULL;
}

/* Sizes of open dims follow the files; the tensors are kept for the run. */
static gboolean
read_inputs (const VnModel  *model,
             GHashTable     *shapes,
             GHashTable     *tensors,
             GError        **error)
{
  char **inputs = vn_cmd_options.inputs;

  for (guint i = 0; i < model->graph->inputs->len; i++)
    {
      const VnValue *value = g_ptr_array_index (model->graph->inputs, i);
      const char *path = find_input_file (value->name);
      VnTensor *tensor;

      if (path == NULL)
        continue;
      tensor = read_tensor (path, error);
      if (tensor == NULL)
        return FALSE;
      g_hash_table_insert (tensors, g_strdup (value->name), tensor);
      g_hash_table_insert (shapes, g_strdup (value->name), g_memdup2 (&tensor->shape, sizeof tensor->shape));
    }
  if (inputs != NULL && g_hash_table_size (tensors) != g_strv_length (inputs))
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                   _("--input: a name is not an input of the model, or given twice; “inspect” lists the inputs"));
      return FALSE;
    }
  return TRUE;
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
  g_autoptr(VnModel) opened = vn_cmd_open_model (path, error);
  g_autoptr(VnModel) model = opened != NULL ? vn_model_to_runnable (opened, NULL, error) : NULL;
  g_autoptr(GHashTable) sizes = NULL;
  g_autoptr(GHashTable) tensors = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) vn_tensor_unref);
  GError *shape_error = NULL;

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
  if (!read_inputs (model, sizes, tensors, error))
    return NULL;
  *shapes = g_steal_pointer (&sizes);
  *given = g_steal_pointer (&tensors);
  return g_steal_pointer (&model);
}
