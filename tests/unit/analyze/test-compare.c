/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Comparing two networks tensor by tensor: every tensor is compared, and few are kept at a time. */
#include "engine-fixture.h"

#include "vn-compare.h"

#include <sys/resource.h>

#define N_LAYERS 48
#define SIDE 1024                       /* each tensor: 4 MiB */
#define TENSOR_BYTES ((gint64) SIDE * SIDE * 4)

/* A chain of sums with a constant, which is another one if @changed. */
static VnModel *
make_chain (gboolean changed)
{
  VnModel *model = vn_model_new (8, 13);
  g_autofree char *last = g_strdup ("x");

  vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (SIDE, SIDE));
  add_floats (model, "step", VN_SHAPE (1), changed ? 0.5f : 0.25f, 0);
  for (guint i = 0; i < N_LAYERS; i++)
    {
      g_autofree char *output = g_strdup_printf ("layer%u", i);
      g_autofree char *inputs = g_strconcat (last, " step", NULL);

      add_node (model, "Add", output, inputs, output);
      g_free (last);
      last = g_steal_pointer (&output);
    }
  set_outputs (model, last);
  return model;
}

static VnErrorTable *
compare (VnModel  *one,
         VnModel  *other,
         gboolean  bodies)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(VnDataSpec) spec = vn_data_spec_new ("random");
  VnInputSpec input = { (char *) "x", VN_DTYPE_F32, vn_graph_find_value (one->graph, "x")->type.shape, 0 };
  guint samples[] = { 0 };
  VnCompareOptions options = { .samples = samples, .n_samples = 1, .n_threads = 1, .bodies = bodies };
  g_autoptr(VnDataset) dataset = NULL;
  VnErrorTable *table;

  spec->max_samples = 1;
  dataset = vn_dataset_open (spec, &input, 1, NULL, &error);
  g_assert_no_error (error);
  table = vn_compare (one, other, NULL, dataset, &options, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  return table;
}

/* The input and every layer, with the difference that adds up from layer to layer. */
static void
test_rows (void)
{
  g_autoptr(VnModel) one = make_chain (FALSE);
  g_autoptr(VnModel) other = make_chain (TRUE);
  g_autoptr(VnErrorTable) table = compare (one, other, FALSE);

  g_assert_cmpuint (vn_error_table_get_n (table), ==, N_LAYERS + 1);
  for (guint i = 0; i < N_LAYERS; i++)
    {
      const VnErrorRow *row = vn_error_table_get (table, i + 1);
      g_autofree char *name = g_strdup_printf ("layer%u", i);

      g_assert_cmpstr (row->value, ==, name);
      g_assert_cmpfloat_with_epsilon (row->max_error, 0.25 * (i + 1), 1e-4);
    }
}

static gint64
get_peak (void)
{
  struct rusage usage;

  g_assert_cmpint (getrusage (RUSAGE_SELF, &usage), ==, 0);
  return (gint64) usage.ru_maxrss * 1024;
}

/* Of 48 tensors of 4 MiB a few are there at a time. */
static void
test_memory (void)
{
  g_autoptr(VnModel) one = make_chain (FALSE);
  g_autoptr(VnModel) other = make_chain (TRUE);
  gint64 before = get_peak ();
  g_autoptr(VnErrorTable) table = compare (one, other, FALSE);
  gint64 grown = get_peak () - before;

  g_assert_cmpuint (vn_error_table_get_n (table), ==, N_LAYERS + 1);
  g_test_message ("%lld bytes more at the peak, %lld of them for a tensor", (long long) grown, (long long) TENSOR_BYTES);
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
  g_test_skip ("sanitizers keep memory that was freed");
#else
  g_assert_cmpint (grown, <, 16 * TENSOR_BYTES);
#endif
}

/* ---- bodies ---- */

#define ROUNDS 100
#define KEPT 32          /* rounds that are kept: 64 MiB of two tensors of 1 MiB */

static VnValue *
find_or_add (VnGraph    *graph,
             const char *name)
{
  VnValue *value = vn_graph_find_value (graph, name);

  return value != NULL ? value : vn_graph_add_value (graph, name, VN_DTYPE_UNDEFINED, NULL);
}

static void
add_inside (VnGraph    *graph,
            const char *op_type,
            const char *first,
            const char *second,   /* nullable */
            const char *output)
{
  VnValue *inputs[] = { find_or_add (graph, first), second != NULL ? find_or_add (graph, second) : NULL };
  VnValue *result = find_or_add (graph, output);

  vn_graph_add_node (graph, output, "", op_type, inputs, second != NULL ? 2 : 1, &result, 1);
  vn_graph_set_output (graph, graph->outputs->len, result);
}

/* A Loop that adds a constant in each round, which is another one if @changed. */
static VnModel *
make_rounds (gboolean changed)
{
  VnModel *model = vn_model_new (8, 13);
  g_autoptr(VnTensor) flag = vn_tensor_new (VN_DTYPE_BOOL, &VN_SHAPE_SCALAR, NULL), n = vn_tensor_new_s64 (&VN_SHAPE_SCALAR,
                                                                                         (const gint64[]) { ROUNDS });
  VnAttr *attr = vn_attr_new ("body", VN_ATTR_GRAPH);
  VnNode *loop;

  *(guint8 *) flag->data = TRUE;
  vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (SIDE / 2, SIDE / 2));
  vn_graph_add_initializer (model->graph, "n", n);
  vn_graph_add_initializer (model->graph, "true", flag);
  loop = add_node (model, "Loop", "loop", "n true x", "y");
  attr->graph = vn_graph_new (model, model->graph, loop);
  vn_graph_add_input (attr->graph, "round", VN_DTYPE_S64, &VN_SHAPE_SCALAR);
  vn_graph_add_input (attr->graph, "go", VN_DTYPE_BOOL, &VN_SHAPE_SCALAR);
  vn_graph_add_input (attr->graph, "state", VN_DTYPE_F32, &VN_SHAPE (SIDE / 2, SIDE / 2));
  vn_node_set_attr (loop, attr);
  add_floats (model, "step", VN_SHAPE (1), changed ? 0.5f : 0.25f, 0);
  add_inside (attr->graph, "Identity", "go", NULL, "on");
  add_inside (attr->graph, "Add", "state", "step", "next");
  set_outputs (model, "y");
  return model;
}

/* All rounds are run, and told; those that are kept are compared. */
static void
test_rounds (void)
{
  g_autoptr(VnModel) one = make_rounds (FALSE);
  g_autoptr(VnModel) other = make_rounds (TRUE);
  const gint64 before = get_peak ();
  g_autoptr(VnErrorTable) table = compare (one, other, TRUE), without = compare (one, other, FALSE);
  const VnBodyErrors *body = vn_error_table_find_body (table, "loop:body/");
  const VnErrorRow *row;

  g_assert_cmpuint (vn_error_table_get_n_bodies (without), ==, 0);
  g_assert_cmpuint (vn_error_table_get_n_bodies (table), ==, 1);
  g_assert_nonnull (body);
  g_assert_cmpuint (body->n_float, ==, ROUNDS);
  g_assert_cmpuint (body->n_quant, ==, ROUNDS);
  g_assert_cmpuint (body->n_both, ==, ROUNDS);
  g_assert_cmpuint (body->n_compared, ==, KEPT);
  row = vn_error_table_find (body->errors, "next");
  g_assert_cmpuint (row->n, ==, (guint64) KEPT * (SIDE / 2) * (SIDE / 2));
  g_assert_cmpfloat_with_epsilon (row->max_error, 0.25 * KEPT, 1e-4);
  g_assert_true (vn_body_errors_get_worst (body) == row);
  g_assert_cmpfloat_with_epsilon (vn_error_table_find (table, "y")->max_error, 0.25 * ROUNDS, 1e-3);
  g_assert_cmpfloat (vn_error_table_find (table, "y")->max_error, ==, vn_error_table_find (without, "y")->max_error);
#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
  g_assert_cmpint (get_peak () - before, <, 100 << 20);
#endif
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/compare/memory", test_memory);   /* first: the peak is that of the whole program */
  g_test_add_func ("/compare/rows", test_rows);
  g_test_add_func ("/compare/rounds", test_rounds);
  return g_test_run ();
}
