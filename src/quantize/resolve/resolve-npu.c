/* SPDX-License-Identifier: GPL-3.0-or-later */

/* What AMD's processors for convolutions ask of scales. They multiply integers and shift the sums: every scale is 2^-p, and
 * the positions p of what meets in a node must not lie too far apart. The limits, and the order in which they are met, are
 * those of the pass that vai_q_onnx and Quark run for these processors; as one move may break another limit, the passes are
 * repeated until nothing moves, five times at most unless the recipe says otherwise.
 *
 *   Concat, pools, Pad, Slice   all have the least position
 *   Add, Sub       read:  max p - min p <= 7                    the largest p moves
 *   Add            write: -7 <= min p - p_out <= 25             p_out moves
 *   Mul            write: 0 <= sum p - p_out <= 32; 15 if one factor is a sigmoid of the other (swish)
 *   Conv, ConvTranspose, Gemm
 *                  cut:   0 <= p_w + p_x - p_out <= 16          p_w moves
 *                  bias:  min (0, cut - 16) <= p_w + p_x - p_b <= 15, from 0 on before LeakyRelu   p_b moves
 *   HardSigmoid    0 <= p_x <= 15, 7 <= p_out <= 14 + p_x
 *
 * Weights are stored with the scales that come out, so nothing else has to be changed. */

#include "vn-resolver.h"

#include "vn-i18n.h"

#include <string.h>

typedef struct
{
  VnResolver  *resolver;
  VnQuantPlan *plan;
  GHashTable  *records;   /* VnNode -> VnNpuNode, of the plan */
  const char  *rule;      /* id of the one that is applied */
  gboolean     moved;     /* in this round */
} Refiner;

/* ---- positions ---- */

/* The row that has the scale of @value; NULL: float, or a scale per channel. */
static VnQuantRow *
resolve_npu_find_owner (Refiner       *self,
                        const VnValue *value)
{
  VnQuantRow *row = value != NULL && value->graph == self->resolver->graph
                    ? vn_quant_plan_find_row (self->plan, value->name) : NULL;

  if (row != NULL && row->tensor.quantized && row->tensor.shares != NULL)
    row = vn_quant_plan_find_row (self->plan, row->tensor.shares);
  return row != NULL && row->tensor.quantized && row->tensor.axis < 0 ? row : NULL;
}

static int
resolve_npu_get_position (const VnQuantRow *row)
{
  return vn_scale_get_position (*(const float *) row->tensor.scale->data, VN_POWER_NEAREST);
}

static void
resolve_npu_record_move (Refiner          *self,
                         const VnNode     *node,
                         const VnQuantRow *row,
                         int               from,
                         int               to,
                         const char       *reason)
{
  VnNpuNode *record = g_hash_table_lookup (self->records, node);

  vn_npu_node_add_move (record, row->tensor.name, from, to, self->rule, reason);
  self->moved = TRUE;
}

static void
resolve_npu_set_position (Refiner      *self,
                          VnQuantRow   *row,
                          int           position,
                          const VnNode *node,
                          const char   *reason)
{
  int old = resolve_npu_get_position (row);
  float scale = (float) vn_position_get_scale (position);
  g_autofree char *label = vn_node_dup_label (node);
  g_autofree char *code = g_strconcat ("npu-", self->rule, NULL);

  if (old == position)
    return;
  resolve_npu_record_move (self, node, row, old, position, reason);
  for (guint i = 0; i < self->plan->rows->len; i++)
    {
      VnQuantRow *other = g_ptr_array_index (self->plan->rows, i);

      if (other != row && g_strcmp0 (other->tensor.shares, row->tensor.name) != 0)
        continue;
      vn_tensor_unref (other->tensor.scale);
      other->tensor.scale = vn_tensor_new_f32 (&VN_SHAPE_SCALAR, &scale);
    }
  if (self->resolver->notes != NULL)
    vn_notes_add (self->resolver->notes, VN_NOTE_INFO, code, label, _("%s: the position of “%s” moves from %d to %d: %s"),
                  label, row->tensor.name, old, position, reason);
}

/* What the next node that stands between quantized tensors writes: a convolution and the activation behind it are one. */
static const VnValue *
resolve_npu_find_result (Refiner      *self,
                         const VnNode *node)
{
  const VnValue *value = vn_node_get_output (node, 0);

  while (value != NULL && vn_resolver_get_annotation (self->resolver, value)->fused && value->uses->len == 1)
    value = vn_node_get_output (g_array_index (value->uses, VnUse, 0).node, 0);
  return value;
}

/* ---- rules: each for one node ---- */

static void
resolve_npu_align_to_least (Refiner      *self,
                            const VnNode *node,
                            guint         n_inputs)
{
  g_autoptr(GPtrArray) rows = g_ptr_array_new ();
  int least = G_MAXINT;

  for (guint i = 0; i <= MIN (n_inputs, node->inputs->len); i++)
    {
      VnQuantRow *row = resolve_npu_find_owner (self, i < MIN (n_inputs, node->inputs->len) ? vn_node_get_input (node, i)
                                                                                          : vn_node_get_output (node, 0));

      if (row == NULL)
        continue;
      g_ptr_array_add (rows, row);
      least = MIN (least, resolve_npu_get_position (row));
    }
  for (guint i = 0; i < rows->len && rows->len > 1; i++)
    resolve_npu_set_position (self, g_ptr_array_index (rows, i), least, node,
                              _("values that pass through unchanged share one scale, the largest"));
}

static void
resolve_npu_align_concat (Refiner *self, const VnNode *node)
{
  resolve_npu_align_to_least (self, node, G_MAXUINT);
}

static void
resolve_npu_align_pool (Refiner *self, const VnNode *node)
{
  resolve_npu_align_to_least (self, node, 1);
}

static void
resolve_npu_align_pad (Refiner *self, const VnNode *node)
{
  resolve_npu_align_to_least (self, node, 1);
}

static void
resolve_npu_align_slice (Refiner *self, const VnNode *node)
{
  resolve_npu_align_to_least (self, node, 1);
}

/* Positions of what @node reads; FALSE if one is not quantized. */
static gboolean
resolve_npu_get_input_positions (Refiner      *self,
                                 const VnNode *node,
                                 VnQuantRow  **rows,
                                 int          *positions,
                                 guint         n)
{
  for (guint i = 0; i < n; i++)
    {
      rows[i] = resolve_npu_find_owner (self, vn_node_get_input (node, i));
      if (rows[i] == NULL)
        return FALSE;
      positions[i] = resolve_npu_get_position (rows[i]);
    }
  return node->inputs->len == n;
}

static void
resolve_npu_shift_read (Refiner *self, const VnNode *node)
{
  VnQuantRow *rows[2];
  int p[2], largest;

  if (!resolve_npu_get_input_positions (self, node, rows, p, 2) || ABS (p[0] - p[1]) <= 7)
    return;
  largest = p[0] > p[1] ? 0 : 1;
  resolve_npu_set_position (self, rows[largest], p[1 - largest] + 7, node, _("positions of summands differ by at most 7"));
}

static void
resolve_npu_shift_write_add (Refiner *self, const VnNode *node)
{
  VnQuantRow *rows[2], *out = resolve_npu_find_owner (self, resolve_npu_find_result (self, node));
  int p[2], shift;

  if (out == NULL || !resolve_npu_get_input_positions (self, node, rows, p, 2))
    return;
  shift = MIN (p[0], p[1]) - resolve_npu_get_position (out);
  resolve_npu_set_position (self, out, MIN (p[0], p[1]) - CLAMP (shift, -7, 25), node, _("shift of a sum: -7 to 25"));
}

/* x * sigmoid (x) */
static gboolean
resolve_npu_is_swish (const VnNode *node)
{
  for (guint i = 0; i < 2; i++)
    {
      const VnValue *factor = vn_node_get_input (node, i);
      const VnNode *sigmoid = factor != NULL ? factor->producer : NULL;

      if (sigmoid != NULL && g_str_equal (sigmoid->op_type, "Mul"))   /* what corrects a HardSigmoid */
        sigmoid = vn_node_get_input (sigmoid, 0) != NULL ? vn_node_get_input (sigmoid, 0)->producer : NULL;
      if (sigmoid != NULL && (g_str_equal (sigmoid->op_type, "Sigmoid") || g_str_equal (sigmoid->op_type, "HardSigmoid")) &&
          vn_node_get_input (sigmoid, 0) == vn_node_get_input (node, 1 - i))
        return TRUE;
    }
  return FALSE;
}

static void
resolve_npu_limit_product (Refiner      *self,
                           const VnNode *node,
                           int           most,
                           const char   *reason)
{
  VnQuantRow *rows[2], *out = resolve_npu_find_owner (self, resolve_npu_find_result (self, node));
  int p[2];

  if (out == NULL || !resolve_npu_get_input_positions (self, node, rows, p, 2))
    return;
  resolve_npu_set_position (self, out, p[0] + p[1] - CLAMP (p[0] + p[1] - resolve_npu_get_position (out), 0, most), node, reason);
}

static void
resolve_npu_shift_write_mul (Refiner *self, const VnNode *node)
{
  resolve_npu_limit_product (self, node, 32, _("shift of a product: 0 to 32"));
}

static void
resolve_npu_shift_swish (Refiner *self, const VnNode *node)
{
  if (resolve_npu_is_swish (node))
    resolve_npu_limit_product (self, node, 15, _("shift of a product with a sigmoid: 0 to 15"));
}

typedef struct
{
  VnQuantRow *x, *weight, *bias, *out;
} Product;

static gboolean
resolve_npu_get_product (Refiner      *self,
                         const VnNode *node,
                         Product      *product)
{
  product->x = resolve_npu_find_owner (self, vn_node_get_input (node, 0));
  product->weight = resolve_npu_find_owner (self, vn_node_get_input (node, 1));
  product->bias = resolve_npu_find_owner (self, vn_node_get_input (node, 2));
  product->out = resolve_npu_find_owner (self, resolve_npu_find_result (self, node));
  return product->x != NULL && product->weight != NULL && product->out != NULL;
}

static void
resolve_npu_shift_cut (Refiner *self, const VnNode *node)
{
  Product p;
  int x, out, cut;

  if (!resolve_npu_get_product (self, node, &p))
    return;
  x = resolve_npu_get_position (p.x);
  out = resolve_npu_get_position (p.out);
  cut = resolve_npu_get_position (p.weight) + x - out;
  resolve_npu_set_position (self, p.weight, CLAMP (cut, 0, 16) + out - x, node, _("shift of accumulated products: 0 to 16"));
}

static gboolean
resolve_npu_feeds_leaky_relu (const VnNode *node)
{
  const VnValue *value = vn_node_get_output (node, 0);

  return value->uses->len > 0 && g_str_equal (g_array_index (value->uses, VnUse, 0).node->op_type, "LeakyRelu");
}

static void
resolve_npu_shift_bias (Refiner *self, const VnNode *node)
{
  Product p;
  int sum, cut, least;

  if (!resolve_npu_get_product (self, node, &p) || p.bias == NULL)
    return;
  sum = resolve_npu_get_position (p.weight) + resolve_npu_get_position (p.x);
  cut = sum - resolve_npu_get_position (p.out);
  least = resolve_npu_feeds_leaky_relu (node) ? 0 : MIN (0, -(24 - (8 + cut)));
  resolve_npu_set_position (self, p.bias, sum - CLAMP (sum - resolve_npu_get_position (p.bias), least, 15), node,
                            _("shift of a bias: limited by its 24-bit register and by the shift of the accumulated products"));
}

static void
resolve_npu_hard_sigmoid (Refiner *self, const VnNode *node)
{
  VnQuantRow *x = resolve_npu_find_owner (self, vn_node_get_input (node, 0)),
  *out = resolve_npu_find_owner (self, resolve_npu_find_result (self, node));
  int position;

  if (x == NULL || out == NULL)
    return;
  resolve_npu_set_position (self, x, CLAMP (resolve_npu_get_position (x), 0, 15), node,
                            _("input position of HardSigmoid: 0 to 15"));
  position = MAX (resolve_npu_get_position (out), 7);
  position = 14 + resolve_npu_get_position (x) - CLAMP (14 + resolve_npu_get_position (x) - position, 0, 31);
  resolve_npu_set_position (self, out, position, node, _("output position of HardSigmoid: at least 7, shift 0 to 31"));
}

/* In this order. */
static const struct
{
  const char *type;
  void      (*apply) (Refiner *self, const VnNode *node);
  guint       pass;
  const char *id;      /* as in the setting "npu-rules" */
} rules[] = {
  { "Concat", resolve_npu_align_concat, 0, "align-concat" },
  { "MaxPool", resolve_npu_align_pool, 1, "align-pool" }, { "AveragePool", resolve_npu_align_pool, 1, "align-pool" },
  { "GlobalAveragePool", resolve_npu_align_pool, 1, "align-pool" }, { "GlobalMaxPool", resolve_npu_align_pool, 1, "align-pool" },
  { "Pad", resolve_npu_align_pad, 2, "align-pad" },
  { "Slice", resolve_npu_align_slice, 3, "align-slice" },
  { "Add", resolve_npu_shift_read, 4, "shift-read" }, { "Sub", resolve_npu_shift_read, 4, "shift-read" },
  { "Add", resolve_npu_shift_write_add, 5, "shift-write" }, { "Mul", resolve_npu_shift_write_mul, 5, "shift-write" },
  { "Conv", resolve_npu_shift_cut, 6, "shift-cut" }, { "ConvTranspose", resolve_npu_shift_cut, 6, "shift-cut" },
  { "Gemm", resolve_npu_shift_cut, 6, "shift-cut" },
  { "Conv", resolve_npu_shift_bias, 7, "shift-bias" }, { "ConvTranspose", resolve_npu_shift_bias, 7, "shift-bias" },
  { "Gemm", resolve_npu_shift_bias, 7, "shift-bias" },
  { "HardSigmoid", resolve_npu_hard_sigmoid, 8, "hard-sigmoid" },
  { "Mul", resolve_npu_shift_swish, 9, "shift-swish" },
};

#define N_PASSES 10

static gboolean
resolve_npu_is_limited (Refiner      *self,
                        const VnNode *node)
{
  for (guint k = 0; k < G_N_ELEMENTS (rules); k++)
    if (g_str_equal (rules[k].type, node->op_type))
      return self->resolver->quant_nodes[node->index].selected;
  return FALSE;
}

static void
resolve_npu_run_pass (Refiner *self,
                      guint    pass)
{
  const char * const *asked = (const char * const *) self->resolver->scheme.npu_rules;

  for (guint i = 0; i < self->resolver->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (self->resolver->nodes, i);

      if (!g_hash_table_contains (self->records, node))
        continue;
      for (guint k = 0; k < G_N_ELEMENTS (rules); k++)
        if (rules[k].pass == pass && g_str_equal (rules[k].type, node->op_type) &&
            (asked == NULL || g_strv_contains (asked, rules[k].id)))
          {
            self->rule = rules[k].id;
            rules[k].apply (self, node);
          }
    }
}

/* ---- what came of it ---- */

static int
resolve_npu_position_of (const VnQuantRow *row)
{
  return row != NULL ? resolve_npu_get_position (row) : VN_NPU_NONE;
}

static void
resolve_npu_record_product (Refiner      *self,
                            const VnNode *node,
                            VnNpuNode    *record)
{
  Product p;

  if (!resolve_npu_get_product (self, node, &p))
    return;
  record->inputs[1] = VN_NPU_NONE;
  record->weight = resolve_npu_get_position (p.weight);
  record->bias = resolve_npu_position_of (p.bias);
  record->cut = record->weight + record->inputs[0] - record->output;
  if (p.bias != NULL)
    record->bias_shift = record->weight + record->inputs[0] - record->bias;
}

static void
resolve_npu_record_node (Refiner      *self,
                         const VnNode *node,
                         VnNpuNode    *record)
{
  gboolean is_sum = g_str_equal (node->op_type, "Add") || g_str_equal (node->op_type, "Sub");
  int *in = record->inputs;

  in[0] = resolve_npu_position_of (resolve_npu_find_owner (self, vn_node_get_input (node, 0)));
  in[1] = resolve_npu_position_of (resolve_npu_find_owner (self, vn_node_get_input (node, 1)));
  record->output = resolve_npu_position_of (resolve_npu_find_owner (self, resolve_npu_find_result (self, node)));
  if (g_str_equal (node->op_type, "Conv") || g_str_equal (node->op_type, "ConvTranspose") || g_str_equal (node->op_type, "Gemm"))
    resolve_npu_record_product (self, node, record);
  else if (in[0] != VN_NPU_NONE && in[1] != VN_NPU_NONE && is_sum)
    record->read = ABS (in[0] - in[1]);
  if (in[0] == VN_NPU_NONE || in[1] == VN_NPU_NONE || record->output == VN_NPU_NONE)
    return;
  if (is_sum)
    record->write = MIN (in[0], in[1]) - record->output;
  else if (g_str_equal (node->op_type, "Mul"))
    record->write = in[0] + in[1] - record->output;
}

static void
resolve_npu_add_records (Refiner *self)
{
  for (guint i = 0; i < self->resolver->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (self->resolver->nodes, i);
      VnNpuNode *record = resolve_npu_is_limited (self, node) ? vn_npu_node_new (node) : NULL;

      if (record == NULL)
        continue;
      g_ptr_array_add (self->plan->npu_nodes, record);
      g_hash_table_insert (self->records, (gpointer) node, record);
    }
}

static void
resolve_npu_fill_records (Refiner *self)
{
  for (guint i = 0; i < self->resolver->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (self->resolver->nodes, i);

      if (g_hash_table_contains (self->records, node))
        resolve_npu_record_node (self, node, g_hash_table_lookup (self->records, node));
    }
}

/*< private >
 * vn_resolver_refine_positions:
 *
 * When all rows are filled, with scales that are powers of two. Says of every tensor that moves why, and of every node what
 * is shifted there.
 */
void
vn_resolver_refine_positions (VnResolver  *self,
                              VnQuantPlan *plan)
{
  g_autoptr(GHashTable) records = g_hash_table_new (NULL, NULL);
  Refiner refiner;

  g_return_if_fail (self != NULL);

  refiner = (Refiner) { .resolver = self, .plan = plan, .records = records, .moved = TRUE };
  resolve_npu_add_records (&refiner);
  for (gint64 round = 0; round < self->scheme.npu_rounds && refiner.moved; round++)
    {
      refiner.moved = FALSE;
      for (guint pass = 0; pass < N_PASSES; pass++)
        resolve_npu_run_pass (&refiner, pass);
    }
  resolve_npu_fill_records (&refiner);
  if (refiner.moved && self->notes != NULL)
    vn_notes_add (self->notes, VN_NOTE_WARNING, "npu-not-stable", NULL,
                  _("The positions did not settle after %d iterations; the NPU may reject some nodes"),
                  (int) self->scheme.npu_rounds);
}
