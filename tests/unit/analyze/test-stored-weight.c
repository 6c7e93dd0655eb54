/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Weights as quantized networks store them, against what the engine computes with them: a product with the unit matrix. Scales
 * are such that nothing is rounded, so that both are the same to the last bit. */
#include "engine-fixture.h"

#include "vn-constant-look.h"
#include "vn-error.h"

#define K 32
#define N 6

static VnTensor *
make_integers (VnDType dtype,
               VnShape shape,
               int     least,
               int     n_levels)
{
  VnTensor *tensor = vn_tensor_new (dtype, &shape, NULL);

  for (gsize i = 0; i < tensor->n_elements; i++)
    ((guint8 *) tensor->data)[i] = (guint8) (least + (int) (i * 29 % 251) % n_levels);
  return tensor;
}

static void
add_tensor (VnModel    *model,
            const char *name,
            VnTensor   *tensor)     /* taken */
{
  vn_graph_add_initializer (model->graph, name, tensor);
  vn_tensor_unref (tensor);
}

static void
add_scales (VnModel *model,
            VnShape  shape)
{
  VnTensor *tensor = vn_tensor_new (VN_DTYPE_F32, &shape, NULL);

  for (gsize i = 0; i < tensor->n_elements; i++)
    ((float *) tensor->data)[i] = 0.25f * (float) (1 + i % 3);
  add_tensor (model, "scale", tensor);
}

static VnModel *
make_model (void)
{
  VnModel *model = vn_model_new (10, 21);

  vn_model_set_opset (model, "com.microsoft", 1);
  vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (K, K));
  return model;
}

static void
make_per_tensor (VnModel *model)
{
  add_tensor (model, "q", make_integers (VN_DTYPE_S8, VN_SHAPE (K, N), -100, 200));
  add_scales (model, (VnShape) { 0 });
  add_tensor (model, "zero", make_integers (VN_DTYPE_S8, (VnShape) { 0 }, -3, 1));
  add_node (model, "DequantizeLinear", "dq", "q scale zero", "w");
  add_node (model, "MatMul", "product", "x w", "y");
}

static void
make_per_channel (VnModel *model)
{
  add_tensor (model, "q", make_integers (VN_DTYPE_U8, VN_SHAPE (K, N), 0, 250));
  add_scales (model, VN_SHAPE (N));
  add_tensor (model, "zero", make_integers (VN_DTYPE_U8, VN_SHAPE (N), 100, 50));
  vn_node_set_int (add_node (model, "DequantizeLinear", "dq", "q scale zero", "w"), "axis", 1);
  add_node (model, "MatMul", "product", "x w", "y");
}

static void
make_blocks (VnModel *model)
{
  VnNode *node;

  add_tensor (model, "q", make_integers (VN_DTYPE_S8, VN_SHAPE (K, N), -8, 16));
  add_scales (model, VN_SHAPE (K / 8, N));
  node = add_node (model, "DequantizeLinear", "dq", "q scale", "w");
  vn_node_set_int (node, "axis", 0);
  vn_node_set_int (node, "block_size", 8);
  add_node (model, "MatMul", "product", "x w", "y");
}

/* Integer scales of blocks, with a scale for each channel: LPBQ. */
static void
make_integer_blocks (VnModel *model)
{
  VnNode *node;

  add_tensor (model, "q", make_integers (VN_DTYPE_S8, VN_SHAPE (K, N), -8, 16));
  add_tensor (model, "steps", make_integers (VN_DTYPE_U8, VN_SHAPE (K / 8, N), 1, 15));
  add_scales (model, VN_SHAPE (N));
  vn_node_set_int (add_node (model, "DequantizeLinear", "inner", "steps scale", "blocks"), "axis", 1);
  node = add_node (model, "DequantizeLinear", "dq", "q blocks", "w");
  vn_node_set_int (node, "axis", 0);
  vn_node_set_int (node, "block_size", 8);
  add_node (model, "MatMul", "product", "x w", "y");
}

/* The same with one scale and a zero point. */
static void
make_shifted_blocks (VnModel *model)
{
  VnNode *node;

  add_tensor (model, "q", make_integers (VN_DTYPE_S8, VN_SHAPE (K, N), -8, 16));
  add_tensor (model, "steps", make_integers (VN_DTYPE_U8, VN_SHAPE (K / 8, N), 4, 15));
  add_scales (model, (VnShape) { 0 });
  add_tensor (model, "zero", make_integers (VN_DTYPE_U8, (VnShape) { 0 }, 3, 1));
  add_node (model, "DequantizeLinear", "inner", "steps scale zero", "blocks");
  node = add_node (model, "DequantizeLinear", "dq", "q blocks", "w");
  vn_node_set_int (node, "axis", 0);
  vn_node_set_int (node, "block_size", 8);
  add_node (model, "MatMul", "product", "x w", "y");
}

static void
make_rounded (VnModel *model)
{
  VnNode *node;

  add_floats (model, "floats", VN_SHAPE (K, N), -40, 0.4375f);
  add_scales (model, VN_SHAPE (N));
  add_node (model, "Identity", "same", "scale", "step");
  add_tensor (model, "zero", make_integers (VN_DTYPE_S8, VN_SHAPE (N), -5, 7));
  node = add_node (model, "QuantizeLinear", "quantize", "floats step zero", "q");
  vn_node_set_int (node, "axis", 1);
  node = add_node (model, "DequantizeLinear", "dq", "q step zero", "w");
  vn_node_set_int (node, "axis", 1);
  add_node (model, "MatMul", "product", "x w", "y");
}

static void
make_whole_product (VnModel *model)
{
  add_tensor (model, "q", make_integers (VN_DTYPE_S8, VN_SHAPE (K, N), -100, 200));
  add_scales (model, VN_SHAPE (N));
  add_tensor (model, "zero", make_integers (VN_DTYPE_S8, VN_SHAPE (N), -5, 7));
  add_floats (model, "one", (VnShape) { 0 }, 1, 0);
  add_tensor (model, "none", make_integers (VN_DTYPE_U8, (VnShape) { 0 }, 0, 1));
  add_node (model, "QuantizeLinear", "quantize", "x one none", "a");
  add_node (model, "com.microsoft:MatMulIntegerToFloat", "product", "a q one scale none zero", "y");
}

static void
make_packed (VnModel *model,
             guint    bits,
             gboolean has_zero)
{
  gint64 n_blocks = K / 16;
  VnNode *node;

  add_tensor (model, "q", make_integers (VN_DTYPE_U8, VN_SHAPE (N, n_blocks, 16 * bits / 8), 0, 250));
  add_scales (model, VN_SHAPE (N * n_blocks));
  if (has_zero)
    add_tensor (model, "zero", make_integers (VN_DTYPE_U8, VN_SHAPE (N * ((n_blocks * bits + 7) / 8)), 0, 250));
  node = add_node (model, "com.microsoft:MatMulNBits", "product", has_zero ? "x q scale zero" : "x q scale", "y");
  vn_node_set_int (node, "N", N);
  vn_node_set_int (node, "K", K);
  vn_node_set_int (node, "bits", bits);
  vn_node_set_int (node, "block_size", 16);
}

static void
make_packed_4 (VnModel *model)
{
  make_packed (model, 4, FALSE);
}

static void
make_packed_4_zero (VnModel *model)
{
  make_packed (model, 4, TRUE);
}

static void
make_packed_8 (VnModel *model)
{
  make_packed (model, 8, TRUE);
}

/* y of the unit matrix: the weight, K x N. */
static VnTensor *
run_unit (VnModel *model)
{
  g_autoptr(VnTensor) unit = vn_tensor_new (VN_DTYPE_F32, &VN_SHAPE (K, K), NULL);

  for (guint i = 0; i < K * K; i++)
    ((float *) unit->data)[i] = i % (K + 1) == 0;
  set_outputs (model, "y");
  g_assert_true (vn_model_infer_types (model, NULL, NULL, NULL));
  return run_simple (model, NULL, unit);
}

/* Of two experts of which the second is chosen: FC1 passes K numbers on, FC2 has the weight, one of K rows of K numbers. */
static void
make_experts (VnModel *model,
              gint64   block)
{
  VnTensor *pass = make_integers (VN_DTYPE_U8, VN_SHAPE (2, K, K), 128, 1);
  VnNode *node;

  for (guint i = 0; i < 2 * K; i++)
    ((guint8 *) pass->data)[i * K + i % K] = 129;
  add_tensor (model, "pass", pass);
  add_floats (model, "ones", VN_SHAPE (2, K, block > 0 ? K / block : 1), 1, 0);
  add_tensor (model, "q", make_integers (VN_DTYPE_U8, VN_SHAPE (2, K, K), 0, 250));
  add_scales (model, block > 0 ? VN_SHAPE (2, K, K / block) : VN_SHAPE (2, K));
  add_tensor (model, "zero", make_integers (VN_DTYPE_U8, block > 0 ? VN_SHAPE (2, K, K / block) : VN_SHAPE (2, K), 0, 250));
  add_floats (model, "router", VN_SHAPE (K, 2), 0, 1);
  node = add_node (model, "com.microsoft:QMoE", "product", "x router pass ones - q scale - - - - - zero", "y");
  vn_node_set_int (node, "expert_weight_bits", 8);
  vn_node_set_string (node, "activation_type", "identity");
  if (block > 0)
    vn_node_set_int (node, "block_size", block);
}

static void
test_experts (void)
{
  for (gint64 block = 0; block <= 16; block += 16)
    {
      g_autoptr(VnModel) model = make_model ();
      g_autoptr(VnTensor) wanted = NULL, restored = NULL, first = NULL;
      g_autoptr(GError) error = NULL;
      const VnNode *node;
      VnStoredWeight stored;

      make_experts (model, block);
      wanted = run_unit (model);
      node = vn_graph_find_node (model->graph, "product");
      g_assert_true (vn_constant_find_stored (vn_node_get_input (node, 5), &stored));
      g_assert_true (vn_stored_weight_find_input (&stored, node, 5));
      g_assert_cmpint (vn_stored_weight_get_dtype (&stored), ==, VN_DTYPE_U8);
      restored = vn_stored_weight_restore (&stored, &error);
      g_assert_no_error (error);
      for (gsize k = 0; k < K; k++)
        for (gsize n = 0; n < K; n++)
          g_assert_cmpfloat_with_epsilon (((float *) wanted->data)[k * K + n], ((float *) restored->data)[(K + n) * K + k],
                                          1e-3);
      g_assert_true (vn_stored_weight_find_input (&stored, node, 2));
      first = vn_stored_weight_restore (&stored, &error);
      g_assert_no_error (error);
      g_assert_cmpfloat (((float *) first->data)[K + 1], ==, 1);
    }
}

static void
test_forms (void)
{
  static const struct { void (*make) (VnModel *); VnStoredForm form; VnDType dtype; gboolean is_turned; } cases[] = {
    { make_per_tensor, VN_STORED_PAIR, VN_DTYPE_S8, FALSE },
    { make_per_channel, VN_STORED_PAIR, VN_DTYPE_U8, FALSE },
    { make_blocks, VN_STORED_PAIR, VN_DTYPE_S8, FALSE },
    { make_integer_blocks, VN_STORED_PAIR, VN_DTYPE_S8, FALSE },
    { make_shifted_blocks, VN_STORED_PAIR, VN_DTYPE_S8, FALSE },
    { make_rounded, VN_STORED_FLOAT, VN_DTYPE_S8, FALSE },
    { make_whole_product, VN_STORED_DYNAMIC, VN_DTYPE_S8, FALSE },
    { make_packed_4, VN_STORED_PACKED, VN_DTYPE_U4, TRUE },
    { make_packed_4_zero, VN_STORED_PACKED, VN_DTYPE_U4, TRUE },
    { make_packed_8, VN_STORED_PACKED, VN_DTYPE_U8, TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnModel) model = make_model ();
      g_autoptr(VnTensor) wanted = NULL, restored = NULL;
      g_autoptr(GError) error = NULL;
      VnStoredWeight stored;
      gboolean is_stored = FALSE;
      const VnValue *value;

      cases[i].make (model);
      wanted = run_unit (model);
      value = vn_node_find_weight (vn_graph_find_node (model->graph, "product"), &stored, &is_stored);
      g_assert_true (is_stored && value == stored.value);
      g_assert_cmpint (stored.form, ==, cases[i].form);
      g_assert_cmpint (vn_stored_weight_get_dtype (&stored), ==, cases[i].dtype);
      g_assert_cmpstr (stored.user->name, ==, "product");
      restored = vn_stored_weight_restore (&stored, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (restored->n_elements, ==, K * N);
      for (gsize k = 0; k < K; k++)
        for (gsize n = 0; n < N; n++)
          g_assert_cmpfloat (((float *) wanted->data)[k * N + n], ==,
                             ((float *) restored->data)[cases[i].is_turned ? n * K + k : k * N + n]);
    }
}

/* Scales and packed numbers that are shorter than the node says are refused, and read no further. */
static void
test_short (void)
{
  for (guint i = 0; i < 3; i++)
    {
      g_autoptr(VnModel) model = make_model ();
      g_autoptr(VnTensor) restored = NULL;
      g_autoptr(GError) error = NULL;
      VnStoredWeight stored;
      gboolean is_stored = FALSE;

      if (i == 0)
        make_per_channel (model);
      else if (i == 1)
        make_blocks (model);
      else
        make_packed_4 (model);
      vn_node_find_weight (vn_graph_find_node (model->graph, "product"), &stored, &is_stored);
      g_assert_true (is_stored);
      ((VnTensor *) stored.scale)->n_elements--;
      restored = vn_stored_weight_restore (&stored, &error);
      g_assert_null (restored);
      g_assert_error (error, VN_ERROR, VN_ERROR_MALFORMED);
    }
}

static void
test_levels (void)
{
  static const struct { VnDType dtype; int least, n_used; gsize n; } cases[] = {
    { VN_DTYPE_S8, -128, 1, 256 }, { VN_DTYPE_S8, -7, 15, 256 }, { VN_DTYPE_U8, 3, 200, 256 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnTensor) tensor = vn_tensor_new (cases[i].dtype, &VN_SHAPE (1000), NULL);
      VnLevels levels;

      for (int k = 0; k < 1000; k++)
        ((guint8 *) tensor->data)[k] = (guint8) (cases[i].least + k % cases[i].n_used);
      g_assert_true (vn_levels_count (&levels, tensor));
      g_assert_cmpint (levels.least, ==, cases[i].least);
      g_assert_cmpint (levels.most, ==, cases[i].least + cases[i].n_used - 1);
      g_assert_cmpuint (levels.n_used, ==, cases[i].n_used);
      g_assert_cmpuint (levels.n, ==, cases[i].n);
    }
}

/* What a constant holds, and that of one nobody can show nothing is told. */
static void
test_look (void)
{
  g_autoptr(VnModel) model = make_model ();
  g_autoptr(VnConstantLook) look = NULL, none = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *scales = NULL, *element = NULL;
  VnStoredWeight stored;
  const VnValue *value;
  VnTensor *strings = vn_tensor_new (VN_DTYPE_STRING, &VN_SHAPE (1), NULL);

  make_per_channel (model);
  value = vn_graph_find_value (model->graph, "q");
  g_assert_true (vn_constant_find_stored (value, &stored));
  look = vn_constant_look_new (model, value, &stored, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (look->tensor->n_elements, ==, K * N);
  g_assert_cmpint (look->numbers->dtype, ==, VN_DTYPE_F32);
  g_assert_cmpuint (look->stats.n, ==, K * N);
  g_assert_cmpfloat (look->stats.min, <, 0);
  g_assert_cmpfloat (look->stats.max, >, 0);
  g_assert_nonnull (look->histogram);
  scales = vn_constant_dup_scales (stored.scale);
  g_assert_nonnull (strstr (scales, "0.25"));
  g_assert_nonnull (strstr (scales, "0.75"));
  element = vn_constant_dup_element (look->tensor, 1);
  g_assert_cmpstr (element, ==, "29");
  if (strings == NULL)
    return;
  add_tensor (model, "strings", strings);
  none = vn_constant_look_new (model, vn_graph_find_value (model->graph, "strings"), NULL, &error);
  g_assert_null (none);
  g_assert_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED);
}

/* Scales of scales that do not fit are no weight, and are read no further. */
static void
test_outer_short (void)
{
  g_autoptr(VnModel) model = make_model ();
  VnStoredWeight stored;

  make_integer_blocks (model);
  g_assert_true (vn_stored_weight_find_input (&stored, vn_graph_find_node (model->graph, "product"), 1));
  ((VnTensor *) vn_value_get_constant (vn_graph_find_value (model->graph, "scale")))->n_elements--;
  g_assert_false (vn_stored_weight_find_input (&stored, vn_graph_find_node (model->graph, "product"), 1));
}

/* Identities in a circle have no end, and no constant. */
static void
test_circle (void)
{
  g_autoptr(VnModel) model = make_model ();
  VnStoredWeight stored;

  add_node (model, "Identity", "a", "p", "r");
  add_node (model, "Identity", "b", "r", "p");
  add_tensor (model, "q", make_integers (VN_DTYPE_S8, VN_SHAPE (K, N), -100, 200));
  add_node (model, "DequantizeLinear", "dq", "q p", "w");
  g_assert_null (vn_value_find_constant (vn_graph_find_value (model->graph, "p")));
  g_assert_false (vn_stored_weight_find (&stored, vn_graph_find_node (model->graph, "dq")));
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/stored-weight/forms", test_forms);
  g_test_add_func ("/stored-weight/experts", test_experts);
  g_test_add_func ("/stored-weight/short", test_short);
  g_test_add_func ("/stored-weight/outer-short", test_outer_short);
  g_test_add_func ("/stored-weight/levels", test_levels);
  g_test_add_func ("/stored-weight/look", test_look);
  g_test_add_func ("/stored-weight/circle", test_circle);
  return g_test_run ();
}
