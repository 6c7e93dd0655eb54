/* SPDX-License-Identifier: GPL-3.0-or-later */

/* What all formats that a plan can be written in have in common. */

#include "vn-quant-write.h"

#include "vn-error.h"
#include "vn-graph-edit.h"
#include "vn-i18n.h"
#include "vn-node-index.h"
#include "vn-setting.h"
#include "vn-validate.h"

#include <string.h>

/* Least IR version that knows an opset: version tables of the ONNX standard. */
static const struct { gint64 opset, ir; } ir_versions[] = {
  { 10, 5 }, { 11, 6 }, { 14, 7 }, { 18, 8 }, { 20, 9 }, { 22, 10 }, { 23, 11 }, { 24, 12 }, { 25, 13 },
};

static void
quant_write_set_metadata (VnModel    *model,
                          const char *key,
                          const char *value)
{
  for (guint i = 0; i + 1 < model->metadata->len; i += 2)
    {
      if (!g_str_equal (g_ptr_array_index (model->metadata, i), key))
        continue;
      g_free (model->metadata->pdata[i + 1]);
      model->metadata->pdata[i + 1] = g_strdup (value);
      return;
    }
  g_ptr_array_add (model->metadata, g_strdup (key));
  g_ptr_array_add (model->metadata, g_strdup (value));
}

static char *
quant_write_dup_names (char **paths)
{
  g_autoptr(GString) names = g_string_new (NULL);

  for (guint i = 0; paths[i] != NULL; i++)
    {
      g_autofree char *name = g_path_get_basename (paths[i]);

      g_string_append_printf (names, "%s%s", i > 0 ? ", " : "", name);
    }
  return g_string_free (g_steal_pointer (&names), FALSE);
}

static void
quant_write_describe_recipe (VnModel        *model,
                             const VnRecipe *recipe)
{
  g_autofree char *rules = g_strdup_printf ("%u", recipe->overrides->len);
  guint n;
  const VnSetting *settings = vn_setting_list_of_recipe (&n);

  quant_write_set_metadata (model, "vernier.version", VN_VERSION);
  quant_write_set_metadata (model, "vernier.preset", recipe->preset != NULL ? recipe->preset : "");
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *key = g_strconcat ("vernier.", settings[i].id, NULL);
      g_autofree char *text = vn_setting_dup_text (&settings[i], recipe);
      char **files = g_str_equal (settings[i].id, "ranges") ? G_STRUCT_MEMBER (char **, recipe, settings[i].offset) : NULL;

      /* Whoever gets the model need not know the folders of whoever made it. */
      if (files != NULL)
        {
          g_free (text);
          text = quant_write_dup_names (files);
        }
      if (settings[i].stage == VN_SETTING_STAGE_MEASURE)
        continue;
      if (!vn_setting_is_default (&settings[i], recipe) || settings[i].type == VN_SETTING_ENUM ||
          settings[i].type == VN_SETTING_DTYPE)
        quant_write_set_metadata (model, key, text);
    }
  quant_write_set_metadata (model, "vernier.rules", rules);
}

/* Weights that are no graph inputs need IR version 4; each opset needs its own. */
static void
quant_write_raise_ir_version (VnModel *model)
{
  gint64 opset = vn_model_get_opset (model, ""), needed = ir_versions[0].ir;

  for (guint i = 0; i < G_N_ELEMENTS (ir_versions); i++)
    {
      needed = ir_versions[i].ir;
      if (opset <= ir_versions[i].opset)
        break;
    }
  if (model->functions->len > 0)
    needed = MAX (needed, 8);
  model->ir_version = MAX (model->ir_version, needed);
}

static void
quant_write_set_producer (VnModel *model)
{
  g_free (model->producer_name);
  g_free (model->producer_version);
  model->producer_name = g_strdup ("Vernier");
  model->producer_version = g_strdup (VN_VERSION);
}

/* Every domain that a node is of; those the model had keep their version. */
static void
quant_write_import_domains (VnModel       *model,
                            const VnGraph *graph)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (graph->nodes, i);

      if (*node->domain != '\0' && vn_model_get_opset (model, node->domain) == 0)
        vn_model_set_opset (model, node->domain, 1);
      for (guint a = 0; a < node->attrs->len; a++)
        if (((const VnAttr *) g_ptr_array_index (node->attrs, a))->graph != NULL)
          quant_write_import_domains (model, ((const VnAttr *) g_ptr_array_index (node->attrs, a))->graph);
    }
}

/* Runtimes and the standard want nodes behind what they read; not every file keeps to that. */
static gboolean
quant_write_sort_nodes (VnGraph   *graph,
                        gboolean   has_inner,
                        GError   **error)
{
  g_autoptr(GPtrArray) nodes = NULL;

  if (!has_inner && vn_quant_is_sorted (graph))
    return TRUE;

  nodes = vn_graph_sort (graph, error);
  if (nodes == NULL)
    return FALSE;
  vn_graph_reorder (graph, nodes);
  return TRUE;
}

static gboolean
quant_write_complete_model (VnModel  *model,
                            GError  **error)
{
  quant_write_import_domains (model, model->graph);
  return vn_model_validate (model, VN_VALIDATE_STRUCTURE, NULL, error);
}

static gboolean
quant_write_graph (VnModel             *model,
                   const VnWriteScheme *scheme,
                   VnQuantPlan         *plan,
                   GHashTable          *names,
                   GError             **error);

/* The graphs inside nodes, once the graph around them is written. */
static gboolean
quant_write_inner_graphs (VnModel             *model,
                          const VnWriteScheme *scheme,
                          GPtrArray           *inner,
                          GHashTable          *names,
                          GError             **error)
{
  g_autoptr(GHashTable) captured = NULL;

  for (guint i = 0; i < inner->len; i++)
    {
      VnInnerGraph *graph = g_ptr_array_index (inner, i);
      g_autoptr(GHashTable) own = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);

      if (!quant_write_graph (vn_inner_graph_get_model (graph), scheme, vn_inner_graph_get_plan (graph), own, error))
        return FALSE;
      vn_inner_graph_put_back (graph, own, names);
    }
  if (inner->len == 0)
    return TRUE;
  captured = vn_graph_find_captured (model->graph);
  vn_quant_drop_unused_constants (model->graph, captured);
  vn_quant_add_functions (model, scheme);
  return TRUE;
}

static gboolean
quant_write_graph (VnModel             *model,
                   const VnWriteScheme *scheme,
                   VnQuantPlan         *plan,
                   GHashTable          *names,
                   GError             **error)
{
  g_autoptr(GPtrArray) inner = vn_inner_graphs_take (model, plan);
  gboolean written;

  vn_model_begin_edits (model);
  written = vn_format_get_writer (scheme->format->format)->write (model, scheme, plan, names, error);
  vn_model_end_edits (model);
  return written &&
         quant_write_inner_graphs (model, scheme, inner, names, error) &&
         quant_write_sort_nodes (model->graph, inner->len > 0, error);
}

/* Values the writer did not rename stand for themselves, if they are still there. */
static void
quant_write_complete_names (const VnModel *prepared,
                            const VnModel *model,
                            GHashTable    *names)
{
  for (guint i = 0; i < prepared->graph->values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (prepared->graph->values, i);

      if (!g_hash_table_contains (names, value->name) && g_hash_table_contains (model->graph->by_name, value->name))
        g_hash_table_insert (names, g_strdup (value->name), g_strdup (value->name));
    }
}

/**
 * vn_quantize_write:
 * @prepared: the model @plan was made for
 * @recipe: the recipe @plan was made from, which the model is to tell of; of a network of halves it says whether its inputs and
 *   outputs stay float32
 * @plan: what to do
 * @value_names: (out) (nullable) (transfer full): see the header; tensors that vanished (before an absorbed clamp) are
 *   not in it
 *
 * Returns: (transfer full): a quantized copy of @prepared, or %NULL: a format without writer, memory
 */
VnModel *
vn_quantize_write (const VnModel   *prepared,
                   const VnRecipe  *recipe,
                   VnQuantPlan     *plan,
                   GHashTable     **value_names,
                   GError         **error)
{
  g_autoptr(VnModel) model = NULL;
  g_autoptr(GHashTable) names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  VnWriteScheme scheme;

  g_return_val_if_fail (prepared != NULL && recipe != NULL && plan != NULL, NULL);
  g_return_val_if_fail (plan->n_nodes == prepared->graph->nodes->len, NULL);

  if (!vn_format_check_number (recipe->format, error))
    return NULL;

  scheme = plan->write;
  scheme.float_io = recipe->float_io;
  model = vn_model_copy (prepared);
  if (!quant_write_graph (model, &scheme, plan, names, error) || !quant_write_complete_model (model, error))
    {
      g_prefix_error (error, "%s: ", scheme.format->id);
      return NULL;
    }

  vn_model_separate_names (model, NULL);
  quant_write_describe_recipe (model, recipe);
  quant_write_set_producer (model);
  quant_write_raise_ir_version (model);
  quant_write_complete_names (prepared, model, names);
  if (value_names != NULL)
    *value_names = g_steal_pointer (&names);
  return g_steal_pointer (&model);
}
