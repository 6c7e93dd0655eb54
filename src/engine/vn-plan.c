/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a plan is: its values, its steps, what may be asked of it. Knows nothing of how plans are made (plan-build.c). */
#include "vn-plan-private.h"

#include "vn-memory.h"

static void
plan_number_captured (VnPlan    *self,
                      GPtrArray *captured)
{
  self->captured = g_ptr_array_new ();
  self->captured_ids = g_hash_table_new (NULL, NULL);
  for (guint i = 0; captured != NULL && i < captured->len; i++)
    {
      VnValue *value = g_ptr_array_index (captured, i);

      g_ptr_array_add (self->captured, value);
      g_hash_table_insert (self->captured_ids, value, GUINT_TO_POINTER (self->graph->values->len + i));
    }
}

/**
 * vn_plan_alloc:
 * @graph: of @model, or in an attribute of a node
 * @captured: (nullable) (element-type VnValue): values of outer graphs that @graph uses
 *
 * Returns: (transfer full): a plan of which nothing but its values is known
 */
VnPlan *
vn_plan_alloc (VnModel       *model,
               const VnGraph *graph,
               GPtrArray     *captured)
{
  VnPlan *self = g_new0 (VnPlan, 1);

  g_atomic_ref_count_init (&self->ref);
  self->model = vn_model_ref (model);
  self->graph = graph;
  plan_number_captured (self, captured);
  self->n_values = graph->values->len + self->captured->len;
  self->values = g_new0 (VnPlanValue, MAX (self->n_values, 1));
  self->steps = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_step_free);
  self->makers = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_step_free);
  self->variants = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_plan_unref);
  g_mutex_init (&self->lock);
  for (guint i = 0; i < self->n_values; i++)
    {
      VnPlanValue *value = &self->values[i];

      value->value = i < graph->values->len ? g_ptr_array_index (graph->values, i)
                                            : g_ptr_array_index (self->captured, i - graph->values->len);
      value->type.shape = VN_SHAPE_UNKNOWN;
      value->root = i;
      value->tap = value->output = -1;
    }
  return self;
}

/**
 * vn_plan_find:
 *
 * Returns: the id of a value of the plan's graph, or one that it takes from an outer graph; -1 for others
 */
int
vn_plan_find (const VnPlan  *self,
              const VnValue *value)
{
  gpointer id;

  if (value->graph == self->graph)
    return (int) value->id;
  return g_hash_table_lookup_extended (self->captured_ids, value, NULL, &id) ? (int) GPOINTER_TO_UINT (id) : -1;
}

VnPlan *
vn_plan_ref (VnPlan *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref);
  return self;
}

/* What a plan has kept, in bytes, from which on it is given back to the system. */
#define GIVE_BACK ((gsize) 64 << 20)

void
vn_plan_unref (VnPlan *self)
{
  gboolean was_large;

  if (!g_atomic_ref_count_dec (&self->ref))
    return;
  was_large = self->kept_weights >= GIVE_BACK;
  for (guint i = 0; i < self->n_values; i++)
    g_clear_pointer (&self->values[i].constant, vn_tensor_unref);
  g_ptr_array_unref (self->steps);
  g_ptr_array_unref (self->makers);
  g_ptr_array_unref (self->variants);
  g_mutex_clear (&self->lock);
  g_ptr_array_unref (self->captured);
  g_hash_table_unref (self->captured_ids);
  g_clear_pointer (&self->inputs, g_ptr_array_unref);
  g_clear_pointer (&self->outputs, g_ptr_array_unref);
  g_clear_pointer (&self->taps, g_ptr_array_unref);
  g_free (self->next_tap);
  g_free (self->next_output);
  g_free (self->lost);
  g_free (self->values);
  vn_model_unref (self->model);
  g_free (self);
  if (was_large)
    vn_memory_give_back ();
}

VnModel *
vn_plan_get_model (VnPlan *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->model;
}

/**
 * vn_plan_get_n_inputs:
 *
 * Returns: how many tensors a run takes: the graph inputs that are not initializers, in their order
 */
guint
vn_plan_get_n_inputs (VnPlan *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->inputs->len;
}

VnValue *
vn_plan_get_input (VnPlan *self,
                   guint   i)
{
  g_return_val_if_fail (self != NULL && i < self->inputs->len, NULL);

  return g_ptr_array_index (self->inputs, i);
}

/**
 * vn_plan_get_input_type:
 *
 * Returns: (transfer none): element type and static shape that input @i must have
 */
const VnTensorType *
vn_plan_get_input_type (VnPlan *self,
                        guint   i)
{
  const VnValue *value;

  g_return_val_if_fail (self != NULL, NULL);

  value = vn_plan_get_input (self, i);
  return value != NULL ? &self->values[vn_plan_find (self, value)].type : NULL;
}

guint
vn_plan_get_n_outputs (VnPlan *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->outputs->len;
}

VnValue *
vn_plan_get_output (VnPlan *self,
                    guint   i)
{
  g_return_val_if_fail (self != NULL && i < self->outputs->len, NULL);

  return g_ptr_array_index (self->outputs, i);
}

/**
 * vn_plan_is_computed:
 * @value: an output or tap that the plan was asked for
 *
 * Returns: %FALSE if it was left out because it depends on a node without kernel
 */
gboolean
vn_plan_is_computed (VnPlan        *self,
                     const VnValue *value)
{
  g_return_val_if_fail (self != NULL && value != NULL && vn_plan_find (self, value) >= 0, FALSE);

  return self->lost == NULL || value->graph != self->graph || !self->lost[value->id];
}

/* Of the memory that a backend shares with us: what the largest of its steps reads and writes. */
static gsize
plan_get_shared_size (VnPlan *self)
{
  gsize most = 0;

  for (guint i = 0; i < self->steps->len; i++)
    {
      const VnStep *step = g_ptr_array_index (self->steps, i);
      gsize size = 0;

      for (guint k = 0; step->n_nodes > 0 && k < step->n_inputs + step->n_outputs; k++)
        {
          const VnTensorType *type = k < step->n_inputs ? &step->in_types[k] : &step->out_types[k - step->n_inputs];
          gsize n_elements, n_bytes;

          if (vn_shape_is_static (&type->shape) && vn_tensor_size_in_bytes (type->dtype, &type->shape, &n_elements, &n_bytes))
            size += MIN (n_bytes, G_MAXSIZE - size);
        }
      most = MAX (most, size);
    }
  return most;
}

/**
 * vn_plan_get_arena_size:
 *
 * Returns: bytes each runner keeps for the values between the steps, and shares with a backend; what is made in a run because
 *   its size depends on data comes on top
 */
gsize
vn_plan_get_arena_size (VnPlan *self)
{
  gsize size;

  g_return_val_if_fail (self != NULL, 0);

  size = self->arena_size + plan_get_shared_size (self);
  for (guint i = 0; i < self->steps->len; i++)
    {
      const VnStep *step = g_ptr_array_index (self->steps, i);

      for (guint b = 0; step->bodies != NULL && b < step->bodies->len; b++)
        {
          const VnBody *body = g_ptr_array_index (step->bodies, b);

          size += body->plan != NULL ? vn_plan_get_arena_size (body->plan) : 0;
        }
    }
  return size;
}

/**
 * vn_plan_get_n_steps:
 *
 * Returns: how many nodes are really run: neither folded nor fused into another
 */
guint
vn_plan_get_n_steps (VnPlan *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->steps->len;
}

const VnNode *
vn_plan_get_step_node (VnPlan *self,
                       guint   i)
{
  g_return_val_if_fail (self != NULL && i < self->steps->len, NULL);

  return ((const VnStep *) g_ptr_array_index (self->steps, i))->node;
}
