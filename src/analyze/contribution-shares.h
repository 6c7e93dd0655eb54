/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What was measured of each change, and which share of the error of the outputs that is. */
#pragma once

#include "contribution-sample.h"
#include "vn-contributions.h"

G_BEGIN_DECLS

/**
 * VnShareSums: of one sample
 * @local: (nullable): by suspect
 * @outputs: (nullable): by suspect and end
 * @kept: (nullable): some differences of each end
 */
typedef struct
{
  VnNoise *local, *outputs;
  float   *kept;
} VnShareSums;

/**
 * VnStanding: of a suspect.
 * @n_samples: that it was measured on
 * @share, @share_error: so far
 * @most: what the share probably does not exceed
 */
typedef struct
{
  guint  n_samples;
  double share, share_error, most;
} VnStanding;

/**
 * VnShares:
 * @per_sample, @estimates: by sample; who measures fills them
 * @standing: by suspect
 * @ruling: by output: the end that speaks for it, as of the last update
 */
typedef struct
{
  const VnProbe *probe;
  guint          n_suspects, n_outputs, n_ends, n_samples, n_common, n_kept;
  VnShareSums   *per_sample, *estimates;
  VnStanding    *standing;
  guint         *ruling;
} VnShares;

void             vn_shares_init    (VnShares       *self,
                                    const VnProbe  *probe,
                                    guint           n_samples,
                                    guint           n_common,
                                    guint           n_kept);
void             vn_shares_clear   (VnShares       *self);
void             vn_shares_update  (VnShares       *self);
gint             vn_shares_compare (gconstpointer   a,
                                    gconstpointer   b,
                                    gpointer        data);
VnContributions *vn_shares_collect (const VnShares *self);

G_END_DECLS
