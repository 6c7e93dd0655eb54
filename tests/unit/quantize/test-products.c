/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is said of products for some runtimes: small ones in float, inputs of sums, blocks with a rest. */
#include "quantize-fixture.h"

static void
set_all (VnRecipe   *recipe,
         const char *settings)
{
  g_autoptr(GError) error = NULL;

  vn_recipe_apply_settings (recipe, settings);
  vn_recipe_validate (recipe, &error);
  g_assert_no_error (error);
}

/* ---- small products ---- */

/* As ModelOpt decides, which leaves what is small in float. */
static const struct
{
  gint64   in, out, group, height, width;
  gboolean first, small;
} convs[] = {
  { 16, 16, 1,  3, 3, FALSE, FALSE },
  { 3,  32, 1,  3, 3, TRUE,  FALSE },   /* reads the picture */
  { 3,  8,  1,  3, 3, TRUE,  FALSE },
  { 8,  8,  1,  3, 3, FALSE, TRUE },
  { 8,  32, 1,  3, 3, FALSE, FALSE },
  { 8,  32, 1,  3, 1, FALSE, TRUE },
  { 32, 8,  1,  1, 1, FALSE, FALSE },
  { 32, 10, 1,  1, 1, FALSE, TRUE },
  { 3,  10, 1,  3, 3, TRUE,  TRUE },
  { 8,  8,  8,  3, 3, FALSE, FALSE },
  { 8,  8,  8,  1, 1, FALSE, TRUE },
  { 64, 64, 64, 1, 1, FALSE, FALSE },
};

static void
test_small_convs (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (convs); i++)
    {
      g_autoptr(Fixture) f = fixture_new (13);
      VnNode *node;

      fixture_input (f, "x", (VnShape) { 4, { 1, convs[i].in, 8, 8 } });
      fixture_node (f, "Relu", "relu", "x", "r");
      fixture_weight (f, "w", VN_SHAPE (convs[i].out, convs[i].in / convs[i].group, convs[i].height, convs[i].width), -1, 1);
      node = fixture_node (f, "Conv", "conv", convs[i].first ? "x w" : "r w", "y");
      vn_node_set_int (node, "group", convs[i].group);
      fixture_output (f, "y");
      fixture_complete (f);
      g_test_message ("%u", i);
      g_assert_true (vn_resolver_is_small_product (node) == convs[i].small);
    }
}

static const struct { gint64 rows, length, columns; gboolean small; } matrices[] = {
  { 4, 8, 4, FALSE }, { 1, 8, 4, TRUE }, { 4, 8, 1, TRUE }, { 2, 2, 2, FALSE },
};

static void
test_small_matrices (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (matrices); i++)
    {
      g_autoptr(Fixture) f = fixture_new (13);
      g_autoptr(VnRecipe) recipe = vn_recipe_new ("cpu");
      g_autoptr(VnQuantPlan) plan = NULL;
      g_autoptr(GError) error = NULL;

      fixture_input (f, "x", VN_SHAPE (matrices[i].rows, matrices[i].length));
      fixture_weight (f, "w", VN_SHAPE (matrices[i].length, matrices[i].columns), -1, 1);
      fixture_node (f, "MatMul", "product", "x w", "y");
      fixture_node (f, "Sigmoid", "next", "y", "z");
      fixture_output (f, "z");
      fixture_complete (f);
      set_all (recipe, "float-small-products=true");
      plan = fixture_resolve (f, recipe, NULL, &error);
      g_assert_no_error (error);
      g_assert_true (vn_quant_plan_find (plan, "w")->quantized == !matrices[i].small);
      g_clear_pointer (&plan, vn_quant_plan_unref);
      vn_recipe_add_exclude (recipe, "product")->exclude = FALSE;   /* who names it wants it */
      plan = fixture_resolve (f, recipe, NULL, &error);
      g_assert_true (vn_quant_plan_find (plan, "w")->quantized);
    }
}

/* ---- sums ---- */

/* A sum of @left and @right: "p" and "q" are given by convolutions, "r" by a Relu, "x" is read by a convolution as well. */
static const struct { const char *inputs, *quantized; } sums[] = {
  { "p r", "r" }, { "r p", "r" }, { "p q", "q" }, { "r s", "" }, { "p x", "" }, { "p c", "" },
};

static void
test_sums (void)
{
  static const char * const names[] = { "p", "q", "r", "s" };

  for (guint i = 0; i < G_N_ELEMENTS (sums); i++)
    {
      g_autoptr(Fixture) f = fixture_new (13);
      g_autoptr(VnRecipe) recipe = vn_recipe_new ("cpu");
      g_autoptr(VnQuantPlan) plan = NULL;
      g_autoptr(GError) error = NULL;
      g_autoptr(GString) found = g_string_new (NULL);

      fixture_input (f, "x", (VnShape) { 4, { 1, 2, 4, 4 } });
      fixture_weight (f, "v", VN_SHAPE (2, 2, 1, 1), -1, 1);
      fixture_weight (f, "w", VN_SHAPE (2, 2, 1, 1), -1, 1);
      fixture_weight (f, "c", VN_SHAPE (1, 2, 1, 1), -1, 1);
      fixture_node (f, "Conv", "one", "x v", "p");
      fixture_node (f, "Conv", "two", "x w", "q");
      fixture_node (f, "Sigmoid", "three", "x", "r");
      fixture_node (f, "Tanh", "four", "x", "s");
      fixture_node (f, "Add", "sum", sums[i].inputs, "y");
      fixture_output (f, "y");
      fixture_complete (f);
      set_all (recipe, "op-types=Conv float-output-types=Conv quantize-residuals=true");
      plan = fixture_resolve (f, recipe, NULL, &error);
      g_assert_no_error (error);
      g_assert_true (vn_quant_plan_find (plan, "x")->quantized);
      for (guint k = 0; k < G_N_ELEMENTS (names); k++)
        if (vn_quant_plan_find (plan, names[k]) != NULL && vn_quant_plan_find (plan, names[k])->quantized)
          g_string_append (found, names[k]);
      g_test_message ("%s", sums[i].inputs);
      g_assert_cmpstr (found->str, ==, sums[i].quantized);
    }
}

/* ---- blocks ---- */

static const struct
{
  const char *settings;
  gint64      length;
  gint64      block;      /* 0: a scale for each channel */
  guint       bits;
} blocks[] = {
  { "format=weights weight=s4 block-size=32 whole-blocks=true",  64, 32, 4 },
  { "format=weights weight=s4 block-size=32 whole-blocks=true",  48, 0,  8 },
  { "format=weights weight=s4 block-size=32 whole-blocks=false", 48, 32, 4 },
  { "format=matmulnbits weight=u4 block-size=32 whole-blocks=true", 48, 32, 4 },
  { "activation=u16 weight=s4 block-size=32 whole-blocks=true",  48, 0,  8 },
  { "activation=u16 weight=s4 block-size=32 whole-blocks=true",  96, 32, 4 },
  { "activation=u16 weight=s4 block-size=32 block-scales=integer",  96, 32, 4 },
  { "activation=u16 weight=s4 block-size=32 block-scales=integer",  48, 0,  8 },
};

/* Scales are products of integers and the scale of the channel; no level is left out, and the largest number takes the last. */
static void
assert_factors (const VnQuantRow *row,
                const VnTensor   *data)
{
  const gsize n = row->channel_scale->n_elements;

  g_assert_cmpuint (row->block_factors->n_elements, ==, row->tensor.scale->n_elements);
  for (gsize i = 0; i < row->tensor.scale->n_elements; i++)
    {
      const guint8 factor = ((const guint8 *) row->block_factors->data)[i];
      const float scale = ((const float *) row->tensor.scale->data)[i];
      float magnitude = 0;

      for (gsize k = 0; k < (gsize) row->block; k++)
        magnitude = MAX (magnitude, fabsf (((const float *) data->data)[(i / n * (gsize) row->block + k) * n + i % n]));
      g_assert_cmpint (factor, >=, 1);
      g_assert_cmpint (factor, <=, 15);
      g_assert_cmpfloat (scale, ==, (float) factor * ((const float *) row->channel_scale->data)[i % n]);
      g_assert_cmpfloat (magnitude, <=, 7 * scale * 1.00001f);
      g_assert_cmpfloat (magnitude, >, 7 * (scale - ((const float *) row->channel_scale->data)[i % n]) * 0.99999f);
    }
}

static void
test_blocks (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (blocks); i++)
    {
      g_autoptr(Fixture) f = fixture_new (21);
      g_autoptr(VnRecipe) recipe = vn_recipe_new ("cpu");
      g_autoptr(VnNotes) notes = vn_notes_new ();
      g_autoptr(VnQuantPlan) plan = NULL;
      g_autoptr(GError) error = NULL;
      const VnQuantRow *row;
      const VnTensor *weight;

      fixture_input (f, "x", VN_SHAPE (4, blocks[i].length));
      weight = fixture_weight (f, "w", VN_SHAPE (blocks[i].length, 8), -1, 1);
      fixture_node (f, "MatMul", "product", "x w", "y");
      fixture_output (f, "y");
      fixture_complete (f);
      set_all (recipe, blocks[i].settings);
      plan = fixture_resolve (f, recipe, notes, &error);
      g_assert_no_error (error);
      row = vn_quant_plan_find_row (plan, "w");
      g_test_message ("%u", i);
      g_assert_cmpint (row->block, ==, blocks[i].block);
      g_assert_cmpuint (vn_dtype_get_bits (row->tensor.dtype), ==, blocks[i].bits);
      g_assert_cmpuint (vn_notes_get_n (notes), ==, blocks[i].block == 0);
      g_assert_true ((row->block_factors != NULL) ==
                     (recipe->block_scales == VN_BLOCK_SCALES_INTEGER && blocks[i].block > 0));
      if (row->block_factors != NULL)
        assert_factors (row, weight);
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/quantize/products/small-convs", test_small_convs);
  g_test_add_func ("/quantize/products/small-matrices", test_small_matrices);
  g_test_add_func ("/quantize/products/sums", test_sums);
  g_test_add_func ("/quantize/products/blocks", test_blocks);
  return g_test_run ();
}
