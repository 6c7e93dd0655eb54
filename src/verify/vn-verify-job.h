/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The job that tells what a runtime itself makes of an export. */
#pragma once

#include "vn-jobs.h"
#include "vn-verify-error.h"

G_BEGIN_DECLS

/* What a search for a runtime on this machine came to. */
typedef enum { VN_RUNTIME_STATE_UNKNOWN, VN_RUNTIME_STATE_FOUND, VN_RUNTIME_STATE_MISSING } VnRuntimeState;

/**
 * VnVerifySettings:
 * @path: (nullable): where @model was read from; NULL: it is written into a temporary file
 * @model: the export
 * @float_path: (nullable): the float network, to compare the time with
 * @data: (nullable): samples; NULL: random values
 * @input_shapes: (nullable): sizes of inputs that the model leaves open
 * @runtime: (nullable): what runs it; NULL: ONNX Runtime
 * @or_usual: where that is not found, ONNX Runtime runs it
 * @python: (nullable): interpreter that has the runtime; NULL: what the environment names, or else python3
 * @n_samples: so many samples at most
 * @n_runs: for each time the shortest of so many
 * @timeout: seconds that the runtime may take; 0: 300
 * @seconds: after so many no more runs are measured; 0: as many as that
 */
typedef struct
{
  const char *path, *float_path;
  VnModel    *model;
  VnDataSpec *data;
  GHashTable *input_shapes;
  const VnTargetRuntime *runtime;
  gboolean    or_usual;
  const char *python;
  guint       n_samples, n_runs, n_threads, timeout;
  double      seconds;
} VnVerifySettings;

VnJob             *vn_verify_job_new            (const VnVerifySettings *settings);
VnJob             *vn_verify_job_new_for_result (VnRun                  *result,
                                                 const char             *path,      /* nullable: where it was written to */
                                                 const char             *python,    /* nullable */
                                                 gboolean                is_asked);
gboolean           vn_verify_job_is_usual       (void);
VnRuntimeState     vn_verify_runtime_get_state  (const VnTargetRuntime *runtime);
const VnTargetRuntime *vn_verify_runtime_of     (const VnRun            *result);
const VnTargetRuntime *vn_verify_runtime_for    (VnRun                  *result);
const VnTargetRuntime *vn_verify_runtime_missing (VnRun                 *result);
gboolean           vn_verify_job_needs_look     (void);
void               vn_verify_job_look_for_runtimes (GCancellable        *cancellable);   /* nullable */
gboolean           vn_verify_job_suits          (VnRun                  *result,
                                                 GError                **error);
VnVerification    *vn_verify_job_get_result     (VnJob                  *job);      /* borrowed; after success */
VnRuntimeForecast *vn_verify_job_get_kernels    (VnJob                  *job);      /* borrowed; NULL: not found out */
VnRun             *vn_verify_job_get_verified   (VnJob                  *job);      /* borrowed; after success, of a result */
VnNotes           *vn_verify_job_get_notes      (VnJob                  *job);      /* borrowed */

VnRun             *vn_job_take_verification     (VnRun                   *base,
                                                 VnVerification          *verification,
                                                 const VnRuntimeForecast *forecast);   /* nullable */
VnRun             *vn_job_note_unverified       (VnRun                   *base,
                                                 const GError            *reason,
                                                 gboolean                 is_asked);

G_END_DECLS
