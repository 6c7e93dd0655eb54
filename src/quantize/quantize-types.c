/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Element types of inputs and outputs: what is computed in float32 inside takes and gives what the user's network does. */
#include "vn-quantize.h"

#include "vn-format-traits.h"
#include "vn-graph-edit.h"
#include "vn-i18n.h"
#include "vn-quant-write.h"

/* A network in another precision is made one in float32 before it is quantized. */
static gboolean
quantize_types_differ (const VnValue *source,
                       const VnValue *value)
{
  return source->type.kind == VN_TYPE_TENSOR && value->type.kind == VN_TYPE_TENSOR && value->type.dtype == VN_DTYPE_F32 &&
         source->type.dtype != VN_DTYPE_F32 && vn_dtype_is_float (source->type.dtype);
}

/* A value of float32 that stands for @value inside. */
static VnValue *
quantize_types_add_twin (VnGraph       *graph,
                         const VnValue *value)
{
  g_autofree char *name = g_strconcat (value->name, "_float32", NULL);
  VnShape shape = value->type.shape;

  return vn_graph_add_value (graph, name, VN_DTYPE_F32, &shape);
}

static void
quantize_types_set (VnValue *value,
                    VnDType  dtype)
{
  value->type.dtype = dtype;
  g_clear_pointer (&value->type.encoded, g_bytes_unref);
}

/* Who looks for the value by its name finds the one of float32. */
static void
quantize_types_rename (GHashTable *names,
                       const char *from,
                       const char *to)
{
  GHashTableIter iter;
  gpointer value;

  g_hash_table_iter_init (&iter, names);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    if (g_str_equal (value, from))
      g_hash_table_iter_replace (&iter, g_strdup (to));
}

static void
quantize_types_keep_input (VnGraph    *graph,
                           VnValue    *input,
                           VnDType     dtype,
                           GHashTable *names)
{
  VnNode *first = vn_graph_get_n_nodes (graph) > 0 ? vn_graph_get_node (graph, 0) : NULL;
  VnValue *twin = quantize_types_add_twin (graph, input);

  vn_value_replace_uses (input, twin, NULL);
  quantize_types_set (input, dtype);
  vn_node_set_int (vn_graph_insert_node (graph, first, NULL, "", "Cast", &input, 1, &twin, 1), "to", VN_DTYPE_F32);
  quantize_types_rename (names, input->name, twin->name);
}

static void
quantize_types_keep_output (VnGraph    *graph,
                            VnValue    *output,
                            VnDType     dtype,
                            GHashTable *names)
{
  VnNode *producer = output->producer;
  VnValue *twin = quantize_types_add_twin (graph, output);

  vn_node_set_output (producer, output->output_index, twin);
  vn_value_replace_uses (output, twin, NULL);
  quantize_types_set (output, dtype);
  vn_node_set_int (vn_graph_insert_node (graph, vn_node_get_next (producer), NULL, "", "Cast", &twin, 1, &output, 1), "to",
                   (gint64) dtype);
  quantize_types_rename (names, output->name, twin->name);
}

/**
 * vn_quantize_get_float_type:
 * @prepared: the float network, in float32, that is quantized, or what is made of it
 *
 * Returns: what floats beside integer weights are written as if that is a type of 16 bits, or VN_DTYPE_UNDEFINED
 */
VnDType
vn_quantize_get_float_type (const VnModel  *prepared,
                            const VnRecipe *recipe)
{
  static const VnDType asked[VN_N_FLOAT_TYPES] = {
    [VN_FLOAT_TYPE_FLOAT16] = VN_DTYPE_F16, [VN_FLOAT_TYPE_BFLOAT16] = VN_DTYPE_BF16,
  };

  g_return_val_if_fail (prepared != NULL && recipe != NULL, VN_DTYPE_UNDEFINED);

  if (!vn_recipe_get_format (recipe)->weights_only)
    return VN_DTYPE_UNDEFINED;
  if (recipe->float_type != VN_FLOAT_TYPE_AUTO)
    return asked[recipe->float_type];
  return prepared->widened == VN_DTYPE_F16 || prepared->widened == VN_DTYPE_BF16 ? prepared->widened : VN_DTYPE_UNDEFINED;
}

static gboolean
quantize_types_is_single (const VnValue *value)
{
  return value != NULL && value->type.kind == VN_TYPE_TENSOR && value->type.dtype == VN_DTYPE_F32;
}

/* What Cast has made another type of. */
static const VnValue *
quantize_types_find_cast (const VnValue *value)
{
  while (value != NULL && value->producer != NULL && vn_node_is (value->producer, "Cast") &&
         vn_node_get_input (value->producer, 0) != NULL && vn_dtype_is_float (vn_node_get_input (value->producer, 0)->type.dtype))
    value = vn_node_get_input (value->producer, 0);
  return value;
}

/* Names of values of @source that are computed in float32, not only cast to it. */
static GHashTable *
quantize_types_list_singles (const VnModel *source)
{
  GHashTable *names = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < source->graph->values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (source->graph->values, i);

      if (value->producer != NULL && quantize_types_is_single (quantize_types_find_cast (value)))
        g_hash_table_add (names, value->name);
    }
  return names;
}

static GHashTable *
quantize_types_list_ends (const VnModel *source)
{
  GHashTable *names = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < source->graph->values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (source->graph->values, i);

      if ((value->is_input || value->is_output) && quantize_types_is_single (value))
        g_hash_table_add (names, value->name);
    }
  return names;
}

/**
 * vn_quantize_narrow:
 * @quantized: what is exported, in float32; changed in place; must not be shared yet
 * @source: the network as the user gave it, with inferred types
 * @value_names: (inout) (element-type utf8 utf8): of vn_quantize_write()
 *
 * Where only weights are quantized, and the network was of float16 or bfloat16 or @recipe asks for it, all else is of that type
 * from here on, but for what a network of such floats computed in float32. Repairs and figures are made before, as they compute
 * in float32. Inputs and outputs of networks that were of such a type are what they were, those of others are of it if @recipe
 * says so.
 */
gboolean
vn_quantize_narrow (VnModel         *quantized,
                    const VnModel   *source,
                    const VnRecipe  *recipe,
                    GHashTable      *value_names,
                    GError         **error)
{
  g_autoptr(GHashTable) singles = NULL, ends = NULL;
  gboolean named;
  VnDType dtype;

  g_return_val_if_fail (quantized != NULL && source != NULL && recipe != NULL && value_names != NULL, FALSE);

  dtype = vn_quantize_get_float_type (quantized, recipe);
  named = recipe->float_type != VN_FLOAT_TYPE_AUTO;
  if (dtype == VN_DTYPE_UNDEFINED)
    return TRUE;
  if (quantized->widened != VN_DTYPE_UNDEFINED)
    singles = quantize_types_list_singles (source);
  if (!named)
    ends = quantize_types_list_ends (source);
  return vn_model_infer_types (quantized, NULL, NULL, error) &&
         vn_quant_write_halves (quantized, dtype, recipe->float_io && named, singles, ends, value_names, error);
}

/**
 * vn_quantize_keep_types:
 * @quantized: changed in place; must not be shared yet
 * @source: the network as the user gave it
 * @value_names: (inout) (element-type utf8 utf8): of vn_quantize_write()
 *
 * Inputs and outputs that were other floats than float32 in @source are so again, with a Cast behind and in front of them.
 */
void
vn_quantize_keep_types (VnModel       *quantized,
                        const VnModel *source,
                        GHashTable    *value_names)
{
  VnGraph *graph;

  g_return_if_fail (quantized != NULL && source != NULL && value_names != NULL);

  graph = quantized->graph;
  for (guint i = 0; i < graph->inputs->len; i++)
    {
      VnValue *input = g_ptr_array_index (graph->inputs, i);
      const VnValue *given = vn_graph_find_value (source->graph, input->name);

      if (given != NULL && given->is_input && input->initializer == NULL && !input->is_output &&
          quantize_types_differ (given, input))
        quantize_types_keep_input (graph, input, given->type.dtype, value_names);
    }
  for (guint i = 0; i < graph->outputs->len; i++)
    {
      VnValue *output = g_ptr_array_index (graph->outputs, i);
      const VnValue *given = vn_graph_find_value (source->graph, output->name);

      if (given != NULL && given->is_output && output->producer != NULL && quantize_types_differ (given, output))
        quantize_types_keep_output (graph, output, given->type.dtype, value_names);
    }
}

static void
quantize_types_note (GPtrArray     *values,
                     const VnModel *source,
                     VnNotes       *notes)
{
  for (guint i = 0; i < values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (values, i);
      const VnValue *given = vn_graph_find_value (source->graph, value->name);
      const char *was = given != NULL ? vn_dtype_get_name (given->type.dtype) : NULL, *is = vn_dtype_get_name (value->type.dtype);

      if (given == NULL || given->is_input != value->is_input || given->type.kind != VN_TYPE_TENSOR ||
          value->type.kind != VN_TYPE_TENSOR ||
          value->initializer != NULL || given->type.dtype == VN_DTYPE_UNDEFINED || given->type.dtype == value->type.dtype)
        continue;
      vn_notes_add (notes, VN_NOTE_WARNING, "type-changed", value->name,
                    value->is_input ? _("The input “%s” has the type %s, but %s in the original model")
                                    : _("The output “%s” has the type %s, but %s in the original model"), value->name, is, was);
    }
}

/**
 * vn_quantize_note_types:
 * @result: what was made of @source
 * @notes: told of inputs and outputs that have other element types
 */
void
vn_quantize_note_types (const VnModel *result,
                        const VnModel *source,
                        VnNotes       *notes)
{
  g_return_if_fail (result != NULL && source != NULL && notes != NULL);

  quantize_types_note (result->graph->inputs, source, notes);
  quantize_types_note (result->graph->outputs, source, notes);
}
