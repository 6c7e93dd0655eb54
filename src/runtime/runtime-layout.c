/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The layouts in which ONNX Runtime runs convolutions on x86: float ones with constant weights in blocks of 16 channels, those on
 * integers with channels last; and the changes of layout between them and other operators. */
#include "vn-runtime-private.h"

#include <string.h>

#define NCHWC "com.microsoft.nchwc"
#define BLOCK 16   /* of channels, on processors with AVX-512; 8 on others */
#define ALIGN 4

typedef enum { ROLE_NONE, ROLE_FOLLOWS, ROLE_LEADS, ROLE_TURNS } Role;

/**
 * Layout:
 * @get_role: of a node: whether it makes results in this layout whatever it reads (LEADS), where its inputs have it
 *   (FOLLOWS), or is a Transpose that the change of layout melts into (TURNS)
 * @reads: whether a leading node wants its first input in this layout
 * @all: a node follows only if all its inputs that are no constants have the layout; else if most of them have
 */
typedef struct
{
  const char *to, *from;   /* operators that change it, of @domain */
  const char *domain;
  gboolean    all;
  Role      (*get_role) (const VnRuntimeGraph *self,
                         const VnNode         *node);
  gboolean  (*reads)    (const VnNode         *node);
} Layout;

static gboolean
layout_is_picture (const VnValue *value)
{
  const VnShape *shape = vn_runtime_get_shape (value);

  return shape != NULL && shape->rank == 4;
}

static gboolean
layout_is_one_of (const VnNode       *node,
                  const char * const *types)
{
  return g_strv_contains (types, node->op_type);
}

/* ---- blocks of channels ---- */

static gboolean
layout_is_float (const VnNode *node)
{
  return vn_runtime_get_dtype (vn_node_get_input (node, 0)) == VN_DTYPE_F32;
}

static gboolean
layout_takes_blocks (const VnRuntimeGraph *self,
                     const VnNode         *node)
{
  const VnValue *weight = vn_node_get_input (node, 1), *bias = vn_node_get_input (node, 2);
  const VnShape *shape = vn_runtime_get_shape (weight);
  gint64 group = vn_node_get_int (node, "group", 1), out, in;

  if (!(vn_node_is (node, "Conv") || (g_str_equal (node->op_type, "FusedConv") && g_str_equal (node->domain, "com.microsoft"))) ||
      !layout_is_float (node) || !vn_runtime_is_constant (self, weight) ||
      (bias != NULL && !vn_runtime_is_constant (self, bias)) ||
      shape == NULL || shape->rank != 4)
    return FALSE;
  out = shape->dims[0];
  in = shape->dims[1];
  if (group == 1)
    return in < BLOCK || in % ALIGN == 0;
  if (in == 1 && out == group)
    return out % ALIGN == 0;
  return in % BLOCK == 0 && out % group == 0 && (out / group) % BLOCK == 0;
}

/* In blocks nothing is repeated for others. */
static gboolean
layout_joins_alike (const VnNode *node)
{
  const VnShape *shape = vn_runtime_get_shape (vn_node_get_output (node, 0));

  for (guint i = 0; i < node->inputs->len; i++)
    {
      const VnShape *other = vn_runtime_get_shape (vn_node_get_input (node, i));

      if (shape == NULL || other == NULL || !vn_shape_equal (shape, other))
        return FALSE;
    }
  return TRUE;
}

static const char * const block_pools[] = { "MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool", NULL };

static Role
layout_get_blocks_role (const VnRuntimeGraph *self,
                        const VnNode         *node)
{
  static const char * const followers[] = { "Add", "Sum", "Mul", "Concat", "Relu", "Sigmoid", "Tanh", "BatchNormalization",
                                            "Resize", NULL };
  static const char * const sums[] = { "Add", "Sum", "Mul", NULL };
  const VnShape *shape = vn_runtime_get_shape (vn_node_get_input (node, 0));

  if (g_str_equal (node->domain, NCHWC))
    return ROLE_LEADS;
  if (!layout_is_float (node) || shape == NULL || shape->rank != 4)
    return ROLE_NONE;
  if (g_str_equal (node->op_type, "QuickGelu"))
    return ROLE_FOLLOWS;
  if (!g_str_equal (node->domain, ""))
    return ROLE_NONE;
  if (layout_is_one_of (node, block_pools))
    return shape->dims[1] % BLOCK == 0 ? ROLE_LEADS : ROLE_FOLLOWS;
  if (layout_is_one_of (node, sums) && !layout_joins_alike (node))
    return ROLE_NONE;
  return layout_is_one_of (node, followers) ? ROLE_FOLLOWS : ROLE_NONE;
}

/* The first convolution of a network reads its few channels as they are. */
static gboolean
layout_reads_blocks (const VnNode *node)
{
  const VnShape *weight = vn_runtime_get_shape (vn_node_get_input (node, 1));

  return weight == NULL || weight->rank < 4 || vn_node_get_int (node, "group", 1) > 1 || weight->dims[1] >= BLOCK;
}

static const Layout blocks = { "ReorderInput", "ReorderOutput", NCHWC, TRUE, layout_get_blocks_role, layout_reads_blocks };

/* ---- channels last ---- */

static gboolean
layout_is_integer_conv (const VnNode *node)
{
  return g_str_equal (node->op_type, "QLinearConv") && layout_is_picture (vn_node_get_output (node, 0));
}

/* The beginning of a channel shuffle right behind a convolution, whose Transpose does the change of layout, too. */
static gboolean
layout_splits_channels (const VnNode *node)
{
  const VnShape *shape = vn_runtime_get_shape (vn_node_get_output (node, 0));
  const VnNode *next = vn_node_is (node, "Reshape") ? vn_runtime_only_reader (vn_node_get_output (node, 0), NULL) : NULL;

  return next != NULL && vn_node_is (next, "Transpose") && shape != NULL && shape->rank == 5 &&
         vn_runtime_get_producer (node, 0) != NULL && layout_is_integer_conv (vn_runtime_get_producer (node, 0));
}

static Role
layout_get_last_role (const VnRuntimeGraph *self,
                      const VnNode         *node)
{
  static const char * const followers[] = {
    "QLinearAdd", "QLinearMul", "QLinearSigmoid", "QLinearLeakyRelu", "QLinearConcat", "QLinearAveragePool",
    "QLinearGlobalAveragePool",
    "QuantizeLinear", "DequantizeLinear", "Add", "Sub", "Mul", "Div", "Pow", "Max", "Min", "PRelu", "Relu", "Clip", "Sigmoid",
    "Tanh",
    "HardSigmoid", "HardSwish", "LeakyRelu", "Elu", "Exp", "Sqrt", "Erf", "Pad", "Slice", "Split", "Concat", "ReduceMean",
    "QuickGelu", NULL };

  if (layout_is_integer_conv (node))
    return ROLE_LEADS;
  if (vn_node_is (node, "Transpose") || layout_splits_channels (node))
    return ROLE_TURNS;
  if (!layout_is_picture (vn_node_get_output (node, 0)))
    return ROLE_NONE;
  if (vn_node_is (node, "MaxPool") || vn_node_is (node, "Resize"))
    return layout_is_float (node) ? ROLE_NONE : ROLE_FOLLOWS;
  return layout_is_one_of (node, followers) ? ROLE_FOLLOWS : ROLE_NONE;
}

static gboolean
layout_reads_last (const VnNode *node)
{
  return TRUE;
}

static const Layout last = { "Transpose", "Transpose", "", FALSE, layout_get_last_role, layout_reads_last };

/* ---- spreading a layout ---- */

static void
layout_add_change (VnRuntimeGraph *self,
                   const Layout   *layout,
                   const char     *op_type,
                   VnValue        *value)
{
  VnValue *to = vn_graph_add_value (self->graph, value->name, vn_runtime_get_dtype (value), vn_runtime_get_shape (value));

  vn_graph_add_node (self->graph, NULL, layout->domain, op_type, &value, 1, &to, 1);
}

static gboolean
layout_has_perm (const VnNode *node,
                 const gint64 *perm)
{
  gsize n;
  const gint64 *found = vn_node_get_ints (node, "perm", &n);

  return n == 4 && memcmp (found, perm, 4 * sizeof (gint64)) == 0;
}

/* Whether what @node makes is in the layout, given that of what it reads. */
static gboolean
layout_spreads_to (const VnRuntimeGraph *self,
                   const Layout         *layout,
                   GHashTable           *values,
                   const VnNode         *node)
{
  guint some = 0, others = 0;

  for (guint i = 0; i < node->inputs->len; i++)
    {
      const VnValue *value = vn_node_get_input (node, i);
      gboolean has = value != NULL && g_hash_table_contains (values, value);

      some += has;
      others += !has && value != NULL && !vn_runtime_is_constant (self, value);
    }
  return layout->all ? some > 0 && others == 0 : some > others;
}

/* A Transpose from channels last, in front of what wants them there, has nothing to do; nor has one to channels last behind
 * it. */
static gboolean
layout_melt (VnRuntimeGraph *self,
             const Layout   *layout,
             GHashTable     *values,
             VnNode         *node)
{
  static const gint64 from_last[] = { 0, 3, 1, 2 }, to_last[] = { 0, 2, 3, 1 };
  const VnValue *made = vn_node_get_output (node, 0);

  if (g_hash_table_contains (values, vn_node_get_input (node, 0)))
    {
      if (layout_has_perm (node, to_last) && vn_runtime_bypass (self, node))
        return TRUE;
      g_hash_table_add (self->last, vn_node_is (node, "Transpose") ? node : vn_runtime_only_reader (made, NULL));
      return FALSE;
    }
  if (!vn_node_is (node, "Transpose"))
    return FALSE;
  if (!layout_has_perm (node, from_last) || made->uses->len == 0 || made->is_output)
    return FALSE;
  for (guint i = 0; i < made->uses->len; i++)
    if (layout->get_role (self, g_array_index (made->uses, VnUse, i).node) != ROLE_LEADS)
      return FALSE;
  g_hash_table_add (values, vn_node_get_input (node, 0));
  return vn_runtime_bypass (self, node);
}

static void
layout_enter (VnRuntimeGraph *self,
              const Layout   *layout,
              GHashTable     *values,
              GHashTable     *changed,
              const VnNode   *node)
{
  VnValue *value = vn_node_get_input (node, 0);

  if (layout->reads (node) && !g_hash_table_contains (values, value) && !vn_runtime_is_constant (self, value) &&
      g_hash_table_add (changed, value))
    layout_add_change (self, layout, layout->to, value);
}

/* Changes back where a node reads @value that knows nothing of the layout. */
static void
layout_leave (VnRuntimeGraph *self,
              const Layout   *layout,
              GHashTable     *values,
              VnValue        *value)
{
  gboolean needed = value->is_output;

  for (guint i = 0; i < value->uses->len && !needed; i++)
    {
      const VnNode *node = g_array_index (value->uses, VnUse, i).node;
      Role role = layout->get_role (self, node);

      needed = role == ROLE_NONE || (role == ROLE_FOLLOWS && !g_hash_table_contains (values, vn_node_get_output (node, 0)));
    }
  if (needed)
    layout_add_change (self, layout, layout->from, value);
}

static void
layout_choose_kernel (VnRuntimeGraph *self,
                      const Layout   *layout,
                      VnNode         *node)
{
  if (layout == &last)
    g_hash_table_add (self->last, node);
  if (vn_node_is (node, "MaxPool") && layout == &last)
    vn_runtime_set_kernel (node, "com.microsoft", "NhwcMaxPool");
  else if (layout == &blocks && g_str_equal (node->domain, "") && layout_is_one_of (node, block_pools))
    {
      g_autofree char *kernel = g_strdup (node->op_type);

      vn_runtime_set_kernel (node, NCHWC, kernel);
    }
  else if (layout == &blocks && vn_node_is (node, "Resize"))
    vn_runtime_set_kernel (node, NCHWC, "Upsample");
}

static void
layout_spread (VnRuntimeGraph *self,
               const Layout   *layout,
               GPtrArray      *nodes)
{
  g_autoptr(GHashTable) values = g_hash_table_new (NULL, NULL), changed = g_hash_table_new (NULL, NULL);
  guint n_values;

  for (guint i = 0; i < nodes->len; i++)
    {
      VnNode *node = g_ptr_array_index (nodes, i);
      Role role = layout->get_role (self, node);

      if (role == ROLE_LEADS)
        layout_enter (self, layout, values, changed, node);
      if (role == ROLE_TURNS && layout_melt (self, layout, values, node))
        continue;
      if (role != ROLE_LEADS && !(role == ROLE_FOLLOWS && layout_spreads_to (self, layout, values, node)))
        continue;
      layout_choose_kernel (self, layout, node);
      for (guint o = 0; o < node->outputs->len; o++)
        if (vn_node_get_output (node, o) != NULL)
          g_hash_table_add (values, vn_node_get_output (node, o));
    }
  /* In the order of the graph: sums over its nodes are the same in each run of the program. */
  n_values = self->graph->values->len;
  for (guint i = 0; i < n_values; i++)
    if (g_hash_table_contains (values, g_ptr_array_index (self->graph->values, i)))
      layout_leave (self, layout, values, g_ptr_array_index (self->graph->values, i));
}

gboolean
vn_runtime_lay_out (VnRuntimeGraph  *self,
                    GError         **error)
{
  g_autoptr(GPtrArray) nodes = vn_runtime_list_nodes (self, error);

  for (guint i = 0; nodes != NULL && i < nodes->len; i++)
    {
      VnNode *node = g_ptr_array_index (nodes, i);

      if (layout_takes_blocks (self, node))
        vn_runtime_set_kernel (node, NCHWC, "Conv");
      else if (layout_is_integer_conv (node))
        vn_runtime_set_kernel (node, "com.microsoft", "QLinearConv");
    }
  if (nodes == NULL)
    return FALSE;
  layout_spread (self, &last, nodes);
  for (guint i = nodes->len; i-- > 0; )
    if (g_str_equal (((const VnNode *) g_ptr_array_index (nodes, i))->op_type, ""))
      g_ptr_array_remove_index (nodes, i);
  layout_spread (self, &blocks, nodes);
  return TRUE;
}
