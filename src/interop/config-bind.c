/* SPDX-License-Identifier: GPL-3.0-or-later */

/* What a configuration says of a network and its samples, checked against the network. */

#include "vn-config-private.h"

#include "vn-error.h"
#include "vn-file.h"
#include "vn-i18n.h"
#include "vn-memory.h"

#include <string.h>

/* ---- inputs ---- */

static GPtrArray *
config_bind_list_inputs (const VnModel *model)
{
  GPtrArray *inputs = g_ptr_array_new ();

  for (guint i = 0; i < model->graph->inputs->len; i++)
    {
      VnValue *value = g_ptr_array_index (model->graph->inputs, i);

      if (value->initializer == NULL)
        g_ptr_array_add (inputs, value);
    }
  return inputs;
}

static const VnValue *
config_bind_find_input (GPtrArray  *inputs,
                        const char *name)
{
  for (guint i = 0; i < inputs->len; i++)
    if (g_str_equal (((VnValue *) inputs->pdata[i])->name, name))
      return inputs->pdata[i];
  return NULL;
}

static gboolean
config_bind_check_shape (const VnConfigInput *input,
                         const VnValue       *value,
                         GError             **error)
{
  const VnShape *shape = &value->type.shape;
  g_autofree char *text = NULL;
  gboolean fits;

  if (input->shape == NULL || value->type.kind != VN_TYPE_TENSOR || shape->rank < 0)
    return TRUE;
  fits = (int) input->rank == shape->rank;
  for (guint d = 0; fits && d < input->rank; d++)
    fits = input->shape[d] == VN_DIM_UNKNOWN || shape->dims[d] == VN_DIM_UNKNOWN || input->shape[d] == shape->dims[d] || d == 0;
  if (fits)
    return TRUE;
  text = vn_shape_to_string (shape, "×");
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
               _("input_shape of “%s” does not match: the model has %s"), value->name, text);
  return FALSE;
}

/* Plain numbers may be of another type than the network's. */
static gboolean
config_bind_check_dtype (const VnConfigInput *input,
                         const VnValue       *value,
                         guint                index,
                         GError             **error)
{
  if (input->raw || input->dtype == VN_DTYPE_UNDEFINED || value->type.dtype == VN_DTYPE_UNDEFINED ||
      input->dtype == value->type.dtype || (vn_dtype_is_float (input->dtype) && vn_dtype_is_float (value->type.dtype)))
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
               _("calibration_parameters.input_parametres[%u].dtype: %s not implemented yet for “%s”; the model has "
                 "%s there: use that, or leave the field out"), index, vn_dtype_get_name (input->dtype), value->name,
               vn_dtype_get_name (value->type.dtype));
  return FALSE;
}

/* Inputs without a name are those of the network, in its order. */
static gboolean
bind_inputs (VnConfig       *self,
             const VnModel  *model,
             gboolean        has_samples,
             GError        **error)
{
  g_autoptr(GPtrArray) inputs = config_bind_list_inputs (model);

  if (self->inputs->len == 0 && (has_samples || !self->needs_samples))
    return TRUE;
  if (self->inputs->len != inputs->len)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
                   _("Calibration input_parametres size should equal to model inputs size: there are %u and %u"),
                   self->inputs->len, inputs->len);
      return FALSE;
    }
  for (guint i = 0; i < inputs->len; i++)
    {
      VnConfigInput *input = g_ptr_array_index (self->inputs, i);
      const VnValue *value = input->name != NULL ? config_bind_find_input (inputs, input->name) : inputs->pdata[i];

      if (value == NULL)
        {
          g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
                       _("calibration_parameters.input_parametres[%u].input_name: the model has no input “%s”; its %s is “%s”"),
                       i, input->name, inputs->len == 1 ? _("only one") : _("input at this position"),
                       ((VnValue *) inputs->pdata[i])->name);
          return FALSE;
        }
      if (input->name == NULL)
        input->name = g_strdup (value->name);
      if (!config_bind_check_shape (input, value, error) || !config_bind_check_dtype (input, value, i, error))
        return FALSE;
    }
  return TRUE;
}

/* ---- regions ---- */

/* The tensors around regions; those of cuts and groups are added later. */
static gboolean
config_bind_check_edges (VnConfig       *self,
                         const VnModel  *model,
                         GError        **error)
{
  for (guint i = 0; i < self->recipe->overrides->len; i++)
    {
      const VnOverride *rule = g_ptr_array_index (self->recipe->overrides, i);
      char ** const lists[] = { rule->in_edges, rule->out_edges };
      static const char * const fields[] = { "input_names", "output_names" };

      for (guint k = 0; k < G_N_ELEMENTS (lists); k++)
        for (char **name = lists[k]; name != NULL && *name != NULL; name++)
          if (vn_graph_find_value (model->graph, *name) == NULL)
            {
              g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
                           _("quantization_parameters.custom_setting: %s: the model has no tensor “%s”"), fields[k], *name);
              return FALSE;
            }
    }
  return TRUE;
}

/* ---- truncation ---- */

/* Whether no way leads from an input of the network to an output but through the named values. */
static gboolean
config_bind_check_cut (const VnGraph *graph,
                       char         **names,
                       GError       **error)
{
  g_autoptr(GPtrArray) todo = g_ptr_array_new ();
  g_autoptr(GHashTable) seen = g_hash_table_new (NULL, NULL);

  for (guint i = 0; i < graph->outputs->len; i++)
    g_ptr_array_add (todo, g_ptr_array_index (graph->outputs, i));
  while (todo->len > 0)
    {
      VnValue *value = g_ptr_array_steal_index_fast (todo, todo->len - 1);

      if (value == NULL || !g_hash_table_add (seen, value) || g_strv_contains ((const char * const *) names, value->name))
        continue;
      if (value->is_input && value->initializer == NULL)
        {
          g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
                       _("truncate graph failed: truncate_var_names: these tensors do not split the model in two: an "
                         "output can be reached without them from input “%s”"),
                       value->name);
          return FALSE;
        }
      for (guint k = 0; value->producer != NULL && k < value->producer->inputs->len; k++)
        g_ptr_array_add (todo, g_ptr_array_index (value->producer->inputs, k));
    }
  return TRUE;
}

static gboolean
config_bind_add_truncation (VnConfig       *self,
                            const VnModel  *model,
                            GError        **error)
{
  g_autoptr(GStrvBuilder) builder = g_strv_builder_new ();
  g_auto(GStrv) outputs = NULL;

  if (self->truncate == NULL || self->truncate[0] == NULL)
    return TRUE;
  for (guint i = 0; self->truncate[i] != NULL; i++)
    if (vn_graph_find_value (model->graph, self->truncate[i]) == NULL)
      {
        g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
                     _("truncate graph failed: truncate_var_names: the model has no tensor “%s”"), self->truncate[i]);
        return FALSE;
      }
  if (!config_bind_check_cut (model->graph, self->truncate, error))
    return FALSE;
  for (guint i = 0; i < model->graph->outputs->len; i++)
    {
      const VnValue *value = g_ptr_array_index (model->graph->outputs, i);

      if (!g_strv_contains ((const char * const *) self->truncate, value->name))
        g_strv_builder_add (builder, value->name);
    }
  outputs = g_strv_builder_end (builder);
  if (outputs[0] != NULL)
    vn_config_add_rule (self, NULL, self->truncate, outputs, TRUE);
  return TRUE;
}

/* ---- groups of nodes ---- */

static const VnNode *
config_bind_find_node (const VnGraph *graph,
                       const char    *name)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (graph->nodes, i);

      if (g_strcmp0 (node->name, name) == 0)
        return node;
    }
  return NULL;
}

/* The values that the named nodes read, or make. */
static char **
config_bind_list_edges (const VnGraph  *graph,
                        const char     *group,
                        char          **nodes,
                        gboolean        enter,
                        GError        **error)
{
  g_autoptr(GStrvBuilder) names = g_strv_builder_new ();

  for (guint i = 0; nodes != NULL && nodes[i] != NULL; i++)
    {
      const VnNode *node = config_bind_find_node (graph, nodes[i]);
      GPtrArray *values = node != NULL ? (enter ? node->inputs : node->outputs) : NULL;

      if (node == NULL)
        {
          g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("subgraphs: “%s”: the model has no node “%s”"), group, nodes[i]);
          return NULL;
        }
      for (guint k = 0; k < values->len; k++)
        {
          const VnValue *value = g_ptr_array_index (values, k);

          if (value != NULL && !vn_value_is_constant (value))
            g_strv_builder_add (names, value->name);
        }
    }
  return g_strv_builder_end (names);
}

static gboolean
config_bind_add_groups (VnConfig       *self,
                        const VnModel  *model,
                        GError        **error)
{
  for (guint i = 0; i < self->groups->len; i++)
    {
      const VnConfigGroup *group = g_ptr_array_index (self->groups, i);
      g_auto(GStrv) from = config_bind_list_edges (model->graph, group->name, group->start_nodes, TRUE, error);
      g_auto(GStrv) to = from != NULL ? config_bind_list_edges (model->graph, group->name, group->end_nodes, FALSE, error) : NULL;

      if (to == NULL)
        return FALSE;
      if (from[0] == NULL || to[0] == NULL)
        {
          g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("subgraphs: “%s”: start_nodes and end_nodes are required"),
                       group->name);
          return FALSE;
        }
      vn_config_add_rule (self, NULL, from, to, TRUE);
    }
  return TRUE;
}

/**
 * vn_config_bind:
 * @model: the network, as opened
 * @has_samples: there are samples from elsewhere: the configuration need not name any
 *
 * Adds the rules that need to know the network, and checks what is said of its inputs.
 *
 * Returns: %FALSE if the configuration is not for this network
 */
gboolean
vn_config_bind (VnConfig       *self,
                const VnModel  *model,
                gboolean        has_samples,
                GError        **error)
{
  g_return_val_if_fail (self != NULL, FALSE);

  if ((!self->has_samples || bind_inputs (self, model, has_samples, error)) &&
      config_bind_check_edges (self, model, error) && config_bind_add_truncation (self, model, error) &&
      config_bind_add_groups (self, model, error) && vn_recipe_validate (self->recipe, error))
    return TRUE;
  g_prefix_error (error, "%s: ", self->path);
  return FALSE;
}

/* ---- samples ---- */

static gboolean
config_bind_check_list (const char  *list,
                        const char  *input,
                        GError     **error)
{
  g_autofree char *text = NULL, *folder = g_path_get_dirname (list);
  g_autoptr(GBytes) bytes = NULL;
  g_autoptr(GError) reason = NULL;
  g_auto(GStrv) lines = NULL;

  if (g_file_test (list, G_FILE_TEST_IS_DIR))
    return TRUE;
  /* Not g_file_get_contents(), which would read a device for ever. */
  bytes = vn_file_map (list, &reason);
  if (bytes == NULL)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA, _("Calibration input %s finds 0 items: %s"), input, reason->message);
      return FALSE;
    }
  text = vn_memory_dup_text (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), error);
  if (text == NULL)
    return FALSE;
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    {
      g_autofree char *path = *g_strstrip (lines[i]) != '\0' ? g_canonicalize_filename (lines[i], folder) : NULL;

      if (path != NULL && g_file_test (path, G_FILE_TEST_EXISTS))
        return TRUE;
    }
  g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA,
               _("Calibration input %s finds 0 items: no line of “%s” names an existing file, relative to its folder"), input,
               list);
  return FALSE;
}

static char *
config_bind_make_path (VnConfig  *self,
                       GError   **error)
{
  g_autoptr(GString) all = g_string_new (NULL);

  for (guint i = 0; i < self->inputs->len; i++)
    {
      const VnConfigInput *input = g_ptr_array_index (self->inputs, i);
      g_autofree char *found = input->list != NULL ? vn_config_find_file (self, input->list) : NULL;
      g_autofree char *list = found != NULL ? g_canonicalize_filename (found, NULL) : NULL;

      if (list == NULL)
        {
          g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA, _("Calibration input %s finds 0 items: data_list_path is missing"),
                       input->name);
          return NULL;
        }
      if (!config_bind_check_list (list, input->name, error))
        return NULL;
      if (self->inputs->len == 1)
        return g_steal_pointer (&list);
      g_string_append_printf (all, "%s%s=%s", i > 0 ? ";" : "", input->name, list);
    }
  return g_string_free (g_steal_pointer (&all), FALSE);
}

/**
 * vn_config_names_samples:
 *
 * Returns: whether the configuration says where samples are, be they needed or only to measure with
 */
gboolean
vn_config_names_samples (const VnConfig *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  for (guint i = 0; i < self->inputs->len; i++)
    if (((const VnConfigInput *) g_ptr_array_index (self->inputs, i))->list != NULL)
      return TRUE;
  return FALSE;
}

/**
 * vn_config_make_data:
 * @self: bound to @model
 * @path: (nullable): where samples are, instead of where the configuration says
 *
 * Returns: (transfer full) (nullable): samples and how they are prepared; a script does not run before vn_data_spec_trust()
 */
VnDataSpec *
vn_config_make_data (VnConfig       *self,
                     const VnModel  *model,
                     const char     *path,
                     GError        **error)
{
  g_autofree char *own = NULL;
  g_autoptr(VnDataSpec) spec = NULL;

  g_return_val_if_fail (self != NULL, NULL);

  own = path == NULL ? config_bind_make_path (self, error) : g_strdup (path);
  if (own == NULL)
    {
      g_prefix_error (error, "%s: ", self->path);
      return NULL;
    }
  spec = vn_data_spec_new (own);
  spec->foreign = TRUE;
  for (guint i = 0; i < self->inputs->len; i++)
    {
      const VnConfigInput *input = g_ptr_array_index (self->inputs, i);

      if (self->inputs->len == 1)
        {
          spec->preprocess = input->preprocess;
          spec->script = g_strdup (input->script);
        }
      else
        vn_data_spec_set_input (spec, input->name, &input->preprocess, input->script);
      /* what the file does not say is read from the network */
      if (input->raw && self->inputs->len == 1)
        spec->raw_type = input->dtype;
      else if (input->raw)
        vn_data_spec_set_raw_type (spec, input->name, input->dtype);
    }
  return g_steal_pointer (&spec);
}

/**
 * vn_config_make_shapes:
 * @self: bound to @model
 *
 * Returns: (transfer full) (nullable): VnShape by input name, for inputs that the network leaves open: what the
 *   configuration says, the first size else 1
 */
GHashTable *
vn_config_make_shapes (VnConfig       *self,
                       const VnModel  *model,
                       GError        **error)
{
  g_autoptr(GHashTable) shapes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_autoptr(GPtrArray) inputs = NULL;

  g_return_val_if_fail (self != NULL && model != NULL, NULL);

  inputs = config_bind_list_inputs (model);
  for (guint i = 0; i < self->inputs->len; i++)
    {
      const VnConfigInput *input = g_ptr_array_index (self->inputs, i);
      const VnValue *value = config_bind_find_input (inputs, input->name);
      gboolean open = FALSE;
      VnShape shape;

      if (value == NULL || value->type.kind != VN_TYPE_TENSOR || value->type.shape.rank < 0)
        continue;
      shape = value->type.shape;
      for (int d = 0; d < shape.rank; d++)
        {
          if (shape.dims[d] != VN_DIM_UNKNOWN)
            continue;
          open = TRUE;
          if (input->shape != NULL && (guint) d < input->rank)
            shape.dims[d] = input->shape[d];
          if (d == 0 && shape.dims[d] == VN_DIM_UNKNOWN)
            shape.dims[d] = 1;
        }
      if (open)
        g_hash_table_insert (shapes, g_strdup (value->name), g_memdup2 (&shape, sizeof shape));
    }
  return g_hash_table_size (shapes) > 0 ? g_steal_pointer (&shapes) : NULL;
}
