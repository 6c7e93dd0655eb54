/* SPDX-License-Identifier: GPL-3.0-or-later */

/* What AMD's processors for convolutions ask of scales. They multiply integers and shift the sums: every scale is 2^-p, and
 * the positions p of what meets in a node must not lie too far apart. The limits, and the order in which they are met, are
 * those of the pass that vai_q_onnx and Quark run for these processors; as one move may break another limit, the passes are
 * repeated until nothing moves, five times at most.
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

#include "vn-quantize-private.h"

#include "vn-i18n.h"

#include <string.h>

#define MAX_ROUNDS 5

typedef struct
{
  VnResolver  *resolver;
  VnQuantPlan *plan;
  gboolean     moved;     /* in this round */
} Refiner;

/* ---- positions ---- */

/* The row that has the scale of @value; NULL: float, or a scale per channel. */
static VnQuantRow *
find_owner (Refiner       *self,
            const VnValue *value)
{
  VnQuantRow *row = value != NULL && value->graph == self->resolver->graph
                    ? vn_quant_plan_find_row (self->plan, value->name) : NULL;

  if (row != NULL && row->tensor.quantized && row->tensor.shares != NULL)
    row = vn_quant_plan_find_row (self->plan, row->tensor.shares);
  return row != NULL && row->tensor.quantized && row->tensor.axis < 0 ? row : NULL;
}

static int
get_position (const VnQuantRow *row)
{
  return vn_scale_get_position (*(const float *) row->tensor.scale->data, VN_POWER_NEAREST);
}

static void
set_position (Refiner      *self,
              VnQuantRow   *row,
              int           position,
              const VnNode *node,
              const char   *code,
              const char   *reason)
{
  int old = get_position (row);
  float scale = (float) vn_position_get_scale (position);
  g_autofree char *label = vn_node_dup_label (node);

  if (old == position)
    return;
  for (guint i = 0; i < self->plan->rows->len; i++)
    {
      VnQuantRow *other = g_ptr_array_index (self->plan->rows, i);

      if (other != row && g_strcmp0 (other->tensor.shares, row->tensor.name) != 0)
        continue;
      vn_tensor_unref (other->tensor.scale);
      other->tensor.scale = vn_tensor_new_f32 (&VN_SHAPE_SCALAR, &scale);
    }
  self->moved = TRUE;
  if (self->resolver->notes != NULL)
    vn_notes_add (self->resolver->notes, VN_NOTE_INFO, code, label, _("%s: the position of “%s” moves from %d to %d: %s"),
                  label, row->tensor.name, old, position, reason);
}

/* What the next node that stands between quantized tensors writes: a convolution and the activation behind it are one. */
static const VnValue *
find_result (Refiner      *self,
             const VnNode *node)
{
  const VnValue *value = vn_node_get_output (node, 0);

  while (value != NULL && vn_resolver_mark_of (self->resolver, value)->fused && value->uses->len == 1)
    value = vn_node_get_output (g_array_index (value->uses, VnUse, 0).node, 0);
  return value;
}

/* ---- rules: each for one node ---- */

static void
align_to_least (Refiner      *self,
                const VnNode *node,
                guint         n_inputs,
                const char   *code)
{
  g_autoptr(GPtrArray) rows = g_ptr_array_new ();
  int least = G_MAXINT;

  for (guint i = 0; i <= MIN (n_inputs, node->inputs->len); i++)
    {
      VnQuantRow *row = find_owner (self, i < MIN (n_inputs, node->inputs->len) ? vn_node_get_input (node, i)
                                                                              : vn_node_get_output (node, 0));

      if (row == NULL)
        continue;
      g_ptr_array_add (rows, row);
      least = MIN (least, get_position (row));
    }
  for (guint i = 0; i < rows->len && rows->len > 1; i++)
    set_position (self, g_ptr_array_index (rows, i), least, node, code,
                  _("what goes through it unchanged has one scale, the largest"));
}

static void
align_concat (Refiner *self, const VnNode *node)
{
  align_to_least (self, node, G_MAXUINT, "npu-align-concat");
}

static void
align_pool (Refiner *self, const VnNode *node)
{
  align_to_least (self, node, 1, "npu-align-pool");
}

static void
align_pad (Refiner *self, const VnNode *node)
{
  align_to_least (self, node, 1, "npu-align-pad");
}

static void
align_slice (Refiner *self, const VnNode *node)
{
  align_to_least (self, node, 1, "npu-align-slice");
}

/* Positions of what @node reads; FALSE if one is not quantized. */
static gboolean
get_input_positions (Refiner      *self,
                     const VnNode *node,
                     VnQuantRow  **rows,
                     int          *positions,
                     guint         n)
{
  for (guint i = 0; i < n; i++)
    {
      rows[i] = find_owner (self, vn_node_get_input (node, i));
      if (rows[i] == NULL)
        return FALSE;
      positions[i] = get_position (rows[i]);
    }
  return node->inputs->len == n;
}

static void
shift_read (Refiner *self, const VnNode *node)
{
  VnQuantRow *rows[2];
  int p[2], largest;

  if (!get_input_positions (self, node, rows, p, 2) || ABS (p[0] - p[1]) <= 7)
    return;
  largest = p[0] > p[1] ? 0 : 1;
  set_position (self, rows[largest], p[1 - largest] + 7, node, "npu-shift-read",
                _("what is added may lie 7 positions apart at most"));
}

static void
shift_write_add (Refiner *self, const VnNode *node)
{
  VnQuantRow *rows[2], *out = find_owner (self, find_result (self, node));
  int p[2], shift;

  if (out == NULL || !get_input_positions (self, node, rows, p, 2))
    return;
  shift = MIN (p[0], p[1]) - get_position (out);
  set_position (self, out, MIN (p[0], p[1]) - CLAMP (shift, -7, 25), node, "npu-shift-write",
                _("a sum is shifted by -7 to 25"));
}

/* x * sigmoid (x) */
static gboolean
is_swish (const VnNode *node)
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
limit_product (Refiner      *self,
               const VnNode *node,
               int           most,
               const char   *code,
               const char   *reason)
{
  VnQuantRow *rows[2], *out = find_owner (self, find_result (self, node));
  int p[2];

  if (out == NULL || !get_input_positions (self, node, rows, p, 2))
    return;
  set_position (self, out, p[0] + p[1] - CLAMP (p[0] + p[1] - get_position (out), 0, most), node, code, reason);
}

static void
shift_write_mul (Refiner *self, const VnNode *node)
{
  limit_product (self, node, 32, "npu-shift-write", _("a product is shifted by 0 to 32"));
}

static void
shift_swish (Refiner *self, const VnNode *node)
{
  if (is_swish (node))
    limit_product (self, node, 15, "npu-swish", _("a product with a sigmoid is shifted by 0 to 15"));
}

typedef struct
{
  VnQuantRow *x, *weight, *bias, *out;
} Product;

static gboolean
get_product (Refiner      *self,
             const VnNode *node,
             Product      *product)
{
  product->x = find_owner (self, vn_node_get_input (node, 0));
  product->weight = find_owner (self, vn_node_get_input (node, 1));
  product->bias = find_owner (self, vn_node_get_input (node, 2));
  product->out = find_owner (self, find_result (self, node));
  return product->x != NULL && product->weight != NULL && product->out != NULL;
}

static void
shift_cut (Refiner *self, const VnNode *node)
{
  Product p;
  int x, out, cut;

  if (!get_product (self, node, &p))
    return;
  x = get_position (p.x);
  out = get_position (p.out);
  cut = get_position (p.weight) + x - out;
  set_position (self, p.weight, CLAMP (cut, 0, 16) + out - x, node, "npu-shift-cut", _("sums of products are shifted by 0 to 16"));
}

static gboolean
feeds_leaky_relu (const VnNode *node)
{
  const VnValue *value = vn_node_get_output (node, 0);

  return value->uses->len > 0 && g_str_equal (g_array_index (value->uses, VnUse, 0).node->op_type, "LeakyRelu");
}

static void
shift_bias (Refiner *self, const VnNode *node)
{
  Product p;
  int sum, cut, least;

  if (!get_product (self, node, &p) || p.bias == NULL)
    return;
  sum = get_position (p.weight) + get_position (p.x);
  cut = sum - get_position (p.out);
  least = feeds_leaky_relu (node) ? 0 : MIN (0, -(24 - (8 + cut)));
  set_position (self, p.bias, sum - CLAMP (sum - get_position (p.bias), least, 15), node, "npu-shift-bias",
                _("a bias is shifted as far as its 24 bit register and the shift of the sums allow"));
}

static void
hard_sigmoid (Refiner *self, const VnNode *node)
{
  VnQuantRow *x = find_owner (self, vn_node_get_input (node, 0)), *out = find_owner (self, find_result (self, node));
  int position;

  if (x == NULL || out == NULL)
    return;
  set_position (self, x, CLAMP (get_position (x), 0, 15), node, "npu-hard-sigmoid", _("HardSigmoid reads positions 0 to 15"));
  position = MAX (get_position (out), 7);
  position = 14 + get_position (x) - CLAMP (14 + get_position (x) - position, 0, 31);
  set_position (self, out, position, node, "npu-hard-sigmoid", _("HardSigmoid writes from position 7 on, shifted by 0 to 31"));
}

/* In this order. */
static const struct
{
  const char *type;
  void      (*apply) (Refiner *self, const VnNode *node);
  guint       pass;
} rules[] = {
  { "Concat", align_concat, 0 },
  { "MaxPool", align_pool, 1 }, { "AveragePool", align_pool, 1 }, { "GlobalAveragePool", align_pool, 1 },
  { "GlobalMaxPool", align_pool, 1 },
  { "Pad", align_pad, 2 },
  { "Slice", align_slice, 3 },
  { "Add", shift_read, 4 }, { "Sub", shift_read, 4 },
  { "Add", shift_write_add, 5 }, { "Mul", shift_write_mul, 5 },
  { "Conv", shift_cut, 6 }, { "ConvTranspose", shift_cut, 6 }, { "Gemm", shift_cut, 6 },
  { "Conv", shift_bias, 7 }, { "ConvTranspose", shift_bias, 7 }, { "Gemm", shift_bias, 7 },
  { "HardSigmoid", hard_sigmoid, 8 },
  { "Mul", shift_swish, 9 },
};

#define N_PASSES 10

static void
run_pass (Refiner *self,
          guint    pass)
{
  for (guint i = 0; i < self->resolver->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (self->resolver->nodes, i);

      for (guint k = 0; k < G_N_ELEMENTS (rules); k++)
        if (rules[k].pass == pass && self->resolver->quant_nodes[node->index].selected &&
            g_str_equal (rules[k].type, node->op_type))
          rules[k].apply (self, node);
    }
}

/*< private >
 * vn_quant_refine_positions:
 *
 * When all rows are filled, with scales that are powers of two. Says of every tensor that moves why.
 */
void
vn_quant_refine_positions (VnResolver  *self,
                           VnQuantPlan *plan)
{
  Refiner refiner = { self, plan, TRUE };

  for (guint round = 0; round < MAX_ROUNDS && refiner.moved; round++)
    {
      refiner.moved = FALSE;
      for (guint pass = 0; pass < N_PASSES; pass++)
        run_pass (&refiner, pass);
    }
  if (refiner.moved && self->notes != NULL)
    vn_notes_add (self->notes, VN_NOTE_WARNING, "npu-not-stable", NULL,
                  _("The positions still moved after %d rounds; the processor may refuse some nodes"), MAX_ROUNDS);
}

/* ---- what is one operation ---- */

static double
bound_of (const VnNode *clip,
          const char   *attribute,
          guint         i,
          double        fallback)
{
  const VnValue *value = vn_node_get_input (clip, i);
  VnTensor *tensor = value != NULL ? vn_value_get_constant (value) : NULL;

  if (value == NULL)
    return vn_node_get_float (clip, attribute, (float) fallback);
  return tensor != NULL && tensor->n_elements == 1 ? vn_tensor_get_double (tensor, 0) : fallback;
}

static gboolean
is_fusable (const VnNode *node)
{
  if (g_str_equal (node->op_type, "Clip"))
    return bound_of (node, "min", 1, -1) == 0 && (bound_of (node, "max", 2, -1) == 6 || bound_of (node, "max", 2, -1) == 1);
  return g_str_equal (node->op_type, "Relu") || g_str_equal (node->op_type, "LeakyRelu") || g_str_equal (node->op_type, "PRelu");
}

/*< private >
 * vn_quant_fuse_for_npu:
 *
 * After marking: what stands between a convolution and the activation behind it is not quantized, as the processor computes
 * both in one.
 */
void
vn_quant_fuse_for_npu (VnResolver *self)
{
  static const char * const products[] = { "Conv", "ConvTranspose", "Gemm", NULL };

  for (guint i = 0; i < self->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (self->nodes, i), *next;
      const VnValue *value = vn_node_get_output (node, 0);
      VnQuantMark *mark;

      if (!g_strv_contains (products, node->op_type) || value == NULL || value->uses->len != 1 || value->is_output ||
          g_hash_table_contains (self->captured, value) || !vn_resolver_is_marked (self, value))
        continue;
      next = g_array_index (value->uses, VnUse, 0).node;
      mark = vn_resolver_mark_of (self, value);
      if (mark->provider != NULL || next->graph != self->graph || !is_fusable (next) ||
          !vn_resolver_is_marked (self, vn_node_get_output (next, 0)) ||
          vn_resolver_mark_of (self, vn_node_get_output (next, 0))->provider != NULL)
        continue;
      mark->marked = FALSE;
      mark->fused = TRUE;
    }
}
