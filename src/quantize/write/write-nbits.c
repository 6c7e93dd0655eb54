/* SPDX-License-Identifier: GPL-3.0-or-later */

/* MatMulNBits of ONNX Runtime in place of MatMul and Gemm: weights N rows of blocks of K numbers, low bits first; scales
 * N x blocks; zero points, unless all are the middle, packed row by row. A bias is added behind it. Names are those
 * onnxruntime.quantization gives.
 *
 * GatherBlockQuantized in place of Gather: a table in rows of bytes, scales and zero points like these. Where it is the matrix of
 * a product, too, that one's weights are reshaped to rows. */

#include "vn-quant-write.h"

#include "vn-error.h"
#include "vn-graph-edit.h"
#include "vn-i18n.h"
#include "vn-parallel.h"
#include "vn-progress.h"

#include <string.h>

typedef struct
{
  VnValue *packed, *scales, *zero_points;   /* zero_points: NULL if in the middle */
} Stored;

/* What is written as MatMulNBits. */
typedef struct
{
  VnNode *node;
  gint64  level;
} Product;

static VnValue *
write_nbits_store (VnGraph    *graph,
                   const char *base,
                   const char *suffix,
                   VnTensor   *tensor)
{
  g_autofree char *name = g_strconcat (base, suffix, NULL);

  return vn_graph_add_initializer (graph, name, tensor);
}

static Stored *
write_nbits_store_weight (VnGraph           *graph,
                          const VnQuantRow  *row,
                          VnValue           *weight,
                          gboolean           table,
                          GError           **error)
{
  g_autofree char *suffix = g_strdup_printf ("_Q%u", vn_dtype_get_bits (row->tensor.dtype));
  g_autoptr(VnTensor) packed = NULL, scales = NULL, zero_points = NULL;
  Stored *stored;

  if (!vn_quant_pack_blocks (row, weight->initializer, table, &packed, &scales, &zero_points, error))
    return NULL;
  stored = g_new0 (Stored, 1);
  stored->packed = write_nbits_store (graph, weight->name, suffix, packed);
  stored->scales = write_nbits_store (graph, weight->name, "_scales", scales);
  if (row->has_zero_points)
    stored->zero_points = write_nbits_store (graph, weight->name, "_zero_points", zero_points);
  return stored;
}

static void
write_nbits_replace_node (VnGraph          *graph,
                          const Product    *from,
                          const VnQuantRow *row,
                          const Stored     *stored)
{
  VnNode *node = from->node;
  VnValue *weight = vn_node_get_input (node, 1), *bias = vn_node_is (node, "Gemm") ? vn_node_get_input (node, 2) : NULL;
  VnValue *output = vn_node_get_output (node, 0), *product = output;
  VnValue *inputs[] = { vn_node_get_input (node, 0), stored->packed, stored->scales, stored->zero_points };
  const VnBlockLayout layout = vn_quant_get_block_layout (row, weight->initializer, FALSE);
  g_autofree char *base = g_strconcat (output->name, "_product", NULL), *name = NULL;
  VnNode *before = vn_node_get_next (node);
  VnNode *by;

  if (node->name != NULL && *node->name != '\0')
    name = g_strdup_printf ("%s_Q%u", node->name, layout.bits);
  if (bias != NULL)
    product = vn_graph_add_value (graph, base, VN_DTYPE_F32, &output->type.shape);

  vn_graph_remove_node (graph, node);
  by = vn_graph_insert_node (graph, before, name, VN_MICROSOFT_DOMAIN, "MatMulNBits", inputs,
                             stored->zero_points != NULL ? 4 : 3, &product, 1);
  vn_node_set_int (by, "K", (gint64) layout.k);
  vn_node_set_int (by, "N", (gint64) layout.n);
  vn_node_set_int (by, "bits", layout.bits);
  vn_node_set_int (by, "block_size", (gint64) layout.block);
  if (from->level != 0)
    vn_node_set_int (by, "accuracy_level", from->level);
  if (bias != NULL)
    vn_graph_insert_node (graph, before, NULL, "", "Add", (VnValue *[]) { product, bias }, 2, &output, 1);
}

/* ---- tables ---- */

/* @shared: (nullable): what is stored for a product, which holds the rows of @table */
static void
write_nbits_replace_gather (VnGraph          *graph,
                            VnNode           *node,
                            const VnQuantRow *row,
                            const Stored     *stored,
                            gboolean          shared)
{
  const VnValue *table = vn_node_get_input (node, 0);
  const VnBlockLayout layout = vn_quant_get_block_layout (row, table->initializer, TRUE);
  VnNode *before = vn_node_get_next (node), *by;
  VnValue *output = vn_node_get_output (node, 0);
  VnValue *inputs[] = { stored->packed, vn_node_get_input (node, 1), stored->scales, stored->zero_points };
  g_autofree char *name = node->name != NULL && *node->name != '\0' ? g_strdup_printf ("%s_Q%u", node->name, layout.bits) : NULL;

  vn_graph_remove_node (graph, node);
  if (shared)
    {
      const gint64 sizes[] = { (gint64) layout.n, (gint64) layout.row_bytes };
      g_autofree char *rows = g_strconcat (stored->packed->name, "_rows", NULL), *shape = g_strconcat (rows, "_shape", NULL);
      g_autoptr(VnTensor) tensor = vn_tensor_new_s64 (&VN_SHAPE (2), sizes);

      inputs[0] = vn_graph_add_value (graph, rows, VN_DTYPE_U8, &VN_SHAPE (sizes[0], sizes[1]));
      vn_graph_insert_node (graph, before, NULL, "", "Reshape",
                            (VnValue *[]) { stored->packed, vn_graph_add_initializer (graph, shape, tensor) }, 2, &inputs[0], 1);
    }
  by = vn_graph_insert_node (graph, before, name, VN_MICROSOFT_DOMAIN, "GatherBlockQuantized", inputs,
                             stored->zero_points != NULL ? 4 : 3, &output, 1);
  vn_node_set_int (by, "bits", layout.bits);
  vn_node_set_int (by, "block_size", (gint64) layout.block);
  vn_node_set_int (by, "gather_axis", 0);
  vn_node_set_int (by, "quantize_axis", 1);
}

/* What is stored for a product that has the rows of @table, too. */
static Stored *
write_nbits_find_shared (VnGraph          *graph,
                         GHashTable       *weights,
                         const VnQuantRow *row,
                         const VnValue    *table)
{
  const VnValue *matrix = row->tied != NULL ? vn_graph_find_value (graph, row->tied) : NULL;
  Stored *stored = g_hash_table_lookup (weights, table);

  if (table->initializer->shape.dims[1] % row->block != 0)
    return NULL;
  return stored != NULL || matrix == NULL ? stored : g_hash_table_lookup (weights, matrix);
}

/* @weights: what is stored for products. @tables: the same for tables, which gets more */
static gboolean
write_nbits_replace_tables (VnGraph      *graph,
                            VnQuantPlan  *plan,
                            GPtrArray    *gathers,
                            GHashTable   *weights,
                            GHashTable   *tables,
                            GError      **error)
{
  for (guint i = 0; i < gathers->len; i++)
    {
      VnNode *node = g_ptr_array_index (gathers, i);
      VnValue *table = vn_node_get_input (node, 0);
      const VnQuantRow *row = vn_quant_plan_find_row (plan, table->name);
      const Stored *shared = write_nbits_find_shared (graph, weights, row, table);
      Stored *own = shared == NULL ? g_hash_table_lookup (tables, table) : NULL;

      if (g_cancellable_set_error_if_cancelled (g_cancellable_get_current (), error))
        return FALSE;
      if (shared == NULL && own == NULL)
        {
          own = write_nbits_store_weight (graph, row, table, TRUE, error);
          if (own == NULL)
            return FALSE;
        }
      if (!g_hash_table_contains (tables, table))
        g_hash_table_insert (tables, table, own);
      write_nbits_replace_gather (graph, node, row, shared != NULL ? shared : own, shared != NULL);
    }
  return TRUE;
}

static GPtrArray *
write_nbits_list_gathers (VnGraph     *graph,
                          VnQuantPlan *plan)
{
  GPtrArray *list = g_ptr_array_new ();

  for (guint i = 0; plan->write.packed_tables && i < graph->nodes->len; i++)
    {
      VnNode *node = g_ptr_array_index (graph->nodes, i);
      const VnQuantRow *row = !plan->excluded[i] && vn_quant_has_table (node)
                              ? vn_quant_plan_find_row (plan, vn_node_get_input (node, 0)->name) : NULL;

      if (row != NULL && row->tensor.quantized && row->block > 0 && row->tensor.axis == 1)
        g_ptr_array_add (list, node);
    }
  return list;
}

/* ---- all ---- */

static GArray *
write_nbits_list_products (VnGraph     *graph,
                           VnQuantPlan *plan)
{
  GArray *list = g_array_new (FALSE, FALSE, sizeof (Product));

  vn_graph_settle (graph);
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      VnNode *node = g_ptr_array_index (graph->nodes, i);
      const Product product = { node, vn_quant_get_accuracy_level (plan, i) };
      const VnQuantRow *row = NULL;

      if (!plan->excluded[i] && vn_quant_has_nbits (node))
        row = vn_quant_plan_find_row (plan, vn_node_get_input (node, 1)->name);
      if (row != NULL && row->tensor.quantized && row->tensor.axis == vn_quant_get_sum_axis (node))
        g_array_append_val (list, product);
    }
  return list;
}

static gboolean
write_nbits_replace_products (VnGraph      *graph,
                              VnQuantPlan  *plan,
                              GArray       *products,
                              GHashTable   *weights,
                              GError      **error)
{
  for (guint i = 0; i < products->len; i++)
    {
      const Product *product = &g_array_index (products, Product, i);
      VnValue *weight = vn_node_get_input (product->node, 1);
      const VnQuantRow *row = vn_quant_plan_find_row (plan, weight->name);
      Stored *stored = g_hash_table_lookup (weights, weight);

      vn_progress_report_current (i, products->len);
      if (g_cancellable_set_error_if_cancelled (g_cancellable_get_current (), error))
        return FALSE;
      if (stored == NULL)
        {
          stored = write_nbits_store_weight (graph, row, weight, FALSE, error);
          if (stored == NULL)
            return FALSE;
          g_hash_table_insert (weights, weight, stored);
        }
      write_nbits_replace_node (graph, product, row, stored);
    }
  return TRUE;
}

/* @but: (nullable): those that are seen to already */
static void
write_nbits_remove_unused (VnGraph    *graph,
                           GHashTable *captured,
                           GHashTable *values,
                           GHashTable *but)
{
  GHashTableIter iter;
  gpointer key;

  g_hash_table_iter_init (&iter, values);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    {
      VnValue *value = key;

      if (but != NULL && g_hash_table_contains (but, value))
        continue;
      if (value->uses->len == 0 && !value->is_output && !g_hash_table_contains (captured, value))
        vn_graph_remove_value (graph, value);
    }
}

static gboolean
write_nbits (VnModel             *model,
             const VnWriteScheme *scheme,
             VnQuantPlan         *plan,
             GHashTable          *value_names,
             GError             **error)
{
  g_autoptr(GArray) products = write_nbits_list_products (model->graph, plan);
  g_autoptr(GPtrArray) gathers = write_nbits_list_gathers (model->graph, plan);
  g_autoptr(GHashTable) weights = g_hash_table_new_full (NULL, NULL, NULL, g_free);   /* VnValue -> Stored */
  g_autoptr(GHashTable) tables = g_hash_table_new_full (NULL, NULL, NULL, g_free);    /* VnValue -> (nullable) Stored */
  g_autoptr(GHashTable) captured = vn_graph_find_captured (model->graph);
  g_autoptr(GArray) experts = vn_quant_list_written_experts (model->graph, plan);

  if (!write_nbits_replace_products (model->graph, plan, products, weights, error) ||
      !write_nbits_replace_tables (model->graph, plan, gathers, weights, tables, error) ||
      !vn_quant_write_experts (model, plan, experts, captured, error))
    return FALSE;
  write_nbits_remove_unused (model->graph, captured, tables, NULL);
  write_nbits_remove_unused (model->graph, captured, weights, tables);
  return TRUE;
}

const VnFormatWriter vn_format_writer_matmulnbits = { vn_quant_has_weight, write_nbits };
