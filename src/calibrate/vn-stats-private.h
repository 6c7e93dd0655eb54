/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Filling, sealing and joining statistics of calibration; their origin. */

#include "vn-calibrate.h"

G_BEGIN_DECLS

/* vn-stats-file.c */
#define VN_STATS_FILE_MAGIC "VnStats\n"
#define VN_STATS_FILE_MAGIC_SIZE 8
#define VN_STATS_FILE_VERSION 5
#define VN_STATS_FILE_VERSION_PLAIN 4   /* without votes */
#define VN_STATS_FILE_PART 2            /* added to either: of one part of the samples */
#define VN_STATS_FILE_DIGEST_SIZE 32

/* One sample that went in. */
typedef struct
{
  guint    index;    /* in the data set */
  char    *name;
  guint64  digest;   /* of its tensors as the network got them */
} VnStatsSample;

struct _VnStats
{
  gatomicrefcount   ref;
  guint             n_samples;
  guint             n_counted;    /* of them in the histograms; the others by their ends alone. In files: all */
  guint             n_left;       /* not looked at yet */
  guint             n_all;        /* that were to be shared with others; 0: all were to go in */
  VnStatsOrigin    *origin;       /* nullable */
  GArray           *samples;      /* of VnStatsSample, sorted; empty if nobody listed them, else n_samples */
  GPtrArray        *names;        /* of char, sorted bytewise, unique */
  GPtrArray        *histograms;   /* of VnHistogram, in step with names */
  VnImportance     *importance;   /* nullable: of the weights that scales of blocks are searched for; not in files */
  VnRangeFactors   *factors;      /* nullable: what a search found beyond what was observed; not in files */
  GPtrArray        *parts;        /* nullable: of VnStats: those it was merged from; not in files */
};

VnStats *vn_stats_new  (guint        n_samples);
void     vn_stats_take (VnStats     *self,
                        const char  *name,
                        VnHistogram *histogram);
void     vn_stats_seal (VnStats     *self);

/* ---- stats-origin.c ---- */

VnStatsOrigin *vn_stats_origin_copy   (const VnStatsOrigin *self);    /* NULL of NULL */
gboolean       vn_stats_origin_equal  (const VnStatsOrigin *a,
                                       const VnStatsOrigin *b);
GArray        *vn_stats_samples_new   (void);
void           vn_stats_samples_add   (GArray              *self,
                                       guint                index,
                                       const char          *name,
                                       guint64              digest);
void           vn_stats_samples_sort  (GArray              *self);
gint           vn_stats_sample_compare (gconstpointer       a,
                                        gconstpointer       b);
gboolean       vn_stats_merge_origins (VnStats             *self,
                                       VnStats * const     *parts,
                                       guint                n,
                                       GError             **error);

G_END_DECLS
