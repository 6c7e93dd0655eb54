/* SPDX-License-Identifier: GPL-3.0-or-later */

/* What XSlim does otherwise, worked out by hand from its rules: scales and zero points that the preset “xquant” writes. */

#include "quantize-fixture.h"

#include "vn-error.h"

#include <string.h>

static VnQuantPlan *
resolve (Fixture    *f,
         const char *settings)
{
  g_autoptr(VnRecipe) recipe = vn_recipe_new ("xquant");
  g_auto(GStrv) words = g_strsplit (settings, " ", -1);
  g_autoptr(GError) error = NULL;
  VnQuantPlan *plan;

  vn_recipe_set (recipe, "method", "minmax", &error);
  for (guint i = 0; words[i] != NULL; i++)
    {
      g_auto(GStrv) pair = g_strsplit (words[i], "=", 2);

      if (pair[0] != NULL && *pair[0] != '\0')
        vn_recipe_set (recipe, pair[0], pair[1], &error);
      g_assert_no_error (error);
    }
  plan = vn_quantize_resolve_with (f->model, recipe, fixture_lookup, f, NULL, &error);
  g_assert_no_error (error);
  return plan;
}

static void
check (VnQuantPlan *plan,
       const char  *name,
       gsize        n,
       const float *scales,
       gint64       zero_point)
{
  const VnTensorPlan *row = vn_quant_plan_find (plan, name);

  g_assert_nonnull (row);
  g_assert_true (row->quantized);
  g_test_message ("%s: scale %.9g, %.9g expected", name, (double) *(const float *) row->scale->data, (double) scales[0]);
  g_assert_cmpuint (row->scale->n_elements, ==, n);
  for (gsize i = 0; i < n; i++)
    {
      g_assert_cmpfloat (((const float *) row->scale->data)[i], ==, scales[i]);
      g_assert_cmpint (vn_tensor_get_s64 (row->zero_point, i), ==, zero_point);
    }
}

static gboolean
is_float (VnQuantPlan *plan,
          const char  *name)
{
  const VnTensorPlan *row = vn_quant_plan_find (plan, name);

  return row == NULL || !row->quantized;
}

/* Conv: a scale for each channel, on -128 .. 127, so 2 max / 255. Gemm, MatMul, ConvTranspose: one, the next power of two. */
static void
test_weights (void)
{
  g_autoptr(Fixture) f = fixture_new (13);
  g_autoptr(VnQuantPlan) plan = NULL;
  const float conv[] = { 2 * 0.25f / 255, 2 * 0.75f / 255 }, gemm[] = { 0x1p-6f };
  VnTensor *weight;

  fixture_input (f, "x", (VnShape) { 4, { 1, 2, 1, 1 } });
  weight = fixture_weight (f, "w", VN_SHAPE (2, 2, 1, 1), 0, 0);
  memcpy (weight->data, (float[]) { -0.25f, 0.125f, 0.5f, 0.75f }, 4 * sizeof (float));
  fixture_weight (f, "b", VN_SHAPE (2), 0.5f, 1);
  fixture_node (f, "Conv", "conv", "x w b", "u");
  fixture_node (f, "Flatten", "flat", "u", "v");
  fixture_weight (f, "g", VN_SHAPE (2, 3), -1.5f, 1);   /* 3 / 255 = 2^-6.4 */
  fixture_node (f, "Gemm", "gemm", "v g", "y");
  fixture_output (f, "y");
  fixture_complete (f);

  plan = resolve (f, "");
  check (plan, "w", 2, conv, 0);
  check (plan, "g", 1, gemm, 0);
  g_assert_true (is_float (plan, "b"));
}

/* With biases of 32 bit, one of more than 2^20 steps stays float: 2 / 255 / 127.5 of scale, times 2^20, is 64.5. */
static void
test_bias (void)
{
  static const struct { float bias; gint64 group; gboolean is_float; } cases[] = {
    { 64, 1, FALSE }, { 65, 1, TRUE }, { -65, 1, TRUE }, { 65, 2, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(Fixture) f = fixture_new (13);
      g_autoptr(VnQuantPlan) plan = NULL;
      VnNode *node;

      fixture_input (f, "x", (VnShape) { 4, { 1, 2, 1, 1 } });
      fixture_range (f, "x", -1, 1);
      fixture_weight (f, "w", VN_SHAPE (2, 2 / cases[i].group, 1, 1), 1, 1);
      fixture_weight (f, "b", VN_SHAPE (2), 0, cases[i].bias);
      node = fixture_node (f, "Conv", "conv", "x w b", "y");
      vn_node_set_int (node, "group", cases[i].group);
      fixture_output (f, "y");
      fixture_complete (f);
      plan = resolve (f, "bias=auto");
      g_assert_cmpint (is_float (plan, "b"), ==, cases[i].is_float);
    }
}

/* A channel that wants a scale of 2^-23 or less gets 1, with which it becomes zero. */
static void
test_dead_channel (void)
{
  g_autoptr(Fixture) f = fixture_new (13);
  g_autoptr(VnQuantPlan) plan = NULL;
  const float scales[] = { 1, 2 * 0.5f / 255 };
  VnTensor *weight;

  fixture_input (f, "x", (VnShape) { 4, { 1, 1, 1, 1 } });
  weight = fixture_weight (f, "w", VN_SHAPE (2, 1, 1, 1), 0, 0);
  memcpy (weight->data, (float[]) { 1.5e-5f, 0.5f }, 2 * sizeof (float));   /* 2 * 1.5e-5 / 255 < 2^-23 */
  fixture_node (f, "Conv", "conv", "x w", "y");
  fixture_output (f, "y");
  fixture_complete (f);
  plan = resolve (f, "");
  check (plan, "w", 2, scales, 0);
}

static void
test_integers (void)
{
  static const struct { float first, last, scale; gint64 zero_point; } cases[] = {
    { -128, 127, 1, 0 }, { 2, 2, 1, 0 }, { 0, 200, 1, -128 }, { 0, 255, 1, -128 },
    { 0, 300, 300.f / 255, -128 }, { 0, 0.5f, 0.5f / 255, -128 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(Fixture) f = fixture_new (13);
      g_autoptr(VnQuantPlan) plan = NULL;

      fixture_input (f, "x", (VnShape) { 1, { 2 } });
      fixture_weight (f, "c", VN_SHAPE (2), cases[i].first, cases[i].last);
      fixture_node (f, "Mul", "mul", "x c", "y");
      fixture_output (f, "y");
      fixture_complete (f);
      plan = resolve (f, "");
      check (plan, "c", 1, &cases[i].scale, cases[i].zero_point);
    }
}

/* A Relu makes u, of range -20 .. 20; what reads it decides how much of that counts. */
static void
test_gates (void)
{
  static const struct { const char *gate; gboolean product, other; float alpha, min, max; } cases[] = {
    { "Sigmoid", FALSE, FALSE, 0, -10, 10 }, { "Sigmoid", TRUE, FALSE, 0, -10, 20 }, { "Sigmoid", FALSE, TRUE, 0, -20, 20 },
    { "HardSigmoid", FALSE, FALSE, 0.25f, -2, 2 }, { "HardSigmoid", TRUE, FALSE, 0.25f, -2, 20 },
    { "HardSigmoid", FALSE, FALSE, 0.125f, -4, 4 }, { "LeakyRelu", FALSE, FALSE, 0, -20, 20 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(Fixture) f = fixture_new (13);
      g_autoptr(VnQuantPlan) plan = NULL;
      const VnTensorPlan *row;
      VnNode *gate;

      fixture_input (f, "x", (VnShape) { 1, { 2 } });
      fixture_node (f, "LeakyRelu", "leaky", "x", "u");
      fixture_range (f, "u", -20, 20);
      gate = fixture_node (f, cases[i].gate, "gate", "u", "g");
      if (cases[i].alpha > 0)
        vn_node_set_float (gate, "alpha", cases[i].alpha);
      if (cases[i].product)
        fixture_node (f, "Mul", "mul", "u g", "y");
      else
        fixture_node (f, "LeakyRelu", "end", "g", "y");
      if (cases[i].other)
        {
          fixture_node (f, "LeakyRelu", "other", "u", "z");
          fixture_output (f, "z");
        }
      fixture_output (f, "y");
      fixture_complete (f);
      plan = resolve (f, "");
      row = vn_quant_plan_find (plan, "u");
      g_test_message ("%s %u: %g .. %g", cases[i].gate, i, row->min, row->max);
      g_assert_cmpfloat (row->min, ==, cases[i].min);
      g_assert_cmpfloat (row->max, ==, cases[i].max);
    }
}

/* What it quantizes: Softmax and Div not, nor what a normalization multiplies by and adds. */
static void
test_operators (void)
{
  g_autoptr(Fixture) f = fixture_new (17);
  g_autoptr(VnQuantPlan) plan = NULL;

  fixture_input (f, "x", (VnShape) { 2, { 1, 4 } });
  fixture_weight (f, "scale", VN_SHAPE (4), 0.5f, 1);
  fixture_weight (f, "shift", VN_SHAPE (4), 0.5f, 1);
  fixture_node (f, "LayerNormalization", "norm", "x scale shift", "n");
  fixture_node (f, "Softmax", "soft", "n", "s");
  fixture_node (f, "Softmax", "soft2", "s", "s2");
  fixture_node (f, "HardSwish", "swish", "s2", "h");
  fixture_node (f, "Div", "div", "h x", "y");
  fixture_output (f, "y");
  fixture_complete (f);
  plan = resolve (f, "");
  g_assert_false (is_float (plan, "x"));
  g_assert_false (is_float (plan, "n"));
  g_assert_true (is_float (plan, "s"));
  g_assert_false (is_float (plan, "s2"));
  g_assert_false (is_float (plan, "h"));
  g_assert_true (is_float (plan, "y"));
  g_assert_true (is_float (plan, "scale"));
  g_assert_true (is_float (plan, "shift"));
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/quantize/xslim/weights", test_weights);
  g_test_add_func ("/quantize/xslim/bias", test_bias);
  g_test_add_func ("/quantize/xslim/dead-channel", test_dead_channel);
  g_test_add_func ("/quantize/xslim/integers", test_integers);
  g_test_add_func ("/quantize/xslim/gates", test_gates);
  g_test_add_func ("/quantize/xslim/operators", test_operators);
  return g_test_run ();
}
