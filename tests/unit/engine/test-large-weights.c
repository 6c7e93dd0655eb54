/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A plan that may keep little of its weights in other forms gives the same bits as one that keeps all, and keeps little. */
#include "engine-fixture.h"
#include "vn-plan-private.h"

#define WIDTH 512   /* a matrix of floats has a megabyte: what is smaller is always kept */

typedef void (* Build) (VnModel *model);

static void
add_bytes (VnModel    *model,
           const char *name,
           VnDType     dtype,
           VnShape     shape)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(VnTensor) tensor = vn_tensor_new (dtype, &shape, &error);

  g_assert_no_error (error);
  for (gsize i = 0; i < tensor->n_bytes; i++)
    ((guint8 *) tensor->data)[i] = (guint8) (i * 31 + i / 251);
  vn_graph_add_initializer (model->graph, name, tensor);
}

/* A weight in integers, as a quantized network has it; @axis -1: one scale. */
static void
add_quantized (VnModel    *model,
               const char *name,
               const char *output,
               int         axis)
{
  g_autofree char *scale = g_strconcat (name, "_scale", NULL), *zero = g_strconcat (name, "_zero", NULL);
  g_autofree char *inputs = g_strdup_printf ("%s %s %s", name, scale, zero);
  VnShape shape = axis < 0 ? VN_SHAPE_SCALAR : VN_SHAPE (WIDTH);

  add_bytes (model, name, VN_DTYPE_S8, VN_SHAPE (WIDTH, WIDTH));
  add_floats (model, scale, shape, 0.001f, 0.0001f);
  add_bytes (model, zero, VN_DTYPE_S8, shape);
  vn_node_set_int (add_node (model, "DequantizeLinear", output, inputs, output), "axis", MAX (axis, 0));
}

/* Two products in a row, of which each packs a constant that is computed. */
static void
build_products (VnModel *model)
{
  add_quantized (model, "a", "a_dq", -1);
  add_quantized (model, "b", "b_dq", 1);
  add_node (model, "MatMul", "first", "x a_dq", "h");
  add_node (model, "Relu", "relu", "h", "r");
  add_node (model, "MatMul", "second", "r b_dq", "y");
}

/* One constant of a constant, read by two, of which one packs it and the other takes it as it is. */
static void
build_shared (VnModel *model)
{
  add_quantized (model, "a", "a_dq", 0);
  add_node (model, "Transpose", "turn", "a_dq", "turned");
  add_node (model, "MatMul", "product", "x turned", "h");
  add_node (model, "ReduceMean", "mean", "turned", "m");
  add_node (model, "Add", "sum", "h m", "y");
}

/* Not packed: the whole is needed in each run. */
static void
build_rows (VnModel *model)
{
  const gint64 rows[] = { 3, 500, 3 };

  add_quantized (model, "a", "a_dq", 0);
  add_ints (model, "rows", rows, G_N_ELEMENTS (rows));
  add_node (model, "Relu", "positive", "a_dq", "p");
  add_node (model, "Gather", "gather", "p rows", "g");
  add_node (model, "MatMul", "product", "x p", "h");
  add_node (model, "Add", "sum", "h p", "s");
  add_node (model, "Concat", "all", "s g", "y");
  vn_node_set_int (vn_graph_find_node (model->graph, "all"), "axis", 0);
}

/* The constant is an output of the network, too. */
static void
build_output (VnModel *model)
{
  add_quantized (model, "a", "a_dq", -1);
  add_node (model, "MatMul", "product", "x a_dq", "h");
  add_node (model, "Concat", "all", "h a_dq", "y");
  vn_node_set_int (vn_graph_find_node (model->graph, "all"), "axis", 0);
}

static const struct { const char *name; Build build; const char *outputs; gsize least_all, most_little; } cases[] = {
  { "products", build_products, "y", (gsize) 2 << 20, 0 },
  { "shared", build_shared, "y", (gsize) 2 << 20, 0 },
  { "rows", build_rows, "y", (gsize) 2 << 20, 0 },
  { "output", build_output, "y a_dq", (gsize) 1 << 20, (gsize) 1 << 20 },
};

static VnTensor *
run_with (VnModel  *model,
          gsize     most,
          VnTensor *input,
          gsize    *kept)
{
  const VnPlanOptions options = { .most_weights = most };
  g_autoptr(GError) error = NULL;
  g_autoptr(VnPlan) plan = vn_plan_new (model, &options, NULL, &error);
  g_autoptr(VnRunner) runner = NULL;
  VnTensor *outputs[2] = { NULL }, *first;

  g_assert_no_error (error);
  *kept = plan->kept_weights;
  runner = vn_runner_new (plan, &error);
  g_assert_no_error (error);
  g_assert_true (vn_runner_run (runner, &input, outputs, NULL, &error));
  first = g_steal_pointer (&outputs[0]);
  g_clear_pointer (&outputs[1], vn_tensor_unref);
  g_assert_true (vn_runner_run (runner, &input, outputs, NULL, &error));   /* what was made for the first run is made again */
  g_assert_true (vn_tensor_equal (first, outputs[0]));
  vn_tensor_clear_all (outputs, G_N_ELEMENTS (outputs));
  return first;
}

static void
test_same_bits (void)
{
  static const gsize limits[] = { 1, (gsize) 3 << 19, (gsize) 3 << 20 };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnModel) model = vn_model_new (8, 13);
      g_autoptr(VnTensor) input = make_input (VN_SHAPE (WIDTH, WIDTH), i), all = NULL;
      gsize kept;

      g_test_message ("%s", cases[i].name);
      vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (WIDTH, WIDTH));
      cases[i].build (model);
      set_outputs (model, cases[i].outputs);
      all = run_with (model, G_MAXSIZE, input, &kept);
      g_assert_cmpuint (kept, >=, cases[i].least_all);
      for (guint k = 0; k < G_N_ELEMENTS (limits); k++)
        {
          g_autoptr(VnTensor) little = run_with (model, limits[k], input, &kept);

          g_assert_true (vn_tensor_equal (all, little));
          g_assert_cmpuint (kept, <=, MAX (limits[k], cases[i].most_little));
        }
    }
}

/* The memory goes to the weights of both networks, and to one sample at a time where they are made in each run. */
static void
test_shares (void)
{
  g_autoptr(VnModel) model = vn_model_new (8, 13);
  const VnPlanOptions options = { .most_weights = 1 };
  g_autoptr(GError) error = NULL;
  g_autoptr(VnPlan) little = NULL, all = NULL;
  VnPlan *plans[1];
  guint n_inside;

  vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (WIDTH, WIDTH));
  build_products (model);
  set_outputs (model, "y");
  g_assert_cmpuint (vn_plan_share_weights (model, 1), >, vn_graph_weight_bytes (model->graph) / 3 * 2);
  g_assert_cmpuint (vn_plan_share_weights (model, 2), ==, vn_plan_share_weights (model, 1) / 2);
  plans[0] = all = vn_plan_new (model, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (vn_plan_share_threads (plans, 1, 0, 4, 8, &n_inside), ==, 4);
  g_assert_cmpuint (n_inside, ==, 1);
  plans[0] = little = vn_plan_new (model, &options, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (vn_plan_share_threads (plans, 1, 0, 4, 8, &n_inside), ==, 1);
  g_assert_cmpuint (n_inside, ==, 4);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/large-weights/same-bits", test_same_bits);
  g_test_add_func ("/large-weights/shares", test_shares);
  return g_test_run ();
}
