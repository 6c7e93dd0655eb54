/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Formats that need no samples: formulas and files worked out by hand. Other programs: tests/oracle/weights.py. */
#include "vn-error.h"
#include "vn-graph-edit.h"
#include "vn-infer.h"
#include "vn-quant-write.h"
#include "vn-resolver.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- blocks ---- */

static const struct
{
  const char *what;
  float       x[4];
  VnDType     dtype;
  gboolean    symmetric, zero_first;
  float       scale;
  int         zero_point, q[4];
} blocks[] = {
  { "farther end",  { 1, -2, 0.5f, 3 },     VN_DTYPE_U4, TRUE,  TRUE,  -0.375f, 8,    { 5, 13, 7, 0 } },
  { "signed",       { 1, -2, 0.5f, 3 },     VN_DTYPE_S4, TRUE,  TRUE,  -0.375f, 0,    { -3, 5, -1, -8 } },
  { "asymmetric",   { 1, -2, 0.5f, 3 },     VN_DTYPE_U4, FALSE, TRUE,  5 / 15.f, 6,   { 9, 0, 8, 15 } },
  { "shifted",      { 1, -2, 0.5f, 3 },     VN_DTYPE_S4, FALSE, TRUE,  5 / 15.f, -2,  { 1, -8, 0, 7 } },
  { "ties, with",   { -8, -0.5f, 0.5f, 7 }, VN_DTYPE_U4, TRUE,  TRUE,  1, 8,          { 0, 8, 9, 15 } },
  { "ties, before", { -8, -0.5f, 0.5f, 7 }, VN_DTYPE_U4, TRUE,  FALSE, 1, 8,          { 0, 7, 9, 15 } },
  { "clipped",      { 8, -8, 4, 0 },        VN_DTYPE_S4, TRUE,  FALSE, 1, 0,          { 7, -8, 4, 0 } },
  { "zeros",        { 0, 0, 0, 0 },         VN_DTYPE_U4, FALSE, TRUE,  0, 0,          { 0, 0, 0, 0 } },
  { "zeros, middle",{ 0, 0, 0, 0 },         VN_DTYPE_U8, TRUE,  TRUE,  0, 128,        { 128, 128, 128, 128 } },
  { "positive",     { 51, 102, 255, 0 },    VN_DTYPE_U8, FALSE, TRUE,  1, 0,          { 51, 102, 255, 0 } },
  { "subnormal",    { 1e-45f, 0, 0, 0 },    VN_DTYPE_U8, FALSE, TRUE,  0, 0,          { 0, 0, 0, 0 } },
};

static void
test_blocks (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (blocks); i++)
    {
      g_autoptr(VnTensor) data = vn_tensor_new_f32 (&VN_SHAPE (4), blocks[i].x), scale = NULL, zero_point = NULL, q = NULL;
      g_autoptr(GError) error = NULL;

      g_test_message ("%s", blocks[i].what);
      vn_quant_block_params (data, 0, 16, blocks[i].dtype, blocks[i].symmetric, &scale, &zero_point, &error);
      g_assert_no_error (error);
      g_assert_cmpfloat (((const float *) scale->data)[0], ==, blocks[i].scale);
      g_assert_cmpint (vn_tensor_get_s64 (zero_point, 0), ==, blocks[i].zero_point);
      q = vn_quant_quantize_blocks (data, blocks[i].dtype, scale, zero_point, 0, 16, blocks[i].zero_first, &error);
      g_assert_no_error (error);
      for (guint k = 0; k < 4; k++)
        g_assert_cmpint (vn_tensor_get_s64 (q, k), ==, blocks[i].q[k]);
    }
}

/* Blocks lie along the axis that is named, the last one may be short. */
static void
test_axes (void)
{
  const float x[] = { 0, 15, 30, 0, 45, 60 }, first[] = { 0, 3, 4 }, second[] = { 1, 2, 3, 4 };
  g_autoptr(VnTensor) data = vn_tensor_new_f32 (&VN_SHAPE (2, 3), x);
  g_autoptr(GError) error = NULL;

  for (int axis = 0; axis < 2; axis++)
    {
      g_autoptr(VnTensor) scale = NULL, zero_point = NULL;

      vn_quant_block_params (data, axis, 2, VN_DTYPE_U4, FALSE, &scale, &zero_point, &error);
      g_assert_no_error (error);
      g_assert_cmpint (scale->shape.dims[0], ==, axis == 0 ? 1 : 2);
      g_assert_cmpint (scale->shape.dims[1], ==, axis == 0 ? 3 : 2);
      for (gsize i = 0; i < scale->n_elements; i++)
        g_assert_cmpfloat (((const float *) scale->data)[i], ==, axis == 0 ? first[i] : second[i]);
    }
}

static VnTensor *
make_random (gint64 rows,
             gint64 columns)
{
  VnTensor *data = vn_tensor_new (VN_DTYPE_F32, &VN_SHAPE (rows, columns), NULL);
  guint state = 7;

  for (gsize i = 0; i < data->n_elements; i++)
    {
      state = state * 1664525u + 1013904223u;
      ((float *) data->data)[i] = (float) ((double) state / G_MAXUINT - 0.5) * (i % 37 == 0 ? 8 : 1);
    }
  return data;
}

/* The formula, one number at a time; each step is rounded to float. */
static gint64
quantize_one (float    x,
              float    scale,
              float    zero,
              float    highest,
              gboolean zero_first)
{
  volatile float inverse = 1.f / scale, scaled = x * inverse, sum = zero_first ? scaled + zero : roundf (scaled);
  volatile float q = zero_first ? roundf (sum) : sum + zero;

  return (gint64) CLAMP (q, 0.f, highest);
}

/* Many numbers, so that several threads have some, odd numbers of columns, blocks along either axis: every integer is that of the
 * formula. */
static void
test_many (void)
{
  static const gint64 shapes[][2] = { { 700, 401 }, { 33, 66 }, { 5, 1 }, { 1, 517 } };
  static const VnDType types[] = { VN_DTYPE_U4, VN_DTYPE_S4, VN_DTYPE_U8, VN_DTYPE_S8, VN_DTYPE_S16 };
  gsize n_compared = 0;

  for (guint i = 0; i < G_N_ELEMENTS (shapes) * G_N_ELEMENTS (types) * 4; i++)
    {
      const gint64 *shape = shapes[i / 4 % G_N_ELEMENTS (shapes)];
      VnDType dtype = types[i / 4 / G_N_ELEMENTS (shapes)];
      int axis = i % 2;
      gboolean zero_first = i / 2 % 2 == 0;
      g_autoptr(VnTensor) data = make_random (shape[0], shape[1]), scale = NULL, zero_point = NULL, q = NULL;
      g_autoptr(GError) error = NULL;
      gint64 low, high;

      vn_dtype_integer_range (dtype, &low, &high);
      g_assert_true (vn_quant_block_params (data, axis, 32, dtype, FALSE, &scale, &zero_point, &error));
      q = vn_quant_quantize_blocks (data, dtype, scale, zero_point, axis, 32, zero_first, &error);
      g_assert_no_error (error);
      for (gsize k = 0; k < data->n_elements; k++)
        {
          gsize row = k / (gsize) shape[1], column = k % (gsize) shape[1];
          gsize p = axis == 0 ? row / 32 * (gsize) shape[1] + column : row * (gsize) scale->shape.dims[1] + column / 32;
          gint64 wanted = quantize_one (((const float *) data->data)[k], ((const float *) scale->data)[p],
                                        (float) (vn_tensor_get_s64 (zero_point, p) - low), (float) (high - low),
                                        zero_first) + low;

          g_assert_cmpint (vn_tensor_get_s64 (q, k), ==, wanted);
          n_compared++;
        }
    }
  g_assert_cmpuint (n_compared, >, 5000000);
}

/* ---- networks ---- */

typedef struct
{
  VnModel *model;
  VnNotes *notes;
} Fixture;

static VnValue *
add_node (Fixture    *f,
          const char *type,
          const char *name,
          VnValue    *a,
          VnValue    *b)
{
  VnValue *inputs[] = { a, b }, *y = vn_graph_add_value (f->model->graph, name, VN_DTYPE_UNDEFINED, NULL);

  vn_graph_add_node (f->model->graph, NULL, "", type, inputs, b != NULL ? 2 : 1, &y, 1);
  return y;
}

/* @rule: (transfer full) (nullable) */
static VnModel *
convert_with (Fixture     *f,
              const char  *settings,
              VnOverride  *rule,
              GError     **error)
{
  g_autoptr(VnRecipe) recipe = vn_recipe_new ("cpu");
  g_autoptr(VnStats) stats = vn_stats_new_empty ();
  g_autoptr(VnQuantPlan) plan = NULL;
  g_auto(GStrv) each = g_strsplit (settings, " ", -1);

  for (char **s = each; *s != NULL; s++)
    {
      g_auto(GStrv) pair = g_strsplit (*s, "=", 2);

      vn_recipe_set (recipe, pair[0], pair[1], error);
      g_assert_no_error (*error);
    }
  if (rule != NULL)
    g_ptr_array_add (recipe->overrides, rule);
  g_assert_false (vn_recipe_needs_samples (recipe));
  if (!vn_model_infer_types (f->model, NULL, NULL, error))
    return NULL;
  plan = vn_quantize_resolve (f->model, recipe, stats, f->notes, error);
  return plan != NULL ? vn_quantize_write (f->model, recipe, plan, NULL, error) : NULL;
}

static VnModel *
convert (Fixture     *f,
         const char  *settings,
         GError     **error)
{
  return convert_with (f, settings, NULL, error);
}

static char *
list_nodes (const VnModel *model)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < model->graph->nodes->len; i++)
    g_string_append_printf (text, "%s%s", i > 0 ? " " : "",
                            ((const VnNode *) g_ptr_array_index (model->graph->nodes, i))->op_type);
  return g_string_free (text, FALSE);
}

static void
fixture_clear (Fixture *f)
{
  vn_model_unref (f->model);
  vn_notes_unref (f->notes);
}

/* K = 17: two blocks, the second of one number. Column 0 counts 0 .. 15, then 16; column 1 is negative. */
static void
test_nbits_bytes (void)
{
  Fixture f = { vn_model_new (8, 13), vn_notes_new () };
  VnGraph *graph = f.model->graph;
  VnValue *x = vn_graph_add_input (graph, "x", VN_DTYPE_F32, &VN_SHAPE (1, 17)), *w, *y;
  g_autoptr(VnTensor) data = NULL;
  g_autoptr(VnModel) result = NULL;
  g_autoptr(GError) error = NULL;
  float values[34];
  const VnNode *node;
  const VnTensor *packed, *scales, *zeros;
  const guint8 *bytes;

  for (guint k = 0; k < 17; k++)
    {
      values[2 * k] = k < 16 ? (float) k : 30;
      values[2 * k + 1] = k < 16 ? -(float) k : -15;
    }
  data = vn_tensor_new_f32 (&VN_SHAPE (17, 2), values);
  w = vn_graph_add_initializer (graph, "w", data);
  y = add_node (&f, "MatMul", "y", x, w);
  vn_graph_set_output (graph, 0, y);
  result = convert (&f, "format=matmulnbits weight=uint4 symmetric-weights=false block-size=16", &error);
  g_assert_no_error (error);

  node = g_ptr_array_index (result->graph->nodes, 0);
  g_assert_cmpstr (node->op_type, ==, "MatMulNBits");
  g_assert_cmpint (vn_node_get_int (node, "K", 0), ==, 17);
  g_assert_cmpint (vn_node_get_int (node, "N", 0), ==, 2);
  packed = vn_node_get_input (node, 1)->initializer;
  scales = vn_node_get_input (node, 2)->initializer;
  zeros = vn_node_get_input (node, 3)->initializer;
  g_assert_cmpint (packed->shape.dims[0], ==, 2);
  g_assert_cmpint (packed->shape.dims[1], ==, 2);
  g_assert_cmpint (packed->shape.dims[2], ==, 8);
  bytes = packed->data;
  g_assert_cmphex (bytes[0], ==, 0x10);         /* 0, 1 */
  g_assert_cmphex (bytes[7], ==, 0xfe);         /* 14, 15 */
  g_assert_cmphex (bytes[8], ==, 0x0f);         /* 30 of 0 .. 30, nothing behind it */
  g_assert_cmphex (bytes[16], ==, 0xef);        /* 0 and -1 above a zero point of 15 */
  g_assert_cmpfloat (((const float *) scales->data)[0], ==, 1);
  g_assert_cmpfloat (((const float *) scales->data)[1], ==, 2);
  g_assert_cmpint (zeros->n_elements, ==, 2);
  g_assert_cmphex (((const guint8 *) zeros->data)[0], ==, 0x00);
  g_assert_cmphex (((const guint8 *) zeros->data)[1], ==, 0xff);
  g_assert_cmpint (vn_model_get_opset (result, "com.microsoft"), ==, 1);
  fixture_clear (&f);
}

/* What the recipe says, and a rule about one of two nodes; -1: the attribute is not written. */
static const struct
{
  const char *settings;
  int         rule;         /* of the second node: VN_AS_RECIPE, or one more than a VnAccuracyLevel */
  gint64      first, second;
} levels[] = {
  { "weight=uint4", VN_AS_RECIPE, 4, 4 },
  { "weight=uint8", VN_AS_RECIPE, 4, 4 },
  { "weight=uint8 accuracy-level=auto", VN_AS_RECIPE, 4, 4 },
  { "weight=uint4 accuracy-level=0", VN_AS_RECIPE, -1, -1 },
  { "weight=uint4 accuracy-level=1", VN_AS_RECIPE, 1, 1 },
  { "weight=uint8 accuracy-level=4", 1 + VN_ACCURACY_LEVEL_0, 4, -1 },
  { "weight=uint8 accuracy-level=0", 1 + VN_ACCURACY_LEVEL_AUTO, -1, 4 },
  { "weight=uint4 accuracy-level=3", 1 + VN_ACCURACY_LEVEL_2, 3, 2 },
};

static void
test_accuracy_levels (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (levels); i++)
    {
      Fixture f = { vn_model_new (8, 13), vn_notes_new () };
      g_autofree char *settings = g_strconcat ("format=matmulnbits block-size=16 ", levels[i].settings, NULL);
      VnValue *x = vn_graph_add_input (f.model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (1, 32)), *y;
      g_autoptr(VnTensor) data = make_random (32, 32);
      VnValue *w = vn_graph_add_initializer (f.model->graph, "w", data);
      VnOverride *rule = levels[i].rule != VN_AS_RECIPE ? vn_override_new () : NULL;
      g_autoptr(VnModel) result = NULL;
      g_autoptr(GError) error = NULL;

      y = add_node (&f, "MatMul", "y", add_node (&f, "MatMul", "h", x, w), w);
      vn_graph_set_output (f.model->graph, 0, y);
      if (rule != NULL)
        {
          rule->pattern = vn_node_dup_label (y->producer);
          rule->accuracy_level = levels[i].rule;
        }
      result = convert_with (&f, settings, rule, &error);
      g_assert_no_error (error);
      for (guint k = 0; k < 2; k++)
        g_assert_cmpint (vn_node_get_int (g_ptr_array_index (result->graph->nodes, k), "accuracy_level", -1), ==,
                         k == 0 ? levels[i].first : levels[i].second);
      fixture_clear (&f);
    }
}

static const struct
{
  VnDType dtype;
  gint64  block;
  int     method;           /* one more than a VnBlockMethod */
  gint64  bits, found;      /* found: size of blocks */
} block_rules[] = {
  { VN_DTYPE_UNDEFINED, 0,   VN_AS_RECIPE, 4, 16 },
  { VN_DTYPE_U8,        0,   VN_AS_RECIPE, 8, 16 },
  { VN_DTYPE_U2,        32,  VN_AS_RECIPE, 2, 32 },
  { VN_DTYPE_UNDEFINED, 128, 1 + VN_BLOCK_METHOD_K_QUANT, 4, 128 },
};

/* A rule about one of two products: what holds for its matrix, and that the other's stays as it was. */
static void
test_block_rules (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (block_rules); i++)
    {
      Fixture f = { vn_model_new (8, 13), vn_notes_new () };
      VnValue *x = vn_graph_add_input (f.model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (1, 64)), *y;
      g_autoptr(VnTensor) data = make_random (64, 64);
      VnOverride *rule = vn_override_new ();
      g_autoptr(VnTensor) scale = NULL, zero_point = NULL;
      g_autoptr(VnModel) result = NULL;
      g_autoptr(GError) error = NULL;
      const VnNode *first, *second;

      y = add_node (&f, "MatMul", "h", x, vn_graph_add_initializer (f.model->graph, "v", data));
      y = add_node (&f, "MatMul", "y", y, vn_graph_add_initializer (f.model->graph, "w", data));
      vn_graph_set_output (f.model->graph, 0, y);
      rule->pattern = vn_node_dup_label (y->producer);
      rule->weight = block_rules[i].dtype;
      rule->block_size = block_rules[i].block;
      rule->block_method = block_rules[i].method;
      result = convert_with (&f, "format=matmulnbits weight=uint4 symmetric-weights=false block-size=16", rule, &error);
      g_assert_no_error (error);
      first = g_ptr_array_index (result->graph->nodes, 0);
      second = g_ptr_array_index (result->graph->nodes, 1);
      g_assert_cmpint (vn_node_get_int (first, "bits", -1), ==, 4);
      g_assert_cmpint (vn_node_get_int (first, "block_size", -1), ==, 16);
      g_assert_cmpint (vn_node_get_int (second, "bits", -1), ==, block_rules[i].bits);
      g_assert_cmpint (vn_node_get_int (second, "block_size", -1), ==, block_rules[i].found);
      if (block_rules[i].method != VN_AS_RECIPE)
        {
          g_assert_true (vn_quant_search_blocks (data, 0, block_rules[i].found, VN_DTYPE_U4, NULL, &scale, &zero_point, &error));
          g_assert_cmpmem (vn_node_get_input (second, 2)->initializer->data, scale->n_bytes, scale->data, scale->n_bytes);
        }
      fixture_clear (&f);
    }
}

/* Rows of the result are columns of the weight, low bits first: every integer is where it belongs. */
static void
test_nbits_columns (void)
{
  for (guint i = 0; i < 8; i++)
    {
      gint64 k = i % 2 == 0 ? 100 : 33, n = i / 2 % 2 == 0 ? 130 : 67;
      guint bits = i / 4 == 0 ? 4 : 8;
      Fixture f = { vn_model_new (8, 13), vn_notes_new () };
      VnValue *x = vn_graph_add_input (f.model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (1, k));
      g_autoptr(VnTensor) data = make_random (k, n), scale = NULL, zero_point = NULL, q = NULL;
      g_autoptr(VnModel) result = NULL;
      g_autoptr(GError) error = NULL;
      const VnTensor *packed;

      vn_graph_set_output (f.model->graph, 0, add_node (&f, "MatMul", "y", x,
                                                        vn_graph_add_initializer (f.model->graph, "w", data)));
      result = convert (&f, bits == 4 ? "format=matmulnbits weight=uint4 block-size=16"
                        : "format=matmulnbits weight=uint8 block-size=16", &error);
      g_assert_no_error (error);
      packed = vn_node_get_input (g_ptr_array_index (result->graph->nodes, 0), 1)->initializer;
      g_assert_true (vn_quant_block_params (data, 0, 16, bits == 4 ? VN_DTYPE_U4 : VN_DTYPE_U8, TRUE, &scale, &zero_point,
                                            &error));
      q = vn_quant_quantize_blocks (data, bits == 4 ? VN_DTYPE_U4 : VN_DTYPE_U8, scale, zero_point, 0, 16, TRUE, &error);
      g_assert_no_error (error);
      g_assert_cmpint (packed->shape.dims[0], ==, n);
      for (gint64 row = 0; row < n; row++)
        for (gint64 at = 0; at < k; at++)
          {
            guint8 byte = ((const guint8 *) packed->data)[(gsize) row * (packed->n_bytes / (gsize) n) + (gsize) at * bits / 8];

            g_assert_cmpint (bits == 8 ? byte : byte >> at % 2 * 4 & 0xf, ==, vn_tensor_get_s64 (q, (gsize) (at * n + row)));
          }
      fixture_clear (&f);
    }
}

#define N_HALVES 8

/* Numbers that are too large or too small for a type saturate, and stay what they are otherwise. */
static const struct
{
  VnDType dtype;
  float   x[N_HALVES];
  double  wanted[N_HALVES];
} halves[] = {
  { VN_DTYPE_F16,
    { 1e6f,  -1e6f,  1e-9f,   0, INFINITY, 1.5f, -1e-20f,  65504 },
    { 65504, -65504, 0x1p-24, 0, INFINITY, 1.5,  -0x1p-24, 65504 } },
  { VN_DTYPE_BF16,
    { FLT_MAX,       -FLT_MAX,       0x1p-149f, 0, INFINITY, 1.5f, -0x1p-140f, 65504 },
    { 0x1.fep+127,   -0x1.fep+127,   0x1p-133,  0, INFINITY, 1.5,  -0x1p-133,  65536 } },
};

static void
test_half_numbers (void)
{
  for (guint k = 0; k < G_N_ELEMENTS (halves); k++)
    {
      g_autoptr(VnTensor) data = vn_tensor_new_f32 (&VN_SHAPE (N_HALVES), halves[k].x), half = NULL;
      g_autoptr(GError) error = NULL;
      gsize n_clipped, n_raised;

      half = vn_quant_to_half (data, halves[k].dtype, &n_clipped, &n_raised, &error);
      g_assert_no_error (error);
      g_assert_cmpint (half->dtype, ==, halves[k].dtype);
      for (guint i = 0; i < N_HALVES; i++)
        g_assert_cmpfloat (vn_tensor_get_double (half, i), ==, halves[k].wanted[i]);
      g_assert_cmpuint (n_clipped, ==, 2);
      g_assert_cmpuint (n_raised, ==, 2);
    }
}

static const struct
{
  const char *settings, *nodes;
  VnDType     input, output;
} conversions[] = {
  { "format=fp16",                         "Cast MatMul Cast Min Cast Relu Cast", VN_DTYPE_F32, VN_DTYPE_F32 },
  { "format=fp16 float-io=false",          "MatMul Cast Min Cast Relu",           VN_DTYPE_F16, VN_DTYPE_F16 },
  { "format=bf16",                         "Cast MatMul Min Relu",                VN_DTYPE_F32, VN_DTYPE_F32 },
  { "format=weights",                      "DequantizeLinear MatMul Min Relu",    VN_DTYPE_F32, VN_DTYPE_F32 },
  { "format=matmulnbits block-size=16",    "MatMulNBits Min Relu",                VN_DTYPE_F32, VN_DTYPE_F32 },
};

/* Min stays in float32 between two that do not. */
static void
test_conversions (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (conversions); i++)
    {
      Fixture f = { vn_model_new (8, 13), vn_notes_new () };
      VnGraph *graph = f.model->graph;
      const float big[] = { 1e6f, 1, 2, 3 }, limit = 4;
      g_autoptr(VnTensor) weight = vn_tensor_new_f32 (&VN_SHAPE (2, 2), big), low = vn_tensor_new_f32 (&VN_SHAPE_SCALAR, &limit);
      VnValue *x = vn_graph_add_input (graph, "x", VN_DTYPE_F32, &VN_SHAPE (1, 2)), *w, *c, *y;
      g_autoptr(VnModel) result = NULL;
      g_autoptr(GError) error = NULL;
      g_autofree char *nodes = NULL;
      gboolean half = strstr (conversions[i].settings, "fp16") != NULL;

      w = vn_graph_add_initializer (graph, "w", weight);
      c = vn_graph_add_initializer (graph, "c", low);
      y = add_node (&f, "Relu", "y", add_node (&f, "Min", "b", add_node (&f, "MatMul", "a", x, w), c), NULL);
      vn_graph_set_output (graph, 0, y);
      result = convert (&f, conversions[i].settings, &error);
      g_assert_no_error (error);
      nodes = list_nodes (result);
      g_assert_cmpstr (nodes, ==, conversions[i].nodes);
      g_assert_cmpint (vn_graph_find_value (result->graph, "x")->type.dtype, ==, conversions[i].input);
      g_assert_cmpint (vn_graph_find_value (result->graph, "y")->type.dtype, ==, conversions[i].output);
      g_assert_cmpuint (vn_notes_get_n (f.notes), ==, half ? 1 : 0);
      if (half)
        {
          g_assert_cmpstr (vn_notes_get (f.notes, 0)->code, ==, "float16-clipped");
          g_assert_cmpstr (vn_notes_get (f.notes, 0)->subject, ==, "w");
        }
      fixture_clear (&f);
    }
}

static const struct
{
  const char *settings, *named;    /* NULL: allowed */
} recipes[] = {
  { "format=qdq block-size=32", "block-size" },
  { "format=weights block-size=32", NULL },
  { "format=weights block-size=48", "block-size" },
  { "format=weights block-size=8", "block-size" },
  { "format=weights block-size=32 opset=13", "opset" },
  { "format=matmulnbits block-size=32 opset=13", NULL },
  { "format=matmulnbits weight=int16", "weight" },
  { "format=matmulnbits block-size=256", NULL },
  { "format=matmulnbits block-size=512", "16, 32, 64, 128 or 256" },
  { "format=matmulnbits block-size=8", "block-size" },
  { "format=weights block-size=512", NULL },
  { "format=matmulnbits accuracy-level=5", "accuracy-level" },
  { "format=matmulnbits accuracy-level=4", NULL },
  { "format=matmulnbits weight=uint2", NULL },
  { "format=weights weight=uint2", "weight" },
  { "format=matmulnbits block-method=k-quant", "block-method" },
  { "format=matmulnbits symmetric-weights=false block-method=k-quant", NULL },
  { "format=matmulnbits block-method=mse", NULL },
  { "format=weights block-size=32 block-method=mse", NULL },
  { "format=weights block-size=32 symmetric-weights=false block-method=k-quant", NULL },
  { "format=qdq block-method=k-quant", NULL },
};

static void
test_recipes (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (recipes); i++)
    {
      g_autoptr(VnRecipe) recipe = vn_recipe_new ("cpu");
      g_autoptr(GError) error = NULL;
      g_auto(GStrv) each = g_strsplit (recipes[i].settings, " ", -1);
      gboolean ok = TRUE;

      g_test_message ("%s", recipes[i].settings);
      for (char **s = each; ok && *s != NULL; s++)
        {
          g_auto(GStrv) pair = g_strsplit (*s, "=", 2);

          ok = vn_recipe_set (recipe, pair[0], pair[1], &error);
        }
      ok = ok && vn_recipe_validate (recipe, &error);
      g_assert_cmpint (ok, ==, recipes[i].named == NULL);
      if (!ok)
        g_assert_nonnull (strstr (error->message, recipes[i].named));
    }
}

/* Weights of gigabytes take seconds: neither what is decided of them nor what is written goes on when the job is cancelled. */
static void
test_cancelled (void)
{
  static const char * const formats[] = { "weights", "matmulnbits" };

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    {
      Fixture f = { vn_model_new (8, 13), vn_notes_new () };
      VnValue *x = vn_graph_add_input (f.model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (1, 64));
      g_autoptr(VnTensor) data = make_random (64, 64);
      g_autoptr(VnRecipe) recipe = vn_recipe_new ("cpu");
      g_autoptr(VnStats) stats = vn_stats_new_empty ();
      g_autoptr(VnQuantPlan) plan = NULL;
      g_autoptr(GCancellable) cancellable = g_cancellable_new ();
      g_autoptr(VnModel) written = NULL;
      g_autoptr(GError) error = NULL;
      GError *ended[2] = { NULL, NULL };

      vn_graph_set_output (f.model->graph, 0,
                           add_node (&f, "MatMul", "y", x, vn_graph_add_initializer (f.model->graph, "w", data)));
      g_assert_true (vn_recipe_set (recipe, "format", formats[i], &error) && vn_model_infer_types (f.model, NULL, NULL, &error));
      plan = vn_quantize_resolve (f.model, recipe, stats, f.notes, &error);
      g_assert_no_error (error);
      g_cancellable_cancel (cancellable);
      g_cancellable_push_current (cancellable);
      g_assert_null (vn_quantize_resolve (f.model, recipe, stats, f.notes, &ended[0]));
      g_assert_null (vn_quantize_write (f.model, recipe, plan, NULL, &ended[1]));
      g_cancellable_pop_current (cancellable);
      for (guint k = 0; k < G_N_ELEMENTS (ended); k++)
        {
          g_assert_error (ended[k], G_IO_ERROR, G_IO_ERROR_CANCELLED);
          g_clear_error (&ended[k]);
        }
      written = vn_quantize_write (f.model, recipe, plan, NULL, &error);
      g_assert_no_error (error);
      g_assert_nonnull (written);
      fixture_clear (&f);
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/weights/blocks", test_blocks);
  g_test_add_func ("/weights/axes", test_axes);
  g_test_add_func ("/weights/many", test_many);
  g_test_add_func ("/weights/nbits-bytes", test_nbits_bytes);
  g_test_add_func ("/weights/accuracy-levels", test_accuracy_levels);
  g_test_add_func ("/weights/block-rules", test_block_rules);
  g_test_add_func ("/weights/nbits-columns", test_nbits_columns);
  g_test_add_func ("/weights/half-numbers", test_half_numbers);
  g_test_add_func ("/weights/conversions", test_conversions);
  g_test_add_func ("/weights/recipes", test_recipes);
  g_test_add_func ("/weights/cancelled", test_cancelled);
  return g_test_run ();
}
