/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The forecast: the optimizer's steps on a copy of the network, then a row for each node of the one that was given. */
#include "vn-runtime-private.h"

#include "vn-i18n.h"
#include "vn-op.h"
#include "vn-op-flops.h"

#include <math.h>
#include <string.h>

static const struct
{
  const char *id, *title;
} kinds[VN_N_RUNTIME_KINDS] = {
  [VN_RUNTIME_FLOAT]    = { "float",    N_("float") },
  [VN_RUNTIME_INTEGER]  = { "integer",  N_("integers") },
  [VN_RUNTIME_MOVES]    = { "moves",    N_("integer data movement") },
  [VN_RUNTIME_ABSORBED] = { "absorbed", N_("fused into another node") },
  [VN_RUNTIME_FOLDED]   = { "folded",   N_("constant-folded") },
};

static const struct
{
  const char *id, *text;
} reasons[] = {
#define VN_RUNTIME_REASON(id, name, text) { name, text },
#include "vn-runtime-reasons.def"
#undef VN_RUNTIME_REASON
};

const char *
vn_runtime_kind_get_id (VnRuntimeKind self)
{
  g_return_val_if_fail (self < VN_N_RUNTIME_KINDS, NULL);

  return kinds[self].id;
}

const char *
vn_runtime_kind_get_title (VnRuntimeKind self)
{
  g_return_val_if_fail (self < VN_N_RUNTIME_KINDS, NULL);

  return _(kinds[self].title);
}

const char *
vn_runtime_reason_get_id (VnRuntimeReason self)
{
  g_return_val_if_fail (self < VN_N_RUNTIME_REASONS, NULL);

  return reasons[self].id;
}

const char *
vn_runtime_reason_get_text (VnRuntimeReason self)
{
  g_return_val_if_fail (self < VN_N_RUNTIME_REASONS, NULL);

  return reasons[self].text != NULL ? _(reasons[self].text) : NULL;
}

/* ---- rows ---- */

static void
runtime_node_free (VnRuntimeNode *self)
{
  g_free (self->label);
  g_free (self->output);
  g_free (self->op_type);
  g_free (self->kernel);
  g_free (self->into);
  g_free (self);
}

static VnTensorType
runtime_get_type (const VnValue *value)
{
  const VnShape *shape = vn_runtime_get_shape (value);
  VnTensorType type = { .dtype = vn_runtime_get_dtype (value) };

  type.shape.rank = -1;
  if (shape != NULL)
    type.shape = *shape;
  return type;
}

static double
runtime_count_macs (const VnNode *node)
{
  guint n_inputs = node->inputs->len, n_outputs = node->outputs->len;
  g_autofree VnTensorType *in = g_new (VnTensorType, n_inputs + 1), *out = g_new (VnTensorType, n_outputs + 1);
  double flops;

  for (guint i = 0; i < n_inputs; i++)
    in[i] = runtime_get_type (vn_node_get_input (node, i));
  for (guint i = 0; i < n_outputs; i++)
    out[i] = runtime_get_type (vn_node_get_output (node, i));
  flops = vn_op_count_flops (node, in, n_inputs, out, n_outputs);
  return MAX (flops, 0) / 2;
}

static VnRuntimeNode *
runtime_node_new (const VnNode *node)
{
  VnRuntimeNode *row = g_new0 (VnRuntimeNode, 1);
  const VnValue *output = vn_node_get_output (node, 0);

  row->label = vn_node_dup_label (node);
  row->output = g_strdup (output != NULL ? output->name : "");
  row->op_type = g_strdup (node->op_type);
  row->converts = vn_runtime_is_q (node) || vn_runtime_is_dq (node);
  row->macs = runtime_count_macs (node);
  return row;
}

/* Operators whose name says that they compute on integers, wherever they come from. */
gboolean
vn_runtime_is_integer_kernel (const VnNode *node)
{
  return g_str_has_prefix (node->op_type, "QLinear") || g_str_equal (node->op_type, "QGemm") ||
         g_str_equal (node->op_type, "QAttention") ||
         g_str_equal (node->op_type, "MatMulInteger") || g_str_equal (node->op_type, "ConvInteger") ||
         g_str_equal (node->op_type, "MatMulIntegerToFloat") || g_str_equal (node->op_type, "DynamicQuantizeMatMul") ||
         g_str_equal (node->op_type, "DynamicQuantizeLSTM");
}

/* Sizes are int64: only what quantizing makes counts as integers. */
static gboolean
runtime_reads_integers (const VnNode *node)
{
  VnDType dtype = vn_runtime_get_dtype (vn_node_get_input (node, 0));

  return vn_dtype_is_integer (dtype) && vn_dtype_get_bits (dtype) <= 16;
}

char *
vn_runtime_dup_kernel (const VnNode *node)
{
  return g_str_equal (node->domain, "") ? g_strdup (node->op_type) : g_strconcat (node->domain, ".", node->op_type, NULL);
}

static void
runtime_fill_row (const VnRuntimeGraph *graph,
                  const VnNode         *node,
                  VnRuntimeNode        *row)
{
  row->kernel = vn_runtime_dup_kernel (node);
  if (vn_runtime_is_integer_kernel (node))
    row->kind = VN_RUNTIME_INTEGER;
  else if (!row->converts && runtime_reads_integers (node))
    row->kind = VN_RUNTIME_MOVES;
  row->seconds = vn_runtime_get_seconds (graph, node, row->macs);
}

/* ---- the forecast ---- */

static const VnRuntimeStep steps[] = {
  vn_runtime_simplify, vn_runtime_split_pairs, vn_runtime_propagate, vn_runtime_quantize_rest, vn_runtime_split_pairs,
  vn_runtime_drop_clamps,
  vn_runtime_make_unsigned, vn_runtime_select, vn_runtime_fuse, vn_runtime_clean_up, vn_runtime_lay_out,
};

static gboolean
runtime_is_open (const VnGraph *graph)
{
  for (guint i = 0; i < graph->inputs->len; i++)
    {
      const VnValue *input = g_ptr_array_index (graph->inputs, i);

      if (input->initializer == NULL && !vn_shape_is_static (&input->type.shape))
        return TRUE;
    }
  return FALSE;
}

/* Sizes that nobody gives are 1, as everywhere. */
static void
runtime_close_inputs (VnGraph    *graph,
                      GHashTable *shapes)
{
  for (guint i = 0; i < graph->inputs->len; i++)
    {
      VnValue *input = g_ptr_array_index (graph->inputs, i);
      VnShape shape = input->type.shape;

      if (input->initializer != NULL || input->type.kind != VN_TYPE_TENSOR || shape.rank < 0 || vn_shape_is_static (&shape) ||
          (shapes != NULL && g_hash_table_contains (shapes, input->name)))
        continue;
      for (int d = 0; d < shape.rank; d++)
        shape.dims[d] = MAX (shape.dims[d], 1);
      vn_value_set_type (input, input->type.dtype, &shape);
    }
}

static gboolean
runtime_has_types (const VnGraph *graph)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const VnValue *output = vn_node_get_output (g_ptr_array_index (graph->nodes, i), 0);

      if (output != NULL && (vn_runtime_get_shape (output) == NULL || !vn_shape_is_static (vn_runtime_get_shape (output))))
        return FALSE;
    }
  return TRUE;
}

static void
runtime_kernel_free (VnRuntimeKernel *self)
{
  g_free (self->kernel);
  g_free (self);
}

static int
runtime_kernel_compare (gconstpointer a,
                        gconstpointer b)
{
  const VnRuntimeKernel *first = *(const VnRuntimeKernel * const *) a, *second = *(const VnRuntimeKernel * const *) b;

  return first->seconds > second->seconds ? -1 : first->seconds < second->seconds ? 1 : strcmp (first->kernel, second->kernel);
}

static void
runtime_count_kernel (VnRuntimeForecast *self,
                      GHashTable        *by_kernel,
                      const VnNode      *node,
                      double             seconds)
{
  g_autofree char *name = vn_runtime_dup_kernel (node);
  VnRuntimeKernel *kernel = g_hash_table_lookup (by_kernel, name);

  if (kernel == NULL)
    {
      kernel = g_new0 (VnRuntimeKernel, 1);
      kernel->kernel = g_steal_pointer (&name);
      g_ptr_array_add (self->kernels, kernel);
      g_hash_table_insert (by_kernel, kernel->kernel, kernel);
    }
  kernel->n++;
  kernel->seconds += seconds;
}

/* What only changes the type or the order of numbers. A Transpose without row was added for the layout. */
static gboolean
runtime_is_conversion (const VnNode        *node,
                       const VnRuntimeNode *row)
{
  return vn_runtime_is_q (node) || vn_runtime_is_dq (node) || (row == NULL && vn_node_is (node, "Transpose")) ||
         g_str_has_prefix (node->op_type, "Reorder");
}

static void
runtime_add_up (VnRuntimeForecast    *self,
                const VnRuntimeGraph *graph)
{
  const GPtrArray *nodes = graph->graph->nodes;
  g_autoptr(GHashTable) by_kernel = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (nodes, i);
      VnRuntimeNode *row = g_hash_table_lookup (graph->rows, node);
      double seconds;

      if (g_str_equal (node->op_type, ""))
        continue;
      if (row != NULL)
        runtime_fill_row (graph, node, row);
      seconds = row != NULL ? row->seconds : vn_runtime_get_seconds (graph, node, 0);
      self->seconds += seconds;
      self->conversion_seconds += runtime_is_conversion (node, row) ? seconds : 0;
      runtime_count_kernel (self, by_kernel, node, seconds);
    }
  self->seconds += nodes->len > 0 ? vn_runtime_get_run_seconds () : 0;
  g_ptr_array_sort (self->kernels, runtime_kernel_compare);
  for (guint i = 0; i < self->nodes->len; i++)
    {
      const VnRuntimeNode *row = g_ptr_array_index (self->nodes, i);

      self->macs += row->macs;
      self->integer_macs += row->kind == VN_RUNTIME_INTEGER ? row->macs : 0;
    }
}

void
vn_runtime_graph_clear (VnRuntimeGraph *self)
{
  g_clear_pointer (&self->rows, g_hash_table_unref);
  g_clear_pointer (&self->folded, g_hash_table_unref);
  g_clear_pointer (&self->last, g_hash_table_unref);
  g_clear_pointer (&self->model, vn_model_unref);
}

/**
 * vn_runtime_forecast_new_empty:
 *
 * Returns: (transfer full): a forecast without nodes; whoever makes it fills it before anybody else sees it
 */
VnRuntimeForecast *
vn_runtime_forecast_new_empty (void)
{
  VnRuntimeForecast *self = g_new0 (VnRuntimeForecast, 1);

  g_atomic_ref_count_init (&self->ref);
  self->nodes = g_ptr_array_new_with_free_func ((GDestroyNotify) runtime_node_free);
  self->kernels = g_ptr_array_new_with_free_func ((GDestroyNotify) runtime_kernel_free);
  self->by_label = g_hash_table_new (g_str_hash, g_str_equal);
  self->by_output = g_hash_table_new (g_str_hash, g_str_equal);
  return self;
}

/**
 * vn_runtime_forecast_add:
 * @row: (transfer full): of the next node
 */
void
vn_runtime_forecast_add (VnRuntimeForecast *self,
                         VnRuntimeNode     *row)
{
  g_return_if_fail (self != NULL && row != NULL);

  g_ptr_array_add (self->nodes, row);
  g_hash_table_insert (self->by_label, row->label, row);
  if (!row->converts)
    g_hash_table_insert (self->by_output, row->output, row);
}

/* A copy of the network with types, and a row for each node of it. */
gboolean
vn_runtime_graph_init (VnRuntimeGraph     *self,
                       VnRuntimeForecast  *forecast,
                       const VnModel      *model,
                       GHashTable         *input_shapes,
                       GError            **error)
{
  *self = (VnRuntimeGraph) { .model = vn_model_copy (model), .rows = g_hash_table_new (NULL, NULL),
                             .folded = g_hash_table_new (NULL, NULL), .last = g_hash_table_new (NULL, NULL),
                             .open = runtime_is_open (model->graph) };
  self->graph = self->model->graph;
  runtime_close_inputs (self->graph, input_shapes);
  if (!runtime_has_types (self->graph) && !vn_model_infer_types (self->model, input_shapes, NULL, error))
    return FALSE;
  for (guint i = 0; i < self->graph->nodes->len; i++)
    {
      VnRuntimeNode *row = runtime_node_new (g_ptr_array_index (self->graph->nodes, i));

      vn_runtime_forecast_add (forecast, row);
      g_hash_table_insert (self->rows, g_ptr_array_index (self->graph->nodes, i), row);
    }
  return TRUE;
}

/**
 * vn_runtime_forecast_new:
 * @model: a network, quantized or not; left alone
 * @input_shapes: as vn_model_infer_types()
 * @float_forecast: of the float network, to compare with
 *
 * Cheap enough to be asked after each change: nothing is run, and no weight is looked at.
 *
 * Returns: (transfer full): what ONNX Runtime will make of @model on an x86 processor, with all its optimizations; %NULL with
 *   @error set if the graph has a cycle or its types contradict each other
 */
VnRuntimeForecast *
vn_runtime_forecast_new (const VnModel            *model,
                         GHashTable               *input_shapes,
                         const VnRuntimeForecast  *float_forecast,
                         GError                  **error)
{
  g_auto(VnRuntimeGraph) graph = { NULL };
  g_autoptr(VnRuntimeForecast) self = NULL;

  g_return_val_if_fail (model != NULL, NULL);

  self = vn_runtime_forecast_new_empty ();
  self->float_seconds = float_forecast != NULL ? float_forecast->seconds : 0;
  if (!vn_runtime_graph_init (&graph, self, model, input_shapes, error))
    return NULL;
  for (guint i = 0; i < G_N_ELEMENTS (steps); i++)
    if (!steps[i] (&graph, error))
      return NULL;
  runtime_add_up (self, &graph);
  return g_steal_pointer (&self);
}

VnRuntimeForecast *
vn_runtime_forecast_copy (const VnRuntimeForecast *self)
{
  VnRuntimeForecast *copy;

  g_return_val_if_fail (self != NULL, NULL);

  copy = vn_runtime_forecast_new_empty ();
  for (guint i = 0; i < self->nodes->len; i++)
    {
      VnRuntimeNode *row = g_memdup2 (g_ptr_array_index (self->nodes, i), sizeof *row);

      row->label = g_strdup (row->label);
      row->output = g_strdup (row->output);
      row->op_type = g_strdup (row->op_type);
      row->kernel = g_strdup (row->kernel);
      row->into = g_strdup (row->into);
      vn_runtime_forecast_add (copy, row);
    }
  for (guint i = 0; i < self->kernels->len; i++)
    {
      VnRuntimeKernel *kernel = g_memdup2 (g_ptr_array_index (self->kernels, i), sizeof *kernel);

      kernel->kernel = g_strdup (kernel->kernel);
      g_ptr_array_add (copy->kernels, kernel);
    }
  copy->macs = self->macs;
  copy->integer_macs = self->integer_macs;
  copy->seconds = self->seconds;
  copy->conversion_seconds = self->conversion_seconds;
  copy->float_seconds = self->float_seconds;
  copy->observed = self->observed;
  return copy;
}

VnRuntimeForecast *
vn_runtime_forecast_ref (VnRuntimeForecast *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref);
  return self;
}

/**
 * vn_runtime_forecast_unref:
 * @self: (nullable) (transfer full)
 */
void
vn_runtime_forecast_unref (VnRuntimeForecast *self)
{
  if (self == NULL || !g_atomic_ref_count_dec (&self->ref))
    return;
  g_ptr_array_unref (self->nodes);
  g_ptr_array_unref (self->kernels);
  g_hash_table_unref (self->by_label);
  g_hash_table_unref (self->by_output);
  g_free (self);
}

const VnRuntimeNode *
vn_runtime_forecast_find (const VnRuntimeForecast *self,
                          const char              *label)
{
  g_return_val_if_fail (self != NULL && label != NULL, NULL);

  return g_hash_table_lookup (self->by_label, label);
}

/**
 * vn_runtime_forecast_find_value:
 * @value: a tensor of the float network
 * @label: (nullable): of the node that computes it there
 *
 * Returns: (nullable): the row of the node that computes it in the export, where outputs may have got another name
 */
const VnRuntimeNode *
vn_runtime_forecast_find_value (const VnRuntimeForecast *self,
                                const char              *value,
                                const char              *label)
{
  const VnRuntimeNode *node;

  g_return_val_if_fail (self != NULL && value != NULL, NULL);

  node = g_hash_table_lookup (self->by_output, value);
  return node != NULL || label == NULL ? node : g_hash_table_lookup (self->by_label, label);
}

double
vn_runtime_forecast_integer_share (const VnRuntimeForecast *self)
{
  g_return_val_if_fail (self != NULL, NAN);

  return self->macs > 0 ? self->integer_macs / self->macs : NAN;
}

/**
 * vn_runtime_forecast_wide_share:
 *
 * Returns: share of the multiplications between quantizers with integers of 16 bit: for these ONNX Runtime has no kernel on a
 *   processor, others do them on integers
 */
double
vn_runtime_forecast_wide_share (const VnRuntimeForecast *self)
{
  double macs = 0;

  g_return_val_if_fail (self != NULL, NAN);

  for (guint i = 0; i < self->nodes->len; i++)
    {
      const VnRuntimeNode *node = g_ptr_array_index (self->nodes, i);

      if (node->reason == VN_RUNTIME_REASON_SIXTEEN)
        macs += node->macs;
    }
  return self->macs > 0 ? macs / self->macs : NAN;
}

/**
 * vn_runtime_forecast_pairs_share:
 *
 * Returns: share of the multiplications that are done on integers where there are kernels for 16 bit as well
 */
double
vn_runtime_forecast_pairs_share (const VnRuntimeForecast *self)
{
  double macs = 0;

  g_return_val_if_fail (self != NULL, NAN);

  for (guint i = 0; i < self->nodes->len; i++)
    {
      const VnRuntimeNode *node = g_ptr_array_index (self->nodes, i);

      if (node->kind == VN_RUNTIME_INTEGER || node->reason == VN_RUNTIME_REASON_SIXTEEN)
        macs += node->macs;
    }
  return self->macs > 0 ? macs / self->macs : NAN;
}

double
vn_runtime_forecast_ratio (const VnRuntimeForecast *self)
{
  g_return_val_if_fail (self != NULL, NAN);

  return self->float_seconds > 0 ? self->seconds / self->float_seconds : NAN;
}

/**
 * vn_runtime_forecast_dup_slowest:
 * @n: so many kernels at most
 *
 * Returns: (transfer full): the operators that take longest, each with its share of the time
 */
char *
vn_runtime_forecast_dup_slowest (const VnRuntimeForecast *self,
                                 guint                    n)
{
  g_autoptr(GString) text = g_string_new (NULL);

  g_return_val_if_fail (self != NULL, NULL);

  for (guint i = 0; i < MIN (n, self->kernels->len); i++)
    {
      const VnRuntimeKernel *kernel = g_ptr_array_index (self->kernels, i);
      const char *dot = strrchr (kernel->kernel, '.');

      g_string_append_printf (text, "%s%s %.0f %%", i > 0 ? ", " : "", dot != NULL ? dot + 1 : kernel->kernel,
                              self->seconds > 0 ? 100 * kernel->seconds / self->seconds : 0);
    }
  return g_string_free (g_steal_pointer (&text), FALSE);
}
