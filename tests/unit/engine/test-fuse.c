/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a convolution or a matrix product does on the way gives the same bits as the nodes on their own. */
#include "engine-fixture.h"
#include "vn-plan-info.h"

#include <math.h>
#include <string.h>

#define CHANNELS 20

typedef struct
{
  const char *nodes;      /* "Type inputs > output; ..."; x is the input, p computed before the convolution, c its result */
  guint       n_steps;    /* with p, where it is used, and the convolution */
} Case;

static const Case cases[] = {
  { "Sigmoid c > y", 1 },
  { "Tanh c > y", 1 },
  { "LeakyRelu c > y", 1 },
  { "HardSigmoid c > y", 1 },
  { "HardSwish c > y", 1 },
  { "Sigmoid c > s; Mul c s > y", 1 },
  { "Sigmoid c > s; Mul s c > y", 1 },
  { "HardSigmoid c > s; Mul c s > y", 1 },
  { "Add c three > a; Clip a zero six > b; Mul c b > d; Div d six > y", 1 },
  { "Add three c > a; Clip a zero six > b; Mul b c > y", 1 },
  { "Add c three > a; Clip a zero six > b; Div b six > d; Mul c d > y", 1 },
  { "BatchNormalization c scale shift mean variance > y", 1 },
  { "BatchNormalization c scale shift mean variance > n; Relu n > y", 1 },
  { "BatchNormalization c scale shift mean variance > n; Sigmoid n > s; Mul n s > y", 1 },
  { "Add c column > y", 1 },
  { "Add column c > n; Relu n > y", 1 },
  { "Add c x > y", 1 },
  { "Add p c > y", 2 },
  { "Add c p > n; Relu n > y", 2 },
  { "BatchNormalization c scale shift mean variance > n; Add n x > d; Relu d > y", 1 },
  { "QuantizeLinear c tenth three8 > q; DequantizeLinear q tenth three8 > y", 1 },
  { "QuantizeLinear c tenth > q; DequantizeLinear q tenth > y", 1 },
  { "QuantizeLinear c tenth minus8 > q; DequantizeLinear q tenth minus8 > y", 1 },
  { "Relu c > n; QuantizeLinear n tenth three8 > q; DequantizeLinear q tenth three8 > y", 1 },
  { "Clip c zero six > n; QuantizeLinear n tenth minus8 > q; DequantizeLinear q tenth minus8 > y", 1 },
  { "Clip c six > n; QuantizeLinear n tenth minus8 > q; DequantizeLinear q tenth minus8 > y", 1 },
  { "Add c p > n; QuantizeLinear n tenth minus8 > q; DequantizeLinear q tenth minus8 > y", 2 },
  { "BatchNormalization c scale shift mean variance > n; QuantizeLinear n tenth three8 > q; "
    "DequantizeLinear q tenth three8 > y", 1 },
  /* Another scale, zero point or user of codes; an activation that is none; a scale that makes subnormal numbers. */
  { "QuantizeLinear c tenth three8 > q; DequantizeLinear q fifth three8 > y", 3 },
  { "QuantizeLinear c tenth three8 > q; DequantizeLinear q tenth > y", 3 },
  { "QuantizeLinear c tenth three8 > q; DequantizeLinear q tenth three8 > d; Cast q > f; Add d f > y", 5 },
  { "QuantizeLinear c tenth three8 > q; DequantizeLinear q tenth three8 > d; Add d c > y", 4 },
  { "Sigmoid c > s; QuantizeLinear s tenth three8 > q; DequantizeLinear q tenth three8 > y", 3 },
  { "QuantizeLinear c tiny three8 > q; DequantizeLinear q tiny three8 > y", 3 },
  { "QuantizeLinear c scale > q; DequantizeLinear q scale > y", 3 },
  /* Another order, another user, another shape, or computed later: not the same thing. */
  { "Relu c > n; Add n x > y", 2 },
  { "Add c x > n; BatchNormalization n scale shift mean variance > y", 2 },
  { "Sigmoid c > s; Mul x s > y", 2 },
  { "Sigmoid c > s; Mul c s > m; Add m s > y", 4 },
  { "Add c c > y", 2 },
  { "Add c line > y", 2 },
  { "Add c three > a; Clip a zero six > b; Mul x b > d; Div d six > y", 4 },
  { "Neg x > late; Add c late > y", 3 },
  { "Div c six > y", 2 },
};

static void
add_nodes (VnModel    *model,
           const char *text)
{
  g_auto(GStrv) nodes = g_strsplit (text, "; ", -1);

  for (guint i = 0; nodes[i] != NULL; i++)
    {
      g_auto(GStrv) sides = g_strsplit (nodes[i], " > ", 2);
      char *inputs = strchr (sides[0], ' ');
      VnNode *node;

      *inputs++ = '\0';
      node = add_node (model, sides[0], sides[1], inputs, sides[1]);
      if (vn_node_is (node, "Cast"))
        vn_node_set_int (node, "to", VN_DTYPE_F32);
    }
}

static VnModel *
make_model (const char *nodes,
            gint64      kernel,
            gint64      groups)
{
  VnModel *model = vn_model_new (8, 14);
  const gint64 pads[4] = { kernel / 2, kernel / 2, kernel / 2, kernel / 2 };
  VnNode *conv;

  vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (2, CHANNELS, 5, 7));
  add_floats (model, "w", VN_SHAPE (CHANNELS, CHANNELS / groups, kernel, kernel), -0.75f, 1.f / 512);
  add_floats (model, "bias", VN_SHAPE (CHANNELS), -1, 0.125f);
  add_floats (model, "three", VN_SHAPE (1), 3, 0);
  add_floats (model, "six", VN_SHAPE_SCALAR, 6, 0);
  add_floats (model, "zero", VN_SHAPE_SCALAR, 0, 0);
  add_floats (model, "tenth", VN_SHAPE_SCALAR, 0.1f, 0);
  add_floats (model, "fifth", VN_SHAPE_SCALAR, 0.2f, 0);
  add_floats (model, "tiny", VN_SHAPE_SCALAR, 1e-33f, 0);
  add_code (model, "three8", VN_DTYPE_U8, 3);
  add_code (model, "minus8", VN_DTYPE_S8, -8);
  add_floats (model, "scale", VN_SHAPE (CHANNELS), 0.7f, 0.11f);
  add_floats (model, "shift", VN_SHAPE (CHANNELS), -0.3f, 0.07f);
  add_floats (model, "mean", VN_SHAPE (CHANNELS), 0.9f, -0.03f);
  add_floats (model, "variance", VN_SHAPE (CHANNELS), 0.5f, 0.13f);
  add_floats (model, "column", VN_SHAPE (1, CHANNELS, 1, 1), -0.4f, 0.09f);
  add_floats (model, "line", VN_SHAPE (7), -0.4f, 0.09f);
  add_node (model, "Neg", "p", "x", "p");
  conv = add_node (model, "Conv", "conv", "x w bias", "c");
  vn_node_set_ints (conv, "pads", pads, 4);
  vn_node_set_int (conv, "group", groups);
  add_nodes (model, nodes);
  set_outputs (model, "y");
  return model;
}

static void
check (const Case *test,
       gint64      kernel,
       gint64      groups)
{
  g_autoptr(VnModel) model = make_model (test->nodes, kernel, groups);
  const VnPlanOptions plain = { .no_fusion = TRUE };
  g_autoptr(VnTensor) input = make_input (VN_SHAPE (2, CHANNELS, 5, 7), 3);
  g_autoptr(VnTensor) fused = run_simple (model, NULL, input);
  g_autoptr(VnTensor) apart = run_simple (model, &plain, input);
  g_autoptr(GError) error = NULL;
  g_autoptr(VnPlan) plan = vn_plan_new (model, NULL, NULL, &error);

  g_assert_no_error (error);
  g_test_message ("%s, kernel %d, %d groups: %u steps", test->nodes, (int) kernel, (int) groups,
                  vn_plan_get_n_steps (plan));
  g_assert_cmpuint (vn_plan_get_n_steps (plan), ==, test->n_steps);
  g_assert_true (vn_tensor_equal (fused, apart));
}

static void
test_same_bits (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      check (&cases[i], 1, 1);
      check (&cases[i], 3, 1);
      check (&cases[i], 3, 2);
      check (&cases[i], 3, CHANNELS);
    }
}

/* NaN and infinities pass as they do through the nodes. */
static void
test_extremes (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnModel) model = make_model (cases[i].nodes, 1, 1);
      const VnPlanOptions plain = { .no_fusion = TRUE };
      g_autoptr(VnTensor) input = make_input (VN_SHAPE (2, CHANNELS, 5, 7), 5);
      g_autoptr(VnTensor) fused = NULL;
      g_autoptr(VnTensor) apart = NULL;

      ((float *) input->data)[3] = NAN;
      ((float *) input->data)[40] = INFINITY;
      ((float *) input->data)[77] = -1e30f;
      fused = run_simple (model, NULL, input);
      apart = run_simple (model, &plain, input);
      g_test_message ("%s", cases[i].nodes);
      for (gsize k = 0; k < fused->n_elements; k++)
        {
          float a = ((float *) fused->data)[k], b = ((float *) apart->data)[k];

          g_assert_true (a == b || (a != a && b != b));
        }
    }
}

/* ---- matrix products ---- */

#define WIDTH 51

/* m is the product of x and a constant w, or of x and its own transposed; p is computed before it. */
static const Case products[] = {
  { "Add m bias > y", 1 },
  { "Add row m > y", 1 },
  { "Relu m > y", 1 },
  { "Add m bias > a; Relu a > y", 1 },
  { "Add bias m > a; Clip a zero six > y", 1 },
  { "Add m bias > a; Tanh a > y", 1 },
  { "Add m bias > a; Sigmoid a > s; Mul a s > y", 1 },
  { "Add m p > y", 2 },
  { "Add m bias > a; Add p a > y", 2 },
  { "Add m bias > a; Add p a > b; Relu b > y", 2 },
  /* Another order, another user, another shape, or not constant: not the same thing. */
  { "Add m p > a; Add a bias > y", 3 },
  { "Add m bias > a; Relu a > r; Add r a > y", 3 },
  { "Relu m > r; Add r bias > y", 2 },
  { "Add m three > y", 2 },
  { "Add m column > y", 2 },
  { "Neg bias > late; Add m late > y", 1 },
  { "Add m bias > a; Add a row > y", 2 },
  { "Add m deep > y", 2 },
};

/* The compiler may contract the polynomial of the error function otherwise in another loop: last bits may differ. */
static const Case gelus[] = {
  { "Add m bias > a; Gelu a > y", 1 },
  { "Gelu m > y", 1 },
  { "Add m bias > h; Div h root > d; Erf d > e; Add e one > g; Mul h g > f; Mul f half > y", 1 },
  { "Add m bias > h; Mul root h > d; Erf d > e; Add one e > g; Mul g h > f; Mul half f > y", 1 },
  { "Add m bias > h; Mul h half > f; Div h root > d; Erf d > e; Add e one > g; Mul f g > y", 1 },
  { "Add m bias > h; Div h root > d; Erf d > e; Add e one > g; Mul half g > f; Mul h f > y", 1 },
  /* Not a Gelu, or its parts are needed. */
  { "Add m bias > h; Div h root > d; Erf d > e; Add e half > g; Mul h g > y", 5 },
  { "Add m bias > h; Div root h > d; Erf d > e; Add e one > g; Mul h g > y", 5 },
  { "Add m bias > h; Mul h three > f; Div h root > d; Erf d > e; Add e one > g; Mul f g > y", 6 },
  { "Add m bias > h; Div h root > d; Erf d > e; Add e one > g; Mul h g > f; Add f e > y", 6 },
  { "Add m bias > h; Div h root > d; Erf d > e; Add e one > g; Mul p g > f; Mul f half > y", 7 },
};

static VnModel *
make_product (const char *nodes,
              gboolean    packed)
{
  VnModel *model = vn_model_new (10, 20);

  vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (2, WIDTH, WIDTH));
  add_floats (model, "w", VN_SHAPE (WIDTH, WIDTH), -0.75f, 1.f / 2048);
  add_floats (model, "bias", VN_SHAPE (WIDTH), -1, 0.04f);
  add_floats (model, "row", VN_SHAPE (1, 1, WIDTH), -0.4f, 0.03f);
  add_floats (model, "column", VN_SHAPE (WIDTH, 1), -0.4f, 0.03f);
  add_floats (model, "deep", VN_SHAPE (1, 2, WIDTH, WIDTH), -0.4f, 1.f / 4096);
  add_floats (model, "three", VN_SHAPE (1), 3, 0);
  add_floats (model, "six", VN_SHAPE_SCALAR, 6, 0);
  add_floats (model, "zero", VN_SHAPE_SCALAR, 0, 0);
  add_floats (model, "half", VN_SHAPE_SCALAR, 0.5f, 0);
  add_floats (model, "one", VN_SHAPE_SCALAR, 1, 0);
  add_floats (model, "root", VN_SHAPE_SCALAR, (float) G_SQRT2, 0);
  add_node (model, "Neg", "p", "x", "p");
  add_node (model, "MatMul", "product", packed ? "x w" : "x x", "m");
  add_nodes (model, nodes);
  set_outputs (model, "y");
  return model;
}

static void
check_product (const Case *test,
               gboolean    packed,
               float       tolerance)
{
  g_autoptr(VnModel) model = make_product (test->nodes, packed);
  const VnPlanOptions plain = { .no_fusion = TRUE };
  g_autoptr(VnTensor) input = make_input (VN_SHAPE (2, WIDTH, WIDTH), 3);
  g_autoptr(VnTensor) fused = run_simple (model, NULL, input);
  g_autoptr(VnTensor) apart = run_simple (model, &plain, input);
  g_autoptr(GError) error = NULL;
  g_autoptr(VnPlan) plan = vn_plan_new (model, NULL, NULL, &error);

  g_assert_no_error (error);
  g_test_message ("%s, packed %d: %u steps", test->nodes, packed, vn_plan_get_n_steps (plan));
  g_assert_cmpuint (vn_plan_get_n_steps (plan), ==, test->n_steps);
  g_assert_true (vn_shape_equal (&fused->shape, &apart->shape));
  for (gsize i = 0; i < fused->n_elements; i++)
    {
      float a = ((float *) fused->data)[i], b = ((float *) apart->data)[i];

      g_assert_cmpfloat_with_epsilon (a, b, tolerance * MAX (1, fabsf (b)) + 1e-30f);
    }
  if (tolerance == 0)
    g_assert_true (vn_tensor_equal (fused, apart));
}

static void
test_products (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (products); i++)
    for (guint packed = 0; packed < 2; packed++)
      check_product (&products[i], packed, 0);
}

static void
test_gelus (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (gelus); i++)
    for (guint packed = 0; packed < 2; packed++)
      check_product (&gelus[i], packed, 5e-7f);
}

/* ---- Gelu of ONNX Runtime, and Gemm ---- */

#define MS "com.microsoft:"

/**
 * @product: makes m of x, w and bias
 * @activation, @has_line, @has_sum: what is fused into the product
 * @tolerance: 0: the same bits. Others are those of the error function and tanh, in another loop
 */
typedef struct
{
  const char *product, *nodes;
  guint       n_steps;
  const char *activation;
  gboolean    has_line, has_sum;
  float       tolerance;
} Named;

static const Named named[] = {
  { "MatMul x w", MS "BiasGelu m bias > y", 1, "Gelu", TRUE, FALSE, 5e-7f },
  { "MatMul x x", MS "BiasGelu m bias > y", 1, "Gelu", TRUE, FALSE, 5e-7f },
  { "MatMul x w", MS "Gelu m > y", 1, "Gelu", FALSE, FALSE, 5e-7f },
  { "MatMul x w", MS "FastGelu m bias > y", 1, "Gelu by tanh", TRUE, FALSE, 5e-7f },
  { "MatMul x x", MS "FastGelu m > y", 1, "Gelu by tanh", FALSE, FALSE, 5e-7f },
  { "MatMul x w", "Add m bias > a; " MS "FastGelu a > y", 1, "Gelu by tanh", TRUE, FALSE, 5e-7f },
  { "Gemm x w bias", MS "FastGelu m > y", 1, "Gelu by tanh", FALSE, FALSE, 5e-7f },
  { "Gemm x w bias", "Gelu m > y", 1, "Gelu", FALSE, FALSE, 5e-7f },
  { "Gemm x w bias", "Add m p > y", 2, NULL, FALSE, TRUE, 0 },
  { "Gemm x w bias", "Add p m > a; Relu a > y", 2, "Clip", FALSE, TRUE, 0 },
  { "Gemm x x", "Add m x > a; Tanh a > y", 1, "Tanh", FALSE, TRUE, 0 },
  { "Gemm x w", "Add m p > a; Sigmoid a > s; Mul a s > y", 2, "SiLU", FALSE, TRUE, 0 },
  { "Gemm x x bias", "Add p m > a; " MS "FastGelu a > y", 2, "Gelu by tanh", FALSE, TRUE, 5e-7f },
  { "Gemm x w bias", "Sigmoid m > y", 1, "Sigmoid", FALSE, FALSE, 0 },
  /* A bias that is computed or comes after another one, a value that somebody else needs or that is computed later. */
  { "MatMul x w", MS "BiasGelu m short > y", 3, NULL, FALSE, FALSE, 0 },
  { "MatMul x w", "Add m bias > a; " MS "BiasGelu a bias > y", 2, NULL, TRUE, FALSE, 0 },
  { "MatMul x w", MS "BiasGelu m bias > g; Add g m > y", 3, NULL, FALSE, FALSE, 0 },
  { "Gemm x w bias", MS "BiasGelu m bias > y", 2, NULL, FALSE, FALSE, 0 },
  { "Gemm x w bias", "Neg x > late; Add m late > y", 3, NULL, FALSE, FALSE, 0 },
  { "Gemm x w bias", "Add m column > y", 2, NULL, FALSE, FALSE, 0 },
  { "Gemm x w bias", "Add m m > y", 2, NULL, FALSE, FALSE, 0 },
};

static VnModel *
make_named (const Named *test)
{
  VnModel *model = vn_model_new (10, 20);
  g_auto(GStrv) words = g_strsplit (test->product, " ", 2);

  vn_model_set_opset (model, "com.microsoft", 1);
  vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (WIDTH, WIDTH));
  add_floats (model, "w", VN_SHAPE (WIDTH, WIDTH), -0.75f, 1.f / 2048);
  add_floats (model, "bias", VN_SHAPE (WIDTH), -1, 0.04f);
  add_floats (model, "column", VN_SHAPE (WIDTH, 1), -0.4f, 0.03f);
  add_ints (model, "first", (const gint64[]) { 0 }, 1);
  add_node (model, "Neg", "p", "x", "p");
  add_node (model, "ReduceMean", "short", "x first", "short");
  vn_node_set_int (vn_graph_find_node (model->graph, "short"), "keepdims", 0);
  add_node (model, words[0], "product", words[1], "m");
  add_nodes (model, test->nodes);
  set_outputs (model, "y");
  return model;
}

static void
check_fused (const Named *test,
             VnPlan      *plan)
{
  VnStepInfo info = { 0 };
  guint n = vn_plan_get_n_steps (plan), i = 0;

  g_assert_cmpuint (n, ==, test->n_steps);
  while (i < n && strcmp (vn_plan_get_step_node (plan, i)->name, "product") != 0)
    i++;
  g_assert_cmpuint (i, <, n);
  vn_plan_get_step_info (plan, i, &info);
  g_assert_cmpstr (info.activation, ==, test->activation);
  g_assert_true (info.has_line == test->has_line);
  g_assert_true (info.has_sum == test->has_sum);
}

static void
test_named (gconstpointer data)
{
  const Named *test = data;
  g_autoptr(VnModel) model = make_named (test);
  const VnPlanOptions plain = { .no_fusion = TRUE };
  g_autoptr(VnTensor) input = make_input (VN_SHAPE (WIDTH, WIDTH), 3);
  g_autoptr(VnTensor) fused = run_simple (model, NULL, input);
  g_autoptr(VnTensor) apart = run_simple (model, &plain, input);
  g_autoptr(GError) error = NULL;
  g_autoptr(VnPlan) plan = vn_plan_new (model, NULL, NULL, &error);

  g_assert_no_error (error);
  check_fused (test, plan);
  g_assert_true (vn_shape_equal (&fused->shape, &apart->shape));
  for (gsize i = 0; i < fused->n_elements; i++)
    {
      float a = ((float *) fused->data)[i], b = ((float *) apart->data)[i];

      g_assert_cmpfloat_with_epsilon (a, b, test->tolerance * MAX (1, fabsf (b)) + 1e-30f);
    }
  if (test->tolerance == 0)
    g_assert_true (vn_tensor_equal (fused, apart));
}

/* What is looked at stays: as a tap, or as an output. */
static void
test_tapped_product (void)
{
  static const char * const names[] = { "m", "h", "d", "e", "g" };

  for (guint i = 0; i < 2 * G_N_ELEMENTS (names); i++)
    {
      g_autoptr(VnModel) model = make_product (gelus[2].nodes, TRUE);
      g_autoptr(GPtrArray) taps = g_ptr_array_new ();
      VnPlanOptions options = { .taps = taps };
      g_autoptr(GError) error = NULL;
      g_autoptr(VnPlan) plan = NULL;

      if (i < G_N_ELEMENTS (names))
        g_ptr_array_add (taps, vn_graph_find_value (model->graph, names[i]));
      else
        vn_graph_set_output (model->graph, 1, vn_graph_find_value (model->graph, names[i - G_N_ELEMENTS (names)]));
      plan = vn_plan_new (model, &options, NULL, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (vn_plan_get_n_steps (plan), >, 1);
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/fuse/same-bits", test_same_bits);
  g_test_add_func ("/fuse/extremes", test_extremes);
  g_test_add_func ("/fuse/products", test_products);
  g_test_add_func ("/fuse/gelus", test_gelus);
  g_test_add_func ("/fuse/tapped-product", test_tapped_product);
  for (guint i = 0; i < G_N_ELEMENTS (named); i++)
    {
      g_autofree char *path = g_strdup_printf ("/fuse/named/%u", i);

      g_test_add_data_func (path, &named[i], test_named);
    }
  return g_test_run ();
}
