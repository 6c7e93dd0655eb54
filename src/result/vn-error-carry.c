/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Errors that were measured on all samples, carried over to a change that was measured on a few of them. */
#include "vn-error-carry.h"

#include <math.h>

/* An error on all samples, as it is @after instead of @before on a few. */
static double
error_carry_scale (double measured,
                   double before,
                   double after)
{
  return before > 0 && isfinite (before) && isfinite (after) && isfinite (measured) ? measured * (after / before) : after;
}

static gboolean
error_carry_is_same (const VnErrorRow *a,
                     const VnErrorRow *b)
{
  return a->noise_to_signal == b->noise_to_signal && a->mse == b->mse && a->cosine == b->cosine && a->max_error == b->max_error &&
         a->n_bad == b->n_bad &&
         a->quant_min == b->quant_min && a->quant_max == b->quant_max;
}

static const VnErrorPart *
error_carry_find_part (const VnErrorRow  *row,
                       const VnErrorPart *wanted)
{
  for (guint i = 0; row->parts != NULL && i < row->parts->len; i++)
    {
      const VnErrorPart *part = g_ptr_array_index (row->parts, i);

      if (part->axis == wanted->axis && g_str_equal (part->slices, wanted->slices))
        return part;
    }
  return NULL;
}

static VnErrorPart *
error_carry_part (const VnErrorRow  *measured,
                  const VnErrorRow  *before,
                  const VnErrorPart *after)
{
  const VnErrorPart *was = error_carry_find_part (before, after), *all = error_carry_find_part (measured, after);
  VnErrorPart *part = vn_error_part_copy (after);

  if (was == NULL || all == NULL)
    return part;
  part->n = all->n;
  part->size = all->size;
  part->noise_to_signal = error_carry_scale (all->noise_to_signal, was->noise_to_signal, after->noise_to_signal);
  if (part->noise_to_signal != after->noise_to_signal)
    part->sqnr_db = -10 * log10 (part->noise_to_signal);
  part->cosine = 1 - error_carry_scale (1 - all->cosine, 1 - was->cosine, 1 - after->cosine);
  return part;
}

/* Each part as its own noise changes: what speaks for the row is the worst of them, which may be another one than before. */
static void
error_carry_parts (const VnErrorRow *measured,
                   const VnErrorRow *before,
                   const VnErrorRow *after,
                   VnErrorRow       *row)
{
  g_clear_pointer (&row->parts, g_ptr_array_unref);
  row->whole_db = isfinite (measured->whole_db) && isfinite (before->whole_db) && isfinite (after->whole_db)
                    ? measured->whole_db + after->whole_db - before->whole_db : after->whole_db;
  row->sqnr_db = row->whole_db;
  row->noise_to_signal = pow (10, -row->whole_db / 10);
  row->cosine = 1;
  for (guint i = 0; i < after->parts->len; i++)
    vn_error_row_take_part (row, error_carry_part (measured, before, g_ptr_array_index (after->parts, i)));
}

/**
 * vn_error_row_new_carried:
 * @measured: (nullable): on all samples
 * @before: (nullable): on a few of them, which @measured is of, too
 * @after: on these few, with something changed
 *
 * Returns: (transfer full): what @measured would come to with the change: errors change by the same factor on all samples as on a
 *   few, in each part by its own; @after where there is nothing to compare it with, @measured where nothing has changed
 */
VnErrorRow *
vn_error_row_new_carried (const VnErrorRow *measured,
                          const VnErrorRow *before,
                          const VnErrorRow *after)
{
  VnErrorRow *row;

  g_return_val_if_fail (after != NULL, NULL);

  if (measured == NULL || before == NULL)
    return vn_error_row_copy (after);
  if (error_carry_is_same (before, after))
    return vn_error_row_copy (measured);
  row = vn_error_row_copy (after);
  row->n = measured->n;
  row->float_min = measured->float_min;
  row->float_max = measured->float_max;
  row->noise_to_signal = error_carry_scale (measured->noise_to_signal, before->noise_to_signal, after->noise_to_signal);
  if (row->noise_to_signal != after->noise_to_signal)
    row->sqnr_db = -10 * log10 (row->noise_to_signal);
  row->cosine = 1 - error_carry_scale (1 - measured->cosine, 1 - before->cosine, 1 - after->cosine);
  row->mse = error_carry_scale (measured->mse, before->mse, after->mse);
  row->max_error = error_carry_scale (measured->max_error, before->max_error, after->max_error);
  if (row->parts != NULL)
    error_carry_parts (measured, before, after, row);
  return row;
}
