/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The jobs: what each takes, and what it gives. */

#include "vn-backend.h"
#include "vn-benchmark.h"
#include "vn-contribution.h"
#include "vn-dump.h"
#include "vn-evaluate.h"
#include "vn-job.h"
#include "vn-onnx.h"
#include "vn-pass.h"
#include "vn-model-data.h"
#include "vn-run.h"

G_BEGIN_DECLS

VnModel  *vn_model_expand_functions (VnModel     *model,
                                  GCancellable     *cancellable,
                                  GError          **error);
VnModel  *vn_model_to_float      (VnModel          *model,
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

VnJob    *vn_open_job_new        (const char       *path);
void      vn_open_job_set_backend (VnJob           *job,
                                   VnBackend       *backend);       /* nullable */
void      vn_open_job_leave_weights (VnJob         *job);
VnModel  *vn_open_job_get_model  (VnJob            *job);    /* borrowed; after success */
VnJob    *vn_weights_job_new     (VnModel          *model);
VnNotes  *vn_weights_job_get_notes (VnJob          *job);    /* borrowed; after success */

/* ---- calibrate: statistics to quantize with, here or elsewhere ---- */

/**
 * VnCalibrateSettings:
 * @recipe: decides how the network is prepared
 * @data: says how many samples are held out
 * @n_calibration: as of VnQuantizeSettings: the same samples are chosen
 * @shard: number of the part to do, from 0
 * @n_shards: how many parts are made of the samples; 0: one
 * @keep: (nullable): the file that the statistics will be written to: what was learned so far is kept beside it, also
 *   when the job is cancelled; see vn_calibrate_resume()
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
VnStats  *vn_calibrate_job_get_stats (VnJob                     *job);        /* borrowed; after success */
VnModel  *vn_calibrate_job_get_prepared (VnJob                  *job);        /* borrowed; what ran */
VnNotes  *vn_calibrate_job_get_notes (VnJob                     *job);        /* borrowed */

/* What is left beside @path while its statistics are being made. */
void      vn_calibrate_add_outputs   (VnFileSet        *set,
                                      const char       *path,
                                      const char       *what);
char     *vn_calibrate_part_path     (const char       *path,
                                      int               rank);                /* -1: of one process */
gboolean  vn_calibrate_resume        (const char       *path,
                                      VnStats         **base,
                                      GError          **error);
gboolean  vn_calibrate_clear_parts   (const char       *path,
                                      GError          **error);
char     *vn_rounding_dup_kept_path  (const char       *save_stats);

/* ---- the main job: prepare, calibrate, resolve, write, compare ---- */

/**
 * VnTrainingGate: who decides whether what was trained is kept; the network that was there before stays otherwise.
 * @without: the recipe that the run has made then
 * @until: of g_get_monotonic_time(): when training ends
 * @least: microseconds that are worth beginning for
 * @promises: (nullable): gets both networks after a few steps of training: whether more of them are worth their time; %NULL: they
 * are
 * @decide: gets both networks as they would be exported; @trained: (nullable): there was no time for it; @keeps: (out)
 */
typedef struct
{
  const VnRecipe *without;
  gint64          until, least;
  gboolean      (*promises) (VnModel       *untrained,
                             VnModel       *trained,
                             gboolean      *promises,
                             gpointer       user_data,
                             GCancellable  *cancellable,
                             GError       **error);
  gboolean      (*decide) (VnModel       *untrained,
                           VnModel       *trained,      /* nullable */
                           gboolean      *keeps,
                           gpointer       user_data,
                           GCancellable  *cancellable,
                           GError       **error);
  gpointer        user_data;
} VnTrainingGate;

/**
 * VnQuantizeSettings:
 * @n_calibration: samples to calibrate on; 0: all that @data does not hold out to measure the error on. When there are
 *   too few to hold any out, the same samples serve for both and a note says so
 * @earlier: (nullable): statistics that an earlier run in this program found: they are used again, and the network does
 *   not run for calibration, if they are of the same samples and the network is prepared in the same way
 * @whole_counts: the statistics will serve other recipes: all samples are counted, whatever this one asks for
 * @stats: (nullable): files of statistics to join and to use; the network does not run for calibration
 * @data: may be %NULL with @stats, or if @recipe names a table with all ranges: then the error is not measured
 * @origins: measure what each tensor alone costs, and find out why
 * @samples: (nullable): the same opened before, which may keep them: vn_dataset_keep()
 * @draft: the result is only tried: repairs are judged by as few runs as will do, and the samples are not checked
 * @alike: (nullable): a draft with the same model, samples, and number of them: a network that it has balanced serves again where
 * this one would be balanced for the same
 * @gate: (nullable): says how long training may take at most, whatever @recipe says of it, and whether it is kept; must outlive
 * the run
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
  VnDataset        *samples;
  guint             n_calibration;
  guint             n_threads;
  gboolean          skip_compare;
  gboolean          origins;
  gboolean          draft;
  VnRun            *alike;
  const VnTrainingGate *gate;
  VnStats          *earlier;
  gboolean          whole_counts;
  const char * const *stats;
  const char       *save_stats;
  double            keep_seconds;
  VnStats          *base;
} VnQuantizeSettings;

VnJob    *vn_quantize_job_new        (const VnQuantizeSettings *settings);   /* copies what it needs */
VnRun    *vn_quantize_job_get_result (VnJob                    *job);        /* borrowed; after success */
GHashTable *vn_quantize_job_get_shapes (VnJob                  *job);
VnContributions *vn_quantize_job_measure_origins (VnJob                        *job,
                                                  const VnContributionOptions  *options,    /* nullable */
                                                  const VnProgress             *progress,
                                                  GCancellable                 *cancellable,
                                                  GError                      **error);

/* ---- prepare: float to float, and write ---- */

typedef struct
{
  VnModel            *model;
  VnPrepareOptions    options;
  const char         *path;
  VnOnnxWriteOptions  write;
} VnPrepareSettings;

VnJob     *vn_prepare_job_new       (const VnPrepareSettings *settings);
VnModel   *vn_prepare_job_get_model (VnJob                   *job);    /* borrowed; after success */
VnEditLog *vn_prepare_job_get_edits (VnJob                   *job);    /* borrowed */
VnNotes   *vn_prepare_job_get_notes (VnJob                   *job);    /* borrowed */

/* ---- compare two models from files ---- */

VnJob        *vn_compare_job_new        (VnModel          *float_model,
                                         VnModel          *quant_model,
                                         const VnDataSpec *data,
                                         GHashTable       *input_shapes,
                                         guint             n_threads);
VnErrorTable *vn_compare_job_get_errors (VnJob            *job);    /* borrowed */
VnNotes      *vn_compare_job_get_notes  (VnJob            *job);

/* ---- evaluate: networks side by side, and how often they are right ---- */

/**
 * VnEvaluateSettings:
 * @models: (element-type VnModel): the first is what the others are compared with
 * @data: all its samples are used
 * @labels: (nullable): a file that names the classes or the samples; see vn_labels_new()
 * @input_shapes: (nullable): sizes of inputs that the models leave open
 * @task: (nullable): of the first model, as of vn_task_get_id(); NULL: what its file says, or its outputs look like
 * @metric: (nullable): FILE.py:FUNCTION: a measure of the user's own; see vn-user-metric.c
 * @metric_timeout: seconds that a call of it may take; 0: VN_SCRIPT_TIMEOUT
 * @python: (nullable): the interpreter for it
 * @n_threads: 0: all processors
 */
typedef struct
{
  GPtrArray  *models;
  VnDataSpec *data;
  const char *labels, *task;
  const char *metric, *python;
  guint       metric_timeout;
  GHashTable *input_shapes;
  guint       n_threads;
} VnEvaluateSettings;

VnJob         *vn_evaluate_job_new        (const VnEvaluateSettings *settings);
const VnScore *vn_evaluate_job_get_scores (VnJob                    *job);    /* borrowed; after success */
VnNotes       *vn_evaluate_job_get_notes  (VnJob                    *job);    /* borrowed */

/* ---- dump: every tensor of one sample ---- */

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
VnDump   *vn_dump_job_get_dump  (VnJob                *job);        /* borrowed; after success */
VnNotes  *vn_dump_job_get_notes (VnJob                *job);        /* borrowed */

/* ---- benchmark: where the time of a network goes ---- */

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
VnBenchmark *vn_benchmark_job_get_result (VnJob                     *job);    /* borrowed; after success */

G_END_DECLS
