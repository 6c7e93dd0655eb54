/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One sample in the network that contributions are measured in: what it computes in float, and with one tensor quantized. */
#pragma once

#include "contribution-probe.h"
#include "vn-channel-stats.h"

G_BEGIN_DECLS

/**
 * VnNoise: of a tensor, summed over its elements.
 * @ff: squares of the float values; elements that are not finite there are left out of all sums
 * @dd: squares of the differences
 * @n: elements
 * @n_bad: not finite once something is quantized
 */
typedef struct
{
  double  ff, dd;
  guint64 n, n_bad;
} VnNoise;

/**
 * VnProbeSample:
 * @probe, @plan: borrowed
 * @inputs, @outputs: of the float network
 * @known: by tap: what the float network computes; %NULL for twins, what is no float, and what is not kept
 * @is_seen: by tap: the float network computes it
 * @order: (element-type guint): taps that it computes, in its order
 * @budget: bytes that may be kept
 * @n_held: bytes of @known
 * @stretch: bytes of the taps in which one is kept; 0: all are
 */
typedef struct
{
  VnProbe   *probe;
  VnPlan    *plan;
  VnTensor **inputs, **outputs, **known;
  gboolean  *is_seen;
  GArray    *order;
  gsize      budget, n_held, stretch;

  /*< private >*/
  GArray    *places;
  gsize      n_computed;
} VnProbeSample;

void      vn_probe_sample_init    (VnProbeSample       *self,
                                   VnProbe             *probe,
                                   VnPlan              *plan,
                                   gsize                budget);
void      vn_probe_sample_clear   (VnProbeSample       *self);
gboolean  vn_probe_sample_run     (VnProbeSample       *self,
                                   VnRunner            *runner,
                                   GCancellable        *cancellable,
                                   GError             **error);
gboolean  vn_probe_sample_change  (VnProbeSample       *self,
                                   VnRunner            *runner,
                                   const VnSuspect     *suspect,
                                   VnTensor           **known,
                                   VnTensor           **changed,
                                   GCancellable        *cancellable,
                                   GError             **error);
gboolean  vn_probe_sample_measure (VnProbeSample       *self,
                                   VnRunner            *runner,
                                   const VnSuspect     *suspect,
                                   VnNoise             *local,
                                   VnNoise             *outputs,
                                   float               *kept,        /* nullable */
                                   guint                n_kept,
                                   GCancellable        *cancellable,
                                   GError             **error);
gboolean  vn_probe_sample_estimate (VnProbeSample      *self,
                                    VnRunner           *runner,
                                    VnNoise            *local,
                                    VnNoise            *outputs,
                                    GCancellable       *cancellable,
                                    GError            **error);
void      vn_noise_add            (VnNoise             *self,
                                   const VnTensor      *wanted,
                                   const VnTensor      *found);
void      vn_noise_add_end        (VnNoise             *self,
                                   const VnProbeEnd    *end,
                                   const VnTensor      *wanted,
                                   const VnTensor      *found);

/* ---- what is kept ---- */

GArray   *vn_probe_places_new     (void);
gboolean  vn_probe_sample_keep    (VnProbeSample       *self,
                                   guint                tap,
                                   const VnTensor      *tensor,
                                   GError             **error);
void      vn_probe_sample_drop    (VnProbeSample       *self,
                                   guint                tap);
gboolean  vn_probe_sample_fetch   (const VnProbeSample *self,
                                   VnRunner            *runner,
                                   const guint         *taps,
                                   guint                n,
                                   VnTensor           **fetched,
                                   GCancellable        *cancellable,
                                   GError             **error);

G_END_DECLS
