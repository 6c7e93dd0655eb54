/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-calibrate.h"

G_BEGIN_DECLS

struct _VnStats
{
  gatomicrefcount   ref;
  guint             n_samples;
  GPtrArray        *names;        /* of char, sorted bytewise, unique */
  GPtrArray        *histograms;   /* of VnHistogram, in step with names */
};

VnStats *vn_stats_new  (guint        n_samples);
void     vn_stats_take (VnStats     *self,
                        const char  *name,
                        VnHistogram *histogram);
void     vn_stats_seal (VnStats     *self);

G_END_DECLS
