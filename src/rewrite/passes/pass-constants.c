/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Constant nodes become initializers: one place to look for weights. */
#include "vn-rewrite-private.h"

static VnTensor *
constants_from_strings (const VnAttr  *attr,
                        GError       **error)
{
  gboolean list = attr->type == VN_ATTR_STRINGS;
  VnShape shape = list ? VN_SHAPE (attr->strings->len) : VN_SHAPE_SCALAR;
  VnTensor *tensor = vn_tensor_new (VN_DTYPE_STRING, &shape, error);

  for (gsize i = 0; tensor != NULL && i < tensor->n_elements; i++)
    {
      GBytes *bytes = list ? g_ptr_array_index (attr->strings, i) : attr->s;
      gsize size;
      const char *data = g_bytes_get_data (bytes, &size);

      g_free (((char **) tensor->data)[i]);
      ((char **) tensor->data)[i] = g_strndup (data != NULL ? data : "", size);
    }
  return tensor;
}

/* Returns NULL without error for an attribute that cannot become a tensor (sparse, or a function's parameter). */
static VnTensor *
constants_constant_tensor (const VnNode  *node,
                           GError       **error)
{
  const VnAttr *attr = node->attrs->len == 1 ? g_ptr_array_index (node->attrs, 0) : NULL;

  if (attr == NULL || attr->ref_name != NULL)
    return NULL;
  switch (attr->type)
    {
    case VN_ATTR_TENSOR:
      return attr->tensor != NULL ? vn_tensor_ref (attr->tensor) : NULL;
    case VN_ATTR_FLOAT:
      return vn_tensor_new_f32 (&VN_SHAPE_SCALAR, &attr->f);
    case VN_ATTR_INT:
      return vn_tensor_new_s64 (&VN_SHAPE_SCALAR, &attr->i);
    case VN_ATTR_FLOATS:
      return vn_tensor_new_copy (VN_DTYPE_F32, &VN_SHAPE (attr->floats->len), attr->floats->data, error);
    case VN_ATTR_INTS:
      return vn_tensor_new_copy (VN_DTYPE_S64, &VN_SHAPE (attr->ints->len), attr->ints->data, error);
    case VN_ATTR_STRING:
    case VN_ATTR_STRINGS:
      return constants_from_strings (attr, error);
    default:
      return NULL;
    }
}

static gboolean
constants_replace_constant (VnPassContext  *ctx,
                            GHashTable     *returned,
                            VnNode         *node,
                            GError        **error)
{
  VnValue *value = vn_node_get_output (node, 0);
  g_autoptr(VnTensor) tensor = NULL;
  g_autofree char *label = NULL;
  GError *local = NULL;

  /* Not every runtime accepts an initializer as an output. */
  if (value == NULL || vn_rewrite_is_kept (returned, value))
    return TRUE;
  tensor = constants_constant_tensor (node, &local);
  if (tensor == NULL)
    {
      if (local != NULL)
        g_propagate_error (error, local);
      return local == NULL;
    }
  label = vn_node_dup_label (node);
  vn_rewrite_need_ir (ctx, 4);
  vn_graph_remove_node (value->graph, node);
  vn_graph_set_initializer (value->graph, value, tensor);
  value->has_info = FALSE;
  vn_edit_log_add (ctx->log, "replace", label, value->name, _("with the initializer %s"), value->name);
  return TRUE;
}

static gboolean
constants_graph (VnPassContext  *ctx,
                 VnGraph        *graph,
                 GError        **error)
{
  g_autoptr(GHashTable) returned = vn_rewrite_returned (ctx->model);
  g_autoptr(GPtrArray) nodes = vn_rewrite_list_nodes (graph);

  for (guint i = 0; i < nodes->len; i++)
    if (vn_node_is (g_ptr_array_index (nodes, i), "Constant") &&
        !constants_replace_constant (ctx, returned, g_ptr_array_index (nodes, i), error))
      return FALSE;
  return TRUE;
}

static gboolean
constants_run (VnPassContext  *ctx,
               GError        **error)
{
  return vn_rewrite_each_graph (ctx, constants_graph, error);
}

const VnPass vn_pass_constants = {
  .id = "constants",
  .title = N_("Constants to initializers"),
  .summary = N_("Turns Constant nodes into initializers."),
  .exact = TRUE,
  .run = constants_run,
};
