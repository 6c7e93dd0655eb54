/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A bench that nobody looks at: it does what it is asked to do, and nothing else. */
#include "bench-private.h"

/**
 * vn_bench_new_batch:
 * @settings: what is quantized, with which recipe, on which samples; and how the runs of all works are made. What it points to
 *   beside these must outlive the bench
 *
 * For one work after the other, of which each starts from the recipe that the one before came to. Nothing is kept in drafts,
 * estimated, searched or verified unasked.
 *
 * Returns: (transfer full): a bench with that model
 */
VnBench *
vn_bench_new_batch (const VnQuantizeSettings *settings)
{
  VnBench *self;

  g_return_val_if_fail (settings != NULL && settings->model != NULL && settings->recipe != NULL, NULL);

  self = vn_bench_new ();
  self->batch = g_memdup2 (settings, sizeof *settings);
  vn_subject_unref (self->subject);
  self->subject = vn_subject_new_sized (settings->model, settings->data, settings->input_shapes);
  vn_recipe_free (self->recipe);
  self->recipe = vn_recipe_copy (settings->recipe);
  return self;
}
