/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Products of matrices of odd sizes with every kernel of this processor, beside sums in float64. */
#include "vn-gemm-general.h"
#include "vn-gemm-packed.h"

#include <math.h>

#define GUARD 1234.5f

/* With 0, small, just below and above the sizes of tiles, strips and passes. */
static const gsize sizes[][3] = {
  { 1, 1, 1 }, { 1, 7, 3 }, { 5, 1, 17 }, { 8, 48, 64 }, { 9, 49, 65 }, { 7, 47, 4 }, { 17, 96, 257 }, { 3, 100, 512 },
  { 130, 33, 513 }, { 16, 16, 1030 }, { 2, 17, 300 }, { 31, 130, 5 }, { 257, 50, 6 }, { 4, 16, 0 },
};

static float *
random_floats (gsize  n,
               GRand *rand)
{
  float *x = g_new (float, n + 1);

  for (gsize i = 0; i < n; i++)
    x[i] = (float) g_rand_double_range (rand, -1, 1);
  x[n] = GUARD;
  return x;
}

static double
reference (gboolean     trans_a,
           gboolean     trans_b,
           gsize        k,
           const float *a,
           gsize        lda,
           const float *b,
           gsize        ldb,
           gsize        i,
           gsize        j)
{
  double sum = 0;

  for (gsize t = 0; t < k; t++)
    sum += (double) (trans_a ? a[t * lda + i] : a[i * lda + t]) * (trans_b ? b[j * ldb + t] : b[t * ldb + j]);
  return sum;
}

static void
check_run (const VnGemmKernel *kernel,
           const gsize        *size,
           gboolean            trans_a,
           gboolean            trans_b,
           float               alpha,
           float               beta)
{
  gsize m = size[0], n = size[1], k = size[2], lda = (trans_a ? m : k) + 3, ldb = (trans_b ? k : n) + 1, ldc = n + 5;
  g_autoptr(GRand) rand = g_rand_new_with_seed (7);
  g_autofree float *a = random_floats ((trans_a ? k : m) * lda, rand);
  g_autofree float *b = random_floats ((trans_b ? n : k) * ldb, rand);
  g_autofree float *c = random_floats (m * ldc, rand);
  g_autofree float *before = g_memdup2 (c, m * ldc * sizeof (float));

  vn_gemm_run (kernel, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  for (gsize i = 0; i < m; i++)
    for (gsize j = 0; j < ldc; j++)
      {
        double wanted = j < n ? alpha * reference (trans_a, trans_b, k, a, lda, b, ldb, i, j) +
                                (beta != 0 ? (double) beta * before[i * ldc + j] : 0) : before[i * ldc + j];

        g_assert_cmpfloat_with_epsilon (c[i * ldc + j], wanted, 1e-5 * sqrt ((double) k + 1));
      }
  g_assert_cmpfloat (c[m * ldc], ==, GUARD);
}

static void
test_run (void)
{
  guint n_kernels;
  const VnGemmKernel * const *kernels = vn_gemm_kernel_list (&n_kernels);

  for (guint q = 0; q < n_kernels; q++)
    for (guint s = 0; s + 1 < G_N_ELEMENTS (sizes); s++)
      for (guint flags = 0; flags < 4; flags++)
        {
          g_test_message ("%s, size %u, transposed %u", kernels[q]->name, s, flags);
          check_run (kernels[q], sizes[s], flags & 1, flags >> 1, 1, 0);
          check_run (kernels[q], sizes[s], flags & 1, flags >> 1, 0.37f, 1);
          check_run (kernels[q], sizes[s], flags & 1, flags >> 1, 1, -0.8f);
        }
}

/* Values float32 does not hold, and c with room around it. */
static void
check_f64 (const gsize *size,
           gboolean     trans_a,
           gboolean     trans_b,
           double       beta)
{
  gsize m = size[0], n = size[1], k = size[2], lda = (trans_a ? m : k) + 3, ldb = (trans_b ? k : n) + 1, ldc = n + 5;
  gsize n_a = (trans_a ? k : m) * lda, n_b = (trans_b ? n : k) * ldb;
  g_autofree double *a = g_new (double, n_a);
  g_autofree double *b = g_new (double, n_b);
  g_autofree double *c = g_new (double, m * ldc);
  g_autoptr(GRand) rand = g_rand_new_with_seed (10);

  for (gsize i = 0; i < n_a; i++)
    a[i] = g_rand_double_range (rand, -1, 1);
  for (gsize i = 0; i < n_b; i++)
    b[i] = g_rand_double_range (rand, -1, 1);
  for (gsize i = 0; i < m * ldc; i++)
    c[i] = beta == 0 ? NAN : (double) i;
  vn_gemm_general_f64 (trans_a, trans_b, m, n, k, 0.7, a, lda, b, ldb, beta, c, ldc);
  for (gsize i = 0; i < m; i++)
    for (gsize j = 0; j < ldc; j++)
      {
        double sum = beta == 0 ? 0 : beta * (double) (i * ldc + j);

        for (gsize t = 0; t < k && j < n; t++)
          sum += 0.7 * (trans_a ? a[t * lda + i] : a[i * lda + t]) * (trans_b ? b[j * ldb + t] : b[t * ldb + j]);
        if (j < n)
          g_assert_cmpfloat_with_epsilon (c[i * ldc + j], sum, 1e-10);
        else if (beta == 0)
          g_assert_true (isnan (c[i * ldc + j]));
        else
          g_assert_cmpfloat (c[i * ldc + j], ==, (double) (i * ldc + j));
      }
}

static void
test_f64 (void)
{
  for (guint s = 0; s < G_N_ELEMENTS (sizes); s++)
    for (guint flags = 0; flags < 4; flags++)
      {
        g_test_message ("size %u, transposed %u", s, flags);
        check_f64 (sizes[s], flags & 1, flags >> 1, 0);
        check_f64 (sizes[s], flags & 1, flags >> 1, -0.8);
      }
}

static float *
run_packed (const VnGemmPacked *packed,
            const VnGemmCall   *call,
            guint               n_threads)
{
  VnOpContext ctx = { .n_threads = n_threads };
  gsize n = call->rows * packed->columns;
  float *y = g_new (float, n + 1);
  VnGemmCall filled = *call;

  for (gsize i = 0; i <= n; i++)
    y[i] = i < n ? NAN : GUARD;
  filled.y = y;
  vn_gemm_packed_run (packed, &ctx, &filled);
  g_assert_cmpfloat (y[n], ==, GUARD);
  return y;
}

static double
finished (const VnGemmCall *call,
          double            v)
{
  const VnActivation *map = &call->epilogue->map;

  if (map->kind == VN_ACTIVATION_GELU)
    return 0.5 * v * (1 + erf (v / G_SQRT2));
  return v < map->min ? map->min : v > map->max ? map->max : v;
}

static void
check_packed (const VnGemmKernel *kernel,
              const gsize        *size,
              gboolean            transposed,
              gsize               added_row,
              gsize               added_column,
              VnActivationKind    kind)
{
  gsize m = size[0], n = size[1], k = size[2];
  g_autoptr(GRand) rand = g_rand_new_with_seed (8);
  g_autofree float *a = random_floats (m * k, rand);
  g_autofree float *b = random_floats (k * n, rand);
  g_autofree float *added = random_floats (m * n, rand);
  VnGemmPacked *packed = vn_gemm_packed_new (kernel, b, k, n, transposed, 0.5f, NULL);
  const VnEpilogue epilogue = { .map = { .active = TRUE, .kind = kind, .min = -0.7f, .max = 0.9f,
                                         .a = (float) G_SQRT2 / 2, .b = 0.5f } };
  VnGemmCall call = { .a = a, .rows = m, .a_step = k, .depth_step = 1, .added = added, .added_row = added_row,
                      .added_column = added_column, .beta = 0.3f, .epilogue = &epilogue };
  g_autofree float *one = run_packed (packed, &call, 1);

  for (guint n_threads = 2; n_threads <= 4; n_threads++)
    {
      g_autofree float *more = run_packed (packed, &call, n_threads);

      g_assert_cmpmem (one, m * n * sizeof (float), more, m * n * sizeof (float));
    }
  for (gsize i = 0; i < m; i++)
    for (gsize j = 0; j < n; j++)
      {
        double sum = 0.5 * reference (FALSE, transposed, k, a, k, b, transposed ? k : n, i, j) +
                     (double) 0.3f * added[i * added_row + j * added_column];

        g_assert_cmpfloat_with_epsilon (one[i * n + j], finished (&call, sum), 1e-5 * sqrt ((double) k + 1));
      }
  vn_gemm_packed_free (packed);
}

static void
test_packed (void)
{
  guint n_kernels;
  const VnGemmKernel * const *kernels = vn_gemm_kernel_list (&n_kernels);

  for (guint q = 0; q < n_kernels; q++)
    for (guint s = 0; s < G_N_ELEMENTS (sizes); s++)
      {
        g_test_message ("%s, size %u", kernels[q]->name, s);
        check_packed (kernels[q], sizes[s], FALSE, 0, 1, VN_ACTIVATION_CLAMP);
        check_packed (kernels[q], sizes[s], TRUE, sizes[s][1], 1, VN_ACTIVATION_GELU);
        check_packed (kernels[q], sizes[s], TRUE, 1, 0, VN_ACTIVATION_CLAMP);
        check_packed (kernels[q], sizes[s], FALSE, 0, 0, VN_ACTIVATION_GELU);
      }
}

/* Not a number and infinity stay what they are in their row, and do not leave it. */
static void
test_special (void)
{
  guint n_kernels;
  const VnGemmKernel * const *kernels = vn_gemm_kernel_list (&n_kernels);
  float a[4] = { NAN, 1, (float) INFINITY, 2 }, b[3] = { 1, -1, 0.5f }, c[12];

  for (guint q = 0; q < n_kernels; q++)
    {
      vn_gemm_run (kernels[q], FALSE, FALSE, 4, 3, 1, 1, a, 1, b, 3, 0, c, 3);
      for (int j = 0; j < 3; j++)
        {
          g_assert_true (isnan (c[j]));
          g_assert_cmpfloat (c[3 + j], ==, b[j]);
          g_assert_cmpfloat (c[6 + j], ==, b[j] * INFINITY);
          g_assert_cmpfloat (c[9 + j], ==, 2 * b[j]);
        }
    }
}

static void
check_row_and_column (const float *c,
                      gsize        m,
                      gsize        n,
                      gsize        row,
                      gsize        column)
{
  for (gsize i = 0; i < m; i++)
    for (gsize j = 0; j < n; j++)
      {
        g_assert_cmpint (isnan (c[i * n + j]) != 0, ==, i == row);
        g_assert_cmpint (isinf (c[i * n + j]) != 0, ==, j == column && i != row);
      }
}

/* One NaN of the left and one infinity of the right operand, in tiles that are filled up and in whole ones. */
static void
test_special_tiles (void)
{
  enum { M = 13, N = 55, K = 300 };
  guint n_kernels;
  const VnGemmKernel * const *kernels = vn_gemm_kernel_list (&n_kernels);
  g_autoptr(GRand) rand = g_rand_new_with_seed (9);
  g_autofree float *a = random_floats (M * K, rand);
  g_autofree float *b = random_floats (K * N, rand);
  float c[M * N];

  a[11 * K + 290] = NAN;
  b[7 * N + 54] = (float) INFINITY;
  for (guint q = 0; q < n_kernels; q++)
    {
      VnGemmPacked *packed = vn_gemm_packed_new (kernels[q], b, K, N, FALSE, 1, NULL);
      VnGemmCall call = { .a = a, .rows = M, .a_step = K, .depth_step = 1 };
      g_autofree float *y = run_packed (packed, &call, 2);

      vn_gemm_run (kernels[q], FALSE, FALSE, M, N, K, 1, a, K, b, N, 0, c, N);
      check_row_and_column (c, M, N, 11, 54);
      check_row_and_column (y, M, N, 11, 54);
      vn_gemm_packed_free (packed);
    }
}

/* What operators call, sizes of 0 included. */
static void
test_general (void)
{
  float a[6] = { 1, 2, 3, 4, 5, 6 }, b[6] = { 1, 0, 0, 1, 1, 1 }, c[4] = { 1, 1, 1, 1 };

  vn_gemm (2, 2, 3, a, 3, b, 2, c, 2);
  g_assert_cmpfloat (c[0], ==, 4);
  g_assert_cmpfloat (c[1], ==, 5);
  g_assert_cmpfloat (c[2], ==, 10);
  g_assert_cmpfloat (c[3], ==, 11);
  vn_gemm_general (FALSE, FALSE, 2, 2, 0, 1, a, 3, b, 2, 0.5f, c, 2);
  g_assert_cmpfloat (c[3], ==, 5.5f);
  vn_gemm (0, 2, 3, a, 3, b, 2, c, 2);
  g_assert_cmpfloat (c[3], ==, 5.5f);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ops/gemm/run", test_run);
  g_test_add_func ("/ops/gemm/packed", test_packed);
  g_test_add_func ("/ops/gemm/special", test_special);
  g_test_add_func ("/ops/gemm/special-tiles", test_special_tiles);
  g_test_add_func ("/ops/gemm/f64", test_f64);
  g_test_add_func ("/ops/gemm/general", test_general);
  return g_test_run ();
}
