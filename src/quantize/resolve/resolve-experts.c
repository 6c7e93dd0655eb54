/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Weights of mixtures of experts, which QMoE of ONNX Runtime has in 4 or 8 bits: of each expert and row in blocks, or with one
 * scale. All weights of a node have the same bits and blocks there. */

#include "vn-resolver.h"

#include "vn-i18n.h"
#include "vn-moe.h"

#define LEAST_BLOCK 16
#define AXIS 2      /* along which blocks lie: experts x rows x columns */

/* Whether nothing but experts reads it, always as the same weight. */
static gboolean
resolve_experts_are_alone (const VnValue *weight,
                           guint          input)
{
  for (guint i = 0; i < weight->uses->len; i++)
    {
      const VnUse *use = &g_array_index (weight->uses, VnUse, i);

      if (use->index != input || vn_moe_find_inputs (use->node) == NULL || use->node->graph != weight->graph)
        return FALSE;
    }
  return !weight->is_output;
}

/* @weight: (nullable) */
static gboolean
resolve_experts_is_weight (const VnValue *weight,
                           guint          input)
{
  const VnTensor *tensor = weight != NULL ? weight->initializer : NULL;

  return tensor != NULL && tensor->dtype == VN_DTYPE_F32 && tensor->shape.rank == 3 && tensor->n_elements > 0 &&
         resolve_experts_are_alone (weight, input);
}

/* Older files have rows and columns in the other order in their shapes, though not in their numbers. */
static gboolean
resolve_experts_fit (const VnNode  *node,
                     const VnShape *first,
                     const VnShape *second)
{
  const VnValue *tokens = vn_node_get_input (node, 0);
  const VnShape *shape = tokens != NULL && tokens->type.kind == VN_TYPE_TENSOR ? &tokens->type.shape : NULL;

  if (shape != NULL && shape->rank > 0 && shape->dims[shape->rank - 1] >= 0 && shape->dims[shape->rank - 1] != first->dims[AXIS])
    return FALSE;
  return first->dims[0] == second->dims[0] && first->dims[AXIS] == second->dims[1] &&
         (first->dims[1] == second->dims[AXIS] || first->dims[1] == 2 * second->dims[AXIS]);
}

/*< private >
 * vn_quant_has_experts:
 *
 * Returns: whether @node is a mixture of experts whose weights are constants that QMoE can have instead
 */
gboolean
vn_quant_has_experts (const VnNode *node)
{
  const VnMoeInputs *inputs;

  g_return_val_if_fail (node != NULL, FALSE);

  inputs = vn_moe_find_inputs (node);
  if (inputs == NULL || inputs->scale[VN_MOE_FC1] != VN_MOE_NO_INPUT || vn_node_get_input (node, 1) == NULL)
    return FALSE;
  for (guint i = 0; i < VN_MOE_N_PRODUCTS; i++)
    {
      const VnValue *weight = vn_node_get_input (node, inputs->weight[i]);

      if ((weight != NULL || i != VN_MOE_FC3) && !resolve_experts_is_weight (weight, inputs->weight[i]))
        return FALSE;
    }
  return resolve_experts_fit (node, &vn_node_get_input (node, inputs->weight[VN_MOE_FC1])->initializer->shape,
                              &vn_node_get_input (node, inputs->weight[VN_MOE_FC2])->initializer->shape);
}

/*< private >
 * vn_quant_list_experts:
 * @node: one that vn_quant_has_experts() approves of
 * @weights: (out): room for %VN_MOE_N_PRODUCTS
 *
 * Returns: how many weights it has
 */
guint
vn_quant_list_experts (const VnNode   *node,
                       const VnValue **weights)
{
  const VnMoeInputs *inputs;
  guint n = 0;

  g_return_val_if_fail (node != NULL && weights != NULL, 0);

  inputs = vn_moe_find_inputs (node);
  for (guint i = 0; i < VN_MOE_N_PRODUCTS; i++)
    if ((weights[n] = vn_node_get_input (node, inputs->weight[i])) != NULL)
      n++;
  return n;
}

/* The least that is asked for, halved until it fills the rows of all. 0: none does, or none is wanted. */
static gint64
resolve_experts_get_block (VnResolver            *self,
                           const VnValue * const *weights,
                           guint                  n)
{
  gint64 block = G_MAXINT64;

  for (guint i = 0; i < n; i++)
    {
      const gint64 said = self->block_sizes[weights[i]->id];

      block = MIN (block, said > 0 ? said : self->scheme.weights.block > 0 ? self->scheme.weights.block : G_MAXINT64);
    }
  for (guint i = 0; i < n && block != G_MAXINT64; i++)
    while (block >= LEAST_BLOCK && weights[i]->initializer->shape.dims[AXIS] % block != 0)
      block /= 2;
  return block == G_MAXINT64 || block < LEAST_BLOCK ? 0 : block;
}

static gboolean
resolve_experts_wants_blocks (VnResolver            *self,
                              const VnValue * const *weights,
                              guint                  n)
{
  for (guint i = 0; i < n; i++)
    if (self->block_sizes[weights[i]->id] > 0)
      return TRUE;
  return self->scheme.weights.block > 0;
}

/*< private >
 * vn_resolver_annotate_experts:
 * @node: one that vn_quant_has_experts() approves of
 *
 * Marks its weights. Where no block of at least 16 fills the rows they have one scale for each row, and 8 bits unless a rule says
 * otherwise.
 *
 * Returns: whether all of them are annotated
 */
gboolean
vn_resolver_annotate_experts (VnResolver   *self,
                              const VnNode *node)
{
  const VnValue *weights[VN_MOE_N_PRODUCTS];
  guint n;
  gint64 block;
  gboolean partial;

  g_return_val_if_fail (self != NULL, FALSE);

  n = vn_quant_list_experts (node, weights);
  block = resolve_experts_get_block (self, weights, n);
  partial = block == 0 && resolve_experts_wants_blocks (self, weights, n);
  for (guint i = 0; i < n; i++)
    if (!vn_resolver_may_annotate (self, weights[i]))
      return FALSE;
  for (guint i = 0; i < n; i++)
    {
      VnAnnotation *annotation = vn_resolver_get_annotation (self, weights[i]);

      annotation->annotated = annotation->as_weight = TRUE;
      annotation->experts = node;
      annotation->axis = AXIS;
      annotation->block = block > 0 ? block : weights[i]->initializer->shape.dims[AXIS];
      annotation->at_least_byte |= partial;
    }
  if (partial && self->notes != NULL)
    vn_notes_add (self->notes, VN_NOTE_INFO, "partial-blocks", weights[0]->name,
                  _("“%s” and the other weights of its experts have a scale per row, and 8 bits unless a rule sets another type: "
                    "no block of 16 or more fills their rows"), weights[0]->name);
  return TRUE;
}

/*< private >
 * vn_resolver_join_experts:
 * @dtype: what the rules say of @value
 * @other: says it of another value
 *
 * Returns: the type that QMoE has @value in: unsigned, of 4 or 8 bits, the most that one of the weights of its node has; another
 *   type: none that it has
 */
VnDType
vn_resolver_join_experts (VnResolver          *self,
                          const VnValue       *value,
                          VnResolverTypeFunc   other)
{
  const VnValue *weights[VN_MOE_N_PRODUCTS];
  guint n, most = 0, own;

  g_return_val_if_fail (self != NULL && value != NULL && other != NULL, VN_DTYPE_UNDEFINED);

  own = vn_dtype_get_bits (other (self, value));
  n = vn_quant_list_experts (vn_resolver_get_annotation (self, value)->experts, weights);
  for (guint i = 0; i < n; i++)
    {
      const VnDType dtype = other (self, weights[i]);

      if (!vn_dtype_is_integer (dtype) || vn_dtype_get_bits (dtype) > 8)
        return dtype;
      most = MAX (most, vn_dtype_get_bits (dtype));
    }
  if (most != own && self->notes != NULL)
    vn_notes_add (self->notes, VN_NOTE_INFO, "experts-joined", value->name,
                  _("“%s” has %u bits, as the other weights of its experts: QMoE has one size for all"), value->name, most);
  return most <= 4 ? VN_DTYPE_U4 : VN_DTYPE_U8;
}

/*< private >
 * vn_resolver_leave_experts:
 * @plan: its rows are filled
 *
 * Where one of the weights of a node stays float the others do.
 */
void
vn_resolver_leave_experts (VnResolver  *self,
                           VnQuantPlan *plan)
{
  g_return_if_fail (self != NULL && plan != NULL);

  for (guint i = 0; i < self->graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (self->graph->nodes, i);
      const VnValue *weights[VN_MOE_N_PRODUCTS];
      guint n = self->quant_nodes[i].annotated && vn_quant_has_experts (node) ? vn_quant_list_experts (node, weights) : 0;
      gboolean all = TRUE;

      for (guint k = 0; k < n; k++)
        all &= vn_quant_plan_find_row (plan, weights[k]->name)->tensor.quantized;
      for (guint k = 0; k < n && !all; k++)
        vn_quant_leave_float (vn_quant_plan_find_row (plan, weights[k]->name),
                              _("another weight of its experts stays in float"));
      self->quant_nodes[i].annotated &= n == 0 || all;
    }
}
