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

static VnErrorPart *
part_sums_make_part (const VnErrorSum  *sum,
                     const VnPartition *partition,
                     guint              part)
{
  VnErrorPart *made = g_new (VnErrorPart, 1);

  *made = (VnErrorPart) { .axis = partition->axis, .slices = vn_partition_dup_slices (partition, part), .n = sum->n, .n_bad = sum->n_bad,
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
      vn_error_row_take_part (row, part_sums_make_part (&sums[i], partition, i - 1));
}
