/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-answers.h"
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
 * VnRunNode: a node of the model as opened, and the values that stand for its result; see VnIdentity.
 */
typedef struct
{
  char *label, *op_type;
  char *source, *prepared, *rounded;    /* nullable; the row of @rounded in the errors speaks for the node */
} VnRunNode;

/* How much is known of a run. */
typedef enum
{
  VN_RUN_PLANNED,      /* only what is asked for */
  VN_RUN_ESTIMATED,    /* no whole run: another one, as far as that tells what this will be; vn_run_new_estimated() */
  VN_RUN_MEASURED,     /* a whole run */
  VN_RUN_VERIFIED      /* and ONNX Runtime was asked */
} VnRunState;

/* Parts of a run: vn-run-facets.def. */
typedef enum
{
#define VN_RUN_FACET(SYMBOL, ...) VN_FACET_##SYMBOL,
#include "vn-run-facets.def"
#undef VN_RUN_FACET
  VN_N_FACETS
} VnRunFacet;

/**
 * VnRun: all that is known of one run: with its networks, while they are in memory, or without. Immutable, shared between window,
 * report and export; vn_run_with() makes one of it that knows more.
 * @state: how much is known
 * @float_bytes, @quantized_bytes: of the files as written
 * @n_nodes, @opset: of the model as opened; 0 while that is in memory
 * @n_quantized: tensors that are quantized; 0 while the plan is whole
 * @left_out: all samples were measured, each by a network that was calibrated without it
 * @time: when the run ended, in seconds since 1970
 */
typedef struct _VnRun
{
#define VN_RUN_FACET(SYMBOL, Type, field, ...) Type *field;
#include "vn-run-facets.def"
#undef VN_RUN_FACET
  VnRunState    state;
  VnAccuracy    accuracy;
  guint64       float_bytes, quantized_bytes;
  guint         n_calibration, n_held_out, n_nodes, n_quantized;
  gint64        opset;
  gboolean      left_out;
  VnRunSettings settings;
  gint64        time;
  /*< private >*/
  gatomicrefcount ref;
  VnIdentityMap *identity;     /* vn_run_get_identity() */
  /* by node of @source: rule of @recipe that decides about it, or -1; made when somebody asks first */
  int           *deciding;
  gsize          has_rounded;  /* whether an activation is quantized: 1 no, 2 yes; 0 until somebody asks */
} VnRun;

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

void   vn_run_settings_clear (VnRunSettings *self);
void   vn_run_node_free      (VnRunNode     *self);

VnRun *vn_run_new              (void);
VnRun *vn_run_with             (VnRun                *base,
                                VnRunFacet            facet,
                                gconstpointer         value);   /* nullable */
VnRun *vn_run_with_model       (VnRun                *base,
                                VnModel              *model,
                                GError              **error);
VnRun *vn_run_without_networks (VnRun                *base);
VnRun *vn_run_new_estimated    (VnRun                *base,
                                const VnExpectation  *expectation);
VnRun *vn_run_ref              (VnRun                *self);
void   vn_run_unref            (VnRun                *self);

double vn_run_get_seconds  (const VnRun *self,
                            const char  *stage);   /* NULL: all */
void   vn_run_set_seconds  (VnRun       *self,
                            double       seconds);
double vn_run_compare_time (VnRun       *self,
                            VnRun       *other);

VnIdentityMap *vn_run_get_identity (VnRun *self);

/* The row of @errors that speaks for a node of the source model: its output, or that of the node it was folded into. NULL: not
 * measured. */
const VnErrorRow *vn_run_get_node_error (VnRun        *self,
                                         const VnNode *source_node);
/* Of which type the node's output is in the quantized network; UNDEFINED: of no type that quantizing is about. */
VnDType vn_run_get_node_dtype (VnRun        *self,
                               const VnNode *source_node);
/* The row of a node that is counted and coloured by its error wherever that is done. NULL: it is not. */
const VnErrorRow *vn_run_get_rated_error (VnRun        *self,
                                          const VnNode *source_node);
/* Histogram and plan row of a node's output, in the same way. */
const VnHistogram  *vn_run_get_node_histogram (VnRun *self, const VnNode *source_node);
const VnTensorPlan *vn_run_get_node_plan      (VnRun *self, const VnNode *source_node);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnRun, vn_run_unref)

G_END_DECLS
