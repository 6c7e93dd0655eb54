/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The same network for other sizes of its inputs. A plan is made for certain sizes; where the model leaves them open
 * and a sample has others, a plan for those is made, and kept for the next sample like it. */
#include "vn-plan-private.h"

#include "vn-error.h"
#include "vn-i18n.h"

/* Each holds packed weights of its own. */
#define MAX_VARIANTS 8

/**
 * vn_plan_options_for_samples:
 * @first: (nullable) (element-type utf8 VnShape): sizes of the first sample, kept by the caller
 *
 * What everything plans with that runs a network on samples: for the sizes of the first one; samples of other sizes get plans of
 * their own, as far as the network leaves sizes open. What depends on a node without kernel is left out, if anything is left
 * then.
 *
 * Returns: options to add taps and outputs to
 */
VnPlanOptions
vn_plan_options_for_samples (GHashTable *first)
{
  return (VnPlanOptions) { .input_shapes = first, .skip_unsupported = TRUE };
}

static gboolean
plan_variants_takes (VnPlan             *self,
                     VnTensor * const   *inputs)
{
  for (guint i = 0; i < self->inputs->len; i++)
    {
      const VnValue *value = g_ptr_array_index (self->inputs, i);
      const VnPlanValue *planned = &self->values[value->id];

      if (planned->needed && inputs[i] != NULL && value->type.kind == VN_TYPE_TENSOR &&
          !vn_shape_equal (&inputs[i]->shape, &planned->type.shape))
        return FALSE;
    }
  return TRUE;
}

/* Whether the model itself would take @shape: the rest is a mistake of who made the sample. */
static gboolean
plan_variants_is_open_for (const VnValue *value,
                           const VnShape *shape)
{
  const VnShape *declared = &value->type.shape;

  if (value->type.kind != VN_TYPE_TENSOR || declared->rank < 0)
    return TRUE;
  if (declared->rank != shape->rank)
    return FALSE;
  for (int i = 0; i < shape->rank; i++)
    if (declared->dims[i] >= 0 && declared->dims[i] != shape->dims[i])
      return FALSE;
  return TRUE;
}

static gboolean
plan_variants_can_vary (VnPlan             *self,
                        VnTensor * const   *inputs)
{
  for (guint i = 0; i < self->inputs->len; i++)
    {
      const VnValue *value = g_ptr_array_index (self->inputs, i);
      const VnPlanValue *planned = &self->values[value->id];

      if (planned->needed && (inputs[i] == NULL || inputs[i]->dtype != planned->type.dtype ||
                              !plan_variants_is_open_for (value, &inputs[i]->shape)))
        return FALSE;
    }
  return TRUE;
}

static VnPlan *
plan_variant (VnPlan             *self,
              VnTensor * const   *inputs,
              GError            **error)
{
  g_autoptr(GHashTable) shapes = g_hash_table_new (g_str_hash, g_str_equal);
  VnPlanOptions options = { shapes, self->taps, self->all_outputs ? NULL : self->outputs, self->no_fusion,
                            self->skip_unsupported, self->ends, self->can_restart, self->most_weights };
  VnPlan *plan;

  for (guint i = 0; i < self->inputs->len; i++)
    {
      const VnValue *value = g_ptr_array_index (self->inputs, i);

      if (inputs[i] != NULL)
        g_hash_table_insert (shapes, value->name, &inputs[i]->shape);
    }
  plan = vn_plan_make (self->model, &options, self->taps_in_blocks, NULL, error);
  if (plan == NULL)
    g_prefix_error (error, "%s", _("The model does not support samples of this size: "));
  return plan;
}

/**
 * vn_plan_for_inputs:
 * @inputs: one tensor for each vn_plan_get_input(); %NULL where the plan does not need it
 *
 * Returns: (transfer full) (nullable): @self, or one like it for the sizes of @inputs if the model leaves those open;
 *   @self as well where they do not fit at all. %NULL if the network cannot work with these sizes. Any thread.
 */
VnPlan *
vn_plan_for_inputs (VnPlan             *self,
                    VnTensor * const   *inputs,
                    GError            **error)
{
  VnPlan *plan = NULL;

  if (self->depth > 0 || self->inputs->len == 0 || plan_variants_takes (self, inputs) || !plan_variants_can_vary (self, inputs))
    return vn_plan_ref (self);
  g_mutex_lock (&self->lock);
  for (guint i = 0; i < self->variants->len && plan == NULL; i++)
    if (plan_variants_takes (g_ptr_array_index (self->variants, i), inputs))
      plan = vn_plan_ref (g_ptr_array_index (self->variants, i));
  if (plan == NULL)
    {
      plan = plan_variant (self, inputs, error);
      if (plan != NULL)
        g_ptr_array_add (self->variants, vn_plan_ref (plan));
      if (self->variants->len > MAX_VARIANTS)
        g_ptr_array_remove_index (self->variants, 0);
    }
  g_mutex_unlock (&self->lock);
  return plan;
}
