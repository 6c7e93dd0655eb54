/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How large the numbers are in each slice of a tensor. Slices whose sizes differ by a wide gap, in every sample alike, are parts:
 * boxes in pixels beside scores. Positions differ, too, but not in a few runs of slices side by side. */
#include "slice-sizes.h"

#include <math.h>
#include <string.h>

#define LEAST_SLICES 2
#define GAP (3.321928)             /* log2 (10): between the sizes of slices of different parts, over all samples */
#define GAP_OF_SAMPLE 1.0          /* log2: the same of one sample: what is small stays small */
#define LEAST_SHARE 0.001          /* of the elements: less is no part of its own */
#define RUNS_PER_PART 2u           /* slices of a part lie side by side, or in a few places */
#define LEAST_ELEMENTS 4u          /* in a slice: of fewer it takes some samples to tell their size */
#define SAMPLES_FOR_FEW 4u

void
vn_slice_sizes_clear (VnSliceSizes *self)
{
  g_return_if_fail (self != NULL);

  for (guint a = 0; a < VN_MAX_RANK; a++)
    g_clear_pointer (&self->axes[a], g_array_unref);
  *self = (VnSliceSizes) { 0 };
}

/* ---- one sample ---- */

static gboolean
slice_sizes_is_candidate (const VnShape *shape,
                          int            axis)
{
  return axis > 0 && shape->dims[axis] >= LEAST_SLICES && shape->dims[axis] <= VN_MOST_SLICES;
}

/* What is not finite says nothing of a size. */
static void
slice_sizes_add_axis (VnSliceSizes   *self,
                      const VnTensor *tensor,
                      int             axis)
{
  const float *x = tensor->data;
  gsize n = (gsize) tensor->shape.dims[axis], inner = (gsize) vn_shape_count (&tensor->shape, axis + 1, tensor->shape.rank);
  g_autofree double *sums = g_new0 (double, n);
  g_autofree gsize *counts = g_new0 (gsize, n);

  for (gsize i = 0; i < tensor->n_elements; i += inner)
    {
      gsize slice = i / inner % n;

      for (gsize k = i; k < i + inner; k++)
        if (isfinite (x[k]))
          {
            sums[slice] += (double) x[k] * (double) x[k];
            counts[slice]++;
          }
    }
  for (gsize s = 0; s < n; s++)
    {
      double size = counts[s] > 0 ? log2 (sums[s] / (double) counts[s]) / 2 : -INFINITY;

      g_array_append_val (self->axes[axis], size);
    }
}

/**
 * vn_slice_sizes_add:
 * @self: zeroed before the first sample
 * @tensor: of one sample; nothing but float32 is looked at
 *
 * An axis whose length changes from sample to sample is none that parts lie along.
 */
void
vn_slice_sizes_add (VnSliceSizes   *self,
                    const VnTensor *tensor)
{
  const float *x;

  g_return_if_fail (self != NULL && tensor != NULL);

  if (tensor->dtype != VN_DTYPE_F32 || tensor->n_elements == 0 || (self->n_samples > 0 && tensor->shape.rank != self->shape.rank))
    return;
  if (self->n_samples == 0)
    {
      self->shape = tensor->shape;
      self->are_shares = TRUE;
      for (int a = 0; a < tensor->shape.rank; a++)
        if (slice_sizes_is_candidate (&tensor->shape, a))
          self->axes[a] = g_array_new (FALSE, FALSE, sizeof (double));
    }
  for (int a = 0; a < self->shape.rank; a++)
    if (self->axes[a] != NULL && tensor->shape.dims[a] != self->shape.dims[a])
      g_clear_pointer (&self->axes[a], g_array_unref);
    else if (self->axes[a] != NULL)
      slice_sizes_add_axis (self, tensor, a);
  x = tensor->data;
  for (gsize i = 0; i < tensor->n_elements && self->are_shares; i++)
    self->are_shares = x[i] >= 0 && x[i] <= 1;
  self->n_samples++;
}

/* ---- parts ---- */

/**
 * Split: a way to divide one axis.
 * @n: units, each of some slices
 * @mean: by unit: log2 of its RMS over the samples
 * @order: units by their size, those that are always zero first
 * @part: by unit
 * @width: log2 of the gaps between parts, all together
 */
typedef struct
{
  guint   n, n_parts;
  double *mean;
  guint  *order;
  guint8 *part;
  double  width;
} Split;

static void
slice_sizes_free_split (Split *self)
{
  g_free (self->mean);
  g_free (self->order);
  g_free (self->part);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Split, slice_sizes_free_split)

static gint
slice_sizes_compare (gconstpointer a,
                     gconstpointer b,
                     gpointer      data)
{
  const double *mean = data;
  guint x = *(const guint *) a, y = *(const guint *) b;

  return mean[x] != mean[y] ? (mean[x] < mean[y] ? -1 : 1) : (gint) x - (gint) y;
}

/* log2 of the RMS of slices from @first on, in one sample, or in all (@sample -1). */
static double
slice_sizes_get_mean (const VnSliceSizes *self,
                      guint               axis,
                      guint               first,
                      guint               n,
                      int                 sample)
{
  const double *sizes = (const double *) (gpointer) self->axes[axis]->data;
  guint n_slices = (guint) self->shape.dims[axis];
  double sum = 0;

  for (guint s = sample < 0 ? 0 : (guint) sample; s < (sample < 0 ? self->n_samples : (guint) sample + 1); s++)
    for (guint i = first; i < first + n; i++)
      sum += exp2 (2 * sizes[(gsize) s * n_slices + i]);
  return log2 (sum / ((double) n * (sample < 0 ? self->n_samples : 1))) / 2;
}

/* Whether the parts on both sides of a gap differ in each sample. @starts: first slice of each unit, and the end */
static gboolean
slice_sizes_gap_holds (const VnSliceSizes *self,
                       guint               axis,
                       const Split        *split,
                       const guint        *starts,
                       guint               from,
                       guint               gap,
                       guint               to)
{
  for (guint s = 0; s < self->n_samples; s++)
    {
      double low = 0, high = 0;
      guint n_low = 0, n_high = 0;

      for (guint k = from; k < to; k++)
        {
          guint unit = split->order[k], n = starts[unit + 1] - starts[unit];
          double size = exp2 (2 * slice_sizes_get_mean (self, axis, starts[unit], n, (int) s)) * n;

          *(k < gap ? &low : &high) += size;
          *(k < gap ? &n_low : &n_high) += n;
        }
      if (!(log2 (high / n_high) / 2 - log2 (low / n_low) / 2 > GAP_OF_SAMPLE))
        return FALSE;
    }
  return TRUE;
}

/* So many places in @order begin a part. Units that are always zero go with the smallest. */
static GArray *
slice_sizes_list_gaps (const VnSliceSizes *self,
                       guint               axis,
                       const Split        *split,
                       const guint        *starts)
{
  GArray *gaps = g_array_new (FALSE, FALSE, sizeof (guint)), *held = g_array_new (FALSE, FALSE, sizeof (guint));

  for (guint k = 1; k < split->n; k++)
    if (isfinite (split->mean[split->order[k - 1]]) && split->mean[split->order[k]] - split->mean[split->order[k - 1]] >= GAP)
      g_array_append_val (gaps, k);
  for (guint g = 0; g < gaps->len; g++)
    {
      guint gap = g_array_index (gaps, guint, g);
      guint from = g > 0 ? g_array_index (gaps, guint, g - 1) : 0, to = g + 1 < gaps->len
                   ? g_array_index (gaps, guint, g + 1) : split->n;

      if (slice_sizes_gap_holds (self, axis, split, starts, from, gap, to))
        g_array_append_val (held, gap);
    }
  g_array_unref (gaps);
  return held;
}

static gsize
slice_sizes_count_slices (const Split *split,
                          const guint *starts,
                          guint        from,
                          guint        to)
{
  gsize n = 0;

  for (guint k = from; k < to; k++)
    n += starts[split->order[k] + 1] - starts[split->order[k]];
  return n;
}

static void
slice_sizes_number_parts (const VnSliceSizes *self,
                          guint               axis,
                          Split              *split,
                          const guint        *starts)
{
  g_autoptr(GArray) gaps = slice_sizes_list_gaps (self, axis, split, starts);
  double least = LEAST_SHARE * (double) self->shape.dims[axis];
  guint from = 0, n_parts = 1;

  for (guint k = 0, g = 0; k < split->n; k++)
    {
      if (g < gaps->len && k == g_array_index (gaps, guint, g))
        {
          guint to = ++g < gaps->len ? g_array_index (gaps, guint, g) : split->n;

          if (n_parts < VN_MOST_PARTS && (double) slice_sizes_count_slices (split, starts, from, k) >= least &&
              (double) slice_sizes_count_slices (split, starts, k, to) >= least)
            {
              split->width += split->mean[split->order[k]] - split->mean[split->order[k - 1]];
              n_parts++;
              from = k;
            }
        }
      split->part[split->order[k]] = (guint8) (n_parts - 1);
    }
  split->n_parts = n_parts;
}

static void
slice_sizes_divide (const VnSliceSizes *self,
                    guint               axis,
                    const guint        *starts,
                    guint               n,
                    Split              *split)
{
  *split = (Split) { .n = n, .mean = g_new (double, n), .order = g_new (guint, n), .part = g_new0 (guint8, n) };
  for (guint i = 0; i < n; i++)
    {
      split->mean[i] = slice_sizes_get_mean (self, axis, starts[i], starts[i + 1] - starts[i], -1);
      split->order[i] = i;
    }
  g_qsort_with_data (split->order, (gint) n, sizeof *split->order, slice_sizes_compare, split->mean);
  slice_sizes_number_parts (self, axis, split, starts);
}

static VnPartition *
slice_sizes_make_partition (const VnSliceSizes *self,
                            guint               axis,
                            const guint        *starts,
                            const Split        *split)
{
  VnPartition *made = vn_partition_new (axis, (guint) self->shape.dims[axis], split->n_parts);

  for (guint u = 0; u < split->n; u++)
    for (guint i = starts[u]; i < starts[u + 1]; i++)
      made->part_of[i] = split->part[u];
  return made;
}

/* A score in 0 to 1 for each of a few classes is an answer, not two kinds of numbers. */
static gboolean
slice_sizes_is_enough (const VnSliceSizes *self,
                       guint               axis)
{
  gint64 in_slice = vn_shape_count (&self->shape, 0, self->shape.rank) / self->shape.dims[axis];

  return in_slice >= LEAST_ELEMENTS || (!self->are_shares && self->n_samples >= SAMPLES_FOR_FEW);
}

static guint
slice_sizes_count_runs (const Split *split)
{
  guint n = 1;

  for (guint i = 1; i < split->n; i++)
    n += split->part[i] != split->part[i - 1];
  return n;
}

/**
 * vn_slice_sizes_split:
 *
 * Looks for the axis that parts lie along: the one with the widest gaps between the sizes of its slices.
 *
 * Returns: (transfer full) (nullable): the parts; %NULL: all numbers are of like size
 */
VnPartition *
vn_slice_sizes_split (const VnSliceSizes *self)
{
  VnPartition *best = NULL;
  double width = 0;

  g_return_val_if_fail (self != NULL, NULL);

  for (guint a = 0; self->n_samples > 0 && a < (guint) self->shape.rank; a++)
    {
      guint n = self->axes[a] != NULL ? (guint) self->shape.dims[a] : 0;
      g_autofree guint *starts = g_new (guint, n + 1);
      g_auto(Split) split = { 0 };

      for (guint i = 0; i <= n; i++)
        starts[i] = i;
      if (n == 0 || !slice_sizes_is_enough (self, a))
        continue;
      slice_sizes_divide (self, a, starts, n, &split);
      if (split.n_parts < 2 || split.width <= width || slice_sizes_count_runs (&split) > RUNS_PER_PART * split.n_parts)
        continue;
      g_clear_pointer (&best, vn_partition_free);
      best = slice_sizes_make_partition (self, a, starts, &split);
      width = split.width;
    }
  return best;
}

/**
 * vn_slice_sizes_split_at:
 * @lengths: (array length=n): slices along @axis that belong together, as the graph joins them; all of the axis in sum
 *
 * Returns: (transfer full) (nullable): the parts that these make by their sizes; %NULL: all are of like size
 */
VnPartition *
vn_slice_sizes_split_at (const VnSliceSizes *self,
                         guint               axis,
                         const guint        *lengths,
                         guint               n)
{
  g_autofree guint *starts = g_new0 (guint, n + 1);
  g_auto(Split) split = { 0 };

  g_return_val_if_fail (self != NULL && lengths != NULL && n > 0, NULL);

  for (guint i = 0; i < n; i++)
    starts[i + 1] = starts[i] + lengths[i];
  if (self->n_samples == 0 || axis >= (guint) self->shape.rank || self->axes[axis] == NULL ||
      starts[n] != (guint) self->shape.dims[axis] ||
      !slice_sizes_is_enough (self, axis))
    return NULL;
  slice_sizes_divide (self, axis, starts, n, &split);
  return split.n_parts >= 2 ? slice_sizes_make_partition (self, axis, starts, &split) : NULL;
}
