/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Types and shapes of all values of a model, found by asking every operator in order. Small values that are known
 * (sizes, axes, what Shape yields) are computed on the way, because shapes depend on them. Sizes that are open get
 * names, and what depends on them becomes an expression (vn-dims.h); while this runs, dims of values are such numbers. */
#include "vn-backend.h"
#include "vn-dims-private.h"
#include "vn-infer-private.h"

static gboolean infer_graph (VnInfer  *self,
                             VnGraph  *graph,
                             GError  **error);

/* ---- subgraphs ---- */

/* A branch that is never taken may hold shapes that cannot work, so its errors are only noted. */
static void
infer_subgraph (VnInfer *self,
                VnNode  *node,
                VnGraph *graph)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *label = NULL;

  if (infer_graph (self, graph, &error) || self->notes == NULL)
    return;
  label = vn_node_dup_label (node);
  vn_notes_add (self->notes, VN_NOTE_WARNING, "subgraph-shapes", label,
                _("shapes inside it remain unknown: %s"), error->message);
}

static void
infer_subgraphs (VnInfer *self,
                 VnNode  *node)
{
  for (guint i = 0; i < node->attrs->len; i++)
    {
      VnAttr *attr = g_ptr_array_index (node->attrs, i);

      if (attr->graph != NULL)
        infer_subgraph (self, node, attr->graph);
      for (guint k = 0; attr->graphs != NULL && k < attr->graphs->len; k++)
        infer_subgraph (self, node, g_ptr_array_index (attr->graphs, k));
    }
}

/* ---- graphs ---- */

static gboolean
infer_node (VnInfer  *self,
            VnNode   *node,
            GError  **error)
{
  const VnOp *op = vn_backend_lookup_node (node);
  g_autofree char *label = NULL;

  infer_subgraphs (self, node);
  if ((op == NULL || op->infer == NULL) && self->options->guess_rank)
    vn_infer_guess_types (self, node);
  if (op == NULL || op->infer == NULL || vn_infer_node (self, op, node, error))
    return TRUE;

  label = vn_node_dup_label (node);
  g_prefix_error (error, _("node “%s” (%s): "), label, node->op_type);
  return FALSE;
}

/* A tensor says more about its type than a declaration can. */
static void
infer_type_initializers (VnInfer *self,
                         VnGraph *graph)
{
  for (guint i = 0; i < graph->initializers->len; i++)
    {
      VnValue *value = g_ptr_array_index (graph->initializers, i);

      if (value->initializer != NULL)
        vn_infer_set_type (self, value, (VnTensorType) { value->initializer->dtype, value->initializer->shape });
    }
}

static gboolean
infer_graph (VnInfer  *self,
             VnGraph  *graph,
             GError  **error)
{
  g_autoptr(GPtrArray) order = vn_graph_sort (graph, error);

  if (order == NULL)
    return FALSE;
  infer_type_initializers (self, graph);
  for (guint i = 0; i < order->len; i++)
    if (!infer_node (self, g_ptr_array_index (order, i), error))
      return FALSE;
  return TRUE;
}

/* ---- sizes given by the caller ---- */

static gboolean
infer_give_shape (VnInfer        *self,
                  VnValue        *value,
                  const VnShape  *given,
                  GError        **error)
{
  const VnShape *declared = &value->type.shape;
  g_autofree char *text = NULL;
  gboolean fits = value->type.kind != VN_TYPE_TENSOR || declared->rank < 0 || declared->rank == given->rank;

  for (int i = 0; fits && value->type.kind == VN_TYPE_TENSOR && i < declared->rank; i++)
    fits = declared->dims[i] < 0 || given->dims[i] < 0 || declared->dims[i] == given->dims[i];
  if (!fits)
    {
      g_autofree char *type = vn_type_to_string (&value->type);

      text = vn_shape_to_string (given, "×");
      g_set_error (error, VN_ERROR, VN_ERROR_SHAPE,
                   _("input “%s” is %s, but the specified shape is %s: specify a shape that matches"), value->name, type, text);
      return FALSE;
    }

  for (int i = 0; value->type.kind == VN_TYPE_TENSOR && i < declared->rank; i++)
    if (value->type.symbols[i] != NULL && given->dims[i] >= 0)
      g_hash_table_insert (self->symbols, g_strdup (value->type.symbols[i]),
                           g_memdup2 (&given->dims[i], sizeof (gint64)));
  vn_infer_set_type (self, value, (VnTensorType) { VN_DTYPE_UNDEFINED, *given });
  return TRUE;
}

/* Dims of one name have one size, at every input. */
static void
infer_apply_symbols (VnInfer *self,
                     VnValue *value)
{
  VnTensorType type = { value->type.dtype, value->type.shape };

  if (value->type.kind != VN_TYPE_TENSOR)
    return;
  for (int i = 0; i < type.shape.rank; i++)
    if (value->type.symbols[i] != NULL)
      {
        const gint64 *size = g_hash_table_lookup (self->symbols, value->type.symbols[i]);

        if (size != NULL)
          type.shape.dims[i] = *size;
      }
  vn_infer_set_type (self, value, type);
}

static gboolean
infer_give_shapes (VnInfer     *self,
                   GHashTable  *input_shapes,
                   GError     **error)
{
  GPtrArray *inputs = self->model->graph->inputs;

  for (guint i = 0; i < inputs->len; i++)
    {
      VnValue *value = g_ptr_array_index (inputs, i);
      const VnShape *given = g_hash_table_lookup (input_shapes, value->name);

      if (given != NULL && !infer_give_shape (self, value, given, error))
        return FALSE;
    }
  for (guint i = 0; i < inputs->len; i++)
    infer_apply_symbols (self, g_ptr_array_index (inputs, i));
  return TRUE;
}

/* ---- names ---- */

typedef void (*ValueFunc) (VnInfer *self,
                           VnValue *value);

static void
infer_for_each_value (VnInfer   *self,
                      VnGraph   *graph,
                      ValueFunc  func)
{
  for (guint i = 0; i < graph->values->len; i++)
    func (self, g_ptr_array_index (graph->values, i));
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (graph->nodes, i);

      for (guint k = 0; k < node->attrs->len; k++)
        {
          const VnAttr *attr = g_ptr_array_index (node->attrs, k);

          if (attr->graph != NULL)
            infer_for_each_value (self, attr->graph, func);
          for (guint g = 0; attr->graphs != NULL && g < attr->graphs->len; g++)
            infer_for_each_value (self, g_ptr_array_index (attr->graphs, g), func);
        }
    }
}

static void
infer_take_names (VnInfer *self,
                  VnValue *value)
{
  for (int i = 0; i < value->type.shape.rank; i++)
    if (value->type.symbols[i] != NULL)
      vn_dims_take_name (self->dims, value->type.symbols[i]);
}

/* Names that converters make up say nothing to anybody. */
static gboolean
infer_is_made_up (const char *name)
{
  return name == NULL || name[0] == '\0' || g_str_has_prefix (name, "unk__");
}

/* A name that inference wrote when the network was opened, while no end of Slice but the farthest meant “to the end”. */
static gboolean
infer_is_outdated (VnInfer    *self,
                   const char *name)
{
  return self->dims->far < VN_DIMS_FAR && strstr (name, "min(") != NULL;
}

/* What only a run knows is called what the file calls it where it leaves the network. */
static void
infer_adopt_names (VnInfer *self,
                   VnValue *value)
{
  for (int i = 0; i < value->type.shape.rank; i++)
    if (!infer_is_made_up (value->type.symbols[i]) && !infer_is_outdated (self, value->type.symbols[i]))
      vn_dims_rename (self->dims, value->type.shape.dims[i], value->type.symbols[i]);
}

/* Writes expressions as names. The names of the network's inputs and outputs are part of its interface and stay. */
static void
infer_write_names (VnInfer *self,
                   VnValue *value)
{
  VnType *type = &value->type;
  gboolean input = value->is_input && value->graph == self->model->graph;
  gboolean output = value->is_output && value->graph == self->model->graph;

  for (int i = 0; i < type->shape.rank; i++)
    {
      if (!vn_dims_is_symbolic (type->shape.dims[i]))
        continue;
      if (type->symbols[i] == NULL || (!input && (!output || infer_is_made_up (type->symbols[i]) ||
                                                      infer_is_outdated (self, type->symbols[i]))))
        {
          g_free (type->symbols[i]);
          type->symbols[i] = vn_dims_to_string (self->dims, type->shape.dims[i]);
        }
      type->shape.dims[i] = VN_DIM_UNKNOWN;
    }
}

static gboolean
infer_all (VnInfer     *self,
           GHashTable  *input_shapes,
           GError     **error)
{
  GPtrArray *inputs = self->model->graph->inputs;

  if (input_shapes != NULL && !infer_give_shapes (self, input_shapes, error))
    return FALSE;
  for (guint i = 0; i < inputs->len; i++)
    vn_infer_name_dims (self, g_ptr_array_index (inputs, i));
  return infer_graph (self, self->model->graph, error);
}

/**
 * vn_model_infer_types:
 * @model: changed in place; must not be shared yet
 * @input_shapes: (nullable) (element-type utf8 VnShape): sizes by input name; dims may be %VN_DIM_UNKNOWN. Inputs
 *   whose dims have the same name take the same size.
 * @notes: (nullable): where contradictions between the file and what was found are listed
 *
 * Fills in element type and shape of every value as far as they follow from the inputs. Sizes that depend on open ones
 * are named by what they are: “batch”, “2*H + 1”; sizes that only a run knows, and open sizes of inputs without a name,
 * are “unk__0”, “unk__1” ... Operators without kernel leave their outputs as declared, or unknown.
 *
 * Returns: %FALSE with %VN_ERROR_SHAPE if an operator cannot take its inputs, or a given size does not fit
 */
gboolean
vn_model_infer_types (VnModel     *model,
                      GHashTable  *input_shapes,
                      VnNotes     *notes,
                      GError     **error)
{
  const VnInferOptions options = { .input_shapes = input_shapes };

  return vn_model_infer_types_with (model, &options, notes, error);
}

/**
 * vn_model_infer_types_with:
 *
 * As vn_model_infer_types(), with more settings.
 */
gboolean
vn_model_infer_types_with (VnModel               *model,
                           const VnInferOptions  *options,
                           VnNotes               *notes,
                           GError               **error)
{
  g_autoptr(GHashTable) known = g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) vn_tensor_unref);
  g_autoptr(GHashTable) numbers = g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) vn_tensor_unref);
  g_autoptr(GHashTable) symbols = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_autoptr(VnDims) dims = vn_dims_new ();
  VnInfer self = { model, notes, known, numbers, dims, symbols, options };
  gboolean ok;

  vn_model_settle (model);
  if (options->int_max > 0)
    dims->far = MIN (options->int_max, VN_DIMS_FAR);
  infer_for_each_value (&self, model->graph, infer_take_names);
  ok = infer_all (&self, options->input_shapes, error);
  for (guint i = 0; i < model->graph->outputs->len; i++)
    infer_adopt_names (&self, g_ptr_array_index (model->graph->outputs, i));
  infer_for_each_value (&self, model->graph, infer_write_names);
  return ok;
}

/* Their declared types, one for each input. */
static VnType *
infer_copy_input_types (const VnGraph *graph)
{
  VnType *types = g_new0 (VnType, graph->inputs->len + 1);

  for (guint i = 0; i < graph->inputs->len; i++)
    vn_type_copy (&types[i], &((const VnValue *) g_ptr_array_index (graph->inputs, i))->type);
  return types;
}

static void
infer_put_back_input_types (VnGraph *graph,
                            VnType  *types)
{
  for (guint i = 0; i < graph->inputs->len; i++)
    {
      VnValue *value = g_ptr_array_index (graph->inputs, i);

      vn_type_clear (&value->type);
      value->type = types[i];
    }
  g_free (types);
}

/**
 * vn_model_infer_for_samples:
 * @model: changed in place; must not be shared yet
 * @first: (nullable) (element-type utf8 VnShape): sizes of the inputs in the first sample
 *
 * As vn_model_infer_types(), for a network that is run on many samples: values have the sizes that the first one gives them, by
 * which memory and time are told, but inputs stay as open as they are, so that plans can be made for samples of other sizes.
 */
gboolean
vn_model_infer_for_samples (VnModel     *model,
                            GHashTable  *first,
                            GError     **error)
{
  VnType *types;
  gboolean good;

  g_return_val_if_fail (model != NULL, FALSE);

  types = infer_copy_input_types (model->graph);
  good = vn_model_infer_types (model, first, NULL, error);
  infer_put_back_input_types (model->graph, types);
  return good;
}
