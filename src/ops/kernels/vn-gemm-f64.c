/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Products in float64. Networks hardly have any, so one tile for all heights and processors must do: rows that are not
 * there are computed as copies of the first and dropped. */
#include "vn-gemm.h"

#include "vn-op-kernel.h"

#define ROWS 4
#define COLUMNS 8
#define LANES 4      /* compilers take wider vectors to pieces where the instruction set has none */
#define VECTORS (COLUMNS / LANES)
#define DEPTH 256

typedef struct
{
  const double *a;
  gsize         a_row, a_step;   /* to the next row, to the next product */
  gsize         depth;
  const double *b;               /* depth x COLUMNS */
} Tile;

VN_MULTIVERSION
static void
gemm_f64_run_tile (const Tile *tile,
                   gsize       rows,
                   double      sums[ROWS][COLUMNS])
{
  typedef double Vector __attribute__ ((vector_size (LANES * sizeof (double)), aligned (8), may_alias));
  const double *from[ROWS];
  const Vector *b = (const Vector *) tile->b;
  Vector sum[ROWS][VECTORS] = { 0 };

  for (gsize i = 0; i < ROWS; i++)
    from[i] = tile->a + (i < rows ? i * tile->a_row : 0);
  for (gsize k = 0; k < tile->depth; k++, b += VECTORS)
    for (int i = 0; i < ROWS; i++)
      {
        Vector w = from[i][k * tile->a_step] - (Vector) { 0 };

        for (int j = 0; j < VECTORS; j++)
          sum[i][j] += w * b[j];
      }
  memcpy (sums, sum, sizeof sum);
}

static void
gemm_f64_pack (const double *b,
               gsize         ldb,
               gboolean      transposed,
               double        alpha,
               gsize         depth,
               gsize         columns,
               double       *to)
{
  for (gsize k = 0; k < depth; k++)
    for (gsize j = 0; j < COLUMNS; j++)
      to[k * COLUMNS + j] = j < columns ? alpha * (transposed ? b[j * ldb + k] : b[k * ldb + j]) : 0;
}

/**
 * vn_gemm_run_f64:
 *
 * c = alpha * op (a) * op (b) + beta * c as vn_gemm_general_f64(); no size may be 0.
 */
void
vn_gemm_run_f64 (gboolean      trans_a,
                 gboolean      trans_b,
                 gsize         m,
                 gsize         n,
                 gsize         k,
                 double        alpha,
                 const double *a,
                 gsize         lda,
                 const double *b,
                 gsize         ldb,
                 double        beta,
                 double       *c,
                 gsize         ldc)
{
  double packed[DEPTH * COLUMNS] __attribute__ ((aligned (64))), sums[ROWS][COLUMNS];
  Tile tile = { .a_row = trans_a ? 1 : lda, .a_step = trans_a ? lda : 1, .b = packed };

  for (gsize j = 0; j < n; j += COLUMNS)
    for (gsize done = 0; done < k; done += tile.depth)
      {
        gsize columns = MIN (COLUMNS, n - j);

        tile.depth = MIN (DEPTH, k - done);
        gemm_f64_pack (b + (trans_b ? j * ldb + done : done * ldb + j), ldb, trans_b, alpha, tile.depth, columns, packed);
        for (gsize i = 0; i < m; i += ROWS)
          {
            gsize rows = MIN (ROWS, m - i);

            tile.a = a + i * tile.a_row + done * tile.a_step;
            gemm_f64_run_tile (&tile, rows, sums);
            for (gsize r = 0; r < rows; r++)
              for (gsize q = 0; q < columns; q++)
                {
                  double *to = &c[(i + r) * ldc + j + q];

                  *to = sums[r][q] + (done > 0 ? *to : beta != 0 ? beta * *to : 0);
                }
          }
      }
}
