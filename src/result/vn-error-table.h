/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-parts.h"
#include "vn-task.h"

#include <glib.h>

G_BEGIN_DECLS

/**
 * VnErrorRow: how far a value of the quantized network is from the float one, over all elements of all samples.
 * @noise_to_signal: sum (q - f)^2 / sum f^2; 0 if both are zero, infinity if only the reference is
 * @sqnr_db: -10 log10 of it; G_MAXDOUBLE-free: +inf for equal tensors
 * @cosine: 1 if both are zero, 0 if one is
 * @parts: (nullable) (element-type VnErrorPart): where it holds numbers of different size: @noise_to_signal, @sqnr_db and @cosine
 *   are those of the worst of them
 * @margin_db: of @sqnr_db: it lies within so much of what more samples of the kind would give, in 95 of 100 cases; NaN: not known
 * @held_out_db: as @sqnr_db, over those samples alone that this very network was not calibrated with; NaN: there are none, or
 * nobody asked
 * @whole_db: signal to noise of all elements together
 * @preparation_db: of an output: what preparing the network has cost already, which @sqnr_db includes; NaN: nothing
 * @local_db: where a pair of quantization and dequantization stands for the tensor, what that pair alone does to it: SQNR of
 *   what comes out of it to what goes in, both in the quantized network
 * @contribution: share of the error of the outputs that starts here: in the tensor, the weight and the bias that are quantized
 *   for this value; 0 to 1, NaN if it was not measured
 */
typedef struct
{
  char    *value;           /* name in the float model */
  char    *node;            /* vn_node_dup_label() of its producer, or "" for a graph input */
  char    *op_type;
  gboolean is_output;       /* graph output */
  gboolean is_last;         /* what reads it cannot be run here: the last that is seen on its way */
  guint64  n;
  double   noise_to_signal, sqnr_db, cosine, mse, max_error, contribution;
  double   float_min, float_max, quant_min, quant_max;
  guint64  n_bad;           /* NaN or infinite in the quantized network but not in the float one */
  guint64  n_bad_float;     /* NaN or infinite in the float one: left out of all measures, which are NaN if that is all */
  gboolean has_local;       /* @local_db was measured */
  double   local_db;
  GPtrArray *parts;
  double   whole_db, preparation_db, margin_db, held_out_db;
} VnErrorRow;

typedef struct _VnErrorTable VnErrorTable;

/**
 * VnBodyErrors: those inside a body of If, Loop or Scan, over the runs of it that both networks made on a sample. Immutable.
 * @scope: where it is in the float model: vn_graph_dup_scope()
 * @errors: a row for each of its tensors, by its name there
 * @n_float, @n_quant, @n_both: how often the networks ran it, each and both: a branch may be taken by one alone
 * @n_compared: of @n_both: others were too many to be kept
 */
typedef struct
{
  char            *scope;
  VnErrorTable    *errors;
  guint64          n_float, n_quant, n_both, n_compared;
  /*< private >*/
  gatomicrefcount  ref;
} VnBodyErrors;

VnErrorTable     *vn_error_table_ref      (VnErrorTable  *self);
void              vn_error_table_unref    (VnErrorTable  *self);
guint             vn_error_table_get_n    (VnErrorTable  *self);
const VnErrorRow *vn_error_table_get      (VnErrorTable  *self,
                                           guint          i);       /* in execution order */
const VnErrorRow *vn_error_table_find     (VnErrorTable  *self,
                                           const char    *value);
GArray           *vn_error_table_sort_worst (VnErrorTable *self);   /* of guint: row numbers, worst first; owned by the caller */
VnErrorTable     *vn_error_table_new      (guint          n_samples);
VnErrorTable     *vn_error_table_copy     (VnErrorTable  *self);
void              vn_error_table_clear_contributions (VnErrorTable *self);
void              vn_error_table_add_contribution (VnErrorTable *self,
                                                   const char   *value,
                                                   const char   *weight,   /* nullable */
                                                   double        share);
VnParts          *vn_error_table_list_parts (VnErrorTable *self);
VnErrorRow       *vn_error_row_new        (void);
VnErrorRow       *vn_error_row_copy       (const VnErrorRow *row);
void              vn_error_row_free       (VnErrorRow    *row);
void              vn_error_row_take_part  (VnErrorRow    *row,
                                           VnErrorPart   *part);
const VnErrorPart *vn_error_row_get_worst_part (const VnErrorRow *row);   /* NULL: it has no parts */
gboolean          vn_error_row_is_dead    (const VnErrorRow *row);
char             *vn_error_row_dup_title  (const VnErrorRow *row);
void              vn_error_table_add      (VnErrorTable  *self,
                                           VnErrorRow    *row);
void              vn_error_table_add_weight (VnErrorTable *self,
                                             VnErrorRow   *row);
void              vn_error_table_sort_weights (VnErrorTable *self);
VnBodyErrors     *vn_body_errors_new      (const char    *scope,
                                           guint          n_samples);
VnBodyErrors     *vn_body_errors_ref      (VnBodyErrors  *self);
void              vn_body_errors_unref    (VnBodyErrors  *self);
const VnErrorRow *vn_body_errors_get_worst (const VnBodyErrors *self);   /* NULL: it has no rows */
void              vn_error_table_take_body (VnErrorTable *self,
                                            VnBodyErrors *body);
guint             vn_error_table_get_n_bodies (VnErrorTable *self);
VnBodyErrors     *vn_error_table_get_body (VnErrorTable  *self,
                                           guint          i);       /* in execution order */
void              vn_error_table_take_inside (VnErrorTable *self,
                                              VnErrorTable *around,
                                              const char   *scope);
VnBodyErrors     *vn_error_table_find_body (VnErrorTable *self,
                                            const char   *scope);   /* NULL: not measured */
guint             vn_error_table_get_n_samples (VnErrorTable *self);
guint             vn_error_table_get_n_weights (VnErrorTable *self);
const VnErrorRow *vn_error_table_get_weight (VnErrorTable *self,
                                             guint         i);      /* worst first */

/* Metrics that tables, overlays and reports show: vn-metrics.def. */
typedef enum
{
#define VN_METRIC(SYMBOL, ...) VN_METRIC_##SYMBOL,
#include "vn-metrics.def"
#undef VN_METRIC
  VN_N_METRICS
} VnMetric;

/* How values of a metric are compared and drawn. */
typedef enum
{
  VN_SCALE_DB,       /* decibels: higher is better, drawn as they are */
  VN_SCALE_COSINE,   /* up to 1, which is best; drawn by the distance from it */
  VN_SCALE_RATIO,    /* to the signal: lower is better, drawn by its logarithm */
  VN_SCALE_SHARE,    /* of a whole: lower is better, drawn by its logarithm, told in per cent */
  VN_SCALE_SIZE,     /* an absolute error: lower is better, drawn by its logarithm, fine or bad by the rest of the network */
} VnMetricScale;

/**
 * VnMetricInfo: a line of vn-metrics.def.
 * @key: what reports for programs call it: the name of its field
 * @title, @unit: N_()
 * @offset: of the double in VnErrorRow
 * @fine, @bad: see vn-metrics.def
 */
typedef struct
{
  const char    *id, *key, *title, *unit;
  gsize          offset;
  VnMetricScale  scale;
  double         fine, bad;
} VnMetricInfo;

const VnMetricInfo *vn_metric_get_info   (VnMetric           metric);
gboolean            vn_metric_is_higher_better (VnMetric     metric);
double              vn_metric_get        (const VnErrorRow  *row,
                                          VnMetric           metric);
gboolean            vn_metric_is_measured (const VnErrorRow *row,
                                           VnMetric          metric);
char               *vn_metric_format     (VnMetric           metric,
                                          double             value);
char               *vn_metric_format_short (VnMetric         metric,
                                          double             value);
char               *vn_metric_format_fixed (VnMetric         metric,
                                          double             value);
double              vn_sqnr_bound          (double              sqnr_db,
                                            guint64             n_bad);
double              vn_error_table_get_outputs_sqnr (VnErrorTable *self);
double              vn_error_table_get_comparable_sqnr (VnErrorTable *self,
                                                        VnErrorTable *other);
double              vn_error_table_get_worst_sqnr (VnErrorTable *self,
                                                   VnErrorTable *other);   /* nullable */
double              vn_error_table_get_mean (VnErrorTable   *self,
                                             VnMetric        metric);
GArray             *vn_error_table_sort_by (VnErrorTable    *self,
                                            VnMetric         metric);   /* of guint: row numbers, worst first; what is NaN last */
VnMetric            vn_error_table_get_weakest_metric (VnErrorTable *self);
gboolean            vn_metric_find          (const char      *id,
                                             VnMetric        *metric);
gboolean            vn_error_row_is_marked (const VnErrorRow *row);

/**
 * VnAccuracy: what becomes of the answers of the network.
 * @n, @float_top1, @quant_top1, @agree: hits of a classifier over labelled samples; @valid only when the first output has as
 *   many elements as there are classes
 * @n_classes: among which it chooses; 0: not known
 * @kept: of detectors and masks; its task is %VN_TASK_OTHER for all others
 */
typedef struct
{
  guint    n, float_top1, quant_top1, agree;
  gboolean valid;
  VnKept   kept;
  guint    n_classes;
} VnAccuracy;

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnErrorTable, vn_error_table_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnBodyErrors, vn_body_errors_unref)

G_END_DECLS
