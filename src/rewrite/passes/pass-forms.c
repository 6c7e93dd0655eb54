/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Forms of operators that ONNX Runtime does not compute rightly between 8 bit pairs (vn-kernel-forms.def), in another form that
 * computes the same. */
#include "vn-rewrite-private.h"

#include "vn-kernel-form.h"

#define MAX_INTS (2 * VN_MAX_RANK)

typedef gboolean (*FormFunc) (VnPassContext *ctx,
                              VnNode        *node);

/* ---- AveragePool ---- */

static gboolean
forms_are_all (const gint64 *numbers,
               gsize         n,
               gint64        number)
{
  for (gsize i = 0; i < n; i++)
    if (numbers[i] != number)
      return FALSE;
  return TRUE;
}

static gboolean
forms_drop_dilations (VnPassContext *ctx,
                      VnNode        *node)
{
  gsize n;
  const gint64 *dilations = vn_node_get_ints (node, "dilations", &n);

  if (dilations == NULL || !forms_are_all (dilations, n, 1))
    return FALSE;
  vn_node_remove_attr (node, "dilations");
  return TRUE;
}

/* Without pads there is nothing to count; where pads follow from sizes windows end with them. */
static gboolean
forms_drop_counting (VnPassContext *ctx,
                     VnNode        *node)
{
  g_autofree char *rule = vn_node_dup_string (node, "auto_pad", "NOTSET");
  gsize n;
  const gint64 *pads = vn_node_get_ints (node, "pads", &n);

  if (g_str_has_prefix (rule, "SAME"))
    vn_node_remove_attr (node, "ceil_mode");
  else if (pads == NULL || g_str_equal (rule, "VALID") || forms_are_all (pads, n, 0))
    vn_node_remove_attr (node, "count_include_pad");
  else
    return FALSE;
  return TRUE;
}

/* ---- Pad, Resize ---- */

static VnValue *
forms_add_constant (VnNode        *node,
                    const char    *role,
                    VnDType        dtype,
                    const void    *numbers,
                    gsize          n)
{
  g_autoptr(VnTensor) tensor = vn_tensor_new_copy (dtype, &VN_SHAPE ((gint64) n), numbers, NULL);

  return tensor != NULL ? vn_rewrite_add_constant (node, role, tensor) : NULL;
}

/* Which axes of @rank are meant, from 0 on; FALSE: not as many as there are numbers for. */
static gboolean
forms_count_axes (gint64 *axes,
                  gsize   n,
                  int     rank)
{
  for (gsize i = 0; i < n; i++)
    {
      axes[i] += axes[i] < 0 ? rank : 0;
      if (axes[i] < 0 || axes[i] >= rank)
        return FALSE;
    }
  return TRUE;
}

static gboolean
forms_spell_pads (VnPassContext *ctx,
                  VnNode        *node)
{
  const VnShape *shape = vn_rewrite_get_shape (vn_node_get_input (node, 0));
  gint64 axes[MAX_INTS], given[MAX_INTS], pads[MAX_INTS] = { 0 };
  gsize n_axes, n_pads;
  VnValue *constant;

  if (shape == NULL || !vn_rewrite_get_ints (node, NULL, 3, axes, MAX_INTS, &n_axes) ||
      !forms_count_axes (axes, n_axes, shape->rank) ||
      !vn_rewrite_get_ints (node, NULL, 1, given, MAX_INTS, &n_pads) || n_pads != 2 * n_axes)
    return FALSE;
  for (gsize i = 0; i < n_axes; i++)
    {
      pads[axes[i]] = given[i];
      pads[axes[i] + shape->rank] = given[n_axes + i];
    }
  constant = forms_add_constant (node, "pads", VN_DTYPE_S64, pads, 2 * (gsize) shape->rank);
  if (constant == NULL)
    return FALSE;
  vn_node_set_input (node, 1, constant);
  vn_node_set_input (node, 3, NULL);
  g_ptr_array_set_size (node->inputs, vn_node_get_input (node, 2) != NULL ? 3 : 2);
  return TRUE;
}

/* Factors for all axes: 1 where none was given. */
static VnValue *
forms_spell_scales (VnNode        *node,
                    const VnShape *shape,
                    const gint64  *axes,
                    gsize          n)
{
  const VnTensor *given = vn_value_get_constant (vn_node_get_input (node, 2));
  float scales[VN_MAX_RANK];

  if (given == NULL || given->n_elements != n)
    return NULL;
  for (int i = 0; i < shape->rank; i++)
    scales[i] = 1;
  for (gsize i = 0; i < n; i++)
    scales[axes[i]] = (float) vn_tensor_get_double (given, i);
  return forms_add_constant (node, "scales", VN_DTYPE_F32, scales, (gsize) shape->rank);
}

/* Sizes of all axes: that of the input where none was given, which has to be known. */
static VnValue *
forms_spell_all_sizes (VnNode        *node,
                       const VnShape *shape,
                       const gint64  *axes,
                       gsize          n)
{
  gint64 given[MAX_INTS], sizes[VN_MAX_RANK];
  gsize n_given;

  if (!vn_rewrite_get_ints (node, NULL, 3, given, MAX_INTS, &n_given) || n_given != n)
    return NULL;
  for (int i = 0; i < shape->rank; i++)
    sizes[i] = shape->dims[i];
  for (gsize i = 0; i < n; i++)
    sizes[axes[i]] = given[i];
  for (int i = 0; i < shape->rank; i++)
    if (sizes[i] < 0)
      return NULL;
  return forms_add_constant (node, "sizes", VN_DTYPE_S64, sizes, (gsize) shape->rank);
}

/* A policy looks at all axes that have sizes, and a region of interest has numbers for each: these are left alone. */
static gboolean
forms_spell_sizes (VnPassContext *ctx,
                   VnNode        *node)
{
  g_autofree char *policy = vn_node_dup_string (node, "keep_aspect_ratio_policy", "stretch");
  g_autofree char *turn = vn_node_dup_string (node, "coordinate_transformation_mode", "half_pixel");
  const VnShape *shape = vn_rewrite_get_shape (vn_node_get_input (node, 0));
  gboolean has_sizes = vn_node_get_input (node, 3) != NULL;
  gint64 axes[MAX_INTS];
  gsize n;
  VnValue *constant;

  if (shape == NULL || !g_str_equal (policy, "stretch") || g_str_equal (turn, "tf_crop_and_resize") ||
      !vn_rewrite_get_ints (node, "axes", G_MAXUINT, axes, MAX_INTS, &n) || !forms_count_axes (axes, n, shape->rank))
    return FALSE;
  constant = has_sizes ? forms_spell_all_sizes (node, shape, axes, n) : forms_spell_scales (node, shape, axes, n);
  if (constant == NULL)
    return FALSE;
  vn_node_set_input (node, has_sizes ? 3 : 2, constant);
  vn_node_remove_attr (node, "axes");
  return TRUE;
}

static gboolean
forms_nothing (VnPassContext *ctx,
               VnNode        *node)
{
  return FALSE;
}

/* ---- all ---- */

static const struct { const char *id, *op_type, *text; FormFunc rewrite; } remedies[] = {
#define VN_KERNEL_FORM(op_type, id, holds, remedy, moved, text) { id, op_type, text, forms_##remedy },
#include "vn-kernel-forms.def"
#undef VN_KERNEL_FORM
};

static gboolean
forms_graph (VnPassContext  *ctx,
             VnGraph        *graph,
             GError        **error)
{
  g_autoptr(GPtrArray) nodes = vn_rewrite_list_nodes (graph);

  for (guint i = 0; i < nodes->len; i++)
    for (guint k = 0; k < G_N_ELEMENTS (remedies); k++)
      {
        VnNode *node = g_ptr_array_index (nodes, i);
        g_autofree char *label = NULL;

        if (!vn_node_is (node, remedies[k].op_type) || !vn_kernel_has_form (node, remedies[k].id) ||
            !remedies[k].rewrite (ctx, node))
          continue;
        label = vn_node_dup_label (node);
        vn_edit_log_add (ctx->log, "set", label, NULL, _("another form that computes the same, as %s"), _(remedies[k].text));
      }
  return TRUE;
}

static gboolean
forms_has_any (const VnGraph *graph)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    if (vn_kernel_find_form (g_ptr_array_index (graph->nodes, i)) != NULL)
      return TRUE;
  return FALSE;
}

static gboolean
forms_run (VnPassContext  *ctx,
           GError        **error)
{
  if (forms_has_any (ctx->model->graph) && !vn_rewrite_infer (ctx, "kernel-forms", error))
    return FALSE;
  return vn_rewrite_each_graph (ctx, forms_graph, error);
}

const VnPass vn_pass_kernel_forms = {
  .id = "kernel-forms",
  .title = N_("Forms that kernels on integers compute"),
  .summary = N_("Writes Pad, Resize and AveragePool in forms that ONNX Runtime computes correctly between 8-bit Q/DQ pairs."),
  .stage = VN_PASS_REQUEST,
  .exact = TRUE,
  .run = forms_run,
};
