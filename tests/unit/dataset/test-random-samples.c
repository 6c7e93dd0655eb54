/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Samples when there are none. */

#include "vn-dataset.h"
#include "vn-error.h"
#include "vn-graph-edit.h"

static void
test_random (void)
{
  static const VnInputSpec inputs[] = {
    { (char *) "x", VN_DTYPE_F32, { 4, { 1, 3, 20, 20 } } },
    { (char *) "ids", VN_DTYPE_S64, { 2, { -1, 50 } } },
    { (char *) "b", VN_DTYPE_U8, { 1, { 1000 } } },
    { (char *) "h", VN_DTYPE_F16, { 1, { 1000 } } },
  };
  static const double limits[][2] = { { 0, 1 }, { 0, 1 }, { 0, 255 }, { 0, 1 } };
  g_autoptr(VnDataSpec) spec = vn_data_spec_new ("random");
  g_autoptr(GError) error = NULL;
  g_autoptr(VnDataset) all = vn_dataset_open (spec, inputs, 4, NULL, &error);
  g_autoptr(VnDataset) few = NULL;
  g_autoptr(VnDataset) other = NULL;
  VnTensor *a[4], *b[4], *c[4], *d[4];

  spec->max_samples = 4;
  few = vn_dataset_open (spec, inputs, 4, NULL, &error);
  spec->seed = 1;
  other = vn_dataset_open (spec, inputs, 4, NULL, &error);
  g_assert_cmpuint (vn_dataset_get_n (all), ==, 32);
  g_assert_cmpuint (vn_dataset_get_n (few), ==, 4);
  g_assert_cmpstr (vn_dataset_get_name (few, 3), ==, "random 3");
  g_assert_null (vn_dataset_get_path (few, 3));
  g_assert_true (vn_dataset_load (few, 3, b, &error));
  g_assert_true (vn_dataset_load (all, 3, a, &error));
  g_assert_true (vn_dataset_load (all, 2, c, &error));
  g_assert_true (vn_dataset_load (other, 3, d, &error));
  for (guint k = 0; k < 4; k++)
    {
      double min = G_MAXDOUBLE;
      double max = -G_MAXDOUBLE;

      for (gsize i = 0; i < a[k]->n_elements; i++)
        {
          min = MIN (min, vn_tensor_get_double (a[k], i));
          max = MAX (max, vn_tensor_get_double (a[k], i));
        }
      g_test_message ("%s: %g .. %g", inputs[k].name, min, max);
      g_assert_cmpint (a[k]->dtype, ==, inputs[k].dtype);
      g_assert_cmpfloat (min, >=, limits[k][0]);
      g_assert_cmpfloat (max, <=, limits[k][1]);
      g_assert_cmpfloat (max - min, >, 0.9 * limits[k][1]);
      g_assert_true (vn_tensor_equal (a[k], b[k]));
      g_assert_false (vn_tensor_equal (a[k], c[k]));
      g_assert_false (vn_tensor_equal (a[k], d[k]));
      vn_tensor_unref (a[k]);
      vn_tensor_unref (b[k]);
      vn_tensor_unref (c[k]);
      vn_tensor_unref (d[k]);
    }
}

/* What the name of an input says is in it. */
static void
test_tokens (void)
{
  static const struct
  {
    VnInputSpec input;
    double      first, last, most;      /* -1: any */
  } cases[] = {
    { { (char *) "input_ids", VN_DTYPE_S64, { 2, { -1, -1 } }, 99 }, -1, -1, 98 },
    { { (char *) "attention_mask", VN_DTYPE_S64, { 2, { -1, -1 } } }, 1, 1, 1 },
    { { (char *) "Input_Mask", VN_DTYPE_BOOL, { 2, { -1, -1 } } }, 1, 1, 1 },
    { { (char *) "token_type_ids", VN_DTYPE_S32, { 2, { -1, -1 } }, 2 }, 0, 0, 0 },
    { { (char *) "segment_ids", VN_DTYPE_S32, { 2, { -1, -1 } } }, 0, 0, 0 },
    { { (char *) "position_ids", VN_DTYPE_S64, { 2, { -1, -1 } }, 512 }, 0, 15, 15 },
    { { (char *) "position_ids", VN_DTYPE_S64, { 2, { 1, 64 } }, 10 }, 0, 9, 9 },
    { { (char *) "input_lengths", VN_DTYPE_S64, { 1, { -1 } } }, 16, 16, 16 },
    { { (char *) "sr", VN_DTYPE_S64, { 0 } }, 16000, 16000, 16000 },
    { { (char *) "bytes", VN_DTYPE_U8, { 2, { 1, 500 } }, 100 }, -1, -1, 99 },
    { { (char *) "small", VN_DTYPE_S8, { 2, { 1, 500 } }, 30000 }, -1, -1, 127 },
    { { (char *) "other", VN_DTYPE_S32, { 2, { 1, 500 } } }, -1, -1, 1 },
  };
  const VnInputSpec tokens = { (char *) "tokens", VN_DTYPE_S64, { 2, { -1, -1 } }, 30522 };
  g_autoptr(VnDataSpec) spec = vn_data_spec_new ("random");

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const VnInputSpec inputs[] = { cases[i].input, tokens };
      g_autoptr(GError) error = NULL;
      g_autoptr(VnDataset) dataset = vn_dataset_open (spec, inputs, 2, NULL, &error);
      VnTensor *tensors[2] = { NULL };
      double max = 0;
      gsize n;

      g_assert_no_error (error);
      g_assert_true (vn_dataset_load (dataset, 0, tensors, &error));
      n = tensors[0]->n_elements;
      for (gsize k = 0; k < n; k++)
        {
          g_assert_cmpfloat (vn_tensor_get_double (tensors[0], k), >=, 0);
          max = MAX (max, vn_tensor_get_double (tensors[0], k));
        }
      g_test_message ("%s: up to %g", inputs[0].name, max);
      g_assert_cmpint (tensors[0]->dtype, ==, inputs[0].dtype);
      g_assert_cmpfloat (max, <=, cases[i].most);
      g_assert_cmpfloat (max, >=, cases[i].most / 2);
      if (cases[i].first >= 0)
        g_assert_cmpfloat (vn_tensor_get_double (tensors[0], 0), ==, cases[i].first);
      if (cases[i].last >= 0)
        g_assert_cmpfloat (vn_tensor_get_double (tensors[0], n - 1), ==, cases[i].last);
      g_assert_cmpuint (tensors[1]->n_elements, ==, 16);
      vn_tensor_unref (tensors[0]);
      vn_tensor_unref (tensors[1]);
    }
}

/* Nothing has gone before: what is open of a cache is its length, and batches of one. What is no cache has one of all. */
static void
test_caches (void)
{
  static const struct { VnInputSpec input; VnShape wanted; } cases[] = {
    { { (char *) "past_key_values.0.key", VN_DTYPE_F32, { 4, { -1, 2, -1, 8 } } }, { 4, { 1, 2, 0, 8 } } },
    { { (char *) "past_key_values.1.value", VN_DTYPE_F16, { 4, { 1, 2, -1, 8 } } }, { 4, { 1, 2, 0, 8 } } },
    { { (char *) "past_0", VN_DTYPE_F32, { 5, { 2, -1, 4, -1, 8 } } }, { 5, { 2, 1, 4, 0, 8 } } },
    { { (char *) "past_key_values.0.key", VN_DTYPE_F32, { 4, { -1, 2, 3, 8 } } }, { 4, { 1, 2, 3, 8 } } },
    { { (char *) "past", VN_DTYPE_F32, { 2, { -1, 8 } } }, { 2, { 1, 8 } } },
    { { (char *) "pixels", VN_DTYPE_F32, { 4, { -1, 2, -1, 8 } } }, { 4, { 1, 2, 1, 8 } } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnDataSpec) spec = vn_data_spec_new ("random");
      g_autoptr(GError) error = NULL;
      g_autoptr(VnDataset) dataset = vn_dataset_open (spec, &cases[i].input, 1, NULL, &error);
      g_autoptr(VnTensor) tensor = NULL;

      g_assert_no_error (error);
      g_assert_true (vn_dataset_load (dataset, 0, &tensor, &error));
      g_test_message ("%u", i);
      g_assert_true (vn_shape_equal (&tensor->shape, &cases[i].wanted));
    }
}

/* Tokens, their mask and a cache go together: a mask is as long as the tokens and what has gone before. -1: open */
static void
test_lengths (void)
{
  static const struct { gint64 tokens, mask, past, wanted_tokens, wanted_mask, wanted_past; } cases[] = {
    { -1, -1, -1, 16, 16, 0 },
    { 5, -1, -1, 5, 5, 0 },
    { 5, -1, 3, 5, 8, 3 },
    { -1, -1, 3, 16, 19, 3 },
    { -1, 7, -1, 16, 7, 0 },
    { 1, -1, 0, 1, 1, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const VnInputSpec inputs[] = {
        { .name = (char *) "attention_mask", .dtype = VN_DTYPE_S64, .shape = { 2, { -1, cases[i].mask } } },
        { .name = (char *) "input_ids", .dtype = VN_DTYPE_S64, .shape = { 2, { -1, cases[i].tokens } }, .limit = 9 },
        { .name = (char *) "past_key_values.0.key", .dtype = VN_DTYPE_F32, .shape = { 4, { -1, 2, cases[i].past, 8 } } },
      };
      const gint64 wanted[] = { cases[i].wanted_mask, cases[i].wanted_tokens, cases[i].wanted_past };
      g_autoptr(VnDataSpec) spec = vn_data_spec_new ("random");
      g_autoptr(GError) error = NULL;
      g_autoptr(VnDataset) dataset = vn_dataset_open (spec, inputs, G_N_ELEMENTS (inputs), NULL, &error);
      VnTensor *tensors[G_N_ELEMENTS (inputs)] = { NULL };

      g_assert_no_error (error);
      g_assert_true (vn_dataset_load (dataset, 0, tensors, &error));
      g_test_message ("%u", i);
      for (guint k = 0; k < G_N_ELEMENTS (inputs); k++)
        g_assert_cmpint (tensors[k]->shape.dims[k < 2 ? 1 : 2], ==, wanted[k]);
      vn_tensor_clear_all (tensors, G_N_ELEMENTS (tensors));
    }
}

/* ids -> Cast -> Unsqueeze -> Gather from a table of 7 rows and 5 columns; x is not looked up. */
static void
test_limit (void)
{
  g_autoptr(VnModel) model = vn_model_new (8, 13);
  VnGraph *graph = model->graph;
  g_autoptr(VnTensor) weights = vn_tensor_new_f32 (&VN_SHAPE (7, 5), (const float[35]) { 0 });
  VnValue *table = vn_graph_add_initializer (graph, "table", weights);
  VnValue *ids = vn_graph_add_input (graph, "ids", VN_DTYPE_S32, NULL);
  VnValue *x = vn_graph_add_input (graph, "x", VN_DTYPE_S32, NULL);
  VnValue *cast = vn_graph_add_value (graph, "cast", VN_DTYPE_S64, NULL);
  VnValue *wide = vn_graph_add_value (graph, "wide", VN_DTYPE_S64, NULL);
  VnValue *rows = vn_graph_add_value (graph, "rows", VN_DTYPE_F32, NULL);
  VnValue *columns = vn_graph_add_value (graph, "columns", VN_DTYPE_F32, NULL);

  vn_graph_add_node (graph, NULL, "", "Cast", &ids, 1, &cast, 1);
  vn_graph_add_node (graph, NULL, "", "Unsqueeze", &cast, 1, &wide, 1);
  g_assert_cmpint (vn_value_find_index_limit (ids), ==, 0);
  vn_graph_add_node (graph, NULL, "", "Gather", (VnValue *[]) { table, wide }, 2, &rows, 1);
  g_assert_cmpint (vn_value_find_index_limit (ids), ==, 7);
  vn_node_set_int (vn_graph_add_node (graph, NULL, "", "Gather", (VnValue *[]) { table, ids }, 2, &columns, 1), "axis", -1);
  g_assert_cmpint (vn_value_find_index_limit (ids), ==, 5);
  g_assert_cmpint (vn_value_find_index_limit (x), ==, 0);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/random/kinds", test_random);
  g_test_add_func ("/random/tokens", test_tokens);
  g_test_add_func ("/random/caches", test_caches);
  g_test_add_func ("/random/lengths", test_lengths);
  g_test_add_func ("/random/limit", test_limit);

  return g_test_run ();
}
