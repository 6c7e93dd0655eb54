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

#include <string.h>

#define INTEGER_LEVEL 4   /* at which activations are rounded */

typedef struct
{
  gsize    n, k, n_blocks, block, row_bytes;
  guint    bits;
  gboolean by_rows;            /* stored as N x K */
  gboolean table;              /* rows are not filled up to whole blocks */
} Layout;

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

static Layout
write_nbits_layout_of (const VnQuantRow *row,
                       const VnTensor   *weight,
                       gboolean          table)
{
  const VnShape *shape = &weight->shape;
  Layout self = { .block = (gsize) row->block, .bits = (guint) vn_dtype_get_bits (row->tensor.dtype), .table = table };

  self.by_rows = row->tensor.axis == shape->rank - 1;
  self.k = (gsize) shape->dims[row->tensor.axis];
  self.n = weight->n_elements / self.k;
  self.n_blocks = self.k / self.block + (self.k % self.block != 0);
  self.row_bytes = (table ? self.k : self.n_blocks * self.block) * self.bits / 8;
  return self;
}

static void
write_nbits_put_bits (guint8 *row,
                      guint   bits,
                      gsize   i,
                      gint64  value)
{
  const gsize per_byte = 8 / bits;

  row[i / per_byte] |= (guint8) (((guint) value & ((1u << bits) - 1)) << (i % per_byte * bits));
}

/* Columns that one thread turns into rows in one go, and bytes of each. */
#define PACK_COLUMNS 64
#define PACK_BYTES 64

typedef struct
{
  const Layout   *layout;
  const VnTensor *data;
  VnTensor       *packed;
} Packing;

static void
write_nbits_pack_rows (const Packing *self,
                       gsize          first,
                       gsize          last)
{
  const Layout *layout = self->layout;
  const gsize bytes = layout->k * layout->bits / 8;

  for (gsize n = first; n < last; n++)
    if (layout->by_rows && bytes * 8 == layout->k * layout->bits)
      memcpy ((guint8 *) self->packed->data + n * layout->row_bytes, (const guint8 *) self->data->data + n * bytes, bytes);
    else
      for (gsize k = 0; k < layout->k; k++)
        write_nbits_put_bits ((guint8 *) self->packed->data + n * layout->row_bytes, layout->bits, k,
                              vn_tensor_get_s64 (self->data, layout->by_rows ? n * layout->k + k : k * layout->n + n));
}

/* Two rows of numbers of 4 bits at a time, both of an even number of columns, become bytes of two rows. What lies far apart in
 * the result goes by a tile. */
static void
write_nbits_pack_nibbles (const Packing *self,
                          gsize          first,
                          gsize          last)
{
  guint8 tile[PACK_COLUMNS][PACK_BYTES];
  gsize step = self->layout->n / 2, n_bytes = (self->layout->k + 1) / 2;

  for (gsize begin = 0; begin < n_bytes; begin += PACK_BYTES)
    {
      gsize count = MIN (PACK_BYTES, n_bytes - begin);

      for (gsize j = 0; j < count; j++)
        {
          const guint8 *a = (const guint8 *) self->data->data + 2 * (begin + j) * step;
          const guint8 *b = 2 * (begin + j) + 1 < self->layout->k ? a + step : NULL;

          for (gsize n = first; n < last; n += 2)
            {
              guint8 low = a[n / 2], high = b != NULL ? b[n / 2] : 0;

              tile[n - first][j] = (guint8) ((low & 0xf) | (high & 0xf) << 4);
              tile[n - first + 1][j] = (guint8) (low >> 4 | (high & 0xf0));
            }
        }
      for (gsize n = first; n < last; n++)
        memcpy ((guint8 *) self->packed->data + n * self->layout->row_bytes + begin, tile[n - first], count);
    }
}

static void
write_nbits_pack_bytes (const Packing *self,
                        gsize          first,
                        gsize          last)
{
  guint8 tile[PACK_COLUMNS][PACK_BYTES];

  for (gsize begin = 0; begin < self->layout->k; begin += PACK_BYTES)
    {
      gsize count = MIN (PACK_BYTES, self->layout->k - begin);

      for (gsize j = 0; j < count; j++)
        for (gsize n = first; n < last; n++)
          tile[n - first][j] = ((const guint8 *) self->data->data)[(begin + j) * self->layout->n + n];
      for (gsize n = first; n < last; n++)
        memcpy ((guint8 *) self->packed->data + n * self->layout->row_bytes + begin, tile[n - first], count);
    }
}

static gboolean
write_nbits_pack_part (gsize     item,
                       guint     worker,
                       gpointer  data,
                       GError  **error)
{
  const Packing *self = data;
  gsize first = item * PACK_COLUMNS, last = MIN (first + PACK_COLUMNS, self->layout->n);

  if (self->layout->by_rows || self->layout->bits == 2 || (self->layout->bits == 4 && self->layout->n % 2 != 0))
    write_nbits_pack_rows (self, first, last);
  else if (self->layout->bits == 4)
    write_nbits_pack_nibbles (self, first, last);
  else
    write_nbits_pack_bytes (self, first, last);
  return TRUE;
}

/* @data: unsigned integers of 2, 4 or 8 bits */
static VnTensor *
write_nbits_pack_weight (const Layout    *self,
                         const VnTensor  *data,
                         GError         **error)
{
  const gint64 n = (gint64) self->n;
  const VnShape shape = self->table ? VN_SHAPE (n, (gint64) self->row_bytes)
                                    : VN_SHAPE (n, (gint64) self->n_blocks, (gint64) (self->block * self->bits / 8));
  g_autoptr(VnTensor) packed = vn_tensor_new_constant (VN_DTYPE_U8, &shape, error);
  Packing packing = { self, data, packed };

  if (packed == NULL)
    return NULL;
  memset (packed->data, 0, packed->n_bytes);
  return vn_parallel_for (0, self->n / PACK_COLUMNS + (self->n % PACK_COLUMNS != 0), write_nbits_pack_part, &packing, NULL, error)
         ? g_steal_pointer (&packed) : NULL;
}

/* What fills up the last block of each row stands for 0. */
static void
write_nbits_fill_up (const Layout   *self,
                     const VnTensor *zero_point,
                     VnTensor       *packed)
{
  for (gsize n = 0; n < self->n && !self->table; n++)
    {
      const gsize last = self->n_blocks - 1;
      const gint64 zero = vn_tensor_get_s64 (zero_point, self->by_rows ? n * self->n_blocks + last : last * self->n + n);

      for (gsize k = self->k; k < self->n_blocks * self->block; k++)
        write_nbits_put_bits ((guint8 *) packed->data + n * self->row_bytes, self->bits, k, zero);
    }
}

static VnTensor *
write_nbits_pack_scales (const Layout    *self,
                         const VnTensor  *scale,
                         GError         **error)
{
  VnTensor *packed = vn_tensor_new_constant (VN_DTYPE_F32, &VN_SHAPE ((gint64) self->n, (gint64) self->n_blocks), error);

  for (gsize i = 0; packed != NULL && i < packed->n_elements; i++)
    {
      gsize n = i / self->n_blocks, b = i % self->n_blocks;

      ((float *) packed->data)[i] = ((const float *) scale->data)[self->by_rows ? i : b * self->n + n];
    }
  return packed;
}

/* What is unused of a last byte is the middle, as the peer leaves it. */
static VnTensor *
write_nbits_pack_zero_points (const Layout    *self,
                              const VnTensor  *zero_point,
                              GError         **error)
{
  gsize bytes = (self->n_blocks * self->bits + 7) / 8;
  VnTensor *packed = vn_tensor_new_constant (VN_DTYPE_U8, &VN_SHAPE ((gint64) self->n, (gint64) bytes), error);

  if (packed == NULL)
    return NULL;
  memset (packed->data, 0, packed->n_bytes);
  for (gsize n = 0; n < self->n; n++)
    {
      guint8 *row = (guint8 *) packed->data + n * bytes;

      for (gsize b = 0; b < self->n_blocks; b++)
        write_nbits_put_bits (row, self->bits, b,
                              vn_tensor_get_s64 (zero_point, self->by_rows ? n * self->n_blocks + b : b * self->n + n));
      for (gsize b = self->n_blocks; b < bytes * 8 / self->bits; b++)
        write_nbits_put_bits (row, self->bits, b, (gint64) 1 << (self->bits - 1));
    }
  return packed;
}

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
  const Layout layout = write_nbits_layout_of (row, weight->initializer, table);
  g_autofree char *suffix = g_strdup_printf ("_Q%u", layout.bits);
  g_autoptr(VnTensor) data = NULL, packed = NULL, scales = NULL, zero_points = NULL;
  Stored *stored;

  data = vn_quant_quantize_blocks (weight->initializer, row->tensor.dtype, row->tensor.scale, row->tensor.zero_point,
                                   row->tensor.axis, row->block, row->exact_levels ? VN_BLOCK_EXACT : VN_BLOCK_ZERO_FIRST, error);
  if (data == NULL || (packed = write_nbits_pack_weight (&layout, data, error)) == NULL ||
      (scales = write_nbits_pack_scales (&layout, row->tensor.scale, error)) == NULL ||
      (zero_points = write_nbits_pack_zero_points (&layout, row->tensor.zero_point, error)) == NULL)
    {
      g_prefix_error (error, "“%s”: ", weight->name);
      return NULL;
    }

  if (row->exact_levels)
    write_nbits_fill_up (&layout, row->tensor.zero_point, packed);
  stored = g_new0 (Stored, 1);
  stored->packed = write_nbits_store (graph, weight->name, suffix, packed);
  stored->scales = write_nbits_store (graph, weight->name, "_scales", scales);
  if (row->has_zero_points)
    stored->zero_points = write_nbits_store (graph, weight->name, "_zero_points", zero_points);
  return stored;
}

/* With fewer levels ONNX Runtime multiplies weights of 8 bits some hundred times slower, those of 4 bits up to 4 times. */
static gint64
write_nbits_get_level (const VnQuantPlan *plan,
                       guint              node)
{
  const int level = plan->accuracy_levels != NULL ? plan->accuracy_levels[node] : VN_ACCURACY_LEVEL_0;

  return level == VN_ACCURACY_LEVEL_AUTO ? INTEGER_LEVEL : level - VN_ACCURACY_LEVEL_0;
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
  const Layout layout = write_nbits_layout_of (row, weight->initializer, FALSE);
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
  const Layout layout = write_nbits_layout_of (row, table->initializer, TRUE);
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
      const Product product = { node, write_nbits_get_level (plan, i) };
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

  if (!write_nbits_replace_products (model->graph, plan, products, weights, error) ||
      !write_nbits_replace_tables (model->graph, plan, gathers, weights, tables, error))
    return FALSE;
  write_nbits_remove_unused (model->graph, captured, tables, NULL);
  write_nbits_remove_unused (model->graph, captured, weights, tables);
  return TRUE;
}

const VnFormatWriter vn_format_writer_matmulnbits = { vn_quant_has_weight, write_nbits };
