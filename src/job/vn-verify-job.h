/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The job that tells what ONNX Runtime itself makes of an export. */
#pragma once

#include "vn-jobs.h"

G_BEGIN_DECLS

#define VN_TYPE_VERIFY_JOB (vn_verify_job_get_type ())
G_DECLARE_FINAL_TYPE (VnVerifyJob, vn_verify_job, VN, VERIFY_JOB, VnJob)

/**
 * VnVerifySettings:
 * @path: (nullable): where @model was read from; NULL: it is written into a temporary file
 * @model: the export
 * @float_path: (nullable): the float network, to compare the time with
 * @data: (nullable): samples; NULL: random values
 * @input_shapes: (nullable): sizes of inputs that the model leaves open
 * @python: (nullable): interpreter that has onnxruntime; NULL: $VN_PYTHON, or else python3
 * @n_samples: so many samples at most
 * @n_runs: for each time the shortest of so many
 * @timeout: seconds that ONNX Runtime may take; 0: 300
 */
typedef struct
{
  const char *path, *float_path;
  VnModel    *model;
  VnDataSpec *data;
  GHashTable *input_shapes;
  const char *python;
  guint       n_samples, n_runs, n_threads, timeout;
} VnVerifySettings;

/**
 * VnVerifiedOutput:
 * @sqnr_db: signal to noise between ONNX Runtime's output and ours; INFINITY: the same bits
 * @our_db, @their_db: against the output of the float network; NAN without that
 */
typedef struct
{
  char   *name;
  double  sqnr_db, our_db, their_db;
  double  largest;   /* difference */
} VnVerifiedOutput;

/**
 * VnVerification:
 * @version: of onnxruntime
 * @outputs: of VnVerifiedOutput
 * @load_seconds: of the export
 * @seconds, @float_seconds: of one run, one thread; @float_seconds 0 without float network
 */
typedef struct
{
  char      *version;
  GPtrArray *outputs;
  guint      n_samples;
  double     load_seconds, seconds, float_seconds;
} VnVerification;

VnJob                *vn_verify_job_new        (const VnVerifySettings *settings);
const VnVerification *vn_verify_job_get_result (VnVerifyJob            *self);   /* borrowed; after success */
gboolean              vn_verified_output_agrees (const VnVerifiedOutput *self);
VnNotes              *vn_verify_job_get_notes  (VnVerifyJob            *self);   /* borrowed */

G_END_DECLS
