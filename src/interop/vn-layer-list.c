/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists of layers for tools that quantize by themselves (vn-layer-lists.def): which they are, what a tool calls them, and the
 * file for it. */
#include "vn-layer-list.h"

#include "vn-layer-lists.h"
#include "vn-thresholds.h"
#include "vn-weak-nodes.h"

#include <string.h>

#define PREFIX "/io/github/vernier/interop/layer-lists/"
#define AS_EXPORTED "the settings of the export"

static const VnLayerList known[] = {
#define VN_LAYER_LIST(targets, ...) { targets, __VA_ARGS__ },
#include "vn-layer-lists.def"
#undef VN_LAYER_LIST
};

void
vn_listed_layer_free (VnListedLayer *self)
{
  g_free (self->name);
  g_free (self->node);
  g_free (self->op_type);
  g_free (self);
}

/**
 * vn_layer_list_of:
 *
 * Returns: (transfer none) (nullable): the form for the tool of @target; %NULL: it reads pairs, or nobody quantizes for it
 */
const VnLayerList *
vn_layer_list_of (const VnPreset *target)
{
  g_return_val_if_fail (target != NULL, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    {
      g_auto(GStrv) ids = g_strsplit (known[i].targets, " ", -1);

      if (g_strv_contains ((const char * const *) ids, target->id))
        return &known[i];
    }
  return NULL;
}

/**
 * vn_layer_list_dup_like:
 * @recipe: of a run for the target
 *
 * Returns: (transfer full) (nullable): the recipe to measure with; %NULL: @recipe itself
 */
VnRecipe *
vn_layer_list_dup_like (const VnLayerList *self,
                        const VnRecipe    *recipe)
{
  VnRecipe *like;

  g_return_val_if_fail (self != NULL && recipe != NULL, NULL);

  if (self->like == NULL)
    return NULL;
  like = vn_recipe_copy (recipe);
  vn_recipe_apply_settings (like, self->like);
  return like;
}

/* ---- names ---- */

/* Tools that are given the export read its names, and others those of the model as opened. */
static const VnNode *
layer_list_find_given (const VnLayerList *self,
                       VnRun             *exported,
                       const VnNode      *source)
{
  const VnIdentity *identity;
  const VnValue *value;

  if (self->like == NULL)
    return source;
  identity = vn_identity_map_get (vn_run_get_identity (exported), source);
  value = identity != NULL && identity->prepared != NULL
          ? vn_graph_find_value (exported->quantized->graph, identity->prepared) : NULL;
  return value != NULL ? value->producer : NULL;
}

/* Of an activation that a node does not compute but reads, the weight costs nothing. */
static const char *
layer_list_find_weight (VnRun         *measured,
                        const VnNode  *source)
{
  const VnIdentity *identity = vn_identity_map_get (vn_run_get_identity (measured), source);
  const VnContribution *best = NULL;
  const guint n = measured->contributions != NULL ? vn_contributions_get_n (measured->contributions) : 0;

  for (guint i = 0; i < n && identity != NULL; i++)
    {
      const VnContribution *item = vn_contributions_get (measured->contributions, i);

      if (item->role == VN_TENSOR_WEIGHT && g_strcmp0 (item->value, identity->rounded) == 0 &&
          (best == NULL || item->share > best->share))
        best = item;
    }
  return best != NULL ? best->name : NULL;
}

static const char *
layer_list_find_name (const VnLayerList *self,
                      VnRun             *exported,
                      VnRun             *measured,
                      const VnNode      *source)
{
  const VnNode *given = layer_list_find_given (self, exported, source);
  const VnValue *result = given != NULL && given->outputs->len > 0 ? g_ptr_array_index (given->outputs, 0) : NULL;

  switch (self->names)
    {
    case VN_LAYER_NAMES_NODES:
      return given != NULL ? given->name : NULL;
    case VN_LAYER_NAMES_TENSORS:
      return result != NULL ? result->name : NULL;
    case VN_LAYER_NAMES_WEIGHTS:
      return layer_list_find_weight (measured, source);
    }
  g_return_val_if_reached (NULL);
}

static gboolean
layer_list_fits (const VnLayerList *self,
                 const char        *name)
{
  return name != NULL && *name != '\0' && (self->unfit == NULL || strpbrk (name, self->unfit) == NULL);
}

/**
 * vn_layer_list_find:
 * @exported: a run for the target, with its networks
 * @measured: a run with vn_layer_list_dup_like() of the same model, or @exported
 *
 * Returns: (transfer full) (element-type VnListedLayer): those of vn_weak_nodes_list(), the worst first, each name once; those
 *   without a name that the tool can be told are among them
 */
GPtrArray *
vn_layer_list_find (const VnLayerList *self,
                    VnRun             *exported,
                    VnRun             *measured)
{
  GPtrArray *layers = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_listed_layer_free);
  g_autoptr(GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr(GArray) weak = NULL;
  double sum = 0;

  g_return_val_if_fail (self != NULL && exported != NULL && measured != NULL, layers);

  weak = vn_weak_nodes_list (measured);
  for (guint i = 0; i < weak->len; i++)
    {
      const VnNode *node = g_ptr_array_index (measured->source->graph->nodes, g_array_index (weak, guint, i));
      const VnErrorRow *row = vn_run_get_node_error (measured, node);
      const char *name = layer_list_find_name (self, exported, measured, node);
      VnListedLayer *layer;

      if (row == NULL || (name != NULL && g_hash_table_contains (seen, name)))
        continue;
      layer = g_new0 (VnListedLayer, 1);
      *layer = (VnListedLayer) { layer_list_fits (self, name) ? g_strdup (name) : NULL, vn_node_dup_label (node),
                                 g_strdup (node->op_type), row->contribution, sum < VN_LISTED_SHARE };
      sum += layer->share;
      if (layer->name != NULL)
        g_hash_table_add (seen, layer->name);
      g_ptr_array_add (layers, layer);
    }
  return layers;
}

/**
 * vn_layer_list_dup_path:
 * @model_path: of the export: "model.onnx"
 *
 * Returns: (transfer full): where the list goes: "model.hailo.py"
 */
char *
vn_layer_list_dup_path (const VnLayerList *self,
                        const char        *model_path)
{
  g_autofree char *stem = NULL;

  g_return_val_if_fail (self != NULL && model_path != NULL, NULL);

  stem = g_str_has_suffix (model_path, ".onnx") ? g_strndup (model_path, strlen (model_path) - strlen (".onnx"))
                                                : g_strdup (model_path);
  return g_strconcat (stem, self->ending, NULL);
}

/* ---- the file ---- */

/* The escapes that Python, JSON and double quotes of YAML have in common. */
static void
layer_list_append_quoted (GString    *text,
                          const char *name)
{
  g_string_append_c (text, '"');
  for (const char *at = name; *at != '\0'; at++)
    if (*at == '"' || *at == '\\')
      g_string_append_printf (text, "\\%c", *at);
    else if ((guchar) *at < 0x20 || *at == 0x7f)
      g_string_append_printf (text, "\\u%04x", (guint) (guchar) *at);
    else
      g_string_append_c (text, *at);
  g_string_append_c (text, '"');
}

static void
layer_list_append_layer (GString             *text,
                         const VnLayerList   *self,
                         const VnListedLayer *layer)
{
  char share[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_append (text, layer->is_chosen ? self->before : self->off);
  if (self->quotes)
    layer_list_append_quoted (text, layer->name);
  else
    g_string_append (text, layer->name);
  g_string_append_printf (text, "%s%s%s %%, ", self->after, self->hash,
                          g_ascii_formatd (share, sizeof share, "%.1f", 100 * layer->share));
  /* a line of code could stand in it */
  for (const char *at = layer->op_type; *at != '\0'; at++)
    g_string_append_c (text, g_ascii_isalnum (*at) ? *at : '_');
  g_string_append_c (text, '\n');
}

/* In one pass: what is put in is not looked through. */
static char *
layer_list_fill (GBytes             *template,
                 const char * const *marks,
                 const char * const *texts)
{
  gsize size;
  const char *at = g_bytes_get_data (template, &size), *end = at + size;
  GString *text = g_string_sized_new (size);

  while (at < end)
    {
      guint i = 0;

      while (marks[i] != NULL && !(g_str_has_prefix (at, marks[i])))
        i++;
      g_string_append_len (text, marks[i] != NULL ? texts[i] : at, marks[i] != NULL ? -1 : 1);
      at += marks[i] != NULL ? strlen (marks[i]) : 1;
    }
  return g_string_free (text, FALSE);
}

/**
 * vn_layer_list_print:
 * @layers: (element-type VnListedLayer): those without a name are left out
 * @model: name of the file that the tool is given
 *
 * Returns: (transfer full): the text of the file
 */
char *
vn_layer_list_print (const VnLayerList *self,
                     GPtrArray         *layers,
                     const char        *model)
{
  g_autofree char *path = NULL;
  g_autoptr(GBytes) template = NULL;
  g_autoptr(GString) lines = g_string_new (NULL), file = g_string_new (NULL);

  g_return_val_if_fail (self != NULL && layers != NULL && model != NULL, NULL);

  path = g_strconcat (PREFIX, self->template, NULL);
  template = g_resource_lookup_data (vn_layer_lists_get_resource (), path, G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);
  g_return_val_if_fail (template != NULL, NULL);
  for (guint i = 0; i < layers->len; i++)
    if (((VnListedLayer *) g_ptr_array_index (layers, i))->name != NULL)
      layer_list_append_layer (lines, self, g_ptr_array_index (layers, i));
  if (lines->len > 0)
    g_string_truncate (lines, lines->len - 1);
  layer_list_append_quoted (file, model);
  return layer_list_fill (template, (const char * const []) { "@LAYERS@", "@MEASURED@", "@MODEL@", NULL },
                          (const char * const []) { lines->str, self->measured != NULL ? self->measured : AS_EXPORTED,
                                                    file->str });
}
