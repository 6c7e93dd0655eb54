/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Operators that AMD's processors for convolutions compute in their own way, replaced by what they compute, so that ranges,
 * previews and the exported file show it: what AMD's tools call SimulateDPU.
 *
 *   LeakyRelu                     alpha becomes a multiple of 1/256
 *   Sigmoid                       HardSigmoid (alpha 1/6, beta 1/2)
 *   HardSigmoid of 1/6 and 1/2    times (2731 / 16384) / (1 / 6)
 *   AveragePool of a square, GlobalAveragePool   times area * r, where r is what stands for 1 / area there
 *   ReduceMean over [2, 3]        GlobalAveragePool
 *   Clip                          bounds become integers from -128 to 127; only when asked for */

#include "vn-former.h"
#include "vn-resolver.h"

#include "vn-graph-edit.h"
#include "vn-i18n.h"

#include <math.h>

typedef struct
{
  VnModel            *model;
  const char * const *operators;
  VnNotes            *notes;
} Editor;

static gboolean
npu_simulate_is_asked_for (const Editor *self,
                           const char   *id,
                           gboolean      usual)
{
  return self->operators != NULL ? g_strv_contains (self->operators, id) : usual;
}

static void
npu_simulate_note (Editor       *self,
                   const VnNode *node,
                   const char   *text)
{
  g_autofree char *label = vn_node_dup_label (node);

  if (self->notes != NULL)
    vn_notes_add (self->notes, VN_NOTE_INFO, "npu-simulated", label, "%s: %s", label, text);
}

/* The result of @node times @factor; it keeps its name. */
static void
npu_simulate_multiply_result (Editor *self,
                              VnNode *node,
                              double  factor)
{
  VnGraph *graph = node->graph;
  VnValue *result = vn_node_get_output (node, 0), *raw, *inputs[2];
  float number = (float) factor;
  g_autoptr(VnTensor) tensor = vn_tensor_new_f32 (&VN_SHAPE_SCALAR, &number);
  g_autofree char *base = g_strconcat (result->name, "_npu", NULL), *name = vn_graph_unique_name (graph, base);
  g_autofree char *constant_base = g_strconcat (result->name, "_npu_factor", NULL);
  g_autofree char *constant = vn_graph_unique_name (graph, constant_base);
  g_autofree char *label = vn_node_dup_label (node), *node_name = g_strconcat (label, "_npu", NULL);
  VnNode *behind = vn_node_get_next (node);

  raw = vn_graph_add_value (graph, name, VN_DTYPE_F32, &result->type.shape);
  vn_graph_note_same (graph, result->name, name);   /* but for the factor, which is nearly 1 */
  vn_node_set_output (node, 0, raw);
  inputs[0] = raw;
  inputs[1] = vn_graph_add_initializer (graph, constant, tensor);
  vn_graph_insert_node (graph, behind, node_name, "", "Mul", inputs, 2, &result, 1);
}

static void
simulate_leaky_relu (Editor *self, VnNode *node)
{
  float alpha = vn_node_get_float (node, "alpha", 0.01f), rounded = rintf (alpha * 256) / 256;
  g_autofree char *text = g_strdup_printf (_("alpha %g became %g"), alpha, rounded);

  if (rounded == alpha)
    return;
  vn_node_set_float (node, "alpha", rounded);
  npu_simulate_note (self, node, text);
}

static void
simulate_hard_sigmoid (Editor *self, VnNode *node)
{
  if (fabsf (vn_node_get_float (node, "alpha", 0.2f) - 1.0f / 6) > 1e-4f ||
      fabsf (vn_node_get_float (node, "beta", 0.5f) - 0.5f) > 1e-4f)
    return;
  npu_simulate_multiply_result (self, node, (2731.0 / 16384) / (1.0 / 6));
  npu_simulate_note (self, node, _("its output is multiplied by 2731/16384 times 6"));
}

static void
simulate_sigmoid (Editor *self, VnNode *node)
{
  g_free (node->op_type);
  node->op_type = g_strdup ("HardSigmoid");
  vn_node_set_float (node, "alpha", 1.0f / 6);
  vn_node_set_float (node, "beta", 0.5f);
  npu_simulate_note (self, node, _("Sigmoid became HardSigmoid"));
  if (npu_simulate_is_asked_for (self, "HardSigmoid", TRUE))
    simulate_hard_sigmoid (self, node);
}

/* ---- means ---- */

/*< private >
 * vn_npu_pool_factor:
 * @height, @width: of a pool's window
 *
 * Returns: by how much the processor's mean is off: the area times the fraction that stands for 1 / area
 */
double
vn_npu_pool_factor (gint64 height,
                    gint64 width)
{
  static const struct { gint64 size; double inverse; } known[] = {
    { 3, 7.0 / 64 }, { 5, 10.0 / 256 }, { 6, 7.0 / 256 }, { 7, 21.0 / 1024 }, { 14, 21.0 / 4096 },
  };
  double area = (double) height * (double) width, best = 0, error = INFINITY;
  int n;

  if (area > 255 && !(height == 14 && width == 14))
    return 1;
  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    if (height == known[i].size && width == known[i].size)
      return area * known[i].inverse;
  n = 7 + (int) ceil (log2 (area));
  for (int i = 0; i < n; i++)
    {
      double inverse = ldexp (rint (ldexp (1, i) / area), -i);

      if (fabs (inverse - 1 / area) < error)
        {
          error = fabs (inverse - 1 / area);
          best = inverse;
        }
    }
  return area * best;
}

static void
npu_simulate_correct_mean (Editor *self,
                           VnNode *node,
                           gint64  height,
                           gint64  width)
{
  double factor = height == width && height > 0 ? vn_npu_pool_factor (height, width) : 1;
  g_autofree char *text = g_strdup_printf (_("its mean is multiplied by %.7g"), factor);

  if (factor == 1)
    return;
  npu_simulate_multiply_result (self, node, factor);
  npu_simulate_note (self, node, text);
}

static void
simulate_average_pool (Editor *self, VnNode *node)
{
  gsize n = 0;
  const gint64 *kernel = vn_node_get_ints (node, "kernel_shape", &n);

  if (n == 2)
    npu_simulate_correct_mean (self, node, kernel[0], kernel[1]);
}

static void
simulate_global_pool (Editor *self, VnNode *node)
{
  const VnValue *x = vn_node_get_input (node, 0);

  if (x != NULL && x->type.shape.rank == 4)
    npu_simulate_correct_mean (self, node, x->type.shape.dims[2], x->type.shape.dims[3]);
}

static gboolean
npu_simulate_is_over_pixels (const VnNode *node)
{
  const VnValue *input = vn_node_get_input (node, 1), *x = vn_node_get_input (node, 0);
  VnTensor *axes = input != NULL ? vn_value_get_constant (input) : NULL;
  gsize n = 0;
  const gint64 *list = vn_node_get_ints (node, "axes", &n);
  gint64 first, second;

  if (x == NULL || x->type.shape.rank != 4 || vn_node_get_int (node, "keepdims", 1) != 1)
    return FALSE;
  if (axes != NULL ? axes->n_elements != 2 : n != 2)
    return FALSE;
  first = axes != NULL ? vn_tensor_get_s64 (axes, 0) : list[0];
  second = axes != NULL ? vn_tensor_get_s64 (axes, 1) : list[1];
  first += first < 0 ? 4 : 0;
  second += second < 0 ? 4 : 0;
  return (first == 2 && second == 3) || (first == 3 && second == 2);
}

static void
simulate_reduce_mean (Editor *self, VnNode *node)
{
  VnValue *x = vn_node_get_input (node, 0), *result = vn_node_get_output (node, 0);
  g_autofree char *name = g_strdup (node->name);
  VnGraph *graph = node->graph;
  VnNode *behind = vn_node_get_next (node);
  VnNode *pool;

  if (!npu_simulate_is_over_pixels (node))
    return;
  npu_simulate_note (self, node, _("ReduceMean became GlobalAveragePool"));
  vn_graph_remove_node (graph, node);
  pool = vn_graph_insert_node (graph, behind, name, "", "GlobalAveragePool", &x, 1, &result, 1);
  if (npu_simulate_is_asked_for (self, "AveragePool", TRUE))
    simulate_global_pool (self, pool);
}

/* ---- bounds ---- */

static float
npu_simulate_round_bound (float bound)
{
  return CLAMP (rintf (bound), -128.f, 127.f);
}

static void
simulate_bound (Editor     *self,
                VnNode     *node,
                const char *attribute,
                guint       i)
{
  VnValue *value = vn_node_get_input (node, i);
  VnTensor *tensor = value != NULL ? vn_value_get_constant (value) : NULL;
  gboolean imported = vn_node_get_attr (node, attribute) != NULL;
  g_autofree char *text = NULL;
  float old, bound;

  if (!imported && (tensor == NULL || tensor->n_elements != 1 || tensor->dtype != VN_DTYPE_F32))
    return;
  old = imported ? vn_node_get_float (node, attribute, 0) : (float) vn_tensor_get_double (tensor, 0);
  bound = npu_simulate_round_bound (old);
  if (bound == old)
    return;
  text = g_strdup_printf (_("the bound %g became %g"), old, bound);
  npu_simulate_note (self, node, text);
  if (imported)
    vn_node_set_float (node, attribute, bound);
  else
    {
      g_autoptr(VnTensor) rounded = vn_tensor_new_f32 (&tensor->shape, &bound);
      g_autofree char *base = g_strconcat (value->name, "_npu", NULL);
      g_autofree char *name = vn_graph_unique_name (node->graph, base);

      vn_node_set_input (node, i, vn_graph_add_initializer (node->graph, name, rounded));
    }
}

static void
simulate_clip (Editor *self, VnNode *node)
{
  simulate_bound (self, node, "min", 1);
  simulate_bound (self, node, "max", 2);
}

static const struct
{
  const char *type;
  void      (*simulate) (Editor *self, VnNode *node);
  const char *id;      /* as in the setting "npu-operators" */
  gboolean    usual;
} simulations[] = {
  { "LeakyRelu", simulate_leaky_relu, "LeakyRelu", TRUE },
  { "Sigmoid", simulate_sigmoid, "Sigmoid", TRUE },
  { "HardSigmoid", simulate_hard_sigmoid, "HardSigmoid", TRUE },
  { "AveragePool", simulate_average_pool, "AveragePool", TRUE },
  { "GlobalAveragePool", simulate_global_pool, "AveragePool", TRUE },
  { "ReduceMean", simulate_reduce_mean, "ReduceMean", TRUE },
  { "Clip", simulate_clip, "Clip", FALSE },
};

static void
simulate_node (Editor *self,
               VnNode *node)
{
  for (guint k = 0; k < G_N_ELEMENTS (simulations); k++)
    if (g_str_equal (simulations[k].type, node->op_type) && *node->domain == '\0')
      {
        if (npu_simulate_is_asked_for (self, simulations[k].id, simulations[k].usual))
          simulations[k].simulate (self, node);
        return;
      }
}

/**
 * vn_npu_simulate:
 * @model: prepared, with types inferred; changed in place
 * @operators: (nullable): ids of the setting “npu-operators”; %NULL: the usual ones
 * @notes: (nullable): says of every node what became of it
 *
 * Replaces operators by what AMD's processors for convolutions compute in their place. Types have to be inferred again.
 */
void
vn_npu_simulate (VnModel            *model,
                 const char * const *operators,
                 VnNotes            *notes)
{
  Editor editor = { model, operators, notes };
  g_autoptr(GPtrArray) nodes = NULL;

  g_return_if_fail (model != NULL);

  nodes = g_ptr_array_new ();
  for (guint i = 0; i < model->graph->nodes->len; i++)
    g_ptr_array_add (nodes, g_ptr_array_index (model->graph->nodes, i));
  vn_model_begin_edits (model);
  for (guint i = 0; i < nodes->len; i++)
    simulate_node (&editor, g_ptr_array_index (nodes, i));
  vn_model_end_edits (model);
}
