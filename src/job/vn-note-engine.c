/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How far ranges of another engine are from those of ours: measured on the first sample. */
#include "vn-note-engine.h"

#include "vn-backend.h"
#include "vn-i18n.h"
#include "vn-plan.h"

#include <math.h>

/* From here on codes of 8 bits differ by more than chance: half of one of the steps. */
#define MOST_DIFFERENCE (0.5 / 255)

typedef struct
{
  float least, most;
} Range;

static void
note_engine_take (const VnValue  *value,
                  guint           tap,
                  const VnTensor *tensor,
                  gpointer        data)
{
  Range *range = &((Range *) data)[tap];
  const gsize n = tensor->n_elements;
  const float *at = tensor->dtype == VN_DTYPE_F32 ? tensor->data : NULL;

  for (gsize i = 0; at != NULL && i < n; i++)
    if (isfinite (at[i]))
      *range = (Range) { isnan (range->least) ? at[i] : MIN (range->least, at[i]),
                         isnan (range->most) ? at[i] : MAX (range->most, at[i]) };
}

/* (array length=taps->len): of the first sample; NaN: not told */
static Range *
note_engine_measure (VnModel        *model,
                     GPtrArray      *taps,
                     GHashTable     *shapes,
                     VnTensor      **inputs,
                     guint           n_inputs,
                     gboolean        own,
                     GCancellable   *cancellable,
                     GError        **error)
{
  VnPlanOptions options = vn_plan_options_for_samples (shapes);
  g_autoptr(VnPlan) plan = NULL;
  VnRunner *runner;
  Range *ranges;
  gboolean good;

  options.taps = taps;
  options.own_engine = own;
  options.skip_unsupported = TRUE;
  plan = vn_plan_new (model, &options, NULL, error);
  if (plan == NULL || vn_plan_get_n_inputs (plan) != n_inputs || (runner = vn_runner_new (plan, error)) == NULL)
    return NULL;
  ranges = g_new (Range, taps->len + 1);
  for (guint i = 0; i < taps->len; i++)
    ranges[i] = (Range) { NAN, NAN };
  vn_runner_set_tap (runner, note_engine_take, ranges);
  good = vn_runner_run (runner, inputs, NULL, cancellable, error);
  vn_runner_free (runner);
  if (!good)
    g_clear_pointer (&ranges, g_free);
  return ranges;
}

static void
note_engine_compare (const Range *theirs,
                     const Range *ours,
                     guint        n,
                     const char  *title,
                     VnNotes     *notes)
{
  double worst = 0;
  guint n_compared = 0;

  for (guint i = 0; i < n; i++)
    {
      const double size = (double) ours[i].most - ours[i].least;

      if (!(size > 0) || isnan (theirs[i].least))
        continue;
      worst = MAX (worst, MAX (fabs ((double) theirs[i].least - ours[i].least), fabs ((double) theirs[i].most - ours[i].most))
                          / size);
      n_compared++;
    }
  if (n_compared > 0)
    vn_notes_add (notes, worst > MOST_DIFFERENCE ? VN_NOTE_WARNING : VN_NOTE_INFO, VN_NOTE_ENGINE, NULL,
                  ngettext ("On the first sample, the range of %u tensor differs between %s and Vernier’s own engine by %.1g of "
                            "its size",
                            "On the first sample, the ranges of %u tensors differ between %s and Vernier’s own engine by at "
                            "most %.1g of their size", n_compared), n_compared, title, worst);
}

/**
 * vn_job_note_engine:
 * @model: a float network
 * @taps: (element-type VnValue): what ranges are wanted of
 * @shapes: (nullable): as of samples
 *
 * Where another engine runs all of @model, runs the first sample there and in ours, and notes how far the ranges are apart. What
 * cannot be run or read is told by whoever needs it.
 *
 * Returns: %FALSE if it was cancelled
 */
gboolean
vn_job_note_engine (VnModel       *model,
                    GPtrArray     *taps,
                    VnDataset     *dataset,
                    GHashTable    *shapes,
                    VnNotes       *notes,
                    GCancellable  *cancellable,
                    GError       **error)
{
  VnBackend *backend;
  g_autofree VnTensor **inputs = NULL;
  g_autofree Range *theirs = NULL, *ours = NULL;
  guint n;

  g_return_val_if_fail (model != NULL && taps != NULL && notes != NULL, FALSE);

  backend = vn_model_get_backend (model);
  if (backend == NULL || !vn_backend_takes_all (backend) || dataset == NULL || vn_dataset_get_n (dataset) == 0)
    return TRUE;
  n = vn_dataset_get_n_inputs (dataset);
  inputs = g_new0 (VnTensor *, n + 1);
  if (vn_dataset_load (dataset, 0, inputs, NULL) &&
      (theirs = note_engine_measure (model, taps, shapes, inputs, n, FALSE, cancellable, NULL)) != NULL &&
      (ours = note_engine_measure (model, taps, shapes, inputs, n, TRUE, cancellable, NULL)) != NULL)
    note_engine_compare (theirs, ours, taps->len, vn_backend_get_title (backend), notes);
  for (guint i = 0; i < n; i++)
    g_clear_pointer (&inputs[i], vn_tensor_unref);
  return !g_cancellable_set_error_if_cancelled (cancellable, error);
}
