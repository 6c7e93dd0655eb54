/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Small networks to quantize, and the recipes that they are quantized with. */
#include "quantize-cases.h"

/* ---- networks ---- */

static const VnShape image = { 4, { 1, 2, 4, 4 } };

/* Conv from @x to @y with 3 output channels of a 1x1 kernel. */
static void
add_conv (Fixture    *f,
          const char *name,
          const char *x,
          const char *y,
          gboolean    with_bias)
{
  g_autofree char *w = g_strconcat (name, ".w", NULL), *b = g_strconcat (name, ".b", NULL);
  g_autofree char *inputs = with_bias ? g_strjoin (" ", x, w, b, NULL) : g_strjoin (" ", x, w, NULL);

  fixture_weight (f, w, VN_SHAPE (2, 2, 1, 1), -0.5f, 1);
  if (with_bias)
    fixture_weight (f, b, VN_SHAPE (2), -0.25f, 0.75f);
  fixture_node (f, "Conv", name, inputs, y);
}

void
build_conv_relu (Fixture *f)
{
  fixture_input (f, "x", image);
  add_conv (f, "conv", "x", "c", TRUE);
  fixture_node (f, "Relu", "relu", "c", "y");
  fixture_output (f, "y");
  fixture_range (f, "c", -3, 3);
  fixture_range (f, "y", 0, 2);
}

static void
build_relu_two_consumers (Fixture *f)
{
  fixture_input (f, "x", image);
  add_conv (f, "conv", "x", "c", TRUE);
  fixture_node (f, "Relu", "relu", "c", "r");
  fixture_node (f, "Add", "add", "c r", "y");
  fixture_output (f, "y");
  fixture_range (f, "c", -3, 3);
  fixture_range (f, "r", 0, 3);
}

static void
build_relu_of_output (Fixture *f)
{
  build_conv_relu (f);
  fixture_output (f, "c");
}

static void
build_clips (Fixture *f)
{
  fixture_input (f, "x", image);
  fixture_weight (f, "zero", VN_SHAPE_SCALAR, 0, 0);
  fixture_weight (f, "one", VN_SHAPE_SCALAR, 1, 1);
  fixture_weight (f, "six", VN_SHAPE_SCALAR, 6, 6);
  add_conv (f, "a", "x", "a.c", FALSE);
  fixture_node (f, "Clip", "relu6", "a.c zero six", "a.y");
  add_conv (f, "b", "a.y", "b.c", FALSE);
  fixture_node (f, "Clip", "from-one", "b.c one six", "b.y");
  add_conv (f, "c", "b.y", "c.c", FALSE);
  fixture_node (f, "Clip", "below-six", "c.c - six", "c.y");
  add_conv (f, "d", "c.y", "d.c", FALSE);
  fixture_node (f, "Clip", "no-bounds", "d.c", "d.y");
  fixture_output (f, "d.y");
  fixture_range (f, "a.c", -9, 9);
  fixture_range (f, "a.y", 0, 6);
  fixture_range (f, "b.y", 1, 6);
}

static void
build_clip_attributes (Fixture *f)
{
  VnNode *clip;

  fixture_input (f, "x", image);
  add_conv (f, "a", "x", "a.c", FALSE);
  clip = fixture_node (f, "Clip", "relu6", "a.c", "a.y");
  vn_node_set_float (clip, "min", 0);
  vn_node_set_float (clip, "max", 6);
  add_conv (f, "b", "a.y", "b.c", FALSE);
  clip = fixture_node (f, "Clip", "below", "b.c", "b.y");
  vn_node_set_float (clip, "max", -1);
  fixture_output (f, "b.y");
}

static void
build_relu_chain (Fixture *f)
{
  fixture_input (f, "x", image);
  fixture_weight (f, "six", VN_SHAPE_SCALAR, 6, 6);
  add_conv (f, "conv", "x", "c", FALSE);
  fixture_node (f, "Relu", "relu", "c", "r");
  fixture_node (f, "Clip", "clip", "r - six", "y");
  fixture_output (f, "y");
  fixture_range (f, "c", -9, 9);
  fixture_range (f, "r", 0, 9);
  fixture_range (f, "y", 0, 6);
}

static void
build_relu_of_input (Fixture *f)
{
  fixture_input (f, "x", image);
  fixture_node (f, "Relu", "relu", "x", "r");
  fixture_node (f, "Mul", "mul", "r r", "m");
  fixture_node (f, "Relu", "relu2", "m", "y");
  fixture_output (f, "y");
}

static void
build_concat_duplicates (Fixture *f)
{
  fixture_input (f, "x", image);
  fixture_weight (f, "k", VN_SHAPE (1, 1, 4, 4), -2, 1);
  vn_node_set_int (fixture_node (f, "Concat", "concat", "x x k", "y"), "axis", 1);
  fixture_node (f, "Add", "add", "y y", "z");
  fixture_output (f, "z");
  fixture_range (f, "x", -1, 3);
}

void
build_shared_weights (Fixture *f)
{
  fixture_input (f, "x", image);
  fixture_weight (f, "w", VN_SHAPE (2, 2, 1, 1), -0.5f, 1);
  fixture_weight (f, "b", VN_SHAPE (2), -1, 1);
  fixture_node (f, "Conv", "conv1", "x w b", "c1");
  fixture_node (f, "Conv", "conv2", "c1 w b", "c2");
  fixture_weight (f, "k", VN_SHAPE (2, 1, 1), 0, 1);
  fixture_node (f, "Mul", "mul", "c2 k", "z");
  fixture_node (f, "Sub", "sub", "z k", "s");
  fixture_output (f, "s");
}

static void
build_bias_as_data (Fixture *f)
{
  fixture_input (f, "x", VN_SHAPE (1, 2));
  fixture_weight (f, "w", VN_SHAPE (2, 2), -1, 1);
  fixture_weight (f, "b", VN_SHAPE (2), -1, 1);
  fixture_node (f, "Gemm", "gemm", "x w b", "g");
  fixture_node (f, "Add", "add", "g b", "y");
  fixture_output (f, "y");
}

static void
build_output_consumed (Fixture *f)
{
  fixture_input (f, "x", image);
  add_conv (f, "a", "x", "c", FALSE);
  add_conv (f, "b", "c", "y", FALSE);
  fixture_output (f, "c");
  fixture_output (f, "y");
}

static void
build_input_is_output (Fixture *f)
{
  fixture_input (f, "x", image);
  fixture_node (f, "Mul", "mul", "x x", "y");
  fixture_output (f, "x");
  fixture_output (f, "y");
}

static void
build_passthrough (Fixture *f)
{
  static const gint64 kernel[] = { 2, 2 }, target[] = { 1, -1 };
  VnNode *pool;

  fixture_input (f, "x", image);
  fixture_ints (f, "target", target, 2);
  add_conv (f, "conv", "x", "c", TRUE);
  pool = fixture_node (f, "MaxPool", "pool", "c", "p");
  vn_node_set_ints (pool, "kernel_shape", kernel, 2);
  fixture_node (f, "Transpose", "transpose", "p", "t");
  fixture_node (f, "Reshape", "reshape", "t target", "r");
  fixture_node (f, "Sub", "sub", "r r", "s");
  fixture_node (f, "Transpose", "float", "s", "y");
  fixture_output (f, "y");
  fixture_range (f, "c", -2, 2);
}

static void
build_linear (Fixture *f)
{
  VnNode *gemm;

  fixture_input (f, "x", VN_SHAPE (1, 2));
  fixture_weight (f, "w1", VN_SHAPE (3, 2), -1, 1);
  fixture_weight (f, "b1", VN_SHAPE (3), -1, 1);
  gemm = fixture_node (f, "Gemm", "gemm", "x w1 b1", "g");
  vn_node_set_int (gemm, "transB", 1);
  vn_node_set_float (gemm, "beta", 2);
  fixture_weight (f, "w2", VN_SHAPE (3, 2), -1, 1);
  fixture_weight (f, "b2", VN_SHAPE (1, 2), -1, 1);
  fixture_node (f, "Gemm", "gemm2", "g w2 b2", "h");
  fixture_weight (f, "w3", VN_SHAPE (2, 4), -3, 1);
  fixture_node (f, "MatMul", "matmul", "h w3", "m");
  fixture_node (f, "Transpose", "transpose", "m", "t");
  fixture_node (f, "MatMul", "dynamic", "m t", "y");
  fixture_output (f, "y");
}

static void
build_bias_overflow (Fixture *f)
{
  VnTensor *bias;

  fixture_input (f, "x", image);
  fixture_weight (f, "w", VN_SHAPE (2, 2, 1, 1), -1e-9f, 1e-6f);
  bias = fixture_weight (f, "b", VN_SHAPE (2), 1e-3f, 30000);
  g_assert_cmpfloat (((float *) bias->data)[1], ==, 30000);
  fixture_node (f, "Conv", "conv", "x w b", "y");
  fixture_output (f, "y");
}

static void
build_single_rules (Fixture *f)
{
  static const gint64 indices[] = { 0, 1 }, pads[] = { 0, 0, 0, 1 };

  fixture_input (f, "x", VN_SHAPE (2, 4));
  fixture_ints (f, "indices", indices, 2);
  fixture_ints (f, "pads", pads, 4);
  fixture_weight (f, "table", VN_SHAPE (3, 5), -1, 3);
  fixture_weight (f, "fill", VN_SHAPE_SCALAR, -7, -7);
  fixture_node (f, "Gather", "embed", "table indices", "e");
  fixture_node (f, "Pad", "pad", "x pads", "p");
  fixture_node (f, "Add", "add", "p e", "a");
  fixture_node (f, "Pad", "pad-filled", "a pads fill", "q");
  fixture_node (f, "Softmax", "softmax", "q", "s");
  vn_node_set_int (fixture_node (f, "Split", "split", "s", "s1 s2"), "axis", 1);
  fixture_node (f, "Greater", "greater", "s1 s2", "more");
  fixture_node (f, "Where", "where", "more s1 s2", "w");
  fixture_node (f, "ArgMax", "argmax", "w", "y");
  fixture_output (f, "y");
  fixture_range (f, "p", -9, 9);
  fixture_range (f, "s", 0.25f, 0.5f);
  fixture_range (f, "w", 0.25f, 0.5f);
}

static void
build_norm (Fixture *f)
{
  fixture_input (f, "x", image);
  fixture_weight (f, "scale", VN_SHAPE (2), 0.5f, 1);
  fixture_weight (f, "b", VN_SHAPE (2), -1, 1);
  fixture_node (f, "InstanceNormalization", "norm", "x scale b", "y");
  fixture_output (f, "y");
}

static void
build_unsorted (Fixture *f)
{
  fixture_input (f, "x", image);
  fixture_node (f, "Transpose", "transpose", "c", "y");
  add_conv (f, "conv", "x", "c", FALSE);
  fixture_output (f, "y");
}

void
build_two_convs (Fixture *f)
{
  fixture_input (f, "x", image);
  fixture_weight (f, "b", VN_SHAPE (2), -1, 1);
  fixture_weight (f, "w", VN_SHAPE (2, 2, 1, 1), -0.5f, 1);
  fixture_node (f, "Conv", "first", "x w b", "c");
  fixture_node (f, "Relu", "relu", "c", "r");
  fixture_node (f, "Conv", "second", "r w b", "d");
  fixture_node (f, "Sub", "sub", "d r", "y");
  fixture_output (f, "y");
  fixture_range (f, "r", 0, 1);
}

static void
build_quantized_already (Fixture *f)
{
  g_autoptr(VnTensor) zero = NULL;
  gint64 value = 0;

  fixture_input (f, "x", image);
  fixture_weight (f, "s", VN_SHAPE_SCALAR, 0.1f, 0.1f);
  zero = vn_quant_integer_tensor (VN_DTYPE_U8, &VN_SHAPE_SCALAR, &value, NULL);
  vn_graph_add_initializer (f->model->graph, "z", zero);
  fixture_node (f, "QuantizeLinear", "q", "x s z", "xq");
  fixture_node (f, "DequantizeLinear", "dq", "xq s z", "xd");
  add_conv (f, "conv", "xd", "c", TRUE);
  fixture_output (f, "c");
}

/* ---- recipes ---- */

static void
recipe_channels (VnRecipe *recipe)
{
  recipe->per_channel = TRUE;
}

static void
recipe_symmetric (VnRecipe *recipe)
{
  recipe->symmetric_activations = TRUE;
}

static void
recipe_reduced (VnRecipe *recipe)
{
  recipe->reduce_range = TRUE;
}

void
recipe_exclude_first (VnRecipe *recipe)
{
  vn_recipe_add_exclude (recipe, "first");
  vn_recipe_add_exclude (recipe, "type:LSTM");
  vn_recipe_add_exclude (recipe, "second")->enabled = FALSE;
}

static void
recipe_wide_second (VnRecipe *recipe)
{
  VnOverride *rule;

  vn_recipe_add_exclude (recipe, "second");
  rule = vn_recipe_add_exclude (recipe, "sec*");
  rule->exclude = FALSE;
  rule->activation = VN_DTYPE_U16;
  rule->weight = VN_DTYPE_S16;
}

static void
recipe_ask_for_sub (VnRecipe *recipe)
{
  vn_recipe_add_exclude (recipe, "type:Sub")->exclude = FALSE;
}

static void
recipe_boundary (VnRecipe *recipe)
{
  const char *in[] = { "c", NULL }, *out[] = { "d", NULL }, *gone[] = { "gone", NULL };
  VnOverride *rule = vn_recipe_add_exclude (recipe, "");

  g_clear_pointer (&rule->pattern, g_free);
  rule->in_edges = g_strdupv ((char **) in);
  rule->out_edges = g_strdupv ((char **) out);
  rule = vn_recipe_add_exclude (recipe, "");
  g_clear_pointer (&rule->pattern, g_free);
  rule->in_edges = g_strdupv ((char **) gone);
  rule->out_edges = g_strdupv ((char **) out);
}

static const QuantizeCase cases[] = {
  { "conv-relu",             13, "cpu",    build_conv_relu,          NULL },
  { "conv-relu-channels",    13, "cpu",    build_conv_relu,          recipe_channels },
  { "conv-relu-symmetric",   13, "cpu-s8", build_conv_relu,          recipe_symmetric },
  { "conv-relu-reduced",     13, "cpu",    build_conv_relu,          recipe_reduced },
  { "conv-relu-16-contrib",  13, "a16w8",  build_conv_relu,          NULL },
  { "conv-relu-16",          21, "a16w8",  build_conv_relu,          recipe_channels },
  { "relu-two-consumers",    13, "cpu",    build_relu_two_consumers, NULL },
  { "relu-of-output",        13, "cpu",    build_relu_of_output,     NULL },
  { "relu-chain",            13, "cpu",    build_relu_chain,         NULL },
  { "relu-of-input",         13, "cpu",    build_relu_of_input,      NULL },
  { "clips",                 13, "cpu",    build_clips,              NULL },
  { "clip-attributes",       10, "cpu",    build_clip_attributes,    NULL },
  { "concat-duplicates",     13, "cpu",    build_concat_duplicates,  NULL },
  { "concat-reduced",        13, "cpu",    build_concat_duplicates,  recipe_reduced },
  { "shared-weights",        13, "cpu",    build_shared_weights,     recipe_channels },
  { "bias-as-data",          13, "cpu",    build_bias_as_data,       NULL },
  { "output-consumed",       13, "cpu",    build_output_consumed,    NULL },
  { "input-is-output",       13, "cpu",    build_input_is_output,    NULL },
  { "passthrough",           13, "cpu",    build_passthrough,        NULL },
  { "passthrough-11",        11, "cpu",    build_passthrough,        NULL },
  { "linear",                13, "cpu",    build_linear,             NULL },
  { "linear-channels",       13, "cpu",    build_linear,             recipe_channels },
  { "bias-overflow",         13, "cpu",    build_bias_overflow,      NULL },
  { "bias-overflow-channels", 13, "cpu",   build_bias_overflow,      recipe_channels },
  { "single-rules",          13, "cpu",    build_single_rules,       NULL },
  { "norm",                  13, "cpu",    build_norm,               recipe_channels },
  { "unsorted",              13, "cpu",    build_unsorted,           NULL },
  { "exclude",               13, "cpu",    build_two_convs,          recipe_exclude_first },
  { "wide-rule",             21, "cpu",    build_two_convs,          recipe_wide_second },
  { "ask-for-sub",           13, "cpu",    build_two_convs,          recipe_ask_for_sub },
  { "boundary",              13, "cpu",    build_two_convs,          recipe_boundary },
  { "quantized-already",     13, "cpu",    build_quantized_already,  NULL },
};

const QuantizeCase *
quantize_cases_list (guint *n)
{
  *n = G_N_ELEMENTS (cases);
  return cases;
}
