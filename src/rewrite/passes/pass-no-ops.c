/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nodes whose result is their first input, whatever it holds, because of their attributes or of its shape. */
#include "vn-rewrite-private.h"

#include <string.h>

#define MAX_INTS (2 * VN_MAX_RANK)

static gboolean
no_ops_all_are (const gint64 *values,
                gsize         n,
                gint64        wanted)
{
  for (gsize i = 0; i < n; i++)
    if (values[i] != wanted)
      return FALSE;
  return TRUE;
}

static gboolean
no_ops_same_shape (const VnNode *node)
{
  return vn_rewrite_same_static_shape (vn_node_get_input (node, 0), vn_node_get_output (node, 0));
}

/* The number of elements stays: one size may be open if all others are the same and not 0. */
static gboolean
no_ops_is_idle_reshape (const VnNode *node)
{
  const VnShape *from = vn_rewrite_get_shape (vn_node_get_input (node, 0));
  const VnShape *to = vn_rewrite_get_shape (vn_node_get_output (node, 0));
  guint n_open = 0;

  if (from == NULL || to == NULL || from->rank != to->rank)
    return FALSE;
  for (int i = 0; i < from->rank; i++)
    {
      if (from->dims[i] != to->dims[i])
        return FALSE;
      n_open += from->dims[i] < 0;
    }
  if (n_open == 0)
    return TRUE;
  for (int i = 0; i < from->rank; i++)
    if (from->dims[i] == 0)
      return FALSE;
  return n_open == 1;
}

static gboolean
no_ops_is_idle_transpose (const VnNode *node)
{
  gsize n;
  const gint64 *perm = vn_node_get_ints (node, "perm", &n);
  const VnShape *shape = vn_rewrite_get_shape (vn_node_get_input (node, 0));

  if (perm == NULL)
    return shape != NULL && shape->rank <= 1;
  for (gsize i = 0; i < n; i++)
    if (perm[i] != (gint64) i)
      return FALSE;
  return TRUE;
}

static gboolean
no_ops_is_idle_slice (const VnNode *node)
{
  gint64 steps[MAX_INTS];
  gsize n;

  return no_ops_same_shape (node) && vn_rewrite_get_ints (node, NULL, 4, steps, MAX_INTS, &n) && no_ops_all_are (steps, n, 1);
}

static gboolean
no_ops_is_idle_pad (const VnNode *node)
{
  gint64 pads[MAX_INTS];
  gsize n;

  return vn_rewrite_get_ints (node, "pads", 1, pads, MAX_INTS, &n) && n > 0 && no_ops_all_are (pads, n, 0);
}

/* At a scale of 1 every rule of coordinates but these two means each element itself. */
static gboolean
no_ops_is_idle_resize (const VnNode *node)
{
  g_autofree char *mode = vn_node_dup_string (node, "mode", "nearest");
  g_autofree char *rule = vn_node_dup_string (node, "coordinate_transformation_mode", "half_pixel");
  VnValue *scales = vn_node_get_input (node, vn_node_is (node, "Resize") && node->inputs->len > 2 ? 2 : 1);
  VnTensor *tensor = scales != NULL ? vn_value_get_constant (scales) : NULL;

  if (!no_ops_same_shape (node) || g_str_equal (mode, "cubic") || g_str_equal (rule, "tf_crop_and_resize") ||
      g_str_equal (rule, "tf_half_pixel_for_nn"))
    return FALSE;
  return scales == NULL || (tensor != NULL && tensor->n_elements == 0) || vn_rewrite_is_filled_with (scales, 1);
}

static gboolean
no_ops_has_one_input (const VnNode *node)
{
  return node->inputs->len == 1;
}

static gboolean
no_ops_has_one_output (const VnNode *node)
{
  return node->outputs->len == 1 && no_ops_same_shape (node);
}

static gboolean
no_ops_has_no_bounds (const VnNode *node)
{
  return node->attrs->len == 0 && vn_node_get_input (node, 1) == NULL && vn_node_get_input (node, 2) == NULL &&
         vn_model_get_opset (node->graph->model, "") >= 11;
}

static gboolean
no_ops_is_pool_of_one (const VnNode *node)
{
  gsize n_kernel, n_strides, n_pads;
  const gint64 *kernel = vn_node_get_ints (node, "kernel_shape", &n_kernel);
  const gint64 *strides = vn_node_get_ints (node, "strides", &n_strides);
  const gint64 *pads = vn_node_get_ints (node, "pads", &n_pads);

  return kernel != NULL && no_ops_all_are (kernel, n_kernel, 1) && (strides == NULL || no_ops_all_are (strides, n_strides, 1)) &&
         (pads == NULL || no_ops_all_are (pads, n_pads, 0)) && no_ops_same_shape (node);
}

static gboolean
no_ops_second_is_zero (const VnNode *node)
{
  return vn_rewrite_is_filled_with (vn_node_get_input (node, 1), 0) && no_ops_same_shape (node);
}

static gboolean
no_ops_second_is_one (const VnNode *node)
{
  return vn_rewrite_is_filled_with (vn_node_get_input (node, 1), 1) && no_ops_same_shape (node);
}

static const struct {
  const char *op_type;
  gboolean  (*is_idle) (const VnNode *node);
} rules[] = {
  { "Add",         no_ops_second_is_zero    },
  { "AveragePool", no_ops_is_pool_of_one    },
  { "Clip",        no_ops_has_no_bounds     },
  { "Concat",      no_ops_has_one_input     },
  { "Div",         no_ops_second_is_one     },
  { "Expand",      no_ops_same_shape        },
  { "Flatten",     no_ops_is_idle_reshape   },
  { "Max",         no_ops_has_one_input     },
  { "MaxPool",     no_ops_is_pool_of_one    },
  { "Mean",        no_ops_has_one_input     },
  { "Min",         no_ops_has_one_input     },
  { "Mul",         no_ops_second_is_one     },
  { "Pad",         no_ops_is_idle_pad       },
  { "Pow",         no_ops_second_is_one     },
  { "ReduceMax",   no_ops_same_shape        },
  { "ReduceMean",  no_ops_same_shape        },
  { "ReduceMin",   no_ops_same_shape        },
  { "ReduceProd",  no_ops_same_shape        },
  { "ReduceSum",   no_ops_same_shape        },
  { "Reshape",     no_ops_is_idle_reshape   },
  { "Resize",      no_ops_is_idle_resize    },
  { "Slice",       no_ops_is_idle_slice     },
  { "Split",       no_ops_has_one_output    },
  { "Squeeze",     no_ops_is_idle_reshape   },
  { "Sub",         no_ops_second_is_zero    },
  { "Sum",         no_ops_has_one_input     },
  { "Tile",        no_ops_same_shape        },
  { "Transpose",   no_ops_is_idle_transpose },
  { "Unsqueeze",   no_ops_is_idle_reshape   },
  { "Upsample",    no_ops_is_idle_resize    },
};

/* Adding and multiplying go by either side. */
static guint
no_ops_find_idle_input (const VnNode *node)
{
  gboolean sum = vn_node_is (node, "Add"), product = vn_node_is (node, "Mul");

  if ((sum || product) && vn_rewrite_is_filled_with (vn_node_get_input (node, 0), product) &&
      vn_rewrite_same_static_shape (vn_node_get_input (node, 1), vn_node_get_output (node, 0)))
    return 1;
  for (guint i = 0; i < G_N_ELEMENTS (rules); i++)
    if (vn_node_is (node, rules[i].op_type))
      return rules[i].is_idle (node) ? 0 : G_MAXUINT;
  return G_MAXUINT;
}

static gboolean
no_ops_graph (VnPassContext  *ctx,
              VnGraph        *graph,
              GError        **error)
{
  g_autoptr(GHashTable) returned = vn_rewrite_returned (ctx->model);
  g_autoptr(GPtrArray) nodes = vn_rewrite_list_nodes (graph);

  for (guint i = 0; i < nodes->len; i++)
    {
      VnNode *node = g_ptr_array_index (nodes, i);
      guint input;

      if (vn_node_get_input (node, 0) == NULL || vn_node_get_output (node, 0) == NULL)
        continue;
      input = no_ops_find_idle_input (node);
      if (input != G_MAXUINT && vn_node_get_input (node, input) != NULL)
        vn_rewrite_remove_identity (ctx, returned, node, input);
    }
  return TRUE;
}

static gboolean
no_ops_run (VnPassContext  *ctx,
            GError        **error)
{
  return vn_rewrite_infer (ctx, "no-ops", error) &&
         vn_rewrite_each_graph (ctx, no_ops_graph, error);
}

const VnPass vn_pass_no_ops = {
  .id = "no-ops",
  .title = N_("Remove no-op nodes"),
  .summary = N_("Removes reshape, pad, slice, resize and arithmetic nodes whose output equals their input."),
  .stage = VN_PASS_OPTIMIZE,
  .exact = FALSE,
  .repeats = TRUE,
  .run = no_ops_run,
};
