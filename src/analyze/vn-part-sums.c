/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Errors by parts: a tensor is as far from its float self as the worst of them. */
#include "vn-part-sums.h"

#include <math.h>

/**
 * vn_part_sums_count:
 *
 * Returns: how many sums there are of a tensor that is divided so
 */
guint
vn_part_sums_count (const VnPartition *partition)    /* (nullable): there are no parts */
{
  return 1 + (partition != NULL ? partition->n_parts : 0);
}

void
vn_part_sums_init (VnErrorSum        *sums,
                   const VnPartition *partition)
{
  g_return_if_fail (sums != NULL);

  for (guint i = 0; i < vn_part_sums_count (partition); i++)
    vn_error_sum_init (&sums[i]);
}

static void
part_sums_add_parts (VnErrorSum        *parts,
                     const VnPartition *partition,
                     gsize              outer,
                     gsize              inner,
                     const float       *f,
                     const float       *q)
{
  for (gsize o = 0; o < outer; o++)
    for (guint i = 0, last; i < partition->n_slices; i = last)
      {
        gsize at = (o * partition->n_slices + i) * inner;

        for (last = i + 1; last < partition->n_slices && partition->part_of[last] == partition->part_of[i]; last++)
          ;
        vn_error_sum_add (&parts[partition->part_of[i]], f + at, q + at, (last - i) * inner);
      }
}

/**
 * vn_part_sums_add:
 * @sums: (array): as many as vn_part_sums_count() says
 * @shape: of @f and @q; where it has other slices than @partition, nothing is added to the parts
 * @f, @q: float values, and those of the quantized network
 */
void
vn_part_sums_add (VnErrorSum        *sums,
                  const VnPartition *partition,
                  const VnShape     *shape,
                  const float       *f,
                  const float       *q)
{
  gsize n;

  g_return_if_fail (sums != NULL && shape != NULL);

  if (!vn_shape_n_elements (shape, &n))
    return;
  vn_error_sum_add (sums, f, q, n);
  if (partition != NULL && (int) partition->axis < shape->rank && shape->dims[partition->axis] == (gint64) partition->n_slices)
    part_sums_add_parts (sums + 1, partition, (gsize) vn_shape_count (shape, 0, (int) partition->axis),
                         (gsize) vn_shape_count (shape, (int) partition->axis + 1, shape->rank), f, q);
}

void
vn_part_sums_merge (VnErrorSum        *sums,
                    const VnPartition *partition,
                    const VnErrorSum  *from)
{
  g_return_if_fail (sums != NULL && from != NULL);

  for (guint i = 0; i < vn_part_sums_count (partition); i++)
    vn_error_sum_merge (&sums[i], &from[i]);
}

/**
 * vn_part_sums_get_sqnr:
 *
 * Returns: of the worst part, as vn_sqnr_bound() bounds it
 */
double
vn_part_sums_get_sqnr (const VnErrorSum  *sums,
                       const VnPartition *partition)
{
  double worst;

  g_return_val_if_fail (sums != NULL, 0);

  worst = vn_error_sum_bounded_sqnr (sums);
  for (guint i = 1; i < vn_part_sums_count (partition); i++)
    if (sums[i].n > 0)
      worst = MIN (worst, vn_error_sum_bounded_sqnr (&sums[i]));
  return worst;
}

/* 97.5 percent of Student's distribution lie below, by degrees of freedom, from 1 on. */
static const double students[] = { 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
                                   2.145, 2.131 };

static double
part_sums_get_student (guint freedom)
{
  return freedom <= G_N_ELEMENTS (students) ? students[freedom - 1] : 1.96 + 2.4 / freedom;
}

/* Of all samples but @one. Differences serve, as what is left of them is never small beside both. */
static double
part_sums_get_sqnr_without (const VnErrorSum *all,
                            const VnErrorSum *one,
                            guint             n_sums)
{
  double worst = INFINITY;

  for (guint i = 0; i < n_sums; i++)
    {
      const VnErrorSum rest = { .n = all[i].n - one[i].n, .ff = fmax (all[i].ff - one[i].ff, 0),
                                .dd = fmax (all[i].dd - one[i].dd, 0) };

      if (rest.n > 0)
        worst = MIN (worst, vn_error_sum_bounded_sqnr (&rest));
    }
  return worst;
}

/**
 * vn_part_sums_get_margin:
 * @samples: (array length=n): as many sums of each sample as vn_part_sums_count() says; %NULL: it was left out
 *
 * The jackknife (Tukey 1958): how much the figure moves when each sample in turn is left out, as a standard error, times
 * Student's factor.
 *
 * Returns: half the width of the interval of 95 percent around vn_part_sums_get_sqnr() of all samples, in dB; NaN if there are
 * fewer than two
 */
double
vn_part_sums_get_margin (const VnErrorSum * const *samples,
                         guint                     n,
                         const VnPartition        *partition)
{
  VnErrorSum all[1 + VN_MOST_PARTS];
  double sum = 0, squares = 0;
  guint n_used = 0;

  g_return_val_if_fail (samples != NULL, NAN);

  vn_part_sums_init (all, partition);
  for (guint i = 0; i < n; i++)
    if (samples[i] != NULL)
      vn_part_sums_merge (all, partition, samples[i]);
  for (guint i = 0; i < n; i++)
    if (samples[i] != NULL && samples[i]->n > 0)
      {
        double db = part_sums_get_sqnr_without (all, samples[i], vn_part_sums_count (partition));

        n_used++;
        sum += db;
        squares += db * db;
      }
  if (n_used < 2 || !isfinite (sum))
    return NAN;
  return part_sums_get_student (n_used - 1) * sqrt ((n_used - 1.0) / n_used * fmax (squares - sum * sum / n_used, 0));
}

/**
 * vn_part_sums_find_worst:
 *
 * Returns: the place in @sums of the part that speaks for the tensor; 0, all of it, if it has no parts that anything was added to
 */
guint
vn_part_sums_find_worst (const VnErrorSum  *sums,
                         const VnPartition *partition)
{
  guint worst = 0;

  g_return_val_if_fail (sums != NULL, 0);

  for (guint i = 1; i < vn_part_sums_count (partition); i++)
    if (sums[i].n > 0 && (worst == 0 || vn_error_sum_bounded_sqnr (&sums[i]) < vn_error_sum_bounded_sqnr (&sums[worst])))
      worst = i;
  return worst;
}

/**
 * vn_part_sums_make_part:
 * @i: place in @sums, from 1 on
 *
 * Returns: (transfer full): the part with its numbers
 */
VnErrorPart *
vn_part_sums_make_part (const VnErrorSum  *sums,
                        const VnPartition *partition,
                        guint              i)
{
  const VnErrorSum *sum;
  VnErrorPart *made;

  g_return_val_if_fail (sums != NULL && partition != NULL && i > 0 && i <= partition->n_parts, NULL);

  sum = &sums[i];
  made = g_new (VnErrorPart, 1);
  *made = (VnErrorPart) { .axis = partition->axis, .slices = vn_partition_dup_slices (partition, i - 1), .n = sum->n,
                          .n_bad = sum->n_bad,
                          .size = fmax (fabs (sum->float_min), fabs (sum->float_max)), .sqnr_db = vn_error_sum_sqnr (sum),
                          .noise_to_signal = vn_error_sum_noise (sum), .cosine = vn_error_sum_cosine (sum),
                          .is_dead = sum->quant_min == sum->quant_max && sum->float_min < sum->float_max };
  return made;
}

/**
 * vn_part_sums_fill_row:
 * @row: (inout): takes the numbers: ratios are those of the worst part
 */
void
vn_part_sums_fill_row (const VnErrorSum  *sums,
                       const VnPartition *partition,
                       VnErrorRow        *row)
{
  g_return_if_fail (sums != NULL && row != NULL);

  vn_error_sum_fill_row (sums, row);
  for (guint i = 1; i < vn_part_sums_count (partition); i++)
    if (sums[i].n > 0)
      vn_error_row_take_part (row, vn_part_sums_make_part (sums, partition, i));
}
