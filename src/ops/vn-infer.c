/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Types and shapes of all values of a model, found by asking every operator in order. Small values that are known
 * (sizes, axes, what Shape yields) are computed on the way, because shapes depend on them. Sizes that are open get
 * names, and what depends on them becomes an expression (vn-dims.h); while this runs, dims of values are such numbers. */
#include "vn-infer-private.h"

typedef struct
{
  VnModel    *model;
  VnNotes    *notes;     /* nullable */
  GHashTable *known;     /* VnValue -> VnTensor: computed here; constants of the model are not in it */
  GHashTable *numbers;   /* VnValue -> VnTensor: of what is known in part, see VnOpNumbers */
  VnDims     *dims;
  GHashTable *symbols;   /* name of a dim -> gint64, where the caller gave its size */
} Infer;

static gboolean infer_graph (Infer     *self,
                             VnGraph   *graph,
                             GError   **error);

static VnTensor *
known_value (Infer   *self,
             VnValue *value)
{
  VnTensor *tensor = g_hash_table_lookup (self->known, value);

  return tensor != NULL ? tensor : vn_value_get_constant (value);
}

/* Gives open sizes a name: the one in the file, or a new one. Sizes of inputs are taken to be above 0, so that
 * “all but the first” of something open is one less. */
static void
name_dims (Infer   *self,
           VnValue *value)
{
  VnType *type = &value->type;
  gint64 lower = value->is_input && value->graph == self->model->graph ? 1 : 0;

  for (int i = 0; type->kind == VN_TYPE_TENSOR && i < type->shape.rank; i++)
    if (type->shape.dims[i] == VN_DIM_UNKNOWN)
      type->shape.dims[i] = type->symbols[i] != NULL && type->symbols[i][0] != '\0'
                            ? vn_dims_symbol (self->dims, type->symbols[i], lower) : vn_dims_fresh (self->dims, lower);
}

static VnTensorType
type_of (Infer   *self,
         VnValue *value)
{
  VnTensor *tensor;

  name_dims (self, value);
  if (value->type.kind != VN_TYPE_UNKNOWN)
    return vn_type_get_declared (&value->type);
  tensor = known_value (self, value);
  if (tensor != NULL)
    return (VnTensorType) { tensor->dtype, tensor->shape };
  return vn_type_get_declared (&value->type);
}

/* What operators with graphs see of these: they were inferred before. */
static VnTensorType
body_type (gpointer        data,
           const VnGraph  *graph,
           guint           i)
{
  return type_of (data, g_ptr_array_index (graph->outputs, i));
}

/* A container has no shape to be inferred, only elements. */
static void
set_container_type (VnValue            *value,
                    const VnTensorType *found)
{
  if (value->type.kind != VN_TYPE_UNKNOWN)
    return;
  value->type.kind = found->kind == VN_KIND_SEQUENCE ? VN_TYPE_SEQUENCE : VN_TYPE_OPTIONAL;
  value->type.dtype = found->dtype;
  value->type.shape = VN_SHAPE_UNKNOWN;
}

static void
note_disagreement (Infer              *self,
                   const VnValue      *value,
                   const VnTensorType *found)
{
  g_autofree char *declared = vn_type_to_string (&value->type);
  g_autofree char *shape = vn_shape_to_string (&found->shape, "×");

  if (self->notes != NULL)
    vn_notes_add (self->notes, VN_NOTE_WARNING, "declared-type", value->name,
                  _("the file declares %s, but it is %s of %s"), declared, vn_dtype_get_name (found->dtype), shape);
}

/* Takes for each dim the file's declaration where inference knows less. Returns whether the two contradict. */
static gboolean
merge_declared (const VnType *declared,
                VnTensorType *found)
{
  gboolean differ;

  if (declared->kind != VN_TYPE_TENSOR)
    return FALSE;

  if (found->dtype == VN_DTYPE_UNDEFINED)
    found->dtype = declared->dtype;
  differ = declared->dtype != VN_DTYPE_UNDEFINED && declared->dtype != found->dtype;

  if (declared->shape.rank < 0)
    return differ;
  if (found->shape.rank < 0)
    found->shape = declared->shape;
  if (found->shape.rank != declared->shape.rank)
    return TRUE;

  for (int i = 0; i < found->shape.rank; i++)
    if (found->shape.dims[i] == VN_DIM_UNKNOWN || (found->shape.dims[i] < 0 && declared->shape.dims[i] >= 0))
      found->shape.dims[i] = declared->shape.dims[i];
    else if (declared->shape.dims[i] >= 0 && declared->shape.dims[i] != found->shape.dims[i])
      differ = TRUE;
  return differ;
}

static void
set_value_type (Infer        *self,
                VnValue      *value,
                VnTensorType  found)
{
  VnType type;

  if (found.kind == VN_KIND_SEQUENCE || found.kind == VN_KIND_OPTIONAL)
    {
      set_container_type (value, &found);
      return;
    }
  if (found.kind == VN_KIND_UNKNOWN || (found.dtype == VN_DTYPE_UNDEFINED && found.shape.rank < 0))
    return;
  if (value->type.kind != VN_TYPE_UNKNOWN && value->type.kind != VN_TYPE_TENSOR)
    return;
  for (int i = 0; i < found.shape.rank; i++)
    found.shape.dims[i] = vn_dims_check (self->dims, found.shape.dims[i]);
  if (merge_declared (&value->type, &found))
    note_disagreement (self, value, &found);

  vn_type_init_tensor (&type, found.dtype, &found.shape);
  if (value->type.kind == VN_TYPE_TENSOR && value->type.shape.rank == found.shape.rank)
    for (int i = 0; i < found.shape.rank; i++)
      if (found.shape.dims[i] < 0)
        type.symbols[i] = g_steal_pointer (&value->type.symbols[i]);
  vn_type_clear (&value->type);
  value->type = type;
  name_dims (self, value);
}

static void
set_known (Infer    *self,
           VnValue  *value,
           VnTensor *tensor)
{
  g_hash_table_insert (self->known, value, vn_tensor_ref (tensor));
  set_value_type (self, value, (VnTensorType) { tensor->dtype, tensor->shape });
}

/* Takes numbers, which may turn out to be plain ones. */
static void
set_numbers (Infer              *self,
             VnValue            *value,
             const VnTensorType *type,
             VnTensor           *numbers)
{
  g_autoptr(VnTensor) tensor = vn_infer_from_numbers (self->dims, numbers, type->dtype);

  if (tensor != NULL)
    {
      set_known (self, value, tensor);
      return;
    }
  g_hash_table_insert (self->numbers, value, vn_tensor_ref (numbers));
  set_value_type (self, value, *type);
}

/* ---- one node ---- */

/* What an operator sees while shapes are inferred. */
typedef struct
{
  VnOpContext   ctx;
  VnTensorType *in_types, *out_types;
  VnTensor    **in;    /* owned references, aligned if small */
  VnTensor    **out;
  VnOpNumbers   numbers;   /* owned references */
  gboolean      in_part;   /* an input has numbers */
} Call;

static void
call_clear (Call *self)
{
  for (guint i = 0; i < self->ctx.n_inputs; i++)
    {
      g_clear_pointer (&self->in[i], vn_tensor_unref);
      g_clear_pointer (&self->numbers.in[i], vn_tensor_unref);
    }
  for (guint i = 0; i < self->ctx.n_outputs; i++)
    {
      g_clear_pointer (&self->out[i], vn_tensor_unref);
      g_clear_pointer (&self->numbers.out[i], vn_tensor_unref);
    }
  g_free (self->numbers.in);
  g_free (self->numbers.out);
  g_free (self->in_types);
  g_free (self->out_types);
  g_free (self->in);
  g_free (self->out);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Call, call_clear)

static void
call_init (Call       *self,
           Infer      *infer,
           const VnOp *op,
           VnNode     *node,
           gint64      opset)
{
  VnOpContext *ctx = &self->ctx;

  memset (self, 0, sizeof *self);
  ctx->op = op;
  ctx->node = node;
  ctx->opset = opset;
  ctx->n_threads = 1;
  ctx->n_inputs = node->inputs->len;
  ctx->n_outputs = node->outputs->len;
  self->in_types = g_new0 (VnTensorType, ctx->n_inputs + 1);
  self->out_types = g_new0 (VnTensorType, ctx->n_outputs + 1);
  self->in = g_new0 (VnTensor *, ctx->n_inputs + 1);
  self->out = g_new0 (VnTensor *, ctx->n_outputs + 1);
  ctx->in_types = self->in_types;
  ctx->out_types = self->out_types;
  self->numbers.dims = infer->dims;
  self->numbers.in = g_new0 (VnTensor *, ctx->n_inputs + 1);
  self->numbers.out = g_new0 (VnTensor *, ctx->n_outputs + 1);
  ctx->in = self->in;
  ctx->out = self->out;
  ctx->numbers = &self->numbers;

  for (guint i = 0; i < ctx->n_inputs; i++)
    {
      VnValue *value = g_ptr_array_index (node->inputs, i);
      VnTensor *tensor = value != NULL ? known_value (infer, value) : NULL;

      self->in_types[i] = value != NULL ? type_of (infer, value)
                                        : (VnTensorType) { VN_DTYPE_UNDEFINED, VN_SHAPE_UNKNOWN };
      if (tensor != NULL)
        self->in[i] = tensor->n_elements <= VN_INFER_MAX_ELEMENTS ? vn_tensor_get_aligned (tensor, NULL)
                                                                  : vn_tensor_ref (tensor);
      tensor = tensor == NULL && value != NULL ? g_hash_table_lookup (infer->numbers, value) : NULL;
      self->in_part = self->in_part || tensor != NULL;
      self->numbers.in[i] = tensor != NULL ? vn_tensor_ref (tensor) : NULL;
    }
  for (guint i = 0; i < ctx->n_outputs; i++)
    self->out_types[i] = (VnTensorType) { VN_DTYPE_UNDEFINED, VN_SHAPE_UNKNOWN };
}

static gboolean
is_random (const VnOp *op)
{
  return g_str_has_prefix (op->type, "Random") || g_str_equal (op->type, "Multinomial") ||
         g_str_equal (op->type, "Bernoulli") || g_str_equal (op->type, "Dropout");
}

static gboolean
is_small (const VnTensorType *type)
{
  gsize n;

  return type->dtype != VN_DTYPE_UNDEFINED && type->dtype != VN_DTYPE_STRING &&
         vn_shape_is_static (&type->shape) && vn_shape_n_elements (&type->shape, &n) && n <= VN_INFER_MAX_ELEMENTS;
}

/* Whether every input is known and small, so that the outputs can be computed now. */
static gboolean
can_compute (const Call *call)
{
  const VnOpContext *ctx = &call->ctx;

  if (ctx->op->run == NULL || ctx->op->makes_outputs || is_random (ctx->op))
    return FALSE;
  if (ctx->n_inputs > 0 && !vn_op_takes (ctx->op, call->in_types[0].dtype))
    return FALSE;
  for (guint i = 0; i < ctx->n_inputs; i++)
    if (g_ptr_array_index (ctx->node->inputs, i) != NULL &&
        (call->in[i] == NULL || call->in[i]->n_elements > VN_INFER_MAX_ELEMENTS))
      return FALSE;
  for (guint i = 0; i < ctx->n_outputs; i++)
    if (!is_small (&call->out_types[i]))
      return FALSE;
  return TRUE;
}

/* Computes small outputs. A failure here is no failure of inference: the value stays unknown. */
static void
compute (Call *call)
{
  VnOpContext *ctx = &call->ctx;
  g_autofree guint8 *memory = g_try_malloc0 (ctx->scratch_bytes + 64);
  g_autoptr(GError) error = NULL;
  gboolean ok = memory != NULL;

  for (guint i = 0; ok && i < ctx->n_outputs; i++)
    if (call->out[i] == NULL)
      {
        call->out[i] = vn_tensor_new (call->out_types[i].dtype, &call->out_types[i].shape, NULL);
        ok = call->out[i] != NULL;
      }
  if (ok)
    {
      ctx->scratch = (gpointer) (((guintptr) memory + 63) & ~(guintptr) 63);
      ok = vn_op_run (ctx, &error);
    }
  if (!ok)
    for (guint i = 0; i < ctx->n_outputs; i++)
      g_clear_pointer (&call->out[i], vn_tensor_unref);
}

static gboolean
has_all_outputs (const Call *call)
{
  for (guint i = 0; i < call->ctx.n_outputs; i++)
    if (call->out[i] == NULL)
      return FALSE;
  return call->ctx.n_outputs > 0;
}

/* What is known of the elements of outputs although it depends on open sizes. */
static void
compute_in_part (Call *call)
{
  VnOpContext *ctx = &call->ctx;

  if (!call->in_part)
    return;
  for (guint i = 0; i < ctx->n_inputs; i++)
    if (call->numbers.in[i] == NULL && call->in[i] != NULL)
      call->numbers.in[i] = vn_infer_to_numbers (call->numbers.dims, call->in[i]);
  vn_infer_numbers (ctx, call->numbers.out);
}

static gboolean
infer_with_op (Infer       *self,
               const VnOp  *op,
               VnNode      *node,
               GError     **error)
{
  const VnOpBodies bodies = { .get_type = body_type, .data = self };
  g_auto(Call) call;
  gint64 opset = vn_model_get_opset (self->model, node->domain);

  call_init (&call, self, op, node, opset);
  call.ctx.bodies = &bodies;
  if (!vn_op_check_call (&call.ctx, error) || !vn_op_infer (&call.ctx, error))
    return FALSE;
  if (!has_all_outputs (&call) && can_compute (&call))
    compute (&call);
  if (!has_all_outputs (&call))
    compute_in_part (&call);

  for (guint i = 0; i < node->outputs->len; i++)
    {
      VnValue *value = g_ptr_array_index (node->outputs, i);

      if (value == NULL)
        continue;
      if (call.out[i] != NULL && call.out[i]->n_elements <= VN_INFER_MAX_ELEMENTS)
        set_known (self, value, call.out[i]);
      else if (call.numbers.out[i] != NULL)
        set_numbers (self, value, &call.out_types[i], call.numbers.out[i]);
      else
        set_value_type (self, value, call.out_types[i]);
    }
  return TRUE;
}

/* ---- subgraphs ---- */

/* A branch that is never taken may hold shapes that cannot work, so its errors are only noted. */
static void
infer_subgraph (Infer   *self,
                VnNode  *node,
                VnGraph *graph)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *label = NULL;

  if (infer_graph (self, graph, &error) || self->notes == NULL)
    return;
  label = vn_node_dup_label (node);
  vn_notes_add (self->notes, VN_NOTE_WARNING, "subgraph-shapes", label,
                _("shapes inside it stay unknown: %s"), error->message);
}

static void
infer_subgraphs (Infer  *self,
                 VnNode *node)
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
infer_node (Infer   *self,
            VnNode  *node,
            GError **error)
{
  const VnOp *op = vn_op_lookup_node (node, NULL);
  g_autofree char *label = NULL;

  infer_subgraphs (self, node);
  if (op == NULL || op->infer == NULL || infer_with_op (self, op, node, error))
    return TRUE;

  label = vn_node_dup_label (node);
  g_prefix_error (error, _("node “%s” (%s): "), label, node->op_type);
  return FALSE;
}

/* A tensor says more about its type than a declaration can. */
static void
type_initializers (Infer   *self,
                   VnGraph *graph)
{
  for (guint i = 0; i < graph->initializers->len; i++)
    {
      VnValue *value = g_ptr_array_index (graph->initializers, i);

      if (value->initializer != NULL)
        set_value_type (self, value, (VnTensorType) { value->initializer->dtype, value->initializer->shape });
    }
}

static gboolean
infer_graph (Infer     *self,
             VnGraph   *graph,
             GError   **error)
{
  g_autoptr(GPtrArray) order = vn_graph_sort (graph, error);

  if (order == NULL)
    return FALSE;
  type_initializers (self, graph);
  for (guint i = 0; i < order->len; i++)
    if (!infer_node (self, g_ptr_array_index (order, i), error))
      return FALSE;
  return TRUE;
}

/* ---- sizes given by the caller ---- */

static gboolean
give_shape (Infer          *self,
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
                   _("input “%s” is %s, the size given for it is %s: give one that fits"), value->name, type, text);
      return FALSE;
    }

  for (int i = 0; value->type.kind == VN_TYPE_TENSOR && i < declared->rank; i++)
    if (value->type.symbols[i] != NULL && given->dims[i] >= 0)
      g_hash_table_insert (self->symbols, g_strdup (value->type.symbols[i]),
                           g_memdup2 (&given->dims[i], sizeof (gint64)));
  set_value_type (self, value, (VnTensorType) { VN_DTYPE_UNDEFINED, *given });
  return TRUE;
}

/* Dims of one name have one size, at every input. */
static void
apply_symbols (Infer   *self,
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
  set_value_type (self, value, type);
}

static gboolean
give_shapes (Infer       *self,
             GHashTable  *input_shapes,
             GError     **error)
{
  GPtrArray *inputs = self->model->graph->inputs;

  for (guint i = 0; i < inputs->len; i++)
    {
      VnValue *value = g_ptr_array_index (inputs, i);
      const VnShape *given = g_hash_table_lookup (input_shapes, value->name);

      if (given != NULL && !give_shape (self, value, given, error))
        return FALSE;
    }
  for (guint i = 0; i < inputs->len; i++)
    apply_symbols (self, g_ptr_array_index (inputs, i));
  return TRUE;
}

/* ---- names ---- */

typedef void (*ValueFunc) (Infer   *self,
                           VnValue *value);

static void
for_each_value (Infer     *self,
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
            for_each_value (self, attr->graph, func);
          for (guint g = 0; attr->graphs != NULL && g < attr->graphs->len; g++)
            for_each_value (self, g_ptr_array_index (attr->graphs, g), func);
        }
    }
}

static void
take_names (Infer   *self,
            VnValue *value)
{
  for (int i = 0; i < value->type.shape.rank; i++)
    if (value->type.symbols[i] != NULL)
      vn_dims_take_name (self->dims, value->type.symbols[i]);
}

/* Names that converters make up say nothing to anybody. */
static gboolean
is_made_up (const char *name)
{
  return name == NULL || name[0] == '\0' || g_str_has_prefix (name, "unk__");
}

/* What only a run knows is called what the file calls it where it leaves the network. */
static void
adopt_names (Infer   *self,
             VnValue *value)
{
  for (int i = 0; i < value->type.shape.rank; i++)
    if (!is_made_up (value->type.symbols[i]))
      vn_dims_rename (self->dims, value->type.shape.dims[i], value->type.symbols[i]);
}

/* Writes expressions as names. The names of the network's inputs and outputs are part of its interface and stay. */
static void
write_names (Infer   *self,
             VnValue *value)
{
  VnType *type = &value->type;
  gboolean input = value->is_input && value->graph == self->model->graph;
  gboolean output = value->is_output && value->graph == self->model->graph;

  for (int i = 0; i < type->shape.rank; i++)
    {
      if (!vn_dims_is_symbolic (type->shape.dims[i]))
        continue;
      if (type->symbols[i] == NULL || (!input && (!output || is_made_up (type->symbols[i]))))
        {
          g_free (type->symbols[i]);
          type->symbols[i] = vn_dims_to_string (self->dims, type->shape.dims[i]);
        }
      type->shape.dims[i] = VN_DIM_UNKNOWN;
    }
}

static gboolean
infer_all (Infer       *self,
           GHashTable  *input_shapes,
           GError     **error)
{
  GPtrArray *inputs = self->model->graph->inputs;

  if (input_shapes != NULL && !give_shapes (self, input_shapes, error))
    return FALSE;
  for (guint i = 0; i < inputs->len; i++)
    name_dims (self, g_ptr_array_index (inputs, i));
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
  g_autoptr(GHashTable) known = g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) vn_tensor_unref);
  g_autoptr(GHashTable) numbers = g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) vn_tensor_unref);
  g_autoptr(GHashTable) symbols = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_autoptr(VnDims) dims = vn_dims_new ();
  Infer self = { model, notes, known, numbers, dims, symbols };
  gboolean ok;

  for_each_value (&self, model->graph, take_names);
  ok = infer_all (&self, input_shapes, error);
  for (guint i = 0; i < model->graph->outputs->len; i++)
    adopt_names (&self, g_ptr_array_index (model->graph->outputs, i));
  for_each_value (&self, model->graph, write_names);
  return ok;
}
