/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The jobs: what each takes, and what it gives. */

#include "vn-benchmark.h"
#include "vn-contribution.h"
#include "vn-dump.h"
#include "vn-evaluate.h"
#include "vn-job.h"
#include "vn-onnx.h"
#include "vn-pass.h"
#include "vn-model-data.h"
#include "vn-result.h"

G_BEGIN_DECLS

VnModel  *vn_model_expand_functions (VnModel     *model,
                                  GCancellable     *cancellable,
                                  GError          **error);
VnModel  *vn_model_to_runnable   (VnModel          *model,
                                  GCancellable     *cancellable,
                                  GError          **error);

gboolean  vn_model_size_for_run  (VnModel          *model,
                                  VnDataSpec       *data,
                                  GHashTable       *given,
                                  GHashTable      **shapes,
                                  VnNotes          *notes,
                                  GError          **error);
gboolean  vn_plan_load_sample    (VnPlan           *plan,
                                  VnDataSpec       *data,
                                  GHashTable       *given,
                                  VnTensor        **tensors,
                                  GError          **error);

/* ---- open: read, validate, infer types ---- */

#define VN_TYPE_OPEN_JOB (vn_open_job_get_type ())
G_DECLARE_FINAL_TYPE (VnOpenJob, vn_open_job, VN, OPEN_JOB, VnJob)
VnJob    *vn_open_job_new        (const char       *path);
VnModel  *vn_open_job_get_model  (VnOpenJob        *self);   /* borrowed; after success */

/* ---- calibrate: statistics to quantize with, here or elsewhere ---- */

#define VN_TYPE_CALIBRATE_JOB (vn_calibrate_job_get_type ())
G_DECLARE_FINAL_TYPE (VnCalibrateJob, vn_calibrate_job, VN, CALIBRATE_JOB, VnJob)

/**
 * VnCalibrateSettings:
 * @recipe: decides how the network is prepared
 * @data: says how many samples are held out
 * @n_calibration: as of VnQuantizeSettings: the same samples are chosen
 * @shard: number of the part to do, from 0
 * @n_shards: how many parts are made of the samples; 0: one
 * @keep: (nullable): the file that the statistics will be written to: what was learned so far is kept beside it, also
 *   when the job is cancelled; see vn_calibrate_take_up()
 * @keep_seconds: how often; 0: as it seems fit
 * @base: (nullable): what an interrupted run has left of these samples
 * @rank: number of this process among @n_ranks that share what @base lacks; the result then has only its own samples
 */
typedef struct
{
  VnModel          *model;
  const VnDataSpec *data;
  const VnRecipe   *recipe;
  GHashTable       *input_shapes;   /* nullable */
  guint             n_calibration;
  guint             n_threads;
  guint             shard, n_shards;
  const char       *keep;
  double            keep_seconds;
  VnStats          *base;
  guint             rank, n_ranks;
} VnCalibrateSettings;

VnJob    *vn_calibrate_job_new       (const VnCalibrateSettings *settings);   /* copies what it needs */
VnStats  *vn_calibrate_job_get_stats (VnCalibrateJob            *self);       /* borrowed; after success */
VnModel  *vn_calibrate_job_get_prepared (VnCalibrateJob         *self);       /* borrowed; what ran */
VnNotes  *vn_calibrate_job_get_notes (VnCalibrateJob            *self);       /* borrowed */

/* What is left beside @path while its statistics are being made. */
void      vn_calibrate_add_outputs   (VnFileSet        *set,
                                      const char       *path,
                                      const char       *what);
char     *vn_calibrate_part_path     (const char       *path,
                                      int               rank);                /* -1: of one process */
gboolean  vn_calibrate_take_up       (const char       *path,
                                      VnStats         **base,
                                      GError          **error);
gboolean  vn_calibrate_clear_parts   (const char       *path,
                                      GError          **error);

/* ---- the main job: prepare, calibrate, resolve, write, compare ---- */

#define VN_TYPE_QUANTIZE_JOB (vn_quantize_job_get_type ())
G_DECLARE_FINAL_TYPE (VnQuantizeJob, vn_quantize_job, VN, QUANTIZE_JOB, VnJob)

/**
 * VnQuantizeSettings:
 * @n_calibration: samples to calibrate on; 0: all that @data does not hold out to measure the error on. When there are
 *   too few to hold any out, the same samples serve for both and a note says so
 * @earlier: (nullable): statistics that an earlier run in this program found: they are used again, and the network does
 *   not run for calibration, if they are of the same samples and the network is prepared in the same way
 * @stats: (nullable): files of statistics to join and to use; the network does not run for calibration
 * @data: may be %NULL with @stats, or if @recipe names a table with all ranges: then the error is not measured
 * @origins: measure what each tensor alone costs, and find out why
 * @save_stats: (nullable): where to write the statistics of this run; kept beside it while they are being made
 * @keep_seconds: how often; 0: as it seems fit
 * @base: (nullable): what an interrupted run with the same @save_stats has left
 */
typedef struct
{
  VnModel          *model;
  const VnDataSpec *data;
  const VnRecipe   *recipe;
  GHashTable       *input_shapes;   /* nullable */
  guint             n_calibration;
  guint             n_threads;
  gboolean          skip_compare;
  gboolean          origins;
  VnStats          *earlier;
  const char * const *stats;
  const char       *save_stats;
  double            keep_seconds;
  VnStats          *base;
} VnQuantizeSettings;

VnJob    *vn_quantize_job_new        (const VnQuantizeSettings *settings);   /* copies what it needs */
VnResult *vn_quantize_job_get_result (VnQuantizeJob            *self);       /* borrowed; after success */
GHashTable *vn_quantize_job_get_shapes (VnQuantizeJob          *self);
VnContributions *vn_quantize_job_measure_origins (VnQuantizeJob                *self,
                                                  const VnContributionOptions  *options,    /* nullable */
                                                  const VnProgress             *progress,
                                                  GCancellable                 *cancellable,
                                                  GError                      **error);

/* ---- origins: where the error of a run starts, after the run ---- */

#define VN_TYPE_ORIGINS_JOB (vn_origins_job_get_type ())
G_DECLARE_FINAL_TYPE (VnOriginsJob, vn_origins_job, VN, ORIGINS_JOB, VnJob)
VnJob    *vn_origins_job_new         (VnQuantizeJob *run,
                                      VnResult      *result);   /* nullable */
VnResult *vn_origins_job_get_result  (VnOriginsJob  *self);     /* borrowed; after success */
VnContributions *vn_origins_job_dup_contributions (VnOriginsJob *self);   /* nullable; so far; from any thread */

/* ---- improve: quantize, and try what lowers the error ---- */

#define VN_TYPE_IMPROVE_JOB (vn_improve_job_get_type ())
G_DECLARE_FINAL_TYPE (VnImproveJob, vn_improve_job, VN, IMPROVE_JOB, VnJob)

/**
 * VnImproveSettings:
 * @quantize: where it starts; samples must be there, and be compared
 * @seconds: no step is begun that would probably end later
 * @accuracy_first: however slow the export gets in ONNX Runtime by it: otherwise at most
 *   1.25 times as slow as without any step, and half of what is computed on integers then must still be
 */
typedef struct
{
  VnQuantizeSettings quantize;
  double             seconds;
  gboolean           accuracy_first;
} VnImproveSettings;

#define VN_IMPROVE_SECONDS 60
#define VN_NOTE_CODE_SLOWER "slower-than-float"   /* of the note that ONNX Runtime is expected to be slower */
#define VN_NOTE_CODE_AUTO "auto"    /* of the notes that tell what was tried */

/**
 * VnImproveOutcome:
 * @VN_IMPROVE_KEPT: it lowers the error by more than chance may
 * @VN_IMPROVE_NO_GAIN: it does not
 * @VN_IMPROVE_TOO_SLOW: it may, but the export would take too long in ONNX Runtime
 * @VN_IMPROVE_TOO_FLOAT: it may, but too little would be computed on integers there
 * @VN_IMPROVE_IMPOSSIBLE: the network does not allow it
 * @VN_IMPROVE_NO_TIME: not tried
 */
typedef enum
{
  VN_IMPROVE_KEPT, VN_IMPROVE_NO_GAIN, VN_IMPROVE_TOO_SLOW, VN_IMPROVE_TOO_FLOAT, VN_IMPROVE_IMPOSSIBLE, VN_IMPROVE_NO_TIME
} VnImproveOutcome;

/**
 * VnImproveTry: what a step came to.
 * @title: N_(), of vn-improve-steps.def
 * @before_db, @after_db: signal to noise of the outputs of the samples that steps are judged by; NaN: not measured
 * @before_ratio, @after_ratio: time of the export in ONNX Runtime beside the float network's; NaN: not known
 * @before_share, @after_share: of multiplications that are done on integers there, 0 to 1; NaN: not known
 * @bytes: how much weights and constants grow by it
 * @reason: (nullable): why it cannot be done
 */
typedef struct
{
  const char       *title;
  VnImproveOutcome  outcome;
  double            before_db, after_db, before_ratio, after_ratio, before_share, after_share;
  gint64            bytes;
  char             *reason;
} VnImproveTry;

char     *vn_improve_try_dup_outcome (const VnImproveTry     *self);
char     *vn_improve_try_dup_text    (const VnImproveTry     *self);       /* with what was tried */

VnJob    *vn_improve_job_new        (const VnImproveSettings *settings);
GPtrArray *vn_improve_job_get_tries (VnImproveJob            *self);       /* of VnImproveTry, borrowed; after success */
VnResult *vn_improve_job_get_result (VnImproveJob            *self);       /* borrowed; after success */

/* ---- cures: quantize, find why that costs what it costs, and measure what helps ---- */

#define VN_TYPE_CURE_JOB (vn_cure_job_get_type ())
G_DECLARE_FINAL_TYPE (VnCureJob, vn_cure_job, VN, CURE_JOB, VnJob)

/**
 * VnCureSettings:
 * @quantize: samples must be there, and be compared
 * @seconds: for the cures, behind finding where error starts: none is tried that would probably end later
 * @n_tensors: of so many tensors that cost most
 */
typedef struct
{
  VnQuantizeSettings quantize;
  double             seconds;
  guint              n_tensors;
} VnCureSettings;

#define VN_CURE_TENSORS 3

VnJob    *vn_cure_job_new        (const VnCureSettings *settings);
VnResult *vn_cure_job_get_result (VnCureJob            *self);       /* borrowed; after success */

/* ---- prepare: float to float, and write ---- */

#define VN_TYPE_PREPARE_JOB (vn_prepare_job_get_type ())
G_DECLARE_FINAL_TYPE (VnPrepareJob, vn_prepare_job, VN, PREPARE_JOB, VnJob)

typedef struct
{
  VnModel            *model;
  VnPrepareOptions    options;
  const char         *path;
  VnOnnxWriteOptions  write;
} VnPrepareSettings;

VnJob     *vn_prepare_job_new       (const VnPrepareSettings *settings);
VnModel   *vn_prepare_job_get_model (VnPrepareJob            *self);   /* borrowed; after success */
VnEditLog *vn_prepare_job_get_edits (VnPrepareJob            *self);   /* borrowed */
VnNotes   *vn_prepare_job_get_notes (VnPrepareJob            *self);   /* borrowed */

/* ---- compare two models from files ---- */

#define VN_TYPE_COMPARE_JOB (vn_compare_job_get_type ())
G_DECLARE_FINAL_TYPE (VnCompareJob, vn_compare_job, VN, COMPARE_JOB, VnJob)
VnJob        *vn_compare_job_new        (VnModel          *float_model,
                                         VnModel          *quant_model,
                                         const VnDataSpec *data,
                                         GHashTable       *input_shapes,
                                         guint             n_threads);
VnErrorTable *vn_compare_job_get_errors (VnCompareJob     *self);   /* borrowed */
VnNotes      *vn_compare_job_get_notes  (VnCompareJob     *self);

/* ---- evaluate: networks side by side, and how often they are right ---- */

#define VN_TYPE_EVALUATE_JOB (vn_evaluate_job_get_type ())
G_DECLARE_FINAL_TYPE (VnEvaluateJob, vn_evaluate_job, VN, EVALUATE_JOB, VnJob)

/**
 * VnEvaluateSettings:
 * @models: (element-type VnModel): the first is what the others are compared with
 * @data: all its samples are used
 * @labels: (nullable): a file that names the classes or the samples; see vn_labels_new()
 * @input_shapes: (nullable): sizes of inputs that the models leave open
 * @n_threads: 0: all processors
 */
typedef struct
{
  GPtrArray  *models;
  VnDataSpec *data;
  const char *labels;
  GHashTable *input_shapes;
  guint       n_threads;
} VnEvaluateSettings;

VnJob         *vn_evaluate_job_new        (const VnEvaluateSettings *settings);
const VnScore *vn_evaluate_job_get_scores (VnEvaluateJob            *self);   /* borrowed; after success */
VnNotes       *vn_evaluate_job_get_notes  (VnEvaluateJob            *self);   /* borrowed */

/* ---- dump: every tensor of one sample ---- */

#define VN_TYPE_DUMP_JOB (vn_dump_job_get_type ())
G_DECLARE_FINAL_TYPE (VnDumpJob, vn_dump_job, VN, DUMP_JOB, VnJob)

/* The list of what was written, in the same folder. */
#define VN_DUMP_INDEX "index.json"

/**
 * VnDumpSettings:
 * @data: (nullable): its first sample is run; NULL: random values
 * @inputs: (nullable): VnTensor by input name, instead of the sample's
 * @input_shapes: (nullable): sizes of inputs that the model leaves open
 * @folder: made if it is not there
 * @floats: also the floats that every node gives
 * @replace: write into @folder although there are files in it
 * @files: (nullable): what the caller reads beside @model and @data
 */
typedef struct
{
  VnModel    *model;
  VnDataSpec *data;
  GHashTable *inputs, *input_shapes;
  const char *folder;
  gboolean    floats, replace;
  guint       n_threads;
  VnFileSet  *files;
} VnDumpSettings;

VnJob    *vn_dump_job_new       (const VnDumpSettings *settings);
VnDump   *vn_dump_job_get_dump  (VnDumpJob            *self);       /* borrowed; after success */
VnNotes  *vn_dump_job_get_notes (VnDumpJob            *self);       /* borrowed */

/* ---- verify: what ONNX Runtime itself makes of an export ---- */

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

/* ---- benchmark: where the time of a network goes ---- */

#define VN_TYPE_BENCHMARK_JOB (vn_benchmark_job_get_type ())
G_DECLARE_FINAL_TYPE (VnBenchmarkJob, vn_benchmark_job, VN, BENCHMARK_JOB, VnJob)

/**
 * VnBenchmarkSettings:
 * @data: (nullable): its first sample is run; NULL: random values
 * @inputs: (nullable): VnTensor by input name, instead of the sample's
 * @n_threads: 0: all processors
 * @n_runs: in each mode; 0: as many as fit into @seconds, but three at least
 * @seconds: for each of the three modes; 0: two
 */
typedef struct
{
  VnModel    *model;
  VnDataSpec *data;
  GHashTable *inputs, *input_shapes;
  guint       n_threads, n_runs;
  double      seconds;
} VnBenchmarkSettings;

VnJob       *vn_benchmark_job_new        (const VnBenchmarkSettings *settings);
VnBenchmark *vn_benchmark_job_get_result (VnBenchmarkJob            *self);   /* borrowed; after success */

/* ---- export: model and report; all or nothing per file ---- */

#define VN_TYPE_EXPORT_JOB (vn_export_job_get_type ())
G_DECLARE_FINAL_TYPE (VnExportJob, vn_export_job, VN, EXPORT_JOB, VnJob)
VnJob    *vn_export_job_new      (VnResult         *result,
                                  const char       *model_path,     /* nullable */
                                  const char       *report_dir);    /* nullable: report.md and report.json in it */
gboolean  vn_export_add_outputs (VnFileSet                 *set,
                                 const VnModel             *source,
                                 const char                *model_path,
                                 const char                *report_dir,
                                 const VnOnnxWriteOptions  *options,
                                 GError                   **error);
void      vn_export_job_set_write_options (VnExportJob              *self,
                                           const VnOnnxWriteOptions *options);   /* its name must outlive the job */

G_END_DECLS
