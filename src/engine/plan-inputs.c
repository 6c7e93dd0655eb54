/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The static shapes of the network's inputs. */
#include "vn-plan-passes.h"

#include "vn-error.h"
#include "vn-i18n.h"

static const VnShape *
plan_inputs_get_given (const VnPlanOptions *options,
                       const VnValue       *value)
{
  return options->input_shapes != NULL ? g_hash_table_lookup (options->input_shapes, value->name) : NULL;
}

static void
plan_inputs_set_rank_error (const VnValue  *value,
                            const VnShape  *given,
                            GError        **error)
{
  g_autofree char *declared = vn_type_to_string (&value->type);
  g_autofree char *wanted = vn_shape_to_string (given, ",");

  g_set_error (error, VN_ERROR, VN_ERROR_SHAPE,
               _("Input “%s” is declared as %s; it cannot be run with %s"), value->name, declared, wanted);
}

/* Sizes the caller gives must agree with what the file fixes. */
static gboolean
plan_inputs_merge_given (const VnValue  *value,
                         const VnShape  *given,
                         VnShape        *shape,
                         GError        **error)
{
  if (given == NULL || given->rank == VN_RANK_UNKNOWN)
    return TRUE;
  if (shape->rank == VN_RANK_UNKNOWN)
    {
      *shape = *given;
      return TRUE;
    }
  if (given->rank != shape->rank)
    {
      plan_inputs_set_rank_error (value, given, error);
      return FALSE;
    }
  for (int i = 0; i < shape->rank; i++)
    {
      if (given->dims[i] < 0)
        continue;
      if (shape->dims[i] >= 0 && shape->dims[i] != given->dims[i])
        {
          plan_inputs_set_rank_error (value, given, error);
          return FALSE;
        }
      shape->dims[i] = given->dims[i];
    }
  return TRUE;
}

static void
plan_inputs_learn_symbols (GHashTable    *symbols,
                           const VnValue *value,
                           const VnShape *shape)
{
  for (int i = 0; i < shape->rank; i++)
    if (value->type.shape.rank == shape->rank && value->type.symbols[i] != NULL && shape->dims[i] >= 0)
      g_hash_table_insert (symbols, value->type.symbols[i], g_memdup2 (&shape->dims[i], sizeof (gint64)));
}

/* A symbol that another input fixes has its size here too; what is still open becomes 1. */
static void
plan_inputs_close_shape (VnPlan        *self,
                         GHashTable    *symbols,
                         const VnValue *value,
                         VnShape       *shape,
                         VnNotes       *notes)
{
  for (int i = 0; i < shape->rank; i++)
    {
      const char *symbol = value->type.shape.rank == shape->rank ? value->type.symbols[i] : NULL;
      const gint64 *known = symbol != NULL ? g_hash_table_lookup (symbols, symbol) : NULL;

      if (shape->dims[i] >= 0)
        continue;
      shape->dims[i] = known != NULL ? *known : 1;
      if (known != NULL)
        continue;
      self->open_input = value;
      vn_notes_add (notes, VN_NOTE_INFO, "open-size", value->name,
                    _("Size %d (%s) of input “%s” is dynamic: 1 is used"), i,
                    symbol != NULL ? symbol : "?", value->name);
    }
}

static gboolean
plan_inputs_check_input (VnPlan         *self,
                         const VnValue  *value,
                         const VnShape  *shape,
                         GError        **error)
{
  gsize n_elements, n_bytes;

  if (!self->values[value->id].needed)
    return TRUE;
  if (value->type.kind == VN_TYPE_SEQUENCE || value->type.kind == VN_TYPE_OPTIONAL)
    return TRUE;
  if (value->type.kind != VN_TYPE_TENSOR || value->type.dtype == VN_DTYPE_UNDEFINED)
    {
      g_autofree char *type = vn_type_to_string (&value->type);

      g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED,
                   _("Input “%s” is of type %s; only tensors, sequences and optionals can be fed"), value->name, type);
      return FALSE;
    }
  if (shape->rank == VN_RANK_UNKNOWN)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_SHAPE,
                   _("Input “%s” has no declared shape: specify one"), value->name);
      return FALSE;
    }
  if (!vn_tensor_size_in_bytes (value->type.dtype, shape, &n_elements, &n_bytes))
    {
      g_set_error (error, VN_ERROR, VN_ERROR_LIMIT, _("Input “%s” is too large"), value->name);
      return FALSE;
    }
  return TRUE;
}

static void
plan_inputs_note_unknown_names (VnPlan              *self,
                                const VnPlanOptions *options,
                                VnNotes             *notes)
{
  GHashTableIter iter;
  gpointer name;

  if (options->input_shapes == NULL)
    return;
  g_hash_table_iter_init (&iter, options->input_shapes);
  while (g_hash_table_iter_next (&iter, &name, NULL))
    {
      const VnValue *value = vn_graph_find_value (self->graph, name);

      if (value == NULL || !value->is_input)
        vn_notes_add (notes, VN_NOTE_WARNING, "no-such-input", name,
                      _("A shape was specified for “%s”, which is not an input of the model"), (char *) name);
    }
}

/**
 * vn_plan_set_inputs:
 *
 * Lists the graph inputs that are not initializers and decides their shapes: declared, or given by the options, or
 * known from another input with the same symbol; 1 where all of that is silent (reported in @notes).
 */
gboolean
vn_plan_set_inputs (VnPlan               *self,
                    const VnPlanOptions  *options,
                    VnNotes              *notes,
                    GError              **error)
{
  g_autoptr(GHashTable) symbols = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, g_free);

  g_return_val_if_fail (self != NULL, FALSE);

  plan_inputs_note_unknown_names (self, options, notes);
  self->inputs = g_ptr_array_new ();
  for (guint i = 0; i < self->graph->inputs->len; i++)
    {
      VnValue *value = g_ptr_array_index (self->graph->inputs, i);
      VnTensorType *type = &self->values[value->id].type;

      if (value->initializer != NULL)
        continue;
      g_ptr_array_add (self->inputs, value);
      self->values[value->id].store = VN_STORE_INPUT;
      *type = vn_type_get_declared (&value->type);
      if (type->kind != VN_KIND_TENSOR)
        continue;
      if (!plan_inputs_merge_given (value, plan_inputs_get_given (options, value), &type->shape, error))
        return FALSE;
      plan_inputs_learn_symbols (symbols, value, &type->shape);
    }
  for (guint i = 0; i < self->inputs->len; i++)
    {
      const VnValue *value = g_ptr_array_index (self->inputs, i);
      VnTensorType *type = &self->values[value->id].type;

      plan_inputs_close_shape (self, symbols, value, &type->shape, notes);
      if (!plan_inputs_check_input (self, value, &type->shape, error))
        return FALSE;
    }
  return TRUE;
}

/**
 * vn_plan_set_formals:
 *
 * Lists the inputs of a graph inside a node: its own, whose shapes may be others in each run, then the values of outer
 * graphs that are not constant.
 */
gboolean
vn_plan_set_formals (VnPlan   *self,
                     GError  **error)
{
  g_return_val_if_fail (self != NULL, FALSE);

  self->inputs = g_ptr_array_new ();
  for (guint i = 0; i < self->graph->inputs->len; i++)
    {
      VnValue *value = g_ptr_array_index (self->graph->inputs, i);
      VnPlanValue *planned = &self->values[value->id];

      if (value->graph != self->graph)
        {
          g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("Input “%s” belongs to another graph"), value->name);
          return FALSE;
        }
      g_ptr_array_add (self->inputs, value);
      planned->store = VN_STORE_INPUT;
      planned->type = vn_type_get_declared (&value->type);
      planned->type.shape = VN_SHAPE_UNKNOWN;
    }
  for (guint id = self->graph->values->len; id < self->n_values; id++)
    if (self->values[id].constant == NULL)
      g_ptr_array_add (self->inputs, self->values[id].value);
  return TRUE;
}
