/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-calibrate.h"
#include "vn-contributions.h"
#include "vn-curve.h"
#include "vn-diagnosis.h"
#include "vn-error-table.h"
#include "vn-graph-edit.h"
#include "vn-identity.h"
#include "vn-progress.h"
#include "vn-quantize.h"
#include "vn-run-step.h"
#include "vn-verification.h"

G_BEGIN_DECLS

/**
 * VnRunSettings: what a run was asked for besides network, samples and recipe; with these the same comes out again.
 * @n_calibration: samples to calibrate on; 0: all but those held out
 * @skip_compare: the error was not to be measured
 * @shapes: (nullable): VnShape by name of an input: sizes that the user gave
 * @stats: (nullable): files of statistics that were used instead of samples
 */
typedef struct
{
  guint        n_calibration;
  gboolean     skip_compare;
  GHashTable  *shapes;
  char       **stats;
} VnRunSettings;

/**
 * VnResult: everything one run of the main job found. Immutable, shared between window, report and export.
 */
typedef struct _VnResult
{
  VnModel      *source;        /* as opened */
  VnModel      *prepared;      /* float, what was quantized */
  VnModel      *quantized;
  VnModel      *corrected, *rounded;   /* nullable: @prepared with the biases, and with the weights, that samples changed */
  VnEditLog    *edits;         /* source -> prepared */
  VnDataSpec   *data;
  VnRecipe     *recipe;
  VnStats      *stats;
  VnQuantPlan  *plan;
  VnErrorTable *errors;        /* NULL if no sample could be held out */
  GHashTable   *value_names;   /* prepared -> quantized */
  VnAccuracy    accuracy;
  VnContributions *contributions;   /* nullable: where error starts, if it was asked for */
  VnCurve      *curve;         /* nullable: what mixed precision can make of it, if that was asked for */
  VnDiagnosis  *diagnosis;     /* nullable: why, if that was asked for */
  VnRuntimeForecast *forecast;      /* nullable: of @quantized in ONNX Runtime, where that is what it is for */
  VnVerification *verification;     /* nullable: the same, measured: vn_runtime_figures_init() */
  GPtrArray    *steps;         /* nullable: of VnRunStep: what was tried to lower the error */
  GPtrArray    *spreads;       /* nullable: of VnSpread, if @stats are gone: vn_result_list_spreads() */
  VnNotes      *notes;
  gsize         float_bytes, quantized_bytes;      /* of the files as written */
  guint         n_calibration, n_held_out;
  gboolean      left_out;      /* all samples were measured, each by a network that was calibrated without it */
  VnRunSettings run;
  gint64        time;          /* when the run ended, in seconds since 1970 */
  char         *source_digest, *prepared_digest;   /* vn_model_dup_digest() */
  char         *samples_digest;                    /* vn_dataset_dup_digest() of those calibrated on; NULL: of none */
  GArray       *timings;       /* of VnTiming: how long each stage of the run took */
  gboolean      is_expected;   /* no whole run: vn_result_new_expected() */
  /*< private >*/
  gatomicrefcount ref;
  VnIdentityMap *identity;     /* vn_result_get_identity() */
  int           *deciding;     /* by node of @source: rule of @recipe that decides about it, or -1; made when somebody asks first */
  gpointer       kept;         /* nullable: what it was made of again: owns names of @identity */
  GDestroyNotify kept_free;
  struct _VnResult *base;      /* nullable: owns all that is not another than its own */
} VnResult;

/**
 * VnExpectation: what becomes of a result with another recipe, as far as that is told without a whole run.
 * @errors, @contributions, @forecast: (nullable): @errors are marked with @contributions by whoever has both
 * @more_bytes: that the quantized file grows by
 */
typedef struct
{
  const VnRecipe    *recipe;
  VnQuantPlan       *plan;
  GHashTable        *value_names;
  VnErrorTable      *errors;
  VnContributions   *contributions;
  VnRuntimeForecast *forecast;
  gint64             more_bytes;
} VnExpectation;

void              vn_run_settings_clear (VnRunSettings    *self);

VnResult         *vn_result_new         (void);
VnResult         *vn_result_new_with_contributions (VnResult        *base,
                                                    VnContributions *contributions);
VnResult         *vn_result_new_with_curve (VnResult       *base,
                                            VnCurve        *curve);
VnResult         *vn_result_new_with_verification  (VnResult          *base,
                                                    VnVerification    *verification,   /* nullable */
                                                    VnRuntimeForecast *forecast,       /* nullable */
                                                    VnNotes           *notes);
VnResult         *vn_result_new_expected (VnResult            *base,
                                          const VnExpectation *expectation);
VnResult         *vn_result_new_named   (VnResult            *base,
                                         const VnRecipe      *recipe);
VnResult         *vn_result_ref         (VnResult         *self);
void              vn_result_unref       (VnResult         *self);

double            vn_result_get_seconds (VnResult         *self,
                                         const char       *stage);     /* NULL: all */
double            vn_result_compare_time (VnResult        *self,
                                          VnResult        *other);

VnIdentityMap    *vn_result_get_identity (VnResult        *self);

/* The row of @errors that speaks for a node of the source model: its output, or that of the node it was folded into. NULL: not measured. */
const VnErrorRow *vn_result_get_node_error (VnResult      *self,
                                            const VnNode  *source_node);
/* Of which type the node's output is in the quantized network; UNDEFINED: of no type that quantizing is about. */
VnDType           vn_result_get_node_dtype (VnResult      *self,
                                            const VnNode  *source_node);
/* The row of a node that is counted and coloured by its error wherever that is done. NULL: it is not. */
const VnErrorRow *vn_result_get_rated_error (VnResult     *self,
                                             const VnNode *source_node);
/* Histogram and plan row of a node's output, in the same way. */
const VnHistogram  *vn_result_get_node_histogram (VnResult *self, const VnNode *source_node);
const VnTensorPlan *vn_result_get_node_plan      (VnResult *self, const VnNode *source_node);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnResult, vn_result_unref)

G_END_DECLS
