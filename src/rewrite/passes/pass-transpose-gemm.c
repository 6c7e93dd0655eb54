/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gemm with a constant matrix: its rows become those of output channels, as fully connected layers have them. */
#include "vn-rewrite-private.h"

#define N_AXES 2

static VnTensor *
transpose_gemm_make (const VnValue  *matrix,
                     GError        **error)
{
  g_autoptr(VnTensor) data = vn_rewrite_constant_f32 (matrix, error);
  VnTensor *turned = NULL;
  gsize rows, columns;

  if (data == NULL)
    return NULL;
  rows = (gsize) data->shape.dims[0];
  columns = (gsize) data->shape.dims[1];
  turned = vn_tensor_new (VN_DTYPE_F32, &VN_SHAPE ((gint64) columns, (gint64) rows), error);
  for (gsize i = 0; turned != NULL && i < rows; i++)
    for (gsize k = 0; k < columns; k++)
      ((float *) turned->data)[k * rows + i] = ((const float *) data->data)[i * columns + k];
  return turned;
}

static gboolean
transpose_gemm_graph (VnPassContext  *ctx,
                      VnGraph        *graph,
                      GError        **error)
{
  g_autoptr(GHashTable) returned = vn_rewrite_returned (ctx->model);
  g_autoptr(GPtrArray) nodes = vn_rewrite_list_nodes (graph);

  for (guint i = 0; i < nodes->len; i++)
    {
      VnNode *node = g_ptr_array_index (nodes, i);
      VnValue *matrix = vn_node_is (node, "Gemm") ? vn_node_get_input (node, 1) : NULL;
      g_autoptr(VnTensor) turned = NULL;
      g_autofree char *label = NULL;

      if (matrix == NULL || matrix->initializer == NULL || matrix->initializer->dtype != VN_DTYPE_F32 ||
          matrix->initializer->shape.rank != N_AXES || vn_node_get_int (node, "transB", 0) != 0)
        continue;
      turned = transpose_gemm_make (matrix, error);
      if (turned == NULL)
        return FALSE;
      label = vn_node_dup_label (node);
      vn_node_set_input (node, 1, vn_rewrite_add_constant (node, "transposed", turned));
      vn_node_set_int (node, "transB", 1);
      vn_edit_log_add (ctx->log, "set", label, NULL, _("reads its matrix transposed"));
      vn_rewrite_drop_unused (returned, matrix);
    }
  return TRUE;
}

static gboolean
transpose_gemm_run (VnPassContext  *ctx,
                    GError        **error)
{
  return vn_model_get_opset (ctx->model, "") < 7 || vn_rewrite_each_graph (ctx, transpose_gemm_graph, error);
}

const VnPass vn_pass_transpose_gemm = {
  .id = "transpose-gemm",
  .title = N_("Transposed matrices of Gemm"),
  .summary = N_("Stores constant matrices of Gemm by output channels, with transB, as fully connected layers have them."),
  .stage = VN_PASS_REQUEST,
  .exact = TRUE,
  .run = transpose_gemm_run,
};
