/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Second moments, the triangular factor of an inverse, products of matrices: OpenBLAS with one thread in each call. */
#include "vn-linalg.h"

#include "vn-float-mode.h"
#include "vn-i18n.h"
#include "vn-memory.h"

#include <cblas.h>
#include <dlfcn.h>
#include <glob.h>

/* A matrix of so few rows is summed up faster here than a call takes. */
#define SMALL 16

/* What the library takes for itself when it is loaded: it waits forever for memory that it does not get. */
#define ROOM ((gsize) 256 << 20)

#define LIBRARY "libopenblas.so.0"

/* The same for Python, where pip puts it, seen from the folder of a program that pip put there, too. */
static const char * const python_places[] = {
  "../lib*/python3*/*-packages/scipy_openblas32/lib/libscipy_openblas.so",
  "../scipy_openblas32/lib/libscipy_openblas.so",
};

/* What names begin with in that one. */
#define PYTHON_PREFIX "scipy_"

/* LAPACK, as Fortran is called; OpenBLAS has it, but installs no header for it. */
typedef void (*FactorFunc) (const char *uplo, const int *n, double *a, const int *lda, int *info);

static struct
{
  __typeof__ (&cblas_ssyrk)              ssyrk;
  __typeof__ (&cblas_dgemm)              dgemm;
  __typeof__ (&cblas_dtrmm)              dtrmm;
  __typeof__ (&cblas_sgemm)              sgemm;
  __typeof__ (&openblas_set_num_threads) set_threads;
  __typeof__ (&openblas_get_corename)    get_core;
  FactorFunc                             dpotrf, dpotri;
} blas;

static gpointer
linalg_open_for_python (void)
{
  g_autofree char *program = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree char *folder = program != NULL ? g_path_get_dirname (program) : NULL;
  gpointer library = NULL;

  for (guint i = 0; folder != NULL && library == NULL && i < G_N_ELEMENTS (python_places); i++)
    {
      g_autofree char *pattern = g_build_filename (folder, python_places[i], NULL);
      glob_t found = { 0 };

      if (glob (pattern, 0, NULL, &found) == 0)
        library = dlopen (found.gl_pathv[0], RTLD_NOW | RTLD_LOCAL);
      globfree (&found);
    }
  return library;
}

static gpointer
linalg_find (gpointer    library,
             const char *name)
{
  g_autofree char *prefixed = g_strconcat (PYTHON_PREFIX, name, NULL);
  gpointer found = dlsym (library, name);

  return found != NULL ? found : dlsym (library, prefixed);
}

/* Loaded when it is needed: what does not need it starts without it, in little memory. */
static gboolean
linalg_load (const char  *otherwise,
             GError     **error)
{
  const struct { const char *name; gpointer *place; } functions[] = {
    { "cblas_ssyrk", (gpointer *) &blas.ssyrk }, { "cblas_dgemm", (gpointer *) &blas.dgemm },
    { "cblas_dtrmm", (gpointer *) &blas.dtrmm }, { "cblas_sgemm", (gpointer *) &blas.sgemm },
    { "openblas_set_num_threads", (gpointer *) &blas.set_threads },
    { "openblas_get_corename", (gpointer *) &blas.get_core },
    { "dpotrf_", (gpointer *) &blas.dpotrf }, { "dpotri_", (gpointer *) &blas.dpotri },
  };
  g_autofree char *reason = NULL;
  gpointer library;

  if (!vn_memory_expect (ROOM, error))
    return FALSE;
  library = dlopen (LIBRARY, RTLD_NOW | RTLD_LOCAL);
  reason = library == NULL ? g_strdup (dlerror ()) : NULL;
  if (library == NULL)
    library = linalg_open_for_python ();
  for (guint i = 0; i < G_N_ELEMENTS (functions); i++)
    {
      *functions[i].place = library != NULL ? linalg_find (library, functions[i].name) : NULL;
      if (*functions[i].place != NULL)
        continue;
      g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED,
                   _("OpenBLAS cannot be used: %s; install the package libopenblas0 of Debian or scipy-openblas32 of Python, "
                     "or %s"),
                   reason != NULL ? reason : dlerror (), otherwise);
      return FALSE;
    }
  blas.set_threads (1);
  return TRUE;
}

/**
 * vn_linalg_init:
 * @otherwise: what can be done without OpenBLAS, for the message: “turn … off”
 *
 * To be called before anything else here.
 *
 * Returns: %FALSE with %VN_ERROR_MEMORY or %VN_ERROR_UNSUPPORTED if OpenBLAS cannot be loaded
 */
gboolean
vn_linalg_init (const char  *otherwise,
                GError     **error)
{
  static GMutex lock;
  static gboolean loaded = FALSE;
  gboolean good;

  g_return_val_if_fail (otherwise != NULL, FALSE);

  g_mutex_lock (&lock);
  good = loaded = loaded || linalg_load (otherwise, error);
  g_mutex_unlock (&lock);
  return good;
}

/**
 * vn_linalg_get_core:
 *
 * Returns: what OpenBLAS calls the processor whose kernels it runs: times depend on it
 */
const char *
vn_linalg_get_core (void)
{
  g_return_val_if_fail (blas.get_core != NULL, NULL);

  return blas.get_core ();
}

static void
linalg_add_small_moments (double      *moments,
                          gsize        k,
                          const float *columns,
                          gsize        n)
{
  for (gsize p = 0; p < n; p++)
    for (gsize i = 0; i < k; i++)
      for (gsize j = i; j < k; j++)
        moments[i * k + j] += (double) columns[p * k + i] * (double) columns[p * k + j];
}

/**
 * vn_linalg_add_moments:
 * @moments: @k x @k, upper triangle: what is added to
 * @columns: @n vectors of @k numbers, one behind the other
 * @first, @last: rows of @moments, without the last
 * @scratch: room for (@last - @first) x (@k - @first)
 *
 * Adds some rows of the sum of x xᵀ over the vectors x. Those of one call are summed up in float32, calls in float64.
 */
void
vn_linalg_add_moments (double      *moments,
                       gsize        k,
                       const float *columns,
                       gsize        n,
                       gsize        first,
                       gsize        last,
                       float       *scratch)
{
  const gsize width = k - first;
  guint mode;

  g_return_if_fail (moments != NULL && (columns != NULL || n == 0) && scratch != NULL && blas.ssyrk != NULL);
  g_return_if_fail (first < last && last <= k);

  if (k < SMALL && last - first == k)
    {
      linalg_add_small_moments (moments, k, columns, n);
      return;
    }
  mode = vn_float_mode_begin (TRUE);
  blas.ssyrk (CblasRowMajor, CblasUpper, CblasTrans, (blasint) (last - first), (blasint) n, 1, columns + first, (blasint) k, 0,
              scratch, (blasint) width);
  if (last < k)
    blas.sgemm (CblasRowMajor, CblasTrans, CblasNoTrans, (blasint) (last - first), (blasint) (k - last), (blasint) n, 1,
                columns + first, (blasint) k, columns + last, (blasint) k, 0, scratch + last - first, (blasint) width);
  vn_float_mode_end (mode);
  for (gsize i = first; i < last; i++)
    for (gsize j = i; j < k; j++)
      moments[i * k + j] += (double) scratch[(i - first) * width + j - first];
}

/**
 * vn_linalg_inverse_factor:
 * @moments: (inout): @k x @k, upper triangle, positive definite
 *
 * Makes of H the upper triangular U with inverse (H) = Uᵀ U.
 *
 * Returns: %FALSE with %VN_ERROR_NUMERIC if H is not positive definite; @moments is of no use then
 */
gboolean
vn_linalg_inverse_factor (double  *moments,
                          gsize    k,
                          GError **error)
{
  const int n = (int) k;
  int info = 0;

  g_return_val_if_fail (moments != NULL && k > 0 && k <= G_MAXINT && blas.dpotrf != NULL, FALSE);

  /* rows here are columns there: the upper triangle in rows is the lower one of LAPACK */
  blas.dpotrf ("L", &n, moments, &n, &info);
  if (info == 0)
    blas.dpotri ("L", &n, moments, &n, &info);
  if (info == 0)
    blas.dpotrf ("L", &n, moments, &n, &info);
  if (info == 0)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_NUMERIC, _("The Hessian of the inputs of a layer (size %llu) is singular"),
               (unsigned long long) k);
  return FALSE;
}

/**
 * vn_linalg_subtract:
 * @a: @m x @n: @left (@m x @k) times @right (@k x @n) is taken off it
 * @a_step: numbers from one row of @a to the next, and so on
 */
void
vn_linalg_subtract (double       *a,
                    gsize         a_step,
                    const double *left,
                    gsize         left_step,
                    const double *right,
                    gsize         right_step,
                    gsize         m,
                    gsize         n,
                    gsize         k)
{
  if (m == 0 || n == 0 || k == 0)
    return;
  blas.dgemm (CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint) m, (blasint) n, (blasint) k, -1, left, (blasint) left_step,
               right, (blasint) right_step, 1, a, (blasint) a_step);
}

static double
linalg_find_small_energy (const float *row,
                          const float *others,
                          const float *shares,
                          gsize        n,
                          gsize        k)
{
  double sum = 0;

  for (gsize j = 0; j < n; j++)
    {
      float product = 0;

      for (gsize i = 0; i < k; i++)
        product += row[i] * others[j * k + i];
      sum += (shares != NULL ? (double) shares[j] : 1) * (double) product * (double) product;
    }
  return sum;
}

/**
 * vn_linalg_add_energies:
 * @sums: (array length=m): what is added to
 * @rows: @m x @k
 * @others: @n x @k
 * @shares: (nullable) (array length=n): what the products with each of the @others count; %NULL: 1
 * @scratch: room for @m x @n
 *
 * Adds to each sum the squares of the products of its row and all @others.
 */
void
vn_linalg_add_energies (double      *sums,
                        const float *rows,
                        gsize        m,
                        const float *others,
                        const float *shares,
                        gsize        n,
                        gsize        k,
                        float       *scratch)
{
  guint mode;

  g_return_if_fail (sums != NULL && rows != NULL && others != NULL && scratch != NULL && blas.sgemm != NULL);

  if (k < SMALL || m == 1)
    {
      for (gsize i = 0; i < m; i++)
        sums[i] += linalg_find_small_energy (rows + i * k, others, shares, n, k);
      return;
    }
  mode = vn_float_mode_begin (TRUE);
  blas.sgemm (CblasRowMajor, CblasNoTrans, CblasTrans, (blasint) m, (blasint) n, (blasint) k, 1, rows, (blasint) k, others,
              (blasint) k,
              0, scratch, (blasint) n);
  vn_float_mode_end (mode);
  for (gsize i = 0; i < m; i++)
    for (gsize j = 0; j < n; j++)
      sums[i] += (shares != NULL ? (double) shares[j] : 1) * (double) scratch[i * n + j] * (double) scratch[i * n + j];
}

/**
 * vn_linalg_add_product:
 * @c: @m x @n: what is added to
 * @c_step: numbers from one row of @c to the next, and so on
 * @a: @m x @k, or @k x @m if it is to be transposed
 * @b: @k x @n, or @n x @k if it is to be transposed
 * @m, @n, @k: and steps: at most %G_MAXINT
 *
 * Adds @factor times the product.
 */
void
vn_linalg_add_product (float       *c,
                       gsize        c_step,
                       const float *a,
                       gsize        a_step,
                       gboolean     a_transposed,
                       const float *b,
                       gsize        b_step,
                       gboolean     b_transposed,
                       gsize        m,
                       gsize        n,
                       gsize        k,
                       float        factor)
{
  guint mode;

  g_return_if_fail (c != NULL && a != NULL && b != NULL && blas.sgemm != NULL);
  g_return_if_fail (MAX (MAX (m, n), k) <= G_MAXINT && MAX (MAX (a_step, b_step), c_step) <= G_MAXINT);

  if (m == 0 || n == 0 || k == 0)
    return;
  mode = vn_float_mode_begin (TRUE);
  blas.sgemm (CblasRowMajor, a_transposed ? CblasTrans : CblasNoTrans, b_transposed ? CblasTrans : CblasNoTrans, (blasint) m,
              (blasint) n,
              (blasint) k, factor, a, (blasint) a_step, b, (blasint) b_step, 1, c, (blasint) c_step);
  vn_float_mode_end (mode);
}

/**
 * vn_linalg_multiply_inverse:
 * @rows: (inout): @m x @k
 * @factor: @k x @k: of vn_linalg_inverse_factor()
 *
 * Multiplies @rows from the right by the inverse that @factor is the factor of.
 */
void
vn_linalg_multiply_inverse (double       *rows,
                            gsize         m,
                            const double *factor,
                            gsize         k)
{
  g_return_if_fail (rows != NULL && factor != NULL && blas.dtrmm != NULL);

  for (guint i = 0; i < 2; i++)
    blas.dtrmm (CblasRowMajor, CblasRight, CblasUpper, i == 0 ? CblasTrans : CblasNoTrans, CblasNonUnit, (blasint) m, (blasint) k,
                1, factor, (blasint) k, rows, (blasint) k);
}
