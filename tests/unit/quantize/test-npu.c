/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The limits of processors that shift, node by node: positions before (from ranges that make them so) and after, worked out
 * by hand. An activation from -2^k to 2^k has the position 7 - k, as 2^(k+1) / 255 is nearly 2^(k-7); so has a weight. */

#include "quantize-fixture.h"

#include "vn-npu.h"

#define NONE G_MAXINT

static const VnShape image = { 4, { 1, 2, 4, 4 } };

/* @before, @after: positions of two inputs, weight, bias, result */
static const struct
{
  const char *id, *op;
  int         before[5], after[5];
} cases[] = {
  /* cut 7 + 7 - (-3) = 17: the weight gives one */
  { "cut-too-long",   "Conv", { 7, NONE, 7, 7, -3 },   { 7, NONE, 6, 7, -3 } },
  /* cut 7 + 7 - 15 = -1 */
  { "cut-negative",   "Conv", { 7, NONE, 7, 7, 15 },   { 7, NONE, 8, 7, 15 } },
  { "cut-fits",       "Conv", { 7, NONE, 7, 11, 7 },   { 7, NONE, 7, 11, 7 } },
  /* cut 7, so the bias may be shifted by -(24 - 15) = -9 at least: 14 - 27 = -13 */
  { "bias-too-fine",  "Conv", { 7, NONE, 7, 27, 7 },   { 7, NONE, 7, 23, 7 } },
  /* 14 - (-5) = 19 */
  { "bias-too-large", "Conv", { 7, NONE, 7, -5, 7 },   { 7, NONE, 7, -1, 7 } },
  /* from 0 on before LeakyRelu: 14 - 17 = -3 */
  { "bias-leaky",     "Conv+LeakyRelu", { 7, NONE, 7, 17, 7 }, { 7, NONE, 7, 14, 7 } },
  { "cut-relu",       "Conv+Relu",      { 7, NONE, 7, 7, -3 }, { 7, NONE, 6, 7, -3 } },
  { "add-far",        "Add", { 7, 16, NONE, NONE, 7 },   { 7, 14, NONE, NONE, 7 } },
  /* 7 - (-21) = 28 */
  { "add-long",       "Add", { 7, 9, NONE, NONE, -21 },  { 7, 9, NONE, NONE, -18 } },
  /* 7 - 16 = -9 */
  { "add-fine",       "Add", { 7, 9, NONE, NONE, 16 },   { 7, 9, NONE, NONE, 14 } },
  { "mul-negative",   "Mul", { 7, 7, NONE, NONE, 17 },   { 7, 7, NONE, NONE, 14 } },
  { "mul-long",       "Mul", { 15, 15, NONE, NONE, -4 }, { 15, 15, NONE, NONE, -2 } },
  { "concat",         "Concat", { 7, 5, NONE, NONE, 6 }, { 5, 5, NONE, NONE, 5 } },
  { "pool",           "GlobalAveragePool", { 7, NONE, NONE, NONE, 9 }, { 7, NONE, NONE, NONE, 7 } },
  { "hard-sigmoid",   "HardSigmoid", { -2, NONE, NONE, NONE, 6 }, { 0, NONE, NONE, NONE, 7 } },
};

static void
set_range (Fixture    *f,
           const char *name,
           int         position)
{
  float limit = (float) ldexp (1, 7 - position);

  fixture_range (f, name, -limit, limit);
}

static void
build (Fixture   *f,
       const char *op,
       const int *before)
{
  g_auto(GStrv) ops = g_strsplit (op, "+", 2);
  gboolean conv = before[2] != NONE;
  float weight = conv ? (float) ldexp (1, 7 - before[2]) : 0, bias = conv ? (float) ldexp (1, 7 - before[3]) : 0;
  VnNode *node;

  fixture_input (f, "x", image);
  if (before[1] != NONE)
    fixture_input (f, "x1", image);
  if (conv)
    {
      fixture_weight (f, "w", VN_SHAPE (2, 2, 1, 1), -weight, weight);
      fixture_weight (f, "b", VN_SHAPE (2), -bias, bias);
    }
  node = fixture_node (f, ops[0], "node", conv ? "x w b" : before[1] != NONE ? "x x1" : "x", ops[1] != NULL ? "c" : "y");
  if (g_str_equal (op, "Concat"))
    vn_node_set_int (node, "axis", 1);
  if (ops[1] != NULL)
    fixture_node (f, ops[1], "behind", "c", "y");
  fixture_output (f, "y");
  set_range (f, "x", before[0]);
  if (before[1] != NONE)
    set_range (f, "x1", before[1]);
  set_range (f, "y", before[4]);
}

static VnRecipe *
make_recipe (void)
{
  VnRecipe *recipe = vn_recipe_new ("npu-cnn");
  g_autoptr(GError) error = NULL;

  /* the whole range, so that positions follow from it */
  vn_recipe_set (recipe, "method", "nonoverflow", &error);
  g_assert_no_error (error);
  vn_recipe_set (recipe, "weight-method", "nonoverflow", &error);
  g_assert_no_error (error);
  for (guint i = 0; i < 2; i++)
    vn_recipe_add_exclude (recipe, i == 0 ? "type:HardSigmoid" : "type:LeakyRelu")->exclude = FALSE;
  return recipe;
}

static void
check_case (gconstpointer data)
{
  const guint index = GPOINTER_TO_UINT (data);
  static const char * const names[] = { "x", "x1", "w", "b", "y" };
  g_autoptr(Fixture) f = fixture_new (13);
  g_autoptr(VnRecipe) recipe = make_recipe ();
  g_autoptr(VnNotes) notes = vn_notes_new ();
  g_autoptr(VnQuantPlan) plan = NULL;
  g_autoptr(GError) error = NULL;
  guint moved = 0, noted = 0;

  build (f, cases[index].op, cases[index].before);
  fixture_complete (f);
  plan = fixture_resolve (f, recipe, notes, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      const VnTensorPlan *row = vn_quant_plan_find (plan, names[i]);

      if (cases[index].before[i] == NONE)
        continue;
      g_assert_true (row != NULL && row->quantized);
      g_assert_cmpint (vn_scale_get_position (vn_tensor_get_double (row->scale, 0), VN_POWER_NEAREST), ==,
                       cases[index].after[i]);
      g_assert_cmpfloat (vn_tensor_get_double (row->scale, 0), ==, ldexp (1, -cases[index].after[i]));
      moved += cases[index].before[i] != cases[index].after[i];
    }
  for (guint i = 0; i < vn_notes_get_n (notes); i++)
    noted += g_str_has_prefix (vn_notes_get (notes, i)->code, "npu-");
  g_assert_cmpuint (noted, ==, moved);
}

/* Factors as AMD's documents give them for small windows; from 256 elements on there is none. */
static void
test_pools (void)
{
  static const struct { gint64 size; double factor; } pools[] = {
    { 1, 1 }, { 2, 1 }, { 3, 63.0 / 64 }, { 4, 1 }, { 5, 250.0 / 256 }, { 6, 252.0 / 256 }, { 7, 1029.0 / 1024 },
    { 14, 196 * 21.0 / 4096 }, { 16, 1 }, { 20, 1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (pools); i++)
    g_assert_cmpfloat (vn_npu_pool_factor (pools[i].size, pools[i].size), ==, pools[i].factor);
}

static void
test_simulate (void)
{
  static const gint64 kernel[] = { 3, 3 };
  static const char * const everything[] = { "LeakyRelu", "Sigmoid", "HardSigmoid", "AveragePool", "ReduceMean", "Clip", NULL };
  g_autoptr(Fixture) f = fixture_new (13);
  g_autoptr(VnNotes) notes = vn_notes_new ();
  const VnValue *y;

  fixture_input (f, "x", image);
  vn_node_set_float (fixture_node (f, "LeakyRelu", "leaky", "x", "l"), "alpha", 0.1f);
  fixture_weight (f, "low", VN_SHAPE_SCALAR, -0.4f, 0);
  fixture_weight (f, "high", VN_SHAPE_SCALAR, 200, 0);
  fixture_node (f, "Clip", "clip", "l low high", "c");
  vn_node_set_ints (fixture_node (f, "AveragePool", "pool", "c", "p"), "kernel_shape", kernel, 2);
  fixture_node (f, "Sigmoid", "sigmoid", "p", "y");
  fixture_output (f, "y");
  fixture_complete (f);

  vn_npu_simulate (f->model, everything, notes);
  y = vn_graph_find_value (f->model->graph, "y");
  g_assert_cmpfloat (vn_node_get_float (vn_graph_find_value (f->model->graph, "l")->producer, "alpha", 0), ==, 0.1015625);
  g_assert_cmpstr (y->producer->op_type, ==, "Mul");
  g_assert_cmpstr (vn_node_get_input (y->producer, 0)->producer->op_type, ==, "HardSigmoid");
  g_assert_cmpfloat (vn_tensor_get_double (vn_node_get_input (y->producer, 1)->initializer, 0), ==,
                     (double) (float) ((2731.0 / 16384) * 6));
  g_assert_cmpfloat (vn_tensor_get_double (vn_node_get_input (vn_graph_find_value (f->model->graph, "p")->producer,
                                                              1)->initializer, 0),
                     ==, 63.0 / 64);
  y = vn_graph_find_value (f->model->graph, "c");
  g_assert_cmpfloat (vn_tensor_get_double (vn_node_get_input (y->producer, 1)->initializer, 0), ==, 0);
  g_assert_cmpfloat (vn_tensor_get_double (vn_node_get_input (y->producer, 2)->initializer, 0), ==, 127);
  g_assert_cmpuint (vn_notes_get_n (notes), ==, 6);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strconcat ("/quantize/npu/", cases[i].id, NULL);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), check_case);
    }
  g_test_add_func ("/quantize/npu/pools", test_pools);
  g_test_add_func ("/quantize/npu/simulate", test_simulate);
  return g_test_run ();
}
