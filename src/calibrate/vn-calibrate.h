/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-dataset.h"
#include "vn-histogram.h"
#include "vn-importance.h"
#include "vn-plan.h"
#include "vn-progress.h"
#include "vn-range-factors.h"

G_BEGIN_DECLS

/**
 * VnStats: what calibration learned: a histogram per value name, and how many samples went in. Immutable once made;
 * merging several gives the same bits in any order.
 */
typedef struct _VnStats VnStats;

/**
 * VnStatsOrigin: what statistics were made with, so that they are not used for something else.
 * @network: name for messages: that of the file
 * @source: vn_model_dup_digest() of the network as opened
 * @prepared: the same of the network that ran
 * @opset: of the network that ran
 * @data: a line of text: everything about the samples that changes values: sizes, preprocessing
 * @samples: (nullable): vn_dataset_dup_digest() of the samples that were to go in. It speaks of files as they are on this
 *   machine now: statistics that were read from a file have none
 */
typedef struct
{
  char   *network;
  char   *source;
  char   *prepared;
  gint64  opset;
  char   *data;
  char   *samples;
} VnStatsOrigin;

VnStats           *vn_stats_new_empty     (void);                     /* of no sample and no value */
VnStats           *vn_stats_ref           (VnStats     *self);
void               vn_stats_unref         (VnStats     *self);
const VnHistogram *vn_stats_get           (VnStats     *self,
                                           const char  *value_name);   /* NULL if not observed */
guint              vn_stats_get_n_samples (VnStats     *self);
guint              vn_stats_get_n_left    (VnStats     *self);        /* samples not looked at yet; 0: complete */
guint              vn_stats_get_n_missing (VnStats     *self);        /* samples of parts that are not here; 0: none known of */
gboolean           vn_stats_has_sample    (VnStats     *self,
                                           guint        index,        /* in the data set; G_MAXUINT: anywhere */
                                           const char  *name);
gboolean           vn_stats_has_votes     (VnStats     *self);
gboolean           vn_stats_has_counts    (VnStats     *self);
guint              vn_stats_get_n_counted (VnStats     *self);        /* samples that are in the histograms */
guint              vn_stats_count_twice   (VnStats     *self,
                                           const char **example);     /* samples that occur again under another number */
gboolean           vn_stats_covers        (VnStats     *self,
                                           VnStats     *part);        /* whether all samples of @part are in it */
void               vn_stats_note_values   (VnStats     *self,
                                           VnNotes     *notes);       /* values that are not finite */
const VnStatsOrigin *vn_stats_get_origin  (VnStats     *self);        /* NULL if nobody said */
gboolean           vn_stats_check_origin  (VnStats             *self,
                                           const VnStatsOrigin *origin,
                                           const char          *path,       /* nullable: for messages */
                                           GError             **error);
guint              vn_stats_get_n_values  (VnStats     *self);
const char        *vn_stats_get_name      (VnStats     *self,
                                           guint        i);            /* sorted */
gsize              vn_stats_get_bytes     (VnStats     *self);
VnStats           *vn_stats_with_factors  (VnStats        *self,
                                           VnRangeFactors *factors);     /* nullable */
VnRangeFactors    *vn_stats_get_factors   (VnStats        *self);
VnStats           *vn_stats_with_importance (VnStats      *self,
                                             VnImportance *importance);
VnImportance      *vn_stats_get_importance  (VnStats      *self);
gboolean           vn_stats_equal         (VnStats     *a,
                                           VnStats     *b);
VnStats           *vn_stats_merge         (VnStats * const  *parts,        /* of one network over different samples */
                                           guint              n,
                                           GError           **error);
VnStats           *vn_stats_merge_taking  (GPtrArray         *parts,        /* of VnStats; empty afterwards */
                                           GError           **error);
VnStats           *vn_stats_merge_parts   (GPtrArray         *parts,        /* of VnStats; kept */
                                           GError           **error);
GPtrArray         *vn_stats_get_parts     (VnStats           *self);        /* nullable */
VnStats           *vn_stats_merge_others  (VnStats           *self,
                                           guint              part,
                                           GError           **error);
VnStats           *vn_stats_continue      (VnStats           *partial,      /* nullable */
                                           VnStats           *rest,
                                           GError           **error);
gboolean           vn_stats_save          (VnStats           *self,
                                           const char        *path,
                                           GError           **error);
VnStats           *vn_stats_load          (const char        *path,
                                           GError           **error);
GBytes            *vn_stats_to_bytes      (VnStats           *self,    /* what vn_stats_save() writes */
                                           GError           **error);
VnStats           *vn_stats_from_bytes    (GBytes            *bytes,
                                           GError           **error);

void               vn_stats_origin_free   (VnStatsOrigin     *self);

/**
 * VnCheckpointFunc:
 * @stats: what was learned so far, with the number of samples that are left
 *
 * Returns: %FALSE with @error to give up
 */
typedef gboolean (*VnCheckpointFunc) (VnStats  *stats,
                                      gpointer  data,
                                      GError  **error);

/**
 * VnCalibrateOptions:
 * @samples: indices into the data set
 * @n_threads: 0: all processors
 * @origin: (nullable): stands in the result
 * @checkpoint: (nullable): called now and then while no sample is being run, and when the run is cancelled: samples
 *   that are being run then are finished first
 * @checkpoint_seconds: time between two calls; 0: 10 s
 * @votes: each sample's choice of powers of two is counted, too; see VnRangeMethod
 * @few_counts: the histograms are only to be looked at: every eighth sample is counted, four to sixteen; of the others only
 *   the least and the greatest element, and the ranges of channels. What is far from 0 or not finite is counted in any case, and
 *   everything is with @votes, @checkpoint or @may_be_empty
 * @n_all: so many samples are shared out, of which @samples are one part; 0: there are no others
 * @may_be_empty: the result will be joined with others: having no sample that can be used is no error, and values that
 *   are not finite are not noted; see vn_stats_note_values()
 */
typedef struct
{
  const guint         *samples;
  guint                n_samples;
  guint                n_threads;
  const VnStatsOrigin *origin;
  VnCheckpointFunc     checkpoint;
  gpointer             checkpoint_data;
  double               checkpoint_seconds;
  gboolean             votes;
  gboolean             may_be_empty;
  guint                n_all;
  gboolean             few_counts;
} VnCalibrateOptions;

/**
 * vn_calibrate:
 * @plan: must have been made with the values to observe as taps
 *
 * Runs the samples through the network, one per thread, and observes every tapped float value. A sample that cannot
 * be loaded is left out and named in @notes; none left is an error.
 */
VnStats *vn_calibrate (VnPlan                    *plan,
                       GPtrArray                 *taps,       /* of VnValue, as given to the plan */
                       VnDataset                 *dataset,
                       const VnCalibrateOptions  *options,
                       const VnProgress          *progress,   /* nullable */
                       VnNotes                   *notes,      /* nullable */
                       GCancellable              *cancellable,
                       GError                   **error);

/* ---- range methods (vn-ranges.def) ---- */

typedef struct { double min, max; } VnRange;

/* How a scale becomes a power of two: its logarithm rounded to the nearest (half: to even), half up, or up. */
typedef enum { VN_POWER_NEAREST, VN_POWER_HALF_UP, VN_POWER_UP } VnPowerRounding;

int    vn_scale_get_position (double          scale,
                              VnPowerRounding rounding);
double vn_position_get_scale (int             position);

/**
 * VnRangeSettings:
 * @percentile: share of the elements that stay inside, in percent
 * @symmetric: the range becomes -m .. m, or is chosen for such a one; kl: the levels are shared by both signs
 * @two_sided: percentile: a threshold for each side. Else one for |x|, cut to what was seen: what
 *   onnxruntime.quantization does unless told otherwise, for symmetric and asymmetric types alike
 * @bits: of the type the range is for, where errors matter; 0: 8
 * @qmin, @qmax: its integers; both 0: all that have as many bits, without the one that has no opposite if @symmetric
 */
typedef struct
{
  double   percentile;
  gboolean symmetric;
  gboolean two_sided;
  guint    bits;
  gint64   qmin, qmax;
} VnRangeSettings;

/**
 * VnRangeMethod:
 * @letter: in charts
 * @uses_percentile: the range depends on the settings' percentile
 * @has_sides: and on @two_sided
 * @range: the range for what a histogram has seen
 * @range_of_data: (nullable): the same for the elements of a constant, where that is more exact
 * @contest: (nullable): as @range, and in @winner (transfer full), which is set on success alone, which other method's range it
 *   is, "percentile 99.99"
 * @power_of_two: the range is that of levels whose scale is a power of two
 * @by_ends: needs only the least and the greatest element
 * @by_votes: needs what each sample chose, if there were several: %VN_ERROR_MISSING_DATA where that was not counted
 */
typedef struct
{
  const char    *id;        /* "minmax" */
  const char    *title;     /* N_() */
  const char    *summary;   /* N_() */
  char           letter;
  gboolean       uses_percentile, has_sides;
  gboolean     (*range) (const VnHistogram *histogram, const VnRangeSettings *settings, VnRange *range, GError **error);
  gboolean     (*range_of_data) (const float *x, gsize n, const VnRangeSettings *settings, VnRange *range, GError **error);
  gboolean     (*contest) (const VnHistogram *histogram, const VnRangeSettings *settings, VnRange *range, char **winner,
                           GError **error);
  gboolean       power_of_two, by_votes, by_ends;
} VnRangeMethod;

const VnRangeMethod * const *vn_range_method_list (guint       *n);
const VnRangeMethod         *vn_range_method_find (const char  *id,
                                                   GError     **error);
gboolean                     vn_range_method_check (const char *id,
                                                   GError     **error);
gboolean                     vn_range_method_find_range (const VnRangeMethod    *self,
                                                         const VnHistogram      *histogram,
                                                         const VnRangeSettings  *settings,
                                                         VnRange                *range,
                                                         char                  **winner,    /* nullable */
                                                         GError                **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnStats, vn_stats_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnStatsOrigin, vn_stats_origin_free)

G_END_DECLS
