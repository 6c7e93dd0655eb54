/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The job of verifying, for the files of its stages. */

#include "vn-verify-job.h"

#include "vn-sample-loop.h"

G_BEGIN_DECLS

#define VN_VERIFY_OPTIMIZED "optimized.onnx"   /* in the temporary folder */

/**
 * VnVerifyJob:
 * @settings: owns what it points to
 * @model: that is run here
 * @samples: (element-type guint): of @dataset; once they are written, those that can be read and the runtime takes
 * @sizes: (element-type utf8 VnShape): of the inputs, as the first sample has them
 * @runtimes: those that are asked, until one is found; the last of them is there, or nothing is
 * @parts: (nullable): of the outputs
 * @kernels: (nullable): as they were found there
 * @result: (nullable): of which @settings.model is the export
 * @verified: (nullable): @result with all that
 */
typedef struct
{
  VnVerifySettings       settings;
  VnNotes               *notes;
  VnModel               *model;
  VnDataset             *dataset;
  GArray                *samples;
  GHashTable            *shapes, *sizes;
  const VnTargetRuntime *runtimes[2];
  guint                  n_runtimes;
  VnPlan                *plan;
  VnParts               *parts;
  char                  *folder;
  VnVerification        *found;
  VnRuntimeForecast     *kernels;
  VnRun                 *result;
  VnRun                 *verified;
  gboolean               is_asked;
} VnVerifyJob;

gboolean  vn_verify_samples_open  (VnVerifyJob        *self,
                                   GCancellable       *cancellable,
                                   GError            **error);
VnSamples vn_verify_samples_get   (const VnVerifyJob  *self,
                                   const VnProgress   *progress);   /* nullable */
gboolean  vn_verify_samples_write (VnVerifyJob        *self,
                                   GCancellable       *cancellable,
                                   GError            **error);
gboolean  vn_verify_run_there     (VnVerifyJob        *self,
                                   GCancellable       *cancellable,
                                   GError            **error);
void      vn_verify_run_read_kernels (VnVerifyJob     *self);

G_END_DECLS
