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
         (source->type.dtype == VN_DTYPE_F16 || source->type.dtype == VN_DTYPE_F64);
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

/* Whether the floats beside integer weights are to be float16. */
static gboolean
quantize_types_are_half (const VnModel  *quantized,
                         const VnRecipe *recipe)
{
  return vn_recipe_get_format (recipe)->weights_only &&
         (recipe->float_type == VN_FLOAT_TYPE_FLOAT16 ||
          (recipe->float_type == VN_FLOAT_TYPE_AUTO && quantized->widened == VN_DTYPE_F16));
}

/**
 * vn_quantize_narrow:
 * @quantized: what is exported, in float32; changed in place; must not be shared yet
 * @value_names: (inout) (element-type utf8 utf8): of vn_quantize_write()
 *
 * Where only weights are quantized, and the network was of float16 or @recipe asks for it, all else is float16 from here on.
 * Repairs and figures are made before, as they compute in float32. Inputs and outputs of networks that were of float16 are so,
 * too, those of others if @recipe says so.
 */
gboolean
vn_quantize_narrow (VnModel         *quantized,
                    const VnRecipe  *recipe,
                    GHashTable      *value_names,
                    GError         **error)
{
  g_return_val_if_fail (quantized != NULL && recipe != NULL && value_names != NULL, FALSE);

  if (!quantize_types_are_half (quantized, recipe))
    return TRUE;
  return vn_model_infer_types (quantized, NULL, NULL, error) &&
         vn_quant_write_halves (quantized, recipe->float_io && recipe->float_type == VN_FLOAT_TYPE_FLOAT16, value_names, error);
}

/**
 * vn_quantize_keep_types:
 * @quantized: changed in place; must not be shared yet
 * @source: the network as the user gave it
 * @value_names: (inout) (element-type utf8 utf8): of vn_quantize_write()
 *
 * Inputs and outputs that were float16 or float64 in @source are so again, with a Cast behind and in front of them.
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
