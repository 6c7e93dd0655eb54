/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Values that stand for others: what stays float, what has the range of the others, and what neither concerns. */

#include "quantize-fixture.h"

#include "vn-error.h"

#include <float.h>
#include <string.h>

/* What masks put in front of Softmax: the value, whether it is one of these, and whether infinities are among them. */
static void
test_softmax (void)
{
  static const struct { float low; gboolean is_mask; } kinds[] = {
    { -INFINITY, TRUE }, { -FLT_MAX, TRUE }, { -1e9f, TRUE }, { -65504, TRUE }, { -10000, TRUE }, { -1000, TRUE },
    { -100, FALSE }, { -30, FALSE }, { -8, FALSE },
  };
  static const char * const presets[] = { "cpu", "cpu-s8", "a16w8", "int16", "npu-transformer", "bfp16" };

  for (guint i = 0; i < G_N_ELEMENTS (kinds) * G_N_ELEMENTS (presets); i++)
    {
      const float low = kinds[i % G_N_ELEMENTS (kinds)].low;
      const gboolean is_mask = kinds[i % G_N_ELEMENTS (kinds)].is_mask;
      g_autoptr(Fixture) f = fixture_new (21);
      g_autoptr(VnRecipe) recipe = vn_recipe_new (presets[i / G_N_ELEMENTS (kinds)]);
      g_autoptr(GError) error = NULL;
      g_autoptr(VnQuantPlan) plan = NULL;

      fixture_input (f, "s", VN_SHAPE (1, 2, 4));
      ((float *) fixture_weight (f, "mask", VN_SHAPE (4), 0, 0)->data)[3] = low;
      fixture_node (f, "Add", "add", "s mask", "m");
      fixture_node (f, "Identity", "hand-on", "m", "i");
      fixture_node (f, "Softmax", "softmax", "i", "p");
      fixture_node (f, "Mul", "end", "p p", "z");
      fixture_output (f, "z");
      fixture_complete (f);
      fixture_range (f, "s", -6, 7);
      fixture_observe (f, "m", (float[]) { -6, 7, low, 0.5f }, 4);
      fixture_observe (f, "i", (float[]) { -6, 7, low, 0.5f }, 4);
      fixture_range (f, "p", 0, 1);
      plan = fixture_resolve (f, recipe, NULL, &error);
      g_assert_no_error (error);
      g_test_message ("%s, %g", recipe->preset, (double) low);
      g_assert_cmpint (vn_quant_plan_find (plan, "m")->quantized, ==, !is_mask);
      g_assert_cmpint (vn_quant_plan_find (plan, "mask")->quantized, ==, !is_mask);
      g_assert_true (vn_quant_plan_find (plan, "s")->quantized);
      g_assert_true (vn_quant_plan_find (plan, "p")->quantized);
    }
}

/* A padding that only a maximum reads has no say about the range, with any method, and shares that of what is padded; what
 * others read, too, stays float. */
static void
test_maximum (void)
{
  static const float lows[] = { -INFINITY, -FLT_MAX, -1e9f, -65504 };
  static const char * const methods[] = { "minmax", "percentile", "percentile-average", "average", "mse", "xslim",
                                          "minmse-common" };
  static const gint64 pads[] = { 0, 0, 1, 1, 0, 0, 1, 1 }, kernel[] = { 2, 2 };

  for (guint i = 0; i < 2 * G_N_ELEMENTS (lows) * G_N_ELEMENTS (methods); i++)
    {
      const float low = lows[i % G_N_ELEMENTS (lows)];
      const gboolean alone = i < G_N_ELEMENTS (lows) * G_N_ELEMENTS (methods);
      g_autoptr(Fixture) f = fixture_new (13);
      g_autoptr(VnRecipe) recipe = vn_recipe_new ("cpu");
      g_autoptr(VnNotes) notes = vn_notes_new ();
      g_autoptr(GError) error = NULL;
      g_autoptr(VnQuantPlan) plan = NULL;

      g_assert_true (vn_recipe_set (recipe, "method", methods[i / G_N_ELEMENTS (lows) % G_N_ELEMENTS (methods)], &error));
      fixture_input (f, "x", VN_SHAPE (1, 2, 4, 4));
      fixture_ints (f, "pads", pads, 8);
      fixture_weight (f, "fill", VN_SHAPE_SCALAR, low, low);
      fixture_node (f, "Pad", "pad", "x pads fill", "p");
      vn_node_set_ints (fixture_node (f, "MaxPool", "pool", "p", "m"), "kernel_shape", kernel, 2);
      fixture_node (f, "Mul", "end", "m m", "y");
      fixture_output (f, "y");
      if (!alone)
        fixture_output (f, "p");
      fixture_complete (f);
      fixture_range (f, "x", -2, 3);
      fixture_range (f, "m", -1, 3);
      fixture_observe (f, "p", (float[]) { -2, 3, low, 0.5f, 0 }, 5);
      plan = fixture_resolve (f, recipe, notes, &error);
      g_assert_no_error (error);
      g_assert_false (vn_quant_plan_find (plan, "fill")->quantized && alone);
      if (alone)
        {
          g_assert_true (vn_quant_plan_find (plan, "p")->quantized);
          g_assert_true (vn_tensor_equal (vn_quant_plan_find (plan, "p")->scale, vn_quant_plan_find (plan, "x")->scale));
        }
      else if (low < -1e30f)
        g_assert_false (vn_quant_plan_find (plan, "p")->quantized);
    }
}

/* NaN that reach no output are a warning, and what holds them stays float; a range that is given counts more. */
static void
test_nan (void)
{
  static const char * const rules[] = { "[]", "[{\"tensors\": [\"c\"], \"min\": [\"-1\"], \"max\": [\"1\"]}]" };

  for (guint i = 0; i < G_N_ELEMENTS (rules); i++)
    {
      g_autofree char *text = g_strdup_printf ("{\"vernier-recipe\": 1, \"preset\": \"cpu\", \"rules\": %s}", rules[i]);
      g_autoptr(Fixture) f = fixture_new (13);
      g_autoptr(GError) error = NULL;
      g_autoptr(VnRecipe) recipe = vn_recipe_from_json (text, "recipe", &error);
      g_autoptr(VnNotes) notes = vn_notes_new ();
      g_autoptr(VnQuantPlan) plan = NULL;

      g_assert_no_error (error);
      fixture_input (f, "x", VN_SHAPE (1, 2, 4, 4));
      fixture_weight (f, "w", VN_SHAPE (2, 2, 1, 1), -0.5f, 1);
      fixture_node (f, "Conv", "conv", "x w", "c");
      fixture_node (f, "IsNaN", "look", "c", "bad");
      fixture_weight (f, "zero", VN_SHAPE_SCALAR, 0, 0);
      fixture_node (f, "Where", "choose", "bad zero c", "good");
      fixture_node (f, "Conv", "last", "good w", "y");
      fixture_output (f, "y");
      fixture_complete (f);
      fixture_observe (f, "c", (float[]) { -1, NAN, 2 }, 3);
      plan = fixture_resolve (f, recipe, notes, &error);
      g_assert_no_error (error);
      g_assert_cmpint (vn_quant_plan_find (plan, "c")->quantized, ==, i == 1);
      g_assert_true (vn_quant_plan_find (plan, "y")->quantized);
      if (i == 0)
        g_assert_cmpstr (vn_notes_get (notes, 0)->code, ==, "nan-stays-float");
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/quantize/masks/softmax", test_softmax);
  g_test_add_func ("/quantize/masks/maximum", test_maximum);
  g_test_add_func ("/quantize/masks/nan", test_nan);
  return g_test_run ();
}
