/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Small networks -> plan and written graph, as text, against golden/<case>.txt.
 * test-quantize --generate [CASE...] writes those files: read the difference before committing it. */

#include "quantize-fixture.h"

#include "vn-error.h"
#include "vn-validate.h"

#include <string.h>

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

static void
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

static void
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

static void
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

static void
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

static const struct
{
  const char *id;
  gint64      opset;
  const char *preset;
  void      (*build) (Fixture *f);
  void      (*adjust) (VnRecipe *recipe);
} cases[] = {
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

/* ---- text ---- */

static void
append_tensor (GString        *text,
               const VnTensor *tensor)
{
  for (gsize i = 0; i < MIN (tensor->n_elements, 4); i++)
    g_string_append_printf (text, "%s%.7g", i > 0 ? "," : "", vn_tensor_get_double (tensor, i));
  if (tensor->n_elements > 4)
    g_string_append (text, ",...");
}

static void
append_row (GString            *text,
            const VnTensorPlan *row)
{
  static const char * const roles[] = { "activation", "weight", "bias" };

  g_string_append_printf (text, "%s: %s", row->name, roles[row->role]);
  if (row->quantized)
    {
      g_string_append_printf (text, " %s", vn_dtype_get_name (row->dtype));
      if (row->axis >= 0)
        g_string_append_printf (text, " axis %d", row->axis);
      g_string_append (text, " scale ");
      append_tensor (text, row->scale);
      g_string_append (text, " zero ");
      append_tensor (text, row->zero_point);
      g_string_append_printf (text, " from %.7g..%.7g", row->min, row->max);
    }
  else
    {
      g_string_append (text, " float");
    }
  g_string_append_printf (text, " (%s)\n", row->rule);
}

static void
append_values (GString         *text,
               const GPtrArray *values)
{
  for (guint i = 0; i < values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (values, i);

      g_string_append_printf (text, "%s%s", i > 0 ? " " : "", value != NULL ? value->name : "-");
    }
}

static void
append_model (GString       *text,
              const VnModel *model)
{
  const VnGraph *graph = model->graph;

  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (graph->nodes, i);

      g_string_append_printf (text, "%s%s%s %s: ", node->domain, *node->domain != '\0' ? "." : "", node->op_type, node->name);
      append_values (text, node->inputs);
      g_string_append (text, " -> ");
      append_values (text, node->outputs);
      if (vn_node_get_attr (node, "axis") != NULL)
        g_string_append_printf (text, " axis=%d", (int) vn_node_get_int (node, "axis", 0));
      if (vn_node_get_attr (node, "beta") != NULL)
        g_string_append_printf (text, " beta=%g", vn_node_get_float (node, "beta", 0));
      g_string_append_c (text, '\n');
    }
  for (guint i = 0; i < graph->initializers->len; i++)
    {
      const VnValue *value = g_ptr_array_index (graph->initializers, i);
      g_autofree char *type = vn_type_to_string (&value->type);

      g_string_append_printf (text, "initializer %s %s = ", value->name, type);
      append_tensor (text, value->initializer);
      g_string_append_c (text, '\n');
    }
  g_string_append (text, "outputs ");
  append_values (text, graph->outputs);
  g_string_append_printf (text, "\nopset %d, com.microsoft %d, IR %d\n", (int) vn_model_get_opset (model, ""),
                          (int) vn_model_get_opset (model, "com.microsoft"), (int) model->ir_version);
}

static void
append_names (GString    *text,
              GHashTable *names)
{
  g_autoptr(GList) keys = g_list_sort (g_hash_table_get_keys (names), (GCompareFunc) strcmp);

  for (GList *l = keys; l != NULL; l = l->next)
    {
      const char *to = g_hash_table_lookup (names, l->data);

      if (!g_str_equal (l->data, to))
        g_string_append_printf (text, "name %s -> %s\n", (const char *) l->data, to);
    }
}

static char *
run_case (guint index)
{
  g_autoptr(Fixture) f = fixture_new (cases[index].opset);
  g_autoptr(VnRecipe) recipe = vn_recipe_new (cases[index].preset);
  g_autoptr(VnNotes) notes = vn_notes_new ();
  g_autoptr(GString) text = g_string_new (NULL);
  g_autoptr(GHashTable) names = NULL;
  g_autoptr(VnQuantPlan) plan = NULL;
  g_autoptr(VnModel) model = NULL;
  g_autoptr(GError) error = NULL;

  recipe->per_channel = FALSE;   /* unless the case says so */
  cases[index].build (f);
  if (cases[index].adjust != NULL)
    cases[index].adjust (recipe);
  fixture_complete (f);

  plan = fixture_resolve (f, recipe, notes, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < vn_quant_plan_get_n (plan); i++)
    append_row (text, vn_quant_plan_get (plan, i));
  for (guint i = 0; i < vn_notes_get_n (notes); i++)
    g_string_append_printf (text, "note %s: %s\n", vn_notes_get (notes, i)->code, vn_notes_get (notes, i)->text);

  g_string_append_c (text, '\n');
  model = vn_quantize_write (f->model, recipe, plan, &names, &error);
  g_assert_no_error (error);
  vn_model_validate (model, VN_VALIDATE_SIZES, NULL, &error);
  g_assert_no_error (error);
  append_model (text, model);
  append_names (text, names);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/* ---- tests ---- */

static void
test_golden (gconstpointer data)
{
  guint index = GPOINTER_TO_UINT (data);
  g_autofree char *file = g_strconcat (cases[index].id, ".txt", NULL);
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "golden", file, NULL);
  g_autofree char *text = run_case (index), *expected = NULL;
  g_autoptr(GError) error = NULL;

  g_file_get_contents (path, &expected, NULL, &error);
  g_assert_no_error (error);
  if (!g_str_equal (text, expected))
    g_test_message ("got:\n%s\nexpected:\n%s", text, expected);
  g_assert_cmpstr (text, ==, expected);
}

/* Names, roles and weights of the prepared model are not touched. */
static void
test_input_unchanged (void)
{
  g_autoptr(Fixture) f = fixture_new (13);
  g_autoptr(VnRecipe) recipe = vn_recipe_new ("cpu");
  g_autoptr(GString) before = g_string_new (NULL), after = g_string_new (NULL);
  g_autoptr(VnQuantPlan) plan = NULL;
  g_autoptr(VnModel) model = NULL;
  g_autoptr(GError) error = NULL;

  build_shared_weights (f);
  fixture_complete (f);
  append_model (before, f->model);
  plan = fixture_resolve (f, recipe, NULL, &error);
  g_assert_no_error (error);
  model = vn_quantize_write (f->model, recipe, plan, NULL, &error);
  g_assert_no_error (error);
  append_model (after, f->model);
  g_assert_cmpstr (before->str, ==, after->str);
  g_assert_cmpstr (vn_model_get_metadata (model, "vernier.preset"), ==, "cpu");
  g_assert_cmpstr (vn_model_get_metadata (model, "vernier.format"), ==, "qdq");
  g_assert_cmpstr (model->producer_name, ==, "Vernier");
}

static void
test_errors (void)
{
  g_autoptr(Fixture) f = fixture_new (12);
  g_autoptr(VnRecipe) recipe = vn_recipe_new ("cpu");
  g_autoptr(GError) error = NULL;
  g_autoptr(VnNotes) notes = vn_notes_new ();
  g_autoptr(VnQuantPlan) plan = NULL;

  build_conv_relu (f);
  fixture_complete (f);

  recipe->per_channel = FALSE;
  fixture_observe (f, "y", (float[]) { 0, NAN }, 2);
  g_assert_null (fixture_resolve (f, recipe, NULL, &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_NUMERIC);
  g_assert_nonnull (strstr (error->message, "y"));
  g_clear_error (&error);
  fixture_range (f, "y", 0, 2);

  g_hash_table_remove (f->histograms, "x");
  g_assert_null (fixture_resolve (f, recipe, NULL, &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_MISSING_DATA);
  g_clear_error (&error);

  fixture_observe (f, "x", (float[]) { 0, INFINITY, 3 }, 3);
  plan = fixture_resolve (f, recipe, notes, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (vn_notes_get_n (notes), ==, 1);
  g_assert_cmpstr (vn_notes_get (notes, 0)->code, ==, "mask-stays-float");
  g_assert_false (vn_quant_plan_find (plan, "x")->quantized);

  recipe->per_channel = TRUE;
  g_assert_null (fixture_resolve (f, recipe, NULL, &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED);
  g_clear_error (&error);

  recipe->per_channel = FALSE;
  recipe->format = VN_N_FORMATS;
  g_assert_null (vn_quantize_write (f->model, recipe, plan, NULL, &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_SETTING);
  g_clear_error (&error);

  ((float *) vn_graph_find_value (f->model->graph, "conv.w")->initializer->data)[0] = NAN;
  recipe->format = VN_FORMAT_QDQ;
  g_assert_null (fixture_resolve (f, recipe, NULL, &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_NUMERIC);
  g_assert_nonnull (strstr (error->message, "conv.w"));
}

/* Where scales per channel cannot be had, weights have one scale and a note says why; where they can, there is no note. */
static void
test_one_scale (void)
{
  static const struct { const char *preset, *settings[6]; gboolean one; } kinds[] = {
    { "cpu",       { NULL }, FALSE },
    { "cpu",       { "format", "fixneuron", "activation", "int8" }, TRUE },
    { "fixneuron", { "per-channel", "true" }, TRUE },
    { "npu-cnn",   { "per-channel", "true" }, TRUE },
    { "cpu",       { "opset", "12" }, TRUE },
    { "cpu",       { "opset", "13" }, FALSE },
    { "cpu",       { "opset", "12", "per-channel", "false" }, FALSE },
    { "a16w8",     { NULL }, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      g_autoptr(Fixture) f = fixture_new (13);
      g_autoptr(VnRecipe) recipe = vn_recipe_new (kinds[i].preset);
      g_autoptr(VnNotes) notes = vn_notes_new ();
      g_autoptr(VnQuantPlan) plan = NULL;
      g_autoptr(GError) error = NULL;
      guint said = 0;

      for (guint k = 0; k < G_N_ELEMENTS (kinds[i].settings) && kinds[i].settings[k] != NULL; k += 2)
        g_assert_true (vn_recipe_set (recipe, kinds[i].settings[k], kinds[i].settings[k + 1], NULL));
      build_conv_relu (f);
      fixture_complete (f);
      plan = fixture_resolve (f, recipe, notes, &error);
      g_assert_no_error (error);
      for (guint k = 0; k < vn_notes_get_n (notes); k++)
        said += g_str_equal (vn_notes_get (notes, k)->code, "one-scale");
      g_assert_cmpuint (said, ==, kinds[i].one);
      g_assert_cmpint (vn_quant_plan_find (plan, "conv.w")->axis >= 0, ==, recipe->per_channel && !kinds[i].one);
    }
}

/* Floats of 8 bit have a scale, and no zero point but 0. */
static void
test_float8_rule (void)
{
  for (guint i = 0; i < 3; i++)
    {
      static const char * const zero_points[] = { "0", "3", "-1" };
      g_autofree char *text = g_strdup_printf ("{\"vernier-recipe\": 1, \"format\": \"extended\", \"activation\": \"float8e4m3fn\","
                                               " \"rules\": [{\"tensors\": [\"x\"], \"scale\": [\"0.5\"], \"zero-point\": [\"%s\"]}]}",
                                               zero_points[i]);
      g_autoptr(Fixture) f = fixture_new (21);
      g_autoptr(GError) error = NULL;
      g_autoptr(VnRecipe) recipe = vn_recipe_from_json (text, "recipe", &error);
      g_autoptr(VnQuantPlan) plan = NULL;

      g_assert_no_error (error);
      build_conv_relu (f);
      fixture_complete (f);
      plan = fixture_resolve (f, recipe, NULL, &error);
      if (i > 0)
        {
          g_assert_error (error, VN_ERROR, VN_ERROR_SETTING);
          continue;
        }
      g_assert_no_error (error);
      g_assert_cmpfloat (((const float *) vn_quant_plan_find (plan, "x")->scale->data)[0], ==, 0.5f);
    }
}

static void
test_nodes (void)
{
  g_autoptr(Fixture) f = fixture_new (13);
  g_autoptr(VnRecipe) recipe = vn_recipe_new ("cpu");
  g_autoptr(VnQuantPlan) plan = NULL;
  g_autoptr(GError) error = NULL;

  build_two_convs (f);
  fixture_complete (f);
  recipe_exclude_first (recipe);
  plan = fixture_resolve (f, recipe, NULL, &error);
  g_assert_no_error (error);
  g_assert_false (vn_quant_plan_is_node_quantized (plan, "first"));
  g_assert_true (vn_quant_plan_is_node_quantized (plan, "second"));
  g_assert_false (vn_quant_plan_is_node_quantized (plan, "relu"));
  g_assert_false (vn_quant_plan_is_node_quantized (plan, "sub"));
}

static void
test_list (void)
{
  g_autoptr(Fixture) f = fixture_new (13);
  g_autoptr(VnRecipe) recipe = vn_recipe_new ("cpu");
  g_autoptr(GPtrArray) values = NULL;
  g_autoptr(GString) text = g_string_new (NULL);

  build_two_convs (f);
  fixture_complete (f);
  recipe_exclude_first (recipe);
  values = vn_quantize_list_values (f->model, recipe);
  append_values (text, values);
  g_assert_cmpstr (text->str, ==, "x c r d y");
}

static gboolean
generate (const char *id)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *file = g_strconcat (cases[i].id, ".txt", NULL);
      g_autofree char *path = g_test_build_filename (G_TEST_DIST, "golden", file, NULL);
      g_autofree char *text = NULL;

      if (id != NULL && !g_str_equal (id, cases[i].id))
        continue;
      text = run_case (i);
      if (!g_file_set_contents (path, text, -1, NULL))
        return FALSE;
    }
  return TRUE;
}

int
main (int   argc,
      char *argv[])
{
  gboolean generating = argc > 1 && g_str_equal (argv[1], "--generate");
  const char *only = argc > 2 ? argv[2] : NULL;

  g_test_init (&argc, &argv, NULL);
  if (generating)
    return generate (only) ? 0 : 1;

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strconcat ("/quantize/golden/", cases[i].id, NULL);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), test_golden);
    }
  g_test_add_func ("/quantize/input-unchanged", test_input_unchanged);
  g_test_add_func ("/quantize/errors", test_errors);
  g_test_add_func ("/quantize/one-scale", test_one_scale);
  g_test_add_func ("/quantize/float8-rule", test_float8_rule);
  g_test_add_func ("/quantize/nodes", test_nodes);
  g_test_add_func ("/quantize/list-values", test_list);
  return g_test_run ();
}
