/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The forecast against the graph that ONNX Runtime itself has made of the network: what each node became there replaces what was
 * expected. */
#include "vn-runtime-private.h"

#include "vn-op.h"

#include <math.h>
#include <string.h>

/**
 * Observed: the nodes of the optimized graph
 * @integers: set of VnValue that hold quantized integers
 * @names, @outputs: name without what the optimizer puts around it -> VnNode
 * @into: label of a row -> row that was done by it, as forecast; one of them
 */
typedef struct
{
  GHashTable *integers, *names, *outputs, *into;
  gboolean    has_split;
} Observed;

static void
runtime_observed_clear (Observed *self)
{
  g_clear_pointer (&self->integers, g_hash_table_unref);
  g_clear_pointer (&self->names, g_hash_table_unref);
  g_clear_pointer (&self->outputs, g_hash_table_unref);
  g_clear_pointer (&self->into, g_hash_table_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Observed, runtime_observed_clear)

/* ---- the optimized graph ---- */

static gboolean
runtime_observe_is_small (const VnValue *value)
{
  return value != NULL && vn_dtype_is_integer (value->type.dtype) && vn_dtype_get_bits (value->type.dtype) <= 16;
}

/* The types of its values are not in the file. @node comes behind those it reads. */
static gboolean
runtime_observe_makes_integers (const Observed *self,
                                const VnNode   *node)
{
  const VnValue *first = vn_node_get_input (node, 0);

  if (g_str_equal (node->op_type, "QuantizeLinear") || g_str_has_prefix (node->op_type, "QLinear"))
    return TRUE;
  if (g_str_equal (node->op_type, "QGemm"))
    return node->inputs->len == 9;   /* with scale and zero point of its result */
  return !vn_runtime_is_dq (node) && !vn_runtime_is_integer_kernel (node) && !g_str_equal (node->op_type, "ArgMax") &&
         first != NULL &&
         g_hash_table_contains (self->integers, first);
}

/* "conv1_nchwc" and "fused conv1" are still conv1; copies have a "_token_" in the name. */
static char *
runtime_observe_dup_name (const char *name)
{
  static const char * const endings[] = { "_nchwc", "/MatMulAddFusion", "_pre_q" };
  const char *token = strstr (name, "_token_");
  char *plain = g_strndup (name, token != NULL ? (gsize) (token - name) : strlen (name));

  for (guint i = 0; i < G_N_ELEMENTS (endings); i++)
    if (g_str_has_suffix (plain, endings[i]))
      plain[strlen (plain) - strlen (endings[i])] = '\0';
  return plain;
}

static void
runtime_observe_add_names (Observed *self,
                           VnNode   *node)
{
  char *name = runtime_observe_dup_name (node->name != NULL ? node->name : "");

  if (g_str_has_prefix (name, "fused ") && !g_hash_table_contains (self->names, name + strlen ("fused ")))
    g_hash_table_insert (self->names, g_strdup (name + strlen ("fused ")), node);
  if (!g_hash_table_contains (self->names, name))
    g_hash_table_insert (self->names, g_steal_pointer (&name), node);
  g_free (name);
  for (guint i = 0; i < node->outputs->len; i++)
    if (vn_node_get_output (node, i) != NULL)
      g_hash_table_insert (self->outputs, runtime_observe_dup_name (vn_node_get_output (node, i)->name), node);
}

static void
runtime_observe_take (Observed      *self,
                      const VnGraph *graph)
{
  self->integers = g_hash_table_new (NULL, NULL);
  self->names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self->outputs = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < graph->values->len; i++)
    {
      VnValue *value = g_ptr_array_index (graph->values, i);

      if (value->producer == NULL && runtime_observe_is_small (value))
        g_hash_table_add (self->integers, value);
    }
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      VnNode *node = g_ptr_array_index (graph->nodes, i);

      if (runtime_observe_makes_integers (self, node))
        for (guint k = 0; k < node->outputs->len; k++)
          g_hash_table_add (self->integers, vn_node_get_output (node, k));
      if (vn_runtime_is_q (node) || vn_runtime_is_dq (node))
        continue;
      self->has_split |= node->name != NULL && g_str_has_suffix (node->name, "GatherSliceToSplitFusion");
      runtime_observe_add_names (self, node);
    }
}

/* ---- rows ---- */

static VnRuntimeKind
runtime_observe_get_kind (const Observed *self,
                          const VnNode   *node)
{
  const VnValue *first = vn_node_get_input (node, 0);

  if (vn_runtime_is_integer_kernel (node))
    return VN_RUNTIME_INTEGER;
  return first != NULL && g_hash_table_contains (self->integers, first) ? VN_RUNTIME_MOVES : VN_RUNTIME_FLOAT;
}

/* Of two nodes that compute the same, one stays under either name; Slices that become one Split lose theirs. */
static gboolean
runtime_observe_is_merged (const Observed      *self,
                           const VnRuntimeNode *row)
{
  return self->has_split && g_str_equal (row->op_type, "Slice") && g_strcmp0 (row->kernel, "Split") == 0;
}

static VnNode *
runtime_observe_find_output (const Observed      *self,
                             const VnRuntimeNode *row)
{
  VnNode *node = g_hash_table_lookup (self->outputs, row->output);

  return node != NULL ? node : g_hash_table_lookup (self->names, row->output);
}

/* A node that took over what followed it makes that one's output, under its own name or that of this output. */
static VnNode *
runtime_observe_find (const Observed      *self,
                      const VnRuntimeNode *row)
{
  VnNode *node = runtime_observe_find_output (self, row);
  const VnRuntimeNode *done = g_hash_table_lookup (self->into, row->label);

  return node != NULL || done == NULL ? node : runtime_observe_find_output (self, done);
}

/* Names decide first. */
static void
runtime_observe_row (const Observed *self,
                     VnRuntimeNode  *row)
{
  VnNode *node = g_hash_table_lookup (self->names, row->label);
  gboolean was_gone = row->kind == VN_RUNTIME_ABSORBED || row->kind == VN_RUNTIME_FOLDED;
  VnRuntimeKind kind;

  if (row->converts || (node == NULL && was_gone))
    return;
  if (node == NULL)
    node = runtime_observe_find (self, row);
  if (node == NULL && runtime_observe_is_merged (self, row))
    return;
  kind = node != NULL ? runtime_observe_get_kind (self, node) : VN_RUNTIME_ABSORBED;
  if (kind != row->kind)
    row->reason = kind == VN_RUNTIME_FLOAT ? VN_RUNTIME_REASON_OBSERVED : VN_RUNTIME_REASON_NONE;
  row->kind = kind;
  g_clear_pointer (&row->kernel, g_free);
  g_clear_pointer (&row->into, g_free);
  row->kernel = node != NULL ? vn_runtime_dup_kernel (node) : NULL;
}

/* ---- the whole ---- */

/**
 * vn_runtime_forecast_observe:
 * @optimized: the graph that ONNX Runtime made of the network of @self and wrote, as it is in the file
 *
 * QuantizeLinear and DequantizeLinear keep what was forecast of them, and so do all times.
 *
 * Returns: (transfer full): @self with the kernels that ONNX Runtime has really chosen
 */
VnRuntimeForecast *
vn_runtime_forecast_observe (const VnRuntimeForecast *self,
                             const VnModel           *optimized)
{
  g_auto(Observed) observed = { NULL };
  VnRuntimeForecast *copy;

  g_return_val_if_fail (self != NULL && optimized != NULL, NULL);

  copy = vn_runtime_forecast_copy (self);
  runtime_observe_take (&observed, optimized->graph);
  observed.into = g_hash_table_new (g_str_hash, g_str_equal);
  for (guint i = 0; i < self->nodes->len; i++)
    {
      VnRuntimeNode *row = g_ptr_array_index (self->nodes, i);

      if (row->kind == VN_RUNTIME_ABSORBED && row->into != NULL && !row->converts)
        g_hash_table_insert (observed.into, row->into, row);
    }
  copy->integer_macs = 0;
  for (guint i = 0; i < copy->nodes->len; i++)
    {
      VnRuntimeNode *row = g_ptr_array_index (copy->nodes, i);

      runtime_observe_row (&observed, row);
      copy->integer_macs += row->kind == VN_RUNTIME_INTEGER ? row->macs : 0;
    }
  copy->observed = TRUE;
  return copy;
}
