/* SPDX-License-Identifier: GPL-3.0-or-later */

/* QMoE of ONNX Runtime in place of MoE: weights experts x rows x bytes, low bits first; scales experts x rows, or experts x rows
 * x blocks; zero points, unless all are the middle, packed row by row, or with one scale a row expert by expert.
 *
 * QMoE weights the experts of a token by a softmax over those chosen. MoE does so with normalize_routing_weights; without, by a
 * softmax over all, which QMoE is given then. */

#include "vn-quant-write.h"

#include "vn-graph-edit.h"
#include "vn-moe.h"
#include "vn-resolver.h"

#include <string.h>

typedef struct
{
  VnNode *node;
  gint64  level;
} Experts;

/* Of one weight. */
typedef struct
{
  VnValue *packed, *scales, *zero_points;   /* zero_points: NULL if in the middle */
} Stored;

/* What QMoE reads in the order of its inputs, and what is made for that. */
typedef struct
{
  VnGraph           *graph;
  GHashTable        *stored;    /* VnValue -> Stored */
  const VnMoeInputs *from, *to;
  VnValue           *inputs[VN_OP_MAX_OTHERS];
  gint64             block;     /* 0: one scale for each row */
  guint              bits;
} Writing;

/*< private >
 * vn_quant_list_written_experts:
 *
 * Before anything is written, as @plan knows nodes by their places.
 *
 * Returns: (transfer full): nodes whose weights become integers, for vn_quant_write_experts()
 */
GArray *
vn_quant_list_written_experts (VnGraph     *graph,
                               VnQuantPlan *plan)
{
  GArray *list = g_array_new (FALSE, FALSE, sizeof (Experts));

  g_return_val_if_fail (graph != NULL && plan != NULL, list);

  vn_graph_settle (graph);
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      VnNode *node = g_ptr_array_index (graph->nodes, i);
      const Experts experts = { node, vn_quant_get_accuracy_level (plan, i) };
      const VnValue *weights[VN_MOE_N_PRODUCTS];
      const VnQuantRow *row = NULL;

      if (!plan->excluded[i] && vn_quant_has_experts (node) && vn_quant_list_experts (node, weights) > 0)
        row = vn_quant_plan_find_row (plan, weights[0]->name);
      if (row != NULL && row->tensor.quantized && row->experts)
        g_array_append_val (list, experts);
    }
  return list;
}

/* ---- one weight ---- */

/* Where a row has one scale: of each expert the zero points of its rows, one after the other. */
static VnTensor *
write_experts_pack_rows (const VnQuantRow  *row,
                         const VnShape     *shape,
                         GError           **error)
{
  const guint bits = vn_dtype_get_bits (row->tensor.dtype), per_byte = 8 / bits;
  const gsize rows = (gsize) shape->dims[1], bytes = (rows + per_byte - 1) / per_byte;
  VnTensor *packed = vn_tensor_new_constant (VN_DTYPE_U8, &VN_SHAPE (shape->dims[0], (gint64) bytes), error);

  if (packed == NULL)
    return NULL;
  memset (packed->data, 0, packed->n_bytes);
  for (gsize i = 0; i < (gsize) shape->dims[0] * rows; i++)
    ((guint8 *) packed->data)[i / rows * bytes + i % rows / per_byte] |=
      (guint8) (vn_tensor_get_s64 (row->tensor.zero_point, i) << (i % rows % per_byte * bits));
  return packed;
}

/* rows x something becomes experts x rows x something, where there is but one of it experts x rows. */
static void
write_experts_split (VnTensor      *tensor,
                     const VnShape *shape,
                     gboolean       flat)
{
  const gint64 inner = tensor->shape.dims[1];

  tensor->shape = flat ? VN_SHAPE (shape->dims[0], shape->dims[1]) : VN_SHAPE (shape->dims[0], shape->dims[1], inner);
}

static gboolean
write_experts_make (Writing           *self,
                    const VnQuantRow  *row,
                    const VnValue     *weight,
                    Stored            *stored,
                    GError           **error)
{
  const VnShape *shape = &weight->initializer->shape;
  g_autoptr(VnTensor) packed = NULL, scales = NULL, zeros = NULL;
  g_autofree char *suffix = g_strdup_printf ("_Q%u", self->bits);

  if (!vn_quant_pack_blocks (row, weight->initializer, TRUE, &packed, &scales, &zeros, error))
    return FALSE;
  write_experts_split (packed, shape, FALSE);
  write_experts_split (scales, shape, self->block == 0);
  if (self->block > 0)
    write_experts_split (zeros, shape, FALSE);
  else
    {
      vn_tensor_unref (zeros);
      zeros = write_experts_pack_rows (row, shape, error);
      if (zeros == NULL)
        return FALSE;
    }
  stored->packed = vn_quant_add_constant (self->graph, weight->name, suffix, packed);
  stored->scales = vn_quant_add_constant (self->graph, weight->name, "_scales", scales);
  if (row->has_zero_points)
    stored->zero_points = vn_quant_add_constant (self->graph, weight->name, "_zero_points", zeros);
  return TRUE;
}

/* Several nodes may have the same weights. */
static gboolean
write_experts_store (Writing      *self,
                     VnQuantPlan  *plan,
                     VnNode       *node,
                     guint         product,
                     GError      **error)
{
  VnValue *weight = vn_node_get_input (node, self->from->weight[product]);
  Stored *stored = weight != NULL ? g_hash_table_lookup (self->stored, weight) : NULL;

  if (weight == NULL)
    return TRUE;
  if (stored == NULL)
    {
      stored = g_new0 (Stored, 1);
      g_hash_table_insert (self->stored, weight, stored);
      if (!write_experts_make (self, vn_quant_plan_find_row (plan, weight->name), weight, stored, error))
        return FALSE;
    }
  self->inputs[self->to->weight[product]] = stored->packed;
  self->inputs[self->to->scale[product]] = stored->scales;
  self->inputs[self->to->zero_point[product]] = stored->zero_points;
  self->inputs[self->to->bias[product]] = vn_node_get_input (node, self->from->bias[product]);
  return TRUE;
}

/* ---- one node ---- */

static void
write_experts_find_blocks (Writing           *self,
                           VnQuantPlan       *plan,
                           const VnNode      *node)
{
  const VnValue *weights[VN_MOE_N_PRODUCTS];
  const guint n = vn_quant_list_experts (node, weights);

  self->block = 0;
  for (guint i = 0; i < n; i++)
    {
      const VnQuantRow *row = vn_quant_plan_find_row (plan, weights[i]->name);

      self->bits = vn_dtype_get_bits (row->tensor.dtype);
      if (row->block < weights[i]->initializer->shape.dims[2])
        self->block = row->block;
    }
}

/* The shares of all experts, where they are not to add up to 1. */
static VnValue *
write_experts_make_shares (Writing    *self,
                           VnNode     *node)
{
  VnValue *router = vn_node_get_input (node, 1), *shares;

  if (vn_node_get_int (node, "normalize_routing_weights", 0) == 1)
    return NULL;
  shares = vn_quant_add_value (self->graph, vn_node_get_output (node, 0)->name, "_shares", VN_DTYPE_F32, &router->type.shape);
  vn_node_set_int (vn_graph_insert_node (self->graph, node, NULL, "", "Softmax", &router, 1, &shares, 1), "axis", -1);
  return shares;
}

static void
write_experts_replace (Writing       *self,
                       const Experts *experts)
{
  VnNode *node = experts->node, *before, *by;
  VnValue *output = vn_node_get_output (node, 0);
  g_autofree char *name = node->name != NULL && *node->name != '\0' ? g_strdup_printf ("%s_Q%u", node->name, self->bits) : NULL;
  g_autoptr(GPtrArray) attrs = g_ptr_array_new ();
  guint n = VN_OP_MAX_OTHERS;

  self->inputs[0] = vn_node_get_input (node, 0);
  self->inputs[1] = vn_node_get_input (node, 1);
  self->inputs[self->to->shares] = write_experts_make_shares (self, node);
  while (self->inputs[n - 1] == NULL)
    n--;
  for (guint i = 0; i < node->attrs->len; i++)
    g_ptr_array_add (attrs, vn_attr_copy (g_ptr_array_index (node->attrs, i)));
  before = vn_node_get_next (node);
  vn_graph_remove_node (self->graph, node);
  by = vn_graph_insert_node (self->graph, before, name, VN_MICROSOFT_DOMAIN, self->to->op_type, self->inputs, n, &output, 1);
  for (guint i = 0; i < attrs->len; i++)
    vn_node_set_attr (by, g_ptr_array_index (attrs, i));
  vn_node_set_int (by, "expert_weight_bits", self->bits);
  if (self->block > 0)
    vn_node_set_int (by, "block_size", self->block);
  if (self->block > 0 && experts->level != 0)
    vn_node_set_int (by, "accuracy_level", experts->level);
}

static gboolean
write_experts_write_node (VnModel        *model,
                          VnQuantPlan    *plan,
                          const Experts  *experts,
                          GHashTable     *stored,
                          GError        **error)
{
  Writing self = { .graph = model->graph, .stored = stored, .from = vn_moe_find_inputs (experts->node),
                   .to = vn_moe_get_packed_inputs () };

  write_experts_find_blocks (&self, plan, experts->node);
  for (guint i = 0; i < VN_MOE_N_PRODUCTS; i++)
    if (g_cancellable_set_error_if_cancelled (g_cancellable_get_current (), error) ||
        !write_experts_store (&self, plan, experts->node, i, error))
      return FALSE;
  write_experts_replace (&self, experts);
  return TRUE;
}

/*< private >
 * vn_quant_write_experts:
 * @experts: of vn_quant_list_written_experts(), of the nodes of @model before it was written
 * @captured: set of VnValue that graphs inside nodes use
 */
gboolean
vn_quant_write_experts (VnModel       *model,
                        VnQuantPlan   *plan,
                        const GArray  *experts,
                        GHashTable    *captured,
                        GError       **error)
{
  g_autoptr(GHashTable) stored = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  GHashTableIter iter;
  gpointer key;

  g_return_val_if_fail (model != NULL && plan != NULL && experts != NULL && captured != NULL, FALSE);

  for (guint i = 0; i < experts->len; i++)
    if (!write_experts_write_node (model, plan, &g_array_index (experts, Experts, i), stored, error))
      return FALSE;
  g_hash_table_iter_init (&iter, stored);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    {
      VnValue *value = key;

      if (value->uses->len == 0 && !value->is_output && !g_hash_table_contains (captured, value))
        vn_graph_remove_value (model->graph, value);
    }
  return TRUE;
}

/* Experts read integers in any case: a DequantizeLinear before them would restore all of them in each run. */
static gboolean
write_weights (VnModel             *model,
               const VnWriteScheme *scheme,
               VnQuantPlan         *plan,
               GHashTable          *value_names,
               GError             **error)
{
  g_autoptr(GArray) experts = vn_quant_list_written_experts (model->graph, plan);
  g_autoptr(GHashTable) captured = vn_graph_find_captured (model->graph);

  return vn_quant_write_qdq (model, scheme, plan, value_names, error) &&
         vn_quant_write_experts (model, plan, experts, captured, error);
}

const VnFormatWriter vn_format_writer_weights = { vn_quant_has_weight, write_weights };
