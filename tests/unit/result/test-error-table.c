/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The table of errors: its orders, its rows by name, and which rows are marked. */

#include "vn-contributions.h"

#include <math.h>

static VnErrorRow *
make_row (const char *value,
          double      noise,
          double      cosine,
          guint64     n_bad)
{
  VnErrorRow *row = vn_error_row_new ();

  row->value = g_strdup (value);
  row->node = g_strdup ("");
  row->op_type = g_strdup ("");
  row->noise_to_signal = noise;
  row->sqnr_db = -10 * log10 (noise);
  row->cosine = cosine;
  row->n_bad = n_bad;
  return row;
}

/* Worst first; equal ones in the order in which they run. */
static void
test_order (void)
{
  static const double noise[] = { 0.01, 0.5, 0.01, 0.9, 0.5 };
  static const guint expected[] = { 3, 1, 4, 0, 2 };
  g_autoptr(VnErrorTable) table = vn_error_table_new (7);
  g_autoptr(GArray) order = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (noise); i++)
    {
      g_autofree char *name = g_strdup_printf ("t%u", i);

      vn_error_table_add (table, make_row (name, noise[i], 1, 0));
    }
  order = vn_error_table_sort_worst (table);
  g_assert_cmpuint (order->len, ==, G_N_ELEMENTS (expected));
  for (guint i = 0; i < order->len; i++)
    g_assert_cmpuint (g_array_index (order, guint, i), ==, expected[i]);
  g_assert_cmpuint (vn_error_table_get_n_samples (table), ==, 7);
  g_assert_cmpfloat (vn_error_table_find (table, "t3")->noise_to_signal, ==, 0.9);
  g_assert_null (vn_error_table_find (table, "t5"));
  g_assert_null (vn_error_table_get (table, 5));
}

/* By contribution: the largest first; rows that have none come last. */
static void
test_order_by (void)
{
  static const double shares[] = { 0.1, NAN, 0.7, 0, 0.1 };
  static const guint expected[] = { 2, 0, 4, 3, 1 };
  g_autoptr(VnErrorTable) table = vn_error_table_new (1);
  g_autoptr(GArray) order = NULL, by_cosine = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (shares); i++)
    {
      g_autofree char *name = g_strdup_printf ("t%u", i);
      VnErrorRow *row = make_row (name, 0.1, i == 3 ? 0.5 : 0.9, 0);

      g_assert_false (vn_metric_is_measured (row, VN_METRIC_CONTRIBUTION));
      row->contribution = shares[i];
      vn_error_table_add (table, row);
    }
  order = vn_error_table_sort_by (table, VN_METRIC_CONTRIBUTION);
  for (guint i = 0; i < order->len; i++)
    g_assert_cmpuint (g_array_index (order, guint, i), ==, expected[i]);
  by_cosine = vn_error_table_sort_by (table, VN_METRIC_COSINE);
  g_assert_cmpuint (g_array_index (by_cosine, guint, 0), ==, 3);
}

static void
add_contribution (VnContributions *self,
                  const char      *name,
                  const char      *value,
                  VnTensorRole     role,
                  double           share)
{
  VnContribution item = { .name = g_strdup (name), .node = g_strdup ("n"), .value = g_strdup (value), .role = role,
                          .share = share,
                          .share_error = NAN, .n_samples = 1 };

  vn_contributions_add (self, &item);
}

/* A row has the shares of all that is quantized for its value; the table that was marked stays as it was. */
static void
test_mark (void)
{
  g_autoptr(VnContributions) contributions = vn_contributions_new_empty ();
  g_autoptr(VnErrorTable) table = vn_error_table_new (3), marked = NULL;
  g_autoptr(GArray) found = NULL;

  vn_error_table_add (table, make_row ("y", 0.1, 1, 0));
  vn_error_table_add (table, make_row ("z", 0.1, 1, 0));
  vn_error_table_add_weight (table, make_row ("w", 0.1, 1, 0));
  add_contribution (contributions, "w", "y", VN_TENSOR_WEIGHT, 0.25);
  add_contribution (contributions, "y", "y", VN_TENSOR_ACTIVATION, 0.5);
  add_contribution (contributions, "far", "gone", VN_TENSOR_ACTIVATION, 0.25);
  marked = vn_contributions_mark (contributions, table);
  g_assert_true (isnan (vn_error_table_find (table, "y")->contribution));
  g_assert_cmpfloat (vn_error_table_find (marked, "y")->contribution, ==, 0.75);
  g_assert_cmpfloat (vn_error_table_find (marked, "z")->contribution, ==, 0);
  g_assert_cmpfloat (vn_error_table_get_weight (marked, 0)->contribution, ==, 0.25);
  g_assert_cmpuint (vn_error_table_get_n_samples (marked), ==, 3);
  found = vn_contributions_find (contributions, "y");
  g_assert_cmpuint (found->len, ==, 2);
  g_assert_cmpuint (g_array_index (found, guint, 0), ==, 1);
}

/* Weights: the noisiest first, equal ones by name. */
static void
test_weights (void)
{
  g_autoptr(VnErrorTable) table = vn_error_table_new (1);

  vn_error_table_add_weight (table, make_row ("b", 0.1, 1, 0));
  vn_error_table_add_weight (table, make_row ("c", 0.2, 1, 0));
  vn_error_table_add_weight (table, make_row ("a", 0.1, 1, 0));
  vn_error_table_sort_weights (table);
  g_assert_cmpuint (vn_error_table_get_n_weights (table), ==, 3);
  g_assert_cmpstr (vn_error_table_get_weight (table, 0)->value, ==, "c");
  g_assert_cmpstr (vn_error_table_get_weight (table, 1)->value, ==, "a");
  g_assert_cmpstr (vn_error_table_get_weight (table, 2)->value, ==, "b");
  g_assert_null (vn_error_table_get_weight (table, 3));
}

/* XQuant's limits: noise:signal above 0.1, cosine below 0.99, or new values that are no numbers. */
static void
test_marks (void)
{
  static const struct { double noise, cosine; guint64 n_bad; gboolean marked; } cases[] = {
    { 0.1, 0.99, 0, FALSE }, { 0.1001, 0.99, 0, TRUE }, { 0.05, 0.9899, 0, TRUE }, { 0, 1, 1, TRUE }, { 0, 1, 0, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnErrorTable) table = vn_error_table_new (1);

      g_test_message ("case %u", i);
      vn_error_table_add (table, make_row ("t", cases[i].noise, cases[i].cosine, cases[i].n_bad));
      g_assert_cmpint (vn_error_row_is_marked (vn_error_table_get (table, 0)), ==, cases[i].marked);
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/error-table/order", test_order);
  g_test_add_func ("/error-table/order-by", test_order_by);
  g_test_add_func ("/error-table/mark", test_mark);
  g_test_add_func ("/error-table/weights", test_weights);
  g_test_add_func ("/error-table/marks", test_marks);
  return g_test_run ();
}
