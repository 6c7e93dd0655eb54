/* SPDX-License-Identifier: GPL-3.0-or-later */

/* What ONNX Runtime's kernels on integers do not compute rightly, by the tables of vn-kernel-form.h: the nodes stay in float, or
 * their operands get other types. */

#include "vn-resolver.h"

#include "vn-i18n.h"
#include "vn-kernel-form.h"

/* The scales of channels that are asked for by hand may lie along an axis that no kernel knows. */
static gboolean
resolve_forms_has_own_axis (VnResolver   *self,
                            const VnNode *node)
{
  const VnValue *weight = vn_node_get_input (node, 1);
  const VnOverride *rule = vn_resolver_get_tensor_rule (self, weight);
  int axis = -1, kernel_axis;

  if (!vn_kernel_get_channel_axis (node, 1, &kernel_axis) || vn_node_is (node, "ConvTranspose"))
    return FALSE;
  if (rule != NULL && rule->axis != VN_AXIS_AS_RECIPE)
    axis = (int) rule->axis;
  else if (!self->scheme.weights.per_channel || !vn_recipe_get_channel_axis (self->recipe, node->op_type, &axis))
    return FALSE;
  return (axis < 0 ? axis + weight->initializer->shape.rank : axis) != kernel_axis;
}

static gboolean
resolve_forms_is_convolution (const VnNode *node)
{
  return vn_node_is (node, "Conv") || vn_node_is (node, "ConvTranspose");
}

static gboolean
resolve_forms_keep_value (VnResolver    *self,
                          const VnValue *value)
{
  if (value == NULL || value->graph != self->graph || value->initializer != NULL)
    return FALSE;
  vn_resolver_get_annotation (self, value)->keep_float = TRUE;
  return TRUE;
}

/* The same of all that it is computed from, back to convolutions, which move channels for themselves and all behind them. */
static void
resolve_forms_keep_region (VnResolver    *self,
                           const VnValue *value)
{
  g_autoptr(GQueue) todo = g_queue_new ();
  g_autoptr(GHashTable) seen = g_hash_table_new (NULL, NULL);

  g_queue_push_tail (todo, (gpointer) value);
  while (!g_queue_is_empty (todo))
    {
      const VnValue *next = g_queue_pop_head (todo);
      const VnNode *producer = next != NULL ? next->producer : NULL;

      if (!g_hash_table_add (seen, (gpointer) next) || !resolve_forms_keep_value (self, next) || producer == NULL ||
          resolve_forms_is_convolution (producer))
        continue;
      for (guint i = 0; i < producer->inputs->len; i++)
        g_queue_push_tail (todo, vn_node_get_input (producer, i));
    }
}

static void
resolve_forms_note (VnResolver   *self,
                    const VnNode *node,
                    const char   *why)
{
  g_autofree char *label = vn_node_dup_label (node);

  if (self->notes != NULL)
    vn_notes_add (self->notes, VN_NOTE_INFO, "node-stays-float", label, _("“%s” stays in float, for ONNX Runtime: %s"), label,
                  _(why));
}

/*< private >
 * vn_resolver_keep_forms:
 *
 * Before anything is annotated: nodes in a form that no kernel on integers computes rightly.
 */
void
vn_resolver_keep_forms (VnResolver *self)
{
  g_return_if_fail (self != NULL);

  for (guint i = 0; i < self->nodes->len && vn_recipe_has_kernels (self->recipe); i++)
    {
      const VnNode *node = g_ptr_array_index (self->nodes, i);
      const VnKernelForm *form = vn_kernel_find_form (node);

      if (form == NULL && !(self->quant_nodes[node->index].selected && resolve_forms_has_own_axis (self, node)))
        continue;
      if (form != NULL && form->moved)
        resolve_forms_keep_region (self, vn_node_get_input (node, 0));
      else
        resolve_forms_keep_value (self, vn_node_get_input (node, 0));
      resolve_forms_note (self, node, form != NULL ? form->text : N_("its kernel takes scales of channels along another axis"));
    }
}

/*< private >
 * vn_resolver_takes_weight:
 * @input: number of an input of @node, a product of two operands
 *
 * Returns: whether that operand may have the type of weights: not where the format has operators of integers, and none of these
 * types
 */
gboolean
vn_resolver_takes_weight (VnResolver   *self,
                          const VnNode *node,
                          guint         input)
{
  VnDType weight;

  g_return_val_if_fail (self != NULL && node != NULL, FALSE);

  weight = self->scheme.weights.dtype;
  return !self->scheme.format->integer_operators ||
         vn_kernel_takes_types (node->op_type, input == 0 ? weight : self->activation, input == 0 ? self->activation : weight,
                                self->activation);
}
