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
compare (VnModel *one,
         VnModel *other)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(VnDataSpec) spec = vn_data_spec_new ("random");
  VnInputSpec input = { (char *) "x", VN_DTYPE_F32, VN_SHAPE (SIDE, SIDE), 0 };
  guint samples[] = { 0 };
  VnCompareOptions options = { .samples = samples, .n_samples = 1, .n_threads = 1 };
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
  g_autoptr(VnErrorTable) table = compare (one, other);

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
  g_autoptr(VnErrorTable) table = compare (one, other);
  gint64 grown = get_peak () - before;

  g_assert_cmpuint (vn_error_table_get_n (table), ==, N_LAYERS + 1);
  g_test_message ("%lld bytes more at the peak, %lld of them for a tensor", (long long) grown, (long long) TENSOR_BYTES);
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
  g_test_skip ("sanitizers keep memory that was freed");
#else
  g_assert_cmpint (grown, <, 16 * TENSOR_BYTES);
#endif
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/compare/memory", test_memory);   /* first: the peak is that of the whole program */
  g_test_add_func ("/compare/rows", test_rows);
  return g_test_run ();
}
