/* SPDX-License-Identifier: GPL-3.0-or-later */

/* float16 and bfloat16, as a conversion. Nodes compute with them; where one that stays float32 meets one that does not, there is
 * one Cast for each tensor. A tensor that is needed as float32 keeps its name, that of 16 bits has another. The format of
 * bfloat16 weights stores them as such and casts them back, as few runtimes compute with it. */

#include "vn-quant-write.h"

#include "vn-graph-edit.h"
#include "vn-i18n.h"

typedef struct
{
  VnGraph    *graph;
  VnDType     dtype;       /* float16 or bfloat16 */
  GHashTable *halves;      /* set of VnNode that compute with it */
  GHashTable *captured;    /* set of VnValue: graphs inside nodes use or return them */
  GHashTable *names;
  gboolean    float_io;
  GHashTable *ends;        /* nullable: inputs and outputs that stay float32 nevertheless, by name */
} Writer;

static const char *
write_half_get_suffix (const Writer *self)
{
  return self->dtype == VN_DTYPE_BF16 ? "_bf16" : "_fp16";
}

/* Of an input or output. */
static gboolean
write_half_keeps_end (const Writer  *self,
                      const VnValue *value)
{
  return self->float_io || (self->ends != NULL && g_hash_table_contains (self->ends, value->name));
}

/* ---- who reads ---- */

static gboolean
write_half_reads (Writer *self,
                  VnUse   use)
{
  return g_hash_table_contains (self->halves, use.node) && vn_quant_is_half_input (use.node, use.index);
}

static GArray *
write_half_list_uses (Writer        *self,
                      const VnValue *value,
                      gboolean       half)
{
  GArray *list = g_array_new (FALSE, FALSE, sizeof (VnUse));

  for (guint i = 0; i < value->uses->len; i++)
    {
      VnUse use = g_array_index (value->uses, VnUse, i);

      if (use.node->graph == self->graph && write_half_reads (self, use) == half)
        g_array_append_val (list, use);
    }
  return list;
}

static void
write_half_redirect (const GArray *uses,
                     VnValue      *to)
{
  for (guint i = 0; i < uses->len; i++)
    {
      VnUse use = g_array_index (uses, VnUse, i);

      vn_node_set_input (use.node, use.index, to);
    }
}

static VnNode *
write_half_first_of (const GArray *uses)
{
  VnNode *first = NULL;

  for (guint i = 0; i < uses->len; i++)
    {
      VnNode *node = g_array_index (uses, VnUse, i).node;

      if (first == NULL || vn_node_get_index (node) < vn_node_get_index (first))
        first = node;
    }
  return first;
}

/* ---- values ---- */

static VnValue *
write_half_add_twin (VnGraph       *graph,
                     const VnValue *value,
                     const char    *suffix,
                     VnDType        dtype)
{
  g_autofree char *name = g_strconcat (value->name, suffix, NULL);

  return vn_graph_add_value (graph, name, dtype, &value->type.shape);
}

static void
write_half_insert_cast (VnGraph *graph,
                        VnNode  *before,
                        VnValue *from,
                        VnValue *to,
                        VnDType  dtype)
{
  g_autofree char *name = g_strconcat (to->name, "_Cast", NULL);
  VnNode *node = vn_graph_insert_node (graph, before, name, "", "Cast", &from, 1, &to, 1);

  vn_node_set_int (node, "to", dtype);
}

/* The name stays; nobody needs float32. */
static void
write_half_make_half (Writer  *self,
                      VnValue *value)
{
  VnShape shape = value->type.shape;

  vn_value_set_type (value, self->dtype, &shape);
}

/* Whether somebody outside the nodes of 16 bits needs @value as it is. */
static gboolean
write_half_is_needed (Writer        *self,
                      const VnValue *value,
                      const GArray  *singles)
{
  return singles->len > 0 || g_hash_table_contains (self->captured, value) ||
         (value->is_output && write_half_keeps_end (self, value));
}

static void
write_half_convert_result (Writer  *self,
                           VnValue *value)
{
  g_autoptr(GArray) halves = write_half_list_uses (self, value, TRUE), singles = write_half_list_uses (self, value, FALSE);
  VnNode *producer = value->producer;
  guint index = value->output_index;
  VnValue *twin;

  if (!write_half_is_needed (self, value, singles))
    {
      write_half_make_half (self, value);
      return;
    }
  if (value->is_output && !write_half_keeps_end (self, value) && !g_hash_table_contains (self->captured, value))
    {
      twin = write_half_add_twin (self->graph, value, "_fp32", VN_DTYPE_F32);
      write_half_make_half (self, value);
      write_half_redirect (singles, twin);
      write_half_insert_cast (self->graph, vn_node_get_next (producer), value, twin, VN_DTYPE_F32);
      return;
    }
  twin = write_half_add_twin (self->graph, value, write_half_get_suffix (self), self->dtype);
  vn_node_set_output (producer, index, twin);
  write_half_redirect (halves, twin);
  write_half_insert_cast (self->graph, vn_node_get_next (producer), twin, value, VN_DTYPE_F32);
}

static void
write_half_convert_source (Writer  *self,
                           VnValue *value)
{
  g_autoptr(GArray) halves = write_half_list_uses (self, value, TRUE), singles = write_half_list_uses (self, value, FALSE);
  VnValue *twin;

  if (value->is_input && !write_half_keeps_end (self, value) && !value->is_output &&
      !g_hash_table_contains (self->captured, value))
    {
      write_half_make_half (self, value);
      if (singles->len == 0)
        return;
      twin = write_half_add_twin (self->graph, value, "_fp32", VN_DTYPE_F32);
      write_half_redirect (singles, twin);
      write_half_insert_cast (self->graph, write_half_first_of (singles), value, twin, VN_DTYPE_F32);
      return;
    }
  if (halves->len == 0)
    return;
  twin = write_half_add_twin (self->graph, value, write_half_get_suffix (self), self->dtype);
  write_half_redirect (halves, twin);
  write_half_insert_cast (self->graph, value->producer != NULL
                          ? vn_node_get_next (value->producer) : write_half_first_of (halves), value,
                          twin, self->dtype);
}

static gboolean
write_half_convert_constant (Writer   *self,
                             VnValue  *value,
                             GError  **error)
{
  g_autoptr(GArray) halves = write_half_list_uses (self, value, TRUE);
  g_autofree char *name = g_strconcat (value->name, write_half_get_suffix (self), NULL);
  g_autoptr(VnTensor) data = NULL;
  gsize n_clipped, n_raised;
  VnValue *twin;

  if (halves->len == 0)
    return TRUE;
  data = vn_quant_to_half (value->initializer, self->dtype, &n_clipped, &n_raised, error);
  if (data == NULL)
    return FALSE;
  twin = vn_graph_add_initializer (self->graph, name, data);
  write_half_redirect (halves, twin);
  g_hash_table_insert (self->names, g_strdup (value->name), g_strdup (twin->name));
  if (value->uses->len == 0 && !value->is_output && !g_hash_table_contains (self->captured, value))
    vn_graph_remove_value (self->graph, value);
  return TRUE;
}

static gboolean
write_half_convert_value (Writer   *self,
                          VnValue  *value,
                          GError  **error)
{
  if (value->initializer != NULL)
    return write_half_convert_constant (self, value, error);
  if (value->producer != NULL && g_hash_table_contains (self->halves, value->producer))
    write_half_convert_result (self, value);
  else
    write_half_convert_source (self, value);
  return TRUE;
}

static GPtrArray *
write_half_list_singles (const VnGraph *graph)
{
  GPtrArray *list = g_ptr_array_new ();

  vn_graph_settle (graph);
  for (guint i = 0; i < graph->values->len; i++)
    {
      if (vn_quant_is_single (g_ptr_array_index (graph->values, i)))
        g_ptr_array_add (list, g_ptr_array_index (graph->values, i));
    }
  return list;
}

static void
write_half_retarget_casts (Writer *self)
{
  GHashTableIter iter;
  gpointer key;

  g_hash_table_iter_init (&iter, self->halves);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    {
      if (vn_node_is (key, "Cast"))
        vn_node_set_int (key, "to", self->dtype);
    }
}

/* All values of float32 as the nodes want them that compute with halves. */
static gboolean
write_half_convert (Writer   *self,
                    GError  **error)
{
  g_autoptr(GPtrArray) values = write_half_list_singles (self->graph);

  /* all nodes know their inputs by type until the last value is done: types of values that stay are set then */
  for (guint i = 0; i < values->len; i++)
    {
      if (!write_half_convert_value (self, g_ptr_array_index (values, i), error))
        return FALSE;
    }
  write_half_retarget_casts (self);
  return TRUE;
}

static void
write_half_find_halves (Writer      *self,
                        VnQuantPlan *plan)
{
  g_autoptr(GHashTable) positions = vn_quant_find_positions (self->graph);

  vn_graph_settle (self->graph);
  for (guint i = 0; i < self->graph->nodes->len; i++)
    {
      VnNode *node = g_ptr_array_index (self->graph->nodes, i);

      if (!plan->excluded[i] && vn_quant_can_be_half (node, self->dtype, positions))
        g_hash_table_add (self->halves, node);
    }
}

static gboolean
write_fp16 (VnModel             *model,
            const VnWriteScheme *scheme,
            VnQuantPlan         *plan,
            GHashTable          *value_names,
            GError             **error)
{
  g_autoptr(GHashTable) halves = g_hash_table_new (NULL, NULL), captured = vn_graph_find_captured (model->graph);
  Writer self = { model->graph, VN_DTYPE_F16, halves, captured, value_names, scheme->float_io, NULL };

  write_half_find_halves (&self, plan);
  return write_half_convert (&self, error);
}

/* ---- beside integer weights ---- */

/* Of a weight; its scales are halves, as the standard has it since opset 19. */
static gboolean
write_half_restores_weight (const VnModel *model,
                            const VnNode  *node)
{
  const VnValue *data = vn_node_is (node, "DequantizeLinear") ? vn_node_get_input (node, 0) : NULL;

  return data != NULL && data->initializer != NULL && vn_model_get_opset (model, "") >= 19;
}

/* Whether the network as it was given computed in float32 what @node does. */
static gboolean
write_half_was_single (GHashTable   *singles,
                       const VnNode *node)
{
  for (guint i = 0; singles != NULL && i < node->outputs->len; i++)
    {
      const VnValue *value = vn_node_get_output (node, i);

      if (value != NULL && g_hash_table_contains (singles, value->name))
        return TRUE;
    }
  return FALSE;
}

/*< private >
 * vn_quant_write_halves:
 * @model: a quantized network, changed in place
 * @dtype: float16 or bfloat16
 * @float_io: its inputs and outputs stay float32
 * @singles, @ends: (nullable): sets of names: values that were computed in float32, and inputs and outputs that are float32
 * @value_names: (inout) (element-type utf8 utf8): as of vn_quantize_write()
 *
 * Lets all nodes compute with @dtype that can, those that read integer weights, too.
 */
gboolean
vn_quant_write_halves (VnModel     *model,
                       VnDType      dtype,
                       gboolean     float_io,
                       GHashTable  *singles,
                       GHashTable  *ends,
                       GHashTable  *value_names,
                       GError     **error)
{
  g_autoptr(GHashTable) halves = g_hash_table_new (NULL, NULL), captured = NULL, positions = NULL;
  gboolean done;

  g_return_val_if_fail (model != NULL && value_names != NULL, FALSE);

  vn_graph_settle (model->graph);
  captured = vn_graph_find_captured (model->graph);
  positions = vn_quant_find_positions (model->graph);
  for (guint i = 0; i < model->graph->nodes->len; i++)
    {
      VnNode *node = g_ptr_array_index (model->graph->nodes, i);

      if (write_half_restores_weight (model, node) ||
          (vn_quant_can_be_half (node, dtype, positions) && !write_half_was_single (singles, node)))
        g_hash_table_add (halves, node);
    }
  vn_model_begin_edits (model);
  done = write_half_convert (&(Writer) { model->graph, dtype, halves, captured, value_names, float_io, ends }, error);
  vn_model_end_edits (model);
  return done;
}

/* ---- bfloat16 ---- */

static gboolean
write_half_store_bfloat (VnGraph     *graph,
                         VnValue     *value,
                         GHashTable  *excluded,
                         GHashTable  *names,
                         GError     **error)
{
  g_autoptr(GArray) uses = g_array_new (FALSE, FALSE, sizeof (VnUse));
  g_autoptr(VnTensor) data = vn_tensor_convert (value->initializer, VN_DTYPE_BF16, error);
  g_autofree char *name = g_strconcat (value->name, "_bf16", NULL), *wide_name = g_strconcat (value->name, "_fp32", NULL);
  VnValue *stored, *wide;

  if (data == NULL)
    return FALSE;
  for (guint i = 0; i < value->uses->len; i++)
    {
      VnUse use = g_array_index (value->uses, VnUse, i);

      if (use.node->graph == graph && !g_hash_table_contains (excluded, use.node))
        g_array_append_val (uses, use);
    }
  stored = vn_graph_add_initializer (graph, name, data);
  wide = vn_graph_add_value (graph, wide_name, VN_DTYPE_F32, &data->shape);
  write_half_redirect (uses, wide);
  write_half_insert_cast (graph, write_half_first_of (uses), stored, wide, VN_DTYPE_F32);
  g_hash_table_insert (names, g_strdup (value->name), g_strdup (wide->name));
  return TRUE;
}

static gboolean
write_bf16 (VnModel             *model,
            const VnWriteScheme *scheme,
            VnQuantPlan         *plan,
            GHashTable          *value_names,
            GError             **error)
{
  VnGraph *graph = model->graph;
  g_autoptr(GHashTable) captured = vn_graph_find_captured (graph), excluded = g_hash_table_new (NULL, NULL);
  g_autoptr(GPtrArray) values = write_half_list_singles (graph);

  for (guint i = 0; i < graph->nodes->len; i++)
    {
      if (plan->excluded[i])
        g_hash_table_add (excluded, g_ptr_array_index (graph->nodes, i));
    }
  for (guint i = 0; i < values->len; i++)
    {
      VnValue *value = g_ptr_array_index (values, i);
      const VnQuantRow *row = vn_quant_plan_find_row (plan, value->name);

      if (value->initializer == NULL || row == NULL || !row->tensor.quantized)
        continue;
      if (!write_half_store_bfloat (graph, value, excluded, value_names, error))
        return FALSE;
      if (value->uses->len == 0 && !value->is_output && !g_hash_table_contains (captured, value))
        vn_graph_remove_value (graph, value);
    }
  return TRUE;
}

static gboolean
write_float (VnModel             *model,
             const VnWriteScheme *scheme,
             VnQuantPlan         *plan,
             GHashTable          *value_names,
             GError             **error)
{
  return TRUE;
}

const VnFormatWriter vn_format_writer_fp16 = { NULL, write_fp16 };
const VnFormatWriter vn_format_writer_bf16 = { NULL, write_bf16 };
const VnFormatWriter vn_format_writer_float = { NULL, write_float };
