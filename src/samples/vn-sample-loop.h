/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The loop over samples: they are read, and networks run on them, as many at a time as there are threads and memory for. */
#pragma once

#include "vn-samples.h"

#include "vn-plan.h"

G_BEGIN_DECLS

/**
 * VnSampleLoop: workers, each with what it needs to take samples, and what was read so far.
 */
typedef struct _VnSampleLoop VnSampleLoop;

/**
 * VnSampleFuncs: what is done, by workers that share nothing but @data.
 * @start: (nullable): makes a worker, whose runners may use @n_inside threads each; %NULL with an error: nothing can be done
 * @scan: takes the sample @item, 0 to the number of samples - 1, and leaves what came of it where @item tells: whoever merges
 *   that in the order of the samples has the same bits for any number of threads. @inputs, one for each input of the dataset and
 * %NULL behind
 *   them, and so on for each of the other datasets, are the loop's: what @scan keeps it sets to %NULL. %FALSE with an error stops
 * all
 * @stop: (nullable): frees a worker
 * @pack: (nullable): of a @scan that leaves nothing but what came of each sample: that of @item, for other processes on the
 *   same kind of machine; %NULL with an error stops all. With it, and @take, processes share the samples:
 *   vn_sample_ranks_set(). Afterwards each has all
 * @take: (nullable): leaves what @pack of another process gave where @scan would have; %FALSE with an error stops all
 * @pack_sum: (nullable): instead of @pack where workers only add up, in any order: what all workers of this process came to;
 *   such a loop is run once. %NULL with an error stops all
 * @take_sum: (nullable): takes what @pack_sum of another process gave
 */
typedef struct
{
  gpointer (*start)    (guint           n_inside,
                        gpointer        data,
                        GError        **error);
  gboolean (*scan)     (gpointer        worker,
                        guint           item,
                        VnTensor      **inputs,
                        gpointer        data,
                        GCancellable   *cancellable,
                        GError        **error);
  void     (*stop)     (gpointer        worker);
  GBytes  *(*pack)     (guint           item,
                        gpointer        data,
                        GError        **error);
  gboolean (*take)     (guint           item,
                        gconstpointer   bytes,
                        gsize           size,
                        gpointer        data,
                        GError        **error);
  GBytes  *(*pack_sum) (gpointer        data,
                        GError        **error);
  gboolean (*take_sum) (GBytes         *bytes,
                        gpointer        data,
                        GError        **error);
} VnSampleFuncs;

/**
 * VnSampleOptions:
 * @plans: (array length=n_plans) (nullable): of the networks that each sample runs through: their memory bounds how many do at a
 * time
 * @more: bytes that a worker keeps beside what its runners need
 * @others: (array length=n_others) (nullable): with the same samples as other networks take them; one that any of them cannot
 * read is left out
 * @n_shares: in how many parts whoever made the loop shares other work among its workers; 0: in none
 * @in_turn: by one worker, in their order, with all threads inside
 * @n_before, @n_all: of samples that belong to the same work, as its progress is told: those done before, and all; 0: these are
 * all
 */
typedef struct
{
  VnPlan * const *plans;
  guint           n_plans;
  gsize           more;
  VnDataset * const *others;
  guint           n_others;
  guint           n_shares;
  gboolean        in_turn;
  guint           n_before, n_all;
} VnSampleOptions;

VnSampleLoop *vn_sample_loop_new           (const VnSamples        *samples,
                                            const VnSampleOptions  *options,
                                            const VnSampleFuncs    *funcs,
                                            gpointer                data,
                                            GError                **error);
gboolean      vn_sample_loop_run           (VnSampleLoop           *self,
                                            guint                   from,
                                            guint                   n,
                                            GCancellable           *cancellable,
                                            GError                **error);
guint         vn_sample_loop_get_n_ranks   (const VnSampleLoop     *self);
guint         vn_sample_loop_get_n_workers (const VnSampleLoop     *self);
gpointer      vn_sample_loop_get_worker    (const VnSampleLoop     *self,
                                            guint                   worker);
guint         vn_sample_loop_get_n_read    (const VnSampleLoop     *self);
guint         vn_sample_loop_get_n_done    (const VnSampleLoop     *self);     /* read or not */
gboolean      vn_sample_loop_check_read    (const VnSampleLoop     *self,
                                            GError                **error);
void          vn_sample_loop_free          (VnSampleLoop           *self);
gboolean      vn_samples_each              (const VnSamples        *samples,
                                            const VnSampleOptions  *options,
                                            const VnSampleFuncs    *funcs,
                                            gpointer                data,
                                            GCancellable           *cancellable,
                                            GError                **error);
gboolean      vn_sample_load               (VnDataset              *dataset,
                                            guint                   index,
                                            VnTensor              **inputs,
                                            GError                **error);
VnRunner     *vn_sample_runner_new         (VnPlan                 *plan,
                                            guint                   n_inside,
                                            VnTapFunc               tap,
                                            gpointer                data,
                                            GError                **error);
void          vn_sample_runner_stop        (gpointer                runner);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnSampleLoop, vn_sample_loop_free)

G_END_DECLS
