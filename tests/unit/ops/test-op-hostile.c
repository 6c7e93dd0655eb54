/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every operator with inputs and attributes at random, most of which make no sense: it may refuse, but must not leave
 * its memory. Outputs and scratch have guards; run under a sanitizer this also finds what the guards do not. */
#include "vn-error.h"
#include "hostile-learning.h"
#include "vn-graph-edit.h"
#include "vn-op.h"

#include <string.h>

#define GUARD 64
#define MAX_BYTES (1 << 20)
#define ROUNDS_PER_OPERATOR (g_test_thorough () ? 20000 : 300)

static const gint64 numbers[] = {
  0, 1, -1, 2, -2, 3, 4, 5, 7, 8, 100, -100, 1 << 20, G_MAXINT32, G_MININT32, G_MAXINT64, G_MININT64,
  (gint64) 1 << 62, -((gint64) 1 << 62), (gint64) 1 << 32,
};

static gint64
some_number (GRand *rand)
{
  /* Mostly small ones, or nothing would ever be accepted. */
  if (g_rand_int_range (rand, 0, 4) > 0)
    return g_rand_int_range (rand, -1, 4);
  return numbers[g_rand_int_range (rand, 0, G_N_ELEMENTS (numbers))];
}

static VnDType
some_dtype (GRand *rand,
            VnDTypeSet set)
{
  static const VnDType others[] = { VN_DTYPE_F32, VN_DTYPE_S64, VN_DTYPE_S64, VN_DTYPE_S32, VN_DTYPE_U8, VN_DTYPE_S8,
                                    VN_DTYPE_F16, VN_DTYPE_BOOL, VN_DTYPE_F64, VN_DTYPE_U4 };

  for (guint i = 0; set != 0 && i < 20; i++)
    {
      VnDType dtype = (VnDType) g_rand_int_range (rand, 1, VN_N_DTYPES);

      if ((set >> dtype & 1) != 0 && vn_dtype_is_valid (dtype))
        return dtype;
    }
  return others[g_rand_int_range (rand, 0, G_N_ELEMENTS (others))];
}

static void
fill_strings (GRand    *rand,
              VnTensor *tensor)
{
  static const char * const texts[] = { "", "a", "A b", "one, two,, three ", "\xff\xfe", "\xc3\x9f\xe2\x80\x83x", "17", "aaaa" };
  char **strings = tensor->data;

  for (gsize i = 0; i < tensor->n_elements; i++)
    {
      g_free (strings[i]);
      strings[i] = g_strdup (texts[g_rand_int_range (rand, 0, G_N_ELEMENTS (texts))]);
    }
}

static void
fill (GRand    *rand,
      VnTensor *tensor)
{
  guint8 *data = tensor->data;

  if (tensor->dtype == VN_DTYPE_STRING)
    {
      fill_strings (rand, tensor);
      return;
    }
  for (gsize i = 0; i < tensor->n_bytes; i++)
    data[i] = (guint8) g_rand_int (rand);
  if (tensor->dtype == VN_DTYPE_BOOL)
    for (gsize i = 0; i < tensor->n_bytes; i++)
      data[i] &= 1;
  for (gsize i = 0; i < tensor->n_elements; i++)
    if (tensor->dtype == VN_DTYPE_S64)
      ((gint64 *) tensor->data)[i] = some_number (rand);
    else if (tensor->dtype == VN_DTYPE_S32)
      ((gint32 *) tensor->data)[i] = (gint32) some_number (rand);
    else if (tensor->dtype == VN_DTYPE_F32 && g_rand_boolean (rand))
      ((float *) tensor->data)[i] = (float) g_rand_double_range (rand, -2, 4);
}

static VnTensor *
some_tensor (GRand   *rand,
             VnDType  dtype,
             int      rank)
{
  VnShape shape = { rank };
  VnTensor *tensor;

  for (int d = 0; d < rank; d++)
    shape.dims[d] = g_rand_int_range (rand, 0, 12) == 0 ? 0 : g_rand_int_range (rand, 1, 5);
  tensor = vn_tensor_new (dtype, &shape, NULL);
  g_assert_nonnull (tensor);
  fill (rand, tensor);
  return tensor;
}

/* One number, or one or two for each dim: axes, sizes, scales, pads. */
static VnTensor *
some_list (GRand   *rand,
           VnDType  dtype,
           int      rank)
{
  VnShape shape = { 1, { (gint64) rank * g_rand_int_range (rand, 1, 3) } };
  VnTensor *tensor;

  if (g_rand_int_range (rand, 0, 3) == 0)
    return some_tensor (rand, dtype, g_rand_int_range (rand, 0, 2));
  tensor = vn_tensor_new (dtype, &shape, NULL);
  g_assert_nonnull (tensor);
  fill (rand, tensor);
  return tensor;
}

/* A sequence or an optional around a tensor, for operators that take such. */
static VnTensor *
some_container (GRand    *rand,
                VnTensor *tensor)
{
  g_autoptr(GPtrArray) items = g_ptr_array_new ();
  VnTensor *container;

  for (int n = g_rand_int_range (rand, 0, 4); n > 0; n--)
    g_ptr_array_add (items, tensor);
  if (g_rand_boolean (rand))
    container = vn_tensor_new_sequence (tensor->dtype, items, NULL);
  else
    container = vn_tensor_new_optional (tensor->dtype, items->len > 0 ? tensor : NULL, NULL);
  g_assert_nonnull (container);
  return container;
}

/* A shape of the first input for some of the others: element-wise and scattering operators want that. */
static void
make_inputs (GRand      *rand,
             const VnOp *op,
             VnTensor  **inputs,
             guint       n)
{
  gboolean alike = g_rand_boolean (rand), lists = g_rand_boolean (rand);
  VnDType dtype = some_dtype (rand, vn_op_get_dtypes (op));
  int rank = g_rand_int_range (rand, 0, 6);

  for (guint i = 0; i < n; i++)
    {
      if (i >= op->min_inputs && g_rand_int_range (rand, 0, 3) == 0)
        continue;
      if (i > 0 && lists && g_rand_boolean (rand))
        inputs[i] = some_list (rand, g_rand_int_range (rand, 0, 4) == 0 ? VN_DTYPE_F32 : VN_DTYPE_S64, rank);
      else
        inputs[i] = some_tensor (rand, i == 0 || alike ? dtype : some_dtype (rand, 0),
                                 i == 0 || alike ? rank : g_rand_int_range (rand, 0, 6));
      if (i > 0 && alike && inputs[0] != NULL && inputs[i]->dtype == dtype && g_rand_boolean (rand))
        {
          vn_tensor_unref (inputs[i]);
          inputs[i] = vn_tensor_ref (inputs[0]);
        }
      if (op->containers && inputs[i]->kind == VN_KIND_TENSOR && g_rand_boolean (rand))
        {
          g_autoptr(VnTensor) tensor = inputs[i];

          inputs[i] = some_container (rand, tensor);
        }
    }
}

/* ---- graphs in attributes ---- */

static VnTensor *
some_result (GRand *rand,
             guint  i)
{
  g_autoptr(VnTensor) tensor = NULL;

  if (i == 0 && g_rand_int_range (rand, 0, 4) > 0)
    tensor = some_tensor (rand, VN_DTYPE_BOOL, 0);
  else
    tensor = some_tensor (rand, some_dtype (rand, 0), g_rand_int_range (rand, 0, 16) == 0 ? VN_MAX_RANK
                                                                                         : g_rand_int_range (rand, 0, 4));
  return g_rand_int_range (rand, 0, 8) == 0 ? some_container (rand, tensor) : g_steal_pointer (&tensor);
}

static VnTensorType
some_type (GRand *rand,
           guint  i)
{
  g_autoptr(VnTensor) tensor = some_result (rand, i);

  if (g_rand_int_range (rand, 0, 4) == 0)
    return (VnTensorType) { VN_DTYPE_UNDEFINED, VN_SHAPE_UNKNOWN, VN_KIND_UNKNOWN };
  return vn_tensor_get_type (tensor);
}

/* What it says of its results need not be true: the file of a model says it. */
static VnTensorType
body_type (gpointer        rand,
           const VnGraph  *graph,
           guint           i)
{
  g_assert_cmpuint (i, <, graph->outputs->len);
  return some_type (rand, i);
}

/* Every loop comes to an end: each round may fail. */
static gboolean
run_body (gpointer           rand,
          const VnGraph     *graph,
          VnTensor * const  *inputs,
          VnTensor         **outputs,
          GError           **error)
{
  for (guint i = 0; i < graph->inputs->len; i++)
    g_assert_nonnull (inputs[i]);
  if (g_rand_int_range (rand, 0, 8) == 0)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_SHAPE, "the graph failed");
      return FALSE;
    }
  for (guint i = 0; i < graph->outputs->len; i++)
    {
      guint from = i + (graph->outputs->len > graph->parent_node->outputs->len ? 1 : 0);

      g_assert_null (outputs[i]);
      if (from < graph->inputs->len && g_rand_int_range (rand, 0, 4) > 0)
        outputs[i] = vn_tensor_ref (inputs[from]);
      else
        outputs[i] = some_result (rand, i);
    }
  if (graph->outputs->len > 1 && inputs != NULL && g_rand_boolean (rand))
    {
      vn_tensor_unref (outputs[graph->outputs->len - 1]);
      outputs[graph->outputs->len - 1] = vn_tensor_ref (inputs[0]);
    }
  return TRUE;
}

/* Counts and flags of the right type, or no graph would ever be run. */
static void
make_control_inputs (GRand      *rand,
                     const VnOp *op,
                     VnTensor  **inputs)
{
  gboolean loop = g_str_equal (op->type, "Loop");

  if (!loop && !g_str_equal (op->type, "If"))
    return;
  for (guint i = 0; i < (loop ? 2 : 1); i++)
    {
      g_clear_pointer (&inputs[i], vn_tensor_unref);
      if (!loop || g_rand_int_range (rand, 0, 4) > 0)
        inputs[i] = some_tensor (rand, loop && i == 0 ? VN_DTYPE_S64 : VN_DTYPE_BOOL, g_rand_int_range (rand, 0, 8) == 0);
    }
}

static void
set_scan (GRand  *rand,
          VnNode *node)
{
  static const char * const lists[] = { "scan_input_axes", "scan_output_axes", "scan_input_directions",
                                        "scan_output_directions", "directions" };

  vn_node_set_int (node, "num_scan_inputs", g_rand_boolean (rand) ? g_rand_int_range (rand, 1, 3) : some_number (rand));
  for (guint i = 0; i < G_N_ELEMENTS (lists); i++)
    {
      const gint64 values[] = { some_number (rand), some_number (rand), some_number (rand) };

      if (g_rand_int_range (rand, 0, 16) == 0)
        vn_node_set_ints (node, lists[i], values, (gsize) g_rand_int_range (rand, 0, 4));
    }
}

static void
add_bodies (GRand  *rand,
            VnNode *node)
{
  static const char * const names[] = { "body", "then_branch", "else_branch" };
  gboolean branches = vn_node_is (node, "If");

  if (!branches && !vn_node_is (node, "Loop") && !vn_node_is (node, "Scan") && !vn_node_is (node, "SequenceMap"))
    return;
  set_scan (rand, node);
  for (guint b = branches ? 1 : 0; b < (branches ? 3 : 1); b++)
    {
      VnAttr *attr = vn_attr_new (names[b], VN_ATTR_GRAPH);
      int n_inputs = branches ? 0 : (int) node->inputs->len, n_outputs = (int) node->outputs->len;

      if (vn_node_is (node, "Scan") && vn_model_get_opset (node->graph->model, "") < 9)
        n_inputs--;   /* the lengths are not for the graph */
      n_inputs += g_rand_int_range (rand, 0, 8) == 0 ? g_rand_int_range (rand, 0, 3) : 0;
      n_outputs += vn_node_is (node, "Loop") ? 1 : 0;
      n_outputs += g_rand_int_range (rand, 0, 8) == 0 ? g_rand_int_range (rand, -1, 3) : 0;
      attr->graph = vn_graph_new (node->graph->model, node->graph, node);
      for (int i = 0; i < n_inputs; i++)
        vn_graph_add_input (attr->graph, NULL, VN_DTYPE_UNDEFINED, NULL);
      for (int i = 0; i < n_outputs; i++)
        {
          VnTensorType type = some_type (rand, (guint) i);
          VnShape *shape = type.kind == VN_KIND_TENSOR ? &type.shape : NULL;

          vn_graph_set_output (attr->graph, (guint) i, vn_graph_add_value (attr->graph, NULL, type.dtype, shape));
        }
      vn_node_set_attr (node, attr);
    }
}

static void
set_floats (GRand      *rand,
            VnNode     *node,
            const char *name)
{
  VnAttr *attr = vn_attr_new (name, VN_ATTR_FLOATS);

  if (attr->floats == NULL)
    attr->floats = g_array_new (FALSE, FALSE, sizeof (float));
  for (int n = g_rand_int_range (rand, 0, 6); n > 0; n--)
    {
      float value = (float) g_rand_double_range (rand, -0.5, 3);

      g_array_append_val (attr->floats, value);
    }
  vn_node_set_attr (node, attr);
}

static void
set_strings (GRand      *rand,
             VnNode     *node,
             const char *name)
{
  static const char * const words[] = { "", "a", "b", "17", "\xff" };
  VnAttr *attr = vn_attr_new (name, VN_ATTR_STRINGS);

  if (attr->strings == NULL)
    attr->strings = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);
  for (int n = g_rand_int_range (rand, 0, 6); n > 0; n--)
    {
      const char *word = words[g_rand_int_range (rand, 0, G_N_ELEMENTS (words))];

      g_ptr_array_add (attr->strings, g_bytes_new (word, strlen (word)));
    }
  vn_node_set_attr (node, attr);
}

static void
set_texts (GRand  *rand,
           VnNode *node)
{
  static const char * const patterns[] = { "a*", "(a|aa)+$", "[[:alpha:]]\\W", "(?P<x>a)(?i:B)", "(", "[", "\\", "\\1", "(?=a)",
                                           "a**", "\\Qa", "(*UTF)", "(?#", "[^]", "x{1000000}" };
  static const char * const actions[] = { "LOWER", "UPPER", "NONE", "\xff" };
  static const char * const weights[] = { "TF", "IDF", "TFIDF" };

  if (g_rand_boolean (rand))
    vn_node_set_string (node, "pattern", patterns[g_rand_int_range (rand, 0, G_N_ELEMENTS (patterns))]);
  if (g_rand_boolean (rand))
    vn_node_set_string (node, "delimiter", g_rand_boolean (rand) ? "," : "");
  if (g_rand_boolean (rand))
    vn_node_set_string (node, "case_change_action", actions[g_rand_int_range (rand, 0, G_N_ELEMENTS (actions))]);
  if (g_rand_boolean (rand))
    set_strings (rand, node, "stopwords");
  if (g_rand_boolean (rand))
    set_strings (rand, node, "pool_strings");
  if (g_rand_boolean (rand))
    vn_node_set_string (node, "mode", weights[g_rand_int_range (rand, 0, G_N_ELEMENTS (weights))]);
}

static void
set_attributes (GRand  *rand,
                VnNode *node)
{
  static const char * const ints[] = { "axes", "perm", "starts", "ends", "split", "pads", "kernel_shape", "strides",
                                       "dilations", "shape", "output_shape", "output_padding", "border", "scale",
                                       "ngram_counts", "ngram_indexes", "pool_int64s" };
  static const char * const scalars[] = { "axis", "keepdims", "k", "to", "blocksize", "block_size", "start", "end", "upper",
                                          "batch_dims", "num_outputs", "largest", "sorted", "group", "ceil_mode",
                                          "count_include_pad", "transA", "transB", "exclusive", "reverse", "time_axis",
                                          "batch_axis", "output_dtype", "antialias", "allowzero", "p", "size", "storage_order",
                                          "bit_width", "select_last_index", "noop_with_empty_axes", "fmod", "dtype",
                                          "num_groups", "hidden_size", "sub_block_size", "stash_type", "num_heads",
                                          "q_num_heads", "kv_num_heads", "is_causal", "qk_matmul_output_mode",
                                          "softmax_precision", "left_window_size", "right_window_size",
                                          "rotary_embedding_dim", "interleaved", "unidirectional", "do_rotary",
                                          "local_window_size", "maxsplit", "is_case_sensitive", "min_gram_length",
                                          "max_gram_length",
                                          "max_skip_count", "sample_size" };
  static const char * const vision[] = { "ignore_index", "output_height", "output_width", "sampling_ratio", "align_corners",
                                         "onesided", "inverse", "periodic", "offset_group", "center_point_box" };
  static const char * const reductions[] = { "none", "sum", "mean", "add", "mul", "min" };
  static const char * const paddings[] = { "zeros", "border", "reflection" };
  static const char * const modes[] = { "reflect", "edge", "wrap", "linear", "cubic", "nearest", "CRD", "constant", "circular" };
  static const char * const update_rules[] = { "linear", "gated", "delta", "gated_delta" };
  static const char * const equations[] = { "ij,jk->ik", "...i,...i", "ii->i", "i,j->ij", "->", "" };

  for (guint i = 0; i < G_N_ELEMENTS (ints); i++)
    if (g_rand_int_range (rand, 0, 4) == 0)
      {
        gint64 values[10];
        gsize n = (gsize) g_rand_int_range (rand, 0, 9);

        for (gsize k = 0; k < n; k++)
          values[k] = some_number (rand);
        vn_node_set_ints (node, ints[i], values, n);
      }
  for (guint i = 0; i < G_N_ELEMENTS (scalars); i++)
    if (g_rand_int_range (rand, 0, 4) == 0)
      vn_node_set_int (node, scalars[i], some_number (rand));
  for (guint i = 0; i < G_N_ELEMENTS (vision); i++)
    if (g_rand_int_range (rand, 0, 4) == 0)
      vn_node_set_int (node, vision[i], some_number (rand));
  if (g_rand_boolean (rand))
    vn_node_set_ints (node, "pooled_shape", (const gint64[]) { g_rand_int_range (rand, 0, 4), some_number (rand) }, 2);
  if (g_rand_boolean (rand))
    vn_node_set_string (node, "reduction", reductions[g_rand_int_range (rand, 0, G_N_ELEMENTS (reductions))]);
  if (g_rand_boolean (rand))
    vn_node_set_string (node, "padding_mode", paddings[g_rand_int_range (rand, 0, G_N_ELEMENTS (paddings))]);
  if (g_rand_boolean (rand))
    set_floats (rand, node, g_rand_boolean (rand) ? "scales" : g_rand_boolean (rand) ? "bias" : "value_floats");
  if (g_rand_boolean (rand))
    set_texts (rand, node);
  if (g_rand_boolean (rand))
    vn_node_set_string (node, "mode", modes[g_rand_int_range (rand, 0, G_N_ELEMENTS (modes))]);
  if (g_rand_boolean (rand))
    vn_node_set_string (node, "equation", equations[g_rand_int_range (rand, 0, G_N_ELEMENTS (equations))]);
  if (g_rand_boolean (rand))
    vn_node_set_string (node, "update_rule", update_rules[g_rand_int_range (rand, 0, G_N_ELEMENTS (update_rules))]);
  if (g_rand_boolean (rand))
    vn_node_set_string (node, "direction", g_rand_boolean (rand) ? "LEFT" : "bidirectional");
  if (g_rand_int_range (rand, 0, 4) == 0)
    vn_node_set_string (node, "auto_pad", g_rand_boolean (rand) ? "SAME_UPPER" : "VALID");
}

static VnTensor *
guarded (const VnTensorType *type)
{
  gsize n, bytes;
  guint8 *memory;

  if (type->dtype == VN_DTYPE_STRING)
    return vn_tensor_new (type->dtype, &type->shape, NULL);
  if (type->dtype == VN_DTYPE_UNDEFINED ||
      !vn_tensor_size_in_bytes (type->dtype, &type->shape, &n, &bytes) || bytes > MAX_BYTES)
    return NULL;
  memory = g_aligned_alloc (1, bytes + 2 * GUARD, 64);
  memset (memory, 0xa5, bytes + 2 * GUARD);
  return vn_tensor_new_wrap (type->dtype, &type->shape, memory + GUARD, memory, g_aligned_free, NULL);
}

static void
check_guards (const guint8 *data,
              gsize         n)
{
  for (gsize i = 0; i < GUARD; i++)
    {
      g_assert_cmpuint (data[n + i], ==, 0xa5);
      g_assert_cmpuint (data[-1 - (gssize) i], ==, 0xa5);
    }
}

typedef struct
{
  guint refused, too_large, failed, done;
} Counts;

static void
run_guarded (VnOpContext *ctx,
             Counts      *counts)
{
  g_autoptr(GError) error = NULL;
  guint8 *memory = g_aligned_alloc (1, ctx->scratch_bytes + 2 * GUARD, 64);
  gboolean made[16] = { FALSE }, ok = TRUE;
  gpointer prepared = NULL;

  memset (memory, 0xa5, ctx->scratch_bytes + 2 * GUARD);
  ctx->scratch = memory + GUARD;
  ok = vn_op_prepare (ctx, &prepared, &error);
  ctx->prepared = prepared;
  for (guint i = 0; i < ctx->n_outputs; i++)
    if (ctx->out[i] == NULL && !ctx->op->makes_outputs)
      {
        made[i] = TRUE;
        ctx->out[i] = guarded (&ctx->out_types[i]);
      }
  ok = ok && vn_op_run (ctx, &error);
  g_assert_true (ok == (error == NULL));
  if (ok)
    counts->done++;
  else
    counts->failed++;
  for (guint i = 0; i < ctx->n_outputs; i++)
    if (made[i] && ctx->out[i]->dtype != VN_DTYPE_STRING)
      check_guards (ctx->out[i]->data, ctx->out[i]->n_bytes);
    else if (ok)
      g_assert_nonnull (ctx->out[i]);
  check_guards (ctx->scratch, ctx->scratch_bytes);
  vn_op_release (ctx->op, prepared);
  g_aligned_free (memory);
}

static gboolean
can_hold (const VnOpContext *ctx)
{
  for (guint i = 0; i < ctx->n_outputs; i++)
    {
      gsize n, bytes;

      if (ctx->out[i] == NULL && !ctx->op->makes_outputs &&
          (ctx->out_types[i].dtype == VN_DTYPE_UNDEFINED ||
           !vn_tensor_size_in_bytes (ctx->out_types[i].dtype, &ctx->out_types[i].shape, &n, &bytes) ||
           bytes > MAX_BYTES))
        return FALSE;
    }
  return ctx->scratch_bytes <= 64 * MAX_BYTES;
}

static void
try_once (GRand      *rand,
          const VnOp *op,
          Counts     *counts)
{
  gint64 opset = op->until != 0 ? g_rand_int_range (rand, op->since, op->until + 1)
                                : g_rand_int_range (rand, op->since, MAX (op->since, 25) + 1);
  g_autoptr(VnModel) model = vn_model_new (8, *op->domain == '\0' ? opset : 21);
  guint n_inputs = (guint) g_rand_int_range (rand, op->min_inputs, MIN (op->max_inputs, 6 + op->min_inputs) + 1);
  guint n_outputs = (guint) g_rand_int_range (rand, op->min_outputs, MIN (op->max_outputs, 4) + 1);
  VnTensor *in[32] = { NULL }, *out[16] = { NULL };
  VnTensorType in_types[32], out_types[16];
  VnValue *inputs[32], *outputs[16];
  g_autoptr(GError) error = NULL;
  VnOpBodies bodies = { body_type, run_body, rand };
  VnOpContext ctx = { .op = op, .opset = opset, .n_inputs = n_inputs, .n_outputs = n_outputs, .in_types = in_types,
                      .in = in, .out_types = out_types, .out = out, .n_threads = 1, .bodies = &bodies };

  make_inputs (rand, op, in, n_inputs);
  make_control_inputs (rand, op, in);
  for (guint i = 0; i < n_inputs; i++)
    {
      in_types[i] = (VnTensorType) { VN_DTYPE_UNDEFINED, VN_SHAPE_UNKNOWN };
      inputs[i] = NULL;
      if (in[i] == NULL)
        continue;
      in_types[i] = vn_tensor_get_type (in[i]);
      inputs[i] = vn_graph_add_input (model->graph, NULL, in[i]->dtype, &in[i]->shape);
    }
  for (guint i = 0; i < n_outputs; i++)
    {
      out_types[i] = (VnTensorType) { VN_DTYPE_UNDEFINED, VN_SHAPE_UNKNOWN };
      outputs[i] = vn_graph_add_value (model->graph, NULL, VN_DTYPE_UNDEFINED, NULL);
    }
  ctx.node = vn_graph_add_node (model->graph, NULL, op->domain, op->type, inputs, n_inputs, outputs, n_outputs);
  set_attributes (rand, (VnNode *) ctx.node);
  add_bodies (rand, (VnNode *) ctx.node);
  if (g_str_equal (op->domain, "ai.onnx.ml"))
    hostile_learning (rand, (VnNode *) ctx.node);
  if ((op->makes_outputs && !vn_op_check_call (&ctx, &error)) || !vn_op_infer (&ctx, &error))
    {
      g_assert_nonnull (error);
      counts->refused++;
    }
  else if (n_inputs > 0 && in[0] != NULL && !vn_op_takes (op, in[0]->dtype))
    counts->refused++;
  else if (!can_hold (&ctx))
    counts->too_large++;
  else
    run_guarded (&ctx, counts);
  for (guint i = 0; i < n_inputs; i++)
    g_clear_pointer (&in[i], vn_tensor_unref);
  for (guint i = 0; i < n_outputs; i++)
    g_clear_pointer (&out[i], vn_tensor_unref);
}

static void
test_operator (gconstpointer data)
{
  const VnOp *op = data;
  guint32 seed = g_str_hash (op->type) + op->since;
  g_autoptr(GRand) rand = g_rand_new_with_seed (seed);
  Counts counts = { 0 };

  for (int i = 0; i < ROUNDS_PER_OPERATOR; i++)
    try_once (rand, op, &counts);
  g_test_message ("%u refused, %u too large, %u failed, %u computed", counts.refused, counts.too_large, counts.failed,
                  counts.done);
}

int
main (int    argc,
      char **argv)
{
  const VnOp * const *ops;
  guint n;

  g_test_init (&argc, &argv, NULL);
  ops = vn_op_list (&n);
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *path = g_strdup_printf ("/ops/hostile/%s%s%s-%u", ops[i]->domain, *ops[i]->domain != '\0' ? "." : "",
                                               ops[i]->type, ops[i]->since);

      g_test_add_data_func (path, ops[i], test_operator);
    }
  return g_test_run ();
}
