/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Relu and Clip that follow each other: one of them. Both are the interval that their results lie in; what the second
 * does to the ends of the first's is the interval of both. */
#include "vn-rewrite-private.h"

#include <math.h>

typedef struct
{
  double low, high;
} Interval;

static gboolean
clamps_get_bound (const VnNode *node,
                  guint         input,
                  const char   *attr,
                  double        fallback,
                  double       *bound)
{
  if (vn_node_get_input (node, input) != NULL)
    return vn_rewrite_get_number (vn_node_get_input (node, input), bound) && !isnan (*bound);
  *bound = vn_node_get_attr (node, attr) != NULL ? vn_node_get_float (node, attr, 0) : fallback;
  return TRUE;
}

static gboolean
clamps_get_interval (const VnNode *node,
                     Interval     *interval)
{
  if (vn_node_is (node, "Relu"))
    {
      *interval = (Interval) { 0, INFINITY };
      return TRUE;
    }
  return vn_node_is (node, "Clip") && clamps_get_bound (node, 1, "min", -INFINITY, &interval->low) &&
         clamps_get_bound (node, 2, "max", INFINITY, &interval->high) && interval->low <= interval->high;
}

static Interval
clamps_combine (const Interval *first,
                const Interval *second)
{
  return (Interval) { CLAMP (first->low, second->low, second->high), CLAMP (first->high, second->low, second->high) };
}

static void
clamps_set_bound (VnPassContext *ctx,
                  VnNode        *node,
                  guint          input,
                  const char    *name,
                  double         bound)
{
  g_autoptr(VnTensor) tensor = NULL;
  float number = (float) bound;

  if (isinf (bound) && vn_node_get_input (node, input) == NULL && vn_node_get_attr (node, name) == NULL)
    return;
  if (vn_model_get_opset (ctx->model, "") < 11)
    {
      vn_node_set_float (node, name, number);
      return;
    }
  tensor = vn_tensor_new_f32 (&VN_SHAPE_SCALAR, &number);
  if (input == 2 && node->inputs->len < 2)
    vn_node_set_input (node, 1, NULL);
  vn_node_set_input (node, input, isinf (bound) ? NULL : vn_rewrite_add_constant (node, name, tensor));
}

/* @node becomes what @interval says. */
static void
clamps_write_interval (VnPassContext  *ctx,
                       VnNode         *node,
                       const Interval *interval)
{
  if (interval->low == 0 && isinf (interval->high))
    {
      if (vn_node_is (node, "Clip"))
        {
          for (guint i = node->inputs->len; i-- > 1;)
            {
              vn_node_set_input (node, i, NULL);
              g_ptr_array_set_size (node->inputs, (int) i);
            }
          vn_node_remove_attr (node, "min");
          vn_node_remove_attr (node, "max");
        }
      vn_rewrite_set_op_type (node, "Relu");
      return;
    }
  vn_rewrite_set_op_type (node, "Clip");
  clamps_set_bound (ctx, node, 1, "min", interval->low);
  clamps_set_bound (ctx, node, 2, "max", interval->high);
}

static gboolean
clamps_same_interval (const Interval *a,
                      const Interval *b)
{
  return a->low == b->low && a->high == b->high;
}

/* The second one goes, the first keeps its place. */
static gboolean
clamps_merge (VnPassContext *ctx,
              GHashTable    *returned,
              VnNode        *second)
{
  VnValue *between = vn_node_get_input (second, 0);
  VnNode *first = between != NULL && between->graph == second->graph ? between->producer : NULL;
  g_autofree char *label = NULL, *first_name = NULL, *second_name = NULL;
  Interval a, b, both;

  if (first == NULL || vn_node_get_output (second, 0) == NULL || !clamps_get_interval (first, &a) ||
      !clamps_get_interval (second, &b) ||
      vn_rewrite_get_dtype (between) != VN_DTYPE_F32)
    return FALSE;
  both = clamps_combine (&a, &b);
  if (clamps_same_interval (&a, &both))
    return vn_rewrite_remove_identity (ctx, returned, second, 0);
  first_name = g_strdup (between->name);
  second_name = g_strdup (vn_node_get_output (second, 0)->name);
  if (between->uses->len > 1 || vn_rewrite_is_kept (returned, between) ||
      !vn_rewrite_remove_identity (ctx, returned, second, 0))
    return FALSE;
  if (g_str_equal (vn_node_get_output (first, 0)->name, first_name))   /* what has that name now is what the second gave */
    {
      vn_edit_log_note_other (ctx->log, first_name);
      vn_edit_log_note_same (ctx->log, second_name, first_name);
    }
  label = vn_node_dup_label (first);
  vn_edit_log_add (ctx->log, "set", label, NULL, _("the outputs lie between %g and %g"), both.low, both.high);
  clamps_write_interval (ctx, first, &both);
  return TRUE;
}

static gboolean
clamps_graph (VnPassContext  *ctx,
              VnGraph        *graph,
              GError        **error)
{
  g_autoptr(GHashTable) returned = vn_rewrite_returned (ctx->model);
  g_autoptr(GPtrArray) nodes = vn_rewrite_list_nodes (graph);

  for (guint i = 0; i < nodes->len; i++)
    clamps_merge (ctx, returned, g_ptr_array_index (nodes, i));
  return TRUE;
}

static gboolean
clamps_run (VnPassContext  *ctx,
            GError        **error)
{
  return vn_rewrite_infer (ctx, "clamps", error) &&
         vn_rewrite_each_graph (ctx, clamps_graph, error);
}

const VnPass vn_pass_clamps = {
  .id = "clamps",
  .title = N_("Merge Relu and Clip"),
  .summary = N_("Merges consecutive Relu and Clip nodes."),
  .stage = VN_PASS_OPTIMIZE,
  .exact = TRUE,
  .repeats = TRUE,
  .run = clamps_run,
};
